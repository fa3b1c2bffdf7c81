"""Rows that are not independent: intervals from leaving out whole clusters, or from what they contribute."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dossier.core.facts import Count, Fact
from dossier.core.register import Symmetry
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics.intervals import NO_SPREAD, beyond_student, two_sided, two_sided_student, wilson
from dossier.metrics.scales import back, forward, off_scale, stretch

MOST_GROUPS = 250
"""More clusters than this are left out in so many random groups: each asks for the measure once more."""
FEWEST = 2


@dataclass(frozen=True)
class Groups:
    """The group of each row, from 0, with the number of groups and of the clusters that they are made of."""

    of_row: NDArray[np.int64]
    count: int
    clusters: int

    @property
    def step(self) -> Fact:
        """How the interval is made."""
        groups = None if self.count == self.clusters else self.count
        return Fact("jackknife", groups=groups, clusters=Count(self.clusters, "cluster"), df=self.count - 1)


def groups(cluster: NDArray[np.int64], seed: int) -> Groups:
    """The groups of whole clusters that are left out in turn: each cluster alone, or 250 random groups of them."""
    codes, of_row = np.unique(cluster, return_inverse=True)
    count = min(len(codes), MOST_GROUPS)
    if count < len(codes):
        position = np.random.default_rng(seed).permutation(len(codes)) % count
        of_row = position[of_row]
    return Groups(np.asarray(of_row, dtype=np.int64), count, len(codes))


def standard_error(replicates: Floats) -> float:
    """The jackknife's standard error from the values without each of G groups: sqrt((G - 1)/G sum (v - mean)^2)."""
    count = len(replicates)
    return math.sqrt((count - 1) / count * float(((replicates - replicates.mean()) ** 2).sum()))


def by_cluster(
    found: Estimate, without: Callable[[int], Estimate | Absent], made: Groups, level: float, scale: Symmetry
) -> Estimate:
    """The estimate with the interval that whole clusters give.

    `found` is the estimate on all rows, whose value stays; `without` measures the rows without one group. `scale` is
    where the interval is symmetric: logit, log, plain, or wilson for a share, whose interval is Wilson's at the number
    of rows that would have the jackknife's variance, cut by the ratio of the t quantile to the normal one (Korn and
    Graubard 1998). A p-value of `found` becomes that of the t test of 0. The bounds are missing, with the reason, with
    one cluster, when the measure has no value without some clusters, and when it does not vary. Source: Shao and Tu
    1995; for random groups Kott 2001.
    """
    if made.count < FEWEST:
        return _without_interval(found, made.step, Fact("one_unit_no_interval", units=Count(1, "cluster")))
    values = []
    for group in range(made.count):
        other = without(group)
        if isinstance(other, Absent):
            reason = Fact("no_value_without_some_clusters", reason=other.reason)
            return _without_interval(found, made.step, reason)
        values.append(other.value)
    se = standard_error(np.array(values))
    return _with_interval(found, se, made.count - 1, level, scale, made.step)


def totals(linearized: Floats, cluster: NDArray[np.int64] | None) -> Floats:
    """What each cluster contributes, or each row where no cluster holds several: the sums of what its rows do."""
    if cluster is None:
        return linearized
    _, of_row = np.unique(cluster, return_inverse=True)
    return np.asarray(np.bincount(of_row, weights=linearized), dtype=np.float64)


def variance_of_sum(contributions: Floats) -> float:
    """The variance of the sum of m contributions drawn with replacement: m/(m - 1) sum of (z - mean)^2."""
    count = len(contributions)
    return count / (count - 1) * float(((contributions - contributions.mean()) ** 2).sum())


def by_linearization(found: Estimate, contributions: Floats, level: float, scale: Symmetry, unit: str) -> Estimate:
    """The estimate with the interval that the contributions of rows or clusters give.

    `found` is the estimate on all rows, whose value stays; `contributions` (m) are what each row or each whole cluster
    contributes to the deviation of the value, `unit` is "row" or "cluster"; `scale` as for `by_cluster`. SE^2 =
    m/(m - 1) sum of (z - mean z)^2, the design-based variance of units drawn with replacement, and the t distribution
    with m - 1 degrees of freedom. The bounds are missing, with the reason, with one unit, and when nothing varies.
    Source: Binder 1983.
    """
    count = len(contributions)
    step = Fact("linearization", over=Count(count, unit), df=count - 1)
    if count < FEWEST:
        return _without_interval(found, step, Fact("one_unit_no_interval", units=Count(1, unit)))
    return _with_interval(found, math.sqrt(variance_of_sum(contributions)), count - 1, level, scale, step)


def _without_interval(found: Estimate, step: Fact, reason: Fact) -> Estimate:
    details = {name: value for name, value in found.details.items() if name != "p_value"}
    method = found.method.by(step)
    return replace(found, low=None, high=None, se=None, level=None, method=method, details=details, reason=reason)


def _with_interval(found: Estimate, se: float, freedom: int, level: float, scale: Symmetry, step: Fact) -> Estimate:
    """The estimate with the interval at this standard error; without one when it is 0."""
    if se <= 1e-12 * max(1.0, abs(found.value)):
        return _without_interval(found, step, NO_SPREAD)
    reach = two_sided_student(level, freedom)
    scale = _lies_on(found.value, scale)
    low, high = interval(found.value, se, reach, level, scale)
    details = {**found.details, "df": float(freedom)}
    if "p_value" in found.details:
        # The test of 0 that goes with the interval.
        details["p_value"] = 2 * beyond_student(abs(found.value) / se, freedom)
    lead = ("wilson_at_effective_rows",) if scale == "wilson" else ()
    on_scale = () if scale in ("plain", "wilson") else (Fact("on_scale", scale=scale),)
    method = found.method.by(*lead, step, *on_scale)
    return replace(found, low=low, high=high, level=level, se=se, method=method, details=details, reason=None)


def _lies_on(value: float, scale: Symmetry) -> Symmetry:
    """The scale where the value lies on it, else the plain one."""
    return "plain" if off_scale(value, "logit" if scale == "wilson" else scale) is not None else scale


def interval(value: float, se: float, reach: float, level: float, scale: Symmetry) -> tuple[float, float]:
    """The interval at a standard error on the plain scale, symmetric on the scale named; plain where that ends."""
    scale = _lies_on(value, scale)
    if scale == "wilson":
        rows = value * (1 - value) / se**2 * (two_sided(level) / reach) ** 2
        return wilson(value * rows, rows, level)
    half = reach * se / stretch(value, scale)
    if scale == "log":
        # A factor that is a number keeps both bounds above 0 and finite.
        factor = back(half, scale)
        return value / factor, value * factor
    centre = forward(value, scale)
    return back(centre - half, scale), back(centre + half, scale)


def band(values: Floats, replicates: Floats, reach: float, shares: bool) -> tuple[Floats, Floats]:
    """The ends of a band around a curve, from the curves without each group (one a row), on one axis.

    `shares` are cut at 0 and 1, and their band is symmetric on the logit scale where the curve lies inside; others are
    net benefits, which only end at 1.
    """
    count = len(replicates)
    se = np.sqrt((count - 1) / count * ((replicates - replicates.mean(axis=0)) ** 2).sum(axis=0))
    if not shares:
        return values - reach * se, np.minimum(values + reach * se, 1)
    inside = (values > 0) & (values < 1)
    safe = np.where(inside, values, 0.5)
    centre, half = np.log(safe / (1 - safe)), reach * se / (safe * (1 - safe))
    low, high = special.expit(centre - half), special.expit(centre + half)
    return np.where(inside, low, values), np.where(inside, high, values)
