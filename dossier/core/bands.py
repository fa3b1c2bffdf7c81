"""The cut-offs that measures, figures and sentences share: from where on a value counts as what a word says.

Those of similarity and performance are the conventions of [Trust], the others our own; none is a law.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIMILARITY = {0.2: "slight", 0.4: "low", 0.6: "moderate", 0.8: "significant", 1.0: "fundamental"}
"""The name of each band of similarity by its upper end, in either form ("moderate" is ours, after Landis and Koch)."""

SIMILARITIES = {"averaged": "correspondence_averaged", "psi": "degree_of_correspondence"}
"""The measure of each form of similarity that [robustness] can choose, the default first."""

PSI_OF_ONE_POPULATION = "p value, below 0.4 at 40% of hospitals drawn from the development population"
"""What is said wherever psi stands beside that line."""

PERFORMANCE = {
    "auroc": (0.7, 0.8, 0.9),
    "standardized_net_benefit": (0.4, 0.6, 0.8),
    "brier": (0.25, 0.15, 0.08),
    "weighted_utility": (0.4, 0.6, 0.8),
    "eci": (0.8, 0.9, 0.95),
}
"""From where a value is acceptable, good, excellent; the Brier score is better when lower. Only those of the AUROC are
published, all others are ours."""

JUDGED_BY = ("auroc", "standardized_net_benefit", "brier")
"""The measures of the external performance diagram, unless [robustness] chooses others."""

LOSSES = ("brier",)
"""Of the measures with cut-offs those that are better when lower."""


def is_acceptable(measure: str, value: float) -> bool:
    """Whether a value reaches the lowest cut-off of its measure."""
    cut = PERFORMANCE[measure][0]
    return value <= cut if measure in LOSSES else value >= cut


def is_outside(low: float | None, high: float | None, least: float | None, most: float | None) -> bool:
    """Whether a whole interval lies below the least or above the most that is asked for; a missing end never does."""
    below = least is not None and high is not None and high < least
    return below or (most is not None and low is not None and low > most)


def is_unlike(similarity: float) -> bool:
    """Whether a site is so little like the development data that it may support the model from outside."""
    return similarity < SUPPORT


def is_shown(measure: str, low: float | None, high: float | None) -> bool:
    """Whether a whole interval reaches the lowest cut-off of its measure; a value without an interval shows nothing."""
    worst = high if measure in LOSSES else low
    return worst is not None and is_acceptable(measure, worst)


LARGEST_BRIER_OF_PREVALENCE = 0.25
"""The Brier score of giving everyone the prevalence, where that is .5."""


def gives_benefit(measure: str, minimum: float, brier_of_prevalence: float) -> bool:
    """Whether a model at that minimum does more good than none: than flagging no one, chance, or the prevalence."""
    if measure == "brier":
        return minimum < brier_of_prevalence
    return minimum > 0.5 if measure == "auroc" else minimum >= 0


SUPPORT = 0.4
"""External evidence counts as support when similarity lies below this."""

FEWEST_TO_SUPPORT = 100
"""A site of fewer rows supports nothing from outside."""

ALIKE = 0.5
"""The averaged correspondence of a site whose rows could as well be rows of the development data."""

LEAST_USEFUL_AUROC = 0.6
"""Below an AUROC of this a model hardly separates patients: half of the way from chance to what is acceptable."""

FEW_FOR_A_BAND = 100
"""Below so many events or non-events a flexible curve is imprecise, and drawn broken."""

FEW_FOR_POOLING = 20
"""Below so many events or non-events a site is listed but not pooled."""

FEWEST_POOLED = 3
"""Sites from which on they are pooled: with one degree of freedom the interval over two holds nearly everything."""

OF_PATIENTS_AND_LABELS = ("correspondence_averaged", "degree_of_correspondence", "weighted_concordance")
"""What no version of a model changes: it is compared with the previous release, and described."""
COMPARED_WITH_BEFORE = (
    *("oe_ratio", "calibration_slope", "ici", "brier", "sensitivity", "specificity"),
    *OF_PATIENTS_AND_LABELS,
)
"""What is compared with the previous release beside the core measures."""
COMPARED_IN_GROUPS = ("sensitivity", "specificity", "oe_ratio", "auroc")
"""What of it is compared in each group of patients, over all hospitals."""

FEWEST_FOR_A_NEW_SITE = 5
"""Pooled sites from which on anything is said of what a new one may expect."""

MANY_SITES, NAMED_OF_MANY = 20, 8
"""From so many sites on pages draw all of them and name so many, the worst; of fewer they name each."""

MOST_LISTED, LISTED = 40, 20
"""Up to so many sites a table has a row for each; of more it has so many, and results.csv has them all."""

FEWEST_FOLLOWED = 0.2
"""Of follow-ups that no event ends: where a smaller share reaches the horizon, it lies near their end."""

FEW_CLUSTERS = 10
"""Below so many clusters an interval by cluster is unsure."""

OE_TOLERATED = (0.8, 1.25)
"""The ratio of observed to expected events is off where its interval excludes 1, far off where that lies outside."""
CERTAIN = 1e-12
"""A risk that is nearer than this to 0 or 1 has no logit of its own."""

ROUNDING = 1e-6
"""As far beyond 0 or 1 a share may lie that was added up in 32 bits, and as far from 1 the sum of shares."""

FEWEST_RISKS = 50
"""Different risks of a model, of fewer of which nothing is given that rests on ranks or sums of protected counts: who
knows the few that a score can give has an equation in a handful of counts with each such number."""

SAME_RISK = 0.001
"""Two risks that differ by no more are the same: tables round them."""

FEW_ROWS = 3
"""So many rows may differ before a formula is said not to be the model that was tested."""

FEWEST_WITH_A_VALUE = 20
"""From so many values on a quantile or a mean says something of all patients; of fewer it is that of one who can be
found.

A quantile of an odd number of values is one of them, whatever the number; that it is does not tell whose.
"""

FEWEST_JUDGED = 5
"""Of fewer in either part of a site, of what a measure is a mean over, its variance may be 0 by chance."""

SMALLEST_GROUP = 5
"""A mean of so many risks, or a share of so many answers, is no longer anybody's own."""

LARGE_SHIFT = 0.5
"""A standardized mean difference from which a predictor stands out."""

MAP_WITH_NUMBERS = 10
"""Up to so many datasets the map of missing values has room for numbers, and needs no table beside it."""

MAP_ROWS = 38
"""The predictors that the map of missing values has room for."""

SAME = 1e-9
"""How far apart the risks of two models, and what is made of them, may lie by rounding alone."""

MOST_DIGITS = 8
"""The decimals of numbers as somebody prints them."""


def last_digit(numbers: NDArray[np.float64], fewest: int = 2, near: float = 0.0) -> float:
    """Half a unit of the last decimal that numbers are printed with: as far as rounding took each from what it was.

    Of fewer decimals than `fewest` nobody prints them: they are round by chance. `near` is what was computed since.
    """
    rounded = ((digits, np.abs(np.round(numbers, digits) - numbers)) for digits in range(fewest, MOST_DIGITS))
    # The next number after what is half of a unit: a sum may leave a digit behind.
    return 0.5 * 10.0 ** -next((digits for digits, off in rounded if (off <= near).all()), MOST_DIGITS) * (1 + 1e-9)
