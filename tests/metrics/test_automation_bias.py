"""Automation bias: decisions that first differed from the advice, against counts by hand and a simulation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from dossier import evaluate, reading
from dossier.core import types
from dossier.metrics.human_factors import agreement_with_advice, right_advice_resisted, wrong_advice_followed
from dossier.report import compose, draw
from dossier.report.chapters import human_factors as findings
from tests.conftest import ROOT
from tests.estimated import absent, curved, estimated, present
from tests.metrics.parts import of_counts
from tests.smallest import HEAD, QUICK, SITE, release_in

Row = tuple[int, ...]
"""Reader, case, truth, unaided, aided, advice."""


def _study(rows: list[Row], **more: Any) -> types.ReaderStudy:
    reader, case, truth, unaided, aided, advice = np.array(rows, dtype=float).T
    wrong = [int(np.sum(each != truth)) for each in (aided, unaided)]
    counts = types.DecisionCounts(wrong[0], len(rows) - wrong[0], wrong[1], len(rows) - wrong[1])
    made = types.ReaderStudy("paired", counts, reader.astype(int), case.astype(int), truth, unaided, aided, advice)
    return replace(made, **more)


SIX: list[Row] = [
    (0, 0, 1, 1, 0, 0),  # right, wrong advice, followed
    (0, 1, 1, 1, 1, 0),  # right, wrong advice, resisted
    (0, 2, 0, 1, 0, 0),  # wrong, right advice, followed
    (1, 0, 1, 1, 1, 0),  # right, wrong advice, resisted
    (1, 1, 1, 0, 0, 1),  # wrong, right advice, resisted
    (1, 2, 0, 0, 0, 0),  # agreed from the start: neither
]


def test_the_two_by_two_is_counted_by_hand() -> None:
    study = _study(SIX)
    followed, resisted = estimated(wrong_advice_followed(study)), estimated(right_advice_resisted(study))
    assert followed.value == pytest.approx(1 / 3)
    assert (followed.n, followed.details["decisions"]) == (3, 1)
    assert (resisted.value, resisted.n, resisted.details["decisions"]) == (0.5, 2, 1)
    bounds = binomtest(1, 3).proportion_ci(method="wilson")
    assert (followed.low, followed.high) == pytest.approx((bounds.low, bounds.high), abs=1e-12)


def test_a_row_without_a_decision_is_no_disagreement() -> None:
    gone = [(2, 0, 1, 1, 0, 0), (2, 1, 1, 1, 0, 0)]
    study = _study([*SIX, *gone])
    unaided, aided = study.unaided.copy(), study.aided.copy()
    unaided[-2], aided[-1] = np.nan, np.nan
    assert estimated(wrong_advice_followed(replace(study, unaided=unaided, aided=aided))).n == 3


def test_groups_are_their_own_readers() -> None:
    study = _study(SIX, group=("young", "old"))
    assert estimated(wrong_advice_followed(study, "young")).n == 2
    assert estimated(wrong_advice_followed(study, "old")).value == 0
    assert isinstance(right_advice_resisted(_study(SIX[:3]), "old"), types.Absent)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), *[st.integers(0, 1)] * 4), min_size=1, max_size=40))
def test_every_change_after_a_disagreement_is_counted_once(rows: list[Row]) -> None:
    """Those that differed from wrong and from right advice are all that differed; the names of the classes are free."""
    study = _study(rows)
    differed = [row for row in rows if row[3] != row[5]]
    found = [each(study, bootstrap=2) for each in (wrong_advice_followed, right_advice_resisted)]
    known = [metrics for metrics in found if isinstance(metrics, types.Estimate)]
    assert sum(metrics.n for metrics in known) == len(differed)
    assert all((metrics.low or 0) - 1e-12 <= metrics.value <= (metrics.high or 0) + 1e-12 for metrics in known)
    assert sum(metrics.details["decisions"] or 0 for metrics in known) == sum(row[4] != row[2] for row in differed)
    other = _study([(*row[:2], *(1 - each for each in row[2:])) for row in rows])
    assert [each(other, bootstrap=2) for each in (wrong_advice_followed, right_advice_resisted)] == found


@pytest.mark.parametrize("measure", [wrong_advice_followed, right_advice_resisted])
def test_where_it_cannot_be_known_it_is_said(measure: Any) -> None:
    studies = {
        "reader_study_of_counts_only": of_counts(3, 4, 5, 6),
        "parallel_study": _study(SIX, design="parallel"),
        "no_advice_known": _study(SIX, advice=None),
        "no_decision_against_advice": _study([SIX[5]]),
    }
    for code, study in studies.items():
        assert absent(measure(study)).reason.code == code


def test_agreement_with_the_advice_is_that_of_each_reader() -> None:
    found = curved(agreement_with_advice(_study(SIX)))
    assert found.columns["unaided"] == pytest.approx((0, 1 / 3))
    assert found.columns["aided"] == pytest.approx((2 / 3, 1 / 3))


@pytest.mark.slow
def test_the_clustered_interval_holds_the_truth_as_often_as_it_says() -> None:
    """20 readers and 60 cases, each with a leaning of its own to follow; the truth is the mean over all there are."""
    rng = np.random.default_rng(11)
    clustered, independent, runs = 0, 0, 160
    for run in range(runs):
        reader, case = np.repeat(np.arange(20), 60), np.tile(np.arange(60), 20)
        leaning = rng.uniform(-0.2, 0.2, 20)[reader] + rng.uniform(-0.1, 0.1, 60)[case]
        truth = np.ones(1200)
        aided = np.where(rng.random(1200) < 0.3 + leaning, 0.0, 1.0)
        counts = types.DecisionCounts(int((aided == 0).sum()), int(aided.sum()), 0, 1200)
        study = types.ReaderStudy("paired", counts, reader, case, truth, truth, aided, np.zeros(1200))
        found = estimated(wrong_advice_followed(study, bootstrap=400, seed=run))
        clustered += (found.details["low_clustered"] or 0) <= 0.3 <= (found.details["high_clustered"] or 0)
        independent += (found.low or 0) <= 0.3 <= (found.high or 0)
    # .95 less and more three standard errors of 160 runs.
    assert clustered / runs >= 0.90
    assert independent / runs < 0.90


def test_the_knees_have_the_counts_of_the_contract() -> None:
    """16 of 116 and 27 of 73, counted from the table by hand, and the groups add up to them."""
    study = present(reading.study(ROOT / "fixtures" / "knee").reader_study)
    expected: list[tuple[Any, tuple[int, int]]] = [
        (wrong_advice_followed, (16, 116)),
        (right_advice_resisted, (27, 73)),
    ]
    for measure, counts in expected:
        found = estimated(measure(study, bootstrap=50))
        assert (int(found.details["decisions"] or 0), found.n) == counts
        parts = [estimated(measure(study, group, bootstrap=50)) for group in sorted(set(study.group))]
        assert (
            sum(int(estimate.details["decisions"] or 0) for estimate in parts),
            sum(estimate.n for estimate in parts),
        ) == counts


# ---- pages ----------------------------------------------------------------------------------------------------------

CSV = "reader,case,truth,unaided,aided,advice,group\n" + "".join(
    f"{','.join(map(str, row))},{'young' if row[0] == 0 else 'old'}\n" for row in SIX
)


def _evidence(folder: Path, more: str = "") -> types.Evidence:
    rows = "".join(f"{int(k % 3 == 0)},{0.1 + 0.02 * k:.2f}\n" for k in range(30))
    (folder / "site.csv").write_text(f"outcome,risk\n{rows}")
    (folder / "study.csv").write_text(CSV)
    study = '[reader_study]\nfile = "study.csv"\ndesign = "paired"\n'
    return evaluate.evidence(reading.study(release_in(folder, f"{HEAD}{QUICK}{SITE}{study}{more}")))


def test_the_chapter_has_a_row_for_each_kind_and_group(tmp_path: Path) -> None:
    evidence = _evidence(tmp_path)
    (table,) = findings.advice(evidence)
    rows = [(row.label, row.kind, [cell.text for cell in row.cells[:2]]) for row in table.rows]
    assert rows[:3] == [
        ("All readers", "group", []),
        ("Wrong advice followed", "row", ["1", "3"]),
        ("Right advice resisted", "row", ["1", "2"]),
    ]
    note = table.note.replace("\xa0", " ")
    assert "in 0% to 33% of their decisions before they saw it, in 33% to 67% after" in note
    html = compose.document(draw.gallery(evidence), "supplement").html
    assert "Decisions that first differed from the advice." in html
    committee = compose.document(draw.gallery(evidence), "committee").html
    assert "they followed wrong advice 1 of 3 times" in committee.replace("\xa0", " ")


def test_the_benefit_by_group_says_the_error_rates_and_the_changes(tmp_path: Path) -> None:
    (table,) = findings.benefit(_evidence(tmp_path))
    cells = {row.label: [cell.text for cell in row.cells[:5]] for row in table.rows}
    assert cells["All readers"] == ["2", "33.3", "33.3", "1", "1"]
    assert cells["Young"] == ["1", "33.3", "33.3", "1", "1"]
    assert cells["Old"] == ["1", "33.3", "33.3", "0", "0"]


def test_the_relative_risk_reduction_is_printed_in_per_cent(tmp_path: Path) -> None:
    """.0408719 of the published counts is 4.1 %, and the papers' words stand beside ours."""
    (tmp_path / "site.csv").write_text("outcome,risk\n" + "0,0.2\n1,0.7\n" * 15)
    counts = "[reader_study]\ncounts = { aie = 352, ain = 1196, ce = 367, cn = 1181 }\n"
    evidence = evaluate.evidence(reading.study(release_in(tmp_path, f"{HEAD}{QUICK}{SITE}{counts}")))
    rows = {row.label: row.cells[0].text for row in findings.comparison(evidence).rows}
    assert rows["Relative risk reduction, %"] == "4.1"
    assert rows["Relative risk"] == "0.96"
    html = compose.document(draw.gallery(evidence), "supplement").html
    assert "The papers call this pragmatic utility" in html


def test_under_a_policy_nothing_of_it_is_given(tmp_path: Path) -> None:
    evidence = _evidence(tmp_path, "[disclosure]\nminimum_cell = 4\n")
    for measure in ("wrong_advice_followed", "right_advice_resisted"):
        assert isinstance(types.find(evidence, measure, types.READER_STUDY), types.Withheld)
    assert findings.advice(evidence) == ()
    made = [curve.found for curve in evidence.curves if curve.curve == "agreement_with_advice"]
    assert made
    assert all(isinstance(curve, types.Withheld) for curve in made)
