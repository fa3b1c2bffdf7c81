"""The bytes of a csv, tsv or parquet file -> the raw cells of its columns, every row with its number in the file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dossier.errors import Fault
from dossier.load.faults import by_row, counted

BLANK_LINE = re.compile(r"\n\n")


@dataclass(frozen=True)
class RawTable:
    """A file as it was found: Arrow columns by their names in the file, and the row number that a person sees."""

    file: str
    columns: Mapping[str, Any]
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class Lines:
    """The records of a delimited text, the first one included: Arrow columns of text and the line of each record."""

    columns: tuple[Any, ...]
    rows: NDArray[np.int64]


def table(content: bytes, file: str, faults: list[Fault]) -> RawTable | None:
    """The table that the bytes of a file hold; None, and a fault, when they hold none."""
    if file.lower().endswith(".parquet"):
        return _parquet(content, file, faults)
    found = lines(content, file, faults)
    return _with_header(found, file, faults) if found is not None else None


def lines(content: bytes, file: str, faults: list[Fault]) -> Lines | None:
    """The records of a csv or tsv text, all cells as text without blanks around them."""
    text = _text(content, file, faults)
    if text is None:
        return None
    delimiter = "\t" if file.lower().endswith(".tsv") else ","
    leading = len(text) - len(text.lstrip("\n"))
    above = text[:leading].count("\n")
    text = text[leading:]
    try:
        first = next(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error:
        faults.append(Fault(f"{file} cannot be read as a table.", f"{file}, first row", "Mend the first row."))
        return None
    if len(first) == 1 and ";" in first[0]:
        what = f"{file} has one column, whose name holds semicolons: {first[0][:60]}."
        faults.append(Fault(what, f"{file}, first row", "Save the table with commas between the columns."))
        return None
    return _records(text, file, delimiter, len(first), above, faults)


def _text(content: bytes, file: str, faults: list[Fault]) -> str | None:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        what = f"{file} is not UTF-8 text: byte 0x{content[error.start]:02x} cannot be read."
        faults.append(Fault(what, f"{file}, row {row}", "Save the table as UTF-8 text."))
        return None
    if "\0" in text:
        row = text[: text.index("\0")].count("\n") + 1
        faults.append(Fault(f"{file} is not a text.", f"{file}, row {row}", "Save the table as UTF-8 text."))
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
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
    repeated = sorted({name for name in names if name and names.count(name) > 1})
    for name in repeated:
        what = f"{names.count(name)} columns are named {name}."
        faults.append(Fault(what, f"{file}, first row", "Give every column a name of its own."))
    if len(found.rows) < 2:
        faults.append(Fault(f"{file} holds names of columns and no rows.", file, "Put the rows in it."))
    if repeated or len(found.rows) < 2:
        return None
    columns = {name: column[1:] for name, column in zip(names, found.columns, strict=True) if name}
    return RawTable(file, columns, found.rows[1:])


def _parquet(content: bytes, file: str, faults: list[Fault]) -> RawTable | None:
    import pyarrow
    import pyarrow.parquet

    try:
        found = pyarrow.parquet.read_table(pyarrow.BufferReader(content), use_threads=False)
    except (pyarrow.ArrowException, OSError):
        faults.append(Fault(f"{file} is not a parquet file.", file, "Write it again, or give a .csv."))
        return None
    if found.num_rows == 0:
        faults.append(Fault(f"{file} holds names of columns and no rows.", file, "Put the rows in it."))
        return None
    columns = {name: _whole(column) for name, column in zip(found.column_names, found.columns, strict=True)}
    return RawTable(file, columns, np.arange(1, found.num_rows + 1, dtype=np.int64))


def _whole(column: Any) -> Any:
    """A column in one piece, its dictionary spelled out."""
    import pyarrow

    whole = column.combine_chunks()
    if isinstance(whole, pyarrow.ChunkedArray):
        whole = pyarrow.concat_arrays(whole.chunks) if whole.num_chunks else pyarrow.array([], whole.type)
    return whole.dictionary_decode() if pyarrow.types.is_dictionary(whole.type) else whole
