"""What changed since the last version, and what the maker declares."""

from __future__ import annotations

from dossier.core.types import Evidence
from dossier.report.chapters import changes as changes_since
from dossier.report.chapters.committee.plain import NOT_SAID, TWO_LINES, abridged, as_sentence, beginning
from dossier.typeset.words import date


def changes(evidence: Evidence) -> tuple[str, ...]:
    """What differs from the previous release, and what the owner says has changed since the last issue."""
    found = changes_since.line(evidence)
    since = (found,) if found else ()
    said = evidence.release.revision
    if not said:
        return since or ("The maker names no earlier version.",)
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
        ("When to stop", declared.stop_rule),
    )
    return tuple((label, _whole_sentences(text or NOT_SAID)) for label, text in asked)
