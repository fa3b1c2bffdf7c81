"""How accurate the model is when confidence and the importance of each class count."""

from __future__ import annotations

from dataclasses import replace

from dossier.core.instances import Instance, Standing, accuracy_threshold, of_dataset, plain_accuracy, standing
from dossier.core.types import DatasetSummary, Estimate, Evidence, externals
from dossier.report.chapters.chapter import any_with_both, chapter, measured
from dossier.report.chapters.sentence import Sentence
from dossier.typeset import measures, tables
from dossier.typeset.numbers import as_declared, in_text, level_of, number
from dossier.typeset.words import counted, named_or_counted, sentence_case, setting
from dossier.words import entries


def finding(evidence: Evidence) -> Sentence:
    """How far H-accuracy parts from plain accuracy where most is known of it, and where the minimum is reached."""
    found = [(site, of_dataset(evidence, site.name)) for site in externals(evidence)]
    parted, reached = _parted(evidence, found), _reached(evidence)
    if not parted:
        return Sentence(reached or "At no external site can H-accuracy be estimated.")
    return Sentence(parted, reached)


def _parted(evidence: Evidence, found: list[tuple[DatasetSummary, tuple[Instance, ...]]]) -> str:
    """Plain accuracy at the site with the most instances, and what they make of it."""
    site, here = max(found, key=lambda pair: len(pair[1]), default=(None, ()))
    values = [instance.found.value for instance in here if instance.kind != "plain"]
    if site is None or not values:
        return ""
    runs = f"is {number(min(values))} to {number(max(values))}"
    of = counted(len(values), "choice of its settings", "choices of its settings")
    plain = next((instance.found for instance in here if instance.kind == "plain"), None)
    if plain is None:
        return f"Over {of}, H-accuracy in {site.site} {runs}."
    value = in_text(evidence, "accuracy", plain)
    at = accuracy_threshold(evidence)
    name = "Accuracy" if evidence.release.outcome.classes or at is None else f"Accuracy at {setting(at)}"
    return f"{name} in {site.site} is {value}; over {of}, H-accuracy there {runs}."


def instances(evidence: Evidence, of_raters: bool = False) -> tuple[tables.Table, ...]:
    """Plain accuracy and every instance of H-accuracy at each site, those that rest on numbers alone or the others."""
    every = (each for site in externals(evidence) for each in of_dataset(evidence, site.name))
    asked = {id(each.found) for each in every if each.rests_on_raters == of_raters}
    kept = tuple(each for each in evidence.results if id(each.found) in asked)
    terms = [evidence.terms[name] for name in dict.fromkeys(each.term for each in kept)]
    return measures.tables_of(replace(evidence, results=kept), terms)


WORDS: dict[Standing, str] = entries("pages")["accuracy"]


def _reached(evidence: Evidence) -> str:
    """At which sites plain accuracy reaches the minimum, by whole intervals."""
    minimum = evidence.release.h_accuracy.acceptable
    pairs = [(site.site, plain_accuracy(evidence, site.name)) for site in externals(evidence)]
    if minimum is None:
        return ""
    stand = [(name, standing(found, minimum)) for name, found in pairs if isinstance(found, Estimate)]
    texts = [
        f"{words} {named_or_counted(names)}"
        for kind, words in WORDS.items()
        if (names := [name for name, standing in stand if standing == kind])
    ]
    if not texts:
        return f"Whether accuracy reaches the acceptable {as_declared(minimum.value)} cannot be estimated."
    return sentence_case(f"the minimum acceptable is {as_declared(minimum.value)}: accuracy {'; '.join(texts)}.")


def minimum(evidence: Evidence) -> str:
    """The minimum acceptable accuracy with its interval and where it comes from; empty where none is declared."""
    declared = evidence.release.h_accuracy.acceptable
    if declared is None:
        return ""
    parts = []
    if declared.low is not None and declared.high is not None:
        parts.append(f"{level_of(evidence)} CI {as_declared(declared.low)} to {as_declared(declared.high)}")
    if declared.n is not None:
        parts.append(counted(declared.n, "answer"))
    beside = f" ({'; '.join(parts)})" if parts else ""
    source = declared.source.rstrip(".")
    return (
        f"Minimum acceptable accuracy: {as_declared(declared.value)}{beside}. Source: {source}. "
        "It is reached, or not, where the intervals do not overlap."
    )


CHAPTER = chapter("accuracy", finding, measured("accuracy"), is_given=any_with_both)
