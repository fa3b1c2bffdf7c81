"""Who left follow-up: do patients with higher risks leave earlier than the others?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np

from dossier.core import facts, register
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import calibration, clusters, discrimination, logistic, shares
from dossier.metrics.censoring import Bools, TimeToEvent
from dossier.metrics.intervals import beyond, beyond_student, on_log

CHAPTER = "description"
for measure in (discrimination.auroc, calibration.oe_ratio, calibration.brier):
    register.of_marginal_weights(measure, __name__)
FEWEST_LEAVING = 5
MOST_STEPS = 50


@register.metric(
    "Leaving by risk",
    range=(0, None),
    best="one",
    tier="descriptive",
    cites=("Cox 1972", "Efron 1977"),
    formula="exp(b), b the coefficient of a Cox regression of leaving before the horizon on log(-log(1 - p)) in SD",
)
def censoring_by_risk(
    followed: TimeToEvent, risk: Floats, level: float = 0.95, design: shares.Sampled = None
) -> Estimate | Absent:
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
    n, left, scaled = len(risk), int(leaves.sum()), logistic.CLOGLOG.forward(risk)
    if left < FEWEST_LEAVING:
        return Absent(facts.Fact("fewer_leave", fewest=facts.Count(FEWEST_LEAVING, "patient", is_limit=True)))
    if float(np.ptp(scaled)) == 0:
        return Absent(facts.Fact("all_risks_equal_no_order"))
    found = _cox(time, leaves, (scaled - scaled.mean()) / scaled.std(ddof=1))
    if found is None:
        return Absent(facts.Fact("leaving_separated"))
    slope, error, moved = found
    value, details = math.exp(slope), {"p_value": 2 * beyond(abs(slope) / error)}
    low, high = on_log(value, error, level)
    by_rows = Estimate(value, low, high, level, n, facts.Method("cox", "wald"), left, value * error, details)
    if design is None or design.is_simple:
        return by_rows
    answer = clusters.by_linearization(by_rows, value * moved, design, level, "log")
    tested = {"p_value": 2 * beyond_student(abs(slope) * value / answer.se, design.freedom)} if answer.se else {}
    return replace(answer, details={**answer.details, **tested})


def _cox(time: Floats, event: Bools, x: Floats) -> tuple[float, float, Floats] | None:
    """The coefficient of a Cox regression on one column, its standard error, and how far each row moves it; None where
    there is no best one.

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
            scores = np.empty(len(x))
            scores[order] = _scores(time, event, x, hazard, (moments[0], mean, gone))
            return slope, 1 / math.sqrt(information), scores / information
    return None


SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
"""Before those at the same time, and after them."""


def _scores(time: Floats, event: Bools, x: Floats, hazard: Floats, at_events: tuple[Floats, Floats, Floats]) -> Floats:
    """The score of each row: its own event less what was expected of it, by those at the same time only in part.

    `at_events` are the hazard of all who are still there, the mean of the column among them, and the part of those at
    the same time that is gone. Source: Lin and Wei 1989.
    """
    (all_hazard, mean, gone), times = at_events, time[event]
    each = (np.ones(len(mean)), mean, gone, gone * mean)
    expected, centred, part, of_part = (np.append(0.0, np.cumsum(one / all_hazard)) for one in each)
    seen = np.searchsorted(times, time, side="right")
    found = -hazard * (x * expected[seen] - centred[seen])
    first, last = (np.searchsorted(times, times, side=side) for side in SIDES)
    own = x[event] * (part[last] - part[first]) - (of_part[last] - of_part[first])
    found[event] += x[event] - mean + hazard[event] * own
    return np.asarray(found)
