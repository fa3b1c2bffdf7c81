"""What a hospital's committee needs to hear, in words that ask for no statistics; our own site first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dossier.bands import FEW_FOR_A_BAND as FEW
from dossier.bands import FEW_FOR_POOLING as VERY_FEW
from dossier.findings import acceptance, classes, subgroups
from dossier.findings import changes as changes_since
from dossier.findings.sentence import (
    EVERYONE,
    Sentence,
    better_than_the_model,
    estimated,
    named_with_the_rest,
    primary_threshold,
    scarce,
)
from dossier.types import (
    POOLED,
    Absent,
    Criterion,
    DatasetSummary,
    Estimate,
    Evidence,
    Flag,
    SubgroupSize,
    externals,
    find,
    find_curve,
    find_in_subgroup,
    subgroup_sizes,
    summary_of,
)
from dossier.typeset.names import events_of, lost_rows
from dossier.typeset.numbers import level_of, per_cent, short, showing_the_side
from dossier.typeset.tables import Cell, Column, Row, Table
from dossier.typeset.words import counted, date, dates, in_words, listing, sentence_case, within_sentence

MOST_CLASSES = 4
"""Classes of which a table of the committee holds the intervals too."""
MOST_NAMED = 3
"""Places that a sentence names; of more it gives the count."""
MOST_PLACES = 10
"""Places that the table and the picture of the committee hold; of more those that are named and those at both ends."""
MOST_FLAGS = 3
"""Limitations on the first page."""
MOST_DANGERS = 4
"""Limitations on the third page; the dossier holds them all."""
MOST_GROUPS = 8
"""Groups of patients in the table."""
LINE = 100
"""Characters of a declared text that the first page has room for beside others; the rest stands on the third."""
TWO_LINES = 170
"""Characters of the purpose that the first page has room for."""
HALF = 120
"""Characters of a column of the first page."""
LONGEST_LABEL = 32
"""Characters of a place in the table; of a longer name both ends are kept."""
LONGEST_NAME = 45
"""Characters of a model's or outcome's name that a sentence of the first page has room for."""
OPEN = "The release does not say."
GAIN = "gain"


@dataclass(frozen=True)
class Thousand:
    """What happens to 1,000 patients at the primary threshold."""

    found: int
    missed: int
    false_alarms: int
    left_alone: int

    @property
    def cases(self) -> int:
        """How many of the 1,000 have the outcome."""
        return self.found + self.missed

    @property
    def others(self) -> int:
        """How many do not."""
        return self.false_alarms + self.left_alone


@dataclass(frozen=True)
class Number:
    """A number in large type, with what it means beneath."""

    value: str
    meaning: str


@dataclass(frozen=True)
class Danger:
    """A limitation in plain words, and what the owner answers."""

    text: str
    reply: str
    open: str
    """What is not answered, or nothing."""
    elsewhere: str = ""
    """Where an answer stands that is too long for this page."""


# ---- whose hospital -------------------------------------------------------------------------------------------------


def local(evidence: Evidence) -> DatasetSummary | None:
    """Our own site, when it is named."""
    return None if evidence.local_site is None else summary_of(evidence, evidence.local_site)


def places(evidence: Evidence) -> tuple[DatasetSummary, ...]:
    """The places that were tested, ours first."""
    ours = local(evidence)
    every = externals(evidence)
    return every if ours is None else (ours, *(site for site in every if site.name != ours.name))


def band(evidence: Evidence) -> tuple[str, str] | None:
    """What has to be read before all else: that our hospital was not tested, or hardly."""
    ours = local(evidence)
    if ours is None:
        return (
            "NOT TESTED HERE.",
            "No place below is named as yours. The model may do better or worse with your patients.",
        )
    few = _rare(ours)
    return ("FEW PATIENTS HERE.", f"{few}: little can be said of your own site.") if few else None


def _rare(site: DatasetSummary) -> str:
    """What a site had fewer than 100 of, or nothing."""
    if site.outcome_withheld is not None:
        return f"Fewer than {site.outcome_withheld.below} patients with or without the outcome"
    rare = _scarce(site, FEW)
    return f"Only {listing(rare)}" if rare else ""


def _scarce(site: DatasetSummary, below: int) -> list[str]:
    """What a site has fewer than so many of, each with its count."""
    if site.class_counts:
        return [f"{count:,} of class {label}" for label, count in scarce(site, below).items()]
    words = {"event": "with", "non-event": "without"}
    return [f"{count:,} {words[of]} the outcome" for of, count in scarce(site, below).items()]


def _few(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Places by name while they are few and their names short, else their number."""
    told = listing(names)
    return told if len(names) <= most and len(told) <= LINE else counted_places(len(names))


def counted_places(count: int) -> str:
    """So many places, in words up to ten."""
    return f"{in_words(count)} {'place' if count == 1 else 'places'}"


def abridged(text: str, most: int) -> str:
    """The first sentences of a text, as many as there is room for; a first one that is too long ends in dots."""
    plain = " ".join(text.split())
    if len(plain) <= most:
        return plain
    kept = ""
    for sentence in re.split(r"(?<=[.!?]) ", plain):
        if len(kept) + len(sentence) > most:
            break
        kept = f"{kept} {sentence}".strip()
    return kept or f"{plain[: most - 1].rsplit(' ', 1)[0].rstrip(',;:')} …"


# ---- the first page -------------------------------------------------------------------------------------------------


def thousand(evidence: Evidence) -> Thousand | None:
    """The counts at the primary threshold, at our site or over all; None when no threshold is declared."""
    ours = local(evidence)
    curve = (
        find_curve(evidence, "per_thousand", POOLED)
        if ours is None
        else find_curve(evidence, "per_thousand_of_site", ours.name)
    )
    at = primary_threshold(evidence)
    if at is None or isinstance(curve, Absent) or "threshold" not in curve.columns:
        return None
    row = curve.columns["threshold"].index(at)
    cell = {name: int(column[row] or 0) for name, column in curve.columns.items() if name != "threshold"}
    return Thousand(cell["true_positive"], cell["false_negative"], cell["false_positive"], cell["true_negative"])


def finding(evidence: Evidence) -> Sentence:
    """What the model does to 1,000 patients like those who were tested."""
    ours = local(evidence)
    start = "In" if ours is None else f"In {abridged(ours.site, LONGEST_NAME)}, in"
    if classes.labels(evidence):
        return classes.committee(evidence, start)
    counts = thousand(evidence)
    if counts is None and primary_threshold(evidence) is None:
        return Sentence("No threshold is set: what the model does to patients is not shown.")
    whose = classes.counted_patients(evidence, "classification")
    if counts is None:
        return Sentence("What the model does to patients could not be counted.", whose)
    return Sentence(
        f"{start} every 1,000 patients it finds {counts.found} of {counts.cases} with the outcome and misses "
        f"{counts.missed}.",
        whose,
    )


def what_it_is(evidence: Evidence) -> str:
    """The model in one or two sentences."""
    release = evidence.release
    horizon = f" {release.outcome.horizon}" if release.outcome.horizon else ""
    outcome = abridged(f"{release.outcome.name}{horizon}", TWO_LINES)
    known = classes.labels(evidence)
    if known:
        return (
            f"A model that gives each patient a risk, from 0 to 100%, of each class of this outcome: {outcome}. "
            f"The classes are {listing(known)}. The model names the one with the largest risk."
        )
    text = f"A model that gives each patient a risk, from 0 to 100%, of this outcome: {outcome}."
    at = primary_threshold(evidence)
    return text if at is None else f"{text} A patient with a risk of {per_cent(at)} or more is flagged."


def not_for(evidence: Evidence) -> str:
    """What the owner says it is not for, in one sentence; empty where nothing is said."""
    said = [text.strip().rstrip(".") for text in evidence.release.intended_use.not_for]
    return f"{'; '.join(said)}." if said else ""


def purpose(evidence: Evidence) -> tuple[str, str, bool]:
    """For whom it is, what it is not for, and whether the first page had room for all of it."""
    use = evidence.release.intended_use
    whole = use.for_ or evidence.statements.get("3b") or f"{OPEN} Ask the owner before you decide."
    told = abridged(whole, HALF if use.not_for else 2 * TWO_LINES)
    without = abridged(not_for(evidence), HALF)
    return told, without, told == " ".join(whole.split()) and without == " ".join(not_for(evidence).split())


def tested(evidence: Evidence) -> str:
    """Where and on how many it was tested; our own site first."""
    ours = local(evidence)
    sites = externals(evidence)
    patients = sum(site.n for site in sites)
    if ours is None:
        return f"Tested on {counted(patients, 'patient')} of {_few([site.site for site in sites], 4)}."
    sick = "" if ours.events is None else f", {ours.events:,} with the outcome"
    text = f"Our place: {counted(ours.n, 'patient')}{sick}."
    return f"{text} Elsewhere: {patients - ours.n:,}." if len(sites) > 1 else text


def numbers(evidence: Evidence) -> tuple[Number, ...]:
    """Ranking, the risks against what happened, and the goals."""
    asked = [_ranking(evidence), None if classes.labels(evidence) else _risks(evidence), _goals(evidence)]
    return tuple(one for one in asked if one is not None)


def _overall(evidence: Evidence, measure: str) -> Estimate | None:
    """The value at our site; without one the pooled value, or that of the only site, or the only one with enough."""
    ours = local(evidence)
    found = find(evidence, measure, POOLED if ours is None else ours.name)
    if isinstance(found, Estimate) or ours is not None:
        return found if isinstance(found, Estimate) else None
    sites = estimated(evidence, measure)
    alone = sites if len(sites) == 1 else _with_enough(sites)
    return alone[0][1] if len(alone) == 1 else None


def _bounds(found: Estimate) -> str:
    """The interval of a share or ratio, as people of a hundred."""
    return "" if found.low is None or found.high is None else f"{100 * found.low:.0f} to {100 * found.high:.0f}"


def _ranking(evidence: Evidence) -> Number | None:
    found = _overall(evidence, "auroc")
    if found is None:
        return _place_by_place(evidence, "auroc", "of 100", "times ranked right (by chance 50)")
    bounds, where = _bounds(found), _in_places(evidence, found)
    range_of_it = f"{bounds}; by chance 50" if bounds else "by chance 50"
    if classes.labels(evidence):
        return Number(
            f"{100 * found.value:.0f} of 100",
            f"times a patient of a class has a higher risk of it than one of another class ({range_of_it}){where}",
        )
    return Number(
        f"{100 * found.value:.0f} of 100",
        f"times a patient with the outcome has a higher risk than one without ({range_of_it}){where}",
    )


def _risks(evidence: Evidence) -> Number | None:
    found = _overall(evidence, "oe_ratio")
    if found is None:
        return _place_by_place(evidence, "oe_ratio", "for 100", "had the outcome where the risks add up to 100")
    bounds = f" ({_bounds(found)})" if _bounds(found) else ""
    where = _in_places(evidence, found)
    return Number(f"{100 * found.value:.0f} for 100", f"had the outcome where the risks add up to 100{bounds}{where}")


def _in_places(evidence: Evidence, found: Estimate) -> str:
    """In how many places a number for all together was found, where these are not all that were tested."""
    count, every = int(found.details.get("k") or 1), len(externals(evidence))
    if local(evidence) is not None or count == every:
        return ""
    return f", in {in_words(count)} of {counted_places(every)}"


Found = list[tuple[DatasetSummary, Estimate]]


def _with_enough(found: Found) -> Found:
    """The places that have enough patients with and without the outcome, or of each class."""
    return [(site, one) for site, one in found if not _scarce(site, VERY_FEW)]


def _place_by_place(evidence: Evidence, measure: str, of: str, meaning: str) -> Number | None:
    """The lowest and the highest value of the places that have enough patients, where none is for all together."""
    found = [] if local(evidence) else _with_enough(estimated(evidence, measure))
    if not found:
        return None
    low, high = (f"{100 * one.value:.0f}" for _, one in (found[0], found[-1]))
    where = f"{in_words(len(found))} of {counted_places(len(externals(evidence)))}"
    where = "every place" if len(found) == len(externals(evidence)) else where
    return Number(f"{low if low == high else f'{low} to {high}'} {of}", f"{meaning}, in {where}")


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
    few = _scarce(site, VERY_FEW)
    return f"{site.site} ({_of_hundred(found.value)}{f'; {listing(few)}' if few else ''})"


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
            clauses.append(f"{_where(evidence, where, len(found))} ({threshold})")
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
    return [(name, found) for site, name, found in pairs if _is_here(site.name, evidence)]


def _where(evidence: Evidence, which: Sequence[str], among: int) -> str:
    """Places by name while they are few, else how many of all; nothing where there is only ours."""
    if classes.labels(evidence):
        pairs = f"{in_words(len(which))} of {in_words(among)} pairs of class and place"
        return f"for {listing(which) if len(which) <= classes.MOST_FOR_THE_COMMITTEE else pairs}"
    if evidence.local_site is not None:
        return "here"
    return "in every place" if len(which) == among > 1 else f"in {_few(which)}"


def uncertain(evidence: Evidence) -> tuple[str, ...]:
    """For whom the numbers say little: places, groups, and a new hospital."""
    return tuple(text for text in (_few_patients(evidence), _groups(evidence), _elsewhere(evidence)) if text)


def _few_patients(evidence: Evidence) -> str:
    names = [site.site for site in externals(evidence) if _rare(site)]
    several = bool(classes.labels(evidence))
    if not names:
        return (
            f"Every place had at least {FEW} patients {'of each class' if several else 'with and without the outcome'}."
        )
    what = "of a class" if several else "with, or without, the outcome"
    who = "Every place" if len(names) == len(externals(evidence)) > 1 else sentence_case(_few(names))
    return f"{who} had fewer than {FEW} patients {what}: little can be said there."


def _groups(evidence: Evidence) -> str:
    """How many groups of patients are too few, and in how many the model does differently."""
    if not subgroups.is_declared(evidence):
        return "Groups, such as women and men, were not looked at one by one."
    sized = [one for one in evidence.subgroups.summaries if _is_here(one.dataset, evidence)]
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
    apart = _apart(evidence, MOST_NAMED)
    if apart:
        parts.append(f"beside the rest, {apart}; {_by_chance(evidence)}")
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


def _apart(evidence: Evidence, most: int) -> str:
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


def _by_chance(evidence: Evidence) -> str:
    """How many of the comparisons would stand out with no true difference."""
    made = len(subgroups.compared(evidence, evidence.local_site))
    expected = subgroups.by_chance(evidence, made)
    count = "fewer than 1" if expected < 0.95 else f"about {expected:.0f}"
    return f"chance alone would make {count} of {made:,} differ"


def _is_here(dataset: str, evidence: Evidence) -> bool:
    """Whether a dataset is ours; without a site of our own, whether it is external."""
    if evidence.local_site is not None:
        return dataset == evidence.local_site
    return any(site.name == dataset for site in externals(evidence))


def _elsewhere(evidence: Evidence) -> str:
    found = find(evidence, "auroc", POOLED)
    low, high = (
        (None, None)
        if isinstance(found, Absent)
        else (found.details.get("prediction_low"), found.details.get("prediction_high"))
    )
    if isinstance(found, Absent) or low is None or high is None:
        return _nothing_elsewhere(evidence)
    return f"In a new place like these, the ranking may be anything from {100 * low:.0f} to {100 * high:.0f} of 100."


def _nothing_elsewhere(evidence: Evidence) -> str:
    """Why nothing can be said of a new place."""
    enough = _with_enough(estimated(evidence, "auroc"))
    if len(enough) >= subgroups.FEWEST_POOLED and any(found.value in (0.0, 1.0) for _, found in enough):
        return (
            "Where all patients are ranked right, or all wrong, the places cannot be added up: nothing can be said of "
            "a new one."
        )
    return "Too few places can be added up to say anything of a new one."


# ---- what could go wrong --------------------------------------------------------------------------------------------

PLAIN = {
    "wrong_order": "the ranking is the wrong way: those with the outcome have risks below those without it.",
    "never_wrong": "the model is never wrong. That is too good to be true: it may have known the outcome.",
    "risks_off": "the risks are off, see page 2.",
    "shared_rows": "some patients had been used to make the model: the test is too kind.",
    "same_table": "the same patients were counted as two places.",
    "version_differs": "what was tested is not this very version.",
    "model_differs": "the formula of the model gives other risks than those that were tested.",
    "other_units": "something that the model asks for is measured in another way.",
    "other_categories": "some of the facts about the patients are written in other words.",
    "code_for_missing": "some facts that were not known may have been counted as known.",
    "missing_predictor": "something about the patients was never recorded, or is called something else.",
    "one_class": "all patients had the outcome, or none had.",
    "constant_risk": "all patients got the same risk.",
    "slope_off": "high and low risks lie too far apart for some classes, too close for others.",
    "prevalence_shift": "the outcome is more, or less, common than where it was made.",
    "case_mix_shift": "the patients differ from those it was made with.",
    "rows_excluded": "some patients could not be counted.",
    "missing_values": "some facts that the model asks for are often not known.",
    "imputed": "facts that were not known were filled in by a computer.",
    "constant_predictor": "something that the model asks for is the same for all patients.",
    "few_events": "too few patients to say much.",
    "few_in_subgroup": "too few patients of one group to say much of them.",
    "precision_missed": "fewer patients than it takes to be sure of the numbers.",
    "heterogeneity": "the places differ by more than chance.",
    "wide_prediction_interval": "what a new place may expect is hard to say.",
    "dataset_withheld": "one place had too few patients to show.",
    "few_sites": "so few places were tested that nothing can be said of a new one.",
    "duplicate_rows": "some patients may have been counted twice.",
    "heaped_risks": "many patients got the very same risk.",
    "ties_for_largest": "for some patients two classes had the same risk.",
    "class_missing": "one of the classes had no patients.",
    "empty_subgroup": "one of the groups had no patients.",
    "in_no_subgroup": "some patients belong to none of the groups.",
    "sampled": "so many patients were counted that some facts were read of a part of them.",
    "rival_incomplete": "the other model gave no risk for some patients.",
    "no_threshold": "no threshold is set.",
    "threshold_without_reason": "nobody says why the threshold is what it is.",
    "dates_missing": "when the patients came is not said.",
    "criterion_not_dated": "when a goal was set is not said.",
    "answer_without_flag": "an answer was given to a doubt that was not raised.",
}
"""What a limitation means, for who knows no statistics; the most telling come first."""
SLOPES = {
    (True, False): "high risks are too high, low ones too low.",
    (False, True): "high risks are too low, low ones too high.",
}
"""The same of slopes, by whether one is below 1 and one above it: of several classes both may be."""


def could_go_wrong(evidence: Evidence, most: int = MOST_FLAGS) -> tuple[Danger, ...]:
    """The limitations that the run found, each kind once with its places and the answer; those of our site first."""
    return tuple(
        _danger(evidence, kind, LINE // 2 if most == MOST_FLAGS else 2 * LINE) for kind in _kinds(evidence)[:most]
    )


def further_dangers(evidence: Evidence) -> str:
    """How many kinds of limitations stand in the dossier alone."""
    every = {flag.flag for flag in evidence.flags}
    more = len(every) - min(len(_kinds(evidence)), MOST_DANGERS)
    return f"{sentence_case(in_words(more))} more in the dossier." if more > 0 else ""


def _kinds(evidence: Evidence) -> list[str]:
    """What was found, the most telling first; what concerns our site before the rest."""
    telling = _of_the_model(evidence)
    kinds = [kind for kind in PLAIN if any(flag.flag == kind for flag in telling)]
    ours = evidence.local_site
    here = [kind for kind in kinds if any((flag.flag, flag.dataset) == (kind, ours) for flag in telling)]
    return [*here, *(kind for kind in kinds if kind not in here)]


def _of_the_model(evidence: Evidence) -> list[Flag]:
    """The limitations without those of columns that the declared formula does not use: nobody is asked for them."""
    formula = evidence.release.model
    used = set() if formula is None else {term.predictor for term in formula.term}
    return [flag for flag in evidence.flags if not used or not flag.columns or used & set(flag.columns)]


def _danger(evidence: Evidence, kind: str, room: int) -> Danger:
    flags = [flag for flag in _of_the_model(evidence) if flag.flag == kind]
    known = {site.name: site.site for site in places(evidence)}
    told_at: dict[str, list[str]] = {}
    for name, site in known.items():
        if any(flag.dataset == name for flag in flags):
            told_at.setdefault(_plain(evidence, kind, name), []).append(site)
    text = " ".join(_at(where, plain, len(known)) for plain, where in (told_at or {PLAIN[kind]: []}).items())
    replies = list(dict.fromkeys(flag.reply for flag in flags if flag.reply is not None))
    missing = sum(flag.reply is None for flag in flags)
    if not replies:
        return Danger(text, "", "Not answered.")
    left = f"Not answered for {counted_places(missing)}." if missing else ""
    told = " ".join(replies)
    if len(text) + len(told) > room and room < LINE:
        return Danger(text, "", left, "See page 3.")
    return Danger(text, f"Owner: {abridged(told, room)}", left)


def _at(where: Sequence[str], plain: str, among: int) -> str:
    """A limitation with the places that have it."""
    at = f"{_few(where)}: " if where and len(where) < among else "Every place: " if len(where) > 1 else ""
    return sentence_case(f"{at}{plain}")


def _plain(evidence: Evidence, kind: str, place: str) -> str:
    """What a limitation of a place means, with its direction where it has one there."""
    if kind == "slope_off":
        asked: list[dict[str, str]] = [{"class": label} for label in classes.labels(evidence)] or [{}]
        found = [find(evidence, "calibration_slope", place, **at) for at in asked]
        slopes = [one for one in found if isinstance(one, Estimate)]
        below = any(one.high is not None and one.high < 1 for one in slopes)
        above = any(one.low is not None and one.low > 1 for one in slopes)
        return SLOPES.get((below, above), PLAIN[kind])
    if kind == "prevalence_shift":
        origin = next((one for one in evidence.datasets if one.role == "development" and one.events), None)
        site = summary_of(evidence, place)
        if origin is not None and origin.events and site.events:
            more = site.events / site.n > origin.events / origin.n
            return f"the outcome is {'more' if more else 'less'} common than where it was made."
    return PLAIN[kind]


def who_tested(evidence: Evidence) -> str:
    """Who ran the test, and how they stand to the owner."""
    about = evidence.release.release
    tester = abridged(about.tester, LINE) if about.tester else "not stated"
    return f"{sentence_case(tester).rstrip('.')}."


# ---- goals ----------------------------------------------------------------------------------------------------------

GOALS = {
    "auroc": "Ranked right, of 100",
    "oe_ratio": "Came, for 100 expected",
    "net_benefit": f"{sentence_case(GAIN)}, per 1,000",
    "sensitivity": "Found, of 100",
    "specificity": "Left alone, of 100",
}
"""What a measure of a goal is called here; any other keeps its label, and is explained on the last page."""
GOAL_WORDS = {
    "auroc": "ranking",
    "oe_ratio": "risks",
    "net_benefit": GAIN,
    "sensitivity": "found",
    "specificity": "left alone",
}
PEOPLE = {"auroc": 100, "oe_ratio": 100, "net_benefit": 1000, "sensitivity": 100, "specificity": 100}


def _goals(evidence: Evidence) -> Number | None:
    """How many goals are met, and which are not."""
    score = acceptance.score(evidence)
    if score is None:
        return Number("No goals", "are set, so none can be met or missed")
    every = acceptance.declared(evidence)
    standing = ((acceptance.NOT_MET, "not met"), (acceptance.NOT_ESTIMABLE, "not known"))
    parts = [
        f"{words}: {_goals_named([one for one in every if acceptance.verdict(one) == verdict])}"
        for verdict, words in standing
        if any(acceptance.verdict(one) == verdict for one in every)
    ]
    if not parts:
        return Number(score[0], "of the goals")
    return Number(score[0], f"of the goals; {'; '.join(parts)} (page 3)")


def _goals_named(goals: Sequence[tuple[Criterion, ...]]) -> str:
    """Goals in a word each while they are few and have one, else their number."""
    names = list(dict.fromkeys(GOAL_WORDS.get(one[0].measure, "") for one in goals))
    return listing(names) if all(names) and len(names) <= MOST_NAMED else f"{in_words(len(goals))} of them"


def goal(evidence: Evidence, one: Criterion) -> str:
    """What a goal is about, in plain words."""
    label = GOALS.get(one.measure, evidence.terms[one.measure].label)
    return f"{label}, {one.subset}" if one.subset else label


def _asked(evidence: Evidence, one: Criterion) -> str:
    """What a goal asks, in people."""
    ends = [
        f"{word} {_people(evidence, one.measure, bound)}"
        for word, bound in (("at least", one.at_least), ("at most", one.at_most))
        if bound is not None
    ]
    where = {"low": ", at the low end of the range", "high": ", at the high end of the range", "value": ""}
    return f"{' and '.join(ends)}{where[one.bound]}"


def _people(evidence: Evidence, measure: str, value: float) -> str:
    return f"{PEOPLE[measure] * value:.0f}" if measure in PEOPLE else short(evidence, measure, value)


def goals(evidence: Evidence) -> Table | None:
    """Every goal, and where it is met."""
    every = acceptance.declared(evidence)
    if not every:
        return None
    rows = []
    for one in every:
        first = one[0]
        dataset = evidence.release.acceptance[first.number - 1].dataset
        where = (
            "each place"
            if dataset == "each external"
            else "all together"
            if dataset == POOLED
            else _site(evidence, dataset)
        )
        rows.append(
            Row(
                goal(evidence, first),
                (
                    Cell(f"{_asked(evidence, first)}; {where}", kind="word"),
                    _standing(evidence, one),
                ),
            )
        )
    return Table(
        name="table-goals",
        title="Goals.",
        note=acceptance.when(evidence, "set"),
        head="Goal",
        columns=(Column("Asked", words=True), Column("How it stands", words=True)),
        rows=tuple(rows),
    )


def _site(evidence: Evidence, dataset: str) -> str:
    return next((one.site for one in evidence.datasets if one.name == dataset), dataset)


def _standing(evidence: Evidence, one: tuple[Criterion, ...]) -> Cell:
    said = acceptance.verdict(one)
    ours = next((each for each in one if each.dataset == evidence.local_site), None)
    here = "" if ours is None else f"; here {'met' if ours.met else 'not met' if ours.met is False else 'not known'}"
    text = "not known" if said == acceptance.NOT_ESTIMABLE else said
    if len(one) > 1 and said != acceptance.MET:
        wanted = False if said == acceptance.NOT_MET else None
        failing = [_site(evidence, each.dataset) for each in one if each.met is wanted]
        text = f"{text} in {_few(failing)}"
    return Cell(sentence_case(f"{text}{here}"), kind="word" if said == acceptance.MET else "alert")


# ---- the second page: place by place --------------------------------------------------------------------------------


def listed_places(evidence: Evidence) -> tuple[tuple[DatasetSummary, ...], int]:
    """The places that a table has room for, ours first, and how many it leaves out.

    Of many, it holds ours, those that the first page names, and those at both ends of the ranking.
    """
    every = places(evidence)
    if len(every) <= MOST_PLACES:
        return every, 0
    first_page = _told_of_places(evidence)
    named = [
        site
        for site in every
        if site.name == evidence.local_site or re.search(rf"{re.escape(site.site)}(?!\w)", first_page)
    ]
    ranked = [site for site, _ in estimated(evidence, "auroc")]
    ranked += [site for site in every if site not in ranked]
    from_both_ends = [one for pair in zip(reversed(ranked), ranked, strict=True) for one in pair]
    wanted = dict.fromkeys(site.name for site in (*named, *from_both_ends))
    kept = set(list(wanted)[: max(MOST_PLACES - 1, len(named))])
    return tuple(site for site in every if site.name in kept), len(every) - len(kept)


def _told_of_places(evidence: Evidence) -> str:
    """What the first page says of single places."""
    dangers = (one.text for one in could_go_wrong(evidence))
    return " ".join(
        (tested(evidence), *risks_are_right(evidence), better_without(evidence), *uncertain(evidence), *dangers)
    )


def by_site(evidence: Evidence) -> Table:
    """Each place with its patients, and the model's work there in whole people; ours first."""
    shown, left_out = listed_places(evidence)
    ranked = {site.name: found.value for site, found in estimated(evidence, "auroc")}
    # In the order of the picture above it: the best ranking first, after our own site.
    shown = tuple(sorted(shown, key=lambda site: (site.name != evidence.local_site, -ranked.get(site.name, 0.0))))
    known = classes.labels(evidence)
    narrow = len(known) > MOST_CLASSES
    note = "" if narrow else f"After each number: the range that holds the true one, {level_of(evidence)} of the time."
    rest = f" {left_out:,} places are left out; the dossier has them." if left_out else ""
    at = primary_threshold(evidence)
    heads = [Column("Patients")]
    if known:
        heads += [Column(label, intervals=not narrow) for label in known]
    else:
        heads += [Column("With the outcome"), Column("Ranked right, of 100", intervals=True)]
        heads.append(Column("Came, for 100 expected", intervals=True))
        heads += [Column("Found, of 100", intervals=True)] if at is not None else []
    return Table(
        name="table-by-site",
        title="Ranked right, of 100, place by place." if known else "Place by place.",
        note=f"{note}{rest}".strip(),
        head="Place",
        columns=tuple(heads),
        rows=tuple(Row(_label(evidence, site), _cells(evidence, site, at)) for site in shown),
    )


def _label(evidence: Evidence, site: DatasetSummary) -> str:
    """A place as a row names it: both ends of a long name, where that tells it from the others."""
    short_names = [_ends(one.site) for one in externals(evidence)]
    own = _ends(site.site)
    return own if short_names.count(own) == 1 else site.site


def _ends(name: str) -> str:
    cut = 2 * LONGEST_LABEL // 3
    return name if len(name) <= LONGEST_LABEL else f"{name[:cut].rstrip()} … {name[cut + 4 - LONGEST_LABEL :].lstrip()}"


def _cells(evidence: Evidence, site: DatasetSummary, at: float | None) -> tuple[Cell, ...]:
    known = classes.labels(evidence)
    first = Cell(f"{site.n:,}", kind="plain")
    if known:
        return (first, *(_hundred(find(evidence, "auroc", site.name, **{"class": label})) for label in known))
    cells = [first, Cell(events_of(site, "0"), kind="plain")]
    cells += [_hundred(find(evidence, measure, site.name)) for measure in ("auroc", "oe_ratio")]
    cells += [_hundred(find(evidence, "sensitivity", site.name, threshold=at))] if at is not None else []
    return tuple(cells)


def _hundred(found: Estimate | Absent) -> Cell:
    """A share or ratio as people out of a hundred."""
    if isinstance(found, Absent):
        return Cell("too few", kind="absent")
    if found.low is None or found.high is None:
        return Cell(f"{100 * found.value:.0f}")
    return Cell(f"{100 * found.value:.0f}", f"{_of_hundred(found.low)}\N{EN DASH}{_of_hundred(found.high)}")


def _of_hundred(share: float) -> str:
    """A share or ratio as people out of a hundred, with enough digits to show on which side of 100 it lies."""
    return f"{100 * share:.{showing_the_side(100 * share, 0, (100.0,))}f}"


def by_class(evidence: Evidence) -> tuple[Table, ...]:
    """For an outcome of several classes: what 1,000 patients are called, and how many of each class came."""
    known = classes.labels(evidence)
    if not known:
        return ()
    narrow = len(known) > MOST_CLASSES
    called = tuple(
        Row(f"Had {one.label}", (Cell(f"{one.count}", kind="plain"), *_called(one)))
        for one in classes.thousand(evidence)
        if len(one.named) == len(known)
    )
    came = tuple(
        Row(
            site.site,
            tuple(_hundred(find(evidence, "oe_ratio", site.name, **{"class": label})) for label in known),
        )
        for site in listed_places(evidence)[0]
    )
    tables = (
        Table(
            name="table-called",
            title="What 1,000 patients are called.",
            note="The right answers stand out.",
            head="Class",
            columns=(Column("Patients"), *(Column(f"Called {label}") for label in known)),
            rows=called,
        ),
        Table(
            name="table-came",
            title="Came, for 100 expected, class by class.",
            note="",
            head="Place",
            columns=tuple(Column(label, intervals=not narrow) for label in known),
            rows=came,
        ),
    )
    return tuple(table for table in tables if table.rows)


def _called(one: classes.OfThousand) -> tuple[Cell, ...]:
    return tuple(Cell(f"{count}", kind="value" if label == one.label else "plain") for label, count in one.named)


def accrual(evidence: Evidence) -> str:
    """How many rows our site sent, how many could be counted, and when the patients came."""
    ours = local(evidence)
    if ours is None:
        return ""
    lost, least = lost_rows([ours])
    sent = f"{counted(ours.n, 'patient')} or more" if least else counted(ours.n + lost, "patient")
    kept = (
        f"{ours.n:,} could be counted"
        if least
        else f"All {ours.n:,} could be counted"
        if not lost
        else f"{lost:,} of {ours.n + lost:,} could not be counted"
    )
    when = "when they came is not stated" if ours.dates is None else f"they came {dates(ours.dates)}"
    return f"{abridged(ours.site, LONGEST_NAME)} sent {sent}. {kept}; {when}."


# ---- the third page: for whom, and what is declared -----------------------------------------------------------------


def differing_groups(evidence: Evidence) -> str:
    """For which groups the model does otherwise than for the rest of the same place."""
    found = _apart(evidence, MOST_GROUPS)
    if not subgroups.is_declared(evidence):
        return "Groups of patients, such as women and men, were not looked at one by one."
    if not any(
        _is_here(one.dataset, evidence) and isinstance(one.size, SubgroupSize) for one in evidence.subgroups.summaries
    ):
        return "The data of this place do not tell the groups apart."
    if not found:
        return "In no group did the model differ from the rest beyond chance. Small numbers may hide a difference."
    return (
        f"Beside the other patients of the same place, {found}. "
        f"{sentence_case(_by_chance(evidence))}: one such group is a reason to look again, no more."
    )


def groups(evidence: Evidence) -> Table | None:
    """Each group of patients at our site, the only one, or all together: how many, and how well they are ranked."""
    sites = externals(evidence)
    where = evidence.local_site or (sites[0].name if len(sites) == 1 else POOLED)
    several = bool(classes.labels(evidence))
    known = _groups_here(evidence)
    rows: list[Row] = []
    left_out = False
    for (column, label), sizes in list(known.items())[:MOST_GROUPS]:
        size = subgroups.together(sizes)
        cells = [Cell(f"{size.n:,}", kind="plain"), Cell(f"{size.shown:,}", kind="plain")]
        for measure in ("auroc",) if several else ("auroc", "oe_ratio"):
            found = find_in_subgroup(evidence, f"{column}={label}", measure, where)
            left_out = left_out or (isinstance(found, Estimate) and found.n < size.n)
            cells.append(_of_group(found, where, all(subgroups.is_few(one) for one in sizes)))
        rows.append(Row(f"{sentence_case(label)} ({within_sentence(column)})", tuple(cells)))
    if not rows:
        return None
    columns = (
        Column("Patients"),
        Column("In the least common class" if several else "With the outcome"),
        Column("Ranked right, of 100", intervals=True),
        *(() if several else (Column("Came, for 100 expected", intervals=True),)),
    )
    what = "of a class" if several else "with, or without, the outcome"
    texts = {cell.text for row in rows for cell in row.cells[2:] if cell.kind == "absent"}
    each = " at every place" if where == POOLED else ""
    notes = [f"Too few: under {VERY_FEW} patients {what}{each}."] if TOO_FEW in texts else []
    if NOT_ADDED in texts:
        notes.append(
            f"Not added up: under {in_words(subgroups.FEWEST_POOLED)} places have enough of the group, or all are "
            "ranked right; the dossier has its numbers place by place, under Subgroups."
        )
    if left_out and where == POOLED:
        notes.append(
            f"Places with under {VERY_FEW} of the group {what} are counted here, and left out of what is added up."
        )
    if all(cell.kind == "absent" for row in rows for cell in row.cells[2:]):
        rows, columns = [replace(row, cells=row.cells[:2]) for row in rows], columns[:2]
        few = f"in no group are there {VERY_FEW} patients with and without the outcome, or of each class, at one place"
        notes = [sentence_case(f"{few}.")] if texts == {TOO_FEW} else [WITHOUT_VALUES]
    notes.append(_known_at(evidence))
    if len(known) > MOST_GROUPS:
        notes.append(
            f"{sentence_case(in_words(len(known) - MOST_GROUPS))} more groups stand in the dossier, under Subgroups."
        )
    place = "all places together" if where == POOLED else abridged(summary_of(evidence, where).site, LONGEST_NAME)
    return Table(
        name="table-groups",
        title=f"Groups of patients, {place}.",
        note=" ".join(note for note in notes if note),
        head="Group",
        columns=columns,
        rows=tuple(rows),
    )


TOO_FEW, NOT_ADDED = "too few", "not added up"
WITHOUT_VALUES = (
    "Too few places have enough of a group for its numbers to be added up. The dossier has them place by place, under "
    "Subgroups."
)
"""What stands above the groups where none has a value for all places together, though some have one at a place."""


def _groups_here(evidence: Evidence) -> dict[tuple[str, str], list[SubgroupSize]]:
    """The sizes of each group at our place, or at all of them, by column and label."""
    sizes: dict[tuple[str, str], list[SubgroupSize]] = {}
    for one in evidence.subgroups.summaries:
        if isinstance(one.size, SubgroupSize) and _is_here(one.dataset, evidence):
            sizes.setdefault((one.column, one.label), []).append(one.size)
    return sizes


def _of_group(found: Estimate | Absent, where: str, few: bool) -> Cell:
    """A value of a group, where enough places are added up: the range over two of them holds nearly everything."""
    if few:
        return Cell(TOO_FEW, kind="absent")
    if where != POOLED:
        return _hundred(found)
    enough = isinstance(found, Estimate) and (found.details.get("k") or 0) >= subgroups.FEWEST_POOLED
    return _hundred(found) if enough else Cell(NOT_ADDED, kind="absent")


def _known_at(evidence: Evidence) -> str:
    """At how many places, and of how many patients, the groups are known, where this is not at all of them."""
    sites = [site for site in externals(evidence) if _is_here(site.name, evidence)]
    among = sum(site.n for site in sites)
    told: dict[str, list[str]] = {}
    for column in dict.fromkeys(one.column for one in evidence.subgroups.summaries):
        sizes = {site.name: subgroup_sizes(evidence, column, site.name) for site in sites}
        count = sum(bool(known) for known in sizes.values())
        if 0 < count < len(sites):
            patients = sum(size.n for known in sizes.values() for size in known.values())
            places_known = (
                f"{in_words(count)} of {counted_places(len(sites))} ({patients:,} of {counted(among, 'patient')})"
            )
            told.setdefault(places_known, []).append(within_sentence(column))
    known_at = [f"{listing(columns)} at {places_known}" for places_known, columns in told.items()]
    return f"Known are {'; '.join(known_at)}." if known_at else ""


def changes(evidence: Evidence) -> tuple[str, ...]:
    """What differs from the previous release, and what the owner says has changed since the last issue."""
    found = changes_since.line(evidence)
    since = (found,) if found else ()
    said = evidence.release.revision
    if not said:
        return since or ("No earlier issue of this dossier is named.",)
    told = (f"{one.number}, {date(one.date)}: {abridged(one.change, TWO_LINES)}" for one in said[: 2 - len(since)])
    return (*since, *told)


DECLARED = (
    ("Ethics", ("17",)),
    ("Money", ("18a",)),
    ("Interests", ("18b",)),
    ("Plan", ("18c", "18d")),
    ("Data", ("18e",)),
)
"""The declarations that a committee asks for, with the items of the checklist that hold them."""


def declarations(evidence: Evidence) -> tuple[tuple[str, str], ...]:
    """Each declaration in a line."""
    said = {
        label: " ".join(evidence.statements[item] for item in items if item in evidence.statements)
        for label, items in DECLARED
    }
    return tuple((label, _whole_sentences(text or OPEN)) for label, text in said.items())


def _whole_sentences(text: str) -> str:
    """A declared text in at most two lines, without a sentence that is cut: half of one may say the opposite."""
    kept = abridged(text, TWO_LINES)
    return "Stated in the dossier, in more words than this page has room for." if kept.endswith("…") else kept


def care(evidence: Evidence) -> tuple[tuple[str, str], ...]:
    """Who owns the threshold, what is watched, when it is looked at again, and when it is switched off."""
    declared = evidence.release.care
    asked = (
        ("Who owns the threshold", declared.threshold_owner),
        ("What is watched", declared.monitoring),
        ("Next review", declared.review),
        ("When to stop", declared.stop_rule),
    )
    return tuple((label, _whole_sentences(text or OPEN)) for label, text in asked)


# ---- the fourth page: words -----------------------------------------------------------------------------------------


def glossary(evidence: Evidence) -> tuple[tuple[str, str], ...]:
    """Every word of these pages that is not an everyday one, in plain words."""
    several = bool(classes.labels(evidence))
    words = [
        ("Chance", "What would happen with no cause behind it, as with a coin. Small numbers differ by chance."),
        ("Dossier", "The full report of the test, from which these pages are drawn. It holds every number and method."),
        ("Goal", "What the owner said that the model must reach."),
        ("Model", "A rule, often run by a computer, that turns facts about a patient into a risk."),
        ("Outcome", f"What the model foretells: {evidence.release.outcome.name}."),
        ("Place", "A hospital, a group of them, or a span of time, whose patients took part in the test."),
        (
            "Range",
            f"In brackets or after a dash: made so that it holds the true number {level_of(evidence)} "
            "of the time. A wide one means few patients.",
        ),
        ("Ranking", "How well the model puts those with the outcome before those without it."),
        ("Release", "This version of the model, with what its owner says of it."),
        ("Risk", "How likely the model says the outcome is, from 0 (never) to 100% (for sure)."),
        ("SHA-256", "A code that changes when one letter of a file does. It shows that two files are the same."),
        ("Threshold", "The risk from which on somebody should act."),
    ]
    if several:
        words += [
            ("Class", "One of the forms that the outcome can take. Each patient has just one."),
            ("Named rightly", "The class with the largest risk is the one that the patient had."),
            (
                "Ranked right",
                "Take one patient of the class and one of another: how often, of 100 times, the first has "
                "the higher risk of it. By chance it is 50.",
            ),
            (
                "Came, for 100 expected",
                "Add up the risks of the class until they make 100: so many patients were of it. More than "
                "100 means that the risks are too low.",
            ),
        ]
    else:
        words += [
            (
                "Flagged, found, missed",
                "Flagged: the risk is high enough that somebody should act. Found: flagged, and the "
                "outcome came. Missed: not flagged, and it came all the same.",
            ),
            ("Treated in error", "Flagged or treated, though the outcome did not come. Also called a false alarm."),
            (
                "Ranked right",
                "Take one patient with the outcome and one without: how often, of 100 times, the first has "
                "the higher risk. By chance it is 50.",
            ),
            (
                "Came, for 100 expected",
                "Add up the risks until they make 100: so many patients did have the outcome. More than "
                "100 means that the risks are too low.",
            ),
        ]
    if subgroups.is_declared(evidence):
        words.append(("Subgroups", "The part of the dossier that holds the numbers of groups of patients."))
    known = {one.measure for one in evidence.criteria}
    if "net_benefit" in known or better_without(evidence):
        words.append(
            (
                "Gain, more good",
                "Patients found, less the false alarms. The threshold says how much a false alarm weighs. "
                "Below 0 it is better to treat no one.",
            )
        )
    if "specificity" in known:
        words.append(("Left alone", "Of 100 without the outcome: how many are not flagged."))
    words += [(evidence.terms[name].label, evidence.terms[name].sentence) for name in sorted(known - set(GOALS))]
    return tuple(sorted(words, key=lambda one: one[0].lower()))
