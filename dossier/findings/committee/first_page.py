"""The first page: the answer, what the model is and is not for, where it was tested, and the large numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dossier.findings import acceptance, classes
from dossier.findings.committee.goals_met import GOAL_WORDS
from dossier.findings.committee.places import local, rarer_outcome, with_enough
from dossier.findings.committee.plain import (
    HALF,
    LINE,
    LONGEST_NAME,
    MOST_NAMED,
    OPEN,
    TWO_LINES,
    abridged,
    counted_places,
    few_named,
)
from dossier.findings.committee.thousand import thousand
from dossier.findings.sentence import Sentence, estimated, primary_threshold
from dossier.types import POOLED, Criterion, Estimate, Evidence, Predicted, externals, find
from dossier.typeset.numbers import per_cent
from dossier.typeset.words import counted, in_words, listing, sentence_case


@dataclass(frozen=True)
class Number:
    """A number in large type, with what it means beneath."""

    value: str
    meaning: str


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
    outcome = abridged(Predicted.by(release).words, TWO_LINES)
    known = classes.labels(evidence)
    if known:
        return (
            f"A model that gives each patient a risk, from 0 to 100%, of each class of this outcome: {outcome}. "
            f"The classes are {listing(known)}. The model names the one with the largest risk.{_classes_told(evidence)}"
        )
    text = f"A model that gives each patient a risk, from 0 to 100%, of this outcome: {outcome}."
    at = primary_threshold(evidence)
    return text if at is None else f"{text} A patient with a risk of {per_cent(at)} or more is flagged."


def _classes_told(evidence: Evidence) -> str:
    """What the owner says of the outcome, where a line holds it: the names of classes alone may say nothing."""
    said = abridged(evidence.statements.get("8a", ""), LINE)
    return f" In the words of the owner: {said}" if said and not said.endswith("…") else ""


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
        return f"Tested on {counted(patients, 'patient')} of {few_named([site.site for site in sites], 4)}."
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
    alone = sites if len(sites) == 1 else with_enough(sites)
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


def _place_by_place(evidence: Evidence, measure: str, of: str, meaning: str) -> Number | None:
    """The lowest and the highest value of the places that have enough patients, where none is for all together."""
    found = [] if local(evidence) else with_enough(estimated(evidence, measure))
    if not found:
        return None
    low, high = (f"{100 * one.value:.0f}" for _, one in (found[0], found[-1]))
    where = f"{in_words(len(found))} of {counted_places(len(externals(evidence)))}"
    where = "every place" if len(found) == len(externals(evidence)) else where
    return Number(f"{low if low == high else f'{low} to {high}'} {of}", f"{meaning}, in {where}")


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
    parts += [default] if (default := acceptance.passed_by_a_default(evidence)) else []
    if not parts:
        return Number(score[0], "of the goals")
    return Number(score[0], f"of the goals; {'; '.join(parts)} (page 3)")


def _goals_named(goals: Sequence[tuple[Criterion, ...]]) -> str:
    """Goals in a word each while they are few and have one, else their number."""
    names = list(dict.fromkeys(GOAL_WORDS.get(one[0].measure, "") for one in goals))
    return listing(names) if all(names) and len(names) <= MOST_NAMED else f"{in_words(len(goals))} of them"


def band(evidence: Evidence) -> tuple[str, str] | None:
    """What has to be read before all else: that our hospital was not tested, or hardly."""
    ours = local(evidence)
    if ours is None:
        return (
            "NOT TESTED HERE.",
            "No place below is named as yours. The model may do better or worse with your patients.",
        )
    few = rarer_outcome(ours)
    return ("FEW PATIENTS HERE.", f"{few}: little can be said of your own site.") if few else None


def who_tested(evidence: Evidence) -> str:
    """Who ran the test, and how they stand to the owner."""
    about = evidence.release.release
    tester = abridged(about.tester, LINE) if about.tester else "not stated"
    return f"{sentence_case(tester).rstrip('.')}."
