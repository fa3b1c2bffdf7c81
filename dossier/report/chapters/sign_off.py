"""Who signs this dossier, when, and what the signature says."""

from __future__ import annotations

from dossier.core.types import Evidence
from dossier.report.chapters.chapter import chapter, is_checked
from dossier.report.chapters.sentence import Sentence
from dossier.typeset.words import date, in_words, sentence_case
from dossier.words import entries

ROLES: dict[str, str] = entries("pages")["signatures"]
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
    signed = [(each.name, each.role, each.meaning, date(each.date) if each.date else "") for each in named]
    return signed or [("", role, meaning, "") for role, meaning in ROLES.items()]


CHAPTER = chapter("sign_off", finding, is_checked)
