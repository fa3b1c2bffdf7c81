"""The pictures of the committee edition: are the percentages right, whom does it find, and what differs where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from dossier.core import bands, claims, facts, multiplicity, register, types
from dossier.report.figures import calibration, canvas, captions, data, forest, ink, placing
from dossier.typeset import widths
from dossier.typeset.names import told_apart
from dossier.typeset.numbers import number, of_how_many, people, threshold
from dossier.typeset.words import counted

SQUARE = 1.5
ROWS = 13


def alone(evidence: types.Evidence) -> types.DatasetSummary | types.Absent:
    """The hospital that a picture can be of: ours where it is named, or the only one."""
    if evidence.local_site is not None:
        return types.summary_of(evidence, evidence.local_site)
    sites = types.externals(evidence)
    return sites[0] if len(sites) == 1 else types.Absent(facts.Fact("hospitals_together_describe_none"))


# ---- the percentages of one hospital --------------------------------------------------------------------------------

WIDTH = 62.4
"""How wide the sheet of the calibration is, in mm."""


@canvas.figure("Percentages and what happened")
def committee_calibration(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How often the outcome really happened among patients of one hospital to whom the model gave each risk."""
    site = register.present(alone(evidence))
    curve = register.present(types.find_curve(evidence, "calibration_curve", site.name))
    end = calibration.curve_end([curve])
    top, height = 6.5, 29.6
    drawn = canvas.sheet(WIDTH, top + height + 10.4)
    canvas.write(drawn, 0, 2.2, "Share who had the outcome")
    # Round risks from 0 to the end of the axes, in per cent.
    digit = f"{end:e}"[0]
    steps = 3 if digit in "36" else 4 if digit in "248" else 5
    places = [end * step / steps for step in range(steps + 1)]
    texts = ["0", *(f"{position * 100:g}%" for position in places[1:])]
    left = max(widths.text_width(text) for text in texts) + 2.2
    width = WIDTH - left - widths.text_width(texts[-1]) / 2 - 0.3
    axes = canvas.panel(drawn, left, top, width, height, (0, end), (0, end))
    calibration.draw_curve(axes, curve, end, site.rarest < bands.FEW_FOR_A_BAND, 1.6)
    name = "our hospital" if evidence.local_site else widths.shortened([site.site], 26, 600)[0]
    risk = data.column(curve, "risk")
    observed, *bounds = (placing.drawn(axes, risk, data.column(curve, name)) for name in ("observed", "low", "high"))
    perfect = placing.drawn(axes, [0, end], [0, end])
    taken: list[placing.Box] = []
    bold: dict[str, Any] = {"prefer": 0.6, "color": ink.BLUE, "weight": 600}
    quiet: dict[str, Any] = {"prefer": 0.75, "color": ink.INK_2, "weight": 400}
    placing.label(axes, name, observed, np.concatenate((perfect, *bounds)), taken, **bold)
    placing.label(axes, "perfect", perfect, np.concatenate((observed, *bounds)), taken, **quiet)
    for direction in canvas.BOTH:
        canvas.ticks(axes, direction, places, texts)
    axes.titles("Percentage that the model showed", below=8.2)
    caption = captions.said("committee_calibration", evidence, few=site.rarest < bands.FEW_FOR_A_BAND)
    ratio = types.find(evidence, "oe_ratio", site.name)
    said = f"How often patients of {site.site} had the outcome, by the percentage that the model showed"
    said += "" if isinstance(ratio, types.Absent) else f": {number(ratio.value * 100, 0)} per 100 predicted"
    return canvas.Drawn(drawn, caption, f"{said}.")


# ---- the percentages of several hospitals ---------------------------------------------------------------------------

WHERE_NONE_IS_DECLARED = 0.5


def came(evidence: types.Evidence) -> tuple[float, tuple[Row, ...]] | types.Absent:
    """The first threshold, and what came of that risk at each hospital that the curve reaches; of many, both ends."""
    risk = evidence.release.thresholds.primary or WHERE_NONE_IS_DECLARED
    rows = []
    for site in types.externals(evidence):
        curve = types.find_curve(evidence, "calibration_curve", site.name)
        found = types.read_off(curve, "risk", risk) if isinstance(curve, types.Curve) else None
        if found is not None and {"observed", "low", "high"} <= set(found):
            ends = (found["observed"], found["low"], found["high"])
            rows.append(Row(site, *ends, is_off=claims.is_off_at(evidence, site.name, risk, ends)))
    if len(rows) < 2:
        return types.Absent(facts.Fact("percentages_at_fewer_than_two_hospitals"))
    ranked = sorted(rows, key=lambda row: -row.value)
    half = MOST_PLACES // 2
    kept = ranked if len(ranked) <= MOST_PLACES else [*ranked[:half], *ranked[-half:]]
    return risk, tuple(row for row in rows if row in kept)


@canvas.figure("What came of one percentage, hospital by hospital")
def committee_percentages(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Where the model showed one percentage: how many of 100 patients had the outcome, at each hospital."""
    if isinstance(only := alone(evidence), types.DatasetSummary):
        return types.Absent(facts.Fact("curve_shows_more", dataset=only.name))
    found = register.present(came(evidence))
    (risk, rows), among = found, of_how_many(found[0])
    quarters = [0, 0.25, 0.5, 0.75, 1]
    texts = [f"{among * part:,.0f}" for part in quarters]
    axes = _forest(rows, (0.0, 1.0), risk, right=max(3.0, widths.text_width(texts[-1]) / 2))
    canvas.ticks(axes, "x", quarters, texts)
    shown = threshold(risk, percent=True)
    text = f"Had the outcome, of {among:,} patients to whom it said {shown}"
    middle = min(axes.x + axes.width / 2, canvas.COMMITTEE - widths.text_width(text) / 2)
    canvas.write(axes.sheet, middle, len(rows) * ROW + 8.6, text, ha="center")
    beside = any(
        not row.is_off and multiplicity.at_risk(risk, row.value, row.low or 0.0, row.high or 1.0)[0] for row in rows
    )
    off, left = any(row.is_off for row in rows), _left_out(len(types.externals(evidence)) - len(rows))
    caption = captions.said("committee_percentages", evidence, shown=shown, off=off, beside=beside, left=left)
    high, low = (end(rows, key=lambda row: row.value) for end in (max, min))
    text = (
        f"Where it said {shown}, of {among:,} patients {people(low.value, among)} ({low.label}) to "
        f"{people(high.value, among)} ({high.label}) had the outcome."
    )
    return canvas.Drawn(axes.sheet, caption, text)


def _left_out(hospitals: int) -> str:
    return f" Not drawn: {counted(hospitals, 'hospital')}." if hospitals > 0 else ""


# ---- what happens to 1,000 patients ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Thousand:
    """What happens to 1,000 patients at the primary threshold, and how many patients the counts rest on."""

    threshold: float
    n: int
    count: Mapping[str, int]


@register.absent_with_its_parts
def thousand(evidence: types.Evidence) -> Thousand | types.Absent:
    """The counts per 1,000 patients at the primary threshold, of one hospital: several describe none of them."""
    threshold = evidence.release.thresholds.primary
    if threshold is None:
        return types.Absent(facts.Fact("release_declares_no_threshold"))
    site = register.present(alone(evidence))
    found = types.brought_to(register.present(types.find_curve(evidence, "classification", site.name)), 1000)
    for row, position in enumerate(found.columns["threshold"]):
        if position == threshold:
            count = {name: int(found.columns[name][row] or 0) for name in types.CELLS}
            if of_how_many(min(threshold, (count["true_positive"] + count["false_negative"]) / 1000)) > 1000:
                return types.Absent(facts.Fact("too_rare_among_1000"))
            return Thousand(threshold, found.n, count)
    return types.Absent(facts.Fact("no_counts_at_primary_threshold"))


def _blocks(with_outcome: int, without: int, head: float) -> tuple[int, float]:
    """How many rows of squares the two blocks need to stand side by side, and where the second starts."""
    for rows in range(ROWS, 60):
        first, second = (-(-count // rows) * SQUARE for count in (with_outcome, without))
        start = max(first, head) + 6
        if start + max(second, 34) <= canvas.COMMITTEE:
            return rows, start
    return 60, head + 6


def _squares(axes: Axes, x: float, top: float, rows: int, start: int, count: int, colour: str) -> None:
    """So many squares, column by column from a place on: at most three rectangles under the white lines."""
    (first, upper), (last, lower) = divmod(start, rows), divmod(start + count, rows)
    whole = first + (upper > 0)
    blocks = [(first, upper, first + 1, rows), (whole, 0, last, rows), (last, 0, last + 1, lower)]
    seen = upper > 0, last > whole, lower > 0
    if first == last:
        blocks, seen = [(first, upper, first + 1, lower)], (count > 0, False, False)
    for (left, above, right, below), is_seen in zip(blocks, seen, strict=False):
        if is_seen:
            corner, size = (
                (x + left * SQUARE, top + above * SQUARE),
                ((right - left) * SQUARE, (below - above) * SQUARE),
            )
            axes.add_patch(Rectangle(corner, *size, fc=colour, ec="none"))


@canvas.figure("Outcomes of 1,000 patients")
def committee_thousand(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Of 1,000 patients like these, how many the model flags rightly, flags in error, misses, rightly leaves alone."""
    found = register.present(thousand(evidence))
    count = found.count
    with_outcome = count["true_positive"] + count["false_negative"]
    without = count["false_positive"] + count["true_negative"]
    heads = (f"{with_outcome:,} have the outcome", f"{without:,} do not")
    rows, start = _blocks(with_outcome, without, widths.text_width(heads[0], 600))
    top = 5.8
    bottom = top + rows * SQUARE
    drawn = canvas.sheet(canvas.COMMITTEE, bottom + 12.2)
    axes = canvas.in_millimetres(drawn)
    unwell = (("true_positive", ink.BLUE, "flagged"), ("false_negative", ink.ORANGE, "missed"))
    well = (("false_positive", ink.BLUE, "flagged in error"), ("true_negative", ink.TINTS[2], "rightly not flagged"))
    for x, head, groups in ((0.0, heads[0], unwell), (start, heads[1], well)):
        canvas.write(drawn, x, 2.2, head, weight=600)
        at = 0
        for name, colour, _ in groups:
            _squares(axes, x, top, rows, at, count[name], colour)
            at += count[name]
        # The white lines between the squares, as one stroke each way.
        columns = -(-at // rows)
        downward = [x + step * SQUARE for step in range(columns + 1)]
        across = [top + step * SQUARE for step in range(rows + 1)]
        axes.vlines(downward, top - 0.2, bottom + 0.2, color="white", lw=1.1)
        axes.hlines(across, x - 0.2, downward[-1] + 0.2, color="white", lw=1.1)
        for line, (name, colour, words) in enumerate(groups):
            y, number, missed = bottom + 3.6 + line * 5.2, f"{count[name]:,}", colour == ink.ORANGE
            alert = {"color": ink.ALERT} if missed else {}
            axes.add_patch(Rectangle((x, y - 1.15), 2.3, 2.3, fc=colour, ec="none"))
            canvas.write(drawn, x + 3.6, y, number, weight=600, **alert)
            beside = x + 3.6 + widths.text_width(number, 600) + 1.1
            canvas.write(drawn, beside, y, words, weight=600 if missed else 400, **alert)
    site = alone(evidence)
    whose = "" if isinstance(site, types.Absent) else f"{site.site}, "
    from_on = threshold(found.threshold, percent=True)
    caption = captions.said("committee_thousand", evidence, whose=whose, of=found.n, at=from_on)
    text = captions.said("committee_thousand_message", evidence, with_outcome=with_outcome, **count)
    return canvas.Drawn(drawn, caption, text)


# ---- sick from well, hospital by hospital ---------------------------------------------------------------------------

ROW = 4.5
"""The height of a row of the forest in mm."""
WIDE = 1.7
"""The stroke, in points, of our hospital: in grey it tells it from the others."""
MOST_PLACES = 10
"""Hospitals of which the forest has a row; of more it has ours and those at both ends."""


@dataclass(frozen=True)
class Row:
    """A row of a forest: a hospital, what was found there, with the range, and whether it is ours."""

    of: types.DatasetSummary
    value: float
    low: float | None
    high: float | None
    is_ours: bool = False
    is_off: bool = False
    """Whether what was found is shown to be wrong."""

    @property
    def label(self) -> str:
        """What the hospital is called."""
        return self.of.site


def rankings(evidence: types.Evidence) -> tuple[Row, ...] | types.Absent:
    """The hospitals as the tables list them, ours first; of many, those at both ends and ours."""
    known = [
        Row(site, auroc.value, auroc.low, auroc.high, site.name == evidence.local_site)
        for site, auroc in types.estimated(evidence, "auroc")
    ]
    if len(known) < 2:
        return types.Absent(facts.Fact("known_at_fewer_than_two_hospitals"))
    ranked = sorted(known, key=lambda row: -row.value)
    half = MOST_PLACES // 2
    ends = ranked if len(ranked) <= MOST_PLACES else [*ranked[:half], *ranked[len(ranked) - half + 1 :]]
    return tuple(sorted((row for row in known if row in ends or row.is_ours), key=lambda row: not row.is_ours))


def _forest(
    rows: Sequence[Row], ends: canvas.Ends, broken: float, new: tuple[float, float] | None = None, right: float = 3.0
) -> canvas.Panel:
    """A sheet with a row a hospital, named to the left, and one for what a new one may expect; with a broken line."""
    names = [*widths.shortened([row.label for row in rows], 44, 600), *([] if new is None else ["A new hospital"])]
    left = max(widths.text_width(name, 600) for name in names) + 4
    plot = forest.Rows(canvas.sheet(canvas.COMMITTEE, len(names) * ROW + 12.5), 0.5, ROW)
    axes = plot.axes(left, canvas.COMMITTEE - left - right, len(names), ends)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.axvline(broken, color=ink.INK_2, lw=0.7, dashes=(3, 2), zorder=1)
    named = list(enumerate(zip(rows, names, strict=False)))
    for at, (row, name) in canvas.of_each(plot.sheet, named, lambda each: each[1][0].of):
        colour, stroke, size, weight = (ink.BLUE, WIDE, 5.2, 600) if row.is_ours else (ink.INK_2, 1.0, 3.9, 400)
        plot.write(at + 0.5, 0, name, weight=weight, color=colour)
        colour, stroke = (ink.ALERT, WIDE) if row.is_off else (colour, stroke)
        if row.low is not None and row.high is not None:
            axes.plot([row.low, row.high], [at, at], color=colour, lw=stroke, zorder=2)
        axes.plot([row.value], [at], "D" if row.is_off else "s", ms=size, color=colour, zorder=3)
    if new is not None:
        plot.write(len(rows) + 0.5, 0, names[-1], weight=600, color=ink.INK)
        corner, wide = (new[0], len(rows) - 0.22), new[1] - new[0]
        axes.add_patch(Rectangle(corner, wide, 0.44, fc="white", ec=ink.BLUE, lw=1.0, zorder=2))
    return axes


@canvas.figure("Telling sick from well, hospital by hospital")
def committee_ranking(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How often, of 100 times, the patient with the outcome has the higher risk, at each hospital and in a new one."""
    rows, tells = register.present(rankings(evidence)), f"Tells {told_apart(evidence)}"
    pooled = types.find(evidence, "auroc", types.POOLED)
    expected = None if isinstance(pooled, types.Absent) else types.expected_range(pooled)
    lows = [row.value if row.low is None else row.low for row in rows]
    start = min(0.5, *(int(10 * low) / 10 for low in (*lows, expected[0] if expected else 1.0)))
    axes = _forest(rows, (start, 1.0), 0.5, expected)
    step = 0.1 if start >= 0.4 else 0.2
    places = [round(1 - step * k, 1) for k in range(int(round((1 - start) / step, 6)) + 1)][::-1]
    canvas.ticks(axes, "x", places, [f"{100 * position:.0f}" for position in places])
    axes.titles(f"{told_apart(evidence, 'told_apart_in_short')}, of 100 (50: a coin toss)", below=8.1)
    rest = _left_out(len(types.externals(evidence)) - len(rows))
    bar = " Broad bar: what a new hospital may expect." if expected is not None else ""
    pairs = f"Of 100 pairs, {told_apart(evidence, 'pairs')}."
    caption = f"{pairs} Line: the range ({captions.level_text(evidence)}).{bar}{rest}"
    best, worst = (end(rows, key=lambda row: row.value) for end in (max, min))
    low, high = (number(100 * each.value, 0) for each in (worst, best))
    text = f"{tells}, of 100: from {low} in {worst.label} to {high} in {best.label}"
    if low == high:
        text = f"{tells}, of 100: {low} at every hospital"
    if expected is not None:
        low, high = (number(100 * end, 0) for end in expected)
        text += f"; expected range in a new hospital: {low} to {high}"
    return canvas.Drawn(axes.sheet, caption, f"{text}.")
