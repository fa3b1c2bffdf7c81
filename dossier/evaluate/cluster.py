"""The same pieces of work on a Dask cluster that already runs, with the same answers."""

from __future__ import annotations

import logging
import os
import platform
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dossier.errors import DossierError, WorkerError
from dossier.evaluate import pieces
from dossier.evaluate.offered import Site
from dossier.evaluate.pieces import Found, Piece

if TYPE_CHECKING:
    from distributed import Client, Future

INSTALL = "pip install dask distributed"
WHERE = "--scheduler"
OURS = ("validation-dossier", "distributed")
SECONDS_TO_CONNECT = 10
SECONDS_BETWEEN_LOOKS = 1
SECONDS_TO_ANSWER = 30
"""A cluster that says nothing for so long, to a question that needs no work, does not listen."""
SECONDS_WITHOUT_WORKERS = 15
"""A worker that its nanny starts anew is back earlier."""


def found(work: Sequence[Piece], scheduler: str, packages: Sequence[str]) -> Iterator[Found]:
    """What each piece of the work yields, in this order; a piece whose worker is lost is done again by another.

    The rows of the tables go to the workers. A WorkerError says why the cluster cannot do the work: Dask is not
    installed here, nothing answers at the address, there are no workers, they have other versions of us or of
    `packages`, or all of them or the scheduler are lost. In the last case joblib's own backend for Dask waits for ever,
    so the pieces are handed over without it.
    """
    with _connected(scheduler) as client:
        _refuse_no_workers(client, scheduler)
        _refuse_other_versions(client, scheduler, (*OURS, *packages))
        futures = _handed_over(client, work)
        while futures:
            # Whoever keeps the future of an answer that it has makes the cluster find it again with each lost worker.
            yield _answer(client, futures.popleft(), scheduler)


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
    there = {"python": _asked(client, scheduler, platform.python_version)}
    there |= {package: _asked(client, scheduler, version, package) for package in packages}
    here = {"python": platform.python_version()} | {package: version(package) for package in packages}
    differ = [f"{name} {one} (here {here[name]})" for name, all_ in there.items() for one in all_ if one != here[name]]
    if differ:
        what = f"Workers at {scheduler} have other versions: {', '.join(differ)}."
        raise WorkerError.one(what, WHERE, "Install the same versions of Python and of dossier on every worker.")
    if any(threads != "1" for threads in _asked(client, scheduler, os.getenv, "OPENBLAS_NUM_THREADS")):
        what = f"Workers at {scheduler} spread sums over threads, which changes their last digits."
        raise WorkerError.one(what, WHERE, "Start them with OPENBLAS_NUM_THREADS=1 in their environment.")


def _asked(client: Client, scheduler: str, question: Callable[..., str | None], *about: str) -> list[str]:
    """The different answers of the workers; one that is lost meanwhile gives none."""
    try:
        answers = client.sync(client.run, question, *about, on_error="return", callback_timeout=SECONDS_TO_ANSWER)
    except OSError as error:
        raise _unheard(scheduler) from error
    said = []
    for answer in answers.values():
        if isinstance(answer, Exception) and not isinstance(answer, PackageNotFoundError | OSError):
            raise answer
        if not isinstance(answer, OSError):
            said.append("missing" if isinstance(answer, PackageNotFoundError) else str(answer))
    return sorted(set(said))


def _handed_over(client: Client, work: Sequence[Piece]) -> deque[Future[Found]]:
    """All pieces, each of which waits for its dataset, which goes over once.

    A dataset is a task of its own and not scattered: what is scattered is lost with its worker, a task is done again.
    """
    sites: dict[str, Future[Site]] = {}
    futures: deque[Future[Found]] = deque()
    for piece in work:
        name = piece.site.dataset.name
        if name not in sites:
            sites[name] = client.submit(_itself, piece.site, pure=False)
        futures.append(client.submit(_found, sites[name], piece.kind, piece.name, pure=False))
    return futures


def _itself(site: Site) -> Site:
    return site


def _found(site: Site, kind: Any, name: str) -> Found:
    return pieces.found(Piece(site, kind, name))


def _answer(client: Client, future: Future[Found], scheduler: str) -> Found:
    """One answer, as soon as it is there.

    Every wait has an end: an answer that is ready can be lost with its worker before it is fetched, and then nobody
    will bring it unless another worker comes.
    """
    from distributed import CancelledError, KilledWorker

    heard = time.monotonic()
    while time.monotonic() - heard < SECONDS_WITHOUT_WORKERS:
        try:
            future.exception(timeout=SECONDS_BETWEEN_LOOKS)
            return future.result(timeout=SECONDS_TO_ANSWER)
        except CancelledError as error:
            raise _unheard(scheduler) from error
        except OSError:
            # Also a TimeoutError, and a connection that breaks; of the piece itself it would be a fault of ours.
            if future.status == "error":
                raise
        except KilledWorker as error:
            what = f"Worker after worker at {scheduler} ended over the same piece of work."
            fix = "Memory may have run out: give each worker more of it, or one thread (--nthreads 1)."
            raise WorkerError.one(what, WHERE, fix) from error
        if _has_workers(client, scheduler):
            heard = time.monotonic()
    fix = "See why they ended: memory may have run out. Then start them again, and build again."
    raise WorkerError.one(f"All workers at {scheduler} were lost.", WHERE, fix)


def _has_workers(client: Client, scheduler: str) -> bool:
    """Whether anybody is there to work; a WorkerError says that the scheduler is gone."""
    if client.status != "running":
        raise _unheard(scheduler)
    try:
        return bool(client.sync(client.nthreads, callback_timeout=SECONDS_TO_ANSWER))
    except OSError as error:
        raise _unheard(scheduler) from error


def _unheard(scheduler: str) -> DossierError:
    fix = "See why it ended or hangs. Start it again with its workers, and build again."
    return WorkerError.one(f"The scheduler at {scheduler} has stopped answering.", WHERE, fix)
