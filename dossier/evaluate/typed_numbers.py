"""Numbers that are typed into declared words beside the name of a measure, and that no result of it supports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from dossier.core import facts, living_text, types
from dossier.core.release import Release

NUMBER = re.compile(r"(?<![\w.])(\d*\.\d+|\d+(?=\s*(?:%|per cent)))(\s*(?:%|per cent))?")
"""A decimal or a number in per cent: whole numbers count patients, years and hospitals."""
ASKED = re.compile(
    r"\b(?:at|than|threshold|least|most|above|below|over|under|width|of up to)(?: of)?\s*$", re.IGNORECASE
)
"""What stands before a number that is a setting or a demand."""
SENTENCE = re.compile(r"(?<=[.!?;])\s+")


def named(release: Release, statements: Mapping[str, str], terms: Iterable[types.Term]) -> frozenset[str]:
    """The measures that declared words name with a number behind."""
    every = tuple(terms)
    return frozenset(term.measure for _, text in _sentences(release, statements) for term, _ in _typed(text, every))


def not_found(evidence: types.Evidence, among: frozenset[str] | None = None) -> tuple[types.Flag, ...]:
    """Flag typed numbers that are no result: not a value, nor a bound, with the digits that were typed.

    `among` are the measures whose results are all there, where not those of all are.
    """
    # Every value and bound of each measure, of sites, subgroups and all of them.
    known: dict[str, list[float]] = {}
    for result in (*evidence.results, *evidence.subgroups.results):
        if isinstance(result.found, types.Estimate):
            numbers = (result.found.value, result.found.low, result.found.high)
            known.setdefault(result.measure, []).extend(number for number in numbers if number is not None)
    found = tuple(
        facts.Fact(fact.code, **dict(fact.values), label=term.label, number=number.group().strip())
        for fact, sentence in _sentences(evidence.release, evidence.statements)
        for term, number in _typed(sentence, evidence.terms.values())
        if (among is None or term.measure in among)
        and not any(_is(value, number) for value in known.get(term.measure, ()))
    )
    return (types.Flag.of(types.POOLED, facts.Fact("number_not_found", found=found)),) if found else ()


def _sentences(release: Release, statements: Mapping[str, str]) -> Iterator[tuple[facts.Fact, str]]:
    """Every sentence of the declared words without its living numbers, and where it stands."""
    texts = [(facts.Fact("number_in_statement", item=item), text) for item, text in statements.items()]
    texts += ((facts.Fact("number_in_own_words", item=called), text) for called, text in release.report.words)
    for fact, text in texts:
        yield from ((fact, sentence) for sentence in SENTENCE.split(living_text.PLACE.sub("", text)))


def _typed(sentence: str, terms: Iterable[types.Term]) -> Iterator[tuple[types.Term, re.Match[str]]]:
    """Each measure that a sentence names, with the first number behind it."""
    for term in terms:
        is_called = term.tier != "caution" and term.name == term.measure
        for name in (term.label, *term.also, *term.written) if is_called else ():
            named = re.search(rf"\b{re.escape(name)}\b(?! anal)", sentence, re.IGNORECASE)
            numbers = () if named is None else NUMBER.finditer(sentence, named.end())
            # A setting is no result.
            number = next((number for number in numbers if not ASKED.search(sentence[: number.start()])), None)
            if number:
                yield term, number


def _is(value: float, number: re.Match[str]) -> bool:
    """Whether a value, rounded to the digits of a typed number, is that number."""
    digits = len(number[1].partition(".")[2])
    typed, scale = float(number[1]), 100 if number[2] else 1
    return abs(value * scale - typed) <= 0.5 * 10.0**-digits + 1e-9
