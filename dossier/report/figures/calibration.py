"""Pictures of calibration: the smooth curve of each site, and the forest of the O/E ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.core import bands, facts, multiplicity, register, types
from dossier.report.figures import canvas, captions, data, facets, ink, marks, risks
from dossier.typeset import widths
from dossier.typeset.names import all_events, ends_of_range, events_of
from dossier.typeset.numbers import number, per_cent, threshold


def curve_end(curves: Sequence[types.Curve | types.Absent]) -> float:
    """The round end of the common axes: no further than the risks and the curves reach."""
    columns = [data.column(curve, name) for curve in curves if isinstance(curve, types.Curve) for name in REACHING]
    reached = max((float(np.nanmax(column)) for column in columns if len(column)), default=0.0)
    return canvas.ceiling(reached) if reached > 0 else 1.0


REACHING = ("risk", "observed")
"""The columns of a curve that its axes hold."""


def draw_curve(axes: Axes, curve: types.Curve, end: float, broken: bool, width: float = 1.4) -> None:
    """The band, the diagonal and the curve; broken where it is imprecise."""
    risk = data.column(curve, "risk")
    marks.band(axes, curve, "risk")
    axes.plot([0, end], [0, end], color=ink.RULE, lw=0.7, zorder=1.5)
    axes.plot(
        risk, data.column(curve, "observed"), color=ink.BLUE, lw=width, ls=ink.BROKEN_CURVE if broken else "-", zorder=2
    )


def draw_groups(axes: Axes, groups: types.Curve | types.Absent | None, end: float) -> None:
    """A point with its interval for each tenth of the patients; a point beyond the axis is an arrow at its edge."""
    if not isinstance(groups, types.Curve):
        return
    columns = np.array([data.column(groups, name) for name in ("mean_risk", "observed", "low", "high")])
    risk, observed, low, high = columns[:, columns[0] <= end]
    axes.vlines(risk, low, high, ink.INK, lw=0.6)
    inside, above = observed <= end, observed > end
    looks: dict[str, Any] = {"mfc": ink.INK, "ls": "none", "zorder": 3, "clip_on": False}
    axes.plot(risk[inside], observed[inside], "o", ms=3.2, mec="white", mew=0.3, **looks)
    axes.plot(risk[above], np.full(above.sum(), end), "^", ms=3.4, mec="none", **looks)


def draw_calibration(evidence: types.Evidence, width: float) -> Figure | types.Absent:
    """The calibration curves of the external sites on common axes; at full width with O/E, slope and the gap."""
    found = facets.shown_curves(evidence, width, "calibration_curve")
    curves, shown = [curve for _, curve in found], [site for site, _ in found]
    if not facets.known(found):
        withheld = (curve for curve in curves if isinstance(curve, types.Withheld))
        return next(withheld, types.Absent(facts.Fact("no_site_with_calibration_curve")))
    end = curve_end(curves)
    if len(shown) == 1 and width == canvas.FULL:
        return _draw_alone(evidence, shown[0], facets.known(found)[0], end)
    whole = has_groups(len(shown), width)
    scale = strip_scale(evidence, end) if whole else None
    # A number in the middle stands beside the title of the axis.
    left = widths.text_width(canvas.tick_text(end / 2 if whole else end)) + (6.6 if whole else 5.4)
    plain = _grid(len(shown), width, max(9.5, left), scale is not None)
    has_facts = has_gap(len(shown), width)
    gaps = [observed_at(evidence, curve) if isinstance(curve, types.Curve) else None for curve in curves]
    lines = ["" if gap is None else f"at {threshold(gap[0], percent=True)}: {per_cent(gap[1])}" for gap in gaps]
    below = lines if has_facts and any(lines) else None
    if whole:
        each = [[f"n {site.n:,}", *([all_events([site])] if events_of(site) else [])] for site in shown]
        fits = all(widths.text_width(", ".join(count)) <= plain.width for count in each)
        counts = [(", " if fits else "\n").join(count) for count in each]
        below = counts if below is None else [f"{count}\n{line}" for count, line in zip(counts, below, strict=True)]
    foot = 9.4 + (STRIP if scale is not None else 0.0)
    plot = facets.Multiples.of(plain, shown, foot, canvas.HALF if width == canvas.HALF else None, below)
    axes_of_each = facets.unit(plot.grid, end, every=whole, across=scale is None)
    for _, site, axes, curve in plot.each(evidence, found, axes_of_each):
        draw_curve(axes, curve, end, site.rarest < bands.FEW_FOR_A_BAND, 1.3 if width == canvas.HALF else 1.5)
        groups = types.find_curve(evidence, "calibration_groups", site.name) if whole else None
        draw_groups(axes, groups, end)
        if has_facts:
            _facts(axes, evidence, site, curve, groups)
        if scale is not None:
            for _ in canvas.of_each(plot.sheet, [site], lambda each: each):
                _strip(axes, evidence, site, scale)
    plot.titles("Estimated risk", "Observed share", foot - 2.2)
    return plot.sheet


def has_groups(panels: int, width: float) -> bool:
    """Whether each panel holds the groups, the risks below and its own numbers, for which small ones have no room."""
    return width == canvas.FULL and panels <= facets.MOST_LARGE


def has_gap(panels: int, width: float) -> bool:
    """Whether the gap at the primary threshold has room, with its number above each panel."""
    return width == canvas.FULL and _grid(panels, width, 9.5, False).width >= NARROWEST_WITH_GAP


def _strip(axes: canvas.Panel, evidence: types.Evidence, site: types.DatasetSummary, scale: risks.Scale) -> None:
    """Below a panel the distribution of the risks: events upwards, the others downwards, on the panel's own scale."""
    end = scale.end
    below = canvas.panel(axes.sheet, axes.x, axes.y + axes.height + 1.4, axes.width, STRIP - 1.4, (0, end))
    below.spines["left"].set_visible(False)
    canvas.ticks(below, "x", [0, end / 2, end], inward=True)
    for distribution in facets.known([(site, types.find_curve(evidence, "risk_distribution", site.name))]):
        risks.mirrored(below, site, distribution, scale)


NARROWEST_WITH_GAP, NARROWEST_WITH_FACTS = 20.0, 28.0
"""In panels narrower than this, in mm, a gap has no number above it, or numbers hide the curve."""
FACT_LINE = 3.9
"""The height of a line of text in mm."""


def _facts(
    axes: canvas.Panel,
    evidence: types.Evidence,
    site: types.DatasetSummary,
    curve: types.Curve,
    groups: types.Curve | types.Absent | None,
) -> None:
    """O/E and slope in the corner that the curve and the groups leave free, and the gap at the primary threshold."""
    found = {"O/E": "oe_ratio", "slope": "calibration_slope"}
    values = {label: types.find(evidence, measure, site.name) for label, measure in found.items()}
    lines = [f"{label} {number(each.value)}" for label, each in values.items() if isinstance(each, types.Estimate)]
    end = axes.get_xlim()[1]
    strokes = [np.column_stack((data.column(curve, "risk"), data.column(curve, "observed"))) / end]
    if isinstance(groups, types.Curve):
        rows = [(data.column(groups, "mean_risk"), data.column(groups, name)) for name in ("low", "observed", "high")]
        strokes += [np.column_stack(row) / end for row in rows]
    gap = observed_at(evidence, curve)
    if gap is not None:
        at, share = gap
        axes.plot([at, at], [at, share], color=ink.ALERT, lw=1.0, zorder=2.5)
        marks.dot(axes, at, share, "o", 3.6, ink.ALERT, filled=False, mew=1.0)
        strokes.append(np.linspace((at / end, at / end), (at / end, share / end), 9))
    if axes.width < NARROWEST_WITH_FACTS:
        return
    box = (max(map(widths.text_width, lines), default=0.0) / axes.width, FACT_LINE * len(lines) / axes.height)
    x, y = _free_corner(np.concatenate(strokes), box)
    for index, text in enumerate(reversed(lines)):
        level = y + index * FACT_LINE / axes.height
        looks: dict[str, Any] = {"bbox": {"fc": "white", "ec": "none", "pad": 0.2, "alpha": 0.8}, "zorder": 4}
        axes.text(x + box[0], level, text, transform=axes.transAxes, ha="right", va="bottom", color=ink.INK_2, **looks)


def observed_at(evidence: types.Evidence, curve: types.Curve) -> tuple[float, float] | None:
    """The primary threshold, and how many patients at that risk had the outcome; None where the curve ends before."""
    at = evidence.release.thresholds.primary
    risk, observed = data.column(curve, "risk"), data.column(curve, "observed")
    if at is None or not risk[0] <= at <= risk[-1]:
        return None
    return at, float(np.interp(at, risk, observed))


def _free_corner(points: types.Floats, box: tuple[float, float]) -> tuple[float, float]:
    """Where a box of this width and height hides least: below right, above left, or another corner."""
    corners = [(0.97 - box[0], 0.03), (0.03, 0.97 - box[1]), (0.97 - box[0], 0.97 - box[1]), (0.03, 0.03)]

    def hidden(corner: tuple[float, float]) -> int:
        low, high = np.array(corner) - 0.02, np.array(corner) + box + 0.02
        return int(((points >= low) & (points <= high)).all(axis=1).sum())

    return min(corners, key=hidden)


# ---- all risks and the part where most patients are -----------------------------------------------------------------

LARGE = 68.0
"""The side of a panel when two stand beside each other, in mm."""
TITLE = 6.0
"""The height of the line above the panels, in mm."""
STRIP = 9.4
ROOM_BESIDE = 5.7
"""The widest number in mm that stands between an axis and the words that run along it."""


MOST_PATIENTS = 0.9
MUCH_NEARER = 0.5
"""By how much nearer the end of most patients must lie to be worth a panel of its own."""


def ranges(evidence: types.Evidence, end: float) -> tuple[tuple[float, str], ...]:
    """All that the curves reach, and where most patients have risks much lower also these; each with its title."""
    whole = (end, f"Up to {canvas.tick_text(end)}")
    reached = []
    for curve in data.everywhere(evidence, "risk_distribution"):
        counts = np.nan_to_num(data.column(curve, "events")) + np.nan_to_num(data.column(curve, "non_events"))
        reached.append(float(data.column(curve, "high")[np.cumsum(counts) >= MOST_PATIENTS * counts.sum()][0]))
    near = canvas.ceiling(max(reached, default=1.0))
    title = f"Up to {canvas.tick_text(near)}: {per_cent(MOST_PATIENTS)} of the risks"
    return (whole,) if near > MUCH_NEARER * end else (whole, (near, title))


def _draw_alone(evidence: types.Evidence, site: types.DatasetSummary, curve: types.Curve, end: float) -> Figure:
    """The curve of the only site over all risks that it reaches, and over those of most patients."""
    views, left = ranges(evidence, end), 11.5
    drawn = canvas.sheet(canvas.HALF if len(views) == 1 else canvas.FULL, TITLE + LARGE + STRIP + 9.4)
    canvas.turned(drawn, 2.0, TITLE + LARGE / 2, "Observed share")
    for position, (limit, title) in enumerate(views):
        x = left + position * (canvas.FULL - left - LARGE - 1.0)
        if len(views) > 1:
            canvas.write(drawn, x, TITLE - 3.8, "ab"[position], weight=600)
            canvas.write(drawn, x + 3.2, TITLE - 3.8, title)
        axes = canvas.panel(drawn, x, TITLE, LARGE, LARGE, (0, limit), (0, limit))
        steps = [limit * quarter / 4 for quarter in range(5)]
        words = [canvas.tick_text(step) if index in (0, 2, 4) else "" for index, step in enumerate(steps)]
        # The axes have one scale: a number in the middle that would stand in the words beside it is read below.
        has_room = widths.text_width(words[2]) <= ROOM_BESIDE
        canvas.ticks(axes, "y", steps, words if has_room else [words[0], "", "", "", words[4]], inward=True)
        canvas.ticks(axes, "x", steps, labelled=False)
        axes.titles("Estimated risk", below=STRIP + 7.2)
        draw_curve(axes, curve, limit, site.rarest < bands.FEW_FOR_A_BAND, 1.5)
        draw_groups(axes, types.find_curve(evidence, "calibration_groups", site.name), limit)
        scale = strip_scale(evidence, limit)
        if scale is not None:
            _strip(axes, evidence, site, scale)
    return drawn


def _grid(count: int, width: float, left: float, with_risks: bool) -> facets.Lattice:
    is_large, shape = has_groups(count, width), 1.0
    if is_large:
        gap, gap_y = 3.4 + left / 2, 7.4 + (STRIP + 4.0 if with_risks else 0.0)
        tallest = TALLEST if count <= 2 else TALLEST_OF_SEVERAL
    elif width == canvas.FULL:
        gap, gap_y, tallest = 4.4, 6.6, facets.TALLEST
    else:
        gap, gap_y, tallest, shape = (0.0, 0.0, 52.0, ALONE) if count == 1 else (2.3, 6.6, 29.0, 1.0)
    return facets.lattice(
        count, width, left=left, top=5, gap_x=gap, gap_y=gap_y, tallest=tallest, shape=shape, is_large=is_large
    )


TALLEST, TALLEST_OF_SEVERAL = 64.0, 31.0
"""The most that a panel with groups and risks measures, of two and of more, in mm."""
ALONE = 0.71
"""Height over width of a single panel at half width: it fills the width and leaves the other three their room."""


def strip_scale(evidence: types.Evidence, end: float) -> risks.Scale | None:
    """How the risks below the panels are drawn; None where they all lie in a bin or two of the axis."""
    known = data.everywhere(evidence, "risk_distribution")
    if not known or end < 1.5 * risks.common_step(known):
        return None
    return replace(risks.scale_of(known), end=end, own=True)


def calibration_caption(evidence: types.Evidence, width: float) -> str:
    """What to know about the calibration curves: n, bands, how to read them, which are broken, where the axes end."""
    shown, left = facets.shown_sites(evidence, width)
    end = curve_end([curve for _, curve in facets.shown_curves(evidence, width, "calibration_curve")])
    return captions.said(
        "calibration",
        evidence,
        shown,
        groups=has_groups(len(shown), width),
        ring=ring(evidence, width),
        few=any(site.rarest < bands.FEW_FOR_A_BAND for site in shown),
        below=has_groups(len(shown), width) and strip_scale(evidence, end) is not None,
        end=canvas.tick_text(end) if end < 1 and len(shown) > 1 else "",
        left=captions.left_out(left, "in results.csv"),
    )


def ring(evidence: types.Evidence, width: float) -> str:
    """What the ring and the stroke on a curve are; empty without a threshold or room for them."""
    at, panels = evidence.release.thresholds.primary, len(facets.shown_sites(evidence, width)[0])
    return "" if at is None or panels == 1 or not has_gap(panels, width) else f" Ring, stroke: at {threshold(at)}."


def calibration_alternative(evidence: types.Evidence, width: float) -> str:
    """The finding of the calibration curves, by the O/E ratio, and how steep they are."""
    shown, _ = facets.shown_sites(evidence, width)
    said = observed_over_expected(evidence, shown)
    slopes, _ = data.ranked(evidence, "calibration_slope", shown)
    if not slopes or not data.ranked(evidence, "oe_ratio", shown)[0]:
        return said
    # How steep the curves are tells whether risks are too extreme or not extreme enough.
    return f"{said} Slope: {captions.ends(slopes)}; below 1 high risks are too high and low ones too low."


def observed_over_expected(evidence: types.Evidence, shown: Sequence[types.DatasetSummary]) -> str:
    """How many times as many events there were as expected, from the lowest site to the highest."""
    known, few = data.ranked(evidence, "oe_ratio", shown)
    if not known:
        sites = captions.joined([site.site for site in shown])
        return f"Calibration curves of {sites}; the O/E ratio could not be estimated."
    return f"Calibration: observed over expected events, where 1 is perfect, {captions.ends(known)}{few}."


def printed_calibration(evidence: types.Evidence, width: float) -> canvas.Drawn:
    """The calibration curves with their words."""
    drawn = register.present(draw_calibration(evidence, width))
    message = said_and_seen(evidence, width) if width == canvas.FULL else ""
    caption, alternative = calibration_caption(evidence, width), calibration_alternative(evidence, width)
    return canvas.Drawn(drawn, caption, alternative, message)


def said_and_seen(evidence: types.Evidence, width: float, what: str = "the outcome") -> str:
    """What became of patients at the primary threshold, from the lowest site to the highest; without one, O/E."""
    at = evidence.release.thresholds.primary
    curves = facets.shown_curves(evidence, width, "calibration_curve")
    known, few = ends_of_range(
        [
            (site, gap[1])
            for site, curve in curves
            if isinstance(curve, types.Curve) and (gap := observed_at(evidence, curve)) is not None
        ],
        against=multiplicity.sites_against(evidence, "oe_ratio"),
    )
    if at is None or not known:
        return observed_over_expected(evidence, [site for site, _ in curves])
    ends = captions.ends([(share, site.site) for site, share in known], per_cent)
    return f"Where the model said {threshold(at, percent=True)}, so many had {what} by the curve: {ends}{few}."


@canvas.figure("Calibration by site")
def calibration_by_site(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How often the outcome happened among patients of each risk, at every site, with the risks themselves below."""
    return printed_calibration(evidence, canvas.FULL)
