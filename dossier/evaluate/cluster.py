"""The same pieces of work on a Dask cluster that already runs, with the same answers."""

from __future__ import annotations

import logging
import os
import platform
import re
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dossier.core import errors
from dossier.core.faults import locations
from dossier.evaluate import offered, pieces

if TYPE_CHECKING:
    from distributed import Client, Future
    from distributed.security import Security

AT = locations.Option("--scheduler")
ADDRESS = re.compile(r"(?:(tls|tcp)://)?(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
LARGEST_PORT = 65_535
OURS = ("validation-dossier", "distributed")
SECONDS_TO_CONNECT = 10
SECONDS_BETWEEN_LOOKS = 1
SECONDS_TO_ANSWER = 30
"""A cluster that says nothing for so long, to a question that needs no work, does not listen."""
SECONDS_WITHOUT_WORKERS = 15
"""A worker that its nanny starts anew is back earlier."""
SECONDS_OF_SILENCE = 360
"""A busy worker gives a sign of life every few seconds; after 300 a scheduler with Dask's own settings gives it up."""
SECONDS_FOR_A_PIECE = 86_400
"""The longest wait for one answer, however alive the cluster looks."""


def refuse_untrusted(scheduler: str, trusted: bool) -> None:
    """Refuse an address that is none, and one without encryption that nobody says to trust.

    Over TCP anybody on the way reads the rows and may answer as the scheduler; what it sends is unpickled, that is run.
    """
    if _is_encrypted(scheduler) or trusted:
        return
    raise errors.WorkerError.one("scheduler_not_encrypted", AT, scheduler=scheduler)


def _is_encrypted(scheduler: str) -> bool:
    """Whether an address is one of TLS; a WorkerError says that it is no address that Dask has."""
    found = ADDRESS.fullmatch(scheduler)
    if found is None or not 0 < int(found[2]) <= LARGEST_PORT:
        if len(scheduler) < 100:
            raise errors.WorkerError.one("no_address", AT, text=scheduler)
        raise errors.WorkerError.one("long_text_for_address", AT, length=len(scheduler))
    return found[1] == "tls"


def found(work: Sequence[pieces.Piece], scheduler: str, packages: Sequence[str]) -> Iterator[pieces.Found]:
    """What each piece of the work yields, in this order; a piece whose worker is lost is done again by another.

    The rows of the tables go to the workers. A WorkerError says why the cluster cannot do the work: Dask is not
    installed here, nothing answers at the address, there are no workers, they have other versions of us or of
    `packages`, or all of them or the scheduler are lost. In the last case joblib's own backend for Dask waits for ever,
    so the pieces are handed over without it.
    """
    with _connected(scheduler) as client:
        # Wait for a first worker; each look has an end of its own.
        end = time.monotonic() + SECONDS_TO_CONNECT
        while not _workers(client, scheduler):
            if time.monotonic() > end:
                raise errors.WorkerError.one("no_workers", AT, scheduler=scheduler)
            time.sleep(SECONDS_BETWEEN_LOOKS / 10)
        _refuse_other_versions(client, scheduler, (*OURS, *packages))
        # All pieces, each of which waits for its dataset, which goes over once. A dataset is a task of its own and not
        # scattered: what is scattered is lost with its worker, a task is done again.
        sites: dict[str, Future[offered.Site]] = {}
        futures: deque[Future[pieces.Found]] = deque()
        for piece in work:
            name = piece.site.dataset.name
            if name not in sites:
                sites[name] = client.submit(_itself, piece.site, pure=False)
            futures.append(client.submit(_found, sites[name], piece.kind, piece.name, pure=False))
        while futures:
            # Whoever keeps the future of an answer that it has makes the cluster find it again with each lost worker.
            yield _answer(client, futures.popleft(), scheduler)


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    """A connection to a scheduler; what Dask itself would say is said by our errors."""
    if find_spec("distributed") is None:
        raise errors.WorkerError.one("no_dask", locations.Option("--backend"))
    encrypted = _is_encrypted(scheduler)
    import dask

    with _silence(), dask.config.set({"distributed.admin.large-graph-warning-threshold": 1 << 60}):
        # The certificates of Dask's configuration; a WorkerError says that TLS has none, or that they cannot be read.
        from distributed.security import Security

        try:
            security = Security()
            context = security.get_connection_args("client")["ssl_context"] if encrypted else None
        except (OSError, ValueError, TypeError) as error:
            reason = str(getattr(error, "strerror", None) or error)
            raise errors.WorkerError.one("certificates_not_usable", AT, reason=reason) from error
        if encrypted and context is None:
            raise errors.WorkerError.one("no_certificates", AT)
        client = _client(scheduler, security)
        try:
            yield client
        finally:
            # A scheduler that hangs does not keep us from ending.
            with suppress(OSError):
                client.close(timeout=SECONDS_TO_CONNECT)


def _client(scheduler: str, security: Security) -> Client:
    """A client that has shaken hands with a scheduler.

    Dask waits without an end for a first word, and whoever answers in another language raises whatever its words mean
    as lengths of messages; so both are left to a thread, which is not waited for longer than is allowed.
    """
    from distributed import Client

    class Ours(Client):  # type: ignore[misc]
        """A client that is closed by us; Dask closes one that is forgotten, and waits for what it never reached."""

        def __del__(self) -> None:
            pass

    kind: type[Client] = Ours
    answers: list[Client | Exception] = []

    def connect() -> None:
        try:
            answers.append(kind(scheduler, timeout=SECONDS_TO_CONNECT, security=security, set_as_default=False))
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody who speaks for Dask has answered
            answers.append(error)

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(SECONDS_TO_CONNECT + SECONDS_BETWEEN_LOOKS)
    answer = answers[0] if answers else None
    if answer is None or isinstance(answer, Exception):
        raise errors.WorkerError.one("no_scheduler", AT, scheduler=scheduler) from answer
    return answer


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


def _refuse_other_versions(client: Client, scheduler: str, packages: Sequence[str]) -> None:
    """Refuse workers whose numbers could differ from ours: other versions, or linear algebra on several threads."""
    there = {"python": _asked(client, scheduler, platform.python_version)}
    there |= {package: _asked(client, scheduler, version, package) for package in packages}
    here = {"python": platform.python_version()} | {package: version(package) for package in packages}
    differ = [
        f"{name} {text} (here {here[name]})" for name, all_ in there.items() for text in all_ if text != here[name]
    ]
    if differ:
        raise errors.WorkerError.one("workers_of_other_versions", AT, scheduler=scheduler, versions=tuple(differ))
    if any(threads != "1" for threads in _asked(client, scheduler, os.getenv, "OPENBLAS_NUM_THREADS")):
        raise errors.WorkerError.one("workers_of_many_threads", AT, scheduler=scheduler)


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


def _itself(site: offered.Site) -> offered.Site:
    return site


def _found(site: offered.Site, kind: Any, name: str) -> pieces.Found:
    return pieces.found(pieces.Piece(site, kind, name))


def _answer(client: Client, future: Future[pieces.Found], scheduler: str) -> pieces.Found:
    """One answer, as soon as it is there.

    Every wait has an end: an answer that is ready can be lost with its worker before it is fetched, and then nobody
    will bring it unless another worker comes.
    """
    from distributed import CancelledError, KilledWorker

    began = heard = time.monotonic()
    signs: dict[tuple[str, float], float] = {}
    while time.monotonic() - heard < SECONDS_WITHOUT_WORKERS:
        if time.monotonic() - began > SECONDS_FOR_A_PIECE:
            hours = SECONDS_FOR_A_PIECE // 3600
            raise errors.WorkerError.one("cluster_too_slow", AT, scheduler=scheduler, hours=hours)
        try:
            future.exception(timeout=SECONDS_BETWEEN_LOOKS)
            answer: pieces.Found = future.result(timeout=SECONDS_TO_ANSWER)
            return answer
        except CancelledError as error:
            raise _unheard(scheduler) from error
        except OSError:
            # Also a TimeoutError, and a connection that breaks; of the piece itself it would be a fault of ours.
            if future.status == "error":
                raise
        except KilledWorker as error:
            raise errors.WorkerError.one("workers_ended", AT, scheduler=scheduler) from error
        if workers := _workers(client, scheduler):
            heard = time.monotonic()
        # A clock of our own: that of the scheduler may be wrong.
        signs = {sign: signs.get(sign, time.monotonic()) for sign in workers.items()}
        for (worker, _), since in signs.items():
            if time.monotonic() - since > SECONDS_OF_SILENCE:
                raise errors.WorkerError.one("worker_silent", AT, worker=worker, minutes=SECONDS_OF_SILENCE // 60)
    raise errors.WorkerError.one("workers_lost", AT, scheduler=scheduler)


def _workers(client: Client, scheduler: str) -> dict[str, float]:
    """When each worker last gave a sign of life, by its address; a WorkerError says that the scheduler is gone."""
    if client.status != "running":
        raise _unheard(scheduler)
    try:
        known = client.sync(_identity, client, callback_timeout=SECONDS_TO_ANSWER)
    except OSError as error:
        raise _unheard(scheduler) from error
    return {address: worker["last_seen"] for address, worker in known["workers"].items()}


async def _identity(client: Client) -> dict[str, Any]:
    if client.scheduler is None:
        raise OSError
    known: dict[str, Any] = await client.scheduler.identity()
    return known


def _unheard(scheduler: str) -> errors.DossierError:
    return errors.WorkerError.one("scheduler_silent", AT, scheduler=scheduler)
