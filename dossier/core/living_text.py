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


def places(text: str) -> Iterator[Place]:
    """The places of a text, in their order."""
    return map(Place.of, PLACE.finditer(text))
