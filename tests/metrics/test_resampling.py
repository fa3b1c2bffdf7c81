"""Rows drawn again: how many rows are binned, how many replicates are made at once, and when there is an interval."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest

from dossier.core.facts import Method
from dossier.core.types import Estimate, Floats
from dossier.metrics.intervals import NO_SPREAD
from dossier.metrics.resampling import VALUE_ALONE, Cells, block_size, cells_of, draws_within_classes, percentile
from dossier.typeset.methods import method_text
from tests.reasons import Said

TWO_CASES_OF_FIVE = np.array([0.0, 1.0, 0.0, 1.0, 0.0])


def interval(replicates: Floats, bootstrap: int, value: float = 0.5) -> Estimate:
    return percentile(value, replicates, bootstrap, 0.95, TWO_CASES_OF_FIVE, Method("bootstrap"))


def test_50000_rows_are_drawn_as_they_are() -> None:
    cells = cells_of(np.zeros(50_000), np.linspace(0, 1, 50_000))
    assert cells.count.tolist() == [1.0] * 50_000


def test_more_rows_are_drawn_in_2000_bins_of_equally_many() -> None:
    """50,001 rows are 25 in each bin and one more."""
    risk = np.linspace(0, 1, 50_001)
    cells = cells_of(np.zeros(50_001), risk)
    assert sorted(cells.count.tolist()) == [25.0] * 1_999 + [26.0]
    assert float(cells.count @ cells.risk) == pytest.approx(float(risk.sum()), rel=1e-12)


@pytest.mark.parametrize("rows", [1, 7, 1_000, 50_000])
def test_a_block_holds_as_many_replicates_as_300000_drawn_rows_allow(rows: int) -> None:
    """Each row is drawn on its own, however few different risks there are."""
    size = block_size(cells_of(np.zeros(rows), np.full(rows, 0.3)))
    assert size * rows <= 300_000 < (size + 1) * rows


def test_a_class_of_a_larger_table_takes_no_more_room_than_a_table_of_its_size() -> None:
    """54,000 rows are drawn by their two cells, but the 49,000 without the outcome, alone, one by one."""
    cells = Cells(np.array([0.1, 0.2]), np.array([0.0, 1.0]), np.array([49_000.0, 5_000.0]))
    tracemalloc.start()
    drawn = draws_within_classes(cells, min(200, block_size(cells)), np.random.default_rng(1))
    room = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (drawn == cells.count).all()
    assert room <= 10 * 8 * 300_000


def test_one_replicate_asked_for_gives_the_value_alone() -> None:
    found = interval(np.full(VALUE_ALONE, 0.4) + np.arange(VALUE_ALONE), VALUE_ALONE)
    assert (found.value, found.low, found.high, found.level, found.se) == (0.5, None, None, None, None)
    assert found.reason == Said("only 1 of 1 bootstrap replicates allow a value")


def test_two_replicates_are_enough_for_a_spread() -> None:
    found = interval(np.array([0.4, 0.7]), 2)
    assert (found.low, found.high, found.level, found.reason) == (0.4, 0.7, 0.95, None)
    assert found.se == pytest.approx(0.3 / math.sqrt(2))
    assert (found.n, found.events, method_text(found.method)) == (5, 2, "bootstrap, 2 replicates, percentile")


def test_nine_in_ten_replicates_must_allow_a_value() -> None:
    enough = interval(np.linspace(0, 1, 90), 100)
    assert enough.low is not None
    assert method_text(enough.method) == "bootstrap, 90 replicates, 10 without a value left out, percentile"
    few = interval(np.linspace(0, 1, 89), 100)
    assert (few.value, few.low, few.high, few.level, few.se) == (0.5, None, None, None, None)
    assert few.reason == Said("only 89 of 100 bootstrap replicates allow a value")
    assert (few.n, few.events, method_text(few.method)) == (5, 2, "bootstrap")


@pytest.mark.parametrize(
    ("value", "apart", "varies"),
    [(0.5, 0.0, False), (0.5, 1e-15, False), (0.5, 1.1e-15, True), (-1e6, 0.9e-9, False), (-1e6, 1.1e-9, True)],
)
def test_replicates_apart_in_the_fifteenth_digit_do_not_vary(value: float, apart: float, varies: bool) -> None:
    """Of values below 1 the fifteenth place: so far may sums of the same numbers in another order be apart."""
    found = interval(np.array([0.0, apart]), 2, value)
    assert (found.se is not None, found.reason) == (varies, None if varies else NO_SPREAD)
