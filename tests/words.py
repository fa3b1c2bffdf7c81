"""What the entries of words ask of their facts."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping


def texts(entry: str | Mapping[str, str]) -> Iterable[str]:
    """Every text of an entry."""
    return (entry,) if isinstance(entry, str) else entry.values()


def asked(*sentences: str) -> set[str]:
    """The values that sentences name, those within a text for some cases included."""
    found: set[str] = set()
    for sentence in sentences:
        for _, name, how, _ in string.Formatter().parse(sentence):
            if name is not None:
                found |= {name.rstrip("?").partition(".")[0]} | asked(how or "")
    return found
