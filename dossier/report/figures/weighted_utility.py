"""The picture of weighted utility: with a threshold of its own for each case, beside the measures with one for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.core import types
from dossier.core.facts import Fact
from dossier.report.figures import canvas, captions, data, ink
from dossier.typeset import widths
from dossier.typeset.numbers import as_declared, number, threshold
from dossier.typeset.words import setting

MOST_SITES = 4
ONE_FOR_ALL: Mapping[str, float | str] = {"gamma": 1.0, "relevance": "constant"}
LEAST = -0.5
"""Below this an axis does not go: one case with a threshold near 1 would flatten all the others."""


@dataclass(frozen=True)
class Line:
    """A measure in a row: its name, whether it has a threshold of its own for each case, and its value by site."""

    name: str
    weighted: bool
    found: tuple[types.Estimate | types.Absent, ...]


def sites_of(evidence: types.Evidence) -> list[types.DatasetSummary]:
    """The external sites where cases have thresholds of their own, or a relevance."""
    own = {
        result.dataset
        for result in types.find_all(evidence, "weighted_utility")
        if isinstance(result.found, types.Estimate) and _is_own(result.at) and "class" not in result.at
    }
    return [site for site in types.externals(evidence) if site.name in own]


def _is_own(at: object) -> bool:
    return isinstance(at, dict) and isinstance(at.get("tau"), str)


def _declared(evidence: types.Evidence) -> Mapping[str, float | str]:
    """The gamma, of several the first, and the source of the relevance that the release declares."""
    return ONE_FOR_ALL if evidence.release.utility is None else evidence.release.utility.judged_at


def _of_each_case(evidence: types.Evidence) -> str:
    """Whose relevance each case has, and gamma, in words."""
    source, gamma = (_declared(evidence)[name] for name in ("relevance", "gamma"))
    known = {"constant": "every case the same relevance", "raters": "each case the relevance that the raters gave it"}
    whose = known.get(str(source), f"each case its relevance of the column {source}")
    return f"{whose}, gamma {as_declared(float(gamma))}"


def lines(evidence: types.Evidence) -> list[Line]:
    """The measures that stand beside each other: weighted utilities by the source of their thresholds, then others."""
    sites = sites_of(evidence)[:MOST_SITES]
    sources = list(
        dict.fromkeys(
            str(result.at["tau"])
            for result in types.find_all(evidence, "weighted_utility")
            if isinstance(result.at.get("tau"), str)
        )
    )
    made = []
    for source in sources:
        found = tuple(
            types.find(evidence, "weighted_utility", site.name, tau=source, **_declared(evidence)) for site in sites
        )
        made.append(Line(f"Weighted utility, {setting(source)}", True, found))
    at = data.primary_threshold(evidence)
    if at is not None:
        of = threshold(at)
        for name, measure in (
            (f"Standardized net benefit at {of}", "standardized_net_benefit"),
            (f"H-accuracy at a risk of {of}", "h_accuracy_risk"),
        ):
            made.append(
                Line(name, False, tuple(types.find(evidence, measure, site.name, threshold=at) for site in sites))
            )
    made.append(Line("AUROC", False, tuple(types.find(evidence, "auroc", site.name) for site in sites)))
    return [line for line in made if any(isinstance(estimate, types.Estimate) for estimate in line.found)]


def draw_weighted(evidence: types.Evidence) -> Figure | types.Absent:
    """A dot plot: the measures as rows, one panel for each site."""
    sites = sites_of(evidence)[:MOST_SITES]
    if not sites:
        return types.Absent(Fact("no_threshold_of_a_case"))
    rows = lines(evidence)
    names = widths.shortened([row.name for row in rows], 72.0)
    left = max(widths.text_width(name) for name in names) + 4.0
    gap, top = 5.0, 6.0
    value = 30.0 if len(sites) == 1 else 0.0
    wide = (canvas.FULL - left - value - gap * (len(sites) - 1) - 2.0) / len(sites)
    drawn = canvas.sheet(canvas.FULL, top + len(rows) * canvas.LINE * 1.15 + 10.0)
    ends = _ends([estimate for row in rows for estimate in row.found if isinstance(estimate, types.Estimate)])
    heads = widths.shortened([site.site for site in sites], wide, 600)
    for index in range(len(sites)):
        x = left + index * (wide + gap)
        axes = canvas.panel(drawn, x, top, wide, len(rows) * canvas.LINE * 1.15)
        axes.set_xlim(*ends)
        axes.set_ylim(len(rows), 0)
        axes.spines["left"].set_visible(False)
        steps = canvas.inner_ticks(*ends, 4 if wide > 40 else 2)
        canvas.ticks(axes, "x", steps, [canvas.tick_text(step) for step in steps], inward=True)
        axes.axvline(0, color=ink.RULE, lw=0.7, zorder=0)
        canvas.write(drawn, x, 2.0, heads[index], weight=600)
        for row, line in enumerate(rows):
            _row(drawn, axes, row, line, line.found[index], (top, x + wide))
    for row, name in enumerate(names):
        canvas.write(
            drawn, 0, top + (row + 0.5) * canvas.LINE * 1.15, name, color=ink.INK if rows[row].weighted else ink.INK_2
        )
        if value and isinstance(rows[row].found[0], types.Estimate):
            canvas.write(
                drawn,
                canvas.FULL,
                top + (row + 0.5) * canvas.LINE * 1.15,
                captions.value_text(rows[row].found[0]),
                ha="right",
                color=ink.INK_2,
            )
    canvas.write(
        drawn,
        (left + canvas.FULL - value) / 2,
        top + len(rows) * canvas.LINE * 1.15 + 7.6,
        "Value; 1 is perfect",
        ha="center",
    )
    return drawn


def _ends(found: Sequence[types.Estimate]) -> tuple[float, float]:
    low = min(estimate.low if estimate.low is not None else estimate.value for estimate in found)
    return max(LEAST, min(0.0, round(low - 0.05, 1))), 1.0


def _row(
    drawn: Figure, axes: Axes, row: int, line: Line, found: types.Estimate | types.Absent, position: tuple[float, float]
) -> None:
    """A measure of one site: its interval and its mark; an interval that leaves the axis ends in an arrow."""
    left, right = axes.get_xlim()
    y = row + 0.5
    if isinstance(found, types.Absent):
        canvas.write(
            drawn, position[1], position[0] + y * canvas.LINE * 1.15, "not estimable", ha="right", color=ink.INK_2
        )
        return
    if found.low is not None and found.high is not None:
        axes.plot([max(found.low, left), min(found.high, right)], [y, y], color=ink.INK, lw=1, zorder=2)
        if found.low < left:
            axes.plot([left], [y], "<", ms=3.6, mfc=ink.INK, mec="none", clip_on=False, zorder=2)
    if left <= found.value <= right:
        axes.plot(
            [found.value],
            [y],
            "D" if line.weighted else "s",
            ms=4.4,
            mfc=ink.BLUE if line.weighted else "white",
            mec=ink.BLUE if line.weighted else ink.INK,
            mew=0.9,
            zorder=3,
            clip_on=False,
        )


@canvas.figure("Weighted utility beside the measures with one threshold for all")
def weighted_utility_beside(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Whether the model is worth less, or more, once each case has its own threshold."""
    drawn = draw_weighted(evidence)
    if isinstance(drawn, types.Absent):
        return drawn
    sites = sites_of(evidence)
    shown = sites[:MOST_SITES]
    patients = sum(site.n for site in shown)
    caption = (
        f"{patients:,} patients; {captions.level_text(evidence)} intervals. Filled: each case has a threshold of "
        f"its own, "
        f"{_of_each_case(evidence)}. Open: one threshold for all, or none."
        f"{captions.left_out(len(sites) - len(shown), 'see the tables')}"
    )
    rows = lines(evidence)
    texts = [
        f"{line.name[:1].lower() if line.weighted else line.name[:1]}{line.name[1:]} "
        f"{captions.value_text(line.found[0])}"
        for line in rows
        if isinstance(line.found[0], types.Estimate)
    ]
    weighted = [
        (estimate.value, line.name)
        for line in rows
        if line.weighted and isinstance(estimate := line.found[0], types.Estimate)
    ]
    message = _spread(shown[0].site, weighted)
    return canvas.Drawn(drawn, caption, f"At {shown[0].site}: {captions.joined(texts, 8)}.", message)


def _spread(site: str, weighted: Sequence[tuple[float, str]]) -> str:
    """How far the weightings of one site lie apart; nothing where none could be estimated."""
    if not weighted:
        return ""
    (low, first), (high, last) = min(weighted), max(weighted)
    if first == last:
        return f"{first} at {site}: {number(low)}."
    return f"At {site}: {number(low)} ({first}) to {number(high)} ({last})."
