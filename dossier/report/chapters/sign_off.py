"""Who signs this dossier, when, and what the signature says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dossier.core.types import Evidence
from dossier.report.chapters.chapter import chapter, is_checked
from dossier.report.chapters.sentence import Sentence
from dossier.typeset.words import date, in_words, sentence_case

if TYPE_CHECKING:
    from dossier.core.release import Signatory

ROLES = (
    ("Author of the evaluation", "This dossier says what was done."),
    ("Statistician", "I checked the analysis."),
    ("Clinical owner", "I know the limitations, and answer for the use."),
    ("Quality assurance", "The dossier was made by the process that is laid down."),
)
"""Who signs where the release names nobody, and what the signature then says."""


def finding(evidence: Evidence) -> Sentence:
    """How many signatures are required, and by what this dossier is known."""
    count = len(evidence.release.signatory) or len(ROLES)
    return Sentence(
        f"{sentence_case(in_words(count))} {'signature is' if count == 1 else 'signatures are'} required.",
        "Each binds to the results whose SHA-256 is given below.",
    )


def lines(evidence: Evidence) -> list[tuple[str, str, str, str]]:
    """Name, role, meaning and date of each signature; blank where the release names nobody."""
    named = evidence.release.signatory
    return [_line(signatory) for signatory in named] if named else [("", role, meaning, "") for role, meaning in ROLES]


def _line(signatory: Signatory) -> tuple[str, str, str, str]:
    return (signatory.name, signatory.role, signatory.meaning, "" if signatory.date is None else date(signatory.date))


CHAPTER = chapter("sign_off", finding, is_checked)
