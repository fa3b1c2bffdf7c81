"""Functions of ours in a process of their own, with limits of time and memory: for files that anybody may have made.

What they make a library do (a loop, a table of billions of entries, a fault in its C code) ends there, with a reason.
The process loads once what it is asked to, and copies itself (fork) for each call, so that none meets what another left
in memory. What comes back is JSON and bytes, which cannot run code in the process that reads them.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import math
import os
import pickle
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

MEMORY = 2 << 30
"""Bytes of address space: ten times what the largest dossier of ours takes."""
WAITING = 20
"""So many times the time of the processor may pass on the clock: disks and other processes take their share."""
LONGEST_REASON = 300
SECONDS_BETWEEN_LOOKS = 0.5
PACKAGE = str(Path(__file__).resolve().parents[1])
START = """
import socket, sys
sys.path[:] = sys.argv[3:]
from dossier.core import limited, unneeded
sys.meta_path.insert(0, unneeded.Unneeded())
limited.serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
"""
LENGTHS = struct.Struct("<QQ")
PIECE = 1 << 20

Answer = tuple[Any, Any]
"""What JSON can say, and bytes."""


@dataclass(frozen=True)
class Ended:
    """Why a function gave no answer."""

    reason: str


@dataclass
class EndedError(Exception):
    """A function gave no answer."""

    by: str
    """What ended it: the name of a signal, of an exit code or of an error; empty where its time was over."""
    said: str = ""
    """The last line of its error."""
    ours: str = ""
    """The whole of an error that our own code raises."""


def call(function: str, *arguments: str, seconds: int) -> Any | Ended:
    """What a function answers, as JSON holds it, or why it gave no answer.

    `function` is a module and a name in it, such as "dossier.outputs.verify:edition"; `seconds` are of the processor.
    """
    try:
        ((answer, _),) = asked(f"{__name__}:answered", (function, *arguments), seconds=seconds)
    except EndedError as error:
        if error.by in ("", "SIGXCPU", "SIGKILL"):
            return Ended(f"it takes more than {seconds} seconds")
        by_signal = f"its reader was ended by {error.by}" if error.by.startswith("SIG") else ""
        return Ended(error.said[:LONGEST_REASON] or by_signal or "its reader ended without a reason")
    if "refused" in answer:
        # What the system refuses, such as room on the disk, is said of no file.
        raise OSError(*answer["refused"])
    return answer["given"]


def answered(_: bytes, function: str, *arguments: str) -> Iterator[Answer]:
    """What a function of texts gives, or what the system refuses to it."""
    try:
        yield {"given": _named(function)(*arguments)}, b""
    except OSError as error:
        if error.errno is None:
            raise
        yield {"refused": (error.errno, error.strerror)}, b""


def asked(
    function: str,
    arguments: Sequence[Any] = (),
    content: bytes = b"",
    *,
    seconds: int,
    memory: int = MEMORY,
    loads: Sequence[str] = (),
) -> list[Answer]:
    """What a function of bytes and `arguments` yields; an EndedError where it gives no answer.

    `loads` are modules that the process loads before, so that not every copy of it has to.
    """
    with _LOCK:
        server = running(loads)
        try:
            return server.ask((memory, seconds, function, tuple(arguments)), content)
        except EndedError:
            raise
        except (EOFError, ConnectionError, TimeoutError) as error:
            raise EndedError(_stopped(server, error)) from None
        except BaseException:
            # An answer that nobody takes would be taken for that to the next question.
            _stopped(server, None)
            raise


# ---- the socket -----------------------------------------------------------------------------------------------------


def _send(channel: socket.socket, head: bytes, body: Any = b"") -> None:
    """Send a message of two parts."""
    body = memoryview(body)
    channel.sendall(LENGTHS.pack(len(head), body.nbytes))
    channel.sendall(head)
    channel.sendall(body)


def _receive(channel: socket.socket) -> tuple[bytes, bytearray]:
    """The next message; EOFError when the other side is gone."""
    head, body = LENGTHS.unpack(_exactly(channel, LENGTHS.size))
    return bytes(_exactly(channel, head)), _exactly(channel, body)


def _exactly(channel: socket.socket, size: int) -> bytearray:
    found = bytearray(size)
    rest = memoryview(found)
    while rest:
        count = channel.recv_into(rest, min(len(rest), PIECE))
        if not count:
            raise EOFError
        rest = rest[count:]
    return found


# ---- who asks -------------------------------------------------------------------------------------------------------


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
        self.loads: tuple[str, ...] = ()

    def load(self, modules: Sequence[str]) -> None:
        """Let it load modules, while we do something else."""
        if missing := [name for name in modules if name not in self.loads]:
            self.loads += tuple(missing)
            _send(self.channel, json.dumps(missing).encode())

    def ask(self, request: tuple[int, int, str, tuple[Any, ...]], content: bytes) -> list[Answer]:
        """All that a copy of it answers; EOFError or OSError without one, TimeoutError when it takes too long."""
        _send(self.channel, b"[]", b"copy")
        self.channel.settimeout(WAITING * request[1])
        _send(self.channel, pickle.dumps(request), content)
        found: list[Answer] = []
        while (answer := _receive(self.channel))[0]:
            found.append((json.loads(answer[0]), answer[1]))
        if found and "by" in found[-1][0]:
            raise EndedError(**found[-1][0])
        return found

    def stop(self, kill: bool) -> str:
        """End the process with its copies; the name of the signal that ended it, or of its exit code."""
        if kill:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.channel.close()
        code = self.process.wait()
        number = code - 128 if code > 128 else -code
        return signal.Signals(number).name if number in list(signal.Signals) else f"the exit code {code}"


_SERVERS: dict[int, Server] = {}
"""The process of this one; a copy that somebody makes of this one has to start its own."""
_LOCK = threading.RLock()


def running(loads: Sequence[str] = ()) -> Server:
    """The process, started where there is none, or where somebody has ended it between two calls."""
    with _LOCK:
        server = _SERVERS.get(os.getpid())
        if server is not None and server.process.poll() is not None:
            server.stop(kill=False)
            server = None
        if server is None:
            server = _SERVERS[os.getpid()] = Server()
        server.load(loads)
        return server


def _stopped(server: Server, error: Exception | None) -> str:
    """End the process after an error, and say by what it had ended; by nothing where it had not ended by itself."""
    _SERVERS.pop(os.getpid(), None)
    alone = isinstance(error, (EOFError, ConnectionError))
    ended = server.stop(kill=not alone)
    return ended if alone else ""


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
    return [*elsewhere, str(Path(PACKAGE).parent)]


def _environment() -> dict[str, str]:
    """No threads in the process that is copied: a copy has only the one that copies."""
    single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | single


# ---- the process, and its copies ------------------------------------------------------------------------------------


def serve(channel: socket.socket, parent: int) -> NoReturn:
    """Load modules, and copy this process for every call that is announced, until the one that asks is gone.

    When a copy ends before its time, so does this process, with 128 and the number of the signal, as a shell would.
    """
    # From here on only what libraries say of damaged files would be written, and the faults say it better.
    warnings.simplefilter("ignore")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, sys.stderr.fileno())
    while True:
        try:
            modules, copies = _receive(channel)
        except (EOFError, OSError):
            os._exit(0)
        for module in json.loads(modules):
            # What is not installed is missed, and reported, by the copy that needs it.
            with contextlib.suppress(ModuleNotFoundError):
                importlib.import_module(module)
        status = _copied(channel, parent) if copies else 0
        if status:
            os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else 1)


def _copied(channel: socket.socket, parent: int) -> int:
    """How the copy ended that answers a call."""
    alive, held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(alive)
        _answer(channel)
    os.close(held)
    # The pipe closes with the copy. Nobody else could end a copy whose asker was killed.
    while not select.select([alive], [], [], SECONDS_BETWEEN_LOOKS)[0]:
        if os.getppid() != parent:
            os.kill(child, signal.SIGKILL)
    os.close(alive)
    return os.waitpid(child, 0)[1]


def _answer(channel: socket.socket) -> NoReturn:
    """Set the limits, call the function, and send all that it yields."""
    # A copy of memory on the disk would hold patients.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Where memory runs out, Linux ends this process and not the one that asks.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    try:
        head, given = _receive(channel)
        memory, seconds, function, arguments = pickle.loads(head)
        content = bytes(given)
        del given
        used = resource.getrusage(resource.RUSAGE_SELF)
        until = math.ceil(used.ru_utime + used.ru_stime) + seconds
        for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, until)):
            hard = resource.getrlimit(kind)[1]
            resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
        try:
            for said, body in _named(function)(content, *arguments):
                _send(channel, json.dumps(said).encode(), body)
        except Exception as error:  # noqa: BLE001  # what a library raises at a damaged file cannot be foreseen
            _send(channel, json.dumps(_failure(error)).encode())
        _send(channel, b"")
        os._exit(0)
    except (EOFError, OSError):
        os._exit(0)
    finally:
        os._exit(1)


def _named(function: str) -> Any:
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)


def _failure(error: Exception) -> dict[str, str]:
    """What a function failed with; an error that our own code raises is ours, and keeps its traceback."""
    innermost = traceback.extract_tb(error.__traceback__)[-1].filename
    of_memory = isinstance(error, MemoryError)
    ours = innermost.startswith(PACKAGE) and not of_memory
    return {
        "by": "MemoryError" if of_memory else type(error).__name__,
        "said": traceback.format_exception_only(error)[-1].strip(),
        "ours": "".join(traceback.format_exception(error)) if ours else "",
    }
