"""Evidence -> model-card.xml: the applied model card of the Coalition for Health AI, by its schema 0.2.

Every element that the schema demands is there, in its order and namespace: what the release does not declare says "Not
stated". The schema leaves the form of a ValueJson open; numbers stand in the form of its published examples
(`estimate_ci` with an interval, `single` without) and carry n, events and method as in results.json. The bibliography
is BibTeX, as its documentation asks.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from typing import Any

from dossier.core.checklist import is_placeholder
from dossier.core.types import POOLED, Estimate, Evidence, Result, externals
from dossier.typeset.flags import flag_text
from dossier.typeset.methods import method_text
from dossier.typeset.names import development, foretold, tested_version
from dossier.words.sources import source

OPEN = "Not stated"
SPACE = "https://mc.chai.org/v0.2/schema.xsd"

GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "UsefulnessUsabilityEfficacy",
        "To find the patients with the outcome, and to be of more use than treating all or none.",
        ("auroc", "net_benefit_gain", "standardized_net_benefit", "sensitivity", "specificity"),
    ),
    (
        "FairnessEquity",
        "To work for each declared group of patients as for the others.",
        ("auroc", "oe_ratio", "net_benefit_gain"),
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
    card = ElementTree.Element("AppliedModelCard", {"xmlns": SPACE})
    _basic(card, evidence)
    _release(card, evidence)
    _summary(card, evidence)
    _uses(card, evidence)
    _warnings(card, evidence)
    _trust(card, evidence)
    metrics = ElementTree.SubElement(card, "KeyMetrics")
    for name, goal, measures in GROUPS:
        _group(metrics, evidence, name, goal, measures)
    _resources(card, evidence)
    _leaves(card, (("Bibliography", _bibliography(evidence)),))
    ElementTree.indent(card, " ")
    body: bytes = ElementTree.tostring(card, encoding="utf-8", xml_declaration=True)
    return body + b"\n"


def _leaves(parent: ElementTree.Element, pairs: Iterable[tuple[str, str | None]]) -> None:
    """Elements that hold one text each; what is not declared says so."""
    for name, content in pairs:
        ElementTree.SubElement(parent, name).text = content or OPEN


def _together(*texts: str | None) -> str | None:
    """What is declared of several texts, each a paragraph; None where none is."""
    return "\n\n".join(text for text in texts if text) or None


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
        ("GlobalAvailability", None),
        ("RegulatoryApproval", evidence.release.model_card.regulatory_status),
    )
    _leaves(ElementTree.SubElement(card, "ReleaseInfo"), pairs)


def _summary(card: ElementTree.Element, evidence: Evidence) -> None:
    parent = ElementTree.SubElement(card, "ModelSummary")
    _leaves(parent, (("Summary", f"Gives {_output(evidence)}. {_version(evidence)}"),))
    ElementTree.SubElement(parent, "Keywords")


def _output(evidence: Evidence) -> str:
    return f"the probability of {foretold(evidence)}"


def _version(evidence: Evidence) -> str:
    return f"Version {tested_version(evidence)} was tested."


def _uses(card: ElementTree.Element, evidence: Evidence) -> None:
    use = evidence.release.intended_use
    purpose = use.for_ or _declared(evidence, "3b")
    parent = ElementTree.SubElement(card, "UsesAndDirections")
    pairs = (
        ("IntendedUseAndWorkflow", _together(purpose, evidence.release.model_card.workflow)),
        ("PrimaryIntendedUsers", use.users),
        ("HowToUse", use.decision),
        ("TargetedPatientPopulation", purpose),
        ("CautionedOutOfScopeSettings", _listed(use.not_for)),
    )
    _leaves(parent, pairs)


def _declared(evidence: Evidence, item: str) -> str | None:
    """The whole text of a row of the checklist; None where nothing is said."""
    text = evidence.statements.get(item, "")
    return None if is_placeholder(text) else text


def _warnings(card: ElementTree.Element, evidence: Evidence) -> None:
    stated = evidence.release.model_card
    found = _listed([flag_text(flag.fact) for flag in evidence.flags])
    pairs = (
        (
            "KnownRisksAndLimitations",
            _together(
                stated.risks, stated.failure_modes, stated.out_of_distribution, found and f"Found by the test:\n{found}"
            ),
        ),
        ("KnownBiasesOrEthicalConsiderations", evidence.statements.get("3c")),
        ("ClinicalRiskLevel", None),
    )
    _leaves(ElementTree.SubElement(card, "Warnings"), pairs)


def _listed(texts: Sequence[str]) -> str | None:
    """Texts as a list of Markdown, which the card's text fields allow; None where there is none."""
    return "\n".join(f"- {text}" for text in texts) or None


def _trust(card: ElementTree.Element, evidence: Evidence) -> None:
    release, stated = evidence.release, evidence.statements
    parent = ElementTree.SubElement(card, "TrustIngredients")
    facts = (
        ("OutcomesAndOutputs", _together(f"Gives {_output(evidence)}.", stated.get("8a"))),
        ("ModelType", release.model_card.architecture),
        ("InputDataSource", stated.get("9b")),
        ("OutputAndInputDataTypes", _together(release.model_card.inputs, "Output: a probability.")),
        ("DevelopmentDataCharacterization", release.model_card.development_data or development(evidence)),
        ("BiasMitigationApproaches", stated.get("14")),
        ("OngoingMaintenance", _together(release.model_card.updates, release.care.monitoring, release.care.stop_rule)),
    )
    _leaves(ElementTree.SubElement(parent, "AISystemFacts"), facts)
    tester = release.release.tester
    open_to_all = (
        ("FundingSource", stated.get("18a")),
        ("ThirdPartyInformation", tester and f"Tested by {tester}."),
        ("StakeholdersConsulted", stated.get("19")),
    )
    _leaves(ElementTree.SubElement(parent, "TransparencyInformation"), open_to_all)


def _resources(card: ElementTree.Element, evidence: Evidence) -> None:
    pairs = (
        ("EvaluationReferences", "The validation dossier beside this file; every number stands in its results.json."),
        ("PeerReviewedPublications", None),
        ("PatientConsentOrDisclosure", evidence.statements.get("17")),
    )
    _leaves(ElementTree.SubElement(card, "Resources"), pairs)


def _bibliography(evidence: Evidence) -> str:
    """The sources of the measures as BibTeX."""
    keys = sorted({key for term in evidence.terms.values() for key in term.cites})
    sources = enumerate((source(key).text for key in keys), start=1)
    return "\n".join(f"@misc{{source{number}, note = {{{source}}}}}" for number, source in sources)


# ---- key metrics ----------------------------------------------------------------------------------------------------


def _group(parent: ElementTree.Element, evidence: Evidence, name: str, goal: str, measures: Sequence[str]) -> None:
    """One group of key metrics: its goal, its results and how they came about."""
    group = ElementTree.SubElement(parent, name)
    _leaves(group, (("MetricGoal", goal),))
    results = _of_subgroups(evidence, measures) if name == "FairnessEquity" else _of_sites(evidence, measures)
    said = [(_label(evidence, result), _value(result)) for result in results] or [(OPEN, _none(evidence, name))]
    position = ElementTree.SubElement(group, "Results")
    for label, value in said:
        _leaves(ElementTree.SubElement(position, "MetricResult"), (("Label", label), ("ValueJson", value)))
    sites = externals(evidence)
    patients = sum(site.n for site in sites)
    pairs = (
        ("Interpretation", "The validation dossier beside this file interprets each number." if results else OPEN),
        ("TestType", "External validation"),
        ("TestingDataDescription", f"External sites: {len(sites)}. Patients: {patients}."),
        ("ValidationProcessAndJustification", evidence.statements.get("12e")),
    )
    _leaves(group, pairs)


def _none(evidence: Evidence, name: str) -> str:
    """Why a group of metrics has no result: the schema asks for one at least."""
    unasked = name == "FairnessEquity" and not evidence.release.subgroup
    reason = "no subgroup is declared" if unasked else "nothing could be estimated"
    return json.dumps({"kind": "absent", "reason": reason})


def _of_sites(evidence: Evidence, measures: Sequence[str]) -> list[Result]:
    """The estimates of these measures over all sites and at each external one, at declared settings only."""
    names = {POOLED, *(site.name for site in externals(evidence))}
    return [
        result
        for result in evidence.results
        if result.measure in measures
        and result.dataset in names
        and result.subset is None
        and _is_plain(evidence, result)
    ]


def _of_subgroups(evidence: Evidence, measures: Sequence[str]) -> list[Result]:
    """The estimates of these measures in each subgroup of each external site."""
    names = {site.name for site in externals(evidence)}
    found = (result for result in evidence.subgroups.results if result.measure in measures and result.dataset in names)
    return [result for result in found if _is_plain(evidence, result)]


def _is_plain(evidence: Evidence, result: Result) -> bool:
    """Whether a number stands for the model itself, at a declared threshold where it needs one."""
    known = {"threshold", "class"}
    declared = evidence.release.thresholds.declared
    at = result.at.get("threshold")
    return isinstance(result.found, Estimate) and result.at.keys() <= known and (at is None or at in declared)


def _label(evidence: Evidence, result: Result) -> str:
    sites = {dataset.name: dataset.site for dataset in evidence.datasets} | {POOLED: "all sites, pooled"}
    settings = [f"{name} {value}" for name, value in sorted(result.at.items())]
    where = [sites.get(result.dataset, result.dataset), *([str(result.subset)] if result.subset else [])]
    return ", ".join((evidence.terms[result.term].label, *settings, *where))


def _value(result: Result) -> str:
    """The number with its interval and size; its level in per cent, as the card's examples have it."""
    found = result.found
    if not isinstance(found, Estimate):
        raise TypeError("only estimates are listed")
    whole = found.low is not None and found.high is not None
    number = (
        {"kind": "estimate_ci", "estimate": float(found.value), "lower": found.low, "upper": found.high}
        if whole
        else {"kind": "single", "value": float(found.value)}
    )
    value: dict[str, Any] = number | {
        "measure": result.measure,
        "dataset": result.dataset,
        "n": found.n,
        "events": found.events,
        "method": method_text(found.method),
    }
    if whole:
        value["level"] = None if found.level is None else round(100 * found.level, 6)
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
