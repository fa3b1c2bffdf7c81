"""Sampling weights: measures that are means, ratios of means or shares of pairs, with each row at its weight.

Each value comes with what every row contributes to its deviation, w u with u the influence of the row on the value. Its
design variance is that of the sum of these contributions over rows, or clusters, drawn with replacement (Binder 1983),
as R's survey package computes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dossier.core.facts import Fact
from dossier.core.types import Absent, Floats
from dossier.metrics.logistic import has_logit, logistic_fit, logit, near_intercept

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """Rows with their weights, 0 or more and not all 0; the threshold where the measure has one."""

    outcome: Floats
    risk: Floats
    weights: Floats
    threshold: float = 0.5
    rival: Floats | None = None

    @property
    def of_rival(self) -> Rows:
        """The rows with the other model's risks."""
        if self.rival is None:
            raise TypeError("the rows have no rival")
        return Rows(self.outcome, self.rival, self.weights, self.threshold)

    @property
    def cases(self) -> Bools:
        """The rows with the outcome."""
        return np.asarray(self.outcome == 1)

    @property
    def flagged(self) -> Bools:
        """The rows whose risk reaches the threshold."""
        return np.asarray(self.risk >= self.threshold)


@dataclass(frozen=True)
class Weighted:
    """A weighted value, what each row contributes to its deviation (n, with a sum of 0), and what belongs to it."""

    value: float
    linearized: Floats
    details: Mapping[str, float | None] = field(default_factory=dict)


Found = Weighted | Absent
Measure = Callable[[Rows], Found]
NO_CASE = Absent(Fact("no_weighted_row_has_outcome"))
NO_OTHER = Absent(Fact("every_weighted_row_has_outcome"))
NOTHING = Absent(Fact("no_row_with_weight"))


def mean(values: Floats, weights: Floats) -> float:
    """The weighted mean, sum(w v)/sum(w)."""
    return float((weights * values).sum() / weights.sum())


def mean_of_rows(values: Floats, weights: Floats) -> Weighted:
    """The weighted mean with its contributions w (v - mean)/sum(w)."""
    value = mean(values, weights)
    return Weighted(value, weights / weights.sum() * (values - value))


def ratio(above: Weighted, below: Weighted) -> Found:
    """A ratio that may be of any size, with its contributions; Absent where it would be beyond all numbers."""
    value = above.value / below.value if below.value > 0 else math.inf
    if not math.isfinite(value):
        return Absent(Fact("denominator_too_small"))
    return Weighted(value, above.linearized / below.value - value * (below.linearized / below.value))


def _one_class(rows: Rows) -> Absent | None:
    """The reason why cases cannot be compared with the others, if there is one."""
    cases, others = rows.weights[rows.cases].any(), rows.weights[~rows.cases].any()
    if cases and others:
        return None
    if not cases and not others:
        return NOTHING
    return NO_OTHER if cases else NO_CASE


# ---- at a threshold -------------------------------------------------------------------------------------------------


def _share(rows: Rows, chosen: Bools, among: Bools, empty: Absent) -> Found:
    """The weight of the chosen among the weight of all, or why there is none of that."""
    weights = rows.weights * among
    return empty if not weights.any() else mean_of_rows(chosen.astype(float), weights)


def sensitivity(rows: Rows) -> Found:
    """The weighted share of cases that are flagged."""
    return _share(rows, rows.flagged, rows.cases, NO_CASE)


def specificity(rows: Rows) -> Found:
    """The weighted share of non-cases that are not flagged."""
    return _share(rows, ~rows.flagged, ~rows.cases, NO_OTHER)


def ppv(rows: Rows) -> Found:
    """The weighted share of the flagged that are cases."""
    empty = Absent(Fact("no_weighted_risk_reaches_threshold", threshold=rows.threshold))
    return _share(rows, rows.cases, rows.flagged, empty)


def npv(rows: Rows) -> Found:
    """The weighted share of the unflagged that are no cases."""
    empty = Absent(Fact("every_weighted_risk_reaches_threshold", threshold=rows.threshold))
    return _share(rows, ~rows.cases, ~rows.flagged, empty)


def accuracy(rows: Rows) -> Found:
    """The weighted share of right answers."""
    phi = mean(rows.outcome, rows.weights)
    found = mean_of_rows((rows.flagged == rows.cases).astype(float), rows.weights)
    return replace(found, details={"larger_class": max(phi, 1 - phi)})


def _both(rows: Rows) -> tuple[Weighted, Weighted] | Absent:
    hit, right = sensitivity(rows), specificity(rows)
    if isinstance(hit, Absent):
        return hit
    return right if isinstance(right, Absent) else (hit, right)


def _of_both(rows: Rows, slope: float, less: float) -> Found:
    """A multiple of the sum of sensitivity and specificity, less a constant, with what a false alarm weighs in it."""
    both = _both(rows)
    if isinstance(both, Absent):
        return both
    phi = mean(rows.outcome, rows.weights)
    details = {
        # Beside cases that weigh a great deal more than the others, the prevalence is rounded to 1.
        "false_alarm_weight": phi / (1 - phi) if phi < 1 else None,
        "declared_weight": rows.threshold / (1 - rows.threshold) if rows.threshold < 1 else None,
    }
    hit, right = both
    return Weighted(slope * (hit.value + right.value) - less, slope * (hit.linearized + right.linearized), details)


def balanced_accuracy(rows: Rows) -> Found:
    """The mean of the weighted sensitivity and specificity."""
    return _of_both(rows, 0.5, 0.0)


def youden_j(rows: Rows) -> Found:
    """The sum of the weighted sensitivity and specificity, less 1."""
    return _of_both(rows, 1.0, 1.0)


def likelihood_ratio_positive(rows: Rows) -> Found:
    """The weighted sensitivity over the weighted share of non-cases that are flagged."""
    return _likelihood_ratio(rows, is_flagged=True)


def likelihood_ratio_negative(rows: Rows) -> Found:
    """The weighted share of cases that are not flagged over the weighted specificity."""
    return _likelihood_ratio(rows, is_flagged=False)


def _likelihood_ratio(rows: Rows, is_flagged: bool) -> Found:
    """The share of the flagged, or of the others, among cases over that among non-cases; Absent where either is 0."""
    chosen = rows.flagged if is_flagged else ~rows.flagged
    of_cases, of_others = _share(rows, chosen, rows.cases, NO_CASE), _share(rows, chosen, ~rows.cases, NO_OTHER)
    if isinstance(of_cases, Absent):
        return of_cases
    if isinstance(of_others, Absent):
        return of_others
    for found, has_outcome in ((of_cases, True), (of_others, False)):
        if found.value == 0:
            return Absent(
                Fact(
                    "no_weighted_patient_on_this_side",
                    has_outcome=has_outcome,
                    is_flagged=is_flagged,
                    threshold=rows.threshold,
                )
            )
    return ratio(of_cases, of_others)


# ---- without a threshold --------------------------------------------------------------------------------------------


def auroc(rows: Rows) -> Found:
    """The weighted share of the pairs of a case and another that are in order, each pair at the product of its weights;
    ties count half.
    """
    if reason := _one_class(rows):
        return reason
    case = rows.cases
    levels, inverse = np.unique(rows.risk, return_inverse=True)
    cases, others = (
        np.bincount(inverse[member], weights=rows.weights[member], minlength=len(levels)).astype(float)
        for member in (case, ~case)
    )
    below = (np.cumsum(others) - others / 2) / others.sum()
    above = 1 - (np.cumsum(cases) - cases / 2) / cases.sum()
    value = mean(below, cases)
    share = rows.weights / np.where(case, cases.sum(), others.sum())
    return Weighted(value, share * (np.where(case, below[inverse], above[inverse]) - value))


def brier(rows: Rows) -> Found:
    """The weighted mean squared distance of the risk from what happened."""
    return mean_of_rows((rows.risk - rows.outcome) ** 2, rows.weights)


def scaled_brier(rows: Rows) -> Found:
    """One less the weighted Brier score over that of the weighted prevalence."""
    if reason := _one_class(rows):
        return reason
    # The share of the others on its own: beside cases that weigh a great deal more, 1 - phi is rounded to 0.
    phi, rest = mean_of_rows(rows.outcome, rows.weights), mean_of_rows(1 - rows.outcome, rows.weights)
    reference = Weighted(phi.value * rest.value, phi.value * rest.linearized + rest.value * phi.linearized)
    found = ratio(mean_of_rows((rows.risk - rows.outcome) ** 2, rows.weights), reference)
    return found if isinstance(found, Absent) else Weighted(1 - found.value, -found.linearized)


def log_score(rows: Rows) -> Found:
    """The weighted mean of the logarithm of the probability of what happened."""
    given = np.where(rows.outcome == 1, rows.risk, 1 - rows.risk)
    return mean_of_rows(np.log(given), rows.weights)


def tjur_r2(rows: Rows) -> Found:
    """The weighted mean risk of the cases less that of the others."""
    if reason := _one_class(rows):
        return reason
    of_cases, of_others = (mean_of_rows(rows.risk, rows.weights * among) for among in (rows.cases, ~rows.cases))
    details = {"mean_of_cases": of_cases.value, "mean_of_others": of_others.value}
    return Weighted(of_cases.value - of_others.value, of_cases.linearized - of_others.linearized, details)


def oe_ratio(rows: Rows) -> Found:
    """The weighted number of cases over the weighted number expected."""
    phi = mean_of_rows(rows.outcome, rows.weights)
    if phi.value == 0:
        return NO_CASE
    if not rows.risk[rows.weights > 0].any():
        return Absent(Fact("no_weighted_event_expected"))
    return ratio(phi, mean_of_rows(rows.risk, rows.weights))


def calibration_intercept(rows: Rows) -> Found:
    """The intercept of the weighted logistic regression on the log odds of the risk, the slope held at 1."""
    inside = _with_logit(rows)
    if reason := _one_class(inside):
        return reason
    log_odds, weights = logit(inside.risk), inside.weights / inside.weights.mean()
    near = near_intercept(inside.outcome, log_odds, weights)
    fit = logistic_fit(np.ones((1, len(weights))), inside.outcome, log_odds + near, weights)
    if isinstance(fit, Absent):
        return fit
    value = float(fit.coefficients[0]) + near
    score = weights * (inside.outcome - expit(log_odds + value))
    return _of_rows_with_logit(rows, value, score * float(fit.covariance[0, 0]))


def _with_logit(rows: Rows) -> Rows:
    """The rows whose risk has a logit: one that is set for a risk of 0 or 1 would set the slope."""
    kept = has_logit(rows.risk)
    return rows if kept.all() else Rows(rows.outcome[kept], rows.risk[kept], rows.weights[kept], rows.threshold)


def _of_rows_with_logit(rows: Rows, value: float, linearized: Floats) -> Weighted:
    """A value of the rows whose risk has a logit: the others contribute nothing, and are counted."""
    kept = has_logit(rows.risk)
    count = int((~kept).sum())
    contributions = np.zeros(len(kept))
    contributions[kept] = linearized
    return Weighted(value, contributions, {"left_out": float(count)} if count else {})


def calibration_slope(rows: Rows) -> Found:
    """The slope of the weighted logistic regression on the log odds of the risk."""
    return _coefficient(rows, 1)


def calibration_intercept_joint(rows: Rows) -> Found:
    """The intercept of the weighted logistic regression on the log odds of the risk, fitted with the slope."""
    return _coefficient(rows, 0)


def _coefficient(every: Rows, which: int) -> Found:
    """Intercept or slope, whose score equations hold each row at its weight (Binder 1983)."""
    rows = _with_logit(every)
    if reason := _one_class(rows):
        return reason
    log_odds, weights = logit(rows.risk), rows.weights / rows.weights.mean()
    spread = math.sqrt(mean((log_odds - mean(log_odds, weights)) ** 2, weights))
    if spread <= 1e-10 * math.sqrt(mean(log_odds**2, weights)):
        return Absent(Fact("weighted_risks_equal_no_slope"))
    design = np.vstack((np.ones_like(log_odds), log_odds))
    fit = logistic_fit(design, rows.outcome, weights=weights)
    if isinstance(fit, Absent):
        return fit
    intercept, slope = (float(coefficient) for coefficient in fit.coefficients)
    score = weights * (rows.outcome - expit(intercept + slope * log_odds))
    linearized = score * (fit.covariance[which, 0] + fit.covariance[which, 1] * log_odds)
    return _of_rows_with_logit(every, (intercept, slope)[which], linearized)


def difference_to_rival(measure: Measure) -> Measure:
    """The measure of the model less that of the other model."""

    def difference(rows: Rows) -> Found:
        ours, theirs = measure(rows), measure(rows.of_rival)
        if isinstance(ours, Absent):
            return ours
        if isinstance(theirs, Absent):
            return theirs
        return Weighted(ours.value - theirs.value, ours.linearized - theirs.linearized)

    return difference
