"""The questions of a committee: are the risks right, everywhere, better than without, and for whom is it uncertain?"""

from __future__ import annotations

from dossier import between_groups
from dossier.bands import FEW_FOR_A_BAND as FEW
from dossier.bands import FEW_FOR_POOLING as VERY_FEW
from dossier.findings import classes, subgroups
from dossier.findings.committee.places import is_here, lacking, local, rarer_outcome, where_it_holds
from dossier.findings.committee.plain import LINE, MOST_NAMED, counted_places, few_named, of_hundred
from dossier.findings.committee.thousand import thousand
from dossier.findings.sentence import (
    EVERYONE,
    better_than_the_model,
    direction_of_risks,
    estimated,
    named_with_the_rest,
)
from dossier.types import POOLED, Absent, DatasetSummary, Estimate, Evidence, SubgroupSize, externals, find
from dossier.typeset.numbers import expected_range, number, per_cent
from dossier.typeset.words import counted, how_many, in_words, listing, sentence_case, within_sentence


def risks_are_right(evidence: Evidence) -> tuple[str, ...]:
    """Whether the risks came true: at our site, or place by place."""
    ours = local(evidence)
    if classes.labels(evidence):
        return classes.risks_are_right(evidence)
    if ours is None:
        return everywhere(evidence)
    found = find(evidence, "oe_ratio", ours.name)
    if isinstance(found, Absent):
        return ("It could not be checked here whether the risks came true.",)
    start = f"Where the risks add up to 100 patients with the outcome, there were {100 * found.value:.0f}."
    direction = direction_of_risks(evidence, ours.name, found)
    if direction is None:
        return (f"{start} The difference may be chance.",)
    return (f"{sentence_case(direction)}. {start}",)


def everywhere(evidence: Evidence) -> tuple[str, ...]:
    """Whether the risks came true, place by place, in sentences."""
    sites = estimated(evidence, "oe_ratio")
    most = MOST_NAMED if evidence.local_site is None else 1
    if not sites:
        return ("It could not be checked whether the risks came true.",)
    directions = {site.name: direction_of_risks(evidence, site.name, found) for site, found in sites}
    low = [_came(site, found) for site, found in reversed(sites) if directions[site.name] == "too low"]
    high = [_came(site, found) for site, found in sites if directions[site.name] == "too high"]
    neither = len(sites) - len(low) - len(high)
    texts = []
    if low:
        texts.append(f"Too low in {named_with_the_rest(low, most, LINE)}.")
    if high:
        texts.append(f"Too high in {named_with_the_rest(high, most, LINE)}.")
    if low or high:
        texts.append("In brackets: how many had the outcome for each 100 expected.")
    if neither:
        where = "every place" if neither == len(sites) else f"{in_words(neither)} of {counted_places(len(sites))}"
        texts.append(f"In {where} the difference may be chance.")
    return tuple(texts)


def _came(site: DatasetSummary, found: Estimate) -> str:
    """A place with how many came for 100 expected, and on how few patients that rests where they are few."""
    few = lacking(site, VERY_FEW)
    return f"{site.site} ({of_hundred(found.value)}{f'; {listing(few)}' if few else ''})"


def against_all_and_none(evidence: Evidence) -> str:
    """What would happen to the same 1,000 if all were treated, and if none were."""
    if classes.labels(evidence):
        return classes.all_alike(evidence)
    counts = thousand(evidence)
    if counts is None:
        return ""
    return (
        f"If all were treated: {counts.cases} found, {counts.others} treated in error. If none were: "
        f"{counts.cases} missed."
    )


def better_without(evidence: Evidence) -> str:
    """Where treating all, or no one, would do more good than the model, at every threshold that was declared."""
    every = {at: _net_benefits(evidence, at) for at in evidence.release.thresholds.declared}
    told: dict[str, list[str]] = {}
    for at, found in every.items():
        for whom, where in better_than_the_model(found).items():
            clauses = told.setdefault("all" if whom == EVERYONE else whom, [])
            threshold = per_cent(at) if clauses else f"threshold {per_cent(at)}"
            clauses.append(f"{where_it_holds(evidence, where, len(found))} ({threshold})")
    if not told:
        known = any(every.values())
        return "At no threshold that was set would it do more good to treat all, or no one." if known else ""
    return " ".join(
        f"To treat {whom} would do more good than the model {'; '.join(clauses)}." for whom, clauses in told.items()
    )


def _net_benefits(evidence: Evidence, at: float) -> list[tuple[str, Estimate]]:
    """The net benefit of each place, ours alone where it is named; of several classes each class at each place."""
    if classes.labels(evidence):
        pairs = [(one.site, one.named, one.found) for one in classes.by_class(evidence, "net_benefit", threshold=at)]
    else:
        sites = estimated(evidence, "net_benefit", threshold=at)
        pairs = [(site, site.site, found) for site, found in sites]
    return [(name, found) for site, name, found in pairs if is_here(site.name, evidence)]


def has_rival(evidence: Evidence) -> bool:
    """Whether the release names another model to compare with."""
    return bool(evidence.release.prediction.rival or evidence.release.prediction.rivals)


def against_rival(evidence: Evidence) -> str:
    """Whether the model ranks better, and does more good, than the other model; empty where none is named.

    At our site; else over all places together, or at the only one; else in how many places it does.
    """
    if not has_rival(evidence):
        return ""
    rival, at = evidence.release.prediction.rival_label, evidence.release.thresholds.declared[:1]
    told = [_beside(evidence, rival, "auroc_difference", ("ranks patients better", "ranks them less well"))]
    if at:
        good = _beside(evidence, rival, "net_benefit_difference", ("does more good", "does less good"), threshold=at[0])
        told.append(f"{good} at the threshold of {per_cent(at[0])}" if good else "")
    known = [text for text in told if text]
    return f"Beside {rival}, the model {listing(known)}." if known else f"It could not be compared with {rival}."


def _beside(evidence: Evidence, rival: str, measure: str, words: tuple[str, str], /, **at: float) -> str:
    """How the model does beside the rival, with the interval in people; empty where no place allows it."""
    sites = [(site, found) for site, found in estimated(evidence, measure, against=rival, **at)]
    here = [found for site, found in sites if is_here(site.name, evidence)]
    pooled = find(evidence, measure, POOLED, against=rival, **at)
    found = pooled if local(evidence) is None and isinstance(pooled, Estimate) else here[0] if len(here) == 1 else None
    if found is not None:
        verdict = words[0] if _is_above(found) else words[1] if _is_below(found) else ""
        return f"{verdict or f'neither {words[0]} nor {words[1]} beyond chance'}{_more_or_fewer(found)}"
    if not here:
        return ""
    better, worse = sum(map(_is_above, here)), sum(map(_is_below, here))
    return f"{words[0]} beyond chance in {how_many(better)} and {words[1]} in {how_many(worse)} of {len(here)} places"


def _is_above(found: Estimate) -> bool:
    return found.low is not None and found.low > 0


def _is_below(found: Estimate) -> bool:
    return found.high is not None and found.high < 0


def _more_or_fewer(found: Estimate) -> str:
    """A difference of shares in people of 1,000, with its range."""
    if found.low is None or found.high is None:
        return ""
    value, low, high = (number(1000 * one, 0) for one in (found.value, found.low, found.high))
    return f" ({value} of 1,000, {low} to {high})"


def uncertain(evidence: Evidence) -> tuple[str, ...]:
    """For whom the numbers say little: places, groups, and a new hospital."""
    return tuple(text for text in (_few_patients(evidence), _groups(evidence), _elsewhere(evidence)) if text)


def _few_patients(evidence: Evidence) -> str:
    names = [site.site for site in externals(evidence) if rarer_outcome(site)]
    several = bool(classes.labels(evidence))
    if not names:
        return (
            f"Every place had at least {FEW} patients {'of each class' if several else 'with and without the outcome'}."
        )
    what = "of a class" if several else "with, or without, the outcome"
    who = "Every place" if len(names) == len(externals(evidence)) > 1 else sentence_case(few_named(names))
    return f"{who} had fewer than {FEW} patients {what}: little can be said there."


def _groups(evidence: Evidence) -> str:
    """How many groups of patients are too few, and in how many the model does differently."""
    if not subgroups.is_declared(evidence):
        return "Groups, such as women and men, were not looked at one by one."
    sized = [one for one in evidence.subgroups.summaries if is_here(one.dataset, evidence)]
    known = [one for one in sized if isinstance(one.size, SubgroupSize)]
    columns = listing([within_sentence(name) for name in dict.fromkeys(one.column for one in sized)])
    if not known:
        return f"By {columns}: not known, the data of this place do not tell."
    few = [one for one in known if isinstance(one.size, SubgroupSize) and subgroups.is_few(one.size)]
    each = "" if evidence.local_site or len(externals(evidence)) == 1 else " by place"
    of_all = " of every class" if classes.labels(evidence) else ""
    parts = []
    if few:
        parts.append(f"too few patients to tell{of_all} in {subgroups.part_of(len(few), len(known))} groups{each}")
    apart = groups_apart(evidence, MOST_NAMED)
    if apart:
        parts.append(f"beside the rest, {apart}; {by_chance(evidence)}")
    if not parts and subgroups.compared(evidence, evidence.local_site):
        parts = ["where groups could be compared, none stands out beyond chance"]
    if not parts:
        parts = ["no group could be compared with the rest"]
    return f"By {columns}: {'; '.join(parts)}."


def over_all_places(evidence: Evidence) -> str:
    """The groups that differ from the others over all places together, with the direction; of two the first."""
    found = between_groups.over_all_sites(evidence.subgroups.summaries, evidence.subgroups.results)
    told = [f"{_in_people(one)}: {within_sentence(one.column)} {one.label}{_class_of(one)}" for one in found]
    return f"Over all places together, {'; '.join(told)}." if told else ""


def _class_of(one: between_groups.GroupDifference) -> str:
    return f" (for {one.of_class})" if one.of_class else ""


def _in_people(one: between_groups.GroupDifference) -> str:
    """How a group does otherwise, with how many of hundred there and in the others."""
    values = f"{of_hundred(one.here.value)} against {of_hundred(one.here.value - one.difference)}"
    if one.measure == "oe_ratio":
        return f"{APART[3] if one.difference > 0 else APART[4]}, {values}"
    return f"{APART[0] if one.difference > 0 else APART[2] if one.is_case_mix else APART[1]}, {values}"


APART = (
    "ranked better",
    "ranked worse",
    "ranked less well only because their risks lie closer together",
    "more came for each 100 expected",
    "fewer came for each 100 expected",
)
"""How a group does otherwise than the rest, in the order in which it is told."""


def _otherwise(evidence: Evidence, one: subgroups.Difference) -> str:
    """How a group does otherwise, in the words for it."""
    higher = one.found.value > 0
    if one.measure == "oe_ratio":
        return APART[3] if higher else APART[4]
    if higher:
        return APART[0]
    return APART[2] if subgroups.is_case_mix(evidence, one) else APART[1]


def groups_apart(evidence: Evidence, most: int) -> str:
    """The groups in which the model does otherwise than for the rest of their place, and how; many are counted."""
    ours = evidence.local_site
    found = [(_otherwise(evidence, one), one) for one in subgroups.compared(evidence, ours) if one.is_apart]
    told = []
    for words in APART:
        names = [_group(one, ours) for how, one in found if how == words]
        if names:
            which = listing(names) if len(found) <= most else counted(len(names), "group")
            told.append(f"{words}: {which}")
    return "; ".join(told)


def _group(one: subgroups.Difference, ours: str | None) -> str:
    """A group after its column, as a range alone reads as a result; its place where none is ours, and its class."""
    place = [one.dataset.site] if ours is None else []
    where = ", ".join([*place, *([f"for {one.of_class}"] if one.of_class else [])])
    named = f"{within_sentence(one.column)} {one.label}"
    return f"{named} ({where})" if where else named


def by_chance(evidence: Evidence) -> str:
    """How many of the comparisons would stand out with no true difference."""
    made = len(subgroups.compared(evidence, evidence.local_site))
    expected = subgroups.by_chance(evidence, made)
    count = "fewer than 1" if expected < 0.95 else f"about {expected:.0f}"
    return f"chance alone would make {count} of {made:,} stand out"


def _elsewhere(evidence: Evidence) -> str:
    found = find(evidence, "auroc", POOLED)
    new = None if isinstance(found, Absent) else expected_range(found)
    if new is None:
        return "Too few places can be added up to say anything of a new one."
    low, high = (f"{100 * end:.0f}" for end in new)
    return f"In a new place like these, the expected range of the ranking is {low} to {high} of 100."
