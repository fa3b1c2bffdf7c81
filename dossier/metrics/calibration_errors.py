"""How far the calibration curve lies from the risks, and how far the true curve may lie."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from dossier.core import facts, register
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import intervals, largest_distance, logistic, once, resampling
from dossier.metrics.inversion import LEAST_CHANCE, UNUSED, by_tests, estimate_from_tests, inverted
from dossier.metrics.shares import Design, effective_rows
from dossier.metrics.smooth_curve import SmoothCurve, WhitenedCurve, curve_at, quantile_of, smooth_curve, whitened

ERRORS = ("ici", "e50", "e90", "emax", "ici_of_update")


def _summary(error: Floats, design: Design) -> dict[str, float]:
    weights = None if design.weights is None else design.relative_weights
    e50, e90 = (quantile_of(error, weights, part) for part in (0.5, 0.9))
    ici = design.mean(error)
    return {"ici": ici, "e50": e50, "e90": e90, "emax": float(error.max()), "ici_of_update": ici}


RISK_GROUPS = 64
"""Groups of neighbouring risks that stand for all rows while curves are drawn."""
STEP_DOWN, STEPS_DOWN = 0.2, 60
STEP_UP, STEPS_UP = 0.25, 20
"""The lines of curves go in steps of so many standard errors, at most so many of them."""
LAST_STEPS = 4
NO_DRAWS = facts.Fact("no_draws_for_interval")
STRAIGHT = 2
"""The coefficients of a straight line."""
DIRECTIONS, RADII, MOST_ELSEWHERE = 100, (0.4, 0.7, 1.0), 10
NEIGHBOURS = 0.15
"""How wide the share of the rows is, to either side of a quantile, that pulls it along."""


@dataclass(frozen=True)
class CurveDraws(WhitenedCurve):
    """What the calibration errors are drawn from: the fitted curve at groups of risks, and the rows in each."""

    share: Floats


def _groups_of_risk(risk: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Means and shares of up to 64 groups of equally many sorted risks, the lowest and the highest on their own.

    `weights` (n, above 0, on average 1) are those of the rows.
    """
    n = len(risk)
    group = 1 + np.arange(n) * RISK_GROUPS // n
    group[0], group[-1] = 0, RISK_GROUPS + 1
    size = np.bincount(group, weights=weights)
    total = np.bincount(group, weights=risk if weights is None else weights * risk)
    return total[size > 0] / size[size > 0], size[size > 0] / n


def _curve_draws(risk: Floats, smooth: SmoothCurve, weights: Floats | None = None) -> CurveDraws:
    middle, share = _groups_of_risk(risk, weights)
    curve = whitened(smooth, middle)
    return CurveDraws(middle, curve.columns, curve.fitted, curve.diagonal, share, smoother=curve.smoother)


def _gaps(draws_of: CurveDraws, points: Floats) -> Floats:
    """|curve - risk| in each group for each point: (points, groups)."""
    found = logistic.combine(points, draws_of.columns)
    # In place: this is where the calibration errors spend their time.
    found += draws_of.fitted
    draws_of.smoother.back(found, out=found)
    found -= draws_of.risk
    return np.abs(found, out=found)


def _around(draws_of: CurveDraws, point: Floats, noise: Floats, n: int) -> Floats:
    """|curve - risk| in each group for curves as n rows would find them if the one at `point` were true.

    `noise` (draws, coefficients): standard normal. It takes the covariance that the fit would have there, and moves the
    risks of the curve in proportion (delta method): shares scatter evenly to both sides, log odds do not. Where events
    are too few for more than a straight line a risk may have no room on one side: there the log odds move.
    """
    height = draws_of.smoother.back(draws_of.fitted + logistic.combine(point[None, :], draws_of.columns)[0])
    steep = draws_of.smoother.steep(height)
    moves = draws_of.smoother.noise(draws_of.columns, n * draws_of.share, height, noise)
    if len(point) <= STRAIGHT:
        return _gaps(draws_of, point + moves)
    found: Floats = np.einsum("bk,km->bm", moves, draws_of.columns)
    found *= steep
    found += height
    np.clip(found, 0, 1, out=found)
    found -= draws_of.risk
    return np.abs(found, out=found)


def _steepest(draws_of: CurveDraws, point: Floats, quantile: float | None = None) -> Floats:
    """The direction, one standard error long, in which the mean distance rises fastest, or that around a quantile."""
    height = draws_of.smoother.back(draws_of.fitted + logistic.combine(point[None, :], draws_of.columns)[0])
    weight = draws_of.share
    if quantile is not None:
        gaps = np.abs(height - draws_of.risk)
        order = np.argsort(gaps, kind="stable")
        middle = np.empty_like(gaps)
        middle[order] = np.cumsum(draws_of.share[order]) - draws_of.share[order] / 2
        weight = weight * (np.abs(middle - quantile) <= NEIGHBOURS)
    side = np.where(height >= draws_of.risk, 1.0, -1.0) * draws_of.smoother.steep(height) * weight
    steep = np.sum(draws_of.columns * side, axis=1)
    length = math.sqrt(float(np.sum(steep**2)))
    return steep / length if length > 0 else np.zeros_like(steep)


def _inward(draws_of: CurveDraws) -> Floats:
    """Curves from perfect calibration to the fitted one: (curves, coefficients).

    Seen from the fitted curve each follows the last in the direction in which the mean distance falls fastest by
    standard errors: nearly the nearest of all curves with its mean distance, which are the hardest to refute.
    """

    def size(point: Floats) -> float:
        return float(np.sum(_gaps(draws_of, point[None, :])[0] * draws_of.share))

    point = np.zeros(len(draws_of.columns))
    curves, now = [point], size(point)
    for _ in range(STEPS_DOWN):
        lower = point - STEP_DOWN * _steepest(draws_of, point)
        then = size(lower)
        if then >= now:
            break
        point, now = lower, then
        curves.append(point)
    curves += [point + (draws_of.diagonal - point) * step / LAST_STEPS for step in range(1, LAST_STEPS + 1)]
    return np.array(curves[::-1])


def _outward(draws_of: CurveDraws, quantile: float | None) -> Floats:
    """Curves from the fitted one to worse ones, each a step in the direction in which the measure rises fastest."""
    point, curves = np.zeros(len(draws_of.columns)), []
    for _ in range(STEPS_UP):
        point = point + STEP_UP * _steepest(draws_of, point, quantile)
        curves.append(point)
    return np.array(curves)


def _share_quantiles(gaps: Floats, share: Floats, wanted: float) -> Floats:
    """The quantile of distances (curves, groups) of groups with these shares, curve by curve."""
    order = np.argsort(gaps, axis=1, kind="stable")
    sizes, rising = share[order], np.take_along_axis(gaps, order, axis=1)
    places = np.cumsum(sizes, axis=1) - sizes / 2
    last = gaps.shape[1] - 1
    above = np.clip((places < wanted).sum(axis=1), min(1, last), last)[:, None]
    below = np.maximum(above - 1, 0)
    low, high = (np.take_along_axis(rising, at, axis=1)[:, 0] for at in (below, above))
    start, end = (np.take_along_axis(places, at, axis=1)[:, 0] for at in (below, above))
    part = np.divide(wanted - start, end - start, out=np.zeros_like(start), where=end > start)
    return np.asarray(low + np.clip(part, 0, 1) * (high - low))


QUANTILES_OF_ERRORS: dict[str, float | None] = {"ici": None, "e50": 0.5, "e90": 0.9}


@dataclass(frozen=True)
class ErrorTests:
    """What the tests of one hospital's calibration errors share: the curves, and one noise for all of them."""

    curves: CurveDraws
    n: int
    noise: Floats
    """Of the coefficients: (draws, coefficients)."""
    rows: Floats
    """Of the mean over the rows: (draws)."""
    below: dict[float, Floats]
    """The share of n random rows that lies below a quantile of the population, for each quantile: (draws)."""


def _bounds_of_errors(
    values: dict[str, float],
    gaps: Floats,
    risk: Floats,
    smooth: SmoothCurve,
    level: float,
    bootstrap: int,
    seed: int,
    design: Design,
) -> dict[str, tuple[float, float]]:
    """The bounds of the four calibration errors; `risk` is sorted, `gaps` are the distances at each."""
    tests = _tests(gaps, risk, smooth, bootstrap, seed, design)
    curves, n = tests.curves, tests.n
    inward = _inward(curves)

    @lru_cache(maxsize=len(inward))
    def around(index: int) -> Floats:
        return _around(curves, inward[index], tests.noise, n)

    def bounds(name: str, unused: float) -> tuple[float, float]:
        return _bounds_of_error(tests, name, values[name], inward, around, level, unused)

    found = {"ici": bounds("ici", UNUSED)}
    # Where the mean distance refutes perfect calibration a quantile of the distances need not do so once more.
    unused = 1.0 if found["ici"][0] > 0 else UNUSED
    found |= {name: bounds(name, unused) for name in ("e50", "e90")}
    # Of risks that a test kept because their distance was small, curves are drawn around what is seen.
    low, high = found["ici"]
    drawn = np.einsum("bm,m->b", around(len(inward) - 1), curves.share)
    found["ici_of_update"] = low, max(high, float(np.quantile(drawn, level if low == 0 else (1 + level) / 2)))
    least, most = largest_distance.bounds_of_the_largest(risk, smooth, curves, n * curves.share, tests.noise, level)
    if least > 0:
        # The largest distance is never below the mean one, whose test may know more of it.
        least = max(least, found["ici"][0])
    return {**found, "emax": (min(least, values["emax"]), max(most, values["emax"]))}


def _tests(gaps: Floats, risk: Floats, smooth: SmoothCurve, bootstrap: int, seed: int, design: Design) -> ErrorTests:
    n, rng = len(risk), np.random.default_rng(seed)
    curves = _curve_draws(risk, smooth, None if design.weights is None else design.relative_weights)
    worth = n if design.is_simple else design.rows_worth(gaps - design.mean(gaps))
    noise, rows = rng.standard_normal((bootstrap, len(curves.columns))), rng.standard_normal(bootstrap)
    below = {part: rng.beta(worth * part, worth * (1 - part), bootstrap) for part in (0.5, 0.9)}
    if not design.is_simple:
        # The noise of coefficients of clustered or weighted rows, whose standard errors are their own and uncertain.
        # Around the fitted curve it has a spread of one in every direction, elsewhere as much more as independent rows
        # have.
        root = curves.smoother.known(curves.columns, n * curves.share, curves.smoother.back(curves.fitted))
        scale = np.sqrt(smooth.freedom / rng.chisquare(smooth.freedom, len(noise)))
        noise, rows = np.asarray(np.einsum("bk,kj->bj", noise * scale[:, None], root)), rows * math.sqrt(n / worth)
    return ErrorTests(curves, n, noise, rows, below)


@register.absent_with_its_parts
def bounds_after_update(
    outcome: Floats, risk: Floats, changed: int, level: float, bootstrap: int, seed: int, design: Design
) -> tuple[float, float] | Absent:
    """The bounds of the mean distance of risks of which so many coefficients, from the intercept on, fit these rows.

    In these directions curve and risks err together: nothing is seen of it here, and in all patients it is as large as
    the error of the update, which is drawn. What else lies between curve and risks is seen, and each size of it is as
    likely as the tests of all that are smaller leave it (a confidence distribution). The bounds are quantiles of both
    together; the lower one is 0 unless something is shown beside the error of the update.
    """
    smooth = register.present(smooth_curve(outcome, risk, None, None if design.is_simple else design))
    gaps = np.abs(curve_at(smooth, risk) - risk)
    tests = _tests(gaps, risk, smooth, bootstrap, seed, design)
    curves, tail = tests.curves, (1 - level) / 2
    single, share = np.eye(len(curves.columns)), curves.share
    towards = np.linalg.qr(np.hstack((np.linalg.solve(smooth.fit.root, single[:, :changed]), single)))[0].T
    unseen, seen = towards[:changed], towards[changed:]
    along = logistic.combine(unseen, curves.columns)
    moves = logistic.combine(np.einsum("bk,jk->bj", tests.noise, unseen), along)
    fitted = curves.fitted + logistic.combine((unseen @ curves.diagonal)[None, :], along)[0]
    lines, chances, shown = fitted[None, :], np.ones(1), 0.0
    if len(seen):
        columns = logistic.combine(seen, curves.columns)
        rest = replace(curves, columns=columns, fitted=fitted, diagonal=seen @ curves.diagonal)
        tests = replace(tests, curves=rest, noise=np.einsum("bk,jk->bj", tests.noise, seen))
        points = np.concatenate((_inward(rest), _outward(rest, None)))
        true = _gaps(rest, points)
        results = [
            _results(tests, each, _around(rest, point, tests.noise, tests.n))
            for each, point in zip(true, points, strict=True)
        ]
        distance = float(np.sum(_gaps(rest, np.zeros((1, len(seen))))[0] * share))
        shown = float(np.mean(results[0] <= distance))
        # What lies closer to the best truth than it usually does is luck, on which no bound may rest.
        distance = max(distance, float(np.quantile(results[0], LEAST_CHANCE)))
        smaller = np.maximum.accumulate([float(np.mean(each > distance)) for each in results])
        smaller[-1] = 1.0
        between = np.diff(smaller) / 2
        chances = np.append(0.0, between) + np.append(between, 0.0)
        chances[0] += smaller[0]
        lines = fitted + logistic.combine(points, rest.columns)
    lines, chances = lines[chances > 0], chances[chances > 0]
    drawn = [np.sum(np.abs(curves.smoother.back(line + moves) - curves.risk) * share, axis=1) for line in lines]
    weights = np.repeat(chances, bootstrap)
    low, high = (quantile_of(np.concatenate(drawn), weights, part) for part in (tail, 1 - tail))
    return low if shown >= level else 0.0, min(high, 1.0)


def _bounds_of_error(
    tests: ErrorTests,
    name: str,
    value: float,
    inward: Floats,
    around: Callable[[int], Floats],
    level: float,
    unused: float,
) -> tuple[float, float]:
    """The bounds of one error but the largest; `around` gives what is drawn around the curves of `inward`."""
    tail, quantile = (1 - level) / 2, QUANTILES_OF_ERRORS[name]
    line = np.concatenate((inward, _outward(tests.curves, quantile)))
    true = _gaps(tests.curves, line)
    heights = _heights(name, true, tests.curves.share)
    # The line of curves starts at the diagonal itself, and its heights are made to rise all through.
    heights[0] = 0.0

    @cache
    def at_most(index: int) -> Callable[[float], float]:
        drawn = around(index) if index < len(inward) else _around(tests.curves, line[index], tests.noise, tests.n)
        return _at_most(tests, name, true[index], drawn)

    farther = None if quantile is None else _farther(tests, name, level)
    rising = np.maximum.accumulate(heights)
    return inverted(lambda index, seen: at_most(index)(seen), rising, value, tail, farther, unused)


def _at_most(tests: ErrorTests, name: str, true: Floats, drawn: Floats) -> Callable[[float], float]:
    """How probable a value up to a seen one is: `true` (groups) and `drawn` (draws, groups) are distances."""
    share, quantile = tests.curves.share, QUANTILES_OF_ERRORS[name]
    if quantile is not None:
        below = tests.below[quantile]
        return lambda seen: float((np.einsum("bm,m->b", (drawn <= seen).astype(float), share) >= below).mean())
    results = _results(tests, true, drawn)
    return lambda seen: float((results <= seen).mean())


def _results(tests: ErrorTests, true: Floats, drawn: Floats) -> Floats:
    """The mean distances that are seen where these distances are true (groups), and these drawn (draws, groups)."""
    share = tests.curves.share
    spread = math.sqrt(float(np.sum((true - float(np.sum(true * share))) ** 2 * share)) / tests.n)
    return np.asarray(np.einsum("bm,m->b", drawn, share) + spread * tests.rows)


def _farther(tests: ErrorTests, name: str, level: float) -> Callable[[float, float], float]:
    """What raises the upper bound of a quantile of the distances: the worst curve elsewhere that is not refuted."""
    elsewhere = _elsewhere(tests.curves, tests.noise, name, level)

    def farther(seen: float, high: float) -> float:
        for point in _some_above(*elsewhere, high):
            gaps = _gaps(tests.curves, point[None, :])
            found = _around(tests.curves, point, tests.noise, tests.n)
            if _at_most(tests, name, gaps[0], found)(seen) > (1 - level) / 2:
                return float(_heights(name, gaps, tests.curves.share)[0])
        return high

    return farther


def _elsewhere(draws_of: CurveDraws, noise: Floats, name: str, level: float) -> tuple[Floats, Floats]:
    """Curves in all directions, none farther from the fitted one than the level allows, and their quantiles of the
    distances, the worst first: the rows about a quantile need not be those that would raise it most.

    `noise` gives the directions.
    """
    towards = noise[:DIRECTIONS] / np.sqrt(np.sum(noise[:DIRECTIONS] ** 2, axis=1))[:, None]
    points = np.concatenate([intervals.two_sided(level) * radius * towards for radius in RADII])
    heights = _heights(name, _gaps(draws_of, points), draws_of.share)
    order = np.argsort(-heights, kind="stable")
    return points[order], heights[order]


def _some_above(points: Floats, heights: Floats, high: float) -> Floats:
    """At most ten of the points whose falling heights lie above `high`, evenly picked from the highest on."""
    above = int((heights > high).sum())
    return points[: above : max(1, -(-above // MOST_ELSEWHERE))]


def _heights(name: str, gaps: Floats, share: Floats) -> Floats:
    """One calibration error of each of these curves, from its distances (curves, groups)."""
    quantile = QUANTILES_OF_ERRORS[name]
    if quantile is not None:
        return _share_quantiles(gaps, share, quantile)
    return np.asarray(np.einsum("km,m->k", gaps, share))


def _errors_at_each_risk(outcome: Floats, risk: Floats, level: float, design: Design) -> dict[str, Estimate]:
    """The errors of one risk for all, or of risks that are all 0 or 1: no curve lies between what there is.

    At each risk the distance is that from the observed share, whose interval is Wilson's; where all are certain their
    mean is the share of wrong answers. Each error of one risk for all is the same number with the same interval.
    """
    near = np.round(risk) if risk[0] != risk[-1] else risk
    distance = np.empty((3, len(risk)))
    for value in np.unique(near):
        rows = near == value
        here = design.of(rows)
        seen = here.mean(risk[rows])
        # A unit that is alone at its risk varies as the others do.
        share, low, high = _wilson(outcome[rows] == 1, here, level, here.freedom or design.freedom)
        ends = abs(low - seen), abs(high - seen)
        distance[:, rows] = [[abs(share - seen)], [0.0 if low < seen < high else min(ends)], [max(ends)]]
    found = np.transpose([list(_summary(each, design).values()) for each in distance])
    if risk[0] != risk[-1]:
        found[0] = _wilson(outcome != near, design, level, design.freedom)
    method, details = design.as_sampled(facts.Method("observed_at_each_risk", "wilson")), {"knots": 0.0}
    return {
        name: replace(estimate_from_tests(value, low, high, level, outcome, method), details=details)
        for name, (value, low, high) in zip(ERRORS, found.tolist(), strict=True)
    }


def _wilson(member: NDArray[np.bool_], design: Design, level: float, freedom: float) -> tuple[float, float, float]:
    """The share of these rows with Wilson's interval at its effective number of rows."""
    shares, covariance = design.shares(member[None, :])
    rows = effective_rows(np.ones(1), shares, covariance, design.rows, design.effective_units)
    low, high = intervals.wilson_bounds(shares, rows, intervals.two_sided_student(level, freedom))
    return float(shares[0]), float(low[0]), float(high[0])


@once.once
@register.absent_with_its_parts
def errors_with_intervals(
    outcome: Floats, risk: Floats, level: float, bootstrap: int, seed: int, design: Design | None = None
) -> dict[str, Estimate] | Absent:
    """The four calibration errors in one pass over rows sorted by risk and outcome, all of them with a weight."""
    sampled = design or Design(len(outcome))
    reason, obstacle = register.one_class(outcome), sampled.obstacle()
    plain = reason is None and obstacle is None and sampled.censoring is None
    if plain and (risk[0] == risk[-1] or not logistic.has_logit(risk).any()):
        return _errors_at_each_risk(outcome, risk, level, sampled)
    smooth = register.present(smooth_curve(outcome, risk, None, design))
    gaps = np.abs(curve_at(smooth, risk) - risk)
    values = _summary(gaps, sampled)
    details: dict[str, float | None] = {"knots": len(smooth.knots)}
    if bootstrap == resampling.VALUE_ALONE or obstacle is not None:
        n, events, why = len(outcome), int(outcome.sum()), obstacle or NO_DRAWS
        return {
            name: Estimate(values[name], None, None, None, n, smooth.method, events, details=details, reason=why)
            for name in ERRORS
        }
    bounds = _bounds_of_errors(values, gaps, risk, smooth, level, bootstrap, seed, sampled)
    method = sampled.as_sampled(smooth.method + by_tests(bootstrap))
    beside = {"emax": "wide_at_maximum", **({} if sampled.censoring is None else {"e50": "short_at_median"})}
    methods = {name: method + beside[name] if name in beside else method for name in ERRORS}
    found = {name: estimate_from_tests(values[name], *bounds[name], level, outcome, methods[name]) for name in ERRORS}
    return {name: replace(estimate, details={**estimate.details, **details}) for name, estimate in found.items()}
