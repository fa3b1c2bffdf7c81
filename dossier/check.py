"""What is known of a release before it is built: every fault and flag, and what was settled about its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dossier import checklist
from dossier.errors import DossierError, Fault
from dossier.types import Dataset, Flag, SettledColumn, SettledTable, Study
from dossier.typeset.flags import flag_text
from dossier.typeset.words import exclusion

SCHEMA = "dossier-check/1"
CODE = {"type": "string", "description": "What is wrong, for a program; docs/faults.md lists every code."}


@dataclass(frozen=True)
class Check:
    """The faults of a release; and, where it can be read, what was read and every flag that its build will raise."""

    faults: tuple[Fault, ...]
    study: Study | None = None
    flags: tuple[Flag, ...] = ()

    def __post_init__(self) -> None:
        """A release that cannot be read has a fault."""
        if self.study is None and not self.faults:
            raise ValueError("a release without faults is read")


def check(release: Path, allow_outside: bool = False) -> Check:
    """Read a release and look at it without drawing any rows again.

    Faults of the release and its tables hide the rest, for nobody knows what those tables would hold. Criteria that
    can never be estimated are faults beside the flags.
    """
    from dossier import evaluate, reading

    try:
        study = reading.study(release, allow_outside)
    except DossierError as error:
        return Check(error.faults)
    found = evaluate.preview(study)
    return Check(found.faults, study, found.flags)


# ---- for people -----------------------------------------------------------------------------------------------------


def lines(found: Check) -> Iterator[str]:
    """What was read, the columns of each table, the flags and what is open, a line each; the faults left out."""
    study = found.study
    if study is None:
        return
    for dataset in study.datasets:
        yield _size(dataset)
    for one in study.readers:
        cases, raters = one.labels.shape
        yield f"readers (of {one.dataset or 'no dataset'}): {cases} cases, {raters} raters"
    for table in study.tables:
        left_out = f", {table.left_out} more left out by rows" if table.left_out else ""
        yield f"\n{table.dataset}, {table.file}: {table.rows} rows{left_out}"
        yield from _columns(table)
    yield ""
    for flag in found.flags:
        reply = "" if flag.reply is None else f" Answered: {flag.reply}"
        yield f"flag {flag.flag}, {flag.dataset}: {flag_text(flag.fact)}{reply}"
    for item in checklist.unanswered(study.statements):
        yield f"open {item.number}, {item.topic}: {item.asks}"
    if not found.faults:
        yield "No fault found."


def _size(dataset: Dataset) -> str:
    events = "" if dataset.outcome is None else f", {int(dataset.outcome.sum())} events"
    counts = _class_counts(dataset)
    if counts:
        events = "".join(f", {count} {label}" for label, count in counts.items())
    left = "".join(f", {count} {exclusion(reason)}" for reason, count in dataset.excluded.items() if count)
    return f"{dataset.name} ({dataset.role}): {dataset.rows_read} rows, {dataset.rows_analysed} analysed{events}{left}"


def _class_counts(dataset: Dataset) -> dict[str, int]:
    if dataset.classes is None:
        return {}
    return {label: int((dataset.classes == number).sum()) for number, label in enumerate(dataset.class_labels)}


def _columns(table: SettledTable) -> list[str]:
    """The columns of a table under each other, each as wide as its longest cell."""
    rows = [("column", "role", "type", "range", "missing"), *(_cells(column) for column in table.columns)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _cells(column: SettledColumn) -> tuple[str, ...]:
    values = f"{column.levels} value{'' if column.levels == 1 else 's'}" if column.levels is not None else ""
    span = f"{column.range[0]:.6g} to {column.range[1]:.6g}" if column.range is not None else values
    missing = f"{column.missing}" if column.sample is None else f"{column.missing} of {column.sample} rows drawn"
    return " ".join(column.name.split()), column.role, column.kind, span, missing


# ---- for machines ---------------------------------------------------------------------------------------------------


def document(found: Check) -> dict[str, Any]:
    """The same for a program; `schema` describes it."""
    study = found.study
    return {
        "schema": SCHEMA,
        "release": None
        if study is None
        else {"model": study.release.release.model, "version": study.release.release.version},
        "faults": [_fault(entry) for entry in found.faults],
        "flags": None if study is None else [_flag(entry) for entry in found.flags],
        "open": []
        if study is None
        else [
            {"item": entry.number, "topic": entry.topic, "asks": entry.asks}
            for entry in checklist.unanswered(study.statements)
        ],
        "datasets": [] if study is None else [_dataset(entry) for entry in study.datasets],
        "tables": [] if study is None else [_table(entry) for entry in study.tables],
    }


def _fault(fault: Fault) -> dict[str, Any]:
    return {"code": fault.code, "what": fault.what, "where": fault.where, "fix": fault.fix}


def _flag(flag: Flag) -> dict[str, Any]:
    return {"flag": flag.flag, "dataset": flag.dataset, "says": flag_text(flag.fact), "reply": flag.reply}


def _dataset(dataset: Dataset) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "role": dataset.role,
        "site": dataset.site,
        "rows_read": dataset.rows_read,
        "n": dataset.rows_analysed,
        "events": None if dataset.outcome is None else int(dataset.outcome.sum()),
        "classes": _class_counts(dataset) or None,
        "excluded": dict(dataset.excluded),
    }


def _table(table: SettledTable) -> dict[str, Any]:
    return {
        "dataset": table.dataset,
        "file": table.file,
        "rows": table.rows,
        "left_out": table.left_out,
        "columns": [
            {
                "name": column.name,
                "role": column.role,
                "type": column.kind,
                "range": None if column.range is None else list(column.range),
                "values": column.levels,
                "missing": column.missing,
                "drawn": column.sample,
            }
            for column in table.columns
        ],
    }


TEXT: Mapping[str, Any] = {"type": "string"}
COUNT: Mapping[str, Any] = {"type": "integer", "minimum": 0}
COUNT_OR_NULL: Mapping[str, Any] = {"type": ["integer", "null"], "minimum": 0}
COUNTS: Mapping[str, Any] = {"type": "object", "additionalProperties": COUNT}


def schema() -> dict[str, Any]:
    """The JSON Schema of what `dossier check --json` prints."""
    column = {
        "name": TEXT,
        "role": TEXT,
        "type": TEXT,
        "range": {"type": ["array", "null"], "items": {"type": "number"}},
        "values": {**COUNT_OR_NULL, "description": "How many different texts or codes; null of numbers."},
        "missing": COUNT,
        "drawn": {**COUNT_OR_NULL, "description": "In how many rows it was read, where these are not all."},
    }
    dataset = {
        "name": TEXT,
        "role": {"enum": ["development", "internal", "external"]},
        "site": TEXT,
        "rows_read": COUNT,
        "n": {**COUNT, "description": "How many rows are analysed."},
        "events": {**COUNT_OR_NULL, "description": "Null of several classes, and without an outcome."},
        "classes": {**COUNTS, "type": ["object", "null"], "description": "The rows of each class, of several."},
        "excluded": {**COUNTS, "description": "Rows that are not analysed, by reason."},
    }
    table = {"dataset": TEXT, "file": TEXT, "rows": COUNT, "left_out": COUNT, "columns": _rows(column)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_object(
            {
                "schema": {"const": SCHEMA},
                "release": {
                    **_object({"model": TEXT, "version": TEXT}),
                    "type": ["object", "null"],
                    "description": "Null where the release, or a table of it, cannot be read.",
                },
                "faults": _rows({"code": CODE, "what": TEXT, "where": TEXT, "fix": TEXT}),
                "flags": {
                    **_rows({"flag": TEXT, "dataset": TEXT, "says": TEXT, "reply": {"type": ["string", "null"]}}),
                    "type": ["array", "null"],
                    "description": "Every flag that the build will raise; null where faults keep it from being known.",
                },
                "open": _rows({"item": TEXT, "topic": TEXT, "asks": TEXT}),
                "datasets": _rows(dataset),
                "tables": _rows(table),
            }
        ),
    }


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": sorted(properties),
        "additionalProperties": False,
    }


def _rows(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties)}
