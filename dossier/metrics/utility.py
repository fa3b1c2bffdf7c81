"""Net benefit: is it better to act on the model than to treat everybody or nobody?"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dossier.metrics.intervals import column, estimate, standard_error, two_sided
from dossier.register import curve, curve_synthesis, metric
from dossier.types import Absent, Curve, Estimate, Floats, SiteResults, found_curve

POINTS = 101
"""Thresholds of a decision curve."""

NO_ROWS = Absent("there are no rows")
AT_ONE = Absent("net benefit is not defined at a threshold of 1, where one false positive outweighs everything")


def contributions(outcome: Floats, risk: Floats, threshold: float) -> Floats:
    """What each row adds to the net benefit: 1 for a true positive, minus the odds of the threshold for a false one."""
    odds = threshold / (1 - threshold)
    return np.where(risk >= threshold, outcome - (1 - outcome) * odds, 0.0)


@metric(
    "Net benefit",
    digits=1,
    unit="per 100",
    range=(None, 1),
    best="higher",
    tier="core",
    cites=("Vickers 2006", "Vickers 2008"),
    at=("threshold",),
    breaks=("perfect is best", "one class is absent"),
)
def net_benefit(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of patients rightly flagged, less those flagged in error at the exchange rate of the threshold.

    0 is what treating nobody gives; the highest possible value is the prevalence. A threshold of 10 % says that one
    missed case is as bad as nine needless treatments.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `threshold` (0 to below 1; positive means risk >=
    threshold), `level`. Returns TP/n - FP/n t/(1-t) with a normal interval from the standard error of the rows'
    contributions (variance with n - 1). Absent without rows or at a threshold of 1; the bounds are missing when every
    row contributes the same. `details` holds `treat_all`, the net benefit of flagging everyone.
    Source: Vickers and Elkin 2006; the variance as in Vickers 2008.
    """
    if len(outcome) == 0:
        return NO_ROWS
    if threshold >= 1:
        return AT_ONE
    found = contributions(outcome, risk, threshold)
    everyone = float(contributions(outcome, np.ones(len(outcome)), threshold).mean())
    value = estimate(float(found.mean()), standard_error(found), level, outcome, "normal", ceiling=1)
    return replace(value, details={"treat_all": everyone})


@metric(
    "Standardized net benefit",
    digits=2,
    range=(None, 1),
    best="higher",
    tier="supporting",
    cites=("Kerr 2016", "Riley 2021"),
    at=("threshold",),
    breaks=("one class is absent",),
)
def standardized_net_benefit(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The net benefit as a share of the highest that a perfect model could reach at this site.

    1 is perfect, 0 is what treating nobody gives.

    Arguments: as for `net_benefit`. Returns net benefit / prevalence with a normal interval and the variance of Riley
    2021: (1/n)[se(1-se)/phi + w^2 sp(1-sp)/(1-phi) + w^2 (1-sp)^2/(phi(1-phi))], w = ((1-phi)/phi)(t/(1-t)), phi the
    prevalence observed at the site. Absent without rows, without a case or at a threshold of 1; the bounds are
    missing when the variance is 0.
    """
    if len(outcome) == 0:
        return NO_ROWS
    if threshold >= 1:
        return AT_ONE
    phi = float(outcome.mean())
    if phi == 0:
        return Absent(f"none of the {len(outcome)} rows has the outcome")
    value = float(contributions(outcome, risk, threshold).mean()) / phi
    variance = standardized_variance(outcome, risk, threshold)
    se = math.sqrt(variance) if variance > 0 else None
    return estimate(value, se, level, outcome, "normal, variance of Riley 2021", ceiling=1)


def standardized_variance(outcome: Floats, risk: Floats, threshold: float) -> float:
    """Riley's variance of the standardized net benefit, written so that a site without non-cases is no special case."""
    n, phi = len(outcome), float(outcome.mean())
    positive = risk >= threshold
    hit = float(positive[outcome == 1].mean())
    false_alarm = float(positive[outcome == 0].mean()) if phi < 1 else 0.0
    scale = (1 - phi) * (threshold / (1 - threshold) / phi) ** 2
    return (hit * (1 - hit) / phi + scale * (false_alarm * (1 - false_alarm) + false_alarm**2 / phi)) / n


def _counts_at(chosen: Floats, thresholds: Floats) -> Floats:
    """How many of the risks reach each threshold."""
    reached = len(chosen) - np.searchsorted(np.sort(chosen), thresholds, side="left")
    return np.asarray(reached, dtype=float)


@curve("Decision curve", cites="Vickers 2006")
def decision_curve(
    outcome: Floats,
    risk: Floats,
    threshold_range: tuple[float, float] | None = None,
    level: float = 0.95,
    declared_thresholds: tuple[float, ...] = (),
) -> Curve | Absent:
    """The net benefit of acting on the model, of treating everybody and of treating nobody, over a range of thresholds.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `threshold_range` (lowest and highest threshold, below 1;
    None: the 1st and the 99th percentile of the risks), `level`,
    `declared_thresholds` (those inside the range are points of the curve). Returns 101 thresholds and the declared
    ones with `net_benefit`, its pointwise normal band `low` and `high`, its standard error `se` (missing with a single
    row), `treat_all` and `treat_none`. Absent without rows or when the range reaches 1. Source: Vickers and Elkin 2006.
    """
    if len(outcome) == 0:
        return NO_ROWS
    low, high = threshold_range or (float(np.quantile(risk, 0.01)), float(np.quantile(risk, 0.99)))
    if high >= 1:
        return AT_ONE
    n = len(outcome)
    thresholds = _grid(low, high, declared_thresholds)
    odds = thresholds / (1 - thresholds)
    true = _counts_at(risk[outcome == 1], thresholds)
    false = _counts_at(risk[outcome == 0], thresholds)
    value = (true - false * odds) / n
    phi = float(outcome.mean())
    columns: dict[str, tuple[float | None, ...]] = {"threshold": column(thresholds), "net_benefit": column(value)}
    if n > 1:
        variance = np.maximum((true + false * odds**2) / n - value**2, 0) / (n - 1)
        columns |= _band(value, np.sqrt(variance), level)
    else:
        columns |= dict.fromkeys(("low", "high", "se"), (None,) * len(thresholds))
    columns |= {"treat_all": column(phi - (1 - phi) * odds), "treat_none": (0.0,) * len(thresholds)}
    return Curve(columns, n, "pointwise normal", int(outcome.sum()))


def _grid(low: float, high: float, declared: tuple[float, ...]) -> Floats:
    """Even steps over the range, and the declared thresholds in it exactly: their values are printed."""
    even = np.linspace(low, high, POINTS)
    inside = [one for one in declared if low < one < high]
    apart = [one for one in even if all(abs(one - other) > 1e-9 for other in inside)]
    return np.sort(np.array([*apart, *inside]))


def _band(value: Floats, se: Floats, level: float) -> dict[str, tuple[float | None, ...]]:
    half = two_sided(level) * se
    return {"low": column(value - half), "high": column(np.minimum(value + half, 1)), "se": column(se)}


@curve_synthesis("Decision curve of all external sites", cites="Vickers 2006")
def decision_curve_all_sites(sites: tuple[SiteResults, ...], level: float = 0.95) -> Curve | Absent:
    """The decision curve of all external sites' people together.

    Each site's curve counts by its number of rows, which gives exactly the net benefit of all rows in one table. The
    sites are taken as fixed: the band says how sure we are about these sites, not about a next one.

    Arguments: `sites` (the results of the external sites), `level`. Returns the columns of `decision_curve`; variance =
    sum (n_s/n)^2 se_s^2. Absent with fewer than two curves, or when the curves do not share their thresholds.
    """
    curves = [found for site in sites if isinstance(found := found_curve(site, "decision_curve"), Curve)]
    if len(curves) < 2:
        return Absent("fewer than two external sites have a decision curve")
    if len({found.columns["threshold"] for found in curves}) > 1:
        return Absent("the sites' decision curves do not share their thresholds: declare a range in [thresholds]")
    n = sum(found.n for found in curves)
    weights = np.array([found.n / n for found in curves])[:, None]
    value = np.sum(weights * _rows(curves, "net_benefit"), axis=0)
    columns: dict[str, tuple[float | None, ...]] = {
        "threshold": curves[0].columns["threshold"],
        "net_benefit": column(value),
    }
    if any(None in found.columns["se"] for found in curves):
        columns |= dict.fromkeys(("low", "high", "se"), (None,) * len(value))
    else:
        columns |= _band(value, np.sqrt(np.sum((weights * _rows(curves, "se")) ** 2, axis=0)), level)
    treat_all = np.sum(weights * _rows(curves, "treat_all"), axis=0)
    columns |= {"treat_all": column(treat_all), "treat_none": (0.0,) * len(value)}
    events = sum(found.events or 0 for found in curves)
    method = (
        f"all rows of {len(curves)} of {len(sites)} sites; pointwise normal, stratified by site, sites taken as fixed"
    )
    return Curve(columns, n, method, events)


def _rows(curves: list[Curve], name: str) -> Floats:
    return np.array([found.columns[name] for found in curves], dtype=float)
