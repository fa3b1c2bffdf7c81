"""Marks at values: dots, intervals, diamonds and bands, each drawn one way."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

from dossier.core import types
from dossier.report.figures import canvas, data, ink


def dot(
    axes: Axes, x: float, y: float, shape: str = "o", size: float = 4.2, colour: str = ink.INK, **looks: Any
) -> None:
    """A mark at a value; open with `filled=False`, and whole where it stands at the edge of its panel."""
    filled = looks.pop("filled", True)
    usual: dict[str, Any] = {
        "mfc": colour if filled else "white",
        "mec": colour,
        "mew": 0.9,
        "zorder": 3,
        "clip_on": False,
    }
    axes.plot([x], [y], shape, ms=size, **usual | looks)


def ring(axes: Axes, point: tuple[float, float], size: float) -> None:
    """The ring at a threshold on a curve."""
    dot(axes, *point, "o", size, ink.BLUE, filled=False, mew=1.2, zorder=4)


def whisker(axes: Axes, found: types.Estimate, row: float, colour: str = ink.INK, **looks: Any) -> None:
    """The interval of an estimate along its row, if it has one; where it leaves the axis it ends in an arrow."""
    if found.low is None or found.high is None:
        return
    left, right = axes.get_xlim()
    low, high = min(max(found.low, left), right), max(min(found.high, right), left)
    axes.plot([low, high], [row, row], color=colour, **{"lw": 1.0, "clip_on": False, "zorder": 2} | looks)
    arrows(axes, (found.low, found.high), row, colour)


def estimate(axes: Axes, found: types.Estimate, row: float, shape: str = "s", size: float = 3.9, **looks: Any) -> None:
    """An estimate along its row: its interval, and its mark where that lies on the axis."""
    whisker(axes, found, row)
    left, right = axes.get_xlim()
    if left <= found.value <= right:
        dot(axes, found.value, row, shape, size, **looks)


def arrows(
    axes: Axes, ends: tuple[float, float], row: float, colour: str = ink.INK, size: float = 3.6, **looks: Any
) -> None:
    """An arrow at each end of the axis beyond which something goes on."""
    left, right = axes.get_xlim()
    for beyond, position, arrow in ((ends[0] < left, left, "<"), (ends[1] > right, right, ">")):
        if beyond:
            dot(axes, position, row, arrow, size, colour, **{"mec": "none", "zorder": 2} | looks)


def diamond(axes: Axes, found: types.Estimate, row: float, half: float, **looks: Any) -> None:
    """A pooled value from bound to bound; its ends stop at those of the axis, so that it stays pointed there."""
    if found.low is not None and found.high is not None:
        left, right = axes.get_xlim()
        low, middle, high = (min(max(bound, left), right) for bound in (found.low, found.value, found.high))
        corners = [(low, row), (middle, row - half), (high, row), (middle, row + half)]
        axes.add_patch(Polygon(corners, fc=ink.BLUE, ec="none", **looks))


def band(axes: Axes, curve: types.Curve, along: str) -> None:
    """The band of a curve between its bounds."""
    low, high = data.column(curve, "low"), data.column(curve, "high")
    axes.fill_between(data.column(curve, along), low, high, color=ink.BAND, lw=0, zorder=1)


def stroke(
    drawn: Figure, start: tuple[float, float], end: tuple[float, float], colour: str, width: float, dash: Any = "-"
) -> None:
    """A line from one place on the sheet to another."""
    across, down = canvas.extent(drawn)
    (x, y), (right, bottom) = start, end
    ends = [x / across, right / across], [1 - y / down, 1 - bottom / down]
    drawn.add_artist(Line2D(*ends, color=colour, lw=width, ls=dash, transform=drawn.transFigure))
