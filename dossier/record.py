"""Evidence -> results.json: every number that a page prints, under the names of the contract."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from dossier.types import (
    Absent,
    Criterion,
    CurveResult,
    DatasetSummary,
    Description,
    DescriptionResult,
    Evidence,
    Result,
    SubgroupEvidence,
)

SCHEMA = "dossier-results/1"


def document(evidence: Evidence) -> dict[str, Any]:
    """The evidence as plain lists and dictionaries, in the shape of the published schema."""
    release = evidence.release.release
    return {
        "schema": SCHEMA,
        "release": {
            "model": release.model,
            "version": release.version,
            "date": None if release.date is None else release.date.isoformat(),
            "seed": release.seed,
            "level": release.level,
        },
        "datasets": [_dataset(dataset) for dataset in (*evidence.datasets, *_declared(evidence))],
        "description": [_description(row) for row in (*evidence.descriptions, *_sizes(evidence.subgroups))],
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
    *("prediction_low", "prediction_high", "tau", "i2", "k", "method", "n", "events", "tier", "status", "reason"),
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
        writer.writerow(["" if row.get(name) is None else row[name] for name in FLAT])
    return page.getvalue().encode()


def _results(evidence: Evidence) -> tuple[Result, ...]:
    """Every estimate of the record in its order: of whole datasets, then of subgroups."""
    return (*evidence.results, *evidence.subgroups.results)


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
        "rows_read": dataset.rows_read,
        "excluded": dict(dataset.excluded),
        "features": list(dataset.features),
        "splits": dataset.splits,
        "classes": dict(dataset.class_counts) or None,
        "clusters": dataset.clusters,
        "weighted": dataset.weighted,
        "imputations": dataset.imputations,
    }


def _sizes(subgroups: SubgroupEvidence) -> Iterator[DescriptionResult]:
    """How many patients and events each subgroup has, and how many rows are in none."""
    said: set[tuple[str, str]] = set()
    for one in subgroups.summaries:
        if isinstance(one.size, Absent):
            continue
        total = one.size.n
        counts = {"subgroup patients": total, "subgroup events": one.size.events}
        for statistic, count in counts.items():
            yield DescriptionResult(one.dataset, Description(one.column, statistic, count, total, one.label))
        if (one.dataset, one.column) not in said:
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
        "n": described.n,
    }


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
        return {**named, **nothing, "status": "absent", "reason": found.reason}
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
            "status": "absent",
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


def schema() -> dict[str, Any]:
    """The JSON Schema of results.json."""
    number = {"type": ["number", "null"]}
    words = {"type": ["string", "null"]}
    at = {"type": "object", "additionalProperties": {"type": ["number", "string"]}}
    status = {"enum": ["estimated", "absent", "withheld"]}
    place = {"dataset": {"type": "string"}, "subset": words, "at": at}

    def rows(properties: dict[str, Any], more: Any = False) -> dict[str, Any]:
        return {
            "type": "array",
            "items": {
                "type": "object",
                "properties": properties,
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
                "rows_read": {"type": "integer", "minimum": 0},
                "excluded": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
                "features": {"type": "array", "items": {"type": "string"}},
                "splits": {"type": ["integer", "null"]},
                "clusters": {"type": ["integer", "null"]},
                "weighted": {"type": "boolean"},
                "imputations": {"type": ["integer", "null"]},
                "classes": {
                    "type": ["object", "null"],
                    "additionalProperties": {"type": "integer", "minimum": 0},
                },
            }
        ),
        "description": rows(
            {
                "dataset": {"type": "string"},
                "variable": {"type": "string"},
                "statistic": {"type": "string"},
                "level": words,
                "value": number,
                "n": {"type": "integer", "minimum": 0},
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
