"""The external performance diagram: how good the model is where, against how like the development data it is there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Ellipse, Rectangle

from dossier import bands
from dossier.figures.canvas import (
    BLUE,
    FULL,
    INK,
    INK_2,
    LINE,
    MID,
    RULE,
    TINTS,
    Floats,
    Mark,
    joined,
    labels,
    level_text,
    panel,
    patients,
    picture,
    place_labels,
    primary_threshold,
    sheet,
    sites_word,
    styled,
    text_width,
    ticks,
    write,
)
from dossier.register import figure
from dossier.types import Absent, DatasetSummary, Estimate, Evidence, Picture, externals, find
from dossier.typeset import number

FRAME = (0, (3.2, 1.8))
RADIUS = 1.75
GAP = 5.3
TOP = 14.5
MOST_NAMED = 14
"""With more sites than this a mark carries the site's number in place of its name."""
MOST_UNKNOWN = 14
"""How many sites of unknown similarity the strip holds."""


@dataclass(frozen=True)
class Scale:
    """One panel: its measure, its title, its cut-offs from acceptable on, the ends of its axis, better right."""

    measure: str
    sample: str
    title: str
    cuts: tuple[float, float, float]
    worst: float
    best: float
    worst_tick: float
    step: float
    setting: Mapping[str, float]
    """What the measure and its sample size depend on."""

    def acceptable(self, value: float) -> bool:
        """Whether a value is acceptable or better."""
        return (value - self.cuts[0]) * (self.best - self.worst) >= 0

    def clipped(self, value: float) -> float:
        """The value, or the end of the axis that it lies beyond."""
        return min(max(value, min(self.worst, self.best)), max(self.worst, self.best))


@dataclass(frozen=True)
class Standing:
    """A site in one panel: performance with its interval, and the share of the minimum sample size that was reached."""

    value: float
    low: float
    high: float
    share: float | None


@dataclass(frozen=True)
class Placed:
    """A site with its similarity to the development data, when that is known."""

    site: DatasetSummary
    name: str
    similarity: Estimate | None
    supports: bool

    @property
    def colour(self) -> str:
        """Blue for a site that supports the model from outside, mid for the rest."""
        return BLUE if self.supports else MID


def scales(evidence: Evidence) -> tuple[Scale, ...]:
    """The three panels, each wide enough for its worst site within reason."""
    threshold = primary_threshold(evidence)
    at = {} if threshold is None else {"threshold": threshold}
    benefit = "Standardized net benefit" + ("" if threshold is None else f" at {number(threshold)}")
    cuts = bands.PERFORMANCE
    none: Mapping[str, float] = {}
    plans: tuple[tuple[str, str, str, float, float, float, float, Mapping[str, float]], ...] = (
        ("auroc", "mss_auroc", "AUROC", 0.6, 1.0, 0.1, 0.3, none),
        ("standardized_net_benefit", "mss_snb", benefit, 0.2, 1.0, 0.2, -1.0, at),
        ("brier", "mss_brier", "Brier score (reversed)", 0.35, 0.0, 0.05, 0.6, none),
    )
    made = []
    for measure, sample, title, usual, best, step, limit, setting in plans:
        found = (find(evidence, measure, site.name, **setting) for site in externals(evidence))
        values = [one.value for one in found if isinstance(one, Estimate)]
        sign = 1 if best > usual else -1
        reach = min([usual * sign, *(value * sign for value in values)])
        tick = max(math.floor(reach / step + 1e-9) * step, limit * sign) * sign
        made.append(
            Scale(
                measure,
                sample,
                title,
                cuts[measure],
                tick - sign * step * 0.4,
                best,
                tick,
                step,
                setting,
            )
        )
    return tuple(made)


def standing(evidence: Evidence, site: DatasetSummary, scale: Scale) -> Standing | None:
    """Where a site stands in a panel; None when the measure is absent there."""
    found = find(evidence, scale.measure, site.name, **scale.setting)
    if isinstance(found, Absent):
        return None
    least = find(evidence, scale.sample, site.name, **scale.setting)
    share = min(1.0, site.n / least.value) if isinstance(least, Estimate) and least.value > 0 else None
    low = found.value if found.low is None else found.low
    high = found.value if found.high is None else found.high
    return Standing(found.value, low, high, share)


def placed_sites(evidence: Evidence) -> tuple[Placed, ...]:
    """Every external site with its similarity and whether it supports the model from outside."""
    three = scales(evidence)
    sites = externals(evidence)
    names = labels(evidence, 24.0, 600)
    many = sum(_similarity(evidence, site) is not None for site in sites) > MOST_NAMED
    placed = []
    for order, site in enumerate(sites, 1):
        similarity = _similarity(evidence, site)
        stands = [standing(evidence, site, scale) for scale in three]
        good = all(one is not None and scale.acceptable(one.value) for one, scale in zip(stands, three, strict=True))
        supports = similarity is not None and similarity.value < bands.SUPPORT and good
        placed.append(Placed(site, str(order) if many and similarity else names[site.name], similarity, supports))
    return tuple(placed)


def is_crowded(placed: Sequence[Placed]) -> bool:
    """Whether there are too many sites for names and for all ellipses."""
    return sum(one.similarity is not None for one in placed) > MOST_NAMED


def _similarity(evidence: Evidence, site: DatasetSummary) -> Estimate | None:
    found = find(evidence, "correspondence_averaged", site.name)
    return found if isinstance(found, Estimate) else None


@dataclass(frozen=True)
class Layout:
    """Where the panels stand: left edge of the first, size of each, and how tall the strip below them is."""

    left: float
    width: float
    height: float
    strip: float
    rows: int
    highest: float
    """The similarity at the top of the panels."""

    def x(self, index: int) -> float:
        """The left edge of a panel."""
        return self.left + index * (self.width + GAP)


def layout(placed: Sequence[Placed]) -> Layout:
    """The panels of the design; lower and narrower when a strip of unknown similarity needs its room."""
    known = [one.similarity for one in placed if one.similarity is not None]
    rows = min(len(placed) - len(known), MOST_UNKNOWN)
    left = 12.5 if not rows else 26.0
    strip = 0.0 if not rows else (rows + (len(placed) - len(known) > rows)) * LINE + 7.8
    height = 76.5 if not rows else max(46.0, 76.5 - strip)
    reach = max([0.62, *((one.high if one.high is not None else one.value) for one in known)])
    return Layout(
        left, (FULL - left - 2 * GAP) / 3, height, strip, rows, min(1.0, math.ceil(reach * 20 + 1) / 20 + 0.08)
    )


def draw_diagram(evidence: Evidence) -> Figure | Absent:
    """The diagram: three panels with common heights, and below them the sites whose similarity is unknown."""
    placed = placed_sites(evidence)
    if not any(one.similarity for one in placed):
        return Absent("the similarity to the development data is not known at any external site")
    plan = layout(placed)
    drawn = sheet(FULL, TOP + plan.height + plan.strip + 11.5)
    _key(drawn)
    write(drawn, 0, TOP - 3.6, "Similarity", weight=600)
    _band_names(drawn, plan)
    for index, scale in enumerate(scales(evidence)):
        _panel(drawn, evidence, placed, plan, index, scale)
    if plan.rows:
        _strip_names(drawn, placed, plan)
    return drawn


def _key(drawn: Figure) -> None:
    """One key for the three panels, in one row."""
    axes = panel(drawn, 0, 0, FULL, 6)
    axes.set_xlim(0, FULL)
    axes.set_ylim(6, 0)
    axes.axis("off")
    x = 12.5
    for tint, name in zip(TINTS, ("acceptable", "good", "excellent"), strict=True):
        axes.add_patch(Rectangle((x, 0.9), 4.2, 3.2, fc=tint, ec="none"))
        x = _key_text(drawn, x + 5.2, name)
    x += 3
    axes.plot([x, x + 5.5], [2.6, 2.6], color=INK, lw=1.1, ls=FRAME)
    x = _key_text(drawn, x + 6.6, "external support")
    for share, name in ((0.3, "too few patients"), (1.0, "enough")):
        axes.add_patch(Circle((x + RADIUS, 2.5), RADIUS, fc="white", ec=MID, lw=1))
        axes.add_patch(Circle((x + RADIUS, 2.5), RADIUS * math.sqrt(share), fc=MID, ec="none"))
        x = _key_text(drawn, x + 2 * RADIUS + 1.1, name)


def _key_text(drawn: Figure, x: float, text: str) -> float:
    write(drawn, x, 2.6, text)
    return x + text_width(text) + 4.2


def _band_names(drawn: Figure, plan: Layout) -> None:
    """The names of the bands of similarity, where a band is tall enough for its own."""
    lower = 0.0
    for upper, name in bands.SIMILARITY.items():
        top = min(upper, plan.highest)
        room = (top - lower) / plan.highest * plan.height
        if top > lower and room >= text_width(name) + 0.6:
            y = TOP + plan.height * (1 - (lower + top) / 2 / plan.highest)
            write(drawn, plan.left - 10.4, y, name, color=INK_2, rotation=90, ha="center", va="center")
        lower = upper


def _panel(drawn: Figure, evidence: Evidence, placed: Sequence[Placed], plan: Layout, index: int, scale: Scale) -> None:
    axes = panel(drawn, plan.x(index), TOP, plan.width, plan.height)
    axes.set_xlim(scale.worst, scale.best)
    axes.set_ylim(0, plan.highest)
    _background(axes, scale, (0, plan.highest))
    for upper in bands.SIMILARITY:
        if upper < plan.highest:
            axes.axhline(upper, color=RULE, lw=0.5, zorder=0.6)
    axes.plot(
        [scale.cuts[0], scale.cuts[0], scale.best], [0, bands.SUPPORT, bands.SUPPORT], color=INK, lw=1.1, ls=FRAME
    )
    axes.spines["left"].set_visible(index == 0)
    heights = [tick for tick in (0, *bands.SIMILARITY) if tick < plan.highest - 0.02] if index == 0 else []
    ticks(axes, "y", heights, [f"{tick:g}" for tick in heights])
    _scale_ticks(axes, scale, plan, labelled=not plan.rows)
    _marks(axes, evidence, placed, plan, scale)
    middle = plan.x(index) + plan.width / 2
    if plan.rows:
        _strip(drawn, evidence, placed, plan, index, scale)
    bottom = TOP + plan.height + plan.strip
    half = text_width(scale.title, 600) / 2
    write(drawn, min(middle, FULL - half - 0.2), bottom + 8.8, scale.title, ha="center", weight=600)


def _background(axes: Axes, scale: Scale, heights: tuple[float, float]) -> None:
    ends = (*scale.cuts, scale.best)
    for tint, start, end in zip(TINTS, ends[:-1], ends[1:], strict=True):
        axes.axvspan(start, end, color=tint, lw=0, zorder=0)


def _scale_ticks(axes: Axes, scale: Scale, plan: Layout, labelled: bool) -> None:
    """The cut-offs and the two ends, and what else has room between the worst end and the first cut-off."""
    millimetre = abs(scale.best - scale.worst) / plan.width
    places = [scale.best, *scale.cuts]
    texts = {place: _tick_text(place, scale) for place in (*places, scale.worst_tick)}
    middle = (scale.worst_tick + scale.cuts[0]) / 2
    for place in (scale.worst_tick, middle if abs(middle / scale.step - round(middle / scale.step)) < 1e-9 else None):
        if place is not None and all(abs(place - other) > 9.0 * millimetre for other in places):
            places.append(place)
            texts[place] = _tick_text(place, scale)
    kept = sorted(_apart(places, texts, millimetre))
    ticks(axes, "x", kept, [texts[place] if labelled else "" for place in kept])
    best = kept.index(scale.best)
    axes.get_xticklabels()[best].set_horizontalalignment("right")


def _apart(places: Sequence[float], texts: Mapping[float, str], millimetre: float) -> list[float]:
    """The ticks whose texts do not touch, the first named first."""
    kept: list[float] = []
    for order, place in enumerate(places):
        half = text_width(texts[place]) * (1.0 if order == 0 else 0.5)
        clear = all(
            abs(place - other) / millimetre > half + text_width(texts[other]) * (1.0 if index == 0 else 0.5) + 1.0
            for index, other in enumerate(kept)
        )
        if clear:
            kept.append(place)
    return kept


def _tick_text(value: float, scale: Scale) -> str:
    if value in (0, 1):
        return f"{value:g}"
    return number(round(value, 6), 2 if scale.measure == "brier" else 1)


def _marks(axes: Axes, evidence: Evidence, placed: Sequence[Placed], plan: Layout, scale: Scale) -> None:
    """Ellipses, rings, discs and labels of the sites whose similarity is known."""
    across = (scale.best - scale.worst) / plan.width
    down = plan.highest / plan.height
    marks, drawn = [], []
    crowded = is_crowded(placed)
    for one in placed:
        stands = standing(evidence, one.site, scale)
        if one.similarity is None or stands is None:
            continue
        value, height = scale.clipped(stands.value), min(one.similarity.value, plan.highest)
        low, high = _ends(one.similarity)
        ellipse = Ellipse(
            ((stands.low + stands.high) / 2, (low + high) / 2),
            stands.high - stands.low,
            high - low,
            fc="none",
            ec=one.colour,
            lw=0.7,
            zorder=2,
        )
        if one.supports or not crowded:
            axes.add_patch(ellipse)
        _disc(axes, value, height, abs(across), down, one.colour, stands.share)
        beyond = "" if value == stands.value else f" {number(stands.value, 1)}"
        marks.append(
            Mark(
                f"{one.name}{beyond}",
                (value - scale.worst) / across,
                (plan.highest - height) / down,
                (stands.high - stands.low) / 2 / abs(across),
                (high - low) / 2 / down,
                600 if one.supports else 400,
            )
        )
        drawn.append(one)
    places = place_labels(marks, plan.width, plan.height, RADIUS, _lines(plan, scale))
    for mark, one, place in zip(marks, drawn, places, strict=True):
        if place is not None:
            x, y = scale.worst + place[0] * across, plan.highest - place[1] * down
            colour = BLUE if one.supports else INK
            axes.text(x, y, mark.text, ha="center", va="center", color=colour, weight=mark.weight, zorder=5)


def _ends(found: Estimate) -> tuple[float, float]:
    return found.value if found.low is None else found.low, found.value if found.high is None else found.high


def _disc(axes: Axes, x: float, y: float, across: float, down: float, colour: str, share: float | None) -> None:
    """The ring of the minimum sample size and in it the disc of what was reached; dotted when that is not known."""
    style = "-" if share is not None else (0, (1, 1.2))
    ring = Ellipse((x, y), 2 * RADIUS * across, 2 * RADIUS * down, fc="white", ec=colour, lw=1, ls=style, zorder=3)
    axes.add_patch(ring)
    ring.set_clip_on(False)
    if share is not None:
        radius = RADIUS * math.sqrt(share)
        disc = Ellipse((x, y), 2 * radius * across, 2 * radius * down, fc=colour, ec="none", zorder=4)
        axes.add_patch(disc)
        disc.set_clip_on(False)


def _lines(plan: Layout, scale: Scale) -> Floats:
    """Points in mm along the frame and the band limits that a label should not cross."""
    down = plan.highest / plan.height
    x = (scale.cuts[0] - scale.worst) / (scale.best - scale.worst) * plan.width
    y = (plan.highest - bands.SUPPORT) / down
    parts = [
        np.column_stack((np.full(60, x), np.linspace(y, plan.height, 60))),
        np.column_stack((np.linspace(x, plan.width, 60), np.full(60, y))),
    ]
    for upper in bands.SIMILARITY:
        if upper != bands.SUPPORT and upper < plan.highest:
            level = np.full(60, (plan.highest - upper) / down)
            parts.append(np.column_stack((np.linspace(0, plan.width, 60), level)))
    return np.concatenate(parts)


def _strip(drawn: Figure, evidence: Evidence, placed: Sequence[Placed], plan: Layout, index: int, scale: Scale) -> None:
    """The sites of unknown similarity as rows under the panel, on the panel's scale."""
    unknown = [one for one in placed if one.similarity is None][: plan.rows]
    top = TOP + plan.height + 7.0
    axes = panel(drawn, plan.x(index), top, plan.width, plan.strip - 7.0)
    height = (plan.strip - 7.0) / LINE
    axes.set_xlim(scale.worst, scale.best)
    axes.set_ylim(height, 0)
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    _background(axes, scale, (0, height))
    _scale_ticks(axes, scale, plan, labelled=True)
    across = abs(scale.best - scale.worst) / plan.width
    for row, one in enumerate(unknown):
        stands = standing(evidence, one.site, scale)
        if stands is None:
            x = (scale.worst + scale.cuts[0]) / 2
            axes.text(x, row + 0.5, "absent", ha="center", va="center_baseline", color=INK_2)
            continue
        axes.plot([stands.low, stands.high], [row + 0.5] * 2, color=MID, lw=1, zorder=2)
        _disc(axes, scale.clipped(stands.value), row + 0.5, across, 1 / LINE, MID, stands.share)


def _strip_names(drawn: Figure, placed: Sequence[Placed], plan: Layout) -> None:
    unknown = [one for one in placed if one.similarity is None]
    top = TOP + plan.height + 7.0
    write(drawn, 0, top - 3.2, "Similarity unknown", weight=600)
    for row, one in enumerate(unknown[: plan.rows]):
        write(drawn, 0, top + (row + 0.5) * LINE, one.name)
    if len(unknown) > plan.rows:
        rest = f"and {len(unknown) - plan.rows} more"
        write(drawn, 0, top + (plan.rows + 0.5) * LINE, rest, color=INK_2)


@figure("External performance diagram")
def external_performance(evidence: Evidence) -> Picture | Absent:
    """How well the model does at every site, against how much the site resembles the data it was developed on."""
    with styled():
        drawn = draw_diagram(evidence)
        if isinstance(drawn, Absent):
            return drawn
        placed = placed_sites(evidence)
        caption = (
            f"{patients(externals(evidence))}. Lower is less like the development data; further right is better. In "
            f"the frame: similarity below {bands.SUPPORT:g} and acceptable or better. A ring is the minimum sample "
            f"size, the disc in it the share reached. Ellipses: {level_text(evidence)} intervals of both. Dark and "
            "bold: supports from outside."
        )
        if is_crowded(placed):
            caption = caption.replace("Ellipses:", "Ellipses (of those only that support):")
            caption += " Numbers: order of the tables."
        return picture("external_performance", drawn, caption, _alternative(placed))


def _alternative(placed: Sequence[Placed]) -> str:
    """The finding: which sites support the model from outside, and of how many the similarity is unknown."""
    known = [one for one in placed if one.similarity is not None]
    supports = [one.site.site for one in placed if one.supports]
    unlike = [one for one in known if one.similarity is not None and one.similarity.value < bands.SUPPORT]
    who = joined(supports) if supports else "no site"
    verb = "supports" if len(supports) <= 1 else "support"
    if not unlike:
        who, verb = "no site", f"has similarity below {bands.SUPPORT:g}, so none supports"
    text = f"{who[0].upper()}{who[1:]} {verb} the model from outside"
    if unlike:
        text += f", of {sites_word(len(unlike))} with similarity below {bands.SUPPORT:g}"
    unknown = len(placed) - len(known)
    if unknown:
        text += f"; the similarity of {sites_word(unknown)} is unknown"
    return f"{text}."
