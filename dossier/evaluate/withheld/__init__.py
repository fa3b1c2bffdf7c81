"""Evidence -> Evidence: every small count, and all that it could be told from, is taken out before anybody reads it.

A count is small from 1 up to the smallest that may be printed; 0 is no patient and stays. Flags, criteria, checklist,
figures and pages are made afterwards and know only what is left. `tables.py` says which counts can be told from which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dossier.evaluate.withheld import curves, descriptions, results, tables
from dossier.evaluate.withheld.tables import Policy, is_few
from dossier.facts import Fact
from dossier.types import POOLED, DatasetSummary, Evidence, Flag, Study, SubgroupEvidence, SubgroupSize, Withheld

MEASURES = frozenset(("sensitivity", "specificity", "net_benefit"))
"""The measures from which the tables of right and wrong can be worked back, so that they say what is withheld."""


def without_small_datasets(study: Study) -> Study:
    """The study without the datasets of which not even the number of rows may be shown, with a flag that says so.

    They go before anything is computed, so that no number over all sites holds them.
    """
    kept = tuple(one for one in study.datasets if one.rows_analysed >= one.minimum_cell)
    if len(kept) == len(study.datasets):
        return study
    gone = {one.name for one in study.datasets} - {one.name for one in kept}
    how_many = "1 dataset has" if len(gone) == 1 else f"{len(gone)} datasets have"
    says = f"{how_many} fewer analysed rows than the smallest count that is printed: nothing of it is shown."
    flags = tuple(flag for flag in study.flags if flag.dataset not in gone)
    return replace(study, datasets=kept, flags=(*flags, Flag("dataset_withheld", POOLED, says)))


def evidence(complete: Evidence) -> Evidence:
    """The evidence that may be shown; the evidence itself where the release declares no disclosure policy."""
    if not any(one.minimum_cell for one in complete.datasets):
        return complete
    policy = tables.policy(complete)
    shown = results.shown(complete, policy)
    of_subgroups = results.shown_of_subgroups(complete, policy)
    described = descriptions.shown(complete, policy)
    drawn = curves.shown((*complete.curves, *complete.subgroups.curves), complete, policy, shown)
    kept = replace(
        complete,
        datasets=tuple(_summary(one, policy) for one in complete.datasets),
        results=shown,
        curves=drawn[: len(complete.curves)],
        descriptions=described.rows,
        withheld=described.withheld,
        unassigned_withheld=policy.unassigned,
        subgroups=replace(
            complete.subgroups,
            summaries=tuple(policy.summary(one) for one in complete.subgroups.summaries),
            results=of_subgroups,
            curves=drawn[len(complete.curves) :],
        ),
    )
    return _without_rare_names(kept)


def _without_rare_names(shown: Evidence) -> Evidence:
    """The evidence without the subgroups that the tables name, not the release, and of which no dataset shows a size.

    A value that few patients have is one of theirs.
    """
    declared = {one.column for one in shown.release.subgroup if one.levels is not None or one.cuts is not None}
    of_all = shown.subgroups
    told = {one.subset for one in of_all.summaries if isinstance(one.size, SubgroupSize) and one.size.n}
    rare = {
        one.subset
        for one in of_all.summaries
        if one.column not in declared and one.subset not in told and isinstance(one.size, Withheld)
    }
    return replace(
        shown,
        subgroups=SubgroupEvidence(
            summaries=tuple(one for one in of_all.summaries if one.subset not in rare),
            results=tuple(one for one in of_all.results if one.subset not in rare),
            curves=tuple(one for one in of_all.curves if one.subset not in rare),
        ),
    )


def flags(raised: Sequence[Flag], shown: Evidence) -> tuple[Flag, ...]:
    """The flags of reading, each small count of rows said as one, and none that repeats a withheld count."""
    smallest = {one.name: one.minimum_cell for one in shown.datasets}
    unassigned = {dataset for dataset, _ in shown.unassigned_withheld}
    return tuple(
        _flag(flag, smallest.get(flag.dataset, 0), flag.flag == "in_no_subgroup" and flag.dataset in unassigned)
        for flag in raised
    )


def _flag(flag: Flag, smallest: int, withheld: bool) -> Flag:
    if flag.rows is None:
        return flag
    if withheld:
        return replace(flag, says=flag.rows.says_of("a number of rows that is withheld"), rows=None)
    if is_few(flag.rows.count, smallest):
        return replace(flag, says=flag.rows.says_of(f"fewer than {smallest} rows"), rows=None)
    return flag


def _summary(dataset: DatasetSummary, policy: Policy) -> DatasetSummary:
    """A dataset with its small counts taken out; one excluded row could be told from the rows read."""
    smallest = dataset.minimum_cell
    outcome = policy.outcomes.get(dataset.name)
    if outcome is not None:
        dataset = replace(dataset, events=None, class_counts={}, outcome_withheld=outcome)
    excluded = {why: count for why, count in dataset.excluded.items() if isinstance(count, int)}
    few = Withheld(Fact("few_rows_excluded", dataset=dataset.name, below=smallest), smallest)
    if not any(is_few(count, smallest) for count in excluded.values()):
        return dataset
    return replace(
        dataset,
        rows_read=few,
        excluded={why: few if is_few(count, smallest) else count for why, count in excluded.items()},
    )
