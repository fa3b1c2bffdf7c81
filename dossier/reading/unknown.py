"""The words and numbers that are written where something is unknown, and the names of sites and clusters among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dossier.core.faults.wording import number

if TYPE_CHECKING:
    from dossier.reading.columns import Bools, Column

NINES = (-9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0, 99999.0)
CODES = (0.0, -1.0, 888.0, *NINES)
"""The numbers that are written where a value is unknown."""
WORDS = frozenset(("na", "n/a", "#n/a", "nan", "null", "nil", "missing", "?", "-", "--", "."))
"""The words that are written where a value is unknown; a table of categories may mean them."""
SIGNS_OF_NO = frozenset(("-", "--"))
"""Of these words those that, beside a sign for yes, may say that something did not happen."""


def is_unknown_outcome(text: str) -> bool:
    """Whether a text that stands where an outcome does says that it is unknown; a 9 beside a 1 or 2 does."""
    plain = text.strip().casefold()
    return plain in (WORDS - SIGNS_OF_NO) | {"unknown", "9"} | {number(code) for code in NINES}


def is_word(text: str) -> bool:
    """Whether a text is a word for missing."""
    return text.strip().casefold() in WORDS


@dataclass(frozen=True)
class Unknown:
    """A name that may stand for missing: its column, what it is counted as, and the rows that have it."""

    column: str
    name: str
    counted_as: str
    rows: Bools


def names(column: Column, ours: str, counted_as: str) -> Iterator[Unknown]:
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
