"""Values as TOML holds them, and tables of release.toml as its text."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping
from typing import Any


def value(given: Any) -> str:
    """A value as TOML holds it."""
    if isinstance(given, Mapping):
        pairs = (f"{json.dumps(key, ensure_ascii=False)} = {value(each)}" for key, each in given.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(given, (list, tuple)):
        return f"[{', '.join(map(value, given))}]"
    if isinstance(given, datetime.date):
        return given.isoformat()
    return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007f")


def lines(name: str, table: Mapping[str, Any], is_list: bool = False) -> Iterator[str]:
    """A table with its head."""
    yield f"[[{name}]]" if is_list else f"[{name}]"
    yield from (f"{key} = {value(each)}" for key, each in table.items())
