"""Whole populations of which every measure is known: risks that are normal on the logit scale, outcomes by a known
chance, and the truths by quadrature.

Nothing here calls a measure of ours: the truths are integrals over the linear predictor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm

from dossier.core.types import Floats

SPREAD = 1.2
"""The standard deviation of the linear predictor: an AUROC of about .78 when calibrated."""
AGREEMENT = 0.8
"""The correlation of the linear predictors of model and rival."""
REACH = 9.0
LINES = {
    "calibrated": (0.0, 1.0),
    "slight": (0.1, 0.9),
    "miscalibrated": (0.4, 0.7),
    "shifted": (0.5, 1.0),
    "far too low": (1.5, 1.0),
    "far too high": (-1.5, 1.0),
    "too extreme": (0.5, 0.5),
    "useless": (0.0, 0.0),
}
"""How the true log odds lie to those of the risk: how much higher, and how many times as far from their mean."""
BIN_ENDS = np.arange(1, 10) / 10


@dataclass(frozen=True)
class Design:
    """A model at a hospital: the mean of its linear predictor, and how it errs."""

    condition: str
    prevalence: float
    centre: float

    def chance(self, linear: Floats) -> Floats:
        """The true chance of the outcome at each linear predictor."""
        return _chance(self.condition, linear, self.centre)


def _chance(condition: str, linear: Floats, centre: float) -> Floats:
    apart = linear - centre
    if condition == "curved":
        return np.asarray(expit(linear + 0.25 * ((apart / SPREAD) ** 2 - 1)))
    shift, slope = LINES[condition]
    return np.asarray(expit(centre + shift + slope * apart))


def design_of(condition: str, prevalence: float) -> Design:
    """The design whose true prevalence is the one that is asked for."""

    def excess(centre: float) -> float:
        linear, share = quadrature(centre, ())
        return float(np.sum(share * _chance(condition, linear, centre))) - prevalence

    return Design(condition, prevalence, float(brentq(excess, -10, 10, xtol=1e-14)))


def quadrature(centre: float, cuts: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Nodes and weights of the normal distribution, by Gauss and Legendre between the cuts, where integrands jump."""
    inside = [cut for cut in cuts if abs(cut - centre) < REACH * SPREAD]
    ends = np.unique([*np.linspace(centre - REACH * SPREAD, centre + REACH * SPREAD, 19), *inside])
    node, weight = np.polynomial.legendre.leggauss(40)
    half = np.diff(ends)[:, None] / 2
    linear = (ends[:-1, None] + half + half * node).ravel()
    share = (half * weight).ravel() * norm.pdf(linear, centre, SPREAD)
    return linear, share / share.sum()


@dataclass(frozen=True)
class Population:
    """A distribution of linear predictors with the chance of the outcome at each."""

    linear: Floats
    share: Floats
    risk: Floats
    chance: Floats

    def mean(self, values: Floats) -> float:
        """The expectation of a function of the linear predictor."""
        return float(np.sum(self.share * values))


def population(centre: float, chance: Callable[[Floats], Floats], threshold: float) -> Population:
    """The population with its nodes cut at the threshold, at one half and at the ends of ten bins."""
    cuts = tuple(float(logit(cut)) for cut in (*BIN_ENDS, threshold, 1 - threshold, threshold / 2, 0.75, 0.25))
    linear, share = quadrature(centre, cuts)
    return Population(linear, share, np.asarray(expit(linear)), chance(linear))


def rival_chance(design: Design) -> Callable[[Floats], Floats]:
    """The chance of the outcome given the rival's linear predictor, which follows the model's with correlation .8."""
    node, weight = np.polynomial.hermite_e.hermegauss(60)
    noise = math.sqrt(1 - AGREEMENT**2) * SPREAD

    def chance(linear: Floats) -> Floats:
        given = design.centre + AGREEMENT * (linear - design.centre)
        return np.asarray((design.chance(given[:, None] + noise * node) * weight).sum(axis=1) / weight.sum())

    return chance


# ---- truths ---------------------------------------------------------------------------------------------------------


def truths(found: Population, threshold: float, centre: float, chance: Callable[[Floats], Floats]) -> dict[str, float]:
    """The true value of every measure of one model, by the measure's name."""
    shares = _shares(found, threshold)
    return {
        **_of_scores(found),
        **_of_the_line(found),
        **_of_counts(shares),
        **_of_utility(found, shares, threshold),
        **_of_bins(found),
        **of_ranks(centre, chance),
        "model_based_concordance": of_ranks(centre, expit)["auroc"],
        "e50": _quantile_of_gaps(centre, chance, 0.5),
        "e90": _quantile_of_gaps(centre, chance, 0.9),
    }


@dataclass(frozen=True)
class Shares:
    """The shares of the population that are flagged or not, with or without the outcome."""

    tp: float
    fp: float
    fn: float
    tn: float


@dataclass(frozen=True)
class Benefits:
    """The true net benefits at a threshold, and the rarest share that each is made of."""

    net_benefit: float
    gain: float
    difference: float
    rarest: dict[str, float]


def benefits(design: Design, threshold: float) -> Benefits:
    """The net benefit, its gain over the better default and its difference from the rival."""
    found, odds = population(design.centre, design.chance, threshold), threshold / (1 - threshold)
    cells, phi = _shares(found, threshold), found.mean(found.chance)
    noise = math.sqrt(1 - AGREEMENT**2) * SPREAD
    below = (logit(threshold) - design.centre - AGREEMENT * (found.linear - design.centre)) / noise
    theirs, ours = norm.sf(below), (found.risk >= threshold).astype(float)
    alone = [
        found.mean(share * flagged)
        for share in (found.chance, 1 - found.chance)
        for flagged in (ours * (1 - theirs), (1 - ours) * theirs)
    ]
    benefit, everyone = cells.tp - odds * cells.fp, phi - odds * (1 - phi)
    over_the_better = (cells.tn, cells.fn) if everyone > 0 else (cells.tp, cells.fp)
    return Benefits(
        benefit,
        benefit - max(0.0, everyone),
        alone[0] - alone[1] - odds * (alone[2] - alone[3]),
        {
            "net_benefit": min(cells.tp, cells.fp),
            "net_benefit_gain": min(over_the_better),
            "net_benefit_difference": min(alone),
        },
    )


def _shares(found: Population, threshold: float) -> Shares:
    flagged = (found.risk >= threshold).astype(float)
    return Shares(
        found.mean(flagged * found.chance),
        found.mean(flagged * (1 - found.chance)),
        found.mean((1 - flagged) * found.chance),
        found.mean((1 - flagged) * (1 - found.chance)),
    )


def _of_scores(found: Population) -> dict[str, float]:
    p, c = found.risk, found.chance
    phi = found.mean(c)
    brier = found.mean(c * (1 - p) ** 2 + (1 - c) * p**2)
    log = found.mean(c * np.log(p) + (1 - c) * np.log1p(-p))
    null = phi * math.log(phi) + (1 - phi) * math.log(1 - phi)
    return {
        "brier": brier,
        "scaled_brier": 1 - brier / (phi * (1 - phi)),
        "log_score": log,
        "nagelkerke_r2": (1 - math.exp(2 * (null - log))) / (1 - math.exp(2 * null)),
        "tjur_r2": found.mean(c * p) / phi - found.mean((1 - c) * p) / (1 - phi),
        "oe_ratio": phi / found.mean(p),
        "ici": found.mean(np.abs(c - p)),
    }


def _of_the_line(found: Population) -> dict[str, float]:
    """The lines on the logit scale that fit the population best, by Newton's method."""
    intercept = 0.0
    for _ in range(60):
        fitted = expit(intercept + found.linear)
        intercept += found.mean(found.chance - fitted) / found.mean(fitted * (1 - fitted))
    joint, slope = line_through(
        found.linear, found.share, found.chance, np.vstack((np.ones_like(found.linear), found.linear))
    )
    return {"calibration_intercept": intercept, "calibration_intercept_joint": joint, "calibration_slope": slope}


def line_through(linear: Floats, share: Floats, chance: Floats, design: Floats) -> Floats:
    """The coefficients of the logistic regression on these columns that fits the population best."""
    found = np.zeros(len(design))
    found[1] = 1.0
    for _ in range(100):
        fitted = expit(found @ design)
        gradient = design @ (share * (chance - fitted))
        found = found + np.linalg.solve((design * (share * fitted * (1 - fitted))) @ design.T, gradient)
    return found


def _of_counts(shares: Shares) -> dict[str, float]:
    phi, flagged = shares.tp + shares.fn, shares.tp + shares.fp
    se, sp = shares.tp / phi, shares.tn / (1 - phi)
    ppv, npv = shares.tp / flagged, shares.tn / (1 - flagged)
    by_chance = flagged * phi + (1 - flagged) * (1 - phi)
    margins = flagged * (1 - flagged) * phi * (1 - phi)
    return {
        "sensitivity": se,
        "specificity": sp,
        "ppv": ppv,
        "npv": npv,
        "accuracy": shares.tp + shares.tn,
        "balanced_accuracy": (se + sp) / 2,
        "youden_j": se + sp - 1,
        "markedness": ppv + npv - 1,
        "mcc": (shares.tp * shares.tn - shares.fp * shares.fn) / math.sqrt(margins),
        "cohen_kappa_of_model": (shares.tp + shares.tn - by_chance) / (1 - by_chance),
        "f1": 2 * shares.tp / (phi + flagged),
        "likelihood_ratio_positive": se / (1 - sp),
        "likelihood_ratio_negative": (1 - se) / sp,
    }


MISSED, ALARM = 1.0, 0.4
"""How grave a missed case and a false alarm are."""
FULL_CREDIT = 0.75


def _of_utility(found: Population, shares: Shares, threshold: float) -> dict[str, float]:
    p, c = found.risk, found.chance
    phi, odds = shares.tp + shares.fn, threshold / (1 - threshold)
    benefit = shares.tp - shares.fp * odds
    credit = np.clip((p - threshold / 2) / (threshold / 2), 0, 1)
    right_case, right_other = (np.clip((own - 0.5) / (FULL_CREDIT - 0.5), 0, 1) for own in (p, 1 - p))
    whole = threshold * (1 - phi) + (1 - threshold) * phi
    weighted = ((1 - threshold) * shares.tp + threshold * shares.tn) / whole
    wrong = shares.fn + shares.fp
    return {
        "net_benefit": benefit,
        "standardized_net_benefit": benefit / phi,
        "net_benefit_gain": benefit - max(0.0, phi - (1 - phi) * odds),
        "weighted_utility": found.mean(credit * (c - (1 - c) * odds)) / phi,
        "h_accuracy": (found.mean(c * right_case) / phi + found.mean((1 - c) * right_other) / (1 - phi)) / 2,
        "h_accuracy_risk": weighted,
        "cost_weighted_accuracy": weighted,
        "error_severity_index": 10 * (MISSED * shares.fn + ALARM * shares.fp) / wrong,
        "mean_severity": MISSED * shares.fn + ALARM * shares.fp,
    }


def _in_bins(position: Floats, *values: Floats) -> tuple[Floats, ...]:
    """Sums over ten bins of equal width."""
    location = np.searchsorted(BIN_ENDS, position, side="right")
    return tuple(np.asarray(np.bincount(location, weights=value, minlength=10), dtype=float) for value in values)


def _of_bins(found: Population) -> dict[str, float]:
    gap, risk, size = _in_bins(
        found.risk, found.share * (found.chance - found.risk), found.share * found.risk, found.share
    )
    middle = risk / np.maximum(size, 1e-300)
    sure = np.maximum(found.risk, 1 - found.risk)
    right = np.where(found.risk >= 0.5, found.chance, 1 - found.chance)
    of_right, of_sure, rows = _in_bins(sure, found.share * right, found.share * sure, found.share)
    rows = np.maximum(rows, 1e-300)
    apart, mean = np.abs(of_right - of_sure) / rows, of_sure / rows
    return {
        "ece": float(np.abs(gap).sum()),
        "eci": 1 - float((np.abs(gap) / np.maximum(middle, 1 - middle)).sum()),
        "advisor_value ece": float((of_sure * (1 - apart)).sum()),
        "advisor_value eci": float((of_sure * (1 - apart / np.maximum(mean, np.maximum(1 - mean, 0.5)))).sum()),
    }


def of_ranks(centre: float, chance: Callable[[Floats], Floats]) -> dict[str, float]:
    """AUROC, average precision and a part of the ROC curve, on a fine even grid from the highest risk down."""
    linear = np.linspace(centre + REACH * SPREAD, centre - REACH * SPREAD, 40_001)
    density = norm.pdf(linear, centre, SPREAD)
    density /= density.sum()
    case, other = density * chance(linear), density * (1 - chance(linear))
    tpr, fpr = (np.concatenate(([0.0], np.cumsum(each) / each.sum())) for each in (case, other))
    auroc = float(np.trapezoid(tpr, fpr))
    flagged = np.cumsum(density) - density / 2
    precision = (np.cumsum(case) - case / 2) / flagged
    inside = fpr <= ROC_PART[1]
    height = float(np.interp(ROC_PART[1], fpr, tpr))
    x, y = np.append(fpr[inside], ROC_PART[1]), np.append(tpr[inside], height)
    areas = float(np.trapezoid(y, x)) + float(np.trapezoid(1 - x, y))
    return {
        "auroc": auroc,
        "auprc": float(np.sum(precision * case) / case.sum()),
        "balanced_average_accuracy": areas / (ROC_PART[1] + height),
    }


ROC_PART = (0.0, 0.2)


def _quantile_of_gaps(centre: float, chance: Callable[[Floats], Floats], share: float) -> float:
    """The quantile of |chance - risk| over the population, on a fine even grid."""
    linear = np.linspace(centre - REACH * SPREAD, centre + REACH * SPREAD, 40_001)
    gaps, density = np.abs(chance(linear) - expit(linear)), norm.pdf(linear, centre, SPREAD)
    order = np.argsort(gaps)
    reached = np.cumsum(density[order]) - density[order] / 2
    return float(np.interp(share * density.sum(), reached, gaps[order]))


# ---- the curve that a smoother would find in the whole population ---------------------------------------------------


def spline_columns(linear: Floats, knots: tuple[float, ...]) -> Floats:
    """Harrell's restricted cubic spline, written out knot by knot."""
    rows = [np.ones_like(linear), linear]
    for j in range(len(knots) - 2):
        a, b = knots[-2], knots[-1]
        term = np.maximum(linear - knots[j], 0) ** 3
        term = term - np.maximum(linear - a, 0) ** 3 * (b - knots[j]) / (b - a)
        rows.append(term + np.maximum(linear - b, 0) ** 3 * (a - knots[j]) / (b - a))
    return np.vstack(rows)


def limit_of_smoother(design: Design, quantiles: tuple[float, ...]) -> Callable[[Floats], Floats]:
    """The curve that the smoother with knots at these quantiles finds when it sees everybody."""
    knots = tuple(float(knot) for knot in norm.ppf(quantiles, design.centre, SPREAD))
    linear, share = quadrature(design.centre, knots)
    coefficients = line_through(linear, share, design.chance(linear), spline_columns(linear, knots))
    return lambda at: np.asarray(expit(coefficients @ spline_columns(at, knots)))
