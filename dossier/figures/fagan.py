"""The Fagan nomogram: the probability of the outcome before the model speaks, and after each of its two answers.

Both scales run upwards, so that a positive answer lifts the line and a negative one lowers it. In the published form
the scale before is turned over: that makes room for a third scale, but a line can fall where the probability rises.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.facts import Fact
from dossier.figures.canvas import (
    BLUE,
    BROKEN_CURVE,
    FULL,
    HAIR,
    HALF,
    HEAD_LINE,
    INK,
    INK_2,
    Key,
    Lattice,
    head,
    headed,
    key_row,
    lattice,
    left_out,
    level_text,
    panel,
    patients,
    picture,
    say_why,
    sheet,
    styled,
    text_width,
    write,
)
from dossier.register import figure
from dossier.types import Absent, Curve, DatasetSummary, Evidence, Picture, externals, find_curve
from dossier.typeset.notes import intervals_of
from dossier.typeset.numbers import number, per_cent
from dossier.typeset.numbers import threshold as as_typeset
from dossier.typeset.words import counted

MOST_SITES = 12
MOST_THRESHOLDS = 3
MOST_PANELS = 16
"""How many panels a page holds."""
CHANCES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
"""The ticks of the outer scales up to one half; those above mirror them."""
LABELLED = (0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 0.3, 0.7, 0.2, 0.8, 0.05, 0.95, 0.02, 0.98)
"""Which ticks have a number, the first ones first, where there is room."""
ROOM = 4.3
"""How far apart two numbers at a scale stand, in mm."""
BESIDE = 2.6
"""How far from its scale a number stands, in mm."""


@dataclass(frozen=True)
class Answer:
    """What one of the two answers of the model makes of the probability; None where nobody got the answer."""

    after: float | None
    low: float | None
    high: float | None
    ratio: float | None
    """The likelihood ratio, by which the odds are multiplied; None where it is 0 or without end."""


@dataclass(frozen=True)
class Reading:
    """One nomogram: the probability before, and after a positive and a negative answer."""

    before: float
    positive: Answer
    negative: Answer


def readings(curve: Curve) -> dict[float, Reading]:
    """The nomogram of each threshold."""
    columns = curve.columns

    def answer(name: str, row: int) -> Answer:
        after, ratio = f"after_{name}", columns[f"likelihood_ratio_{name}"][row]
        return Answer(columns[after][row], columns[f"{after}_low"][row], columns[f"{after}_high"][row], ratio)

    return {
        threshold: Reading(before, answer("positive", row), answer("negative", row))
        for row, (threshold, before) in enumerate(zip(columns["threshold"], columns["before"], strict=True))
        if threshold is not None and before is not None
    }


@dataclass(frozen=True)
class Panel:
    """One panel: whose, at which threshold, what it shows, and what stands above it."""

    site: DatasetSummary
    threshold: float
    shows: Reading | Absent


def panels_of(evidence: Evidence) -> tuple[Panel, ...] | Absent:
    """Every site at the declared thresholds, up to three of them, and at least the primary one, as there is room."""
    declared, sites = evidence.release.thresholds.declared, externals(evidence)
    if not declared:
        return Absent(Fact("no_threshold_declared"))
    room = max(1, min(MOST_THRESHOLDS, MOST_PANELS // max(1, min(len(sites), MOST_SITES))))
    wanted = [(site, threshold) for threshold in declared[:room] for site in sites[:MOST_SITES]]
    made = []
    for site, threshold in wanted:
        found = find_curve(evidence, "fagan_nomogram", site.name)
        if isinstance(found, Curve):
            shown: Reading | Absent = readings(found).get(
                threshold, Absent(Fact("threshold_not_read", threshold=threshold))
            )
        else:
            shown = found
        made.append(Panel(site, float(threshold), shown))
    if all(isinstance(one.shows, Absent) for one in made):
        return Absent(Fact("no_site_with_cases_and_non_cases"))
    return tuple(made)


def log_odds(share: float) -> float:
    """The height of a probability on the outer scales; without end for 0 and 1."""
    if share <= 0:
        return -math.inf
    return math.inf if share >= 1 else math.log(share / (1 - share))


def reach_of(shown: Sequence[Reading]) -> float:
    """How far the scales reach on either side of one half: round, and no further than 0.1% and 99.9%."""
    seen = [abs(log_odds(one.before)) for one in shown]
    for one in shown:
        for answer in (one.positive, one.negative):
            seen += [abs(log_odds(end)) for end in (answer.after, answer.low, answer.high) if end is not None]
    longest = max([end for end in seen if math.isfinite(end)])
    ends = [-log_odds(chance) for chance in reversed(CHANCES[:7])]
    return next((end for end in ends if longest <= end), ends[-1])


def chance_text(share: float) -> str:
    """A probability in per cent, with a digit more where it is small or nearly sure."""
    return per_cent(share, 0 if 0.0995 <= share < 0.9005 or share in (0, 1) else 1)


def ratio_text(ratio: float) -> str:
    """The likelihood ratio as the factor of the odds: ×6.8, ×0.21."""
    return f"×{number(ratio, 0 if ratio >= 9.95 else 1 if ratio >= 0.995 else 2)}"


def draw_fagan(evidence: Evidence) -> Figure | Absent:
    """The two scales of every panel, with a line for a positive and one for a negative answer."""
    found = panels_of(evidence)
    if isinstance(found, Absent):
        return found
    grid, heads = _grid(found)
    width = HALF if len(found) == 1 else FULL
    drawn = sheet(width, grid.bottom + 6.0)
    key_row(drawn, 0, 2.4, [Key("positive answer", BLUE, "-", 1.5), Key("negative answer", INK_2, BROKEN_CURVE, 1.2)])
    reach = reach_of([one.shows for one in found if isinstance(one.shows, Reading)])
    for place, one in enumerate(found):
        x, y = grid.corner(place)
        head(drawn, replace(grid, left=grid.left - (LEFT if place % grid.columns == 0 else INNER)), place, heads[place])
        axes = panel(drawn, x, y, grid.width, grid.height)
        axes.set_xlim(0, 1)
        axes.set_ylim(-reach, reach)
        axes.axis("off")
        if isinstance(one.shows, Absent):
            say_why(evidence, axes, grid, one.shows)
            continue
        _scales(axes, one.shows, grid, reach, numbered=grid.outer_left(place))
        _answers(axes, one.shows, grid, reach)
        if grid.outer_bottom(place):
            for across, word in ((0.0, "before"), (1.0, "after")):
                write(drawn, x + across * grid.width, y + grid.height + 3.6, word, ha="center", color=INK_2)
    return drawn


LEFT, INNER, RIGHT = 12.0, 11.0, 13.6
"""The room for numbers before the first panel, before the others, and behind each, in mm."""


def _grid(found: Sequence[Panel]) -> tuple[Lattice, tuple[str, ...]]:
    """The panels, with room for numbers on either side of each, in at most half a page."""
    # A row is a threshold where the sites fill one.
    sites = list({one.site.name: one.site for one in found}.values())
    columns = {1: len(found), 2: 2, 3: 3}.get(len(sites), min(len(found), 4))
    rows = -(-len(found) // columns)
    width = (HALF if len(found) == 1 else FULL) - RIGHT
    tall = {1: 46.0, 2: 34.0}.get(rows, 24.0)
    # The shape only says that the height is given: panels are as wide as the sheet allows.
    grid = lattice(
        len(found), width, left=LEFT, top=11.5, gap_x=INNER + RIGHT, gap_y=9.0, tallest=tall, shape=9.0, columns=columns
    )
    if len(sites) == 1:
        return grid, tuple(f"Threshold {as_typeset(one.threshold)}" for one in found)
    _, names = headed(replace(grid, width=grid.width + INNER + RIGHT - 2), sites)
    of_site = dict(zip((site.name for site in sites), names, strict=True))
    heads = tuple(of_site[one.site.name] for one in found)
    if len({one.threshold for one in found}) > 1:
        heads = tuple(f"{name}\nthreshold {as_typeset(one.threshold)}" for name, one in zip(heads, found, strict=True))
    more = max(name.count("\n") for name in heads) * HEAD_LINE
    return replace(grid, top=grid.top + more, gap_y=grid.gap_y + more), heads


def _scales(axes: Axes, shown: Reading, grid: Lattice, reach: float, *, numbered: bool) -> None:
    """The scale before and the scale after; at the first of a row with numbers where they do not touch the answers'."""
    millimetre = 2 * reach / grid.height
    for x in (0.0, 1.0):
        axes.plot([x, x], [-reach, reach], color=INK_2, lw=0.5, zorder=1, clip_on=False)
    every = [log_odds(chance) for chance in (*CHANCES, *(1 - chance for chance in CHANCES[:-1]))]
    inside = [y for y in every if abs(y) <= reach + 1e-9]
    axes.hlines(inside, -1 / grid.width, 0, INK_2, lw=0.5, clip_on=False)
    axes.hlines(inside, 1, 1 + 1 / grid.width, INK_2, lw=0.5, clip_on=False)
    kept = [_clipped(log_odds(shown.before), reach - 2 * millimetre)]
    for chance in LABELLED:
        y = log_odds(chance)
        room = ROOM * (1.0 if chance in (0.5, 0.1, 0.9) else 1.2) * millimetre
        if abs(y) > reach + 1e-9:
            continue
        if chance in (0.5, 0.1, 0.9, 0.01, 0.99):
            axes.plot([0, 1], [y, y], color=HAIR, lw=0.5, zorder=0)
        if numbered and abs(y) <= reach - 2 * millimetre and all(abs(y - other) >= room for other in kept):
            kept.append(y)
            axes.text(-BESIDE / grid.width, y, f"{chance * 100:g}%", ha="right", va="center", color=INK_2)


def _answers(axes: Axes, shown: Reading, grid: Lattice, reach: float) -> None:
    """The line of each answer, the interval of where it ends, the numbers at both ends and the ratio on the line."""
    millimetre = 2 * reach / grid.height
    start = _clipped(log_odds(shown.before), reach)
    before = _clipped(start, reach - 2 * millimetre)
    axes.text(-BESIDE / grid.width, before, chance_text(shown.before), ha="right", va="center", color=INK, weight=600)
    looks = ((shown.positive, BLUE, "-", 1.5, 0.9, 2.4), (shown.negative, INK_2, BROKEN_CURVE, 1.2, -0.9, 1.8))
    drawn = [(one, one.after, colour, dash, width) for one, colour, dash, width, *_ in looks if one.after is not None]
    ends = [_clipped(log_odds(after), reach) for _, after, *_ in drawn]
    places = _apart(ends, ROOM * millimetre, reach - 2 * millimetre)
    for (one, after, colour, dash, width), end, place in zip(drawn, ends, places, strict=True):
        axes.plot([0, 1], [start, end], color=colour, ls=dash, lw=width, zorder=3, clip_on=False)
        if abs(log_odds(after)) > reach:
            axes.plot([1], [end], "^" if end > 0 else "v", ms=4, mfc=colour, mec="none", clip_on=False, zorder=4)
        text = chance_text(after)
        axes.text(1 + BESIDE / grid.width, place, text, ha="left", va="center", color=colour, weight=600)
        if one.ratio is not None and abs(log_odds(after)) <= reach:
            _factor(axes, ratio_text(one.ratio), (start, end), grid, reach, colour)
    for answer, colour, _, _, shift, bar in looks:
        if answer.low is not None and answer.high is not None:
            low, high = (_clipped(log_odds(end), reach) for end in (answer.low, answer.high))
            x = 1 + shift / grid.width
            axes.plot([x, x], [low, high], color=colour, lw=bar, zorder=2, clip_on=False, solid_capstyle="butt")


def _factor(axes: Axes, text: str, line: tuple[float, float], grid: Lattice, reach: float, colour: str) -> None:
    """The likelihood ratio near the middle of its line: above a line that rises, below one that falls.

    It keeps below the upper end of the panel, where the head stands.
    """
    millimetre = 2 * reach / grid.height
    end = min(0.98, max(0.5, (text_width(text) + 1.5) / grid.width))
    begin = end - text_width(text) / grid.width
    # Above a rising line the end of the text is the nearest to it, below a falling one too.
    middle = line[0] + (line[1] - line[0]) * (begin + end) / 2
    slack = abs(line[1] - line[0]) * (end - begin) / 2 + 2.0 * millimetre
    y = min(middle + (slack if line[1] >= line[0] else -slack), reach - 2 * millimetre)
    axes.text(end, y, text, ha="right", va="center", color=colour)


def _clipped(height: float, reach: float) -> float:
    return min(max(height, -reach), reach)


def _apart(heights: Sequence[float], room: float, reach: float) -> list[float]:
    """The heights of at most two numbers, moved apart until they do not touch, within the scale."""
    placed = [_clipped(height, reach) for height in heights]
    if len(placed) < 2 or abs(placed[0] - placed[1]) >= room:
        return placed
    upper = 0 if heights[0] >= heights[1] else 1
    middle = _clipped(sum(placed) / 2, reach - room / 2)
    placed = [middle - room / 2, middle - room / 2]
    placed[upper] = middle + room / 2
    return placed


@figure("Probability before and after the model's answer")
def fagan_nomogram(evidence: Evidence) -> Picture | Absent:
    """What a positive and a negative answer of the model make of the probability of the outcome."""
    with styled():
        drawn = draw_fagan(evidence)
        found = panels_of(evidence)
        if isinstance(drawn, Absent):
            return drawn
        if isinstance(found, Absent):
            return found
        sites = list({one.site.name: one.site for one in found}.values())
        at = as_typeset(found[0].threshold) if len({one.threshold for one in found}) == 1 else "the declared ones"
        made = intervals_of((site.site, find_curve(evidence, "fagan_nomogram", site.name)) for site in sites)
        caption = (
            f"{patients(sites)}; positive: risk at or above the threshold, {at}. Before: the site's own share "
            f"of cases. After: its predictive values with {level_text(evidence)} intervals ({made}). On the "
            "lines: the likelihood ratio, which multiplies the odds."
        )
        return picture("fagan_nomogram", drawn, caption + _rest(evidence, found), _alternative(found))


def _rest(evidence: Evidence, found: Sequence[Panel]) -> str:
    """What has no panel."""
    declared, sites = evidence.release.thresholds.declared, externals(evidence)
    more = len(declared) - len({one.threshold for one in found})
    text = f" {counted(more, 'more threshold')} in the tables." if more > 0 else ""
    return left_out(max(0, len(sites) - MOST_SITES), "see the tables") + text


def _alternative(found: Sequence[Panel]) -> str:
    """The finding: what the answers make of the probability at the first panel, and over all of them."""
    known = [(one, one.shows) for one in found if isinstance(one.shows, Reading)]
    first, shown = known[0]
    told = [
        f"{chance_text(answer.after)} after a {word} one"
        for answer, word in ((shown.positive, "positive"), (shown.negative, "negative"))
        if answer.after is not None
    ]
    return (
        f"In {first.site.site} the probability is {chance_text(shown.before)} before the model's answer at a threshold "
        f"of {as_typeset(first.threshold)}, and {' and '.join(told)}."
    )
