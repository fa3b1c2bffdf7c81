"""The smooth calibration curve: how often the outcome occurs along the risks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from dossier.core import equation, facts, register
from dossier.core.types import Absent, Floats
from dossier.metrics import logistic, once, shares

FOUR_KNOTS = (0.05, 0.35, 0.65, 0.95)
THREE_KNOTS = (0.10, 0.50, 0.90)
FEW_FOR_FOUR_KNOTS = 100
FEW_FOR_THREE_KNOTS = 20
LEAST_INFORMATION = 1e-6
"""What is known at least of a coefficient whose noise is drawn."""


@dataclass(frozen=True)
class Smoother:
    """How a curve is fitted: the scale of its spline, the way from there to its height, and what a fit tells of it."""

    forward: Callable[[Floats], Floats]
    back: Callable[..., Floats]
    """Like a ufunc it takes `out`."""
    steep: Callable[[Floats], Floats]
    """How much the height changes with the fit, where the curve is that high."""
    fit: Callable[[Floats, Floats, Floats | None], logistic.LogisticFit | Absent]
    """Of columns, values and weights."""
    known: Callable[[Floats, Floats, Floats], Floats]
    """Of columns in standard errors, the rows in each group and the heights there: a root of what is known of the
    coefficients if the curve is that high."""
    left: Callable[[Floats, Floats], Floats]
    """What a fit leaves of values."""
    moves: Callable[[logistic.LogisticFit, Floats], Floats]
    """How far each row moves a fit on these columns for each unit that it leaves, in its standard errors."""
    names: tuple[str, str, str]
    """What a level, a straight line and a spline are called."""
    band: str

    def noise(self, columns: Floats, rows: Floats, height: Floats, draws: Floats) -> Floats:
        """The noise of coefficients that the fit would have if the curve were that high, from standard normal draws."""
        return np.asarray(np.einsum("bk,kj->bj", draws, np.linalg.inv(self.known(columns, rows, height))))


def _known_of_shares(columns: Floats, rows: Floats, height: Floats) -> Floats:
    information = logistic.information_of(columns, rows * (height * (1 - height)))
    # Where all risks are all but 0 or 1 nothing is known about a coefficient: its noise ends at a thousand errors.
    return np.asarray(np.linalg.cholesky(information + LEAST_INFORMATION * np.eye(len(columns))))


def _moves_of_least_squares(fit: logistic.LogisticFit, columns: Floats) -> Floats:
    transform = logistic.orthogonal(columns)
    if transform is None:
        raise TypeError("a fit has columns that are independent")
    n = columns.shape[1]
    return logistic.combine(np.linalg.solve(fit.root, transform.T) / n, logistic.combine(transform, columns))


LOGISTIC = Smoother(
    logistic.logit,
    logistic.expit,
    lambda height: height * (1 - height),
    lambda design, outcome, weights: logistic.logistic_fit(design, outcome, weights=weights),
    _known_of_shares,
    lambda values, linear: values - logistic.expit(linear),
    lambda fit, columns: logistic.combine(fit.root.T, columns),
    ("single_level", "straight_line", "spline"),
    "wald_band",
)
LEAST_SQUARES = Smoother(
    lambda risk: risk,
    lambda linear, out=None: np.clip(linear, 0.0, 1.0, out=out),
    np.ones_like,
    lambda design, values, _: logistic.linear_fit(design, values),
    lambda columns, rows, height: np.eye(len(columns)),
    lambda values, linear: values - linear,
    _moves_of_least_squares,
    ("level_of_pseudo_observations", "line_of_pseudo_observations", "spline_of_pseudo_observations"),
    "wald_band_of_risk",
)
"""Of pseudo-observations, on the scale of the risk itself: the fit always exists, and its noise is the same wherever
the curve is."""


@dataclass(frozen=True)
class SmoothCurve:
    """A fitted calibration curve: the knots of its spline on the smoother's scale, the fit, and what it is called."""

    knots: tuple[float, ...]
    fit: logistic.LogisticFit
    method: facts.Method
    freedom: float = math.inf
    """The degrees of freedom of the covariance."""
    smoother: Smoother = LOGISTIC


def _quantiles_of(outcome: Floats, design: shares.Design) -> tuple[float, ...]:
    """Where the knots lie, from the size of the smaller class; of weighted rows, how many such rows are worth; of rows
    that were not all followed to the horizon, from the cases."""
    share = design.mean(outcome)
    smaller = round(min(share, 1 - share if design.censoring is None else 1.0) * design.rows)
    if smaller < FEW_FOR_THREE_KNOTS:
        return ()
    return THREE_KNOTS if smaller < FEW_FOR_FOUR_KNOTS else FOUR_KNOTS


@once.once
@register.absent_with_its_parts
def smooth_curve(
    outcome: Floats, risk: Floats, quantiles: tuple[float, ...] | None = None, design: shares.Design | None = None
) -> SmoothCurve | Absent:
    """The logistic regression of the outcome on a restricted cubic spline of logit p.

    `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `quantiles` of logit p at which the knots lie (default: 5, 35, 65, 95
    %; 10, 50, 90 % below 100 events or non-events; none, a straight line, below 20), `design` how the rows were sampled
    (none of them without weight): each counts at its weight, and the covariance is that of what rows or whole clusters
    contribute, in no direction below that of independent rows. Where the outcome is known by follow-up, it is the least
    squares fit of pseudo-observations on a spline of p itself, with the covariance of HC2. Knots that coincide give a
    straight line, a risk that never varies gives a single level. Absent with no rows or one class, or when the fit does
    not exist.
    """
    register.present(register.one_class(outcome))
    sampled = design or shares.Design(len(outcome))
    weights = None if sampled.weights is None else sampled.relative_weights
    smoother, values = LOGISTIC, outcome
    if sampled.censoring is not None:
        smoother, values = LEAST_SQUARES, sampled.censoring.pseudo_observations
    scaled, (level, line, spline) = smoother.forward(risk), smoother.names
    if float(np.ptp(scaled)) == 0:
        level_only = register.present(smoother.fit(np.ones((1, len(values))), values, weights))
        found = SmoothCurve((), level_only, facts.Method(level), smoother=smoother)
        return _as_sampled(found, values, scaled, sampled)
    wanted = _quantiles_of(outcome, sampled) if quantiles is None else quantiles
    knots = tuple(quantile_of(scaled, weights, part) for part in wanted)
    if len(set(knots)) < len(wanted) or logistic.orthogonal(equation.spline_design(scaled, knots)) is None:
        knots = ()
    fit = register.present(smoother.fit(equation.spline_design(scaled, knots), values, weights))
    shape = facts.Fact(spline, knots=len(knots), at=wanted) if knots else facts.Fact(line)
    method = facts.Method(shape, *(logistic.clipped(risk) if smoother is LOGISTIC else ()))
    return _as_sampled(SmoothCurve(knots, fit, method, smoother=smoother), values, scaled, sampled)


def quantile_of(values: Floats, weights: Floats | None, part: float) -> float:
    """The quantile of values: type 7, and of weighted ones between the middles of what each stands for."""
    if weights is None:
        return float(np.quantile(values, part))
    order = np.argsort(values, kind="stable")
    places = np.cumsum(weights[order]) - weights[order] / 2
    return float(np.interp(part * float(weights.sum()), places, values[order]))


def _as_sampled(smooth: SmoothCurve, values: Floats, scaled: Floats, design: shares.Design) -> SmoothCurve:
    """The curve with the covariance that clusters or weights give its coefficients."""
    if design.is_simple or design.obstacle():
        return smooth
    columns = equation.spline_design(scaled, smooth.knots)[: len(smooth.fit.coefficients)]
    left = smooth.smoother.left(values, logistic.combine(smooth.fit.coefficients[None, :], columns)[0])
    score, root = design.relative_weights * left, smooth.fit.root
    # In standard errors of independent rows: of few clusters some directions would seem to be known for sure.
    size, towards = np.linalg.eigh(design.covariance(design.totals(smooth.smoother.moves(smooth.fit, columns) * score)))
    root = root @ towards @ np.diag(np.sqrt(np.maximum(size, 1.0)))
    fit = logistic.LogisticFit(smooth.fit.coefficients, root @ root.T, root)
    return replace(smooth, fit=fit, freedom=design.freedom)


def design_of(smooth: SmoothCurve, risk: Floats) -> Floats:
    """The columns of the curve at these risks: (coefficients, n)."""
    return equation.spline_design(smooth.smoother.forward(risk), smooth.knots)[: len(smooth.fit.coefficients)]


@dataclass(frozen=True)
class WhitenedCurve:
    """A fitted curve at some risks, and all others as points: deviations from it in its standard errors."""

    risk: Floats
    columns: Floats
    """What a step of one standard error in each direction adds to the fit: (coefficients, risks)."""
    fitted: Floats
    """The fitted curve on the smoother's scale: its log odds."""
    diagonal: Floats
    """The point of perfect calibration."""
    smoother: Smoother = field(default=LOGISTIC, kw_only=True)


def whitened(smooth: SmoothCurve, risk: Floats) -> WhitenedCurve:
    """The curve at these risks (any length, 0 to 1), with its coefficients in standard errors."""
    design = design_of(smooth, risk)
    perfect = np.zeros(len(design))
    perfect[1 if len(design) > 1 else 0] = 1.0 if len(design) > 1 else float(smooth.smoother.forward(risk[:1])[0])
    diagonal = np.asarray(np.linalg.solve(smooth.fit.root, perfect - smooth.fit.coefficients), dtype=float)
    fitted = logistic.combine(smooth.fit.coefficients[None, :], design)[0]
    return WhitenedCurve(risk, logistic.combine(smooth.fit.root.T, design), fitted, diagonal, smoother=smooth.smoother)


def curve_at(smooth: SmoothCurve, risk: Floats) -> Floats:
    """The height of the curve at these risks (any length, 0 to 1)."""
    return np.asarray(
        smooth.smoother.back(logistic.combine(smooth.fit.coefficients[None, :], design_of(smooth, risk))[0])
    )
