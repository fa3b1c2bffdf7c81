"""The sheet in millimetres on which figures are drawn: its style, its panels, its text, its bytes.

Everything is measured in millimetres from the top left corner of the printed figure, as on the page.
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, wraps
from itertools import pairwise
from typing import Any, Literal, TypeVar

import matplotlib
import numpy as np
from matplotlib import font_manager, style
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import TICKDOWN, TICKLEFT
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation

from dossier.core import material, register
from dossier.core.types import Absent, DatasetSummary, Evidence, Floats, Picture
from dossier.report.figures import ink, svg
from dossier.typeset.numbers import plain

HALF, FULL, COMMITTEE = 81.6, 168.0, 129.6
SIZE = svg.SIZE
LINE = 4.2
"""The height of one line of text in a column of figures, in mm."""
MILLIMETRE = 72 / 25.4
"""Points in a millimetre."""
BOTH: tuple[Literal["x", "y"], ...] = ("x", "y")
"""Across and up."""
TICK, TICK_GAP = 2.5, 2.0
"""How long a tick is, and how far its text stands from it, in points."""


# ---- style ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _parameters() -> Any:
    """Matplotlib's own defaults under our style, so that no setting of the machine shows through."""
    for font in sorted((material.styles() / "fonts").glob("InterTab-*.ttf")):
        font_manager.fontManager.addfont(str(font))
    with style.context(["default", str(material.styles() / "figure.mplstyle")]):
        # Not its own items: asked for the backend, matplotlib would import pyplot to choose one.
        return {key: value for key, value in dict.items(matplotlib.rcParams) if not key.startswith("backend")}


_within_style = ContextVar("_within_style", default=False)


@contextmanager
def styled() -> Iterator[None]:
    """The style of the figures, for as long as one is drawn and written; within itself it changes nothing."""
    if _within_style.get():
        yield
        return
    parameters = _parameters()
    inside = _within_style.set(True)
    with matplotlib.rc_context():
        matplotlib.rcParams.update(parameters)
        try:
            yield
        finally:
            _within_style.reset(inside)


# ---- sheet ----------------------------------------------------------------------------------------------------------


def sheet(width: float, height: float) -> Figure:
    """An empty figure of that printed size in mm."""
    return Figure(figsize=(width / 25.4, height / 25.4), dpi=72)


def extent(figure: Figure) -> tuple[float, float]:
    """The width and height of a figure in mm."""
    width, height = figure.get_size_inches()
    return float(width) * 25.4, float(height) * 25.4


class _Across(XAxis):
    """The scale of a panel from left to right, without matplotlib's own ticks."""

    def set_clip_path(self, path: Any, transform: Any = None) -> None:
        """Matplotlib would make a tick of each kind, five artists each, to clip what is never drawn."""
        Artist.set_clip_path(self, path, transform)


class _Upward(YAxis):
    """The scale of a panel from the bottom to the top, without matplotlib's own ticks."""

    set_clip_path = _Across.set_clip_path


class Panel(Axes):
    """Axes that know their place on the sheet, in mm, and leave the ticks to `ticks`.

    Making matplotlib's own ticks took a third of the time of a figure.
    """

    def __init__(self, sheet: Figure, x: float, y: float, width: float, height: float) -> None:
        across, down = extent(sheet)
        self.sheet, self.x, self.y, self.width, self.height = sheet, x, y, width, height
        super().__init__(sheet, (x / across, 1 - (y + height) / down, width / across, height / down))

    def spots(self, x: Floats, y: Floats) -> Floats:
        """Where points of the data stand, in mm from the top left corner of the panel."""
        (left, right), (bottom, top) = self.get_xlim(), self.get_ylim()
        return np.column_stack(((x - left) / (right - left) * self.width, (top - y) / (top - bottom) * self.height))

    def point(self, spot: tuple[float, float]) -> tuple[float, float]:
        """The point of the data that stands so many mm right of the top left corner of the panel, and below it."""
        (left, right), (bottom, top) = self.get_xlim(), self.get_ylim()
        return left + spot[0] / self.width * (right - left), bottom + (1 - spot[1] / self.height) * (top - bottom)

    def titles(self, across: str, up: str = "", below: float = 7.6, away: float = 0.0) -> None:
        """What the axes are called: so many mm below the panel, and turned, so many mm away from its left side."""
        write(self.sheet, self.x + self.width / 2, self.y + self.height + below, across, ha="center")
        if up:
            turned(self.sheet, self.x - away, self.y + self.height / 2, up)

    def _init_axis(self) -> None:
        self.xaxis, self.yaxis = _Across(self, clear=False), _Upward(self, clear=False)

    def grid(self, *_: Any, **__: Any) -> None:
        """No figure has a grid, and an axis asked for none would make ticks first."""

    def tick_params(self, *_: Any, **__: Any) -> None:
        """Nor has it matplotlib's ticks, which would be made only to set how they look."""


Ends = tuple[float, float]
"""Where an axis begins and ends."""


def panel(
    figure: Figure, x: float, y: float, width: float, height: float, across: Ends = (0, 1), up: Ends = (0, 1)
) -> Panel:
    """Axes whose frame has its top left corner at (x, y), from end to end."""
    axes = Panel(figure, x, y, width, height)
    figure.add_axes(axes)
    axes.set(xlim=across, ylim=up)
    axes.xaxis.set_visible(False)
    axes.yaxis.set_visible(False)
    for spine in axes.spines.values():
        # Matplotlib leaves this to its ticks: until then a spine stands at zero of the data.
        spine.set_position(("outward", 0.0))
    return axes


def in_millimetres(figure: Figure, y: float = 0.0, height: float | None = None) -> Panel:
    """A part of the sheet as wide as it, from a height on down to its foot or as tall as that, without a frame."""
    width, whole = extent(figure)
    height = whole - y if height is None else height
    axes = panel(figure, 0, y, width, height, (0, width), (height, 0))
    axes.axis("off")
    return axes


def write(figure: Figure, x: float, y: float, text: str, **looks: Any) -> Text:
    """Text at a place on the sheet, on the middle of its line unless `looks` says otherwise."""
    across, down = extent(figure)
    looks.setdefault("va", "center_baseline")
    return figure.text(x / across, 1 - y / down, text, **looks)


def turned(figure: Figure, x: float, y: float, text: str, **looks: Any) -> Text:
    """Text that runs upwards, its middle at a place on the sheet: the title of an upright axis."""
    return write(figure, x, y, text, rotation=90, ha="center", va="center", **looks)


def ticks(
    axes: Axes,
    direction: Literal["x", "y"],
    places: Sequence[float],
    texts: Sequence[str] | None = None,
    *,
    labelled: bool = True,
    inward: bool = False,
    length: float = TICK,
) -> dict[float, Text]:
    """Ticks, those within the limits of the axes, which are set before; returns what was written.

    Their texts are the places themselves unless others are given, none where they are not `labelled`. With `inward` the
    texts at the ends of the axis keep inside the width of the panel; `length` is in points.
    """
    texts = list(map(tick_text, places)) if texts is None else texts
    across = direction == "x"
    ends = axes.get_xlim() if across else axes.get_ylim()
    along = axes.get_xaxis_transform() if across else axes.get_yaxis_transform()
    slack = 1e-9 * abs(ends[1] - ends[0])
    low, high = min(ends) - slack, max(ends) + slack
    seen = {position: text for position, text in zip(places, texts, strict=True) if low <= position <= high}
    foot = [0.0] * len(seen)
    strokes = Line2D(list(seen) if across else foot, foot if across else list(seen), ls="none", color=ink.INK_2)
    strokes.set(marker=TICKDOWN if across else TICKLEFT, ms=length, mew=0.5, transform=along)
    if length and seen:
        axes.figure.add_artist(strokes)
    away = -(length + TICK_GAP) / 72
    beyond = ScaledTranslation(0 if across else away, away if across else 0, axes.figure.dpi_scale_trans)
    written = {}
    for position, text in seen.items():
        # The text at the first (0) or the last (1) end of an axis may keep inside.
        end = ends.index(position) if inward and position in ends else None
        aside = "center" if end is None else ("left", "right")[end]
        level = "center_baseline" if end is None else ("bottom", "top")[end]
        looks: dict[str, Any] = {"va": "top", "ha": aside} if across else {"ha": "right", "va": level}
        if text and labelled:
            x, y = (position, 0.0) if across else (0.0, position)
            written[position] = axes.figure.text(x, y, text, transform=along + beyond, **looks)
    return written


def round_ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Round numbers that cover low to high."""
    if not high > low:
        high = low + 1
    return [round(float(tick), 10) for tick in MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)]


def inner_ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Round numbers from low to high, none beyond."""
    slack = (high - low) * 1e-9
    return [tick for tick in round_ticks(low, high, most) if low - slack <= tick <= high + slack]


def apart(places: Iterable[float], room: Callable[[float, float], float], kept: Sequence[float] = ()) -> list[float]:
    """The places that stand so far from all that are kept before them, the first asked first."""
    found = list(kept)
    for position in places:
        if all(abs(position - other) >= room(position, other) for other in found):
            found.append(position)
    return found


def evenly(places: Sequence[float], origin: float, has_room: Callable[[int, int], bool]) -> range:
    """Which of the places have a number: at equal steps from one of them, as many as have room beside each other."""
    # At unequal steps, 0, 10 and 25, an axis would look as if it were not linear.
    at = places.index(origin)
    every = (range(at % step, len(places), step) for step in range(1, len(places)))
    return next((kept for kept in every if all(has_room(*pair) for pair in pairwise(kept))), range(at, at + 1))


def tick_text(value: float) -> str:
    """A number on an axis: no idle zeros, a true minus."""
    return f"{value:g}".replace("-", "−")


def ceiling(value: float) -> float:
    """The round end of a scale of shares that holds the value, 1 at most: 0.01, 0.02, 0.03 ... 0.1, 0.2 ... 1."""
    return next((end for end in ROUND_ENDS if value <= end), 1.0)


ROUND_ENDS = tuple(digit / decade for decade in (1000, 100, 10) for digit in (1, 2, 3, 4, 5, 6, 8))
"""Ends of which the halves are round as well, or the thirds."""


Of = TypeVar("Of")


def of_each(figure: Figure, rows: Sequence[Of], dataset: Callable[[Of], DatasetSummary | None]) -> Iterator[Of]:
    """Each row in turn: what is drawn until the next one is of its dataset, where that is a hospital's."""
    for row in rows:
        panels = list(figure.axes)
        before = set(_artists(figure, panels))
        yield row
        of = dataset(row)
        # What stands in a panel of its own goes with that panel.
        for artist in _artists(figure, panels):
            if artist not in before and of is not None:
                svg.WHOSE[artist] = of


def _artists(figure: Figure, panels: Sequence[Axes]) -> list[Artist]:
    return [*figure.get_children(), *(each for axes in panels for each in axes.get_children())]


# ---- picture ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """A figure with its words: a caption, the finding for who does not see it, and the finding in short."""

    sheet: Figure
    caption: str
    alternative: str
    message: str = ""
    """The alternative text where no shorter one is given."""
    more: str = ""
    """What the title says more where the figure shows more than its title."""


def figure(title: str) -> Callable[[Callable[[Evidence], Drawn | Absent]], Callable[[Evidence], Picture | Absent]]:
    """Enter a figure under the name of its function: drawn in our style and written as SVG."""

    def enter(function: Callable[[Evidence], Drawn | Absent]) -> Callable[[Evidence], Picture | Absent]:
        @wraps(function)
        def printed(evidence: Evidence) -> Picture | Absent:
            with styled():
                made = register.absent_with_its_parts(function)(evidence)
                if isinstance(made, Absent):
                    return made
                width, height = (round(length, 2) for length in extent(made.sheet))
                words = (title + made.more, made.caption, made.alternative, made.message or made.alternative)
                return Picture(function.__name__, svg.written(made.sheet), width, height, *words)

        return register.figure(printed)

    return enter


def image(printed: Callable[[Evidence], Picture | Absent], evidence: Evidence, kind: str, dpi: int) -> bytes | Absent:
    """A figure that was entered, as a png, pdf or tiff: drawn by matplotlib, the same evidence to the same bytes."""
    with styled():
        made: Drawn | Absent = register.absent_with_its_parts(inspect.unwrap(printed))(evidence)
        if isinstance(made, Absent):
            return made
        for text in made.sheet.findobj(Text):
            text.set_text(plain(text.get_text()))
        written = io.BytesIO()
        made.sheet.savefig(written, format=kind, dpi=dpi, facecolor="white", **OF_NO_DAY[kind])
        return written.getvalue()


OF_NO_DAY: Mapping[str, Any] = {
    "png": {"metadata": {"Software": None}},
    "pdf": {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}},
    "tiff": {"pil_kwargs": {"compression": "tiff_lzw"}},
}
"""What keeps the day and the program out of an image."""


def figures(
    curves: Mapping[str, Any], named: str, draw: Callable[[Evidence, str, Mapping[str, Any]], Drawn | Absent]
) -> None:
    """Enter a figure for each of these curves, by the words around it."""
    for name, about in curves.items():

        def drawn(evidence: Evidence, name: str = name, about: Mapping[str, Any] = about) -> Drawn | Absent:
            return draw(evidence, name, about)

        drawn.__name__ = drawn.__qualname__ = f"{name}_{named}"
        drawn.__module__, drawn.__doc__ = draw.__module__, about["says"]
        figure(about["title"])(drawn)
