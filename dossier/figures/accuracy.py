"""Pictures of the H-accuracy family: how it falls as more certainty is asked for."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from dossier.figures.canvas import (
    BAND,
    BLUE,
    FULL,
    HAIR,
    HALF,
    column,
    head,
    headed,
    inner_ticks,
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
    tick_text,
    ticks,
    write,
)
from dossier.register import figure
from dossier.types import Absent, Curve, Evidence, Picture, find_curve
from dossier.typeset import number


def draw_profiles(evidence: Evidence) -> Figure | Absent:
    """The H-accuracy of the external sites against the certainty asked for, on common axes."""
    shown, _ = shown_sites(evidence, FULL)
    curves = {site.name: find_curve(evidence, "h_accuracy_profile", site.name) for site in shown}
    known = [curve for curve in curves.values() if isinstance(curve, Curve)]
    if not known:
        return Absent("no external site has a profile of H-accuracy")
    width = HALF if len(shown) == 1 else FULL
    grid = lattice(len(shown), width, left=9.5, top=5, gap_x=4.4, gap_y=6.6, tallest=44, shape=0.72)
    grid, heads = headed(grid, shown)
    drawn = sheet(width, grid.bottom + 9.4)
    low = min(float(np.nanmin(column(curve, "tau"))) for curve in known)
    high = max(float(np.nanmax(column(curve, "tau"))) for curve in known)
    places = inner_ticks(low, high, 2)
    narrow = grid.width < 26
    for place, site in enumerate(shown):
        head(drawn, grid, place, heads[place])
        axes = panel(drawn, *grid.corner(place), grid.width, grid.height)
        axes.set_xlim(low, high)
        axes.set_ylim(0, 1)
        left, outer = grid.outer_left(place), grid.outer_bottom(place)
        ticks(axes, "y", [0, 0.5, 1], ["0", "", "1"] if left else [""] * 3, inward=True)
        ticks(axes, "x", places, [_tick(tick, (low, high), narrow) if outer else "" for tick in places], inward=True)
        curve = curves[site.name]
        if isinstance(curve, Absent):
            say_why(evidence, axes, grid, curve)
            continue
        tau = column(curve, "tau")
        axes.axhline(0.5, color=HAIR, lw=0.6, zorder=0)
        axes.fill_between(tau, column(curve, "low"), column(curve, "high"), color=BAND, lw=0, zorder=1)
        axes.plot(tau, column(curve, "h_accuracy"), color=BLUE, lw=1.4, zorder=2)
    write(drawn, (grid.left + grid.right) / 2, grid.bottom + 7.2, "Certainty asked for, tau", ha="center")
    write(drawn, 2.0, (grid.top + grid.bottom) / 2, "H-accuracy", rotation=90, ha="center", va="center")
    return drawn


def _tick(value: float, ends: tuple[float, float], narrow: bool) -> str:
    """The text of a tick; where panels are narrow only those at the ends have one."""
    return "" if narrow and value not in ends else tick_text(value)


@figure("H-accuracy by the certainty asked for")
def h_accuracy_profile_by_site(evidence: Evidence) -> Picture | Absent:
    """How much of its accuracy the model keeps when a right answer counts in full only if it is certain."""
    with styled():
        drawn = draw_profiles(evidence)
        if isinstance(drawn, Absent):
            return drawn
        shown, left = shown_sites(evidence, FULL)
        curves = [(find_curve(evidence, "h_accuracy_profile", site.name), site.site) for site in shown]
        caption = (
            f"{patients(shown)}; {level_text(evidence)} bands. At the left every right answer counts in full; further "
            f"right only those given with more certainty do. Grey line: one half.{left_out(left, 'see the tables')}"
        )
        told = [_fall(curve, name) for curve, name in curves if isinstance(curve, Curve)]
        return picture("h_accuracy_profile_by_site", drawn, caption, f"H-accuracy falls {joined(told, 8)}.")


def _fall(curve: Curve, name: str) -> str:
    value = column(curve, "h_accuracy")
    known = value[~np.isnan(value)]
    return (
        f"from {number(float(known[0]))} to {number(float(known[-1]))} ({name})" if len(known) else f"({name}: unknown)"
    )
