"""Groups of patients held against the other patients of their own hospitals: which comparisons there are, and what each
shows.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dossier.core import bands, facts, multiplicity
from dossier.core.types import MACRO, POOLED, Absent, Estimate, Result, SubgroupSummary, Subset, Withheld, labels_of

AGAINST = {"against": "complement"}
"""What a difference to the other patients holds in `at`."""

AT_THRESHOLD = ("sensitivity", "specificity")
"""The measures that groups are judged by at the first threshold."""

RATIO = "oe_ratio_ratio"
MADE_OF = {RATIO: "oe_ratio", "auroc_beyond_case_mix": "auroc"}
"""The comparisons that are no difference of a measure, and the measure that they are made of."""

MARGINS: Mapping[str, tuple[float, float]] = {
    "sensitivity": (-0.1, 0.1),
    "specificity": (-0.1, 0.1),
    RATIO: (0.8, 1.25),
    "auroc_beyond_case_mix": (-0.05, 0.05),
}
"""Between which values two groups count as alike; ours, none is a law."""

BEYOND = MARGINS["auroc_beyond_case_mix"]
"""Between which values what the risks do not foretell of a difference in a share counts as nothing."""

TESTED = tuple(MARGINS)
"""What a group is judged by; what misses patients comes first."""

COMPARED = (*TESTED, "net_benefit")
"""What is printed of a group beside the others: a net benefit is, and not judged, for it follows the prevalence."""

MEASURES = (*AT_THRESHOLD, "net_benefit", *MADE_OF.values(), *MADE_OF)
"""What the comparisons rest on."""

AT_MOST = multiplicity.OF_DIFFERENCES
"""The p value by Holm's correction up to which a difference is shown."""

State = Literal["shown", "against", "explained", "better", "open", "not judged"]


@dataclass(frozen=True)
class Look:
    """One comparison of a group with the others: over all sites, or at one."""

    column: str
    label: str
    measure: str
    of_class: str | None
    threshold: float | None
    dataset: str
    here: Estimate
    """What it is made of, in the group."""
    rest: float
    """The same in the others."""
    apart: Estimate

    @property
    def state(self) -> State:
        """Whether the groups are shown to be alike, the group to be worse or better off, or neither.

        Explained is a difference that is there, and that the risks may explain: it is named, and accuses nobody.
        """
        if self.measure not in MARGINS:
            return "not judged"
        low, high = MARGINS[self.measure]
        bounds = [bound for bound in (self.apart.low, self.apart.high) if bound is not None]
        if len(bounds) == 2 and all(low <= bound <= high for bound in bounds):
            return "shown"
        if len(bounds) < 2 or not self.is_sure or low <= self.apart.value <= high:
            return "open"
        if self.is_foretold:
            return "explained"
        return "against" if self.is_worse or self.measure == RATIO else "better"

    @property
    def expected(self) -> tuple[float, float] | None:
        """What the risks foretell of the measure in the group and in the others, where they do."""
        ours, rest = (self.apart.details.get(name) for name in ("expected", "expected_complement"))
        return None if ours is None or rest is None else (ours, rest)

    @property
    def is_foretold(self) -> bool:
        """Whether the risks may explain the difference: no more is shown to be there than they foretell.

        Whose risks are lower is missed more often, be every risk right.
        """
        if self.expected is None:
            return False
        (least, most), (ours, rest) = BEYOND, self.expected
        is_near = least <= self.apart.value - (ours - rest) <= most
        return is_near or (self.apart.details.get("p_beyond_holm") or 0.0) > AT_MOST

    def rests_on(self, sites: int) -> int:
        """How many of the sites that record the group its difference is a mean over."""
        return int(self.apart.details.get("k") or sites)

    @property
    def is_sure(self) -> bool:
        """Whether chance among all looks does not explain the difference, be it large or small."""
        return (self.apart.details.get("p_holm") or 0.0) <= AT_MOST

    @property
    def is_single(self) -> bool:
        """Whether it is of one site, and not over all of them."""
        return self.dataset != POOLED

    @property
    def p_value(self) -> float:
        """By Holm's correction: over all sites of what is looked at there, at one of all looks at all sites."""
        p_value = self.apart.details.get("p_over_sites" if self.is_single else "p_holm")
        return 1.0 if p_value is None else p_value

    @property
    def accuses_alone(self) -> bool:
        """Whether it is against the group at this one site, among all looks at all sites."""
        beyond = self.apart.details.get("p_beyond_over_sites") or 0.0
        return self.is_single and self.state == "against" and max(self.p_value, beyond) <= multiplicity.LEVEL

    @property
    def excludes_none(self) -> bool:
        """Whether the interval by itself leaves out that there is no difference."""
        none = 1.0 if self.measure == RATIO else 0.0
        return bands.is_outside(self.apart.low, self.apart.high, none, none)

    @property
    def is_worse_off(self) -> bool:
        """Whether the group is shown to be worse off by more than the margin, be it explained by the risks or not."""
        return self.state == "against" or (self.state == "explained" and self.is_worse)

    @property
    def errs_more(self) -> bool:
        """Whether the group looks worse off than the others: by O/E, whether its own lies farther from 1."""
        if self.measure != RATIO:
            return self.is_worse
        return self.here.value <= 0 or self.rest <= 0 or abs(math.log(self.here.value)) > abs(math.log(self.rest))

    @property
    def is_doubtful(self) -> bool:
        """Whether the interval leaves out no difference, which chance may explain among all looks."""
        return self.state == "open" and self.excludes_none and not self.is_sure

    @property
    def is_slight(self) -> bool:
        """Whether the group is shown to be worse off, and not by more than the margin."""
        return self.state == "open" and self.is_sure and self.excludes_none and self.is_worse

    @property
    def is_explained(self) -> bool:
        """Whether the group is shown to be worse off, by much or little, and no more so than the risks foretell."""
        return self.is_worse and (self.state == "explained" or (self.is_slight and self.is_foretold))

    @property
    def is_worse(self) -> bool:
        """Whether it is the group that is worse off: more of its events are missed, or it is ranked less well."""
        return self.apart.value > 1 if self.measure == RATIO else self.apart.value < 0

    @property
    def risks_are(self) -> str:
        """Which way the O/E of the group says that its risks are off."""
        return "too low" if self.here.value > 1 else "too high"

    @property
    def subject(self) -> tuple[str, str, str, str | None]:
        """What is compared in which group, wherever that is."""
        return self.column, self.label, self.measure, self.of_class

    @property
    def at(self) -> dict[str, float | str]:
        """The settings of what is compared."""
        of_class: dict[str, float | str] = {} if self.of_class is None else {"class": self.of_class}
        return of_class if self.threshold is None else {**of_class, "threshold": self.threshold}

    @property
    def is_named(self) -> bool:
        """Whether of two groups this one is named: the one that is worse off, or whose O/E is farther off."""
        if self.measure != RATIO:
            return self.is_worse
        here, rest = (abs(math.log(value)) if value > 0 else math.inf for value in (self.here.value, self.rest))
        return here > rest or (here == rest and self.is_worse)

    @property
    def distance(self) -> float:
        """How far the group is from the others, in the direction of either."""
        if self.measure != RATIO:
            return abs(self.apart.value)
        return abs(math.log(self.apart.value)) if self.apart.value > 0 else math.inf

    @property
    def fact(self) -> facts.Fact:
        """The direction with both values and the interval; in words a sentence without its full stop."""
        group = facts.Fact("group", label=self.label, column=self.column)
        if self.of_class:
            group = facts.Fact("group_of_class", label=self.label, column=self.column, of_class=self.of_class)
        apart = {"apart": self.apart.value, "low": self.apart.low, "high": self.apart.high}
        numbers = {"value": self.here.value, "others": self.rest, **apart}
        values: dict[str, facts.Value] = {"group": group, **numbers}
        if self.measure == RATIO:
            # Whether the model is wrong by itself, or only beside the others, is what the group's own interval says.
            low, high = self.here.low, self.here.high
            off = (low is not None and low > 1) if self.is_worse else (high is not None and high < 1)
            return facts.Fact(
                "more_events_in_group" if self.is_worse else "fewer_events_in_group", **values, is_relative=not off
            )
        values |= {"is_lower": self.apart.value < 0}
        if self.measure == "auroc_beyond_case_mix":
            return facts.Fact("ranking_in_group", **values)
        ours, rest = self.expected or (None, None)
        values |= {
            "at": self.threshold,
            "is_sensitivity": self.measure == "sensitivity",
            "foretold": ours,
            "beside": rest,
        }
        return facts.Fact("share_in_group", **values)


def looks(
    summaries: Sequence[SubgroupSummary],
    results: Sequence[Result],
    dataset: str = POOLED,
    measures: Sequence[str] = TESTED,
) -> tuple[Look, ...]:
    """Every comparison in these measures over all sites, or at one; of two groups one, named by the worse off.

    What misses patients comes first. Of what is judged only what was tested is a comparison.
    """
    found = {_place(result): result.found for result in results if result.dataset == dataset}
    made = []
    for column, labels in labels_of(summaries).items():
        for place, apart in found.items():
            subset, measure, settings = place
            if isinstance(apart, Absent) or measure not in measures or subset is None or subset.column != column:
                continue
            base, at = MADE_OF.get(measure, measure), dict(settings)
            is_other = "p_holm" not in apart.details if measure in TESTED else "against" not in at
            if is_other or not set(at) <= {"against", "threshold", "class"}:
                continue
            without = frozenset(settings - AGAINST.items())
            here, beside = (found.get((subset, base, each)) for each in (without, settings))
            if isinstance(here, Estimate) and isinstance(beside, Estimate):
                of_class, threshold = at.get("class"), at.get("threshold")
                look = Look(
                    column,
                    subset.level,
                    measure,
                    None if of_class is None else str(of_class),
                    None if threshold is None else float(threshold),
                    dataset,
                    here,
                    here.value - beside.value,
                    apart,
                )
                is_even = apart.value == (1 if measure == RATIO else 0)
                is_first = is_even and look.label == labels[0]
                made += [look] if len(labels) != 2 or look.is_named or is_first else []
    return tuple(sorted(made, key=lambda look: COMPARED.index(look.measure)))


def at_single_sites(summaries: Sequence[SubgroupSummary], results: Sequence[Result]) -> tuple[Look, ...]:
    """The comparisons that are against a group at one site, where that over all sites is not against it.

    Of a group that is worse off at one site and better off at another nothing is left over all of them.
    """
    known = {look.subject for look in looks(summaries, results) if look.state == "against"}
    sure = dict.fromkeys(
        result.dataset
        for result in results
        if isinstance(result.found, Estimate)
        and (p_value := result.found.details.get("p_over_sites")) is not None
        and p_value <= multiplicity.LEVEL
    )
    return tuple(
        look
        for dataset in sure
        for look in looks(summaries, results, dataset)
        if look.accuses_alone and look.subject not in known
    )


def sites_with(summaries: Sequence[SubgroupSummary], column: str) -> frozenset[str]:
    """The datasets whose patients have the column; a size that is withheld is one."""
    return frozenset(
        summary.dataset
        for summary in summaries
        if summary.column == column and (isinstance(summary.size, Withheld) or not isinstance(summary.size, Absent))
    )


Place = tuple[Subset | None, str, frozenset[tuple[str, float | str]]]


def _place(result: Result) -> Place:
    return result.subset, result.measure, frozenset(result.at.items())


def adjusted(
    summaries: Sequence[SubgroupSummary],
    results: Sequence[Result],
    threshold: float | None,
    turning: Collection[str] = (),
) -> tuple[Result, ...]:
    """The results, with Holm's p values and the number of looks beside those that groups are judged by.

    A family is all that is looked at over all sites, or at one: groups times measures, at the first threshold. Two
    groups are one look, for what is said of the one is said of the other. What is against a group at one site alone is
    one of all looks at all sites, but for those whose risks are `turning` over time.
    """
    two = {column: labels for column, labels in labels_of(summaries).items() if len(labels) == 2}
    families: dict[str, dict[object, list[int]]] = {}
    for index, result in enumerate(results):
        if result.subset is not None and _is_judged(result, threshold):
            group = result.subset.column if result.subset.column in two else result.subset
            families.setdefault(result.dataset, {}).setdefault((group, *_place(result)[1:]), []).append(index)
    given = list(results)
    at_sites = [each for name, family in families.items() if name not in {POOLED, *turning} for each in family.values()]
    # Whether the risks explain it is asked of every difference that is there: of one place between the groups of a
    # column, at single sites of all.
    asked = [("over_sites", at_sites, multiplicity.LEVEL)]
    asked += [("holm", [*family.values()], AT_MOST) for family in families.values()]
    for name, looked_at, at_most in asked:
        firsts = [results[each[0]] for each in looked_at]
        p_values, beyond = multiplicity.holm([_p_value(first) for first in firsts]), dict[int, float]()
        columns = [first.subset.column if first.subset and name == "holm" else "" for first in firsts]
        for column in dict.fromkeys(columns):
            there = [at for at, p in enumerate(p_values) if p <= at_most and columns[at] == column]
            unexplained = multiplicity.holm([_p_value(firsts[at], "p_beyond") for at in there])
            beyond |= dict(zip(there, unexplained, strict=True))
        looks = "looks" if name == "holm" else f"looks_{name}"
        for at, (each, p_value) in enumerate(zip(looked_at, p_values, strict=True)):
            details = {f"p_{name}": p_value, f"p_beyond_{name}": beyond.get(at), looks: float(len(looked_at))}
            for index in each:
                given[index] = given[index].with_details(details)
    return tuple(given)


def _is_judged(result: Result, threshold: float | None) -> bool:
    at = dict(result.at)
    is_asked = result.measure in MADE_OF or (
        result.measure in AT_THRESHOLD and at == {**AGAINST, "threshold": threshold}
    )
    return (
        is_asked
        and at.get("class") != MACRO
        and isinstance(result.found, Estimate)
        and "p_value" in result.found.details
    )


def _p_value(result: Result, name: str = "p_value") -> float:
    return 1.0 if isinstance(result.found, Absent) else result.found.details.get(name) or 0.0
