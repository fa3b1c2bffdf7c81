"""How each number of this dossier is computed: formula, interval, source, and where a paper prints another formula."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from dossier.findings.glossary import used
from dossier.findings.sentence import Sentence
from dossier.types import POOLED, Estimate, Evidence, Term
from dossier.typeset import (
    MINUS,
    Cell,
    Column,
    Row,
    Table,
    anchor,
    counted,
    listing,
    named,
    sentence_case,
    within_sentence,
)

CHAPTER_OF_THE_CAUTION = "caution"
CLIPPED = r"logit of \d+ risks clipped to 1e-12 from 0 or 1"


class Chapter(Protocol):
    """A chapter of the book, as far as it matters here."""

    @property
    def name(self) -> str:
        """Its word."""

    @property
    def title(self) -> str:
        """Its title on the page."""


def finding(evidence: Evidence) -> Sentence:
    """How many measures there are, and for how many a paper prints something else."""
    seen = {result.term for result in evidence.results if isinstance(result.found, Estimate)}
    other = [name for name in seen if name in evidence.terms and evidence.terms[name].differs]
    rest = f"{counted(len(other), 'of them differs', 'of them differ')} from a published form, with the reason."
    return Sentence(f"Formula, interval and source of {counted(len(seen), 'measure')}.", rest if other else "")


def tables(evidence: Evidence, chapters: Sequence[Chapter]) -> tuple[Table, ...]:
    """A table a chapter: each measure that was estimated, with its formula, its interval as taken, and its source."""
    terms = used(evidence, {chapter.name for chapter in chapters})
    made = []
    for chapter in chapters:
        members = [term for term in evidence.terms.values() if term in terms and _belongs(term) == chapter.name]
        if members:
            made.append(_table(evidence, chapter.name, chapter.title, members))
    return tuple(made)


def _belongs(term: Term) -> str:
    """The chapter in which a measure is printed."""
    return CHAPTER_OF_THE_CAUTION if term.tier == "caution" else term.chapter


def _table(evidence: Evidence, chapter: str, title: str, terms: list[Term]) -> Table:
    return Table(
        name=anchor(f"table-methods-{chapter}"),
        title=f"{title}.",
        note="",
        head="Measure",
        columns=(Column("Formula", words=True), Column("Interval", words=True), Column("Source", words=True)),
        rows=tuple(_row(term, way) for term, way in zip(terms, _intervals(evidence, terms), strict=True)),
        footnotes=tuple(_differs(term) for term in terms if term.differs),
    )


def _row(term: Term, interval: str) -> Row:
    cells = (formula(term), sentence_case(interval), "; ".join(term.cites))
    return Row(sentence_case(term.label), tuple(Cell(text, kind="word") for text in cells))


def formula(term: Term) -> str:
    """The formula with true minus signs; the hyphen of a word stays one."""
    return re.sub(r"(?<![A-Za-z])-|-(?![A-Za-z])", MINUS, term.formula)


def _differs(term: Term) -> str:
    return f"{sentence_case(term.label)}: {term.differs}."


def _intervals(evidence: Evidence, terms: list[Term]) -> list[str]:
    """How each interval was taken: the method of most datasets, and where others differ the next one.

    What neighbours share is said once.
    """
    said = []
    above = ""
    for term in terms:
        ways = _ways(evidence, term)
        first = ways[0] if ways else ""
        usual = "as above" if first and first == above else first
        more = f"; or {_rest(first, ways[1])}" if len(ways) > 1 else ""
        said.append(f"{usual}{more}" + (", or another" if len(ways) > 2 else ""))
        above = first
    return said


def _ways(evidence: Evidence, term: Term) -> list[str]:
    """The methods by which the interval was taken, the most frequent first."""
    found = [one for one in evidence.results if one.term == term.name and isinstance(one.found, Estimate)]
    alone = all(one.dataset == POOLED for one in found)
    methods = [
        _in_general(one.found.method)
        for one in found
        if isinstance(one.found, Estimate) and (alone or one.dataset != POOLED)
    ]
    return sorted(set(methods), key=lambda way: (-methods.count(way), way))


def _in_general(method: str) -> str:
    """A method without what it says of one dataset alone: counts of clipped risks and of lost replicates."""
    general = re.sub(rf"; {CLIPPED}|^{CLIPPED}; ", "", method.removesuffix(", apparent"))
    return re.sub(
        r"(\d+) replicates, (\d+) without a \w+ left out",
        lambda found: f"{int(found[1]) + int(found[2])} replicates",
        general,
    )


def _rest(first: str, second: str) -> str:
    """The second method from the clause on in which it parts from the first."""
    clauses, others = (re.split(r"(?<=[,;]) ", method) for method in (first, second))
    while len(others) > 1 and clauses and clauses[0].rstrip(",;") == others[0].rstrip(",;"):
        clauses, others = clauses[1:], others[1:]
    return " ".join(others)


def pooling(evidence: Evidence) -> str:
    """How the sites were taken together, in one sentence; empty when nothing was pooled."""
    pooled = [
        (evidence.terms[one.term].label, one.found.method)
        for one in evidence.results
        if one.dataset == POOLED and one.term in evidence.terms and isinstance(one.found, Estimate)
        if evidence.terms[one.term].chapter not in ("robustness", "pooled")
    ]
    ways: dict[str, list[str]] = {}
    for label, method in pooled:
        ways.setdefault(method, []).append(within_sentence(label))
    return " ".join(f"{sentence_case(listing(labels))}: {named(evidence, method)}." for method, labels in ways.items())
