"""Subgroups: from a declared column to labels, rows, measures on these rows, and what is said of them."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dossier import evaluate, reading
from dossier.core import between_groups, flags
from dossier.core.types import (
    POOLED,
    Absent,
    Dataset,
    Estimate,
    Evidence,
    Study,
    SubgroupSize,
    Subset,
    find,
    find_in_subgroup,
    subgroup_sizes,
)
from dossier.metrics import calibration, discrimination, utility
from dossier.record import results
from dossier.report.chapters import subgroups as findings
from dossier.report.chapters.committee.missed import LESS_OFTEN, differing_groups
from dossier.typeset.flags import flag_text
from dossier.typeset.reasons import reason_text
from dossier.typeset.words import sentence_case
from tests.conftest import by_hand
from tests.estimated import absent, estimated, interval_of, present
from tests.figures.evidence import CASES
from tests.reasons import Said
from tests.reference.built import REPOSITORY, hurried
from tests.smallest import HEAD, release_in
from tests.test_results import faults

KNEE = Path(__file__).resolve().parent.parent / "fixtures" / "knee"
QUICK = f"{HEAD}[thresholds]\ndeclared = [0.3]\n[resampling]\nbootstrap = 2\npermutations = 1\n"


def read(folder: Path, declared: str, **tables: str) -> Study:
    """A release of these tables, all external."""
    text = QUICK
    for name, content in tables.items():
        text += f'[[dataset]]\nname = "{name}"\nrole = "external"\nfile = "{name}.csv"\n'
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    return reading.study(release_in(folder, text + declared))


def masks(dataset: Dataset) -> dict[str, list[bool] | str]:
    return {
        str(subgroup.subset): reason_text(subgroup.rows.reason)
        if isinstance(subgroup.rows, Absent)
        else subgroup.rows.tolist()
        for subgroup in dataset.subgroups
    }


def table(column: str, values: list[str]) -> str:
    rows = [f"{k % 2},0.{k % 9 + 1},{value}" for k, value in enumerate(values)]
    return "\n".join([f"outcome,risk,{column}", *rows]) + "\n"


# ---- labels and rows ------------------------------------------------------------------------------------------------


def test_levels_name_values_however_they_are_written(tmp_path: Path) -> None:
    declared = '[[subgroup]]\ncolumn = "s"\nlevels = { "0" = "female", "1" = "male" }\n'
    study = read(tmp_path, declared, a=table("s", ["0", "1.0", "", "2", "1"]), b="outcome,risk\n0,0.1\n1,0.2\n")
    assert masks(study.datasets[0]) == {
        "s=female": [True, False, False, False, False],
        "s=male": [False, True, False, False, True],
    }
    assert masks(study.datasets[1]) == {"s=female": "b has no column s", "s=male": "b has no column s"}
    lost = [flag_text(flag.fact) for flag in study.flags if flag.flag == "in_no_subgroup"]
    assert lost == ["In a 2 rows are in no subgroup of s: the value is missing or not among its levels."]


def test_booleans_have_levels_in_words_and_in_numbers(tmp_path: Path) -> None:
    for levels in ('{ "true" = "yes", "false" = "no" }', '{ "1" = "yes", "0" = "no" }'):
        written = ["True", "false", "FALSE", "true", "False"]
        study = read(tmp_path, f'[[subgroup]]\ncolumn = "s"\nlevels = {levels}\n', a=table("s", written))
        yes = [True, False, False, True, False]
        assert masks(study.datasets[0]) == {"s=yes": yes, "s=no": [not each for each in yes]}


def test_texts_and_few_numbers_are_their_own_labels_in_every_table(tmp_path: Path) -> None:
    study = read(tmp_path, '[[subgroup]]\ncolumn = "s"\n', a=table("s", list("baaba")), b=table("s", ["c", "b"]))
    assert masks(study.datasets[1]) == {"s=a": [False, False], "s=b": [False, True], "s=c": [True, False]}
    study = read(
        tmp_path,
        '[[subgroup]]\ncolumn = "s"\n',
        a=table("s", ["10", "2.0", "2", "10.0", "2"]),
        b=table("s", ["2", "2.5"]),
    )
    assert list(masks(study.datasets[0])) == ["s=2", "s=2.5", "s=10"]
    assert masks(study.datasets[1])["s=2"] == [True, False]


@pytest.mark.parametrize(
    ("values", "cuts", "labels", "places"),
    [
        (["49", "50", "69", "70", "18"], "[50, 70]", ["under 50", "50 to 69", "70 or more"], [0, 1, 1, 2, 0]),
        (["49.9", "50", "69.9", "70", "90"], "[50, 70]", ["under 50", "50 to under 70", "70 or more"], [0, 1, 1, 2, 2]),
        (["1", "2", "3", "4", "5"], "[1.5, 2.5]", ["under 1.5", "1.5 to under 2.5", "2.5 or more"], [0, 1, 2, 2, 2]),
        (["1", "2", "3", "4", "2"], "[2, 3]", ["under 2", "2", "3 or more"], [0, 1, 2, 2, 1]),
        (["-7", "-5", "-1", "0", "-6"], "[-5, 0]", ["under -5", "-5 to -1", "0 or more"], [0, 1, 1, 2, 0]),
    ],
)
def test_cuts_are_named_as_the_values_are(
    tmp_path: Path, values: list[str], cuts: str, labels: list[str], places: list[int]
) -> None:
    study = read(tmp_path, f'[[subgroup]]\ncolumn = "s"\ncuts = {cuts}\n', a=table("s", values))
    assert [subgroup.label for subgroup in study.datasets[0].subgroups] == labels
    rows = np.array([subgroup.rows for subgroup in study.datasets[0].subgroups])
    assert rows.argmax(axis=0).tolist() == places
    assert (rows.sum(axis=0) == 1).all()


def test_rows_without_an_outcome_are_gone_from_the_subgroups_too(tmp_path: Path) -> None:
    text = "outcome,risk,s\n0,0.1,a\n,0.2,a\n1,,b\n1,0.4,b\n0,0.3,b\n1,0.6,a\n0,0.5,b\n"
    study = read(tmp_path, '[[subgroup]]\ncolumn = "s"\n', a=text)
    of_a = [True, False, False, True, False]
    assert masks(study.datasets[0]) == {"s=a": of_a, "s=b": [not each for each in of_a]}


def test_a_level_that_nobody_has_is_a_flag(tmp_path: Path) -> None:
    declared = '[[subgroup]]\ncolumn = "s"\nlevels = { a = "one", b = "two", z = "three" }\n'
    study = read(tmp_path, declared, a=table("s", list("abaab")))
    assert [flag_text(flag.fact) for flag in study.flags if flag.flag == "empty_subgroup"] == [
        "No row of any dataset is in the subgroup s three."
    ]
    found = find_in_subgroup(evaluate.evidence(study), Subset("s", "three"), "auroc", "a")
    assert found == Said("too few to tell: 0 events, 0 non-events")


def test_under_a_policy_nothing_says_that_a_level_has_nobody(tmp_path: Path) -> None:
    """The lowest range may be nobody, and a flag would say which it is."""
    declared = '[[subgroup]]\ncolumn = "s"\nlevels = { a = "one", b = "two", z = "three" }\n'
    policy = "[disclosure]\nminimum_cell = 10\n"
    study = read(tmp_path, declared + policy, a=table("s", ["a", "b"] * 20))
    assert "empty_subgroup" in {flag.flag for flag in study.flags}
    assert "empty_subgroup" not in {flag.flag for flag in evaluate.evidence(study).flags}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=3, max_size=30))
def test_a_subgroup_and_the_others_and_the_unassigned_are_all_rows(
    tmp_path_factory: pytest.TempPathFactory, values: list[str]
) -> None:
    declared = '[[subgroup]]\ncolumn = "s"\nlevels = { a = "A", b = "B" }\n'
    (dataset,) = read(tmp_path_factory.mktemp("rows"), declared, a=table("s", ["a", "b", *values])).datasets
    first, other = (np.asarray(subgroup.rows) for subgroup in dataset.subgroups)
    assert not (first & other).any()
    written = ["a", "b", *values]
    assert first.tolist() == [value == "a" for value in written]
    assert (~first & ~other).tolist() == [value not in "ab" or not value for value in written]


# ---- measures -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def knee() -> Evidence:
    return evaluate.evidence(hurried(reading.study(KNEE), bootstrap=30))


BANDS = {"under 50": (0, 50), "50 to 69": (50, 70), "70 or more": (70, 200)}


@pytest.mark.parametrize("label", ["50 to 69", "70 or more"])
def test_values_are_those_of_the_plain_functions_on_the_rows(knee: Evidence, label: str) -> None:
    low, high = BANDS[label]
    # The rows of the third hospital as a person reads them from its file.
    with (KNEE / "knee-3.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    rows = [row for row in rows if row["oa_mri"] not in ("NA", ".", "") and row["model_output"] not in ("NA", ".", "")]
    y = np.array([float(row["oa_mri"]) for row in rows])
    p = np.array([float(row["model_output"]) for row in rows])
    inside = np.array([low <= float(row["age_years"]) < high for row in rows])
    subset = Subset("Age", label)
    assert subgroup_sizes(knee, "Age", "knee-3")[label] == SubgroupSize(int(inside.sum()), int(y[inside].sum()), 0)
    plain: dict[str, Callable[[Any], Estimate | Absent]] = {
        "auroc": lambda m: discrimination.auroc(y[m], p[m], 0.95),
        "oe_ratio": lambda m: calibration.oe_ratio(y[m], p[m], 0.95),
        "calibration_slope": lambda m: calibration.calibration_slope(y[m], p[m], 0.95),
        "brier": lambda m: calibration.brier(y[m], p[m], 0.95),
    }
    for measure, function in plain.items():
        assert find_in_subgroup(knee, subset, measure, "knee-3") == function(inside), measure
        ours, rest = function(inside), function(~inside)
        assert isinstance(ours, Estimate)
        assert isinstance(rest, Estimate)
        apart = estimated(find_in_subgroup(knee, subset, measure, "knee-3", against="complement"))
        assert apart.value == pytest.approx(ours.value - rest.value, abs=1e-12)
        down = ((ours.value - (ours.low or 0)) ** 2 + ((rest.high or 0) - rest.value) ** 2) ** 0.5
        up = (((ours.high or 0) - ours.value) ** 2 + (rest.value - (rest.low or 0)) ** 2) ** 0.5
        assert apart.low == pytest.approx(apart.value - down, abs=1e-12)
        assert apart.high == pytest.approx(apart.value + up, abs=1e-12)
    for at in (0.5, 0.2):
        expected = utility.net_benefit(y[inside], p[inside], at, 0.95)
        assert find_in_subgroup(knee, subset, "net_benefit", "knee-3", threshold=at) == expected


def test_of_two_levels_each_is_the_other_s_mirror(knee: Evidence) -> None:
    for measure in ("auroc", "oe_ratio", "ici", "nagelkerke_r2"):
        estimate = estimated(find_in_subgroup(knee, Subset("Sex", "female"), measure, "knee-2", against="complement"))
        other = estimated(find_in_subgroup(knee, Subset("Sex", "male"), measure, "knee-2", against="complement"))
        assert estimate.value == -other.value
        if estimate.low is not None and estimate.high is not None:
            assert other.low == pytest.approx(-estimate.high)
            assert other.high == pytest.approx(-estimate.low)


def test_every_core_and_supporting_measure_of_one_site_is_there(knee: Evidence) -> None:
    here = {result.measure for result in knee.subgroups.results if result.dataset == "knee-1"}
    assert here == {
        *("auroc", "model_based_concordance", "net_benefit", "net_benefit_gain", "oe_ratio"),
        *("calibration_intercept", "calibration_slope"),
        *("calibration_intercept_joint", "ici", "e50", "e90", "emax", "eci", "brier", "scaled_brier", "log_score"),
        *("nagelkerke_r2", "standardized_net_benefit", "sensitivity", "specificity"),
        *("oe_ratio_ratio", "auroc_beyond_case_mix"),
        *("mss_auroc", "mss_oe", "mss_slope", "mss_snb", "mss_brier"),
        # Which may be weighed otherwise there.
        *("mean_severity", "error_severity_index"),
    }
    tiers = {result.measure: knee.terms[result.term].tier for result in knee.subgroups.results}
    others = {measure for measure, tier in tiers.items() if tier not in ("core", "supporting")}
    assert others == {"sensitivity", "specificity", "mean_severity", "error_severity_index"}


def rows_of_knee(value: Subset) -> list[tuple[str, float, float]]:
    """Site, outcome and risk of the women or the men of every external knee site, from the tables themselves.

    The risks of Knee 2 are too high in the first half of 2025, and too low in the second: its halves stand apart.
    """
    study = reading.study(REPOSITORY / "fixtures" / "knee")
    found = []
    for dataset in study.datasets:
        subgroup = next((group for group in dataset.subgroups if group.subset == value), None)
        if dataset.role != "external" or subgroup is None or isinstance(subgroup.rows, Absent):
            continue
        assert dataset.outcome is not None
        assert dataset.risk is not None
        of_row = np.zeros(len(dataset.outcome)) if dataset.periods is None else dataset.periods.of_row
        is_late = of_row >= 4 * 2025 + 2
        found += [
            (f"{dataset.name}, late" if late and dataset.name == "knee-2" else dataset.name, float(y), float(p))
            for y, p, late in zip(
                dataset.outcome[subgroup.rows], dataset.risk[subgroup.rows], is_late[subgroup.rows], strict=True
            )
        ]
    return found


def test_over_all_sites_a_subgroup_has_every_row_also_of_sites_with_few_events(knee: Evidence) -> None:
    women = rows_of_knee(Subset("Sex", "female"))
    names = dict.fromkeys(name for name, _, _ in women)
    few = [name for name in names if sum(y for site, y, _ in women if site == name) < 20]
    assert few, "a site with fewer than 20 events in the subgroup"
    of_sites = [
        [[(y, p) for name, y, p in rows if name == site] for rows in (women, rows_of_knee(Subset("Sex", "male")))]
        for site in names
    ]
    ratio = estimated(find_in_subgroup(knee, Subset("Sex", "female"), "oe_ratio", POOLED))
    assert (ratio.n, ratio.events) == (len(women), sum(y for _, y, _ in women))
    assert ratio.details["k"] == len({name.removesuffix(", late") for name in names})
    above = below = 0.0
    for ours, rest in of_sites:
        e1, e0 = (sum(p for _, p in rows) for rows in (ours, rest))
        above, below = above + sum(y for y, _ in ours) * e0 / (e1 + e0), below + e1 * e0 / (e1 + e0)
    assert ratio.value == pytest.approx(above / below, rel=1e-12)
    found = []
    for each in of_sites:
        pairs = [[0.5 * (p > q) + 0.5 * (p >= q) for y, p in rows if y for z, q in rows if not z] for rows in each]
        if pairs[0] and pairs[1]:
            weight = len(pairs[0]) * len(pairs[1]) / (len(pairs[0]) + len(pairs[1]))
            found.append((weight, sum(pairs[0]) / len(pairs[0])))
    auroc = estimated(find_in_subgroup(knee, Subset("Sex", "female"), "auroc", POOLED))
    assert auroc.value == pytest.approx(sum(w * v for w, v in found) / sum(w for w, _ in found), rel=1e-12)


def test_every_difference_over_all_sites_is_that_of_the_two_values_that_are_printed(knee: Evidence) -> None:
    found = {
        (result.term, tuple(sorted(result.at.items()))): result.found
        for result in knee.subgroups.results
        if result.dataset == POOLED and result.subset == Subset("Sex", "female") and isinstance(result.found, Estimate)
    }
    pairs = 0
    for (term, at), women in found.items():
        apart = found.get((term, tuple(sorted({**dict(at), "against": "complement"}.items()))))
        men = find_in_subgroup(knee, Subset("Sex", "male"), knee.terms[term].measure, POOLED, **dict(at))
        if "against" not in dict(at) and apart is not None and isinstance(men, Estimate):
            pairs += 1
            assert apart.value == pytest.approx(women.value - men.value, abs=1e-12), term
            assert apart.n == women.n + men.n
    assert pairs > 20


def right_model(spread: dict[str, float], rows: int = 700) -> str:
    """A table whose risks are right, with these spreads of the log odds in its subgroups."""
    rng = np.random.default_rng(12)
    lines = ["outcome,risk,s"]
    for name, size in spread.items():
        linear = rng.normal(-0.8, size, rows)
        happened = rng.random(rows) < 1 / (1 + np.exp(-linear))
        lines += [f"{int(y)},{1 / (1 + np.exp(-x)):.4f},{name}" for y, x in zip(happened, linear, strict=True)]
    return "\n".join(lines) + "\n"


def test_a_group_that_ranks_less_well_by_case_mix_alone_is_told_so(tmp_path: Path) -> None:
    found = evaluate.evidence(
        read(tmp_path, '[[subgroup]]\ncolumn = "s"\n', a=right_model({"alike": 0.5, "mixed": 1.8}))
    )
    apart = estimated(find_in_subgroup(found, Subset("s", "alike"), "auroc", "a", against="complement"))
    assert present(apart.high) < -0.1
    (look,) = (each for each in looks_of(found) if each.measure == "auroc_beyond_case_mix")
    assert look.state != "against"
    low, high = interval_of(look.apart)
    assert low < 0 < high
    assert "beyond case mix" not in findings.finding(found).lead
    assert LESS_OFTEN not in " ".join(differing_groups(found))


def looks_of(found: Evidence) -> tuple[between_groups.Look, ...]:
    return between_groups.looks(found.subgroups.summaries, found.subgroups.results)


def test_a_group_that_is_ranked_worse_than_its_case_mix_allows_is_told_so(tmp_path: Path) -> None:
    head, *lines = right_model({"alike": 1.4, "mixed": 1.8}).splitlines()
    rows = [line.split(",") for line in lines]
    rng = np.random.default_rng(4)
    shuffled = iter(rng.permutation([risk for _, risk, name in rows if name == "alike"]))
    worse = [f"{y},{next(shuffled) if name == 'alike' else risk},{name}" for y, risk, name in rows]
    study = read(tmp_path, '[[subgroup]]\ncolumn = "s"\n', a="\n".join([head, *worse]) + "\n")
    found = evaluate.evidence(study)
    (look,) = (each for each in looks_of(found) if each.measure == "auroc_beyond_case_mix")
    assert look.state == "against"
    assert flag_text(look.fact).startswith(
        "beyond case mix the AUROC is lower in the subgroup alike (s) than in the others: "
    )
    assert f'It tells sick from well {LESS_OFTEN} patients with s "alike"' in " ".join(differing_groups(found))


def made(events: int, others: int) -> str:
    """A table with so many events and non-events in the subgroup a, and enough in b."""
    rng = np.random.default_rng(3)
    rows = [("1", "a")] * events + [("0", "a")] * others + [("1", "b")] * 30 + [("0", "b")] * 30
    lines = [f"{y},{rng.uniform(0.2 * float(y), 0.7 + 0.2 * float(y)):.4f},{s}" for y, s in rows]
    return "\n".join(["outcome,risk,s", *lines]) + "\n"


@pytest.mark.parametrize(("events", "others"), [(20, 20), (19, 40), (40, 19)])
def test_too_few_is_below_twenty_of_each(tmp_path: Path, events: int, others: int) -> None:
    found = evaluate.evidence(read(tmp_path, '[[subgroup]]\ncolumn = "s"\n', a=made(events, others)))
    here = [result for result in found.subgroups.results if result.dataset == "a" and result.subset == Subset("s", "a")]
    if min(events, others) >= 20:
        assert sum(isinstance(result.found, Estimate) for result in here) > 20
        return
    assert here
    assert all(result.found == Said(f"too few to tell: {events} events, {others} non-events") for result in here)
    against = find_in_subgroup(found, Subset("s", "b"), "auroc", "a", against="complement")
    assert against == Said(f"too few to tell of the other patients: {events} events, {others} non-events")
    assert isinstance(find_in_subgroup(found, Subset("s", "b"), "auroc", "a"), Estimate)


@pytest.mark.parametrize("measure", ["auroc", "oe_ratio", "calibration_slope"])
def test_what_all_sites_say_is_held_to_the_rule_of_one_site(tmp_path: Path, measure: str) -> None:
    """19 events at one site are too few; 10 and 10 at two sites are enough together."""
    declared = '[[subgroup]]\ncolumn = "s"\n'
    (tmp_path / "few").mkdir()
    (tmp_path / "enough").mkdir()
    few = evaluate.evidence(read(tmp_path / "few", declared, a=made(19, 40)))
    enough = evaluate.evidence(read(tmp_path / "enough", declared, a=made(10, 40), b=made(10, 40)))
    here = Subset("s", "a")
    assert find_in_subgroup(few, here, measure, POOLED) == Said("too few to tell: 19 events, 40 non-events")
    for evidence, kind in ((few, Absent), (enough, Estimate)):
        assert isinstance(find_in_subgroup(evidence, here, measure, POOLED), kind)
        assert isinstance(find_in_subgroup(evidence, here, measure, POOLED, against="complement"), kind)


def test_the_order_of_rows_and_of_levels_moves_no_number(tmp_path: Path) -> None:
    head, *lines = made(40, 40).splitlines()
    turned = "\n".join([head, *lines[::-1]]) + "\n"
    first, second = tmp_path / "one", tmp_path / "two"
    first.mkdir()
    second.mkdir()
    evidence = evaluate.evidence(
        read(first, '[[subgroup]]\ncolumn = "s"\nlevels = { a = "a", b = "b" }\n', a=made(40, 40))
    )
    two = evaluate.evidence(read(second, '[[subgroup]]\ncolumn = "s"\nlevels = { b = "b", a = "a" }\n', a=turned))
    for result in evidence.subgroups.results:
        at = dict(result.at)
        again = find_in_subgroup(two, present(result.subset), result.measure, result.dataset, **at)
        if isinstance(result.found, Estimate):
            assert isinstance(again, Estimate)
            pairs = [(again.value, result.found.value), (again.low, result.found.low), (again.high, result.found.high)]
            for there, here in pairs:
                assert there == (None if here is None else pytest.approx(here, rel=1e-9, abs=1e-12))
        else:
            assert again == result.found


def test_refitted_splits_have_no_subgroups(tmp_path: Path) -> None:
    declared = '[[dataset]]\nname = "i"\nrole = "internal"\nfile = "i.csv"\nsplit = "k"\n[[subgroup]]\ncolumn = "s"\n'
    text = "\n".join(["k,outcome,risk,s", *(f"{k % 2},{k % 2},0.{k % 7 + 1},{'ab'[k % 2]}" for k in range(80))]) + "\n"
    (tmp_path / "i.csv").write_text(text, encoding="utf-8")
    found = evaluate.evidence(read(tmp_path, declared, a=made(20, 20)))
    why = Said("subgroups need independent patients, and the rows of i are refitted splits")
    assert find_in_subgroup(found, Subset("s", "a"), "auroc", "i") == why


# ---- what becomes of them -------------------------------------------------------------------------------------------


def test_subgroups_leave_the_results_of_whole_datasets_alone(knee: Evidence) -> None:
    study = hurried(reading.study(KNEE), bootstrap=30)
    bare = dataclasses.replace(
        study,
        release=study.release.model_copy(update={"subgroup": ()}),
        datasets=tuple(dataclasses.replace(dataset, subgroups=()) for dataset in study.datasets),
    )
    assert evaluate.evidence(bare).results == knee.results
    assert all(result.subset is None for result in knee.results)
    assert all(result.subset is not None for result in knee.subgroups.results)
    raised = flags.raised(flags.Shown.of(knee))
    unanswered = [dataclasses.replace(flag, reply=None) for flag in knee.flags]
    # What a hospital's risks are on average is not said where they turn over time.
    turning = {flag.dataset for flag in knee.flags if flag.flag == "calibration_drift"}
    said = [flag for flag in raised if not (flag.flag in ("risks_off", "slope_off") and flag.dataset in turning)]
    assert turning == {"knee-2"}
    assert [flag for flag in unanswered if flag in raised] == said


def test_results_json_holds_every_subgroup_and_keeps_to_its_schema(knee: Evidence) -> None:
    document = json.loads(results.of(knee).text())
    assert faults(document, results.schema()) == []
    rows = [row for row in document["estimates"] if row["subset"] is not None]
    assert len(rows) == len(knee.subgroups.results)
    assert {(row["subset"]["column"], row["subset"]["level"]) for row in rows} == {
        *(("Sex", "female"), ("Sex", "male"), ("Age", "under 50"), ("Age", "50 to 69"), ("Age", "70 or more"))
    }
    assert {row["at"].get("against") for row in rows} == {None, "complement"}
    sizes = [row for row in document["subgroups"] if (row["dataset"], row["subset"]["column"]) == ("knee-1", "Sex")]
    assert sum(row["n"] for row in sizes) == 320
    curves = [row for row in document["curves"] if row["subset"] == {"column": "Sex", "level": "female"}]
    assert {row["curve"] for row in curves} == {"calibration_curve"}


def test_the_chapter_counts_what_it_looked_at(knee: Evidence) -> None:
    """Two groups by sex are one look, three by age are three, each in four measures; under 50 were missed more."""
    looks = looks_of(knee)
    assert len(looks) == 16
    assert {look.apart.details["looks"] for look in looks} == {16.0}
    said = findings.finding(knee)
    assert said.lead.startswith("In none of 16\N{NO-BREAK SPACE}comparisons within sites")
    # Those under 50 have lower risks: fewer of their cases are found whatever the model.
    assert "he sensitivity at 0.50 is lower in the subgroup under 50 (Age) than in the others" in said.rest
    assert "; by their risks 0.3" in said.rest
    # Two by sex and three by age at seven of eight sites, but those under 50 (2) and of 70 or more (4) at Knee 4.
    assert "33 subgroups, site by site." in said.rest
    assert "Of 16\N{NO-BREAK SPACE}comparisons, corrected for their number: " in said.rest
    counts = [sum(look.state == state for look in looks) for state in findings.STATES]
    assert sum(counts) == 16
    assert "It more often misses patients aged under 50 (" in " ".join(differing_groups(knee))


def test_the_tables_show_the_numbers_and_what_is_too_few(knee: Evidence) -> None:
    tables = {table.name: table for table in findings.tables(knee)}
    assert list(tables) == ["table-subgroups-sex-age", "table-subgroup-differences"]
    values = tables["table-subgroups-sex-age"]
    rows = values.rows
    index = next(k for k, row in enumerate(rows) if row.label == "Knee 3")
    found = estimated(find_in_subgroup(knee, Subset("Age", "50 to 69"), "auroc", "knee-3"))
    assert rows[0].label == "AUROC"
    heads = [(column.over, column.label) for column in values.columns]
    assert heads == [
        ("Sex", "Female"),
        ("Sex", "Male"),
        ("Age", "Under 50"),
        ("Age", "50 to 69"),
        ("Age", "70 or more"),
    ]
    assert rows[index].cells[2].text == "too few"
    assert rows[index].cells[3].text == f"{found.value:.2f}"
    assert "no column Age: Knee 8" in " ".join(values.footnotes)
    whole = [row for row in tables["table-subgroup-differences"].rows if row.cells]
    coloured = [row.label for row in whole if any(cell.kind == "alert" for cell in row.cells)]
    assert coloured == [
        f"{sentence_case(look.label)} ({look.column})" for look in looks_of(knee) if look.state == "against"
    ]
    named = " ".join(tables["table-subgroup-differences"].footnotes)
    assert "Under five patients of the subgroup or of the others: Knee 4 (under 50" in named
    of_measure = [text.split(":")[0] for text in named.split("expected events in either. ")[1].split(". ")]
    assert of_measure[:4] == ["Sensitivity", "Specificity", "O/E", "AUROC"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_kind_of_study_has_its_tables(case: Any) -> None:
    found = by_hand(case)
    assert all(
        len(row.cells) == len(table.columns) for table in findings.tables(found) for row in table.rows if row.cells
    )
    assert isinstance(find(found, "auroc", "nowhere"), Absent)


# ---- several classes ------------------------------------------------------------------------------------------------

GRADES = QUICK.replace('column = "outcome"', 'column = "grade"\nclasses = ["G0", "G1", "G2"]').replace(
    'column = "risk"', 'columns = ["r0", "r1", "r2"]'
)


def graded(folder: Path, n: int = 260) -> tuple[Study, Evidence]:
    """One site of three classes, 2 % of them G2 among the men, and two subgroups."""
    rng = np.random.default_rng(5)
    rows = ["grade,r0,r1,r2,sex"]
    for _ in range(n):
        sex = "male" if rng.random() < 0.5 else "female"
        shares = rng.dirichlet((3, 2, 2))
        grade = rng.choice(3, p=shares if sex == "female" else [0.5, 0.48, 0.02])
        first, second = round(float(shares[0]), 6), round(float(shares[1]), 6)
        rows.append(f"G{grade},{first:.6f},{second:.6f},{1 - first - second:.6f},{sex}")
    (folder / "one.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    dataset = '[[dataset]]\nname = "one"\nrole = "external"\nfile = "one.csv"\n'
    study = reading.study(release_in(folder, GRADES + dataset + '[[subgroup]]\ncolumn = "sex"\n'))
    return study, evaluate.evidence(study)


def test_subgroups_of_several_classes(tmp_path: Path) -> None:
    study, evidence = graded(tmp_path)
    (dataset,) = study.datasets
    assert dataset.classes is not None
    women = next(subgroup.rows for subgroup in dataset.subgroups if subgroup.label == "female")
    assert not isinstance(women, Absent)
    assert subgroup_sizes(evidence, "sex", "one")["female"] == SubgroupSize(
        n=int(women.sum()),
        events=None,
        unassigned=0,
        class_counts={f"G{k}": int((dataset.classes[women] == k).sum()) for k in range(3)},
    )
    of_each = [
        discrimination.auroc((dataset.classes[women] == k).astype(float), present(dataset.class_risk)[women, k], 0.95)
        for k in range(3)
    ]
    for k, expected in enumerate(of_each):
        assert find_in_subgroup(evidence, Subset("sex", "female"), "auroc", "one", **{"class": f"G{k}"}) == expected
    mean = estimated(find_in_subgroup(evidence, Subset("sex", "female"), "auroc", "one"))
    assert mean.value == pytest.approx(
        float(np.mean([estimate.value for estimate in of_each if isinstance(estimate, Estimate)]))
    )


def test_too_few_is_told_class_by_class(tmp_path: Path) -> None:
    _, evidence = graded(tmp_path)
    mean = absent(find_in_subgroup(evidence, Subset("sex", "male"), "auroc", "one"))
    assert reason_text(mean.reason).startswith("too few to tell: ")
    assert reason_text(mean.reason).endswith(" of G2")
    assert isinstance(find_in_subgroup(evidence, Subset("sex", "male"), "auroc", "one", **{"class": "G0"}), Estimate)
    assert isinstance(find_in_subgroup(evidence, Subset("sex", "male"), "auroc", "one", **{"class": "G2"}), Absent)
    apart = absent(find_in_subgroup(evidence, Subset("sex", "female"), "auroc", "one", against="complement"))
    assert reason_text(apart.reason).startswith("too few to tell of the other patients: ")
    tables = {table.name: table for table in findings.tables(evidence)}
    assert tables.keys() >= {"table-subgroups-sex"}
    assert [column.label for column in tables["table-subgroups-sex"].columns][:2] == ["Patients", "Rarest class"]
    assert faults(json.loads(results.of(evidence).text()), results.schema()) == []
