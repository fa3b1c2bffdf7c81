"""How grave the errors are."""

from __future__ import annotations

from dossier.core.types import Evidence
from dossier.report.chapters import classes
from dossier.report.chapters.chapter import Chapter, measured
from dossier.report.chapters.sentence import Sentence, estimated, gravest_errors, primary_threshold
from dossier.typeset.numbers import TIED, in_text, short, threshold


def finding(evidence: Evidence) -> Sentence:
    """The mean severity at the primary threshold, and the severity of an error where it is gravest."""
    if classes.labels(evidence):
        return classes.severity(evidence)
    at = primary_threshold(evidence)
    sites = [] if at is None else estimated(evidence, "mean_severity", threshold=at)
    if at is None or not sites:
        return Sentence("The severity of errors cannot be estimated.", "It needs weights and a declared threshold.")
    if len(sites) == 1:
        value = in_text(evidence, "mean_severity", sites[0][1])
        lead = f"At a threshold of{TIED}{threshold(at)} the mean severity of an answer is {value}."
    else:
        low, high = sites[0], sites[-1]
        lead = (
            f"At a threshold of{TIED}{threshold(at)} the mean severity of an answer runs from "
            f"{short(evidence, 'mean_severity', low[1].value)} ({low[0].site}) to "
            f"{short(evidence, 'mean_severity', high[1].value)} ({high[0].site})."
        )
    errors = estimated(evidence, "error_severity_index", threshold=at)
    if not errors:
        return Sentence(lead)
    return Sentence(lead, gravest_errors(evidence, errors))


CHAPTER = Chapter(
    "severity",
    "Severity of errors",
    finding,
    part="Annex",
    has=measured("severity"),
    fill="Give weights in [severity], and thresholds.",
    fill_of_classes="Give weights for every pair of classes in [severity].",
    is_given=lambda evidence: evidence.release.severity is not None,
    is_leavable=True,
)
