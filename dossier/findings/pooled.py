"""What the sites say together, and what a new one may expect."""

from __future__ import annotations

from dossier.findings.sentence import (
    Sentence,
    estimated,
    not_pooled,
    of_two_sites,
    pooled_beside_the_sites,
    pooled_of_two,
    range_over_sites,
)
from dossier.types import MACRO, POOLED, Absent, Estimate, Evidence, Result, Term, find
from dossier.typeset.measures import cell
from dossier.typeset.numbers import bound_of, in_text, level_of, number
from dossier.typeset.tables import Cell, Column, Reasons, Row, Table
from dossier.typeset.words import named, sentence_case


def finding(evidence: Evidence) -> Sentence:
    """The pooled AUROC and O/E, with their prediction intervals."""
    auroc, ratio = find(evidence, "auroc", POOLED), find(evidence, "oe_ratio", POOLED)
    if isinstance(auroc, Absent):
        return Sentence(f"Sites are not pooled: {named(evidence, auroc.reason)}.")
    if of_two_sites(auroc):
        return _of_two(evidence, auroc)
    several = bool(evidence.release.outcome.classes)
    whose = "Pooled and averaged over the classes" if several else "Pooled"
    lead = f"{whose}, the AUROC is {in_text(evidence, 'auroc', auroc)}"
    lead += f" and O/E {in_text(evidence, 'oe_ratio', ratio)}." if isinstance(ratio, Estimate) else "."
    expected = [_expected(measure, found) for measure, found in (("AUROC", auroc), ("O/E", ratio))]
    known = [text for text in expected if text]
    if not known:
        return Sentence(lead, "With fewer than three sites, what a new one may expect is not estimated.")
    new = f"New site, expected range: {', '.join(known)} ({level_of(evidence)} prediction intervals)."
    return Sentence(lead, f"{new} {not_pooled(evidence)}".strip())


def _of_two(evidence: Evidence, auroc: Estimate) -> Sentence:
    """What the two sites say themselves, before what they say together, which has nearly no bounds."""
    sites = estimated(evidence, "auroc")
    averaged = ", averaged over the classes," if evidence.release.outcome.classes else ""
    lead = f"The AUROC{averaged} {range_over_sites(evidence, 'auroc', sites)}."
    return Sentence(
        lead,
        f"{pooled_beside_the_sites(evidence, auroc)} What a new site may expect is not estimated.",
    )


def _expected(label: str, found: Estimate | Absent) -> str:
    if isinstance(found, Absent):
        return ""
    low, high = found.details.get("prediction_low"), found.details.get("prediction_high")
    if low is None or high is None:
        return ""
    return sentence_case(f"{label} {number(low)} to {number(high)}")


def prediction(evidence: Evidence) -> Table:
    """Every pooled measure with its interval, what a new site may expect, and how far the sites differ."""
    reasons = Reasons(evidence)
    rows = []
    for result in evidence.results:
        if result.dataset != POOLED or evidence.terms[result.term].chapter == "pooled" or set(result.at) - {"class"}:
            continue
        if evidence.terms[result.term].chapter == "robustness":
            continue
        term, found = evidence.terms[result.term], result.found
        head = cell(found, term, reasons)
        rest = (Cell("", kind="plain"),) * 4 if isinstance(found, Absent) else _spread(found, term)
        rows.append(Row(sentence_case(term.label) + _which(result), (head, *rest)))
    return Table(
        name="table-pooled",
        title="Pooled over the external sites.",
        note=f"Value, {level_of(evidence)} interval of the mean and {level_of(evidence)} prediction interval. "
        "Tau: standard deviation between sites on the scale of pooling. I2: share of variance between sites."
        f"{pooled_of_two(evidence)}",
        head="Measure",
        columns=(
            Column("Mean", intervals=True),
            Column("New site"),
            Column("Sites"),
            Column("Tau"),
            Column("I2, %"),
        ),
        rows=tuple(rows),
        footnotes=reasons.footnotes(),
    )


def _which(result: Result) -> str:
    """The class of a result that is taken class by class."""
    label = result.at.get("class")
    return "" if label is None else ", mean of classes" if label == MACRO else f", {label}"


def _spread(found: Estimate, term: Term) -> tuple[Cell, ...]:
    low, high = found.details.get("prediction_low"), found.details.get("prediction_high")
    expected = (
        "not estimated"
        if low is None or high is None
        else f"{bound_of(low, term, found)} to {bound_of(high, term, found)}"
    )
    sites, tau, share = (found.details.get(name) for name in ("k", "tau", "i2"))
    return (
        Cell(expected, kind="plain"),
        Cell("" if sites is None else f"{sites:.0f}", kind="plain"),
        Cell("" if tau is None else number(tau), kind="plain"),
        Cell("" if share is None else number(share, 0, percent=True), kind="plain"),
    )
