"""How rows were sampled, what that makes of an interval, and weighted sums of shares of rows, such as a net benefit,
whose intervals hold where a share is small."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from dossier.core.facts import Count, Fact, Method
from dossier.core.register import Symmetry
from dossier.core.types import Absent, Estimate, Floats, SumOfShares
from dossier.metrics import intervals
from dossier.metrics.censoring import Weights

Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

NOTHING_KEPT = 1e-9
NO_WEIGHT = Absent(Fact("no_row_with_weight"))


@dataclass(frozen=True)
class Design:
    """How the rows of a dataset were sampled: alone or in clusters, alike or each at its weight, from all or by strata.

    `cluster` (n, the number of each row's cluster), `weights` (n, 0 or more, not all 0) and `strata` (n, the number of
    each row's stratum, one for all rows of a cluster), or None. What each unit, a row or a cluster, contributes to a
    value gives its variance, sum of (z - mean z)^2/(1 - a), the mean that of the stratum and a = 1/m + h - mean h the
    leverage: m the units of the stratum, h the share of the weight that a cluster has, or 1/m of a row. Without strata
    a = h, and of equal clusters, and of rows, it is the design-based m/(m - 1) sum of (z - mean z)^2. The degrees of
    freedom are the units less the strata; of clusters unlike in size or in strata unlike in number Satterthwaite's of
    that sum where rows are independent, which are fewer. Source: Binder 1983; Bell and McCaffrey 2002.
    """

    n: int
    cluster: Integers | None = None
    weights: Floats | None = None
    strata: Integers | None = None
    censoring: Weights | None = None
    """What follow-up tells of each row, where the outcome of some is not known."""

    @property
    def is_simple(self) -> bool:
        """Whether the rows are independent and count alike."""
        return self.cluster is None and self.weights is None and self.strata is None

    @property
    def is_empty(self) -> bool:
        """Whether no row has a weight."""
        return self.weights is not None and not self.weights.any()

    @cached_property
    def _weight(self) -> Floats:
        """The weight of each row, all together 1."""
        weights = np.ones(self.n) if self.weights is None else self.weights
        return np.asarray(weights / weights.sum())

    @property
    def relative_weights(self) -> Floats:
        """The weight of each row, on average 1."""
        return np.asarray(self._weight * self.n)

    @cached_property
    def _unit(self) -> Integers:
        """The number of the sampling unit of each row, from 0: its cluster, or the row itself."""
        return np.arange(self.n) if self.cluster is None else np.unique(self.cluster, return_inverse=True)[1]

    @cached_property
    def _unit_weight(self) -> Floats:
        return np.asarray(np.bincount(self._unit, weights=self._weight), dtype=float)

    @property
    def units(self) -> int:
        """The clusters, or the rows, that have a weight."""
        return int((self._unit_weight > 0).sum())

    @property
    def rows(self) -> float:
        """The rows of equal weight that would be as good: 1 / sum of squared shares of the weight (Kish 1965)."""
        return self.n if self.weights is None else float(1 / (self._weight**2).sum())

    @property
    def details(self) -> dict[str, float | None]:
        """The degrees of freedom, where an interval takes them."""
        return {} if self.is_simple else {"df": self.freedom}

    @property
    def effective_units(self) -> float:
        """The like number of units: how many rows there are if those of a cluster are all alike."""
        return self.n if self.is_simple else float(1 / (self._unit_weight**2).sum())

    @cached_property
    def _stratum(self) -> Integers:
        """The number of the stratum of each unit, from 0."""
        found = np.zeros(len(self._unit_weight), dtype=np.int64)
        if self.strata is None:
            return found
        found[self._unit] = np.unique(self.strata, return_inverse=True)[1] + 1
        alone = np.bincount(found, weights=self._unit_weight > 0)[found] <= 1
        # Units alone in what is left of their strata vary as if they were of one.
        return np.where(alone, 0, found)

    def _in_stratum(self, of_units: Floats) -> Floats:
        """The sum over the units of its stratum, of each unit."""
        return np.asarray(np.bincount(self._stratum, weights=of_units)[self._stratum], dtype=float)

    @cached_property
    def _counts(self) -> Floats:
        """Which units have a weight: 1, or 0."""
        return np.asarray(self._unit_weight > 0, dtype=float)

    @cached_property
    def _size(self) -> Floats:
        """The units of the stratum of each unit that have a weight."""
        return np.maximum(self._in_stratum(self._counts), 1.0)

    @property
    def _of_rows(self) -> bool:
        """Whether every unit is one row, be it named as a cluster."""
        return len(self._unit_weight) == self.n

    @cached_property
    def leverage(self) -> Floats:
        """How much of what each unit contributes is taken away with the value and the mean of its stratum."""
        share = self._counts / self.units if self._of_rows else self._unit_weight
        return np.asarray(1 / self._size + share - self._in_stratum(share) / self._size)

    @cached_property
    def inflation(self) -> Floats:
        """What makes up for the leverage of each unit; nothing does for a unit that is alone."""
        kept = 1 - self.leverage
        return self._counts * np.divide(1.0, kept, out=np.zeros_like(kept), where=kept > NOTHING_KEPT)

    @cached_property
    def freedom(self) -> float:
        """The degrees of freedom of a variance; infinity for independent rows that count alike."""
        if self.is_simple:
            return math.inf
        most = float(self.units - len(np.unique(self._stratum[self._counts > 0])))
        if self._of_rows:
            return most
        each = np.asarray(np.bincount(self._unit, weights=self._weight**2), dtype=float)
        # The eigenvalues of the quadratic form, by the sums that its trace and that of its square are made of.
        a, d, every = self.leverage, self.inflation, self._in_stratum(each)
        own = each - 2 * a * each + a**2 * every
        aa, av, vv = (self._in_stratum(d * product) for product in (a * a, a * each, each * each))
        # What a stratum adds once is here written down by each of its units.
        once = (2 * aa * vv + 2 * av**2 + every**2 * aa**2 - 4 * every * aa * av) * self._counts / self._size
        first, second = float(np.sum(d * own)), float(np.sum(d**2 * each * (2 * own - each) + once))
        found = first**2 / second if second > 0 else most
        return most if found > most - 1e-6 else found

    def totals(self, linearized: Floats) -> Floats:
        """What each unit contributes, the sum of what its rows do: of (n) or (values, n)."""
        if self.cluster is None:
            return linearized
        rows = np.atleast_2d(linearized)
        found = np.array([np.bincount(self._unit, weights=row) for row in rows], dtype=np.float64)
        return found[0] if linearized.ndim == 1 else found

    def covariance(self, contributions: Floats) -> Floats:
        """The covariance of sums of what units contribute: of (values, units), values by values."""
        apart = np.array([each - self._in_stratum(each) / self._size for each in contributions])
        return np.array([[float(np.sum(self.inflation * one * other)) for other in apart] for one in apart])

    def variance(self, linearized: Floats) -> float:
        """The variance of the sum of what rows contribute."""
        return float(self.covariance(self.totals(linearized)[None, :])[0, 0])

    def shares(self, members: Bools) -> tuple[Floats, Floats]:
        """The share of the rows in each set, and the covariance of these shares.

        `members` (sets, n) says which rows belong to each of some sets that have no row in common. Returns (sets) and
        (sets, sets): of independent rows the covariance of a multinomial with n rows, else that of weighted means by
        linearization.
        """
        values = np.count_nonzero(members, axis=1) / self.n
        if self.is_simple:
            return values, multinomial(values, self.n)
        if self.weights is not None:
            values = np.array([self._weight[member].sum() for member in members])
        added = [
            np.bincount(self._unit[member], weights=self._weight[member], minlength=len(self._unit_weight))
            for member in members
        ]
        return values, self.covariance(np.array(added) - values[:, None] * self._unit_weight)

    def of(self, rows: Integers | Bools | slice) -> Design:
        """The design of some of the rows, by their places or by which they are."""
        cluster, strata = (None if each is None else each[rows] for each in (self.cluster, self.strata))
        weights = None if self.weights is None else self.weights[rows]
        censoring = None if self.censoring is None else self.censoring.of(rows)
        return Design(len(np.arange(self.n)[rows]), cluster, weights, strata, censoring)

    def mean(self, values: Floats) -> float:
        """The mean of what the rows have, each at its weight."""
        return float(values.mean()) if self.weights is None else float(np.sum(self._weight * values))

    def standard_error(self, residuals: Floats) -> float:
        """The standard error of a mean of residuals that is 0: by linearization over units, as `shares` has it."""
        if self.is_simple:
            return float(np.std(residuals, ddof=1)) / math.sqrt(self.n) if self.n > 1 else 0.0
        return math.sqrt(self.variance(self._weight * residuals))

    def rows_worth(self, residuals: Floats) -> float:
        """The independent rows whose mean would have the same variance; `effective_units` where they do not vary."""
        error = 0.0 if self.is_simple else self.standard_error(residuals)
        return min(self.rows, self.mean(residuals**2) / error**2) if error else self.effective_units

    @property
    def method(self) -> Method:
        """How the interval of a sum of shares is made."""
        steps = Method("mover")
        return self.as_sampled(steps if self.is_simple else steps + "at_effective_rows")

    def as_sampled(self, made: Method) -> Method:
        """How an interval is made, with how the variance honours clusters and weights."""
        if self.is_simple:
            return made
        lead = Method() if self.weights is None else Method("sampling_weights")
        over = None if self.cluster is None else self.over
        return lead + made + Fact("linearization", over=over, df=self.freedom)

    @property
    def over(self) -> Count:
        """The units that a variance is one over."""
        return Count(self.units, "row" if self.cluster is None else "cluster")

    def obstacle(self) -> Fact | None:
        """Why the rows allow no variance; None where they do."""
        if self.freedom > 0:
            return None
        return Fact("one_unit_no_interval", units=replace(self.over, number=1))


Sampled = Design | None
"""How rows were sampled; None where each was drawn alone and counts alike."""


def multinomial(values: Floats, n: float) -> Floats:
    """The covariance of shares that no row has in common: (sets, ...) gives (sets, sets, ...)."""
    covariance = -values[:, None] * values[None, :] / n
    for index, share in enumerate(values):
        covariance[index, index] = share * (1 - share) / n
    return np.asarray(covariance)


def bounds(
    coefficients: Floats, shares: Floats, covariance: Floats, rows: float, units: float, reach: float
) -> tuple[Floats, Floats]:
    """The interval of the sum of shares, each times its coefficient, by the method of variance estimates recovery.

    `coefficients` and `shares` (sets, ...), `covariance` (sets, sets, ...), `reach` the quantile. Every share has
    Wilson's interval at its effective number of rows, x (1 - x) / variance; with d_i the distance times the
    coefficient from a share to the end that lowers (raises) the sum, the sum lies below (above) its value by at most
    sqrt(sum over i and j of s_i s_j r_ij d_i d_j), s the signs of the coefficients and r the correlations. A share of 0
    or 1 has no variance: it takes the smallest effective number among the others of the sum, at most `rows`, or `units`
    where none has one; and a correlation of 0, or of -1 where a share is 1, as what it lost another gained. Source: Zou
    and Donner 2008; Wilson 1927; for effective numbers Korn and Graubard 1998.
    """
    at = effective_rows(coefficients, shares, covariance, rows, units)
    low, high = intervals.wilson_bounds(shares, at, reach)
    down, up = coefficients * (shares - low), coefficients * (high - shares)
    lowering, raising = (np.where(coefficients > 0, first, other) for first, other in ((down, up), (up, down)))
    variance = np.stack([covariance[index, index] for index in range(len(shares))])
    size = np.sqrt(variance[:, None] * variance[None, :])
    whole = (shares == 1).any(axis=0)
    found = np.where(size > 0, covariance / np.where(size > 0, size, 1.0), np.where(whole, -1.0, 0.0))
    correlation = np.asarray(np.clip(found, -1, 1))
    value = np.sum(coefficients * shares, axis=0)
    return value - _length(lowering, correlation), value + _length(raising, correlation)


def effective_rows(coefficients: Floats, shares: Floats, covariance: Floats, rows: float, units: float) -> Floats:
    """The rows that an independent sample would need for the same variance of each share: (sets, ...)."""
    variance = np.stack([covariance[index, index] for index in range(len(shares))])
    known = (variance > 0) & (shares > 0) & (shares < 1)
    own = np.where(known, shares * (1 - shares) / np.where(known, variance, 1.0), np.inf)
    among = np.where(known & (coefficients != 0), own, np.inf).min(axis=0)
    instead = np.where(np.isinf(among), units, np.minimum(among, rows))
    return np.where(known, own, instead)


def _length(signed: Floats, correlation: Floats) -> Floats:
    """The length of distances that are correlated; `signed` (sets, ...) have the sign of their coefficients."""
    total = np.sum(signed**2, axis=0)
    for i in range(len(signed)):
        for j in range(i):
            total = total + 2 * correlation[i, j] * signed[i] * signed[j]
    return np.asarray(np.sqrt(np.maximum(total, 0)))


def sum_of_shares(members: Bools, coefficients: Sequence[Sequence[float]], design: Design) -> SumOfShares:
    """The sum of shares of these rows, of each set times its coefficient; of several such sums the smallest."""
    values, covariance = design.shares(members)
    return SumOfShares(
        shares=tuple(values.tolist()),
        covariance=tuple(tuple(row) for row in covariance.tolist()),
        coefficients=tuple(tuple(coefficient) for coefficient in coefficients),
        rows=design.rows,
        units=design.effective_units,
        freedom=design.freedom,
    )


def smallest(found: SumOfShares) -> int:
    """Which of the sums is the smallest, the first of equals."""
    shares = np.array(found.shares)
    return int(np.argmin([float(np.sum(np.array(coefficient) * shares)) for coefficient in found.coefficients]))


def bounds_of_each(found: SumOfShares, reach: float) -> list[tuple[float, float]]:
    """The bounds of every sum, at a reach of so many standard errors."""
    shares, covariance = np.array(found.shares), np.array(found.covariance)
    each = (bounds(np.array(of), shares, covariance, found.rows, found.units, reach) for of in found.coefficients)
    return [(float(low), float(high)) for low, high in each]


def interval_of(found: SumOfShares, reach: float) -> tuple[float, float, float]:
    """The value of the smallest sum and its bounds, at a reach of so many standard errors.

    Each bound is the lowest of those of all sums: which sum is the smallest in truth is not known. The smallest lies
    below every upper bound with the sum of that bound, and below every lower bound only where all sums do.
    """
    shares, each = np.array(found.shares), bounds_of_each(found, reach)
    value = float(np.sum(np.array(found.coefficients[smallest(found)]) * shares))
    return value, min(low for low, _ in each), min(high for _, high in each)


def estimate_of(
    found: SumOfShares, design: Design, outcome: Floats, level: float, details: Mapping[str, float | None]
) -> Estimate:
    """The estimate of a net benefit from the shares that it is made of.

    Its standard error is that of a normal interval as long as its own. The bounds are missing where all rows are of one
    cluster.
    """
    method, events = design.method, int(outcome.sum())
    obstacle = design.obstacle()
    if obstacle is not None:
        value, _, _ = interval_of(found, 0.0)
        return Estimate(value, None, None, None, design.n, method, events, None, details, obstacle)
    reach = intervals.two_sided_student(level, found.freedom)
    value, low, high = interval_of(found, reach)
    se, more = (high - low) / (2 * reach), {**details, **design.details}
    return Estimate(value, low, min(high, 1.0), level, design.n, method, events, se, more, made_of=found)


# ---- rows that are not independent: whole clusters left out, or what they contribute --------------------------------

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
