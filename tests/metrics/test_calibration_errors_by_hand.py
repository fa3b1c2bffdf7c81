"""The parts of the intervals of the calibration errors, against small cases worked by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri

from dossier.core.types import Floats
from dossier.metrics import calibration_errors, largest_distance
from dossier.metrics.calibration_errors import CurveDraws, ErrorTests
from dossier.metrics.largest_distance import bounds_of_the_largest
from dossier.metrics.shares import Design
from dossier.metrics.smooth_curve import smooth_curve, whitened
from tests.estimated import present
from tests.metrics.test_largest_distance import fitted

Z = float(ndtri(0.975))


def small(slopes: tuple[tuple[float, ...], ...] = ((0.3, 0.3, 0.3, 0.3), (-0.4, 0.1, 0.2, 0.3))) -> CurveDraws:
    """Four groups of unequal size, two coefficients, and a curve now above and now below the risks."""
    risk = np.array([0.1, 0.3, 0.6, 0.9])
    return CurveDraws(
        risk,
        np.array(slopes),
        np.asarray(logit(np.array([0.2, 0.25, 0.7, 0.8]))),
        np.array([1.0, -2.0]),
        np.array([0.4, 0.3, 0.2, 0.1]),
    )


def gaps_of(draws_of: CurveDraws, point: Floats) -> Floats:
    """|curve - risk| group by group."""
    found = []
    for group, risk in enumerate(draws_of.risk):
        height = draws_of.fitted[group] + sum(
            each * float(draws_of.columns[which, group]) for which, each in enumerate(point)
        )
        found.append(abs(1 / (1 + math.exp(-height)) - risk))
    return np.array(found)


def slope_of(height: Callable[[Floats], float], point: Floats) -> Floats:
    """The direction of the steepest rise, by small differences, with length 1."""
    steps = 1e-6 * np.eye(len(point))
    found = np.array([height(point + step) - height(point - step) for step in steps])
    return np.asarray(found / np.linalg.norm(found))


# ---- groups of risks and the curves through them --------------------------------------------------------------------


def test_groups_hold_neighbours_and_the_ends_stand_alone() -> None:
    risk = np.linspace(0.01, 0.99, 640) ** 2
    middle, share = calibration_errors._groups_of_risk(risk)
    sizes = [1, 9, *[10] * 62, 9, 1]
    ends = np.cumsum([0, *sizes])
    assert 640 * share == pytest.approx(sizes)
    assert middle == pytest.approx([risk[ends[number] : ends[number + 1]].mean() for number in range(66)])


@pytest.mark.parametrize("n", [1, 2, 5, 64])
def test_few_risks_are_their_own_groups(n: int) -> None:
    risk = np.linspace(0.1, 0.8, n)
    middle, share = calibration_errors._groups_of_risk(risk)
    assert middle == pytest.approx(risk)
    assert share == pytest.approx(np.full(n, 1 / n))


@pytest.mark.parametrize(("n", "coefficients"), [(30, 2), (120, 3), (900, 4)])
def test_the_diagonal_has_no_distance_from_the_risks(n: int, coefficients: int) -> None:
    """For a straight line and for splines of three and four knots."""
    risk, smooth = fitted(n, 1.5)
    draws_of = calibration_errors._curve_draws(risk, smooth)
    assert len(draws_of.diagonal) == coefficients
    assert calibration_errors._gaps(draws_of, draws_of.diagonal[None, :])[0] == pytest.approx(0, abs=1e-9)


def test_a_single_risk_has_a_diagonal_too() -> None:
    smooth = present(smooth_curve(np.array([0.0, 1.0] * 20), np.full(40, 0.3)))
    draws_of = calibration_errors._curve_draws(np.full(40, 0.3), smooth)
    assert calibration_errors._gaps(draws_of, draws_of.diagonal[None, :])[0] == pytest.approx(0, abs=1e-9)
    assert calibration_errors._gaps(draws_of, np.zeros((1, 1)))[0] == pytest.approx(0.2)


def test_one_step_of_a_coefficient_is_one_standard_error() -> None:
    """The fit knows the whitened coefficients with the unit matrix as covariance."""
    risk, smooth = fitted(64, 1.0)
    draws_of = calibration_errors._curve_draws(risk, smooth)
    curve = expit(draws_of.fitted)
    information = (draws_of.columns * curve * (1 - curve)) @ draws_of.columns.T
    assert information == pytest.approx(np.eye(len(information)), abs=1e-6)


# ---- lines of curves ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", [(0.0, 0.0), (0.5, -1.0), (-2.0, 1.0)])
def test_the_steepest_direction_is_the_slope_of_the_mean_distance(point: tuple[float, float]) -> None:
    draws_of = small()
    expected = slope_of(lambda at: float(gaps_of(draws_of, at) @ draws_of.share), np.array(point))
    assert calibration_errors._steepest(draws_of, np.array(point)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("point", [(0.0, 0.0), (0.5, -1.0), (-2.0, 1.0)])
@pytest.mark.parametrize("quantile", [0.5, 0.9])
def test_the_steepest_direction_of_a_quantile_is_that_of_the_rows_about_it(
    point: tuple[float, float], quantile: float
) -> None:
    """Rows whose distance has a rank within 15 % of the quantile, a group's rank being that of its middle."""
    rng = np.random.default_rng(2)
    size, share = 30, rng.dirichlet(np.ones(30))
    draws_of = CurveDraws(
        np.sort(rng.random(size)), rng.normal(0, 0.3, (2, size)), rng.normal(0, 1, size), np.zeros(2), share
    )
    gaps = gaps_of(draws_of, np.array(point))
    near = np.zeros(size)
    for group in range(size):
        rank = float(share[gaps < gaps[group]].sum()) + float(share[group]) / 2
        near[group] = share[group] if abs(rank - quantile) < 0.15 else 0.0
    expected = slope_of(lambda at: float(gaps_of(draws_of, at) @ near), np.array(point))
    assert calibration_errors._steepest(draws_of, np.array(point), quantile) == pytest.approx(expected, abs=1e-6)


def test_curves_that_nothing_moves_have_no_steepest_direction() -> None:
    still = small(((0.0,) * 4, (0.0,) * 4))
    assert list(calibration_errors._steepest(still, np.zeros(2))) == [0.0, 0.0]
    assert len(calibration_errors._inward(still)) == 1 + calibration_errors.LAST_STEPS


def test_the_line_inward_falls_as_fast_as_it_can_and_ends_at_the_diagonal() -> None:
    draws_of = small()

    def mean(at: Floats) -> float:
        return float(gaps_of(draws_of, at) @ draws_of.share)

    points = [np.zeros(2)]
    while True:
        lower = points[-1] - calibration_errors.STEP_DOWN * slope_of(mean, points[-1])
        if mean(lower) >= mean(points[-1]):
            break
        points.append(lower)
    assert len(points) > 2
    last = points[-1]
    points += [
        last + (draws_of.diagonal - last) * part for part in np.linspace(0, 1, calibration_errors.LAST_STEPS + 1)[1:]
    ]
    assert calibration_errors._inward(draws_of) == pytest.approx(np.array(points[::-1]), abs=1e-5)


# ---- what is drawn around a curve -----------------------------------------------------------------------------------

CURVED = ((0.3, 0.3, 0.3, 0.3), (-0.4, 0.1, 0.2, 0.3), (0.2, -0.1, 0.0, 0.4))
"""The columns of a curve that is no straight line."""


@pytest.mark.parametrize("point", [(0.0, 0.0, 0.0), (0.5, -1.0, 0.3)])
@pytest.mark.parametrize("n", [400, 9000])
def test_a_risk_scatters_by_the_standard_error_of_its_log_odds_times_its_slope(
    point: tuple[float, ...], n: int
) -> None:
    """Delta method: h (1 - h) times the standard error that the information of n rows gives at each group."""
    draws_of = replace(small(CURVED), risk=np.zeros(4))
    noise = np.concatenate((np.eye(3), np.zeros((1, 3))))
    found = calibration_errors._around(draws_of, np.array(point), noise, n)
    height = gaps_of(draws_of, np.array(point))
    information = np.zeros((3, 3))
    for group in range(4):
        column = draws_of.columns[:, group]
        information += n * draws_of.share[group] * height[group] * (1 - height[group]) * np.outer(column, column)
    covariance = np.linalg.inv(information)
    for group in range(4):
        column = draws_of.columns[:, group]
        spread = height[group] * (1 - height[group]) * math.sqrt(float(column @ covariance @ column))
        assert found[3, group] == pytest.approx(height[group])
        assert float(np.linalg.norm(found[:3, group] - height[group])) == pytest.approx(spread, rel=1e-3)


def test_of_a_straight_line_the_log_odds_scatter() -> None:
    draws_of, size = small(CURVED[:2]), 2
    noise = np.random.default_rng(4).standard_normal((5, size))
    height = expit(draws_of.fitted)
    rows = 10_000_000 * draws_of.share * height * (1 - height)
    root = np.linalg.inv(np.linalg.cholesky((draws_of.columns * rows) @ draws_of.columns.T))
    expected = [gaps_of(draws_of, each @ root) for each in noise]
    assert calibration_errors._around(draws_of, np.zeros(size), noise, 10_000_000) == pytest.approx(
        np.array(expected), abs=1e-10
    )


def test_a_drawn_curve_stays_between_0_and_1() -> None:
    draws_of, noise = small(CURVED), 1000 * np.random.default_rng(4).standard_normal((50, 3))
    found = calibration_errors._around(draws_of, np.zeros(3), noise, 10)
    assert found.max(axis=0) == pytest.approx(np.maximum(draws_of.risk, 1 - draws_of.risk))


# ---- values and probabilities ---------------------------------------------------------------------------------------


def test_quantiles_of_groups_lie_between_their_middles() -> None:
    """Shares .5, .3, .2 of distances .1, .2, .4 have their middles at .25, .65 and .9."""
    gaps, share = np.array([[0.4, 0.1, 0.2], [0.2, 0.1, 0.4]]), np.array([0.2, 0.5, 0.3])
    assert calibration_errors._share_quantiles(gaps[:1], share, 0.45) == pytest.approx([0.15])
    assert calibration_errors._share_quantiles(gaps[:1], share, 0.9) == pytest.approx([0.4])
    # The second curve: .2 of it at .2 and .3 at .4, with middles at .6 and .85.
    assert calibration_errors._share_quantiles(gaps, share, 0.725) == pytest.approx([0.26, 0.3])


@pytest.mark.parametrize("wanted", [0.0, 0.5, 0.9])
def test_the_only_group_is_every_quantile(wanted: float) -> None:
    assert calibration_errors._share_quantiles(np.array([[0.3], [0.2]]), np.ones(1), wanted).tolist() == [0.3, 0.2]


def test_quantiles_beyond_the_middles_of_the_ends_are_those_of_the_ends() -> None:
    gaps, share = np.array([[0.1, 0.2, 0.4]]), np.array([0.5, 0.3, 0.2])
    assert calibration_errors._share_quantiles(gaps, share, 0.01).tolist() == [0.1]
    assert calibration_errors._share_quantiles(gaps, share, 0.99) == pytest.approx([0.4])


def error_tests(rows: tuple[float, ...], below: float) -> ErrorTests:
    draws_of = CurveDraws(np.array([0.2, 0.6]), np.ones((1, 2)), np.zeros(2), np.zeros(1), np.array([0.5, 0.5]))
    return ErrorTests(draws_of, 4, np.zeros((3, 1)), np.array(rows), {0.5: np.full(3, below), 0.9: np.full(3, 1.0)})


DRAWN = np.array([[0.25, 0.25], [0.125, 0.375], [0.5, 0.5]])
"""Distances of two groups of half the rows each, in three draws."""


@pytest.mark.parametrize(("value", "below", "share"), [(0.125, 0.5, 1), (0.25, 0.5, 2), (0.25, 0.6, 1), (0.5, 1.0, 3)])
def test_a_quantile_is_at_most_the_one_seen_where_enough_rows_are(value: float, below: float, share: int) -> None:
    tests = error_tests((0.0, 0.0, 0.0), below)
    assert calibration_errors._at_most(tests, "e50", np.zeros(2), DRAWN)(value) == pytest.approx(share / 3)


@pytest.mark.parametrize(
    ("rows", "value", "share"),
    [
        ((0.0, 0.0, 0.0), 0.25, 2),
        ((0.0, 2.0, 0.0), 0.25, 1),
        ((0.0, 0.0, -2.0), 0.25, 3),
        ((0.0, 0.0, -1.0), 0.25, 2),
        ((0.0, 0.0, -1.0), 0.375, 3),
    ],
)
def test_the_mean_distance_of_rows_scatters_about_that_of_the_curve(
    rows: tuple[float, ...], value: float, share: int
) -> None:
    """True distances of 0 and .5 have a standard deviation of .25, and the mean of four rows one of .125."""
    tests = error_tests(rows, 0.5)
    assert calibration_errors._at_most(tests, "ici", np.array([0.0, 0.5]), DRAWN)(value) == pytest.approx(share / 3)


# ---- curves in other directions -------------------------------------------------------------------------------------


def elsewhere(level: float, high: float) -> Floats:
    noise = np.random.default_rng(3).standard_normal((100, 2))
    points, heights = calibration_errors._elsewhere(small(), noise, "e50", level)
    assert heights == pytest.approx(medians(points))
    return calibration_errors._some_above(points, heights, high)


def medians(points: Floats) -> Floats:
    draws_of = small()
    gaps = np.array([gaps_of(draws_of, point) for point in points])
    return calibration_errors._share_quantiles(gaps, draws_of.share, 0.5)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_curves_elsewhere_are_ten_and_the_worst_comes_first(level: float) -> None:
    points = elsewhere(level, 0.0)
    assert len(points) == 10
    assert (np.diff(medians(points)) <= 0).all()
    noise = np.random.default_rng(3).standard_normal((100, 2))
    reach = float(ndtri(0.5 + level / 2))
    lengths = np.linalg.norm(points, axis=1)
    assert (lengths <= reach + 1e-9).all()
    every = [reach * part * each / np.linalg.norm(each) for part in (0.4, 0.7, 1.0) for each in noise]
    assert medians(points)[0] == pytest.approx(medians(np.array(every)).max())


def test_only_curves_with_a_larger_quantile_count_as_elsewhere() -> None:
    worst = elsewhere(0.95, 0.0)
    some = float(medians(worst)[1])
    assert (medians(elsewhere(0.95, some)) > some).all()
    highest = calibration_errors._heights("e50", calibration_errors._gaps(small(), worst[:1]), small().share)[0]
    assert len(elsewhere(0.95, highest - 1e-9)) == 1
    assert len(elsewhere(0.95, highest)) == 0


def test_few_curves_elsewhere_are_all_taken() -> None:
    noise = np.random.default_rng(3).standard_normal((100, 2))
    every = np.array([Z * part * each / np.linalg.norm(each) for part in (0.4, 0.7, 1.0) for each in noise])
    high = float(np.sort(medians(every))[-8]) - 1e-12
    assert medians(elsewhere(0.95, high)) == pytest.approx(np.sort(medians(every))[::-1][:8])


# ---- the bounds -----------------------------------------------------------------------------------------------------


def bounds_with(
    monkeypatch: pytest.MonkeyPatch, mean: tuple[float, float], largest: tuple[float, float], values: float = 0.0
) -> tuple[dict[str, tuple[float, float]], ErrorTests, list[tuple[str, float]]]:
    """The four bounds of 200 rows whose tests gave these ones, what the tests were given, and what may go unused."""
    asked: list[ErrorTests] = []
    unused: list[tuple[str, float]] = []

    def of_one(tests: ErrorTests, name: str, *more: object) -> tuple[float, float]:
        asked.append(tests)
        left = more[-1]
        assert isinstance(left, float)
        unused.append((name, left))
        return mean if name == "ici" else (0.0, 0.2)

    monkeypatch.setattr(calibration_errors, "_bounds_of_error", of_one)
    monkeypatch.setattr(largest_distance, "bounds_of_the_largest", lambda *_: largest)
    risk, smooth = fitted(200, 1.0)
    seen = dict.fromkeys(calibration_errors.ERRORS, values)
    return calibration_errors._bounds_of_errors(seen, risk, risk, smooth, 0.95, 4000, 1, Design(200)), asked[0], unused


@pytest.mark.parametrize(
    ("mean", "largest", "bound"), [(0.1, 0.05, 0.1), (0.1, 0.2, 0.2), (0.1, 0.0, 0.0), (0.0, 0.2, 0.2)]
)
def test_the_largest_error_is_not_below_the_mean_one_where_its_own_test_finds_any(
    monkeypatch: pytest.MonkeyPatch, mean: float, largest: float, bound: float
) -> None:
    assert bounds_with(monkeypatch, (mean, 0.9), (largest, 0.8), 0.5)[0]["emax"] == (bound, 0.8)


def test_the_bounds_of_the_largest_error_hold_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds are looked for at some of the risks, the value at all."""
    assert bounds_with(monkeypatch, (0.0, 0.9), (0.2, 0.3), 0.1)[0]["emax"] == (0.1, 0.3)
    assert bounds_with(monkeypatch, (0.0, 0.9), (0.2, 0.3), 0.4)[0]["emax"] == (0.2, 0.4)


@pytest.mark.parametrize(("mean", "unused"), [(0.0, 0.6), (0.01, 1.0)])
def test_quantiles_use_both_tails_once_the_mean_error_refutes_perfect_calibration(
    monkeypatch: pytest.MonkeyPatch, mean: float, unused: float
) -> None:
    asked = bounds_with(monkeypatch, (mean, 0.9), (0.0, 1.0))[2]
    assert asked == [("ici", 0.6), ("e50", unused), ("e90", unused)]


def test_the_share_of_rows_below_a_quantile_has_its_mean_and_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows below a quantile in a sample of 200: its share on average, with the variance of a proportion."""
    below = bounds_with(monkeypatch, (0.0, 0.5), (0.0, 0.5))[1].below
    for part in (0.5, 0.9):
        spread = math.sqrt(part * (1 - part) / 200)
        assert below[part].mean() == pytest.approx(part, abs=4 * spread / math.sqrt(4000))
        assert below[part].std() == pytest.approx(spread, rel=0.06)


POINTS = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 0.5]])


def bounds_of(
    name: str, monkeypatch: pytest.MonkeyPatch, level: float, chances: tuple[float, ...]
) -> tuple[float, float]:
    """The bounds of one error whose line of curves gave (tail, .01) and whose curves elsewhere have these chances."""
    tests = ErrorTests(small(), 50, np.random.default_rng(1).standard_normal((20, 2)), np.zeros(20), {})
    left = iter(chances)

    def inverted(
        _chance: object,
        _heights: Floats,
        seen: float,
        tail: float,
        farther: Callable[[float, float], float] | None,
        unused: float,
    ) -> tuple[float, float]:
        assert unused == 0.5
        return tail, 0.01 if farther is None else farther(seen, 0.01)

    monkeypatch.setattr(calibration_errors, "inverted", inverted)
    monkeypatch.setattr(calibration_errors, "_elsewhere", lambda *_: (POINTS, np.array([3.0, 2.0, 1.0])))
    monkeypatch.setattr(calibration_errors, "_at_most", lambda *_: lambda _seen: next(left))
    inward = calibration_errors._inward(tests.curves)
    return calibration_errors._bounds_of_error(tests, name, 0.0, inward, lambda _: np.zeros((20, 4)), level, 0.5)


@pytest.mark.parametrize(("name", "tail"), [("ici", 0.25), ("e50", 0.25), ("e90", 0.25)])
def test_half_of_what_the_level_leaves_is_missed_on_either_side(
    monkeypatch: pytest.MonkeyPatch, name: str, tail: float
) -> None:
    assert bounds_of(name, monkeypatch, 0.5, (0.0, 0.0, 0.0))[0] == tail


@pytest.mark.parametrize(("chances", "point"), [((0.3, 0.0, 0.0), (2.0, 0.0)), ((0.25, 0.1, 0.26), (0.0, 0.5))])
def test_the_worst_curve_elsewhere_that_is_not_refuted_widens_the_bound(
    monkeypatch: pytest.MonkeyPatch, chances: tuple[float, ...], point: tuple[float, float]
) -> None:
    low, high = bounds_of("e50", monkeypatch, 0.5, chances)
    assert low == 0.25
    assert high == pytest.approx(medians(np.array([point]))[0])


def test_only_quantiles_look_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bounds_of("e90", monkeypatch, 0.5, (0.0, 0.0, 0.0))[1] == 0.01
    assert bounds_of("ici", monkeypatch, 0.5, (1.0,))[1] == 0.01


@pytest.mark.parametrize("name", ["ici", "e50"])
def test_the_errors_share_what_is_drawn(name: str) -> None:
    rng = np.random.default_rng(1)
    curves = replace(small(CURVED), diagonal=np.array([1.0, -2.0, 0.5]))
    below = {part: rng.beta(50 * part, 50 * (1 - part), 20) for part in (0.5, 0.9)}
    tests = ErrorTests(curves, 50, rng.standard_normal((20, 3)), rng.standard_normal(20), below)
    inward, asked = calibration_errors._inward(curves), []

    def around(index: int) -> Floats:
        asked.append(index)
        return calibration_errors._around(curves, inward[index], tests.noise, 50)

    calibration_errors._bounds_of_error(tests, name, 0.1, inward, around, 0.95, 0.6)
    assert asked


def test_the_largest_distance_is_tested_with_the_rows_of_each_group() -> None:
    """Its lower bound from all rows, group by group: as many as each group has."""
    rng = np.random.default_rng(11)
    risk = np.sort(rng.uniform(0.05, 0.95, 400))
    outcome = (rng.random(400) < risk**2.5).astype(float)
    found = present(calibration_errors.errors_with_intervals(outcome, risk, 0.95, 200, 3))
    smooth = present(smooth_curve(outcome, risk))
    groups = whitened(smooth, np.array([part.mean() for part in grouped(risk)]))
    rows = np.array([float(len(part)) for part in grouped(risk)])
    noise = np.random.default_rng(3).standard_normal((200, len(groups.columns)))
    low, _ = bounds_of_the_largest(risk, smooth, groups, rows, noise, 0.95)
    assert 0 < (found["ici"].low or 0.0) < low
    assert found["emax"].low == pytest.approx(low, abs=1e-12)


def grouped(risk: Floats) -> list[Floats]:
    """The lowest risk, the highest, and between them 64 groups in which the rank times 64 over n has the same whole."""
    inner: dict[int, list[float]] = {}
    for rank in range(1, len(risk) - 1):
        inner.setdefault(rank * 64 // len(risk), []).append(float(risk[rank]))
    return [risk[:1], *(np.array(inner[key]) for key in sorted(inner)), risk[-1:]]


def test_the_line_beyond_the_fitted_curve_goes_in_small_steps_and_far_enough() -> None:
    """By at most half a standard error a step, so that bounds between two are nearly straight, to five errors."""
    points = calibration_errors._outward(small(), None)
    steps = np.sqrt((np.diff(points, axis=0, prepend=0.0) ** 2).sum(axis=1))
    assert steps.max() <= 0.5
    assert steps.sum() > 5.0 - 1e-9
