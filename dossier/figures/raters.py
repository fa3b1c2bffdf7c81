"""Pictures of the raters: how sure each is, whom they agree with, and what their answers say."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.facts import Fact
from dossier.figures.canvas import (
    BAND,
    BLUE,
    BROKEN,
    FULL,
    HAIR,
    HALF,
    INK,
    INK_2,
    LINE,
    TINTS,
    Key,
    column,
    heatmap,
    inner_ticks,
    key_row,
    level_text,
    panel,
    picture,
    sheet,
    styled,
    text_width,
    tick_text,
    ticks,
    write,
)
from dossier.register import figure
from dossier.types import READERS, Absent, Curve, Estimate, Evidence, Picture, Withheld, summary_of
from dossier.typeset.methods import method_text
from dossier.typeset.numbers import number, per_cent
from dossier.typeset.words import counted, setting

MOST_ROWS = 44


def curve_of_raters(evidence: Evidence, name: str) -> Curve | Absent:
    """A curve that exists at the raters' own site only; else the reason why it does not."""
    made = [one.found for one in evidence.curves if one.curve == name and one.subset is None]
    known = [one for one in made if isinstance(one, Curve)]
    if known:
        return known[0]
    reasons = sorted((one for one in made if isinstance(one, Absent)), key=lambda one: isinstance(one, Withheld))
    return reasons[-1] if reasons else Absent(Fact("no_raters"))


# ---- confidence by rater --------------------------------------------------------------------------------------------

RIDGE = 1.9
"""How many rows a ridge may rise."""


def draw_confidence(evidence: Evidence) -> Figure | Absent:
    """A ridge for each rater: how their answers spread over the scale of confidence, the least sure rater on top."""
    curve, each = (curve_of_raters(evidence, name) for name in ("confidence_by_rater", "raters_one_by_one"))
    if isinstance(curve, Absent):
        return curve
    raters = _by_confidence(curve, each)[:MOST_ROWS]
    mean = _per_rater(each, "confidence")
    right = _per_rater(each, "accuracy")
    share = column(curve, "share")
    highest = float(np.nanmax(share))
    step = 6.0 if len(raters) <= 20 else LINE
    left, width, top = 18.0, 104.0, 6.0 + step * (RIDGE - 1)
    height = step * len(raters)
    drawn = sheet(FULL, top + height + 10.0)
    axes = panel(drawn, left, top - step * RIDGE, width, height + step * RIDGE)
    levels = np.unique(column(curve, "confidence"))
    gap = float(np.min(np.diff(levels))) / 2 if len(levels) > 1 else 0.1
    axes.set_xlim(min(0.0, float(levels[0]) - gap), max(1.0, float(levels[-1]) + gap))
    axes.set_ylim(len(raters), -RIDGE)
    axes.spines["left"].set_visible(False)
    places = [0.0, 0.25, 0.5, 0.75, 1.0]
    ticks(axes, "x", places, [tick_text(place) for place in places])
    for title, x, known in (("mean", 140.0, mean), ("right", FULL, right)):
        if known:
            write(drawn, x, 2.2, title, ha="right", color=INK_2)
    for row, rater in enumerate(raters):
        own = column(curve, "rater") == rater
        across = np.concatenate(([levels[0] - gap], column(curve, "confidence")[own], [levels[-1] + gap]))
        rise = np.concatenate(([0.0], share[own], [0.0])) / highest * RIDGE
        base = row + 0.85
        axes.fill_between(across, base, base - rise, color=BAND, lw=0, zorder=2 + row)
        axes.plot(across, base - rise, color=BLUE, lw=1.0, zorder=2.5 + row, gid=f"rater-{rater:.0f}", clip_on=False)
        y = top + (row + 0.62) * step
        write(drawn, 0, y, f"Rater {rater:.0f}")
        if rater in mean:
            axes.plot([mean[rater]] * 2, [base, base - 0.42], color=INK, lw=1.4, zorder=99)
            write(drawn, 140.0, y, number(mean[rater]), ha="right", weight=600)
        if right:
            write(drawn, FULL, y, per_cent(right[rater]) if rater in right else "–", ha="right", color=INK_2)
    write(drawn, left + width / 2, top + height + 7.6, "Confidence as stated", ha="center")
    return drawn


def _per_rater(each: Curve | Absent, name: str) -> dict[float, float]:
    """A column of the raters by their number, without the gaps."""
    if isinstance(each, Absent):
        return {}
    pairs = zip(column(each, "rater"), column(each, name), strict=True)
    return {float(rater): float(value) for rater, value in pairs if not np.isnan(value)}


def _by_confidence(curve: Curve, each: Curve | Absent) -> list[float]:
    """The raters from the least to the most sure."""
    mean = _per_rater(each, "confidence")
    raters = list(dict.fromkeys(float(rater) for rater in column(curve, "rater")))
    return sorted(raters, key=lambda rater: (mean.get(rater, 0.0), rater))


@figure("Confidence by rater")
def confidence_by_rater_joyplot(evidence: Evidence) -> Picture | Absent:
    """How sure each rater says to be: raters who use the scale alike have ridges alike."""
    with styled():
        drawn, curve = draw_confidence(evidence), curve_of_raters(evidence, "confidence_by_rater")
        if isinstance(drawn, Absent):
            return drawn
        if isinstance(curve, Absent):
            return curve
        raters = len(np.unique(column(curve, "rater")))
        caption = (
            f"{counted(raters, 'rater')}, {counted(curve.n, 'answer')}, {method_text(curve.method)}. "
            "Height: share of the rater's answers, one scale for all; black tick: the mean, printed on the right"
        )
        right = _per_rater(curve_of_raters(evidence, "raters_one_by_one"), "accuracy")
        caption += " beside the share that is right." if right else "."
        if raters > MOST_ROWS:
            caption += f" {counted(raters - MOST_ROWS, 'rater')} more are in results.json."
        mean = _per_rater(curve_of_raters(evidence, "raters_one_by_one"), "confidence")
        told = f"How {counted(raters, 'rater')} spread over the scale of confidence"
        if mean:
            low, high = min(mean, key=lambda one: (mean[one], one)), max(mean, key=lambda one: (mean[one], -one))
            told += f": mean confidence runs from {_rater(mean, low)} to {_rater(mean, high)}"
        return picture("confidence_by_rater_joyplot", drawn, caption, f"{told}.")


def _rater(values: dict[float, float], rater: float) -> str:
    return f"{number(values[rater])} (rater {rater:.0f})"


# ---- agreement ------------------------------------------------------------------------------------------------------

STEPS = (0.2, 0.4, 0.6, 0.8)
SHADES = ("white", *TINTS, "#a9bccb")
"""From slight agreement to almost perfect, each a step darker in grey."""
CELL = 9.0


def shade(kappa: float) -> str:
    """The shade of a kappa: darker is more agreement."""
    return SHADES[sum(kappa >= step for step in STEPS)]


def draw_agreement(evidence: Evidence) -> Figure | Absent:
    """The kappa of every pair of raters as a matrix; with too many raters for that, the mean of each."""
    curve = curve_of_raters(evidence, "rater_agreement")
    if isinstance(curve, Absent):
        return _draw_mean_agreement(evidence, curve)
    first, second, kappa = (column(curve, name) for name in ("first", "second", "kappa"))
    if len(kappa) == 1:
        return Absent(Fact("one_pair_of_raters"))
    raters = int(second.max())
    left, top = 16.0, 8.0
    wide = min(CELL, (FULL - left) / raters)
    high = min(wide, 6.0)
    drawn = sheet(FULL, top + raters * high + 0.5)
    axes = panel(drawn, left, top, wide * raters, high * raters)
    axes.axis("off")
    _key_of_shades(drawn)
    for rater in range(raters):
        write(drawn, 0, top + (rater + 0.5) * high, f"Rater {rater + 1}")
        if rater < raters - 1:
            # The number of a column stands on the diagonal, right above its cells.
            axes.text(rater + 0.5, rater + 0.5, f"{rater + 1}", ha="center", va="center", weight=600)
    pairs = (second.astype(int) - 1, first.astype(int) - 1)
    shades, said = np.full((raters, raters), np.nan), np.full((raters, raters), "", dtype=object)
    shades[pairs] = [SHADES.index("white" if np.isnan(value) else shade(float(value))) for value in kappa]
    said[pairs] = ["–" if np.isnan(value) else number(float(value)) for value in kappa]
    heatmap(axes, shades, SHADES, said)
    return drawn


def _key_of_shades(drawn: Figure) -> None:
    texts = ("below 0.2", "from 0.2", "from 0.4", "from 0.6", "from 0.8")
    write(drawn, 0, 2.2, "Kappa", color=INK_2)
    entries = [Key(text, colour, fill=True, edge=INK_2) for text, colour in zip(texts, SHADES, strict=True)]
    key_row(drawn, 16.0, 2.2, entries)


def _draw_mean_agreement(evidence: Evidence, why: Absent) -> Figure | Absent:
    """Each rater's kappa with the others on average, as points."""
    each = curve_of_raters(evidence, "raters_one_by_one")
    if isinstance(each, Absent):
        return why
    mean = _per_rater(each, "kappa")
    if not mean:
        return why
    raters = sorted(mean)[:MOST_ROWS]
    left, width, top = 18.0, 128.0, 2.0
    drawn = sheet(FULL, top + LINE * len(raters) + 10.0)
    axes = panel(drawn, left, top, width, LINE * len(raters))
    axes.set_ylim(len(raters), 0)
    axes.set_xlim(min(0.0, *mean.values()), 1)
    axes.spines["left"].set_visible(False)
    places = inner_ticks(*axes.get_xlim(), 5)
    ticks(axes, "x", places, [tick_text(place) for place in places])
    for row, rater in enumerate(raters):
        y = top + (row + 0.5) * LINE
        write(drawn, 0, y, f"Rater {rater:.0f}")
        axes.plot([0, mean[rater]], [row + 0.5] * 2, color=HAIR, lw=0.7, zorder=1)
        axes.plot([mean[rater]], [row + 0.5], "o", ms=4.2, mfc=BLUE, mec=BLUE, zorder=2)
        write(drawn, FULL, y, number(mean[rater]), ha="right", weight=600)
    write(drawn, left + width / 2, top + LINE * len(raters) + 7.6, "Kappa with the other raters, mean", ha="center")
    return drawn


@figure("Agreement of the raters")
def rater_agreement_matrix(evidence: Evidence) -> Picture | Absent:
    """How much every pair of raters agrees beyond chance."""
    with styled():
        drawn = draw_agreement(evidence)
        if isinstance(drawn, Absent):
            return drawn
        curve = curve_of_raters(evidence, "rater_agreement")
        if isinstance(curve, Absent):
            each = curve_of_raters(evidence, "raters_one_by_one")
            mean = _per_rater(each, "kappa")
            cases = "" if isinstance(each, Absent) else f", {counted(each.n, 'case')}"
            caption = (
                f"{counted(len(mean), 'rater')}{cases}. Cohen's kappa with each other rater, on average: 0 is chance, "
                "1 full agreement. There are too many pairs to show one by one."
            )
            low, high = min(mean, key=lambda one: (mean[one], one)), max(mean, key=lambda one: (mean[one], -one))
            told = f"Mean kappa with the others runs from {_rater(mean, low)} to {_rater(mean, high)}."
            return picture("rater_agreement_matrix", drawn, caption, told)
        kappa = column(curve, "kappa")
        known = kappa[~np.isnan(kappa)]
        raters = int(column(curve, "second").max())
        caption = (
            f"{counted(raters, 'rater')}, {counted(curve.n, 'case')}. Cohen's kappa of each pair over the cases that "
            "both labelled: 0 is chance, 1 full agreement. The bold number heads its column."
        )
        if len(known) < len(kappa):
            caption += " –: not defined, as all labels are equal or no case is shared."
        if not len(known):
            return picture("rater_agreement_matrix", drawn, caption, "No pair of raters has a kappa.")
        low, high = int(np.nanargmin(kappa)), int(np.nanargmax(kappa))
        told = f"Kappa of {counted(len(known), 'pair')} of raters "
        alike = number(float(kappa[low])) == number(float(kappa[high]))
        told += (
            f"is {number(float(kappa[low]))}." if alike else f"runs from {_pair(curve, low)} to {_pair(curve, high)}."
        )
        return picture("rater_agreement_matrix", drawn, caption, told)


def _pair(curve: Curve, row: int) -> str:
    first, second, kappa = (float(column(curve, name)[row]) for name in ("first", "second", "kappa"))
    return f"{number(kappa)} (raters {first:.0f} and {second:.0f})"


# ---- answers by complexity and confidence ---------------------------------------------------------------------------

PANEL_LEFT, PANEL_GAP, PANEL_HEIGHT = 12.0, 14.0, 48.0
BY = (
    ("rater_accuracy_by_complexity", "Complexity that the rater saw", "complex"),
    ("rater_accuracy_by_confidence", "Confidence that the rater stated", "sure"),
)


def _panels(count: int) -> tuple[float, list[tuple[float, float]]]:
    """The width of the sheet, and where each panel stands and how wide it is."""
    if count == 1:
        return HALF, [(PANEL_LEFT, HALF - PANEL_LEFT - 2.0)]
    wide = (FULL - 2 * PANEL_LEFT - 4.0) / 2
    return FULL, [(PANEL_LEFT, wide), (FULL - 2.0 - wide, wide)]


def draw_answers(evidence: Evidence) -> Figure | Absent:
    """The share of right answers by complexity and by confidence."""
    found = [(curve_of_raters(evidence, name), title) for name, title, _ in BY]
    known = [(curve, title) for curve, title in found if isinstance(curve, Curve)]
    if not known:
        first = found[0][0]
        return first if isinstance(first, Absent) else Absent(Fact("no_answers"))
    width, places = _panels(len(known))
    drawn = sheet(width, 5.5 + PANEL_HEIGHT + 10.0)
    low = min(0.5, *(float(np.nanmin(column(curve, "low"))) for curve, _ in known))
    bottom = next(place for place in (0.75, 0.5, 0.25, 0.0) if low >= place or place == 0)
    for letter, (left, wide), (curve, title) in zip("ab", places, known, strict=False):
        axes = panel(drawn, left, 5.5, wide, PANEL_HEIGHT)
        axes.set_xlim(0, 1)
        axes.set_ylim(bottom, 1)
        steps = inner_ticks(bottom, 1, 3)
        ticks(axes, "y", steps, [tick_text(round(step * 100, 6)) for step in steps])
        ticks(axes, "x", [0, 0.5, 1], ["0", "0.5", "1"])
        x, y = column(curve, "mean"), column(curve, "share_right")
        axes.plot(x, y, color=BLUE, lw=0.8, zorder=2, clip_on=False)
        axes.vlines(x, column(curve, "low"), column(curve, "high"), color=INK_2, lw=1.0, zorder=1.5)
        axes.plot(x, y, "o", ms=4.4, mfc=BLUE, mec=BLUE, zorder=3, clip_on=False, ls="none")
        write(drawn, left, 2.2, letter, weight=600)
        write(drawn, left + 4.0, 2.2, f"{counted(curve.n, 'answer')}")
        write(drawn, left + wide / 2, 5.5 + PANEL_HEIGHT + 7.6, title, ha="center")
    write(drawn, 2.0, 5.5 + PANEL_HEIGHT / 2, "Right answers, %", rotation=90, ha="center", va="center")
    return drawn


def _who(evidence: Evidence) -> str:
    """How many raters judged how many cases, and where."""
    for one in evidence.curves:
        if one.curve == "raters_one_by_one" and isinstance(one.found, Curve):
            raters, cases = counted(len(one.found.columns["rater"]), "rater"), counted(one.found.n, "case")
            where = "" if one.dataset == READERS else f" of {summary_of(evidence, one.dataset).site}"
            return f"{raters}, {cases}{where}"
    return "The raters"


@figure("Right answers of the raters by complexity and confidence")
def raters_right_answers(evidence: Evidence) -> Picture | Absent:
    """Whether raters are wrong where they find a case complex, and right where they are sure."""
    with styled():
        drawn = draw_answers(evidence)
        if isinstance(drawn, Absent):
            return drawn
        caption = (
            f"{_who(evidence)}. Points: share of right answers in bins of width 0.1, at the mean of the bin; lines: "
            f"{level_text(evidence)} intervals (Wilson, answers taken as independent). Bins of fewer than 10 answers "
            "are left out."
        )
        said = []
        for name, _, word in BY:
            curve = curve_of_raters(evidence, name)
            if isinstance(curve, Curve):
                share = column(curve, "share_right")
                ends = per_cent(float(share[0])), per_cent(float(share[-1]))
                said.append(f"from {ends[0]} in the least {word} bin to {ends[1]} in the most {word}")
        return picture("raters_right_answers", drawn, caption, f"The share of right answers goes {' and '.join(said)}.")


# ---- confidence of right answers, complexity and its cuts -----------------------------------------------------------


def taus_of(evidence: Evidence) -> dict[str, float]:
    """The confidences that the raters give, by rule, as the H-accuracy used them."""
    found: dict[str, float] = {}
    for one in evidence.results:
        tau = one.at.get("tau")
        if one.measure == "h_accuracy" and isinstance(tau, str) and isinstance(one.found, Estimate):
            value = one.found.details.get("tau")
            if value is not None:
                found.setdefault(tau, value)
    return found


def cuts_of(evidence: Evidence) -> dict[str, float]:
    """The complexity from which a case is called complex, by the form of the complexity."""
    found: dict[str, float] = {}
    for one in evidence.results:
        form = one.at.get("complexity")
        if one.measure == "h_accuracy" and isinstance(form, str) and isinstance(one.found, Estimate):
            value = one.found.details.get("cut")
            if value is not None:
                found.setdefault(form, value)
    return found


RULES = {"right_80": 0.8, "right_50": 0.5, "right_25": 0.25}


def draw_settings(evidence: Evidence) -> Figure | Absent:
    """How sure the raters were when they were right, and how complex the cases are, each with what follows from it."""
    confidence = curve_of_raters(evidence, "confidence_of_right_answers")
    complexity = curve_of_raters(evidence, "complexity_distribution")
    count = sum(isinstance(one, Curve) for one in (confidence, complexity))
    if not count:
        return confidence if isinstance(confidence, Absent) else Absent(Fact("cases_without_complexity"))
    width, places = _panels(count)
    drawn = sheet(width, 9.5 + PANEL_HEIGHT + 10.0)
    spots = iter(zip("ab", places, strict=False))
    if isinstance(confidence, Curve):
        letter, (left, wide) = next(spots)
        _draw_right_answers(drawn, confidence, taus_of(evidence), letter, left, wide)
    if isinstance(complexity, Curve):
        letter, (left, wide) = next(spots)
        _draw_complexity(drawn, complexity, cuts_of(evidence), letter, left, wide)
    return drawn


def _draw_right_answers(
    drawn: Figure, curve: Curve, taus: dict[str, float], letter: str, left: float, wide: float
) -> None:
    axes = panel(drawn, left, 9.5, wide, PANEL_HEIGHT)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    ticks(axes, "x", [0, 0.5, 1], ["0", "0.5", "1"])
    ticks(axes, "y", [0, 0.5, 1], ["0", "50", "100"])
    x = column(curve, "confidence")
    axes.plot(x, column(curve, "share_right"), color=BLUE, lw=1.4, drawstyle="steps-pre", zorder=3, clip_on=False)
    if not np.isnan(column(curve, "share_wrong")).all():
        axes.plot(x, column(curve, "share_wrong"), color=INK_2, lw=1.0, ls=BROKEN, drawstyle="steps-pre", zorder=2)
    for rule, share in RULES.items():
        if rule in taus:
            axes.plot([0, taus[rule], taus[rule]], [share, share, 0], color=INK, lw=0.7, zorder=1)
            axes.plot([taus[rule]], [share], "o", ms=4.0, mfc="white", mec=INK, mew=1, zorder=4)
            axes.text(0.02, share + 0.02, f"{per_cent(share)}: {number(taus[rule])}", va="bottom", weight=600)
    entries = [Key("right", BLUE), Key("wrong", INK_2, BROKEN, 1.0)]
    write(drawn, left, 2.2, letter, weight=600)
    write(drawn, left + 4.0, 2.2, f"{counted(curve.n, 'answer')}:")
    key_row(drawn, left + 5.5 + text_width(f"{counted(curve.n, 'answer')}:"), 2.2, entries)
    write(drawn, left + wide / 2, 9.5 + PANEL_HEIGHT + 7.6, "Confidence stated, or more", ha="center")
    write(drawn, left - 10.0, 9.5 + PANEL_HEIGHT / 2, "Share of them, %", rotation=90, ha="center", va="center")


def _draw_complexity(
    drawn: Figure, curve: Curve, cuts: dict[str, float], letter: str, left: float, wide: float
) -> None:
    axes = panel(drawn, left, 9.5, wide, PANEL_HEIGHT)
    edges = np.append(column(curve, "lower"), column(curve, "upper")[-1])
    share = column(curve, "share")
    axes.stairs(share, edges, fill=True, fc=BAND, lw=0)
    axes.stairs(share, edges, color=BLUE, lw=0.8, baseline=None)
    top = float(share.max()) * 1.04
    names = (len(cuts) + 0.4) * LINE
    axes.set_xlim(0, 1)
    # The names of the cuts stand above the bars.
    axes.set_ylim(0, top * PANEL_HEIGHT / (PANEL_HEIGHT - min(names, PANEL_HEIGHT / 2)))
    ticks(axes, "x", [0, 0.5, 1], ["0", "0.5", "1"])
    places = inner_ticks(0, top, 3)
    ticks(axes, "y", places, [tick_text(round(place * 100, 6)) for place in places])
    write(drawn, left, 2.2, letter, weight=600)
    write(drawn, left + 4.0, 2.2, counted(curve.n, "case"))
    write(drawn, left + wide / 2, 9.5 + PANEL_HEIGHT + 7.6, "Complexity of the case", ha="center")
    write(drawn, left - 10.0, 9.5 + PANEL_HEIGHT / 2, "Share of cases, %", rotation=90, ha="center", va="center")
    _draw_cuts(axes, cuts, wide)


def _draw_cuts(axes: Axes, cuts: dict[str, float], wide: float) -> None:
    """The cuts as lines, their names beside each on a row of its own, highest first."""
    bare = {form: form_words(form) for form in cuts}
    row = LINE / PANEL_HEIGHT * axes.get_ylim()[1]
    for place, (form, value) in enumerate(sorted(cuts.items(), key=lambda one: (one[1], one[0]))):
        y = axes.get_ylim()[1] - (place + 0.6) * row
        axes.plot([value, value], [0, y], color=INK, lw=0.7, zorder=3, gid=f"cut-{form}")
        text = f"{bare[form]}: {number(value)}"
        room = (1 - value) * wide > text_width(text) + 2
        axes.text(value + (1 if room else -1) / wide, y, text, ha="left" if room else "right", va="center", zorder=4)


def form_words(form: str) -> str:
    """The form of a complexity in words: top 33%, above the mean, two levels."""
    for end, words in (("_two_levels", "two levels"), ("_above_mean", "above the mean")):
        if form.endswith(end):
            return words
    name, _, share = form.rpartition("_top_")
    return f"top {share}" if name else setting(form)


@figure("Confidence of right answers, and complexity of the cases")
def raters_settings(evidence: Evidence) -> Picture | Absent:
    """Where the confidences and the complexities of this chapter come from."""
    with styled():
        drawn = draw_settings(evidence)
        if isinstance(drawn, Absent):
            return drawn
        caption, said = f"{_who(evidence)}. ", []
        if isinstance(curve_of_raters(evidence, "confidence_of_right_answers"), Curve):
            caption += "Left: share of the right, and of the wrong, answers given with at least a confidence"
            taus = taus_of(evidence)
            kept = [
                f"{per_cent(share)} with {number(taus[rule])} or more" for rule, share in RULES.items() if rule in taus
            ]
            caption += "; rings: the confidences that earn full credit. " if kept else ". "
            said += [f"of the right answers {', '.join(kept)}"] if kept else ["right answers by confidence"]
        if isinstance(curve_of_raters(evidence, "complexity_distribution"), Curve):
            cuts = cuts_of(evidence)
            caption += "Complexity in bins of width 0.05; lines: from where on a case is called complex."
            ordered = sorted(cuts.items(), key=lambda one: (one[1], one[0]))
            kept = [f"{form_words(form)} from {number(value)}" for form, value in ordered]
            said += (
                [f"a case is called complex, by rule: {', '.join(kept)}"] if kept else ["the complexity of the cases"]
            )
        told = "; ".join(said)
        return picture("raters_settings", drawn, caption.strip(), f"{told[:1].upper()}{told[1:]}.")
