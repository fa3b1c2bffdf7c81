"""How much each site looks like the data that the model was made from."""

from __future__ import annotations

from functools import partial

from dossier.core.bands import ALIKE, PSI_OF_ONE_POPULATION, SIMILARITIES, SUPPORT
from dossier.core.types import Absent, DatasetSummary, Estimate, Evidence, find
from dossier.report.chapters.chapter import chapter, measured, predictors_on_both_sides
from dossier.report.chapters.sentence import Sentence, estimated, sites_without
from dossier.typeset.numbers import number, short
from dossier.typeset.words import (
    SIMILARITY_FORM,
    how_many,
    in_words,
    listing,
    named_or_counted,
    sentence_case,
    span,
    within_sentence,
)

CLEARLY_APART = 0.7
"""From this membership AUROC on, with an interval above that of chance, the tables can be distinguished."""
CHANCE = 0.5
SMALL_P = 0.05


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
    """Between which values a form of similarity lies, at how many sites it is low, and how it is read."""
    runs = span(lambda each: short(evidence, SIMILARITIES[form], each, (SUPPORT,)), [found.value for _, found in sites])
    below = sum(found.value < SUPPORT for _, found in sites)
    where = f" at {sites[0][0].site}" if len(sites) == 1 else f", below {SUPPORT:g} at {_of(below, len(sites))}"
    name = SIMILARITY_FORM[form]
    return f"{sentence_case(name)} is {runs}{where} ({READ[form]})."


READ = {"averaged": f"{ALIKE:g}: alike", "psi": PSI_OF_ONE_POPULATION}
"""How a value of each form is read."""


def _of(count: int, of: int) -> str:
    return f"all {in_words(of)} sites" if count == of > 2 else f"{how_many(count)} of {in_words(of)} sites"


def _apart_all_the_same(evidence: Evidence, sites: Sites) -> str:
    """Which sites other measures tell apart though the averaged form calls some of them alike."""
    if not _denied(evidence, [site for site, found in sites if found.value > SUPPORT]):
        return ""
    # Said of every site, or one that differs already would seem not to be distinguished.
    return f"An average of 0.50 means alike, yet {_denied(evidence, [site for site, _ in sites])}."


def _denied(evidence: Evidence, sites: list[DatasetSummary]) -> str:
    """Which of these sites other measures tell from the development data; empty for none."""
    members = [(site, found) for site in sites if (found := _apart_by_classifier(evidence, site)) is not None]
    classified = [site for site, _ in members]
    tested = [site for site in sites if site not in classified and _is_apart_by_distances(evidence, site)]
    sentences = []
    if members:
        auroc = span(number, [found.value for _, found in members])
        which = named_or_counted([each.site for each in classified], 2)
        sentences.append(f"a classifier tells {which} apart (AUROC {auroc})")
    if tested:
        sentences.append(f"the energy test tells {named_or_counted([dataset.site for dataset in tested], 2)} apart")
    return listing(sentences)


def _apart_by_classifier(evidence: Evidence, site: DatasetSummary) -> Estimate | None:
    """The membership AUROC of a site, where it clearly tells the site from the development data."""
    member = find(evidence, "membership_auroc", site.name)
    if isinstance(member, Absent) or member.low is None:
        return None
    return member if member.value >= CLEARLY_APART and member.low > CHANCE else None


def _is_apart_by_distances(evidence: Evidence, site: DatasetSummary) -> bool:
    """Whether the energy test finds a difference from the development data."""
    energy = find(evidence, "energy_coefficient", site.name)
    p_value = None if isinstance(energy, Absent) else energy.details.get("p_value")
    return p_value is not None and p_value < SMALL_P


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
