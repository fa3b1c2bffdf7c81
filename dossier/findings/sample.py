"""Whether there were enough patients for the precision that the release asks for."""

from __future__ import annotations

from dossier.findings.sentence import Sentence, estimated, primary_threshold
from dossier.types import Absent, DatasetSummary, Evidence, externals, find
from dossier.typeset import (
    Cell,
    Column,
    Reasons,
    Row,
    Table,
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
    sites = estimated(evidence, "mss_auroc")
    if not sites:
        return Sentence("The minimum sample size cannot be computed.")
    short = [site.site for site, found in sites if found.n < found.value]
    enough = len(sites) - len(short)
    if len(sites) == 1:
        verdict = "does not reach" if short else "reaches"
        return Sentence(f"{sites[0][0].site} {verdict} the size that the AUROC asks for.")
    lead = f"{sentence_case(in_words(enough))} of {in_words(len(sites))} {'site' if len(sites) == 1 else 'sites'} "
    lead += f"{'reaches' if enough == 1 else 'reach'} the size that the AUROC asks for."
    if not short:
        return Sentence(lead)
    who = listing(short) if len(short) <= 4 else f"{in_words(len(short))} sites"
    return Sentence(lead, f"Too few: {who}.")


def needed(evidence: Evidence) -> Table:
    """The patients that each criterion asks for beside those that there are; what is not reached stands out."""
    at = primary_threshold(evidence)
    reasons = Reasons(evidence)
    heads = [Column("Patients"), Column("Events"), *(Column(label) for label in CRITERIA.values())]
    heads += [] if at is None else [Column(f"Net benefit at {threshold(at)}")]
    return Table(
        name="table-sample",
        title="Patients needed by each criterion.",
        note="What a site has fewer patients than stands out. Net benefit is meant as its standardized form.",
        head="Site",
        columns=tuple(heads),
        rows=tuple(Row(site.site, _needed(evidence, site, at, reasons)) for site in externals(evidence)),
        footnotes=reasons.footnotes(),
    )


def _needed(evidence: Evidence, site: DatasetSummary, at: float | None, reasons: Reasons) -> tuple[Cell, ...]:
    cells = [Cell(f"{site.n:,}"), Cell(f"{site.events or 0:,}", kind="plain")]
    asked = [find(evidence, measure, site.name) for measure in CRITERIA]
    asked += [] if at is None else [find(evidence, "mss_snb", site.name, threshold=at)]
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
