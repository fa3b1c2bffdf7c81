"""The external performance diagram of several classes: one class against the rest, a small panel each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.core import bands, facts, register, types
from dossier.report.figures import canvas, captions, classes, ink, marks, placing, robustness, similarity
from dossier.typeset import widths

MOST_CLASSES, MOST_SITES = 6, 8
LEFT, GAP, HEAD, FOOT, LEAST_HEIGHT = 13.0, 3.2, 8.6, 5.6, 17.0
"""What stands left of the panels, between them, above and below each, and the least height of one, in mm."""
LEADER = 4.5
"""How far the thin lines run from the last panel to the names, in mm."""


@dataclass(frozen=True)
class At:
    """A site and how like the development data it is."""

    of: types.DatasetSummary
    label: str
    similarity: types.Estimate


@dataclass(frozen=True)
class Heights:
    """The sites at the heights of their similarity, which are the same in every panel."""

    sites: tuple[At, ...]
    ends: tuple[float, float]
    ticks: tuple[float, ...]

    @property
    def height(self) -> float:
        """How tall a panel is: the names of all sites have room beside it."""
        return max(LEAST_HEIGHT, (len(self.sites) + 0.5) * placing.LABEL_HEIGHT)

    def y(self, value: float) -> float:
        """How far below the top of a panel a similarity stands, in mm."""
        return self.height * (self.ends[1] - value) / (self.ends[1] - self.ends[0])


def heights(evidence: types.Evidence) -> Heights:
    """The external sites of known similarity, the most alike first."""
    names, by = robustness.short_names(types.externals(evidence)), evidence.release.robustness.similarity
    known = [At(site, names[site.name], found) for site, found in types.estimated(evidence, bands.SIMILARITIES[by])]
    sites = sorted(known, key=lambda site: -site.similarity.value)[:MOST_SITES]
    low, high = similarity.similarity_ends(evidence, [site.similarity for site in sites])
    high += 0.05 * (high - low)
    ticks = (0.0, bands.SUPPORT, 1.0) if by == "psi" else canvas.inner_ticks(low, high, 3)
    return Heights(tuple(sites), (low, high), tuple(ticks))


def shown_classes(evidence: types.Evidence) -> tuple[str, ...]:
    """The classes that the figure has room for."""
    return (evidence.release.outcome.classes or ())[:MOST_CLASSES]


def _panel(
    drawn: Figure, rows: Heights, scale: robustness.Scale, corner: tuple[float, float], wide: float, head: str
) -> canvas.Panel:
    axes = canvas.panel(drawn, *corner, wide, rows.height, (scale.worst, scale.best), rows.ends)
    robustness.background(axes, scale)
    axes.axhline(bands.SUPPORT, color=ink.INK, lw=0.8, ls=ink.BROKEN, zorder=1)
    for site in rows.sites:
        axes.axhline(site.similarity.value, color=ink.HAIR, lw=0.5, zorder=0.5)
    robustness.scale_ticks(axes, scale, labelled=True)
    canvas.write(drawn, corner[0], corner[1] - 2.2, head)
    return axes


MEAN = "D"
"""The mark of a mean over the classes, for which no sample size is known."""


def _mark(
    axes: Axes, found: types.Estimate | types.Absent, site: At, scale: robustness.Scale, mark: str, *, filled: bool
) -> None:
    if isinstance(found, types.Absent):
        return
    y = site.similarity.value
    if found.low is not None and found.high is not None:
        axes.plot([scale.clipped(found.low), scale.clipped(found.high)], [y, y], color=ink.INK, lw=1.0, zorder=2)
    shape = mark if scale.clipped(found.value) == found.value else "<"
    marks.dot(axes, scale.clipped(found.value), y, shape, 3.6, filled=filled)


def _names(drawn: Figure, rows: Heights, x: float, top: float) -> None:
    """The names of the sites at their height, moved apart where they would touch."""
    wanted = [top + rows.y(site.similarity.value) for site in rows.sites]
    placed: list[float] = []
    for y in wanted:
        placed.append(max(y, placed[-1] + placing.LABEL_HEIGHT) if placed else y)
    beyond = max(0.0, placed[-1] - (top + rows.height))
    for order in range(len(placed) - 1, -1, -1):
        ceiling = placed[order + 1] - placing.LABEL_HEIGHT if order + 1 < len(placed) else placed[order] - beyond
        placed[order] = min(placed[order], ceiling)
    for site, spot, y in zip(rows.sites, wanted, placed, strict=True):
        marks.stroke(drawn, (x + 0.4, spot), (x + LEADER - 0.6, y), ink.RULE, 0.6)
        canvas.write(drawn, x + LEADER, y, site.label, color=ink.INK_2)


@canvas.figure("External performance by class")
def external_performance_by_class(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How well each class is parted from the rest at the sites whose patients differ from the development data."""
    seen, rows = register.present(classes.panels(evidence)), heights(evidence)
    labels = shown_classes(evidence)
    # A Brier score has no panel: it is of all classes at once.
    measures, sites, form = similarity.measured(seen), rows.sites, robustness.form_of(evidence)
    if not sites or not measures:
        return types.Absent(facts.Fact("no_similarity_of_classes"))
    right = max(widths.text_width(site.label) for site in sites) + LEADER
    wide = (canvas.FULL - LEFT - right - GAP * len(labels)) / (len(labels) + 1)
    each = HEAD + rows.height + FOOT
    drawn = canvas.sheet(canvas.FULL, len(measures) * each)
    heads, panels = widths.shortened(labels, wide), {site.name: site for site in types.externals(seen)}
    for row, scale in enumerate(measures):
        top = row * each + HEAD
        canvas.write(drawn, LEFT, top - 6.8, f"{scale.title}, one class against the rest", weight=600)
        for index, label in enumerate(labels, 1):
            axes = _panel(drawn, rows, scale, (LEFT + index * (wide + GAP), top), wide, heads[index - 1])
            for site in canvas.of_each(drawn, sites, lambda site: site.of):
                name = f"{site.of.name}{classes.BETWEEN}{label}"
                stands = robustness.standing(seen, panels[name], scale) if name in panels else None
                enough = stands is not None and stands.share is not None and stands.share >= 1
                _mark(axes, types.find(seen, scale.measure, name, **scale.setting), site, scale, "s", filled=enough)
        if scale.measure == "auroc":
            axes = _panel(drawn, rows, scale, (LEFT, top), wide, "mean")
            for site in canvas.of_each(drawn, sites, lambda site: site.of):
                _mark(axes, types.find(evidence, scale.measure, site.of.name), site, scale, MEAN, filled=True)
            canvas.ticks(axes, "y", rows.ticks)
        else:
            # Left of a first panel that has no mean before it.
            for position in rows.ticks:
                text = canvas.tick_text(position)
                canvas.write(drawn, LEFT + wide + GAP - 1.6, top + rows.y(position), text, ha="right")
        canvas.turned(drawn, 2.0, top + rows.height / 2, form.short)
        _names(drawn, rows, LEFT + (len(labels) + 1) * (wide + GAP) - GAP, top)
    left = len(evidence.release.outcome.classes or ()) - len(shown_classes(evidence))
    unseen = len(types.externals(evidence)) - len(sites)
    shown = [site for site in types.externals(evidence) if site in [hospital.of for hospital in sites]]
    height, more = f"{form.title}{form.note}", captions.sites_word(unseen) if unseen else ""
    about = {"height": height, "ours": robustness.OURS, "left": left, "unseen": more}
    caption = captions.said("external_performance_by_class", evidence, shown, **about)
    return canvas.Drawn(drawn, caption, _message(evidence, seen, sites))


def _message(evidence: types.Evidence, seen: types.Evidence, sites: Sequence[At]) -> str:
    """The lowest and the highest AUROC of the classes at the sites of low similarity."""
    unlike = [site for site in sites if bands.is_unlike(site.similarity.value)]
    values = [
        (found.value, f"{site.label}, {label}")
        for site in unlike
        for label in evidence.release.outcome.classes or ()
        if isinstance(found := types.find(seen, "auroc", f"{site.of.name}{classes.BETWEEN}{label}"), types.Estimate)
    ]
    known = f"{captions.sites_word(len(sites))} of known similarity"
    if not values:
        return f"Of {known} none is below {bands.SUPPORT:g} by {robustness.form_of(evidence).short}."
    where = f"At sites below {bands.SUPPORT:g} by {robustness.form_of(evidence).short}"
    return f"{where} the AUROC by class: {captions.ends(values)}."
