"""What is taken over the rows of all sites, from the tables to the evidence: which sites and rows, beside what."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dossier import evaluate, reading
from dossier.core import types
from dossier.core.register import REGISTER
from dossier.metrics import imputations, within_sites
from dossier.metrics.intervals import Scale
from dossier.metrics.shares import Design
from dossier.metrics.stratified import Stratum
from dossier.typeset.methods import method_text
from tests.conftest import ROOT
from tests.estimated import estimated, interval_of, present
from tests.reasons import Said
from tests.smallest import HEAD, QUICK, release_in

GROUP = '[[subgroup]]\ncolumn = "s"\n'


def table(seed: int, rows: int, imputed: int = 1, clusters: int = 0, centre: float = -0.8, rival: bool = True) -> str:
    """A table with a subgroup s of two levels; stacked imputations and clusters where they are asked for."""
    rng = np.random.default_rng(seed)
    linear = rng.normal(centre, 1.1, rows)
    outcome = (rng.random(rows) < 1 / (1 + np.exp(-linear))).astype(int)
    group = rng.choice(["x", "z"], rows)
    noise = rng.normal(0, 0.5, rows)
    heads = ["outcome", "risk", *(["other"] if rival else []), "s"]
    heads += ["imp"] * (imputed > 1) + ["id"] * (imputed > 1) + ["ward"] * (clusters > 0)
    lines = [",".join(heads)]
    for number in range(1, imputed + 1):
        moved = linear + (rng.random(rows) < 0.2) * rng.normal(0, 0.8, rows) * (imputed > 1)
        for row in range(rows):
            risks = [f"{1 / (1 + np.exp(-moved[row])):.4f}"]
            risks += [f"{1 / (1 + np.exp(0.4 - 0.5 * moved[row] + noise[row])):.4f}"] if rival else []
            more = [str(number), str(row)] if imputed > 1 else []
            more += [f"w{row % clusters}"] if clusters else []
            lines.append(",".join([str(outcome[row]), *risks, group[row], *more]))
    return "\n".join(lines) + "\n"


def read(folder: Path, tables: dict[str, tuple[str, str]], declared: str = GROUP, rival: bool = True) -> types.Study:
    """A release of these tables, each with the lines of its dataset, all external."""
    text = HEAD.replace('column = "risk"', 'column = "risk"\nrival = "other"') if rival else HEAD
    text += QUICK.replace("[0.5]", "[0.3]")
    for name, (content, more) in tables.items():
        text += f'[[dataset]]\nname = "{name}"\nrole = "external"\nfile = "{name}.csv"\npredictors = ["s"]\n{more}'
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    return reading.study(release_in(folder, text + declared))


def stratum(dataset: types.Dataset, subset: types.Subset | None = None) -> Stratum:
    rows = np.ones(len(dataset.outcome if dataset.outcome is not None else ()), dtype=bool)
    if subset is not None:
        chosen = next(subgroup for subgroup in dataset.subgroups if subgroup.subset == subset).rows
        assert not isinstance(chosen, types.Absent)
        rows = chosen
    assert dataset.risk is not None
    return Stratum(present(dataset.outcome)[rows], dataset.risk[rows], Design(len(rows), dataset.cluster).of(rows))


def number(estimate: types.Estimate | types.Absent) -> types.Estimate:
    return estimated(estimate)


def together(evidence: types.Evidence, measure: str, **at: float | str) -> types.Estimate | types.Absent:
    return types.find(evidence, measure, types.POOLED, **at, estimator="stratified")


# ---- beside what is pooled ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_a_small_site(tmp_path_factory: pytest.TempPathFactory) -> tuple[types.Study, types.Evidence]:
    """Four hospitals, of which the last has fewer than 20 events."""
    tables = {"a": (table(1, 150), ""), "b": (table(2, 200), ""), "c": (table(4, 180), ""), "few": (table(3, 30), "")}
    study = read(tmp_path_factory.mktemp("small"), tables)
    return study, evaluate.evidence(study)


def test_where_a_site_is_left_out_the_rows_of_all_stand_beside(
    with_a_small_site: tuple[types.Study, types.Evidence],
) -> None:
    study, evidence = with_a_small_site
    assert next(dataset.events for dataset in evidence.datasets if dataset.name == "few") in range(20)
    strata = [stratum(dataset) for dataset in study.datasets]
    for measure in ("auroc", "oe_ratio", "calibration_slope"):
        pooled, beside = number(types.find(evidence, measure, types.POOLED)), number(together(evidence, measure))
        assert (pooled.details["k"], beside.details["k"]) == (3, 4)
        assert (pooled.n, beside.n) == (530, 560)
        expected = number(REGISTER.stratified[measure].function(strata, 0.95))
        assert (beside.value, beside.low, beside.high) == (expected.value, expected.low, expected.high)


def test_differences_and_gain_over_all_rows_are_means_over_the_sites(
    with_a_small_site: tuple[types.Study, types.Evidence],
) -> None:
    _, evidence = with_a_small_site
    sizes = {dataset.name: (dataset.n, dataset.events or 0) for dataset in evidence.datasets}
    asked: list[tuple[str, dict[str, float | str], bool]] = [
        ("brier_difference", {"against": types.RIVAL}, False),
        ("net_benefit_difference", {"threshold": 0.3, "against": types.RIVAL}, False),
        ("net_benefit_gain", {"threshold": 0.3}, False),
        ("auroc_difference", {"against": types.RIVAL}, True),
    ]
    for measure, at, by_pairs in asked:
        weights = np.array([e * (n - e) if by_pairs else n for n, e in sizes.values()], dtype=float)
        values = np.array([number(types.find(evidence, measure, name, **at)).value for name in sizes])
        beside = number(together(evidence, measure, **at))
        assert beside.value == pytest.approx(float((weights * values).sum() / weights.sum())), measure
        pooled = number(types.find(evidence, measure, types.POOLED, **at))
        assert (pooled.details["k"], pooled.details["df"]) == (3, 2)


CRITERIA = (ROOT / "tests" / "releases" / "strata" / "criteria.toml").read_text(encoding="utf-8")


def test_criteria_may_name_what_is_pooled_differences_and_gain(tmp_path: Path) -> None:
    tables = {"a": (table(1, 150), ""), "b": (table(2, 200), ""), "c": (table(4, 180), ""), "few": (table(3, 30), "")}
    evidence = evaluate.evidence(read(tmp_path, tables, GROUP + CRITERIA))
    assert [
        (criterion.measure, criterion.dataset, criterion.met, criterion.reason) for criterion in evidence.criteria
    ] == [
        ("auroc_difference", "pooled", True, None),
        *(("net_benefit_difference", name, True, None) for name in tables),
        ("net_benefit_gain", "pooled", True, None),
        ("oe_ratio", "pooled", True, None),
        ("oe_ratio", "pooled", True, None),
        ("model_based_concordance", "a", True, None),
    ]
    ratios = [criterion.observed for criterion in evidence.criteria if criterion.measure == "oe_ratio"]
    assert ratios[0] == number(together(evidence, "oe_ratio")).value
    assert ratios[1] == number(types.find_in_subgroup(evidence, types.Subset("s", "x"), "oe_ratio", types.POOLED)).value


def test_nothing_stands_beside_where_every_site_is_pooled(tmp_path: Path) -> None:
    tables = {"a": (table(1, 150), ""), "b": (table(2, 200), ""), "c": (table(4, 180), "")}
    evidence = evaluate.evidence(read(tmp_path, tables))
    assert number(types.find(evidence, "auroc", types.POOLED)).details["k"] == 3
    assert not [result for result in evidence.results if "estimator" in result.at]


def test_two_sites_have_the_stratified_estimate_alone(tmp_path: Path) -> None:
    study = read(tmp_path, {"a": (table(1, 150), ""), "b": (table(2, 200), "")})
    evidence = evaluate.evidence(study)
    for measure in ("auroc", "oe_ratio", "calibration_slope"):
        assert types.find(evidence, measure, types.POOLED) == Said("pooling needs three sites, and 2 can enter it")
        expected = number(REGISTER.stratified[measure].function([stratum(each) for each in study.datasets], 0.95))
        beside = number(together(evidence, measure))
        assert (beside.value, beside.low, beside.high) == (expected.value, expected.low, expected.high)
        assert "prediction_low" not in beside.details


def test_a_site_with_next_to_no_rows_is_not_named_and_does_not_enter(tmp_path: Path) -> None:
    few = "outcome,risk,s\n1,0.5,x\n0,0.2,z\n1,0.7,x\n"
    tables = {"a": (table(1, 150, rival=False), ""), "b": (table(2, 200, rival=False), ""), "tiny": (few, "")}
    tables["c"] = (few + few.partition("\n")[2] * 2, "")
    beside = number(together(evaluate.evidence(read(tmp_path, tables, rival=False)), "oe_ratio"))
    assert (beside.n, beside.details["k"]) == (359, 3)
    assert "tiny" not in method_text(beside.method)


# ---- sensitivity ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["", "[disclosure]\nminimum_cell = 10\n"])
def test_the_sensitivity_of_a_group_is_that_of_its_rows_and_ranged_where_counts_are(
    policy: str, tmp_path: Path
) -> None:
    study = read(tmp_path, {"a": (table(1, 300), ""), "b": (table(2, 300), "")}, GROUP + policy, rival=False)
    evidence = evaluate.evidence(study)
    group = types.Subset("s", "x")
    rows = stratum(study.datasets[0], group)
    cases = rows.outcome == 1
    expected = (rows.risk[cases] >= 0.3).mean()
    found = number(types.find_in_subgroup(evidence, group, "sensitivity", "a", threshold=0.3))
    together = types.find_in_subgroup(evidence, group, "sensitivity", types.POOLED, threshold=0.3)
    if not policy:
        assert found.value == pytest.approx(expected)
        assert found.n == cases.sum()
        assert number(together).details["k"] == 2
        return
    low, high = interval_of(found)
    assert low < expected < high
    assert found.n != cases.sum()
    assert isinstance(together, types.Withheld)


# ---- subgroups ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_imputations_and_clusters_of_sites_come_together(tmp_path: Path) -> None:
    """Four imputations at one site, three at another, wards at a third: Rubin's rules over what each makes of all."""
    tables = {
        "a": (table(1, 150, 4), 'imputation = "imp"\n'),
        "c": (table(2, 120, 3), 'imputation = "imp"\n'),
        "few": (table(3, 30), ""),
        "wards": (table(4, 90, clusters=15), 'cluster = "ward"\n'),
    }
    study = read(tmp_path, tables)
    evidence = evaluate.evidence(study)
    scales: dict[str, Scale] = {"auroc": "logit", "oe_ratio": "log", "brier": "plain"}
    for measure, scale in scales.items():
        each = []
        for imputation in range(4):
            datasets = [
                dataset.imputations[imputation % len(dataset.imputations)] if dataset.imputations else dataset
                for dataset in study.datasets
            ]
            pairs = [
                within_sites.Pair(dataset.name, *(stratum(dataset, types.Subset("s", label)) for label in ("x", "z")))
                for dataset in datasets
            ]
            metric = REGISTER.metrics[measure]
            found = within_sites.compared(measure, metric.weighted, pairs, 0.95, scale, metric.term.range, 0.3)
            assert not isinstance(found, types.Absent)
            each.append(found.ours)
        expected = imputations.rubin(each, scale, 0.95)
        seen = number(types.find_in_subgroup(evidence, types.Subset("s", "x"), measure, types.POOLED))
        assert (seen.value, seen.low, seen.high) == pytest.approx((expected.value, expected.low, expected.high))
        assert seen.details["k"] == 4
        apart = types.find_in_subgroup(evidence, types.Subset("s", "x"), measure, types.POOLED, against="complement")
        assert apart == Said("some clusters of wards have rows in both groups, which are then not independent")


@pytest.mark.slow
def test_what_all_sites_say_is_withheld_with_a_subgroup_of_one(tmp_path: Path) -> None:
    rows = [line.split(",") for line in table(3, 60, rival=False).splitlines()[1:]]
    lines = [",".join([y, p, "x" if index < 5 else "z"]) for index, (y, p, _) in enumerate(rows)]
    small = "\n".join(["outcome,risk,s", *lines]) + "\n"
    tables = {"a": (table(1, 300, rival=False), ""), "b": (table(2, 300, rival=False), ""), "c": (small, "")}
    for policy, kept in (("", True), ("[disclosure]\nminimum_cell = 10\n", False)):
        folder = tmp_path / ("open" if kept else "closed")
        folder.mkdir()
        evidence = evaluate.evidence(read(folder, tables, GROUP + policy, rival=False))
        seen = types.find_in_subgroup(evidence, types.Subset("s", "x"), "oe_ratio", types.POOLED)
        assert isinstance(seen, types.Estimate if kept else types.Withheld)


def test_a_result_of_one_site_has_no_estimator(with_a_small_site: tuple[types.Study, types.Evidence]) -> None:
    _, evidence = with_a_small_site
    assert {result.dataset for result in evidence.results if "estimator" in result.at} == {types.POOLED}
