"""A fault in words: `words/faults.toml` has what is wrong and how to mend it, `words/phrases.toml` the facts within."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from dossier.core.facts import Count, Fact, Value
from dossier.words import entries, sentence, wording

ARGUMENTS = {"subgroup": "subgroups"}
"""What a table of release.toml is called among the arguments, where it has another name there."""


def what(fault: Fact, voice: wording.Voice = "release") -> str:
    """What is wrong; of rows of one cause each case, and how many are of another."""
    text, values, fill = entries("faults")[fault.code]["what"], dict(fault.values), _Fault(voice).filled
    cases, others = values.get("cases"), values.get("others")
    if not isinstance(cases, tuple):
        return fill(text, values)
    texts = [fill(text, {**values, **dict(case.values)}) for case in cases if isinstance(case, Fact)]
    rest = [f"And {others.number} more of this kind."] if isinstance(others, Count) and others.number else []
    return " ".join([*texts, *rest])


def fix(fault: Fact, voice: wording.Voice = "release") -> str:
    """How to mend it, in release.toml or, where there is none, in the table, on the command line, in the arguments."""
    entry = entries("faults")[fault.code]
    near = entry.get("near") if fault.get("near") is not None else None
    return _Fault(voice).filled(near or entry.get(voice, entry["fix"]), dict(fault.values))


def phrase(fact: Fact, voice: wording.Voice = "release") -> str:
    """The words of a fact within a sentence."""
    text = entries("phrases")[fact.code]
    if not isinstance(text, str):
        text = text.get(voice, text["text"])
    return _Fault(voice).filled(text, dict(fact.values))


def page() -> str:
    """The catalogue as a page of the documentation."""
    cells = ((f"`{code}`", entry["what"], entry["fix"]) for code, entry in sorted(entries("faults").items()))
    rows = (" | ".join(cell.replace("|", "\\|") for cell in row) for row in cells)
    plain = (f"| {row.replace('{{', '{').replace('}}', '}')} |" for row in rows)
    head = ("# Faults", "", *PAGE, "", "| code | what is wrong | how to mend it |", "|---|---|---|")
    return "\n".join([*head, *plain, ""])


PAGE = (
    "Every fault has a code, which `dossier check --json` gives beside its words.",
    "What stands in braces is filled in; behind a colon stands how it is written. Written by `make faults`.",
)


class _Fault(sentence.Sentence):
    """Writes the values of a fault into its text: names cut short, numbers as typed, counts with their word."""

    joiners: ClassVar[sentence.Joiners] = {**sentence.Sentence.joiners, "": sentence.Sentence.joiners["listed"]}

    def __init__(self, voice: wording.Voice = "release") -> None:
        self.voice = voice

    def filled(self, text: str, values: Mapping[str, Value]) -> str:
        """The text with its values, and in the words of arguments where there is no release.toml to look into."""
        if self.voice == "frame":
            text = re.sub(r" (?:in|of|to) \[outcome\]", "", text).replace("[[dataset]]", "frame")
            named = re.compile(r"(?:\ban? )?(?<!\.)\[\[?([a-z_]+)\]\]?")
            text = named.sub(lambda found: f"{ARGUMENTS.get(found[1], found[1])}=", text)
        return super().filled(text, values)

    def rendered(self, fact: Fact, how: str) -> str:
        """The words of a fact within those of a fault."""
        return phrase(fact, self.voice)

    def counted(self, count: Count, how: str) -> str:
        """A count with its word."""
        return wording.counted(count.number, count.of)

    def real(self, value: float, how: str) -> str:
        """A number as a person would type it."""
        return format(value, how) if how else wording.number(value)
