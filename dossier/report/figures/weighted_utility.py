"""The picture of weighted utility: with a threshold of its own for each case, beside the measures with one for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dossier.core import facts, types
from dossier.report.figures import canvas, captions, forest, ink, marks
from dossier.typeset import widths, words
from dossier.typeset.numbers import as_declared, threshold

MOST_SITES = 4
ONE_FOR_ALL: Mapping[str, float | str] = {"gamma": 1.0, "relevance": "constant"}
TOP, STEP = 6.0, canvas.LINE * 1.15
"""Where the rows begin, and how tall each is, in mm."""
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
        if isinstance(result.found, types.Estimate)
        and isinstance(result.at.get("tau"), str)
        and "class" not in result.at
    }
    return [site for site in types.externals(evidence) if site.name in own]


def _declared(evidence: types.Evidence) -> Mapping[str, float | str]:
    """The gamma, of several the first, and the source of the relevance that the release declares."""
    return ONE_FOR_ALL if evidence.release.utility is None else evidence.release.utility.judged_at


def lines(evidence: types.Evidence) -> list[Line]:
    """The measures that stand beside each other: weighted utilities by the source of their thresholds, then others."""
    made: list[Line] = []

    def add(name: str, measure: str, at: Mapping[str, float | str], *, weighted: bool = False) -> None:
        found = tuple(types.find(evidence, measure, site.name, **at) for site in sites_of(evidence)[:MOST_SITES])
        if any(isinstance(estimate, types.Estimate) for estimate in found):
            made.append(Line(name, weighted, found))

    taus = dict.fromkeys(result.at.get("tau") for result in types.find_all(evidence, "weighted_utility"))
    for source in (tau for tau in taus if isinstance(tau, str)):
        at = {"tau": source, **_declared(evidence)}
        add(f"Weighted utility, {words.setting(source)}", "weighted_utility", at, weighted=True)
    if (primary := evidence.release.thresholds.primary) is not None:
        of = threshold(primary)
        add(f"Standardized net benefit at {of}", "standardized_net_benefit", {"threshold": primary})
        add(f"H-accuracy at a risk of {of}", "h_accuracy_risk", {"threshold": primary})
    add("AUROC", "auroc", {})
    return made


@canvas.figure("Weighted utility beside the measures with one threshold for all")
def weighted_utility_beside(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Whether the model is worth less, or more, once each case has its own threshold."""
    sites = sites_of(evidence)
    if not sites:
        return types.Absent(facts.Fact("no_threshold_of_a_case"))
    shown, rows = sites[:MOST_SITES], lines(evidence)
    names = widths.shortened([row.name for row in rows], 72.0)
    left = max(widths.text_width(name) for name in names) + 4.0
    gap, value = 5.0, 30.0 if len(shown) == 1 else 0.0
    wide = (canvas.FULL - left - value - gap * (len(shown) - 1) - 2.0) / len(shown)
    plot = forest.Rows(canvas.sheet(canvas.FULL, TOP + len(rows) * STEP + 10.0), TOP, STEP)
    known = [estimate for row in rows for estimate in row.found if isinstance(estimate, types.Estimate)]
    low = min(estimate.low if estimate.low is not None else estimate.value for estimate in known)
    ends = max(LEAST, min(0.0, round(low - 0.05, 1))), 1.0
    heads = widths.shortened([site.site for site in shown], wide, 600)
    for index, head in canvas.of_each(plot.sheet, list(enumerate(heads)), lambda each: shown[each[0]]):
        x = left + index * (wide + gap)
        axes = plot.axes(x, wide, len(rows), ends)
        canvas.ticks(axes, "x", canvas.inner_ticks(*ends, 4 if wide > 40 else 2), inward=True)
        axes.axvline(0, color=ink.RULE, lw=0.7, zorder=0)
        canvas.write(plot.sheet, x, 2.0, head, weight=600)
        for row, line in enumerate(rows):
            found = line.found[index]
            if isinstance(found, types.Absent):
                plot.right(row + 0.5, x + wide, "not estimable")
            else:
                shape, colour = ("D", ink.BLUE) if line.weighted else ("s", ink.INK)
                marks.estimate(axes, found, row + 0.5, shape, 4.4, colour=colour, filled=line.weighted)
    for row, (name, line) in enumerate(zip(names, rows, strict=True)):
        plot.write(row + 0.5, 0, name, color=ink.INK if line.weighted else ink.INK_2)
        if value and isinstance(line.found[0], types.Estimate):
            plot.right(row + 0.5, canvas.FULL, captions.value_text(line.found[0]))
    middle, foot = (left + canvas.FULL - value) / 2, len(rows) + 7.6 / STEP
    plot.write(foot, middle, "Value; 1 is perfect", ha="center")
    source, gamma = (_declared(evidence)[name] for name in ("relevance", "gamma"))
    caption = captions.said(
        "weighted_utility",
        evidence,
        cases=sum(site.n for site in shown),
        constant=source == "constant",
        column="" if source == "raters" else source,
        gamma=as_declared(float(gamma)),
        left=captions.left_out(len(sites) - len(shown), "see the tables"),
    )
    of_first = [(row, found) for row in rows if isinstance(found := row.found[0], types.Estimate)]
    called = [row.name[:1].lower() + row.name[1:] if row.weighted else row.name for row, _ in of_first]
    texts = [f"{name} {captions.value_text(found)}" for name, (_, found) in zip(called, of_first, strict=True)]
    weighted = [(found.value, row.name) for row, found in of_first if row.weighted]
    message = f"At {shown[0].site}: {captions.ends(weighted)}." if weighted else ""
    return canvas.Drawn(plot.sheet, caption, f"At {shown[0].site}: {captions.joined(texts, 8)}.", message)
