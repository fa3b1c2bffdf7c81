"""The process that reads tables: what is wrong with a file can end it, and nothing else.

`isolation.py` starts it, and talks to it over a socket. It loads the libraries that read tables once, and copies itself
(fork) for every table, so that no table meets what another left in memory, and each has limits of its own. What comes
back is JSON and an Arrow stream, which cannot run code in the process that reads them.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import importlib
import importlib.abc
import json
import math
import os
import pickle
import resource
import select
import signal
import socket
import struct
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dossier.core.errors import DataError, Fault
from dossier.reading import cells, parquet, tables
from dossier.reading.dialects import Dialect

LOADED = ("pyarrow.compute", "pyarrow.csv", "pyarrow.feather", "pyarrow.parquet")
"""What is loaded before the first table."""
PACKAGE = str(Path(__file__).resolve().parent.parent)
PIECE = 1 << 20
READY, DONE = b"ready", b"done"
SECONDS_BETWEEN_LOOKS = 0.5
LENGTHS = struct.Struct("<QQ")

Answer = tuple[dict[str, Any], Any]
"""What JSON can say, and a table of Arrow's, or None."""


# ---- the socket -----------------------------------------------------------------------------------------------------


def send(channel: socket.socket, head: bytes, body: Any = b"") -> None:
    """Send a message of two parts."""
    body = memoryview(body)
    channel.sendall(LENGTHS.pack(len(head), body.nbytes))
    channel.sendall(head)
    channel.sendall(body)


def receive(channel: socket.socket) -> tuple[bytes, bytes]:
    """The next message; EOFError when the other side is gone."""
    head, body = LENGTHS.unpack(_exactly(channel, LENGTHS.size))
    return _exactly(channel, head), _exactly(channel, body)


def _exactly(channel: socket.socket, size: int) -> bytes:
    pieces = []
    while size:
        piece = channel.recv(min(size, PIECE))
        if not piece:
            raise EOFError
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


# ---- the process, and its copies ------------------------------------------------------------------------------------


def main(channel: socket.socket, parent: int) -> NoReturn:
    """Copy this process for every table that is announced, until the one that asks is gone.

    An announcement names a package that the table needs. When a copy ends before its time, so does this process, with
    128 and the number of the signal, as a shell would.
    """
    sys.meta_path.insert(0, WithoutPandas())
    for name in LOADED:
        importlib.import_module(name)
    # From here on only what libraries say of damaged files would be written, and the faults say it better.
    warnings.simplefilter("ignore")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, sys.stderr.fileno())
    send(channel, READY)
    while True:
        try:
            package, _ = receive(channel)
        except (EOFError, OSError):
            os._exit(0)
        _load(package.decode())
        status = _copied(channel, parent)
        if status:
            os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else 1)


class WithoutPandas(importlib.abc.MetaPathFinder):
    """No pandas: where it is installed Arrow would load it for each table, and nothing here needs it."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Refuse pandas, and leave every other module to others."""
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)


def _load(package: str) -> None:
    """Load a package here, so that not every copy has to; the copy says it where the package is not installed."""
    if package:
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(package)


def _copied(channel: socket.socket, parent: int) -> int:
    """How the copy ended that answers what is asked about one table."""
    alive, held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(alive)
        _answer_everything(channel)
    os.close(held)
    # The pipe closes with the copy. Nobody else could end a copy whose asker was killed.
    while not select.select([alive], [], [], SECONDS_BETWEEN_LOOKS)[0]:
        if os.getppid() != parent:
            os.kill(child, signal.SIGKILL)
    os.close(alive)
    return os.waitpid(child, 0)[1]


def _answer_everything(channel: socket.socket) -> NoReturn:
    """Answer until nothing more is asked about the table."""
    # A copy of memory on the disk would hold patients.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Where memory runs out, Linux ends this process and not the one that asks.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    try:
        while True:
            head, content = receive(channel)
            if head == DONE:
                os._exit(0)
            memory, seconds, call, arguments = pickle.loads(head)
            used = resource.getrusage(resource.RUSAGE_SELF)
            until = math.ceil(used.ru_utime + used.ru_stime) + seconds
            for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, until)):
                hard = resource.getrlimit(kind)[1]
                resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
            _reply(channel, CALLS[call], (content, *arguments))
            del content
    except (EOFError, OSError):
        os._exit(0)
    finally:
        os._exit(1)


def _reply(channel: socket.socket, call: Callable[..., Answer], arguments: tuple[Any, ...]) -> None:
    try:
        head, table = call(*arguments)
        body = b"" if table is None else stream(table)
    except MemoryError:
        head, body = {"out_of_memory": True}, b""
    except DataError as error:
        head, body = {"faults": _plain(error.faults)}, b""
    except Exception as error:  # noqa: BLE001  # what a library raises at a damaged file cannot be foreseen
        head, body = _failure(error), b""
    send(channel, json.dumps(head).encode(), body)


def _failure(error: Exception) -> dict[str, Any]:
    """What a library failed with; an error that our own code raises is ours, and keeps its traceback."""
    innermost = traceback.extract_tb(error.__traceback__)[-1].filename
    if innermost.startswith(PACKAGE):
        return {"traceback": "".join(traceback.format_exception(error))}
    return {"failed": type(error).__name__}


# ---- what can be asked ----------------------------------------------------------------------------------------------


def table(content: bytes, file: str, dialect: Dialect | None) -> Answer:
    """The table that the bytes of a file hold."""
    faults: list[Fault] = []
    raw = tables.table(content, file, faults, dialect)
    if raw is None:
        return {"faults": _plain(faults), "found": False}, None
    head = {"faults": _plain(faults), "found": True, "columns": list(raw.columns), "codes": list(raw.codes)}
    head["notes"] = [note.as_json for note in raw.notes]
    return head, _arrow([*raw.columns.values(), *raw.codes.values()], raw.rows)


def lines(content: bytes, file: str, dialect: Dialect | None) -> Answer:
    """The records of a text, or the rows of a sheet."""
    faults: list[Fault] = []
    found = tables.lines(content, file, faults, dialect)
    if found is None:
        return {"faults": _plain(faults), "found": False}, None
    return {"faults": _plain(faults), "found": True}, _arrow(found.columns, found.rows)


def stored(content: bytes, sources: Sequence[tuple[str, str]], file: str) -> Answer:
    """What the footers of parquet files say: the columns of the table that they are, and the rows of each file."""
    found, faults = _parts(tuple(sources), file)
    head = {"faults": _plain(faults), "found": found is not None}
    if found is None:
        return head, None
    return head | {"columns": found[0].names, "rows": [part.rows for part in found]}, None


def column(
    content: bytes, sources: Sequence[tuple[str, str]], file: str, name: str, places: NDArray[np.int64] | None
) -> Answer:
    """A column of parquet files; of some rows only, where `places` says which."""
    found, faults = _parts(tuple(sources), file)
    if found is None:
        raise DataError(faults)
    return {"faults": []}, _arrow([parquet.column(found, file, name, places)])


def toml(content: bytes) -> Answer:
    """The values of release.toml, lists and days as lists of JSON that begin with what they are."""
    from dossier.reading import toml

    found = toml.values(content)
    if isinstance(found, Fault):
        raise DataError([found])
    return {"values": _as_json(found)}, None


def _as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return ["list", *map(_as_json, value)]
    if isinstance(value, (datetime.date, datetime.time)):
        return [type(value).__name__, value.isoformat()]
    return value


CALLS: Mapping[str, Callable[..., Answer]] = {
    "table": table,
    "lines": lines,
    "stored": stored,
    "column": column,
    "toml": toml,
}


@functools.lru_cache(maxsize=1)
def _parts(sources: tuple[tuple[str, str], ...], file: str) -> tuple[Sequence[parquet.Part] | None, list[Fault]]:
    faults: list[Fault] = []
    return tables.stored({name: Path(path) for name, path in sources}, file, faults), faults


def _plain(faults: Sequence[Fault]) -> list[dict[str, object]]:
    return [fault.as_json for fault in faults]


def _arrow(columns: Sequence[Any], rows: NDArray[np.int64] | None = None) -> Any:
    """Columns as a table of Arrow's, whose names are numbers, with the numbers of the rows as the last."""
    import pyarrow

    arrays = [cells.spelled(found) for found in columns]
    if rows is not None:
        numbers = pyarrow.py_buffer(np.ascontiguousarray(rows, dtype=np.int64))
        arrays.append(pyarrow.Array.from_buffers(pyarrow.int64(), len(rows), [None, numbers]))
    return pyarrow.Table.from_arrays(arrays, names=[str(index) for index in range(len(arrays))])


def stream(table: Any) -> Any:
    """A table as a stream of Arrow's, in bytes."""
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()
