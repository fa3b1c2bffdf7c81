"""Python's search for cyclic garbage, held off where it costs much and finds nothing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_off() -> Iterator[None]:
    """Nobody looks for cycles meanwhile: artists and boxes are many, and looking takes a seventh of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
