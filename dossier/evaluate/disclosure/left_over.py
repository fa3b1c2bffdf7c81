"""What still counts persons once all is protected, wherever it stands: the last look before anything is printed.

Each measure and curve is protected by its own rule, and what follows from them by theirs. Here nothing is trusted: a
count of persons that is no range, in a method or a reason, takes the whole result with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from dossier.core import types
from dossier.core.facts import Fact
from dossier.evaluate.disclosure.measures import not_given

Found = types.Estimate | types.Curve | types.Absent
Kept = TypeVar("Kept", types.Result, types.CurveResult, types.WithheldDescription)


def without_counts(evidence: types.Evidence) -> types.Evidence:
    """The evidence without any count of persons that is no range; as it is where nothing is protected."""
    look = Look.at(evidence.datasets)
    return evidence if look is None else look.evidence(evidence)


@dataclass(frozen=True)
class Look:
    """One look at what was found, by the names of the datasets, all of which one policy protects."""

    protected: frozenset[str]
    why: types.Withheld
    """Why what counts persons is withheld."""

    @classmethod
    def at(cls, datasets: Sequence[types.DatasetSummary]) -> Look | None:
        """A look at what these datasets yield; None where none of them is protected."""
        strictest = max((dataset.minimum_cell for dataset in datasets), default=0)
        return cls(frozenset(dataset.name for dataset in datasets), not_given(strictest)) if strictest else None

    def evidence(self, found: types.Evidence) -> types.Evidence:
        """The whole evidence."""
        return replace(
            found,
            results=tuple(map(self.kept, found.results)),
            curves=tuple(map(self.kept, found.curves)),
            descriptions=tuple(description for description in found.descriptions if self.is_ranged(description)),
            withheld=(
                *map(self.kept, found.withheld),
                *(self.taken(description) for description in found.descriptions if not self.is_ranged(description)),
            ),
            subgroups=self.subgroups(found.subgroups),
            flags=tuple(map(self.flag, found.flags)),
            criteria=tuple(map(self.criterion, found.criteria)),
        )

    def site(self, found: types.SiteResults) -> types.SiteResults:
        """What one site yields, before anything is pooled."""
        results, curves = tuple(map(self.kept, found.results)), tuple(map(self.kept, found.curves))
        return types.SiteResults(found.summary, results, curves)

    def subgroups(self, groups: types.SubgroupEvidence) -> types.SubgroupEvidence:
        """What subgroups yield."""
        return types.SubgroupEvidence(
            tuple(map(self.summary, groups.summaries)),
            tuple(map(self.kept, groups.results)),
            tuple(map(self.kept, groups.curves)),
        )

    def is_ranged(self, description: types.DescriptionResult) -> bool:
        """Whether a statistic rests on a number of rows that is a range, or is not given."""
        return isinstance(description.described.n, types.CountRange | types.Withheld)

    def taken(self, description: types.DescriptionResult) -> types.WithheldDescription:
        """That a statistic was taken away."""
        return types.WithheldDescription(
            description.dataset, description.described.variable, description.described.statistic, None, self.why
        )

    def counts_persons(self, dataset: str, found: Found) -> bool:
        """Whether a count of persons stands in what was found, or beside it."""
        if isinstance(found, types.Absent):
            return _counts_persons(found.reason)
        beside = () if dataset not in self.protected else (found.n, found.events)
        return _counts_persons(*found.method, getattr(found, "reason", None)) or any(
            not isinstance(each, types.CountRange) for each in beside if each is not None
        )

    def kept(self, kept: Kept) -> Kept:
        """What was found, withheld where it counts persons."""
        return replace(kept, found=self.why) if self.counts_persons(kept.dataset, kept.found) else kept

    def summary(self, subgroup: types.SubgroupSummary) -> types.SubgroupSummary:
        size = subgroup.size
        if isinstance(size, types.SubgroupSize):
            counts = (size.n, size.events, size.unassigned, size.left, *size.class_counts.values())
            is_counted = subgroup.dataset in self.protected and any(type(count) is int for count in counts)
        else:
            is_counted = self.counts_persons(subgroup.dataset, size)
        return replace(subgroup, size=self.why) if is_counted else subgroup

    def flag(self, flag: types.Flag) -> types.Flag:
        """A limitation, which says that there are some where it counted them."""
        return replace(flag, fact=flag.fact.without_counts) if _counts_persons(flag.fact) else flag

    def criterion(self, criterion: types.Criterion) -> types.Criterion:
        return replace(criterion, reason=self.why.reason) if _counts_persons(criterion.reason) else criterion


def _counts_persons(*facts: Fact | None) -> bool:
    """Whether any of the facts holds a count of persons that is no range."""
    counts = [count for fact in facts if fact is not None for count in fact.counts if count.is_of_persons]
    numbers = [number for count in counts for number in (count.number, count.out_of) if number is not None]
    return any(not isinstance(number, types.CountRange) for number in numbers)
