"""What was changed since it was sealed: each value as it was and as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dossier.core.types import Seal, SealChange, Sealed

Entry = Mapping[str, Any]
"""A table of release.toml as JSON holds it."""
IDENTITY: Mapping[str, tuple[str, ...]] = {
    "acceptance": ("measure", "dataset", "at", "subset", "bound"),
    "subgroup": ("column", "level"),
    "stop": ("measure",),
}
"""By what an entry of a list is known again although another of its values was changed; the first has to be alike."""


@dataclass(frozen=True)
class Alteration:
    """A value that is not as it was sealed."""

    table: Sealed
    key: str
    """The key; empty where a whole entry was added or dropped."""
    before: Any
    """What was sealed; None where nothing was."""
    after: Any
    of: Entry = field(default_factory=dict)
    """The entry of a list that it belongs to, as it is, or was where it is gone."""

    @property
    def is_kept_back(self) -> bool:
        """Whether it was changed and neither value is given."""
        return self.before is None and self.after is None


def since(seal: Seal | None) -> tuple[Alteration, ...]:
    """Each value that was changed since it was sealed, table by table."""
    if seal is None:
        return ()
    found: list[Alteration] = []
    for table in dict.fromkeys(change.table for change in seal.changes):
        of_table = [change for change in seal.changes if change.table == table]
        then = [_entry(change) for change in of_table if change.then > change.now]
        now = [_entry(change) for change in of_table if change.now > change.then]
        found += _entries(table, table, then, now) if table in IDENTITY else _keys(table, _merged(then), _merged(now))
    return tuple(found)


def _entry(change: SealChange) -> Entry:
    """The part that was changed; one that no release can have as the value of no key."""
    part = json.loads(change.part)
    return part if isinstance(part, dict) else {"": part}


def _merged(parts: Sequence[Entry]) -> Entry:
    return {key: value for part in parts for key, value in part.items()}


def _keys(table: Sealed, then: Entry, now: Entry, of: Entry | None = None) -> Iterator[Alteration]:
    """The keys of a table, or of an entry, whose values differ; of values that are not given all."""
    for key in dict.fromkeys((*then, *now)):
        before, after = then.get(key), now.get(key)
        if key in IDENTITY and _are_entries(before) and _are_entries(after):
            yield from _entries(table, key, before or [], after or [])
        elif before != after or (before is None and after is None):
            yield Alteration(table, key, before, after, of or {})


def _are_entries(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(each, dict) for each in value))


def _entries(table: Sealed, kind: str, then: list[Entry], now: list[Entry]) -> Iterator[Alteration]:
    """The entries of a list: each beside the one that is most like it, the rest as dropped or added."""
    left = [each for each in now if each not in then]
    for entry in then:
        if entry in now:
            continue
        alike = [each for each in left if each.get(IDENTITY[kind][0]) == entry.get(IDENTITY[kind][0])]
        if not alike:
            yield Alteration(table, "", entry, None, entry)
            continue
        other = max(alike, key=lambda each: sum(each.get(key) == entry.get(key) for key in (*IDENTITY[kind], *entry)))
        left.remove(other)
        yield from _keys(table, entry, other, other)
    for entry in left:
        yield Alteration(table, "", None, entry, entry)
