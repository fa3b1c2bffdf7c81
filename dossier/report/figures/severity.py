"""Pictures of the severity of errors: which class is taken for which, and how grave that is beside how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from dossier.core import facts, types
from dossier.report.figures import canvas, captions, data, facets, ink
from dossier.typeset import methods, widths
from dossier.typeset.names import ends_of_range
from dossier.typeset.numbers import per_cent

SHADES = ("#eff1f3", "#d9dfe4", "#c0c9d1", "#a5b1bb")
"""From a slight error to the gravest, each a step darker in grey; a right answer stays white."""
TALLEST_SHEET = 205.0
LINE_OF_CELL = 3.9


def shade(severity: float) -> str:
    """The shade of an error by its severity from 0 to 1."""
    return "white" if severity <= 0 else SHADES[min(int(severity * len(SHADES) - 1e-9), len(SHADES) - 1)]


@dataclass(frozen=True)
class Matrices:
    """How the matrices stand: how many classes, how many beside each other, and the cells, in mm."""

    classes: int
    across: int
    label: float
    wide: float
    high: float
    gap: float

    @property
    def row(self) -> float:
        """The height of one matrix with its headings."""
        return 11.0 + self.classes * self.high + 6.0


FRAME = 0.4
"""The room that the frame of the last cell takes at the edge of the sheet, in mm."""


def matrices(found: Sequence[tuple[types.DatasetSummary, types.Curve]], names: Sequence[str]) -> Matrices:
    """As many matrices beside each other as leave room for the counts; two lines in a cell: the count and its share."""
    classes, gap = len(names), 7.0
    whole = max(widths.text_width(name) for name in names) + (2.0 if classes == 2 else 6.0)
    label = min(whole, 26.0)
    counts = [float(count) for _, curve in found for count in data.column(curve, "count")]
    needed = max(widths.text_width(f"{count:,.0f}", 600) for count in (*counts, 1000.0)) + 1.6
    fitting = [most for most in (4, 3, 2) if (canvas.FULL - gap * (most - 1)) / most - label >= needed * classes]
    across = min(len(found), fitting[0] if fitting else 1)
    label = min(whole, 50.0) if across == 1 else label
    wide = min(((canvas.FULL - FRAME - gap * (across - 1)) / across - label) / classes, 26.0)
    return Matrices(classes, across, label, wide, 9.6, gap)


def names_of_classes(evidence: types.Evidence, count: int) -> tuple[str, ...]:
    """The classes as declared; of two classes no and yes."""
    declared = evidence.release.outcome.classes
    if declared is not None and len(declared) == count:
        return declared
    return ("no", "yes") if count == 2 else tuple(f"class {index + 1}" for index in range(count))


def _key(drawn: Figure, curve: types.Curve) -> None:
    """The shades that occur, each with its range of severity."""
    used = {shade(float(value)) for value in data.column(curve, "severity") if value > 0}
    entries = [facets.Key("right", "white", mark="square", edge=ink.INK_2)]
    for index, colour in enumerate(SHADES):
        if colour in used:
            end = canvas.tick_text((index + 1) / len(SHADES))
            entries.append(facets.Key(f"severity to {end}", colour, mark="square", edge=ink.INK_2))
    facets.key(drawn, 0, 2.0, [entries])


def _matrix(
    drawn: Figure, plan: Matrices, curve: types.Curve, names: Sequence[str], head: str, x: float, y: float
) -> None:
    """One matrix: its site, the true classes above the columns, the predicted ones beside the rows."""
    canvas.write(drawn, x, y + 2.0, head, weight=600)
    left, top = x + plan.label, y + 10.2
    size, ends = (plan.classes * plan.wide, plan.classes * plan.high), ((0, plan.classes), (plan.classes, 0))
    axes = canvas.panel(drawn, left, top, *size, *ends)
    axes.axis("off")
    over = [f"truly {name}" if plan.classes == 2 else name for name in names]
    if any(widths.text_width(name) > plan.wide - 0.6 for name in over):
        # Names too long for the columns stand beside the rows, with the number that heads the column.
        over = [f"{index}" for index in range(1, plan.classes + 1)]
        names = [f"{index} {name}" for index, name in enumerate(names, 1)]
    beside = widths.shortened(names, plan.label - 1.0)
    for index in range(plan.classes):
        canvas.write(drawn, left + (index + 0.5) * plan.wide, top - 2.6, over[index], ha="center", color=ink.INK_2)
        canvas.write(drawn, x, top + (index + 0.5) * plan.high, beside[index], color=ink.INK_2)
    columns = [data.column(curve, name) for name in ("predicted", "true", "count", "severity")]
    for predicted, true, count, severity in zip(*columns, strict=True):
        _cell(axes, plan, (float(true), float(predicted)), float(count), curve.n, float(severity))


def _cell(axes: Axes, plan: Matrices, corner: tuple[float, float], count: float, n: int, severity: float) -> None:
    """A cell: its count, its share of all patients beneath, and its shade; right answers stand in a stronger frame."""
    right = corner[0] == corner[1]
    box = Rectangle(corner, 1, 1, fc=shade(severity), ec=ink.INK if right else ink.RULE, lw=0.9 if right else 0.5)
    box.set(clip_on=False, zorder=2 if right else 1, gid=f"cell-{corner[1]:.0f}-{corner[0]:.0f}")
    axes.add_patch(box)
    rise = LINE_OF_CELL / plan.high / 2
    middle = corner[0] + 0.5, corner[1] + 0.5
    axes.text(middle[0], middle[1] - rise, f"{count:,.0f}", ha="center", va="center", weight=600, zorder=3)
    axes.text(middle[0], middle[1] + rise, per_cent(count / n), ha="center", va="center", color=ink.INK_2, zorder=3)


@canvas.figure("Predicted against true classes, errors shaded by severity")
def confusion_by_site(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Which errors the model makes at every site, how many, and how grave each kind is."""
    every = [(site, types.find_curve(evidence, "confusion_matrix", site.name)) for site in types.externals(evidence)]
    found = [(site, curve) for site, curve in every if isinstance(curve, types.Curve) and "severity" in curve.columns]
    if not found:
        return facets.why_nowhere(evidence, "confusion_matrix", facts.Fact("no_weighed_confusion_matrix"))
    names = names_of_classes(evidence, int(data.column(found[0][1], "true").max()) + 1)
    plan = matrices(found, names)
    top, room = 6.0, plan.across * max(1, int((TALLEST_SHEET - 6.0) / plan.row))
    shown, left = found[:room], max(0, len(found) - room)
    drawn = canvas.sheet(canvas.FULL, top + plan.row * -(-len(shown) // plan.across) - 4.0)
    _key(drawn, shown[0][1])
    step = plan.label + plan.classes * plan.wide + plan.gap
    sizes = [f", n {curve.n:,}" for _, curve in shown]
    wide = step - plan.gap - max(widths.text_width(size, 600) for size in sizes)
    sites = widths.shortened([site.site for site, _ in shown], wide, 600)
    rows = list(enumerate(zip([site + size for site, size in zip(sites, sizes, strict=True)], shown, strict=True)))
    for index, (head, (_, curve)) in canvas.of_each(drawn, rows, lambda each: each[1][1][0]):
        down, right = divmod(index, plan.across)
        _matrix(drawn, plan, curve, names, head, right * step, top + down * plan.row)
    how = methods.method_text(shown[0][1].method)
    counts = {"cases": sum(curve.n for _, curve in shown), "sites": captions.sites_word(len(shown))}
    caption = captions.said("confusion", evidence, **counts, how=how, left=captions.left_out(left, "see results.json"))
    # The weights belong to the release, so the gravest kinds of error are the same at every site.
    predicted, true, grave = (data.column(shown[0][1], name) for name in ("predicted", "true", "severity"))
    worst = np.flatnonzero(np.isclose(grave, grave.max()))
    kinds = captions.joined([f"{names[int(true[row])]} taken for {names[int(predicted[row])]}" for row in worst], 3)
    errors = f"The gravest error{'' if len(worst) == 1 else 's'}, {kinds},"
    made = [(site, curve) for site, curve in shown if _count(curve, worst)]
    times_at = captions.joined([f"{_times(curve, worst)} ({site.site})" for site, curve in made], 8)
    nowhere = f"at none of {captions.sites_word(len(shown))}" if len(shown) > 1 else f"0 times ({shown[0][0].site})"
    elsewhere = f", at {captions.sites_word(len(shown) - len(made))} never" if made and len(made) < len(shown) else ""
    sentence = f"{errors} {'occurs' if len(worst) == 1 else 'occur'} {times_at or nowhere}{elsewhere}."
    ends, few = ends_of_range(shown)
    share, most, times = max((_count(curve, worst) / curve.n, site.site, _times(curve, worst)) for site, curve in ends)
    message = f"{errors} {'is' if len(worst) == 1 else 'are'} most frequent in {most}: {times}{few}."
    return canvas.Drawn(drawn, caption, sentence, message if share and len(shown) > 1 else sentence)


def _count(curve: types.Curve, rows: NDArray[np.int64]) -> float:
    """How often errors of these kinds occur together."""
    return float(data.column(curve, "count")[rows].sum())


def _times(curve: types.Curve, rows: NDArray[np.int64]) -> str:
    """How often errors of these kinds occur together, and their share of the patients."""
    count = _count(curve, rows)
    return f"{'once' if count == 1 else f'{count:,.0f} times'} or {per_cent(count / curve.n)}"
