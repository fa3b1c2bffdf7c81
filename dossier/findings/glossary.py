"""How the terms are explained."""

from __future__ import annotations

from dossier.findings.sentence import Sentence
from dossier.types import Estimate, Evidence, Term
from dossier.typeset import in_words, sentence_case


def finding(evidence: Evidence) -> Sentence:
    """How many measures this dossier uses."""
    return Sentence(
        f"{sentence_case(in_words(len(used(evidence))))} measures are used, each explained in one sentence.",
        "Core measures carry the judgement, supporting ones explain it, descriptive ones are read in pairs.",
    )


def used(evidence: Evidence) -> list[Term]:
    """The terms that at least one estimate of this dossier carries, in alphabetical order."""
    seen = {result.term for result in evidence.results if isinstance(result.found, Estimate)}
    return sorted((term for name, term in evidence.terms.items() if name in seen), key=lambda term: term.label.lower())
