"""Sampling weights: measures that are means, ratios of means or shares of pairs, with each row at its weight."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dossier.metrics.logistic import logistic_fit, logit, near_intercept
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
NOTHING = Absent("the rows that it is a share of have no weight")


def mean(values: Floats, weights: Floats) -> float:
    """The weighted mean, sum(w v)/sum(w)."""
    return float((weights * values).sum() / weights.sum())


def _share(chosen: Floats, among: Floats) -> Found:
    """The weight of the chosen among the weight of all; both hold the rows' weights, 0 where a row does not belong."""
    return NOTHING if among.sum() == 0 else Weighted(float(chosen.sum() / among.sum()))


# ---- at a threshold -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shares:
    """The weights of the four cells at a threshold."""

    true_positive: float
    false_positive: float
    false_negative: float
    true_negative: float


def _cells(rows: Rows) -> Shares:
    flagged, case = rows.risk >= rows.threshold, rows.outcome == 1
    parts = (flagged & case, flagged & ~case, ~flagged & case, ~flagged & ~case)
    return Shares(*(float(rows.weights[part].sum()) for part in parts))


def _ratio(above: float, below: float) -> Found:
    return NOTHING if below == 0 else Weighted(above / below)


def sensitivity(rows: Rows) -> Found:
    """The weighted share of cases that are flagged."""
    found = _cells(rows)
    return _ratio(found.true_positive, found.true_positive + found.false_negative)


def specificity(rows: Rows) -> Found:
    """The weighted share of non-cases that are not flagged."""
    found = _cells(rows)
    return _ratio(found.true_negative, found.true_negative + found.false_positive)


def ppv(rows: Rows) -> Found:
    """The weighted share of the flagged that are cases."""
    found = _cells(rows)
    return _ratio(found.true_positive, found.true_positive + found.false_positive)


def npv(rows: Rows) -> Found:
    """The weighted share of the unflagged that are no cases."""
    found = _cells(rows)
    return _ratio(found.true_negative, found.true_negative + found.false_negative)


def accuracy(rows: Rows) -> Found:
    """The weighted share of right answers."""
    found, phi = _cells(rows), mean(rows.outcome, rows.weights)
    share = (found.true_positive + found.true_negative) / float(rows.weights.sum())
    return Weighted(share, {"larger_class": max(phi, 1 - phi)})


def _both(rows: Rows) -> tuple[float, float] | Absent:
    hit, right = sensitivity(rows), specificity(rows)
    if isinstance(hit, Absent) or isinstance(right, Absent):
        return NOTHING
    return hit.value, right.value


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
    both = _both(rows)
    return both if isinstance(both, Absent) else _ratio(both[0], 1 - both[1])


def likelihood_ratio_negative(rows: Rows) -> Found:
    """The weighted share of cases that are not flagged over the weighted specificity."""
    both = _both(rows)
    return both if isinstance(both, Absent) else _ratio(1 - both[0], both[1])


def net_benefit(rows: Rows) -> Found:
    """The weighted mean of what the rows contribute to the net benefit."""
    if rows.threshold >= 1:
        return AT_ONE
    everyone = contributions(rows.outcome, np.ones(len(rows.outcome)), rows.threshold)
    found = contributions(rows.outcome, rows.risk, rows.threshold)
    return Weighted(mean(found, rows.weights), {"treat_all": mean(everyone, rows.weights)})


def standardized_net_benefit(rows: Rows) -> Found:
    """The weighted net benefit over the weighted prevalence."""
    found, phi = net_benefit(rows), mean(rows.outcome, rows.weights)
    return found if isinstance(found, Absent) else _ratio(found.value, phi)


# ---- without a threshold --------------------------------------------------------------------------------------------


def auroc(rows: Rows) -> Found:
    """The weighted share of the pairs of a case and another that are in order, each pair at the product of its weights;
    ties count half.
    """
    case = rows.outcome == 1
    levels, place = np.unique(rows.risk, return_inverse=True)
    cases = np.bincount(place[case], weights=rows.weights[case], minlength=len(levels))
    others = np.bincount(place[~case], weights=rows.weights[~case], minlength=len(levels))
    below = np.cumsum(others) - others
    return _ratio(float((cases * (below + others / 2)).sum()), float(cases.sum() * others.sum()))


def brier(rows: Rows) -> Found:
    """The weighted mean squared distance of the risk from what happened."""
    return Weighted(mean((rows.risk - rows.outcome) ** 2, rows.weights))


def scaled_brier(rows: Rows) -> Found:
    """One less the weighted Brier score over that of the weighted prevalence."""
    phi = mean(rows.outcome, rows.weights)
    found = _ratio(mean((rows.risk - rows.outcome) ** 2, rows.weights), phi * (1 - phi))
    return found if isinstance(found, Absent) else Weighted(1 - found.value)


def log_score(rows: Rows) -> Found:
    """The weighted mean of the logarithm of the probability of what happened."""
    given = np.where(rows.outcome == 1, rows.risk, 1 - rows.risk)
    return Weighted(mean(np.log(given), rows.weights))


def tjur_r2(rows: Rows) -> Found:
    """The weighted mean risk of the cases less that of the others."""
    case = rows.outcome == 1
    of_cases = _share(rows.weights[case] * rows.risk[case], rows.weights[case])
    of_others = _share(rows.weights[~case] * rows.risk[~case], rows.weights[~case])
    if isinstance(of_cases, Absent) or isinstance(of_others, Absent):
        return NOTHING
    means = {"mean_of_cases": of_cases.value, "mean_of_others": of_others.value}
    return Weighted(of_cases.value - of_others.value, means)


def oe_ratio(rows: Rows) -> Found:
    """The weighted number of cases over the weighted number expected."""
    return _share(rows.weights * rows.outcome, rows.weights * rows.risk)


def calibration_intercept(rows: Rows) -> Found:
    """The intercept of the weighted logistic regression on the log odds of the risk, the slope held at 1."""
    log_odds, weights = logit(rows.risk), rows.weights / rows.weights.mean()
    near = near_intercept(rows.outcome, log_odds, weights)
    fit = logistic_fit(np.ones((1, len(weights))), rows.outcome, log_odds + near, weights)
    return fit if isinstance(fit, Absent) else Weighted(float(fit.coefficients[0]) + near)


def calibration_slope(rows: Rows) -> Found:
    """The slope of the weighted logistic regression on the log odds of the risk."""
    line = _line(rows)
    return line if isinstance(line, Absent) else Weighted(line[1])


def calibration_intercept_joint(rows: Rows) -> Found:
    """The intercept of the weighted logistic regression on the log odds of the risk, fitted with the slope."""
    line = _line(rows)
    return line if isinstance(line, Absent) else Weighted(line[0])


def _line(rows: Rows) -> tuple[float, float] | Absent:
    """Intercept and slope, whose score equations hold each row at its weight (Binder 1983)."""
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
        if isinstance(ours, Absent) or isinstance(theirs, Absent):
            return NOTHING
        return Weighted(ours.value - theirs.value)

    return difference


VALUES: Mapping[str, Callable[[Rows], Found]] = {
    **{
        measure.__name__: measure
        for measure in (
            *(sensitivity, specificity, ppv, npv, accuracy, balanced_accuracy, youden_j),
            *(likelihood_ratio_positive, likelihood_ratio_negative, net_benefit, standardized_net_benefit),
            *(auroc, brier, scaled_brier, log_score, tjur_r2, oe_ratio),
            *(calibration_intercept, calibration_slope, calibration_intercept_joint),
        )
    },
    "auroc_difference": _apart(auroc),
    "brier_difference": _apart(brier),
    "log_score_difference": _apart(log_score),
    "accuracy_difference": _apart(accuracy),
    "net_benefit_difference": _apart(net_benefit),
}
"""The measures that honour sampling weights, by name."""
