"""How much each site looks like the data that the model was made from."""

from __future__ import annotations

from functools import partial

from dossier.core import multiplicity
from dossier.core.bands import ALIKE, PSI_OF_ONE_POPULATION, SIMILARITIES, SUPPORT
from dossier.core.facts import gathered
from dossier.core.types import DatasetSummary, Estimate, Evidence
from dossier.report.chapters.chapter import chapter, measured, predictors_on_both_sides
from dossier.report.chapters.sentence import Sentence, estimated, sites_without
from dossier.typeset.numbers import number, short
from dossier.typeset.words import (
    SIMILARITY_FORM,
    listing,
    named_or_counted,
    sentence_case,
    span,
    within_sentence,
)


def finding(evidence: Evidence) -> Sentence:
    """How like the development data the sites are, averaged and by the test, and what else tells them apart."""
    known = {form: estimated(evidence, measure) for form, measure in SIMILARITIES.items()}
    given = [_values(evidence, form, sites) for form, sites in known.items() if sites]
    if not given:
        return Sentence("At no external site can similarity to the development data be computed.")
    rest = (
        *given[1:],
        _apart_all_the_same(evidence, known["averaged"]),
        sites_without(evidence, SIMILARITIES["averaged" if known["averaged"] else "psi"]),
    )
    return Sentence(given[0], " ".join(part for part in rest if part))


Sites = list[tuple[DatasetSummary, Estimate]]


def _values(evidence: Evidence, form: str, sites: Sites) -> str:
    """Between which values a form of similarity lies, and how it is read."""
    runs = span(lambda each: short(evidence, SIMILARITIES[form], each, (SUPPORT,)), [found.value for _, found in sites])
    where = f" at {sites[0][0].site}" if len(sites) == 1 else ""
    name = SIMILARITY_FORM[form]
    return f"{sentence_case(name)} is {runs}{where} ({READ[form]})."


READ = {"averaged": f"{ALIKE:g}: alike", "psi": PSI_OF_ONE_POPULATION}
"""How a value of each form is read."""


def _apart_all_the_same(evidence: Evidence, sites: Sites) -> str:
    """Which sites other measures tell from the development data, whatever the average says."""
    by = gathered((multiplicity.told_apart(evidence, site.name), site.site) for site, _ in sites)
    said = [f"{how} {named_or_counted(by[kind], 2)} apart" for kind, how in TELLS.items() if kind in by]
    return f"An average of 0.50 means alike, yet {listing(said)}." if said else ""


TELLS = {"classifier": "a classifier tells", "distances": "the energy test tells"}
"""What tells the patients of a site from those of the development."""


def draws(evidence: Evidence) -> str:
    """How many rows were compared where a table has more, and what leaving the others to chance adds to the error."""
    sentences = []
    for term in (term for term in evidence.terms.values() if term.chapter == "correspondence"):
        drawn = [found for _, found in estimated(evidence, term.name) if "sampling_error" in found.details]
        if drawn:
            most = max(max(found.n, found.details["development_n"] or 0) for found in drawn)
            errors = [found.details["sampling_error"] or 0.0 for found in drawn]
            error = span(partial(number, digits=term.digits + 1), errors)
            sentences.append(f"{within_sentence(term.label)}, at most {most:,.0f} a side (standard error {error})")
    if not sentences:
        return ""
    return f"Larger tables are compared by rows that the seed draws, which adds an error: {'; '.join(sentences)}."


CHAPTER = chapter(
    "correspondence",
    finding,
    measured("correspondence"),
    is_given=lambda evidence: predictors_on_both_sides(evidence) or bool(evidence.release.declared_correspondence),
)
