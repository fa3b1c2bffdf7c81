"""The whole dossier from frames: the same bytes as from files, whichever library holds the rows."""

from __future__ import annotations

import inspect
import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import narwhals
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

import dossier
from dossier.core.errors import DossierError
from dossier.outputs import printing
from tests.estimated import present, refused

BREAST = Path(__file__).parents[1] / "fixtures" / "breast"
FEW: dict[str, Any] = {"bootstrap": 2, "permutations": 1}
RELEASE = """
[release]
model = "model"
version = "not stated"
owner = "not stated"
[outcome]
name = "outcome"
column = "outcome"
[prediction]
column = "risk"
[thresholds]
declared = [0.25]
[resampling]
bootstrap = 2
permutations = 1
"""
DATASET = """
[[dataset]]
name = "{name}"
role = "{role}"
file = "{name}.{ending}"
"""
ROLES = {"rotterdam": "external", "gbsg": "external", "development": "development", "internal": "internal"}


def columns(name: str) -> pandas.DataFrame:
    """A table of the breast release under names that all have in common, as its maker holds it in a notebook."""
    frame = pandas.read_csv(BREAST / f"{'splits' if name == 'internal' else name}.csv")
    shared = ["outcome", "risk", "age", "meno", "size_band", "grade", "nodes"]
    renamed = frame if "size_band" in frame or "size" not in frame else frame.rename(columns={"size": "size_band"})
    return renamed[[column for column in shared if column in renamed]].dropna(subset=["outcome"])


FRAMES = {name: columns(name) for name in ROLES}


def from_frames(of: Callable[[pandas.DataFrame], Any], **more: Any) -> bytes:
    """The results of the frames that `of` makes."""
    made = {name: of(frame) for name, frame in FRAMES.items()}
    beside = {role: made.pop(role) for role in ("development", "internal")}
    known: dict[str, Any] = {"thresholds": [0.25], "resampling": FEW} | beside | more
    return dossier.validate(made, outcome="outcome", risk="risk", **known).results.text()


def from_files(folder: Path, ending: str) -> bytes:
    """The results of a release that somebody wrote by hand."""
    for name, frame in FRAMES.items():
        if ending == "csv":
            frame.to_csv(folder / f"{name}.csv", index=False)
        else:
            plain = {column: frame[column].to_list() for column in frame}
            pyarrow.parquet.write_table(pyarrow.table(plain), folder / f"{name}.parquet")
    tables = "".join(DATASET.format(name=name, role=role, ending=ending) for name, role in ROLES.items())
    (folder / "release.toml").write_text(RELEASE + tables, encoding="utf-8")
    return dossier.load(folder).validate().results.text()


def without_inputs(text: bytes) -> Any:
    """The results without the hashes of files, whatever the kind of these files."""
    found = json.loads(text.replace(b".csv", b".parquet"))
    assert len(found.pop("inputs")) == 5
    return found


def inputs(text: bytes) -> list[dict[str, Any]]:
    return [each for each in json.loads(text)["inputs"] if each["name"] != "release.toml"]


@pytest.fixture(scope="module")
def of_pandas() -> bytes:
    return from_frames(lambda frame: frame)


def test_frames_give_the_bytes_of_a_release_of_parquet_files(of_pandas: bytes, tmp_path: Path) -> None:
    of_files = from_files(tmp_path, "parquet")
    assert without_inputs(of_files) == without_inputs(of_pandas)
    assert inputs(of_files) == inputs(of_pandas)


def test_frames_give_what_a_release_of_texts_gives(of_pandas: bytes, tmp_path: Path) -> None:
    assert without_inputs(from_files(tmp_path, "csv")) == without_inputs(of_pandas)


def test_it_is_the_whole_dossier(of_pandas: bytes) -> None:
    found = json.loads(of_pandas)
    measured = {row["measure"] for row in found["estimates"] if row.get("value") is not None}
    assert {"degree_of_correspondence", "correspondence_averaged", "auroc"} <= measured
    assert {dataset["name"]: dataset["role"] for dataset in found["datasets"]} == ROLES


ALIKE: Mapping[str, Callable[[pandas.DataFrame], Any]] = {
    "another index": lambda frame: frame.set_index(pandas.Index(range(5, len(frame) + 5))),
    "pandas of Arrow": lambda frame: pyarrow.Table.from_pandas(frame).to_pandas(types_mapper=pandas.ArrowDtype),
    "categories": lambda frame: (
        frame.assign(size_band=frame["size_band"].astype("category")) if "size_band" in frame else frame
    ),
    "polars": polars.from_pandas,
    "polars of categories": lambda frame: polars.from_pandas(frame).with_columns(
        polars.selectors.string().cast(polars.Categorical)
    ),
    "Arrow": lambda frame: pyarrow.Table.from_pandas(frame, preserve_index=False),
    "Arrow in pieces": lambda frame: pyarrow.concat_tables(
        pyarrow.Table.from_pandas(part, preserve_index=False) for part in (frame[:50], frame[50:])
    ),
    "a batch": lambda frame: pyarrow.RecordBatch.from_pandas(frame, preserve_index=False),
    "lists": lambda frame: {name: frame[name].to_list() for name in frame},
    "arrays": lambda frame: {name: frame[name].to_numpy() for name in frame},
    "narwhals": narwhals.from_native,
    "series of polars": lambda frame: {name: polars.Series(frame[name].to_list()) for name in frame},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALIKE)
def test_every_kind_of_frame_gives_the_same_bytes(kind: str, of_pandas: bytes) -> None:
    assert from_frames(ALIKE[kind]) == of_pandas


ROWS: dict[str, Any] = {"died": [1, 0, 1, 0, 1, 0] * 20, "risk": [0.7, 0.6, 0.7, 0.2, 0.2, 0.9] * 20}


def validated(frame: Any, **more: Any) -> dossier.api.Validation:
    return dossier.validate(frame, **{"outcome": "died", "risk": "risk", "resampling": FEW} | more)


def test_records_of_numpy_are_a_frame() -> None:
    records = np.array(list(zip(*ROWS.values(), strict=True)), dtype=[("died", "i8"), ("risk", "f8")])
    assert validated(records).results.text() == validated(ROWS).results.text()


def test_hospitals_may_be_the_groups_of_a_frame() -> None:
    frame = pandas.DataFrame(ROWS | {"ward": [1, 2] * 60})
    (one, two) = validated(dict(list(frame.groupby("ward")))).study.datasets
    assert (one.name, two.name) == ("1", "2")


def test_hospitals_keep_their_names() -> None:
    hospitals = {"St. Mary's": ROWS, "St Mary-s": ROWS, "Świętokrzyskie": ROWS, "data": ROWS, "!": ROWS}
    found = validated(hospitals).study.datasets
    assert [dataset.site for dataset in found] == list(hospitals)
    assert len({dataset.name for dataset in found}) == 5


BANDS = ["(0.0, 0.5]", "(0.5, 1.0]"]


@pytest.mark.parametrize(
    "column",
    [
        pandas.cut(ROWS["risk"], [0, 0.5, 1]),
        polars.Series(np.where(np.array(ROWS["risk"]) > 0.5, *BANDS[::-1]), dtype=polars.Enum(BANDS)),
        pyarrow.array(pandas.Categorical(np.where(np.array(ROWS["risk"]) > 0.5, *BANDS[::-1]), BANDS, ordered=True)),
    ],
    ids=lambda column: type(column).__module__,
)
def test_categories_of_every_library_are_groups_in_their_order(column: Any) -> None:
    (dataset,) = validated(ROWS | {"band": column}, subgroups=["band"]).study.datasets
    assert [subgroup.label for subgroup in dataset.subgroups] == BANDS


def test_an_order_that_no_alphabet_has_is_that_of_the_enumeration() -> None:
    bands = polars.Series(["low", "high"] * 60, dtype=polars.Enum(["low", "high", "never"]))
    (dataset,) = validated(polars.DataFrame(ROWS).with_columns(band=bands), subgroups=["band"]).study.datasets
    assert [subgroup.label for subgroup in dataset.subgroups] == ["low", "high"]


def test_the_table_of_a_reader_study_is_a_frame() -> None:
    study: dict[str, Any] = {"reader": ["A", "B"] * 40, "case": np.repeat(range(40), 2), "truth": np.repeat([0, 1], 40)}
    study |= {"unaided": [0, 1] * 40, "aided": [1, 1] * 40}
    counted = present(validated(ROWS, readers=study).study.reader_study)
    # By hand: with the model everybody says yes, without it only the second reader.
    assert (counted.counts.aided_wrong, counted.counts.aided_right) == (40, 40)
    told = validated(ROWS, reader_study={"file": polars.DataFrame(study), "design": "paired"})
    assert present(told.study.reader_study).counts == counted.counts


def test_the_labels_of_readers_are_frames() -> None:
    labels = pandas.DataFrame({f"R{k}": np.roll(ROWS["died"], k) for k in range(4)})
    found = validated(ROWS, readers={"labels": labels, "confidence": labels.assign(R0=1) * 0.5, "dataset": "data"})
    assert found.study.readers is not None


def test_another_model_is_said_by_its_name_or_as_a_table_of_the_release() -> None:
    rows = {"died": [0, 0, 1, 1] * 30, "risk": [0.1, 0.4, 0.3, 0.8] * 30, "old": [0.2, 0.1, 0.3, 0.6] * 30}
    said: tuple[Any, ...] = ({"Old score": "old"}, [{"name": "Old score", "column": "old"}])
    by_name, as_table = (
        dossier.validate(rows, outcome="died", risk="risk", rival=rival, resampling=FEW).results.text()
        for rival in said
    )
    assert "Old score" in str(by_name)
    assert by_name == as_table


def test_what_is_declared_of_a_frame_is_said_by_its_name() -> None:
    of = {"country": "Italy", "South": {"country": "Greece"}, "development": {"site": "Home"}}
    found = validated({"North": ROWS, "South": ROWS}, development=ROWS, dataset=of).study.release.dataset
    assert [(dataset.country, dataset.site) for dataset in found] == [("Italy", None), ("Greece", None), (None, "Home")]


def test_a_release_of_frames_can_be_built_again(tmp_path: Path) -> None:
    found = validated({"North side": ROWS, "South": ROWS}, development=ROWS | {"age": range(120)})
    again = dossier.load(found.write_release(tmp_path / "release")).validate()
    assert again.results.text() == found.results.text()


# ---- faults ---------------------------------------------------------------------------------------------------------


def said(frame: Any, **more: Any) -> list[tuple[str, str, str]]:
    return [(fault.where, fault.what, fault.fix) for fault in refused(validated, frame, **more).faults]


@pytest.mark.parametrize(
    ("frame", "more", "where"),
    [
        ({"North": ROWS | {"risk": [1.5] * 120}}, {}, "frame North, rows 1, 2, 3 and 117 more, column risk"),
        ({"North": ROWS, "South": {"died": [1, 0]}}, {}, "frame South"),
        (ROWS, {"internal": {"died": [1, 0]}}, "internal"),
        (ROWS, {"development": "development.csv"}, "argument development"),
        (ROWS, {"readers": {"reader": ["A"]}}, "readers"),
        (polars.DataFrame(ROWS).lazy(), {}, "argument frame"),
        ({"died": [1, 0], "risk": [0.5]}, {}, "frame, column risk"),
        ({}, {}, "argument frame"),
        ({"pooled": ROWS}, {}, "argument frame, pooled"),
        ({"North": ROWS}, {"dataset": {"North": {"contry": "Italy"}}}, "argument dataset, North, contry"),
        (ROWS, {"thresholds": {"rang": [0.1, 0.2]}}, "argument thresholds, rang"),
    ],
)
def test_a_fault_is_placed_in_the_frame_or_the_argument(frame: Any, more: dict[str, Any], where: str) -> None:
    assert said(frame, **more)[0][0] == where


class _AnyColumn:
    """A frame of another library: whatever it is asked for is a column, which has a value at every place."""

    def __getattr__(self, name: str) -> _AnyColumn:
        return self

    def __getitem__(self, place: object) -> _AnyColumn:
        return self


@pytest.mark.parametrize(
    "frame",
    [
        _AnyColumn(),
        polars.DataFrame(ROWS).lazy(),
        # What duckdb's arrow() gives.
        pyarrow.table(ROWS).to_reader(),
        pyarrow.dataset.dataset(pyarrow.table(ROWS)),
    ],
    ids=lambda frame: type(frame).__name__,
)
def test_rows_that_are_still_to_be_computed_are_told(frame: Any) -> None:
    with pytest.raises(DossierError, match="are not computed yet"):
        validated(frame)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (
            {"acceptance": [{"measure": "sensitivity", "at": {"threshold": 0.9}, "at_least": 0.5}]},
            "Declare it in thresholds=; declared: 0.2.",
        ),
        (
            {"acceptance": [{"measure": "auroc", "subset": {"column": "sex", "level": "f"}, "at_least": 0.5}]},
            "Declare its column in subgroups=, or take it out.",
        ),
        ({"statements": {"25": "It is {auroc}."}}, "a dataset by the name of its frame."),
    ],
)
def test_how_to_mend_a_call_names_arguments_and_no_table_of_a_file(asked: dict[str, Any], says: str) -> None:
    frame = pandas.DataFrame({"died": [0, 1] * 60, "risk": np.linspace(0.1, 0.9, 120), "sex": ["f", "m", "f"] * 40})
    for table in asked.get("acceptance", ()):
        table |= {"dataset": "each external", "declared_on": "2026-01-01"}
    raised = refused(dossier.validate, frame, outcome="died", risk="risk", thresholds=[0.2], **asked)
    fixes = [fault.fix for fault in raised.faults]
    assert any(says in fix for fix in fixes), fixes
    assert not any("[[" in fix for fix in fixes), fixes


WHATEVER: Mapping[str, Any] = {"list": [3], "dict": {"a": 1}, "int": 7, "text": "x", "None": None, "object": object()}
"""Values of every kind, tuned to no argument."""
PATIENTS = pandas.DataFrame({"died": [0, 1] * 30, "days": range(1, 61), "risk": np.linspace(0.1, 0.9, 60)})
BASES: Mapping[str, dict[str, Any]] = {
    "known": {"outcome": "died", "risk": "risk"},
    "by_horizon": {"time": "days", "event": "died", "at": 40, "risk": "risk"},
}


def answered(call: Callable[..., object], *given: Any, **named: Any) -> None:
    """That a call is done, or refused with what is wrong, where, and how to mend it."""
    try:
        call(*given, **named)
    except DossierError as error:
        mended = all(fault.what and fault.where and fault.fix for fault in error.faults)
    else:
        mended = True
    assert mended


@pytest.mark.parametrize("value", WHATEVER.values(), ids=WHATEVER)
@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_whatever_stands_in_an_argument_is_answered(base: dict[str, Any], value: Any) -> None:
    names = [name for name in inspect.signature(dossier.validate).parameters if name not in ("frame", "tables")]
    for name in (*names, "horizon", "prediction", "acceptance", "dataset", "nothing"):
        answered(dossier.validate, PATIENTS, **{**base, name: value})
    answered(dossier.validate, value, **base)


DOORS = ("to_frame", "curves", "plot", "table", "figure", "pdf", "html", "save", "write_release")


@pytest.mark.parametrize("value", [each for each in WHATEVER.values() if not isinstance(each, str)], ids=type)
def test_whatever_is_asked_of_what_was_found_is_answered(
    value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = dossier.validate(PATIENTS, **BASES["known"], resampling=FEW)
    monkeypatch.setattr(printing, "printed", lambda *_: (found.evidence, defaultdict(bytes)))
    for door in (dossier.load, dossier.read_results, *(getattr(found, name) for name in DOORS)):
        needed = [each for each in inspect.signature(door).parameters.values() if each.default is each.empty]
        for name in inspect.signature(door).parameters:
            answered(door, **{**{each.name: "x" for each in needed}, name: value})
        answered(door)


def test_what_is_needed_is_named() -> None:
    for needed in ("frame", "risk"):
        given = {name: value for name, value in {"frame": PATIENTS, **BASES["known"]}.items() if name != needed}
        with pytest.raises(DossierError, match=f"^{needed} is None, not "):
            dossier.validate(**given)


def test_horizons_may_be_a_list() -> None:
    """All of them, or the further ones beside `at`, with the unit of the time."""
    rows = PATIENTS.assign(soon=PATIENTS.risk / 2)
    both = [{"at": 40, "risk": "risk"}, {"at": 20, "risk": "soon", "says": "within twenty days"}]
    follow_up: dict[str, Any] = {"time": "days", "event": "died", "unit": "days"}
    for more in ({"horizon": both}, {"at": 40, "risk": "risk", "horizon": both[1:]}):
        release = dossier.validate(rows, **follow_up, **more).study.release
        assert [(each.at, each.risk, each.says) for each in release.horizon] == [
            *((40, "risk", None), (20, "soon", "within twenty days"))
        ]
        assert (release.outcome.unit, release.outcome.name) == ("days", "died by 40")
    with pytest.raises(DossierError, match="where: argument horizon, table 1, at"):
        dossier.validate(rows, **follow_up, at=40, risk="risk", horizon=both)
    with pytest.raises(DossierError, match="risk stands beside horizon"):
        dossier.validate(rows, **follow_up, risk="risk", horizon=both)


def test_what_a_check_finds_is_printed_whole() -> None:
    found = dossier.validate(PATIENTS, **BASES["known"]).check()
    assert max(map(len, found.says)) > 60
    assert all(says in repr(found) for says in found.says)
    assert max(found.says, key=len).partition("'")[0] in found._repr_html_()  # type: ignore[operator]
