"""Sampling weights: whole weights count a row as often, equal ones change nothing, and the others are refused."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dossier import evaluate, reading
from dossier.command_line import initial
from dossier.core.register import fill
from dossier.core.types import Absent, Curve, Estimate, Evidence, Study, find, find_curve
from dossier.metrics import weighted
from dossier.metrics.calibration import INTERCEPT, JOINT, SLOPE, oe_ratio
from dossier.metrics.discrimination import BALANCED, YOUDEN, LikelihoodRatio, risk_distribution
from dossier.metrics.shares import Design
from dossier.metrics.smooth_curve import smooth_curve
from dossier.metrics.utility import weighted_standardized_net_benefit
from dossier.record import results as results_json
from dossier.report.chapters import results
from dossier.typeset.methods import method_text
from dossier.typeset.reasons import reason_text
from tests.estimated import curved, estimated, interval_of, present, refused
from tests.reasons import Said

SITE = "hospital-1"
WEIGHTED = {name: metric.weighted for name, metric in fill("metrics").metrics.items() if metric.weighted is not None}
"""The measures that honour sampling weights, in the form that does."""


def _example(folder: Path, more: str = "", weights: list[str] | None = None) -> Study:
    for name, content in initial.files().items():
        (folder / name).write_bytes(content)
    file = 'file = "hospital-1.csv"'
    release = initial.files()["release.toml"].decode().replace(file, f"{file}\n{more}")
    (folder / "release.toml").write_text(release, encoding="utf-8")
    if weights is not None:
        head, *rows = (folder / "hospital-1.csv").read_text().splitlines()
        lines = [f"{head},w", *(f"{row},{weight}" for row, weight in zip(rows, weights, strict=True))]
        (folder / "hospital-1.csv").write_text("\n".join(lines) + "\n")
    found = reading.study(folder)
    few = found.release.resampling.model_copy(update={"bootstrap": 20, "permutations": 19})
    only = tuple(dataset for dataset in found.datasets if dataset.name == SITE)
    return replace(found, release=found.release.model_copy(update={"resampling": few}), datasets=only)


PAIRS_OF_ROWS = {"model_based_concordance"}
"""A row is no pair with itself, so that two equal rows are more than one of twice the weight."""


def _drawn(n: int) -> weighted.Rows:
    draw = np.random.default_rng(5)
    risk = np.round(draw.uniform(0.05, 0.95, n), 2)
    outcome = (draw.random(n) < risk).astype(float)
    rival = np.clip(risk + draw.normal(scale=0.1, size=n), 0.02, 0.98).astype(np.float64)
    return weighted.Rows(outcome, risk, np.ones(n), 0.3, rival)


def _unweighted(name: str, rows: weighted.Rows, often: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Any:
    """The measure itself, of these of the rows."""
    metric = fill("metrics").metrics[name]
    offered = {column: getattr(rows, column)[often] for column in ("outcome", "risk", "rival")}
    offered |= {"threshold": rows.threshold, "level": 0.95, "permutations": 9, "bootstrap": 2, "seed": 1}
    return metric.function(**{need: offered[need] for need in metric.needs})


@pytest.mark.parametrize("name", sorted(set(WEIGHTED) - PAIRS_OF_ROWS))
def test_a_whole_weight_counts_a_row_as_often(name: str) -> None:
    rows, weights = _drawn(150), np.random.default_rng(6).integers(0, 5, 150)
    found = present(WEIGHTED[name](replace(rows, weights=0.7 * weights.astype(np.float64))))
    plain = _unweighted(name, rows, np.repeat(np.arange(150), weights))
    assert found.value == pytest.approx(plain.value, rel=1e-9, abs=1e-12)
    for key, value in found.details.items():
        assert value == pytest.approx(plain.details[key], rel=1e-9), key


ADDED_IN_ANOTHER_ORDER = {"auroc", "auroc_of_rival", "scaled_brier", "tjur_r2"}
"""As are differences, whose measures are subtracted row by row."""


@pytest.mark.parametrize("name", sorted(WEIGHTED))
def test_rows_of_weight_1_have_the_value_of_no_weights_and_contribute_what_leaving_each_out_takes(name: str) -> None:
    rows, is_difference = _drawn(600), name.endswith("_difference")
    found, plain = WEIGHTED[name](rows), _unweighted(name, rows, np.arange(600)).value
    assert isinstance(found, weighted.Weighted)
    is_same = not is_difference and name not in ADDED_IN_ANOTHER_ORDER
    assert found.value == (plain if is_same else pytest.approx(plain, rel=1e-12))
    without = [WEIGHTED[name](replace(rows, weights=(np.arange(600) != row).astype(float))) for row in range(600)]
    taken = found.value - np.array([each.value for each in without])
    assert np.linalg.norm(taken) == pytest.approx(np.linalg.norm(found.linearized) * 600 / 599, rel=0.01)
    assert found.linearized.sum() == pytest.approx(0, abs=1e-12 * float(np.abs(found.linearized).sum()))
    if is_difference:
        same = WEIGHTED[name](replace(rows, rival=rows.risk))
        assert same.value == 0
        assert not same.linearized.any()


OUTCOME, RISK = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0.8, 0.3, 0.6, 0.1])


def _four(weights: list[float], threshold: float = 0.5) -> weighted.Rows:
    return weighted.Rows(OUTCOME, RISK, np.array(weights), threshold, RISK[::-1])


LAWS = {name: metric.laws for name, metric in fill("metrics").metrics.items()}
OF_BOTH_CLASSES = {name for name in WEIGHTED if "one class is absent" in LAWS[name.removesuffix("_of_rival")]}


@pytest.mark.parametrize(
    ("weights", "more", "reason"),
    [
        ([1.0, 2.0, 0.0, 0.0], {"specificity", "specificity_of_update"}, "every row that has a weight has the outcome"),
        (
            [0.0, 0.0, 1.0, 2.0],
            {"sensitivity", "sensitivity_of_update", "standardized_net_benefit"},
            "no row that has a weight has the outcome",
        ),
    ],
)
def test_what_needs_a_class_without_weight_is_absent(weights: list[float], more: set[str], reason: str) -> None:
    found = {name: value(_four(weights)) for name, value in WEIGHTED.items()}
    gaps = {name: reason_text(each.reason) for name, each in found.items() if isinstance(each, Absent)}
    assert gaps == dict.fromkeys(OF_BOTH_CLASSES | more, reason)


def _plain(reason: str) -> str:
    """A reason without the counts of rows, without the weights, and without what follows from equal risks."""
    reason = reason.replace(" that has a weight", "").removeprefix("for the other model, ")
    for said, meant in (
        (r"without the \d+ risks of 0 or 1, ", ""),
        ("no row that is left has a weight", "there are no rows"),
        (r"none of the \d+ rows has", "no row has"),
        (r"all \d+ rows have", "every row has"),
        ("every risk is the same.*", "every risk is the same"),
    ):
        reason = re.sub(said, meant, reason)
    return reason


@pytest.mark.parametrize("name", sorted(set(WEIGHTED) - PAIRS_OF_ROWS))
def test_a_gap_is_that_of_the_measure_without_weights_on_the_rows_that_have_one(name: str) -> None:
    metric = fill("metrics").metrics[name]
    # A log score of minus infinity has no weighted value to ask for.
    risks = ([0.2, 0.5, 0.5, 0.8], [0.1, 0.1, 0.1, 0.7] if name.startswith("log_score") else [0.0, 0.0, 0.0, 0.7])
    for outcome, weights in itertools.product(itertools.product((0.0, 1.0), repeat=4), ([2, 2, 2, 2], [4, 2, 2, 0])):
        for risk, threshold in itertools.product(risks, (0.1, 0.4, 0.6, 0.9, 1.0)):
            y, p = np.array(outcome), np.array(risk)
            found = WEIGHTED[name](weighted.Rows(y, p, np.array(weights, dtype=float), threshold, p[::-1]))
            often = np.repeat(np.arange(4), weights)
            offered = {"outcome": y[often], "risk": p[often], "rival": p[::-1][often], "threshold": threshold}
            offered |= {"level": 0.95, "permutations": 9, "seed": 1}
            plain = metric.function(**{need: offered[need] for need in metric.needs})
            if isinstance(found, Absent) and isinstance(plain, Absent):
                assert _plain(reason_text(found.reason)) == _plain(reason_text(plain.reason))
            else:
                assert isinstance(found, Absent) == isinstance(plain, Absent), (outcome, risk, weights, threshold)


@pytest.mark.parametrize("expected", [5e-324, 1e-310])
def test_a_number_of_expected_events_too_small_to_divide_by_is_absent(expected: float) -> None:
    risk, weights = np.array([expected, 0.0, 0.0, 0.9]), np.array([1.0, 1.0, 1.0, 0.0])
    found = oe_ratio(OUTCOME, risk, design=Design(4, None, weights))
    assert found == Said("the expected number of events is too small to divide by")


def test_classes_of_very_unlike_weight_keep_their_ratios() -> None:
    """A non-case weighs so little that the prevalence and the specificity are rounded to 1."""
    found = present(LikelihoodRatio(is_flagged=True)(weighted.Rows(OUTCOME, RISK, np.array([1.0, 1.0, 1e-20, 1e20]))))
    assert found.value == pytest.approx(1 / 2 / 1e-40)
    found = present(weighted.scaled_brier(_four([1.0, 1.0, 1e-20, 1e-20])))
    assert found.value == pytest.approx(1 - (0.2**2 + 0.7**2) / 2 / 1e-20)
    found = present(weighted.auroc(_four([1e-200, 3e-200, 1e-200, 1e-200])))
    assert found.value == pytest.approx((1 * 2 + 3 * 1) / 8)


def test_at_a_threshold_of_1_there_is_no_net_benefit_and_no_declared_weight() -> None:
    rows = _four([1.0, 1.0, 1.0, 1.0], 1.0)
    reason = "net benefit is not defined at a threshold of 1, where one false positive outweighs everything"
    assert weighted_standardized_net_benefit(rows) == Said(reason)
    found = present(YOUDEN(rows))
    assert found.value == 0
    assert found.details == {"false_alarm_weight": 1.0, "declared_weight": None}


def test_a_false_alarm_beside_cases_that_weigh_far_more_weighs_as_many_of_them() -> None:
    found = present(BALANCED(_four([1.0, 1.0, 1e-20, 1e-20])))
    assert found.value == pytest.approx(1 / 2)
    assert found.details == {"false_alarm_weight": 1e20, "declared_weight": 1.0}


@pytest.mark.parametrize("unit", [1e-8, 1e8])
@pytest.mark.parametrize("name", WEIGHTED)
def test_the_unit_of_the_weights_does_not_matter(name: str, unit: float) -> None:
    weights = [1.0, 2.0, 4.0, 8.0]
    first, other = WEIGHTED[name](_four(weights)), WEIGHTED[name](_four([unit * weight for weight in weights]))
    assert present(other).value == pytest.approx(present(first).value, rel=1e-9, abs=1e-12)


def _log_odds(share: float) -> float:
    return math.log(share / (1 - share))


@pytest.mark.parametrize(
    ("risk", "share"),
    [(0.01, 0.5), (0.1, 0.9), (0.9, 0.1), (1e-6, 0.999), (0.3, 0.3), (1e-12, 0.9), (1 - 1e-12, 0.001)],
)
def test_the_intercept_of_one_risk_is_what_its_log_odds_are_off_however_far(risk: float, share: float) -> None:
    rows = weighted.Rows(np.array([1.0, 0.0]), np.array([risk, risk]), np.array([share, 1 - share]))
    found = present(INTERCEPT(rows))
    assert found.value == pytest.approx(_log_odds(share) - _log_odds(risk), abs=1e-9)


@pytest.mark.parametrize(
    "risks", [(0.1, 0.7), (0.2, 0.20001), (0.5, 0.500001), (0.499999, 0.5000005), (0.01, 0.99), (1e-9, 0.6)]
)
def test_the_line_of_two_risks_goes_through_the_share_of_cases_at_each(risks: tuple[float, float]) -> None:
    """However near the risks lie to each other."""
    shares, heavy = (0.25, 0.4), 5.0
    weights = np.array([shares[0], 1 - shares[0], heavy * shares[1], heavy * (1 - shares[1])])
    rows = weighted.Rows(np.array([1.0, 0.0, 1.0, 0.0]), np.repeat(risks, 2), weights)
    slope = (_log_odds(shares[1]) - _log_odds(shares[0])) / (_log_odds(risks[1]) - _log_odds(risks[0]))
    found, joint = SLOPE(rows), JOINT(rows)
    assert present(found).value == pytest.approx(slope, rel=1e-8)
    assert present(joint).value == pytest.approx(_log_odds(shares[0]) - slope * _log_odds(risks[0]), rel=1e-8)


@pytest.mark.parametrize(("narrow", "steep"), [(0.1, False), (0.001, True), (0.0005, True)])
def test_the_line_solves_its_equations_also_with_one_risk_far_from_the_others(narrow: float, steep: bool) -> None:
    """What happened less what the line expects adds up to 0 over the weights, also times the log odds (Binder 1983)."""
    risk = np.append(np.linspace(0.2 - narrow, 0.2 + narrow, 40), 1e-12)
    outcome = np.append(np.arange(40) % (2 if steep else 4) == 1, False).astype(float)
    weights = np.linspace(1, 3, 41)
    if steep:
        weights[:20][outcome[:20] == 1] = 0.1
    rows = weighted.Rows(outcome, risk, weights)
    slope, intercept = SLOPE(rows), JOINT(rows)
    assert isinstance(slope, weighted.Weighted)
    assert isinstance(intercept, weighted.Weighted)
    assert slope.value > (1 / narrow / 10 if steep else 0)
    log_odds = np.log(risk / (1 - risk))
    left = weights * (outcome - 1 / (1 + np.exp(-np.clip(intercept.value + slope.value * log_odds, -700, 700))))
    assert float(left.sum()) == pytest.approx(0, abs=1e-8)
    assert float((left * log_odds).sum()) == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("risk", [0.5, 0.2, 0.9])
def test_risks_that_are_the_same_where_there_is_weight_have_no_slope(risk: float) -> None:
    rows = weighted.Rows(OUTCOME, np.array([risk, 0.7, risk, risk]), np.array([1.0, 0.0, 2.0, 3.0]))
    none = Said("every risk that has a weight is the same or nearly so, so that there is no slope")
    assert SLOPE(rows) == none
    assert JOINT(rows) == none


def test_outcomes_that_are_separated_or_nearly_so_have_no_fit() -> None:
    endless = Said("the risks separate the outcomes or nearly so, so that no finite logistic fit exists")
    parted = weighted.Rows(OUTCOME, np.array([0.8, 0.7, 0.6, 0.1]), np.ones(4))
    assert SLOPE(parted) == endless
    assert JOINT(parted) == endless
    one_light_case = np.where(np.arange(1000) == 0, 1e-8, 1.0)
    rows = weighted.Rows((np.arange(1000) == 0).astype(float), np.full(1000, 0.2), one_light_case)
    assert INTERCEPT(rows) == endless


def test_equal_weights_give_every_number_of_no_weights(tmp_path: Path) -> None:
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
    equal = _example(tmp_path / "with", 'weights = "w"\n', ["2.5"] * 200)
    none = _example(tmp_path / "without")
    documents = [results_json.of(evaluate.evidence(study)) for study in (equal, none)]
    assert documents[0].estimates == documents[1].estimates
    assert documents[0].curves == documents[1].curves


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> tuple[Evidence, Evidence]:
    """The example with weights that all but agree, and without any."""
    study = _example(tmp_path_factory.mktemp("weighted"))
    (site,) = study.datasets
    weights = np.linspace(1, 1.001, 200)
    rows = replace(study, datasets=(replace(site, weights=weights),))
    return evaluate.evidence(rows), evaluate.evidence(study)


def test_nearly_equal_weights_give_nearly_the_ordinary_interval(evidence: tuple[Evidence, Evidence]) -> None:
    compared = 0
    plain = {
        (result.term, str(dict(result.at))): result.found for result in evidence[1].results if result.dataset == SITE
    }
    for result in evidence[0].results:
        if result.dataset != SITE or result.term not in WEIGHTED:
            continue
        other = estimated(plain[result.term, str(dict(result.at))])
        assert isinstance(result.found, Estimate), result
        assert method_text(result.found.method).startswith("sampling weights; ")
        assert "linearization over 200 rows, t with 199 degrees of freedom" in method_text(result.found.method)
        low, high = interval_of(result.found)
        assert other.low is not None
        assert other.high is not None
        width = other.high - other.low
        # A percentile bootstrap of 20 replicates is itself no closer than this.
        allowed = 0.6 if result.term == "model_based_concordance" else 0.13
        assert abs(low - other.low) < allowed * width, result.term
        assert abs(high - other.high) < allowed * width, result.term
        compared += 1
    assert compared > 30


def test_the_rival_has_its_weighted_interval_on_the_scale_of_the_model(evidence: tuple[Evidence, Evidence]) -> None:
    methods = {
        result.term: method_text(result.found.method)
        for result in evidence[0].results
        if isinstance(result.found, Estimate)
    }
    for term, words in (("auroc_of_rival", ", logit"), ("oe_ratio_of_rival", ", log"), ("auroc_difference", "freedom")):
        assert words in methods[term], term


def test_the_caption_names_how_the_intervals_of_weighted_rows_were_made(evidence: tuple[Evidence, Evidence]) -> None:
    weighted_rows, plain = map(results.caption, evidence)
    assert "Discrimination: DeLong; " in plain
    assert "Discrimination: linearization over rows; " in weighted_rows


def test_measures_and_curves_without_weights_are_refused_with_a_sentence(evidence: tuple[Evidence, Evidence]) -> None:
    refused = {result.term: result.found for result in evidence[0].results if result.dataset == SITE}
    assert refused["eci"] == Said(f"the rows of {SITE} have sampling weights, which this measure does not honour")
    for curve in evidence[0].curves:
        if curve.dataset == SITE and isinstance(curve.found, Curve):
            assert curve.curve in ("risk_distribution", "calibration_curve", "predictive_values")


def test_weighted_rows_have_a_calibration_curve_and_its_errors(evidence: tuple[Evidence, Evidence]) -> None:
    """Equal rows of unequal weight: both were refused."""
    curve = curved(find_curve(evidence[0], "calibration_curve", SITE))
    assert "sampling weights" in method_text(curve.method)
    assert all(
        low < at < high for low, at, high in zip(*(curve.columns[n] for n in ("low", "observed", "high")), strict=True)
    )
    for name in ("ici", "e50", "e90", "emax"):
        found = find(evidence[0], name, SITE)
        assert isinstance(found, Estimate), name
        bounds = interval_of(found)
        assert bounds[0] <= found.value <= bounds[1]
        assert method_text(found.method).startswith("sampling weights; ")


def test_the_curve_of_whole_weights_is_that_of_rows_as_often() -> None:
    """At the same knots the fit, its value at a risk and the mean distance are those of the repeated rows."""
    draw = np.random.default_rng(8)
    risk = draw.uniform(0.05, 0.95, 400)
    outcome = (draw.random(400) < risk**1.5).astype(float)
    weights = draw.integers(1, 5, 400)
    often = np.repeat(np.arange(400), weights)
    straight: tuple[float, ...] = ()
    found = smooth_curve(outcome, risk, straight, Design(400, None, weights / 7))
    plain = smooth_curve(outcome[often], risk[often], straight)
    assert not isinstance(found, Absent)
    assert not isinstance(plain, Absent)
    assert found.fit.coefficients == pytest.approx(plain.fit.coefficients, rel=1e-9)
    # The sandwich of design-based inference by matrices: in no direction it is below that of as many rows.
    columns = np.vstack((np.ones(400), np.log(risk / (1 - risk)))).T
    share = weights / weights.mean()
    chance = 1 / (1 + np.exp(-columns @ found.fit.coefficients))
    bread = np.linalg.inv(columns.T @ np.diag(share * chance * (1 - chance)) @ columns)
    score = columns * (share * (outcome - chance))[:, None]
    expected = bread @ (score.T @ score * 400 / 399) @ bread
    assert np.linalg.eigvals(np.linalg.solve(bread, expected)).min() > 1
    assert found.fit.covariance == pytest.approx(expected, rel=1e-8)
    assert found.freedom == 399


def test_the_shares_of_the_risks_are_those_of_the_weights_and_the_counts_those_of_the_rows() -> None:
    draw = np.random.default_rng(7)
    risk = draw.uniform(0.01, 0.99, 300)
    outcome = (draw.random(300) < risk).astype(float)
    weights = draw.integers(0, 4, 300)
    found, plain = risk_distribution(outcome, risk, weights / 3), risk_distribution(outcome, risk)
    assert isinstance(found, Curve)
    assert isinstance(plain, Curve)
    often = np.repeat(np.arange(300), weights)
    edges = [*found.columns["low"], 1.0]
    for name, label in (("events", 1), ("non_events", 0)):
        assert found.columns[name] == plain.columns[name]
        repeated = np.histogram(risk[often][outcome[often] == label], np.array(edges, dtype=float))[0]
        assert found.columns[f"share_{name}"] == pytest.approx(repeated / repeated.sum())
        assert found.columns[f"share_{name}"] != plain.columns[f"share_{name}"]
    none = curved(risk_distribution(outcome, risk, 1 - outcome))
    assert set(none.columns["share_events"]) == {None}


def test_the_drawn_means_of_the_risks_are_those_of_the_drawn_shares(tmp_path: Path) -> None:
    study = _example(tmp_path, 'weights = "w"\n', [f"{1 + 9 * (row % 2)}" for row in range(200)])
    found = evaluate.evidence(study)
    (site,) = study.datasets
    curve = curved(find_curve(found, "risk_distribution", SITE))
    tjur = estimated(find(found, "tjur_r2", SITE))
    assert method_text(curve.method) == "counts of rows, shares of their sampling weights"
    assert site.weights is not None
    for name, label, detail in (("events", 1, "mean_of_cases"), ("non_events", 0, "mean_of_others")):
        edges = np.array([*curve.columns["low"], 1.0], dtype=float)
        own = present(site.outcome) == label
        shares = np.histogram(present(site.risk)[own], edges, weights=site.weights[own])[0] / site.weights[own].sum()
        assert curve.columns[f"share_{name}"] == pytest.approx(shares)
        middles = (edges[:-1] + edges[1:]) / 2
        assert tjur.details[detail] == pytest.approx(float(shares @ middles), abs=0.02)


def test_the_order_of_the_rows_moves_no_weighted_interval(tmp_path: Path) -> None:
    study = _example(tmp_path)
    (site,) = study.datasets
    draw = np.random.default_rng(2)
    many = draw.integers(0, 200, 400)
    # Rows that are alike but for the risk of the rival.
    weights, rival = draw.choice([1.0, 2.0], 400), draw.uniform(0.05, 0.95, 400)
    found = []
    for order in (np.arange(400), draw.permutation(400)):
        position = many[order]
        rows = replace(
            site,
            rows_read=400,
            outcome=present(site.outcome)[position],
            risk=present(site.risk)[position],
            rival=rival[order],
            predictors=(),
            weights=weights[order],
        )
        results = evaluate.evidence(replace(study, datasets=(rows,))).results
        found.append([result.found for result in results if result.dataset == SITE and result.term in WEIGHTED])
    for first, second in zip(*found, strict=True):
        assert isinstance(first, Estimate)
        assert isinstance(second, Estimate)
        assert (first.low, first.high) == pytest.approx((second.low, second.high), rel=1e-9)
        assert "linearization over 400 rows" in method_text(first.method)


def _small(study: Study, outcome: list[float], risk: list[float], weights: list[float]) -> dict[str, Estimate | Absent]:
    """What is found of these rows at a site, by measure; at the last of its settings."""
    columns = {"outcome": outcome, "risk": risk, "weights": weights}
    rows = {name: np.array(column) for name, column in columns.items()}
    site = replace(study.datasets[0], rows_read=len(outcome), rival=None, predictors=(), **rows)  # type: ignore[arg-type]
    results = evaluate.evidence(replace(study, datasets=(site,))).results
    return {result.term: result.found for result in results if result.dataset == SITE}


def test_a_ratio_that_rests_on_one_row_has_a_wide_interval_on_the_log_scale(tmp_path: Path) -> None:
    """One non-case is flagged, and one case is not."""
    outcome, risk = [1.0] * 10 + [0.0] * 10, [0.95] * 9 + [0.01] + [0.95] + [0.01] * 9
    found = _small(_example(tmp_path), outcome, risk, [1.0, 2.0] * 10)
    # The flagged non-case and the other ones weigh 1 and 14, the missed case and the other ones 2 and 13.
    for term, value in (("likelihood_ratio_positive", 13 / 15 * 15), ("likelihood_ratio_negative", 2 / 15 / (14 / 15))):
        estimate = estimated(found[term])
        assert estimate.value == pytest.approx(value)
        low, high = interval_of(estimate)
        assert low * high == pytest.approx(value**2)
        assert high > 5 * value


def test_events_without_weight_are_none(tmp_path: Path) -> None:
    outcome, risk = [1.0] * 5 + [0.0] * 15, [0.1, 0.3, 0.5, 0.7] * 5
    found = _small(_example(tmp_path), outcome, risk, [0.0] * 5 + [1.0] * 15)
    for term in ("sensitivity", "likelihood_ratio_positive", "auroc", "calibration_slope"):
        assert found[term] == Said("no row that has a weight has the outcome")
    ratio = estimated(found["oe_ratio"])
    # Fifteen rows of weight 1 with no event, where .4 are expected of each on average.
    assert (ratio.value, ratio.low) == (0, 0)
    assert ratio.high == pytest.approx((1 - 0.025 ** (1 / 15)) / (sum(risk[5:]) / 15))


@pytest.mark.parametrize(
    ("weight", "what"),
    [
        ("-1", "w is -1, not a number of 0 or more."),
        ("", "w is missing."),
        ("heavy", 'w is "heavy", not a number of 0 or more.'),
        ("inf", "w is inf, not a number of 0 or more."),
    ],
)
def test_a_weight_that_is_none_is_a_fault(tmp_path: Path, weight: str, what: str) -> None:
    caught = refused(_example, tmp_path, 'weights = "w"\n', [*["1"] * 199, weight])
    assert [(fault.what, fault.where) for fault in caught.faults] == [(what, "hospital-1.csv, row 201, column w")]


def test_weights_that_are_all_0_are_a_fault(tmp_path: Path) -> None:
    assert refused(_example, tmp_path, 'weights = "w"\n', ["0"] * 200).faults[0].what == "All sampling weights are 0."
