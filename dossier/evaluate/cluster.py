"""The same pieces of work on a Dask cluster that already runs, with the same answers."""

from __future__ import annotations

import logging
import os
import platform
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from dossier.errors import WorkerError
from dossier.evaluate import pieces
from dossier.evaluate.pieces import Found, Piece

if TYPE_CHECKING:
    from distributed import Client, Future

INSTALL = 'pip install "validation-dossier[dask]"'
WHERE = "--scheduler"
SECONDS_TO_CONNECT = 10
SECONDS_BETWEEN_LOOKS = 1.0
LOOKS_WITHOUT_WORKERS = 15
"""A worker that its nanny starts anew is back before so many looks."""
OURS = "validation-dossier"


def found(work: Sequence[Piece], scheduler: str, packages: Sequence[str]) -> Iterator[Found]:
    """What each piece of the work yields, in this order; a piece whose worker is lost is done again by another.

    The rows of the tables go to the workers. A WorkerError says why the cluster cannot do the work: Dask is not
    installed here, nothing answers at the address, there are no workers, they have other versions of us or of
    `packages`, or all of them are lost. In the last case joblib's own backend for Dask waits for ever, so the pieces
    are handed over without it.
    """
    with _connected(scheduler) as client:
        _refuse_no_workers(client, scheduler)
        _refuse_other_versions(client, scheduler, (OURS, *packages))
        for future in [client.submit(pieces.found, piece, pure=False) for piece in work]:
            yield _answer(client, future, scheduler)


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    """A connection to a scheduler; what Dask itself would say is said by our errors."""
    if find_spec("distributed") is None:
        raise WorkerError.one("The backend dask needs Dask, which is not installed.", "--backend", f"Run {INSTALL}.")
    import dask
    from distributed import Client

    with _silence(), dask.config.set({"distributed.admin.large-graph-warning-threshold": 1 << 60}):
        try:
            client = Client(scheduler, timeout=SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            what = f"No Dask scheduler answers at {scheduler}."
            fix = "Start one with `dask scheduler`, and give the address that it prints, like tcp://10.0.0.1:8786."
            raise WorkerError.one(what, WHERE, fix) from error
        with client:
            yield client


@contextmanager
def _silence() -> Iterator[None]:
    """Keep Dask from speaking to the terminal, and from warning of versions that we compare ourselves."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"distributed\.")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _refuse_no_workers(client: Client, scheduler: str) -> None:
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_CONNECT)
    except TimeoutError as error:
        fix = f"Start some with `dask worker {scheduler} --nthreads 1`."
        raise WorkerError.one(f"The scheduler at {scheduler} has no workers.", WHERE, fix) from error


def _refuse_other_versions(client: Client, scheduler: str, packages: Sequence[str]) -> None:
    """Refuse workers whose numbers could differ from ours: other versions, or linear algebra on several threads."""
    there = {"python": client.run(platform.python_version)}
    there |= {package: client.run(version, package, on_error="return") for package in packages}
    here = {"python": platform.python_version()} | {package: version(package) for package in packages}
    differ = [
        f"{package} {answer} (here {here[package]})"
        for package, answers in there.items()
        for answer in sorted({one if isinstance(one, str) else "missing" for one in answers.values()})
        if answer != here[package]
    ]
    if differ:
        what = f"Workers at {scheduler} have other versions: {', '.join(differ)}."
        raise WorkerError.one(what, WHERE, "Install the same versions of Python and of dossier on every worker.")
    if any(threads != "1" for threads in client.run(os.getenv, "OPENBLAS_NUM_THREADS").values()):
        what = f"Workers at {scheduler} spread sums over threads, which changes their last digits."
        raise WorkerError.one(what, WHERE, "Start them with OPENBLAS_NUM_THREADS=1 in their environment.")


def _answer(client: Client, future: Future[Found], scheduler: str) -> Found:
    """One answer, as soon as it is there."""
    from distributed.scheduler import KilledWorker

    looks = 0
    while not future.done():
        try:
            future.exception(timeout=SECONDS_BETWEEN_LOOKS)
        except TimeoutError:
            looks = 0 if _has_workers(client) else looks + 1
        if looks == LOOKS_WITHOUT_WORKERS:
            break
    if future.status not in ("finished", "error"):
        fix = "See why they ended: memory may have run out. Then start them again, and build again."
        raise WorkerError.one(f"All workers at {scheduler} were lost.", WHERE, fix)
    try:
        return future.result()
    except KilledWorker as error:
        what = f"Worker after worker at {scheduler} ended over the same piece of work."
        fix = "Memory may have run out: give each worker more of it, or one thread (--nthreads 1)."
        raise WorkerError.one(what, WHERE, fix) from error


def _has_workers(client: Client) -> bool:
    """Whether anybody is there to work; a scheduler that is gone has no workers either."""
    try:
        return client.status == "running" and bool(client.nthreads())
    except OSError:
        return False
