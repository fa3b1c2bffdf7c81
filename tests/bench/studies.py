"""The cells with a design of their own: pooled sites, raters, readers with the model, and tables that correspond."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm

from dossier.core import types
from dossier.core.facts import Method
from dossier.metrics import correspondence, human_factors, pooled, reliability, robustness
from tests.bench import groups, pooling
from tests.bench.scores import NOMINAL, Score, between, held, rejected
from tests.estimated import estimated, present
from tests.metrics.parts import of_counts

Simulate = Callable[[np.random.Generator, int], dict[str, Score]]
LEVEL = 0.95


def cells(bootstrap: int) -> Iterator[tuple[str, str, int, Simulate]]:
    """Name, kind, size and simulation of each."""
    for k in (5, 10):
        for spread in (0.0, 0.15, 0.4):
            yield f"pooled, {k} sites, tau {spread:g}", "interval", k, partial(_pooled, k, spread)
    yield from pooling.cells()
    yield from groups.cells()
    for cases, raters in ((100, 3), (400, 12)):
        yield f"raters, {raters} on {cases} cases", "interval", cases, partial(_raters, cases, raters)
    for cases, raters in ((200, 3), (500, 3), (500, 1)):
        name = f"groups of {raters} {'rater' if raters == 1 else 'raters'} on {cases} cases"
        yield name, "interval", cases, partial(_rater_groups, cases, raters)
    for decisions in (100, 500):
        yield f"decisions, {decisions} an arm", "interval", decisions, partial(_decisions, decisions)
    for readers, cases in ((3, 40), (5, 40), (8, 40), (16, 60)):
        yield f"readers, {readers} on {cases} cases", "interval", cases, partial(_readers, readers, cases, bootstrap)
    for arms, cases in (((5, 5), 40), ((4, 8), 60)):
        yield f"arms of {arms[0]} and {arms[1]} readers", "interval", cases, partial(_arms, arms, cases, bootstrap)
    for rows in (100, 300):
        yield f"tables, {rows} external rows", "interval", rows, partial(_tables, rows, bootstrap)
    yield "sites, 8", "interval", 8, partial(_sites, 8, 0.5)
    yield "null of 8 sites", "test", 8, partial(_unrelated_sites, 8)
    yield "null of tables, 40 rows", "test", 40, partial(_equal_tables, 40)
    yield "null of 24 rows", "test", 24, partial(_small, 24)


# ---- pooled ---------------------------------------------------------------------------------------------------------


def _pooled(k: int, spread: float, rng: np.random.Generator, _: int) -> dict[str, Score]:
    """Sites whose true values are normal around one mean; their standard errors differ fourfold."""
    error = rng.uniform(0.08, 0.32, k)
    values = 1 + spread * rng.standard_normal(k) + error * rng.standard_normal(k)
    sites = tuple(
        types.Estimate(float(value), None, None, LEVEL, 1000, Method("wald"), 300, float(se))
        for value, se in zip(values, error, strict=True)
    )
    found = estimated(pooled.pool(sites, "plain", LEVEL))
    ahead = 1 + spread * float(rng.standard_normal())
    details = found.details
    return {
        "pooled mean": held(found, 1.0),
        "prediction interval": between(details["prediction_low"], details["prediction_high"], ahead),
    }


# ---- raters ---------------------------------------------------------------------------------------------------------

KINDS = ((0.3, 0.95), (0.2, 0.6), (0.5, 0.08))
"""The share of each kind of case, and how often a rater calls it positive."""
SURE, UNSURE, SHARE_SURE = 0.9, 0.5, 0.6
RIGHT = 0.85


def _raters(cases: int, raters: int, rng: np.random.Generator, _: int) -> dict[str, Score]:
    """Raters who are independent given the kind of case, with a confidence of two grades."""
    shares, positive = (np.array(side) for side in zip(*KINDS, strict=True))
    agree = float(np.sum(shares * (positive**2 + (1 - positive) ** 2)))
    phi = float(np.sum(shares * positive))
    kappa = (agree - phi**2 - (1 - phi) ** 2) / (2 * phi * (1 - phi))
    weight = SHARE_SURE * 2 * SURE / (1 + SURE) + (1 - SHARE_SURE) * 2 * UNSURE / (1 + UNSURE)
    rho = agree * weight**2
    kind = rng.choice(len(KINDS), cases, p=shares)
    labels = (rng.random((cases, raters)) < positive[kind][:, None]).astype(float)
    confidence = np.where(rng.random((cases, raters)) < SHARE_SURE, SURE, UNSURE)
    share = (1 + math.sqrt(rho)) / 2
    right = (rng.random(cases) < RIGHT).astype(float)
    actual = reliability.actual_accuracy(np.ones(cases), right, labels, confidence, 0.5, level=LEVEL)
    return {
        "observed_agreement": held(reliability.observed_agreement(labels, LEVEL), agree),
        "fleiss_kappa": held(reliability.fleiss_kappa(labels, LEVEL), kappa),
        "krippendorff_alpha": held(reliability.krippendorff_alpha(labels, LEVEL), kappa),
        "cohen_kappa": held(reliability.cohen_kappa(labels, LEVEL), kappa),
        "weighted_concordance": held(reliability.weighted_concordance(labels, confidence, level=LEVEL), rho),
        "actual_accuracy": held(actual, RIGHT * share + (1 - RIGHT) * (1 - share)),
    }


EASE = (0.7, 0.3)
"""The share of easy and of hard cases."""
RIGHT_OF_GROUPS = ((0.95, 0.7), (0.88, 0.55))
"""How often a rater of each group is right on them."""
SURE_OF_KIND, SIMPLE_OF_KIND = (0.8, 0.3), (0.85, 0.35)
"""How often a rater is sure of them, and finds them simple."""
SIMPLE, COMPLEX = 0.25, 1.0


def _rater_groups(cases: int, raters: int, rng: np.random.Generator, _: int) -> dict[str, Score]:
    """Two groups of so many raters who are independent given whether a case is easy; truth of either class."""
    shares, sure, simple = (np.array(pair) for pair in (EASE, SURE_OF_KIND, SIMPLE_OF_KIND))
    correct = np.array(RIGHT_OF_GROUPS)
    accuracy = correct @ shares
    weight = sure * 2 * SURE / (1 + SURE) + (1 - sure) * 2 * UNSURE / (1 + UNSURE)
    agree = correct**2 + (1 - correct) ** 2
    rho = (agree * weight**2) @ shares * accuracy**2 / (accuracy**2 + (1 - accuracy) ** 2)
    together = shares @ (sure * simple) - (shares @ sure) * (shares @ simple)
    both = [part * (1 - part) for part in (shares @ sure, shares @ simple)]
    correlation = -together / math.sqrt(both[0] * both[1])
    groups = ("a",) * raters + ("b",) * raters
    kind = rng.choice(2, cases, p=shares)
    truth = (rng.random(cases) < 0.4).astype(float)
    likely = np.repeat(correct[:, kind], raters, axis=0).T
    labels = np.where(rng.random(likely.shape) < likely, truth[:, None], 1 - truth[:, None])
    confidence = np.where(rng.random(likely.shape) < sure[kind][:, None], SURE, UNSURE)
    complexity = np.where(rng.random(likely.shape) < simple[kind][:, None], SIMPLE, COMPLEX)
    declared = tuple(np.repeat(accuracy, raters).tolist())
    found = present(reliability.raters_by_group(labels, groups, confidence, truth, declared, level=LEVEL))
    measured = present(reliability.raters_by_group(labels, groups, confidence, truth, level=LEVEL))
    related = reliability.confidence_complexity_correlation(labels, confidence, complexity, level=LEVEL)
    scores = {
        "accuracy of a group": _of_group(found, "accuracy", accuracy),
        "confidence_complexity_correlation": held(related, correlation),
    }
    if raters > 1:
        scores["rho of a group"] = _of_group(found, "rho", rho)
        scores["rho of a group, accuracy measured"] = _of_group(measured, "rho", rho)
    return scores


def _of_group(found: types.Curve, name: str, truths: types.Floats) -> Score:
    """Whether the interval of the second group holds its truth."""
    low, high = (found.columns[f"{name}_{end}"][1] for end in ("low", "high"))
    return between(low, high, float(truths[1]))


# ---- readers with and without the model -----------------------------------------------------------------------------

ERRORS = (0.2, 0.28)
"""How often a decision is wrong with and without the model."""
MEASURES_OF_COUNTS = (
    human_factors.error_rate_aided,
    human_factors.error_rate_unaided,
    human_factors.absolute_risk_reduction,
    human_factors.relative_risk,
    human_factors.relative_risk_reduction,
    human_factors.odds_ratio,
)


def _of_rates(aided: float, unaided: float) -> dict[str, float]:
    return {
        "error_rate_aided": aided,
        "error_rate_unaided": unaided,
        "absolute_risk_reduction": unaided - aided,
        "relative_risk": aided / unaided,
        "relative_risk_reduction": 1 - aided / unaided,
        "odds_ratio": aided / (1 - aided) / (unaided / (1 - unaided)),
    }


def _decisions(size: int, rng: np.random.Generator, _: int) -> dict[str, Score]:
    """Independent decisions, so many with and so many without the model."""
    truth = _of_rates(*ERRORS)
    aided, unaided = (int(rng.binomial(size, error)) for error in ERRORS)
    study = of_counts(aided, size - aided, unaided, size - unaided)
    return {measure.__name__: held(measure(study, LEVEL), truth[measure.__name__]) for measure in MEASURES_OF_COUNTS}


OF_READERS, OF_CASES = 0.3, 0.6
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


def _centres() -> list[float]:
    """Where on the scale of the noise decisions are wrong with and without the model, on average over all."""
    whole = math.sqrt(1 + OF_READERS**2 + OF_CASES**2)
    return [float(norm.ppf(error)) * whole for error in ERRORS]


def _readers(readers: int, cases: int, bootstrap: int, rng: np.random.Generator, number: int) -> dict[str, Score]:
    """Readers of different skill on cases of different difficulty, every one with and without the model."""
    centre = _centres()
    skill, hard = OF_READERS * rng.standard_normal(readers), OF_CASES * rng.standard_normal(cases)
    reader, case = np.repeat(np.arange(readers), cases), np.tile(np.arange(cases), readers)
    both = skill[reader] + hard[case]
    # One noise for both decisions would make them agree more; here each has its own.
    wrong = [rng.standard_normal(len(both)) < middle + both for middle in centre]
    decided = [answer.astype(float) for answer in wrong]
    study = types.ReaderStudy("paired", _counts(*wrong), reader, case, np.zeros(len(both)), decided[1], decided[0])
    # The t interval over readers takes these cases as the ones that are asked about.
    of_cases = [_wrong_on(hard, middle) for middle in centre]
    benefit = held(human_factors.decision_benefit(study, "", LEVEL), of_cases[1] - of_cases[0])
    return {**_clustered(study, bootstrap, number), "decision_benefit": benefit}


def _arms(
    readers: tuple[int, int], cases: int, bootstrap: int, rng: np.random.Generator, number: int
) -> dict[str, Score]:
    """So many readers with and so many without the model, all on the same cases."""
    centre = np.repeat(_centres(), readers)
    skill, hard = OF_READERS * rng.standard_normal(sum(readers)), OF_CASES * rng.standard_normal(cases)
    wrong = rng.standard_normal((sum(readers), cases)) < (centre + skill)[:, None] + hard
    reader, case = (index.ravel() for index in np.indices(wrong.shape))
    aided = reader < readers[0]
    with_model, without = (np.where(arm, wrong.ravel(), math.nan) for arm in (aided, ~aided))
    counts = _counts(wrong[: readers[0]], wrong[readers[0] :])
    study = types.ReaderStudy("parallel", counts, reader, case, np.zeros(len(reader)), without, with_model)
    return _clustered(study, bootstrap, number)


def _counts(aided: NDArray[np.bool_], unaided: NDArray[np.bool_]) -> types.DecisionCounts:
    """The wrong and right decisions of both kinds."""
    return types.DecisionCounts(int(aided.sum()), int((~aided).sum()), int(unaided.sum()), int((~unaided).sum()))


def _clustered(study: types.ReaderStudy, bootstrap: int, seed: int) -> dict[str, Score]:
    """Whether the intervals by readers and cases hold the truth."""
    truth, scores = _of_rates(*ERRORS), {}
    for measure in MEASURES_OF_COUNTS:
        if measure is human_factors.relative_risk_reduction:
            continue
        found = estimated(measure(study, LEVEL, bootstrap, seed))
        bounds = found.details["low_clustered"], found.details["high_clustered"]
        scores[f"{measure.__name__}, clustered"] = between(*bounds, truth[measure.__name__])
    return scores


def _wrong_on(hard: types.Floats, middle: float) -> float:
    """How often readers are wrong on these cases, on average over all readers."""
    chance = norm.cdf(middle + hard[:, None] + OF_READERS * NODES)
    return float((chance * WEIGHTS).sum(axis=1).mean() / WEIGHTS.sum())


# ---- tables that correspond -----------------------------------------------------------------------------------------

SHIFT = 0.5
NAMES = ("age", "pressure", "marker")


def _features(values: types.Floats) -> tuple[types.Feature, ...]:
    return tuple(types.Feature(name, column) for name, column in zip(NAMES, values.T, strict=False))


WHOLE = ((8, 12), (12, 3), (60, 10))
"""Mean and standard deviation of three predictors that are recorded as whole numbers."""
FLAGGED = (0.2, 0.4, 0.7)


def _of_one_population(rng: np.random.Generator, rows: int, kind: str) -> tuple[types.Feature, ...]:
    """Rows of one population, whatever its predictors are."""
    values = rng.standard_normal((rows, 3))
    if kind == "whole numbers":
        values = np.column_stack(
            [np.round(mean + sd * column) for (mean, sd), column in zip(WHOLE, values.T, strict=True)]
        )
    elif kind == "flags":
        values = (norm.cdf(values) < FLAGGED).astype(float)
    return _features(values)


def _true_energy(shift: float) -> float:
    """The coefficient of two normal distributions of variance 1 whose means lie so far apart."""
    root = math.sqrt(2)
    apart = 2 / math.sqrt(math.pi) * math.exp(-(shift**2) / 4) + shift * (1 - 2 * float(norm.cdf(-shift / root)))
    return 1 - 2 / math.sqrt(math.pi) / apart


def _tables(rows: int, bootstrap: int, rng: np.random.Generator, number: int) -> dict[str, Score]:
    """An external table that is shifted by half a standard deviation."""
    ours, shifted, equal = (
        rng.standard_normal((rows, 1)),
        rng.standard_normal((rows, 1)),
        rng.standard_normal((rows, 1)),
    )
    more: dict[str, Any] = {"level": LEVEL, "bootstrap": bootstrap, "seed": number}
    scores = {}
    for kind in ("continuous", "whole numbers", "flags"):
        sides = tuple(_of_one_population(rng, rows, kind) for _ in range(2))
        averaged = correspondence.correspondence_averaged(sides[0], sides[1], LEVEL, number)
        scores[f"correspondence_averaged, {kind}"] = held(averaged, 0.5)
    for name, values, shift in (("shifted", shifted + SHIFT, SHIFT), ("equal", equal, 0.0)):
        found = correspondence.energy_coefficient(_features(ours), _features(values), permutations=1, **more)
        scores[f"energy_coefficient, {name}"] = held(found, _true_energy(shift))
    return scores


def _equal_tables(rows: int, rng: np.random.Generator, number: int) -> dict[str, Score]:
    """Two tables from one population."""
    ours, theirs = (_features(rng.standard_normal((rows, 3))) for _ in range(2))
    psi = estimated(correspondence.degree_of_correspondence(ours, theirs, permutations=199, seed=number))
    energy = estimated(correspondence.energy_coefficient(ours, theirs, permutations=199, bootstrap=2, seed=number))
    averaged = estimated(correspondence.correspondence_averaged(ours, theirs, seed=number))
    return {
        "degree_of_correspondence": rejected(psi.value),
        "energy_coefficient": rejected(energy.details["p_value"]),
        "correspondence_averaged, mean value": Score(averaged.value),
    }


# ---- sites ----------------------------------------------------------------------------------------------------------


def _site(name: str, similarity: float, performance: float) -> types.SiteResults:
    summary = types.DatasetSummary(name, "external", name, 100, 30, 100, {}, ())

    def result(measure: str, value: float) -> types.Result:
        return types.Result(measure, measure, name, {}, types.Estimate(value, None, None, None, 100, Method("wald")))

    return types.SiteResults(summary, (result("correspondence_averaged", similarity), result("auroc", performance)), ())


def _correlated(rng: np.random.Generator, k: int, correlation: float) -> types.Estimate | types.Absent:
    similarity, noise = rng.standard_normal((2, k))
    performance = correlation * similarity + math.sqrt(1 - correlation**2) * noise
    sites = tuple(
        _site(f"site {number}", float(a), float(b))
        for number, (a, b) in enumerate(zip(similarity, performance, strict=True))
    )
    return robustness.performance_against_similarity(sites, "auroc", None, "averaged", LEVEL)


def _sites(k: int, correlation: float, rng: np.random.Generator, _: int) -> dict[str, Score]:
    return {"performance_against_similarity": held(_correlated(rng, k, correlation), correlation)}


def _unrelated_sites(k: int, rng: np.random.Generator, _: int) -> dict[str, Score]:
    found = estimated(_correlated(rng, k, 0.0))
    return {"performance_against_similarity": rejected(found.details["p_value"])}


# ---- exact tests ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def binomial_size(n: int) -> float:
    """The size that the one-sided exact binomial test against one half attains."""
    tail = binom.sf(np.arange(-1, n), n, 0.5)
    return float(tail[tail <= NOMINAL].max(initial=0.0))


@lru_cache(maxsize=4096)
def _two_sided_size(discordant: int) -> float:
    """The size that the exact McNemar test attains with so many discordant rows."""
    lower = np.arange(discordant // 2 + 1)
    p = np.minimum(1, 2 * binom.cdf(lower, discordant, 0.5))
    reject = lower[(p <= NOMINAL)]
    return float(2 * binom.cdf(reject.max(), discordant, 0.5)) if len(reject) else 0.0


def mcnemar_size(found: types.Estimate | types.Absent) -> float:
    """The attainable size given the number of discordant rows."""
    assert isinstance(found, types.Estimate)
    return _two_sided_size(int((found.details["only_model"] or 0) + (found.details["only_rival"] or 0)))


def _small(n: int, rng: np.random.Generator, _: int) -> dict[str, Score]:
    """The exact tests on few rows."""
    from dossier.metrics import comparison

    outcome, risk = (rng.permutation(n) < n // 2).astype(float), rng.random(n)
    coin = (rng.random(n) < 0.5).astype(float)
    other = rng.random(n)
    ranks = estimated(comparison.mann_whitney_u(outcome, risk))
    half = comparison.majority_class_test(coin, risk, 0.5)
    pair = estimated(comparison.accuracy_difference(coin, risk, other, 0.5))
    scores = {
        "mann_whitney_u, exact": rejected(ranks.details["p_value"]),
        "accuracy_difference": rejected(pair.details["p_value"], mcnemar_size(pair)),
    }
    if isinstance(half, types.Estimate):
        scores["majority_class_test, one half"] = rejected(half.details["p_value_half"], binomial_size(n))
    return scores
