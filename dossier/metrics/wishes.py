"""A threshold for a wish: where the risks of a site reach a sensitivity or a specificity, and what it costs there.

A threshold that is found in the data which then judge it looks better than it is: it is called chosen on these data
wherever it is printed, and no claim and no criterion rests on it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import numpy as np
import scipy

from dossier.core import register
from dossier.core.facts import Count, Fact, Method
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import discrimination, intervals, utility

CHAPTER = "utility"

at_wish = partial(register.metric, roles=("external",), at=("wish",), clustered="value only")


@at_wish(breaks=("perfect is best", "one class is absent", "narrower with more rows"))
def threshold_for_wish(outcome: Floats, risk: Floats, wish: str, level: float = 0.95) -> Estimate | Absent:
    """The threshold that reaches a wished sensitivity or specificity here, chosen on these data.

    Another sample would choose another one; what it reaches in new patients may be less than the wish.

    Returns
    -------
    Estimate or Absent
        Of a sensitivity the highest of the observed risks at which it is at least the wish, of a specificity the
        lowest; n is the number of cases, or of the others. Absent without any, or where no observed risk reaches it.

    Notes
    -----
    The true threshold is a quantile of the risks of the n cases (of the others for a specificity). Its interval is
    distribution-free, by inverting the exact binomial test: from the k-th highest of their risks, k the smallest with
    P(B >= k) <= (1 - level)/2, to the j-th highest, j the largest with P(B < j) <= (1 - level)/2, B binomial(n, wish),
    0 or 1 where so few cases do not bound it; for a specificity from the j-th lowest of the others' risks to the next
    observed risk above the k-th lowest. It holds the true one at least so often, ties or not. Source: Thompson 1936.
    """
    ascending, share, of_cases = register.present(_asked(outcome, risk, wish))
    value, n, tail = register.present(chosen(outcome, risk, wish)), len(ascending), (1 - level) / 2
    # By how many risks at or above it a bound is known; for a specificity at or below it.
    counts = np.arange(n + 1)
    few = int((scipy.special.bdtr(counts, n, share) <= tail).sum())
    many = int((scipy.special.bdtrc(counts, n, share) > tail).sum()) + 1
    padded = np.concatenate([[0.0], ascending, [1.0]])
    low, high = (padded[n + 1 - many], padded[n + 1 - few]) if of_cases else (padded[few], _above(risk, padded[many]))
    ends = float(min(low, value)), float(min(1.0, max(high, value)))
    return Estimate(value, *ends, level, n, Method("order_statistics"), n if of_cases else 0)


def _asked(outcome: Floats, risk: Floats, wish: str) -> tuple[Floats, float, bool] | Absent:
    """The risks that a wish is about, ascending, the share that it asks for, and whether it is about the cases."""
    found = re.fullmatch(r"(sensitivity|specificity) (1|0\.\d+)", wish)
    if found is None or float(found[2]) == 0:
        return Absent(Fact("wish_not_known", wish=wish))
    of_cases, rows = found[1] == "sensitivity", Count(len(outcome), "row")
    ascending = np.sort(risk[outcome == of_cases])
    if len(ascending) == 0:
        return Absent(Fact("no_event" if of_cases else "no_non_event", rows=rows))
    return ascending, float(found[2]), of_cases


@register.absent_with_its_parts
def chosen(outcome: Floats, risk: Floats, wish: str) -> float | Absent:
    """The observed risk that reaches the wish: the highest for a sensitivity, the lowest for a specificity."""
    ascending, share, of_cases = register.present(_asked(outcome, risk, wish))
    # How many of them have to be on the right side: the fewest whose share is at least the wish.
    needed = int(np.searchsorted(np.arange(len(ascending) + 1) / len(ascending), share))
    if of_cases:
        return float(ascending[-needed])
    value = _above(risk, ascending[needed - 1])
    return value if value < np.inf else Absent(Fact("wish_not_reached", wish=wish))


def _above(risk: Floats, least: float) -> float:
    """The lowest observed risk above another one; infinite where there is none."""
    return float(np.min(risk[risk > least], initial=np.inf))


@at_wish(breaks=("perfect is best", "one class is absent"))
def flagged_at_wish(outcome: Floats, risk: Floats, wish: str, level: float = 0.95) -> Estimate | Absent:
    """How many of all people the model flags at the threshold that was chosen on these data for a wish.

    Returns
    -------
    Estimate or Absent
        (TP + FP)/n with Wilson's interval. Absent where no threshold is chosen.

    Notes
    -----
    The interval is of what the threshold does in new patients. It is that of a threshold which was fixed beforehand: by
    how much the true sensitivity at an order statistic differs from the observed one is distributed as without a choice
    (beta in place of binomial). Source: Wilks 1941.
    """
    flagged = risk >= register.present(chosen(outcome, risk, wish))
    n, alarms = len(risk), int(flagged.sum())
    low, high = intervals.wilson(alarms, n, level)
    return Estimate(alarms / n, low, high, level, n, Method("wilson", "threshold_chosen_here"), int(outcome.sum()))


def _cost(measure: str) -> None:
    """Ask a measure of a threshold also of the one that is chosen."""
    own = register.REGISTER.metrics[measure]

    def at_chosen(outcome: Floats, risk: Floats, wish: str, level: float = 0.95) -> Estimate | Absent:
        """What is found of the measure at the threshold for a wish."""
        at = chosen(outcome, risk, wish)
        found: Estimate | Absent = at if isinstance(at, Absent) else own.function(outcome, risk, at, level)
        return found if isinstance(found, Absent) else replace(found, method=found.method + "threshold_chosen_here")

    register.of_wishes(own, at_chosen, __name__)


for _measure in (discrimination.sensitivity, discrimination.specificity, discrimination.ppv, utility.net_benefit):
    _cost(_measure.__name__)
