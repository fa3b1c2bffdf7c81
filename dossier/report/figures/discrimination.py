"""Pictures of discrimination: the forest of sites, each with its interval, pooled, and the next hospital."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dossier.core import bands, binding, facts, multiplicity, types
from dossier.report.figures import canvas, captions, data, forest, ink, marks
from dossier.typeset import numbers, widths
from dossier.typeset.names import ends_of_range, events_of, marks_of_rivals, of_all_periods
from dossier.typeset.numbers import number
from dossier.typeset.reasons import why

ROW = 3.7
"""The height in mm of the row of a hospital in a forest."""
MOST_ROWS = {canvas.HALF: 12, canvas.FULL: 44}
SHAPES: Mapping[str, str] = {"circle": "o", "triangle": "^", "diamond": "D"}
"""The marks of other models as matplotlib calls them."""


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
    is_pooled: bool = True
    """Whether a mean over the sites has a meaning: a gain in net benefit goes with the prevalence of each."""
    words: str = ""
    """The measure in a sentence, where that is more than the heading."""

    def text(self, value: float) -> str:
        """A value as it is printed."""
        return number(value, self.digits)

    def interval(self, low: float | None, high: float | None) -> str:
        """An interval as it is printed: a bound shows on which side of the reference it lies."""
        return captions.interval(low, high, self.digits, reference=self.reference)

    def found(self, evidence: types.Evidence, dataset: str) -> types.Estimate | types.Absent:
        """The measure in a dataset, in the unit of the axis."""
        return self.in_unit(types.find(evidence, self.measure, dataset, **self.at))

    def in_unit(self, found: types.Estimate | types.Absent) -> types.Estimate | types.Absent:
        """An estimate in the unit of the axis."""
        if isinstance(found, types.Absent) or self.per == 1:
            return found
        ends = (None if end is None else end * self.per for end in (found.low, found.high))
        return replace(found, value=found.value * self.per, low=next(ends), high=next(ends))

    def of_rivals(self, evidence: types.Evidence, dataset: str) -> dict[str, float]:
        """The values of the other models in a dataset by their marks, of as many models as there are marks."""
        found = {
            mark: self.in_unit(types.find(evidence, self.measure, dataset, model=name, **self.at))
            for mark, name in marks_of_rivals(evidence).items()
        }
        return {mark: estimate.value for mark, estimate in found.items() if isinstance(estimate, types.Estimate)}

    def together(self, evidence: types.Evidence) -> types.Estimate | None:
        """All sites, pooled; None where a mean over them has no meaning, is absent or rests on too few."""
        pooled = self.found(evidence, types.POOLED)
        return pooled if self.is_pooled and isinstance(pooled, types.Estimate) else None


AUROC = Forest("auroc", "AUROC", 0.5)
OE = Forest("oe_ratio", "O/E", 1.0, ratio=True)


def gain_at(evidence: types.Evidence, threshold: float) -> Forest:
    """The forest of the gain in net benefit over the better default at a threshold, per 100 patients."""
    return Forest(
        "net_benefit_gain",
        "Gain",
        0.0,
        at={"threshold": threshold},
        per=100,
        digits=data.digits_of_benefit(evidence),
        unbounded=True,
        is_pooled=False,
        words=f"At {numbers.threshold(threshold)} the gain over the better default per 100 patients",
    )


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
    weight: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """Where a value and its interval end."""
        return self.value, self.interval


WIDEST_NAME = 62.0
NARROWEST_NAME, NARROWEST_AXIS, HALF_VALUE = 21.0, 12.9, 62.2
"""On half a page, in mm: the least for names, the least for the axis, and the end of the values unless pushed."""


def forest_columns(evidence: types.Evidence, what: Forest, width: float) -> Columns:
    """The columns at that width: intervals take what they need, at full width names too, and the axis the rest."""
    together = what.together(evidence)
    found = [what.found(evidence, site.name) for site in types.externals(evidence)]
    ends = [(each.low, each.high) for each in (*found, together) if isinstance(each, types.Estimate)]
    ends += [] if together is None else [types.expected_range(together) or (None, None)]
    widest = max(widths.text_width(what.interval(low, high)) for low, high in ends)
    if width == canvas.HALF:
        value = canvas.HALF - max(widest + 2.4, canvas.HALF - HALF_VALUE)
        least, most = NARROWEST_NAME, value - 12.2 - NARROWEST_AXIS
        name = min(max(least, *(widths.text_width(label) for label in data.labels(evidence, most).values())), most)
        return Columns(label=name, left=name + 2.5, width=value - 12.2 - name, value=value, interval=canvas.HALF)
    sites = types.externals(evidence)
    names = [widths.text_width(site.site) for site in sites]
    name = min(max(*names, widths.text_width("New hospital", 600)), WIDEST_NAME)
    counts = max(widths.text_width(f"{site.n:,}") for site in sites)
    events = max(widths.text_width("events"), *(widths.text_width(events_of(site, "0")) for site in sites))
    patients_end = name + 4.0 + max(counts, 8.0)
    events_end = None if any(site.class_counts for site in sites) else patients_end + 2.5 + events
    left = (events_end or patients_end) + 6.0
    weighed = any(isinstance(each, types.Estimate) and "weight" in each.details for each in found)
    weight = canvas.FULL if weighed else None
    bounds = canvas.FULL - (0.0 if weight is None else WIDTH_OF_WEIGHT)
    value = bounds - max(widest + 2.4, 22.0)
    return Columns(name, left, value - 12.0 - left, value, bounds, patients_end, events_end, weight)


WIDTH_OF_WEIGHT = 15.0


TOP = 5.4


def draw_forest(evidence: types.Evidence, what: Forest, width: float) -> Figure | types.Absent:
    """The forest of the external sites at that width."""
    sites = types.externals(evidence)
    if not any(isinstance(what.found(evidence, site.name), types.Estimate) for site in sites):
        return types.Absent(facts.Fact("not_estimated_at_any_site", what=what.heading))
    shown = sites[: MOST_ROWS[width]]
    columns, pooled = forest_columns(evidence, what, width), what.together(evidence)
    rows = len(shown) + (1 if len(shown) < len(sites) else 0)
    height = (rows + (0.0 if pooled is None else 2.4)) * ROW + 1.5
    plot = forest.Rows(canvas.sheet(width, TOP + height + 6.2), TOP, ROW)
    axes = plot.axes(columns.left, columns.width, height / ROW)
    _scale(axes, evidence, what, shown)
    _head(plot.sheet, evidence, what, columns)
    names = data.labels(evidence, columns.label)
    for row, site in canvas.of_each(plot.sheet, list(enumerate(shown)), lambda each: each[1]):
        plot.write(row + 0.5, 0, names[site.name])
        if columns.patients is not None:
            plot.right(row + 0.5, columns.patients, f"{site.n:,}")
        if columns.events is not None:
            plot.right(row + 0.5, columns.events, events_of(site, "–"))
        found = what.found(evidence, site.name)
        if isinstance(found, types.Absent):
            room = columns.interval - columns.left - columns.width - 3
            reason = widths.wrapped(why(evidence, found.reason), room, 1) if columns.patients is not None else None
            plot.right(row + 0.5, columns.interval, reason or "not estimable")
        else:
            _site_row(axes, found, what.of_rivals(evidence, site.name), row + 0.5, is_few=site.is_few)
            plot.value(row + 0.5, columns.ends, what.text(found.value), what.interval(found.low, found.high))
            share = found.details.get("weight")
            if columns.weight is not None:
                plot.right(row + 0.5, columns.weight, numbers.DASH if share is None else numbers.per_cent(share))
    if len(shown) < len(sites):
        plot.write(rows - 0.5, 0, f"and {captions.sites_word(len(sites) - len(shown))} more", color=ink.INK_2)
    if pooled is not None:
        _pooled_rows(plot, axes, what, pooled, columns, rows + 0.9)
    return plot.sheet


def _limits(values: Sequence[float], what: Forest, reach: tuple[float, float]) -> tuple[float, float, list[float]]:
    """The ends of the axis and its ticks: round, holding the reference, not stretched by one very wide interval."""
    if what.ratio:
        positive = [value for value in values if value > 0]
        low, high = max(min([*positive, 0.8]), 0.1), min(max([*positive, 1.25]), 10.0)
        every = [0.1, 0.2, 0.4, 0.5, 0.8, 1, 1.25, 2, 2.5, 5, 10]
        low = max(tick for tick in every if tick <= low)
        high = min(tick for tick in every if tick >= high)
        return low, high, [tick for tick in every if low <= tick <= high]
    if what.unbounded:
        every = canvas.round_ticks(*reach, 5)
        return every[0], every[-1], every
    low = min(*values, what.reference)
    start = next(position for position in (0.5, 0.25, 0.0) if low >= position or position == 0)
    return start, 1.0, [position for position in (0.0, 0.25, 0.5, 0.75, 1.0) if position >= start]


TICK_GAP = 1.8
"""The least room in mm between the numbers of two ticks."""


def _scale(axes: canvas.Panel, evidence: types.Evidence, what: Forest, shown: Sequence[types.DatasetSummary]) -> None:
    pooled = what.together(evidence)
    values = [value for site in shown for value in data.ends(what.found(evidence, site.name))]
    values += [value for site in shown for value in what.of_rivals(evidence, site.name).values()]
    values += (types.expected_range(pooled) or ()) if pooled is not None else ()
    # How far an axis without natural ends goes: to all values, and to the ends of intervals within reason. The
    # narrowest interval of a site is whole wherever it stands.
    found = [estimate for site in shown if isinstance(estimate := what.found(evidence, site.name), types.Estimate)]
    points = [what.reference, *(each.value for each in found)]
    low, high = min(points), max(points)
    widths = (each.high - each.low for each in found if each.low is not None and each.high is not None)
    more = max(0.6 * (high - low), min(widths, default=0.0))
    scale(axes, what, values, (max(min([low, *values]), low - more), min(max([high, *values]), high + more)))
    for bound in criterion(evidence, what.measure):
        axes.axvline(bound, color=ink.INK_2, lw=0.7, ls=ink.BROKEN, zorder=0.5)


def scale(axes: canvas.Panel, what: Forest, values: Sequence[float], reach: tuple[float, float]) -> None:
    """The ends of an axis that holds these values, its ticks and the line of reference."""
    low, high, places = _limits(values, what, reach)
    if what.ratio:
        axes.set_xscale("log")
    axes.set_xlim(low, high)
    plain = what.ratio or what.unbounded
    texts = [canvas.tick_text(position) if position in (0, 1) or plain else number(position, 2) for position in places]
    across = axes.transAxes.inverted().transform(axes.transData.transform([(position, 0.0) for position in places]))
    middle, wide = across[:, 0] * axes.width, [widths.text_width(text) for text in texts]

    def has_room(one: int, two: int) -> bool:
        return bool(middle[two] - middle[one] >= (wide[one] + wide[two]) / 2 + TICK_GAP)

    kept = canvas.evenly(places, what.reference, has_room)
    canvas.ticks(axes, "x", places, [text if index in kept else "" for index, text in enumerate(texts)])
    axes.axvline(what.reference, color=ink.RULE if plain else ink.HAIR, lw=0.6, zorder=0)


def criterion(evidence: types.Evidence, measure: str) -> tuple[float, ...]:
    """The bounds of the acceptance criterion that is declared for each external site, if there is one."""
    for entry in getattr(evidence.release, "acceptance", ()):
        if entry.measure == measure and entry.dataset == "each external" and getattr(entry, "subset", None) is None:
            return tuple(bound for bound in (entry.at_least, entry.at_most) if bound is not None)
    return ()


def _head(drawn: Figure, evidence: types.Evidence, what: Forest, columns: Columns) -> None:
    for x, text in (
        (columns.value, what.heading),
        (columns.interval, f"{captions.level_text(evidence)} CI"),
        (columns.patients, "n"),
        (columns.events, "events"),
        (columns.weight, "weight"),
    ):
        if x is not None:
            canvas.write(drawn, x, 2.2, text, ha="right", color=ink.INK_2)
    if bounds := criterion(evidence, what.measure):
        text = f"criterion {' to '.join(number(bound) for bound in bounds)}"
        room = columns.value - widths.text_width(what.heading) - 2
        end = min(max(columns.left + columns.width * 0.75, widths.text_width(text)), room)
        if columns.events is None or end - widths.text_width(text) > columns.events + 2:
            canvas.write(drawn, end, 2.2, text, ha="right", color=ink.INK_2)


def _site_row(
    axes: canvas.Panel, found: types.Estimate, rivals: Mapping[str, float], row: float, *, is_few: bool
) -> None:
    """The estimate of a site, open where it rests on few, and those of the other models."""
    marks.estimate(axes, found, row, size=3.9 if axes.width > NARROW else 2.6, filled=not is_few)
    left, right = axes.get_xlim()
    for mark, value in rivals.items():
        if left <= value <= right:
            marks.dot(axes, value, row, SHAPES[mark], 2.8, ink.INK_2, mfc="none", mew=0.7, zorder=2.7)


NARROW = 25.0
"""On a plot of at most so many mm the squares are small: large ones would cover the intervals of large sites."""


def _pooled_rows(
    plot: forest.Rows, axes: Axes, what: Forest, pooled: types.Estimate, columns: Columns, row: float
) -> None:
    plot.write(row, 0, "All, pooled", weight=600)
    marks.diamond(axes, pooled, row, 0.32, clip_on=False)
    if pooled.low is not None and pooled.high is not None:
        marks.arrows(axes, (pooled.low, pooled.high), row, ink.BLUE, 4.4)
    plot.value(row, columns.ends, what.text(pooled.value), what.interval(pooled.low, pooled.high))
    new = types.expected_range(pooled)
    plot.write(row + 1, 0, "New hospital", weight=600)
    if new is None:
        plot.right(row + 1, columns.interval, "too few sites")
        return
    left, right = axes.get_xlim()
    low, high = max(new[0], left), min(new[1], right)
    axes.add_patch(Rectangle((low, row + 0.82), high - low, 0.36, fc=ink.BAND, ec=ink.BLUE, lw=0.7, clip_on=False))
    marks.arrows(axes, new, row + 1, ink.BLUE, 4.4)
    plot.right(row + 1, columns.value, "PI")
    plot.right(row + 1, columns.interval, what.interval(*new))


def forest_caption(evidence: types.Evidence, what: Forest, width: float) -> str:
    """What to know about a forest: n, intervals, pooling, open squares, the criterion."""
    sites = types.externals(evidence)
    shown = sites[: MOST_ROWS[width]]
    pooled, rivals = what.together(evidence), marks_of_rivals(evidence)
    rivals = rivals if any(what.of_rivals(evidence, site.name) for site in shown) else {}
    kind = "patients of a class" if shown[0].class_counts else "events or non-events"
    return captions.said(
        "forest",
        evidence,
        sites,
        at="".join(f" {name[0].upper()}{name[1:]} {number(value)}." for name, value in what.at.items()),
        pooled=pooled is not None,
        bar=pooled is not None and types.expected_range(pooled) is not None,
        few=kind if any(site.is_few for site in shown) else "",
        is_pooled=what.is_pooled,
        spread="" if pooled is None or width == canvas.HALF else _spread(pooled),
        rivals="; ".join(f"{mark}, {name}" for mark, name in rivals.items()),
        not_drawn=captions.models_left_out(evidence, rivals.values()) if rivals else "",
        criterion=" to ".join(number(bound) for bound in criterion(evidence, what.measure)),
        left=captions.left_out(len(sites) - len(shown), "not drawn"),
    )


def _spread(pooled: types.Estimate) -> str:
    """How far the sites differ beyond chance: the standard deviation between them and its share, with intervals."""
    of_tau, of_share = partial(number, digits=2), partial(number, digits=0, percent=True)
    found = {
        said: [
            text(known) for end in ("", "_low", "_high") if (known := pooled.details.get(f"{name}{end}")) is not None
        ]
        for name, (said, text) in {"tau": ("tau", of_tau), "i2": ("I2 in %", of_share)}.items()
    }
    return ", ".join(f"{said} {ends[0]} ({ends[1]} to {ends[2]})" for said, ends in found.items() if len(ends) == 3)


def forest_alternative(evidence: types.Evidence, what: Forest, only: Collection[str] = ()) -> str:
    """The finding of a forest in one sentence, or that of only some sites for a picture that shows nothing else."""
    found = [pair for pair in types.estimated(evidence, what.measure, **what.at) if not only or pair[0].name in only]
    scaled = [(site, each) for site, value in found if isinstance(each := what.in_unit(value), types.Estimate)]
    estimates, few = ends_of_range(scaled, what.measure, multiplicity.sites_against(evidence, what.measure))
    known = sorted((each.value, site.site) for site, each in estimates)
    (low, first), (high, last) = known[0], known[-1]
    if len(known) == 1:
        said = f"{captions.value_text(estimates[0][1], what.digits)} in {first}"
    else:
        is_many = len(known) >= bands.MANY_SITES
        ends = f"lowest {what.text(low)}, highest {what.text(high)}" if is_many else captions.ends(known, what.text)
        said = f"{ends} in {captions.sites_word(len(known))}"
    pooled = what.together(evidence)
    if pooled is not None and not only:
        new = types.expected_range(pooled)
        more = f", expected range in a new hospital {captions.interval(*new, joint=' to ')}" if new else ""
        said = f"pooled {captions.value_text(pooled, what.digits)}{more}; {said}"
    return f"{what.words or what.heading}: {said}{few}{of_all_periods({first, last}, binding.turning(evidence))}."


def printed_forest(evidence: types.Evidence, what: Forest, width: float) -> canvas.Drawn | types.Absent:
    """The forest with its words."""
    drawn = draw_forest(evidence, what, width)
    if isinstance(drawn, types.Absent):
        return drawn
    caption = forest_caption(evidence, what, width)
    more = "" if what.together(evidence) is None else " and pooled"
    return canvas.Drawn(drawn, caption, forest_alternative(evidence, what), more=more)
