"""The external performance diagram of several classes: one class against the rest, a small panel each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.core import bands, types
from dossier.core.facts import Fact
from dossier.report.figures import canvas, captions, classes, ink, marks, placing, robustness, similarity
from dossier.typeset import widths
from dossier.typeset.numbers import number

MOST_CLASSES, MOST_SITES = 6, 8
LEFT, GAP, HEAD, FOOT, LEAST_HEIGHT = 13.0, 3.2, 8.6, 5.6, 17.0
"""What stands left of the panels, between them, above and below each, and the least height of one, in mm."""
LEADER = 4.5
"""How far the thin lines run from the last panel to the names, in mm."""


@dataclass(frozen=True)
class At:
    """A site and how like the development data it is."""

    name: str
    label: str
    similarity: types.Estimate


def sites_at(evidence: types.Evidence) -> list[At]:
    """The external sites of known similarity, the most alike first."""
    measure = bands.SIMILARITIES[evidence.release.robustness.similarity]
    sites = types.externals(evidence)
    names = robustness.short_names(sites)
    pairs = [(site, types.find(evidence, measure, site.name)) for site in sites]
    known = [At(site.name, names[site.name], found) for site, found in pairs if isinstance(found, types.Estimate)]
    return sorted(known, key=lambda site: -site.similarity.value)[:MOST_SITES]


def _height(sites: Sequence[At]) -> float:
    """How tall a panel is: the names of all sites have room beside it."""
    return max(LEAST_HEIGHT, (len(sites) + 0.5) * placing.LABEL_HEIGHT)


def shown_classes(evidence: types.Evidence) -> tuple[str, ...]:
    """The classes that the figure has room for."""
    return (evidence.release.outcome.classes or ())[:MOST_CLASSES]


def measured_scales(seen: types.Evidence) -> list[robustness.Scale]:
    """The measures that some class has at some site; `seen` has each class at each site as a site of its own.

    A Brier score has none: it is of all classes at once.
    """
    return [
        scale
        for scale in robustness.scales(seen)
        if any(robustness.standing(seen, site, scale) for site in types.externals(seen))
    ]


def _panel(
    drawn: Figure,
    evidence: types.Evidence,
    scale: robustness.Scale,
    corner: tuple[float, float],
    wide: float,
    sites: Sequence[At],
) -> Axes:
    ends = (scale.worst, scale.best), _ends(evidence, sites)
    axes = canvas.panel(drawn, *corner, wide, _height(sites), *ends)
    robustness.background(axes, scale)
    axes.axhline(bands.SUPPORT, color=ink.INK, lw=0.8, ls=ink.BROKEN, zorder=1)
    for site in sites:
        axes.axhline(site.similarity.value, color=ink.HAIR, lw=0.5, zorder=0.5)
    robustness.scale_ticks(axes, scale, labelled=True)
    return axes


def _ends(evidence: types.Evidence, sites: Sequence[At]) -> tuple[float, float]:
    low, high = similarity.similarity_ends(evidence, [site.similarity for site in sites])
    return low, high + 0.05 * (high - low)


def _places(evidence: types.Evidence, sites: Sequence[At]) -> list[float]:
    if evidence.release.robustness.similarity == "psi":
        return [0.0, bands.SUPPORT, 1.0]
    return canvas.inner_ticks(*_ends(evidence, sites), 3)


def _similarity_axis(drawn: Figure, evidence: types.Evidence, sites: Sequence[At], corner: tuple[float, float]) -> None:
    """The numbers of the similarity left of a first panel that has no mean before it."""
    low, high = _ends(evidence, sites)
    for position in _places(evidence, sites):
        y = corner[1] + _height(sites) * (high - position) / (high - low)
        canvas.write(drawn, corner[0] - 1.6, y, canvas.tick_text(position), ha="right")


def _class_mark(axes: Axes, seen: types.Evidence, site: At, name: str, scale: robustness.Scale) -> None:
    stands = next(
        (robustness.standing(seen, candidate, scale) for candidate in types.externals(seen) if candidate.name == name),
        None,
    )
    enough = stands is not None and stands.share is not None and stands.share >= 1
    _mark(axes, types.find(seen, scale.measure, name, **scale.setting), site, scale, "s", is_filled=enough)


MEAN = "D"
"""The mark of a mean over the classes, for which no sample size is known."""


def _mark(
    axes: Axes, found: types.Estimate | types.Absent, site: At, scale: robustness.Scale, mark: str, *, is_filled: bool
) -> None:
    if isinstance(found, types.Absent):
        return
    y = site.similarity.value
    if found.low is not None and found.high is not None:
        axes.plot([scale.clipped(found.low), scale.clipped(found.high)], [y, y], color=ink.INK, lw=1.0, zorder=2)
    shape = mark if scale.clipped(found.value) == found.value else "<"
    marks.dot(axes, scale.clipped(found.value), y, shape, 3.6, filled=is_filled)


def _names(drawn: Figure, evidence: types.Evidence, sites: Sequence[At], corner: tuple[float, float]) -> None:
    """The names of the sites at their height, moved apart where they would touch."""
    (low, high), (x, top) = _ends(evidence, sites), corner
    wanted = [top + _height(sites) * (high - site.similarity.value) / (high - low) for site in sites]
    placed: list[float] = []
    for y in wanted:
        placed.append(max(y, placed[-1] + placing.LABEL_HEIGHT) if placed else y)
    beyond = max(0.0, placed[-1] - (top + _height(sites)))
    for order in range(len(placed) - 1, -1, -1):
        ceiling = placed[order + 1] - placing.LABEL_HEIGHT if order + 1 < len(placed) else placed[order] - beyond
        placed[order] = min(placed[order], ceiling)
    for site, spot, y in zip(sites, wanted, placed, strict=True):
        marks.stroke(drawn, (x + 0.4, spot), (x + LEADER - 0.6, y), ink.RULE, 0.6)
        canvas.write(drawn, x + LEADER, y, site.label, color=ink.INK_2)


@canvas.figure("External performance by class")
def external_performance_by_class(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How well each class is told from the rest at the sites whose patients differ from the development data."""
    seen, sites, labels = classes.panels(evidence), sites_at(evidence), shown_classes(evidence)
    if isinstance(seen, types.Absent):
        return seen
    measures = measured_scales(seen)
    if not sites or not measures:
        return types.Absent(Fact("no_similarity_of_classes"))
    right = max(widths.text_width(site.label) for site in sites) + LEADER
    wide = (canvas.FULL - LEFT - right - GAP * len(labels)) / (len(labels) + 1)
    each = HEAD + _height(sites) + FOOT
    drawn = canvas.sheet(canvas.FULL, len(measures) * each)
    heads = widths.shortened(labels, wide)
    for row, scale in enumerate(measures):
        top = row * each + HEAD
        canvas.write(drawn, LEFT, top - 6.8, f"{scale.title}, one class against the rest", weight=600)
        for index, label in enumerate(labels):
            x = LEFT + (index + 1) * (wide + GAP)
            axes = _panel(drawn, evidence, scale, (x, top), wide, sites)
            canvas.write(drawn, x, top - 2.2, heads[index])
            for site in sites:
                _class_mark(axes, seen, site, f"{site.name}{classes.BETWEEN}{label}", scale)
        if scale.measure == "auroc":
            axes = _panel(drawn, evidence, scale, (LEFT, top), wide, sites)
            canvas.write(drawn, LEFT, top - 2.2, "mean")
            for site in sites:
                _mark(axes, types.find(evidence, scale.measure, site.name), site, scale, MEAN, is_filled=True)
            canvas.ticks(axes, "y", _places(evidence, sites))
        else:
            _similarity_axis(drawn, evidence, sites, (LEFT + wide + GAP, top))
        canvas.turned(drawn, 2.0, top + _height(sites) / 2, robustness.form_of(evidence).short)
        _names(drawn, evidence, sites, (LEFT + (len(labels) + 1) * (wide + GAP) - GAP, top))
    form = robustness.form_of(evidence)
    left = len(evidence.release.outcome.classes or ()) - len(shown_classes(evidence))
    unseen = len(types.externals(evidence)) - len(sites)
    shown = [site for site in types.externals(evidence) if site.name in {hospital.name for hospital in sites}]
    parts = (
        f"{captions.patients(shown)}. Height: {form.title}{form.note}; broken line: {bands.SUPPORT:g}. "
        f"{captions.level_text(evidence)} intervals; shades: acceptable, good, excellent. "
        f"Diamond: mean over the classes. Open: fewer patients than needed, or need unknown. {robustness.OURS}",
        f"{left} more classes: see results.csv." if left else "",
        f"{captions.sites_word(unseen)} more, or of unknown similarity: see the tables." if unseen else "",
    )
    text = _message(evidence, seen, sites)
    return canvas.Drawn(drawn, " ".join(part for part in parts if part), text)


def _message(evidence: types.Evidence, seen: types.Evidence, sites: Sequence[At]) -> str:
    """From where to where the AUROC of the classes runs at the sites of low similarity."""
    unlike = [site for site in sites if site.similarity.value < bands.SUPPORT]
    values = [
        (found.value, f"{site.label}, {label}")
        for site in unlike
        for label in evidence.release.outcome.classes or ()
        if isinstance(found := types.find(seen, "auroc", f"{site.name}{classes.BETWEEN}{label}"), types.Estimate)
    ]
    known = f"{captions.sites_word(len(sites))} of known similarity"
    if not values:
        return f"Of {known} none is below {bands.SUPPORT:g} by {robustness.form_of(evidence).short}."
    (low, first), (high, last) = min(values), max(values)
    where = f"At sites below {bands.SUPPORT:g} by {robustness.form_of(evidence).short}"
    if low == high:
        return f"{where} the AUROC of every class is {number(low)}."
    return f"{where} the AUROC runs from {number(low)} ({first}) to {number(high)} ({last})."
