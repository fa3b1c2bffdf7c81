"""Pictures of discrimination: the forest of sites, the ROC curve of each, and the risks of each by outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
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
    TINTS,
    Key,
    Lattice,
    ceiling,
    column,
    few,
    head,
    headed,
    interval,
    joined,
    key_row,
    labels,
    lattice,
    left_out,
    level_text,
    panel,
    patients,
    picture,
    primary_threshold,
    round_ticks,
    row_of,
    say_why,
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
from dossier.types import (
    POOLED,
    Absent,
    Curve,
    DatasetSummary,
    Estimate,
    Evidence,
    Picture,
    externals,
    find,
    find_curve,
)
from dossier.typeset import named, number, per_cent

MOST_ROWS = {HALF: 12, FULL: 44}


@dataclass(frozen=True)
class Forest:
    """What a forest shows: the measure, its name over the column, its reference value, whether its scale is a ratio."""

    measure: str
    heading: str
    reference: float
    ratio: bool = False
    at: Mapping[str, float] = field(default_factory=dict)
    """The settings of the measure."""
    per: float = 1.0
    """What a value is counted per: 100 for a net benefit per 100 patients."""
    digits: int = 2
    unbounded: bool = False
    """Whether the axis has no natural ends and follows the values."""
    told: str = ""
    """The measure in a sentence, where that is more than the heading."""

    @property
    def counts_patients(self) -> bool:
        """Whether all sites together are all patients in one table, and flagging everyone is shown beside."""
        return self.measure == "net_benefit"

    def text(self, value: float) -> str:
        """A value as it is printed."""
        return number(value, self.digits)

    def found(self, evidence: Evidence, dataset: str) -> Estimate | Absent:
        """The measure in a dataset, in the unit of the axis."""
        return self.in_unit(find(evidence, self.measure, dataset, **self.at))

    def in_unit(self, found: Estimate | Absent) -> Estimate | Absent:
        """An estimate in the unit of the axis."""
        if isinstance(found, Absent) or self.per == 1:
            return found
        ends = (None if end is None else end * self.per for end in (found.low, found.high))
        return replace(found, value=found.value * self.per, low=next(ends), high=next(ends))

    def together(self, evidence: Evidence) -> Estimate | Absent:
        """All sites: pooled, or for the net benefit all patients in one table."""
        if not self.counts_patients:
            return self.found(evidence, POOLED)
        curve = find_curve(evidence, "decision_curve_all_sites", POOLED)
        row = None if isinstance(curve, Absent) else row_of(curve, "threshold", self.at["threshold"])
        if isinstance(curve, Absent) or row is None:
            return Absent("the decision curve of all sites has no such threshold")
        value, low, high = (curve.columns[name][row] for name in ("net_benefit", "low", "high"))
        if value is None:
            return Absent("the decision curve of all sites has no value at this threshold")
        return self.in_unit(Estimate(value, low, high, evidence.release.release.level, curve.n, curve.method))

    def everyone(self, evidence: Evidence, dataset: str) -> float | None:
        """The net benefit of flagging everyone, which a model has to beat; None for other measures."""
        if not self.counts_patients:
            return None
        curve = find_curve(evidence, "decision_curve", dataset)
        row = None if isinstance(curve, Absent) else row_of(curve, "threshold", self.at["threshold"])
        value = None if isinstance(curve, Absent) or row is None else curve.columns["treat_all"][row]
        return None if value is None else value * self.per


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


def forest_columns(evidence: Evidence, forest: Forest, width: float) -> Columns:
    """The columns at that width; at full width names and intervals take what they need and the axis the rest."""
    if width == HALF:
        return HALF_COLUMNS
    names = [text_width(site.site) for site in externals(evidence)]
    name = min(max(*names, text_width("New hospital", 600)), WIDEST_NAME)
    sites = externals(evidence)
    counts = max(text_width(f"{site.n:,}") for site in sites)
    events = max(text_width("events"), *(text_width(f"{site.events or 0:,}") for site in sites))
    patients_end = name + 4.0 + max(counts, 8.0)
    events_end = patients_end + 2.5 + events
    left = events_end + 6.0
    found = [forest.found(evidence, site.name) for site in externals(evidence)]
    together = forest.together(evidence)
    ends = [(one.low, one.high) for one in (*found, together) if isinstance(one, Estimate)]
    if isinstance(together, Estimate):
        ends.append((together.details.get("prediction_low"), together.details.get("prediction_high")))
    widest = max(text_width(interval(low, high, forest.digits)) for low, high in ends)
    value = FULL - max(widest + 2.4, 22.0)
    return Columns(name, left, value - 12.0 - left, value, FULL, patients=patients_end, events=events_end)


TOP = 5.4


def draw_forest(evidence: Evidence, forest: Forest, width: float) -> Figure | Absent:
    """The forest of the external sites at that width."""
    sites = externals(evidence)
    if not any(isinstance(forest.found(evidence, site.name), Estimate) for site in sites):
        return Absent(f"{forest.heading} could not be estimated at any external site")
    shown = sites[: MOST_ROWS[width]]
    columns = forest_columns(evidence, forest, width)
    pooled = forest.together(evidence)
    rows = len(shown) + (1 if len(shown) < len(sites) else 0)
    summary = 0.0 if isinstance(pooled, Absent) else 2.4 if not forest.counts_patients else 1.4
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
        _pooled_rows(drawn, axes, forest, pooled, columns, rows + 0.9)
    return drawn


def _bounds(found: Estimate | Absent, *more: str) -> list[float]:
    if isinstance(found, Absent):
        return []
    extra = [found.details.get(name) for name in more]
    return [value for value in (found.value, found.low, found.high, *extra) if value is not None]


def _limits(values: Sequence[float], forest: Forest, reach: tuple[float, float]) -> tuple[float, float, list[float]]:
    """The ends of the axis and its ticks: round, holding the reference, not stretched by one very wide interval."""
    if forest.ratio:
        positive = [value for value in values if value > 0]
        low, high = max(min(*positive, 0.8), 0.1), min(max(*positive, 1.25), 10.0)
        every = [0.1, 0.2, 0.5, 1, 2, 5, 10]
        low = max(tick for tick in every if tick <= low)
        high = min(tick for tick in every if tick >= high)
        return low, high, [tick for tick in every if low <= tick <= high]
    if forest.unbounded:
        every = round_ticks(*reach, 5)
        return every[0], every[-1], every
    low = min(*values, forest.reference)
    start = next(place for place in (0.5, 0.25, 0.0) if low >= place or place == 0)
    return start, 1.0, [place for place in (0.0, 0.25, 0.5, 0.75, 1.0) if place >= start]


FURTHEST = 0.8
"""How far below the model, in spans of the sites, flagging everyone is still drawn: further down it is just worse."""


def _reach(
    evidence: Evidence, forest: Forest, shown: Sequence[DatasetSummary], values: Sequence[float]
) -> tuple[float, float]:
    """How far an axis without natural ends goes: to all values, and to the ends of intervals within reason."""
    found = (forest.found(evidence, site.name) for site in shown)
    points = [forest.reference, *(one.value for one in found if isinstance(one, Estimate))]
    low, high = min(points), max(points)
    far = low - FURTHEST * (high - low)
    others = [one for site in shown if (one := forest.everyone(evidence, site.name)) is not None and one >= far]
    low, high = min([low, *others]), max([high, *others])
    more = 0.6 * (high - low)
    return max(min([low, *values]), low - more), min(max([high, *values]), high + more)


NARROWEST_TICK = 7.2
"""The room in mm that the number of a tick needs; with less, every other tick has none."""


def _scale(
    axes: Axes,
    evidence: Evidence,
    forest: Forest,
    shown: Sequence[DatasetSummary],
    pooled: Estimate | Absent,
    columns: Columns,
) -> None:
    values = [value for site in shown for value in _bounds(forest.found(evidence, site.name))]
    values += _bounds(pooled, "prediction_low", "prediction_high")
    low, high, places = _limits(values, forest, _reach(evidence, forest, shown, values))
    if forest.ratio:
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.set_xlim(low, high)
    plain = forest.ratio or forest.unbounded
    texts = [tick_text(place) if place in (0, 1) or plain else number(place, 2) for place in places]
    if len(places) * NARROWEST_TICK > columns.width:
        texts = [text if step % 2 == 0 else "" for step, text in enumerate(texts)]
    ticks(axes, "x", places, texts)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.axvline(forest.reference, color=RULE if plain else HAIR, lw=0.6, zorder=0)
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
    found = forest.found(evidence, site.name)
    if isinstance(found, Absent):
        room = columns.interval - columns.left - columns.width - 3
        reason = wrapped(named(evidence, found.reason), room, 1) if columns.patients is not None else None
        write(drawn, columns.interval, y, reason or "not estimable", ha="right", color=INK_2)
        return
    _whisker(axes, found, row)
    hollow = few(site, bands.FEW_FOR_POOLING)
    inside = bool(axes.get_xlim()[0] <= found.value <= axes.get_xlim()[1])
    if inside:
        axes.plot(
            [found.value], [row], "s", ms=3.9, mfc="white" if hollow else INK, mec=INK, mew=0.9, clip_on=False, zorder=3
        )
    everyone = forest.everyone(evidence, site.name)
    left, right = axes.get_xlim()
    if everyone is not None and left <= everyone <= right:
        axes.plot([everyone], [row], "|", ms=8, mec=INK_2, mew=1.3, clip_on=False, zorder=2.5, color=INK_2)
    write(drawn, columns.value, y, forest.text(found.value), ha="right", weight=600)
    write(drawn, columns.interval, y, interval(found.low, found.high, forest.digits), ha="right", color=INK_2)


def _whisker(axes: Axes, found: Estimate, row: float) -> None:
    """The interval; where it leaves the axis it ends in an arrow."""
    if found.low is None or found.high is None:
        return
    left, right = axes.get_xlim()
    low, high = min(max(found.low, left), right), max(min(found.high, right), left)
    axes.plot([low, high], [row, row], color=INK, lw=1, clip_on=False, zorder=2)
    _arrows(axes, (found.low, found.high), row, INK)


def _arrows(axes: Axes, ends: tuple[float, float], row: float, colour: str, size: float = 3.6) -> None:
    """An arrow at each end of the axis beyond which something goes on."""
    left, right = axes.get_xlim()
    for beyond, place, arrow in ((ends[0] < left, left, "<"), (ends[1] > right, right, ">")):
        if beyond:
            axes.plot([place], [row], arrow, ms=size, mfc=colour, mec="none", color=colour, clip_on=False, zorder=2)


def _pooled_rows(drawn: Figure, axes: Axes, forest: Forest, pooled: Estimate, columns: Columns, row: float) -> None:
    y = TOP + row * LINE
    left, right = axes.get_xlim()
    if pooled.low is not None and pooled.high is not None:
        corners = [(pooled.low, row), (pooled.value, row - 0.32), (pooled.high, row), (pooled.value, row + 0.32)]
        axes.add_patch(Polygon(corners, fc=BLUE, ec="none"))
        _arrows(axes, (pooled.low, pooled.high), row, BLUE, 4.4)
    together = "All patients" if forest.counts_patients else "All, pooled"
    write(drawn, 0, y, together, weight=600)
    write(drawn, columns.value, y, forest.text(pooled.value), ha="right", weight=600)
    write(drawn, columns.interval, y, interval(pooled.low, pooled.high, forest.digits), ha="right", color=INK_2)
    if forest.counts_patients:
        return
    row, y = row + 1, y + LINE
    low, high = pooled.details.get("prediction_low"), pooled.details.get("prediction_high")
    write(drawn, 0, y, "New hospital", weight=600)
    if low is None or high is None:
        write(drawn, columns.interval, y, "too few sites", ha="right", color=INK_2)
        return
    low_end, high_end = max(low, left), min(high, right)
    bar = Rectangle((low_end, row - 0.18), high_end - low_end, 0.36, fc=BAND, ec=BLUE, lw=0.7, clip_on=False)
    axes.add_patch(bar)
    _arrows(axes, (low, high), row, BLUE, 4.4)
    write(drawn, columns.value, y, "PI", ha="right", color=INK_2)
    write(drawn, columns.interval, y, interval(low, high, forest.digits), ha="right", color=INK_2)


def forest_caption(evidence: Evidence, forest: Forest, width: float) -> str:
    """What to know about a forest: n, intervals, pooling, open squares, the criterion."""
    sites = externals(evidence)
    shown = sites[: MOST_ROWS[width]]
    text = f"{patients(sites)}; lines are {level_text(evidence)} intervals."
    text += "".join(f" {name[0].upper()}{name[1:]} {number(value)}." for name, value in forest.at.items())
    pooled = forest.together(evidence)
    if isinstance(pooled, Estimate):
        has_bar = pooled.details.get("prediction_low") is not None
        text += " Diamond: all patients together" if forest.counts_patients else " Diamond: pooled"
        text += "; hollow bar: prediction interval (PI) for a new hospital." if has_bar else "."
    if forest.counts_patients:
        text += " Stroke: flagging everyone (left out where far lower)."
    if any(few(site, bands.FEW_FOR_POOLING) for site in shown):
        pooling = "" if forest.counts_patients else ", not pooled"
        text += f" Open: under {bands.FEW_FOR_POOLING} events or non-events{pooling}."
    bounds = criterion(evidence, forest.measure)
    if bounds:
        text += f" Broken: the criterion declared beforehand, {' to '.join(number(bound) for bound in bounds)}."
    return text + left_out(len(sites) - len(shown), "not drawn")


def forest_alternative(evidence: Evidence, forest: Forest) -> str:
    """The finding of a forest in one sentence."""
    found = [(forest.found(evidence, site.name), site.site) for site in externals(evidence)]
    known = sorted((one.value, name) for one, name in found if isinstance(one, Estimate))
    (low, first), (high, last) = known[0], known[-1]
    lowest, highest = forest.text(low), forest.text(high)
    text = forest.told or forest.heading
    if len(known) == 1:
        only = forest.found(evidence, _only(evidence, forest))
        text += f" is {value_text(only, forest.digits)} in {first}"
    elif lowest == highest:
        where = "both sites" if len(known) == 2 else f"all {len(known)} sites"
        text += f" is {lowest} in {where}"
    else:
        text += f" runs from {lowest} ({first}) to {highest} ({last}) in {sites_word(len(known))}"
    pooled = forest.together(evidence)
    if isinstance(pooled, Estimate):
        where = "over all patients" if forest.counts_patients else "pooled"
        text += f"; {where} it is {value_text(pooled, forest.digits)}"
        low_end, high_end = pooled.details.get("prediction_low"), pooled.details.get("prediction_high")
        if low_end is not None and high_end is not None:
            text += f", and in a new hospital {interval(low_end, high_end, joint=' to ')}"
    return f"{text}."


def _only(evidence: Evidence, forest: Forest) -> str:
    names = (site.name for site in externals(evidence))
    return next(name for name in names if isinstance(forest.found(evidence, name), Estimate))


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


TALLEST = 77.0
"""The most a square panel measures: so much that two of them fill the width of the page."""


def draw_roc(evidence: Evidence) -> Figure | Absent:
    """The ROC curves of the external sites on common axes, with the AUROC in each panel."""
    shown, _ = shown_sites(evidence, FULL)
    curves = {site.name: find_curve(evidence, "roc", site.name) for site in shown}
    if all(isinstance(curve, Absent) for curve in curves.values()):
        return Absent("no external site has a ROC curve")
    width = HALF if len(shown) == 1 else FULL
    grid = lattice(len(shown), width, left=9.5, top=5, gap_x=4.4, gap_y=7.2, tallest=TALLEST)
    grid, heads = headed(grid, shown)
    drawn = sheet(width, grid.bottom + 9.6)
    for place, site in enumerate(shown):
        x, y = grid.corner(place)
        axes = panel(drawn, x, y, grid.width, grid.height)
        head(drawn, grid, place, heads[place])
        unit_axes(axes, 1.0, grid.outer_left(place), grid.outer_bottom(place))
        curve = curves[site.name]
        if isinstance(curve, Absent):
            say_why(evidence, axes, grid, curve)
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
    high = (6.7 if room else 2.7) / width
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


# ---- the risks themselves -------------------------------------------------------------------------------------------


_SHARES = ("share_events", "share_non_events")


def mirrored(axes: Axes, site: DatasetSummary, curve: Curve, most: float | None = None) -> None:
    """Shares of the events upwards and of the others downwards, as one outline each; too few are not drawn."""
    edges = np.append(column(curve, "low"), column(curve, "high")[-1])
    up, down = (np.nan_to_num(column(curve, name)) for name in _SHARES)
    with_outcome, without = enough(site)
    if with_outcome:
        axes.stairs(up, edges, fill=True, fc=BLUE, lw=0)
    if without:
        axes.stairs(-down, edges, fill=True, fc=TINTS[2], ec=INK_2, lw=0.5, baseline=0)
    axes.axhline(0, color=INK, lw=0.5)
    reach = most if most is not None else max(float(up.max()), float(down.max()), 1e-9)
    axes.set_ylim(-reach * 1.04, reach * 1.04)


def enough(site: DatasetSummary) -> tuple[bool, bool]:
    """Whether the patients with the outcome, and those without, are enough to show how their risks lie."""
    if site.events is None:
        return False, False
    return site.events >= bands.FEW_FOR_POOLING, site.n - site.events >= bands.FEW_FOR_POOLING


def distributions(evidence: Evidence, width: float) -> dict[str, Curve | Absent]:
    """The distribution of the risks at each site that a figure of that width holds."""
    return {site.name: find_curve(evidence, "risk_distribution", site.name) for site in shown_sites(evidence, width)[0]}


def _known(evidence: Evidence, width: float) -> list[Curve]:
    return [curve for curve in distributions(evidence, width).values() if isinstance(curve, Curve)]


def highest_bin(curves: Sequence[Curve]) -> float:
    """The upper end of the last bin that holds anybody."""
    ends = [0.1]
    for curve in curves:
        held = sum(np.nan_to_num(column(curve, name)) for name in _SHARES) > 0
        ends.append(float(column(curve, "high")[held].max(initial=0.1)))
    return max(ends)


def draw_risks(evidence: Evidence, width: float) -> Figure | Absent:
    """The distribution of the risks at each site: patients with the outcome upwards, the others downwards."""
    shown, _ = shown_sites(evidence, width)
    curves = distributions(evidence, width)
    known = _known(evidence, width)
    if not known:
        return Absent("no external site has a distribution of risks")
    end = ceiling(highest_bin(known))
    # A site of one class has no share of the other at all.
    reach = max(float(np.nan_to_num(column(curve, name)).max()) for curve in known for name in _SHARES)
    size = HALF if len(shown) == 1 else width
    share = printed_share(reach)
    grid, heads = _risk_grid(shown, size, width, 6.2 + text_width(per_cent(share)))
    drawn = sheet(size, grid.bottom + 9.4)
    if width == FULL:
        key = [Key("with the outcome", BLUE, fill=True), Key("without", TINTS[2], fill=True, edge=INK_2)]
        key_row(drawn, grid.left, 2.4, key)
    for place, site in enumerate(shown):
        head(drawn, grid, place, heads[place], quiet=1 if "\n" in heads[place] and width == FULL else 0)
        axes = panel(drawn, *grid.corner(place), grid.width, grid.height)
        _risk_axes(axes, grid, place, (end, reach), share if width == FULL else None)
        curve = curves[site.name]
        if isinstance(curve, Absent):
            say_why(evidence, axes, grid, curve)
        else:
            mirrored(axes, site, curve, reach)
            _threshold_and_gaps(axes, site, primary_threshold(evidence), (end, reach))
    write(drawn, (grid.left + grid.right) / 2, grid.bottom + 7.2, "Estimated risk", ha="center")
    middle = (grid.top + grid.bottom) / 2
    write(drawn, 2.0, middle, "Share of patients", rotation=90, ha="center", va="center")
    return drawn


def _risk_grid(
    shown: Sequence[DatasetSummary], size: float, width: float, left: float
) -> tuple[Lattice, tuple[str, ...]]:
    """The panels and what stands above them: the name, and at full width n and events where they fit."""
    if width == HALF:
        shape = 0.6 if len(shown) == 1 else 1.0
        grid = lattice(len(shown), size, left=9.5, top=5, gap_x=2.3, gap_y=6.6, tallest=44, shape=shape)
        return headed(grid, shown)
    shape = 0.85 if len(shown) <= 12 else 0.75
    grid = lattice(len(shown), size, left=left, top=10.5, gap_x=4.4, gap_y=6.6, tallest=44, shape=shape)
    counts = [_counts(site) for site in shown]
    fits = len(shown) <= 12 and all(text_width(count) <= grid.width for count in counts)
    return headed(grid, shown, counts if fits else None)


def _counts(site: DatasetSummary) -> str:
    return f"n {site.n:,}" if site.events is None else f"n {site.n:,}, {site.events:,} events"


def printed_share(reach: float) -> float:
    """The round share at the ticks of a distribution that reaches so far."""
    return max(one for one in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0) if one <= max(reach, 0.05))


def _risk_axes(axes: Axes, grid: Lattice, place: int, ends: tuple[float, float], share: float | None) -> None:
    end, reach = ends
    axes.set_xlim(0, end)
    axes.set_ylim(-reach * 1.04, reach * 1.04)
    outer = grid.outer_bottom(place)
    axes.spines["bottom"].set_visible(outer)
    ticks(axes, "x", [0, end / 2, end] if outer else [], ["0", "", tick_text(end)] if outer else [], inward=True)
    if share is None:
        axes.spines["left"].set_visible(False)
        axes.set_yticks([])
        return
    outer_left = grid.outer_left(place)
    texts = [per_cent(share), "0", per_cent(share)] if outer_left else [""] * 3
    ticks(axes, "y", [-share, 0, share], texts)


def _threshold_and_gaps(axes: Axes, site: DatasetSummary, threshold: float | None, ends: tuple[float, float]) -> None:
    """The primary threshold as a broken line, and a word where there are too few patients to draw."""
    end, reach = ends
    above, below = enough(site)
    if threshold is not None and threshold <= end:
        axes.plot([threshold, threshold], [-reach * below, reach * above], color=INK_2, lw=0.7, ls=BROKEN)
    for is_drawn, height in ((above, 0.75), (below, 0.25)):
        if not is_drawn:
            axes.text(0.5, height, "too few", transform=axes.transAxes, ha="center", va="center", color=INK_2)


def risk_caption(evidence: Evidence, width: float) -> str:
    """What to know about the distributions: n, bins, scale, where the axis ends, what is too few."""
    shown, left = shown_sites(evidence, width)
    threshold = primary_threshold(evidence)
    text = (
        f"{patients(shown)}. Share of the patients with the outcome (up) and without (down) in each tenth of the risk; "
        "the further apart the two lie, the better."
    )
    highest = highest_bin(_known(evidence, width))
    if threshold is not None and threshold <= ceiling(highest):
        text += f" Broken line: threshold {number(threshold)}."
    if highest <= 0.1:
        text += " No risk is above 0.1, so the first tenth fills the panel."
    elif ceiling(highest) < 1:
        text += f" The axis ends at {tick_text(ceiling(highest))}: no risk is higher."
    if any(False in enough(site) for site in shown):
        text += f" Too few: under {bands.FEW_FOR_POOLING} patients."
    return text + left_out(left, "see the tables")


def risk_alternative(evidence: Evidence, width: float) -> str:
    """The finding: how many patients with the outcome, and without, have a risk from the primary threshold on."""
    known = _known(evidence, width)
    edge = _edge(known, primary_threshold(evidence))
    if edge >= highest_bin(known):
        return f"Every risk lies below {tick_text(edge)}, in patients with the outcome as in those without."
    shown, _ = shown_sites(evidence, width)
    curves = distributions(evidence, width)
    told = []
    for which, (name, words) in enumerate(zip(_SHARES, ("with the outcome", "without it"), strict=True)):
        sites = [site for site in shown if enough(site)[which]]
        shares = [(_share_from(curves[site.name], name, edge), site.site) for site in sites]
        counted = sorted((share, site) for share, site in shares if share is not None)
        if counted:
            told.append(f"{_range_of(counted)} of the patients {words}")
            most = [site for share, site in counted if share > 0.5]
            if which == 0 and most and len(counted) > 1:
                told[-1] += f" (more than half in {joined(sorted(most), 8)})"
    if not told:
        least = f"under {bands.FEW_FOR_POOLING} patients with the outcome and without it"
        return f"No site shows how the risks lie: {least}."
    return f"A risk of {tick_text(edge)} or more was given to {' and to '.join(told)}."


def _edge(curves: Sequence[Curve], threshold: float | None) -> float:
    """The first edge of the bins that is not below the threshold: only whole bins can be counted."""
    edges = [float(edge) for edge in column(curves[0], "high")]
    return next((edge for edge in edges if edge >= (0.5 if threshold is None else threshold) - 1e-9), edges[-1])


def _share_from(curve: Curve | Absent, name: str, edge: float) -> float | None:
    """The share of the patients whose risk lies in the bins from an edge on."""
    if isinstance(curve, Absent):
        return None
    return float(np.nan_to_num(column(curve, name))[column(curve, "low") >= edge - 1e-9].sum())


def _range_of(counted: Sequence[tuple[float, str]]) -> str:
    (low, first), (high, last) = counted[0], counted[-1]
    if len(counted) == 1:
        return f"{per_cent(low)} ({first})"
    if per_cent(low) == per_cent(high):
        return per_cent(low)
    return f"{per_cent(low)} ({first}) to {per_cent(high)} ({last})"


def printed_risks(name: str, evidence: Evidence, width: float) -> Picture | Absent:
    """The distributions of the risks as a picture of that name."""
    with styled():
        drawn = draw_risks(evidence, width)
        if isinstance(drawn, Absent):
            return drawn
        return picture(name, drawn, risk_caption(evidence, width), risk_alternative(evidence, width))


@figure("Risks by outcome and site")
def risk_by_site(evidence: Evidence) -> Picture | Absent:
    """Which risks the model gave at every site to the patients who had the outcome, and to those who had not."""
    return printed_risks("risk_by_site", evidence, FULL)
