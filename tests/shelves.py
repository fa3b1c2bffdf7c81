"""The register of measures in tests: put back as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dossier.core.register import REGISTER, Register


@contextmanager
def register_put_back() -> Iterator[Register]:
    """The register, put back as it was afterwards: for a test that adds a measure of its own."""
    shelves = vars(REGISTER)
    before = {name: dict(shelf) for name, shelf in shelves.items()}
    try:
        yield REGISTER
    finally:
        for name, shelf in before.items():
            shelves[name].clear()
            shelves[name].update(shelf)
