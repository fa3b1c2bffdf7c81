"""Parquet files -> columns that are read one at a time, when they are asked for, and only the rows that are wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dossier.errors import DataError, Fault
from dossier.load import cells, signatures

FIRST_BYTES = 64
"""So many tell what kind of file it is."""


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


@dataclass(frozen=True, eq=False)
class Stored(Mapping[str, Any]):
    """The columns of parquet files one below the other; each is read whenever it is asked for, and kept by nobody here.

    A DataError says that a file turns out to be damaged, or that two files do not fit together.
    """

    parts: tuple[Part, ...]
    file: str
    places: NDArray[np.int64] | None = None
    """The rows that are wanted, in ascending order; None for all."""

    def __getitem__(self, name: str) -> Any:
        """The cells of a column."""
        if name not in self.parts[0].names:
            raise KeyError(name)
        starts = accumulate((part.rows for part in self.parts), initial=0)
        read = [_column(part, name, self._inside(start, part)) for part, start in zip(self.parts, starts, strict=False)]
        if len(read) == 1:
            return cells.whole(read[0].column(name))
        # In plain cells first: of numbers of different kinds Arrow makes those that are near.
        plain = [_plain(one) for one in read]
        if not _fit(plain):
            raise DataError([_other_kinds(name, self.parts, plain, self.file)])
        return cells.whole(_below(plain).column(name))

    def __iter__(self) -> Iterator[str]:
        """The names of the columns, in the order of the first file."""
        return iter(self.parts[0].names)

    def __len__(self) -> int:
        """How many columns there are."""
        return len(self.parts[0].names)

    @property
    def files(self) -> tuple[tuple[str, int], ...]:
        """The files with how many of the wanted rows each holds."""
        starts = accumulate((part.rows for part in self.parts), initial=0)
        inside = ((part, self._inside(start, part)) for part, start in zip(self.parts, starts, strict=False))
        return tuple((part.file, part.rows if places is None else len(places)) for part, places in inside)

    def only(self, rows: NDArray[np.int64]) -> Stored:
        """The columns in some of the wanted rows, by their ascending places among these."""
        return replace(self, places=rows if self.places is None else self.places[rows])

    def _inside(self, start: int, part: Part) -> NDArray[np.int64] | None:
        """The wanted rows of a part, counted from its own first."""
        if self.places is None:
            return None
        return _between(self.places, start, start + part.rows)


def part(source: Path | bytes, file: str, faults: list[Fault]) -> Part | None:
    """What the footer of a parquet file says; None, and a fault, when it is no such file."""
    import pyarrow

    another = signatures.another_kind(_first_bytes(source), file, ".parquet")
    if another is not None:
        faults.append(another)
        return None
    try:
        with _opened(source) as found:
            return Part(file, source, found.metadata, found.schema_arrow)
    except (pyarrow.ArrowException, OSError):
        faults.append(_damaged(file))
        return None


def alike(parts: Sequence[Part], folder: str, faults: list[Fault]) -> bool:
    """Whether every file of a folder has the same columns of the same kinds; faults where not."""
    model = parts[0]
    for one in parts:
        lacking = [name for name in model.names if name not in one.names]
        added = [name for name in one.names if name not in model.names]
        pairs = (
            *((name, one.file, model.file) for name in lacking),
            *((name, model.file, one.file) for name in added),
        )
        for name, here, there in pairs:
            what = f"{here} has no column {name}, which {there} has."
            faults.append(Fault(what, folder, "Give every file of the folder the same columns."))
        if pairs:
            return False
    # Two columns of one name are a fault of their own.
    twice = {name for one in parts for name, count in Counter(one.names).items() if count > 1}
    single = [name for name in model.names if name not in twice]
    found = [fault for name in single for fault in _kinds_in_footers(name, parts, folder)]
    faults += found
    return not found


def _kinds_in_footers(name: str, parts: Sequence[Part], folder: str) -> list[Fault]:
    """The fault of a column whose kinds, before any row is read, do not fit together."""
    import pyarrow

    if len({one.schema.field(name).type for one in parts}) == 1:
        return []
    empty = [_plain(pyarrow.schema([one.schema.field(name)]).empty_table()) for one in parts]
    return [] if _fit(empty) else [_other_kinds(name, parts, empty, folder)]


def _column(part: Part, name: str, places: NDArray[np.int64] | None) -> Any:
    """One column of a file as a table; of certain rows only, one row group after the other."""
    import pyarrow

    try:
        with _opened(part.source, part.footer) as found:
            if places is None:
                return found.read(columns=[name], use_threads=False).select([name])
            read = [part.schema.empty_table().select([name])]
            start = 0
            for group in range(part.footer.num_row_groups):
                stop = start + part.footer.row_group(group).num_rows
                wanted = _between(places, start, stop)
                if len(wanted):
                    rows = found.read_row_group(group, columns=[name], use_threads=False).select([name])
                    read.append(rows.take(pyarrow.array(wanted)))
                start = stop
            return pyarrow.concat_tables(read)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError([_damaged(part.file)]) from error


def _between(places: NDArray[np.int64], start: int, stop: int) -> NDArray[np.int64]:
    """Those of ascending places that lie from `start` to before `stop`, counted from `start`."""
    first, last = np.searchsorted(places, (start, stop))
    return places[first:last] - start


def _opened(source: Path | bytes, footer: Any = None) -> Any:
    import pyarrow
    import pyarrow.parquet

    content = pyarrow.BufferReader(source) if isinstance(source, bytes) else pyarrow.OSFile(str(source))
    return pyarrow.parquet.ParquetFile(content, metadata=footer)


def _first_bytes(source: Path | bytes) -> bytes:
    if isinstance(source, bytes):
        return source[:FIRST_BYTES]
    with source.open("rb") as file:
        return file.read(FIRST_BYTES)


def _damaged(file: str) -> Fault:
    return Fault(f"{file} is not a parquet file.", file, "Write it again, or give a .csv.")


def _plain(table: Any) -> Any:
    """A table of one column, its cells plain."""
    import pyarrow

    return pyarrow.table({name: cells.whole(table.column(name)) for name in table.column_names})


def _below(tables: Sequence[Any]) -> Any:
    """Tables one below the other, where their columns fit together."""
    import pyarrow

    return pyarrow.concat_tables(tables, promote_options="permissive")


def _fit(tables: Sequence[Any]) -> bool:
    import pyarrow

    try:
        _below(tables)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
        return False
    return True


def _other_kinds(name: str, parts: Sequence[Part], read: Sequence[Any], folder: str) -> Fault:
    """The fault of a column that is held in kinds that do not fit together, with a file of either kind."""
    held: dict[Any, list[int]] = {}
    for place, table in enumerate(read):
        held.setdefault(table.schema.field(name).type, []).append(place)
    pairs = list(combinations(held, 2))
    apart = (pair for pair in pairs if not _fit([read[place] for kind in pair for place in held[kind]]))
    first, other = next(apart, pairs[0])
    here, there = (parts[held[kind][0]].file for kind in (other, first))
    what = f"{here} holds {name} as {other}, and {there} as {first}."
    return Fault(what, folder, "Write the column alike in every file of the folder.")
