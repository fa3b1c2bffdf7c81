"""Performance against similarity: does the model do better where the patients resemble those it was developed on?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier import bands
from dossier.facts import Fact
from dossier.figures.canvas import (
    BLUE,
    FULL,
    INK,
    INK_2,
    LABEL_HEIGHT,
    LINE,
    MID,
    RULE,
    Floats,
    Mark,
    inner_ticks,
    interval,
    joined,
    level_text,
    panel,
    patients,
    picture,
    place_labels,
    resampled,
    sheet,
    shortened,
    sites_word,
    stands_on_a_line,
    styled,
    text_width,
    tick_text,
    ticks,
    write,
)
from dossier.figures.robustness import Scale, Standing, scales, short_names, standing
from dossier.register import figure
from dossier.types import POOLED, Absent, DatasetSummary, Estimate, Evidence, Picture, externals, find
from dossier.typeset.numbers import number

GAP, LEFT, TOP = 12.5, 9.5, 15.8
WIDTH, HEIGHT = (FULL - LEFT - 2 * GAP - 5.0) / 3, 36.0
RADIUS = 0.8
MOST_NAMED = 12
WIDEST_NAME = 46.0
FURTHEST = 2.4
"""How far a name may stand from its point, in mm: further away it could be another's."""
FEWEST = 3
"""So many sites a correlation needs."""
FEWEST_TICKS, MOST_TICKS = 3, 5
LEAST_BETWEEN = 1.5
"""How far the texts of two ticks stand apart, in mm."""
LEAST_SPAN = 0.1
"""The axis of similarity never spans less."""


@dataclass(frozen=True)
class Point:
    """A site with its similarity and its performance."""

    site: DatasetSummary
    similarity: Estimate
    stands: Standing


def points(evidence: Evidence, scale: Scale) -> tuple[Point, ...]:
    """The sites that have both a similarity and the measure."""
    made = []
    for site in externals(evidence):
        similarity, stands = find(evidence, "correspondence_averaged", site.name), standing(evidence, site, scale)
        if isinstance(similarity, Estimate) and stands is not None:
            made.append(Point(site, similarity, stands))
    return tuple(made)


def correlation(evidence: Evidence, scale: Scale) -> Estimate | Absent:
    """Pearson's r of the measure with the similarity over the sites."""
    return find(evidence, "performance_against_similarity", POOLED, measure=scale.measure)


def draw_against_similarity(evidence: Evidence) -> Figure | Absent:
    """Three panels, one a measure: the sites as points with their intervals, the line through them, and r."""
    three = scales(evidence)
    every = {scale.measure: points(evidence, scale) for scale in three}
    if max(map(len, every.values())) < 2:
        return Absent(Fact("fewer_than_two_similarities"))
    low, high = _ends([end for found in every.values() for one in found for end in _sides(one)])
    labels = _labels(evidence, three, every, (low, high))
    key = _key(labels, externals(evidence))
    drawn = sheet(FULL, TOP + HEIGHT + 10.4 + len(key) * LINE)
    for row, entries in enumerate(key):
        write(drawn, LEFT, TOP + HEIGHT + 12.2 + row * LINE, entries)
    for place, scale in enumerate(three):
        x = LEFT + place * (WIDTH + GAP)
        write(drawn, x - LEFT * 0.9, 2.2, scale.title, weight=600)
        for line, text in enumerate(_told(evidence, scale)):
            write(drawn, x - LEFT * 0.9, 6.4 + 4.0 * line, text, color=INK_2)
        axes = panel(drawn, x, TOP, WIDTH, HEIGHT)
        axes.set_xlim(low, high)
        axes.set_ylim(scale.worst, scale.best)
        ticks(axes, "x", *_across_ticks(low, high))
        _scale_ticks(axes, scale)
        if low < bands.SUPPORT < high:
            axes.axvline(bands.SUPPORT, color=RULE, lw=0.5, zorder=0)
        _line(axes, evidence, scale, every[scale.measure])
        _points(axes, scale, every[scale.measure])
        for text, (x_of, y_of) in labels.spots[place]:
            axes.text(x_of / WIDTH, 1 - y_of / HEIGHT, text, transform=axes.transAxes, **AT_MARK)
    write(drawn, LEFT + (FULL - LEFT) / 2, TOP + HEIGHT + 8.2, "Similarity to the development data", ha="center")
    return drawn


def _sides(one: Point) -> tuple[float, float]:
    """Between which similarities the stroke of a site runs."""
    low, value, high = one.similarity.low, one.similarity.value, one.similarity.high
    return value if low is None else low, value if high is None else high


def _ends(known: Sequence[float]) -> tuple[float, float]:
    """The ends of the common axis of similarity: round the intervals of the sites."""
    low, high = min(known), max(known)
    beyond = max(0.05 * (high - low), (LEAST_SPAN - (high - low)) / 2)
    return max(0.0, low - beyond), min(1.0, high + beyond)


STEPS = (0.2, 0.1, 0.05, 0.02, 0.025, 0.01)
"""The distances at which ticks of similarity may stand, the ones to be preferred first."""


def _across_ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Round similarities, three to five: two do not show a scale. Where all texts would touch every other has one."""
    tries = [
        [round(place * step, 3) for place in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
        for step in STEPS
    ]
    places = next(found for found in tries if FEWEST_TICKS <= len(found) <= MOST_TICKS or found is tries[-1])
    texts = [tick_text(place) for place in places]
    apart = (places[1] - places[0]) / (high - low) * WIDTH
    is_tight = apart < max(map(text_width, texts)) + LEAST_BETWEEN
    return places, [text if not is_tight or order % 2 == 0 else "" for order, text in enumerate(texts)]


def _ticks(places: Sequence[float]) -> tuple[Sequence[float], list[str]]:
    return places, [tick_text(place) for place in places]


def _scale_ticks(axes: Axes, scale: Scale) -> None:
    """Round numbers up the panel, the best end at the top."""
    low, high = sorted((scale.worst, scale.best))
    ticks(axes, "y", *_ticks(inner_ticks(low, high, 5)))


def _told(evidence: Evidence, scale: Scale) -> tuple[str, ...]:
    """The correlation with its interval and the number of sites, in two lines; or that there is none."""
    found = correlation(evidence, scale)
    if isinstance(found, Absent):
        if len(points(evidence, scale)) < FEWEST:
            return ("r needs three sites",)
        if found.reason.code == "same_at_every_site":
            return ("no r: the same at every site",)
        known = [one.title for one in scales(evidence) if isinstance(correlation(evidence, one), Estimate)]
        return (f"r is computed of {joined(known)} only",) if known else ("r is not known",)
    sites = sites_word(round(found.details.get("k") or 0))
    if found.low is None or found.high is None:
        return (f"r {number(found.value)}, {sites}", "no interval")
    return (f"r {number(found.value)}, {sites}", f"{level_text(evidence)} CI {interval(found.low, found.high)}")


def _line(axes: Axes, evidence: Evidence, scale: Scale, shown: Sequence[Point]) -> None:
    """The straight line through the sites, as far as they reach; thin, because it is no more than a description."""
    found = correlation(evidence, scale)
    ends = line_ends(found, shown)
    if ends is not None:
        axes.plot(*ends, color=INK_2, lw=0.7, ls=(0, (3, 2)), zorder=1)


def line_ends(found: Estimate | Absent, shown: Sequence[Point]) -> tuple[list[float], list[float]] | None:
    """Where the line through the sites begins and ends."""
    if isinstance(found, Absent) or not shown:
        return None
    slope, intercept = found.details.get("slope"), found.details.get("intercept")
    if slope is None or intercept is None:
        return None
    across = [min(one.similarity.value for one in shown), max(one.similarity.value for one in shown)]
    return across, [intercept + slope * one for one in across]


def _points(axes: Axes, scale: Scale, shown: Sequence[Point]) -> None:
    """The sites with both intervals."""
    crowded = len(shown) > MOST_NAMED
    looks: dict[str, Any] = {"color": RULE if crowded else MID, "lw": 0.5 if crowded else 0.7, "zorder": 2}
    for one in shown:
        x, y = one.similarity.value, scale.clipped(one.stands.value)
        axes.plot([x, x], [scale.clipped(one.stands.low), scale.clipped(one.stands.high)], **looks)
        axes.plot(_sides(one), [y, y], **looks)
        axes.plot([x], [y], "o", ms=4.2, mfc=BLUE, mec="white", mew=0.5, color=BLUE, clip_on=False, zorder=3)


# ---- names at the points --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Labels:
    """What stands at the points of each panel and where (mm from its top left corner), and what the letters mean."""

    spots: tuple[tuple[tuple[str, tuple[float, float]], ...], ...]
    letters: Mapping[str, str]
    """The letter of each dataset; none where every name stands at its point, or where there are too many."""


AT_MARK: Mapping[str, Any] = {"ha": "center", "va": "center", "color": INK, "zorder": 5}


def _labels(
    evidence: Evidence,
    three: Sequence[Scale],
    every: Mapping[str, Sequence[Point]],
    ends: tuple[float, float],
) -> Labels:
    """The names where each has room at its own point in every panel; else a letter at each point."""
    shown = dict.fromkeys(one.site.name for found in every.values() for one in found)
    if len(shown) > MOST_NAMED:
        return Labels(((),) * len(three), {})
    names = short_names(externals(evidence))
    found = [_near(evidence, scale, every[scale.measure], ends, names) for scale in three]
    if all(spot is not None for panel_of in found for _, spot in panel_of):
        return Labels(tuple(map(_kept, found)), {})
    letters = dict(zip(shown, ascii_lowercase, strict=False))
    found = [_placed(evidence, scale, every[scale.measure], ends, letters)[0] for scale in three]
    return Labels(tuple(map(_kept, found)), letters)


Spots = list[tuple[str, tuple[float, float] | None]]


def _kept(found: Spots) -> tuple[tuple[str, tuple[float, float]], ...]:
    return tuple((text, spot) for text, spot in found if spot is not None)


def _placed(
    evidence: Evidence, scale: Scale, shown: Sequence[Point], ends: tuple[float, float], texts: Mapping[str, str]
) -> tuple[Spots, list[Mark], Floats]:
    """The places of these texts in a panel, with the marks and the strokes that they keep away from."""
    across, down = (ends[1] - ends[0]) / WIDTH, (scale.worst - scale.best) / HEIGHT
    marks = [
        Mark(
            texts[one.site.name],
            (one.similarity.value - ends[0]) / across,
            (scale.clipped(one.stands.value) - scale.best) / down,
        )
        for one in shown
    ]
    strokes = _strokes(evidence, scale, shown, ends[0], (across, down))
    spots = place_labels(marks, WIDTH, HEIGHT, RADIUS, strokes)
    return list(zip([mark.text for mark in marks], spots, strict=True)), marks, strokes


def _near(
    evidence: Evidence, scale: Scale, shown: Sequence[Point], ends: tuple[float, float], texts: Mapping[str, str]
) -> Spots:
    """The places of these names; None where one would stand on a stroke or away from its point."""
    found, marks, strokes = _placed(evidence, scale, shown, ends, texts)
    return [
        (text, None if spot is None or stands_on_a_line(text, spot, strokes) or gap(mark, spot) > FURTHEST else spot)
        for (text, spot), mark in zip(found, marks, strict=True)
    ]


def gap(mark: Mark, spot: tuple[float, float]) -> float:
    """How far the box of a label is from its mark, in mm."""
    across = max(abs(spot[0] - mark.x) - text_width(mark.text) / 2, 0.0)
    return math.hypot(across, max(abs(spot[1] - mark.y) - LABEL_HEIGHT / 2, 0.0))


def _key(labels: Labels, sites: Sequence[DatasetSummary]) -> list[str]:
    """What the letters stand for, in as many lines as they need."""
    if not labels.letters:
        return []
    names = dict(zip((site.name for site in sites), shortened([site.site for site in sites], WIDEST_NAME), strict=True))
    lines: list[str] = []
    for name, letter in labels.letters.items():
        entry = f"{letter} {names[name]}"
        if lines and text_width(f"{lines[-1]}; {entry}") <= FULL - LEFT:
            lines[-1] = f"{lines[-1]}; {entry}"
        else:
            lines.append(entry)
    return lines


def _strokes(
    evidence: Evidence, scale: Scale, shown: Sequence[Point], left: float, millimetre: tuple[float, float]
) -> Floats:
    """Points in mm along the line and the intervals, which a name should not cross."""
    segments = [
        ([one.similarity.value] * 2, [scale.clipped(one.stands.low), scale.clipped(one.stands.high)]) for one in shown
    ]
    ends = line_ends(correlation(evidence, scale), shown)
    segments += [
        (
            [end for end in (one.similarity.low, one.similarity.high) if end is not None],
            [scale.clipped(one.stands.value)] * 2,
        )
        for one in shown
        if one.similarity.low is not None and one.similarity.high is not None
    ]
    segments += [] if ends is None else [ends]
    drawn = [
        resampled((np.array(x) - left) / millimetre[0], (np.array(y) - scale.best) / millimetre[1], 0.5)
        for x, y in segments
    ]
    return np.concatenate([np.empty((0, 2)), *drawn])


@figure("Performance against similarity")
def performance_by_similarity(evidence: Evidence) -> Picture | Absent:
    """Whether the model does better at the sites whose patients resemble those it was developed on."""
    with styled():
        drawn = draw_against_similarity(evidence)
        if isinstance(drawn, Absent):
            return drawn
        return picture("performance_by_similarity", drawn, _caption(evidence), _alternative(evidence))


def _caption(evidence: Evidence) -> str:
    every = {one.site.name: one.site for scale in scales(evidence) for one in points(evidence, scale)}
    sites = [site for site in externals(evidence) if site.name in every]
    nameless = " Too many sites for their names." if len(sites) > MOST_NAMED else ""
    text = (
        f"{patients(sites)} at {sites_word(len(sites))}. Up is better; strokes are {level_text(evidence)} intervals."
        f"{_correlated(evidence)}{nameless}"
    )
    left = [site.site for site in externals(evidence) if site.name not in every]
    return f"{text} Similarity unknown: {joined(left, 3)}." if left else text


def _correlated(evidence: Evidence) -> str:
    """What r and the broken line are, where there are any; for the Brier score only where it has one."""
    known = [scale for scale in scales(evidence) if isinstance(correlation(evidence, scale), Estimate)]
    if not known:
        return ""
    has_brier = any(scale.measure == "brier" for scale in known)
    brier = "; for the Brier score it is negative where likeness helps" if has_brier else ""
    text = f" r: correlation of the sites{brier}."
    is_drawn = any(line_ends(correlation(evidence, one), points(evidence, one)) is not None for one in known)
    return f"{text} Broken: least squares." if is_drawn else text


def _alternative(evidence: Evidence) -> str:
    """The correlation of each measure, with its interval and number of sites."""
    told = []
    for scale in scales(evidence):
        found = correlation(evidence, scale)
        if isinstance(found, Estimate):
            ends = interval(found.low, found.high, joint=" to ")
            told.append(f"{number(found.value)} ({ends}) for {scale.noun}")
    if not told:
        count = max(len(points(evidence, scale)) for scale in scales(evidence))
        why = "too few for a correlation" if count < FEWEST else "no correlation can be computed"
        return f"Performance against similarity at {sites_word(count)}: {why}."
    sites = max(len(points(evidence, scale)) for scale in scales(evidence))
    return f"Over {sites_word(sites)} performance goes with similarity at r {joined(told)}."
