"""What a finding is made of, and the questions that several chapters ask of the evidence."""

from __future__ import annotations

from dataclasses import dataclass

from dossier.types import DatasetSummary, Estimate, Evidence, externals, find


@dataclass(frozen=True)
class Sentence:
    """A chapter's answer: the clause that a hurried reader takes away, and what completes it."""

    lead: str
    rest: str = ""


def estimated(evidence: Evidence, measure: str, /, **at: float | str) -> list[tuple[DatasetSummary, Estimate]]:
    """The external sites at which a measure could be estimated, from the lowest value to the highest."""
    pairs = [(site, find(evidence, measure, site.name, **at)) for site in externals(evidence)]
    kept = [(site, found) for site, found in pairs if isinstance(found, Estimate)]
    return sorted(kept, key=lambda pair: pair[1].value)


def primary_threshold(evidence: Evidence) -> float | None:
    """The threshold that was declared first."""
    declared = evidence.release.thresholds.declared
    return declared[0] if declared else None
