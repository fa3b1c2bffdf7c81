"""How a measure changed since the previous release, and how sure one can be of it."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from dossier.core.facts import Fact, Method
from dossier.core.types import Absent, Estimate
from dossier.metrics.intervals import beyond, methods_of, square_and_add, two_sided


def change(now: Estimate, before: Estimate, together: Absent | None) -> Estimate:
    """How much higher a measure is now than in the previous release, from the two results alone.

    `now` and `before` are estimates of one measure; `together` is None where the two rest on rows that share none, and
    says otherwise why they may share some. Returns now - before on the measure's own scale, with the interval by
    square-and-add: low = d - sqrt((v1 - l1)^2 + (u2 - v2)^2), high = d + sqrt((u1 - v1)^2 + (v2 - l2)^2). Where rows
    may be shared it is unpaired, with the reason, and wider than a paired one: both measures move with the same rows;
    n and events are then those of now, so that no row counts twice.
    The bounds are missing, with the reason, where the levels differ, or one of the two has no interval with both ends.
    Source: Zou and Donner 2008; Newcombe 1998.
    """
    value = now.value - before.value
    bounds = _levels(now, before) or square_and_add(now, before, "present rows", "previous rows")
    if isinstance(bounds, Absent):
        method, reason = Method("minus_previous_release", "not_paired"), together or bounds
        return Estimate(value, None, None, None, now.n, method, now.events, reason=reason.reason)
    rows = "independent_rows" if together is None else "not_paired"
    n, events = (before.n, before.events) if together is None else (0, 0)
    return Estimate(
        value=value,
        low=value - bounds[0],
        high=value + bounds[1],
        level=now.level,
        n=now.n + n,
        method=Method("minus_previous_release", rows, "square_and_add", *methods_of(now, before)),
        events=None if now.events is None or events is None else now.events + events,
        se=None if now.se is None or before.se is None else math.hypot(now.se, before.se),
        reason=None if together is None else together.reason,
    )


def judged(difference: Estimate, now: Estimate, best: str, before: Estimate | Absent | None = None) -> Estimate:
    """The difference, with how much worse the measure became and the two-sided p value of that.

    `best` is "higher", "lower" or "one"; `before` is the earlier estimate, which counts where it is now less the
    difference. Details: `worse_by`, what a measure lost, or by how much farther from 1 it lies; `p_value`, that of the
    widest interval that leaves out no change, unless the test of McNemar gave one. Of what is best at 1 the largest of
    that, of the p value that the farther of both lies at 1, and where both are shown to lie off 1, on different sides,
    that their distances are the same, whose errors add up at most; `worse_low` and `worse_high`, between which
    `worse_by` lies whatever the earlier value and the difference are within their intervals. As it is without bounds.
    """
    if difference.low is None or difference.high is None or difference.level is None:
        return difference
    # What a measure was, with its own error, or as wide as it can be by the intervals of now and of the difference.
    value, error = now.value - difference.value, difference.details.get("se_before")
    half = _half(now) + _half(difference) if error is None else two_sided(difference.level or 0.95) * error
    was = replace(now, value=value, low=value - half, high=value + half)
    if isinstance(before, Estimate) and math.isclose(before.value, was.value, abs_tol=1e-9):
        was = before
    worse = {
        "higher": -difference.value,
        "lower": difference.value,
        "one": abs(now.value - 1) - abs(now.value - difference.value - 1),
    }[best]
    exact = difference.details.get("p_value") if difference.method.has("p_by_mcnemar") else None
    p_value = _p_of(difference, 0) if exact is None else exact
    if best == "one":
        farther, nearer = (now, was) if worse > 0 else (was, now)
        p_value = max(p_value, _p_of(farther, 1))
        ends = dict(zip(("worse_low", "worse_high"), _farther(was, difference.low, difference.high), strict=True))
        if (farther.value - 1) * (nearer.value - 1) < 0 and _p_of(nearer, 1) < 1 - difference.level:
            both = replace(difference, value=abs(worse), low=abs(worse) - _half(now) - _half(was), high=None)
            p_value = max(p_value, _p_of(both, 0))
    details = {"worse_by": worse, "p_value": p_value, **(ends if best == "one" else {})}
    return replace(difference, details={**difference.details, **details})


def _farther(was: Estimate, low: float, high: float) -> tuple[float, float] | tuple[None, None]:
    """The least and the most by which a value is farther from 1 than before, by the intervals of then and the change.

    That is linear but where a value is 1: its ends lie at corners of the rectangle, or on its sides at such a place.
    """
    if was.low is None or was.high is None:
        return None, None
    corners = set(itertools.product((was.low, was.high, 1.0), (low, high)))
    corners |= {(then, 1.0 - then) for then in (was.low, was.high)} | {(1.0 - by, by) for by in (low, high)}
    every = [
        abs(then + by - 1) - abs(then - 1) for then, by in corners if was.low <= then <= was.high and low <= by <= high
    ]
    return min(every), max(every)


def _half(found: Estimate) -> float:
    """Half of an interval; without one no number tells where a value lies."""
    return math.inf if found.low is None or found.high is None else (found.high - found.low) / 2


def _p_of(found: Estimate, null: float) -> float:
    """The two-sided p value of the widest interval that leaves out a value, symmetric on the side of that."""
    bound = found.high if found.value < null else found.low
    if bound is None or found.level is None:
        return 1.0
    half, off = abs(bound - found.value), abs(found.value - null)
    return 2 * beyond(two_sided(found.level) * off / half) if half > 0 else float(off == 0)


def _levels(now: Estimate, before: Estimate) -> Absent | None:
    if now.level == before.level or now.level is None or before.level is None:
        return None
    return Absent(Fact("intervals_at_other_levels", before=before.level * 100, now=now.level * 100))
