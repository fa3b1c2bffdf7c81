"""The Dask backend, with a real scheduler and real workers on loopback."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import pytest
from distributed import Client, Scheduler

from dossier import cli, evaluate, load, record
from dossier.errors import WorkerError
from dossier.evaluate import cluster, pieces
from dossier.evaluate.pieces import Piece
from dossier.types import Study
from tests.reference.built import example, hurried

CHECKOUT = Path(__file__).resolve().parents[1]
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
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self, threads: int = 1, **environment: str) -> None:
        """Start a worker without a nanny, which would start it again when it is killed."""
        words = ("worker", self.address, "--no-nanny", "--nthreads", str(threads), "--lifetime", LONGEST_LIFE)
        self.workers.append(self.stack.enter_context(process(words, ALONE | environment)))

    def kill(self, place: int) -> None:
        """End a worker as a machine that breaks does."""
        self.workers[place].send_signal(signal.SIGKILL)
        self.workers[place].wait()


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
    file = tmp_path / "scheduler.json"
    words = ("scheduler", "--port", "0", "--scheduler-file", str(file), "--idle-timeout", LONGEST_LIFE)
    with ExitStack() as stack:
        scheduler = stack.enter_context(process(words, {}))
        deadline = time.monotonic() + 120
        while not file.exists() or not file.read_text().endswith("}"):
            assert time.monotonic() < deadline, "the scheduler did not start"
            time.sleep(0.1)
        yield Cluster(json.loads(file.read_text())["address"], scheduler, stack)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The example release with few replicates, so that there are several sites and subgroups."""
    return hurried(load.study(example(tmp_path_factory.mktemp("release"))), bootstrap=19, permutations=19)


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
    with pytest.raises(WorkerError) as told:
        evaluate.evidence(study, scheduler=address)
    return str(told.value)


@pytest.mark.usefixtures("patient")
def test_two_workers_one_of_which_is_killed_give_the_same_bytes(study: Study, running: Cluster) -> None:
    expected = record.text(evaluate.evidence(study))
    for jobs in (2, 3):
        assert record.text(evaluate.evidence(study, jobs)) == expected
    running.add_worker()
    running.add_worker(threads=2)
    assert record.text(evaluate.evidence(study, scheduler=running.address)) == expected

    def kill_first(stage: str, name: str, done: int, total: int) -> None:
        if running.workers[0].poll() is None:
            assert done < total / 2
            running.kill(0)

    assert record.text(evaluate.evidence(study, progress=kill_first, scheduler=running.address)) == expected
    assert [one.poll() for one in running.workers] == [-signal.SIGKILL, None]


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
    told = the_message(study, running.address)
    assert told.startswith(f"Workers at {running.address} have other versions: numpy 1.26.4 (here {version('numpy')}).")
    running.kill(0)
    running.add_worker(OPENBLAS_NUM_THREADS="2")
    deadline = time.monotonic() + 120
    while "have other versions" in (told := the_message(study, running.address)):
        assert time.monotonic() < deadline
    assert "spread sums over threads" in told


def test_a_scheduler_without_workers_is_told(study: Study, running: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 5)
    assert the_message(study, running.address).startswith(f"The scheduler at {running.address} has no workers.")


@pytest.mark.parametrize("scheme", ["tcp://", "", "carrier-pigeon://"])
def test_an_address_where_nobody_answers_is_told(study: Study, monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"{scheme}127.0.0.1:{free.getsockname()[1]}"
        assert the_message(study, address).startswith(f"No Dask scheduler answers at {address}.")


def test_without_dask_the_command_that_installs_it_is_told(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    told = the_message(study, "tcp://127.0.0.1:8786")
    assert "Dask, which is not installed" in told
    assert "pip install dask distributed" in told


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--backend", "dask"), "The backend dask needs the address of a scheduler."),
        (("--scheduler", "tcp://127.0.0.1:1"), "The backend loky has no scheduler."),
        (("--backend", "dask", "--scheduler", "tcp://127.0.0.1:1"), "No Dask scheduler answers at tcp://127.0.0.1:1."),
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
    told: list[tuple[str, str, int, int]] = []
    evaluate.evidence(study, progress=lambda *what: told.append(what))
    names = [name for _, name, _, _ in told]
    for dataset in study.datasets:
        ours = [name.removeprefix(f"{dataset.name}, ") for name in names if name.startswith(f"{dataset.name}, ")]
        assert len(ours) == len(set(ours)) > 1
