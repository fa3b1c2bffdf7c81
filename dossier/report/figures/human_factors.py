"""Pictures of the reader study: who gains from the model, how sure that is, and which decisions it changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dossier.core import types
from dossier.core.facts import Fact
from dossier.report.figures import canvas, captions, data, ink
from dossier.typeset import widths
from dossier.typeset.names import groups_of_readers
from dossier.typeset.numbers import number
from dossier.typeset.words import counted, sentence_case

MARKERS: tuple[tuple[str, bool], ...] = (
    ("o", True),
    ("o", False),
    ("s", True),
    ("s", False),
    ("^", True),
    ("^", False),
)
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


def draw_benefit(evidence: types.Evidence) -> Figure | types.Absent:
    """Each reader's gain in accuracy against the accuracy without the model, and the mean gain by group."""
    curve = types.find_curve(evidence, "decision_benefit_by_reader", types.READER_STUDY)
    if isinstance(curve, types.Absent):
        return curve
    unaided, benefit = data.column(curve, "unaided"), data.column(curve, "benefit")
    known = ~np.isnan(benefit)
    if not known.any():
        return types.Absent(Fact("no_reader_decided_both_ways"))
    groups = groups_of(evidence, curve)
    drawn = canvas.sheet(canvas.FULL, TOP + HIGH + 10.0)
    axes = canvas.panel(drawn, LEFT, TOP, WIDE, HIGH)
    low, high = _limits(unaided[known], 0.05)
    bottom, top = _limits(np.concatenate((benefit[known], _bounds(groups), [0.0])), 0.05)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom, top)
    _regions(axes, (low, high), (bottom, top))
    for index, group in enumerate(groups):
        _readers(axes, index, group, unaided, benefit)
    for index, group in enumerate(groups):
        _mean(axes, index, group.found)
    for direction, ends in (("x", (low, high)), ("y", (bottom, top))):
        places = canvas.inner_ticks(*ends, 5)
        canvas.ticks(axes, direction, places, [_percent(position) for position in places], inward=True)  # type: ignore[arg-type]
    _key(drawn, groups)
    canvas.write(drawn, LEFT + WIDE / 2, TOP + HIGH + 7.6, "Accuracy without the model, %", ha="center")
    canvas.turned(drawn, 2.0, TOP + HIGH / 2, "Gain with the model, % points")
    _mean_forest(drawn, evidence, groups)
    return drawn


def _percent(value: float) -> str:
    return canvas.tick_text(round(value * 100, 6))


def _limits(values: types.Floats, step: float) -> tuple[float, float]:
    """Round ends that hold the values, at least two steps apart."""
    low = math.floor((float(values.min()) - step * 0.3) / step + 1e-9) * step
    high = math.ceil((float(values.max()) + step * 0.3) / step - 1e-9) * step
    return round(low, 9), round(max(high, low + 2 * step), 9)


def _bounds(groups: Sequence[Group]) -> types.Floats:
    found = [group.found for group in groups if isinstance(group.found, types.Estimate)]
    ends = [end for estimate in found for end in (estimate.value, estimate.low, estimate.high) if end is not None]
    return np.array(ends, dtype=float)


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
    for text, position, align, inset in (
        ("decides better", top, "bottom", 0.02),
        ("decides worse", bottom, "top", -0.02),
    ):
        if abs(position) > 0.12 * (top - bottom):
            # Beside the line of no gain: who decides badly gains most, and stands in the corner.
            spot = low + (high - low) * 0.02, inset * (top - bottom)
            axes.text(*spot, text, va=align, color=ink.INK_2, zorder=1.5)


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
        axes.plot(
            [spot[0] + shift],
            [spot[1]],
            shape,
            ms=DISC,
            mfc=ink.BLUE if filled else "white",
            mec=ink.BLUE,
            mew=0.9,
            zorder=3,
            gid=f"reader-{row}",
            clip_on=False,
        )


def _mean(axes: Axes, index: int, found: types.Estimate | types.Absent) -> None:
    """A group's mean with its interval, at its mean accuracy without the model."""
    if isinstance(found, types.Absent) or found.details.get("unaided") is None:
        return
    x = float(found.details["unaided"] or 0)
    if found.low is not None and found.high is not None:
        axes.plot([x, x], [found.low, found.high], color=ink.INK, lw=1.6, zorder=4)
    _, filled = MARKERS[index % len(MARKERS)]
    axes.plot([x], [found.value], "D", ms=6, mfc=ink.INK if filled else "white", mec=ink.INK, mew=1.1, zorder=5)


def _key(drawn: Figure, groups: Sequence[Group]) -> None:
    """The names of the groups with their marks above the panel, in as many rows as they need."""
    x, y = LEFT, 2.2
    names = list(widths.shortened([sentence_case(group.name or "reader") for group in groups], 38.0))
    names = [f"{name} ({len(group.rows)})" for name, group in zip(names, groups, strict=True)]
    for index, name in enumerate((*names, "mean, interval")):
        wide = 3.6 + widths.text_width(name) + 4.5
        if x > LEFT and x + wide > canvas.FULL:
            x, y = LEFT, y + canvas.LINE
        is_mean = index == len(groups)
        shape, filled = ("D", True) if is_mean else MARKERS[index % len(MARKERS)]
        colour = ink.INK if is_mean else ink.BLUE
        width, height = canvas.extent(drawn)
        mark = Line2D([(x + 1.2) / width], [1 - y / height], transform=drawn.transFigure)
        mark.set(marker=shape, markersize=DISC, markerfacecolor=colour if filled else "white")
        mark.set(markeredgecolor=colour, markeredgewidth=0.9)
        drawn.add_artist(mark)
        canvas.write(drawn, x + 3.6, y, name)
        x += wide


def _mean_forest(drawn: Figure, evidence: types.Evidence, groups: Sequence[Group]) -> None:
    """The mean gain of all readers and of each group on one scale, as words and lines."""
    rows = [("All readers", types.find(evidence, "decision_benefit", types.READER_STUDY))]
    if len(groups) > 1:
        rows += [(sentence_case(group.name), group.found) for group in groups]
    # Two lines a row where there are many groups, else three; more groups than that stand in the table.
    rows = rows[: int(HIGH / (2 * canvas.LINE))]
    lines = 3 if len(rows) * 3 * canvas.LINE <= HIGH else 2
    values = [
        end
        for _, estimate in rows
        if isinstance(estimate, types.Estimate)
        for end in (estimate.value, estimate.low, estimate.high)
        if end is not None
    ]
    low, high = _limits(np.array([*values, 0.0]), 0.05)
    height = len(rows) * lines * canvas.LINE
    axes = canvas.panel(drawn, FOREST_LEFT, TOP, FOREST_WIDTH, height)
    axes.set_xlim(low, high)
    axes.set_ylim(len(rows), 0)
    axes.spines["left"].set_visible(False)
    places = canvas.inner_ticks(low, high, 4)
    canvas.ticks(axes, "x", places, [_percent(position) for position in places], inward=True)
    canvas.write(drawn, FOREST_LEFT + FOREST_WIDTH / 2, TOP + height + 7.6, "Mean gain, % points", ha="center")
    taken = max(
        (widths.text_width(_interval(estimate)) for _, estimate in rows if isinstance(estimate, types.Estimate)),
        default=24.0,
    )
    names = widths.shortened([name for name, _ in rows], canvas.FULL - FOREST_LEFT - taken - 2.0, 600)
    for row, (name, (_, found)) in enumerate(zip(names, rows, strict=True)):
        y = TOP + (row * lines + 0.6) * canvas.LINE
        canvas.write(drawn, FOREST_LEFT, y, name, weight=600)
        if isinstance(found, types.Absent):
            canvas.write(drawn, canvas.FULL, y, "not estimable", ha="right", color=ink.INK_2)
            continue
        canvas.write(drawn, canvas.FULL, y, _interval(found), ha="right", color=ink.INK_2)
        middle = row + (0.68 if lines == 3 else 0.75)
        # The line of no gain stops short of the words above each row.
        axes.plot([0, 0], [row + 0.52, row + 0.95], color=ink.INK, lw=0.7, zorder=0)
        if found.low is not None and found.high is not None:
            axes.plot([found.low, found.high], [middle, middle], color=ink.INK, lw=1, zorder=2)
        axes.plot([found.value], [middle], "D", ms=5, mfc=ink.INK, mec=ink.INK, zorder=3)


@canvas.figure("Decision benefit")
def decision_benefit_diagram(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Whether each reader decides better with the model, by how well they decide without it."""
    drawn = draw_benefit(evidence)
    curve = types.find_curve(evidence, "decision_benefit_by_reader", types.READER_STUDY)
    if isinstance(drawn, types.Absent):
        return drawn
    if isinstance(curve, types.Absent):
        return curve
    benefit = data.column(curve, "benefit")
    benefit = benefit[~np.isnan(benefit)]
    caption = (
        f"{counted(len(benefit), 'reader')}, {curve.n:,} decisions; diamonds: means, {captions.level_text(evidence)} "
        "interval. Above the line a reader is right more often with the model; nothing can lie beyond the broken "
        "line."
    )
    better, worse = int(np.sum(benefit > 0)), int(np.sum(benefit < 0))
    text = f"Of {counted(len(benefit), 'reader')} {better} were right more often with the model and {worse} less often"
    mean = types.find(evidence, "decision_benefit", types.READER_STUDY)
    if isinstance(mean, types.Estimate):
        text += f"; the mean gain is {_interval(mean, ' points')}"
    message = f"{text}."
    means = [
        f"{group.name} {_interval(group.found, ' points')}"
        for group in groups_of(evidence, curve)
        if group.name and isinstance(group.found, types.Estimate)
    ]
    text += f" ({captions.joined(means, 6)})" if means else ""
    return canvas.Drawn(drawn, caption, f"{text}.", message)


def _interval(found: types.Estimate, unit: str = "") -> str:
    value = f"{number(found.value, 1, percent=True)}{unit}"
    if found.low is None or found.high is None:
        return value
    return f"{value} ({number(found.low, 1, percent=True)} to {number(found.high, 1, percent=True)})"
