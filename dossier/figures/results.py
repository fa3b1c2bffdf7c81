"""The four pictures of the first page: discrimination, calibration, net benefit, and the risks themselves."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from dossier import bands
from dossier.figures.calibration import enough, mirrored, printed_calibration
from dossier.figures.canvas import (
    BROKEN,
    HALF,
    INK_2,
    ceiling,
    column,
    few,
    joined,
    labels,
    lattice,
    left_out,
    panel,
    patients,
    picture,
    primary_threshold,
    say,
    sheet,
    shown_sites,
    styled,
    tick_text,
    ticks,
    write,
)
from dossier.figures.discrimination import AUROC, printed_forest
from dossier.figures.utility import decision_alternative, decision_caption, draw_decision
from dossier.register import figure
from dossier.types import Absent, Curve, Evidence, Picture, find_curve
from dossier.typeset import number


@figure("Discrimination, by site and pooled")
def forest_results(evidence: Evidence) -> Picture | Absent:
    """The AUROC of every site, pooled, and in a new hospital, at half the width of the page."""
    return printed_forest("forest_results", evidence, AUROC, HALF)


@figure("Calibration, by site")
def calibration_results(evidence: Evidence) -> Picture | Absent:
    """How often the outcome happened among patients of each risk, in small panels."""
    return printed_calibration("calibration_results", evidence, HALF)


@figure("Decision curve")
def decision_results(evidence: Evidence) -> Picture | Absent:
    """What acting on the model gains over flagging everyone or no one."""
    with styled():
        drawn = draw_decision(evidence)
        if isinstance(drawn, Absent):
            return drawn
        return picture("decision_results", drawn, decision_caption(evidence), decision_alternative(evidence))


def draw_risks(evidence: Evidence) -> Figure | Absent:
    """The distribution of the risks at each site: patients with the outcome upwards, the others downwards."""
    shown, _ = shown_sites(evidence, HALF)
    curves = {site.name: find_curve(evidence, "risk_distribution", site.name) for site in shown}
    known = [curve for curve in curves.values() if isinstance(curve, Curve)]
    if not known:
        return Absent("no external site has a distribution of risks")
    end = ceiling(max(_reached(curve) for curve in known))
    reach = max(float(np.nanmax(column(curve, name))) for curve in known for name in _SHARES)
    grid = lattice(len(shown), HALF, left=9.5, top=5, gap_x=2.3, gap_y=6.6, tallest=44)
    drawn = sheet(HALF, grid.bottom + 9.4)
    names = labels(evidence, grid.width)
    primary = primary_threshold(evidence)
    for place, site in enumerate(shown):
        x, y = grid.corner(place)
        write(drawn, x, y - 2.2, names[site.name])
        axes = panel(drawn, x, y, grid.width, grid.height)
        axes.set_xlim(0, end)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        outer = grid.outer_bottom(place)
        axes.spines["bottom"].set_visible(outer)
        ticks(axes, "x", [0, end / 2, end] if outer else [], ["0", "", tick_text(end)] if outer else [], inward=True)
        curve = curves[site.name]
        if isinstance(curve, Absent):
            say(axes, grid.width, grid.height, curve.reason)
            continue
        mirrored(axes, site, curve, reach)
        above, below = enough(site)
        if primary is not None and primary <= end:
            axes.plot([primary, primary], [-reach * below, reach * above], color=INK_2, lw=0.7, ls=BROKEN)
        for drawn_side, height in ((above, 0.75), (below, 0.25)):
            if not drawn_side:
                axes.text(0.5, height, "too few", transform=axes.transAxes, ha="center", va="center", color=INK_2)
    write(drawn, (grid.left + grid.right) / 2, grid.bottom + 7.2, "Estimated risk", ha="center")
    middle = (grid.top + grid.bottom) / 2
    write(drawn, 2.0, middle, "Share of patients", rotation=90, ha="center", va="center")
    return drawn


def _reached(curve: Curve) -> float:
    """The upper end of the last bin that holds anybody."""
    held = np.nan_to_num(column(curve, "share_events")) + np.nan_to_num(column(curve, "share_non_events")) > 0
    return float(column(curve, "high")[held].max(initial=0.1))


_SHARES = ("share_events", "share_non_events")


@figure("Risks of patients with the outcome and without")
def risk_results(evidence: Evidence) -> Picture | Absent:
    """Which risks the model gave to the patients who had the outcome, and to those who had not."""
    with styled():
        drawn = draw_risks(evidence)
        if isinstance(drawn, Absent):
            return drawn
        shown, left = shown_sites(evidence, HALF)
        threshold = primary_threshold(evidence)
        line = "" if threshold is None else f" Broken line: threshold {number(threshold)}."
        sparse = [site.site for site in shown if few(site, bands.FEW_FOR_POOLING)]
        note = f" Too few: under {bands.FEW_FOR_POOLING}." if sparse else ""
        caption = f"{patients(shown)}. Ten bins, one scale.{line}{note}{left_out(left, 'see the tables')}"
        return picture("risk_results", drawn, caption, _risk_alternative(evidence))


def _risk_alternative(evidence: Evidence) -> str:
    """The finding: in which tenth of the risks most patients with and without the outcome lie, at the first site."""
    shown, _ = shown_sites(evidence, HALF)
    told = []
    for site in shown:
        curve = find_curve(evidence, "risk_distribution", site.name)
        if isinstance(curve, Curve):
            with_outcome, without = (int(np.argmax(np.nan_to_num(column(curve, name)))) for name in _SHARES)
            low, high = column(curve, "low"), column(curve, "high")
            told.append(
                f"at {site.site} from {tick_text(low[with_outcome])} to {tick_text(high[with_outcome])} with the "
                f"outcome and from {tick_text(low[without])} to {tick_text(high[without])} without"
            )
    return f"The most frequent risks lie {joined(told, 3)}."
