"""load: the tables of a release as numbers, and every fault of them in one go."""

from __future__ import annotations

import csv
import itertools
import json
import os
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from dossier import reading
from dossier.command_line import initial
from dossier.core.errors import DataError, DossierError, Fault, ReleaseError
from dossier.core.types import Dataset, DecisionCounts, Study
from dossier.reading.flags import HeldOnce, _held_by_both
from dossier.typeset.flags import flag_text
from tests.bench.fault_places import heard, places, unreached
from tests.estimated import present, refused
from tests.reference.built import example
from tests.reference.tables import COVID, RATERS, needs_covid, needs_raters
from tests.smallest import HEAD, SITE, release_in

REPOSITORY = Path(__file__).resolve().parent.parent
BROKEN = sorted(folder for folder in (REPOSITORY / "fixtures" / "broken").iterdir() if folder.is_dir())


def _read(folder: Path, release: str, **tables: str | bytes) -> Study:
    return reading.study(release_in(folder, HEAD + release, **tables))


def _faults(folder: Path, release: str, **tables: str | bytes) -> list[tuple[str, str]]:
    return [(fault.what, fault.where) for fault in refused(_read, folder, release, **tables).faults]


def _dataset(study: Study, name: str) -> Dataset:
    return next(dataset for dataset in study.datasets if dataset.name == name)


def _values(dataset: Dataset, predictor: str) -> list[float]:
    return [float(value) for feature in dataset.predictors if feature.name == predictor for value in feature.values]


# ---- faults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", BROKEN, ids=lambda folder: folder.name)
def test_broken_release_gives_its_message(folder: Path) -> None:
    assert str(refused(reading.study, folder)) + "\n" == (folder / "message.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", BROKEN, ids=lambda folder: folder.name)
def test_no_message_speaks_of_the_machinery(folder: Path) -> None:
    message = (folder / "message.txt").read_text(encoding="utf-8").lower()
    for word in (
        "pydantic",
        "traceback",
        "input should",
        "validation",
        "nan",
        "arrow",
        "none",
        str(REPOSITORY).lower(),
    ):
        # A statement of the checklist has a key of that name.
        assert word not in message.replace("{ none =", "").replace("one none", "")


def test_every_fault_that_can_be_said_has_a_broken_release() -> None:
    with heard() as said:
        for folder in BROKEN:
            with pytest.raises(DossierError):
                reading.study(folder)
    silent = {position for position in places() if position not in said} - set(unreached())
    assert silent == set()


def test_the_example_of_the_contract(tmp_path: Path) -> None:
    table = {"italy-1__csv": "outcome,risk\n0,0.1\n1,0.2\n0,0.3\n1,1.7\n"}
    release_in(tmp_path, HEAD + SITE.replace("site", "italy-1"), **table)
    assert str(refused(reading.study, tmp_path)) == (
        "risk is 1.7, outside 0 to 1.\n"
        "  where: italy-1.csv, row 5, column risk\n"
        "  fix:   Give risks as probabilities, or declare another column in [prediction]."
    )


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ("0 3 5 12", "runs from 0 to 12: it is no risk from 0 to 1."),
        ("0 3 5 49", "runs from 0 to 49: it is no risk from 0 to 1."),
        ("0 3 5 50", "runs from 0 to 50: it looks like per cent."),
        ("0.5 3 5 12", "runs from 0.5 to 12: it looks like per cent."),
        ("0.5 3 5 101", "runs from 0.5 to 101: it is no risk from 0 to 1."),
        ("0 9 5 120", "runs from 0 to 120: it is no risk from 0 to 1."),
        ("-1 9 5 12", "runs from -1 to 12: it looks like log odds."),
        ("0.22 1.5 1.75 2.83", "runs from 0.22 to 2.83: it may be per cent, or log odds."),
    ],
)
@pytest.mark.parametrize("key", ["risk", "score"])
def test_points_are_not_taken_for_per_cent(tmp_path: Path, key: str, column: str, says: str) -> None:
    other = "score" if key == "risk" else "risk"
    rows = "".join(f"{row % 2},{value},0.{row + 1}\n" for row, value in enumerate(column.split()))
    (fault,) = refused(_read, tmp_path, 'rival = "score"\n' + SITE, site__csv=f"outcome,{key},{other}\n{rows}").faults
    assert fault.what == ("risk " if key == "risk" else "the rival's risk ") + says
    if "no risk" in says:
        assert fault.fix == "Give the risk that belongs to each score."


@pytest.mark.parametrize("cell", ["17%", "17.5 %", '"17,5%"'])
def test_a_risk_with_a_sign_of_per_cent_is_told_to_be_per_cent(tmp_path: Path, cell: str) -> None:
    (fault,) = refused(_read, tmp_path, SITE, site__csv=f"outcome,risk\n0,{cell}\n1,0.5\n").faults
    assert (fault.what, fault.where) == (
        f'risk is "{cell.strip(chr(34))}", not a number.',
        "site.csv, row 2, column risk",
    )
    assert fault.fix == (
        "This is per cent: write it as a number from 0 to 1, such as 0.17 for 17%, or if all of it is, "
        'say scale = "percent" in [prediction].'
    )


def test_all_faults_of_the_release_and_of_all_tables_at_once(tmp_path: Path) -> None:
    second = SITE.replace('"site"', '"other"').replace("site.csv", "other.csv")
    found = _faults(
        tmp_path,
        'levels = 3\n[resampling]\nbootstrap = "many"\n' + SITE + second,
        site__csv="outcome,risk\n0,0.1\n1,1.5\n0,0.2\n0,0.3\n",
        other__csv="outcome,risk\n0,0.1\n2.5,0.5\n1,0.2\n",
    )
    assert found == [
        ("levels is not a key of [prediction].", "release.toml, [prediction] levels"),
        ('bootstrap is "many", not a whole number.', "release.toml, [resampling] bootstrap"),
        ("risk is 1.5, outside 0 to 1.", "site.csv, row 3, column risk"),
        ("outcome is 2.5, not 0 or 1.", "other.csv, row 3, column outcome"),
    ]


@pytest.mark.parametrize(
    ("level", "says"),
    [
        ("1e-300", "level is 1e-300, not at least 0.5."),
        ("0.49", "level is 0.49, not at least 0.5."),
        ("95", "level is 95, not at most 0.9999."),
        ("0.9999999999999999", "level is 0.9999999999999999, not at most 0.9999."),
    ],
)
def test_a_level_at_which_no_interval_can_be_given_is_told(tmp_path: Path, level: str, says: str) -> None:
    text = HEAD.replace("[release]\n", f"[release]\nlevel = {level}\n") + SITE
    release_in(tmp_path, text, site__csv="outcome,risk\n0,0.1\n1,0.2\n")
    caught = refused(reading.study, tmp_path)
    assert [(fault.what, fault.where) for fault in caught.faults] == [(says, "release.toml, [release] level")]


def test_a_fault_of_release_toml_alone_is_a_release_error(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError):
        _read(tmp_path, "colum = 3\n" + SITE, site__csv="outcome,risk\n0,0.1\n1,0.2\n")


def test_row_numbers_count_header_blank_lines_and_quoted_line_ends_as_a_spreadsheet_does(tmp_path: Path) -> None:
    table = '\ufeffoutcome,note,risk\r\n0,"two\r\nlines",0.1\r\n\r\n1,x,9\r\n0,x,0.2\r\n'
    assert _faults(tmp_path, SITE, site__csv=table) == [("risk is 9, outside 0 to 1.", "site.csv, row 4, column risk")]


def test_a_fault_names_the_column_as_the_file_does(tmp_path: Path) -> None:
    release = SITE + 'columns = { risk = "Prob" }\n'
    found = _faults(tmp_path, release, site__csv="outcome,Prob\n0,0.1\n1,1.5\n0,.4\n")
    assert found == [("risk is 1.5, outside 0 to 1.", "site.csv, row 3, column Prob")]


def test_the_identifier_is_never_printed(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        _read(tmp_path, SITE + 'id = "case"\n', site__csv="case,outcome,risk\nsecret,0,0.1\nsecret,1,0.2\n")
    assert "secret" not in str(caught.value)


def test_a_link_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("outcome,risk\n0,0.1\n1,0.2\n", encoding="utf-8")
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "site.csv").symlink_to(tmp_path / "table.csv")
    assert _faults(folder, SITE)[0][0] == "site.csv lies outside the release folder."
    assert len(reading.study(release_in(folder, HEAD + SITE + "outside = true\n"), allow_outside=True).datasets) == 1


def test_free_text_is_no_predictor(tmp_path: Path) -> None:
    texts = "".join(f"{k % 2},0.5,words number {k}\n" for k in range(60))
    development = SITE.replace('"site"', '"dev"').replace('"external"', '"development"')
    found = _faults(tmp_path, SITE + development, site__csv="outcome,risk,note\n" + texts)
    assert found[0][0] == "note holds 60 different texts in 60 rows: too many for a category."


@pytest.mark.parametrize(
    ("rows", "different", "refused"), [(9, 9, False), (10, 5, False), (10, 6, True), (41, 41, True), (60, 30, False)]
)
def test_texts_that_are_nearly_all_different_are_no_categories_in_small_tables_either(
    tmp_path: Path, rows: int, different: int, refused: bool
) -> None:
    table = "outcome,risk,name\n" + "".join(f"{k % 2},0.5,Anna {k % different}\n" for k in range(rows))
    release = SITE + 'predictors = ["name"]\n'
    if refused:
        (found,) = _faults(tmp_path, release, site__csv=table)
        assert found[0] == f"name holds {different} different texts in {rows} rows: too many for a category."
        _read(tmp_path, release + 'categorical = ["name"]\n', site__csv=table)
    else:
        (name,) = _read(tmp_path, release, site__csv=table).datasets[0].predictors
        assert len(name.levels or ()) == different


@pytest.mark.parametrize("written", ["'data\\site.csv'", '"data\\\\site.csv"', '"data\\test.csv"'])
def test_a_path_with_the_strokes_of_another_system_is_told(tmp_path: Path, written: str) -> None:
    (fault,) = refused(_read, tmp_path, SITE.replace('"site.csv"', written)).faults
    assert fault.what.startswith("There is no file data")
    assert fault.fix == "Write / instead of \\ between the folders and the name, as in data/site.csv."


def test_a_missing_release_says_so(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"There is no file release\.toml\."):
        reading.study(tmp_path)


# ---- values ---------------------------------------------------------------------------------------------------------


def test_rows_without_outcome_or_risk_are_left_out_and_counted(tmp_path: Path) -> None:
    site = _read(tmp_path, SITE, site__csv="outcome,risk,age\n0,0.1,5\n,0.2,6\n1,,7\n,,8\n1,0.9,9\n").datasets[0]
    assert (site.rows_read, dict(site.excluded)) == (5, {"outcome_missing": 2, "risk_missing": 1})
    assert (present(site.outcome).tolist(), present(site.risk).tolist()) == ([0, 1], [0.1, 0.9])


@pytest.mark.parametrize(
    ("declared", "cells"),
    [
        ("", "0 1 0"),
        ("", "0.0 1.0 0.0"),
        ("", "False True False"),
        ('positive = "yes"', "no yes no"),
        ("positive = 2", "1 2 1"),
        ('positive = "2"', "1.0 2.0 1.0"),
        ("positive = true", "FALSE TRUE FALSE"),
        ("positive = false", "true false true"),
        ('positive = "FALSE"', "True False True"),
        ("positive = 0", "true false true"),
    ],
)
def test_ways_to_write_an_outcome(tmp_path: Path, declared: str, cells: str) -> None:
    release = HEAD.replace('column = "outcome"\n', f'column = "outcome"\n{declared}\n') + SITE
    (tmp_path / "release.toml").write_text(release, encoding="utf-8")
    rows = "".join(f"{cell},0.5\n" for cell in cells.split())
    (tmp_path / "site.csv").write_text("outcome,risk\n" + rows, encoding="utf-8")
    assert present(reading.study(tmp_path).datasets[0].outcome).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("positive", "north", "south", "says"),
    [
        ('"yes"', "yes no", "yes No", None),
        ('"yes"', "yes no", "yes yes", None),
        ('"+"', "+ -", "+ -", None),
        ("1", "1 -1", "1 -1", None),
        ("true", "true false", "true FALSE", None),
        ("1", "true false", "1.0 0", None),
        ("2", "2 1", "2 9", "outcome is 2 or 9, which is written where a value is unknown."),
        ('"yes"', "yes no", "NA NA", 'outcome is "yes" or "NA", which is written where a value is unknown.'),
        ('"yes"', "yes no", "yes nein", 'What did not happen is written "nein" in south.csv and "no" in north.csv.'),
        ("2", "2 1", "2 0", "What did not happen is written 0 in south.csv and 1 in north.csv."),
    ],
)
def test_what_did_not_happen_is_one_value_and_none_for_unknown(
    tmp_path: Path, positive: str, north: str, south: str, says: str | None
) -> None:
    release = HEAD.replace('column = "outcome"\n', f'column = "outcome"\npositive = {positive}\n')
    for name, cells in {"north": north, "south": south}.items():
        release += SITE.replace("site", name)
        rows = "".join(f"{cell},0.{index + 1}\n" for index, cell in enumerate(cells.split() * 3))
        (tmp_path / f"{name}.csv").write_text("outcome,risk\n" + rows, encoding="utf-8")
    (tmp_path / "release.toml").write_text(release, encoding="utf-8")
    if says is None:
        outcomes = [
            dataset.outcome.tolist() for dataset in reading.study(tmp_path).datasets if dataset.outcome is not None
        ]
        assert [values[0] for values in outcomes] == [1, 1]
    else:
        caught = refused(reading.study, tmp_path)
        assert [(fault.what, fault.where) for fault in caught.faults] == [(says, "south.csv, column outcome")]


def test_csv_tsv_and_parquet_give_the_same_values(tmp_path: Path) -> None:
    rows = [(0, 0.29164864957406994, 61.5, "a"), (1, 0.1, None, "b"), (1, 1 / 3, 70.0, None)]
    names = ("outcome", "risk", "age", "ward")
    pyarrow.parquet.write_table(
        pyarrow.table({name: [row[k] for row in rows] for k, name in enumerate(names)}), tmp_path / "p.parquet"
    )
    for file, delimiter in (("c.csv", ","), ("t.tsv", "\t")):
        with (tmp_path / file).open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, delimiter=delimiter).writerows([names, *rows])
    tables = [
        f'[[dataset]]\nname = "{file[0]}"\nrole = "{role}"\nfile = "{file}"\n'
        for file, role in (("c.csv", "development"), ("t.tsv", "external"), ("p.parquet", "external"))
    ]
    study = _read(tmp_path, "".join(tables))
    for dataset in study.datasets:
        assert present(dataset.risk).tolist() == [row[1] for row in rows]
        np.testing.assert_array_equal(_values(dataset, "age"), [61.5, np.nan, 70.0])
        np.testing.assert_array_equal(_values(dataset, "ward"), [0, 1, np.nan])


def test_predictors_are_what_a_table_shares_with_the_development_table(tmp_path: Path) -> None:
    study = _read(
        tmp_path,
        'rival = "old"\n' + SITE + 'id = "case"\n' + SITE.replace("site", "dev").replace("external", "development"),
        site__csv="case,outcome,risk,old,age,local\n1,0,0.1,0.2,50,1\n2,1,0.3,0.4,60,2\n",
        dev__csv="case,outcome,old,sex,age\n9,0,0.5,1,70\n",
    )
    assert [[predictor.name for predictor in dataset.predictors] for dataset in study.datasets] == [["age"], ["age"]]


def test_declared_predictors_renames_and_missing_values(tmp_path: Path) -> None:
    release = SITE + 'columns = { age = "Alter" }\npredictors = ["age"]\nmissing = { age = [0], "*" = ["NA", "."] }\n'
    table = "outcome,risk,Alter\n0,0.1,0.0\n1,0.2,55\n1,.,60\nNA,0.3,NA\n"
    site = _read(tmp_path, release, site__csv=table).datasets[0]
    np.testing.assert_array_equal(_values(site, "age"), [np.nan, 55])
    assert dict(site.excluded) == {"outcome_missing": 1, "risk_missing": 1}


def test_what_was_settled_about_each_column(tmp_path: Path) -> None:
    release = SITE + 'id = "case"\npredictors = ["age", "ward", "grade"]\ncategorical = ["grade"]\n'
    table = "case,outcome,risk,age,ward,grade,born\na,0,0.1,50,x,1,1970\nb,1,0.9,,y,2,1980\nc,,0.5,70,,1,1990\n"
    (found,) = _read(tmp_path, release, site__csv=table).tables
    assert (found.dataset, found.file, found.rows) == ("site", "site.csv", 3)
    assert [
        (column.name, column.role, column.kind, column.range, column.levels, column.missing) for column in found.columns
    ] == [
        ("case", "id", "text", None, None, 0),
        ("outcome", "outcome", "numbers", (0, 1), None, 1),
        ("risk", "risk", "numbers", (0.1, 0.9), None, 0),
        ("age", "predictor", "numbers", (50, 70), None, 1),
        ("ward", "predictor", "text", None, 2, 1),
        ("grade", "predictor", "codes", None, 2, 0),
        ("born", "not used", "numbers", None, None, 0),
    ]


def test_categories_have_the_same_codes_in_every_table(tmp_path: Path) -> None:
    development = SITE.replace("site", "dev").replace("external", "development") + 'categorical = ["stage"]\n'
    study = _read(
        tmp_path,
        SITE + development,
        site__csv="outcome,risk,ward,stage\n0,0.1,c,10\n1,0.2,b,2.0\n",
        dev__csv="outcome,ward,stage\n0,b,2\n1,a,\n",
    )
    site, dev = _dataset(study, "site"), _dataset(study, "dev")
    assert [predictor.levels for predictor in site.predictors] == [("a", "b", "c"), ("2", "10")]
    assert (_values(site, "ward"), _values(dev, "ward")) == ([2, 1], [1, 0])
    np.testing.assert_array_equal(_values(site, "stage"), [1, 0])
    np.testing.assert_array_equal(_values(dev, "stage"), [0, np.nan])


def test_a_column_of_sites_gives_a_dataset_each(tmp_path: Path) -> None:
    table = "hospital,outcome,risk\nSão João,0,0.1\nBari,1,0.2\nBari,,0.3\nSão João,1,0.4\n"
    study = _read(tmp_path, SITE + 'site_column = "hospital"\n', site__csv=table)
    found = [
        (dataset.name, dataset.site, dataset.rows_read, dataset.risk.tolist())
        for dataset in study.datasets
        if dataset.risk is not None
    ]
    assert found == [("site-bari", "Bari", 2, [0.2]), ("site-sao-joao", "São João", 2, [0.1, 0.4])]


def test_the_name_of_the_site_comes_from_the_dataset(tmp_path: Path) -> None:
    study = _read(tmp_path, SITE.replace('"site"', '"italy-1"'), site__csv="outcome,risk\n0,0.1\n1,0.2\n")
    assert (study.datasets[0].name, study.datasets[0].site) == ("italy-1", "Italy 1")


def test_a_rival_with_gaps_is_left_out_and_flagged(tmp_path: Path) -> None:
    study = _read(tmp_path, 'rival = "old"\n' + SITE, site__csv="outcome,risk,old\n0,0.1,\n1,0.2,0.3\n")
    assert study.datasets[0].rival is None
    assert study.datasets[0].rival_is_incomplete
    assert [(flag.flag, flag_text(flag.fact)) for flag in study.flags] == [
        ("rival_incomplete", "The other model gives no risk in 1 row of site, so the two are not compared there.")
    ]


def test_flags_of_odd_tables(tmp_path: Path) -> None:
    release = SITE + 'predictors = ["a", "b", "c", "d"]\n'
    twice = "".join(f"0,0.1,1,{k},{k * k},\n" for k in range(12)) * 2
    study = _read(tmp_path, release, site__csv=f"outcome,risk,a,b,c,d\n{twice}")
    assert [flag.flag for flag in study.flags] == [
        *("one_class", "constant_risk", "missing_predictor", "duplicate_rows", "constant_predictor")
    ]
    assert [flag.columns for flag in study.flags] == [(), (), ("d",), (), ("a",)]


def test_risks_of_exactly_0_and_1_are_counted_in_a_flag(tmp_path: Path) -> None:
    table = "outcome,risk\n0,0\n1,1\n1,0.4\n0,1e-12\n0,1e-13\n"
    assert _flagged(_read(tmp_path, SITE, site__csv=table), "certain_risks") == [
        "A risk is exactly 0 or 1 in 3 rows of site: the calibration slope and intercept are those of the others."
    ]
    inside = table.replace("0,0\n", "0,0.1\n").replace("1,1\n", "1,0.9\n").replace("1e-13", "1e-12")
    assert _flagged(_read(tmp_path, SITE, site__csv=inside), "certain_risks") == []


def _flagged(study: Study, kind: str) -> list[str]:
    return [flag_text(flag.fact) for flag in study.flags if flag.flag == kind]


def _patients(count: int, seed: int) -> list[str]:
    draw = np.random.default_rng(seed)
    ages, masses, sexes = draw.integers(20, 90, count), draw.normal(27, 4, count).round(1), draw.integers(0, 2, count)
    rows = enumerate(zip(ages, masses, sexes, strict=True))
    return [f"{k % 2},0.{k % 9 + 1},{age},{bmi},{sex}" for k, (age, bmi, sex) in rows]


PATIENTS = "outcome,risk,age,bmi,sex\n"
DEVELOPMENT = SITE.replace("site", "dev").replace("external", "development")


def test_the_same_patients_are_found_without_identifiers_and_chance_is_no_reason(tmp_path: Path) -> None:
    known, others = _patients(300, 1), _patients(200, 2)
    tables = {"dev__csv": PATIENTS + "\n".join(known)}
    fresh = _read(tmp_path, SITE + DEVELOPMENT, site__csv=PATIENTS + "\n".join(others), **tables)
    assert _flagged(fresh, "shared_rows") == []
    mixed = _read(tmp_path, SITE + DEVELOPMENT, site__csv=PATIENTS + "\n".join([*others, *known[:40]]), **tables)
    alike = 40 + len([row for row in others if row.split(",")[2:] in [text.split(",")[2:] for text in known]])
    assert _flagged(mixed, "shared_rows") == [
        f"In site {alike} rows are equal to one of the development table in all 3 shared predictors, many more than "
        "chance would give."
    ]


@pytest.mark.parametrize("count", [12, 60, 400])
def test_other_patients_are_seldom_taken_for_those_of_development(tmp_path: Path, count: int) -> None:
    """Of forty hospitals of other patients none is told that they were used, or that some of its own came twice."""
    known = PATIENTS + "\n".join(_patients(800, 1))
    for seed in range(2, 42):
        own = PATIENTS + "\n".join(_patients(count, seed))
        fresh = _read(tmp_path, SITE + DEVELOPMENT, site__csv=own, dev__csv=known)
        assert not [flag for flag in fresh.flags if flag.flag in ("shared_rows", "duplicate_rows")], seed


@pytest.mark.parametrize(("count", "expected"), [(4, False), (5, True)])
def test_many_categories_that_no_other_table_has_may_be_places(tmp_path: Path, count: int, expected: bool) -> None:
    development = SITE.replace("site", "dev").replace("external", "development")

    def table(letter: str) -> str:
        return "outcome,risk,ward\n" + "".join(f"{k % 2},0.{k + 1},{letter}{k}\n" for k in range(count))

    study = _read(tmp_path, SITE + development, site__csv=table("n"), dev__csv=table("d"))
    (says,) = _flagged(study, "other_categories")
    advice = "no category is in both. It may be an identifier or a place: name the predictors in the [[dataset]]."
    assert says.endswith(advice if expected else "no category is in both.")


@pytest.mark.parametrize(
    ("block", "times", "each"), [(20, 2, 20), (20, 3, 40), (12, 4, 24), (10, 5, 40), (9, 2, None), (20, 1, None)]
)
@pytest.mark.parametrize("more", ["", 'predictors = ["a", "b"]\n'])
def test_a_table_that_was_pasted_below_itself_is_told_whatever_its_predictors(
    tmp_path: Path, block: int, times: int, each: int | None, more: str
) -> None:
    rows = "".join(f"{k % 2},{0.02 * (k + 1):.2f},{k},{k % 3 or ''}\n" for k in range(block)) * times
    study = _read(tmp_path, SITE + more, site__csv="outcome,risk,a,b\n" + rows)
    says = f"In site {each} rows are those before them once more, in the same order: the table may hold its patients "
    assert _flagged(study, "duplicate_rows") == ([] if each is None else [f"{says}more than once."])
    quick = reading.quick(tmp_path / "site.csv", "outcome", "risk")
    assert bool(_flagged(quick, "duplicate_rows")) is (each is not None)


@pytest.mark.parametrize(("copies", "flagged"), [(0, False), (600, True)])
def test_rows_of_coarse_predictors_equal_by_chance_are_not_flagged(tmp_path: Path, copies: int, flagged: bool) -> None:
    rng = np.random.default_rng(3)
    drawn = zip(rng.integers(2, size=1500), rng.integers(40, 80, 1500), rng.gamma(2, 1, 1500), strict=True)
    rows = [f"{int(rng.random() < 0.3)},{0.3 + 0.004 * age:.4f},{sex},{age},{much:.1f}" for sex, age, much in drawn]
    assert len(set(rows)) < len(rows)
    table = "outcome,risk,sex,age,lactate\n" + "\n".join(rows + rows[:copies]) + "\n"
    study = _read(tmp_path, SITE + 'predictors = ["sex", "age", "lactate"]\n', site__csv=table)
    assert bool(_flagged(study, "duplicate_rows")) is flagged


def test_equal_rows_are_no_block_where_they_hold_few_values_or_differ_or_are_identified(tmp_path: Path) -> None:
    few = "outcome,risk\n" + "".join(f"{k % 2},0.{1 + k % 4}\n" for k in range(40))
    assert _flagged(_read(tmp_path, SITE, site__csv=few), "duplicate_rows") == []
    rows = [f"{k % 2},{0.02 * (k % 20 + 1):.2f},{k}" for k in range(40)]
    table = "outcome,risk,case\n" + "\n".join(rows)
    assert len(_flagged(_read(tmp_path, SITE, site__csv=table), "duplicate_rows")) == 1
    assert _flagged(_read(tmp_path, SITE + 'id = "case"\n', site__csv=table), "duplicate_rows") == []
    other = "\n".join(rows[:-1]) + "\n0,0.9,41"
    assert _flagged(_read(tmp_path, SITE, site__csv="outcome,risk,case\n" + other), "duplicate_rows") == []


def test_other_units_and_other_categories_at_one_site_are_flagged(tmp_path: Path) -> None:
    site = [f"{k % 2},0.5,{10 + k % 7},{1000 + k},m" for k in range(41)]
    dev = [f"{k % 2},0.5,{10 + k % 7},{100 + k},{'male' if k % 2 else 'female'}" for k in range(41)]
    head = "outcome,risk,height,glucose,sex\n"
    study = _read(tmp_path, SITE + DEVELOPMENT, site__csv=head + "\n".join(site), dev__csv=head + "\n".join(dev))
    assert _flagged(study, "other_units") == [
        "the median of glucose is 1020 in site and 120 in dev: it may be in other units."
    ]
    assert _flagged(study, "other_categories") == ["sex is m in site and female, male in dev: no category is in both."]
    assert _flagged(study, "constant_predictor") == ["sex has one value in site."]


def test_values_about_zero_say_nothing_of_units(tmp_path: Path) -> None:
    site = [f"{k % 2},0.5,{(k - 19) / 10}" for k in range(41)]
    dev = [f"{k % 2},0.5,{(k - 10) / 10}" for k in range(41)]
    head = "outcome,risk,score\n"
    study = _read(tmp_path, SITE + DEVELOPMENT, site__csv=head + "\n".join(site), dev__csv=head + "\n".join(dev))
    assert _flagged(study, "other_units") == []


@pytest.mark.parametrize(("code", "found"), [("0", True), ("-9", True), ("999", True), ("60", False), ("", False)])
def test_a_code_that_looks_like_missing_is_flagged(tmp_path: Path, code: str, found: bool) -> None:
    rows = [f"{k % 2},0.5,{150 + 3 * (k % 30)}" for k in range(60)]
    release = SITE + 'predictors = ["chol"]\n'
    study = _read(tmp_path, release, site__csv="outcome,risk,chol\n" + "\n".join([*rows, f"1,0.5,{code}"]))
    says = f"chol is {code} in 1 row of site, far from every other value: it may be a code for missing."
    assert _flagged(study, "code_for_missing") == ([says] if found else [])


@pytest.mark.parametrize(("word", "found"), [("NA", True), ("?", True), ("none", False), ("", False)])
def test_a_word_that_looks_like_missing_is_flagged(tmp_path: Path, word: str, found: bool) -> None:
    rows = [f"{k % 2},0.5,{word if k < 3 else 'ab'[k % 2]}" for k in range(60)]
    release = SITE + 'predictors = ["ward"]\n'
    study = _read(tmp_path, release, site__csv="outcome,risk,ward\n" + "\n".join(rows))
    says = f'ward is "{word}" in 3 rows of site: it may stand for missing, and is counted as a category.'
    assert _flagged(study, "code_for_missing") == ([says] if found else [])


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('"1,{}50"', True),
        ("1 {}50", True),
        ("1'{}50", True),
        ('"1.{}50,5"', True),
        ('"{},5"', True),
        ("{}%", True),
        ("{} mg", True),
        ("{}.5 mg/dl", True),
        ("0{}.02.2020", False),
        ("{}-9", False),
        ("T{}", False),
        ("{}", False),
    ],
)
def test_numbers_written_as_people_do_are_doubted_as_categories(tmp_path: Path, written: str, expected: bool) -> None:
    rows = [f"{k % 2},0.5,{written.format(1 + k % 6)}" for k in range(60)]
    table = "outcome,risk,dose\n" + "\n".join([*rows, "1,0.5,"])
    study = _read(tmp_path, SITE + 'predictors = ["dose"]\n', site__csv=table)
    says = (
        "dose may be numbers in site, written with signs for thousands, decimal commas, per cent signs or a unit: it "
        "is counted as 6 categories. Write numbers with digits and the decimal sign only; list dose under categorical "
        "if it is one."
    )
    assert _flagged(study, "other_categories") == ([says] if expected else [])
    meant = _read(tmp_path, SITE + 'predictors = ["dose"]\ncategorical = ["dose"]\n', site__csv=table)
    assert _flagged(meant, "other_categories") == []


@pytest.mark.parametrize("units", ["a b c d e f", "st nd rd th th th"])
def test_numbers_with_different_words_behind_are_categories(tmp_path: Path, units: str) -> None:
    rows = [f"{k % 2},0.5,{1 + k % 6}{units.split()[k % 6]}" for k in range(60)]
    study = _read(tmp_path, SITE + 'predictors = ["dose"]\n', site__csv="outcome,risk,dose\n" + "\n".join(rows))
    assert _flagged(study, "other_categories") == []


@pytest.mark.parametrize(
    ("written", "different", "expected"),
    [("{},5", 2, False), ("{},5", 3, True), ("{} mg", 4, False), ("{} mg", 5, True)],
)
def test_a_few_texts_that_look_like_numbers_may_be_categories(
    tmp_path: Path, written: str, different: int, expected: bool
) -> None:
    rows = [f'{k % 2},0.5,"{written.format(1 + k % different)}"' for k in range(60)]
    study = _read(tmp_path, SITE + 'predictors = ["dose"]\n', site__csv="outcome,risk,dose\n" + "\n".join(rows))
    assert bool(_flagged(study, "other_categories")) is expected


@pytest.mark.parametrize("values", [["809", "1,466"], [f"{k},5" for k in range(60)]])
def test_a_number_with_other_signs_is_to_be_written_plainly(tmp_path: Path, values: list[str]) -> None:
    """Among numbers one with a sign for thousands; more texts that are numbers than there may be categories."""
    rows = [f'{k % 2},0.5,"{value}"' for k, value in enumerate(values)]
    caught = refused(_read, tmp_path, SITE + 'predictors = ["crp"]\n', site__csv="outcome,risk,crp\n" + "\n".join(rows))
    (fault,) = caught.faults
    assert fault.fix == "Write numbers with digits and the decimal sign only, or list crp under categorical."


@pytest.mark.parametrize("sign", ["\u2212", "\u2013"])
def test_another_sign_than_that_of_minus_is_to_be_written_as_it(tmp_path: Path, sign: str) -> None:
    fix = "Write the minus as the hyphen-minus of the keyboard (-1), which is not the sign in the table"
    listed = ", or list be under categorical."
    table = "outcome,risk,be\n" + "".join(f"{k % 2},0.5,{sign if k % 3 else ''}{k}.5\n" for k in range(40))
    mixed = refused(_read, tmp_path, SITE + 'predictors = ["be"]\n', site__csv=table)
    assert {fault.fix for fault in mixed.faults} == {fix + listed}
    all_below_0 = "outcome,risk,be\n" + "".join(f"{k % 2},0.5,{sign}{k}\n" for k in range(40))
    below = refused(_read, tmp_path, SITE + 'predictors = ["be"]\n', site__csv=all_below_0)
    assert [fault.fix for fault in below.faults] == [fix + listed]
    few = "outcome,risk,be\n" + "".join(f"{k % 2},0.5,{sign}{k % 3}\n" for k in range(40))
    (says,) = _flagged(_read(tmp_path, SITE + 'predictors = ["be"]\n', site__csv=few), "other_categories")
    assert says == (
        f"be may be numbers in site, written with another sign than -: it is counted as 3 categories. {fix}; list be "
        "under categorical if it is one."
    )
    risks = refused(_read, tmp_path, SITE, site__csv=f"outcome,risk\n0,{sign}0.5\n1,0.5\n")
    assert [fault.fix for fault in risks.faults] == [fix + "."]


def test_categories_that_differ_in_capitals_only_are_flagged(tmp_path: Path) -> None:
    rows = [f"{k % 2},0.5,{('f', 'F', 'm', 'M', 'x')[k % 5]}" for k in range(60)]
    release = SITE + 'predictors = ["sex"]\n'
    study = _read(tmp_path, release, site__csv="outcome,risk,sex\n" + "\n".join(rows))
    assert _flagged(study, "other_categories") == [
        "sex is spelled in several ways in site, each counted as a category of its own: F and f, M and m."
    ]


@pytest.mark.parametrize(
    ("here", "there", "says"),
    [
        (["f"] * 20 + ["Anna", "Berta"], ["w"] * 20, "x is f, and FEW in site and w in dev: no category is in both."),
        (["Anna"] * 9 + ["Eve"] * 9, ["w"] * 20, "x is FEW in site and w in dev: no category is in both."),
        (["f"] * 20, ["w"] * 20 + ["Bob"] * 9, "x is f in site and w, and FEW in dev: no category is in both."),
        (["f"] * 10, ["Bob"] * 9 + ["Dan"] * 9, "x is f in site and FEW in dev: no category is in both."),
        (["f"] * 20 + ["F"] * 9, ["f"] * 20, "SEVERAL in site, each counted as a category of its own: FEW."),
        (["f"] * 20 + ["F"] * 10, ["f"] * 20, "SEVERAL in site, each counted as a category of its own: F and f."),
        (["m"] * 20 + ["f"] * 9, ["m"] * 20 + ["F"] * 20, "OTHERWISE FEW."),
        (["m"] * 20 + ["f"] * 20, ["m"] * 20 + ["F"] * 9, "OTHERWISE FEW."),
        (["M"] * 20 + ["f"] * 9, ["m"] * 20 + ["F"] * 20 + ["f"] * 20, "OTHERWISE M for m."),
        (["M"] * 20 + ["f"] * 9 + ["x"] * 10, ["m"] * 20 + ["F"] * 20 + ["x"] * 9, "OTHERWISE M for m, and FEW."),
    ],
)
def test_no_doubt_names_a_category_that_fewer_have_than_is_printed(
    tmp_path: Path, here: list[str], there: list[str], says: str
) -> None:
    tables = {
        name: "outcome,risk,x\n" + "".join(f"{k % 2},0.5,{word}\n" for k, word in enumerate(words))
        for name, words in (("site__csv", here), ("dev__csv", there))
    }
    study = _read(tmp_path, "[disclosure]\nminimum_cell = 10\n" + SITE + DEVELOPMENT, **tables)
    says = says.replace("FEW", "what fewer than 10 patients have").replace("SEVERAL", "x is spelled in several ways")
    otherwise = "x is spelled otherwise in site than in dev, and each spelling is counted as a category of its own:"
    assert says.replace("OTHERWISE", otherwise) in _flagged(study, "other_categories")


def _subgroup(declared: str, rows: list[str], folder: Path) -> list[str]:
    """The doubts about a column that makes subgroups and is no predictor."""
    table = "outcome,risk,x\n" + "\n".join(f"{k % 2},0.5,{value}" for k, value in enumerate(rows))
    study = _read(folder, f'[[subgroup]]\ncolumn = "x"\n{declared}\n{SITE}', site__csv=table)
    return _flagged(study, "code_for_missing") + _flagged(study, "other_categories")


def test_the_columns_of_subgroups_are_doubted_as_predictors_are(tmp_path: Path) -> None:
    ages = [str(20 + k) for k in range(60)]
    assert _subgroup("cuts = [50]", [*ages, "999", "999"], tmp_path) == [
        "x is 999 in 2 rows of site, far from every other value: it may be a code for missing."
    ]
    assert _subgroup("cuts = [50]", ages, tmp_path) == []
    assert _subgroup("", ["f", "m", "NA"] * 5, tmp_path) == [
        'x is "NA" in 5 rows of site: it may stand for missing, and is counted as a category.'
    ]
    assert _subgroup("", ["f", "m", "M"] * 5, tmp_path) == [
        "x is spelled in several ways in site, each counted as a category of its own: M and m."
    ]
    assert _subgroup("", ["K\u00f6ln", "Ko\u0308ln"] * 5, tmp_path) == [
        "x is spelled in several ways in site, each counted as a category of its own: Ko<U+0308>ln and K\u00f6ln."
    ]


def test_named_levels_of_a_subgroup_are_meant(tmp_path: Path) -> None:
    levels = 'levels = { f = "women", m = "men", M = "men at night", NA = "unknown" }'
    assert _subgroup(levels, ["f", "m", "M", "NA"] * 5, tmp_path) == []


def test_subgroups_in_other_words_at_another_hospital_are_flagged(tmp_path: Path) -> None:
    tables = {
        f"{name}__csv": "outcome,risk,sex\n" + "\n".join(f"{k % 2},0.5,{words[k % 3 % 2]}" for k in range(30))
        for name, words in (("site", "fm"), ("other", "FM"))
    }
    second = SITE.replace('"site"', '"other"').replace("site.csv", "other.csv")
    study = _read(tmp_path, '[[subgroup]]\ncolumn = "sex"\n' + SITE + second, **tables)
    assert _flagged(study, "other_categories") == [
        "sex is f, m in site and F, M in other: no category is in both.",
        "sex is F, M in other and f, m in site: no category is in both.",
    ]


def _beside_development(here: str, there: str, folder: Path, more: str = "") -> list[str]:
    """The doubts about the words of a hospital, held against those of the development table."""
    tables = {
        f"{name}__csv": "outcome,risk,x\n" + "\n".join(f"{k % 2},0.5,{words.split(';')[k % 3]}" for k in range(60))
        for name, words in (("site", here), ("dev", there))
    }
    return _flagged(_read(folder, SITE + more + DEVELOPMENT, **tables), "other_categories")


@pytest.mark.parametrize(
    ("here", "there", "pairs"),
    [
        ("Yes;no;no", "yes;no;no", "Yes for yes"),
        ("ward\u00a0a;b;b", "ward a;b;b", "ward<U+00A0>a for ward a"),
        ("Ko\u0308ln;Ulm;Bonn", "K\u00f6ln;Ulm;Bonn", "Ko<U+0308>ln for K\u00f6ln"),
        ("yes;no;unknown", "yes;no;no", ""),
    ],
)
def test_categories_spelled_otherwise_at_one_hospital_are_flagged(
    tmp_path: Path, here: str, there: str, pairs: str
) -> None:
    says = "x is spelled otherwise in site than in dev, and each spelling is counted as a category of its own: "
    assert _beside_development(here, there, tmp_path) == ([f"{says}{pairs}."] if pairs else [])


def test_codes_without_their_zeros_are_flagged(tmp_path: Path) -> None:
    found = _beside_development("1;2;10", "01;02;10", tmp_path, 'categorical = ["x"]\n')
    says = "x is spelled otherwise in site than in dev, and each spelling is counted as a category of its own: "
    assert found == [f"{says}1 for 01, 2 for 02."]


@pytest.mark.parametrize("more", ["", 'categorical = ["x"]\n'])
@pytest.mark.parametrize(("here", "expected"), [("1;2;2", True), ("0;1;2", False), ("0;1;1", False), ("1;1;1", False)])
def test_a_property_coded_from_zero_here_and_from_one_there_is_flagged(
    tmp_path: Path, here: str, expected: bool, more: str
) -> None:
    says = "x is 1, 2 in site and 0, 1 in dev: 1 may mean one thing here and another there."
    assert _beside_development(here, "0;1;1", tmp_path, more) == ([says] if expected else [])


def test_numbers_here_and_words_there_are_not_compared(tmp_path: Path) -> None:
    tables = {
        f"{name}__csv": "outcome,risk,age,sex\n" + "\n".join(f"{k % 2},0.5,{k},{sexes[k % 2]}" for k in range(30))
        for name, sexes in (("site", "fm"), ("dev", "12"))
    }
    release = f'[[subgroup]]\ncolumn = "sex"\n{SITE}predictors = ["age"]\n{DEVELOPMENT}predictors = ["sex"]\n'
    study = _read(tmp_path, release, **tables)
    assert _flagged(study, "other_categories") == _flagged(study, "other_units") == []


def test_one_table_under_two_names_is_flagged(tmp_path: Path) -> None:
    rows = "outcome,risk\n" + "\n".join(f"{k % 2},{0.1 + k / 100}" for k in range(40))
    second = SITE[SITE.index("[[dataset]]") :].replace('"site"', '"copy"')
    other = rows.replace("0.1,", "0.1,") + "\n1,0.9"
    study = _read(tmp_path, SITE + second, site__csv=rows)
    assert _flagged(study, "same_table") == [
        "Risks and outcomes of copy are those of site, row by row: the same patients count as two hospitals."
    ]
    apart = _read(tmp_path, SITE + second.replace("site.csv", "copy.csv"), site__csv=rows, copy__csv=other)
    assert _flagged(apart, "same_table") == [
        "40 rows of copy are also in site, with the same outcome, risk and predictors: the same patients may count at "
        "two hospitals."
    ]


def _hospital(rng: np.random.Generator, digits: int, n: int = 150) -> list[str]:
    """Rows of patients whose risks have so many digits; of one digit their age is in decades."""
    age, risk = (
        rng.integers(18, 95, n) // (10 if digits == 1 else 1),
        np.round(1 / (1 + np.exp(1 - rng.normal(size=n))), digits),
    )
    return [f"{int(y)},{p},{a}" for y, p, a in zip(rng.random(n) < risk, risk, age, strict=True)]


@pytest.mark.parametrize(("digits", "shared", "told"), [(12, 30, True), (12, 8, False), (3, 60, True), (1, 60, False)])
def test_two_hospitals_that_share_rows_are_told(tmp_path: Path, digits: int, shared: int, told: bool) -> None:
    rng = np.random.default_rng(digits)
    first, other = _hospital(rng, digits), _hospital(rng, digits)
    other[20 : 20 + shared] = first[:shared]
    site = SITE + 'predictors = ["age"]\n'
    second = site[site.index("[[dataset]]") :].replace('"site"', '"other"').replace("site.csv", "other.csv")
    tables = {name: "\n".join(("outcome,risk,age", *rows)) for name, rows in (("site", first), ("other", other))}
    study = _read(tmp_path, site + second, **{f"{name}__csv": table for name, table in tables.items()})
    says = f"{shared} rows of other are also in site, with the same outcome, risk and predictors: "
    assert [text.partition("the same patients")[0] for text in _flagged(study, "same_table")] == [says] * told


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_other_patients_of_twenty_hospitals_are_no_shared_rows(digits: int) -> None:
    """None in 60 releases, where without the standard error 8 of 100 had a pair: at most .01, but for luck."""
    rng = np.random.default_rng(digits)
    for n in (60, 100, 150) * 20:
        rows = [np.array([row.split(",")[:2] for row in _hospital(rng, digits, n)], dtype=float) for _ in range(20)]
        number = np.unique(np.concatenate(rows), axis=0, return_inverse=True)[1].reshape(20, n)
        counts = [np.unique(own, return_counts=True) for own in number]
        once = [HeldOnce("", row[count == 1], int((count == 2).sum())) for row, count in counts]
        assert not any(_held_by_both(*pair) for pair in itertools.combinations(once, 2))


@pytest.mark.parametrize(
    ("name", "text"), [("null", '"null"'), ("n/a", '"n/a"'), ("-9", "-9"), ("9", ""), ("Nara", "")]
)
@pytest.mark.parametrize(("key", "counted_as"), [("site_column", "a site"), ("cluster", "one cluster")])
def test_a_site_or_a_cluster_that_may_have_no_name_is_flagged(
    tmp_path: Path, name: str, text: str, key: str, counted_as: str
) -> None:
    rows = [f"{k % 2},0.5,{name if k % 5 == 0 else k % 4 + 1}" for k in range(40)]
    release = SITE + f'predictors = []\n{key} = "who"\n'
    study = _read(tmp_path, release, site__csv="outcome,risk,who\n" + "\n".join([*rows, f",0.5,{name}"]))
    found = [flag for flag in study.flags if flag.flag == "code_for_missing"]
    assert [flag_text(flag.fact).replace(flag.dataset, "here") for flag in found] == (
        [f"who is {text} in 8 rows of here: it may stand for missing, and is counted as {counted_as}."] if text else []
    )


@pytest.mark.parametrize(
    ("here", "expected"),
    [("Age", True), ("AGE.", True), ("age_years", True), ("age (years)", True), ("ageing", False), ("weight", False)],
)
def test_a_predictor_under_another_name_is_flagged(tmp_path: Path, here: str, expected: bool) -> None:
    tables = {
        f"{table}__csv": f"outcome,risk,crp,{name}\n" + "\n".join(f"{k % 2},0.5,{k % 9},{50 + k}" for k in range(40))
        for table, name in (("site", here), ("dev", "age"))
    }
    says = (
        f"site has no column age, but {here}: it may be the same. Say so with "
        f'columns = {{ age = "{here}" }} in the [[dataset]].'
    )
    study = _read(tmp_path, SITE + DEVELOPMENT, **tables)
    assert _flagged(study, "missing_predictor") == ([says] if expected else [])
    named = _read(tmp_path, SITE + f'columns = {{ age = "{here}" }}\n' + DEVELOPMENT, **tables)
    chosen = _read(tmp_path, SITE + 'predictors = ["crp"]\n' + DEVELOPMENT, **tables)
    assert _flagged(named, "missing_predictor") == _flagged(chosen, "missing_predictor") == []


@pytest.mark.parametrize(
    ("name", "first", "step", "index"),
    [
        ("Unnamed: 0", 0, 3, True),
        ("__index_level_0__", 0, 3, True),
        ("...1", 0, 3, True),
        ("X", 1, 1, True),
        ("index", 0, 1, True),
        ("X", 1, 2, False),
        ("age", 40, 1, False),
    ],
)
def test_the_index_of_a_program_is_no_predictor(tmp_path: Path, name: str, first: int, step: int, index: bool) -> None:
    rows = "\n".join(f"{first + step * k},{k % 2},0.5,{k % 9}" for k in range(40))
    tables = {f"{table}__csv": f"{name},outcome,risk,crp\n{rows}" for table in ("site", "dev")}
    (site, _) = _read(tmp_path, SITE + DEVELOPMENT, **tables).datasets
    assert [predictor.name for predictor in site.predictors] == (["crp"] if index else [name, "crp"])
    asked = _read(tmp_path, SITE + f'predictors = ["{name}"]\n' + DEVELOPMENT, **tables).datasets[0]
    assert [predictor.name for predictor in asked.predictors] == [name]


FAR, BELOW = "far from every other value", "where all but such values lie above 0"


@pytest.mark.parametrize(
    ("lowest", "codes", "expected"),
    [
        (20, {998: FAR, 999: FAR}, (998, 999)),
        (20, {888: FAR, 999: FAR}, (888, 999)),
        (20, {777: FAR, 999: FAR}, (777, 999)),
        (20, {777: FAR}, ()),
        (20, {99999: FAR}, (99999,)),
        (20, {-8: BELOW, -9: BELOW}, (-9, -8)),
        (20, {-1: BELOW}, (-1,)),
        (20, {-99: FAR, -1: BELOW}, (-99, -1)),
        (0, {-1: BELOW}, ()),
        (38, {98: FAR, 99: FAR}, ()),
    ],
)
def test_codes_for_missing_do_not_hide_each_other(
    tmp_path: Path, lowest: int, codes: dict[int, str], expected: tuple[int, ...]
) -> None:
    rows = [f"{k % 2},0.5,{value}" for k, value in enumerate([*range(lowest, lowest + 60), *codes])]
    study = _read(tmp_path, SITE + 'predictors = ["age"]\n', site__csv="outcome,risk,age\n" + "\n".join(rows))
    assert _flagged(study, "code_for_missing") == [
        f"age is {code} in 1 row of site, {codes[code]}: it may be a code for missing." for code in expected
    ]


@pytest.mark.parametrize(
    ("here", "there", "expected"),
    [("{}", "{}", False), ("98.{:02}", "37.{:02}", True), ("70.{:02}", "37.{:02}", False), ("18{:02}", "7{:02}", True)],
)
def test_values_that_lie_apart_may_be_in_other_units(tmp_path: Path, here: str, there: str, expected: bool) -> None:
    """A code below 0 is no value that says that the values have none."""
    tables = {
        f"{name}__csv": "outcome,risk,x\n1,0.5,-9\n" + "\n".join(f"{k % 2},0.5,{form.format(k)}" for k in range(40))
        for name, form in (("site", here), ("dev", there))
    }
    assert bool(_flagged(_read(tmp_path, SITE + DEVELOPMENT, **tables), "other_units")) is expected


def test_a_count_from_zero_is_no_code(tmp_path: Path) -> None:
    rows = [f"{k % 2},0.5,{k % 13}" for k in range(60)]
    release = SITE + 'predictors = ["nodes"]\n'
    study = _read(tmp_path, release, site__csv="outcome,risk,nodes\n" + "\n".join(rows))
    assert _flagged(study, "code_for_missing") == []


def test_rows_of_the_development_table_are_found_again(tmp_path: Path) -> None:
    development = SITE.replace("site", "dev").replace("external", "development") + 'id = "case"\n'
    study = _read(
        tmp_path,
        SITE + 'id = "case"\n' + development,
        site__csv="case,outcome,risk,age\n1,0,0.1,50\n2,1,0.2,60\n",
        dev__csv="case,outcome,age\n1,0,50\n2,1,61\n",
    )
    assert [flag_text(flag.fact) for flag in study.flags if flag.flag == "shared_rows"] == [
        "In site 1 row is also in the development table, by identifier and every shared predictor."
    ]


def test_statements_and_input_files(tmp_path: Path) -> None:
    (tmp_path / "text.md").write_bytes(b"One\r\ntwo\r\n")
    release = SITE + '[statements]\n4 = "Aim."\n11 = { file = "text.md" }\n18a = { none = "No funding." }\n'
    study = _read(tmp_path, release, site__csv="outcome,risk\n0,0.1\n1,0.2\n")
    assert dict(study.statements) == {"4": "Aim.", "11": "One\ntwo", "18a": "No funding."}
    # The hash of "One\r\ntwo\r\n" was taken with sha256sum.
    found = {file.name: (file.size, (file.sha256 or "")[:12]) for file in study.inputs}
    assert sorted(found) == ["release.toml", "site.csv", "text.md"]
    assert found["text.md"] == (10, "20720c22fcce")


# ---- readers --------------------------------------------------------------------------------------------------------

READERS = '[readers]\nlabels = "labels.csv"\nconfidence = "confidence.csv"\ndataset = "site"\n'


def test_readers_lose_the_cases_that_the_dataset_leaves_out(tmp_path: Path) -> None:
    study = _read(
        tmp_path,
        SITE + READERS + "accuracy = 0.81\n",
        site__csv="outcome,risk\n0,0.1\n,0.5\n1,0.2\n",
        labels__csv="0,1\n1,1\n1,\n",
        confidence__csv="0.5,1\n0.6,0.6\n1,0\n",
    )
    (readers,) = study.readers
    np.testing.assert_array_equal(readers.labels, [[0, 1], [1, np.nan]])
    np.testing.assert_array_equal(readers.confidence, [[0.5, 1], [1, 0]])
    np.testing.assert_array_equal(readers.truth, [0, 1])
    assert readers.accuracy == (0.81, 0.81)


def test_readers_are_linked_by_the_case(tmp_path: Path) -> None:
    study = _read(
        tmp_path,
        SITE + 'id = "case"\n' + READERS + 'case = "case"\n',
        site__csv="case,outcome,risk\na,0,0.1\nb,1,0.5\nc,1,0.2\n",
        labels__csv="case,anna,bob\nc,1,1\na,0,1\n",
        confidence__csv="case,anna,bob\na,0.1,0.2\nc,0.8,0.9\n",
    )
    (readers,) = study.readers
    np.testing.assert_array_equal(readers.labels, [[0, 1], [1, 1]])
    np.testing.assert_array_equal(readers.confidence, [[0.1, 0.2], [0.8, 0.9]])
    np.testing.assert_array_equal(readers.truth, [0, 1])


def test_a_case_that_the_dataset_does_not_have(tmp_path: Path) -> None:
    found = _faults(
        tmp_path,
        SITE + 'id = "case"\n' + READERS.replace('confidence = "confidence.csv"\n', "") + 'case = "case"\n',
        site__csv="case,outcome,risk\na,0,0.1\nb,1,0.5\n",
        labels__csv="case,anna\nb,1\nz,0\n",
    )
    assert found == [("The case of this row is not in site.", "labels.csv, row 3")]


def test_a_first_line_of_numbers_that_are_no_labels_is_not_guessed(tmp_path: Path) -> None:
    labels = READERS.replace('confidence = "confidence.csv"\n', "")
    table = "outcome,risk\n0,0.1\n1,0.5\n"
    found = _faults(tmp_path, SITE + labels, site__csv=table, labels__csv="1,2,3\n0,1,0\n1,1,0\n")
    assert found[0][0] == "The first line of labels.csv holds neither only ratings nor only names of raters."
    release = SITE + labels + "header = true\n"
    (readers,) = _read(tmp_path, release, site__csv=table, labels__csv="1,2,3\n0,1,0\n1,1,0\n").readers
    assert readers.labels.shape == (2, 3)


@needs_raters
def test_the_published_readers_tables() -> None:
    # methods.md: 427 cases, 13 raters, the first line is data.
    from dossier.core.faults.locations import Key
    from dossier.core.release import ReadersTables
    from dossier.reading.files import Folder
    from dossier.reading.readers import readers_of

    faults: list[Fault] = []
    declared = ReadersTables(labels="preds.csv", confidence="confs.csv")
    found = present(readers_of(declared, Key("readers"), Folder(RATERS), [], [], faults))
    assert faults == []
    assert found.labels.shape == (427, 13)
    assert found.truth is None


# ---- the reader study, severity and utility -------------------------------------------------------------------------

STUDY = '[reader_study]\nfile = "study.csv"\n'
PAIRED = (
    "reader,case,truth,unaided,aided,group,advice\nb,x,1,0,1,junior,1\nb,y,0,0,0,junior,1\na,x,1,1,1,senior,1\n"
    "a,y,0,1,1,senior,1\n"
)
SITE_ROWS = "outcome,risk\n0,0.1\n1,0.2\n"


def test_a_paired_reader_study(tmp_path: Path) -> None:
    found = present(_read(tmp_path, SITE + STUDY, site__csv=SITE_ROWS, study__csv=PAIRED).reader_study)
    assert found.counts == DecisionCounts(aided_wrong=1, aided_right=3, unaided_wrong=2, unaided_right=2)
    np.testing.assert_array_equal(found.reader, [1, 1, 0, 0])
    np.testing.assert_array_equal(found.case, [0, 1, 0, 1])
    np.testing.assert_array_equal(found.advice, [1, 1, 1, 1])
    assert found.group == ("senior", "junior")


def test_a_parallel_reader_study_and_bare_counts(tmp_path: Path) -> None:
    table = "reader,case,truth,unaided,aided\na,x,1,0,\na,y,0,0,\nb,x,1,,1\nb,y,0,,1\n"
    release = SITE + STUDY + 'design = "parallel"\n'
    found = present(_read(tmp_path, release, site__csv=SITE_ROWS, study__csv=table).reader_study)
    assert found.counts == DecisionCounts(1, 1, 1, 1)
    np.testing.assert_array_equal(found.aided, [np.nan, np.nan, 1, 1])
    counts = SITE + "[reader_study]\ncounts = { aie = 352, ain = 1196, ce = 367, cn = 1181 }\n"
    bare = present(_read(tmp_path, counts, site__csv=SITE_ROWS).reader_study)
    assert bare.counts == DecisionCounts(352, 1196, 367, 1181)
    assert len(bare.reader) == 0


PARALLEL = 'design = "parallel"\n'


@pytest.mark.parametrize(
    ("more", "table", "expected"),
    [
        ("", "reader,case,truth,unaided\na,x,1,0\n", ("There is no column aided.", "study.csv, first row")),
        ("", "reader,case,truth,unaided,aided\na,x,1,0,2\n", ("aided is 2, not 0 or 1.", "row 2, column aided")),
        ("", "reader,case,truth,unaided,aided\na,x,,0,1\n", ("truth is missing.", "row 2, column truth")),
        ("", "reader,case,truth,unaided,aided\n,x,1,0,1\n", ("The reader is missing.", "row 2, column reader")),
        (
            "",
            "reader,case,truth,unaided,aided\na,x,1,0,\n",
            ("aided is missing, and the design is paired.", "row 2, column aided"),
        ),
        (
            "",
            "reader,case,truth,unaided,aided\na,x,1,0,1\na,x,1,1,1\n",
            ("The reader and the case are the same as in row 2.", "row 3"),
        ),
        (
            "",
            "reader,case,truth,unaided,aided\na,x,1,0,1\nb,x,0,1,1\n",
            ("truth is not what it is for the same case in row 2.", "row 3, column truth"),
        ),
        (
            "",
            "reader,case,truth,unaided,aided,group\na,x,1,0,1,one\na,y,0,1,1,two\n",
            ("group is not what it is for the same reader in row 2.", "row 3, column group"),
        ),
        ("", "reader,case,truth,unaided,aided\na,x,1,0\n", ("The row has 4 cells, not 5.", "study.csv, row 2")),
        (
            PARALLEL,
            "reader,case,truth,unaided,aided\na,x,1,0,1\n",
            ("There are both unaided and aided, and the design is parallel.", "row 2"),
        ),
        (PARALLEL, "reader,case,truth,unaided,aided\na,x,1,,\n", ("There is neither unaided nor aided.", "row 2")),
        (
            PARALLEL,
            "reader,case,truth,unaided,aided\na,x,1,0,\nb,x,1,,1\nb,y,1,,1\n",
            ("Nobody decides the case of this row without the model.", "row 4"),
        ),
    ],
)
def test_faults_of_a_reader_study(tmp_path: Path, more: str, table: str, expected: tuple[str, str]) -> None:
    found = _faults(tmp_path, SITE + STUDY + more, site__csv=SITE_ROWS, study__csv=table)
    assert len(found) == 1
    assert found[0][0] == expected[0]
    assert found[0][1].endswith(expected[1])


@pytest.mark.parametrize(
    ("added", "what"),
    [
        ("[reader_study]\n", "The reader study is not one table or one set of counts."),
        ("[severity]\nweights = [[0, 0.3]]\n", "The severity weights are not a square table."),
        ("[severity]\nweights = [[0.1, 0.3], [0.3, 0]]\n", "A right answer has a severity."),
        (
            "[severity]\nweights = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]\n",
            "The severity weights are for 3 classes, and the outcome has 2.",
        ),
        ("[severity]\nweights = [[0, 1.5], [0.3, 0]]\n", "weights, value 1, value 2 is 1.5, not at most 1."),
        ("[utility]\ngamma = [2]\n", "gamma, value 1 is 2, not at most 1."),
        ('[utility]\ncost = "c"\n', "cost and benefit do not stand together."),
        ('[utility]\nrelevance = { from = "rater_errors" }\n', "The relevance has no such source."),
        ('[utility]\nrelevance = "wieght"\n', "There is no column wieght."),
    ],
)
def test_faults_of_what_these_keys_declare(tmp_path: Path, added: str, what: str) -> None:
    assert what in [fault for fault, _ in _faults(tmp_path, SITE + added, site__csv=SITE_ROWS)]


UTILITY = '[utility]\nrelevance = "w"\ncost = "c"\nbenefit = "b"\n'


def test_columns_of_the_utility_are_read_and_are_no_predictors(tmp_path: Path) -> None:
    development = '[[dataset]]\nname = "made"\nrole = "development"\nfile = "made.csv"\n'
    study = _read(
        tmp_path,
        SITE + development + UTILITY,
        site__csv="outcome,risk,age,w,c,b\n0,0.1,5,0.5,1,3\n,0.2,6,1,1,1\n1,0.3,7,1,0,2\n",
        made__csv="outcome,age,w,c,b\n0,5,1,1,1\n1,7,1,1,1\n",
    )
    found = _dataset(study, "site")
    assert [predictor.name for predictor in found.predictors] == ["age"]
    np.testing.assert_array_equal(found.relevance, [0.5, 1])
    np.testing.assert_array_equal(found.cost, [1, 0])
    np.testing.assert_array_equal(found.benefit, [3, 2])


def test_faults_of_the_columns_of_the_utility(tmp_path: Path) -> None:
    table = "outcome,risk,w,c,b\n0,0.1,2,1,3\n1,0.2,,1,-1\n1,0.3,1,x,2\n"
    assert _faults(tmp_path, SITE + UTILITY, site__csv=table) == [
        ("w is 2, not a number from 0 to 1. w is missing.", "site.csv, rows 2 and 3, column w"),
        ('c is "x", not a number of 0 or more.', "site.csv, row 4, column c"),
        ("b is -1, not a number of 0 or more.", "site.csv, row 3, column b"),
    ]
    idle = "outcome,risk,w,c,b\n0,0.1,1,0,0\n1,0.2,1,1,1\n"
    found = _faults(tmp_path, SITE + UTILITY, site__csv=idle)
    assert found == [("cost and benefit are both 0.", "site.csv, row 2, column c")]


# ---- without a release file, and what ships -------------------------------------------------------------------------


def test_quick_needs_no_release_file(tmp_path: Path) -> None:
    table = tmp_path / "My Table.csv"
    table.write_text("y,p\n0,0.1\n1,0.2\n", encoding="utf-8")
    study = reading.quick(table, "y", "p", (0.3,), None)
    assert (study.datasets[0].name, study.datasets[0].role) == ("my-table", "external")
    assert (study.release.release.model, study.release.release.date) == ("My Table", None)
    assert (study.release.thresholds.declared, study.release.thresholds.range) == ((0.3,), None)
    assert [file.name for file in study.inputs] == ["My Table.csv"]


def test_quick_refuses_a_name_of_bytes_that_are_no_letters(tmp_path: Path) -> None:
    table = tmp_path / os.fsdecode(b"\xff.csv")
    table.write_text("y,p\n0,0.1\n1,0.2\n", encoding="utf-8")
    assert [fault.what for fault in refused(reading.quick, table, "y", "p", (1.5,), None).faults] == [
        "The threshold 1.5 is not between 0 and 1.",
        "The name holds what cannot be printed: U+DCFF.",
    ]


@pytest.mark.parametrize("empty", ["", " "])
def test_quick_takes_no_empty_name_for_another(tmp_path: Path, empty: str) -> None:
    table = tmp_path / "table.csv"
    table.write_text("outcome,risk\n0,0.1\n1,0.2\n", encoding="utf-8")
    assert {
        (fault.where, fault.what) for fault in refused(reading.quick, table, empty, empty + empty, (), empty).faults
    } >= {(option, f"{option} is empty.") for option in ("--outcome", "--risk", "--name")}


def test_quick_collects_its_faults(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("y,p\n0,0.1\n1,0.2\n", encoding="utf-8")
    assert [fault.what for fault in refused(reading.quick, table, "y", "prob", (1.5,), None).faults] == [
        "The threshold 1.5 is not between 0 and 1.",
        "There is no column prob.",
    ]


def test_quick_speaks_of_the_command_where_a_release_would_be_named(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("died,risk\n0,0.1\n1,0.2\n", encoding="utf-8")
    for table, where, fix in (
        ("nowhere.csv", "TABLE", "Put the file there, or mend its name."),
        ("table.csv", "table.csv, first row", "Did you mean died? --outcome names it."),
    ):
        caught = refused(reading.quick, tmp_path / table, "dies", "risk")
        assert [(fault.where, fault.fix) for fault in caught.faults] == [(where, fix)]


@pytest.mark.parametrize(
    ("table", "fixes"),
    [
        (
            "died,risk\nyes,0.1\nno,0.2\n",
            ['Say which value means that the outcome happened, such as --positive "yes".'],
        ),
        ("died,risk\n-1,0.1\n1,0.2\n", ["Say which value means that the outcome happened, such as --positive 1."]),
        (
            "died,risk\n1,0.1\nn/a,n/a\n",
            [
                "Give 0 or 1; name the value in --missing only where it stands for unknown.",
                "Give a number, leave the cell empty, or name the value in --missing.",
            ],
        ),
        ("died,risk\n1,0.1\n0,1.7\n", ["Give risks as probabilities, or name another column with --risk."]),
        (
            "died,risk,name\n1,0.1,M\x81ller\n",
            ["Save the table as UTF-8 text, or name its encoding, such as --encoding windows-1252."],
        ),
        (
            "died;risk, predicted\n0;0,171\n",
            [
                'Did you mean died;risk? If ; stands between the columns, say --separator ";". --outcome names it.',
                'Did you mean died;risk? If ; stands between the columns, say --separator ";". --risk names it.',
            ],
        ),
        ("", ["Put the rows in it."]),
    ],
)
def test_quick_gives_advice_that_can_be_followed_without_a_release(
    tmp_path: Path, table: str, fixes: list[str]
) -> None:
    (tmp_path / "table.csv").write_bytes(table.encode("latin-1"))
    assert [fault.fix for fault in refused(reading.quick, tmp_path / "table.csv", "died", "risk").faults] == fixes


def test_a_name_that_differs_by_a_sign_that_does_not_show_is_told_with_the_sign(tmp_path: Path) -> None:
    caught = refused(_read, tmp_path, SITE, site__csv="outcome,\u200brisk\n0,0.1\n1,0.2\n")
    assert caught.faults[0].fix.startswith("Did you mean <U+200B>risk?")


CRITERION = '[[acceptance]]\nmeasure = "{0}"\ndataset = "{1}"\nat_least = {2}\n'


def test_a_table_of_a_list_that_cannot_be_used_hides_no_fault_of_its_neighbours(tmp_path: Path) -> None:
    criteria = [("auroc", "site", '"high"'), ("auroc", "nowhere", 75), ("auroc", "lost", 0.7), ("auroc", "site", 0.7)]
    release = SITE + '[[dataset]]\nname = "lost"\nrole = "externl"\nfile = "site.csv"\n'
    release += SITE.replace('"site"', '"third"').replace("site.csv", "third.csv")
    release += (
        "".join(CRITERION.format(*criterion) for criterion in criteria) + 'subset = { column = "ward", level = "4" }\n'
    )
    release += '[[subgroup]]\ncolumn = 5\n[[subgroup]]\ncolumn = "risk"\n[[reply]]\nflag = 3\nsays = "x"\n'
    release += '[[reply]]\nflag = "few_sites"\ndataset = "lost"\nsays = "x"\n[[reply]]\nflag = "few"\nsays = "x"\n'
    found = _faults(tmp_path, release, site__csv="outcome,risk\n0,0.1\n1,1.7\n")
    assert [where for _, where in found if where.startswith("release.toml")] == [
        "release.toml, [[dataset]] 2 (lost), role",
        "release.toml, [[acceptance]] 1, at_least",
        "release.toml, [[subgroup]] 1, column",
        "release.toml, [[reply]] 1, flag",
        "release.toml, [[subgroup]] 2, column",
        "release.toml, [[dataset]] 3 (third), file",
        "release.toml, [[acceptance]] 2, at_least",
        "release.toml, [[acceptance]] 2, dataset",
        "release.toml, [[reply]] 3, flag",
    ]
    assert ("risk is 1.7, outside 0 to 1.", "site.csv, row 3, column risk") in found


@pytest.mark.parametrize(
    ("written", "instead", "what"),
    [
        ('column = "outcome"\n', "", "column is missing."),
        ('column = "outcome"\n', "column = 5\n", "column is 5, not text in quotes."),
        ('[outcome]\nname = "Readmission"\ncolumn = "outcome"\n', "", "There is no [outcome]."),
    ],
)
def test_an_outcome_without_a_column_hides_no_fault_of_the_risks(
    tmp_path: Path, written: str, instead: str, what: str
) -> None:
    release_in(tmp_path, HEAD.replace(written, instead) + SITE, site__csv="outcome,risk\nno,0.1\nyes,1.7\n")
    assert [fault.what for fault in refused(reading.study, tmp_path).faults] == [what, "risk is 1.7, outside 0 to 1."]


def test_a_release_without_prediction_hides_no_fault_of_the_outcome(tmp_path: Path) -> None:
    head = HEAD.replace('[prediction]\ncolumn = "risk"\n', "")
    release_in(tmp_path, head + SITE, site__csv="outcome,risk\n0,0.1\n3,0.7\n")
    assert [fault.what for fault in refused(reading.study, tmp_path).faults] == [
        "There is no [prediction].",
        "outcome is coded 0 and 3, not 0 and 1.",
    ]


def test_one_site_or_file_on_another_scale_is_named(tmp_path: Path) -> None:
    rows = [("A", 0.17), ("B", 73.7), ("A", 0.49), ("B", 0.9), ("B", 12.5), ("C", 0.3), ("C", 0.4), ("C", 7.5)]
    table = "hosp,outcome,risk\n" + "".join(f"{site},{k % 2},{risk}\n" for k, (site, risk) in enumerate(rows))
    release = SITE + 'site_column = "hosp"\n'
    caught = refused(_read, tmp_path, release, site__csv=table)
    assert [(fault.what, fault.where, fault.fix) for fault in caught.faults] == [
        (
            "risk runs from 0.9 to 73.7: it looks like per cent.",
            "site.csv, column risk, hosp B",
            "Divide the column by 100, in these rows only.",
        ),
        (
            "risk is 7.5, outside 0 to 1.",
            "site.csv, row 9, column risk",
            "Give risks as probabilities, or declare another column in [prediction].",
        ),
    ]


def test_one_file_of_a_folder_on_another_scale_is_named(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    for name, risks in (("a", [0.1, 0.4, 0.7]), ("b", [-2.0, 0.5, 1.5])):
        written = pyarrow.table({"outcome": [0, 1, 1], "risk": risks})
        pyarrow.parquet.write_table(written, tmp_path / "site" / f"{name}.parquet")
    found = _faults(tmp_path, SITE.replace("site.csv", "site"))
    assert found == [("risk runs from -2 to 1.5: it looks like log odds.", "site/b.parquet, column risk")]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('"outcome" "risk"\n"0" 0 0.171\n"1" 1 0.737\n', "blanks"),
        ("outcome risk\n0   0,171\n1 0,737\n", "blanks"),
        ("outcome^risk\n0^0.171\n1^0.737\n", "^"),
    ],
)
def test_a_separator_that_is_not_read_is_told(tmp_path: Path, table: str, said: str) -> None:
    what = f"The columns of site.csv seem to be separated by {said}."
    assert _faults(tmp_path, SITE, site__csv=table) == [(what, "site.csv, first row")]


@pytest.mark.parametrize("table", ["the risk, outcome\n0.2, 1\n", "outcome of patients\n1 or 2\n", "outcome\n1\n"])
def test_blanks_in_names_and_texts_are_no_separators(tmp_path: Path, table: str) -> None:
    assert not any("separated" in what for what, _ in _faults(tmp_path, SITE, site__csv=table))


def test_two_columns_that_were_read_as_one_are_told_with_the_way_to_part_them(tmp_path: Path) -> None:
    caught = refused(_read, tmp_path, SITE, site__csv="outcome;the risk, predicted\n0;0,171\n1;0,737\n")
    assert 'If ; stands between the columns, declare separator = ";" in the [[dataset]].' in caught.faults[0].fix


def test_what_stands_in_a_table_that_cannot_be_used_hides_no_fault_of_the_others(tmp_path: Path) -> None:
    more = '[roc]\nparts = [[0, 2]]\n[readers]\nlabels = 1\n[statements]\n99 = "x"\n4 = { file = "no.md" }\n'
    found = _faults(tmp_path, SITE + 'sheet = "a"\nid = "case"\n' + more, site__csv="outcome,risk\n0,0.1\n1,3\n")
    assert [what for what, _ in found] == [
        "labels is 1, not text in quotes.",
        "parts, value 1, value 2 is 2, not at most 1.",
        "99: no such item of TRIPOD+AI.",
        "sheet is declared for site.csv, but belongs to a workbook.",
        "risk is 3, outside 0 to 1.",
        "There is no column case.",
        "There is no file no.md.",
    ]


def test_more_classes_than_their_table_has_room_for_are_told(tmp_path: Path) -> None:
    names = [f"c{k}" for k in range(16)]
    head = HEAD.replace('column = "outcome"', f'column = "outcome"\nclasses = {json.dumps(names)}')
    release_in(tmp_path, head.replace('column = "risk"', f"columns = {json.dumps(names)}") + SITE)
    assert [fault.what for fault in refused(reading.study, tmp_path).faults][:2] == [
        "classes has 16 values, more than 15.",
        "columns has 16 values, more than 15.",
    ]


def test_a_number_where_a_dataset_should_be_is_told_by_its_place(tmp_path: Path) -> None:
    text = HEAD.replace("[release]", "dataset = [1]\n[release]", 1)
    (tmp_path / "release.toml").write_text(text, encoding="utf-8")
    assert refused(reading.study, tmp_path).faults[0].what == "[[dataset]] 1 is 1, not a table."


def test_what_init_writes_can_be_read(tmp_path: Path) -> None:
    study = reading.study(example(tmp_path))
    assert [(dataset.role, dataset.rows_read, len(dataset.predictors)) for dataset in study.datasets] == [
        ("development", 200, 3),
        ("internal", 200, 3),
        ("external", 200, 3),
    ]
    assert study.flags == ()
    assert np.isnan(_values(study.datasets[2], "glucose")).any()
    assert initial.files() == initial.files()


@pytest.mark.parametrize("name", ["biopsy", "breast", "knee"])
def test_the_releases_that_ship_can_be_read(name: str) -> None:
    assert any(dataset.role == "external" for dataset in reading.study(REPOSITORY / "fixtures" / name).datasets)


@needs_covid
def test_the_covid_hospitals() -> None:
    study = reading.study(COVID)
    # n and events: the table of methods.md; 20 shared predictors at two sites: its section on correspondence.
    expected = {"brazil-1": (1301, 352), "brazil-3": (345, 334), "italy-1": (337, 163), "ethiopia": (429, 200)}
    for name, (n, events) in expected.items():
        dataset = _dataset(study, name)
        assert dataset.outcome is not None
        assert (len(dataset.outcome), int(dataset.outcome.sum())) == (n, events)
    assert {summary.name for summary in study.datasets if len(summary.predictors) == 20} >= {"italy-1", "italy-2"}
    assert _dataset(study, "spain").predictors == ()


A = '[[dataset]]\nname = "a"\nrole = "{role}"\nfile = "a.csv"\nsite_column = "hospital"\n'
BESIDE = '[[dataset]]\nname = "a-b"\nrole = "external"\nfile = "b.csv"\n'


def test_a_dataset_may_be_called_like_a_site_of_another(tmp_path: Path) -> None:
    rows = "hospital,outcome,risk\n" + "c,0,0.2\nc,1,0.7\nc,0,0.4\nc,1,0.6\n"
    beside = "outcome,risk\n,0.2\n,0.6\n"
    faults = _faults(tmp_path, A.format(role="external") + BESIDE, **{"a.csv": rows, "b.csv": beside})
    assert faults == [("No row of a-b has both an outcome and a risk.", "b.csv")]


def test_what_names_a_dataset_is_looked_at_though_another_of_the_like_name_is_wrong(tmp_path: Path) -> None:
    asked = '[[acceptance]]\nmeasure = "no_such_measure"\ndataset = "{}"\nat_least = 0.7\n'
    for name, is_asked in (("a-b", True), ("a-c", False)):
        release = A.format(role="elsewhere") + BESIDE + asked.format(name)
        said = " ".join(text for text, _ in _faults(tmp_path, release, **{"b.csv": "outcome,risk\n0,0.2\n1,0.6\n"}))
        assert ("no_such_measure" in said) is is_asked
