"""The two pictures of the committee edition: are the risks right, and what happens to 1,000 patients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dossier import bands
from dossier.facts import Fact
from dossier.figures.calibration import curve_end, draw_curve
from dossier.figures.canvas import (
    ALERT,
    BLUE,
    COMMITTEE,
    INK,
    INK_2,
    LABEL_HEIGHT,
    MID,
    ORANGE,
    TINTS,
    column,
    few,
    is_clear,
    label_half,
    level_text,
    panel,
    picture,
    place_on_line,
    primary_threshold,
    resampled,
    sheet,
    shortened,
    styled,
    text_width,
    ticks,
    wrapped,
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
    Floats,
    Picture,
    externals,
    find,
    find_curve,
    summary_of,
)
from dossier.typeset.numbers import expected_range, number
from dossier.typeset.words import listing

CELLS = ("true_positive", "false_negative", "false_positive", "true_negative")
SQUARE = 1.5
ROWS = 13
MOST_NAMED = 3
"""Hospitals that a caption names; of more it gives the count."""
APART = 1.5
"""By how much, in mm, the name of a line stands nearer to it than to any other."""


@dataclass(frozen=True)
class Hospitals:
    """The hospitals whose curves a committee sees, and those that have too few patients for one."""

    shown: tuple[tuple[DatasetSummary, Curve], ...]
    too_few: tuple[DatasetSummary, ...]


def hospitals(evidence: Evidence) -> Hospitals | Absent:
    """Every external site with a calibration curve; those with very few events or non-events only when alone.

    Where our own site is named, it stands alone.
    """
    if evidence.local_site is not None:
        curve = find_curve(evidence, "calibration_curve", evidence.local_site)
        if isinstance(curve, Absent):
            return curve
        return Hospitals(((summary_of(evidence, evidence.local_site), curve),), ())
    found = [(site, find_curve(evidence, "calibration_curve", site.name)) for site in externals(evidence)]
    known = tuple((site, curve) for site, curve in found if isinstance(curve, Curve))
    if not known:
        return Absent(Fact("no_site_with_calibration_curve"))
    sound = tuple((site, curve) for site, curve in known if not few(site, bands.FEW_FOR_POOLING))
    shown = sound or known[:1]
    drawn = {site.name for site, _ in shown}
    return Hospitals(shown, tuple(site for site, _ in known if site.name not in drawn))


def draw_committee_calibration(evidence: Evidence, names: Names | None = None) -> Figure | Absent:
    """The calibration curve of one hospital with its band, or those of all as thin lines, in plain words.

    `names` are those of the lines, where they have been placed already.
    """
    found = hospitals(evidence)
    if isinstance(found, Absent):
        return found
    alone = len(found.shown) == 1
    end = curve_end([curve for _, curve in found.shown])
    top, height = (6.5, 29.6) if alone else (11.0, LINES_HEIGHT)
    drawn = sheet(WIDTH, top + height + 10.4)
    write(drawn, 0, 2.2, "Share who had the outcome")
    places, texts = _risk_ticks(end)
    left, width = _across(texts)
    axes = panel(drawn, left, top, width, height)
    axes.set_xlim(0, end)
    axes.set_ylim(0, end)
    if alone:
        site, curve = found.shown[0]
        draw_curve(axes, curve, end, few(site, bands.FEW_FOR_A_BAND), 1.6)
        _name_lines(axes, site, curve, end, (width, height))
    else:
        _all_lines(drawn, axes, found, end, names_of_lines(found) if names is None else names)
    ticks(axes, "x", places, texts)
    ticks(axes, "y", places, texts)
    write(drawn, left + width / 2, top + height + 8.2, "Risk the model gave", ha="center")
    return drawn


Names = Mapping[int, tuple[str, float, float]]
"""The names at the lines by the order of the hospitals, each with its place in the units of the axes."""
WIDTH, LINES_HEIGHT = 62.4, 42.0
"""How wide the sheet of the calibration is, and how tall its panel is for the lines of several places, in mm."""


def _risk_ticks(end: float) -> tuple[list[float], list[str]]:
    """Round risks from 0 to the end of the axes, in per cent."""
    digit = f"{end:e}"[0]
    count = 3 if digit in "36" else 4 if digit in "248" else 5
    places = [end * step / count for step in range(count + 1)]
    return places, ["0", *(f"{place * 100:g}%" for place in places[1:])]


def _across(texts: Sequence[str]) -> tuple[float, float]:
    """Where the panel begins and how wide it is, in mm, beside and above these texts of its ticks."""
    left = max(text_width(text) for text in texts) + 2.2
    return left, WIDTH - left - text_width(texts[-1]) / 2 - 0.3


def _all_lines(drawn: Figure, axes: Axes, found: Hospitals, end: float, names: Names) -> None:
    """One thin line a hospital, all alike, with its name where there is room, and above them what the lines are."""
    axes.plot([0, end], [0, end], color=INK_2, lw=1.1, zorder=3)
    thin = 0.9 if len(found.shown) <= 12 else 0.6
    all_alike = len(names) in (0, len(found.shown))
    for at, (_, curve) in enumerate(found.shown):
        is_blue = all_alike or at in names
        colour, layer = (BLUE, 2.0) if is_blue else (MID, 1.9)
        axes.plot(column(curve, "risk"), column(curve, "observed"), color=colour, lw=thin, zorder=layer)
    for text, x, y in names.values():
        axes.text(x, y, text, ha="center", va="center", color=BLUE, linespacing=1.1, zorder=5)
    text = "Each line: one place"
    write(drawn, 0, 6.6, text, color=BLUE if all_alike else INK, weight=600)
    write(drawn, text_width(text, 600) + 3.0, 6.6, "straight: perfect", color=INK_2)


def names_of_lines(found: Hospitals) -> Names:
    """The names of the lines that have room for one, by their order, each with its place in the units of the axes.

    Those furthest from the straight line come first; none stands where it could be another line's, and none is cut.
    """
    end = curve_end([curve for _, curve in found.shown])
    size = width, height = _across(_risk_ticks(end)[1])[1], LINES_HEIGHT
    lines = [
        resampled(column(curve, "risk") / end * width, (1 - column(curve, "observed") / end) * height)
        for _, curve in found.shown
    ]
    straight = resampled(np.array([0.0, width]), np.array([height, 0.0]))
    away = [float(np.abs(line[:, 1] - height * (1 - line[:, 0] / width)).max(initial=0)) for line in lines]
    taken: list[tuple[float, float, float, float]] = []
    named = {}
    for at in sorted(range(len(lines)), key=lambda place: -away[place]):
        others = np.concatenate([straight, *(line for place, line in enumerate(lines) if place != at)])
        placed = _clear_place(_forms(found.shown[at][0].site), lines[at], others, taken, size)
        if placed is not None:
            text, spot = placed
            half = label_half(text)
            taken.append((*spot, float(half[0]) + 0.5, float(half[1])))
            named[at] = (text, spot[0] / width * end, (1 - spot[1] / height) * end)
    return named


WIDEST = 34.0
"""The width of a line of a name at a curve, in mm: more than half of the panel it would cover."""


def _whose(found: Hospitals, named: Names) -> str:
    """What the colours of the lines mean, where only some have room for their name."""
    if len(found.shown) == 1 or len(named) in (0, len(found.shown)):
        return ""
    others = [site.site for at, (site, _) in enumerate(found.shown) if at not in named]
    return f" Blue: named at the line; grey: {listing(others) if len(others) <= MOST_NAMED else 'the other places'}."


SHORT = 20.0
"""A name no wider than this, in mm, gains nothing by a second line."""


def _forms(name: str) -> list[str]:
    """A name as it may stand at its line: on one line, or where that is long on two; never cut."""
    forms = [wrapped(name, WIDEST, 1)]
    if text_width(name) > SHORT:
        forms.append(wrapped(name, min(0.6 * text_width(name), WIDEST), 2))
    return [form for form in forms if form is not None]


def _clear_place(
    forms: Sequence[str],
    line: Floats,
    others: Floats,
    taken: Sequence[tuple[float, float, float, float]],
    size: tuple[float, float],
) -> tuple[str, tuple[float, float]] | None:
    """The first form of a name that has a place at its line, and nearer to it than to any other, with that place."""
    for text in forms:
        for prefer in (0.5, 0.3, 0.7, 0.1, 0.9):
            spot = place_on_line(text, line, others, taken, size, 400, prefer)
            if spot is not None and is_clear(text, spot, line, others, apart=APART):
                return text, spot
    return None


def _not_drawn(found: Hospitals) -> str:
    """The sentence about the hospitals that are not drawn: which, and of whom they have too few."""
    if not found.too_few:
        return ""
    if len(found.too_few) > MOST_NAMED:
        return f"Not drawn: {len(found.too_few)} with too few patients."
    return f"Not drawn, as too few: {listing([_scarce(site) for site in found.too_few])}."


def _scarce(site: DatasetSummary) -> str:
    """A hospital that is not drawn, with the count of those who are too few where it may be known."""
    if site.events is None:
        return site.site
    without = site.n - site.events
    rare = f"{site.events:,} with the outcome" if site.events <= without else f"{without:,} without the outcome"
    return f"{site.site} ({rare})"


def _name_lines(axes: Axes, site: DatasetSummary, curve: Curve, end: float, size: tuple[float, float]) -> None:
    width, height = size

    def line(x: Floats, y: Floats) -> Floats:
        return resampled(x / end * width, (1 - y / end) * height)

    risk = column(curve, "risk")
    observed, low, high = (line(risk, column(curve, name)) for name in ("observed", "low", "high"))
    perfect = line(np.array([0, end]), np.array([0, end]))
    name = shortened([site.site], 26, 600)[0]
    taken: list[tuple[float, float, float, float]] = []
    for text, own, others, colour, weight, prefer in (
        (name, observed, np.concatenate((perfect, low, high)), BLUE, 600, 0.6),
        ("perfect", perfect, np.concatenate((observed, low, high)), INK_2, 400, 0.75),
    ):
        spot = place_on_line(text, own, others, taken, size, weight, prefer)
        if spot is not None:
            taken.append((*spot, text_width(text, weight) / 2 + 0.5, LABEL_HEIGHT / 2))
            x, y = spot[0] / width * end, (1 - spot[1] / height) * end
            axes.text(x, y, text, ha="center", va="center", color=colour, weight=weight, zorder=5)


@figure("Risks and what happened")
def committee_calibration(evidence: Evidence) -> Picture | Absent:
    """How often the outcome really happened among patients to whom the model gave each risk."""
    with styled():
        found = hospitals(evidence)
        if isinstance(found, Absent):
            return found
        names = names_of_lines(found) if len(found.shown) > 1 else {}
        drawn = draw_committee_calibration(evidence, names)
        if isinstance(drawn, Absent):
            return drawn
        sites = [site for site, _ in found.shown]
        n, events = sum(site.n for site in sites), sum(site.events or 0 for site in sites)
        who = sites[0].site if len(sites) == 1 else f"{len(sites)} places"
        counted_events = "" if any(site.events is None for site in sites) else f", {events:,} with the outcome"
        band = f"; the band shows how sure that is ({level_text(evidence)})" if len(sites) == 1 else ""
        note = _not_drawn(found)
        elsewhere = len(externals(evidence)) - len(found.shown) - len(found.too_few)
        unknown = "" if evidence.local_site else _not_known(elsewhere)
        caption = (
            f"{who}: {n:,} patients{counted_events}. Above the straight line the risks were too low, below it too high"
            f"{band}.{_whose(found, names)}{f' {note}' if note else ''}{unknown}"
        )
        return picture("committee_calibration", drawn, caption, _told(evidence, found))


def _told(evidence: Evidence, found: Hospitals) -> str:
    """The finding in plain words: how many had the outcome for every 100 that the risks add up to."""
    known = sorted(_came(evidence, [site for site, _ in found.shown]))
    left_out = [f"{name}, {number(value * 100, 0)}" for value, name in _came(evidence, found.too_few)]
    missing = f"; not drawn: {'; '.join(left_out)}" if left_out else ""
    if not known:
        return f"The share of patients who had the outcome, by the risk that the model gave{missing}."
    (low, first), (high, last) = known[0], known[-1]
    start = "For every 100 outcomes that the risks add up to there were"
    if len(known) == 1:
        return f"{start} {number(low * 100, 0)} at {first}{missing}."
    return f"{start} from {number(low * 100, 0)} ({first}) to {number(high * 100, 0)} ({last}){missing}."


def _came(evidence: Evidence, sites: Sequence[DatasetSummary]) -> list[tuple[float, str]]:
    """How many had the outcome for each that was expected, and where, at the hospitals where that is known."""
    ratios = [(find(evidence, "oe_ratio", site.name), site.site) for site in sites]
    return [(one.value, name) for one, name in ratios if isinstance(one, Estimate)]


@dataclass(frozen=True)
class Thousand:
    """What happens to 1,000 patients at the primary threshold, and how many patients the counts rest on."""

    threshold: float
    n: int
    count: Mapping[str, int]


def thousand(evidence: Evidence) -> Thousand | Absent:
    """The counts per 1,000 patients at the primary threshold: of our site where it is named, else of all together."""
    threshold = primary_threshold(evidence)
    if threshold is None:
        return Absent(Fact("release_declares_no_threshold"))
    ours = evidence.local_site
    found = (
        find_curve(evidence, "per_thousand", POOLED)
        if ours is None
        else find_curve(evidence, "per_thousand_of_site", ours)
    )
    if isinstance(found, Absent):
        return found
    if "threshold" not in found.columns:
        return Absent(Fact("counts_of_classes_have_no_threshold"))
    for row, place in enumerate(found.columns["threshold"]):
        if place == threshold:
            return Thousand(threshold, found.n, {name: int(found.columns[name][row] or 0) for name in CELLS})
    return Absent(Fact("no_counts_at_primary_threshold"))


def _blocks(with_outcome: int, without: int, head: float) -> tuple[int, float]:
    """How many rows of squares the two blocks need to stand side by side, and where the second starts."""
    for rows in range(ROWS, 60):
        first, second = (-(-count // rows) * SQUARE for count in (with_outcome, without))
        start = max(first, head) + 6
        if start + max(second, 34) <= COMMITTEE:
            return rows, start
    return 60, head + 6


def draw_thousand(evidence: Evidence) -> Figure | Absent:
    """1,000 squares in two blocks: with the outcome and without, flagged and not, with their counts below."""
    found = thousand(evidence)
    if isinstance(found, Absent):
        return found
    count = found.count
    with_outcome = count["true_positive"] + count["false_negative"]
    without = count["false_positive"] + count["true_negative"]
    heads = (f"{with_outcome:,} have the outcome", f"{without:,} do not")
    rows, start = _blocks(with_outcome, without, text_width(heads[0], 600))
    top = 5.8
    bottom = top + rows * SQUARE
    drawn = sheet(COMMITTEE, bottom + 12.2)
    axes = panel(drawn, 0, 0, COMMITTEE, bottom + 12.2)
    axes.set_xlim(0, COMMITTEE)
    axes.set_ylim(bottom + 12.2, 0)
    axes.axis("off")
    lines = (
        (0.0, heads[0], (("true_positive", BLUE, "flagged"), ("false_negative", ORANGE, "missed"))),
        (
            start,
            heads[1],
            (("false_positive", BLUE, "flagged in error"), ("true_negative", TINTS[2], "rightly not flagged")),
        ),
    )
    for x, head, groups in lines:
        write(drawn, x, 2.2, head, weight=600)
        at = 0
        for name, colour, _ in groups:
            _squares(axes, x, top, rows, at, count[name], colour)
            at += count[name]
        _grid(axes, x, top, rows, -(-at // rows))
        for line, (name, colour, words) in enumerate(groups):
            _count_row(drawn, axes, x, bottom + 3.6 + line * 5.2, count[name], words, colour)
    return drawn


def _count_row(drawn: Figure, axes: Axes, x: float, y: float, count: int, words: str, colour: str) -> None:
    missed = colour == ORANGE
    axes.add_patch(Rectangle((x, y - 1.15), 2.3, 2.3, fc=colour, ec="none"))
    text = f"{count:,}"
    ink = {"color": ALERT} if missed else {}
    write(drawn, x + 3.6, y, text, weight=600, **ink)
    write(drawn, x + 3.6 + text_width(text, 600) + 1.1, y, words, weight=600 if missed else 400, **ink)


def _squares(axes: Axes, x: float, top: float, rows: int, start: int, count: int, colour: str) -> None:
    """So many squares, column by column from a place on: at most three rectangles under the white lines."""

    def block(first: int, upper: int, last: int, lower: int) -> None:
        corner = (x + first * SQUARE, top + upper * SQUARE)
        axes.add_patch(Rectangle(corner, (last - first) * SQUARE, (lower - upper) * SQUARE, fc=colour, ec="none"))

    if not count:
        return
    (column_0, row_0), (column_1, row_1) = divmod(start, rows), divmod(start + count, rows)
    if column_0 == column_1:
        block(column_0, row_0, column_0 + 1, row_1)
        return
    if row_0:
        block(column_0, row_0, column_0 + 1, rows)
        column_0 += 1
    if column_1 > column_0:
        block(column_0, 0, column_1, rows)
    if row_1:
        block(column_1, 0, column_1 + 1, row_1)


def _grid(axes: Axes, x: float, top: float, rows: int, columns: int) -> None:
    """The white lines between the squares, as one stroke each way."""
    right, bottom = x + columns * SQUARE + 0.2, top + rows * SQUARE + 0.2
    down = [x + step * SQUARE for step in range(columns + 1)]
    across = [top + step * SQUARE for step in range(rows + 1)]
    axes.vlines(down, top - 0.2, bottom, color="white", lw=1.1)
    axes.hlines(across, x - 0.2, right, color="white", lw=1.1)


@figure("Outcomes of 1,000 patients")
def committee_thousand(evidence: Evidence) -> Picture | Absent:
    """Of 1,000 patients like these, how many the model flags rightly, flags in error, misses, rightly leaves alone."""
    with styled():
        found = thousand(evidence)
        drawn = draw_thousand(evidence)
        if isinstance(found, Absent) or isinstance(drawn, Absent):
            return found if isinstance(found, Absent) else Absent(Fact("no_counts_per_thousand"))
        count = found.count
        ours = evidence.local_site
        whose = "All places together" if ours is None else summary_of(evidence, ours).site
        caption = (
            f"{whose}, {found.n:,} patients, brought to 1,000. Flagged: a risk of "
            f"{number(found.threshold * 100, 0)}% or more."
        )
        told = (
            f"Of 1,000 patients {count['true_positive'] + count['false_negative']:,} have the outcome: "
            f"{count['true_positive']:,} are flagged and {count['false_negative']:,} missed; of the others "
            f"{count['false_positive']:,} are flagged in error and {count['true_negative']:,} are not."
        )
        return picture("committee_thousand", drawn, caption, told)


# ---- the ranking, place by place ------------------------------------------------------------------------------------

ROW = 5.2
"""The height of a row of the forest in mm."""
WIDE = 1.7
"""The stroke, in points, of our place and of all together: in grey it tells them from the other places."""
MOST_PLACES = 10
"""Places of which the forest has a row; of more it has ours and those at both ends."""


@dataclass(frozen=True)
class Ranking:
    """A row of the forest: a place with its ranking of 100, and whether it is ours."""

    label: str
    found: Estimate
    is_ours: bool


def rankings(evidence: Evidence) -> tuple[Ranking, ...] | Absent:
    """The places from the best to the worst ranking; of many, those at both ends and ours."""
    known = [
        Ranking(site.site, found, site.name == evidence.local_site)
        for site in externals(evidence)
        if isinstance(found := find(evidence, "auroc", site.name), Estimate)
    ]
    if len(known) < 2:
        return Absent(Fact("ranking_at_fewer_than_two_places"))
    ordered = sorted(known, key=lambda one: -one.found.value)
    half = MOST_PLACES // 2
    if len(ordered) <= MOST_PLACES:
        return tuple(ordered)
    return tuple(one for at, one in enumerate(ordered) if at < half or at >= len(ordered) - half + 1 or one.is_ours)


def draw_committee_ranking(evidence: Evidence) -> Figure | Absent:
    """Each place's ranking as a square with its range, ours in blue, all together, and what a new place may expect."""
    rows = rankings(evidence)
    if isinstance(rows, Absent):
        return rows
    pooled = find(evidence, "auroc", POOLED)
    extra = [] if isinstance(pooled, Absent) else ["All together"]
    expected = None if isinstance(pooled, Absent) else expected_range(pooled)
    extra += ["A new place"] if expected is not None else []
    names = shortened([one.label for one in rows], 44, 600)
    left = max(text_width(text, 600) for text in (*names, *extra, "Place")) + 4
    count = len(rows) + len(extra)
    height = count * ROW
    width = COMMITTEE - left - 3
    drawn = sheet(COMMITTEE, height + 12.5)
    axes = panel(drawn, left, 0.5, width, height)
    lows = [one.found.low if one.found.low is not None else one.found.value for one in rows]
    lows += [pooled.low] if isinstance(pooled, Estimate) and pooled.low is not None else []
    start = min(0.5, *(int(10 * low) / 10 for low in (*lows, expected[0] if expected else 1.0)))
    axes.set_xlim(start, 1)
    axes.set_ylim(count - 0.5, -0.5)
    axes.spines["left"].set_visible(False)
    axes.axvline(0.5, color=INK_2, lw=0.7, dashes=(3, 2), zorder=1)
    for at, one in enumerate(rows):
        colour, stroke = (BLUE, WIDE) if one.is_ours else (INK_2, 1.0)
        write(drawn, 0, 0.5 + (at + 0.5) * ROW, names[at], weight=600 if one.is_ours else 400, color=colour)
        if one.found.low is not None and one.found.high is not None:
            axes.plot([one.found.low, one.found.high], [at, at], color=colour, lw=stroke, zorder=2)
        axes.plot([one.found.value], [at], "s", ms=5.2 if one.is_ours else 3.9, color=colour, zorder=3)
    for at, text in enumerate(extra, start=len(rows)):
        write(drawn, 0, 0.5 + (at + 0.5) * ROW, text, weight=600)
        if text == "All together" and isinstance(pooled, Estimate):
            if pooled.low is not None and pooled.high is not None:
                axes.plot([pooled.low, pooled.high], [at, at], color=BLUE, lw=WIDE, zorder=2)
            axes.plot([pooled.value], [at], "D", ms=4.6, color=BLUE, zorder=3)
        elif expected is not None:
            low, high = expected
            axes.add_patch(Rectangle((low, at - 0.22), high - low, 0.44, fc="white", ec=BLUE, lw=1.0, zorder=2))
    step = 0.1 if start >= 0.4 else 0.2
    places = [round(1 - step * k, 1) for k in range(int(round((1 - start) / step, 6)) + 1)][::-1]
    ticks(axes, "x", places, [f"{100 * place:.0f}" for place in places])
    write(drawn, left + width / 2, height + 8.6, "Ranked right, of 100 (50: by chance)", ha="center")
    return drawn


def _together(pooled: Estimate | Absent, places: int) -> str:
    """On how many of the places that are drawn the value of all together rests, where these are not all."""
    count = places if isinstance(pooled, Absent) else int(pooled.details.get("k") or places)
    return "" if count == places else f" All together: {count} of them."


def _not_known(places: int) -> str:
    return f" Not known at {places} more place{'' if places == 1 else 's'}." if places else ""


@figure("Ranking, place by place")
def committee_ranking(evidence: Evidence) -> Picture | Absent:
    """How often, of 100 times, the patient with the outcome has the higher risk, at each place and in a new one."""
    with styled():
        rows = rankings(evidence)
        drawn = draw_committee_ranking(evidence)
        if isinstance(rows, Absent) or isinstance(drawn, Absent):
            return rows if isinstance(rows, Absent) else Absent(Fact("ranking_at_fewer_than_two_places"))
        sites = externals(evidence)
        known = [site for site in sites if isinstance(find(evidence, "auroc", site.name), Estimate)]
        left_out = len(known) - len(rows)
        rest = f" {left_out} places between both ends are not drawn." if left_out else ""
        rest += _not_known(len(sites) - len(known))
        pooled = find(evidence, "auroc", POOLED)
        new = None if isinstance(pooled, Absent) else expected_range(pooled)
        bar = " Hollow bar: the expected range in a new place." if new is not None else ""
        caption = (
            f"{len(known)} places, {sum(site.n for site in known):,} patients. Square: the ranking; line: its range "
            f"({level_text(evidence)}).{_together(pooled, len(known))}{bar}{rest}"
        )
        best, worst = rows[0], rows[-1]
        low, high = (number(100 * one.found.value, 0) for one in (worst, best))
        told = f"Ranked right, of 100: from {low} in {worst.label} to {high} in {best.label}"
        if low == high:
            told = f"Ranked right, of 100: {low} at every place"
        elsewhere = (
            ""
            if new is None
            else f"; expected range in a new place: {number(100 * new[0], 0)} to {number(100 * new[1], 0)}"
        )
        return picture("committee_ranking", drawn, caption, f"{told}{elsewhere}.")
