"""Categories and groups of fewer than five patients, which are described nowhere, also where no policy is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from dossier.core import facts, types

Key = tuple[str, str, str | None]
"""A dataset, a variable and its level."""


def _why() -> types.Withheld:
    return types.Withheld(facts.Fact("fewer_persons", below=types.FEWEST_PATIENTS), types.FEWEST_PATIENTS)


def without(evidence: types.Evidence) -> types.Evidence:
    """The evidence without what describes a category or a group of few patients; a category is not named then, nor a
    group that the release does not spell.
    """
    rows, withheld, why = evidence.descriptions, list(evidence.withheld), _why()
    counts = {_key(row): row.described.value for row in rows if row.described.statistic == "count"}
    named = {(variable, level) for (_, variable, level), count in counts.items() if count >= types.FEWEST_PATIENTS}
    counted = {variable for _, variable, _ in counts}
    is_shown = [row.described.variable not in counted or _is_shown(row, counts, named) for row in rows]
    kept = [row for row, shown in zip(rows, is_shown, strict=True) if shown]
    withheld += [row.not_given(why) for row, shown in zip(rows, is_shown, strict=True) if not shown]
    once = tuple(dict.fromkeys(withheld))
    return replace(evidence, descriptions=tuple(kept), withheld=once, subgroups=_subgroups(evidence))


def _key(row: types.DescriptionResult) -> Key:
    return row.dataset, row.described.variable, row.described.level


def _is_shown(
    row: types.DescriptionResult, counts: Mapping[Key, float], named: Collection[tuple[str, str | None]]
) -> bool:
    """Whether a statistic is none of a category that few have; that nobody has one is said where others are many."""
    variable, level = row.described.variable, row.described.level
    if level is None or row.described.of == "outcome":
        # The classes of an outcome are cells of its tables.
        return True
    count = counts.get(_key(row), 0)
    return count >= types.FEWEST_PATIENTS or (not count and (variable, level) in named)


def _subgroups(evidence: types.Evidence) -> types.SubgroupEvidence:
    found = evidence.subgroups
    few = {
        (summary.dataset, summary.subset)
        for summary in found.summaries
        if isinstance(summary.size, types.SubgroupSize) and 0 < summary.size.n < types.FEWEST_PATIENTS
    }
    every: Counter[types.Subset] = Counter()
    for summary in found.summaries:
        every[summary.subset] += summary.size.n if isinstance(summary.size, types.SubgroupSize) else 0
    few |= {(types.POOLED, subset) for subset, n in every.items() if 0 < n < types.FEWEST_PATIENTS}
    # Where nobody is in a group, its name alone would tell that somebody elsewhere is.
    nobody = {
        (summary.dataset, summary.subset)
        for summary in found.summaries
        if every[summary.subset] < types.FEWEST_PATIENTS
    }
    gone = {(dataset, subset) for dataset, subset in few | nobody if not evidence.release.spells(subset)}

    def is_named(dataset: str, subset: types.Subset | None) -> bool:
        return subset is None or (dataset, subset) not in gone

    return types.SubgroupEvidence(
        tuple(
            replace(summary, size=_why()) if (summary.dataset, summary.subset) in few else summary
            for summary in found.summaries
            if is_named(summary.dataset, summary.subset)
        ),
        tuple(result for result in found.results if is_named(result.dataset, result.subset)),
        tuple(curve for curve in found.curves if is_named(curve.dataset, curve.subset)),
    )
