"""Intervals by inverting tests: which true values would make what was seen unlikely?

A mean of distances never falls below 0 and is too large by chance, the more so the better the model. Replicates drawn
around the estimate add that excess once more, so that their percentiles lie too far from the best value. Here a line of
possible truths is drawn from instead, from the best one through what was seen to worse ones, and the interval keeps the
truths under which what was seen is not too extreme (hybrid resampling, Chuang and Lai 2000).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from dossier.core import facts, types

INWARD, OUTWARD, BEYOND = 40, 20, 6.0
"""How many truths are tested between the best and what was seen, and beyond it up to so many standard errors."""


LEAST_CHANCE = 0.16
HALVINGS = 20
UNUSED = 0.6
"""How much of the upper tail is taken over to rule the best truth out, which nothing rules out from above."""


def believable(chance: Callable[[int, float], float], heights: types.Floats) -> float:
    """The least result that is believed: what the best truth stays below in 16 % of samples.

    A sample that looks better than perfection usually does is luck, and no upper bound may rest on luck: inverted as it
    is, it would leave nearly nothing between 0 and what was seen (power-constrained limits, Cowan 2011). `chance` and
    `heights` as in `inverted`; no result passes the last height.
    """
    low, high = float(2 * heights[0] - heights[-1]), float(heights[-1])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if chance(0, middle) >= LEAST_CHANCE else (middle, high)
    return high


def inverted(
    chance: Callable[[int, float], float],
    heights: types.Floats,
    observed: float,
    tail: float,
    farther: Callable[[float, float], float] | None = None,
    unused: float = UNUSED,
) -> tuple[float, float]:
    """The bounds of a measure whose true value may be any of the `heights`, which rise.

    `chance` says for the number of a height how probable a result up to a seen one would be if it were true. The lower
    bound is the smallest height under which a result at least as high as the observed one has a probability of `tail`,
    the upper bound the largest under which one at most as high as the `believable` one has it, with a straight line
    between neighbours; `farther` may raise the upper bound of a seen result. Truths up to the upper bound of the least
    result that is believed are never ruled out from above, and hardly ever those that a raised bound reaches. The
    interval would hold them more often than promised, and they would be parted from the best truth less often than they
    could be: from below the best is ruled out at `tail` and its `unused` part more, and where it is, so are the others
    at twice the `tail`.
    """

    def crossing(seen: float, share: float) -> float:
        """The height at which the chance falls to the share."""
        at_most = cache(lambda index: chance(index, seen))
        below, above = 0, len(heights) - 1
        if at_most(below) <= share:
            return float(heights[below])
        if at_most(above) > share:
            return float(heights[above])
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (middle, above) if at_most(middle) > share else (below, middle)
        part = (at_most(below) - share) / (at_most(below) - at_most(above))
        return float(heights[below] + part * (heights[above] - heights[below]))

    def highest(seen: float) -> float:
        found = crossing(seen, tail)
        return found if farther is None else farther(seen, found)

    seen = observed if chance(0, observed) >= LEAST_CHANCE else believable(chance, heights)
    high = highest(seen)
    low, strict = crossing(observed, 1 - tail), crossing(observed, 1 - (1 + unused) * tail)
    if strict > heights[0]:
        strict = crossing(observed, 1 - 2 * tail)
    if high > crossing(seen, tail):
        low = strict
    elif strict > low:
        least = believable(chance, heights)
        # What lies farther is asked only where it matters.
        low = strict if strict <= crossing(least, tail) else max(low, min(strict, highest(least)))
    return min(observed, low), max(observed, high)


def bounds_of_gaps(
    gaps: types.Floats,
    squares: types.Floats,
    calibrated: types.Floats,
    weights: types.Floats,
    n: int,
    tail: float,
    noise: types.Floats,
    shift: types.Floats | None = None,
) -> tuple[float, float]:
    """The bounds of a weighted sum of |gaps|, each the mean over n rows of a deviation inside its bin.

    `gaps`, `squares` (bins): the means of the deviations and of their squares inside the bin; `calibrated` (bins): the
    means of the squares that perfect calibration would give; `weights` (bins, above 0); `tail` (the probability on
    either side); `noise` (draws, bins): standard normal. The truths that are tested are, from none at all on, halfway
    between what was seen scaled down, which keeps some noise in every bin, and the nearest to it by least squares,
    which takes every small gap for noise; beyond what was seen they are the nearest. In each bin the squares come with
    the gap. `shift` (draws) is a noise of mean 0 that is taken off the sum: where it varies, the truth may lie below 0
    by up to six of its standard deviations.
    """
    unit = np.sqrt(squares / n)
    side = np.where(gaps >= 0, 1.0, -1.0)
    growth = side * weights * unit**2 / math.sqrt(float(np.sum((weights * unit) ** 2)))
    scaled, more = np.linspace(0, 1, INWARD)[:, None] * gaps, np.linspace(0, BEYOND, OUTWARD + 1)[1:, None]
    inward = (scaled + _nearest(gaps, weights, weights * unit**2)) / 2
    truths = np.concatenate((inward, gaps + more * growth))
    part = np.divide(inward, gaps, out=np.zeros_like(inward), where=gaps != 0)
    spreads = np.concatenate((calibrated + part * (squares - calibrated), np.tile(squares, (OUTWARD, 1))))
    off = np.zeros(INWARD + OUTWARD)
    if shift is not None:
        truths = np.concatenate((np.zeros((OUTWARD, len(gaps))), truths))
        spreads = np.concatenate((np.tile(calibrated, (OUTWARD, 1)), spreads))
        off = np.concatenate((np.linspace(BEYOND, 0, OUTWARD + 1)[:-1] * float(np.std(shift)), off))
    observed, heights = float(np.sum(weights * np.abs(gaps))), np.sum(weights * np.abs(truths), axis=1) - off

    @cache
    def results(index: int) -> types.Floats:
        true, spread = truths[index], spreads[index]
        moved = true + _noise_around(true, spread, noise) * np.sqrt(spread / n)
        drawn = np.einsum("bk,k->b", np.abs(moved), weights) - off[index]
        return np.asarray(drawn - (0.0 if shift is None else shift))

    return inverted(lambda index, seen: float((results(index) <= seen).mean()), heights, observed, tail)


def _nearest(gaps: types.Floats, weights: types.Floats, pulls: types.Floats) -> types.Floats:
    """The gaps nearest to the seen ones by least squares whose weighted sum is 0, ..., all of what was seen, in even
    steps: (truths, bins). All draw in at once, each by its `pulls` (weight times variance), and end at 0.
    """
    sizes = np.abs(gaps)
    reach = np.sort(np.append(sizes / pulls, 0.0))
    left = np.sum(weights * np.maximum(sizes - reach[:, None] * pulls, 0), axis=1)
    drawn = np.interp(np.linspace(0, left[0], INWARD), left[::-1], reach[::-1])
    nearest: types.Floats = np.sign(gaps) * np.maximum(sizes - drawn[:, None] * pulls, 0)
    # The ends are known, whatever the rounding.
    nearest[0], nearest[-1] = 0.0, gaps
    return nearest


def _noise_around(true: types.Floats, squares: types.Floats, noise: types.Floats) -> types.Floats:
    """The noise of the gaps in their standard errors: the covariance over the rows is diag(squares) - true true'."""
    share = np.divide(true, np.sqrt(squares), out=np.zeros_like(true), where=squares > 0)
    together = float(np.sum(share**2))
    if together <= 0:
        return noise
    if together > 1:
        share, together = share / math.sqrt(together), 1.0
    taken = (1 - math.sqrt(1 - together)) / together
    around: types.Floats = noise - taken * np.einsum("bk,k->b", noise, share)[:, None] * share
    return around


def estimate_from_tests(
    value: float, low: float, high: float, level: float, outcome: types.Floats, method: facts.Method
) -> types.Estimate:
    """The estimate of a calibration error; at 0 its interval has one side."""
    made = method + "one_sided" if low == 0 else method
    return types.Estimate(value, low, min(1.0, high), level, len(outcome), made, int(outcome.sum()))


def by_tests(draws: int) -> facts.Fact:
    """That the bounds come from inverting tests, with so many draws."""
    return facts.Fact("inverted_tests", draws=draws)
