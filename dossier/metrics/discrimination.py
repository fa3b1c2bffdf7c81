"""Discrimination: does the model give those who have the outcome higher risks than those who have not?"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dossier.core.facts import Fact, Method
from dossier.core.register import absent_with_its_parts, curve, metric, present
from dossier.core.types import Absent, Curve, Estimate, Floats
from dossier.metrics import shares, weighted
from dossier.metrics.intervals import column, estimate, on_log, on_logit, wilson
from dossier.metrics.resampling import Cells, cells_of, draws_within_classes, percentile, replicated
from dossier.metrics.weighted import Found, Mean, Rows, by_class, combined, ratio

POINTS = 250
"""The most points that a curve holds."""


def placements(outcome: Floats, risk: Floats) -> tuple[Floats, Floats]:
    """For each case the share of non-cases ranked below it, for each non-case the share of cases above it; ties count
    half.
    """
    case, order = outcome == 1, np.argsort(risk)
    ranked = risk[order]
    new = np.append(True, ranked[1:] != ranked[:-1])
    starts = np.flatnonzero(new)
    ends = np.append(starts[1:], len(risk))
    cases_before = np.append(0, np.cumsum(case[order]))
    # Of each distinct risk: the rows below it and half of those that tie, of the cases and of the others.
    cases_below = (cases_before[starts] + cases_before[ends]) / 2
    others_below = (starts + ends) / 2 - cases_below
    rank = np.empty(len(risk), dtype=np.int64)
    rank[order] = np.cumsum(new) - 1
    above = others_below[rank[case]] / float((~case).sum())
    below = 1 - cases_below[rank[~case]] / float(case.sum())
    return above, below


def delong_variance(above: Floats, below: Floats) -> float | None:
    """DeLong's variance from the placements; None with a single case or non-case, for which it does not exist."""
    if len(above) < 2 or len(below) < 2:
        return None
    return float(np.var(above, ddof=1)) / len(above) + float(np.var(below, ddof=1)) / len(below)


ALL_TIED = Fact("all_risks_equal_no_order")


def newcombe_standard_error(auroc: float, n: int, events: int) -> float:
    """Newcombe's standard error of an AUROC, from its value and the counts alone (Newcombe 2006, method 4)."""
    half = n / 2 - 1
    spread = auroc * (1 - auroc) * (1 + half * (1 - auroc) / (2 - auroc) + half * auroc / (1 + auroc))
    return math.sqrt(spread / (events * (n - events)))


@metric(
    roles=("development", "internal", "external"),
    pool="logit",
    against_rest="by class and mean",
    weighted=weighted.auroc,
    protection="ranks",
)
def auroc(outcome: Floats, risk: Floats, level: float = 0.95) -> Estimate | Absent:
    """The probability that a randomly chosen person with the outcome has a higher risk than one without it.

    .5 is chance and 1 is perfect order; ties count half. It says nothing about whether the risks are right in size.

    Parameters
    ----------
    risk : array_like
        n values: 0 to 1; only its order matters.

    Returns
    -------
    Estimate or Absent
        The AUROC with DeLong's standard error `se` on the plain scale and an interval symmetric on the logit scale.
        Absent with no rows, or when all rows are of one class.

    Notes
    -----
    Variance = var(V10)/m + var(V01)/n of the placements [DeLong 1988], computed by midranks in n log n [Sun 2014];
    logit interval with SE/(A(1-A)) [Qin 2008]. At 0 or 1 DeLong's SE is 0: the interval then ends in 0 or 1, and its
    other bound comes from Newcombe's SE at (n A + .5)/(n + 1), on the logit scale, with the two-sided quantile as
    Clopper and Pearson take it. Newcombe's SE also stands in where DeLong's does not exist (a single case or non-case).
    Where every risk is the same, the value is .5 by the rule for ties and has no interval.
    """
    n, events = len(outcome), int(outcome.sum())
    if float(np.ptp(risk)) == 0:
        return Estimate(0.5, None, None, None, n, Method("all_tied"), events, reason=ALL_TIED)
    above, below = placements(outcome, risk)
    value = float(above.mean())
    variance = delong_variance(above, below)
    if variance is not None and variance > 0:
        se = math.sqrt(variance)
        low, high = on_logit(value, se, level)
        return Estimate(value, low, high, level, n, Method("delong", Fact("on_scale", scale="logit")), events, se)
    return auroc_from_counts(value, n, events, level)


def auroc_from_counts(value: float, n: int, events: int, level: float) -> Estimate:
    """An AUROC with the interval of Newcombe's standard error, for where its placements do not vary; n rows."""
    inside = value if 0 < value < 1 else (n * value + 0.5) / (n + 1)
    se = newcombe_standard_error(inside, n, events)
    low, high = on_logit(inside, se, level)
    if 0 < value < 1:
        return Estimate(value, low, high, level, n, Method("newcombe", Fact("on_scale", scale="logit")), events, se)
    low, high = (low, 1.0) if value == 1 else (0.0, high)
    return Estimate(value, low, high, level, n, Method("newcombe_inside", Fact("on_scale", scale="logit")), events, se)


NO_EXPECTED_PAIR = Absent(Fact("no_expected_pair"))


def expected_concordance(risk: Floats, weights: Floats) -> tuple[float, Floats, Floats] | None:
    """The AUROC that risks would have if they were right, what each row contributes to it, and its slope by each risk.

    `risk` (n, 0 to 1), `weights` (n, 0 or more): each pair of two rows counts as often as the product of its weights.
    The contributions (n) add up to 0: w u, u the influence of a row. None when no pair can be a case and a non-case.
    Sums over the sorted risks, n log n.
    """
    levels, level_of = np.unique(risk, return_inverse=True)
    case, other = weights * risk, weights * (1 - risk)
    cases, others = (
        np.bincount(level_of, weights=ranked, minlength=len(levels)).astype(float) for ranked in (case, other)
    )
    # A row is no pair with itself, which the sums over levels count as a tie.
    itself = case * other
    pairs = float(cases.sum() * others.sum() - itself.sum())
    if pairs <= 1e-12 * float(weights.sum()) ** 2:
        return None
    below, above = np.cumsum(others) - others / 2, cases.sum() - np.cumsum(cases) + cases / 2
    # Rounding must not lead out of the range.
    value = min(max(float((cases * below).sum() - itself.sum() / 2) / pairs, 0.5), 1.0)
    in_order = case * below[level_of] + other * above[level_of] - itself
    of_all = case * others.sum() + other * cases.sum() - 2 * itself
    apart = below[level_of] - other / 2 - (above[level_of] - case / 2) - value * (others.sum() - cases.sum())
    return value, np.asarray((in_order - value * of_all) / pairs), np.asarray(weights * apart / pairs)


def weighted_concordance(rows: Rows) -> Found:
    """The AUROC that the risks would have if they were right, each pair of rows at the product of its weights."""
    found = expected_concordance(rows.risk, rows.weights / rows.weights.mean())
    return NO_EXPECTED_PAIR if found is None else weighted.Weighted(*found[:2])


@metric(
    scale="logit",
    breaks=("rows doubled", "perfect is best", "one class is absent"),
    against_rest="by class and mean",
    weighted=weighted_concordance,
)
def model_based_concordance(
    risk: Floats, level: float = 0.95, bootstrap: int = 1000, seed: int = 1
) -> Estimate | Absent:
    """The AUROC that the risks would have among these people if every risk were right.

    It follows from the risks alone: where they lie close together, even a right model ranks less well. An AUROC that
    differs between two groups as much as this does differs by case mix; what is left is the model's.

    Returns
    -------
    Estimate or Absent
        The mean over all pairs of two rows of how often a case would be ranked above a non-case if each had the outcome
        with the probability p, from .5 (all risks alike) to 1, with the percentile interval of a bootstrap over rows;
        above 50,000 rows of 2,000 bins of risk. Absent without rows, and when all risks are 0, or all are 1.

    Notes
    -----
    Source: van Klaveren 2016.
    """
    found = expected_concordance(risk, np.ones(len(risk)))
    if found is None:
        return NO_EXPECTED_PAIR
    cells = cells_of(np.zeros(len(risk)), np.sort(risk).astype(float))
    replicates = replicated(cells, bootstrap, seed, partial(_expected_of_draws, cells))
    estimated = percentile(found[0], replicates, bootstrap, level, np.zeros(len(risk)), Method("bootstrap"))
    return replace(estimated, events=None)


def _expected_of_draws(cells: Cells, drawn: Floats) -> Floats:
    """The model-based concordance of each replicate; NaN where no pair can be a case and a non-case."""
    case, other = drawn * cells.risk, drawn * (1 - cells.risk)
    itself = (case * (1 - cells.risk)).sum(axis=1)
    in_order = (case * (np.cumsum(other, axis=1) - other / 2)).sum(axis=1) - itself / 2
    pairs = case.sum(axis=1) * other.sum(axis=1) - itself
    possible = pairs > 1e-12 * drawn.sum(axis=1) ** 2
    return np.where(possible, in_order / np.where(possible, pairs, 1.0), np.nan)


def _right(rows: Rows) -> Floats:
    """1 for each right answer at the threshold."""
    return np.asarray(rows.flagged == rows.cases, dtype=float)


SENSITIVITY = Mean(
    lambda rows: rows.flagged.astype(float),
    lambda rows: rows.cases,
    lambda rows: Fact("no_row_has_outcome" if rows.alike else "no_weighted_row_has_outcome"),
)
SPECIFICITY = Mean(
    lambda rows: (~rows.flagged).astype(float),
    lambda rows: ~rows.cases,
    lambda rows: Fact("every_row_has_outcome" if rows.alike else "every_weighted_row_has_outcome"),
)
PPV = Mean(
    lambda rows: rows.outcome,
    lambda rows: rows.flagged,
    lambda rows: Fact(
        "no_risk_reaches_threshold" if rows.alike else "no_weighted_risk_reaches_threshold", threshold=rows.threshold
    ),
)
NPV = Mean(
    lambda rows: 1 - rows.outcome,
    lambda rows: ~rows.flagged,
    lambda rows: Fact(
        "every_risk_reaches_threshold" if rows.alike else "every_weighted_risk_reaches_threshold",
        threshold=rows.threshold,
    ),
)
ACCURACY = Mean(_right, details=lambda rows: {"larger_class": max(rows.by_outcome) / float(rows.weights.sum())})


@absent_with_its_parts
def _wilson(share: Mean, outcome: Floats, risk: Floats, threshold: float, level: float) -> Estimate | Absent:
    """A share of rows that count alike with Wilson's interval; n is the number of the rows that it is a share of."""
    rows = Rows.counted(outcome, risk, threshold)
    found = present(share(rows))
    among = share.among(rows)
    trials, events = int(among.sum()), int((among * outcome).sum())
    low, high = wilson(int((among * share.added(rows)).sum()), trials, level)
    return Estimate(found.value, low, high, level, trials, Method("wilson"), events, details=found.details)


share_at_threshold = partial(
    metric,
    scale="wilson",
    at=("threshold",),
    breaks=("one class is absent",),
    against_rest="by class and mean",
    protection="counts",
)
"""A share of the rows on one side of a threshold."""


@share_at_threshold(weighted=SENSITIVITY, by_subgroup=True)
def sensitivity(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of the people with the outcome whom the model flags at the threshold.

    Read it only together with the specificity at the same threshold.

    Returns
    -------
    Estimate or Absent
        TP/(TP + FN) with Wilson's interval; n is the number of cases. Absent without a case.
    """
    return _wilson(SENSITIVITY, outcome, risk, threshold, level)


@share_at_threshold(weighted=SPECIFICITY, by_subgroup=True)
def specificity(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of the people without the outcome whom the model leaves unflagged at the threshold.

    Read it only together with the sensitivity at the same threshold.

    Returns
    -------
    Estimate or Absent
        TN/(TN + FP) with Wilson's interval; n is the number of non-cases. Absent without a non-case.
    """
    return _wilson(SPECIFICITY, outcome, risk, threshold, level)


@share_at_threshold(weighted=PPV)
def ppv(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of the flagged people who have the outcome.

    It depends on how common the outcome is at the site; read it only together with the negative predictive value.

    Returns
    -------
    Estimate or Absent
        TP/(TP + FP) with Wilson's interval; n is the number of flagged rows. Absent when no row is flagged.
    """
    return _wilson(PPV, outcome, risk, threshold, level)


@share_at_threshold(weighted=NPV)
def npv(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of the unflagged people who do not have the outcome.

    It depends on how common the outcome is at the site; read it only together with the positive predictive value.

    Returns
    -------
    Estimate or Absent
        TN/(TN + FN) with Wilson's interval; n is the number of unflagged rows. Absent when every row is flagged.
    """
    return _wilson(NPV, outcome, risk, threshold, level)


# ---- both kinds of error in one number ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Confusion:
    """The four counts at a threshold; a row is flagged when its risk reaches the threshold."""

    true_positive: int
    false_positive: int
    false_negative: int
    true_negative: int

    @property
    def n(self) -> int:
        """All rows."""
        return sum(self.four)

    @property
    def four(self) -> tuple[int, int, int, int]:
        """True positives, false positives, false negatives and true negatives."""
        return self.true_positive, self.false_positive, self.false_negative, self.true_negative

    @property
    def cases(self) -> int:
        """The rows with the outcome."""
        return self.true_positive + self.false_negative

    @property
    def flagged(self) -> int:
        """The rows whose risk reaches the threshold."""
        return self.true_positive + self.false_positive


def confusion(outcome: Floats, risk: Floats, threshold: float) -> Confusion:
    """The counts of right and wrong answers: `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `threshold` (0 to 1)."""
    flagged, case = risk >= threshold, outcome == 1
    cells = (flagged & case, flagged & ~case, ~flagged & case, ~flagged & ~case)
    return Confusion(*(int(cell.sum()) for cell in cells))


OfFour = Callable[[Any, Any, Any, Any], Any]
"""A measure of true positives, false positives, false negatives and true negatives, as counts or as shares, that only
their proportions decide, in operations that a complex number allows too."""
STEP = 1e-30


def _error(measure: OfFour, found: Confusion) -> float | None:
    """The standard error of a measure by the delta method over the four counts; None when it is 0.

    What a row contributes is the slope of the measure along its count, the imaginary part of a step into the complex
    plane, which loses no digit. As the measure stays where all counts grow alike, the contributions add up to 0.
    """
    counts = found.four
    steps = (tuple(count + STEP * 1j * (at == cell) for at, count in enumerate(counts)) for cell in range(4))
    slopes = [measure(*moved).imag / STEP for moved in steps]
    se = math.sqrt(math.fsum(count * slope**2 for count, slope in zip(counts, slopes, strict=True)))
    return se if se > 1e-12 else None


@dataclass(frozen=True)
class BothErrors:
    """A multiple of the sum of sensitivity and specificity, less a constant."""

    factor: float
    less: float

    @absent_with_its_parts
    def __call__(self, rows: Rows) -> Found:
        """The sum, and how many missed cases a false alarm counts as much as: in it, and by the threshold."""
        found = present(by_class(rows, _right(rows)))
        cases, others = rows.by_outcome
        declared = rows.threshold / (1 - rows.threshold) if rows.threshold < 1 else None
        details = {"false_alarm_weight": cases / others, "declared_weight": declared}
        return combined(*found, self.factor, self.factor, -self.less, details)

    @absent_with_its_parts
    def estimate(self, outcome: Floats, risk: Floats, threshold: float, level: float) -> Estimate | Absent:
        """That of rows that count alike, with the variance of two independent shares."""
        found = present(self(Rows.counted(outcome, risk, threshold)))
        se = _error(lambda tp, fp, fn, tn: tp / (tp + fn) + tn / (tn + fp), confusion(outcome, risk, threshold))
        se, method = None if se is None else self.factor * se, Method("stratified_delta")
        return estimate(found.value, se, level, outcome, method, floor=-self.less, ceiling=1, details=found.details)


BALANCED, YOUDEN = BothErrors(0.5, 0.0), BothErrors(1.0, 1.0)


def _mcc(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return (tp * tn - fp * fn) / (cmath.sqrt((tp + fp) * (tp + fn)) * cmath.sqrt((tn + fp) * (tn + fn)))


def _kappa(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    n, chance = tp + fp + fn + tn, (tp + fp) * (tp + fn) + (tn + fp) * (tn + fn)
    return (n * (tp + tn) - chance) / (n * n - chance)


@absent_with_its_parts
def _of_four(
    measure: OfFour, outcome: Floats, risk: Floats, threshold: float, level: float, parts: tuple[Mean, ...] = ()
) -> Estimate | Absent:
    """A measure of the four counts with the normal interval of the delta method; absent where one of the shares is."""
    rows, found = Rows.counted(outcome, risk, threshold), confusion(outcome, risk, threshold)
    for part in parts:
        present(part(rows))
    # What a measure would be at other prevalences, the sensitivity and specificity unchanged.
    values: dict[str, float | None] = {}
    for per_cent in (10, 50):
        cases = per_cent / 100
        if not 0 < found.cases < found.n:
            values[f"at_prevalence_{per_cent}"] = None
            continue
        hit = cases * (found.true_positive / found.cases)
        spared = (1 - cases) * (found.true_negative / (found.n - found.cases))
        values[f"at_prevalence_{per_cent}"] = measure(hit, 1 - cases - spared, cases - hit, spared).real
    value = min(1.0, max(-1.0, measure(*found.four).real))
    return estimate(value, _error(measure, found), level, outcome, Method("delta"), floor=-1, ceiling=1, details=values)


@metric(scale="wilson", at=("threshold",), breaks=("one class is absent",), weighted=ACCURACY, protection="counts")
def accuracy(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of people for whom the model's answer at the threshold is right.

    Calling everyone healthy is highly accurate where the outcome is rare: compare it with the share of the larger
    class.

    Returns
    -------
    Estimate or Absent
        (TP + TN)/n with Wilson's interval; `larger_class` in the details, the share that is right when all get the same
        answer. Absent without rows.
    """
    return _wilson(ACCURACY, outcome, risk, threshold, level)


both_errors = partial(metric, at=("threshold",), against_rest="by class and mean", protection="counts")
"""Both kinds of error at a threshold in one number."""


@both_errors(weighted=BALANCED)
def balanced_accuracy(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The mean of the share of cases that are flagged and the share of non-cases that are not.

    .5 is chance, 1 is perfect.

    Returns
    -------
    Estimate or Absent
        (sensitivity + specificity)/2 with a normal interval, SE^2 = [se(1-se)/m + sp(1-sp)/k]/4 with m cases and k
        non-cases. Absent when all rows are of one class; the bounds are missing when both shares are 0 or 1.

    Notes
    -----
    `details`: `false_alarm_weight`, m/k, the missed cases that one false alarm counts as much as in it, and
    `declared_weight`, t/(1-t), those that the threshold says (missing at 1). Source: Brodersen 2010.
    """
    return BALANCED.estimate(outcome, risk, threshold, level)


@both_errors(weighted=YOUDEN)
def youden_j(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """By how much the share of cases flagged exceeds the share of non-cases flagged.

    0 is chance, 1 is perfect, below 0 worse than chance.

    Returns
    -------
    Estimate or Absent
        Sensitivity + specificity - 1 with a normal interval, SE^2 = se(1-se)/m + sp(1-sp)/k. Absent when all rows are
        of one class; the bounds are missing when both shares are 0 or 1.

    Notes
    -----
    `details` as for `balanced_accuracy`. Source: Youden 1950. Where we differ: [Trust] says that it runs from 0 to 1.
    """
    return YOUDEN.estimate(outcome, risk, threshold, level)


@both_errors(breaks=("one class is absent",))
def markedness(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """By how much the outcome is more frequent among those flagged than among those not flagged.

    0 is chance, 1 is perfect.

    Returns
    -------
    Estimate or Absent
        Ppv + npv - 1 with a normal interval, SE^2 = ppv(1-ppv)/flagged + npv(1-npv)/unflagged. Absent without rows, and
        when no row or every row is flagged; the bounds are missing when both shares are 0 or 1.

    Notes
    -----
    `details`: `at_prevalence_10` and `at_prevalence_50`, what the same sensitivity and specificity would give where the
    outcome has 10 and 50 % (missing with one class). Source: Powers 2011.
    """
    return _of_four(
        lambda tp, fp, fn, tn: tp / (tp + fp) + tn / (tn + fn) - 1, outcome, risk, threshold, level, (PPV, NPV)
    )


@both_errors()
def mcc(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The correlation between the model's answer at the threshold and what happened.

    0 is chance, 1 is perfect.

    Returns
    -------
    Estimate or Absent
        (TP TN - FP FN)/sqrt((TP+FP)(TP+FN)(TN+FP)(TN+FN)) with a normal interval by the delta method over the four
        counts. Absent when all rows are of one class, and when no row or every row is flagged; the bounds are missing
        when all or no answers are right.

    Notes
    -----
    `details` as for `markedness`. Source: Matthews 1975. Where we differ: [Trust] omits the root.
    """
    return _of_four(_mcc, outcome, risk, threshold, level, (PPV, NPV))


@both_errors(breaks=("one class is absent",))
def f1(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The harmonic mean of the share of cases flagged and the share of flagged people who are cases.

    1 is perfect. People rightly left unflagged do not enter.

    Returns
    -------
    Estimate or Absent
        2 TP/(2 TP + FP + FN) with a normal interval by the delta method over the four counts. Absent without rows, and
        when there is neither a case nor a flagged row; the bounds are missing when no answer, or no wrong answer, is
        among them.

    Notes
    -----
    `details` as for `markedness`. Source: Van Rijsbergen 1979.
    """
    if not outcome.any() and not (risk >= threshold).any():
        return Absent(Fact("no_outcome_and_no_flag", threshold=threshold))
    found = present(_of_four(lambda tp, fp, fn, _: 2 * tp / (2 * tp + fp + fn), outcome, risk, threshold, level))
    return replace(found, low=None if found.low is None else max(0.0, found.low))


@both_errors()
def cohen_kappa_of_model(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """How far the model's answers at the threshold agree with what happened, beyond what chance would give.

    0 is chance, 1 is full agreement.

    Returns
    -------
    Estimate or Absent
        (p_o - p_e)/(1 - p_e), p_o the accuracy and p_e the agreement that the margins alone would give, with a normal
        interval by the delta method over the four counts, which is the large-sample error of Fleiss, Cohen and Everitt
        1969. Absent when all rows are of one class; the bounds are missing when nothing varies.

    Notes
    -----
    `details` as for `markedness`, and `maximum`, the most that these margins allow. Filed as `cohen_kappa` at a
    threshold; without one, `cohen_kappa` is that of the raters. Source: Cohen 1960.
    """
    found = confusion(outcome, risk, threshold)
    flagged, cases = found.flagged / found.n, found.cases / found.n
    room = flagged + cases - 2 * flagged * cases
    most = min(flagged, cases) + min(1 - flagged, 1 - cases)
    kappa = present(_of_four(_kappa, outcome, risk, threshold, level))
    return replace(kappa, details={**kappa.details, "maximum": 1 - (1 - most) / room})


likelihood_ratio = partial(
    metric, at=("threshold",), breaks=("perfect is best",), against_rest="by class", protection="counts"
)
"""What an answer of the model changes."""


@dataclass(frozen=True)
class LikelihoodRatio:
    """The share of the flagged, or of the others, among cases over that among non-cases."""

    is_flagged: bool

    @absent_with_its_parts
    def __call__(self, rows: Rows) -> Found:
        """The ratio; Absent where either share is 0."""
        found = present(by_class(rows, (rows.flagged == self.is_flagged).astype(float)))
        for share, has_outcome in zip(found, (True, False), strict=True):
            if share.value == 0:
                side = {"has_outcome": has_outcome, "is_flagged": self.is_flagged, "threshold": rows.threshold}
                return Absent(
                    Fact("no_patient_on_this_side" if rows.alike else "no_weighted_patient_on_this_side", **side)
                )
        return ratio(*found)

    @absent_with_its_parts
    def estimate(self, outcome: Floats, risk: Floats, threshold: float, level: float) -> Estimate | Absent:
        """That of rows that count alike, with the interval of the log method."""
        found = present(self(Rows.counted(outcome, risk, threshold)))
        n, events, chosen = len(outcome), int(outcome.sum()), (risk >= threshold) == self.is_flagged
        hits = int(outcome[chosen].sum())
        variance = 1 / hits - 1 / events + 1 / (int(chosen.sum()) - hits) - 1 / (n - events)
        if variance <= 1e-15:
            return estimate(found.value, None, level, outcome, Method("log_method"))
        se = math.sqrt(variance)
        low, high = on_log(found.value, se, level)
        return Estimate(found.value, low, high, level, n, Method("log_method"), events, found.value * se)


@likelihood_ratio(weighted=LikelihoodRatio(True))
def likelihood_ratio_positive(
    outcome: Floats, risk: Floats, threshold: float, level: float = 0.95
) -> Estimate | Absent:
    """How many times more often cases are flagged than non-cases.

    1 says nothing about a person; the higher, the more a flag speaks for the outcome. Read it with the negative one.

    Returns
    -------
    Estimate or Absent
        Sensitivity/(1 - specificity) with an interval symmetric on the log scale, SE(log)^2 = 1/TP - 1/m + 1/FP - 1/k
        with m cases and k non-cases; `se` is on the plain scale. Absent when all rows are of one class, and when no
        case or no non-case is flagged; the bounds are missing when everyone is.
    """
    return LikelihoodRatio(is_flagged=True).estimate(outcome, risk, threshold, level)


@likelihood_ratio(weighted=LikelihoodRatio(False))
def likelihood_ratio_negative(
    outcome: Floats, risk: Floats, threshold: float, level: float = 0.95
) -> Estimate | Absent:
    """How many times as often cases are left unflagged as non-cases.

    1 says nothing about a person; the nearer to 0, the more a missing flag speaks against the outcome. Read it with the
    positive one.

    Returns
    -------
    Estimate or Absent
        (1 - sensitivity)/specificity with an interval symmetric on the log scale, SE(log)^2 = 1/FN - 1/m + 1/TN - 1/k.
        Absent when all rows are of one class, and when no case or no non-case is left unflagged; the bounds are missing
        when nobody is flagged.
    """
    return LikelihoodRatio(is_flagged=False).estimate(outcome, risk, threshold, level)


# ---- parts and relatives of the ROC curve ---------------------------------------------------------------------------


def _sorted(outcome: Floats, risk: Floats) -> tuple[Floats, Floats]:
    """The rows by risk and outcome, so that their order in the file cannot matter to a draw."""
    order = np.lexsort((outcome, risk))
    return outcome[order].astype(float), risk[order].astype(float)


def _from_the_top(cells: Cells, drawn: Floats) -> tuple[Floats, Floats]:
    """True and false positives of each replicate at each distinct risk, from the highest down: (risks, replicates)."""
    last = np.append(np.flatnonzero(np.diff(cells.risk[::-1])), len(cells.risk) - 1)
    # Replicates side by side: sums down the risks then run over all of them at once.
    turned = np.ascontiguousarray(drawn.T[::-1])
    flagged, true = np.cumsum(turned, axis=0), np.cumsum(turned * cells.outcome[::-1, None], axis=0)
    flagged -= true
    return (true, flagged) if len(last) == len(cells.risk) else (true[last], flagged[last])


def _average_precision(true: Floats, false: Floats) -> Floats:
    """The average precision of each replicate (risks, replicates); NaN where it holds no case."""
    gained = true / np.maximum(true + false, 1)
    gained[0] *= true[0]
    gained[1:] *= np.diff(true, axis=0)
    cases = true[-1]
    return np.where(cases > 0, gained.sum(axis=0) / np.maximum(cases, 1), np.nan)


@metric(against_rest="by class and mean")
def auprc(
    outcome: Floats, risk: Floats, level: float = 0.95, bootstrap: int = 1000, seed: int = 1
) -> Estimate | Absent:
    """The share of cases among the people flagged, averaged over all cases as the threshold falls.

    Chance gives the event rate, 1 is perfect.

    Parameters
    ----------
    risk : array_like
        n values: 0 to 1; only its order matters.

    Returns
    -------
    Estimate or Absent
        The average precision: sum over the distinct risks, from the highest down, of the gain in sensitivity times the
        ppv, without interpolation; `prevalence` in the details. Absent when all rows are of one class; the bounds are
        missing when the replicates do not vary.

    Notes
    -----
    Percentile bootstrap over rows; replicates without a case are left out. Above 50,000 rows the replicates work on
    2,000 bins of risk. Source: Davis 2006.
    """
    y, p = _sorted(outcome, risk)
    whole = Cells(p, y, np.ones(len(y)))
    value = float(_average_precision(*_from_the_top(whole, whole.count[None, :]))[0])
    cells = cells_of(y, p)
    found = replicated(cells, bootstrap, seed, lambda drawn: _average_precision(*_from_the_top(cells, drawn)))
    method = Method("average_precision", "bootstrap_over_rows")
    return percentile(value, found, bootstrap, level, outcome, method, {"prevalence": float(outcome.mean())})


def part_of(fpr: str | tuple[float, float]) -> tuple[float, float]:
    """The ends of a part of the ROC curve, from a pair or from words like "0-0.2"."""
    if isinstance(fpr, str):
        low, _, high = fpr.partition("-")
        return float(low), float(high)
    return fpr


@dataclass(frozen=True)
class RocPart:
    """The piece of a ROC curve over a range of the false positive rate, and the areas beside and below it."""

    width: float
    height: float
    area_below: float
    """The integral of the sensitivity over the false positive rate."""
    area_beside: float
    """The integral of the specificity over the sensitivity."""


def roc_part(fpr: Floats, tpr: Floats, low: float, high: float) -> RocPart:
    """The piece between the false positive rates `low` and `high` of the curve with these corners.

    A vertical step at the right end belongs to the piece, one at the left end to its neighbour; there is no neighbour
    left of 0. A piece without width is the step itself.
    """
    upper = np.interp(low, fpr, tpr) if low not in fpr else tpr[fpr == low].max()
    begin = float(tpr[fpr == low].min()) if low == 0 or (low == high and low in fpr) else float(upper)
    end = float(tpr[fpr == high].max()) if high in fpr else float(np.interp(high, fpr, tpr))
    inside = (fpr >= low) & (fpr <= high) & (tpr >= begin)
    x = np.concatenate(([low], fpr[inside], [high]))
    y = np.concatenate(([begin], tpr[inside], [end]))
    return RocPart(high - low, end - begin, float(np.trapezoid(y, x)), float(np.trapezoid(1 - x, y)))


def _balanced(part: RocPart) -> float | None:
    """The balanced average accuracy of a part; None for a part without width and height."""
    size = part.width + part.height
    return min(1.0, (part.area_below + part.area_beside) / size) if size > 0 else None


@metric(at=("fpr",), against_rest="by class and mean")
def balanced_average_accuracy(
    outcome: Floats,
    risk: Floats,
    fpr: str | tuple[float, float],
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """The mean of the average sensitivity and the average specificity over a part of the ROC curve, each by its range.

    1 is perfect.

    Parameters
    ----------
    risk : array_like
        n values: 0 to 1; only its order matters.
    fpr : str or tuple[float, float]
        The part: lowest and highest false positive rate, 0 to 1, as a pair or as "0-0.2".

    Returns
    -------
    Estimate or Absent
        (pAUC + pAUCx)/(dx + dy), dx the range of the false positive rate, dy that of the sensitivity, pAUC the area
        below the part and pAUCx the area beside it; equal to dx/(dx + dy) avgSens + dy/(dx + dy) avgSpec with avgSens =
        pAUC/dx and avgSpec = pAUCx/dy. Absent when all rows are of one class, when the ends are not in order within 0
        to 1, or when the part is a single point.

    Notes
    -----
    Over a partition (pAUC + pAUCx)/2 sums to the AUROC; `half_sum` in the details holds it, and `left_out` the rest of
    the AUROC, which the part does not see. Percentile bootstrap within cases and within non-cases. Source: Carrington
    2022. Where we differ: [Trust] drops the averages.
    """
    low, high = part_of(fpr)
    if not 0 <= low <= high <= 1:
        return Absent(Fact("part_of_roc_out_of_range", low=low, high=high))
    y, p = _sorted(outcome, risk)
    part = roc_part(*roc_vertices(y, p), low, high)
    value = _balanced(part)
    if value is None:
        return Absent(Fact("part_of_roc_without_extent", low=low, high=high))
    cells = cells_of(y, p)

    def of_draws(drawn: Floats) -> Floats:
        each = zip(*(counts.T for counts in _from_the_top(cells, drawn)), strict=True)
        parts = [_balanced(roc_part(_rates(false), _rates(true), low, high)) for true, false in each]
        return np.array(parts, dtype=np.float64)

    replicates = replicated(cells, bootstrap, seed, of_draws, draws_within_classes)
    half_sum = (part.area_below + part.area_beside) / 2
    whole = float(placements(y, p)[0].mean())
    details: dict[str, float | None] = {"half_sum": half_sum, "left_out": max(0.0, whole - half_sum)}
    method = Method("bootstrap_within_classes")
    return percentile(value, replicates, bootstrap, level, outcome, method, details)


def _rates(counts: Floats) -> Floats:
    """Counts as shares of the last of them, from 0 on."""
    return np.concatenate(([0.0], counts / counts[-1]))


def roc_vertices(outcome: Floats, risk: Floats, weights: float | Floats = 1.0) -> tuple[Floats, Floats]:
    """Every corner of the ROC curve from (0, 0) to (1, 1), one for each distinct risk from the highest down."""
    order = np.argsort(-risk, kind="stable")
    last = np.append(np.flatnonzero(np.diff(risk[order])), len(risk) - 1)
    wrong, right = (np.cumsum((weights * each)[order])[last] for each in (1 - outcome, outcome))
    return _rates(wrong), _rates(right)


def along(fpr: Floats, tpr: Floats, points: int) -> tuple[Floats, Floats]:
    """So many points on the curve, evenly spaced along its length as measured in steps up and to the right."""
    length = fpr + tpr
    wanted = np.linspace(0, 2, points)
    return np.interp(wanted, length, fpr), np.interp(wanted, length, tpr)


def _thinned(fpr: Floats, tpr: Floats) -> tuple[Floats, Floats]:
    """The curve itself, or the thinning of it whose area is nearest.

    A staircase whose steps keep time with the spacing would lose area at every step; three spacings cannot all do so.
    """
    if len(fpr) <= POINTS:
        return fpr, tpr
    area = np.trapezoid(tpr, fpr)
    candidates = [along(fpr, tpr, points) for points in (POINTS, POINTS - 9, POINTS - 17)]
    return min(candidates, key=lambda found: abs(float(np.trapezoid(found[1], found[0]) - area)))


BY_HORIZON = 101
"""Points of a ROC curve by a horizon."""


@curve(against_rest=True, protection="roc", followed=True, given="both outcomes")
def roc(outcome: Floats, risk: Floats, design: shares.Sampled = None) -> Curve | Absent:
    """The share of cases flagged against the share of non-cases flagged, at every possible threshold.

    Returns the columns `fpr` and `tpr` from (0, 0) to (1, 1); tied risks make a slanted step. Above 250 corners, points
    evenly spaced along the curve stand for it, and the area under them stays within .001 of the whole. Absent when all
    rows are of one class. Where the outcome is known by follow-up patients count at their weights, and points evenly
    spaced along the curve stand for it in any case: the height of a corner would be the weight of one patient, which
    tells of a time.
    """
    known = None if design is None else design.censoring
    if known is None:
        fpr, tpr = _thinned(*roc_vertices(outcome, risk))
    else:
        fpr, tpr = along(*roc_vertices(outcome, risk, known.values), BY_HORIZON)
    return Curve({"fpr": column(fpr), "tpr": column(tpr)}, len(outcome), Method("empirical"), int(outcome.sum()))


RISK_SCALES = (0.01, 0.1, 1.0)
RISK_WIDTHS = ((0.25, 0.0125), (0.5, 0.025), (1.0, 0.05))
"""How wide the bins of the risks are where 99 % of these lie below so much of a scale: 8 to 20 bins hold them.

The widths are each a multiple of the next, or of the next but one: bins of different sites can be joined.
"""
FEWEST_BINS, MOST_BINS = 8, 20


def risk_bins(risk: Floats) -> tuple[float, int]:
    """The width of the equal bins of the risks (n, 0 to 1) and their number: at least 99 % lie below the last edge."""
    reached = float(np.quantile(risk, 0.99, method="inverted_cdf"))
    scale = next((value for value in RISK_SCALES if reached < value), 1.0)
    width = scale * next((width for below, width in RISK_WIDTHS if reached < below * scale), RISK_WIDTHS[-1][1])
    # Half a millionth: a risk on an edge lies in the bin above it, whatever the division makes of it.
    bins = math.floor(round(reached / width, 6)) + 1
    return width, min(max(bins, FEWEST_BINS), MOST_BINS)


ALIKE = 1e-12
"""Risks that lie no further apart are the same."""


def risk_range(risk: Floats) -> tuple[float, float]:
    """From the 1st to the 99th percentile of the risks (n, 0 to 1), cut inwards to even steps.

    A percentile near the end is the risk of one person, or lies between those of two; a multiple of the power of ten
    that is a tenth to a hundredth of the range is nobody's. Both ends are that percentile when all risks between are
    the same, as then it is the risk of many.
    """
    first, last = (float(end) for end in np.quantile(risk, (0.01, 0.99)))
    if last - first <= ALIKE:
        return first, first
    places = 1 - math.floor(math.log10(last - first))
    steps = 10.0**places
    return round(math.ceil(first * steps) / steps, places), round(math.floor(last * steps) / steps, places)


@curve(against_rest=True, bins=True, protection="bins", weighted=True, followed=True)
def risk_distribution(
    outcome: Floats, risk: Floats, weights: Floats | None = None, design: shares.Sampled = None
) -> Curve | Absent:
    """How many people with and without the outcome received a risk in each of 8 to 20 equal bins.

    The bins end above 99 of 100 risks, with one more up to 1: where the outcome is rare they are finer. There are never
    more than 21 of them, so that no person can be found in them.

    Returns bins from 0 on, of width .05 where 99 % of the risks reach .5, .025 where they reach .25, .0125 where they
    reach .1, below that a tenth, or a hundredth, of these; the first edge above 99 % ends them, and one more bin runs
    from there to 1. Each is closed below, and the last also above. Columns: `low`, `high`, the counts `events` and
    `non_events` of rows, and the shares of the weight of all cases and of all non-cases that lies in the bin (missing
    where no case, or no non-case, has a weight). Absent without rows.
    """
    width, count = risk_bins(risk)
    equal = np.round(np.arange(count + 1) * width, 10)
    edges = equal if equal[-1] == 1 else np.append(equal, 1.0)
    bins = len(edges) - 1
    bin_of = np.searchsorted(edges[1:-1], risk, side="right")

    def added_up(each: Floats) -> Floats:
        return np.bincount(bin_of, weights=each, minlength=bins).astype(float)

    # Whose outcome is not known by the horizon is in neither.
    known = np.ones(len(risk)) if design is None or design.censoring is None else 1.0 - design.censoring.left
    events, non_events = added_up(outcome), added_up(known * (1 - outcome))
    weight = known if weights is None else weights
    columns = {
        "low": column(edges[:-1]),
        "high": column(edges[1:]),
        "events": column(events),
        "non_events": column(non_events),
        "share_events": _shares(added_up(weight * outcome)),
        "share_non_events": _shares(added_up(weight * (1 - outcome))),
    }
    method = Method("counts" if weights is None else "counts_and_weighted_shares")
    return Curve(columns, len(outcome), method, int(outcome.sum()))


def _shares(sizes: Floats) -> tuple[float | None, ...]:
    total = float(sizes.sum())
    return column(sizes / total) if total else (None,) * len(sizes)
