"""Releases that somebody damaged: small forms of those that ship, changed at random, each change from its own seed.

A release is its files by name. A change is a function that takes the draw and a `Corrupt` and alters it. `mild` changes
leave a release that builds as often as not, `wild` ones seldom; `edited` and `damaged` are drawn from every kind.
"""

from __future__ import annotations

import codecs
import csv
import datetime
import functools
import gzip
import io
import json
import random
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.csv
import pyarrow.parquet

from dossier.command_line import initial
from dossier.core import flags, material
from dossier.core.register import fill

ROWS = 30
KNOWN_FROM = 20_000
READERS_TABLES = ("labels.csv", "confidence.csv", "complexity.csv")
KEPT = {
    "breast": ("development", "internal", "rotterdam", "gbsg"),
    "biopsy": ("development", "graft-1", "graft-3"),
    "knee": ("development", "internal", "knee-1", "knee-3"),
    "knee-region": ("development", "knee-2", "knee"),
}
"""The datasets that the small form of a release keeps; knee has the readers, the other one a table of many sites."""

LIGHT = ("breast", "initial", "knee-region")
"""Those that are computed fastest."""

Rows = list[list[str]]
Change = Callable[[random.Random, "Corrupt"], None]

ODD_CELLS = (
    *("", " ", "0", "1", "-1", "2", "-9", "99", "999", "0.5", "1.0000001", "-0.0", "1e-320", "1e308", "-1e308", "inf"),
    *("-inf", "nan", "NaN", "NA", "N/A", "NULL", ".", "-", "?", "true", "False", "yes", "0x10", "1_000", "1,5", "1;5"),
    *(
        "50%",
        "1e",
        "+1",
        "١",
        "½",
        "−1",
        "\u200b",
        "é",
        "😀",
        "=1+1",
        "@a",
        "a" * 300,
        "2020-01-01",
        "<b>1</b>",
        "{{7}}",
    ),
    *('"', "'", "\\", "a\tb", "a\nb", "\u202e", "#REF!"),
)
TEXTS = (
    *("", " ", "x", "A" * 4000, "word " * 400, "<script>alert(1)</script>", "<img src='file:///etc/passwd'>"),
    *("</td></tr></table>", "{{ 7 * 7 }}", "{% raw %}", "{# a #}", "$x^2$ $\\frac{1}{2}$", "\\input{/etc/passwd}", "$"),
    *("# head\n\n- a\n- b", "| a | b |\n|---|---|\n| 1 | 2 |", "![i](file:///etc/passwd)", "[l](http://127.0.0.1:9)"),
    *(
        "`code`",
        "=HYPERLINK(1)",
        "]]>",
        "&amp; & &lt;",
        "\u202etfel",
        "日本語",
        "🫀",
        "a\u0301",
        "café",
        "%s %d {0}",
        "\x7f",
    ),
    *("- " * 50, "> " * 50, "[" * 200, "*" * 200, "line\r\nline", "tab\there", "../../x", "null", "None", "NaN"),
)
ODD_VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 2, 10**18, -(10**18), 0.0, 1.0, 0.5, -0.5, 1.5, 1e300, 1e-300, float("nan"), float("inf")),
    *(True, False, "", " ", "x", "0.5", [], [0], [0.5], [0.5, 0.5], [1, 0], ["x"], [[0, 1], [1, 0]], [[]], {}),
    *({"x": 1}, {"from": "raters"}, {"value": 0.5}, datetime.date(2020, 1, 1), datetime.time(1, 2), "pooled"),
    *(datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), "external", "outcome", "risk", "site.csv", "a\0b", "a/b"),
)


@dataclass
class Corrupt:
    """A release on its way to be changed: its tables as rows where they are delimited, the release as TOML gives it."""

    release: dict[str, Any]
    files: dict[str, bytes]
    done: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Case:
    """A corrupt release, ready to be written, with what was done to it."""

    base: str
    done: tuple[str, ...]
    files: Mapping[str, bytes]


# ---- releases to start from -----------------------------------------------------------------------------------------


@functools.cache
def bases() -> dict[str, Mapping[str, bytes]]:
    """The small releases: every table cut, few draws, nothing else changed."""
    found = {name: _small(name) for name in KEPT}
    return {**found, "initial": _cut(initial.files())}


@functools.cache
def broken() -> dict[str, Mapping[str, bytes]]:
    """The releases with one fault each, as they ship."""
    folders = sorted(path for path in (material.fixtures() / "broken").iterdir() if path.is_dir())
    return {folder.name: _read(folder) for folder in folders}


def _read(folder: Path) -> dict[str, bytes]:
    """The files of a folder and of the folders in it, by their paths."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def _small(name: str) -> dict[str, bytes]:
    files = _cut(_read(material.fixtures() / name.partition("-")[0]))
    release = tomllib.loads(files["release.toml"].decode())
    release["dataset"] = [dataset for dataset in release["dataset"] if dataset["name"] in KEPT[name]]
    for key in ("readers", "reader_study", "utility", "h_accuracy") if name == "knee-region" else ():
        del release[key]
    # So few patients at so few hospitals are not pooled.
    if "acceptance" in release:
        release["acceptance"] = [each for each in release["acceptance"] if each.get("dataset") != "pooled"]
    of_dataset = {dataset["name"]: dataset["file"] for dataset in release["dataset"]}
    given = release.get("readers", [])
    every = given if isinstance(given, list) else [given]
    readers = [each for each in every if each["dataset"] in of_dataset]
    release |= {"readers": readers if given is every else given} if readers else {}
    tables = {each[kind]: each for each in readers for kind in ("labels", "confidence", "complexity") if kind in each}
    named = {*of_dataset.values(), "study.csv", *tables}
    kept = {file: content for file, content in files.items() if file in named or file.endswith(".md")}
    for file, each in tables.items():
        if "case" in each:
            kept[file] = _of_cases(kept[file], kept[of_dataset[each["dataset"]]])
    return {**kept, "release.toml": toml(release)}


def _of_cases(labels: bytes, table: bytes) -> bytes:
    """The rows of a readers' table whose case, its first column, is left in the table of patients."""
    head, *rows = labels.splitlines(keepends=True)
    known = {line.split(b",")[0] for line in table.splitlines()}
    return b"".join([head, *(row for row in rows if row.split(b",")[0] in known)])


def _cut(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The first rows of every table, and few draws; the readers' tables have no header."""
    small = {}
    for name, content in files.items():
        if name.endswith((".csv", ".tsv")):
            rows = 4 * ROWS if name in ("study.csv", "splits.csv") else ROWS
            lines = content.splitlines(keepends=True)
            if name == "region.csv":
                lines = [lines[0], *lines[1 :: len(lines) // ROWS]]
            small[name] = b"".join(lines[: rows + (name not in READERS_TABLES)])
        elif name.endswith(".parquet"):
            table = pyarrow.parquet.read_table(pyarrow.BufferReader(content)).slice(0, ROWS)
            stream = io.BytesIO()
            pyarrow.parquet.write_table(table, stream)
            small[name] = stream.getvalue()
        elif name == "release.toml":
            small[name] = re.sub(rb"\n(bootstrap|permutations) = \d+", rb"\n\1 = 9", content)
        else:
            small[name] = content
    return small


# ---- TOML -----------------------------------------------------------------------------------------------------------


def toml(release: Mapping[str, Any]) -> bytes:
    """A release as a file, line by line as a person would write it."""
    top = [f"{_key(key)} = {_value(value)}" for key, value in release.items() if not _is_table(value)]
    tables = [
        f"\n{head}\n" + "\n".join(f"{_key(name)} = {_value(part)}" for name, part in table.items())
        for key, value in release.items()
        if _is_table(value)
        for head, table in (
            [(f"[{_key(key)}]", value)] if isinstance(value, dict) else [(f"[[{_key(key)}]]", part) for part in value]
        )
    ]
    return ("\n".join([*top, *tables]) + "\n").encode("utf-8", "surrogatepass")


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(part, dict) for part in value)
    )


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(name)} = {_value(part)}" for name, part in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(part) for part in value) + "]"
    return value.isoformat() if hasattr(value, "isoformat") else repr(value)


# ---- tables ---------------------------------------------------------------------------------------------------------


def _delimiter(name: str) -> str:
    return "\t" if name.endswith(".tsv") else ","


def _rows(corrupt: Corrupt, name: str) -> Rows:
    text = corrupt.files[name].decode("utf-8", "replace").replace("\0", "")
    # A cell of a megabyte is one of the changes, and the next change must be able to read it.
    limit = csv.field_size_limit(sys.maxsize)
    try:
        return [row for row in csv.reader(io.StringIO(text, newline=None), delimiter=_delimiter(name)) if row]
    finally:
        csv.field_size_limit(limit)


def _put(corrupt: Corrupt, name: str, rows: Rows) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=_delimiter(name), lineterminator="\n").writerows(rows)
    corrupt.files[name] = stream.getvalue().encode()


def _a_table(draw: random.Random, corrupt: Corrupt) -> tuple[str, Rows]:
    names = sorted(name for name in corrupt.files if name.endswith((".csv", ".tsv")))
    name = draw.choice(names)
    return name, _rows(corrupt, name)


def _a_dataset(draw: random.Random, corrupt: Corrupt) -> tuple[str, Rows]:
    """A table of patients: not of readers, and not in a format of bytes."""
    given = corrupt.release.get("dataset")
    named = [part.get("file") for part in given if isinstance(part, dict)] if isinstance(given, list) else []
    names = [
        name for name in named if isinstance(name, str) and name.endswith((".csv", ".tsv")) and name in corrupt.files
    ]
    return (name := draw.choice(names)), _rows(corrupt, name)


def _a_column(draw: random.Random, corrupt: Corrupt, rows: Rows, of_a_role: bool) -> int:
    release = corrupt.release
    prediction, outcome = release.get("prediction"), release.get("outcome")
    names: list[Any] = [outcome.get("column")] if isinstance(outcome, dict) else []
    if isinstance(prediction, dict):
        names += [prediction.get("column"), prediction.get("rival")]
        for key in ("columns", "rivals"):
            names += prediction[key] if isinstance(prediction.get(key), list) else []
    renamed = {"oa_mri", "model_output", "clinical_output"}
    taken = renamed | {name for name in names if isinstance(name, str)}
    places = [k for k, name in enumerate(rows[0]) if (name in taken) == of_a_role]
    return draw.choice(places or range(len(rows[0])))


def _cells(draw: random.Random, corrupt: Corrupt, of_a_role: bool) -> None:
    name, rows = _a_dataset(draw, corrupt)
    index = _a_column(draw, corrupt, rows, of_a_role)
    odd = draw.choice(ODD_CELLS)
    many = draw.choice((1, 1, 2, 5, len(rows)))
    for row in draw.sample(rows[1:], min(many, len(rows) - 1)):
        if index < len(row):
            row[index] = odd
    _put(corrupt, name, rows)


def odd_predictor(draw: random.Random, corrupt: Corrupt) -> None:
    """A predictor, an identifier or another column with an odd value in some rows or all."""
    _cells(draw, corrupt, of_a_role=False)


def odd_outcome_or_risk(draw: random.Random, corrupt: Corrupt) -> None:
    """The outcome or a risk with an odd value in some rows or all."""
    _cells(draw, corrupt, of_a_role=True)


def empty_cells(draw: random.Random, corrupt: Corrupt) -> None:
    """A share of the cells of any column is empty."""
    name, rows = _a_dataset(draw, corrupt)
    position, share = draw.randrange(len(rows[0])), draw.choice((0.05, 0.3, 0.9, 1.0))
    for row in rows[1:]:
        if position < len(row) and draw.random() < share:
            row[position] = ""
    _put(corrupt, name, rows)


def few_rows(draw: random.Random, corrupt: Corrupt) -> None:
    """A table is cut to a small sample."""
    name, rows = _a_dataset(draw, corrupt)
    kept = draw.choice((0, 1, 1, 2, 3, 5, 10, 20))
    _put(corrupt, name, [rows[0], *draw.sample(rows[1:], min(kept, len(rows) - 1))])


def repeated_rows(draw: random.Random, corrupt: Corrupt) -> None:
    """Some rows stand twice."""
    name, rows = _a_dataset(draw, corrupt)
    _put(corrupt, name, [*rows, *draw.choices(rows[1:] or rows, k=draw.choice((1, 5, 20)))])


def other_order(draw: random.Random, corrupt: Corrupt) -> None:
    """Rows or columns in another order."""
    name, rows = _a_dataset(draw, corrupt)
    if draw.random() < 0.5:
        body = rows[1:]
        draw.shuffle(body)
        rows = [rows[0], *body]
    else:
        order = draw.sample(range(len(rows[0])), len(rows[0]))
        rows = [[row[k] for k in order if k < len(row)] for row in rows]
    _put(corrupt, name, rows)


def one_value(draw: random.Random, corrupt: Corrupt) -> None:
    """A column has the same value in every row: one class, one risk, one predictor's value."""
    name, rows = _a_dataset(draw, corrupt)
    index = _a_column(draw, corrupt, rows, draw.random() < 0.7)
    same = draw.choice([row[index] for row in rows[1:] if index < len(row)] or ["1"])
    for row in rows[1:]:
        if index < len(row):
            row[index] = same
    _put(corrupt, name, rows)


def other_scale(draw: random.Random, corrupt: Corrupt) -> None:
    """A column in other units: times a hundred, shifted, negative, rounded, squeezed to the ends."""
    name, rows = _a_dataset(draw, corrupt)
    position = draw.randrange(len(rows[0]))
    scales: tuple[Callable[[float], float], ...] = (
        lambda value: value * 100,
        lambda value: value / 1000,
        lambda value: value - 1,
        lambda value: -value,
        lambda value: 4 * value - 2,
        round,
        lambda value: value**8,
        lambda value: 1 - value,
    )
    scale = draw.choice(scales)
    for row in rows[1:]:
        try:
            row[position] = repr(scale(float(row[position])))
        except (ValueError, IndexError, OverflowError):
            continue
    _put(corrupt, name, rows)


def another_column(draw: random.Random, corrupt: Corrupt) -> None:
    """A column is dropped, renamed, doubled or exchanged with another."""
    name, rows = _a_table(draw, corrupt)
    position = draw.randrange(len(rows[0]))
    kind = draw.choice(("drop", "rename", "double", "swap", "blank"))
    if kind == "drop":
        rows = [[cell for k, cell in enumerate(row) if k != position] for row in rows]
    elif kind == "rename":
        rows[0][position] = draw.choice(
            (rows[0][position].upper(), rows[0][position] + "x", "new", *TEXTS[:8], *ODD_CELLS[-8:])
        )
    elif kind == "double":
        rows = [[*row, row[position] if position < len(row) else ""] for row in rows]
    elif kind == "swap":
        other = draw.randrange(len(rows[0]))
        rows[0][position], rows[0][other] = rows[0][other], rows[0][position]
    else:
        rows[0][position] = ""
    _put(corrupt, name, rows)


def ragged(draw: random.Random, corrupt: Corrupt) -> None:
    """A row has more or fewer cells, or is blank."""
    name, rows = _a_table(draw, corrupt)
    row = draw.choice(rows)
    row[:] = draw.choice(([*row, "1"], row[:-1], [], [""], ["", *row]))
    _put(corrupt, name, rows)


def any_cell(draw: random.Random, corrupt: Corrupt) -> None:
    """A cell of any table, the first line and the readers' included, holds something odd."""
    name, rows = _a_table(draw, corrupt)
    row = draw.choice(rows)
    row[draw.randrange(len(row))] = draw.choice(ODD_CELLS)
    _put(corrupt, name, rows)


def new_column(draw: random.Random, corrupt: Corrupt) -> None:
    """A column more, in every table of patients: constant, texts, numbers near the limits, or gaps."""
    label = draw.choice(("extra", "Extra 2", "größe", "<b>x</b>", "=x", "x" * 120))
    cells = draw.choice((("1",), ("a", "b"), ("0", "-9", "999", "5"), ("1e308", "-1e308"), ("", "1"), ("1e-300", "2")))
    for dataset in corrupt.release["dataset"]:
        if dataset["file"].endswith((".csv", ".tsv")) and dataset["file"] in corrupt.files:
            rows = _rows(corrupt, dataset["file"])
            _put(
                corrupt,
                dataset["file"],
                [[*row, label if k == 0 else draw.choice(cells)] for k, row in enumerate(rows)],
            )


def same_patients(draw: random.Random, corrupt: Corrupt) -> None:
    """A table of patients stands in the place of another."""
    (first, rows), (other, _) = _a_dataset(draw, corrupt), _a_dataset(draw, corrupt)
    if _delimiter(first) == _delimiter(other):
        _put(corrupt, other, rows)


# ---- bytes ----------------------------------------------------------------------------------------------------------


def flipped_bytes(draw: random.Random, corrupt: Corrupt) -> None:
    """Some bytes of a file are others."""
    name = draw.choice(sorted(corrupt.files))
    content = bytearray(corrupt.files[name])
    for _ in range(draw.choice((1, 1, 2, 10))):
        if content:
            content[draw.randrange(len(content))] = draw.choice((draw.randrange(256), 0, 0x22, 0x0A, 0x2C, 0xFF))
    corrupt.files[name] = bytes(content)


def truncated(draw: random.Random, corrupt: Corrupt) -> None:
    """A file ends early, or is empty, or blank."""
    name = draw.choice(sorted(corrupt.files))
    content = corrupt.files[name]
    cut = content[: draw.randrange(len(content) + 1)]
    corrupt.files[name] = draw.choice(
        (cut, cut, cut, b"", b"\n\n", b" ", codecs.BOM_UTF8, b'"', content.split(b"\n")[0])
    )


def other_encoding(draw: random.Random, corrupt: Corrupt) -> None:
    """A file in another encoding, or with other ends of lines."""
    name = draw.choice(sorted(corrupt.files))
    content = corrupt.files[name]
    text = content.decode("utf-8", "replace")
    corrupt.files[name] = draw.choice(
        (
            text.encode("utf-16"),
            ("é" + text).encode("latin-1", "replace"),
            codecs.BOM_UTF8 + content,
            codecs.BOM_UTF8 * 2 + content,
            content.replace(b"\n", b"\r\n"),
            content.replace(b"\n", b"\r"),
            content.replace(b"\n", b"\n\n"),
            b"\n" + content,
            content.replace(b",", b";"),
            content.replace(b",", b", "),
            gzip.compress(content, mtime=0),
            content + b"\0",
            content + b"\x1a",
            content + "\u2028".encode(),
        )
    )


def another_file(draw: random.Random, corrupt: Corrupt) -> None:
    """A file is gone, or is another one."""
    first, other = (draw.choice(sorted(corrupt.files)) for _ in range(2))
    if draw.random() < 0.5:
        del corrupt.files[first]
    else:
        corrupt.files[first] = corrupt.files[other]


def another_line(draw: random.Random, corrupt: Corrupt) -> None:
    """A line of release.toml is gone, doubled, moved or bent."""
    lines = corrupt.files["release.toml"].decode("utf-8", "replace").splitlines()
    position = draw.randrange(len(lines))
    line = lines[position]
    bent = line.replace("=", draw.choice(("", ":", "==", "= =")), 1) if draw.random() < 0.5 else line[: len(line) // 2]
    lines[position : position + 1] = draw.choice(([], [line, line], [bent], [line, "]"], [line + '"'], ["[", line]))
    if draw.random() < 0.2:
        draw.shuffle(lines)
    corrupt.files["release.toml"] = ("\n".join(lines) + "\n").encode()


# ---- what is declared -----------------------------------------------------------------------------------------------


def _tables(value: Any) -> list[dict[str, Any]]:
    """Every table of a release, however deep."""
    if isinstance(value, dict):
        return [value, *(table for part in value.values() for table in _tables(part))]
    return [table for part in value for table in _tables(part)] if isinstance(value, list) else []


def _a_key(draw: random.Random, corrupt: Corrupt) -> tuple[dict[str, Any], str]:
    tables = [table for table in _tables(corrupt.release) if table and table is not corrupt.release.get("statements")]
    table = draw.choice(tables)
    return table, draw.choice(list(table))


def odd_value(draw: random.Random, corrupt: Corrupt) -> None:
    """A key of release.toml has an odd value."""
    table, key = _a_key(draw, corrupt)
    table[key] = draw.choice((*ODD_VALUES, *TEXTS))


def other_number(draw: random.Random, corrupt: Corrupt) -> None:
    """A number or a text of release.toml is changed a little, or a list shortened, lengthened or reversed."""
    table, key = _a_key(draw, corrupt)
    value = table[key]
    if isinstance(value, bool):
        table[key] = not value
    elif isinstance(value, (int, float)):
        table[key] = draw.choice((value * 2, -value, value / 10, value * 100, 0, 1, round(value)))
    elif isinstance(value, str):
        table[key] = draw.choice((value.upper(), value[:-1], value + "x", value + " ", value[::-1]))
    elif isinstance(value, list) and value:
        table[key] = draw.choice(
            (value[:-1], value + value[:1], value[::-1], value[:1], [], draw.sample(value, len(value)))
        )


def key_gone(draw: random.Random, corrupt: Corrupt) -> None:
    """A key of release.toml is gone."""
    table, key = _a_key(draw, corrupt)
    del table[key]


def key_renamed(draw: random.Random, corrupt: Corrupt) -> None:
    """A key of release.toml has another name."""
    table, key = _a_key(draw, corrupt)
    table[draw.choice((key + "s", key[:-1] or "x", key.upper(), "new", "<i>", "time", "refit"))] = table.pop(key)


def key_moved(draw: random.Random, corrupt: Corrupt) -> None:
    """A key of release.toml stands in another table."""
    (table, key), (other, _) = _a_key(draw, corrupt), _a_key(draw, corrupt)
    if not any(part is other for part in _tables(table[key])):
        other[key] = table.pop(key)


def another_dataset(draw: random.Random, corrupt: Corrupt) -> None:
    """A dataset is gone, stands twice, has another role or another's table."""
    datasets = corrupt.release["dataset"]
    record = draw.choice(datasets)
    kind = draw.choice(("gone", "twice", "named", "role", "file"))
    if kind == "gone":
        datasets.remove(record)
    elif kind in ("twice", "named"):
        datasets.append(
            {**record, "name": record["name"] if kind == "twice" else draw.choice(("again", "x.y-z", "pooled"))}
        )
    elif kind == "role":
        record["role"] = draw.choice(("development", "internal", "external"))
    else:
        record["file"] = draw.choice(datasets)["file"]


def odd_text(draw: random.Random, corrupt: Corrupt) -> None:
    """Words that are printed, with what a page or a program might take for its own."""
    text = draw.choice(TEXTS)
    release = corrupt.release
    position = draw.randrange(8)
    if position == 0:
        release["release"][draw.choice(("model", "version", "owner", "tester"))] = text
    elif position == 1:
        release["outcome"][draw.choice(("name", "horizon"))] = text
    elif position == 2:
        release.setdefault("thresholds", {})["rationale"] = text
    elif position == 3:
        draw.choice(release["dataset"])["site"] = text
    elif position == 4:
        release["statements"] = dict.fromkeys(("3b", "4", "9b", "11", "18a", "26"), text)
    elif position == 5:
        release["intended_use"] = {"for": text, "not_for": [text] * 3, "users": text, "decision": text}
    elif position == 6:
        release["signatory"] = [{"name": text, "role": text, "meaning": text}]
        release["revision"] = [{"number": text, "date": datetime.date(2026, 1, 1), "change": text}]
    else:
        release["care"] = dict.fromkeys(("threshold_owner", "monitoring", "review", "stop_rule"), text)


def more_declared(draw: random.Random, corrupt: Corrupt) -> None:
    """A part that the release did not have: a subgroup, criteria, weights, parts of the curve, answers, settings."""
    draw.choice(_PARTS)(draw, corrupt.release, corrupt)


def _subgroup(draw: random.Random, release: dict[str, Any], corrupt: Corrupt) -> None:
    _, rows = _a_dataset(draw, corrupt)
    record: dict[str, Any] = {"column": draw.choice(rows[0])}
    kind = draw.randrange(3)
    if kind == 1:
        record["cuts"] = sorted(draw.sample((0, 1, 2, 0.5, 20, 50, 65, 1e6), draw.choice((1, 2, 3))))
    elif kind == 2:
        record["levels"] = {"0": "no", "1": "yes <b>", "north": "n"}
    release["subgroup"] = [*_listed(release, "subgroup"), record]


def _listed(release: dict[str, Any], key: str) -> list[Any]:
    return release[key] if isinstance(release.get(key), list) else []


def _criterion(draw: random.Random, release: dict[str, Any], corrupt: Corrupt) -> None:
    names = [dataset.get("name", "x") for dataset in release["dataset"]]
    record: dict[str, Any] = {
        "measure": draw.choice(_measures()),
        "dataset": draw.choice(("each external", "each external", "pooled", *names)),
        "bound": draw.choice(("value", "low", "high")),
        "at_least": draw.choice((0, 0.5, -1e9, 1e9)),
    }
    if draw.random() < 0.7:
        record |= {"reason": "Why.", "caution_reason": "Why."}
    if draw.random() < 0.4:
        record["at"] = draw.choice(
            ({"threshold": 0.5}, {"threshold": 0.25}, {"against": "the rival"}, {"class": "G1"}, {"x": 1})
        )
    if draw.random() < 0.2:
        record["subset"] = draw.choice(
            ({"column": "Sex", "level": "female"}, "x", {"column": "age", "level": "under 50"})
        )
    release["acceptance"] = [*_listed(release, "acceptance"), record]


@functools.cache
def _measures() -> tuple[str, ...]:
    register = fill("metrics")
    terms = [metric.term for metric in register.metrics.values()] + [
        synthesis.term for synthesis in register.syntheses.values()
    ]
    return tuple(sorted({term.measure for term in terms}))


def _other_settings(draw: random.Random, release: dict[str, Any], corrupt: Corrupt) -> None:
    name, settings = draw.choice(
        (
            ("resampling", {"bootstrap": draw.choice((2, 3, 9)), "permutations": draw.choice((1, 2, 9))}),
            ("roc", {"parts": draw.choice(([[0, 0.01]], [[0, 1]], [[0.5, 0.5]], [[0.9, 1], [0, 0.2]]))}),
            ("severity", {"weights": draw.choice(([[0, 1], [1, 0]], [[0, 0], [0, 0]], [[0, 0.3], [1e-9, 0]]))}),
            ("robustness", {"minimum": draw.choice(({"auroc": 1.0}, {"auroc": -5.0}, {"brier": 0.2}))}),
            ("sample", {"width": draw.choice(({"auroc": 1e-9}, {"oe_ratio": 1e9}, {"brier": 2.0}))}),
            ("thresholds", {"declared": draw.choice(([], [1e-12], [0.999999], [0.1 * k for k in range(1, 10)]))}),
            ("thresholds", {"declared": [0.5], "range": draw.choice(([0.001, 0.002], [1e-9, 1 - 1e-9]))}),
            ("h_accuracy", {"priority": draw.choice(([0], [1], [0, 1], [])), "tau": draw.choice(([0], [1], []))}),
            ("h_accuracy", {"priority_from": ["prevalence", "complement", "net_benefit"], "tau": [0.5]}),
            ("utility", {"gamma": draw.choice(([0], [1, 0], [0.5], []))}),
            ("reader_study", {"counts": {key: draw.choice((0, 1, 5, 10**6)) for key in ("aie", "ain", "ce", "cn")}}),
        )
    )
    release[name] = settings


def _answers(draw: random.Random, release: dict[str, Any], corrupt: Corrupt) -> None:
    names = [dataset.get("name", "x") for dataset in release["dataset"]]
    record = {"flag": draw.choice(list(flags.FLAGS)), "says": draw.choice(TEXTS) or "x"}
    if draw.random() < 0.5:
        record["dataset"] = draw.choice((*names, "pooled"))
    release["reply"] = [*_listed(release, "reply"), record]


def _other_level(draw: random.Random, release: dict[str, Any], corrupt: Corrupt) -> None:
    release["release"]["level"] = draw.choice((0.5, 0.9, 0.9999, 0.001))
    release["release"]["seed"] = draw.choice((0, 1, 2**31, 2**64, 10**30))


def _other_columns(draw: random.Random, release: dict[str, Any], corrupt: Corrupt) -> None:
    part = draw.choice(release["dataset"])
    _, rows = _a_dataset(draw, corrupt)
    key, value = draw.choice(
        (
            ("predictors", draw.sample(rows[0], min(len(rows[0]), draw.randrange(6)))),
            ("categorical", draw.sample(rows[0], min(len(rows[0]), 2))),
            ("missing", {"*": [draw.choice(ODD_CELLS), 0]}),
            ("missing", {draw.choice(rows[0]): [1, "a", True, 0.5]}),
            ("columns", {draw.choice(rows[0]): draw.choice(rows[0])}),
            ("site_column", draw.choice(rows[0])),
            ("id", draw.choice(rows[0])),
            ("split", draw.choice(rows[0])),
        )
    )
    part[key] = value
    if key == "site_column":
        part.pop("site", None)


_PARTS = (
    _subgroup,
    _subgroup,
    _criterion,
    _criterion,
    _other_settings,
    _other_settings,
    _answers,
    _other_level,
    _other_columns,
)

MILD: tuple[Change, ...] = (
    *(odd_predictor, empty_cells, few_rows, repeated_rows, other_order, one_value, new_column, same_patients),
    *(odd_text, odd_text, more_declared, more_declared, more_declared, another_dataset),
)
WILD: tuple[Change, ...] = (
    *(odd_outcome_or_risk, other_scale, another_column, ragged, any_cell, odd_value, odd_value, other_number),
    *(key_gone, key_renamed, key_moved),
)
BYTES: tuple[Change, ...] = (flipped_bytes, truncated, other_encoding, another_file, another_line)


# ---- one input ------------------------------------------------------------------------------------------------------


def case(seed: int, number: int, short: bool = False) -> Case:
    """The input of that number: half are changed mildly, a quarter wildly, a quarter are a known fault changed once.

    Of the numbers from KNOWN_FROM on every one is a known fault, so that the seldom ones are met often enough.
    """
    draw = random.Random(f"{seed}/{number}")
    kind = draw.random() if number < KNOWN_FROM else 0.0
    library = (
        broken() if kind < 0.25 else {name: files for name, files in bases().items() if name in LIGHT or not short}
    )
    base = draw.choice(sorted(library))
    files = dict(library[base])
    if kind < 0.25:
        return _changed(draw, base, files, [] if draw.random() < 0.5 else [draw.choice((*MILD, *WILD))])
    if kind < 0.75:
        return _changed(draw, base, files, draw.choices(MILD, k=draw.choice((1, 1, 2, 3))))
    return _changed(draw, base, files, draw.choices((*WILD, *WILD, *MILD, *BYTES), k=draw.choice((1, 1, 2, 3))))


def _changed(draw: random.Random, base: str, files: dict[str, bytes], changes: Sequence[Change]) -> Case:
    """The files with the changes, those of bytes last: after them the release may be no TOML any more."""
    content = files.pop("release.toml", None)
    try:
        release = {} if content is None else tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        release = {}
    corrupt = Corrupt(release, files)
    inner = [change for change in changes if change not in BYTES]
    for change in inner if release else ():
        # What a change of a change looks for may be gone; then it is none.
        try:
            change(draw, corrupt)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError):
            continue
        corrupt.done.append(change.__name__)
    if content is not None:
        corrupt.files["release.toml"] = toml(release) if corrupt.done else content
    for change in (part for part in changes if part in BYTES and "release.toml" in corrupt.files):
        change(draw, corrupt)
        corrupt.done.append(change.__name__)
    return Case(base, tuple(corrupt.done), corrupt.files)
