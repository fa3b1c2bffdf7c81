"""Reasons in tests: what one says, and one of no measure's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dossier.core.facts import Fact
from dossier.core.types import Absent
from dossier.typeset import flags
from dossier.typeset.reasons import WORDS, reason_text


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
    return _made_up(text, WORDS)


def limitation(text: str) -> Fact:
    """What a flag says in these words, which no flag of ours has."""
    return _made_up(text, flags.WORDS)


def _made_up(text: str, words: Mapping[str, str]) -> Fact:
    if isinstance(words, dict) and text not in words:
        OF_TESTS.add(text)
        words[text] = text.replace("{", "{{").replace("}", "}}")
    return Fact(text)


def read(row: dict[str, Any]) -> str:
    """The words of a reason as results.json holds it."""
    return reason_text(Fact.of_json(row))
