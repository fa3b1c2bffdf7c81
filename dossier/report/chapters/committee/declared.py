"""What changed since the last version, and what the maker declares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dossier.core import over_time
from dossier.core.types import Evidence
from dossier.report.chapters import changes as changes_since
from dossier.report.chapters import monitoring
from dossier.report.chapters.committee.plain import NOT_SAID, TWO_LINES, abridged, as_sentence, beginning
from dossier.typeset.flags import QUANTITIES
from dossier.typeset.words import date, in_words, listing, months_of, sentence_case

if TYPE_CHECKING:
    from dossier.core.release import StopRule


def changes(evidence: Evidence) -> tuple[str, ...]:
    """What differs from the previous release, and what the owner says has changed since the last issue."""
    found = changes_since.line(evidence)
    since = (found,) if found else ()
    said = evidence.release.revision
    if not said:
        return since or ("The maker names no earlier version.",)
    texts = (f"{each.number}, {date(each.date)}: {abridged(each.change, TWO_LINES)}" for each in said[: 2 - len(since)])
    return (*since, *texts)


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
    return tuple((label, _whole_sentences(text or NOT_SAID)) for label, text in said.items())


def _whole_sentences(text: str) -> str:
    """A declared text in at most two lines, without a sentence that is cut: half of one may say the opposite."""
    kept = beginning(text, TWO_LINES)
    if kept.is_cut:
        return "Said in the full report, in more words than this page has room for."
    return as_sentence(kept.text)


def care(evidence: Evidence) -> tuple[tuple[str, str], ...]:
    """Who owns the line, what is watched, when it is looked at again, and when it is switched off."""
    declared = evidence.release.care
    asked = (
        ("Who owns the line", declared.threshold_owner),
        ("What is watched", declared.monitoring),
        ("Next review", declared.review),
        ("When to stop", declared.stop_rule or _limits(declared.stop)),
    )
    *lines, (label, rule) = [(label, _whole_sentences(text or NOT_SAID)) for label, text in asked]
    return (*lines, (label, f"{rule} {broken(evidence)}".strip()))


def _limits(rules: Sequence[StopRule]) -> str:
    """The limits that stop the model, where no words of the maker say so."""
    said = []
    for rule in rules:
        is_ratio = rule.measure == "oe_ratio"
        called = "the actual cases per 100 predicted" if is_ratio else QUANTITIES[rule.measure]
        ends = [f"{end * 100 if is_ratio else end:g}" for end in (rule.at_least, rule.at_most) if end is not None]
        side = "outside" if len(ends) == 2 else "below" if rule.at_most is None else "above"
        row = f" in {in_words(rule.periods)} periods in a row" if rule.periods > 1 else ""
        said.append(f"{called} {side} {' to '.join(ends)}{row}")
    return sentence_case(listing(said))


def broken(evidence: Evidence) -> str:
    """Where the rule to switch it off was broken in the test, or that it was not; nothing where nobody could tell."""
    every = over_time.of_evidence(evidence)
    crossed = [verdict for verdict in every if verdict.crossing is not None]
    if crossed:
        times = "; ".join(f"{each.site.site}, {monitoring.when(each, months_of)}" for each in crossed[:MOST_BROKEN])
        more = len(crossed) - MOST_BROKEN
        return f"Broken: {times}{f'; {in_words(more)} times more' if more > 0 else ''}."
    sites = list(dict.fromkeys(verdict.site.site for verdict in every if not verdict.is_open))
    return f"Not broken by {listing(sites)}." if sites else ""


MOST_BROKEN = 2
"""Rules that were broken, by hospital, which the last page has room for."""
