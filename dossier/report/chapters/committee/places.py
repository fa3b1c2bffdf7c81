"""Whose hospital is spoken of, in which order hospitals stand, and which have enough patients to be judged."""

from __future__ import annotations

from dossier.core.bands import FEW_FOR_A_BAND as FEW
from dossier.core.bands import MANY_SITES
from dossier.core.types import Criterion, DatasetSummary, Estimate, Evidence, externals, find, summary_of
from dossier.report.chapters import acceptance, classes, sentence, verdict
from dossier.report.chapters.committee.plain import line, outcome_of, with_it
from dossier.typeset import names
from dossier.typeset.words import listing


def local(evidence: Evidence) -> DatasetSummary | None:
    """Our own hospital, when it is named."""
    return None if evidence.local_site is None else summary_of(evidence, evidence.local_site)


def alone(evidence: Evidence) -> DatasetSummary | None:
    """The hospital that the numbers of the first page are of: our own, or the only one; None where there are several.

    What several hospitals add up to describes none of them.
    """
    sites = externals(evidence)
    return local(evidence) or (sites[0] if len(sites) == 1 else None)


def in_question(evidence: Evidence) -> tuple[DatasetSummary, ...]:
    """Our own hospital where it is named, else all that were tested."""
    ours = local(evidence)
    return externals(evidence) if ours is None else (ours,)


def ordered(evidence: Evidence) -> tuple[DatasetSummary, ...]:
    """The hospitals as tables and figures list them: ours, then the others as they are declared."""
    return tuple(sorted(externals(evidence), key=lambda site: site.name != evidence.local_site))


def listed(evidence: Evidence) -> tuple[DatasetSummary, ...]:
    """The hospitals that tables have a row for: all; of many ours, and the worst of those that stand out."""
    return ordered(evidence) if len(externals(evidence)) < MANY_SITES else verdict.named_ones(evidence)


def where(evidence: Evidence, site: DatasetSummary) -> str:
    """A hospital in brackets, as the end of a range; not named where it is an end of many."""
    return "" if len(externals(evidence)) >= MANY_SITES else f" ({site.site})"


def tells_apart(evidence: Evidence) -> str:
    """What the model does for a committee."""
    return f"tells {names.told_apart(evidence)}"


def found_share(evidence: Evidence, site: DatasetSummary) -> float | None:
    """Which share of those with the outcome is found at the first threshold; of classes, named rightly of all."""
    if classes.labels(evidence):
        return classes.named_rightly(evidence, site)
    at = evidence.release.thresholds.primary
    found = None if at is None else find(evidence, "sensitivity", site.name, threshold=at)
    return found.value if isinstance(found, Estimate) else None


def goals_at(evidence: Evidence, site: DatasetSummary) -> list[Criterion]:
    """The goals that count and ask something of a hospital."""
    return [
        criterion for goal in acceptance.counted_ones(evidence) for criterion in goal if criterion.dataset == site.name
    ]


def goals_missed(evidence: Evidence, site: DatasetSummary) -> list[Criterion]:
    """The goals that a hospital missed."""
    return [goal for goal in goals_at(evidence, site) if goal.met is False]


def is_here(dataset: str, evidence: Evidence) -> bool:
    """Whether a dataset is ours; without a hospital of our own, whether it is external."""
    return any(site.name == dataset for site in in_question(evidence))


def few_at(evidence: Evidence, site: DatasetSummary) -> str:
    """What a hospital had fewer than 100 of, or nothing."""
    if site.outcome_withheld is not None:
        return f"fewer than {site.outcome_withheld.below} patients {with_it(evidence)}, or without"
    rare = lacking(site, FEW, outcome_of(evidence)) or beside_the_line(evidence, site)
    return f"only {listing(rare)}" if rare else ""


def beside_the_line(evidence: Evidence, site: DatasetSummary) -> list[str]:
    """What a hospital has hardly anybody of at the first threshold, below it or from it on, with the count."""
    at = evidence.release.thresholds.primary
    few = None if at is None else names.few_beside(evidence, site, at)
    return [] if at is None or few is None else [f"{few[0]:,} {'below' if few[1] else 'above'} the {line(at)}"]


def lacking(site: DatasetSummary, below: int, outcome: str) -> list[str]:
    """What a hospital has fewer than so many of, each with its count."""
    if site.class_counts:
        return [f"{count:,} with {label}" for label, count in sentence.scarce(site, below).items()]
    words = {"event": f"with {outcome}", "non-event": f"without {outcome}"}
    return [f"{count:,} {words[of]}" for of, count in sentence.scarce(site, below).items()]
