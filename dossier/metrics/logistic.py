"""Logistic regression: the log odds of a risk, and a fit that is the same on every machine; with another link too."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dossier.core import bands, facts
from dossier.core.types import Absent, Floats

DEPENDENT = Absent(facts.Fact("logistic_columns_dependent"))


def logit(risk: Floats) -> Floats:
    """The log odds of each risk, with risks of 0 and 1 taken as 1e-12 from them."""
    inside = np.clip(risk, bands.CERTAIN, 1 - bands.CERTAIN)
    return np.asarray(np.log(inside) - np.log1p(-inside))


@dataclass(frozen=True)
class Link:
    """The scale on which risks are fitted: the way there and back, and what each row tells of a fit."""

    forward: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]
    tells: Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]
    """Of the fit, the outcomes and the weights of rows: the slope of the log likelihood in the fit, and the
    information."""
    log_likelihood: Callable[[Floats, Floats], Floats]
    """Of the outcomes and the fit of rows."""


def expit(log_odds: Floats, out: Floats | None = None) -> Floats:
    """The risks of log odds. scipy loads each of its packages with the first number: to print takes none of them."""
    return np.asarray(scipy.special.expit(log_odds, out=out))


def _tells_of_log_odds(linear: Floats, outcome: Floats, weight: Floats) -> tuple[Floats, Floats]:
    mean = expit(linear)
    return weight * (outcome - mean), weight * mean * (1 - mean)


def _of_log_hazard(linear: Floats) -> Floats:
    return np.asarray(-np.expm1(-_hazard(linear)))


def _hazard(linear: Floats) -> Floats:
    # Within these bounds risk and hazard are numbers above 0.
    return np.asarray(np.exp(np.clip(linear, -LARGEST_EXPONENT, LARGEST_EXPONENT)))


def _tells_of_log_hazard(linear: Floats, outcome: Floats, weight: Floats) -> tuple[Floats, Floats]:
    hazard, mean = _hazard(linear), _of_log_hazard(linear)
    of_one = hazard / mean
    return weight * (of_one * (outcome - mean)), weight * (of_one * (hazard * np.exp(-hazard)))


LARGEST_EXPONENT = 600.0
LOGIT = Link(logit, expit, _tells_of_log_odds, lambda outcome, linear: outcome * linear - np.logaddexp(0, linear))
CLOGLOG = Link(
    lambda risk: np.asarray(np.log(-np.log1p(-np.clip(risk, bands.CERTAIN, 1 - bands.CERTAIN)))),
    _of_log_hazard,
    _tells_of_log_hazard,
    lambda outcome, linear: outcome * np.log(_of_log_hazard(linear)) - (1 - outcome) * _hazard(linear),
)
"""The link log(-log(1 - p)), on which a hazard ratio is a shift."""
LINKS = {"logit": LOGIT, "cloglog": CLOGLOG}
"""The scales of a declared formula."""


def has_logit(risk: Floats) -> NDArray[np.bool_]:
    """Which risks have a logit of their own: those that are not within 1e-12 of 0 or 1."""
    return np.asarray((risk >= bands.CERTAIN) & (risk <= 1 - bands.CERTAIN))


def clipped(risk: Floats) -> facts.Method:
    """The step that counts the clipped risks; no step where there are none."""
    count = int((~has_logit(risk)).sum())
    return facts.Method(*([facts.Fact("risks_clipped", risks=facts.Count(count, "risk"))] if count else []))


@dataclass(frozen=True)
class LogisticFit:
    """A fitted logistic regression: its coefficients, and their covariance with a root of it."""

    coefficients: Floats
    covariance: Floats
    root: Floats
    """A matrix whose product with its transpose is the covariance."""


def orthogonal(design: Floats) -> Floats | None:
    """The matrix that makes the rows of `design` orthogonal with mean square 1; None when they are not independent.

    Gram and Schmidt with plain sums, twice: a QR from a library may change its last digit with the number of threads.
    """
    columns, n = design.shape
    transform = np.eye(columns)
    for _ in range(2):
        made = combine(transform, design)
        for j in range(columns):
            before = math.sqrt(float(np.sum(made[j] ** 2)))
            for i in range(j):
                share = float(np.sum(made[i] * made[j])) / n
                made[j] -= share * made[i]
                transform[j] -= share * transform[i]
            length = math.sqrt(float(np.sum(made[j] ** 2)))
            if length <= 1e-10 * before:
                return None
            made[j] *= math.sqrt(n) / length
            transform[j] *= math.sqrt(n) / length
    return transform


def combine(coefficients: Floats, design: Floats) -> Floats:
    """Sums of the rows of `design`, row by row without a matrix library, so that the result is the same everywhere."""
    total: Floats = coefficients[:, :1] * design[0]
    term = np.empty_like(total)
    for j in range(1, len(design)):
        total += np.multiply(coefficients[:, j : j + 1], design[j], out=term)
    return total


def logistic_fit(
    design: Floats, outcome: Floats, offset: Floats | None = None, weights: Floats | None = None, link: Link = LOGIT
) -> LogisticFit | Absent:
    """The maximum likelihood fit of a logistic regression by Newton's method, converged to 1e-12.

    `design` (columns, n), `outcome` (n, 0 or 1), `offset` (n, log odds, or on the scale of the `link`); `weights` (n, 0
    or more, mean 1) hold each row at its weight, and the covariance is then not that of the coefficients. Absent when
    the columns are not independent, when they separate the outcomes or so nearly that a coefficient rests on less than
    a billionth of the rows, or when the steps do not converge: never a half-finished fit.
    """
    weight = np.ones(len(outcome)) if weights is None else weights
    transform = orthogonal(design * np.sqrt(weight))
    if transform is None:
        return DEPENDENT
    columns = combine(transform, design)
    start = np.zeros(len(outcome)) if offset is None else offset

    def log_likelihood(linear: Floats) -> float:
        return float(np.sum(weight * link.log_likelihood(outcome, linear)))

    found = np.zeros(len(columns))
    linear, likelihood, before = start, log_likelihood(start), math.inf
    for _ in range(100):
        slope, tells = link.tells(linear, outcome, weight)
        gradient = np.sum(columns * slope, axis=1)
        information = information_of(columns, tells)
        if float(np.linalg.eigvalsh(information)[0]) < 1e-9 * len(outcome):
            return Absent(facts.Fact("outcomes_separated_no_logistic_fit"))
        step = np.linalg.solve(information, gradient)
        size, foretold = float(np.abs(step).max()), float(gradient @ step)
        # Where there is little information rounding moves a step, but never by much of a standard error.
        least = min(size, math.sqrt(max(foretold, 0.0)))
        if size <= 1e-12 * max(1.0, float(np.abs(found).max())) or (least < 1e-9 and size > before / 2):
            covariance = transform.T @ np.linalg.inv(information) @ transform
            root = transform.T @ np.linalg.inv(np.linalg.cholesky(information)).T
            return LogisticFit(found @ transform, covariance, root)
        for _ in range(40):
            moved = start + combine((found + step)[None, :], columns)[0]
            now = log_likelihood(moved)
            # A step that gains far less than its slope foretells leads onto the flat part, from where none leads back.
            if now >= likelihood + foretold / 4 - 1e-10 * max(1.0, abs(likelihood)):
                break
            step, foretold = step / 2, foretold / 2
        found, linear, likelihood, before = found + step, moved, now, size
    return Absent(facts.Fact("logistic_fit_did_not_converge"))


def linear_fit(design: Floats, values: Floats) -> LogisticFit | Absent:
    """The least squares fit of values on the rows of `design` (columns, n), with the covariance of HC2.

    Each squared residual is divided by what its row's leverage leaves of it. Absent when the columns are not
    independent, or the residuals of too few rows vary. Source: MacKinnon and White 1985.
    """
    transform = orthogonal(design)
    if transform is None:
        return DEPENDENT
    columns, n = combine(transform, design), len(values)
    found = np.sum(columns * values, axis=1) / n
    leverage = np.sum(columns**2, axis=0) / n
    squared = (values - combine(found[None, :], columns)[0]) ** 2 / np.maximum(1 - leverage, 1 / n)
    covariance = information_of(columns, squared / n**2)
    if float(np.linalg.eigvalsh(covariance)[0]) <= 1e-9 * float(np.trace(covariance)):
        return Absent(facts.Fact("residuals_do_not_vary"))
    root = transform.T @ np.linalg.cholesky(covariance)
    return LogisticFit(found @ transform, root @ root.T, root)


def sandwich(fit: LogisticFit, design: Floats, outcome: Floats, offset: float | Floats = 0.0) -> Floats:
    """The covariance of the coefficients of a fit, right also where the model is not: of the HC3 kind.

    Each residual is divided by what its row's leverage leaves of it. Source: MacKinnon and White 1985.
    """
    chance = expit(offset + combine(fit.coefficients[None, :], design)[0])
    towards = combine(fit.covariance, design)
    leverage = chance * (1 - chance) * np.sum(design * towards, axis=0)
    moved = towards * ((outcome - chance) / (1 - leverage))
    return np.array([np.sum(each * moved, axis=1) for each in moved])


def near_intercept(outcome: Floats, offset: Floats, weights: Floats, link: Link = LOGIT) -> float:
    """The intercept to within one half at which as many events are expected as there are.

    From here a fit of the intercept sees the rows that tell of it; from 0 it may see no information at all, where the
    risks are all far too low or too high, or lie at 0 and 1.
    """
    events = float(np.sum(weights * outcome))
    centre = float(link.forward(np.array(events / float(np.sum(weights)))))
    low, high = centre - float(offset.max()), centre - float(offset.min())
    while high - low > 1:
        middle = (low + high) / 2
        enough = float(np.sum(weights * link.back(offset + middle))) >= events
        low, high = (low, middle) if enough else (middle, high)
    return (low + high) / 2


def information_of(columns: Floats, weight: Floats) -> Floats:
    """The information on coefficients: `columns` (coefficients, n) and `weight` (n), p (1 - p) of each row."""
    return np.array([np.sum(a * weight * columns, axis=1) for a in columns])
