"""What an update would do at each site, beside the model as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dossier.core import claims
from dossier.core.multiplicity import size_of_risks
from dossier.core.types import CHANGES, UPDATED, Absent, DatasetSummary, Estimate, Evidence, externals, find
from dossier.report.chapters import sentence
from dossier.report.chapters.acceptance import WORDS as STANDING
from dossier.report.chapters.chapter import chapter, measured
from dossier.typeset.measures import cell
from dossier.typeset.numbers import patients_needed, threshold
from dossier.typeset.tables import NOT_COMPUTED, Cell, Reasons, Row, Table, worded
from dossier.typeset.words import listing, named_or_counted
from dossier.words import entries

COEFFICIENTS, SIZES = ("updated_intercept", "updated_slope"), ("oe_ratio", "ici")
METHODS = entries("pages")["update"]
"""What each update is called."""
AS_IS, CLOSED_TEST = "", f"{UPDATED}closed_test"
"""The model as it is and the one that a test updates, by their names."""


def finding(evidence: Evidence) -> sentence.Sentence:
    """Which is the least update that is shown to set the risks right in size, at which sites."""
    sites = externals(evidence)
    of_sites = {site.site: _least(evidence, site) for site in sites}
    least = _by_kind("least_update", (*CHANGES, "closed_test", "none", "unknown"), of_sites)
    chosen = _by_kind("closed_test", CHANGES, {site.site: choice(evidence, site) for site in sites})
    counted = {site.site: find(evidence, "updated_coefficients", site.name, model=CLOSED_TEST) for site in sites}
    known = {site: found.details for site, found in counted.items() if isinstance(found, Estimate)}
    parted = {site: "otherwise" for site, each in known.items() if each["fewest"] != each["most"]}
    said = [f"The closed test {listing(chosen)}."] if chosen else []
    rest = [*least[1:], *said, *_by_kind("closed_test", ("otherwise",), parted)]
    return sentence.Sentence(least[0], " ".join(rest))


def _by_kind(section: str, kinds: Sequence[str], of_sites: Mapping[str, str | None]) -> list[str]:
    """What is said of the sites of each kind, kind by kind."""
    named = {kind: [site for site, found in of_sites.items() if found == kind] for kind in kinds}
    return [sentence.phrase(section, kind, sites=named_or_counted(sites)) for kind, sites in named.items() if sites]


def _least(evidence: Evidence, site: DatasetSummary) -> str:
    """The least change after which the risks of a site are shown to be right in size; none, or unknown without any."""
    if size_of_risks(evidence, site.name) == "shown":
        return CHANGES[0]
    for claim in claims.about(evidence, "updating", "hospital"):
        if claim.dataset == site.name and claim.state != "untested":
            return str(claim.at["model"]).removeprefix(UPDATED) if claim.state == "shown" else "none"
    return "unknown"


def choice(evidence: Evidence, site: DatasetSummary) -> str | None:
    """What the closed test changes at a site; None where it was not asked, or is not known."""
    found = find(evidence, "updated_coefficients", site.name, model=CLOSED_TEST)
    return CHANGES[int(found.value)] if isinstance(found, Estimate) else None


def _models(evidence: Evidence, site: DatasetSummary) -> Iterator[tuple[str, str]]:
    """The model as it is and each updated one, by its name and what it is called at a site."""
    yield AS_IS, METHODS["as_is"]
    for name in evidence.release.updates:
        label, chosen = METHODS[name.removeprefix(UPDATED)], choice(evidence, site)
        own = chosen if name == CLOSED_TEST else None
        yield name, sentence.phrase("update", "chosen", label=label, chosen=METHODS[own].lower()) if own else label


def _found(evidence: Evidence, measure: str, site: DatasetSummary, model: str, **at: float | str) -> Estimate | Absent:
    return find(evidence, measure, site.name, **({"model": model} if model else {}), **at)


def changes(evidence: Evidence) -> Table:
    """What each update changes, and how many patients it needs, site by site."""
    reasons, rows = Reasons(evidence), []
    for site in externals(evidence):
        rows.append(Row(site.site, kind="group"))
        for model, label in list(_models(evidence, site))[1:]:
            each = {evidence.terms[name]: _found(evidence, name, site, model) for name in COEFFICIENTS}
            cells = [NOT_COMPUTED if _is_kept(found) else cell(found, term, reasons) for term, found in each.items()]
            rows.append(Row(label, (*cells, _needed(evidence, site, model, reasons))))
    return worded("updating", rows, footnotes=reasons.footnotes())


def _is_kept(found: Estimate | Absent) -> bool:
    """Whether an update leaves a coefficient as it is: then nothing is computed of it."""
    return isinstance(found, Absent) and found.reason.code == "not_changed_by_update"


def _needed(evidence: Evidence, site: DatasetSummary, model: str, reasons: Reasons) -> Cell:
    """The patients of whom O/E, and the slope where that is new, are known as precisely as the release asks."""
    kept = [_is_kept(_found(evidence, name, site, model)) for name in COEFFICIENTS]
    if all(kept):
        return NOT_COMPUTED
    asked = [_found(evidence, "mss_oe", site, AS_IS)]
    asked += [] if kept[1] else [_found(evidence, "mss_slope", site, model)]
    absent = next((found for found in asked if isinstance(found, Absent)), None)
    known = [found.value for found in asked if isinstance(found, Estimate)]
    return Cell.plain(patients_needed(max(known))) if absent is None else reasons.cell(absent)


def sizes(evidence: Evidence) -> Table:
    """How the risks are in size before and after each update, site by site."""
    reasons, rows = Reasons(evidence), []
    for site in externals(evidence):
        rows.append(Row(site.site, kind="group"))
        for model, label in _models(evidence, site):
            cells = [cell(_found(evidence, name, site, model), evidence.terms[name], reasons) for name in SIZES]
            state = claims.after_update(evidence, site.name, model) if model else size_of_risks(evidence, site.name)
            rows.append(Row(label, (*cells, Cell.word(STANDING[state]))))
    return worded("updating-sizes", rows, footnotes=reasons.footnotes())


def decisions(evidence: Evidence) -> tuple[Table, ...]:
    """Who is flagged before and after, and what that is worth, at each declared threshold."""
    return tuple(_at(evidence, at) for at in evidence.release.thresholds.declared)


def _at(evidence: Evidence, at: float) -> Table:
    reasons, terms, rows = Reasons(evidence), evidence.terms, []
    for site in externals(evidence):
        rows.append(Row(site.site, kind="group"))
        for model, label in _models(evidence, site):
            cells = [
                cell(_found(evidence, name, site, model, threshold=at), terms[name], reasons)
                for name in ("sensitivity", "specificity", "net_benefit_gain")
            ]
            moved = _found(evidence, "reclassified", site, model, threshold=at) if model else None
            rows.append(Row(label, (*cells, *_moved(moved, reasons))))
    return worded("updating-decisions", rows, (), reasons.footnotes(), at=f"{at:g}", threshold=threshold(at))


def _moved(found: Estimate | Absent | None, reasons: Reasons) -> Iterator[Cell]:
    """The patients who come above the threshold and those who fall below it, with how many had the outcome."""
    if not isinstance(found, Estimate):
        yield from [NOT_COMPUTED if found is None else reasons.cell(found)] * 2
        return
    for name in ("newly_flagged", "no_longer_flagged"):
        patients, cases = (int(found.details.get(each) or 0) for each in (name, f"{name}_cases"))
        yield Cell.plain(f"{patients:,} ({cases:,})" if patients else "0")


CHAPTER = chapter("updating", finding, measured("updating"), is_given=lambda evidence: bool(evidence.release.updates))
