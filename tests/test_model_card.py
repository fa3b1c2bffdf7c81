"""The model card as XML, held to the schema 0.2 of the applied model card."""

from __future__ import annotations

import json
import math
import re
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from dossier.report import model_card
from tests.conftest import Book
from tests.estimated import present
from tests.reference.tables import REFERENCE

LAYOUT: Mapping[str, Sequence[str]] = tomllib.loads((REFERENCE / "model_card.toml").read_text(encoding="utf-8"))
SPACE = "{https://mc.chai.org/v0.2/schema.xsd}"
COUNTS = {"": (1, 1), "?": (0, 1), "+": (1, math.inf), "*": (0, math.inf)}


def faults(element: ElementTree.Element, part: str) -> list[str]:
    """Where an element departs from a part of the schema: a sequence of elements, each with its count."""
    if not part:
        return [] if len(element) == 0 and (element.text or "").strip() else [f"{element.tag} holds no text"]
    found: list[str] = []
    children = list(element)
    for asked in LAYOUT[part]:
        name, sign, inner = re.fullmatch(r"(\w+)([?+*]?):?(\w*)", asked).groups()  # type: ignore[union-attr]
        taken = 0
        while children and children[0].tag == SPACE + name:
            found += faults(children.pop(0), inner)
            taken += 1
        least, most = COUNTS[sign]
        if not least <= taken <= most:
            found.append(f"{element.tag} holds {taken} {name}")
    return found + [f"{element.tag} holds {child.tag} out of place" for child in children]


def broken(card: ElementTree.Element) -> list[str]:
    """Every fault of a card."""
    return faults(card, "Card") if card.tag == f"{SPACE}AppliedModelCard" else [f"{card.tag} is no card"]


def at(path: str) -> str:
    """A path of the card in its namespace."""
    return "/".join(SPACE + name for name in path.split("/"))


def of(book: Book) -> ElementTree.Element:
    """The card of a release."""
    return ElementTree.fromstring(model_card.text(book.evidence))


def test_the_card_has_the_layout(any_book: Book) -> None:
    assert broken(of(any_book)) == []


@pytest.mark.parametrize("path", ["BasicInfo", "KeyMetrics/FairnessEquity/MetricGoal", "Warnings/ClinicalRiskLevel"])
def test_a_card_without_a_part_is_noticed(knee: Book, path: str) -> None:
    card = of(knee)
    parent = card.find(at(path.rpartition("/")[0])) if "/" in path else card
    child = present(card.find(at(path)))
    present(parent).remove(child)
    assert broken(card) != []


def test_the_numbers_are_those_of_the_results(any_book: Book) -> None:
    known: dict[tuple[Any, ...], set[Any]] = {}
    for estimate in any_book.results["estimates"]:
        known.setdefault((estimate["measure"], estimate["dataset"]), set()).add(
            (estimate["value"], estimate["low"], estimate["high"], estimate["n"])
        )
    values = [json.loads(each.text or "") for each in of(any_book).iter(f"{SPACE}ValueJson")]
    assert any(value["kind"] == "estimate_ci" for value in values)
    for value in values:
        if value["kind"] == "absent":
            assert value["reason"]
            continue
        whole = value["kind"] == "estimate_ci"
        number = (value["estimate"], value["lower"], value["upper"]) if whole else (value["value"], None, None)
        assert (*number, value["n"]) in known[value["measure"], value["dataset"]]
        assert not whole or value["level"] == 100 * any_book.results["release"]["level"]


def test_what_is_declared_is_said_and_what_is_not_says_so(knee: Book, covid: Book) -> None:
    card = of(knee)
    release = knee.evidence.release
    assert card.findtext(at("BasicInfo/ModelName")) == release.release.model
    settings = card.findtext(at("UsesAndDirections/CautionedOutOfScopeSettings"))
    assert settings == "\n".join(f"- {text}" for text in release.intended_use.not_for)
    kind = at("TrustIngredients/AISystemFacts/ModelType")
    assert release.model_card.architecture in {None, card.findtext(kind)}
    assert covid.evidence.release.model_card.architecture is None
    assert of(covid).findtext(kind) == "Not stated"


def test_the_same_evidence_gives_the_same_bytes(knee: Book) -> None:
    assert model_card.text(knee.evidence) == model_card.text(knee.evidence)
