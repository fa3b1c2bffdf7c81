"""Which rows of a table of very many are read in every column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LARGE = 5_000_000
"""A table of more rows is read in all of them only where a measure needs every row.

Fixed, and not asked of the machine: the same input must give the same bytes on a large one and on a small one. Five
million rows of a hundred columns of numbers are 4 GB.
"""
DRAWN = 1_000_000
"""So many rows tell a share to a tenth of a per cent."""


def drawn(sites: Sequence[tuple[str, Sequence[NDArray[np.int64]]]], seed: int) -> NDArray[np.int64]:
    """The rows that are read in every column, in ascending order.

    `sites` are the names and the rows of each site, as one array or as one an imputation. Each site gives as many rows
    as any other, or all that it has; a site the same places of each imputation, for these are the same patients.
    """
    most = _share([len(rows) for _, each in sites for rows in each], DRAWN)
    taken = [
        rows[_places(len(rows), most, name, seed)] if len(rows) > most else rows
        for name, each in sites
        for rows in each
    ]
    return np.sort(np.concatenate(taken))


def _share(sizes: Sequence[int], total: int) -> int:
    """The most that each may give, so that together they give `total` at most: who has less gives all."""
    left = total
    for k, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - k)
        if size > share:
            return max(share, 1)
        left -= size
    return max(sizes)


def _places(count: int, most: int, name: str, seed: int) -> NDArray[np.int64]:
    generator = np.random.default_rng((seed, *name.encode()))
    return np.sort(generator.choice(count, most, replace=False, shuffle=False))
