"""Values as TOML holds them, and tables of release.toml as its text."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dossier.core.values import doubles


def release(tables: Mapping[str, Any]) -> str:
    """A release.toml: lists of tables as [[name]], what lies deeper on one line."""
    parts: list[str] = []
    for name, table in tables.items():
        several = [table] if isinstance(table, Mapping) else table
        parts += ["\n".join([*lines(name, each, several is table), ""]) for each in several]
    return "\n".join(parts)


def lines(name: str, table: Mapping[str, Any], is_list: bool = False) -> Iterator[str]:
    """A table with its head; a key without a value is left out."""
    yield f"[[{name}]]" if is_list else f"[{name}]"
    yield from (f"{_key(key)} = {value(each)}" for key, each in table.items() if each is not None)


def value(given: Any) -> str:
    """A value as TOML holds it; numbers and arrays of numpy, and Series, as what they hold."""
    if hasattr(given, "tolist"):
        given = (doubles(given) if given.dtype.kind == "f" else given).tolist()
    if isinstance(given, Mapping):
        pairs = (f"{_key(str(key))} = {value(each)}" for key, each in given.items() if each is not None)
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(given, str):
        return _text(given)
    if isinstance(given, Sequence):
        return f"[{', '.join(map(value, given))}]"
    if isinstance(given, datetime.date):
        # No day is equal to what pandas has in place of one.
        return given.isoformat() if given == given else _text(str(given))
    if isinstance(given, bool):
        return "true" if given else "false"
    return str(given) if isinstance(given, int) else repr(float(given))


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
