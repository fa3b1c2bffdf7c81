"""How far the labels themselves can be trusted, judged by how the raters agree.

Every table of raters has one row a case and one column a rater, NaN where a rater gave nothing. Intervals come from the
jackknife over cases, which enter in an order of their own, so that the file's order cannot matter.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dossier.core.bands import SMALLEST_GROUP
from dossier.core.facts import Count, Fact, Method
from dossier.core.register import Law, curve, describe, metric, present
from dossier.core.types import Absent, Curve, Description, Estimate, Floats
from dossier.metrics import distances, intervals
from dossier.metrics.raters import mean_of_known, right_answers

Integers = NDArray[np.int64]

LONGEST_CURVE = 250
RELIABILITIES = tuple(step / 10 for step in range(11))

NOT_OF_CLASSES = Absent(Fact("of_two_classes_only"))
# Labels are given by readers: there is no prediction that could be perfect, and one class may be all they saw.
BROKEN: tuple[Law, ...] = ("perfect is best", "one class is absent")


# ---- counting and resampling ----------------------------------------------------------------------------------------


def _counts(labels: Floats) -> Floats:
    """How many raters gave each class to each case: cases x classes."""
    classes = np.unique(labels[~np.isnan(labels)])
    counts: Floats = (labels[:, :, None] == classes[None, None, :]).sum(axis=1).astype(float)
    return counts


def _in_own_order(labels: Floats) -> Floats:
    """The table with its raters and its cases in an order that only what they hold decides.

    Raters are parted by the kinds of cases that they gave each label to, and kinds of cases by the raters that gave
    each label to them, in turn. Where raters stay alike either may come first, and the others follow from that.
    """
    classes, codes = np.unique(labels, return_inverse=True)
    codes = codes.reshape(labels.shape)
    cases, raters = (np.zeros(count, dtype=np.int64) for count in labels.shape)
    while (apart := len(np.unique(raters))) < len(raters):
        cases = _kinds(cases, codes + len(classes) * raters)
        raters = _kinds(raters, codes.T + len(classes) * cases)
        if raters.max() + 1 == apart:
            alike = np.bincount(raters)[raters] > 1
            raters = 2 * raters + 1
            raters[np.where(alike, raters, raters.max() + 1).argmin()] -= 1
    return distances.canonical(labels[:, np.argsort(raters)])


def _kinds(known: Integers, codes: Integers) -> Integers:
    """The rank of each row by its rank so far and by what it holds, in whatever order; rows alike in both share one."""
    described = np.column_stack((known, np.sort(codes, axis=1)))
    return np.unique(described, axis=0, return_inverse=True)[1].ravel()


MOST_PARTS = 1000


def _all_but_one(cases: int) -> Floats:
    """Which cases count in each part of the jackknife, parts x cases: all but one; of many, all but each 1,000th."""
    parts = min(cases, MOST_PARTS)
    return np.where(np.arange(cases) % parts == np.arange(parts)[:, None], 0.0, 1.0)


def _with_interval(
    value: float,
    parts: Floats,
    level: float,
    n: int,
    method: Method,
    details: dict[str, float | None] | None = None,
    span: float | None = None,
    least: float = -1.0,
) -> Estimate:
    """An estimate with Student's interval of the jackknife on the log of 1 - value, or with why it has none.

    `parts` is the value without each part of the cases, NaN where the rest allows none. `span`, where all raters agree
    on every case, is by how much the value would fall were all agreement gone: the lower end is then at most that of
    the exact binomial for cases without a disagreement. There the jackknife sees no spread; elsewhere it covers .94 to
    .98 from 20 cases on, where resampled cases cover .56 to .93, the less the better the raters agree.
    """
    known = parts[~np.isnan(parts)]
    lost = Fact("parts_without_value", parts=Count(len(parts) - len(known), "case"))
    method = method + Method("jackknife_over_cases", *([lost] if len(known) < len(parts) else []), "log_of_the_rest")
    low = high = None
    if len(known) > 1 and value < 1:
        spread = (len(known) - 1) / len(known) * float(((known - known.mean()) ** 2).sum())
        factor = math.exp(intervals.two_sided_student(level, len(known) - 1) * math.sqrt(spread) / (1 - value))
        low, high = max(least, 1 - (1 - value) * factor), 1 - (1 - value) / factor
    if span is not None and n > 1:
        exact = value - span * (1 - ((1 - level) / 2) ** (1 / n))
        low, high = exact if low is None else min(low, exact), value if high is None else high
        method = method + Method("exact_where_all_agree")
    if low is None or high is None or low == high:
        reason = Fact("one_case", cases=Count(1, "case")) if n < 2 else intervals.NO_SPREAD
        return Estimate(value, None, None, None, n, method, details=details or {}, reason=reason)
    return Estimate(value, low, high, level, n, method, details=details or {})


def _mean_with_interval(
    values: Floats,
    level: float,
    method: Method,
    details: dict[str, float | None] | None = None,
    span: float | None = None,
) -> Estimate:
    """The mean of one value a case."""
    kept, ordered = _all_but_one(len(values)), np.sort(values)
    parts = (kept @ ordered) / np.maximum(kept.sum(axis=1), 1) if len(values) > 1 else np.full(1, np.nan)
    return _with_interval(float(ordered.mean()), parts, level, len(values), method, details, span, 0.0)


def _all_agree(counts: Floats) -> bool:
    """Whether no case has two labels that differ."""
    return bool((counts.max(axis=1) == counts.sum(axis=1)).all())


def _span_of_kappa(counts: Floats) -> float | None:
    """1/(1 - Pe) where all agree, so that kappa falls to -Pe/(1 - Pe) without any agreement; else None."""
    shares = counts.sum(axis=0) / counts.sum()
    return float(1 / (1 - (shares**2).sum())) if _all_agree(counts) else None


# ---- agreement ------------------------------------------------------------------------------------------------------


of_labels = partial(metric, breaks=BROKEN)
"""A measure of the labels of several raters."""


@of_labels()
def observed_agreement(labels: Floats, level: float = 0.95) -> Estimate | Absent:
    """The share of pairs of raters who gave a case the same label.

    `labels` is cases x raters, class codes, NaN where missing. The mean over cases of the share of agreeing pairs among
    those present; a case with fewer than two labels is left out. Interval: Student's, of the jackknife over cases on
    the log of the disagreement, and the exact binomial's where all agree. Agreement by chance is in it. Absent when no
    case has two labels.
    """
    counts = _counts(present(_of_pairs(labels)))
    method = Method("mean_over_cases", *_left_out(labels, counts))
    # The share of agreeing pairs of each case.
    given = counts.sum(axis=1)
    agreeing: Floats = ((counts**2).sum(axis=1) - given) / (given * (given - 1))
    return _mean_with_interval(agreeing, level, method, span=1.0 if _all_agree(counts) else None)


def _left_out(labels: Floats, kept: Floats, incomplete: bool = False) -> Method:
    """The step that counts the cases without a label of two raters, or of every rater; no step where there are none."""
    out = len(labels) - len(kept)
    return Method(*([Fact("cases_left_out", cases=Count(out, "case"), incomplete=incomplete)] if out else []))


@of_labels()
def fleiss_kappa(labels: Floats, level: float = 0.95) -> Estimate | Absent:
    """Chance-corrected agreement of all raters together: 0 is chance, 1 is full agreement.

    `labels` is cases x raters, class codes, NaN where missing. (P_o - P_e) / (1 - P_e), P_o the observed agreement, P_e
    the sum of the squared shares of the classes. As Fleiss defined it for a fixed number of raters, cases without a
    label of every rater are left out and counted. Interval: as for the observed agreement, the cases without which one
    class is left counted. Absent with fewer than two raters, without a complete case, or when all labels are equal.
    """
    if labels.shape[1] < 2:
        return Absent(Fact("agreement_needs_two_raters"))
    complete = labels[~np.isnan(labels).any(axis=1)]
    if not len(complete):
        return Absent(Fact("no_case_labelled_by_all"))
    left_out = _left_out(labels, complete, incomplete=True)
    method = Method("kappa_of_complete_cases", *left_out) if left_out.steps else Method("kappa")
    return _of_counts(_fleiss, complete, level, method)


def _of_counts(
    statistic: Callable[[Floats, Floats], Floats], labels: Floats, level: float, method: Method
) -> Estimate | Absent:
    """A chance-corrected agreement, which the counts of labels tell, with the interval of the jackknife over cases."""
    counts = distances.canonical(_counts(labels))
    value = float(statistic(np.ones((1, len(counts))), counts)[0])
    if math.isnan(value):
        return Absent(Fact("all_labels_equal"))
    parts = statistic(_all_but_one(len(counts)), counts)
    return _with_interval(value, parts, level, len(counts), method, span=_span_of_kappa(counts))


def _fleiss(draws: Floats, counts: Floats) -> Floats:
    """Kappa in each replicate; NaN where a replicate holds one class."""
    cases, raters = np.maximum(draws.sum(axis=1), 1), counts[0].sum()
    # Whole numbers all through: their sums are exact in whatever order they are added.
    squares = draws @ (counts**2).sum(axis=1)
    totals = draws @ counts
    observed = (squares / cases - raters) / (raters * (raters - 1))
    expected = (totals**2).sum(axis=1) / (cases * raters) ** 2
    return _beyond_chance(observed, expected)


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """(observed - expected) / (1 - expected); NaN where chance alone agrees always."""
    room = 1 - expected
    defined = room > 1e-12
    return np.where(defined, (observed - expected) / np.where(defined, room, 1.0), np.nan)


@of_labels(breaks=("rows doubled", *BROKEN))
def krippendorff_alpha(labels: Floats, level: float = 0.95) -> Estimate | Absent:
    """Chance-corrected agreement of the raters when some labels are missing: 0 is chance, 1 is full agreement.

    `labels` is cases x raters, class codes without order (nominal), NaN where missing. 1 - D_o / D_e from the
    coincidences within cases: D_o = sum_u (m_u^2 - sum_c n_uc^2)/(m_u - 1) / n, D_e = (n^2 - sum_c n_c^2)/(n (n - 1)),
    over cases with m_u >= 2 labels, n labels in all. Interval: as for the observed agreement, the cases without which
    one class is left counted. Doubling the cases changes it a little: n - 1. Absent when no case has two labels or all
    labels are equal.
    """
    kept = present(_of_pairs(labels))
    return _of_counts(_krippendorff, kept, level, Method("nominal", *_left_out(labels, kept)))


def _krippendorff(draws: Floats, counts: Floats) -> Floats:
    """Alpha in each replicate; NaN where a replicate holds one class."""
    present = counts.sum(axis=1)
    disagreement = (present**2 - (counts**2).sum(axis=1)) / (present - 1)
    labels = np.maximum(draws @ present, 2)
    observed = (draws * disagreement).sum(axis=1) / labels
    expected = (labels**2 - ((draws @ counts) ** 2).sum(axis=1)) / (labels * (labels - 1))
    defined = expected > 0
    return np.where(defined, 1 - observed / np.where(defined, expected, 1.0), np.nan)


@dataclass(frozen=True)
class Pairs:
    """Kappa and agreement of every pair of raters, one row a replicate."""

    kappa: Floats
    agreement: Floats


def _pairs(draws: Floats, labels: Floats) -> Pairs:
    """Cohen's kappa of every pair over the cases both labelled; NaN where it is not defined."""
    first, second = (np.array(side) for side in zip(*itertools.combinations(range(labels.shape[1]), 2), strict=True))
    both = ~np.isnan(labels[:, first]) & ~np.isnan(labels[:, second])
    cases = draws @ both.astype(float)
    some = np.maximum(cases, 1.0)
    agreeing = (draws @ (labels[:, first] == labels[:, second]).astype(float)) / some
    expected = np.zeros_like(agreeing)
    for label in np.unique(labels[~np.isnan(labels)]):
        left = draws @ (both & (labels[:, first] == label)).astype(float)
        right = draws @ (both & (labels[:, second] == label)).astype(float)
        expected += left * right / some**2
    shared = cases > 0
    kappa = np.where(shared, _beyond_chance(agreeing, expected), np.nan)
    return Pairs(kappa, np.where(shared, agreeing, np.nan))


@of_labels()
def cohen_kappa(labels: Floats, level: float = 0.95) -> Estimate | Absent:
    """Chance-corrected agreement of two raters, on average over all pairs of raters.

    `labels` is cases x raters, class codes, NaN where missing. Per pair (p_o - p_e)/(1 - p_e) over the cases both
    labelled; the value is the mean over pairs (Light 1971), details `minimum`, `maximum`, `pairs` and `pairs_undefined`
    (no case in common, or both gave one label throughout). A case with fewer than two labels is left out. Interval: as
    for the observed agreement. The single pairs are the curve `rater_agreement`. Absent with fewer than two raters,
    when no case has two labels or when no pair has a kappa.
    """
    if labels.shape[1] < 2:
        return Absent(Fact("agreement_needs_two_raters"))
    ordered = _in_own_order(present(_of_pairs(labels)))
    kappa = _pairs(np.ones((1, len(ordered))), ordered).kappa[0]
    defined = kappa[~np.isnan(kappa)]
    if not len(defined):
        return Absent(Fact("no_pair_with_kappa"))
    parts = mean_of_known(_pairs(_all_but_one(len(ordered)), ordered).kappa, 1)
    details: dict[str, float | None] = {
        "minimum": float(defined.min()),
        "maximum": float(defined.max()),
        "pairs": len(defined),
        "pairs_undefined": len(kappa) - len(defined),
    }
    method = Method(Fact("mean_over_pairs_of_raters", pairs=len(defined)), *_left_out(labels, ordered))
    span = _span_of_kappa(_counts(ordered))
    return _with_interval(float(defined.mean()), parts, level, len(ordered), method, details, span)


def _of_pairs(labels: Floats) -> Floats | Absent:
    """The cases that at least two raters labelled, of which there has to be one."""
    kept: Floats = labels[(~np.isnan(labels)).sum(axis=1) >= 2]
    return kept if len(kept) else Absent(Fact("no_case_labelled_by_two"))


@curve()
def rater_agreement(labels: Floats) -> Curve | Absent:
    """Agreement of each pair of raters, as a share and corrected for chance.

    `labels` is cases x raters, class codes, NaN where missing. Columns `first` and `second` (raters, counted from 1),
    `kappa` and `agreement`; None where a pair shares no case or its kappa is not defined. A case with fewer than two
    labels is left out. Absent with fewer than two raters, when no case has two labels, and with more than 22 raters,
    whose pairs are too many to list.
    """
    pairs = math.comb(labels.shape[1], 2)
    if pairs < 1:
        return Absent(Fact("agreement_needs_two_raters"))
    if pairs > LONGEST_CURVE:
        return Absent(Fact("too_many_pairs_of_raters", raters=Count(labels.shape[1], "rater"), pairs=pairs))
    kept = present(_of_pairs(labels))
    found = _pairs(np.ones((1, len(kept))), kept)
    raters = list(itertools.combinations(range(1, labels.shape[1] + 1), 2))
    return Curve(
        {
            "first": tuple(float(first) for first, _ in raters),
            "second": tuple(float(second) for _, second in raters),
            "kappa": _or_none(found.kappa[0]),
            "agreement": _or_none(found.agreement[0]),
        },
        n=len(kept),
        method=Method("kappa_of_shared_cases", *_left_out(labels, kept)),
    )


def _or_none(values: Floats) -> tuple[float | None, ...]:
    return tuple(None if math.isnan(value) else float(value) for value in values)


# ---- the raters' own accuracy ---------------------------------------------------------------------------------------


def _accuracy(labels: Floats, truth: Floats | None, declared: Sequence[float] | None) -> Floats | Absent:
    """The accuracy of each rater: declared, else against the truth, else 1."""
    if declared is not None:
        return np.asarray(declared, dtype=float)
    if truth is None:
        return np.ones(labels.shape[1])
    measured = mean_of_known(right_answers(labels, truth), 0)
    silent = np.isnan(measured) & ~np.isnan(labels).all(axis=0)
    if silent.any():
        return Absent(Fact("rater_without_known_case", rater=int(np.flatnonzero(silent)[0]) + 1))
    # A rater without any label enters nowhere; 0 only stands in for 0/0.
    return np.nan_to_num(measured)


def _source(truth: Floats | None, declared: Sequence[float] | None) -> Literal["declared", "measured", "assumed"]:
    """Where the accuracy of the raters is from."""
    if declared is not None:
        return "declared"
    return "assumed" if truth is None else "measured"


_SOURCE = {"declared": "raters_as_declared", "measured": "raters_against_outcome", "assumed": "raters_taken_as_right"}


@describe()
def rater_accuracy_summary(
    labels: Floats, truth: Floats | None = None, rater_accuracy: tuple[float, ...] | None = None
) -> tuple[Description, ...]:
    """How often the raters are right, from the worst of them to the best.

    `labels` is cases x raters, `truth` one a case, `rater_accuracy` the declared accuracy of each rater, which goes
    first. Gives `minimum`, `mean`, `maximum` and `standard_deviation` (ddof 1) over the raters who labelled anything, n
    = how many; nothing when accuracy is neither declared nor measurable, and no standard deviation of one rater.
    """
    accuracy, source = _accuracy(labels, truth, rater_accuracy), _source(truth, rater_accuracy)
    if isinstance(accuracy, Absent) or source == "assumed":
        return ()
    values = accuracy[~np.isnan(labels).all(axis=0)]
    if not len(values):
        return ()
    statistics = {"minimum": values.min(), "mean": values.mean(), "maximum": values.max()}
    if len(values) > 1:
        statistics["standard_deviation"] = values.std(ddof=1)
    return tuple(
        Description(f"rater accuracy, {source}", statistic, float(value), len(values), of="rater_accuracy")
        for statistic, value in statistics.items()
    )


# ---- weighted concordance -------------------------------------------------------------------------------------------


@of_labels()
def weighted_concordance(
    labels: Floats,
    confidence: Floats,
    coherence: float | None = None,
    truth: Floats | None = None,
    rater_accuracy: tuple[float, ...] | None = None,
    level: float = 0.95,
    class_labels: tuple[str, ...] = (),
) -> Estimate | Absent:
    """How far the labels can be relied on: the agreement of the raters, weighted by how sure and how good they are.

    `labels` (class codes) and `confidence` (0..1) are cases x raters, NaN where missing; a label without a confidence
    counts as missing. The mean over cases of the mean over rater pairs of 1[agree] chat_i chat_j acc_ij, chat = c/(c +
    (1-c)/k), for two classes 2c/(1+c), k the classes of `class_labels`, without these those in `labels` (at least 2),
    acc_ij = a_i a_j/(a_i a_j + (1-a_i)(1-a_j)), 0 when one rater is always right and the other never. A case with one
    label counts a_i; one with none is skipped and counted in `cases_skipped`. a_i: `rater_accuracy` as declared, else
    against `truth`, else 1, which the method says. `coherence` (0..1) gives `coherence_low` and `coherence_high`, with
    c lowered and raised by it and clipped. Interval: as for the observed agreement; an accuracy against `truth` is
    measured anew without each case, a declared one held fixed. Absent when no case has a label with a confidence.

    Parameters
    ----------
    class_labels : tuple of str, optional
        The classes that a label may name, also those that nobody gave.
    """
    accuracy, source = present(_accuracy(labels, truth, rater_accuracy)), _source(truth, rater_accuracy)
    k = len(class_labels)
    values = _concordance(labels, confidence, accuracy, 0.0, k)
    if not len(values):
        return Absent(Fact("no_case_with_confident_label"))
    details: dict[str, float | None] = {"cases_skipped": len(labels) - len(values)}
    details["accuracy_assumed"] = float(source == "assumed")
    if coherence is not None:
        for name, shift in (("coherence_low", -coherence), ("coherence_high", coherence)):
            details[name] = float(np.sort(_concordance(labels, confidence, accuracy, shift, k)).mean())
    method = Method(_SOURCE[source])
    value = float(np.sort(values).mean())
    span = value if _all_agree(_counts(np.where(np.isnan(confidence), np.nan, labels))) else None
    if truth is None or source != "measured":
        return _mean_with_interval(values, level, method, details, span)
    parts = _measured_anew(labels, confidence, truth, k)
    return _with_interval(value, parts, level, len(values), method, details, span, 0.0)


def _measured_anew(labels: Floats, confidence: Floats, truth: Floats, k: int) -> Floats:
    """The concordance without each part of the cases, with the accuracy that the raters have in the rest.

    Held fixed at what these cases show, the interval would hold the reliability in 83 to 87 of 100 studies.
    """
    order = np.lexsort(np.column_stack((labels, confidence, truth)).T[::-1])
    labels, confidence, truth = labels[order], confidence[order], truth[order]
    right = right_answers(labels, truth)
    sure = _weight_of_confidence(labels, confidence, 0.0, k)
    raters = sure.present.sum(axis=1)
    drawn = _all_but_one(len(labels))
    judged = drawn @ (~np.isnan(right)).astype(float)
    accuracy = np.where(judged > 0, drawn @ np.nan_to_num(right) / np.maximum(judged, 1), np.nan)
    # A rater of no label counts nowhere.
    accuracy = np.where(np.isnan(labels).all(axis=0), 0.0, accuracy)
    alone = np.where((raters == 1)[:, None], sure.present, False).astype(float)
    total = ((drawn @ alone) * accuracy).sum(axis=1)
    pairs = np.maximum(raters * (raters - 1) / 2, 1)[:, None]
    for rater in range(labels.shape[1] - 1):
        own, others = accuracy[:, [rater]], accuracy[:, rater + 1 :]
        agree = labels[:, [rater]] == labels[:, rater + 1 :]
        weight = np.where(agree, sure.weight[:, [rater]] * sure.weight[:, rater + 1 :], 0.0) / pairs
        both, either = own * others, own * others + (1 - own) * (1 - others)
        total += ((drawn @ weight) * both / np.where(either > 0, either, 1.0)).sum(axis=1)
    counted = drawn @ (raters > 0).astype(float)
    return np.where(counted > 0, total / np.maximum(counted, 1), np.nan)


@dataclass(frozen=True)
class Sureness:
    """Which labels count, and the weight of the confidence of each: cases x raters."""

    present: NDArray[np.bool_]
    weight: Floats
    classes: Floats


def _weight_of_confidence(labels: Floats, confidence: Floats, shift: float, k: int) -> Sureness:
    """c/(c + (1-c)/k) of each confidence, shifted and clipped; 0 where a label or a confidence is missing."""
    present = ~np.isnan(labels) & ~np.isnan(confidence)
    classes = np.unique(labels[present])
    shifted = np.clip(confidence + shift, 0.0, 1.0)
    weight = np.where(present, shifted / (shifted + (1 - shifted) / max(2, k or len(classes))), 0.0)
    return Sureness(present, weight, classes)


def _concordance(labels: Floats, confidence: Floats, accuracy: Floats, shift: float, k: int) -> Floats:
    """The weighted concordance of each case with a label, the confidences shifted and clipped."""
    sure = _weight_of_confidence(labels, confidence, shift, k)
    # The chance that two raters who agree are right: raters x raters.
    right = np.outer(accuracy, accuracy)
    either = right + np.outer(1 - accuracy, 1 - accuracy)
    # Where the two cannot agree, `right` is 0 as well.
    together = np.asarray(right / np.where(either > 0, either, 1.0))
    total = np.zeros(len(labels))
    for label in sure.classes:
        weight = np.where(labels == label, sure.weight, 0.0)
        for rater in range(labels.shape[1] - 1):
            total += weight[:, rater] * (weight[:, rater + 1 :] * together[rater, rater + 1 :]).sum(axis=1)
    raters = sure.present.sum(axis=1)
    pairs = raters * (raters - 1) / 2
    alone = np.where(sure.present, accuracy[None, :], 0.0).sum(axis=1)
    values = np.where(raters > 1, total / np.maximum(pairs, 1), alone)
    known: Floats = values[raters > 0]
    return known


# ---- what the labels make of the model's accuracy -------------------------------------------------------------------


def share_of_right_labels(rho: float) -> float:
    """The share of right labels that a reliability implies, g = (1 + sqrt(rho)) / 2."""
    return (1 + math.sqrt(rho)) / 2


def corrected(measured: float, right_labels: float) -> float:
    """The accuracy against the truth when errors of model and labels are independent: x g + (1 - x)(1 - g)."""
    return measured * right_labels + (1 - measured) * (1 - right_labels)


@of_labels(breaks=("rows doubled", *BROKEN))
def actual_accuracy(
    outcome: Floats,
    risk: Floats,
    labels: Floats,
    confidence: Floats,
    primary_threshold: float,
    coherence: float | None = None,
    truth: Floats | None = None,
    rater_accuracy: tuple[float, ...] | None = None,
    level: float = 0.95,
) -> Estimate | Absent:
    """The accuracy that the model would have against the truth, when the labels it was tested on are themselves unsure.

    x g + (1 - x)(1 - g), x the share of rows of `outcome` (0/1) that `risk` gets right at `primary_threshold`, g = (1 +
    sqrt(rho)) / 2, rho the `weighted_concordance` of `labels` and `confidence` (its arguments are the others here). The
    interval carries that of rho and Wilson's of x through and puts the two together (Zou and Donner), as if labels and
    answers were independent: with x held fixed it would hold the truth in a third of the studies or less. Details:
    `measured_accuracy`, `rho`, and the bounds free of assumption `bound_low` = |x + g - 1| and `bound_high` = 1 - |x -
    g|. The curve is reconstructed from the worked example of the paper (rho .57, x .90: .802). Absent without rows, or
    when rho is.
    """
    rho = present(weighted_concordance(labels, confidence, coherence, truth, rater_accuracy, level))
    n, count = len(outcome), int(((risk >= primary_threshold) == (outcome == 1)).sum())
    measured, right = count / n, share_of_right_labels(rho.value)
    value = corrected(measured, right)
    source = _SOURCE[_source(truth, rater_accuracy)]
    low, high = None, None
    if rho.low is not None and rho.high is not None:
        by_labels = [corrected(measured, share_of_right_labels(end)) - value for end in (rho.low, rho.high)]
        by_answers = [corrected(end, right) - value for end in intervals.wilson(count, n, level)]
        # Below a measured accuracy of one half better labels make it worse, and the ends change places.
        low = max(0.0, value - math.hypot(min(by_labels), min(by_answers)))
        high = min(1.0, value + math.hypot(max(by_labels), max(by_answers)))
    return Estimate(
        value=value,
        low=low,
        high=high,
        level=rho.level,
        n=n,
        method=Method("of_rho_and_accuracy", source),
        events=int(outcome.sum()),
        details={
            "measured_accuracy": measured,
            "rho": rho.value,
            "bound_low": abs(measured + right - 1),
            "bound_high": 1 - abs(measured - right),
        },
        reason=rho.reason,
    )


def reliability_for(desired: float, measured: float) -> float | Absent:
    """The reliability of the labels at which a measured accuracy means the desired one.

    `desired` A and `measured` x (0 to 1). rho = (2g - 1)^2 with g = (A + x - 1)/(2x - 1), the share of right labels:
    the inverse of `corrected`. Absent unless .5 <= A <= x and x > .5.
    """
    if measured <= 0.5:
        return Absent(Fact("accuracy_not_above_one_half", measured=round(measured, 2)))
    if desired < 0.5:
        return Absent(Fact("desired_below_one_half", desired=desired))
    if desired > measured:
        return Absent(Fact("desired_above_measured", desired=desired, measured=round(measured, 2)))
    return (2 * (desired + measured - 1) / (2 * measured - 1) - 1) ** 2


@of_labels(breaks=("rows doubled", "narrower with more rows", *BROKEN), given="anything")
def required_reliability(
    outcome: Floats,
    risk: Floats,
    labels: Floats,
    primary_threshold: float,
    desired_accuracy: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """How reliable the labels must be for the model's accuracy against the truth to be the one that is asked for.

    Compare it with the reliability of the labels, rho: below it, the accuracy that is asked for is not shown.

    `desired_accuracy` A (.5 to 1), x the share of rows of `outcome` (0/1) that `risk` gets right at
    `primary_threshold`; `labels` only says that there are raters. rho = (2g - 1)^2, g = (A + x - 1)/(2x - 1). No rho is
    estimated here, so the interval is Wilson's of x, at `level`, carried through; its upper end is 1 where x may lie at
    or below A. Details: `measured_accuracy`, `desired_accuracy`. Absent without labels or rows, and unless .5 <= A <= x
    and x > .5.

    Parameters
    ----------
    desired_accuracy : float
        The accuracy that is asked for, from 0 to 1.
    """
    if np.isnan(labels).all():
        return Absent(Fact("no_label"))
    if not len(outcome):
        return Absent(Fact("no_rows"))
    n, right = len(outcome), int(((risk >= primary_threshold) == (outcome == 1)).sum())
    value = present(reliability_for(desired_accuracy, right / n))
    worst, best = intervals.wilson(right, n, level)
    easiest, hardest = reliability_for(desired_accuracy, best), reliability_for(desired_accuracy, worst)
    return Estimate(
        value=value,
        # At A = .5 the value is 0 at every x, but for rounding.
        low=value if isinstance(easiest, Absent) else min(value, easiest),
        high=1.0 if isinstance(hardest, Absent) else max(value, hardest),
        level=level,
        n=n,
        method=Method("wilson_carried_through"),
        events=int(outcome.sum()),
        details={"measured_accuracy": right / n, "desired_accuracy": desired_accuracy},
    )


@curve()
def reliability_nomogram(labels: Floats, class_labels: tuple[str, ...] = ()) -> Curve | Absent:
    """What a measured accuracy is worth when the labels are not fully reliable, for each degree of reliability.

    Columns `measured` (.5 and 1) and `reliability_0`, `reliability_0.1` ... `reliability_1`: the actual accuracy x g +
    (1 - x)(1 - g), g = (1 + sqrt(rho)) / 2, a straight line in x. `labels` only says that there are raters. The curve
    is reconstructed from the worked example of the paper. Absent without labels, and of more than two classes.
    """
    if len(class_labels) > 2:
        return NOT_OF_CLASSES
    if np.isnan(labels).all():
        return Absent(Fact("no_label"))
    measured = (0.5, 1.0)
    columns: dict[str, tuple[float | None, ...]] = {"measured": measured}
    for rho in RELIABILITIES:
        columns[f"reliability_{rho:g}"] = tuple(corrected(x, share_of_right_labels(rho)) for x in measured)
    return Curve(columns, len(labels), Method("closed_form_of_independent_errors"))


@curve()
def actual_accuracy_bounds(
    labels: Floats,
    confidence: Floats,
    truth: Floats | None = None,
    rater_accuracy: tuple[float, ...] | None = None,
    class_labels: tuple[str, ...] = (),
) -> Curve | Absent:
    """Between which ends the actual accuracy lies at this reliability, when model and labels may err together.

    Columns `measured` (x), `low` = |x + g - 1| and `high` = 1 - |x - g|, g = (1 + sqrt(rho)) / 2, rho the
    `weighted_concordance` of `labels` and `confidence` (`truth` and `rater_accuracy` as there). From x = .5 to 1 both
    are straight lines but for the bend of `high` at g, so three rows say all. Absent when rho is, and of more than two
    classes.
    """
    if len(class_labels) > 2:
        return NOT_OF_CLASSES
    rho = present(weighted_concordance(labels, confidence, None, truth, rater_accuracy))
    right = share_of_right_labels(rho.value)
    measured = (0.5, right, 1.0)
    columns: dict[str, tuple[float | None, ...]] = {
        "measured": measured,
        "low": tuple(abs(x + right - 1) for x in measured),
        "high": tuple(1 - abs(x - right) for x in measured),
    }
    return Curve(columns, rho.n, Method("closed_form_without_assumption"))


# ---- rater by rater -------------------------------------------------------------------------------------------------


@curve()
def raters_one_by_one(
    labels: Floats,
    confidence: Floats | None = None,
    rater_complexity: Floats | None = None,
    truth: Floats | None = None,
    level: float = 0.95,
) -> Curve | Absent:
    """How many cases each rater labelled, how often rightly, how surely, and in what agreement with the others.

    `labels`, `confidence`, `rater_complexity` are cases x raters, NaN where missing; `truth` one a case. A row for each
    rater: `rater` (from 1), `cases`, `accuracy` against the truth with Wilson's `accuracy_low` and `accuracy_high`,
    the means `confidence` and `complexity`, and `kappa`, Cohen's kappa with the other raters on average. Missing where
    a rater gave nothing, or a table is not there. Absent without labels, and with more than 250 raters.
    """
    raters = labels.shape[1]
    if np.isnan(labels).all():
        return Absent(Fact("no_label"))
    if raters > LONGEST_CURVE:
        return Absent(Fact("too_many_raters", raters=Count(raters, "rater")))
    cases = (~np.isnan(labels)).sum(axis=0)
    nothing = np.full(raters, math.nan)
    right = np.full_like(labels, math.nan) if truth is None else right_answers(labels, truth)
    judged, hits = (~np.isnan(right)).sum(axis=0), np.nansum(right, axis=0)
    columns = {
        "rater": tuple(float(number) for number in range(1, raters + 1)),
        "cases": tuple(float(count) for count in cases),
        **intervals.share_columns("accuracy", hits, judged, level, "accuracy_"),
        "confidence": _or_none(nothing if confidence is None else mean_of_known(_labelled(labels, confidence), 0)),
        "complexity": _or_none(nothing if rater_complexity is None else mean_of_known(rater_complexity, 0)),
        "kappa": _or_none(_kappa_with_others(labels)),
    }
    return Curve(columns, len(labels), Method("wilson", "kappa_with_other_raters"))


def _labelled(labels: Floats, confidence: Floats) -> Floats:
    """The confidence where there is a label that it belongs to."""
    return np.where(np.isnan(labels), math.nan, confidence)


def _kappa_with_others(labels: Floats) -> Floats:
    """Each rater's kappa with the others on average; NaN where no pair has one."""
    raters = labels.shape[1]
    if raters < 2:
        return np.full(raters, math.nan)
    table = np.full((raters, raters), math.nan)
    table[np.triu_indices(raters, 1)] = _pairs(np.ones((1, len(labels))), labels).kappa[0]
    return mean_of_known(np.where(np.isnan(table), table.T, table), 0)


@curve()
def raters_by_group(
    labels: Floats,
    rater_groups: tuple[str, ...],
    confidence: Floats | None = None,
    truth: Floats | None = None,
    rater_accuracy: tuple[float, ...] | None = None,
    level: float = 0.95,
    class_labels: tuple[str, ...] = (),
) -> Curve | Absent:
    """How often the raters of each group are right, and how far the labels of each group can be relied on.

    `labels`, `confidence` are cases x raters, NaN where missing; `rater_groups` the group of each rater; `truth` one a
    case. A row for each group in the order of their names: `group` (its place, from 0), `raters`, `cases` with a label
    of theirs, `accuracy`, the mean over the raters of their share of right labels, with Wilson's interval at the
    effective number of answers, and `rho`, the `weighted_concordance` of their labels, each with `..._low` and
    `..._high`. The raters are taken as these: intervals are over cases. Where the truth is not known the accuracy is
    the mean of `rater_accuracy`, without an interval; rho of one rater is that rater's accuracy and has none. Absent
    without labels.
    """
    if np.isnan(labels).all():
        return Absent(Fact("no_label"))
    rows: list[dict[str, float | None]] = []
    groups = sorted(set(rater_groups))
    for index, group in enumerate(groups):
        members = np.array([text == group for text in rater_groups])
        own, stated = labels[:, members], None if confidence is None else confidence[:, members]
        declared = None if rater_accuracy is None else tuple(np.asarray(rater_accuracy)[members].tolist())
        rho = None
        if stated is not None:
            rho = weighted_concordance(own, stated, None, truth, declared, level, class_labels)
        rows.append(
            {
                "group": float(index),
                "raters": float(members.sum()),
                "cases": float((~np.isnan(own)).any(axis=1).sum()),
                **_bounded("accuracy", _mean_accuracy(own, truth, declared, level)),
                **_bounded("rho", _of_several(rho, int(members.sum()))),
            }
        )
    columns = {name: tuple(row[name] for row in rows) for name in rows[0]}
    return Curve(columns, len(labels), Method("wilson_at_effective_rows", "jackknife_over_cases", "log_of_the_rest"))


Bounded = tuple[float | None, float | None, float | None]
"""A value with the ends of its interval."""


def _bounded(name: str, found: Bounded) -> dict[str, float | None]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), found, strict=True))


def _of_several(rho: Estimate | Absent | None, raters: int) -> Bounded:
    if not isinstance(rho, Estimate):
        return (None, None, None)
    return (rho.value, None, None) if raters < 2 else (rho.value, rho.low, rho.high)


def _mean_accuracy(labels: Floats, truth: Floats | None, declared: tuple[float, ...] | None, level: float) -> Bounded:
    """The mean over raters of the share of right labels, with Wilson's interval at its effective number of answers.

    The variance is that between cases, so that raters who err on the same cases count as fewer; where none or all err
    the answers to a case count as one.
    """
    right = None if truth is None else right_answers(labels, truth)
    judged = None if right is None else ~np.isnan(right)
    if right is None or judged is None or not judged.any():
        return (None if declared is None else float(np.mean(declared)), None, None)
    asked = judged.any(axis=0)
    right, judged = right[:, asked], judged[:, asked]
    each = np.where(judged, right, 0.0).sum(axis=0) / judged.sum(axis=0)
    value = float(np.sort(each).mean())
    cases = int(judged.any(axis=1).sum())
    parts = np.where(judged, (right - each) / judged.sum(axis=0), 0.0).sum(axis=1) / len(each)
    variance = float(np.sort(parts**2).sum()) * cases / max(cases - 1, 1)
    effective = value * (1 - value) / variance if variance > 0 else cases
    low, high = intervals.wilson_bounds(np.array(value), effective, intervals.two_sided(level))
    return (value, float(low), float(high))


MOST_LEVELS = 11


@curve()
def confidence_by_rater(labels: Floats, confidence: Floats) -> Curve | Absent:
    """How each rater spreads over the scale of confidence, from never sure to always sure.

    `labels`, `confidence` (0..1) are cases x raters, NaN where missing. For each rater who stated any (`rater`, from 1)
    the levels of `confidence` with `count` and `share` of that rater's answers: the values of the scale where it has at
    most eleven (or as many as 250 rows hold), else the middles of equal-width bins on 0 to 1. Absent without
    confidences, and with more than 125 raters.
    """
    # 0.1 + 0.2 and 0.3 are one level.
    stated = np.round(_labelled(labels, confidence), 12)
    speaking = np.flatnonzero(~np.isnan(stated).all(axis=0))
    if not len(speaking):
        return Absent(Fact("no_label_with_confidence"))
    most = min(MOST_LEVELS, LONGEST_CURVE // len(speaking))
    if most < 2:
        return Absent(Fact("too_many_raters", raters=Count(len(speaking), "rater")))
    levels, method = np.unique(stated[~np.isnan(stated)]), Method("values_of_scale")
    if len(levels) > most:
        stated = (np.minimum(np.floor(stated * most + 1e-9), most - 1) + 0.5) / most
        levels, method = (np.arange(most) + 0.5) / most, Method(Fact("equal_width_bins", bins=most))
    table = np.array([[float(np.sum(stated[:, each] == level)) for level in levels] for each in speaking])
    columns = {
        "rater": tuple(float(rater + 1) for rater in speaking for _ in levels),
        "confidence": tuple(float(level) for _ in speaking for level in levels),
        "count": tuple(float(count) for count in table.ravel()),
        "share": tuple(float(share) for share in (table / table.sum(axis=1, keepdims=True)).ravel()),
    }
    return Curve(columns, int(table.sum()), method)


# ---- confidence and complexity --------------------------------------------------------------------------------------

THIRDS = 3
EDGES = tuple(step / THIRDS for step in range(THIRDS))
"""Where the thirds of the scale from 0 to 1 begin."""


@curve()
def confidence_by_complexity(
    labels: Floats, confidence: Floats, rater_complexity: Floats, truth: Floats
) -> Curve | Absent:
    """How often the raters are right, by how sure they were and by how complex they found the case.

    `labels`, `confidence` and `rater_complexity` (both 0..1) are cases x raters, NaN where missing; `truth` one a case.
    A row for each of nine cells, the thirds of one scale by those of the other, from 0 to 1/3, to 2/3 and to 1 (not
    quantiles): `confidence` and `complexity` (where the third begins), `answers`, and `right`, the share of them that
    is right, missing where there are fewer than five. Absent without an answer that has all four.
    """
    right = right_answers(labels, truth)
    known = ~np.isnan(right) & ~np.isnan(confidence) & ~np.isnan(rater_complexity)
    if not known.any():
        return Absent(Fact("no_answer_with_both_ratings"))
    # In which third each value lies, from 0; the last one is closed.
    thirds = (np.floor(table[known] * THIRDS + 1e-9) for table in (confidence, rater_complexity))
    sure, hard = (np.minimum(third, THIRDS - 1).astype(np.int64) for third in thirds)
    cell = THIRDS * sure + hard
    count = np.bincount(cell, minlength=THIRDS**2)
    hits = np.bincount(cell, weights=right[known], minlength=THIRDS**2)
    columns: dict[str, tuple[float | None, ...]] = {
        "confidence": tuple(edge for edge in EDGES for _ in EDGES),
        "complexity": EDGES * THIRDS,
        "answers": tuple(map(float, count)),
        "right": tuple(float(hit / of) if of >= SMALLEST_GROUP else None for hit, of in zip(hits, count, strict=True)),
    }
    return Curve(columns, int(known.any(axis=1).sum()), Method("thirds_of_both_scales"))


@of_labels()
def confidence_complexity_correlation(
    labels: Floats, confidence: Floats, rater_complexity: Floats, level: float = 0.95
) -> Estimate | Absent:
    """How far the raters were less sure of the cases that they found complex: -1 wholly, 0 not at all.

    `labels`, `confidence` and `rater_complexity` (both 0..1) are cases x raters, NaN where missing. Pearson's r over
    all answers that have both ratings. Interval: Student's, of the jackknife over cases on Fisher's z. Absent when
    fewer than two answers have both ratings, or when either does not vary.
    """
    known = ~np.isnan(labels) & ~np.isnan(confidence) & ~np.isnan(rater_complexity)
    sure, hard = (np.where(known, table - 0.5, 0.0) for table in (confidence, rater_complexity))
    sums = np.column_stack([part.sum(axis=1) for part in (known * 1.0, sure, hard, sure**2, hard**2, sure * hard)])
    sums = distances.canonical(sums[known.any(axis=1)])
    if not len(sums):
        return Absent(Fact("no_answer_with_both_ratings"))
    value = _correlation(sums.sum(axis=0, keepdims=True))[0]
    if math.isnan(value):
        return Absent(Fact("ratings_do_not_vary"))
    parts = _correlation(_all_but_one(len(sums)) @ sums)
    method = Method("pearson_over_answers", "jackknife_over_cases", "fisher_z")
    known = np.arctanh(np.clip(parts[~np.isnan(parts)], -1 + 1e-12, 1 - 1e-12))
    if len(known) < 2 or abs(value) > 1 - 1e-12 or np.ptp(known) == 0:
        return Estimate(float(value), None, None, None, len(sums), method, reason=intervals.NO_SPREAD)
    spread = (len(known) - 1) / len(known) * float(((known - known.mean()) ** 2).sum())
    half = intervals.two_sided_student(level, len(known) - 1) * math.sqrt(spread)
    low, high = (math.tanh(math.atanh(value) + side * half) for side in (-1, 1))
    return Estimate(float(value), low, high, level, len(sums), method)


def _correlation(sums: Floats) -> Floats:
    """Pearson's r of the sums of 1, x, y, x², y² and xy in each row; NaN where either does not vary."""
    n, x, y, xx, yy, xy = sums.T
    spread = (n * xx - x**2) * (n * yy - y**2)
    varies = (n * xx - x**2 > 1e-9) & (n * yy - y**2 > 1e-9)
    return np.where(varies, np.clip((n * xy - x * y) / np.sqrt(np.where(varies, spread, 1.0)), -1, 1), np.nan)
