"""What changed since the last version, and what the maker declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dossier.core import alterations, binding, over_time, types
from dossier.report.chapters import changes as changes_since
from dossier.report.chapters import monitoring, sentence
from dossier.report.chapters.committee import goals_met, missed, plain
from dossier.report.chapters.committee.places import is_here
from dossier.typeset import flags
from dossier.typeset.words import counted, date, in_words, listing, months_of, sentence_case
from dossier.words import entries

if TYPE_CHECKING:
    from dossier.core.release import StopRule


def changes(evidence: types.Evidence) -> tuple[str, ...]:
    """What differs from what was sealed and from the previous release, and what the owner says has changed."""
    before = f"{changes_since.line(evidence)} {than_before(evidence)}".strip()
    since = tuple(text for text in (_since_laid_down(evidence), before) if text)
    said = evidence.release.revision
    if not said:
        return since or ("The maker names no earlier version.",)
    shown = said[: 2 - len(since)]
    texts = (f"{each.number}, {date(each.date)}: {plain.abridged(each.change, plain.TWO_LINES)}" for each in shown)
    return (*since, *texts)


def worse_than_before(evidence: types.Evidence) -> str:
    """For the first page: how it compares with the previous release; empty where it is worse nowhere."""
    compared = than_before(evidence, in_brief=True)
    return compared if "worse" in compared else ""


def than_before(evidence: types.Evidence, in_brief: bool = False) -> str:
    """At how many hospitals it is better than the previous release, and worse, with what is worse there."""
    if evidence.changes is None or evidence.changes.previous.other_outcome(evidence.release) is not None:
        return ""
    start = f"Compared with version {evidence.changes.previous.version}:"
    # Where it is surest that something is worse comes first, which alone has room in brief.
    order = [*(each.result.dataset for each in changes_since.worse_ones(evidence)), *evidence.by_name]
    every = {
        state: sorted((site for site in sites if is_here(site.name, evidence)), key=lambda site: order.index(site.name))
        for state, sites in changes_since.stands(evidence).items()
    }
    ours, parts = evidence.local_site is not None, []
    for state, word in THAN_BEFORE.items():
        here = every.get(state, [])
        if here and state == "against":
            said = [_what_is_worse(evidence, site.name, site.name == evidence.local_site) for site in here]
            of_each = [text if ours else f"{site.site}: {text}" for site, text in zip(here, said, strict=True)]
            where = "; ".join(of_each[:MOST_BROKEN]) + ("; and more" if len(here) > MOST_BROKEN else "")
            where = f"at one: {said[0]}" if in_brief and len(here) > 1 else where
            parts.append(f"{word}{'' if ours else f' at {len(here)}'} ({where})")
        elif here:
            parts.append(word if ours else f"{word} at {len(here)}")
    groups = [] if ours else _worse_for(evidence)
    if in_brief and len(groups) > 1:
        parts.append(f"worse for {counted(len(groups), 'group')} of patients over all hospitals")
    elif groups:
        told = [(missed.patients_of(group.column, group.level), _what_is_worse(evidence, group)) for group in groups]
        worse = [f"worse for {patients} over all hospitals ({what})" for patients, what in told]
        parts.append(sentence.named_with_the_rest(worse, MOST_BROKEN))
    return f"{start} {', '.join(parts)}." if parts else ""


THAN_BEFORE = {"shown": "better", "against": "worse", "same": "the same percentages", "open": "cannot tell"}
"""How a hospital has it beside the previous release, where neither is shown last."""
WORSE_IN: Mapping[str, str] = entries("pages")["worse_in"]
"""What is worse at a hospital, by the measure that says so, what harms patients first."""


def _worse_for(evidence: types.Evidence) -> list[types.Subset]:
    """For which groups of patients it is worse over all hospitals, in more than what a line trades.

    Where it is for all groups of a column it is for none of them more than for everyone, which the hospitals say.
    """
    results = () if evidence.changes is None else evidence.changes.results
    compared = {each.subset for each in results if each.subset}
    worse = [each for each in changes_since.worse_ones(evidence) if changes_since.in_return(evidence, each) is None]
    left = compared - {each.result.subset for each in worse if each.is_sure}
    groups = dict.fromkeys(each.result.subset for each in worse if each.is_sure and not each.site)
    return [group for group in groups if group and group.column in {each.column for each in left}]


def _what_is_worse(evidence: types.Evidence, of: str | types.Subset | None, is_own: bool = False) -> str:
    """What harms patients first of all that is worse at a hospital, or for a group of patients."""
    every = [each for each in changes_since.worse_ones(evidence) if of in (each.result.subset or each.result.dataset,)]
    if isinstance(of, types.Subset):
        every = [each for each in every if changes_since.in_return(evidence, each) is None]
    first = min(
        (each for each in every if each.is_sure or is_own), key=lambda each: [*WORSE_IN].index(each.result.measure)
    )
    now, by, label = first.now.value, first.difference.value, first.result.at.get("class")
    said = WORSE_IN[first.result.measure].format(
        by=f"{100 * abs(by):.0f}", now=f"{100 * now:.0f}", before=f"{100 * (now - by):.0f}"
    )
    gained = changes_since.in_return(evidence, first)
    if gained is not None:
        said += BETTER_IN[first.result.measure].format(by=f"{100 * abs(gained.value):.0f}")
    at = first.result.at.get("threshold")
    several = len(evidence.release.thresholds.declared) > 1
    where = f" at the {plain.line(float(at))}" if at is not None and several else ""
    return f"{said} for {label}{where}" if label else f"{said}{where}"


BETTER_IN: Mapping[str, str] = entries("pages")["better_in_return"]
"""What a line gives for what is worse at it."""


LAID_DOWN: Mapping[types.Sealed, str] = entries("pages")["laid_down"]
"""What each table that is sealed holds, for who knows no statistics; what is judged by comes first."""
MOST_CHANGED = 3
"""Changes since something was laid down that the later page has room for."""


def changed_since_laid_down(evidence: types.Evidence) -> str:
    """For the first page: what was changed after it had been laid down; empty where nothing was."""
    tables = {alteration.table for alteration in alterations.since(evidence.seal)}
    what = [words for table, words in LAID_DOWN.items() if table in tables]
    return f'Changed after it had been laid down: {listing(what)} (see "What changed?").' if what else ""


def _since_laid_down(evidence: types.Evidence) -> str:
    """For a later page: the same with the day, and each goal as it was and as it is."""
    found = [_altered(evidence, alteration) for alteration in alterations.since(evidence.seal)]
    if evidence.seal is None or not found:
        return ""
    what = sentence.named_with_the_rest(list(dict.fromkeys(found)), MOST_CHANGED)
    return f"Laid down on {date(evidence.seal.sealed_on)}, its maker says, and changed since: {what}."


def _altered(evidence: types.Evidence, alteration: alterations.Alteration) -> str:
    """What was changed: a goal with what it asked and asks, of the rest what it is about."""
    measure = str(alteration.of.get("measure"))
    if alteration.table != "acceptance" or measure not in evidence.terms:
        return LAID_DOWN[alteration.table]
    goal = f"the goal for {goals_met.goal_word(evidence, measure)}"
    if not alteration.key:
        return f"{goal} was {'added' if alteration.before is None else 'dropped'}"
    if alteration.key not in ENDS:
        return f"{goal} asks something else"
    then, now = (
        "nothing" if bound is None else goals_met.people(evidence, measure, bound)
        for bound in (alteration.before, alteration.after)
    )
    return f"{goal} asked {ENDS[alteration.key]} {then} and now asks {now}"


ENDS = {"at_least": "at least", "at_most": "at most"}
"""The ends of what a goal asks, by the key that declares them."""

DECLARED: Mapping[str, Sequence[str]] = entries("pages")["declared"]
"""The declarations that a committee asks for, with the items of the checklist that hold them."""


def declarations(evidence: types.Evidence) -> tuple[tuple[str, str], ...]:
    """Each declaration in a line."""
    said = {
        label: " ".join(evidence.statements[item] for item in items if item in evidence.statements)
        for label, items in DECLARED.items()
    }
    return tuple((label, _whole_sentences(text or plain.NOT_SAID)) for label, text in said.items())


def _whole_sentences(text: str) -> str:
    """A declared text in at most two lines, without a sentence that is cut: half of one may say the opposite."""
    kept = plain.beginning(text, plain.TWO_LINES)
    if kept.is_cut:
        return "Said in the full report, in more words than this page has room for."
    return plain.as_sentence(kept.text)


def care(evidence: types.Evidence) -> tuple[tuple[str, str], ...]:
    """Who owns the line, what is watched, when it is looked at again, when it is switched off, and what is not said."""
    declared = evidence.release.care
    asked = (
        ("Who owns the line", declared.threshold_owner),
        ("What is watched", declared.monitoring),
        ("Next review", declared.review),
        ("When to stop", declared.stop_rule or _limits(declared.stop)),
    )
    lines = [(label, _whole_sentences(text)) for label, text in asked if text]
    missing = [label for label, text in asked if not text]
    if declared.stop_rule or declared.stop:
        lines[-1] = (lines[-1][0], f"{lines[-1][1]} {broken(evidence)}".strip())
    if missing:
        lines.append(("Not said by its maker", f"{sentence_case(listing([label.lower() for label in missing]))}."))
    return tuple(lines)


def _limits(rules: Sequence[StopRule]) -> str:
    """The limits that stop the model, where no words of the maker say so."""
    said = []
    for rule in rules:
        is_ratio = rule.measure == "oe_ratio"
        called = "the actual cases per 100 predicted" if is_ratio else flags.quantity(rule.measure)
        ends = [f"{end * 100 if is_ratio else end:g}" for end in (rule.at_least, rule.at_most) if end is not None]
        side = "outside" if len(ends) == 2 else "below" if rule.at_most is None else "above"
        row = f" in {in_words(rule.periods)} periods in a row" if rule.periods > 1 else ""
        said.append(f"{called} {side} {' to '.join(ends)}{row}")
    return sentence_case(listing(said))


def broken(evidence: types.Evidence) -> str:
    """Where by the rule it had to be switched off in the test, that it had not, or why nobody looked."""
    every, declared = over_time.of_evidence(evidence), evidence.release.care
    crossed, known = [each for each in every if each.crossing], [each for each in every if not each.is_open]
    seen = {site.name for site in monitoring.followed_sites(evidence)} - {
        each.site.name for each in every if each.is_open
    }
    seen |= {each.site.name for each in crossed or known}
    unseen = [site for site in types.externals(evidence) if site.name not in seen]
    rest = f" Nobody could check it in {plain.counted_hospitals(len(unseen))}." if unseen else ""
    if crossed:
        times = "; ".join(f"{each.site.site}, {monitoring.when(each, months_of)}" for each in crossed[:MOST_BROKEN])
        more = len(crossed) - MOST_BROKEN
        return f"Broken: {times}{f'; {in_words(more)} times more' if more > 0 else ''}; to be off from then on.{rest}"
    if known:
        return f"Not broken in the test in {listing(list(dict.fromkeys(each.site.site for each in known)))}.{rest}"
    if any(verdict.withheld for verdict in every):
        return "Whether by it the model is to be off is kept back, to protect patients: ask the maker."
    if every:
        return "Not looked at: too few patients came in each part of the time."
    if declared.stop:
        return "Not looked at: the test does not follow it over time."
    return "Not looked at: only its words are given." if declared.stop_rule else ""


def broken_here(evidence: types.Evidence) -> str:
    """For the first page: that by the rule it must be off at our hospital, or where; empty where it need not."""
    sites = dict.fromkeys(site.site for site in binding.stopped(evidence) if is_here(site.name, evidence))
    if not sites:
        return ""
    where = "here" if evidence.local_site else f"in {plain.few_named(list(sites))}"
    harmed = list(dict.fromkeys(site.site for site in binding.harmed(evidence) if is_here(site.name, evidence)))
    among = "" if harmed == list(sites) else f" in {plain.few_named(harmed)}"
    then = f" {plain.then_the_same(evidence)}{among}." if harmed else ""
    return f"By the maker's rule it must be switched off {where}.{then}"


def ruled_out_here(evidence: types.Evidence) -> str:
    """For the first page: that its maker says not to use it at our hospital, or where; empty where they do not."""
    if binding.is_for_nobody(evidence.release):
        return "Its maker says that it must not be used for any patient."
    sites = [site.site for site in binding.ruled_out(evidence) if is_here(site.name, evidence)]
    where = "here" if evidence.local_site else f"in {plain.few_named(sites)}"
    return f"Its maker says that it must not be used {where}." if sites else ""


MOST_BROKEN = 2
"""Rules that were broken, or hospitals that have it worse than before, which a page has room for."""
