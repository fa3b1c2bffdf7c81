"""Concordance to a horizon: of two patients, had the one with the higher risk the event first?"""

from __future__ import annotations

import math

import numpy as np

from dossier.core import facts, register
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import intervals, shares
from dossier.metrics.censoring import Bools, Integers, TimeToEvent, Weights
from dossier.metrics.shares import Sampled
from dossier.metrics.time_to_event import censored

CHAPTER = "discrimination"


def pairs(weights: Weights, risk: Floats, of_first: Floats) -> tuple[Floats, Floats]:
    """In how many ordered pairs each patient takes part, and in how many pairs, each pair at the weight of its first.

    A pair is of one who has the event by the horizon and one who was seen free of it then or later; it is ordered where
    the first has the higher risk, and half of it where both risks are the same. Patients in the order of their risks
    are parted by one binary digit of the rank of their times after another, the highest first: the digit in which the
    ranks of two first differ says which of them was first, and what is summed up along the risks of a part counts all
    such pairs. That is n log n.
    """
    time, event = weights.time, weights.status == 1
    rank = np.unique(2 * np.unique(time, return_inverse=True)[1] + ~event, return_inverse=True)[1]
    first = np.where(event & (time <= weights.t), of_first, 0.0)
    each = np.append(0.0, np.cumsum(np.bincount(rank)))
    before = np.append(0.0, np.cumsum(np.bincount(rank, weights=first)))[rank]
    usable = first * (len(risk) - each[rank + 1]) + before
    order = np.argsort(risk, kind="stable")
    level = np.cumsum(np.append(False, np.diff(risk[order]) > 0))
    rank, first, ordered = rank[order], first[order], np.zeros(len(risk))
    for digit in reversed(range(int(rank.max()).bit_length())):
        part, later = rank >> (digit + 1), (rank >> digit) & 1 == 1
        new_part = np.append(True, part[1:] != part[:-1])
        (lowest, highest), (start, end) = _runs(new_part), _runs(new_part | np.append(True, level[1:] != level[:-1]))
        after, ahead = _summed(later), _summed(np.where(later, 0.0, first))
        below = (after[start] + after[end]) / 2 - after[lowest]
        above = ahead[highest] - (ahead[start] + ahead[end]) / 2
        ordered += np.where(later, above, first * below)
        # Those who were first stay where they are in their part, in front of the others.
        place = np.arange(len(rank)) - (after[:-1] - after[lowest]).astype(np.int64)
        others = lowest + (highest - lowest) - (after[highest] - after[:-1]).astype(np.int64)
        moved = np.empty(len(rank), dtype=np.int64)
        moved[np.where(later, others, place)] = np.arange(len(rank))
        rank, first, ordered, level, order = rank[moved], first[moved], ordered[moved], level[moved], order[moved]
    found = np.empty(len(rank))
    found[order] = ordered
    return found, usable


def _summed(values: Floats | Bools) -> Floats:
    """The sum of all before each row, and of all."""
    return np.append(0.0, np.cumsum(values))


def _runs(new: Bools) -> tuple[Integers, Integers]:
    """Where the run of each row starts, and where it ends."""
    starts = np.flatnonzero(new)
    number = np.cumsum(new) - 1
    return starts[number], np.append(starts[1:], len(new))[number]


def _concordance(
    followed: TimeToEvent, risk: Floats, level: float, sampled: Sampled, at_weights: bool
) -> Estimate | Absent:
    weights = Weights(followed.time, followed.event, followed.horizon, np.zeros(len(risk), dtype=np.int64))
    if weights.other.any():
        return Absent(facts.Fact("concordance_with_competing_events"))
    of_first = weights.values**2 if at_weights else np.ones(len(risk))
    ordered, usable = pairs(weights, risk, of_first)
    total, events = float(usable.sum()) / 2, int(weights.case.sum())
    if total <= 0:
        return Absent(facts.Fact("no_ordered_pair"))
    value = float(ordered.sum()) / 2 / total
    linearized = ordered - value * usable
    se = math.sqrt(float(np.sum(linearized**2))) / total
    made = facts.Method(
        *(censored(weights) if at_weights else ()), "infinitesimal_jackknife", facts.Fact("on_scale", scale="logit")
    )
    if se <= 1e-12:
        return intervals.without_interval(value, len(risk), made, intervals.NO_SPREAD, events)
    low, high = shares.interval(value, se, intervals.two_sided(level), level, "logit")
    found = Estimate(value, low, high, level, len(risk), made, events, se)
    if sampled is None or sampled.is_simple:
        return found
    return shares.by_linearization(found, linearized / total, sampled, level, "logit")


@register.metric(pool="logit", scale="logit")
def uno_c(followed: TimeToEvent, risk: Floats, level: float = 0.95, design: Sampled = None) -> Estimate | Absent:
    """Of two people of whom one had the outcome by the horizon and before the other, how often that one had the higher
    risk.

    .5 is chance and 1 is perfect order; ties count half. It also asks who was first among those with the outcome, which
    the AUROC by the horizon does not.

    Returns
    -------
    Estimate or Absent
        The share of pairs in order, each at the square of the weight that makes up for censoring of its first, among
        all patients together, with an interval symmetric on the logit scale; its standard error is the infinitesimal
        jackknife, which takes the weights as known. Absent with competing events, and where no two people can be
        compared.
    """
    return _concordance(followed, risk, level, design, at_weights=True)


@register.metric(pool="logit", scale="logit")
def harrell_c(followed: TimeToEvent, risk: Floats, level: float = 0.95, design: Sampled = None) -> Estimate | Absent:
    """The share of comparable pairs of people in order, as it is published elsewhere.

    What it is an estimate of depends on who left when; Uno's C does not.

    Returns
    -------
    Estimate or Absent
        As `uno_c` has it, each pair alike.
    """
    return _concordance(followed, risk, level, design, at_weights=False)
