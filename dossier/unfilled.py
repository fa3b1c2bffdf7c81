"""Chapters that stay away: what would fill them, or why they are empty where all that they ask for is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dossier.contents import FILL_OF_CLASSES, Chapter
from dossier.facts import Fact, Value
from dossier.types import Absent, DatasetSummary, Evidence, externals
from dossier.typeset.reasons import DATASETS, why
from dossier.typeset.words import in_words, sentence_case

MOST_REASONS = 2
"""Reasons that are printed of one chapter."""


def filled(evidence: Evidence, chapter: Chapter) -> Chapter:
    """A chapter that stays away, with what would fill it; with the reason where that is given already."""
    is_given = GIVEN.get(chapter.name)
    reasons = _reasons(evidence, chapter.name) if is_given is not None and is_given(evidence) else ""
    several = bool(evidence.release.outcome.classes)
    fill = FILL_OF_CLASSES.get(chapter.name, chapter.fill) if several else chapter.fill
    return replace(chapter, fill=reasons or fill)


def _reasons(evidence: Evidence, chapter: str) -> str:
    """Why no measure of a chapter has a number at the external sites, the most frequent reasons first."""
    sites = {site.name: site.site for site in externals(evidence)}
    where: dict[Fact, dict[str, Fact]] = {}
    for one in evidence.results:
        if one.dataset in sites and isinstance(one.found, Absent) and evidence.terms[one.term].chapter == chapter:
            shared = _without(one.found.reason, one.dataset)
            where.setdefault(shared, {}).setdefault(one.dataset, one.found.reason)
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
    "comparison": lambda evidence: bool(evidence.release.prediction.rival or evidence.release.prediction.rivals),
    "correspondence": _predictors_on_both_sides,
    "robustness": lambda evidence: _predictors_on_both_sides(evidence) and _performance_at_home(evidence),
    "sample": _any_with_both,
    "reliability": lambda evidence: not evidence.release.outcome.classes and bool(evidence.release.readers),
}
"""Whether a release gives what the sentence of a chapter asks for."""
