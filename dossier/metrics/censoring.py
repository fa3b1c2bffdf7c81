"""Outcomes that are known by a horizon: what follow-up tells, and weights for those whose follow-up ended before.

At one and the same time events come before the ends of follow-up: a patient who was last seen at the horizon is known
to be free of the event there, so that it makes no difference whether a table was cut at the horizon. A competing event,
such as death of another cause, ends what could be seen but is no end of follow-up: such a patient is known not to have
the outcome.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dossier.core.facts import Count, Fact
from dossier.core.types import Floats

Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]
By = Literal["fifths", "marginal"]

OUTCOME, COMPETING = 1, 2
"""The codes of what happened; 0 is that nothing did as long as the patient was followed."""
FIFTHS = (0.2, 0.4, 0.6, 0.8)
ALL_THERE = 1e-9
FEWEST_FREE = 5
"""Fifths of the risk of whom fewer are known to be free of the event at the horizon join their neighbours."""


@dataclass(frozen=True)
class TimeToEvent:
    """An outcome by a horizon, of patients of whom some were followed for less: takes the place of a column of 0 and 1.

    Parameters
    ----------
    time : array_like
        How long each patient was followed, n values of 0 or more, in one unit.
    event : array_like
        What happened then, n values: 0 nothing (the follow-up ended), 1 the outcome, 2 a competing event, after which
        the outcome is no longer possible.
    horizon : float
        By when, in the unit of `time`; above 0.
    by : {"fifths", "marginal"}
        Among whom the ends of follow-up are counted: those in the same fifth of the risk, or all.

    Examples
    --------
    >>> import dossier
    >>> from dossier.metrics.censoring import TimeToEvent
    >>> outcome = TimeToEvent(time=[2, 3, 5, 6, 7, 8], event=[1, 0, 1, 0, 0, 2], horizon=5)
    >>> print(dossier.metrics.auroc(outcome, risk=[0.9, 0.4, 0.3, 0.6, 0.2, 0.1]))
    0.81 (0.20 to 0.99)
    """

    time: Floats
    event: Floats
    horizon: float
    by: By = "fifths"

    @property
    def leaving_first(self) -> TimeToEvent:
        """The same with ends of follow-up before the events of the same time, short of the horizon."""
        leaves = (self.event == 0) & (self.time < self.horizon)
        return replace(self, time=np.where(leaves, np.nextafter(self.time, -1.0), self.time))

    def weights(self, risk: Floats, threshold: float | None = None) -> Weights:
        """The weights of these patients by their risks; at a threshold those of either side are counted on their own.

        On either side of a threshold neighbours are joined until in each group somebody who was followed longer
        stands for those who left.
        """
        strata = np.zeros(len(risk), dtype=np.int64)
        every = Weights(self.time, self.event, self.horizon, strata)
        if self.by == "fifths":
            strata = _joined(fifths(risk), lambda group: FEWEST_FREE - int(every.free[group].sum()))
        if threshold is not None:
            flagged = risk >= threshold
            for side in (flagged, ~flagged):
                strata[side] = _joined(strata[side], partial(_unknown, every.of(side)))
            strata = 2 * strata + flagged
        return Weights(self.time, self.event, self.horizon, strata)


def fifths(risk: Floats) -> Integers:
    """In which fifth each risk is."""
    return np.searchsorted(np.quantile(risk, FIFTHS), risk)


def _unknown(weights: Weights, group: Bools) -> int:
    return weights.of(group).unknown


def _joined(group: Integers, lacks: Callable[[Bools], int]) -> Integers:
    """The groups, of which one that lacks most joins the one below, the lowest the one above, until none lacks any."""
    group = np.array(group, dtype=np.int64)
    while True:
        names = np.unique(group)
        short = [lacks(group == name) for name in names]
        if len(names) < 2 or max(short) <= 0:
            return group
        worst = int(np.argmax(short))
        group[group == names[worst]] = names[worst - 1 if worst else 1]


@dataclass(frozen=True)
class Weights:
    """What patients stand for at a horizon: themselves and those like them whose follow-up ended earlier.

    `time` (n, 0 or more), `status` (n, 0, 1 or 2), `t` the horizon, `strata` (n, numbers) within which the ends of
    follow-up are counted. With G(u) the product over all earlier ends of follow-up s <= u of 1 - c(s)/(Y(s) - e(s)), Y
    those still followed, e those with an event and c those who left at s, a patient with an event by t weighs
    1/G(time-), one known to be free of it at t 1/G(t-), and all others 0. The weights of a stratum add up to its
    patients, and those of its cases, as a share, are 1 - the Kaplan-Meier estimate, with competing events the
    Aalen-Johansen estimate.
    """

    time: Floats
    status: Floats
    t: float
    strata: Integers

    @cached_property
    def case(self) -> Bools:
        """Those known to have the outcome by the horizon."""
        return np.asarray((self.time <= self.t) & (self.status == OUTCOME))

    @cached_property
    def other(self) -> Bools:
        """Those known to have a competing event by the horizon."""
        return np.asarray((self.time <= self.t) & (self.status == COMPETING))

    @cached_property
    def free(self) -> Bools:
        """Those known to be free of any event at the horizon."""
        return np.asarray((self.time > self.t) | ((self.time == self.t) & (self.status == 0)))

    @cached_property
    def left(self) -> Bools:
        """Those who left before the horizon, so that their outcome is not known."""
        return ~(self.case | self.other | self.free)

    @property
    def unknown(self) -> int:
        """How many left before the horizon in strata where nobody who was followed longer stands for all of them."""
        lost = [one.rows for one in self._each if one.values.sum() < (1 - ALL_THERE) * len(one.rows)]
        return sum(int(self.left[rows].sum()) for rows in lost)

    @property
    def obstacle(self) -> Fact | None:
        """Why nothing can be said of the horizon; None where it can.

        A stratum may end with an event, and then nobody has to be free of it; not so all patients together.
        """
        unknown = self.unknown if self.free.any() else int(self.left.sum())
        if unknown:
            return Fact("nobody_followed_to_horizon", horizon=self.t, unknown=Count(unknown, "patient"))
        return None

    @cached_property
    def _each(self) -> tuple[_Stratum, ...]:
        return tuple(_Stratum(self, np.flatnonzero(self.strata == name)) for name in np.unique(self.strata))

    @cached_property
    def values(self) -> Floats:
        """The weight of each patient."""
        found = np.zeros(len(self.time))
        for one in self._each:
            found[one.rows] = one.values
        return found

    def of(self, rows: Integers | Bools | slice) -> Weights:
        """The weights of some of the patients, among themselves."""
        return Weights(self.time[rows], self.status[rows], self.t, self.strata[rows])

    def influence(self, h: Floats) -> Floats:
        """What each patient contributes to the mean of w h over all: n values, whose mean is 0.

        `h` (n) is what each patient has; it may hold estimated means itself, whose own contribution the chain rule
        adds. That the weights are estimated is in it: who leaves at s takes part in the weights of all who stay. The
        standard error of the mean is sd/sqrt(n); of the share with the outcome that is Greenwood's.
        """
        found = self.values * h
        found -= found.mean()
        for one in self._each:
            found[one.rows] += one.through_weights(self.values[one.rows] * h[one.rows])
        return found

    @cached_property
    def pseudo_observations(self) -> Floats:
        """Pseudo-observations of the outcome by the horizon: n f - (n - 1) f without the patient, within each stratum.

        f is 1 - the Kaplan-Meier estimate, or the Aalen-Johansen estimate. In closed form, which goes through each time
        once. Source: Andersen and Pohar Perme 2010.
        """
        found = np.zeros(len(self.time))
        for one in self._each:
            found[one.rows] = one.pseudo_observations
        return found


@dataclass(frozen=True)
class _Stratum:
    """Patients among whom the ends of follow-up are counted, time by time."""

    whole: Weights = field(repr=False)
    rows: Integers

    @cached_property
    def _times(self) -> tuple[Floats, Integers]:
        """The distinct times, and the number of that of each patient."""
        times, at = np.unique(self.whole.time[self.rows], return_inverse=True)
        return times, np.asarray(at, dtype=np.int64)

    def _sum(self, values: Floats | Bools) -> Floats:
        """The sum over the patients of each time."""
        times, at = self._times
        return np.asarray(np.bincount(at, weights=values, minlength=len(times)), dtype=float)

    @cached_property
    def _counts(self) -> tuple[Floats, Floats, Floats]:
        """Of each time how many are still followed, have any event, and leave."""
        status = self.whole.status[self.rows]
        events, left = self._sum(status != 0), self._sum(status == 0)
        gone = np.cumsum(events + left)
        return len(self.rows) - gone + events + left, events, left

    @cached_property
    def _leaving(self) -> tuple[Floats, Floats, Floats]:
        """Of each time before the horizon who may leave, who does, and the share of these."""
        followed, events, left = self._counts
        may = followed - events
        leave = np.where(self._times[0] < self.whole.t, left, 0.0)
        return may, leave, np.divide(leave, may, out=np.zeros_like(may), where=may > 0)

    @cached_property
    def values(self) -> Floats:
        """The weight of each patient."""
        before = _before(np.cumprod(1 - self._leaving[2], dtype=np.float64), 1.0)[self._times[1]]
        known = ~self.whole.left[self.rows]
        return np.divide(1.0, before, out=np.zeros_like(before), where=known & (before > 0))

    def through_weights(self, weighted: Floats) -> Floats:
        """What each patient contributes by taking part in the weights of others; `weighted` is w h of each."""
        at = self._times[1]
        may, leave, share = self._leaving
        stay = may - leave
        later = weighted.sum() - np.cumsum(self._sum(weighted))
        jump = np.where(leave > 0, _share(later, stay), 0.0)
        paid = np.cumsum(jump * share)
        leaves = self.whole.status[self.rows] == 0
        return np.where(leaves, jump[at] - paid[at], -_before(paid, 0.0)[at])

    @cached_property
    def pseudo_observations(self) -> Floats:
        """See `Weights.pseudo_observations`."""
        (times, at), (followed, events, _), n = self._times, self._counts, len(self.rows)
        status = self.whole.status[self.rows]
        seen, cases = times <= self.whole.t, self._sum(status == OUTCOME)

        def course(of: Floats) -> tuple[Floats, Floats]:
            """Who is free of any event after each time, and who has had the outcome by then."""
            hazard, of_cases = (_share(np.where(seen, each, 0.0), of) for each in (events, cases))
            free = np.cumprod(1 - hazard, dtype=np.float64)
            return free, np.cumsum(_before(free, 1.0) * of_cases)

        free, had = course(followed)
        free_without, had_without = course(followed - 1)
        # Without the patient: until the own time all others, at it one less, after it as with the patient.
        until, had_until = _before(free_without, 1.0)[at], _before(had_without, 0.0)[at]
        others = followed[at] - 1
        had_then = until * _share(cases[at] - (status == OUTCOME), others)
        stays = until * (1 - _share(events[at] - (status != 0), others))
        after = stays * _share(had[-1] - had[at], free[at])
        without = np.where(seen[at], had_until + had_then + after, had_without[-1])
        return np.asarray(n * had[-1] - (n - 1) * without)


def _before(values: Floats, first: float) -> Floats:
    """What there is just before each time."""
    return np.append(first, values[:-1])


def _share(some: Floats, every: Floats) -> Floats:
    """Shares; 0 of nobody."""
    return np.divide(some, every, out=np.zeros(np.broadcast(some, every).shape), where=every > 0)
