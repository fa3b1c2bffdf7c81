"""The severity of errors: not every error is as grave as the next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dossier.core import facts, register
from dossier.core.types import Absent, Curve, Estimate, Floats
from dossier.metrics.intervals import estimate, standard_error, wilson

Integers = NDArray[np.int64]
Weights = Sequence[Sequence[float]]


@dataclass(frozen=True)
class WeightsByRow:
    """Several matrices of weights, and which of them each row has."""

    matrices: Sequence[Weights]
    of_row: Integers

    def of(self, predicted: Integers, classes: Integers) -> Floats:
        """How grave the answer of each row is."""
        return np.asarray(np.array(self.matrices, dtype=float)[self.of_row, predicted, classes])


ALL_ALIKE = facts.Fact("errors_equally_grave")
NO_ERRORS = facts.Fact("no_errors")
UNDEFINED = Absent(facts.Fact("no_errors_in_mean"))


def confusion(predicted: Integers, classes: Integers, k: int) -> Floats:
    """How often each class was predicted for each: rows are predicted, columns true.

    `predicted`, `classes` (n, 0 to k-1).
    """
    return np.bincount(predicted * k + classes, minlength=k * k).reshape(k, k).astype(float)


SeverityWeights = Weights | WeightsByRow
"""k x k, rows predicted and columns true; or several such matrices, and which of them each row has."""


def of_answers(weights: SeverityWeights, predicted: Integers, classes: Integers) -> Floats:
    """How grave each answer is: 0 where it is right."""
    if isinstance(weights, WeightsByRow):
        return weights.of(predicted, classes)
    return np.asarray(np.array(weights, dtype=float)[predicted, classes])


def of_cells(weights: SeverityWeights | None, predicted: Integers, classes: Integers, k: int) -> Weights | None:
    """How grave each kind of error is on average over its rows; one that no row has by the main weights."""
    if not isinstance(weights, WeightsByRow):
        return weights
    counts = confusion(predicted, classes, k)
    sums = np.bincount(predicted * k + classes, weights.of(predicted, classes), k * k).reshape(k, k)
    mean: list[list[float]] = np.where(counts > 0, sums / np.maximum(counts, 1), np.array(weights.matrices[0])).tolist()
    return mean


def cells(counts: Floats, severity_weights: Weights | None, method: facts.Method, events: int | None = None) -> Curve:
    """The cells of a confusion matrix one below the other, a predicted class after the other, from class 0.

    `counts` (k x k, rows predicted, columns true), `severity_weights` (k x k) or None when none are declared: then the
    column `severity` is left out.
    """
    k = len(counts)
    predicted, true = np.divmod(np.arange(k * k), k)
    columns = {"predicted": predicted, "true": true, "count": counts.ravel()}
    if severity_weights is not None:
        columns["severity"] = np.array(severity_weights, dtype=float).ravel()
    return Curve(
        {name: tuple(float(value) for value in column) for name, column in columns.items()},
        n=int(counts.sum()),
        method=method,
        events=events,
    )


@register.curve()
def confusion_matrix(
    outcome: Floats, risk: Floats, primary_threshold: float, severity_weights: SeverityWeights | None = None
) -> Curve | Absent:
    """How often each class was predicted for each true class, as counts of patients.

    `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `primary_threshold` (class 1 is predicted when risk >= threshold),
    `severity_weights` (2 x 2, 0 to 1; rows are predicted, columns true). Columns `predicted`, `true` (numbers of the
    classes, from 0), `count`, and `severity` where weights are declared, four rows. Absent without rows, without a
    declared threshold or when the weights do not fit.
    """
    if severity_weights is not None and (fault := weights_fault(severity_weights, 2)):
        return fault
    predicted, classes = _at(outcome, risk, primary_threshold)
    weights = of_cells(severity_weights, predicted, classes, 2)
    method = facts.Method(facts.Fact("counts_of_class_1", threshold=primary_threshold))
    return cells(confusion(predicted, classes, 2), weights, method, int(outcome.sum()))


def without_errors(found: Estimate | Absent) -> bool:
    """Whether this is the index of no errors at all, which is 0 by definition and measured nothing."""
    return isinstance(found, Estimate) and found.reason == NO_ERRORS


def of_errors(parts: Sequence[Estimate | Absent]) -> Sequence[Estimate | Absent]:
    """The answers of parts of which a mean is taken, absent where a part has no errors; 0 where no part has any.

    `parts` may be those of any measure: only the error severity index is 0 by definition.
    """
    without = [without_errors(estimate) for estimate in parts]
    return (
        parts if all(without) else [UNDEFINED if no else estimate for estimate, no in zip(parts, without, strict=True)]
    )


def weights_fault(weights: SeverityWeights, k: int) -> Absent | None:
    """Why these weights are none for k classes, if they are not."""
    if isinstance(weights, WeightsByRow):
        return next(filter(None, (weights_fault(matrix, k) for matrix in weights.matrices)), None)
    if len(weights) != k or any(len(row) != k for row in weights):
        return Absent(facts.Fact("severity_weights_no_table", classes=k))
    if any(weights[index][index] != 0 for index in range(k)):
        return Absent(facts.Fact("severity_of_right_answer"))
    if any(not 0 <= value <= 1 for row in weights for value in row):
        return Absent(facts.Fact("severity_outside_range"))
    return None


def index_of_classes(
    predicted: Integers, classes: Integers, weights: SeverityWeights, level: float = 0.95
) -> Estimate | Absent:
    """The error severity index of any number of classes, with its interval.

    `predicted`, `classes` (n, 0 to k-1), `weights` (k x k, rows predicted, columns true; or those of each row). The
    delta method of a ratio of means over the rows. Absent without rows.
    """
    grave = of_answers(weights, predicted, classes)
    wrong = (predicted != classes).astype(float)
    errors = float(wrong.sum())
    value = 10 * float(grave.sum()) / errors if errors else 0.0
    details: dict[str, float | None] = {
        "errors": errors,
        "accuracy": 1 - errors / len(classes),
        "mean_severity": float(grave.mean()),
    }
    method = facts.Method("ratio_of_means")
    if errors == 0:
        return Estimate(value, None, None, None, len(classes), method, None, None, details, NO_ERRORS)
    residual = 10 * grave - value * wrong
    root = math.sqrt(float((residual**2).sum())) / errors
    # Nothing varies but by rounding.
    se = root if root > 1e-12 else None
    found = estimate(value, se, level, classes.astype(float), method, floor=0, ceiling=10, details=details)
    return _without_events(found, weights)


def mean_of_classes(
    predicted: Integers, classes: Integers, weights: SeverityWeights, level: float = 0.95
) -> Estimate | Absent:
    """The mean severity of any number of classes, with its interval; arguments as for `index_of_classes`."""
    severity = of_answers(weights, predicted, classes)
    found = estimate(
        float(severity.mean()),
        standard_error(severity),
        level,
        classes.astype(float),
        facts.Method("delta_method"),
        floor=0,
        ceiling=1,
    )
    return _without_events(found, weights)


def _without_events(found: Estimate, weights: SeverityWeights) -> Estimate:
    """The estimate as it is for two classes; of more classes none is the event."""
    classes = len(weights.matrices[0]) if isinstance(weights, WeightsByRow) else len(weights)
    return found if classes == 2 else replace(found, events=None)


def _at(outcome: Floats, risk: Floats, threshold: float) -> tuple[Integers, Integers]:
    return (risk >= threshold).astype(np.int64), outcome.astype(np.int64)


severity_at = partial(
    register.metric, at=("threshold",), breaks=("one class is absent",), protection="counts", by_subgroup=True
)
"""How grave the errors at a threshold are."""


@severity_at()
def error_severity_index(
    outcome: Floats, risk: Floats, threshold: float, severity_weights: SeverityWeights, level: float = 0.95
) -> Estimate | Absent:
    """How grave the errors are on average, from 0 (harmless) to 10 (the gravest kind).

    It ignores how many errors there are: it is read with the mean severity and with accuracy, never alone.

    Returns
    -------
    Estimate or Absent
        10 sum(C W) / (errors). Absent without rows or without fitting weights.

    Notes
    -----
    With two classes the index is a share of the errors, those that are missed cases, on another scale: its interval is
    Wilson's of that share, which holds what it should where the delta method falls short. No errors give 0 without an
    interval, by definition; over splits, clusters and imputations that 0 enters no mean. `details`: `errors`,
    `accuracy`, `mean_severity`.
    """
    register.present(weights_fault(severity_weights, 2))
    predicted, classes = _at(outcome, risk, threshold)
    found = index_of_classes(predicted, classes, severity_weights, level)
    if isinstance(found, Absent) or found.reason == NO_ERRORS or isinstance(severity_weights, WeightsByRow):
        return found
    alarm, missed = 10 * severity_weights[1][0], 10 * severity_weights[0][1]
    if alarm == missed:
        return replace(found, low=None, high=None, level=None, se=None, reason=ALL_ALIKE)
    shares = wilson(float(np.sum(predicted < classes)), float(np.sum(predicted != classes)), level)
    low, high = sorted(alarm + share * (missed - alarm) for share in shares)
    method = facts.Method("wilson_of_missed_cases")
    return replace(
        found, low=min(low, found.value), high=max(high, found.value), level=level, method=method, reason=None
    )


of_rivals = partial(register.of_rivals, module=__name__, chapter="severity")
of_rivals("error_severity_index")


@severity_at()
def mean_severity(
    outcome: Floats, risk: Floats, threshold: float, severity_weights: SeverityWeights, level: float = 0.95
) -> Estimate | Absent:
    """How grave the answers are on average when a right one counts 0, from 0 to 1.

    Returns
    -------
    Estimate or Absent
        Sum(C W) / n with a normal interval over the rows, their variance with n - 1: unlike an interval within each
        class, it lets the prevalence vary. Absent without rows or fitting weights.
    """
    register.present(weights_fault(severity_weights, 2))
    return mean_of_classes(*_at(outcome, risk, threshold), severity_weights, level)


of_rivals("mean_severity")
