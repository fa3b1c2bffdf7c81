"""Comparison with another model, and with chance.

Both models give a risk to the same people, so a difference from the other model is paired row by row. Every test
rests on independent rows. Tests draw from rows in an order of their own, so that the order of the file cannot matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

from dossier.core import register
from dossier.core.facts import Count, Fact, Method
from dossier.core.types import RIVAL, Absent, Estimate, Floats
from dossier.metrics import calibration, once, resampling, shares, utility, weighted
from dossier.metrics.discrimination import ACCURACY, delong_variance, placements
from dossier.metrics.intervals import beyond, beyond_student, estimate, standard_error, two_sided

AGAINST_RIVAL = {"against": RIVAL}
"""The setting of a difference from the other model, filed under its own name where it has one."""
CHANCE = {"against": "chance"}
BLOCK = 4_000_000
"""Numbers of one block of permutations."""
EXACT_BELOW = 20
"""Rows of each class below which the Mann-Whitney test is exact."""
NEARLY = 1e-12
"""A permutation counts as equal to what was observed within this share: its sum was added in another order."""


# ---- drawing under the null -----------------------------------------------------------------------------------------


def _blocks(permutations: int, n: int) -> Iterator[int]:
    """How many permutations of n rows each block holds."""
    size = max(1, BLOCK // n)
    for begin in range(0, permutations, size):
        yield min(size, permutations - begin)


def shuffled_cases(n: int, events: int, permutations: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Outcomes dealt anew to n rows, block by block: (permutations of the block, n), 1 for a case."""
    dealt = np.zeros(n)
    dealt[:events] = 1
    for size in _blocks(permutations, n):
        cases = np.tile(dealt, (size, 1))
        yield rng.permuted(cases, axis=1, out=cases)


@dataclass(frozen=True)
class RiskCells:
    """Sorted risks gathered into cells, to which cases are dealt."""

    cell: NDArray[np.int64]
    """The cell of each row."""
    count: Floats
    """The rows of each cell."""

    def means(self, values: Floats) -> Floats:
        """The mean of a value over the rows of each cell."""
        return np.asarray(np.bincount(self.cell, weights=values) / self.count)


def risk_cells(risk: Floats) -> RiskCells:
    """Each of the sorted risks on its own; above 50,000 rows 2,000 bins beside the cells of exactly 0 and exactly 1."""
    n = len(risk)
    cell = np.arange(n)
    if n > resampling.BINNED_ABOVE:
        cell = 1 + cell * resampling.BINS // n
        cell[risk == 0], cell[risk == 1] = 0, resampling.BINS + 1
        cell = np.unique(cell, return_inverse=True)[1]
    return RiskCells(cell, np.bincount(cell).astype(float))


def dealt_cases(cells: RiskCells, events: int, permutations: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How many cases each cell gets when the outcomes are dealt anew, block by block: (permutations, cells)."""
    if len(cells.cell) <= resampling.BINNED_ABOVE:
        yield from shuffled_cases(len(cells.cell), events, permutations, rng)
        return
    count = cells.count.astype(np.int64)
    for size in _blocks(permutations, len(count)):
        yield rng.multivariate_hypergeometric(count, events, size=size, method="marginals").astype(float)


@dataclass(frozen=True)
class DealtSums:
    """What the cases of each permutation of a block add up to: the sums that both scores rest on, (permutations)."""

    risk: Floats
    odds: Floats
    """Log odds of the risks between 0 and 1."""
    impossible: Floats
    """Cases with a risk of 0."""
    certain: Floats
    """Cases with a risk of 1."""


def _log_odds(risk: Floats) -> Floats:
    """The log odds of each risk; 0 for risks of 0 and 1, which are counted apart."""
    inside, odds = (risk > 0) & (risk < 1), np.zeros(len(risk))
    odds[inside] = np.log(risk[inside]) - np.log1p(-risk[inside])
    return odds


@once.once
def _dealt_sums(risk: Floats, events: int, permutations: int, seed: int) -> tuple[DealtSums, ...]:
    """The sums of each block of permutations of the sorted risks."""
    cells = risk_cells(risk)
    values = (risk, _log_odds(risk), (risk == 0).astype(float), (risk == 1).astype(float))
    means = [cells.means(value) for value in values]
    blocks = dealt_cases(cells, events, permutations, np.random.default_rng(seed))
    return tuple(DealtSums(*(cases @ mean for mean in means)) for cases in blocks)


def _against_dealt(value: float, as_good: Iterable[NDArray[np.bool_]], outcome: Floats, permutations: int) -> Estimate:
    """A score with the p-value (b + 1)/(m + 1), b of m permutations, block by block, at least as good as it."""
    p_value = (sum(int(block.sum()) for block in as_good) + 1) / (permutations + 1)
    bins = resampling.BINS if len(outcome) > resampling.BINNED_ABOVE else None
    return calibration.tested(value, p_value, outcome, Method(Fact("permutation_test", draws=permutations, bins=bins)))


def sign_flip_p(differences: Floats, permutations: int, seed: int) -> float | None:
    """The two-sided p-value of paired differences whose signs are drawn anew; None when all of them are 0.

    (b + 1)/(m + 1), b of m draws with a sum at least as far from 0 as the observed one, ties counted.
    """
    size = np.sort(np.abs(differences[differences != 0]))
    if len(size) == 0:
        return None
    observed, total = abs(float(differences.sum())), float(size.sum())
    rng, reached = np.random.default_rng(seed), 0
    for block in _blocks(permutations, len(size)):
        bytes_drawn = rng.integers(0, 256, size=(block, -(-len(size) // 8)), dtype=np.uint8)
        positive = np.unpackbits(bytes_drawn, axis=1)[:, : len(size)].astype(float)
        reached += int((np.abs(2 * (positive @ size) - total) >= observed - NEARLY * total).sum())
    return (reached + 1) / (permutations + 1)


# ---- the other model on its own -------------------------------------------------------------------------------------


of_rivals = partial(register.of_rivals, module=__name__, chapter="comparison")
of_rivals("auroc", protection="ranks")
of_rivals("oe_ratio")
of_rivals("calibration_slope")


# ---- two models on the same rows ------------------------------------------------------------------------------------


SINGLE_ROW = Fact("single_case_no_delong", cases=Count(1, "case"))


to_rival = partial(
    register.metric, fixed=AGAINST_RIVAL, independent_rows=True, breaks=("perfect is best", "one class is absent")
)
"""A difference of a measure between both models, on the same rows."""


@to_rival(
    pool="plain",
    mean_over="pairs",
    breaks=("perfect is best",),
    weighted=weighted.difference_to_rival(weighted.auroc),
    protection="difference",
    difference_of="auroc",
)
def auroc_difference(outcome: Floats, risk: Floats, rival: Floats, level: float = 0.95) -> Estimate | Absent:
    """By how much the AUROC of the model exceeds that of the other model on the same people.

    Above 0 the model orders people better than the other model.

    Returns
    -------
    Estimate or Absent
        AUROC(risk) - AUROC(rival) with the normal interval and the two-sided `p_value` of DeLong's paired test. Absent
        when all rows are of one class; interval and p-value are missing with a single case or non-case, for which
        DeLong's variance does not exist, and where it is 0, as when both models order every pair alike, or when one of
        them is perfect and the other gives everyone the same risk.
    """
    (above, below), (rival_above, rival_below) = placements(outcome, risk), placements(outcome, rival)
    value = float(above.mean() - rival_above.mean())
    variance = delong_variance(above - rival_above, below - rival_below)
    return by_delong(value, variance, outcome, level, "paired_delong", SINGLE_ROW)


SAME_ORDER = Fact("same_order")


def by_delong(value: float, variance: float | None, outcome: Floats, level: float, how: str, single: Fact) -> Estimate:
    """The difference of two AUROCs with its interval and test; without a variance for a class has a `single` row."""
    se = math.sqrt(variance) if variance is not None and variance > 0 else None
    p_value = None if se is None else 2 * beyond(abs(value) / se)
    found = estimate(value, se, level, outcome, Method(how), floor=-1, ceiling=1, details={"p_value": p_value})
    # Where nothing varies and neither is ahead, both order every pair alike.
    alike = SAME_ORDER if se is None and value == 0 else found.reason
    return replace(found, reason=single if variance is None else alike)


@to_rival(pool="plain", mean_over="rows", weighted=weighted.difference_to_rival(calibration.BRIER))
def brier_difference(
    outcome: Floats, risk: Floats, rival: Floats, level: float = 0.95, permutations: int = 999, seed: int = 1
) -> Estimate | Absent:
    """By how much the Brier score of the model exceeds that of the other model on the same people.

    Below 0 the model's risks lie nearer to what happened.

    Returns
    -------
    Estimate or Absent
        The mean of (p - y)^2 - (rival - y)^2 with the t interval, and the two-sided `p_value` of the sign-flip test: (b
        + 1)/(m + 1), b of m draws of the differences' signs with a mean at least as far from 0, ties counted. Absent
        without rows; the interval is missing when the differences do not vary, the p-value when all are 0.
    """
    differences = (risk - outcome) ** 2 - (rival - outcome) ** 2
    return paired(differences, outcome, level, permutations, seed, floor=-1, ceiling=1)


def paired(
    differences: Floats,
    outcome: Floats,
    level: float,
    permutations: int,
    seed: int,
    floor: float = -math.inf,
    ceiling: float = math.inf,
) -> Estimate:
    """The mean difference with its t interval, the p-value of the sign-flip test and that of the interval."""
    value, se = float(differences.mean()), standard_error(differences)
    by_interval = 2 * beyond_student(abs(value) / se, len(outcome) - 1) if se else None
    return estimate(
        value,
        se,
        level,
        outcome,
        Method(Fact("paired_t", df=len(outcome) - 1), Fact("p_by_sign_flips", flips=permutations)),
        floor=floor,
        ceiling=ceiling,
        details={"p_value": sign_flip_p(differences, permutations, seed), "p_by_interval": by_interval},
    )


@to_rival(weighted=weighted.difference_to_rival(calibration.LOG_SCORE))
def log_score_difference(
    outcome: Floats, risk: Floats, rival: Floats, level: float = 0.95, permutations: int = 999, seed: int = 1
) -> Estimate | Absent:
    """By how much the log score of the model exceeds that of the other model on the same people.

    Above 0 the model's risks foretold better what happened.

    Returns
    -------
    Estimate or Absent
        Arguments, interval and test: as for `brier_difference`, on the rows' log likelihoods in nats. Absent without
        rows, and when the log score of either is minus infinity.
    """
    register.present(of_one(calibration.log_score(outcome, risk, level), calibration.log_score(outcome, rival, level)))
    differences = np.log(np.where(outcome == 1, risk, 1 - risk)) - np.log(np.where(outcome == 1, rival, 1 - rival))
    return paired(differences, outcome, level, permutations, seed)


def of_one(ours: Estimate | Absent, theirs: Estimate | Absent) -> Absent | None:
    """Why a measure has no value for one of the models; None where it has both."""
    for whose, found in (("model", ours), ("other model", theirs)):
        if isinstance(found, Absent):
            return Absent(Fact("for_one_model", model=whose, reason=found.reason))
    return None


@to_rival(at=("threshold",), weighted=weighted.difference_to_rival(ACCURACY))
def accuracy_difference(
    outcome: Floats, risk: Floats, rival: Floats, threshold: float, level: float = 0.95
) -> Estimate | Absent:
    """By how much the share of right answers of the model exceeds that of the other model at the same threshold.

    Above 0 the model is right more often. It does not say which kind of error it avoids.

    Returns
    -------
    Estimate or Absent
        (b - c)/n, b rows where the model alone is right (`only_model`), c where the other model is (`only_rival`),
        with the interval of Agresti and Min, which adds one half to each of the four cells, and the two-sided `p_value`
        of the exact McNemar test: twice the smaller binomial tail of b among b + c at one half, at most 1. Absent
        without rows.

    Notes
    -----
    Source: McNemar 1947; the interval Agresti 2005.
    """
    case = outcome == 1
    return mcnemar((risk >= threshold) == case, (rival >= threshold) == case, outcome, level)


def _binomial_at_least(count: int, trials: int, share: float) -> float:
    """How probable it is that as many trials or more succeed."""
    return 1.0 if count <= 0 else float(scipy.special.betainc(count, trials - count + 1, share))


def mcnemar(right: NDArray[np.bool_], rival_right: NDArray[np.bool_], outcome: Floats, level: float) -> Estimate:
    """The difference of two shares of right answers on the same rows, with the exact McNemar test."""
    n = len(right)
    only_model, only_rival = int((right & ~rival_right).sum()), int((~right & rival_right).sum())
    value = (only_model - only_rival) / n
    centre = (only_model - only_rival) / (n + 2)
    se = math.sqrt((only_model + only_rival + 1) / (n + 2) - centre**2) / math.sqrt(n + 2)
    half = two_sided(level) * se
    p_value = min(1.0, 2 * _binomial_at_least(max(only_model, only_rival), only_model + only_rival, 0.5))
    return Estimate(
        value,
        min(value, max(-1.0, centre - half)),
        max(value, min(1.0, centre + half)),
        level,
        n,
        Method("agresti_min", "p_by_mcnemar"),
        int(outcome.sum()),
        se,
        {"p_value": p_value, "only_model": only_model, "only_rival": only_rival},
    )


@to_rival(
    at=("threshold",),
    pool="plain",
    mean_over="rows",
    against_rest="by class",
    followed=weighted.difference_to_rival(utility.of_followed),
)
def net_benefit_difference(
    outcome: Floats, risk: Floats, rival: Floats, threshold: float, level: float = 0.95, design: shares.Sampled = None
) -> Estimate | Absent:
    """By how much the net benefit of the model exceeds that of the other at the same threshold on the same people.

    Above 0 acting on the model has the higher net benefit.

    Parameters
    ----------
    threshold : float
        0 to below 1.

    Returns
    -------
    Estimate or Absent
        (a - b)/n - (c - d)/n t/(1-t), a cases and c others that the model alone flags, b and d those that the other
        alone does. Absent without rows or at a threshold of 1.

    Notes
    -----
    The interval takes the variance of what the rows add, and one row more of each of the four kinds: the variance
    alone is 0 where the models differ in no case.
    `p_value` is that of the widest interval that leaves out 0. Two models with the same risks differ by 0 exactly.
    Source: Vickers and Elkin 2006; adding to the cells of paired rows Agresti and Min 2005.
    """
    design = design or shares.Design(len(outcome))
    register.present(utility.no_net_benefit(threshold, design))
    odds = threshold / (1 - threshold)
    added = utility.contributions(outcome, risk, threshold) - utility.contributions(outcome, rival, threshold)
    value, most = design.mean(added), max(1.0, odds)
    if np.array_equal(risk, rival):
        method = Method("same_risks")
        return Estimate(0.0, 0.0, 0.0, level, len(outcome), method, int(outcome.sum()), 0.0, {"p_value": 1.0})
    method = design.as_sampled(Method("paired", "one_of_each_kind_added")) + "p_by_interval"
    if obstacle := design.obstacle():
        return replace(estimate(value, None, level, outcome, method, details={"p_value": None}), reason=obstacle)
    kinds = math.sqrt(2 * (1 + odds**2)) / design.rows_worth(added - value)
    se = math.hypot(design.standard_error(added - value), kinds)
    details = {**design.details, "p_value": 2 * beyond_student(abs(value) / se, design.freedom)}
    return estimate(value, se, level, outcome, method, floor=-most, ceiling=most, details=details)


# ---- against chance -------------------------------------------------------------------------------------------------


against_chance = partial(register.metric, fixed=CHANCE, independent_rows=True, clustered="refused")
"""A test of the model against one that knows nothing of a patient."""


@against_chance(at=("threshold",), breaks=("rows doubled", "perfect is best"))
def majority_class_test(outcome: Floats, risk: Floats, threshold: float) -> Estimate | Absent:
    """Whether the model is right more often than by always naming the more common answer.

    The value is the number of right answers at the threshold.

    Returns
    -------
    Estimate or Absent
        The count with the one-sided exact `p_value` of the paired test against always naming the larger class: among
        the rows that the model answers otherwise, as many right answers or more by tossing a coin (McNemar); of classes
        of the same size that with the larger p. Absent when all rows are of one class.

    Notes
    -----
    Beside it `p_value_half`, the binomial test of the count against one half, and `p_value_larger_class`, that against
    the share of the larger class (`null`). The last takes as known what comes from the same rows, and refutes a model
    that is no better in up to 13 % of studies at the level of .05: that is why it is not the one that is printed. A
    test has no interval. Where we differ: [Dinga] Fig 5 is off by one (n = 20: P(X >= 14) = .0577, P(X >= 15) = .0207).
    """
    n, phi = len(outcome), float(outcome.mean())
    flagged, case = risk >= threshold, outcome == 1
    right = int((flagged == case).sum())
    null = max(phi, 1 - phi)
    # Where neither class is the larger one, naming either must be beaten.
    named = [says for says, share in ((False, 1 - phi), (True, phi)) if share == null]
    paired = max(_against_naming(says, flagged, case) for says in named)
    against_null, against_half = (_binomial_at_least(right, n, share) for share in (null, 0.5))
    method = Method("exact_paired_test")
    if len(named) == 2:
        method += "harder_of_equal_classes"
    return calibration.tested(
        float(right), paired, outcome, method, p_value_half=against_half, p_value_larger_class=against_null, null=null
    )


def _against_naming(says: bool, flagged: NDArray[np.bool_], case: NDArray[np.bool_]) -> float:
    """The p of the paired test against always giving one answer, over the rows that the model answers otherwise."""
    otherwise = flagged != says
    right = int((otherwise & (case == flagged)).sum())
    return _binomial_at_least(right, int(otherwise.sum()), 0.5)


@against_chance(breaks=("rows doubled", "perfect is best"))
def mann_whitney_u(outcome: Floats, risk: Floats) -> Estimate | Absent:
    """Whether cases are ranked above non-cases more often than chance would do it.

    The value is the number of pairs of a case and a non-case in which the case is ranked higher, ties counting half.

    Parameters
    ----------
    risk : array_like
        n values: 0 to 1; only its order matters.

    Returns
    -------
    Estimate or Absent
        U = AUROC m k with the one-sided `p_value` of the Mann-Whitney test: exact below 20 cases and 20 non-cases when
        no risks tie, otherwise normal with the variance corrected for ties and a continuity correction of one half.
        Absent when all rows are of one class or every risk is the same.

    Notes
    -----
    A test has no interval. That the AUROC beats .5 says little: read its interval. Source: Mann 1947.
    """
    cases, others = risk[outcome == 1], risk[outcome == 0]
    _, ties = np.unique(risk, return_counts=True)
    m, k, n = len(cases), len(others), len(risk)
    if len(ties) == 1:
        return Absent(Fact("all_risks_equal_no_order_to_test"))
    won = round(2 * m * k * float(placements(outcome, risk)[0].mean())) / 2
    if max(m, k) < EXACT_BELOW and len(ties) == n:
        p_value = float(scipy.stats.mannwhitneyu(cases, others, alternative="greater", method="exact").pvalue)
        return calibration.tested(won, p_value, outcome, Method("mann_whitney_exact"))
    tied = float(np.sum(ties.astype(float) ** 3 - ties)) / (n * (n - 1))
    z = (won - m * k / 2 - 0.5) / math.sqrt(m * k / 12 * (n + 1 - tied))
    method = Method("mann_whitney_normal")
    return calibration.tested(won, beyond(z), outcome, method, z=z)


@against_chance()
def brier_permutation_test(outcome: Floats, risk: Floats, permutations: int = 999, seed: int = 1) -> Estimate | Absent:
    """Whether the risks lie nearer to what happened than if they had been dealt to the people at random.

    The value is the Brier score itself.

    Returns
    -------
    Estimate or Absent
        The mean of (p - y)^2 with the one-sided `p_value` of the permutation test, (b + 1)/(m + 1), b of m permutations
        of the outcomes with a score at least as good, ties counted. Absent when all rows are of one class.

    Notes
    -----
    Above 50,000 rows the outcomes are dealt to 2,000 bins of equally many neighbouring risks, each row with the mean of
    its bin. It does not test calibration: risks that are wrong in size may order people well. A test has no interval.
    Source: Phipson 2010.
    """
    p = np.sort(risk)
    # Every permutation has the same squares: the better score is the one with the larger risks among the cases.
    observed, near = float(risk[outcome == 1].sum()), NEARLY * max(1.0, float(p.sum()))
    dealt = _dealt_sums(p, int(outcome.sum()), permutations, seed)
    value = float(((risk - outcome) ** 2).mean())
    return _against_dealt(value, (sums.risk >= observed - near for sums in dealt), outcome, permutations)


@against_chance()
def log_score_permutation_test(
    outcome: Floats, risk: Floats, permutations: int = 999, seed: int = 1
) -> Estimate | Absent:
    """Whether the risks foretell what happened better than if they had been dealt to the people at random.

    The value is the log score itself, in nats.

    Returns
    -------
    Estimate or Absent
        Arguments and test: as for `brier_permutation_test`, on the mean log likelihood. Absent when all rows are of one
        class or the log score is minus infinity.

    Notes
    -----
    A permutation that gives a case a risk of 0 or a non-case a risk of 1 scores minus infinity and is never better.
    Source: Phipson 2010.
    """
    score = register.present(calibration.log_score(outcome, risk))
    p = np.sort(risk)
    observed, near = float(_log_odds(risk[outcome == 1]).sum()), NEARLY * max(1.0, float(np.abs(_log_odds(p)).sum()))
    certain = float((p == 1).sum())
    dealt = _dealt_sums(p, int(outcome.sum()), permutations, seed)
    as_good = ((sums.odds >= observed - near) & (sums.impossible == 0) & (sums.certain == certain) for sums in dealt)
    return _against_dealt(score.value, as_good, outcome, permutations)
