"""load: the readers' tables in any kind of file, their raters told by name and their cases by the declared column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas
import pyreadstat
import pytest

from dossier import reading
from dossier.core.errors import DossierError
from dossier.core.types import Readers, Study
from dossier.typeset.flags import flag_text
from tests.estimated import present, refused
from tests.smallest import HEAD, SITE

ROWS = "case_id,outcome,risk\nc,0,0.1\na,1,0.5\nb,1,0.2\n"
LINKED = 'id = "case_id"\n[readers]\ndataset = "site"\ncase = "case_id"\nlabels = "{labels}"\n'
LABELS = [[1, 0], [1, 1], [0, 0]]
"""What A and B say of the cases a, b and c."""


def _study(folder: Path, more: str, site: str = SITE, **texts: str) -> Study:
    for name, text in {"site__csv": ROWS, "release__toml": HEAD + site + more, **texts}.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return reading.study(folder)


def _read(folder: Path, more: str, **texts: str) -> Readers:
    (found,) = _study(folder, more, **texts).readers
    return found


def _faults(folder: Path, more: str, **texts: str) -> list[str]:
    return [fault.what for fault in refused(_read, folder, more, **texts).faults]


def _labelled(path: Path, table: dict[str, list[Any]], **labels: dict[int | float, str]) -> None:
    pyreadstat.write_sav(pandas.DataFrame(table), path, variable_value_labels=labels)


def _workbook(path: Path, rows: list[list[Any]]) -> None:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)


@pytest.mark.parametrize("linked", [True, False])
def test_raters_are_told_by_their_names(tmp_path: Path, linked: bool) -> None:
    more = LINKED.format(labels="labels.csv") + 'confidence = "confidence.csv"\ncomplexity = "complexity.csv"\n'
    tables = {
        "labels__csv": "case_id,A,B\nc,1,0\na,1,1\nb,0,0\n",
        "confidence__csv": "case_id,B,A\nc,0.1,0.2\na,0.3,0.4\nb,0.5,0.6\n",
        "complexity__csv": "case_id,A,B\nc,0.9,0.8\na,0.7,0.6\nb,0.5,0.4\n",
    }
    if not linked:
        more = more.replace('case = "case_id"\n', "")
        tables = {name: text.replace("case_id,", "") for name, text in tables.items()}
        tables = {
            name: text.replace("c,", "").replace("a,", "").replace("b,", "").replace("\n\n", "\n")
            for name, text in tables.items()
        }
    found = _read(tmp_path, more, **tables)
    np.testing.assert_array_equal(found.labels, [[1, 0], [1, 1], [0, 0]])
    np.testing.assert_array_equal(found.confidence, [[0.2, 0.1], [0.4, 0.3], [0.6, 0.5]])
    np.testing.assert_array_equal(found.complexity, [[0.9, 0.8], [0.7, 0.6], [0.5, 0.4]])


def test_one_rater_needs_no_name_and_names_are_compared_where_both_tables_have_some(tmp_path: Path) -> None:
    release = '[readers]\ndataset = "site"\nlabels = "labels.csv"\nconfidence = "confidence.csv"\n'
    readers = _read(tmp_path, release, labels__csv="label\n1\n1\n0\n", confidence__csv="confidence\n0.2\n0.4\n1\n")
    np.testing.assert_array_equal(readers.confidence, [[0.2], [0.4], [1]])
    two = _read(tmp_path, release, labels__csv="A,B\n1,0\n1,1\n0,0\n", confidence__csv="0.2,1\n0.4,1\n1,1\n")
    np.testing.assert_array_equal(two.confidence, [[0.2, 1], [0.4, 1], [1, 1]])
    labels = "A,B,C\n1,0,1\n1,1,1\n0,0,0\n"
    confidence = "C,D,E\n1,0,1\n1,1,1\n0,0,0\n"
    says = "labels.csv has the raters A, B; confidence.csv has D, E instead."
    assert _faults(tmp_path, release, labels__csv=labels, confidence__csv=confidence) == [says]


@pytest.mark.parametrize("file", ["labels.xlsx", "labels.parquet", "labels.feather", "labels.dta", "labels"])
def test_the_first_column_is_that_of_the_cases_in_every_kind_of_file(tmp_path: Path, file: str) -> None:
    table = pandas.DataFrame({"A": [1.0, 1.0, 0.0], "B": [0.0, 1.0, 0.0], "case_id": ["a", "b", "c"]})
    wrong = "The first column of " + file + " is A, not case_id."
    for columns in (["case_id", "A", "B"], ["A", "B", "case_id"]):
        ordered = table[columns]
        path = tmp_path / (file if "." in file else f"{file}/part-1.parquet")
        path.parent.mkdir(exist_ok=True)
        if file.endswith(".xlsx"):
            ordered.to_excel(path, index=False)
        elif path.suffix == ".parquet":
            ordered.to_parquet(path)
        elif file.endswith(".feather"):
            ordered.to_feather(path)
        else:
            ordered.to_stata(path, write_index=False)
        if columns[0] == "case_id":
            found = _read(tmp_path, LINKED.format(labels=file))
            np.testing.assert_array_equal(found.labels, [LABELS[2], LABELS[0], LABELS[1]])
        else:
            assert _faults(tmp_path, LINKED.format(labels=file)) == [wrong]


def test_another_number_of_the_cases_in_a_workbook_is_not_taken_for_the_identifier(tmp_path: Path) -> None:
    _workbook(tmp_path / "labels.xlsx", [["nr", "A"], [1, 1], [2, 0]])
    rows = "case_id,outcome,risk\n2,0,0.1\n1,1,0.5\n"
    found = _faults(tmp_path, LINKED.format(labels="labels.xlsx"), site__csv=rows)
    assert found == ["The first column of labels.xlsx is nr, not case_id."]


@pytest.mark.parametrize("more", ["", "header = false\n"])
def test_a_workbook_without_names_of_raters_loses_no_case(tmp_path: Path, more: str) -> None:
    _workbook(tmp_path / "labels.xlsx", [["a", 1, 0], ["b", 1, 1], ["c", 0, None]])
    found = _read(tmp_path, LINKED.format(labels="labels.xlsx") + more)
    np.testing.assert_array_equal(found.labels, [[0, np.nan], [1, 0], [1, 1]])


def test_a_workbook_that_begins_in_its_second_column_and_ends_in_notes(tmp_path: Path) -> None:
    rows: list[list[Any]] = [[None, "case_id", "A", "B", None], [None, "a", 1, 0, None], [None, "b", 1, 1, "unsure"]]
    _workbook(tmp_path / "labels.xlsx", rows)
    found = _read(tmp_path, LINKED.format(labels="labels.xlsx"))
    np.testing.assert_array_equal(found.labels, [[1, 0], [1, 1]])


def test_cases_under_a_blank_heading_are_not_found(tmp_path: Path) -> None:
    _workbook(tmp_path / "labels.xlsx", [[None, "A", "B"], ["a", 1, 0], ["b", 1, 1]])
    found = _faults(tmp_path, LINKED.format(labels="labels.xlsx"))
    assert found == ["The first named column of labels.xlsx is A, not case_id."]


@pytest.mark.parametrize("names", ["0,1", "1,2", "A,B"])
def test_a_line_that_begins_with_the_name_of_the_cases_names_the_raters(tmp_path: Path, names: str) -> None:
    labels = f"case_id,{names}\na,1,0\nb,1,1\nc,0,0\n"
    found = _read(tmp_path, LINKED.format(labels="labels.csv"), labels__csv=labels)
    np.testing.assert_array_equal(found.labels, [LABELS[2], LABELS[0], LABELS[1]])
    alone = LINKED.format(labels="labels.csv").replace('dataset = "site"\n', "")
    assert _read(tmp_path, alone, labels__csv=labels).labels.shape == (3, 2)


@pytest.mark.parametrize("names", ["A,B,", ""])
def test_separators_at_the_end_of_lines_are_no_rater(tmp_path: Path, names: str) -> None:
    labels = (names + "\n" if names else "") + "1,0,\n1,1,\n0,,\n"
    found = _read(tmp_path, '[readers]\ndataset = "site"\nlabels = "labels.csv"\n', labels__csv=labels)
    np.testing.assert_array_equal(found.labels, [[1, 0], [1, 1], [0, np.nan]])


def test_separators_at_the_end_of_the_file_are_no_cases(tmp_path: Path) -> None:
    release = '[readers]\nlabels = "labels.csv"\nconfidence = "confidence.csv"\n'
    labels, confidence = "A,B\n1,0\n,\n0,\n,\n,\n", "A,B\n1,1\n,\n1,1\n1,\n"
    found = _read(tmp_path, release, labels__csv=labels, confidence__csv=confidence)
    np.testing.assert_array_equal(found.labels, [[1, 0], [np.nan] * 2, [0, np.nan], [np.nan] * 2])
    site = release.replace("[readers]", '[readers]\ndataset = "site"')
    few = _read(tmp_path, site, labels__csv="A,B\n1,0\n,\n,\n,\n", confidence__csv="A,B\n1,1\n,\n,\n")
    assert few.labels.shape == (3, 2)
    linked = _read(tmp_path, LINKED.format(labels="labels.csv"), labels__csv="case_id,A,B\na,1,0\n,,\nb,1,1\n,,\n")
    np.testing.assert_array_equal(linked.labels, [[1, 0], [1, 1]])


def _written(path: Path, rows: list[list[Any]]) -> None:
    """A table of raters A and B as the kind of file that its name says."""
    if path.suffix == ".xlsx":
        _workbook(path, [["A", "B"], *rows])
    elif path.suffix == ".csv":
        lines = (
            "" if row == [None, None] else ",".join("" if cell is None else str(cell) for cell in row) for row in rows
        )
        path.write_text("\n".join(["A,B", *lines, "", ""]))
    else:
        found = pandas.DataFrame(rows, columns=["A", "B"], dtype=float)
        found.to_feather(path) if path.suffix == ".feather" else pyreadstat.write_sav(found, path)


@pytest.mark.parametrize("kind", [".csv", ".xlsx", ".feather", ".sav"])
def test_a_row_of_nothing_between_others_is_a_case_without_labels(tmp_path: Path, kind: str) -> None:
    release = f'[readers]\nlabels = "labels{kind}"\nconfidence = "confidence{kind}"\n'
    gap = [None, None]
    _written(tmp_path / f"labels{kind}", [[1, 0], gap, [1, 1], [0, 0], gap])
    _written(tmp_path / f"confidence{kind}", [[0.1, 0.2], [0.3, 0.4], gap, [0.5, 0.6], gap, gap])
    found = _read(tmp_path, release)
    np.testing.assert_array_equal(found.labels, [[1, 0], [np.nan] * 2, [1, 1], [0, 0]])
    np.testing.assert_array_equal(found.confidence, [[0.1, 0.2], [0.3, 0.4], [np.nan] * 2, [0.5, 0.6]])
    of_a_dataset = release.replace("[readers]", '[readers]\ndataset = "site"')
    says = f"labels{kind} has 4 cases, site has 3 rows."
    assert _faults(tmp_path, of_a_dataset) == [says]
    _written(tmp_path / f"labels{kind}", [[1, 0], gap, [1, 1]])
    _written(tmp_path / f"confidence{kind}", [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    np.testing.assert_array_equal(_read(tmp_path, of_a_dataset).labels, [[1, 0], [np.nan] * 2, [1, 1]])


def test_the_blank_line_of_a_single_rater_is_a_case(tmp_path: Path) -> None:
    release = '[readers]\nlabels = "labels.csv"\nconfidence = "confidence.csv"\n'
    tables = {"labels__csv": "A\n1\n\n0\n1\n", "confidence__csv": "A\n0.1\n0.2\n\n0.4\n"}
    found = _read(tmp_path, release, **tables)
    np.testing.assert_array_equal(found.labels, [[1], [np.nan], [0], [1]])
    np.testing.assert_array_equal(found.confidence, [[0.1], [0.2], [np.nan], [0.4]])


def test_the_first_row_of_a_file_with_names_of_its_own_may_hold_nothing(tmp_path: Path) -> None:
    _written(tmp_path / "labels.feather", [[None, None], [1, 1], [0, 0]])
    found = _read(tmp_path, '[readers]\ndataset = "site"\nlabels = "labels.feather"\n')
    np.testing.assert_array_equal(found.labels, [[np.nan] * 2, [1, 1], [0, 0]])


def test_names_of_cases_without_the_key_that_names_them(tmp_path: Path) -> None:
    """Told once for all tables; numbers from 1 are names as well, and ratings on a scale are none."""
    more = '[readers]\ndataset = "site"\nlabels = "labels.csv"\nconfidence = "confidence.csv"\n'
    tables = {"labels__csv": "id,A\n1,1\n2,0\n3,0\n", "confidence__csv": "id,A\n1,0.5\n2,0.4\n3,0.3\n"}
    assert _faults(tmp_path, more, **tables) == [
        "id looks like the names of the cases, and stands where the first rater should."
    ]
    scale = {"labels__csv": "A,B\n1,1\n0,0\n0,1\n", "confidence__csv": "A,B\n1,5\n2,3\n3,4\n"}
    assert _faults(tmp_path, more, **scale) == ["confidence runs from 1 to 5, not from 0 to 1."]


def test_cases_of_a_dataset_with_faulty_identifiers_are_not_said_to_lack_them(tmp_path: Path) -> None:
    more = LINKED.format(labels="labels.csv")
    tables = {"site__csv": ROWS.replace("b,1,0.2", "a,1,0.2"), "labels__csv": "case_id,A\na,1\nc,0\n"}
    assert _faults(tmp_path, more, **tables) == ["The identifier is the same as in row 3."]


def test_lines_that_were_ended_twice_are_no_cases(tmp_path: Path) -> None:
    labels = "A,B\r\r\n1,0\r\r\n1,1\r\r\n0,0\r\r\n"
    (tmp_path / "labels.csv").write_bytes(labels.encode())
    found = _read(tmp_path, '[readers]\ndataset = "site"\nlabels = "labels.csv"\n')
    np.testing.assert_array_equal(found.labels, LABELS)


def test_a_table_of_nothing_has_no_raters_to_read(tmp_path: Path) -> None:
    _written(tmp_path / "labels.feather", [[None, None]])
    assert _faults(tmp_path, '[readers]\ndataset = "site"\nlabels = "labels.feather"\n') == [
        "labels.feather has 0 cases, site has 3 rows."
    ]


def test_a_column_without_a_name_is_an_index_or_a_fault(tmp_path: Path) -> None:
    release = '[readers]\ndataset = "site"\nlabels = "labels.csv"\n'
    found = _read(tmp_path, release, labels__csv=",A,B\n1,1,0\n2,1,1\n3,0,0\n")
    np.testing.assert_array_equal(found.labels, LABELS)
    says = "A column of labels.csv holds ratings and has no name."
    assert _faults(tmp_path, release, labels__csv="A,B,\n1,0,1\n1,1,1\n0,0,\n") == [says]


@pytest.mark.parametrize(("labels", "says"), [("A,A\n1,0\n", "2 columns are named A."), (",\n,\n", "has no raters.")])
def test_names_that_tell_no_raters(tmp_path: Path, labels: str, says: str) -> None:
    (found,) = _faults(tmp_path, '[readers]\nlabels = "labels.csv"\n', labels__csv=labels)
    assert found.endswith(says)


def test_identifiers_that_a_workbook_stripped_of_zeros_are_told_once(tmp_path: Path) -> None:
    _workbook(tmp_path / "labels.xlsx", [["case_id", "A"], *([k, k % 2] for k in range(30))])
    rows = "case_id,outcome,risk\n" + "".join(f"{k:04},{k % 2},0.5\n" for k in range(30))
    found = _faults(tmp_path, LINKED.format(labels="labels.xlsx"), site__csv=rows)
    assert found == ["30 cases of labels.xlsx are in site with other zeros in front."]
    more = LINKED.format(labels="labels.xlsx") + 'confidence = "confidence.csv"\n'
    confidence = "case_id,A\n" + "".join(f"{k:04},1\n" for k in range(30))
    found = _faults(tmp_path, more, site__csv=rows, confidence__csv=confidence)
    assert found == ["30 cases of labels.xlsx are in confidence.csv with other zeros in front."]


YES: dict[int | float, str] = {0: "no", 1: "yes"}
NUMBERS: dict[int | float, str] = {1: "0", 2: "0.5", 3: "1"}


def test_labels_that_are_words_leave_the_ratings_their_codes(tmp_path: Path) -> None:
    _labelled(tmp_path / "labels.sav", {"case_id": ["a", "b"], "A": [0.0, 1.0], "B": [1.0, 1.0]}, A=YES, B=YES)
    confidence: dict[str, list[Any]] = {"case_id": ["a", "b"], "A": [1.0, 2.0], "B": [3.0, 3.0]}
    _labelled(tmp_path / "confidence.sav", confidence, A=NUMBERS, B=NUMBERS)
    found = _read(tmp_path, LINKED.format(labels="labels.sav") + 'confidence = "confidence.sav"\n')
    np.testing.assert_array_equal(found.labels, [[0, 1], [1, 1]])
    np.testing.assert_array_equal(found.confidence, [[0, 1], [0.5, 1]])


def test_labels_that_are_words_leave_a_reader_study_its_codes(tmp_path: Path) -> None:
    decisions: dict[str, list[Any]] = {"truth": [0.0, 1.0], "unaided": [1.0, 1.0], "aided": [0.0, 1.0]}
    study: dict[str, list[Any]] = {"reader": [1.0, 1.0], "case": ["a", "b"], "group": [1.0, 1.0], **decisions}
    group: dict[int | float, str] = {1: "senior"}
    _labelled(tmp_path / "study.sav", study, truth=YES, unaided=YES, aided=YES, group=group)
    found = present(_study(tmp_path, '[reader_study]\nfile = "study.sav"\n').reader_study)
    np.testing.assert_array_equal(found.truth, [0, 1])
    np.testing.assert_array_equal(found.unaided, [1, 1])
    assert found.group == ("senior",)


def test_labels_that_are_words_leave_numbers_their_codes(tmp_path: Path) -> None:
    table: dict[str, list[Any]] = {"outcome": [0.0, 1.0], "risk": [0.1, 0.5], "w": [0.0, 1.0], "easy": [1.0, 2.0]}
    table["drawn"] = [2.0, 3.0]
    _labelled(tmp_path / "site.sav", table, w={0: "low", 1: "high"}, easy=NUMBERS, drawn={2: "often", 3: "seldom"})
    more = '[utility]\nrelevance = "w"\n[h_accuracy]\ncomplexity = "hard"\n'
    site = SITE.replace("site.csv", "site.sav") + 'columns = { hard = "easy" }\nweights = "drawn"\n'
    found = _study(tmp_path, more, site).datasets[0]
    np.testing.assert_array_equal(found.weights, [2, 3])
    np.testing.assert_array_equal(found.relevance, [0, 1])
    np.testing.assert_array_equal(found.complexity, [0, 0.5])


def test_a_reader_or_a_group_by_a_word_for_missing_is_doubted(tmp_path: Path) -> None:
    rows = "reader,case,truth,unaided,aided,group\nNA,x,1,0,1,junior\nNA,y,0,0,0,junior\nb,x,1,1,1,n/a\nb,y,0,0,0,n/a\n"
    study = _study(tmp_path, '[reader_study]\nfile = "study.csv"\n', study__csv=rows)
    flagged = [
        (flag.dataset, flag.columns, flag_text(flag.fact)) for flag in study.flags if flag.flag == "code_for_missing"
    ]
    says = 'In the reader study a {0} is called "{1}": it may stand for missing, and is counted as a {0}.'
    assert flagged == [
        ("pooled", ("reader",), says.format("reader", "NA")),
        ("pooled", ("group",), says.format("group", "n/a")),
    ]
    names = rows.replace("NA", "Nadia").replace("n/a", "senior")
    assert not _study(tmp_path, '[reader_study]\nfile = "study.csv"\n', study__csv=names).flags


@pytest.mark.parametrize(("names", "hinted"), [("0,1", True), ("A,B\n1,1", False), ("0,1\n1,1", False)])
def test_raters_that_are_called_as_labels_are_thought_of_where_there_is_one_case_too_many(
    tmp_path: Path, names: str, hinted: bool
) -> None:
    with pytest.raises(DossierError) as caught:
        _read(tmp_path, '[readers]\ndataset = "site"\nlabels = "labels.csv"\n', labels__csv=f"{names}\n1,0\n1,1\n0,0\n")
    (fault,) = caught.value.faults
    assert fault.what.endswith(" cases, site has 3 rows.")
    assert fault.fix.startswith("If its first line names the raters, write header = true in [readers].") == hinted
