"""How a delimited text is written: its encoding, separator and decimal sign; and rows that end where none should."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as compute
from numpy.typing import NDArray

from dossier.core.errors import DataError, Fault
from dossier.core.facts import Count, Fact
from dossier.core.faults.locations import Cell, Header, Key
from dossier.reading.faults import SIGNS, by_row

SEPARATORS = tuple(SIGNS)
MOST_TITLES = 100
"""A text with more lines in which there is no separator is one column."""
NUMBER_WITH_COMMA = r"^([+-]?\d*),(\d+(?:[eE][+-]?\d+)?(?:[\s\pZ]*%)?)$"
NUMBER_WITH_POINT = r"^[+-]?\d*\.\d+([eE][+-]?\d+)?([\s\pZ]*%)?$"
THOUSANDS = r"^[+-]?[1-9]\d{0,2},\d{3}$"
THOUSANDS_WITH_POINT = r"^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?$"


@dataclass(frozen=True)
class Dialect:
    """What release.toml declares about the writing of a table; None where the rule decides."""

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    where: Key | None = None
    """The place in release.toml that may declare it; None where nothing can be declared."""


UNMARKED = {"utf-16-le": re.compile(rb"[^\0]\0[^\0]\0"), "utf-16-be": re.compile(rb"\0[^\0]\0[^\0]")}
WESTERN = "windows-1252"
"""What Excel and R write on a computer of Western Europe, where nobody asks for UTF-8."""
SIGNS_OF_WESTERN = "ªº°µ±²³¹¼½¾·×÷§€£«»“”‘’„–—…•™®© "
FOREIGN = re.compile(rf"[^\x00-\x7fÀ-ÿŒœŠšŽžŸ{SIGNS_OF_WESTERN}]|[À-ÖØ-öø-ÿŒœŠšŽžŸ]{{3}}")
"""What words of Western Europe do not have: other signs, or three letters in a row that English does not know."""


def guessed(content: bytes) -> str | None:
    """The encoding of a text that is no UTF-8 and holds words of Western Europe; None of every other."""
    if _marked(content) is not None or content.isascii() or b"\0" in content:
        return None
    for encoding in ("utf-8", WESTERN):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return WESTERN if encoding == WESTERN and FOREIGN.search(text) is None else None
    return None


def decoded(content: bytes, file: str, dialect: Dialect) -> str:
    """The text of the bytes, by the mark at their beginning, else as declared, else UTF-8; a DataError without one."""
    encoding = _marked(content) or dialect.encoding or "utf-8"
    mend = Fact("save_as_utf8" if dialect.where is None else "save_as_utf8_or_declare")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        name = "UTF-8" if encoding.startswith("utf-8") else encoding.upper()
        at, byte = Cell(file, rows=(row,)), content[error.start]
        raise DataError.one("other_encoding", at, file=file, encoding=name, byte=byte, mend=mend) from None
    if "\0" in text:
        row = text[: text.index("\0")].count("\n") + 1
        raise DataError.one("not_a_text", Cell(file, rows=(row,)), file=file, mend=mend)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _marked(content: bytes) -> str | None:
    """The encoding that the first bytes name."""
    if content.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    # Two Latin letters, and no mark before them.
    return next((name for name, found in UNMARKED.items() if found.match(content)), None)


def separator(text: str, file: str, dialect: Dialect) -> str:
    """The sign between the columns: declared, the tab of a .tsv, or what stands most often in the first row.

    A sign that stands as often in the second row goes before the others; what stands in quotation marks is not counted,
    nor are lines without any of the signs, as titles are.
    """
    if dialect.separator is not None:
        return dialect.separator
    if file.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    # How often each separator stands in the first two records that hold any, outside of quotation marks.
    records: list[dict[str, int]] = [dict.fromkeys(SEPARATORS, 0)]
    quoted, titles = False, 0
    for sign in text:
        if sign == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif sign == "\n":
            if len(records) == 2 or titles == MOST_TITLES:
                break
            if not any(records[-1].values()):
                titles += 1
                continue
            records.append(dict.fromkeys(SEPARATORS, 0))
        elif sign in records[-1]:
            records[-1][sign] += 1
    first, second = records[0], records[-1]
    return max(SEPARATORS, key=lambda sign: (0 < first[sign] == second[sign], first[sign]))


def with_points(columns: tuple[Any, ...], between: str, dialect: Dialect) -> tuple[Any, ...]:
    """The columns with points for decimal commas, where the table is written with them.

    It is when that is declared; and by rule when no comma stands between the columns, no number has a point, and the
    commas are not all those of thousands (1,234).
    """
    if dialect.decimal == "." or (dialect.decimal is None and between == ","):
        return columns
    # The first row may hold names.
    below = [cells[1:] for cells in columns]
    held = [k for k, cells in enumerate(below) if written_with_commas(cells)]
    if dialect.decimal is None and not _surely(below, held):
        return columns
    found = list(columns)
    for k in held:
        found[k] = compute.replace_substring_regex(found[k], NUMBER_WITH_COMMA, r"\1.\2")
    return tuple(found)


def points(columns: Sequence[Any], rows: NDArray[np.int64], file: str, dialect: Dialect) -> list[Fault]:
    """The faults of points that can only stand between thousands, since the decimal sign is declared to be a comma.

    Read as decimal points they would make 1466 the number 1.466. Where a column has other points too, all are decimal.
    """
    if dialect.decimal != ",":
        return []
    return [fault for cells in columns for fault in _points(str(cells[0]), cells[1:], rows[1:], file)]


def _points(name: str, cells: Any, rows: NDArray[np.int64], file: str) -> list[Fault]:
    if not 0 < _matching(cells, THOUSANDS_WITH_POINT) == _matching(cells, r"\."):
        return []
    places = compute.indices_nonzero(compute.match_substring_regex(cells, THOUSANDS_WITH_POINT)).to_pylist()
    numbers = [int(rows[position]) for position in places]
    return by_row("point_of_thousands", file, name, numbers, lambda k: {"value": str(cells[places[k]])}, column=name)


def _matching(cells: Any, pattern: str) -> int:
    return int(compute.sum(compute.match_substring_regex(cells, pattern)).as_py() or 0)


def has_points(cells: Any) -> bool:
    """Whether a number among these texts is written with a point, or with several."""
    return _matching(cells, NUMBER_WITH_POINT) + _matching(cells, THOUSANDS_WITH_POINT) > 0


def written_with_commas(cells: Any) -> bool:
    """Whether every cell with a comma is a number with a decimal comma."""
    return 0 < _matching(cells, NUMBER_WITH_COMMA) == _matching(cells, ",")


def _surely(columns: Sequence[Any], held: Sequence[int]) -> bool:
    if any(_matching(cells, NUMBER_WITH_POINT) for cells in columns):
        return False
    return any(_matching(columns[k], NUMBER_WITH_COMMA) > _matching(columns[k], THOUSANDS) for k in held)


# ---- signs that are not read, such as the blanks of R's write.table -------------------------------------------------

UNREAD: Mapping[str, str | Fact] = {" +": Fact("blanks"), r"\^": "^", **{sign: sign for sign in (":", "~", "#", "!")}}
"""The signs as patterns, and how they are written."""
DECIMAL = r"[+-]?\d*\.\d+([eE][+-]?\d+)?"
"""A second row without any such number may be a text of several words."""


def refuse_unread_separator(text: str, file: str) -> None:
    """Refuse a text without any separator that is read, and with another one in its first two rows.

    The first row names the columns, and the second one has as many cells, or one more: a name of the row.
    """
    found = re.match(r"(.*)\n(.*)", text)
    # Without what stands in quotation marks, and with points for decimal commas.
    bare = [] if found is None else [re.sub(r'"[^"]*"', "x", line) for line in found.groups()]
    rows = [re.sub(r"(?<=\d),(?=\d)", ".", line).strip() for line in bare]
    if any(sign in row for row in rows for sign in SEPARATORS):
        return
    for pattern, sign in UNREAD.items() if rows else ():
        first, second = (re.split(pattern, row) for row in rows)
        numbers = any(re.fullmatch(DECIMAL, cell) for cell in second)
        if len(first) > 1 and len(second) in (len(first), len(first) + 1) and numbers:
            raise DataError.one("other_separator", Header(file), file=file, sign=sign)


# ---- rows that do not end where they should -------------------------------------------------------------------------

# A row of another width is a fault, or the first row where that is the culprit. Up to a quotation mark that was not
# meant to open a cell rows would be lost in silence.

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


def of_other_width(rows: Sequence[Uneven], fitting: int, width: int, file: str) -> list[Fault]:
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
