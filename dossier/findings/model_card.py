"""The model card: what the model is, for whom, how it did, and how it may fail, on two pages."""

from __future__ import annotations

from collections.abc import Mapping

from dossier.checklist import is_placeholder
from dossier.findings import classes
from dossier.findings.abstract import first_sentences
from dossier.findings.results import finding as first_finding
from dossier.findings.sentence import Sentence, estimated, primary_threshold
from dossier.types import POOLED, Estimate, Evidence, externals, find
from dossier.typeset import (
    TIED,
    Cell,
    Column,
    Row,
    Table,
    foretold,
    in_text,
    level_of,
    listing,
    model,
    sentence_case,
    short,
    tested_version,
    threshold,
)

OPEN = "Not stated in the release."
CARD: Mapping[str, str] = {
    "architecture": "Architecture",
    "regulatory_status": "Regulatory status",
    "inputs": "Inputs",
    "workflow": "Workflow and standard of care",
    "failure_modes": "Known failures",
    "out_of_distribution": "Patients unlike those it knows",
    "risks": "Risks and what is done against them",
    "updates": "Updates",
    "development_data": "Development data",
}
STATED_UNDER: Mapping[str, str] = {"inputs": "9b", "development_data": "5a"}
"""The rows of the checklist whose texts fill a line that the card leaves open."""


def finding(evidence: Evidence) -> Sentence:
    """What the model gives, and the answer of the first page."""
    return Sentence(
        f"{sentence_case(model(evidence))} gives the probability of {foretold(evidence)}.",
        first_finding(evidence).lead,
    )


def about(evidence: Evidence) -> list[tuple[str, str, bool]]:
    """What the model is and for whom: label, text, and whether nothing was stated."""
    release = evidence.release
    use = release.intended_use
    at = [threshold(one) for one in release.thresholds.declared]
    return [
        _line("Model and version", _version(evidence)),
        _line("Owner", release.release.owner),
        _line("Intended use", use.for_ or _statement(evidence, "3b")),
        _line("Not for", " ".join(f"{sentence_case(text.strip().rstrip('.'))}." for text in use.not_for) or None),
        _line("Users", use.users),
        _line("Decision", use.decision),
        _line("Output", f"Probability of {foretold(evidence)}" + (f"; acted on at {listing(at)}" if at else "") + "."),
    ]


def _version(evidence: Evidence) -> str:
    """The released version, and the tested one where it is another."""
    about, tested = evidence.release.release, tested_version(evidence)
    other = "" if tested == about.version else f". Version {tested} was tested: the numbers of this card are its own."
    return f"{about.model} {about.version}{other}"


def stated(evidence: Evidence) -> list[tuple[str, str, bool]]:
    """What no data can show, as the release states it."""
    card = evidence.release.model_card
    said = {key: getattr(card, key) or _statement(evidence, STATED_UNDER.get(key, "")) for key in CARD}
    return [_line(label, said[key]) for key, label in CARD.items()]


def _statement(evidence: Evidence, item: str) -> str | None:
    """The first sentences of what the release says under a row of the checklist, if it says anything."""
    text = evidence.statements.get(item, "")
    return None if is_placeholder(text) else first_sentences(text)


def _line(label: str, text: str | None) -> tuple[str, str, bool]:
    return (label, OPEN, True) if text is None else (label, text, False)


def performance(evidence: Evidence) -> Table:
    """The essentials over all sites with their intervals, and the range over the sites."""
    at = primary_threshold(evidence)
    asked: list[tuple[str, str, dict[str, float | str]]] = [
        ("AUROC", "auroc", {}),
        ("Observed over expected events", "oe_ratio", {}),
        ("Calibration slope", "calibration_slope", {}),
        ("Brier score", "brier", {}),
    ]
    if at is not None:
        places: dict[str, float | str] = {"threshold": at}
        asked += [
            (f"Net benefit at{TIED}{threshold(at)}, per 100", "net_benefit", places),
            (f"Sensitivity at{TIED}{threshold(at)}", "sensitivity", places),
            (f"Specificity at{TIED}{threshold(at)}", "specificity", places),
        ]
    rows = tuple(Row(label, _cells(evidence, measure, place)) for label, measure, place in asked)
    of = " Mean of the classes, one against the rest; Brier: all classes, 0 to 2." if classes.labels(evidence) else ""
    return Table(
        name="table-model-card",
        title="Performance at the external sites.",
        note=f"Pooled with its {level_of(evidence)} interval where sites are pooled, and the range over the sites.{of}",
        head="Measure",
        columns=(Column("Pooled", words=True), Column("Lowest site", words=True), Column("Highest site", words=True)),
        rows=rows,
    )


def _cells(evidence: Evidence, measure: str, place: dict[str, float | str]) -> tuple[Cell, ...]:
    pooled = find(evidence, measure, POOLED, **place)
    sites = estimated(evidence, measure, **place)
    together = in_text(evidence, measure, pooled) if isinstance(pooled, Estimate) else "not pooled"
    if not sites:
        return (Cell(together, kind="word"), Cell("not estimated", kind="word"), Cell("", kind="word"))
    ends = [f"{short(evidence, measure, found.value)} ({site.site})" for site, found in (sites[0], sites[-1])]
    if len(externals(evidence)) == 1:
        ends = [in_text(evidence, measure, sites[0][1]), ""]
    return tuple(Cell(text, kind="word") for text in (together, *ends))


def gaps(evidence: Evidence) -> list[str]:
    """Who was tested too little: the limitations that speak of small or missing groups."""
    kinds = (
        "few_events",
        "few_in_subgroup",
        "missing_predictor",
        "prevalence_shift",
        "case_mix_shift",
        "class_missing",
        "empty_subgroup",
    )
    return [sentence_case(flag.says) for flag in evidence.flags if flag.flag in kinds]
