"""The arguments of dossier.validate as a file of JSON with tables beside it, by which other languages come in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import compute, csv

from dossier.core.errors import ReleaseError
from dossier.core.faults.locations import File
from dossier.core.release import schema
from dossier.reading.arguments import KINDS

LISTS = ("thresholds", "subgroups", "predictors", "classes")
"""The arguments that are lists."""


def arguments(file: Path) -> dict[str, Any]:
    """The arguments by name, with the rows of every table: an object with its `table` and `columns`.

    `table` is a CSV file beside the arguments, in UTF-8, with no cell where a value is missing; `columns` says of what
    type each of its columns is, in the words of Arrow, or of a column of categories which there are, in their order.
    """
    try:
        given = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ReleaseError.one("arguments_not_read", File(str(file)), file=file.name, reason=_reason(error)) from None
    if not isinstance(given, Mapping):
        raise ReleaseError.one("arguments_not_read", File(str(file)), file=file.name, reason="it holds no object")
    known, definitions = schema()["properties"], schema()["$defs"]
    named = {name: _with_tables(value, file.parent) for name, value in given.items()}
    for name, value in named.items():
        if name in LISTS:
            named[name] = value if isinstance(value, list | Mapping) else [value]
        if name == "thresholds" or name not in KINDS:
            named[name] = _with_lists(named[name], known.get(name, {}), definitions)
    return {"frame": None, "risk": None, **named}


def _with_lists(value: Any, shape: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    """A value with a list of one where release.toml has a list: there are languages that know no single values."""
    options = [definitions.get(each.get("$ref", "").rpartition("/")[2], each) for each in shape.get("anyOf", [shape])]
    items = next((each.get("items", {}) for each in options if each.get("type") == "array"), None)
    if items is not None and not isinstance(value, list) and value is not None:
        value = [value] if all(each.get("type") in ("array", "null") for each in options) else value
    if isinstance(value, list):
        return [_with_lists(each, items or {}, definitions) for each in value]
    if isinstance(value, Mapping):
        keys: Mapping[str, Any] = next((each["properties"] for each in options if "properties" in each), {})
        return {key: _with_lists(each, keys.get(key, {}), definitions) for key, each in value.items()}
    return value


def _with_tables(value: Any, folder: Path) -> Any:
    """An argument with the rows of each table that it names."""
    if not isinstance(value, Mapping):
        return value
    if set(value) == {"table", "columns"}:
        return _table(folder / str(value["table"]), value["columns"])
    return {name: _with_tables(each, folder) for name, each in value.items()}


def _table(file: Path, columns: Mapping[str, str | list[str]]) -> pyarrow.Table:
    """The rows of a file, its columns of the types that they have where they come from."""
    try:
        kinds = {name: "string" if isinstance(kind, list) else kind for name, kind in columns.items()}
        options = csv.ConvertOptions(column_types=kinds, null_values=[""], strings_can_be_null=True)
        table = csv.read_csv(file, None, csv.ParseOptions(newlines_in_values=True), options)
        for name, kind in columns.items():
            if isinstance(kind, list):
                known = pyarrow.array(kind, "string")
                codes = compute.index_in(table[name].combine_chunks(), known)
                of_categories = pyarrow.DictionaryArray.from_arrays(codes, known, ordered=True)
                table = table.set_column(table.column_names.index(name), name, of_categories)
    except (OSError, AttributeError, TypeError, ValueError, KeyError, pyarrow.ArrowException) as error:
        raise ReleaseError.one("rows_not_read", File(str(file)), file=file.name, reason=_reason(error)) from None
    return table


def _reason(error: Exception) -> str:
    """What a message says, without a path, which stands beside it."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return said[:1].lower() + said[1:].rstrip(".")
