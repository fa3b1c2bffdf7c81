"""Small multiples: equal panels in rows and columns, their heads, their common axes, their key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from dossier.core.facts import Fact
from dossier.core.types import Absent, Curve, DatasetSummary, Evidence, externals, find_curve
from dossier.report.figures import canvas, ink, marks
from dossier.typeset import reasons, widths
from dossier.typeset.tables import NARROW, filled

# ---- panels ---------------------------------------------------------------------------------------------------------


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
    is_large: bool = False,
) -> Lattice:
    """Panels that fill the width of a sheet; `shape` is height over width, `tallest` the most a panel may measure.

    Large ones keep their height in rows too: a few sites, of which each panel holds more than a line.
    """
    if columns is None:
        by_count = ((4, count), (8, 4), (24, 6), (10**6, 8)) if sheet_width > canvas.HALF else ((10**6, min(count, 4)),)
        columns = next(most for few_enough, most in by_count if count <= few_enough)
    across = (sheet_width - left - (columns - 1) * gap_x) / columns
    if count > columns and sheet_width > canvas.HALF and not is_large:
        tallest = min(tallest, TALLEST_OF_SEVERAL_ROWS if shape == 1.0 else FLAT)
    height = min(across * shape, tallest)
    return Lattice(count, columns, height / shape if shape == 1.0 else across, height, left, top, gap_x, gap_y)


MOST_LARGE = 8
"""Of more sites the panels are small: what they leave out stands in the tables."""
TALLEST_OF_SEVERAL_ROWS, FLAT = 28.0, 17.0
"""The most that a square panel and a wide one measure where they stand in rows: a figure takes a third of a page."""
MOST_BESIDE = 8
"""How many small panels of plain curves half the width of the page holds."""


TALLEST = 32.0
"""The most a square panel measures, a quarter of the page's width: a figure of a few sites leaves no void behind it."""
MOST_PANELS = {canvas.HALF: 12, canvas.FULL: 48}
"""How many small panels a figure of that width holds; the caption says how many are left out."""


def shown_sites(evidence: Evidence, width: float) -> tuple[tuple[DatasetSummary, ...], int]:
    """The external datasets that a figure has room for, and how many are left."""
    sites = externals(evidence)
    most = MOST_PANELS[width]
    return sites[:most], max(0, len(sites) - most)


def shown_curves(evidence: Evidence, width: float, name: str) -> list[tuple[DatasetSummary, Curve | Absent]]:
    """The external datasets that a figure has room for, each with its curve of that name."""
    return [(site, find_curve(evidence, name, site.name)) for site in shown_sites(evidence, width)[0]]


def known(found: Iterable[tuple[DatasetSummary, Curve | Absent]]) -> list[Curve]:
    """Those of the curves that there are."""
    return [curve for _, curve in found if isinstance(curve, Curve)]


# ---- heads ----------------------------------------------------------------------------------------------------------

MOST_ROWS_OF_TALL_HEADS = 3
"""With more rows of panels than this a long name is shortened: two lines above each would cost too much height."""
HEAD_LINE = 3.9


def _heads(names: Sequence[str], grid: Lattice) -> tuple[str, ...]:
    """The names above the panels: on one line, else on two, and three of one row, where there is height, else short."""
    short = widths.shortened(names, grid.width)
    if grid.rows > MOST_ROWS_OF_TALL_HEADS:
        return short
    firsts, most = [name.split(",")[0] for name in names], 3 if grid.rows == 1 else 2
    tellable = len(set(firsts)) == len(names)
    whole = (
        widths.wrapped(name, grid.width, most) or (widths.wrapped(first, grid.width, most) if tellable else None)
        for name, first in zip(names, firsts, strict=True)
    )
    return tuple(long or cut for long, cut in zip(whole, short, strict=True))


@dataclass(frozen=True)
class Multiples:
    """Small multiples on a sheet of their own: their panels, and the lines above each, of which the last are quiet."""

    sheet: Figure
    grid: Lattice
    heads: tuple[str, ...]
    quiet: int
    sites: Sequence[DatasetSummary]

    @classmethod
    def of(
        cls,
        grid: Lattice,
        sites: Sequence[DatasetSummary],
        foot: float,
        width: float | None = None,
        below: Sequence[str] | None = None,
    ) -> Multiples:
        """A panel for each site, moved down to make room for its name, and so much room below the last row.

        `below` holds what stands under the name of each. The sheet is as wide as given, or else no wider than the
        panels where the caption has room beside them.
        """
        heads = _heads([site.site for site in sites], grid)
        if below is not None:
            heads = tuple(f"{head}\n{line}" for head, line in zip(heads, below, strict=True))
        more = max(head.count("\n") for head in heads) * HEAD_LINE
        grid = replace(grid, top=grid.top + more, gap_y=grid.gap_y + more)
        width = width or (grid.right + 1.5 if grid.right + 1.5 <= NARROW else canvas.FULL)
        quiet = 0 if below is None else below[0].count("\n") + 1
        return cls(canvas.sheet(width, grid.bottom + foot), grid, heads, quiet, sites)

    def head(self, index: int) -> None:
        """The lines above a panel, the last one nearest to it."""
        x, y = self.grid.corner(index)
        for above, line in enumerate(reversed(self.heads[index].split("\n"))):
            colour = ink.INK_2 if above < self.quiet else ink.INK
            canvas.write(self.sheet, x, y - 2.2 - above * HEAD_LINE, line, color=colour)

    def panel(self, index: int) -> canvas.Panel:
        """A panel under its head."""
        for _ in canvas.of_each(self.sheet, self.sites[index : index + 1], lambda site: site):
            self.head(index)
            axes = canvas.panel(self.sheet, *self.grid.corner(index), self.grid.width, self.grid.height)
        return axes

    def each(
        self,
        evidence: Evidence,
        found: Sequence[tuple[DatasetSummary, Curve | Absent]],
        scale: Callable[[canvas.Panel, int], None],
    ) -> Iterator[tuple[int, DatasetSummary, canvas.Panel, Curve]]:
        """Each panel that has a curve, with its axes set; in the others it is said why there is none."""
        for index, (site, curve) in enumerate(found):
            axes = self.panel(index)
            scale(axes, index)
            if isinstance(curve, Absent):
                say(axes, reasons.why(evidence, curve.reason))
            else:
                yield index, site, axes, curve

    def titles(self, across: str, up: str, below: float = 7.2) -> None:
        """What the axes of all panels are called: under the last row, and turned at the left edge of the sheet."""
        canvas.write(self.sheet, (self.grid.left + self.grid.right) / 2, self.grid.bottom + below, across, ha="center")
        canvas.turned(self.sheet, 2.0, (self.grid.top + self.grid.bottom) / 2, up)


# ---- axes -----------------------------------------------------------------------------------------------------------


def unit(
    grid: Lattice, end: float = 1.0, *, every: bool = False, across: bool = True
) -> Callable[[canvas.Panel, int], None]:
    """How the panels of a lattice get equal axes from 0 to the end: numbers at the outer ones only, or at every one.

    Where `every` panel has numbers it is large, and has one in the middle too, to find a risk between the ends. With
    `across` false the horizontal axis stands below something else, and has ticks alone.
    """

    def scale(axes: canvas.Panel, index: int) -> None:
        axes.set(xlim=(0, end), ylim=(0, end))
        texts = ["0", canvas.tick_text(end / 2) if every else "", canvas.tick_text(end)]
        for direction, outer in zip(canvas.BOTH, (grid.outer_bottom(index), grid.outer_left(index)), strict=True):
            labelled = (outer or every) and (across or direction == "y")
            canvas.ticks(axes, direction, [0, end / 2, end], texts, labelled=labelled, inward=True)

    return scale


def why_nowhere(evidence: Evidence, curve: str, otherwise: Fact) -> Absent:
    """Why no external site has a curve: the reason at the first of them; the owner's data have reasons of their own."""
    names = {site.name for site in externals(evidence)}
    found = (drawn_curve.found for drawn_curve in evidence.by_curve[curve] if drawn_curve.dataset in names)
    return next((drawn_curve for drawn_curve in found if isinstance(drawn_curve, Absent)), Absent(otherwise))


def say(axes: canvas.Panel, *choices: str) -> None:
    """Say in a panel why nothing is drawn, in the first words that fit."""
    most = max(1, int(axes.height / canvas.LINE))
    fitting = (widths.wrapped(choice, axes.width - 2.0, most) for choice in (*choices, "not estimable", "none"))
    text = next((choice for choice in fitting if choice), "–")
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=ink.INK_2, linespacing=1.2)


# ---- key ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """One entry of the key above the panels: a line, a square or a mark, and what it stands for."""

    text: str
    colour: str
    dash: Any = "-"
    width: float = 1.3
    mark: str = "line"
    """A line, a square, a mark as matplotlib calls it, or nothing."""
    filled: bool = True
    edge: str = "none"
    room: float | None = None
    """What the mark takes with the gap behind it, in mm, where it is not as usual."""

    @property
    def swatch(self) -> float:
        """What the mark takes with the gap behind it, in mm."""
        return {"line": 6.6, "square": 5.3, "": 0.0}.get(self.mark, 3.2) if self.room is None else self.room


def key_lines(entries: Sequence[Key], width: float) -> list[list[Key]]:
    """The entries of a key in as many rows as a width in mm needs."""
    wide = [entry.swatch + widths.text_width(entry.text) + KEY_GAP for entry in entries]
    return filled(entries, wide, width + KEY_GAP)


KEY_LINE = 4.4
"""The height of a row of a key, in mm."""
KEY_GAP = 4.5
"""How far the entries of a key stand apart, in mm."""


def key(figure: Figure, left: float, y: float, lines: Sequence[Sequence[Key]], step: float = KEY_LINE) -> None:
    """A key in rows, the first at a height of the sheet."""
    across, down = canvas.extent(figure)
    for entries in lines:
        x = left
        for entry in entries:
            if entry.mark == "square":
                corner = (x / across, 1 - (y + 1.6) / down)
                square = Rectangle(corner, 4.2 / across, 3.2 / down, transform=figure.transFigure)
                square.set(facecolor=entry.colour, edgecolor=entry.edge, linewidth=0.5)
                figure.add_artist(square)
            elif entry.mark == "line":
                marks.stroke(figure, (x, y), (x + 5.5, y), entry.colour, entry.width, entry.dash)
            elif entry.mark:
                place = Line2D([(x + 1.2) / across], [1 - y / down], transform=figure.transFigure)
                face = entry.colour if entry.filled else "white"
                place.set(marker=entry.mark, ms=4.6, mfc=face, mec=entry.colour, mew=0.9)
                figure.add_artist(place)
            x += entry.swatch
            canvas.write(figure, x, y, entry.text)
            x += widths.text_width(entry.text) + KEY_GAP
        y += step
