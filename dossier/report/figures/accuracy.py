"""Pictures of the H-accuracy family: over certainty, priority and how hard the cases are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from dossier.core import facts, types
from dossier.report.figures import canvas, captions, data, facets, ink, marks
from dossier.typeset import names, numbers, widths

# ---- priority -------------------------------------------------------------------------------------------------------

SOURCES = {
    "prevalence": ("prevalence", "o", True),
    "complement": ("1 − prevalence", "o", False),
    "net_benefit": ("net benefit", "s", True),
    "raters": ("raters", "^", True),
    "survey": ("survey", "D", False),
}
"""Where a priority may come from: its name in the key, its mark, and whether that is filled."""


def priorities_of(evidence: types.Evidence, dataset: str) -> dict[str, tuple[float, float]]:
    """The priority that each source gives at a site, and the H-accuracy there when no confidence is asked for."""
    found: dict[str, tuple[float, float]] = {}
    for each in evidence.of_measure["h_accuracy", dataset]:
        if isinstance(each.found, types.Absent):
            continue
        source, priority = each.at.get("priority"), each.found.details.get("priority")
        plain = each.at.get("tau") == 0.5 and each.at.get("complexity") == "constant"
        if plain and isinstance(source, str) and source in SOURCES and priority is not None:
            found[source] = (priority, each.found.value)
    return {source: found[source] for source in SOURCES if source in found}


@canvas.figure("H-accuracy by priority")
def h_accuracy_by_priority_by_site(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How the H-accuracy changes with what a missed case weighs against a false alarm."""
    found = facets.shown_curves(evidence, canvas.FULL, "h_accuracy_by_priority")
    if not facets.known(found):
        return types.Absent(facts.Fact("no_h_accuracy_by_priority"))
    marked = {site.name: priorities_of(evidence, site.name) for site, _ in found}
    used = [source for source in SOURCES if any(source in own for own in marked.values())]
    width = canvas.HALF if len(found) <= facets.MOST_BESIDE else canvas.FULL
    entries = [facets.Key(SOURCES[each][0], ink.INK, mark=SOURCES[each][1], filled=SOURCES[each][2]) for each in used]
    key = facets.key_lines(entries, width - facets.KEY_GAP)
    top = 5 + max(len(key), 1) * canvas.LINE
    # At half width the panels are narrow, and as tall as wide.
    gap, tallest, tall = (2.6, 22 if len(found) > 1 else 44, 1.0) if width == canvas.HALF else (4.4, 36, 0.72)
    grid = facets.lattice(len(found), width, left=9.5, top=top, gap_x=gap, gap_y=6.6, tallest=tallest, shape=tall)
    plot = facets.Multiples.of(grid, [site for site, _ in found], 9.4, width)
    facets.key(plot.sheet, 0, 2.2, key, canvas.LINE)

    def scale(axes: canvas.Panel, index: int) -> None:
        canvas.ticks(axes, "y", [0, 0.5, 1], ["0", "", "1"], labelled=grid.outer_left(index), inward=True)
        texts = ["0", "" if grid.width < 26 else "0.5", "1"]
        canvas.ticks(axes, "x", [0, 0.5, 1], texts, labelled=grid.outer_bottom(index), inward=True)

    for _, site, axes, curve in plot.each(evidence, found, scale):
        marks.band(axes, curve, "priority")
        line = data.column(curve, "priority"), data.column(curve, "h_accuracy")
        axes.plot(*line, color=ink.BLUE, lw=1.4, zorder=2, clip_on=False)
        for source, spot in marked[site.name].items():
            _, shape, filled = SOURCES[source]
            marks.dot(axes, *spot, shape, 4.6, filled=filled, zorder=4)
    plot.titles("Priority of the outcome", "H-accuracy")
    shown, left = facets.shown_sites(evidence, canvas.FULL)
    caption = captions.said("by_priority", evidence, shown, left=captions.left_out(left, "see results.json"))
    return canvas.Drawn(plot.sheet, caption, *_by_priority(found))


def _by_priority(found: Sequence[tuple[types.DatasetSummary, types.Curve | types.Absent]]) -> tuple[str, str]:
    """From where to where H-accuracy goes at every site, and where it goes furthest."""
    values = [(data.column(curve, "h_accuracy"), site) for site, curve in found if isinstance(curve, types.Curve)]
    named, few = names.ends_of_range([(site, value) for value, site in values])
    texts = [(numbers.number(float(value[0])), numbers.number(float(value[-1])), site.site) for site, value in named]
    if len({end for first, last, _ in texts for end in (first, last)}) == 1:
        same = f"H-accuracy is {texts[0][0]} whatever the priority, at {captions.sites_word(len(texts))}."
        return same, same
    goes = captions.joined([f"{first} to {last} ({name})" for first, last, name in texts], 8)
    said = f"From a priority of 0 to one of 1 H-accuracy goes from {goes}{few}."
    first, last, name = max(texts, key=lambda text: abs(float(text[0]) - float(text[1])))
    return said, f"The priority matters most in {name}: H-accuracy goes from {first} to {last}{few}."


# ---- priority and complexity ----------------------------------------------------------------------------------------

MOST_SURFACES = 3
MAP, MAP_GAP = 60.0, 33.0
SHADES = ("#f4f6f8", "#e3e9ee", "#d2dde5", "#c1d0dc", "#b0c4d3", "#9fb7ca", "#8eabc1", "#7d9eb8")
"""From low to high, each a step darker in grey; black words can be read on the darkest."""


def contour_levels(values: types.Floats) -> types.Floats:
    """Round levels, at most as many as there are shades less one."""
    low, high = float(values.min()), float(values.max())
    for step in (0.01, 0.02, 0.05, 0.1, 0.2):
        levels = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
        if len(levels) < len(SHADES):
            return np.round(levels, 2)
    return np.array([0.5])


def _map(drawn: Figure, surface: types.Curve, left: float, top: float, wide: float, high: float) -> None:
    priority, share = (np.unique(data.column(surface, name)) for name in ("priority", "share"))
    values = data.column(surface, "h_accuracy").reshape(len(priority), len(share)).T
    levels = contour_levels(values)
    axes = canvas.panel(drawn, left, top, wide, high)
    bands = np.concatenate(([float(values.min()) - 1], levels, [float(values.max()) + 1]))
    axes.contourf(priority, share, values, levels=bands, colors=SHADES[: len(levels) + 1])
    if len(levels):
        contours = axes.contour(priority, share, values, levels=levels, colors=[ink.BLUE], linewidths=0.7)
        lines = {float(level): parts for level, parts in zip(contours.levels, contours.allsegs, strict=True) if parts}
        joined = {level: np.concatenate(parts) for level, parts in lines.items()}
        # The level of each line where it leaves the map: above it, or else on its right; where two would collide, one.
        taken: list[tuple[float, bool]] = []
        for level, line in joined.items():
            upmost, right = line[int(np.argmax(line[:, 1]))], line[int(np.argmax(line[:, 0]))]
            text = canvas.tick_text(level)
            if upmost[1] > 0.999:
                x = left + float(upmost[0]) * wide
                if all(above is False or abs(x - other) > widths.text_width(text) + 1.5 for other, above in taken):
                    taken.append((x, True))
                    canvas.write(drawn, x, top - 2.2, text, ha="center", color=ink.INK_2)
            elif right[0] > 0.999:
                y = top + (1 - float(right[1])) * high
                if all(above or abs(y - other) > canvas.LINE for other, above in taken):
                    taken.append((y, False))
                    canvas.write(drawn, left + wide + 1.2, y, text, color=ink.INK_2)
    canvas.ticks(axes, "x", [0, 0.5, 1])
    canvas.ticks(axes, "y", [0, 0.5, 1], ["0", "50", "100"])
    canvas.write(drawn, left, top - 7.0, "a", weight=600)
    canvas.write(drawn, left + 4.0, top - 7.0, "H-accuracy")
    axes.titles("Priority of the outcome", "Called complex, %", away=10.0)


def _profile(drawn: Figure, profile: types.Curve, left: float, top: float, wide: float, high: float) -> None:
    share, value = data.column(profile, "share"), data.column(profile, "h_accuracy")
    ends = [data.column(profile, name) for name in ("low", "high", "random_low", "random_high")]
    bottom = np.floor(float(np.nanmin(np.concatenate((*ends, value)))) * 10) / 10
    ceiling = np.ceil(float(np.nanmax(np.concatenate((*ends, value)))) * 10) / 10
    axes = canvas.panel(drawn, left, top, wide, high, up=(bottom, max(ceiling, bottom + 0.1)))
    marks.band(axes, profile, "share")
    for name in ("random_low", "random_high"):
        axes.plot(share, data.column(profile, name), color=ink.INK_2, lw=0.7, ls=ink.BROKEN, zorder=2)
    axes.plot(share, data.column(profile, "random"), color=ink.INK_2, lw=0.9, zorder=2)
    axes.plot(share, value, color=ink.BLUE, lw=1.4, zorder=3)
    canvas.ticks(axes, "y", canvas.inner_ticks(*axes.get_ylim(), 4))
    canvas.ticks(axes, "x", [0, 0.5, 1], ["0", "50", "100"])
    canvas.write(drawn, left, top - 7.0, "b", weight=600)
    key = facets.Key("most complex", ink.BLUE), facets.Key("random", ink.INK_2, "-", 0.9)
    facets.key(drawn, left + 4.0, top - 7.0, [key])
    axes.titles("Cases called complex, %", "H-accuracy", away=13.0)


@canvas.figure("H-accuracy by priority and share of complex cases")
def h_accuracy_by_complexity_by_site(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Whether the model errs more where people find the cases hard, whatever a missed case weighs."""
    # The external sites whose cases have a complexity, with the surface and the profile of each.
    found = []
    for site in types.externals(evidence):
        surface = types.find_curve(evidence, "h_accuracy_surface", site.name)
        profile = types.find_curve(evidence, "h_accuracy_by_complexity", site.name)
        if isinstance(surface, types.Curve) and isinstance(profile, types.Curve):
            found.append((site, surface, profile))
    if not found:
        return facets.why_nowhere(evidence, "h_accuracy_surface", facts.Fact("no_site_with_complexity"))
    shown = found[:MOST_SURFACES]
    high, head = 26.0, 13.6 if len(shown) > 1 else 9.2
    row = high + head + 13.0
    drawn = canvas.sheet(canvas.FULL, row * len(shown) - 3.0)
    for index, (site, surface, profile) in canvas.of_each(drawn, list(enumerate(shown)), lambda each: each[1][0]):
        top = index * row + head
        if len(shown) > 1:
            canvas.write(drawn, 12.0, top - 11.4, f"{site.site}, {surface.n:,} patients", weight=600)
        _map(drawn, surface, 12.0, top, MAP, high)
        _profile(drawn, profile, 12.0 + MAP + MAP_GAP, top, canvas.FULL - 16.0 - MAP - MAP_GAP, high)
    left = captions.left_out(max(0, len(found) - MOST_SURFACES), "see results.json")
    caption = captions.said("by_complexity", evidence, [site for site, *_ in shown], left=left)
    drops: list[tuple[float, int, str]] = []
    for index, (site, _, profile) in enumerate(shown):
        share, value = data.column(profile, "share").tolist(), data.column(profile, "h_accuracy").tolist()
        lowest = value.index(min(value))
        text = (
            f"from {numbers.number(value[0])} to {numbers.number(value[lowest])} when the "
            f"{numbers.per_cent(share[lowest])} most complex cases count double ({site.site})"
        )
        drops.append((value[0] - value[lowest], index, text))
    sentence = f"With every class alike H-accuracy goes {captions.joined([text for *_, text in drops])}."
    return canvas.Drawn(drawn, caption, sentence, f"H-accuracy goes {max(drops)[2]}.")
