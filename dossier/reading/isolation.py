"""Tables are read in a process of their own: a file that ends its reader, hangs it or fills the memory is a fault.

The readers of tables are libraries in C and C++, which damaged files bring down. `isolated.py` is that process; here it
is started, asked and limited, and what it gives is checked again before it is used.
"""

from __future__ import annotations

import atexit
import contextlib
import datetime
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dossier.core.errors import DataError, Fault
from dossier.core.facts import Count, Fact
from dossier.core.faults.locations import RELEASE, File
from dossier.reading import signatures, statistical
from dossier.reading.tables import Lines, RawTable

if TYPE_CHECKING:
    from dossier.reading.dialects import Dialect

LEAST_MEMORY = 4 << 30
SHARE_OF_MEMORY = 0.75
"""What is left is for the process that asks; machines with little memory have a disk for the rest."""
SECONDS = 60
"""What any file may take of a processor: a hundred million cells, which few bytes may stand for, take half of it."""
SECONDS_A_MEGABYTE = 10
"""Workbooks, the slowest of all, take one for a packed megabyte."""
WAITING = 20
"""So many times the time of the processor may pass on the clock: disks and other processes take their share."""
OF_TOML = (5, 1 << 30)
"""A release of a thousand datasets takes a tenth of a second; keys within keys would fill any memory."""
DAYS: Mapping[str, Any] = {"datetime": datetime.datetime, "date": datetime.date, "time": datetime.time}
PACKAGES = {".xlsx": "openpyxl"} | dict.fromkeys(statistical.READERS, "pyreadstat")
"""What is loaded before a table of this kind is read, so that not every copy of the process has to."""
START = """
import socket, sys
sys.path[:] = sys.argv[3:]
from dossier.reading import isolated
isolated.main(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
"""


@dataclass(frozen=True, eq=False)
class Stored(Mapping[str, Any]):
    """The columns of parquet files one below the other; each is read whenever it is asked for, and kept by nobody here.

    A DataError says that a file turns out to be damaged, or that two files do not fit together.
    """

    file: str
    """The name of the whole."""
    sources: tuple[tuple[str, str], ...]
    """The name and the path of each file."""
    rows: tuple[int, ...]
    """The number of rows of each file."""
    names: Mapping[str, None]
    """The names of the columns, in the order of the first file."""
    size: int
    """The bytes of all files."""
    places: NDArray[np.int64] | None = None
    """The rows that are wanted, in ascending order; None for all."""

    def __getitem__(self, name: str) -> Any:
        """The cells of a column."""
        if name not in self.names:
            raise KeyError(name)
        arguments = (self.sources, self.file, name, self.places)
        _, columns = asked(Question("column", self.file, self.size, arguments, about=self.sources))
        return columns[0]

    @property
    def files(self) -> tuple[tuple[str, int], ...]:
        """The files with how many of the wanted rows each holds."""
        ends = np.cumsum((0, *self.rows))
        wanted = ends if self.places is None else np.searchsorted(self.places, ends)
        return tuple((name, int(count)) for (name, _), count in zip(self.sources, np.diff(wanted), strict=True))

    def only(self, rows: NDArray[np.int64]) -> Stored:
        """The columns in some of the wanted rows, by their ascending places among these."""
        return replace(self, places=rows if self.places is None else self.places[rows])

    def __iter__(self) -> Iterator[str]:
        """The names of the columns, in the order of the first file."""
        return iter(self.names)

    def __len__(self) -> int:
        """How many columns there are."""
        return len(self.names)


def table(content: bytes, file: str, faults: list[Fault], dialect: Dialect | None = None) -> RawTable | None:
    """The table that the bytes of a file hold; None, and a fault, when they hold none."""
    found = _of_content("table", content, file, faults, dialect)
    if found is None:
        return None
    head, columns = found
    named, coded = head["columns"], head["codes"]
    return RawTable(
        file,
        dict(zip(named, columns, strict=False)),
        _numbers_of_rows(columns),
        dict(zip(coded, columns[len(named) :], strict=False)),
        tuple(map(Fact.of_json, head["notes"])),
    )


def lines(content: bytes, file: str, faults: list[Fault], dialect: Dialect | None = None) -> Lines | None:
    """The records of a csv or tsv text that are no blank lines, or the rows of a sheet that hold something.

    A record of separators only may be a case without labels.
    """
    found = _of_content("lines", content, file, faults, dialect)
    return None if found is None else Lines(tuple(found[1][:-1]), _numbers_of_rows(found[1]))


def stored(sources: Mapping[str, Path], file: str, faults: list[Fault]) -> RawTable | None:
    """A parquet file, or those of a folder one below the other, as one table whose columns are read when asked for.

    `sources` are the files by name, `file` is the name of the whole; rows are counted through all of them. None, and
    faults, when a file is no parquet file, or the files have different columns.
    """
    # The process stands in another folder.
    paths = tuple((name, str(path.absolute())) for name, path in sources.items())
    size = sum(path.stat().st_size for path in sources.values())
    try:
        head, _ = asked(Question("stored", file, size, (paths, file), about=paths))
    except DataError as error:
        faults += error.faults
        return None
    faults += _faults(head)
    if not head["found"]:
        return None
    columns = Stored(file, paths, tuple(head["rows"]), dict.fromkeys(head["columns"]), size)
    return RawTable(file, columns, np.arange(1, sum(head["rows"]) + 1, dtype=np.int64))


def toml(content: bytes, faults: list[Fault]) -> dict[str, Any] | None:
    """The tables and keys that the bytes of release.toml hold; None, and a fault, when they hold none."""
    try:
        head, _ = asked(Question("toml", RELEASE, len(content), (), content, limits=OF_TOML))
    except DataError as error:
        beyond = {"reading_too_long", "reading_too_large"}
        faults += [
            Fault("tables_without_end", File(RELEASE)) if fault.code in beyond else fault for fault in error.faults
        ]
        return None
    found: dict[str, Any] = _of_json(head["values"])
    return found


def _of_json(value: Any) -> Any:
    """A value of TOML from what JSON can hold of it: see `isolated.toml`."""
    if isinstance(value, dict):
        return {key: _of_json(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    kind, *items = value
    return tuple(map(_of_json, items)) if kind == "list" else DAYS[kind].fromisoformat(items[0])


def _of_content(
    call: str, content: bytes, file: str, faults: list[Fault], dialect: Dialect | None
) -> tuple[dict[str, Any], list[Any]] | None:
    question = Question(call, file, len(content), (file, dialect), content)
    try:
        head, columns = asked(question)
    except DataError as error:
        faults += error.faults
        return None
    faults += _faults(head)
    return (head, columns) if head["found"] else None


def _numbers_of_rows(columns: Sequence[Any]) -> NDArray[np.int64]:
    return np.asarray(np.from_dlpack(columns[-1]), dtype=np.int64)


def _faults(head: Mapping[str, Any]) -> list[Fault]:
    return [Fault.of_json(row) for row in head["faults"]]


# ---- asking ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """What the process is asked about a file."""

    call: str
    file: str
    size: int
    """The bytes of the file."""
    arguments: tuple[Any, ...]
    content: bytes = b""
    about: Any = None
    """What several questions are about that one copy of the process answers; None where it is the only one."""
    limits: tuple[int, int] | None = None
    """How long the processor may work on it, and the bytes of memory; None for what a table of its size may take."""

    @property
    def seconds(self) -> int:
        """How long the processor may work on it."""
        return SECONDS + SECONDS_A_MEGABYTE * (self.size >> 20) if self.limits is None else self.limits[0]

    @property
    def memory(self) -> int:
        """The bytes of memory that it may take."""
        return memory() if self.limits is None else self.limits[1]


def memory() -> int:
    """The bytes of memory that reading a table may take."""
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(LEAST_MEMORY, int(SHARE_OF_MEMORY * there))


@contextmanager
def reading() -> Iterator[None]:
    """Start the process, which loads its libraries meanwhile; in the end let go of the table that was read last."""
    with _LOCK:
        running()
    try:
        yield
    finally:
        with _LOCK, contextlib.suppress(OSError):
            if os.getpid() in _SERVERS:
                _SERVERS[os.getpid()].let_go()


def asked(question: Question) -> tuple[dict[str, Any], list[Any]]:
    """The answer: what JSON says, and columns of plain cells, each valid; a DataError where the file is at fault."""
    import pyarrow

    limit = question.memory
    with _LOCK:
        server = running()
        try:
            head, body = server.ask(question, limit)
        except (EOFError, ConnectionError, TimeoutError) as error:
            raise DataError([_broken(question, _stopped(server, error), limit)]) from None
        except BaseException:
            # An answer that nobody takes would be taken for that to the next question.
            _stopped(server, None)
            raise
    said = json.loads(head)
    if "traceback" in said:
        raise RuntimeError(f"in the process that reads {question.file}:\n{said['traceback']}")
    if "out_of_memory" in said:
        raise DataError([_too_much(question, limit)])
    if "failed" in said:
        raise DataError([_unreadable(question, said["failed"])])
    if said.keys() == {"faults"} and said["faults"]:
        raise DataError(_faults(said))
    try:
        return said, valid(body)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError([_unreadable(question, type(error).__name__)]) from None


def _broken(question: Question, ended: int | None, limit: int) -> Fault:
    """The fault of a file that ended its reader, by the signal that did it; None when its time was over."""
    if ended is None or ended == signal.SIGXCPU:
        seconds = Count(question.seconds, "second")
        return Fault("reading_too_long", File(question.file), file=question.file, seconds=seconds)
    if ended == signal.SIGKILL:
        return _too_much(question, limit)
    name = signal.Signals(ended).name if ended in list(signal.Signals) else f"the exit code {ended}"
    return _unreadable(question, name)


def _too_much(question: Question, limit: int) -> Fault:
    return Fault("reading_too_large", File(question.file), file=question.file, gigabytes=limit / (1 << 30))


def _unreadable(question: Question, ended: str) -> Fault:
    return Fault("unreadable_file", File(question.file), file=question.file, ended=ended)


def valid(body: bytes) -> list[Any]:
    """The columns of a stream, checked in full: what reads hostile files is not taken at its word."""
    import pyarrow

    if not body:
        return []
    found = pyarrow.ipc.open_stream(body).read_all()
    found.validate(full=True)
    return [column.chunk(0) if column.num_chunks == 1 else column.combine_chunks() for column in found.columns]


# ---- the process ----------------------------------------------------------------------------------------------------


class Server:
    """The process, and the socket to it."""

    def __init__(self) -> None:
        """Start it: where it stands no module can be taken for one of ours, and Ctrl-C does not reach it."""
        self.channel, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-P", "-c", START, str(theirs.fileno()), str(os.getpid()), *_path()]
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd="/",
                env=_environment(),
                start_new_session=True,
            )
        self.ready = False
        self.about: Any = None
        """What the copy at work was asked about, where it waits for more."""

    def ask(self, question: Question, limit: int) -> tuple[bytes, bytes]:
        """The answer in two parts; EOFError or OSError when there will be none, TimeoutError when it takes too long."""
        from dossier.reading import isolated

        self._wait_until_ready()
        if self.about is None or self.about != question.about:
            self.let_go()
            package = PACKAGES.get(signatures.kind(question.file) or "", "")
            isolated.send(self.channel, package.encode())
        self.about = question.about
        request = pickle.dumps((limit, question.seconds, question.call, question.arguments))
        self.channel.settimeout(WAITING * question.seconds)
        isolated.send(self.channel, request, question.content)
        if question.about is None:
            isolated.send(self.channel, isolated.DONE)
        return isolated.receive(self.channel)

    def _wait_until_ready(self) -> None:
        from dossier.reading import isolated

        if self.ready:
            return
        try:
            isolated.receive(self.channel)
        except (EOFError, ConnectionError):
            raise RuntimeError("The process that reads tables does not start.") from None
        self.ready = True

    def let_go(self) -> None:
        """End the copy that waits for more questions."""
        from dossier.reading import isolated

        if self.about is not None:
            isolated.send(self.channel, isolated.DONE)
        self.about = None

    def stop(self, kill: bool) -> int:
        """End the process with its copies; the signal that ended it, or 0."""
        if kill:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.channel.close()
        code = self.process.wait()
        return code - 128 if code > 128 else abs(code)


_SERVERS: dict[int, Server] = {}
"""The process of this one; a copy that somebody makes of this one has to start its own."""
_LOCK = threading.RLock()


def running() -> Server:
    """The process, started where there is none, or where somebody has ended it between two tables."""
    server = _SERVERS.get(os.getpid())
    if server is not None and server.process.poll() is not None:
        server.stop(kill=False)
        server = None
    if server is None:
        server = _SERVERS[os.getpid()] = Server()
    return server


def _stopped(server: Server, error: Exception | None) -> int | None:
    """End the process after an error; the signal that had ended it, None where it had not ended by itself."""
    _SERVERS.pop(os.getpid(), None)
    alone = isinstance(error, (EOFError, ConnectionError))
    ended = server.stop(kill=not alone)
    return ended if alone else None


@atexit.register
def _stop_at_exit() -> None:
    if os.getpid() in _SERVERS:
        _SERVERS.pop(os.getpid()).stop(kill=True)


def _path() -> list[str]:
    """Where the process looks for modules: where this one does, but not in the folder that happens to be current."""
    try:
        here = Path.cwd().resolve()
    except FileNotFoundError:
        here = None
    elsewhere = [entry for entry in sys.path if Path(entry).is_absolute() and Path(entry).resolve() != here]
    return [*elsewhere, str(Path(__file__).resolve().parents[2])]


def _environment() -> dict[str, str]:
    """No threads in the process that is copied: a copy has only the one that copies."""
    single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | single
