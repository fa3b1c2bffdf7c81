"""load: one table in every kind of file gives the same values, and every way to write a text is read rightly."""

from __future__ import annotations

import builtins
import datetime
import gzip
import io
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pyreadstat
import pytest

from dossier import reading
from dossier.core.types import Dataset
from dossier.reading import cells, columns, isolation
from tests.bench.fault_places import answered_here
from tests.estimated import present, refused
from tests.smallest import HEAD, release_in

HERE = Path(__file__).resolve().parent
COLUMNS: dict[str, list[Any]] = {
    "outcome": [0, 1, 1],
    "risk": [0.1, 0.25, 0.75],
    "age": [61.5, None, 70.0],
    "ward": ["a", "b", None],
}
TEXT = "outcome,risk,age,ward\n0,0.1,61.5,a\n1,0.25,,b\n1,0.75,70,\n"


def _read(folder: Path, file: str, more: str = "") -> Dataset:
    release = (
        f'{HEAD}[[dataset]]\nname = "site"\nrole = "external"\nfile = "{file}"\npredictors = ["age", "ward"]\n{more}'
    )
    return reading.study(release_in(folder, release)).datasets[0]


def _faults(folder: Path, file: str, more: str = "") -> list[str]:
    return [fault.what for fault in refused(_read, folder, file, more).faults]


def _is_the_table(found: Dataset) -> None:
    assert present(found.outcome).tolist() == COLUMNS["outcome"]
    assert present(found.risk).tolist() == COLUMNS["risk"]
    age, ward = found.predictors
    np.testing.assert_array_equal(age.values, [61.5, np.nan, 70.0])
    assert (age.levels, ward.levels) == (None, ("a", "b"))
    np.testing.assert_array_equal(ward.values, [0, 1, np.nan])


# ---- kinds of files -------------------------------------------------------------------------------------------------


def _workbook(path: Path, **sheets: list[list[Any]]) -> None:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        page = book.create_sheet(name)
        for row in rows:
            page.append(row)
    book.save(path)


def _rows() -> list[list[Any]]:
    return [list(COLUMNS), *(list(row) for row in zip(*COLUMNS.values(), strict=True))]


def _folder_of_parquet(path: Path) -> None:
    path.mkdir()
    whole = pyarrow.table(COLUMNS)
    pyarrow.parquet.write_table(whole.slice(0, 2), path / "part-1.parquet")
    pyarrow.parquet.write_table(whole.slice(2), path / "part-2.parquet")
    (path / "_SUCCESS").write_bytes(b"")


WRITERS: dict[str, Callable[[Path], object]] = {
    "site.csv": lambda path: path.write_text(TEXT),
    "site.tsv": lambda path: path.write_text(TEXT.replace(",", "\t")),
    "site.csv.gz": lambda path: path.write_bytes(gzip.compress(TEXT.encode())),
    "site.TSV.GZ": lambda path: path.write_bytes(gzip.compress(TEXT.replace(",", "\t").encode())),
    "site.parquet": lambda path: pyarrow.parquet.write_table(pyarrow.table(COLUMNS), path),
    "pieces.parquet": lambda path: pyarrow.parquet.write_table(pyarrow.table(COLUMNS), path, row_group_size=2),
    "site.feather": lambda path: pyarrow.feather.write_feather(pyarrow.table(COLUMNS), path),
    "site.xlsx": lambda path: _workbook(path, cases=_rows()),
    "site.xpt": lambda path: pyreadstat.write_xport(pandas.DataFrame(COLUMNS), path),
    "site.dta": lambda path: pyreadstat.write_dta(pandas.DataFrame(COLUMNS), path),
    "site.sav": lambda path: pyreadstat.write_sav(pandas.DataFrame(COLUMNS), path),
    # Written once by ReadStat's own writer, which pyreadstat does not offer.
    "site.sas7bdat": lambda path: shutil.copy(HERE / "tables" / "site.sas7bdat", path),
    "parts": _folder_of_parquet,
}


@pytest.mark.parametrize("file", WRITERS)
def test_every_kind_of_file_gives_the_same_table(tmp_path: Path, file: str) -> None:
    WRITERS[file](tmp_path / file)
    _is_the_table(_read(tmp_path, file))


@pytest.mark.parametrize("kind", [pyarrow.float64(), pyarrow.float32(), pyarrow.int16(), pyarrow.decimal128(21, 2)])
def test_numbers_of_any_kind_keep_their_gaps(kind: Any) -> None:
    column = columns.column("age", pyarrow.array([40, None, 99, 7]).cast(kind), missing=(99,))
    np.testing.assert_array_equal(column.numbers, [40, np.nan, np.nan, 7])
    np.testing.assert_array_equal(column.missing, [False, True, True, False])


@pytest.mark.parametrize("scale", [2, 4, 18])
def test_a_decimal_is_the_number_that_its_digits_spell(scale: int) -> None:
    digits = [f"0.{k:02d}" for k in range(100)] + ["123456789.35"]
    cells = pyarrow.array(digits).cast(pyarrow.decimal128(38, scale))
    assert columns.column("risk", cells).numbers.tolist() == [float(text) for text in digits]


DIGITS = [0.7, 0.1, 0.33333334, 1e-7, 2.5e-45, 60000.0, np.inf, -0.25, 7.1]


@pytest.mark.parametrize("file", ["site.parquet", "site.feather", "site.dta", "dictionary.feather", "mixed"])
def test_a_number_of_few_bits_is_the_one_that_its_digits_spell(tmp_path: Path, file: str) -> None:
    single = pyarrow.array([0.1, 0.7, 0.75], pyarrow.float32())
    table = pyarrow.table({**COLUMNS, "risk": single, "ward": pyarrow.array([7.1, None, 9.4], pyarrow.float32())})
    if file == "mixed":
        (tmp_path / file).mkdir()
        whole = table.set_column(1, "risk", [[0.1, 0.7, 0.75]])
        for name, part in {"a": table.slice(0, 2), "b": whole.slice(2)}.items():
            pyarrow.parquet.write_table(part, tmp_path / file / f"{name}.parquet")
    elif file == "site.dta":
        table.to_pandas().to_stata(tmp_path / file, write_index=False)
    elif file == "site.parquet":
        pyarrow.parquet.write_table(table, tmp_path / file)
    else:
        if file == "dictionary.feather":
            table = table.set_column(1, "risk", single.dictionary_encode())
        pyarrow.feather.write_feather(table, tmp_path / file)
    found = _read(tmp_path, file, "missing = { age = [70], ward = [9.4] }\n")
    assert present(found.risk).tolist() == [0.1, 0.7, 0.75]
    np.testing.assert_array_equal(found.predictors[1].values, [7.1, np.nan, np.nan])


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_digits_and_gaps_of_numbers_of_every_width(kind: Any) -> None:
    numbers = kind(DIGITS)
    column = cells.whole(pyarrow.chunked_array([pyarrow.array(numbers), pyarrow.array(numbers[:0])]))
    assert column.type == pyarrow.float64()
    assert column.to_pylist() == [float(str(number)) for number in numbers]
    gaps = cells.whole(pyarrow.chunked_array([pyarrow.array([None, 0.5], pyarrow.from_numpy_dtype(kind))]))
    assert gaps.to_pylist() == [None, 0.5]


def test_a_million_numbers_of_few_bits_are_spelled_in_a_moment() -> None:
    numbers = np.random.default_rng(1).random(1_100_000).astype(np.float32)
    started = time.process_time()
    spelled = np.asarray(cells.whole(pyarrow.chunked_array([pyarrow.array(numbers)])))
    assert time.process_time() - started < 5
    assert (spelled.astype(np.float32) == numbers).all()
    assert spelled[::100_000].tolist() == [float(str(number)) for number in numbers[::100_000]]


def test_a_check_of_a_parquet_table_does_not_import_pandas(tmp_path: Path) -> None:
    numbers = {name: [*values, *values] for name, values in COLUMNS.items() if name in ("outcome", "risk")}
    pyarrow.parquet.write_table(pyarrow.table(numbers), tmp_path / "site.parquet")
    dataset = '[[dataset]]\nname = "site"\nrole = "external"\nfile = "site.parquet"\n'
    (tmp_path / "release.toml").write_text(HEAD + dataset)
    code = (
        f"import sys; from dossier import reading; reading.study({str(tmp_path)!r}); sys.exit('pandas' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_folder_holds_a_column_as_texts_and_as_codes_of_texts(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    whole = pyarrow.table(COLUMNS)
    coded = whole.set_column(3, "ward", whole.column("ward").dictionary_encode())
    pyarrow.parquet.write_table(whole.slice(0, 2), tmp_path / "parts" / "a.parquet")
    pyarrow.parquet.write_table(coded.slice(2), tmp_path / "parts" / "b.parquet")
    _is_the_table(_read(tmp_path, "parts"))


@pytest.mark.parametrize(
    ("kinds", "says"),
    [
        ([[0, 1], [True, False]], "parts/1.parquet holds outcome as bool, and parts/0.parquet as int64."),
        ([[1], [0.5], ["a"]], "parts/2.parquet holds outcome as string, and parts/0.parquet as int64."),
        ([[1], [0.5], [2**60 + 1]], "parts/1.parquet holds outcome as double, and parts/0.parquet as int64."),
    ],
)
def test_a_column_of_several_kinds_is_named_with_two_files(tmp_path: Path, kinds: list[list[Any]], says: str) -> None:
    (tmp_path / "parts").mkdir()
    for index, values in enumerate(kinds):
        part = pyarrow.table({name: known[: len(values)] for name, known in COLUMNS.items()})
        part = part.set_column(0, "outcome", [values])
        pyarrow.parquet.write_table(part, tmp_path / "parts" / f"{index}.parquet")
    assert _faults(tmp_path, "parts") == [says]


def test_every_file_of_a_folder_is_an_input(tmp_path: Path) -> None:
    _folder_of_parquet(tmp_path / "parts")
    _read(tmp_path, "parts")
    assert [file.name for file in reading.study(tmp_path).inputs] == [
        "parts/part-1.parquet",
        "parts/part-2.parquet",
        "release.toml",
    ]


def test_a_named_sheet_blank_rows_days_and_truths(tmp_path: Path) -> None:
    day = datetime.datetime(2026, 5, 1, tzinfo=None)  # noqa: DTZ001 - a workbook knows no time zones
    rows: list[list[Any]] = [[], ["outcome", "risk", "age", "ward"], [True, 0.1, 61, day], [], [False, 0.2, 50, "b "]]
    _workbook(tmp_path / "site.xlsx", notes=[["nothing"]], cases=rows)
    found = _read(tmp_path, "site.xlsx", 'sheet = "cases"\n')
    assert present(found.outcome).tolist() == [1, 0]
    assert found.predictors[1].levels == ("2026-05-01", "b")


def test_a_fault_in_a_workbook_names_the_row_of_the_sheet(tmp_path: Path) -> None:
    rows: list[list[Any]] = [[], ["outcome", "risk", "age", "ward"], [0, 0.1, 1, 1], [], [1, 7, 1, 1]]
    _workbook(tmp_path / "site.xlsx", cases=rows)
    assert refused(_read, tmp_path, "site.xlsx").faults[0].where == "site.xlsx, row 5, column risk"


def _computed(path: Path, old: str, new: str) -> None:
    """The first sheet of a workbook with a piece of its XML written otherwise."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    # With lxml installed openpyxl writes an empty element in another way.
    text = re.sub(r"<v\s*/>|<v></v>", "<v />", parts["xl/worksheets/sheet1.xml"].decode())
    assert old in text
    parts["xl/worksheets/sheet1.xml"] = text.replace(old, new).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_a_formula_that_was_never_computed_is_told_and_one_with_a_value_is_read(tmp_path: Path) -> None:
    rows = _rows()
    rows[2][1] = "=1/4"
    _workbook(tmp_path / "site.xlsx", cases=rows)
    assert [(fault.what, fault.where) for fault in refused(_read, tmp_path, "site.xlsx").faults] == [
        ("1 formula in site.xlsx without a value: B3.", "site.xlsx, cell B3")
    ]
    _computed(tmp_path / "site.xlsx", "<f>1/4</f><v />", "<f>1/4</f><v>0.25</v>")
    _is_the_table(_read(tmp_path, "site.xlsx"))


def _edited(file: Path, edit: Callable[[str], str]) -> None:
    """The workbook with another text of its first sheet."""
    stream = io.BytesIO()
    with zipfile.ZipFile(file) as whole, zipfile.ZipFile(stream, "w") as archive:
        for part in whole.namelist():
            content = whole.read(part)
            archive.writestr(part, edit(content.decode()) if part == "xl/worksheets/sheet1.xml" else content)
    file.write_bytes(stream.getvalue())


def _backwards(sheet: str) -> str:
    first, *others = re.findall(r"<row .*?</row>", sheet)
    assert len(others) == 60
    return sheet.replace("".join((first, *others)), "".join((first, *reversed(others))))


def test_rows_of_a_workbook_in_any_order_are_read_by_their_numbers(tmp_path: Path) -> None:
    rows = [[k % 2, (k % 9 + 1) / 10, k, "x"] for k in range(60)]
    for name, edit in (("forwards.xlsx", str), ("backwards.xlsx", _backwards)):
        _workbook(tmp_path / name, cases=[["outcome", "risk", "age", "ward"], *rows])
        _edited(tmp_path / name, edit)
        assert _read(tmp_path, name).predictors[0].values.tolist() == list(range(60))


def test_a_cell_of_hundreds_of_digits_is_told(tmp_path: Path) -> None:
    _workbook(tmp_path / "site.xlsx", cases=_rows())
    _edited(tmp_path / "site.xlsx", lambda sheet: sheet.replace("<v>0.25</v>", f"<v>{'9' * 400}</v>", 1))
    assert _faults(tmp_path, "site.xlsx") == ["risk is infinite."]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Mars/Phobos"])
@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_time_is_the_same_whatever_its_zone_is_called(tmp_path: Path, zone: str, ending: str) -> None:
    times = pyarrow.array([0, 86_400_000, 3_600_000], pyarrow.timestamp("ms", zone))
    table = pyarrow.table({"outcome": [0, 1, 0], "risk": [0.1, 0.2, 0.3], "age": [1, 2, 3], "ward": times})
    write = pyarrow.feather.write_feather if ending == "feather" else pyarrow.parquet.write_table
    write(table, tmp_path / f"site.{ending}")
    levels = _read(tmp_path, f"site.{ending}").predictors[1].levels
    assert levels == ("1970-01-01 00:00:00.000Z", "1970-01-01 01:00:00.000Z", "1970-01-02 00:00:00.000Z")


def test_a_formula_that_gives_an_empty_text_is_an_empty_cell(tmp_path: Path) -> None:
    rows = _rows()
    rows[2][2] = '=""'
    _workbook(tmp_path / "site.xlsx", cases=rows)
    _computed(tmp_path / "site.xlsx", '<c r="C3"><f>""</f><v />', '<c r="C3" t="str"><f>""</f><v></v>')
    _is_the_table(_read(tmp_path, "site.xlsx"))


def _labelled(path: Path, codes: tuple[int, int]) -> None:
    table = pandas.DataFrame({"outcome": [codes[0], codes[1], codes[1]], "risk": [0.1, 0.2, 0.3], "age": [50, 60, 999]})
    table["ward"] = [1.0, 2.0, 9.0]
    labels: dict[str, dict[int | float, str]] = {
        "outcome": {codes[0]: "well", codes[1]: "ill"},
        "ward": {1: "men", 2: "women", 9: "refused"},
    }
    labels["age"] = {999: "older than 90"}
    pyreadstat.write_sav(table, path, variable_value_labels=labels, missing_ranges={"ward": [9]})


def test_labels_of_all_values_are_categories_and_declared_missing_is_missing(tmp_path: Path) -> None:
    _labelled(tmp_path / "site.sav", (0, 1))
    found = _read(tmp_path, "site.sav")
    assert present(found.outcome).tolist() == [0, 1, 1]
    age, ward = found.predictors
    assert age.values.tolist() == [50, 60, 999]
    assert ward.levels == ("men", "women")
    np.testing.assert_array_equal(ward.values, [0, 1, np.nan])


@pytest.mark.parametrize("positive", ["positive = 2", 'positive = "ill"'])
def test_a_labelled_outcome_is_told_by_code_or_by_label(tmp_path: Path, positive: str) -> None:
    _labelled(tmp_path / "site.sav", (1, 2))
    release = HEAD.replace('column = "outcome"\n', f'column = "outcome"\n{positive}\n')
    release += '[[dataset]]\nname = "site"\nrole = "external"\nfile = "site.sav"\n'
    assert present(reading.study(release_in(tmp_path, release)).datasets[0].outcome).tolist() == [0, 1, 1]


def test_cells_that_hold_lists_do_not_stop_the_reading(tmp_path: Path) -> None:
    table = pyarrow.table({**COLUMNS, "embedding": [[1.0], [2.0, 3.0], None], "bytes": [b"\xff", b"a", None]})
    pyarrow.feather.write_feather(table, tmp_path / "site.feather")
    _is_the_table(_read(tmp_path, "site.feather"))


LABELS: dict[str, dict[int | float, str]] = {
    "imputation": {0: "Original data", 1: "1", 2: "2"},
    "weight": {1: "unit", 2: "double"},
    "sex": {1: "men", 2: "women", 9: "refused"},
}


def _imputed_in_spss(path: Path, more: str) -> Dataset:
    rows = {"imputation": [0, 0, 1, 1, 2, 2], "weight": [1, 2] * 3, "sex": [9, 2] * 3, "outcome": [0, 1] * 3}
    table = pandas.DataFrame({**rows, "risk": [0.1, 0.9] * 3, "age": [50.0, 60.0] * 3})
    pyreadstat.write_sav(table, path / "site.sav", variable_value_labels=LABELS)
    release = f'{HEAD}[[dataset]]\nname = "site"\nrole = "external"\nfile = "site.sav"\npredictors = ["sex"]\n{more}'
    return reading.study(release_in(path, release)).datasets[0]


def test_numbers_with_labels_are_their_codes(tmp_path: Path) -> None:
    found = _imputed_in_spss(tmp_path, 'imputation = "imputation"\nweights = "weight"\n')
    assert (len(found.imputations), found.rows_read) == (2, 2)
    assert present(found.weights).tolist() == [1, 2]


@pytest.mark.parametrize("missing", ["9", '"9"', '"refused"'])
def test_a_value_with_a_label_is_missing_by_its_code_or_by_its_label(tmp_path: Path, missing: str) -> None:
    (sex,) = _imputed_in_spss(tmp_path, f"missing = {{ sex = [{missing}] }}\n").predictors
    assert sex.levels == ("women",)
    np.testing.assert_array_equal(sex.values, [np.nan, 0] * 3)


UNUSUAL = {
    "text": pyarrow.array(["a", "b", None]),
    "view": pyarrow.array(["a", "b", None], pyarrow.string_view()),
    "category": pyarrow.DictionaryArray.from_arrays([0, 1, None], pyarrow.array(["a", "b"], pyarrow.string_view())),
    "bytes": pyarrow.array([b"a", b"b", None], pyarrow.binary(1)),
    "run": pyarrow.RunEndEncodedArray.from_arrays([1, 2, 3], pyarrow.array(["a", "b", None])),
}
BLANKS = {
    "text": pyarrow.array([" a", "b ", " "]),
    "large text": pyarrow.array(["a ", "\u00a0b", ""], pyarrow.large_string()),
    "view": pyarrow.array(["a ", " b", "\t"], pyarrow.string_view()),
    "category": pyarrow.array(["a ", " b", " "]).dictionary_encode(),
    "bytes": pyarrow.array([b"a ", b" b", b"  "], pyarrow.binary(2)),
}
BYTES = [b"\xff\xfe" * 8, b"\x00\x01" * 8, None]


@pytest.mark.parametrize("kind", UNUSUAL)
def test_texts_in_every_form_of_the_file_are_texts(tmp_path: Path, kind: str) -> None:
    table = pyarrow.table(COLUMNS)
    pyarrow.feather.write_feather(table.set_column(3, "ward", UNUSUAL[kind]), tmp_path / "site.feather")
    _is_the_table(_read(tmp_path, "site.feather"))


@pytest.mark.parametrize("file", ["site.feather", "site.parquet"])
@pytest.mark.parametrize("kind", BLANKS)
def test_blanks_around_a_text_are_no_part_of_it_and_a_blank_is_missing(tmp_path: Path, kind: str, file: str) -> None:
    write = pyarrow.feather.write_feather if file == "site.feather" else pyarrow.parquet.write_table
    write(pyarrow.table(COLUMNS).set_column(3, "ward", BLANKS[kind]), tmp_path / file)
    _is_the_table(_read(tmp_path, file))


def test_a_row_of_blanks_is_no_row(tmp_path: Path) -> None:
    cells = {"outcome": ["0", " ", "1"], "risk": ["0.1", "", "0.25"], "age": ["1", " ", ""], "ward": ["a", "", " "]}
    kinds = pyarrow.schema([(name, pyarrow.large_string()) for name in cells])
    pyarrow.feather.write_feather(pyarrow.table(cells, kinds), tmp_path / "site.feather")
    found = _read(tmp_path, "site.feather")
    assert (found.rows_read, found.excluded["outcome_missing"]) == (2, 0)


@pytest.mark.parametrize(
    ("given", "levels"),
    [
        (pyarrow.array(BYTES, pyarrow.binary(16)), None),
        (pyarrow.array(BYTES, pyarrow.binary_view()), None),
        (pyarrow.array([(1, 2, 3), (4, 5, 6), None], pyarrow.month_day_nano_interval()), None),
        (
            pyarrow.ExtensionArray.from_storage(pyarrow.uuid(), pyarrow.array(BYTES, pyarrow.binary(16))),
            ("00010001-0001-0001-0001-000100010001", "fffefffe-fffe-fffe-fffe-fffefffefffe"),
        ),
    ],
)
def test_cells_that_are_no_text_do_not_stop_the_reading(
    tmp_path: Path, given: Any, levels: tuple[str, ...] | None
) -> None:
    table = pyarrow.table(COLUMNS)
    pyarrow.feather.write_feather(table.append_column("other", given), tmp_path / "site.feather")
    _is_the_table(_read(tmp_path, "site.feather"))
    pyarrow.feather.write_feather(table.set_column(3, "ward", given), tmp_path / "site.feather")
    found = _read(tmp_path, "site.feather").predictors[1]
    assert len(found.levels or ()) == 2
    assert levels is None or found.levels == levels


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_duration_is_a_number_of_days_in_whatever_unit_it_is_kept(tmp_path: Path, unit: str) -> None:
    lengths = pyarrow.array([datetime.timedelta(days=7), datetime.timedelta(hours=36), None], pyarrow.duration(unit))
    table = pyarrow.table(COLUMNS).set_column(3, "ward", lengths)
    pyarrow.feather.write_feather(table, tmp_path / "site.feather")
    np.testing.assert_array_equal(_read(tmp_path, "site.feather").predictors[1].values, [7.0, 1.5, np.nan])


def test_the_durations_of_a_workbook_are_days(tmp_path: Path) -> None:
    lengths = [datetime.timedelta(days=7), datetime.timedelta(hours=36), None]
    rows = [[*row[:3], length] for row, length in zip(_rows()[1:], lengths, strict=True)]
    _workbook(tmp_path / "site.xlsx", cases=[list(COLUMNS), *rows])
    np.testing.assert_array_equal(_read(tmp_path, "site.xlsx").predictors[1].values, [7.0, 1.5, np.nan])
    rows[2][3] = "unknown"
    _workbook(tmp_path / "site.xlsx", cases=[list(COLUMNS), *rows])
    found = _read(tmp_path, "site.xlsx", 'missing = { ward = ["unknown"] }\n').predictors[1]
    np.testing.assert_array_equal(found.values, [7.0, 1.5, np.nan])


HOURS = {
    "DTIME11": ([168.0, 36.0, None], [7.0, 1.5, np.nan]),
    "DTIME13.2": ([1.0, 2.5, None], [1 / 24, 2.5 / 24, np.nan]),
    "TIME8": ([168.0, 36.0, None], [7.0, 1.5, np.nan]),
}


@pytest.mark.parametrize("kind", HOURS)
def test_the_durations_of_spss_are_days_and_lose_none(tmp_path: Path, kind: str) -> None:
    hours, days = HOURS[kind]
    table = pandas.DataFrame(
        {**COLUMNS, "ward": [None if hour is None else 3600 * hour for hour in hours]}, dtype=object
    )
    for name in ("outcome", "risk", "age", "ward"):
        table[name] = table[name].astype(float)
    pyreadstat.write_sav(table, tmp_path / "site.sav", variable_format={"ward": kind})
    np.testing.assert_array_equal(_read(tmp_path, "site.sav").predictors[1].values, days)


def test_the_durations_of_sas_are_days_and_a_time_of_day_is_none(tmp_path: Path) -> None:
    table = pandas.DataFrame({name: COLUMNS[name] for name in ("outcome", "risk", "age")}, dtype=float)
    table["ward"] = [7 * 86400.0, 1.5 * 86400, None]
    pyreadstat.write_xport(table, tmp_path / "site.xpt", variable_format={"ward": "TIME8"})
    np.testing.assert_array_equal(_read(tmp_path, "site.xpt").predictors[1].values, [7.0, 1.5, np.nan])
    table["ward"] = [3600.0, 7200.0, None]
    pyreadstat.write_xport(table, tmp_path / "site.xpt", variable_format={"ward": "TIME8"})
    assert _read(tmp_path, "site.xpt").predictors[1].levels == ("01:00:00", "02:00:00")


@pytest.mark.parametrize(("file", "package"), [("site.xlsx", "openpyxl"), ("site.dta", "pyreadstat")])
def test_a_reader_that_is_not_installed_is_named_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, package: str
) -> None:
    WRITERS[file](tmp_path / file)
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.split(".")[0] == package:
            raise ModuleNotFoundError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(isolation, "asked", answered_here)
    monkeypatch.setattr(builtins, "__import__", without)
    assert str(refused(_read, tmp_path, file)) == (
        f"Reading {file} needs the package {package}, which is not installed.\n"
        f"  where: {file}\n"
        "  fix:   Run pip install openpyxl pyreadstat, or save the table as .csv."
    )


# ---- ways to write a text -------------------------------------------------------------------------------------------

GERMAN = "outcome;risk;age;ward\n0;0,1;61,5;a\n1;0,25;;b\n1;0,75;70;\n"


@pytest.mark.parametrize(
    ("content", "more"),
    [
        (GERMAN.encode(), ""),
        (GERMAN.replace(";", "|").encode(), ""),
        (TEXT.replace(",", "\t").encode(), ""),
        (b"\xef\xbb\xbf" + GERMAN.encode(), ""),
        (GERMAN.encode("utf-16"), ""),
        (b"\xfe\xff" + GERMAN.encode("utf-16-be"), 'encoding = "utf-16"\n'),
        (GERMAN.encode("utf-16-be"), ""),
        (GERMAN.encode("utf-16-le"), ""),
        (GERMAN.replace("age", "ag\u00e9").encode("latin-1"), 'encoding = "latin-1"\ncolumns = { age = "ag\u00e9" }\n'),
        (TEXT.replace('"', "").replace("ward", '"ward"').encode(), ""),
        (b'outcome,risk,age,ward\n0,"0,1","61,5",a\n1,"0,25",,b\n1,"0,75",70,\n', 'decimal = ","\n'),
        (GERMAN.replace("\n", "\r\n").encode(), 'separator = ";"\n'),
        (GERMAN.replace("age", '"age;in, years, now"').encode(), 'columns = { age = "age;in, years, now" }\n'),
    ],
)
def test_ways_to_write_a_text(tmp_path: Path, content: bytes, more: str) -> None:
    (tmp_path / "site.csv").write_bytes(content)
    _is_the_table(_read(tmp_path, "site.csv", more))


def test_commas_of_thousands_are_no_decimal_commas(tmp_path: Path) -> None:
    (tmp_path / "site.csv").write_text("outcome;risk;age;ward\n0;0.1;1,200;1\n1;0.25;2,400;1\n1;0.75;3,100;2\n")
    assert _read(tmp_path, "site.csv").predictors[0].levels == ("1,200", "2,400", "3,100")


def test_a_table_whose_commas_could_be_either_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "site.csv").write_text("outcome;risk;age;ward\n0;0;1,200;1\n1;1;2,400;1\n1;1;3,100;2\n")
    assert _read(tmp_path, "site.csv").predictors[0].levels == ("1,200", "2,400", "3,100")
    assert _read(tmp_path, "site.csv", 'decimal = ","\n').predictors[0].values.tolist() == [1.2, 2.4, 3.1]


@pytest.mark.parametrize("sign", [";", "\t"])
def test_decimal_commas_that_a_column_with_points_hides_are_to_be_declared(tmp_path: Path, sign: str) -> None:
    rows = [f"{k % 2};0,{100 + k};{30 + k},5;{k}.599" for k in range(1, 13)]
    table = "\n".join(["outcome;risk;age;ward", *rows]).replace(";", sign)
    (tmp_path / "site.csv").write_text(table)
    caught = refused(_read, tmp_path, "site.csv")
    assert {fault.fix for fault in caught.faults} == {
        'Declare decimal = "," in the [[dataset]], or write decimals with a point. No comma is taken for a decimal one '
        "by itself where another column holds points: ward."
    }
    assert {fault.where.rpartition(" ")[2] for fault in caught.faults} == {"age", "risk"}
    declared = _faults(tmp_path, "site.csv", 'decimal = ","\n')
    assert declared[0].startswith('ward is 1.599, with a point, and the decimal sign is declared to be ",".')
    assert declared[0].endswith("And 9 more of this kind.")
    (tmp_path / "site.csv").write_text(table.replace(".599", "599"))
    assert _read(tmp_path, "site.csv").risk is not None
    (tmp_path / "site.csv").write_text(table)
    quick = refused(reading.quick, tmp_path / "site.csv", "outcome", "risk")
    assert quick.faults[0].fix.startswith('Say --decimal ",", or write decimals with a point.')
    (tmp_path / "site.csv").write_text(table.replace(".599", "599"))
    assert reading.quick(tmp_path / "site.csv", "outcome", "risk", decimal=",").datasets[0].risk is not None


def test_decimal_commas_in_another_file_than_a_text_have_nothing_to_declare(tmp_path: Path) -> None:
    table = pyarrow.table(COLUMNS).set_column(1, "risk", pyarrow.array(["0,1", "0,25", "0,75"]))
    pyarrow.feather.write_feather(table, tmp_path / "site.feather")
    assert {fault.fix for fault in refused(_read, tmp_path, "site.feather").faults} == {"Write decimals with a point."}


def test_decimal_commas_between_commas_need_quotation_marks(tmp_path: Path) -> None:
    fix = (
        "If these commas are decimal, put each such number in quotation marks, or separate the columns by another "
        "sign, such as a semicolon."
    )
    rows = [f"{k % 2},0,{10 + k}" for k in range(12)]
    names = "Name every column in the first row; R leaves out the names of rows with row.names = FALSE."
    some = [*rows[:5], *(f"{k % 2},1" for k in range(12))]
    width = "Give every row 2 cells; put a text that holds the separator in quotation marks."
    fixes = {
        "\n".join(rows): fix,
        "\n".join(some): fix,
        "\n".join(f'"{k}",{k % 2},0.{10 + k}' for k in range(12)): names,
        "\n".join([*some, "1,a note, of two"]): width,
    }
    for text, wanted in fixes.items():
        (tmp_path / "site.csv").write_text(f"outcome,risk\n{text}\n")
        assert refused(_read, tmp_path, "site.csv").faults[0].fix == wanted


def test_a_declared_comma_leaves_no_point_between_thousands(tmp_path: Path) -> None:
    (tmp_path / "site.csv").write_text("outcome;risk;age;ward\n0;0,1;809;1\n1;0,25;1.466;1\n\n1;0,75;2.181;2\n")
    assert [(fault.what, fault.where) for fault in refused(_read, tmp_path, "site.csv", 'decimal = ","\n').faults] == [
        (
            'age is 1.466, with a point, and the decimal sign is declared to be ",". '
            'age is 2.181, with a point, and the decimal sign is declared to be ",".',
            "site.csv, rows 3 and 5, column age",
        )
    ]


def test_a_column_with_other_points_has_decimal_points(tmp_path: Path) -> None:
    (tmp_path / "site.csv").write_text("outcome;risk;age;ward\n0;0,1;0.809;1\n1;0,25;1.466;1\n1;0,75;2.181;2\n")
    assert _read(tmp_path, "site.csv", 'decimal = ","\n').predictors[0].values.tolist() == [0.809, 1.466, 2.181]


NOTES = [f"{k},{k % 2},0.{k % 9 + 1},{{}}" for k in range(200)]


def _noted(folder: Path, notes: dict[int, str], last: str = "") -> Dataset:
    rows = [row.format(notes.get(k, "well")) for k, row in enumerate(NOTES)]
    (folder / "site.csv").write_text("\n".join(["case,outcome,risk,note", *rows, last]), encoding="utf-8")
    dataset = '[[dataset]]\nname = "site"\nrole = "external"\nfile = "site.csv"\nid = "case"\n'
    return reading.study(release_in(folder, HEAD + dataset)).datasets[0]


def test_a_quotation_mark_within_a_cell_and_a_blank_line_lose_no_row(tmp_path: Path) -> None:
    found = _noted(tmp_path, {3: "5'11\""}, "\n")
    assert found.rows_read == 200
    assert present(found.outcome).tolist() == [0, 1] * 100


@pytest.mark.parametrize(
    ("notes", "says"),
    [
        ({4: '"fell', 121: '"septic'}, "The cell that a quotation mark opens is closed in the middle of a text."),
        ({4: '"fell', 121: 'septic"'}, "A cell in quotation marks swallows 117 rows."),
        ({4: '"fell', 5: '"'}, "A cell in quotation marks swallows 1 row."),
        ({4: '"fell'}, "The cell that a quotation mark opens is never closed."),
    ],
)
def test_a_stray_quotation_mark_is_told_with_the_row_that_it_stands_in(
    tmp_path: Path, notes: dict[int, str], says: str
) -> None:
    caught = refused(_noted, tmp_path, notes)
    assert [(fault.what, fault.where) for fault in caught.faults] == [(says, "site.csv, row 6")]


@pytest.mark.parametrize(
    "note",
    [
        '"fell\nand rose,\n\nthen slept"',
        '"one, two\n, three"',
        '"he said ""no"" \n,""yes"",\nand left"',
        '"fell"  ',
        '""',
        # As many separators as a row has, but words where the row has numbers.
        '"fell\nhip, knee, ankle, all well"',
        '"' + "a" * 200_000 + '"',
    ],
)
def test_a_quoted_cell_may_hold_lines_and_separators(tmp_path: Path, note: str) -> None:
    assert _noted(tmp_path, {4: note}).rows_read == 200


@pytest.mark.parametrize("nothing", [",,,", " , ,,", "   ", ""])
def test_a_row_of_nothing_is_no_row_and_its_number_is_counted(tmp_path: Path, nothing: str) -> None:
    (tmp_path / "site.csv").write_text(f"{nothing}\n{TEXT}{nothing}\n".replace("\n1", f"\n{nothing}\n1", 1))
    found = _read(tmp_path, "site.csv")
    _is_the_table(found)
    assert found.rows_read == 3
    (tmp_path / "site.csv").write_text(f"outcome,risk,age,ward\n0,.1,,\n{nothing}\n1,7,,\n{nothing}\n")
    assert refused(_read, tmp_path, "site.csv").faults[0].where == "site.csv, row 4, column risk"


@pytest.mark.parametrize("file", ["site.feather", "site.dta"])
def test_a_row_of_nothing_is_no_row_in_other_files(tmp_path: Path, file: str) -> None:
    filled = pandas.DataFrame({"outcome": [0.0, None, 1.0], "risk": [0.1, None, 0.25], "age": [1.0, None, None]})
    filled["ward"] = filled["age"]
    if file == "site.dta":
        pyreadstat.write_dta(filled, tmp_path / file)
    else:
        pyarrow.feather.write_feather(pyarrow.Table.from_pandas(filled), tmp_path / file)
    found = _read(tmp_path, file)
    assert (found.rows_read, found.excluded["outcome_missing"]) == (2, 0)


def test_the_line_by_which_a_spreadsheet_is_told_the_separator_is_obeyed(tmp_path: Path) -> None:
    for first in ("sep=;", '"sep=;"', "SEP=;"):
        (tmp_path / "site.csv").write_text(f"{first}\n{GERMAN}", encoding="utf-8")
        _is_the_table(_read(tmp_path, "site.csv"))


@pytest.mark.parametrize(
    ("content", "what", "mend"),
    [
        ("Export of 2026\n" + GERMAN, "The first row has 1 cell, and 4 rows from row 2 on have 4.", "above them."),
        ("# a\n# b\n" + GERMAN, "The first row has 1 cell, and 4 rows from row 3 on have 4.", "above them."),
        (
            'outcome,risk\n"1",0,0.1\n"2",1,0.2\n',
            "The first row has 2 cells, and 2 rows from row 2 on have 3.",
            "row.names = FALSE.",
        ),
        ("outcome,risk\n0,0.1,\n1,.2,\n", "The first row has 2 cells, and 2 rows from row 2 on have 3.", "rows away."),
        ("Export,,\noutcome,risk,age\n0,.1,1\n", "The first row names one column of 3: Export.", "above them."),
    ],
)
def test_a_first_row_that_does_not_fit_the_others_is_the_one_fault(
    tmp_path: Path, content: str, what: str, mend: str
) -> None:
    (tmp_path / "site.csv").write_text(content, encoding="utf-8")
    caught = refused(_read, tmp_path, "site.csv")
    assert [(fault.what, fault.where) for fault in caught.faults] == [(what, "site.csv, first row")]
    assert caught.faults[0].fix.endswith(mend)


# ---- bombs and damage -----------------------------------------------------------------------------------------------


def test_a_gzip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "site.csv.gz").write_bytes(gzip.compress(b"0" * (80 << 20)))
    assert "unpack to more than 64 megabytes" in _faults(tmp_path, "site.csv.gz")[0]


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "site.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * (80 << 20))
    assert "unpack to more than 64 megabytes" in _faults(tmp_path, "site.xlsx")[0]


def test_a_workbook_that_spreads_wide_is_refused_in_bounded_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[list[Any]] = [
        ["outcome", "risk", *[None] * 2000, "far"],
        *([[0, 0.1]] * 10),
        [0, 0.5, *[None] * 2000, 1],
    ]
    _workbook(tmp_path / "site.xlsx", cases=rows)
    monkeypatch.setattr(isolation, "asked", answered_here)
    monkeypatch.setattr("dossier.reading.workbooks.MOST_CELLS", 4000)
    assert _faults(tmp_path, "site.xlsx") == ["site.xlsx spreads over more than 4,000 cells."]


@pytest.mark.parametrize("file", [file for file in WRITERS if file not in ("site.csv", "site.tsv", "parts")])
def test_what_is_cut_off_is_told(tmp_path: Path, file: str) -> None:
    WRITERS[file](tmp_path / file)
    whole = (tmp_path / file).read_bytes()
    for part in (len(whole) // 3, len(whole) // 2, len(whole) - 40):
        (tmp_path / file).write_bytes(whole[:part])
        assert _faults(tmp_path, file)


@pytest.mark.parametrize("ending", ["parquet", "feather", "xlsx", "xpt", "sas7bdat", "dta", "sav", "csv.gz"])
def test_a_text_under_another_name_is_told(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"site.{ending}").write_text(TEXT)
    assert len(_faults(tmp_path, f"site.{ending}")) == 1


def test_a_locked_workbook_and_an_old_one_are_told(tmp_path: Path) -> None:
    (tmp_path / "site.xlsx").write_bytes(b"\xd0\xcf\x11\xe0" + b"\0" * 600)
    assert _faults(tmp_path, "site.xlsx") == [
        "site.xlsx is an old or locked Office file, although its name ends in .xlsx."
    ]


def test_a_text_that_explodes_in_a_workbook_ends_in_bounded_memory(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE s [<!ENTITY a "aaaaaaaaaa">'
    for name, before in zip("bcdefghi", "abcdefgh", strict=True):
        bomb += f'<!ENTITY {name} "{f"&{before};" * 10}">'
    _workbook(tmp_path / "whole.xlsx", cases=_rows())
    stream = io.BytesIO()
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as whole, zipfile.ZipFile(stream, "w") as archive:
        for part in whole.namelist():
            content = whole.read(part)
            if part == "xl/worksheets/sheet1.xml":
                content = (bomb + "]>" + content.decode().replace("ward", "&i;")).encode()
            archive.writestr(part, content)
    (tmp_path / "site.xlsx").write_bytes(stream.getvalue())
    assert _faults(tmp_path, "site.xlsx") == ["site.xlsx is not a whole workbook."]
