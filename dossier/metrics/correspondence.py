"""How much a hospital's patients resemble those on whom the model was developed.

Everything but the membership starts from the distances between the rows of the two tables (`distances.py`). What grows
as the square of the rows looks at so many of them at most, drawn by seed, and says what the draw adds to its error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from dossier.core.facts import Count, Fact, Method
from dossier.core.register import absent_with_its_parts, curve, describe, metric, present
from dossier.core.types import Absent, Curve, Description, Estimate, Feature, Floats
from dossier.metrics import distances, intervals, once, resampling, robustness
from dossier.metrics.discrimination import auroc_from_counts, placements
from dossier.metrics.distances import LARGEST_PAIRED, Integers, Tables, drawn

LARGEST_PERMUTED = 2000
"""So many rows a side are permuted at most: each permutation sums over all of their pairs."""
LARGEST_CLASSIFIED = 20_000
"""So many rows a side the classifier is fitted to at most."""
BLOCK = 128
"""Permutations whose sums are held at a time."""
ROWS_AT_ONCE = 256
NEAREST = 32
"""So many of the rows nearest to each are listed at least."""
SAMPLED = 256
"""Rows from which is guessed how far the nearest ones lie."""
HALVES = 20
"""Random halves of the development rows, which show how far psi's statistic depends on the rows that were drawn."""


def _counts(table: Tables) -> dict[str, float | None]:
    return {
        "development_n": table.development_n,
        "features": table.features,
        "development_left_out": table.development_left_out,
        "external_left_out": table.external_left_out,
    }


def _draw(table: Tables, sampling_error: float) -> dict[str, float | None]:
    """Of how many rows those were drawn that were compared, and the standard error that this adds; empty if of none."""
    if not table.is_drawn:
        return {}
    return {"development_of": table.development_of, "external_of": table.external_of, "sampling_error": sampling_error}


def _remarks(table: Tables, most: int, error: str) -> Method:
    """What was left out or left to chance; `error` is the code of how the error of that was found."""
    remarks = Method()
    if table.is_drawn:
        remarks += Fact("rows_drawn", most=most, error=Fact(error))
    if table.dropped:
        remarks += Fact("constant_predictors", predictors=table.dropped)
    out = table.development_left_out + table.external_left_out
    if out:
        remarks += Fact("incomplete_rows", rows=Count(out, "row"))
    return remarks


# ---- permutations ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Permuted:
    """What psi and the energy coefficient need of the permutations of the rows of both tables."""

    table: Tables
    statistics: Floats
    """T in every permutation."""
    statistic: float
    """T as observed."""
    statistic_error: float
    """The standard error of T over draws of the rows; 0 where all rows are compared."""
    inside: Floats
    """The sum of the distances within the permuted development rows, in every permutation."""
    across: Floats
    """The sum of the distances between the permuted development rows and the others, in every permutation."""
    total: float
    """The sum of all distances."""
    random: Mapping[str, Any]
    """The state of the random numbers after the permutations."""


@once.once
@absent_with_its_parts
def _permuted(
    development: Sequence[Feature], predictors: Sequence[Feature], permutations: int, seed: int, most: int
) -> Permuted | Absent:
    """The permutations of at most so many rows a side: one matrix of distances, and one product of it with all."""
    table = distances.subsample(present(distances.tables(development, predictors, LARGEST_PAIRED, seed)), most, seed)
    n, development_n = table.development_n + table.external_n, table.development_n
    distance = distances.distances(table, np.arange(n), np.arange(n))
    observed = np.arange(n) < development_n
    # Few members are looked at one by one: the sorted lists would have to be long to hold one.
    few = development_n**2 < 2 * n
    nearest = None if few else _nearest_others(distance, max(NEAREST, 8 * math.ceil(n / development_n)))
    from_all = distance.sum(axis=1)
    rng = np.random.default_rng(seed)
    statistics, inside, across = (np.empty(permutations) for _ in range(3))
    for first in range(0, permutations, BLOCK):
        block = slice(first, min(first + BLOCK, permutations))
        members = np.zeros((block.stop - block.start, n))
        for row in members:
            row[rng.permutation(n)[:development_n]] = 1.0
        sums = members @ distance
        inside[block] = np.einsum("ij,ij->i", members, sums)
        across[block] = members @ from_all - inside[block]
        statistics[block] = [
            _excess(distance, nearest, member, total) for member, total in zip(members.astype(bool), sums, strict=True)
        ]
    return Permuted(
        table=table,
        statistics=statistics,
        statistic=_excess(distance, nearest, observed, distance @ observed),
        statistic_error=_error_of_the_draw(table, distance, nearest, seed) if table.is_drawn else 0.0,
        inside=inside,
        across=across,
        total=float(from_all.sum()),
        random=rng.bit_generator.state,
    )


def _nearest_others(distance: Floats, width: int) -> Integers:
    """The nearest other row of each row, then the second nearest and so on; of rows equally near the first."""
    n = len(distance)
    width, step = min(width, n - 1), max(1, n // SAMPLED)
    # So near lie about twice as many rows as are wanted, as far as a sample of them can tell.
    index = min(2 * width // step + 4, (n - 1) // step)
    found = np.empty((width, n), dtype=np.int64)
    for first in range(0, n, distances.TILE):
        others = distance[first : first + distances.TILE].copy()
        here = np.arange(len(others))
        others[here, first + here] = np.inf
        far = np.partition(others[:, ::step], index, axis=1)[:, index]
        listed = others <= far[:, None]
        short = listed.sum(axis=1) < width
        if short.any():
            listed[short] = others[short] <= np.partition(others[short], width - 1, axis=1)[:, [width - 1]]
        rows, columns = np.nonzero(listed)
        order = np.lexsort((others[rows, columns], rows))
        starts = np.searchsorted(rows, here)
        found[:, first : first + distances.TILE] = columns[order][np.arange(width)[:, None] + starts]
    return found


def _excess(distance: Floats, nearest: Integers | None, members: NDArray[np.bool_], sums: Floats) -> float:
    """T: how much farther the rows outside `members` lie from all members than their nearest members do."""
    outside = np.flatnonzero(~members)
    neighbour = _neighbours(distance, nearest, members, outside)
    return float((sums[outside] - sums[neighbour]).mean())


def _neighbours(distance: Floats, nearest: Integers | None, members: NDArray[np.bool_], outside: Integers) -> Integers:
    """The member nearest to each row outside: looked up in the sorted lists, searched for only if the list has none."""
    if nearest is None:
        inside = np.flatnonzero(members)
        closest: Integers = inside.take(distance[inside][:, outside].argmin(axis=0))
        return closest
    neighbour: Integers = nearest[0].take(outside)
    open_rows = np.flatnonzero(~members.take(neighbour))
    for listed in nearest[1:]:
        if not len(open_rows):
            break
        neighbour[open_rows] = listed.take(outside.take(open_rows))
        open_rows = open_rows[~members.take(neighbour.take(open_rows))]
    for row in open_rows:
        neighbour[row] = np.where(members, distance[outside[row]], np.inf).argmin()
    return neighbour


def _error_of_the_draw(table: Tables, distance: Floats, nearest: Integers | None, seed: int) -> float:
    """The standard error of T over draws of the rows.

    Of the external rows, of which T is a mean, from their spread; of the development rows from the spread of T, times
    the rows, over random halves of them, because the neighbours change with the rows. Each part is smaller by the
    share of its rows that was drawn.
    """
    ours, theirs = table.development_n, table.external_n
    outside = np.arange(ours, ours + theirs)
    rng = np.random.default_rng(seed)
    parts = np.zeros((1 + HALVES, ours + theirs))
    parts[0, :ours] = 1.0
    for part in parts[1:]:
        part[rng.choice(ours, ours // 2, replace=False)] = 1.0
    excesses = [
        (sums[outside] - sums[_neighbours(distance, nearest, part.astype(bool), outside)]) / part.sum()
        for part, sums in zip(parts, parts @ distance, strict=True)
    ]
    whole, *halves = excesses
    of_development = np.var([half.mean() for half in halves], ddof=1) * (1 - ours / table.development_of)
    of_external = whole.var() / theirs * (1 - theirs / table.external_of)
    return float(ours * np.sqrt(of_development + of_external))


# ---- psi ------------------------------------------------------------------------------------------------------------


compared = partial(
    metric,
    roles=("external",),
    breaks=("rows doubled", "perfect is best", "narrower with more rows", "one class is absent"),
)
"""A comparison with the development rows, which do not become more; rows that appear twice show by their twins."""


@compared(clustered="refused")
def degree_of_correspondence(
    development: Sequence[Feature], predictors: Sequence[Feature], permutations: int = 999, seed: int = 1
) -> Estimate | Absent:
    """The probability that a difference at least as large as the one seen arises when both groups come from one
    population.

    `development` and `predictors` are the features of the development table A and of the external table B, matched by
    name. With d the distance of this chapter, T = mean over x in B of [sum over a of d(a, x) - sum over a of d(a,
    nn(x))], nn(x) the row of A nearest to x; value = (b + 1) / (m + 1), b = permutations of the pooled rows, sizes
    kept, whose T is at least the observed one. Of rows equally near the first counts: first come the development rows,
    and among the rows of a table those with the lower values of the features, in the order of their names. Details:
    `statistic` (T), the rows and features used and left out. Above 2,000 rows a side: so many, drawn by `seed`, which
    are n and `development_n`; then `development_of` and `external_of` are the rows that they were drawn from, and
    `sampling_error` the standard error of the value over such draws: half of what it changes when T moves by one
    standard error to either side, that of T being taken from 20 random halves of the development rows and from the
    spread over the external rows.

    It is a p-value: it falls with n, it is one-sided, and it carries no interval. Differs from the published loop,
    which adds no 1 and has no seed. Absent when no predictor is shared or varies, or too few rows hold half of them.
    """
    found = present(_permuted(development, predictors, permutations, seed, LARGEST_PERMUTED))
    table = found.table
    low, value, high = (
        (float((found.statistics >= found.statistic + shift).sum()) + 1) / (permutations + 1)
        for shift in (found.statistic_error, 0.0, -found.statistic_error)
    )
    notes = _remarks(table, LARGEST_PERMUTED, "of_random_halves")
    method = Method(Fact("permutation", draws=permutations), *notes)
    details = {**_counts(table), "statistic": found.statistic, **_draw(table, (high - low) / 2)}
    return intervals.without_interval(value, table.external_n, method, Fact("p_value_has_no_interval"), details=details)


# ---- the averaged form ----------------------------------------------------------------------------------------------

DIVISIONS = 100
"""So often the rows of both tables are divided at random into two others."""
LARGEST_DIVIDED = 300
"""So many rows a side are divided at most."""


@metric(roles=("external",), breaks=("rows doubled", "perfect is best", "one class is absent"), clustered="value only")
def correspondence_averaged(
    development: Sequence[Feature], predictors: Sequence[Feature], level: float = 0.95, seed: int = 1
) -> Estimate | Absent:
    """Similarity of the patients of this hospital to those of the development: one half when they are exchangeable.

    `development` and `predictors` are the features of the development table A and of the external table B. Mean over x
    in B of p(x) = (#{j in A: T_j > T_x} + (1 + #{T_j = T_x}) / 2) / (n_A + 1), T_x = sum over a in A of d(a, x) - sum
    over a in A of d(a, nn(x)), and T_j the same for j within (A and x) without j. Of rows equally near the first
    counts, as in `degree_of_correspondence`. Its expectation is exactly one half where both tables come from one
    population, whatever they hold, and it does not fall with the size of B. It lies above one half where the case mix
    is narrower.

    The standard error is that of DeLong's placements, the shares p(x) over x and the shares of x that lie less far than
    j over j, so that both tables vary; because the neighbours are rows of A too, it is multiplied by what the spread of
    the value over 100 random divisions of the rows of both tables exceeds that of its placements. The interval is
    symmetric on the logit scale; where no placement varies the error is Newcombe's. Above 5,000 rows a side: so many,
    drawn by `seed`, which are n and `development_n`; then `development_of` and `external_of` are the rows that they
    were drawn from, and `sampling_error` the standard error of the value over such draws, below .01. Absent when no
    predictor is shared or varies, or too few rows hold half of them.
    """
    found = present(_shares_as_far(development, predictors, seed, LARGEST_PAIRED))
    table, value = found.table, float(found.share.mean())
    notes = _remarks(table, LARGEST_PAIRED, "of_mean_over_both_tables")
    details = {**_counts(table), **_draw(table, found.sampling_error)}
    if table.external_n < 2:
        reason = Fact("one_external_row", rows=Count(1, "row"))
        made = Method("share_farther", *notes)
        return Estimate(value, None, None, None, table.external_n, made, details=details, reason=reason)
    variance = found.share.var(ddof=1) / table.external_n + found.as_far.var(ddof=1) / table.development_n
    if variance == 0:
        found_all = auroc_from_counts(value, table.development_n + table.external_n, table.external_n, level)
        return replace(found_all, n=table.external_n, events=None, method=found_all.method + notes, details=details)
    se = math.sqrt(variance * _beyond_placements(table, seed))
    low, high = intervals.on_logit(value, se, level)
    made = Method("placements_of_both_tables", Fact("on_scale", scale="logit"), *notes)
    return Estimate(value, low, high, level, table.external_n, made, se=se, details=details)


def _beyond_placements(table: Tables, seed: int) -> float:
    """How many times its placements' the variance of the value is when both tables come from one population.

    Measured where that is so by design: over random divisions of the rows of both tables into two of the same sizes.
    """
    ours, theirs = table.development_n, table.external_n
    scale = min(1.0, LARGEST_DIVIDED / max(ours, theirs))
    ours, theirs = max(2, round(scale * ours)), max(2, round(scale * theirs))
    rng = np.random.default_rng(seed)
    seen, stated = 0.0, 0.0
    for _ in range(DIVISIONS):
        rows = rng.permutation(table.development_n + table.external_n)[: ours + theirs]
        share, as_far = _placements(table, np.sort(rows[:ours]), np.sort(rows[ours:]))
        seen += (float(share.mean()) - 0.5) ** 2
        stated += float(share.var(ddof=1) / theirs + as_far.var(ddof=1) / ours)
    return seen / stated if stated > 0 else 1.0


@dataclass(frozen=True)
class Shares:
    """How usual each external row is among the development rows."""

    table: Tables
    share: Floats
    """p(x) of each external row."""
    as_far: Floats
    """Of each development row the share of external rows that lie less far, those as far counted half."""

    @property
    def sampling_error(self) -> float:
        """The standard error of the mean of p(x) over draws of the rows."""
        # Which neighbours were drawn differs from x to x: that part is no smaller where all x are looked at.
        drawn = 1 - self.table.development_n / self.table.development_of
        of_development = self.as_far.var() / self.table.development_n * drawn
        return float(np.sqrt(self.share.var() / self.table.external_n + of_development))


@once.once
@absent_with_its_parts
def _shares_as_far(
    development: Sequence[Feature], predictors: Sequence[Feature], seed: int, most: int
) -> Shares | Absent:
    """p(x) of each external row, from at most so many rows a side."""
    table = present(distances.tables(development, predictors, most, seed))
    n = table.development_n
    return Shares(table, *_placements(table, np.arange(n), np.arange(n, n + table.external_n)))


def _placements(table: Tables, ours: Integers, theirs: Integers) -> tuple[Floats, Floats]:
    """Of each of `theirs` the share p(x) of `ours` and itself that lie farther, of each of `ours` the converse."""
    n = len(ours)
    sums, gap, nearest = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    first = 0
    for rows, distance in distances.tiles(table, ours, ours):
        places = np.arange(first, first + len(rows))
        sums[places] = distance.sum(axis=1)
        here = np.arange(len(rows))
        distance[here, places] = np.inf
        nearest[places] = distance.argmin(axis=1)
        gap[places] = distance[here, nearest[places]]
        first += len(rows)
    # T of a row whose neighbour is another of ours, but for its distance to x and that of the neighbour to x.
    without_x = sums - sums[nearest] + gap
    share, as_far, first = np.empty(len(theirs)), np.zeros(n), 0
    for rows, distance in distances.tiles(table, theirs, ours):
        to_all = distance.sum(axis=1)
        own = to_all - sums[distance.argmin(axis=1)]
        farther = distance - distance[:, nearest] + without_x - own[:, None]
        # The neighbour of these rows is x itself.
        x, j = np.nonzero(distance < gap)
        farther[x, j] = sums[j] + 2 * distance[x, j] - to_all[x] - own[x]
        np.sign(farther, out=farther)
        share[first : first + len(rows)] = (farther.sum(axis=1) / 2 + (n + 1) / 2) / (n + 1)
        as_far += farther.sum(axis=0)
        first += len(rows)
    return share, (1 + as_far / len(theirs)) / 2


BINS = 10
"""Tenths of the scale of p, in which the rows of a site are counted."""


@curve(roles=("external",), bins=True)
def conformal_p_values(development: Sequence[Feature], predictors: Sequence[Feature], seed: int = 1) -> Curve | Absent:
    """How the patients of this hospital spread over the scale from unusual to usual among those of the development.

    `development` and `predictors` are the features of the development table A and of the external table B. For each row
    x of B, p(x) is the share of the rows of A and x that lie farther from all others than x does, those as far counted
    half (the p(x) of `correspondence_averaged`, of the same rows). Columns, one row a tenth of the scale: `low`
    (excluded), `high` (included), `share` of the rows of B in it, 0 to 1. Rows of the development table would give a
    tenth each; more on the left: rows that are unusual there. Absent where the averaged correspondence is.
    """
    found = present(_shares_as_far(development, predictors, seed, LARGEST_PAIRED))
    method = Method("share_farther")
    if found.table.is_drawn:
        method += Fact("rows_drawn", most=LARGEST_PAIRED, error=None)
    edges = np.arange(BINS + 1) / BINS
    # Right-closed: n + 1 equally likely values then fall in equal numbers into the tenths.
    places = np.ceil(np.round(found.share * BINS, 9)).astype(int) - 1
    counts = np.bincount(places, minlength=BINS)
    columns = {"low": edges[:-1], "high": edges[1:], "share": counts / len(found.share)}
    return Curve({name: tuple(map(float, column)) for name, column in columns.items()}, len(found.share), method)


# ---- energy ---------------------------------------------------------------------------------------------------------


@compared(clustered="value only")
def energy_coefficient(
    development: Sequence[Feature],
    predictors: Sequence[Feature],
    permutations: int = 999,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """The share of the average distance between the two groups that their own spread does not explain.

    `development` and `predictors` are the features of the development table X and of the external table Y. Value = (2
    E|X-Y| - E|X-X'| - E|Y-Y'|) / (2 E|X-Y|) over all pairs, a row with itself included. Details: `p_value`, the share
    of permutations of all rows with at least this coefficient, (b + 1) / (m + 1). The interval is the percentile
    bootstrap over the rows of both tables of the unbiased form, whose averages within a table leave a row and itself
    out (of resamples, which hold a row more than once, by (n / (n - 1))^2); it ends at 0, and is one-sided, where the
    tables may come from one population. Above 2,000 rows a side: so many, drawn by `seed`, which are n and
    `development_n`, the same as those of `degree_of_correspondence`; then `development_of` and `external_of` are the
    rows that they were drawn from, and `sampling_error` the standard error of the value over such draws, from resamples
    of one table at a time, each smaller by the share that was drawn. Absent when no predictor is shared or varies, or
    too few rows hold half of them.
    """
    permuted = present(_permuted(development, predictors, permutations, seed, LARGEST_PERMUTED))
    table = permuted.table
    ours, theirs = table.development_n, table.external_n
    rng = np.random.default_rng()
    rng.bit_generator.state = dict(permuted.random)
    sums = _pair_sums(table, _weights(rng, ours, bootstrap), _weights(rng, theirs, bootstrap))
    observed = float(_coefficient(sums.within_ours[0], sums.within_theirs[0], sums.between[0], ours, theirs))
    notes = _remarks(table, LARGEST_PERMUTED, "of_single_tables")
    low, high = None, None
    method = Method("bootstrap_over_both_tables", "percentile")
    reason: Fact | None = Fact("one_external_row", rows=Count(1, "row"))
    if theirs > 1:
        # A resample holds a row more than once: its pairs lie apart by (n - 1)/n of what pairs of two rows do.
        of_ours, of_theirs = ((n / (n - 1)) ** 2 for n in (ours, theirs))
        inside = sums.within_ours[1:] * of_ours, sums.within_theirs[1:] * of_theirs
        low, high = resampling.central(_coefficient(*inside, sums.between[1:], ours, theirs), level)
        # No rounding error excludes the value itself.
        low, high = min(low, observed), max(high, observed)
        method, reason = (method + "one_sided_at_0" if low == 0 else method), None
    return Estimate(
        value=observed,
        low=low,
        high=high,
        level=None if reason else level,
        n=theirs,
        method=Method(*method.steps, Fact("p_by_permutations", permutations=permutations), *notes),
        details={
            **_counts(table),
            "p_value": _permutation_p(permuted, ours, theirs, observed),
            **_draw(table, _error_of_drawn_pairs(table, sums)),
        },
        reason=reason,
    )


@dataclass(frozen=True)
class PairSums:
    """Sums of distances over pairs of rows: as observed, and then in every resample."""

    within_ours: Floats
    within_theirs: Floats
    between: Floats
    between_ours: Floats
    """Between resamples of the development rows and the external rows as observed."""
    between_theirs: Floats
    """Between the development rows as observed and resamples of the external rows."""


def _error_of_drawn_pairs(table: Tables, sums: PairSums) -> float:
    """The standard error of the coefficient over draws of the rows: one table resampled, the other as observed."""
    ours, theirs = table.development_n, table.external_n
    of_ours = _coefficient(sums.within_ours[1:], sums.within_theirs[0], sums.between_ours[1:], ours, theirs)
    of_theirs = _coefficient(sums.within_ours[0], sums.within_theirs[1:], sums.between_theirs[1:], ours, theirs)
    left = (1 - ours / table.development_of, 1 - theirs / table.external_of)
    return math.sqrt(
        sum(float(each.var()) * share for each, share in zip((of_ours, of_theirs), left, strict=True) if share)
    )


def _weights(rng: np.random.Generator, n: int, draws: int) -> Floats:
    """How often each row counts: once as observed, and as often as it is drawn in each resample; rows x draws."""
    return np.vstack([np.ones(n), rng.multinomial(n, np.full(n, 1 / n), size=draws)]).T


def _pair_sums(table: Tables, of_ours: Floats, of_theirs: Floats) -> PairSums:
    """All sums in one pass over the distances, block by block; of two rows each pair is looked at once."""
    ours, total = table.development_n, table.development_n + table.external_n
    theirs = np.arange(ours, total)
    draws = of_ours.shape[1]
    within_ours, within_theirs, between, between_ours, between_theirs = (np.zeros(draws) for _ in range(5))
    for first in range(0, ours, ROWS_AT_ONCE):
        rows = np.arange(first, min(first + ROWS_AT_ONCE, ours))
        within_ours += _within(table, rows, np.arange(first, ours), of_ours[first:])
        across = distances.distances(table, rows, theirs)
        to_theirs = across @ of_theirs
        between += np.einsum("ij,ij->j", of_ours[rows], to_theirs)
        between_ours += across.sum(axis=1) @ of_ours[rows]
        between_theirs += to_theirs.sum(axis=0)
    for first in range(0, len(theirs), ROWS_AT_ONCE):
        rows = theirs[first : first + ROWS_AT_ONCE]
        within_theirs += _within(table, rows, theirs[first:], of_theirs[first:])
    return PairSums(within_ours, within_theirs, between, between_ours, between_theirs)


def _within(table: Tables, rows: Integers, on: Integers, weights: Floats) -> Floats:
    """The weighted sums over the pairs of these rows, the first of `on`, with all of `on`, both ways."""
    distance = distances.distances(table, rows, on)
    distance[:, len(rows) :] *= 2
    sums: Floats = np.einsum("ij,ij->j", weights[: len(rows)], distance @ weights)
    return sums


def _coefficient(within_ours: Floats, within_theirs: Floats, between: Floats, ours: int, theirs: int) -> Floats:
    """The coefficient from sums over pairs; 0 where nothing lies apart."""
    across = 2 * between / (ours * theirs)
    inside = within_ours / ours**2 + within_theirs / theirs**2
    apart = np.where(across > 0, across, 1.0)
    return np.maximum((across - inside) / apart, 0.0)


def _permutation_p(found: Permuted, ours: int, theirs: int, observed: float) -> float:
    """The share of permutations, the observed order among them, with at least the observed coefficient."""
    others = found.total - found.inside - 2 * found.across
    coefficients = _coefficient(found.inside, others, found.across, ours, theirs)
    # A permutation that equals the observed order must count as equal although its sums were added in another order.
    return float((1 + (coefficients >= observed - 1e-12).sum()) / (1 + len(coefficients)))


# ---- membership -----------------------------------------------------------------------------------------------------

FEWEST_CLASSIFIED = 10
"""Below so many rows in a table nothing is fitted."""
HALVINGS = 10
"""So often the classifier is fitted to one random half of both tables and tested on the other, and the reverse."""
NEVER_SINGULAR = 1e-9
"""Added to the information: it damps a step where every prediction is certain, and does not move the solution."""


@dataclass(frozen=True)
class Membership:
    """The design that tells the tables apart: standardized columns, what each is, and which rows are external."""

    columns: Floats
    names: tuple[tuple[str, str | None], ...]
    """Predictor and level of each column: None for a number, "missing" for the lack of a value."""
    external: Floats
    development_of: int
    """The development rows that these were drawn from."""
    external_of: int


def membership_design(
    development: Sequence[Feature], predictors: Sequence[Feature], seed: int = 1
) -> Membership | Absent:
    """Both tables as columns of mean 0 and standard deviation 1, features by name, rows in an order of their own.

    A number that is missing is replaced by the median over both tables and marked by a column of its own; a category
    makes one column a level but the most common, its lack another. Columns that do not vary are left out. Of a table of
    more than 20,000 rows so many are drawn by `seed`, without replacement.
    """
    shared = distances.shared_features(development, predictors)
    if not shared:
        return Absent(Fact("no_shared_predictor"))
    sizes = [len(feature.values) for feature in shared[0]]
    if min(sizes) < FEWEST_CLASSIFIED:
        return Absent(Fact("too_few_rows_to_classify", fewest=Count(FEWEST_CLASSIFIED, "row", is_limit=True)))
    if max(sizes) > LARGEST_CLASSIFIED:
        shared = _drawn_features(shared, LARGEST_CLASSIFIED, seed)
    boundary, total = len(shared[0][0].values), len(shared[0][0].values) + len(shared[0][1].values)
    made = [column for ours, other in shared for column in _membership_columns(ours, other)]
    kept = [(name, values) for name, values in made if float(np.ptp(values)) > 0]
    if not kept:
        return Absent(Fact("no_shared_predictor_varies"))
    columns = np.column_stack([values for _, values in kept])
    columns = np.vstack([distances.canonical(columns[:boundary]), distances.canonical(columns[boundary:])])
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    external = (np.arange(total) >= boundary).astype(float)
    return Membership(columns, tuple(name for name, _ in kept), external, *sizes)


def _drawn_features(shared: Sequence[tuple[Feature, Feature]], most: int, seed: int) -> list[tuple[Feature, Feature]]:
    """The features with at most so many rows of each table, the same rows for all of them."""
    rng = np.random.default_rng(seed)
    sides = [drawn(np.column_stack([pair[side].values for pair in shared]), most, rng) for side in (0, 1)]
    return [
        (replace(ours, values=sides[0][:, index]), replace(theirs, values=sides[1][:, index]))
        for index, (ours, theirs) in enumerate(shared)
    ]


def _membership_columns(ours: Feature, theirs: Feature) -> Iterator[tuple[tuple[str, str | None], Floats]]:
    """The columns of one predictor, not yet standardized."""
    both = np.concatenate([ours.values, theirs.values]).astype(float)
    missing = np.isnan(both)
    known = both[~missing]
    if len(known) == 0:
        return
    if ours.levels is None:
        yield (ours.name, None), np.where(missing, np.median(known), both)
    else:
        codes, counts = np.unique(known, return_counts=True)
        for code in np.delete(codes, counts.argmax()):
            yield (ours.name, ours.levels[int(code)]), (both == code).astype(float)
    yield (ours.name, "missing"), missing.astype(float)


def ridge_logistic(columns: Floats, outcome: Floats, ridge: float = 0.01) -> Floats:
    """The coefficients of a logistic regression, intercept first, by Newton's method with halved steps.

    `columns` (n, features; standardized), `outcome` (n, 0 or 1). The squared coefficients, the intercept excepted,
    weigh `ridge`/2, so that the fit exists even where the columns separate the outcomes or repeat each other; .01 is
    too little to move another.
    """
    design = np.column_stack([np.ones(len(columns)), columns])
    weight = np.full(design.shape[1], ridge)
    weight[0] = 0.0
    found = np.zeros(design.shape[1])

    def loss(coefficients: Floats) -> float:
        linear = design @ coefficients
        return float(np.sum(np.logaddexp(0, linear) - outcome * linear) + (weight * coefficients**2).sum() / 2)

    now = loss(found)
    for _ in range(100):
        mean = scipy.special.expit(design @ found)
        gradient = design.T @ (outcome - mean) - weight * found
        information = (design * (mean * (1 - mean))[:, None]).T @ design + np.diag(weight + NEVER_SINGULAR)
        step = np.linalg.solve(information, gradient)
        for _ in range(40):
            after = loss(found + step)
            if after <= now + 1e-12 * abs(now):
                break
            step = step / 2
        found, now = found + step, after
        if float(np.abs(step).max()) < 1e-9:
            break
    return found


def auroc_of_halves(design: Membership, seed: int) -> Floats:
    """The AUROC in one half of the rows of both tables by a fit to the other half, two values a random halving."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(HALVINGS):
        first = np.empty(len(design.external), dtype=bool)
        for label in (0.0, 1.0):
            member = np.flatnonzero(design.external == label)
            first[member] = rng.permutation(np.arange(len(member)) % 2) == 0
        for held in (first, ~first):
            fitted = ridge_logistic(design.columns[~held], design.external[~held])
            # Rounded, so that rows that are alike tie whatever the last digit of a sum.
            above, _ = placements(design.external[held], np.round(design.columns[held] @ fitted[1:], 9))
            found.append(float(above.mean()))
    return np.array(found)


@compared(clustered="value only")
def membership_auroc(
    development: Sequence[Feature], predictors: Sequence[Feature], level: float = 0.95, seed: int = 1
) -> Estimate | Absent:
    """How well a model can tell the patients of this hospital from those of the development.

    .5 when they cannot be distinguished, 1 when they never overlap.

    `development` and `predictors` are the features of the development table and of the external table, matched by name.
    The mean AUROC of a logistic regression of the table on the predictors over ten random halvings of both tables,
    dealt by `seed`: each half is predicted by a fit to the other. Missing numbers take the median over both tables and
    a column says that they were missing; a category has a column a level but the most common, and one for its lack.
    Columns are standardized; a ridge of .01 lets separated tables have a fit. The interval is Student's, with the
    variance over the halves that knows that they share rows (Nadeau and Bengio 2003); where no half differs it is
    Newcombe's. With halves it holds one half in 94 to 97 of 100 pairs of tables from one population, with tenths in 83
    to 91. It estimates the AUROC of a model fitted to half of the rows, below that of the best model, the more so the
    more predictors and the fewer rows: of ten predictors the 95 % interval held a best model's AUROC of .65 in .757 of
    the tables of 200 rows and .860 of those of 500. n is the number of external rows. A difference in what is missing
    counts as a difference. Which predictors drive it stands in the description. Above 20,000 rows a side: so many,
    drawn by `seed`, which are n and `development_n`; then `development_of` and `external_of` are the rows that they
    were drawn from, and `sampling_error` is the standard error of the value over such draws, at most: that of the
    interval, smaller by the lesser share of rows that was drawn. Source: Debray 2015. Absent when no predictor is
    shared or varies, and with fewer than ten rows in a table.
    """
    design = present(membership_design(development, predictors, seed))
    rows, external = len(design.external), int(design.external.sum())
    found = robustness.over_splits(auroc_of_halves(design, seed), 1, 1, external, None, level)
    if found.se is None:
        found = auroc_from_counts(found.value, rows, external, level)
    else:
        found = replace(found, low=max(0.0, found.low or 0.0), high=min(1.0, found.high or 1.0))
    details: dict[str, float | None] = {"development_n": rows - external}
    notes = Method(Fact("halves_classified", halvings=HALVINGS))
    looked_at = min((rows - external) / design.development_of, external / design.external_of)
    if looked_at < 1:
        error = (found.se or 0.0) * math.sqrt(1 - looked_at)
        details |= {"development_of": design.development_of, "external_of": design.external_of, "sampling_error": error}
        notes += Fact("rows_drawn", most=LARGEST_CLASSIFIED, error=Fact("of_its_interval"))
    return replace(found, n=external, events=None, method=notes + found.method, details=details)


@describe(roles=("external",))
def membership_drivers(
    development: Sequence[Feature], predictors: Sequence[Feature], seed: int = 1
) -> tuple[Description, ...]:
    """Which predictors a model uses to tell the patients of this hospital from those of the development.

    The coefficients of the model of `membership_auroc` fitted to all of its rows, as `membership_log_odds` per standard
    deviation of the column: above 0 higher values, or the level, speak for the external table; the level "missing" is
    the lack of a value. Nothing where that model cannot be made.
    """
    design = membership_design(development, predictors, seed)
    if isinstance(design, Absent):
        return ()
    external = int(design.external.sum())
    found = ridge_logistic(design.columns, design.external)[1:]
    return tuple(
        Description(feature, "membership_log_odds", float(coefficient), external, level)
        for (feature, level), coefficient in zip(design.names, found, strict=True)
    )


# ---- feature by feature ---------------------------------------------------------------------------------------------


@describe(roles=("external",))
def feature_shift(development: Sequence[Feature], predictors: Sequence[Feature]) -> tuple[Description, ...]:
    """How far each predictor lies from its development values, and how much of it is missing on each side.

    Per numeric predictor `standardized_mean_difference` (external minus development, divided by the root of the mean of
    the two variances) and `kolmogorov_smirnov` (largest gap between the two cumulative distributions); per level of a
    categorical predictor `standardized_mean_difference` of its share; for all `share_missing_development` and
    `share_missing`. A difference that cannot be standardized, because neither side varies or one side has no value, is
    left out.
    """
    theirs = {feature.name: feature for feature in predictors}
    rows: list[Description] = []
    for ours in development:
        if ours.name in theirs:
            rows += _shift(ours, theirs[ours.name])
    return tuple(rows)


def _shift(ours: Feature, theirs: Feature) -> Iterator[Description]:
    for statistic, feature in (("share_missing_development", ours), ("share_missing", theirs)):
        if len(feature.values):
            missing = float(np.isnan(feature.values).mean())
            yield Description(ours.name, statistic, missing, len(feature.values))
    left, right = ours.values[~np.isnan(ours.values)], theirs.values[~np.isnan(theirs.values)]
    if not len(left) or not len(right):
        return
    n = len(right)
    if ours.levels is None:
        difference = standardized_mean_difference(left, right)
        if difference is not None:
            yield Description(ours.name, "standardized_mean_difference", difference, n)
        yield Description(ours.name, "kolmogorov_smirnov", kolmogorov_smirnov(left, right), n)
        return
    for code, level in enumerate(ours.levels):
        p, q = float((left == code).mean()), float((right == code).mean())
        spread = (p * (1 - p) + q * (1 - q)) / 2
        if spread > 0:
            yield Description(ours.name, "standardized_mean_difference", (q - p) / spread**0.5, n, level)


def standardized_mean_difference(development: Floats, external: Floats) -> float | None:
    """The difference of the means, external minus development, in standard deviations; None when none varies."""
    if len(development) < 2 or len(external) < 2:
        return None
    spread = (_variance(development) + _variance(external)) / 2
    return float((external.mean() - development.mean()) / np.sqrt(spread)) if spread > 0 else None


def _variance(values: Floats) -> float:
    """The variance with n - 1; exactly 0 where all values are the same, of which rounding would leave a trace."""
    return 0.0 if values.min() == values.max() else float(values.var(ddof=1))


def kolmogorov_smirnov(development: Floats, external: Floats) -> float:
    """The largest gap between the two cumulative distributions, 0 to 1."""
    sides = (np.sort(development), np.sort(external))
    # In their order: of a million values each is then found where the one before was.
    points = np.sort(np.concatenate(sides), kind="stable")
    ours, theirs = (np.searchsorted(side, points, side="right") / len(side) for side in sides)
    return float(np.abs(ours - theirs).max())
