"""How a measure changed since the previous release, and how sure one can be of it."""

from __future__ import annotations

import math

from dossier.core.facts import Fact, Method
from dossier.core.types import Absent, Estimate
from dossier.metrics.intervals import methods_of, square_and_add


def change(now: Estimate, before: Estimate, together: Absent | None) -> Estimate:
    """How much higher a measure is now than in the previous release, from the two results alone.

    `now` and `before` are estimates of one measure; `together` is None where the two rest on rows that share none, and
    says otherwise why the two intervals must not be combined. Returns now - before on the measure's own scale, with
    the interval by square-and-add: low = d - sqrt((v1 - l1)^2 + (u2 - v2)^2), high = d + sqrt((u1 - v1)^2 + (v2 -
    l2)^2). The bounds are missing, with the reason, where the rows are not independent, the levels differ, or one of
    the two has no interval with both ends. Source: Zou and Donner 2008; Newcombe 1998.
    """
    value = now.value - before.value
    bounds = together or _levels(now, before) or square_and_add(now, before, "present rows", "previous rows")
    if isinstance(bounds, Absent):
        method = Method("minus_previous_release", "not_paired")
        return Estimate(value, None, None, None, now.n, method, now.events, reason=bounds.reason)
    return Estimate(
        value=value,
        low=value - bounds[0],
        high=value + bounds[1],
        level=now.level,
        n=now.n + before.n,
        method=Method("minus_previous_release", "independent_rows", "square_and_add", *methods_of(now, before)),
        events=None if now.events is None or before.events is None else now.events + before.events,
        se=None if now.se is None or before.se is None else math.hypot(now.se, before.se),
    )


def _levels(now: Estimate, before: Estimate) -> Absent | None:
    if now.level == before.level or now.level is None or before.level is None:
        return None
    return Absent(Fact("intervals_at_other_levels", before=before.level * 100, now=now.level * 100))
