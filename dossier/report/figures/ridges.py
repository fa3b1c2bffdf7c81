"""Distributions below each other, a ridge a site or a rater, by seaborn; `words/curves.toml` says what they ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dossier.core import facts, types
from dossier.report.figures import canvas, captions, data, facets, ink
from dossier.typeset import numbers, widths, words

GAP, HIGH, LOW, TOP, FOOT, NAMES, COLUMN_GAP = 1.0, 9.0, 5.0, 3.0, 10.0, 56.0, 8.0
"""In mm: between two ridges, the highest ridge, of many too, the head, the foot, the names, between columns."""
MOST_RIDGES, MOST_IN_A_COLUMN, FEW = 40, 8, 4
"""How many ridges there are at most, how many have one column, and how many are as high as they may be."""
ALONE: dict[str, Any] = {"color": ink.BAND, "fill": True, "alpha": 0.9, "linewidth": 1.0, "edgecolor": ink.BLUE}
BESIDE: tuple[dict[str, Any], ...] = (
    {"color": ink.BLUE, "fill": False, "linewidth": 1.2},
    {"color": ink.TINTS[2], "fill": True, "alpha": 0.9, "linewidth": 0.6, "edgecolor": ink.INK_2},
)
"""How a ridge is drawn that is alone, and those of two columns, the first before the other."""


@dataclass(frozen=True)
class Ridge:
    """One distribution, or one for each outcome: whose it is, the ends of its bins, and the share in each."""

    name: str
    edges: types.Floats
    shares: Mapping[str, types.Floats]
    site: types.DatasetSummary

    @property
    def most_often(self) -> str:
        """The bin that holds most of the first."""
        top = int(np.nanargmax(next(iter(self.shares.values()))))
        return f"{numbers.number(self.edges[top])} to {numbers.number(self.edges[top + 1])} ({self.name})"


def _edges(curve: types.Curve, about: Mapping[str, Any]) -> types.Floats:
    """Where bins begin and end; of the levels of a scale, half-way to the next one."""
    if "upper" in about:
        return np.append(data.column(curve, about["across"]), data.column(curve, about["upper"])[-1])
    levels = np.unique(data.column(curve, about["across"]))
    between = (levels[1:] + levels[:-1]) / 2
    half = between[0] - levels[0] if len(levels) > 1 else 0.05
    return np.asarray(np.clip([levels[0] - half, *between, levels[-1] + half], 0, 1))


def _ridges(site: types.DatasetSummary, curve: types.Curve, about: Mapping[str, Any]) -> Iterator[Ridge]:
    """The ridge of a site, or of each rater there."""
    columns = {each: data.column(curve, each) for each in about["fills"]}
    edges = _edges(curve, about)
    if "each" not in about:
        yield Ridge(site.site, edges, columns, site)
        return
    groups = data.column(curve, about["each"])
    for group in np.unique(groups):
        own = {each: values[groups == group] for each, values in columns.items()}
        yield Ridge(f"{site.site}, {about['each']} {group:g}", edges, own, site)


def _drawn(evidence: types.Evidence, name: str, about: Mapping[str, Any]) -> canvas.Drawn | types.Absent:
    every = [(site, types.find_curve(evidence, name, site.name)) for site in types.externals(evidence)]
    # In the bins of few patients single ones would be seen.
    enough = [(site, curve) for site, curve in every if not site.is_few]
    first = next(iter(about["fills"]))
    curves = [(site, curve) for site, curve in enough if isinstance(curve, types.Curve)]
    found = [(site, curve) for site, curve in curves if np.isfinite(data.column(curve, first)).any()]
    if not found:
        return facets.why_nowhere(evidence, name, facts.Fact("not_estimated_at_any_site", what=about["what"]))
    # Late: it imports pandas and pyplot, half a second that most commands have no need of.
    import seaborn

    ridges = [ridge for site, curve in found for ridge in _ridges(site, curve, about)]
    shown, fills = ridges[:MOST_RIDGES], about["fills"]
    looks = (ALONE,) if len(fills) == 1 else BESIDE
    keys = [
        facets.Key(text, look["color"], mark="square" if look["fill"] else "line", edge=look.get("edgecolor", "none"))
        for text, look in zip(fills.values(), looks, strict=True)
    ]
    above = TOP + (facets.KEY_LINE if len(fills) > 1 else 0.0)
    columns = 1 if len(shown) <= MOST_IN_A_COLUMN else 2
    rows, wide = -(-len(shown) // columns), (canvas.FULL - COLUMN_GAP * (columns - 1)) / columns
    names = widths.shortened([ridge.name for ridge in shown], NAMES / columns)
    left = max(map(widths.text_width, names)) + 3.0
    high = max(float(np.nanmax(shares)) for ridge in shown for shares in ridge.shares.values()) or 1.0
    # No ridge runs into the one above, whose it would be read as.
    tall = HIGH if rows <= FEW else LOW
    deep = tall + (tall + GAP) * (rows - 1)
    sheet = canvas.sheet(canvas.FULL, above + deep + FOOT)
    starts = [left + (wide + COLUMN_GAP) * column for column in range(columns)]
    for start in starts:
        _behind(canvas.panel(sheet, start, above, wide - left - 2.0, deep), evidence, about)
    lines = list(enumerate(zip(shown, names, strict=True)))
    for index, (ridge, label) in canvas.of_each(sheet, lines, lambda each: each[1][0].site):
        start, row = starts[index // rows], index % rows
        top = above + (tall + GAP) * row
        axes = canvas.panel(sheet, start, top, wide - left - 2.0, tall, (0, 1), (0, high))
        axes.axis("off")
        axes.axhline(0, color=ink.RULE, lw=0.5)
        for (column, shares), look in reversed(list(zip(ridge.shares.items(), looks, strict=True))):
            middles = (ridge.edges[1:] + ridge.edges[:-1]) / 2
            # What is too few to be given stays empty.
            weights, bins = np.nan_to_num(shares), list(ridge.edges)
            seaborn.histplot(x=middles, weights=weights, bins=bins, element="step", ax=axes, gid=column, **look)
        axes.set(xlim=(0, 1), ylim=(0, high), xlabel="", ylabel="", xticks=[], yticks=[])
        canvas.write(sheet, start - left, top + tall - 1.6, label)
    if len(fills) > 1:
        facets.key(sheet, 0.0, 1.8, [keys])
    more = captions.left_out(len(every) - len(found), "not estimable, or too few patients")
    cut = f" {len(ridges) - len(shown)} more: see results.json." if len(ridges) > len(shown) else ""
    line = " Broken line: the primary threshold." if about.get("thresholds") else ""
    drawn = {ridge.site.name for ridge in shown}
    rests_on = captions.patients_of(about, [(site, curve) for site, curve in found if site.name in drawn])
    caption = f"{rests_on}. {about['caption']} Top: {numbers.per_cent(high)}.{line}{more}{cut}"
    said = captions.joined([ridge.most_often for ridge in shown], 8)
    of = f" {fills[first]}" if len(fills) > 1 else ""
    return canvas.Drawn(sheet, caption, f"{about['says']} Most often{of}: {said}.", about["says"])


def _behind(axes: canvas.Panel, evidence: types.Evidence, about: Mapping[str, Any]) -> None:
    """The scale that the ridges of a column share, with the lines that they are compared by."""
    axes.spines["left"].set_visible(False)
    for place in (0.25, 0.5, 0.75):
        axes.axvline(place, color=ink.HAIR, lw=0.5, zorder=0)
    for threshold in evidence.release.thresholds.declared[:1] if about.get("thresholds") else ():
        axes.axvline(threshold, color=ink.INK_2, lw=0.8, ls=ink.BROKEN, zorder=0)
    canvas.ticks(axes, "x", [0, 0.25, 0.5, 0.75, 1])
    axes.titles(about["axis"], below=7.2)


canvas.figures(words.of_curves("ridges"), "ridges", _drawn)
