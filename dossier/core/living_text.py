"""Places in a declared text that stand for a number: `{auroc@knee-1}`, `{ppv@pooled threshold=0.5 Sex=female}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

PLACE = re.compile(r"\{([a-z][a-z0-9_]*)@([^\s{}]+)((?:\s+[^\s{}=]+=(?:\"[^\"{}]*\"|[^\s{}]+))*)\}")
"""A measure, or `patients` or `events`, at a dataset or `pooled`, with settings and a group."""
SETTING = re.compile(r"([^\s{}=]+)=(?:\"([^\"{}]*)\"|([^\s{}]+))")
COUNTS = ("patients", "events")


@dataclass(frozen=True)
class Place:
    """One such place, as it was written."""

    text: str
    measure: str
    dataset: str
    settings: Mapping[str, str]

    @classmethod
    def of(cls, match: re.Match[str]) -> Place:
        """The place that was found."""
        settings = {name: quoted or plain for name, quoted, plain in SETTING.findall(match[3])}
        return cls(match[0], match[1], match[2], settings)

    def value(self, name: str) -> float | str | None:
        """A setting as results are filed under it: a number where it is one; None where it is not named."""
        text = self.settings.get(name)
        try:
            return text if text is None else float(text)
        except ValueError:
            return text


def places(text: str) -> Iterator[Place]:
    """The places of a text, in their order."""
    return map(Place.of, PLACE.finditer(text))


def others(text: str) -> Iterator[tuple[str, str]]:
    """What stands in braces and is no place: as it was written, and what the braces hold."""
    return ((match[0], match[1].strip()) for match in BRACES.finditer(text) if not PLACE.fullmatch(match[0]))


BRACES = re.compile(r"\{([^{}\n]*)\}")
