"""Measures as functions of weighted rows: means, ratios of means and shares of pairs. Rows that count alike weigh 1.

Each value comes with what every row contributes to its deviation, w u with u the influence of the row on the value. Its
design variance is that of the sum of these contributions over rows, or clusters, drawn with replacement (Binder 1983),
as R's survey package computes it. What is known of small samples of rows that count alike, such as Wilson's interval,
stands beside its measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dossier.core import bands, facts, register, types
from dossier.metrics import logistic
from dossier.metrics.censoring import TimeToEvent, Weights

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """Rows with their weights, 0 or more and not all 0; the threshold where the measure has one."""

    outcome: types.Floats
    risk: types.Floats
    weights: types.Floats
    threshold: float = 0.5
    rival: types.Floats | None = None
    alike: bool = False
    """Whether nobody gave the rows weights: what is said of them then speaks of none."""
    censoring: Weights | None = None
    """Where the weights come from, if they make up for those whose follow-up ended early; estimated from the rows."""
    as_rival: Rows | None = None
    """The rows with the other model's risks, where their weights depend on these."""

    @classmethod
    def counted(cls, outcome: types.Floats, risk: types.Floats, threshold: float = 0.5) -> Rows:
        """Rows that all count alike."""
        return cls(outcome, risk, np.ones(len(outcome)), threshold, alike=True)

    @classmethod
    def sampled(cls, outcome: types.Floats, risk: types.Floats, weights: types.Floats | None) -> Rows:
        """Rows with these weights, or that all count alike where there are none."""
        return cls.counted(outcome, risk) if weights is None else cls(outcome, risk, weights)

    @classmethod
    def followed(
        cls, outcome: TimeToEvent, risk: types.Floats, threshold: float | None = None, rival: types.Floats | None = None
    ) -> Rows:
        """Rows whose outcome is known by a horizon, or not; at a threshold the weights are those of its two sides."""
        weights = outcome.weights(risk, threshold)
        other = None if rival is None else cls.followed(outcome, rival, threshold)
        at = 0.5 if threshold is None else threshold
        return cls(weights.case.astype(float), risk, weights.values, at, rival, True, weights, other)

    @property
    def obstacle(self) -> types.Absent | None:
        """Why nothing can be said of the rows by the horizon."""
        why = None if self.censoring is None else self.censoring.obstacle
        return None if why is None else types.Absent(why)

    @property
    def link(self) -> logistic.Link:
        """The scale on which the risks are recalibrated."""
        return logistic.LOGIT if self.censoring is None else logistic.CLOGLOG

    def contributions(self, change: types.Floats, total: float | types.Floats) -> types.Floats:
        """What each row contributes to a value that changes by so much with each weight, as a share of the total.

        Where the weights are estimated, rows contribute to those of others too.
        """
        if self.censoring is None:
            return np.asarray(self.weights / total * change)
        return self.censoring.influence(change / total)

    def mean(self, values: types.Floats, among: Bools | bool = True) -> Weighted:
        """The weighted mean over some of the rows, with what each row contributes."""
        weights = self.weights * among
        there = weights > 0
        value = mean(values[there], weights[there])
        return Weighted(value, self.contributions(np.where(there, values - value, 0.0) * among, float(weights.sum())))

    @property
    def expected(self) -> Weighted:
        """The mean risk: of all rows that count, be their outcome known or not."""
        weights = self.weights if self.censoring is None else np.ones(len(self.risk))
        return mean_of_rows(self.risk, weights)

    @property
    def of_rival(self) -> Rows:
        """The rows with the other model's risks."""
        if self.as_rival is not None:
            return self.as_rival
        if self.rival is None:
            raise TypeError("the rows have no rival")
        return Rows(self.outcome, self.rival, self.weights, self.threshold)

    def at(self, chosen: Bools) -> Rows:
        """Some of the rows."""
        outcome, risk, weights = (each[chosen] for each in (self.outcome, self.risk, self.weights))
        return replace(self, outcome=outcome, risk=risk, weights=weights, rival=None, censoring=None)

    @property
    def by_outcome(self) -> tuple[float, float]:
        """The weight of the cases, and that of the others."""
        return float((self.weights * self.cases).sum()), float((self.weights * ~self.cases).sum())

    @property
    def cases(self) -> Bools:
        """The rows with the outcome."""
        return np.asarray(self.outcome == 1)

    @property
    def flagged(self) -> Bools:
        """The rows whose risk reaches the threshold."""
        return np.asarray(self.risk >= self.threshold)


@dataclass(frozen=True)
class Weighted:
    """A weighted value, what each row contributes to its deviation (n, with a sum of 0), and what belongs to it."""

    value: float
    linearized: types.Floats
    details: Mapping[str, float | None] = field(default_factory=dict)
    beside: Weighted | None = None
    """Another value of which it is the smaller one: no bound of it lies above that of the other."""


Found = Weighted | types.Absent
Measure = Callable[[Rows], Found]
NO_CASE = types.Absent(facts.Fact("no_weighted_row_has_outcome"))
NO_OTHER = types.Absent(facts.Fact("every_weighted_row_has_outcome"))
NOTHING = types.Absent(facts.Fact("no_row_with_weight"))


def mean(values: types.Floats, weights: types.Floats) -> float:
    """The weighted mean, sum(w v)/sum(w)."""
    return float((weights * values).sum() / weights.sum())


def mean_of_rows(values: types.Floats, weights: types.Floats) -> Weighted:
    """The weighted mean with its contributions w (v - mean)/sum(w)."""
    value = mean(values, weights)
    return Weighted(value, weights / weights.sum() * (values - value))


def ratio(above: Weighted, below: Weighted) -> Found:
    """A ratio that may be of any size, with its contributions; Absent where it would be beyond all numbers."""
    value = above.value / below.value if below.value > 0 else math.inf
    if not math.isfinite(value):
        return types.Absent(facts.Fact("denominator_too_small"))
    return Weighted(value, above.linearized / below.value - value * (below.linearized / below.value))


def one_class(rows: Rows) -> types.Absent | None:
    """The reason why cases cannot be compared with the others, if there is one."""
    cases, others = rows.weights[rows.cases].any(), rows.weights[~rows.cases].any()
    if cases and others:
        return None
    if not cases and not others:
        return NOTHING
    if rows.alike:
        return types.Absent(facts.Fact("every_row_has_outcome" if cases else "no_row_has_outcome"))
    return NO_OTHER if cases else NO_CASE


def by_class(rows: Rows, values: types.Floats) -> tuple[Weighted, Weighted] | types.Absent:
    """The mean of what the cases have, and of what the others have."""
    return one_class(rows) or (rows.mean(values, rows.cases), rows.mean(values, ~rows.cases))


Details = Mapping[str, float | None]


@register.absent_with_its_parts
def combined(
    one: Found, other: Found, first: float, second: float, more: float = 0.0, details: Details | None = None
) -> Found:
    """A sum of two values of the same rows, each times its factor, and a constant."""
    one, other = register.present(one), register.present(other)
    value = first * one.value + second * other.value + more
    return Weighted(value, first * one.linearized + second * other.linearized, details or {})


@dataclass(frozen=True)
class Mean:
    """A mean over some rows of what each adds; of a share each adds 1 or nothing."""

    added: Callable[[Rows], types.Floats]
    among: Callable[[Rows], Bools] = lambda rows: np.ones(len(rows.outcome), dtype=bool)
    """The rows that it is a mean over, by default all."""
    gap: Callable[[Rows], facts.Fact] = lambda _: NOTHING.reason
    """Why there is no value where these have no weight."""
    details: Callable[[Rows], Mapping[str, float | None]] = lambda _: {}

    def __call__(self, rows: Rows) -> Found:
        """The mean with each row at its weight."""
        among = self.among(rows)
        if not (rows.weights * among).any():
            return types.Absent(self.gap(rows))
        added = self.added(rows)
        if not np.isfinite(added[rows.weights * among > 0]).all():
            return types.Absent(facts.Fact("mean_not_finite"))
        return replace(rows.mean(added, among), details=self.details(rows))


def auroc(rows: Rows) -> Found:
    """The weighted share of the pairs of a case and another that are in order, each pair at the product of its weights;
    ties count half.
    """
    if reason := one_class(rows):
        return reason
    case = rows.cases
    levels, inverse = np.unique(rows.risk, return_inverse=True)
    cases, others = (
        np.bincount(inverse[member], weights=rows.weights[member], minlength=len(levels)).astype(float)
        for member in (case, ~case)
    )
    below = (np.cumsum(others) - others / 2) / others.sum()
    above = 1 - (np.cumsum(cases) - cases / 2) / cases.sum()
    placed = np.where(case, below[inverse], above[inverse])
    # Over the cases, as of rows that count alike: where all weigh 1 both are the same number.
    value = mean(placed[case], rows.weights[case])
    placed -= value
    return Weighted(value, rows.contributions(placed, np.where(case, cases.sum(), others.sum())))


def scaled_brier(rows: Rows) -> Found:
    """One less the weighted Brier score over that of the weighted prevalence."""
    if reason := one_class(rows):
        return reason
    # The share of the others on its own: beside cases that weigh a great deal more, 1 - phi is rounded to 0.
    phi, rest = rows.mean(rows.outcome), rows.mean(1 - rows.outcome)
    reference = Weighted(phi.value * rest.value, phi.value * rest.linearized + rest.value * phi.linearized)
    found = ratio(rows.mean((rows.risk - rows.outcome) ** 2), reference)
    return found if isinstance(found, types.Absent) else Weighted(1 - found.value, -found.linearized)


@register.absent_with_its_parts
def tjur_r2(rows: Rows) -> Found:
    """The weighted mean risk of the cases less that of the others."""
    found = register.present(by_class(rows, rows.risk))
    return combined(*found, 1, -1, 0, {"mean_of_cases": found[0].value, "mean_of_others": found[1].value})


def oe_ratio(rows: Rows) -> Found:
    """The weighted number of cases over the weighted number expected."""
    phi = rows.mean(rows.outcome)
    if phi.value == 0:
        return one_class(rows) or NO_CASE
    if not rows.risk[rows.weights > 0].any():
        return types.Absent(facts.Fact("no_weighted_event_expected"))
    return ratio(phi, rows.expected)


def difference_to_rival(measure: Measure) -> Measure:
    """The measure of the model less that of the other model; exactly 0 where rounding alone tells them apart."""

    def apart(rows: Rows) -> Found:
        found = combined(measure(rows), measure(rows.of_rival), 1, -1)
        if isinstance(found, types.Absent) or abs(found.value) + np.abs(found.linearized).sum() > bands.SAME:
            return found
        return Weighted(0.0, np.zeros_like(found.linearized))

    return apart
