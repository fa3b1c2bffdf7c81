"""Every registered figure of an evidence, as the picture on the page and as the artists that it was made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from unittest.mock import patch

from matplotlib.figure import Figure

from dossier.core.register import fill
from dossier.core.types import Absent, Evidence, Picture
from dossier.report.figures import robustness, svg


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
