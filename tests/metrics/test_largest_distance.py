"""The bounds of the largest distance between a calibration curve and the risks, against slow and obvious versions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtri

from dossier.core.types import Floats
from dossier.metrics import largest_distance
from dossier.metrics.largest_distance import bounds_of_the_largest
from dossier.metrics.smooth_curve import SmoothCurve, WhitenedCurve, smooth_curve, whitened
from tests.estimated import present

TAIL = 1.8 * 0.025


def fitted(n: int, power: float, low: float = 0.02, high: float = 0.98, seed: int = 5) -> tuple[Floats, SmoothCurve]:
    """Sorted risks, and the curve of outcomes that come with the risk to this power."""
    rng = np.random.default_rng(seed)
    risk = np.sort(rng.uniform(low, high, n))
    smooth = present(smooth_curve((rng.random(n) < risk**power).astype(float), risk))
    return risk, smooth


def bounds(risk: Floats, smooth: SmoothCurve, noise: Floats, level: float) -> tuple[float, float]:
    """The bounds, with every risk that occurs as a group of its rows."""
    places, counts = np.unique(risk, return_counts=True)
    groups = whitened(smooth, places)
    return bounds_of_the_largest(risk, smooth, groups, counts.astype(float), noise, level)


# ---- the far end ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0.4, 2.5])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_upper_bound_reaches_to_the_far_end_of_the_band(power: float, level: float) -> None:
    """Row by row, with the curve above the risks and below them."""
    risk, smooth = fitted(38, power, 0.1, 0.9)
    assert len(smooth.fit.coefficients) == 2
    z, highest = float(ndtri(0.5 + level / 2)), 0.0
    for each in risk:
        at = np.array([1.0, float(logit(each))])
        centre, half = float(at @ smooth.fit.coefficients), z * math.sqrt(float(at @ smooth.fit.covariance @ at))
        highest = max(highest, *(abs(float(expit(end)) - each) for end in (centre - half, centre + half)))
    assert bounds(risk, smooth, np.ones((1, 2)), level)[1] == pytest.approx(highest, abs=1e-12)


# ---- where the tube is looked at ------------------------------------------------------------------------------------


def test_few_risks_are_all_looked_at_and_each_once() -> None:
    risk = np.array([0.0, 0.1, 0.1, 0.4, 0.4, 0.9, 1.0])
    assert largest_distance._places(risk).tolist() == [0.0, 0.1, 0.4, 0.9, 1.0]


def test_many_risks_are_looked_at_evenly_by_rank_and_by_log_odds() -> None:
    """Of risks in steps of 1/1000 every 16th by rank; by log odds the first that is not below each of 64."""
    risk = np.arange(1, 1000) / 1000
    by_rank = {risk[round(998 * step / 63)] for step in range(64)}
    low, high = logit(0.001), logit(0.999)
    by_log_odds = {
        min(each for each in risk if logit(each) >= low + (high - low) * step / 63 - 1e-12) for step in range(63)
    }
    assert largest_distance._places(risk).tolist() == sorted(by_rank | by_log_odds | {0.999})


@pytest.mark.parametrize("n", [66, 67])
def test_the_highest_risk_is_looked_at_by_rank_too(n: int) -> None:
    """Two risks far below the others: by log odds these are few, by rank all but two or three."""
    risk = np.concatenate(([1e-9, 1e-8], np.linspace(0.3, 0.31, n - 2)))
    places = largest_distance._places(risk)
    assert len(places) >= 64
    assert places[-1] == 0.31


# ---- the nearest curve inside the tube ------------------------------------------------------------------------------


def nearest_by_trial(beyond: Floats, towards: Floats) -> Floats:
    """Every set of walls is tried: the shortest point on all of them that passes no other."""
    size, best = len(towards), np.full(len(towards), math.inf)
    for count in range(size + 1):
        for walls in itertools.combinations(range(len(beyond)), count):
            held = towards[:, walls]
            point = -np.linalg.pinv(held.T) @ beyond[list(walls)] if walls else np.zeros(size)
            if (beyond + point @ towards).max() <= 1e-9 and point @ point < best @ best:
                best = point
    return best


@given(st.integers(1, 3), st.integers(1, 9), st.integers(0, 10**6))
@settings(deadline=None, max_examples=300)
def test_the_nearest_curve_is_that_of_every_set_of_walls_tried(size: int, walls: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    towards = rng.normal(size=(size, walls))
    towards /= np.sqrt((towards**2).sum(axis=0))
    diagonal = rng.normal(size=size) * rng.choice([0.1, 3.0])
    beyond = -(diagonal @ towards) - rng.exponential(rng.choice([0.01, 1.0]), walls)
    found = largest_distance._nearest_inside(beyond, towards, diagonal)
    assert found == pytest.approx(nearest_by_trial(beyond, towards), abs=1e-7)


def test_a_wall_that_no_longer_pushes_is_let_go() -> None:
    """The wall that is farthest passed comes first; behind the second one the point lies clear of it."""
    towards = np.array([[1.0, 0.8], [0.0, 0.6]])
    beyond = np.array([1.0, 0.9])
    assert largest_distance._nearest_inside(beyond, towards, np.zeros(2)) == pytest.approx([-1.0, -1 / 6])
    towards = np.array([[0.6, 1.0], [0.8, 0.0]])
    beyond = np.array([2.0, 1.9])
    assert largest_distance._nearest_inside(beyond, towards, np.zeros(2)) == pytest.approx([-1.9, -2.0 / 0.8 + 1.425])
    towards, beyond = np.array([[1.0, 0.6], [0.0, 0.8]]), np.array([1.0, 0.99])
    found = largest_distance._nearest_inside(beyond, towards, np.zeros(2))
    assert found == pytest.approx(nearest_by_trial(beyond, towards), abs=1e-9)


@pytest.mark.parametrize(
    ("angles", "beyond"), [((6.25, 5.23, 4.82), (0.23, 1.07, 1.12)), ((4.14, 3.82, 5.75), (2.24, 2.25, -0.67))]
)
def test_a_wall_pushes_as_hard_as_it_must(angles: tuple[float, ...], beyond: tuple[float, ...]) -> None:
    """The second wall makes the first let go only where it has pushed harder: from nothing on."""
    towards = np.array([np.cos(angles), np.sin(angles)])
    found = largest_distance._nearest_inside(np.array(beyond), towards, np.zeros(2))
    assert found == pytest.approx(nearest_by_trial(np.array(beyond), towards), abs=1e-9)


def test_walls_at_right_angles_do_not_touch_each_other() -> None:
    found = largest_distance._nearest_inside(np.array([2.0, 1.0]), np.eye(2), np.zeros(2))
    assert found.tolist() == [-2.0, -1.0]


def test_the_nearest_curve_is_found_along_many_neighbouring_walls() -> None:
    """As along a tube: each wall hardly differs from the next, so that many push for a while and are let go."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        position = np.linspace(-2, 2, 9)
        rows = np.vstack((np.ones(9), position, np.maximum(position, 0) ** 2))
        towards = np.concatenate((rows, -rows), axis=1)
        towards /= np.sqrt((towards**2).sum(axis=0))
        diagonal = rng.normal(size=3) * (1.0, 2.0, 3.0)
        beyond = -(diagonal @ towards) - rng.uniform(0.05, 0.3)
        found = largest_distance._nearest_inside(beyond, towards, diagonal)
        assert found == pytest.approx(nearest_by_trial(beyond, towards), abs=1e-7)


def test_where_two_walls_leave_no_room_the_answer_is_perfect_calibration() -> None:
    diagonal = np.array([7.0])
    found = largest_distance._nearest_inside(np.array([1.0, 1.0]), np.array([[1.0, -1.0]]), diagonal)
    assert found.tolist() == [7.0]


# ---- the walls ------------------------------------------------------------------------------------------------------


def test_the_walls_are_standard_errors_away_and_none_stands_at_0_or_1() -> None:
    risk = np.array([0.05, 0.5, 0.95])
    columns = np.array([[0.3, 0.3, 0.3], [-0.4, 0.0, 0.4]])
    curve = WhitenedCurve(risk, columns, logit(np.array([0.2, 0.5, 0.7])), np.zeros(2))
    error = np.array([0.5, 0.3, 0.5])
    beyond, towards = largest_distance._beyond_the_tube(curve, 0.1, error)
    upper = [(logit(0.2) - logit(0.15)) / 0.5, (0 - logit(0.6)) / 0.3]
    lower = [(logit(0.4) - 0) / 0.3, (logit(0.85) - logit(0.7)) / 0.5]
    assert beyond == pytest.approx([*upper, *lower])
    assert towards == pytest.approx(np.array([[0.6, 1.0, -1.0, -0.6], [-0.8, 0.0, 0.0, -0.8]]))


# ---- the near end ---------------------------------------------------------------------------------------------------


def even(draws: int) -> Floats:
    """Normal draws of one coefficient without chance in them."""
    return np.asarray(ndtri((np.arange(draws) + 0.5) / draws))[:, None]


def test_one_risk_has_the_bound_of_one_test() -> None:
    """A risk of .3, an outcome in half of 400 rows: the log odds 1.78 standard errors below, the .9625 quantile."""
    risk, outcome = np.full(400, 0.3), np.array([0.0, 1.0] * 200)
    low, high = bounds(risk, present(smooth_curve(outcome, risk)), even(20_000), 0.95)
    assert low == pytest.approx(expit(-float(ndtri(1 - TAIL)) / 10) - 0.3, abs=1e-3)
    assert high == pytest.approx(expit(float(ndtri(0.975)) / 10) - 0.3, abs=1e-12)


def test_a_single_wall_is_passed_by_noise_of_the_nearest_curve() -> None:
    """A risk of .9, an outcome in half of 40 rows: above .9 + .26 is no wall. The width w solves w = z r(w), with r the
    standard error at the near end over that of the fit.
    """
    risk, outcome = np.full(40, 0.9), np.array([0.0, 1.0] * 20)
    smooth = present(smooth_curve(outcome, risk))
    z = float(ndtri(1 - TAIL))

    def end(width: float) -> float:
        return float(expit(width / math.sqrt(10)))

    width = brentq(lambda each: each - z * math.sqrt(0.25 / (end(each) * (1 - end(each)))), 1.0, 3.0)
    assert width > 1.03 * z
    low, _ = bounds(risk, smooth, even(20_000), 0.95)
    assert low == pytest.approx(0.9 - end(width), abs=5e-4)


def test_a_share_of_exactly_the_tail_is_refuted_and_so_is_what_no_draw_reaches() -> None:
    """At 3 of 8 the width is that of one place, .3186 standard errors."""
    risk, outcome = np.full(400, 0.9), np.array([0.0, 1.0] * 200)
    curve = whitened(present(smooth_curve(outcome, risk)), risk[:1])
    expected = 0.9 - float(expit(float(ndtri(0.625)) / 10))
    for noise in ([9.0, 9.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0]):
        # One wall stands, on which three draws or none pass, whichever way they point.
        for sign in (1, -1):
            draws = sign * np.array(noise)[:, None]
            found = largest_distance._smallest(curve, curve, np.array([400.0]), draws, 0.375)
            assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("errors", "refuted"), [(1.99, False), (2.22, False), (2.26, True), (2.5, True)])
def test_perfect_calibration_is_to_be_refuted_by_both_sides(errors: float, refuted: bool) -> None:
    """Of one risk by |z| above 2.24 (.025 on both sides), not above 1.96; what lies farther then at 1.70, on one."""
    height = float(expit(logit(0.3) + errors / 10))
    curve = WhitenedCurve(np.array([0.3]), np.array([[0.1]]), np.array([logit(height)]), np.array([-errors]))
    # As many rows as make the standard error at perfect calibration one tenth.
    found = largest_distance._least(curve, curve, np.array([100 / 0.3 / 0.7]), even(20_000), 0.95)
    near = float(expit(logit(height) - float(ndtri(1 - TAIL)) / 10)) - 0.3
    assert found == pytest.approx(near if refuted else 0.0, abs=2e-3)
    assert (found > 0) == refuted


@pytest.mark.parametrize("errors", [-1.97, 1.97])
def test_noise_on_one_side_is_enough_where_both_walls_stand(errors: float) -> None:
    """A tenth of the draws reach as far as the fitted curve lies off, all of them on one side."""
    curve = WhitenedCurve(np.array([0.3]), np.array([[0.1]]), np.array([logit(0.3) + errors / 10]), np.array([-errors]))
    rows, noise = np.array([100 / 0.3 / 0.7]), np.array([[2.2]] + [[0.0]] * 9)
    assert largest_distance._smallest(curve, curve, rows, noise, 0.0375) == 0
    assert largest_distance._smallest(curve, curve, rows, -noise, 0.0375) == 0


def test_a_tube_without_walls_is_refuted() -> None:
    """A fitted curve so far off that the tube around the risks reaches from 0 to 1."""
    curve = WhitenedCurve(np.array([0.5]), np.array([[1.0]]), np.array([60.0]), np.array([-60.0]))
    assert largest_distance._least(curve, curve, np.array([4.0]), even(20), 0.95) == 0.5


def chance_of_leaving(curve: WhitenedCurve, rows: Floats, largest: float, noise: Floats) -> float:
    """How often the nearest curve in the tube, moved by the noise, leaves it by as much as the fitted one: by loops."""
    beyond, towards = [], []
    for index, risk in enumerate(curve.risk):
        column = curve.columns[:, index]
        error = math.sqrt(float(column @ column))
        if risk + largest < 1:
            beyond.append((curve.fitted[index] - float(logit(risk + largest))) / error)
            towards.append(column / error)
        if risk - largest > 0:
            beyond.append((float(logit(risk - largest)) - curve.fitted[index]) / error)
            towards.append(-column / error)
    walls, sides = np.array(beyond), np.array(towards).T
    near = [wall for wall in range(len(walls)) if walls[wall] > -2]
    inside = nearest_by_trial(walls[near], sides[:, near])
    assert (walls + inside @ sides).max() < 1e-8
    information = np.zeros((len(inside), len(inside)))
    for index, count in enumerate(rows):
        column = curve.columns[:, index]
        height = float(expit(curve.fitted[index] + inside @ column))
        information += count * height * (1 - height) * np.outer(column, column)
    root = np.linalg.inv(np.linalg.cholesky(information))
    leaving = [max(walls + (inside + each @ root) @ sides) >= walls.max() for each in noise]
    return float(np.mean(leaving))


@pytest.mark.parametrize(("power", "seed"), [(0.4, 5), (2.2, 6), (0.6, 7), (3.0, 8)])
def test_the_lower_bound_is_the_smallest_distance_that_is_not_refuted(power: float, seed: int) -> None:
    """Just above it the chance is more than the tail, just below less, and it is more all the way up."""
    risk = np.sort(np.random.default_rng(seed).choice([0.1, 0.25, 0.4, 0.6, 0.8], 150))
    outcome = (np.random.default_rng(seed + 20).random(150) < risk**power).astype(float)
    smooth = present(smooth_curve(outcome, risk))
    places, counts = np.unique(risk, return_counts=True)
    rows = counts.astype(float)
    curve = whitened(smooth, places)
    noise = np.random.default_rng(seed).standard_normal((400, len(curve.columns)))
    low, _ = bounds(risk, smooth, noise, 0.95)
    value = float(np.abs(expit(curve.fitted) - curve.risk).max())
    assert 0 < low < value
    assert chance_of_leaving(curve, rows, low - 0.01 * value, noise) <= TAIL
    for largest in np.linspace(low + 0.01 * value, 0.99 * value, 6):
        assert chance_of_leaving(curve, rows, float(largest), noise) > TAIL


def test_a_calibrated_model_may_have_no_largest_distance() -> None:
    risk, smooth = fitted(800, 1.0)
    noise = np.random.default_rng(1).standard_normal((300, 4))
    assert bounds(risk, smooth, noise, 0.95)[0] == 0


@pytest.mark.parametrize("draws", [1, 20])
def test_the_bounds_hold_the_largest_distance_and_widen_with_the_level(draws: int) -> None:
    for n, power in ((40, 3.0), (150, 2.0), (900, 1.5)):
        risk, smooth = fitted(n, power)
        noise = np.random.default_rng(2).standard_normal((draws, len(smooth.fit.coefficients)))
        centre = whitened(smooth, risk)
        value = float(np.abs(expit(centre.fitted) - risk).max())
        before = (value, value)
        for level in (0.5, 0.9, 0.99):
            low, high = bounds(risk, smooth, noise, level)
            assert 0 <= low <= before[0] + 1e-12
            assert high >= before[1]
            before = (low, high)


def test_risks_of_0_and_1_leave_the_tube_the_walls_that_stand() -> None:
    risk = np.repeat([0.0, 0.5, 1.0], 40)
    outcome = np.concatenate((np.repeat([1.0, 0.0], 20), np.repeat([1.0, 0.0], 20), np.repeat([1.0, 0.0], 20)))
    smooth = present(smooth_curve(outcome, risk))
    noise = np.random.default_rng(1).standard_normal((300, len(smooth.fit.coefficients)))
    low, high = bounds(risk, smooth, noise, 0.95)
    assert 0.2 < low < 0.5 < high < 0.8
