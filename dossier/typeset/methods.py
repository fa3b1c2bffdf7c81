"""How a number was made, in words: `words/methods.toml` has the texts of every step.

Of a step `text` is what it is called; `in_kind` the same without what holds for one site alone, "" where nothing is
left; `joined` stands between the step before and this one, "; " unless given; `leads` between this step and the next,
whatever that would ask for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from dossier.core.facts import Fact, Value
from dossier.core.types import unit_of
from dossier.typeset import numbers, reasons
from dossier.typeset.words import period
from dossier.words import entries, sentence


def method_text(method: Iterable[Fact], in_kind: bool = False) -> str:
    """How something was made, as one sentence without a full stop: "DeLong, logit"."""
    return "".join(lead + text for lead, text in _links(_pieces(method, in_kind)))


def method_parts(method: Iterable[Fact], in_kind: bool = False) -> tuple[str, ...]:
    """The parts of the sentence that semicolons join; `in_kind` without what holds for one site alone."""
    parts: list[str] = []
    for lead, text in _links(_pieces(method, in_kind)):
        if lead in ("", "; "):
            parts.append(text)
        else:
            parts[-1] += lead + text
    return tuple(parts)


Piece = tuple[str, str, str | None]
"""What joins a text to the one before, the text, and what joins the next to it."""


def _pieces(method: Iterable[Fact], in_kind: bool) -> Iterator[Piece]:
    for step in method:
        if step.code == "each_its_own":
            yield from _side_by_side(_facts_of(step["one"]), _facts_of(step["other"]), in_kind)
            continue
        words = _words(step)
        if text := _Step(in_kind).rendered(step, ""):
            yield words.get("joined", "; "), text, words.get("leads")


def _side_by_side(facts: Iterable[Fact], other: Iterable[Fact], in_kind: bool) -> Iterator[Piece]:
    """Two methods, said once where they read the same."""
    first, second = list(_pieces(facts, in_kind)), list(_pieces(other, in_kind))
    yield from first
    if first != second:
        (_, text, leads), *rest = second
        yield from ((" and ", text, leads), *rest)


def _links(pieces: Iterable[Piece]) -> Iterator[tuple[str, str]]:
    """Each text behind what joins it to the one before; nothing stands before the first."""
    lead: str | None = ""
    for joined, text, leads in pieces:
        yield joined if lead is None else lead, text
        lead = leads


def _words(step: Fact) -> dict[str, str]:
    words = entries("methods")[step.code]
    return {"text": words} if isinstance(words, str) else words


def _facts_of(value: Value) -> tuple[Fact, ...]:
    return tuple(each for each in value if isinstance(each, Fact)) if isinstance(value, tuple) else ()


class _Step(sentence.Sentence):
    """Writes the values of a step into its text."""

    ways: ClassVar[sentence.Ways] = {
        **sentence.Sentence.ways,
        "period": lambda number, unit: period(int(number), unit_of(unit)),
        "threshold": lambda value, _: numbers.threshold(value),
        "percentage": lambda share, _: f"{share * 100:g}",
        "percentages": lambda shares, _: ", ".join(f"{share * 100:g}" for share in shares),
        # Of unequal clusters they are no whole number.
        "degrees": lambda freedom, _: f"{freedom:,.{0 if freedom == int(freedom) else 1}f}",
    }

    def __init__(self, in_kind: bool) -> None:
        self.in_kind = in_kind

    def rendered(self, fact: Fact, how: str) -> str:
        """A step, or a reason within a step."""
        if fact.code not in entries("methods"):
            return reasons.reason_text(fact)
        words = _words(fact)
        return self.filled(words.get("in_kind", words["text"]) if self.in_kind else words["text"], dict(fact.values))

    def written(self, value: Any, how: str = "") -> str:
        """A value as its text asks for it; the steps that a step holds as a method."""
        held = _facts_of(value)
        if how == "by_site":
            return self._by_site(held)
        return method_text(held, self.in_kind) if held else super().written(value, how)

    def _by_site(self, sites: tuple[Fact, ...]) -> str:
        """What is said of each site, by its name; by the number of the sites that share it where they have no names."""
        said = [self.rendered(site, "") for site in sites]
        if all(site["name"] is not None for site in sites):
            return ", ".join(f"{site['name']} ({why})" for site, why in zip(sites, said, strict=True))
        counts = {why: said.count(why) for why in said}
        return ", ".join(f"{count} {'site' if count == 1 else 'sites'} ({why})" for why, count in counts.items())
