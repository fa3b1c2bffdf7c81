"""The model card: what the model is, for whom, how it did, and how it may fail, on two pages."""

from __future__ import annotations

from collections.abc import Mapping

from dossier.findings import classes
from dossier.findings.abstract import in_full
from dossier.findings.results import finding as first_finding
from dossier.findings.sentence import Sentence, estimated, pooled_of_two, primary_threshold
from dossier.types import POOLED, Estimate, Evidence, externals, find
from dossier.typeset.names import development, foretold, model, tested_version
from dossier.typeset.numbers import TIED, in_text, level_of, short, threshold
from dossier.typeset.tables import Cell, Column, Row, Table
from dossier.typeset.words import listing, sentence_case

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
}


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
        _line("Intended use", use.for_ or in_full(evidence, "3b")),
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
    said = {label: getattr(card, key) for key, label in CARD.items()}
    said[CARD["architecture"]] = said[CARD["architecture"]] or in_full(evidence, "12c")
    said[CARD["inputs"]] = said[CARD["inputs"]] or in_full(evidence, "9b")
    sources = in_full(evidence, "5a")
    made_from = card.development_data or development(evidence)
    # Without a development table the text on all sources is the nearest: it speaks of the test's data too.
    of = ("Sources of data", sources) if made_from is None and sources else ("Development data", made_from)
    return [_line(label, text) for label, text in (*said.items(), of)]


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
            (f"Net benefit over the better default at{TIED}{threshold(at)}, per 100", "net_benefit_gain", places),
            (f"Sensitivity at{TIED}{threshold(at)}", "sensitivity", places),
            (f"Specificity at{TIED}{threshold(at)}", "specificity", places),
        ]
    rows = [Row(label, _cells(evidence, measure, place)) for label, measure, place in asked]
    of = ""
    if classes.labels(evidence):
        of = " AUROC, sensitivity and specificity: mean of the classes; Brier: all classes, 0 to 2; others by class."
    return Table(
        name="table-model-card",
        title="Performance at the external sites.",
        note=f"Pooled with its {level_of(evidence)} interval where sites are pooled, and the range over the sites."
        f"{pooled_of_two(evidence)}{of}",
        head="Measure",
        columns=(Column("Pooled", words=True), Column("Lowest site", words=True), Column("Highest site", words=True)),
        rows=tuple(rows),
    )


def _cells(evidence: Evidence, measure: str, place: dict[str, float | str]) -> tuple[Cell, ...]:
    pooled = find(evidence, measure, POOLED, **place)
    sites = estimated(evidence, measure, **place)
    every = classes.by_class(evidence, measure, **place)
    if every and not sites:
        return tuple(Cell(text, kind="word") for text in ("class by class", *classes.ends(evidence, measure, every)))
    together = in_text(evidence, measure, pooled) if isinstance(pooled, Estimate) else "not pooled"
    if not sites:
        return (Cell(together, kind="word"), Cell("not estimated", kind="word"), Cell("", kind="word"))
    ends = [f"{short(evidence, measure, found.value)} ({site.site})" for site, found in (sites[0], sites[-1])]
    if len(externals(evidence)) == 1:
        ends = [in_text(evidence, measure, sites[0][1]), ""]
    return tuple(Cell(text, kind="word") for text in (together, *ends))


def gaps(evidence: Evidence) -> list[str]:
    """What was tested too little: another version, few sites, small or missing groups, predictors not recorded."""
    kinds = (
        "version_differs",
        "few_sites",
        "wide_prediction_interval",
        "missing_predictor",
        "few_events",
        "few_in_subgroup",
        "prevalence_shift",
        "case_mix_shift",
        "class_missing",
        "empty_subgroup",
    )
    return [sentence_case(flag.says) for kind in kinds for flag in evidence.flags if flag.flag == kind]
