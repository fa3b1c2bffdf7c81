"""How the model compares with its rival on the same rows."""

from __future__ import annotations

from dataclasses import replace

from dossier.core.types import Evidence
from dossier.report.chapters.chapter import Chapter, measured
from dossier.report.chapters.sentence import Sentence, at_the_primary_threshold, estimated, primary_threshold
from dossier.typeset.measures import chapter_tables
from dossier.typeset.numbers import level_of, threshold, value_of
from dossier.typeset.tables import Table
from dossier.typeset.words import how_many, in_words


def finding(evidence: Evidence) -> Sentence:
    """At how many sites the interval of the difference of the AUROC excludes 0, and its range."""
    rival = evidence.release.prediction.rival_label
    sites = estimated(evidence, "auroc_difference", against=rival)
    if not sites:
        return Sentence("At no external site can the two models be compared.")
    better = sum(1 for _, found in sites if found.low is not None and found.low > 0)
    worse = sum(1 for _, found in sites if found.high is not None and found.high < 0)
    what = "mean AUROC of the classes" if evidence.release.outcome.classes else "AUROC"
    term = replace(evidence.terms["auroc_difference"], digits=2)
    low, high = (f"{value_of(found, term)} ({site.site})" for site, found in (sites[0], sites[-1]))
    if len(sites) == 1:
        verdict = "is higher" if better else "is lower" if worse else "is not shown to differ"
        sides = "excludes" if better or worse else "includes"
        return Sentence(
            f"Against {rival}, the {what} {verdict} ({level_of(evidence)} CI {sides} 0).",
            f"The difference is {value_of(sites[0][1], term)}.",
        )
    return Sentence(
        f"Against {rival}, the {what} is higher at {how_many(better)} and lower at {how_many(worse)} of "
        f"{in_words(len(sites))} sites ({level_of(evidence)} CI excludes 0).",
        f"The difference runs from {low} to {high}.",
    )


def tables(evidence: Evidence) -> tuple[Table, ...]:
    """The other model's own numbers, and the differences from it at the primary threshold, side by side."""
    return chapter_tables(_without_threshold(at_the_primary_threshold(evidence)), "comparison")


def _without_threshold(evidence: Evidence) -> Evidence:
    """The evidence with the one threshold that is left in the label of its measure instead of its settings."""
    at = primary_threshold(evidence)
    measure = "net_benefit_difference"
    if at is None or measure not in evidence.terms:
        return evidence
    term = evidence.terms[measure]
    terms = {**evidence.terms, measure: replace(term, at=(), label=f"{term.label} at {threshold(at)}")}
    results = tuple(
        replace(one, at={name: value for name, value in one.at.items() if name != "threshold"})
        if one.term == measure
        else one
        for one in evidence.results
    )
    return replace(evidence, terms=terms, results=results)


def _has_rival(evidence: Evidence) -> bool:
    """Whether the release names another model."""
    prediction = evidence.release.prediction
    return bool(prediction.rival or prediction.rivals)


CHAPTER = Chapter(
    "comparison",
    "Comparison with another model",
    finding,
    has=lambda evidence: _has_rival(evidence) and measured("comparison")(evidence),
    fill="Name a rival column in [prediction].",
    fill_of_classes="Name rivals, one column a class, in [prediction].",
    is_given=_has_rival,
)
