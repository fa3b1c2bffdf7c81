"""How much each site looks like the data that the model was made from."""

from __future__ import annotations

from functools import partial

from dossier.core import bands, facts, multiplicity, types
from dossier.report.chapters import sentence
from dossier.report.chapters.chapter import chapter, measured, predictors_on_both_sides
from dossier.typeset import numbers, words


def finding(evidence: types.Evidence) -> sentence.Sentence:
    """How like the development data the sites are, averaged and by the test, and what else tells them apart."""
    known = {form: sentence.estimated(evidence, measure) for form, measure in bands.SIMILARITIES.items()}
    given = [_values(evidence, form, sites) for form, sites in known.items() if sites]
    if not given:
        return sentence.Sentence("At no external site can similarity to the development data be computed.")
    declared = [site.site for form in known for site, found in known[form] if found.method.has("declared_by")]
    # Which sites other measures tell from the development data, whatever the average says.
    by = facts.gathered((multiplicity.told_apart(evidence, site.name), site.site) for site, _ in known["averaged"])
    said = [f"{how} {words.named_or_counted(by[kind], 2)} from it" for kind, how in TELLS.items() if kind in by]
    rest = (
        sentence.phrase("data", "similarity_declared", sites=words.named_or_counted(declared, 2)) if declared else "",
        *given[1:],
        f"Whatever the average says of the development data, {words.listing(said)}." if said else "",
        sentence.sites_without(evidence, bands.SIMILARITIES["averaged" if known["averaged"] else "psi"]),
    )
    return sentence.Sentence(given[0], " ".join(part for part in rest if part))


Sites = list[tuple[types.DatasetSummary, types.Estimate]]


def _values(evidence: types.Evidence, form: str, sites: Sites) -> str:
    """Between which values a form of similarity lies, and how it is read."""
    runs = words.span(
        lambda each: numbers.short(evidence, bands.SIMILARITIES[form], each, (bands.SUPPORT,)),
        [found.value for _, found in sites],
    )
    where = f" at {sites[0][0].site}" if len(sites) == 1 else ""
    return f"{words.sentence_case(words.SIMILARITY_FORM[form])} is {runs}{where} ({READ[form]})."


READ = {"averaged": f"{bands.ALIKE:g}: alike", "psi": bands.PSI_OF_ONE_POPULATION}
"""How a value of each form is read."""


TELLS = {"classifier": "a classifier tells", "distances": "the energy test tells"}
"""What tells the patients of a site from those of the development."""


def draws(evidence: types.Evidence) -> str:
    """How many rows were compared where a table has more, and what leaving the others to chance adds to the error."""
    sentences = []
    for term in (term for term in evidence.terms.values() if term.chapter == "correspondence"):
        drawn = [found for _, found in sentence.estimated(evidence, term.name) if "sampling_error" in found.details]
        if drawn:
            most = max(max(found.n, found.details["development_n"] or 0) for found in drawn)
            errors = [found.details["sampling_error"] or 0.0 for found in drawn]
            error = words.span(partial(numbers.number, digits=term.digits + 1), errors)
            sentences.append(
                f"{words.within_sentence(term.label)}, at most {most:,.0f} a side (standard error {error})"
            )
    if not sentences:
        return ""
    return f"Larger tables are compared by rows that the seed draws, which adds an error: {'; '.join(sentences)}."


CHAPTER = chapter(
    "correspondence",
    finding,
    measured("correspondence"),
    is_given=lambda evidence: predictors_on_both_sides(evidence) or bool(evidence.release.declared_correspondence),
)
