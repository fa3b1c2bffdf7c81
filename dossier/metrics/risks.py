"""Curves of the risks by outcome: who is flagged at which threshold, what a result changes, where readers stand."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from dossier.core import bands
from dossier.core.facts import Count, Fact, Method
from dossier.core.register import Band, Line, curve, present
from dossier.core.types import Absent, Curve, Estimate, Floats
from dossier.metrics import calibration, discrimination, intervals, logistic, pooled, weighted

Cells = tuple[float | None, ...]
STEPS = 100
"""Into how many steps the cumulative curves divide the range in which 99 of 100 risks lie."""
STEPS_BEYOND = 10


@curve(
    band=Band("risk", (Line("cases", "cases_"), Line("others", "others_"))),
    protection="cumulative",
    given="both outcomes",
)
def cumulative_risks(outcome: Floats, risk: Floats, level: float = 0.95) -> Curve | Absent:
    """The share of people with the outcome, and of those without, whose risk is at least so high.

    Read at a threshold, the two are the cases found and the false alarms; the area between them is Tjur's R2.

    Returns 101 even risks from 0 to the end of the equal bins of `risk_distribution`, below which 99 % of the risks
    lie, and ten more up to 1 where that end is smaller: `risk`, `cases` and `others` (the shares with a risk at or
    above it), each with Wilson's `..._low` and `..._high`. The risks are even steps, never those of people. Absent when
    all rows are of one class. Source: Dinga 2019, Figure 2.
    """
    width, bins = discrimination.risk_bins(risk)
    end = round(width * bins, 10)
    grid = np.round(np.arange(STEPS + 1) * end / STEPS, 10)
    if end < 1:
        grid = np.append(grid, np.linspace(end, 1, STEPS_BEYOND + 1)[1:])
    columns: dict[str, Cells] = {"risk": intervals.column(grid)}
    for name, label in (("cases", 1), ("others", 0)):
        chosen = np.sort(risk[outcome == label])
        reached = len(chosen) - np.searchsorted(chosen, grid, side="left")
        columns |= intervals.share_columns(name, reached, float(len(chosen)), level, f"{name}_")
    return Curve(columns, len(outcome), Method(Fact("shares_at_even_risks", by=Fact("wilson"))), int(outcome.sum()))


@curve()
def rater_rates(
    labels: Floats,
    truth: Floats,
    rater_groups: tuple[str, ...] | None = None,
    level: float = 0.95,
    class_labels: tuple[str, ...] = (),
) -> Curve | Absent:
    """How often each rater calls cases and non-cases positive, beside which the model's ROC curve can be read.

    Arguments: `labels` (cases x raters; 1 positive, NaN where a rater gave none), `truth` (cases; 0 or 1, NaN where
    unknown). Returns for each rater, in the order of the table, `rater` (the number, from 1), `false_positive_rate` and
    `true_positive_rate` with Wilson's `..._low` and `..._high`, and `cases` and `others`, on which they rest; with
    `rater_groups` also `group`, the place of the rater's among the groups in the order of their names. A rater who
    judged no case or no non-case is left out and counted in the method. Absent when none is left, with more than 250
    raters, and of more than two classes. Source: Cabitza 2019, Figure 4.
    """
    if len(class_labels) > 2:
        return Absent(Fact("of_two_classes_only"))
    if labels.shape[1] > discrimination.POINTS:
        return Absent(
            Fact("more_raters_than_points", raters=Count(labels.shape[1], "rater"), points=discrimination.POINTS)
        )
    judged = ~np.isnan(labels) & ~np.isnan(truth)[:, None]
    called = judged & (labels == 1)
    is_case = (truth == 1)[:, None]
    counts = np.array(
        [who.sum(axis=0) for who in (called & is_case, judged & is_case, called & ~is_case, judged & ~is_case)]
    )
    kept = np.flatnonzero((counts[1] > 0) & (counts[3] > 0))
    if not len(kept):
        return Absent(Fact("no_rater_of_cases_and_non_cases"))
    hits, cases, alarms, others = counts[:, kept].astype(float)
    columns: dict[str, Cells] = {
        "rater": intervals.column([rater + 1.0 for rater in kept]),
        "cases": intervals.column(cases),
        "others": intervals.column(others),
    }
    if rater_groups is not None:
        groups = sorted(set(rater_groups))
        columns["group"] = intervals.column([float(groups.index(rater_groups[rater])) for rater in kept])
    for name, some, every in (("true_positive_rate", hits, cases), ("false_positive_rate", alarms, others)):
        columns |= intervals.share_columns(name, some, every, level, f"{name}_")
    left_out = labels.shape[1] - len(kept)
    method = Method(Fact("each_rater", by=Fact("wilson")))
    method = method + Fact("raters_left_out", raters=Count(left_out, "rater")) if left_out else method
    known = judged.any(axis=1)
    return Curve(columns, int(known.sum()), method, int((truth[known] == 1).sum()))


@curve(
    band=Band("", tuple(Line(name, f"{name}_") for name in ("before", "after_positive", "after_negative"))),
    given="both outcomes",
)
def fagan_nomogram(
    outcome: Floats, risk: Floats, declared_thresholds: tuple[float, ...], level: float = 0.95
) -> Curve | Absent:
    """The probability of the outcome before the model speaks, and after it has called a person positive or negative.

    The probability before is the share of cases at this very site, so that those after are its predictive values.

    Arguments: `declared_thresholds` (0 to 1; positive means risk >= threshold). Returns a row for each threshold:
    `threshold`; `before`, the prevalence; `after_positive`, the positive predictive value; `after_negative`, 1 less the
    negative one, each with Wilson's `..._low` and `..._high`; `likelihood_ratio_positive` and `_negative`. What does
    not exist is missing: the probability after a result that nobody has, a likelihood ratio that would be 0 or
    infinite. odds(after) = odds(before) x likelihood ratio. Absent without a threshold, and when all rows are of one
    class. Source: Fagan 1975.
    """
    if not declared_thresholds:
        return Absent(Fact("no_threshold_declared"))
    found = [discrimination.confusion(outcome, risk, threshold) for threshold in declared_thresholds]
    hits, alarms, missed, spared = np.array([each.four for each in found], dtype=float).T
    cases, n = hits + missed, len(outcome)
    columns: dict[str, Cells] = {
        "threshold": declared_thresholds,
        **intervals.share_columns("before", cases, float(n), level, "before_"),
        **intervals.share_columns("after_positive", hits, hits + alarms, level, "after_positive_"),
        **intervals.share_columns("after_negative", missed, missed + spared, level, "after_negative_"),
    }
    for measure in (discrimination.likelihood_ratio_positive, discrimination.likelihood_ratio_negative):
        ratios = [measure(outcome, risk, threshold, level) for threshold in declared_thresholds]
        columns[measure.__name__] = tuple(each.value if isinstance(each, Estimate) else None for each in ratios)
    return Curve(columns, n, Method(Fact("prevalence_and_predictive_values", by=Fact("wilson"))), int(outcome.sum()))


PREVALENCES = (0.01, 0.02, *(step / 20 for step in range(1, 20)), 0.98, 0.99)
"""Where predictive values are given beside the prevalence of the site itself: with four decimals each, so that no risk
can be solved for."""
FEWEST_MOVED = 20
"""A predictive value of a moved case mix rests on at least so many rows: fewer tell of the ends of the risks alone."""
FARTHEST = 40.0
"""By how many log odds risks are moved at most: beyond it all are 0 or 1, be one within 1e-12 of the other end."""


@dataclass(frozen=True)
class CaseMix:
    """The log odds of the risks of a site, and on either side of the threshold the line, of one slope, of the chance
    that each stands for: with as many expected as there are."""

    log_odds: Floats
    weights: Floats
    threshold: float
    slope: float
    intercepts: Floats

    def moved(self, by: float) -> Floats:
        """With all log odds moved: the rows below the threshold and above, their weights, and those of events."""
        log_odds = self.log_odds + by
        flagged = (log_odds >= self.threshold).astype(int)
        chance = logistic.expit(self.intercepts[flagged] + self.slope * log_odds)
        counted = (np.sign(self.weights), self.weights, self.weights * chance)
        return np.array([np.bincount(flagged, each, minlength=2) for each in counted])

    def predictive_values(self, prevalence: float, own: float) -> tuple[float, float]:
        """PPV and NPV where so many have the outcome; NaN where hardly anybody is flagged, or spared."""
        farthest = math.copysign(FARTHEST * max(1.0, 1 / self.slope), prevalence - own)
        if (self.moved(farthest)[2].sum() - prevalence) * (own - prevalence) >= 0:
            return math.nan, math.nan
        by = scipy.optimize.brentq(lambda by: self.moved(by)[2].sum() - prevalence, 0.0, farthest, xtol=1e-8)
        rows, shares, events = self.moved(by)
        wrong, right = np.where(rows >= FEWEST_MOVED, events / np.maximum(shares, 1e-300), math.nan)
        return float(right), float(1 - wrong)


def _intercept(outcome: Floats, line: Floats, weights: Floats) -> float:
    """The intercept of a line at which as many are expected as there are: infinite where all or none have the outcome,
    NaN without rows."""
    weight, events = float(weights.sum()), float(weights @ outcome)
    if not 0 < events < weight:
        return math.inf if events else -math.inf if weight else math.nan
    farthest = FARTHEST + float(np.abs(line).max())
    found: float = scipy.optimize.brentq(lambda by: weights @ logistic.expit(by + line) - events, -farthest, farthest)
    return found


@curve(band=Band("prevalence", ()), weighted=True, roles=("external",), given="both outcomes")
def predictive_values(
    outcome: Floats, risk: Floats, primary_threshold: float, weights: Floats | None = None
) -> Curve | Absent:
    """What a flag and no flag would mean where the outcome is rarer or more frequent, under either of two assumptions.

    Arguments: `primary_threshold` (positive means risk >= threshold). Returns the `prevalence` of the site, where `own`
    is 1, and 23 others from .01 to .99. `ppv_same` and `npv_same` hold where sensitivity and specificity stay: by
    Bayes' rule. `ppv_shifted` and `npv_shifted` hold where the model stays and the case mix shifts: the log odds of all
    risks move alike until the outcome is so frequent, its chance that which the risks stand for at the site, expit(a +
    b logit p) with b the calibration slope and a so that as many are expected below the threshold, and above, as there
    are. At the site's own prevalence both are what was found. Missing where nobody is flagged, or everybody, and of a
    shifted case mix where fewer than 20 rows are. Absent below 20 events or non-events, with fewer than 50 different
    risks, and where the risks do not rise with the outcome. Source: the case mix of van Klaveren 2016, moved on the log
    odds.
    """
    events = int(outcome.sum())
    if few := pooled.too_few(events, len(outcome) - events, bands.FEW_FOR_POOLING):
        return Absent(few)
    if len(np.unique(risk)) < bands.FEWEST_RISKS:
        return Absent(Fact("fewer_different_risks", least=bands.FEWEST_RISKS))
    rows = weighted.Rows.sampled(outcome, risk, weights)
    slope = float(present(calibration.SLOPE.fitted(rows)).fit.coefficients[1])
    if slope <= 0:
        return Absent(Fact("risks_do_not_rise_with_the_outcome"))
    log_odds, weight, flagged = logistic.logit(risk), rows.weights / rows.weights.sum(), risk >= primary_threshold
    sides = [_intercept(outcome[side], slope * log_odds[side], weight[side]) for side in (~flagged, flagged)]
    # Of a side without rows nothing is known: there the line of the other goes on.
    intercepts = np.where(np.isnan(sides), sides[::-1], sides)
    mix = CaseMix(log_odds, weight, float(logistic.logit(np.array(primary_threshold))), slope, intercepts)
    hits, alarms = (float(weight @ (flagged * each)) for each in (outcome, 1 - outcome))
    missed, spared = (float(weight @ (~flagged * each)) for each in (outcome, 1 - outcome))
    own = hits + missed
    grid = np.sort([own, *(each for each in PREVALENCES if abs(each - own) > bands.SAME_RISK)])
    rising, falling = grid / own, (1 - grid) / (1 - own)
    with np.errstate(invalid="ignore"):
        ppv = hits * rising / (hits * rising + alarms * falling)
        npv = spared * falling / (spared * falling + missed * rising)
    is_own = grid == own
    here = float(ppv[is_own][0]), float(npv[is_own][0])
    shifted = np.array([here if at == own else mix.predictive_values(float(at), own) for at in grid]).T
    columns: dict[str, Cells] = {"prevalence": intervals.column(grid), "own": intervals.column(is_own.astype(float))}
    for name, values in zip(("ppv_same", "npv_same", "ppv_shifted", "npv_shifted"), (ppv, npv, *shifted), strict=True):
        rounded = np.where(is_own, values, np.round(values, 4))
        columns[name] = tuple(None if math.isnan(value) else value for value in rounded.tolist())
    return Curve(columns, len(outcome), Method("two_assumptions_of_prevalence"), events)
