"""The picture of performance by calendar period, with the limits of the declared stop rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from dossier.core import facts, over_time, types
from dossier.core.over_time import Period, Verdict, followed, is_outside, periods, printed
from dossier.report.figures import canvas, captions, data, facets, ink
from dossier.typeset import methods, widths
from dossier.typeset.numbers import number, threshold
from dossier.typeset.words import HEADS, period
from dossier.typeset.words import periods as in_a_row

if TYPE_CHECKING:
    from dossier.core.release import StopRule

MOST_SITES = 5
"""Sites that the figure has room for: those that cross a rule come first."""
MOST_MEASURES = 5
LINE, BETWEEN, YEAR = 3.4, 2.0, 4
"""A line of periods below a panel and the room between two of them, in mm; the figures of a year."""
MOST_GAPS = 4
"""Periods without a value that the caption names; the others are counted."""
NOT_DRAWN = ("period_without_value", "rows_without_day")
"""The steps of a curve that say what no mark shows."""


@dataclass(frozen=True)
class Shown:
    """What the figure holds: the sites down, the measures across."""

    sites: tuple[types.DatasetSummary, ...]
    curves: Mapping[str, Mapping[str, types.Curve]]
    """Each measure at the external sites where it is shown, by calendar period."""
    left: int
    """How many sites have no room."""


def _scaled(measure: str, value: float) -> float:
    """A value on the axis of its measure: a ratio on the log scale, gain per 100 patients."""
    if measure == "net_benefit_gain":
        return 100 * value
    return math.log(max(value, 1e-3)) if measure == "oe_ratio" else value


def _bounds(rules: Sequence[StopRule]) -> list[float]:
    return [bound for rule in rules for bound in (rule.at_least, rule.at_most) if bound is not None]


def _reference(evidence: types.Evidence, measure: str) -> list[float]:
    """Where a measure says that nothing is off, or that nothing is gained."""
    if measure == "net_benefit_gain":
        return [0.0]
    return [1.0] if evidence.terms[measure].best == "one" else []


def _ends(evidence: types.Evidence, measure: str, every: Sequence[Period], rules: Sequence[StopRule]) -> canvas.Ends:
    """The ends of the axis of a measure: every interval of every site, and every limit."""
    if measure in ("degree_of_correspondence", "correspondence_averaged"):
        return 0.0, 1.0
    values = [bound for each in every for bound in (each.value, each.low, each.high) if bound is not None]
    values += [*_bounds(rules), *_reference(evidence, measure)]
    low, high = (_scaled(measure, end) for end in (min(values), max(values)))
    room = 0.06 * (high - low) or 0.05
    return low - room, high + room


def _draw(evidence: types.Evidence, shown: Shown) -> Figure:
    across, down = len(shown.curves), len(shown.sites)
    names = widths.shortened([site.site for site in shown.sites], 24.0, 600)
    left = max(map(widths.text_width, names)) + 10.5
    grid = facets.lattice(
        across * down, canvas.FULL, left=left, top=15.4, gap_x=8.6, gap_y=4.0, tallest=21.0, shape=0.7, columns=across
    )
    heads = _heads(evidence, list(shown.curves), grid)
    grid = replace(grid, top=grid.top + canvas.LINE * (max(map(len, heads)) - 1))
    spans = _numbers(evidence, shown)
    named = {unit: _span(numbers, unit, grid.width) for unit, numbers in spans.items()}
    lines = LINE * (max(map(len, named.values())) - 1)
    if len(spans) > 1:
        grid = replace(grid, gap_y=grid.gap_y + lines)
    drawn = canvas.sheet(canvas.FULL, grid.bottom + lines + 6.5)
    level = captions.level_text(evidence)
    key = [facets.Key(f"value and {level} interval of a period", ink.BLUE)]
    if evidence.release.care.stop:
        limit = facets.Key("limit of the stop rule", ink.ALERT, ink.BROKEN, 0.9)
        key += [limit, facets.Key("outside it", ink.ALERT, mark="square")]
    facets.key(drawn, grid.left, 2.4, [key])
    for index, (measure, curves) in enumerate(shown.curves.items()):
        rules = [rule for rule in evidence.release.care.stop if rule.measure == measure]
        ends = _ends(evidence, measure, [each for curve in curves.values() for each in periods(curve)], rules)
        steps = canvas.inner_ticks(*ends, 3)
        if measure == "oe_ratio":
            low, high = map(math.exp, ends)
            steps = [value for value in (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0) if low <= value <= high]
        for line, text in enumerate(reversed(heads[index])):
            canvas.write(drawn, grid.corner(index)[0], grid.top - 5.2 - line * canvas.LINE, text, color=ink.INK)
        for row, site in canvas.of_each(drawn, list(enumerate(shown.sites)), lambda each: each[1]):
            here = row * across + index
            axes = canvas.panel(drawn, *grid.corner(here), grid.width, grid.height, up=ends)
            places = [math.log(step) if measure == "oe_ratio" else step for step in steps]
            canvas.ticks(axes, "y", places, list(map(canvas.tick_text, steps)))
            for position in _reference(evidence, measure):
                axes.axhline(_scaled(measure, position), color=ink.RULE, lw=0.6)
            for bound in _bounds(rules):
                axes.axhline(_scaled(measure, bound), color=ink.ALERT, lw=0.9, ls=ink.BROKEN)
            _periods(axes, curves.get(site.name), rules, measure)
            unit = over_time.unit_at(evidence, site.name)
            _below(axes, spans[unit], named[unit] if grid.outer_bottom(here) or len(spans) > 1 else ())
    for row, name in enumerate(names):
        canvas.write(drawn, 0.0, grid.corner(row * across)[1] + 2.2, name, weight=600)
    return drawn


def _heads(evidence: types.Evidence, measures: Sequence[str], grid: facets.Lattice) -> list[list[str]]:
    """The measure of each column, in two lines where that is narrow; but for the last one it may stand in the gap."""
    gain = [f" at {threshold(at)}" for at in evidence.release.thresholds.declared[:1]]
    texts = [HEADS[measure] + "".join(gain if measure == "net_benefit_gain" else ()) for measure in measures]
    rooms = [*(grid.width + 6.0 for _ in texts[1:]), grid.width]
    wrapped = (widths.wrapped(text, room, 2) or text for text, room in zip(texts, rooms, strict=True))
    return [text.split("\n") for text in wrapped]


def _below(axes: canvas.Panel, numbers: range, texts: Lines) -> None:
    """The periods below a panel; the first and the last have their names, within its width."""
    axes.set_xlim(numbers[0] - 0.5, numbers[-1] + 0.5)
    canvas.ticks(axes, "x", list(numbers), labelled=False)
    for line, words in enumerate(texts):
        for text, end, side in zip(words, (axes.x, axes.x + axes.width), ("left", "right"), strict=True):
            if text:
                canvas.write(axes.sheet, end, axes.y + axes.height + 3.6 + line * LINE, text, ha=side)


def _periods(axes: canvas.Panel, curve: types.Curve | None, rules: Sequence[StopRule], measure: str) -> None:
    """The values in their order, joined; a gap where a period has none."""
    every = () if curve is None else periods(curve)
    if curve is None or not every:
        facets.say(axes, "not shown here", "none")
        return
    known = {period.number: period for period in every}
    numbers = [int(value) for value in data.column(curve, "period")]
    values = [_scaled(measure, known[at].value) if at in known else math.nan for at in numbers]
    axes.plot(numbers, values, color=ink.MID, lw=0.7, zorder=2)
    for each in every:
        outside = any(is_outside(rule, each) for rule in rules)
        if each.low is not None and each.high is not None:
            bounds = [_scaled(measure, end) for end in (each.low, each.high)]
            axes.plot([each.number] * 2, bounds, color=ink.BLUE, lw=1.1)
        marker, size, colour = ("s", 4.4, ink.ALERT) if outside else ("o", 3.6, ink.BLUE)
        spot = ([each.number], [_scaled(measure, each.value)])
        axes.plot(*spot, color=colour, marker=marker, ms=size, mec="white", mew=0.4, zorder=3)


Lines = tuple[tuple[str, str], ...]
"""What stands below panels at the left and at the right, line by line."""


def _numbers(evidence: types.Evidence, shown: Shown) -> dict[types.PeriodUnit, range]:
    """The periods that the panels of each unit run over: those of all its sites."""
    every: dict[types.PeriodUnit, list[int]] = {}
    for curves in shown.curves.values():
        for name, curve in curves.items():
            unit = over_time.unit_at(evidence, name)
            every.setdefault(unit, []).extend(int(value) for value in data.column(curve, "period"))
    return {unit: range(min(numbers), max(numbers) + 1) for unit, numbers in every.items()}


def _span(numbers: range, unit: types.PeriodUnit, width: float) -> Lines:
    """The first and the last period by name; without room for both the last without the same year, or a line lower."""
    # 2025 Q1, 2025-03, 2025.
    first, last = (
        f"{at // 12}-{at % 12 + 1:02}" if unit == "month" else period(at, unit) for at in (numbers[0], numbers[-1])
    )
    if len(numbers) == 1:
        return ((first, ""),)
    each = types.PERIODS_OF_A_YEAR[unit]
    bare = last[YEAR + 1 :] if unit != "year" and numbers[0] // each == numbers[-1] // each else last
    for right in (last, bare):
        if widths.text_width(first) + widths.text_width(right) + BETWEEN <= width:
            return ((first, right),)
    return ((first, ""), ("", last))


@canvas.figure("Performance by calendar period")
def performance_over_time(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Performance and similarity of each calendar period at each site that names its days, with the limits."""
    every = over_time.of_evidence(evidence)
    of_rules = [rule.measure for rule in evidence.release.care.stop]
    known: dict[str, dict[str, types.Curve]] = {}
    for measure in printed(evidence):
        found = ((site.name, followed(evidence.curves, site.name, measure)) for site in types.externals(evidence))
        curves = ((name, None if each is None else each.found) for name, each in found)
        known[measure] = {name: curve for name, curve in curves if isinstance(curve, types.Curve)}
    # A rule that has no column would be drawn nowhere.
    kept = sorted(known, key=lambda measure: measure not in of_rules)[:MOST_MEASURES]
    crossed = {verdict.site.name for verdict in every if verdict.crossing}
    sites = [site for site in types.externals(evidence) if any(site.name in curves for curves in known.values())]
    sites.sort(key=lambda site: site.name not in crossed)
    first = {site.name for site in sites[:MOST_SITES]}
    shown = Shown(
        tuple(site for site in types.externals(evidence) if site.name in first),
        {measure: curves for measure, curves in known.items() if measure in kept},
        max(0, len(sites) - MOST_SITES),
    )
    if not shown.sites:
        return types.Absent(facts.Fact("no_site_by_period"))
    drawn = _draw(evidence, shown)
    # What a smaller period alone does to a p value.
    psi = " Psi is a p value: it falls with more patients." if "degree_of_correspondence" in shown.curves else ""
    caption = (
        f"{_events(shown)}O/E on the log scale.{psi}{_gaps(shown)}{captions.left_out(shown.left, 'see results.json')}"
    )
    said = message(every, shown)
    return canvas.Drawn(drawn, caption, said, said)


def _events(shown: Shown) -> str:
    """How many events a period has at each site, and of what share of its patients: from the fewest to the most."""
    said = []
    for site in shown.sites:
        curve = next(curves[site.name] for curves in shown.curves.values() if site.name in curves)
        known = [int(value) for value in curve.columns["events"] if value is not None]
        shares = [each.share for each in over_time.periods(curve) if each.share is not None]
        part = f", {min(shares):.0%} to {max(shares):.0%}" if shares else ""
        if known:
            said.append(f"{min(known):,} to {max(known):,}{part} ({site.site})")
    return f"Events a period: {', '.join(said)}. " if said else ""


def _gaps(shown: Shown) -> str:
    """The periods without a value, with the reason, and the rows without a day."""
    said: dict[str, None] = {}
    for site in shown.sites:
        for curves in shown.curves.values():
            curve = curves.get(site.name)
            steps = [fact for fact in curve.method if fact.code in NOT_DRAWN] if curve is not None else []
            said |= dict.fromkeys(f"{site.site}: {text}" for text in methods.method_parts(steps))
    kept = list(said)[:MOST_GAPS]
    more = f"; and {len(said) - len(kept)} more" if len(said) > len(kept) else ""
    return f" {'; '.join(kept)}{more}." if kept else ""


def message(every: Sequence[Verdict], shown: Shown) -> str:
    """Which site crosses a rule, and when; that none does, where enough periods are shown."""
    if crossed := [verdict for verdict in every if verdict.crossing]:
        first = crossed[0]
        beyond = over_time.side(first)
        bound = first.rule.at_most if beyond == "above" else first.rule.at_least
        side = "outside its limits" if beyond is None or bound is None else f"{beyond} {number(bound)}"
        more = f", and {len(crossed) - 1} more" if len(crossed) > 1 else ""
        when = in_a_row([period.number for period in first.crossing], first.unit)
        return f"{HEADS[first.rule.measure]} of {first.site.site} lies {side} in {when}{more}."
    if judged := [verdict.site.site for verdict in every if not verdict.is_open]:
        return f"No stop rule is crossed at {captions.joined(list(dict.fromkeys(judged)))}."
    return f"Performance by calendar period at {captions.sites_word(len(shown.sites) + shown.left)}."
