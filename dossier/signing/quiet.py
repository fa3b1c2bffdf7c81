"""The libraries that sign and look at signatures, kept from writing to a terminal or to a log."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator
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
    roots = ("pyhanko", "pyhanko_certvalidator", "asyncio")
    below = [name for name in logging.root.manager.loggerDict if name.startswith(tuple(f"{root}." for root in roots))]
    before = [(logger, logger.disabled) for logger in map(logging.getLogger, (*roots, *below))]
    for logger, _ in before:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was in before:
            logger.disabled = was
