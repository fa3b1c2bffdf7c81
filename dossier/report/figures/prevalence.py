"""What a flag and no flag would mean in a hospital where the outcome is rarer, or more frequent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from dossier.core import bands, facts, register, types
from dossier.report.figures import canvas, captions, data, facets, ink, marks, placing
from dossier.typeset import labels, widths
from dossier.typeset.numbers import per_cent, threshold

HEIGHTS, WIDTH, LEFT, TOP = (25.0, 33.0, 41.0), 64.0, 13.0, 2.4
KEY_TO_PANELS = 1.0
WIDEST_NAME, DISC, NEAR = 30.0, 0.8, 2.0
"""The longest name at a disc, half of the disc, and how far a name may stand from its disc, in mm."""


@dataclass(frozen=True)
class Flagging:
    """What a flag and no flag meant at a site at the primary threshold, and how frequent cases are there."""

    site: types.DatasetSummary
    prevalence: float
    own: tuple[types.Estimate | types.Absent, types.Estimate | types.Absent]
    """Its PPV and NPV, as they were found there."""
    band: types.Curve | None
    """What both would be where cases are rarer or more frequent, where that is known."""

    def between(self, which: int) -> tuple[types.Floats, types.Floats, types.Floats]:
        """Prevalences, with the PPV (0) or NPV (1) at each if sensitivity and specificity stayed, and if the case mix
        shifted; none without a band."""
        if self.band is None:
            return np.empty(0), np.empty(0), np.empty(0)
        noun = ("ppv", "npv")[which]
        across, same, shifted = (
            data.column(self.band, name) for name in ("prevalence", f"{noun}_same", f"{noun}_shifted")
        )
        return across, same, shifted


def flaggings(evidence: types.Evidence) -> list[Flagging] | types.Absent:
    """The external sites whose predictive values are estimated at the primary threshold.

    Sites with too few events or non-events are left out, those with protected counts, and those with sampling weights
    without a band: how frequent cases are there is not the share of events in their rows.
    """
    at = evidence.release.thresholds.primary
    if at is None:
        return types.Absent(facts.Fact("release_declares_no_threshold"))
    found: list[Flagging] = []
    reason = facts.Fact("few_at_every_site", fewest=facts.Count(bands.FEW_FOR_POOLING, "patient"))
    for site in types.externals(evidence):
        ppv, npv = (types.find(evidence, name, site.name, threshold=at) for name in ("ppv", "npv"))
        curve = types.find_curve(evidence, "predictive_values", site.name)
        band = curve if isinstance(curve, types.Curve) else None
        if isinstance(ppv, types.Absent) and isinstance(npv, types.Absent):
            reason = ppv.reason
        elif site.weighted and isinstance(curve, types.Absent):
            reason = curve.reason
        elif site.minimum_cell:
            reason = facts.Fact("not_given_where_protected", below=site.minimum_cell)
        elif site.left:
            reason = facts.Fact("curve_without_follow_up")
        elif site.prevalence is not None and not site.is_few:
            # Of weighted rows that among those whom they stand for.
            own = None if band is None else data.column(band, "prevalence")[np.argmax(data.column(band, "own"))]
            found.append(Flagging(site, float(own or site.prevalence), (ppv, npv), band))
    return found or types.Absent(reason)


@dataclass(frozen=True)
class Labelled:
    """The labels at the discs of a panel: each disc, and the centre of its label in mm, None without room."""

    marks: tuple[placing.Mark, ...]
    spots: tuple[tuple[float, float] | None, ...]

    @property
    def is_clear(self) -> bool:
        """Whether every disc has the box of its label close by."""
        for mark, spot in zip(self.marks, self.spots, strict=True):
            if spot is None:
                return False
            away = np.maximum(np.abs(np.array(spot) - (mark.x, mark.y)) - placing.label_half(mark.text), 0)
            if np.hypot(*away) > NEAR:
                return False
        return True


def _labels(found: Sequence[Flagging], names: Sequence[str], which: int, high: float) -> Labelled:
    """Where the names stand in the panel of PPV (0) or NPV (1), so many mm high."""
    discs = tuple(
        placing.Mark(name, flagging.prevalence * WIDTH, (1 - own.value) * high)
        for flagging, name in zip(found, names, strict=True)
        if isinstance(own := flagging.own[which], types.Estimate)
    )
    lines = [(across, line) for across, *both in (each.between(which) for each in found) for line in both]
    strokes = [
        placing.resampled(across[known] * WIDTH, (1 - line[known]) * high)
        for across, line in lines
        if (known := ~np.isnan(line)).any()
    ]
    # A letter stands at its disc, be it on a line.
    nearby = np.concatenate(strokes) if strokes and max(map(len, names)) > 2 else np.empty((0, 2))
    return Labelled(discs, placing.place_labels(discs, WIDTH, high, DISC, nearby))


def _lettered(found: Sequence[Flagging], letters: Sequence[str]) -> tuple[float, list[Labelled]]:
    """The lowest panels at which every disc has its letter, and where the letters stand; else the highest."""
    for high in HEIGHTS:
        labels = [_labels(found, letters, which, high) for which in (0, 1)]
        if not any(None in label.spots for label in labels):
            break
    return high, labels


@canvas.figure("Predictive values by prevalence")
def predictive_values_by_prevalence(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How often a flag and no flag were right at each site, and between which values they would be elsewhere."""
    found = register.present(flaggings(evidence))
    # The names and lines of many sites would cover each other.
    is_many = len(found) >= bands.MANY_SITES
    names = widths.shortened([flagging.site.site for flagging in found], WIDEST_NAME)
    high = HEIGHTS[0]
    placed = [Labelled((), ()) if is_many else _labels(found, names, which, high) for which in (0, 1)]
    key: list[list[facets.Key]] = []
    if not all(label.is_clear for label in placed):
        letter = labels.letters(evidence)
        letters = [letter[flagging.site.name] for flagging in found]
        high, placed = _lettered(found, letters)
        whole = widths.shortened([flagging.site.site for flagging in found], canvas.FULL - LEFT - 2 * facets.KEY_GAP)
        entries = [facets.Key(f"{letter}  {name}", "", mark="") for letter, name in zip(letters, whole, strict=True)]
        key = facets.key_lines(entries, canvas.FULL - LEFT - facets.KEY_GAP)
    top = TOP + (canvas.LINE * len(key) + KEY_TO_PANELS if key else 0.0)
    drawn = canvas.sheet(canvas.FULL, top + high + 9.6)
    facets.key(drawn, LEFT, TOP, key, canvas.LINE)
    for which, noun in enumerate(("PPV, %", "NPV, %")):
        x = LEFT + which * (WIDTH + 22.0)
        axes = canvas.panel(drawn, x, top, WIDTH, high)
        for flagging in canvas.of_each(drawn, found, lambda each: each.site):
            _curve(axes, flagging, which, is_many)
        for mark, spot in zip(placed[which].marks, placed[which].spots, strict=True):
            if spot is not None:
                axes.text(*axes.point(spot), mark.text, ha="center", va="center", zorder=4)
        quarters, words = [0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"]
        for direction in canvas.BOTH:
            canvas.ticks(axes, direction, quarters, words)
        canvas.turned(drawn, x - 11.0, top + high / 2, noun)
        axes.titles("Prevalence, %", below=7.2)
    caption = captions.said(
        "predictive_values_by_prevalence",
        evidence,
        [flagging.site for flagging in found],
        at=threshold(evidence.release.thresholds.primary or 0),
        beside=not is_many,
        few=any(site.is_few for site in types.externals(evidence)),
        without=captions.joined([each.site.site for each in found if each.band is None and not is_many]),
    )
    return canvas.Drawn(drawn, caption, f"As found, PPV {_spread(found, 0)} and NPV {_spread(found, 1)}.")


def _curve(axes: Axes, flagging: Flagging, which: int, is_many: bool) -> None:
    """What was found at a site; of few sites with its interval, and the band between both assumptions."""
    there = flagging.own[which]
    if flagging.band and not is_many:
        across, same, shifted = flagging.between(which)
        axes.fill_between(across, same, shifted, color=ink.BAND, lw=0, alpha=0.5, zorder=0.5)
        axes.plot(across, same, color=ink.MID, lw=0.8, dashes=(3, 2), zorder=1)
        axes.plot(across, shifted, color=ink.MID, lw=0.8, zorder=1)
    if isinstance(there, types.Absent):
        return
    if not is_many and there.low is not None and there.high is not None:
        axes.plot([flagging.prevalence] * 2, [there.low, there.high], color=ink.BLUE, lw=1.0, zorder=2)
    marks.dot(axes, flagging.prevalence, there.value, "o", 4.4, ink.BLUE, gid=flagging.site.name)


def _spread(found: list[Flagging], which: int) -> str:
    """The range over the sites of what was found of PPV (0) or NPV (1)."""
    known = sorted(own.value for flagging in found if isinstance(own := flagging.own[which], types.Estimate))
    if not known:
        return "not defined"
    low, high = per_cent(known[0]), per_cent(known[-1])
    return low if low == high else f"{low} to {high}"
