"""Who the patients are: Table 1, dataset by dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dossier.core import bands, register, types
from dossier.metrics import censoring, logistic

PERCENTILES = {"quantile_25": 0.25, "median": 0.5, "quantile_75": 0.75}
"""Never the smallest or the largest value: those belong to one patient."""

DIGITS = 3
"""Of a time: with all of them it is that of one patient."""

TWO_VALUED = 2
"""A number of so many different values at most, as 0 and 1, is described by a share: its median says nothing."""


@register.describe()
def characteristics(
    outcome: types.Floats | None = None,
    predictors: Sequence[types.Feature] = (),
    classes: NDArray[np.int64] | None = None,
    class_labels: Sequence[str] = (),
) -> tuple[types.Description, ...]:
    """The characteristics of the patients: their outcome, and how each predictor is spread and how often it is missing.

    `outcome` is 0/1, one a row, or `classes` the number of the class in `class_labels`; `predictors` are the features
    of the dataset; all may be left out. Gives `events` and `share` of the outcome, or `count` and `share` of each
    class; `missing` (a count) of each predictor; `quantile_25`, `median` and `quantile_75` of a numeric one (linear
    interpolation, R's type 7) of at least 20 values; `count` and `share` of each level of a categorical one, and of
    each value of a numeric one that takes two at most (whole numbers where there are fewer than 20 values), among the
    rows that have it. `n` is the number of rows the statistic rests on. A predictor without any value has `missing`
    only.
    """
    return (
        *_outcome(outcome),
        *_classes(classes, class_labels),
        *(row for feature in predictors for row in _feature(feature)),
    )


@register.describe()
def follow_up(followed: censoring.TimeToEvent) -> tuple[types.Description, ...]:
    """How long patients would be followed if no event ended it, and how many had a competing event by the horizon.

    `followed` is the follow-up of n patients. Gives `competing` (a count), and of at least 20 patients the
    `quantile_25`, `median` and `quantile_75` of the reverse Kaplan-Meier estimate, in which the end of follow-up is the
    event, to as many of three digits as leave at least five patients with that time, or to one; a quantile that it does
    not reach is left out. Source: Schemper and Smith 1996.
    """
    n, ends = len(followed.time), np.asarray(followed.event == 0)
    by_then = (followed.event == 2) & (followed.time <= followed.horizon)
    rows = [types.Description("follow-up", "competing", float(by_then.sum()), n, of="follow_up")]
    times, at = np.unique(followed.time, return_inverse=True)
    left, gone = (np.bincount(at, weights=each, minlength=len(times)) for each in (ends, np.ones(n)))
    # At one time events come before ends of follow-up: who has one is no longer there to leave.
    may = n - np.cumsum(gone) + left
    stay = np.cumprod(1 - np.divide(left, may, out=np.zeros(len(times)), where=may > 0))
    for statistic, share in PERCENTILES.items() if n >= bands.FEWEST_WITH_A_VALUE else ():
        reached = np.flatnonzero(stay <= 1 - share)
        if len(reached):
            time = _of_several(float(times[reached[0]]), followed.time)
            rows.append(types.Description("follow-up", statistic, time, n, of="follow_up"))
    return tuple(rows)


def _of_several(value: float, values: types.Floats) -> float:
    """A value to as many digits as leave it to at least five patients: that of one would tell who it is."""
    for digits in range(DIGITS, 1, -1):
        rounded = float(f"{value:.{digits - 1}e}")
        step = 10.0 ** (int(f"{value:e}".partition("e")[2]) - digits + 1)
        if (np.abs(values - rounded) < step / 2).sum() >= types.FEWEST_PATIENTS:
            return rounded
    return float(f"{value:.0e}")


@register.describe()
def case_mix(risk: types.Floats) -> tuple[types.Description, ...]:
    """The spread of the linear predictor, the logit of the risk: how alike the patients are for the model.

    `risk` (n, 0 to 1). Gives `mean` and `sd` (ddof 1) of logit p, p clipped to 1e-12 from 0 and 1; no `sd` of a single
    row. Source: Debray 2015.
    """
    linear = logistic.logit(risk)
    statistics = {"mean": float(linear.mean())} if len(linear) else {}
    if len(linear) > 1:
        statistics["sd"] = float(linear.std(ddof=1))
    return tuple(
        types.Description("linear predictor", statistic, value, len(linear), of="linear_predictor")
        for statistic, value in statistics.items()
    )


def _outcome(outcome: types.Floats | None) -> Iterator[types.Description]:
    if outcome is None or not len(outcome):
        return
    yield types.Description("outcome", "events", float(outcome.sum()), len(outcome), of="outcome")
    yield types.Description("outcome", "share", float(outcome.mean()), len(outcome), of="outcome")


def _classes(classes: NDArray[np.int64] | None, labels: Sequence[str]) -> Iterator[types.Description]:
    if classes is None or not len(classes):
        return
    for index, label in enumerate(labels):
        count = float((classes == index).sum())
        yield types.Description("outcome", "count", count, len(classes), label, "outcome")
        yield types.Description("outcome", "share", count / len(classes), len(classes), label, "outcome")


def _feature(feature: types.Feature) -> Iterator[types.Description]:
    known = feature.values[~np.isnan(feature.values)]
    yield types.Description(feature.name, "missing", float(len(feature.values) - len(known)), len(feature.values))
    if not len(known):
        return
    if feature.levels is None:
        if len(known) >= bands.FEWEST_WITH_A_VALUE:
            for statistic, at in PERCENTILES.items():
                yield types.Description(feature.name, statistic, float(np.quantile(known, at)), len(known))
        different = np.unique(known)
        whole = bool((different == np.round(different)).all())
        if len(different) <= TWO_VALUED and (whole or len(known) >= bands.FEWEST_WITH_A_VALUE):
            for value in different:
                yield from _level(feature, float(value), f"{value:.12g}", known)
        return
    for code, level in enumerate(feature.levels):
        yield from _level(feature, float(code), level, known)


def _level(feature: types.Feature, value: float, level: str, known: types.Floats) -> Iterator[types.Description]:
    count = float((known == value).sum())
    yield types.Description(feature.name, "count", count, len(known), level)
    yield types.Description(feature.name, "share", count / len(known), len(known), level)
