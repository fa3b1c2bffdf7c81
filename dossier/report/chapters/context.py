"""What the release declares of itself."""

from __future__ import annotations

from dossier.core.checklist import home
from dossier.core.tripod import ITEMS
from dossier.core.types import Evidence, externals
from dossier.report.chapters.chapter import chapter
from dossier.report.chapters.sentence import Sentence
from dossier.typeset.names import foretold, tested_version
from dossier.typeset.words import in_words


def finding(evidence: Evidence) -> Sentence:
    """Which model, for which outcome, tested where."""
    sites = len(externals(evidence))
    where = f"{in_words(sites)} external {'dataset' if sites == 1 else 'datasets'}"
    tested = tested_version(evidence)
    which = "It" if tested == evidence.release.release.version else f"Version {tested}"
    return Sentence(
        f"The model gives the probability of {foretold(evidence)}.",
        f"{which} is tested here unchanged on {where}; the texts of this chapter are the author's.",
    )


def _has_texts(evidence: Evidence) -> bool:
    """Whether the release says something that no other chapter prints."""
    use, care = evidence.release.intended_use, evidence.release.care
    declared = (use.for_, use.not_for, evidence.release.thresholds.rationale)
    cared = (care.threshold_owner, care.monitoring, care.review, care.stop_rule)
    return any((*declared, *cared)) or any(
        home(item) == "context" for item in ITEMS if item.number in evidence.statements
    )


CHAPTER = chapter("context", finding, _has_texts)
