"""Whose hospital is spoken of, and which places have enough patients to be judged."""

from __future__ import annotations

from collections.abc import Sequence

from dossier.bands import FEW_FOR_A_BAND as FEW
from dossier.bands import FEW_FOR_POOLING as VERY_FEW
from dossier.findings import classes
from dossier.findings.committee.plain import few_named
from dossier.findings.sentence import scarce
from dossier.types import DatasetSummary, Estimate, Evidence, externals, summary_of
from dossier.typeset.words import in_words, listing


def local(evidence: Evidence) -> DatasetSummary | None:
    """Our own site, when it is named."""
    return None if evidence.local_site is None else summary_of(evidence, evidence.local_site)


def places(evidence: Evidence) -> tuple[DatasetSummary, ...]:
    """The places that were tested, ours first."""
    ours = local(evidence)
    every = externals(evidence)
    return every if ours is None else (ours, *(site for site in every if site.name != ours.name))


Found = list[tuple[DatasetSummary, Estimate]]


def with_enough(found: Found) -> Found:
    """The places that have enough patients with and without the outcome, or of each class."""
    return [(site, one) for site, one in found if not lacking(site, VERY_FEW)]


def rarer_outcome(site: DatasetSummary) -> str:
    """What a site had fewer than 100 of, or nothing."""
    if site.outcome_withheld is not None:
        return f"Fewer than {site.outcome_withheld.below} patients with or without the outcome"
    rare = lacking(site, FEW)
    return f"Only {listing(rare)}" if rare else ""


def lacking(site: DatasetSummary, below: int) -> list[str]:
    """What a site has fewer than so many of, each with its count."""
    if site.class_counts:
        return [f"{count:,} of class {label}" for label, count in scarce(site, below).items()]
    words = {"event": "with", "non-event": "without"}
    return [f"{count:,} {words[of]} the outcome" for of, count in scarce(site, below).items()]


def is_here(dataset: str, evidence: Evidence) -> bool:
    """Whether a dataset is ours; without a site of our own, whether it is external."""
    if evidence.local_site is not None:
        return dataset == evidence.local_site
    return any(site.name == dataset for site in externals(evidence))


def where_it_holds(evidence: Evidence, which: Sequence[str], among: int) -> str:
    """Places by name while they are few, else how many of all; nothing where there is only ours."""
    if classes.labels(evidence):
        pairs = f"{in_words(len(which))} of {in_words(among)} pairs of class and place"
        return f"for {listing(which) if len(which) <= classes.MOST_FOR_THE_COMMITTEE else pairs}"
    if evidence.local_site is not None:
        return "here"
    return "in every place" if len(which) == among > 1 else f"in {few_named(which)}"
