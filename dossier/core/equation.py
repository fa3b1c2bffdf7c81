"""The linear predictor of the declared formula: what each term adds, row by row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dossier.core import facts, types

if TYPE_CHECKING:
    from dossier.core.release import Model, ModelTerm


def spline_columns(values: types.Floats, knots: Sequence[float]) -> types.Floats:
    """The columns of a restricted cubic spline in Harrell's form: the value, then one for each knot but two.

    `values` (n,) and `knots` (k, increasing) are in the predictor's unit; (n, k - 1) comes back. The cubic columns are
    divided by the squared distance of the outer knots, so that they are in the unit of the predictor. Source: Harrell,
    Regression Modeling Strategies, 2015, section 2.4.5.
    """
    return np.asarray(spline_design(values, tuple(knots))[1:].T)


def spline_design(values: types.Floats, knots: tuple[float, ...]) -> types.Floats:
    """A row of ones above the columns of the spline, (1 + columns, n); without knots it is a straight line."""
    rows = [np.ones_like(values), values]
    if knots:
        last, before = knots[-1], knots[-2]
        scale = (last - knots[0]) ** 2
        end, next_to_end = _cubed(values - last), _cubed(values - before)
        for knot in knots[:-2]:
            term = _cubed(values - knot) - next_to_end * (last - knot) / (last - before)
            rows.append((term + end * (before - knot) / (last - before)) / scale)
    return np.vstack(rows)


def _cubed(values: types.Floats) -> types.Floats:
    return np.asarray(np.maximum(values, 0) ** 3)


def effect(term: ModelTerm, feature: types.Feature, partner: types.Feature | None = None) -> types.Floats:
    """What a term adds to the linear predictor in each row, on the scale of log odds; NaN where a value is missing.

    Parameters
    ----------
    term : ModelTerm
        One term of the declared formula.
    feature : Feature
        The values of its predictor, (n,).
    partner : Feature, optional
        The values of the other predictor of a product, (n,); None of a term that is no product.

    Notes
    -----
    With x = min(max(value, floor), cap), transformed where the term says so, f(x) is: the coefficient times x; the
    coefficient of the category, 0 of one that is not named; the restricted cubic spline; or the piecewise linear
    function through 0 at 0 whose slope in each segment is the coefficient of that segment. A product adds f(x) times
    the number of the partner, or x times the coefficient of the category that the partner has.
    """
    if term.with_ is None:
        return _effect_of_levels(term.levels, feature) if term.levels is not None else _shape(term, feature)
    if partner is None:
        raise TypeError("a product is of two predictors")
    if term.levels is not None:
        return np.asarray(_effect_of_levels(term.levels, partner) * _entered(term, feature))
    return np.asarray(_shape(term, feature) * _numbers(partner))


def _shape(term: ModelTerm, feature: types.Feature) -> types.Floats:
    values = _entered(term, feature)
    if term.knots is not None:
        return np.asarray(spline_columns(values, term.knots) @ np.array(term.coefficients))
    if term.segments is not None:
        return np.asarray(segment_columns(values, term.segments) @ np.array(term.coefficients))
    return np.asarray((term.coefficient or 0.0) * values)


def segment_columns(values: types.Floats, segments: Sequence[float]) -> types.Floats:
    """How far each value goes into each segment, (n, k + 1): times the slopes it is the piecewise linear function.

    `segments` (k, increasing) are the numbers at which the slope changes. The first column is min(x, s1), the last
    max(x - sk, 0), one between clips x to its segment and counts from where that begins; together they are x.
    """
    inner = [np.clip(values, low, high) - low for low, high in pairwise(segments)]
    return np.column_stack([np.minimum(values, segments[0]), *inner, np.maximum(values - segments[-1], 0.0)])


def _entered(term: ModelTerm, feature: types.Feature) -> types.Floats:
    """The numbers of a predictor as they enter a term: not below the floor, not above the cap, then transformed."""
    values = _numbers(feature)
    if term.floor is not None:
        values = np.maximum(values, term.floor)
    if term.cap is not None:
        values = np.minimum(values, term.cap)
    return values if term.transform is None else np.asarray(TRANSFORMS[term.transform](values))


TRANSFORMS: Mapping[str, Callable[[types.Floats], types.Floats]] = {"log": np.log, "sqrt": np.sqrt, "square": np.square}


def _effect_of_levels(levels: Mapping[str, float], feature: types.Feature) -> types.Floats:
    found = np.where(np.isnan(feature.values), math.nan, 0.0)
    for name, coefficient in levels.items():
        if feature.levels is None:
            found[feature.values == float(name)] = coefficient
        elif name in feature.levels:
            found[feature.values == feature.levels.index(name)] = coefficient
    return found


def _numbers(feature: types.Feature) -> types.Floats:
    """The numbers of a feature, those of categories that are numbers included."""
    if feature.levels is None:
        return feature.values
    numbers = np.array([*map(float, feature.levels), math.nan])
    codes = np.where(np.isnan(feature.values), len(feature.levels), feature.values).astype(int)
    return np.asarray(numbers[codes])


def linear_predictor(model: Model, predictors: Sequence[types.Feature]) -> types.Floats | types.Absent:
    """The linear predictor of each row, on the scale of the formula; NaN where a predictor is missing."""
    features = {feature.name: feature for feature in predictors}
    lacking = [name for name in model.predictors if name not in features]
    if len(lacking) == len(model.predictors):
        return types.Absent(facts.Fact("no_predictor_of_formula"))
    if lacking:
        return types.Absent(facts.Fact("predictors_of_formula_missing", predictors=tuple(lacking)))
    return np.asarray(model.constant + together(model.term, features))


def risk(model: Model, predictors: Sequence[types.Feature]) -> types.Floats | types.Absent:
    """The risk of each row by the formula; NaN where a predictor is missing."""
    # A number that a transformation cannot take has a fault of its own.
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        linear = linear_predictor(model, predictors)
        if isinstance(linear, types.Absent):
            return linear
        return np.asarray(np.exp(-np.logaddexp(0, -linear)) if model.link == "logit" else -np.expm1(-np.exp(linear)))


def together(terms: Sequence[ModelTerm], features: Mapping[str, types.Feature]) -> types.Floats:
    """The sum of the effects of these terms in each row, in log odds."""
    return np.asarray(sum(effect(term, features[term.predictor], features.get(term.with_ or "")) for term in terms))
