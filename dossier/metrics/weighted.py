"""Sampling weights: measures that are means, ratios of means or shares of pairs, with each row at its weight."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dossier.metrics.logistic import has_logit, logistic_fit, logit, near_intercept
from dossier.metrics.utility import AT_ONE, contributions
from dossier.types import Absent, Floats


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
        """The rows with the rival's risks."""
        if self.rival is None:
            raise TypeError("the rows have no rival")
        return Rows(self.outcome, self.rival, self.weights, self.threshold)


@dataclass(frozen=True)
class Weighted:
    """A weighted value, with what belongs to it."""

    value: float
    details: Mapping[str, float | None] = field(default_factory=dict)


Found = Weighted | Absent
NOTHING = Absent("no row that is left has a weight")
NO_CASE = Absent("no row that has a weight has the outcome")
NO_OTHER = Absent("every row that has a weight has the outcome")


def mean(values: Floats, weights: Floats) -> float:
    """The weighted mean, sum(w v)/sum(w)."""
    return float((weights * values).sum() / weights.sum())


def _one_class(rows: Rows) -> Absent | None:
    """The reason why cases cannot be compared with the others, if there is one."""
    cases, others = (rows.weights[rows.outcome == label].any() for label in (1, 0))
    if cases and others:
        return None
    if not cases and not others:
        return NOTHING
    return NO_OTHER if cases else NO_CASE


def _quotient(above: float, below: float) -> Found:
    """A ratio that may be of any size; Absent where it would be beyond all numbers."""
    value = above / below if below > 0 else math.inf
    return Weighted(value) if math.isfinite(value) else Absent("its denominator is too small to divide by")


# ---- at a threshold -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shares:
    """The weights of the four cells at a threshold."""

    true_positive: float
    false_positive: float
    false_negative: float
    true_negative: float

    @property
    def cases(self) -> float:
        """The weight of the rows with the outcome."""
        return self.true_positive + self.false_negative

    @property
    def others(self) -> float:
        """The weight of the rows without it."""
        return self.true_negative + self.false_positive


def _cells(rows: Rows) -> Shares:
    flagged, case = rows.risk >= rows.threshold, rows.outcome == 1
    parts = (flagged & case, flagged & ~case, ~flagged & case, ~flagged & ~case)
    return Shares(*(float(rows.weights[part].sum()) for part in parts))


def _share(chosen: float, among: float, empty: Absent) -> Found:
    """The weight of the chosen among the weight of all, or why there is none of that."""
    return empty if among == 0 else Weighted(chosen / among)


def sensitivity(rows: Rows) -> Found:
    """The weighted share of cases that are flagged."""
    found = _cells(rows)
    return _share(found.true_positive, found.cases, NO_CASE)


def specificity(rows: Rows) -> Found:
    """The weighted share of non-cases that are not flagged."""
    found = _cells(rows)
    return _share(found.true_negative, found.others, NO_OTHER)


def ppv(rows: Rows) -> Found:
    """The weighted share of the flagged that are cases."""
    found = _cells(rows)
    empty = Absent(f"no risk that has a weight reaches the threshold of {rows.threshold:g}")
    return _share(found.true_positive, found.true_positive + found.false_positive, empty)


def npv(rows: Rows) -> Found:
    """The weighted share of the unflagged that are no cases."""
    found = _cells(rows)
    empty = Absent(f"every risk that has a weight reaches the threshold of {rows.threshold:g}")
    return _share(found.true_negative, found.true_negative + found.false_negative, empty)


def accuracy(rows: Rows) -> Found:
    """The weighted share of right answers."""
    found, phi = _cells(rows), mean(rows.outcome, rows.weights)
    share = (found.true_positive + found.true_negative) / float(rows.weights.sum())
    return Weighted(share, {"larger_class": max(phi, 1 - phi)})


def _both(rows: Rows) -> tuple[float, float] | Absent:
    hit, right = sensitivity(rows), specificity(rows)
    if isinstance(hit, Absent):
        return hit
    return right if isinstance(right, Absent) else (hit.value, right.value)


def _weights(rows: Rows) -> dict[str, float | None]:
    phi = mean(rows.outcome, rows.weights)
    declared = rows.threshold / (1 - rows.threshold) if rows.threshold < 1 else None
    # Beside cases that weigh a great deal more than the others, the prevalence is rounded to 1.
    return {"false_alarm_weight": phi / (1 - phi) if phi < 1 else None, "declared_weight": declared}


def balanced_accuracy(rows: Rows) -> Found:
    """The mean of the weighted sensitivity and specificity."""
    both = _both(rows)
    return both if isinstance(both, Absent) else Weighted(sum(both) / 2, _weights(rows))


def youden_j(rows: Rows) -> Found:
    """The sum of the weighted sensitivity and specificity, less 1."""
    both = _both(rows)
    return both if isinstance(both, Absent) else Weighted(sum(both) - 1, _weights(rows))


def likelihood_ratio_positive(rows: Rows) -> Found:
    """The weighted sensitivity over the weighted share of non-cases that are flagged."""
    found = _cells(rows)
    return _likelihood_ratio(rows, found, (found.true_positive, found.false_positive), "is flagged at")


def likelihood_ratio_negative(rows: Rows) -> Found:
    """The weighted share of cases that are not flagged over the weighted specificity."""
    found = _cells(rows)
    return _likelihood_ratio(rows, found, (found.false_negative, found.true_negative), "stays below")


def _likelihood_ratio(rows: Rows, found: Shares, chosen: tuple[float, float], doing: str) -> Found:
    """The share of the chosen among the cases over that among the others; Absent where either is 0."""
    if reason := _one_class(rows):
        return reason
    for weight, who in zip(chosen, ("with", "without"), strict=True):
        if weight == 0:
            patient = f"patient {who} the outcome that has a weight"
            return Absent(f"no {patient} {doing} the threshold of {rows.threshold:g}")
    return _quotient(chosen[0] / found.cases, chosen[1] / found.others)


def standardized_net_benefit(rows: Rows) -> Found:
    """The weighted net benefit over the weighted prevalence."""
    if rows.threshold >= 1:
        return AT_ONE
    phi = mean(rows.outcome, rows.weights)
    if phi == 0:
        return NO_CASE
    return _quotient(mean(contributions(rows.outcome, rows.risk, rows.threshold), rows.weights), phi)


# ---- without a threshold --------------------------------------------------------------------------------------------


def auroc(rows: Rows) -> Found:
    """The weighted share of the pairs of a case and another that are in order, each pair at the product of its weights;
    ties count half.
    """
    if reason := _one_class(rows):
        return reason
    case = rows.outcome == 1
    levels, place = np.unique(rows.risk, return_inverse=True)
    cases, others = (
        np.bincount(place[member], weights=rows.weights[member], minlength=len(levels)).astype(float)
        for member in (case, ~case)
    )
    below = np.cumsum(others) - others
    return Weighted(mean((below + others / 2) / others.sum(), cases))


def brier(rows: Rows) -> Found:
    """The weighted mean squared distance of the risk from what happened."""
    return Weighted(mean((rows.risk - rows.outcome) ** 2, rows.weights))


def scaled_brier(rows: Rows) -> Found:
    """One less the weighted Brier score over that of the weighted prevalence."""
    if reason := _one_class(rows):
        return reason
    # The share of the others on its own: beside cases that weigh a great deal more, 1 - phi is rounded to 0.
    reference = mean(rows.outcome, rows.weights) * mean(1 - rows.outcome, rows.weights)
    found = _quotient(mean((rows.risk - rows.outcome) ** 2, rows.weights), reference)
    return found if isinstance(found, Absent) else Weighted(1 - found.value)


def log_score(rows: Rows) -> Found:
    """The weighted mean of the logarithm of the probability of what happened."""
    given = np.where(rows.outcome == 1, rows.risk, 1 - rows.risk)
    return Weighted(mean(np.log(given), rows.weights))


def tjur_r2(rows: Rows) -> Found:
    """The weighted mean risk of the cases less that of the others."""
    if reason := _one_class(rows):
        return reason
    of_cases, of_others = (
        mean(rows.risk[rows.outcome == label], rows.weights[rows.outcome == label]) for label in (1, 0)
    )
    return Weighted(of_cases - of_others, {"mean_of_cases": of_cases, "mean_of_others": of_others})


def calibration_intercept(rows: Rows) -> Found:
    """The intercept of the weighted logistic regression on the log odds of the risk, the slope held at 1."""
    inside = _with_logit(rows)
    if reason := _one_class(inside):
        return reason
    log_odds, weights = logit(inside.risk), inside.weights / inside.weights.mean()
    near = near_intercept(inside.outcome, log_odds, weights)
    fit = logistic_fit(np.ones((1, len(weights))), inside.outcome, log_odds + near, weights)
    return fit if isinstance(fit, Absent) else Weighted(float(fit.coefficients[0]) + near, _left_out(rows))


def _with_logit(rows: Rows) -> Rows:
    """The rows whose risk has a logit: one that is set for a risk of 0 or 1 would set the slope."""
    kept = has_logit(rows.risk)
    return rows if kept.all() else Rows(rows.outcome[kept], rows.risk[kept], rows.weights[kept], rows.threshold)


def _left_out(rows: Rows) -> dict[str, float | None]:
    """How many rows have no logit, where some have none."""
    count = int((~has_logit(rows.risk)).sum())
    return {"left_out": float(count)} if count else {}


def calibration_slope(rows: Rows) -> Found:
    """The slope of the weighted logistic regression on the log odds of the risk."""
    line = _line(rows)
    return line if isinstance(line, Absent) else Weighted(line[1], _left_out(rows))


def calibration_intercept_joint(rows: Rows) -> Found:
    """The intercept of the weighted logistic regression on the log odds of the risk, fitted with the slope."""
    line = _line(rows)
    return line if isinstance(line, Absent) else Weighted(line[0], _left_out(rows))


def _line(rows: Rows) -> tuple[float, float] | Absent:
    """Intercept and slope, whose score equations hold each row at its weight (Binder 1983)."""
    rows = _with_logit(rows)
    if reason := _one_class(rows):
        return reason
    log_odds, weights = logit(rows.risk), rows.weights / rows.weights.mean()
    spread = math.sqrt(mean((log_odds - mean(log_odds, weights)) ** 2, weights))
    if spread <= 1e-10 * math.sqrt(mean(log_odds**2, weights)):
        return Absent("every risk that has a weight is the same or nearly so, so that there is no slope")
    fit = logistic_fit(np.vstack((np.ones_like(log_odds), log_odds)), rows.outcome, weights=weights)
    return fit if isinstance(fit, Absent) else (float(fit.coefficients[0]), float(fit.coefficients[1]))


def _apart(measure: Callable[[Rows], Found]) -> Callable[[Rows], Found]:
    """The measure of the model less that of the rival."""

    def difference(rows: Rows) -> Found:
        ours, theirs = measure(rows), measure(rows.of_rival)
        if isinstance(ours, Absent):
            return ours
        return theirs if isinstance(theirs, Absent) else Weighted(ours.value - theirs.value)

    return difference


def _theirs(measure: Callable[[Rows], Found]) -> Callable[[Rows], Found]:
    """The measure of the rival."""

    def of_rival(rows: Rows) -> Found:
        found = measure(rows.of_rival)
        return Absent(f"for the rival, {found.reason}") if isinstance(found, Absent) else found

    return of_rival


VALUES: Mapping[str, Callable[[Rows], Found]] = {
    **{
        measure.__name__: measure
        for measure in (
            *(sensitivity, specificity, ppv, npv, accuracy, balanced_accuracy, youden_j),
            *(likelihood_ratio_positive, likelihood_ratio_negative, standardized_net_benefit),
            *(auroc, brier, scaled_brier, log_score, tjur_r2),
            *(calibration_intercept, calibration_slope, calibration_intercept_joint),
        )
    },
    "auroc_of_rival": _theirs(auroc),
    "calibration_slope_of_rival": _theirs(calibration_slope),
    "auroc_difference": _apart(auroc),
    "brier_difference": _apart(brier),
    "log_score_difference": _apart(log_score),
    "accuracy_difference": _apart(accuracy),
}
"""The measures that honour sampling weights, by name."""
