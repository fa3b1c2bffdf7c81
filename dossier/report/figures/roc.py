"""Pictures of the ROC curve: of every site with the parts of interest, and of the readers' cases with the readers."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dossier.core import register, types
from dossier.core.facts import Fact
from dossier.report.figures import canvas, captions, data, discrimination, facets, ink, marks, placing
from dossier.typeset import names, numbers, words
from dossier.typeset.numbers import number, per_cent


def parts_of(evidence: types.Evidence) -> tuple[tuple[float, float], ...]:
    """The declared parts of the ROC curve, as ranges of the false positive rate."""
    return evidence.release.roc.parts if evidence.release.roc else ()


def point_at(evidence: types.Evidence, site: types.DatasetSummary, threshold: float) -> tuple[float, float] | None:
    """Where a threshold stands in the plane: its false and its true positive rate."""
    hit = types.find(evidence, "sensitivity", site.name, threshold=threshold)
    spared = types.find(evidence, "specificity", site.name, threshold=threshold)
    if isinstance(hit, types.Absent) or isinstance(spared, types.Absent):
        return None
    return 1 - spared.value, hit.value


LOW = 24.0
"""The height of a panel in mm, at most: the AUROC says what the curve shows, and the tables have it."""


def draw_roc(evidence: types.Evidence) -> Figure | types.Absent:
    """The ROC curves of the external sites on common axes, with the AUROC in each panel."""
    found = facets.shown_curves(evidence, canvas.FULL, "roc")
    if not facets.known(found):
        return types.Absent(Fact("no_site_with_roc_curve"))
    width = canvas.HALF if len(found) == 1 else canvas.FULL
    grid = facets.lattice(len(found), width, left=9.5, top=5, gap_x=4.4, gap_y=7.2, tallest=LOW)
    plot = facets.Multiples.of(grid, [site for site, _ in found], 9.6, canvas.HALF if len(found) == 1 else None)
    threshold = evidence.release.thresholds.primary
    for _, site, axes, curve in plot.each(evidence, found, facets.unit(plot.grid)):
        _draw_curve(axes, evidence, curve, 1.4)
        point = None if threshold is None else point_at(evidence, site, threshold)
        if point is not None:
            marks.ring(axes, point, 4 if grid.width > 22 else 3)
        auroc = types.find(evidence, "auroc", site.name)
        if isinstance(auroc, types.Estimate):
            room = axes.width > NARROWEST_WITH_BOUNDS and auroc.low is not None and auroc.high is not None
            high = (6.7 if room else 2.7) / axes.width
            # Where few patients make a curve of few steps, one may run there: the numbers stand on white.
            white = {"fc": "white", "ec": "none", "pad": 0.4}
            looks: dict[str, Any] = {"ha": "right", "va": "center_baseline", "bbox": white, "zorder": 4}
            axes.text(0.97, high, number(auroc.value), weight=600, color=ink.BLUE, **looks)
            if room:
                bounds = captions.interval(auroc.low, auroc.high)
                axes.text(0.97, high - 4.0 / axes.width, bounds, color=ink.INK_2, **looks)
    plot.titles("False positive rate", "True positive rate")
    return plot.sheet


def _draw_curve(axes: Axes, evidence: types.Evidence, curve: types.Curve, width: float, **looks: Any) -> None:
    """The curve over the diagonal, with its declared parts shaded."""
    fpr, tpr = data.column(curve, "fpr"), data.column(curve, "tpr")
    # The parts are in turn lighter and darker.
    for index, (low, high) in enumerate(parts_of(evidence)):
        inside = (fpr > low) & (fpr < high)
        x = np.concatenate(([low], fpr[inside], [high]))
        y = np.concatenate(([np.interp(low, fpr, tpr)], tpr[inside], [np.interp(high, fpr, tpr)]))
        axes.fill_between(x, y, color=ink.TINTS[2 if index % 2 == 0 else 0], lw=0, zorder=0.5)
    axes.plot([0, 1], [0, 1], color=ink.RULE, lw=0.7)
    axes.plot(fpr, tpr, color=ink.BLUE, lw=width, clip_on=False, **looks)


NARROWEST_WITH_BOUNDS = 22.0
"""In panels narrower than this, in mm, the interval of the AUROC is left to the forest."""


def ringed(evidence: types.Evidence) -> str:
    """What the caption says about the rings, where there are any."""
    threshold = evidence.release.thresholds.primary
    if threshold is None:
        return ""
    shown, _ = facets.shown_sites(evidence, canvas.FULL)
    known = any(point_at(evidence, site, threshold) for site in shown)
    return f" Ring: threshold {numbers.threshold(threshold)}." if known else ""


def _shaded(evidence: types.Evidence) -> str:
    """What the caption says about the shaded parts."""
    parts = [f"{canvas.tick_text(low)} to {canvas.tick_text(high)}" for low, high in parts_of(evidence)]
    return f" Shaded: the parts at false positive rates {' and '.join(parts)}." if parts else ""


@canvas.figure("ROC curve by site")
def roc_by_site(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How many cases are found for how many false alarms as the threshold falls, at every site."""
    drawn = register.present(draw_roc(evidence))
    shown, left = facets.shown_sites(evidence, canvas.FULL)
    across, _ = canvas.extent(drawn)
    has_bounds = drawn.axes[0].get_position().width * across > NARROWEST_WITH_BOUNDS
    more = f"{ringed(evidence)}{_shaded(evidence)}{captions.left_out(left, 'in results.csv')}"
    caption = captions.said("roc", evidence, shown, bounds=has_bounds, more=more)
    curves = {site.name: types.find_curve(evidence, "roc", site.name) for site in types.externals(evidence)}
    drawn_ones = {name for name, curve in curves.items() if isinstance(curve, types.Curve)}
    if not any(site.name in drawn_ones for site, _ in types.estimated(evidence, "auroc")):
        return canvas.Drawn(drawn, caption, "The ROC curve of each site; the area under it could not be estimated.")
    message = discrimination.forest_alternative(evidence, discrimination.AUROC, drawn_ones)
    return canvas.Drawn(drawn, caption, f"ROC curves by site: {message}", message)


# ---- the readers beside the curve -----------------------------------------------------------------------------------


def readers_of(evidence: types.Evidence) -> tuple[types.DatasetSummary, types.Curve, types.Curve] | types.Absent:
    """The dataset of which readers judged the largest share, its ROC curve, and where each reader stands."""
    found: list[tuple[types.DatasetSummary, types.Curve, types.Curve]] = []
    for dataset in (summary for summary in evidence.datasets if summary.role != "development"):
        rates = types.find_curve(evidence, "rater_rates", dataset.name)
        curve = types.find_curve(evidence, "roc", dataset.name)
        if isinstance(rates, types.Curve) and isinstance(curve, types.Curve):
            found.append((dataset, curve, rates))
    # Of a part of the cases nothing can be compared; of the largest shares the first.
    return max(found, key=lambda row: row[2].n / row[0].n, default=types.Absent(Fact("no_readers_of_known_cases")))


MARKS = (("filled circles", "o", True), ("hollow circles", "o", False), ("filled squares", "s", True))
"""How the readers of the first groups are marked: what the caption says, the mark, and whether it is filled."""


def marks_of(evidence: types.Evidence, dataset: str, rates: types.Curve) -> tuple[tuple[str, NDArray[np.bool_]], ...]:
    """The groups of the readers, each with which readers they are; none where there is one, or more than marks."""
    groups = names.groups_of_raters(evidence, dataset)
    if "group" not in rates.columns or not 1 < len(groups) <= len(MARKS):
        return ()
    numbers = data.column(rates, "group")
    return tuple((group, numbers == index) for index, group in enumerate(groups))


SIDE = 54.0


@canvas.figure("The model and the readers")
def roc_and_raters(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Whether readers, each at their own cut, find more cases for the same false alarms than the model."""
    dataset, curve, rates = register.present(readers_of(evidence))
    drawn = canvas.sheet(canvas.HALF, 2.0 + SIDE + 9.6)
    axes = canvas.panel(drawn, 10.5, 2.0, SIDE, SIDE)
    for direction in canvas.BOTH:
        canvas.ticks(axes, direction, [0, 0.25, 0.5, 0.75, 1], ["0", "", "0.5", "", "1"])
    _draw_curve(axes, evidence, curve, 1.5, zorder=2)
    alarms, hits = "false_positive_rate", "true_positive_rate"
    x, y = data.column(rates, alarms), data.column(rates, hits)
    # Pale: the crosses of readers who stand close together would hide their points.
    pale: dict[str, Any] = {"color": ink.RULE, "lw": 0.4, "zorder": 1.8}
    axes.hlines(y, data.column(rates, f"{alarms}_low"), data.column(rates, f"{alarms}_high"), **pale)
    axes.vlines(x, data.column(rates, f"{hits}_low"), data.column(rates, f"{hits}_high"), **pale)
    marked = marks_of(evidence, dataset.name, rates) or (("", np.ones(len(x), dtype=np.bool_)),)
    for (_, here), (_, shape, filled) in zip(marked, MARKS, strict=False):
        (face, edge), width = (ink.INK, "white") if filled else ("white", ink.INK), 0.4 if filled else 0.8
        looks: dict[str, Any] = {"mfc": face, "mec": edge, "mew": width, "clip_on": False}
        axes.plot(x[here], y[here], shape, ms=4, ls="none", zorder=3, **looks)
    _label(axes, evidence, dataset, curve, axes.spots(x, y))
    axes.titles("False positive rate", "True positive rate", 7.2, 8.5)
    count = len(x)
    groups = zip(marks_of(evidence, dataset.name, rates), MARKS, strict=False)
    which = [f"{mark[0]}: {name} ({int(here.sum())})" for (name, here), mark in groups]
    caption = captions.said(
        "roc_and_raters",
        evidence,
        [dataset],
        site=dataset.site,
        readers=words.counted(count, "reader"),
        among=rates.n,
        caveat=CAVEAT,
        # Readers of a part of the cases stand beside a line of all of them: which is better cannot be seen.
        above=_of_all(_above(curve, rates), count) if rates.n == dataset.n else "",
        rings=evidence.release.thresholds.declared,
        shaded=_shaded(evidence),
        legend=words.sentence_case("; ".join(which)),
    )
    message = f"{_rates_of_readers(dataset, rates)}."
    return canvas.Drawn(drawn, caption, _alternative_of_readers(dataset, rates, evidence), message)


def _label(
    axes: canvas.Panel,
    evidence: types.Evidence,
    dataset: types.DatasetSummary,
    curve: types.Curve,
    points: types.Floats,
) -> None:
    """The names of the line and the points, and the declared thresholds on the line, each where it crosses nothing."""
    model = placing.drawn(axes, data.column(curve, "fpr"), data.column(curve, "tpr"))
    chance = placing.drawn(axes, [0, 1], [0, 1])
    taken = [(float(x), float(y), 1.2, 1.2) for x, y in points]

    def put(text: str, line: types.Floats, *others: types.Floats, **looks: Any) -> None:
        placing.label(axes, text, line, np.concatenate(others), taken, apart=False, **looks)

    for threshold in evidence.release.thresholds.declared[:3]:
        point = point_at(evidence, dataset, threshold)
        if point is not None:
            marks.ring(axes, point, 5)
            centre = axes.spots(*np.array([point]).T)
            taken.append((*centre[0], 1.2, 1.2))
            put(numbers.threshold(threshold), centre, points, chance, model, color=ink.BLUE, weight=600)
    put("Model", model[len(model) // 4 :], points, chance, color=ink.BLUE, weight=600)
    put("Reader" if len(points) == 1 else "Readers", points, chance, model, color=ink.INK, weight=600)
    put("Chance", chance, points, model, color=ink.INK_2)


CAVEAT = "The readers saw other things than the model, under other conditions."
"""Stands before every comparison of readers and model, as section 4.3 of Cabitza and Campagner asks."""


def _above(curve: types.Curve, rates: types.Curve) -> int:
    """The readers who find a larger share of the cases than the model does at their share of false alarms."""
    fpr, tpr = data.column(curve, "fpr"), data.column(curve, "tpr")
    # Where the line is upright the model reaches its upper end at no further false alarm.
    highest = [float(tpr[fpr <= alarms].max(initial=0)) for alarms in data.column(rates, "false_positive_rate")]
    between = np.interp(data.column(rates, "false_positive_rate"), fpr, tpr)
    return int((data.column(rates, "true_positive_rate") > np.maximum(highest, between) + ROUNDING).sum())


def _of_all(part: int, count: int) -> str:
    return f"all {words.in_words(count)}" if part == count > 1 else words.part_of(part, count)


ROUNDING = 1e-9
"""So near to the line a reader lies on it."""


def _rates_of_readers(dataset: types.DatasetSummary, rates: types.Curve) -> str:
    """Between which rates the readers lie."""
    hits, alarms = data.column(rates, "true_positive_rate"), data.column(rates, "false_positive_rate")
    return (
        f"In {dataset.site}, {words.counted(len(hits), 'reader')} found {words.span(per_cent, hits)} of the cases with "
        f"{words.span(per_cent, alarms)} of the others called positive"
    )


def _alternative_of_readers(dataset: types.DatasetSummary, rates: types.Curve, evidence: types.Evidence) -> str:
    """The rates of the readers; behind the caveat, where the model stands at its primary threshold."""
    text = _rates_of_readers(dataset, rates)
    threshold = evidence.release.thresholds.primary
    point = None if threshold is None else point_at(evidence, dataset, threshold)
    if threshold is None or point is None or rates.n != dataset.n:
        return f"{text}."
    model = f"the model at {numbers.threshold(threshold)} found {per_cent(point[1])} with {per_cent(point[0])}."
    return f"{text}; {CAVEAT[0].lower()}{CAVEAT[1:-1]}; {model}"
