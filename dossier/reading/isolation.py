"""Files are read in a process of their own: one that ends its reader, hangs it or fills the memory is a fault.

The readers of tables are libraries in C and C++, which damaged files bring down. What the process gives, columns as
Arrow streams and all else as JSON, is checked again before it is used.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

from dossier.core import facts, limited
from dossier.core.errors import DataError, Fault
from dossier.core.faults.locations import RELEASE, File
from dossier.reading import cells, dialects, signatures, statistical, tables
from dossier.reading import toml as toml_file

LEAST_MEMORY = 4 << 30
SHARE_OF_MEMORY = 0.75
"""What is left is for the process that asks; machines with little memory have a disk for the rest."""
SECONDS = 60
"""What any file may take of a processor: a hundred million cells, which few bytes may stand for, take half of it."""
SECONDS_A_MEGABYTE = 10
"""Workbooks, the slowest of all, take one for a packed megabyte."""
OF_TOML = (5, 1 << 30)
"""A release of a thousand datasets takes a tenth of a second; keys within keys would fill any memory."""
DAYS: Mapping[str, Any] = {"datetime": datetime.datetime, "date": datetime.date, "time": datetime.time}
LOADS = (__name__, "pyarrow.parquet", "numpy.ma", "dateutil.relativedelta")
"""What the process loads before the first table; Arrow would load the last two late, and so in every copy anew."""
PACKAGES = {".xlsx": "openpyxl"} | dict.fromkeys(statistical.READERS, "pyreadstat")
"""What it loads before a table of this kind."""

Said = dict[str, Any]
"""What JSON can hold of an answer."""


def table(
    source: tables.Given, file: str, faults: list[Fault], dialect: dialects.Dialect | None = None, head: bool = True
) -> tables.RawTable:
    """The table that the bytes of a file hold, or parquet files one below the other: see `tables.table`."""
    content, paths = (source, None) if isinstance(source, bytes) else (b"", source)
    # The process stands in another folder.
    named = None if paths is None else {name: str(path.absolute()) for name, path in paths.items()}
    size = len(content) + sum(path.stat().st_size for path in (paths or {}).values())
    (said, rows), *answers = asked(read_table, file, size, (named, file, dialect, head), content)
    found = [Fault.of_json(row) for each, _ in ((said, rows), *answers) for row in each["faults"]]
    if "columns" not in said or len(found) > len(said["faults"]):
        raise DataError(found)
    faults += found
    names, columns = said["columns"], [column for _, column in answers]
    return tables.RawTable(
        file,
        dict(zip(names, columns, strict=False)),
        np.asarray(np.from_dlpack(rows), dtype=np.int64),
        dict(zip(said["codes"], columns[len(names) :], strict=True)),
        tuple(map(facts.Fact.of_json, said["notes"])),
        tuple((name, count) for name, count in said["files"]),
    )


def read_table(
    content: bytes, paths: Mapping[str, str] | None, file: str, dialect: dialects.Dialect | None, head: bool
) -> Iterator[tuple[Said, Any]]:
    """The table of `table`, its rows' numbers first, column by column; called in the process that reads files."""
    faults: list[Fault] = []
    source: tables.Given = content if paths is None else {name: Path(path) for name, path in paths.items()}
    try:
        raw = tables.table(source, file, faults, dialect, head)
        said: Said = {"faults": _plain(faults)}
        said |= {"columns": list(raw.columns), "codes": list(raw.codes), "files": raw.files}
        yield said | {"notes": [note.as_json for note in raw.notes]}, stream(pyarrow.array(raw.rows))
        for column in chain(raw.columns.values(), raw.codes.values()):
            yield {"faults": []}, stream(cells.spelled(column))
    except DataError as error:
        yield {"faults": _plain([*faults, *error.faults])}, b""


def toml(content: bytes) -> dict[str, Any]:
    """The tables and keys that the bytes of release.toml hold; a DataError says why they hold none."""
    try:
        ((said, _),) = asked(read_toml, RELEASE, len(content), (), content, OF_TOML)
    except DataError as error:
        if error.faults[0].code in ("reading_too_long", "reading_too_large"):
            raise DataError.one("tables_without_end", File(RELEASE)) from None
        raise
    if said["faults"]:
        raise DataError(list(map(Fault.of_json, said["faults"])))
    found: dict[str, Any] = _of_json(said["values"])
    return found


def read_toml(content: bytes) -> Iterator[tuple[Said, Any]]:
    """The values of release.toml, lists and days as lists of JSON that begin with what they are."""
    found = toml_file.values(content)
    wrong = [found] if isinstance(found, Fault) else []
    yield {"faults": _plain(wrong), "values": None if wrong else _as_json(found)}, b""


def _as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return ["list", *map(_as_json, value)]
    if isinstance(value, (datetime.date, datetime.time)):
        return [type(value).__name__, value.isoformat()]
    return value


def _of_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _of_json(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    kind, *items = value
    return tuple(map(_of_json, items)) if kind == "list" else DAYS[kind].fromisoformat(items[0])


def _plain(faults: Sequence[Fault]) -> list[dict[str, object]]:
    return [fault.as_json for fault in faults]


# ---- asking ---------------------------------------------------------------------------------------------------------


def memory() -> int:
    """The bytes of memory that reading a table may take."""
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(LEAST_MEMORY, int(SHARE_OF_MEMORY * there))


def start() -> None:
    """Let the process load its libraries while we do something else."""
    limited.running(LOADS)


def asked(
    function: Callable[..., Iterator[tuple[Said, Any]]],
    file: str,
    size: int,
    arguments: tuple[Any, ...],
    content: bytes = b"",
    limits: tuple[int, int] | None = None,
) -> list[tuple[Said, Any]]:
    """All that a function of this module answers, with columns of plain cells, each valid.

    A DataError says that a file of `size` bytes is at fault, which may take as many seconds of a processor and bytes of
    memory as `limits` say; without them what a table of its size may.
    """
    seconds, most = limits or (SECONDS + SECONDS_A_MEGABYTE * (size >> 20), memory())
    loads = (*LOADS, *(name for ending, name in PACKAGES.items() if ending == signatures.kind(file)))
    try:
        answers = limited.asked(
            f"{function.__module__}:{function.__name__}", arguments, content, seconds=seconds, memory=most, loads=loads
        )
        return [(said, valid(body)) for said, body in answers]
    except limited.EndedError as error:
        if error.ours:
            raise RuntimeError(f"in the process that reads {file}:\n{error.ours}") from None
        if error.by in ("", "SIGXCPU"):
            fault = Fault("reading_too_long", File(file), file=file, seconds=facts.Count(seconds, "second"))
        elif error.by in ("MemoryError", "SIGKILL"):
            fault = Fault("reading_too_large", File(file), file=file, gigabytes=most / (1 << 30))
        else:
            fault = _unreadable(file, error.by)
    except (pyarrow.ArrowException, OSError) as error:
        fault = _unreadable(file, type(error).__name__)
    raise DataError([fault]) from None


def _unreadable(file: str, ended: str) -> Fault:
    return Fault("unreadable_file", File(file), file=file, ended=ended)


def stream(column: Any) -> Any:
    """A column as a stream of Arrow's, in bytes."""
    table = pyarrow.Table.from_arrays([column], names=[""])
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def valid(body: Any) -> Any:
    """The column of a stream, checked in full: what reads hostile files is not taken at its word; None without one."""
    if not body:
        return None
    found = pyarrow.ipc.open_stream(body).read_all()
    found.validate(full=True)
    (column,) = found.columns
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
