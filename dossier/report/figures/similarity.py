"""Performance against similarity, site by site as rows: readable where the external performance diagram overlaps."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.core import bands, facts, types
from dossier.report.figures import canvas, captions, data, ink, marks, robustness
from dossier.typeset import numbers, widths
from dossier.typeset.words import counted

GAP, ROW, WIDEST_NAME = 5.3, 4.6, 40.0
"""Between two panels, from one row to the next, and the longest name, in mm."""
MOST_ROWS = 40
SIMILARITY_SHARE = 0.85
"""How wide the panel of similarity is beside those of performance."""
FEWEST = 3
"""So many sites a correlation needs."""
BEFORE_ZERO = -0.05
LEAST_SPAN = 0.1
"""The axis of similarity never spans less."""


def by_similarity(evidence: types.Evidence) -> list[robustness.Placed]:
    """The external sites, the most alike first; those of unknown similarity last."""
    return sorted(
        robustness.placed_sites(evidence), key=lambda place: -place.similarity.value if place.similarity else 1.0
    )


def measured(evidence: types.Evidence) -> list[robustness.Scale]:
    """The panels of performance: those whose measure some site has."""
    sites = types.externals(evidence)
    return [
        scale
        for scale in robustness.scales(evidence)
        if any(robustness.standing(evidence, site, scale) for site in sites)
    ]


def correlation(evidence: types.Evidence, scale: robustness.Scale) -> types.Estimate | types.Absent:
    """Pearson's r of the measure with the similarity over the sites."""
    by = evidence.release.robustness.similarity
    return types.find(evidence, "performance_against_similarity", types.POOLED, measure=scale.measure, similarity=by)


def _lines(title: str, width: float) -> list[str]:
    """A title in lines no wider than its panel and half of the gap beside it."""
    return (widths.wrapped(title, width + GAP / 2, 3, 600) or title).split("\n")


def _titles(drawn: Figure, x: float, top: float, lines: Sequence[str]) -> None:
    for line, text in enumerate(reversed(lines)):
        canvas.write(drawn, x, top - 3.0 - line * canvas.LINE, text, weight=600)


def _rows(axes: Axes, count: int) -> None:
    """The rows from the top, a hairline below each."""
    axes.set_ylim(count - 0.5, -0.5)
    axes.spines["left"].set_visible(False)
    for row in range(count - 1):
        axes.axhline(row + 0.5, color=ink.HAIR, lw=0.5, zorder=0.5)


def _similarities(axes: canvas.Panel, evidence: types.Evidence, rows: Sequence[robustness.Placed]) -> None:
    """The similarity of each site, with its interval where it has one, beside the line of support."""
    low, high = similarity_ends(evidence, [place.similarity for place in rows if place.similarity is not None])
    axes.set_xlim(low, high)
    _rows(axes, len(rows))
    axes.axvline(bands.SUPPORT, color=ink.INK, lw=0.8, ls=ink.BROKEN, zorder=1)
    places = [0.0, bands.SUPPORT, 1.0] if (low, high) == (BEFORE_ZERO, 1.0) else canvas.inner_ticks(low, high, 3)
    canvas.ticks(axes, "x", places)
    for row, place in canvas.of_each(axes.sheet, list(enumerate(rows)), lambda each: each[1].site):
        if place.similarity is None:
            axes.text(bands.SUPPORT + 0.03 * (high - low), row, "unknown", va="center_baseline", color=ink.INK_2)
            continue
        marks.whisker(axes, place.similarity, row, place.looks["color"], lw=place.stroke)
        _mark(axes, place, place.similarity.value, row, filled=True)


def similarity_ends(evidence: types.Evidence, known: Sequence[types.Estimate]) -> tuple[float, float]:
    """The ends of the axis of similarity: all of psi, and of the averaged form what the intervals and .4 need.

    It begins before 0, so that a mark at 0 does not cover the name of its site.
    """
    if evidence.release.robustness.similarity == "psi":
        return BEFORE_ZERO, 1.0
    reach = data.ends(*known)
    low, high = min([bands.SUPPORT, *reach]), max([bands.ALIKE, *reach])
    beyond = max(0.08 * (high - low), (LEAST_SPAN - (high - low)) / 2)
    return max(0.0, low - beyond), min(1.0, high + beyond)


def _performance(axes: Axes, place: robustness.Placed, scale: robustness.Scale, row: int) -> None:
    stands = place.stands.get(scale.measure)
    if stands is None:
        axes.text((scale.worst + scale.best) / 2, row, "absent", ha="center", va="center_baseline", color=ink.INK_2)
        return
    ends = [scale.clipped(end) for end in (stands.low, stands.high)]
    axes.plot(ends, [row, row], color=place.looks["color"], lw=place.stroke, zorder=2)
    # Open where the minimum sample size is unknown, or not reached.
    enough, value = stands.share is not None and stands.share >= 1, scale.clipped(stands.value)
    _mark(axes, place, value, row, filled=enough, shape="<" if value != stands.value else "s")
    robustness.cross(axes, stands, stands.value, row)


def _mark(axes: Axes, place: robustness.Placed, x: float, row: int, *, filled: bool, shape: str = "s") -> None:
    colour, size = place.looks["color"], 4.8 if place.supports else 4.2
    marks.dot(axes, x, row, shape, size, colour, filled=filled, gid=place.site.name)


def _correlation_lines(evidence: types.Evidence, scale: robustness.Scale) -> tuple[str, ...]:
    """The correlation with its interval and number of sites; or that there is none."""
    found = correlation(evidence, scale)
    if isinstance(found, types.Absent):
        return ({"same_at_every_site": "no r: all the same"}.get(found.reason.code, f"r needs {FEWEST} sites"),)
    sites = captions.sites_word(round(found.details.get("k") or 0))
    reach = "no interval"
    if found.low is not None and found.high is not None:
        reach = f"{captions.level_text(evidence)} CI {captions.interval(found.low, found.high)}"
    return f"r {numbers.number(found.value)}, {sites}", reach


@canvas.figure("Performance against similarity")
def performance_by_similarity(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Whether the model does better at the sites whose patients resemble those it was developed on."""
    if evidence.release.outcome.classes:
        return types.Absent(facts.Fact("diagram_for_binary_outcome"))
    every, three = by_similarity(evidence), measured(evidence)
    if sum(place.similarity is not None for place in every) < FEWEST or not three:
        return types.Absent(facts.Fact("fewer_than_three_similarities"))
    rows = every[:MOST_ROWS]
    names = widths.shortened([place.site.site for place in rows], WIDEST_NAME, 600)
    left = max(widths.text_width(name, 600) for name in names) + 4.5
    width = (canvas.FULL - left - len(three) * GAP - 2.0) / (len(three) + SIMILARITY_SHARE)
    titles = [_lines(scale.title, width) for scale in three]
    first = _lines(robustness.form_of(evidence).title, width * SIMILARITY_SHARE)
    top = 1.5 + canvas.LINE * max(map(len, (first, *titles)))
    height = ROW * len(rows)
    texts = [[part for text in _correlation_lines(evidence, scale) for part in _lines(text, width)] for scale in three]
    drawn = canvas.sheet(canvas.FULL, top + height + 6.4 + canvas.LINE * max(map(len, texts)))
    _titles(drawn, left, top, first)
    axes = canvas.panel(drawn, left, top, width * SIMILARITY_SHARE, height)
    _similarities(axes, evidence, rows)
    canvas.ticks(axes, "y", range(len(rows)), names, length=0)
    canvas.write(drawn, left, top + height + 8.0, f"broken line: {bands.SUPPORT:g}", color=ink.INK_2)
    for index, (scale, title) in enumerate(zip(three, titles, strict=True)):
        x = left + width * (SIMILARITY_SHARE + index) + GAP * (index + 1)
        _titles(drawn, x, top, title)
        axes = canvas.panel(drawn, x, top, width, height)
        axes.set_xlim(scale.worst, scale.best)
        _rows(axes, len(rows))
        robustness.background(axes, scale)
        robustness.scale_ticks(axes, scale, labelled=True)
        for row, place in canvas.of_each(drawn, list(enumerate(rows)), lambda each: each[1].site):
            _performance(axes, place, scale, row)
        for line, text in enumerate(texts[index]):
            canvas.write(drawn, x, top + height + 8.0 + line * canvas.LINE, text, color=ink.INK_2)
    return canvas.Drawn(drawn, _caption(evidence), _alternative(evidence), _message(evidence))


def _caption(evidence: types.Evidence) -> str:
    """How to read the rows, and what they leave out."""
    rows = by_similarity(evidence)
    shown = rows[:MOST_ROWS]
    return captions.said(
        "performance_by_similarity",
        evidence,
        [place.site for place in shown],
        ours=robustness.OURS,
        r=any(isinstance(correlation(evidence, scale), types.Estimate) for scale in measured(evidence)),
        cross=robustness.without_skill(shown),
        left=counted(len(rows) - len(shown), "site") if len(rows) > len(shown) else "",
    )


def _message(evidence: types.Evidence) -> str:
    """At how many sites the similarity is low."""
    known = [place.similarity.value for place in robustness.placed_sites(evidence) if place.similarity is not None]
    low = sum(value < bands.SUPPORT for value in known)
    form = robustness.form_of(evidence)
    return f"Below {bands.SUPPORT:g} by {form.short}: {low or 'none'} of {captions.sites_word(len(known))}{form.note}."


def _alternative(evidence: types.Evidence) -> str:
    """At how many sites similarity is low, and the correlation of each measure with its interval."""
    reported = []
    for scale in measured(evidence):
        found = correlation(evidence, scale)
        if isinstance(found, types.Estimate):
            ends = captions.interval(found.low, found.high, joint=" to ")
            reported.append(f"{numbers.number(found.value)} ({ends}) for {scale.noun}")
    if not reported:
        return f"{_message(evidence)} No correlation of performance and similarity can be computed."
    return f"{_message(evidence)} Performance goes with similarity at r {captions.joined(reported)}."
