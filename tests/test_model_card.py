"""The model card as XML, held to the layout of the applied model card 0.2 by a schema of our own."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from dossier import model_card
from tests.conftest import Book

SCHEMA = """
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:element name="AppliedModelCard"><xs:complexType><xs:sequence>
 <xs:element name="BasicInfo"><xs:complexType><xs:sequence>
  <xs:element name="ModelName"/><xs:element name="ModelDeveloper"/><xs:element name="DeveloperContact"/>
 </xs:sequence></xs:complexType></xs:element>
 <xs:element name="ReleaseInfo"><xs:complexType><xs:sequence>
  <xs:element name="ReleaseStage"/><xs:element name="ReleaseDate"/><xs:element name="ReleaseVersion"/>
  <xs:element name="TestedVersion"/><xs:element name="RegulatoryApproval"/>
 </xs:sequence></xs:complexType></xs:element>
 <xs:element name="ModelSummary"><xs:complexType><xs:sequence>
  <xs:element name="Summary"/><xs:element name="ModelType"/><xs:element name="Inputs"/><xs:element name="Output"/>
 </xs:sequence></xs:complexType></xs:element>
 <xs:element name="UsesAndDirections"><xs:complexType><xs:sequence>
  <xs:element name="IntendedUseAndWorkflow"/><xs:element name="PrimaryUsers"/><xs:element name="HowToUse"/>
  <xs:element name="CautionedOutOfScopeSettings" maxOccurs="unbounded"/>
 </xs:sequence></xs:complexType></xs:element>
 <xs:element name="Warnings"><xs:complexType><xs:sequence>
  <xs:element name="KnownRisksAndLimitations"/><xs:element name="KnownBiasesOrEthicalConsiderations"/>
  <xs:element name="ClinicalRiskLevel"/><xs:element name="OutOfDistribution"/>
  <xs:element name="LimitationFoundByTheTest" minOccurs="0" maxOccurs="unbounded"/>
 </xs:sequence></xs:complexType></xs:element>
 <xs:element name="TrustIngredients"><xs:complexType><xs:sequence>
  <xs:element name="OutcomesAndOutputs"/><xs:element name="DevelopmentDataCharacterization"/>
  <xs:element name="BiasMitigationApproaches"/><xs:element name="OngoingMaintenance"/><xs:element name="Monitoring"/>
  <xs:element name="StopRule"/><xs:element name="FundingSource"/><xs:element name="ThirdPartyInformation"/>
  <xs:element name="StakeholdersConsulted"/>
 </xs:sequence></xs:complexType></xs:element>
 <xs:element name="KeyMetrics"><xs:complexType><xs:sequence>
  <xs:element name="UsefulnessUsabilityEfficacy" type="Group"/><xs:element name="FairnessEquity" type="Group"/>
  <xs:element name="SafetyReliability" type="Group"/>
 </xs:sequence></xs:complexType></xs:element>
 <xs:element name="Resources"><xs:complexType><xs:sequence>
  <xs:element name="PeerReviewed"/><xs:element name="Results"/>
 </xs:sequence></xs:complexType></xs:element>
 <xs:element name="Bibliography"><xs:complexType><xs:sequence>
  <xs:element name="Reference" maxOccurs="unbounded"/>
 </xs:sequence></xs:complexType></xs:element>
</xs:sequence></xs:complexType></xs:element>
<xs:complexType name="Group"><xs:sequence>
 <xs:element name="Goal"/>
 <xs:element name="Result" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
  <xs:element name="Label"/><xs:element name="ValueJson"/>
 </xs:sequence></xs:complexType></xs:element>
 <xs:element name="Interpretation"/><xs:element name="TestType"/><xs:element name="TestingDataDescription"/>
 <xs:element name="ValidationProcessAndJustification"/>
</xs:sequence></xs:complexType>
</xs:schema>"""
SPACE = "{http://www.w3.org/2001/XMLSchema}"


def faults(element: ElementTree.Element, rule: ElementTree.Element, schema: ElementTree.Element) -> list[str]:
    """Where an element breaks the rule that the schema has for it: a sequence of elements, each with its count."""
    kind = rule.find(f"{SPACE}complexType")
    if "type" in rule.attrib:
        kind = schema.find(f"{SPACE}complexType[@name='{rule.attrib['type']}']")
    if kind is None:
        return [] if len(element) == 0 and (element.text or "").strip() else [f"{element.tag} holds no text"]
    found: list[str] = []
    children = list(element)
    for part in kind.findall(f"{SPACE}sequence/{SPACE}element"):
        taken = 0
        while children and children[0].tag == part.attrib["name"]:
            found += faults(children.pop(0), part, schema)
            taken += 1
        most = part.get("maxOccurs", "1")
        if taken < int(part.get("minOccurs", "1")) or (most != "unbounded" and taken > int(most)):
            found.append(f"{element.tag} holds {taken} {part.attrib['name']}")
    return found + [f"{element.tag} holds {child.tag} out of place" for child in children]


def broken(card: ElementTree.Element) -> list[str]:
    """Every fault of a card."""
    schema = ElementTree.fromstring(SCHEMA)
    (root,) = schema.findall(f"{SPACE}element")
    return faults(card, root, schema) if card.tag == root.attrib["name"] else [f"{card.tag} is no card"]


def of(book: Book) -> ElementTree.Element:
    """The card of a release."""
    return ElementTree.fromstring(model_card.text(book.evidence))


def test_the_card_has_the_layout(any_book: Book) -> None:
    assert broken(of(any_book)) == []


@pytest.mark.parametrize("path", ["BasicInfo", "KeyMetrics/FairnessEquity/Goal", "Warnings/ClinicalRiskLevel"])
def test_a_card_without_a_part_is_noticed(knee: Book, path: str) -> None:
    card = of(knee)
    parent = card.find(path.rpartition("/")[0] or ".")
    child = card.find(path)
    assert parent is not None
    assert child is not None
    parent.remove(child)
    assert broken(card) != []


def test_the_numbers_are_those_of_the_results(any_book: Book) -> None:
    known: dict[tuple[Any, ...], set[Any]] = {}
    for one in any_book.results["estimates"]:
        known.setdefault((one["measure"], one["dataset"]), set()).add((one["value"], one["low"], one["high"], one["n"]))
    values = [json.loads(one.text or "") for one in of(any_book).iter("ValueJson")]
    assert values
    for one in values:
        assert (one["value"], one["low"], one["high"], one["n"]) in known[one["measure"], one["dataset"]]


def test_what_is_declared_is_said_and_what_is_not_says_so(knee: Book, covid: Book) -> None:
    card = of(knee)
    release = knee.evidence.release
    assert card.findtext("BasicInfo/ModelName") == release.release.model
    assert [one.text for one in card.iter("CautionedOutOfScopeSettings")] == list(release.intended_use.not_for)
    assert release.model_card.architecture in {None, card.findtext("ModelSummary/ModelType")}
    assert covid.evidence.release.model_card.architecture is None
    assert of(covid).findtext("ModelSummary/ModelType") == "Not stated"


def test_the_same_evidence_gives_the_same_bytes(knee: Book) -> None:
    assert model_card.text(knee.evidence) == model_card.text(knee.evidence)
