"""All rows of several sites, each site a stratum: none is left out for having few events, none drawn at random.

What the sites share is estimated within them: events of all over those expected of all, pairs of rows of one site, a
slope that leaves every site an intercept of its own. Sites are fixed: no variance between them enters the interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import mul

import numpy as np
from numpy.typing import NDArray

from dossier.core.facts import Count, Fact, Method
from dossier.core.register import NO_ROWS, present, stratified
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import calibration, discrimination, intervals, logistic, weighted
from dossier.metrics.censoring import TimeToEvent
from dossier.metrics.intervals import Scale
from dossier.metrics.shares import Design, Sampled
from dossier.metrics.weighted import Rows

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Stratum:
    """The rows of one site: outcome (n, 0 or 1), risk (n, 0 to 1), and how they were sampled.

    A site counts as many patients as it has rows, whatever its weights add up to.
    """

    outcome: Floats
    risk: Floats
    sampled: Sampled = None

    @cached_property
    def design(self) -> Design:
        """How the rows were sampled."""
        return self.sampled or Design(len(self.outcome))

    @property
    def is_dependent(self) -> bool:
        """Whether the error is that of sampling weights or of whole clusters."""
        return self.design.weights is not None or self.design.cluster is not None

    @property
    def relative_weights(self) -> Floats:
        """The weights with a mean of 1."""
        weights = self.design.weights
        return np.ones(len(self.outcome)) if weights is None else weights / weights.mean()

    @property
    def known(self) -> Floats:
        """The outcomes that are known."""
        censoring = self.design.censoring
        return self.outcome if censoring is None else self.outcome[~censoring.left]

    def rows(self, threshold: float | None = None) -> Rows:
        """The rows at these weights, or at those of their follow-up."""
        censoring = self.design.censoring
        if censoring is not None:
            return Rows.followed(TimeToEvent(censoring.time, censoring.status, censoring.t), self.risk, threshold)
        return Rows(self.outcome, self.risk, self.relative_weights, 0.5 if threshold is None else threshold)


Strata = Sequence[Stratum]


# ---- what every measure starts from ---------------------------------------------------------------------------------


def _all_rows(strata: Strata) -> Rows:
    """The rows of all sites one after the other."""
    each = [(stratum.outcome, stratum.risk, stratum.relative_weights) for stratum in strata]
    outcome, risk, weights = map(np.concatenate, zip(*each, strict=True))
    return Rows(outcome, risk, weights)


def design(strata: Strata) -> Design:
    """How the rows of all sites were sampled, each site a stratum."""
    sizes = [len(stratum.outcome) for stratum in strata]
    site, rows = np.repeat(np.arange(len(sizes)), sizes), [np.arange(size) for size in sizes]
    nobody = [np.zeros(size, dtype=np.int64) for size in sizes]
    clustered = any(stratum.design.cluster is not None for stratum in strata)
    cluster = _within(site, [part.design.cluster for part in strata], rows) if clustered else None
    weights = np.concatenate([stratum.relative_weights for stratum in strata])
    return Design(len(site), cluster, weights, _within(site, [part.design.strata for part in strata], nobody))


def _within(site: Integers, each: Sequence[Integers | None], without: Sequence[Integers]) -> Integers:
    """Numbers that tell rows of every site apart by what the site has, or by what stands for it."""
    values = np.concatenate([rows if have is None else have for have, rows in zip(each, without, strict=True)])
    return np.unique(np.column_stack((site, values)), axis=0, return_inverse=True)[1].reshape(-1)


def freedom(strata: Strata) -> float | None:
    """The degrees of freedom of errors by weights or clusters; None where rows are independent."""
    return design(strata).freedom if any(stratum.is_dependent for stratum in strata) else None


def _estimate(
    value: float, se: float, strata: Strata, level: float, scale: Scale, how: Method, inside: float | None = None
) -> Estimate:
    """The estimate with its interval, symmetric on the scale; `se` is on the plain one.

    A value of exactly 0 or 1 has no logit: its interval is that of the value `inside`, and ends in 0 or 1.
    """
    n, events = sum(len(each.outcome) for each in strata), int(sum(each.outcome.sum() for each in strata))
    df, k = freedom(strata), len(strata)
    method = Method(Fact("stratified", sites=k), *how)
    details: dict[str, float | None] = {"k": float(k)}
    if df is not None:
        units = Count(design(strata).units, "row or cluster")
        method += Fact("weights_or_clusters", units=units, df=df)
        details["df"] = df
    if se <= 1e-12 * max(1.0, abs(value)) or df == 0:
        return Estimate(value, None, None, None, n, method, events, None, details, intervals.NO_SPREAD)
    reach = intervals.two_sided(level) if df is None else intervals.two_sided_student(level, df)
    at = value if inside is None or 0 < value < 1 else inside
    centre, half = intervals.forward(at, scale), reach * se / intervals.stretch(at, scale)
    low, high = intervals.back(centre - half, scale), intervals.back(centre + half, scale)
    method = method if scale == "plain" else method + Fact("on_scale", scale=scale)
    if at != value:
        low, high = min(low, value), max(high, value)
        low, high = (low, value) if value == 1 else (value, high)
        method += Fact("at_value_inside", at=at)
    return Estimate(value, low, high, level, n, method, events, se, details)


# ---- the measures ---------------------------------------------------------------------------------------------------


@stratified
def oe_ratio(strata: Strata, level: float = 0.95) -> Estimate | Absent:
    """The events of all sites over those expected at all of them.

    `strata` are the rows of each site, `level` the confidence level. Returns sum(O)/sum(E) with an interval symmetric
    on the log scale, SE(log)^2 = sum over sites of n/(n - 1) sum of (d - mean d)^2 / O^2, d = y - r p with r the ratio
    over all rows; of clusters d is summed first, and rows count by their weights. Without an event it is 0 with its
    exact upper bound. Absent when none is expected.
    """
    if not strata:
        return NO_ROWS
    rows = _all_rows(strata)
    if not rows.outcome.any():
        none = calibration.oe_ratio(rows.outcome, rows.risk, level)
        return none if isinstance(none, Absent) else replace(none, details={**none.details, "k": float(len(strata))})
    found = present(weighted.oe_ratio(rows))
    se = math.sqrt(design(strata).variance(found.linearized))
    return _estimate(found.value, se, strata, level, "log", Method("sums"))


@stratified
def auroc(strata: Strata, level: float = 0.95) -> Estimate | Absent:
    """The share of the pairs of a case and another of the same site in which the case has the higher risk.

    Arguments: as for `oe_ratio`. Returns sum of w A, A the AUROC of a site and w its share of the pairs, with SE^2 =
    sum of w^2 SE^2 and an interval symmetric on the logit scale. A site's SE is DeLong's; with fewer than two cases or
    others, or at an AUROC of exactly 0 or 1, Newcombe's; that of its weights or clusters where it has some. Sites of
    one class have no pair and do not enter, nor do their rows. Absent where all are such.
    """
    known = [(stratum, found) for stratum in strata if (found := auroc_of_site(stratum)) is not None]
    if not known:
        return Absent(Fact("no_pair_at_any_site")) if strata else NO_ROWS
    every = math.fsum(found.pairs for _, found in known)
    shares = [found.pairs / every for _, found in known]
    value = math.fsum(share * found.value for share, (_, found) in zip(shares, known, strict=True))
    variance = math.fsum(share**2 * found.variance for share, (_, found) in zip(shares, known, strict=True))
    # Rounding must not move a value of exactly 1 off it.
    value = 1.0 if all(found.value == 1 for _, found in known) else value
    kept = [stratum for stratum, _ in known]
    inside = math.fsum(
        share * (len(stratum.outcome) * found.value + 0.5) / (len(stratum.outcome) + 1)
        for share, (stratum, found) in zip(shares, known, strict=True)
    )
    return _estimate(value, math.sqrt(variance), kept, level, "logit", Method("pairs_within_sites"), inside)


@dataclass(frozen=True)
class OfPairs:
    """A share of the pairs of one site, how many pairs there are, and its variance."""

    value: float
    pairs: float
    variance: float


def auroc_of_site(stratum: Stratum) -> OfPairs | None:
    if not stratum.is_dependent:
        found = discrimination.auroc(stratum.outcome, stratum.risk)
        if isinstance(found, Absent):
            return None
        events = float(stratum.outcome.sum())
        # Where all risks are tied every pair counts one half, whoever the patients are.
        variance = 0.0 if found.se is None else found.se**2
        return OfPairs(found.value, events * (len(stratum.outcome) - events), variance)
    rows = stratum.rows()
    whole = weighted.auroc(rows)
    if isinstance(whole, Absent):
        return None
    cases, others = (float(rows.weights[rows.outcome == label].sum()) for label in (1, 0))
    variance = stratum.design.variance(whole.linearized)
    if variance <= 1e-24:
        n, events = len(stratum.outcome), int(stratum.outcome.sum())
        variance = discrimination.newcombe_standard_error((n * whole.value + 0.5) / (n + 1), n, events) ** 2
    return OfPairs(whole.value, cases * others, variance)


@stratified
def calibration_intercept(strata: Strata, level: float = 0.95) -> Estimate | Absent:
    """The one intercept that all sites have in common, the slope held at 1.

    Arguments: as for `oe_ratio`. Returns a of logit P(y) = a + logit p over the rows of all sites with the Wald
    interval; of weights or clusters with the error of the score, centred within sites. Risks of exactly 0 or 1 have no
    log odds: their rows are left out and counted in the method. Absent when all rows are of one class.
    """
    kept, left_out = _with_log_odds(strata)
    if not kept:
        return NO_ROWS
    rows = _all_rows(kept)
    found = present(calibration.INTERCEPT(rows))
    if freedom(kept) is None:
        fitted = logistic.expit(logistic.logit(rows.risk) + found.value)
        variance = 1 / float((fitted * (1 - fitted)).sum())
    else:
        variance = design(kept).variance(found.linearized)
    return _estimate(found.value, math.sqrt(variance), kept, level, "plain", Method("single_intercept", *left_out))


@stratified
def calibration_slope(strata: Strata, level: float = 0.95) -> Estimate | Absent:
    """The one slope that all sites have in common, every site with an intercept of its own.

    Arguments: as for `oe_ratio`. Returns b of logit P(y) = a(site) + b logit p, all intercepts and the slope fitted
    together, with the Wald interval; of weights or clusters with the error of the score, centred within sites. A site
    of one class tells nothing of the slope and does not enter. Risks of exactly 0 or 1 have no log odds: their rows
    are left out and counted in the method. Absent when no site has both classes, when at each site every risk is the
    same, or when the risks separate the outcomes.
    """
    with_log_odds, left_out = _with_log_odds(strata)
    kept = [
        stratum
        for stratum in with_log_odds
        if 0 < (stratum.relative_weights * stratum.outcome).sum() < len(stratum.outcome)
    ]
    if not kept:
        return Absent(Fact("one_class_at_every_site")) if strata else NO_ROWS
    fit = present(_common_slope(kept))
    value, information, score = fit
    variance = 1 / information if freedom(kept) is None else design(kept).variance(score / information)
    return _estimate(value, math.sqrt(variance), kept, level, "plain", Method("single_slope", *left_out))


def _with_log_odds(strata: Strata) -> tuple[list[Stratum], Method]:
    """The sites without the rows whose risk is exactly 0 or 1, and the step that counts these."""
    inside = [(stratum.risk > 0) & (stratum.risk < 1) for stratum in strata]
    left_out = sum(int((~rows).sum()) for rows in inside)
    parts = [
        Stratum(stratum.outcome[rows], stratum.risk[rows], stratum.design.of(rows))
        for stratum, rows in zip(strata, inside, strict=True)
    ]
    kept = [part for part in parts if len(part.outcome) and not part.design.is_empty]
    return kept, Method(*([Fact("certain_rows_left_out", rows=Count(left_out, "row"))] if left_out else []))


def _common_slope(strata: Strata) -> tuple[float, float, Floats] | Absent:
    """The slope, its information, and the score of each row, by Newton's method with an intercept a site."""
    rows, count = _all_rows(strata), len(strata)
    site = np.repeat(np.arange(count), [len(stratum.outcome) for stratum in strata])
    log_odds = logistic.logit(rows.risk)
    total = _by_site(rows.weights, site)
    # Around the mean of its site, so that intercepts and slope hardly pull on each other.
    apart = log_odds - (_by_site(rows.weights * log_odds, site) / total)[site]
    spread = math.sqrt(float((rows.weights * apart**2).sum() / rows.weights.sum()))
    if spread <= 1e-10 * max(1.0, float(np.abs(log_odds).max())):
        return Absent(Fact("all_risks_equal_at_every_site"))
    share = _by_site(rows.weights * rows.outcome, site) / total
    at = np.append(np.log(share / (1 - share)), 0.0)
    for _ in range(100):
        step = _newton(at, rows, site, apart / spread)
        if step is None:
            return SEPARATED
        if float(np.abs(step.of).max()) <= 1e-12 * max(1.0, abs(float(at[-1]))):
            return float(at[-1]) / spread, step.information * spread**2, step.score * spread
        at = _uphill(at, step.of, rows, site, apart / spread)
    return Absent(Fact("common_slope_did_not_converge"))


@dataclass(frozen=True)
class _Step:
    """Newton's step of the intercepts and, last, the slope; the information on the slope, and the rows' score of it."""

    of: Floats
    information: float
    score: Floats


def _by_site(values: Floats, site: Integers) -> Floats:
    return np.asarray(np.bincount(site, weights=values), dtype=np.float64)


def _newton(at: Floats, rows: Rows, site: Integers, unit: Floats) -> _Step | None:
    """The step from here; None where the rows tell next to nothing of an intercept or the slope."""
    fitted = logistic.expit(at[site] + at[-1] * unit)
    residual, spreads = rows.weights * (rows.outcome - fitted), rows.weights * fitted * (1 - fitted)
    of_site = _by_site(spreads, site)
    if float(of_site.min()) < 1e-9:
        return None
    centre = _by_site(spreads * unit, site) / of_site
    information = float((spreads * (unit - centre[site]) ** 2).sum())
    if information < 1e-9 * len(site):
        return None
    score = residual * (unit - centre[site])
    of_slope = float(score.sum()) / information
    return _Step(np.append(_by_site(residual, site) / of_site - centre * of_slope, of_slope), information, score)


def _uphill(at: Floats, step: Floats, rows: Rows, site: Integers, unit: Floats) -> Floats:
    """Where the step leads, halved until the likelihood does not fall."""

    def likelihood(here: Floats) -> float:
        linear = here[site] + here[-1] * unit
        return float((rows.weights * (rows.outcome * linear - np.logaddexp(0, linear))).sum())

    now = likelihood(at)
    for _ in range(40):
        if likelihood(at + step) >= now - 1e-10 * max(1.0, abs(now)):
            break
        step = step / 2
    return at + step


SEPARATED = Absent(Fact("outcomes_separated_no_common_slope"))


# ---- means over sites -----------------------------------------------------------------------------------------------


def mean_of_sites(
    estimates: Sequence[Estimate], level: float, by_pairs: bool = False, counts: Sequence[float] | None = None
) -> Estimate | Absent:
    """The mean of a measure over the rows of all sites, or over their pairs of a case and another, from each site's.

    `estimates` are those of one measure, one a site, such as a difference in Brier score, whose value at a site is a
    mean over its rows. Returns sum of w v, w the site's share of the rows, or with `by_pairs` of the pairs (a
    difference in AUROC), or of `counts`, with SE^2 = sum of w^2 SE^2. Its ends lie as far off, squared, as the sum of
    w^2 (v - end)^2 of the sites' own intervals (MOVER), skewed as they are: far from a limit those of a normal one, and
    never where no site could be; where a site has an error and no interval it is normal. Absent without sites; the
    interval is missing where a site has no standard error.

    Zou and Donner 2008.
    """
    if not estimates:
        return NO_ROWS
    sizes = counts or (list(_pairs_of(estimates)) if by_pairs else [float(estimate.n) for estimate in estimates])
    shares = [size / math.fsum(sizes) for size in sizes]
    value = math.fsum(share * estimate.value for share, estimate in zip(shares, estimates, strict=True))
    errors = [estimate.se for estimate in estimates]
    events = [estimate.events for estimate in estimates]
    n, known = (
        sum(estimate.n for estimate in estimates),
        None if None in events else sum(event or 0 for event in events),
    )
    count = len(estimates)
    method = Method(Fact("stratified", sites=count), "mean_over_pairs" if by_pairs else "mean_over_rows")
    details = {"k": float(count)}
    if any(error is None for error in errors):
        reason = Fact("not_every_site_with_standard_error")
        return Estimate(value, None, None, None, n, method, known, None, details, reason)
    se = math.sqrt(math.fsum((share * (error or 0.0)) ** 2 for share, error in zip(shares, errors, strict=True)))
    ends = [(estimate.low, estimate.high) for estimate in estimates]
    below, above = (
        [abs(estimate.value - end) for estimate, end in zip(estimates, side, strict=True) if end is not None]
        for side in zip(*ends, strict=True)
    )
    if len(below) == len(above) == count:
        low, high = (value + sign * math.hypot(*map(mul, shares, side)) for sign, side in ((-1, below), (1, above)))
        return Estimate(value, low, high, level, n, method + "mover_of_sites", known, se, details)
    half = intervals.two_sided(level) * se
    return Estimate(value, value - half, value + half, level, n, method + "normal", known, se, details)


def _pairs_of(estimates: Sequence[Estimate]) -> Iterator[float]:
    for estimate in estimates:
        if estimate.events is None or estimate.others is None:
            raise TypeError("pairs are counted from the events of a site")
        yield float(estimate.events) * estimate.others
