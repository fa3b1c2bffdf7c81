"""Other patients of whom dossier prints the same: each shows that a small count can be another number too.

The solver of `tests/attacker.py` bounds what somebody can work out of what that solver is given. Here other rows are
made, and dossier evaluates them: their results.json is the same to the byte, coefficients of fits and standard errors
too. So many numbers are left to whoever reads it, by whatever method, whether or not a program could find them.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, milp

from dossier.core.register import REGISTER, Metric, fill
from dossier.core.types import Absent, Dataset, Floats, Study
from dossier.evaluate import disclosure
from dossier.evaluate.disclosure import chains, measures
from dossier.evaluate.site import value
from tests.attacker import SMALLEST, site_of
from tests.test_neighbours import STEPS, document

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

NEAREST = 4
"""Persons on either side of each step of the risk who are tried beyond it."""
NEAREST_OF_CELL = 16
"""The same at the two ends of the cell."""
WITHIN = 100
"""Persons who are tried elsewhere between the same two steps."""
OTHERWISE = 60
"""Persons who are tried with the other outcome."""
AIMED = 16
"""Persons of another level, outcome or class who are tried in the cell, and of the cell out of it."""
FURTHEST = 14
"""How far from the truth a number is tried."""
TRIES = 5
"""Of a number."""
SECONDS = 120.0
"""Of the solver, for a try."""
MARGIN = 0.03
"""Of a step, kept free at either end: what persons add to a fit is not quite their sum."""


@dataclass(frozen=True)
class Cell:
    """Persons who have, in each of some columns, a value from one number up to another."""

    held: Mapping[str, tuple[float, float]]
    """Columns of the dataset, of subgroups, or predictors; of a level its place."""

    def count(self, dataset: Dataset) -> int:
        """How many they are."""
        return len(np.unique(_persons(dataset)[np.logical_and.reduce([*self._each(dataset).values()])]))

    def _each(self, dataset: Dataset) -> dict[str, Bools]:
        every = {name: values_of(dataset, name) for name in self.held}
        return {name: (every[name] >= low) & (every[name] < high) for name, (low, high) in self.held.items()}

    def but_for(self, dataset: Dataset, column: str) -> Bools:
        """Who has all the other values."""
        others = [held for name, held in self._each(dataset).items() if name != column]
        return np.asarray(np.logical_and.reduce([np.full(dataset.rows_analysed, True), *others]))


@dataclass(frozen=True)
class Move:
    """The rows of a person, a column, and the value that they get."""

    rows: Ints
    column: str
    to: float
    is_partial: bool = False
    """Whether any part of the way can be gone, for it crosses no step."""


def values_of(dataset: Dataset, column: str) -> Floats:
    """A column; of subgroups the place of the level, -1 where there is none."""
    own = getattr(dataset, column, None)
    if own is not None:
        return np.asarray(own, dtype=float)
    predictor = next((feature for feature in dataset.predictors if feature.name == column), None)
    if predictor is not None:
        return np.where(np.isnan(predictor.values), -1.0, predictor.values)
    found = np.full(dataset.rows_analysed, -1.0)
    for index, level in enumerate(_levels(dataset, column)):
        found[level] = index
    return found


def _levels(dataset: Dataset, column: str) -> list[Bools]:
    return [
        subgroup.rows
        for subgroup in dataset.subgroups
        if subgroup.column == column and not isinstance(subgroup.rows, Absent)
    ]


def with_moves(dataset: Dataset, moves: Sequence[Move]) -> Dataset:
    """The dataset with other values."""
    for column in dict.fromkeys(move.column for move in moves):
        values = values_of(dataset, column).copy()
        for move in moves:
            if move.column == column:
                values[move.rows] = move.to
        dataset = _with_column(dataset, column, values)
    return dataset


def _with_column(dataset: Dataset, column: str, values: Floats) -> Dataset:
    if getattr(dataset, column, None) is not None:
        made: dict[str, Any] = {column: values.astype(np.int64) if column == "classes" else values}
        return dataclasses.replace(dataset, **made)
    predictors = tuple(
        dataclasses.replace(predictor, values=np.where(values < 0, np.nan, values))
        if predictor.name == column
        else predictor
        for predictor in dataset.predictors
    )
    return dataclasses.replace(dataset, predictors=predictors)


def _persons(dataset: Dataset) -> Ints:
    return np.arange(dataset.rows_analysed) if dataset.cluster is None else dataset.cluster


# ---- what is printed of a dataset, as numbers with the range that each is printed for -------------------------------


@dataclass(frozen=True)
class Told:
    """Numbers of a dataset, from where to where each is printed as the same, and in which steps; 0 for a count."""

    numbers: Floats
    low: Floats
    high: Floats
    steps: Floats

    def holds(self, numbers: Floats) -> bool:
        """Whether these are printed as the same."""
        return bool(((numbers >= self.low) & (numbers <= self.high)).all())

    @property
    def aims(self) -> tuple[Floats, Floats]:
        """What is aimed at, off both ends; less far off where the number itself is near to one."""
        low, high = (
            end + sign * np.clip(sign * (self.numbers - end), self.steps * MARGIN / 3, self.steps * MARGIN)
            for end, sign in ((self.low, 1), (self.high, -1))
        )
        return low, high


def told(study: Study) -> Told:
    """Every count that is given as a range, and every number that is given in steps."""
    site = site_of(study)
    policy = disclosure._Policy.of(site).coarsened()
    counted = [(count, policy.wide) for count in _counts(study, site.dataset)]
    rows: list[tuple[float, float, float, float]] = [_range(*pair) for pair in (*counted, *_categories(policy))]
    groups: list[tuple[object, Bools]] = [(policy.all_rows, np.full(site.dataset.rows_analysed, True))]
    groups += [
        (policy._of_group(subgroup), subgroup.rows)
        for subgroup in site.dataset.subgroups
        if not isinstance(subgroup.rows, Absent)
    ]
    for group, of_group in groups:
        if isinstance(group, measures.Protected) and group.risks and not site.dataset.class_labels:
            rows += _in_steps(site, group, of_group)
    return Told(*(np.array(column, dtype=float) for column in zip(*rows, strict=True)))


def _range(count: int, wide: int) -> tuple[float, float, float, float]:
    found = chains.ranged(count, wide)
    return count, found.low, found.high, 0.0


def _counts(study: Study, dataset: Dataset) -> list[int]:
    if dataset.classes is not None:
        return [int((dataset.classes == index).sum()) for index in range(len(dataset.class_labels))]
    if dataset.outcome is None or dataset.risk is None:
        raise TypeError("patients have an outcome and a risk")
    at = np.array(chains.grid(study.release.thresholds.declared))
    reached = dataset.risk[:, None] >= at
    groups = [np.full(dataset.rows_analysed, True)]
    groups += [subgroup.rows for subgroup in dataset.subgroups if not isinstance(subgroup.rows, Absent)]
    kinds = [group & (dataset.outcome == label) for group in groups for label in (0, 1)]
    return [int(count) for kind in kinds for count in reached[kind].sum(axis=0)]


def _categories(policy: disclosure._Policy) -> Iterator[tuple[int, int]]:
    """How many have each category of a predictor, or none, each with the width of its range."""
    dataset = policy.site.dataset
    for predictor in dataset.predictors:
        for position in () if predictor.levels is None else (*range(len(predictor.levels)), np.nan):
            held = np.isnan(predictor.values) if np.isnan(position) else predictor.values == position
            yield int(held.sum()), policy.wide


def _in_steps(site: Any, group: measures.Protected, rows: Bools) -> Iterator[tuple[float, float, float, float]]:
    dataset = site.dataset
    given = {name: getattr(dataset, name)[rows] for name in ("outcome", "risk")}
    if dataset.rival is not None:
        given["rival"] = dataset.rival[rows]
    if group.few("ratio") is None:
        yield _window(float(given["risk"].mean()), group.step("ratio"))
    for metric in _metrics():
        found = value(site, metric, {}, **given)
        other = site.release.rivals[0].name if metric.fixed else ""
        term = metric.term.measure
        if isinstance(found, Absent) or group.few(metric.protection, other) is not None:
            continue
        has_error = measures.error_of(metric.protection, group.counts, 0.0, term) is not None
        if has_error and not measures.is_of_few(group, metric.protection, found.value):
            yield _window(found.value, group.step(metric.protection, term))


def _metrics() -> list[Metric]:
    fill("metrics")
    asked = ("auroc", "auroc_of_rival", "brier", "calibration_intercept", "calibration_slope")
    found = [REGISTER.metrics[name] for name in asked]
    assert {metric.protection for metric in found} | {"ratio"} == set(STEPS)
    return found


def _window(number: float, step: float) -> tuple[float, float, float, float]:
    shown = measures.in_steps(number, step)
    return number, shown - step / 2, shown + step / 2, step


# ---- other patients -------------------------------------------------------------------------------------------------


def moves_of(study: Study, cell: Cell, rng: np.random.Generator) -> list[Move]:
    """What can be tried: persons into the cell and out of it, and others who make up for them.

    Nobody changes the subgroup: the numbers are left to who knows how it follows from other variables, too.
    """
    dataset = site_of(study).dataset
    of_person = _persons(dataset)
    units = [np.flatnonzero(of_person == each) for each in np.unique(of_person)]
    free = [column for column in cell.held if not _levels(dataset, column)]
    found = [move for column in free for move in _aimed(dataset, cell, column, units, rng)]
    if dataset.risk is None or dataset.outcome is None:
        return found
    edges = chains.grid(study.release.thresholds.declared)
    for column in ("risk", "rival") if "rival" in cell.held else ("risk",):
        values = values_of(dataset, column)
        for label in (0, 1):
            with_it = [rows for rows in units if dataset.outcome[rows[0]] == label]
            found += [move for edge in edges[1:] for move in _over(edge, column, values, with_it, NEAREST, rng)]
        found += _within_steps(column, values, (*edges, 1.0), units, rng)
    for position in rng.permutation(len(units))[:OTHERWISE]:
        found.append(Move(units[position], "outcome", 1 - float(dataset.outcome[units[position][0]])))
    return found


def _over(
    edge: float, column: str, values: Floats, units: Sequence[Ints], most: int, rng: np.random.Generator
) -> Iterator[Move]:
    """The nearest on either side of a step go beyond it."""
    below = sorted((rows for rows in units if values[rows].max() < edge), key=lambda rows: -values[rows].max())
    above = sorted((rows for rows in units if values[rows].min() >= edge), key=lambda rows: values[rows].min())
    for rows, sign in ((below[:most], 1), (above[:most], -1)):
        yield from (Move(row, column, edge + sign * rng.uniform(0.0005, 0.004)) for row in rows)


def _aimed(
    dataset: Dataset, cell: Cell, column: str, units: Sequence[Ints], rng: np.random.Generator
) -> Iterator[Move]:
    """Persons who fit but for this column, into the cell, and persons of the cell out of it."""
    low, high = cell.held[column]
    values = values_of(dataset, column)
    fitting = cell.but_for(dataset, column)
    able = [rows for rows in units if fitting[rows].all()]
    if column in ("risk", "rival"):
        for edge in (low, high):
            if 0 < edge < 1:
                yield from _over(edge, column, values, able, NEAREST_OF_CELL, rng)
        return
    kinds = np.unique(values)
    inside = [rows for rows in able if low <= values[rows[0]] < high]
    outside = [rows for rows in able if not low <= values[rows[0]] < high]
    for side, to in ((inside, [kind for kind in kinds if not low <= kind < high]), (outside, [low])):
        for position in rng.permutation(len(side))[:AIMED]:
            yield from (Move(side[position], column, float(each)) for each in to)


def _within_steps(
    column: str, values: Floats, edges: Sequence[float], units: Sequence[Ints], rng: np.random.Generator
) -> Iterator[Move]:
    """Anybody anywhere else between the same two steps: no count moves, and the sums do."""
    for each in rng.permutation(len(units))[:WITHIN]:
        rows = units[each]
        index = int(np.searchsorted(edges, values[rows].max(), side="right")) - 1
        if values[rows].min() >= edges[index]:
            for share in (0.02, 0.98):
                yield Move(
                    rows, column, float(edges[index] + share * (edges[index + 1] - edges[index])), is_partial=True
                )


def others(study: Study, cell: Cell, seed: int) -> Iterator[tuple[int, Study]]:
    """The numbers that the cell can have, each with patients of whom dossier prints the same."""
    rng = np.random.default_rng(seed)
    dataset = site_of(study).dataset
    true, first, printed = cell.count(dataset), told(study), document(study)
    yield true, study
    moves = moves_of(study, cell, rng)
    moved = [with_moves(dataset, [move]) for move in moves]
    effects = np.array([told(_of(study, summary)).numbers - first.numbers for summary in moved])
    adds = np.array([cell.count(summary) - true for summary in moved])
    program = Program(moves, effects, adds, 1 + rng.random(len(moves)))
    for asked in sorted(range(max(true - FURTHEST, 0), true + FURTHEST + 1), key=lambda number: abs(number - true))[1:]:
        for other in _tried(study, program, first, asked - true):
            shown = _of(study, other)
            if cell.count(other) == asked and document(shown) == printed:
                yield asked, shown
                break


def _tried(study: Study, program: Program, first: Told, more: int) -> Iterator[Dataset]:
    """Patients whose counts and steps are those that are printed."""
    dataset = site_of(study).dataset
    numbers = first.numbers
    for _ in range(TRIES):
        taken = program.solved(numbers, first.aims, more)
        if taken is None:
            return
        chosen = [_part(dataset, *pair) for pair in zip(program.moves, taken, strict=True) if pair[1]]
        other = with_moves(dataset, chosen)
        found = told(_of(study, other)).numbers
        if first.holds(found):
            yield other
        # What persons add together is not quite the sum of what each adds: the next try knows by how much.
        numbers = found - taken @ program.effects


def _of(study: Study, dataset: Dataset) -> Study:
    return dataclasses.replace(study, datasets=(dataset,))


@dataclass(frozen=True)
class Program:
    """The moves that can be made, what each adds to every number and to the cell, and what it costs."""

    moves: Sequence[Move]
    effects: Floats
    adds: Floats
    costs: Floats

    def solved(self, numbers: Floats, aims: tuple[Floats, Floats], more: int) -> Floats | None:
        """How far the fewest moves go that make the cell so many more, and leave in its range what is printed."""
        moving = np.abs(self.effects).max(axis=0) > 0
        rows: dict[int, list[int]] = {}
        for index, move in enumerate(self.moves):
            rows.setdefault(int(move.rows[0]), []).append(index)
        once = np.zeros((len(rows), len(self.moves)))
        for number, places in enumerate(rows.values()):
            once[number, places] = 1
        low, high = (ends[moving] - numbers[moving] for ends in aims)
        known = [
            LinearConstraint(self.effects[:, moving].T, low, high),
            LinearConstraint(once, 0, 1),
            LinearConstraint(self.adds[None, :], more, more),
        ]
        answer = milp(
            self.costs,
            constraints=known,
            integrality=np.array([float(not move.is_partial) for move in self.moves]),
            bounds=(0, 1),
            options={"time_limit": SECONDS, "mip_rel_gap": 0.2},
        )
        return None if answer.x is None else np.where(answer.x < 1e-6, 0.0, answer.x)


def _part(dataset: Dataset, move: Move, share: float) -> Move:
    """A move as far as it goes."""
    if not move.is_partial:
        return move
    start = values_of(dataset, move.column)[move.rows]
    return dataclasses.replace(move, to=float(start[0] + share * (move.to - start[0])))


def left(study: Study, cell: Cell, seed: int) -> dict[int, Study]:
    """As many numbers as are asked for, or all that were found."""
    return dict(itertools.islice(others(study, cell, seed), SMALLEST))
