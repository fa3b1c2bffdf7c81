"""How each site differs from the development data: predictor by predictor, and patient by patient."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.core import types
from dossier.core.bands import LARGE_SHIFT
from dossier.core.facts import Fact
from dossier.report.figures import canvas, captions, data, facets, forest, ink, marks
from dossier.typeset import widths
from dossier.typeset.names import has_enough, predictor_of, unweighted
from dossier.typeset.numbers import number
from dossier.typeset.words import counted

SIDE_BY_SIDE = 8
"""Up to so many sites each have a panel; more share one, in which the farthest is named."""

MOST_ROWS = 44
ROW = 4.0
GAP = 3.2
"""Between two panels, in mm."""

NAMES, LONGEST, FEW_PANELS = 46.0, 62.0, 3
"""The width of the names in mm, and where so few panels stand beside them."""
ENDS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0, 20.0, 50.0)
Shifts = Mapping[tuple[str, str], float]


# ---- predictor by predictor -----------------------------------------------------------------------------------------


def shifts(evidence: types.Evidence) -> dict[tuple[str, str], float]:
    """The standardized difference of each predictor, or category of it, by site and predictor."""
    return {
        (row.dataset, predictor_of(evidence, row.described)): row.described.value
        for row in evidence.descriptions
        if row.described.statistic == "standardized_mean_difference" and has_enough(row.described)
    }


def ordered(known: Shifts) -> list[str]:
    """The predictors, the one that lies farthest at any site first."""
    return list(data.greatest_first({pair: abs(value) for pair, value in known.items()}))


def _end(known: Shifts) -> float:
    """The round end of the scale, the same on both sides."""
    farthest = max(abs(value) for value in known.values())
    return next((end for end in ENDS if farthest <= end), math.ceil(farthest))


NARROWEST = 14.0


def _names(rows: Sequence[str], count: int) -> Sequence[str]:
    """The names of the rows, longer where few panels stand beside them."""
    return widths.shortened(rows, LONGEST if count <= FEW_PANELS else NAMES)


def _across(names: Sequence[str], count: int) -> float:
    """The width of one of so many panels beside the names of the rows, in mm."""
    return min((canvas.FULL - max(map(widths.text_width, names)) - 6 - GAP * (count - 1)) / count, 70.0)


def _side_by_side(known: Shifts, sites: Sequence[types.DatasetSummary], rows: Sequence[str]) -> Figure:
    names = _names(rows, len(sites))
    left = max(map(widths.text_width, names)) + 3
    across = _across(names, len(sites))
    grid = facets.Lattice(len(sites), len(sites), across, len(rows) * ROW, left, 5.0, GAP, 0)
    width = max(canvas.FULL if len(sites) > 1 else canvas.HALF, grid.right + 3)
    plot = facets.Multiples.of(grid, sites, 10.0, width)
    for index, site in enumerate(sites):
        axes = plot.panel(index)
        _scale(axes, len(rows), _end(known))
        if index == 0:
            canvas.ticks(axes, "y", range(len(rows)), names, length=0)
        for row, predictor in enumerate(rows):
            value = known.get((site.name, predictor))
            if value is not None:
                _dot(axes, value, row)
    centre = (grid.left + grid.right) / 2
    canvas.write(plot.sheet, centre, plot.grid.bottom + 7.6, _title(2 * min(centre, width - centre)), ha="center")
    return plot.sheet


def _title(width: float) -> str:
    """What the scale says, as long as there is room."""
    long = "Standardized mean difference, site minus development"
    return long if widths.text_width(long) <= width else "Standardized difference"


def _together(known: Shifts, sites: Sequence[types.DatasetSummary], rows: Sequence[str]) -> Figure:
    names = widths.shortened(rows, NAMES)
    left = max(map(widths.text_width, names)) + 3
    labels = dict(zip((site.name for site in sites), widths.shortened([site.site for site in sites], 44), strict=True))
    width = canvas.FULL - left - 48
    height = len(rows) * ROW
    plot = forest.Rows(canvas.sheet(canvas.FULL, height + 15.5), 5.5, ROW)
    axes = plot.axes(left, width, len(rows))
    _scale(axes, len(rows), _end(known))
    canvas.ticks(axes, "y", range(len(rows)), names, length=0)
    canvas.write(plot.sheet, left + width + 3, 2.4, "Farthest site", color=ink.INK_2)
    for row, predictor in enumerate(rows):
        here = {site.name: known[site.name, predictor] for site in sites if (site.name, predictor) in known}
        farthest = max(here, key=lambda name: abs(here[name]))
        for name, value in here.items():
            if name != farthest:
                axes.plot([value], [row], "o", ms=3.4, mfc="none", mec=ink.MID, mew=0.7, gid=f"shift-{name}", zorder=2)
        _dot(axes, here[farthest], row, f"shift-{farthest}")
        plot.write(row + 0.5, left + width + 3, labels[farthest])
    axes.titles(_title(width))
    return plot.sheet


def _scale(axes: canvas.Panel, rows: int, end: float) -> None:
    """The axis from far below to far above the development data, with the lines that it is read by."""
    axes.set(xlim=(-end, end), ylim=(rows - 0.5, -0.5))
    axes.spines["left"].set_visible(False)
    for row in range(rows):
        axes.axhline(row, color=ink.HAIR, lw=0.5, zorder=0)
    axes.axvline(0, color=ink.RULE, lw=0.9, zorder=1)
    for side in (-LARGE_SHIFT, LARGE_SHIFT):
        axes.axvline(side, color=ink.INK_2, lw=0.7, ls=ink.BROKEN, zorder=1)
    # Half a standard deviation has its number where it does not touch the others.
    room = axes.width / (2 * end)
    halves = [-LARGE_SHIFT, LARGE_SHIFT] if LARGE_SHIFT * room > 9 and (end - LARGE_SHIFT) * room > 13 else []
    canvas.ticks(axes, "x", sorted([-end, *halves, 0.0, end]), inward=True)


def _dot(axes: Axes, value: float, row: int, name: str = "shift") -> None:
    """A difference: filled from half a standard deviation on, else open."""
    large = abs(value) >= LARGE_SHIFT
    marks.dot(axes, value, row, "o", 4.6, ink.BLUE, filled=large, mew=1.0, gid=name)


@canvas.figure("Difference from the development data by predictor")
def shift_by_predictor(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How far each predictor lies from its development values at each site, in standard deviations."""
    known = shifts(evidence)
    if not known:
        return types.Absent(Fact("no_site_with_development_predictors"))
    holders = {name for name, _ in known}
    sites = [site for site in types.externals(evidence) if site.name in holders]
    every = ordered(known)
    without = len(every) - MOST_ROWS
    more = f" {counted(without, 'predictor')} that differ less: see the table." if without > 0 else ""
    # Each site has a panel of its own, where that is wide enough to be read.
    rows, count = every[:MOST_ROWS], len(sites)
    is_alone = count <= SIDE_BY_SIDE and _across(_names(rows, count), count) >= NARROWEST
    many = "" if is_alone else " Blue: the farthest site, named beside it; grey: the others."
    lacking = [site.site for site in types.externals(evidence) if site not in sites]
    none = f" No predictors, or too few values: {captions.joined(lacking, 3)}." if lacking else ""
    caption = (
        f"{captions.patients(sites)}. In standard deviations. Filled: half of one or more (broken lines), no test."
        f"{many}{unweighted(sites)}{none}{more}"
    )
    large = sum(abs(value) >= LARGE_SHIFT for value in known.values())
    far, predictor = max(known, key=lambda pair: abs(known[pair]))
    where = f"{predictor} in {next(site.site for site in sites if site.name == far)}"
    largest = f"he largest is {number(known[far, predictor])}, {where}."
    alternative = (
        f"Standardized differences of {counted(len(every), 'predictor')} at {counted(len(sites), 'site')}: {large} of "
        f"{len(known)} are half a standard deviation or more. T{largest}"
    )
    message = (
        f"Of {counted(len(known), 'difference')} from the development data {large or 'none'} "
        f"{'is' if large <= 1 else 'are'} half a standard deviation or more; t{largest}"
    )
    draw = _side_by_side if is_alone else _together
    return canvas.Drawn(draw(known, sites, rows), caption, alternative, message)
