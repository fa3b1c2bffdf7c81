"""Pictures of calibration: the smooth curve of each site, and the forest of the O/E ratio."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier import bands
from dossier.figures.canvas import (
    BAND,
    BLUE,
    BROKEN_CURVE,
    FULL,
    HALF,
    RULE,
    Lattice,
    ceiling,
    column,
    few,
    head,
    headed,
    joined,
    lattice,
    left_out,
    level_text,
    panel,
    patients,
    picture,
    say_why,
    sheet,
    shown_sites,
    styled,
    text_width,
    tick_text,
    ticks,
    write,
)
from dossier.figures.discrimination import TALLEST, Forest, enough, mirrored, printed_forest, unit_axes
from dossier.register import figure
from dossier.types import Absent, Curve, DatasetSummary, Estimate, Evidence, Picture, externals, find, find_curve
from dossier.typeset import number

OBSERVED_TO_EXPECTED = Forest("oe_ratio", "O/E", 1.0, ratio=True)


def curve_end(curves: list[Curve | Absent]) -> float:
    """The round end of the common axes: no further than the risks and the curves reach."""
    reached = [0.0]
    for curve in curves:
        if isinstance(curve, Curve):
            reached += [float(np.nanmax(column(curve, name))) for name in ("risk", "observed") if curve.columns[name]]
    return ceiling(max(reached)) if max(reached) > 0 else 1.0


def draw_curve(axes: Axes, curve: Curve, end: float, broken: bool, width: float = 1.4) -> None:
    """The band, the diagonal and the curve; broken where it is imprecise."""
    risk = column(curve, "risk")
    axes.fill_between(risk, column(curve, "low"), column(curve, "high"), color=BAND, lw=0, zorder=1)
    axes.plot([0, end], [0, end], color=RULE, lw=0.7, zorder=1.5)
    axes.plot(risk, column(curve, "observed"), color=BLUE, lw=width, ls=BROKEN_CURVE if broken else "-", zorder=2)


def draw_calibration(evidence: Evidence, width: float) -> Figure | Absent:
    """The calibration curves of the external sites on common axes; below each, at full width, where the risks lie."""
    shown, _ = shown_sites(evidence, width)
    curves = {site.name: find_curve(evidence, "calibration_curve", site.name) for site in shown}
    if all(isinstance(curve, Absent) for curve in curves.values()):
        return Absent("no external site has a calibration curve")
    size = HALF if len(shown) == 1 else width
    end = curve_end(list(curves.values()))
    strip = 0.0 if not has_strip(evidence, width) else 8.0 if len(shown) <= 12 else 5.0
    grid, heads = headed(_grid(len(shown), width, strip, max(9.5, 5.4 + text_width(tick_text(end)))), shown)
    drawn = sheet(size, grid.bottom + strip + 9.4)
    for place, site in enumerate(shown):
        head(drawn, grid, place, heads[place])
        axes = panel(drawn, *grid.corner(place), grid.width, grid.height)
        below = bool(strip)
        unit_axes(axes, end, grid.outer_left(place), grid.outer_bottom(place) and not below)
        curve = curves[site.name]
        if isinstance(curve, Absent):
            say_why(evidence, axes, grid, curve)
        else:
            draw_curve(axes, curve, end, few(site, bands.FEW_FOR_A_BAND), 1.3 if width == HALF else 1.5)
        if below:
            _risks_below(drawn, evidence, site, grid, place, end, strip)
    middle = (grid.left + grid.right) / 2
    write(drawn, middle, grid.bottom + strip + 7.2, "Estimated risk", ha="center")
    write(drawn, 2.0, (grid.top + grid.bottom) / 2, "Observed share", rotation=90, ha="center", va="center")
    return drawn


def _grid(count: int, width: float, strip: float, left: float) -> Lattice:
    if width == FULL:
        size = HALF if count == 1 else FULL
        gap_x = 4.4 if strip else 2.3
        return lattice(count, size, left=left, top=5, gap_x=gap_x, gap_y=6.6 + strip, tallest=TALLEST)
    if count == 1:
        return lattice(1, HALF, left=left, top=5, gap_x=0, gap_y=0, tallest=52, shape=ALONE)
    return lattice(count, HALF, left=left, top=5, gap_x=2.3, gap_y=6.6, tallest=44)


ALONE = 0.71
"""Height over width of a single panel at half width: it fills the width and leaves the other three their room."""


def _risks_below(
    drawn: Figure, evidence: Evidence, site: DatasetSummary, grid: Lattice, place: int, end: float, strip: float
) -> None:
    """The distribution of the risks under a panel: events upwards, the others downwards, on the panel's own scale."""
    x, y = grid.corner(place)
    axes = panel(drawn, x, y + grid.height + 1.2, grid.width, strip - 1.2)
    axes.set_xlim(0, end)
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    outer = grid.outer_bottom(place)
    ticks(axes, "x", [0, end / 2, end], ["0", "", f"{end:g}"] if outer else ["", "", ""], inward=True)
    curve = find_curve(evidence, "risk_distribution", site.name)
    if isinstance(curve, Curve):
        mirrored(axes, site, curve)


def has_strip(evidence: Evidence, width: float) -> bool:
    """Whether the risks are shown below the panels: not in small panels, nor where they all lie in a bin or two."""
    shown, _ = shown_sites(evidence, width)
    return width == FULL and curve_end(_curves(evidence, shown)) > 0.2


def calibration_caption(evidence: Evidence, width: float) -> str:
    """What to know about the calibration curves: n, bands, how to read them, which are broken, where the axes end."""
    shown, left = shown_sites(evidence, width)
    text = (
        f"{patients(shown)}; {level_text(evidence)} bands. On the grey diagonal the risks are right; above it they are "
        "too low, below it too high."
    )
    if any(few(site, bands.FEW_FOR_A_BAND) for site in shown):
        text += f" Broken: under {bands.FEW_FOR_A_BAND} events or non-events."
    if has_strip(evidence, width):
        text += " Below each panel, the risks of patients with the outcome (up) and without (down)"
        hidden = any(False in enough(site) for site in shown)
        text += f"; fewer than {bands.FEW_FOR_POOLING} are not drawn." if hidden else "."
    end = curve_end(_curves(evidence, shown))
    if end < 1:
        text += f" The axes end at {tick_text(end)}."
    return text + left_out(left, "see the tables")


def _curves(evidence: Evidence, shown: Sequence[DatasetSummary]) -> list[Curve | Absent]:
    return [find_curve(evidence, "calibration_curve", site.name) for site in shown]


def calibration_alternative(evidence: Evidence, width: float) -> str:
    """The finding of the calibration curves, by the O/E ratio."""
    shown, _ = shown_sites(evidence, width)
    found = [(find(evidence, "oe_ratio", site.name), site.site) for site in shown]
    known = sorted((one.value, name) for one, name in found if isinstance(one, Estimate))
    if not known:
        return f"Calibration curves of {joined([site.site for site in shown])}; the O/E ratio could not be estimated."
    (low, first), (high, last) = known[0], known[-1]
    if len(known) > 1 and number(low) == number(high):
        return f"Calibration curves: observed over expected events are {number(low)} at every site, where 1 is perfect."
    if len(known) == 1:
        return f"Calibration curve: in {first} the outcome was {number(low)} times as frequent as the risks said."
    return (
        f"Calibration curves: observed over expected events run from {number(low)} ({first}) to {number(high)} "
        f"({last}), "
        "where 1 is perfect."
    )


def printed_calibration(name: str, evidence: Evidence, width: float) -> Picture | Absent:
    """The calibration curves as a picture of that name."""
    with styled():
        drawn = draw_calibration(evidence, width)
        if isinstance(drawn, Absent):
            return drawn
        return picture(name, drawn, calibration_caption(evidence, width), calibration_alternative(evidence, width))


@figure("Calibration by site")
def calibration_by_site(evidence: Evidence) -> Picture | Absent:
    """How often the outcome happened among patients of each risk, at every site, with the risks themselves below."""
    return printed_calibration("calibration_by_site", evidence, FULL)


@figure("Observed over expected events, by site and pooled")
def forest_oe(evidence: Evidence) -> Picture | Absent:
    """How many times as many events there were as the risks add up to, at every site and pooled."""
    if not externals(evidence):
        return Absent("the release has no external dataset")
    return printed_forest("forest_oe", evidence, OBSERVED_TO_EXPECTED, FULL)
