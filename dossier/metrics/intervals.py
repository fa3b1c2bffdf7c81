"""The intervals that the chapters share: given a value and its standard error, or a count, they return the bounds.

Beside them the scales on which estimates are pooled and their intervals symmetric: the way there, back, its stretch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from dossier.core.facts import Fact, Method
from dossier.core.register import absent_with_its_parts, present
from dossier.core.types import Absent, Estimate, Floats

NO_SPREAD = Fact("no_spread")


@lru_cache(maxsize=16)
def two_sided(level: float) -> float:
    """The quantile of the normal distribution that cuts off half of what the level leaves on either side."""
    return float(scipy.special.ndtri(0.5 + level / 2))


def two_sided_student(level: float, freedom: float) -> float:
    """The same quantile of Student's distribution with these degrees of freedom, which may be infinite."""
    return two_sided(level) if math.isinf(freedom) else float(scipy.special.stdtrit(freedom, 0.5 + level / 2))


def beyond(z: float) -> float:
    """How probable a standard normal value of z or more is."""
    return float(scipy.special.ndtr(-z))


def beyond_student(value: float, freedom: float) -> float:
    """How probable a value of Student's distribution that large or larger is."""
    return beyond(value) if math.isinf(freedom) else float(scipy.special.stdtr(freedom, -value))


def wilson(successes: float, trials: float, level: float) -> tuple[float, float]:
    """Wilson's interval of a share, from a count of successes among trials (Wilson 1927, without continuity
    correction).
    """
    low, high = wilson_bounds(np.array(successes / trials), trials, two_sided(level))
    return float(low), float(high)


def wilson_bounds(share: Floats, trials: float | Floats, reach: float) -> tuple[Floats, Floats]:
    """Wilson's intervals of shares of so many trials, which need not be whole, at a reach of so many standard errors.

    With the quantile of Student's distribution as reach, it is the interval at a number of trials that is cut by the
    square of the ratio of the two quantiles (Korn and Graubard 1998).
    """
    denominator = 1 + reach**2 / trials
    centre = (share + reach**2 / (2 * trials)) / denominator
    half = reach * np.sqrt(share * (1 - share) / trials + reach**2 / (4 * trials**2)) / denominator
    low = np.where(share <= 0, 0.0, np.maximum(0.0, centre - half))
    return low, np.where(share >= 1, 1.0, np.minimum(1.0, centre + half))


def standard_error(contributions: Floats) -> float | None:
    """The standard error of the mean of what each row contributes (variance with n - 1); None when nothing varies."""
    if len(contributions) < 2 or float(np.ptp(contributions)) == 0:
        return None
    return float(np.std(contributions, ddof=1)) / math.sqrt(len(contributions))


def estimate(
    value: float,
    se: float | None,
    level: float,
    outcome: Floats,
    method: Method,
    *,
    floor: float = -math.inf,
    ceiling: float = math.inf,
    details: Mapping[str, float | None] | None = None,
) -> Estimate:
    """The estimate whose interval is its value and a multiple of its standard error on either side.

    A method with degrees of freedom takes the t distribution in place of the normal one; `floor` and `ceiling` are the
    ends of the range, which a bound does not pass. Without a standard error, or with one that is nothing but rounding,
    the bounds are missing, with a reason.
    """
    n, events = len(outcome), int(outcome.sum())
    if se is None or se <= 1e-12 * max(1.0, abs(value)):
        return Estimate(value, None, None, level, n, method, events, None, details or {}, NO_SPREAD)
    half = se * (two_sided(level) if method.df is None else two_sided_student(level, method.df))
    low, high = max(floor, value - half), min(ceiling, value + half)
    return Estimate(value, low, high, level, n, method, events, se, details or {})


def without_interval(
    value: float,
    n: int,
    method: Method,
    reason: Fact,
    events: int | None = None,
    details: Mapping[str, float | None] | None = None,
) -> Estimate:
    """The estimate of what has a value and, for this reason, no interval."""
    return Estimate(value, None, None, None, n, method, events, None, details or {}, reason)


def student_t(contributions: Floats) -> Method:
    """That the interval of a mean of these contributions takes the t distribution."""
    return Method(Fact("student_t", df=len(contributions) - 1))


def mean_by_student(
    values: Floats, outcome: Floats, level: float, floor: float = -math.inf, ceiling: float = math.inf
) -> Estimate:
    """The mean of what each row has, with its t interval."""
    value, se = float(values.mean()), standard_error(values)
    return estimate(value, se, level, outcome, student_t(values), floor=floor, ceiling=ceiling)


def on_log(value: float, se: float, level: float) -> tuple[float, float]:
    """The interval of a positive value, symmetric on the log scale; `se` is on the log scale."""
    half = two_sided(level) * se
    return value * math.exp(-half), value * math.exp(half)


def on_logit(value: float, se: float, level: float) -> tuple[float, float]:
    """The interval of a share strictly between 0 and 1, symmetric on the logit scale; `se` is on the plain scale."""
    centre = math.log(value / (1 - value))
    half = two_sided(level) * se / (value * (1 - value))
    return expit(centre - half), expit(centre + half)


def methods_of(one: Estimate, other: Estimate) -> Method:
    """How two estimates were made, once where it is the same."""
    if one.method == other.method:
        return one.method
    return Method(Fact("each_its_own", one=one.method.steps, other=other.method.steps))


@absent_with_its_parts
def square_and_add(ours: Estimate, rest: Estimate, who: str, others: str) -> tuple[float, float] | Absent:
    """How far the difference of two estimates on rows that share none reaches down and up.

    `who` and `others` name the two sets of rows. Down: sqrt((v1 - l1)^2 + (u2 - v2)^2), up: sqrt((u1 - v1)^2 + (v2 -
    l2)^2). Absent where one of the two intervals is one-sided or missing. Source: Zou and Donner 2008; Newcombe 1998.
    """
    first, other = present(_bounds(ours, who)), present(_bounds(rest, others))
    down = math.hypot(ours.value - first[0], other[1] - rest.value)
    return down, math.hypot(first[1] - ours.value, rest.value - other[0])


def _bounds(found: Estimate, who: str) -> tuple[float, float] | Absent:
    """Both ends of an interval, or why it does not have them."""
    if found.method.is_one_sided:
        return Absent(Fact("one_sided_interval", whose=who))
    if found.low is None or found.high is None:
        return Absent(Fact("no_interval_of", whose=who, reason=found.reason or Fact("bound_not_finite")))
    return found.low, found.high


def expit(x: float) -> float:
    """The share whose logit is x, without overflow."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def column(values: NDArray[Any] | Sequence[float]) -> tuple[float, ...]:
    """The numbers as a column of a curve."""
    return tuple(float(value) for value in values)


class Bounded(Protocol):
    """A value with its bounds, where it has them."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def banded(name: str, found: Sequence[Bounded], ends: str = "") -> dict[str, tuple[float | None, ...]]:
    """Values with their bounds as the columns of a curve: the value under its name, and the ends of its band."""
    return {
        name: column([each.value for each in found]),
        f"{ends}low": tuple(each.low for each in found),
        f"{ends}high": tuple(each.high for each in found),
    }


def share_columns(
    name: str, some: NDArray[Any], every: NDArray[Any] | float, level: float, ends: str = ""
) -> dict[str, tuple[float | None, ...]]:
    """Shares, some of every, with Wilson's bounds as the columns of a curve; missing where there is none to count."""
    known = np.broadcast_to(np.asarray(every) > 0, np.shape(some))
    whole = np.where(known, every, 1.0)
    share = some / whole
    columns = zip(
        (name, f"{ends}low", f"{ends}high"), (share, *wilson_bounds(share, whole, two_sided(level))), strict=True
    )
    return {
        called: tuple(float(value) if is_known else None for value, is_known in zip(values, known, strict=True))
        for called, values in columns
    }


# ---- the scales on which estimates are pooled and their intervals symmetric -----------------------------------------

Scale = Literal["plain", "log", "logit", "cloglog"]

LARGEST_EXPONENT = 700.0
"""An interval of a few sites or imputations can reach so far that its exponential is no longer a number."""


def forward(value: float, scale: Scale) -> float:
    """The value on the scale."""
    if scale == "logit":
        return float(scipy.special.logit(value))
    if scale == "cloglog":
        return math.log(-math.log1p(-value))
    return math.log(value) if scale == "log" else value


def back(value: float, scale: Scale) -> float:
    """The value that stands at this place of the scale."""
    if scale == "logit":
        return float(scipy.special.expit(value))
    if scale == "cloglog":
        return -math.expm1(-math.exp(min(value, LARGEST_EXPONENT)))
    return math.exp(min(value, LARGEST_EXPONENT)) if scale == "log" else value


def stretch(value: float, scale: Scale) -> float:
    """How much a small step on the scale is worth in the measure's own unit, by the delta method."""
    if scale == "logit":
        return value * (1 - value)
    if scale == "cloglog":
        return -(1 - value) * math.log1p(-value)
    return value if scale == "log" else 1.0


def off_scale(value: float, scale: Scale) -> Fact | None:
    """Why a value does not exist on the scale; None where it does."""
    if scale in ("logit", "cloglog") and not 0 < value < 1:
        return Fact("no_logit", value=value)
    if scale == "log" and value <= 0:
        return Fact("no_logarithm", value=value)
    return None
