"""Fagan's nomogram: how a flag, and no flag, move the probability of the outcome at each site."""

from __future__ import annotations

import numpy as np

from dossier.core import facts, multiplicity, types
from dossier.report.figures import canvas, captions, data, facets, ink, marks
from dossier.typeset.names import ends_of_range
from dossier.typeset.numbers import per_cent, threshold

PROBABILITIES = (0.5, 0.01, 0.99, 0.05, 0.95, 0.2, 0.8, 0.001, 0.999)
RATIOS = (1.0, 0.01, 100.0, 0.1, 10.0)
"""What is numbered on the scales, where there is room for all the first ones first."""
HIGH, GAP_X, LEFT, MOST_SITES = 36.0, 8.0, 14.0, 24
"""A panel and the gap between two, in mm, and how many sites are drawn."""
ANSWERS = {"positive": (ink.BLUE, "-", "flagged"), "negative": (ink.INK_2, ink.BROKEN, "not flagged")}
"""How the line of each answer looks, and what it is called; the mark of no flag is open, its interval thinner."""


def _log_odds(probability: types.Floats) -> types.Floats:
    """The scale of the outer axes; what is certain has no place on it."""
    with np.errstate(divide="ignore"):
        found = np.log(probability) - np.log1p(-probability)
    return np.where(np.isfinite(found), found, np.nan)


@canvas.figure("Fagan's nomogram by site")
def fagan_nomogram_by_site(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """From the probability before, by the likelihood ratio of a flag or of none, to the probability after."""
    every = [(site, types.find_curve(evidence, "fagan_nomogram", site.name)) for site in types.externals(evidence)]
    known = [(site, curve) for site, curve in every if isinstance(curve, types.Curve)]
    if not known:
        return facets.why_nowhere(
            evidence, "fagan_nomogram", facts.Fact("not_estimated_at_any_site", what="likelihood ratios")
        )
    found = known[:MOST_SITES]
    names = ("before", "after_positive", "after_negative")
    reach = [_log_odds(data.column(curve, name)) for _, curve in found for name in names]
    end = max(float(_log_odds(np.array([0.99]))[0]), float(np.nanmax(np.abs(np.concatenate(reach)))) + 0.2)
    columns = min(len(found), 4 if len(found) <= 8 else 6)
    wide = min((canvas.FULL - LEFT - 8.0 - GAP_X * (columns - 1)) / columns, 44.0)
    grid = facets.Lattice(len(found), columns, wide, HIGH, LEFT, 10.0, GAP_X, 9.0)
    plot = facets.Multiples.of(grid, [site for site, _ in found], 5.0, canvas.FULL)
    for index, (site, curve) in enumerate(found):
        axes = plot.panel(index)
        axes.set(xlim=(0, 1), ylim=(-end, end))
        axes.axis("off")
        _axes(
            axes, end, labelled=plot.grid.outer_left(index), last=(index + 1) % columns == 0 or index + 1 == len(found)
        )
        _paths(axes, curve, site.name)
    keys = [facets.Key(text, colour, dash) for colour, dash, text in ANSWERS.values()]
    keys.append(facets.Key("a likelihood ratio of 1: nothing learnt", ink.RULE, width=0.8))
    facets.key(plot.sheet, 0.0, 1.8, [keys])
    canvas.turned(plot.sheet, 2.0, (plot.grid.top + plot.grid.bottom) / 2, "Probability before, %")
    at = evidence.release.thresholds.declared
    left = captions.left_out(len(every) - len(known), "not estimable")
    left += captions.left_out(len(known) - len(found), "in results.json")
    drawn_at, sites = captions.joined([threshold(each) for each in at]), [site for site, _ in found]
    caption = captions.said("fagan_nomogram", evidence, sites, at=drawn_at, left=left)
    ends, few = ends_of_range(known, against=multiplicity.sites_against(evidence, "net_benefit_gain"))
    after = {name: [(data.column(curve, f"after_{name}")[0], site.site) for site, curve in ends] for name in ANSWERS}
    said = [f"{text} {_spread(after[name])}" for name, (_, _, text) in ANSWERS.items()]
    message = f"The probability of the outcome at {threshold(at[0])}: {'; '.join(said)}{few}."
    return canvas.Drawn(plot.sheet, caption, message)


def _spread(after: list[tuple[float, str]]) -> str:
    """The lowest and the highest probability, each with its site; once where all are printed alike."""
    known = [pair for pair in after if not np.isnan(pair[0])]
    return captions.ends(known, per_cent) if known else "at no site"


def _axes(axes: canvas.Panel, end: float, labelled: bool, last: bool) -> None:
    """The three scales, numbered at the outer sides of a row of panels."""
    outer, shares = _log_odds(np.array(PROBABILITIES)), [f"{100 * each:g}" for each in PROBABILITIES]
    scales = (
        (0.0, -outer, shares, "right", labelled),
        (0.5, np.log(RATIOS) / 2, [canvas.tick_text(each) for each in RATIOS], "right", labelled),
        (1.0, outer, shares, "left", last),
    )
    room = canvas.LINE / axes.height * 2 * end
    for x, places, texts, side, numbered in scales:
        axes.plot([x, x], [-end, end], color=ink.INK_2, lw=0.5, clip_on=False)
        away = 1.6 / axes.width * (-1 if side == "right" else 1)
        text_at = dict(zip(places.tolist(), texts, strict=True))
        for place in canvas.apart([each for each in text_at if abs(each) <= end], lambda *_: room):
            axes.plot([x, x + away / 2], [place] * 2, color=ink.INK_2, lw=0.5, clip_on=False)
            if numbered:
                text = axes.text(
                    x + away, place, text_at[place], ha=side, va="center_baseline", color=ink.INK_2, zorder=5
                )
                # The lines cross the middle scale: its numbers stand before them.
                text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.3})


def _paths(axes: canvas.Panel, curve: types.Curve, name: str) -> None:
    """A line an answer and threshold, the first threshold thick, and that of a test which tells nothing."""
    before = _log_odds(data.column(curve, "before"))
    axes.plot([0, 1], [-before[0], before[0]], color=ink.RULE, lw=0.8, zorder=1, clip_on=False)
    for answer, (colour, dash, _) in ANSWERS.items():
        flag = answer == "positive"
        after, low, high = (_log_odds(data.column(curve, f"after_{answer}{bound}")) for bound in ("", "_low", "_high"))
        for row in range(len(before)):
            if np.isnan(after[row]):
                continue
            width, gid = (1.3, f"{answer}-{name}") if row == 0 else (0.6, None)
            axes.plot([0, 1], [-before[row], after[row]], color=colour, ls=dash, lw=width, gid=gid, clip_on=False)
            if row == 0:
                axes.plot([1, 1], [low[row], high[row]], color=colour, lw=2.2 if flag else 1.0)
                marks.dot(axes, 1.0, float(after[row]), "o", 3.4, colour, filled=flag)
