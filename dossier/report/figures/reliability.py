"""The nomogram that turns an accuracy against fallible labels into an accuracy against the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.core import types
from dossier.core.facts import Fact
from dossier.report.figures import canvas, data, facets, ink, placing
from dossier.typeset import widths
from dossier.typeset.numbers import number

DOTTED = (0, (1, 1.4))
DASHED = (0, (4, 2))
LEFT, TOP, WIDTH, HEIGHT = 11.5, 7.5, 56.0, 50.0
NEAREST = 3.6
"""How near a label at the end of the fan may stand to the case's own, in mm."""


CLEAR = 0.04
"""How far, in accuracy, an end of the bar lies from the case when its value is printed."""
FURTHEST_RIGHT = 0.85
"""From this measured accuracy on there is no room at the right of the bar."""


def nomogram_curve(evidence: types.Evidence) -> tuple[types.Curve, str] | types.Absent:
    """The fan, and the dataset of the readers that it belongs to."""
    made = [curve for curve in types.curves_named(evidence, "reliability_nomogram") if curve.subset is None]
    # Of the labels that the model learnt from no accuracy can be read that is not apparent.
    made.sort(key=lambda drawn_curve: case_of(evidence, drawn_curve.dataset) is None)
    for curve in made:
        if isinstance(curve.found, types.Curve):
            return curve.found, curve.dataset
    reasons = [curve.found for curve in made if isinstance(curve.found, types.Absent)]
    return reasons[-1] if reasons else types.Absent(Fact("no_readers"))


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
    measured, wished = (found.details.get(name) for name in ("measured_accuracy", "desired_accuracy"))
    return found if measured is not None and wished is not None and measured > 0.5 else None


def _height(value: float) -> float:
    """Where an accuracy stands, in mm from the top of the panel."""
    return HEIGHT * (1 - (value - 0.5) / 0.5)


def _across(value: float) -> float:
    return WIDTH * (value - 0.5) / 0.5


def _draw_fan(drawn: Figure, axes: Axes, curve: types.Curve, ends: Sequence[float]) -> None:
    measured = data.column(curve, "measured")
    inside = (measured >= 0.5) & (measured <= 1)
    taken = [_height(end) for end in ends]
    names = [name for name in curve.columns if name.startswith("reliability_")]
    # Every second one: more of them lie on the lines of the case.
    ordered = [
        name for name in sorted(names, key=_reliability, reverse=True) if round(_reliability(name) * 10) % 2 == 0
    ]
    for name in ordered:
        value = data.column(curve, name)[inside]
        top = _reliability(name) == 1
        axes.plot(measured[inside], value, color=ink.INK_2 if top else ink.RULE, lw=0.7, clip_on=False, zorder=1)
    for name in sorted(ordered, key=lambda text: text not in (ordered[0], ordered[-1])):
        position = _height(float(data.column(curve, name)[inside][-1]))
        if all(abs(position - other) >= NEAREST for other in taken):
            taken.append(position)
            canvas.write(
                drawn, LEFT + WIDTH + 1.6, TOP + position, canvas.tick_text(_reliability(name)), color=ink.INK_2
            )


def _reliability(name: str) -> float:
    return float(name.removeprefix("reliability_").replace("_", "."))


def _draw_case(axes: Axes, case: types.Estimate) -> float:
    """The case's line, its path and its bounds; the height at which the line ends on the right."""
    measured, actual = float(case.details["measured_accuracy"] or 0), case.value
    end = 0.5 + (actual - 0.5) / (measured - 0.5) * 0.5
    axes.plot([0.5, 1], [0.5, end], color=ink.BLUE, lw=1.6, clip_on=False, zorder=4)
    path = ([measured, measured, 0.5], [0.5, actual, actual])
    axes.plot(*path, color=ink.BLUE, lw=0.8, ls=DOTTED, zorder=3, clip_on=False)
    axes.plot([measured], [actual], "o", ms=5.2, mfc="white", mec=ink.BLUE, mew=1.3, zorder=5, clip_on=False)
    low, high = case.details.get("bound_low"), case.details.get("bound_high")
    if low is not None and high is not None:
        axes.plot([measured, measured], [max(low, 0.5), high], color=ink.INK, lw=2.2, zorder=2, clip_on=False)
        for bound in (low, high):
            if bound >= 0.5:
                axes.plot([measured - 0.008, measured + 0.008], [bound, bound], color=ink.INK, lw=0.8, zorder=2)
    return end


def _draw_needed(axes: Axes, needed: types.Estimate) -> float:
    """The path from the wished accuracy to the line of the reliability that it needs; where the line ends."""
    measured, wished = (float(needed.details[name] or 0) for name in ("measured_accuracy", "desired_accuracy"))
    end = 0.5 + (wished - 0.5) / (measured - 0.5) * 0.5
    axes.plot([0.5, 1], [0.5, end], color=ink.INK, lw=1.0, ls=DASHED, clip_on=False, zorder=3.5)
    axes.plot([0.5, measured], [wished, wished], color=ink.INK, lw=0.7, ls=DASHED, zorder=3, clip_on=False)
    axes.plot([measured], [wished], "o", ms=4.2, mfc="white", mec=ink.INK, mew=1.0, zorder=4.5, clip_on=False)
    return end


def _label_needed(drawn: Figure, axes: Axes, needed: types.Estimate, end: float, case_end: float | None) -> None:
    """The reliability that is needed at the end of its line, and the wished accuracy on its path."""
    position = _height(end)
    if case_end is not None and abs(position - _height(case_end)) < NEAREST:
        position = _height(case_end) + (NEAREST if end <= case_end else -NEAREST)
    canvas.write(drawn, LEFT + WIDTH + 1.6, TOP + position, number(needed.value), weight=600, color=ink.INK)
    x, y, _, _ = _box_of_wish(needed)
    axes.text(
        0.5 + x / WIDTH * 0.5, 1 - y / HEIGHT * 0.5, _wish(needed), ha="center", va="center", color=ink.INK, zorder=6
    )


def _wish(needed: types.Estimate) -> str:
    return f"{number(needed.details['desired_accuracy'] or 0)} wished"


def _box_of_wish(needed: types.Estimate) -> tuple[float, float, float, float]:
    """The box of the name of the wished accuracy, in mm: above its path, at the left."""
    half = widths.text_width(_wish(needed)) / 2 + 0.5
    return (1.0 + half, _height(float(needed.details["desired_accuracy"] or 0)) - 2.0, half, 1.8)


def _label_bounds(axes: Axes, case: types.Estimate) -> list[tuple[float, float, float, float]]:
    """The values at the ends of the bar, where they are clear of the case itself; the boxes that they fill, in mm."""
    measured, boxes = float(case.details["measured_accuracy"] or 0), []
    for name in ("bound_low", "bound_high"):
        bound = case.details.get(name)
        if bound is None or bound < 0.5 or abs(bound - case.value) <= CLEAR:
            continue
        # The fan lies to the right of the upper end, and to the left of the lower one.
        right = name == "bound_low" and measured < FURTHEST_RIGHT
        text, side = number(bound), 1 if right else -1
        axes.text(
            measured + side * 0.014, bound, text, ha="left" if right else "right", va="center", color=ink.INK, zorder=6
        )
        half = widths.text_width(text) / 2 + 0.3
        boxes.append((_across(measured) + side * (1.6 + half), _height(bound), half, 2.0))
    return boxes


def _label_case(axes: Axes, case: types.Estimate, needed: types.Estimate | None) -> None:
    measured = float(case.details["measured_accuracy"] or 0)
    x, y = _across(measured), _height(case.value)
    spots = _label_bounds(axes, case)
    if needed is not None:
        spots.append(_box_of_wish(needed))
    for text, colour, weight, line, prefer in (
        (f"{number(case.value)} actual", ink.BLUE, 600, placing.resampled(np.array([0.0, x]), np.array([y, y])), 0.15),
        (
            f"{number(measured)} measured",
            ink.BLUE,
            600,
            placing.resampled(np.array([x, x]), np.array([HEIGHT, y])),
            0.05,
        ),
    ):
        looks: dict[str, Any] = {"color": colour, "weight": weight, "zorder": 6}
        placing.label(axes, text, line, _strokes(case), spots, (WIDTH, HEIGHT), prefer=prefer, half=1.8, **looks)


def _strokes(case: types.Estimate) -> types.Floats:
    """The lines that no label should cross: the case's, its path and the perfect labels."""
    measured = float(case.details["measured_accuracy"] or 0)
    x, y = _across(measured), _height(case.value)
    end = _height(0.5 + (case.value - 0.5) / (measured - 0.5) * 0.5)
    lines = (([0, WIDTH], [HEIGHT, end]), ([0, x], [y, y]), ([x, x], [HEIGHT, 0]), ([0, WIDTH], [HEIGHT, 0]))
    return np.concatenate(
        [placing.resampled(np.array(first, dtype=float), np.array(two, dtype=float)) for first, two in lines]
    )


@canvas.figure("Reliability nomogram")
def reliability(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """What an accuracy measured against fallible labels is worth against the truth, by how reliable they are."""
    fan = nomogram_curve(evidence)
    if isinstance(fan, types.Absent):
        return fan
    curve, dataset = fan
    drawn = canvas.sheet(canvas.HALF, TOP + HEIGHT + 12.5)
    axes = canvas.panel(drawn, LEFT, TOP, WIDTH, HEIGHT)
    places = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    axes.set(xlim=(0.5, 1), ylim=(0.5, 1))
    texts = [canvas.tick_text(position) for position in places]
    canvas.ticks(axes, "y", places, texts)
    canvas.ticks(axes, "x", places, texts)[0.5].set_horizontalalignment("left")
    band = types.find_curve(evidence, "actual_accuracy_bounds", dataset)
    if isinstance(band, types.Curve):
        # Where the actual accuracy may lie at this reliability when model and labels may err together.
        x, low, high = (data.column(band, name) for name in ("measured", "low", "high"))
        axes.fill_between(x, low, high, color=ink.TINTS[1], lw=0, zorder=0.5)
        facets.key_row(drawn, LEFT, 2.4, [facets.Key("possible without the assumption", ink.TINTS[1], fill=True)])
    case = case_of(evidence, dataset)
    case_end = _draw_case(axes, case) if case is not None else None
    needed = needed_of(evidence, dataset) if case is not None else None
    needed_end = _draw_needed(axes, needed) if needed is not None else None
    ends = [end for end in (case_end, needed_end) if end is not None]
    _draw_fan(drawn, axes, curve, ends)
    if needed is not None and needed_end is not None:
        _label_needed(drawn, axes, needed, needed_end, case_end)
    if case is not None and case_end is not None:
        rho = case.details.get("rho")
        if rho is not None:
            canvas.write(drawn, LEFT + WIDTH + 1.6, TOP + _height(case_end), number(rho), weight=600, color=ink.BLUE)
        _label_case(axes, case, needed)
    canvas.write(drawn, LEFT + WIDTH / 2, TOP + HEIGHT + 9.4, "Accuracy against the labels", ha="center")
    middle = TOP + HEIGHT / 2
    canvas.turned(drawn, 2.0, middle, "Accuracy against the truth")
    canvas.turned(drawn, canvas.HALF - 2.0, middle, "Reliability of the labels, rho", color=ink.INK_2)
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
