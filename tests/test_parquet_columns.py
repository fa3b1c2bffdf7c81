"""Tables in parquet files, which are read column by column: as the same rows in other files."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest

from dossier import evaluate, reading
from dossier.reading import files
from dossier.record import results
from tests.estimated import refused
from tests.smallest import HEAD, release_in

ROWS = 300
MORE = """
[resampling]
bootstrap = 20
permutations = 19
[thresholds]
declared = [0.3]
range = [0.1, 0.6]
rationale = "R"
[[subgroup]]
column = "sex"
"""
ORIGIN = '[[dataset]]\nname = "origin"\nrole = "development"\nfile = "origin.parquet"\npredictors = ["age", "sex"]\n'


def _columns(rows: int, seed: int) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    risk = draw.uniform(0.05, 0.95, rows)
    return {
        "patient": np.arange(rows) + 1000,
        "outcome": (draw.uniform(size=rows) < risk).astype(int),
        "risk": risk,
        "age": np.round(draw.normal(60, 10, rows), 3),
        "sex": np.array(["female", "male"])[draw.integers(0, 2, rows)],
        "ward": draw.integers(1, 5, rows),
    }


def _release(folder: Path, large: dict[str, Any], more: str = "", file: str = "large.parquet") -> Path:
    """A development table, and one in row groups of 40 rows."""
    folder.mkdir(exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table(_columns(80, 2)), folder / "origin.parquet")
    table = pyarrow.table(large)
    if file.endswith(".csv"):
        pyarrow.csv.write_csv(table, folder / file)
    elif file.endswith(".parquet"):
        pyarrow.parquet.write_table(table, folder / file, row_group_size=40)
    else:
        (folder / file).mkdir()
        for k in range(3):
            part = table.slice(100 * k, 100)
            pyarrow.parquet.write_table(part, folder / file / f"part-{k}.parquet", row_group_size=40)
    named = f'[[dataset]]\nname = "large"\nrole = "external"\nfile = "{file}"\n{more}'
    return release_in(folder, f"{HEAD}{MORE}{ORIGIN}{named}")


def _told(folder: Path) -> list[str]:
    return [f"{fault.what} {fault.where}" for fault in refused(reading.study, folder).faults]


# ---- reading --------------------------------------------------------------------------------------------------------


def test_the_kind_of_file_does_not_show(tmp_path: Path) -> None:
    given = _columns(ROWS, 1)
    each = [
        results.of(evaluate.evidence(reading.study(_release(tmp_path / file, given, file=file))))
        for file in ("large.parquet", "parts", "large.csv")
    ]
    # The names of the files are what they differ in.
    parts = [item.model_dump_json(exclude={"declared", "inputs"}) for item in each]
    assert parts[0] == parts[1] == parts[2]


def test_an_identifier_that_stands_twice_is_told(tmp_path: Path) -> None:
    given = _columns(ROWS, 1)
    names = [f"p{number}" for number in given["patient"]]
    names[7], names[250], names[290] = "1.0", "1", names[3]
    names[100] = ""
    assert _told(_release(tmp_path / "release", {**given, "patient": names}, 'id = "patient"\n')) == [
        "The identifier is missing. large.parquet, row 101, column patient",
        "The identifier is the same as in row 8. The identifier is the same as in row 4. large.parquet, rows 251 and "
        "291, column patient",
    ]


def test_columns_that_are_not_there_are_told_with_all_that_are(tmp_path: Path) -> None:
    faults = _told(_release(tmp_path / "release", _columns(ROWS, 1), 'predictors = ["agee"]\nweights = "wheights"\n'))
    assert faults == [
        "There is no column agee. large.parquet, first row",
        "There is no column wheights. large.parquet, first row",
    ]


def test_a_file_that_is_damaged_behind_its_footer_is_told(tmp_path: Path) -> None:
    folder = _release(tmp_path / "release", _columns(ROWS, 1))
    file = folder / "large.parquet"
    content = bytearray(file.read_bytes())
    content[100:4000] = bytes(3900)
    file.write_bytes(content)
    assert _told(folder) == ["large.parquet is not a parquet file. large.parquet"]


def test_a_file_is_hashed_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PIECE", 7)
    folder = _release(tmp_path / "release", _columns(ROWS, 1))
    content = (folder / "large.parquet").read_bytes()
    found = next(file for file in reading.study(folder).inputs if file.name == "large.parquet")
    assert (found.sha256, found.size) == (hashlib.sha256(content).hexdigest(), len(content))
