"""Rows that have more or fewer cells than the first one: a fault each, or one where the first row is the culprit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dossier.errors import Fault
from dossier.load.faults import by_row, counted

NAMES_FIRST = "Let the first row hold the names of the columns: take away what stands above them."


@dataclass(frozen=True)
class Row:
    """A row whose cells are not as many as those of the first: its number, and whether a separator ends it."""

    number: int
    cells: int
    ends_with_separator: bool


def faults(rows: Sequence[Row], fitting: int, width: int, file: str) -> list[Fault]:
    """The faults of these rows, where `fitting` rows below the first have its `width` cells."""
    cells, often = Counter(row.cells for row in rows).most_common(1)[0]
    if often > 1 and 2 * often > fitting + len(rows):
        alike = [row for row in rows if row.cells == cells]
        what = (
            f"The first row has {counted(width, 'cell')}, and {often} rows from row {alike[0].number} on have {cells}."
        )
        return [Fault(what, f"{file}, first row", _mend(alike, width))]
    fix = f"Give every row {width} cells; put a text that holds the separator in quotation marks."
    numbers = [row.number for row in rows]
    return by_row(file, None, numbers, lambda k: f"The row has {counted(rows[k].cells, 'cell')}, not {width}.", fix)


def _mend(rows: Sequence[Row], width: int) -> str:
    if width == 1 or rows[0].cells != width + 1:
        return NAMES_FIRST
    if all(row.ends_with_separator for row in rows):
        return "Take the separator at the end of these rows away."
    return "Name every column in the first row; R leaves out the names of rows with row.names = FALSE."
