"""results.json: the whole evidence, read back without a bit lost; its published schema; the letter of the contract."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dossier import evaluate, reading
from dossier.command_line import initial
from dossier.core.errors import ReleaseError
from dossier.core.types import MODEL, READER_STUDY, Absent, CountRange, Estimate, Evidence, Subset, Withheld
from dossier.record import results, results_csv
from dossier.typeset.words import exclusion
from tests import reasons
from tests.canaries import plant
from tests.conftest import Book
from tests.estimated import present, refused
from tests.reference.built import hurried, study
from tests.reference.tables import REFERENCE
from tests.smallest import HEAD, QUICK, SITE


def faults(value: Any, schema: dict[str, Any]) -> list[str]:
    """Where a value departs from a JSON Schema."""
    Draft202012Validator.check_schema(schema)
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)]


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


# ---- the round trip -------------------------------------------------------------------------------------------------


def unchanged(evidence: Evidence) -> results.Results:
    """The results of evidence, which give that very evidence and these very bytes after being written and read.

    What the audit of small counts tells who releases them is for nobody else.
    """
    content = results.of(evidence).text()
    found = results.read(content)
    assert found.evidence == replace(evidence, audit=())
    assert found.text() == content
    assert results.of(found.evidence) == found
    return found


def test_every_release_is_read_back_without_a_bit_lost(any_book: Book) -> None:
    found = unchanged(any_book.evaluated)
    assert found.has_release_file
    assert found.previous is None


def test_what_is_withheld_is_read_back_as_withheld(tmp_path: Path) -> None:
    plant(tmp_path / "release", "[disclosure]\nminimum_cell = 10\n")
    evidence = evaluate.evidence(reading.study(tmp_path / "release"))
    found = unchanged(evidence)
    (large,) = (dataset for dataset in found.datasets if dataset.name == "large")
    assert isinstance(large.rows_read, CountRange)
    back = found.evidence
    assert all(
        isinstance(exclusion, CountRange) for dataset in back.datasets for exclusion in dataset.excluded.values()
    )
    assert [repr(dataset.n) for dataset in back.datasets] == [repr(dataset.n) for dataset in evidence.datasets]
    for given_out, read in (
        ([result.found for result in evidence.results], [result.found for result in back.results]),
        ([curve.found for curve in evidence.curves], [curve.found for curve in back.curves]),
        ([withheld.found for withheld in evidence.withheld], [withheld.found for withheld in back.withheld]),
    ):
        # Equal values of other classes are unequal; this says that there is something to withhold in each.
        hidden = [withheld for withheld in read if isinstance(withheld, Withheld)]
        assert hidden == [withheld for withheld in given_out if isinstance(withheld, Withheld)]
        assert hidden
        assert {withheld.below for withheld in hidden} == {10}
    assert faults(json.loads(found.text()), results.schema()) == []


def test_changes_since_a_previous_release_are_read_back(tmp_path: Path) -> None:
    for name, content in initial.files().items():
        (tmp_path / name).write_bytes(content)
    release = tmp_path / "release.toml"
    before = results.of(evaluate.evidence(hurried(reading.study(tmp_path)))).text()
    (tmp_path / "before.json").write_bytes(before)
    release.write_text(release.read_text().replace("[release]", '[release]\nprevious = "before.json"', 1))
    evidence = evaluate.evidence(hurried(reading.study(tmp_path)))
    found = unchanged(evidence)
    assert evidence.changes is not None
    assert len(evidence.changes.results) > 5
    assert found.evidence.changes == evidence.changes
    assert len(present(found.previous).estimates) == len(evidence.changes.previous.results) > 5
    assert faults(json.loads(found.text()), results.schema()) == []
    # A release whose previous one had a previous one reads it too.
    (tmp_path / "before.json").write_bytes(found.text())
    third = evaluate.evidence(hurried(reading.study(tmp_path)))
    assert present(third.changes).previous.results == evidence.changes.previous.results
    unchanged(third)


def test_readers_of_no_dataset_are_read_back(tmp_path: Path) -> None:
    rows = "".join(f"{int(k % 3 == 0)},{0.1 + 0.02 * k:.2f}\n" for k in range(30))
    (tmp_path / "site.csv").write_text(f"outcome,risk\n{rows}")
    (tmp_path / "labels.csv").write_text("a,b\n1,1\n1,0\n0,0\n0,0\n1,1\n")
    (tmp_path / "release.toml").write_text(f'{HEAD}{QUICK}{SITE}[readers]\nlabels = "labels.csv"\n')
    found = unchanged(evaluate.evidence(reading.study(tmp_path)))
    assert any(row.dataset == "readers" for row in found.estimates)


def test_a_quick_look_is_read_back(tmp_path: Path) -> None:
    rows = "".join(f"{int(k % 3 == 0)},{0.1 + 0.02 * k:.2f}\n" for k in range(30))
    (tmp_path / "site.csv").write_text(f"y,p\n{rows}")
    found = unchanged(evaluate.evidence(hurried(reading.quick(tmp_path / "site.csv", "y", "p", (0.2, 0.4), "A model"))))
    assert not found.has_release_file
    assert found.release.model == "A model"


# ---- damaged files --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """results.json of a small release that holds a row of nearly every kind."""
    folder = tmp_path_factory.mktemp("small")
    for name, content in initial.files().items():
        (folder / name).write_bytes(content)
    return results.of(evaluate.evidence(hurried(reading.study(folder)))).text()


def read_or_told(content: bytes) -> results.Results | None:
    """What is read, evidence and text among it; None where it is told, with a place and a way out, why it is not."""
    try:
        found = results.read(content, "given.json")
    except ReleaseError as error:
        faults = error.faults
    else:
        assert isinstance(found.evidence, Evidence)
        assert results.read(found.text()) == found
        return found
    assert 1 <= len(faults) <= results.MOST_FAULTS
    for fault in faults:
        assert fault.what.endswith(".")
        assert fault.where.startswith("given.json")
        assert fault.fix
    return None


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["", "absent", "withheld", "\ud800", 10**400, -1, 1e308]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def damaged(draw: st.DrawFn, value: Any) -> Any:
    """A value with one part of it, however deep, taken away, added or exchanged."""
    inside = isinstance(value, dict | list) and len(value) > 0
    if not inside or draw(st.integers(0, 5)) == 0:
        return draw(PLAIN)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = draw(st.sampled_from(keys))
    kind = draw(st.integers(0, 9))
    changed = value.copy()
    if kind == 0:
        del changed[key]
    elif kind == 1 and isinstance(changed, dict):
        changed[draw(st.text(max_size=5))] = draw(PLAIN)
    elif kind == 1:
        changed.insert(key, draw(PLAIN))
    else:
        changed[key] = damaged(draw, value[key])
    return changed


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_damaged_file_is_read_or_told(small: bytes, data: st.DataObject) -> None:
    document = data.draw(st.composite(lambda draw: damaged(draw, json.loads(small)))(), label="damaged")
    read_or_told(json.dumps(document).encode("utf-8", "surrogatepass"))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9), st.binary(max_size=8), st.integers(0, 50))
def test_damaged_bytes_are_read_or_told(small: bytes, position: int, instead: bytes, gone: int) -> None:
    position %= len(small)
    read_or_told(small[:position] + instead + small[position + gone :])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"schema": "dossier-results/1"}',
        b'{"schema": "dossier-results/2"}',
        b'{"schema": NaN}',
        b'{"schema": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_results_json_is_told(content: bytes) -> None:
    assert read_or_told(content) is None


def test_what_is_damaged_is_named_by_its_place(small: bytes) -> None:
    document = json.loads(small)
    document["estimates"][2]["value"] = "0.9"
    del document["datasets"][0]["role"]
    assert [(fault.what, fault.where) for fault in refused(results.read, json.dumps(document).encode()).faults] == [
        ("results.json has no datasets 1, role.", "results.json, datasets 1, role"),
        ("In results.json estimates 3, value is not what it should be.", "results.json, estimates 3, value"),
    ]


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
        (("estimates", 0, "subset"), "Sex=female"),
        (("estimates", 0, "more"), "a word where only numbers may stand"),
        (("estimates", 0, "reason"), "a sentence"),
        (("estimates", 0, "reason"), {"code": "of_no_measure"}),
        (("estimates", 0, "reason"), {"rows": {"count": 5, "of": "row"}}),
        (("curves", 0, "columns"), {"x": [0.1, "0.2"]}),
        (("surplus",), 1),
    ],
)
def test_the_schema_and_the_reader_refuse(small: bytes, path: tuple[str | int, ...], value: Any) -> None:
    damaged: Any = json.loads(small)
    inner = damaged
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    assert len(faults(damaged, results.schema())) == 1
    with pytest.raises(ReleaseError):
        results.read(json.dumps(damaged).encode())


@pytest.mark.parametrize(
    "reason",
    [
        {"code": "no_event"},
        {"code": "no_event", "rows": {"count": "5", "of": "row"}},
        {"code": "raters_judged_some", "judged": 5},
        {"code": "no_risk_reaches_threshold", "threshold": "high"},
        {"code": "no_risk_reaches_threshold", "threshold": 10**400},
        {"code": "before", "reason": {"code": "of_no_measure"}},
    ],
    ids=range(6),
)
def test_a_reason_without_its_values_is_refused(small: bytes, reason: dict[str, Any]) -> None:
    damaged = json.loads(small)
    damaged["estimates"][1]["reason"] = reason
    caught = refused(results.read, json.dumps(damaged).encode())
    assert [fault.where for fault in caught.faults] == ["results.json, estimates 2, reason"]


@pytest.mark.parametrize("part", ["datasets", "description", "subgroups", "estimates", "curves", "flags", "acceptance"])
def test_the_schema_misses_every_key_that_is_always_there(document: dict[str, Any], part: str) -> None:
    """A key that says nothing has null, so that whoever reads the file finds every name in the first row."""
    schema = results.schema()
    whole = {**schema["properties"][part], "$defs": schema["$defs"]}
    rows = document[part]
    kind = schema["properties"][part]["items"]["$ref"].rpartition("/")[2]
    properties = schema["$defs"][kind]["properties"]
    assert all(row.keys() >= properties.keys() for row in rows)
    for name in schema["$defs"][kind]["required"]:
        assert faults([{key: value for key, value in rows[0].items() if key != name}], whole) == [
            f"$[0]: '{name}' is a required property"
        ]


# ---- the bytes ------------------------------------------------------------------------------------------------------


def test_keys_stand_once_and_in_the_order_of_the_schema(text: str) -> None:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    assert list(json.loads(text, object_pairs_hook=once)) == list(results.schema()["properties"])


def test_there_is_neither_nan_nor_infinity(text: str) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} stands in results.json")

    json.loads(text, parse_constant=refuse)


def test_it_is_utf_8_and_not_escaped(evidence: Evidence) -> None:
    about = evidence.release.release.model_copy(update={"model": "Modèle Łódź 膝"})
    named = replace(evidence, release=evidence.release.model_copy(update={"release": about}))
    assert "Modèle Łódź 膝".encode() in results.of(named).text()


def test_every_number_is_written_in_full(evidence: Evidence, document: dict[str, Any]) -> None:
    every = (*evidence.results, *evidence.subgroups.results)
    for result, row in zip(every, document["estimates"], strict=True):
        is_difference = result.at.get("against") == "complement" and result.measure not in (
            "oe_ratio_ratio",
            "auroc_beyond_case_mix",
        )
        measure = f"{result.measure}{'_difference' if is_difference else ''}"
        assert (row["measure"], row["dataset"], row["at"]) == (measure, result.dataset, dict(result.at))
        assert row["subset"] == (None if result.subset is None else result.subset._asdict())
        if isinstance(result.found, Estimate):
            found = result.found
            assert (row["value"], row["low"], row["high"], row["se"]) == (found.value, found.low, found.high, found.se)
            assert {name: row[name] for name in found.details} == dict(found.details)


# ---- what a row says ------------------------------------------------------------------------------------------------


def test_what_is_absent_has_a_reason_and_no_number(evidence: Evidence, document: dict[str, Any]) -> None:
    absent = [row for row in document["estimates"] if row["status"] == "absent"]
    every = (*evidence.results, *evidence.subgroups.results)
    assert len(absent) == sum(isinstance(result.found, Absent) for result in every) > 0
    for row in absent:
        assert row["reason"]
        assert not reasons.read(row["reason"]).endswith(".")
        assert {row[name] for name in ("value", "low", "high", "se", "level", "method", "n", "events")} == {None}


def test_what_is_estimated_has_a_value_and_its_interval_or_a_reason(document: dict[str, Any]) -> None:
    for row in document["estimates"]:
        if row["status"] != "estimated":
            continue
        assert row["method"], row
        assert (row["low"] is not None and row["high"] is not None) or row["reason"], row
        for bound, sign in (("low", 1), ("high", -1)):
            if row[bound] is not None:
                assert sign * (present(row["value"]) - row[bound]) >= -1e-12, row


def test_a_result_is_named_once(document: dict[str, Any]) -> None:
    names = [
        (row["measure"], row["dataset"], json.dumps(row["subset"]), json.dumps(row["at"], sort_keys=True))
        for row in document["estimates"]
    ]
    assert len(names) == len(set(names))


def test_every_dataset_of_a_row_is_described(document: dict[str, Any]) -> None:
    known = {dataset["name"] for dataset in document["datasets"]} | {"pooled", READER_STUDY, MODEL}
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
    page = (REFERENCE / "contract.md").read_text(encoding="utf-8")
    block = present(re.search(r"```json\n(.*?)```", page, re.DOTALL))
    found: dict[str, Any] = json.loads(block[1])
    return found


def said(row: dict[str, Any]) -> set[str]:
    """The keys of an example; a row that ends in "…" shows only some."""
    return row.keys() - {"…"}


def test_the_contract_names_the_parts_and_the_release(document: dict[str, Any]) -> None:
    assert document.keys() >= example().keys()
    assert document["schema"] == example()["schema"]
    assert document["release"].keys() >= example()["release"].keys()
    assert [part for part in example() if document[part] == []] == []


NAMED_SINCE = {"says": "fact"}
"""What a key of the contract's example is called since: a flag holds a code with its values in place of a sentence."""


@pytest.mark.parametrize("part", ["datasets", "description", "flags", "curves", "acceptance", "checklist"])
def test_the_contract_names_the_keys(document: dict[str, Any], part: str) -> None:
    (shown,) = example()[part]
    for row in document[part]:
        assert {NAMED_SINCE.get(key, key) for key in said(shown)} <= row.keys()
    if part == "datasets":
        words = [[exclusion(record["reason"]) for record in row["excluded"]] for row in document[part]]
        assert all(reasons == list(shown["excluded"]) for reasons in words)


def test_the_contract_names_the_keys_of_an_estimate(document: dict[str, Any]) -> None:
    for row in document["estimates"]:
        assert said(example()["estimates"][0]) <= row.keys()


EXAMPLES = range(8)
RIVAL_EXAMPLE = 4
"""A difference to another model, which has a name of its own and names the model since."""
DIFFERENCES = {"complement": "_difference"}
"""What the name of a measure ends in since, where the value is a difference."""


def test_no_example_of_the_contract_is_left_out(document: dict[str, Any]) -> None:
    shown = example()["estimates"]
    assert len(shown) == len(EXAMPLES)
    assert shown[RIVAL_EXAMPLE]["at"] == {"against": "rival"}
    at = {"against": document["declared"]["prediction"]["rival_name"]}
    like = [
        row
        for row in document["estimates"]
        if (row["measure"], row["at"], row["status"]) == ("auroc_difference", at, "estimated")
    ]
    assert like
    assert all(said(shown[RIVAL_EXAMPLE]) - {"p_value"} <= row.keys() for row in like)


@pytest.mark.parametrize("position", [example for example in EXAMPLES if example != RIVAL_EXAMPLE])
def test_the_contract_names_the_measures(document: dict[str, Any], position: int) -> None:
    """Each example has its like: the same measure, the same names in `at`, its keys, its status, its null values."""
    shown = example()["estimates"][position]
    like = [
        row
        for row in document["estimates"]
        if row["measure"] == f"{shown['measure']}{DIFFERENCES.get(shown['at'].get('against'), '')}"
        and (None if row["subset"] is None else str(Subset(**row["subset"]))) == shown["subset"]
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
            assert (row["value"], reasons.read(row["reason"])) == (None, f"{row['dataset']} has no predictors")


def test_the_contract_names_the_curve(document: dict[str, Any]) -> None:
    (shown,) = example()["curves"]
    (row, *_) = (row for row in document["curves"] if row["curve"] == shown["curve"])
    assert row["columns"].keys() == shown["columns"].keys()


# ---- results.csv ----------------------------------------------------------------------------------------------------


def in_order(written: results.Results) -> list[results.EstimateRow]:
    """The estimates of the model, those of its rivals, and what is absent of either."""
    found = [row for row in written.estimates if row.status == "estimated"]
    absent = [row for row in written.estimates if row.status != "estimated"]
    return [
        *(
            row
            for each in (found, absent)
            for of_rival in (False, True)
            for row in each
            if ("model" in row.at) == of_rival
        )
    ]


def test_the_flat_table_holds_every_estimate_to_the_last_digit(evidence: Evidence) -> None:
    written = results.of(evidence)
    lines = list(csv.DictReader(io.StringIO(results_csv.text(written).decode())))
    assert any(line["subset_column"] for line in lines)
    rivals = {row.at["model"] for row in written.estimates if "model" in row.at}
    assert len(rivals) == 2
    assert {line["model"] for line in lines} == {written.release.model, *rivals}
    places = {each.name: (each.site, each.role) for each in evidence.datasets}
    for line in lines:
        assert (line["site"], line["role"]) == places.get(line["dataset"], (line["dataset"],) * 2)
    for line, estimate in zip(lines[: len(written.estimates)], in_order(written), strict=True):
        assert (line["measure"], line["dataset"], line["status"]) == (
            estimate.measure,
            estimate.dataset,
            estimate.status,
        )
        assert line["model"] == estimate.at.get("model", written.release.model)
        subset = ("", "") if estimate.subset is None else (estimate.subset.column, estimate.subset.level)
        assert (line["subset_column"], line["subset_level"]) == subset
        found = {**estimate.details, **estimate.model_dump()}
        assert [line[name] or None for name in ("n", "events")] == [
            None if count is None else str(count) for count in (estimate.n, estimate.events)
        ]
        for name in ("value", "low", "high", "se", "p_value", "prediction_low"):
            assert (None if line[name] == "" else float(line[name])) == found.get(name)
        settings = dict(part.split("=", 1) for part in line["at"].split(";") if part)
        assert settings == {name: str(value) for name, value in estimate.at.items() if name != "model"}
