"""Chapters that stay away: what would fill them, or why they are empty where all that they ask for is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dossier.core.facts import Fact, Value
from dossier.core.over_time import OVER_TIME
from dossier.core.types import Absent, CurveResult, Evidence, Result, externals
from dossier.report.chapters.chapter import Chapter
from dossier.typeset.reasons import DATASETS, why
from dossier.typeset.words import in_words, sentence_case

MOST_REASONS = 2
"""Reasons that are printed of one chapter."""


def filled(evidence: Evidence, chapter: Chapter) -> Chapter:
    """A chapter that stays away, with what would fill it; with the reason where that is given already."""
    reasons = _reasons(evidence, chapter.name) if chapter.is_given(evidence) else ""
    of_classes = chapter.fill_of_classes if evidence.release.outcome.classes else ""
    return replace(chapter, fill=reasons or of_classes or chapter.fill)


def _reasons(evidence: Evidence, chapter: str) -> str:
    """Why no measure of a chapter has a number at the external sites, the most frequent reasons first."""
    sites = {site.name: site.site for site in externals(evidence)}
    where: dict[Fact, dict[str, Fact]] = {}
    # What is followed by calendar period are curves, of measures of other chapters.
    gaps: list[Result | CurveResult] = [*evidence.by_chapter[chapter]]
    gaps += evidence.by_curve[OVER_TIME] if chapter == "monitoring" else ()
    for result in gaps:
        if result.dataset in sites and isinstance(result.found, Absent):
            shared = _without(result.found.reason, result.dataset)
            where.setdefault(shared, {}).setdefault(result.dataset, result.found.reason)
    ordered = sorted(where, key=lambda reason: -len(where[reason]))[:MOST_REASONS]
    return " ".join(f"{_said(evidence, where[reason])}." for reason in ordered)


def _without(reason: Fact, dataset: str) -> Fact:
    """A reason that does not say of which dataset it is: the same for all that share it."""
    return reason.with_values(lambda fact, name, value: None if name in DATASETS and value == dataset else value)


def _said(evidence: Evidence, where: Mapping[str, Fact]) -> str:
    """A reason with the first of its sites, and how many more have it."""
    first = next(site for site in externals(evidence) if site.name in where)
    more = f" (and {in_words(len(where) - 1)} more)" if len(where) > 1 else ""
    names = iter((f"{first.site}{more}",))

    def named(fact: Fact, name: str, value: Value) -> Value:
        return next(names, first.site) if name in DATASETS and value == first.name else value

    return sentence_case(why(evidence, where[first.name].with_values(named)))
