"""Evidence -> results.json: every number that a page prints, under the names of the contract."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dossier.types import (
    Absent,
    Criterion,
    CurveResult,
    DatasetSummary,
    Description,
    DescriptionResult,
    Estimate,
    Evidence,
    Predicted,
    Previous,
    PreviousManifest,
    Result,
    Withheld,
    WithheldDescription,
)

SCHEMA = "dossier-results/1"
MANIFEST = "manifest.json"


def document(evidence: Evidence) -> dict[str, Any]:
    """The evidence as plain lists and dictionaries, in the shape of the published schema."""
    release = evidence.release.release
    before = {} if evidence.changes is None else {"previous": _previous(evidence.changes.previous)}
    return {
        "schema": SCHEMA,
        "release": {
            "model": release.model,
            "version": release.version,
            "date": None if release.date is None else release.date.isoformat(),
            "seed": release.seed,
            "level": release.level,
            **before,
        },
        "datasets": [
            *({**_dataset(dataset), "predicted": _predicted(evidence)} for dataset in evidence.datasets),
            *(_dataset(declared) for declared in _declared(evidence)),
        ],
        "description": [
            *(_description(row) for row in (*evidence.descriptions, *_sizes(evidence))),
            *(_withheld(one) for one in evidence.withheld),
        ],
        "estimates": [_estimate(evidence, result) for result in _results(evidence)],
        "curves": [_curve(result) for result in (*evidence.curves, *evidence.subgroups.curves)],
        "flags": [
            {"flag": flag.flag, "dataset": flag.dataset, "says": flag.says, "reply": flag.reply}
            for flag in evidence.flags
        ],
        "acceptance": [_criterion(one) for one in evidence.criteria],
        "checklist": [{"item": one.item, "status": one.status, "where": one.where} for one in evidence.checklist],
    }


def text(evidence: Evidence) -> bytes:
    """results.json to the byte: UTF-8, sorted keys, full double precision, neither NaN nor infinity."""
    return (
        json.dumps(document(evidence), sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    ).encode()


FLAT = (
    *("measure", "dataset", "subset", "at", "value", "low", "high", "se", "level", "p_value"),
    *("prediction_low", "prediction_high", "tau", "i2", "k", "df", "method", "n", "events", "tier", "status", "reason"),
)
"""The columns of results.csv."""


def table(evidence: Evidence) -> bytes:
    """results.csv: one line an estimate, with the settings as `name=value` joined by semicolons; empty where null."""
    page = io.StringIO(newline="")
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(FLAT)
    for result in _results(evidence):
        row = _estimate(evidence, result)
        row["at"] = ";".join(f"{name}={value}" for name, value in sorted(row["at"].items()))
        writer.writerow([_cell(row.get(name)) for name in FLAT])
    return page.getvalue().encode()


def _results(evidence: Evidence) -> tuple[Result, ...]:
    """Every estimate in its order: of whole datasets, of subgroups, then the differences from the previous release."""
    since = () if evidence.changes is None else evidence.changes.results
    return (*evidence.results, *evidence.subgroups.results, *since)


def _cell(value: object) -> object:
    """A cell that a spreadsheet shows and does not run: a name from a table may look like a formula."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return "" if value is None else value


def _declared(evidence: Evidence) -> Iterator[DatasetSummary]:
    """What stands in for datasets of which no row was given: their names must be found among the datasets."""
    for declared in evidence.release.declared_performance:
        sizes = [(one.n, one.events) for one in (declared.auroc,) if one is not None]
        n, events = sizes[0] if sizes else (0, None)
        yield DatasetSummary(declared.name, "internal", declared.name, n, events, 0, {}, ())


def _dataset(dataset: DatasetSummary) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "role": dataset.role,
        "site": dataset.site,
        "n": dataset.n,
        "events": dataset.events,
        "rows_read": _count(dataset.rows_read),
        "excluded": {why: _count(count) for why, count in dataset.excluded.items()},
        "features": list(dataset.features),
        "splits": dataset.splits,
        "dates": None if dataset.dates is None else [day.isoformat() for day in dataset.dates],
        "classes": dict(dataset.class_counts) or None,
        "clusters": dataset.clusters,
        "weighted": dataset.weighted,
        "imputations": dataset.imputations,
        # Only where it says something: what was written before stays the same to the byte.
        **({} if dataset.sampled is None else {"sampled": dataset.sampled}),
    }


def _predicted(evidence: Evidence) -> dict[str, Any]:
    """What the risks of the datasets are of: the next release compares nothing with another outcome."""
    predicted = Predicted.by(evidence.release)
    return {"outcome": predicted.outcome, "horizon": predicted.horizon, "columns": list(predicted.columns)}


def _previous(previous: Previous) -> dict[str, Any]:
    """What is printed of the previous release: its setting, the sizes of its datasets, its core measures."""
    manifest = previous.manifest
    return {
        "version": previous.version,
        "date": None if previous.date is None else previous.date.isoformat(),
        "seed": previous.seed,
        "level": previous.level,
        "sha256": previous.sha256,
        "thresholds": list(previous.thresholds),
        "artifact_sha256": manifest.artifact_sha256 if isinstance(manifest, PreviousManifest) else None,
        "versions": dict(manifest.versions) if isinstance(manifest, PreviousManifest) else None,
        "inputs": [{"name": one.name, "sha256": one.sha256} for one in manifest.inputs]
        if isinstance(manifest, PreviousManifest)
        else None,
        "acceptance": [_criterion(one) for one in previous.criteria],
        "datasets": [
            {"name": one.name, "site": one.site, "n": one.n, "events": one.events} for one in previous.datasets
        ],
        "estimates": [
            {
                "measure": one.measure,
                "dataset": one.dataset,
                "at": dict(one.at),
                "value": one.found.value,
                "low": one.found.low,
                "high": one.found.high,
            }
            for one in previous.results
            if isinstance(one.found, Estimate)
        ],
    }


def _sizes(evidence: Evidence) -> Iterator[DescriptionResult]:
    """How many patients and events each subgroup has, and how many rows are in none."""
    said: set[tuple[str, str]] = set()
    for one in evidence.subgroups.summaries:
        if isinstance(one.size, Absent):
            continue
        total = one.size.n
        counts = {"subgroup patients": total}
        if one.size.events is not None:
            counts["subgroup events"] = one.size.events
        counts |= {f"subgroup patients of {label}": count for label, count in one.size.class_counts.items()}
        for statistic, count in counts.items():
            yield DescriptionResult(one.dataset, Description(one.column, statistic, count, total, one.label))
        if (one.dataset, one.column) not in {*said, *evidence.unassigned_withheld}:
            said.add((one.dataset, one.column))
            lost = one.size.unassigned
            yield DescriptionResult(one.dataset, Description(one.column, "in no subgroup", lost, lost))


def _description(row: DescriptionResult) -> dict[str, Any]:
    described = row.described
    return {
        "dataset": row.dataset,
        "variable": described.variable,
        "statistic": described.statistic,
        "level": described.level,
        "value": described.value,
        "n": _count(described.n),
    }


def _withheld(one: WithheldDescription) -> dict[str, Any]:
    return {
        "dataset": one.dataset,
        "variable": one.variable,
        "statistic": one.statistic,
        "level": one.level,
        "value": None,
        "n": None,
    }


def _count(count: int | Withheld) -> int | None:
    """A count, or null where it is withheld."""
    return None if isinstance(count, Withheld) else count


def _status(found: Absent) -> str:
    return "withheld" if isinstance(found, Withheld) else "absent"


def _estimate(evidence: Evidence, result: Result) -> dict[str, Any]:
    named: dict[str, Any] = {
        "measure": result.measure,
        "dataset": result.dataset,
        "subset": result.subset,
        "at": dict(result.at),
        "tier": evidence.terms[result.term].tier,
    }
    found = result.found
    if isinstance(found, Absent):
        nothing = dict.fromkeys(("value", "low", "high", "se", "level", "method", "n", "events"))
        return {**named, **nothing, "status": _status(found), "reason": found.reason}
    return {
        **named,
        **_plain(found.details),
        "value": float(found.value),
        "low": found.low,
        "high": found.high,
        "se": found.se,
        "level": found.level,
        "method": found.method,
        "n": found.n,
        "events": found.events,
        "status": "estimated",
        "reason": found.reason,
    }


def _plain(details: Mapping[str, float | None]) -> dict[str, float | None]:
    return {name: None if value is None else float(value) for name, value in details.items()}


def _criterion(one: Criterion) -> dict[str, Any]:
    return {
        "measure": one.measure,
        "dataset": one.dataset,
        "subset": one.subset,
        "at": dict(one.at),
        "bound": one.bound,
        "at_least": one.at_least,
        "at_most": one.at_most,
        "observed": one.observed,
        "met": one.met,
        "reason": one.reason,
    }


def _curve(result: CurveResult) -> dict[str, Any]:
    named: dict[str, Any] = {
        "curve": result.curve,
        "dataset": result.dataset,
        "subset": result.subset,
        "at": dict(result.at),
    }
    found = result.found
    if isinstance(found, Absent):
        return {
            **named,
            "columns": {},
            "n": None,
            "events": None,
            "method": None,
            "status": _status(found),
            "reason": found.reason,
        }
    return {
        **named,
        "columns": {name: list(column) for name, column in found.columns.items()},
        "n": found.n,
        "events": found.events,
        "method": found.method,
        "status": "estimated",
        "reason": None,
    }


def _schema_of_previous(rows: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """The part that stands only where the release names a previous one; `rows` makes the schema of a list of rows."""
    number, words = {"type": ["number", "null"]}, {"type": ["string", "null"]}
    count = {"type": ["integer", "null"], "minimum": 0}
    properties: dict[str, Any] = {
        "version": {"type": "string"},
        "date": words,
        "seed": {"type": "integer", "minimum": 0},
        "level": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "sha256": {"type": "string"},
        "thresholds": {"type": "array", "items": {"type": "number"}},
        "artifact_sha256": words,
        "versions": {"type": ["object", "null"], "additionalProperties": {"type": "string"}},
        "inputs": {"type": ["array", "null"], "items": {"type": "object"}},
        "acceptance": {"type": "array", "items": {"type": "object"}},
        "datasets": rows({"name": {"type": "string"}, "site": {"type": "string"}, "n": count, "events": count}),
        "estimates": rows(
            {
                "measure": {"type": "string"},
                "dataset": {"type": "string"},
                "at": {"type": "object", "additionalProperties": {"type": ["number", "string"]}},
                "value": {"type": "number"},
                "low": number,
                "high": number,
            }
        ),
    }
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


def _schema_of_predicted() -> dict[str, Any]:
    """The part of a dataset that says what its risks are of; files of before do not have it."""
    properties = {
        "outcome": {"type": "string"},
        "horizon": {"type": ["string", "null"]},
        "columns": {"type": "array", "items": {"type": "string"}},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


def schema() -> dict[str, Any]:
    """The JSON Schema of results.json."""
    number = {"type": ["number", "null"]}
    words = {"type": ["string", "null"]}
    at = {"type": "object", "additionalProperties": {"type": ["number", "string"]}}
    status = {"enum": ["estimated", "absent", "withheld"]}
    place = {"dataset": {"type": "string"}, "subset": words, "at": at}

    def rows(properties: dict[str, Any], more: Any = False, optional: dict[str, Any] | None = None) -> dict[str, Any]:
        return {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {**properties, **(optional or {})},
                "required": sorted(properties),
                "additionalProperties": more,
            },
        }

    properties: dict[str, Any] = {
        "schema": {"const": SCHEMA},
        "release": {
            "type": "object",
            "properties": {
                "model": {"type": "string"},
                "version": {"type": "string"},
                "date": words,
                "seed": {"type": "integer", "minimum": 0},
                "level": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                "previous": _schema_of_previous(rows),
            },
            "required": ["date", "level", "model", "seed", "version"],
            "additionalProperties": False,
        },
        "datasets": rows(
            {
                "name": {"type": "string"},
                "role": {"enum": ["development", "internal", "external"]},
                "site": {"type": "string"},
                "n": {"type": "integer", "minimum": 0},
                "events": {"type": ["integer", "null"], "minimum": 0},
                "rows_read": {"type": ["integer", "null"], "minimum": 0},
                "excluded": {
                    "type": "object",
                    "additionalProperties": {"type": ["integer", "null"], "minimum": 0},
                },
                "features": {"type": "array", "items": {"type": "string"}},
                "splits": {"type": ["integer", "null"]},
                "dates": {"type": ["array", "null"], "items": {"type": "string"}},
                "clusters": {"type": ["integer", "null"]},
                "weighted": {"type": "boolean"},
                "imputations": {"type": ["integer", "null"]},
                "classes": {
                    "type": ["object", "null"],
                    "additionalProperties": {"type": "integer", "minimum": 0},
                },
            },
            optional={"sampled": {"type": "integer", "minimum": 0}, "predicted": _schema_of_predicted()},
        ),
        "description": rows(
            {
                "dataset": {"type": "string"},
                "variable": {"type": "string"},
                "statistic": {"type": "string"},
                "level": words,
                "value": number,
                "n": {"type": ["integer", "null"], "minimum": 0},
            }
        ),
        "estimates": rows(
            {
                "measure": {"type": "string"},
                **place,
                "value": number,
                "low": number,
                "high": number,
                "se": number,
                "level": number,
                "method": words,
                "n": {"type": ["integer", "null"], "minimum": 0},
                "events": {"type": ["integer", "null"], "minimum": 0},
                "tier": {"enum": ["core", "supporting", "descriptive", "caution", "mission"]},
                "status": status,
                "reason": words,
            },
            more=number,
        ),
        "curves": rows(
            {
                "curve": {"type": "string"},
                **place,
                "columns": {"type": "object", "additionalProperties": {"type": "array", "items": number}},
                "n": {"type": ["integer", "null"]},
                "events": {"type": ["integer", "null"]},
                "method": words,
                "status": status,
                "reason": words,
            }
        ),
        "flags": rows(
            {"flag": {"type": "string"}, "dataset": {"type": "string"}, "says": {"type": "string"}, "reply": words}
        ),
        "acceptance": rows(
            {
                "measure": {"type": "string"},
                **place,
                "bound": {"enum": ["value", "low", "high"]},
                "at_least": number,
                "at_most": number,
                "observed": number,
                "met": {"type": ["boolean", "null"]},
                "reason": words,
            }
        ),
        "checklist": rows({"item": {"type": "string"}, "status": {"type": "string"}, "where": words}),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "dossier-results-1.schema.json",
        "title": "results.json of dossier",
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }
