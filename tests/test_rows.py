"""`rows` of a [[dataset]]: only the rows that it asks for are read as data, and the others are counted."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pyarrow.csv
import pyarrow.parquet
import pytest

import dossier
from dossier import evaluate, reading
from dossier.core.errors import DossierError
from dossier.core.facts import Count
from dossier.core.types import Dataset, Study
from dossier.record import results
from dossier.typeset.flags import flag_text
from tests.estimated import refused
from tests.reference.built import hurried
from tests.smallest import HEAD, QUICK, SITE


def table(rows: int = 120) -> str:
    """Rows of three wards and four regions, numbered; the outcome and the risk follow from the number."""
    lines = ["case,region,ward,age,outcome,risk"]
    for number in range(rows):
        ward = ("north", "south", "east")[number % 3]
        lines.append(f"{number},{5 + number % 4},{ward},{40 + number % 37},{number % 2},{(number % 9 + 1) / 10}")
    return "\n".join(lines) + "\n"


def study(folder: Path, keys: str, content: str | None = None, file: str = "site.csv") -> Study:
    (folder / "release.toml").write_text(HEAD + QUICK + SITE.replace("site.csv", file) + keys)
    if content is not None:
        (folder / file).write_text(content)
    return reading.study(folder)


def ages(dataset: Dataset) -> list[float]:
    return next(predictor.values.tolist() for predictor in dataset.predictors if predictor.name == "age")


@pytest.mark.parametrize("region", ["[6, 7]", "[7.0, 6.0]", '["6", "7"]'])
def test_only_the_selected_rows_are_data_and_the_others_are_counted(tmp_path: Path, region: str) -> None:
    found = study(tmp_path, f'predictors = ["age"]\nrows = {{ region = {region} }}\n', table())
    (dataset,) = found.datasets
    kept = [number for number in range(120) if 5 + number % 4 in (6, 7)]
    assert ages(dataset) == [40 + number % 37 for number in kept]
    assert dataset.rows_read == 120
    assert dict(dataset.excluded) == {"not_selected": 60, "outcome_missing": 0, "risk_missing": 0}
    assert dataset.rows_analysed == 60
    (settled,) = found.tables
    assert (settled.rows, settled.left_out, settled.of_no_dataset) == (60, 60, 0)


def test_a_row_has_to_fit_every_column(tmp_path: Path) -> None:
    found = study(tmp_path, 'rows = { region = [5, 6], ward = ["north"] }\n', table())
    fitting = [number for number in range(120) if number % 4 in (0, 1) and number % 3 == 0]
    assert found.datasets[0].rows_analysed == len(fitting) == 20


def test_what_another_row_holds_is_no_fault(tmp_path: Path) -> None:
    corrupted = table() + "121,99,north,50,1,1.7\n122,99,south,,,\n"
    with pytest.raises(DossierError, match="outside 0 to 1"):
        study(tmp_path, "", corrupted)
    assert study(tmp_path, "rows = { region = [5] }\n").datasets[0].rows_analysed == 30


def test_without_rows_nothing_is_said_of_them(tmp_path: Path) -> None:
    (dataset,) = study(tmp_path, "", table()).datasets
    assert "not_selected" not in dataset.excluded


def test_each_site_counts_its_own_and_a_site_without_any_is_no_dataset(tmp_path: Path) -> None:
    keys = 'site_column = "ward"\nrows = { ward = ["north", "south"], region = [5, 6, 7] }\n'
    found = study(tmp_path, keys, table())
    assert [(dataset.name, dataset.rows_read, dataset.rows_analysed) for dataset in found.datasets] == [
        ("site-north", 40, 30),
        ("site-south", 40, 30),
    ]
    (flag,) = [each for each in found.flags if each.flag == "rows_selected"]
    assert flag.fact["rows"] == Count(40, "row")
    assert found.tables[0].of_no_dataset == 40


def test_each_imputation_counts_its_own(tmp_path: Path) -> None:
    lines = table(60).splitlines()
    stacked = [f"imp,{lines[0]}"] + [f"{number},{line}" for number in (1, 2) for line in lines[1:]]
    found = study(tmp_path, 'imputation = "imp"\nrows = { region = [5] }\n', "\n".join(stacked) + "\n")
    for imputation in found.datasets[0].imputations:
        assert (imputation.rows_read, imputation.rows_analysed, imputation.excluded["not_selected"]) == (60, 15, 45)


def test_a_parquet_folder_gives_the_same(tmp_path: Path) -> None:
    plain = study(tmp_path, 'predictors = ["age"]\nrows = { region = [6] }\n', table())
    whole = pyarrow.csv.read_csv(tmp_path / "site.csv")
    (tmp_path / "parts").mkdir()
    pyarrow.parquet.write_table(whole.slice(0, 50), tmp_path / "parts" / "a.parquet")
    pyarrow.parquet.write_table(whole.slice(50), tmp_path / "parts" / "b.parquet")
    stored = study(tmp_path, 'predictors = ["age"]\nrows = { region = [6] }\n', file="parts")
    assert ages(stored.datasets[0]) == ages(plain.datasets[0])
    assert dict(stored.datasets[0].excluded) == dict(plain.datasets[0].excluded)


def test_a_row_of_a_parquet_folder_is_named_as_in_its_files(tmp_path: Path) -> None:
    """A wrong risk in per cent is told with its file, however many rows before it are left out."""
    (tmp_path / "parts").mkdir()
    lines = table().splitlines()
    for name, some, scale in (("a", lines[1:61], 1), ("b", lines[61:], 100)):
        cells = [line.split(",") for line in some]
        scaled = [",".join([*cell[:-1], f"{float(cell[-1]) * scale:g}"]) for cell in cells]
        (tmp_path / "one.csv").write_text("\n".join([lines[0], *scaled]) + "\n")
        written = pyarrow.csv.read_csv(
            tmp_path / "one.csv", convert_options=pyarrow.csv.ConvertOptions(column_types={"risk": "double"})
        )
        pyarrow.parquet.write_table(written, tmp_path / "parts" / f"{name}.parquet")
    assert "b.parquet" in refused(study, tmp_path, "rows = { region = [6, 7] }\n", file="parts").faults[0].where


def test_a_selecting_column_is_a_predictor_only_where_it_is_called_one(tmp_path: Path) -> None:
    development = '[[dataset]]\nname = "made"\nrole = "development"\nfile = "site.csv"\nid = "case"\n'
    found = study(tmp_path, f'rows = {{ ward = ["north"] }}\nid = "case"\n{development}', table())
    assert [predictor.name for predictor in found.datasets[0].predictors] == ["region", "age"]
    named = study(tmp_path, f'rows = {{ ward = ["north"] }}\npredictors = ["ward"]\nid = "case"\n{development}')
    assert [predictor.name for predictor in named.datasets[0].predictors] == ["ward"]


def test_the_flow_and_a_limitation_say_how_many(tmp_path: Path) -> None:
    found = evaluate.evidence(hurried(study(tmp_path, "rows = { region = [6, 7] }\n", table()), 2, 1))
    (flag,) = [each for each in found.flags if each.flag == "rows_selected"]
    assert "60 of 120 are left out" in flag_text(flag.fact)
    assert not [each for each in found.flags if each.flag == "rows_excluded"]
    (dataset,) = json.loads(results.of(found).text())["datasets"]
    assert dataset["excluded"] == [
        {"reason": "not_selected", "rows": 60},
        {"reason": "outcome_missing", "rows": 0},
        {"reason": "risk_missing", "rows": 0},
    ]


def test_numbers_within_the_names_of_sites_are_sorted_as_numbers() -> None:
    names = ["Annex", *(f"Hospital {number}" for number in (1, 2, 9, 10, 11, 100))]
    mixed = [names[number * 3 % len(names)] for number in range(140)]
    rows = {"y": [0, 1] * 70, "p": [0.2, 0.6] * 70, "hospital": mixed}
    found = dossier.validate(pandas.DataFrame(rows), outcome="y", risk="p", site="hospital").study
    assert [dataset.site for dataset in found.datasets] == names
