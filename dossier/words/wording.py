"""How a message writes what it names: values as the user wrote them, long lists cut short, counts with their word."""

from __future__ import annotations

import datetime
import unicodedata
from collections.abc import Iterable
from typing import Literal

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
