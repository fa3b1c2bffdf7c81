"""Groups of patients for whom, over all external sites, the model does otherwise than for the other patients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from dossier.core.facts import Fact, Value
from dossier.core.multiplicity import holm
from dossier.core.types import MACRO, POOLED, Absent, Estimate, Result, SubgroupSummary, Subset, Withheld, is_telling

MEASURES = ("auroc", "model_based_concordance", "oe_ratio")
"""What groups are compared in; the second says what of the first is case mix."""


@dataclass(frozen=True)
class GroupDifference:
    """A measure in a group of patients over all sites, whose difference to the others' has an interval without 0."""

    column: str
    label: str
    measure: str
    of_class: str | None
    here: Estimate
    apart: Estimate
    """The difference to the others."""
    expected: float | None = None
    """Of an AUROC what the group would have if its risks were right."""

    @property
    def difference(self) -> float:
        """The value of the difference."""
        return self.apart.value

    @property
    def is_case_mix(self) -> bool:
        """Whether an AUROC below that of the others is no lower than the group's own case mix allows."""
        return self.difference < 0 and self.expected is not None and self.here.value >= self.expected

    @property
    def fact(self) -> Fact:
        """The direction of the difference with both values; in words a sentence without its full stop."""
        group = Fact("group", label=self.label, column=self.column)
        if self.of_class:
            group = Fact("group_of_class", label=self.label, column=self.column, of_class=self.of_class)
        low, high = self.here.low, self.here.high
        values: dict[str, Value] = {
            "group": group,
            "value": self.here.value,
            "interval": None if low is None or high is None else Fact("interval", low=low, high=high),
            "others": self.here.value - self.difference,
        }
        if self.measure == "oe_ratio":
            # Whether the model is wrong by itself, or only beside the others, is what the group's own interval says.
            off = (low is not None and low > 1) if self.difference > 0 else (high is not None and high < 1)
            values |= {"is_relative": not off}
            return Fact("more_events_in_group" if self.difference > 0 else "fewer_events_in_group", **values)
        case_mix = None if self.expected is None else Fact("by_case_mix", expected=self.expected)
        better = self.difference > 0
        return Fact("group_ranked_better" if better else "group_ranked_less_well", **values, case_mix=case_mix)


def compared(summaries: Sequence[SubgroupSummary], results: Sequence[Result]) -> tuple[Estimate, ...]:
    """Every difference of a group to the others over all sites, of two groups one; case mix not counted."""
    found = _indexed(results)
    return tuple(found[subset, measure, of_class, True] for subset, measure, of_class in _compared(summaries, found))


def over_all_sites(summaries: Sequence[SubgroupSummary], results: Sequence[Result]) -> Iterator[GroupDifference]:
    """The differences over all sites whose interval leaves out 0; of two groups the first, for the other mirrors it."""
    found = _indexed(results)
    for subset, measure, of_class in _compared(summaries, found):
        here, apart = found.get((subset, measure, of_class, False)), found[subset, measure, of_class, True]
        if here is None or not _excludes_zero(apart):
            continue
        expected = found.get((subset, "model_based_concordance", of_class, False))
        value = expected.value if expected is not None and measure == "auroc" else None
        yield GroupDifference(subset.column, subset.level, measure, of_class, here, apart, value)


def comparisons(summaries: Sequence[SubgroupSummary], results: Sequence[Result]) -> int:
    """How many times a group is compared with the others over all sites."""
    return len(compared(summaries, results))


def survives(compared: Sequence[Estimate], level: float) -> tuple[bool, ...]:
    """Which differences exclude 0 by Holm's correction over all of them: what else stands out could be coincidence.

    The p value of each is read off its interval, from the value to the bound that is nearer to 0, as if normal.
    """
    p_values = holm([_p_value(found, level) for found in compared])
    return tuple(p_value <= 1 - level for p_value in p_values)


def _p_value(found: Estimate, level: float) -> float:
    bound = found.low if found.value > 0 else found.high
    if bound is None or found.value == 0:
        return 1.0
    error = abs(found.value - bound) / NORMAL.inv_cdf((1 + level) / 2)
    return 2 * (1 - NORMAL.cdf(abs(found.value) / error)) if error > 0 else 0.0


NORMAL = NormalDist()


def sites_with(summaries: Sequence[SubgroupSummary], column: str) -> frozenset[str]:
    """The datasets whose patients have the column; a size that is withheld is one."""
    return frozenset(
        summary.dataset
        for summary in summaries
        if summary.column == column and (isinstance(summary.size, Withheld) or not isinstance(summary.size, Absent))
    )


Key = tuple[Subset, str, str | None, bool]


def _compared(
    summaries: Sequence[SubgroupSummary], found: Mapping[Key, Estimate]
) -> Iterator[tuple[Subset, str, str | None]]:
    """Each group, measure and class of which there is a difference to the others."""
    labels: dict[str, dict[str, None]] = {}
    for summary in summaries:
        labels.setdefault(summary.column, {})[summary.label] = None
    for column, known in labels.items():
        for label in list(known)[:1] if len(known) == 2 else known:
            for subset, measure, of_class, is_difference in found:
                if subset == Subset(column, label) and is_difference and measure != "model_based_concordance":
                    yield subset, measure, of_class


def _indexed(results: Sequence[Result]) -> Mapping[Key, Estimate]:
    """The estimates over all sites by subset, measure and class, and whether they are differences."""
    return {
        (
            result.subset,
            result.measure,
            None if of_class is None else str(of_class),
            "against" in result.at,
        ): result.found
        for result in results
        if result.dataset == POOLED
        and result.subset is not None
        and result.measure in MEASURES
        and (of_class := result.at.get("class")) != MACRO
        and not isinstance(result.found, Absent)
        and is_telling(result.found)
    }


def _excludes_zero(found: Estimate) -> bool:
    return (found.low is not None and found.low > 0) or (found.high is not None and found.high < 0)
