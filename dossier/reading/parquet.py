"""Parquet files -> columns, read one at a time."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from dossier.core import errors, facts
from dossier.core.faults.locations import File
from dossier.reading import cells, signatures

FIRST_BYTES = 64
"""So many tell what kind of file it is."""
MOST_ROWS = 100_000_000
"""More patients than a nation's hospitals have; a footer of a few bytes may declare any number."""
MOST_COLUMN_BYTES = 4 << 30
"""A column of as many numbers takes a fifth of it."""


@dataclass(frozen=True)
class Part:
    """One parquet file: what its footer says of it. The file is opened anew for each column, for a folder may hold
    more files than can be open together."""

    file: str
    source: Path | bytes
    footer: Any
    schema: Any
    """Arrow's schema of the columns."""

    @property
    def rows(self) -> int:
        """How many rows the file holds."""
        return int(self.footer.num_rows)

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return list(self.schema.names)

    @functools.cached_property
    def leaves(self) -> Mapping[str, list[int]]:
        """The places of what the file stores of each column, which may be several parts."""
        found: dict[str, list[int]] = {name: [] for name in self.names}
        for index in range(self.footer.num_columns):
            path = self.footer.schema.column(index).path
            found.setdefault(path if path in found else path.split(".")[0], []).append(index)
        return found


@dataclass(frozen=True, eq=False)
class Columns(Mapping[str, Any]):
    """The columns of files one below the other, each of which is read whenever it is asked for.

    A DataError says that a file turns out to be damaged, or that two files do not fit together.
    """

    file: str
    parts: Sequence[Part]

    def __getitem__(self, name: str) -> Any:
        """The cells of a column."""
        read = [_column(part, name) for part in self.parts]
        if len(read) == 1:
            return cells.whole(read[0].column(name))
        # In plain cells first: of numbers of different kinds Arrow makes those that are near.
        plain = [_plain(each) for each in read]
        if not _fit(plain):
            raise errors.DataError([_other_kinds(name, self.parts, plain, self.file)])
        return cells.whole(_below(plain).column(name))

    def __iter__(self) -> Iterator[str]:
        """The names of the columns, in the order of the first file."""
        return iter(self.parts[0].names)

    def __len__(self) -> int:
        """How many columns there are."""
        return len(self.parts[0].names)


def part(source: Path | bytes, file: str) -> Part:
    """What the footer of a parquet file says; a DataError when it is no such file."""
    signatures.refuse_another_kind(_first_bytes(source), file, ".parquet")
    try:
        with _opened(source) as found:
            opened = Part(file, source, found.metadata, found.schema_arrow)
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError):
        raise _damaged(file) from None
    groups = (opened.footer.row_group(group) for group in range(opened.footer.num_row_groups))
    if opened.rows != sum(max(group.num_rows, 0) for group in groups):
        raise _damaged(file)
    return opened


def refuse_too_many_rows(count: int, file: str) -> None:
    """Refuse footers that declare more rows than can be held."""
    if count > MOST_ROWS:
        raise errors.DataError.one("many_rows", File(file), file=file, number=count, most=MOST_ROWS)


def refuse_unlike(parts: Sequence[Part], folder: str) -> None:
    """Refuse a folder of files that have not all the same columns of the same kinds."""
    model = parts[0]
    known = frozenset(model.names)
    for part in parts:
        held = frozenset(part.names)
        lacking = [name for name in model.names if name not in held]
        added = [name for name in part.names if name not in known]
        pairs = (
            *((name, part.file, model.file) for name in lacking),
            *((name, model.file, part.file) for name in added),
        )
        if pairs:
            at = File(folder)
            raise errors.DataError(
                [errors.Fault("column_of_some_files", at, file=here, column=name, other=to) for name, here, to in pairs]
            )
    # Two columns of one name are a fault of their own.
    twice = {name for part in parts for name, count in Counter(part.names).items() if count > 1}
    single = [name for name in model.names if name not in twice]
    errors.DataError.raise_for([fault for name in single for fault in _kinds_in_footers(name, parts, folder)])


def _kinds_in_footers(name: str, parts: Sequence[Part], folder: str) -> list[errors.Fault]:
    """The fault of a column whose kinds, before any row is read, do not fit together."""
    if len({part.schema.field(name).type for part in parts}) == 1:
        return []
    empty = [_plain(pyarrow.schema([part.schema.field(name)]).empty_table()) for part in parts]
    return [] if _fit(empty) else [_other_kinds(name, parts, empty, folder)]


def _column(part: Part, name: str) -> Any:
    """One column of a file as a table, whose cells are what they are said to be, and as many."""
    # A column may declare any size; what it declares is asked before room is made for it.
    groups = [part.footer.row_group(k) for k in range(part.footer.num_row_groups)]
    size = sum(abs(group.column(k).total_uncompressed_size) for group in groups for k in part.leaves[name])
    if size > MOST_COLUMN_BYTES:
        at, most = File(part.file), MOST_COLUMN_BYTES
        raise errors.DataError([errors.Fault("large_column", at, column=name, bytes=size, file=part.file, most=most)])
    try:
        with _opened(part.source, part.footer) as found:
            read = found.read(columns=[name], use_threads=False).select([name])
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError) as error:
        raise _damaged(part.file) from error
    if read.num_rows != part.rows:
        raise _damaged(part.file)
    cells.refuse_invalid(read.column_names[0], read.column(0), part.file)
    return read


def _opened(source: Path | bytes, footer: Any = None) -> Any:
    content = pyarrow.BufferReader(source) if isinstance(source, bytes) else pyarrow.OSFile(str(source))
    return pyarrow.parquet.ParquetFile(content, metadata=footer)


def _first_bytes(source: Path | bytes) -> bytes:
    if isinstance(source, bytes):
        return source[:FIRST_BYTES]
    with source.open("rb") as file:
        return file.read(FIRST_BYTES)


def _damaged(file: str) -> errors.DataError:
    return errors.DataError.one("not_a_parquet_file", File(file), file=file)


def _plain(table: Any) -> Any:
    """A table of one column, its cells plain."""
    return pyarrow.table({name: cells.whole(table.column(name)) for name in table.column_names})


def _below(tables: Sequence[Any]) -> Any:
    """Tables one below the other, where their columns fit together."""
    return pyarrow.concat_tables(tables, promote_options="permissive")


def _fit(tables: Sequence[Any]) -> bool:
    try:
        _below(tables)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
        return False
    return True


def _other_kinds(name: str, parts: Sequence[Part], read: Sequence[Any], folder: str) -> errors.Fault:
    """The fault of a column that is held in kinds that do not fit together, with a file of either kind."""
    held = facts.gathered((table.schema.field(name).type, index) for index, table in enumerate(read))
    pairs = list(combinations(held, 2))
    apart = (pair for pair in pairs if not _fit([read[position] for kind in pair for position in held[kind]]))
    first, other = next(apart, pairs[0])
    here, there = (parts[held[kind][0]].file for kind in (other, first))
    return errors.Fault(
        "column_of_other_kinds",
        File(folder),
        file=here,
        column=name,
        kind=str(other),
        other_file=there,
        other_kind=str(first),
    )
