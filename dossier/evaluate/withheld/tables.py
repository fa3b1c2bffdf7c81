"""Which counts are small, and which others would tell them: totals minus what is shown, one threshold minus another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dossier.facts import Fact
from dossier.types import (
    POOLED,
    Absent,
    At,
    Curve,
    DatasetSummary,
    Estimate,
    Evidence,
    Result,
    SubgroupSize,
    SubgroupSummary,
    Subset,
    Withheld,
)

Place = tuple[str, Subset | None, str | None]
"""A dataset, its subgroup and its class, where there are any."""

Cells = tuple[float, float, float, float]
"""True and false positives, false and true negatives."""

HALF = 0.5
EXACT = 1e-6
"""How far a count that is worked back from a share may lie from a whole number."""


def is_few(count: float, smallest: int) -> bool:
    """Whether a count is at least one patient and below the smallest that is printed."""
    return EXACT < count < smallest - EXACT


def splits_few(part: float, whole: float, smallest: int) -> bool:
    """Whether a part, or what is left of the whole, is a small count."""
    return is_few(part, smallest) or is_few(whole - part, smallest)


def rounded_down(count: int, smallest: int) -> int:
    """A count in whole steps of the smallest that is printed."""
    return count // smallest * smallest


@dataclass(frozen=True)
class Policy:
    """What may not be shown of the evidence, and why."""

    smallest: Mapping[str, int]
    """The smallest count that is printed, by dataset; of pooled results and the reader study that of the strictest."""
    outcomes: Mapping[str, Withheld]
    """The datasets with few events, non-events or rows of a class."""
    subgroups: Mapping[tuple[str, Subset], Withheld]
    """The subgroups that are small, or would tell the size of one that is."""
    unassigned: Mapping[tuple[str, str], Withheld]
    """The datasets and columns whose count of rows in no subgroup is small, or would tell one that is."""
    thresholds: Mapping[tuple[Place, float], Withheld]
    """The thresholds whose table of right and wrong holds a small count, by place."""
    halves: Mapping[Place, Withheld]
    """The places at which the table at one half does."""

    def threshold(self, place: Place, at: float | str | None) -> Withheld | None:
        """Why nothing is said at a threshold, if so."""
        return self.thresholds.get((place, float(at))) if isinstance(at, int | float) else None

    def summary(self, one: SubgroupSummary) -> SubgroupSummary:
        """The size of a subgroup as it may be shown."""
        found = self.subgroups.get((one.dataset, one.subset))
        if isinstance(one.size, Absent):
            return one
        if found is not None:
            return replace(one, size=found)
        unassigned = self.unassigned.get((one.dataset, one.column), one.size.unassigned)
        return replace(one, size=replace(one.size, unassigned=unassigned))


def policy(evidence: Evidence) -> Policy:
    """What may not be shown, worked out on the complete evidence."""
    smallest = {one.name: one.minimum_cell for one in evidence.datasets}
    strictest = max(smallest.values())
    outcomes = {one.name: found for one in evidence.datasets if (found := _outcome(one)) is not None}
    subgroups, unassigned = _subgroups(evidence, smallest, outcomes)
    thresholds, halves = _thresholds(evidence, smallest, subgroups)
    return Policy(_Else(smallest, strictest), outcomes, subgroups, unassigned, thresholds, halves)


class _Else(dict[str, int]):
    """A dictionary with one value for what belongs to no dataset."""

    def __init__(self, known: Mapping[str, int], strictest: int) -> None:
        super().__init__(known)
        self.strictest = strictest

    def __missing__(self, name: str) -> int:
        return self.strictest


def _outcome(dataset: DatasetSummary) -> Withheld | None:
    """Why nothing that rests on the outcome of a dataset is shown, if so."""
    smallest = dataset.minimum_cell
    if any(is_few(count, smallest) for count in dataset.class_counts.values()):
        return Withheld(Fact("few_rows_of_a_class", dataset=dataset.name, below=smallest), smallest)
    if dataset.events is not None and splits_few(dataset.events, dataset.n, smallest):
        return Withheld(Fact("few_events_or_non_events", dataset=dataset.name, below=smallest), smallest)
    return None


# ---- subgroups ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    """One line of the table of a column: a subgroup, or the rows in none, whose events are told by the others."""

    label: str | None
    n: int
    events: int

    def is_small(self, smallest: int) -> bool:
        return is_few(self.n, smallest) or splits_few(self.events, self.n, smallest)


def _subgroups(
    evidence: Evidence, smallest: Mapping[str, int], outcomes: Mapping[str, Withheld]
) -> tuple[dict[tuple[str, Subset], Withheld], dict[tuple[str, str], Withheld]]:
    """The subgroups, and the rows in none, that are withheld."""
    hidden: dict[tuple[str, Subset], Withheld] = {}
    unassigned: dict[tuple[str, str], Withheld] = {}
    for dataset in evidence.datasets:
        below = smallest[dataset.name]
        here = [one for one in evidence.subgroups.summaries if one.dataset == dataset.name]
        for column in dict.fromkeys(one.column for one in here):
            known = [one for one in here if one.column == column and isinstance(one.size, SubgroupSize)]
            if dataset.class_counts and below > 0:
                reason = Fact("subgroups_of_several_classes")
                all_of_it = Withheld(reason, below)
                hidden |= {(dataset.name, one.subset): all_of_it for one in known}
                unassigned[dataset.name, column] = all_of_it
                continue
            rows = _rows(dataset, known)
            small = dataset.name in outcomes
            lines = rows if small else suppressed(rows, below)
            for one in known:
                row = next((row for row in lines if row.label == one.label), None)
                if row is not None:
                    hidden[dataset.name, one.subset] = outcomes.get(dataset.name) or _of_subgroup(row, below)
            if any(row.label is None for row in lines):
                why = Fact("few_in_no_subgroup", dataset=dataset.name, column=column, below=below)
                unassigned[dataset.name, column] = Withheld(why, below)
    return hidden, unassigned


def _rows(dataset: DatasetSummary, known: Sequence[SubgroupSummary]) -> list[_Row]:
    rows = [_Row(one.label, one.size.n, one.size.shown) for one in known if isinstance(one.size, SubgroupSize)]
    n, events = dataset.n - sum(row.n for row in rows), (dataset.events or 0) - sum(row.events for row in rows)
    return [*rows, _Row(None, n, events)] if n > 0 else rows


def _of_subgroup(row: _Row, below: int) -> Withheld:
    if row.is_small(below):
        return Withheld(Fact("few_in_subgroup", below=below), below)
    return Withheld(Fact("small_count_of_other_subgroup", below=below), below)


def suppressed(rows: Sequence[_Row], below: int) -> list[_Row]:
    """The lines that are withheld: the small ones, and the next smallest until what is left of the total tells none.

    The withheld lines together must be at least two, and hold no small count of patients, events or non-events.
    """
    hidden = [row for row in rows if row.is_small(below)]
    others = sorted((row for row in rows if row not in hidden and row.n), key=lambda row: (row.n, row.events))
    while hidden and others and _tells(hidden, below):
        hidden.append(others.pop(0))
    return hidden


def _tells(hidden: Sequence[_Row], below: int) -> bool:
    n, events = sum(row.n for row in hidden), sum(row.events for row in hidden)
    filled = [row for row in hidden if row.n]
    return len(filled) < 2 or n < 2 * below or min(events, n - events) < below


# ---- thresholds -----------------------------------------------------------------------------------------------------


def _thresholds(
    evidence: Evidence, smallest: Mapping[str, int], subgroups: Mapping[tuple[str, Subset], Withheld]
) -> tuple[dict[tuple[Place, float], Withheld], dict[Place, Withheld]]:
    """The thresholds, and one half, whose tables hold or tell a small count; the first declared is kept first."""
    withheld: dict[tuple[Place, float], Withheld] = {}
    halves: dict[Place, Withheld] = {}
    known = dict(_tables(evidence))
    declared = [float(one) for one in evidence.release.thresholds.declared]
    for place in dict.fromkeys(place for place, _ in known):
        below = smallest[place[0]]
        why = Withheld(Fact("few_in_a_cell_of_decisions", below=below), below)
        kept: list[Cells] = []
        for at in [*declared, *([] if HALF in declared else [HALF])]:
            tried = known.get((place, at), [])
            told = any(
                _holds_few(cells, below) or any(_slice_few(cells, one, below) for one in kept) for cells in tried
            )
            if told:
                withheld[place, at] = why
            else:
                kept += tried
        if (place, HALF) in withheld:
            halves[place] = why
    _complements(evidence, withheld, subgroups, smallest)
    return withheld, halves


def _holds_few(cells: Cells, below: int) -> bool:
    return any(is_few(count, below) for count in cells)


def _slice_few(cells: Cells, other: Cells, below: int) -> bool:
    """Whether the patients between two thresholds are few."""
    return is_few(abs(cells[0] - other[0]), below) or is_few(abs(cells[1] - other[1]), below)


def _tables(evidence: Evidence) -> Iterator[tuple[tuple[Place, float], list[Cells]]]:
    """The tables that can be worked back from what is estimated at each threshold, and at one half."""
    rates: dict[tuple[Place, float], dict[str, float]] = {}
    for result in evidence.results:
        at = result.at.get("threshold")
        if result.measure in ("sensitivity", "specificity") and at is not None and isinstance(result.found, Estimate):
            rates.setdefault((place_of(result.dataset, None, result.at), float(at)), {})[result.measure] = (
                result.found.value
            )
    sizes = {one.name: one for one in evidence.datasets}
    for (place, at), pair in rates.items():
        if place[0] in sizes and len(pair) == 2:
            yield (place, at), [_cells(sizes[place[0]], place, pair["sensitivity"], pair["specificity"])]
    declared = [float(one) for one in evidence.release.thresholds.declared]
    for curve in evidence.curves:
        if curve.curve == "h_accuracy_by_priority" and isinstance(curve.found, Curve) and HALF not in declared:
            ends = curve.found.columns["h_accuracy"]
            place = place_of(curve.dataset, None, curve.at)
            yield (place, HALF), [_cells(sizes[curve.dataset], place, ends[-1] or 0.0, ends[0] or 0.0)]
    yield from _of_subgroups(evidence)


def _cells(dataset: DatasetSummary, place: Place, sensitivity: float, specificity: float) -> Cells:
    label = place[2]
    events = (dataset.events or 0) if label is None else dataset.class_counts.get(label, 0)
    others = dataset.n - events
    return (
        sensitivity * events,
        (1 - specificity) * others,
        (1 - sensitivity) * events,
        specificity * others,
    )


def _of_subgroups(evidence: Evidence) -> Iterator[tuple[tuple[Place, float], list[Cells]]]:
    """Every table that a subgroup's net benefit allows: tp/n - fp/n w has few solutions in whole numbers."""
    sizes = {(one.dataset, one.subset): one.size for one in evidence.subgroups.summaries}
    for result in evidence.subgroups.results:
        size = None if result.subset is None else sizes.get((result.dataset, result.subset))
        plain = result.measure == "net_benefit" and set(result.at) == {"threshold"}
        if plain and isinstance(result.found, Estimate) and isinstance(size, SubgroupSize) and size.events is not None:
            at = float(result.at["threshold"])
            yield (
                (place_of(result.dataset, result.subset, {}), at),
                list(solutions(result.found.value, at, size.n, size.events)),
            )


def solutions(net_benefit: float, threshold: float, n: int, events: int) -> Iterator[Cells]:
    """The tables of whole numbers that have this net benefit at this threshold."""
    odds = threshold / (1 - threshold)
    others = n - events
    for right in range(events + 1):
        wrong = (right - net_benefit * n) / odds
        if -EXACT <= wrong <= others + EXACT and abs(wrong - round(wrong)) < EXACT:
            whole = round(wrong)
            yield (right, whole, events - right, others - whole)


def _complements(
    evidence: Evidence,
    withheld: dict[tuple[Place, float], Withheld],
    subgroups: Mapping[tuple[str, Subset], Withheld],
    smallest: Mapping[str, int],
) -> None:
    """Withhold a threshold in one more subgroup where the site minus the others would give the table of one.

    Where the site itself is withheld at a threshold, so are all of its subgroups.
    """
    declared = [float(one) for one in evidence.release.thresholds.declared]
    for dataset in evidence.datasets:
        here = [one for one in evidence.subgroups.summaries if one.dataset == dataset.name]
        for column in dict.fromkeys(one.column for one in here):
            known = [one for one in here if one.column == column and isinstance(one.size, SubgroupSize)]
            shown = [one for one in known if (dataset.name, one.subset) not in subgroups]
            shown.sort(key=lambda one: one.size.n if isinstance(one.size, SubgroupSize) else 0)
            rest = dataset.n - sum(one.size.n for one in known if isinstance(one.size, SubgroupSize))
            for at in declared:
                whole = withheld.get(((dataset.name, None, None), at))
                below = smallest[dataset.name]
                why = Withheld(Fact("small_count_of_other_subgroup_at_threshold", below=below), below)
                if whole is not None:
                    _withhold(withheld, dataset.name, shown, at, whole)
                    continue
                gone = [one for one in shown if ((dataset.name, one.subset, None), at) in withheld]
                hidden = len(gone) + (len(known) - len(shown)) + (rest > 0)
                if len(gone) == hidden == 1:
                    _withhold(withheld, dataset.name, [one for one in shown if one not in gone][:1], at, why)


def _withhold(
    withheld: dict[tuple[Place, float], Withheld],
    dataset: str,
    which: Iterable[SubgroupSummary],
    at: float,
    why: Withheld,
) -> None:
    for one in which:
        withheld.setdefault(((dataset, one.subset, None), at), why)


def place_of(dataset: str, subset: Subset | None, at: At) -> Place:
    """Where a result stands."""
    label = at.get("class")
    return dataset, subset, None if label is None else str(label)


def external_names(evidence: Evidence) -> list[str]:
    """The names of the external datasets."""
    return [one.name for one in evidence.datasets if one.role == "external"]


def is_pooled(result: Result) -> bool:
    """Whether a result is of all sites together."""
    return result.dataset == POOLED
