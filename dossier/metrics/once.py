"""What several measures need of the same rows is computed once, whichever of them asks first."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

import numpy as np

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

MOST = 2048
"""Answers that are kept of a function: those of 200 replicates of up to ten classes."""


def once(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Keep the last answers of a function of arrays and plain values.

    The answer must be small and never changed by who receives it. The arrays themselves are not kept, only a digest of
    their content, so that a large table is not held in memory.
    """
    kept: OrderedDict[bytes, Answer] = OrderedDict()
    guard = Lock()

    @wraps(function)
    def answer(*arguments: Arguments.args, **named: Arguments.kwargs) -> Answer:
        key = _digest(*arguments, *sorted(named.items()))
        with guard:
            if key in kept:
                kept.move_to_end(key)
                return kept[key]
        found = function(*arguments, **named)
        with guard:
            kept[key] = found
            while len(kept) > MOST:
                kept.popitem(last=False)
        return found

    return answer


def _digest(*arguments: Any) -> bytes:
    """What tells these arguments from all others."""
    digest = hashlib.blake2b(digest_size=16)
    for one in arguments:
        if isinstance(one, np.ndarray):
            digest.update(f"{one.dtype} {one.shape} ".encode())
            digest.update(np.ascontiguousarray(one).data)
        else:
            digest.update(f"{one!r} ".encode())
    return digest.digest()
