"""Criteria: at the bound, beyond it, without a number; what may be asked; when they were declared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from dossier import evaluate, reading
from dossier.core.errors import DossierError
from dossier.core.facts import Method
from dossier.core.register import fill
from dossier.core.release import Acceptance
from dossier.core.types import Absent, Criterion, DatasetSummary, Estimate, Evidence, Result, find
from dossier.outputs import junit
from dossier.record import acceptance, results
from dossier.report.chapters import acceptance as findings
from dossier.report.chapters import grid
from dossier.typeset.reasons import reason_text
from tests.canaries import plant
from tests.estimated import estimated, present
from tests.reasons import because
from tests.smallest import HEAD, SITE, release_in

SITES = tuple(DatasetSummary(name, "external", name.title(), 100, 40, 100, {}, ()) for name in ("bari", "turin"))
INSIDE = DatasetSummary("inside", "internal", "Inside", 100, 40, 100, {}, ())


def found(value: float, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(value, low, high, 0.95, 100, Method("wald"))


def result(dataset: str, what: Estimate | Absent, **at: float | str) -> Result:
    return Result("auroc", "auroc", dataset, at, what)


def judged(declared: dict[str, object], *results: Result) -> list[tuple[str, float | None, bool | None, str | None]]:
    criterion = Acceptance.model_validate(declared)
    every = acceptance.judged([criterion], (INSIDE, *SITES), results)
    return [
        (asked.dataset, asked.observed, asked.met, None if asked.reason is None else reason_text(asked.reason))
        for asked in every
    ]


@pytest.mark.parametrize(
    ("asked", "met"),
    [
        ({"at_least": 0.7}, True),
        ({"at_least": 0.7000000001}, None),
        ({"at_least": 0.8}, None),
        ({"at_least": 0.8000000001}, False),
        ({"at_most": 0.8}, True),
        ({"at_most": 0.7999999999}, None),
        ({"at_most": 0.7}, None),
        ({"at_most": 0.6999999999}, False),
        ({"at_least": 0.7, "at_most": 0.8}, True),
        ({"at_least": 0.72, "at_most": 0.78}, None),
        ({"at_least": 0.81, "at_most": 0.9}, False),
        ({"at_least": 0.5, "at_most": 0.6}, False),
    ],
)
@pytest.mark.parametrize("bound", ["value", "low", "high"])
def test_the_whole_interval_decides_and_its_end_is_on_the_good_side(
    asked: dict[str, float], met: bool | None, bound: str
) -> None:
    declared = {"measure": "auroc", "dataset": "bari", "bound": bound, **asked}
    ((dataset, observed, found_met, reason),) = judged(declared, result("bari", found(0.75, 0.7, 0.8)))
    assert (dataset, found_met, reason) == ("bari", met, None)
    assert observed == {"value": 0.75, "low": 0.7, "high": 0.8}[bound], "the bound is what is printed"


def test_a_value_without_an_interval_is_open() -> None:
    declared = {"measure": "auroc", "dataset": "bari", "at_least": 0.5}
    assert judged(declared, result("bari", found(0.75))) == [("bari", 0.75, None, None)]
    (open_,) = acceptance.judged([Acceptance.model_validate(declared)], SITES, [result("bari", found(0.75))])
    (untested,) = acceptance.judged([Acceptance.model_validate(declared)], SITES, [])
    assert (open_.state, untested.state) == ("open", "untested")


def test_each_external_asks_every_external_dataset_and_no_other() -> None:
    declared = {"measure": "auroc", "dataset": "each external", "at_least": 0.75}
    of_bari, of_turin = found(0.8, 0.76, 0.84), found(0.7, 0.66, 0.74)
    results = (result("inside", found(0.1)), result("bari", of_bari), result("turin", of_turin))
    assert [row[:3] for row in judged(declared, *results)] == [("bari", 0.8, True), ("turin", 0.7, False)]


def test_what_cannot_be_estimated_is_neither_met_nor_not_met() -> None:
    declared = {"measure": "auroc", "dataset": "bari", "bound": "low", "at_least": 0.75}
    absent = Absent(because("bari has no events"))
    assert judged(declared, result("bari", absent)) == [("bari", None, None, "bari has no events")]
    one_sided = found(0.8, None, 0.9)
    assert judged(declared, result("bari", one_sided)) == [("bari", None, None, "the interval has no lower limit")]
    assert judged(declared) == [("bari", None, None, "auroc is not computed for bari")]


def test_settings_and_subset_must_be_the_same() -> None:
    declared = {"measure": "auroc", "dataset": "bari", "at": {"threshold": 0.2}, "at_least": 0.5}
    elsewhere = result("bari", found(0.9), threshold=0.3)
    here = result("bari", found(0.6, 0.55, 0.65), threshold=0.2)
    assert judged(declared, elsewhere, here) == [("bari", 0.6, True, None)]
    ((_, observed, met, reason),) = judged(
        {**declared, "subset": {"column": "Sex", "level": "female"}}, elsewhere, here
    )
    assert (observed, met) == (None, None)
    assert reason == "auroc is not computed for bari at Sex=female, threshold 0.2"


# ---- what may be asked ----------------------------------------------------------------------------------------------

RELEASE = f"{HEAD}[thresholds]\ndeclared = [0.2, 0.4]\n{SITE}"


def faults(folder: Path, added: str) -> list[tuple[str, str, str]]:
    rows = "\n".join(f"{k % 2},{0.1 + 0.008 * k:.3f},{k}" for k in range(100))
    release_in(folder, RELEASE + added, site__csv=f"outcome,risk,age\n{rows}\n")
    try:
        reading.study(folder)
    except DossierError as error:
        return [(fault.what, fault.where, fault.fix) for fault in error.faults]
    return []


def asks(measure: str, more: str = "at_least = 0.5", dataset: str = "site") -> str:
    return f'[[acceptance]]\nmeasure = "{measure}"\ndataset = "{dataset}"\n{more}\n'


@pytest.mark.parametrize(
    "fine",
    [
        asks("auroc"),
        asks("auroc", dataset="pooled"),
        asks("auroc", dataset="each external"),
        asks("net_benefit", "at = { threshold = 0.4 }\nat_least = 0"),
        asks("accuracy", 'at = { threshold = 0.4 }\nat_least = 0.5\ncaution_reason = "Asked for by the board."'),
        asks("sensitivity", 'at = { threshold = 0.2 }\nat_least = 0.5\nreason = "A performance goal of the protocol."'),
    ],
)
def test_a_criterion_that_can_be_judged_is_read(tmp_path: Path, fine: str) -> None:
    assert faults(tmp_path, fine) == []


@pytest.mark.parametrize(
    ("wrong", "what", "key", "fix"),
    [
        (asks("aurok"), "aurok is not a measure.", "measure", "Did you mean auroc?"),
        (asks("Recall"), "Recall is not a measure.", "measure", "Did you mean sensitivity?"),
        (asks("c-statistic"), "c-statistic is not a measure.", "measure", "Did you mean auroc?"),
        (
            asks("positive predictive value"),
            "positive predictive value is not a measure.",
            "measure",
            "Did you mean ppv?",
        ),
        (asks("brier_score"), "brier_score is not a measure.", "measure", "Did you mean brier?"),
        (asks("auroc", dataset="siet"), "siet is not a dataset of this release.", "dataset", 'Did you mean "site"?'),
        (
            asks("accuracy", "at = { threshold = 0.4 }\nat_least = 0.5"),
            "accuracy calls for caution and decides nothing by itself.",
            "measure",
            "Judge by net_benefit, or say why in caution_reason, which is printed.",
        ),
        (
            asks("sensitivity", "at = { threshold = 0.4 }\nat_least = 0.5"),
            "sensitivity is neither a core nor a supporting measure.",
            "measure",
            "Say why in reason, which is printed, or judge by a core or supporting measure.",
        ),
        (asks("net_benefit"), "net_benefit depends on threshold.", "at", "Add at = { threshold = … }."),
        (
            asks("net_benefit", "at = { threshold = 0.3 }\nat_least = 0"),
            "The threshold 0.3 is not declared.",
            "at",
            "Declare it in [thresholds]; declared: 0.2, 0.4.",
        ),
        (
            asks("auroc", "at = { threshold = 0.2 }\nat_least = 0"),
            "auroc does not depend on threshold.",
            "at",
            "Take it out.",
        ),
        (
            asks("auroc", "at_least = 0.9\nat_most = 0.8"),
            "at_least is 0.9, above at_most, 0.8.",
            "at_least",
            "Write the smaller number in at_least.",
        ),
        (
            asks("auroc", "at_most = 75"),
            "at_most of auroc is 75, and auroc is always at least 0 and at most 1.",
            "at_most",
            "Give a number inside that range, not per cent.",
        ),
        (
            asks("brier", "at_least = -1"),
            "at_least of brier is -1, and brier is always at least 0 and at most 1.",
            "at_least",
            "Give a number inside that range.",
        ),
        (
            asks("auroc", 'at_least = 0.7\nsubset = { column = "sex", level = "f" }'),
            "The release declares no subgroups, and so not sex=f.",
            "subset",
            "Declare its column in a [[subgroup]], or take it out.",
        ),
    ],
)
def test_a_criterion_that_cannot_be_judged_is_refused(
    tmp_path: Path, wrong: str, what: str, key: str, fix: str
) -> None:
    assert faults(tmp_path, wrong) == [(what, f"release.toml, [[acceptance]] 1, {key}", fix)]


def test_a_criterion_of_a_subgroup_names_one_that_there_is(tmp_path: Path) -> None:
    group = '[[subgroup]]\ncolumn = "age"\ncuts = [50]\n'
    wrong = asks("auroc", 'at_least = 0.7\nsubset = { column = "age", level = "over 50" }')
    found = faults(tmp_path, wrong + group)
    assert [what for what, _, _ in found] == ["age=over 50 is not a subgroup of this release."]
    assert found[0][2] == "The subgroups are age=50 or more, age=under 50."
    assert faults(tmp_path, wrong.replace("over 50", "50 or more") + group) == []


def test_a_subgroup_of_a_column_that_is_not_there_is_not_said_again(tmp_path: Path) -> None:
    group = '[[subgroup]]\ncolumn = "age"\ncuts = [50]\n[[subgroup]]\ncolumn = "sexx"\n'
    asked = asks("auroc", 'at_least = 0.7\nsubset = { column = "sexx", level = "f" }')
    assert [what for what, _, _ in faults(tmp_path, asked + group)] == ["There is no column sexx."]


def test_a_minimum_that_no_value_can_miss_or_meet_is_refused(tmp_path: Path) -> None:
    assert faults(tmp_path, "[robustness]\nminimum = { auroc = 2 }\n") == [
        (
            "auroc is 2, and auroc is always at least 0 and at most 1.",
            "release.toml, [robustness] minimum",
            "Give a number inside that range, not per cent.",
        )
    ]


def test_a_criterion_without_a_bound_is_refused(tmp_path: Path) -> None:
    fix = "Add at_least = … or at_most = … or both."
    assert faults(tmp_path, asks("auroc", "")) == [
        ("The criterion names no bound.", "release.toml, [[acceptance]] 1", fix)
    ]


def test_every_fault_of_every_criterion_and_answer_is_said_at_once(tmp_path: Path) -> None:
    added = asks("aurok", "", dataset="siet") + '[[reply]]\nflag = "few_event"\ndataset = "stie"\nsays = "We know."\n'
    assert [fault[0] for fault in faults(tmp_path, added)] == [
        "aurok is not a measure.",
        "siet is not a dataset of this release.",
        "The criterion names no bound.",
        "few_event is not a flag.",
        "stie is not a dataset of this release.",
    ]


# ---- when criteria were declared -------------------------------------------------------------------------------------

UNKNOWN = "; whether that was before the first patient is not stated."


@pytest.mark.parametrize(
    ("days", "patients", "said"),
    [
        (("2026-05-01",), None, f"Declared on 1 May 2026, as the maker says{UNKNOWN}"),
        (
            ("2026-05-01",),
            ("2026-06-01", "2026-07-01"),
            "Declared on 1 May 2026, as the maker says, before the first patient (1 June 2026).",
        ),
        (
            ("2026-05-01",),
            ("2026-05-01", "2026-07-01"),
            "Declared on 1 May 2026, as the maker says, not before the first patient (1 May 2026).",
        ),
        (
            ("2026-05-01",),
            ("2026-02-01", "2026-05-01"),
            "Declared on 1 May 2026, as the maker says, not before the first patient (1 February 2026).",
        ),
        (
            ("2026-05-01",),
            ("2026-02-01", "2026-04-30"),
            "Declared on 1 May 2026, as the maker says, after all patients had come (30 April 2026).",
        ),
        (
            ("2026-05-01", "2026-03-02"),
            ("2026-02-01", "2026-03-01"),
            "Declared on 2 March 2026 to 1 May 2026, as the maker says, after all patients had come (1 March 2026).",
        ),
        (
            ("2026-05-01", "2026-03-02"),
            ("2026-04-01", "2026-07-01"),
            "Declared on 2 March 2026 to 1 May 2026, as the maker says, "
            "not all before the first patient (1 April 2026).",
        ),
        (
            ("2026-05-01", None, "2026-05-01"),
            None,
            f"Declared on 1 May 2026, as the maker says{UNKNOWN} The date of one of them is not stated.",
        ),
        (
            (None, None, "2026-05-01"),
            None,
            f"Declared on 1 May 2026, as the maker says{UNKNOWN} The date of two of them is not stated.",
        ),
        ((None, None, None), None, "The date of any of them is not stated."),
        ((None,), None, "The date is not stated."),
    ],
)
def test_when_criteria_were_declared_is_held_against_the_dates_of_the_data(
    tmp_path: Path, days: tuple[str | None, ...], patients: tuple[str, str] | None, said: str
) -> None:
    criteria = "".join(
        f'[[acceptance]]\nmeasure = "auroc"\ndataset = "each external"\nat_least = 0.{index}\n'
        + (f"declared_on = {day}\n" if day else "")
        for index, day in enumerate(days, start=1)
    )
    assert faults(tmp_path, criteria) == []
    evidence = evaluate.evidence(reading.study(tmp_path))
    dates = None if patients is None else (date.fromisoformat(patients[0]), date.fromisoformat(patients[1]))
    evidence = replace(evidence, datasets=tuple(replace(dataset, dates=dates) for dataset in evidence.datasets))
    finding, notes = findings.finding(evidence), " ".join(grid.table(evidence).footnotes)
    assert findings.when(evidence, "declared").replace("\N{NO-BREAK SPACE}", " ") == said
    counted = findings.when(evidence, "declared", counted_only=True)
    late = patients is not None and all(day is None or day > patients[1] for day in days)
    assert (counted != "" and counted[1:] in notes) == (any(days) and not late)
    assert finding.lead.startswith("No criterion counts") == (late or not any(days))
    assert "The date" not in counted
    assert (counted or findings.when(evidence, "declared")) in finding.rest
    # The lead counts those that count, so no other is one "of them".
    assert ("of them is not stated" in finding.rest) is (not any(days) and len(days) > 1)
    assert "beforehand" not in f"{finding.lead} {finding.rest} {notes}"


@pytest.mark.parametrize(
    ("measure", "bounds", "printed"),
    [
        ("sensitivity", {"at_least": 0.6}, "≥ 60%"),
        ("sensitivity", {"at_least": 0.905}, "≥ 90.5%"),
        ("specificity", {"at_least": 0.5, "at_most": 0.8}, "50 to 80%"),
        ("net_benefit", {"at_least": 0.006}, "≥ 0.6 per 100"),
        ("net_benefit_gain", {"at_least": 0.0025}, "≥ 0.25 per 100"),
        ("auroc", {"at_least": 0.7}, "≥ 0.70"),
        ("auroc", {"at_least": 0.705}, "≥ 0.705"),
        ("oe_ratio", {"at_least": 0.8, "at_most": 1.25}, "0.80 to 1.25"),
        ("brier", {"at_most": 0.2}, "≤ 0.200"),
    ],
)
def test_a_bound_is_printed_with_its_unit_and_the_digits_that_were_written(
    measure: str, bounds: dict[str, float], printed: str
) -> None:
    terms = {metric.term.measure: metric.term for metric in fill("metrics").metrics.values()}
    ends = (bounds.get("at_least"), bounds.get("at_most"))
    criterion = Criterion(1, measure, "bari", None, {}, "value", *ends, observed=None, state="untested")
    said = findings.asked(cast("Evidence", SimpleNamespace(terms=terms)), criterion)
    assert said.replace("\N{NO-BREAK SPACE}", " ") == printed


def test_what_decides_stands_in_the_table_with_the_digits_that_decide(tmp_path: Path) -> None:
    """Against is what lies below the limit with its whole interval, however near to it that ends."""
    free = estimated(find(_criteria(tmp_path / "free", "", {"auroc": 0.0}), "auroc", "large"))
    limit = round(present(free.high) + 0.0004, 4)
    (table,) = findings.detailed(_criteria(tmp_path / "asked", "", {"auroc": limit}))
    (cell,) = table.rows[0].cells
    value, low, high, state = re.split(r"[ \N{NO-BREAK SPACE}\N{EN DASH}]", f"{cell.text} {cell.interval}")
    assert float(value) == round(free.value, 2)
    assert float(low) == pytest.approx(free.low, abs=0.01)
    assert float(high) < limit
    assert state == "against"


# ---- under a policy -------------------------------------------------------------------------------------------------

MEASURES = ("auroc", "net_benefit", "brier")
AT = {"net_benefit": {"threshold": 0.3}}


def _criteria(folder: Path, policy: str, bounds: Mapping[str, float]) -> Evidence:
    asked = "".join(
        f'[[acceptance]]\nmeasure = "{measure}"\ndataset = "large"\nat_least = {bound!r}\ndeclared_on = 1900-01-01\n'
        + ("at = { threshold = 0.3 }\n" if measure in AT else "")
        for measure, bound in bounds.items()
    )
    plant(folder, policy + asked)
    return evaluate.evidence(reading.study(folder))


def test_what_is_protected_is_what_decides_and_what_is_printed(tmp_path: Path) -> None:
    """Each bound lies between the lower limit of the rows and that which is given: the answers are told apart."""
    policy = "[disclosure]\nminimum_cell = 10\n"
    values, lows = {}, {}
    for name, text in (("free", ""), ("protected", policy)):
        shown = _criteria(tmp_path / name, text, dict.fromkeys(MEASURES, 0.0))
        found = {measure: find(shown, measure, "large", **AT.get(measure, {})) for measure in MEASURES}
        lows[name] = {
            measure: estimate.low
            for measure, estimate in found.items()
            if isinstance(estimate, Estimate) and estimate.low is not None
        }
        values[name] = {
            measure: estimate.value for measure, estimate in found.items() if isinstance(estimate, Estimate)
        }
        assert [criterion.observed for criterion in shown.criteria] == [values[name][measure] for measure in MEASURES]
    between = {measure: (lows["free"][measure] + lows["protected"][measure]) / 2 for measure in MEASURES}
    assert all(lows["free"][measure] != lows["protected"][measure] for measure in MEASURES)
    shown = _criteria(tmp_path / "between", policy, between)
    assert [criterion.met is True for criterion in shown.criteria] == [
        lows["protected"][measure] >= between[measure] for measure in MEASURES
    ]
    free = _criteria(tmp_path / "control", "", between)
    assert [criterion.met is True for criterion in free.criteria] == [
        criterion.met is not True for criterion in shown.criteria
    ]
    every = results.of(shown).text().decode() + junit.text(junit.cases(shown, junit.Demands())).decode()
    assert not [value for value in values["free"].values() if repr(value) in every]


@pytest.mark.parametrize("levels", ["", 'levels = { x = "x", m = "m" }\n'])
@pytest.mark.parametrize(
    ("dataset", "subset", "reason"),
    [
        (
            "site",
            'subset = { column = "g", level = "x" }',
            "fewer than 10 persons may have the outcome, or not have it",
        ),
        ("pooled", 'subset = { column = "g", level = "x" }', "it is not given where counts below 10 are protected"),
        ("few", "", "fewer than 10 persons"),
    ],
)
def test_a_criterion_on_what_a_policy_withholds_says_so_everywhere(
    tmp_path: Path, dataset: str, subset: str, reason: str, levels: str
) -> None:
    declared = [HEAD, "[thresholds]\ndeclared = [0.5]\n[disclosure]\nminimum_cell = 10\n", SITE]
    declared += [SITE.replace("site", "few"), '[[subgroup]]\ncolumn = "g"\n', levels]
    declared += [asks("auroc", f"at_least = 0.5\n{subset}", dataset)]
    (tmp_path / "release.toml").write_text("".join(declared))
    rows = [f"{k % 3 == 0:d},{(k * 7 % 160 + 1) / 162:.3f},{'x' if k % 13 == 0 else 'm'}\n" for k in range(160)]
    for name, count in (("site", 160), ("few", 4)):
        (tmp_path / f"{name}.csv").write_text("".join(["outcome,risk,g\n", *rows[:count]]))
    study = reading.study(tmp_path)
    assert not evaluate.preview(study).faults
    found = evaluate.evidence(study)
    assert [(criterion.state, reason_text(criterion.reason)) for criterion in found.criteria if criterion.reason] == [
        ("withheld", reason)
    ]
    assert "Withheld: " in findings.finding(found).rest
    assert f": withheld: {reason}; " in junit.text(junit.cases(found, junit.Demands())).decode()
    assert results.read(results.of(found).text()).evidence.criteria == found.criteria
