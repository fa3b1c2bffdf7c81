"""Does every interval hold what it promises? Simulated hospitals with known truths, and a table of what was found.

`make coverage` runs this file and writes COVERAGE.md beside it. Every dataset has a generator of its own, made from the
seed, the cell and its number, so that the table does not depend on the number of workers.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy.special import expit, logit

from dossier.core.register import fill
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import advice, calibration, comparison, discrimination, reliability, severity, utility
from dossier.metrics import graded_accuracy as accuracy
from dossier.metrics.shares import Design as Sampled
from tests.bench import studies
from tests.bench.population import (
    AGREEMENT,
    ALARM,
    FULL_CREDIT,
    MISSED,
    ROC_PART,
    SPREAD,
    Design,
    benefits,
    design_of,
    limit_of_smoother,
    population,
    rival_chance,
    truths,
)
from tests.bench.scores import Score, band, held, rejected

SEED = 20260
LEVEL = 0.95
DRAWS = 300
"""Draws of a bootstrap or of an inverted test: enough for its coverage, a third of what a dossier takes."""
SLOW_DRAWS = 100
"""Of the one bootstrap that goes replicate by replicate."""
CHUNK = 25
ROUND = 500
TABLE = Path(__file__).with_name("COVERAGE.md")
SIZES = (200, 500, 2000)
PREVALENCES = (0.1, 0.4)


@dataclass(frozen=True)
class Cell:
    """One setting of the simulation: how a dataset is made and judged, and what it is called."""

    name: str
    kind: str
    """"interval", "test", or "benefit" and "claim" of net benefits far from the prevalence."""
    simulate: Callable[[np.random.Generator, int], dict[str, Score]]
    condition: str = ""
    prevalence: float = 0.0
    n: int = 0
    rarest: Mapping[str, float] = field(default_factory=dict)
    """Of net benefits far from the prevalence: the rarest count that each is expected to be made of."""


@dataclass
class Tally:
    """The sums over the datasets of one measure in one cell."""

    datasets: int = 0
    without: int = 0
    held: float = 0.0
    squared: float = 0.0
    below: float = 0.0
    above: float = 0.0

    def add(self, score: Score) -> None:
        """Count one dataset."""
        self.datasets += 1
        if score.held is None:
            self.without += 1
            return
        self.held += score.held
        self.squared += score.held**2
        self.below += score.below
        self.above += score.above

    @property
    def counted(self) -> int:
        """The datasets that allowed an interval."""
        return self.datasets - self.without

    @property
    def share(self) -> float:
        """The share of them whose interval held the truth, or whose test rejected it."""
        return self.held / self.counted

    @property
    def error(self) -> float:
        """The Monte Carlo standard error of the share."""
        return math.sqrt(max(self.squared / self.counted - self.share**2, 0.0) / self.counted)


@dataclass
class Found:
    """What the simulation found in one cell."""

    cell: Cell
    tallies: dict[str, Tally] = field(default_factory=dict)


# ---- one hospital ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hospital:
    """The rows of one simulated hospital, the true chance of each, and what the measures are asked with."""

    outcome: Floats
    risk: Floats
    rival: Floats
    chance: Floats
    threshold: float
    seed: int
    bootstrap: int


def hospital(design: Design, n: int, rng: np.random.Generator, number: int, bootstrap: int) -> Hospital:
    """Rows with random linear predictors, so that the prevalence is random as well."""
    linear = rng.normal(design.centre, SPREAD, n)
    chance = design.chance(linear)
    outcome = (rng.random(n) < chance).astype(float)
    apart = AGREEMENT * (linear - design.centre) + math.sqrt(1 - AGREEMENT**2) * SPREAD * rng.standard_normal(n)
    rival = np.asarray(expit(design.centre + apart))
    return Hospital(outcome, np.asarray(expit(linear)), rival, chance, design.prevalence, number, bootstrap)


Ask = Callable[[Hospital], "Estimate | Absent"]


def _plain(function: Callable[..., Estimate | Absent], **more: object) -> Ask:
    return lambda simulated: function(simulated.outcome, simulated.risk, level=LEVEL, **more)


def _at_threshold(function: Callable[..., Estimate | Absent], **more: object) -> Ask:
    return lambda simulated: function(
        simulated.outcome, simulated.risk, threshold=simulated.threshold, level=LEVEL, **more
    )


def _drawn(function: Callable[..., Estimate | Absent], **more: object) -> Ask:
    return lambda simulated: function(
        simulated.outcome, simulated.risk, level=LEVEL, bootstrap=simulated.bootstrap, seed=simulated.seed, **more
    )


def _difference(function: Callable[..., Estimate | Absent], threshold: bool = False, **more: object) -> Ask:
    def ask(hospital: Hospital) -> Estimate | Absent:
        at = {"threshold": hospital.threshold} if threshold else {}
        return function(hospital.outcome, hospital.risk, hospital.rival, level=LEVEL, **at, **more)

    return ask


CLOSED: dict[str, Ask] = {
    "auroc": _plain(discrimination.auroc),
    "net_benefit": _at_threshold(utility.net_benefit),
    "oe_ratio": _plain(calibration.oe_ratio),
    "calibration_intercept": _plain(calibration.calibration_intercept),
    "calibration_slope": _plain(calibration.calibration_slope),
    "calibration_intercept_joint": _plain(calibration.calibration_intercept_joint),
    "brier": _plain(calibration.brier),
    "scaled_brier": _plain(calibration.scaled_brier),
    "log_score": _plain(calibration.log_score),
    "standardized_net_benefit": _at_threshold(utility.standardized_net_benefit),
    "sensitivity": _at_threshold(discrimination.sensitivity),
    "specificity": _at_threshold(discrimination.specificity),
    "ppv": _at_threshold(discrimination.ppv),
    "npv": _at_threshold(discrimination.npv),
    "likelihood_ratio_positive": _at_threshold(discrimination.likelihood_ratio_positive),
    "likelihood_ratio_negative": _at_threshold(discrimination.likelihood_ratio_negative),
    "tjur_r2": _plain(calibration.tjur_r2),
    "accuracy": _at_threshold(discrimination.accuracy),
    "balanced_accuracy": _at_threshold(discrimination.balanced_accuracy),
    "youden_j": _at_threshold(discrimination.youden_j),
    "markedness": _at_threshold(discrimination.markedness),
    "mcc": _at_threshold(discrimination.mcc),
    "f1": _at_threshold(discrimination.f1),
    "cohen_kappa_of_model": _at_threshold(discrimination.cohen_kappa_of_model),
    "net_benefit_gain": _at_threshold(utility.net_benefit_gain),
    "weighted_utility": lambda simulated: utility.weighted_utility(
        simulated.outcome, simulated.risk, tau=simulated.threshold, gamma=0.5, level=LEVEL
    ),
    "h_accuracy": _plain(accuracy.h_accuracy, priority=0.5, tau=FULL_CREDIT),
    "h_accuracy_risk": _at_threshold(accuracy.h_accuracy_risk),
    "cost_weighted_accuracy": _at_threshold(accuracy.cost_weighted_accuracy),
    "error_severity_index": _at_threshold(
        severity.error_severity_index, severity_weights=((0.0, MISSED), (ALARM, 0.0))
    ),
    "mean_severity": _at_threshold(severity.mean_severity, severity_weights=((0.0, MISSED), (ALARM, 0.0))),
    "required_reliability": lambda simulated: reliability.required_reliability(
        simulated.outcome, simulated.risk, simulated.outcome[:, None], simulated.threshold, DESIRED, LEVEL
    ),
    "auroc_difference": _difference(comparison.auroc_difference),
    "brier_difference": _difference(comparison.brier_difference, permutations=1),
    "log_score_difference": _difference(comparison.log_score_difference, permutations=1),
    "accuracy_difference": _difference(comparison.accuracy_difference, threshold=True),
    "net_benefit_difference": _difference(comparison.net_benefit_difference, threshold=True),
}
SMOOTH: dict[str, Ask] = {
    "ici": _drawn(calibration.ici),
    "e50": _drawn(calibration.e50),
    "e90": _drawn(calibration.e90),
    "emax": _drawn(calibration.emax),
}
BINNED: dict[str, Ask] = {"ece": _drawn(calibration.ece), "eci": _drawn(calibration.eci)}
RESAMPLED: dict[str, Ask] = {
    "nagelkerke_r2": _drawn(calibration.nagelkerke_r2),
    "model_based_concordance": lambda simulated: discrimination.model_based_concordance(
        simulated.risk, LEVEL, simulated.bootstrap, simulated.seed
    ),
    "auprc": _drawn(discrimination.auprc),
    "balanced_average_accuracy": lambda simulated: discrimination.balanced_average_accuracy(
        simulated.outcome, simulated.risk, ROC_PART, LEVEL, min(simulated.bootstrap, SLOW_DRAWS), simulated.seed
    ),
    "advisor_value ece": _drawn(advice.advisor_value, calibration="ece"),
    "advisor_value eci": _drawn(advice.advisor_value, calibration="eci"),
}
BANDS = ("calibration_curve", "decision_curve", "h_accuracy_profile", "calibration_groups")
ALL: frozenset[str] = frozenset()
"""No measure named: every one of them."""
DESIRED = 0.6
PAIRED = tuple(name for name in CLOSED if name.endswith("_difference"))


@lru_cache(maxsize=32)
def known(design: Design) -> dict[str, float]:
    """Every truth of a design at the threshold that equals its prevalence."""
    threshold = design.prevalence
    found = truths(population(design.centre, design.chance, threshold), threshold, design.centre, design.chance)
    second = rival_chance(design)
    rival = truths(population(design.centre, second, threshold), threshold, design.centre, second)
    paired = {
        name: found[name.removesuffix("_difference")] - rival[name.removesuffix("_difference")] for name in PAIRED
    }
    right = found["accuracy"]
    return {**found, **paired, "required_reliability": (2 * (DESIRED + right - 1) / (2 * right - 1) - 1) ** 2}


@lru_cache(maxsize=32)
def smoothed(design: Design, quantiles: tuple[float, ...]) -> tuple[Callable[[Floats], Floats], dict[str, float]]:
    """The curve that the smoother finds in the whole population, and the calibration errors of that curve."""
    if design.condition != "curved":
        return design.chance, known(design)
    limit = limit_of_smoother(design, quantiles)
    return limit, truths(population(design.centre, limit, design.prevalence), design.prevalence, design.centre, limit)


def _knots(outcome: Floats) -> tuple[float, ...]:
    smaller = min(outcome.sum(), len(outcome) - outcome.sum())
    return () if smaller < 20 else (0.1, 0.5, 0.9) if smaller < 100 else (0.05, 0.35, 0.65, 0.95)


def _smooth_scores(design: Design, hospital: Hospital) -> Iterator[tuple[str, Score]]:
    """The calibration errors against the curve that their smoother aims at; the largest against that of the rows."""
    curve, truth = smoothed(design, _knots(hospital.outcome))
    for name, ask in SMOOTH.items():
        aim = float(np.abs(curve(logit(hospital.risk)) - hospital.risk).max()) if name == "emax" else truth[name]
        yield name, held(ask(hospital), aim)


def _bands(design: Design, hospital: Hospital) -> Iterator[tuple[str, Score]]:
    """The pointwise bands: the share of their points that hold the truth there."""
    curve, _ = smoothed(design, _knots(hospital.outcome))
    found = calibration.calibration_curve(hospital.outcome, hospital.risk, LEVEL)
    yield "calibration_curve", band(found, lambda columns: curve(logit(columns["risk"])))
    grid = np.linspace(design.prevalence / 2, design.prevalence * 1.5, 3)
    found = utility.decision_curve(hospital.outcome, hospital.risk, (float(grid[0]), float(grid[-1])), LEVEL)
    yield "decision_curve", band(found, lambda columns: _true_benefit(design, tuple(columns["threshold"])))
    found = accuracy.h_accuracy_profile(hospital.outcome, hospital.risk, LEVEL)
    yield "h_accuracy_profile", band(found, lambda columns: _true_profile(design, tuple(columns["tau"])))
    found = calibration.calibration_groups(hospital.outcome, hospital.risk, LEVEL)
    yield "calibration_groups", band(found, lambda columns: _true_groups(hospital, columns))


@lru_cache(maxsize=64)
def _true_benefit(design: Design, thresholds: tuple[float, ...]) -> Floats:
    values = []
    for threshold in thresholds:
        found = population(design.centre, design.chance, threshold)
        odds = threshold / (1 - threshold)
        values.append(found.mean((found.risk >= threshold) * (found.chance - (1 - found.chance) * odds)))
    return np.array(values)


@lru_cache(maxsize=64)
def _true_profile(design: Design, taus: tuple[float, ...]) -> Floats:
    found = population(design.centre, design.chance, design.prevalence)
    phi = found.mean(found.chance)
    values = []
    for tau in taus:
        credits = [
            (own > 0.5).astype(float) if tau <= 0.5 else np.clip((own - 0.5) / (tau - 0.5), 0, 1)
            for own in (found.risk, 1 - found.risk)
        ]
        case, other = found.mean(found.chance * credits[0]), found.mean((1 - found.chance) * credits[1])
        values.append((case / phi + other / (1 - phi)) / 2)
    return np.array(values)


def _true_groups(hospital: Hospital, columns: Mapping[str, Floats]) -> Floats:
    """The mean true chance of the rows of each group: the groups are those of the rows at hand."""
    chance = hospital.chance[np.argsort(hospital.risk, kind="stable")]
    ends = np.cumsum(columns["n"].astype(int))[:-1]
    return np.array([part.mean() for part in np.split(chance, ends)])


def at_a_hospital(
    condition: str, prevalence: float, n: int, bootstrap: int, parts: tuple[str, ...], only: frozenset[str] = ALL
) -> Cell:
    """The measures of one site: "closed" forms and bands, the "smooth" ones, the "binned" and the "resampled"."""
    design = design_of(condition, prevalence)

    def simulate(rng: np.random.Generator, number: int) -> dict[str, Score]:
        simulated = hospital(design, n, rng, number, bootstrap)
        truth = known(design)
        asked: dict[str, Ask] = {}
        for part, asks in (("closed", CLOSED), ("binned", BINNED), ("resampled", RESAMPLED)):
            asked |= asks if part in parts else {}
        scores = {name: held(ask(simulated), truth[name]) for name, ask in asked.items() if not only or name in only}
        if "smooth" in parts and (not only or only & set(SMOOTH)):
            scores |= dict(_smooth_scores(design, simulated))
        if "closed" in parts and (not only or only & set(BANDS)):
            scores |= dict(_bands(design, simulated))
        return {name: score for name, score in scores.items() if not only or name in only}

    return Cell(f"{condition} {prevalence:g} {n}", "interval", simulate, condition, prevalence, n)


# ---- net benefit far from the prevalence ----------------------------------------------------------------------------

FAR = {
    0.07: (0.0075, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3),
    **dict.fromkeys((0.3, 0.5, 0.6), (0.2, 0.3, 0.4, 0.5, 0.6)),
}
"""The thresholds, by the prevalence."""
SIZES_OF_FAR = (300, 500, 1500)
WORSE = {
    "far too low": ((0.07, (0.02, 0.05)), (0.3, (0.2,))),
    "far too high": ((0.07, (0.1, 0.15)), (0.3, (0.4,))),
    "too extreme": ((0.07, (0.2, 0.3)), (0.3, (0.2,))),
    "useless": ((0.07, (0.05, 0.07)), (0.5, (0.5,))),
}
"""Where flagging everyone or no one is better than the model, often by little: the thresholds by the prevalence."""


def _at(name: str, threshold: float) -> str:
    return f"{name} at {threshold:g}"


def far_from_the_prevalence(condition: str, prevalence: float, n: int) -> Cell:
    """Net benefit, its gain and its difference from the rival at many thresholds."""
    design = design_of(condition, prevalence)
    truth = {threshold: benefits(design, threshold) for threshold in FAR[prevalence]}

    def simulate(rng: np.random.Generator, number: int) -> dict[str, Score]:
        dataset = hospital(design, n, rng, number, 0)
        scores = {}
        for t, true in truth.items():
            found = utility.net_benefit(dataset.outcome, dataset.risk, t, LEVEL)
            scores[_at("net_benefit", t)] = held(found, true.net_benefit)
            found = utility.net_benefit_gain(dataset.outcome, dataset.risk, t, LEVEL)
            scores[_at("net_benefit_gain", t)] = held(found, true.gain)
            found = comparison.net_benefit_difference(dataset.outcome, dataset.risk, dataset.rival, t, LEVEL)
            scores[_at("net_benefit_difference", t)] = held(found, true.difference)
        return scores

    rarest = {_at(name, t): n * share for t, true in truth.items() for name, share in true.rarest.items()}
    return Cell(f"far {condition} {prevalence:g} {n}", "benefit", simulate, condition, prevalence, n, rarest)


def where_a_default_is_better(condition: str, prevalence: float, n: int, thresholds: tuple[float, ...]) -> Cell:
    """How often the model is said to exceed both defaults, though it does not."""
    design = design_of(condition, prevalence)
    gains = {threshold: benefits(design, threshold).gain for threshold in thresholds}
    # A useless model is as good as the better default where all its risks lie on one side of the threshold.
    assert all(gain < 1e-12 for gain in gains.values()), gains

    def simulate(rng: np.random.Generator, number: int) -> dict[str, Score]:
        simulated = hospital(design, n, rng, number, 0)
        scores = {}
        for t, gain in gains.items():
            found = utility.net_benefit_gain(simulated.outcome, simulated.risk, t, LEVEL)
            low = found.low if isinstance(found, Estimate) and found.low is not None else 0.0
            scores[f"{t:g}, true gain {round(100 * gain, 2) + 0.0:.2f} per 100"] = Score(float(low > 0))
        return scores

    return Cell(f"worse {condition} {prevalence:g} {n}", "claim", simulate, condition, prevalence, n)


OF_CLUSTERS = 0.5
"""The standard deviation of the mean linear predictor of clusters; the rest of SPREAD lies within them."""
IN_A_CLUSTER = 10


def sampled_otherwise(kind: str, condition: str, prevalence: float, n: int) -> Cell:
    """Net benefit and O/E of rows in clusters, or drawn with chances that rise with the risk and weighted back."""
    design = design_of(condition, prevalence)
    thresholds = (prevalence / 4, prevalence, min(3 * prevalence, 0.6))
    truth = {threshold: benefits(design, threshold) for threshold in thresholds}
    ratio = known(design)["oe_ratio"]

    def simulate(rng: np.random.Generator, number: int) -> dict[str, Score]:
        del number
        y, p, how = (_clustered if kind == "clusters" else _weighted)(design, n, rng)
        scores = {"oe_ratio": held(calibration.oe_ratio(y, p, LEVEL, how), ratio)}
        for t, true in truth.items():
            found = utility.net_benefit(y, p, t, LEVEL, how)
            scores[_at("net_benefit", t)] = held(found, true.net_benefit)
            scores[_at("net_benefit_gain", t)] = held(utility.net_benefit_gain(y, p, t, LEVEL, how), true.gain)
        return scores

    return Cell(f"{kind}, {condition} {prevalence:g}, n {n}", "interval", simulate, "", prevalence, n)


def _clustered(design: Design, n: int, rng: np.random.Generator) -> tuple[Floats, Floats, Sampled]:
    cluster = np.arange(n) // IN_A_CLUSTER
    within = math.sqrt(SPREAD**2 - OF_CLUSTERS**2) * rng.standard_normal(n)
    linear = design.centre + OF_CLUSTERS * rng.standard_normal(n)[cluster] + within
    outcome = (rng.random(n) < design.chance(linear)).astype(float)
    return outcome, np.asarray(expit(linear)), Sampled(n, cluster)


def _weighted(design: Design, n: int, rng: np.random.Generator) -> tuple[Floats, Floats, Sampled]:
    linear = rng.normal(design.centre, SPREAD, 8 * n)
    chance = 0.1 + 0.9 * expit(linear - design.centre)
    rows = np.flatnonzero(rng.random(8 * n) < chance)[:n]
    outcome = (rng.random(n) < design.chance(linear[rows])).astype(float)
    return outcome, np.asarray(expit(linear[rows])), Sampled(n, None, 1 / chance[rows])


# ---- tests under the null -------------------------------------------------------------------------------------------


def _p(found: Estimate | Absent, name: str = "p_value") -> float | None:
    return found.details[name] if isinstance(found, Estimate) else None


def at_equality(n: int, prevalence: float) -> Cell:
    """Every test of one hospital where its null hypothesis is true."""
    calibrated = design_of("calibrated", prevalence)

    def simulate(rng: np.random.Generator, number: int) -> dict[str, Score]:
        right = hospital(calibrated, n, rng, number, 0)
        other_risk = rng.permutation(right.risk)
        # Two models that are equally good: the same signal, each with a noise of its own.
        signal, noise = rng.standard_normal(n), rng.standard_normal((2, n))
        y = (rng.random(n) < expit(-0.6 + 1.2 * signal)).astype(float)
        first, other = (np.asarray(expit(-0.6 + 0.9 * signal + 0.6 * own)) for own in noise)
        coin = (rng.random(n) < 0.5).astype(float)
        # Outcomes of prevalence .3 and answers that are right as often as always saying no: .65 of the cases are
        # flagged and as many non-cases.
        commoner = (rng.random(n) < 0.3).astype(float)
        flags = (rng.random(n) < np.where(commoner == 1, 0.65, 0.65 * 0.3 / 0.7)).astype(float)
        pair = (y, first, other)
        draws: dict[str, Any] = {"permutations": 199, "seed": number}
        difference = comparison.accuracy_difference(*pair, 0.4)
        half = comparison.majority_class_test(coin, other_risk, 0.3)
        return {
            "spiegelhalter_z": rejected(_p(calibration.spiegelhalter_z(right.outcome, right.risk))),
            "mann_whitney_u": rejected(_p(comparison.mann_whitney_u(right.outcome, other_risk))),
            "brier_permutation_test": rejected(
                _p(comparison.brier_permutation_test(right.outcome, other_risk, **draws))
            ),
            "log_score_permutation_test": rejected(
                _p(comparison.log_score_permutation_test(right.outcome, other_risk, **draws))
            ),
            "majority_class_test, one half": rejected(_p(half, "p_value_half"), studies.binomial_size(n)),
            "majority_class_test, larger class": rejected(
                _p(comparison.majority_class_test(commoner, flags, 0.5)), studies.binomial_size(int(flags.sum()))
            ),
            "auroc_difference": rejected(_p(comparison.auroc_difference(*pair))),
            "brier_difference": rejected(_p(comparison.brier_difference(*pair, **draws))),
            "log_score_difference": rejected(_p(comparison.log_score_difference(*pair, **draws))),
            "net_benefit_difference": rejected(_p(comparison.net_benefit_difference(*pair, 0.4))),
            "accuracy_difference": rejected(_p(difference), studies.mcnemar_size(difference)),
        }

    return Cell(f"null {prevalence:g} {n}", "test", simulate, "null", prevalence, n)


# ---- running --------------------------------------------------------------------------------------------------------


def cells(bootstrap: int = DRAWS, only: frozenset[str] = ALL) -> tuple[Cell, ...]:
    """All cells of the lane; `only` are the measures that are taken of one hospital, none named for all."""
    everything = ("closed", "binned", "smooth", "resampled")
    made = [
        at_a_hospital(condition, prevalence, n, bootstrap, everything, only)
        for condition in ("calibrated", "miscalibrated")
        for prevalence in PREVALENCES
        for n in SIZES
    ]
    made += [
        at_a_hospital(condition, prevalence, n, bootstrap, ("binned", "smooth"), only)
        for condition in ("slight", "curved")
        for prevalence in PREVALENCES
        for n in SIZES[1:]
    ]
    made += [
        far_from_the_prevalence(condition, prevalence, n)
        for condition in ("calibrated", "shifted")
        for prevalence in FAR
        for n in SIZES_OF_FAR
    ]
    made += [
        where_a_default_is_better(condition, prevalence, n, thresholds)
        for condition, settings in WORSE.items()
        for prevalence, thresholds in settings
        for n in SIZES_OF_FAR
    ]
    made += [
        sampled_otherwise(kind, condition, prevalence, 1000)
        for kind in ("clusters", "weights")
        for condition in ("calibrated", "shifted")
        for prevalence in (0.07, 0.3)
    ]
    made += [at_equality(n, prevalence) for n in (200, 500) for prevalence in PREVALENCES]
    made += [Cell(name, kind, simulate, "", 0.0, n) for name, kind, n, simulate in studies.cells(bootstrap)]
    return tuple(made)


def simulate(cell: Cell, start: int, stop: int, seed: int = SEED) -> list[dict[str, Score]]:
    """The scores of the datasets of one cell from number `start` to below `stop`."""
    word = int.from_bytes(cell.name.encode(), "big")
    return [cell.simulate(np.random.default_rng((seed, word, number)), number) for number in range(start, stop)]


CELLS: tuple[Cell, ...] = ()


def _chunk(job: tuple[int, int, int, int]) -> tuple[list[dict[str, Score]], float]:
    """The scores of some datasets, and the seconds of a processor that they took."""
    which, start, stop, seed = job
    before = time.process_time()
    return simulate(CELLS[which], start, stop, seed), time.process_time() - before


def run(
    chosen: tuple[Cell, ...], datasets: int, workers: int, seed: int = SEED
) -> Iterator[tuple[int, float, tuple[Found, ...]]]:
    """Simulate every cell round by round; after each the datasets, the processor's seconds and the scores so far."""
    global CELLS
    CELLS = chosen
    spent = 0.0
    found = tuple(Found(cell) for cell in chosen)
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for begin in range(0, datasets, ROUND):
            end = min(begin + ROUND, datasets)
            jobs = [
                (which, start, min(start + CHUNK, end), seed)
                for which in range(len(chosen))
                for start in range(begin, end, CHUNK)
            ]
            for job, (scores, seconds) in zip(jobs, pool.imap(_chunk, jobs), strict=True):
                collect(found[job[0]], scores)
                spent += seconds
            yield end, spent, found


def collect(found: Found, scores: list[dict[str, Score]]) -> None:
    """Add the scores of datasets to the tallies of their cell."""
    for line in scores:
        for name, score in line.items():
            found.tallies.setdefault(name, Tally()).add(score)


def main() -> None:
    """Run the lane and write the table."""
    from tests.bench import report

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=4000)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="cells whose name holds this, or one of these with a comma between")
    parser.add_argument("--measures", default="", help="of one hospital only these, between commas")
    parser.add_argument("--output", type=Path, default=TABLE)
    given = parser.parse_args()
    fill("metrics")
    started = time.monotonic()
    measures = frozenset(name for name in given.measures.split(",") if name)
    chosen = tuple(cell for cell in cells(only=measures) if any(name in cell.name for name in given.only.split(",")))
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}"
    for datasets, seconds, found in run(chosen, given.datasets, given.workers):
        minutes = (time.monotonic() - started) / 60
        took = f"{minutes:.0f} minutes with {given.workers} workers ({seconds / 60:.0f} of a processor)"
        # Each round leaves a whole table behind, so that a run that is stopped is not lost.
        given.output.write_text(report.table(found, datasets, SEED, took, versions, DRAWS))
        print(f"{datasets:,} of {given.datasets:,} datasets a cell, {took}", file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
