"""Chapters that stay away: what would fill them, or why they are empty where all that they ask for is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dossier.facts import Fact
from dossier.findings.chapter import Chapter
from dossier.types import Absent, Evidence, externals
from dossier.typeset.reasons import Names, known_names, reason_text
from dossier.typeset.words import in_words, sentence_case

MOST_REASONS = 2
"""Reasons that are printed of one chapter."""


def filled(evidence: Evidence, chapter: Chapter) -> Chapter:
    """A chapter that stays away, with what would fill it; with the reason where that is given already."""
    why = _reasons(evidence, chapter.name) if chapter.is_given(evidence) else ""
    of_classes = chapter.fill_of_classes if evidence.release.outcome.classes else ""
    return replace(chapter, fill=why or of_classes or chapter.fill)


def _reasons(evidence: Evidence, chapter: str) -> str:
    """Why no measure of a chapter has a number at the external sites, the most frequent reasons first."""
    sites = {site.name: site.site for site in externals(evidence)}
    where: dict[str, dict[str, Fact]] = {}
    for one in evidence.results:
        if one.dataset in sites and isinstance(one.found, Absent) and evidence.terms[one.term].chapter == chapter:
            shared = reason_text(one.found.reason, Names({one.dataset: HERE}))
            where.setdefault(shared, {}).setdefault(one.dataset, one.found.reason)
    ordered = sorted(where, key=lambda reason: (-len(where[reason]), reason))[:MOST_REASONS]
    return " ".join(f"{_said(evidence, where[reason])}." for reason in ordered)


HERE = "\N{REPLACEMENT CHARACTER}"
"""The place of a dataset's name in a reason that several datasets share."""


def _said(evidence: Evidence, where: Mapping[str, Fact]) -> str:
    """A reason with the first of its sites, and how many more have it."""
    first = next(site for site in externals(evidence) if site.name in where)
    more = f" (and {in_words(len(where) - 1)} more)" if len(where) > 1 else ""
    known = known_names(evidence)
    text = reason_text(where[first.name], replace(known, datasets={**known.datasets, first.name: HERE}))
    return sentence_case(text.replace(HERE, f"{first.site}{more}", 1).replace(HERE, first.site))
