"""Rows that have more or fewer cells than the first one: a fault each, or one where the first row is the culprit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dossier.core.errors import Fault
from dossier.core.facts import Count, Fact
from dossier.core.faults.locations import Header
from dossier.reading.faults import by_row

NAMES_FIRST = Fact("names_first")
DECIMAL_COMMA = Fact("commas_between_columns")
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
        return [
            Fault(
                "first_row_of_other_width",
                Header(file),
                width=Count(width, "cell"),
                rows=often,
                first=alike[0].number,
                cells=cells,
                mend=_mend(alike, width),
            )
        ]
    mend = DECIMAL_COMMA if all(row.splits_a_number for row in rows) else Fact("cells_in_every_row", width=width)
    numbers = [row.number for row in rows]
    return by_row(
        "row_of_other_width",
        file,
        None,
        numbers,
        lambda k: {"number": Count(rows[k].cells, "cell")},
        width=width,
        mend=mend,
    )


def _mend(rows: Sequence[Row], width: int) -> Fact:
    if all(row.splits_a_number for row in rows):
        return DECIMAL_COMMA
    if width == 1 or rows[0].cells != width + 1:
        return NAMES_FIRST
    if all(row.ends_with_separator for row in rows):
        return Fact("separator_at_end")
    return Fact("row_names")
