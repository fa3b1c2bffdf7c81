"""Multiply imputed data: one estimate from those of the imputations, by Rubin's rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dossier.core import facts, register
from dossier.core.types import Absent, Curve, Estimate, Floats, SumOfShares
from dossier.metrics import intervals
from dossier.metrics.discrimination import POINTS, along, risk_distribution
from dossier.metrics.intervals import Scale, back, column, forward, off_scale, stretch
from dossier.metrics.shares import interval_of, smallest


def rubin(estimates: Sequence[Estimate], scale: Scale, level: float, test: bool = False) -> Estimate:
    """One estimate from those of at least two imputations, with what the imputing adds to its uncertainty.

    `scale` is where they are pooled: logit, log or plain. The value is the mean of the imputations, brought back; its
    variance is T = W + (1 + 1/M) B, W the mean of their variances and B the variance between them. The interval takes
    the t distribution with Rubin's degrees of freedom (M - 1)(1 + 1/r)^2, r = (1 + 1/M) B/W, or those of Barnard and
    Rubin where each imputation takes the t distribution (of n - 1, or `df` in the details). `test` adds
    the p-value of the t test of 0. Details: `imputations`, `fraction_missing` (r + 2/(df + 3))/(r + 1), and the means
    of the other details. Where a value does not exist on the scale or an imputation has no standard error, the value is
    the plain mean, and the bounds lie as far from it as on average from the values of the imputations, times
    sqrt(T/W) with W from their widths; they are missing with the reason where an imputation has none. Estimates that
    are sums of shares pool those. Source: Rubin 1987; Barnard and Rubin 1999.
    """
    sums = [estimate.made_of for estimate in estimates if estimate.made_of is not None]
    if len(sums) == len(estimates):
        return _of_shares(estimates, sums, level)
    count = len(estimates)
    details, n, events, of_each = _means(estimates), *_size(estimates), _of_each(estimates)
    errors = [_error(estimate, scale) for estimate in estimates]
    mean = of_each + facts.Fact("mean_of_imputations", imputations=count)
    if any(error is None for error in errors):
        value = sum(estimate.value for estimate in estimates) / count
        highs = [
            estimate.high for estimate in estimates if estimate.value == estimate.low == 0 and estimate.high is not None
        ]
        if scale == "log" and len(highs) == count:
            # No event in any of them: what is imputed moves only the expected number, and the widest bound holds.
            return Estimate(0.0, 0.0, max(highs), level, n, mean, events, None, details)
        bare = Estimate(value, None, None, None, n, of_each, events, None, details)
        if (found := _by_bounds(estimates, bare, level)) is not None:
            return found
        reasons = (off_scale(estimate.value, scale) for estimate in estimates)
        reason = next(filter(None, reasons), facts.Fact("not_every_imputation_with_standard_error"))
        return Estimate(value, None, None, None, n, mean, events, None, details, reason)
    values = np.array([forward(estimate.value, scale) for estimate in estimates])
    within = float(np.mean([error**2 for error in errors if error is not None]))
    between = float(np.var(values, ddof=1)) * (1 + 1 / count)
    centre, spread = float(values.mean()), math.sqrt(within + between)
    known = [freedom for estimate in estimates if (freedom := estimate.method.df) is not None]
    complete = min(known) if len(known) == count else None
    freedom = degrees_of_freedom(within, between, count, complete)
    reach = intervals.two_sided_student(level, freedom)
    value = back(centre, scale)
    details["fraction_missing"] = _fraction_missing(between / within, freedom)
    if test:
        details["p_value"] = 2 * intervals.beyond_student(abs(centre) / spread, freedom)
    return Estimate(
        value=value,
        low=min(value, back(centre - reach * spread, scale)),
        high=max(value, back(centre + reach * spread, scale)),
        level=level,
        n=n,
        method=of_each + facts.Fact("rubin", imputations=count, test=test, scale=None if scale == "plain" else scale),
        events=events,
        se=spread * stretch(value, scale),
        details=details,
    )


def _by_bounds(estimates: Sequence[Estimate], bare: Estimate, level: float) -> Estimate | None:
    """The mean with the bounds that intervals without a standard error give; None where one has none, or no width."""
    sides = [(each.low, each.high) for each in estimates if each.low is not None and each.high is not None]
    count, values = len(estimates), np.array([estimate.value for estimate in estimates])
    if len(sides) < count:
        return None
    low, high = np.array(sides, dtype=np.float64).T
    known = [freedom for estimate in estimates if (freedom := estimate.method.df) is not None]
    complete = min(known) if len(known) == count else None
    reach = intervals.two_sided_student(level, math.inf if complete is None else complete)
    within = float(np.mean(((high - low) / (2 * reach)) ** 2))
    between = float(np.var(values, ddof=1)) * (1 + 1 / count)
    if within <= 0:
        return None
    freedom = degrees_of_freedom(within, between, count, complete)
    wider = math.sqrt(1 + between / within) * intervals.two_sided_student(level, freedom) / reach
    ends = bare.value - wider * float((values - low).mean()), bare.value + wider * float((high - values).mean())
    if sum(each.method.is_one_sided and each.low == 0 for each in estimates) >= count / 2:
        # A single imputation that refutes 0 by chance is no evidence: the median of them has to (Eekhout 2017).
        ends = (min(ends[0], 0.0), ends[1])
    method = bare.method.without("one_sided") + facts.Fact("rubin_of_bounds", imputations=count)
    if any(estimate.method.is_one_sided for estimate in estimates) and (ends[0] <= 0 or ends[1] >= 1):
        method += "one_sided"
    details = {**bare.details, "fraction_missing": _fraction_missing(between / within, freedom)}
    return replace(bare, low=ends[0], high=ends[1], level=level, method=method, details=details)


def _size(estimates: Sequence[Estimate]) -> tuple[int, int | None]:
    """The rows and the events of the mean imputation; None where events are not counted."""
    count = len(estimates)
    known = [estimate.events for estimate in estimates if estimate.events is not None]
    return round(sum(estimate.n for estimate in estimates) / count), round(sum(known) / count) if len(
        known
    ) == count else None


TESTS = ("p_by_sign_flips", "p_by_permutations", "p_by_mcnemar", "p_by_interval")
"""The steps that tell how the p-value of a single estimate was found."""


def _of_each(estimates: Sequence[Estimate]) -> facts.Method:
    """How each imputation was measured: the tests of each are not those of the pooled value."""
    return estimates[0].method.without(*TESTS)


def _of_shares(estimates: Sequence[Estimate], sums: Sequence[SumOfShares], level: float) -> Estimate:
    """The sum of the shares that Rubin's rules give: their means, and the covariance within and between imputations.

    The interval is that of the measure, with each share at the effective number of rows of its total variance. The
    degrees of freedom are Rubin's of the sum itself.
    """
    count = len(sums)
    shares = np.array([total.shares for total in sums])
    within = np.mean([total.covariance for total in sums], axis=0)
    between = np.cov(shares, rowvar=False, ddof=1) * (1 + 1 / count)
    pooled = replace(
        sums[0],
        shares=tuple(shares.mean(axis=0).tolist()),
        covariance=tuple(tuple(row) for row in (within + between).tolist()),
        rows=float(np.mean([total.rows for total in sums])),
        units=float(np.mean([total.units for total in sums])),
    )
    coefficients = np.array(pooled.coefficients[smallest(pooled)])
    parts = [float(np.sum(coefficients[:, None] * coefficients * part)) for part in (within, between)]
    complete = None if math.isinf(sums[0].freedom) else sums[0].freedom
    freedom = degrees_of_freedom(parts[0], parts[1], count, complete) if parts[0] > 0 else sums[0].freedom
    pooled = replace(pooled, freedom=freedom)
    reach = intervals.two_sided_student(level, freedom)
    value, low, high = interval_of(pooled, reach)
    details, (n, events) = _means(estimates), _size(estimates)
    if parts[0] > 0:
        details["fraction_missing"] = _fraction_missing(parts[1] / parts[0], freedom)
    return Estimate(
        value=value,
        low=low,
        high=high,
        level=level,
        n=n,
        method=_of_each(estimates) + facts.Fact("rubin", imputations=count, test=False, scale=None),
        events=events,
        se=(high - low) / (2 * reach),
        details=details,
        made_of=pooled,
    )


def _fraction_missing(ratio: float, freedom: float) -> float:
    """The share of the information that is missing (Rubin 1987), from the ratio of the variance between to within."""
    return (ratio + (0.0 if math.isinf(freedom) else 2 / (freedom + 3))) / (ratio + 1)


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


def _means(estimates: Sequence[Estimate]) -> dict[str, float | None]:
    """Their number, and the mean of each detail that all have; p-values and degrees of freedom have none."""
    found: dict[str, float | None] = {}
    for name in estimates[0].details:
        values = [estimate.details.get(name) for estimate in estimates]
        known = [value for value in values if value is not None]
        if name not in ("p_value", "df") and len(known) == len(estimates):
            found[name] = sum(known) / len(known)
    return {**found, "imputations": float(len(estimates))}


OF_WILSON = ("wilson", "wilson_in_each_class", "wilson_of_missed_cases", "wilson_carried_through")
"""The steps whose interval tells the standard error of a share."""


def _error(found: Estimate, scale: Scale) -> float | None:
    """The standard error on the scale; of a share with Wilson's interval from the interval."""
    if off_scale(found.value, scale) is not None:
        return None
    if found.se is not None and found.se > 0:
        return found.se / stretch(found.value, scale)
    if found.low is None or found.high is None or found.level is None or not found.method.has(*OF_WILSON):
        return None
    if scale == "logit" and not 0 < found.low < found.high < 1:
        return None
    return (forward(found.high, scale) - forward(found.low, scale)) / (2 * intervals.two_sided(found.level))


def compared(found: Estimate, complete: Estimate | Absent | None) -> Estimate:
    """The estimate with what the rows say that nothing was imputed to."""
    if complete is None:
        return replace(found, method=found.method + "complete_cases_unknown")
    if isinstance(complete, Absent):
        return replace(found, method=found.method + facts.Fact("none_in_complete_cases", why=complete.reason))
    details = {**found.details, "complete_cases": complete.value, "complete_cases_n": float(complete.n)}
    return replace(found, details=details)


# ---- curves ---------------------------------------------------------------------------------------------------------


@register.absent_with_its_parts
def mean_distribution(tables: Sequence[tuple[Floats, Floats, Floats | None]]) -> Curve | Absent:
    """The mean of the imputations' distributions of risk, all counted in the same bins.

    `tables` holds the outcome (n, 0 or 1), the risk (n, 0 to 1) and the sampling weights (n, 0 or more, or None where
    all count alike) of each imputation. The bins are those of all imputations as one table, as each alone may have its
    own. Counts are means of the imputations, shares those of the one table. Absent without rows.
    """
    count = len(tables)
    outcomes, risks = (np.concatenate([table[part] for table in tables]) for part in (0, 1))
    weights = [np.ones(len(risk)) if weight is None else weight for _, risk, weight in tables]
    unweighted = all(weight is None for *_, weight in tables)
    found = register.present(risk_distribution(outcomes, risks, None if unweighted else np.concatenate(weights)))
    columns = dict(found.columns)
    for name in ("events", "non_events"):
        columns[name] = column(np.array(columns[name], dtype=np.float64) / count)
    first = tables[0][0]
    return Curve(columns, len(first), _mean(found, count), int(first.sum()))


def _mean(curve: Curve, count: int) -> facts.Method:
    """How a curve was made that is the mean of those of so many imputations."""
    return curve.method + facts.Fact("mean_of_imputations", imputations=count)


def mean_roc(curves: Sequence[Curve]) -> Curve:
    """The mean of the imputations' ROC curves: at every false positive rate, of their true positive rates.

    A step stays a step: at each `fpr` of any imputation stand the means of the `tpr` before and after the steps there,
    so that its area is the mean of the areas. Above 250 points, so many evenly spaced along it stand for it, and the
    area stays within .001.
    """
    first = curves[0]
    lines = [[np.array(curve.columns[name], dtype=np.float64) for name in ("fpr", "tpr")] for curve in curves]
    rates = np.unique(np.concatenate([fpr for fpr, _ in lines]))
    steps = np.mean([_before_and_after(rates, fpr, tpr) for fpr, tpr in lines], axis=0)
    fpr, tpr = np.unique(np.column_stack([np.repeat(rates, 2), steps.ravel()]), axis=0).T
    if len(fpr) > POINTS:
        fpr, tpr = along(fpr, tpr, POINTS)
    return Curve({"fpr": column(fpr), "tpr": column(tpr)}, first.n, _mean(first, len(curves)), first.events)


def _before_and_after(rates: Floats, fpr: Floats, tpr: Floats) -> Floats:
    """The heights of a ROC curve at these rates, from the left and to the right; they differ at a step."""
    left, right = np.searchsorted(fpr, rates, side="left"), np.searchsorted(fpr, rates, side="right") - 1
    between = np.interp(rates, fpr, tpr)
    return np.column_stack([np.where(fpr[at] == rates, tpr[at], between) for at in (left, right)])


def mean_curve(curves: Sequence[Curve], axis: str, reach: float, shares: Mapping[str, bool]) -> Curve | Absent:
    """The mean of the imputations' curves; bands widen by the variance between them.

    `axis` is the column that the points are read at: those of the first within the range that all imputations share,
    and the ends of that range. Without one the curves must have equally many points, and those of bins the same bins.
    `reach` is how many standard errors the bands go to either side. The half widths of a band are the means of those of
    the imputations times sqrt(1 + (1 + 1/M) B/W), W and B the variances within and between the imputations at that
    point, and so is its standard error where a column gives it. `shares` says of a band, by what the names of its ends
    begin with, whether it is one of shares, which end at 0 and 1, or of a net benefit, which only ends at 1; where it
    does not say, those end at 0 and 1 that lie there in every imputation. Absent where the imputations share no range,
    or have other points or bins.
    """
    first, count = curves[0], len(curves)
    if next(iter(first.columns)) == "low" and len({curve.columns["low"] for curve in curves}) > 1:
        return Absent(facts.Fact("imputations_in_different_bins"))
    points = _shared_points(curves, axis) if axis else None
    if points is not None and not len(points):
        return Absent(facts.Fact("imputations_share_no_range"))
    aligned: dict[str, Floats] = {}
    for name in first.columns:
        lines = [_at_points(curve, first, points, axis, name) for curve in curves]
        known = [line for line in lines if line is not None]
        if len(known) < count:
            return Absent(facts.Fact("imputations_with_different_points"))
        aligned[name] = np.array(known)
    columns = {name: lines.mean(axis=0) for name, lines in aligned.items()}
    if points is not None:
        columns[axis] = points
    for prefix in [name[:-3] for name in columns if name.endswith("low") and f"{name[:-3]}high" in columns]:
        line = _line_of(columns, prefix)
        if line is not None:
            columns |= _widened(aligned, columns, line, prefix, reach, shares.get(prefix))
    found = {name: tuple(values.tolist()) for name, values in columns.items()}
    return Curve(found, first.n, _mean(first, count), first.events)


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


def _shared_points(curves: Sequence[Curve], axis: str) -> Floats:
    """The points of the first within the range that all curves share, and the ends of that range; none without one."""
    lines = [np.array(curve.columns[axis], dtype=np.float64) for curve in curves]
    low, high = max(line[0] for line in lines), min(line[-1] for line in lines)
    points = np.union1d(lines[0], [low, high])
    return np.asarray(points[(points >= low) & (points <= high)])


def _at_points(part: Curve, whole: Curve, points: Floats | None, axis: str, name: str) -> Floats | None:
    """A column of one imputation at these points, or at its own where there are as many as in the whole curve."""
    values = part.columns.get(name)
    if values is None or None in values:
        return None
    line = np.array(values, dtype=np.float64)
    if points is None:
        return line if len(line) == len(whole.columns[name]) else None
    return np.interp(points, np.array(part.columns[axis], dtype=np.float64), line)
