"""Table 1: percentiles, counts and shares."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dossier.core.types import Description, Feature
from dossier.metrics.description import case_mix, characteristics

AGE = Feature("age", np.append(np.repeat([10.0, 20.0, 30.0, 40.0], 5), np.nan))
STAGE = Feature("stage", np.array([0.0, 0.0, 2.0, np.nan, np.nan]), ("I", "II", "III"))


def _by_key(rows: tuple[object, ...]) -> dict[tuple[str, str, str | None], tuple[float, int]]:
    return {(row.variable, row.statistic, row.level): (row.value, row.n) for row in rows}  # type: ignore[attr-defined]


def test_a_numeric_predictor_has_percentiles_of_the_known_values_and_never_its_ends() -> None:
    rows = _by_key(characteristics(None, (AGE,)))
    assert rows == {
        ("age", "missing", None): (1.0, 21),
        ("age", "quantile_25", None): (17.5, 20),
        ("age", "median", None): (25.0, 20),
        ("age", "quantile_75", None): (32.5, 20),
    }


def test_of_fewer_than_twenty_values_no_quantile_is_told() -> None:
    rows = characteristics(predictors=(Feature("age", np.append(np.arange(19.0), np.nan)),))
    assert _by_key(rows) == {("age", "missing", None): (1.0, 20)}


def test_of_two_measurements_of_a_few_patients_neither_is_told() -> None:
    rows = characteristics(predictors=(Feature("glucose", np.array([124.25, 99.5, 99.5])),))
    assert _by_key(rows) == {("glucose", "missing", None): (0.0, 3)}


def test_a_category_counts_every_level_also_the_empty_one() -> None:
    rows = _by_key(characteristics(predictors=(STAGE,)))
    assert rows[("stage", "missing", None)] == (2.0, 5)
    assert rows[("stage", "count", "I")] == (2.0, 3)
    assert rows[("stage", "count", "II")] == (0.0, 3)
    assert rows[("stage", "share", "III")] == (1 / 3, 3)


def test_the_outcome_is_counted() -> None:
    rows = _by_key(characteristics(np.array([0.0, 1.0, 1.0, 0.0])))
    assert rows == {("outcome", "events", None): (2.0, 4), ("outcome", "share", None): (0.5, 4)}


def test_nothing_to_describe_is_no_row_and_no_warning() -> None:
    assert characteristics() == ()
    assert characteristics(np.array([])) == ()
    empty = Feature("age", np.full(3, np.nan))
    assert _by_key(characteristics(None, (empty,))) == {("age", "missing", None): (3.0, 3)}


def test_a_number_of_two_values_has_their_shares_beside_its_quartiles() -> None:
    rows = characteristics(None, (Feature("sex", np.append(np.tile([0.0, 1, 1, 1], 5), np.nan)),))
    shares = {row.level: row.value for row in rows if row.statistic == "share"}
    assert shares == {"0": 0.25, "1": 0.75}
    assert {row.statistic for row in rows} >= {"median", "quantile_25", "quantile_75", "missing"}


def test_a_number_of_three_values_has_no_shares() -> None:
    rows = characteristics(None, (Feature("pain", np.array([1.0, 2, 3])),))
    assert not [row for row in rows if row.statistic == "share"]


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (np.array([0.0, 1, 1, 1]), ["0", "1"]),
        (np.tile([0.5, 1.5], 10), ["0.5", "1.5"]),
        (np.append(np.tile([0.5, 1.5], 9), 0.5), []),
        (np.array([1234567.0, 1234568, 1234567]), ["1234567", "1234568"]),
    ],
    ids=["whole numbers of few", "measurements of twenty", "measurements of nineteen", "numbers of wards"],
)
def test_two_values_are_told_where_they_are_nobodys_measurement(values: np.ndarray, levels: list[str]) -> None:
    rows = characteristics(None, (Feature("x", values),))
    assert [row.level for row in rows if row.statistic == "share"] == levels


def test_each_class_is_counted() -> None:
    rows = _by_key(characteristics(classes=np.array([0, 2, 2, 2]), class_labels=("none", "mild", "grave")))
    assert rows == {
        ("outcome", "count", "none"): (1.0, 4),
        ("outcome", "share", "none"): (0.25, 4),
        ("outcome", "count", "mild"): (0.0, 4),
        ("outcome", "share", "mild"): (0.0, 4),
        ("outcome", "count", "grave"): (3.0, 4),
        ("outcome", "share", "grave"): (0.75, 4),
    }
    assert characteristics(classes=np.array([], dtype=np.int64), class_labels=("none", "mild")) == ()


def test_the_spread_of_the_linear_predictor_by_hand() -> None:
    """The logits of .5 and .9 are 0 and log 9: half their distance times the root of 2 is the SD."""
    mean, sd = case_mix(np.array([0.5, 0.9]))
    assert [(description.statistic, description.n) for description in (mean, sd)] == [("mean", 2), ("sd", 2)]
    assert (mean.value, sd.value) == pytest.approx((math.log(9) / 2, math.log(9) / math.sqrt(2)))


def test_a_single_row_has_no_spread_and_no_row_no_mean() -> None:
    assert case_mix(np.array([0.5])) == (Description("linear predictor", "mean", 0.0, 1, of="linear_predictor"),)
    assert case_mix(np.array([])) == ()
