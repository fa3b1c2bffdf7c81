"""How the model compares with other models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dossier.core.types import DatasetSummary, Estimate, Evidence
from dossier.report.chapters.chapter import Chapter, measured
from dossier.report.chapters.sentence import Sentence, at_the_primary_threshold, estimated, primary_threshold
from dossier.typeset.measures import chapter_tables
from dossier.typeset.numbers import level_of, number, threshold, value_of
from dossier.typeset.tables import Table
from dossier.typeset.words import how_many, in_words

MOST_NAMED = 2
"""So many other models are named in the finding; the tables have all of them."""

Sites = Sequence[tuple[DatasetSummary, Estimate]]


def finding(evidence: Evidence) -> Sentence:
    """At how many sites the interval of the difference of the AUROC excludes 0, of each other model, and its range."""
    names = [rival.name for rival in evidence.release.rivals]
    every = {name: estimated(evidence, "auroc_difference", against=name) for name in names}
    known = {name: sites for name, sites in every.items() if sites}
    if not known:
        return Sentence("At no external site can the models be compared.")
    if len(every) == 1:
        return _of_one(evidence, *next(iter(known.items())))
    shown = list(known.items())[:MOST_NAMED]
    first, *others = (f"{_sides(sites, short=index > 0)} against {name}" for index, (name, sites) in enumerate(shown))
    more = len(every) - len(shown)
    rest = f"; the tables have {in_words(more)} more" if more else ""
    lead = f"The {_what(evidence)} is higher ({level_of(evidence)} CI excludes 0) {'; '.join([first, *others])}{rest}."
    return Sentence(lead, _holm(evidence, known))


def _of_one(evidence: Evidence, rival: str, sites: Sites) -> Sentence:
    better, worse = _better_and_worse(sites)
    term = replace(evidence.terms["auroc_difference"], digits=2)
    low, high = (f"{value_of(found, term)} ({site.site})" for site, found in (sites[0], sites[-1]))
    if len(sites) == 1:
        verdict = "is higher" if better else "is lower" if worse else "is not shown to differ"
        sides = "excludes" if better or worse else "includes"
        return Sentence(
            f"Against {rival}, the {_what(evidence)} {verdict} ({level_of(evidence)} CI {sides} 0).",
            f"The difference is {value_of(sites[0][1], term)}.",
        )
    return Sentence(
        f"Against {rival}, the {_what(evidence)} is higher {_sides(sites)} ({level_of(evidence)} CI excludes 0).",
        f"The difference runs from {low} to {high}.",
    )


def _what(evidence: Evidence) -> str:
    return "mean AUROC of the classes" if evidence.release.outcome.classes else "AUROC"


def _better_and_worse(sites: Sites) -> tuple[int, int]:
    better = sum(1 for _, found in sites if found.low is not None and found.low > 0)
    return better, sum(1 for _, found in sites if found.high is not None and found.high < 0)


def _sides(sites: Sites, *, short: bool = False) -> str:
    """At how many sites the AUROC is higher than that of another model, and at how many lower."""
    better, worse = map(how_many, _better_and_worse(sites))
    among = in_words(len(sites))
    return f"at {better} and {worse} of {among}" if short else f"at {better} and lower at {worse} of {among} sites"


def _holm(evidence: Evidence, known: Mapping[str, Sites]) -> str:
    """How many differences of the AUROC are left below the level after Holm's correction."""
    every = (found.details.get("p_holm") for sites in known.values() for _, found in sites)
    tested = [p_value for p_value in every if p_value is not None]
    if not tested:
        return ""
    alpha = 1 - evidence.release.release.level
    below = sum(1 for p_value in tested if p_value < alpha)
    return (
        f"Holm's correction over the models of a site leaves {how_many(below)} of {in_words(len(tested))} differences "
        f"with p below {number(alpha, 2)}."
    )


def tables(evidence: Evidence) -> tuple[Table, ...]:
    """The other models' own numbers, and the differences from them at the primary threshold, model by model."""
    shown = _without_threshold(at_the_primary_threshold(evidence))
    return chapter_tables(_by_rival(shown) if len(evidence.release.rivals) > 1 else shown, "comparison")


def _by_rival(evidence: Evidence) -> Evidence:
    """The evidence with the other model among the settings of what is of one of several."""
    names = {rival.name for rival in evidence.release.rivals}
    setting = {
        result.term: name
        for result in evidence.results
        for name in ("against", "model")
        if result.at.get(name) in names
    }
    terms = {
        name: replace(term, at=(*term.at, setting[name])) if name in setting else term
        for name, term in evidence.terms.items()
    }
    return replace(evidence, terms=terms)


def _without_threshold(evidence: Evidence) -> Evidence:
    """The evidence with the one threshold that is left in the label of its measure instead of its settings."""
    at = primary_threshold(evidence)
    measure = "net_benefit_difference"
    if at is None or measure not in evidence.terms:
        return evidence
    term = evidence.terms[measure]
    terms = {**evidence.terms, measure: replace(term, at=(), label=f"{term.label} at {threshold(at)}")}
    results = tuple(
        replace(result, at={name: value for name, value in result.at.items() if name != "threshold"})
        if result.term == measure
        else result
        for result in evidence.results
    )
    return replace(evidence, terms=terms, results=results)


def _has_rival(evidence: Evidence) -> bool:
    """Whether the release names another model."""
    return bool(evidence.release.rivals)


CHAPTER = Chapter(
    "comparison",
    "Comparison with another model",
    finding,
    has=lambda evidence: _has_rival(evidence) and measured("comparison")(evidence),
    fill="Name other models in [[rival]].",
    fill_of_classes="Name other models, one column a class, in [[rival]].",
    is_given=_has_rival,
)
