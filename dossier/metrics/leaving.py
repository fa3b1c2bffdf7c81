"""Cox regressions on the risk: do patients with higher risks leave earlier, and is the slope the same at all times?"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dossier.core import facts, register
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import logistic, shares
from dossier.metrics.censoring import Bools, TimeToEvent, Weights
from dossier.metrics.intervals import beyond, beyond_student, on_log

CHAPTER = "description"
FEWEST_LEAVING = 5
MOST_STEPS = 50


@register.metric()
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
    slope, error, moved, _ = found
    value, details = math.exp(slope), {"p_value": 2 * beyond(abs(slope) / error)}
    low, high = on_log(value, error, level)
    by_rows = Estimate(value, low, high, level, n, facts.Method("cox", "wald"), left, value * error, details)
    if design is None or design.is_simple:
        return by_rows
    answer = shares.by_linearization(by_rows, value * moved, design, level, "log")
    tested = {"p_value": 2 * beyond_student(abs(slope) * value / answer.se, design.freedom)} if answer.se else {}
    return replace(answer, details={**answer.details, **tested})


def over_follow_up(known: Weights, x: Floats) -> dict[str, float | None]:
    """The coefficient of a Cox regression on a column of the outcome up to the horizon, ties by Efron, and the p value
    of the score test that it does not change with 1 - the Kaplan-Meier estimate; nothing with competing events.

    Where hazards are proportional the coefficient is that at the horizon. Source: Grambsch and Therneau 1994.
    """
    if known.other.any() or known.case.sum() < FEWEST_LEAVING:
        return {}
    found = _cox(np.minimum(known.time, known.t), known.case, x - x.mean())
    return {} if found is None else {"over_follow_up": found[0], "p_of_change": found[3]}


def _cox(time: Floats, event: Bools, x: Floats) -> tuple[float, float, Floats, float] | None:
    """The coefficient of a Cox regression on one column, its standard error, how far each row moves it, and the p value
    of the test that it does not change with time; None where there is no best one.

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
            # 1 - the Kaplan-Meier estimate just before the time of each event.
            had = np.repeat(1 - np.append(1.0, np.cumprod(1 - size / (len(x) - first[run]))[:-1]), size)
            spread = [float(np.sum((moments[2] / moments[0] - mean**2) * had**power)) for power in (0, 1, 2)]
            z = float(np.sum(had * (x[at] - mean))) / math.sqrt(max(spread[2] - spread[1] ** 2 / spread[0], 1e-300))
            changes = 2 * beyond(abs(z)) if len(run) > 1 else 1.0
            return slope, 1 / math.sqrt(information), scores / information, changes
    return None


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
    first, last = np.searchsorted(times, times), np.searchsorted(times, times, side="right")
    own = x[event] * (part[last] - part[first]) - (of_part[last] - of_part[first])
    found[event] += x[event] - mean + hazard[event] * own
    return np.asarray(found)
