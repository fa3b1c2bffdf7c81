"""What release.toml and the evidence both know: the other model, ranges of counts, subgroups, calendar periods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

RIVAL = "the rival"
"""The name of the other model where the release gives it none."""
MARGINAL: Mapping[str, str] = {"weights": "marginal"}
"""What `at` holds of a measure whose weights do not depend on the risk; those by fifths have no setting."""
UPDATED = "updated: "
"""What the name of an updated model begins with; what is done to it follows."""
CHANGES = ("as_is", "intercept", "logistic")
"""What an update may change: nothing, the intercept, or intercept and slope; by the number of coefficients."""
UpdateMethod = Literal["intercept", "logistic", "closed_test"]
"""What is done to a model where it is updated: its intercept changed, its slope too, or as much as a test supports."""
PeriodUnit = Literal["month", "quarter", "year"]
PERIODS_OF_A_YEAR: Mapping[PeriodUnit, int] = {"month": 12, "quarter": 4, "year": 1}


class ShownByCounts:
    """What holds too much to be shown whole where somebody types its name: how many of what it holds."""

    def __repr__(self) -> str:
        counts = [f"{name}: {len(held):,}" for name, held in vars(self).items() if isinstance(held, (tuple, bytes))]
        return f"<{type(self).__name__} {getattr(self, 'name', '')} of {', '.join(counts)}>".replace("  ", " ")


def unit_of(text: object) -> PeriodUnit:
    """The unit of calendar periods that a value names."""
    for unit in PERIODS_OF_A_YEAR:
        if unit == text:
            return unit
    raise ValueError(f"{text} is no unit of calendar periods")


def doubles(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers as doubles; one of 16 or 32 bits as the one that its shortest digits spell: 0.7, not 0.699999988079071.

    Without its digits a risk of 0.7 would lie below a threshold of 0.7.
    """
    is_narrow = numbers.dtype.kind == "f" and numbers.dtype.itemsize < 8
    return (numbers.astype(str) if is_narrow else numbers).astype(np.float64)


def decimal(shares: Any) -> NDArray[np.float64]:
    """Shares, each that sums or divisions have left beside a decimal of 12 places as that: 0.3, not 0.1 x 3.

    So a risk reaches a threshold that is written as it is. What lies next to 0 stays, as it may be a risk.
    """
    given = np.asarray(shares, dtype=np.float64)
    written = np.round(given, 12)
    return np.where((written != 0) & (np.abs(given - written) < 5e-16), written, given)


def largest_remainder(counts: Sequence[float] | NDArray[np.float64], total: int) -> NDArray[np.float64]:
    """Whole numbers in the proportion of the counts that add up to the total; ties go to the first."""
    exact = np.asarray(counts) / np.sum(counts) * total
    whole = np.floor(exact)
    missing = round(total - float(whole.sum()))
    whole[np.argsort(whole - exact, kind="stable")[:missing]] += 1
    return np.asarray(whole)


def risks(numbers: Any, scale: str) -> NDArray[np.float64]:
    """Numbers of a declared scale as risks from 0 to 1."""
    if scale == "log_odds":
        return np.asarray(np.exp(-np.logaddexp(0, -np.asarray(numbers, dtype=np.float64))))
    # A division leaves a digit behind: 16.7 per cent are 0.167.
    return decimal(np.asarray(numbers) / (100 if scale == "percent" else 1))


class CountRange(int):
    """A count that is given as a range, to protect who is counted: it counts as its middle and prints its ends."""

    low: int
    high: int

    def __new__(cls, low: int, high: int) -> CountRange:
        """The range from its ends, both of which it may be."""
        made = super().__new__(cls, (low + high) // 2)
        made.low, made.high = low, high
        return made

    def __reduce__(self) -> tuple[type[CountRange], tuple[int, int]]:
        return CountRange, (self.low, self.high)

    def __format__(self, spec: str) -> str:
        return f"{self.low:{spec}}\N{EN DASH}{self.high:{spec}}"

    def __str__(self) -> str:
        return format(self)

    def __repr__(self) -> str:
        return f"CountRange({self.low}, {self.high})"

    def __add__(self, other: int) -> CountRange:
        """The range of a sum; a plain number is known."""
        low, high = (other.low, other.high) if isinstance(other, CountRange) else (other, other)
        return CountRange(self.low + low, self.high + high)

    __radd__ = __add__

    def __sub__(self, other: int) -> CountRange:
        """The range of what is left, which is never less than nothing."""
        low, high = (other.low, other.high) if isinstance(other, CountRange) else (other, other)
        return CountRange(max(self.low - high, 0), max(self.high - low, 0))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CountRange):
            return (self.low, self.high) == (other.low, other.high)
        return int(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(int(self))


class Subset(NamedTuple):
    """A part of the patients: a level of the column that makes subgroups."""

    column: str
    level: str

    def __str__(self) -> str:
        return f"{self.column}={self.level}"
