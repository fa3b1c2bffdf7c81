"""Columns as programs and hospitals give them: of every kind, and a little off."""

from __future__ import annotations

import datetime
import enum
import tomllib
import uuid
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
from click.testing import CliRunner

import dossier
from dossier.command_line import cli
from dossier.core.errors import DossierError
from dossier.reading.predictors import by_size
from tests.estimated import estimated

OUTCOME = np.array([1, 0, 1, 0, 1, 0] * 20)
RISK = np.array([0.7, 0.7, 0.7, 0.2, 0.2, 0.9] * 20)
"""Of 60 events 40 have a risk of .7."""


@pytest.mark.parametrize(
    "column",
    [
        RISK.astype("float32"),
        RISK.astype("float16"),
        list(RISK.astype("float32")),
        np.array(list(RISK.astype("float32")), dtype=object),
        np.ma.masked_array(RISK.astype("float32")),
        pandas.Series(RISK.astype("float32")),
        pandas.Series(RISK).astype("Float32"),
        pandas.Series(RISK.astype("float32")).astype("category"),
        pandas.Series(RISK.astype("float32"), dtype="float[pyarrow]"),
        pyarrow.array(RISK.astype("float32")),
        pyarrow.array(RISK.astype("float32")).dictionary_encode(),
        pyarrow.chunked_array([RISK[:50].astype("float32"), RISK[50:].astype("float32")]),
        [Decimal("0.7"), Decimal("0.7"), Decimal("0.7"), Decimal("0.2"), Decimal("0.2"), Decimal("0.9")] * 20,
    ],
    ids=lambda column: type(column).__name__,
)
def test_a_risk_of_few_bits_is_the_one_that_its_digits_spell(column: Any) -> None:
    assert estimated(dossier.metrics.sensitivity(OUTCOME, column, 0.7)).value == pytest.approx(40 / 60)
    # By hand: (40 - 7 / 3 * 40) / 120.
    gained = estimated(dossier.metrics.net_benefit(OUTCOME, column, np.float32(0.7)))  # type: ignore[arg-type]
    assert gained.value == pytest.approx((40 - 0.7 / 0.3 * 40) / 120)


@pytest.mark.parametrize("kind", [int, bool, float, "float32"])
def test_what_is_masked_is_missing(kind: Any) -> None:
    gap = [True] + [False] * 119
    says = "has 1 value that is missing or not finite, the first in row 0"
    with pytest.raises(ValueError, match=f"outcome {says}"):
        dossier.metrics.auroc(np.ma.masked_array(OUTCOME.astype(kind), mask=gap), RISK)
    with pytest.raises(ValueError, match=f"risk {says}"):
        dossier.metrics.auroc(OUTCOME, np.ma.masked_array(RISK, mask=gap))


@pytest.mark.parametrize(
    "column",
    [
        np.ma.masked_array(np.arange(120) // 4, mask=[True] + [False] * 119),
        np.ma.masked_array((np.arange(120) // 4).astype(float), mask=[True] + [False] * 119),
        pandas.array([None, *range(119)], dtype="Int64"),
        pandas.array([None, *map(str, range(119))], dtype="string"),
        pandas.cut(np.arange(120), [0, 40, 120]),
    ],
    ids=["int", "float", "Int64", "string", "interval"],
)
def test_a_cluster_that_is_missing_is_told(column: Any) -> None:
    with pytest.raises(ValueError, match="cluster has missing values"):
        dossier.metrics.oe_ratio(OUTCOME, RISK, cluster=column)


@pytest.mark.parametrize(
    "column",
    [
        pandas.cut(np.arange(120), 30),
        pandas.Series(np.arange(120) // 4).astype(object),
        pandas.Series(np.arange(120) // 4).astype("category"),
        pandas.Series([Fraction(k // 4, 7) for k in range(120)]),
        [uuid.UUID(int=k // 4) for k in range(120)],
        [("a", k // 4)[1] if k % 8 < 4 else f"x{k // 4}" for k in range(120)],
        pandas.PeriodIndex(pandas.date_range("2020", periods=30).repeat(4), freq="D"),
    ],
    ids=["cut", "object", "category", "fraction", "uuid", "mixed", "period"],
)
def test_clusters_may_be_of_any_kind(column: Any) -> None:
    wanted = estimated(dossier.metrics.oe_ratio(OUTCOME, RISK, cluster=np.arange(120) // 4))
    found = estimated(dossier.metrics.oe_ratio(OUTCOME, RISK, cluster=column))
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))


@pytest.mark.parametrize("hair", [1e-7, 2**-52, 9e-7])
def test_a_hair_beyond_the_ends_is_the_end(hair: float) -> None:
    beyond = np.where(RISK == 0.9, 1 + hair, np.where(RISK == 0.2, -hair, RISK))
    at_the_ends = np.where(RISK == 0.9, 1.0, np.where(RISK == 0.2, 0.0, RISK))
    assert dossier.metrics.brier(OUTCOME, beyond) == dossier.metrics.brier(OUTCOME, at_the_ends)
    with pytest.raises(ValueError, match=r"risk is 1\.0000015 in row 5, and may be from 0 to 1"):
        dossier.metrics.brier(OUTCOME, np.where(RISK == 0.9, 1.0000015, RISK))


def test_texts_are_called_texts() -> None:
    with pytest.raises(ValueError, match="outcome holds text, and needs numbers"):
        dossier.metrics.auroc(pandas.Series(np.where(OUTCOME == 1, "yes", "no")).astype("category"), RISK)


# ---- columns of a frame ---------------------------------------------------------------------------------------------


class Sex(enum.Enum):
    """Two values of a kind that no file knows."""

    FEMALE = 1
    MALE = 2


AGE = np.resize(np.arange(5, 129), 120)
COLUMNS = {
    "cut": (pandas.cut(AGE, [0, 9, 40, 60, 100, 140]), ["(0, 9]", "(9, 40]", "(40, 60]", "(60, 100]", "(100, 140]"]),
    "cut with gaps": (pandas.cut(AGE, [40, 60, 200]), ["(40, 60]", "(60, 200]"]),
    "cut as objects": (pandas.Series(pandas.cut(AGE, [0, 9, 140])).astype(object), ["(0, 9]", "(9, 140]"]),
    "cut below 0": (pandas.cut(AGE - 60, [-100, -20, 0, 100]), ["(-100, -20]", "(-20, 0]", "(0, 100]"]),
    "qcut": (pandas.qcut(np.arange(120), 2), ["(-0.001, 59.5]", "(59.5, 119.0]"]),
    "intervals": (pandas.arrays.IntervalArray.from_breaks([0, 1, 2]).repeat(60), ["(0, 1]", "(1, 2]"]),
    "periods": (pandas.PeriodIndex(["2020-01", "2020-02"] * 60, freq="M"), ["2020-01", "2020-02"]),
    "categories of periods": (
        pandas.Categorical(pandas.PeriodIndex(["2020-01", "2020-02"] * 60, freq="M")),
        ["2020-01", "2020-02"],
    ),
    "categories of durations": (pandas.Categorical(pandas.to_timedelta([1, 2] * 60, unit="D")), ["1", "2"]),
    "categories of float32": (pandas.Categorical(np.array([0.7, 0.2] * 60, "float32")), ["0.2", "0.7"]),
    "categories of booleans": (pandas.Categorical([True, False] * 60), ["false", "true"]),
    "categories of days": (pandas.Categorical([datetime.date(2020, 1, 1)] * 120), ["2020-01-01"]),
    "sparse": (pandas.arrays.SparseArray([0, 1] * 60), ["0", "1"]),
    "enumeration": ([Sex.FEMALE, Sex.MALE] * 60, ["Sex.FEMALE", "Sex.MALE"]),
    "fractions": ([Fraction(1, 3), Fraction(2, 3)] * 60, ["1/3", "2/3"]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_any_kind_may_stand_anywhere_in_a_frame(name: str) -> None:
    column, levels = COLUMNS[name]
    frame = pandas.DataFrame({"died": OUTCOME, "risk": RISK, "other": column})
    assert dossier.validate(frame, outcome="died", risk="risk").study.datasets[0].rows_analysed == 120
    (dataset,) = dossier.validate(frame, outcome="died", risk="risk", subgroups=["other"]).study.datasets
    assert [subgroup.label for subgroup in dataset.subgroups] == levels


def test_an_arrow_table_of_intervals_is_read() -> None:
    frame = pandas.DataFrame({"died": OUTCOME, "risk": RISK, "age": pandas.cut(AGE, [0, 9, 140])})
    table = pyarrow.Table.from_pandas(frame)
    (dataset,) = dossier.validate(table, outcome="died", risk="risk", subgroups=["age"]).study.datasets
    assert [subgroup.label for subgroup in dataset.subgroups] == ["(0, 9]", "(9, 140]"]


def test_numbers_and_texts_in_one_column_are_still_told() -> None:
    frame = pandas.DataFrame({"died": OUTCOME, "risk": RISK, "note": [1, "a"] * 60})
    with pytest.raises(DossierError, match="note holds values of several kinds"):
        dossier.validate(frame, outcome="died", risk="risk")


def test_a_threshold_of_few_bits_is_the_one_that_its_digits_spell() -> None:
    frame = pandas.DataFrame({"died": OUTCOME, "risk": RISK})
    for given in ([np.float32(0.7)], np.array([0.7], "float32")):
        study = dossier.validate(frame, outcome="died", risk="risk", thresholds=given).study  # type: ignore[arg-type]
        assert study.release.thresholds.declared == (0.7,)


def test_categories_with_numbers_inside_go_by_their_size() -> None:
    assert by_size({"10 to 19", "2 to 9", "80+", "unknown"}) == ("2 to 9", "10 to 19", "80+", "unknown")
    assert by_size({"T10", "T2", "T2a"}) == ("T2", "T2a", "T10")
    assert by_size({"1", "10", "9"}) == ("1", "9", "10")


# ---- a threshold that is a risk -------------------------------------------------------------------------------------

BESIDE = [0.1 * 3, 1 - 0.7, 0.3, 0.1 + 0.2, 0.3 - 6e-17, 2.1 / 7]
"""Ways to come to .3, which end on four neighbouring numbers."""


@pytest.mark.parametrize("threshold", BESIDE)
@pytest.mark.parametrize("risk", BESIDE)
def test_a_risk_reaches_a_threshold_that_is_the_same_but_for_a_rounding(threshold: float, risk: float) -> None:
    outcome, risks = [1, 0] * 10, np.full(20, risk)
    measured = dossier.metrics
    assert estimated(measured.sensitivity(outcome, risks, threshold=threshold)).value == 1
    assert estimated(measured.specificity(outcome, risks, threshold=threshold)).value == 0
    assert estimated(measured.net_benefit(outcome, risks, threshold=threshold)).value == pytest.approx(2 / 7)


@pytest.mark.parametrize("threshold", BESIDE[:2])
def test_a_dossier_counts_as_the_library_does(threshold: float) -> None:
    frame = pandas.DataFrame({"y": [1, 0] * 10, "p": np.repeat(BESIDE[:5], 4)})
    found = dossier.validate(frame, outcome="y", risk="p", thresholds=[threshold]).to_frame()
    assert found.loc[found["measure"] == "sensitivity", "value"].tolist() == [1]
    assert set(found["threshold"].dropna()) == {0.3}


@pytest.mark.parametrize("distant", [1e-9, 1e-12])
def test_a_threshold_that_lies_above_every_risk_is_not_reached(distant: float) -> None:
    assert estimated(dossier.metrics.sensitivity([1, 0], [0.3, 0.3], threshold=0.3 + distant)).value == 0
    assert estimated(dossier.metrics.brier([0, 0], [1e-14, 1e-14])).value == pytest.approx(1e-28)


def test_one_threshold_in_two_writings_is_declared_twice() -> None:
    frame = pandas.DataFrame({"y": [1, 0] * 10, "p": [0.3, 0.2] * 10})
    with pytest.raises(DossierError, match="twice"):
        dossier.validate(frame, outcome="y", risk="p", thresholds=[0.3, 0.1 * 3])


# ---- releases that are written of tables ----------------------------------------------------------------------------

TABLES = {
    "made.csv": ("died,days,risk", ("0,400,0.1", "1,90,0.7", "0,365,0.2", "1,10,0.6")),
    "north.csv": ("died,days,risk", ("no,400,0.1", "yes,90,0.7", "no,365,0.2", "yes,10,0.6")),
    "south.csv": ("died,days,risk", ("1,400,0.1", "0,90,0.7", "1,365,0.2", "0,10,0.6")),
}


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, (head, rows) in TABLES.items():
        Path(name).write_text("\n".join([head, *rows * 10, ""]))
    return tmp_path


def initial(*words: str) -> Any:
    return CliRunner().invoke(cli.dossier, ["init", "release", "--risk", "risk", *words])


def test_a_release_of_several_tables_is_named_after_none_of_them(tables: Path) -> None:
    assert initial("--table", "south.csv", "--development", "made.csv", "--outcome", "died").exit_code == 0
    assert 'model = "not stated"  # TODO: what the model is called' in (tables / "release/release.toml").read_text()


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("positive", ["yes", "1"])
def test_tables_that_code_the_outcome_differently_are_to_be_written_alike(positive: str) -> None:
    made = initial("--table", "north.csv", "--development", "made.csv", "--outcome", "died", "--positive", positive)
    fault = made.exception
    assert isinstance(fault, DossierError)
    assert "write it alike in both" in str(fault)


def test_a_written_release_by_a_horizon_names_the_event(tables: Path) -> None:
    words = ("--table", "south.csv", "--time", "days", "--event", "died", "--at", "200")
    assert initial(*words).exit_code == 0
    outcome = tomllib.loads((tables / "release/release.toml").read_text())["outcome"]
    assert (outcome["event"], outcome["time"], "column" in outcome) == ("died", "days", False)


def test_numbers_from_0_to_1_are_offered_as_another_model_and_no_predictor(tables: Path) -> None:
    rows = [f"{row % 2},{0.1 + row % 7 / 10:.1f},{0.2 + row % 5 / 10:.1f},{40 + row}" for row in range(40)]
    Path("both.csv").write_text("\n".join(["died,risk,old,age", *rows, ""]))
    assert initial("--table", "both.csv", "--outcome", "died").exit_code == 0
    text = (tables / "release/release.toml").read_text()
    assert '# predictors = ["age"]' in text
    assert '# [[rival]]\n# name = "old"\n# column = "old"  # 0.2 to 0.6' in text


def test_where_no_other_model_is_declared_no_row_is_of_one() -> None:
    frame = {"died": [0, 0, 1, 1] * 30, "risk": [0.1, 0.4, 0.3, 0.8] * 30}
    found = dossier.validate(frame, outcome="died", risk="risk", resampling={"bootstrap": 20, "permutations": 19})
    assert set(found.to_frame()["model"]) == {"model"}
