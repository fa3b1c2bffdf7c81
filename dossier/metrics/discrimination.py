"""Discrimination: does the model give those who have the outcome higher risks than those who have not?"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import rankdata

from dossier.metrics.intervals import column, on_logit, wilson
from dossier.register import curve, metric
from dossier.types import Absent, Curve, Estimate, Floats

POINTS = 250
"""The most points that a curve holds."""


def one_class(outcome: Floats) -> Absent | None:
    """The reason why cases cannot be compared with non-cases, if there is one."""
    if len(outcome) == 0:
        return Absent("there are no rows")
    if len(outcome) == 1:
        return Absent("there is a single row, so that cases and non-cases cannot be compared")
    events = int(outcome.sum())
    if events == 0:
        return Absent(f"none of the {len(outcome)} rows has the outcome")
    if events == len(outcome):
        return Absent(f"all {len(outcome)} rows have the outcome")
    return None


def placements(outcome: Floats, risk: Floats) -> tuple[Floats, Floats]:
    """For each case the share of non-cases ranked below it, for each non-case the share of cases above it; ties count
    half.
    """
    case = outcome == 1
    among_all = rankdata(risk)
    above = (among_all[case] - rankdata(risk[case])) / float((~case).sum())
    below = 1 - (among_all[~case] - rankdata(risk[~case])) / float(case.sum())
    return above, below


def delong_variance(above: Floats, below: Floats) -> float | None:
    """DeLong's variance from the placements; None with a single case or non-case, for which it does not exist."""
    if len(above) < 2 or len(below) < 2:
        return None
    return float(np.var(above, ddof=1)) / len(above) + float(np.var(below, ddof=1)) / len(below)


def newcombe_standard_error(auroc: float, n: int, events: int) -> float:
    """Newcombe's standard error of an AUROC, from its value and the counts alone (Newcombe 2006, method 4)."""
    half = n / 2 - 1
    spread = auroc * (1 - auroc) * (1 + half * (1 - auroc) / (2 - auroc) + half * auroc / (1 + auroc))
    return math.sqrt(spread / (events * (n - events)))


@metric(
    "AUROC",
    digits=2,
    range=(0, 1),
    best="higher",
    tier="core",
    cites=("DeLong 1988", "Sun 2014", "Newcombe 2006", "Qin 2008"),
    roles=("development", "internal", "external"),
    pool="logit",
)
def auroc(outcome: Floats, risk: Floats, level: float = 0.95) -> Estimate | Absent:
    """The probability that a randomly chosen person with the outcome has a higher risk than one without it.

    .5 is chance and 1 is perfect order; ties count half. It says nothing about whether the risks are right in size.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1; only its order matters), `level` (confidence level, 0 to 1).
    Returns the AUROC with DeLong's standard error `se` on the plain scale and an interval symmetric on the logit scale.
    Absent with no rows, or when all rows are of one class.

    Formula: mean over pairs of 1[p_case > p_other] + 1[p_case = p_other]/2; variance = var(V10)/m + var(V01)/n of the
    placements [DeLong 1988], computed by midranks in n log n [Sun 2014]; logit interval with SE/(A(1-A)) [Qin 2008].
    At 0 or 1 DeLong's SE is 0: the interval then ends in 0 or 1, and its other bound comes from Newcombe's SE at (n A
    + .5)/(n + 1), on the logit scale, with the two-sided quantile as Clopper and Pearson take it. Newcombe's SE also
    stands in where DeLong's does not exist (a single case or non-case) or is 0 (every risk the same).
    """
    if reason := one_class(outcome):
        return reason
    n, events = len(outcome), int(outcome.sum())
    above, below = placements(outcome, risk)
    value = min(1.0, max(0.0, float(above.mean())))
    variance = delong_variance(above, below)
    if variance is not None and variance > 0 and 0 < value < 1:
        se = math.sqrt(variance)
        low, high = on_logit(value, se, level)
        return Estimate(value, low, high, level, n, "DeLong, logit", events, se)
    inside = value if 0 < value < 1 else (n * value + 0.5) / (n + 1)
    se = newcombe_standard_error(inside, n, events)
    low, high = on_logit(inside, se, level)
    if 0 < value < 1:
        return Estimate(value, low, high, level, n, "Newcombe, logit", events, se)
    low, high = (low, 1.0) if value == 1 else (0.0, high)
    return Estimate(value, low, high, level, n, "Newcombe at (n AUROC + .5)/(n + 1), logit", events, se)


def _share(chosen: Floats, among: Floats, outcome: Floats, level: float, empty: str) -> Estimate | Absent:
    """The share of the rows `among` that are also `chosen`, with Wilson's interval; n is the number of those rows."""
    if len(outcome) == 0:
        return Absent("there are no rows")
    trials, successes = int(among.sum()), int((among * chosen).sum())
    if trials == 0:
        return Absent(empty)
    low, high = wilson(successes, trials, level)
    return Estimate(successes / trials, low, high, level, trials, "Wilson", int((among * outcome).sum()))


@metric(
    "Sensitivity",
    range=(0, 1),
    best="higher",
    tier="descriptive",
    cites="Wilson 1927",
    at=("threshold",),
    digits=0,
    unit="%",
    breaks=("one class is absent",),
)
def sensitivity(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of the people with the outcome whom the model flags at the threshold.

    Read it only together with the specificity at the same threshold.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `threshold` (0 to 1; a row is flagged when risk >=
    threshold), `level` (confidence level). Returns TP/(TP + FN) with Wilson's interval; n is the number of cases.
    Absent without a case. Source: Wilson 1927.
    """
    flagged = (risk >= threshold).astype(float)
    return _share(flagged, outcome, outcome, level, "no row has the outcome")


@metric(
    "Specificity",
    range=(0, 1),
    best="higher",
    tier="descriptive",
    cites="Wilson 1927",
    at=("threshold",),
    digits=0,
    unit="%",
    breaks=("one class is absent",),
)
def specificity(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of the people without the outcome whom the model leaves unflagged at the threshold.

    Read it only together with the sensitivity at the same threshold.

    Arguments: as for `sensitivity`. Returns TN/(TN + FP) with Wilson's interval; n is the number of non-cases. Absent
    without a non-case. Source: Wilson 1927.
    """
    unflagged = (risk < threshold).astype(float)
    return _share(unflagged, 1 - outcome, outcome, level, "every row has the outcome")


@metric(
    "Positive predictive value",
    range=(0, 1),
    best="higher",
    tier="descriptive",
    cites="Wilson 1927",
    at=("threshold",),
    digits=0,
    unit="%",
    breaks=("one class is absent",),
)
def ppv(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of the flagged people who have the outcome.

    It depends on how common the outcome is at the site; read it only together with the negative predictive value.

    Arguments: as for `sensitivity`. Returns TP/(TP + FP) with Wilson's interval; n is the number of flagged rows.
    Absent when no row is flagged. Source: Wilson 1927.
    """
    flagged = (risk >= threshold).astype(float)
    return _share(outcome, flagged, outcome, level, f"no risk reaches the threshold of {threshold:g}")


@metric(
    "Negative predictive value",
    range=(0, 1),
    best="higher",
    tier="descriptive",
    cites="Wilson 1927",
    at=("threshold",),
    digits=0,
    unit="%",
    breaks=("one class is absent",),
)
def npv(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of the unflagged people who do not have the outcome.

    It depends on how common the outcome is at the site; read it only together with the positive predictive value.

    Arguments: as for `sensitivity`. Returns TN/(TN + FN) with Wilson's interval; n is the number of unflagged rows.
    Absent when every row is flagged. Source: Wilson 1927.
    """
    unflagged = (risk < threshold).astype(float)
    return _share(1 - outcome, unflagged, outcome, level, f"every risk reaches the threshold of {threshold:g}")


def roc_vertices(outcome: Floats, risk: Floats) -> tuple[Floats, Floats]:
    """Every corner of the ROC curve from (0, 0) to (1, 1), one for each distinct risk from the highest down."""
    order = np.argsort(-risk, kind="stable")
    sorted_risk, sorted_outcome = risk[order], outcome[order]
    last = np.append(np.flatnonzero(np.diff(sorted_risk)), len(risk) - 1)
    true_positives = np.cumsum(sorted_outcome)[last]
    false_positives = 1 + last - true_positives
    tpr = np.concatenate(([0.0], true_positives / true_positives[-1]))
    fpr = np.concatenate(([0.0], false_positives / false_positives[-1]))
    return fpr, tpr


def _along(fpr: Floats, tpr: Floats, points: int) -> tuple[Floats, Floats]:
    """So many points on the curve, evenly spaced along its length as measured in steps up and to the right."""
    length = fpr + tpr
    wanted = np.linspace(0, 2, points)
    return np.interp(wanted, length, fpr), np.interp(wanted, length, tpr)


def _thinned(fpr: Floats, tpr: Floats) -> tuple[Floats, Floats]:
    """The curve itself, or the thinning of it whose area is nearest.

    A staircase whose steps keep time with the spacing would lose area at every step; three spacings cannot all do so.
    """
    if len(fpr) <= POINTS:
        return fpr, tpr
    area = np.trapezoid(tpr, fpr)
    candidates = [_along(fpr, tpr, points) for points in (POINTS, POINTS - 9, POINTS - 17)]
    return min(candidates, key=lambda found: abs(float(np.trapezoid(found[1], found[0]) - area)))


@curve("ROC curve", cites="Hanley 1982")
def roc(outcome: Floats, risk: Floats) -> Curve | Absent:
    """The share of cases flagged against the share of non-cases flagged, at every possible threshold.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1). Returns the columns `fpr` and `tpr` from (0, 0) to (1, 1);
    tied risks make a slanted step. Above 250 corners, points evenly spaced along the curve stand for it, and the area
    under them stays within .001 of the whole. Absent when all rows are of one class.
    """
    if reason := one_class(outcome):
        return reason
    fpr, tpr = _thinned(*roc_vertices(outcome, risk))
    return Curve({"fpr": column(fpr), "tpr": column(tpr)}, len(outcome), "empirical", int(outcome.sum()))


@curve("Distribution of risk", cites="Van Calster 2025")
def risk_distribution(outcome: Floats, risk: Floats) -> Curve | Absent:
    """How many people with and without the outcome received a risk in each tenth of the scale from 0 to 1.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1). Returns ten bins of equal width, closed below and the last
    also above: `low`, `high`, the counts `events` and `non_events`, and the shares of all cases and of all non-cases
    that lie in the bin (missing where there are no cases or no non-cases). Absent without rows.
    """
    if len(outcome) == 0:
        return Absent("there are no rows")
    place = np.searchsorted(np.arange(1, 10) / 10, risk, side="right")
    events = np.bincount(place, weights=outcome, minlength=10).astype(float)
    non_events = np.bincount(place, weights=1 - outcome, minlength=10).astype(float)
    columns = {
        "low": column(np.arange(10) / 10),
        "high": column(np.arange(1, 11) / 10),
        "events": column(events),
        "non_events": column(non_events),
        "share_events": _shares(events),
        "share_non_events": _shares(non_events),
    }
    return Curve(columns, len(outcome), "counts", int(outcome.sum()))


def _shares(counts: Floats) -> tuple[float | None, ...]:
    total = float(counts.sum())
    return column(counts / total) if total else (None,) * len(counts)
