"""The points nomogram: read the points above each value, add them up, read the risk under the total."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.core import facts, register, types
from dossier.report.figures import canvas, captions, data, ink
from dossier.typeset import widths
from dossier.typeset.labels import level_of, with_unit
from dossier.typeset.names import axis_name, points_of
from dossier.typeset.numbers import number, threshold
from dossier.typeset.words import counted, listing

LEFT, RIGHT = 40.0, 161.0
"""Where the axes begin and end, in mm; the names stand to their left."""

NAMES = 36.0
GAP = 1.3
"""The least distance between two labels of one line, in mm."""

FIRST_LINE = 3.6
"""From an axis to the middle of the first line of its labels."""

ABOVE = 2 * canvas.LINE + 1.2
"""The room above the total for two lines: the worked case and the primary threshold."""
BETWEEN = 1.8
TALLEST = 212.0
MOST_LINES = 6
WIDTHS = (62.0, 46.0, 34.0, 24.0)
"""The widths, in mm, to which the labels of categories are shortened until all of them have room."""
Side = Literal["center", "left", "right", "after", "before"]
"""Where a label stands at its tick: on it, from it to the right or to the left, or clear of it on either side."""


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: where, in mm from the left, and what is written at it; no text for a minor one."""

    x: float
    text: str
    strong: bool = False
    """Whether it is written before all others: an end, a turn, a threshold."""
    sides: tuple[Side, ...] = ("center",)
    """Where its label may stand."""


@dataclass(frozen=True)
class Label:
    """A text below an axis: its tick, its side of the tick, and the line it stands on."""

    tick: Tick
    side: Side
    line: int

    @property
    def box(self) -> tuple[float, float]:
        """From where to where it reaches, in mm."""
        x, width = self.tick.x, widths.text_width(self.tick.text)
        starts = {"center": x - width / 2, "left": x - 0.6, "right": x - width + 0.6, "after": x + 0.9}
        start = starts.get(self.side, x - width - 0.9)
        return start, start + width


@dataclass(frozen=True)
class Strand:
    """A stretch of an axis along which points only rise or only fall."""

    left: float
    right: float
    ticks: tuple[Tick, ...]
    labels: tuple[Label, ...]
    beside: str = ""
    """What stands to the right of a stretch too short for labels."""

    @property
    def height(self) -> float:
        """How much of the sheet it takes, with the space to the next."""
        lines = 1 + max((label.line for label in self.labels), default=0 if not self.beside else -1)
        return max(FIRST_LINE + canvas.LINE / 2 + (lines - 1) * canvas.LINE, canvas.LINE) + BETWEEN

    @property
    def labelled(self) -> tuple[Tick, ...]:
        """The ticks that say their value."""
        return tuple(label.tick for label in self.labels if label.tick in self.ticks)


@dataclass(frozen=True)
class Step:
    """One predictor of the worked case: the stretch of its axis, the place on it, and what is read above."""

    strand: int
    x: float
    points: int


@dataclass(frozen=True)
class Row:
    """An axis with its name; folded where points turn."""

    name: str
    strands: tuple[Strand, ...]
    span: float
    """The width of its effect in points."""
    group: tuple[str, ...]
    """The predictor, or the two whose product it shows: a page has all of their axes or none."""

    @property
    def height(self) -> float:
        """How much of the sheet it takes."""
        return sum(strand.height for strand in self.strands)

    def step(self) -> Step | None:
        """The labelled value nearest to the middle of the axis, the higher of two; None where no value is labelled."""
        middle = (min(strand.left for strand in self.strands) + max(strand.right for strand in self.strands)) / 2
        every = [(tick.x, number) for number, strand in enumerate(self.strands) for tick in strand.labelled]
        if not every:
            return None
        x, index = min(every, key=lambda pair: (round(abs(pair[0] - middle), 6), -pair[0]))
        return Step(index, x, round((x - LEFT) / (RIGHT - LEFT) * 100))


@dataclass(frozen=True)
class Case:
    """A worked case: a value of every predictor, the sum of their points, and the risk under it."""

    steps: tuple[Step, ...]
    risk: float

    @property
    def total(self) -> int:
        """What one adds up by hand: the points as they are read, each rounded."""
        return sum(step.points for step in self.steps)


def worked_case(evidence: types.Evidence, every: Sequence[Row]) -> Case | None:
    """A case to follow from value to risk, no patient; None where the page has not all axes, or which one to read
    depends on another predictor."""
    total = types.find_curve(evidence, "points_total", types.MODEL)
    steps = [row.step() for row in every if len(row.group) == 1]
    known = tuple(step for step in steps if step is not None)
    if isinstance(total, types.Absent) or len(known) != len(every) or shown_rows(every) != tuple(every):
        return None
    points = float(sum(step.points for step in known))
    return Case(known, float(np.interp(points, data.column(total, "total_points"), data.column(total, "risk"))))


# ---- labels ---------------------------------------------------------------------------------------------------------


def _fits(label: Label, placed: Sequence[Label]) -> bool:
    """Whether a label stands inside, on nobody else, and no stem runs through a text."""
    left, right = label.box
    if left < NAMES + 0.4 or right > canvas.FULL - 0.3:
        return False
    for other in placed:
        if other.line == label.line and not (right + GAP <= other.box[0] or other.box[1] + GAP <= left):
            return False
        if other.line < label.line and other.box[0] - 0.5 < label.tick.x < other.box[1] + 0.5:
            return False
        if other.line > label.line and left - 0.5 < other.tick.x < right + 0.5:
            return False
    return True


def _placed(ticks: Sequence[Tick], sides: tuple[Side, ...], deeper_first: bool) -> tuple[Label, ...]:
    """Each label in its first place that fits: another side before a deeper line, or the other way round."""
    by_line = [(side, line) for line in range(MOST_LINES) for side in sides]
    order = sorted(by_line, key=lambda choice: sides.index(choice[0])) if deeper_first else by_line
    placed: list[Label] = []
    for tick in ticks:
        choices = (Label(tick, side, line) for side, line in order)
        fitting = next((choice for choice in choices if _fits(choice, placed)), None)
        placed += [fitting] if fitting is not None else []
    return tuple(placed)


def _one_line(ticks: Sequence[Tick]) -> tuple[Label, ...]:
    """The labels that one line has room for: strong ones first, then the rounder ones."""
    placed: list[Label] = []
    for tick in sorted(ticks, key=lambda tick: (not tick.strong, _roughness(tick.text), tick.x)):
        fitting = next((label for side in tick.sides if _fits(label := Label(tick, side, 0), placed)), None)
        placed += [fitting] if fitting is not None and tick.text else []
    return tuple(placed)


def _roughness(text: str) -> tuple[int, int]:
    """How far a number is from round: 50 before 20, 20 before 25, 25 before 26."""
    digits = text.lstrip("−0.").replace(".", "").replace(",", "").rstrip("0") or "0"
    return len(digits), 0 if digits in ("1", "5") else 1 if digits[-1] in "25" else 2


# ---- the rows of the predictors -------------------------------------------------------------------------------------


def _across(points: float, whole: float = 100.0) -> float:
    """The place of so many points of a scale, in mm."""
    return LEFT + points / whole * (RIGHT - LEFT)


def _group(at: types.At) -> tuple[str, ...]:
    """The predictor that an axis shows, or the two whose product it shows."""
    return tuple(str(at[key]) for key in ("predictor", "with") if key in at)


def _numeric(result: types.CurveResult, evidence: types.Evidence) -> Row:
    """The axis of a number, folded at its turns."""
    curve, predictor = result.found, str(result.at["predictor"])
    if isinstance(curve, types.Absent):
        raise TypeError("an axis without points is not drawn")
    values, points = data.column(curve, "value"), data.column(curve, "points")
    marked, turns = data.column(curve, "marked") == 1, data.column(curve, "turn") == 1
    model = evidence.release.model
    floor, cap = (None, None) if model is None else model.reach(predictor)
    texts = [level_of(evidence, predictor, canvas.tick_text(float(value))) for value in values]
    texts[0] += " or less" if values[0] == floor else ""
    texts[-1] += " or more" if values[-1] == cap else ""
    name = axis_name(result.at)
    group = _group(result.at)
    span = float(points.max() - points.min())
    if len(values) == 1:
        tick = Tick(_across(float(points[0])), texts[0])
        return Row(name, (Strand(tick.x, tick.x, (tick,), _one_line((tick,))),), span, group)
    ends = [0, *np.flatnonzero(turns).tolist(), len(values) - 1]
    strands = [
        _strand(
            texts[first : last + 1],
            points[first : last + 1],
            marked[first : last + 1],
            (first in ends[1:-1], last in ends[1:-1]),
        )
        for first, last in pairwise(ends)
    ]
    return Row(name, tuple(strands), span, group)


def _strand(texts: Sequence[str], points: types.Floats, marked: types.Floats, folded: tuple[bool, bool]) -> Strand:
    """One stretch: its ends are labelled first, clear of the line that joins it to the next where it is folded."""
    left, right = _across(float(points.min())), _across(float(points.max()))
    last = len(texts) - 1

    def tick(index: int) -> Tick:
        x, text = _across(float(points[index])), texts[index]
        if index not in (0, last):
            return Tick(x, text)
        if folded[0 if index == 0 else 1]:
            return Tick(x, text, True, ("after" if x < (left + right) / 2 else "before",))
        return Tick(x, text, True, ("center", "left", "right"))

    ticks = tuple(tick(int(position)) for position in np.flatnonzero(marked))
    labels = _one_line(ticks)
    if sum(label.tick.strong for label in labels) == 2:
        return Strand(left, right, ticks, labels)
    first, end = texts[0], texts[-1]
    return Strand(left, right, ticks, (), f"{first} to {end}" if points[0] <= points[-1] else f"{end} to {first}")


def _by_level(evidence: types.Evidence, name: str, levels: Sequence[types.Description]) -> Row:
    """The axis of categories: those at one place share a label; too many for their labels are only counted."""
    span = max(level.value for level in levels)

    def row(ticks: Sequence[Tick], labels: tuple[Label, ...], beside: str = "") -> Row:
        return Row(name, (Strand(LEFT, _across(span), tuple(ticks), labels, beside),), span, (name,))

    words = [level_of(evidence, name, level.level or "") for level in levels]
    for width in WIDTHS:
        names = widths.shortened(words, width)
        ticks = _ticks_of_levels(levels, names)
        # Every label on as few lines as hold them, or none: from either end of the axis, to either side of the ticks.
        orders: tuple[tuple[Side, ...], ...] = (
            ("center", "left", "right"),
            ("left", "center", "right"),
            ("right", "center", "left"),
        )
        tries = [
            _placed(sorted(ticks, key=lambda tick: tick.x, reverse=turned), sides, deeper_first)
            for deeper_first in (False, True)
            for sides in orders
            for turned in (False, True)
        ]
        whole = [labels for labels in tries if len(labels) == len(ticks)]
        labels = min(whole, key=lambda labels: max(label.line for label in labels), default=())
        if labels:
            return row(ticks, labels)
    ordered = sorted(zip((level.value for level in levels), names, strict=True))
    ends = f"{len(levels)} categories, {ordered[0][1]} to {ordered[-1][1]}: see the table"
    short = f"{len(levels)} categories: see the table"
    room = canvas.FULL - _across(span) - 1.5
    beside = ends if widths.text_width(ends) <= room else short
    bare = [Tick(tick.x, "") for tick in ticks]
    if widths.text_width(beside) <= room:
        return row(bare, (), beside)
    below = Tick(LEFT, ends if widths.text_width(ends) <= canvas.FULL - LEFT else short)
    return row(bare, (Label(below, "left", 0),))


def _ticks_of_levels(levels: Sequence[types.Description], names: Sequence[str]) -> tuple[Tick, ...]:
    """The categories at one place: as many as a label holds, and how many more."""
    places: dict[float, list[str]] = {}
    for level, text in zip(levels, names, strict=True):
        x = _across(level.value)
        near = next((position for position in places if abs(position - x) < 0.3), x)
        places.setdefault(near, []).append(text)

    def written(words: Sequence[str]) -> str:
        texts = (
            ", ".join(words[:count]) + (f" and {len(words) - count} more" if count < len(words) else "")
            for count in range(len(words), 0, -1)
        )
        fitting = (text for text in texts if widths.text_width(text) <= WIDTHS[0])
        return next(fitting, f"{len(words)} categories")

    return tuple(Tick(x, written(words)) for x, words in places.items())


def rows(evidence: types.Evidence) -> tuple[Row, ...]:
    """The axes of every predictor and every product, in the order of the formula."""
    model = evidence.release.model
    found: list[Row] = []
    for group in model.groups if model is not None else ():
        found += [
            _numeric(curve, evidence)
            for curve in evidence.by_curve["points"]
            if isinstance(curve.found, types.Curve) and set(_group(curve.at)) == set(group)
        ]
        levels = points_of(evidence, " × ".join(group))
        found += [_by_level(evidence, levels[0].variable, levels)] if levels else []
    return tuple(found)


def shown_rows(every: Sequence[Row]) -> tuple[Row, ...]:
    """The rows that a page has room for: those with the smallest effects give way, the axes of a product together."""
    kept = list(every)
    while len({row.group for row in kept}) > 1 and sum(row.height for row in kept) > TALLEST - 46:
        spans = {row.group: max(each.span for each in kept if each.group == row.group) for row in kept}
        least = min(spans, key=lambda group: spans[group])
        kept = [row for row in kept if row.group != least]
    return tuple(kept)


# ---- the sheet ------------------------------------------------------------------------------------------------------


def draw_nomogram(evidence: types.Evidence) -> Figure | types.Absent:
    """The axes from the points at the top to the risk at the bottom."""
    total = types.find_curve(evidence, "points_total", types.MODEL)
    if isinstance(total, types.Absent):
        return types.Absent(facts.Fact("no_formula")) if evidence.release.model is None else total
    every = rows(evidence)
    shown, case = shown_rows(every), worked_case(evidence, every)
    top = 12.4
    predictors = top + sum(row.height for row in shown)
    totals = predictors + (5.0 if case is None else ABOVE)
    drawn = canvas.sheet(canvas.FULL, totals + 2 * 10.2 + FIRST_LINE + 2.6)
    axes = canvas.in_millimetres(drawn)
    for mark in range(0, 101, 10):
        axes.plot([_across(mark)] * 2, [6.0, predictors - 1.0], color=ink.HAIR, lw=0.5, zorder=0.5, gid=f"guide-{mark}")
    scale = tuple(Tick(_across(mark), canvas.tick_text(mark)) for mark in range(0, 101, 10))
    _name(axes, "Points", 6.0, 600)
    _axis(
        axes, Strand(LEFT, RIGHT, scale, tuple(Label(tick, "center", 0) for tick in scale)), 6.0, "points", above=True
    )
    y, path = top, []
    names = widths.on_lines([with_unit(evidence, row.name) for row in shown], [NAMES] * len(shown), 2)
    for index, (row, name) in enumerate(zip(shown, names, strict=True)):
        _name(axes, name, y, 400)
        if case is not None:
            step = case.steps[index]
            path.append((step.x, y + sum(strand.height for strand in row.strands[: step.strand])))
        y = _folded(axes, row, y)
    _totals(axes, evidence, total, totals)
    if case is not None:
        _follow(axes, case, path, float(data.column(total, "total_points")[-1]), totals)
    return drawn


def _follow(axes: Axes, case: Case, path: Sequence[tuple[float, float]], whole: float, totals: float) -> None:
    """The path of the worked case: from value to value, to the total and to the risk, with its points on the right."""
    end = _across(case.total, whole)
    for stretch in (path, ((end, totals), (end, totals + 20.4))):
        x, y = zip(*stretch, strict=True)
        axes.plot(x, y, color=ink.BLUE, lw=0.6, ls=(0, (2, 1.6)), zorder=1.5, gid="case")
        axes.plot(x, y, "o", color=ink.BLUE, ms=4, mew=0, zorder=4, gid="case-values")
    for step, (_, height) in zip(case.steps, path, strict=True):
        _text(axes, canvas.FULL, height, str(step.points), ha="right", color=ink.BLUE, weight=600)
    text = f"case: {case.total} points, risk {threshold(round(case.risk, 2))}"
    _above_the_total(axes, end, totals - canvas.LINE, text, ink.BLUE)


def _name(axes: Axes, lines: str, y: float, weight: int) -> None:
    """The name of an axis, on two lines where it is long."""
    for index, line in enumerate(lines.split("\n")):
        _text(axes, 0, y + index * 3.9, line, ha="left", weight=weight)


def _folded(axes: Axes, row: Row, y: float) -> float:
    """One axis, its stretches below each other, joined where points turn; where the next axis stands."""
    for index, strand in enumerate(row.strands):
        _axis(axes, strand, y, f"{row.name}-{index}")
        below = y + strand.height
        if index + 1 < len(row.strands):
            following = row.strands[index + 1]
            joint = strand.right if math.isclose(strand.right, following.right, abs_tol=0.2) else strand.left
            axes.plot([joint] * 2, [y, below], color=ink.INK_2, lw=0.7, ls=(0, (1, 1)), gid=f"fold-{row.name}-{index}")
        y = below
    return y


def _axis(axes: Axes, strand: Strand, y: float, name: str, *, above: bool = False) -> None:
    """One line with its ticks and labels."""
    way = -1.0 if above else 1.0
    axes.plot([strand.left, strand.right], [y, y], color=ink.INK, lw=1.0, solid_capstyle="butt", gid=f"axis-{name}")
    written = {label.tick.x: label for label in strand.labels}
    for tick in strand.ticks:
        label = written.get(tick.x)
        reach = 0.8 if label is None else 1.4 + label.line * canvas.LINE
        axes.plot([tick.x] * 2, [y, y + way * reach], color=ink.INK if label else ink.INK_2, lw=0.5, gid=f"tick-{name}")
    for label in strand.labels:
        left, right = label.box
        centre = y + way * (FIRST_LINE + label.line * canvas.LINE)
        # Strong is where a label wins its place; only the threshold is also drawn so.
        _text(axes, (left + right) / 2, centre, label.tick.text)
    if strand.beside:
        # The ends of a short stretch.
        width = widths.text_width(strand.beside)
        on_the_right = strand.right + 1.5 + width <= canvas.FULL
        _text(axes, strand.right + 1.5 if on_the_right else strand.left - 1.5 - width, y, strand.beside, ha="left")


def _text(axes: Axes, x: float, y: float, text: str, ha: str = "center", **looks: Any) -> None:
    axes.text(x, y, text, va="center_baseline", ha=ha, **{"color": ink.INK} | looks)


def _above_the_total(axes: Axes, x: float, y: float, text: str, colour: str) -> None:
    """What stands above a place on the total, in bold, within the sheet."""
    half = widths.text_width(text, 600) / 2
    _text(axes, min(max(x, LEFT + half), canvas.FULL - half), y - FIRST_LINE - 0.2, text, color=colour, weight=600)


def _totals(axes: Axes, evidence: types.Evidence, total: types.Curve, y: float) -> None:
    """Total points, linear predictor and risk, on one scale of their own."""
    points, linear = data.column(total, "total_points"), data.column(total, "linear_predictor")
    whole = float(points[-1])

    def strand(places: Sequence[float], texts: Sequence[str], strong: float | None = None) -> Strand:
        ticks = tuple(
            Tick(_across(position, whole), text, position == strong)
            for position, text in zip(places, texts, strict=True)
        )
        return Strand(LEFT, RIGHT, ticks, _one_line(ticks))

    totals = canvas.inner_ticks(0, whole, 10)
    _name(axes, "Total points", y, 600)
    _axis(axes, strand(totals, [canvas.tick_text(mark) for mark in totals]), y, "total_points")
    units = canvas.inner_ticks(float(linear[0]), float(linear[-1]), 12)
    places = np.interp(units, linear, points).tolist()
    _name(axes, "Linear predictor", y + 10.2, 400)
    _axis(axes, strand(places, [canvas.tick_text(mark) for mark in units]), y + 10.2, "linear_predictor")
    _name(axes, "Risk", y + 20.4, 600)
    risks = {total: risk for risk, total in totals_by_risk(evidence).items()}
    primary = evidence.release.thresholds.primary
    at = next((total for total, risk in risks.items() if risk == primary), None)
    declared = evidence.release.thresholds.declared
    texts = [threshold(risk) if risk in declared else canvas.tick_text(risk) for risk in risks.values()]
    _axis(axes, strand(list(risks), texts, at), y + 20.4, "risk")
    if not risks:
        low, high = (data.column(total, "risk")[position] for position in (0, -1))
        text = "above 0.999 at every total" if low > 0.999 else f"from {number(low, 4)} to {number(high, 4)}"
        text = "below 0.001 at every total" if high < 0.001 else text
        _text(axes, LEFT, y + 20.4 + FIRST_LINE, text, ha="left")
    if at is not None and primary is not None:
        x = _across(at, whole)
        for height in (y, y + 20.4):
            axes.plot([x] * 2, [height, height - 1.6], color=ink.INK, lw=1.3, gid="threshold")
        _above_the_total(axes, x, y, f"{number(at, 0)} points: risk {threshold(primary)}", ink.INK)


def totals_by_risk(evidence: types.Evidence) -> dict[float, float]:
    """The total points at which each round risk and each declared threshold is reached."""
    curve = types.find_curve(evidence, "points_risk", types.MODEL)
    if isinstance(curve, types.Absent):
        return {}
    return dict(zip(data.column(curve, "risk").tolist(), data.column(curve, "total_points").tolist(), strict=True))


@canvas.figure("Points nomogram")
def nomogram(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """The model as points: an axis for each predictor, the total, and the risk that it stands for."""
    drawn = register.present(draw_nomogram(evidence))
    every = rows(evidence)
    # Which predictor counts most, and how many points a risk takes.
    most, (whole, reached) = max(every, key=lambda row: row.span), _reached(evidence)
    message = f"{most.name} counts most: {number(most.span, 0)} of up to {whole} points.{reached}"
    return canvas.Drawn(drawn, _caption(evidence, every), _alternative(evidence, every), message)


def _caption(evidence: types.Evidence, every: Sequence[Row]) -> str:
    total = types.find_curve(evidence, "points_total", types.MODEL)
    n = total.n if isinstance(total, types.Curve) else 0
    products = list(dict.fromkeys(row.group for row in every if len(row.group) > 1))
    left = len({row.group for row in every}) - len({row.group for row in shown_rows(every)})
    case = worked_case(evidence, every)
    return captions.said(
        "nomogram",
        evidence,
        of=counted(n, "patient"),
        chosen="".join(f" Of the axes of {names[0]} read the one of the patient's {names[1]}." for names in products),
        folds=listing([row.name for row in every if len(row.strands) > 1]),
        threshold=evidence.release.thresholds.primary in totals_by_risk(evidence),
        case="" if case is None else " + ".join(str(step.points) for step in case.steps),
        total=0 if case is None else case.total,
        risk="" if case is None else threshold(round(case.risk, 2)),
        left=counted(left, "predictor") if left else "",
    )


def _alternative(evidence: types.Evidence, every: Sequence[Row]) -> str:
    ordered = sorted(every, key=lambda row: -row.span)
    whole, reached = _reached(evidence)
    spans = ", ".join(f"{row.name} {number(row.span, 0)}" for row in ordered[:6])
    more = f" and {len(ordered) - 6} more" if len(ordered) > 6 else ""
    return f"Points nomogram with up to {whole} points. Most points by predictor: {spans}{more}.{reached}"


def _reached(evidence: types.Evidence) -> tuple[str, str]:
    """The most points that a patient may have, and at how many the primary threshold is reached, as a sentence."""
    total = types.find_curve(evidence, "points_total", types.MODEL)
    whole = number(0.0 if isinstance(total, types.Absent) else float(data.column(total, "total_points")[-1]), 0)
    risks = totals_by_risk(evidence)
    chosen = evidence.release.thresholds.primary
    if chosen not in risks:
        chosen = min(risks, key=lambda risk: abs(risk - 0.5), default=None)
    reached = (
        "" if chosen is None else f" A risk of {threshold(chosen)} is reached at {number(risks[chosen], 0)} points."
    )
    return whole, reached
