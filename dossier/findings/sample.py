"""Whether there were enough patients for the precision that the release asks for."""

from __future__ import annotations

from collections.abc import Iterator

from dossier.findings import classes
from dossier.findings.sentence import Sentence, estimated, primary_threshold
from dossier.types import Absent, DatasetSummary, Evidence, externals, find
from dossier.typeset import (
    Cell,
    Column,
    Reasons,
    Row,
    Table,
    events_of,
    how_many,
    in_words,
    listing,
    number,
    sentence_case,
    threshold,
    within_sentence,
)

CRITERIA = {"mss_auroc": "AUROC", "mss_oe": "O/E", "mss_slope": "Slope", "mss_brier": "Brier score"}


def finding(evidence: Evidence) -> Sentence:
    """At how many sites the rows suffice for the AUROC, and which fall short."""
    if classes.labels(evidence):
        return _of_classes(evidence)
    sites = estimated(evidence, "mss_auroc")
    if not sites:
        return Sentence("The minimum sample size cannot be computed.")
    short = [site.site for site, found in sites if found.n < found.value]
    enough = len(sites) - len(short)
    if len(sites) == 1:
        verdict = "does not reach" if short else "reaches"
        return Sentence(f"{sites[0][0].site} {verdict} the size that the AUROC asks for.")
    lead = f"{sentence_case(how_many(enough))} of {in_words(len(sites))} {'site' if len(sites) == 1 else 'sites'} "
    lead += f"{'reaches' if enough == 1 else 'reach'} the size that the AUROC asks for."
    if not short:
        return Sentence(lead)
    who = listing(short) if len(short) <= 4 else f"{in_words(len(short))} sites"
    return Sentence(lead, f"Too few: {who}.")


def _of_classes(evidence: Evidence) -> Sentence:
    """For how many classes and sites the rows suffice for the AUROC of the class against the rest."""
    every = classes.by_class(evidence, "mss_auroc")
    if not every:
        return Sentence("The minimum sample size cannot be computed.")
    short = [one.named for one in every if one.found.n < one.found.value]
    lead = (
        f"For {in_words(len(every) - len(short))} of {in_words(len(every))} pairs of class and site there are as many "
        "patients as the AUROC asks for."
    )
    if not short:
        return Sentence(lead)
    return Sentence(lead, f"Too few: {listing(short) if len(short) <= 4 else f'{in_words(len(short))} pairs'}.")


def needed(evidence: Evidence) -> Table:
    """The patients that each criterion asks for beside those that there are; what is not reached stands out."""
    at = primary_threshold(evidence)
    reasons = Reasons(evidence)
    heads = [
        Column("Patients"),
        Column("Of the class" if classes.labels(evidence) else "Events"),
        *(Column(label) for label in CRITERIA.values()),
    ]
    heads += [] if at is None else [Column(f"Net benefit at {threshold(at)}")]
    return Table(
        name="table-sample",
        title="Patients needed by each criterion.",
        note="What a site has fewer patients than stands out. Net benefit is meant as its standardized form.",
        head="Site",
        columns=tuple(heads),
        rows=tuple(_rows(evidence, at, reasons)),
        footnotes=reasons.footnotes(),
    )


def _rows(evidence: Evidence, at: float | None, reasons: Reasons) -> Iterator[Row]:
    """A row a site, or of several classes a row each below the name of the site."""
    for site in externals(evidence):
        if not site.class_counts:
            yield Row(site.site, _needed(evidence, site, events_of(site, "0"), at, reasons, {}))
            continue
        yield Row(site.site, kind="group")
        for label, count in site.class_counts.items():
            yield Row(label, _needed(evidence, site, f"{count:,}", at, reasons, {"class": label}))


def _needed(
    evidence: Evidence,
    site: DatasetSummary,
    events: str,
    at: float | None,
    reasons: Reasons,
    which: dict[str, float | str],
) -> tuple[Cell, ...]:
    cells = [Cell(f"{site.n:,}"), Cell(events, kind="plain")]
    asked = [find(evidence, measure, site.name, **({} if measure == "mss_brier" else which)) for measure in CRITERIA]
    asked += [] if at is None else [find(evidence, "mss_snb", site.name, threshold=at, **which)]
    for found in asked:
        if isinstance(found, Absent):
            cells.append(reasons.cell(found))
        else:
            cells.append(Cell(number(found.value, 0), kind="alert" if found.value > site.n else "plain"))
    return tuple(cells)


def widths(evidence: Evidence) -> str:
    """The widths of interval that the release asks for."""
    asked = evidence.release.sample.width
    return listing([f"{within_sentence(evidence.terms[measure].label)} {width:g}" for measure, width in asked.items()])
