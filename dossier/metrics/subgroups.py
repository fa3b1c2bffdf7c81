"""Subgroups: how few rows are too few to tell, and how far a subgroup differs from the other patients of its site."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dossier.core import bands, facts, types
from dossier.metrics import calibration, intervals, time_to_event

BY_NATURE = (None, calibration.A_TEST, time_to_event.NO_INTERVAL)
"""Why a number has no interval when no rows could give it one."""


def too_few(events: int, others: int, among: facts.Fact | None = None, label: str = "") -> types.Absent | None:
    """Why these rows are too few to tell anything, or None when they are enough.

    `events` and `others` are the rows with the outcome, or of the class that `label` names, and all others; `among`
    says whose they are. Too few are fewer than 20 of either; of fewer than five rows in all it is not said how many
    had the event.
    """
    if min(events, others) >= bands.FEW_FOR_POOLING:
        return None
    if 0 < events + others < bands.SMALLEST_GROUP:
        return types.Absent(_not_described(among))
    if label:
        counts = {"inside": facts.Count(events, "row"), "outside": facts.Count(others, "row")}
        return types.Absent(facts.Fact("too_few_of_class", among=among, label=label, **counts))
    counts = {"events": facts.Count(events, "event"), "non_events": facts.Count(others, "non-event")}
    return types.Absent(facts.Fact("too_few_to_tell", among=among, **counts))


def too_few_of_classes(counts: Mapping[str, int], among: facts.Fact | None = None) -> types.Absent | None:
    """Why rows of several classes are too few to tell anything about all classes together, or None when enough.

    `counts` are the rows of each class; `among` says whose they are. Too few are fewer than 20 of any class: a
    mean over the classes is no surer than its rarest class.
    """
    if 0 < sum(counts.values()) < bands.SMALLEST_GROUP:
        return types.Absent(_not_described(among))
    few = tuple(
        facts.Fact("of_a_class", rows=facts.Count(count, "row"), label=label)
        for label, count in counts.items()
        if count < bands.FEW_FOR_POOLING
    )
    return types.Absent(facts.Fact("too_few_of_classes", among=among, classes=few)) if few else None


def _not_described(among: facts.Fact | None) -> facts.Fact:
    return facts.Fact("too_few_to_describe", among=among, fewest=bands.SMALLEST_GROUP)


def difference(ours: types.Estimate, rest: types.Estimate) -> types.Estimate | types.Absent:
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
        return types.Absent(facts.Fact("not_compared_without_interval"))
    value = ours.value - rest.value
    bounds = intervals.square_and_add(ours, rest, "subgroup", "other patients")
    return types.Estimate(
        value=value,
        low=None if isinstance(bounds, types.Absent) else min(value, value - bounds[0]),
        high=None if isinstance(bounds, types.Absent) else max(value, value + bounds[1]),
        level=None if isinstance(bounds, types.Absent) else ours.level,
        n=ours.n + rest.n,
        method=facts.Method("minus_other_patients", "square_and_add", *intervals.methods_of(ours, rest)),
        events=None if ours.events is None or rest.events is None else ours.events + rest.events,
        se=None if ours.se is None or rest.se is None else math.hypot(ours.se, rest.se),
        details={
            "complement": rest.value,
            "complement_n": float(rest.n),
            "complement_events": None if rest.events is None else float(rest.events),
        },
        reason=bounds.reason if isinstance(bounds, types.Absent) else None,
    )
