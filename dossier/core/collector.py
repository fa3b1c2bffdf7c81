"""Python's search for cyclic garbage, held off where it costs much and finds nothing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_off() -> Iterator[None]:
    """Nobody looks for cycles meanwhile: artists and boxes are many, and looking takes a seventh of the time
    or more: of a dossier of 30 pages 7.4 and 9.5 s were pressed meanwhile, against 9.6 and 10.9 s."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
