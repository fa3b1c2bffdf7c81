"""Comparison with the rival model: both give a risk to the same people, so the difference is paired row by row."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm, t

from dossier.metrics.discrimination import one_class, placements
from dossier.metrics.intervals import estimate, standard_error
from dossier.metrics.utility import AT_ONE, NO_ROWS, contributions
from dossier.register import metric
from dossier.types import Absent, Estimate, Floats

RIVAL = {"against": "rival"}


def paired_delong_variance(outcome: Floats, risk: Floats, rival: Floats) -> float | None:
    """DeLong's variance of the difference of two AUROCs on the same rows; None with a single case or non-case."""
    above, below = placements(outcome, risk)
    rival_above, rival_below = placements(outcome, rival)
    if len(above) < 2 or len(below) < 2:
        return None
    cases = float(np.var(above - rival_above, ddof=1)) / len(above)
    return cases + float(np.var(below - rival_below, ddof=1)) / len(below)


@metric(
    "AUROC, difference from the rival",
    digits=3,
    range=(-1, 1),
    best="higher",
    tier="descriptive",
    cites="DeLong 1988",
    measure="auroc",
    fixed=RIVAL,
    independent_rows=True,
    breaks=("perfect is best",),
)
def auroc_difference(outcome: Floats, risk: Floats, rival: Floats, level: float = 0.95) -> Estimate | Absent:
    """By how much the AUROC of the model exceeds that of the rival on the same people.

    Above 0 the model orders people better than the rival.

    Arguments: `outcome` (n, 0 or 1), `risk` and `rival` (n, 0 to 1), `level`. Returns AUROC(risk) - AUROC(rival) with
    the normal interval and the two-sided `p_value` of DeLong's paired test. Absent when all rows are of one class;
    interval and p-value are missing with a single case or non-case, or when both models order every pair alike.
    Source: DeLong 1988.
    """
    if reason := one_class(outcome):
        return reason
    value = float(placements(outcome, risk)[0].mean() - placements(outcome, rival)[0].mean())
    variance = paired_delong_variance(outcome, risk, rival)
    se = math.sqrt(variance) if variance is not None and variance > 0 else None
    p_value = None if se is None else 2 * float(norm.sf(abs(value) / se))
    return estimate(
        value, se, level, outcome, "paired DeLong, normal", floor=-1, ceiling=1, details={"p_value": p_value}
    )


@metric(
    "Brier score, difference from the rival",
    digits=3,
    range=(-1, 1),
    best="lower",
    tier="descriptive",
    cites="Bradley 2008",
    measure="brier",
    fixed=RIVAL,
    independent_rows=True,
    breaks=("perfect is best", "one class is absent"),
)
def brier_difference(outcome: Floats, risk: Floats, rival: Floats, level: float = 0.95) -> Estimate | Absent:
    """By how much the Brier score of the model exceeds that of the rival on the same people.

    Below 0 the model's risks lie nearer to what happened.

    Arguments: `outcome` (n, 0 or 1), `risk` and `rival` (n, 0 to 1), `level`. Returns the mean of (p - y)^2 - (rival
    - y)^2 with the t interval and the two-sided `p_value` of the paired t test. Absent without rows; interval and
    p-value are missing when the differences do not vary.
    """
    if len(outcome) == 0:
        return NO_ROWS
    differences = (risk - outcome) ** 2 - (rival - outcome) ** 2
    value, se = float(differences.mean()), standard_error(differences)
    p_value = None if se is None else 2 * float(t.sf(abs(value) / se, len(outcome) - 1))
    return estimate(
        value, se, level, outcome, "paired t", student=True, floor=-1, ceiling=1, details={"p_value": p_value}
    )


@metric(
    "Net benefit, difference from the rival",
    digits=1,
    unit="per 100",
    best="higher",
    tier="descriptive",
    cites="Vickers 2006",
    at=("threshold",),
    measure="net_benefit",
    fixed=RIVAL,
    independent_rows=True,
    breaks=("perfect is best", "one class is absent"),
)
def net_benefit_difference(
    outcome: Floats, risk: Floats, rival: Floats, threshold: float, level: float = 0.95
) -> Estimate | Absent:
    """By how much the net benefit of the model exceeds that of the rival at the same threshold on the same people.

    Above 0 acting on the model does more good than acting on the rival.

    Arguments: `outcome` (n, 0 or 1), `risk` and `rival` (n, 0 to 1), `threshold` (0 to below 1), `level`. Returns the
    mean difference of the rows' contributions with the normal interval and two-sided `p_value` from their standard
    error. Absent without rows or at a threshold of 1; interval and p-value are missing when the differences do not
    vary, as when both models flag the same people.
    """
    if len(outcome) == 0:
        return NO_ROWS
    if threshold >= 1:
        return AT_ONE
    differences = contributions(outcome, risk, threshold) - contributions(outcome, rival, threshold)
    value, se = float(differences.mean()), standard_error(differences)
    p_value = None if se is None else 2 * float(norm.sf(abs(value) / se))
    return estimate(value, se, level, outcome, "paired, normal", details={"p_value": p_value})
