"""Whole patients: counts at thresholds, and a thousand of them by largest remainder."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dossier.core.values import largest_remainder
from dossier.metrics.committee import classification
from tests.estimated import curved
from tests.reasons import Said


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
    assert classification(np.ones(0), np.ones(0), (0.5,)) == Said("there are no rows")


def test_the_largest_remainders_get_what_is_missing_and_ties_go_to_the_first() -> None:
    assert largest_remainder([1, 1, 1, 0], 1000).tolist() == [334, 333, 333, 0]
    # 1000/7 = 142.857: remainders .857, .714, .571, .857; two of the three missing go to the largest.
    assert largest_remainder([1, 2, 3, 1], 1000).tolist() == [143, 286, 428, 143]


@given(st.lists(st.integers(0, 10_000), min_size=4, max_size=4).filter(any), st.sampled_from([1000, 10_000]))
def test_so_many_add_up_and_nobody_is_moved_by_more_than_one(cells: list[int], among: int) -> None:
    shares = largest_remainder(cells, among).tolist()
    assert sum(shares) == among
    for share, cell in zip(shares, cells, strict=True):
        assert share == pytest.approx(float(Fraction(cell, sum(cells)) * among), abs=1)
        assert share >= 0
