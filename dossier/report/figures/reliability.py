"""The nomogram that turns an accuracy against fallible labels into an accuracy against the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from dossier.core import facts, register, types
from dossier.report.figures import canvas, data, facets, ink, marks, placing
from dossier.typeset import widths
from dossier.typeset.numbers import number

DOTTED = (0, (1, 1.4))
DASHED = (0, (4, 2))
LEFT, TOP, WIDTH, HEIGHT = 11.5, 7.5, 56.0, 50.0
OF_A_WISH = ("measured_accuracy", "desired_accuracy")
NEAREST = 3.6
"""How near a label at the end of the fan may stand to the case's own, in mm."""


CLEAR = 0.04
"""How far, in accuracy, an end of the bar lies from the case when its value is printed."""
FURTHEST_RIGHT = 0.85
"""From this measured accuracy on there is no room at the right of the bar."""


def nomogram_curve(evidence: types.Evidence) -> tuple[types.Curve, str] | types.Absent:
    """The fan, and the dataset of the readers that it belongs to."""
    made = [curve for curve in evidence.by_curve["reliability_nomogram"] if curve.subset is None]
    # Of the labels that the model learnt from no accuracy can be read that is not apparent.
    made.sort(key=lambda drawn_curve: case_of(evidence, drawn_curve.dataset) is None)
    for curve in made:
        if isinstance(curve.found, types.Curve):
            return curve.found, curve.dataset
    reasons = [curve.found for curve in made if isinstance(curve.found, types.Absent)]
    return reasons[-1] if reasons else types.Absent(facts.Fact("no_readers"))


def case_of(evidence: types.Evidence, dataset: str) -> types.Estimate | None:
    """The model's own case: its actual accuracy, when it can be placed on the nomogram."""
    found = types.find(evidence, "actual_accuracy", dataset)
    if isinstance(found, types.Absent):
        return None
    measured = found.details.get("measured_accuracy")
    if measured is not None and 0.5 < measured <= 1 and 0.5 <= found.value <= 1:
        return found
    return None


def needed_of(evidence: types.Evidence, dataset: str) -> types.Estimate | None:
    """The reliability that the wished accuracy needs, where one is wished and can be reached."""
    found = types.find(evidence, "required_reliability", dataset)
    if isinstance(found, types.Absent):
        return None
    measured, wished = (found.details.get(name) for name in OF_A_WISH)
    return found if measured is not None and wished is not None and measured > 0.5 else None


@dataclass(frozen=True)
class Place:
    """A place on the nomogram: a measured accuracy, what it is worth, and where the line through the place ends."""

    measured: float
    actual: float

    @property
    def end(self) -> float:
        """The height of its line on the right."""
        return 0.5 + (self.actual - 0.5) / (self.measured - 0.5) * 0.5


def _spot(axes: canvas.Panel, x: float, y: float) -> tuple[float, float]:
    """Where a point of the nomogram stands, in mm from the top left corner of the panel."""
    (spot,) = axes.spots(np.array([x]), np.array([y]))
    return float(spot[0]), float(spot[1])


def _beside(axes: canvas.Panel, down: float, text: str, **looks: Any) -> None:
    """The reliability at the end of a line, so many mm below the top of the panel."""
    canvas.write(axes.sheet, LEFT + WIDTH + 1.6, TOP + down, text, **looks)


def _draw_fan(axes: canvas.Panel, curve: types.Curve, ends: Sequence[float]) -> None:
    measured = data.column(curve, "measured")
    inside = (measured >= 0.5) & (measured <= 1)
    taken = [_spot(axes, 1, end)[1] for end in ends]
    fan = {
        float(name.removeprefix("reliability_").replace("_", ".")): data.column(curve, name)[inside]
        for name in curve.columns
        if name.startswith("reliability_")
    }
    # Every second one: more of them lie on the lines of the case.
    ordered = [each for each in sorted(fan, reverse=True) if round(each * 10) % 2 == 0]
    for each in ordered:
        colour = ink.INK_2 if each == 1 else ink.RULE
        axes.plot(measured[inside], fan[each], color=colour, lw=0.7, clip_on=False, zorder=1)
    for each in sorted(ordered, key=lambda each: each not in (ordered[0], ordered[-1])):
        down = _spot(axes, 1, float(fan[each][-1]))[1]
        if all(abs(down - other) >= NEAREST for other in taken):
            taken.append(down)
            _beside(axes, down, canvas.tick_text(each), color=ink.INK_2)


def _draw_case(axes: Axes, case: types.Estimate, at: Place) -> None:
    """The case's line, its path and its bounds."""
    axes.plot([0.5, 1], [0.5, at.end], color=ink.BLUE, lw=1.6, clip_on=False, zorder=4)
    path = ([at.measured, at.measured, 0.5], [0.5, at.actual, at.actual])
    axes.plot(*path, color=ink.BLUE, lw=0.8, ls=DOTTED, zorder=3, clip_on=False)
    marks.dot(axes, at.measured, at.actual, "o", 5.2, ink.BLUE, filled=False, mew=1.3, zorder=5)
    low, high = case.details.get("bound_low"), case.details.get("bound_high")
    if low is not None and high is not None:
        axes.plot([at.measured] * 2, [max(low, 0.5), high], color=ink.INK, lw=2.2, zorder=2, clip_on=False)
        for bound in (low, high):
            if bound >= 0.5:
                axes.plot([at.measured - 0.008, at.measured + 0.008], [bound, bound], color=ink.INK, lw=0.8, zorder=2)


def _label_needed(axes: canvas.Panel, needed: types.Estimate, wish: Place, case: Place) -> placing.Box:
    """The reliability that is needed at the end of its line, and on its path the wished accuracy, whose box it is."""
    down, taken = (_spot(axes, 1, place.end)[1] for place in (wish, case))
    if abs(down - taken) < NEAREST:
        down = taken + (NEAREST if wish.end <= case.end else -NEAREST)
    _beside(axes, down, number(needed.value), weight=600, color=ink.INK)
    text = f"{number(wish.actual)} wished"
    half = widths.text_width(text) / 2 + 0.5
    spot = 1.0 + half, _spot(axes, 0.5, wish.actual)[1] - 2.0
    axes.text(*axes.point(spot), text, ha="center", va="center", color=ink.INK, zorder=6)
    return (*spot, half, 1.8)


def _label_bounds(axes: canvas.Panel, case: types.Estimate, at: Place) -> list[placing.Box]:
    """The values at the ends of the bar, where they are clear of the case itself; the boxes that they fill, in mm."""
    boxes: list[placing.Box] = []
    for name in ("bound_low", "bound_high"):
        bound = case.details.get(name)
        if bound is None or bound < 0.5 or abs(bound - case.value) <= CLEAR:
            continue
        # The fan lies to the right of the upper end, and to the left of the lower one.
        right = name == "bound_low" and at.measured < FURTHEST_RIGHT
        text, side, x = number(bound), 1 if right else -1, at.measured
        axes.text(x + side * 0.014, bound, text, ha="left" if right else "right", va="center", color=ink.INK, zorder=6)
        half, (across, down) = widths.text_width(text) / 2 + 0.3, _spot(axes, x, bound)
        boxes.append((across + side * (1.6 + half), down, half, 2.0))
    return boxes


@canvas.figure("Reliability nomogram")
def reliability(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """What an accuracy measured against fallible labels is worth against the truth, by how reliable they are."""
    curve, dataset = register.present(nomogram_curve(evidence))
    drawn = canvas.sheet(canvas.HALF, TOP + HEIGHT + 12.5)
    axes = canvas.panel(drawn, LEFT, TOP, WIDTH, HEIGHT, (0.5, 1), (0.5, 1))
    places = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    canvas.ticks(axes, "y", places)
    canvas.ticks(axes, "x", places)[0.5].set_horizontalalignment("left")
    band = types.find_curve(evidence, "actual_accuracy_bounds", dataset)
    if isinstance(band, types.Curve):
        # Where the actual accuracy may lie at this reliability when model and labels may err together.
        x, low, high = (data.column(band, name) for name in ("measured", "low", "high"))
        axes.fill_between(x, low, high, color=ink.TINTS[1], lw=0, zorder=0.5)
        facets.key(drawn, LEFT, 2.4, [[facets.Key("possible without the assumption", ink.TINTS[1], mark="square")]])
    case = case_of(evidence, dataset)
    needed = None if case is None else needed_of(evidence, dataset)
    at = None if case is None else Place(float(case.details["measured_accuracy"] or 0), case.value)
    wish = None if needed is None else Place(*(float(needed.details[name] or 0) for name in OF_A_WISH))
    if case is not None and at is not None:
        _draw_case(axes, case, at)
    if wish is not None:
        # The path from the wished accuracy to the line of the reliability that it needs.
        axes.plot([0.5, 1], [0.5, wish.end], color=ink.INK, lw=1.0, ls=DASHED, clip_on=False, zorder=3.5)
        axes.plot([0.5, wish.measured], [wish.actual] * 2, color=ink.INK, lw=0.7, ls=DASHED, zorder=3, clip_on=False)
        marks.dot(axes, wish.measured, wish.actual, "o", 4.2, ink.INK, filled=False, mew=1.0, zorder=4.5)
    _draw_fan(axes, curve, [place.end for place in (at, wish) if place is not None])
    if case is not None and at is not None:
        boxes = [] if needed is None or wish is None else [_label_needed(axes, needed, wish, at)]
        if (rho := case.details.get("rho")) is not None:
            _beside(axes, _spot(axes, 1, at.end)[1], number(rho), weight=600, color=ink.BLUE)
        # What is measured and what is actual, on the path of the case, off its lines and those of perfect labels.
        taken = [*_label_bounds(axes, case, at), *boxes]
        across = placing.drawn(axes, [0.5, at.measured], [at.actual, at.actual])
        up = placing.drawn(axes, [at.measured, at.measured], [0.5, at.actual])
        lines = (([0.5, 1], [0.5, at.end]), ([0.5, at.measured], [at.actual] * 2), ([at.measured] * 2, [0.5, 1]))
        strokes = np.concatenate([placing.drawn(axes, *line) for line in (*lines, ([0.5, 1], [0.5, 1]))])
        looks: dict[str, Any] = {"half": 1.8, "color": ink.BLUE, "weight": 600, "zorder": 6}
        placing.label(axes, f"{number(at.actual)} actual", across, strokes, taken, prefer=0.15, **looks)
        placing.label(axes, f"{number(at.measured)} measured", up, strokes, taken, prefer=0.05, **looks)
    axes.titles("Accuracy against the labels", "Accuracy against the truth", 9.4, LEFT - 2.0)
    canvas.turned(drawn, canvas.HALF - 2.0, TOP + HEIGHT / 2, "Reliability of the labels, rho", color=ink.INK_2)
    caption = f"{curve.n:,} cases. Read up from the measured accuracy to the line, then left."
    if case is None:
        text = "A fan of lines from perfect labels (measured is actual) to worthless ones (actual is one half)."
        return canvas.Drawn(drawn, caption, text)
    bounds = (case.details.get("bound_low"), case.details.get("bound_high"))
    free = "" if None in bounds else f"; free of assumption {number(bounds[0] or 0)} to {number(bounds[1] or 0)}"
    text = (
        f"At a reliability of {number(case.details.get('rho') or 0)} a measured accuracy of "
        f"{number(case.details.get('measured_accuracy') or 0)} stands for {number(case.value)}"
    )
    message = f"{text}."
    text += f"{free}."
    if needed is not None:
        wished = number(needed.details["desired_accuracy"] or 0)
        caption += " Dashed: right from the wished accuracy, then along the line to the reliability that it needs."
        text += f" An accuracy of {wished} would need a reliability of {number(needed.value)}."
    shaded = " Shaded, and the black bar: model and labels may err together." if isinstance(band, types.Curve) else ""
    return canvas.Drawn(drawn, f"{caption}{shaded}", text, message)
