"""Every registered figure of an evidence, as the picture on the page and as the artists that it was made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from unittest.mock import patch

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dossier.core.register import fill
from dossier.core.types import Absent, Evidence, Floats, Picture
from dossier.report.figures import canvas, robustness, svg
from tests.estimated import present
from tests.figures.text_boxes import text_boxes

Made = TypeVar("Made")


@dataclass(frozen=True)
class Drawing:
    """A figure twice: as it is printed, and as its artists."""

    picture: Picture
    figure: Figure


def drawn(name: str, evidence: Evidence) -> Drawing | Absent:
    """The figure of that name, or why there is none."""
    kept: list[Figure] = []
    write = svg.written

    def keep(figure: Figure) -> bytes:
        kept.append(figure)
        return write(figure)

    with patch.object(svg, "written", keep):
        picture = fill("report.figures").figures[name].function(evidence)
    if isinstance(picture, Absent):
        return picture
    assert len(kept) == 1, f"{name} is one sheet, handed over by canvas.picture"
    return Drawing(picture, kept[0])


def sheet_of(name: str) -> Callable[[Evidence], Figure | Absent]:
    """What draws the sheet of the figure of that name, or says why there is none."""

    def draw(evidence: Evidence) -> Figure | Absent:
        found = drawn(name, evidence)
        return found if isinstance(found, Absent) else found.figure

    return draw


def all_drawn(evidence: Evidence) -> dict[str, Drawing | Absent]:
    """Every registered figure by its name."""
    return {name: drawn(name, evidence) for name in fill("report.figures").figures}


def draw_diagram(evidence: Evidence) -> Figure | Absent:
    """The diagram of robustness, or why there is none."""
    arranged = robustness.arrangement(evidence)
    return arranged if isinstance(arranged, Absent) else robustness.draw_arranged(evidence, arranged)


def in_style(draw: Callable[..., Made | Absent], *given: object, **named: object) -> Made:
    """What that draws in the style of the report; what is absent fails the test with its reason."""
    with canvas.styled():
        return present(draw(*given, **named))


def texts(figure: Figure) -> list[str]:
    """All that stands on the figure."""
    with canvas.styled():
        return [box.text for box in text_boxes(figure)]


def x_of(line: Line2D) -> Floats:
    """Where the points of the line lie from left to right."""
    return np.asarray(line.get_xdata(), dtype=float)


def y_of(line: Line2D) -> Floats:
    """Where the points of the line lie from the bottom up."""
    return np.asarray(line.get_ydata(), dtype=float)


def holds(axes: Axes, x: Floats, y: Floats) -> bool:
    """Whether a line of the panel runs through exactly these points."""
    return any(
        len(x_of(line)) == len(x) and np.allclose(x_of(line), x) and np.allclose(y_of(line), y) for line in axes.lines
    )
