"""What several measures need of the same rows is computed once, whichever of them asks first."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

import numpy as np

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

MOST = 2048
"""Answers that are kept of a function: those of 200 replicates of up to ten classes."""


def remembered(most: int) -> Callable[[Callable[Arguments, Answer]], Callable[Arguments, Answer]]:
    """Keep the last `most` answers of a function of arrays, features and plain values.

    An answer is never changed by who receives it, and small where many are kept. The arguments themselves are not
    kept, only a digest of their content, so that a large table is not held in memory.
    """

    def keeping(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
        kept: OrderedDict[bytes, Answer] = OrderedDict()
        guard = Lock()

        @wraps(function)
        def answer(*arguments: Arguments.args, **named: Arguments.kwargs) -> Answer:
            # What tells these arguments from all others.
            digest = hashlib.blake2b(digest_size=16)
            _read(digest, (*arguments, *sorted(named.items())))
            key = digest.digest()
            with guard:
                if key in kept:
                    kept.move_to_end(key)
                    return kept[key]
            found = function(*arguments, **named)
            with guard:
                kept[key] = found
                while len(kept) > most:
                    kept.popitem(last=False)
            return found

        return answer

    return keeping


once = remembered(MOST)
"""Keep so many of the last answers of a function as a site with replicates and classes asks for."""


def _read(digest: Any, each: Any) -> None:
    """Take a value into the digest, the content of every array in it included."""
    if isinstance(each, np.ndarray):
        digest.update(f"{each.dtype} {each.shape} ".encode())
        digest.update(np.ascontiguousarray(each).data)
    elif isinstance(each, tuple | list):
        digest.update(f"{len(each)} of ".encode())
        for part in each:
            _read(digest, part)
    elif is_dataclass(each):
        _read(digest, [getattr(each, field.name) for field in fields(each)])
    else:
        digest.update(f"{each!r} ".encode())
