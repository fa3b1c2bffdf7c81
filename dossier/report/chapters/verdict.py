"""The first page: whether the model works, by the criteria that were declared before, hospital by hospital."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from dossier.core import bands, binding, claims, multiplicity, tripod, types
from dossier.core.facts import gathered
from dossier.report.chapters import acceptance, changes, classes, comparison, limitations, results, sentence, subgroups
from dossier.report.chapters.chapter import chapters
from dossier.typeset import flags, widths, words
from dossier.typeset.names import by_when, predicted
from dossier.typeset.numbers import TIED, short, threshold

LINES, LINES_OF_FEW, FEW_SITES, LINE = 8, 11, 4, 66.0
"""Lines, so many mm wide, of what is to be settled, more where few sites leave room; the rest is counted."""
MOST_NAMED = 3


@dataclass(frozen=True)
class Point:
    """Something that a review has to settle: what it is, how it stands, the chapter and the place that say more."""

    what: str
    standing: str
    chapter: str
    is_open: bool
    place: str = ""


def finding(evidence: types.Evidence) -> sentence.Sentence:
    """What forbids the use, then whether the declared criteria are met, at how many hospitals, what is missed where."""
    found, (first, *_) = _finding(evidence), leads(evidence)
    return sentence.Sentence(first, f"{found.lead} {found.rest}".strip()) if first != found.lead else found


def leads(evidence: types.Evidence) -> tuple[str, ...]:
    """What forbids the use, where anything does, and then what is said first of what was found."""
    first = f"{forbidding(evidence)} {separating(evidence)}".strip()
    return tuple(filter(None, (first, _finding(evidence).lead)))


def key_results(evidence: types.Evidence) -> sentence.Sentence:
    """The same with the discrimination that page 1 may leave to the chapters, for the key results of the supplement."""
    first, discrimination = finding(evidence), results.finding(evidence).lead
    more = "" if discrimination in f"{first.lead} {first.rest}" else discrimination
    return sentence.Sentence(first.lead, f"{first.rest} {more}".strip())


def forbidding(evidence: types.Evidence) -> str:
    """Where the maker says that the model is not to be used, and where a stop rule of theirs is crossed."""
    out = [site.site for site in binding.ruled_out(evidence)]
    stopped = [site.site for site in binding.stopped(evidence)]
    parts = []
    if binding.is_for_nobody(evidence.release):
        parts.append("the maker states that the model is not to be used for patients")
    elif out:
        where = sentence.named_with_the_rest(out, MOST_NAMED)
        parts.append(f"the maker states that the model is not to be used in {where}")
    if stopped:
        parts.append(f"a declared stop rule is crossed in {sentence.named_with_the_rest(stopped, MOST_NAMED)}")
    if harmed := [site.site for site in binding.harmed(evidence)]:
        where = "" if harmed == stopped else f" in {sentence.named_with_the_rest(harmed, MOST_NAMED)}"
        when = "then" if stopped else "at times"
        parts.append(f"flagging {binding.better_then(evidence)} {when} did better{where}")
    return f"{words.sentence_case('; '.join(parts))}." if parts else ""


def separating(evidence: types.Evidence) -> str:
    """Where the model is shown not to separate patients, with the AUROC."""
    sentences = []
    for kind, found in sentence.not_separating(evidence, types.externals(evidence)).items():
        places = []
        for name, each in found:
            value, low, high = (short(evidence, "auroc", end) for end in (each.value, each.low or 0, each.high or 1))
            places.append(f"{name} (AUROC{TIED}{value}, {low} to {high})")
        where = sentence.named_with_the_rest(places, MOST_NAMED)
        sentences.append(sentence.phrase("not_separating", kind, places=where))
    return " ".join(sentences)


def _finding(evidence: types.Evidence) -> sentence.Sentence:
    every = acceptance.counted_ones(evidence)
    if not every:
        return _without_criteria(evidence)
    # How the criteria stand at each hospital that they ask something of: the worst of them.
    hospitals = [site.name for site in types.externals(evidence)]
    asked = gathered((criterion.dataset, criterion) for everywhere in every for criterion in everywhere)
    stands = {name: acceptance.verdict(asked[name]) for name in hospitals if name in asked}
    rest = (*accusations(evidence), sentence.new_hospital(evidence))
    return sentence.Sentence(_lead(every, stands, evidence.is_protected), " ".join(filter(None, rest)))


def accusations(evidence: types.Evidence) -> tuple[str, ...]:
    """What is shown against the model beside what the first sentence of page 1 says."""
    every = acceptance.counted_ones(evidence)
    missed = [_missed(evidence, criteria) for criteria in every if acceptance.verdict(criteria) == "against"]
    said = (
        comparison.where_better(evidence),
        changes.what_is_worse(evidence),
        _against(evidence),
        sentence.where_risks_are_off(evidence, "for" if classes.labels(evidence) else "in"),
        f"Shown not to hold: {'; '.join(missed)}." if missed else "",
    )
    return tuple(text for text in said if text)


def _against(evidence: types.Evidence, but_at: float | None = None) -> str:
    """Where the model is shown to be no gain, but at a threshold of which that is said, and for whom it does worse."""
    called = {site.name: site.site for site in types.externals(evidence)}
    none: dict[float, list[tuple[str, types.Estimate]]] = {}
    for claim in claims.about(evidence, "benefit", "hospital"):
        if (claim.state, claim.limit_source) == ("against", "default") and claim.at["threshold"] != but_at:
            gain = types.find(evidence, "net_benefit_gain", claim.dataset, **claim.at)
            if isinstance(gain, types.Estimate):
                none.setdefault(float(claim.at["threshold"]), []).append((called[claim.dataset], gain))
    parts = [
        f"At {threshold(at)} flagging {whom} is shown to be better in "
        f"{sentence.named_with_the_rest(list(dict.fromkeys(where)), MOST_NAMED)}."
        for at, gains in none.items()
        for whom, where in multiplicity.better_than_the_model(gains).items()
    ]
    return " ".join(filter(None, [*parts, subgroups.worse_off(evidence)]))


def _without_criteria(evidence: types.Evidence) -> sentence.Sentence:
    """What was found: first of all at how many hospitals the model is of use, where the gains have intervals."""
    that = " that counts" if evidence.release.acceptance else ""
    none = f"No criterion{that} was declared: nothing here is passed or failed."
    found = results.finding(evidence)
    at = evidence.release.thresholds.primary
    said = (comparison.where_better(evidence), changes.what_is_worse(evidence), _against(evidence, at))
    better = " ".join(filter(None, said))
    every = claims.about(evidence, "benefit", "hospital")
    states = [claim.state for claim in every if claim.low is not None and dict(claim.at) == {"threshold": at}]
    use = _use(threshold(at), states, len(types.externals(evidence))) if at is not None and states else ""
    # What is shown to be wrong comes first; of both, no use at a hospital is the graver.
    parts = (use, better) if "against" in states else (_beaten(evidence), better, use)
    known = [text for text in parts if text]
    if not known:
        return sentence.Sentence(found.lead, f"{found.rest} {none}".strip())
    return sentence.Sentence(known[0], " ".join((*known[1:], none, found.lead, found.rest)).strip())


def _beaten(evidence: types.Evidence) -> str:
    """Where another model is shown to be better."""
    sure = (each for each in comparison.better_rivals(evidence) if each.state == "against")
    where = dict.fromkeys(types.summary_of(evidence, each.dataset).site for each in sure)
    return f"Another model is better at {sentence.named_with_the_rest(list(where), MOST_NAMED)}." if where else ""


def _use(at: str, states: Sequence[types.State], sites: int) -> str:
    """At how many of the hospitals the gain is shown to lie above 0, and at how many below."""
    above, below = states.count("shown"), states.count("against")
    where = "the hospital" if sites == 1 else _of(above, sites) if above else "any hospital"
    less = f", and worse at {'every one' if below == sites else words.in_words(below)}" if below else ""
    shown = "is better" if above else "is not shown to be better"
    return f"At {at} the model {shown} than flagging everyone or no one at {where}{less}."


def _of(some: int, sites: int) -> str:
    """So many of the hospitals."""
    if some == sites:
        return {1: "the hospital", 2: "both hospitals"}.get(sites, "every hospital")
    return f"{words.part_of(some, sites)} hospitals"


def _lead(every: Sequence[tuple[types.Criterion, ...]], stands: Mapping[str, types.State], is_protected: bool) -> str:
    """At how many hospitals the criteria are shown to be met, and at how many shown not to be."""
    what = "its declared criterion" if len(every) == 1 else "its declared criteria"
    why = "the ranges of counts cannot tell" if is_protected else "the intervals cannot tell"
    states = list(stands.values())
    # What is asked of all hospitals together alone is met at none of them.
    apart = sum(any(each.dataset in stands for each in criteria) for criteria in every)
    of_some = f"its declared {'criterion' if apart == 1 else 'criteria'} for single hospitals"
    at_sites = what if apart in (0, len(every)) else of_some
    together = {
        acceptance.verdict(criteria) for criteria in every if any(each.dataset == types.POOLED for each in criteria)
    } - {"shown"}
    if "against" in states:
        shown = states.count("shown")
        rest = f", and to meet {'it' if apart <= 1 else 'all'} at {words.in_words(shown)}" if shown else ""
        misses = "not to meet" if apart <= 1 else "to miss one or more of"
        return f"The model is shown {misses} {at_sites} at {_of(states.count('against'), len(states))}{rest}."
    if "against" in together:
        return f"The model is shown not to meet {what} over all hospitals together."
    if unsure := len(states) - states.count("shown"):
        rest = (
            f"{'the rest' if unsure < len(states) else 'this'}{', and all together, are' if together else ' is'} open"
        )
        return f"The model is shown to meet {at_sites} at {_of(len(states) - unsure, len(states))}; {rest}: {why}."
    if together:
        return f"Whether the model meets {what} over all hospitals together is open: {why}."
    where = f"at {_of(len(states), len(states))}" if states else "over all hospitals"
    return f"The model is shown to meet {what} {where}."


def _missed(evidence: types.Evidence, everywhere: tuple[types.Criterion, ...]) -> str:
    """A criterion that is not met, and where."""
    names = {site.name: site.site for site in types.externals(evidence)}
    where = [names.get(each.dataset, "all hospitals together") for each in everywhere if each.state == "against"]
    what = words.within_sentence(acceptance.label(evidence, everywhere[0]))
    return f"{what} {acceptance.asked(evidence, everywhere[0])} ({sentence.named_with_the_rest(where, MOST_NAMED)})"


# ---- the hospitals that pages name -----------------------------------------------------------------------------------


def standing_out(evidence: types.Evidence) -> tuple[types.DatasetSummary, ...]:
    """The hospitals where something is shown not to hold, or whose maker rules the model out; the worst first."""
    counts = Counter(
        claim.dataset
        for claim in claims.of(evidence)
        if claim.state == "against" and claim.scope != "overall" and claims.is_primary(evidence, claim)
    )

    order = claims.by_harm(evidence)
    every = (site for site in types.externals(evidence) if counts[site.name])
    return tuple(sorted(every, key=lambda site: (-counts[site.name], order.get((site.name,), 0))))


def named_ones(evidence: types.Evidence) -> tuple[types.DatasetSummary, ...]:
    """The hospitals that pages list: all; of many the worst that stand out, and one's own before them."""
    sites = types.externals(evidence)
    if len(sites) < bands.MANY_SITES:
        return sites
    worst = standing_out(evidence)[: bands.NAMED_OF_MANY]
    return (*(site for site in sites if site.name == evidence.local_site and site not in worst), *worst)


def listed(evidence: types.Evidence) -> tuple[str, ...]:
    """The hospitals that have rows in tables: all; of very many one's own, those that stand out and the largest."""
    sites = types.externals(evidence)
    if len(sites) <= bands.MOST_LISTED:
        return tuple(site.site for site in sites)
    own = (site for site in sites if site.name == evidence.local_site)
    largest = sorted(sites, key=lambda site: -site.n)
    return tuple(dict.fromkeys(site.site for site in (*own, *standing_out(evidence), *largest)))[: bands.LISTED]


def only_some(evidence: types.Evidence) -> str:
    """That of many hospitals those are listed that stand out, and how many do."""
    if len(types.externals(evidence)) < bands.MANY_SITES:
        return ""
    out = len(standing_out(evidence))
    where = f"{words.how_many(out)} of {len(types.externals(evidence)):,} something is shown not to hold"
    named = f", the worst {words.in_words(bands.NAMED_OF_MANY)} listed" if out > bands.NAMED_OF_MANY else ""
    is_whole = len(types.externals(evidence)) <= bands.MOST_LISTED
    return f"At {where}{named}; all stand {'in the chapters by name' if is_whole else 'in results.csv'}."


# ---- beneath --------------------------------------------------------------------------------------------------------


def most_open(evidence: types.Evidence) -> int:
    """How much of what is to be settled the first page has room for."""
    whats = (f"{point.what}, {point.standing}, p. 00" for point in to_settle(evidence))
    lines = list(accumulate(widths.lines_of(what, LINE) for what in whats))
    return bisect_right(lines, LINES_OF_FEW if len(types.externals(evidence)) <= FEW_SITES else LINES)


GRAVEST = [
    *("stop_rule_crossed", "changed_since_sealed", "worse_than_before", "wrong_order", "default_better"),
    *("rival_better", "flagged_alike", "calibration_drift", "risks_off", "slope_off", "subgroup_differs"),
    *("shared_rows", "same_as_rival", "other_units"),
]
"""What is settled before all else, in this order: what was declared beforehand forbids the use or was declared anew,
what harms patients where the model is wrong, and what makes the test another one than it seems.
"""


def to_settle(evidence: types.Evidence) -> tuple[Point, ...]:
    """What a review has to settle, what is open first: limitations without an answer, rows of the checklist."""
    gravest = [flags.topic(name) for name in GRAVEST]
    points = []
    for kind in sorted(limitations.raised(evidence), key=lambda kind: [*gravest, kind.topic].index(kind.topic)):
        # What a limitation is about, and the sites and numbers that it is raised for.
        is_open = not (kind.answered_at_once or all(reply for _, reply in kind.said))
        sites = kind.open_briefly if is_open else kind.briefly
        what = ": ".join([kind.topic, *([sentence.named_with_the_rest(sites, MOST_SITES)] if sites else [])])
        standing = "unanswered" if is_open else "answered"
        points.append(Point(what, standing, "limitations", is_open, f"limitation-{kind.kind}"))
    points += [
        Point(f"TRIPOD+AI {row.item}, {words.within_sentence(tripod.TOPICS[row.item])}", "missing", "checklist", True)
        for row in evidence.checklist
        if row.status == "missing"
    ]
    return tuple(sorted(points, key=lambda point: not point.is_open))


MOST_SITES = 2
"""Sites of a limitation that the first page names; the rest is counted."""


def tested(evidence: types.Evidence) -> list[tuple[str, str]]:
    """What was tested, line by line."""
    release, thresholds = evidence.release.release, evidence.release.thresholds
    declared = [threshold(each) for each in thresholds.declared]
    at = "none declared"
    if declared:
        at = f"{declared[0]} (primary){''.join(f', {text}' for text in declared[1:])}"
    if thresholds.range:
        at += f"; range {threshold(thresholds.range[0])} to {threshold(thresholds.range[1])}"
    for each in evidence.release.horizon[1:]:
        further = words.listing([threshold(risk) for risk in each.thresholds.declared]) or "none declared"
        at += f"; {by_when(evidence, {'horizon': each.at}, '')} {further}"
    sites = types.externals(evidence)
    patients = words.counted(sum(site.n for site in sites), "patient")
    where = words.listing([site.site for site in sites])
    # Table 1 names them too: further horizons take the room.
    is_named = len(sites) <= (MOST_NAMED if len(evidence.release.horizon) < 2 else 1)
    where = where if is_named else f"{words.in_words(len(sites))} hospitals"
    version = release.tested_version or release.version
    # The chapters that the owner left out; nothing where all are there.
    titles = [chapter.title for chapter in chapters() if chapter.name in evidence.release.report.leave_out]
    return [
        ("Output", f"Probability of {predicted(evidence)}"),
        *([("Version", f"{version}; {release.version} is released")] if version != release.version else []),
        ("Tested in", f"{patients} of {where}"),
        ("Thresholds", at),
        ("Intended for", evidence.release.intended_use.for_ or "not stated"),
        ("Owner", release.owner or "not stated"),
        ("Tested by", release.tester or "not stated"),
        *([("Left out by the owner", f"{words.listing(titles)}. Every number is in results.csv")] if titles else []),
    ]
