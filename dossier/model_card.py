"""Evidence -> model-card.xml: the applied model card in the layout of the Coalition for Health AI (CHAI), version 0.2.

The official schema was not at hand: the structure follows its published description (sections, the three groups of key
metrics, results as repeated Label and ValueJson), and the tests hold it to that description. What the release does not
declare says "Not stated"; numbers stand as in results.json.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from typing import Any

from dossier.bibliography import SOURCES
from dossier.types import POOLED, Estimate, Evidence, Result, externals

OPEN = "Not stated"
VERSION = "0.2"

GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "UsefulnessUsabilityEfficacy",
        "To find the patients with the outcome, and to be of more use than treating all or none.",
        ("auroc", "net_benefit", "standardized_net_benefit", "sensitivity", "specificity"),
    ),
    (
        "FairnessEquity",
        "To work for each declared group of patients as for the others.",
        ("auroc", "oe_ratio", "net_benefit"),
    ),
    (
        "SafetyReliability",
        "To give risks that come true, at hospitals that did not make the model.",
        ("oe_ratio", "calibration_slope", "brier", "ici"),
    ),
)
"""The groups of key metrics, each with its goal and the measures that answer it."""


def text(evidence: Evidence) -> bytes:
    """model-card.xml to the byte."""
    card = ElementTree.Element("AppliedModelCard", {"version": VERSION})
    _basic(card, evidence)
    _release(card, evidence)
    _summary(card, evidence)
    _uses(card, evidence)
    _warnings(card, evidence)
    _trust(card, evidence)
    metrics = ElementTree.SubElement(card, "KeyMetrics")
    for name, goal, measures in GROUPS:
        _group(metrics, evidence, name, goal, measures)
    _leaves(ElementTree.SubElement(card, "Resources"), (("PeerReviewed", OPEN), ("Results", "results.json")))
    sources = sorted({SOURCES.get(key, key) for term in evidence.terms.values() for key in term.cites})
    _leaves(ElementTree.SubElement(card, "Bibliography"), (("Reference", one) for one in sources))
    ElementTree.indent(card, " ")
    body: bytes = ElementTree.tostring(card, encoding="utf-8", xml_declaration=True)
    return body + b"\n"


def _leaves(parent: ElementTree.Element, pairs: Iterable[tuple[str, str | None]]) -> None:
    """Elements that hold one text each; what is not declared says so."""
    for name, content in pairs:
        ElementTree.SubElement(parent, name).text = content or OPEN


def _basic(card: ElementTree.Element, evidence: Evidence) -> None:
    release = evidence.release.release
    pairs = (("ModelName", release.model), ("ModelDeveloper", release.owner), ("DeveloperContact", None))
    _leaves(ElementTree.SubElement(card, "BasicInfo"), pairs)


def _release(card: ElementTree.Element, evidence: Evidence) -> None:
    release = evidence.release.release
    pairs = (
        ("ReleaseStage", None),
        ("ReleaseDate", None if release.date is None else release.date.isoformat()),
        ("ReleaseVersion", release.version),
        ("TestedVersion", release.tested_version or release.version),
        ("RegulatoryApproval", evidence.release.model_card.regulatory_status),
    )
    _leaves(ElementTree.SubElement(card, "ReleaseInfo"), pairs)


def _summary(card: ElementTree.Element, evidence: Evidence) -> None:
    stated = evidence.release.model_card
    outcome = evidence.release.outcome
    horizon = f", {outcome.horizon}" if outcome.horizon else ""
    pairs = (
        ("Summary", f"Gives the probability of {outcome.name}{horizon}."),
        ("ModelType", stated.architecture),
        ("Inputs", stated.inputs),
        ("Output", f"Probability of {outcome.name}"),
    )
    _leaves(ElementTree.SubElement(card, "ModelSummary"), pairs)


def _uses(card: ElementTree.Element, evidence: Evidence) -> None:
    use = evidence.release.intended_use
    place = ElementTree.SubElement(card, "UsesAndDirections")
    pairs = (
        ("IntendedUseAndWorkflow", " ".join(filter(None, (use.for_, evidence.release.model_card.workflow)))),
        ("PrimaryUsers", use.users),
        ("HowToUse", use.decision),
    )
    _leaves(place, pairs)
    _leaves(place, (("CautionedOutOfScopeSettings", one) for one in use.not_for or (OPEN,)))


def _warnings(card: ElementTree.Element, evidence: Evidence) -> None:
    stated = evidence.release.model_card
    place = ElementTree.SubElement(card, "Warnings")
    pairs = (
        ("KnownRisksAndLimitations", stated.failure_modes),
        ("KnownBiasesOrEthicalConsiderations", None),
        ("ClinicalRiskLevel", stated.risks),
        ("OutOfDistribution", stated.out_of_distribution),
    )
    _leaves(place, pairs)
    _leaves(place, (("LimitationFoundByTheTest", flag.says) for flag in evidence.flags))


def _trust(card: ElementTree.Element, evidence: Evidence) -> None:
    release = evidence.release
    stated = evidence.statements
    pairs = (
        ("OutcomesAndOutputs", release.outcome.name),
        ("DevelopmentDataCharacterization", release.model_card.development_data),
        ("BiasMitigationApproaches", stated.get("14")),
        ("OngoingMaintenance", release.model_card.updates),
        ("Monitoring", release.care.monitoring),
        ("StopRule", release.care.stop_rule),
        ("FundingSource", stated.get("18a")),
        ("ThirdPartyInformation", release.release.tester),
        ("StakeholdersConsulted", stated.get("19")),
    )
    _leaves(ElementTree.SubElement(card, "TrustIngredients"), pairs)


# ---- key metrics ----------------------------------------------------------------------------------------------------


def _group(parent: ElementTree.Element, evidence: Evidence, name: str, goal: str, measures: Sequence[str]) -> None:
    """One group of key metrics: its goal, its results and how they came about."""
    group = ElementTree.SubElement(parent, name)
    _leaves(group, (("Goal", goal),))
    results = _of_subgroups(evidence, measures) if name == "FairnessEquity" else _of_sites(evidence, measures)
    for result in results:
        _leaves(
            ElementTree.SubElement(group, "Result"),
            (("Label", _label(evidence, result)), ("ValueJson", _value(result))),
        )
    sites = externals(evidence)
    patients = sum(site.n for site in sites)
    pairs = (
        ("Interpretation", "The validation dossier beside this file interprets each number." if results else OPEN),
        ("TestType", "External validation"),
        ("TestingDataDescription", f"{len(sites)} external sites, {patients} patients"),
        ("ValidationProcessAndJustification", evidence.statements.get("12e")),
    )
    _leaves(group, pairs)


def _of_sites(evidence: Evidence, measures: Sequence[str]) -> list[Result]:
    """The estimates of these measures over all sites and at each external one, at declared settings only."""
    names = {POOLED, *(site.name for site in externals(evidence))}
    return [
        one
        for one in evidence.results
        if one.measure in measures and one.dataset in names and one.subset is None and _is_plain(evidence, one)
    ]


def _of_subgroups(evidence: Evidence, measures: Sequence[str]) -> list[Result]:
    """The estimates of these measures in each subgroup of each external site."""
    names = {site.name for site in externals(evidence)}
    found = (one for one in evidence.subgroups.results if one.measure in measures and one.dataset in names)
    return [one for one in found if _is_plain(evidence, one)]


def _is_plain(evidence: Evidence, result: Result) -> bool:
    """Whether a number stands for the model itself, at a declared threshold where it needs one."""
    known = {"threshold", "class"}
    declared = evidence.release.thresholds.declared
    at = result.at.get("threshold")
    return isinstance(result.found, Estimate) and result.at.keys() <= known and (at is None or at in declared)


def _label(evidence: Evidence, result: Result) -> str:
    sites = {one.name: one.site for one in evidence.datasets} | {POOLED: "all sites, pooled"}
    settings = [f"{name} {value}" for name, value in sorted(result.at.items())]
    where = [sites.get(result.dataset, result.dataset), *([result.subset] if result.subset else [])]
    return ", ".join((evidence.terms[result.term].label, *settings, *where))


def _value(result: Result) -> str:
    """The number with its interval and size, as in results.json."""
    found = result.found
    if not isinstance(found, Estimate):
        raise TypeError("only estimates are listed")
    value: dict[str, Any] = {
        "measure": result.measure,
        "dataset": result.dataset,
        "value": float(found.value),
        "low": found.low,
        "high": found.high,
        "level": found.level,
        "n": found.n,
        "events": found.events,
        "method": found.method,
    }
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
