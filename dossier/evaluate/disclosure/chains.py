"""The counts of persons that may leave, each given once as a range: tails of the risk, apart by outcome.

Tails along one chain are ordered, and moving every tail to the nearest end of its own range towards a value keeps them
so: every tail can be any number of its range, however fine the grid. What is computed from the ranges tells no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dossier.core.types import CountRange, Dataset, Floats
from dossier.metrics.intervals import two_sided

STEP = 0.05
"""Between the risks at which tails are counted, beside the declared thresholds."""

FACTORS = (1, 2, 5, 10)

OF_SUMS = 2
"""Values that a solver took of a range by sums over all rows and over those of a subgroup: without them 6 of 200 random
sites left a small count nine values instead of ten."""


def width(minimum_cell: int, levels: Sequence[int], parts: int = OF_SUMS) -> int:
    """How many values a range holds: the smallest count, one more for each further level of a column beside the total,
    and two for the sums that are given, the mean risk and the Brier score, or if these are more one for each of the
    `parts` of a predictor, which add up to the total with those without a value; odd, so that a range has a middle.
    """
    least = minimum_cell + sum(count - 1 for count in levels) + parts
    return least if least % 2 else least + 1


def rows_of_a_person(dataset: Dataset) -> int:
    """The most rows that one person has, rounded up to 1, 2, 5, 10, 20 ...: as many as the largest cluster holds, and
    one in each split.
    """
    most = 1 if dataset.split is None else max(1, len(np.unique(dataset.split)))
    if dataset.cluster is not None and len(dataset.cluster):
        most = max(most, int(np.bincount(np.unique(dataset.cluster, return_inverse=True)[1]).max()))
    power: int = 10 ** (len(str(most)) - 1)
    return next(factor * power for factor in FACTORS if factor * power >= most)


def ranged(count: int, wide: int) -> CountRange:
    """The range that a count is given as: the multiples of the width below and above it."""
    low = count // wide * wide
    return CountRange(low, low + wide - 1)


@dataclass(frozen=True)
class Chain:
    """How many of some persons have at least each risk of a grid that begins at 0."""

    grid: tuple[float, ...]
    tails: tuple[CountRange, ...]

    @property
    def total(self) -> CountRange:
        """All of them."""
        return self.tails[0]

    def at(self, threshold: float) -> CountRange:
        """Those of at least a risk of the grid."""
        return self.tails[self.grid.index(threshold)]


@dataclass(frozen=True)
class Counts:
    """What may be known of a set of rows: the risks of those with the outcome, and of the others."""

    events: Chain
    others: Chain
    wide: int
    """How many values each range holds."""
    rows_each: int
    """The most rows of one person."""
    left: Chain | None = None
    """Those who were followed for less than the horizon; None where the outcome is known of all."""

    @property
    def known(self) -> CountRange:
        """The rows whose outcome is known."""
        return self.events.total + self.others.total

    @property
    def n(self) -> CountRange:
        """All rows; never given a range of its own."""
        return self.known if self.left is None else self.known + self.left.total

    @property
    def beside(self) -> dict[str, float | None]:
        """Of how many rows the outcome is not known, as it stands beside an estimate."""
        return {} if self.left is None else {"left": float(int(self.left.total))}

    def error(self, low: float, high: float, level: float) -> float | None:
        """The standard error that an interval stands for; None of one that follow-up leaves open, whatever the rows."""
        return None if self.left is not None else (high - low) / (2 * two_sided(level))

    @property
    def bounded(self) -> tuple[str, ...]:
        """That what is made of the counts holds whenever those who left did so."""
        return () if self.left is None else ("bounded_by_follow_up",)

    @property
    def chains(self) -> dict[int, Chain]:
        """The tails of those with the outcome, of the others and of those who left, by their codes."""
        return {1: self.events, 0: self.others, **({} if self.left is None else {LEFT: self.left})}

    @property
    def tells_outcome(self) -> bool:
        """Whether neither those with the outcome nor the others may be nobody."""
        return self.events.total.low > 0 and self.others.total.low > 0

    def table(self, held: Callable[[CountRange], int], first: float, last: float) -> tuple[Floats, Floats]:
        """Outcomes and risks of a table that the ranges allow, as many as `held` of each: in the middle of its part of
        the risk, but for the first and the last.
        """
        rows: list[tuple[Floats, Floats]] = []
        for label, chain in ((1.0, self.events), (0.0, self.others)):
            middles = np.mean([chain.grid, (*chain.grid[1:], 1.0)], axis=0)
            middles[[0, -1]] = first, last
            risks = np.repeat(middles, -np.diff([*map(held, chain.tails), 0]))
            rows.append((np.full(len(risks), label), risks))
        return np.concatenate([outcome for outcome, _ in rows]), np.concatenate([risk for _, risk in rows])

    @property
    def evenly(self) -> Counts:
        """The same at the even grid alone, whatever thresholds are declared: a later release may declare others."""
        at = tuple(each for each in grid(()) if each in self.events.grid)
        events, others = (Chain(at, tuple(map(chain.at, at))) for chain in (self.events, self.others))
        return replace(self, events=events, others=others, left=None)

    @property
    def persons(self) -> int:
        """How many persons there are at least about as many of: of the rarer outcome."""
        return min(int(self.events.total), int(self.others.total)) // self.rows_each


def grid(declared: Sequence[float]) -> tuple[float, ...]:
    """The risks at which tails are counted."""
    even = {round(index * STEP, 10) for index in range(round(1 / STEP))}
    return tuple(sorted(even | {float(value) for value in declared}))


LEFT = 2
"""The code of those who were followed for less than the horizon, beside 1 and 0."""


def coded(dataset: Dataset) -> Floats:
    """The outcome of each row, LEFT where it is not known."""
    return np.where(dataset.known, dataset.tested[0], LEFT)


def counts(
    outcome: Floats, risk: Floats, at: tuple[float, ...], wide: int, rows_each: int, by_horizon: bool = False
) -> Counts:
    """The ranges of these rows; the rows are not asked again. Where none left by a horizon, that is a range too."""

    def chain(risks: Floats) -> Chain:
        return Chain(at, tuple(ranged(int((risks >= threshold).sum()), wide) for threshold in at))

    left = chain(risk[outcome == LEFT]) if by_horizon else None
    return Counts(chain(risk[outcome == 1]), chain(risk[outcome == 0]), wide, rows_each, left)


def expected(part: CountRange, whole: CountRange, wide: int) -> tuple[int, int]:
    """A part and its whole as they are expected in their ranges, the part no more than the whole."""
    if part.low != whole.low:
        return int(part), int(whole)
    third = (wide - 1) / 3
    return part.low + math.floor(third), part.low + math.ceil(2 * third)


def ends(part: CountRange, whole: CountRange) -> tuple[tuple[int, int], ...]:
    """The corners of what a part and its whole can be."""
    pairs = ((number, other) for number in (part.low, part.high) for other in (whole.low, whole.high))
    return tuple((first, other) for first, other in pairs if first <= other)
