"""What all ranges together leave of each small count, asked at each build of who knows every risk that occurs, and in
which subgroups it does.

Ranges of one outcome say nothing of the other, so that each is solved for by itself. Of a continuous risk only the
first and the last value of each part of the grid are tried: every table that is found has the same ranges, so that what
is left in truth is no less. What the solver does not find within its nodes counts as not left. Which counts are asked
for follows from their ranges, and tells no more.

What rests on ranks or sums joins both outcomes. It is taken as known what the persons of one outcome in one part of the
grid move it by, and how many there are as unknown, in fractions; of subgroups no such number is given.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from dossier.core import bands
from dossier.core.types import Absent, CountRange, Floats, SmallCount, Subset
from dossier.evaluate.disclosure import chains, measures
from dossier.evaluate.disclosure.chains import LEFT, Chain, Counts
from dossier.metrics import logistic

NODES = 200
"""Of the solver, for one end of a range: never seconds, so that every machine finds the same."""

DRAWS = 8
"""Tables that are looked for with all small cells at once, each at one end or the other, before each by itself."""

FRACTIONS = 2
"""How many values more a count keeps beside what rests on ranks and sums, as fractions of persons are let pass."""

ENDS = (0.01, 0.99)
"""Risks of those in the first and in the last part of the grid, as a model gives them that knows nearly all."""

HAPPENED = {1: True, 0: False, LEFT: None}

ROUNDED = 1e-6
UNKNOWN = 10**9

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Part:
    """All rows, or a subgroup, with what is given of it."""

    rows: Bools
    chains: Mapping[int, Chain]
    """Its tails of those with the outcome, 1, of the others, 0, and of those who left, 2."""
    subset: Subset | None = None
    before: tuple[Mapping[int, Chain] | None, ...] = ()
    """The same as earlier releases gave it of fewer rows, the first one first; None where one did not."""

    def releases(self, label: int) -> Iterator[tuple[int, Chain]]:
        """Every release that gave tails of one outcome, by its number, today's last."""
        for index, given in enumerate((*self.before, self.chains)):
            if given is not None:
                yield index, given[label]


@dataclass(frozen=True)
class Left:
    """What was looked at, and how few values are left of a cell."""

    cells: int = 0
    narrowest: int | None = None
    at: SmallCount | None = None

    def and_of(self, other: Left) -> Left:
        """Both together."""
        each = [left for left in (self, other) if left.narrowest is not None]
        least = min(each, key=lambda left: left.narrowest or 0, default=self)
        return replace(least, cells=self.cells + other.cells)


def values_left(outcome: Floats, risk: Floats, parts: Sequence[Part], least: int) -> Left:
    """How many values are left of each cell that may hold fewer than `least`; it is over once one has fewer values."""
    found = Left()
    for label in parts[0].chains:
        found = found.and_of(_Tables(outcome, risk, parts, (label,)).left(least))
        if found.narrowest is not None and found.narrowest < least:
            break
    return found


@lru_cache(maxsize=256)
def coarser(counts: Counts, least: int) -> measures.Coarser:
    """How much coarser numbers are given, so that no count is left fewer than `least` values.

    It is asked of a table that the ranges alone tell of, whose lowest and highest risks add next to nothing: which
    steps are taken tells of no patient.
    """
    counts = counts.evenly
    outcome, risk = counts.table(int, *ENDS)
    part = Part(np.ones(len(risk), dtype=np.bool_), counts.chains)
    every = list(numbers(outcome, risk, counts))
    for tried in COARSER:
        kept = [number for number in every if tried[number.rule] != measures.NOT]
        given = [(number, *number.ends(tried[number.rule])) for number in kept]
        left = _Tables(outcome, risk, [part], (1, 0), given).left(least + FRACTIONS).narrowest
        if left is None or left >= least + FRACTIONS:
            return tried
    return dict.fromkeys(COARSER[0], measures.NOT)


class _Tables:
    """The tables of some outcomes that print the same: a number of persons for each risk and kind of person."""

    def __init__(
        self,
        outcome: Floats,
        risk: Floats,
        parts: Sequence[Part],
        labels: Sequence[int],
        numbers: Sequence[tuple[Number, float, float]] = (),
    ) -> None:
        self.grid = np.array(parts[0].chains[labels[0]].grid)
        self.parts, self.labels, self.risk, self.outcome, self.whole = parts, labels, risk, outcome, not numbers
        atoms = list(self._atoms(np.column_stack([part.rows for part in parts])))
        self.at, self.within = np.concatenate([at for at, _ in atoms]), np.vstack([kinds for _, kinds in atoms])
        self.of = np.repeat(labels, len(self.at))
        self.at, self.within = np.tile(self.at, len(labels)), np.tile(self.within, (len(labels), 1))
        self.today = len(parts[0].before)
        rows, low, high = zip(*self._known(), *self._moved(numbers), strict=True)
        self.rows, self.low, self.high = np.array(rows), np.array(low), np.array(high)

    def _atoms(self, members: Bools) -> Iterator[tuple[Floats, Bools]]:
        """Risks, and the kinds of person who have them: whoever knows how subgroups follow from risks knows no more."""
        _, place = np.unique(self.risk, return_inverse=True)
        if place.max() + 1 >= bands.FEWEST_RISKS or not self.whole:
            place = np.searchsorted(self.grid, self.risk, side="right") - 1
        for index in np.unique(place):
            here = place == index
            ends, kinds = np.unique([self.risk[here].min(), self.risk[here].max()]), np.unique(members[here], axis=0)
            ends = ends if self.whole else ends[:1]
            yield np.repeat(ends, len(kinds)), np.tile(kinds, (len(ends), 1))

    def _known(self) -> Iterator[tuple[Floats, float, float]]:
        for label, (index, part) in itertools.product(self.labels, enumerate(self.parts)):
            inside = self.within[:, index] * (self.of == label)
            for release, chain in part.releases(label):
                for threshold, tail in zip(chain.grid, chain.tails, strict=True):
                    yield self._until(release, inside * (self.at >= threshold)), tail.low, tail.high

    def _moved(self, numbers: Sequence[tuple[Number, float, float]]) -> Iterator[tuple[Floats, float, float]]:
        """What is known by numbers of all rows, those of one outcome in one part of the grid being alike."""
        _, first = np.unique(np.searchsorted(self.at, self.risk, side="right"), return_index=True)
        for number, low, high in numbers:
            now = float(number.moves[self.outcome.astype(int), np.arange(len(self.risk))].sum())
            yield number.moves[list(self.labels)][:, first].ravel(), low + now, high + now

    def _until(self, release: int, persons: Floats) -> Floats:
        """These persons, those of the first release and those who came until another."""
        return np.concatenate([persons * (index <= release) for index in range(self.today + 1)])

    def left(self, least: int) -> Left:
        """The least number of values that a small cell is left."""
        asked = list(self._small(least))
        # Where the score gives no risk is nobody; parts with the same risks are one. How many were asked for is of the
        # ranges alone, for it is printed: which risks occur tells of patients.
        cells = {aim.tobytes(): (at, aim, count) for at, aim, count in asked if aim.any()}
        if not cells:
            return Left(len(asked))
        places, *columns = zip(*cells.values(), strict=True)
        aims, true = map(np.array, columns)
        # How many an earlier release had is not known any more.
        low, high = np.where(true < 0, float(UNKNOWN), true), np.where(true < 0, -float(UNKNOWN), true)

        def look(aim: Floats) -> None:
            found = self._table(aim)
            if found is not None:
                counts = aims @ found
                np.minimum(low, counts, out=low)
                np.maximum(high, counts, out=high)

        for signs in np.random.default_rng(0).choice([-1, 1], (DRAWS, len(aims))):
            look(signs @ aims)
            look(-signs @ aims)
        for index, aim in enumerate(aims):
            for sign in (1, -1):
                if high[index] - low[index] + 1 < least:
                    look(sign * aim)
            if high[index] - low[index] + 1 < least:
                break
        left = np.floor(high + ROUNDED) - np.ceil(low - ROUNDED) + 1
        return Left(len(asked), max(int(left.min()), 0), places[int(left.argmin())])

    def _small(self, below: int) -> Iterator[tuple[SmallCount, Floats, int]]:
        """Every tail, and every part of the grid, that may hold a few by the ranges."""
        for label, (index, part) in itertools.product(self.labels, enumerate(self.parts)):
            risks, inside = self.risk[part.rows & (self.outcome == label)], self.within[:, index] * (self.of == label)
            for release, chain in part.releases(label):
                # Beyond the last tail is nobody.
                ends = zip(chain.tails, (*chain.grid[1:], None), (*chain.tails[1:], CountRange(0, 0)), strict=True)
                for first, (tail, end, beyond) in zip(chain.grid, ends, strict=True):
                    for until, least in {None: tail.low, end: tail.low - beyond.high}.items():
                        if least < below:
                            at = SmallCount(HAPPENED[label], first, until, part.subset)
                            held = self._until(release, inside * _between(self.at, first, until))
                            true = int(_between(risks, first, until).sum()) if release == self.today else -1
                            yield at, held, true

    def _table(self, aim: Floats) -> Floats | None:
        answer = scipy.optimize.milp(
            aim,
            constraints=scipy.optimize.LinearConstraint(self.rows, self.low, self.high),
            integrality=np.full(len(aim), self.whole),
            bounds=scipy.optimize.Bounds(0, np.inf),
            options={"node_limit": NODES, "mip_rel_gap": 0.0},
        )
        if answer.x is None:
            return None
        found = np.rint(answer.x) if self.whole else np.asarray(answer.x)
        reached = self.rows @ found
        fits = (reached >= self.low - ROUNDED).all() and (reached <= self.high + ROUNDED).all()
        return found if fits else None


def _between(risk: Floats, first: float, until: float | None) -> Bools:
    return (risk >= first) & (True if until is None else risk < until)


# ---- what rests on ranks and sums, as an equation in counts of persons ----------------------------------------------

TRIED = (
    *((1, 1, 1, 1), (2, 1, 1, 1), (5, 1, 1, 1), (10, 2, 1, 1), (10, 5, 2, 1), (20, 10, 5, 2)),
    *((measures.NOT, measures.NOT, 5, 2), (measures.NOT, measures.NOT, measures.NOT, 5)),
)
COARSER = tuple(dict(zip(("fit", "mean", "ratio", "ranks"), each, strict=True)) for each in TRIED)
"""How much coarser numbers are given, in turn, until every small count keeps its values; then none is."""


@dataclass(frozen=True)
class Number:
    """A number that is given."""

    rule: str
    moves: Floats
    """By how much a row of the table would move it without the outcome, and with it: two rows."""
    value: float
    step: float

    def ends(self, coarser: float) -> tuple[float, float]:
        """How far below and above what is true it prints the same."""
        step = measures.above(self.step * coarser)
        middle = measures.in_steps(self.value, step)
        return middle - step / 2 - self.value, middle + step / 2 - self.value


def numbers(outcome: Floats, risk: Floats, counts: chains.Counts) -> Iterator[Number]:
    """What may be given of a model with this table in its ranges."""
    labels, events = np.array([[0.0], [1.0]]), outcome == 1
    for rule, adds in (("ratio", np.tile(risk, (2, 1))), ("mean", (labels - risk) ** 2)):
        value = float(np.where(events, adds[1], adds[0]).mean())
        yield Number(rule, (adds - value) / len(risk), value, measures.one_person(rule, counts))
    above, below = _rank(risk, risk[~events]), 1 - _rank(risk, risk[events])
    auroc = float(above[events].mean())
    ranked = np.array([(below - auroc) / (~events).sum(), (above - auroc) / events.sum()])
    yield Number("ranks", ranked, auroc, measures.one_person("ranks", counts))
    odds = logistic.logit(risk)
    joint = np.vstack((np.ones_like(odds), odds))
    fits = (*((("calibration_intercept",), np.ones((1, len(odds))), odds), (tuple(measures.JOINT), joint, 0 * odds)),)
    for terms, design, offset in fits:
        fit = logistic.logistic_fit(design, outcome, offset)
        if isinstance(fit, Absent):
            continue
        chance = logistic.expit(offset + logistic.combine(fit.coefficients[None, :], design)[0])
        for term, value, each in zip(terms, fit.coefficients, logistic.combine(fit.covariance, design), strict=True):
            yield Number("fit", each * (labels - chance), float(value), measures.one_person("fit", counts, term))


def _rank(risk: Floats, among: Floats) -> Floats:
    """The share of some risks that lie below each, ties counted by half."""
    ordered = np.sort(among)
    ends = np.searchsorted(ordered, risk, "left") + np.searchsorted(ordered, risk, "right")
    return np.asarray(ends / (2 * len(among)))
