"""Pictures of net benefit: what acting on the model gains at each site, threshold by threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.core import facts, multiplicity, register, types
from dossier.report.figures import canvas, captions, data, facets, ink, marks, placing
from dossier.typeset import widths
from dossier.typeset.numbers import number, threshold

Dash = tuple[float, tuple[float, ...]]
RIVAL_DASHES: tuple[Dash, ...] = ((0, (1, 1)), (0, (5, 1.2, 1, 1.2)), (0, (2.5, 1)))
"""The lines of the first other models; those of more could not be distinguished."""
WIDEST_RIVAL = 60.0
"""How much of the key the name of another model may take, in mm."""


def drawn_rivals(evidence: types.Evidence, sites: Sequence[types.DatasetSummary]) -> dict[str, Dash]:
    """As many other models as differ enough that have a line at any of these sites, with their dash: those first that
    are shown to be better somewhere.
    """
    better = {
        each.at.get("against")
        for each in types.find_all(evidence, "net_benefit_difference")
        if isinstance(each.found, types.Estimate)
        if multiplicity.beside_rival(each.measure, each.found) == "against"
    }
    names = sorted((rival.name for rival in evidence.release.rivals), key=lambda name: name not in better)
    every = dict(zip(names, RIVAL_DASHES, strict=False))
    curves = {
        name: [types.find_curve(evidence, "decision_curve", site.name, model=name) for site in sites] for name in every
    }
    return {name: dash for name, dash in every.items() if any(isinstance(curve, types.Curve) for curve in curves[name])}


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
    room = (1.5 * widths.text_width(threshold_text(high, low, high)) + 0.5) / width * (high - low)
    first = [primary] if primary is not None and low <= primary <= high else []
    return sorted(canvas.apart([low, high, *canvas.inner_ticks(low, high, most)], lambda *_: room, first)[: most + 1])


def threshold_text(value: float, low: float, high: float) -> str:
    """A threshold with as many digits as its range needs, and its distance from 0 and 1."""
    if value in (0, 1):
        return canvas.tick_text(value)
    digits = range(2 if high - low > 0.1 else 3, 17)
    return number(value, next(each for each in digits if round(value, each) not in (0, 1)))


def site_curve(evidence: types.Evidence, site: types.DatasetSummary) -> types.Curve | types.Absent:
    """The decision curve of a site; where nobody has the outcome there is nothing to gain, and the panel says so."""
    if site.events == 0:
        return types.Absent(facts.Fact("no_patient_has_outcome", patients=facts.Count(site.n, "patient")))
    return types.find_curve(evidence, "decision_curve", site.name)


def per_100(curve: types.Curve, name: str) -> types.Floats:
    """A column of net benefits, per 100 patients."""
    return 100 * data.column(curve, name)


def benefit_limits(curves: Sequence[types.Curve], primary: float | None) -> tuple[float, float]:
    """The ends of the one scale: all that the bands reach above, and losses of the model down to as much below zero.

    The loss at the primary threshold is in view, however great, and a little of what lies beyond. The line of flagging
    everyone leaves the scale below, as it does wherever decision curves are drawn.
    """
    top = max(max(float(np.nanmax(per_100(curve, name))) for curve in curves for name in ("high", "treat_all")), 1.0)
    lowest = min(float(np.nanmin(per_100(curve, "net_benefit"))) for curve in curves)
    marked = [at[0] for curve in curves if (at := _at_primary(curve, primary)) is not None and not np.isnan(at[0])]
    return max(min(lowest * 1.1, -0.15 * top), min(-top, 1.3 * min(marked, default=0.0))), top * 1.05


def draw_decision_panels(evidence: types.Evidence, width: float = canvas.FULL) -> Figure | types.Absent:
    """The decision curve of every external site beside flagging everyone and no one, all on one scale."""
    shown, _ = facets.shown_sites(evidence, width)
    found = [(site, site_curve(evidence, site)) for site in shown]
    known = facets.known(found)
    if not known:
        return types.Absent(facts.Fact("no_site_with_decision_curve"))
    primary = evidence.release.thresholds.primary
    limits = benefit_limits(known, primary)
    width = canvas.HALF if len(shown) == 1 else width
    low = min(float(data.column(curve, "threshold")[0]) for curve in known)
    high = max(float(data.column(curve, "threshold")[-1]) for curve in known)
    # The numbers of the scale stand left of the first panel of each row.
    left = 6.0 + max(widths.text_width(canvas.tick_text(tick)) for tick in canvas.inner_ticks(*limits, 5))
    shape = 0.78 if len(shown) <= 24 else 0.7
    is_large = width == canvas.FULL and len(shown) <= facets.MOST_LARGE
    tallest = (42.0 if len(shown) <= 2 else 24.0) if is_large else 25.0
    plan = facets.lattice(
        len(shown), width, left=left, top=11.5, gap_x=5.0, gap_y=6.8, tallest=tallest, shape=shape, is_large=is_large
    )
    key = facets.key_lines(_key(width, drawn_rivals(evidence, shown)), width - plan.left)
    plan = replace(plan, top=plan.top + facets.KEY_LINE * (len(key) - 1))
    # Under the name of the site, as on the curve the gain would cover what it names; left to the table where narrow.
    gains = None
    if plan.width >= NARROWEST_WITH_NUMBER and primary is not None:
        values = [_at_primary(curve, primary) for _, curve in found]
        gains = ["" if value is None else f"gain {number(value[1], 1)} at {threshold(primary)}" for value in values]
    odds = plan.width >= 30
    plot = facets.Multiples.of(plan, shown, 13.8 if odds else 9.6, width, gains)
    grid, drawn = plot.grid, plot.sheet
    facets.key(drawn, grid.left, 2.4, key)
    most = 3 if grid.width < 45 else 5
    steps = threshold_ticks(low, high, primary, grid.width - 2, most) if odds else [low, high]

    def scale(axes: canvas.Panel, index: int) -> None:
        axes.set(xlim=(low, high), ylim=limits)
        words = [threshold(mark) if mark == primary else threshold_text(mark, low, high) for mark in steps]
        if not odds and sum(map(widths.text_width, words)) + 1.5 > grid.width:
            # Too narrow for both ends: the outer panels of a row have one each.
            words = [words[0] if index % grid.columns == 0 else "", words[1] if index % grid.columns else ""]
        canvas.ticks(axes, "x", steps, words, labelled=grid.outer_bottom(index), inward=True)
        if grid.outer_bottom(index) and odds and index >= grid.columns * (grid.rows - 1):
            for mark in steps:
                side = "left" if mark == low else "right" if mark == high else "center"
                x = axes.x + (mark - low) / (high - low) * grid.width
                canvas.write(drawn, x, grid.bottom + 7.0, false_alarms(mark), ha=side, color=ink.INK_2)

    for index, site, axes, curve in plot.each(evidence, found, scale):
        _benefit_ticks(axes, grid.outer_left(index))
        _lines(axes, evidence, site, curve)
    title = "Threshold risk; below, false alarms per miss" if odds else "Threshold risk"
    # Beside low panels the title runs on above and below them: without its unit nobody could read a 20.
    middle, (_, foot) = (grid.top + grid.bottom) / 2, canvas.extent(drawn)
    has_room = widths.text_width("Net benefit per 100 patients") <= 2 * min(middle, foot - middle)
    plot.titles(title, "Net benefit per 100 patients" if has_room else "Net benefit", 11.6 if odds else 7.2)
    return drawn


def _benefit_ticks(axes: canvas.Panel, labelled: bool) -> None:
    """The ticks of net benefit: zero has its number, the others where there is room."""
    low, high = axes.get_ylim()
    places = canvas.inner_ticks(low, high, 5)
    room = placing.LABEL_HEIGHT / axes.height * (high - low)
    kept = canvas.evenly(places, 0, lambda one, two: places[two] - places[one] >= room)
    texts = [canvas.tick_text(position) if index in kept else "" for index, position in enumerate(places)]
    canvas.ticks(axes, "y", places, texts, labelled=labelled)


def _lines(axes: Axes, evidence: types.Evidence, site: types.DatasetSummary, curve: types.Curve) -> None:
    """The model with its band, flagging everyone and no one, other models, and the gain at the primary threshold."""
    at = data.column(curve, "threshold")
    axes.fill_between(at, per_100(curve, "low"), per_100(curve, "high"), color=ink.BAND, lw=0, zorder=1)
    axes.axhline(0, color=ink.INK, lw=0.8, zorder=1.5)
    axes.plot(at, per_100(curve, "treat_all"), color=ink.INK_2, lw=0.8, zorder=1.5, gid="everyone")
    for rival, dash in drawn_rivals(evidence, [site]).items():
        of_rival = types.find_curve(evidence, "decision_curve", site.name, model=rival)
        if isinstance(of_rival, types.Curve):
            line = data.column(of_rival, "threshold"), per_100(of_rival, "net_benefit")
            axes.plot(*line, color=ink.INK, lw=1.2, ls=dash, zorder=2.5)
    axes.plot(at, per_100(curve, "net_benefit"), color=ink.BLUE, lw=1.4, zorder=3, gid="model")
    primary = evidence.release.thresholds.primary
    if primary is not None and (known := _at_primary(curve, primary)) is not None:
        value, gain = known
        axes.plot([primary, primary], [value - gain, value], color=ink.ALERT, lw=1.0, zorder=2.8)
        marks.ring(axes, (primary, value), 4)


def _at_primary(curve: types.Curve | types.Absent, primary: float | None) -> tuple[float, float] | None:
    """The net benefit per 100 patients at the primary threshold, and how much more that is than the better default."""
    row = None if primary is None or isinstance(curve, types.Absent) else data.row_of(curve, "threshold", primary)
    if row is None or isinstance(curve, types.Absent):
        return None
    value = float(per_100(curve, "net_benefit")[row])
    return value, value - max(float(per_100(curve, "treat_all")[row]), 0.0)


NARROWEST_WITH_NUMBER = 24.0
"""In panels narrower than this, in mm, the gain at the primary threshold is left to the table."""


def _key(width: float, rivals: Mapping[str, Dash]) -> list[facets.Key]:
    """What the lines of the panels stand for."""
    everyone, nobody = ("everyone", "no one") if width == canvas.HALF else ("flagging everyone", "flagging no one")
    entries = [facets.Key("model", ink.BLUE), facets.Key(everyone, ink.INK_2, "-", 0.8)]
    entries.append(facets.Key(nobody, ink.INK, "-", 0.8))
    names = widths.shortened(tuple(rivals), WIDEST_RIVAL) if rivals else ()
    return entries + [facets.Key(name, ink.INK, dash, 1.2) for name, dash in zip(names, rivals.values(), strict=True)]


@canvas.figure("Decision curve by site")
def decision_by_site(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """What acting on the model gains over flagging everyone or no one, threshold by threshold, at every site."""
    return printed_panels(evidence, canvas.FULL)


def printed_panels(evidence: types.Evidence, width: float) -> canvas.Drawn:
    """The decision curves of the sites with their words."""
    drawn = register.present(draw_decision_panels(evidence, width))
    shown, left = facets.shown_sites(evidence, width)
    known = facets.known((site, site_curve(evidence, site)) for site in shown)
    not_drawn = captions.models_left_out(evidence, drawn_rivals(evidence, shown))
    words = f"{marked(evidence, known)}{not_drawn}{captions.left_out(left, 'see the tables')}"
    caption = f"{captions.patients(shown)}; {words}"
    return canvas.Drawn(drawn, caption, by_site_alternative(evidence), by_site_message(evidence))


def marked(evidence: types.Evidence, known: Sequence[types.Curve]) -> str:
    """What the caption says about the lines, the marks and the end of the scale."""
    primary = evidence.release.thresholds.primary
    bottom, _ = benefit_limits(known, primary)
    rows = [None if primary is None else data.row_of(curve, "threshold", primary) for curve in known]
    return captions.said(
        "net_benefit",
        evidence,
        ring="" if primary is None or set(rows) <= {None} else threshold(primary),
        beyond=min(float(np.nanmin(per_100(curve, "net_benefit"))) for curve in known) < bottom,
    )


def by_site_message(evidence: types.Evidence) -> str:
    """The gain at its extremes, of those whose panel is no gap; nothing where none could be estimated."""
    primary = evidence.release.thresholds.primary
    sites = [site for site in types.externals(evidence) if isinstance(site_curve(evidence, site), types.Curve)]
    known, few = ([], "") if primary is None else data.ranked(evidence, "net_benefit_gain", sites, threshold=primary)
    if not known or primary is None:
        return ""
    ends = captions.ends(known, lambda value: number(100 * value, data.digits_of_benefit(evidence)))
    return f"At {threshold(primary)} the gain over the better default per 100 patients: {ends}{few}."


def by_site_alternative(evidence: types.Evidence) -> str:
    """The finding of the curves: the gain at its extremes, and where one would do better without the model."""
    primary = evidence.release.thresholds.primary
    said = by_site_message(evidence)
    if not said or primary is None:
        where = captions.sites_word(len(types.externals(evidence)))
        return f"Gain in net benefit over the better default, threshold by threshold, at {where}."
    return f"{said}{_better_without(evidence, primary)}"


def _better_without(evidence: types.Evidence, at: float) -> str:
    """Where flagging everyone, or no one, is shown to gain more than the model at a threshold."""
    gains = types.estimated(evidence, "net_benefit_gain", threshold=at)
    better = multiplicity.better_than_the_model((site.site, gain) for site, gain in gains)
    return "".join(f" Flagging {whom} gains more in {captions.joined(where)}." for whom, where in better.items())
