"""H-accuracy: accuracy with a say in which class matters, how sure the model must be, and how hard the cases are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dossier.core.facts import Count, Fact, Method
from dossier.core.register import Band, Line, absent_with_its_parts, curve, curve_synthesis, metric, one_class, present
from dossier.core.types import Absent, Curve, Estimate, Floats, SiteResults
from dossier.metrics import raters
from dossier.metrics.intervals import banded, column, share_columns, two_sided, wilson

CHAPTER = "accuracy"
Integers = NDArray[np.int64]
Survey = Sequence[tuple[str, float, float | None, float | None]]
"""Each class with the share of answers that put it first, and the interval of that share where one is given."""


def standing(classes: Integers, scores: Floats) -> tuple[Floats, Floats]:
    """Each row's score for its own class, and its share of the credit: 1 over the ties for the largest score, or 0."""
    own = scores[np.arange(len(classes)), classes]
    largest = scores.max(axis=1)
    ties = (scores == largest[:, None]).sum(axis=1)
    return own, np.where(own == largest, 1 / ties, 0.0)


def ramp(own: Floats, k: int, tau: float) -> Floats:
    """The credit of a score before ties: from 0 at 1/k to 1 at tau, or 1 from 1/k on when tau is 1/k."""
    return np.ones(len(own)) if tau <= 1 / k else np.clip((own - 1 / k) / (tau - 1 / k), 0, 1)


def credit(classes: Integers, scores: Floats, tau: float) -> Floats:
    """What each row earns: 0 when its class has not the largest score, else from 0 at 1/k to 1 at a score of tau.

    `classes` (n, 0 to k-1), `scores` (n, k; rows sum to 1), `tau` (1/k to 1). Ties for the largest share the credit.
    """
    own, share = standing(classes, scores)
    return share * ramp(own, scores.shape[1], tau)


def _cannot(classes: Integers, k: int, tau: float, complexity: Floats) -> Absent | None:
    if not 1 / k <= tau <= 1:
        return Absent(Fact("tau_below_even", tau=tau, classes=k))
    for label in range(k):
        member = classes == label
        if not member.any():
            return Absent(Fact("no_row_of_class", labels=(label,)))
        if float(complexity[member].sum()) == 0:
            return Absent(Fact("class_without_complexity", label=label))
    return None


@dataclass(frozen=True)
class ClassRatio:
    """The complexity-weighted mean credit of one class, its variance as a ratio of means, and its rows."""

    value: float
    variance: float
    """NaN for a single row."""
    rows: int
    effective: float
    """The rows of equal complexity that would be as many: (sum of d)^2 / sum of d^2 (Kish 1965)."""


def class_ratio(earned: Floats, complexity: Floats) -> ClassRatio:
    """The mean credit of one class: `earned`, `complexity` (rows of the class, 0 to 1)."""
    ratio = float((complexity * earned).sum() / complexity.sum())
    if len(earned) < 2:
        return ClassRatio(ratio, math.nan, 1, 1.0)
    residual = complexity * (earned - ratio)
    variance = float(np.var(residual, ddof=1)) / len(earned) / float(complexity.mean()) ** 2
    return ClassRatio(ratio, variance, len(earned), effective_size(complexity))


def effective_size(weights: Floats) -> float:
    """The number of equal weights that tell as much as these, which are not all 0: (sum)^2 / sum of squares."""
    relative = weights / weights.max()
    return math.fsum(relative) ** 2 / math.fsum(relative**2)


def bounds_of_class(found: ClassRatio, level: float) -> tuple[float, float]:
    """Wilson's interval with as many trials as a share of that value and variance would have.

    A share of trials has the variance r (1 - r) / trials. Both are taken with z^2/2 rows of no and as many of full
    credit added, which leaves all-or-nothing credit its own number of rows, or of as many as its complexities are
    worth, and keeps a handful of credited rows from looking surer than they are.
    """
    added = two_sided(level) ** 2
    rows = found.effective + added
    spread = found.variance * (found.rows - 1) / found.rows * found.effective if found.rows > 1 else 0.0
    mean = (found.effective * found.value + added / 2) / rows
    squares = (found.effective * (spread + found.value**2) + added / 2) / rows
    trials = max(found.effective, rows * mean * (1 - mean) / (squares - mean**2) - added)
    low, high = wilson(found.value * trials, trials, level)
    return min(low, found.value), max(high, found.value)


@dataclass(frozen=True)
class Weighted:
    """The priority-weighted sum over the classes, its standard error and bounds; None where there are none."""

    value: float
    se: float | None
    low: float | None = None
    high: float | None = None


def _by_priority(priority: Floats, ratios: Sequence[ClassRatio], level: float, drawn: float | None = None) -> Weighted:
    """The sum over the classes, its bounds those of the classes combined by the method of Zou and Donner.

    A priority that was estimated from `drawn` rows or answers adds the variance sum of p (R - value)^2 / drawn.
    """
    value = min(1.0, math.fsum(weight * ratio.value for weight, ratio in zip(priority, ratios, strict=True)))
    counting = [(float(weight), ratio) for weight, ratio in zip(priority, ratios, strict=True) if weight > 0]
    if any(math.isnan(ratio.variance) for _, ratio in counting):
        return Weighted(value, None)
    own = math.fsum(weight * (ratio.value - value) ** 2 for weight, ratio in counting) / drawn if drawn else 0.0
    variance = math.fsum(weight**2 * ratio.variance for weight, ratio in counting) + own
    bounds = [bounds_of_class(ratio, level) for _, ratio in counting]
    down, up = (
        math.sqrt(
            math.fsum(
                (weight * (ratio.value - bound[end])) ** 2
                for (weight, ratio), bound in zip(counting, bounds, strict=True)
            )
            + two_sided(level) ** 2 * own
        )
        for end in (0, 1)
    )
    se = math.sqrt(variance) if variance > 0 else None
    return Weighted(value, se, max(0.0, value - down), min(1.0, value + up))


def weighted_credit(
    classes: Integers,
    scores: Floats,
    priority: Floats,
    tau: float,
    complexity: Floats | None = None,
    level: float = 0.95,
    drawn: float | None = None,
) -> Weighted | Absent:
    """H-accuracy of any number of classes, with its standard error and bounds.

    `classes` (n, 0 to k-1), `scores` (n, k; rows sum to 1), `priority` (k; sums to 1), `tau` (1/k to 1), `complexity`
    (n, 0 to 1; 1 when left out), `level`, `drawn` (how many rows or answers the priority was estimated from; None where
    it is fixed). Absent when a class is empty or has no complexity. The standard error is the
    stratified delta method of ratios of means; None when a class that counts has a single row, or when nothing varies.
    The bounds are Wilson's of each class's ratio, with as many trials as its variance is worth, combined by the
    method of Zou and Donner; None when a class that counts has a single row.
    """
    k = scores.shape[1]
    weight = np.ones(len(classes)) if complexity is None else complexity
    if reason := _cannot(classes, k, tau, weight):
        return reason
    earned = credit(classes, scores, tau)
    members = [classes == label for label in range(k)]
    return _by_priority(priority, [class_ratio(earned[member], weight[member]) for member in members], level, drawn)


def _two_classes(outcome: Floats, risk: Floats) -> tuple[Integers, Floats]:
    return outcome.astype(np.int64), np.column_stack((1 - risk, risk))


@metric(at=("priority", "tau", "complexity"))
def h_accuracy(
    outcome: Floats,
    risk: Floats,
    priority: float | str,
    tau: float | str,
    complexity: str = "constant",
    labels: Floats | None = None,
    confidence: Floats | None = None,
    rater_complexity: Floats | None = None,
    truth: Floats | None = None,
    rater_accuracy: tuple[float, ...] | None = None,
    case_complexity: Floats | None = None,
    survey: Survey | None = None,
    primary_threshold: float | None = None,
    level: float = 0.95,
) -> Estimate | Absent:
    """The share of right answers, weighted by which class matters and by how sure the model was when it was right.

    With priority .5 and tau .5 it is the balanced accuracy. It does not rank models on its own: the value rests on the
    declared priority and tau.

    Parameters
    ----------
    priority : float or str
        Of the positive class, 0 to 1, or its source: "prevalence", the share of the positive class in these rows;
        "complement", of the other class; "net_benefit", (1-t) phi as a share of (1-t)phi + t(1-phi) at
        `primary_threshold`; "survey", the class's share of the answers in `survey` that prefer a class; "raters", mean
        TPR / (mean TPR + mean TNR) of the raters.
    tau : float or str
        Confidence that earns full credit, .5 to 1, or the rule by which the raters' confidence gives it: "right_80",
        "right_50", "right_25", "mean_confidence", "best_rater".
    complexity : str
        "constant": every case counts alike; else a source of `complexity_of_cases`, graded, or ending in "_two_levels",
        "_above_mean" or "_top_33%".
    case_complexity : array_like, optional
        How complex the cases are, n values from 0 to 1.
    survey : Survey, optional
        The answers of a survey about which class matters more.

    Returns
    -------
    Estimate or Absent
        Sum over classes l of p(l) (sum of d sigma)/(sum of d) with sigma = 0 when the own class has not the larger
        score, (score - 1/2)/(tau - 1/2) up to tau, and 1 above, and an interval that takes Wilson's of each class's
        mean credit, with as many trials as its variance is worth, and puts them together (Zou and Donner): the credit
        of a rare class is too skewed for a normal interval. Absent when a class is empty or without any complexity,
        when a source is not there, when a tau of the raters lies below one half, or when the raters judged other rows;
        the bounds are missing when a class that counts has a single row.

    Notes
    -----
    A priority that is a number, or the raters', counts as fixed, as tau and complexity do; one from the prevalence or a
    survey is random and adds p (1 - p) (R_1 - R_0)^2 / m to the variance, R the classes' mean credits and m the rows or
    answers that it rests on (for "net_benefit" those that would tell as much of it; of a survey those that its interval
    stands for, and none where it has no interval). `details`: `priority` and `tau` as numbers where they come from a
    source; of a complexity `cut`, the graded one from which a case is called complex, and `left_out`, the cases without
    one. Source: Cabitza and Campagner; the interval Zou and Donner 2008. Where we differ: ties for the largest score
    share the credit at every tau; the published equation 4 credits each of them fully, which breaks its own Proposition
    1.
    """
    drawn = drawn_for(priority, outcome, survey, primary_threshold)
    weight = present(priority_from(priority, outcome, labels, truth, survey, primary_threshold))
    sure = present(tau_from(tau, labels, confidence, truth, rater_accuracy))
    details: dict[str, float | None] = {}
    details |= {"priority": weight} if isinstance(priority, str) else {}
    details |= {"tau": sure} if isinstance(tau, str) else {}
    each: Floats | None = None
    if complexity != "constant":
        form = raters.form_of(complexity)
        graded = raters.complexity_of_cases(
            form.name, len(outcome), labels, confidence, rater_complexity, outcome, rater_accuracy, case_complexity
        )
        graded = present(graded)
        known = ~np.isnan(graded)
        if not known.any():
            return Absent(Fact("no_case_with_complexity"))
        each, border = raters.cut_complexity(form, graded[known])
        outcome, risk = outcome[known], risk[known]
        details |= {"left_out": float(np.sum(~known))} | ({} if border is None else {"cut": border})
    classes, scores = _two_classes(outcome, risk)
    found = present(weighted_credit(classes, scores, np.array([1 - weight, weight]), sure, each, level, drawn))
    return estimated_credit(found, outcome, level, details)


METHOD = Method("wilson_in_each_class")
POINTWISE = Method(Fact("pointwise", by=METHOD.steps))
SINGLE_ROW = Fact("class_of_single_row_no_variance", rows=Count(1, "row"))


def estimated_credit(
    found: Weighted, outcome: Floats, level: float, details: Mapping[str, float | None] | None = None
) -> Estimate:
    """The estimate of a weighted credit, on the rows of `outcome`."""
    n, events = len(outcome), int(outcome.sum())
    stated, why = (None, SINGLE_ROW) if found.low is None else (level, None)
    return Estimate(found.value, found.low, found.high, stated, n, METHOD, events, found.se, details or {}, why)


def priority_from(
    priority: float | str,
    outcome: Floats,
    labels: Floats | None = None,
    truth: Floats | None = None,
    survey: Survey | None = None,
    threshold: float | None = None,
) -> float | Absent:
    """The priority of the positive class, from 0 to 1, when it is a number or comes from a source of `h_accuracy`."""
    if not isinstance(priority, str):
        return priority
    phi = float(outcome.mean())
    if priority == "prevalence":
        return phi
    if priority == "complement":
        return 1 - phi
    if priority == "net_benefit":
        return Absent(Fact("no_threshold_declared")) if threshold is None else priority_of_net_benefit(phi, threshold)
    if priority == "survey":
        return Absent(Fact("no_survey_of_priorities")) if survey is None else priority_of_survey(survey)
    if priority != "raters":
        return Absent(Fact("no_source_of_priorities", name=priority))
    if labels is None:
        return raters.NO_RATERS
    return raters.NO_TRUTH if truth is None else raters.priority_of_raters(labels, truth)


def drawn_for(
    priority: object, outcome: NDArray[Any], survey: Survey | None, threshold: float | None = None
) -> float | None:
    """How many independent rows or answers an estimated priority rests on; None where it counts as fixed.

    Whatever is random in a priority p has p (1 - p) / drawn as its variance. That of net benefit is the prevalence phi
    shifted on the logit scale, and moves with it by p (1 - p) / (phi (1 - phi)). The interval of a share of answers is
    taken as one at 95 %.
    """
    if priority in ("prevalence", "complement"):
        return float(len(outcome))
    if priority == "net_benefit" and threshold is not None and 0 < threshold < 1:
        phi = float(outcome.mean())
        found = priority_of_net_benefit(phi, threshold)
        return len(outcome) * phi * (1 - phi) / (found * (1 - found))
    if priority != "survey" or survey is None:
        return None
    answers = [
        share * (1 - share) / ((high - low) / (2 * two_sided(0.95))) ** 2
        for _, share, low, high in survey
        if low is not None and high is not None and low < high and 0 < share < 1
    ]
    return min(answers) * math.fsum(share for _, share, _, _ in survey) if answers else None


def priority_of_net_benefit(phi: float, threshold: float) -> float:
    """The priority of the positive class at which H-accuracy orders models as net benefit does (Theorem 1)."""
    wanted, other = (1 - threshold) * phi, threshold * (1 - phi)
    return wanted / (wanted + other)


def priority_of_survey(survey: Survey) -> float:
    """The last class's share of the answers that prefer a class; the last of two classes is the positive one."""
    return survey[-1][1] / math.fsum(share for _, share, _, _ in survey)


def tau_from(
    tau: float | str,
    labels: Floats | None = None,
    confidence: Floats | None = None,
    truth: Floats | None = None,
    rater_accuracy: tuple[float, ...] | None = None,
) -> float | Absent:
    """The confidence that earns full credit, when it is a number or comes from the raters."""
    if not isinstance(tau, str):
        return tau
    if labels is None:
        return raters.NO_RATERS
    found = raters.tau_of_raters(tau, labels, confidence, truth, rater_accuracy)
    if isinstance(found, float) and found < 0.5:
        return Absent(Fact("confidence_below_one_half", confidence=round(found, 2)))
    return found


at_threshold = partial(metric, at=("threshold",), against_rest="by class", protection="counts")
"""An H-accuracy in which the threshold says what an error costs."""


@at_threshold()
def h_accuracy_risk(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of right answers at the threshold when each missed case and each false alarm counts what it costs.

    The threshold says what they cost: at 10 % a case counts nine times as much as a non-case. It does not rank models
    on its own; the net benefit at the same threshold holds the same information, with treating nobody as its 0.

    Returns
    -------
    Estimate or Absent
        P(1) sensitivity + p(0) specificity, p(1) = (1-t)phi/a, p(0) = t(1-phi)/a, a = t(1-phi) + (1-t)phi, phi the
        prevalence observed at the site: the H-accuracy of Theorem 1, from which net benefit = Ha a/(1-t) -
        t(1-phi)/(1-t). Absent when all rows are of one class; the bounds are missing when a class that counts has a
        single row.

    Notes
    -----
    Interval as for `h_accuracy` with the priority of net benefit, phi taken as random. Source: Cabitza and Campagner.
    """
    return h_accuracy_at_risks(outcome, risk, (threshold,), level)[0]


def h_accuracy_at_risks(outcome: Floats, risk: Floats, thresholds: Sequence[float], level: float) -> list[Estimate]:
    """`h_accuracy_risk` at each of these thresholds, of rows of both classes."""
    phi = float(outcome.mean())
    found, classes = [], outcome.astype(np.int64)
    for threshold in thresholds:
        priority = priority_of_net_benefit(phi, threshold)
        ratios = _of_both(((risk >= threshold) == classes).astype(float), classes)
        drawn = drawn_for("net_benefit", outcome, None, threshold)
        together = _by_priority(np.array([1 - priority, priority]), ratios, level, drawn)
        found.append(estimated_credit(together, outcome, level))
    return found


@at_threshold()
def cost_weighted_accuracy(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The share of right answers when a case counts as much as the threshold says against a non-case.

    It is the H-accuracy at the risk threshold under the name by which others know it: one value, two names.

    Returns
    -------
    Estimate or Absent
        Arguments, interval and reasons for absence: as for `h_accuracy_risk`.

    Notes
    -----
    Equal to ((1-t)TP + t TN)/((1-t)(TP + FN) + t(TN + FP)).
    """
    return h_accuracy_risk(outcome, risk, threshold, level)


@curve(band=Band("tau", (Line("h_accuracy"),)), given="both outcomes")
def h_accuracy_profile(outcome: Floats, risk: Floats, level: float = 0.95) -> Curve | Absent:
    """The H-accuracy with both classes alike, as the confidence that earns full credit rises from one half to one.

    Returns 51 values of `tau` with `h_accuracy` at priority .5 and constant complexity, and its pointwise band `low`
    and `high` (missing where it cannot be estimated). Absent when a class is empty.
    """
    classes, scores = _two_classes(outcome, risk)
    own, share = standing(classes, scores)
    taus = np.linspace(0.5, 1, 51)
    each = (_of_both(share * ramp(own, 2, tau), classes) for tau in taus.tolist())
    values = [_by_priority(ALIKE, ratios, level) for ratios in each]
    return Curve({"tau": column(taus), **banded("h_accuracy", values)}, len(outcome), POINTWISE, int(outcome.sum()))


ALIKE = np.array([0.5, 0.5])
"""Both classes of the same priority."""


def _of_both(earned: Floats, classes: Integers, complexity: Floats | None = None) -> list[ClassRatio]:
    """The mean credit of the rows of either class, of two."""
    weight = np.ones(len(earned)) if complexity is None else complexity
    return [class_ratio(earned[classes == label], weight[classes == label]) for label in (0, 1)]


# ---- profiles over priority and complexity --------------------------------------------------------------------------

STEPS = 15
"""Steps of the surface in each direction: 225 points, within what a curve may hold."""
SHARES = 21
DRAWS = 200


@curve(band=Band("priority", (Line("h_accuracy"),)), given="both outcomes")
def h_accuracy_by_priority(outcome: Floats, risk: Floats, level: float = 0.95) -> Curve | Absent:
    """The H-accuracy without any confidence asked for, as the priority of the positive class rises from 0 to 1.

    At a priority of 0 it is the specificity, at 1 the sensitivity, each at one half with ties shared.

    Returns 51 values of `priority` with `h_accuracy` at tau .5 and constant complexity, and its pointwise band `low`
    and `high` (missing where it cannot be estimated). Absent when a class is empty.
    """
    classes, scores = _two_classes(outcome, risk)
    ratios = _of_both(credit(classes, scores, 0.5), classes)
    priorities = np.linspace(0, 1, 51)
    values = [_by_priority(np.array([1 - priority, priority]), ratios, level) for priority in priorities]
    columns = {"priority": column(priorities), **banded("h_accuracy", values)}
    return Curve(columns, len(outcome), POINTWISE, int(outcome.sum()))


@dataclass(frozen=True)
class GradedRows:
    """The rows that have a complexity: their class, the credit that each earns, and how complex it is."""

    classes: Integers
    earned: Floats
    graded: Floats


@absent_with_its_parts
def _graded_rows(
    outcome: Floats,
    risk: Floats,
    complexity_source: str,
    labels: Floats | None,
    confidence: Floats | None,
    rater_complexity: Floats | None,
    rater_accuracy: tuple[float, ...] | None,
    case_complexity: Floats | None,
) -> GradedRows | Absent:
    """The rows with a complexity, in an order of their own."""
    graded = raters.complexity_of_cases(
        complexity_source, len(outcome), labels, confidence, rater_complexity, outcome, rater_accuracy, case_complexity
    )
    graded = present(graded)
    known = ~np.isnan(graded)
    outcome, risk, graded = outcome[known], risk[known], graded[known]
    present(one_class(outcome))
    order = np.lexsort((risk, outcome, graded))
    classes, scores = _two_classes(outcome[order], risk[order])
    return GradedRows(classes, credit(classes, scores, 0.5), graded[order])


def _ratios(rows: GradedRows, share: float) -> list[ClassRatio]:
    """Where that share of the most complex cases counts 1 and the others 1/2."""
    return _of_both(rows.earned, rows.classes, raters.top_share(rows.graded, share, 0.5))


@curve()
def h_accuracy_by_complexity(
    outcome: Floats,
    risk: Floats,
    complexity_source: str,
    labels: Floats | None = None,
    confidence: Floats | None = None,
    rater_complexity: Floats | None = None,
    rater_accuracy: tuple[float, ...] | None = None,
    case_complexity: Floats | None = None,
    level: float = 0.95,
    seed: int = 1,
) -> Curve | Absent:
    """The H-accuracy with both classes alike, as a growing share of the cases is called complex and counts double.

    A curve that dips on the way says that the model errs more on the cases that people find hard.

    Arguments: `complexity_source` (a source of `complexity_of_cases`), the raters' tables as for `h_accuracy`. Returns
    21 values of `share` q from 0 to 1 with `h_accuracy` at priority .5 and tau .5 where the q most complex cases count
    1 and the others 1/2 (cases tied at the border share alike), its pointwise band `low` and `high`, and as a reference
    `random`, `random_low` and `random_high`: the mean and the central part (at the level) of 200 seeded draws of as
    many cases at random, the published way. Absent without a complexity, or when a class is empty among the rows that
    have one.
    """
    rows = _graded_rows(
        outcome, risk, complexity_source, labels, confidence, rater_complexity, rater_accuracy, case_complexity
    )
    rows = present(rows)
    shares = np.linspace(0, 1, SHARES)
    values = [_by_priority(ALIKE, _ratios(rows, share), level) for share in shares.tolist()]
    ranks = np.random.default_rng(seed).permuted(np.tile(np.arange(float(len(rows.graded))), (DRAWS, 1)), axis=1)
    drawn = np.array([_of_draws(rows, ranks, float(share)) for share in shares])
    tail = 0.5 - level / 2
    columns: dict[str, tuple[float | None, ...]] = {
        "share": column(shares),
        **banded("h_accuracy", values),
        "random": column(drawn.mean(axis=1)),
        "random_low": column(np.quantile(drawn, tail, axis=1)),
        "random_high": column(np.quantile(drawn, 1 - tail, axis=1)),
    }
    method = POINTWISE + Fact("reference_of_draws", draws=DRAWS)
    return Curve(columns, len(rows.classes), method, int(rows.classes.sum()))


def _of_draws(rows: GradedRows, ranks: Floats, share: float) -> Floats:
    """The H-accuracy with both classes alike in each draw (draws x rows): the first share of ranks counts double."""
    complexity = 0.5 + 0.5 * np.clip(share * ranks.shape[1] - ranks, 0, 1)
    total = np.zeros(len(ranks))
    for label in (0, 1):
        weight = complexity[:, rows.classes == label]
        total += 0.5 * (weight @ rows.earned[rows.classes == label]) / weight.sum(axis=1)
    return total


@curve()
def h_accuracy_surface(
    outcome: Floats,
    risk: Floats,
    complexity_source: str,
    labels: Floats | None = None,
    confidence: Floats | None = None,
    rater_complexity: Floats | None = None,
    rater_accuracy: tuple[float, ...] | None = None,
    case_complexity: Floats | None = None,
) -> Curve | Absent:
    """The H-accuracy over every priority of the positive class and every share of cases that is called complex.

    Arguments: as for `h_accuracy_by_complexity`. Returns a grid of 15 x 15: `priority` and `share`, both from 0 to 1,
    and `h_accuracy` at tau .5, the most complex cases counting 1 and the others 1/2. Absent without a complexity, or
    when a class is empty among the rows that have one.
    """
    rows = _graded_rows(
        outcome, risk, complexity_source, labels, confidence, rater_complexity, rater_accuracy, case_complexity
    )
    rows = present(rows)
    steps = np.linspace(0, 1, STEPS)
    ratios = [_ratios(rows, share) for share in steps.tolist()]
    values = [
        math.fsum(weight * ratio.value for weight, ratio in zip((1 - priority, priority), ratios[index], strict=True))
        for priority in steps
        for index in range(STEPS)
    ]
    columns = {
        "priority": column(np.repeat(steps, STEPS)),
        "share": column(np.tile(steps, STEPS)),
        "h_accuracy": column(values),
    }
    return Curve(columns, len(rows.classes), Method("stratified_by_class"), int(rows.classes.sum()))


@curve(band=Band("prevalence", (Line("accuracy"),)), given="both outcomes")
def accuracy_by_prevalence(
    outcome: Floats, risk: Floats, primary_threshold: float, level: float = 0.95
) -> Curve | Absent:
    """The accuracy that the same sensitivity and specificity would give if the outcome were rarer or more frequent.

    Arguments: `primary_threshold` (positive means risk >= threshold). Returns 51 values of `prevalence` from 0 to 1
    with `accuracy` = prevalence x sensitivity + (1 - prevalence) x specificity, its pointwise band `low` and `high` as
    for `h_accuracy` (missing where a class that counts has a single row), and `balanced_accuracy`, which is the same at
    every prevalence. Absent when a class is empty.
    """
    right = ((risk >= primary_threshold) == (outcome == 1)).astype(float)
    ratios = _of_both(right, outcome.astype(np.int64))
    prevalences = np.linspace(0, 1, 51)
    values = [_by_priority(np.array([1 - phi, phi]), ratios, level) for phi in prevalences]
    balanced = (ratios[0].value + ratios[1].value) / 2
    columns = {
        "prevalence": column(prevalences),
        **banded("accuracy", values),
        "balanced_accuracy": (balanced,) * len(prevalences),
    }
    return Curve(columns, len(outcome), POINTWISE, int(outcome.sum()))


@curve_synthesis()
def survey_of_priorities(sites: tuple[SiteResults, ...], survey: Survey) -> Curve | Absent:
    """Which class people would rather have recognised, as they said in a survey.

    Arguments: `sites` (only says that the survey belongs to no site), `survey` (each class with the share of answers
    that put it first, and its interval). Returns for each class its number `class`, the `share` of the answers with
    `low` and `high` where they are given, and the `priority` that follows: its share of the answers that prefer a
    class.
    """
    total = math.fsum(share for _, share, _, _ in survey)
    columns: dict[str, tuple[float | None, ...]] = {
        "class": tuple(float(index) for index in range(len(survey))),
        "share": tuple(share for _, share, _, _ in survey),
        "low": tuple(low for _, _, low, _ in survey),
        "high": tuple(high for _, _, _, high in survey),
        "priority": tuple(share / total for _, share, _, _ in survey),
    }
    return Curve(columns, 0, Method("as_declared"))


# ---- what the raters' answers say -----------------------------------------------------------------------------------

BINS_OF_ANSWERS = 10
FEWEST_ANSWERS = 10


def _answers(value: Floats, labels: Floats, truth: Floats, level: float, what: str) -> Curve | Absent:
    """The share of right answers by bins of a value from 0 to 1 that each rater gave, or that a case has: the edges of
    the bins, count and mean of the answers in them, and the share of right ones with bounds."""
    right = raters.right_answers(labels, truth)
    known = ~np.isnan(right) & ~np.isnan(value)
    if not known.any():
        return Absent(Fact("no_answer_with_truth_and", what=what))
    value, right = value[known], right[known]
    bin_of = np.minimum((value * BINS_OF_ANSWERS + 1e-9).astype(int), BINS_OF_ANSWERS - 1)
    count = np.bincount(bin_of, minlength=BINS_OF_ANSWERS)
    hits = np.bincount(bin_of, weights=right, minlength=BINS_OF_ANSWERS)
    total = np.bincount(bin_of, weights=value, minlength=BINS_OF_ANSWERS)
    kept = np.flatnonzero(count >= FEWEST_ANSWERS)
    if not len(kept):
        fewest = Count(FEWEST_ANSWERS, "answer", is_limit=True)
        return Absent(Fact("no_bin_with_enough_answers", what=what, fewest=fewest))
    columns = {
        "lower": column(kept / BINS_OF_ANSWERS),
        "upper": column((kept + 1) / BINS_OF_ANSWERS),
        "count": column(count[kept].astype(float)),
        "mean": column(total[kept] / count[kept]),
        **share_columns("share_right", hits[kept], count[kept], level),
    }
    return Curve(columns, int(known.sum()), Method("wilson_of_answers"))


@curve()
def rater_accuracy_by_confidence(
    labels: Floats, confidence: Floats, truth: Floats, level: float = 0.95
) -> Curve | Absent:
    """How often the raters are right when they are more or less sure.

    Arguments: `labels`, `confidence` (cases x raters, NaN where missing), `truth` (cases). Returns bins of confidence
    of width .1, the last one closed: `lower`, `upper`, `count` (answers), `mean` (confidence), `share_right` with
    Wilson's interval `low` and `high`, which takes answers as independent. Bins of fewer than 10 answers are left out.
    Absent when no bin is left.
    """
    return _answers(confidence, labels, truth, level, "confidence")


@curve()
def rater_accuracy_by_complexity(
    labels: Floats, rater_complexity: Floats, truth: Floats, level: float = 0.95
) -> Curve | Absent:
    """How often the raters are right on cases that they find more or less complex.

    Arguments: `labels`, `rater_complexity` (cases x raters, NaN where missing), `truth` (cases). Returns bins of the
    complexity that the rater gave, as for `rater_accuracy_by_confidence`. Absent when no bin is left.
    """
    return _answers(rater_complexity, labels, truth, level, "complexity")


@curve()
def confidence_of_right_answers(labels: Floats, confidence: Floats, truth: Floats) -> Curve | Absent:
    """How sure the raters were when they were right: the share of right answers given with at least that confidence.

    Arguments: `labels`, `confidence` (cases x raters, NaN where missing), `truth` (cases). Returns 101 values of
    `confidence` from 0 to 1 with `share_right` and `share_wrong`, the shares of the right and of the wrong answers with
    that confidence or more (missing where there is no such answer). Absent when no answer is right.
    """
    right = raters.right_answers(labels, truth)
    stated = ~np.isnan(right) & ~np.isnan(confidence)
    kinds = {"share_right": confidence[stated & (right == 1)], "share_wrong": confidence[stated & (right == 0)]}
    if not len(kinds["share_right"]):
        return Absent(Fact("no_right_answer_with_confidence"))
    grid = np.arange(101) / 100
    columns: dict[str, tuple[float | None, ...]] = {"confidence": column(grid)}
    for name, given in kinds.items():
        reached = len(given) - np.searchsorted(np.sort(given), grid - 1e-9, side="left")
        columns[name] = column(reached / len(given)) if len(given) else (None,) * len(grid)
    return Curve(columns, int(stated.sum()), Method("counted"))


@curve(given="anything")
def complexity_distribution(
    outcome: Floats,
    complexity_source: str,
    labels: Floats | None = None,
    confidence: Floats | None = None,
    rater_complexity: Floats | None = None,
    rater_accuracy: tuple[float, ...] | None = None,
    case_complexity: Floats | None = None,
) -> Curve | Absent:
    """How complex the cases are, in bins.

    Arguments: the rest as for `h_accuracy_by_complexity`. Returns 20 bins of width .05 from 0 to 1, the last one
    closed: `lower`, `upper`, `count` and `share` of the cases. Absent without a complexity.
    """
    graded = raters.complexity_of_cases(
        complexity_source, len(outcome), labels, confidence, rater_complexity, outcome, rater_accuracy, case_complexity
    )
    graded = present(graded)
    graded = graded[~np.isnan(graded)]
    if not len(graded):
        return Absent(Fact("no_case_with_complexity"))
    bin_of = np.minimum((graded * 20 + 1e-9).astype(int), 19)
    count = np.bincount(bin_of, minlength=20)
    columns = {
        "lower": tuple(k / 20 for k in range(20)),
        "upper": tuple((k + 1) / 20 for k in range(20)),
        "count": column(count.astype(float)),
        "share": column(count / len(graded)),
    }
    return Curve(columns, len(graded), Method(Fact("equal_width_bins", bins=20)))
