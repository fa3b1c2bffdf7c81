"""Rows that do not end where they should: with more or fewer cells than the first, or lost between quotation marks.

A row of another width is a fault, or the first row where that is the culprit. Up to a quotation mark that was not meant
to open a cell rows would be lost in silence.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dossier.core.errors import DataError, Fault
from dossier.core.facts import Count, Fact
from dossier.core.faults.locations import Cell, Header
from dossier.reading.faults import by_row

NAMES_FIRST = Fact("names_first")
DECIMAL_COMMA = Fact("commas_between_columns")
WITHIN_A_NUMBER = re.compile(r"(?:^|,)[+-]?\d+,\d+(?=,|\s*$)")
POINT = re.compile(r"\d\.\d|(?:^|,)\.\d")


@dataclass(frozen=True)
class Uneven:
    """A row whose cells are not as many as those of the first: its number, what it says, and what separates it."""

    number: int
    cells: int
    text: str
    separator: str

    @property
    def splits_a_number(self) -> bool:
        """Whether the separator may be a decimal comma too: between digits, in a row without a decimal point."""
        return self.separator == "," and bool(WITHIN_A_NUMBER.search(self.text)) and not POINT.search(self.text)


def faults(rows: Sequence[Uneven], fitting: int, width: int, file: str) -> list[Fault]:
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


def _mend(rows: Sequence[Uneven], width: int) -> Fact:
    if all(row.splits_a_number for row in rows):
        return DECIMAL_COMMA
    if width == 1 or rows[0].cells != width + 1:
        return NAMES_FIRST
    if all(row.text.rstrip("\n").endswith(row.separator) for row in rows):
        return Fact("separator_at_end")
    return Fact("row_names")


LINE = re.compile(r".*\n|.+")
CLOSED_BEFORE_BLANKS = re.compile(r'" +(?=[^\w"\\])')
"""Blanks between the end of a cell and the separator are idle; the strict reader would refuse them."""


def by_lines(text: str) -> Iterator[str]:
    """The lines of a text with their ends, one after the other: a copy of all of them would be as large again."""
    return (found[0] for found in LINE.finditer(text))


def refuse_lost_between_quotation_marks(text: str, delimiter: str, file: str, above: int) -> None:
    """Refuse a text with a cell that goes on where it should end; `above` lines were taken off the text.

    Only a text that holds a quotation mark is gone through.
    """
    if '"' not in text:
        return
    if '" ' in text:
        text = CLOSED_BEFORE_BLANKS.sub('"', text)
    row, line, width = 0, 0, 0
    limit = csv.field_size_limit(len(text))
    try:
        reader = csv.reader(by_lines(text), delimiter=delimiter, strict=True)
        for row, record in enumerate(reader, start=1):
            width = width or len(record)
            if reader.line_num - line > 1 and len(record) == width:
                lost = sum(_rows_within(record, index, delimiter) for index in range(width))
                if lost:
                    raise DataError.one("quotation_over_rows", Cell(file, rows=(row + above,)), rows=Count(lost, "row"))
            line = reader.line_num
    except csv.Error as error:
        code = "quotation_never_closed" if "end of data" in str(error) else "quotation_closed_within"
        raise DataError.one(code, Cell(file, rows=(row + 1 + above,))) from None
    finally:
        csv.field_size_limit(limit)


def _rows_within(record: list[str], index: int, delimiter: str) -> int:
    """How many rows end within a cell: none where the lines of its text do not fit the columns of the table.

    Where two stray marks stand in one column, the first line of the cell goes on as its own row does, the last begins
    as a row does, each line between them is a whole row, and numbers stand where the row around them has numbers.
    """
    if "\n" not in record[index]:
        return 0
    lines = [line.split(delimiter) for line in record[index].split("\n")]
    first, last, whole = lines[0][1:], lines[-1][:-1], [line for line in lines[1:-1] if line != [""]]
    before, after = record[:index], record[index + 1 :]
    fits = _alike(first, after) and _alike(last, before) and all(len(line) == len(record) for line in whole)
    return len(whole) + 1 if fits else 0


def _alike(cells: list[str], others: list[str]) -> bool:
    return len(cells) == len(others) and all(
        _is_number(first) == _is_number(other) for first, other in zip(cells, others, strict=True) if first and other
    )


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*[+-]?[\d.,]+([eE][+-]?\d+)?\s*", text) is not None
