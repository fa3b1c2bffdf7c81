"""Where the methods come from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import quote

from dossier.core.bibliography import Source, source
from dossier.core.types import Evidence
from dossier.report.chapters.chapter import Chapter
from dossier.report.chapters.glossary import used
from dossier.report.chapters.sentence import Sentence
from dossier.typeset.words import within_sentence


@dataclass(frozen=True)
class Reference:
    """A source with the measures that rest on it, in the words of the glossary."""

    source: Source
    measures: tuple[str, ...]

    @property
    def link(self) -> str:
        """Where the source is found; empty without a DOI."""
        return f"https://doi.org/{quote(self.source.doi, safe='/:;().')}" if self.source.doi else ""


def finding(evidence: Evidence) -> Sentence:
    """How to read the list."""
    return Sentence("Sources of the methods, with the measures that rest on each.")


def cited(evidence: Evidence, chapters: Collection[str]) -> list[Reference]:
    """Each source once, in alphabetical order, with the measures of these chapters that cite it."""
    measures: dict[Source, list[str]] = {}
    for term in used(evidence, chapters):
        for short in term.cites:
            measures.setdefault(source(short), []).append(within_sentence(term.label))
    return [Reference(one, tuple(labels)) for one, labels in sorted(measures.items(), key=lambda item: item[0].text)]


CHAPTER = Chapter("references", "References", finding, part="Annex")
