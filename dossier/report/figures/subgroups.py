"""Pictures of subgroups: AUROC, O/E, sensitivity and net benefit of each, and the calibration curve of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes

from dossier.core import bands, facts, types
from dossier.report.figures import calibration, canvas, captions, data, discrimination, facets, forest, ink, marks
from dossier.typeset import reasons, widths
from dossier.typeset.numbers import DASH, threshold
from dossier.typeset.words import counted, listing, sentence_case, within_sentence

MOST_ROWS = discrimination.MOST_ROWS[canvas.FULL]
BRIER = discrimination.Forest("brier", "Brier", 0.0, unbounded=True)
ABREAST = 2
"""So many measures stand side by side; the next ones below them, where the names are said again."""


def measures(evidence: types.Evidence) -> tuple[discrimination.Forest, ...]:
    """What is shown of each subgroup; of several classes what has a mean over them, or is one number for all."""
    at = evidence.release.thresholds.primary
    if evidence.release.outcome.classes:
        return (discrimination.AUROC, BRIER)
    if at is None:
        return (discrimination.AUROC, discrimination.OE)
    sensitivity = discrimination.Forest("sensitivity", "Sensitivity", 0.0, at={"threshold": at})
    digits = data.digits_of_benefit(evidence)
    benefit = discrimination.Forest(
        "net_benefit", "Net benefit", 0.0, at={"threshold": at}, per=100, digits=digits, unbounded=True
    )
    return (discrimination.AUROC, discrimination.OE, sensitivity, benefit)


def _blocks(evidence: types.Evidence, rows: Sequence[Line]) -> list[tuple[int, ...]]:
    """The places of the measures that are estimated anywhere, side by side; below where so many rows have room."""
    estimated = [
        which
        for which in range(len(measures(evidence)))
        if any(isinstance(line.found[which], types.Estimate) for line in rows if line.found)
    ]
    blocks = [tuple(estimated[first : first + ABREAST]) for first in range(0, len(estimated), ABREAST)]
    return blocks[: max(1, MOST_ROWS // max(len(rows), 1))]


# ---- forest ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """A row of the forest: the name of a column, or a subgroup of one site or of several pooled."""

    label: str
    where: str = ""
    n: int | None = None
    events: int | None = None
    found: tuple[types.Estimate | types.Absent, ...] = ()
    sites: tuple[tuple[float, ...], ...] = ()
    """The values of the sites that are pooled, for each measure."""
    is_pooled: bool = False
    is_below: bool = False
    """Whether the row is a site below the name of the subgroup."""
    subset: types.Subset | None = None
    of: types.DatasetSummary | None = None
    """The site, where the row is of one."""

    @property
    def is_head(self) -> bool:
        """Whether the row is the name of a column, or of a subgroup whose sites stand below."""
        return self.n is None

    @property
    def text(self) -> str:
        """What the row is called: the subgroup, or the site where its subgroup stands above."""
        label = sentence_case(self.label)
        return f"{label}, {self.where}" if self.is_pooled else self.where if self.is_below else label

    @property
    def indent(self) -> float:
        """How far the name is moved in, in mm."""
        return 0.0 if not self.subset else 4.5 if self.is_below else 2.0


def lines(evidence: types.Evidence) -> tuple[Line, ...]:
    """The rows: each column, its subgroups, each over all sites where that is telling, otherwise site by site."""
    made = []
    for name, labels in types.subgroup_columns(evidence).items():
        if of_column := [line for label in labels for line in _of_subgroup(evidence, name, label)]:
            made += [Line(name), *of_column]
    return tuple(made)


def _of_subgroup(evidence: types.Evidence, name: str, label: str) -> list[Line]:
    subset = types.Subset(name, label)
    sized = [(site, types.subgroup_sizes(evidence, name, site.name).get(label)) for site in types.externals(evidence)]
    known = [(site, size) for site, size in sized if size is not None]
    if not known:
        return []
    pooled = _found(evidence, subset, types.POOLED)
    telling = [estimate for estimate in pooled if isinstance(estimate, types.Estimate) and types.is_telling(estimate)]
    enough = [(site, size) for site, size in known if not size.is_few]
    if telling:
        here = zip(*(_found(evidence, subset, site.name) for site, _ in enough), strict=True)
        values = [tuple(each.value for each in found if isinstance(each, types.Estimate)) for found in here]
        most = max(telling, key=lambda estimate: estimate.details.get("k") or 0)
        where = captions.sites_word(int(most.details.get("k") or 0))
        return [Line(label, where, most.n, most.events, pooled, tuple(values), True, subset=subset)]
    if not enough:
        n, events = sum(size.n for _, size in known), sum(size.shown for _, size in known)
        where = known[0][0].site if len(known) == 1 else f"each of {captions.sites_word(len(known))}"
        return [Line(label, where, n, events, subset=subset)]
    several, rows = len(known) > 1, []
    for site, size in enough:
        found = _found(evidence, subset, site.name)
        rows.append(Line(label, site.site, size.n, size.shown, found, is_below=several, subset=subset, of=site))
    return [Line(label, subset=subset), *rows] if several else rows


def _found(evidence: types.Evidence, subset: types.Subset, dataset: str) -> tuple[types.Estimate | types.Absent, ...]:
    return tuple(
        what.in_unit(types.find_in_subgroup(evidence, subset, what.measure, dataset, **what.at))
        for what in measures(evidence)
    )


@dataclass(frozen=True)
class Places:
    """Where the columns stand, in mm: the width of the names, the right ends of the counts, the axes."""

    names: float
    counts: tuple[float, float]
    axes: tuple[float, float]
    """Where the two axes begin."""
    width: float
    """How wide each axis is."""

    def ends(self, place: int) -> tuple[float, float]:
        """The right ends of the values beside an axis, and of their intervals."""
        right = self.axes[place] + self.width
        return right + 10.5, right + BOUNDS


DIAMOND, RUG, STROKE = 0.24, 0.38, 2.8
"""Half the height of a diamond and how far below its middle the strokes of its sites stand, in rows; a stroke in
points. They stand below, since sites that agree lie where the diamond is."""
WIDEST_NAME = 50.0
BOUNDS = 30.5
"""From the end of an axis to that of the intervals beside it, which may need a digit more to show their side, in mm."""


def _places(evidence: types.Evidence, shown: Sequence[Line]) -> Places:
    """The names take what they need, and the two axes share the rest."""
    wide = [line.indent + widths.text_width(line.text, 600 if line.is_head else 400) for line in shown]
    names = min(max(wide), WIDEST_NAME)
    patients = names + 4.0 + max(widths.text_width(f"{line.n or 0:,}") for line in shown)
    counts = [widths.text_width(f"{line.events or 0:,}") for line in shown]
    events = patients + 3.0 + max(widths.text_width("events"), *counts)
    first = events + 4.0
    width = (canvas.FULL - first - 2 * BOUNDS - 5.0) / 2
    return Places(names, (patients, events), (first, first + width + BOUNDS + 5.0), width)


def _names(shown: Sequence[Line], places: Places) -> list[str]:
    """The names of the rows, short enough for their column: those of the columns, of each one's groups, of the sites
    below."""

    def kind(line: Line) -> str | bool | None:
        return line.is_below or (line.subset and line.subset.column)

    short: dict[tuple[str | bool | None, str], str] = {}
    for each in dict.fromkeys(map(kind, shown)):
        alike = {line.text: line for line in shown if kind(line) == each}
        first = next(iter(alike.values()))
        cut = widths.shortened(tuple(alike), places.names - first.indent, 400 if first.subset else 600)
        short |= {(each, text): name for text, name in zip(alike, cut, strict=True)}
    return [short[kind(line), line.text] for line in shown]


def _heads(plot: forest.Rows, evidence: types.Evidence, places: Places, here: Sequence[int]) -> None:
    second = "rarest" if evidence.release.outcome.classes else "events"
    for right, text in zip(places.counts, ("n", second), strict=True):
        plot.right(HEADS_ABOVE, right, text)
    for place, which in enumerate(here):
        value, bounds = places.ends(place)
        plot.right(HEADS_ABOVE, value, measures(evidence)[which].heading)
        plot.right(HEADS_ABOVE, bounds, f"{captions.level_text(evidence)} CI")


HEADS_ABOVE = -0.76
"""Where the heads stand above the first row, in rows."""


def _mark(
    plot: forest.Rows,
    axes: Axes,
    ends: tuple[float, float],
    line: Line,
    which: int,
    row: float,
    what: discrimination.Forest,
) -> None:
    found = line.found[which]
    if isinstance(found, types.Absent):
        plot.right(row, ends[1], "not estimable")
        return
    if line.sites:
        left, end = axes.get_xlim()
        inside = [value for value in line.sites[which] if left <= value <= end]
        below = [row + RUG] * len(inside)
        axes.plot(inside, below, "|", color=ink.MID, ms=STROKE, mec=ink.MID, mew=0.8, zorder=1.5, clip_on=False)
    if line.is_pooled and found.low is not None and found.high is not None:
        marks.whisker(axes, found, row)
        marks.diamond(axes, found, row, DIAMOND, zorder=2)
    else:
        marks.estimate(axes, found, row)
    plot.value(row, ends, what.text(found.value), what.interval(found.low, found.high))


def forest_caption(evidence: types.Evidence) -> str:
    """What to know about the forest: where the rows come from, intervals, what is left out."""
    every = lines(evidence)
    rows = every[:MOST_ROWS]
    drawn = [line for line in rows if any(isinstance(each, types.Estimate) for each in line.found)]
    # A patient has a row in each column: those of the column that holds the most are all who are drawn.
    columns = types.subgroup_columns(evidence)
    held = [sum(line.n or 0 for line in drawn if line.subset and line.subset.column == name) for name in columns]
    shown = [measures(evidence)[which] for here in _blocks(evidence, rows) for which in here]
    at = [threshold(each) for what in shown for each in what.at.values()]
    over_sites = [
        (what.heading, line, each)
        for line in (line for line in rows if line.is_pooled)
        for what, each in zip(measures(evidence), line.found, strict=True)
        if isinstance(each, types.Estimate)
    ]
    of_fewer = facts.gathered(((line.label, each.n), what) for what, line, each in over_sites if each.n != line.n)
    alike = facts.gathered((listing(whats), f"{label} ({n:,})") for (label, n), whats in of_fewer.items())
    fewer = "; ".join(f"{whats} of {listing(labels)}" for whats, labels in alike.items())
    steps = [step for _, _, each in over_sites for step in each.method if step.code == "sites_turning"]
    divided = {name for step in steps if isinstance(sites := step["sites"], tuple) for name in sites}
    turning = [site.site for site in types.externals(evidence) if site.name in divided]
    sizes = [each.size for each in evidence.subgroups.summaries]
    kind = "patients of any class" if evidence.release.outcome.classes else "of either kind"
    return captions.said(
        "subgroups",
        evidence,
        patients=counted(max(held), "patient"),
        pooled=any(line.is_pooled for line in rows),
        at=at[0] if at else "",
        fewer=fewer,
        turning=listing(turning),
        sites=any(not line.is_pooled for line in drawn),
        few=kind if any(size.is_few for size in sizes if isinstance(size, types.SubgroupSize)) else "",
        classes=bool(evidence.release.outcome.classes),
        left=max(0, len(every) - MOST_ROWS),
    )


def forest_alternative(evidence: types.Evidence) -> str:
    """The finding of the forest in one sentence: the lowest and the highest of each measure, and what is too few."""
    every = [line for line in lines(evidence) if not line.is_head]
    texts = []
    for which, what in enumerate(measures(evidence)):
        known = [(each, line) for line in every if line.found and isinstance(each := line.found[which], types.Estimate)]
        if not known:
            continue
        # Of equal values the first is the lowest, and the last the highest.
        known.sort(key=lambda pair: pair[0].value)
        low, high = (
            f"{captions.value_text(each, what.digits)} in {_called(line)}" for each, line in (known[0], known[-1])
        )
        said = low if known[0][1] is known[-1][1] else f"by subgroup lowest {low}, highest {high}"
        texts.append(f"{what.heading} {said}")
    few = [line.label for line in every if not line.found]
    more = f"; too few to tell in {captions.joined(few)}" if few else ""
    return f"{'; '.join(texts)}{more}."


def _called(line: Line) -> str:
    return f"{line.label} ({line.subset.column if line.subset else ''}, {line.where})"


@canvas.figure("Performance by subgroup")
def forest_by_subgroup(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How well the model ranks the patients of each subgroup, and whether their risks add up."""
    if not evidence.subgroups.summaries:
        return types.Absent(facts.Fact("no_subgroup_declared"))
    every = lines(evidence)
    if not any(isinstance(estimate, types.Estimate) for line in every for estimate in line.found):
        return types.Absent(facts.Fact("no_subgroup_with_enough_patients"))
    shown, every_measure = every[:MOST_ROWS], measures(evidence)
    blocks = _blocks(evidence, shown)
    height = len(shown) * canvas.LINE + 1.5
    step = discrimination.TOP + height + FOOT
    places, sheet = _places(evidence, shown), canvas.sheet(canvas.FULL, len(blocks) * step)
    for number_of_block, here in enumerate(blocks):
        plot = forest.Rows(sheet, number_of_block * step + discrimination.TOP)
        _heads(plot, evidence, places, here)
        panels = []
        for place, which in enumerate(here):
            panels.append(
                (which, places.ends(place), plot.axes(places.axes[place], places.width, height / canvas.LINE))
            )
            values = data.ends(*(line.found[which] for line in shown if line.found))
            values += [value for line in shown if line.sites for value in line.sites[which]]
            reach = min([0.0, *values]), max([0.0, *values])
            discrimination.scale(panels[-1][-1], every_measure[which], values, reach)
        rows = list(enumerate(zip(shown, _names(shown, places), strict=True)))
        for row, (line, name) in canvas.of_each(sheet, rows, lambda each: each[1][0].of):
            plot.write(row + 0.5, line.indent, name, weight=400 if line.subset else 600)
            if line.is_head:
                continue
            for right, count in zip(places.counts, (line.n, line.events), strict=True):
                plot.right(row + 0.5, right, DASH if count is None else f"{count:,}")
            if not line.found:
                plot.write(row + 0.5, places.axes[0] + 1.5, "too few to tell", color=ink.INK_2)
            for which, ends, axes in panels if line.found else ():
                _mark(plot, axes, ends, line, which, row + 0.5, every_measure[which])
    headings = [every_measure[which].heading for here in blocks for which in here]
    message = f"{listing([headings[0], *map(within_sentence, headings[1:])])} by subgroup."
    return canvas.Drawn(sheet, forest_caption(evidence), forest_alternative(evidence), message)


FOOT = 6.2
"""What the numbers of an axis take below it, in mm."""


# ---- calibration ----------------------------------------------------------------------------------------------------


Position = tuple[types.DatasetSummary, tuple[str, str]]
"""A site, and a subgroup by its column and its label."""


@dataclass(frozen=True)
class Matrix:
    """The panels of calibration by subgroup: sites and subgroups, the longer of the two across the page."""

    sites: tuple[types.DatasetSummary, ...]
    subgroups: tuple[tuple[str, str], ...]
    """The column and the label of each."""

    @property
    def sites_across(self) -> bool:
        """Whether the sites stand side by side, and the subgroups below each other."""
        return len(self.sites) > len(self.subgroups)

    @property
    def across(self) -> tuple[str, ...]:
        """What stands above the columns of panels."""
        return tuple(site.site for site in self.sites) if self.sites_across else self._labels

    @property
    def down(self) -> tuple[str, ...]:
        """What stands above the rows of panels."""
        return self._labels if self.sites_across else tuple(site.site for site in self.sites)

    @property
    def _labels(self) -> tuple[str, ...]:
        labels = [label for _, label in self.subgroups]
        alike = {column for column, label in self.subgroups if labels.count(label) > 1}
        return tuple(
            sentence_case(f"{column}: {label}" if column in alike else label) for column, label in self.subgroups
        )

    def at(self, row: int, across: int) -> Position:
        """The site and the subgroup of a panel."""
        site, subgroup = (across, row) if self.sites_across else (row, across)
        return self.sites[site], self.subgroups[subgroup]


MOST_ACROSS, MOST_DOWN = 8, 6
CURVE = "calibration_curve"


def matrix(evidence: types.Evidence) -> Matrix:
    """The sites and subgroups that have at least one curve, as many as a page holds."""
    every = [(name, label) for name, labels in types.subgroup_columns(evidence).items() for label in labels]
    drawn = {
        (site.name, subgroup)
        for site in types.externals(evidence)
        for subgroup in every
        if isinstance(_curve(evidence, (site, subgroup)), types.Curve)
    }
    sites = [site for site in types.externals(evidence) if any(name == site.name for name, _ in drawn)]
    kept = [subgroup for subgroup in every if any(other == subgroup for _, other in drawn)]
    most_sites, most_kept = (MOST_ACROSS, MOST_DOWN) if len(sites) > len(kept) else (MOST_DOWN, MOST_ACROSS)
    return Matrix(tuple(sites[:most_sites]), tuple(kept[:most_kept]))


def _curve(evidence: types.Evidence, position: Position) -> types.Curve | types.Absent:
    site, subgroup = position
    return types.find_curve_in_subgroup(evidence, types.Subset(*subgroup), CURVE, site.name)


HEAD = 5.0
"""The height of the line above the panels."""

NAMES = 22.0
"""The most width that the names of the rows take."""

TALLEST_MATRIX = 88.0
"""The most height of all rows together, so that the page holds the forest too."""


GAP = 2.8


def _draw_panel(evidence: types.Evidence, axes: canvas.Panel, position: Position, end: float) -> None:
    site, subgroup = position
    size = types.subgroup_sizes(evidence, subgroup[0], site.name).get(subgroup[1])
    curve = _curve(evidence, position)
    if size is None:
        facets.say(axes, "not recorded")
    elif size.is_few:
        facets.say(axes, "too few to tell", "too few")
    elif isinstance(curve, types.Absent):
        facets.say(axes, reasons.why(evidence, curve.reason))
    else:
        whole = types.find_curve(evidence, CURVE, site.name)
        if isinstance(whole, types.Curve):
            axes.plot(data.column(whole, "risk"), data.column(whole, "observed"), color=ink.MID, lw=1.0, zorder=1.8)
        calibration.draw_curve(axes, curve, end, size.rarest < bands.FEW_FOR_A_BAND)


def calibration_caption(evidence: types.Evidence) -> str:
    """What to know about the panels: n, bands, the grey curve, which are broken, what is left out."""
    plan = matrix(evidence)
    pairs = [(site, subgroup) for site in plan.sites for subgroup in plan.subgroups]
    sizes = [types.subgroup_sizes(evidence, subgroup[0], site.name).get(subgroup[1]) for site, subgroup in pairs]
    kept = [size for size in sizes if size is not None and not size.is_few]
    labels, shown = types.subgroup_columns(evidence).values(), {label for _, label in plan.subgroups}
    every = len({curve.dataset for curve in evidence.subgroups.curves if isinstance(curve.found, types.Curve)})
    return captions.said(
        "calibration_of_subgroups",
        evidence,
        datasets=counted(len(plan.sites), "dataset"),
        few=any(size.rarest < bands.FEW_FOR_A_BAND for size in kept),
        gone=captions.joined([label for of_column in labels for label in of_column if label not in shown]),
        left=captions.sites_word(every - len(plan.sites)) if every > len(plan.sites) else "",
    )


def calibration_alternative(evidence: types.Evidence) -> str:
    """The finding of the panels by the O/E ratio: where the risks of a subgroup are furthest off."""
    plan = matrix(evidence)
    known = []
    for site in plan.sites:
        for name, label in plan.subgroups:
            found = types.find_in_subgroup(evidence, types.Subset(name, label), "oe_ratio", site.name)
            if isinstance(found, types.Estimate):
                known.append((found.value, f"{name}: {label}, {site.site}"))
    if not known:
        return "Calibration curves by subgroup; the O/E ratio could not be estimated."
    return f"O/E of {counted(len(known), 'subgroup')} at the sites: {captions.ends(known)}."


@canvas.figure("Calibration by subgroup")
def calibration_by_subgroup(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How often the outcome happened among patients of each risk, subgroup by subgroup, over the whole site."""
    if not evidence.subgroups.summaries:
        return types.Absent(facts.Fact("no_subgroup_declared"))
    if evidence.release.outcome.classes:
        return types.Absent(facts.Fact("curves_of_classes_in_results"))
    plan = matrix(evidence)
    curves = [_curve(evidence, (site, subgroup)) for site in plan.sites for subgroup in plan.subgroups]
    if not curves:
        return types.Absent(facts.Fact("no_subgroup_with_enough_for_a_curve"))
    end = calibration.curve_end(curves)
    down = widths.on_lines(plan.down, [NAMES] * len(plan.down), 3, 600)
    names = max(widths.text_width(line, 600) for name in down for line in name.split("\n")) + 3.0
    left = names + max(9.5, 5.4 + widths.text_width(canvas.tick_text(end)))
    count, across, rows = len(plan.across) * len(plan.down), len(plan.across), len(plan.down)
    tallest = min(19.0, TALLEST_MATRIX / rows - GAP)
    grid = facets.lattice(count, canvas.FULL, left=left, top=HEAD, gap_x=GAP, gap_y=GAP, tallest=40.0, columns=across)
    if grid.height > tallest:
        grid = replace(grid, width=(canvas.FULL - left - (across - 1) * GAP) / across, height=tallest)
    heads = widths.on_lines(plan.across, [grid.width] * len(plan.across), 2)
    more = max(head.count("\n") for head in heads) * facets.HEAD_LINE
    grid = replace(grid, top=grid.top + more)
    drawn = canvas.sheet(canvas.FULL, grid.bottom + 9.4)
    for index in canvas.of_each(drawn, range(count), lambda index: plan.at(*divmod(index, across))[0]):
        row, step = divmod(index, across)
        x, y = grid.corner(index)
        if row == 0:
            for above, words in enumerate(reversed(heads[step].split("\n"))):
                canvas.write(drawn, x, y - 2.2 - above * facets.HEAD_LINE, words)
        if step == 0:
            canvas.write(drawn, 0, y + grid.height / 2, down[row], weight=600, va="center", linespacing=1.2)
        axes = canvas.panel(drawn, x, y, grid.width, grid.height)
        facets.unit(grid, end)(axes, index)
        _draw_panel(evidence, axes, plan.at(row, step), end)
    canvas.write(drawn, (grid.left + grid.right) / 2, grid.bottom + 7.2, "Estimated risk", ha="center")
    canvas.turned(drawn, names + 2.0, (grid.top + grid.bottom) / 2, "Observed share")
    return canvas.Drawn(drawn, calibration_caption(evidence), calibration_alternative(evidence))
