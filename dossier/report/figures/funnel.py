"""Many hospitals in one picture: the value of each against its standard error, with the limits of chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from dossier.core import bands, facts, multiplicity, register, types
from dossier.report.figures import canvas, captions, data, ink, marks, placing
from dossier.typeset import widths, words

TOP, HEIGHT, LEFT, GAP = 6.0, 44.0, 11.0, 15.0
WIDEST_NAME = 34.0
RATIOS = (0.1, 0.2, 0.3, 0.5, 0.8, 1, 1.25, 2, 3, 5, 10)
"""Where the scale of O/E may have a tick."""


@dataclass(frozen=True)
class Point:
    """A hospital in the funnel: its value, the standard error (of O/E that of its log), and whether it stands out."""

    of: types.DatasetSummary
    value: float
    error: float
    is_out: bool
    is_ours: bool


def points(evidence: types.Evidence, measure: str) -> tuple[Point, ...]:
    """The hospitals with a value and a standard error, those that stand out last, the farthest off first among them."""
    found = []
    for site, estimate in types.estimated(evidence, measure):
        if not estimate.se or estimate.value <= 0:
            continue
        is_ratio = measure == "oe_ratio"
        is_out = is_ratio and multiplicity.of_site(evidence, estimate, site.name) == "against"
        error = estimate.se / estimate.value if is_ratio else estimate.se
        found.append(Point(site, estimate.value, error, is_out, site.name == evidence.local_site))
    return tuple(sorted(found, key=lambda point: (point.is_out, -abs(math.log(point.value)))))


def draw_funnel(evidence: types.Evidence, width: float) -> Figure | types.Absent:
    """O/E with the limits of chance and those beyond by name; at full width the AUROC beside it."""
    ratios, ranks = points(evidence, "oe_ratio"), points(evidence, "auroc")
    if not ratios:
        return types.Absent(facts.Fact("not_estimated_at_any_site", what="O/E"))
    drawn = canvas.sheet(width, TOP + HEIGHT + 12.0)
    is_whole = width == canvas.FULL
    across = 94.0 if is_whole and ranks else width - LEFT - 3.0
    axes = _panel(drawn, LEFT, across, max(point.error for point in ratios))
    _ratios(axes, evidence, ratios, across, in_words=not is_whole)
    if not is_whole:
        _words(axes, "", "Actual cases per 100 predicted", "fewer patients")
        return drawn
    _words(axes, "a  O/E", "O/E", "standard error of log O/E")
    if ranks:
        left = LEFT + across + GAP
        axes = _panel(drawn, left, canvas.FULL - left - 3.0, max(point.error for point in ranks))
        # It judges no hospital.
        axes.set_xlim(min(*(point.value for point in ranks), 0.5) - 0.02, 1.0)
        canvas.ticks(axes, "x", [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
        pooled = types.find(evidence, "auroc", types.POOLED)
        if isinstance(pooled, types.Estimate):
            axes.axvline(pooled.value, color=ink.BLUE, lw=0.8, zorder=1)
            if (new := types.expected_range(pooled)) is not None:
                axes.axvspan(*new, color=ink.BAND, alpha=0.6, lw=0, zorder=0)
        _dots(axes, ranks)
        _words(axes, "b  AUROC", "AUROC", "standard error")
    return drawn


def _panel(drawn: Figure, left: float, width: float, most: float) -> canvas.Panel:
    return canvas.panel(drawn, left, TOP, width, HEIGHT, up=(1.08 * most, 0))


def _words(axes: canvas.Panel, head: str, foot: str, beside: str) -> None:
    """What stands around a panel; under a head the scale of the standard error, the surest hospitals at the top."""
    canvas.write(axes.sheet, axes.x, 2.2, head, weight=600)
    after = axes.x + widths.text_width(head, 600) + (3.0 if head else 0.0)
    canvas.write(axes.sheet, after, 2.2, f"↓ {beside}", color=ink.INK_2)
    if head:
        canvas.ticks(axes, "y", canvas.inner_ticks(0, axes.get_ylim()[0], 4))
    axes.titles(foot, below=8.6)


def _ratios(axes: canvas.Panel, evidence: types.Evidence, found: Sequence[Point], width: float, in_words: bool) -> None:
    """The funnel of O/E: what is tolerated as a band, the limits of chance as lines, the names of those beyond."""
    values = [point.value for point in found]
    low, high = max(min(*values, 0.5) / 1.1, 0.1), min(max(*values, 2.0) * 1.1, 10.0)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    canvas.ticks(axes, "x", RATIOS, [f"{100 * ratio:g}" if in_words else canvas.tick_text(ratio) for ratio in RATIOS])
    errors = np.linspace(0, axes.get_ylim()[0], 60)
    axes.axvspan(*bands.OE_TOLERATED, color=ink.TINTS[0], lw=0, zorder=0)
    axes.axvline(1.0, color=ink.RULE, lw=0.6, zorder=0.5)
    reach = multiplicity.reach_of_chance(evidence)
    limits = [np.exp(side * reach * errors) for side in (-1, 1)]
    for limit in limits:
        axes.plot(limit, errors, color=ink.INK_2, lw=0.8, ls=ink.BROKEN, zorder=1)
    _dots(axes, found)

    def place(value: float, error: float) -> tuple[float, float]:
        return math.log(value / low) / math.log(high / low) * width, error / axes.get_ylim()[0] * HEIGHT

    named, short = [point for point in found if point.is_out][: bands.NAMED_OF_MANY], data.labels(evidence, WIDEST_NAME)
    wanted = [placing.Mark(short[point.of.name], *place(point.value, point.error)) for point in named]
    dots = [place(point.value, point.error) for point in found]
    lines = [place(float(x), float(y)) for limit in limits for x, y in zip(limit, errors, strict=True)]
    spots = placing.place_labels(wanted, width, HEIGHT, 1.2, np.array([*dots, *lines]))
    for mark, spot in zip(wanted, spots, strict=True):
        own = (mark.x, mark.y)
        others = np.array([dot for dot in dots if dot != own]).reshape(-1, 2)
        # In a crowd a name could be that of any: the caption has them all.
        if spot is not None and placing.is_clear(mark.text, spot, np.array([own]), others):
            x, y = low * (high / low) ** (spot[0] / width), spot[1] / HEIGHT * axes.get_ylim()[0]
            axes.text(x, y, mark.text, ha="center", va="center", color=ink.ALERT, zorder=5)


def _dots(axes: canvas.Panel, found: Sequence[Point]) -> None:
    for point in canvas.of_each(axes.sheet, found, lambda each: each.of):
        edge = ink.BLUE if point.is_ours else ink.ALERT if point.is_out else ink.INK
        marks.dot(axes, point.value, point.error, "o", 3.4, edge, filled=point.is_out or point.is_ours, mew=0.7)


def _printed(evidence: types.Evidence, width: float, name: str) -> canvas.Drawn | types.Absent:
    sites = types.externals(evidence)
    if len(sites) < bands.MANY_SITES or evidence.release.outcome.classes:
        return types.Absent(facts.Fact("few_enough_to_be_named"))
    drawn = register.present(draw_funnel(evidence, width))
    found, names = points(evidence, "oe_ratio"), data.labels(evidence, 62.0)
    out = [names[point.of.name] for point in found if point.is_out]
    left, (least, most) = len(sites) - len(found), bands.OE_TOLERATED
    gaps = words.counted(left, "site") if left else ""
    how = captions.said(name, evidence, sites, least=f"{least:g}", most=f"{most:g}", gaps=gaps)
    which = captions.joined(out, bands.NAMED_OF_MANY) if out else ""
    text = captions.said(f"{name}_message", evidence, sites, sites=len(sites), out=len(out) or "none", which=which)
    return canvas.Drawn(drawn, how, text)


@canvas.figure("Many hospitals: O/E and AUROC against their standard errors")
def funnel_by_site(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Every hospital in a funnel, and by name those whose risks are shown to be wrong in size; from 20 hospitals on."""
    return _printed(evidence, canvas.FULL, "funnel")


@canvas.figure("Many hospitals: actual cases per 100 predicted")
def committee_funnel(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Every hospital by how many actual cases there were per 100 predicted, and by name those shown to be wrong."""
    return _printed(evidence, canvas.COMMITTEE, "committee_funnel")
