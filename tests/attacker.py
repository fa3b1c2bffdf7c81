"""Whoever reads a dossier and owns an integer solver: how many values all that is printed leaves a small count.

What is printed is a function of the ranges and of what is given in steps (`tests/test_neighbours.py`), so that the
attacker here knows all ranges, those too that no page gives, and the steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from dossier import evaluate
from dossier.core.types import Absent, Floats, Study
from dossier.evaluate import disclosure
from dossier.evaluate.disclosure import chains, measures
from dossier.evaluate.offered import Site

SMALLEST = 10
SECONDS = (10.0, 300.0)
"""For one end of a range; then the furthest table found so far counts: the range is no wider than in truth. Where none
was found at all, the solver has longer."""

TURNS = 12
ROUNDED = 1e-7
"""How often the outcomes take turns, and what rounding may leave of a bound, in persons."""

Where = Mapping[str, str]
"""A level of each of some columns."""

Asked = tuple[int, Where, range, int]
"""A count that is asked for: of which outcome, of which level, in which bins of the risk, and what it truly is."""


@dataclass(frozen=True)
class Cell:
    """A count of persons below the smallest, and how many values all that is printed leaves it."""

    name: str
    true: int
    low: int
    high: int
    is_exact: bool = True
    """Whether the solver proved both ends; otherwise they are the furthest that it found, and the range is wider."""
    has_tables: int | None = None
    """How many numbers have a table that prints all the same, where each was looked for by itself."""

    @property
    def values(self) -> int:
        """How many."""
        return self.high - self.low + 1 if self.has_tables is None else self.has_tables


def site_of(study: Study, name: str = "large") -> Site:
    """A dataset with what its measures ask for."""
    return next(site for site in evaluate._sites(study) if site.dataset.name == name)


@dataclass(frozen=True)
class _Atom:
    """The smallest groups of persons that nothing printed tells apart."""

    label: int
    place: int
    """The bin of the risk."""
    where: Mapping[str, str | None]


class Attack:
    """All that is known of a site, as bounds on sums of the unknown counts."""

    def __init__(self, study: Study, name: str) -> None:
        self.site = site_of(study, name)
        self.policy = disclosure._Policy.of(self.site).coarsened()
        dataset = self.site.dataset
        if self.policy.all_rows is None or dataset.outcome is None or dataset.risk is None:
            raise ValueError(f"{name} gives no ranges of risks")
        self.outcome, self.risk = chains.coded(dataset), dataset.risk
        self.labels = tuple(self.policy.all_rows.counts.chains)
        self.at = self.policy.all_rows.counts.events.grid
        self.bins = np.searchsorted(np.array(self.at), self.risk, side="right") - 1
        given = disclosure._given_columns(self.site)
        self.columns = {
            column: [level.label for level in levels]
            for column, levels in given.items()
            if not any(isinstance(level.rows, Absent) for level in levels)
        }
        self.masks = {
            (subgroup.column, subgroup.label): subgroup.rows
            for subgroup in dataset.subgroups
            if subgroup.column in self.columns and isinstance(subgroup.rows, np.ndarray)
        }
        places = [
            dict(zip(self.columns, labels, strict=True))
            for labels in itertools.product(*([*of, None] for of in self.columns.values()))
        ]
        self.atoms = [
            _Atom(label, index, where) for label in self.labels for index in range(len(self.at)) for where in places
        ]
        self.truth = self._truth()
        self.rows: list[Floats] = []
        self.low: list[float] = []
        self.high: list[float] = []
        self.groups: list[tuple[measures.Protected, Where]] = [(self.policy.all_rows, {})]
        for subgroup in dataset.subgroups:
            group = self.policy._of_group(subgroup)
            if subgroup.column in self.columns and isinstance(group, measures.Protected):
                self.groups.append((group, {subgroup.column: subgroup.label}))
        for group, where in self.groups:
            self._tails(group, where)
        if self.policy.all_rows.few("mean") is None:
            self._sums(self.policy.all_rows)

    def _truth(self) -> Floats:
        found = np.zeros(len(self.atoms))
        for number, atom in enumerate(self.atoms):
            rows = (self.outcome == atom.label) & (self.bins == atom.place)
            for column, level in atom.where.items():
                of_column = [self.masks[column, label] for label in self.columns[column]]
                rows &= ~np.logical_or.reduce(of_column) if level is None else self.masks[column, level]
            found[number] = rows.sum()
        return found

    def members(self, where: Where) -> NDArray[np.bool_]:
        """The rows of a subgroup."""
        every = [np.full(len(self.risk), True), *(self.masks[key] for key in where.items())]
        return np.asarray(np.logical_and.reduce(every))

    def mask(self, label: int, where: Where, held: range) -> Floats:
        """1 for the atoms of an outcome, of bins of the risk and of a subgroup."""
        return np.array(
            [
                float(
                    atom.label == label
                    and atom.place in held
                    and all(atom.where[key] == level for key, level in where.items())
                )
                for atom in self.atoms
            ]
        )

    def add(self, row: Floats, low: float, high: float) -> None:
        """One bound."""
        self.rows.append(row)
        self.low.append(low)
        self.high.append(high)

    def _tails(self, group: measures.Protected, where: Where) -> None:
        """Every tail of a group."""
        for label, chain in group.counts.chains.items():
            for first, tail in enumerate(chain.tails):
                self.add(self.mask(label, where, range(first, len(chain.tails))), tail.low, tail.high)

    def _sums(self, of: measures.Protected) -> None:
        """The mean risk and the Brier score in their steps, by what each bin can add."""
        step, edges = of.step("mean"), (*self.at, 1.0)
        ends: dict[str, Callable[[int, float], float]] = {
            "mean": lambda label, r: r,
            "brier": lambda label, r: (label - r) ** 2,
        }
        truth = {"mean": float(self.risk.mean()), "brier": float(((self.outcome - self.risk) ** 2).mean())}
        for name in ends if len(self.labels) == 2 else ("mean",):
            adds = ends[name]
            shown = measures.in_steps(truth[name], step)
            both = [
                sorted((adds(atom.label, edges[atom.place]), adds(atom.label, edges[atom.place + 1])))
                for atom in self.atoms
            ]
            self.add(np.array([most for _, most in both]) - (shown - step / 2), 0, np.inf)
            self.add(np.array([least for least, _ in both]) - (shown + step / 2), -np.inf, 0)

    def with_ranks(self, known: int) -> Attack:
        """What is known with the AUROC, by one who knows each person of one outcome beside.

        The pairs are products of two unknown counts. With one of the two outcomes known to the person they are sums,
        and the solver exact; whoever does not know it has no fewer values left, and `with_ranks_alone` says how many.
        """
        found = self._knowing(known, self.truth)
        for row in self._ranks(known, self.truth):
            found.add(row, -np.inf, 0)
        return found

    def with_ranks_alone(self, cell: Asked, enough: int = SMALLEST) -> set[int]:
        """Numbers that a cell can be for who has the AUROC and knows nobody: as many as are asked for.

        For each there is a table that prints all the same. It is found by turns: with one outcome held the persons of
        the other are chosen so that the AUROCs come as near as can be to the printed ones, until nothing is missing.
        """
        low, high = self.ends(*cell[:3])
        found: set[int] = set()
        for number in sorted(range(low, high + 1), key=lambda each: abs(each - cell[-1])):
            if len(found) < enough and self._can_be(cell, number):
                found.add(number)
        return found

    def _can_be(self, cell: Asked, number: int) -> bool:
        label, aim = cell[0], self.mask(*cell[:3])
        counts, held = self.truth, 1 - label
        for _ in range(TURNS):
            nearest = self._knowing(held, counts)
            nearest.add(aim, number, number)
            ranks = self._ranks(held, counts)
            found = nearest._missing_least(ranks)
            if found is None:
                # Nothing holds with these persons of the other outcome: begin with any table of that number.
                free = self._copy()
                free.add(aim, number, number)
                found = free._missing_least([])
                if found is None:
                    return False
            elif max(float(row @ found) for row in ranks) <= ROUNDED:
                return True
            counts, held = found, 1 - held
        return False

    def _missing_least(self, ranks: Sequence[Floats]) -> Floats | None:
        """The counts under which the least is missing from the bounds of the AUROCs."""
        atoms, extra = len(self.atoms), len(ranks)
        hard = np.hstack([np.array(self.rows), np.zeros((len(self.rows), extra))])
        rules = [LinearConstraint(hard, np.array(self.low), np.array(self.high))]
        if extra:
            rules.append(LinearConstraint(np.hstack([np.array(ranks), -np.eye(extra)]), -np.inf, 0))
        aim, whole = (np.concatenate([np.full(atoms, each), np.full(extra, 1 - each)]) for each in (0.0, 1.0))
        positive, limit = Bounds(0, np.inf), {"time_limit": SECONDS[0]}
        answer = milp(aim, constraints=rules, integrality=whole, bounds=positive, options=limit)
        return None if answer.x is None else np.round(answer.x[:atoms])

    def _knowing(self, known: int, counts: Floats) -> Attack:
        """What is known with each person of one outcome."""
        found = self._copy()
        for index, atom in enumerate(self.atoms):
            if atom.label == known:
                found.add(np.eye(len(self.atoms))[index], counts[index], counts[index])
        return found

    def _copy(self) -> Attack:
        found = object.__new__(Attack)
        found.__dict__.update(self.__dict__, rows=list(self.rows), low=list(self.low), high=list(self.high))
        return found

    def _ranks(self, known: int, counts: Floats) -> Sequence[Floats]:
        """What may not rise above 0, of the AUROC where it is given: with one outcome known the pairs are sums."""
        of, every = self.groups[0][0], range(len(self.at))
        if of.few("ranks") is not None:
            return ()
        events, others = (np.sort(self.risk[self.outcome == label]) for label in (1, 0))
        right = np.searchsorted(others, events, side="left") + np.searchsorted(others, events, side="right")
        step = of.step("ranks")
        shown = measures.in_steps(float(right.sum() / 2 / len(events) / len(others)), step)
        of_known = np.array([float(self.mask(known, {}, range(number, number + 1)) @ counts) for number in every])
        before = np.concatenate([[0], np.cumsum(of_known)])
        if not before[-1]:
            return ()
        # Of all pairs of a person of each bin: those for certain in the right order, and those perhaps.
        sure, perhaps = (before[:-1], before[1:]) if known == 0 else (before[-1] - before[1:], before[-1] - before[:-1])
        of_bins = [self.mask(1 - known, {}, range(number, number + 1)) for number in every]
        asked, loose = (
            sum(mask * part for mask, part in zip(of_bins, pairs / before[-1], strict=True))
            for pairs in (sure, perhaps)
        )
        whole = self.mask(1 - known, {}, every)
        return asked - (shown + step / 2) * whole, (shown - step / 2) * whole - loose

    def small(self) -> list[Asked]:
        """Every tail and every bin, of all rows and of each level, that holds few persons; nobody is not one of few.

        `nobody` lists those without a person: their zeros are exempt.
        """
        return [row for row in self._every() if 0 < row[-1] < SMALLEST]

    def nobody(self) -> list[Asked]:
        """The cells that hold nobody: whether a range that begins at 0 is nobody's stays open as well."""
        return [row for row in self._every() if not row[-1]]

    def _every(self) -> list[Asked]:
        cells = []
        for label in self.labels:
            for where in [{}, *({column: level} for column, levels in self.columns.items() for level in levels)]:
                inside = (self.outcome == label) & self.members(where)
                for first in range(len(self.at)):
                    for held in {range(first, len(self.at)), range(first, first + 1)}:
                        true = int((inside & (self.bins >= held.start) & (self.bins < held.stop)).sum())
                        cells.append((label, where, held, true))
        return sorted(cells, key=str)

    def ends(self, label: int, where: Where, held: range) -> tuple[int, int]:
        """The least and the most that a cell can be."""
        cell = self.cell(label, where, held, 0)
        return cell.low, cell.high

    def cell(self, label: int, where: Where, held: range, true: int) -> Cell:
        """A cell with what is left of it."""
        aim = self.mask(label, where, held)
        (low, low_is_exact), (high, high_is_exact) = self._solved(aim), self._solved(-aim)
        name = f"{self.site.dataset.name} {label} {where} {held}"
        return Cell(name, true, low, -high, low_is_exact and high_is_exact)

    def _solved(self, aim: Floats) -> tuple[int, bool]:
        rules = LinearConstraint(np.array(self.rows), np.array(self.low), np.array(self.high))
        whole, positive = np.ones(len(aim)), Bounds(0, np.inf)
        for seconds in SECONDS:
            answer = milp(aim, constraints=rules, integrality=whole, bounds=positive, options={"time_limit": seconds})
            if answer.x is not None:
                return round(float(answer.fun)), answer.status == 0
        raise TimeoutError(answer.message)

    def possible(self, cell: Asked) -> Iterator[int]:
        """The numbers that a cell can be, each found by itself: between the ends of its range none need be."""
        aim = self.mask(*cell[:3])
        low, high = self.ends(*cell[:3])
        known = LinearConstraint(np.array(self.rows), np.array(self.low), np.array(self.high))
        whole, positive, limit = np.ones(len(aim)), Bounds(0, np.inf), {"time_limit": SECONDS[-1]}
        for number in sorted(range(low, high + 1), key=lambda each: abs(each - cell[-1])):
            rules = [known, LinearConstraint(aim[None, :], number, number)]
            if milp(0 * aim, constraints=rules, integrality=whole, bounds=positive, options=limit).success:
                yield number

    def cells(self, asked: Sequence[Asked], seed: int = 0, most: int | None = None) -> Iterator[Cell]:
        """These cells, or some of them, each with what is left of it."""
        for position in np.random.default_rng(seed).permutation(len(asked))[:most]:
            yield self.cell(*asked[position])


def attacked(study: Study, name: str, seed: int = 0, most: int | None = 24) -> Iterator[Cell]:
    """The small cells of a site, by one who knows every range, and the sums that are printed."""
    attack = Attack(study, name)
    return attack.cells(attack.small(), seed, most)


def attacked_with_ranks(study: Study, name: str, seed: int = 0, most: int | None = 24) -> Iterator[Cell]:
    """The same with the AUROC, by one who knows every person of the other outcome.

    Where that leaves too few values, it is the knowledge that leaves them: then by one who knows nobody.
    """
    attack = Attack(study, name)
    small = attack.small()
    with_ranks = {label: attack.with_ranks(1 - label) for label in (0, 1)}
    for position in np.random.default_rng(seed).permutation(len(small))[:most]:
        asked = small[position]
        cell = with_ranks[asked[0]].cell(*asked)
        if cell.values < SMALLEST:
            cell = replace(cell, has_tables=len(attack.with_ranks_alone(asked)))
        yield cell
