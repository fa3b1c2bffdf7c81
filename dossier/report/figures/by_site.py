"""Curves of the supplement, a panel a site: all that they ask for stands in `words/curves.toml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dossier.core import facts, types
from dossier.report.figures import canvas, captions, data, facets, ink
from dossier.typeset import names, numbers, words

LOOKS: tuple[dict[str, Any], ...] = (
    {"color": ink.BLUE, "ls": "-"},
    {"color": ink.INK_2, "ls": ink.BROKEN},
    {"color": ink.ORANGE, "ls": "-"},
)
"""The lines of a panel in the order of their columns."""


def _lines(about: Mapping[str, Any], curve: types.Curve) -> list[tuple[types.Floats, types.Floats, types.Floats]]:
    """The values of each line, and the ends of its band where it has one."""
    own = "low" in curve.columns and len(about["lines"]) == 1
    found = []
    for name in about["lines"]:
        ends = ("low", "high") if own else (f"{name}_low", f"{name}_high")
        low, high = (data.column(curve, end if end in curve.columns else name) for end in ends)
        found.append((data.column(curve, name), low, high))
    return found


def _ends(every: Sequence[types.Floats]) -> tuple[float, float]:
    """Where the vertical axis of all panels begins and ends: at 0, or below what lies lower."""
    known = np.concatenate([values[np.isfinite(values)] for values in every])
    low, high = float(known.min()), float(known.max())
    return (-canvas.ceiling(-low) if low < 0 else 0.0), canvas.ceiling(high)


def _midway(about: Mapping[str, Any], found: Sequence[tuple[types.DatasetSummary, types.Curve]]) -> str:
    """What the lines come to in the middle of the horizontal axis: a value, or the least and the most of the sites."""
    lines: dict[str, list[tuple[float, str]]] = {name: [] for name in about["lines"]}
    # Readers answer as often for hospitals of few patients.
    found, few = (found, "") if about.get("of") == "answers" else names.ends_of_range(found)
    for site, curve in found:
        across = data.column(curve, about["across"])
        for name, known in lines.items():
            values = data.column(curve, name)
            if np.isfinite(values).any():
                nearest = int(np.nanargmin(np.where(np.isfinite(values), np.abs(across - 0.5), np.nan)))
                known.append((float(values[nearest]), site.site))
    said = (f"{about['lines'][name]} {captions.ends(known)}" for name, known in lines.items() if known)
    return f" Nearest to {numbers.number(0.5)} on the axis: {'; '.join(said)}{few}."


def _panels(evidence: types.Evidence, name: str, about: Mapping[str, Any]) -> canvas.Drawn | types.Absent:
    every = facets.shown_curves(evidence, canvas.FULL, name)
    found = [(site, curve) for site, curve in every if isinstance(curve, types.Curve)]
    if not found:
        return facets.why_nowhere(evidence, name, facts.Fact("not_estimated_at_any_site", what=about["what"]))
    low, high = _ends([values for _, curve in found for line in _lines(about, curve) for values in line])
    key = [
        facets.Key(text, looks["color"], looks["ls"])
        for text, looks in zip(about["lines"].values(), LOOKS, strict=False)
    ]
    rows = facets.key_lines(key, canvas.FULL) if len(key) > 1 else []
    grid = facets.lattice(
        len(found),
        canvas.FULL,
        left=12.0,
        top=5.0 + facets.KEY_LINE * len(rows),
        gap_x=4.4,
        gap_y=7.2,
        tallest=28.0,
        shape=0.6,
    )
    plot = facets.Multiples.of(grid, [site for site, _ in found], 9.6, canvas.FULL)
    # Between two ends that keep inside, 0 is written where half its line and the whole one of the nearer end have room.
    shown = {low, high} | ({0.0} if min(-low, high) / (high - low) * grid.height >= 1.5 * canvas.LINE else set())

    def scale(axes: canvas.Panel, index: int) -> None:
        axes.set(xlim=(0, 1), ylim=(low, high))
        canvas.ticks(axes, "x", [0, 0.5, 1], ["0", "", "1"], labelled=grid.outer_bottom(index), inward=True)
        places = sorted({low, 0.0, high})
        texts = [canvas.tick_text(place) if place in shown else "" for place in places]
        canvas.ticks(axes, "y", places, texts, labelled=grid.outer_left(index), inward=True)

    for _, _, axes, curve in plot.each(evidence, found, scale):
        across = data.column(curve, about["across"])
        for (values, lower, upper), looks in zip(_lines(about, curve), LOOKS, strict=False):
            axes.fill_between(across, lower, upper, color=looks["color"], alpha=0.18, lw=0)
            axes.plot(across, values, lw=1.2, **looks)
    facets.key(plot.sheet, 0.0, 1.8, rows)
    plot.titles(about["axis"], about["up"])
    _, left = facets.shown_sites(evidence, canvas.FULL)
    none = captions.left_out(len(every) - len(found), "not estimable")
    caption = f"{captions.patients_of(about, found)}. {about['caption']}{none}"
    caption += captions.left_out(left, "in results.json")
    return canvas.Drawn(plot.sheet, caption, f"{about['says']}{_midway(about, found)}", about["says"])


canvas.figures(words.of_curves("panels"), "at_sites", _panels)
