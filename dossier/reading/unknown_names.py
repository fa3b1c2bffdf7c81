"""The names of sites and clusters that may stand for missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dossier.core.faults.wording import number
from dossier.reading.columns import Bools, Column
from dossier.reading.unknown import CODES, WORDS


@dataclass(frozen=True)
class Unknown:
    """A name that may stand for missing: its column, what it is counted as, and the rows that have it."""

    column: str
    name: str
    counted_as: str
    rows: Bools


def of(column: Column, ours: str, counted_as: str) -> Iterator[Unknown]:
    """The names of a column that may stand for missing; a positive number or 0 may be the number of a place."""
    import pyarrow
    import pyarrow.compute as compute

    for code in CODES:
        rows = column.numbers == code
        if code < 0 and rows.any():
            yield Unknown(ours, number(code), counted_as, rows)
    if pyarrow.types.is_string(column.cells.type):
        plain = compute.utf8_lower(compute.utf8_trim_whitespace(column.cells))
        alike = column.cells.filter(compute.is_in(plain, pyarrow.array(sorted(WORDS))))
        for word in compute.unique(alike).to_pylist():
            same = compute.equal(column.cells, word).fill_null(False)
            rows = ~column.missing & np.asarray(same.to_numpy(zero_copy_only=False), dtype=bool)
            if rows.any():
                yield Unknown(ours, f'"{word}"', counted_as, rows)
