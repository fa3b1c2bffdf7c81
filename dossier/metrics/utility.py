"""Net benefit and weighted utility: is it better to act on the model than to treat everybody or nobody?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dossier.core import bands, register
from dossier.core.facts import Count, Fact, Method
from dossier.core.types import Absent, Curve, Description, Estimate, Floats, SiteResults, found_curve
from dossier.metrics import discrimination, graded_accuracy, shares, time_to_event, weighted
from dossier.metrics.censoring import TimeToEvent, Weights
from dossier.metrics.intervals import banded, column, two_sided, two_sided_student, wilson_bounds
from dossier.metrics.raters import NO_CONFIDENCE, NO_RATERS, mean_of_known
from dossier.metrics.shares import Bools, Design, Sampled, estimate_of

POINTS = 101
"""Thresholds of a decision curve."""

AT_ONE = Absent(Fact("no_net_benefit_at_one"))


def contributions(outcome: Floats, risk: Floats, threshold: float) -> Floats:
    """What each row adds to the net benefit: 1 for a true positive, minus the odds of the threshold for a false one."""
    odds = threshold / (1 - threshold)
    return np.where(risk >= threshold, outcome - (1 - outcome) * odds, 0.0)


def of_followed(rows: weighted.Rows) -> weighted.Found:
    """The net benefit of rows of which some were not followed to the horizon."""
    if rows.threshold >= 1:
        return AT_ONE
    (benefit,), everyone = _over_defaults(rows, _over_none)
    return replace(benefit, details={"treat_all": everyone})


def _over_defaults(
    rows: weighted.Rows, *over: Callable[[float], tuple[float, ...]]
) -> tuple[list[weighted.Weighted], float]:
    """The net benefit of rows at their weights over such defaults, and that of flagging everyone.

    Summed as that of rows that count alike, so that where nobody left both are the same number.
    """
    members = cells_at(rows.outcome, rows.risk, rows.threshold)
    cells = [rows.mean(cell.astype(float)) for cell in members]
    values, each = np.array([cell.value for cell in cells]), np.array([cell.linearized for cell in cells])
    every = (np.array(default(rows.threshold)) for default in over)
    sums = [weighted.Weighted(float(np.sum(of * values)), of @ each) for of in every]
    return sums, _of_everyone(values.tolist(), rows.threshold)


def gain_of_followed(rows: weighted.Rows) -> weighted.Found:
    """The net benefit of such rows over the better of flagging everyone and flagging no one."""
    if rows.threshold >= 1:
        return AT_ONE
    both, everyone = _over_defaults(rows, _over_everyone, _over_none)
    least, other = sorted(both, key=lambda gain: gain.value)
    return replace(least, details={"default": max(everyone, 0.0)}, beside=other)


at_threshold = partial(register.metric, at=("threshold",), against_rest="by class", protection="counts")
"""A net benefit at a threshold."""


@at_threshold(breaks=("perfect is best", "one class is absent"), followed=of_followed)
def net_benefit(
    outcome: Floats, risk: Floats, threshold: float, level: float = 0.95, design: Sampled = None
) -> Estimate | Absent:
    """The share of patients rightly flagged, less those flagged in error at the exchange rate of the threshold.

    0 is what treating nobody gives; the highest possible value is the prevalence. A threshold of 10 % says that one
    missed case is as bad as nine needless treatments.

    Parameters
    ----------
    threshold : float
        0 to below 1; positive means risk >= threshold.

    Returns
    -------
    Estimate or Absent
        TP/n - FP/n t/(1-t). Absent without rows or at a threshold of 1.

    Notes
    -----
    Its interval puts together Wilson's intervals of the two shares x = TP/n and y = FP/n with their correlation r
    (MOVER): low = value - sqrt(d^2 + e^2 - 2 r d e), d = x - x_low, e = w (y_high - y), w = t/(1-t); high = value + the
    same of x_high - x and w (y - y_low); r = -sqrt(xy/((1-x)(1-y))), as no row is in both. A normal interval drops a
    share of 0. Rows in clusters or with weights take each share's effective number of rows, their covariance by
    linearization and the t distribution. `se` is (high - low)/(2 z). `details` holds `treat_all`, the net benefit of
    flagging everyone. Source: Vickers and Elkin 2006; Zou and Donner 2008.
    """
    design = design or Design(len(outcome))
    register.present(no_net_benefit(threshold, design))
    found = shares.sum_of_shares(cells_at(outcome, risk, threshold), [_over_none(threshold)], design)
    return estimate_of(found, design, outcome, level, {"treat_all": _of_everyone(found.shares, threshold)})


def no_net_benefit(threshold: float, design: Design) -> Absent | None:
    """Why these rows have no net benefit at this threshold; None where they have one."""
    if threshold >= 1:
        return AT_ONE
    return shares.NO_WEIGHT if design.is_empty else None


def cells_at(outcome: Floats, risk: Floats, threshold: float) -> Bools:
    """Which rows are true positives, false positives, false negatives and true negatives: (4, n)."""
    flagged, case = risk >= threshold, outcome == 1
    return np.array([flagged & case, flagged & ~case, ~flagged & case, ~flagged & ~case])


def _over_none(threshold: float) -> tuple[float, ...]:
    """What the four cells add to the net benefit, which is that over flagging no one."""
    return 1.0, -threshold / (1 - threshold), 0.0, 0.0


def _over_everyone(threshold: float) -> tuple[float, ...]:
    """What the four cells add to the net benefit over that of flagging everyone."""
    return 0.0, 0.0, -1.0, threshold / (1 - threshold)


def _of_everyone(cells: Sequence[float], threshold: float) -> float:
    """The net benefit of flagging everyone."""
    hit, alarm, missed, spared = cells
    return hit + missed - (alarm + spared) * threshold / (1 - threshold)


def weighted_standardized_net_benefit(rows: weighted.Rows) -> weighted.Found:
    """The weighted net benefit over the weighted prevalence."""
    if rows.threshold >= 1:
        return AT_ONE
    phi = rows.mean(rows.outcome)
    if phi.value == 0:
        return weighted.one_class(rows) or weighted.NO_CASE
    return weighted.ratio(rows.mean(contributions(rows.outcome, rows.risk, rows.threshold)), phi)


@at_threshold(breaks=("one class is absent",), weighted=weighted_standardized_net_benefit)
def standardized_net_benefit(outcome: Floats, risk: Floats, threshold: float, level: float = 0.95) -> Estimate | Absent:
    """The net benefit as a share of the highest that a perfect model could reach at this site.

    1 is perfect, 0 is what treating nobody gives.

    Returns
    -------
    Estimate or Absent
        Net benefit / prevalence, phi the prevalence observed at the site: a - c with a = TP/O, c = w FP/O, w = t/(1-t)
        and O the cases. Absent without rows, without a case or at a threshold of 1.

    Notes
    -----
    Its interval puts together two of Wilson's (MOVER): that of a, and of q = FP/(FP + O) on FP + O rows, from which
    the bounds of c = w q/(1-q) follow; low = value - sqrt((a - a_low)^2 + (c_high - c)^2), high = value + sqrt((a_high
    - a)^2 + (c - c_low)^2). A normal interval holds too seldom where few are flagged in error. `se` is
    (high - low)/(2 z). Source: Kerr 2016; Zou and Donner 2008.
    """
    if threshold >= 1:
        return AT_ONE
    cases = int(outcome.sum())
    if cases == 0:
        return Absent(Fact("no_event", rows=Count(len(outcome), "row")))
    value = float(contributions(outcome, risk, threshold).mean()) / float(outcome.mean())
    hits, alarms = (np.sum((risk >= threshold) & (outcome == label), dtype=float) for label in (1, 0))
    low, high = map(float, _standardized_bounds(hits, alarms, threshold / (1 - threshold), cases, level))
    return _with_bounds(value, low, high, level, outcome)


def _standardized_bounds(
    hits: float | Floats, alarms: float | Floats, odds: float | Floats, cases: int, level: float
) -> tuple[Floats, Floats]:
    """The bounds of (hits - odds x alarms) / cases, from counts (...)."""
    hit = np.asarray(hits / cases)
    return _less_alarms(hit, wilson_bounds(hit, cases, two_sided(level)), alarms, odds, cases, level)


def _less_alarms(
    hit: float | Floats,
    bounds_of_hit: tuple[float | Floats, float | Floats],
    alarms: float | Floats,
    odds: float | Floats,
    cases: float,
    level: float,
) -> tuple[Floats, Floats]:
    """The bounds of hit - odds x alarms / cases, where both counts are random: their share of all is one of trials."""
    share = np.asarray(alarms / (alarms + cases))
    cost, (least, most) = odds * alarms / cases, wilson_bounds(share, alarms + cases, two_sided(level))
    down = np.hypot(hit - bounds_of_hit[0], odds * most / (1 - most) - cost)
    up = np.hypot(bounds_of_hit[1] - hit, cost - odds * least / (1 - least))
    return np.asarray(hit - cost - down), np.asarray(hit - cost + up)


def _with_bounds(
    value: float,
    low: float,
    high: float,
    level: float,
    outcome: Floats,
    details: Mapping[str, float | None] | None = None,
) -> Estimate:
    """The estimate of a utility that is a difference of a share and a ratio; its error is that of a normal interval."""
    method, se = Method("mover"), (high - low) / (2 * two_sided(level))
    low, high = min(value, low), max(value, min(1.0, high))
    return Estimate(value, low, high, level, len(outcome), method, int(outcome.sum()), se, details or {})


def standardized_variance(outcome: Floats, risk: Floats, threshold: float) -> float:
    """Riley's variance of the standardized net benefit, written so that a site without non-cases is no special case."""
    n, phi = len(outcome), float(outcome.mean())
    positive = risk >= threshold
    hit = float(positive[outcome == 1].mean())
    false_alarm = float(positive[outcome == 0].mean()) if phi < 1 else 0.0
    scale = (1 - phi) * (threshold / (1 - threshold) / phi) ** 2
    return (hit * (1 - hit) / phi + scale * (false_alarm * (1 - false_alarm) + false_alarm**2 / phi)) / n


@at_threshold(
    pool="plain", mean_over="rows", breaks=("perfect is best", "one class is absent"), followed=gain_of_followed
)
def net_benefit_gain(
    outcome: Floats, risk: Floats, threshold: float, level: float = 0.95, design: Sampled = None
) -> Estimate | Absent:
    """What the model adds, in net benefit, to the better of flagging everyone and flagging no one.

    Below 0 it would be better to do without the model.

    Returns
    -------
    Estimate or Absent
        The smaller of w TN/n - FN/n, the gain over flagging everyone, and TP/n - w FP/n, that over no one, w = t/(1-t),
        with the interval that `net_benefit` gives such a sum of two shares. Absent without rows or at a threshold of 1.

    Notes
    -----
    Each bound is the lower of those of the two gains: the interval lies above 0 only where the model exceeds both
    defaults, and below 0 where either exceeds the model. A sample may take the worse default for the better one.
    `details` holds `default`, the net benefit of that default, and below 0 `everyone_exceeds`, 1 where the lower upper
    bound is that of the gain over flagging everyone, else 0. Source: Vickers and Elkin 2006; as expected utility with
    the advice less that without it, the value of information of Campagner 2023; the interval Zou and Donner 2008.
    """
    design = design or Design(len(outcome))
    register.present(no_net_benefit(threshold, design))
    sums = [_over_everyone(threshold), _over_none(threshold)]
    found = shares.sum_of_shares(cells_at(outcome, risk, threshold), sums, design)
    gain = estimate_of(found, design, outcome, level, {"default": max(_of_everyone(found.shares, threshold), 0.0)})
    if gain.high is None or gain.high >= 0:
        return gain
    (_, over_everyone), (_, over_no_one) = shares.bounds_of_each(found, two_sided_student(level, found.freedom))
    return replace(gain, details={**gain.details, "everyone_exceeds": float(over_everyone < over_no_one)})


# ---- weighted utility -----------------------------------------------------------------------------------------------


def confidence_to_act(labels: Floats, confidence: Floats) -> Floats:
    """How sure the raters of each case are that it has the outcome, from 0 to 1; NaN for a case without ratings.

    `labels`, `confidence` (cases x raters, NaN where missing; 0 or 1, and 0 to 1). The mean of (c+1)/2 over the raters
    who said 1 and (1-c)/2 over those who said 0.
    """
    stated_risk = np.where(labels == 1, (confidence + 1) / 2, (1 - confidence) / 2)
    return mean_of_known(np.where(np.isnan(labels), np.nan, stated_risk), 1)


def persuasion(labels: Floats, confidence: Floats) -> Floats:
    """How sure a model must be to win over the raters of each case: 1 - `confidence_to_act`."""
    return 1 - confidence_to_act(labels, confidence)


def automation_bias(labels: Floats) -> Floats:
    """How sure a model must be lest agreeing raters be misled, from 0 to 1; NaN for a case without ratings.

    `labels` (cases x raters, NaN where missing). d/2 where at least half said 1, else (2-d)/2; d is the disagreement as
    a share of the largest possible: pairs that disagree x 4/((m+1)(m-1)) for an odd number m of raters, x 4/m^2 for an
    even one (the printed factor passes 1); a single rater disagrees with nobody.
    """
    raters = np.sum(~np.isnan(labels), axis=1).astype(float)
    yes = np.nansum(labels, axis=1)
    most = np.where(raters % 2 == 1, (raters**2 - 1) / 4, raters**2 / 4)
    disagreement = yes * (raters - yes) / np.maximum(most, 1)
    tau = np.where(yes >= raters / 2, disagreement / 2, (2 - disagreement) / 2)
    return np.where(raters > 0, tau, np.nan)


def cost_benefit(cost: Floats, benefit: Floats) -> Floats:
    """The threshold that follows from what a needless action costs and a needed one brings: C/(B+C); NaN if both are 0.

    `cost`, `benefit` (n, 0 or more).
    """
    # The larger of the two divides first, so that neither a huge nor a tiny unit is lost.
    larger = np.maximum(cost, benefit)
    scale = np.where(larger > 0, larger, np.nan)
    return cost / scale / (benefit / scale + cost / scale)


def utility_credit(risk: Floats, tau: Floats, gamma: float) -> Floats:
    """How far each risk counts as an alarm: 0 up to gamma tau, 1 from tau on, a straight line between.

    `risk`, `tau` (n, 0 to 1), `gamma` (0 to 1; 1: an alarm or none). At a tau of 0 everything is an alarm.
    """
    full = (risk >= tau) | (tau == 0)
    between = ~full & (risk > gamma * tau)
    width = np.where(between, (1 - gamma) * tau, 1.0)
    return np.where(full, 1.0, np.where(between, np.clip((risk - gamma * tau) / width, 0, 1), 0.0))


@dataclass(frozen=True)
class UtilityParts:
    """How far each row counts as an alarm, what a case weighs, and what a false alarm costs."""

    alarm: Floats
    relevance: Floats
    cost: Floats
    """0 where tau is 1, which no row without the outcome may reach."""
    others: Bools
    """The rows without the outcome."""

    @property
    def false_alarms(self) -> Floats:
        """What each row costs: 0 but for those without the outcome that are flagged."""
        return np.where(self.others, self.cost * self.alarm, 0.0)


def utility_parts(outcome: Floats, alarm: Floats, tau: Floats, relevance: Floats) -> UtilityParts | Absent:
    """The rows' shares of weighted utility; Absent when a false alarm stands at a tau of 1.

    `outcome` (n, 0 or 1), `alarm` (n, 0 to 1, from `utility_credit` or any other rule), `tau`, `relevance` (n, 0 to 1).
    """
    weight = relevance * outcome
    if not weight.any():
        return Absent(Fact("no_case_with_relevance") if outcome.any() else Fact("no_row_has_outcome"))
    endless = int(np.sum((outcome == 0) & (relevance * alarm > 0) & (tau >= 1)))
    if endless:
        return Absent(Fact("alarms_weigh_endlessly", alarms=Count(endless, "row")))
    odds = np.divide(tau, 1 - tau, out=np.zeros(len(tau)), where=tau < 1)
    return UtilityParts(alarm, weight, relevance * odds, np.asarray(outcome == 0))


def utility_value(parts: UtilityParts) -> float:
    """Weighted utility: what the rows gain, as a share of what a perfect model would."""
    return math.fsum(parts.relevance * parts.alarm - parts.false_alarms) / math.fsum(parts.relevance)


def utility_bounds(parts: UtilityParts, level: float) -> tuple[float, float]:
    """The bounds of weighted utility: those of a standardized net benefit of as many cases and false alarms.

    Weights count as so many equal ones as they are worth, (sum)^2 / sum of squares; where nothing is flagged in error,
    a false alarm weighs what it would if everyone were such a row.
    """
    cases = parts.relevance > 0
    found = graded_accuracy.class_ratio(parts.alarm[cases], parts.relevance[cases])
    cost = parts.false_alarms
    each = cost if cost.any() else parts.cost
    alarms = graded_accuracy.effective_size(cost) if cost.any() else 0.0
    of_one = math.fsum(each**2) / math.fsum(each) if each.any() else 0.0
    odds = of_one * math.fsum(parts.relevance) / math.fsum(parts.relevance**2)
    hit = graded_accuracy.bounds_of_class(found, level)
    low, high = _less_alarms(found.value, hit, alarms, odds, found.effective, level)
    return float(low), float(high)


@register.metric(at=("gamma", "relevance", "tau"), breaks=("one class is absent",), against_rest="by class")
def weighted_utility(
    outcome: Floats,
    risk: Floats,
    tau: float | str,
    gamma: float = 1.0,
    relevance: str = "constant",
    labels: Floats | None = None,
    confidence: Floats | None = None,
    rater_complexity: Floats | None = None,
    case_relevance: Floats | None = None,
    cost: Floats | None = None,
    benefit: Floats | None = None,
    level: float = 0.95,
) -> Estimate | Absent:
    """What the model is worth when each case has its own threshold and its own importance, as a share of the most.

    1 is perfect, 0 is what raising no alarm gives. With one threshold for all and equal relevance it is the
    standardized net benefit.

    Parameters
    ----------
    tau : float or str
        0 to 1 for all cases, or the source of a threshold for each: "confidence", "persuasion", "automation_bias" from
        the raters, "cost_benefit" from the columns `cost` and `benefit`.
    gamma : float
        0 to 1: the share of tau from which a risk begins to count; 1: only from tau on.
    relevance : str
        "constant": 1 for all; "raters": the mean complexity that the raters gave, divided by the largest; any other
        word: the column `case_relevance`, n, 0 to 1.
    case_relevance : array_like
        How relevant the cases are, n values from 0 to 1.
    cost : array_like
        What acting costs, n values of 0 or more.
    benefit : array_like
        What acting gains, n values of 0 or more.

    Returns
    -------
    Estimate or Absent
        (1/R+) [sum over cases of r sigma - sum over non-cases of r tau/(1-tau) sigma], R+ the sum of r over cases, with
        the interval of a standardized net benefit (MOVER) at effective numbers of cases and of false alarms, (sum)^2 /
        sum of squares of what they weigh. Absent without a relevant case, when a non-case with any credit has a tau of
        1, when the source of tau or relevance is not there, or when the raters judged other rows.

    Notes
    -----
    Cases without a tau or a relevance are left out. `details`: `left_out`, and `tau_zero` and `tau_one`, the numbers of
    cases at either end.
    """
    chosen = register.present(_tau(tau, len(outcome), labels, confidence, cost, benefit))
    if relevance == "raters" and labels is None:
        return NO_RATERS
    weight = register.present(_relevance(relevance, len(outcome), rater_complexity, case_relevance))
    keep = ~np.isnan(chosen) & ~np.isnan(weight)
    outcome, risk, chosen, weight = outcome[keep], risk[keep], chosen[keep], weight[keep]
    if len(outcome) == 0:
        return register.NO_ROWS if keep.size == 0 else Absent(Fact("no_case_with_threshold_and_relevance"))
    parts = register.present(utility_parts(outcome, utility_credit(risk, chosen, gamma), chosen, weight))
    details: dict[str, float | None] = {
        "left_out": float(np.sum(~keep)),
        "tau_zero": float(np.sum(chosen == 0)),
        "tau_one": float(np.sum(chosen == 1)),
    }
    return _with_bounds(utility_value(parts), *utility_bounds(parts, level), level, outcome, details)


def _tau(
    tau: float | str,
    rows: int,
    labels: Floats | None,
    confidence: Floats | None,
    cost: Floats | None,
    benefit: Floats | None,
) -> Floats | Absent:
    """The threshold of each row, NaN where its source says nothing."""
    if not isinstance(tau, str):
        return np.full(rows, float(tau)) if 0 <= tau <= 1 else Absent(Fact("tau_outside_range", tau=tau))
    if tau == "cost_benefit":
        return Absent(Fact("no_costs_and_benefits")) if cost is None or benefit is None else cost_benefit(cost, benefit)
    if labels is None:
        return NO_RATERS
    if len(labels) != rows:
        return Absent(Fact("raters_judged_some", judged=Count(len(labels), "case", rows)))
    if tau == "automation_bias":
        return automation_bias(labels)
    if confidence is None:
        return NO_CONFIDENCE
    if tau not in ("confidence", "persuasion"):
        return Absent(Fact("no_source_of_thresholds", name=tau))
    return confidence_to_act(labels, confidence) if tau == "confidence" else persuasion(labels, confidence)


def _relevance(
    relevance: str, rows: int, rater_complexity: Floats | None, case_relevance: Floats | None
) -> Floats | Absent:
    """The relevance of each row, NaN where its source says nothing."""
    if relevance == "constant":
        return np.ones(rows)
    if relevance != "raters":
        return Absent(Fact("no_column_in_rows", column=relevance)) if case_relevance is None else case_relevance
    if rater_complexity is None:
        return Absent(Fact("no_complexity"))
    if len(rater_complexity) != rows:
        return Absent(Fact("raters_judged_some", judged=Count(len(rater_complexity), "case", rows)))
    mean = mean_of_known(rater_complexity, 1)
    largest = float(np.max(mean[~np.isnan(mean)], initial=0.0))
    return mean / largest if largest > 0 else Absent(Fact("no_case_called_complex"))


# ---- decision curves ------------------------------------------------------------------------------------------------


def _counts_at(chosen: Floats, thresholds: Floats) -> Floats:
    """How many of the risks reach each threshold."""
    reached = len(chosen) - np.searchsorted(np.sort(chosen), thresholds, side="left")
    return np.asarray(reached, dtype=float)


BAND = register.Band("threshold", (register.Line("net_benefit", of_shares=False, makes_its_own=True),))
"""The band of a decision curve."""


decisions = partial(register.curve, band=BAND, protection="decisions", followed=True)
"""A decision curve of one site."""


@decisions(against_rest=True, of_rivals=True)
def decision_curve(
    outcome: Floats,
    risk: Floats,
    threshold_range: tuple[float, float] | None = None,
    level: float = 0.95,
    declared_thresholds: tuple[float, ...] = (),
    design: Sampled = None,
) -> Curve | Absent:
    """The net benefit of acting on the model, of treating everybody and of treating nobody, over a range of thresholds.

    Arguments: `threshold_range` (lowest and highest threshold, below 1; None: the 1st and the 99th percentile of the
    risks, cut inwards to even steps so that no end is the risk of a person), `declared_thresholds` (those inside the
    range are points of the curve), `design` (of n rows). Returns 101 thresholds and the declared ones with
    `net_benefit`, its interval `low` and `high` and its standard error `se` as the measure has them at each threshold,
    `treat_all` and `treat_none`. Absent without rows, when the range reaches 1, or when nearly all risks are the same
    and no range is declared. Source: Vickers and Elkin 2006.
    """
    ends = threshold_range or discrimination.risk_range(risk)
    if ends[1] >= 1:
        return AT_ONE
    if ends[0] == ends[1]:
        return Absent(Fact("no_range_of_thresholds_or_risks"))
    return _curve_over(outcome, risk, _grid(*ends, declared_thresholds), level, design)


BESIDE = 0.25
"""How far the wide decision curve reaches beyond the declared range on either side, as a share of that range."""
HIGHEST = 0.99


@decisions()
def decision_curve_wide(
    outcome: Floats,
    risk: Floats,
    threshold_range: tuple[float, float] | None = None,
    level: float = 0.95,
    declared_thresholds: tuple[float, ...] = (),
    design: Sampled = None,
) -> Curve | Absent:
    """The decision curve a little further than the declared range, which shows whether a conclusion hangs on its ends.

    Arguments, columns and reasons for absence: as for `decision_curve`; the thresholds reach a quarter of the range
    further on either side, within 0 to .99. Absent also when no range is declared. Source: Vickers and Elkin 2006.
    """
    if threshold_range is None:
        return Absent(Fact("no_range_of_thresholds"))
    low, high = threshold_range
    if high >= 1:
        return AT_ONE
    more = BESIDE * (high - low)
    ends = max(0.0, low - more), max(high, min(HIGHEST, high + more))
    return _curve_over(outcome, risk, _grid(*ends, (low, high, *declared_thresholds)), level, design)


def _curve_over(outcome: Floats, risk: Floats, thresholds: Floats, level: float, sampled: Sampled) -> Curve | Absent:
    """The columns of a decision curve at these thresholds."""
    design = sampled or Design(len(outcome))
    if design.censoring is not None:
        return _curve_of_followed(design.censoring, risk, thresholds, level, design)
    phi, odds = float(outcome.mean()), thresholds / (1 - thresholds)
    columns: dict[str, tuple[float | None, ...]] = {"threshold": column(thresholds)}
    columns |= _benefit_of(outcome, risk, thresholds, level, design)
    columns |= {"treat_all": column(phi - (1 - phi) * odds), "treat_none": (0.0,) * len(thresholds)}
    return Curve(columns, len(outcome), Method("at_each_threshold", *design.method), int(outcome.sum()))


@register.absent_with_its_parts
def _curve_of_followed(known: Weights, risk: Floats, thresholds: Floats, level: float, design: Design) -> Curve:
    """A decision curve where the outcome is by a horizon: the measure at each threshold."""
    outcome = TimeToEvent(known.time, known.status, known.t)
    found = [
        register.present(
            time_to_event.at_weights(
                of_followed, weighted.Rows.followed(outcome, risk, float(at)), level, "plain", (None, 1.0), design
            )
        )
        for at in thresholds
    ]
    names = {"net_benefit": "value", "low": "low", "high": "high", "se": "se"}
    columns: dict[str, tuple[float | None, ...]] = {"threshold": column(thresholds)}
    columns |= {name: tuple(getattr(each, field) for each in found) for name, field in names.items()}
    columns |= {"treat_all": tuple(each.details["treat_all"] for each in found)}
    columns |= {"treat_none": (0.0,) * len(thresholds)}
    return Curve(columns, len(risk), design.as_sampled(Method("at_each_threshold")), int(known.case.sum()))


def _benefit_of(
    outcome: Floats, risk: Floats, thresholds: Floats, level: float, design: Design, prefix: str = ""
) -> dict[str, tuple[float | None, ...]]:
    """The net benefit of one model at each threshold, with its band and standard error where there are two clusters."""
    positive, covariance = _positives_at(outcome, risk, thresholds, design)
    coefficients = np.array([np.ones(len(thresholds)), -thresholds / (1 - thresholds)])
    columns: dict[str, tuple[float | None, ...]] = {"net_benefit": column(np.sum(coefficients * positive, axis=0))}
    if design.obstacle() is not None:
        return columns | dict.fromkeys((f"{prefix}low", f"{prefix}high", f"{prefix}se"), (None,) * len(thresholds))
    reach = two_sided_student(level, design.freedom)
    low, high = shares.bounds(coefficients, positive, covariance, design.rows, design.effective_units, reach)
    return columns | _band(low, high, (high - low) / (2 * reach), prefix)


def _positives_at(outcome: Floats, risk: Floats, thresholds: Floats, design: Design) -> tuple[Floats, Floats]:
    """The shares of true and of false positives at each threshold, (2, thresholds), and their covariance."""
    if design.is_simple:
        counts = [_counts_at(risk[outcome == label], thresholds) for label in (1, 0)]
        positive = np.array(counts) / design.n
        return positive, shares.multinomial(positive, design.n)
    found = [design.shares(cells_at(outcome, risk, float(threshold))[:2]) for threshold in thresholds]
    return np.transpose([each for each, _ in found]), np.stack([threshold for _, threshold in found], axis=-1)


def _grid(low: float, high: float, declared: tuple[float, ...]) -> Floats:
    """Even steps over the range, and the declared thresholds in it exactly: their values are printed."""
    even = np.linspace(low, high, POINTS)
    inside = [value for value in declared if low < value < high]
    apart = [
        threshold for threshold in even if not any(math.isclose(threshold, other, abs_tol=1e-9) for other in inside)
    ]
    return np.sort(np.array([*apart, *inside]))


def _band(low: Floats, high: Floats, se: Floats, prefix: str = "") -> dict[str, tuple[float | None, ...]]:
    return {f"{prefix}low": column(low), f"{prefix}high": column(np.minimum(high, 1)), f"{prefix}se": column(se)}


@register.curve_synthesis(against_rest=True)
def decision_curve_all_sites(sites: tuple[SiteResults, ...], level: float = 0.95) -> Curve | Absent:
    """The decision curve of all external sites' people together.

    Each site's curve counts by its number of rows, which gives exactly the net benefit of all rows in one table. The
    sites are taken as fixed: the band says how sure we are about these sites, not about a next one.

    Arguments: `sites` (the results of the external sites). Returns the columns of `decision_curve`; the band lies as
    far below (above) as the root of the sum of squares of the sites' own distances, each times n_s/n (MOVER of
    independent sites, Zou and Donner 2008). Absent with fewer than two curves, or when they do not share their
    thresholds.
    """
    return _together(sites, "decision_curve", level)


@register.curve_synthesis()
def decision_curve_wide_all_sites(sites: tuple[SiteResults, ...], level: float = 0.95) -> Curve | Absent:
    """The decision curve of all external sites' people together, a little further than the declared range.

    Arguments, columns, variance and reasons for absence: as for `decision_curve_all_sites`, from the wide curves.
    """
    return _together(sites, "decision_curve_wide", level)


def _together(sites: tuple[SiteResults, ...], name: str, level: float) -> Curve | Absent:
    """The sites' curves of that name as one: each by its number of rows."""
    curves = [found for site in sites if isinstance(found := found_curve(site, name), Curve)]
    if len(curves) < 2:
        return Absent(Fact("fewer_than_two_decision_curves"))
    if len({found.columns["threshold"] for found in curves}) > 1:
        return Absent(Fact("no_shared_thresholds"))
    columns: dict[str, tuple[float | None, ...]] = {"threshold": curves[0].columns["threshold"]}
    columns |= _mean_benefit(curves, level)
    columns |= {"treat_all": column(np.sum(_shares_of(curves) * _rows(curves, "treat_all"), axis=0))}
    columns |= {"treat_none": (0.0,) * len(columns["threshold"])}
    method = Method(Fact("all_rows_of_sites", sites=len(curves), of=len(sites)), "mover_of_bands")
    return Curve(columns, sum(found.n for found in curves), method, sum(found.events or 0 for found in curves))


def _shares_of(curves: list[Curve]) -> Floats:
    """The share of all rows that each curve rests on, as a column."""
    counts = np.array([found.n for found in curves], dtype=float)
    return np.asarray((counts / counts.sum())[:, None])


def _mean_benefit(curves: list[Curve], level: float) -> dict[str, tuple[float | None, ...]]:
    """The sites' net benefit as one, with the band of a stratified sample (missing where a site's is)."""
    weights, each = _shares_of(curves), _rows(curves, "net_benefit")
    value = np.sum(weights * each, axis=0)
    columns: dict[str, tuple[float | None, ...]] = {"net_benefit": column(value)}
    if any(None in found.columns["se"] for found in curves):
        return columns | dict.fromkeys(("low", "high", "se"), (None,) * len(value))
    below, above = (np.sqrt(np.sum((weights * (_rows(curves, end) - each)) ** 2, axis=0)) for end in ("low", "high"))
    return columns | _band(value - below, value + above, (below + above) / (2 * two_sided(level)))


def _rows(curves: list[Curve], name: str) -> Floats:
    return np.array([found.columns[name] for found in curves], dtype=float)


PROFILE = np.arange(1, 100) / 100
"""The thresholds at which the utilities are read side by side."""


@register.curve(
    band=register.Band(
        "tau",
        (
            register.Line("net_benefit", "net_benefit_", of_shares=False, makes_its_own=True),
            register.Line("standardized_net_benefit", "standardized_net_benefit_", of_shares=False),
            register.Line("h_accuracy_risk", "h_accuracy_risk_"),
        ),
    ),
    given="both outcomes",
)
def utility_profile(outcome: Floats, risk: Floats, level: float = 0.95, design: Sampled = None) -> Curve | Absent:
    """The net benefit, the standardized net benefit and the H-accuracy at a risk threshold, over all thresholds.

    Arguments: `design` (of n rows). Returns 99 thresholds `tau` from .01 to .99 with `net_benefit`,
    `standardized_net_benefit` and `h_accuracy_risk`, each with its pointwise band (`..._low`, `..._high`; the last is
    missing where a class has a single row). Each value and band is that of the measure of that name. Absent when all
    rows are of one class.
    """
    n, cases, odds = len(outcome), int(outcome.sum()), PROFILE / (1 - PROFILE)
    hits, alarms = (_counts_at(risk[outcome == label], PROFILE) for label in (1, 0))
    low, high = _standardized_bounds(hits, alarms, odds, cases, level)
    benefit = _benefit_of(outcome, risk, PROFILE, level, design or Design(n), "net_benefit_")
    found = graded_accuracy.h_accuracy_at_risks(outcome, risk, PROFILE.tolist(), level)
    columns: dict[str, tuple[float | None, ...]] = {
        "tau": column(PROFILE),
        **{name: benefit[name] for name in ("net_benefit", "net_benefit_low", "net_benefit_high")},
        "standardized_net_benefit": column(hits / cases - odds * alarms / cases),
        "standardized_net_benefit_low": column(low),
        "standardized_net_benefit_high": column(np.minimum(high, 1)),
        **banded("h_accuracy_risk", found, "h_accuracy_risk_"),
    }
    return Curve(columns, n, Method(Fact("pointwise", by=Fact("as_each_measure"))), int(outcome.sum()))


# ---- what weighted utility is made from -----------------------------------------------------------------------------

THRESHOLD_OF_CASE = "threshold of a case"
RELEVANCE_OF_CASE = "relevance of a case"
"""The variables under which the inputs are described; the level is their source."""
FEWEST_WITH_A_MEAN = 5
QUARTERS = {"quantile_25": 0.25, "median": 0.5, "quantile_75": 0.75}


@register.describe(roles=("internal", "external"))
def weighted_utility_inputs(
    outcome: Floats,
    utility_thresholds: tuple[str, ...],
    utility_relevance: tuple[str, ...],
    labels: Floats | None = None,
    confidence: Floats | None = None,
    rater_complexity: Floats | None = None,
    case_relevance: Floats | None = None,
    cost: Floats | None = None,
    benefit: Floats | None = None,
) -> tuple[Description, ...]:
    """The thresholds and the relevance of single cases, as weighted utility takes them: how they are spread.

    `utility_thresholds` and `utility_relevance` are their sources; the others are as for `weighted_utility`. Of each
    source that is there: `share_zero` and `share_one`, how many are exactly 0 and 1, `mean`, and of at least 20 cases
    `quantile_25`, `median` and `quantile_75` (linear interpolation, R's type 7). `n` is the number of cases that have
    one. Source: Campagner, Decisions are not all equal.
    """
    found: dict[tuple[str, str], Floats | Absent] = {
        (THRESHOLD_OF_CASE, source): _tau(source, len(outcome), labels, confidence, cost, benefit)
        for source in utility_thresholds
    }
    found |= {
        (RELEVANCE_OF_CASE, source): _relevance(source, len(outcome), rater_complexity, case_relevance)
        for source in utility_relevance
    }
    return tuple(
        row
        for (variable, source), values in found.items()
        if not isinstance(values, Absent)
        for row in _spread(variable, source, values[~np.isnan(values)])
    )


def _spread(variable: str, source: str, values: Floats) -> tuple[Description, ...]:
    """How the inputs of one source are spread; nothing of fewer than five cases, whose mean tells of single ones."""
    if len(values) < FEWEST_WITH_A_MEAN:
        return ()
    details = {
        "mean": float(values.mean()),
        "share_zero": float(np.mean(values == 0)),
        "share_one": float(np.mean(values == 1)),
    }
    if len(values) >= bands.FEWEST_WITH_A_VALUE:
        details |= {name: float(np.quantile(values, at)) for name, at in QUARTERS.items()}
    return tuple(Description(variable, statistic, value, len(values), source) for statistic, value in details.items())
