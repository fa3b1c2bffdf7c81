"""Chapters that stay away: what would fill them, or why they are empty where all that they ask for is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dossier.contents import FILL_OF_CLASSES, Chapter
from dossier.facts import Fact
from dossier.types import Absent, DatasetSummary, Evidence, externals
from dossier.typeset.reasons import Names, known_names, reason_text
from dossier.typeset.words import in_words, sentence_case

MOST_REASONS = 2
"""Reasons that are printed of one chapter."""


def filled(evidence: Evidence, chapter: Chapter) -> Chapter:
    """A chapter that stays away, with what would fill it; with the reason where that is given already."""
    is_given = GIVEN.get(chapter.name)
    why = _reasons(evidence, chapter.name) if is_given is not None and is_given(evidence) else ""
    several = bool(evidence.release.outcome.classes)
    fill = FILL_OF_CLASSES.get(chapter.name, chapter.fill) if several else chapter.fill
    return replace(chapter, fill=why or fill)


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


def _has_both(site: DatasetSummary) -> bool:
    """Whether a site has patients of every class."""
    if site.class_counts:
        return all(site.class_counts.values())
    return site.events is not None and 0 < site.events < site.n


def _any_with_both(evidence: Evidence) -> bool:
    return any(_has_both(site) for site in externals(evidence))


def _predictors_on_both_sides(evidence: Evidence) -> bool:
    developed = any(one.features for one in evidence.datasets if one.role == "development")
    return developed and any(site.features for site in externals(evidence))


def _performance_at_home(evidence: Evidence) -> bool:
    return any(one.role == "internal" for one in evidence.datasets) or bool(evidence.release.declared_performance)


GIVEN: Mapping[str, Callable[[Evidence], bool]] = {
    "utility": lambda evidence: bool(evidence.release.thresholds.declared),
    "accuracy": _any_with_both,
    "severity": lambda evidence: evidence.release.severity is not None,
    "advice": lambda evidence: not evidence.release.outcome.classes and _any_with_both(evidence),
    "comparison": lambda evidence: bool(evidence.release.rivals),
    "correspondence": _predictors_on_both_sides,
    "robustness": lambda evidence: _predictors_on_both_sides(evidence) and _performance_at_home(evidence),
    "sample": _any_with_both,
    "reliability": lambda evidence: not evidence.release.outcome.classes and bool(evidence.release.readers),
}
"""Whether a release gives what the sentence of a chapter asks for."""
