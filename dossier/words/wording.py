"""How a message writes what it names: values as the user wrote them, long lists cut short, counts with their word."""

from __future__ import annotations

import datetime
import math
import unicodedata
from collections.abc import Iterable
from typing import Literal

MINUS = "\N{MINUS SIGN}"
Voice = Literal["release", "command", "frame"]
"""Who reads a message: somebody with a release.toml, with a table and a command line, or with a frame."""


def listed(names: Iterable[str], most: int = 12) -> str:
    """Names in a row, cut short when there are many."""
    names = [shortened(name) for name in names]
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def shortened(text: str) -> str:
    """The beginning of a text, where all of it would drown the message; signs that do not show by their codes."""
    start = text if len(text) <= 60 else f"{text[:57]}..."
    return "".join(f"<U+{ord(word):04X}>" if unicodedata.category(word) in ("Cc", "Cf") else word for word in start)


def shown(value: object) -> str:
    """A value of release.toml as it is written there."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{shortened(value)}"'
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, datetime.date):
        return value.isoformat()
    return number(value) if isinstance(value, float) else str(value)


def number(value: float) -> str:
    """A number as a person would type it."""
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(float(value))


def counted(count: int, word: str) -> str:
    """A count with its word, in the plural where it belongs."""
    return f"{count} {word}" if count == 1 else f"{count} {word}{'es' if word.endswith('s') else 's'}"


def threshold(value: float, percent: bool = False) -> str:
    """A threshold with the digits that it was declared with: no other number, and never 0 or 1."""
    # The decimals of a share as written; of a computed one six that count, from the nearer of 0 and 1 on.
    near = min(abs(value), abs(1 - value)) or 1.0
    most = MOST_WRITTEN if round(value, MOST_WRITTEN) == value else max(5 - math.floor(math.log10(near)), 2)
    digits = next(digits for digits in range(most + 1) if round(value, digits) == round(value, most))
    return f"{100 * value:.{max(digits - 2, 0)}f}%" if percent else f"{value:.{max(digits, 2)}f}"


MOST_WRITTEN = 12
"""The decimals of a share that somebody wrote, at most."""
