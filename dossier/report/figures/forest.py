"""Rows: a name on the left, a dot with its interval on an axis, numbers on the right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from dossier.report.figures import canvas, ink


@dataclass(frozen=True)
class Rows:
    """Rows of equal height on a sheet, from a height on down; a row is named by its number, its middle by a half."""

    sheet: Figure
    top: float
    step: float = canvas.LINE

    def axes(self, left: float, width: float, rows: float, ends: canvas.Ends = (0, 1)) -> canvas.Panel:
        """The axis beside the names, so many rows tall, without a stroke at its left."""
        axes = canvas.panel(self.sheet, left, self.top, width, rows * self.step, ends, (rows, 0))
        axes.spines["left"].set_visible(False)
        return axes

    def write(self, row: float, x: float, text: str, **looks: Any) -> None:
        """Text in a row, from a place on."""
        canvas.write(self.sheet, x, self.top + row * self.step, text, **looks)

    def right(self, row: float, x: float, text: str, **looks: Any) -> None:
        """Text in a row that ends at a place: a number in its column, quiet unless `looks` says otherwise."""
        self.write(row, x, text, **{"ha": "right", "color": ink.INK_2, **looks})

    def value(self, row: float, ends: tuple[float, float], text: str, bounds: str) -> None:
        """The number that a row is read for, and its interval, each to the left of its end."""
        self.write(row, ends[0], text, ha="right", weight=600)
        self.right(row, ends[1], bounds)
