"""What happens to 1,000 patients."""

from __future__ import annotations

from dataclasses import dataclass

from dossier.findings.committee.places import local
from dossier.findings.sentence import primary_threshold
from dossier.types import POOLED, Absent, Evidence, find_curve


@dataclass(frozen=True)
class Thousand:
    """What happens to 1,000 patients at the primary threshold."""

    found: int
    missed: int
    false_alarms: int
    left_alone: int

    @property
    def cases(self) -> int:
        """How many of the 1,000 have the outcome."""
        return self.found + self.missed

    @property
    def others(self) -> int:
        """How many do not."""
        return self.false_alarms + self.left_alone


def thousand(evidence: Evidence) -> Thousand | None:
    """The counts at the primary threshold, at our site or over all; None when no threshold is declared."""
    ours = local(evidence)
    curve = (
        find_curve(evidence, "per_thousand", POOLED)
        if ours is None
        else find_curve(evidence, "per_thousand_of_site", ours.name)
    )
    at = primary_threshold(evidence)
    if at is None or isinstance(curve, Absent) or "threshold" not in curve.columns:
        return None
    row = curve.columns["threshold"].index(at)
    cell = {name: int(column[row] or 0) for name, column in curve.columns.items() if name != "threshold"}
    return Thousand(cell["true_positive"], cell["false_negative"], cell["false_positive"], cell["true_negative"])
