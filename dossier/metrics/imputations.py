"""Multiply imputed data: one estimate from those of the imputations, by Rubin's rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dossier.metrics.intervals import beyond_student, expit, two_sided, two_sided_student
from dossier.types import Absent, Curve, Estimate, Floats

Scale = str


def rubin(estimates: Sequence[Estimate], scale: Scale, level: float, test: bool = False) -> Estimate:
    """One estimate from those of at least two imputations, with what the imputing adds to its uncertainty.

    `scale` is where they are pooled: logit, log or plain. The value is the mean of the imputations, brought back; its
    variance is T = W + (1 + 1/M) B, W the mean of their variances and B the variance between them. The interval takes
    the t distribution with Rubin's degrees of freedom (M - 1)(1 + 1/r)^2, r = (1 + 1/M) B/W, or those of Barnard and
    Rubin where each imputation takes the t distribution (of n - 1, or `degrees_of_freedom` in the details). `test` adds
    the p-value of the t test of 0. Details: `imputations`, `fraction_missing` (r + 2/(df + 3))/(r + 1), and the means
    of the other details. Without a standard error in every imputation the value is the plain mean and the bounds are
    missing with the reason. Source: Rubin 1987; Barnard and Rubin 1999.
    """
    first = estimates[0]
    count = len(estimates)
    details = {**_means(estimates), "imputations": float(count)}
    details.pop("degrees_of_freedom", None)
    n = round(sum(one.n for one in estimates) / count)
    events = (
        None
        if any(one.events is None for one in estimates)
        else round(sum(one.events or 0 for one in estimates) / count)
    )
    errors = [_error(one, scale) for one in estimates]
    words = f"{first.method}; mean of {count} imputations"
    if any(error is None for error in errors):
        value = sum(one.value for one in estimates) / count
        reason = "not every imputation has a standard error, which Rubin's rules need"
        return Estimate(value, None, None, None, n, words, events, None, details, reason)
    values = np.array([_forward(one.value, scale) for one in estimates])
    within = float(np.mean([error**2 for error in errors if error is not None]))
    between = float(np.var(values, ddof=1)) * (1 + 1 / count)
    centre, spread = float(values.mean()), math.sqrt(within + between)
    known = [freedom for one in estimates if (freedom := _freedom(one)) is not None]
    complete = min(known) if len(known) == count else None
    freedom = degrees_of_freedom(within, between, count, complete)
    reach = two_sided_student(level, freedom)
    value = _back(centre, scale)
    ratio = between / within
    details["fraction_missing"] = (ratio + (0.0 if math.isinf(freedom) else 2 / (freedom + 3))) / (ratio + 1)
    if test:
        details["p_value"] = 2 * beyond_student(abs(centre) / spread, freedom)
    return Estimate(
        value=value,
        low=min(value, _back(centre - reach * spread, scale)),
        high=max(value, _back(centre + reach * spread, scale)),
        level=level,
        n=n,
        method=f"{first.method}; {count} imputations by Rubin's rules{'' if scale == 'plain' else f', {scale} scale'}",
        events=events,
        se=spread * _slope(value, scale),
        details=details,
    )


def degrees_of_freedom(within: float, between: float, count: int, complete: float | None) -> float:
    """Rubin's degrees of freedom, `between` with its factor 1 + 1/M; Barnard's where those of the data are known."""
    if between <= 1e-24 * within:
        return math.inf if complete is None else complete
    share = between / (within + between)
    large = (count - 1) / share**2
    if complete is None:
        return large
    observed = (complete + 1) / (complete + 3) * complete * (1 - share)
    return 1 / (1 / large + 1 / observed)


def _freedom(found: Estimate) -> float | None:
    """The degrees of freedom that the interval of one imputation has; None where it takes the normal distribution."""
    if found.method.startswith(("Student t", "paired t")):
        return found.n - 1.0
    return found.details.get("degrees_of_freedom")


def _means(estimates: Sequence[Estimate]) -> dict[str, float | None]:
    """The mean of each detail that every imputation has; p-values have none."""
    found: dict[str, float | None] = {}
    for name in estimates[0].details:
        values = [one.details.get(name) for one in estimates]
        known = [value for value in values if value is not None]
        if name != "p_value" and len(known) == len(estimates):
            found[name] = sum(known) / len(known)
    return found


def _error(found: Estimate, scale: Scale) -> float | None:
    """The standard error on the scale; of a share with Wilson's interval from the interval."""
    inside = {"logit": 0 < found.value < 1, "log": found.value > 0}.get(scale, True)
    if not inside:
        return None
    if found.se is not None and found.se > 0:
        return found.se / _slope(found.value, scale)
    if found.low is None or found.high is None or found.level is None or not found.method.startswith("Wilson"):
        return None
    if scale == "logit" and not 0 < found.low < found.high < 1:
        return None
    return (_forward(found.high, scale) - _forward(found.low, scale)) / (2 * two_sided(found.level))


def _forward(value: float, scale: Scale) -> float:
    if scale == "logit":
        return math.log(value / (1 - value))
    return math.log(value) if scale == "log" else value


def _back(value: float, scale: Scale) -> float:
    if scale == "logit":
        return expit(value)
    return math.exp(value) if scale == "log" else value


def _slope(value: float, scale: Scale) -> float:
    """The slope of the way back, by which a standard error comes to the plain scale."""
    if scale == "logit":
        return value * (1 - value)
    return value if scale == "log" else 1.0


def compared(found: Estimate, complete: Estimate | Absent | None) -> Estimate:
    """The estimate with what the rows say that nothing was imputed to."""
    if complete is None:
        return replace(found, method=f"{found.method}; without the rows before imputing, what it changed is not known")
    if isinstance(complete, Absent):
        return replace(found, method=f"{found.method}; none in the complete cases: {complete.reason}")
    details = {**found.details, "complete_cases": complete.value, "complete_cases_n": float(complete.n)}
    return replace(found, details=details)


def mean_curve(curves: Sequence[Curve], axis: str, reach: float, shares: Mapping[str, bool]) -> Curve | Absent:
    """The mean of the imputations' curves at the points of the first; bands widen by the variance between them.

    `axis` is the column that the points are read at; without one the curves must have equally many points. `reach`
    is how many standard errors the bands go to either side. The half widths of a band are the means of those of the
    imputations times sqrt(1 + (1 + 1/M) B/W), W and B the variances within and between the imputations at that point,
    and so is its standard error where a column gives it. `shares` says of a band, by what the names of its ends begin
    with, whether it is one of shares, which end at 0 and 1, or of a net benefit, which only ends at 1; where it does
    not say, those end at 0 and 1 that lie there in every imputation.
    """
    first, count = curves[0], len(curves)
    aligned: dict[str, Floats] = {}
    for name in first.columns:
        lines = [_at_points(one, first, axis, name) for one in curves]
        known = [line for line in lines if line is not None]
        if len(known) < count:
            return Absent("the imputations give curves with different points, of which no mean is taken")
        aligned[name] = np.array(known)
    columns = {name: lines[0] if name == axis else lines.mean(axis=0) for name, lines in aligned.items()}
    for prefix in [name[:-3] for name in columns if name.endswith("low") and f"{name[:-3]}high" in columns]:
        line = _line_of(columns, prefix)
        if line is not None:
            columns |= _widened(aligned, columns, line, prefix, reach, shares.get(prefix))
    method = f"{first.method}; mean of {count} imputations"
    return Curve({name: tuple(values.tolist()) for name, values in columns.items()}, first.n, method, first.events)


def _line_of(columns: dict[str, Floats], prefix: str) -> str | None:
    """The line inside a band: named as the band, or the column before it."""
    if prefix:
        return prefix[:-1] if prefix[:-1] in columns else None
    names = list(columns)
    return names[names.index("low") - 1] if names.index("low") > 1 else None


def _widened(
    aligned: dict[str, Floats], columns: dict[str, Floats], line: str, prefix: str, reach: float, share: bool | None
) -> dict[str, Floats]:
    """The ends of a band, and its standard error where there is one, with the variance between the imputations."""
    low, high = aligned[f"{prefix}low"], aligned[f"{prefix}high"]
    within = (((high - low) / (2 * reach)) ** 2).mean(axis=0)
    between = aligned[line].var(axis=0, ddof=1) * (1 + 1 / len(low))
    wider = np.sqrt(1 + np.divide(between, within, out=np.zeros_like(within), where=within > 0))
    below, above = (columns[line] - low.mean(axis=0)) * wider, (high.mean(axis=0) - columns[line]) * wider
    ends = columns[line] - below, columns[line] + above
    inside = bool(low.min() >= 0 and high.max() <= 1)
    if share or (share is None and inside):
        ends = np.maximum(ends[0], 0), np.minimum(ends[1], 1)
    elif share is False:
        ends = ends[0], np.minimum(ends[1], 1)
    found = {f"{prefix}low": ends[0], f"{prefix}high": ends[1]}
    error = f"{prefix}se"
    return found | {error: columns[error] * wider} if error in columns else found


def _at_points(part: Curve, whole: Curve, axis: str, name: str) -> Floats | None:
    values = part.columns.get(name)
    if values is None or None in values:
        return None
    if not axis or part.columns[axis] == whole.columns[axis]:
        return np.array(values, dtype=np.float64) if len(values) == len(whole.columns[name]) else None
    ours, theirs = (np.array(one.columns[axis], dtype=np.float64) for one in (whole, part))
    return np.interp(ours, theirs, np.array(values, dtype=np.float64))
