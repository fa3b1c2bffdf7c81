"""What of the description is shown: categories of a few put together, gaps of a few withheld, quantiles rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dossier.evaluate.withheld.tables import Policy, is_few, rounded_down
from dossier.facts import Fact
from dossier.types import MODEL, Description, DescriptionResult, Evidence, Withheld, WithheldDescription

OTHER = "other levels"
"""What categories are called that are counted together."""

FIGURES = 3
"""The significant figures of a quantile: one patient's value is not printed in full."""

QUANTILES = ("quantile_25", "median", "quantile_75")
SHIFTS = ("standardized_mean_difference", "kolmogorov_smirnov", "membership_log_odds")
"""How a predictor differs from development: of a category it follows from the shares."""


@dataclass(frozen=True)
class Shown:
    """The rows that are shown, and those that are not."""

    rows: tuple[DescriptionResult, ...]
    withheld: tuple[WithheldDescription, ...]


@dataclass(frozen=True)
class Variable:
    """What may be told of one variable of one dataset."""

    below: int
    total: int
    missing: int
    hidden_levels: frozenset[str]
    numeric: bool

    @property
    def known(self) -> int:
        """The rows that have a value."""
        return self.total - self.missing

    @property
    def gaps_are_few(self) -> bool:
        """Whether the rows without a value, or those with one, are few."""
        return is_few(self.missing, self.below)


def shown(evidence: Evidence, policy: Policy) -> Shown:
    """The rows of the description as they may be shown, and which are not."""
    variables = _variables(evidence.descriptions, policy)
    origin = next((one.name for one in evidence.datasets if one.role == "development"), None)
    rows: list[DescriptionResult] = []
    withheld: dict[WithheldDescription, None] = {}
    merged: set[tuple[str, str]] = set()
    for row in evidence.descriptions:
        one, key = row.described, (row.dataset, row.described.variable)
        below = policy.smallest[row.dataset]
        outcome = policy.outcomes.get(row.dataset)
        if row.dataset == MODEL and below:
            rows.append(_with(row, one.value, rounded_down(one.n, below) if isinstance(one.n, int) else one.n))
        elif not below:
            rows.append(row)
        elif one.variable == "outcome" and key not in variables:
            if outcome is None:
                rows.append(row)
            else:
                withheld[WithheldDescription(row.dataset, one.variable, one.statistic, None, outcome)] = None
        else:
            here = variables.get(key)
            there = variables.get((origin or "", one.variable))
            found = row if here is None else _row(row, here, there)
            if isinstance(found, Withheld):
                if here is not None and one.statistic == "count" and key not in merged:
                    merged.add(key)
                    rows += _together(row, here, evidence.descriptions)
                level = None if one.level is not None else one.level
                withheld[WithheldDescription(row.dataset, one.variable, one.statistic, level, found)] = None
            else:
                rows.append(found)
    return Shown(tuple(rows), tuple(withheld))


def _variables(rows: Sequence[DescriptionResult], policy: Policy) -> dict[tuple[str, str], Variable]:
    found: dict[tuple[str, str], Variable] = {}
    for row in rows:
        one = row.described
        if one.statistic == "missing" and isinstance(one.n, int):
            same = [
                other.described
                for other in rows
                if (other.dataset, other.described.variable) == (row.dataset, one.variable)
            ]
            counts = {other.level or "": int(other.value) for other in same if other.statistic == "count"}
            below = policy.smallest[row.dataset]
            found[row.dataset, one.variable] = Variable(
                below,
                one.n,
                int(one.value),
                together(counts, below),
                numeric=any(other.statistic == "median" for other in same),
            )
    return found


def together(counts: dict[str, int], below: int) -> frozenset[str]:
    """The categories that are counted together: the small ones, and the next smallest until they are enough."""
    small = {level for level, count in counts.items() if is_few(count, below)}
    others = sorted((count, level) for level, count in counts.items() if level not in small and count)
    while small and others and (len(small) < 2 or sum(counts[level] for level in small) < below):
        small.add(others.pop(0)[1])
    return frozenset(small)


def _row(row: DescriptionResult, here: Variable, there: Variable | None) -> DescriptionResult | Withheld:
    """One statistic as it may be shown, or why it may not."""
    one, below = row.described, here.below
    few = Withheld(Fact("few_patients", below=below), below)
    if is_few(here.known, below):
        return few
    if one.statistic in ("missing", "share_missing"):
        return few if here.gaps_are_few else row
    if one.statistic == "share_missing_development":
        return few if there is not None and there.gaps_are_few else row
    n = few if here.gaps_are_few else one.n
    if one.statistic in QUANTILES:
        return _with(row, round(one.value, _digits(one.value)), n)
    if one.statistic in ("count", "share"):
        if one.level in here.hidden_levels:
            return few
        if here.gaps_are_few:
            # A count beside its share, and an exact share too, tell how many have a value.
            return few if one.statistic == "count" else _with(row, round(one.value, 2), n)
        return row
    if one.statistic in SHIFTS and _tells_a_share(one, here, there):
        return few
    return _with(row, one.value, n)


def _with(row: DescriptionResult, value: float, n: int | Withheld) -> DescriptionResult:
    return replace(row, described=replace(row.described, value=value, n=n))


def _digits(value: float) -> int:
    return 0 if value == 0 else FIGURES - 1 - math.floor(math.log10(abs(value)))


def _tells_a_share(one: Description, here: Variable, there: Variable | None) -> bool:
    """Whether the difference of two shares would tell one that is withheld, or name a category that is."""
    hidden = here.hidden_levels | (there.hidden_levels if there is not None else frozenset())
    return bool(hidden) and (one.level in hidden or one.level is None)


def _together(row: DescriptionResult, here: Variable, rows: Sequence[DescriptionResult]) -> list[DescriptionResult]:
    """The categories that are counted together, as one; nothing where they are all there are."""
    one = row.described
    counts = [
        (other.described.level, other.described.value)
        for other in rows
        if (other.dataset, other.described.variable, other.described.statistic) == (row.dataset, one.variable, "count")
    ]
    count = sum(value for level, value in counts if level in here.hidden_levels)
    rest = [level for level, value in counts if level not in here.hidden_levels and value]
    if here.numeric or here.gaps_are_few or not rest or not here.hidden_levels:
        return []
    whole = Description(one.variable, "count", count, here.known, OTHER)
    return [
        replace(row, described=whole),
        replace(row, described=replace(whole, statistic="share", value=count / here.known)),
    ]
