"""The external performance diagram: how good the model is where, against how like the development data it is there."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Ellipse, Rectangle

from dossier.core import bands, binding, facts, register, types
from dossier.report.figures import canvas, captions, data, forest, ink, marks, placing
from dossier.typeset import numbers, widths
from dossier.typeset.words import SIMILARITY_FORM, listing, setting

FRAME = (0, (3.2, 1.8))
RADIUS = 1.75
SMALL_RADIUS = 1.1
"""Half the ring where there are more sites than names: a crowd of full-sized rings would hide each other."""
GAP = 5.3
TOP = 14.5
BREAK, FOOT = 2.4, 19.0
"""The gap at which the axis of similarity is broken, and the height of what lies below it, in mm."""
LEFT_OUT = 5.0
"""How much lower the panels are for what a broken axis leaves out, in mm."""
REGION = "good external evidence"
LEAST_REGION = 14.2
"""The least height in mm below the line of support, so that its name has room."""
COLUMN_LINE = 4.0
"""From one name to the next where the names stand in a column at the margin, in mm."""
LEADER = 7.5
"""How far the thin lines run from the last panel to the names at the margin, in mm."""
TALLEST = 200.0
"""How tall the sheet may become so that each name at the margin has its line, in mm."""
TITLES = 11.5
"""The room for the ticks and titles below the panels, in mm."""
ROOMS = {2: 48.0, 5: 58.0, math.inf: 90.0}
"""How tall the panels are in mm, by the most sites of known similarity that they show."""
MOST_NAMED = 10
"""With more sites than this there are no ellipses, and the rings are small."""
FEW_SITES = 5
"""Up to so many sites their names may be longer."""
MOST_UNKNOWN = 14
"""How many sites of unknown similarity the strip holds."""


@dataclass(frozen=True)
class Plan:
    """The panel of a measure: its noun, its minimum sample size, its title, and its axis before values are known."""

    noun: str
    """The measure in few letters, for a list in the caption."""
    sample: str
    title: str
    usual: float
    """The worst end, unless an interval goes further."""
    best: float
    step: float
    limit: float
    """Beyond which the axis never goes."""


@dataclass(frozen=True, kw_only=True)
class Scale(Plan):
    """One panel: its measure, its cut-offs from acceptable on, the worst end of its axis, better right."""

    measure: str
    cuts: tuple[float, float, float]
    worst: float
    worst_tick: float
    setting: Mapping[str, float | str]
    """What the measure and its sample size depend on."""

    def clipped(self, value: float) -> float:
        """The value, or the end of the axis that it lies beyond."""
        return min(max(value, min(self.worst, self.best)), max(self.worst, self.best))


@dataclass(frozen=True)
class Standing:
    """A site in one panel: performance with its interval, and the share of the minimum sample size that was reached."""

    value: float
    low: float
    high: float
    share: float | None
    is_shown: bool
    """Whether its whole interval is acceptable or better."""
    no_skill: bool
    """Whether a Brier score is no better than if everyone had been given the prevalence of the site."""


@dataclass(frozen=True)
class Placed:
    """A site with its similarity to the development data, when that is known."""

    site: types.DatasetSummary
    name: str
    similarity: types.Estimate | None
    stands: Mapping[str, Standing]
    """Where it stands by each measure that is known there."""
    supports: bool

    @property
    def colour(self) -> str:
        """Blue for a site that supports the model from outside, mid for the rest."""
        return ink.BLUE if self.supports else ink.MID

    @property
    def weight(self) -> int:
        """How heavy its name is."""
        return 600 if self.supports else 400

    @property
    def stroke(self) -> float:
        """The strokes of a site that supports the model are heavier: colour does not speak alone."""
        return 1.6 if self.supports else 1.0

    @property
    def looks(self) -> dict[str, Any]:
        """How its name looks."""
        return {"color": ink.BLUE if self.supports else ink.INK, "weight": self.weight}


def scales(evidence: types.Evidence) -> tuple[Scale, ...]:
    """The three panels, each wide enough for the worst end of every interval, as far as the measure can go.

    The net benefit can be as low as one likes: its axis ends at the loss of what there is to gain.
    """
    made = []
    for measure, position in evidence.release.judged_by.items():
        plan, at = PLANS[measure], position.get("threshold", position.get("tau"))
        usual, best, step = plan.usual, plan.best, plan.step
        values = [end for _, found in types.estimated(evidence, measure, **position) for end in data.ends(found)]
        sign = 1 if best > usual else -1
        reach = min([usual * sign, *(value * sign for value in values)])
        tick = max(math.floor(reach / step + 1e-9) * step, plan.limit * sign) * sign
        worst = min(tick * sign - BEFORE_THE_TICK * abs(best - tick), reach - 0.4 * step) * sign
        about = {**vars(plan), "title": plan.title + ("" if at is None else f" at {setting(at)}")}
        cuts = bands.PERFORMANCE[measure]
        made.append(Scale(**about, measure=measure, cuts=cuts, worst=worst, worst_tick=tick, setting=position))
    return tuple(made)


PLANS: Mapping[str, Plan] = {
    "auroc": Plan("AUROC", "mss_auroc", "AUROC", 0.6, 1.0, 0.1, 0.0),
    "standardized_net_benefit": Plan("net benefit", "mss_snb", "Standardized net benefit", 0.2, 1.0, 0.2, -1.0),
    "weighted_utility": Plan("utility", "mss_weighted_utility", "Weighted utility", 0.2, 1.0, 0.2, -1.0),
    "brier": Plan("Brier", "mss_brier", "Brier score (reversed)", 0.35, 0.0, 0.05, 1.0),
    "eci": Plan("ECI", "mss_eci", "ECI, interval-based", 0.7, 1.0, 0.1, 0.0),
}
"""Of weighted utility and ECI no minimum sample size is known: none is computed under that name."""


BEFORE_THE_TICK = 0.05
"""How far an axis goes on before its first tick, as a share of the axis: its text is clear of that of the height 0."""


def standing(evidence: types.Evidence, site: types.DatasetSummary, scale: Scale) -> Standing | None:
    """Where a site stands in a panel; None when the measure is absent there."""
    found = types.find(evidence, scale.measure, site.name, **scale.setting)
    if isinstance(found, types.Absent):
        return None
    least = types.find(evidence, scale.sample, site.name, **scale.setting)
    share = min(1.0, site.n / least.value) if isinstance(least, types.Estimate) and least.value > 0 else None
    scaled = types.find(evidence, "scaled_brier", site.name)
    no_skill = scale.measure == "brier" and isinstance(scaled, types.Estimate) and scaled.value <= 0
    return Standing(found.value, *_ends(found), share, bands.is_shown(scale.measure, found.low, found.high), no_skill)


def cross(axes: Axes, stands: Standing, value: float, height: float) -> None:
    """The cross of a Brier score without skill, where it has none."""
    if stands.no_skill:
        axes.plot([value], [height], "x", color=ink.INK, ms=5.0, mew=1.2, zorder=6, clip_on=False)


def without_skill(placed: Sequence[Placed]) -> str:
    """What the cross stands for, where there is one."""
    has_cross = any(stands.no_skill for place in placed for stands in place.stands.values())
    return " Cross: no better than the prevalence." if has_cross else ""


def placed_sites(evidence: types.Evidence) -> tuple[Placed, ...]:
    """Every external site with its similarity and whether it supports the model from outside."""
    sites, placed = types.externals(evidence), []
    names = short_names(sites)
    form = bands.SIMILARITIES[evidence.release.robustness.similarity]
    known = {site.name: found for site, found in types.estimated(evidence, form)}
    many = not _fits_the_margin(len(known), len(sites) - len(known))
    three = scales(evidence)
    for order, site in enumerate(sites, 1):
        similarity = known.get(site.name)
        stands = {scale.measure: found for scale in three if (found := standing(evidence, site, scale)) is not None}
        good = len(stands) == len(three) and all(found.is_shown for found in stands.values())
        unlike = similarity is not None and bands.is_unlike(similarity.value)
        supports = unlike and good and site.n >= bands.FEWEST_TO_SUPPORT
        name = str(order) if many and similarity else names[site.name]
        placed.append(Placed(site, name, similarity, stands, supports))
    return tuple(placed)


def _fits_the_margin(known: int, unknown: int) -> bool:
    """Whether a page is tall enough for a column with the names of all sites of known similarity."""
    return TOP + known * COLUMN_LINE + _strip_height(unknown) + TITLES <= TALLEST


def short_names(sites: Sequence[types.DatasetSummary]) -> dict[str, str]:
    """The names at the marks: up to the first comma where they still differ, and no wider than a mark can bear."""
    wide = 24.0 if len(sites) > FEW_SITES else 38.0
    return dict(zip((site.name for site in sites), widths.shortened(_up_to_a_comma(sites), wide, 600), strict=True))


def _up_to_a_comma(sites: Sequence[types.DatasetSummary]) -> list[str]:
    """The names up to the first comma where they still differ: Long Beach, United States becomes Long Beach."""
    firsts = [site.site.split(",")[0] for site in sites]
    return firsts if len(set(firsts)) == len(sites) else [site.site for site in sites]


@dataclass(frozen=True)
class Form:
    """A form of similarity: what its axis is called, and how it is read."""

    title: str
    short: str
    """Its name in a sentence."""
    note: str
    """What a reader must know of its scale."""
    in_caption: str = ""
    """Its title again, where a caption has to say which it is: the one that a release chooses."""


FORMS = {
    "averaged": Form("Averaged correspondence", SIMILARITY_FORM["averaged"], f" ({bands.ALIKE:g}: alike)"),
    "psi": Form(
        "Degree of correspondence, psi",
        SIMILARITY_FORM["psi"],
        f" ({bands.PSI_OF_ONE_POPULATION})",
        ": degree of correspondence, psi",
    ),
}
BANDS = f"Bands of {min(bands.SIMILARITY):g}: {listing(list(bands.SIMILARITY.values()))}"
"""The bands of similarity, which an axis that shows a part of it cannot name."""


def form_of(evidence: types.Evidence) -> Form:
    """The form of similarity that the release chooses."""
    return FORMS[evidence.release.robustness.similarity]


@dataclass(frozen=True)
class Layout:
    """Where the panels stand: left edge of the first, size of each, and how tall the strip below them is."""

    left: float
    width: float
    height: float
    foot: float
    """How much the part below the break takes, 0 where the axis of similarity is not broken."""
    strip: float
    rows: int
    lowest: float
    """The similarity at the bottom of the panels, above the break."""
    highest: float
    """The similarity at the top of the panels."""
    crowded: bool
    """Whether there are too many sites for names and for all ellipses."""
    names: float
    """The width of the names at the right margin, 0 where each stands at its mark."""

    @property
    def radius(self) -> float:
        """Half a ring."""
        return SMALL_RADIUS if self.crowded else RADIUS

    @property
    def down(self) -> float:
        """The similarity in a millimetre."""
        return (self.highest - self.lowest) / self.height

    @property
    def bottom(self) -> float:
        """Where the panels end, with what lies below the break, in mm from the top of the sheet."""
        return TOP + self.height + self.foot

    def y(self, similarity: float) -> float:
        """How far below the top of a panel a similarity stands, in mm."""
        return (self.highest - similarity) / self.down

    def x(self, index: int) -> float:
        """The left edge of a panel."""
        return self.left + index * (self.width + GAP)


def layout(placed: Sequence[Placed], *, at_the_margin: bool = False) -> Layout:
    """The panels of the design; lower and narrower when a strip of unknown similarity needs its room.

    With `at_the_margin` the panels leave room for a column of names on their right, and are tall enough for it.
    """
    crowded = sum(place.similarity is not None for place in placed) > MOST_NAMED
    # Between which similarities the mark of a site reaches: with its ellipse, where it has one.
    known = [
        _ends(place.similarity) if place.supports or not crowded else (place.similarity.value,) * 2
        for place in placed
        if place.similarity is not None
    ]
    unknown = len(placed) - len(known)
    rows = min(unknown, MOST_UNKNOWN)
    left = 12.5 if not rows or at_the_margin else 26.0
    strip = _strip_height(unknown)
    room = next(room for most, room in ROOMS.items() if len(known) <= most)
    height = room if not rows else max(room - 20.0, room + 8.0 - strip)
    lowest, highest, broken = similarity_axis(known, height)
    height -= LEFT_OUT if broken else 0.0
    names = 0.0
    if at_the_margin:
        height = max(height, len(known) * COLUMN_LINE)
        names = max(widths.text_width(place.name, place.weight) for place in placed)
        names = max(names, widths.text_width(_left_out(unknown - rows)))
    foot = BREAK + FOOT if broken else 0.0
    left += 2.5 if is_zoomed(lowest, highest) else 0.0
    # A disc at the best end of the last panel needs its half outside.
    margin = names + LEADER + 0.8 if names else 0.0
    width = (canvas.FULL - left - 2 * GAP - RADIUS - 0.2 - margin) / 3
    return Layout(left, width, height - foot, foot, strip, rows, lowest, highest, crowded, names)


def _left_out(count: int) -> str:
    """What stands below the rows of the strip for the sites that have none."""
    return f"and {count} more" if count else ""


def _strip_height(unknown: int) -> float:
    """How much the strip of so many sites of unknown similarity takes, in mm."""
    return (min(unknown, MOST_UNKNOWN) + (unknown > MOST_UNKNOWN)) * canvas.LINE + 7.8 if unknown else 0.0


def is_zoomed(lowest: float, highest: float) -> bool:
    """Whether the axis of similarity shows so little that its ticks need two digits."""
    return sum(lowest <= limit < highest - 0.02 for limit in (0, *bands.SIMILARITY)) < 3


MOST_BANDS_OF_A_ZOOM = 2
LEAST_ZOOM = 0.16
"""The axis of similarity never spans less, so that a difference of nothing does not look like one."""


def similarity_axis(ends: Sequence[tuple[float, float]], height: float) -> tuple[float, float, bool]:
    """The ends of the axis of similarity, and whether it is broken below: from 0, or round the data in few bands.

    The line of external support is always in view, with room for the name of the region below it and below the data:
    where all of them lie above the line the axis is broken, and what lies below is drawn small.
    """
    low, high = min(value for value, _ in ends), max(value for _, value in ends)
    edges = [0.0, *bands.SIMILARITY]
    touched = [upper for lower, upper in itertools.pairwise(edges) if low < upper and high > lower]
    if len(touched) > MOST_BANDS_OF_A_ZOOM:
        return 0.0, min(1.0, math.ceil(max(0.62, high) * 20 + 1) / 20 + 0.08), False
    broken = low > bands.SUPPORT
    low, high = (low, high) if broken else (min(low, bands.SUPPORT), max(high, bands.SUPPORT))
    beyond = max(0.1 * (high - low), (LEAST_ZOOM - (high - low)) / 2)
    top = min(1.0, math.ceil((high + beyond) * 50) / 50)
    if broken:
        return max(bands.SUPPORT, math.floor((low - beyond) * 100) / 100), top, True
    share = LEAST_REGION / height
    deep_enough = (low - share * top) / (1 - share)
    return max(0.0, math.floor(min(low - beyond, deep_enough) * 50) / 50), top, False


@dataclass(frozen=True)
class Field:
    """A panel before it is drawn: its scale, and the sites that stand in it, with their similarity."""

    plan: Layout
    scale: Scale
    sites: tuple[tuple[Placed, Standing, types.Estimate], ...]

    @classmethod
    def of(cls, placed: Sequence[Placed], plan: Layout, scale: Scale) -> Field:
        """The panel of a measure."""
        known = (
            (place, place.stands[scale.measure], place.similarity)
            for place in placed
            if place.similarity is not None and scale.measure in place.stands
        )
        return cls(plan, scale, tuple(known))

    @property
    def across(self) -> float:
        """How much of the scale a millimetre is."""
        return (self.scale.best - self.scale.worst) / self.plan.width

    def x(self, value: float) -> float:
        """How far right of the left edge of the panel a value stands, in mm."""
        return (value - self.scale.worst) / self.across

    def has_ellipse(self, place: Placed) -> bool:
        """Whether the interval of a site is drawn."""
        return place.supports or not self.plan.crowded

    def marks(self) -> dict[str, placing.Mark]:
        """The mark of each site, by the name of its dataset: its label, its disc and its ellipse, in mm."""
        found = {}
        for place, stands, similarity in self.sites:
            low, high = _ends(similarity)
            x, y = self.x(self.scale.clipped(stands.value)), self.plan.y(similarity.value)
            size = (stands.high - stands.low) / 2 / abs(self.across), (high - low) / 2 / self.plan.down
            size = size if self.has_ellipse(place) else (0.0, 0.0)
            aside = self.x((stands.low + stands.high) / 2) - x, self.plan.y((low + high) / 2) - y
            found[place.site.name] = placing.Mark(_label(place, stands, self.scale), x, y, *size, place.weight, aside)
        return found

    def frame(self) -> types.Floats:
        """Points in mm along the frame of good external evidence, none where it lies below a break."""
        if self.plan.foot:
            return np.empty((0, 2))
        x, y = self.x(self.scale.cuts[0]), self.plan.y(bands.SUPPORT)
        upright = np.column_stack((np.full(60, x), np.linspace(y, self.plan.height, 60)))
        return np.concatenate((upright, np.column_stack((np.linspace(x, self.plan.width, 60), np.full(60, y)))))

    def region(self) -> tuple[float, float] | None:
        """Where the name of the region stands: off the discs and, where it can be, off the ellipses."""
        words = region_words(self.scale, self.plan)
        if self.plan.foot or words is None:
            return None
        half, found = _region_size(words), list(self.marks().values())
        left, top, width = self.x(self.scale.cuts[0]), self.plan.y(bands.SUPPORT), self.plan.width
        high, low = top + half[1] + 0.8, self.plan.height - half[1] - 0.8
        columns = np.linspace(width - half[0] - 0.8, left + half[0] + 0.8, PLACES)
        spots = [(float(x), float(y)) for y in np.linspace(low, high, PLACES) for x in columns if low >= high - 1e-9]
        across, down = (size + self.plan.radius + 0.5 for size in half)
        off_discs = [
            (x, y) for x, y in spots if not any(abs(x - mark.x) < across and abs(y - mark.y) < down for mark in found)
        ]
        strokes = np.concatenate([np.empty((0, 2)), *(placing.outline(mark) for mark in found)])

        def crossings(spot: tuple[float, float]) -> int:
            return int((np.abs(strokes - spot) < np.array(half) + 0.4).all(axis=1).sum())

        return min(off_discs, key=crossings, default=None)

    def labels(self) -> dict[str, tuple[float, float] | None]:
        """Where the label of each mark stands; None where it has no room."""
        plan, region, words = self.plan, self.region(), region_words(self.scale, self.plan)
        found = self.marks()
        taken = [] if region is None or words is None else [(*region, *_region_size(words))]
        limits = [upper for upper in bands.SIMILARITY if upper != bands.SUPPORT and plan.lowest < upper < plan.highest]
        levels = [np.column_stack((np.linspace(0, plan.width, 60), np.full(60, plan.y(upper)))) for upper in limits]
        lines = np.concatenate([self.frame(), *levels])
        places = placing.place_labels(list(found.values()), plan.width, plan.height, plan.radius, lines, taken)
        strokes = np.concatenate([*(placing.outline(mark) for mark in found.values()), self.frame()])

        def is_in_the_way(mark: placing.Mark, spot: tuple[float, float]) -> bool:
            """Whether a label lies on a line or on the disc of its own mark."""
            half = widths.text_width(mark.text, mark.weight) / 2, placing.LABEL_HEIGHT / 2 - 0.6
            on_own_disc = (
                abs(spot[0] - mark.x) < half[0] + plan.radius and abs(spot[1] - mark.y) < half[1] + plan.radius
            )
            return on_own_disc or placing.stands_on_a_line(mark.text, spot, strokes, mark.weight)

        return {
            name: None if spot is None or (not plan.crowded and is_in_the_way(mark, spot)) else spot
            for (name, mark), spot in zip(found.items(), places, strict=True)
        }


@dataclass(frozen=True)
class Arrangement:
    """What the diagram shows and where its labels stand, before anything is drawn."""

    placed: tuple[Placed, ...]
    plan: Layout
    fields: tuple[Field, ...]
    labels: tuple[Mapping[str, tuple[float, float]], ...]
    """In each panel, the centre (mm) of the label by the name of the dataset; none when the names are at the margin."""
    margin: Mapping[str, float]
    """How far below the top of the panels the name of each dataset stands at the right margin, in mm."""
    lost: tuple[tuple[str, str], ...]
    """The marks without room for a label: the measure and the site."""
    absent: tuple[tuple[str, str], ...]
    """The sites that a panel cannot show, because its measure is absent there."""


def arrangement(evidence: types.Evidence) -> Arrangement | types.Absent:
    """The diagram's plan: each name at its mark where all have room, else in a column at the right margin."""
    placed, three = placed_sites(evidence), scales(evidence)
    known = {place.site.name: place for place in placed if place.similarity is not None}
    if not known:
        return types.Absent(facts.Fact("no_similarity_known"))
    plan = layout(placed)
    fields = tuple(Field.of(placed, plan, scale) for scale in three)
    found = [field.labels() for field in fields]
    margin: dict[str, float] = {}
    fits = _fits_the_margin(len(known), len(placed) - len(known))
    if fits and (plan.crowded or any(None in spots.values() for spots in found)):
        plan = layout(placed, at_the_margin=True)
        margin, found = _in_a_column(placed, plan), [{} for _ in three]
        fields = tuple(Field.of(placed, plan, scale) for scale in three)
    spots = [(scale.noun, each) for scale, each in zip(three, found, strict=True)]
    lost = [(noun, known[name].name) for noun, each in spots for name, spot in each.items() if spot is None]
    absent = [
        (scale.noun, place.site.site)
        for scale in three
        for place in known.values()
        if scale.measure not in place.stands
    ]
    kept = tuple({name: spot for name, spot in each.items() if spot is not None} for each in found)
    return Arrangement(placed, plan, fields, kept, margin, tuple(lost), tuple(absent))


PLACES = 9
"""How many places the name of the region may take from one side to the other, and from below to above."""


def region_words(scale: Scale, plan: Layout) -> str | None:
    """The name of the region of good external evidence on two lines of the width that it has, or else on three."""
    room = abs(scale.best - scale.cuts[0]) / abs(scale.best - scale.worst) * plan.width - 1.5
    return widths.wrapped(REGION, room, 2) or widths.wrapped(REGION, room, 3)


def _region_size(words: str) -> tuple[float, float]:
    """Half the width and half the height of the region's name, in mm."""
    lines = words.split("\n")
    return max(map(widths.text_width, lines)) / 2, len(lines) * canvas.LINE / 2


def _in_a_column(placed: Sequence[Placed], plan: Layout) -> dict[str, float]:
    """The heights of the names at the margin: in the order of similarity, each as near as can be to its marks."""
    heights = {place.site.name: plan.y(place.similarity.value) for place in placed if place.similarity is not None}
    ordered = sorted(heights, key=heights.__getitem__)
    return dict(zip(ordered, spread(sorted(heights.values()), plan.height + plan.foot, COLUMN_LINE), strict=True))


def spread(wished: Sequence[float], room: float, apart: float) -> list[float]:
    """Places as near as can be to the wished ones (in mm, ascending), so far apart and inside the room."""
    places = list(wished)
    for _ in range(200):
        for before, after in itertools.pairwise(range(len(places))):
            lack = apart - (places[after] - places[before])
            if lack > 0:
                places[before] -= lack / 2
                places[after] += lack / 2
        places = [
            min(max(position, apart * (0.5 + order)), room - apart * (len(places) - order - 0.5))
            for order, position in enumerate(places)
        ]
    return places


def draw_arranged(evidence: types.Evidence, arranged: Arrangement) -> Figure:
    """The diagram as it was arranged."""
    plan = arranged.plan
    more = max(len(_title(field.scale, plan)) for field in arranged.fields) - 1
    drawn = canvas.sheet(canvas.FULL, plan.bottom + plan.strip + TITLES + more * canvas.LINE)
    _key(drawn)
    canvas.write(drawn, 0, TOP - 4.8, form_of(evidence).title, weight=600)
    _band_names(drawn, plan)
    for index in range(len(arranged.fields)):
        _panel(drawn, arranged, index)
    # The names at the right margin, each on a thin line to the height of its marks.
    start, end = (plan.x(2) + plan.width + more for more in (RADIUS + 0.6, LEADER + 0.4))
    for place in arranged.placed:
        position = arranged.margin.get(place.site.name)
        if position is not None and place.similarity is not None:
            height = TOP + plan.y(place.similarity.value)
            marks.stroke(drawn, (start, height), (end, TOP + position), ink.RULE, 0.4)
            canvas.write(drawn, end + 0.6, TOP + position, place.name, **place.looks)
    if plan.rows:
        unknown = [place.name for place in arranged.placed if place.similarity is None]
        rows = forest.Rows(drawn, plan.bottom + 7.0)
        canvas.write(drawn, 0, rows.top - 3.2, "Similarity unknown", weight=600)
        x = plan.x(2) + plan.width + LEADER + 1.0 if plan.names else 0.0
        for row, name in enumerate(unknown[: plan.rows]):
            rows.write(row + 0.5, x, name)
        if len(unknown) > plan.rows:
            rows.write(plan.rows + 0.5, x, _left_out(len(unknown) - plan.rows), color=ink.INK_2)
    return drawn


def _key(drawn: Figure) -> None:
    """One key for the three panels, in one row."""
    axes, x = canvas.in_millimetres(drawn, height=6), 12.5

    def write(at: float, text: str) -> float:
        canvas.write(drawn, at, 2.6, text)
        return at + widths.text_width(text) + 4.2

    for tint, name in zip(ink.TINTS, ("acceptable", "good", "excellent"), strict=True):
        axes.add_patch(Rectangle((x, 0.9), 4.2, 3.2, fc=tint, ec="none"))
        x = write(x + 5.2, name)
    x = write(x + 4, "minimum sample size:") - 1.5
    for share, name in ((0.3, "30% reached"), (1.0, "reached")):
        axes.add_patch(Circle((x + RADIUS, 2.5), RADIUS, fc="white", ec=ink.MID, lw=1))
        axes.add_patch(Circle((x + RADIUS, 2.5), RADIUS * math.sqrt(share), fc=ink.MID, ec="none"))
        x = write(x + 2 * RADIUS + 1.1, name)


def _band_names(drawn: Figure, plan: Layout) -> None:
    """The names of the bands of similarity, where a band is tall enough for its own."""
    parts = [(plan.lowest, plan.highest, TOP, plan.height)]
    if plan.foot:
        parts.append((0.0, bands.SUPPORT, TOP + plan.height + BREAK, FOOT))
    away = 12.9 if is_zoomed(plan.lowest, plan.highest) else 10.4
    for lowest, highest, start, height in parts:
        down = height / (highest - lowest)
        limits = itertools.pairwise((0.0, *bands.SIMILARITY))
        seen = [(max(lower, lowest), min(upper, highest), bands.SIMILARITY[upper]) for lower, upper in limits]
        rooms = [(bottom, top, name, (top - bottom) * down) for bottom, top, name in seen if top > bottom]
        spare = [max(0.0, (room - widths.text_width(name)) / 2) for _, _, name, room in rooms]
        for index, (bottom, top, name, room) in enumerate(rooms):
            beside = [spare[other] for other in (index - 1, index + 1) if 0 <= other < len(rooms)]
            # A name may reach a little into the bands beside its own, where their names leave room.
            beyond = min([MOST_BEYOND, *(value - APART for value in beside)])
            if name and widths.text_width(name) <= room + 2 * max(-APART / 2, beyond):
                y = start + (highest - (bottom + top) / 2) * down
                canvas.turned(drawn, plan.left - away, y, name, color=ink.INK_2)


MOST_BEYOND, APART = 0.5, 0.6
"""How far the name of a band may reach beyond it, and how far the names of two bands are apart, in mm."""


def _backdrop(axes: Axes, plan: Layout, scale: Scale, heights: Sequence[float], *, is_first: bool) -> None:
    """The bands of both axes, and the ticks of similarity."""
    background(axes, scale)
    low, high = axes.get_ylim()
    for upper in bands.SIMILARITY:
        if low < upper < high:
            axes.axhline(upper, color=ink.RULE, lw=0.5, zorder=0.6)
    axes.spines["left"].set_visible(is_first)
    digits = 2 if is_zoomed(plan.lowest, plan.highest) else 1
    texts = [f"{tick:g}" if tick in (0, 1) else numbers.number(tick, digits) for tick in heights]
    if is_first:
        canvas.ticks(axes, "y", heights, texts)


def _frame(axes: Axes, scale: Scale, spot: tuple[float, float] | None, words: str | None, *, clip: bool) -> None:
    """The frame of good external evidence, with its name at a point of the data."""
    frame = [axes.get_ylim()[0], bands.SUPPORT, bands.SUPPORT]
    axes.plot([scale.cuts[0], scale.cuts[0], scale.best], frame, color=ink.INK, lw=1.1, ls=FRAME, clip_on=clip)
    if spot is not None and words is not None:
        axes.text(*spot, words, ha="center", va="center", linespacing=1.1, zorder=5)


def _panel(drawn: Figure, arranged: Arrangement, index: int) -> None:
    plan, field = arranged.plan, arranged.fields[index]
    scale = field.scale
    ends = (scale.worst, scale.best), (plan.lowest, plan.highest)
    axes = canvas.panel(drawn, plan.x(index), TOP, plan.width, plan.height, *ends)
    if not plan.foot:
        region = field.region()
        spot = None if region is None else axes.point(region)
        _frame(axes, scale, spot, region_words(scale, plan), clip=True)
    _backdrop(axes, plan, scale, _heights(plan), is_first=index == 0)
    if plan.foot:
        axes.spines["bottom"].set_visible(False)
        # What lies below the break: the region of good external evidence, in which no site stands.
        top, at = TOP + plan.height + BREAK, ((scale.cuts[0] + scale.best) / 2, bands.SUPPORT / 2)
        below = canvas.panel(drawn, plan.x(index), top, plan.width, FOOT, ends[0], (0, bands.SUPPORT))
        _frame(below, scale, at, region_words(scale, plan), clip=False)
        heights = [0.0, *(upper for upper in bands.SIMILARITY if upper <= bands.SUPPORT)]
        _backdrop(below, plan, scale, heights, is_first=index == 0)
        scale_ticks(below, scale, labelled=not plan.rows)
        if index == 0:
            for y in (TOP + plan.height + 0.2, top - 0.2):
                marks.stroke(drawn, (plan.left - 1.4, y + 0.7), (plan.left + 1.4, y - 0.7), ink.INK_2, 0.8)
    else:
        scale_ticks(axes, scale, labelled=not plan.rows)
    _marks(axes, arranged, index)
    if plan.rows:
        _strip(drawn, arranged.placed, plan, index, scale)
    middle, bottom = plan.x(index) + plan.width / 2, plan.bottom + plan.strip + 8.8
    for row, line in enumerate(_title(scale, plan)):
        x = min(middle, canvas.FULL - widths.text_width(line, 600) / 2 - 0.2)
        canvas.write(drawn, x, bottom + row * canvas.LINE, line, ha="center", weight=600)


def _title(scale: Scale, plan: Layout) -> list[str]:
    """The lines of a panel's title: more than one where the panels are too narrow for titles side by side."""
    room = plan.width + GAP - 2.0
    whole = widths.wrapped(scale.title, room, 3, 600)
    if whole is None or "\n" not in whole:
        return [scale.title]
    # Lines of like length look better than a long one above a single word.
    alike = 1.2 * widths.text_width(scale.title, 600) / (whole.count("\n") + 1)
    return (widths.wrapped(scale.title, min(alike, room), whole.count("\n") + 1, 600) or whole).split("\n")


def _heights(plan: Layout) -> list[float]:
    """The ticks of similarity: the limits of the bands, and where the axis is zoomed round numbers between them."""
    least = plan.lowest + (canvas.LINE * plan.down if plan.foot else 0)
    ends = sorted({0.0, *bands.SIMILARITY, 1.0})
    limits = [tick for tick in ends if least <= tick and (tick == plan.highest or _is_below_the_top(plan, tick))]
    if not is_zoomed(plan.lowest, plan.highest):
        return limits
    more = canvas.inner_ticks(plan.lowest, plan.highest, 6)
    inside = [tick for tick in more if tick >= least and _is_below_the_top(plan, tick)]
    return sorted(limits + [tick for tick in inside if all(abs(tick - limit) / plan.down > 5 for limit in limits)])


def _is_below_the_top(plan: Layout, tick: float) -> bool:
    """Whether a tick lies so far below the top of the panels that its text does not reach above them."""
    return (plan.highest - tick) / plan.down > 1.5


def background(axes: Axes, scale: Scale) -> None:
    """The bands of performance as tints, light to dark from acceptable to excellent."""
    ends = (*scale.cuts, scale.best)
    for tint, start, end in zip(ink.TINTS, ends[:-1], ends[1:], strict=True):
        axes.axvspan(start, end, color=tint, lw=0, zorder=0)


def scale_ticks(axes: canvas.Panel, scale: Scale, labelled: bool) -> None:
    """The cut-offs and the two ends, and what else has room between the worst end and the first cut-off."""
    millimetre = abs(scale.best - scale.worst) / axes.width
    # The worst end before the cut-offs: an axis without it does not say where it ends.
    places = [scale.best, scale.worst_tick, *scale.cuts]
    middle = (scale.worst_tick + scale.cuts[0]) / 2
    is_round = abs(middle / scale.step - round(middle / scale.step)) < 1e-9
    if is_round and all(abs(middle - other) > 9.0 * millimetre for other in places):
        places.append(middle)
    digits = 2 if scale.measure in ("brier", "eci") else 1
    texts = {each: f"{each:g}" if each in (0, 1) else numbers.number(round(each, 6), digits) for each in places}
    # Where texts do not touch, the first named first; that of the first ends at its tick.
    wide = {each: widths.text_width(texts[each]) * (0.5 if order else 1.0) for order, each in enumerate(places)}
    kept = canvas.apart(places, lambda one, other: (wide[one] + wide[other] + 1.0) * millimetre)
    # A cut-off whose text has no room keeps its tick: a band ends there.
    shown = [texts[position] if position in kept else "" for position in sorted(texts)]
    written = canvas.ticks(axes, "x", sorted(texts), shown, labelled=labelled)
    if labelled:
        written[scale.best].set_horizontalalignment("right")


def _marks(axes: canvas.Panel, arranged: Arrangement, index: int) -> None:
    """Ellipses, rings, discs and labels of the sites whose similarity is known."""
    plan, field = arranged.plan, arranged.fields[index]
    scale, across = field.scale, field.across
    for place, stands, similarity in canvas.of_each(axes.sheet, field.sites, lambda each: each[0].site):
        low, high = _ends(similarity)
        if low == high:
            axes.plot([stands.low, stands.high], [low, low], color=place.colour, lw=1.1, zorder=2)
        elif field.has_ellipse(place):
            middle, size = ((stands.low + stands.high) / 2, (low + high) / 2), (stands.high - stands.low, high - low)
            axes.add_patch(Ellipse(middle, *size, fc="none", ec=place.colour, lw=0.7, zorder=2))
        value, height = scale.clipped(stands.value), similarity.value
        _disc(axes, value, height, (abs(across), plan.down, plan.radius), place.colour, stands.share)
        cross(axes, stands, value, height)
        if arranged.margin:
            end = scale.best + (GAP if index < 2 else RADIUS + 0.6) * across
            axes.plot([scale.worst, end], [height, height], color=ink.RULE, lw=0.4, zorder=1.5, clip_on=False)
        spot = arranged.labels[index].get(place.site.name)
        if spot is not None:
            text = _label(place, stands, scale)
            axes.text(*axes.point(spot), text, ha="center", va="center", zorder=5, **place.looks)


def _label(place: Placed, stands: Standing, scale: Scale) -> str:
    """The name of a mark, with its value where that lies beyond the axis."""
    beyond = scale.clipped(stands.value) != stands.value
    return f"{place.name}: {numbers.number(stands.value, 1)}" if beyond else place.name


def _ends(found: types.Estimate) -> tuple[float, float]:
    return found.value if found.low is None else found.low, found.value if found.high is None else found.high


def _disc(
    axes: Axes, x: float, y: float, millimetre: tuple[float, float, float], colour: str, share: float | None
) -> None:
    """The ring of the minimum sample size and in it the disc of what was reached; dotted when that is not known.

    `millimetre` holds how much of each axis a millimetre is, and how many the ring's radius measures.
    """
    across, down, reach = millimetre
    style = "-" if share is not None else (0, (1, 1.2))
    ring = Ellipse((x, y), 2 * reach * across, 2 * reach * down, fc="white", ec=colour, lw=1, ls=style, zorder=3)
    axes.add_patch(ring)
    ring.set_clip_on(False)
    if share is not None:
        # What was not reached is seen as a ring, however little it is.
        part = 2 * reach * (1.0 if share == 1 else min(math.sqrt(share), 0.8))
        disc = Ellipse((x, y), part * across, part * down, fc=colour, ec="none", zorder=4)
        axes.add_patch(disc)
        disc.set_clip_on(False)


def _strip(drawn: Figure, placed: Sequence[Placed], plan: Layout, index: int, scale: Scale) -> None:
    """The sites of unknown similarity as rows under the panel, on the panel's scale."""
    unknown = [place for place in placed if place.similarity is None][: plan.rows]
    rows = forest.Rows(drawn, plan.bottom + 7.0)
    axes = rows.axes(plan.x(index), plan.width, (plan.strip - 7.0) / canvas.LINE, (scale.worst, scale.best))
    background(axes, scale)
    scale_ticks(axes, scale, labelled=True)
    across = abs(scale.best - scale.worst) / plan.width
    for row, place in canvas.of_each(drawn, list(enumerate(unknown)), lambda each: each[1].site):
        stands = place.stands.get(scale.measure)
        if stands is None:
            x = (scale.worst + scale.cuts[0]) / 2
            axes.text(x, row + 0.5, "absent", ha="center", va="center_baseline", color=ink.INK_2)
            continue
        axes.plot([stands.low, stands.high], [row + 0.5] * 2, color=ink.MID, lw=1, zorder=2)
        value = scale.clipped(stands.value)
        _disc(axes, value, row + 0.5, (across, 1 / canvas.LINE, RADIUS), ink.MID, stands.share)
        cross(axes, stands, value, row + 0.5)


@canvas.figure("External performance diagram")
def external_performance(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How well the model does at every site, against how much the site resembles the data it was developed on."""
    if evidence.release.outcome.classes:
        return types.Absent(facts.Fact("diagram_for_binary_outcome"))
    arranged = register.present(arrangement(evidence))
    drawn = draw_arranged(evidence, arranged)
    message = _message(evidence, arranged.placed)
    alternative = f"{message[:-1]}; {_of_how_many(evidence, arranged.placed)}"
    return canvas.Drawn(drawn, _caption(evidence, arranged), alternative, message)


def _caption(evidence: types.Evidence, arranged: Arrangement) -> str:
    """How to read the diagram, how far its axis goes, and whatever it leaves out."""
    form = form_of(evidence)
    has_ellipses = any(place.similarity is not None and place.similarity.low is not None for place in arranged.placed)
    plan = arranged.plan
    zoomed = not plan.foot and (plan.lowest > 0 or plan.highest < LEAST_WHOLE)
    of = [(place, place.similarity) for place in arranged.placed if place.similarity is not None]
    given = [place.name for place, similarity in of if similarity.method.has("declared_by")]
    text = captions.said(
        "external_performance",
        evidence,
        types.externals(evidence),
        title=form.in_caption,
        note=form.note,
        ellipses=has_ellipses,
        only=has_ellipses and plan.crowded,
        bands=BANDS,
        fewest=bands.FEWEST_TO_SUPPORT,
        ours=OURS,
        cross=without_skill(arranged.placed),
        unknown=any(stands.share is None for place in arranged.placed for stands in place.stands.values()),
        foot=plan.foot,
        lowest=numbers.number(plan.lowest) if zoomed else "",
        highest=numbers.number(plan.highest),
        frame="" if plan.foot or any(field.region() for field in arranged.fields) else REGION,
        declared=captions.joined(given, 9),
        numbers=_resolved(arranged.placed),
    )
    beyond = [
        (field.scale.noun, _label(place, stands, field.scale))
        for field in arranged.fields
        for place, stands, _ in field.sites
        if field.scale.clipped(stands.value) != stands.value
    ]
    beyond = beyond if arranged.margin else []
    for what, missing in (("Beyond its axis", beyond), ("Absent", arranged.absent), ("Not labelled", arranged.lost)):
        if missing:
            text += _listed(what, missing, 0.0 if plan.crowded else LONGEST + ONE_LINE - widths.text_width(text))
    return text


OURS = "Cut-offs: AUROC published, others ours."


LONGEST = 420.0
"""How long the caption may be, in mm of text, so that it fills no more than three lines with its title."""
ONE_LINE = 155.0
"""What is left out may take a fourth line: better than not naming it."""
LEAST_WHOLE = 0.7
"""An axis of similarity that starts at 0 and ends below this leaves out what the reader may look for."""
MOST_RESOLVED = 60.0


def _resolved(placed: Sequence[Placed]) -> str:
    """What the numbers stand for, in full when it is short."""
    numbered = [place for place in placed if place.name.isdigit()]
    if not numbered:
        return ""
    whole = ", ".join(f"{place.name} {place.site.site}" for place in numbered)
    return f" {whole}." if widths.text_width(whole) <= MOST_RESOLVED else " Numbers: table order."


def _listed(what: str, missing: Sequence[tuple[str, str]], room: float) -> str:
    """Sites with their measures, or only their count where room is short: Absent: Spain (AUROC), Ethiopia (Brier)."""
    measures = dict.fromkeys(measure for measure, _ in missing)
    parts = [(measure, [name for word, name in missing if word == measure]) for measure in measures]
    text = f" {what}: {', '.join(f'{captions.joined(names, 9)} ({measure})' for measure, names in parts)}."
    return (
        text if widths.text_width(text) <= room else f" {what}: {len(missing)} mark{'s' if len(missing) > 1 else ''}."
    )


def _message(evidence: types.Evidence, placed: Sequence[Placed]) -> str:
    """Which sites support the model from outside by the rule of the diagram, and what speaks against it there."""
    by_form = f"of similarity below {bands.SUPPORT:g} by {form_of(evidence).short}"
    if not _unlike(placed):
        return f"By the rule of the diagram no site supports the model from outside: none is {by_form}."
    supports = [place.site for place in placed if place.supports]
    verb = "supports" if len(supports) == 1 else "support"
    who = f"{captions.sites_word(len(supports))} {verb}" if supports else "no site supports"
    which = f" ({_short(evidence, supports)})" if supports else ""
    return f"By the rule of the diagram {who} the model from outside{which}{_against(evidence, placed)}."


def _short(evidence: types.Evidence, chosen: Sequence[types.DatasetSummary]) -> str:
    """The names of these sites in brackets: a name may hold an "and"."""
    sites = types.externals(evidence)
    names = dict(zip((site.name for site in sites), _up_to_a_comma(sites), strict=True))
    return ", ".join(names[site.name] for site in chosen)


def _against(evidence: types.Evidence, placed: Sequence[Placed]) -> str:
    """At which of the sites that support the model it does no good: the rule asks for no comparison with a default."""
    at, supports = evidence.release.thresholds.primary, [place for place in placed if place.supports]
    worse, unsure = [], []
    for site in (place.site for place in supports if at is not None):
        found = types.find(evidence, "net_benefit_gain", site.name, threshold=at or 0.0)
        state = binding.gain(evidence, site.name, at or 0.0, found)
        worse += [site] if state == "against" else []
        unsure += [site] if state == "open" else []
    no_skill = [place.site for place in supports if any(stands.no_skill for stands in place.stands.values())]
    clauses = (
        ("a default has the higher net benefit", worse),
        ("a net benefit gain is not shown", unsure),
        ("the Brier score is no better than that of the prevalence", no_skill),
    )
    parts = [f"{what} ({_short(evidence, sites)})" for what, sites in clauses if sites]
    return f", yet {listing(parts)}" if parts else ""


def _unlike(placed: Sequence[Placed]) -> int:
    """How many sites lie below the line of external support."""
    return sum(place.similarity is not None and bands.is_unlike(place.similarity.value) for place in placed)


def _of_how_many(evidence: types.Evidence, placed: Sequence[Placed]) -> str:
    """How many sites could support the model, by either form, and of how many the similarity is unknown."""
    count, form = _unlike(placed), form_of(evidence).short
    text = f"{captions.sites_word(count)} {'lies' if count == 1 else 'lie'} below {bands.SUPPORT:g} by {form}"
    unknown = sum(place.similarity is None for place in placed)
    found = types.find(evidence, "externally_supported", types.POOLED)
    if isinstance(found, types.Estimate):
        (other,) = (name for name in FORMS if name != evidence.release.robustness.similarity)
        supported = captions.sites_word(int(found.details.get(f"by_{other}") or 0))
        text += f"; by {FORMS[other].short} {supported} would support it"
    return f"{text}{f'; the similarity of {captions.sites_word(unknown)} is unknown' if unknown else ''}."
