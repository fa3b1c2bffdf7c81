"""Whole patients: counts at thresholds, and a thousand of them by largest remainder."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dossier.core.facts import Method
from dossier.core.types import Absent, Curve, CurveResult, DatasetSummary, SiteResults
from dossier.metrics.committee import CELLS, classification, per_thousand
from tests.estimated import curved
from tests.reasons import Said, because


def site(name: str, found: Curve | Absent) -> SiteResults:
    summary = DatasetSummary(name, "external", name, 1, 0, 1, {}, ())
    return SiteResults(summary, (), (CurveResult("classification", name, found),))


def counts(*cells: int, events: int | None = None) -> Curve:
    """The counts of one threshold: true and false positives, false and true negatives."""
    columns = {"threshold": (0.3,), **{name: (float(count),) for name, count in zip(CELLS, cells, strict=True)}}
    return Curve(columns, sum(cells), Method("counts"), events)


def test_each_row_falls_into_one_cell_and_one_at_the_threshold_is_flagged() -> None:
    y, p = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), np.array([0.3, 0.29, 0.3, 0.1, 0.5, 0.9, 0.2])
    found = curved(classification(y, p, (0.3, 0.5)))
    assert found.columns == {
        "threshold": (0.3, 0.5),
        "true_positive": (1, 0),
        "false_positive": (3, 2),
        "false_negative": (1, 2),
        "true_negative": (2, 3),
    }
    assert (found.n, found.events) == (7, 2)


def test_without_a_threshold_there_is_nothing_to_count() -> None:
    assert classification(np.ones(2), np.ones(2), ()) == Said("no threshold is declared")
    assert per_thousand([]) == Said("no threshold is declared")
    assert per_thousand([site("a", Absent(because("no threshold is declared")))]) == Said("no threshold is declared")


def test_sites_are_added_up_before_they_are_brought_to_a_thousand() -> None:
    found = curved(per_thousand([site("a", counts(1, 2, 3, 4, events=4)), site("b", counts(3, 2, 1, 4, events=4))]))
    assert found.columns == {
        "threshold": (0.3,),
        "true_positive": (200.0,),
        "false_positive": (200.0,),
        "false_negative": (200.0,),
        "true_negative": (400.0,),
    }
    assert (found.n, found.events) == (20, 8)


def test_sites_without_counts_are_left_out_and_unknown_events_count_none() -> None:
    found = curved(per_thousand([site("a", Absent(because("none"))), site("b", counts(1, 1, 1, 1))]))
    assert (found.n, found.events) == (4, 0)
    assert [found.columns[name] for name in CELLS] == [(250.0,)] * 4


def test_the_largest_remainders_get_what_is_missing_and_ties_go_to_the_first() -> None:
    thirds = curved(per_thousand([site("a", counts(1, 1, 1, 0))]))
    assert [thirds.columns[name][0] for name in CELLS] == [334, 333, 333, 0]
    # 1000/7 = 142.857: remainders .857, .714, .571, .857; two of the three missing go to the largest.
    sevenths = curved(per_thousand([site("a", counts(1, 2, 3, 1))]))
    assert [sevenths.columns[name][0] for name in CELLS] == [143, 286, 428, 143]


@given(st.lists(st.integers(0, 10_000), min_size=4, max_size=4).filter(any))
def test_a_thousand_adds_up_and_nobody_is_moved_by_more_than_one(cells: list[int]) -> None:
    found = curved(per_thousand([site("a", counts(*cells))]))
    shares = [found.columns[name][0] for name in CELLS]
    assert sum(value or 0 for value in shares) == 1000
    for share, cell in zip(shares, cells, strict=True):
        assert share == pytest.approx(float(Fraction(cell, sum(cells)) * 1000), abs=1)
        assert share is not None
        assert share >= 0
