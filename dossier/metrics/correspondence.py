"""How much a hospital's patients resemble those on whom the model was developed.

Everything here starts from one distance between two rows. Distances are rounded to a fine binary grid, so that their
sums are exact: ties stay ties, and no result depends on the order in which a processor adds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import expit

from dossier.metrics.discrimination import auroc
from dossier.metrics.resampling import central
from dossier.register import curve, describe, metric
from dossier.types import Absent, Curve, Description, Estimate, Feature, Floats

LARGEST_EXACT = 2000
"""Above so many rows a side, psi is the median over subsamples."""

LARGEST_PAIRED = 10_000
"""Above so many rows a side, what looks at all pairs of rows looks at those of a sample: they grow as the square."""
SUBSAMPLES = 10
BLOCK = 1024
DRAWS_AT_ONCE = 100
NEAREST = 64
NEAREST_FIRST = 8
GRID = 2.0**30
"""Distances are multiples of 1/GRID (1e-9): a sum of 2^16 of them is then exact in double precision."""


@dataclass(frozen=True)
class Tables:
    """Two tables on one scale: the development rows first, then the external rows, each in an order of its own."""

    complete: Floats
    """The encoded features that no row misses: rows x columns."""
    partial: tuple[tuple[Floats, bool], ...]
    """The features that some row misses, scaled, and whether they are categories."""
    present: Floats | None
    """1 where a row has a feature, rows x features; None when nothing is missing."""
    features: int
    development_n: int
    external_n: int
    development_left_out: int
    external_left_out: int
    dropped: tuple[str, ...]


# ---- the distance ---------------------------------------------------------------------------------------------------


def tables(development: Sequence[Feature], predictors: Sequence[Feature]) -> Tables | Absent:
    """Two tables made comparable feature by feature.

    Numbers are divided by their standard deviation (ddof 1) over both tables together, and a feature that does not vary
    is dropped and named; categories count 1 where they differ, which is one-hot divided by the root of 2. Rows with
    less than half of the features are left out and counted. Nothing is imputed. The features come in the order of their
    names and the rows in the order of what they hold, so that neither order in the files can matter.
    """
    shared = _shared(development, predictors)
    if not shared:
        return Absent("the external table shares no predictor with the development table")
    scaled = [(ours.name, _scaled(ours, other), ours.levels is not None) for ours, other in shared]
    dropped = tuple(name for name, values, _ in scaled if values is None)
    columns = [(values, category) for _, values, category in scaled if values is not None]
    if not columns:
        return Absent("no shared predictor varies")
    values = np.column_stack([column for column, _ in columns])
    boundary = len(shared[0][0].values)
    half = ~(np.isnan(values).sum(axis=1) * 2 > values.shape[1])
    ours_kept = _canonical(values[:boundary][half[:boundary]])
    theirs_kept = _canonical(values[boundary:][half[boundary:]])
    if len(ours_kept) < 2:
        return Absent("fewer than two development rows have half of the predictors")
    if len(theirs_kept) < 1:
        return Absent("no external row has half of the predictors")
    kept = np.vstack([ours_kept, theirs_kept])
    missing = np.isnan(kept)
    if missing.any() and _some_pair_shares_nothing(~missing):
        return Absent("two rows share no predictor that both have, so their distance is unknown")
    whole = np.logical_not(missing.any(axis=0))
    categories = np.array([category for _, category in columns])
    return Tables(
        complete=_encoded(kept, whole, categories),
        partial=tuple((kept[:, index], bool(categories[index])) for index in np.flatnonzero(~whole)),
        present=(~missing).astype(float) if missing.any() else None,
        features=kept.shape[1],
        development_n=len(ours_kept),
        external_n=len(theirs_kept),
        development_left_out=boundary - len(ours_kept),
        external_left_out=len(values) - boundary - len(theirs_kept),
        dropped=dropped,
    )


def _shared(development: Sequence[Feature], predictors: Sequence[Feature]) -> list[tuple[Feature, Feature]]:
    """The features that both tables have, by name, so that the order of the columns in the files cannot matter."""
    theirs = {feature.name: feature for feature in predictors}
    by_name = sorted(development, key=lambda feature: feature.name)
    return [(feature, theirs[feature.name]) for feature in by_name if feature.name in theirs]


def _scaled(ours: Feature, theirs: Feature) -> Floats | None:
    """One feature over both tables on the scale of the distance; None when it does not vary."""
    both = np.concatenate([ours.values, theirs.values]).astype(float)
    known = both[~np.isnan(both)]
    if len(known) < 2 or known.min() == known.max():
        return None
    if ours.levels is not None:
        return both
    return both / float(known.std(ddof=1))


def _canonical(values: Floats) -> Floats:
    """The rows sorted by what they hold, so that their order in the file cannot matter."""
    return values[np.lexsort(values.T[::-1])]


def _some_pair_shares_nothing(present: NDArray[np.bool_]) -> bool:
    patterns = np.unique(present, axis=0).astype(float)
    return bool((patterns @ patterns.T == 0).any())


def _encoded(values: Floats, whole: NDArray[np.bool_], categories: NDArray[np.bool_]) -> Floats:
    """The features that no row misses: numbers as they are, categories one-hot divided by the root of 2."""
    parts = [values[:, whole & ~categories]]
    for index in np.flatnonzero(whole & categories):
        codes = np.unique(values[:, index])
        parts.append((values[:, [index]] == codes[None, :]) / np.sqrt(2))
    return np.hstack(parts)


def distances(table: Tables, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
    """The distance of each of `rows` to each of `columns`: Euclidean over the features both have, scaled up for the
    rest.
    """
    if table.complete.shape[1]:
        squared = cdist(table.complete[rows], table.complete[columns], "sqeuclidean")
    else:
        squared = np.zeros((len(rows), len(columns)))
    for values, category in table.partial:
        left, right = values[rows][:, None], values[columns][None, :]
        gap = (left != right).astype(float) if category else (left - right) ** 2
        gap[np.isnan(left[:, 0])] = 0.0
        gap[:, np.isnan(right[0])] = 0.0
        squared += gap
    if table.present is not None:
        squared *= table.features / (table.present[rows] @ table.present[columns].T)
    np.sqrt(squared, out=squared)
    squared *= GRID
    np.rint(squared, out=squared)
    squared /= GRID
    rounded: Floats = squared
    return rounded


def _blocks(start: int, stop: int) -> Iterator[NDArray[np.int64]]:
    """The rows from start to stop, in pieces whose distances fit in memory."""
    for first in range(start, stop, BLOCK):
        yield np.arange(first, min(first + BLOCK, stop))


def _counts(table: Tables) -> dict[str, float | None]:
    return {
        "development_n": table.development_n,
        "features": table.features,
        "development_left_out": table.development_left_out,
        "external_left_out": table.external_left_out,
    }


def _remarks(table: Tables) -> str:
    """What was left out, to stand in the method."""
    remarks = ""
    if table.dropped:
        remarks += f", without {', '.join(table.dropped)} (constant)"
    out = table.development_left_out + table.external_left_out
    if out:
        rows = "row" if out == 1 else "rows"
        remarks += f", {out} {rows} with less than half of the predictors left out"
    return remarks


# ---- psi ------------------------------------------------------------------------------------------------------------


@metric(
    "Degree of correspondence",
    digits=2,
    range=(0, 1),
    tier="mission",
    cites="Cabitza 2021",
    roles=("external",),
    breaks=("rows doubled", "perfect is best", "narrower with more rows", "one class is absent"),
    differs="differs from the published loop because one is added to both counts, without which a p-value can be 0, "
    "and the draws have a seed [Cabitza 2021]",
    formula="(b + 1)/(m + 1), b of m permutations with T at least as large; T = mean over external x of Σ over "
    "development rows a of d(a, x) - d(a, neighbour of x)",
)
def degree_of_correspondence(
    development: Sequence[Feature], predictors: Sequence[Feature], permutations: int = 999, seed: int = 1
) -> Estimate | Absent:
    """The probability that a difference at least as large as the one seen arises when both groups come from one
    population.

    `development` and `predictors` are the features of the development table A and of the external table B, matched by
    name. With d the distance of this chapter, T = mean over x in B of [sum over a of d(a, x) - sum over a of
    d(a, nn(x))], nn(x) the row of A nearest to x; value = (b + 1) / (m + 1), b = permutations of the pooled rows, sizes
    kept, whose T is at least the observed one. Of rows equally near the first counts: first come the development rows,
    and among the rows of a table those with the lower values of the features, in the order of their names. Details:
    `statistic` (T), the rows and features used and left out. Above 2,000 rows a side: the median over 10 seeded
    subsamples, their range in `p_low` and `p_high`.

    Absent when no predictor is shared or varies, or too few rows hold half of them. It is a p-value: it falls with n,
    it is one-sided, and it carries no interval. Differs from the published loop, which adds no 1 and has no seed.
    """
    table = tables(development, predictors)
    if isinstance(table, Absent):
        return table
    rng = np.random.default_rng(seed)
    large = max(table.development_n, table.external_n) > LARGEST_EXACT
    chosen = _subsamples(table, LARGEST_EXACT, rng) if large else [_all(table)]
    answers = [_psi(table, rows, permutations, rng) for rows in chosen]
    p_values = np.array([p for _, p in answers])
    method = f"permutation, {permutations} draws"
    details = {**_counts(table), "statistic": float(np.median([statistic for statistic, _ in answers]))}
    if large:
        method += f", median of {SUBSAMPLES} subsamples of at most {LARGEST_EXACT:,} rows a side"
        details |= {"p_low": float(p_values.min()), "p_high": float(p_values.max())}
    return Estimate(
        value=float(np.median(p_values)),
        low=None,
        high=None,
        level=None,
        n=table.external_n,
        method=method + _remarks(table),
        details=details,
        reason="a p-value has no interval",
    )


def _all(table: Tables) -> tuple[NDArray[np.int64], int]:
    """All rows, and how many of them, at the front, are development rows."""
    return np.arange(table.development_n + table.external_n), table.development_n


def _subsamples(table: Tables, most: int, rng: np.random.Generator) -> Iterator[tuple[NDArray[np.int64], int]]:
    """Seeded draws without replacement of at most that many rows a side."""
    ours, theirs = min(table.development_n, most), min(table.external_n, most)
    for _ in range(SUBSAMPLES):
        front = np.sort(rng.choice(table.development_n, ours, replace=False))
        back = np.sort(rng.choice(table.external_n, theirs, replace=False)) + table.development_n
        yield np.concatenate([front, back]), ours


def _at_most(table: Tables, most: int, seed: int) -> tuple[Tables, str]:
    """The tables, or a subsample of so many rows a side of larger ones; and then what the method says of it."""
    if max(table.development_n, table.external_n) <= most:
        return table, ""
    rows, ours = next(_subsamples(table, most, np.random.default_rng(seed)))
    return _part(table, rows, ours), f", subsample of at most {most:,} rows a side"


def _psi(
    table: Tables, chosen: tuple[NDArray[np.int64], int], permutations: int, rng: np.random.Generator
) -> tuple[float, float]:
    """T and its p-value on the chosen rows."""
    rows, development_n = chosen
    distance = distances(table, rows, rows)
    nearest = _nearest_others(distance)
    members = np.zeros(len(rows), dtype=bool)
    members[:development_n] = True
    observed = _excess(distance, nearest, members, distance[:, members].sum(axis=1))
    at_least = 0
    for first in range(0, permutations, BLOCK):
        draws = np.zeros((len(rows), min(BLOCK, permutations - first)))
        for draw in draws.T:
            draw[rng.permutation(len(rows))[:development_n]] = 1.0
        sums = np.ascontiguousarray((distance @ draws).T)
        belongs = np.ascontiguousarray(draws.T.astype(bool))
        at_least += sum(
            _excess(distance, nearest, member, total) >= observed for member, total in zip(belongs, sums, strict=True)
        )
    return observed, (at_least + 1) / (permutations + 1)


def _nearest_others(distance: Floats) -> NDArray[np.int64]:
    """For each row the rows nearest to it, nearest first, itself excepted; of rows equally near the first."""
    width = min(NEAREST, len(distance) - 1)
    last = width - 1
    found = np.empty((len(distance), width), dtype=np.int64)
    for rows in _blocks(0, len(distance)):
        others = distance[rows]
        others[np.arange(len(rows)), rows] = np.inf
        farthest = np.partition(others, last, axis=1)[:, [last]]
        nearer, tied = others < farthest, others == farthest
        # Counted, because which of the rows that tie a partition takes depends on the processor.
        listed = nearer | (tied & (nearer.sum(axis=1, keepdims=True) + tied.cumsum(axis=1) <= width))
        near = np.nonzero(listed)[1].reshape(len(rows), width)
        order = np.argsort(np.take_along_axis(others, near, axis=1), axis=1, kind="stable")
        found[rows] = np.take_along_axis(near, order, axis=1)
    return found


def _excess(distance: Floats, nearest: NDArray[np.int64], members: NDArray[np.bool_], sums: Floats) -> float:
    """T: how much farther the rows outside `members` lie from all members than their nearest members do."""
    outside = np.flatnonzero(~members)
    neighbour = _neighbours(distance, nearest, members, outside)
    return float((sums[outside] - sums[neighbour]).mean())


def _neighbours(
    distance: Floats, nearest: NDArray[np.int64], members: NDArray[np.bool_], outside: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The member nearest to each row outside: looked up in the sorted lists, searched for only if the list has none."""
    neighbour = np.empty(len(outside), dtype=np.int64)
    open_rows = np.arange(len(outside))
    for candidates in (nearest[:, :NEAREST_FIRST], nearest[:, NEAREST_FIRST:]):
        if not candidates.shape[1]:
            break
        listed = candidates[outside[open_rows]]
        hit = members[listed]
        first = hit.argmax(axis=1)
        here = np.arange(len(open_rows))
        known = hit[here, first]
        neighbour[open_rows[known]] = listed[here, first][known]
        open_rows = open_rows[~known]
    for row in open_rows:
        neighbour[row] = np.where(members, distance[outside[row]], np.inf).argmin()
    return neighbour


# ---- the averaged form ----------------------------------------------------------------------------------------------


@metric(
    "Correspondence, averaged",
    digits=2,
    range=(0, 1),
    tier="supporting",
    cites="Cabitza 2021",
    roles=("external",),
    breaks=("rows doubled", "perfect is best", "one class is absent"),
    formula="mean over external x of (1 + number of development j with T(j) ≥ T(x)) / (development rows + 1); T(x) = Σ "
    "over a of d(a, x) - d(a, neighbour of x)",
)
def correspondence_averaged(
    development: Sequence[Feature],
    predictors: Sequence[Feature],
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """How usual the patients of this hospital are among those of the development: about one half when they are
    exchangeable.

    `development` and `predictors` are the features of the development table A and of the external table B. Mean over x
    in B of p(x) = (1 + #{j in A: T_j >= T_x}) / (n_A + 1), T_x = sum over a in A of d(a, x) - sum over a in A of d(a,
    nn(x)), and T_j the same for j within (A and x) without j. Of rows equally near the first counts, as in
    `degree_of_correspondence`. No resampling enters the value and it does not fall with the size of B. The interval is
    the percentile bootstrap over the external rows, the development rows and the scale of the distance held fixed.
    Above 10,000 rows a side all of it is of a seeded subsample, whose rows are n. Absent when no predictor is shared or
    varies, or too few rows hold half of them. Our alternative to the published p-value, which falls with n.
    """
    table = tables(development, predictors)
    if isinstance(table, Absent):
        return table
    table, subsample = _at_most(table, LARGEST_PAIRED, seed)
    share = _shares_at_least_as_far(table)
    value, told = float(share.mean()), subsample + _remarks(table)
    low, high, reason = None, None, "one external row gives no interval"
    if len(share) > 1:
        share.sort()
        low, high = percentile_interval(_drawn_means(share, bootstrap, seed), level, value)
        reason = ""
    return Estimate(
        value=value,
        low=low,
        high=high,
        level=None if reason else level,
        n=table.external_n,
        method=f"bootstrap over external rows, percentile{told}",
        details=_counts(table),
        reason=reason or None,
        of_value=told.removeprefix(", "),
    )


def _drawn_means(values: Floats, draws: int, seed: int) -> Floats:
    """The means of so many resamples, some at a time: together they may not fit in memory."""
    rng, n = np.random.default_rng(seed), len(values)
    sizes = [min(DRAWS_AT_ONCE, draws - first) for first in range(0, draws, DRAWS_AT_ONCE)]
    return np.concatenate([values[rng.integers(n, size=(size, n))].mean(axis=1) for size in sizes])


def percentile_interval(replicates: Floats, level: float, value: float) -> tuple[float, float]:
    """The central share of the replicates, never excluding the value itself by a rounding error."""
    low, high = central(replicates, level)
    return min(low, value), max(high, value)


def _shares_at_least_as_far(table: Tables) -> Floats:
    """p(x) of each external row."""
    development = np.arange(table.development_n)
    sums, nearest, gap = (
        np.empty(len(development)),
        np.empty(len(development), dtype=np.int64),
        np.empty(len(development)),
    )
    for rows in _blocks(0, len(development)):
        distance = distances(table, rows, development)
        sums[rows] = distance.sum(axis=1)
        distance[np.arange(len(rows)), rows] = np.inf
        nearest[rows] = distance.argmin(axis=1)
        gap[rows] = distance[np.arange(len(rows)), nearest[rows]]
    shares = []
    for rows in _blocks(len(development), len(development) + table.external_n):
        distance = distances(table, rows, development)
        to_all = distance.sum(axis=1)
        own = to_all - sums[distance.argmin(axis=1)]
        with_it = sums[None, :] + distance
        of_neighbour = sums[nearest][None, :] + distance[:, nearest] - gap[None, :]
        of_it = to_all[:, None] - distance
        others = with_it - np.where(distance < gap[None, :], of_it, of_neighbour)
        shares.append((1 + (others >= own[:, None]).sum(axis=1)) / (len(development) + 1))
    return np.concatenate(shares)


BINS = 10
"""Tenths of the scale of p, in which the rows of a site are counted."""


@curve("Conformal p values", roles=("external",), cites="Cabitza 2021")
def conformal_p_values(development: Sequence[Feature], predictors: Sequence[Feature], seed: int = 1) -> Curve | Absent:
    """How the patients of this hospital spread over the scale from unusual to usual among those of the development.

    `development` and `predictors` are the features of the development table A and of the external table B. For each row
    x of B, p(x) is the share of the rows of A and x that lie at least as far from all others as x does (the p(x) of
    `correspondence_averaged`). Columns, one row a tenth of the scale: `low` (excluded), `high` (included), `share` of
    the rows of B in it, 0 to 1. Rows of the development table would give a tenth each; more on the left: rows that are
    unusual there. Above 2,000 rows a side a seeded subsample of that size. Absent where the averaged correspondence is.
    """
    table = tables(development, predictors)
    if isinstance(table, Absent):
        return table
    table, subsample = _at_most(table, LARGEST_EXACT, seed)
    method = f"share of development rows at least as far from the others{subsample}"
    share = _shares_at_least_as_far(table)
    edges = np.arange(BINS + 1) / BINS
    # Right-closed: n + 1 equally likely values then fall in equal numbers into the tenths.
    places = np.ceil(np.round(share * BINS, 9)).astype(int) - 1
    counts = np.bincount(places, minlength=BINS)
    columns = {"low": edges[:-1], "high": edges[1:], "share": counts / len(share)}
    return Curve({name: tuple(map(float, column)) for name, column in columns.items()}, len(share), method)


def _part(table: Tables, rows: NDArray[np.int64], development_n: int) -> Tables:
    """Some rows of both tables, of which so many at the front are development rows."""
    return replace(
        table,
        complete=table.complete[rows],
        partial=tuple((values[rows], category) for values, category in table.partial),
        present=None if table.present is None else table.present[rows],
        development_n=development_n,
        external_n=len(rows) - development_n,
    )


# ---- energy ---------------------------------------------------------------------------------------------------------


@metric(
    "Energy coefficient",
    digits=3,
    range=(0, 1),
    best="zero",
    tier="supporting",
    cites="Szekely 2013",
    roles=("external",),
    # Its interval rests on the development rows as well, which do not become more.
    breaks=("rows doubled", "perfect is best", "narrower with more rows", "one class is absent"),
    formula="(2 E|X - Y| - E|X - X'| - E|Y - Y'|) / (2 E|X - Y|)",
)
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
    bootstrap over the rows of both tables; the average distance within a resample is multiplied by n / (n - 1), because
    a resample holds a row more than once and would otherwise look tighter than its table. Above 10,000 rows a side all
    of it is of a seeded subsample, whose rows are n. Absent when no predictor is shared or varies, or too few
    rows hold half of them.
    """
    table = tables(development, predictors)
    if isinstance(table, Absent):
        return table
    table, subsample = _at_most(table, LARGEST_PAIRED, seed)
    rng = np.random.default_rng(seed)
    ours, theirs = table.development_n, table.external_n
    draws = np.zeros((ours + theirs, permutations))
    for draw in draws.T:
        draw[rng.permutation(ours + theirs)[:ours]] = 1.0
    resampled = bootstrap if theirs > 1 else 0
    weights = (_weights(rng, ours, resampled), _weights(rng, theirs, resampled))
    sums = _pair_sums(table, draws, weights)
    observed = _coefficient(sums.within_ours, sums.within_theirs, sums.between, ours, theirs)
    p_value = _permutation_p(sums, ours, theirs, float(observed))
    told = subsample + _remarks(table)
    low, high, reason = None, None, "one external row gives no interval"
    if resampled:
        replicates = _coefficient(
            sums.drawn_ours * ours / (ours - 1),
            sums.drawn_theirs * theirs / (theirs - 1),
            sums.drawn_between,
            ours,
            theirs,
        )
        low, high = percentile_interval(replicates, level, float(observed))
        reason = ""
    return Estimate(
        value=float(observed),
        low=low,
        high=high,
        level=None if reason else level,
        n=theirs,
        method=f"bootstrap over the rows of both tables, percentile; p by {permutations} permutations{told}",
        details={**_counts(table), "p_value": p_value},
        reason=reason or None,
        of_value=told.removeprefix(", "),
    )


@dataclass(frozen=True)
class PairSums:
    """Sums of distances over pairs of rows: as observed, and in every permutation and resample."""

    within_ours: Floats
    within_theirs: Floats
    between: Floats
    permuted_within: Floats
    permuted_from: Floats
    drawn_ours: Floats
    drawn_theirs: Floats
    drawn_between: Floats


def _weights(rng: np.random.Generator, n: int, draws: int) -> Floats:
    """How often each row is drawn in each resample: rows x draws."""
    return rng.multinomial(n, np.full(n, 1 / n), size=draws).T.astype(float)


def _pair_sums(table: Tables, draws: Floats, weights: tuple[Floats, Floats]) -> PairSums:
    """All sums in one pass over the distances, block by block."""
    ours, total = table.development_n, table.development_n + table.external_n
    everything = np.arange(total)
    of_ours, of_theirs = weights
    within_ours = within_theirs = between = 0.0
    permuted_within, permuted_from = np.zeros(draws.shape[1]), np.zeros(draws.shape[1])
    drawn_ours, drawn_theirs, drawn_between = (np.zeros(of_ours.shape[1]) for _ in range(3))
    for rows in (*_blocks(0, ours), *_blocks(ours, total)):
        distance = distances(table, rows, everything)
        to_ours, to_theirs = distance[:, :ours], distance[:, ours:]
        permuted_within += _columns_dotted(draws[rows], distance @ draws)
        permuted_from += (draws[rows] * distance.sum(axis=1)[:, None]).sum(axis=0)
        if rows[0] < ours:
            within_ours += to_ours.sum()
            between += to_theirs.sum()
            drawn_ours += _columns_dotted(of_ours[rows], to_ours @ of_ours)
            drawn_between += _columns_dotted(of_ours[rows], to_theirs @ of_theirs)
        else:
            within_theirs += to_theirs.sum()
            drawn_theirs += _columns_dotted(of_theirs[rows - ours], to_theirs @ of_theirs)
    return PairSums(
        within_ours=np.asarray(within_ours),
        within_theirs=np.asarray(within_theirs),
        between=np.asarray(between),
        permuted_within=permuted_within,
        permuted_from=permuted_from,
        drawn_ours=drawn_ours,
        drawn_theirs=drawn_theirs,
        drawn_between=drawn_between,
    )


def _columns_dotted(left: Floats, right: Floats) -> Floats:
    dotted: Floats = (left * right).sum(axis=0)
    return dotted


def _coefficient(within_ours: Floats, within_theirs: Floats, between: Floats, ours: int, theirs: int) -> Floats:
    """The coefficient from sums over pairs; 0 where nothing lies apart."""
    across = 2 * between / (ours * theirs)
    inside = within_ours / ours**2 + within_theirs / theirs**2
    apart = np.where(across > 0, across, 1.0)
    return np.maximum((across - inside) / apart, 0.0)


def _permutation_p(sums: PairSums, ours: int, theirs: int, observed: float) -> float:
    """The share of permutations, the observed order among them, with at least the observed coefficient."""
    total = float(sums.within_ours + sums.within_theirs + 2 * sums.between)
    between = sums.permuted_from - sums.permuted_within
    coefficients = _coefficient(sums.permuted_within, total - sums.permuted_within - 2 * between, between, ours, theirs)
    # A permutation that equals the observed order must count as equal although its sums were added in another order.
    return float((1 + (coefficients >= observed - 1e-12).sum()) / (1 + len(coefficients)))


# ---- membership -----------------------------------------------------------------------------------------------------

FOLDS = 10
CROSS_VALIDATED = f"logistic regression, {FOLDS}-fold cross-validated"
NEVER_SINGULAR = 1e-9
"""Added to the information: it damps a step where every prediction is certain, and does not move the solution."""


@dataclass(frozen=True)
class Membership:
    """The design that tells the tables apart: standardized columns, what each is, and which rows are external."""

    columns: Floats
    names: tuple[tuple[str, str | None], ...]
    """Predictor and level of each column: None for a number, "missing" for the lack of a value."""
    external: Floats


def membership_design(development: Sequence[Feature], predictors: Sequence[Feature]) -> Membership | Absent:
    """Both tables as columns of mean 0 and standard deviation 1, features by name, rows in an order of their own.

    A number that is missing is replaced by the median over both tables and marked by a column of its own; a category
    makes one column a level but the most common, its lack another. Columns that do not vary are left out.
    """
    shared = _shared(development, predictors)
    if not shared:
        return Absent("the external table shares no predictor with the development table")
    boundary, total = len(shared[0][0].values), len(shared[0][0].values) + len(shared[0][1].values)
    if min(boundary, total - boundary) < FOLDS:
        return Absent(f"one of the tables has fewer than {FOLDS} rows, too few for {FOLDS} parts")
    made = [column for ours, other in shared for column in _membership_columns(ours, other)]
    kept = [(name, values) for name, values in made if float(np.ptp(values)) > 0]
    if not kept:
        return Absent("no shared predictor varies")
    columns = np.column_stack([values for _, values in kept])
    columns = np.vstack([_canonical(columns[:boundary]), _canonical(columns[boundary:])])
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    external = (np.arange(total) >= boundary).astype(float)
    return Membership(columns, tuple(name for name, _ in kept), external)


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
        mean = expit(design @ found)
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


def out_of_fold(design: Membership, seed: int) -> Floats:
    """The log odds of being external of each row, from a model that did not see it.

    Each table is dealt at random into ten parts of nearly equal size; each part is predicted by a fit to the others.
    """
    rng = np.random.default_rng(seed)
    fold = np.empty(len(design.external), dtype=np.int64)
    for label in (0.0, 1.0):
        member = np.flatnonzero(design.external == label)
        fold[member] = rng.permutation(np.arange(len(member)) % FOLDS)
    linear = np.empty(len(fold))
    for part in range(FOLDS):
        held = fold == part
        found = ridge_logistic(design.columns[~held], design.external[~held])
        linear[held] = found[0] + design.columns[held] @ found[1:]
    return linear


@metric(
    "Membership AUROC",
    digits=2,
    range=(0, 1),
    best="half",
    tier="supporting",
    cites=("Debray 2015", "DeLong 1988"),
    roles=("external",),
    scale="logit",
    # The development rows do not become more, and rows that appear twice are known from their twins.
    breaks=("rows doubled", "perfect is best", "narrower with more rows", "one class is absent"),
    formula="AUROC of a logistic model of external against development, predicted in ten folds",
)
def membership_auroc(
    development: Sequence[Feature], predictors: Sequence[Feature], level: float = 0.95, seed: int = 1
) -> Estimate | Absent:
    """How well a model can tell the patients of this hospital from those of the development.

    .5 when they cannot be told apart, 1 when they never overlap.

    `development` and `predictors` are the features of the development table and of the external table, matched by name.
    The AUROC of the log odds of a logistic regression of the table on the predictors, each row predicted by a fit to
    the nine tenths of both tables that do not hold it; the tenths are dealt by `seed`. Missing numbers take the median
    over both tables and a column says that they were missing; a category has a column a level but the most common, and
    one for its lack. Columns are standardized; a ridge of .01 lets separated tables have a fit. DeLong's interval at
    `level`, on the logit scale, as if the rows' predictions were independent. n is the number of external rows. Absent
    when no predictor is shared or varies, and with fewer than ten rows in a table. A difference in what is missing
    counts as a difference. Which predictors drive it stands in the description. Source: Debray 2015.
    """
    design = membership_design(development, predictors)
    if isinstance(design, Absent):
        return design
    # Rounded, so that rows that are alike tie whatever the last digit of a sum.
    found = auroc(design.external, np.round(out_of_fold(design, seed), 9), level)
    if isinstance(found, Absent):
        return found
    external = int(design.external.sum())
    return replace(
        found,
        n=external,
        events=None,
        method=f"{found.method}; {CROSS_VALIDATED}",
        of_value=CROSS_VALIDATED,
        details={"development_n": len(design.external) - external},
    )


@describe("What tells the tables apart", roles=("external",))
def membership_drivers(development: Sequence[Feature], predictors: Sequence[Feature]) -> tuple[Description, ...]:
    """Which predictors a model uses to tell the patients of this hospital from those of the development.

    The coefficients of the model of `membership_auroc` fitted to all rows, as `membership_log_odds` per standard
    deviation of the column: above 0 higher values, or the level, speak for the external table; the level "missing" is
    the lack of a value. Nothing where that model cannot be made.
    """
    design = membership_design(development, predictors)
    if isinstance(design, Absent):
        return ()
    external = int(design.external.sum())
    found = ridge_logistic(design.columns, design.external)[1:]
    return tuple(
        Description(feature, "membership_log_odds", float(coefficient), external, level)
        for (feature, level), coefficient in zip(design.names, found, strict=True)
    )


# ---- feature by feature ---------------------------------------------------------------------------------------------


@describe("Shift of each predictor", roles=("external",))
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
    points = np.concatenate([development, external])
    ours = np.searchsorted(np.sort(development), points, side="right") / len(development)
    theirs = np.searchsorted(np.sort(external), points, side="right") / len(external)
    return float(np.abs(ours - theirs).max())
