"""Whether performance holds up where the data differ."""

from __future__ import annotations

from dossier.findings.sentence import Sentence, estimated
from dossier.types import POOLED, Absent, DatasetSummary, Estimate, Evidence, externals, find
from dossier.typeset import (
    Cell,
    Column,
    Reasons,
    Row,
    Table,
    in_words,
    listing,
    named,
    number,
    sentence_case,
    setting,
)


def finding(evidence: Evidence) -> Sentence:
    """The strong potential robustness of each site on AUROC, the weak one where it exists, and who supports."""
    strong = estimated(evidence, "spr", measure="auroc")
    if not strong:
        return Sentence("Potential robustness cannot be computed.", _why(evidence))
    values = [f"{number(found.value)} in {site.site}" for site, found in strong]
    lead = f"Strong potential robustness on AUROC is {listing(values[:4])}."
    if len(values) > 4:
        lead = (
            f"Strong potential robustness on AUROC runs from {number(strong[0][1].value)} ({strong[0][0].site}) to "
            f"{number(strong[-1][1].value)} ({strong[-1][0].site})."
        )
    support = find(evidence, "externally_supported", POOLED)
    rest = _why(evidence)
    if isinstance(support, Estimate):
        count = int(support.value)
        rest = (
            f"{sentence_case(in_words(count))} {'site lies' if count == 1 else 'sites lie'} in the region of external "
            f"support. {rest}"
        )
    return Sentence(lead, rest)


def _why(evidence: Evidence) -> str:
    """How many sites are left out, and the reason of the first."""
    gaps = [(site, find(evidence, "spr", site.name, measure="auroc")) for site in externals(evidence)]
    left = [(site, found) for site, found in gaps if isinstance(found, Absent)]
    if not left:
        return ""
    reason = named(evidence, left[0][1].reason)
    others = f" (and {in_words(len(left) - 1)} more)" if len(left) > 1 else ""
    return f"Not for {left[0][0].site}{others}: {reason}."


def components(evidence: Evidence) -> Table:
    """SPR and WPR with the probabilities that they combine, measure by measure; sites without them carry the reason."""
    reasons = Reasons(evidence)
    rows: list[Row] = []
    for measure in dict.fromkeys(str(one.at["measure"]) for one in evidence.results if one.measure == "spr"):
        members = [_row(evidence, site, measure, reasons) for site in externals(evidence)]
        kept = [row for row in members if row is not None]
        rows += [Row(setting(measure), kind="group"), *kept] if kept else []
    return Table(
        name="table-robustness",
        title="Potential robustness and what it is made of.",
        note="P(s): similarity, psi. P(p): two-sided z test against the internal test. P(a): probability of "
        "reaching the minimum, taken from the worst refitted split unless declared. SPR combines P(p) with "
        "1 \N{MINUS SIGN} P(s), WPR P(a) with it, by Fisher\N{RIGHT SINGLE QUOTATION MARK}s method.",
        head="Site",
        columns=tuple(Column(label) for label in ("P(s)", "P(p)", "SPR", "Minimum", "P(a)", "WPR")),
        rows=tuple(rows),
        footnotes=reasons.footnotes(),
    )


def _row(evidence: Evidence, site: DatasetSummary, measure: str, reasons: Reasons) -> Row | None:
    """The row of one site, or None when it has neither SPR nor WPR on this measure."""
    strong = find(evidence, "spr", site.name, measure=measure)
    weak = _weak(evidence, site.name, measure)
    if isinstance(strong, Absent) and isinstance(weak, Absent):
        reasons.leave_out(f"{site.site} on {setting(measure)}", site.name, strong.reason)
        return None
    return Row(site.site, _components(strong, weak, reasons))


def _weak(evidence: Evidence, site: str, measure: str) -> Estimate | Absent:
    """WPR against the worst refitted split, or against the declared minimum where there are no splits."""
    tried = [find(evidence, "wpr", site, measure=measure, minimum=one) for one in ("worst_split", "declared")]
    return next((found for found in tried if isinstance(found, Estimate)), tried[0])


def _components(strong: Estimate | Absent, weak: Estimate | Absent, reasons: Reasons) -> tuple[Cell, ...]:
    empty = Cell("", kind="plain")
    if isinstance(strong, Absent):
        first = (empty, empty, reasons.cell(strong))
    else:
        first = (
            _probability(strong.details.get("p_similarity")),
            _probability(strong.details.get("p_performance")),
            Cell(number(strong.value)),
        )
    if isinstance(weak, Absent):
        return (*first, empty, empty, reasons.cell(weak))
    return (
        *first,
        _probability(weak.details.get("minimum_value")),
        _probability(weak.details.get("p_acceptable")),
        Cell(number(weak.value)),
    )


def _probability(value: float | None) -> Cell:
    return Cell("" if value is None else number(value), kind="plain")


def similarity_and_performance(evidence: Evidence) -> str:
    """Whether performance falls with similarity over the sites, or why that cannot be said."""
    found = find(evidence, "performance_against_similarity", POOLED, measure="auroc")
    if isinstance(found, Absent):
        return f"Performance against similarity over the sites: {named(evidence, found.reason)}."
    p_value = found.details.get("p_value")
    tested = "" if p_value is None else f", p {number(p_value)}"
    return f"Performance (AUROC) against similarity over {found.n} sites: Pearson r {number(found.value)}{tested}."
