"""Forests of more measures: the calibration slope with its pool, and the net benefit at the primary threshold."""

from __future__ import annotations

from dossier.facts import Fact
from dossier.figures.canvas import primary_threshold
from dossier.figures.discrimination import Forest, forest_width, printed_forest
from dossier.register import figure
from dossier.types import Absent, Evidence, Picture, externals
from dossier.typeset.numbers import number

SLOPE = Forest("calibration_slope", "Slope", 1.0, unbounded=True)


def net_benefit_forest(at: float) -> Forest:
    """The forest of the net benefit at a threshold, per 100 patients."""
    return Forest(
        "net_benefit",
        "Net benefit",
        0.0,
        at={"threshold": at},
        per=100.0,
        digits=1,
        unbounded=True,
        told=f"Net benefit per 100 patients at {number(at)}",
    )


@figure("Calibration slope by site")
def forest_slope(evidence: Evidence) -> Picture | Absent:
    """The calibration slope of every site with its interval, all sites pooled, and what to expect in a new hospital."""
    if not externals(evidence):
        return Absent(Fact("no_external_dataset"))
    return printed_forest("forest_slope", evidence, SLOPE, forest_width(evidence))


@figure("Net benefit per 100 patients, by site")
def forest_net_benefit(evidence: Evidence) -> Picture | Absent:
    """What acting on the model gains per 100 patients at every site, beside flagging everyone or no one."""
    at = primary_threshold(evidence)
    if at is None:
        return Absent(Fact("release_declares_no_threshold"))
    if not externals(evidence):
        return Absent(Fact("no_external_dataset"))
    return printed_forest("forest_net_benefit", evidence, net_benefit_forest(at), forest_width(evidence))
