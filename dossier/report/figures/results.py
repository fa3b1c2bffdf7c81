"""The four pictures of the first page: discrimination, calibration, net benefit, and the risks themselves."""

from __future__ import annotations

from dossier.core import types
from dossier.report.figures import calibration, canvas, discrimination, risks, utility


@canvas.figure("Discrimination, by site")
def forest_results(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """The AUROC of every site, pooled, and in a new hospital, at half the width of the page."""
    return discrimination.printed_forest(evidence, discrimination.AUROC, canvas.HALF)


@canvas.figure("Discrimination by site, with weights")
def forest_by_site(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """The AUROC of every site with its patients and its weight in the mean, pooled, and in a new hospital."""
    return discrimination.printed_forest(evidence, discrimination.AUROC, canvas.FULL)


@canvas.figure("Observed over expected events by site, with weights")
def oe_ratio_by_site(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """The O/E ratio of every site with its patients and its weight in the mean, pooled, and in a new hospital."""
    return discrimination.printed_forest(evidence, discrimination.OE, canvas.FULL)


@canvas.figure("Calibration, by site")
def calibration_results(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How often the outcome happened among patients of each risk, in small panels."""
    return calibration.printed_calibration(evidence, canvas.HALF)


@canvas.figure("Net benefit gain, by site")
def decision_results(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """What acting on the model gains over flagging everyone or no one: at the threshold, else over a range of them."""
    at = evidence.release.thresholds.primary
    if at is None:
        return utility.printed_panels(evidence, canvas.HALF)
    return discrimination.printed_forest(evidence, discrimination.gain_at(evidence, at), canvas.HALF)


@canvas.figure("Risks of patients with the outcome and without")
def risk_results(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Which risks the model gave to the patients who had the outcome, and to those who had not."""
    return risks.printed_risks(evidence, canvas.HALF)
