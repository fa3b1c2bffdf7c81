"""Where the methods come from."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import quote

from dossier.core.types import Evidence
from dossier.report.chapters import glossary, sentence
from dossier.report.chapters.chapter import chapter
from dossier.words.sources import Source, source


@dataclass(frozen=True)
class Reference:
    """A source that the methods name, with its link."""

    source: Source

    @property
    def link(self) -> str:
        """Where the source is found; empty without a DOI."""
        return f"https://doi.org/{quote(self.source.doi, safe='/:;().')}" if self.source.doi else ""


def finding(evidence: Evidence) -> sentence.Sentence:
    """How to read the list."""
    return sentence.Sentence("Sources of the methods.", "Each measure names its own under Methods and glossary.")


def cited(evidence: Evidence, chapters: Collection[str]) -> list[Reference]:
    """Each source once, in alphabetical order, that a measure on the pages of these chapters cites."""
    used = [term for term in glossary.used(evidence, chapters) if term.on_page]
    # What a term cites, and what its own words name where they say how it differs from a paper.
    cited_here = {source(short) for term in used for short in (*term.cites, *NAMED.findall(term.differs))}
    return [Reference(source) for source in sorted(cited_here, key=lambda source: source.text)]


NAMED = re.compile(r"\[([A-Z][^\]]* \d{4})\]")
"""A source in the words of a term: its first author and its year."""


CHAPTER = chapter("references", finding)
