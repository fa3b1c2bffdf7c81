"""What of the description is given: shares of counts that were given a range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from dossier.core.facts import Fact
from dossier.core.types import CountRange, DatasetSummary, Description, DescriptionResult, Withheld, WithheldDescription
from dossier.evaluate.disclosure import chains, measures, shared

SHARES = {"share": "count", "share_missing": "missing"}
"""The shares that are given, and the count that each is one of."""


def given(
    rows: Sequence[DescriptionResult],
    datasets: Mapping[str, DatasetSummary],
    said: Collection[str],
    wide: Mapping[str, int],
) -> tuple[tuple[DescriptionResult, ...], tuple[WithheldDescription, ...]]:
    """The rows as they may be given, and what is withheld.

    `said` are the columns that make subgroups, whose tables give the counts of the levels, and the predictors whose
    counts others add up to: another range of the same persons would tell more. No quantile is given: it is of a known
    share of all rows, and few may lie between it and a cut of a subgroup or of the risk. `wide` are the values that a
    range of each dataset holds.
    """
    counted = {_key(row, row.described.statistic): row.described for row in rows}
    named = {
        (row.described.variable, row.described.level)
        for row in rows
        if row.described.statistic == "count" and row.described.of != "outcome"
    }
    levels = Counter(variable for variable, _ in named)
    shown: list[DescriptionResult] = []
    withheld: dict[WithheldDescription, None] = {}
    for row in rows:
        description = row.described
        if description.of == "follow_up" and description.statistic != "competing":
            # Which quartiles are reached tells of times.
            continue
        below = datasets[row.dataset].minimum_cell
        is_said = description.variable in said and description.statistic in SHARES
        is_of_many = levels[description.variable] > shared.MOST_LEVELS and description.statistic == "share"
        if description.of != "outcome" and (is_said or is_of_many):
            found: Description | Withheld = measures.not_given(below)
        else:
            found = _given(row, counted, datasets[row.dataset], wide[row.dataset])
        if isinstance(found, Description):
            shown.append(replace(row, described=found))
        else:
            withheld[row.not_given(found)] = None
    return tuple(shown), tuple(withheld)


def _key(row: DescriptionResult, statistic: str) -> tuple[str, str, str, str | None]:
    return row.dataset, row.described.variable, statistic, row.described.level


def _given(
    row: DescriptionResult,
    counted: Mapping[tuple[str, str, str, str | None], Description],
    dataset: DatasetSummary,
    wide: int,
) -> Description | Withheld:
    description = row.described
    below = dataset.minimum_cell
    of_all = dataset.n if isinstance(dataset.n, CountRange) else chains.ranged(dataset.n, wide)
    if description.of == "outcome":
        # How many had the outcome, as the dataset itself gives it.
        if dataset.outcome_withheld is not None:
            return dataset.outcome_withheld
        had = dataset.events if description.level is None else dataset.class_counts.get(description.level)
        if had is None:
            return Withheld(Fact("fewer_persons", below=below), below)
        value = float(had) if description.statistic in ("events", "count") else int(had) / int(of_all)
        return replace(description, value=value, n=of_all)
    of = SHARES.get(description.statistic)
    count = counted.get(_key(row, of)) if of else None
    if count is not None:
        part = chains.ranged(int(count.value), wide)
        if of == "count" and part.low == 0:
            return Withheld(Fact("fewer_persons", below=below), below)
        return replace(description, value=min(1.0, round(int(part) / int(of_all), 2)), n=of_all)
    return measures.not_given(below)
