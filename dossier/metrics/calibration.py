"""Calibration: of a hundred people with a risk of 20 %, do twenty have the outcome?"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

from dossier.core import bands, register
from dossier.core.facts import Count, Fact, Method
from dossier.core.types import Absent, Curve, Estimate, Floats, Role, SiteResults, found_curve
from dossier.metrics import discrimination, intervals, inversion, leaving, logistic, resampling, time_to_event, weighted
from dossier.metrics.calibration_errors import errors_with_intervals
from dossier.metrics.censoring import TimeToEvent, fifths
from dossier.metrics.once import once
from dossier.metrics.pooled import random_effects
from dossier.metrics.shares import NO_WEIGHT, Design, Sampled
from dossier.metrics.smooth_curve import design_of, smooth_curve

EVERYWHERE: tuple[Role, ...] = ("development", "internal", "external")
in_files = partial(register.metric, against_rest="by class")
"""A measure beside those that the pages hold."""


# ---- calibration in the large, intercept and slope ------------------------------------------------------------------


@register.metric(
    roles=EVERYWHERE,
    pool="log",
    breaks=("one class is absent",),
    against_rest="by class",
    followed=weighted.oe_ratio,
    protection="ratio",
)
def oe_ratio(outcome: Floats, risk: Floats, level: float = 0.95, design: Sampled = None) -> Estimate | Absent:
    """How many people had the outcome for each one that the model expected.

    1 is right on average; above 1 the model expected too few, below 1 too many.

    Returns
    -------
    Estimate or Absent
        r = sum(y)/sum(p) with an interval symmetric on the log scale, SE(log) = sd(y - r p)/(sqrt(n) mean y), sd with n
        - 1: the expected number goes up and down with the events in the sample, and is taken as random. Absent without
        rows, or when every risk is 0.

    Notes
    -----
    Rows in clusters or with weights have it by linearization over clusters and the t distribution. `se` is on the plain
    scale (value times SE(log)). Without an event the value is 0 and its upper bound n (1 - ((1-level)/2)^(1/n))/sum(p),
    that of an exact interval of the share; where every row is one, the lower bound puts together the exact one of the
    share, ((1-level)/2)^(1/n), and the formula, which then holds only the expected number. There n is the number of
    clusters, as if the rows of one were all alike. Details: `expected`, the sum of p (at mean weight 1), and
    `se_fixed`, sqrt((1 - phi)/(n phi)) on the log scale, which takes the expected number as known. Source: Debray 2017;
    the variance of a ratio of means Cochran 1977.
    """
    design = design or Design(len(outcome))
    if design.is_empty:
        return NO_WEIGHT
    phi, expected = design.mean(outcome), design.mean(risk)
    if not (risk if design.weights is None else risk[design.weights > 0]).any():
        return Absent(Fact("no_event_expected"))
    value = phi / expected if expected > 0 else math.inf
    if not math.isfinite(value):
        return Absent(Fact("too_few_events_expected"))
    # The standard error of log O/E that takes the expected number as known.
    se_fixed = math.sqrt((1 - phi) / (design.rows * phi)) if phi > 0 else None
    details = {"expected": expected * design.n, "se_fixed": se_fixed}
    way = "exact_without_event" if phi == 0 else "delta_log" if phi < 1 else "exact_with_events_alone"
    made = design.as_sampled(Method(way))
    bare = Estimate(value, None, None, None, design.n, made, int(outcome.sum()), None, details, design.obstacle())
    if bare.reason is not None:
        return bare
    one_sided = (1 - level) / 2
    if phi == 0:
        high = -math.expm1(math.log(one_sided) / design.effective_units) / expected
        return replace(bare, low=0.0, high=high, level=level)
    se, reach = design.standard_error(outcome - value * risk) / phi, intervals.two_sided_student(level, design.freedom)
    exact = -math.log(one_sided) / design.effective_units if phi == 1 else 0.0
    below, above = math.hypot(exact, reach * se), reach * se
    if below <= 1e-12:
        return replace(bare, reason=intervals.NO_SPREAD)
    low, high = value / intervals.back(below, "log"), min(value * intervals.back(above, "log"), sys.float_info.max)
    se, details = value * (below + above) / (2 * reach), {**details, **design.details}
    return replace(bare, low=low, high=high, level=level, se=se, details=details)


OBSERVED = weighted.Mean(lambda rows: rows.outcome)


@register.metric(roles=EVERYWHERE, scale="cloglog", weighted=OBSERVED)
def observed_risk(
    followed: TimeToEvent, risk: Floats, level: float = 0.95, design: Sampled = None
) -> Estimate | Absent:
    """The share of people who had the outcome by the horizon, counting that some were not followed so long.

    With competing events it is the risk of the outcome, counting that some die of other causes first.

    Returns
    -------
    Estimate or Absent
        1 - the Kaplan-Meier estimate, or with competing events the Aalen-Johansen estimate, in each fifth of the risk;
        `by="marginal"` takes that of all together. The interval is symmetric on the scale of log(-log(1 - f)). The
        details have `followed`, the share of follow-ups that would reach the horizon if no event ended them; where
        some left, the `groups` that the `fifths` were joined to, and the value with those `leaving_first` who left at
        the time of an event. Absent where nobody was followed to the horizon.
    """
    rows = weighted.Rows.followed(followed, risk)
    found = time_to_event.at_weights(OBSERVED, rows, level, "cloglog", (0.0, 1.0), design)
    if isinstance(found, Absent) or rows.censoring is None or not rows.censoring.free.any():
        return found
    free, details = rows.censoring.free, dict(found.details)
    details["followed"] = float(free.sum() / rows.weights[free].sum())
    if rows.censoring.left.any():
        groups = {"groups": rows.censoring.strata, "fifths": fifths(risk)} if followed.by == "fifths" else {}
        details |= {name: float(len(np.unique(each))) for name, each in groups.items()}
        other = OBSERVED(weighted.Rows.followed(followed.leaving_first, risk))
        details |= {} if isinstance(other, Absent) else {"leaving_first": other.value}
    return replace(found, details=details)


@dataclass(frozen=True)
class Fitted:
    """A model by columns and an offset, of the rows whose risk has a logit: one that is set for a risk of 0 or 1 would
    set the slope."""

    fit: logistic.LogisticFit
    rows: weighted.Rows
    columns: Floats
    offset: Floats
    kept: weighted.Bools

    @property
    def left_out(self) -> dict[str, float | None]:
        """How many rows it is not of, where there are any."""
        return {} if self.kept.all() else {"left_out": float((~self.kept).sum())}


FEWEST_FOR_SANDWICH = 100
"""From so many events and non-events on an error does not rest on the line being the true one."""


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of the logistic model that recalibrates the risks: of the line, or an intercept at a slope of 1."""

    which: int
    is_line: bool = True

    def fitted(self, every: weighted.Rows) -> Fitted | Absent:
        """The model, whose score equations hold each row at its weight (Binder 1983)."""
        kept = logistic.has_logit(every.risk)
        rows, without = every.at(kept), Count(int((~kept).sum()), "risk")
        if reason := register.one_class(rows.outcome) if every.alike else weighted.one_class(rows):
            if kept.all() or not every.alike:
                return reason
            return Absent(Fact("without_risks_of_zero_or_one", left_out=without, reason=reason.reason))
        log_odds, weights = every.link.forward(rows.risk), rows.weights / rows.weights.mean()
        columns, fit_of = (_line_design(log_odds), _line) if self.is_line else (np.ones((1, len(weights))), _intercept)
        fit = fit_of(log_odds, rows.outcome, weights, every.link)
        if fit == logistic.DEPENDENT and not every.alike:
            return Absent(Fact("weighted_risks_equal_no_slope"))
        if fit == logistic.DEPENDENT and float(np.ptp(log_odds)) == 0:
            return Absent(
                Fact("all_risks_equal_no_slope" if self.which else "all_risks_equal_no_slope_beside_intercept")
            )
        if isinstance(fit, Absent):
            return fit
        return Fitted(fit, replace(rows, weights=weights), columns, log_odds * (not self.is_line), kept)

    @register.absent_with_its_parts
    def __call__(self, rows: weighted.Rows) -> weighted.Found:
        """The coefficient, and what the rows contribute to it: those without a logit nothing."""
        found = register.present(self.fitted(rows))
        linear, towards = (
            logistic.combine(each, found.columns)[0]
            for each in (found.fit.coefficients[None, :], found.fit.covariance[[self.which]])
        )
        slope, _ = rows.link.tells(found.offset + linear, found.rows.outcome, np.ones(len(linear)))
        change = np.zeros(len(found.kept))
        change[found.kept] = slope * towards
        contributions = rows.contributions(change, float(rows.weights[found.kept].mean()))
        known = None if rows.censoring is None or not self.which else rows.censoring.of(found.kept)
        over = {} if known is None else leaving.over_follow_up(known, rows.link.forward(found.rows.risk))
        return weighted.Weighted(float(found.fit.coefficients[self.which]), contributions, found.left_out | over)

    @register.absent_with_its_parts
    def wald(self, outcome: Floats, risk: Floats, level: float) -> Estimate | Absent:
        """The coefficient of rows that count alike, with the interval of its standard error."""
        found = register.present(self.fitted(weighted.Rows.counted(outcome, risk)))
        fit, y = found.fit, found.rows.outcome
        enough = min(y.sum(), len(y) - y.sum()) >= FEWEST_FOR_SANDWICH
        covariance = logistic.sandwich(fit, found.columns, y, found.offset) if enough else fit.covariance
        se, of_model = (math.sqrt(float(each[self.which, self.which])) for each in (covariance, fit.covariance))
        method, details = (
            Method("wald_sandwich" if enough else "wald_of_model"),
            {"se_model": of_model, **found.left_out},
        )
        method = method if found.kept.all() else method + "without_certain_risks"
        return intervals.estimate(float(fit.coefficients[self.which]), se, level, y, method, details=details)


INTERCEPT, SLOPE, JOINT = Coefficient(0, is_line=False), Coefficient(1), Coefficient(0)


@once
def _line(
    log_odds: Floats, outcome: Floats, weights: Floats, link: logistic.Link = logistic.LOGIT
) -> logistic.LogisticFit | Absent:
    """Intercept and slope on the log odds, or the scale of the link: each is a measure of its own."""
    return logistic.logistic_fit(_line_design(log_odds), outcome, weights=weights, link=link)


def _line_design(log_odds: Floats) -> Floats:
    return np.vstack((np.ones_like(log_odds), log_odds))


def _intercept(
    log_odds: Floats, outcome: Floats, weights: Floats, link: logistic.Link
) -> logistic.LogisticFit | Absent:
    near = logistic.near_intercept(outcome, log_odds, weights, link)
    fit = logistic.logistic_fit(np.ones((1, len(outcome))), outcome, log_odds + near, weights, link)
    return fit if isinstance(fit, Absent) else replace(fit, coefficients=fit.coefficients + near)


recalibration = partial(
    register.metric, roles=EVERYWHERE, breaks=("perfect is best",), against_rest="by class", given="anything"
)
"""A coefficient of the logistic model that recalibrates the risks."""


@recalibration(weighted=INTERCEPT, protection="fit")
def calibration_intercept(outcome: Floats, risk: Floats, level: float = 0.95) -> Estimate | Absent:
    """How far the risks are too low or too high on average, on the scale of log odds.

    0 is right on average; above 0 the risks are too low, below 0 too high.

    Returns
    -------
    Estimate or Absent
        The intercept a of logit P(y) = a + logit p, the slope held at 1, with a Wald interval. Absent when these are
        none or of one class, or when no row tells of the intercept because the risks are all but 0 or 1 and right.

    Notes
    -----
    Risks within 1e-12 of 0 or 1 have no logit: the value is that of the other rows, and `left_out` in the details
    counts them. The standard error is as for `calibration_slope`. Source: Cox 1958, calibration in the large.
    """
    return INTERCEPT.wald(outcome, risk, level)


@recalibration(pool="plain", weighted=SLOPE, protection="fit")
def calibration_slope(outcome: Floats, risk: Floats, level: float = 0.95) -> Estimate | Absent:
    """Whether the risks are spread as they should be.

    1 is right; below 1 the risks are too extreme, above 1 too timid.

    Returns
    -------
    Estimate or Absent
        The slope b of logit P(y) = a + b logit p with a Wald interval. Absent when these are none or of one class,
        when every risk of theirs is the same, or when their risks separate the outcomes.

    Notes
    -----
    Risks within 1e-12 of 0 or 1 have no logit, and one that is set for them would set the slope: the value is that of
    the other rows, and `left_out` in the details counts them. From 100 events and 100 non-events on the standard error
    is a sandwich of the HC3 kind, the root of the diagonal of B [sum of x x' (y - q)^2/(1 - h)^2] B, B the inverse of
    the information, q the fitted risk and h a row's leverage: the model's own holds too seldom where no line is right,
    and is taken below; `details` holds it as `se_model`. Source: Cox 1958; the sandwich MacKinnon and White 1985.
    """
    return SLOPE.wald(outcome, risk, level)


@recalibration(weighted=JOINT)
def calibration_intercept_joint(outcome: Floats, risk: Floats, level: float = 0.95) -> Estimate | Absent:
    """The intercept of the line that best recalibrates the risks, fitted together with the slope.

    It is read only with the slope: with a slope of 1 it says how far the risks are off on average, otherwise how far
    they are off at a risk of one half.

    Returns
    -------
    Estimate or Absent
        The intercept a of logit P(y) = a + b logit p with a Wald interval, as `calibration_slope` has it. Absent as
        that is.
    """
    return JOINT.wald(outcome, risk, level)


# ---- distances between the curve and the risks -----------------------------------------------------------------------


@register.absent_with_its_parts
def error(
    name: str, outcome: Floats, risk: Floats, level: float, bootstrap: int, seed: int, sampled: Sampled
) -> Estimate | Absent:
    if sampled is not None and sampled.is_empty:
        return NO_WEIGHT
    y, p, design = in_order(outcome, risk, sampled)
    counted_alike = design.is_simple and design.censoring is None
    found = register.present(errors_with_intervals(y, p, level, bootstrap, seed, None if counted_alike else design))
    # A row without weight is one that is there, and tells nothing.
    return replace(found[name], n=len(outcome), events=int(outcome.sum()))


def in_order(outcome: Floats, risk: Floats, sampled: Sampled) -> tuple[Floats, Floats, Design]:
    """The rows that have a weight by risk and outcome, whatever their order, and how they were sampled."""
    design = sampled or Design(len(outcome))
    keys = (design.strata, design.cluster, design.weights, outcome, risk)
    order = np.lexsort(tuple(each for each in keys if each is not None))
    order = order if design.weights is None else order[design.weights[order] > 0]
    return np.asarray(outcome[order], dtype=float), np.asarray(risk[order], dtype=float), design.of(order)


calibration_error = partial(
    register.metric,
    roles=EVERYWHERE,
    breaks=("perfect is best", "rows doubled", "narrower with more rows"),
    against_rest="by class",
    clustered="value only",
    followed="itself",
    given="anything",
)
"""A distance of the calibration curve from the risks."""


@calibration_error()
def ici(
    outcome: Floats, risk: Floats, level: float = 0.95, bootstrap: int = 1000, seed: int = 1, design: Sampled = None
) -> Estimate | Absent:
    """How far the risks lie from the observed frequencies, on average over the people.

    0 is perfect. It is not one number: another smoother gives another value, so the method names it.

    Returns
    -------
    Estimate or Absent
        The mean of |curve - p| over the rows; the curve is a logistic regression on a restricted cubic spline of logit
        p (knots at 5, 35, 65, 95 %; at 10, 50, 90 % below 100 events or non-events; a straight line below 20 or when
        knots tie). Absent with no rows or one class, or when the curve cannot be fitted (the risks separate the
        outcomes).

    Notes
    -----
    The interval keeps the true values under which what was seen is not too extreme (hybrid resampling, Chuang and Lai
    2000): along a line of curves that leads from the diagonal through the fitted one to worse ones, each the hardest to
    refute at its distance, coefficients are drawn with the covariance that the fit would have there, and rows at
    random. Where not even the diagonal is refuted, the lower bound is 0, the edge of the range, and the method says so.
    Where fewer than 16 % of perfectly calibrated models would show as little, the upper bound is that of what 16 %
    show: luck is no evidence (Cowan 2011). True values so small that this bound always reaches them cannot be ruled out
    from above; from below the diagonal is at 1.6 times half of what the level leaves (4 % at a level of 95 %), and
    where it is, so are the others at all of that, so that the interval is no wider there than its level asks. No test
    comes before the interval, so that it holds for calibrated models and others; the percentile bootstrap does not,
    because its replicates add the excess of the estimate once more. The draws work on 64 groups of neighbouring risks.
    One risk for all, or risks that are all within 1e-12 of 0 or 1, have no curve: the distance is that from the
    observed share at each risk, with Wilson's interval of that share, and the mean distance of certain risks is the
    share of wrong answers, with its own. Of rows in clusters or with weights the curve is fitted at their weights, and
    the noise has the covariance of what rows or whole clusters contribute to the coefficients (in no direction less
    than independent rows have) and the t distribution; the rows are drawn as so many as have the variance of the
    distances. Details: `knots` of the spline, 0 for a straight line. Source: Austin and
    Steyerberg 2019, there with loess; the interval Chuang and Lai 2000.
    """
    return error("ici", outcome, risk, level, bootstrap, seed, design)


@calibration_error()
def e50(
    outcome: Floats, risk: Floats, level: float = 0.95, bootstrap: int = 1000, seed: int = 1, design: Sampled = None
) -> Estimate | Absent:
    """The distance between risk and observed frequency that half of the people stay within.

    0 is perfect.

    Returns
    -------
    Estimate or Absent
        The value is the median (type 7) of |curve - p| over the rows.

    Notes
    -----
    The interval is made as that of `ici`, with two differences. Curves in other directions may raise the upper bound:
    the rows about the median need not be those that would raise it most. And where the mean distance refutes perfect
    calibration, the median needs no more to refute it than all of what the level leaves. Curve, sources and reasons
    for absence as for `ici`.
    """
    return error("e50", outcome, risk, level, bootstrap, seed, design)


@calibration_error()
def e90(
    outcome: Floats, risk: Floats, level: float = 0.95, bootstrap: int = 1000, seed: int = 1, design: Sampled = None
) -> Estimate | Absent:
    """The distance between risk and observed frequency that nine in ten people stay within.

    0 is perfect.

    Returns
    -------
    Estimate or Absent
        The value is the 90 % quantile (type 7) of |curve - p| over the rows; all else is as for `e50`.
    """
    return error("e90", outcome, risk, level, bootstrap, seed, design)


@calibration_error()
def emax(
    outcome: Floats, risk: Floats, level: float = 0.95, bootstrap: int = 1000, seed: int = 1, design: Sampled = None
) -> Estimate | Absent:
    """The largest distance between risk and observed frequency that anybody's risk shows.

    0 is perfect. It rests on the ends of the curve, where few people lie.

    Returns
    -------
    Estimate or Absent
        The value is the maximum of |curve - p| over the rows.

    Notes
    -----
    The bounds are the distances from a risk to the near and to the far end of a band around the curve, where they are
    largest. The far end is that of the pointwise band, which bounds the maximum wherever it lies: the interval is wide,
    and the method says so. The near end is that of a band so many standard errors wide that every smaller maximum is
    refuted: the nearest curve with that maximum, moved by noise with the covariance that the fit would have there,
    moves out by as much in at most 1.8 times half of what the level leaves (from above next to no truth is ruled out).
    It is 0 where one half does not refute perfect calibration, and otherwise not below that of `ici`. No interval for a
    maximum can be exact for every curve (Hirano and Porter 2012), because the place of the maximum is itself uncertain.
    Source: Harrell 2015; the interval Chuang and Lai 2000. Curve and reasons for absence as for `ici`.
    """
    return error("emax", outcome, risk, level, bootstrap, seed, design)


# ---- calibration in bins of risk ------------------------------------------------------------------------------------

BIN_EDGES = np.arange(1, 10) / 10
"""The inner ends of ten bins of equal width; a bin is closed below, the last also above."""


def binned_errors(events: Floats, risks: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """The expected calibration error and the estimated calibration index from sums over bins: (..., bins).

    `events` and `risks` are sums of outcomes and risks, `counts` the numbers of rows. Empty bins weigh nothing.
    """
    size = np.maximum(counts, 1)
    observed, expected = events / size, risks / size
    gap = np.abs(observed - expected)
    share = counts / counts.sum(axis=-1, keepdims=True)
    room = np.maximum(expected, 1 - expected)
    ece_value: Floats = (share * gap).sum(axis=-1)
    eci_value: Floats = (share * (1 - gap / room)).sum(axis=-1)
    return ece_value, eci_value


def _bin_sums(outcome: Floats, risk: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Outcomes, risks and rows of each bin in each replicate: three times (replicates, 10)."""
    member = (np.searchsorted(BIN_EDGES, risk, side="right")[:, None] == np.arange(10)).astype(float)
    of_events, of_risks = member * outcome[:, None], member * risk[:, None]
    sums = [np.einsum("bm,mk->bk", weights, each) for each in (of_events, of_risks, member)]
    return sums[0], sums[1], sums[2]


FEWEST_FOR_AN_INTERVAL = 2


def _binned(which: int, outcome: Floats, risk: Floats, level: float, bootstrap: int, seed: int) -> Estimate | Absent:
    """One of the two binned errors with its interval."""
    order = np.lexsort((outcome, risk))
    y, p, n = np.asarray(outcome[order], dtype=float), np.asarray(risk[order], dtype=float), len(outcome)
    sums = [total[0] for total in _bin_sums(y, p, np.ones((1, n)))]
    value = float(np.clip(binned_errors(*sums)[which], 0, 1))
    squared, calibrated = (_bin_sums(values, p, np.ones((1, n)))[0][0] / n for values in ((y - p) ** 2, p * (1 - p)))
    # A bin without an event would seem certain by its own squares alone.
    squares = np.maximum(squared, calibrated)
    used = squares > 0
    method = Method(Fact("bins_of_equal_width", bins=10), inversion.by_tests(bootstrap))
    if n < FEWEST_FOR_AN_INTERVAL or not used.any():
        return Estimate(value, None, None, None, n, method, int(y.sum()), reason=intervals.NO_SPREAD)
    events, risks, counts = (total[used] for total in sums)
    mean = risks / counts
    weights = np.ones(len(mean)) if which == 0 else 1 / np.maximum(mean, 1 - mean)
    noise = np.random.default_rng(seed).standard_normal((bootstrap, 10))[:, used]
    seen = ((events - risks) / n, squares[used], calibrated[used], weights)
    low, high = inversion.bounds_of_gaps(*seen, n, (1 - level) / 2, noise)
    error = value if which == 0 else 1 - value
    low, high = min(low, error), min(1.0, max(high, error))
    found = inversion.estimate_from_tests(error, low, high, level, outcome, method)
    return found if which == 0 else replace(found, value=value, low=1 - high, high=1 - low)


@register.metric(
    breaks=("one class is absent", "narrower with more rows"), against_rest="by class", clustered="value only"
)
def ece(outcome: Floats, risk: Floats, level: float = 0.95, bootstrap: int = 1000, seed: int = 1) -> Estimate | Absent:
    """How far the average risk lies from the share with the outcome in ten bins of risk, on average over the people.

    0 is perfect.

    Returns
    -------
    Estimate or Absent
        Sum over bins of w_b |mean y - mean p|, w_b the share of rows; ten bins of equal width on 0 to 1, closed below,
        the last also above; the risk is that of the outcome, not of the predicted class. Absent without rows; the
        bounds are missing for a single row, and when every risk is 0 or 1 and right.

    Notes
    -----
    The interval keeps the true values under which what was seen is not too extreme (hybrid resampling, Chuang and Lai
    2000): the gaps of the bins are drawn as normal around smaller ones down to none, halfway between the seen ones
    scaled down and the nearest to them, and around larger ones. Where not even none is refuted, it is one-sided from 0;
    its upper bound is kept from resting on luck, and its lower one takes over what that leaves, as those of `ici`.
    Source: Naeini 2015.
    """
    return _binned(0, outcome, risk, level, bootstrap, seed)


@in_files(roles=EVERYWHERE, breaks=("one class is absent", "narrower with more rows"), clustered="value only")
def eci(outcome: Floats, risk: Floats, level: float = 0.95, bootstrap: int = 1000, seed: int = 1) -> Estimate | Absent:
    """How near the average risk lies to the share with the outcome in ten bins of risk, as a share of what is possible.

    1 is perfect, 0 is as wrong as can be.

    Returns
    -------
    Estimate or Absent
        Sum over bins of w_b (1 - |mean y - mean p|/max(mean p, 1 - mean p)). Absent without rows.

    Notes
    -----
    Interval as for `ece`, one-sided up to 1 where it does not refute perfect calibration. Source: Famiglini 2023. The
    bins are those of `ece`.
    """
    return _binned(1, outcome, risk, level, bootstrap, seed)


# ---- overall scores -------------------------------------------------------------------------------------------------

BRIER = weighted.Mean(lambda rows: (rows.risk - rows.outcome) ** 2)
LOG_SCORE = weighted.Mean(lambda rows: _log(np.where(rows.outcome == 1, rows.risk, 1 - rows.risk)))


def _log(chance: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chance))


@register.metric(breaks=("one class is absent",), weighted=BRIER, protection="mean")
def brier(outcome: Floats, risk: Floats, level: float = 0.95) -> Estimate | Absent:
    """The mean squared distance between the risk and what happened.

    0 is perfect; what is low depends on how common the outcome is, so it compares models only on the same people.

    Returns
    -------
    Estimate or Absent
        The mean of (p - y)^2 with the t interval from the variance of (p - y)^2 (n - 1). Absent without rows; the
        bounds are missing when the squared distances do not vary.

    Notes
    -----
    Source: Brier 1950; the interval Bradley 2008.
    """
    return intervals.mean_by_student(BRIER.added(weighted.Rows.counted(outcome, risk)), outcome, level, 0, 1)


@in_files(weighted=weighted.scaled_brier)
def scaled_brier(outcome: Floats, risk: Floats, level: float = 0.95) -> Estimate | Absent:
    """How much nearer the risks are to what happened than if everyone had been given the site's average.

    1 is perfect, 0 is no better than the average, below 0 worse.

    Returns
    -------
    Estimate or Absent
        1 - brier/(phi(1 - phi)), phi the prevalence observed at the site, with the normal interval of the delta method
        (both brier and phi are estimated). Absent with no rows or one class.

    Notes
    -----
    Where we differ: [Dinga] divides by the mean risk's m(1 - m), which rewards a model for being wrong on average
    (prevalence .1, p = .75 and .47: .180 in place of -1.278).
    """
    squared, phi = (risk - outcome) ** 2, float(outcome.mean())
    score, reference = float(squared.mean()), phi * float((1 - outcome).mean())
    influence = -(squared - score) / reference + score * (1 - 2 * phi) / reference**2 * (outcome - phi)
    return intervals.estimate(
        1 - score / reference, intervals.standard_error(influence), level, outcome, Method("delta"), ceiling=1
    )


@register.metric(breaks=("one class is absent",), weighted=LOG_SCORE)
def log_score(outcome: Floats, risk: Floats, level: float = 0.95) -> Estimate | Absent:
    """How well the risks foretold what happened, with the heaviest penalty on confident mistakes.

    0 is perfect, more negative is worse; the unit is the nat.

    Returns
    -------
    Estimate or Absent
        The mean log likelihood (natural logarithm) with the t interval. Absent without rows, or when the mean is minus
        infinity: a risk of 0 for a case or 1 for a non-case.

    Notes
    -----
    Where we differ: [Dinga] calls the unit bits. Source: Good 1952.
    """
    impossible = int((np.where(outcome == 1, risk, 1 - risk) == 0).sum())
    if impossible:
        return Absent(Fact("log_score_infinite", impossible=Count(impossible, "row")))
    return intervals.mean_by_student(LOG_SCORE.added(weighted.Rows.counted(outcome, risk)), outcome, level, ceiling=0)


LARGEST_EXPONENT = 300.0
"""Beyond it exp(-2 (l - l0)/n) is no number to print."""


def nagelkerke(mean_log: Floats, prevalence: Floats) -> Floats:
    """Nagelkerke's R2 from the mean log likelihood of the risks and the prevalence; NaN where there is one class."""
    inside = (prevalence > 0) & (prevalence < 1)
    phi = np.where(inside, prevalence, 0.5)
    null = phi * np.log(phi) + (1 - phi) * np.log(1 - phi)
    found = np.expm1(np.minimum(2 * (null - mean_log), LARGEST_EXPONENT)) / np.expm1(2 * null)
    return np.where(inside, found, np.nan)


@in_files()
def nagelkerke_r2(
    outcome: Floats, risk: Floats, level: float = 0.95, bootstrap: int = 1000, seed: int = 1
) -> Estimate | Absent:
    """How much better the risks foretold what happened than the site's average, on a scale that ends at 1.

    1 is perfect, 0 is no better than the average, below 0 worse.

    Returns
    -------
    Estimate or Absent
        (1 - exp(2(l0 - l)/n))/(1 - exp(2 l0/n)), l the summed log likelihood of the risks as they are, l0 that of the
        prevalence observed at the site. Absent when all rows are of one class, and when a risk was 0 for a case or 1
        for a non-case.

    Notes
    -----
    Percentile bootstrap over rows, above 50,000 of them on 2,000 bins of risk; replicates of one class are left out.
    Source: Nagelkerke 1991. Where we differ: [Dinga] prints the mean score in place of l.
    """
    score = register.present(log_score(outcome, risk, level))
    phi = np.array([outcome.mean()])
    null = float(np.sum(phi * np.log(phi) + (1 - phi) * np.log(1 - phi)))
    if 2 * (null - score.value) > LARGEST_EXPONENT:
        return Absent(Fact("likelihood_ratio_too_large"))
    value = float(nagelkerke(np.array([score.value]), phi)[0])
    order, n = np.lexsort((outcome, risk)), len(outcome)
    cells = resampling.cells_of(outcome[order], risk[order])
    logs = np.log(np.where(cells.outcome == 1, cells.risk, 1 - cells.risk))

    def of_draws(drawn: Floats) -> Floats:
        return nagelkerke(drawn @ logs / n, drawn @ cells.outcome / n)

    replicates = resampling.replicated(cells, bootstrap, seed, of_draws)
    return resampling.percentile(min(1.0, value), replicates, bootstrap, level, outcome, Method("bootstrap_over_rows"))


@in_files(weighted=weighted.tjur_r2)
def tjur_r2(outcome: Floats, risk: Floats, level: float = 0.95) -> Estimate | Absent:
    """How much higher the average risk is among those with the outcome than among those without.

    1 is perfect, 0 is no difference. It can rise when risks become too extreme.

    Returns
    -------
    Estimate or Absent
        Mean p of cases - mean p of the others with Welch's t interval. Absent when all rows are of one class; the
        bounds are missing with a single case or non-case, or when the risks do not vary within the groups.

    Notes
    -----
    `details` holds the two means, `mean_of_cases` and `mean_of_others`. Source: Tjur 2009; the interval Welch 1947.
    """
    groups = risk[outcome == 1], risk[outcome == 0]
    means = {"mean_of_cases": float(groups[0].mean()), "mean_of_others": float(groups[1].mean())}
    value = means["mean_of_cases"] - means["mean_of_others"]
    n, events = len(outcome), int(outcome.sum())
    parts = [intervals.standard_error(group) or 0.0 for group in groups]
    se = math.hypot(*parts)
    if min(map(len, groups)) < 2 or se == 0:
        return Estimate(value, None, None, None, n, Method("welch"), events, None, means, intervals.NO_SPREAD)
    shares = [(part / se) ** 2 for part in parts]
    freedom = 1 / sum(share**2 / (len(group) - 1) for share, group in zip(shares, groups, strict=True))
    half = se * intervals.two_sided_student(level, freedom)
    return Estimate(
        value, max(-1.0, value - half), min(1.0, value + half), level, n, Method("welch"), events, se, means
    )


A_TEST = Fact("test_statistic_has_no_interval")


def tested(value: float, p_value: float | None, outcome: Floats, method: Method, **details: float | None) -> Estimate:
    """A test: its statistic, its p-value, and no interval."""
    more = {"p_value": p_value, **details}
    return intervals.without_interval(value, len(outcome), method, A_TEST, int(outcome.sum()), more)


@in_files(independent_rows=True, breaks=("rows doubled", "perfect is best", "one class is absent"), clustered="refused")
def spiegelhalter_z(outcome: Floats, risk: Floats) -> Estimate | Absent:
    """Whether the squared errors of the risks are larger or smaller than right risks would make by chance.

    About 0 when the risks are right; beyond 2 on either side it is unlikely that they are. A large sample refutes every
    model, a small one none.

    Returns
    -------
    Estimate or Absent
        z = sum (y - p)(1 - 2p)/sqrt(sum (1 - 2p)^2 p(1 - p)) with the two-sided `p_value` of the normal distribution; a
        test has no interval. Absent without rows, and when every risk is 0, one half or 1, for which the test does not
        exist.
    """
    lean = 1 - 2 * risk
    variance = float(np.sum(lean**2 * risk * (1 - risk)))
    if variance < 1e-200:
        return Absent(Fact("score_not_moved_by_chance"))
    value = float(np.sum((outcome - risk) * lean)) / math.sqrt(variance)
    if not math.isfinite(value):
        return Absent(Fact("test_too_large"))
    return tested(value, 2 * intervals.beyond(abs(value)), outcome, Method("exact_variance"))


SLOPE_SURE, RATIO_SURE = 0.0676, 0.0688
"""The standard errors of the slope and of log O/E at which good calibration is shown in 80 % of samples."""


@in_files(independent_rows=True, followed="itself", breaks=("rows doubled", "perfect is best", "one class is absent"))
def calibration_test(outcome: Floats, risk: Floats, design: Sampled = None) -> Estimate | Absent:
    """Whether intercept and slope together differ from those of perfect calibration by more than chance.

    The larger, the less likely it is that the risks are right; the p value says how unlikely.

    Returns
    -------
    Estimate or Absent
        Twice the log likelihood that the best intercept and slope gain over 0 and 1, with its `p_value` by chi-squared
        of two degrees of freedom; of equal risks, which have no slope, of one. A test has no interval. Absent without
        rows whose risk has a logit.

    Notes
    -----
    Where the outcomes are of one class, or the risks separate them, the likelihood has no maximum but a limit, and that
    is taken. Rows in clusters or with weights: the statistic is divided by the mean of the eigenvalues of the variance
    of the score over its information (both at 0 and 1), and compared with the F distribution after Satterthwaite (Rao
    and Scott 1984). By a horizon it is the joint Wald test of intercept and slope by F, as Hotelling has it. Details:
    `p_value`, and `needed`, the independent patients with risks like these of whom a right model is shown to be well
    calibrated (O/E and slope from 0.8 to 1.25 with their whole intervals) in 80 % of samples.
    """
    design = design or Design(len(outcome))
    if design.censoring is not None:
        return _wald_test(weighted.Rows(outcome, risk, design.censoring.values, censoring=design.censoring), design)
    kept = logistic.has_logit(risk) if design.weights is None else logistic.has_logit(risk) & (design.weights > 0)
    if not kept.any():
        left_out = Count(len(risk), "risk")
        return Absent(Fact("without_risks_of_zero_or_one", left_out=left_out, reason=Fact("no_rows")))
    y, log_odds = outcome[kept], logistic.logit(risk[kept])
    design = design.of(kept)
    weight = np.ones(len(y)) if design.weights is None else design.weights / float(np.mean(design.weights))
    columns = np.vstack((np.ones_like(log_odds), log_odds))[: 1 if float(np.ptp(log_odds)) == 0 else 2]
    most = register.present(_highest_likelihood(columns, y, log_odds, weight))
    value = max(2 * (most - _log_likelihood(log_odds, y, weight)), 0.0)
    variance = logistic.expit(log_odds) * logistic.expit(-log_odds)
    information = logistic.information_of(columns, weight * variance)
    p_value = _p_of_likelihoods(value, columns * (weight * (y - logistic.expit(log_odds))), information, design)
    expected, has_slope = float(np.sum(weight * risk[kept])), len(columns) == 2
    needed = {"needed": _needed(information, expected, len(y))} if has_slope else {}
    return tested(value, p_value, y, Method("likelihood_ratio"), **needed)


@register.absent_with_its_parts
def _wald_test(rows: weighted.Rows, design: Design) -> Estimate | Absent:
    """The joint Wald test of intercept and slope, where the weights of rows are estimated.

    A few rows may contribute most: the statistic is held against that of Hotelling, of as many rows as would be alike.
    By chi-squared .015 to .035 of right models were refuted at .01 (500 patients, 200 patients; simulated).
    """
    found = [register.present(each(rows)) for each in (JOINT, SLOPE)]
    apart = np.array([each.value for each in found]) - (0.0, 1.0)
    if design.units <= len(apart):
        return Absent(Fact("too_few_units_for_test", units=design.over))
    added = np.array([design.totals(each.linearized) for each in found])
    value = float(apart @ np.linalg.solve(design.covariance(added), apart))
    alike = float(((added**2).sum(axis=1) ** 2 / (added**4).sum(axis=1)).min())
    p_value = float(scipy.special.fdtrc(2, alike - 1, value / 2 * (alike - 2) / (alike - 1))) if alike > 3 else 1.0
    return tested(value, p_value, rows.outcome, Method(Fact("wald_of_both", rows=alike)))


@register.absent_with_its_parts
def test_of_slope(outcome: Floats, risk: Floats, design: Design) -> tuple[float, float | None] | Absent:
    """Twice the log likelihood that the best slope gains over 1 beside an intercept of its own, with its p value.

    Rows in clusters or with weights are as in `calibration_test`, by the score of the slope that the intercept leaves.
    """
    rows = weighted.Rows.sampled(outcome, risk, design.weights)
    alone, both = register.present(INTERCEPT.fitted(rows)), register.present(SLOPE.fitted(rows))
    y, weight, log_odds = alone.rows.outcome, alone.rows.weights, alone.offset
    linear = log_odds + alone.fit.coefficients[0]
    most = _log_likelihood(logistic.combine(both.fit.coefficients[None, :], both.columns)[0], y, weight)
    value = max(2 * (most - _log_likelihood(linear, y, weight)), 0.0)
    variance = weight * logistic.expit(linear) * logistic.expit(-linear)
    centred = log_odds - float(np.sum(variance * log_odds) / np.sum(variance))
    information = np.array([[float(np.sum(variance * centred**2))]])
    scores = centred[None, :] * (weight * (y - logistic.expit(linear)))
    return value, _p_of_likelihoods(value, scores, information, design.of(alone.kept))


def _log_likelihood(linear: Floats, outcome: Floats, weight: Floats) -> float:
    return float(np.sum(weight * (outcome * linear - np.logaddexp(0, linear))))


def _highest_likelihood(columns: Floats, outcome: Floats, log_odds: Floats, weight: Floats) -> float | Absent:
    """The log likelihood of the best coefficients, or its limit where no finite ones are best."""
    share = float(np.sum(weight * outcome) / np.sum(weight))
    if len(columns) == 1 or not 0 < share < 1:
        return _of_share(float(np.sum(weight)), share)
    fit = _line(log_odds, outcome, weight)
    if isinstance(fit, logistic.LogisticFit):
        return _log_likelihood(logistic.combine(fit.coefficients[None, :], columns)[0], outcome, weight)
    cases, others = log_odds[outcome == 1], log_odds[outcome == 0]
    for edge, beyond_it in ((float(others.max()), float(cases.min())), (float(cases.max()), float(others.min()))):
        if edge <= beyond_it:
            tied = log_odds == edge if edge == beyond_it else np.zeros(len(log_odds), dtype=bool)
            size = float(np.sum(weight[tied]))
            return _of_share(size, float(np.sum(weight[tied] * outcome[tied]) / size)) if size else 0.0
    return fit


def _of_share(size: float, share: float) -> float:
    """The log likelihood of rows that all have their own share as their risk."""
    return 0.0 if not 0 < share < 1 else size * (share * math.log(share) + (1 - share) * math.log1p(-share))


def _p_of_likelihoods(statistic: float, scores: Floats, information: Floats, design: Design) -> float | None:
    """The p value of a likelihood ratio; of rows that are not independent or count unequally after Rao and Scott."""
    count = len(scores)
    if design.is_simple:
        return float(scipy.special.chdtrc(count, statistic))
    if design.obstacle() or not math.isfinite(float(np.linalg.cond(information))):
        return None
    eigen = np.linalg.solve(information, logistic.information_of(design.totals(scores), design.inflation))
    first, second = float(np.trace(eigen)), float(np.sum(eigen * eigen.T))
    if first <= 0 or second <= 0:
        return None
    freedom = first**2 / second
    return float(scipy.special.fdtrc(freedom, design.freedom, statistic / first))


def _needed(information: Floats, expected: float, rows: int) -> float | None:
    """The patients of whom a right model has the intervals of O/E and slope within what is tolerated, 8 times of 10."""
    spread = float(information[1, 1]) - float(information[0, 1]) ** 2 / float(information[0, 0])
    if spread <= 1e-9 * rows:
        return None
    return rows * max(1 / spread / SLOPE_SURE**2, float(information[0, 0]) / expected**2 / RATIO_SURE**2)


# ---- curves ---------------------------------------------------------------------------------------------------------


@register.curve(
    roles=EVERYWHERE,
    against_rest=True,
    band=register.Band("risk", (register.Line("observed", makes_its_own=True),)),
    weighted=True,
    followed=True,
    given="anything",
)
def calibration_curve(outcome: Floats, risk: Floats, level: float = 0.95, design: Sampled = None) -> Curve | Absent:
    """The observed frequency of the outcome along the risks, as a smooth curve.

    On the diagonal the risks are right; above it they are too low, below it too high.

    Arguments: `weights` (n, 0 or more), at which the curve is fitted; the band is then by linearization over rows or
    clusters. Returns 101 points from the 1st to the 99th percentile of the risks, cut inwards to even steps so that no
    end is the risk of a person (a single point when all are the same): `risk`, `observed`, and the pointwise Wald band
    `low` and `high`, made on the logit scale. The fit is that of `ici`. Absent with no rows or one class, or when the
    curve cannot be fitted.
    """
    if design is not None and design.is_empty:
        return NO_WEIGHT
    y, p, sampled = in_order(outcome, risk, design)
    if reason := sampled.obstacle():
        return Absent(reason)
    smooth = register.present(smooth_curve(y, p, None, sampled if sampled.censoring or not sampled.is_simple else None))
    first, last = discrimination.risk_range(p)
    grid = np.linspace(first, last, 101) if last > first else np.array([first])
    columns_at = design_of(smooth, grid)
    centre = logistic.combine(smooth.fit.coefficients[None, :], columns_at)[0]
    variance = np.sum(logistic.combine(smooth.fit.covariance, columns_at) * columns_at, axis=0)
    half = intervals.two_sided_student(level, smooth.freedom) * np.sqrt(np.maximum(variance, 0))
    columns = {
        "risk": intervals.column(grid),
        "observed": intervals.column(smooth.smoother.back(centre)),
        "low": intervals.column(smooth.smoother.back(centre - half)),
        "high": intervals.column(smooth.smoother.back(centre + half)),
    }
    return Curve(columns, len(outcome), sampled.as_sampled(smooth.method + smooth.smoother.band), int(outcome.sum()))


def _large_enough(group: NDArray[np.intp]) -> NDArray[np.intp]:
    """The groups numbered anew from 0, each joined with the next ones until it has enough rows, as have those after."""
    renamed, number, held = [], 0, 0
    size = np.bincount(group)
    for index, count in enumerate(size):
        renamed.append(number)
        held += int(count)
        if held >= bands.SMALLEST_GROUP and size[index + 1 :].sum() >= bands.SMALLEST_GROUP:
            number, held = number + 1, 0
    return np.array(renamed)[group]


@register.curve(
    roles=EVERYWHERE,
    against_rest=True,
    band=register.Band("", (register.Line("observed"),)),
    protection="groups",
    followed=True,
)
def calibration_groups(outcome: Floats, risk: Floats, level: float = 0.95, design: Sampled = None) -> Curve | Absent:
    """The observed frequency of the outcome in up to ten groups of people with similar risks.

    The groups end at the tenths of the distribution of risk (type 7 quantiles, closed above), so equal risks stay
    together and groups may be fewer than ten. A group of fewer than five is joined with the next: the mean risk of one
    person is that person's. Returns `mean_risk`, `observed`, Wilson's `low` and `high`, and `n` of each group. Absent
    with fewer than five rows.
    """
    if len(outcome) < bands.SMALLEST_GROUP:
        return Absent(Fact("fewer_rows", fewest=Count(bands.SMALLEST_GROUP, "row", is_limit=True)))
    ends = np.unique(np.quantile(risk, np.arange(1, 10) / 10))
    group = _large_enough(np.searchsorted(ends, risk, side="left"))
    size, events, total = (np.bincount(group, weights=weights) for weights in (np.ones(len(risk)), outcome, risk))
    sampled = design or Design(len(outcome))
    observed = intervals.share_columns("observed", events, size, level)
    if sampled.censoring is not None:
        found = [_observed(sampled.of(group == each), risk[group == each], level) for each in range(len(size))]
        observed = {name: tuple(getattr(one, at, None) for one in found) for name, at in OBSERVED_COLUMNS.items()}
    columns = {"mean_risk": intervals.column(total / size), **observed, "n": intervals.column(size.astype(float))}
    if sampled.censoring is not None:
        return Curve(columns, len(outcome), sampled.as_sampled(Method("tenths_by_horizon")), int(outcome.sum()))
    return Curve(columns, len(outcome), Method(Fact("tenths_of_risk", by=Fact("wilson"))), int(outcome.sum()))


OBSERVED_COLUMNS = {"observed": "value", "low": "low", "high": "high"}


def _observed(group: Design, risk: Floats, level: float) -> Estimate | Absent:
    """The observed risk of a group of patients, who count alike."""
    known = group.censoring
    if known is None:
        raise TypeError("only follow-up gives an observed risk")
    return observed_risk(TimeToEvent(known.time, known.status, known.t, "marginal"), risk, level, group)


POOLED_POINTS = 101


@register.curve_synthesis()
def calibration_curve_all_sites(sites: tuple[SiteResults, ...], level: float = 0.95) -> Curve | Absent:
    """The calibration curve of the average external site, with the band of that average.

    It is not the curve of all people in one table: every site counts, also the small ones, as in the pooled AUROC.

    Arguments: `sites` (the results of the external sites). Returns 101 risks of the range that the curves of all pooled
    sites share, with `observed`, `low` and `high`: at each risk the sites' curves, on the logit scale, are pooled by
    random effects (REML, Hartung-Knapp). A curve between its points is the straight line in logit risk and logit
    observed; its standard error comes from its band. Sites with fewer than 20 events or non-events are not pooled, nor
    is a curve without a band. Absent with fewer than three such sites, or when their risks share no range.
    """
    curves = [(site, found_curve(site, "calibration_curve")) for site in sites]
    usable = [found for site, found in curves if isinstance(found, Curve) and _can_be_pooled(found, site)]
    if len(usable) < bands.FEWEST_POOLED:
        return Absent(Fact("fewer_than_three_calibration_curves"))
    low = max(float(found.columns["risk"][0] or 0) for found in usable)
    high = min(float(found.columns["risk"][-1] or 0) for found in usable)
    if low >= high:
        return Absent(Fact("no_shared_range_of_risks"))
    grid = np.linspace(low, high, POOLED_POINTS)
    heights, errors = zip(*(_on_logits(found, grid, level) for found in usable), strict=True)
    pooled = [
        random_effects(height, error, level)
        for height, error in zip(np.transpose(heights), np.transpose(errors), strict=True)
    ]
    columns = {
        "risk": intervals.column(grid),
        "observed": intervals.column(logistic.expit(np.array([effects.value for effects in pooled]))),
        "low": intervals.column(logistic.expit(np.array([effects.low for effects in pooled]))),
        "high": intervals.column(logistic.expit(np.array([effects.high for effects in pooled]))),
    }
    left_out = len(sites) - len(usable)
    method = Method(Fact("random_effects_at_each_risk", sites=len(usable)))
    method = method + Fact("sites_left_out", sites=left_out) if left_out else method
    events = [found.events for found in usable]
    total = None if None in events else sum(count for count in events if count is not None)
    return Curve(columns, sum(found.n for found in usable), method, total)


def _can_be_pooled(found: Curve, site: SiteResults) -> bool:
    """Whether a curve rests on enough events and non-events, has more than a point, and a band within 0 and 1."""
    low, high = (np.array(found.columns[name], dtype=float) for name in ("low", "high"))
    known = found.n - (site.summary.left or 0)
    enough = found.events is not None and min(found.events, known - found.events) >= bands.FEW_FOR_POOLING
    return enough and len(low) > 1 and bool((low > 0).all() and (high < 1).all() and (low < high).all())


def _on_logits(found: Curve, grid: Floats, level: float) -> tuple[Floats, Floats]:
    """The logit of a site's curve at these risks, and its standard error."""
    risk, observed, low, high = (
        logistic.logit(np.array(found.columns[name], dtype=float)) for name in ("risk", "observed", "low", "high")
    )
    at = logistic.logit(grid)
    return np.interp(at, risk, observed), np.interp(at, risk, (high - low) / (2 * intervals.two_sided(level)))


for measure in (discrimination.auroc, oe_ratio, brier):
    register.of_marginal_weights(measure, "dossier.metrics.leaving")
