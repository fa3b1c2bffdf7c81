"""Who left follow-up: do patients with higher risks leave earlier than the others?"""

from __future__ import annotations

import math

import numpy as np

from dossier.core.facts import Count, Fact, Method
from dossier.core.register import metric
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics.censoring import Bools, TimeToEvent
from dossier.metrics.intervals import beyond, on_log
from dossier.metrics.logistic import CLOGLOG

CHAPTER = "description"
FEWEST_LEAVING = 5
MOST_STEPS = 50


@metric(
    "Leaving by risk",
    range=(0, None),
    best="one",
    tier="descriptive",
    cites=("Cox 1972", "Efron 1977"),
    formula="exp(b), b the coefficient of a Cox regression of leaving before the horizon on log(-log(1 - p)) in SD",
)
def censoring_by_risk(followed: TimeToEvent, risk: Floats, level: float = 0.95) -> Estimate | Absent:
    """How much more often people leave follow-up for each standard deviation by which their risk is higher.

    At 1 leaving has nothing to do with the risk. Elsewhere only weights within groups of like risks make up for it.

    Returns
    -------
    Estimate or Absent
        The hazard ratio with a Wald interval on the log scale, ties by Efron; `p_value` in the details. Absent where
        fewer than five leave before the horizon, and where all risks are equal.

    Examples
    --------
    >>> from dossier.metrics.censoring import TimeToEvent
    >>> followed = TimeToEvent(time=[6, 1, 2, 3, 5, 4], event=[0, 0, 0, 0, 0, 0], horizon=6)
    >>> print(dossier.metrics.censoring_by_risk(followed, risk))
    1.34 (0.54 to 3.33)
    """
    time = np.minimum(followed.time, followed.horizon)
    leaves = (followed.event == 0) & (followed.time < followed.horizon)
    n, left, scaled = len(risk), int(leaves.sum()), CLOGLOG.forward(risk)
    if left < FEWEST_LEAVING:
        return Absent(Fact("fewer_leave", fewest=Count(FEWEST_LEAVING, "patient", is_limit=True)))
    if float(np.ptp(scaled)) == 0:
        return Absent(Fact("all_risks_equal_no_order"))
    found = _cox(time, leaves, (scaled - scaled.mean()) / scaled.std(ddof=1))
    if found is None:
        return Absent(Fact("leaving_separated"))
    slope, error = found
    value, details = math.exp(slope), {"p_value": 2 * beyond(abs(slope) / error)}
    low, high = on_log(value, error, level)
    return Estimate(value, low, high, level, n, Method("cox", "wald"), left, value * error, details)


def _cox(time: Floats, event: Bools, x: Floats) -> tuple[float, float] | None:
    """The coefficient of a Cox regression on one column, and its standard error; None where there is no best one.

    Of events at the same time each sees those before it gone in part (Efron 1977).
    """
    order = np.lexsort((~event, time))
    time, event, x = time[order], event[order], x[order]
    at = np.flatnonzero(event)
    first = np.searchsorted(time, time[at])
    _, run, size = np.unique(time[at], return_index=True, return_counts=True)
    gone = (np.arange(len(at)) - np.repeat(run, size)) / np.repeat(size, size)
    slope = 0.0
    for _ in range(MOST_STEPS):
        hazard = np.exp(slope * x)
        moments = [
            np.cumsum((hazard * x**power)[::-1])[::-1][first]
            - gone * np.repeat(np.add.reduceat((hazard * x**power)[at], run), size)
            for power in (0, 1, 2)
        ]
        mean = moments[1] / moments[0]
        information = float(np.sum(moments[2] / moments[0] - mean**2))
        if not information > 1e-9 * len(at) or abs(slope) > MOST_STEPS:
            return None
        step = float(np.sum(x[at] - mean)) / information
        slope += step
        if abs(step) <= 1e-12 * max(1.0, abs(slope)):
            return slope, 1 / math.sqrt(information)
    return None
