"""The bytes of a file -> the raw cells of its columns, every row with its number in the file."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute
import pyarrow.compute as compute
import pyarrow.csv
import pyarrow.feather
from numpy.typing import NDArray

from dossier.core import errors, facts
from dossier.core.faults.locations import File, Header
from dossier.reading import cells, dialects, parquet, signatures, statistical, workbooks
from dossier.reading.faults import noted

MOST_COLUMNS = 10_000
"""As many predictors as no model has; each is a row of several tables, and is held against those of every site."""
LINES_ABOVE = re.compile(r'(?: *\n)*(?:"?sep=(?P<separator>[,;|\t])"?[,;|\t]*\n)?(?: *\n)*', re.IGNORECASE)
"""What may stand above the first row: blank lines, and the line by which Excel learns the separator."""


Given = bytes | Mapping[str, Path]
"""The bytes of a file, or parquet files by their names."""
Place = tuple[str | None, str | None]
"""The words of a row for its site and for its imputation; None where the table has no such column."""


@dataclass(frozen=True)
class RawTable:
    """A file as it was found: Arrow columns by their names in the file, and the row number that a person sees."""

    file: str
    columns: Mapping[str, Any]
    rows: NDArray[np.int64]
    codes: Mapping[str, Any] = field(default_factory=dict)
    """The codes behind the columns whose values carry labels, where the file has such."""
    notes: tuple[facts.Fact, ...] = ()
    """What was read in a way that its maker may not expect."""
    files: tuple[tuple[str, int], ...] = ()
    """Where it is several files, these and how many rows each holds."""
    others: Mapping[Place, int] = field(default_factory=dict)
    """How many rows of each site and imputation `rows` of its [[dataset]] leaves out."""

    def only(self, keep: NDArray[np.bool_]) -> RawTable:
        """Some of the rows."""
        mask, every = pyarrow.array(keep), (self.columns, self.codes)
        columns, codes = ({name: cells.filter(mask) for name, cells in some.items()} for some in every)
        ends = np.cumsum((0, *(count for _, count in self.files)))
        kept = (int(keep[start:end].sum()) for start, end in pairwise(ends))
        files = tuple((name, count) for (name, _), count in zip(self.files, kept, strict=True))
        return replace(self, columns=columns, rows=self.rows[keep], codes=codes, files=files)

    def filled(self) -> RawTable:
        """The rows in which any column holds something."""
        filled = filled_rows(self.columns.values())
        return self if filled is None else self.only(filled)


@dataclass(frozen=True)
class Written:
    """A delimited text from the first line on that may be a row, its separator, and how many lines stand above."""

    text: str
    delimiter: str
    above: int
    notes: tuple[facts.Fact, ...] = ()


def table(
    source: Given, file: str, faults: list[errors.Fault], dialect: dialects.Dialect | None = None, head: bool = True
) -> RawTable:
    """The table that the bytes of a file hold, or parquet files one below the other; a DataError where they hold none.

    What is wrong with some of its cells is added to the faults. Without a `head` the first row of a text or a workbook
    is one of cells, and its columns are numbered; blank lines are none, and a record of separators only may be a case
    without labels.
    """
    dialect, ending = dialect or dialects.Dialect(), signatures.kind(file) or ".csv"
    if not isinstance(source, bytes) or ending == ".parquet":
        return _parquet({file: source} if isinstance(source, bytes) else source, file)
    if ending in signatures.TEXTS:
        written = _written(source, file, dialect, may_guess=head)
        raw = _records(written, file, dialect, faults)
        if not head:
            return _without_blank_lines(raw, written)
        raw = raw.filled()
        names = [str(column[0]) for column in raw.columns.values()]
        refuse_badly_named(names, len(raw.rows) - 1, file)
        below = {name: column[1:] for name, column in zip(names, raw.columns.values(), strict=True) if name}
        return replace(raw, columns=below, rows=raw.rows[1:])
    signatures.refuse_another_kind(source, file, ending)
    if ending == ".xlsx":
        # The rows of a sheet that hold something; without a head all of them, and their cells as one types them.
        found = workbooks.sheet(source, file, dialect.sheet, dialect.where)
        rows = np.array(found.rows, dtype=np.int64)
        if not head:
            columns = zip(*found.cells, strict=True)
            spelled = (["" if cell is None else cells.text(cell) for cell in column] for column in columns)
            arrays = (pyarrow.array(texts, pyarrow.string()) for texts in spelled)
            return RawTable(file, {f"{k}": array for k, array in enumerate(arrays)}, rows)
        names = ["" if name is None else cells.text(name) for name in found.cells[0]]
        refuse_badly_named(names, len(rows) - 1, file)
        named = {name: cells.arrow([row[index] for row in found.cells[1:]]) for index, name in enumerate(names) if name}
        notes = (facts.Fact("hidden_rows", rows=facts.Count(found.hidden, "row"), file=file),) if found.hidden else ()
        return RawTable(file, named, rows[1:], notes=notes)
    if ending not in statistical.READERS:
        return _feather(source, file)
    held = statistical.variables(source, file, ending)
    count = len(next(iter(held.cells.values()), ()))
    refuse_badly_named(list(held.cells), count, file)
    named = {name: cells.arrow(values) for name, values in {**held.cells, **held.labelled}.items()}
    codes = {name: cells.arrow(held.cells[name]) for name in held.labelled}
    return RawTable(file, named, np.arange(1, count + 1, dtype=np.int64), codes).filled()


def _written(content: bytes, file: str, dialect: dialects.Dialect, may_guess: bool = False) -> Written:
    # The bytes of a text, which may be packed.
    ending = signatures.kind(file) or ".csv"
    whole = signatures.gunzipped(content, file) if ending in signatures.PACKED else content
    signatures.refuse_another_kind(whole, file, ending.removesuffix(".gz"))
    guessed = dialects.guessed(whole) if may_guess and dialect.encoding is None else None
    text = dialects.decoded(whole, file, replace(dialect, encoding=dialect.encoding or guessed))
    if not text.strip():
        raise errors.DataError.one("empty_file", File(file), file=file)
    notes = () if guessed is None else (facts.Fact("read_as_western", file=file),)
    start = LINES_ABOVE.match(text)
    if start is None:
        raise TypeError("an empty text begins so too")
    above, text = start[0].count("\n"), text[start.end() :]
    dialects.refuse_unread_separator(text, file)
    if dialect.separator is None and start["separator"] is not None:
        return Written(text, start["separator"], above, notes)
    return Written(text, dialects.separator(text, file, dialect), above, notes)


def _records(written: Written, file: str, dialect: dialects.Dialect, faults: list[errors.Fault]) -> RawTable:
    """Every record, blank lines too, all cells as text without blanks around them, decimals with points."""
    delimiter, above = written.delimiter, written.above
    dialects.refuse_lost_between_quotation_marks(written.text, delimiter, file, above)
    try:
        width = len(next(csv.reader(dialects.by_lines(written.text), delimiter=delimiter), ()))
    except csv.Error:
        raise errors.DataError.one("long_name_of_column", Header(file), most=csv.field_size_limit()) from None
    refuse_too_many_columns(width, file)
    blank: list[int] = []
    unequal: list[dialects.Uneven] = []

    def skip(row: Any) -> str:
        if row.text.strip():
            unequal.append(dialects.Uneven(row.number + above, row.actual_columns, row.text, delimiter))
        else:
            blank.append(row.number - 1)
        return "skip"

    names = [f"c{k}" for k in range(width)]
    content = written.text.encode()
    if len(content) > signatures.MOST_BYTES:
        raise errors.DataError.one("large_text", File(file), file=file, most=signatures.MOST_BYTES)
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
        raise errors.DataError.one("unreadable_table", File(file), file=file) from None
    if unequal:
        raise errors.DataError(dialects.of_other_width(unequal, found.num_rows - 1, width, file))
    rows = np.delete(np.arange(found.num_rows + len(blank), dtype=np.int64), blank) + 1 + above
    columns = tuple(pyarrow.compute.utf8_trim_whitespace(column.combine_chunks()) for column in found.columns)
    faults += dialects.points(columns, rows, file, dialect)
    pointed = dialects.with_points(columns, delimiter, dialect)
    return RawTable(file, {f"{k}": column for k, column in enumerate(pointed)}, rows, notes=written.notes)


def _without_blank_lines(raw: RawTable, written: Written) -> RawTable:
    if "\n\n" not in written.text:
        return raw
    records = csv.reader(dialects.by_lines(written.text), delimiter=written.delimiter)
    blank = [number for number, record in enumerate(records, start=written.above + 1) if not record]
    return raw.only(~np.isin(raw.rows, blank))


def filled_rows(columns: Iterable[Any]) -> NDArray[np.bool_] | None:
    """The rows in which any column holds something; None where these are all."""
    empty = None
    for column in columns:
        gaps = compute.is_null(column, nan_is_null=True)
        if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type):
            gaps = compute.or_(gaps, compute.equal(compute.binary_length(column).fill_null(0), 0))
        empty = gaps if empty is None else compute.and_(empty, gaps)
        if not compute.any(empty).as_py():
            return None
    return None if empty is None else ~np.asarray(empty.to_numpy(zero_copy_only=False), dtype=bool)


def refuse_too_many_columns(number: int, file: str) -> None:
    """Refuse a table of more columns than can be looked at."""
    if number > MOST_COLUMNS:
        raise errors.DataError.one("many_columns", Header(file), file=file, number=number, most=MOST_COLUMNS)


def refuse_badly_named(names: Sequence[str], count: int, file: str) -> None:
    """Refuse a table in which a column has no name of its own, one without rows, and one of too many columns."""
    refuse_too_many_columns(len(names), file)
    counts = Counter(name for name in names if name)
    repeated = sorted(name for name, count in counts.items() if count > 1)
    faults = [errors.Fault("columns_of_one_name", Header(file), number=counts[name], name=name) for name in repeated]
    if count < 1:
        faults.append(errors.Fault("no_rows", File(file), file=file))
    if len(names) > 2 and sum(counts.values()) == 1:
        faults.append(errors.Fault("title_above_table", Header(file), columns=len(names), name=next(iter(counts))))
    errors.DataError.raise_for(faults)


# ---- workbooks and statistics packages ------------------------------------------------------------------------------


# ---- parquet and feather ---------------------------------------------------------------------------------------------


def _feather(content: bytes, file: str) -> RawTable:
    try:
        found = pyarrow.feather.read_table(pyarrow.BufferReader(content), use_threads=False)
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError):
        raise errors.DataError.one("not_a_feather_file", File(file), file=file) from None
    refuse_badly_named(found.column_names, found.num_rows, file)
    for name, column in zip(found.column_names, found.columns, strict=True):
        cells.refuse_invalid(name, column, file)
    columns = {name: cells.whole(column) for name, column in zip(found.column_names, found.columns, strict=True)}
    return RawTable(file, columns, np.arange(1, found.num_rows + 1, dtype=np.int64)).filled()


def _parquet(sources: Mapping[str, Path | bytes], file: str) -> RawTable:
    """Parquet files one below the other, whose columns are read when they are asked for; `file` names the whole."""
    faults: list[errors.Fault] = []
    opened = [noted(faults, parquet.part, source, name) for name, source in sources.items()]
    parts = tuple(part for part in opened if part is not None)
    errors.DataError.raise_for(faults)
    names, count = parts[0].names, sum(part.rows for part in parts)
    refuse_too_many_columns(len(names), file)
    parquet.refuse_too_many_rows(count, file)
    parquet.refuse_unlike(parts, file)
    refuse_badly_named(names, count, file)
    files = tuple((part.file, part.rows) for part in parts)
    return RawTable(file, parquet.Columns(file, parts), np.arange(1, count + 1, dtype=np.int64), files=files)
