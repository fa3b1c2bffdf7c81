"""The Dask backend, with a real scheduler and real workers on loopback."""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import dask
import msgpack
import pytest
from distributed import Client, Scheduler

from dossier import evaluate, reading
from dossier.command_line import cli
from dossier.core.errors import WorkerError
from dossier.core.types import Study
from dossier.evaluate import cluster, pieces
from dossier.evaluate.pieces import Piece
from dossier.record import results
from tests.reference.built import example, hurried

CHECKOUT = Path(__file__).resolve().parents[1]
CERTIFICATES = CHECKOUT / "tests" / "certificates"
ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
LONGEST_TEST = 400
"""Seconds; a wait without an end must fail its test and not hold up all others."""
LONGEST_LIFE = f"{2 * LONGEST_TEST}s"
"""Of a process whose test was killed and could not end it."""


@dataclass
class Cluster:
    """A scheduler and its workers, each a process of ours."""

    address: str
    scheduler: subprocess.Popen[bytes]
    stack: ExitStack
    certificates: tuple[str, ...] = ()
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self, threads: int = 1, **environment: str) -> None:
        """Start a worker without a nanny, which would start it again when it is killed."""
        limits = ("--no-nanny", "--nthreads", str(threads), "--lifetime", LONGEST_LIFE)
        words = ("worker", self.address, *limits, *self.certificates)
        self.workers.append(self.stack.enter_context(process(words, ALONE | environment)))

    def kill(self, index: int) -> None:
        """End a worker as a machine that breaks does."""
        self.workers[index].send_signal(signal.SIGKILL)
        self.workers[index].wait()


@contextmanager
def process(words: Sequence[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A command of Dask that is gone afterwards."""
    paths = os.pathsep.join(filter(None, (environment.get("PYTHONPATH"), str(CHECKOUT))))
    with subprocess.Popen(
        [sys.executable, "-m", "dask", *words, "--host", "127.0.0.1", "--no-dashboard"],
        env=os.environ | environment | {"PYTHONPATH": paths},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as started:
        try:
            yield started
        finally:
            started.kill()


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Fail a test that waits for ever."""

    def fail(number: int, frame: object) -> None:
        pytest.fail(f"not done after {LONGEST_TEST} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(LONGEST_TEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        # What Dask leaves behind speaks when it is found, and must not do so in the middle of something else.
        gc.collect()


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A scheduler that waits for workers."""
    monkeypatch.chdir(tmp_path)
    with a_cluster(tmp_path) as cluster:
        yield cluster


@contextmanager
def a_cluster(folder: Path, *certificates: str) -> Iterator[Cluster]:
    """A scheduler without workers yet, with TLS where it gets certificates."""
    file = folder / "scheduler.json"
    words = ("scheduler", "--port", "0", "--scheduler-file", str(file), "--idle-timeout", LONGEST_LIFE, *certificates)
    with ExitStack() as stack:
        scheduler = stack.enter_context(process(words, {}))
        deadline = time.monotonic() + 120
        while not file.exists() or not file.read_text().endswith("}"):
            assert time.monotonic() < deadline, "the scheduler did not start"
            time.sleep(0.1)
        yield Cluster(json.loads(file.read_text())["address"], scheduler, stack, certificates)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The example release with few replicates, so that there are several sites and subgroups."""
    return hurried(reading.study(example(tmp_path_factory.mktemp("release"))), bootstrap=19, permutations=19)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a cluster that starts on a busy machine."""
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 120)


@pytest.fixture
def work(study: Study) -> Sequence[Piece]:
    """What there is to do at one site."""
    return [piece for site in evaluate._sites(study)[:1] for piece in pieces.of_site(site)]


def the_message(study: Study, address: str) -> str:
    """What a build says that cannot use this cluster."""
    with pytest.raises(WorkerError) as raised:
        evaluate.evidence(study, scheduler=address)
    return str(raised.value)


@pytest.mark.usefixtures("patient")
def test_two_workers_one_of_which_is_killed_give_the_same_bytes(study: Study, running: Cluster) -> None:
    expected = results.of(evaluate.evidence(study)).text()
    for jobs in (2, 3):
        assert results.of(evaluate.evidence(study, jobs)).text() == expected
    running.add_worker()
    running.add_worker(threads=2)
    assert results.of(evaluate.evidence(study, scheduler=running.address)).text() == expected

    def kill_first(stage: str, name: str, done: int, total: int) -> None:
        if running.workers[0].poll() is None:
            assert done < total / 2
            running.kill(0)

    assert results.of(evaluate.evidence(study, progress=kill_first, scheduler=running.address)).text() == expected
    assert [worker.poll() for worker in running.workers] == [-signal.SIGKILL, None]


@pytest.mark.usefixtures("patient")
def test_the_loss_of_all_workers_is_told_also_when_it_takes_answers_with_it(
    study: Study, running: Cluster, work: Sequence[Piece], monkeypatch: pytest.MonkeyPatch
) -> None:
    running.add_worker()
    answers = cluster.found(work, running.address, ())
    next(answers)
    with Client(running.address, set_as_default=False) as looking:
        while looking.run_on_scheduler(states_of_tasks) & {"queued", "waiting", "processing"}:
            time.sleep(0.1)
    monkeypatch.setattr(cluster, "SECONDS_TO_ANSWER", 2)
    monkeypatch.setattr(cluster, "SECONDS_WITHOUT_WORKERS", 2)
    running.kill(0)
    with pytest.raises(WorkerError, match=f"All workers at {running.address} were lost"):
        next(answers)


@pytest.mark.usefixtures("patient")
def test_a_worker_that_is_stopped_is_told(
    running: Cluster, work: Sequence[Piece], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its scheduler still counts on it: with the settings of Dask it gives a worker up after five minutes."""
    running.add_worker()
    answers = cluster.found(work, running.address, ())
    next(answers)
    monkeypatch.setattr(cluster, "SECONDS_OF_SILENCE", 15)
    running.workers[0].send_signal(signal.SIGSTOP)
    with pytest.raises(WorkerError, match="has given no sign of life for"):
        list(answers)


def states_of_tasks(dask_scheduler: Scheduler) -> set[str]:
    """How far the tasks are, on the scheduler."""
    return {task.state for task in dask_scheduler.tasks.values()}


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_the_loss_of_the_scheduler_is_told(
    running: Cluster, work: Sequence[Piece], monkeypatch: pytest.MonkeyPatch, end: signal.Signals
) -> None:
    running.add_worker()
    answers = cluster.found(work, running.address, ())
    next(answers)
    monkeypatch.setattr(cluster, "SECONDS_TO_ANSWER", 2)
    monkeypatch.setattr(cluster, "SECONDS_WITHOUT_WORKERS", 2)
    running.scheduler.send_signal(end)
    with pytest.raises(WorkerError, match=f"The scheduler at {running.address} has stopped answering"):
        list(answers)


@pytest.mark.usefixtures("patient")
def test_workers_of_other_versions_or_with_threads_are_refused(study: Study, running: Cluster, tmp_path: Path) -> None:
    older = tmp_path / "older" / "numpy-1.26.4.dist-info"
    older.mkdir(parents=True)
    (older / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.26.4\n")
    running.add_worker(PYTHONPATH=str(older.parent))
    raised = the_message(study, running.address)
    assert raised.startswith(
        f"Workers at {running.address} have other versions: numpy 1.26.4 (here {version('numpy')})."
    )
    running.kill(0)
    running.add_worker(OPENBLAS_NUM_THREADS="2")
    deadline = time.monotonic() + 120
    while "have other versions" in (raised := the_message(study, running.address)):
        assert time.monotonic() < deadline
    assert "spread sums over threads" in raised


def test_a_scheduler_without_workers_is_told(study: Study, running: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 5)
    assert the_message(study, running.address).startswith(f"The scheduler at {running.address} has no workers.")


# ---- who is no scheduler --------------------------------------------------------------------------------------------


def silent(peer: socket.socket) -> None:
    """Take whatever comes and say nothing."""
    while peer.recv(65536):
        pass


def web_server(peer: socket.socket) -> None:
    """Answer as a server of web pages does, and wait for the next question."""
    peer.recv(65536)
    peer.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\n\r\nno\n")
    silent(peer)


def impatient_web_server(peer: socket.socket) -> None:
    """Answer so, and hang up."""
    peer.recv(65536)
    peer.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")


def garbage(peer: socket.socket) -> None:
    """Say something at random, for ever."""
    draw = random.Random(1)
    while True:
        peer.sendall(draw.randbytes(4096))
        time.sleep(0.01)


def drop_by_drop(peer: socket.socket) -> None:
    """Say one byte at a time."""
    while True:
        peer.sendall(b"\0")
        time.sleep(0.2)


def endless(peer: socket.socket) -> None:
    """Promise more bytes than there are."""
    peer.sendall((1 << 62).to_bytes(8, "little") + b"\xff" * 64)
    silent(peer)


def many_frames(peer: socket.socket) -> None:
    """Promise a million million frames."""
    peer.sendall((16).to_bytes(8, "little") + (10**12).to_bytes(8, "little") + bytes(8))
    silent(peer)


def another_service(peer: socket.socket) -> None:
    """Speak first, as SSH and mail do."""
    peer.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n")
    silent(peer)


def nothing(peer: socket.socket) -> None:
    """Hang up at once."""


def framed(peer: socket.socket, message: object) -> None:
    body = msgpack.dumps(message)
    frames = (1).to_bytes(8, "little") + len(body).to_bytes(8, "little") + body
    peer.sendall(len(frames).to_bytes(8, "little") + frames)
    silent(peer)


def another_language(peer: socket.socket) -> None:
    """Answer with one frame that holds no handshake."""
    framed(peer, ["hello", None, 7])


def only_the_handshake(peer: socket.socket) -> None:
    """Shake hands as Dask does, and say nothing after that."""
    framed(peer, {"compression": None, "python": [3, 11, 7], "pickle-protocol": 5})


SERVERS = (
    *(silent, web_server, impatient_web_server, garbage, drop_by_drop, endless, many_frames, nothing),
    *(another_language, only_the_handshake, another_service),
)


@contextmanager
def serving(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """A port at which each caller gets this answer."""

    def one(peer: socket.socket) -> None:
        with peer, suppress(OSError):
            answer(peer)

    def all_of_them() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=one, args=(server.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=all_of_them, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Wait for nobody longer than two seconds, and see to it that nobody has to be waited for."""
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 2)
    before = time.monotonic()
    yield
    assert time.monotonic() - before < 60
    # Dask leaves the connections open that came to nothing.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize("answer", SERVERS)
def test_a_server_that_is_no_scheduler_is_told_in_time(study: Study, answer: Callable[[socket.socket], None]) -> None:
    with serving(answer) as port:
        address = f"tcp://127.0.0.1:{port}"
        assert the_message(study, address).startswith(f"No Dask scheduler answers at {address}.")


@pytest.mark.parametrize("answer", [silent, another_service])
def test_a_build_that_found_no_scheduler_ends_without_another_word(
    tmp_path: Path, answer: Callable[[socket.socket], None]
) -> None:
    example(tmp_path)
    with serving(answer) as port:
        address = f"tcp://127.0.0.1:{port}"
        words = ("build", ".", "-o", "out", "--backend", "dask", "--scheduler", address, "--trust-scheduler", "--quiet")
        done = subprocess.run(
            [sys.executable, "-m", "dossier", *words],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
            capture_output=True,
            text=True,
            timeout=LONGEST_TEST / 2,
            check=False,
        )
    assert (done.returncode, done.stdout) == (2, "")
    first, where, fix = done.stderr.splitlines()
    assert first == f"No Dask scheduler answers at {address}."
    assert where == "  where: --scheduler"
    assert fix.startswith("  fix:   ")


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize("answer", [silent, web_server, garbage, nothing])
def test_a_server_without_tls_is_no_tls_scheduler(study: Study, answer: Callable[[socket.socket], None]) -> None:
    with serving(answer) as port, dask.config.set(certificates()):
        address = f"tls://127.0.0.1:{port}"
        assert the_message(study, address).startswith(f"No Dask scheduler answers at {address}.")


@pytest.mark.usefixtures("hurry")
def test_an_address_where_nobody_answers_is_told(study: Study) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        for address in (f"{scheme}127.0.0.1:{free.getsockname()[1]}" for scheme in ("tcp://", "")):
            assert the_message(study, address).startswith(f"No Dask scheduler answers at {address}.")


NO_ADDRESSES = (
    *("", " ", "tcp://", "tls://", ":8786", "tcp://:8786", "127.0.0.1", "tcp://127.0.0.1", "tcp://127.0.0.1:"),
    *(
        "tcp://127.0.0.1:99999",
        "tcp://127.0.0.1:0",
        "tcp://127.0.0.1:-1",
        "tcp://127.0.0.1:٣",
        "tcp://127.0.0.1:8786/x",
    ),
    *("carrier-pigeon://127.0.0.1:8786", "ws://127.0.0.1:8786", "ucx://127.0.0.1:8786", "inproc://127.0.0.1:8786"),
    *("TLS://127.0.0.1:8786", "tls:127.0.0.1:8786", "http://127.0.0.1:8786", "file:///etc/passwd", "tcp://a b:8786"),
    *("tls://127.0.0.1:8786\n", "tcp://user@127.0.0.1:8786", "tcp://127.0.0.1:8786,tls://127.0.0.1:8786", "x" * 10_000),
    "tls://127.0.0.1:8786@127.0.0.1:8786",
)


@pytest.mark.parametrize("address", NO_ADDRESSES, ids=lambda address: repr(address[:40]))
@pytest.mark.parametrize("trusted", [False, True])
def test_what_is_no_address_is_told_before_anything_else(address: str, trusted: bool) -> None:
    with pytest.raises(WorkerError, match="is no address of a scheduler"):
        cluster.refuse_untrusted(address, trusted)


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "10.0.0.1:8786", "tcp://[::1]:8786", "host.example:1"])
def test_a_scheduler_without_tls_is_used_only_where_it_is_trusted(address: str) -> None:
    with pytest.raises(WorkerError, match="workers see every row") as raised:
        cluster.refuse_untrusted(address, trusted=False)
    assert "--trust-scheduler" in raised.value.faults[0].fix
    cluster.refuse_untrusted(address, trusted=True)
    cluster.refuse_untrusted("tls://10.0.0.1:8786", trusted=False)


# ---- TLS ------------------------------------------------------------------------------------------------------------


def certificates(authority: str = "authority.pem") -> dict[str, str]:
    """What Dask is configured with."""
    files = {"ca-file": authority, "client.cert": "certificate.pem", "client.key": "key.pem"}
    return {f"distributed.comm.tls.{key}": str(CERTIFICATES / name) for key, name in files.items()}


@pytest.mark.usefixtures("hurry")
def test_tls_without_certificates_is_told(study: Study, tmp_path: Path) -> None:
    address = "tls://127.0.0.1:8786"
    assert the_message(study, address).startswith("TLS needs certificates, and Dask is configured with none.")
    (tmp_path / "empty.pem").write_text("")
    for name in ("nowhere.pem", "empty.pem"):
        with dask.config.set(certificates() | {"distributed.comm.tls.ca-file": str(tmp_path / name)}):
            assert the_message(study, address).startswith("The certificates for TLS cannot be used: ")


@pytest.mark.usefixtures("patient")
def test_a_tls_scheduler_with_our_certificates_does_the_work_and_no_other(
    tmp_path: Path, study: Study, work: Sequence[Piece], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"--tls-ca-file": "authority.pem", "--tls-cert": "certificate.pem", "--tls-key": "key.pem"}
    words = [word for option, name in files.items() for word in (option, str(CERTIFICATES / name))]
    with a_cluster(tmp_path, *words) as running:
        assert running.address.startswith("tls://")
        running.add_worker()
        with dask.config.set(certificates()):
            (found,) = cluster.found(work[:1], running.address, ())
        assert repr(found) == repr(pieces.found(work[0]))
        monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 5)
        with dask.config.set(certificates("another_authority.pem")):
            assert the_message(study, running.address).startswith(f"No Dask scheduler answers at {running.address}.")


def test_without_dask_the_command_that_installs_it_is_told(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    raised = the_message(study, "tcp://127.0.0.1:8786")
    assert "Dask, which is not installed" in raised
    assert "pip install dask distributed" in raised


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--backend", "dask"), "The backend dask needs the address of a scheduler."),
        (("--scheduler", "tcp://127.0.0.1:1"), "The backend loky has no scheduler."),
        (("--trust-scheduler",), "The backend loky has no scheduler."),
        (("--backend", "dask", "--scheduler", ""), '"" is no address of a scheduler.'),
        (("--backend", "dask", "--scheduler", "tcp://127.0.0.1:1"), "tcp://127.0.0.1:1 is not encrypted"),
        (
            ("--backend", "dask", "--scheduler", "tcp://127.0.0.1:1", "--trust-scheduler"),
            "No Dask scheduler answers at tcp://127.0.0.1:1.",
        ),
        (("--backend", "steam"), "'steam' is not one of 'loky', 'dask'."),
    ],
)
def test_the_options_reach_the_cluster(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 1)
    monkeypatch.chdir(tmp_path)
    example(tmp_path)
    monkeypatch.setattr(sys, "argv", ["dossier", "build", ".", "-o", "out", "--jobs", "1", *words])
    before = {number: signal.getsignal(number) for number in cli.STOPS}
    try:
        with pytest.raises(SystemExit) as end:
            cli.main()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    said = capsys.readouterr()
    assert (end.value.code, said.out) == (2, "")
    assert says in said.err
    assert not (tmp_path / "out").exists()


def test_the_work_is_shared_out_in_pieces_smaller_than_a_site(study: Study) -> None:
    raised: list[tuple[str, str, int, int]] = []
    evaluate.evidence(study, progress=lambda *what: raised.append(what))
    names = [name for _, name, _, _ in raised]
    for dataset in study.datasets:
        ours = [name.removeprefix(f"{dataset.name}, ") for name in names if name.startswith(f"{dataset.name}, ")]
        assert len(ours) == len(set(ours)) > 1
