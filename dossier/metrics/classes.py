"""Outcomes of several classes: the measures that take all classes at once, and means over one class against the rest.

Everywhere `classes` are the numbers of the true classes (n, 0 to k-1), `class_risk` the risks of all classes (n, k;
used as they are given, rows summing to 1 within a millionth), `class_rival` those of the other model, `class_labels`
the names of the classes in order, and `severity_weights` how grave each error is (k x k, 0 to 1; rows are predicted,
columns true, 0 on the diagonal). The predicted class is the one with the largest risk; of ties the first, and they are
counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dossier.core.facts import Count, Fact, Method
from dossier.core.register import Band, Line, curve, curve_synthesis, metric, present
from dossier.core.types import Absent, Curve, Estimate, Floats, SiteResults, found_curve
from dossier.metrics import advice, comparison, discrimination, intervals, resampling, robustness, sample, severity
from dossier.metrics.graded_accuracy import POINTWISE, Survey, drawn_for, estimated_credit, weighted_credit

Integers = NDArray[np.int64]
OneAgainstRest = Callable[[Floats, Floats], Estimate | Absent]


# ---- what every measure starts from ---------------------------------------------------------------------------------


def predicted_class(class_risk: Floats) -> tuple[Integers, int]:
    """The class with the largest risk in each row, the first of ties, and the number of rows with ties."""
    largest = class_risk.max(axis=1, keepdims=True)
    ties = int(((class_risk == largest).sum(axis=1) > 1).sum())
    return class_risk.argmax(axis=1).astype(np.int64), ties


def happened(classes: Integers, k: int) -> Floats:
    """1 in the column of each row's class, 0 elsewhere: (n, k)."""
    return np.asarray(classes[:, None] == np.arange(k)[None, :], dtype=float)


def unseen(classes: Integers, k: int, class_labels: Sequence[str] = ()) -> Absent | None:
    """Why the classes cannot be compared, if one of them has no rows."""
    missing = [index for index in range(k) if not (classes == index).any()]
    if not missing:
        return None
    names = [class_labels[position] if class_labels else str(position) for position in missing]
    return Absent(Fact("no_row_of_class", labels=tuple(names)))


def _without_events(found: Estimate) -> Estimate:
    """The estimate without events: of several classes none is the event."""
    return replace(found, events=None)


def _mean_of_rows(contributions: Floats, level: float, floor: float = -math.inf, ceiling: float = math.inf) -> Estimate:
    """The mean over the rows with its t interval."""
    return _without_events(
        intervals.mean_by_student(contributions, np.zeros(len(contributions)), level, floor, ceiling)
    )


# ---- the mean over one class against the rest -----------------------------------------------------------------------


def mean_of_bounds(of_each: Sequence[Estimate], level: float, n: int) -> Estimate:
    """The mean over the classes with the mean of their bounds.

    `of_each` is one estimate a class. The classes share their rows, and the standard error of a mean is at most the
    mean of the standard errors, whatever is shared: the interval is at least as wide as it needs to be. It serves
    measures whose own intervals come from the bootstrap, because their value may lie on the edge of the range, and
    those that call for caution. A bound that a class lacks is missing.
    """
    value = math.fsum(estimate.value for estimate in of_each) / len(of_each)
    lows, highs = [estimate.low for estimate in of_each], [estimate.high for estimate in of_each]
    low, high = _mean_or_none(lows), _mean_or_none(highs)
    reason = Fact("interval_of_a_class_missing") if low is None or high is None else None
    return Estimate(value, low, high, level if low is not None else None, n, Method("mean_of_bounds"), reason=reason)


def _mean_or_none(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(values) if len(known) == len(values) else None


SHARED_REPLICATES = 200
"""Replicates for a standard error: it is then known to 5 %, and the measures are many."""


def mean_over_rows(
    classes: Integers,
    class_risk: Floats,
    measure: OneAgainstRest,
    of_each: Sequence[Estimate],
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate:
    """The mean over the classes of a measure taken one class against the rest, with an interval by the bootstrap.

    `measure` takes the outcome of one class (n, 0 or 1) and its risk (n); `of_each` is what it gave on all rows. The
    classes share their rows, so each replicate draws rows once for all classes; the standard error of the mean comes
    from at most 200 replicates, the interval is normal. The rows are drawn from an order of their own, so that the
    order of the file does not matter. A replicate in which a class allows no value is left out; without a tenth of
    them, or when nothing varies, the bounds are missing.
    """
    k, n = class_risk.shape[1], len(classes)
    order = np.lexsort((*class_risk.T, classes))
    y, p = happened(classes[order], k), class_risk[order]
    rng = np.random.default_rng(seed)
    wanted = min(bootstrap, SHARED_REPLICATES)
    replicates = []
    for _ in range(wanted):
        rows = rng.integers(0, n, n)
        found = [measure(y[rows, index], p[rows, index]) for index in range(k)]
        values = [estimate.value for estimate in found if isinstance(estimate, Estimate)]
        if len(values) == k:
            replicates.append(math.fsum(values) / k)
    value = math.fsum(estimate.value for estimate in of_each) / k
    method = Method("mean_over_classes", Fact("shared_replicates", replicates=len(replicates)))
    if len(replicates) < 2 or len(replicates) < resampling.FEWEST * wanted:
        reason = Fact("too_few_replicates_of_classes", replicates=Count(len(replicates), "replicate", wanted))
        return Estimate(value, None, None, None, n, method, reason=reason)
    se = float(np.std(replicates, ddof=1))
    if se <= 1e-15 * max(1.0, abs(value)):
        return Estimate(value, None, None, None, n, method, reason=intervals.NO_SPREAD)
    half = intervals.two_sided(level) * se
    return Estimate(value, value - half, value + half, level, n, method, se=se)


def structural_components(classes: Integers, class_risk: Floats) -> tuple[Floats, Floats | None]:
    """Each class's AUROC against the rest (k), and what each row contributes to its error (n, k).

    The squares of a column add up to DeLong's variance of that class, and the products of two columns to the covariance
    of the two. None with a class of a single row or all rows but one, for which DeLong's variance does not exist.
    """
    k = class_risk.shape[1]
    values, parts, single = np.empty(k), np.zeros((len(classes), k)), False
    for index in range(k):
        outcome = (classes == index).astype(float)
        above, below = discrimination.placements(outcome, class_risk[:, index])
        values[index] = float(above.mean())
        for member, share in ((outcome == 1, above), (outcome == 0, below)):
            m = len(share)
            if m == 1:
                single = True
            else:
                parts[member, index] = (share - share.mean()) / math.sqrt(m * (m - 1))
    return values, None if single else parts


SINGLE_ROW = Fact("class_of_single_row_no_delong", rows=Count(1, "row"))


@metric(roles=("development", "internal", "external"), pool="logit", fixed={"class": "macro"}, protection="ranks")
def auroc(
    classes: Integers, class_risk: Floats, class_labels: Sequence[str] = (), level: float = 0.95
) -> Estimate | Absent:
    """The probability that a patient of a class has a higher risk of it than one of another class, on average over the
    classes.

    Each class counts alike, the rare ones as much as the common. .5 is chance and 1 is perfect order.

    Returns the unweighted mean of the k AUROCs of one class against the rest, with DeLong's standard error carried over
    the classes: the sum over rows of the squared mean of their structural components, so that rows shared by the
    classes are counted once. Interval on the logit scale. Absent without rows or when a class has none; the bounds are
    missing when a class has a single row, and where the standard error is 0, as at a mean of exactly 0 or 1, or when
    every row has the same risks. Source: DeLong 1988.
    """
    k = class_risk.shape[1]
    present(unseen(classes, k, class_labels))
    values, parts = structural_components(classes, class_risk)
    value, method, n = (
        float(values.mean()),
        Method("delong_over_classes", Fact("on_scale", scale="logit")),
        len(classes),
    )
    if parts is None:
        return Estimate(value, None, None, None, n, method, reason=SINGLE_ROW)
    se = math.sqrt(float((parts.mean(axis=1) ** 2).sum()))
    if se == 0:
        return Estimate(value, None, None, None, n, method, reason=intervals.NO_SPREAD)
    low, high = intervals.on_logit(value, se, level)
    return Estimate(value, low, high, level, n, method, se=se)


# ---- calibration ----------------------------------------------------------------------------------------------------


def squared_distances(classes: Integers, class_risk: Floats) -> Floats:
    """The squared distances between the risks of a row and what happened, summed over the classes: (n)."""
    return np.asarray(((class_risk - happened(classes, class_risk.shape[1])) ** 2).sum(axis=1))


def own_risk(classes: Integers, class_risk: Floats) -> Floats:
    """The risk that each row's own class was given: (n)."""
    return np.asarray(class_risk[np.arange(len(classes)), classes])


@metric()
def brier(classes: Integers, class_risk: Floats, level: float = 0.95) -> Estimate | Absent:
    """The squared distance between the risks of all classes and what happened, summed over the classes and averaged.

    0 is perfect and 2 is the certainty of a wrong class. With two classes it would be twice the usual Brier score.

    Returns the mean over rows of sum_k (y_k - p_k)^2 with the t interval. Absent without rows; the bounds are missing
    when the distances do not vary. Source: Brier 1950.
    """
    return _mean_of_rows(squared_distances(classes, class_risk), level, 0, 2)


@metric()
def log_score(classes: Integers, class_risk: Floats, level: float = 0.95) -> Estimate | Absent:
    """How well the risk of the class that was found foretold it, with the heaviest penalty on confident mistakes.

    0 is perfect, more negative is worse; the unit is the nat.

    Returns the mean of the log of the true class's risk with the t interval. Absent without rows, or when it is minus
    infinity: a true class with a risk of 0. Source: Good 1952.
    """
    own = own_risk(classes, class_risk)
    impossible = int((own == 0).sum())
    if impossible:
        return Absent(Fact("log_score_of_classes_infinite", impossible=Count(impossible, "row")))
    return _mean_of_rows(np.log(np.minimum(own, 1.0)), level, ceiling=0)


# ---- the predicted class --------------------------------------------------------------------------------------------


@metric(scale="wilson")
def accuracy(classes: Integers, class_risk: Floats, level: float = 0.95) -> Estimate | Absent:
    """The share of patients whose class is the one with the largest risk.

    Naming the most common class for everyone is highly accurate where it prevails: compare with its share.

    Returns the share with Wilson's interval. Details: `ties`, the rows with several largest risks (the first counts),
    and `largest_class`, the share of the most common class. Absent without rows. Source: Wilson 1927.
    """
    predicted, ties = predicted_class(class_risk)
    n, right = len(classes), int((predicted == classes).sum())
    low, high = intervals.wilson(right, n, level)
    common = float(np.bincount(classes).max()) / n
    method = Method("wilson", *_ties(ties))
    details: dict[str, float | None] = {"ties": ties, "largest_class": common}
    return Estimate(right / n, low, high, level, n, method, details=details)


def _ties(rows: int) -> Method:
    """The step that counts the rows with several largest risks; no step where there are none."""
    return Method(*([Fact("ties", rows=Count(rows, "row"))] if rows else []))


def shares_of(
    priority: str | Sequence[float], classes: Integers, k: int, survey: Survey | None = None, labels: Sequence[str] = ()
) -> Floats | Absent:
    """The priorities of k classes: from a source of `h_accuracy`, or shares divided by commas."""
    if priority == "equal":
        return np.full(k, 1 / k)
    if priority == "prevalence":
        return np.bincount(classes, minlength=k) / len(classes)
    if priority == "survey":
        if survey is None:
            return Absent(Fact("no_survey_of_priorities"))
        shares = {label: share for label, share, _, _ in survey}
        return np.array([shares[label] for label in labels]) / math.fsum(shares.values())
    given = [float(share) for share in (priority.split(",") if isinstance(priority, str) else priority)]
    # Thirds are written with six digits and must add up to 1 all the same.
    return np.array(given) / math.fsum(given)


@metric(at=("priority", "tau", "complexity"))
def h_accuracy(
    classes: Integers,
    class_risk: Floats,
    priority: str | Sequence[float],
    tau: float,
    complexity: str = "constant",
    class_labels: Sequence[str] = (),
    survey: Survey | None = None,
    level: float = 0.95,
) -> Estimate | Absent:
    """The share of right answers, weighted by which class matters and by how sure the model was when it was right.

    With equal priorities and tau at 1/k it is the mean of the classes' shares of right answers. It does not rank models
    on its own: the value rests on the declared priority and tau.

    Arguments: `priority` ("equal", "prevalence", "survey", the classes' shares of the answers in `survey`, or one share
    a class), `tau` (the confidence that earns full credit, 1/k to 1), `complexity` ("constant": every case counts
    alike). Returns sum over classes l of p(l) (sum of sigma)/(rows of l), sigma = 0 when the own class has not the
    largest risk, (risk - 1/k)/(tau - 1/k) up to tau, and 1 above; ties for the largest share the credit. The interval
    takes Wilson's of each class's mean credit, with as many trials as its variance is worth, and puts them together
    (Zou and Donner), with the variance of an estimated priority, sum of p (credit - value)^2 over the rows or answers.
    Absent when a class has no row, at a tau below 1/k, and from a survey that is not declared; the bounds are missing
    when a class that counts has a single row. Source: Cabitza and Campagner; the interval Zou and Donner 2008.
    """
    k = class_risk.shape[1]
    present(unseen(classes, k, class_labels))
    if complexity != "constant":
        return Absent(Fact("complexity_not_available", source=complexity))
    shares = present(shares_of(priority, classes, k, survey, class_labels))
    drawn = drawn_for(priority, classes, survey)
    found = present(weighted_credit(classes, class_risk, shares, tau, None, level, drawn))
    return _without_events(estimated_credit(found, np.zeros(len(classes)), level))


@curve(band=Band("tau", (Line("h_accuracy"),)))
def h_accuracy_profile(
    classes: Integers, class_risk: Floats, class_labels: Sequence[str] = (), level: float = 0.95
) -> Curve | Absent:
    """The H-accuracy with all classes alike, as the confidence that earns full credit rises from 1/k to one.

    Arguments: as for `h_accuracy`. Returns 51 values of `tau` with `h_accuracy` at equal priorities, and its pointwise
    band `low` and `high` (missing where it cannot be estimated). Absent when a class has no row.
    """
    k = class_risk.shape[1]
    taus = np.linspace(1 / k, 1, 51)
    each = (
        h_accuracy(classes, class_risk, "equal", tau, class_labels=class_labels, level=level) for tau in taus.tolist()
    )
    found = [present(estimate) for estimate in each]
    columns = {"tau": intervals.column(taus), **intervals.banded("h_accuracy", found)}
    return Curve(columns, len(classes), POINTWISE)


# ---- advice ---------------------------------------------------------------------------------------------------------


def _advice(classes: Integers, class_risk: Floats) -> tuple[Floats, Floats, int, int]:
    """How sure each advice is, whether it is right, the first bin that it can fall into, and the rows with ties."""
    predicted, ties = predicted_class(class_risk)
    first = int(advice.bins_of(np.array([1 / class_risk.shape[1]]))[0])
    sure = np.asarray(class_risk.max(axis=1))
    # Risks add up to 1 within a millionth: the largest may lie so little below an even share.
    return np.maximum(sure, 1 / class_risk.shape[1]), (predicted == classes).astype(float), first, ties


@curve(bins=True)
def advice_value(classes: Integers, class_risk: Floats) -> Curve | Absent:
    """What an advice is worth by how sure it is: its confidence, less what calibration takes off.

    The advice is the class with the largest risk, its confidence that risk; the bins and columns are those of the curve
    for two classes, from the bin on that holds an even share of 1/k. Absent without rows. Source: Campagner 2023.
    """
    sure, right, first, ties = _advice(classes, class_risk)
    return Curve(advice.columns_of_advice(sure, right, first), len(classes), advice.METHOD_OF_BINS + _ties(ties))


@metric(at=("calibration",), clustered="value only")
def advisor_value(
    classes: Integers,
    class_risk: Floats,
    calibration: str = "ece",
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """How sure the model's advice is on average, once overconfidence and underconfidence are taken off.

    The advice is the class with the largest risk. 1 is always sure and always right; an advice of even odds among k
    classes is worth at most 1/k.

    Arguments: `calibration` ("ece" or "eci"). Returns the mean over the rows of confidence x local calibration of its
    bin, as for two classes, with the largest risk as the confidence and right where it is that of the row's class;
    bounds by inverting tests. Absent without rows or for another calibration; the bounds are missing for a single row.
    Source: Campagner 2023; the interval Chuang and Lai 2000.
    """
    if calibration not in advice.CALIBRATIONS:
        return Absent(Fact("no_local_calibration", name=calibration))
    sure, right, first, ties = _advice(classes, class_risk)
    order = np.lexsort((right, sure))
    found = advice.value_of_advice(sure[order], right[order], first, calibration, level, bootstrap, seed)
    return replace(found, method=found.method + _ties(ties))


# ---- severity -------------------------------------------------------------------------------------------------------


@curve()
def confusion_matrix(
    classes: Integers, class_risk: Floats, severity_weights: severity.SeverityWeights | None = None
) -> Curve | Absent:
    """How often each class was predicted for each true class, as counts of patients.

    Columns `predicted`, `true` (numbers of the classes, from 0), `count`, `share_of_true` (of the rows of the true
    class; missing where it has none), and `severity` where weights are declared; k x k rows. Ties for the largest risk
    go to the first class; the method counts them. Absent without rows or when the weights do not fit.
    """
    k = class_risk.shape[1]
    if severity_weights is not None and (fault := severity.weights_fault(severity_weights, k)):
        return fault
    predicted, ties = predicted_class(class_risk)
    method = Method("counts", *_ties(ties))
    weights = severity.of_cells(severity_weights, predicted, classes, k)
    return _with_shares(severity.cells(severity.confusion(predicted, classes, k), weights, method))


def _with_shares(counted: Curve) -> Curve:
    """The cells with the share of each among the rows of its true class."""
    k = math.isqrt(len(counted.columns["count"]))
    counts = np.array(counted.columns["count"], dtype=float).reshape(k, k)
    total = counts.sum(axis=0)
    shares = tuple(None if total[j] == 0 else float(counts[i, j] / total[j]) for i in range(k) for j in range(k))
    return replace(counted, columns={**counted.columns, "share_of_true": shares})


@curve_synthesis(of_classes=True, chapter="severity")
def confusion_matrix_all_sites(sites: Sequence[SiteResults]) -> Curve | Absent:
    """How often each class was predicted for each true class, at all external sites together.

    The cells of `confusion_matrix` added up over `sites`. Absent when no site has them.
    """
    counted = [found for site in sites if isinstance(found := found_curve(site, "confusion_matrix"), Curve)]
    if not counted:
        return Absent(Fact("no_site_with_confusion_matrix"))
    total = np.array([curve.columns["count"] for curve in counted], dtype=float).sum(axis=0)
    columns = {**counted[0].columns, "count": intervals.column(total)}
    method = Method(Fact("counts_of_sites", sites=len(counted), of=len(sites)))
    return _with_shares(Curve(columns, sum(curve.n for curve in counted), method))


def _severity(
    which: Callable[[Integers, Integers, severity.SeverityWeights, float], Estimate | Absent],
    classes: Integers,
    scores: Floats,
    weights: severity.SeverityWeights,
    level: float,
) -> Estimate | Absent:
    """A measure of severity for k classes; weights for another number of classes are refused."""
    if fault := severity.weights_fault(weights, scores.shape[1]):
        return fault
    return which(predicted_class(scores)[0], classes, weights, level)


severity_of = partial(metric, chapter="severity", by_subgroup=True)
"""How grave the errors of a model are."""


@severity_of()
def error_severity_index(
    classes: Integers, class_risk: Floats, severity_weights: severity.SeverityWeights, level: float = 0.95
) -> Estimate | Absent:
    """How grave the errors are on average, from 0 (harmless) to 10 (the gravest kind).

    It ignores how many errors there are: it is read with the mean severity and with accuracy, never alone.

    Returns 10 sum(C W)/(errors) with the delta method of a ratio of means. No errors give 0 without an interval, by
    definition. `details`: `errors`, `accuracy`, `mean_severity`. Absent without rows or without fitting weights.
    Source: Jin.
    """
    return _severity(severity.index_of_classes, classes, class_risk, severity_weights, level)


@severity_of()
def mean_severity(
    classes: Integers, class_risk: Floats, severity_weights: severity.SeverityWeights, level: float = 0.95
) -> Estimate | Absent:
    """How grave the answers are on average when a right one counts 0, from 0 to 1.

    Returns sum(C W)/n with a normal interval over the rows. Absent without rows or without fitting weights. Source:
    Jin.
    """
    return _severity(severity.mean_of_classes, classes, class_risk, severity_weights, level)


severity.of_rivals("error_severity_index", module=__name__, of_classes=True)
severity.of_rivals("mean_severity", module=__name__, of_classes=True)


# ---- comparison with the other model --------------------------------------------------------------------------------


to_rival = partial(comparison.to_rival, breaks=(), chapter="comparison")
"""A difference of a measure between both models, on the same rows."""


@to_rival(fixed={**comparison.AGAINST_RIVAL, "class": "macro"}, pool="plain")
def auroc_difference(
    classes: Integers, class_risk: Floats, class_rival: Floats, class_labels: Sequence[str] = (), level: float = 0.95
) -> Estimate | Absent:
    """By how much the mean AUROC of the model over the classes exceeds that of the other model on the same patients.

    Above 0 the model orders patients better than the other model.

    Returns the difference of the two means with the normal interval and two-sided `p_value` from the differences of the
    rows' structural components. Absent when a class has no row; interval and p-value are missing when a class has a
    single row, and where the standard error is 0, as when both models order every pair alike. Source: DeLong 1988.
    """
    present(unseen(classes, class_risk.shape[1], class_labels))
    values, parts = structural_components(classes, class_risk)
    theirs, of_rival = structural_components(classes, class_rival)
    value = float((values - theirs).mean())
    apart = None if parts is None or of_rival is None else ((parts - of_rival).mean(axis=1) ** 2).sum()
    none = np.zeros(len(classes))
    return _without_events(comparison.by_delong(value, apart, none, level, "paired_delong_over_classes", SINGLE_ROW))


@to_rival(pool="plain", mean_over="rows")
def brier_difference(
    classes: Integers,
    class_risk: Floats,
    class_rival: Floats,
    level: float = 0.95,
    permutations: int = 999,
    seed: int = 1,
) -> Estimate | Absent:
    """By how much the Brier score of the model over all classes exceeds that of the other model on the same patients.

    Below 0 the model's risks lie nearer to what happened.

    Returns the mean difference of the rows' scores with the t interval and the two-sided `p_value` of the sign-flip
    test. Absent without rows. Source: Phipson 2010.
    """
    differences = squared_distances(classes, class_risk) - squared_distances(classes, class_rival)
    zeros = np.zeros(len(classes))
    return _without_events(comparison.paired(differences, zeros, level, permutations, seed, floor=-2, ceiling=2))


@to_rival()
def log_score_difference(
    classes: Integers,
    class_risk: Floats,
    class_rival: Floats,
    level: float = 0.95,
    permutations: int = 999,
    seed: int = 1,
) -> Estimate | Absent:
    """By how much the log score of the model exceeds that of the other model on the same patients.

    Above 0 the model's risks foretold better what was found.

    Arguments, interval and test: as for `brier_difference`, on the logs of the true class's risks in nats. Absent
    without rows, and when the log score of either is minus infinity.
    """
    present(comparison.of_one(log_score(classes, class_risk, level), log_score(classes, class_rival, level)))
    differences = np.log(own_risk(classes, class_risk)) - np.log(own_risk(classes, class_rival))
    return _without_events(comparison.paired(differences, np.zeros(len(classes)), level, permutations, seed))


@to_rival()
def accuracy_difference(
    classes: Integers, class_risk: Floats, class_rival: Floats, level: float = 0.95
) -> Estimate | Absent:
    """By how much the share of patients whose class the model names exceeds that of the other model.

    Above 0 the model is right more often. It does not say which kind of error it avoids.

    Returns (b - c)/n, b rows where the model alone is right and c where the other model alone is, with the interval of
    Agresti and Min and the two-sided `p_value` of the exact McNemar test. Absent without rows. Source: McNemar 1947.
    """
    right, rival_right = (predicted_class(given)[0] == classes for given in (class_risk, class_rival))
    return _without_events(comparison.mcnemar(right, rival_right, np.zeros(len(classes)), level))


@to_rival()
def mean_severity_difference(
    classes: Integers,
    class_risk: Floats,
    class_rival: Floats,
    severity_weights: severity.SeverityWeights,
    level: float = 0.95,
) -> Estimate | Absent:
    """By how much the answers of the model are graver on average than those of the other model.

    Below 0 the model's answers do less harm.

    Returns the mean difference of the rows with the t interval and its two-sided `p_value`. Absent without rows or
    without fitting weights. Source: Jin.
    """
    present(severity.weights_fault(severity_weights, class_risk.shape[1]))
    grave, theirs = (
        severity.of_answers(severity_weights, predicted_class(given)[0], classes) for given in (class_risk, class_rival)
    )
    found = _mean_of_rows(grave - theirs, level, -1, 1)
    freedom = len(classes) - 1
    p_value = None if found.se is None else 2 * intervals.beyond_student(abs(found.value) / found.se, freedom)
    return replace(found, method=Method(Fact("paired_t", df=freedom)), details={"p_value": p_value})


# ---- sample size and robustness -------------------------------------------------------------------------------------


@metric(roles=("external",), clustered="refused")
def mss_brier(classes: Integers, class_risk: Floats, brier_width: float = 0.05) -> Estimate | Absent:
    """How many patients are needed to know the Brier score over all classes to within the width asked for.

    Arguments: `brier_width` (the full width of the 95 % interval). (2 x 1.96 SD / width)^2 with SD (ddof 0) that of the
    rows' summed squared distances. Not rounded. Absent without rows or when the distances do not vary. No interval.
    Source: Bradley 2008.
    """
    needed = present(sample.for_mean(squared_distances(classes, class_risk), np.zeros(len(classes)), brier_width))
    return _without_events(needed)


@curve(roles=("internal",))
def split_performance(
    classes: Integers, class_risk: Floats, split: Integers | None = None, seed: int = 1
) -> Curve | Absent:
    """How much the performance varies between parts of the internal test.

    Arguments: `split` (the number of the refitted split of each row). Columns `split` and `auroc`, the mean over the
    classes, one row a split; without splits, one row for each of 100 seeded subsets of 20 % of the rows, which the
    method says. A value that a part does not allow is None. Absent without rows. Of more than 250 splits the first 250
    are shown; the minima of `wpr` are those of all.
    """
    rows, method = robustness.parts_of((*class_risk.T, classes), split, seed)
    found = [auroc(classes[part], class_risk[part]) for part in rows]
    values = tuple(estimate.value if isinstance(estimate, Estimate) else None for estimate in found)
    return Curve({"split": intervals.column(np.arange(1.0, len(rows) + 1)), "auroc": values}, len(classes), method)
