"""How well the risks tell those with the outcome from those without."""

from __future__ import annotations

from dossier.findings import classes
from dossier.findings.sentence import (
    Sentence,
    estimated,
    pooled_beside_the_sites,
    primary_threshold,
    range_over_sites,
)
from dossier.types import POOLED, Estimate, Evidence, find
from dossier.typeset.numbers import TIED, threshold


def finding(evidence: Evidence) -> Sentence:
    """The range of the AUROC over sites, and of the sensitivity at the primary threshold."""
    if classes.labels(evidence):
        return classes.discrimination(evidence)
    sites = estimated(evidence, "auroc")
    if not sites:
        return Sentence("At no external site can discrimination be estimated.")
    pooled = find(evidence, "auroc", POOLED)
    rest = [pooled_beside_the_sites(evidence, pooled)] if isinstance(pooled, Estimate) else []
    return Sentence(f"The AUROC {range_over_sites(evidence, 'auroc', sites)}.", " ".join([*rest, *_flagged(evidence)]))


def _flagged(evidence: Evidence) -> list[str]:
    at = primary_threshold(evidence)
    sites = [] if at is None else estimated(evidence, "sensitivity", threshold=at)
    if at is None or not sites:
        return []
    span = range_over_sites(evidence, "sensitivity", sites)
    return [f"The share of events found at a threshold of{TIED}{threshold(at)} {span}."]
