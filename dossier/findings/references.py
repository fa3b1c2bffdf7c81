"""Where the methods come from."""

from __future__ import annotations

from dossier.bibliography import SOURCES
from dossier.findings.glossary import used
from dossier.findings.sentence import Sentence
from dossier.types import Evidence
from dossier.typeset import in_words, sentence_case


def finding(evidence: Evidence) -> Sentence:
    """How many sources the measures of this dossier rest on."""
    count = len(cited(evidence))
    return Sentence(f"{sentence_case(in_words(count))} sources stand behind the measures of this dossier.")


def cited(evidence: Evidence) -> list[tuple[str, list[str]]]:
    """Each source once, in alphabetical order, with the measures that cite it."""
    sources: dict[str, list[str]] = {}
    for term in used(evidence):
        for source in term.cites:
            sources.setdefault(SOURCES.get(source, source), []).append(term.label)
    return sorted(sources.items())
