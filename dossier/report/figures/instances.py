"""The summary of H-accuracy: plain accuracy and every instance of it on one axis, beside the acceptable minimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.core import types
from dossier.core.facts import Fact
from dossier.core.instances import Instance, accuracy_threshold, of_dataset
from dossier.report.figures import accuracy, canvas, captions, facets, ink
from dossier.typeset import widths
from dossier.typeset.numbers import number
from dossier.typeset.words import sentence_case, setting

MOST_SITES, MOST_IN_A_LINE = 16, 8
ROW = 3.75
"""The height of a row, in mm."""
MOST_OF_LABELS = 44.0
TOP, KEY = 4.6, 11.0
"""Where the panel of the raters' instances begins, and what the head and the key of the composites take."""
VALUES, LEAST_PANEL = 20.5, 18.0
"""What the numbers beside a panel take, where as much is left for the panel."""
OTHER_MARKS = (("o", True), ("s", True), ("^", True), ("D", True))
"""The marks of priorities that are numbers, in their order: shape, and whether it is filled."""


def all_instances(evidence: types.Evidence) -> list[tuple[types.DatasetSummary, tuple[Instance, ...]]]:
    """The external sites that the figure has room for, each with its instances."""
    return [(site, of_dataset(evidence, site.name)) for site in types.externals(evidence)[:MOST_SITES]]


def is_shared(instance: Instance) -> bool:
    """Whether an instance rests on numbers alone, which every site has, not on raters or the cases' complexity."""
    if instance.kind in ("practical", "composite"):
        return False
    return instance.at.get("priority") != "raters" and not isinstance(instance.at.get("tau"), str)


def label(evidence: types.Evidence, instance: Instance) -> str:
    """What tells an instance from the others, as the head of its row."""
    if instance.kind == "plain":
        at = accuracy_threshold(evidence)
        return "Accuracy" if evidence.release.outcome.classes or at is None else f"Accuracy at {setting(at)}"
    if instance.kind == "balanced":
        return "All classes alike" if evidence.release.outcome.classes else "Both classes alike"
    if instance.kind == "practical":
        return f"Complexity: {setting(instance.at['complexity'])}"
    name, value = (
        ("priority", instance.at["priority"]) if instance.kind == "prioritized" else ("confidence", instance.at["tau"])
    )
    is_source = (isinstance(value, str) and not value[0].isdigit()) or value in ("right_80", "right_50", "right_25")
    return sentence_case(f"{name}{':' if is_source else ''} {setting(value)}")


@dataclass(frozen=True)
class Rows:
    """The rows of a panel: their names and heights in mm."""

    names: tuple[str, ...]
    heights: tuple[float, ...]

    @property
    def height(self) -> float:
        """How tall all of them are."""
        return sum(self.heights)

    def middle(self, row: int) -> float:
        """Where the middle of a row is, from the top."""
        return sum(self.heights[:row]) + self.heights[row] / 2


def _rows(names: Sequence[str]) -> Rows:
    return Rows(tuple(names), (ROW,) * len(names))


def _axes(
    drawn: Figure, evidence: types.Evidence, corner: tuple[float, float], wide: float, rows: Rows, low: float
) -> Axes:
    """An empty panel of rows, with the acceptable minimum."""
    axes = canvas.panel(drawn, *corner, wide, rows.height)
    axes.set_xlim(low, 1)
    axes.set_ylim(rows.height, 0)
    axes.spines["left"].set_visible(False)
    minimum = evidence.release.h_accuracy.acceptable
    if minimum is not None:
        if minimum.low is not None and minimum.high is not None:
            axes.axvspan(minimum.low, minimum.high, color=ink.TINTS[1], lw=0, zorder=0)
        axes.axvline(minimum.value, color=ink.INK_2, lw=0.8, ls=ink.BROKEN, zorder=1)
    return axes


def _mark(axes: Axes, y: float, found: types.Estimate, look: tuple[str, bool, str]) -> None:
    shape, filled, colour = look
    if found.low is not None and found.high is not None:
        # In grey plain accuracy stands out by its stroke, not by its colour.
        weight = 1.4 if colour == ink.INK else 0.9
        axes.plot([found.low, found.high], [y, y], color=colour, lw=weight, zorder=3, solid_capstyle="butt")
    face = colour if filled else "white"
    axes.plot([found.value], [y], shape, ms=3.2, mfc=face, mec=colour, mew=0.8, zorder=4, clip_on=False)


def _look(instance: Instance) -> tuple[str, bool, str]:
    return ("s", False, ink.INK) if instance.kind == "plain" else ("o", True, ink.BLUE)


def _ticks(axes: Axes, low: float, wide: float, texts: bool) -> None:
    places = [low, (low + 1) / 2, 1.0] if wide > 20 else [low, 1.0]
    canvas.ticks(
        axes, "x", places, [canvas.tick_text(round(position, 2)) if texts else "" for position in places], inward=True
    )


def _key(instance: Instance) -> tuple[str, tuple[tuple[str, float | str], ...]]:
    return instance.kind, tuple(sorted(instance.at.items()))


def draw_summary(evidence: types.Evidence) -> Figure | types.Absent:
    """The instances that every site has as rows, a panel a site; below them those of the first site with raters."""
    sites = all_instances(evidence)
    every = [instance for _, found in sites for instance in found if is_shared(instance)]
    if not any(instance.kind != "plain" for instance in every):
        return facets.why_nowhere(evidence, "h_accuracy_profile", Fact("no_profile_of_h_accuracy"))
    shared = list({_key(instance): instance for instance in every}.values())
    low = _least(every)
    names = widths.shortened([label(evidence, instance) for instance in shared], MOST_OF_LABELS)
    left = max(widths.text_width(name) for name in names) + 3.0
    lines = -(-len(sites) // MOST_IN_A_LINE)
    columns, rows = -(-len(sites) // lines), _rows(names)
    wide = (canvas.FULL - left - 2.6 * (columns - 1)) / columns
    grid = facets.Lattice(len(sites), columns, wide, rows.height, left, 5.0, 2.6, 9.0)
    grid, heads = facets.headed(grid, [site for site, _ in sites])
    drawn = canvas.sheet(canvas.FULL, grid.bottom + 5.6)
    for index, (_, found) in enumerate(sites):
        facets.head(drawn, grid, index, heads[index])
        _of_site(drawn, evidence, grid, index, found, shared, rows, low)
    return drawn


def _least(found: Sequence[Instance]) -> float:
    """Where the axis begins: a tenth below the lowest bound."""
    ends = [instance.found.low if instance.found.low is not None else instance.found.value for instance in found]
    return min(0.9, float(np.floor(min(ends) * 10) / 10))


def _of_site(
    drawn: Figure,
    evidence: types.Evidence,
    grid: facets.Lattice,
    index: int,
    found: Sequence[Instance],
    shared: Sequence[Instance],
    rows: Rows,
    low: float,
) -> None:
    x, y = grid.corner(index)
    values = VALUES if grid.width >= VALUES + LEAST_PANEL else 0.0
    axes = _axes(drawn, evidence, (x, y), grid.width - values, rows, low)
    here = {_key(instance): instance for instance in found}
    for row, instance in enumerate(shared):
        mine = here.get(_key(instance))
        if mine is not None:
            _mark(axes, rows.middle(row), mine.found, _look(mine))
            if values:
                text = f"{number(mine.found.value)} {captions.interval(mine.found.low, mine.found.high)}"
                canvas.write(drawn, x + grid.width, y + rows.middle(row), text, ha="right", color=ink.INK_2)
        if grid.outer_left(index):
            canvas.write(
                drawn,
                0,
                y + rows.middle(row),
                rows.names[row],
                color=ink.INK if instance.kind == "plain" else ink.INK_2,
            )
    if not found:
        facets.say(axes, grid.width - values, rows.height, "not estimable")
    _ticks(axes, low, grid.width - values, grid.outer_bottom(index))


# ---- what only raters or the complexity of the cases give -----------------------------------------------------------


def site_with_raters(evidence: types.Evidence) -> tuple[types.DatasetSummary, tuple[Instance, ...]] | None:
    """The first site with instances that rest on raters or on the complexity of its cases, and these."""
    for site, found in all_instances(evidence):
        own = tuple(instance for instance in found if not is_shared(instance))
        if own:
            return site, own
    return None


def _priorities(found: Sequence[Instance]) -> dict[float | str, tuple[str, bool, str]]:
    """The priorities of composites, each with its mark."""
    given = list(dict.fromkeys(instance.at["priority"] for instance in found))
    numbers = [priority for priority in given if not isinstance(priority, str)]
    return {
        priority: (*accuracy.SOURCES[priority][1:], ink.BLUE)
        if isinstance(priority, str)
        else (*OTHER_MARKS[numbers.index(priority) % len(OTHER_MARKS)], ink.BLUE)
        for priority in given
    }


def _composite_rows(found: Sequence[Instance]) -> Rows:
    """A row a confidence, tall enough for the mark of every priority."""
    taus = list(dict.fromkeys(instance.at["tau"] for instance in found))
    each = max(ROW + 0.6, 1.9 * len(_priorities(found)) + 0.6)
    return Rows(tuple(f"Confidence: {setting(tau)}" for tau in taus), (each,) * len(taus))


def draw_by_raters(evidence: types.Evidence) -> Figure | types.Absent:
    """Above the instances that rest on the raters one by one, below those that join every dimension."""
    here = site_with_raters(evidence)
    if here is None:
        return types.Absent(Fact("no_site_with_complexity"))
    site, found = here
    single = [instance for instance in found if instance.kind != "composite"]
    composite = [instance for instance in found if instance.kind == "composite"]
    names = widths.shortened([label(evidence, instance) for instance in single], 54.0)
    rows, joint = _rows(names), _composite_rows(composite)
    left = max((widths.text_width(name) for name in (*names, *joint.names)), default=0.0) + 3.0
    second = TOP + rows.height + KEY if composite else TOP + rows.height
    drawn, low = canvas.sheet(canvas.HALF, second + joint.height + 5.6), _least(found)
    canvas.write(drawn, 0, 2.0, site.site, weight=600)
    axes = _axes(drawn, evidence, (left, TOP), canvas.HALF - left, rows, low)
    for row, instance in enumerate(single):
        _mark(axes, rows.middle(row), instance.found, _look(instance))
        canvas.write(drawn, 0, TOP + rows.middle(row), names[row], color=ink.INK_2)
    _ticks(axes, low, canvas.HALF - left, not composite)
    if composite:
        _composites(drawn, evidence, composite, joint, (left, second), low)
    return drawn


def _composites(
    drawn: Figure,
    evidence: types.Evidence,
    found: Sequence[Instance],
    rows: Rows,
    corner: tuple[float, float],
    low: float,
) -> None:
    """The key of the priorities, and a row a confidence with the mark of each."""
    looks, (left, top) = _priorities(found), corner
    canvas.write(drawn, 0, top - 7.2, "All at once: by confidence and priority", weight=600)
    key, across = canvas.panel(drawn, 0, top - 5.0, canvas.HALF, 3.6), 0.0
    key.set_xlim(0, canvas.HALF)
    key.set_ylim(3.6, 0)
    key.axis("off")
    for priority, (shape, filled, colour) in looks.items():
        key.plot([across + 1.2], [1.8], shape, ms=3.2, mfc=colour if filled else "white", mec=colour, mew=0.8)
        text = accuracy.SOURCES[priority][0] if isinstance(priority, str) else number(priority)
        canvas.write(drawn, across + 3.0, top - 3.2, text)
        across += 3.0 + widths.text_width(text) + 4.0
    axes, order = _axes(drawn, evidence, corner, canvas.HALF - left, rows, low), list(looks)
    taus = list(dict.fromkeys(instance.at["tau"] for instance in found))
    for instance in found:
        offset = (order.index(instance.at["priority"]) - (len(order) - 1) / 2) * 1.9
        _mark(
            axes, rows.middle(taus.index(instance.at["tau"])) + offset, instance.found, looks[instance.at["priority"]]
        )
    for row, name in enumerate(rows.names):
        canvas.write(drawn, 0, top + rows.middle(row), name, color=ink.INK_2)
    _ticks(axes, low, canvas.HALF - left, True)


# ---- the picture ----------------------------------------------------------------------------------------------------


@canvas.figure("Instances of H-accuracy beside plain accuracy")
def h_accuracy_summary(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How far accuracy parts from what is left of it when classes, confidence and hard cases weigh differently."""
    drawn = draw_summary(evidence)
    if isinstance(drawn, types.Absent):
        return drawn
    sites = [(site, [instance for instance in found if is_shared(instance)]) for site, found in all_instances(evidence)]
    spread = [(site.site, *_ends(found)) for site, found in sites if found]
    texts = [f"{first} to {last} ({name})" for name, first, last in spread]
    widest, first, last = max(spread, key=lambda row: float(row[2]) - float(row[1]))
    message = f"What counts as right matters most in {widest}: accuracy runs from {first} to {last}."
    more = captions.left_out(len(types.externals(evidence)) - len(sites), "see results.csv")
    caption = (
        f"{captions.patients([site for site, _ in sites])}; {captions.level_text(evidence)} intervals. Square: "
        f"plain accuracy; "
        f"circles: H-accuracy. Confidence: the score that earns full credit.{_line(evidence)}{more}"
    )
    return canvas.Drawn(drawn, caption, f"Accuracy runs from {captions.joined(texts, 8)}.", message)


@canvas.figure("H-accuracy by what raters say")
def h_accuracy_by_raters(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """What becomes of accuracy when confidence, priority and complexity come from people who judged the same cases."""
    drawn = draw_by_raters(evidence)
    here = site_with_raters(evidence)
    if isinstance(drawn, types.Absent) or here is None:
        return drawn if isinstance(drawn, types.Absent) else types.Absent(Fact("no_site_with_complexity"))
    site, found = here
    first, last = _ends(found)
    every = [dataset for dataset, own in all_instances(evidence) if not all(map(is_shared, own))]
    caption = (
        f"{captions.patients([site])}; {captions.level_text(evidence)} intervals. Above, both classes weigh alike "
        f"unless a "
        "priority is named; below, the complexity counts as it is graded (other forms: results.csv)."
        f"{_line(evidence)}{captions.left_out(len(every) - 1, 'see results.csv')}"
    )
    text = f"H-accuracy in {site.site} runs from {first} to {last} over what the raters say."
    return canvas.Drawn(drawn, caption, text)


def _ends(found: Sequence[Instance]) -> tuple[str, str]:
    values = [instance.found.value for instance in found]
    return number(min(values)), number(max(values))


def _line(evidence: types.Evidence) -> str:
    """What the broken line is."""
    minimum = evidence.release.h_accuracy.acceptable
    if minimum is None:
        return ""
    return f" Broken line: minimum acceptable accuracy{', with its interval' if minimum.low is not None else ''}."
