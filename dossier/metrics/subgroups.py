"""Subgroups: how few rows are too few to tell, and how far a subgroup differs from the other patients of its site."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dossier.core.bands import FEW_FOR_POOLING, SMALLEST_GROUP
from dossier.core.facts import Count, Fact, Method
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics.calibration import A_TEST
from dossier.metrics.intervals import methods_of, square_and_add
from dossier.metrics.time_to_event import NO_INTERVAL

BY_NATURE = (None, A_TEST, NO_INTERVAL)
"""Why a number has no interval when no rows could give it one."""


def too_few(outcome: Floats, among: Fact | None = None) -> Absent | None:
    """Why these rows are too few to tell anything, or None when they are enough.

    `outcome` (n, 0 or 1) are the rows' outcomes; `among` says whose they are. Too few are fewer than 20 events or
    fewer than 20 non-events; of fewer than five rows in all it is not said how many had the event.
    """
    events = int(outcome.sum())
    others = len(outcome) - events
    if min(events, others) >= FEW_FOR_POOLING:
        return None
    if 0 < len(outcome) < SMALLEST_GROUP:
        return Absent(_not_described(among))
    counts = {"events": Count(events, "event"), "non_events": Count(others, "non-event")}
    return Absent(Fact("too_few_to_tell", among=among, **counts))


def too_few_of_class(inside: int, outside: int, label: str, among: Fact | None = None) -> Absent | None:
    """Why these rows are too few to tell anything about one class against the rest, or None when they are enough.

    `inside` and `outside` are the rows of the class and of all others; `label` names the class, `among` says
    whose they are. Too few are fewer than 20 of either.
    """
    if min(inside, outside) >= FEW_FOR_POOLING:
        return None
    if 0 < inside + outside < SMALLEST_GROUP:
        return Absent(_not_described(among))
    counts = {"inside": Count(inside, "row"), "outside": Count(outside, "row")}
    return Absent(Fact("too_few_of_class", among=among, label=label, **counts))


def too_few_of_classes(counts: Mapping[str, int], among: Fact | None = None) -> Absent | None:
    """Why rows of several classes are too few to tell anything about all classes together, or None when enough.

    `counts` are the rows of each class; `among` says whose they are. Too few are fewer than 20 of any class: a
    mean over the classes is no surer than its rarest class.
    """
    if 0 < sum(counts.values()) < SMALLEST_GROUP:
        return Absent(_not_described(among))
    few = tuple(
        Fact("of_a_class", rows=Count(count, "row"), label=label)
        for label, count in counts.items()
        if count < FEW_FOR_POOLING
    )
    return Absent(Fact("too_few_of_classes", among=among, classes=few)) if few else None


def _not_described(among: Fact | None) -> Fact:
    return Fact("too_few_to_describe", among=among, fewest=SMALLEST_GROUP)


def difference(ours: Estimate, rest: Estimate) -> Estimate | Absent:
    """How much higher a measure is in a subgroup than in the other patients of the same site.

    `ours` and `rest` are the estimates of one measure on two sets of rows that share none. Returns the value of the
    subgroup minus that of the others, on the measure's own scale for every measure, ratios too, with the interval by
    square-and-add: low = d - sqrt((v1 - l1)^2 + (u2 - v2)^2), high = d + sqrt((u1 - v1)^2 + (v2 - l2)^2). The standard
    error is that of independent rows where both have one. Details: `complement`, its value, and `complement_n`,
    `complement_events`, its rows. The bounds are missing, with the reason, where one of the two intervals is one-sided
    or missing. Absent for a measure that has no interval by its nature, such as a sample size. Source: Zou and Donner
    2008; Newcombe 1998.
    """
    if any(estimate.level is None and estimate.reason in BY_NATURE for estimate in (ours, rest)):
        return Absent(Fact("not_compared_without_interval"))
    value = ours.value - rest.value
    bounds = square_and_add(ours, rest, "subgroup", "other patients")
    return Estimate(
        value=value,
        low=None if isinstance(bounds, Absent) else min(value, value - bounds[0]),
        high=None if isinstance(bounds, Absent) else max(value, value + bounds[1]),
        level=None if isinstance(bounds, Absent) else ours.level,
        n=ours.n + rest.n,
        method=Method("minus_other_patients", "square_and_add", *methods_of(ours, rest)),
        events=None if ours.events is None or rest.events is None else ours.events + rest.events,
        se=None if ours.se is None or rest.se is None else math.hypot(ours.se, rest.se),
        details={
            "complement": rest.value,
            "complement_n": float(rest.n),
            "complement_events": None if rest.events is None else float(rest.events),
        },
        reason=bounds.reason if isinstance(bounds, Absent) else None,
    )
