"""Readers that are not installed with dossier itself."""

from __future__ import annotations

from dossier.core.errors import Fault
from dossier.core.faults.locations import File


def missing_extra(package: str, file: str) -> Fault:
    """The fault of a file whose reader is not installed."""
    return Fault("reader_not_installed", File(file), file=file, package=package)
