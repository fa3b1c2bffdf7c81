"""Readers with and without the model: whether people decide better when they see it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dossier.core.facts import Count, Fact, Method
from dossier.core.register import absent_with_its_parts, curve, metric, present
from dossier.core.types import Absent, Curve, DecisionCounts, Estimate, Floats, ReaderStudy
from dossier.metrics import intervals, resampling

Cells = tuple[float, float, float, float]
"""Wrong and right with the model, wrong and right without it: AIE, AIN, CE, CN."""
Kind = Literal["rate", "difference", "ratio"]
"""What a statistic of the counts is: the error rate of one arm, or a difference or a ratio of both."""

FEWEST_REPLICATES = 0.9
MOST_LISTED = 250
LEAST: Mapping[Kind, float] = {"rate": 0.0, "difference": -1.0}
SPANS_ZERO = Fact("risk_reduction_may_be_zero")
NO_ROWS_OF_READERS = Absent(Fact("reader_study_of_counts_only"))


def cells(study: ReaderStudy) -> Cells:
    """The four counts of a study as numbers."""
    aided_wrong, aided_right, unaided_wrong, unaided_right = map(float, astuple(study.counts))
    return aided_wrong, aided_right, unaided_wrong, unaided_right


def _empty_arm(counts: Cells) -> Absent | None:
    aided_wrong, aided_right, unaided_wrong, unaided_right = counts
    if aided_wrong + aided_right == 0:
        return Absent(Fact("no_decision_with_model"))
    if unaided_wrong + unaided_right == 0:
        return Absent(Fact("no_decision_without_model"))
    return None


def _corrected(counts: Cells) -> Cells:
    """Haldane's correction: 0.5 more in every cell when one is empty."""
    return counts if all(counts) else (counts[0] + 0.5, counts[1] + 0.5, counts[2] + 0.5, counts[3] + 0.5)


def _rates(counts: Cells) -> tuple[float, float]:
    """The error rates with and without the model."""
    return counts[0] / (counts[0] + counts[1]), counts[2] / (counts[2] + counts[3])


def _ratio_of_rates(counts: Cells) -> float:
    aided, unaided = _rates(_corrected(counts))
    return aided / unaided


def _ratio_of_odds(counts: Cells) -> float:
    aided_wrong, aided_right, unaided_wrong, unaided_right = _corrected(counts)
    return aided_wrong / aided_right * (unaided_right / unaided_wrong)


def _difference_of_rates(counts: Cells) -> float:
    aided, unaided = _rates(counts)
    return unaided - aided


# ---- the interval by readers and cases ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clustered:
    """The bootstrap interval over readers and cases, or why there is none, and how it was made."""

    low: float | None
    high: float | None
    how: Fact


def _drawn(members: NDArray[np.bool_], replicates: int, rng: np.random.Generator) -> Floats:
    """How often each thing stands in each replicate when the members are drawn and the others stay once: (replicates,
    things)."""
    size = int(members.sum())
    weights = np.ones((replicates, len(members)))
    weights[:, members] = rng.multinomial(size, np.full(size, 1 / size), size=replicates)
    return weights


@dataclass(frozen=True)
class Part:
    """The four counts of each replicate (replicates x 4) when things of one kind are drawn and all others stay."""

    counts: Floats
    size: int
    """How many things are drawn: that leaves the share 1/size of a variance out."""


@dataclass(frozen=True)
class DrawnCounts:
    """The four counts of each replicate (replicates x 4) when readers and cases are drawn, and of each kind alone."""

    both: Floats
    clusters: tuple[Part, ...]
    """The readers of each arm, and last the cases."""
    each: tuple[Part, ...]
    """The decisions of each arm, every reader's on a case by itself."""


def _drawn_counts(study: ReaderStudy, bootstrap: int, seed: int) -> DrawnCounts | None:
    readers, reader = _renumbered(study.reader)
    cases, case = _renumbered(study.case)
    # Which readers decide both with and without the model, which only with it and which only without it, where there
    # are any: in a paired study all do both.
    aided, unaided = (
        np.bincount(reader, weights=~np.isnan(decisions), minlength=readers) > 0
        for decisions in (study.aided, study.unaided)
    )
    arms = [arm for arm in (aided & unaided, aided & ~unaided, unaided & ~aided) if arm.any()]
    if cases < 2 or min(int(arm.sum()) for arm in arms) < 2:
        return None
    tables = []
    for decisions, right in ((study.aided, False), (study.aided, True), (study.unaided, False), (study.unaided, True)):
        found = ~np.isnan(decisions) & ((decisions == study.truth) == right)
        table = np.zeros((readers, cases))
        np.add.at(table, (reader[found], case[found]), 1.0)
        tables.append(table)
    rng = np.random.default_rng(seed)
    of_arms = [_drawn(arm, bootstrap, rng) for arm in arms]
    by_case = _drawn(np.ones(cases, dtype=bool), bootstrap, rng)
    judged = np.unique(np.column_stack((reader, case)), axis=0)
    decided = np.column_stack([table[judged[:, 0], judged[:, 1]] for table in tables])
    of_arm = [arm[judged[:, 0]] for arm in arms]
    of_readers = [
        Part(_counted(by_reader, np.ones((1, cases)), tables), int(arm.sum()))
        for by_reader, arm in zip(of_arms, arms, strict=True)
    ]
    return DrawnCounts(
        _counted(np.prod(of_arms, axis=0), by_case, tables),
        (*of_readers, Part(_counted(np.ones((1, readers)), by_case, tables), cases)),
        tuple(Part(_drawn(members, bootstrap, rng) @ decided, int(members.sum())) for members in of_arm),
    )


def _counted(by_reader: Floats, by_case: Floats, tables: Sequence[Floats]) -> Floats:
    """The counts of each table when its rows and columns are drawn so often."""
    return np.column_stack([((by_reader @ table) * by_case).sum(axis=1) for table in tables])


def _renumbered(codes: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
    kinds, inverse = np.unique(codes, return_inverse=True)
    return len(kinds), inverse.astype(np.int64)


def _clustered(
    study: ReaderStudy, statistic: Callable[[Cells], float], level: float, bootstrap: int, seed: int, kind: Kind
) -> Clustered:
    """The interval over readers and cases of a statistic, that of a ratio on the log scale.

    Drawing readers and cases at once counts what is neither theirs three times (Owen 2007). The replicates are drawn
    together until their variance is that of the readers plus that of the cases less that of single decisions, which
    both hold (Cameron 2011), but not below the larger of the two. Readers are drawn within their arm, and the cases of
    a parallel study for both arms at once, as they share them.
    """
    drawn = _drawn_counts(study, bootstrap, seed)
    if drawn is None:
        return Clustered(None, None, Fact("only_counts" if len(study.reader) == 0 else "too_few_readers_or_cases"))
    values = _values(drawn.both, statistic, kind == "ratio")
    parts = (*drawn.clusters, *drawn.each)
    apart = [_values(part.counts, statistic, kind == "ratio") for part in parts]
    if len(values) < FEWEST_REPLICATES * bootstrap or min(map(len, (values, *apart))) < 2:
        return Clustered(None, None, Fact("too_few_replicates"))
    if float(np.ptp(values)) == 0:
        return Clustered(None, None, Fact("equal_replicates"))
    if not any(float(np.ptp(contrast)) for contrast in apart[: len(drawn.clusters)]):
        return Clustered(None, None, Fact("equal_readers_and_cases"))
    variances = [
        float(np.var(contrast)) * (part.size / (part.size - 1)) for contrast, part in zip(apart, parts, strict=True)
    ]
    centre = float(np.median(values))
    cancels = kind != "rate" and len(drawn.clusters) == 2
    wanted = _two_way(variances, [part.size for part in drawn.clusters], cancels, level)
    values = centre + (values - centre) * math.sqrt(wanted / float(np.var(values)))
    low, high = resampling.central(values, level)
    low, high = (math.exp(low), math.exp(high)) if kind == "ratio" else (max(LEAST[kind], low), min(1.0, high))
    how = Fact("two_way_bootstrap", each_arm=len(drawn.clusters) != 2, replicates=len(values))
    return Clustered(low, high, how)


def _two_way(variances: Sequence[float], sizes: Sequence[int], cancels: bool, level: float) -> float:
    """The variance of two-way clusters from those over the readers of each arm and over cases, which have the `sizes`,
    and those over the single decisions of each arm; enlarged as t asks with Satterthwaite's degrees of freedom.

    Where readers decide both ways, most of what they and their cases have of their own `cancels` in a difference, and
    only what they add to the noise of single decisions is as uncertain as their number says. In the error rate of one
    arm, and between the readers of two arms, nothing cancels, and all of their variance is.
    """
    clusters, of_each = variances[: len(sizes)], math.fsum(variances[len(sizes) :])
    of_readers, of_cases = math.fsum(clusters[:-1]), clusters[-1]
    wanted = max(of_readers + of_cases - of_each, of_readers, of_cases)
    known = of_each if cancels else 0.0
    own = [max(variance - known, 0.0) for variance in clusters]
    unsure = math.fsum(part**2 / (size - 1) for part, size in zip(own, sizes, strict=True))
    if unsure <= 0:
        return wanted
    return wanted * (intervals.two_sided_student(level, wanted**2 / unsure) / intervals.two_sided(level)) ** 2


def _values(counts: Floats, statistic: Callable[[Cells], float], positive: bool) -> Floats:
    """The statistic of each replicate that holds decisions of both kinds, its logarithm where it is positive."""
    usable = (counts[:, 0] + counts[:, 1] > 0) & (counts[:, 2] + counts[:, 3] > 0)
    found = np.array([statistic((float(a), float(b), float(c), float(d))) for a, b, c, d in counts[usable]])
    return np.log(found) if positive else found


# ---- the measures of two by two counts ------------------------------------------------------------------------------


def _found(
    study: ReaderStudy,
    value: float,
    bounds: tuple[float, float] | None,
    se: float | None,
    level: float,
    method: Method,
    clustered: Clustered,
) -> Estimate:
    """An estimate with the interval of independent decisions, and that by clusters in its details."""
    n = int(sum(cells(study)))
    details: dict[str, float | None] = {"low_clustered": clustered.low, "high_clustered": clustered.high}
    made = method + Method("decisions_as_independent", clustered.how)
    if bounds is None:
        return Estimate(value, None, None, None, n, made, None, None, details, intervals.NO_SPREAD)
    return Estimate(value, *bounds, level, n, made, None, se, details)


def _rate(study: ReaderStudy, arm: int, level: float, bootstrap: int, seed: int) -> Estimate | Absent:
    """The error rate of one arm (0: with the model, 1: without it), Wald."""
    counts = cells(study)
    wrong, total = counts[2 * arm], counts[2 * arm] + counts[2 * arm + 1]
    if total == 0:
        return Absent(Fact("no_decision_without_model" if arm else "no_decision_with_model"))
    value = wrong / total
    clustered = (
        _clustered(study, lambda drawn: _rates(drawn)[arm], level, bootstrap, seed, "rate")
        if _empty_arm(counts) is None
        else Clustered(None, None, Fact("single_arm"))
    )
    return replace(_wald(study, value, math.sqrt(value * (1 - value) / total), level, "rate", clustered), n=int(total))


def _wald(study: ReaderStudy, value: float, se: float, level: float, kind: Kind, clustered: Clustered) -> Estimate:
    half = intervals.two_sided(level) * se
    bounds = (max(LEAST[kind], value - half), min(1.0, value + half)) if se else None
    return _found(study, value, bounds, se or None, level, Method("wald"), clustered)


of_study = partial(metric, roles=(), breaks=("perfect is best", "one class is absent", "narrower with more rows"))
"""A measure of all decisions of a study."""


@of_study()
def error_rate_aided(
    study: ReaderStudy, level: float = 0.95, bootstrap: int = 1000, seed: int = 1
) -> Estimate | Absent:
    """The share of wrong decisions among those that readers made with the model.

    Returns
    -------
    Estimate or Absent
        AIE/(AIE+AIN) with Wald's interval, as published, which takes decisions as independent. Absent when nothing was
        decided with the model; the bounds are missing when all decisions are right or all are wrong.

    Notes
    -----
    `details` holds `low_clustered` and `high_clustered`, the bootstrap interval over readers (in a parallel study
    within their arm) and cases, brought to the variance of two-way clusters (Owen 2007, Cameron 2011) and enlarged as
    Student's t with Satterthwaite's degrees of freedom asks; missing, and the method says why, when only counts are
    given, with one reader (in an arm) or one case, when too few replicates hold decisions of both kinds, or when
    neither readers nor cases vary.
    """
    return _rate(study, 0, level, bootstrap, seed)


@of_study()
def error_rate_unaided(
    study: ReaderStudy, level: float = 0.95, bootstrap: int = 1000, seed: int = 1
) -> Estimate | Absent:
    """The share of wrong decisions among those that readers made without the model.

    Returns
    -------
    Estimate or Absent
        Arguments and intervals: as for `error_rate_aided`; CE/(CE+CN). Absent when nothing was decided without the
        model.
    """
    return _rate(study, 1, level, bootstrap, seed)


@of_study()
def absolute_risk_reduction(
    study: ReaderStudy, level: float = 0.95, bootstrap: int = 1000, seed: int = 1
) -> Estimate | Absent:
    """How much lower the share of wrong decisions is with the model than without it.

    Returns
    -------
    Estimate or Absent
        The error rate without the model less that with it, Wald's interval. Absent when either kind of decision is
        missing.
    """
    counts = cells(study)
    present(_empty_arm(counts))
    clustered = _clustered(study, _difference_of_rates, level, bootstrap, seed, "difference")
    aided, unaided = _rates(counts)
    se = math.sqrt(aided * (1 - aided) / (counts[0] + counts[1]) + unaided * (1 - unaided) / (counts[2] + counts[3]))
    return _wald(study, unaided - aided, se, level, "difference", clustered)


@of_study()
def number_needed_to_decide(
    study: ReaderStudy, level: float = 0.95, bootstrap: int = 1000, seed: int = 1
) -> Estimate | Absent:
    """How many decisions with the model it takes to be spared one error.

    A negative number counts the decisions that cost one error more.

    Returns
    -------
    Estimate or Absent
        1/ARR with the inverted Wald interval. Absent when the error rates are equal or a kind of decision is missing.

    Notes
    -----
    Where the interval of the ARR holds 0, that of its inverse runs through infinity: then the bounds are missing with a
    sentence, and `details` holds `benefit_bound` (at best one error spared in so many decisions) and `harm_bound` (at
    worst one more in so many), each likewise with `_clustered`.
    """
    difference = present(absolute_risk_reduction(study, level, bootstrap, seed))
    if difference.value == 0:
        return Absent(Fact("error_rates_equal"))
    value = 1 / difference.value
    own = _inverted(difference.low, difference.high)
    by_clusters = _inverted(difference.details["low_clustered"], difference.details["high_clustered"])
    details = {**own, **{f"{name}_clustered": bound for name, bound in by_clusters.items()}}
    low, high = details.pop("low"), details.pop("high")
    reason = None
    if low is None:
        reason = intervals.NO_SPREAD if difference.low is None else SPANS_ZERO
    method = Method("inverse_of_risk_reduction", *difference.method)
    stated = None if low is None else level
    return Estimate(value, low, high, stated, difference.n, method, None, None, details, reason)


def _inverted(low: float | None, high: float | None) -> dict[str, float | None]:
    """The bounds of 1/x from those of x; where x may be 0, the finite ends on the side of benefit and of harm."""
    bounds: dict[str, float | None] = dict.fromkeys(("low", "high", "benefit_bound", "harm_bound"))
    if low is None or high is None:
        return bounds
    if low > 0 or high < 0:
        return {**bounds, "low": 1 / high, "high": 1 / low}
    return {**bounds, "benefit_bound": 1 / high if high > 0 else None, "harm_bound": -1 / low if low < 0 else None}


def _on_log_scale(
    study: ReaderStudy,
    statistic: Callable[[Cells], float],
    se: Callable[[Cells], float],
    name: str,
    level: float,
    bootstrap: int,
    seed: int,
) -> Estimate | Absent:
    counts = cells(study)
    if reason := _empty_arm(counts):
        return reason
    value = statistic(counts)
    spread = se(_corrected(counts))
    method = Method(name, "haldane") if 0 in counts else Method(name)
    clustered = _clustered(study, statistic, level, bootstrap, seed, "ratio")
    return _found(study, value, intervals.on_log(value, spread, level), None, level, method, clustered)


def _katz(counts: Cells) -> float:
    aided_wrong, aided_right, unaided_wrong, unaided_right = counts
    aided, unaided = aided_wrong + aided_right, unaided_wrong + unaided_right
    return math.sqrt(1 / aided_wrong - 1 / aided + 1 / unaided_wrong - 1 / unaided)


def _woolf(counts: Cells) -> float:
    return math.sqrt(sum(1 / count for count in counts))


@of_study()
def relative_risk(study: ReaderStudy, level: float = 0.95, bootstrap: int = 1000, seed: int = 1) -> Estimate | Absent:
    """The share of wrong decisions with the model, as a multiple of that without it; below 1 favours the model.

    Returns
    -------
    Estimate or Absent
        The ratio with Katz's interval on the log scale; with an empty cell 0.5 is added to every count (Haldane), and
        the method says so. Absent when either kind of decision is missing.

    Notes
    -----
    `details` as for `error_rate_aided`.
    """
    return _on_log_scale(study, _ratio_of_rates, _katz, "katz", level, bootstrap, seed)


@of_study()
def relative_risk_reduction(
    study: ReaderStudy, level: float = 0.95, bootstrap: int = 1000, seed: int = 1
) -> Estimate | Absent:
    """The share of the wrong decisions that the model spares its readers; below 0 it adds to them.

    Returns
    -------
    Estimate or Absent
        1 less the relative risk, with its interval turned round. Absent when either kind of decision is missing.
    """
    found = present(relative_risk(study, level, bootstrap, seed))

    def turned(bound: float | None) -> float | None:
        return None if bound is None else 1 - bound

    details = {
        "low_clustered": turned(found.details["high_clustered"]),
        "high_clustered": turned(found.details["low_clustered"]),
    }
    return replace(found, value=1 - found.value, low=turned(found.high), high=turned(found.low), details=details)


@of_study()
def odds_ratio(study: ReaderStudy, level: float = 0.95, bootstrap: int = 1000, seed: int = 1) -> Estimate | Absent:
    """The odds of a wrong decision with the model, as a multiple of those without it; below 1 favours the model.

    Returns
    -------
    Estimate or Absent
        (AIE/AIN)(CN/CE) with Woolf's interval on the log scale; with an empty cell 0.5 is added to every count
        (Haldane), and the method says so. Absent when either kind of decision is missing.
    """
    return _on_log_scale(study, _ratio_of_odds, _woolf, "woolf", level, bootstrap, seed)


# ---- reader by reader -----------------------------------------------------------------------------------------------


def _by_reader(study: ReaderStudy, decisions: Floats) -> Floats:
    """The accuracy of each reader, NaN for one who made no such decision."""
    made = ~np.isnan(decisions)
    size = int(study.reader.max()) + 1
    right = np.bincount(study.reader[made], weights=decisions[made] == study.truth[made], minlength=size)
    count = np.bincount(study.reader[made], minlength=size)
    return np.where(count > 0, right / np.maximum(count, 1), np.nan)


def benefits(study: ReaderStudy) -> Floats:
    """Each reader's accuracy with the model less that without it; NaN for one who decided only one way."""
    return _by_reader(study, study.aided) - _by_reader(study, study.unaided)


by_group = partial(of_study, at=("group",))
"""A share of the decisions of a group of readers."""


@by_group()
def decision_benefit(study: ReaderStudy, group: str = "", level: float = 0.95) -> Estimate | Absent:
    """How much more accurate a reader is with the model than without it, on average over the readers.

    Returns
    -------
    Estimate or Absent
        The mean over readers of aided less unaided accuracy with the t interval over readers; `n` is the number of
        readers; `details`: `unaided` and `aided`, the means of those accuracies. Absent without the decisions of each
        reader, or when no reader (of the group) decided both ways; one reader, or readers who all gain the same, have
        no interval.
    """
    if len(study.reader) == 0:
        return NO_ROWS_OF_READERS
    gains = benefits(study)
    member = ~np.isnan(gains)
    if group:
        member &= np.array([own == group for own in study.group] or [False] * len(gains))
    gains = gains[member]
    if len(gains) == 0:
        of_group = Fact("no_reader_of_group_decided_both_ways", group=group)
        return Absent(of_group if group else Fact("no_reader_decided_both_ways"))
    details: dict[str, float | None] = {
        "unaided": float(_by_reader(study, study.unaided)[member].mean()),
        "aided": float(_by_reader(study, study.aided)[member].mean()),
    }
    value, n = float(gains.mean()), len(gains)
    if n < 2 or float(np.ptp(gains)) < 1e-12:
        why = Fact("one_reader", readers=Count(1, "reader")) if n < 2 else Fact("all_readers_gain_the_same")
        return Estimate(value, None, None, None, n, Method("t_over_readers"), None, None, details, why)
    se = float(np.std(gains, ddof=1)) / math.sqrt(n)
    half = intervals.two_sided_student(level, n - 1) * se
    bounds = max(-1.0, value - half), min(1.0, value + half)
    return Estimate(value, *bounds, level, n, Method("t_over_readers"), None, se, details)


def _listed(study: ReaderStudy) -> Absent | None:
    if len(study.reader) == 0:
        return NO_ROWS_OF_READERS
    if int(study.reader.max()) >= MOST_LISTED:
        return Absent(Fact("too_many_readers", most=Count(MOST_LISTED, "reader", is_limit=True)))
    return None


def _reader_by_reader(study: ReaderStudy, n: int, values: Mapping[str, Floats]) -> Curve:
    """A row a reader: the number from 1, these values, and the group by its number in the alphabetical order."""
    columns = {
        "reader": intervals.column(np.arange(1.0, int(study.reader.max()) + 2)),
        **{name: tuple(None if math.isnan(each) else each for each in own.tolist()) for name, own in values.items()},
    }
    order = {name: float(number) for number, name in enumerate(sorted(set(study.group)))}
    groups = {"group": tuple(order[name] for name in study.group)} if order else {}
    return Curve({**columns, **groups}, n, Method("counted_by_reader"))


def _paired(study: ReaderStudy) -> ReaderStudy | Absent:
    """A study in which readers decided before and after they saw the model."""
    return study if study.design == "paired" else Absent(Fact("parallel_study"))


def _advised(study: ReaderStudy) -> Floats | Absent:
    """What the model advised in each decision of a paired study."""
    return Absent(Fact("no_advice_known")) if study.advice is None else study.advice


@curve(roles=())
def decision_benefit_by_reader(study: ReaderStudy) -> Curve | Absent:
    """The accuracy of each reader without and with the model, and the difference.

    Returns `reader` (numbered from 1), `unaided`, `aided`, `benefit` (missing where a reader decided one way only), and
    `group` (numbered from 0 in alphabetical order) where groups are given. Absent without the decisions of each reader,
    or with more than 250 readers.
    """
    present(_listed(study))
    unaided, aided = _by_reader(study, study.unaided), _by_reader(study, study.aided)
    values = {"unaided": unaided, "aided": aided, "benefit": aided - unaided}
    return _reader_by_reader(study, int(sum(cells(study))), values)


@curve(roles=())
def changed_decisions(study: ReaderStudy) -> Curve | Absent:
    """What became of each reader's decisions once the model was seen.

    Returns counts for each `reader` (numbered from 1): `confirmed` (right before and after), `corrected` (wrong, then
    right), `misled` (right, then wrong), `unmoved` (wrong before and after); where the advice is known also, among the
    decisions that differed from it, `followed` and `resisted`; and `group` where groups are given. Absent in a parallel
    study, without the decisions of each reader, or with more than 250 readers.
    """
    present(_listed(study))
    present(_paired(study))
    before, after = study.unaided == study.truth, study.aided == study.truth
    kinds = {
        "confirmed": before & after,
        "corrected": ~before & after,
        "misled": before & ~after,
        "unmoved": ~before & ~after,
    }
    if study.advice is not None:
        differed = study.unaided != study.advice
        kinds["followed"] = differed & (study.aided == study.advice)
        kinds["resisted"] = differed & (study.aided != study.advice)
    counts = {name: np.bincount(study.reader, weights=kind).astype(float) for name, kind in kinds.items()}
    return _reader_by_reader(study, len(study.reader), counts)


# ---- automation bias: first against the advice ----------------------------------------------------------------------


@absent_with_its_parts
def _disagreed(study: ReaderStudy, advice_is_right: bool, group: str) -> ReaderStudy | Absent:
    """The decisions that first differed from the advice, as a study whose decisions without the model are all right.

    Of an outcome of two values these are the decisions that were right where the advice was wrong, or the other way
    round: who then followed wrong advice, or resisted right advice, decided wrongly with the model.
    """
    if len(study.reader) == 0:
        return NO_ROWS_OF_READERS
    advice = present(_advised(present(_paired(study))))
    decided = np.isfinite(study.unaided) & np.isfinite(study.aided)
    rows = decided & (study.unaided != advice) & ((advice == study.truth) == advice_is_right)
    if group:
        member = np.array([own == group for own in study.group], dtype=bool)
        rows &= member[study.reader] if study.group else False
    if not rows.any():
        return Absent(Fact("no_decision_against_advice", is_right=advice_is_right))
    truth, aided = study.truth[rows], study.aided[rows]
    wrong = int(np.sum(aided != truth))
    counts = DecisionCounts(wrong, len(aided) - wrong, 0, len(aided))
    return ReaderStudy("paired", counts, study.reader[rows], study.case[rows], truth, truth, aided)


def _wrong_in_the_end(found: ReaderStudy, level: float, bootstrap: int, seed: int) -> Estimate:
    """The share of these decisions that were wrong with the model, with the interval by clusters in its details."""
    wrong, n = found.counts.aided_wrong, found.counts.aided_wrong + found.counts.aided_right
    clustered = _clustered(found, lambda drawn: _rates(drawn)[0], level, bootstrap, seed, "rate")
    share = _found(found, wrong / n, intervals.wilson(wrong, n, level), None, level, Method("wilson"), clustered)
    return replace(share, n=n, details={"decisions": float(wrong), **share.details})


@by_group()
def wrong_advice_followed(
    study: ReaderStudy, group: str = "", level: float = 0.95, bootstrap: int = 1000, seed: int = 1
) -> Estimate | Absent:
    """How often readers gave up a right decision for wrong advice, where they had first decided against it.

    Returns
    -------
    Estimate or Absent
        The share, 0 to 1, with Wilson's interval, which takes decisions as independent; `n` is the number of decisions
        that first differed from wrong advice. `details`: `decisions`, those that followed it, and `low_clustered` and
        `high_clustered` as for `error_rate_aided`. Absent without the decisions of each reader, in a parallel study,
        where the advice is not known, and where no decision first differed from wrong advice.
    """
    return _wrong_in_the_end(present(_disagreed(study, False, group)), level, bootstrap, seed)


@by_group()
def right_advice_resisted(
    study: ReaderStudy, group: str = "", level: float = 0.95, bootstrap: int = 1000, seed: int = 1
) -> Estimate | Absent:
    """How often readers kept a wrong decision against right advice, where they had first decided against it.

    Returns
    -------
    Estimate or Absent
        As `wrong_advice_followed` has it, of the decisions that first differed from right advice; `decisions` are those
        that were kept.
    """
    return _wrong_in_the_end(present(_disagreed(study, True, group)), level, bootstrap, seed)


@curve(roles=())
def agreement_with_advice(study: ReaderStudy) -> Curve | Absent:
    """How often each reader decided as the model advises, before and after seeing it.

    Returns `reader` (numbered from 1), the shares `unaided` and `aided` of the reader's decisions that equal the
    advice, and `group` (numbered from 0 in alphabetical order) where groups are given. Absent in a parallel study,
    where the advice is not known, without the decisions of each reader, or with more than 250 readers.
    """
    present(_listed(study))
    advised = replace(study, truth=present(_advised(present(_paired(study)))))
    values = {"unaided": _by_reader(advised, study.unaided), "aided": _by_reader(advised, study.aided)}
    return _reader_by_reader(study, len(study.reader), values)
