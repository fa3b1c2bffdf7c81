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

from dossier.core import errors, facts
from dossier.core.faults.locations import Cell, File, Key, SheetCell
from dossier.reading.faults import nearest
from dossier.reading.signatures import too_large_when_unzipped

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


def sheet(content: bytes, file: str, wanted: str | None, where: Key | None, faults: list[errors.Fault]) -> Sheet | None:
    """The rows of the sheet that is wanted, or of the only one; formulas by the values that were last computed."""
    try:
        import openpyxl
        from openpyxl.utils.exceptions import InvalidFileException
    except ModuleNotFoundError:
        faults.append(errors.Fault("reader_not_installed", File(file), file=file, package="openpyxl"))
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
        faults.append(errors.Fault("not_a_workbook", File(file), file=file))
        return None


def _name(names: list[str], file: str, wanted: str | None, where: Key | None, faults: list[errors.Fault]) -> str | None:
    """The sheet that is meant; None, and a fault that lists the sheets, when that is not clear."""
    if wanted is not None and wanted not in names:
        at = where.of("sheet") if where else File(file)
        near = nearest(wanted, names)
        faults.append(errors.Fault("no_sheet", at, file=file, sheet=wanted, known=tuple(names), near=near))
        return None
    if wanted is None and len(names) != 1:
        mend = facts.Fact("name_sheet", sheet=names[0]) if where else facts.Fact("keep_one_sheet")
        at = where or File(file)
        faults.append(errors.Fault("several_sheets", at, file=file, number=len(names), sheets=tuple(names), mend=mend))
        return None
    return wanted or names[0]


def _with_formulas_without_values(page: Any, file: str, faults: list[errors.Fault]) -> bool:
    """Whether formulas were never computed, as in a workbook that a program has written: their cells look empty."""
    if not hasattr(page, "iter_rows"):
        return False
    with page.parent._archive.open(page._worksheet_path) as part:
        if FORMULA.search(part.read()) is None:
            return False
    with page.parent._archive.open(page._worksheet_path) as part:
        waiting = list(_uncomputed(part))
    if waiting:
        at, formulas = SheetCell(file, waiting[0]), facts.Count(len(waiting), "formula")
        faults.append(errors.Fault("formulas_without_values", at, formulas=formulas, file=file, cells=tuple(waiting)))
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


def _rows(page: Any, file: str, faults: list[errors.Fault]) -> Sheet | None:
    if not hasattr(page, "iter_rows"):
        faults.append(errors.Fault("chart_for_table", File(file), file=file))
        return None
    found: dict[int, dict[int, Any]] = {}
    width = 0
    with page.parent._archive.open(page._worksheet_path) as part:
        sheet = _parser(page, part)
        for number, row in sheet.parse():
            filled = [(cell["column"], value) for cell in row if (value := _value(cell["value"])) is not None]
            if not filled:
                continue
            misplaced = _misplaced(number, [column for column, _ in filled], file, number in found)
            width = max(width, *(column for column, _ in filled), 0)
            if misplaced is None and (len(found) + 1) * width > MOST_CELLS:
                misplaced = errors.Fault("many_cells", File(file), file=file, most=MOST_CELLS)
            if misplaced is not None:
                faults.append(misplaced)
                return None
            found[number] = dict(filled)
    if not found:
        faults.append(errors.Fault("empty_file", File(file), file=file))
        return None
    numbers = tuple(sorted(found))
    of_rows = sheet.row_dimensions
    hidden = sum(of_rows.get(str(number), {}).get("hidden") in ("1", "true") for number in numbers)
    return Sheet(tuple(tuple(map(found[number].get, range(1, width + 1))) for number in numbers), numbers, hidden)


def _parser(page: Any, part: Any) -> Any:
    """What parses the number and the cells of each row that is written down, in the order of the file.

    Not iter_rows of openpyxl, which loses each row that stands behind one with a larger number, and makes up every row
    that is not there.
    """
    from openpyxl.worksheet._reader import WorkSheetParser

    book = page.parent
    settings = {"date_formats": book._date_formats, "timedelta_formats": book._timedelta_formats}
    return WorkSheetParser(part, page._shared_strings, data_only=True, epoch=book.epoch, **settings)


def _misplaced(number: int, columns: Sequence[int], file: str, again: bool) -> errors.Fault | None:
    """The fault of a row with cells where no sheet has any, or that stands twice, or holds a cell twice."""
    if again or len(set(columns)) < len(columns):
        return errors.Fault("row_twice_in_sheet", Cell(file, rows=(number,)), row=number, file=file)
    if 1 <= number <= LAST_ROW and min(columns) >= 1 and max(columns) <= LAST_COLUMN:
        return None
    return errors.Fault("cell_outside_sheet", Cell(file, rows=(number,)), file=file, row=number, column=max(columns))


def _value(value: Any) -> Any:
    """The value of a cell; a text of blanks is an empty one."""
    return (value.strip() or None) if isinstance(value, str) else value
