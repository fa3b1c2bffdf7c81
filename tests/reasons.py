"""Reasons in tests: what one says, and one of no measure's own."""

from __future__ import annotations

from typing import Any

from dossier.core.facts import Fact
from dossier.core.types import Absent
from dossier.typeset.reasons import reason_text
from dossier.words import entries


class Said(Fact):
    """Equal to every reason of these words, and to what is absent for it."""

    def __init__(self, text: str) -> None:
        super().__init__("said", text=text)

    def __eq__(self, other: object) -> bool:
        reason = other.reason if isinstance(other, Absent) else other
        return isinstance(reason, Fact) and reason_text(reason) == self["text"]

    def __hash__(self) -> int:
        return hash(self["text"])


OF_TESTS: set[str] = set()
"""The codes that tests have made up."""


def because(text: str) -> Fact:
    """A reason of these words, which no code of ours has."""
    return _made_up(text, "reasons", _literal(text))


def limitation(text: str) -> Fact:
    """What a flag says in these words, which no flag of ours has."""
    return _made_up(text, "flags", {"text": _literal(text)})


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _made_up(text: str, kind: str, entry: str | dict[str, str]) -> Fact:
    if text not in entries(kind):
        OF_TESTS.add(text)
        entries(kind)[text] = entry
    return Fact(text)


def read(row: dict[str, Any]) -> str:
    """The words of a reason as results.json holds it."""
    return reason_text(Fact.of_json(row))
