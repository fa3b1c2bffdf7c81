"""The questions of a committee: are the risks right, everywhere, better than without, and for whom is it uncertain?"""

from __future__ import annotations

from dossier.bands import FEW_FOR_A_BAND as FEW
from dossier.bands import FEW_FOR_POOLING as VERY_FEW
from dossier.bands import FEWEST_POOLED
from dossier.findings import classes, subgroups
from dossier.findings.committee.places import is_here, lacking, local, rarer_outcome, where_it_holds, with_enough
from dossier.findings.committee.plain import LINE, MOST_NAMED, counted_places, few_named, of_hundred
from dossier.findings.committee.thousand import thousand
from dossier.findings.sentence import EVERYONE, better_than_the_model, estimated, named_with_the_rest
from dossier.types import POOLED, Absent, DatasetSummary, Estimate, Evidence, SubgroupSize, externals, find
from dossier.typeset.numbers import per_cent
from dossier.typeset.words import counted, in_words, listing, sentence_case, within_sentence


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
    if found.low is not None and found.low > 1:
        return (f"Too low. {start}",)
    if found.high is not None and found.high < 1:
        return (f"Too high. {start}",)
    return (f"{start} The difference may be chance.",)


def everywhere(evidence: Evidence) -> tuple[str, ...]:
    """Whether the risks came true, place by place, in sentences."""
    sites = estimated(evidence, "oe_ratio")
    most = MOST_NAMED if evidence.local_site is None else 1
    if not sites:
        return ("It could not be checked whether the risks came true.",)
    low = [_came(site, found) for site, found in reversed(sites) if found.low is not None and found.low > 1]
    high = [_came(site, found) for site, found in sites if found.high is not None and found.high < 1]
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
    if not parts:
        parts = ["no group stands out beyond chance"]
    return f"By {columns}: {'; '.join(parts)}."


APART = {
    ("auroc", True): "ranked better",
    ("auroc", False): "ranked worse",
    ("oe_ratio", True): "more came for each 100 expected",
    ("oe_ratio", False): "fewer came for each 100 expected",
}
"""How a group does otherwise than the rest, by the measure and whether its value is higher."""


def groups_apart(evidence: Evidence, most: int) -> str:
    """The groups in which the model does otherwise than for the rest of their place, and how; many are counted."""
    ours = evidence.local_site
    found = [one for one in subgroups.compared(evidence, ours) if one.is_apart]
    told = []
    for (measure, higher), words in APART.items():
        names = [_group(one, ours) for one in found if one.measure == measure and (one.found.value > 0) is higher]
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
    low, high = (
        (None, None)
        if isinstance(found, Absent)
        else (found.details.get("prediction_low"), found.details.get("prediction_high"))
    )
    if isinstance(found, Absent) or low is None or high is None:
        return _nothing_elsewhere(evidence)
    return (
        f"In a new place like these, the expected range of the ranking is {100 * low:.0f} to {100 * high:.0f} of 100."
    )


def _nothing_elsewhere(evidence: Evidence) -> str:
    """Why nothing can be said of a new place."""
    enough = with_enough(estimated(evidence, "auroc"))
    if len(enough) >= FEWEST_POOLED and any(found.value in (0.0, 1.0) for _, found in enough):
        return (
            "Where all patients are ranked right, or all wrong, the places cannot be added up: nothing can be said of "
            "a new one."
        )
    return "Too few places can be added up to say anything of a new one."
