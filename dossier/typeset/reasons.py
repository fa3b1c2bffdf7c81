"""Why something is absent or has no bounds, in the words of a page: sites and measures as their readers know them."""

from __future__ import annotations

from dataclasses import replace

from dossier.core import facts, types
from dossier.core.reasons import DATASETS as DATASETS
from dossier.core.reasons import Names
from dossier.core.reasons import reason_text as reason_text
from dossier.typeset.words import within_sentence


def why(evidence: types.Evidence, fact: facts.Fact, beside: str | None = None) -> str:
    """A reason in which datasets and measures stand under the names that a reader knows."""
    return reason_text(fact, replace(known_names(evidence), beside=beside))


def known_names(evidence: types.Evidence) -> Names:
    """The sites of the datasets, and the labels of the measures whose names are no words."""
    labels = {term.measure: within_sentence(term.label) for term in evidence.terms.values() if "_" in term.measure}
    horizons = {each.at: each.says for each in evidence.release.horizon if each.says}
    return Names({dataset.name: dataset.site for dataset in evidence.datasets}, labels, horizons=horizons)
