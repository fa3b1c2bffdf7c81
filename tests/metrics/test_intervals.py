"""The shared intervals against R's, and against their definitions."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.stats import norm, t

from dossier.core.facts import Method
from dossier.metrics import intervals
from tests.reference.tables import GOLDEN


def test_wilson_is_that_of_r() -> None:
    for row in json.loads((GOLDEN / "r.json").read_text())["proportions"]:
        assert intervals.wilson(row["x"], row["n"], 0.95) == pytest.approx(row["wilson_prop_test_nocc"], abs=1e-11)


@pytest.mark.parametrize("successes", range(8))
def test_wilson_solves_the_score_equation(successes: int) -> None:
    share, z = successes / 7, norm.ppf(0.95)
    for bound in intervals.wilson(successes, 7, 0.9):
        assert abs(share - bound) == pytest.approx(z * math.sqrt(bound * (1 - bound) / 7), abs=1e-12)


def test_wilson_ends_exactly_in_0_and_1() -> None:
    assert intervals.wilson(0, 13, 0.95)[0] == 0
    assert intervals.wilson(13, 13, 0.95)[1] == 1


def test_normal_and_student_intervals() -> None:
    outcome = np.array([0.0, 1.0, 1.0, 0.0])
    plain = intervals.estimate(0.5, 0.1, 0.95, outcome, Method("delta"))
    assert (plain.low, plain.high) == pytest.approx((0.5 - 1.959963984540054 * 0.1, 0.5 + 1.959963984540054 * 0.1))
    small = intervals.estimate(0.5, 0.1, 0.95, outcome, intervals.student_t(outcome))
    assert small.high == pytest.approx(0.5 + 0.1 * t.ppf(0.975, 3))
    assert (small.n, small.events, small.se) == (4, 2, 0.1)


@pytest.mark.parametrize("freedom", [1, 2, 3.7, 10, 100, 1e6, math.inf])
def test_quantiles_and_tails_are_those_of_scipy(freedom: float) -> None:
    for level in (0.5, 0.9, 0.95, 0.99):
        assert intervals.two_sided(level) == norm.ppf(0.5 + level / 2)
        assert intervals.two_sided_student(level, freedom) == pytest.approx(t.ppf(0.5 + level / 2, freedom), rel=1e-12)
    for value in (0.0, 0.1, 1.0, 2.0, 5.0, 30.0):
        assert intervals.beyond(value) == norm.sf(value)
        assert intervals.beyond_student(value, freedom) == pytest.approx(t.sf(value, freedom), rel=1e-12)


def test_a_bound_stays_inside_the_range() -> None:
    found = intervals.estimate(0.5, 1.0, 0.95, np.array([0.0, 1.0]), Method("delta"), floor=0, ceiling=1)
    assert (found.low, found.high) == (0, 1)


def test_without_a_spread_the_bounds_are_missing_and_say_why() -> None:
    assert intervals.standard_error(np.array([2.0])) is None
    assert intervals.standard_error(np.array([2.0, 2.0, 2.0])) is None
    found = intervals.estimate(0.5, None, 0.95, np.array([0.0, 1.0]), Method("delta"))
    assert (found.low, found.high, found.se, found.reason) == (None, None, None, intervals.NO_SPREAD)


def test_the_standard_error_of_a_mean() -> None:
    assert intervals.standard_error(np.array([1.0, 2.0, 4.0])) == pytest.approx(math.sqrt((7 / 3) / 3))
    assert intervals.standard_error(np.array([1.0, 3.0])) == pytest.approx(1.0)


def test_log_and_logit_intervals_are_symmetric_on_their_scale() -> None:
    low, high = intervals.on_log(2.0, 0.3, 0.9)
    assert (math.log(2 / low), math.log(high / 2)) == pytest.approx((intervals.two_sided(0.9) * 0.3,) * 2)
    low, high = intervals.on_logit(0.8, 0.05, 0.95)
    half = 1.959963984540054 * 0.05 / 0.16
    assert (low, high) == pytest.approx((1 / (1 + math.exp(half) / 4), 1 / (1 + math.exp(-half) / 4)))


def test_expit_does_not_overflow() -> None:
    assert (intervals.expit(-1000), intervals.expit(0), intervals.expit(1000)) == (0, 0.5, 1)
