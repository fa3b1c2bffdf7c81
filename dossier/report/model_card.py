"""Evidence -> model-card.xml: the applied model card of the Coalition for Health AI, by its schema 0.2.

Every element that the schema demands is there, in its order and namespace: what the release does not declare says "Not
stated". The schema leaves the form of a ValueJson open; numbers stand in the form of its published examples
(`estimate_ci` with an interval, `single` without) and carry n, events and method as in results.json. The bibliography
is BibTeX, as its documentation asks.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from typing import Any

from dossier.core import checklist, types
from dossier.report.chapters import context
from dossier.typeset import flags, methods, reasons
from dossier.typeset.names import development, foretold, tested_version
from dossier.words import entries
from dossier.words.sources import source

OPEN = "Not stated"
SPACE = "https://mc.chai.org/v0.2/schema.xsd"

GROUPS: Mapping[str, str] = entries("pages")["card_metrics"]
"""The groups of key metrics, each with the measures that answer its goal."""


def text(evidence: types.Evidence) -> bytes:
    """model-card.xml to the byte."""
    card = ElementTree.Element("AppliedModelCard", {"xmlns": SPACE})
    _fill(card, _card(evidence))
    ElementTree.indent(card, " ")
    body: bytes = ElementTree.tostring(card, encoding="utf-8", xml_declaration=True)
    return body + b"\n"


def _fill(parent: ElementTree.Element, elements: Mapping[str, Any]) -> None:
    """Elements in their order; a text that is not declared says so."""
    for name, content in elements.items():
        for each in content if isinstance(content, list) else [content]:
            element = ElementTree.SubElement(parent, name)
            if isinstance(each, Mapping):
                _fill(element, each)
            else:
                element.text = each or OPEN


def _together(*texts: str | None) -> str | None:
    """What is declared of several texts, each a paragraph; None where none is."""
    return "\n\n".join(text for text in texts if text) or None


def _listed(texts: Sequence[str]) -> str | None:
    """Texts as a list of Markdown, which the card's text fields allow; None where there is none."""
    return "\n".join(f"- {text}" for text in texts) or None


def _card(evidence: types.Evidence) -> dict[str, Any]:
    """The card, element by element."""
    release, card, use = evidence.release.release, evidence.release.model_card, evidence.release.intended_use
    stated, care, output = evidence.statements, evidence.release.care, f"Gives the probability of {foretold(evidence)}."
    purpose = checklist.purpose(evidence)
    found = _listed([flags.flag_text(flag.fact, reasons.known_names(evidence)) for flag in evidence.flags])
    test = found and f"Found by the test:\n{found}"
    facts = {
        "OutcomesAndOutputs": _together(output, stated.get("8a")),
        "ModelType": card.architecture,
        "InputDataSource": stated.get("9b"),
        "OutputAndInputDataTypes": _together(card.inputs, "Output: a probability."),
        "DevelopmentDataCharacterization": card.development_data or development(evidence),
        "BiasMitigationApproaches": stated.get("14"),
        "OngoingMaintenance": _together(card.updates, care.monitoring, care.stop_rule),
    }
    open_to_all = {
        "FundingSource": stated.get("18a"),
        "ThirdPartyInformation": release.tester and f"Tested by {release.tester}.",
        "StakeholdersConsulted": stated.get("19"),
    }
    summary = f"{output} Version {tested_version(evidence)} was tested."
    # The sources of the measures as BibTeX.
    keys = sorted({key for term in evidence.terms.values() for key in term.cites})
    sources = enumerate((source(key).text for key in keys), start=1)
    return {
        "BasicInfo": {"ModelName": release.model, "ModelDeveloper": release.owner, "DeveloperContact": None},
        "ReleaseInfo": {
            "ReleaseStage": None,
            "ReleaseDate": None if release.date is None else release.date.isoformat(),
            "ReleaseVersion": release.version,
            "GlobalAvailability": None,
            "RegulatoryApproval": card.regulatory_status,
        },
        "ModelSummary": {"Summary": summary, "Keywords": {}},
        "UsesAndDirections": {
            "IntendedUseAndWorkflow": _together(purpose, card.workflow),
            "PrimaryIntendedUsers": use.users,
            "HowToUse": use.decision,
            "TargetedPatientPopulation": purpose,
            "CautionedOutOfScopeSettings": _listed(context.not_for(evidence)),
        },
        "Warnings": {
            "KnownRisksAndLimitations": _together(card.risks, card.failure_modes, card.out_of_distribution, test),
            "KnownBiasesOrEthicalConsiderations": stated.get("3c"),
            "ClinicalRiskLevel": None,
        },
        "TrustIngredients": {"AISystemFacts": facts, "TransparencyInformation": open_to_all},
        "KeyMetrics": {name: _group(evidence, name, measures.split()) for name, measures in GROUPS.items()},
        "Resources": {
            "EvaluationReferences": entries("pages")["metrics"]["resources"],
            "PeerReviewedPublications": None,
            "PatientConsentOrDisclosure": stated.get("17"),
        },
        "Bibliography": "\n".join(f"@misc{{source{number}, note = {{{source}}}}}" for number, source in sources),
    }


# ---- key metrics ----------------------------------------------------------------------------------------------------


def _group(evidence: types.Evidence, name: str, measures: Sequence[str]) -> dict[str, Any]:
    """One group of key metrics: its goal, its results and how they came about; the schema asks for one at least."""
    words, sites = entries("pages")["metrics"], types.externals(evidence)
    of_subgroups = name == "FairnessEquity"
    # These measures at declared settings: over all sites and at each external one, or in each subgroup of these.
    every = evidence.subgroups.results if of_subgroups else evidence.results
    names = {site.name for site in sites} | (set() if of_subgroups else {types.POOLED})
    here = (result for result in every if result.measure in measures and result.dataset in names)
    results = [result for result in here if (result.subset is not None) == of_subgroups and _is_plain(evidence, result)]
    unasked = of_subgroups and not evidence.release.subgroup
    none = {"kind": "absent", "reason": "no subgroup is declared" if unasked else "nothing could be estimated"}
    said = [{"Label": _label(evidence, result), "ValueJson": _value(result)} for result in results]
    return {
        "MetricGoal": words[name],
        "Results": {"MetricResult": said or [{"Label": OPEN, "ValueJson": json.dumps(none)}]},
        "Interpretation": words["interpretation"] if results else OPEN,
        "TestType": "External validation",
        "TestingDataDescription": f"External sites: {len(sites)}. Patients: {sum(site.n for site in sites)}.",
        "ValidationProcessAndJustification": evidence.statements.get("12e"),
    }


def _is_plain(evidence: types.Evidence, result: types.Result) -> bool:
    """Whether a number stands for the model itself, at a declared threshold where it needs one."""
    known = {"threshold", "class"}
    declared = evidence.release.thresholds.declared
    at = result.at.get("threshold")
    return isinstance(result.found, types.Estimate) and result.at.keys() <= known and (at is None or at in declared)


def _label(evidence: types.Evidence, result: types.Result) -> str:
    sites = {dataset.name: dataset.site for dataset in evidence.datasets} | {types.POOLED: "all sites, pooled"}
    settings = [f"{name} {value}" for name, value in sorted(result.at.items())]
    where = [sites.get(result.dataset, result.dataset), *([str(result.subset)] if result.subset else [])]
    return ", ".join((evidence.terms[result.term].label, *settings, *where))


def _value(result: types.Result) -> str:
    """The number with its interval and size; its level in per cent, as the card's examples have it."""
    found = result.found
    if not isinstance(found, types.Estimate):
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
        "method": methods.method_text(found.method),
    }
    if whole:
        value["level"] = None if found.level is None else round(100 * found.level, 6)
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
