"""How far from the risks the true calibration curve may lie where it lies farthest."""

from __future__ import annotations

import math

import numpy as np

from dossier.core.types import Floats
from dossier.metrics import intervals, logistic
from dossier.metrics.smooth_curve import SmoothCurve, WhitenedCurve, design_of, whitened

PLACES = 64
FROM_BELOW = 1.8
"""How many halves of what the level leaves may miss from below: from above next to no largest distance is missed. That
there is any at all is to be shown at one half, as the tests of small ones are a little too ready to refute it."""
WIDER, HALVINGS_OF_STEP = 1.05, 6
"""The band of the largest distance widens by this factor, and the last step is halved so often."""
MOST_WALLS, INSIDE = 200, 1e-9
"""So many walls may push a curve back into a tube, in which it is when it lies beyond none by more than that."""


def bounds_of_the_largest(
    risk: Floats, smooth: SmoothCurve, groups: WhitenedCurve, sizes: Floats, noise: Floats, level: float
) -> tuple[float, float]:
    """The bounds of the largest distance of a curve from these risks (sorted).

    `groups` are the curve at groups of all rows, with their `sizes`; `noise` (draws, coefficients) is standard normal.
    """
    # The largest distance from a risk to the far end of the curve's pointwise band: it bounds the maximum, wherever
    # that lies.
    design = design_of(smooth, risk)
    centre = logistic.combine(smooth.fit.coefficients[None, :], design)[0]
    variance = np.sum(logistic.combine(smooth.fit.covariance, design) * design, axis=0)
    half = intervals.two_sided_student(level, smooth.freedom) * np.sqrt(np.maximum(variance, 0))
    ends = np.abs(smooth.smoother.back(np.stack((centre - half, centre + half))) - risk)
    most = float(ends.max())
    return _least(whitened(smooth, _places(risk)), groups, sizes, noise, level), most


def _places(risk: Floats) -> Floats:
    """At most 128 of the sorted risks: as many evenly by rank as by log odds, the ends among them.

    The largest distance may lie where few rows do, but only where there are any.
    """
    there = np.unique(risk)
    by_rank = np.linspace(0, len(there) - 1, PLACES).round().astype(int)
    log_odds = logistic.logit(there)
    by_log_odds = np.searchsorted(log_odds, np.linspace(log_odds[0], log_odds[-1], PLACES))
    return np.asarray(there[np.unique(np.concatenate((by_rank, by_log_odds)))])


def _least(curve: WhitenedCurve, groups: WhitenedCurve, sizes: Floats, noise: Floats, level: float) -> float:
    """The lower bound of the largest distance; 0 where perfect calibration is not refuted.

    `curve` is the fitted one at some risks, `groups` are groups of all rows with their `sizes`; `noise` (draws,
    coefficients) is standard normal.
    """
    tail = (1 - level) / 2
    if _smallest(curve, groups, sizes, noise, tail) == 0:
        return 0.0
    return _smallest(curve, groups, sizes, noise, FROM_BELOW * tail)


def _smallest(curve: WhitenedCurve, groups: WhitenedCurve, sizes: Floats, noise: Floats, tail: float) -> float:
    """The smallest largest distance that is not refuted at this tail: how far the near end of a band around the fitted
    curve lies from the risks, where it lies farthest. The arguments are those of `_least`.

    The band is so many standard errors wide that what is smaller is refuted: a largest distance makes a tube around
    perfect calibration, and the nearest curve inside it, moved by noise with the covariance that the fit would have
    there, is to leave it by as much in few draws. Where that curve touches the tube at one place the band is that of
    one place, and where it runs along it that of all: it need not be known where the largest distance lies.
    """
    error, back = np.sqrt(np.sum(curve.columns**2, axis=0)), curve.smoother.back

    def near_end(errors: float) -> float:
        above, below = back(curve.fitted - errors * error), back(curve.fitted + errors * error)
        return max(0.0, float(np.maximum(above - curve.risk, curve.risk - below).max()))

    def refuted(errors: float) -> bool:
        beyond, towards = _beyond_the_tube(curve, near_end(errors), error)
        if len(beyond) == 0:
            # All risks lie so near to 0 or 1 that rounding leaves the tube no wall.
            return True
        inside = _nearest_inside(beyond, towards, curve.diagonal)[None, :]
        height = back(groups.fitted + logistic.combine(inside, groups.columns)[0])
        moves = groups.smoother.noise(groups.columns, sizes, height, noise)
        beyond = beyond + logistic.combine(inside, towards)[0]
        lengths = np.sqrt(np.sum(moves**2, axis=1))
        # Each wall is one standard error away for a move of length one: few draws reach any, and few walls are reached.
        walls, far = beyond + lengths.max() >= errors, beyond.max() + lengths >= errors
        if not walls.any():
            return True
        drawn = beyond[walls] + np.einsum("bk,kw->bw", moves[far], towards[:, walls])
        return int((drawn.max(axis=1) >= errors).sum()) / len(moves) <= tail

    narrow = wide = intervals.two_sided(1 - 2 * tail)
    while near_end(wide) > 0 and not refuted(wide):
        narrow, wide = wide, wide * WIDER
    for _ in range(HALVINGS_OF_STEP):
        middle = (narrow + wide) / 2
        narrow, wide = (narrow, middle) if refuted(middle) else (middle, wide)
    return near_end(wide)


def _beyond_the_tube(curve: WhitenedCurve, largest: float, error: Floats) -> tuple[Floats, Floats]:
    """By how many of its standard errors the fitted curve lies beyond each wall of the tube, and what each coefficient
    adds to that: (walls) and (coefficients, walls). No curve passes a wall at a risk of 0 or 1, which is left out.
    """
    upper, lower, steps = curve.risk + largest, curve.risk - largest, curve.columns / error
    above, below, forward = upper < 1, lower > 0, curve.smoother.forward
    beyond = np.concatenate(
        (((curve.fitted - forward(upper)) / error)[above], ((forward(lower) - curve.fitted) / error)[below])
    )
    return beyond, np.concatenate((steps[:, above], -steps[:, below]), axis=1)


def _nearest_inside(beyond: Floats, towards: Floats, diagonal: Floats) -> Floats:
    """The nearest curve that passes no wall: the shortest point at which `beyond` + point . `towards` is nowhere above
    0 (least distance programming, by the dual method of Goldfarb and Idnani 1983).

    One wall after another, the one farthest passed, pushes the point back, until none is passed; a wall that pulls is
    let go. `diagonal` is a point that passes none, and the answer where rounding leaves no other.
    """
    point, pushes = np.zeros(len(towards)), np.zeros(0)
    walls: list[int] = []
    for _ in range(MOST_WALLS):
        passed = beyond + logistic.combine(point[None, :], towards)[0]
        wall = int(np.argmax(passed))
        if passed[wall] <= INSIDE:
            return point
        push = 0.0
        while True:
            held, new = towards[:, np.array(walls, dtype=int)], towards[:, wall]
            shares = np.linalg.lstsq(held, new, rcond=None)[0]
            free = new - np.sum(held * shares, axis=1)
            room = float(np.sum(free**2))
            reach = float(beyond[wall] + np.sum(new * point)) / room if room > INSIDE else math.inf
            until = np.divide(pushes, shares, out=np.full(len(walls), math.inf), where=shares > 0)
            step = min(reach, float(until.min(initial=math.inf)))
            if step == math.inf:
                return diagonal
            point, pushes, push = point - step * free * (room > INSIDE), pushes - step * shares, push + step
            if step == reach:
                break
            loose = int(np.argmin(until))
            walls, pushes = walls[:loose] + walls[loose + 1 :], np.delete(pushes, loose)
        walls, pushes = [*walls, wall], np.append(pushes, push)
    return diagonal
