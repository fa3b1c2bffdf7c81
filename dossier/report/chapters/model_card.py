"""The model card: what the model is, for whom, how it did, and how it may fail, on two pages."""

from __future__ import annotations

from collections.abc import Mapping

from dossier.core.types import Evidence
from dossier.report.chapters import abstract, context, sentence
from dossier.report.chapters.chapter import chapter, is_checked
from dossier.typeset.names import development, foretold, tested_version
from dossier.typeset.numbers import threshold
from dossier.typeset.words import listing, sentence_case
from dossier.words import entries

OPEN = "Not stated in the release."
ENDS = (".", "!", "?", ":")
"""What ends a text that needs no full stop."""
CARD: Mapping[str, str] = entries("pages")["card"]


def finding(_: Evidence) -> sentence.Sentence:
    """Nothing: the answer is that of the first page, and what the model gives is a line of the card."""
    return sentence.NOTHING


def about(evidence: Evidence) -> list[tuple[str, str, bool]]:
    """What the model is and for whom: label, text, and whether nothing was stated."""
    release, tested = evidence.release, tested_version(evidence)
    about, use = release.release, release.intended_use
    at = [threshold(each) for each in release.thresholds.declared]
    not_for = (f"{sentence_case(text.strip().rstrip('.'))}." for text in context.not_for(evidence))
    other = "" if tested == about.version else f". Version {tested} was tested: the numbers of this card are its own."
    return [
        _line("Model and version", f"{about.model} {about.version}{other}"),
        _line("Owner", about.owner),
        _line("Intended use", use.for_ or abstract.in_full(evidence, "3b")),
        _line("Not for", " ".join(not_for) or None),
        _line("Users", use.users),
        _line("Decision", use.decision),
        _line("Output", f"Probability of {foretold(evidence)}" + (f"; acted on at {listing(at)}" if at else "") + "."),
    ]


def stated(evidence: Evidence) -> list[tuple[str, str, bool]]:
    """What no data can show, as the release states it."""
    card = evidence.release.model_card
    said = {label: getattr(card, key) for key, label in CARD.items()}
    said[CARD["architecture"]] = said[CARD["architecture"]] or abstract.in_full(evidence, "12c")
    said[CARD["inputs"]] = said[CARD["inputs"]] or abstract.in_full(evidence, "9b")
    sources = abstract.in_full(evidence, "5a")
    made_from = card.development_data or development(evidence)
    # Without a development table the text on all sources is the nearest: it speaks of the test's data too.
    of = ("Sources of data", sources) if made_from is None and sources else ("Development data", made_from)
    return [_line(label, text) for label, text in (*said.items(), of)]


def _line(label: str, text: str | None) -> tuple[str, str, bool]:
    return (label, OPEN, True) if text is None else (label, text if text.endswith(ENDS) else f"{text}.", False)


CHAPTER = chapter("model_card", finding, is_checked)
