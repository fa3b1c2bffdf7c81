"""The bytes of a file -> the raw cells of its columns, every row with its number in the file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dossier.errors import Fault
from dossier.load import cells, dialects, parquet, signatures, statistical, unpacked, workbooks
from dossier.load.dialects import Dialect
from dossier.load.faults import by_row, counted

BLANK_LINE = re.compile(r"\n\n")


@dataclass(frozen=True)
class RawTable:
    """A file as it was found: Arrow columns by their names in the file, and the row number that a person sees."""

    file: str
    columns: Mapping[str, Any]
    rows: NDArray[np.int64]
    codes: Mapping[str, Any] = field(default_factory=dict)
    """The codes behind the columns whose values carry labels, where the file has such."""


@dataclass(frozen=True)
class Lines:
    """The records of a delimited text, the first one included: Arrow columns of text and the line of each record."""

    columns: tuple[Any, ...]
    rows: NDArray[np.int64]


def table(content: bytes, file: str, faults: list[Fault], dialect: Dialect | None = None) -> RawTable | None:
    """The table that the bytes of a file hold; None, and a fault, when they hold none."""
    dialect = dialect or Dialect()
    ending = signatures.kind(file) or ".csv"
    if ending in signatures.TEXTS:
        found = lines(content, file, faults, dialect)
        return _with_header(found, file, faults) if found is not None else None
    if ending == ".parquet":
        return stored({file: content}, file, faults)
    another = signatures.another_kind(content, file, ending)
    if another is not None:
        faults.append(another)
        return None
    if ending == ".xlsx":
        return _workbook(content, file, dialect, faults)
    if ending in statistical.READERS:
        return _statistical(content, file, ending, faults)
    return _feather(content, file, faults)


def stored(sources: Mapping[str, Path | bytes], file: str, faults: list[Fault]) -> RawTable | None:
    """A parquet file, or those of a folder one below the other, as one table whose columns are read when asked for.

    `sources` are the files by name, `file` is the name of the whole; rows are counted through all of them. None, and
    faults, when a file is no parquet file, or the files have different columns.
    """
    opened = [parquet.part(source, name, faults) for name, source in sources.items()]
    parts = [part for part in opened if part is not None]
    if len(parts) < len(opened):
        return None
    count = sum(part.rows for part in parts)
    if not parquet.alike(parts, file, faults) or not _well_named(parts[0].names, count, file, faults):
        return None
    return RawTable(file, parquet.Stored(tuple(parts), file), np.arange(1, count + 1, dtype=np.int64))


def lines(content: bytes, file: str, faults: list[Fault], dialect: Dialect | None = None) -> Lines | None:
    """The records of a csv or tsv text, all cells as text without blanks around them, decimals with points."""
    dialect = dialect or Dialect()
    text = _text(content, file, dialect, faults)
    if text is None:
        return None
    delimiter = dialects.separator(text.lstrip("\n"), file, dialect)
    leading = len(text) - len(text.lstrip("\n"))
    above = text[:leading].count("\n")
    text = text[leading:]
    try:
        first = next(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error:
        faults.append(Fault(f"{file} cannot be read as a table.", f"{file}, first row", "Mend the first row."))
        return None
    found = _records(text, file, delimiter, len(first), above, faults)
    return None if found is None else Lines(dialects.with_points(found.columns, delimiter, dialect), found.rows)


def _text(content: bytes, file: str, dialect: Dialect, faults: list[Fault]) -> str | None:
    ending = signatures.kind(file) or ".csv"
    if ending in signatures.PACKED:
        whole = unpacked.gunzipped(content, file, faults)
        if whole is None:
            return None
        content, ending = whole, ending.removesuffix(".gz")
    another = signatures.another_kind(content, file, ending)
    if another is not None:
        faults.append(another)
        return None
    text = dialects.decoded(content, file, dialect, faults)
    if text is not None and not text.strip():
        faults.append(Fault(f"{file} is empty.", file, "Put the rows in it, or take it out of the release."))
        return None
    return text


def _records(text: str, file: str, delimiter: str, width: int, above: int, faults: list[Fault]) -> Lines | None:
    import pyarrow
    import pyarrow.compute
    import pyarrow.csv

    opened = _left_open(text, delimiter)
    if opened is not None:
        what = "The cell that a quotation mark opens is never closed."
        fix = "Close it; write a quotation mark that belongs to the text twice."
        faults.append(Fault(what, f"{file}, row {opened + above}", fix))
        return None
    ragged: list[tuple[int, int]] = []

    def skip(row: Any) -> str:
        ragged.append((row.number + above, row.actual_columns))
        return "skip"

    names = [f"c{k}" for k in range(width)]
    content = text.encode()
    try:
        found = pyarrow.csv.read_csv(
            io.BytesIO(content),
            read_options=pyarrow.csv.ReadOptions(
                use_threads=False, column_names=names, block_size=max(len(content) + 1, 1 << 16)
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=False, invalid_row_handler=skip
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={name: pyarrow.string() for name in names}, strings_can_be_null=False
            ),
        )
    except pyarrow.ArrowInvalid:
        faults.append(
            Fault(f"{file} cannot be read as a table.", file, "Look for a quotation mark that is not closed.")
        )
        return None
    if ragged:
        rows = [row for row, _ in ragged]
        fix = f"Give every row {width} cells; put a text that holds the separator in quotation marks."
        faults += by_row(file, None, rows, lambda k: f"The row has {counted(ragged[k][1], 'cell')}, not {width}.", fix)
        return None
    kept, rows_of = _without_blank_lines(text, found.num_rows, above)
    trimmed = (pyarrow.compute.utf8_trim_whitespace(column.combine_chunks()) for column in found.columns)
    return Lines(tuple(column if kept is None else column.take(pyarrow.array(kept)) for column in trimmed), rows_of)


def _left_open(text: str, delimiter: str) -> int | None:
    """The row from which on a quotation mark swallows the rest of the table in silence; None where there is none."""
    if text.count('"') % 2 == 0:
        return None
    row = 0
    try:
        for row, _ in enumerate(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True), start=1):  # noqa: B007
            continue
    except csv.Error:
        return row + 1
    return None


def _without_blank_lines(text: str, count: int, above: int) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """The records that are no blank lines (None: all of them), and the row number of each."""
    rows = np.arange(count, dtype=np.int64) + 1 + above
    if BLANK_LINE.search(text) is None:
        return None, rows
    kept: list[int] = []
    record, quotes = 0, 0
    for line in text.split("\n"):
        if quotes % 2 == 0:
            if line:
                kept.append(record)
            record += 1
        quotes += line.count('"')
    positions = np.array([k for k in kept if k < count], dtype=np.int64)
    return positions, rows[positions]


def _with_header(found: Lines, file: str, faults: list[Fault]) -> RawTable | None:
    names = [str(column[0]) for column in found.columns]
    if not _well_named(names, len(found.rows) - 1, file, faults):
        return None
    columns = {name: column[1:] for name, column in zip(names, found.columns, strict=True) if name}
    return RawTable(file, columns, found.rows[1:])


def _well_named(names: Sequence[str], count: int, file: str, faults: list[Fault]) -> bool:
    """Whether every column has a name of its own and there are rows; faults where not."""
    repeated = sorted({name for name in names if name and names.count(name) > 1})
    for name in repeated:
        what = f"{names.count(name)} columns are named {name}."
        faults.append(Fault(what, f"{file}, first row", "Give every column a name of its own."))
    if count < 1:
        faults.append(Fault(f"{file} holds names of columns and no rows.", file, "Put the rows in it."))
    return not repeated and count >= 1


# ---- workbooks and statistics packages ------------------------------------------------------------------------------


def _workbook(content: bytes, file: str, dialect: Dialect, faults: list[Fault]) -> RawTable | None:
    found = workbooks.sheet(content, file, dialect.sheet, dialect.where, faults)
    if found is None:
        return None
    names = ["" if name is None else cells.text(name) for name in found.cells[0]]
    if not _well_named(names, len(found.rows) - 1, file, faults):
        return None
    columns = {name: cells.arrow([row[place] for row in found.cells[1:]]) for place, name in enumerate(names) if name}
    return RawTable(file, columns, np.array(found.rows[1:], dtype=np.int64))


def _statistical(content: bytes, file: str, ending: str, faults: list[Fault]) -> RawTable | None:
    found = statistical.variables(content, file, ending, faults)
    if found is None:
        return None
    count = len(next(iter(found.cells.values()), ()))
    if not _well_named(list(found.cells), count, file, faults):
        return None
    columns = {name: cells.arrow(values) for name, values in {**found.cells, **found.labelled}.items()}
    codes = {name: cells.arrow(found.cells[name]) for name in found.labelled}
    return RawTable(file, columns, np.arange(1, count + 1, dtype=np.int64), codes)


# ---- feather ---------------------------------------------------------------------------------------------------------


def _feather(content: bytes, file: str, faults: list[Fault]) -> RawTable | None:
    import pyarrow
    import pyarrow.feather

    try:
        found = pyarrow.feather.read_table(pyarrow.BufferReader(content), use_threads=False)
    except (pyarrow.ArrowException, OSError):
        faults.append(Fault(f"{file} is not a feather file.", file, "Write it again, or give a .csv."))
        return None
    if not _well_named(found.column_names, found.num_rows, file, faults):
        return None
    columns = {name: cells.whole(column) for name, column in zip(found.column_names, found.columns, strict=True)}
    return RawTable(file, columns, np.arange(1, found.num_rows + 1, dtype=np.int64))
