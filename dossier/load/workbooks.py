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

from dossier.errors import Fault
from dossier.load.extras import missing_extra
from dossier.load.faults import counted, listed, nearest
from dossier.load.unpacked import too_large_when_unzipped

MOST_CELLS = 50_000_000
"""A row may name a cell far to the right: the cells are counted before they are kept."""

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
        fix = "Open the workbook in the program for spreadsheets and save it there, or export the sheet as .csv."
        faults.append(Fault(what, f"{file}, cell {waiting[0]}", fix))
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
    # What the sheet says of its own size is often wrong.
    page.reset_dimensions()
    cells: list[tuple[Any, ...]] = []
    numbers: list[int] = []
    seen = 0
    for place, values in enumerate(_values(page), start=1):
        seen += len(values)
        if seen > MOST_CELLS:
            what = f"{file} spreads over more than {MOST_CELLS:,} cells."
            faults.append(Fault(what, file, "Delete what stands beside the table, or give a .csv."))
            return None
        if any(value is not None for value in values):
            cells.append(values)
            numbers.append(place)
    if not cells:
        faults.append(Fault(f"{file} is empty.", file, "Put the rows in it, or take it out of the release."))
        return None
    width = max(len(row) for row in cells)
    return Sheet(tuple(row + (None,) * (width - len(row)) for row in cells), tuple(numbers))


def _values(page: Any) -> Iterator[tuple[Any, ...]]:
    """The values of each row; a text of blanks is an empty cell."""
    for row in page.iter_rows(values_only=True):
        yield tuple((value.strip() or None) if isinstance(value, str) else value for value in row)
