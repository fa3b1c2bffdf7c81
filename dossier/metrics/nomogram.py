"""The model as points that are added up, and whether its formula gives the risks that were tested."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from dossier.bands import SAME_RISK
from dossier.register import metric
from dossier.types import Absent, Curve, Description, Estimate, Feature, Floats

if TYPE_CHECKING:
    from dossier.release import Model, ModelTerm

WIDEST = 100.0
"""The points of the predictor with the widest effect."""

FEW_VALUES = 10
"""A predictor of whole numbers with at most so many different ones is read value by value, like categories."""

FEWEST_BEYOND = 5
"""Patients at or beyond each end of an axis, that no end is one patient's value."""

GRID = 181
MARKS = 16
COARSE = 5
APART = 8.0
"""Points by which a finer round number must differ from its neighbours to be marked."""

WIGGLE = 0.5
"""Points below which a turn of a curve is not told apart from a straight axis."""

RISKS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98),
    *(0.99, 0.995, 0.998, 0.999),
)


# ---- the formula ----------------------------------------------------------------------------------------------------


def spline_columns(values: Floats, knots: Sequence[float]) -> Floats:
    """The columns of a restricted cubic spline in Harrell's form: the value, then one for each knot but two.

    `values` (n,) and `knots` (k, increasing) are in the predictor's unit; (n, k - 1) comes back. The cubic columns are
    divided by the squared distance of the outer knots, so that they are in the unit of the predictor. Source: Harrell,
    Regression Modeling Strategies, 2015, section 2.4.5.
    """
    first, before, last = knots[0], knots[-2], knots[-1]

    def cube(knot: float) -> Floats:
        return np.maximum(values - knot, 0.0) ** 3

    curved = [
        (cube(knot) - (cube(before) * (last - knot) - cube(last) * (before - knot)) / (last - before))
        / (last - first) ** 2
        for knot in knots[:-2]
    ]
    return np.column_stack([values, *curved])


def effect(term: ModelTerm, feature: Feature) -> Floats:
    """What a predictor adds to the linear predictor in each row, on the scale of log odds; NaN where it is missing.

    A category that the term does not name adds 0.
    """
    if term.levels is not None:
        return _effect_of_levels(term.levels, feature)
    values = _transformed(_numbers(feature), term.transform)
    if term.knots is None:
        return np.asarray((term.coefficient or 0.0) * values)
    return np.asarray(spline_columns(values, term.knots) @ np.array(term.coefficients))


def _transformed(values: Floats, transform: str | None) -> Floats:
    match transform:
        case "log":
            return np.asarray(np.log(values))
        case "sqrt":
            return np.asarray(np.sqrt(values))
        case "square":
            return np.asarray(np.square(values))
        case _:
            return values


def _effect_of_levels(levels: Mapping[str, float], feature: Feature) -> Floats:
    found = np.where(np.isnan(feature.values), math.nan, 0.0)
    for name, coefficient in levels.items():
        if feature.levels is None:
            found[feature.values == float(name)] = coefficient
        elif name in feature.levels:
            found[feature.values == feature.levels.index(name)] = coefficient
    return found


def _numbers(feature: Feature) -> Floats:
    """The numbers of a feature, those of categories that are numbers included."""
    if feature.levels is None:
        return feature.values
    numbers = np.array([*map(float, feature.levels), math.nan])
    codes = np.where(np.isnan(feature.values), len(feature.levels), feature.values).astype(int)
    return np.asarray(numbers[codes])


def linear_predictor(model: Model, predictors: Sequence[Feature]) -> Floats | Absent:
    """The linear predictor of each row, in log odds: intercept plus effects; NaN where a predictor is missing."""
    features = {feature.name: feature for feature in predictors}
    lacking = [term.predictor for term in model.term if term.predictor not in features]
    if len(lacking) == len(model.term):
        return Absent("the site gives none of the formula's predictors")
    if lacking:
        return Absent(f"the formula needs {', '.join(lacking)}, which the site does not give")
    return np.asarray(model.intercept + sum(effect(term, features[term.predictor]) for term in model.term))


@metric(
    "Largest difference from the formula's risk",
    digits=4,
    range=(0, 1),
    best="lower",
    tier="descriptive",
    roles=("external",),
    breaks=("perfect is best", "narrower with more rows", "one class is absent"),
    cites="Harrell 2015",
    formula="max of |p - expit(a + Σ f(x))|, f(x) the terms of [model]",
)
def formula_difference(model: Model, risk: Floats, predictors: Sequence[Feature]) -> Estimate | Absent:
    """The largest difference between a patient's tested risk and the risk that the model's declared formula gives.

    `model` has the intercept and the terms, `risk` (n, 0 to 1) the tested risks, `predictors` the features of the
    site. The formula's risk is 1 / (1 + exp(-linear predictor)). Rows that miss a predictor of the model are left out
    and counted in the detail `left_out`; `differing` counts the rows that differ by more than 0.001. n is the number of
    rows compared; there is no interval, because nothing is estimated. Absent when the site does not give a predictor of
    the model, or no row has them all.
    """
    linear = linear_predictor(model, predictors)
    if isinstance(linear, Absent):
        return linear
    known = ~np.isnan(linear)
    if not known.any():
        return Absent("no row has every predictor of the formula")
    apart = np.abs(expit(linear[known]) - risk[known])
    return Estimate(
        value=float(apart.max()),
        low=None,
        high=None,
        level=None,
        n=int(known.sum()),
        method="formula recomputed row by row",
        details={"differing": float((apart > SAME_RISK).sum()), "left_out": float((~known).sum())},
        reason="nothing is estimated",
    )


# ---- the axes -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Axis:
    """One predictor of the nomogram: its values with what each adds to the linear predictor."""

    predictor: str
    values: Floats
    """Numbers in increasing order; for categories their places 0, 1, 2 ..."""
    effects: Floats
    marked: NDArray[np.bool_]
    """Which values are marked on the axis: round numbers, both ends, and turns."""
    turns: NDArray[np.bool_]
    n: int
    steps: tuple[float, ...] = ()
    """The round steps between marks, from coarse to fine."""
    levels: tuple[str, ...] | None = None

    @property
    def width(self) -> float:
        """The distance between the smallest and the largest effect, in log odds."""
        return float(self.effects.max() - self.effects.min())


@dataclass(frozen=True)
class Nomogram:
    """The axes of a model on one scale of points."""

    axes: tuple[Axis, ...]
    per_unit: float
    """Points per unit of the linear predictor."""
    zero: float
    """The linear predictor at 0 points in total."""

    def points(self, axis: Axis) -> Floats:
        """The points of each value of an axis: 0 for its smallest effect."""
        return np.asarray((axis.effects - axis.effects.min()) * self.per_unit)

    @property
    def total(self) -> float:
        """The largest total."""
        return sum(float(self.points(axis).max()) for axis in self.axes)


def nomogram(model: Model, reference: Mapping[str, Feature]) -> Nomogram | Absent:
    """The points of every predictor of a model: 100 for the widest effect, 0 for the smallest effect of each.

    `reference` holds each predictor in the rows that say how far its axis reaches: from its 10th smallest to its 10th
    largest value (of fewer than 200 rows from the 5th to the 95th percentile), with five or more rows at or beyond.
    Absent when no predictor changes the risk.
    """
    pairs = [(term, axis(term, reference[term.predictor])) for term in model.term]
    rough = scaled(model.intercept, tuple(one for _, one in pairs))
    if isinstance(rough, Absent):
        return rough
    return scaled(model.intercept, tuple(_with_marks(term, one, rough.per_unit) for term, one in pairs))


def scaled(intercept: float, axes: tuple[Axis, ...]) -> Nomogram | Absent:
    """The axes on one scale of points, 100 for the widest."""
    widest = max(axis.width for axis in axes)
    if not widest > 0:
        return Absent("no predictor of the formula changes the risk")
    return Nomogram(axes, WIDEST / widest, intercept + sum(float(axis.effects.min()) for axis in axes))


def axis(term: ModelTerm, feature: Feature) -> Axis:
    """The values of one predictor with their effects: categories one by one, numbers on a dense grid."""
    known = feature.values[~np.isnan(feature.values)]
    if feature.levels is not None:
        codes = np.arange(len(feature.levels), dtype=np.float64)
        return _by_value(term, Feature(feature.name, codes, feature.levels), feature.levels, len(known))
    different = np.unique(known)
    whole = bool((different == np.round(different)).all())
    if term.levels is not None:
        return _number_by_number(term, feature.name, different, len(known))
    if len(different) < 2 or (len(different) <= FEW_VALUES and whole):
        return _number_by_number(term, feature.name, _held_by_some(known), len(known))
    low, high = ends(known)
    if low == high:
        return _number_by_number(term, feature.name, np.array([low]), len(known))
    values = np.linspace(low, high, GRID)
    effects = effect(term, Feature(feature.name, values))
    steps = _ladder(high - low, whole)
    return Axis(
        term.predictor, values, effects, np.zeros(GRID, dtype=bool), np.zeros(GRID, dtype=bool), len(known), steps
    )


def _held_by_some(known: Floats) -> Floats:
    """The different values but those beyond which, themselves included, fewer than five patients lie.

    The 1 of an indicator stays however rare it is: that it can be 1 is nothing that a patient told.
    """
    different, counts = np.unique(known, return_counts=True)
    if set(different.tolist()) <= {0.0, 1.0}:
        return different
    below = np.cumsum(counts)
    inside = (below >= FEWEST_BEYOND) & (below[-1] - below + counts >= FEWEST_BEYOND)
    return different[inside] if inside.any() else different


def _number_by_number(term: ModelTerm, name: str, values: Floats, n: int) -> Axis:
    return _by_value(term, Feature(name, values), tuple(f"{one:.12g}" for one in values), n)


def _by_value(term: ModelTerm, feature: Feature, levels: tuple[str, ...], n: int) -> Axis:
    every = np.ones(len(levels), dtype=bool)
    values = np.arange(len(levels), dtype=np.float64)
    return Axis(term.predictor, values, effect(term, feature), every, ~every, n, levels=levels)


def ends(values: Floats) -> tuple[float, float]:
    """From where to where an axis runs: from the 10th smallest value to the 10th largest, to three digits of the span.

    Of fewer than 200 values from the 5th to the 95th percentile, but at least five values lie at or beyond either end,
    of fewer than ten as many as can. Where these are one value, from the 5th smallest to the 5th largest. The digits
    are cut inwards, so that a logarithm of the lower end exists wherever that of the value does. Twice the same number
    where nearly all values are that one.
    """
    ordered = np.sort(values)
    fewest = min(FEWEST_BEYOND - 1, (len(values) - 1) // 2)
    place = 9 if len(values) >= 200 else max(fewest, round(0.05 * (len(values) - 1)))
    if ordered[place] == ordered[-1 - place]:
        place = fewest
    low, high = float(ordered[place]), float(ordered[-1 - place])
    if low == high:
        return low, high
    digits = _digits(high - low)
    step = 10.0**-digits
    return round(math.ceil(low / step - 1e-9) * step, digits), round(math.floor(high / step + 1e-9) * step, digits)


def _digits(span: float) -> int:
    """The decimals that give a span three digits."""
    return 2 - math.floor(math.log10(span))


def _ladder(span: float, whole: bool) -> tuple[float, ...]:
    """Round steps from coarse to fine: 20, 10, 5, 2, 1 ..."""
    power = math.floor(math.log10(span / COARSE))
    steps = [digit * 10.0**exponent for exponent in range(power + 1, power - 3, -1) for digit in (5, 2, 1)]
    return tuple(step for step in steps if step <= span / COARSE * 1.5 and (step >= 1 or not whole))[:6] or (1.0,)


def _multiples(low: float, high: float, step: float) -> Floats:
    """The multiples of a step between low and high; those that are low or high may be lost to rounding."""
    first, last = math.ceil(low / step), math.floor(high / step)
    return np.round(np.arange(first, last + 1) * step, _digits(step))


def _with_marks(term: ModelTerm, axis: Axis, per_unit: float) -> Axis:
    """The axis with its marks: ends, turns, coarse round numbers, and finer ones where points change fast."""
    if axis.levels is not None:
        return axis
    low, high = float(axis.values[0]), float(axis.values[-1])
    digits = _digits(high - low)
    turns = {round(float(axis.values[place]), digits) for place in turning_points(axis.effects * per_unit)} - {
        low,
        high,
    }

    def points(values: Sequence[float]) -> Floats:
        return effect(term, Feature(axis.predictor, np.array(values, dtype=np.float64))) * per_unit

    chosen = {low, high, *turns}
    for rank, step in enumerate(axis.steps):
        for number in map(float, _multiples(low, high, step)):
            nearest = [max(one for one in chosen if one <= number), min(one for one in chosen if one >= number)]
            here, *beside = points([number, *nearest, max(number - step, low), min(number + step, high)])
            apart = [abs(here - one) for one in beside]
            # Where points change slowly a finer number would stand there alone, as 8.9 between 8 and 9.7.
            is_steep = max(apart[2:]) >= APART / 2
            if rank == 0 or (len(chosen) < MARKS and min(apart[:2]) >= APART and is_steep):
                chosen.add(number)
    values = np.unique(np.concatenate([axis.values, np.array(sorted(chosen))]))
    effects = effect(term, Feature(axis.predictor, values))
    return Axis(
        axis.predictor,
        values,
        effects,
        np.isin(values, list(chosen)),
        np.isin(values, list(turns)),
        axis.n,
        axis.steps,
    )


def turning_points(points: Floats) -> list[int]:
    """The places inside at which a curve of points turns, wiggles of less than half a point left out."""
    found: list[int] = []
    extreme, direction = 0, 0
    for place in range(1, len(points)):
        step = float(points[place] - points[extreme])
        if direction and step * direction >= 0:
            extreme = place
        elif abs(step) >= WIGGLE:
            found += [extreme] if direction else []
            direction, extreme = (1 if step > 0 else -1), place
    return found


# ---- what results.json holds ----------------------------------------------------------------------------------------


def method(found: Nomogram) -> str:
    """How the points were made, for every curve of the nomogram."""
    return f"100 points for the widest effect, {found.per_unit:.6g} points a unit of the linear predictor"


def axis_curve(found: Nomogram, axis: Axis) -> Curve:
    """The points of a numeric predictor along its axis.

    Columns: `value` in the predictor's unit, increasing; `points`, 0 to 100; `marked`, 1 where the axis has a mark;
    `turn`, 1 where points turn from rising to falling or back.
    """
    columns = {"value": axis.values, "points": found.points(axis), "marked": axis.marked, "turn": axis.turns}
    return Curve({name: tuple(map(float, column)) for name, column in columns.items()}, n=axis.n, method=method(found))


def level_points(found: Nomogram, axis: Axis) -> tuple[Description, ...]:
    """The points of each category of a predictor, 0 to 100; nothing of a numeric one."""
    if axis.levels is None:
        return ()
    pairs = zip(axis.levels, found.points(axis), strict=True)
    return tuple(Description(axis.predictor, "points", float(points), axis.n, level) for level, points in pairs)


def total_curve(found: Nomogram) -> Curve:
    """The linear predictor (log odds) and the risk (0 to 1) at 101 totals from 0 to the largest."""
    total = np.linspace(0.0, found.total, 101)
    return _totals(found, total)


def risk_curve(found: Nomogram, thresholds: Sequence[float]) -> Curve | Absent:
    """The total points at round risks and at the declared thresholds, those that the totals reach.

    Absent when they reach none.
    """
    risks = np.unique(np.array([*RISKS, *thresholds]))
    total = (logit(risks) - found.zero) * found.per_unit
    inside = (total >= 0) & (total <= found.total)
    if not inside.any():
        return Absent("the totals reach no round risk")
    curve = _totals(found, total[inside])
    # The declared numbers themselves, not what is left of them after going to points and back.
    exact = {"risk": risks[inside], "linear_predictor": logit(risks[inside])}
    return Curve(
        {**curve.columns, **{name: tuple(map(float, column)) for name, column in exact.items()}}, curve.n, curve.method
    )


def _totals(found: Nomogram, total: Floats) -> Curve:
    linear = found.zero + total / found.per_unit
    columns = {"total_points": total, "linear_predictor": linear, "risk": expit(linear)}
    return Curve(
        {name: tuple(map(float, column)) for name, column in columns.items()},
        n=max(axis.n for axis in found.axes),
        method=method(found),
    )
