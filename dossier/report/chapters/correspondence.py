"""How much each site looks like the data that the model was made from."""

from __future__ import annotations

from dossier.core.bands import SIMILARITIES, SUPPORT
from dossier.core.types import Absent, DatasetSummary, Estimate, Evidence, find
from dossier.report.chapters.chapter import Chapter, measured, predictors_on_both_sides
from dossier.report.chapters.sentence import Sentence, estimated, named_or_counted, sites_without
from dossier.typeset.numbers import number, short
from dossier.typeset.words import SIMILARITY_FORM, how_many, in_words, listing, within_sentence

LOW_SIMILARITY = 0.4
"""Up to this averaged similarity a site is said to differ already."""

CLEARLY_APART = 0.7
"""From this membership AUROC on, with an interval above that of chance, the tables can be distinguished."""
CHANCE = 0.5
SMALL_P = 0.05


def finding(evidence: Evidence) -> Sentence:
    """How many sites are unlike the development data by the form of similarity that the release chooses, and by the
    other.
    """
    chosen = evidence.release.robustness.similarity
    forms = sorted(SIMILARITIES, key=lambda form: form != chosen)
    known = {form: sites for form in forms if (sites := estimated(evidence, SIMILARITIES[form]))}
    if not known:
        return Sentence("At no external site can similarity to the development data be computed.")
    first, *others = known
    lead = f"By {SIMILARITY_FORM[first]} {_who_is_unlike(known[first])}"
    lead += "".join(f", by {SIMILARITY_FORM[form]} {_how_many(known[form], known[first])}" for form in others)
    spans = listing([_span(evidence, form, known[form]) for form in known])
    rest = (
        f"Unlike the development data: below {SUPPORT:g} ({spans}).",
        _apart_all_the_same(evidence, known.get("averaged", [])),
        sites_without(evidence, SIMILARITIES[first]),
    )
    return Sentence(f"{lead}.", " ".join(part for part in rest if part))


Sites = list[tuple[DatasetSummary, Estimate]]


def _span(evidence: Evidence, form: str, sites: Sites) -> str:
    """A form of similarity, and between which values it lies."""
    low, high = (short(evidence, SIMILARITIES[form], sites[end][1].value, (SUPPORT,)) for end in (0, -1))
    return f"{SIMILARITY_FORM[form]} {low if low == high else f'{low} to {high}'}"


def _unlike(sites: Sites) -> int:
    return sum(found.value < SUPPORT for _, found in sites)


def _who_is_unlike(sites: Sites) -> str:
    """How many of the sites are unlike the development data."""
    count, of = _unlike(sites), len(sites)
    if of == 1:
        return f"{sites[0][0].site} is {'unlike' if count else 'not unlike'}"
    return f"{'both' if count == of == 2 else _of(count, of)} sites {'is' if count < 2 else 'are'} unlike"


def _how_many(sites: Sites, before: Sites) -> str:
    """The same in short, behind a clause on these sites or on others."""
    count, of = _unlike(sites), len(sites)
    if of != len(before):
        return _of(count, of)
    if of == 1:
        return "it is" if count else "it is not"
    return how_many(count) if count < of else "both" if of == 2 else "all"


def _of(count: int, of: int) -> str:
    return f"all {in_words(of)}" if count == of > 2 else f"{how_many(count)} of {in_words(of)}"


def _apart_all_the_same(evidence: Evidence, sites: Sites) -> str:
    """Which sites other measures tell apart though the averaged form calls some of them alike."""
    if not _denied(evidence, [site for site, found in sites if found.value > LOW_SIMILARITY]):
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
        low, high = (number(end([found.value for _, found in members])) for end in (min, max))
        auroc = low if low == high else f"{low} to {high}"
        sentences.append(
            f"a classifier tells {named_or_counted([each.site for each in classified], 2)} apart (AUROC {auroc})"
        )
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
            low, high = (number(end(errors), term.digits + 1) for end in (min, max))
            error = low if low == high else f"{low} to {high}"
            sentences.append(f"{within_sentence(term.label)}, at most {most:,.0f} a side (standard error {error})")
    if not sentences:
        return ""
    return f"Larger tables are compared by rows that the seed draws, which adds an error: {'; '.join(sentences)}."


CHAPTER = Chapter(
    "correspondence",
    "Similarity to development data",
    finding,
    has=measured("correspondence"),
    fill="Give predictors in a development dataset and in an external one.",
    is_given=lambda evidence: predictors_on_both_sides(evidence) or bool(evidence.release.declared_correspondence),
)
