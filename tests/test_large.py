"""Tables of very many rows: what needs every row has it, the rest is read in a sample of the rows and says so.

Many is 100 here: the limit is a number in `reading/samples.py`, the way behind it is the same.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from dossier import evaluate, reading
from dossier.command_line.cli import dossier
from dossier.core.errors import DossierError
from dossier.core.facts import Count, Fact
from dossier.core.types import POOLED, Absent, Dataset, Estimate, Evidence
from dossier.reading import files, samples
from dossier.record import results
from dossier.report.chapters import description
from dossier.typeset.flags import flag_text
from tests.smallest import HEAD
from tests.test_results import faults as departures

ROWS, LIMIT, DRAWN = 300, 100, 60
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
    (folder / "release.toml").write_text(f"{HEAD}{MORE}{ORIGIN}{named}", encoding="utf-8")
    return folder


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "LARGE", LIMIT)
    monkeypatch.setattr(samples, "DRAWN", DRAWN)


def _large(folder: Path) -> Dataset:
    return next(dataset for dataset in reading.study(folder).datasets if dataset.role == "external")


def _sample(dataset: Dataset) -> Dataset:
    assert dataset.sampled is not None
    return dataset.sampled


def _values(dataset: Dataset, name: str) -> list[float]:
    return [float(value) for predictor in dataset.predictors if predictor.name == name for value in predictor.values]


def _told(folder: Path) -> list[str]:
    with pytest.raises(DossierError) as caught:
        reading.study(folder)
    return [f"{fault.what} {fault.where}" for fault in caught.value.faults]


def _estimates(evidence: Evidence) -> dict[str, dict[str, Any]]:
    rows = [*evidence.results, *evidence.subgroups.results]
    found = [result for result in rows if result.dataset == "large" and not isinstance(result.found, Absent)]
    return {f"{result.term} {result.subset} {sorted(result.at.items())}": vars(result.found) for result in found}


# ---- reading --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["large.parquet", "parts"])
def test_a_table_of_many_rows_has_some_columns_in_all_and_the_others_in_a_sample(
    tmp_path: Path, many: None, file: str
) -> None:
    given = _columns(ROWS, 1)
    found = _large(_release(tmp_path / "release", given, file=file))
    sample = _sample(found)
    assert (found.rows_read, sample.rows_read) == (ROWS, DRAWN)
    assert found.risk is not None
    assert sample.risk is not None
    assert (found.risk.tolist(), found.predictors, found.subgroups) == (given["risk"].tolist(), (), ())
    rows = np.searchsorted(np.sort(given["risk"]), sample.risk)
    places = np.argsort(given["risk"])[rows]
    assert len(set(places.tolist())) == DRAWN
    assert (np.diff(places) > 0).all()
    assert sample.outcome is not None
    assert sample.outcome.tolist() == given["outcome"][places].tolist()
    assert _values(sample, "age") == given["age"][places].tolist()
    assert [("female", "male")[int(code)] for code in _values(sample, "sex")] == given["sex"][places].tolist()


def test_below_the_limit_the_kind_of_file_does_not_show(tmp_path: Path) -> None:
    given = _columns(ROWS, 1)
    each = [
        results.of(evaluate.evidence(reading.study(_release(tmp_path / file, given, file=file))))
        for file in ("large.parquet", "parts", "large.csv")
    ]
    # The names of the files are what they differ in.
    parts = [item.model_dump_json(exclude={"declared", "inputs"}) for item in each]
    assert parts[0] == parts[1] == parts[2]
    assert {dataset.sampled for item in each for dataset in item.datasets} == {None}


def test_another_seed_of_the_release_draws_other_rows(tmp_path: Path, many: None) -> None:
    folder = _release(tmp_path / "release", _columns(ROWS, 1))
    once, again = _sample(_large(folder)), _sample(_large(folder))
    assert _values(once, "age") == _values(again, "age")
    file = folder / "release.toml"
    file.write_text(file.read_text().replace('owner = "The owner"', 'owner = "The owner"\nseed = 7'))
    assert _values(_sample(_large(folder)), "age") != _values(once, "age")


def test_each_site_gives_as_many_rows_as_any_other_or_all(tmp_path: Path, many: None) -> None:
    given = {**_columns(ROWS, 1), "ward": np.repeat(["a", "b", "c"], [10, 50, 240])}
    folder = _release(tmp_path / "release", given, 'site_column = "ward"\n')
    found = {dataset.name: dataset for dataset in reading.study(folder).datasets if dataset.role == "external"}
    assert {name: dataset.rows_read for name, dataset in found.items()} == {
        "large-a": 10,
        "large-b": 50,
        "large-c": 240,
    }
    assert {name: dataset.described.rows_read for name, dataset in found.items()} == {
        "large-a": 10,
        "large-b": 25,
        "large-c": 25,
    }
    assert found["large-a"].sampled is None
    assert _values(found["large-a"], "age") == given["age"][:10].tolist()


def test_the_same_patients_are_drawn_of_each_imputation(tmp_path: Path, many: None) -> None:
    line = _columns(100, 1)
    given = {name: np.tile(values, 3) for name, values in line.items()}
    given |= {"imp": np.repeat([0, 1, 2], 100)}
    found = _large(_release(tmp_path / "release", given, 'imputation = "imp"\n'))
    assert len(found.imputations) == 2
    assert found.original is not None
    drawn = [_values(_sample(dataset), "age") for dataset in (*found.imputations, found.original)]
    assert len(drawn[0]) == 20
    assert drawn[0] == drawn[1] == drawn[2]


@pytest.mark.parametrize("limit", [LIMIT, 2 * ROWS])
def test_an_identifier_that_stands_twice_is_told_alike_in_small_and_in_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(samples, "LARGE", limit)
    given = _columns(ROWS, 1)
    names = [f"p{number}" for number in given["patient"]]
    names[7], names[250], names[290] = "1.0", "1", names[3]
    names[100] = ""
    assert _told(_release(tmp_path / "release", {**given, "patient": names}, 'id = "patient"\n')) == [
        "The identifier is missing. large.parquet, row 101, column patient",
        "The identifier is the same as in row 8. The identifier is the same as in row 4. large.parquet, rows 251 and "
        "291, column patient",
    ]


def test_a_fault_of_a_risk_is_found_in_every_row_and_one_of_a_predictor_says_in_which(
    tmp_path: Path, many: None
) -> None:
    given = _columns(ROWS, 1)
    given["risk"][299] = 1.5
    given["age"][:] = np.inf
    faults = _told(_release(tmp_path / "release", given))
    assert "risk is 1.5, outside 0 to 1. large.parquet, row 300, column risk" in faults
    of_age = [fault for fault in faults if "age is infinite" in fault]
    assert len(of_age) == 1
    assert "large.parquet, in a sample of 60 rows, rows " in of_age[0]
    assert "and 57 more, column age" in of_age[0]


def test_columns_that_are_not_there_are_told_with_all_that_are(tmp_path: Path, many: None) -> None:
    faults = _told(_release(tmp_path / "release", _columns(ROWS, 1), 'predictors = ["agee"]\nweights = "wheights"\n'))
    assert faults == [
        "There is no column agee. large.parquet, first row",
        "There is no column wheights. large.parquet, first row",
    ]


@pytest.mark.parametrize("limit", [LIMIT, 2 * ROWS])
def test_a_file_that_is_damaged_behind_its_footer_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(samples, "LARGE", limit)
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


# ---- what follows ---------------------------------------------------------------------------------------------------


def test_what_needs_predictors_rests_on_the_sample_and_says_so_and_nothing_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _release(tmp_path / "release", _columns(ROWS, 1))
    whole = _estimates(evaluate.evidence(reading.study(folder)))
    monkeypatch.setattr(samples, "LARGE", LIMIT)
    monkeypatch.setattr(samples, "DRAWN", 200)
    evidence = evaluate.evidence(reading.study(folder))
    found = _estimates(evidence)
    remark = Fact("on_a_sample", rows=Count(200, "row"), of=Count(300, "row"))
    of_sample = {name for name, record in found.items() if record["method"] and list(record["method"])[-1] == remark}
    assert {name: found[name] for name in found.keys() - of_sample} == {
        name: whole[name] for name in whole.keys() - of_sample
    }
    assert {name.split()[0] for name in of_sample if " None " in name} >= {"degree_of_correspondence"}
    assert not {name for name in of_sample if " None " in name and name.split()[0] in ("auroc", "brier", "o_e")}
    of_subgroups = {name for name in found if " None " not in name}
    assert of_subgroups == {name for name in whole if " None " not in name}
    assert of_subgroups <= of_sample
    over_all = [result.found for result in evidence.subgroups.results if result.dataset == POOLED]
    methods = [list(each.method) for each in over_all if isinstance(each, Estimate)]
    assert methods
    assert all(method[-1] == remark for method in methods)
    described = {
        (description.described.variable, description.described.statistic): description.described.n
        for description in evidence.descriptions
        if description.dataset == "large"
    }
    assert described["age", "median"] == described["age", "missing"] == 200
    assert described["outcome", "events"] == described["linear predictor", "mean"] == ROWS
    assert [flag_text(flag.fact) for flag in evidence.flags if flag.flag == "sampled"] == [
        "The predictors and subgroups of large are those of 200 rows, drawn at random from 300; every other result "
        "rests on all rows."
    ]
    assert description.sampled(evidence.datasets) == " Large: a random sample of 200 of its 300 patients."
    document = json.loads(results.of(evidence).text())
    assert next(dataset for dataset in document["datasets"] if dataset["name"] == "large")["sampled"] == 200
    assert departures(document, results.schema()) == []


def test_a_development_table_of_many_rows_is_held_against_by_a_sample_of_it(tmp_path: Path, many: None) -> None:
    folder = _release(tmp_path / "release", _columns(90, 1))
    pyarrow.parquet.write_table(pyarrow.table(_columns(ROWS, 2)), folder / "origin.parquet")
    found = _estimates(evaluate.evidence(reading.study(folder)))
    methods = [record["method"] for name, record in found.items() if name.startswith("degree_of_correspondence")]
    assert methods
    remark = Fact("development_sample", rows=Count(DRAWN, "row"), of=Count(ROWS, "row"))
    assert all(list(method)[-1] == remark for method in methods)


def test_check_says_in_how_many_rows_each_column_was_read(tmp_path: Path, many: None) -> None:
    folder = _release(tmp_path / "release", _columns(ROWS, 1), 'id = "patient"\n')
    ran = CliRunner().invoke(dossier, ["check", str(folder)])
    assert ran.exit_code == 0
    table = ran.output.partition("large, large.parquet: 300 rows")[2]
    lines = {line.split()[0]: line for line in table.splitlines() if line.startswith("  ")}
    drawn = {name for name, line in lines.items() if line.endswith("0 of 60 rows drawn")}
    assert drawn == {"age", "sex", "ward"}
    assert {name for name, line in lines.items() if line.endswith("  0")} == {"patient", "outcome", "risk"}
    assert "flag sampled, large: " in ran.output
