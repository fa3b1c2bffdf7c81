"""H-accuracy: accuracy with a say in which class matters, how sure the model must be, and how hard the cases are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dossier.metrics.discrimination import one_class
from dossier.metrics.intervals import column, estimate, two_sided
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


def class_ratio(earned: Floats, complexity: Floats) -> tuple[float, float]:
    """The complexity-weighted mean credit of one class, and its variance as a ratio of means (NaN for a single row)."""
    ratio = float((complexity * earned).sum() / complexity.sum())
    if len(earned) < 2:
        return ratio, math.nan
    residual = complexity * (earned - ratio)
    return ratio, float(np.var(residual, ddof=1)) / len(earned) / float(complexity.mean()) ** 2


def _by_priority(priority: Floats, ratios: Sequence[tuple[float, float]]) -> tuple[float, float | None]:
    """The priority-weighted sum over the classes with its standard error, if every class that counts has one."""
    value = math.fsum(weight * ratio for weight, (ratio, _) in zip(priority, ratios, strict=True))
    counting = [weight**2 * variance for weight, (_, variance) in zip(priority, ratios, strict=True) if weight > 0]
    variance = sum(counting)
    return min(1.0, value), math.sqrt(variance) if math.isfinite(variance) and variance > 0 else None


def h_accuracy_of(
    classes: Integers, scores: Floats, priority: Floats, tau: float, complexity: Floats | None = None
) -> tuple[float, float | None] | Absent:
    """H-accuracy of any number of classes, with its standard error.

    `classes` (n, 0 to k-1), `scores` (n, k; rows sum to 1), `priority` (k; sums to 1), `tau` (1/k to 1), `complexity`
    (n, 0 to 1; 1 when left out). Absent when a class is empty or has no complexity. The standard error is the
    stratified delta method of ratios of means; None when a class that counts has a single row, or when nothing
    varies.
    """
    k = scores.shape[1]
    weight = np.ones(len(classes)) if complexity is None else complexity
    if reason := _cannot(classes, k, tau, weight):
        return reason
    earned = credit(classes, scores, tau)
    members = [classes == label for label in range(k)]
    return _by_priority(priority, [class_ratio(earned[member], weight[member]) for member in members])


def _two_classes(outcome: Floats, risk: Floats) -> tuple[Integers, Floats]:
    return outcome.astype(np.int64), np.column_stack((1 - risk, risk))


@metric(
    "H-accuracy",
    digits=2,
    range=(0, 1),
    best="higher",
    tier="mission",
    cites="Cabitza 2019",
    at=("priority", "tau", "complexity"),
    differs="differs from the published formula because ties for the largest score share the credit, where equation 4 "
    "credits each of them fully and breaks its own Proposition 1 [Cabitza 2019]",
    formula="Σ over classes l of priority(l) × Σ dσ / Σ d over the rows of l; σ = 0 unless the score s of l is the "
    "largest (ties share), else (s - 1/k)/(τ - 1/k), at most 1; d complexity",
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
    (score - 1/2)/(tau - 1/2) up to tau, and 1 above, and a normal interval by the stratified delta method. Absent
    when a class is empty; the bounds are missing when a class has a single row or nothing varies. Source: Cabitza and
    Campagner. Where we differ: ties for the largest score share the credit at every tau; the published equation 4
    credits each of them fully, which breaks its own Proposition 1.
    """
    if reason := one_class(outcome):
        return reason
    if complexity != "constant":
        return Absent(f"a complexity from {complexity} is not available")
    classes, scores = _two_classes(outcome, risk)
    weight = float(outcome.mean()) if isinstance(priority, str) else priority
    found = h_accuracy_of(classes, scores, np.array([1 - weight, weight]), tau)
    if isinstance(found, Absent):
        return found
    value, se = found
    return estimate(value, se, level, outcome, "stratified delta, normal", floor=0, ceiling=1)


@metric(
    "H-accuracy at a risk threshold",
    digits=2,
    range=(0, 1),
    best="higher",
    tier="mission",
    cites="Cabitza 2019",
    at=("threshold",),
    against_rest="by class and mean",
    formula="[(1 - t) φ se + t (1 - φ) sp] / [(1 - t) φ + t (1 - φ)]",
)
def h_accuracy_risk(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of right answers at the threshold when each missed case and each false alarm counts what it costs.

    The threshold says what they cost: at 10 % a case counts nine times as much as a non-case. It does not rank models
    on its own; the net benefit at the same threshold holds the same information, with treating nobody as its 0.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `threshold` t (0 to 1; a case is right when risk >= t, a
    non-case when risk < t), `level`. Returns p(1) sensitivity + p(0) specificity, p(1) = (1-t)phi/a, p(0) = t(1-phi)/a,
    a = t(1-phi) + (1-t)phi, phi the prevalence observed at the site: the H-accuracy of Theorem 1, from which net
    benefit = Ha a/(1-t) - t(1-phi)/(1-t). Normal interval by the stratified delta method, phi held fixed. Absent when
    all rows are of one class; the bounds are missing when a class that counts has a single row, or when nothing varies.
    Source: Cabitza and Campagner.
    """
    if reason := one_class(outcome):
        return reason
    phi = float(outcome.mean())
    whole = threshold * (1 - phi) + (1 - threshold) * phi
    priority = np.array([threshold * (1 - phi) / whole, (1 - threshold) * phi / whole])
    right = ((risk >= threshold) == (outcome == 1)).astype(float)
    members = [outcome == 0, outcome == 1]
    value, se = _by_priority(priority, [class_ratio(right[member], np.ones(int(member.sum()))) for member in members])
    return estimate(value, se, level, outcome, "stratified delta, normal", floor=0, ceiling=1)


@metric(
    "Cost-weighted accuracy",
    digits=2,
    range=(0, 1),
    best="higher",
    tier="mission",
    cites="Cabitza 2019",
    at=("threshold",),
    against_rest="by class and mean",
    formula="[(1 - t) TP + t TN] / [(1 - t)(TP + FN) + t (TN + FP)]",
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
        value, se = _by_priority(
            np.array([0.5, 0.5]), [class_ratio(*pair) for pair in zip(earned, weights, strict=True)]
        )
        half = None if se is None else two_sided(level) * se
        values.append(value)
        lows.append(None if half is None else max(0.0, value - half))
        highs.append(None if half is None else min(1.0, value + half))
    columns = {"tau": column(taus), "h_accuracy": column(values), "low": tuple(lows), "high": tuple(highs)}
    return Curve(columns, len(outcome), "pointwise, stratified delta, normal", int(outcome.sum()))
