"""Quotation marks that were not meant to open a cell: the rows up to the next one would be lost in silence."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from dossier.core.errors import Fault
from dossier.core.facts import Count
from dossier.core.faults.locations import Cell

LINE = re.compile(r".*\n|.+")
CLOSED_BEFORE_BLANKS = re.compile(r'" +(?=[^\w"\\])')
"""Blanks between the end of a cell and the separator are idle; the strict reader would refuse them."""


def by_lines(text: str) -> Iterator[str]:
    """The lines of a text with their ends, one after the other: a copy of all of them would be as large again."""
    return (found[0] for found in LINE.finditer(text))


def fault(text: str, delimiter: str, file: str, above: int) -> Fault | None:
    """The fault of the first cell that goes on where it should end; `above` lines were taken off the text.

    Only a text that holds a quotation mark is gone through.
    """
    if '"' not in text:
        return None
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
                    return Fault("quotation_over_rows", Cell(file, rows=(row + above,)), rows=Count(lost, "row"))
            line = reader.line_num
    except csv.Error as error:
        code = "quotation_never_closed" if "end of data" in str(error) else "quotation_closed_within"
        return Fault(code, Cell(file, rows=(row + 1 + above,)))
    finally:
        csv.field_size_limit(limit)
    return None


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
