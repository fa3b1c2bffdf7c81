"""The four pictures of the first page: discrimination, calibration, net benefit, and the risks themselves."""

from __future__ import annotations

from dossier.core.register import figure
from dossier.core.types import Absent, Evidence, Picture
from dossier.report.figures.calibration import printed_calibration
from dossier.report.figures.canvas import HALF, primary_threshold
from dossier.report.figures.discrimination import AUROC, gain_at, printed_forest
from dossier.report.figures.risks import printed_risks
from dossier.report.figures.utility import printed_panels


@figure("Discrimination, by site")
def forest_results(evidence: Evidence) -> Picture | Absent:
    """The AUROC of every site, pooled, and in a new hospital, at half the width of the page."""
    return printed_forest("forest_results", evidence, AUROC, HALF)


@figure("Calibration, by site")
def calibration_results(evidence: Evidence) -> Picture | Absent:
    """How often the outcome happened among patients of each risk, in small panels."""
    return printed_calibration("calibration_results", evidence, HALF)


@figure("Net benefit gain, by site")
def decision_results(evidence: Evidence) -> Picture | Absent:
    """What acting on the model gains over flagging everyone or no one: at the threshold, else over a range of them."""
    at = primary_threshold(evidence)
    if at is None:
        return printed_panels("decision_results", evidence, HALF)
    return printed_forest("decision_results", evidence, gain_at(at), HALF)


@figure("Risks of patients with the outcome and without")
def risk_results(evidence: Evidence) -> Picture | Absent:
    """Which risks the model gave to the patients who had the outcome, and to those who had not."""
    return printed_risks("risk_results", evidence, HALF)
