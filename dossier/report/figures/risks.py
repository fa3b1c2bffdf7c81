"""Pictures of the risks themselves: how they lie by outcome."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.core import bands, facts, register, types
from dossier.report.figures import canvas, captions, data, facets, forest, ink, marks
from dossier.typeset import reasons, widths
from dossier.typeset.names import all_events, ends_of_range, events_of
from dossier.typeset.numbers import number, per_cent, threshold
from dossier.typeset.words import listing

_SHARES = ("share_events", "share_non_events")
FEW_BEYOND = 0.01
"""The share of the patients that one wide bin beyond the equal ones may hold; an axis then ends before it."""


# ---- bins -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """The common axes of distributions: where the risks end, the width of the bins, the highest one, all edges."""

    end: float
    step: float
    reach: float
    edges: types.Floats
    own: bool = False
    """Whether one scale of heights would flatten a site, so that each has its own."""


def edges_of(curve: types.Curve) -> types.Floats:
    """The edges of the bins, from 0 to 1."""
    return np.append(data.column(curve, "low"), data.column(curve, "high")[-1])


def heights_of(curve: types.Curve, name: str, edges: types.Floats, step: float) -> types.Floats:
    """The share of the patients in each bin between these edges, for every step of the risk.

    The area of a bin is its share, however wide it is. Edges that are none of the curve's own lie only in the bin of
    the few highest risks, or in bins put together because few lie in them: their patients are spread evenly.
    """
    below = np.concatenate(([0.0], np.cumsum(np.nan_to_num(data.column(curve, name)))))
    return np.asarray(np.diff(np.interp(edges, edges_of(curve), below)) * step / np.diff(edges))


SMALLEST_UNIT = 1_000_000
"""How many of the finest bins there can be from 0 to 1: the edges of all are multiples of one."""
WIDEST_STEP = 0.1


def step_of(curve: types.Curve) -> float:
    """The width of the equal bins, also where some of them were put together."""
    return min(math.gcd(*(round(edge * SMALLEST_UNIT) for edge in edges_of(curve))) / SMALLEST_UNIT, WIDEST_STEP)


def common_step(curves: Sequence[types.Curve]) -> float:
    """The least width of bins that every curve's own can be put together to."""
    return math.lcm(*(round(step_of(curve) * SMALLEST_UNIT) for curve in curves)) / SMALLEST_UNIT


def highest_bin(curves: Sequence[types.Curve]) -> float:
    """The upper end of the last of the bins that hold anybody, but for a wide one of a few at the end."""
    ends = []
    for curve in curves:
        counts = np.sum([np.nan_to_num(data.column(curve, name)) for name in ("events", "non_events")], axis=0)
        edges = edges_of(curve)
        is_wide = edges[-1] - edges[-2] > step_of(curve) + 1e-12
        if is_wide and counts[-1] <= FEW_BEYOND * counts.sum():
            counts = counts[:-1]
        ends.append(float(edges[1 : len(counts) + 1][counts > 0].max(initial=step_of(curve))))
    return max(ends)


def beyond(curves: Sequence[types.Curve], end: float) -> bool:
    """Whether any risk may lie beyond the end of the axis."""
    shares = [(data.column(curve, name), data.column(curve, "high")) for curve in curves for name in _SHARES]
    return any(np.nan_to_num(share)[high > end + 1e-12].sum() > 0 for share, high in shares)


WIDEST_SPREAD = 3.0


def scale_of(curves: Sequence[types.Curve]) -> Scale:
    """The axes that hold these distributions, with bins of one width for all: a finer curve's are put together."""
    step = common_step(curves)
    # Equal bins to where the last curve has its own, then one up to 1.
    last = max(float(edges_of(curve)[:-1].max()) if len(edges_of(curve)) > 2 else step for curve in curves)
    equal = np.arange(1, math.ceil(round(last / step, 6)) + 1)
    edges: types.Floats = np.unique(np.round(np.concatenate(([0.0], equal * step, [1.0])), 10))
    tops = [max(float(heights_of(curve, name, edges, step).max()) for name in _SHARES) for curve in curves]
    own = any(step_of(curve) < step for curve in curves) and max(tops) > WIDEST_SPREAD * min(tops)
    return Scale(canvas.ceiling(highest_bin(curves)), step, max(tops), edges, own)


def mirrored(axes: Axes, site: types.DatasetSummary, curve: types.Curve, scale: Scale) -> float:
    """Shares of the events upwards and of the others downwards, as one outline each; how far they reach.

    Of a group of too few patients it is said that they are.
    """
    edges = scale.edges
    up, down = (heights_of(curve, name, edges, scale.step) for name in _SHARES)
    with_outcome, without = enough(site)
    if with_outcome:
        axes.stairs(up, edges, fill=True, fc=ink.BLUE, lw=0)
    if without:
        axes.stairs(-down, edges, fill=True, fc=ink.TINTS[2], ec=ink.INK_2, lw=0.5, baseline=0)
    axes.axhline(0, color=ink.INK, lw=0.5)
    reach = max(float(up.max()), float(down.max()), 1e-9) if scale.own else scale.reach
    axes.set_ylim(-reach * 1.04, reach * 1.04)
    for is_drawn, height in ((with_outcome, 0.75), (without, 0.25)):
        if not is_drawn:
            axes.text(0.5, height, "too few", transform=axes.transAxes, ha="center", va="center", color=ink.INK_2)
    return reach


def enough(site: types.DatasetSummary) -> tuple[bool, bool]:
    """Whether the patients with the outcome, and those without, are enough to show how their risks lie."""
    if site.events is None:
        return False, False
    return site.events >= bands.FEW_FOR_POOLING, (site.others or 0) >= bands.FEW_FOR_POOLING


def means(evidence: types.Evidence, site: types.DatasetSummary) -> tuple[float, float] | None:
    """The mean risk of the patients with the outcome and of those without; None where either are too few."""
    found = types.find(evidence, "tjur_r2", site.name)
    if isinstance(found, types.Absent) or not all(enough(site)):
        return None
    of_cases, of_others = found.details.get("mean_of_cases"), found.details.get("mean_of_others")
    return None if of_cases is None or of_others is None else (of_cases, of_others)


# ---- the figure of the distributions --------------------------------------------------------------------------------


def draw_risks(evidence: types.Evidence, width: float) -> Figure | types.Absent:
    """The distribution of the risks at each site: patients with the outcome upwards, the others downwards."""
    found = facets.shown_curves(evidence, width, "risk_distribution")
    shown, known = [site for site, _ in found], facets.known(found)
    if not known:
        return types.Absent(facts.Fact("no_distribution_of_risks"))
    if not any(any(enough(site)) for site in shown):
        # Every panel would say that its patients are too few.
        return types.Absent(facts.Fact("too_few_at_every_site", fewest=facts.Count(bands.FEW_FOR_POOLING, "patient")))
    scale = scale_of(known)
    size = canvas.HALF if len(shown) == 1 else width
    rounded = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    share = max(value for value in rounded if value <= max(scale.reach, 0.05))
    left = 6.2 + (widths.text_width(per_cent(share)) if not scale.own else 0.0)
    shape = (0.6 if len(shown) == 1 else 1.0) if width == canvas.HALF else 0.85 if len(shown) <= 12 else 0.75
    left, top, gap = (max(9.5, left), 5, 2.3) if width == canvas.HALF else (left, 10.5, 4.4)
    grid = facets.lattice(len(shown), size, left=left, top=top, gap_x=gap, gap_y=6.6, tallest=36, shape=shape)
    # At full width the counts and the means stand under the names, where they fit.
    counts = [_counts(evidence, site) for site in shown]
    fits = all(widths.text_width(line) <= grid.width for count in counts for line in count.split("\n"))
    below = counts if width == canvas.FULL and len(shown) <= 12 and fits else None
    plot = facets.Multiples.of(grid, shown, 9.4, size, below)
    if width == canvas.FULL:
        without = facets.Key("without", ink.TINTS[2], mark="square", edge=ink.INK_2)
        facets.key(plot.sheet, left, 2.4, [[facets.Key("with the outcome", ink.BLUE, mark="square"), without]])
    for index, (site, curve) in enumerate(found):
        axes = plot.panel(index)
        axes.set(xlim=(0, scale.end), ylim=(-scale.reach, scale.reach))
        if isinstance(curve, types.Absent):
            facets.say(axes, reasons.why(evidence, curve.reason))
        else:
            _lines(axes, evidence, site, scale.end, mirrored(axes, site, curve, scale))
        _risk_ticks(axes, plot.grid, index, scale, share)
    plot.titles("Estimated risk", "Share of patients")
    return plot.sheet


def _counts(evidence: types.Evidence, site: types.DatasetSummary) -> str:
    """The patients and events of a site, and below them its mean risks."""
    known, found = events_of(site), means(evidence, site)
    events = f", {all_events([site])}" if known else ""
    both = f"means: {_no_means(site)}" if found is None else f"means {risk_text(found[0])}, {risk_text(found[1])}"
    return f"n {site.n:,}{events}\n{both}"


def _no_means(site: types.DatasetSummary) -> str:
    """Why a site has no mean risks."""
    return "not given" if all(enough(site)) else "too few"


def risk_text(value: float) -> str:
    """A risk with two digits, or three where two would hide it."""
    return number(value, 2 if value >= 0.095 or value == 0 else 3)


def _risk_ticks(axes: Axes, grid: facets.Lattice, index: int, scale: Scale, share: float) -> None:
    outer = grid.outer_bottom(index)
    axes.spines["bottom"].set_visible(outer)
    if outer:
        texts = ["0", "", canvas.tick_text(scale.end)]
        canvas.ticks(axes, "x", [0, scale.end / 2, scale.end], texts, inward=True)
    if scale.own:
        axes.spines["left"].set_visible(False)
        return
    texts = [per_cent(share), "0", per_cent(share)]
    canvas.ticks(axes, "y", [-share, 0, share], texts, labelled=grid.outer_left(index))


def _lines(axes: Axes, evidence: types.Evidence, site: types.DatasetSummary, end: float, reach: float) -> None:
    """The primary threshold as a broken line, and the two means as full ones."""
    above, below = enough(site)
    threshold = evidence.release.thresholds.primary
    if threshold is not None and threshold <= end:
        axes.plot([threshold, threshold], [-reach * below, reach * above], color=ink.INK_2, lw=0.7, ls=ink.BROKEN)
    for mean, height in zip(means(evidence, site) or (), (reach, -reach), strict=False):
        if mean <= end:
            axes.plot([mean, mean], [0, height], color=ink.INK, lw=1.1)


def how_to_read(
    evidence: types.Evidence, width: float, who: str = "those with the outcome (up) and without (down)"
) -> str:
    """What the heights, lines and ends of the panels mean."""
    shown, _ = facets.shown_sites(evidence, width)
    known = facets.known(facets.shown_curves(evidence, width, "risk_distribution"))
    scale = scale_of(known)
    end = canvas.tick_text(scale.end) if scale.end < 1 else ""
    return captions.said(
        "risk_distribution",
        evidence,
        who=who,
        step=canvas.tick_text(scale.step),
        means=any(means(evidence, site) for site in shown),
        weighted=listing([site.site for site in shown if site.weighted]),
        broken=_broken(evidence, scale.end),
        higher=end if beyond(known, scale.end) else "",
        none_higher="" if beyond(known, scale.end) else end,
        own=scale.own,
        too_few=_too_few(shown),
    )


def risk_alternative(evidence: types.Evidence, width: float) -> str:
    """The finding: the mean risk of the patients with the outcome and without, at the extremes of the sites."""
    shown, _ = facets.shown_sites(evidence, width)
    known, few = ends_of_range([(site, mean) for site in shown if (mean := means(evidence, site)) is not None])
    found = [(site.site, averages) for site, averages in known]
    if not found:
        each = "the only site" if len(shown) == 1 else f"each of {captions.sites_word(len(shown))}"
        if any(all(enough(site)) for site in shown):
            return f"How the risks with the outcome and without lie at {each}; the mean risks are not given."
        return f"Under {bands.FEW_FOR_POOLING} patients with or without the outcome at {each}: too few for mean risks."
    if len(found) == 1:
        name, (cases, others) = found[0]
        return (
            f"In {name} the mean risk was {risk_text(cases)} in patients with the outcome and {risk_text(others)} in "
            f"those without{few}."
        )
    ordered = sorted((cases - others, name, cases, others) for name, (cases, others) in found)
    (_, first, *low), (_, last, *high) = ordered[0], ordered[-1]
    return (
        f"The mean risks of patients with the outcome and without lie closest in {first} ({risk_text(low[0])} and "
        f"{risk_text(low[1])}) and furthest apart in {last} ({risk_text(high[0])} and {risk_text(high[1])}){few}."
    )


def printed_risks(evidence: types.Evidence, width: float) -> canvas.Drawn | types.Absent:
    """The risks: their distribution at the only site, or the means of several."""
    drawn = register.present(draw_either(evidence, width))
    caption = mean_risks_caption(evidence) if has_means(evidence) else how_to_read(evidence, width)
    shown, left = facets.shown_sites(evidence, width)
    caption = f"{captions.patients(shown)}. {caption}{captions.left_out(left, 'in results.csv')}"
    return canvas.Drawn(drawn, caption, risk_alternative(evidence, width))


def draw_either(evidence: types.Evidence, width: float) -> Figure | types.Absent:
    """The means of several sites, or the distributions of all."""
    return draw_mean_risks(evidence) if has_means(evidence) else draw_risks(evidence, width)


# ---- mean risks of several sites ------------------------------------------------------------------------------------

ROOM_OF_A_MEAN, LEAST_AXIS = 14.0, 15.0
"""The width of a column of means, and the least of the axis, in mm."""


def has_means(evidence: types.Evidence) -> bool:
    """Whether the mean risks of several sites stand for their distributions, which no small panel can show."""
    shown, _ = facets.shown_sites(evidence, canvas.HALF)
    return len(shown) > 1 and any(means(evidence, site) is not None for site in shown)


def draw_mean_risks(evidence: types.Evidence) -> Figure:
    """A row a site on half a page: the mean risk of the patients with the outcome, and of those without."""
    shown, _ = facets.shown_sites(evidence, canvas.HALF)
    found = {site.name: means(evidence, site) for site in shown}
    names = widths.shortened([site.site for site in shown], canvas.HALF - LEAST_AXIS - 2 * ROOM_OF_A_MEAN - 5.0)
    left = max(map(widths.text_width, names)) + 2.5
    width, top = canvas.HALF - left - 2 * ROOM_OF_A_MEAN - 2.0, 5.4
    height = canvas.LINE * len(shown) + 1.5
    plot = forest.Rows(canvas.sheet(canvas.HALF, top + height + 9.4), top)
    end = canvas.ceiling(max(risk for pair in found.values() if pair is not None for risk in pair))
    axes = plot.axes(left, width, height / canvas.LINE, (0, end))
    canvas.ticks(axes, "x", [0, end / 2, end], ["0", canvas.tick_text(end / 2), canvas.tick_text(end)])
    threshold = evidence.release.thresholds.primary
    if threshold is not None and threshold <= end:
        axes.axvline(threshold, color=ink.INK_2, lw=0.7, ls=ink.BROKEN, zorder=0.5)
    ends = canvas.HALF - ROOM_OF_A_MEAN, canvas.HALF
    for words, x in zip(("with", "without"), ends, strict=True):
        canvas.write(plot.sheet, x, 2.2, words, ha="right", color=ink.INK_2)
    rows = list(enumerate(zip(shown, names, strict=True)))
    for row, (site, name) in canvas.of_each(plot.sheet, rows, lambda each: each[1][0]):
        plot.write(row + 0.5, 0, name)
        pair = found[site.name]
        if pair is None:
            plot.right(row + 0.5, canvas.HALF, _no_means(site))
            continue
        axes.plot(pair, [row + 0.5] * 2, color=ink.INK, lw=0.8, zorder=2)
        for risk, x, filled in zip(pair, ends, (True, False), strict=True):
            marks.dot(axes, risk, row + 0.5, colour=ink.BLUE, filled=filled)
            plot.write(row + 0.5, x, risk_text(risk), ha="right", weight=600 if filled else 400)
    canvas.write(plot.sheet, left + width / 2, top + height + 7.2, "Mean estimated risk", ha="center")
    return plot.sheet


def mean_risks_caption(evidence: types.Evidence, whose: str = "with the outcome") -> str:
    """How to read the rows."""
    text = f"Mean risk of patients {whose} (filled) and of all others (open)."
    return text + _broken(evidence) + _too_few(facets.shown_sites(evidence, canvas.HALF)[0])


def _broken(evidence: types.Evidence, end: float = 1.0) -> str:
    """What the broken line is, where there is one on an axis with that end."""
    at = evidence.release.thresholds.primary
    return "" if at is None or at > end else f" Broken: threshold {threshold(at)}."


def _too_few(shown: Sequence[types.DatasetSummary]) -> str:
    """What too few means, where it is said at any site."""
    return f" Too few: under {bands.FEW_FOR_POOLING} patients." if any(False in enough(site) for site in shown) else ""
