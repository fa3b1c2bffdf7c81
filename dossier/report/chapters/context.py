"""What the model is for, and where it was tested."""

from __future__ import annotations

from dossier.core import checklist
from dossier.core.types import Evidence, externals
from dossier.report.chapters.chapter import chapter
from dossier.report.chapters.sentence import Sentence
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


CHAPTER = chapter("context", finding)
