"""The smooth calibration curve: how often the outcome occurs along the risks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from dossier.core import equation
from dossier.core.facts import Fact, Method
from dossier.core.register import one_class
from dossier.core.types import Absent, Floats
from dossier.metrics.logistic import LogisticFit, clipped, combine, information_of, logistic_fit, logit, orthogonal
from dossier.metrics.once import once
from dossier.metrics.shares import Design

FOUR_KNOTS = (0.05, 0.35, 0.65, 0.95)
THREE_KNOTS = (0.10, 0.50, 0.90)
FEW_FOR_FOUR_KNOTS = 100
FEW_FOR_THREE_KNOTS = 20
LEAST_INFORMATION = 1e-6
"""What is known at least of a coefficient whose noise is drawn."""


@dataclass(frozen=True)
class SmoothCurve:
    """A fitted calibration curve: the knots of its spline on the logit scale, the fit, and what it is called."""

    knots: tuple[float, ...]
    fit: LogisticFit
    method: Method
    freedom: float = math.inf
    """The degrees of freedom of the covariance."""


def _quantiles_of(outcome: Floats, design: Design) -> tuple[float, ...]:
    """Where the knots lie, from the size of the smaller class; of weighted rows, how many such rows are worth."""
    share = design.mean(outcome)
    smaller = round(min(share, 1 - share) * design.rows)
    if smaller < FEW_FOR_THREE_KNOTS:
        return ()
    return THREE_KNOTS if smaller < FEW_FOR_FOUR_KNOTS else FOUR_KNOTS


@once
def smooth_curve(
    outcome: Floats, risk: Floats, quantiles: tuple[float, ...] | None = None, design: Design | None = None
) -> SmoothCurve | Absent:
    """The logistic regression of the outcome on a restricted cubic spline of logit p.

    `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `quantiles` of logit p at which the knots lie (default: 5, 35, 65, 95
    %; 10, 50, 90 % below 100 events or non-events; none, a straight line, below 20), `design` how the rows were sampled
    (none of them without weight): each counts at its weight, and the covariance is that of what rows or whole clusters
    contribute, in no direction below that of independent rows. Knots that coincide give a straight line, a risk that
    never varies gives a single level. Absent with no rows or one class, or when the fit does not exist.
    """
    if reason := one_class(outcome):
        return reason
    log_odds, sampled = logit(risk), design or Design(len(outcome))
    weights = None if sampled.weights is None else sampled.relative_weights
    if float(np.ptp(log_odds)) == 0:
        level_only = logistic_fit(np.ones((1, len(outcome))), outcome, weights=weights)
        if isinstance(level_only, Absent):
            return level_only
        return _as_sampled(SmoothCurve((), level_only, Method("single_level")), outcome, log_odds, sampled)
    wanted = _quantiles_of(outcome, sampled) if quantiles is None else quantiles
    knots = tuple(quantile_of(log_odds, weights, part) for part in wanted)
    if len(set(knots)) < len(wanted) or orthogonal(equation.spline_design(log_odds, knots)) is None:
        knots = ()
    fit = logistic_fit(equation.spline_design(log_odds, knots), outcome, weights=weights)
    if isinstance(fit, Absent):
        return fit
    shape = Fact("spline", knots=len(knots), at=wanted) if knots else Fact("straight_line")
    return _as_sampled(SmoothCurve(knots, fit, Method(shape, *clipped(risk))), outcome, log_odds, sampled)


def quantile_of(values: Floats, weights: Floats | None, part: float) -> float:
    """The quantile of values: type 7, and of weighted ones between the middles of what each stands for."""
    if weights is None:
        return float(np.quantile(values, part))
    order = np.argsort(values, kind="stable")
    places = np.cumsum(weights[order]) - weights[order] / 2
    return float(np.interp(part * float(weights.sum()), places, values[order]))


def _as_sampled(smooth: SmoothCurve, outcome: Floats, log_odds: Floats, design: Design) -> SmoothCurve:
    """The curve with the covariance that clusters or weights give its coefficients."""
    if design.is_simple or design.obstacle():
        return smooth
    columns = equation.spline_design(log_odds, smooth.knots)[: len(smooth.fit.coefficients)]
    score = design.relative_weights * (outcome - expit(combine(smooth.fit.coefficients[None, :], columns)[0]))
    root = smooth.fit.root
    # In standard errors of independent rows: of few clusters some directions would seem to be known for sure.
    size, towards = np.linalg.eigh(design.covariance(design.totals(combine(root.T, columns) * score)))
    root = root @ towards @ np.diag(np.sqrt(np.maximum(size, 1.0)))
    fit = LogisticFit(smooth.fit.coefficients, root @ root.T, root)
    return replace(smooth, fit=fit, freedom=design.freedom)


def design_of(smooth: SmoothCurve, risk: Floats) -> Floats:
    """The columns of the curve at these risks: (coefficients, n)."""
    return equation.spline_design(logit(risk), smooth.knots)[: len(smooth.fit.coefficients)]


@dataclass(frozen=True)
class WhitenedCurve:
    """A fitted curve at some risks, and all others as points: deviations from it in its standard errors."""

    risk: Floats
    columns: Floats
    """What a step of one standard error in each direction adds to the log odds: (coefficients, risks)."""
    fitted: Floats
    """The log odds of the fitted curve."""
    diagonal: Floats
    """The point of perfect calibration."""


def whitened(smooth: SmoothCurve, risk: Floats) -> WhitenedCurve:
    """The curve at these risks (any length, 0 to 1), with its coefficients in standard errors."""
    design = design_of(smooth, risk)
    perfect = np.zeros(len(design))
    perfect[1 if len(design) > 1 else 0] = 1.0 if len(design) > 1 else float(logit(risk[:1])[0])
    diagonal = np.asarray(np.linalg.solve(smooth.fit.root, perfect - smooth.fit.coefficients), dtype=float)
    fitted = combine(smooth.fit.coefficients[None, :], design)[0]
    return WhitenedCurve(risk, combine(smooth.fit.root.T, design), fitted, diagonal)


def noise_at(columns: Floats, information: Floats, noise: Floats) -> Floats:
    """The noise of coefficients that a fit has where its rows, in groups, tell as much: (draws, coefficients).

    `columns` (coefficients, groups), `information` (groups): the sum of p (1 - p) over the rows of each; `noise`
    (draws, coefficients): standard normal.
    """
    # Where all risks are all but 0 or 1 nothing is known about a coefficient: its noise ends at a thousand errors.
    known = information_of(columns, information) + LEAST_INFORMATION * np.eye(len(columns))
    return np.asarray(np.einsum("bk,kj->bj", noise, np.linalg.inv(np.linalg.cholesky(known))))


def curve_at(smooth: SmoothCurve, risk: Floats) -> Floats:
    """The height of the curve at these risks (any length, 0 to 1)."""
    return np.asarray(expit(combine(smooth.fit.coefficients[None, :], design_of(smooth, risk))[0]))
