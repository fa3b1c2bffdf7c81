"""What is said differently of an outcome of several classes: of classes, not of events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from dossier.core import multiplicity, types
from dossier.report.chapters import sentence
from dossier.typeset.names import label_of, shown
from dossier.typeset.numbers import TIED, in_text, per_cent, short, threshold
from dossier.typeset.tables import Cell, Column, Row, Table, worded
from dossier.typeset.words import listing, named_or_counted, part_of
from dossier.words import entries

OF_PAIRS = partial(named_or_counted, most=4, what="classes and sites")
"""Names classes at sites while they are few; of more it gives the count."""


def labels(evidence: types.Evidence) -> tuple[str, ...]:
    """The classes in order; none for an outcome of two."""
    return evidence.release.outcome.classes or ()


def at(label: str | None) -> types.At:
    """The setting of what is of one class, where there is one."""
    return {"class": label} if label else {}


@dataclass(frozen=True)
class OneAgainstRest:
    """A measure of one class against the rest at one site."""

    site: types.DatasetSummary
    label: str
    found: types.Estimate

    @property
    def named(self) -> str:
        """The class and the site."""
        return f"{self.label} at {self.site.site}"


def by_class(evidence: types.Evidence, measure: str, /, **at: float | str) -> list[OneAgainstRest]:
    """A measure of every class at every external site, from the lowest value to the highest."""
    found = [
        OneAgainstRest(site, label, estimate)
        for site in types.externals(evidence)
        for label in labels(evidence)
        if isinstance(estimate := types.find(evidence, measure, site.name, **{**at, "class": label}), types.Estimate)
    ]
    return sorted(found, key=lambda each: each.found.value)


def ends(evidence: types.Evidence, measure: str, every: list[OneAgainstRest]) -> tuple[str, str]:
    """The lowest and the highest value over classes and sites, each with where it is: a mean may hide both."""
    low, high = (f"{short(evidence, measure, each.found.value)} ({each.named})" for each in (every[0], every[-1]))
    return low, high


# ---- the chapters' sentences ----------------------------------------------------------------------------------------


def results(evidence: types.Evidence) -> sentence.Sentence:
    """The mean AUROC of the classes over all sites, which class is hardest, and where the risks of a class are off."""
    pooled = types.find(evidence, "auroc", types.POOLED)
    if isinstance(pooled, types.Absent):
        sites = sentence.estimated(evidence, "auroc")
        lead = (
            f"The AUROC, averaged over the classes, {sentence.over_sites(evidence, 'auroc', sites)}."
            if sites
            else "At no external site can discrimination be averaged over the classes."
        )
        return sentence.Sentence(lead, sentence.where_risks_are_off(evidence, "for"))
    parts = [sentence.new_hospital(evidence)]
    # The ends of the classes' pooled AUROCs.
    found = [(types.find(evidence, "auroc", types.POOLED, **{"class": label}), label) for label in labels(evidence)]
    known = sorted((estimate.value, label) for estimate, label in found if isinstance(estimate, types.Estimate))
    ends_of = [f"{short(evidence, 'auroc', value)} ({label})" for value, label in known]
    parts += [f"By class the AUROC is lowest at {ends_of[0]} and highest at {ends_of[-1]}."] if len(known) > 1 else []
    lead = f"The AUROC, pooled and averaged over the classes, is {in_text(evidence, 'auroc', pooled)}."
    return sentence.Sentence(lead, " ".join([*parts, sentence.where_risks_are_off(evidence, "for")]).strip())


def calibration(evidence: types.Evidence) -> sentence.Sentence:
    """The ends of O/E over classes and sites, and where slopes are off."""
    ratios = by_class(evidence, "oe_ratio")
    if not ratios:
        return sentence.Sentence("At no external site can calibration be estimated.")
    first, last = ends(evidence, "oe_ratio", ratios)
    lead = f"Observed over expected patients of a class (O/E): lowest {first}, highest {last}."
    return sentence.calibration_by_state(evidence, lead, lambda which: OF_PAIRS(which, among=len(ratios)), "for")


def utility(evidence: types.Evidence) -> sentence.Sentence:
    """The ends of the gain at the primary threshold over classes and sites, and at how many it is more than chance."""
    at = evidence.release.thresholds.primary
    if at is None:
        return sentence.Sentence("No threshold is declared.", "Net benefit is shown over a range of thresholds only.")
    every = by_class(evidence, "net_benefit_gain", threshold=at)
    if not every:
        return sentence.Sentence("At no external site can net benefit be estimated.")
    first, last = ends(evidence, "net_benefit_gain", every)
    what = f"At a threshold of{TIED}{threshold(at)} for the risk of one class, the net benefit over the better default"
    lead = f"{what} is lowest at {first} and highest at {last}."
    stands = {state: [each for each in every if multiplicity.gain(each.found) == state] for state in STANDS}
    shown, among = len(stands["shown"]), len(every)
    rest = f"A gain above 0 is shown for {part_of(shown, among)} classes and sites"
    rest += "".join(
        f"; {words} for {OF_PAIRS([each.named for each in stands[state]], among=among)}"
        for state, words in STANDS.items()
        if words and stands[state]
    )
    return sentence.Sentence(lead, f"{rest}.")


STANDS: Mapping[types.State, str] = entries("pages")["gains_of_classes"]
"""What is said of the classes and sites where a gain stands so, behind how many show it."""


def by_site(evidence: types.Evidence) -> tuple[Table, ...]:
    """The patients of each class in each dataset, with their share."""
    known = labels(evidence)
    if not known:
        return ()
    rows = []
    for dataset in shown(evidence):
        counts = dataset.class_counts.values()
        cells = [Cell(f"{count:,}", per_cent(count / dataset.n if dataset.n else 0.0), "plain") for count in counts]
        if cells:
            rows.append(Row(label_of(dataset), (Cell.count(dataset.n), *cells)))
    return (worded("classes", rows, [Column(label, intervals=True) for label in known]),)


# ---- the committee's words ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OfClass:
    """The patients of one class at a hospital, and what the model calls them."""

    label: str
    count: int
    named: tuple[tuple[str, int], ...]
    """Each class with how many it calls so."""

    @property
    def right(self) -> int:
        """How many are called what they are."""
        return dict(self.named)[self.label]


def called(evidence: types.Evidence, site: types.DatasetSummary) -> tuple[OfClass, ...]:
    """What the model calls the patients of each class at a hospital; empty where nobody counted them."""
    known, curve = labels(evidence), types.find_curve(evidence, "confusion_matrix", site.name)
    if isinstance(curve, types.Absent) or not known:
        return ()
    k = len(known)
    counts = [int(value or 0) for value in curve.columns["count"]]
    return tuple(
        OfClass(label, sum(counts[j::k]), tuple(zip(known, counts[j::k], strict=True))) for j, label in enumerate(known)
    )


def named_rightly(evidence: types.Evidence, site: types.DatasetSummary) -> float | None:
    """The share of a hospital's patients whose class the model names; None where nobody counted them."""
    found = called(evidence, site)
    patients = sum(of_class.count for of_class in found)
    return sum(of_class.right for of_class in found) / patients if patients else None


def named_rightly_by_class(evidence: types.Evidence, site: types.DatasetSummary) -> tuple[float | None, ...]:
    """The same of each class; None where the hospital has no patient of it."""
    found = {of_class.label: of_class for of_class in called(evidence, site)}
    return tuple(
        found[label].right / found[label].count if label in found and found[label].count else None
        for label in labels(evidence)
    )


def in_sentences(evidence: types.Evidence, site: types.DatasetSummary) -> tuple[str, ...]:
    """What the model calls the patients of each class at a hospital, in words."""
    texts = []
    for of_class in called(evidence, site):
        others = [f"{count:,} {label}" for label, count in of_class.named if count and label != of_class.label]
        wrong = f"; it calls {listing(others)}" if others else ""
        texts.append(f"Of {of_class.count:,} with {of_class.label} it names {of_class.right:,} rightly{wrong}.")
    return tuple(texts)
