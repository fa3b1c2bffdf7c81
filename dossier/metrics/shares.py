"""How rows were sampled, and weighted sums of shares of them, such as a net benefit, whose intervals hold where a share
is small."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dossier.core.facts import Count, Fact, Method
from dossier.core.types import Absent, Estimate, Floats, SumOfShares
from dossier.metrics.censoring import Weights
from dossier.metrics.intervals import two_sided_student, wilson_bounds

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
    low, high = wilson_bounds(shares, at, reach)
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
    reach = two_sided_student(level, found.freedom)
    value, low, high = interval_of(found, reach)
    se, more = (high - low) / (2 * reach), {**details, **design.details}
    return Estimate(value, low, min(high, 1.0), level, design.n, method, events, se, more, made_of=found)
