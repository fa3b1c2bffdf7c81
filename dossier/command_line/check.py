"""What is known of a release before it is built: every fault and flag, and what was settled about its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dossier.core import errors, tripod, types
from dossier.core.release import COUNT_SCHEMA, object_schema, written_count
from dossier.typeset import words
from dossier.typeset.flags import flag_text
from dossier.words import entries

SCHEMA = "dossier-check/1"
CODE = {"type": "string", "description": "What is wrong, for a program; docs/faults.md lists every code."}


@dataclass(frozen=True)
class Check:
    """The faults of a release; and, where it can be read, what was read and every flag that its build will raise."""

    faults: tuple[errors.Fault, ...]
    study: types.Study | None = None
    datasets: tuple[types.DatasetSummary, ...] = ()
    """Those that its build will show, their counts as it will give them."""
    flags: tuple[types.Flag, ...] = ()
    missing: tuple[tripod.Item, ...] = ()
    """The rows of the checklist that nothing answers."""

    def __post_init__(self) -> None:
        """A release that cannot be read has a fault."""
        if self.study is None and not self.faults:
            raise ValueError("a release without faults is read")

    @property
    def is_protected(self) -> bool:
        """Whether the release protects small counts."""
        return self.study is not None and any(dataset.minimum_cell for dataset in self.study.datasets)


def check(release: Path, allow_outside: bool = False) -> Check:
    """Read a release and look at it without drawing any rows again.

    Faults of the release and its tables hide the rest, for nobody knows what those tables would hold. Criteria that
    can never be estimated are faults beside the flags.
    """
    from dossier import evaluate, reading

    try:
        study = reading.study(release, allow_outside)
    except errors.DossierError as error:
        return Check(error.faults)
    found = evaluate.preview(study)
    return Check(found.faults, study, found.datasets, found.flags, found.missing)


# ---- for people -----------------------------------------------------------------------------------------------------


def lines(found: Check) -> Iterator[str]:
    """What was read, the columns of each table, the flags and what is open, a line each; the faults left out."""
    study = found.study
    if study is None:
        return
    for dataset in found.datasets:
        yield _size(dataset)
    for reader in study.readers:
        cases, raters = reader.labels.shape
        of = f"readers (of {reader.dataset or 'no dataset'})"
        yield f"{of}: {raters} raters" if found.is_protected else f"{of}: {cases} cases, {raters} raters"
    for table in study.tables:
        left_out = f", {table.left_out} more left out by rows" if table.left_out else ""
        size = "" if found.is_protected else f": {table.rows} rows{left_out}"
        yield ""
        yield f"{table.dataset}, {table.file}{size}"
        yield from _columns(table, found.is_protected)
    if found.is_protected:
        yield ""
        yield "Small counts are protected: each is a range, and no table says how many rows or which values it has."
    yield ""
    for flag in found.flags:
        reply = "" if flag.reply is None else f" Answered: {flag.reply}"
        yield f"flag {flag.flag}, {flag.dataset}: {flag_text(flag.fact)}{reply}"
    for item in found.missing:
        yield f"open {item.number}, {item.topic}: {item.asks}"
    if not found.faults:
        yield "No fault found."


def _size(dataset: types.DatasetSummary) -> str:
    events = "" if dataset.events is None else f", {words.counted(dataset.events, 'event')}"
    events += "".join(f", {count} {label}" for label, count in dataset.class_counts.items())
    lost = {reason: count for reason, count in dataset.excluded.items() if isinstance(count, types.Withheld) or count}
    left = "".join(f", {_count(count)} {words.exclusion(reason)}" for reason, count in lost.items())
    return f"{dataset.name} ({dataset.role}): {_count(dataset.rows_read)} rows, {dataset.n} analysed{events}{left}"


def _count(count: int | types.Withheld) -> str:
    return f"<{count.below}" if isinstance(count, types.Withheld) else str(count)


def _columns(table: types.SettledTable, is_protected: bool) -> list[str]:
    """The columns of a table under each other, each as wide as its longest cell."""
    rows = [("column", "role", "type", "range", "missing"), *(_cells(column) for column in table.columns)]
    if is_protected:
        rows = [row[:3] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _cells(column: types.SettledColumn) -> tuple[str, ...]:
    values = f"{column.levels} value{'' if column.levels == 1 else 's'}" if column.levels is not None else ""
    span = f"{column.range[0]:.6g} to {column.range[1]:.6g}" if column.range is not None else values
    return " ".join(column.name.split()), column.role, column.kind, span, f"{column.missing}"


# ---- for machines ---------------------------------------------------------------------------------------------------


def document(found: Check) -> dict[str, Any]:
    """The same for a program; `schema` describes it."""
    study = found.study
    return {
        "schema": SCHEMA,
        "release": None
        if study is None
        else {"model": study.release.release.model, "version": study.release.release.version},
        "faults": [fault_of(entry) for entry in found.faults],
        "flags": None if study is None else [_flag(entry) for entry in found.flags],
        "open": [{"item": entry.number, "topic": entry.topic, "asks": entry.asks} for entry in found.missing],
        "datasets": [_dataset(entry) for entry in found.datasets],
        "tables": [] if study is None else [_table(entry, found.is_protected) for entry in study.tables],
    }


def fault_of(fault: errors.Fault) -> dict[Any, str]:
    """A fault for a program."""
    return {"code": fault.code, "what": fault.what, "where": fault.where, "fix": fault.fix}


def _flag(flag: types.Flag) -> dict[str, Any]:
    return {"flag": flag.flag, "dataset": flag.dataset, "says": flag_text(flag.fact), "reply": flag.reply}


def _dataset(dataset: types.DatasetSummary) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "role": dataset.role,
        "site": dataset.site,
        "rows_read": _known(dataset.rows_read),
        "n": written_count(dataset.n),
        "events": None if dataset.events is None else written_count(dataset.events),
        "classes": {label: written_count(count) for label, count in dataset.class_counts.items()} or None,
        "excluded": {reason: _known(count) for reason, count in dataset.excluded.items()},
    }


def _known(count: int | types.Withheld) -> int | dict[str, int] | None:
    return None if isinstance(count, types.Withheld) else written_count(count)


def _table(table: types.SettledTable, is_protected: bool) -> dict[str, Any]:
    def given(value: object) -> object:
        return None if is_protected else value

    return {
        "dataset": table.dataset,
        "file": table.file,
        "rows": given(table.rows),
        "left_out": given(table.left_out),
        "columns": [
            {
                "name": column.name,
                "role": column.role,
                "type": column.kind,
                "range": given(None if column.range is None else list(column.range)),
                "values": given(column.levels),
                "missing": given(column.missing),
            }
            for column in table.columns
        ],
    }


RANGED = {**COUNT_SCHEMA, "description": "A number, or a range where small counts are protected."}
PROTECTED = "Null where small counts are protected."
KINDS: Mapping[str, Mapping[str, Any]] = {
    "text": {"type": "string"},
    "code": CODE,
    "ranged": RANGED,
    "ranged_or_null": {**RANGED, "anyOf": [*COUNT_SCHEMA["anyOf"], {"type": "null"}]},
    "unless_protected": {"type": ["integer", "null"], "minimum": 0, "description": PROTECTED},
}
"""The kinds of values of what is printed for a program."""


def schema() -> dict[str, Any]:
    """The JSON Schema of what `dossier check --json` prints; `words/check.toml` has its keys."""
    keys = {"schema": {"const": SCHEMA}, **{key: _schema_of(part) for key, part in entries("check").items()}}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **object_schema(keys)}


def _schema_of(part: Any) -> Mapping[str, Any]:
    if isinstance(part, str):
        return KINDS[part]
    made: dict[str, Any] = {**KINDS.get(part.get("kind"), {})}
    for key, value in part.items():
        if key in ("keys", "rows") and isinstance(value, Mapping):
            own = object_schema({name: _schema_of(each) for name, each in value.items()})
            made |= own if key == "keys" else {"type": "array", "items": own}
        elif key == "of":
            made["additionalProperties"] = KINDS[value]
        elif key not in ("kind", "null"):
            made[key] = value
    return {**made, "type": [made["type"], "null"]} if part.get("null") else made
