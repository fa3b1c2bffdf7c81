"""How a delimited text is written: its encoding, the separator of its columns, and its decimal sign."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as compute
from numpy.typing import NDArray

from dossier.core.errors import DataError, Fault
from dossier.core.facts import Fact
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
