"""A workbook (.xlsx) -> the rows of one of its sheets."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from dossier.errors import Fault
from dossier.reading.extras import missing_extra
from dossier.reading.faults import counted, listed, nearest
from dossier.reading.unpacked import too_large_when_unzipped

MOST_CELLS = 50_000_000
"""A row may name a cell far to the right: the cells are counted before they are kept."""

LAST_ROW, LAST_COLUMN = 1 << 20, 1 << 14
"""Of a sheet of a workbook."""
SAVE_AGAIN = "Open the workbook in the program for spreadsheets and save it there, or export the sheet as .csv."

FORMULA = re.compile(rb"<(?:\w+:)?f[ />]")

BROKEN = (
    *(zipfile.BadZipFile, zlib.error, SyntaxError, LookupError, ValueError, TypeError, AttributeError),
    *(EOFError, OSError, RuntimeError),
)
"""What a damaged workbook makes its reader raise; a damaged XML is a SyntaxError, a locked part a RuntimeError."""


@dataclass(frozen=True)
class Sheet:
    """The rows of a sheet that hold something, the one with the names first, and the number of each in the sheet."""

    cells: tuple[tuple[Any, ...], ...]
    rows: tuple[int, ...]


def sheet(content: bytes, file: str, wanted: str | None, where: str | None, faults: list[Fault]) -> Sheet | None:
    """The rows of the sheet that is wanted, or of the only one; formulas by the values that were last computed."""
    try:
        import openpyxl
        from openpyxl.utils.exceptions import InvalidFileException
    except ModuleNotFoundError:
        faults.append(missing_extra("openpyxl", file))
        return None
    try:
        too_large = too_large_when_unzipped(content, file)
        if too_large is not None:
            faults.append(too_large)
            return None
        with warnings.catch_warnings():
            # Styles and validations that it does not know are nothing to us; the values are.
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            try:
                name = _name(book.sheetnames, file, wanted, where, faults)
                if name is None or _with_formulas_without_values(book[name], file, faults):
                    return None
                return _rows(book[name], file, faults)
            finally:
                book.close()
    except (*BROKEN, InvalidFileException):
        faults.append(Fault(f"{file} is not a whole workbook.", file, "Save it again as .xlsx, or give a .csv."))
        return None


def _name(names: list[str], file: str, wanted: str | None, where: str | None, faults: list[Fault]) -> str | None:
    """The sheet that is meant; None, and a fault that lists the sheets, when that is not clear."""
    if wanted is not None and wanted not in names:
        near = nearest(wanted, names)
        fix = f"Did you mean {near}?" if near else f"The sheets are {listed(names)}."
        faults.append(Fault(f'{file} has no sheet "{wanted}".', f"{where}, sheet" if where else file, fix))
        return None
    if wanted is None and len(names) != 1:
        fix = f'Name one of them, such as sheet = "{names[0]}".' if where else "Keep one sheet in the workbook."
        faults.append(Fault(f"{file} has {len(names)} sheets: {listed(names)}.", where or file, fix))
        return None
    return wanted or names[0]


def _with_formulas_without_values(page: Any, file: str, faults: list[Fault]) -> bool:
    """Whether formulas were never computed, as in a workbook that a program has written: their cells look empty."""
    if not hasattr(page, "iter_rows"):
        return False
    with page.parent._archive.open(page._worksheet_path) as part:
        if FORMULA.search(part.read()) is None:
            return False
    with page.parent._archive.open(page._worksheet_path) as part:
        waiting = list(_uncomputed(part))
    if waiting:
        what = f"{counted(len(waiting), 'formula')} in {file} without a value: {listed(waiting, 5)}."
        faults.append(Fault(what, f"{file}, cell {waiting[0]}", SAVE_AGAIN))
    return bool(waiting)


def _uncomputed(part: Any) -> Iterator[str]:
    """The name of each cell that holds a formula and no value; a computed text may be empty."""
    for _, element in ElementTree.iterparse(part):
        if element.tag.endswith("}c"):
            found = {child.tag.rpartition("}")[2]: child for child in element}
            if "f" in found and element.get("t") != "str" and ("v" not in found or not found["v"].text):
                yield element.get("r", "without a name")
        if element.tag.endswith("}row"):
            element.clear()


def _rows(page: Any, file: str, faults: list[Fault]) -> Sheet | None:
    if not hasattr(page, "iter_rows"):
        faults.append(Fault(f"{file} holds a chart where its table should be.", file, "Name a sheet with a table."))
        return None
    found: dict[int, dict[int, Any]] = {}
    width = 0
    with page.parent._archive.open(page._worksheet_path) as part:
        for number, row in _parsed(page, part):
            filled = [(cell["column"], value) for cell in row if (value := _value(cell["value"])) is not None]
            if not filled:
                continue
            misplaced = _misplaced(number, [column for column, _ in filled], file, number in found)
            width = max(width, *(column for column, _ in filled), 0)
            if misplaced is None and (len(found) + 1) * width > MOST_CELLS:
                what = f"{file} spreads over more than {MOST_CELLS:,} cells."
                misplaced = Fault(what, file, "Delete what stands beside the table, or give a .csv.")
            if misplaced is not None:
                faults.append(misplaced)
                return None
            found[number] = dict(filled)
    if not found:
        faults.append(Fault(f"{file} is empty.", file, "Put the rows in it, or take it out of the release."))
        return None
    numbers = tuple(sorted(found))
    return Sheet(tuple(tuple(map(found[number].get, range(1, width + 1))) for number in numbers), numbers)


def _parsed(page: Any, part: Any) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """The number and the cells of each row that is written down, in the order of the file.

    Not iter_rows of openpyxl, which loses each row that stands behind one with a larger number, and makes up every row
    that is not there.
    """
    from openpyxl.worksheet._reader import WorkSheetParser

    book = page.parent
    settings = {"date_formats": book._date_formats, "timedelta_formats": book._timedelta_formats}
    yield from WorkSheetParser(part, page._shared_strings, data_only=True, epoch=book.epoch, **settings).parse()


def _misplaced(number: int, columns: Sequence[int], file: str, again: bool) -> Fault | None:
    """The fault of a row with cells where no sheet has any, or that stands twice, or holds a cell twice."""
    if again or len(set(columns)) < len(columns):
        what = f"Row {number} stands twice in {file}, or one of its cells does."
    elif 1 <= number <= LAST_ROW and min(columns) >= 1 and max(columns) <= LAST_COLUMN:
        return None
    else:
        what = f"{file} has a cell in row {number} and column {max(columns)}, where no sheet has one."
    return Fault(what, f"{file}, row {number}", SAVE_AGAIN)


def _value(value: Any) -> Any:
    """The value of a cell; a text of blanks is an empty one."""
    return (value.strip() or None) if isinstance(value, str) else value
