"""Further measures by site, for who wants to see what the core leaves out."""

from __future__ import annotations

from dossier.findings import classes
from dossier.findings.sentence import Sentence, estimated, range_over_sites
from dossier.types import Evidence
from dossier.typeset.measures import tables_of
from dossier.typeset.tables import Table

PRINTED = ("model_based_concordance", "calibration_intercept", "brier")
"""The measures that are printed here; every other one stands in results.csv."""
PRINTED_OF_CLASSES = ("brier", "log_score")
"""The same of several classes: those that take all of them at once."""


def finding(evidence: Evidence) -> Sentence:
    """The range of the Brier score, the one measure of both discrimination and calibration."""
    sites = estimated(evidence, "brier")
    if not sites:
        return Sentence("Curves behind the numbers of the core.")
    return Sentence(f"The Brier score {range_over_sites(evidence, 'brier', sites)}.", REST)


REST = "It joins discrimination and calibration, and depends on the prevalence."


def tables(evidence: Evidence) -> tuple[Table, ...]:
    """The supporting measures of every dataset, side by side."""
    printed = PRINTED_OF_CLASSES if classes.labels(evidence) else PRINTED
    return tables_of(evidence, [evidence.terms[name] for name in printed if name in evidence.terms])
