"""What the model is for, and where it was tested."""

from __future__ import annotations

from dossier.core import binding, checklist
from dossier.core.types import Evidence, externals
from dossier.report.chapters.chapter import chapter
from dossier.report.chapters.sentence import Sentence, named_with_the_rest, phrase
from dossier.typeset import names, words


def finding(evidence: Evidence) -> Sentence:
    """Which model, for which outcome, tested where."""
    sites = len(externals(evidence))
    where = f"{words.in_words(sites)} external {'dataset' if sites == 1 else 'datasets'}"
    tested = names.tested_version(evidence)
    which = "It" if tested == evidence.release.release.version else f"Version {tested}"
    purpose = "not stated" if checklist.purpose(evidence) is None else "stated by the author"
    return Sentence(
        f"The model gives the probability of {names.foretold(evidence)}.",
        f"{which} is tested here unchanged on {where}; the purpose is {purpose}.",
    )


def not_for(evidence: Evidence) -> list[str]:
    """Whom the model is not for, and the hospitals that the maker rules out, where the model is for others."""
    out = () if binding.is_for_nobody(evidence.release) else binding.ruled_out(evidence)
    where = named_with_the_rest([site.site for site in out], MOST_NAMED)
    return [*evidence.release.intended_use.not_for, *([phrase("data", "ruled_out", where=where)] if where else [])]


MOST_NAMED = 8
"""Hospitals that a list has room for."""


CHAPTER = chapter("context", finding)
