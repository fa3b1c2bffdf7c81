"""Whether the model works alike in the subgroups that were declared, and in which there are too few to tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dossier.core import between_groups
from dossier.core.bands import FEW_FOR_POOLING
from dossier.core.types import (
    POOLED,
    Absent,
    At,
    DatasetSummary,
    Estimate,
    Evidence,
    SubgroupSize,
    SubgroupSummary,
    Subset,
    Withheld,
    externals,
    find_in_subgroup,
    is_telling,
    subgroup_columns,
    subgroup_sizes,
)
from dossier.report.chapters import classes
from dossier.report.chapters.chapter import Chapter
from dossier.report.chapters.sentence import Sentence, named_with_the_rest, primary_threshold
from dossier.typeset.flags import flag_text
from dossier.typeset.measures import cell
from dossier.typeset.names import ALL_POOLED, label_of, shown
from dossier.typeset.numbers import level_of, number
from dossier.typeset.tables import NOT_COMPUTED, Cell, Column, Reasons, Row, Table, label_fits
from dossier.typeset.words import anchor, counted, how_many, in_words, listing, sentence_case, setting, within_sentence

JUDGED = ("auroc", "oe_ratio")
"""The measures whose differences the tables print; the finding counts those in sensitivity at the first threshold too.
"""

CASE_MIX = "model_based_concordance"
"""What the AUROC would be if every risk were right: as far as this differs between groups, it is their case mix."""

MOST_NAMED = 3
"""Differences that the finding names; of more the rest is counted, and the tables hold all."""

COMPLEMENT = "complement"


@dataclass(frozen=True)
class Difference:
    """How far a measure in a subgroup of one site lies from that of the other patients there."""

    column: str
    label: str
    dataset: DatasetSummary
    measure: str
    found: Estimate
    of_class: str | None = None
    threshold: float | None = None

    @property
    def at(self) -> At:
        """The settings under which its results are filed."""
        settings = {"class": self.of_class, "threshold": self.threshold}
        return {name: value for name, value in settings.items() if value is not None}

    @property
    def subset(self) -> Subset:
        """The name under which its results are filed."""
        return Subset(self.column, self.label)

    @property
    def named(self) -> str:
        """The subgroup, its column and the site; of several classes also the class."""
        of_class = f", {self.of_class} against the rest" if self.of_class else ""
        return f"{self.label} ({self.column}, {self.dataset.site}{of_class})"

    @property
    def is_apart(self) -> bool:
        """Whether the interval excludes 0."""
        return _excludes_zero(self.found)


def _excludes_zero(found: Estimate | Absent) -> bool:
    return isinstance(found, Estimate) and (
        (found.low is not None and found.low > 0) or (found.high is not None and found.high < 0)
    )


def finding(evidence: Evidence) -> Sentence:
    """Which groups differ over all sites, in how many comparisons a group differs at its site, and what is too few."""
    every = tuple(between_groups.over_all_sites(evidence.subgroups.summaries, evidence.subgroups.results))
    here = _by_site(evidence)
    if not every:
        return here
    more = named_with_the_rest([flag_text(difference.fact) for difference in every[1:]], MOST_NAMED - 1)
    rest = f"{sentence_case(more)}. {here.lead} {here.rest}" if more else f"{here.lead} {here.rest}"
    made = between_groups.comparisons(evidence.subgroups.summaries, evidence.subgroups.results)
    verb = "excludes" if len(every) == 1 else "exclude"
    among = f"{len(every)} of {made} pooled differences {verb} 0"
    among = among if made > 1 else "the only pooled difference"
    return Sentence(f"{_where(evidence, every[0].column)} {flag_text(every[0].fact)} ({among}).", rest.strip())


def sites_with(evidence: Evidence, column: str) -> list[str]:
    """The external sites whose patients have the column, in order."""
    found = between_groups.sites_with(evidence.subgroups.summaries, column)
    return [site.site for site in externals(evidence) if site.name in found]


def _where(evidence: Evidence, column: str) -> str:
    """In which sites a subgroup is looked at: all, or those that have the column."""
    sites = sites_with(evidence, column)
    if len(sites) == len(externals(evidence)):
        return "Over all sites"
    return f"In {listing(sites)}" if len(sites) <= 3 else f"Over the {in_words(len(sites))} sites that record it"


def _by_site(evidence: Evidence) -> Sentence:
    made = tuple(_differences(evidence))
    few = _few(evidence)
    of_what = "patients of a class" if evidence.release.outcome.classes else "events or non-events"
    rest = f"Too few {of_what}: {part_of(len(few), len(_sized(evidence)))} subgroups, site by site." if few else ""
    if not made:
        return Sentence("In no subgroup can the model be compared with the other patients of its site.", rest)
    apart = [difference for difference in made if difference.is_apart]
    rest_of_site = f"from the rest in {_measures(evidence, 'or')}."
    if not apart:
        lead = f"In none of {in_words(len(made))} comparisons by site does a subgroup differ {rest_of_site}"
        return Sentence(lead, f"All CIs of the difference include 0{_widest(made)}. {rest}".strip())
    lead = f"In {part_of(len(apart), len(made))} comparisons by site a subgroup differs {rest_of_site}"
    named = named_with_the_rest([_named(evidence, difference) for difference in apart], MOST_NAMED)
    return Sentence(lead, f"There the CI of the difference excludes 0: {named}. {rest}".strip())


def _widest(made: Sequence[Difference]) -> str:
    """The widest interval of a difference in each measure: what a true one may still be."""
    parts = []
    for measure, at in dict.fromkeys((difference.measure, difference.threshold) for difference in made):
        bounds = [
            (difference.found.low or 0.0, difference.found.high or 0.0)
            for difference in made
            if difference.measure == measure
        ]
        low, high = max(bounds, key=lambda ends: ends[1] - ends[0])
        parts.append(f"{_name(measure, at)} {number(low)} to {number(high)}")
    return f" (widest: {listing(parts)})"


def part_of(count: int, among: int) -> str:
    """A part of a count, both in words or both in digits: two of ten, 3 of 12."""
    return f"{how_many(count)} of {in_words(among)}" if among <= 10 else f"{count:,} of {among:,}"


def _named(evidence: Evidence, difference: Difference) -> str:
    """A difference by its two values: which of them is the better one is not said by the difference."""
    at, name = difference.at, _name(difference.measure, difference.threshold)
    here = find_in_subgroup(evidence, difference.subset, difference.measure, difference.dataset.name, **at)
    if isinstance(here, Absent):
        return f"{name} differs by {number(difference.found.value)} in {difference.named}"
    values = f"{number(here.value)} against {number(here.value - difference.found.value)}"
    return f"{name} is {values} in {difference.named}{_case_mix(evidence, difference, at)}"


def _case_mix(evidence: Evidence, difference: Difference, at: At) -> str:
    """After a difference in AUROC, what both groups would have if the risks were right; else nothing."""
    found = expected_by_case_mix(evidence, difference.subset, difference.measure, difference.dataset.name, at)
    if found is None:
        return ""
    verdict = ": no worse than its case mix allows" if is_case_mix(evidence, difference) else ""
    return f" ({number(found[0])} against {number(found[1])} expected from case mix{verdict})"


def is_case_mix(evidence: Evidence, difference: Difference) -> bool:
    """Whether an AUROC that is lower than that of the others is no lower than the subgroup's own case mix allows."""
    at: At = {} if difference.of_class is None else {"class": difference.of_class}
    found = find_in_subgroup(evidence, difference.subset, difference.measure, difference.dataset.name, **at)
    expected = expected_by_case_mix(evidence, difference.subset, difference.measure, difference.dataset.name, at)
    if isinstance(found, Absent) or expected is None:
        return False
    return difference.found.value < 0 and found.value >= expected[0]


def expected_by_case_mix(
    evidence: Evidence, subset: Subset, measure: str, dataset: str, at: At
) -> tuple[float, float] | None:
    """The AUROC of a subgroup and of the other patients if every risk were right; None of other measures."""
    if measure != "auroc":
        return None
    here = find_in_subgroup(evidence, subset, CASE_MIX, dataset, **at)
    apart = _difference(evidence, subset, CASE_MIX, dataset, at)
    if isinstance(here, Absent) or isinstance(apart, Absent):
        return None
    return here.value, here.value - apart.value


def _name(measure: str, threshold: float | None = None) -> str:
    if threshold is not None:
        return f"{measure} at {setting(threshold)}"
    return "O/E" if measure == "oe_ratio" else "AUROC"


def _measures(evidence: Evidence, joint: str) -> str:
    """The measures whose differences are counted, as an end of a sentence."""
    names = list(dict.fromkeys(_name(measure, at) for measure, _, at in _judged(evidence)))
    return f"{', '.join(names[:-1])} {joint} {names[-1]}"


def by_chance(evidence: Evidence, made: int) -> float:
    """Of so many differences, how many would exclude 0 with no true one among them."""
    return made * (1 - evidence.release.release.level)


def multiplicity(evidence: Evidence) -> str:
    """How many differences were looked at, and how many would exclude 0 by chance alone."""
    made = len(tuple(_differences(evidence)))
    if not made:
        return ""
    over = between_groups.comparisons(evidence.subgroups.summaries, evidence.subgroups.results)
    together = f", and {in_words(over)} pooled over the sites in AUROC and O/E: {made + over} in all" if over else ""
    return (
        f"{sentence_case(counted(made, 'difference'))} at single sites in {_measures(evidence, 'and')} were looked at"
        f"{together}. With no true difference, {number(by_chance(evidence, made + over), 1)} of them would exclude 0 "
        f"by chance alone "
        f"(at {level_of(evidence)}): a difference at one site only is a reason to look again, not a finding. A CI that "
        "includes 0 does not show that patients are served alike: it may include large differences too."
    )


# ---- what there is --------------------------------------------------------------------------------------------------


def is_declared(evidence: Evidence) -> bool:
    """Whether any subgroup was declared."""
    return bool(evidence.subgroups.summaries)


def what_is_few(evidence: Evidence) -> str:
    """Which subgroups are too small to tell anything."""
    if classes.labels(evidence):
        few = f"fewer than {FEW_FOR_POOLING} patients of any class is too small to be judged over all classes"
        return f"A subgroup with {few}, and one with fewer of a class than that is too small to be judged for it."
    few = f"fewer than {FEW_FOR_POOLING} events or {FEW_FOR_POOLING} non-events"
    return f"A subgroup with {few} is too small to be judged, and is listed as such."


def is_few(size: SubgroupSize) -> bool:
    """Whether a subgroup is too small to tell anything."""
    return size.rarest < FEW_FOR_POOLING


def _external(evidence: Evidence) -> dict[str, DatasetSummary]:
    return {dataset.name: dataset for dataset in evidence.datasets if dataset.role == "external"}


def _sized(evidence: Evidence) -> list[tuple[SubgroupSummary, SubgroupSize]]:
    """The subgroups of the external sites, with their sizes."""
    external = _external(evidence)
    summaries = evidence.subgroups.summaries
    return [
        (summary, summary.size)
        for summary in summaries
        if summary.dataset in external and isinstance(summary.size, SubgroupSize)
    ]


def _few(evidence: Evidence) -> list[SubgroupSummary]:
    return [subgroup for subgroup, size in _sized(evidence) if is_few(size)]


def _differences(evidence: Evidence) -> Iterator[Difference]:
    """The differences at the external sites that have an interval; of two levels one, for the other is its mirror."""
    for column, labels in subgroup_columns(evidence).items():
        for dataset in _external(evidence).values():
            known = subgroup_sizes(evidence, column, dataset.name)
            held = [label for label in labels if label in known and known[label].n]
            for label in held[:1] if len(held) == 2 else held:
                for measure, of_class, threshold in _judged(evidence):
                    settings = {"class": of_class, "threshold": threshold}
                    at = {name: value for name, value in settings.items() if value is not None}
                    found = _difference(evidence, Subset(column, label), measure, dataset.name, at)
                    if isinstance(found, Estimate) and found.low is not None and found.high is not None:
                        yield Difference(column, label, dataset, measure, found, of_class, threshold)


def _judged(evidence: Evidence) -> list[tuple[str, str | None, float | None]]:
    """The measures whose differences are counted, with the class and the threshold."""
    every = [(measure, label, None) for measure in JUDGED for label in classes.labels(evidence) or (None,)]
    at = primary_threshold(evidence)
    of_missed = [] if at is None or classes.labels(evidence) else [("sensitivity", None, at)]
    return [*every, *of_missed]


def _difference(evidence: Evidence, subset: Subset, measure: str, dataset: str, at: At) -> Estimate | Absent:
    return find_in_subgroup(evidence, subset, measure, dataset, against=COMPLEMENT, **at)


def together(sizes: Sequence[SubgroupSize]) -> SubgroupSize:
    """The patients of one subgroup at several sites, as if they were one."""
    events = [size.events for size in sizes if size.events is not None]
    labels = dict.fromkeys(label for size in sizes for label in size.class_counts)
    unassigned = [size.unassigned for size in sizes if not isinstance(size.unassigned, Withheld)]
    withheld = next((size.unassigned for size in sizes if isinstance(size.unassigned, Withheld)), None)
    return SubgroupSize(
        n=sum(size.n for size in sizes),
        events=sum(events) if len(events) == len(sizes) else None,
        unassigned=withheld or sum(unassigned),
        class_counts={label: sum(size.class_counts.get(label, 0) for size in sizes) for label in labels},
    )


# ---- tables ---------------------------------------------------------------------------------------------------------

GAIN = "Gain: net benefit per 100 patients over the better of flagging everyone and flagging no one."
BY_CASE_MIX = " By case mix: the AUROC if every risk were right."

Asked = tuple[str, str, At]
"""The head of a column, its measure, and the settings at which it is taken."""


def tables(evidence: Evidence) -> tuple[Table, ...]:
    """The subgroups site by site, and where they differ from the other patients."""
    if classes.labels(evidence):
        return _tables_of_classes(evidence)
    main: list[Asked] = [("AUROC", "auroc", {}), ("By case mix", CASE_MIX, {}), ("O/E", "oe_ratio", {})]
    main.append(("Slope", "calibration_slope", {}))
    made = (*_across(evidence), *_apart(evidence, main, BY_CASE_MIX))
    return tuple(table for table in made if table.rows)


def _tables_of_classes(evidence: Evidence) -> tuple[Table, ...]:
    """For each column its subgroups over all classes, and how they differ."""
    means: list[Asked] = [("AUROC, mean", "auroc", {}), ("Brier score", "brier", {}), ("Log score", "log_score", {})]
    few = f" over all classes; too few: under {FEW_FOR_POOLING} patients of any class."
    note = f"{_bounded(evidence)}{few}"
    made = [_values(evidence, column, means, note) for column in subgroup_columns(evidence)]
    return tuple(table for table in (*made, *_apart(evidence, means)) if table.rows)


def _bounded(evidence: Evidence) -> str:
    return f"Value and {level_of(evidence)} interval"


def _title(column: str, rest: str) -> str:
    return sentence_case(f"{column}: {rest}.")


def _values(evidence: Evidence, column: str, asked: Sequence[Asked], note: str) -> Table:
    """The subgroups of a column site by site with their sizes, those that are too small included."""
    reasons = Reasons(evidence)
    rows: list[Row] = []
    for dataset in _shown(evidence, column, reasons):
        rows.append(Row(label_of(dataset), kind="group"))
        for label, size in subgroup_sizes(evidence, column, dataset.name).items():
            counts = (Cell(f"{size.n:,}", kind="plain"), Cell(f"{size.shown:,}", kind="plain"))
            if is_few(size):
                cells = tuple(Cell("too few", kind="absent") for _ in asked)
            else:
                cells = _cells(evidence, Subset(column, label), dataset.name, asked, reasons)
            rows.append(Row(sentence_case(label), (*counts, *cells)))
        rows += _withheld(evidence, column, dataset.name, reasons, len(asked))
    rows += _pooled(evidence, column, asked)
    counted_as = "Rarest class" if classes.labels(evidence) else "Events"
    return Table(
        name=anchor(f"table-subgroups-{column}"),
        title=_title(column, "the model in each subgroup"),
        note=note,
        head="Subgroup",
        columns=(Column("Patients"), Column(counted_as), *(Column(head, intervals=True) for head, _, _ in asked)),
        rows=tuple(rows),
        footnotes=(*reasons.footnotes(), *_unassigned(evidence, column)),
    )


def _across(evidence: Evidence) -> list[Table]:
    """The subgroups beside each other, site by site, with the measures whose differences are counted.

    All columns stand in one table where they have room and the same sites, else each in its own. What the sites give
    together stands in the figure.
    """
    columns = subgroup_columns(evidence)
    alone = [_of_columns(evidence, [column]) for column in columns]
    heads = [sentence_case(column) for column, labels in columns.items() for _ in labels]
    together = _by_measure(_of_columns(evidence, list(columns)), heads)
    alike = len({tuple(row.label for row in table.rows) for table in alone}) == 1
    if len(columns) > 1 and alike and label_fits(together):
        return [together]
    return [table if label_fits(table) else _by_measure(table) for table in alone]


def _of_columns(evidence: Evidence, columns: Sequence[str]) -> Table:
    """The subgroups of these columns at the sites that know the first of them, the measures of each side by side."""
    reasons = Reasons(evidence)
    sites, *_ = [_shown(evidence, column, reasons) for column in columns]
    subsets = [Subset(column, label) for column in columns for label in subgroup_columns(evidence)[column]]
    return Table(
        name=anchor(f"table-subgroups-{'-'.join(columns)}"),
        title=_title(listing(columns), "the model in each subgroup"),
        note=f"{_bounded(evidence)}; too few: under {FEW_FOR_POOLING} events or non-events. Patients and events "
        "of each, and further measures: results.json.",
        head="Site",
        columns=tuple(
            Column(_name(measure), intervals=True, over=sentence_case(subset.level))
            for subset in subsets
            for measure in JUDGED
        ),
        rows=tuple(
            Row(
                label_of(dataset),
                tuple(
                    _judged_cell(evidence, subset, dataset.name, measure, reasons)
                    for subset in subsets
                    for measure in JUDGED
                ),
            )
            for dataset in sites
        ),
        footnotes=(*reasons.footnotes(), *_unassigned(evidence, *columns)),
    )


def _by_measure(across: Table, over: Sequence[str] = ()) -> Table:
    """The same numbers with the measures below each other, where they have no room beside each other."""
    rows: list[Row] = []
    for index, measure in enumerate(JUDGED):
        rows.append(Row(_name(measure), kind="group"))
        rows += [replace(row, cells=row.cells[index :: len(JUDGED)]) for row in across.rows]
    levels = [column.over for column in across.columns[:: len(JUDGED)]]
    heads = zip(levels, over or [""] * len(levels), strict=True)
    columns = tuple(Column(level, intervals=True, over=head) for level, head in heads)
    return replace(across, columns=columns, rows=tuple(rows))


def _judged_cell(evidence: Evidence, subset: Subset, dataset: str, measure: str, reasons: Reasons) -> Cell:
    """A measure of a subgroup, or that it is too small, empty or withheld."""
    sizes = {
        summary.label: summary.size
        for summary in evidence.subgroups.summaries
        if (summary.dataset, summary.column) == (dataset, subset.column)
    }
    size = sizes.get(subset.level)
    if isinstance(size, Withheld):
        return reasons.cell(size)
    if not isinstance(size, SubgroupSize):
        return Cell("–", kind="absent")
    if is_few(size):
        return Cell("too few", kind="absent")
    return _cell(evidence, subset, dataset, ("", measure, {}), reasons)


def _withheld(evidence: Evidence, column: str, dataset: str, reasons: Reasons, width: int) -> list[Row]:
    """The subgroups of a dataset that are withheld, size and all."""
    return [
        Row(sentence_case(summary.label), tuple(reasons.cell(summary.size) for _ in range(width + 2)))
        for summary in evidence.subgroups.summaries
        if (summary.dataset, summary.column) == (dataset, column) and isinstance(summary.size, Withheld)
    ]


def _cells(
    evidence: Evidence, subset: Subset, dataset: str, asked: Sequence[Asked], reasons: Reasons
) -> tuple[Cell, ...]:
    return tuple(_cell(evidence, subset, dataset, row, reasons) for row in asked)


def _shown(evidence: Evidence, column: str, reasons: Reasons) -> list[DatasetSummary]:
    """The datasets that know the column; the others are named below the table."""
    kept = []
    for dataset in shown(evidence, ("external", "internal")):
        if subgroup_sizes(evidence, column, dataset.name):
            kept.append(dataset)
            continue
        summaries = [
            summary
            for summary in evidence.subgroups.summaries
            if (summary.dataset, summary.column) == (dataset.name, column)
        ]
        if any(isinstance(summary.size, Withheld) for summary in summaries):
            kept.append(dataset)
        elif summaries and isinstance(summaries[0].size, Absent):
            reasons.leave_out(label_of(dataset), dataset.name, summaries[0].size.reason)
    return kept


def _cell(evidence: Evidence, subset: Subset, dataset: str, asked: Asked, reasons: Reasons) -> Cell:
    _, measure, at = asked
    found = find_in_subgroup(evidence, subset, measure, dataset, **at)
    return cell(found, evidence.terms[measure], reasons, _is_wordy(evidence, measure, at))


def _is_wordy(evidence: Evidence, measure: str, at: At) -> bool:
    """Whether a bound of the column is negative, so that a dash would be misread."""
    found = [
        result.found
        for result in evidence.subgroups.results
        if result.measure == measure and dict(result.at) == dict(at)
    ]
    return any(isinstance(estimate, Estimate) and estimate.low is not None and estimate.low < 0 for estimate in found)


def _pooled(evidence: Evidence, column: str, asked: Sequence[Asked]) -> list[Row]:
    """The rows of all sites together: what has a scale on which it is pooled."""
    rows = []
    for label in subgroup_columns(evidence)[column]:
        found = [find_in_subgroup(evidence, Subset(column, label), name, POOLED, **at) for _, name, at in asked]
        usable = [estimate for estimate in found if isinstance(estimate, Estimate) and is_telling(estimate)]
        if not usable:
            continue
        known = usable[0]
        cells = [
            Cell(f"{known.n:,}", kind="plain"),
            Cell("" if known.events is None else f"{known.events:,}", kind="plain"),
        ]
        for (_, measure, at), estimate in zip(asked, found, strict=True):
            if isinstance(estimate, Absent):
                cells.append(NOT_COMPUTED)
            else:
                wordy = _is_wordy(evidence, measure, at)
                cells.append(cell(estimate, evidence.terms[measure], Reasons(evidence), wordy))
        rows.append(Row(sentence_case(label), tuple(cells)))
    return [Row(_called_together(evidence), kind="group"), *rows] if rows else []


def _called_together(evidence: Evidence) -> str:
    """What all sites together are called: their rows, or of means over the classes the sites."""
    return ALL_POOLED if classes.labels(evidence) else ALL_STRATIFIED


ALL_STRATIFIED = "All, stratified"


def _unassigned(evidence: Evidence, *columns: str) -> tuple[str, ...]:
    """How many patients are in no subgroup of each column, site by site; columns of which the same is said share it."""
    of_columns: dict[str, list[str]] = {}
    for column in columns:
        if lost := _in_none(evidence, column):
            of_columns.setdefault(lost, []).append(column)
    return tuple(
        f"In no subgroup{f' of {listing(named)}' if len(columns) > 1 else ''}, the value missing or not among the "
        f"levels: {lost}."
        for lost, named in of_columns.items()
    )


def _in_none(evidence: Evidence, column: str) -> str:
    """The sites with patients in no subgroup of a column, with how many."""
    lost = []
    for dataset in shown(evidence, ("external", "internal")):
        known = subgroup_sizes(evidence, column, dataset.name)
        count = next(iter(known.values())).unassigned if known else 0
        if isinstance(count, Withheld):
            lost.append(f"{label_of(dataset)} withheld")
        elif count:
            lost.append(f"{label_of(dataset)} {count:,}")
    return listing(lost)


def _apart(evidence: Evidence, asked: Sequence[Asked], case_mix: str = "") -> list[Table]:
    """How far each subgroup lies from the other patients of its site; of two levels one row a site.

    Over all sites each stands there, of single sites those whose interval excludes 0.
    """
    reasons = Reasons(evidence)
    rows = [row for column in subgroup_columns(evidence) for row in _rows_apart(evidence, column, asked, reasons)]
    if not rows:
        return []
    # Of several classes the differences of the means are not those that the finding counts.
    several = bool(classes.labels(evidence))
    standing = "" if several else " Of single sites only what excludes 0 in AUROC or O/E."
    pooled = (
        f" {ALL_POOLED}: mean of the differences, each within one site."
        if several
        else " Stratified: all rows of both groups, pairs and intercepts within sites."
    )
    return [
        Table(
            name="table-subgroup-differences",
            title="Each subgroup minus the other patients of its site.",
            note=f"Difference and {level_of(evidence)} interval (square-and-add), on the plain scale for ratios too."
            f"{standing}{pooled}{case_mix}",
            head="Subgroup",
            columns=tuple(Column(head, intervals=measure != CASE_MIX) for head, measure, _ in asked),
            rows=tuple(rows),
            footnotes=reasons.footnotes(),
        )
    ]


def _rows_apart(evidence: Evidence, column: str, asked: Sequence[Asked], reasons: Reasons) -> list[Row]:
    """The differences of one column, place by place."""
    labels = subgroup_columns(evidence)[column]
    known = shown(evidence, ("external", "internal"))
    places = [(label_of(dataset), dataset.name) for dataset in known] + [(_called_together(evidence), POOLED)]
    mirrored = len(labels) == 2
    distinct = _distinct(evidence, column)
    several = bool(classes.labels(evidence))
    rows: list[Row] = []
    for called, dataset in places:
        found = [
            (label, [_difference(evidence, Subset(column, label), measure, dataset, at) for _, measure, at in asked])
            for label in (labels[:1] if mirrored else labels)
        ]
        made = [
            (label, row)
            for label, row in found
            if any(_is_printed(estimate, dataset) for estimate in row)
            and (several or dataset == POOLED or any((label, dataset, measure) in distinct for _, measure, _ in asked))
        ]
        if made:
            rows.append(
                Row(
                    f"{sentence_case(column)}, {within_sentence(called) if dataset == POOLED else called}", kind="group"
                )
            )
        for label, row in made:
            cells = tuple(
                _apart_cell(evidence, dataset, measure, estimate, reasons, (label, dataset, measure) in distinct)
                for (_, measure, _), estimate in zip(asked, row, strict=True)
            )
            which = f"{label} minus {labels[1]}" if mirrored else label
            rows.append(Row(sentence_case(which), cells))
    return rows


def _is_printed(found: Estimate | Absent, dataset: str) -> bool:
    return isinstance(found, Estimate) and (dataset != POOLED or is_telling(found))


def _distinct(evidence: Evidence, column: str) -> set[tuple[str, str, str]]:
    """The differences of a column that stand out in the tables, by label, dataset and measure."""
    return {
        (difference.label, difference.dataset.name, difference.measure)
        for difference in _differences(evidence)
        if difference.column == column and difference.measure in JUDGED and not difference.at and difference.is_apart
    }


def _apart_cell(
    evidence: Evidence, dataset: str, measure: str, found: Estimate | Absent, reasons: Reasons, stands_out: bool
) -> Cell:
    if isinstance(found, Absent):
        return NOT_COMPUTED if dataset == POOLED else reasons.cell(found)
    made = cell(found, evidence.terms[measure], reasons, wordy=True)
    if measure == CASE_MIX:
        # Beside an AUROC its value is enough, and four intervals have no room.
        return Cell(made.text, kind="plain")
    return Cell(made.text, made.interval, "alert") if stands_out else made


def compared(evidence: Evidence, dataset: str | None = None) -> tuple[Difference, ...]:
    """Every comparison of a subgroup with the other patients of its site that is counted, at one dataset or at all."""
    return tuple(difference for difference in _differences(evidence) if dataset in (None, difference.dataset.name))


CHAPTER = Chapter(
    "subgroups",
    "Subgroups",
    finding,
    has=lambda evidence: bool(evidence.subgroups.summaries),
    fill="Declare a [[subgroup]].",
)
