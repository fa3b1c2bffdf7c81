"""Rows that have more or fewer cells than the first one: a fault each, or one where the first row is the culprit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dossier.errors import Fault
from dossier.reading.faults import by_row, counted

NAMES_FIRST = "Let the first row hold the names of the columns: take away what stands above them."


DECIMAL_COMMA = (
    "If these commas are decimal, put each such number in quotation marks, or separate the columns by another sign, "
    "such as a semicolon."
)
WITHIN_A_NUMBER = re.compile(r"(?:^|,)[+-]?\d+,\d+(?=,|\s*$)")
POINT = re.compile(r"\d\.\d|(?:^|,)\.\d")


@dataclass(frozen=True)
class Row:
    """A row whose cells are not as many as those of the first: its number, what it says, and what separates it."""

    number: int
    cells: int
    text: str
    separator: str

    @property
    def ends_with_separator(self) -> bool:
        """Whether a separator ends the row."""
        return self.text.rstrip("\n").endswith(self.separator)

    @property
    def splits_a_number(self) -> bool:
        """Whether the separator may be a decimal comma too: between digits, in a row without a decimal point."""
        return self.separator == "," and bool(WITHIN_A_NUMBER.search(self.text)) and not POINT.search(self.text)


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
    if all(row.splits_a_number for row in rows):
        fix = DECIMAL_COMMA
    numbers = [row.number for row in rows]
    return by_row(file, None, numbers, lambda k: f"The row has {counted(rows[k].cells, 'cell')}, not {width}.", fix)


def _mend(rows: Sequence[Row], width: int) -> str:
    if all(row.splits_a_number for row in rows):
        return DECIMAL_COMMA
    if width == 1 or rows[0].cells != width + 1:
        return NAMES_FIRST
    if all(row.ends_with_separator for row in rows):
        return "Take the separator at the end of these rows away."
    return "Name every column in the first row; R leaves out the names of rows with row.names = FALSE."
