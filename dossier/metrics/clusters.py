"""Rows that are not independent: intervals from leaving out whole clusters, or from what they contribute."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from dossier.core.facts import Count, Fact
from dossier.core.register import Symmetry
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import intervals
from dossier.metrics.shares import Design

MOST_GROUPS, FEWEST_GROUPS = 250, 2
"""More clusters than this are left out in so many random groups: each asks for the measure once more."""


@dataclass(frozen=True)
class Groups:
    """The group of each row, from 0, with the number of groups and of the clusters that they are made of."""

    of_row: NDArray[np.int64]
    count: int
    clusters: int
    strata: NDArray[np.int64] | None = None
    """The stratum of each row, the same for all of a group."""

    @cached_property
    def design(self) -> Design:
        """The rows with the groups as their sampling units."""
        return Design(len(self.of_row), self.of_row, None, self.strata)

    @property
    def step(self) -> Fact:
        """How the interval is made."""
        groups = None if self.count == self.clusters else self.count
        return Fact("jackknife", groups=groups, clusters=Count(self.clusters, "cluster"), df=self.design.freedom)

    def contributions(self, values: Floats, without: Floats) -> Floats:
        """What each group contributes to the values (points): `without` has them without each group (groups, points).

        Returns (points, groups): of a mean exactly what its rows contribute together.
        """
        kept = 1 - np.bincount(self.of_row, minlength=self.count) / len(self.of_row)
        return np.asarray(((values - without) * kept[:, None]).T)


def groups(cluster: NDArray[np.int64], seed: int, strata: NDArray[np.int64] | None = None) -> Groups:
    """The groups of whole clusters that are left out in turn: each cluster alone, or 250 random groups of them; of
    strata each has its share of the groups, at least two."""
    codes, first, of_row = np.unique(cluster, return_index=True, return_inverse=True)
    count = min(len(codes), MOST_GROUPS)
    if count < len(codes):
        of_cluster = np.zeros(len(codes), dtype=np.int64) if strata is None else strata[first]
        order, position, made = np.random.default_rng(seed).permutation(len(codes)), np.zeros(len(codes), int), 0
        for stratum in np.unique(of_cluster):
            here = np.flatnonzero(of_cluster == stratum)
            share = min(len(here), max(FEWEST_GROUPS, round(MOST_GROUPS * len(here) / len(codes))))
            position[here] = made + np.argsort(np.argsort(order[here])) % share
            made += share
        of_row, count = position[of_row], made
    return Groups(np.asarray(of_row, dtype=np.int64), count, len(codes), strata)


def by_cluster(
    found: Estimate, without: Callable[[int], Estimate | Absent], made: Groups, level: float, scale: Symmetry
) -> Estimate:
    """The estimate with the interval that whole clusters give.

    `found` is the estimate on all rows, whose value stays; `without` measures the rows without one group. `scale` is
    where the interval is symmetric: logit, log, plain, or wilson for a share, whose interval is Wilson's at the number
    of rows that would have the jackknife's variance, cut by the ratio of the t quantile to the normal one (Korn and
    Graubard 1998). A p-value of `found` becomes that of the t test of 0. Variance and degrees of freedom are those that
    `Design` has of what the clusters contribute. The bounds are missing, with the reason, with one cluster, when the
    measure has no value without some clusters, and when it does not vary. Source: Shao and Tu 1995; for random groups
    Kott 2001.
    """
    if reason := made.design.obstacle():
        return value_only(found, made.step, reason)
    values = []
    for group in range(made.count):
        other = without(group)
        if isinstance(other, Absent):
            reason = Fact("no_value_without_some_clusters", reason=other.reason)
            return value_only(found, made.step, reason)
        values.append(other.value)
    added = made.contributions(np.array([found.value]), np.array(values)[:, None])
    return _with_interval(found, added, made.design, level, scale, made.step)


def by_linearization(found: Estimate, linearized: Floats, design: Design, level: float, scale: Symmetry) -> Estimate:
    """The estimate with the interval that the contributions of rows or clusters give.

    `found` is the estimate on all rows, whose value stays; `linearized` (n) is what each row contributes to the
    deviation of the value; `scale` as for `by_cluster`. Variance and degrees of freedom are those that the design has
    of the contributions of rows, or whole clusters. The bounds are missing, with the reason, with one unit, and when
    nothing varies. Source: Binder 1983.
    """
    step = Fact("linearization", over=design.over, df=design.freedom)
    if reason := design.obstacle():
        return value_only(found, step, reason)
    return _with_interval(found, design.totals(linearized)[None, :], design, level, scale, step)


def value_only(found: Estimate, step: Fact, reason: Fact) -> Estimate:
    """The estimate with its value alone: neither the interval nor the test of independent rows."""
    details = {name: value for name, value in found.details.items() if name != "p_value"}
    method = found.method.by(step)
    return replace(found, low=None, high=None, se=None, level=None, method=method, details=details, reason=reason)


def _with_interval(
    found: Estimate, contributions: Floats, design: Design, level: float, scale: Symmetry, step: Fact
) -> Estimate:
    """The estimate with the interval of what units contribute (1, units); without one when that does not vary."""
    se, freedom = math.sqrt(float(design.covariance(contributions)[0, 0])), design.freedom
    if se <= 1e-12 * max(1.0, abs(found.value)):
        return value_only(found, step, intervals.NO_SPREAD)
    reach = intervals.two_sided_student(level, freedom)
    scale = _lies_on(found.value, scale)
    low, high = interval(found.value, se, reach, level, scale)
    details = {**found.details, "df": freedom}
    if "p_value" in found.details:
        # The test of 0 that goes with the interval.
        details["p_value"] = 2 * intervals.beyond_student(abs(found.value) / se, freedom)
    lead = ("wilson_at_effective_rows",) if scale == "wilson" else ()
    on_scale = () if scale in ("plain", "wilson") else (Fact("on_scale", scale=scale),)
    method = found.method.by(*lead, step, *on_scale)
    return replace(found, low=low, high=high, level=level, se=se, method=method, details=details, reason=None)


def _lies_on(value: float, scale: Symmetry) -> Symmetry:
    """The scale where the value lies on it, else the plain one."""
    return "plain" if intervals.off_scale(value, "logit" if scale == "wilson" else scale) is not None else scale


def interval(value: float, se: float, reach: float, level: float, scale: Symmetry) -> tuple[float, float]:
    """The interval at a standard error on the plain scale, symmetric on the scale named; plain where that ends."""
    scale = _lies_on(value, scale)
    if scale == "wilson":
        rows = value * (1 - value) / se**2 * (intervals.two_sided(level) / reach) ** 2
        return intervals.wilson(value * rows, rows, level)
    half = reach * se / intervals.stretch(value, scale)
    if scale == "log":
        # A factor that is a number keeps both bounds above 0 and finite.
        factor = intervals.back(half, scale)
        return value / factor, value * factor
    centre = intervals.forward(value, scale)
    return intervals.back(centre - half, scale), intervals.back(centre + half, scale)


def band(values: Floats, replicates: Floats, made: Groups, reach: float, shares: bool) -> tuple[Floats, Floats]:
    """The ends of a band around a curve, from the curves without each group (one a row), on one axis.

    `shares` are cut at 0 and 1, and their band is symmetric on the logit scale where the curve lies inside; others are
    net benefits, which only end at 1.
    """
    added = made.contributions(values, replicates)
    se = np.sqrt([float(made.design.covariance(point[None, :])[0, 0]) for point in added])
    if not shares:
        return values - reach * se, np.minimum(values + reach * se, 1)
    inside = (values > 0) & (values < 1)
    safe = np.where(inside, values, 0.5)
    centre, half = np.log(safe / (1 - safe)), reach * se / (safe * (1 - safe))
    low, high = scipy.special.expit(centre - half), scipy.special.expit(centre + half)
    return np.where(inside, low, values), np.where(inside, high, values)
