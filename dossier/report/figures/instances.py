"""The summary of H-accuracy: plain accuracy and every instance of it on one axis, beside the acceptable minimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from dossier.core import facts, instances, types
from dossier.report.figures import accuracy, canvas, captions, data, facets, forest, ink, marks
from dossier.typeset import widths, words
from dossier.typeset.names import ends_of_range
from dossier.typeset.numbers import number

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


def all_instances(evidence: types.Evidence) -> list[tuple[types.DatasetSummary, tuple[instances.Instance, ...]]]:
    """The external sites that the figure has room for, each with its instances."""
    return [(site, instances.of_dataset(evidence, site.name)) for site in types.externals(evidence)[:MOST_SITES]]


def label(evidence: types.Evidence, instance: instances.Instance) -> str:
    """What tells an instance from the others, as the head of its row."""
    if instance.kind == "plain":
        at = instances.accuracy_threshold(evidence)
        return "Accuracy" if evidence.release.outcome.classes or at is None else f"Accuracy at {words.setting(at)}"
    if instance.kind == "balanced":
        return "All classes alike" if evidence.release.outcome.classes else "Both classes alike"
    if instance.kind == "practical":
        return f"Complexity: {words.setting(instance.at['complexity'])}"
    name, value = (
        ("priority", instance.at["priority"]) if instance.kind == "prioritized" else ("confidence", instance.at["tau"])
    )
    is_source = (isinstance(value, str) and not value[0].isdigit()) or value in ("right_80", "right_50", "right_25")
    return words.sentence_case(f"{name}{':' if is_source else ''} {words.setting(value)}")


def _axes(
    plot: forest.Rows, evidence: types.Evidence, x: float, wide: float, rows: int, low: float, *, labelled: bool
) -> canvas.Panel:
    """An empty panel of rows, with the acceptable minimum."""
    axes = plot.axes(x, wide, rows, (low, 1))
    minimum = evidence.release.h_accuracy.acceptable
    if minimum is not None:
        if minimum.low is not None and minimum.high is not None:
            axes.axvspan(minimum.low, minimum.high, color=ink.TINTS[1], lw=0, zorder=0)
        axes.axvline(minimum.value, color=ink.INK_2, lw=0.8, ls=ink.BROKEN, zorder=1)
    places = [low, (low + 1) / 2, 1.0] if wide > 20 else [low, 1.0]
    texts = [canvas.tick_text(round(position, 2)) for position in places]
    canvas.ticks(axes, "x", places, texts, labelled=labelled, inward=True)
    return axes


def _mark(axes: Axes, row: float, found: types.Estimate, look: tuple[str, bool, str]) -> None:
    shape, filled, colour = look
    # In grey plain accuracy stands out by its stroke, not by its colour.
    marks.whisker(axes, found, row, colour, lw=1.4 if colour == ink.INK else 0.9, zorder=3, solid_capstyle="butt")
    marks.dot(axes, found.value, row, shape, 3.2, colour, filled=filled, mew=0.8, zorder=4)


def _look(instance: instances.Instance) -> tuple[str, bool, str]:
    return ("s", False, ink.INK) if instance.kind == "plain" else ("o", True, ink.BLUE)


InstanceKey = tuple[str, tuple[tuple[str, float | str], ...]]
"""The kind of an instance and its settings."""


def _key(instance: instances.Instance) -> InstanceKey:
    return instance.kind, tuple(sorted(instance.at.items()))


def _least(found: Sequence[instances.Instance]) -> float:
    """Where the axis begins: a tenth below the lowest bound."""
    return min(0.9, float(np.floor(min(end for instance in found for end in data.ends(instance.found)) * 10) / 10))


def _of_site(
    panels: facets.Multiples, evidence: types.Evidence, index: int, shared: Mapping[InstanceKey, str], low: float
) -> None:
    """The instances of a site in their rows, with their values where there is room, and at the left their names."""
    _, found = all_instances(evidence)[index]
    panels.head(index)
    grid, (x, y) = panels.grid, panels.grid.corner(index)
    plot = forest.Rows(panels.sheet, y, ROW)
    values = VALUES if grid.width >= VALUES + LEAST_PANEL else 0.0
    here = {_key(instance): instance for instance in found}
    wide, rows = grid.width - values, len(shared)
    made: list[tuple[float, instances.Instance]] = []
    for row, (key, name) in enumerate(shared.items()):
        if key in here:
            made.append((row + 0.5, here[key]))
            if values:
                estimate = here[key].found
                bounds = captions.interval(estimate.low, estimate.high)
                plot.right(row + 0.5, x + grid.width, f"{number(estimate.value)} {bounds}")
        if grid.outer_left(index):
            plot.write(row + 0.5, 0, name, color=ink.INK if key[0] == "plain" else ink.INK_2)
    axes = _axes(plot, evidence, x, wide, rows, low, labelled=grid.outer_bottom(index))
    for middle, mine in made:
        _mark(axes, middle, mine.found, _look(mine))
    if not found:
        facets.say(axes, "not estimable")


# ---- what only raters or the complexity of the cases give -----------------------------------------------------------


def _priorities(found: Sequence[instances.Instance]) -> dict[float | str, tuple[str, bool, str]]:
    """The priorities of composites, each with its mark."""
    given = list(dict.fromkeys(instance.at["priority"] for instance in found))
    numbers = [priority for priority in given if not isinstance(priority, str)]
    return {
        priority: (*accuracy.SOURCES[priority][1:], ink.BLUE)
        if isinstance(priority, str)
        else (*OTHER_MARKS[numbers.index(priority) % len(OTHER_MARKS)], ink.BLUE)
        for priority in given
    }


def _composites(
    plot: forest.Rows,
    evidence: types.Evidence,
    found: Sequence[instances.Instance],
    taus: Mapping[float | str, str],
    left: float,
    low: float,
) -> None:
    """The key of the priorities, and a row a confidence with the mark of each."""
    looks, top, drawn = _priorities(found), plot.top, plot.sheet
    canvas.write(drawn, 0, top - 7.2, "All at once: by confidence and priority", weight=600)
    key, across = canvas.in_millimetres(drawn, top - 5.0, 3.6), 0.0
    for priority, (shape, filled, colour) in looks.items():
        marks.dot(key, across + 1.2, 1.8, shape, 3.2, colour, filled=filled, mew=0.8, zorder=2, clip_on=True)
        text = accuracy.SOURCES[priority][0] if isinstance(priority, str) else number(priority)
        canvas.write(drawn, across + 3.0, top - 3.2, text)
        across += 3.0 + widths.text_width(text) + 4.0
    for row, name in enumerate(taus.values()):
        plot.write(row + 0.5, 0, name, color=ink.INK_2)
    axes = _axes(plot, evidence, left, canvas.HALF - left, len(taus), low, labelled=True)
    order, rows = list(looks), list(taus)
    for instance in found:
        priority = instance.at["priority"]
        offset = (order.index(priority) - (len(order) - 1) / 2) * 1.9 / plot.step
        _mark(axes, rows.index(instance.at["tau"]) + 0.5 + offset, instance.found, looks[priority])


# ---- the pictures ---------------------------------------------------------------------------------------------------


@canvas.figure("Instances of H-accuracy beside plain accuracy")
def h_accuracy_summary(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How far accuracy parts from what is left of it when classes, confidence and hard cases weigh differently."""
    every = all_instances(evidence)
    sites = [(site, [instance for instance in found if not instance.rests_on_raters]) for site, found in every]
    known = [instance for _, found in sites for instance in found]
    if not any(instance.kind != "plain" for instance in known):
        return facets.why_nowhere(evidence, "h_accuracy_profile", facts.Fact("no_profile_of_h_accuracy"))
    named = {_key(instance): label(evidence, instance) for instance in known}
    shared = dict(zip(named, widths.shortened(tuple(named.values()), MOST_OF_LABELS), strict=True))
    left = max(map(widths.text_width, shared.values())) + 3.0
    columns = -(-len(sites) // -(-len(sites) // MOST_IN_A_LINE))
    wide = (canvas.FULL - left - 2.6 * (columns - 1)) / columns
    grid = facets.Lattice(len(sites), columns, wide, len(shared) * ROW, left, 5.0, 2.6, 9.0)
    panels = facets.Multiples.of(grid, [site for site, _ in sites], 5.6, canvas.FULL)
    for index in canvas.of_each(panels.sheet, range(len(every)), lambda at: every[at][0]):
        _of_site(panels, evidence, index, shared, _least(known))
    spread = [(site, _ends(found)) for site, found in sites if found]
    texts = [f"{first} to {last} ({site.site})" for site, (first, last) in spread]
    ends, few = ends_of_range(spread)
    widest, (first, last) = max(ends, key=lambda row: float(row[1][1]) - float(row[1][0]))
    message = f"What counts as right matters most in {widest.site}: H-accuracy is {first} to {last}{few}."
    more = captions.left_out(len(types.externals(evidence)) - len(sites), "see results.csv")
    caption = captions.said("instances", evidence, [site for site, _ in sites], left=more, **_line(evidence))
    return canvas.Drawn(panels.sheet, caption, f"H-accuracy: {captions.joined(texts, 8)}.", message)


@canvas.figure("H-accuracy by what raters say")
def h_accuracy_by_raters(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """What becomes of accuracy when confidence, priority and complexity come from people who judged the same cases."""
    every = [(site, [one for one in found if one.rests_on_raters]) for site, found in all_instances(evidence)]
    rated = [(site, own) for site, own in every if own]
    if not rated:
        return types.Absent(facts.Fact("no_site_with_complexity"))
    site, found = rated[0]
    single = [instance for instance in found if instance.kind != "composite"]
    composite = [instance for instance in found if instance.kind == "composite"]
    names = widths.shortened([label(evidence, instance) for instance in single], 54.0)
    taus = {instance.at["tau"]: f"Confidence: {words.setting(instance.at['tau'])}" for instance in composite}
    left = max((widths.text_width(name) for name in (*names, *taus.values())), default=0.0) + 3.0
    # A row of a confidence is tall enough for the mark of every priority.
    step, second = max(ROW + 0.6, 1.9 * len(_priorities(composite)) + 0.6), TOP + len(single) * ROW
    second += KEY if composite else 0.0
    drawn = canvas.sheet(canvas.HALF, second + len(taus) * step + 5.6)
    canvas.write(drawn, 0, 2.0, widths.shortened([site.site], canvas.HALF, 600)[0], weight=600)
    plot, wide, low = forest.Rows(drawn, TOP, ROW), canvas.HALF - left, _least(found)
    for row, name in enumerate(names):
        plot.write(row + 0.5, 0, name, color=ink.INK_2)
    axes = _axes(plot, evidence, left, wide, len(single), low, labelled=not composite)
    for row, instance in enumerate(single):
        _mark(axes, row + 0.5, instance.found, _look(instance))
    if composite:
        _composites(forest.Rows(drawn, second, step), evidence, composite, taus, left, low)
    first, last = _ends(found)
    more = captions.left_out(len(rated) - 1, "see results.csv")
    caption = captions.said("instances_of_raters", evidence, [site], left=more, **_line(evidence))
    text = f"H-accuracy in {site.site} is {first} to {last}, by what the raters say."
    return canvas.Drawn(drawn, caption, text)


def _ends(found: Sequence[instances.Instance]) -> tuple[str, str]:
    values = [instance.found.value for instance in found]
    return number(min(values)), number(max(values))


def _line(evidence: types.Evidence) -> dict[str, bool]:
    """Whether there is a broken line, and whether it has an interval."""
    minimum = evidence.release.h_accuracy.acceptable
    return {"line": minimum is not None, "band": minimum is not None and minimum.low is not None}
