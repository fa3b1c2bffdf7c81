"""How the terms are explained."""

from __future__ import annotations

from collections.abc import Collection

from dossier.core.types import Curve, Estimate, Evidence, Term
from dossier.report.chapters.chapter import chapter
from dossier.report.chapters.sentence import Sentence
from dossier.typeset import measures, words


def finding(evidence: Evidence) -> Sentence:
    """How to read the list."""
    return Sentence(
        "Every measure of these pages in one sentence.",
        "Core measures carry the judgement, supporting ones explain it, descriptive ones are read in pairs.",
    )


def explained(evidence: Evidence, chapters: Collection[str]) -> dict[str, Term]:
    """The terms of these chapters by their labels, as the methods list them."""
    return {words.sentence_case(term.label): term for term in used(evidence, chapters)}


def has_apparent(evidence: Evidence, chapters: Collection[str]) -> bool:
    """Whether these chapters print a measure of the development data."""
    developed = {dataset.name for dataset in evidence.datasets if dataset.role == "development"}
    printed = {term.name for term in used(evidence, chapters)}
    return any(
        result.term in printed and isinstance(result.found, Estimate)
        for name in developed
        for result in evidence.by_dataset[name]
    )


def printed(evidence: Evidence, chapters: Collection[str]) -> list[Term]:
    """The terms that these chapters may print, and net benefit where it is drawn alone, without a threshold."""
    drawn = any(isinstance(each.found, Curve) for each in evidence.by_curve["decision_curve"])
    also = {name for name in ("net_benefit", "net_benefit_gain") if drawn and name in evidence.terms}
    known = {term.name: term for term in used(evidence, chapters) if term.on_page}
    known |= {name: evidence.terms[name] for name in also}
    return sorted(known.values(), key=lambda term: term.label.lower())


def used(evidence: Evidence, chapters: Collection[str]) -> list[Term]:
    """The terms of these chapters that at least one estimate carries, in alphabetical order."""
    terms = (
        term
        for name, term in evidence.terms.items()
        if any(map(measures.is_estimated, evidence.by_term[name])) and measures.printed_in(evidence, term) in chapters
    )
    return sorted(terms, key=lambda term: term.label.lower())


CHAPTER = chapter("glossary", finding)
