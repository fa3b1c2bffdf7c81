"""H-accuracy: accuracy with a say in which class matters, how sure the model must be, and how hard the cases are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dossier.metrics.discrimination import one_class
from dossier.metrics.intervals import NO_SPREAD, column, two_sided, wilson
from dossier.register import curve, metric
from dossier.types import Absent, Curve, Estimate, Floats

Integers = NDArray[np.int64]


def standing(classes: Integers, scores: Floats) -> tuple[Floats, Floats]:
    """Each row's score for its own class, and its share of the credit: 1 over the ties for the largest score, or 0."""
    own = scores[np.arange(len(classes)), classes]
    largest = scores.max(axis=1)
    ties = (scores == largest[:, None]).sum(axis=1)
    return own, np.where(own == largest, 1 / ties, 0.0)


def ramp(own: Floats, k: int, tau: float) -> Floats:
    """The credit of a score before ties: from 0 at 1/k to 1 at tau, or 1 from 1/k on when tau is 1/k."""
    return np.ones(len(own)) if tau <= 1 / k else np.clip((own - 1 / k) / (tau - 1 / k), 0, 1)


def credit(classes: Integers, scores: Floats, tau: float) -> Floats:
    """What each row earns: 0 when its class has not the largest score, else from 0 at 1/k to 1 at a score of tau.

    `classes` (n, 0 to k-1), `scores` (n, k; rows sum to 1), `tau` (1/k to 1). Ties for the largest share the credit.
    """
    own, share = standing(classes, scores)
    return share * ramp(own, scores.shape[1], tau)


def _cannot(classes: Integers, k: int, tau: float, complexity: Floats) -> Absent | None:
    if not 1 / k <= tau <= 1:
        return Absent(f"tau is {tau:g}, outside 1/{k} to 1")
    for label in range(k):
        member = classes == label
        if not member.any():
            return Absent(f"no row is of class {label}")
        if float(complexity[member].sum()) == 0:
            return Absent(f"every row of class {label} has a complexity of 0")
    return None


@dataclass(frozen=True)
class ClassRatio:
    """The complexity-weighted mean credit of one class, its variance as a ratio of means, and its rows."""

    value: float
    variance: float
    """NaN for a single row."""
    rows: int


def class_ratio(earned: Floats, complexity: Floats) -> ClassRatio:
    """The mean credit of one class: `earned`, `complexity` (rows of the class, 0 to 1)."""
    ratio = min(1.0, float((complexity * earned).sum() / complexity.sum()))
    if len(earned) < 2:
        return ClassRatio(ratio, math.nan, 1)
    residual = complexity * (earned - ratio)
    variance = float(np.var(residual, ddof=1)) / len(earned) / float(complexity.mean()) ** 2
    return ClassRatio(ratio, variance, len(earned))


def _bounds_of_class(found: ClassRatio, level: float) -> tuple[float, float]:
    """Wilson's interval with as many trials as a share of that value and variance would have.

    A share of trials has the variance r (1 - r) / trials. Both are taken with z^2/2 rows of no and as many of full
    credit added, which leaves all-or-nothing credit its own number of rows, and keeps a handful of credited rows from
    looking surer than they are.
    """
    added = two_sided(level) ** 2
    rows = found.rows + added
    mean = (found.rows * found.value + added / 2) / rows
    squares = (found.rows * (found.variance * (found.rows - 1) + found.value**2) + added / 2) / rows
    trials = max(float(found.rows), rows * mean * (1 - mean) / (squares - mean**2) - added)
    low, high = wilson(found.value * trials, trials, level)
    return min(low, found.value), max(high, found.value)


@dataclass(frozen=True)
class Weighted:
    """The priority-weighted sum over the classes, its standard error and bounds; None where there are none."""

    value: float
    se: float | None
    low: float | None = None
    high: float | None = None


def _by_priority(priority: Floats, ratios: Sequence[ClassRatio], level: float) -> Weighted:
    """The sum over the classes, its bounds those of the classes put together by the method of Zou and Donner."""
    value = min(1.0, math.fsum(weight * one.value for weight, one in zip(priority, ratios, strict=True)))
    counting = [(float(weight), one) for weight, one in zip(priority, ratios, strict=True) if weight > 0]
    if any(math.isnan(one.variance) for _, one in counting):
        return Weighted(value, None)
    variance = math.fsum(weight**2 * one.variance for weight, one in counting)
    bounds = [_bounds_of_class(one, level) for _, one in counting]
    down, up = (
        math.sqrt(
            math.fsum(
                (weight * (one.value - bound[end])) ** 2 for (weight, one), bound in zip(counting, bounds, strict=True)
            )
        )
        for end in (0, 1)
    )
    se = math.sqrt(variance) if variance > 0 else None
    if down == up == 0:
        return Weighted(value, se)
    return Weighted(value, se, max(0.0, value - down), min(1.0, value + up))


def weighted_credit(
    classes: Integers,
    scores: Floats,
    priority: Floats,
    tau: float,
    complexity: Floats | None = None,
    level: float = 0.95,
) -> Weighted | Absent:
    """H-accuracy of any number of classes, with its standard error and bounds.

    `classes` (n, 0 to k-1), `scores` (n, k; rows sum to 1), `priority` (k; sums to 1), `tau` (1/k to 1), `complexity`
    (n, 0 to 1; 1 when left out), `level`. Absent when a class is empty or has no complexity. The standard error is the
    stratified delta method of ratios of means; None when a class that counts has a single row, or when nothing varies.
    The bounds are Wilson's of each class's ratio, with as many trials as its variance is worth, put together by the
    method of Zou and Donner; None when a class that counts has a single row.
    """
    k = scores.shape[1]
    weight = np.ones(len(classes)) if complexity is None else complexity
    if reason := _cannot(classes, k, tau, weight):
        return reason
    earned = credit(classes, scores, tau)
    members = [classes == label for label in range(k)]
    return _by_priority(priority, [class_ratio(earned[member], weight[member]) for member in members], level)


def h_accuracy_of(
    classes: Integers, scores: Floats, priority: Floats, tau: float, complexity: Floats | None = None
) -> tuple[float, float | None] | Absent:
    """The value and the standard error of `weighted_credit`; arguments and reasons for absence as there."""
    found = weighted_credit(classes, scores, priority, tau, complexity)
    return found if isinstance(found, Absent) else (found.value, found.se)


def _two_classes(outcome: Floats, risk: Floats) -> tuple[Integers, Floats]:
    return outcome.astype(np.int64), np.column_stack((1 - risk, risk))


@metric(
    "H-accuracy",
    digits=2,
    range=(0, 1),
    best="higher",
    tier="mission",
    cites=("Cabitza 2019", "Wilson 1927", "Zou 2008"),
    at=("priority", "tau", "complexity"),
    differs="differs from the published formula because ties for the largest score share the credit, where equation 4 "
    "credits each of them fully and breaks its own Proposition 1 [Cabitza 2019]",
)
def h_accuracy(
    outcome: Floats,
    risk: Floats,
    priority: float | str,
    tau: float,
    complexity: str = "constant",
    level: float = 0.95,
) -> Estimate | Absent:
    """The share of right answers, weighted by which class matters and by how sure the model was when it was right.

    With priority .5 and tau .5 it is the balanced accuracy. It does not rank models on its own: the value rests on the
    declared priority and tau.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `priority` (of the positive class, 0 to 1, or
    "prevalence": the share of the positive class in these rows), `tau`
    (confidence that earns full credit, .5 to 1), `complexity` ("constant": every case counts alike), `level`. Returns
    sum over classes l of p(l) (sum of d sigma)/(sum of d) with sigma = 0 when the own class has not the larger score,
    (score - 1/2)/(tau - 1/2) up to tau, and 1 above. The interval takes Wilson's of each class's mean credit, with as
    many trials as its variance is worth, and puts them together (Zou and Donner): the credit of a rare class is too
    skewed for a normal interval. Absent when a class is empty; the bounds are missing when a class has a single row.
    Source: Cabitza and Campagner; the interval Zou and Donner 2008. Where we differ: ties for the largest score share
    the credit at every tau; the published equation 4 credits each of them fully, which breaks its own Proposition 1.
    """
    if reason := one_class(outcome):
        return reason
    if complexity != "constant":
        return Absent(f"a complexity from {complexity} is not available")
    classes, scores = _two_classes(outcome, risk)
    weight = float(outcome.mean()) if isinstance(priority, str) else priority
    found = weighted_credit(classes, scores, np.array([1 - weight, weight]), tau, None, level)
    return found if isinstance(found, Absent) else _estimated(found, outcome, level)


METHOD = "Wilson in each class, put together (Zou and Donner)"


def _estimated(found: Weighted, outcome: Floats, level: float) -> Estimate:
    n, events = len(outcome), int(outcome.sum())
    if found.low is None or found.high is None:
        return Estimate(found.value, None, None, None, n, METHOD, events, found.se, reason=NO_SPREAD)
    low, high = min(found.low, found.value), max(found.high, found.value)
    return Estimate(found.value, low, high, level, n, METHOD, events, found.se)


@metric(
    "H-accuracy at a risk threshold",
    digits=2,
    range=(0, 1),
    best="higher",
    tier="mission",
    cites=("Cabitza 2019", "Wilson 1927", "Zou 2008"),
    at=("threshold",),
)
def h_accuracy_risk(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of right answers at the threshold when each missed case and each false alarm counts what it costs.

    The threshold says what they cost: at 10 % a case counts nine times as much as a non-case. It does not rank models
    on its own; the net benefit at the same threshold holds the same information, with treating nobody as its 0.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `threshold` t (0 to 1; a case is right when risk >= t, a
    non-case when risk < t), `level`. Returns p(1) sensitivity + p(0) specificity, p(1) = (1-t)phi/a, p(0) = t(1-phi)/a,
    a = t(1-phi) + (1-t)phi, phi the prevalence observed at the site: the H-accuracy of Theorem 1, from which net
    benefit = Ha a/(1-t) - t(1-phi)/(1-t). Interval as for `h_accuracy`, phi held fixed. Absent when all rows
    are of one class; the bounds are missing when a class that counts has a single row.
    Source: Cabitza and Campagner.
    """
    if reason := one_class(outcome):
        return reason
    phi = float(outcome.mean())
    whole = threshold * (1 - phi) + (1 - threshold) * phi
    priority = np.array([threshold * (1 - phi) / whole, (1 - threshold) * phi / whole])
    right = ((risk >= threshold) == (outcome == 1)).astype(float)
    members = [outcome == 0, outcome == 1]
    ratios = [class_ratio(right[member], np.ones(int(member.sum()))) for member in members]
    return _estimated(_by_priority(priority, ratios, level), outcome, level)


@metric(
    "Cost-weighted accuracy",
    digits=2,
    range=(0, 1),
    best="higher",
    tier="mission",
    cites=("Cabitza 2019", "Wilson 1927", "Zou 2008"),
    at=("threshold",),
)
def cost_weighted_accuracy(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of right answers when a case counts as much as the threshold says against a non-case.

    It is the H-accuracy at the risk threshold under the name by which others know it: one value, two names.

    Arguments, interval and reasons for absence: as for `h_accuracy_risk`. Equal to ((1-t)TP + t TN)/((1-t)(TP + FN) +
    t(TN + FP)).
    """
    return h_accuracy_risk(outcome, risk, threshold, level)


@curve("H-accuracy by confidence", cites="Cabitza 2019")
def h_accuracy_profile(outcome: Floats, risk: Floats, level: float = 0.95) -> Curve | Absent:
    """The H-accuracy with both classes alike, as the confidence that earns full credit rises from one half to one.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `level`. Returns 51 values of `tau` with `h_accuracy` at
    priority .5 and constant complexity, and its pointwise band `low` and `high` (missing where it cannot be
    estimated). Absent when a class is empty.
    """
    if reason := one_class(outcome):
        return reason
    own, share = standing(*_two_classes(outcome, risk))
    members = [outcome == 0, outcome == 1]
    own_by_class, share_by_class = [own[member] for member in members], [share[member] for member in members]
    weights = [np.ones(len(rows)) for rows in own_by_class]
    taus = np.linspace(0.5, 1, 51)
    values: list[float] = []
    lows: list[float | None] = []
    highs: list[float | None] = []
    for tau in taus:
        earned = [part * ramp(rows, 2, float(tau)) for rows, part in zip(own_by_class, share_by_class, strict=True)]
        found = _by_priority(
            np.array([0.5, 0.5]), [class_ratio(*pair) for pair in zip(earned, weights, strict=True)], level
        )
        values.append(found.value)
        lows.append(found.low)
        highs.append(found.high)
    columns = {"tau": column(taus), "h_accuracy": column(values), "low": tuple(lows), "high": tuple(highs)}
    return Curve(columns, len(outcome), f"pointwise, {METHOD}", int(outcome.sum()))
