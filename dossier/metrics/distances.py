"""How far two patients lie from each other by their predictors, and which rows of two tables are compared.

Distances are rounded to a fine binary grid, so that their sums are exact: ties stay ties, and no result depends on the
order in which a processor adds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from dossier.core.facts import Fact
from dossier.core.types import Absent, Feature, Floats
from dossier.metrics.once import remembered

Integers = NDArray[np.int64]

LARGEST_PAIRED = 5000
"""So many rows a side are compared with each other at most: the pairs grow as the square of the rows."""
TILE = 32
"""Rows whose distances are computed at a time: with 5,000 columns they stay in the cache of a processor."""
GRID = 2.0**30
"""Distances are multiples of 1/GRID (1e-9): a sum of 2^16 of them is then exact in double precision."""
MIXING = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose bits look random: multiplied by it, equal values stay equal and others fall apart."""


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
    development_of: int
    """The development rows that these were drawn from; as many as `development_n` where all are compared."""
    external_of: int

    @property
    def is_drawn(self) -> bool:
        """Whether rows of either table were left to chance."""
        return (self.development_n, self.external_n) != (self.development_of, self.external_of)


@remembered(2)
def tables(
    development: Sequence[Feature], predictors: Sequence[Feature], most: int = LARGEST_PAIRED, seed: int = 1
) -> Tables | Absent:
    """Two tables made comparable feature by feature.

    Numbers are divided by their standard deviation (ddof 1) over both tables together, and a feature that does not vary
    is dropped and named; categories count 1 where they differ, which is one-hot divided by the root of 2. Rows with
    less than half of the features are left out and counted. Nothing is imputed. Of a table with more than `most` rows
    so many are drawn by `seed`, without replacement; the scale is that of all rows. The features come in the order of
    their names and the rows in the order of what they hold, so that neither order in the files can matter.
    """
    shared = shared_features(development, predictors)
    if not shared:
        return Absent(Fact("no_shared_predictor"))
    scaled = [(ours.name, _scaled(ours, other), ours.levels is not None) for ours, other in shared]
    dropped = tuple(name for name, values, _ in scaled if values is None)
    columns = [(values, category) for _, values, category in scaled if values is not None]
    if not columns:
        return Absent(Fact("no_shared_predictor_varies"))
    values = np.column_stack([column for column, _ in columns])
    boundary = len(shared[0][0].values)
    half = ~(np.isnan(values).sum(axis=1) * 2 > values.shape[1])
    sides = (values[:boundary][half[:boundary]], values[boundary:][half[boundary:]])
    if len(sides[0]) < 2:
        return Absent(Fact("fewer_than_two_development_rows"))
    if len(sides[1]) < 1:
        return Absent(Fact("no_external_row_with_half_of_predictors"))
    rng = np.random.default_rng(seed)
    ours_kept, theirs_kept = (canonical(drawn(side, most, rng)) for side in sides)
    kept = np.vstack([ours_kept, theirs_kept])
    missing = np.isnan(kept)
    if missing.any() and _some_pair_shares_nothing(~missing):
        return Absent(Fact("distance_unknown"))
    whole = np.logical_not(missing.any(axis=0))
    categories = np.array([category for _, category in columns])
    return Tables(
        complete=_encoded(kept, whole, categories),
        partial=tuple((kept[:, index], bool(categories[index])) for index in np.flatnonzero(~whole)),
        present=(~missing).astype(float) if missing.any() else None,
        features=kept.shape[1],
        development_n=len(ours_kept),
        external_n=len(theirs_kept),
        development_left_out=boundary - len(sides[0]),
        external_left_out=len(values) - boundary - len(sides[1]),
        dropped=dropped,
        development_of=len(sides[0]),
        external_of=len(sides[1]),
    )


def shared_features(development: Sequence[Feature], predictors: Sequence[Feature]) -> list[tuple[Feature, Feature]]:
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


def canonical(values: Floats) -> Floats:
    """The rows sorted by what they hold, so that their order in the file cannot matter."""
    return values[np.lexsort(values.T[::-1])]


def drawn(values: Floats, most: int, rng: np.random.Generator) -> Floats:
    """At most so many of the rows, drawn without replacement; which ones does not depend on the order of the rows."""
    if len(values) <= most:
        return values
    # A number a row that only its values decide: sorting by it costs a tenth of sorting by every column.
    codes = np.zeros(len(values), dtype=np.uint64)
    for column in values.T:
        # Adding 0 makes one of -0 and 0, which are equal; what is missing has one pattern of bits as well.
        bits = np.where(np.isnan(column), np.nan, column + 0.0).view(np.uint64)
        codes = (codes ^ bits) * MIXING
        codes ^= codes >> np.uint64(29)
    order = np.argsort(codes, kind="stable")
    return values[order[rng.choice(len(values), most, replace=False)]]


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


def subsample(table: Tables, most: int, seed: int) -> Tables:
    """The tables, or so many rows of each side that has more, drawn without replacement by the seed."""
    ours, theirs = min(table.development_n, most), min(table.external_n, most)
    if (ours, theirs) == (table.development_n, table.external_n):
        return table
    rng = np.random.default_rng(seed)
    front = np.sort(rng.choice(table.development_n, ours, replace=False))
    back = np.sort(rng.choice(table.external_n, theirs, replace=False)) + table.development_n
    rows = np.concatenate([front, back])
    return replace(
        table,
        complete=table.complete[rows],
        partial=tuple((values[rows], category) for values, category in table.partial),
        present=None if table.present is None else table.present[rows],
        development_n=ours,
        external_n=theirs,
    )


def distances(table: Tables, rows: Integers, columns: Integers) -> Floats:
    """The distance of each of `rows` to each of `columns`: Euclidean over the features both have, scaled up for the
    rest.
    """
    found = np.empty((len(rows), len(columns)))
    right = _chosen(table, columns)
    for first in range(0, len(rows), TILE):
        _tile(table, rows[first : first + TILE], right, found[first : first + TILE])
    return found


def tiles(table: Tables, rows: Integers, columns: Integers) -> Iterator[tuple[Integers, Floats]]:
    """The distances of a few of `rows` at a time to all of `columns`, which may be changed and do not last."""
    right, tile = _chosen(table, columns), np.empty((TILE, len(columns)))
    for first in range(0, len(rows), TILE):
        some = rows[first : first + TILE]
        _tile(table, some, right, tile[: len(some)])
        yield some, tile[: len(some)]


@dataclass(frozen=True)
class Columns:
    """The rows of a table to which others are compared."""

    complete: Floats
    partial: tuple[Floats, ...]
    present: Floats | None


def _chosen(table: Tables, rows: Integers) -> Columns:
    partial = tuple(values[rows] for values, _ in table.partial)
    return Columns(table.complete[rows], partial, None if table.present is None else table.present[rows].T)


def _tile(table: Tables, rows: Integers, right: Columns, squared: Floats) -> None:
    """The distances of a few rows, written where they belong."""
    if table.complete.shape[1]:
        scipy.spatial.distance.cdist(table.complete[rows], right.complete, "sqeuclidean", out=squared)
    else:
        squared[:] = 0.0
    gap = np.empty_like(squared) if table.partial else squared
    for (values, category), others in zip(table.partial, right.partial, strict=True):
        left = values[rows]
        if category:
            np.not_equal(left[:, None], others[None, :], out=gap, casting="unsafe")
        else:
            np.subtract(left[:, None], others[None, :], out=gap)
            np.multiply(gap, gap, out=gap)
        gap[np.isnan(left)] = 0.0
        gap[:, np.isnan(others)] = 0.0
        squared += gap
    if table.present is not None and right.present is not None:
        squared *= table.features / (table.present[rows] @ right.present)
    np.sqrt(squared, out=squared)
    squared *= GRID
    np.rint(squared, out=squared)
    squared /= GRID
