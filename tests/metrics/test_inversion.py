"""Intervals by inverting tests, against cases whose bounds solve an equation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import ndtr, ndtri

from dossier.core.facts import Method
from dossier.core.types import Floats
from dossier.metrics import inversion
from dossier.metrics.inversion import _nearest, _noise_around, believable, bounds_of_gaps, estimate_from_tests, inverted
from dossier.typeset.methods import method_text

TAIL = 0.025
Z = float(ndtri(1 - TAIL))


def noise(bins: int, draws: int = 20_000) -> Floats:
    """Standard normal draws without chance in their spread: evenly spaced quantiles, shuffled bin by bin."""
    even = ndtri((np.arange(draws) + 0.5) / draws)
    rng = np.random.default_rng(1)
    return np.column_stack([rng.permutation(even) for _ in range(bins)])


@pytest.mark.parametrize("observed", [-0.3, 0.0, 2.0])
def test_a_normal_mean_gets_its_textbook_interval(observed: float) -> None:
    heights = np.linspace(-6, 8, 2001)
    found = inverted(lambda position, seen: float(ndtr(seen - heights[position])), heights, observed, TAIL)
    assert found == pytest.approx((observed - Z, observed + Z), abs=1e-4)


def test_the_line_of_truths_bounds_the_interval() -> None:
    heights = np.linspace(0, 1, 101)
    assert inverted(lambda position, seen: float(ndtr(seen - heights[position])), heights, 0.5, TAIL) == (0.0, 1.0)


@pytest.mark.parametrize("observed", [-3.0, -1.5, ndtri(0.16), 0.0])
def test_luck_is_no_evidence(observed: float) -> None:
    """A result lower than the best truth gives in 16 % of samples has the upper bound of the 16 % quantile."""
    heights = np.linspace(0, 8, 2001)
    _, high = inverted(lambda position, seen: float(ndtr(seen - heights[position])), heights, observed, TAIL)
    assert high == pytest.approx(max(observed, float(ndtri(0.16))) + Z, abs=1e-4)


@pytest.mark.parametrize("gap", [0.3, -0.3])
def test_one_bin_far_from_0_solves_its_equation(gap: float) -> None:
    """With one bin the truth t scatters by sqrt((q - t^2) / n): the bounds solve |gap| = t -+ z sd(t)."""
    square, n = 0.25, 400

    def spread(true: float) -> float:
        return math.sqrt((square - true**2) / n)

    low = brentq(lambda true: true + Z * spread(true) - abs(gap), 0.0, abs(gap))
    high = brentq(lambda true: true - Z * spread(true) - abs(gap), abs(gap), 0.49)
    each = np.ones(1)
    found = bounds_of_gaps(gap * each, square * each, square * each, each, n, TAIL, noise(1))
    assert found == pytest.approx((low, high), abs=1e-3)


def test_a_gap_that_chance_explains_reaches_down_to_0() -> None:
    low, high = bounds_of_gaps(np.array([0.01]), np.array([0.25]), np.array([0.25]), np.ones(1), 100, TAIL, noise(1))
    assert low == 0.0
    assert high > 0.01 + 0.05


def test_a_gap_smaller_than_chance_gives_still_leaves_room_above() -> None:
    """One bin: under perfect calibration |gap| is below .2 of its SE in 16 % of samples, so that .2 SE is believed."""
    se = math.sqrt(0.25 / 100)
    quantile = float(ndtri(0.58)) * se
    low, high = bounds_of_gaps(np.array([1e-6]), np.array([0.25]), np.array([0.25]), np.ones(1), 100, TAIL, noise(1))
    expected = brentq(
        lambda true: ndtr((quantile - true) / spread(true)) - ndtr((-quantile - true) / spread(true)) - TAIL, 0.0, 0.4
    )
    assert low == 0.0
    assert high == pytest.approx(expected, abs=2e-3)


def spread(true: float) -> float:
    return math.sqrt((0.25 - true**2) / 100)


def test_signs_do_not_matter_and_weights_scale() -> None:
    gaps, squares, weights = np.array([0.2, -0.1, 0.15]), np.array([0.2, 0.15, 0.1]), np.array([1.0, 0.5, 2.0])
    drawn = np.concatenate((noise(3), -noise(3)))
    found = bounds_of_gaps(gaps, squares, squares, weights, 300, TAIL, drawn)
    assert bounds_of_gaps(-gaps, squares, squares, weights, 300, TAIL, -drawn) == pytest.approx(found)
    doubled = bounds_of_gaps(gaps, squares, squares, 2 * weights, 300, TAIL, drawn)
    assert doubled == pytest.approx((2 * found[0], 2 * found[1]))


def test_more_rows_make_it_narrower() -> None:
    gaps, squares, weights = np.array([0.2, -0.1]), np.array([0.2, 0.15]), np.ones(2)
    few, many = (bounds_of_gaps(gaps, squares, squares, weights, n, TAIL, noise(2)) for n in (200, 800))
    assert few[0] < many[0] < 0.3 < many[1] < few[1]


def test_a_shift_without_spread_moves_nothing() -> None:
    """A noise that is taken off the sum widens the interval, and by nothing where it does not vary."""
    gaps, squares, weights, drawn = np.array([0.2, -0.1]), np.array([0.2, 0.15]), np.ones(2), noise(2)
    plain = bounds_of_gaps(gaps, squares, squares, weights, 300, TAIL, drawn)
    still = bounds_of_gaps(gaps, squares, squares, weights, 300, TAIL, drawn, np.zeros(len(drawn)))
    assert still == pytest.approx(plain, abs=1e-9)
    wide = bounds_of_gaps(gaps, squares, squares, weights, 300, TAIL, drawn, 0.05 * noise(1)[:, 0])
    assert wide[0] < plain[0]
    assert wide[1] > plain[1]


# ---- on the boundaries ----------------------------------------------------------------------------------------------


def test_exactly_16_percent_of_the_best_truth_is_believed() -> None:
    heights = np.array([0.0, 5.0])
    assert believable(lambda position, seen: 0.16 if seen >= 2 else 0.159, heights) == pytest.approx(2.0, abs=1e-5)
    assert believable(lambda position, seen: 0.16 if seen >= -4.9 else 0.0, heights) == pytest.approx(-4.9, abs=1e-5)
    _, high = inverted(lambda position, seen: 0.16 if position == 0 else float(seen >= position), heights, 0.0, 0.025)
    assert high == pytest.approx(5 * (0.16 - 0.025) / 0.16)


def test_luck_is_measured_against_the_best_truth() -> None:
    found = believable(lambda position, seen: 1.0 if position > 0 or seen >= 3 else 0.1, np.array([0.0, 5.0]))
    assert found == pytest.approx(3.0, abs=1e-5)


UPPER = float(ndtri(0.16)) + Z
"""Up to where nothing rules a truth out from above, when results scatter about truths from 0 on by 1."""


@pytest.mark.parametrize(
    ("observed", "low"),
    [
        (1.5, 0.0),
        # The lower bound rules the best truth out at 1.6 x 2.5 % ...
        (1.74, 0.0),
        # ... and then at 2 x 2.5 % what the upper one never does ...
        (1.752, 1.752 + float(ndtri(0.05))),
        (1.76, 1.76 + float(ndtri(0.05))),
        (2.0, 2.0 + float(ndtri(0.05))),
        (2.6, 2.6 + float(ndtri(0.05))),
        # ... and no truth beyond that.
        (2.8, UPPER),
        (2.9, UPPER),
        (3.0, 3.0 - Z),
        (5.0, 5.0 - Z),
    ],
)
def test_the_lower_bound_takes_over_what_the_upper_one_leaves_unused(observed: float, low: float) -> None:
    heights = np.linspace(0, 8, 2001)
    found, high = inverted(lambda position, seen: float(ndtr(seen - heights[position])), heights, observed, TAIL)
    assert found == pytest.approx(low, abs=1e-4)
    assert high == pytest.approx(observed + Z, abs=1e-4)


def test_no_truth_is_missed_more_often_than_both_tails_allow() -> None:
    """Whatever the truth: the lower bound lies above it or the upper one below it in at most 5 % of samples."""
    heights = np.linspace(0, 8, 801)
    results = np.linspace(-4, 7, 1101)
    bounds = [inverted(lambda position, seen: float(ndtr(seen - heights[position])), heights, x, TAIL) for x in results]
    low, high = np.array(bounds).T
    for truth in (0.0, 0.3, 0.6, 0.9, 1.2, 2.0, 3.0):
        lowest, highest = results[high >= truth].min(), results[low <= truth].max()
        missed = float(ndtr(lowest - truth) + ndtr(truth - highest)) if lowest > -4 else float(ndtr(truth - highest))
        assert 0.03 < missed < 0.066


def test_what_lies_farther_raises_the_upper_bound_and_what_it_never_rules_out() -> None:
    heights = np.linspace(0, 8, 2001)

    def bounds(observed: float) -> tuple[float, float]:
        return inverted(
            lambda position, seen: float(ndtr(seen - heights[position])),
            heights,
            observed,
            TAIL,
            lambda seen, high: high + 1,
        )

    assert bounds(2.0) == pytest.approx((2.0 + float(ndtri(0.05)), 2.0 + Z + 1), abs=1e-4)
    assert bounds(3.0) == pytest.approx((3.0 + float(ndtri(0.05)), 3.0 + Z + 1), abs=1e-4)
    assert bounds(-3.0) == pytest.approx((-3.0, UPPER + 1), abs=1e-4)


@pytest.mark.parametrize("unused", [0.2, 1.0])
def test_the_best_truth_is_ruled_out_at_as_much_more_as_is_told(unused: float) -> None:
    """Then the others at twice the tail: those that the upper bound never rules out or reaches only when raised."""
    heights = np.linspace(0, 8, 2001)

    def low(observed: float, more: float) -> float:
        def chance(index: int, seen: float) -> float:
            return float(ndtr(seen - heights[index]))

        return inverted(chance, heights, observed, TAIL, lambda _, high: high + more, unused)[0]

    needed, taken = -float(ndtri((1 + unused) * TAIL)), float(ndtri(2 * TAIL))
    assert low(needed - 0.01, 0.0) == 0
    assert low(needed + 0.01, 0.0) == pytest.approx(needed + 0.01 + taken, abs=1e-4)
    assert low(2.4, 0.0) == pytest.approx(2.4 + taken, abs=1e-4)
    assert low(5.0, 0.0) == pytest.approx(5.0 - Z, abs=1e-4)
    assert low(5.0, 0.1) == pytest.approx(5.0 + taken, abs=1e-4)


def test_luck_is_asked_of_the_best_truth_and_not_of_the_next() -> None:
    """Under the best one what was seen is rare, under the next it is not."""

    def chance(index: int, seen: float) -> float:
        return (1.0, 1.0, 0.5)[index] if seen >= 1.5 else (0.1, 0.2, 0.0)[index]

    assert inverted(chance, np.array([0.0, 1.0, 2.0]), 0.5, 0.25)[1] == 2.0


def test_what_the_best_truth_gives_in_exactly_16_percent_is_believed_as_seen() -> None:
    def chance(index: int, seen: float) -> float:
        return 0.16 if index == 0 else 0.1 * (seen >= 0)

    _, high = inverted(chance, np.array([0.0, 5.0]), 0.0, 0.12)
    assert high == pytest.approx(5 * (0.16 - 0.12) / (0.16 - 0.1))


def test_what_is_believed_may_be_as_high_as_the_worst_truth() -> None:
    heights = np.array([0.0, 1.0, 2.0, 3.0])
    assert inverted(lambda position, seen: 1.0 if seen >= 3 else 0.0, heights, 0.5, 0.25) == (0.0, 3.0)


@pytest.mark.parametrize(
    ("chances", "low"), [((0.75, 0.75, 0.5, 0.1), 0.0), ((1.0, 0.75, 0.75, 0.1), 1.0), ((1.0, 1.0, 0.75, 0.75), 2.0)]
)
def test_the_lower_bound_is_the_smallest_truth_whose_tail_is_reached(chances: tuple[float, ...], low: float) -> None:
    """With a tail of 25 %: the first truth under which a result above the seen one has a probability of 25 %.

    Results below the seen one are so rare that they rule out every truth from above.
    """

    def chance(index: int, seen: float) -> float:
        return chances[index] if seen >= 3 else 0.2 * (index == 0)

    assert inverted(chance, np.array([0.0, 1.0, 2.0, 3.0]), 3.0, 0.25) == (low, 3.0)


@pytest.mark.parametrize("tail", [0.1, 0.25])
def test_a_narrow_interval_solves_its_equation_too(tail: float) -> None:
    """As far from 0 as above: |gap| = t -+ z sd(t), here with bounds less than two standard errors away."""
    z = float(ndtri(1 - tail))
    low = brentq(lambda true: true + z * math.sqrt((0.25 - true**2) / 400) - 0.3, 0.0, 0.3)
    high = brentq(lambda true: true - z * math.sqrt((0.25 - true**2) / 400) - 0.3, 0.3, 0.49)
    found = bounds_of_gaps(np.array([0.3]), np.array([0.25]), np.array([0.25]), np.ones(1), 400, tail, noise(1))
    assert found == pytest.approx((low, high), abs=1e-3)


def test_without_noise_no_smaller_truth_than_what_was_seen_explains_it() -> None:
    """A draw that equals what was seen counts as one at most as high."""
    low, high = bounds_of_gaps(np.array([0.5]), np.ones(1), np.ones(1), np.ones(1), 100, TAIL, np.zeros((10, 1)))
    assert low == 0.5
    assert 0.5 < high < 0.6


def test_a_shift_is_taken_off_and_may_bring_the_truth_below_0() -> None:
    """The shift is E - 1, E exponential, and there is next to no other noise.

    Under the truth t the result t - (E - 1) is at most x with the probability that E >= 1 + t - x, exp(x - t - 1). It
    is 75 % at x = .5 where t = -.5 - log .75.
    """
    draws = 20_000
    shift = -np.log1p(-(np.arange(draws) + 0.5) / draws) - 1
    low, _ = bounds_of_gaps(np.array([0.5]), np.ones(1), np.ones(1), np.ones(1), 10**8, 0.25, noise(1), shift)
    assert low == pytest.approx(-0.5 - math.log(0.75), abs=0.02)


@pytest.mark.parametrize("true", [(0.0, 0.0), (0.3, -0.2), (0.6, 0.8), (1.2, -0.9)])
def test_the_noise_around_a_truth_has_the_covariance_of_its_rows(true: tuple[float, float]) -> None:
    """diag(squares) - true true' in units of the squares; a truth that no rows can show is drawn in to the last."""
    squares = np.array([1.0, 0.5])
    share = np.array(true) / np.sqrt(squares)
    share = share / max(1.0, float(np.linalg.norm(share)))
    root = _noise_around(np.array(true), squares, np.eye(2))
    assert root @ root.T == pytest.approx(np.eye(2) - np.outer(share, share), abs=1e-12)


def test_the_noise_around_hardly_any_gap_is_the_noise_itself() -> None:
    drawn = noise(2, 100)
    assert _noise_around(np.array([1e-6, -1e-6]), np.ones(2), drawn) == pytest.approx(drawn, abs=1e-9)


# ---- the truths that are tested -------------------------------------------------------------------------------------


def test_the_nearest_smaller_gaps_are_those_of_least_squares() -> None:
    """Against an optimizer: of all gaps with this weighted sum, those nearest to the seen ones in standard errors."""
    gaps, weights, variances = (
        np.array([0.3, -0.1, 0.02, -0.2]),
        np.array([1.0, 2.0, 0.7, 1.0]),
        np.array([4, 1, 9, 2.0]),
    )
    found = _nearest(gaps, weights, weights * variances)
    whole = float(weights @ np.abs(gaps))
    assert found[0].tolist() == [0, 0, 0, 0]
    assert found[-1].tolist() == gaps.tolist()
    assert np.abs(found) @ weights == pytest.approx(np.linspace(0, whole, len(found)))
    for position in (5, 20, 33):
        height = float(weights @ np.abs(found[position]))
        best = minimize(
            lambda sizes: float(np.sum((np.abs(gaps) - sizes) ** 2 / variances)),
            np.abs(gaps) * height / whole,
            bounds=[(0, None)] * 4,
            constraints={"type": "eq", "fun": lambda sizes, height=height: float(weights @ sizes) - height},
            options={"ftol": 1e-14},
        )
        assert np.abs(found[position]) == pytest.approx(best.x, abs=1e-5)
        assert (np.sign(found[position]) * np.sign(gaps) >= 0).all()


def test_smaller_truths_lie_halfway_and_bring_their_squares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without noise the result is the truth itself: each height is seen as it is, with the squares of its gaps."""
    asked: list[tuple[Floats, Floats]] = []

    def around(true: Floats, squares: Floats, noise: Floats) -> Floats:
        asked.append((true, squares))
        return np.zeros_like(noise)

    monkeypatch.setattr(inversion, "_noise_around", around)
    gaps, squares, calibrated = np.array([0.2, -0.1]), np.array([0.3, 0.2]), np.array([0.1, 0.25])
    bounds_of_gaps(gaps, squares, calibrated, np.ones(2), 100, TAIL, np.zeros((5, 2)))
    nearest = _nearest(gaps, np.ones(2), squares / 100)
    steps = len(nearest)
    smaller = [(true, own) for true, own in asked if float(np.abs(true).sum()) < 0.3 - 1e-12]
    assert smaller
    for true, own in smaller:
        part = float(np.abs(true).sum()) / 0.3
        position = round(part * (steps - 1))
        assert true == pytest.approx((part * gaps + nearest[position]) / 2)
        assert own == pytest.approx(calibrated + true / gaps * (squares - calibrated))


def test_a_bin_that_is_certain_under_perfect_calibration_takes_part() -> None:
    """Answers of 1 that are wrong: under perfect calibration they do not scatter at all."""
    low, high = bounds_of_gaps(np.array([-0.5]), np.array([0.5]), np.zeros(1), np.ones(1), 400, TAIL, noise(1))
    assert 0.4 < low < 0.5 < high < 0.6


@pytest.mark.parametrize(("high", "expected"), [(0.9, 0.9), (1.0, 1.0), (1.3, 1.0)])
def test_no_error_passes_1(high: float, expected: float) -> None:
    found = estimate_from_tests(0.5, 0.1, high, 0.95, np.array([0.0, 1.0]), Method("empirical"))
    assert found.high == expected
    assert (found.n, found.events, method_text(found.method)) == (2, 1, "empirical")
