"""Pictures of discrimination: the forest of sites, and the ROC curve of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle

from dossier import bands
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
    RULE,
    column,
    few,
    interval,
    labels,
    lattice,
    left_out,
    level_text,
    panel,
    patients,
    picture,
    say,
    sheet,
    shown_sites,
    sites_word,
    styled,
    text_width,
    tick_text,
    ticks,
    value_text,
    wrapped,
    write,
)
from dossier.register import figure
from dossier.types import POOLED, Absent, DatasetSummary, Estimate, Evidence, Picture, externals, find, find_curve
from dossier.typeset import number

MOST_ROWS = {HALF: 12, FULL: 44}


@dataclass(frozen=True)
class Forest:
    """What a forest shows: the measure, its name over the column, its reference value, whether its scale is a ratio."""

    measure: str
    heading: str
    reference: float
    ratio: bool = False


AUROC = Forest("auroc", "AUROC", 0.5)


@dataclass(frozen=True)
class Columns:
    """Where the columns of a forest stand, in mm: the axis from `left` on, the right ends of the other columns."""

    label: float
    left: float
    width: float
    value: float
    interval: float
    patients: float | None = None
    events: float | None = None


HALF_COLUMNS = Columns(label=21.0, left=23.5, width=29.0, value=62.2, interval=HALF)
WIDEST_NAME = 62.0


def forest_columns(evidence: Evidence, width: float) -> Columns:
    """The columns at that width; at full width the names take what they need and the axis the rest."""
    if width == HALF:
        return HALF_COLUMNS
    names = [text_width(site.site) for site in externals(evidence)]
    name = min(max(*names, text_width("New hospital", 600)), WIDEST_NAME)
    left = name + 31.0
    return Columns(name, left, 134.0 - left, 146.0, FULL, patients=name + 12.0, events=name + 25.0)


TOP = 5.4


def draw_forest(evidence: Evidence, forest: Forest, width: float) -> Figure | Absent:
    """The forest of the external sites at that width."""
    sites = externals(evidence)
    if not any(isinstance(find(evidence, forest.measure, site.name), Estimate) for site in sites):
        return Absent(f"{forest.heading} could not be estimated at any external site")
    shown = sites[: MOST_ROWS[width]]
    columns = forest_columns(evidence, width)
    pooled = find(evidence, forest.measure, POOLED)
    rows = len(shown) + (1 if len(shown) < len(sites) else 0)
    summary = 2.4 if isinstance(pooled, Estimate) else 0.0
    height = (rows + summary) * LINE + 1.5
    drawn = sheet(width, TOP + height + 6.2)
    axes = panel(drawn, columns.left, TOP, columns.width, height)
    axes.set_ylim(height / LINE, 0)
    _scale(axes, evidence, forest, shown, pooled, columns)
    _head(drawn, evidence, forest, columns)
    names = labels(evidence, columns.label)
    for row, site in enumerate(shown):
        _site_row(drawn, axes, evidence, forest, columns, site, names[site.name], row + 0.5)
    if len(shown) < len(sites):
        rest = f"and {sites_word(len(sites) - len(shown))} more"
        write(drawn, 0, TOP + (rows - 0.5) * LINE, rest, color=INK_2)
    if isinstance(pooled, Estimate):
        _pooled_rows(drawn, axes, pooled, columns, rows + 0.9)
    return drawn


def _bounds(found: Estimate | Absent, *more: str) -> list[float]:
    if isinstance(found, Absent):
        return []
    extra = [found.details.get(name) for name in more]
    return [value for value in (found.value, found.low, found.high, *extra) if value is not None]


def _limits(values: Sequence[float], forest: Forest) -> tuple[float, float, list[float]]:
    """The ends of the axis and its ticks: round, holding the reference, not stretched by one very wide interval."""
    if forest.ratio:
        positive = [value for value in values if value > 0]
        low, high = max(min(*positive, 0.8), 0.1), min(max(*positive, 1.25), 10.0)
        every = [0.1, 0.2, 0.5, 1, 2, 5, 10]
        low = max(tick for tick in every if tick <= low)
        high = min(tick for tick in every if tick >= high)
        return low, high, [tick for tick in every if low <= tick <= high]
    low = min(*values, forest.reference)
    start = next(place for place in (0.5, 0.25, 0.0) if low >= place or place == 0)
    return start, 1.0, [place for place in (0.0, 0.25, 0.5, 0.75, 1.0) if place >= start]


def _scale(
    axes: Axes,
    evidence: Evidence,
    forest: Forest,
    shown: Sequence[DatasetSummary],
    pooled: Estimate | Absent,
    columns: Columns,
) -> None:
    values = [value for site in shown for value in _bounds(find(evidence, forest.measure, site.name))]
    values += _bounds(pooled, "prediction_low", "prediction_high")
    low, high, places = _limits(values, forest)
    if forest.ratio:
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.set_xlim(low, high)
    texts = [tick_text(place) if place in (0, 1) or forest.ratio else number(place, 2) for place in places]
    ticks(axes, "x", places, texts)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.axvline(forest.reference, color=HAIR if not forest.ratio else RULE, lw=0.6, zorder=0)
    for bound in criterion(evidence, forest.measure):
        axes.axvline(bound, color=INK_2, lw=0.7, ls=BROKEN, zorder=0.5)


def criterion(evidence: Evidence, measure: str) -> tuple[float, ...]:
    """The bounds of the acceptance criterion that is declared for each external site, if there is one."""
    for entry in getattr(evidence.release, "acceptance", ()):
        if entry.measure == measure and entry.dataset == "each external" and getattr(entry, "subset", None) is None:
            return tuple(bound for bound in (entry.at_least, entry.at_most) if bound is not None)
    return ()


def _head(drawn: Figure, evidence: Evidence, forest: Forest, columns: Columns) -> None:
    y = 2.2
    write(drawn, columns.value, y, forest.heading, ha="right", color=INK_2)
    write(drawn, columns.interval, y, f"{level_text(evidence)} CI", ha="right", color=INK_2)
    if columns.patients is not None:
        write(drawn, columns.patients, y, "n", ha="right", color=INK_2)
    if columns.events is not None:
        write(drawn, columns.events, y, "events", ha="right", color=INK_2)
    bounds = criterion(evidence, forest.measure)
    if bounds:
        text = f"criterion {' to '.join(number(bound) for bound in bounds)}"
        room = columns.value - text_width(forest.heading) - 2
        end = min(max(columns.left + columns.width * 0.75, text_width(text)), room)
        if columns.events is None or end - text_width(text) > columns.events + 2:
            write(drawn, end, y, text, ha="right", color=INK_2)


def _site_row(
    drawn: Figure,
    axes: Axes,
    evidence: Evidence,
    forest: Forest,
    columns: Columns,
    site: DatasetSummary,
    name: str,
    row: float,
) -> None:
    y = TOP + row * LINE
    write(drawn, 0, y, name)
    if columns.patients is not None:
        write(drawn, columns.patients, y, f"{site.n:,}", ha="right", color=INK_2)
    if columns.events is not None:
        write(drawn, columns.events, y, "–" if site.events is None else f"{site.events:,}", ha="right", color=INK_2)
    found = find(evidence, forest.measure, site.name)
    if isinstance(found, Absent):
        room = columns.interval - columns.left - columns.width - 3
        reason = wrapped(found.reason, room, 1) if columns.patients is not None else None
        write(drawn, columns.interval, y, reason or "not estimable", ha="right", color=INK_2)
        return
    _whisker(axes, found, row)
    hollow = few(site, bands.FEW_FOR_POOLING)
    inside = bool(axes.get_xlim()[0] <= found.value <= axes.get_xlim()[1])
    if inside:
        axes.plot(
            [found.value], [row], "s", ms=3.9, mfc="white" if hollow else INK, mec=INK, mew=0.9, clip_on=False, zorder=3
        )
    write(drawn, columns.value, y, number(found.value), ha="right", weight=600)
    write(drawn, columns.interval, y, interval(found.low, found.high), ha="right", color=INK_2)


def _whisker(axes: Axes, found: Estimate, row: float) -> None:
    """The interval; where it leaves the axis it ends in an arrow."""
    if found.low is None or found.high is None:
        return
    left, right = axes.get_xlim()
    low, high = min(max(found.low, left), right), max(min(found.high, right), left)
    axes.plot([low, high], [row, row], color=INK, lw=1, clip_on=False, zorder=2)
    for beyond, place, arrow in ((found.low < left, left, "<"), (found.high > right, right, ">")):
        if beyond:
            axes.plot([place], [row], arrow, ms=3.6, mfc=INK, mec="none", clip_on=False, zorder=2)


def _pooled_rows(drawn: Figure, axes: Axes, pooled: Estimate, columns: Columns, row: float) -> None:
    y = TOP + row * LINE
    left, right = axes.get_xlim()
    if pooled.low is not None and pooled.high is not None:
        corners = [(pooled.low, row), (pooled.value, row - 0.32), (pooled.high, row), (pooled.value, row + 0.32)]
        axes.add_patch(Polygon(corners, fc=BLUE, ec="none"))
    write(drawn, 0, y, "All, pooled", weight=600)
    write(drawn, columns.value, y, number(pooled.value), ha="right", weight=600)
    write(drawn, columns.interval, y, interval(pooled.low, pooled.high), ha="right", color=INK_2)
    row, y = row + 1, y + LINE
    low, high = pooled.details.get("prediction_low"), pooled.details.get("prediction_high")
    write(drawn, 0, y, "New hospital", weight=600)
    if low is None or high is None:
        write(drawn, columns.interval, y, "too few sites", ha="right", color=INK_2)
        return
    low_end, high_end = max(low, left), min(high, right)
    bar = Rectangle((low_end, row - 0.18), high_end - low_end, 0.36, fc=BAND, ec=BLUE, lw=0.7, clip_on=False)
    axes.add_patch(bar)
    write(drawn, columns.value, y, "PI", ha="right", color=INK_2)
    write(drawn, columns.interval, y, interval(low, high), ha="right", color=INK_2)


def forest_caption(evidence: Evidence, forest: Forest, width: float) -> str:
    """What to know about a forest: n, intervals, pooling, open squares."""
    sites = externals(evidence)
    shown = sites[: MOST_ROWS[width]]
    found = [find(evidence, forest.measure, site.name) for site in sites]
    method = next((one.method for one in found if isinstance(one, Estimate)), "")
    text = f"{patients(sites)}. {level_text(evidence)} intervals: {method}."
    pooled = find(evidence, forest.measure, POOLED)
    if isinstance(pooled, Estimate):
        text += f" Diamond: {pooled.method}; hollow bar: prediction interval (PI) for a new hospital."
    if any(few(site, bands.FEW_FOR_POOLING) for site in shown):
        said = isinstance(pooled, Estimate) and "not pooled" in pooled.method
        text += f" Open: under {bands.FEW_FOR_POOLING} events or non-events{'' if said else ', not pooled'}."
    return text + left_out(len(sites) - len(shown), "not drawn")


def forest_alternative(evidence: Evidence, forest: Forest) -> str:
    """The finding of a forest in one sentence."""
    found = [(find(evidence, forest.measure, site.name), site.site) for site in externals(evidence)]
    known = sorted((one.value, name) for one, name in found if isinstance(one, Estimate))
    (low, first), (high, last) = known[0], known[-1]
    if len(known) == 1:
        text = f"{forest.heading} is {value_text(find(evidence, forest.measure, _only(evidence, forest)))} in {first}"
    else:
        text = (
            f"{forest.heading} runs from {number(low)} ({first}) to {number(high)} ({last}) in {sites_word(len(known))}"
        )
    pooled = find(evidence, forest.measure, POOLED)
    if isinstance(pooled, Estimate):
        text += f"; pooled it is {value_text(pooled)}"
        low_end, high_end = pooled.details.get("prediction_low"), pooled.details.get("prediction_high")
        if low_end is not None and high_end is not None:
            text += f", and in a new hospital {interval(low_end, high_end, joint=' to ')}"
    return f"{text}."


def _only(evidence: Evidence, forest: Forest) -> str:
    names = (site.name for site in externals(evidence))
    return next(name for name in names if isinstance(find(evidence, forest.measure, name), Estimate))


def printed_forest(name: str, evidence: Evidence, forest: Forest, width: float) -> Picture | Absent:
    """The forest as a picture of that name."""
    with styled():
        drawn = draw_forest(evidence, forest, width)
        if isinstance(drawn, Absent):
            return drawn
        caption = forest_caption(evidence, forest, width)
        return picture(name, drawn, caption, forest_alternative(evidence, forest))


@figure("AUROC by site and pooled")
def forest_auroc(evidence: Evidence) -> Picture | Absent:
    """The AUROC of every site with its interval, all sites pooled, and what to expect in a new hospital."""
    return printed_forest("forest_auroc", evidence, AUROC, FULL)


def draw_roc(evidence: Evidence) -> Figure | Absent:
    """The ROC curves of the external sites on common axes, with the AUROC in each panel."""
    shown, _ = shown_sites(evidence, FULL)
    curves = {site.name: find_curve(evidence, "roc_curve", site.name) for site in shown}
    if all(isinstance(curve, Absent) for curve in curves.values()):
        return Absent("no external site has a ROC curve")
    width = HALF if len(shown) == 1 else FULL
    grid = lattice(len(shown), width, left=9.5, top=5, gap_x=4.4, gap_y=7.2, tallest=50)
    drawn = sheet(width, grid.bottom + 9.6)
    names = labels(evidence, grid.width)
    for place, site in enumerate(shown):
        x, y = grid.corner(place)
        axes = panel(drawn, x, y, grid.width, grid.height)
        write(drawn, x, y - 2.2, names[site.name])
        unit_axes(axes, 1.0, grid.outer_left(place), grid.outer_bottom(place))
        curve = curves[site.name]
        if isinstance(curve, Absent):
            say(axes, grid.width, grid.height, curve.reason)
            continue
        axes.plot([0, 1], [0, 1], color=RULE, lw=0.7)
        axes.plot(column(curve, "fpr"), column(curve, "tpr"), color=BLUE, lw=1.4, clip_on=False)
        _print_auroc(axes, find(evidence, "auroc", site.name), grid.width)
    write(drawn, (grid.left + grid.right) / 2, grid.bottom + 7.2, "False positive rate", ha="center")
    write(drawn, 2.0, (grid.top + grid.bottom) / 2, "True positive rate", rotation=90, ha="center", va="center")
    return drawn


def _print_auroc(axes: Axes, found: Estimate | Absent, width: float) -> None:
    if isinstance(found, Absent):
        return
    room = width > 22 and found.low is not None and found.high is not None
    high = 0.19 if room else 0.1
    axes.text(0.97, high, number(found.value), ha="right", va="center_baseline", weight=600, color=BLUE)
    if room:
        axes.text(
            0.97, high - 4.0 / width, interval(found.low, found.high), ha="right", va="center_baseline", color=INK_2
        )


def unit_axes(axes: Axes, end: float, left: bool, bottom: bool) -> None:
    """Equal axes from 0 to the end, labelled at the outer panels only."""
    axes.set_xlim(0, end)
    axes.set_ylim(0, end)
    places = [0, end / 2, end]
    texts = ["0", "", tick_text(end)]
    for direction, outer in (("x", bottom), ("y", left)):
        ticks(axes, direction, places, texts if outer else ["", "", ""], inward=True)  # type: ignore[arg-type]


@figure("ROC curve by site")
def roc_by_site(evidence: Evidence) -> Picture | Absent:
    """How many cases are found for how many false alarms as the threshold falls, at every site."""
    with styled():
        drawn = draw_roc(evidence)
        if isinstance(drawn, Absent):
            return drawn
        shown, left = shown_sites(evidence, FULL)
        caption = (
            f"{patients(shown)}. In each panel the AUROC with its {level_text(evidence)} interval; the grey diagonal "
            f"is chance. Further up and left is better.{left_out(left, 'in the forest')}"
        )
        return picture("roc_by_site", drawn, caption, forest_alternative_of_roc(evidence))


def forest_alternative_of_roc(evidence: Evidence) -> str:
    """The finding of the ROC curves: the AUROC at their extremes."""
    known = any(isinstance(find(evidence, "auroc", site.name), Estimate) for site in externals(evidence))
    if not known:
        return "The ROC curve of each site; the area under it could not be estimated."
    return f"ROC curves by site: {forest_alternative(evidence, AUROC)}"
