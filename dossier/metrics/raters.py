"""What raters say of a release's settings: which class matters, how sure is sure enough, and which cases are hard.

Every table of raters has one row a case and one column a rater, NaN where a rater gave nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dossier.core import register, types
from dossier.core.facts import Count, Fact

TAUS_OF_RATERS = ("right_80", "right_50", "right_25", "mean_confidence", "best_rater")
"""The rules by which the raters' confidence gives the confidence that earns full credit."""

SHARES_OF_RIGHT = {"right_80": 0.8, "right_50": 0.5, "right_25": 0.25}
TWO_LEVELS, ABOVE_MEAN, TOP = "_two_levels", "_above_mean", "_top_"
"""What follows the name of a source of complexity when its cases are cut: raters_top_33%."""

COMPLEX_OF_TWO_LEVELS = 1 / 3
"""The share of cases that count in full where there are two levels; the others count one half."""

NO_RATERS = types.Absent(Fact("no_raters_judged"))
NO_TRUTH = types.Absent(Fact("truth_not_known"))
NO_CONFIDENCE = types.Absent(Fact("no_confidence"))


def right_answers(labels: types.Floats, truth: types.Floats) -> types.Floats:
    """Whether each answer is right, NaN where there is none or the truth is not known.

    `labels` (cases x raters), `truth` (cases).
    """
    known = ~np.isnan(labels) & ~np.isnan(truth)[:, None]
    return np.where(known, labels == truth[:, None], np.nan)


def mean_of_known(values: types.Floats, axis: int, weights: types.Floats | None = None) -> types.Floats:
    """The mean of what is not NaN along an axis, each rater (column) counting as its weight; NaN where nothing is."""
    known = ~np.isnan(values)
    weight = known * (1.0 if weights is None else weights[None, :])
    total = weight.sum(axis=axis)
    return np.where(
        total > 0, (np.where(known, values, 0.0) * weight).sum(axis=axis) / np.where(total > 0, total, 1), np.nan
    )


def accuracy_of_raters(
    labels: types.Floats, truth: types.Floats | None, declared: tuple[float, ...] | None = None
) -> types.Floats | types.Absent:
    """The accuracy of each rater: as declared, else against the truth; NaN for one who labelled nothing."""
    if declared is not None:
        return np.asarray(declared, dtype=float)
    return NO_TRUTH if truth is None else mean_of_known(right_answers(labels, truth), axis=0)


def priority_of_raters(labels: types.Floats, truth: types.Floats) -> float | types.Absent:
    """The priority of the positive class that the raters' own errors imply, from 0 to 1.

    `labels` (cases x raters), `truth` (cases). Mean TPR / (mean TPR + mean TNR), the means over the raters who saw
    cases of that class: raters take more care of the class that matters more to them. Absent when nobody saw one of
    the classes, or when no answer is right. Source: Cabitza and Campagner, p(0) = mean TNR / (mean TPR + mean TNR).
    """
    right = right_answers(labels, truth)
    rates = []
    for label, name in ((1.0, "with"), (0.0, "without")):
        by_rater = mean_of_known(right[truth == label], axis=0)
        if np.isnan(by_rater).all():
            return types.Absent(Fact("no_rater_of_cases", has_outcome=name == "with"))
        rates.append(float(np.mean(by_rater[~np.isnan(by_rater)])))
    total = rates[0] + rates[1]
    return rates[0] / total if total > 0 else types.Absent(Fact("no_right_answer"))


def lowest_of_top(values: types.Floats, share: float) -> float:
    """The lowest of the highest values that make up a share of all: the highest with at least that share at or above.

    `values` (n), `share` (above 0, to 1).
    """
    ordered = np.sort(values)[::-1]
    # 0.28 x 100 is 28.000000000000004 in floating point, which must not ask for a 29th answer.
    count = math.ceil(round(share * len(ordered), 9))
    return float(ordered[max(count, 1) - 1])


@register.absent_with_its_parts
def tau_of_raters(
    rule: str,
    labels: types.Floats,
    confidence: types.Floats | None,
    truth: types.Floats | None,
    rater_accuracy: tuple[float, ...] | None = None,
) -> float | types.Absent:
    """The confidence from which an answer counts in full, as the raters' own confidence gives it, from 0 to 1.

    `rule`: "right_80", "right_50", "right_25": the lowest confidence among the surest 80, 50 or 25 % of the right
    answers; "mean_confidence": the mean over all answers; "best_rater": the mean confidence of the most accurate rater
    (of several, over all of them), as declared in `rater_accuracy`, else against the truth. `labels`, `confidence`
    (cases x raters; 0 or 1, and 0 to 1 as given), `truth` (cases). Absent without the tables that the rule needs.
    """
    if confidence is None:
        return NO_CONFIDENCE
    stated = np.where(np.isnan(labels), np.nan, confidence)
    if np.isnan(stated).all():
        return NO_CONFIDENCE
    if rule == "mean_confidence":
        return float(np.mean(stated[~np.isnan(stated)]))
    if rule in SHARES_OF_RIGHT:
        if truth is None:
            return NO_TRUTH
        right = stated[(right_answers(labels, truth) == 1) & ~np.isnan(stated)]
        return lowest_of_top(right, SHARES_OF_RIGHT[rule]) if len(right) else types.Absent(Fact("no_right_answer"))
    if rule != "best_rater":
        return types.Absent(Fact("no_rule_for_confidence", name=rule))
    accuracy = register.present(accuracy_of_raters(labels, truth, rater_accuracy))
    with_confidence = ~np.isnan(stated).all(axis=0) & ~np.isnan(accuracy)
    if not with_confidence.any():
        return types.Absent(Fact("no_rater_with_accuracy_and_confidence"))
    best = with_confidence & (accuracy == accuracy[with_confidence].max())
    answers = stated[:, best]
    return float(np.mean(answers[~np.isnan(answers)]))


# ---- complexity -----------------------------------------------------------------------------------------------------


@register.absent_with_its_parts
def complexity_of_cases(
    source: str,
    rows: int,
    labels: types.Floats | None,
    confidence: types.Floats | None,
    rater_complexity: types.Floats | None,
    outcome: types.Floats,
    rater_accuracy: tuple[float, ...] | None,
    case_complexity: types.Floats | None,
) -> types.Floats | types.Absent:
    """How complex each case is, from 0 to 1; NaN where its source says nothing.

    `source`: "raters" (the mean complexity that the raters gave), "rater_errors" (the share of raters who were wrong),
    "rater_confidence" (1 less their mean confidence), each also with "_weighted" (raters count by their accuracy, as
    declared, else against `outcome`), or any other word: the column `case_complexity`. Absent when the source is not
    there, or when the raters judged other rows.
    """
    kind, weighted = source.removesuffix("_weighted"), source.endswith("_weighted")
    if kind not in ("raters", "rater_errors", "rater_confidence"):
        return types.Absent(Fact("no_column_in_rows", column=source)) if case_complexity is None else case_complexity
    if labels is None:
        return NO_RATERS
    if len(labels) != rows:
        return types.Absent(Fact("raters_judged_some", judged=Count(len(labels), "case", rows)))
    weights = None
    if weighted:
        accuracy = register.present(accuracy_of_raters(labels, outcome, rater_accuracy))
        weights = np.where(np.isnan(accuracy), 0.0, accuracy)
    if kind == "rater_errors":
        return 1 - mean_of_known(right_answers(labels, outcome), 1, weights)
    if kind == "rater_confidence":
        if confidence is None:
            return NO_CONFIDENCE
        return 1 - mean_of_known(np.where(np.isnan(labels), np.nan, confidence), 1, weights)
    if rater_complexity is None:
        return types.Absent(Fact("no_complexity"))
    return mean_of_known(rater_complexity, 1, weights)


def top_share(values: types.Floats, share: float, rest: float) -> types.Floats:
    """1 for the share of rows with the highest values, `rest` for the others; rows tied at the border share alike.

    `values` (n), `share` (0 to 1 of the rows), `rest` (0 to 1). What the rows at the border get is the mean over all
    ways to break the tie, so that the order of rows does not matter.
    """
    wanted = share * len(values)
    _, inverse, count = np.unique(-values, return_inverse=True, return_counts=True)
    before = np.cumsum(count) - count
    inside = np.clip((wanted - before) / count, 0.0, 1.0)[inverse]
    return np.asarray(rest + (1 - rest) * inside)


@dataclass(frozen=True)
class Form:
    """A complexity taken apart: the name of its source, and how its cases are cut.

    `share` of them counts 1 and the others `rest`, or those above the mean 1 and the others 0; with neither every case
    counts as it is.
    """

    name: str
    share: float | None = None
    rest: float = 0.0
    above_mean: bool = False


def form_of(complexity: str) -> Form:
    """The form of a complexity: raters_two_levels, raters_above_mean, raters_top_33%, or a bare source."""
    if complexity.endswith(TWO_LEVELS):
        return Form(complexity.removesuffix(TWO_LEVELS), COMPLEX_OF_TWO_LEVELS, 0.5)
    if complexity.endswith(ABOVE_MEAN):
        return Form(complexity.removesuffix(ABOVE_MEAN), above_mean=True)
    name, _, share = complexity.rpartition(TOP)
    return Form(name, float(share[:-1]) / 100) if name and share.endswith("%") else Form(complexity)


def cut_complexity(form: Form, graded: types.Floats) -> tuple[types.Floats, float | None]:
    """The complexity of each case in a form, and the graded one from which a case is called complex, if any is."""
    if form.above_mean:
        mean = math.fsum(graded) / len(graded)
        return (graded > mean + 1e-12).astype(float), mean
    if form.share is None:
        return graded, None
    return top_share(graded, form.share, form.rest), lowest_of_top(graded, form.share)
