"""Readers that are not installed with dossier itself."""

from __future__ import annotations

from dossier.errors import Fault

INSTALL = "pip install openpyxl pyreadstat"


def missing_extra(package: str, file: str) -> Fault:
    """The fault of a file whose reader is not installed."""
    what = f"Reading {file} needs the package {package}, which is not installed."
    return Fault(what, file, f"Run {INSTALL}, or save the table as .csv.")
