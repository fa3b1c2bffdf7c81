"""Texts with the values of a fact in them: one grammar for faults, reasons, flags and methods.

A text names a value in braces; `{replicates.out_of}` is what a value itself has. Behind a colon stands how it is set:

- a format of Python: `{rows:,}`, `{auroc:.2f}`;
- a way by its name, and what that needs: `{name:short}`, `{labels:or}`, `{columns:listed 3}`;
- two texts parted by `|`, the first for yes and for one, of numbers, counts and lists: `{sites} {sites:site|sites}`.

`{scale?: on the {scale} scale}` is a text for where there is such a value; behind `|` may stand one for where there is
none. What a way needs may be a value: `{number:period {unit}}`. A fact is written in its own words, None as nothing,
and the names of a list with commas.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from dossier.words.wording import listed, number, shortened

Joiners = Mapping[str, Callable[[Sequence[str], str], str]]
Ways = Mapping[str, Callable[[Any, str], str]]


def _quoted(text: str) -> str:
    return f'"{text}"'


def _some(names: Sequence[str], last: str, most: int = 6) -> str:
    if len(names) > most:
        return f"{', '.join(names[:most])} {last} {len(names) - most} more"
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


class Sentence:
    """Writes values into texts; a kind of text that has more ways, or facts of its own, extends it.

    Examples
    --------
    >>> Sentence().filled("{rows:,} {rows:row|rows} of {sites:or}{day?: on {day}}", {"rows": 1, "sites": ("a", "b")})
    '1 row of a or b'
    """

    joiners: ClassVar[Joiners] = {
        "": lambda names, _: ", ".join(names),
        "all": lambda names, _: ", ".join(names),
        "and": lambda names, _: " and ".join(names),
        "or": lambda names, _: " or ".join(names),
        "semicolons": lambda names, _: "; ".join(names),
        "some": _some,
        "quoted_or": lambda names, _: " or ".join(map(_quoted, names)),
        "listed": lambda names, most: listed(names, int(most or 12)),
        "words": lambda names, _: listed([name if name.isidentifier() else _quoted(name) for name in names]),
    }
    """How the names of a list are joined."""

    ways: ClassVar[Ways] = {
        "short": lambda text, _: shortened(text),
        "quoted": lambda text, _: _quoted(shortened(text)),
        "typed": lambda value, _: number(value),
    }
    """How a single value is written."""

    def filled(self, text: str, values: Mapping[str, Any]) -> str:
        """The text with its values."""
        return "".join(
            lead + ("" if field is None else self._field(field, how or "", values))
            for lead, field, how, _ in string.Formatter().parse(text)
        )

    def _field(self, field: str, how: str, values: Mapping[str, Any]) -> str:
        name, _, inner = field.rstrip("?").partition(".")
        first, either, other = how.partition("|")
        if field.endswith("?"):
            return self.filled(first if values.get(name) else other, values)
        value = self.named(name, values[name])
        value = getattr(value, inner) if inner else value
        if either:
            size = len(value) if isinstance(value, tuple) else getattr(value, "number", value)
            return first if size == 1 else other
        return self.written(value, self.filled(how, values) if "{" in how else how)

    def named(self, name: str, value: Any) -> Any:
        """A value as it is called where the text is read."""
        return value

    def written(self, value: Any, how: str = "") -> str:
        """A value as its text asks for it."""
        way, _, more = how.partition(" ")
        if value is None:
            return ""
        if way in self.ways:
            return self.ways[way](self.plain(value), more)
        if isinstance(value, tuple) or (way and way in self.joiners):
            names = [self.written(each) for each in (value if isinstance(value, tuple) else (value,))]
            return self.joiners[way](names, more)
        # This floor lies below `core`, and knows a fact and a count by what they have.
        if hasattr(value, "code"):
            return self.rendered(value, how)
        if hasattr(value, "number"):
            return self.counted(value, how)
        return self.real(value, how) if isinstance(value, float) else format(value, how)

    def plain(self, value: Any) -> Any:
        """A value as Python's own: a count as its number, a fact as its words."""
        if isinstance(value, tuple):
            return tuple(map(self.plain, value))
        return self.rendered(value, "") if hasattr(value, "code") else getattr(value, "number", value)

    def rendered(self, fact: Any, how: str) -> str:
        """A fact within the text, in its own words."""
        raise NotImplementedError

    def counted(self, count: Any, how: str) -> str:
        """How many there are."""
        return format(count.number, how)

    def real(self, value: float, how: str) -> str:
        """A number that need not be whole."""
        return format(value, how)
