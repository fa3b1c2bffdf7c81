"""The libraries that sign and look at signatures, kept from writing to a terminal or to a log."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from dossier.core.errors import SigningError
from dossier.core.faults.locations import File
from dossier.record.manifest import SIGNED


@contextmanager
def quiet() -> Iterator[None]:
    """Let no library that signs or looks at signatures write to the terminal or to a log: we report their faults.

    Raises a SigningError where they are not installed.
    """
    try:
        for name in ("pyhanko.sign.signers", "pkcs11"):
            importlib.import_module(name)
    except ImportError:
        raise SigningError.one("signing_not_installed", File(f"OUT/{SIGNED}")) from None
    loggers = [logging.getLogger(name) for name in ("pyhanko", "pyhanko_certvalidator", "asyncio")]
    before = [(logger, logger.disabled) for logger in _all_of(loggers)]
    for logger, _ in before:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was in before:
            logger.disabled = was


def _all_of(roots: Sequence[logging.Logger]) -> Iterable[logging.Logger]:
    names = [
        name for name in logging.root.manager.loggerDict if any(name.startswith(f"{root.name}.") for root in roots)
    ]
    return [*roots, *(logging.getLogger(name) for name in names)]
