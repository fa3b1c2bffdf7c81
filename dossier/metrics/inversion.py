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

from dossier.types import Floats

BY_TESTS = "bounds by inverting tests (hybrid resampling)"
ONE_SIDED = ", one-sided because it does not refute perfect calibration"

INWARD, OUTWARD, BEYOND = 40, 20, 6.0
"""How many truths are tested between the best and what was seen, and beyond it up to so many standard errors."""


LEAST_CHANCE = 0.16
HALVINGS = 40


def believable(chance: Callable[[int, float], float], highest: float, observed: float) -> float:
    """What was seen; or, where the best truth shows as little in fewer than 16 % of samples, what it shows in 16 %.

    A sample that looks better than perfection usually does is luck, and no upper bound may rest on luck: inverted as it
    is, it would leave nearly nothing between 0 and what was seen (power-constrained limits, Cowan 2011). `chance` is
    that of `inverted`; `highest` is a result that the best truth does not pass.
    """
    if chance(0, observed) >= LEAST_CHANCE:
        return observed
    low, high = observed, highest
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if chance(0, middle) >= LEAST_CHANCE else (middle, high)
    return high


def inverted(
    chance: Callable[[int, float], float], heights: Floats, observed: float, tail: float
) -> tuple[float, float]:
    """The bounds of a measure whose true value may be any of the `heights`, which rise.

    `chance` says for the number of a height how probable a result up to a seen one would be if it were true. The lower
    bound is the smallest height under which a result at least as high as the observed one has a probability of `tail`,
    the upper bound the largest under which one at most as high as the `believable` one has it, with a straight line
    between neighbours.
    """

    def crossing(seen: float, share: float) -> float:
        """The height at which the chance falls to the share."""
        at_most = cache(lambda place: chance(place, seen))
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

    seen = believable(chance, float(heights[-1]), observed)
    return min(observed, crossing(observed, 1 - tail)), max(observed, crossing(seen, tail))


def bounds_of_gaps(
    gaps: Floats,
    squares: Floats,
    weights: Floats,
    n: int,
    tail: float,
    noise: Floats,
    shift: Floats | None = None,
) -> tuple[float, float]:
    """The bounds of a weighted sum of |gaps|, each the mean over n rows of a deviation inside its bin.

    `gaps`, `squares` (bins): the means of the deviations and of their squares inside the bin; `weights` (bins, above
    0); `tail` (the probability on either side); `noise` (draws, bins): standard normal. The truths that are tested are
    what was seen, scaled down to none; and beyond it the nearest by least squares. `shift` (draws) is a noise of mean 0
    that is taken off the sum: where it varies, the truth may lie below 0 by up to six of its standard deviations.
    """
    unit = np.sqrt(squares / n)
    side = np.where(gaps >= 0, 1.0, -1.0)
    growth = side * weights * unit**2 / math.sqrt(float(np.sum((weights * unit) ** 2)))
    inward = np.linspace(0, 1, INWARD)[:, None] * gaps
    outward = gaps + np.linspace(0, BEYOND, OUTWARD + 1)[1:, None] * growth
    truths, off = np.concatenate((inward, outward)), np.zeros(INWARD + OUTWARD)
    if shift is not None:
        truths = np.concatenate((np.zeros((OUTWARD, len(gaps))), truths))
        off = np.concatenate((np.linspace(BEYOND, 0, OUTWARD + 1)[:-1] * float(np.std(shift)), off))
    observed, heights = float(np.sum(weights * np.abs(gaps))), np.sum(weights * np.abs(truths), axis=1) - off

    def chance(place: int, seen: float) -> float:
        moved = truths[place] + _noise_around(truths[place], squares, noise) * unit
        drawn = np.einsum("bk,k->b", np.abs(moved), weights) - off[place]
        return float((drawn - (0.0 if shift is None else shift) <= seen).mean())

    return inverted(chance, heights, observed, tail)


def _noise_around(true: Floats, squares: Floats, noise: Floats) -> Floats:
    """The noise of the gaps in their standard errors: the covariance over the rows is diag(squares) - true true'."""
    share = true / np.sqrt(squares)
    together = float(np.sum(share**2))
    if together <= 0:
        return noise
    if together > 1:
        share, together = share / math.sqrt(together), 1.0
    taken = (1 - math.sqrt(1 - together)) / together
    around: Floats = noise - taken * np.einsum("bk,k->b", noise, share)[:, None] * share
    return around
