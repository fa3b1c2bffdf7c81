"""How many patients a validation needs before its numbers are precise enough.

The targets are the widths of 95 % intervals that the release declares: a width w stands for a standard error of
w / 3.92, whatever the level of the dossier's own intervals.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import partial

from dossier.core.facts import Fact, Method
from dossier.core.register import Law, Sized, metric, present
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import calibration, discrimination, intervals, logistic, utility, weighted
from dossier.metrics.time_to_event import NO_INTERVAL

Z = 1.96
"""As the literature rounds it; the published sample sizes are reproduced with this value."""


BROKEN: tuple[Law, ...] = ("perfect is best", "narrower with more rows")


def _needed(value: float, outcome: Floats, variance: str, width: float) -> Estimate:
    method = Method(variance, Fact("interval_wanted", width=width))
    return intervals.without_interval(value, len(outcome), method, NO_INTERVAL, int(outcome.sum()), {"width": width})


sample_size = partial(metric, roles=("external",), clustered="refused")
"""How many patients a measure needs."""


@sample_size(breaks=BROKEN, against_rest="by class", followed=Sized(weighted.auroc))
def mss_auroc(outcome: Floats, risk: Floats, auroc_width: float = 0.1) -> Estimate | Absent:
    """How many patients are needed to know the AUROC to within the width asked for.

    `outcome` is 0/1, `risk` 0..1, `auroc_width` the full width of the 95 % interval. The smallest n with C(1-C)[1 +
    (n/2-1)(1-C)/(2-C) + (n/2-1)C/(1+C)] / (n^2 phi(1-phi)) <= (width/3.92)^2, C the AUROC and phi the prevalence
    observed here (Newcombe's variance). The left side falls with n, so that halving finds it. No interval. Absent with
    one class, and with an AUROC of exactly 0 or 1, where the variance is 0.
    """
    found = present(discrimination.auroc(outcome, risk))
    if found.value in (0.0, 1.0):
        return Absent(Fact("auroc_without_spread", auroc=found.value))
    needed = smallest_sample(found.value, float(outcome.mean()), auroc_width)
    return _needed(float(needed), outcome, "newcombe_variance", auroc_width)


def newcombe_variance(auroc: float, prevalence: float, n: float) -> float:
    """The variance of an AUROC from its value, the prevalence and the number of rows alone (Newcombe's method 4)."""
    spread = (1 - auroc) / (2 - auroc) + auroc / (1 + auroc)
    return auroc * (1 - auroc) * (1 + (n / 2 - 1) * spread) / (n**2 * prevalence * (1 - prevalence))


def smallest_sample(auroc: float, prevalence: float, width: float) -> int:
    """The smallest n whose Newcombe variance meets the width; AUROC and prevalence strictly between 0 and 1."""
    target, enough = (width / (2 * Z)) ** 2, 1
    while newcombe_variance(auroc, prevalence, enough) > target:
        enough *= 2
    return bisect_left(range(enough), True, 1, key=lambda n: newcombe_variance(auroc, prevalence, n) <= target)


@sample_size(
    breaks=BROKEN,
    against_rest="by class",
    followed=Sized(weighted.oe_ratio, lambda width: math.asinh(width / 2) / Z, is_ratio=True),
)
def mss_oe(outcome: Floats, oe_ratio_width: float = 0.2) -> Estimate | Absent:
    """How many patients are needed to know the ratio of observed to expected events to within the width asked for.

    `outcome` is 0/1, `oe_ratio_width` the full width of the 95 % interval of a ratio of 1. (1 - phi) / (phi s^2) with s
    = asinh(width / 2) / 1.96, rounded up, phi the prevalence observed here. No interval. The closed form differs by one
    from pmvalsampsize, which steps s in thousandths. Absent with one class.
    """
    prevalence = float(outcome.mean())
    error = math.asinh(oe_ratio_width / 2) / Z
    needed = math.ceil((1 - prevalence) / (prevalence * error**2))
    return _needed(float(needed), outcome, "log_closed_form", oe_ratio_width)


@sample_size(breaks=("one class is absent", *BROKEN), against_rest="by class", followed=Sized(calibration.SLOPE))
def mss_slope(outcome: Floats, risk: Floats, calibration_slope_width: float = 0.2) -> Estimate | Absent:
    """How many patients are needed to know the calibration slope to within the width asked for.

    `outcome` is 0/1 (counted only), `risk` 0..1, `calibration_slope_width` the full width of the 95 % interval. I_a /
    (SE^2 (I_a I_b - I_ab^2)), SE = width / 3.92, I_a = E q(1-q), I_ab = E LP q(1-q), I_b = E LP^2 q(1-q), LP the logit
    of the risk here and q = expit(LP): a slope of 1 and an intercept of 0. Rows within 1e-12 of 0 or 1 tell nothing of
    the slope and add nothing to the means. Not rounded. No interval. Absent when all risks are equal, or 0 or 1.
    """
    telling = logistic.has_logit(risk)
    if not telling.any():
        return Absent(Fact("all_risks_certain"))
    needed = _sample_for_slope(logistic.logit(risk[telling]), calibration_slope_width)
    if needed is None:
        return Absent(Fact("all_risks_equal_no_sample_size"))
    return _needed(needed * len(risk) / int(telling.sum()), outcome, "logistic_information", calibration_slope_width)


def _sample_for_slope(predictor: Floats, width: float) -> float | None:
    """The formula over linear predictors; None when they do not vary."""
    if predictor.min() == predictor.max():
        return None
    chance = logistic.expit(predictor)
    weight = chance * (1 - chance)
    # I_a I_b - I_ab^2 = I_a times the weighted spread about the weighted mean, which cannot cancel.
    centre = (weight * predictor).sum() / weight.sum()
    spread = float((weight * (predictor - centre) ** 2).mean())
    return 1 / ((width / (2 * Z)) ** 2 * spread)


@sample_size(
    at=("threshold",),
    breaks=BROKEN,
    against_rest="by class",
    followed=Sized(utility.weighted_standardized_net_benefit),
    protection="counts",
)
def mss_snb(
    outcome: Floats, risk: Floats, threshold: float, standardized_net_benefit_width: float = 0.2
) -> Estimate | Absent:
    """How many patients are needed to know the standardized net benefit to within the width asked for.

    `outcome` is 0/1, `risk` 0..1, `threshold` in 0..1 (positive means at or above), the width that of the 95 %
    interval. [se(1-se)/phi + w^2 sp(1-sp)/(1-phi) + w^2 (1-sp)^2/(phi(1-phi))] / SE^2, w = ((1-phi)/phi)(t/(1-t)), SE =
    width/3.92, sensitivity, specificity and prevalence phi as observed here. Not rounded. No interval. Absent with one
    class, at a threshold of 1, and where the formula sees no spread.
    """
    if threshold >= 1:
        return Absent(Fact("false_positive_weighs_infinitely"))
    variance = utility.standardized_variance(outcome, risk, threshold) * len(outcome)
    if variance <= 0:
        return Absent(Fact("formula_sees_no_spread"))
    needed = variance / (standardized_net_benefit_width / (2 * Z)) ** 2
    return _needed(needed, outcome, "riley_variance_needed", standardized_net_benefit_width)


@sample_size(followed=Sized(calibration.BRIER), breaks=("one class is absent", *BROKEN))
def mss_brier(outcome: Floats, risk: Floats, brier_width: float = 0.05) -> Estimate | Absent:
    """How many patients are needed to know the Brier score to within the width asked for.

    `outcome` is 0/1, `risk` 0..1, `brier_width` the full width of the 95 % interval. (2 x 1.96 SD / width)^2 with SD
    (ddof 0) that of the squared distances between risk and outcome here. Not rounded. No interval. Absent when every
    squared distance is the same.
    """
    return for_mean((risk - outcome) ** 2, outcome, brier_width)


def for_mean(squared: Floats, outcome: Floats, width: float) -> Estimate | Absent:
    """How many rows like these make the interval of their mean squared distance that wide."""
    if squared.min() == squared.max():
        return Absent(Fact("all_squared_errors_equal"))
    return _needed((2 * Z * float(squared.std()) / width) ** 2, outcome, "variance_of_squared_errors", width)
