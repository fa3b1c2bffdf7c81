"""Pictures of net benefit: decision curves of all sites together and of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.facts import Count, Fact
from dossier.figures.canvas import (
    BAND,
    BLUE,
    BROKEN,
    FULL,
    HALF,
    INK,
    INK_2,
    KEY_LINE,
    LABEL_HEIGHT,
    Floats,
    Key,
    Lattice,
    column,
    head,
    headed,
    inner_ticks,
    is_clear,
    joined,
    key_lines,
    key_row,
    lattice,
    left_out,
    level_text,
    panel,
    patients,
    picture,
    place_on_line,
    primary_threshold,
    resampled,
    row_of,
    say_why,
    sheet,
    shortened,
    shown_sites,
    sites_word,
    styled,
    text_width,
    tick_text,
    ticks,
    write,
)
from dossier.register import figure
from dossier.types import (
    POOLED,
    Absent,
    Curve,
    DatasetSummary,
    Estimate,
    Evidence,
    Picture,
    externals,
    externals_with,
    find,
    find_curve,
)
from dossier.typeset.numbers import number
from dossier.typeset.reasons import reason_text
from dossier.typeset.words import counted

EVERYONE_DASH = (0, (4, 2))
Dash = tuple[float, tuple[float, ...]]
RIVAL_DASHES: tuple[Dash, ...] = ((0, (1, 1)), (0, (5, 1.2, 1, 1.2)), (0, (2.5, 1)))
"""The lines of the first other models; those of more could not be told apart."""
WIDEST_RIVAL = 60.0
"""How much of the key the name of another model may take, in mm."""


@dataclass(frozen=True)
class Chosen:
    """The decision curve that stands for the whole study, and whose it is."""

    curve: Curve
    whose: str
    sites: tuple[DatasetSummary, ...]


def chosen_curve(evidence: Evidence, name: str = "decision_curve") -> Chosen | Absent:
    """All sites that have a curve of that name together, or else the first of them."""
    sites = externals_with(evidence, name)
    together = find_curve(evidence, f"{name}_all_sites", POOLED)
    if isinstance(together, Curve):
        every = len(externals(evidence))
        return Chosen(together, "all sites" if len(sites) == every else f"{len(sites)} of {every} sites", sites)
    for site in sites:
        alone = find_curve(evidence, name, site.name)
        if isinstance(alone, Curve):
            return Chosen(alone, site.site, (site,))
    return Absent(Fact("no_site_with_decision_curve"))


def per_hundred(curve: Curve, name: str) -> Floats:
    """Net benefit per 100 patients."""
    return column(curve, name) * 100


def benefit_limits(curves: list[Curve], primary: float | None = None) -> tuple[float, float]:
    """The ends of the axis of net benefit: all of the model where it helps, a strip below zero where it does not.

    The net benefit at the primary threshold is in view, however great the loss.
    """
    tops, bottoms = [], []
    for curve in curves:
        tops += [np.nanmax(per_hundred(curve, name)) for name in ("net_benefit", "high", "treat_all")]
        bottoms.append(np.nanmin(per_hundred(curve, "low")))
    top = max(float(max(tops)), 0.05)
    rows = [] if primary is None else [(curve, row_of(curve, "threshold", primary)) for curve in curves]
    marked = [float(per_hundred(curve, "net_benefit")[row]) for curve, row in rows if row is not None]
    bottom = max(min(float(min(bottoms)), -0.18 * top), -0.5 * top)
    least = min((value for value in marked if not np.isnan(value)), default=0.0)
    return min(bottom, least - 0.08 * (top - least) if least < 0 else 0.0), top * 1.03


def with_room_above(limits: tuple[float, float], curve: Curve, height: float) -> tuple[float, float]:
    """The ends of the axis in a panel of that height in mm; raised where the model runs so high that no name fits."""
    bottom, top = limits
    needed = 2 * LABEL_HEIGHT
    lowest = float(np.nanmin(per_hundred(curve, "net_benefit")))
    if (top - lowest) / (top - bottom) * height >= needed:
        return limits
    highest = float(np.nanmax(per_hundred(curve, "high")))
    return bottom, bottom + (highest - bottom) / (1 - (LABEL_HEIGHT + 2.0) / height)


def drawn_rivals(evidence: Evidence, sites: Sequence[DatasetSummary]) -> dict[str, Dash]:
    """The first other models, as many as can be told apart, that have a line at any of these sites, with their dash."""
    every = dict(zip((rival.name for rival in evidence.release.rivals), RIVAL_DASHES, strict=False))
    curves = {name: [find_curve(evidence, "decision_curve", one.name, model=name) for one in sites] for name in every}
    return {name: dash for name, dash in every.items() if any(isinstance(one, Curve) for one in curves[name])}


def false_alarms(threshold: float) -> str:
    """How many false alarms a threshold accepts for one case that is not missed: the odds against it."""
    if threshold <= 0:
        return "–"
    odds = (1 - threshold) / threshold
    if odds >= 1.95 or abs(odds - 1) < 0.05:
        return number(odds, 0)
    return number(odds, 1 if odds > 1 else 2)


def threshold_ticks(low: float, high: float, primary: float | None, width: float, most: int = 5) -> list[float]:
    """The primary threshold, the ends of the range, and round numbers between them where there is room."""
    room = (1.5 * text_width(threshold_text(high, low, high)) + 0.5) / width * (high - low)
    kept = [primary] if primary is not None and low <= primary <= high else []
    wanted = [low, high, *inner_ticks(low, high, most)]
    for place in wanted:
        if all(abs(place - other) >= room for other in kept) and len(kept) < most + 1:
            kept.append(place)
    return sorted(kept)


def threshold_text(value: float, low: float, high: float) -> str:
    """A threshold with as many digits as its range needs."""
    return tick_text(value) if value in (0, 1) else number(value, 2 if high - low > 0.1 else 3)


def lines_on(axes: Axes, curve: Curve, width: float = 1.5) -> None:
    """The model with its band, flagging everyone, and flagging no one."""
    threshold = column(curve, "threshold")
    axes.fill_between(threshold, per_hundred(curve, "low"), per_hundred(curve, "high"), color=BAND, lw=0, zorder=1)
    axes.axhline(0, color=INK, lw=0.8, zorder=1.5)
    axes.plot(threshold, per_hundred(curve, "treat_all"), color=INK_2, lw=1, ls=EVERYONE_DASH, zorder=2)
    axes.plot(threshold, per_hundred(curve, "net_benefit"), color=BLUE, lw=width, zorder=3)


DECISION_HEIGHT, WIDE_HEIGHT = 33.5, 40.0
"""The heights of the panels of the decision curves of all sites, in mm."""


def draw_decision(evidence: Evidence) -> Figure | Absent:
    """The decision curve of all sites together, or of the only one, at half the width of the page."""
    chosen = chosen_curve(evidence)
    if isinstance(chosen, Absent):
        return chosen
    curve = chosen.curve
    threshold = column(curve, "threshold")
    low, high = float(threshold[0]), float(threshold[-1])
    drawn = sheet(HALF, 51.0)
    bottom, top = with_room_above(benefit_limits([curve], primary_threshold(evidence)), curve, DECISION_HEIGHT)
    # A loss just above the corner would stand on the first threshold.
    least = bottom + (top - bottom) * 0.07
    places = [place for place in inner_ticks(bottom, top, 5) if place >= min(least, 0)]
    texts = [tick_text(place) for place in places]
    left = 5.6 + max((text_width(text) for text in texts), default=0.0)
    width, height = HALF - left - max(4.6, text_width(threshold_text(high, low, high)) / 2 + 0.3), DECISION_HEIGHT
    axes = panel(drawn, left, 2.0, width, height)
    lines_on(axes, curve)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom, top)
    ticks(axes, "y", places, texts)
    primary = primary_threshold(evidence)
    marks = threshold_ticks(low, high, primary, width)
    ticks(axes, "x", marks, [threshold_text(mark, low, high) for mark in marks])
    for mark in marks:
        x = left + (mark - low) / (high - low) * width
        write(drawn, x, 43.8, false_alarms(mark), ha="center", color=INK_2)
    title = "Threshold risk; below, false alarms per miss"
    write(drawn, min(left + width / 2, HALF - text_width(title) / 2 - 0.2), 48.4, title, ha="center")
    write(drawn, 1.9, 2 + height / 2, "Net benefit per 100", rotation=90, ha="center", va="center")
    _label_lines(axes, curve, primary, (width, height), (low, high, bottom, top))
    return drawn


def _label_lines(
    axes: Axes,
    curve: Curve,
    primary: float | None,
    size: tuple[float, float],
    limits: tuple[float, float, float, float],
) -> None:
    """The names of the lines and the value at the primary threshold, each where nothing is in its way."""
    width, height = size
    low, high, bottom, top = limits
    across = (column(curve, "threshold") - low) / (high - low) * width

    def down(values: Floats) -> Floats:
        return np.asarray((top - values) / (top - bottom) * height)

    lines = {name: resampled(across, down(per_hundred(curve, name))) for name in ("net_benefit", "treat_all")}
    model, everyone = lines["net_benefit"], lines["treat_all"]
    nobody = resampled(np.array([0, width]), down(np.zeros(2)))
    taken: list[tuple[float, float, float, float]] = []
    row = None if primary is None else row_of(curve, "threshold", primary)
    drop = np.empty((0, 2))
    if primary is not None and row is not None:
        value = float(per_hundred(curve, "net_benefit")[row])
        axes.plot([primary, primary], [bottom, min(value, top)], color=INK_2, lw=0.7, ls=BROKEN, zorder=2)
        drop = resampled(np.full(2, across[row]), np.array([height, float(down(np.array([min(value, top)]))[0])]))
        text = f"{number(value, 1)} at {threshold_text(primary, low, high)}"
        _mark(axes, (primary, value), text, (everyone, nobody, model), taken, size, limits)
    band = [resampled(across, down(per_hundred(curve, edge))) for edge in ("low", "high")]
    rest = (drop, *band)
    wanted: list[tuple[tuple[str, ...], Floats, Floats, str, int, float]] = [
        (("Model",), model, np.concatenate((everyone, nobody, *rest)), BLUE, 600, 0.35),
        (("Flag everyone", "Everyone"), everyone, np.concatenate((model, nobody, *rest)), INK_2, 400, 0.85),
        (("Flag no one", "No one"), nobody, np.concatenate((model, everyone, *rest)), INK, 400, 0.0),
    ]
    for texts, line, others, colour, weight, prefer in wanted:
        spots = [(text, place_on_line(text, line, others, taken, size, weight, prefer)) for text in texts]
        standing = [(text, spot) for text, spot in spots if spot is not None]
        clear = [(text, spot) for text, spot in standing if is_clear(text, spot, line, others, weight)]
        for text, spot in (clear or standing)[:1]:
            _put(axes, text, spot, size, limits, colour, weight)
            taken.append((*spot, text_width(text, weight) / 2 + 0.5, LABEL_HEIGHT / 2))


def _mark(
    axes: Axes,
    point: tuple[float, float],
    text: str,
    others: Sequence[Floats],
    taken: list[tuple[float, float, float, float]],
    size: tuple[float, float],
    limits: tuple[float, float, float, float],
) -> None:
    """A ring on the model's line with its number beside it, when both have room in the panel."""
    low, high, bottom, top = limits
    x, y = point
    if not (low <= x <= high and bottom <= y <= top):
        return
    axes.plot([x], [y], "o", ms=5 if size[0] > 45 else 4, mfc="white", mec=BLUE, mew=1.2, zorder=4, clip_on=False)
    centre = np.array([[(x - low) / (high - low) * size[0], (top - y) / (top - bottom) * size[1]]])
    spot = place_on_line(text, centre, np.concatenate(others), taken, size, 600, apart=False)
    if spot is not None:
        _put(axes, text, spot, size, limits, BLUE, 600)
        taken.append((*spot, text_width(text, 600) / 2 + 0.5, LABEL_HEIGHT / 2))


def _put(
    axes: Axes,
    text: str,
    spot: tuple[float, float],
    size: tuple[float, float],
    limits: tuple[float, float, float, float],
    colour: str,
    weight: int,
) -> None:
    low, high, bottom, top = limits
    x = low + spot[0] / size[0] * (high - low)
    y = top - spot[1] / size[1] * (top - bottom)
    axes.text(x, y, text, ha="center", va="center", color=colour, weight=weight, zorder=5)


def decision_caption(evidence: Evidence) -> str:
    """What to know about the one decision curve: whose, n, band, how to read."""
    chosen = chosen_curve(evidence)
    if isinstance(chosen, Absent):
        return reason_text(chosen.reason)
    return (
        f"{chosen.whose[0].upper()}{chosen.whose[1:]}: {patients(chosen.sites)}; {level_text(evidence)} band. "
        "Higher is better; the model helps where it lies above both other lines."
    )


def decision_alternative(evidence: Evidence) -> str:
    """The finding of the decision curve: net benefit at the primary threshold beside the two other policies."""
    chosen = chosen_curve(evidence)
    primary = primary_threshold(evidence)
    if isinstance(chosen, Absent):
        return reason_text(chosen.reason)
    curve = chosen.curve
    threshold = column(curve, "threshold")
    row = None if primary is None else row_of(curve, "threshold", primary)
    if row is None:
        row = len(threshold) // 2
    place = float(threshold[row])
    model, everyone = (float(per_hundred(curve, name)[row]) for name in ("net_benefit", "treat_all"))
    return (
        f"Decision curve of {chosen.whose}: at a threshold of {number(place)} the model has a net benefit of "
        f"{number(model, 1)} per 100 patients, flagging everyone {number(everyone, 1)}, flagging no one 0."
    )


def site_curve(evidence: Evidence, site: DatasetSummary) -> Curve | Absent:
    """The decision curve of a site; where nobody has the outcome there is nothing to gain, and the panel says so."""
    if site.events == 0:
        return Absent(Fact("no_patient_has_outcome", patients=Count(site.n, "patient")))
    return find_curve(evidence, "decision_curve", site.name)


def gain(curve: Curve, name: str = "net_benefit") -> Floats:
    """How much more net benefit per 100 patients a curve has than the better of flagging everyone and no one."""
    return per_hundred(curve, name) - np.maximum(per_hundred(curve, "treat_all"), 0.0)


def gain_limits(curves: Sequence[Curve], primary: float | None) -> tuple[float, float]:
    """The ends of the one scale: the greatest gain of any site, and losses as far down as gains reach up.

    The loss at the primary threshold is in view, however great.
    """
    top = max(max(float(np.nanmax(gain(curve))) for curve in curves), 1.0) * 1.1
    lowest = min(float(np.nanmin(gain(curve))) for curve in curves)
    rows = [] if primary is None else [(curve, row_of(curve, "threshold", primary)) for curve in curves]
    marked = [float(gain(curve)[row]) for curve, row in rows if row is not None]
    bottom = max(lowest * 1.1, -top) if lowest < -0.15 * top else -0.15 * top
    return min(bottom, 1.1 * min((value for value in marked if not np.isnan(value)), default=0.0)), top


def draw_decision_panels(evidence: Evidence) -> Figure | Absent:
    """The gain over the better default at every external site, all on one scale, the declared thresholds marked."""
    shown, _ = shown_sites(evidence, FULL)
    curves = {site.name: site_curve(evidence, site) for site in shown}
    known = [curve for curve in curves.values() if isinstance(curve, Curve)]
    if not known:
        return Absent(Fact("no_site_with_decision_curve"))
    primary = primary_threshold(evidence)
    limits = gain_limits(known, primary)
    width = HALF if len(shown) == 1 else FULL
    low = min(float(column(curve, "threshold")[0]) for curve in known)
    high = max(float(column(curve, "threshold")[-1]) for curve in known)
    plan = _panels_grid(len(shown), width, limits)
    key = key_lines(_key(width, drawn_rivals(evidence, shown)), width - plan.left)
    grid, heads = headed(replace(plan, top=plan.top + KEY_LINE * (len(key) - 1)), shown)
    odds = grid.width >= 30
    drawn = sheet(width, grid.bottom + (13.8 if odds else 9.6))
    for line, entries in enumerate(key):
        key_row(drawn, grid.left, 2.4 + KEY_LINE * line, entries)
    marks = threshold_ticks(low, high, primary, grid.width - 2, 3 if grid.width < 45 else 5)
    if not odds:
        marks = [low, high]
    for place, site in enumerate(shown):
        x, y = grid.corner(place)
        head(drawn, grid, place, heads[place])
        axes = panel(drawn, x, y, grid.width, grid.height)
        curve = curves[site.name]
        axes.set_xlim(low, high)
        axes.set_ylim(*limits)
        outer = grid.outer_bottom(place)
        words = [threshold_text(mark, low, high) if outer else "" for mark in marks]
        ticks(axes, "x", marks, words, inward=True)
        if outer and odds and place >= grid.columns * (grid.rows - 1):
            _odds_row(drawn, marks, (low, high), x, grid.width, grid.bottom + 7.0)
        if isinstance(curve, Absent):
            say_why(evidence, axes, grid, curve)
            continue
        _benefit_ticks(axes, limits, grid, grid.outer_left(place))
        _gain_lines(axes, evidence, site, curve, (grid.width, grid.height), (low, high, *limits))
    title = "Threshold risk; below, false alarms per miss" if odds else "Threshold risk"
    write(drawn, (grid.left + grid.right) / 2, grid.bottom + (11.6 if odds else 7.2), title, ha="center")
    middle = (grid.top + grid.bottom) / 2
    short = grid.bottom - grid.top < text_width("Gain per 100 patients")
    write(drawn, 2.0, middle, "Gain" if short else "Gain per 100 patients", rotation=90, ha="center", va="center")
    return drawn


def _panels_grid(count: int, width: float, limits: tuple[float, float]) -> Lattice:
    """The panels; the numbers of the scale stand left of the first of each row."""
    widest = max(text_width(tick_text(tick)) for tick in inner_ticks(*limits, 5))
    shape = 0.78 if count <= 24 else 0.7
    return lattice(count, width, left=6.0 + widest, top=11.5, gap_x=5.0, gap_y=6.8, tallest=38, shape=shape)


def _benefit_ticks(axes: Axes, limits: tuple[float, float], grid: Lattice, labelled: bool) -> None:
    """The ticks of net benefit: zero and the top one always have their number, the others where there is room."""
    places = inner_ticks(*limits, 5)
    room = LABEL_HEIGHT / grid.height * (limits[1] - limits[0])
    kept: list[float] = []
    for place in sorted(places, key=lambda one: (one != 0, -one)):
        if all(abs(place - other) >= room for other in kept):
            kept.append(place)
    ticks(axes, "y", places, [tick_text(place) if labelled and place in kept else "" for place in places])


def _gain_lines(
    axes: Axes,
    evidence: Evidence,
    site: DatasetSummary,
    curve: Curve,
    size: tuple[float, float],
    limits: tuple[float, float, float, float],
) -> None:
    """The gain of one site, its interval at the declared thresholds, and the number at the primary one."""
    low, high, bottom, top = limits
    threshold = column(curve, "threshold")

    def line(values: Floats, along: Floats) -> Floats:
        return resampled((along - low) / (high - low) * size[0], (top - values) / (top - bottom) * size[1])

    zero = resampled(np.array([0, size[0]]), np.full(2, top / (top - bottom) * size[1]))
    others = [line(gain(curve), threshold), zero]
    axes.axhline(0, color=INK, lw=0.8, zorder=1.5)
    for rival, dash in drawn_rivals(evidence, [site]).items():
        of_rival = find_curve(evidence, "decision_curve", site.name, model=rival)
        if isinstance(of_rival, Curve):
            axes.plot(column(of_rival, "threshold"), gain(of_rival), color=INK, lw=1.2, ls=dash, zorder=2.5)
            others.append(line(gain(of_rival), column(of_rival, "threshold")))
    axes.plot(threshold, gain(curve), color=BLUE, lw=1.4, zorder=3, gid="gain")
    for at in evidence.release.thresholds.declared:
        found = find(evidence, "net_benefit_gain", site.name, threshold=at)
        if low <= at <= high and isinstance(found, Estimate) and found.low is not None and found.high is not None:
            axes.plot([at, at], [found.low * 100, found.high * 100], color=BLUE, lw=1.0, zorder=2.8)
            ends = np.clip((top - np.array([found.low, found.high]) * 100) / (top - bottom) * size[1], 0, size[1])
            others.append(resampled(np.full(2, (at - low) / (high - low) * size[0]), ends))
    primary = primary_threshold(evidence)
    row = None if primary is None else row_of(curve, "threshold", primary)
    if primary is not None and row is not None and size[0] >= NARROWEST_WITH_NUMBER:
        value = float(gain(curve)[row])
        _mark(axes, (primary, value), number(value, 1), others, [], size, limits)


NARROWEST_WITH_NUMBER = 24.0
"""In panels narrower than this, in mm, the gain at the primary threshold is left to the table."""


def _key(width: float, rivals: Mapping[str, Dash]) -> list[Key]:
    """What the lines of the panels stand for."""
    entries = [Key("model", BLUE), Key("the better of flagging everyone and no one", INK, "-", 0.8)]
    if width == HALF:
        entries[1] = Key("better default", INK, "-", 0.8)
    names = shortened(tuple(rivals), WIDEST_RIVAL) if rivals else ()
    return entries + [Key(name, INK, dash, 1.2) for name, dash in zip(names, rivals.values(), strict=True)]


def _odds_row(drawn: Figure, marks: list[float], limits: tuple[float, float], x: float, width: float, y: float) -> None:
    low, high = limits
    for mark in marks:
        side = "left" if mark == low else "right" if mark == high else "center"
        write(drawn, x + (mark - low) / (high - low) * width, y, false_alarms(mark), ha=side, color=INK_2)


@figure("Decision curve by site")
def decision_by_site(evidence: Evidence) -> Picture | Absent:
    """What acting on the model gains over flagging everyone or no one, threshold by threshold, at every site."""
    with styled():
        drawn = draw_decision_panels(evidence)
        if isinstance(drawn, Absent):
            return drawn
        shown, left = shown_sites(evidence, FULL)
        known = [curve for site in shown if isinstance(curve := site_curve(evidence, site), Curve)]
        caption = (
            f"{patients(shown)}. Above zero the model does more good than the better of flagging everyone and no one."
            f"{marked(evidence, known)}{_rivals_left_out(evidence, shown)}{left_out(left, 'see the tables')}"
        )
        return picture("decision_by_site", drawn, caption, by_site_alternative(evidence), by_site_message(evidence))


def _rivals_left_out(evidence: Evidence, shown: Sequence[DatasetSummary]) -> str:
    """How many other models are not drawn, if any."""
    more = len(evidence.release.rivals) - len(drawn_rivals(evidence, shown))
    return f" Not drawn: {counted(more, 'other model')}." if more else ""


def marked(evidence: Evidence, known: Sequence[Curve]) -> str:
    """What the caption says about the marks and the end of the scale."""
    text = ""
    if evidence.release.thresholds.declared:
        text = f" Vertical: {level_text(evidence)} intervals at the declared thresholds"
        primary = primary_threshold(evidence)
        shown, _ = shown_sites(evidence, FULL)
        width = HALF if len(shown) == 1 else FULL
        wide = _panels_grid(len(shown), width, gain_limits(known, primary)).width >= NARROWEST_WITH_NUMBER
        if primary is not None and wide and any(row_of(curve, "threshold", primary) is not None for curve in known):
            text += f"; ring and number: at {number(primary)}"
        text += "."
    bottom, _ = gain_limits(known, primary_threshold(evidence))
    if min(float(np.nanmin(gain(curve))) for curve in known) < bottom:
        text += " Greater losses lie below the scale."
    return text


def _gains(evidence: Evidence, primary: float | None) -> list[tuple[float, str]]:
    """The gain per 100 of each site at the primary threshold, the lowest first."""
    if primary is None:
        return []
    found = [(find(evidence, "net_benefit_gain", one.name, threshold=primary), one) for one in externals(evidence)]
    return sorted((one.value * 100, site.site) for one, site in found if isinstance(one, Estimate))


def by_site_message(evidence: Evidence) -> str:
    """The gain at its extremes; nothing where none could be estimated."""
    primary = primary_threshold(evidence)
    known = _gains(evidence, primary)
    if not known or primary is None:
        return ""
    (low, first), (high, last) = known[0], known[-1]
    if len(known) == 1:
        return f"At {number(primary)} the gain over the better default in {first} is {number(low, 1)} per 100 patients."
    return (
        f"At {number(primary)} the gain over the better default runs from {number(low, 1)} ({first}) to "
        f"{number(high, 1)} ({last}) per 100 patients."
    )


def by_site_alternative(evidence: Evidence) -> str:
    """The finding of the curves: the gain at its extremes, and where one would do better without the model."""
    primary = primary_threshold(evidence)
    said = by_site_message(evidence)
    if not said or primary is None:
        where = sites_word(len(externals(evidence)))
        return f"Gain in net benefit over the better default, threshold by threshold, at {where}."
    return f"{said}{_better_without(evidence, primary)}"


def _better_without(evidence: Evidence, at: float) -> str:
    """Where flagging everyone, or no one, gains more than the model at a threshold."""
    everyone: list[str] = []
    no_one: list[str] = []
    for site in externals(evidence):
        curve = site_curve(evidence, site)
        row = row_of(curve, "threshold", at) if isinstance(curve, Curve) else None
        if row is None or isinstance(curve, Absent):
            continue
        model, all_flagged = (float(column(curve, name)[row]) for name in ("net_benefit", "treat_all"))
        if max(all_flagged, 0.0) > model:
            (everyone if all_flagged > 0 else no_one).append(site.site)
    text = f" Flagging everyone gains more in {joined(everyone)}." if everyone else ""
    return f"{text} Flagging no one gains more in {joined(no_one)}." if no_one else text


# ---- a little further than the declared range -----------------------------------------------------------------------


# ---- net benefit and H-accuracy side by side ------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """One of the utilities: the curve and the column that hold it, its name in the key, its look."""

    curve: str
    column: str
    name: str
    colour: str
    dash: Any
    width: float
