"""What the run itself holds against its results."""

from __future__ import annotations

from dossier.findings.sentence import Sentence
from dossier.types import Evidence
from dossier.typeset import counted


def finding(evidence: Evidence) -> Sentence:
    """How many limitations were raised by the run, and at how many sites."""
    flags = evidence.flags
    if not flags:
        return Sentence("The run raised no limitation by itself.")
    return Sentence(
        f"The run raised {counted(len(flags), 'limitation')} by itself.",
        "Each stands below with its numbers.",
    )
