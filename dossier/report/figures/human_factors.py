"""Pictures of the reader study: who gains from the model, how sure that is, and which decisions it changed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.core import facts, register, types
from dossier.report.figures import canvas, captions, data, facets, forest, ink, marks
from dossier.typeset import widths
from dossier.typeset.names import groups_of_readers
from dossier.typeset.numbers import number
from dossier.typeset.words import counted, sentence_case

MARKERS = tuple(itertools.product("os^", (True, False)))
"""The marks of the groups of readers: shape, and whether it is filled; they tell the groups apart in grey."""
DISC = 4.6
"""The diameter of a reader's mark in points."""


# ---- decision benefit -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """A group of readers, or all of them: its mean benefit and the readers' rows of the curve."""

    name: str
    found: types.Estimate | types.Absent
    rows: tuple[int, ...]


def groups_of(evidence: types.Evidence, curve: types.Curve) -> tuple[Group, ...]:
    """The groups in alphabetical order; without groups all readers as one."""
    names = groups_of_readers(evidence)
    if "group" not in curve.columns or not names:
        every = tuple(range(len(curve.columns["reader"])))
        return (Group("", types.find(evidence, "decision_benefit", types.READER_STUDY), every),)
    numbers = curve.columns["group"]
    return tuple(
        Group(
            name,
            types.find(evidence, "decision_benefit", types.READER_STUDY, group=name),
            tuple(row for row, own in enumerate(numbers) if own == float(index)),
        )
        for index, name in enumerate(names)
    )


WIDE, HIGH, LEFT = 92.0, 46.0, 14.0
FOREST_LEFT, FOREST_WIDTH = 116.0, 49.0
TOP = 10.0


def _percent(value: float) -> str:
    return canvas.tick_text(round(value * 100, 6))


def _limits(values: types.Floats, step: float) -> tuple[float, float]:
    """Round ends that hold the values, at least two steps apart."""
    low = math.floor((float(values.min()) - step * 0.3) / step + 1e-9) * step
    high = math.ceil((float(values.max()) + step * 0.3) / step - 1e-9) * step
    return round(low, 9), round(max(high, low + 2 * step), 9)


def _regions(axes: Axes, across: tuple[float, float], up: tuple[float, float]) -> None:
    """The region of gain and that of harm, the line between them, and what no reader can pass."""
    low, high = across
    bottom, top = up
    axes.fill_between([low, high], [0, 0], [top, top], color=ink.TINTS[0], lw=0, zorder=0)
    axes.axhline(0, color=ink.INK, lw=0.7, zorder=1)
    if 1 - high < top:
        ends = np.array([max(low, 1 - top), high])
        axes.plot(ends, 1 - ends, color=ink.INK_2, lw=0.7, ls=ink.BROKEN, zorder=1)
        axes.fill_between(ends, 1 - ends, [top, top], color="white", lw=0, zorder=0.5)
    for text, position, align, inset in (("better", top, "bottom", 0.02), ("worse", bottom, "top", -0.02)):
        if abs(position) > 0.12 * (top - bottom):
            # Beside the line of no gain: who decides badly gains most, and stands in the corner.
            spot = low + (high - low) * 0.02, inset * (top - bottom)
            axes.text(*spot, f"decides {text}", va=align, color=ink.INK_2, zorder=1.5)


def _readers(axes: Axes, index: int, group: Group, unaided: types.Floats, benefit: types.Floats) -> None:
    """The marks of a group; readers at the same place stand side by side."""
    low, high = axes.get_xlim()
    step = (high - low) / WIDE * 1.75
    seen: dict[tuple[float, float], int] = {}
    for row in group.rows:
        if math.isnan(benefit[row]):
            continue
        spot = (round(float(unaided[row]), 9), round(float(benefit[row]), 9))
        nudge = seen.get(spot, 0)
        seen[spot] = nudge + 1
        shift = step * ((nudge + 1) // 2) * (1 if nudge % 2 else -1)
        shape, filled = MARKERS[index % len(MARKERS)]
        marks.dot(axes, spot[0] + shift, spot[1], shape, DISC, ink.BLUE, filled=filled, gid=f"reader-{row}")


def _mean(axes: Axes, index: int, found: types.Estimate | types.Absent) -> None:
    """A group's mean with its interval, at its mean accuracy without the model."""
    if isinstance(found, types.Absent) or (x := found.details.get("unaided")) is None:
        return
    if found.low is not None and found.high is not None:
        axes.plot([x, x], [found.low, found.high], color=ink.INK, lw=1.6, zorder=4)
    _, filled = MARKERS[index % len(MARKERS)]
    marks.dot(axes, x, found.value, "D", 6, filled=filled, mew=1.1, zorder=5, clip_on=True)


def _key(groups: Sequence[Group]) -> list[facets.Key]:
    """The names of the groups with their marks."""
    names = widths.shortened([sentence_case(group.name or "reader") for group in groups], 38.0)
    known = [
        facets.Key(f"{name} ({len(group.rows)})", ink.BLUE, mark=shape, filled=filled, room=3.6)
        for name, group, (shape, filled) in zip(names, groups, itertools.cycle(MARKERS), strict=False)
    ]
    return [*known, facets.Key("mean, interval", ink.INK, mark="D", room=3.6)]


def _mean_forest(drawn: Figure, evidence: types.Evidence, groups: Sequence[Group]) -> None:
    """The mean gain of all readers and of each group on one scale, as words and lines."""
    rows = [("All readers", types.find(evidence, "decision_benefit", types.READER_STUDY))]
    if len(groups) > 1:
        rows += [(sentence_case(group.name), group.found) for group in groups]
    # Two lines a row where there are many groups, else three; more groups than that stand in the table.
    rows = rows[: int(HIGH / (2 * canvas.LINE))]
    lines = 3 if len(rows) * 3 * canvas.LINE <= HIGH else 2
    ends = _limits(np.array([*data.ends(*(estimate for _, estimate in rows)), 0.0]), 0.05)
    plot = forest.Rows(drawn, TOP, lines * canvas.LINE)
    axes = plot.axes(FOREST_LEFT, FOREST_WIDTH, len(rows), ends)
    places = canvas.inner_ticks(*ends, 4)
    canvas.ticks(axes, "x", places, [_percent(position) for position in places], inward=True)
    axes.titles("Mean gain, % points")
    taken = max(
        (widths.text_width(_interval(estimate)) for _, estimate in rows if isinstance(estimate, types.Estimate)),
        default=24.0,
    )
    names = widths.shortened([name for name, _ in rows], canvas.FULL - FOREST_LEFT - taken - 2.0, 600)
    for row, (name, (_, found)) in enumerate(zip(names, rows, strict=True)):
        plot.write(row + 0.6 / lines, FOREST_LEFT, name, weight=600)
        if isinstance(found, types.Absent):
            plot.right(row + 0.6 / lines, canvas.FULL, "not estimable")
            continue
        plot.right(row + 0.6 / lines, canvas.FULL, _interval(found))
        middle = row + (0.68 if lines == 3 else 0.75)
        # The line of no gain stops short of the words above each row.
        axes.plot([0, 0], [row + 0.52, row + 0.95], color=ink.INK, lw=0.7, zorder=0)
        marks.whisker(axes, found, middle)
        marks.dot(axes, found.value, middle, "D", 5, clip_on=True)


@canvas.figure("Decision benefit")
def decision_benefit_diagram(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Whether each reader decides better with the model, by how well they decide without it."""
    curve = register.present(types.find_curve(evidence, "decision_benefit_by_reader", types.READER_STUDY))
    unaided, every = data.column(curve, "unaided"), data.column(curve, "benefit")
    benefit = every[~np.isnan(every)]
    if not len(benefit):
        return types.Absent(facts.Fact("no_reader_decided_both_ways"))
    groups = groups_of(evidence, curve)
    drawn = canvas.sheet(canvas.FULL, TOP + HIGH + 10.0)
    across = _limits(unaided[~np.isnan(every)], 0.05)
    up = _limits(np.array([*benefit, *data.ends(*(group.found for group in groups)), 0.0]), 0.05)
    axes = canvas.panel(drawn, LEFT, TOP, WIDE, HIGH, across, up)
    _regions(axes, across, up)
    for index, group in enumerate(groups):
        _readers(axes, index, group, unaided, every)
    for index, group in enumerate(groups):
        _mean(axes, index, group.found)
    for direction, ends in zip(canvas.BOTH, (across, up), strict=True):
        places = canvas.inner_ticks(*ends, 5)
        canvas.ticks(axes, direction, places, [_percent(position) for position in places], inward=True)
    facets.key(drawn, LEFT, 2.2, facets.key_lines(_key(groups), canvas.FULL - LEFT - facets.KEY_GAP), canvas.LINE)
    axes.titles("Accuracy without the model, %", "Gain with the model, % points", away=LEFT - 2.0)
    _mean_forest(drawn, evidence, groups)
    readers = counted(len(benefit), "reader")
    caption = captions.said("decision_benefit", evidence, readers=readers, decisions=curve.n)
    better, worse = int(np.sum(benefit > 0)), int(np.sum(benefit < 0))
    text = f"Of {readers} {better} were right more often with the model and {worse} less often"
    mean = types.find(evidence, "decision_benefit", types.READER_STUDY)
    if isinstance(mean, types.Estimate):
        text += f"; the mean gain is {_interval(mean, ' points')}"
    known = [(group.name, group.found) for group in groups if group.name and isinstance(group.found, types.Estimate)]
    means = captions.joined([f"{name} {_interval(found, ' points')}" for name, found in known], 6)
    return canvas.Drawn(drawn, caption, f"{text} ({means})." if means else f"{text}.", f"{text}.")


def _interval(found: types.Estimate, unit: str = "") -> str:
    value = f"{number(found.value, 1, percent=True)}{unit}"
    if found.low is None or found.high is None:
        return value
    return f"{value} ({number(found.low, 1, percent=True)} to {number(found.high, 1, percent=True)})"
