"""A workbook (.xlsx) -> the rows of one of its sheets."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from dossier.core import errors, facts
from dossier.core.faults.locations import Cell, File, Key, SheetCell
from dossier.reading import faults, signatures

MOST_CELLS = 50_000_000
"""A row may name a cell far to the right: the cells are counted before they are kept."""

LAST_ROW, LAST_COLUMN = 1 << 20, 1 << 14
"""Of a sheet of a workbook."""

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
    hidden: int = 0
    """How many of these a filter hides, or somebody."""


def sheet(content: bytes, file: str, wanted: str | None, where: Key | None) -> Sheet:
    """The rows of the sheet that is wanted, or of the only one; formulas by the values that were last computed."""
    try:
        import openpyxl
        from openpyxl.utils.exceptions import InvalidFileException
    except ModuleNotFoundError:
        raise errors.DataError.one("reader_not_installed", File(file), file=file, package="openpyxl") from None
    try:
        signatures.refuse_too_large_when_unzipped(content, file)
        with warnings.catch_warnings():
            # Styles and validations that it does not know are nothing to us; the values are.
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            try:
                page = book[_name(book.sheetnames, file, wanted, where)]
                _refuse_formulas_without_values(page, file)
                return _rows(page, file)
            finally:
                book.close()
    except (*BROKEN, InvalidFileException):
        raise errors.DataError.one("not_a_workbook", File(file), file=file) from None


def _name(names: list[str], file: str, wanted: str | None, where: Key | None) -> str:
    """The sheet that is meant; a DataError that lists the sheets when that is not clear."""
    if wanted is not None and wanted not in names:
        at = where.of("sheet") if where else File(file)
        near = faults.nearest(wanted, names)
        raise errors.DataError.one("no_sheet", at, file=file, sheet=wanted, known=tuple(names), near=near)
    if wanted is None and len(names) != 1:
        mend = facts.Fact("name_sheet", sheet=names[0]) if where else facts.Fact("keep_one_sheet")
        at, sheets = where or File(file), tuple(names)
        raise errors.DataError.one("several_sheets", at, file=file, number=len(names), sheets=sheets, mend=mend)
    return wanted or names[0]


def _refuse_formulas_without_values(page: Any, file: str) -> None:
    """Refuse formulas that were never computed, as in a workbook that a program has written: their cells look empty."""
    if not hasattr(page, "iter_rows"):
        raise errors.DataError.one("chart_for_table", File(file), file=file)
    with page.parent._archive.open(page._worksheet_path) as part:
        if FORMULA.search(part.read()) is None:
            return
    with page.parent._archive.open(page._worksheet_path) as part:
        waiting = list(_uncomputed(part))
    if waiting:
        at, formulas = SheetCell(file, waiting[0]), facts.Count(len(waiting), "formula")
        raise errors.DataError.one("formulas_without_values", at, formulas=formulas, file=file, cells=tuple(waiting))


def _uncomputed(part: Any) -> Iterator[str]:
    """The name of each cell that holds a formula and no value; a computed text may be empty."""
    for _, element in ElementTree.iterparse(part):
        if element.tag.endswith("}c"):
            found = {child.tag.rpartition("}")[2]: child for child in element}
            if "f" in found and element.get("t") != "str" and ("v" not in found or not found["v"].text):
                yield element.get("r", "without a name")
        if element.tag.endswith("}row"):
            element.clear()


def _rows(page: Any, file: str) -> Sheet:
    found: dict[int, dict[int, Any]] = {}
    width = 0
    with page.parent._archive.open(page._worksheet_path) as part:
        # What parses the number and the cells of each row that is written down, in the order of the file. Not iter_rows
        # of openpyxl, which loses each row that stands behind one with a larger number, and makes up every row that is
        # not there.
        from openpyxl.worksheet._reader import WorkSheetParser

        book = page.parent
        settings = {"date_formats": book._date_formats, "timedelta_formats": book._timedelta_formats}
        sheet = WorkSheetParser(part, page._shared_strings, data_only=True, epoch=book.epoch, **settings)
        for number, row in sheet.parse():
            filled = [(cell["column"], value) for cell in row if (value := _value(cell["value"])) is not None]
            if not filled:
                continue
            # Refuse a row with cells where no sheet has any, one that stands twice, and one that holds a cell twice.
            columns, at = [column for column, _ in filled], Cell(file, rows=(number,))
            if number in found or len(set(columns)) < len(columns):
                raise errors.DataError.one("row_twice_in_sheet", at, row=number, file=file)
            if not 1 <= number <= LAST_ROW or min(columns) < 1 or max(columns) > LAST_COLUMN:
                raise errors.DataError.one("cell_outside_sheet", at, file=file, row=number, column=max(columns))
            width = max(width, *columns, 0)
            if (len(found) + 1) * width > MOST_CELLS:
                raise errors.DataError.one("many_cells", File(file), file=file, most=MOST_CELLS)
            found[number] = dict(filled)
    if not found:
        raise errors.DataError.one("empty_file", File(file), file=file)
    numbers = tuple(sorted(found))
    hidden = sum(sheet.row_dimensions.get(str(number), {}).get("hidden") in ("1", "true") for number in numbers)
    return Sheet(tuple(tuple(map(found[number].get, range(1, width + 1))) for number in numbers), numbers, hidden)


def _value(value: Any) -> Any:
    """The value of a cell; a text of blanks is an empty one."""
    return (value.strip() or None) if isinstance(value, str) else value
