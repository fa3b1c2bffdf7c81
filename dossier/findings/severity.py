"""How grave the errors are."""

from __future__ import annotations

from dossier.findings import classes
from dossier.findings.sentence import Sentence, estimated, gravest_errors, primary_threshold
from dossier.release import Release, Severity
from dossier.types import Evidence
from dossier.typeset.numbers import TIED, in_text, short, threshold
from dossier.typeset.tables import Cell, Column, Row, Table
from dossier.typeset.words import date


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


def weights(release: Release) -> tuple[Table, ...]:
    """The declared severity of each kind of error: where it comes from, why, who set it and when."""
    declared = release.severity
    if declared is None:
        return ()
    labels = release.outcome.classes or ("no", "yes")
    return (
        Table(
            name="table-severity-weights",
            title="Severity weights.",
            note=f"0 harmless, 1 the gravest. {_origin(declared)}",
            head="Predicted",
            columns=tuple(Column(label, over="True class") for label in labels),
            rows=tuple(
                Row(label, tuple(Cell(f"{weight:g}", kind="plain") for weight in row))
                for label, row in zip(labels, declared.weights, strict=True)
            ),
        ),
    )


def _origin(declared: Severity) -> str:
    """Who set the weights and when, from which source and why; what is not reported is said."""
    by = None if declared.set_by is None else f" by {declared.set_by}"
    on = None if declared.declared_on is None else f" on {date(declared.declared_on)}"
    said = [
        f"Source: {declared.source or 'not reported'}",
        f"Set{by or ''}{on or ''}" if by or on else "Who set them and when: not reported",
        *([] if declared.rationale is None else [declared.rationale]),
    ]
    return " ".join(f"{one.strip().removesuffix('.')}." for one in said)
