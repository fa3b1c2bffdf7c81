"""The odds ratios that the declared formula comes to, predictor by predictor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dossier.core import facts, register, types
from dossier.report.figures import canvas, captions, data, forest, ink, marks
from dossier.typeset import labels, names, numbers, widths
from dossier.typeset.words import counted

MOST_ROWS, NAMES, AXIS, VALUE = 44, 50.0, 45.0, 14.0
"""How many rows there are at most, and in mm the widths of a name, of the axis at least, and of the numbers."""
TICKS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0)
RATIOS = {"logit": "Odds ratio", "cloglog": "Hazard ratio"}
"""What a formula multiplies, by the scale on which its terms add up."""
QUARTILES = ("quantile_25", "quantile_75")
Row = tuple[str, str, float]
"""The predictor, what of it is compared with what, and its odds ratio."""


def _per_point(total: types.Curve) -> float:
    """How much of the linear predictor a point of the nomogram is."""
    points, odds = (data.column(total, name) for name in ("total_points", "linear_predictor"))
    return float((odds[-1] - odds[0]) / (points[-1] - points[0]))


def _spread(evidence: types.Evidence, predictor: str) -> list[float]:
    """The median and quartiles of a predictor, in the development data where these hold it; none where nobody does."""
    known = {(row.dataset, row.described.statistic): row.described.value for row in evidence.by_variable[predictor]}
    places = [[(of.name, end) for end in ("median", *QUARTILES)] for of in names.shown(evidence)[::-1]]
    return next(([known[place] for place in each] for each in places if known.keys() >= set(each)), [])


def _of_numbers(evidence: types.Evidence, per_point: float) -> Iterator[Row]:
    """Of a number its upper quartile against its lower one, as the table of predictors prints them."""
    for curve in evidence.by_curve["points"]:
        if isinstance(curve.found, types.Curve):
            values, points = (data.column(curve.found, name) for name in ("value", "points"))
            spread = _spread(evidence, str(curve.at["predictor"]))
            ends, words = spread[1:], numbers.of_spread(*spread)[1:]
            if len(set(ends)) < 2:
                ends, words = [values[0], values[-1]], [canvas.tick_text(float(f"{values[at]:.3g}")) for at in (0, -1)]
            low, high = np.interp(ends, values, points)
            yield names.axis_name(curve.at), AGAINST.join(words[::-1]), float(np.exp((high - low) * per_point))


def _of_levels(evidence: types.Evidence, per_point: float) -> Iterator[Row]:
    """Of a category each against the one that the formula names none for, else against the first."""
    found: dict[str, dict[str, float]] = {}
    for row in evidence.descriptions:
        if (row.dataset, row.described.statistic) == (types.MODEL, "points") and row.described.level is not None:
            found.setdefault(row.described.variable, {})[row.described.level] = row.described.value
    terms = evidence.release.model.term if evidence.release.model is not None else ()
    named = {term.predictor: term.levels for term in terms if term.levels is not None and term.with_ is None}
    for variable, points in found.items():
        first = next((level for level in points if level not in named.get(variable, points)), next(iter(points)))
        for level, own in points.items():
            if level != first:
                words = [labels.level_of(evidence, variable, each) for each in (level, first)]
                yield variable, AGAINST.join(words), float(np.exp((own - points[first]) * per_point))


def _compared(text: str, room: float) -> str:
    """What is compared, where it does not fit with either side cut: that against which it is stays known."""
    each = room if widths.text_width(text) <= room else (room - widths.text_width(AGAINST)) / 2
    return AGAINST.join(widths.shortened([side], each)[0] for side in text.split(AGAINST, 1))


AGAINST = " against "


@canvas.figure("Odds ratios of the formula")
def odds_ratios_of_formula(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """What the odds, or of a Cox model the hazard, are multiplied by from one value of a predictor to another."""
    if evidence.release.model is None:
        return types.Absent(facts.Fact("no_formula"))
    total = register.present(types.find_curve(evidence, "points_total", types.MODEL))
    of = RATIOS[evidence.release.model.link]
    every = [*_of_numbers(evidence, _per_point(total)), *_of_levels(evidence, _per_point(total))]
    order = {name: place for place, name in enumerate(evidence.release.model.predictors)}
    every.sort(key=lambda row: next((at for name, at in order.items() if row[0].startswith(name)), len(order)))
    shown = every[:MOST_ROWS]
    called = widths.shortened(list(dict.fromkeys(name for name, _, _ in shown)), NAMES)
    label = dict(zip(dict.fromkeys(name for name, _, _ in shown), called, strict=True))
    beside = max(map(widths.text_width, called)) + 2.5
    words = [_compared(text, canvas.FULL - beside - 3.0 - AXIS - VALUE) for _, text, _ in shown]
    left = beside + max(map(widths.text_width, words)) + 3.0
    wide = canvas.FULL - left - VALUE
    plot = forest.Rows(canvas.sheet(canvas.FULL, 5.0 + canvas.LINE * len(shown) + 10.0), 5.0)
    axes = plot.axes(left, wide, len(shown))
    axes.set_xscale("log")
    ratios = [ratio for _, _, ratio in shown]
    low = max((tick for tick in TICKS if tick <= min(*ratios, 0.5)), default=TICKS[0])
    high = min((tick for tick in TICKS if tick >= max(*ratios, 2.0)), default=TICKS[-1])
    axes.set_xlim(low, high)
    canvas.ticks(axes, "x", [tick for tick in TICKS if low <= tick <= high])
    axes.axvline(1.0, color=ink.RULE, lw=0.8, zorder=0)
    canvas.write(plot.sheet, canvas.FULL, 2.2, of, ha="right", color=ink.INK_2)
    for row, ((name, _, ratio), text) in enumerate(zip(shown, words, strict=True)):
        if not row or shown[row - 1][0] != name:
            plot.write(row + 0.5, 0, label[name])
        plot.write(row + 0.5, beside, text, color=ink.INK_2)
        axes.plot([1.0, ratio], [row + 0.5] * 2, color=ink.BAND, lw=2.4, zorder=1)
        marks.dot(axes, min(max(ratio, low), high), row + 0.5, "o", 4.2, ink.BLUE, gid=f"ratio-{row}")
        plot.right(row + 0.5, canvas.FULL, numbers.number(ratio), weight=600, color=ink.INK)
    axes.titles(f"{of} (1: no effect)")
    cut = counted(len(every) - len(shown), "row") if len(every) > len(shown) else ""
    caption = captions.said("odds_ratios", evidence, of=counted(total.n, "patient"), cut=cut)
    name, text, ratio = max(every, key=lambda row: abs(np.log(row[2])))
    said = captions.joined([f"{numbers.number(each)} ({of}, {against})" for of, against, each in shown], 12)
    message = f"The {of.lower()} farthest from 1 is {numbers.number(ratio)}: {name}, {text}."
    return canvas.Drawn(plot.sheet, caption, f"{of}s of the formula: {said}.", message)
