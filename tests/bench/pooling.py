"""The cells of several sites with their rows: what is pooled, what all their rows say; and of weighted rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from dossier.core.bands import FEW_FOR_POOLING
from dossier.core.facts import Method
from dossier.core.register import REGISTER, Symmetry, fill
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import pooled, stratified, weighted
from dossier.metrics.discrimination import auroc
from dossier.metrics.intervals import Scale, back
from dossier.metrics.shares import Design, by_linearization
from dossier.metrics.stratified import Stratum
from tests.bench.population import SPREAD, design_of, population, quadrature, truths
from tests.bench.scores import Score, between, held
from tests.estimated import estimated

Simulate = Callable[[np.random.Generator, int], dict[str, Score]]
LEVEL = 0.95
SIZES = (250, 2500)
PREVALENCES = (0.08, 0.4)
LOGIT_AUROC = 1.1
"""The mean over hospitals: an AUROC of .75."""


def cells() -> Iterator[tuple[str, str, int, Simulate]]:
    """Name, kind, size and simulation of each."""
    for k in (5, 10):
        for tau in (0.1, 0.15, 0.3):
            of_sites = partial(_pooled, k, tau, _auroc_of_a_site, "logit")
            yield f"pooled AUROC of {k} sites, tau {tau:g}", "interval", k, of_sites
        for tau in (0.15, 0.3):
            of_sites = partial(_pooled, k, tau, _ratio_of_a_site, "log")
            yield f"pooled O/E of {k} sites, tau {tau:g}", "interval", k, of_sites
    for k in (4, 12):
        yield f"stratified, {k} sites of 25 to 250 rows", "interval", k, partial(_stratified, k)
    for n in (200, 500):
        yield f"weighted, {n} rows", "interval", n, _weighted(n)
    yield "clustered and weighted, 60 clusters", "interval", 60, _clustered(60)


# ---- random effects -------------------------------------------------------------------------------------------------

OfASite = Callable[[np.random.Generator, float], Estimate]


def _pooled(k: int, tau: float, of_a_site: OfASite, scale: Scale, rng: np.random.Generator, _: int) -> dict[str, Score]:
    """Hospitals of 250 to 2,500 rows, whose true values are normal on the scale; one more to foretell."""
    middle = LOGIT_AUROC if scale == "logit" else 0.0
    sites = tuple(of_a_site(rng, middle + tau * float(rng.standard_normal())) for _ in range(k))
    found = estimated(pooled.pool(sites, scale, LEVEL))
    new = back(middle + tau * float(rng.standard_normal()), scale)
    details = found.details
    return {
        "pooled mean": held(found, back(middle, scale)),
        "prediction interval": between(details["prediction_low"], details["prediction_high"], new),
    }


def _size(rng: np.random.Generator) -> tuple[int, float]:
    """How many rows a hospital has, and how common the outcome is there."""
    return int(np.exp(rng.uniform(*np.log(SIZES)))), float(rng.uniform(*PREVALENCES))


def _auroc_of_a_site(rng: np.random.Generator, truth: float) -> Estimate:
    """Risks of cases and others that are normal on a scale: their distance gives the AUROC that is asked for."""
    n, phi = _size(rng)
    events = min(max(int(rng.binomial(n, phi)), FEW_FOR_POOLING), n - FEW_FOR_POOLING)
    outcome = (np.arange(n) < events).astype(float)
    apart = math.sqrt(2) * float(norm.ppf(expit(truth)))
    return estimated(auroc(outcome, np.asarray(expit(rng.standard_normal(n) + apart * outcome)), LEVEL))


def _ratio_of_a_site(rng: np.random.Generator, truth: float) -> Estimate:
    """Risks of a beta distribution, below .4 so that no true chance passes 1; fewer than 20 events are drawn anew."""
    while True:
        n, phi = _size(rng)
        risk = 0.4 * rng.beta(2, max(0.8 / phi - 2, 0.5), n)
        outcome = (rng.random(n) < np.minimum(risk * math.exp(truth), 1)).astype(float)
        if outcome.sum() >= FEW_FOR_POOLING:
            return estimated(stratified.oe_ratio([Stratum(outcome, risk)], LEVEL))


# ---- all rows of all sites ------------------------------------------------------------------------------------------

OFF, STEEP = (-0.8, -0.2, 0.3, 0.7), 0.8
"""By how much the sites are off on the logit scale, in turn, and the slope that they have in common."""
CENTRE = -2.2


def _stratified(k: int, rng: np.random.Generator, _: int) -> dict[str, Score]:
    """Small sites with their own intercepts; some have no event. The truths are those of the sites as they are."""
    rows = tuple(round(25 * 10 ** (index / max(k - 1, 1))) for index in range(k))
    shifts = tuple(OFF[index % len(OFF)] for index in range(k))
    strata = []
    for n, shift in zip(rows, shifts, strict=True):
        linear = rng.normal(CENTRE, SPREAD, n)
        chance = expit(CENTRE + shift + STEEP * (linear - CENTRE))
        strata.append(Stratum((rng.random(n) < chance).astype(float), np.asarray(expit(linear))))
    known = _of_sites(rows, shifts)
    scores = {
        f"stratified {name}": held(REGISTER.stratified[name].function(strata, LEVEL), known[name])
        for name in ("oe_ratio", "calibration_slope")
    }
    scores["stratified auroc"] = held(stratified.auroc(strata, LEVEL), _share_of_pairs(strata, shifts))
    return scores


@lru_cache(maxsize=8)
def _of_sites(rows: Sequence[int], shifts: Sequence[float]) -> dict[str, float]:
    """The truths over sites of so many rows that are off by so much."""
    linear, share = quadrature(CENTRE, ())
    expected = float(np.sum(share * expit(linear)))
    observed = [float(np.sum(share * expit(CENTRE + shift + STEEP * (linear - CENTRE)))) for shift in shifts]
    sites = math.fsum(n * of_site for n, of_site in zip(rows, observed, strict=True))
    return {"oe_ratio": sites / (sum(rows) * expected), "calibration_slope": STEEP}


@lru_cache(maxsize=16)
def _auroc_at(shift: float) -> float:
    def chance(linear: Floats) -> Floats:
        return np.asarray(expit(CENTRE + shift + STEEP * (linear - CENTRE)))

    return truths(population(CENTRE, chance, 0.1), 0.1, CENTRE, chance)["auroc"]


def _share_of_pairs(strata: Sequence[Stratum], shifts: Sequence[float]) -> float:
    """The true AUROC of the sites, each with the share of the pairs that it happens to have."""
    pairs = np.array([stratum.outcome.sum() * (len(stratum.outcome) - stratum.outcome.sum()) for stratum in strata])
    return float(np.sum(pairs * np.array([_auroc_at(shift) for shift in shifts])) / pairs.sum())


# ---- sampling weights and clusters ----------------------------------------------------------------------------------

MEASURES = ("auroc", "brier", "oe_ratio", "calibration_slope", "net_benefit", "sensitivity")
DRAWN = 0.7
"""How much the log odds of being drawn rise with the linear predictor."""


def _weighted(n: int) -> Simulate:
    """High risks are drawn more often, and weigh less: the truths are those of the whole population."""
    design = design_of("miscalibrated", 0.4)
    found = truths(population(design.centre, design.chance, 0.4), 0.4, design.centre, design.chance)

    def simulate(rng: np.random.Generator, number: int) -> dict[str, Score]:
        del number
        linear = rng.normal(design.centre, SPREAD, 4 * n)
        drawn = expit(-0.8 + DRAWN * (linear - design.centre))
        kept = np.flatnonzero(rng.random(4 * n) < drawn)[:n]
        linear, weights = linear[kept], 1 / drawn[kept]
        outcome = (rng.random(len(linear)) < design.chance(linear)).astype(float)
        rows = weighted.Rows(outcome, np.asarray(expit(linear)), weights, 0.4)
        return {f"weighted {name}": held(_linearized(rows, name, None), found[name]) for name in MEASURES}

    return simulate


def _linearized(rows: weighted.Rows, name: str, cluster: NDArray[np.int64] | None) -> Estimate | Absent:
    """A weighted measure with its interval, as a site with weights gets it."""
    metric = REGISTER.metrics[name]
    design = Design(len(rows.outcome), cluster, rows.weights)
    if "design" in metric.needs:
        at = {"threshold": rows.threshold} if "threshold" in metric.needs else {}
        made: Estimate | Absent = metric.function(rows.outcome, rows.risk, level=LEVEL, design=design, **at)
        return made
    of_weights = fill("metrics").metrics[name].weighted
    if of_weights is None:
        raise TypeError(f"{name} has no weighted form")
    whole = of_weights(rows)
    if isinstance(whole, Absent):
        return whole
    plain = Estimate(whole.value, None, None, None, len(rows.outcome), Method("wald"), int(rows.outcome.sum()))
    scale: Symmetry = metric.scale
    return by_linearization(plain, whole.linearized, design, LEVEL, scale)


def _clustered(clusters: int) -> Simulate:
    """Clusters of 4 to 16 rows that share a part of their linear predictor, and one weight."""
    design = design_of("calibrated", 0.4)
    found = truths(population(design.centre, design.chance, 0.4), 0.4, design.centre, design.chance)

    def simulate(rng: np.random.Generator, number: int) -> dict[str, Score]:
        del number
        shared = rng.standard_normal(clusters)
        cluster = np.repeat(np.arange(clusters), rng.integers(4, 17, clusters))
        own = rng.standard_normal(len(cluster))
        linear = design.centre + SPREAD * (math.sqrt(0.4) * shared[cluster] + math.sqrt(0.6) * own)
        outcome = (rng.random(len(cluster)) < design.chance(linear)).astype(float)
        weights = rng.choice([1.0, 3.0], clusters)[cluster]
        rows = weighted.Rows(outcome, np.asarray(expit(linear)), weights, 0.4)
        return {f"weighted {name}": held(_linearized(rows, name, cluster), found[name]) for name in MEASURES}

    return simulate
