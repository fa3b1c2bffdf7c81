"""Where the texts of a figure stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from dossier.core.types import Floats
from dossier.report.figures.canvas import FULL, MILLIMETRE, extent


@dataclass(frozen=True)
class TextBox:
    """A text of a figure with the box that it fills, in mm from the top left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    angle: float = 0.0
    """By how many degrees the text is turned, against the clock."""
    across: float = 0.0
    """How long the lines of the text are, in mm."""
    down: float = 0.0
    """How high the lines are together, in mm."""

    def corners(self) -> Floats:
        """The corners of the text as it stands: of turned text its own, not those of the box round it."""
        centre = np.array([(self.left + self.right) / 2, (self.top + self.bottom) / 2])
        along, upright = self.directions()
        along, upright = along * self.across / 2, upright * self.down / 2
        return np.array([centre + number * along + two * upright for number in (-1, 1) for two in (-1, 1)])

    def directions(self) -> tuple[Floats, Floats]:
        """The direction in which the text runs, and the one across it."""
        turned = math.radians(self.angle)
        along = np.array([math.cos(turned), -math.sin(turned)])
        return along, np.array([-along[1], along[0]])

    def overlaps(self, other: TextBox, slack: float = 0.0) -> bool:
        """Whether two texts share more than the slack, from whichever of their sides one looks."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        if across <= slack or down <= slack:
            return False
        if self.angle % 90 == other.angle % 90 == 0:
            return True
        for direction in (*self.directions(), *other.directions()):
            mine, its = self.corners() @ direction, other.corners() @ direction
            if min(mine.max(), its.max()) - max(mine.min(), its.min()) <= slack:
                return False
        return True


def text_boxes(figure: Figure) -> list[TextBox]:
    """Every text that a figure shows, with the place where it stands."""
    canvas = FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    _, height = extent(figure)
    boxes = []
    for text in figure.findobj(Text):
        if isinstance(text, Text) and text.get_visible() and text.get_text().strip() and _shown(text):
            box = text.get_window_extent(renderer)
            left, right = box.x0 / MILLIMETRE, box.x1 / MILLIMETRE
            top, bottom = height - box.y1 / MILLIMETRE, height - box.y0 / MILLIMETRE
            size, angle = float(text.get_fontsize()), float(text.get_rotation())
            text.set_rotation(0)
            flat = text.get_window_extent(renderer)
            text.set_rotation(angle)
            across, down = flat.width / MILLIMETRE, flat.height / MILLIMETRE
            boxes.append(TextBox(text.get_text(), left, top, right, bottom, size, angle, across, down))
    FigureCanvasBase(figure)
    return boxes


def _shown(text: Text) -> bool:
    """Whether a text is drawn: what matplotlib keeps for the ticks of its own is not."""
    return text.axes is None or text in text.axes.texts


HAIRLINE = 0.15
"""Boxes hold the room above and below the letters: so many mm of it may touch."""


def assert_apart(boxes: Sequence[TextBox], figure: Figure, most: float, slack: float = HAIRLINE) -> None:
    """No text is small, stands beyond the figure or on another one, and the figure is at most so many mm high."""
    width, height = extent(figure)
    assert {box.size for box in boxes} == {9.0}
    beyond = [
        (box.text, width, height, box)
        for box in boxes
        if min(box.left, box.top) < -HAIRLINE or box.right > width + HAIRLINE or box.bottom > height + HAIRLINE
    ]
    assert not beyond
    pairs = [(box, other) for index, box in enumerate(boxes) for other in boxes[index + 1 :]]
    assert not [(first.text, other.text) for first, other in pairs if first.overlaps(other, slack)]
    assert width <= FULL + 0.01
    assert height <= most
