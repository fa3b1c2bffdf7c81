"""Chapters that stay away: what would fill them, or why they are empty where all that they ask for is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dossier.core import facts, over_time, types
from dossier.report.chapters.chapter import Chapter
from dossier.typeset.reasons import DATASETS, why
from dossier.typeset.words import in_words, sentence_case

MOST_REASONS = 2
"""Reasons that are printed of one chapter."""


def filled(evidence: types.Evidence, chapter: Chapter) -> Chapter:
    """A chapter that stays away, with what would fill it; with the reason where that is given already."""
    reasons = _reasons(evidence, chapter.name) if chapter.is_given(evidence) else ""
    of_classes = chapter.fill_of_classes if evidence.release.outcome.classes else ""
    by_horizon = chapter.fill_by_horizon if evidence.release.horizon else ""
    return replace(chapter, fill=reasons or of_classes or by_horizon or chapter.fill)


def _reasons(evidence: types.Evidence, chapter: str) -> str:
    """Why no measure of a chapter has a number at the external sites, the most frequent reasons first."""
    sites = {site.name: site.site for site in types.externals(evidence)}
    where: dict[facts.Fact, dict[str, facts.Fact]] = {}
    # What is followed by calendar period are curves, of measures of other chapters.
    gaps: list[types.Result | types.CurveResult] = [*evidence.by_chapter[chapter]]
    gaps += evidence.by_curve[over_time.OVER_TIME] if chapter == "monitoring" else ()
    for result in gaps:
        if result.dataset in sites and isinstance(result.found, types.Absent):
            shared = _without(result.found.reason, result.dataset)
            where.setdefault(shared, {}).setdefault(result.dataset, result.found.reason)
    ordered = sorted(where, key=lambda reason: -len(where[reason]))[:MOST_REASONS]
    return " ".join(f"{_said(evidence, where[reason])}." for reason in ordered)


def _without(reason: facts.Fact, dataset: str) -> facts.Fact:
    """A reason that does not say of which dataset it is: the same for all that share it."""
    return reason.with_values(lambda fact, name, value: None if name in DATASETS and value == dataset else value)


def _said(evidence: types.Evidence, where: Mapping[str, facts.Fact]) -> str:
    """A reason with the first of its sites, and how many more have it."""
    first = next(site for site in types.externals(evidence) if site.name in where)
    more = f" (and {in_words(len(where) - 1)} more)" if len(where) > 1 else ""
    names = iter((f"{first.site}{more}",))

    def named(fact: facts.Fact, name: str, value: facts.Value) -> facts.Value:
        return next(names, first.site) if name in DATASETS and value == first.name else value

    return sentence_case(why(evidence, where[first.name].with_values(named)))
