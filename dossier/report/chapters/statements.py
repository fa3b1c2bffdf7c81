"""What the release declares in words, row by row of the checklist."""

from __future__ import annotations

from collections.abc import Mapping

from dossier.core import tripod, types
from dossier.report.chapters import abstract, sentence
from dossier.report.chapters.chapter import chapter


def finding(evidence: types.Evidence) -> sentence.Sentence:
    """Whose words these are."""
    return sentence.Sentence("The texts of this chapter are the author's.", "Nobody but the author answers for them.")


def texts(evidence: types.Evidence) -> Mapping[tripod.Item, str]:
    """Every declared text that the abstract does not print whole."""
    elsewhere = abstract.printed_whole(evidence)
    here = (item for item in tripod.ITEMS if item.number in evidence.statements and item.number not in elsewhere)
    return {item: evidence.statements[item.number] for item in here}


CHAPTER = chapter("statements", finding, lambda evidence: bool(texts(evidence)))
