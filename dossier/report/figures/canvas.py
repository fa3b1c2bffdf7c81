"""The sheet in millimetres on which figures are drawn: its style, its text, labels that do not collide, its bytes.

Everything is measured in millimetres from the top left corner of the printed figure, as on the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib import font_manager, style
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import TICKDOWN, TICKLEFT
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from dossier.core.facts import Fact
from dossier.core.material import styles
from dossier.core.register import REGISTER
from dossier.core.types import Absent, Curve, DatasetSummary, Estimate, Evidence, Picture, curves_named, externals
from dossier.report.figures import svg
from dossier.typeset.numbers import level_of, number, showing_the_side
from dossier.typeset.reasons import why
from dossier.typeset.tables import NARROW
from dossier.typeset.widths import shortened as shortened  # what figures measure, they measure with the tables
from dossier.typeset.widths import text_width as text_width
from dossier.typeset.widths import wrapped as wrapped
from dossier.typeset.words import counted, listing

Floats = NDArray[np.float64]

INK, INK_2, MID, RULE, HAIR = "#16181b", "#4d535a", "#858c94", "#aeb4ba", "#d9dcdf"
TINTS = ("#eff1f3", "#dfe4e8", "#cbd2d8")
BLUE, BAND = "#14507f", "#c6d7e4"
ALERT, ORANGE = "#9c3f0c", "#e08a4f"
BROKEN = (0, (3, 2))
BROKEN_CURVE = (0, (2.2, 1.2))
HALF, FULL, COMMITTEE = 81.6, 168.0, 129.6
SIZE = svg.SIZE
LINE = 4.2
"""The height of one line of text in a column of figures, in mm."""
MILLIMETRE = 72 / 25.4
"""Points in a millimetre."""
TICK, TICK_GAP = 2.5, 2.0
"""How long a tick is, and how far its text stands from it, in points."""


# ---- style ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _parameters() -> Any:
    """Matplotlib's own defaults under our style, so that no setting of the machine shows through."""
    for font in sorted((styles() / "fonts").glob("InterTab-*.ttf")):
        font_manager.fontManager.addfont(str(font))
    with style.context(["default", str(styles() / "figure.mplstyle")]):
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
    """Axes that leave the ticks to `ticks`: making matplotlib's own took a third of the time of a figure."""

    def _init_axis(self) -> None:
        self.xaxis, self.yaxis = _Across(self, clear=False), _Upward(self, clear=False)

    def grid(self, *_: Any, **__: Any) -> None:
        """No figure has a grid, and an axis asked for none would make ticks first."""

    def tick_params(self, *_: Any, **__: Any) -> None:
        """Nor has it matplotlib's ticks, which would be made only to set how they look."""


def panel(figure: Figure, x: float, y: float, width: float, height: float) -> Axes:
    """Axes whose frame has its top left corner at (x, y)."""
    across, down = extent(figure)
    bounds = (x / across, 1 - (y + height) / down, width / across, height / down)
    axes = figure.add_axes(Panel(figure, bounds))
    axes.xaxis.set_visible(False)
    axes.yaxis.set_visible(False)
    for spine in axes.spines.values():
        # Matplotlib leaves this to its ticks: until then a spine stands at zero of the data.
        spine.set_position(("outward", 0.0))
    return axes


def write(figure: Figure, x: float, y: float, text: str, **looks: Any) -> Text:
    """Text at a place on the sheet, on the middle of its line unless `looks` says otherwise."""
    across, down = extent(figure)
    looks.setdefault("va", "center_baseline")
    return figure.text(x / across, 1 - y / down, text, **looks)


def ticks(
    axes: Axes,
    direction: Literal["x", "y"],
    places: Sequence[float],
    texts: Sequence[str],
    *,
    inward: bool = False,
    length: float = TICK,
) -> dict[float, Text]:
    """Ticks with their texts, those within the limits of the axes, which are set before; returns what was written.

    With `inward` the texts at the ends of the axis keep inside the width of the panel; `length` is in points.
    """
    across = direction == "x"
    ends = axes.get_xlim() if across else axes.get_ylim()
    along = axes.get_xaxis_transform() if across else axes.get_yaxis_transform()
    seen = {position: text for position, text in zip(places, texts, strict=True) if _within(position, ends)}
    foot = [0.0] * len(seen)
    strokes = Line2D(list(seen) if across else foot, foot if across else list(seen), ls="none", color=INK_2)
    strokes.set(marker=TICKDOWN if across else TICKLEFT, ms=length, mew=0.5, transform=along)
    if length and seen:
        axes.figure.add_artist(strokes)
    away = -(length + TICK_GAP) / 72
    beyond = ScaledTranslation(0 if across else away, away if across else 0, axes.figure.dpi_scale_trans)
    written = {}
    for position, text in seen.items():
        looks = _tick_looks(direction, ends.index(position) if inward and position in ends else None)
        if text:
            x, y = (position, 0.0) if across else (0.0, position)
            written[position] = axes.figure.text(x, y, text, transform=along + beyond, **looks)
    return written


def _within(position: float, ends: tuple[float, float]) -> bool:
    slack = 1e-9 * abs(ends[1] - ends[0])
    return min(ends) - slack <= position <= max(ends) + slack


def _tick_looks(direction: Literal["x", "y"], end: int | None) -> dict[str, Any]:
    """How the text of a tick is aligned: the one at the first (0) or the last (1) end of an axis may keep inside."""
    if direction == "x":
        return {"va": "top", "ha": "center" if end is None else ("left", "right")[end]}
    return {"ha": "right", "va": "center_baseline" if end is None else ("bottom", "top")[end]}


def round_ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Round numbers that cover low to high."""
    if not high > low:
        high = low + 1
    locator = MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10])
    return [round(float(tick), 10) for tick in locator.tick_values(low, high)]


def inner_ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Round numbers from low to high, none beyond."""
    slack = (high - low) * 1e-9
    return [tick for tick in round_ticks(low, high, most) if low - slack <= tick <= high + slack]


def tick_text(value: float) -> str:
    """A number on an axis: no idle zeros, a true minus."""
    return f"{value:g}".replace("-", "−")


def ceiling(value: float) -> float:
    """The round end of a scale of shares that holds the value, 1 at most: 0.01, 0.02, 0.03 ... 0.1, 0.2 ... 1."""
    return next((end for end in ROUND_ENDS if value <= end), 1.0)


ROUND_ENDS = tuple(digit / decade for decade in (1000, 100, 10) for digit in (1, 2, 3, 4, 5, 6, 8))
"""Ends of which the halves are round as well, or the thirds."""


# ---- numbers and words ----------------------------------------------------------------------------------------------


def interval(
    low: float | None, high: float | None, digits: int = 2, joint: str = "–", reference: float | None = None
) -> str:
    """An interval as words: 0.73–0.96, or with "to" where a bound may be negative or missing.

    A bound that rounding would put on the value of reference has more digits.
    """
    if low is None or high is None:
        return "no interval"
    if low < 0 or high < 0:
        joint = " to "
    cut_offs = () if reference is None else (reference,)
    first, last = (number(bound, showing_the_side(bound, digits, cut_offs)) for bound in (low, high))
    return f"{first}{joint}{last}"


def level_text(evidence: Evidence) -> str:
    """The level of the intervals: 95%."""
    return level_of(evidence)


def primary_threshold(evidence: Evidence) -> float | None:
    """The first declared threshold."""
    declared = evidence.release.thresholds.declared
    return float(declared[0]) if declared else None


def patients(sites: Sequence[DatasetSummary]) -> str:
    """How many patients the figure rests on: 5,340 patients, 1,724 events."""
    events = [site.events for site in sites if site.events is not None]
    more = f", {counted(sum(events), 'event')}" if len(events) == len(sites) else ""
    return f"{counted(sum(site.n for site in sites), 'patient')}{more}"


def few(site: DatasetSummary, floor: int) -> bool:
    """Whether a site has fewer events or non-events, or patients of a class, than the floor, or hides their number."""
    if site.class_counts:
        return min(site.class_counts.values()) < floor
    return site.events is None or min(site.events, site.n - site.events) < floor


def sites_word(count: int) -> str:
    """One site, or so many sites."""
    return "1 site" if count == 1 else f"{count} sites"


def row_of(curve: Curve, name: str, value: float) -> int | None:
    """The row of a curve whose column holds exactly this value; None when none does."""
    rows = np.flatnonzero(np.isclose(column(curve, name), value, rtol=0, atol=1e-12))
    return int(rows[0]) if len(rows) else None


def column(curve: Curve, name: str) -> Floats:
    """A column of a curve; what is missing becomes a gap in the line."""
    return np.array([math.nan if value is None else value for value in curve.columns[name]], dtype=np.float64)


def joined(names: Sequence[str], most: int = 4) -> str:
    """Names in a sentence: a, b and c; the rest as a number."""
    return listing(names if len(names) <= most else [*names[:most], f"{len(names) - most} more"])


def labels(evidence: Evidence, width: float, weight: int = 400) -> dict[str, str]:
    """The label of each external dataset, by name, short enough for a width in mm."""
    sites = externals(evidence)
    return dict(
        zip((site.name for site in sites), shortened([site.site for site in sites], width, weight), strict=True)
    )


# ---- measured text --------------------------------------------------------------------------------------------------


def say_why(evidence: Evidence, axes: Axes, grid: Lattice, absent: Absent) -> None:
    """Say in a small panel why its curve is absent, with the site under the name that a reader knows."""
    say(axes, grid.width, grid.height, why(evidence, absent.reason))


def why_nowhere(evidence: Evidence, curve: str, otherwise: Fact) -> Absent:
    """Why no external site has a curve: the reason at the first of them; the owner's data have reasons of their own."""
    names = {site.name for site in externals(evidence)}
    found = (drawn_curve.found for drawn_curve in curves_named(evidence, curve) if drawn_curve.dataset in names)
    return next((drawn_curve for drawn_curve in found if isinstance(drawn_curve, Absent)), Absent(otherwise))


def say(axes: Axes, width: float, height: float, *choices: str) -> None:
    """Say in a panel of that size in mm why nothing is drawn, in the first words that fit."""
    most = max(1, int(height / LINE))
    fitting = (wrapped(choice, width - 2.0, most) for choice in (*choices, "not estimable", "none"))
    text = next((choice for choice in fitting if choice), "–")
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=INK_2, linespacing=1.2)


# ---- small multiples ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lattice:
    """Equal panels in rows and columns on a sheet: where each one stands, in mm."""

    count: int
    columns: int
    width: float
    height: float
    left: float
    top: float
    gap_x: float
    gap_y: float

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return -(-self.count // self.columns)

    @property
    def right(self) -> float:
        """Where the last column ends."""
        return self.left + self.columns * self.width + (self.columns - 1) * self.gap_x

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return self.top + self.rows * self.height + (self.rows - 1) * self.gap_y

    def corner(self, index: int) -> tuple[float, float]:
        """The top left corner of a panel."""
        row, across = divmod(index, self.columns)
        return self.left + across * (self.width + self.gap_x), self.top + row * (self.height + self.gap_y)

    def outer_left(self, index: int) -> bool:
        """Whether a panel stands in the first column."""
        return index % self.columns == 0

    def outer_bottom(self, index: int) -> bool:
        """Whether no panel stands below."""
        return index + self.columns >= self.count


def lattice(
    count: int,
    sheet_width: float,
    *,
    left: float,
    top: float,
    gap_x: float,
    gap_y: float,
    tallest: float,
    shape: float = 1.0,
    columns: int | None = None,
) -> Lattice:
    """Panels that fill the width of a sheet; `shape` is height over width, `tallest` the most a panel may measure."""
    if columns is not None:
        pass
    elif sheet_width <= HALF:
        columns = min(count, 4)
    else:
        columns = next(most for few_enough, most in ((4, count), (8, 4), (24, 6), (10**6, 8)) if count <= few_enough)
    across = (sheet_width - left - (columns - 1) * gap_x) / columns
    if count > columns and sheet_width > HALF:
        tallest = min(tallest, TALLEST_OF_SEVERAL_ROWS if shape == 1.0 else FLAT)
    height = min(across * shape, tallest)
    return Lattice(count, columns, height / shape if shape == 1.0 else across, height, left, top, gap_x, gap_y)


TALLEST_OF_SEVERAL_ROWS, FLAT = 28.0, 17.0
"""The most that a square panel and a wide one measure where they stand in rows: a figure takes a third of a page."""
MOST_BESIDE = 8
"""How many small panels of plain curves half the width of the page holds."""


def own_width(grid: Lattice) -> float:
    """How wide the sheet of such panels is: no wider than they, where the caption has room beside them."""
    return grid.right + 1.5 if grid.right + 1.5 <= NARROW else FULL


def beside_width(count: int) -> float:
    """Half the page where it holds so many panels of plain curves, so that two figures stand beside each other."""
    return HALF if count <= MOST_BESIDE else FULL


MOST_ROWS_OF_TALL_HEADS = 3
"""With more rows of panels than this a long name is shortened: two lines above each would cost too much height."""
HEAD_LINE = 3.9


def _heads(names: Sequence[str], grid: Lattice) -> tuple[str, ...]:
    """The names above the panels: on one line, else on two where there is height, else shortened."""
    short = shortened(names, grid.width)
    if grid.rows > MOST_ROWS_OF_TALL_HEADS:
        return short
    firsts = [name.split(",")[0] for name in names]
    tellable = len(set(firsts)) == len(names)
    whole = (
        wrapped(name, grid.width, 2) or (wrapped(first, grid.width, 2) if tellable else None)
        for name, first in zip(names, firsts, strict=True)
    )
    return tuple(long or cut for long, cut in zip(whole, short, strict=True))


def headed(
    grid: Lattice, sites: Sequence[DatasetSummary], below: Sequence[str] | None = None
) -> tuple[Lattice, tuple[str, ...]]:
    """The names of the sites above their panels, and the panels moved down to make room for them.

    `below` holds a line more for each site, which stands under its name.
    """
    heads = _heads([site.site for site in sites], grid)
    if below is not None:
        heads = tuple(f"{head}\n{line}" for head, line in zip(heads, below, strict=True))
    more = max(head.count("\n") for head in heads) * HEAD_LINE
    return replace(grid, top=grid.top + more, gap_y=grid.gap_y + more), heads


def head(figure: Figure, grid: Lattice, index: int, text: str, quiet: int = 0) -> None:
    """The lines above a panel, the last one nearest to it; so many of the last ones are quiet."""
    x, y = grid.corner(index)
    lines = text.split("\n")
    for above, line in enumerate(reversed(lines)):
        write(figure, x, y - 2.2 - above * HEAD_LINE, line, color=INK_2 if above < quiet else INK)


TALLEST = 32.0
"""The most a square panel measures, a quarter of the page's width: a figure of a few sites leaves no void behind it."""


def unit_axes(axes: Axes, end: float, left: bool, bottom: bool) -> None:
    """Equal axes from 0 to the end, labelled at the outer panels only."""
    axes.set_xlim(0, end)
    axes.set_ylim(0, end)
    places = [0, end / 2, end]
    texts = ["0", "", tick_text(end)]
    for direction, outer in (("x", bottom), ("y", left)):
        ticks(axes, direction, places, texts if outer else ["", "", ""], inward=True)  # type: ignore[arg-type]


MOST_PANELS = {HALF: 12, FULL: 48}
"""How many small panels a figure of that width holds; the caption says how many are left out."""


def shown_sites(evidence: Evidence, width: float) -> tuple[tuple[DatasetSummary, ...], int]:
    """The external datasets that a figure has room for, and how many are left."""
    sites = externals(evidence)
    most = MOST_PANELS[width]
    return sites[:most], max(0, len(sites) - most)


def left_out(count: int, where: str) -> str:
    """The sentence about the sites that a figure has no room for."""
    return f" {sites_word(count)} more: {where}." if count else ""


@dataclass(frozen=True)
class Key:
    """One entry of the key above the panels: a line, or a filled square, and what it stands for."""

    text: str
    colour: str
    dash: Any = "-"
    width: float = 1.3
    fill: bool = False
    edge: str = "none"


def key_lines(entries: Sequence[Key], width: float) -> tuple[tuple[Key, ...], ...]:
    """The entries of a key in as many rows as a width in mm needs."""
    lines: list[list[Key]] = [[]]
    room = width
    for entry in entries:
        wide = _swatch(entry) + text_width(entry.text)
        if lines[-1] and wide > room:
            lines.append([])
            room = width
        lines[-1].append(entry)
        room -= wide + KEY_GAP
    return tuple(map(tuple, lines))


KEY_LINE = 4.4
"""The height of a row of a key, in mm."""
KEY_GAP = 4.5
"""How far the entries of a key stand apart, in mm."""


def _swatch(entry: Key) -> float:
    """The width of the square or the line of an entry, with the gap behind it."""
    return (4.2 if entry.fill else 5.5) + 1.1


def key_row(figure: Figure, x: float, y: float, entries: Sequence[Key]) -> float:
    """The key in one row; where it ends."""
    across, down = extent(figure)
    for entry in entries:
        if entry.fill:
            corner = (x / across, 1 - (y + 1.6) / down)
            square = Rectangle(corner, 4.2 / across, 3.2 / down, transform=figure.transFigure)
            square.set(facecolor=entry.colour, edgecolor=entry.edge, linewidth=0.5)
            figure.add_artist(square)
        else:
            line = matplotlib.lines.Line2D(
                [x / across, (x + 5.5) / across],
                [1 - y / down] * 2,
                color=entry.colour,
                lw=entry.width,
                ls=entry.dash,
                transform=figure.transFigure,
            )
            figure.add_artist(line)
        x += _swatch(entry)
        write(figure, x, y, entry.text)
        x += text_width(entry.text) + KEY_GAP
    return x


# ---- labels at marks and lines --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    """A mark that wants a label: its text, its centre in mm, and the half axes of the ellipse round it."""

    text: str
    x: float
    y: float
    across: float = 0.0
    down: float = 0.0
    weight: int = 400
    aside: tuple[float, float] = (0.0, 0.0)
    """How far the middle of the ellipse lies from the mark, in mm: intervals are not symmetric."""


LABEL_HEIGHT = 3.9


def _candidates(mark: Mark, radius: float) -> Floats:
    """The centres at which a label may stand: 24 directions at 5 distances."""
    half = (text_width(mark.text, mark.weight) + 1) / 2
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    places = []
    for reach, rise in (
        (radius + 0.5, radius + 0.4),
        (max(mark.across + abs(mark.aside[0]), radius) + 0.5, max(mark.down + abs(mark.aside[1]), radius) + 0.4),
        (radius + 2.2, radius + 2.2),
        (radius + 4.5, radius + 4.5),
        (radius + 7.0, radius + 7.0),
    ):
        places.append(
            np.column_stack(
                (mark.x + np.cos(angles) * (reach + half), mark.y + np.sin(angles) * (rise + LABEL_HEIGHT / 2))
            )
        )
    return np.concatenate(places)


def _crossed(places: Floats, half: Floats, points: Floats) -> Floats:
    """How many points lie inside a box of that half size at each place."""
    if not len(points):
        return np.zeros(len(places))
    across = np.abs(np.subtract.outer(places[:, 0], points[:, 0])) < half[0]
    down = np.abs(np.subtract.outer(places[:, 1], points[:, 1])) < half[1]
    return np.asarray((across & down).sum(axis=1), dtype=np.float64)


def outline(mark: Mark) -> Floats:
    """Points along the ellipse round a mark, none where it has none."""
    if not mark.across and not mark.down:
        return np.empty((0, 2))
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    x, y = mark.x + mark.aside[0], mark.y + mark.aside[1]
    return np.column_stack((x + mark.across * np.cos(angles), y + mark.down * np.sin(angles)))


def place_labels(
    marks: Sequence[Mark],
    width: float,
    height: float,
    radius: float,
    lines: Floats,
    taken: Sequence[tuple[float, float, float, float]] = (),
) -> tuple[tuple[float, float] | None, ...]:
    """The centre of each mark's label in a panel, crossing as little as can be.

    `radius` is that of the discs, `lines` holds points (mm) on lines that a label should not cross, and `taken` the
    boxes of other texts, as centre and half size. A label that could stand only on another label, at another disc or
    beyond the panel is None: better left out than misread.
    """
    if not marks:
        return ()
    half = [np.array([(text_width(mark.text, mark.weight) + 1) / 2, LABEL_HEIGHT / 2]) for mark in marks]
    centres = np.array([(mark.x, mark.y) for mark in marks])
    places = [_candidates(mark, radius) for mark in marks]
    outlines = [outline(mark) for mark in marks]
    standing = [
        _standing_cost(index, places[index], half[index], centres, outlines, lines, (width, height), radius)
        for index in range(len(marks))
    ]
    for cost, where, size in zip(standing, places, half, strict=True):
        for x, y, across, down in taken:
            cost += 1e6 * (np.abs(where - np.array((x, y))) < size + np.array((across, down))).all(axis=1)
    tries = []
    for order in _orders(centres)[: 7 if len(marks) <= CROWD else 1]:
        chosen = np.full((len(marks), 2), np.nan)
        for _ in range(6):
            for index in order:
                cost = standing[index] + 200 * _covered(places[index], half[index], chosen, half, index)
                chosen[index] = places[index][int(np.argmin(cost))]
        readable = _readable(chosen, half, centres, radius, (width, height), taken)
        if None not in readable:
            return readable
        tries.append(readable)
    return min(tries, key=lambda each: each.count(None))


CROWD = 14
"""With more marks than this one order of choosing has to do: every further one takes its time and finds little."""


def _orders(centres: Floats) -> list[list[int]]:
    """The orders in which labels may choose their place: as given, then from each side, then the most crowded first."""
    apart = np.hypot(*(centres[:, None, :] - centres[None, :, :]).transpose(2, 0, 1)).sum(axis=1)
    keys = (np.arange(len(centres)), centres[:, 0], -centres[:, 0], centres[:, 1], -centres[:, 1], apart, -apart)
    return [np.argsort(key, kind="stable").tolist() for key in keys]


def _standing_cost(
    index: int,
    places: Floats,
    half: Floats,
    centres: Floats,
    outlines: Sequence[Floats],
    lines: Floats,
    size: tuple[float, float],
    radius: float,
) -> Floats:
    """What each place costs whatever the other labels do: crossings, distance, doubt about whose label it is."""
    others = [outline for other, outline in enumerate(outlines) if other != index]
    cost = 2.2 * _crossed(places, half, outlines[index]) + 1.6 * _crossed(places, half, lines)
    if others:
        cost += 3 * _crossed(places, half, np.concatenate(others))
    cost += 60 * _crossed(places, half + radius, centres)
    gaps = np.maximum(np.abs(places[:, None, :] - centres[None, :, :]) - half, 0)
    distance = np.hypot(gaps[:, :, 0], gaps[:, :, 1])
    own = distance[:, index]
    nearest = np.delete(distance, index, axis=1).min(axis=1) if len(centres) > 1 else own + 99
    cost += 0.55 * own + 12 * (nearest < own + 0.6) + 0.4 * (places[:, 0] < centres[index, 0])
    outside = (places < half + 0.3).any(axis=1) | (places > np.array(size) - half - 0.3).any(axis=1)
    return np.asarray(cost + 1e6 * outside)


def _covered(places: Floats, half: Floats, chosen: Floats, halves: Sequence[Floats], index: int) -> Floats:
    """How many labels that already stand each place would cover."""
    total = np.zeros(len(places))
    for other, centre in enumerate(chosen):
        if other != index and not np.isnan(centre[0]):
            total += (np.abs(places - centre) < half + halves[other]).all(axis=1)
    return total


DOUBT = 0.5
"""By how much, in mm, a label may stand nearer to another mark than to its own, unless the two lie on each other."""


def _readable(
    chosen: Floats,
    halves: Sequence[Floats],
    centres: Floats,
    radius: float,
    size: tuple[float, float],
    taken: Sequence[tuple[float, float, float, float]] = (),
) -> tuple[tuple[float, float] | None, ...]:
    """The places inside that cover neither a kept label nor another's disc, and stand at their own mark."""
    kept: list[tuple[float, float] | None] = []
    for index, position in enumerate(chosen):
        half = halves[index]
        off = (position < half).any() or (position > np.array(size) - half).any()
        on_disc = (np.abs(np.delete(centres, index, axis=0) - position) < half + radius * 0.6).all(axis=1).any()
        gaps = np.maximum(np.abs(centres - position) - half, 0)
        distance = np.hypot(gaps[:, 0], gaps[:, 1])
        apart = np.hypot(*(centres - centres[index]).T) > radius
        is_anothers = bool((distance[apart] < distance[index] - DOUBT).any())
        on_label = any(
            other is not None and (np.abs(np.array(other) - position) < half + halves[before]).all()
            for before, other in enumerate(kept)
        )
        on_text = any((np.abs(np.array(box[:2]) - position) < half + np.array(box[2:])).all() for box in taken)
        kept.append(
            None if off or on_disc or on_label or on_text or is_anothers else (float(position[0]), float(position[1]))
        )
    return tuple(kept)


def _nearest(places: Floats, half: Floats, points: Floats) -> Floats:
    """How far the box of that half size at each place is from the nearest of the points."""
    if not len(points):
        return np.full(len(places), np.inf)
    every = points[::3]
    across = np.maximum(np.abs(np.subtract.outer(places[:, 0], every[:, 0])) - half[0], 0)
    down = np.maximum(np.abs(np.subtract.outer(places[:, 1], every[:, 1])) - half[1], 0)
    return np.asarray(np.sqrt((across**2 + down**2).min(axis=1)), dtype=np.float64)


def resampled(x: Floats, y: Floats, step: float = 0.4) -> Floats:
    """Points along a line (mm), close enough together that a label cannot slip between them."""
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    if len(x) < 2:
        return np.column_stack((x, y))
    along = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))))
    every = np.linspace(0, along[-1], max(2, min(1000, int(along[-1] / step))))
    return np.column_stack((np.interp(every, along, x), np.interp(every, along, y)))


def place_on_line(
    text: str,
    line: Floats,
    others: Floats,
    taken: Sequence[tuple[float, float, float, float]],
    size: tuple[float, float],
    weight: int = 400,
    prefer: float = 0.4,
    *,
    apart: bool = True,
) -> tuple[float, float] | None:
    """The centre of a label beside a line (points in mm), off every other line and label; None when there is no room.

    `taken` are boxes as centre and half size; `prefer` is the share of the line's length where the label stands best;
    with `apart` it costs to stand nearer to another line.
    """
    half = label_half(text, weight) + np.array([0.5, 0.0])
    inside = line[((line >= 0) & (line <= np.array(size))).all(axis=1)]
    if not len(inside):
        return None
    anchors = inside[np.unique(np.linspace(0, len(inside) - 1, 40).astype(int))]
    share = np.linspace(0, 1, len(anchors))
    moves = [
        (side * (half[0] + 0.8), rise * (half[1] + gap))
        for side, rise in ((0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1), (1, 0), (-1, 0))
        for gap in (0.5, 1.5, 3.0, 4.8)
    ]
    places = np.concatenate([anchors + np.array(move) for move in moves])
    cost = np.tile(8 * np.abs(share - prefer), len(moves))
    sideways = [abs(move[1]) * 0.1 + abs(move[0]) * 0.02 + (0.4 if move[0] < 0 else 0.0) for move in moves]
    cost += np.repeat(sideways, len(anchors))
    crossings = _crossed(places, half, line) + _crossed(places, half, others)
    if apart:
        cost += 2.5 * (_nearest(places, half, others) < _nearest(places, half, line))
    outside = (places < half + 0.2).any(axis=1) | (places > np.array(size) - half - 0.2).any(axis=1)
    covering = np.zeros(len(places), dtype=bool)
    for x, y, across, down in taken:
        covering |= (np.abs(places - np.array((x, y))) < half + np.array((across, down))).all(axis=1)
    cost += 5 * crossings + 1e4 * (outside | covering)
    best = int(np.argmin(cost))
    return None if cost[best] >= 1e4 else (float(places[best, 0]), float(places[best, 1]))


def label_half(text: str, weight: int = 400) -> Floats:
    """Half the width and half the height of a label of one line or more, in mm."""
    lines = text.split("\n")
    wide = max(text_width(line, weight) for line in lines)
    return np.array([wide / 2, (LABEL_HEIGHT + (len(lines) - 1) * LINE) / 2])


def stands_on_a_line(text: str, spot: tuple[float, float], lines: Floats, weight: int = 400) -> bool:
    """Whether a line (points in mm) runs through the letters of a label whose centre is that spot."""
    half = np.array([text_width(text, weight) / 2, LABEL_HEIGHT / 2 - 0.6])
    return bool(_crossed(np.array([spot]), half, lines).any())


def is_clear(
    text: str, spot: tuple[float, float], line: Floats, others: Floats, weight: int = 400, apart: float = 0.0
) -> bool:
    """Whether a label crosses no line (points in mm) and stands nearer to its own than to any other, by `apart` mm."""
    half = label_half(text, weight) - np.array([0.0, 0.4])
    position = np.array([spot])
    crosses = bool((_crossed(position, half, others) + _crossed(position, half, line)).any())
    return not crosses and bool((_nearest(position, half, line) + apart <= _nearest(position, half, others)).all())


# ---- bytes ----------------------------------------------------------------------------------------------------------


def svg_bytes(figure: Figure) -> bytes:
    """The figure as SVG: the same figure gives the same bytes."""
    return svg.written(figure)


def picture(name: str, drawn: Figure, caption: str, alternative: str, message: str = "") -> Picture:
    """The figure as it is handed to the page; its message is the alternative text where no shorter one is given."""
    width, height = extent(drawn)
    title = REGISTER.figures[name].title if name in REGISTER.figures else name
    said = message or alternative
    return Picture(name, svg_bytes(drawn), round(width, 2), round(height, 2), title, caption, alternative, said)


def value_text(found: Estimate | Absent, digits: int = 2) -> str:
    """A value with its interval for a sentence: 0.88 (0.73 to 0.96)."""
    if isinstance(found, Absent):
        return "not estimable"
    if found.low is None or found.high is None:
        return number(found.value, digits)
    return f"{number(found.value, digits)} ({interval(found.low, found.high, digits, ' to ')})"
