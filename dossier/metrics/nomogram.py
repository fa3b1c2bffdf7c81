"""The model as points that are added up, and whether its formula gives the risks that were tested."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import NDArray

from dossier.core import bands, equation, facts, register
from dossier.core.types import Absent, Curve, Description, Estimate, Feature, Floats
from dossier.metrics import intervals, logistic

if TYPE_CHECKING:
    from dossier.core.release import Model, ModelTerm

WIDEST = 100.0
"""The points of the predictor with the widest effect."""

FEW_VALUES = 10
"""A predictor of whole numbers with at most so many different ones is read value by value, like categories."""

FEWEST_BEYOND = 5
"""Patients at or beyond each end of an axis, that no end is one patient's value."""

LARGEST_LOGARITHM = 230.0
"""A logarithm above it is of no number that a measurement gives."""

GRID = 181
MARKS = 16
COARSE = 5
APART = 8.0
"""Points by which a finer round number must differ from its neighbours to be marked."""

WIGGLE = 0.5
"""Points below which a turn of a curve is not distinguished from a straight axis."""

RISKS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98),
    *(0.99, 0.995, 0.998, 0.999),
)


# ---- the formula ----------------------------------------------------------------------------------------------------


@register.metric(
    roles=("external",),
    breaks=("perfect is best", "narrower with more rows", "one class is absent"),
    clustered="as it is",
)
def formula_difference(model: Model, risk: Floats, predictors: Sequence[Feature]) -> Estimate | Absent:
    """The largest difference between a patient's tested risk and the risk that the model's declared formula gives.

    `model` has the intercept and the terms, `risk` (n, 0 to 1) the tested risks, `predictors` the features of the site.
    The formula's risk is 1 / (1 + exp(-linear predictor)), or 1 - S^exp(terms - centre), S the baseline survival. Rows
    that miss a predictor of the model are left out and counted in the detail `left_out`; `differing` counts the rows
    that differ by more than 0.001, or half a unit of the last decimal that all risks, or their log odds, are printed
    with: then `tolerated` says by how much. n is the number of rows compared; there is no interval, because nothing is
    estimated. Absent when the site does not give a predictor of the model, or no row has them all.

    Parameters
    ----------
    model : Model
        The formula of the model.
    """
    linear = register.present(equation.linear_predictor(model, predictors))
    known = ~np.isnan(linear)
    if not known.any():
        return Absent(facts.Fact("no_row_with_every_predictor"))
    given = risk[known]
    apart = np.abs(logistic.LINKS[model.link].back(linear[known]) - given)
    # A step of log odds is a quarter as large a step of risk, where that is largest.
    of_log_odds = (
        bands.last_digit(scipy.special.logit(given), 1, 1e-9) / 4 if ((given > 0) & (given < 1)).all() else 0.0
    )
    tolerated = max(bands.SAME_RISK, bands.last_digit(given), of_log_odds)
    details = {"differing": float((apart > tolerated).sum()), "left_out": float((~known).sum())}
    details |= {"tolerated": tolerated} if tolerated > bands.SAME_RISK else {}
    method, reason = facts.Method("formula_recomputed"), facts.Fact("nothing_estimated")
    return intervals.without_interval(float(apart.max()), int(known.sum()), method, reason, details=details)


# ---- the axes -------------------------------------------------------------------------------------------------------


Effect = Callable[[Floats], Floats]
"""What each of these numbers of a predictor adds to the linear predictor."""


@dataclass(frozen=True)
class Axis:
    """One axis of the nomogram: the values of a predictor with what each adds to the linear predictor.

    Of a product the predictors share the axes: one for each value of the one, with the numbers of the other along it;
    or, where both have few values, a single axis of the pairs of values.
    """

    predictor: str
    values: Floats
    """Numbers in increasing order; for categories their places 0, 1, 2 ..."""
    effects: Floats
    marked: NDArray[np.bool_]
    """Which values are marked on the axis: round numbers, both ends, turns, and where a slope changes."""
    turns: NDArray[np.bool_]
    n: int
    steps: tuple[float, ...] = ()
    """The round steps between marks, from coarse to fine."""
    levels: tuple[str, ...] | None = None
    breaks: tuple[float, ...] = ()
    """The numbers inside at which a slope changes, as the formula declares them."""
    group: tuple[str, ...] = ()
    """The predictors whose product it shows; empty for a predictor in no product."""
    beside: tuple[str, str] | None = None
    """The other predictor of the product and its value, for which alone the axis holds."""

    @property
    def width(self) -> float:
        """The distance between the smallest and the largest effect, in log odds."""
        return float(self.effects.max() - self.effects.min())

    @property
    def at(self) -> dict[str, str]:
        """What names the axis among the curves of results.json."""
        named = {} if self.beside is None else {"with": self.beside[0], "level": self.beside[1]}
        return {"predictor": self.predictor, **named}


@dataclass(frozen=True)
class Nomogram:
    """The axes of a model on one scale of points."""

    axes: tuple[Axis, ...]
    per_unit: float
    """Points per unit of the linear predictor."""
    zero: float
    """The linear predictor at 0 points in total."""
    link: logistic.Link
    """The way from there to the risk."""

    def points(self, axis: Axis) -> Floats:
        """The points of each value of an axis: 0 for the smallest effect, of a product that of all its axes."""
        product = [member for member in self.axes if member.group == axis.group] if axis.group else [axis]
        smallest = min(float(member.effects.min()) for member in product)
        return np.asarray((axis.effects - smallest) * self.per_unit)

    @property
    def total(self) -> float:
        """The largest total: a patient is on one axis of each product."""
        return sum(max(float(self.points(member).max()) for member in group) for group in _groups(self.axes))


def _groups(axes: Sequence[Axis]) -> list[tuple[Axis, ...]]:
    """The axes, those of one product together."""
    found: dict[tuple[str, ...], tuple[Axis, ...]] = {}
    for member in axes:
        key = member.group or (member.predictor,)
        found[key] = (*found.get(key, ()), member)
    return list(found.values())


@register.absent_with_its_parts
def nomogram(model: Model, reference: Mapping[str, Feature]) -> Nomogram | Absent:
    """The points of every predictor of a model: 100 for the widest effect, 0 for the smallest effect of each.

    `reference` holds each predictor in the rows that say how far its axis reaches: from its 10th smallest to its 10th
    largest value (of fewer than 200 rows from the 5th to the 95th percentile), with five or more rows at or beyond;
    a floor and a cap end it. Absent when no predictor changes the risk, when a product is of two predictors with many
    values each, or when products join three predictors or more: no axis can show these.
    """
    drawn: list[tuple[Effect, Axis]] = []
    for group in model.groups:
        found = register.present(_axes_of(model, group, reference))
        drawn += found
    rough = register.present(scaled(model.constant, tuple(member for _, member in drawn)))
    marked = tuple(_with_marks(of, member, rough.per_unit) for of, member in drawn)
    return scaled(model.constant, marked, logistic.LINKS[model.link])


def scaled(constant: float, axes: tuple[Axis, ...], link: logistic.Link = logistic.LOGIT) -> Nomogram | Absent:
    """The axes on one scale of points, 100 for the widest effect, of a product that of all its axes."""
    spans = [
        (min(float(member.effects.min()) for member in group), max(float(member.effects.max()) for member in group))
        for group in _groups(axes)
    ]
    widest = max(high - low for low, high in spans)
    if not widest > 0:
        return Absent(facts.Fact("no_predictor_changes_risk"))
    return Nomogram(axes, WIDEST / widest, constant + sum(low for low, _ in spans), link)


def _axes_of(
    model: Model, group: tuple[str, ...], reference: Mapping[str, Feature]
) -> list[tuple[Effect, Axis]] | Absent:
    """The axes of a predictor, or of two whose product stands in the formula."""
    terms = tuple(term for term in model.term if term.predictor in group)
    if len(group) == 1:
        (term,), feature = terms, reference[group[0]]
        return [(lambda values: equation.effect(term, Feature(feature.name, values)), axis(term, feature))]
    if len(group) > 2:
        return Absent(facts.Fact("products_of_many_predictors", predictors=group))
    of_levels = {term.with_ or term.predictor for term in terms if term.levels is not None}
    listed = {name: _one_by_one(reference[name], name in of_levels) for name in group}
    by_value = {name: feature for name, feature in listed.items() if feature is not None}
    if len(by_value) == 2:
        return [_pairs(terms, by_value[group[0]], by_value[group[1]], reference)]
    if not by_value:
        return Absent(facts.Fact("product_of_two_numbers", predictors=group))
    (name, partner), carrier = next(iter(by_value.items())), next(other for other in group if other not in by_value)
    reach = model.reach(carrier)
    return [
        _along(terms, reference[carrier], Feature(name, partner.values[[row]], partner.levels), label, reach)
        for row, label in enumerate(_names(partner))
    ]


def _one_by_one(feature: Feature, of_levels: bool) -> Feature | None:
    """The values of a predictor that is read value by value; None of numbers that are read along an axis."""
    if feature.levels is not None:
        return Feature(feature.name, np.arange(len(feature.levels), dtype=np.float64), feature.levels)
    known = feature.values[~np.isnan(feature.values)]
    different = np.unique(known)
    if of_levels:
        return Feature(feature.name, different)
    few = len(different) < 2 or (len(different) <= FEW_VALUES and (different == np.round(different)).all())
    return Feature(feature.name, _held_by_some(known)) if few else None


def _names(feature: Feature) -> tuple[str, ...]:
    """The words for the values of a predictor that is read value by value."""
    return feature.levels if feature.levels is not None else tuple(f"{value:.12g}" for value in feature.values)


def _pairs(
    terms: Sequence[ModelTerm], first: Feature, other: Feature, reference: Mapping[str, Feature]
) -> tuple[Effect, Axis]:
    """The axis of the pairs of values of two predictors."""
    ones, others = len(first.values), len(other.values)
    pairs = {
        first.name: Feature(first.name, np.repeat(first.values, others), first.levels),
        other.name: Feature(other.name, np.tile(other.values, ones), other.levels),
    }
    effects = equation.together(terms, pairs)
    every = np.ones(len(effects), dtype=bool)
    found = Axis(
        f"{first.name} × {other.name}",
        np.arange(len(effects), dtype=np.float64),
        effects,
        every,
        ~every,
        int((~np.isnan(reference[first.name].values)).sum()),
        levels=tuple(f"{level}, {two}" for level in _names(first) for two in _names(other)),
        group=(first.name, other.name),
    )
    return lambda values: effects, found


def _along(
    terms: Sequence[ModelTerm], carrier: Feature, partner: Feature, label: str, reach: tuple[float | None, float | None]
) -> tuple[Effect, Axis]:
    """The axis of the numbers of one predictor for one value of the other."""

    def of(values: Floats) -> Floats:
        same = Feature(partner.name, np.repeat(partner.values, len(values)), partner.levels)
        return equation.together(terms, {carrier.name: Feature(carrier.name, values), partner.name: same})

    breaks = [value for term in terms if term.predictor == carrier.name for value in _breaks(term)]
    known = carrier.values[~np.isnan(carrier.values)]
    found = _of_numbers(of, carrier.name, _within(ends(known), reach), breaks, known)
    return of, replace(found, group=(carrier.name, partner.name), beside=(partner.name, label))


def axis(term: ModelTerm, feature: Feature) -> Axis:
    """The values of one predictor with their effects: categories one by one, numbers on a dense grid."""
    known = feature.values[~np.isnan(feature.values)]
    listed = _one_by_one(feature, term.levels is not None)
    if listed is not None:
        return _by_value(term, listed, len(known))
    low, high = _within(ends(known), (term.floor, term.cap))
    if low == high:
        return _by_value(term, Feature(feature.name, np.array([low])), len(known))

    def of(values: Floats) -> Floats:
        return equation.effect(term, Feature(feature.name, values))

    return _of_numbers(of, term.predictor, (low, high), _breaks(term), known)


def _of_numbers(of: Effect, name: str, between: tuple[float, float], breaks: Sequence[float], known: Floats) -> Axis:
    """An axis of numbers on a dense grid, which holds the places where a slope changes."""
    low, high = between
    inside = tuple(sorted({value for value in breaks if low < value < high}))
    values = np.union1d(np.linspace(low, high, GRID), inside) if low < high else np.array([low])
    none = np.zeros(len(values), dtype=bool)
    steps = _ladder(high - low, bool((known == np.round(known)).all())) if low < high else ()
    return Axis(name, values, of(values), none, none, len(known), steps, breaks=inside)


def _within(between: tuple[float, float], reach: tuple[float | None, float | None]) -> tuple[float, float]:
    """The ends of an axis cut at the floor and the cap, beyond which nothing changes."""
    low, high = (
        min(max(end, -math.inf if reach[0] is None else reach[0]), math.inf if reach[1] is None else reach[1])
        for end in between
    )
    return low, high


def _breaks(term: ModelTerm) -> list[float]:
    """The numbers of the predictor at which the slope of its term changes, as they were before any transform."""
    ends_of_it = [number for number in (term.floor, term.cap) if number is not None]
    segments = [_untransformed(number, term.transform) for number in term.segments or ()]
    return [*ends_of_it, *(number for number in segments if number is not None)]


def _untransformed(value: float, transform: str | None) -> float | None:
    """The number of which this is the transform; None where it is of none, or of two."""
    match transform:
        case "log":
            return math.exp(value) if value < LARGEST_LOGARITHM else None
        case "sqrt":
            return value**2 if value >= 0 else None
        case "square":
            return None
        case _:
            return value


def _held_by_some(known: Floats) -> Floats:
    """The different values but those beyond which, themselves included, fewer than five patients lie.

    The 1 of an indicator stays however rare it is: that it can be 1 says nothing of a patient.
    """
    different, counts = np.unique(known, return_counts=True)
    if set(different.tolist()) <= {0.0, 1.0}:
        return different
    below = np.cumsum(counts)
    inside = (below >= FEWEST_BEYOND) & (below[-1] - below + counts >= FEWEST_BEYOND)
    return different[inside] if inside.any() else different


def _by_value(term: ModelTerm, feature: Feature, n: int) -> Axis:
    levels = _names(feature)
    every = np.ones(len(levels), dtype=bool)
    values = np.arange(len(levels), dtype=np.float64)
    return Axis(term.predictor, values, equation.effect(term, feature), every, ~every, n, levels=levels)


def ends(values: Floats) -> tuple[float, float]:
    """From where to where an axis runs: from the 10th smallest value to the 10th largest, to three digits of the span.

    Of fewer than 200 values from the 5th to the 95th percentile, but at least five values lie at or beyond either end,
    of fewer than ten as many as can. Where these are one value, from the 5th smallest to the 5th largest. The digits
    are cut inwards, so that a logarithm of the lower end exists wherever that of the value does. Twice the same number
    where nearly all values are that one.
    """
    ordered = np.sort(values)
    fewest = min(FEWEST_BEYOND - 1, (len(values) - 1) // 2)
    rank = 9 if len(values) >= 200 else max(fewest, round(0.05 * (len(values) - 1)))
    if ordered[rank] == ordered[-1 - rank]:
        rank = fewest
    low, high = float(ordered[rank]), float(ordered[-1 - rank])
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


def _with_marks(of: Effect, axis: Axis, per_unit: float) -> Axis:
    """The axis with its marks: ends, turns, breaks, coarse round numbers, and finer ones where points change fast."""
    if axis.levels is not None or len(axis.values) == 1:
        return replace(axis, marked=np.ones(len(axis.values), dtype=bool))
    low, high = float(axis.values[0]), float(axis.values[-1])
    digits = _digits(high - low)
    found = (float(axis.values[index]) for index in turning_points(axis.effects * per_unit))
    turns = {value if value in axis.breaks else round(value, digits) for value in found} - {low, high}

    def points(values: Sequence[float]) -> Floats:
        return of(np.array(values, dtype=np.float64)) * per_unit

    chosen = {low, high, *turns, *axis.breaks}
    for rank, step in enumerate(axis.steps):
        # The multiples of a step between low and high; those that are low or high may be lost to rounding.
        multiples = np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step
        for number in map(float, np.round(multiples, _digits(step))):
            nearest = [
                max(value for value in chosen if value <= number),
                min(value for value in chosen if value >= number),
            ]
            here, *beside = points([number, *nearest, max(number - step, low), min(number + step, high)])
            apart = [abs(here - each) for each in beside]
            # Where points change slowly a finer number would stand there alone, as 8.9 between 8 and 9.7.
            is_steep = max(apart[2:]) >= APART / 2
            if rank == 0 or (len(chosen) < MARKS and min(apart[:2]) >= APART and is_steep):
                chosen.add(number)
    values = np.unique(np.concatenate([axis.values, np.array(sorted(chosen))]))
    return replace(
        axis,
        values=values,
        effects=of(values),
        marked=np.isin(values, list(chosen)),
        turns=np.isin(values, list(turns)),
    )


def turning_points(points: Floats) -> list[int]:
    """The places inside at which a curve of points turns, wiggles of less than half a point left out."""
    found: list[int] = []
    extreme, direction = 0, 0
    for index in range(1, len(points)):
        step = float(points[index] - points[extreme])
        if direction and step * direction >= 0:
            extreme = index
        elif abs(step) >= WIGGLE:
            found += [extreme] if direction else []
            direction, extreme = (1 if step > 0 else -1), index
    return found


# ---- what results.json holds ----------------------------------------------------------------------------------------


def method(found: Nomogram) -> facts.Method:
    """How the points were made, for every curve of the nomogram."""
    return facts.Method(facts.Fact("points", per_unit=found.per_unit))


def axis_curve(found: Nomogram, axis: Axis) -> Curve:
    """The points of a numeric predictor along its axis.

    Columns: `value` in the predictor's unit, increasing; `points`, 0 to 100; `marked`, 1 where the axis has a mark;
    `turn`, 1 where points turn from rising to falling or back.
    """
    columns = {"value": axis.values, "points": found.points(axis), "marked": axis.marked, "turn": axis.turns}
    return Curve({name: intervals.column(values) for name, values in columns.items()}, n=axis.n, method=method(found))


def level_points(found: Nomogram, axis: Axis) -> tuple[Description, ...]:
    """The points of each category of a predictor, 0 to 100; nothing of a numeric one."""
    if axis.levels is None:
        return ()
    pairs = zip(axis.levels, found.points(axis), strict=True)
    return tuple(Description(axis.predictor, "points", float(points), axis.n, level) for level, points in pairs)


def total_curve(found: Nomogram) -> Curve:
    """The linear predictor and the risk (0 to 1) at 101 totals from 0 to the largest."""
    return _totals(found, np.linspace(0.0, found.total, 101))


def risk_curve(found: Nomogram, thresholds: Sequence[float]) -> Curve | Absent:
    """The total points at round risks and at the declared thresholds, those that the totals reach.

    Absent when they reach none.
    """
    risks = np.unique(np.array([*RISKS, *thresholds]))
    linear = found.link.forward(risks)
    total = (linear - found.zero) * found.per_unit
    inside = (total >= 0) & (total <= found.total)
    if not inside.any():
        return Absent(facts.Fact("no_round_risk_reached"))
    curve = _totals(found, total[inside])
    # The declared numbers themselves, not what is left of them after going to points and back.
    exact = {"risk": intervals.column(risks[inside]), "linear_predictor": intervals.column(linear[inside])}
    return replace(curve, columns={**curve.columns, **exact})


def _totals(found: Nomogram, total: Floats) -> Curve:
    linear = found.zero + total / found.per_unit
    columns = {
        "total_points": intervals.column(total),
        "linear_predictor": intervals.column(linear),
        "risk": intervals.column(found.link.back(linear)),
    }
    return Curve(columns, max(axis.n for axis in found.axes), method(found))
