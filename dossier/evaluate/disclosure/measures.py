"""What a measure becomes under a disclosure policy: computed from ranges of counts, given in steps of a person, or
withheld.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dossier.core import bands
from dossier.core.facts import Fact, Method
from dossier.core.register import Metric, Sized, metrics_of
from dossier.core.types import Absent, At, CountRange, Estimate, Result, Withheld
from dossier.evaluate import offered
from dossier.evaluate.disclosure.chains import STEP, Counts, ends, expected
from dossier.evaluate.site import value
from dossier.metrics import intervals, logistic, sample

FEWEST = 20
"""Persons of either outcome, of fewer of whom nothing is given that rests on ranks or sums."""

DIGITS = 3
"""The most decimals of what is given in steps."""

DEFAULTS = ("treat_all", "default")
"""Details of a measure that are given with its value: the net benefit without a model. Both are computed from the
expected counts, which are a function of ranges that are given anyway, and never from rows: they tell no more."""

OF_SUMS = ("ranks", "mean", "fit", "ratio")
"""The rules of what rests on ranks and sums."""
NOT = math.inf
Coarser = Mapping[str, float]
"""How many times coarser than a person the steps are in which numbers are given, by their rules; `NOT` at all."""

Table = tuple[int, int, int, int]
"""Those with the outcome at the threshold or above, all with the outcome, and the same of the others."""


def step_of(persons: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten, from 0.001 on, in which one person is no more than a step."""
    return next(step for step in _steps() if step * persons >= 1)


def _steps() -> Iterator[float]:
    for power in range(-DIGITS, 12):
        for factor in (1, 2, 5):
            yield float(f"{factor}e{power}")


def error_of(rule: str, counts: Counts, value: float, term: str) -> float | None:
    """The standard error of a number that is given by this rule, from the ranges and the number itself alone.

    One of the rows would be an equation more: of a nearly perfect model it counts the errors. Of ranks it is that of
    Newcombe, of a mean the largest that parts from 0 to 1 can have, of a fit that of a table in the middle of each part
    of the risk. None where that has no fit.
    """
    outcome, risk = counts.evenly.table(lambda held: held.low, STEP / 2, 1 - STEP / 2)
    if rule == "ranks":
        n = int(counts.known) / counts.rows_each
        return math.sqrt(max(sample.newcombe_variance(value, int(counts.events.total) / int(counts.known), n), 0.0))
    if rule == "mean":
        return math.sqrt(max(value * (1 - value), 0.0) * counts.rows_each / int(counts.known))
    log_odds = logistic.logit(risk)
    joint = term in JOINT
    if not 0 < outcome.sum() < len(outcome):
        return None
    design = np.vstack((np.ones_like(log_odds), log_odds)) if joint else np.ones((1, len(log_odds)))
    fit = logistic.logistic_fit(design, outcome, None if joint else log_odds)
    if isinstance(fit, Absent):
        return None
    which = JOINT.get(term, 0)
    return math.sqrt(float(fit.covariance[which, which]) * counts.rows_each)


JOINT = {"calibration_intercept_joint": 0, "calibration_slope": 1}
"""The coefficients of the fit of intercept and slope, by where they stand in it."""


def one_person(rule: str, counts: Counts, term: str = "") -> float:
    """What one person can move a number by that is given by this rule: of a fit by its standard error."""
    if rule == "fit":
        return 4 * (error_of(rule, counts, 0.0, term) or 0.0) / math.sqrt(counts.persons)
    return step_of(counts.persons if rule == "ranks" else int(counts.known) / counts.rows_each)


def above(least: float) -> float:
    """The next of 1, 2, 5 times a power of ten from a number on."""
    return next(step for step in _steps() if step >= least)


def in_steps(value: float, step: float) -> float:
    """A number in whole steps."""
    return float(f"{round(value / step) * step:.10g}")


@dataclass(frozen=True)
class Protected:
    """One set of rows whose results are to be given: its ranges, and how the measures are asked of tables."""

    site: offered.Site
    counts: Counts
    below: int
    level: float
    mean_risk: float
    risks: Mapping[str, int]
    """How many different risks each model gives these rows, by the name of the other model; the model itself has none.
    Of a subgroup none is known: nothing that rests on its ranks or sums is given."""
    coarser: Coarser = field(default_factory=dict)

    def few(self, rule: str, model: str = "") -> Withheld | None:
        """Why nothing that rests on ranks or sums is given of a model by this rule, if so.

        That there are as many different risks is said only where the range says that there are as many rows. It says
        of no risk that it occurs, but where the score can give no others: then of nobody's range the 0 goes.
        """
        if not self.risks:
            return not_given(self.below)
        if self.counts.persons < FEWEST:
            return Withheld(Fact("fewer_persons_of_either_outcome", least=FEWEST), self.below)
        if min(self.risks.get(model, 0), self.counts.n.low) < bands.FEWEST_RISKS:
            return Withheld(Fact("fewer_different_risks", least=bands.FEWEST_RISKS), self.below)
        if self.coarser.get(rule) == NOT:
            return Withheld(Fact("number_leaves_few_values"), self.below)
        return None

    def step(self, rule: str, term: str = "") -> float:
        """In which steps a number is given by this rule."""
        return above(one_person(rule, self.counts, term) * self.coarser.get(rule, 1))

    def given(self, result: Result, metric: Metric, others: Given) -> Estimate | Absent:
        """A result as it may be given; `others` are what was given before, by term and other model."""
        if self.counts.left is not None and _rests_on_follow_up(metric):
            return Withheld(Fact("rests_on_follow_up"), self.below)
        return RULES[metric.protection](self, result, metric, others)


Given = Mapping[tuple[str, str], "Estimate | Absent"]
"""What was given of a term: of the model, or of another model by its name."""
Rule = Callable[[Protected, Result, Metric, Given], "Estimate | Absent"]


def of_results(protected: Protected, results: Sequence[Result]) -> Iterator[Result]:
    """Every result of one set of rows as it may be given; differences are made last, of the values that are given."""
    measures = metrics_of(protected.site.release)
    others: dict[tuple[str, str], Estimate | Absent] = {}
    found: dict[int, Estimate | Absent] = {}
    for index, result in sorted(enumerate(results), key=lambda each: measures[each[1].term].protection == "difference"):
        found[index] = protected.given(result, measures[result.term], others)
        others.setdefault((result.term, str(result.at.get("model", ""))), found[index])
    for index, result in enumerate(results):
        yield replace(result, found=found[index])


def _rests_on_follow_up(metric: Metric) -> bool:
    """Whether a measure by a horizon is no number of counts, which holds whenever those who left did so."""
    of_followed = metric.followed or metric.weighted
    if of_followed in (None, "refused") or isinstance(of_followed, Sized):
        return metric.protection not in ("difference", "withheld")
    return metric.protection in ("ranks", "mean", "fit")


# ---- from ranges of counts ------------------------------------------------------------------------------------------


def _from_counts(protected: Protected, result: Result, metric: Metric, others: object) -> Estimate | Absent:
    """A measure of the four counts at a threshold, at what is expected of them, its interval over all they can be."""
    at = result.at.get("threshold")
    if at is None or protected.counts.rows_each > 1:
        # No interval of counts of persons with several rows each is known; without a threshold there is no table.
        return _withheld(protected, result, metric, others)
    return hull(protected, metric, result.at, float(at))


def hull(protected: Protected, metric: Metric, at: At, threshold: float) -> Estimate | Absent:
    """A measure at the expected counts, with an interval that holds those of every table that the ranges allow."""
    counts = protected.counts
    if not counts.tells_outcome:
        return outcome_withheld(protected.below)
    right, events = counts.events.at(threshold), counts.events.total
    wrong, rest = counts.others.at(threshold), counts.others.total
    middle = (*expected(right, events, counts.wide), *expected(wrong, rest, counts.wide))
    tables = [(*first, *other) for first, other in itertools.product(ends(right, events), ends(wrong, rest))]
    if counts.left is not None:
        away, gone = counts.left.at(threshold), counts.left.total
        every_end = itertools.product(tables, ends(away, gone))
        tables = [each for table, left in every_end for each in left_over(table, left)]
        middle = half_followed(middle, expected(away, gone, counts.wide))
    found = _asked(protected, metric, at, middle)
    if isinstance(found, Absent):
        return found
    corners = [_asked(protected, metric, at, table) for table in dict.fromkeys(tables)]
    every = [estimate for estimate in (found, *corners) if isinstance(estimate, Estimate)]
    defaults = {name: found.details[name] for name in DEFAULTS if name in found.details}
    return replace(over(found, every, protected, counts), details={**defaults, **counts.beside})


def left_over(table: Table, left: tuple[int, int]) -> Iterator[Table]:
    """The tables at the ends of what those who left, above the threshold and in all, may have had.

    The risk by Kaplan and Meier lies between d/n, where all left at the horizon, and d/(n - c), where all left at once,
    d those with the outcome and c those who left of n. A table rests on as many rows as are known.
    """
    for above, below in itertools.product((0.0, 1.0), repeat=2):
        yield _at_shares(table, left, (above, below))


def half_followed(table: Table, left: tuple[int, int]) -> Table:
    """The table at d/(n - c/2): as if those who left were followed for half of the time (Berkson and Gage 1950)."""
    return _at_shares(table, left, (0.5, 0.5))


def _at_shares(table: Table, left: tuple[int, int], away: tuple[float, float]) -> Table:
    """A table in which such a share of those who left, on either side of the threshold, counts as never seen."""
    right, events, wrong, rest = table
    known, risks, sizes = events + rest, [], []
    for happened, others, gone, share in (
        (right, wrong, left[0], away[0]),
        (events - right, rest - wrong, left[1] - left[0], away[1]),
    ):
        sizes.append(happened + others + gone)
        risks.append(happened / max(sizes[-1] - share * gone, 1))
    fewer = known / max(sum(sizes), 1)
    cases = [round(fewer * size * risk) for size, risk in zip(sizes, risks, strict=True)]
    free = [round(fewer * size) - case for size, case in zip(sizes, cases, strict=True)]
    return cases[0], sum(cases), free[0], sum(free)


def over(found: Estimate, every: Sequence[Estimate], protected: Protected, counts: Counts) -> Estimate:
    """The estimate with the outermost bounds of all, and its counts as ranges."""
    low = min((estimate.low if estimate.low is not None else estimate.value for estimate in every), default=None)
    high = max((estimate.high if estimate.high is not None else estimate.value for estimate in every), default=None)
    none = found.low is None or found.high is None or low is None or high is None
    return replace(
        found,
        low=None if none else low,
        high=None if none else high,
        se=None if none or low is None or high is None else counts.error(low, high, protected.level),
        n=counts.n,
        events=counts.events.total,
        method=Method(*found.method, *counts.bounded, Fact("over_ranges", wide=counts.wide)),
        details=counts.beside,
    )


def _asked(protected: Protected, metric: Metric, at: At, table: Table) -> Estimate | Absent:
    """A measure of a table of right and wrong."""
    right, events, wrong, rest = table
    outcome = np.repeat([1.0, 1.0, 0.0, 0.0], [right, events - right, wrong, rest - wrong])
    threshold = float(at["threshold"])
    risk = np.repeat([1.0, 0.0, 1.0, 0.0], [right, events - right, wrong, rest - wrong])
    # A risk of 1 reaches every threshold, and one of 0 none; the threshold itself belongs to those that reach it.
    risk = np.where(risk == 1, (1 + threshold) / 2, threshold / 2)
    return value(protected.site, metric, at, outcome=outcome, risk=risk)


def not_given(below: int) -> Withheld:
    """Why something is withheld that no protection is known for."""
    return Withheld(Fact("not_given_where_protected", below=below), below)


def outcome_withheld(below: int) -> Withheld:
    """Why nothing that rests on the outcome is given."""
    return Withheld(Fact("outcome_of_few", below=below), below)


# ---- from ranks and sums --------------------------------------------------------------------------------------------


def _of_sums(protected: Protected, result: Result, metric: Metric, others: object) -> Estimate | Absent:
    """What rests on ranks or sums, in steps of what one person can move it by."""
    few = protected.few(metric.protection, str(result.at.get("model", "")))
    if few is not None:
        return few
    if isinstance(result.found, Absent) and protected.counts.left is None:
        # Its reason may count persons. By a horizon it tells of times, and the ranges do not ask for it.
        return _withheld(protected, result, metric, others)
    term = metric.term.measure
    step = protected.step(metric.protection, term)
    if metric.protection == "ratio":
        return _ratio(protected, step)
    if isinstance(result.found, Absent):
        raise TypeError("by a horizon nothing else is given in steps")
    if is_of_few(protected, metric.protection, in_steps(result.found.value, step)):
        return Withheld(Fact("number_leaves_few_values"), protected.below)
    if metric.protection == "fit" and error_of("fit", protected.counts, 0.0, term) is None:
        return Withheld(Fact("no_standard_error_for_a_step"), protected.below)
    # An estimate in steps, its interval wider by half a step on either side.
    middle = in_steps(result.found.value, step)
    lowest, highest = metric.term.range
    se = error_of(metric.protection, protected.counts, middle, metric.term.measure)
    reach = math.nan if se is None else intervals.two_sided(protected.level) * se + step / 2
    low = None if se is None else max(middle - reach, -math.inf if lowest is None else lowest)
    high = None if se is None else min(middle + reach, math.inf if highest is None else highest)
    made = replace(
        result.found,
        value=middle,
        low=low,
        high=high,
        se=se,
        n=protected.counts.n,
        events=protected.counts.events.total,
        method=Method("normal", Fact("in_steps_of_persons", step=step)),
        made_of=None,
        details={},
        reason=None,
    )
    # Steps far wider than the error would say less than the interval, and flatter.
    return Withheld(Fact("steps_wider_than_error"), protected.below) if step > 3 * (made.se or 0.0) else made


def is_of_few(protected: Protected, rule: str, value: float) -> bool:
    """Whether a number as it is given is the sum of fewer persons than may be counted: of errors, or of those expected.

    Of O/E it is the mean risk.
    """
    share = {"ranks": min(value, 1 - value), "mean": value, "ratio": min(value, 1 - value)}
    persons = protected.counts.persons if rule == "ranks" else int(protected.counts.n) / protected.counts.rows_each
    return rule in share and share[rule] * persons < protected.below


def _ratio(protected: Protected, step: float) -> Estimate | Absent:
    """Observed over expected: the share of the ranges over the mean risk in steps."""
    counts, mean = protected.counts, in_steps(protected.mean_risk, step)
    events, rest, left = counts.events.total, counts.others.total, CountRange(0, 0)
    if counts.left is not None:
        left = counts.left.total
    if is_of_few(protected, "ratio", mean):
        return Withheld(Fact("number_leaves_few_values"), protected.below)
    if mean <= 0:
        return Withheld(Fact("mean_risk_below_a_step"), protected.below)
    reach = intervals.two_sided(protected.level)

    def bound(happened: int, others: int, risk: float, sign: int) -> float:
        share = happened / (happened + others)
        return share / risk * math.exp(sign * reach * math.sqrt((1 - share) / happened))

    # Those who left had it as seldom as if all stayed to the horizon, or as often as those who are known.
    low = bound(events.low, rest.high + left.high, mean + step / 2, -1)
    high = bound(events.high, rest.low, max(mean - step / 2, step / 2), 1)
    ratio = int(events) / (int(events) + int(rest) + int(left) / 2) / mean
    made = Method("on_log_scale", *counts.bounded, Fact("over_ranges", wide=counts.wide))
    se = counts.error(low, high, protected.level)
    return Estimate(ratio, low, high, protected.level, counts.n, made, events, se, counts.beside)


def _difference(protected: Protected, result: Result, metric: Metric, others: Given) -> Estimate | Absent:
    """A difference to another model, of the two values that are given."""
    name, rival = metric.difference_of or "", str(result.at.get("against", ""))
    return minus(others.get((name, "")), others.get((f"{name}_of_rival", rival)), protected.below)


def minus(ours: Estimate | Absent | None, rest: Estimate | Absent | None, below: int) -> Estimate | Absent:
    """The difference of two given values, with the outermost bounds of both."""
    for estimate in (ours, rest):
        if estimate is None:
            return not_given(below)
        if isinstance(estimate, Absent):
            return estimate
    if not isinstance(ours, Estimate) or not isinstance(rest, Estimate):
        raise TypeError("what is neither absent nor missing is an estimate")
    low = None if ours.low is None or rest.high is None else ours.low - rest.high
    high = None if ours.high is None or rest.low is None else ours.high - rest.low
    made = Method("of_given_values")
    return replace(ours, value=ours.value - rest.value, low=low, high=high, se=None, method=made, details={})


def _withheld(protected: Protected, result: Result, metric: Metric, others: object) -> Estimate | Absent:
    return not_given(protected.below)


RULES: Mapping[str, Rule] = {
    "counts": _from_counts,
    **dict.fromkeys(OF_SUMS, _of_sums),
    "difference": _difference,
    "withheld": _withheld,
}
