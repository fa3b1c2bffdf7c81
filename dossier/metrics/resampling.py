"""Rows drawn again: what every bootstrap over patients starts from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dossier.core import facts, types
from dossier.metrics.intervals import NO_SPREAD

BINNED_ABOVE = 50_000
"""Rows above which the bootstrap works on bins of risk."""
BINS = 2_000
BLOCK = 300_000
"""Numbers of one block of replicates: some ten arrays of this size live at once, little enough for the fast memory."""
VALUE_ALONE = 1
"""So many replicates are asked for where only the value is wanted: one replicate has no spread."""
FEWEST = 0.9
"""The share of the replicates that must allow a value."""


@dataclass(frozen=True)
class Cells:
    """The rows gathered into cells of equal risk and outcome: what the bootstrap draws from."""

    risk: types.Floats
    outcome: types.Floats
    count: types.Floats


def cells_of(outcome: types.Floats, risk: types.Floats) -> Cells:
    """The distinct pairs of risk and outcome with their counts; above 50,000 rows, of 2,000 bins of risk.

    The rows must be sorted by risk. A bin holds equally many rows and stands for them with its mean risk.
    """
    if len(risk) > BINNED_ABOVE:
        index = np.arange(len(risk)) * BINS // len(risk)
        risk = (np.bincount(index, weights=risk) / np.bincount(index))[index]
    pairs, count = np.unique(np.column_stack((risk, outcome)), axis=0, return_counts=True)
    return Cells(pairs[:, 0].copy(), pairs[:, 1].copy(), count.astype(float))


def draws(cells: Cells, replicates: int, rng: np.random.Generator) -> types.Floats:
    """How often each cell is drawn in each replicate of as many rows: (replicates, cells)."""
    n, size = int(cells.count.sum()), len(cells.count)
    if n > BINNED_ABOVE:
        return rng.multinomial(n, cells.count / n, size=replicates).astype(float)
    drawn = rng.integers(0, n, size=(replicates, n))
    if size < n:
        drawn = np.repeat(np.arange(size), cells.count.astype(int))[drawn]
    drawn += np.arange(replicates)[:, None] * size
    return np.bincount(drawn.ravel(), minlength=replicates * size).reshape(replicates, size).astype(float)


def draws_within_classes(cells: Cells, replicates: int, rng: np.random.Generator) -> types.Floats:
    """How often each cell is drawn when as many cases and as many non-cases are drawn as there are."""
    drawn = np.empty((replicates, len(cells.count)))
    for label in (0, 1):
        member = cells.outcome == label
        drawn[:, member] = draws(Cells(cells.risk[member], cells.outcome[member], cells.count[member]), replicates, rng)
    return drawn


def block_size(cells: Cells) -> int:
    """How many replicates are made at once: up to 50,000 rows are drawn one by one, of a table or of a class."""
    return BLOCK // min(int(cells.count.sum()), BINNED_ABOVE)


def replicated(
    cells: Cells,
    bootstrap: int,
    seed: int,
    statistic: Callable[[types.Floats], types.Floats],
    draw: Callable[[Cells, int, np.random.Generator], types.Floats] = draws,
) -> types.Floats:
    """A statistic of each replicate, from how often each cell is drawn in it; those that allow none are left out."""
    rng, size = np.random.default_rng(seed), block_size(cells)
    blocks = (min(size, bootstrap - begin) for begin in range(0, bootstrap, size))
    found = np.concatenate([statistic(draw(cells, many, rng)) for many in blocks])
    return np.asarray(found[np.isfinite(found)])


def central(replicates: types.Floats, level: float) -> tuple[float, float]:
    """The bounds of a percentile interval: of B replicates the (B + 1) tail-th from either end.

    A quantile that counts from the first replicate instead would leave out too many of few replicates.
    """
    low, high = np.quantile(replicates, (0.5 - level / 2, 0.5 + level / 2), method="weibull")
    return float(low), float(high)


def percentile(
    value: float,
    replicates: types.Floats,
    bootstrap: int,
    level: float,
    outcome: types.Floats,
    method: facts.Method,
    details: dict[str, float | None] | None = None,
) -> types.Estimate:
    """The estimate with its percentile interval; without one when the replicates do not vary or too few have a value.

    Replicates that allow no value are left out before, and counted in the method.
    """
    n, events, more = len(outcome), int(outcome.sum()), details or {}
    lost = bootstrap - len(replicates)
    if len(replicates) < 2 or len(replicates) < FEWEST * bootstrap:
        reason = facts.Fact("too_few_replicates_allow", replicates=facts.Count(len(replicates), "replicate", bootstrap))
        return types.Estimate(value, None, None, None, n, method, events, None, more, reason)
    if float(np.ptp(replicates)) <= 1e-15 * max(1.0, abs(value)):
        return types.Estimate(value, None, None, None, n, method, events, None, more, NO_SPREAD)
    low, high = central(replicates, level)
    se = float(np.std(replicates, ddof=1))
    method += facts.Fact("replicates", kept=len(replicates), lost=lost)
    return types.Estimate(value, min(value, low), max(value, high), level, n, method + "percentile", events, se, more)
