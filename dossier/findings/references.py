"""Where the methods come from."""

from __future__ import annotations

from collections.abc import Collection

from dossier.bibliography import SOURCES
from dossier.findings.chapter import Chapter
from dossier.findings.glossary import used
from dossier.findings.sentence import Sentence
from dossier.types import Evidence


def finding(evidence: Evidence) -> Sentence:
    """How to read the list."""
    return Sentence("The sources of the methods, each with the measures that rest on it.")


def cited(evidence: Evidence, chapters: Collection[str]) -> list[tuple[str, list[str]]]:
    """Each source once, in alphabetical order, with the measures of these chapters that cite it."""
    sources: dict[str, list[str]] = {}
    for term in used(evidence, chapters):
        for source in term.cites:
            sources.setdefault(SOURCES.get(source, source), []).append(term.label)
    return sorted(sources.items())


CHAPTER = Chapter("references", "References", finding, part="Annex")
