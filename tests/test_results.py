"""Evidence -> results.json: the published schema, the letter of the contract, and not a bit lost on the way."""

from __future__ import annotations

import copy
import csv
import io
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dossier import evaluate, results, results_csv
from dossier.types import MODEL, READER_STUDY, Absent, Estimate, Evidence
from tests.reference.built import SHARED, hurried, needs_shared, study

KINDS: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
KNOWN = {
    "type", "const", "enum", "minimum", "exclusiveMinimum", "exclusiveMaximum", "items", "properties", "required",
    "additionalProperties", "title", "description", "$id", "$schema",
}  # fmt: skip


def faults(value: Any, schema: dict[str, Any], where: str = "results.json") -> list[str]:
    """Where a value departs from a JSON Schema; a word of the schema that is not understood here is a fault too."""
    found = [f"{where}: the schema says {word}" for word in schema.keys() - KNOWN]
    types = schema.get("type", [])
    allowed = [types] if isinstance(types, str) else types
    if allowed and not any(KINDS[name](value) for name in allowed):
        return [*found, f"{where}: {value!r} is not {allowed}"]
    if "const" in schema and value != schema["const"]:
        found.append(f"{where}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is not one of {schema['enum']}")
    if KINDS["number"](value):
        found += _out_of_range(value, schema, where)
    if isinstance(value, list) and "items" in schema:
        found += [
            fault for place, one in enumerate(value) for fault in faults(one, schema["items"], f"{where}[{place}]")
        ]
    if isinstance(value, dict):
        found += _of_an_object(value, schema, where)
    return found


def _out_of_range(value: float, schema: dict[str, Any], where: str) -> list[str]:
    inside = (
        value >= schema.get("minimum", -math.inf)
        and value > schema.get("exclusiveMinimum", -math.inf)
        and value < schema.get("exclusiveMaximum", math.inf)
    )
    return [] if inside else [f"{where}: {value} is out of range"]


def _of_an_object(value: dict[str, Any], schema: dict[str, Any], where: str) -> list[str]:
    properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
    found = [f"{where}: {name} is missing" for name in schema.get("required", []) if name not in value]
    for name, one in value.items():
        if name in properties:
            found += faults(one, properties[name], f"{where}.{name}")
        elif more is False:
            found.append(f"{where}: {name} is unknown")
        elif isinstance(more, dict):
            found += faults(one, more, f"{where}.{name}")
    return found


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    """The simulated release that holds a bit of everything; the numbers themselves do not matter here."""
    return evaluate.evidence(hurried(study("fixtures/knee"), bootstrap=2, permutations=9))


@pytest.fixture(scope="module")
def text(evidence: Evidence) -> str:
    return results.of(evidence).text().decode("utf-8")


@pytest.fixture(scope="module")
def document(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


# ---- the schema -----------------------------------------------------------------------------------------------------


def test_it_keeps_to_its_schema(document: dict[str, Any]) -> None:
    assert faults(document, results.schema()) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "dossier-results/2"),
        (("release", "level"), 1),
        (("release", "seed"), "1"),
        (("datasets", 0, "role"), "test"),
        (("datasets", 0, "n"), -1),
        (("datasets", 0, "events"), 1.5),
        (("datasets", 0, "nickname"), "x"),
        (("estimates", 0, "value"), "0.9"),
        (("estimates", 0, "value"), True),
        (("estimates", 0, "status"), "unknown"),
        (("estimates", 0, "more"), "a word where only numbers may stand"),
        (("curves", 0, "columns"), {"x": [0.1, "0.2"]}),
        (("surplus",), 1),
    ],
)
def test_the_schema_refuses(document: dict[str, Any], path: tuple[str | int, ...], value: Any) -> None:
    spoilt: Any = copy.deepcopy(document)
    inner = spoilt
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    assert len(faults(spoilt, results.schema())) == 1


@pytest.mark.parametrize("part", ["datasets", "description", "estimates", "curves", "flags"])
def test_the_schema_misses_every_key(document: dict[str, Any], part: str) -> None:
    items = results.schema()["properties"][part]["items"]
    # Only of a dataset that is too large to be read whole is there anything to say; predicted was not always recorded.
    optional = {"sampled", "predicted"} if part == "datasets" else set()
    assert items["properties"].keys() - set(items["required"]) == optional
    for name in items["required"]:
        spoilt = copy.deepcopy(document[part][:1])
        del spoilt[0][name]
        assert faults(spoilt, results.schema()["properties"][part]) == [f"results.json[0]: {name} is missing"]


# ---- the bytes ------------------------------------------------------------------------------------------------------


def test_keys_are_sorted_everywhere(text: str) -> None:
    def in_order(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        assert names == sorted(set(names))
        return dict(pairs)

    json.loads(text, object_pairs_hook=in_order)


def test_there_is_neither_nan_nor_infinity(text: str) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} stands in results.json")

    json.loads(text, parse_constant=refuse)


def test_it_is_utf_8_and_not_escaped(evidence: Evidence) -> None:
    about = evidence.release.release.model_copy(update={"model": "Modèle Łódź 膝"})
    named = replace(evidence, release=evidence.release.model_copy(update={"release": about}))
    assert "Modèle Łódź 膝".encode() in results.of(named).text()


def test_every_number_is_written_in_full(evidence: Evidence, document: dict[str, Any]) -> None:
    results = (*evidence.results, *evidence.subgroups.results)
    for result, row in zip(results, document["estimates"], strict=True):
        assert (row["measure"], row["dataset"], row["at"]) == (result.measure, result.dataset, dict(result.at))
        assert row["subset"] == result.subset
        if isinstance(result.found, Estimate):
            found = result.found
            assert (row["value"], row["low"], row["high"], row["se"]) == (found.value, found.low, found.high, found.se)
            assert {name: row[name] for name in found.details} == dict(found.details)


# ---- what a row says ------------------------------------------------------------------------------------------------


def test_what_is_absent_has_a_reason_and_no_number(evidence: Evidence, document: dict[str, Any]) -> None:
    absent = [row for row in document["estimates"] if row["status"] == "absent"]
    results = (*evidence.results, *evidence.subgroups.results)
    assert len(absent) == sum(isinstance(result.found, Absent) for result in results) > 0
    for row in absent:
        assert row["reason"]
        assert not row["reason"].endswith(".")
        assert {row[name] for name in ("value", "low", "high", "se", "level", "method", "n", "events")} == {None}


def test_what_is_estimated_has_a_value_and_its_interval_or_a_reason(document: dict[str, Any]) -> None:
    for row in document["estimates"]:
        if row["status"] != "estimated":
            continue
        assert row["value"] is not None, row
        assert row["method"], row
        assert (row["low"] is not None and row["high"] is not None) or row["reason"], row
        for bound, sign in (("low", 1), ("high", -1)):
            if row[bound] is not None:
                assert sign * (row["value"] - row[bound]) >= -1e-12, row


def test_a_result_is_named_once(document: dict[str, Any]) -> None:
    names = [
        (row["measure"], row["dataset"], row["subset"], json.dumps(row["at"], sort_keys=True))
        for row in document["estimates"]
    ]
    assert len(names) == len(set(names))


def test_every_dataset_of_a_row_is_described(document: dict[str, Any]) -> None:
    known = {one["name"] for one in document["datasets"]} | {"pooled", READER_STUDY, MODEL}
    for part in ("description", "estimates", "curves"):
        assert {row["dataset"] for row in document[part]} <= known


def test_curves_are_thin_and_even(document: dict[str, Any]) -> None:
    """At most 250 points, so that no patient can be read from them."""
    for row in document["curves"]:
        lengths = {len(column) for column in row["columns"].values()}
        if row["status"] == "absent":
            assert (lengths, bool(row["reason"])) == (set(), True)
        else:
            assert len(lengths) == 1, row["curve"]
            assert 1 <= max(lengths) <= 250, row["curve"]


# ---- the contract ---------------------------------------------------------------------------------------------------


def example() -> dict[str, Any]:
    """The example of results.json in the contract."""
    page = (SHARED / "interface.md").read_text(encoding="utf-8")
    block = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert block is not None
    found: dict[str, Any] = json.loads(block[1])
    return found


def said(row: dict[str, Any]) -> set[str]:
    """The keys of an example; a row that ends in "…" shows only some."""
    return row.keys() - {"…"}


@needs_shared
def test_the_contract_names_the_parts_and_the_release(document: dict[str, Any]) -> None:
    assert document.keys() == example().keys()
    assert document["schema"] == example()["schema"]
    assert document["release"].keys() == example()["release"].keys()
    assert [part for part, rows in document.items() if rows == []] == []


@needs_shared
@pytest.mark.parametrize("part", ["datasets", "description", "flags", "curves", "acceptance", "checklist"])
def test_the_contract_names_the_keys(document: dict[str, Any], part: str) -> None:
    (shown,) = example()[part]
    for row in document[part]:
        assert said(shown) <= row.keys()
    if part == "datasets":
        assert all(row["excluded"].keys() == shown["excluded"].keys() for row in document[part])


@needs_shared
def test_the_contract_names_the_keys_of_an_estimate(document: dict[str, Any]) -> None:
    for row in document["estimates"]:
        assert said(example()["estimates"][0]) <= row.keys()


EXAMPLES = range(8)


@needs_shared
def test_no_example_of_the_contract_is_left_out() -> None:
    assert len(example()["estimates"]) == len(EXAMPLES)


@needs_shared
@pytest.mark.parametrize("position", EXAMPLES)
def test_the_contract_names_the_measures(document: dict[str, Any], position: int) -> None:
    """Each example has its like: the same measure, the same names in `at`, its keys, its status, its null values."""
    shown = example()["estimates"][position]
    like = [
        row
        for row in document["estimates"]
        if row["measure"] == shown["measure"]
        and row["subset"] == shown["subset"]
        and row["at"].keys() == shown["at"].keys()
        and ("against" not in shown["at"] or row["at"] == shown["at"])
        and (row["dataset"] == "pooled") == (shown["dataset"] == "pooled")
        and row["status"] == shown.get("status", "estimated")
    ]
    assert like
    for row in like:
        assert said(shown) <= row.keys()
        if "tier" in shown:
            assert row["tier"] == shown["tier"]
        if shown["measure"] == "degree_of_correspondence":
            assert (row["value"], row["reason"]) == (None, f"{row['dataset']} has no predictors")


@needs_shared
def test_the_contract_names_the_curve(document: dict[str, Any]) -> None:
    (shown,) = example()["curves"]
    (row, *_) = (row for row in document["curves"] if row["curve"] == shown["curve"])
    assert row["columns"].keys() == shown["columns"].keys()


# ---- results.csv ----------------------------------------------------------------------------------------------------


def test_the_flat_table_holds_every_estimate_to_the_last_digit(evidence: Evidence) -> None:
    lines = list(csv.DictReader(io.StringIO(results_csv.text(results.of(evidence)).decode())))
    estimates = json.loads(results.of(evidence).text())["estimates"]
    assert len(lines) == len(estimates)
    for line, estimate in zip(lines, estimates, strict=True):
        assert (line["measure"], line["dataset"], line["status"]) == (
            estimate["measure"],
            estimate["dataset"],
            estimate["status"],
        )
        for name in ("value", "low", "high", "se", "p_value", "prediction_low"):
            told = estimate.get(name)
            assert (None if line[name] == "" else float(line[name])) == told
        settings = dict(part.split("=", 1) for part in line["at"].split(";") if part)
        assert settings == {name: str(value) for name, value in estimate["at"].items()}
