"""Numbers that are typed into declared words beside the name of a measure, and that no result of it supports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dossier.core import facts, living_text, types

NUMBER = re.compile(r"(?<![\w.])(\d*\.\d+|\d+(?=\s*(?:%|per cent)))(\s*(?:%|per cent))?")
"""A decimal or a number in per cent: whole numbers count patients, years and hospitals."""
ASKED = re.compile(r"(?:at|than|threshold|least|most|above|below|over|under|width|of up to)(?: of)?\s*$", re.IGNORECASE)
"""What stands before a number that is a setting or a demand."""
SENTENCE = re.compile(r"(?<=[.!?;])\s+")


def not_found(evidence: types.Evidence) -> tuple[types.Flag, ...]:
    """Flag typed numbers that are no result: not a value, nor a bound, with the digits that were typed."""
    known = _known(evidence)
    own = evidence.release.report.words
    texts = [(facts.Fact("number_in_statement", item=item), text) for item, text in evidence.statements.items()]
    texts += ((facts.Fact("number_in_own_words", item=called), text) for called, text in own)
    found = tuple(
        facts.Fact(fact.code, **dict(fact.values), label=label, number=number)
        for fact, text in texts
        for sentence in SENTENCE.split(living_text.PLACE.sub("", text))
        for label, number in _unsupported(sentence, known, evidence)
    )
    return (types.Flag("number_not_found", types.POOLED, facts.Fact("number_not_found", found=found)),) if found else ()


def _known(evidence: types.Evidence) -> dict[str, list[float]]:
    """Every value and bound of each measure, of sites, subgroups and all of them."""
    known: dict[str, list[float]] = {}
    for result in (*evidence.results, *evidence.subgroups.results):
        if isinstance(result.found, types.Estimate):
            numbers = (result.found.value, result.found.low, result.found.high)
            known.setdefault(result.measure, []).extend(number for number in numbers if number is not None)
    return known


def _unsupported(sentence: str, known: dict[str, list[float]], evidence: types.Evidence) -> Iterator[tuple[str, str]]:
    """Each measure that a sentence names with the first number behind it, where no result of it is that number."""
    for term in evidence.terms.values():
        is_called = term.tier != "caution" and term.name == term.measure
        for name in (term.label, *term.also) if is_called else ():
            named = re.search(rf"\b{re.escape(name)}\b(?! anal)", sentence, re.IGNORECASE)
            numbers = () if named is None else NUMBER.finditer(sentence, named.end())
            # A setting is no result.
            number = next((number for number in numbers if not ASKED.search(sentence[: number.start()])), None)
            if number and not any(_is(value, number) for value in known.get(term.measure, ())):
                yield term.label, number.group().strip()


def _is(value: float, number: re.Match[str]) -> bool:
    """Whether a value, rounded to the digits of a typed number, is that number."""
    digits = len(number[1].partition(".")[2])
    typed, scale = float(number[1]), 100 if number[2] else 1
    return abs(value * scale - typed) <= 0.5 * 10.0**-digits + 1e-9
