"""The value of the advice against the table of methods.md and obvious loops."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtri

from dossier.core.types import Absent, Floats
from dossier.metrics import classes
from dossier.metrics.advice import advice_value, advisor_value, bins_of, confidence_of
from dossier.typeset.methods import method_text
from tests.estimated import curved, estimated, interval_of, present
from tests.reasons import Said
from tests.reference.tables import COVID, needs_covid

PRINTED = {
    "brazil-1": 0.7740375,
    "brazil-3": 0.4269342,
    "italy-1": 0.7074304,
    "ethiopia": 0.7129503,
    "spain": 0.6013755,
}
"""AdV(ECE) in methods.md, "Expected values on real sites"."""


def slow(rows: list[tuple[int, float]], calibration: str) -> float:
    bins: dict[int, list[tuple[float, int]]] = {}
    for y, p in rows:
        sure = p if p >= 0.5 else 1 - p
        index = max(k for k in range(10) if sure >= k / 10)
        bins.setdefault(index, []).append((sure, int((p >= 0.5) == (y == 1))))
    total = 0.0
    for members in bins.values():
        mean = sum(sure for sure, _ in members) / len(members)
        gap = abs(sum(right for _, right in members) / len(members) - mean)
        local = 1 - gap if calibration == "ece" else 1 - gap / max(mean, 1 - mean)
        total += sum(sure * local for sure, _ in members)
    return total / len(rows)


@needs_covid
@pytest.mark.parametrize("name", PRINTED)
def test_the_five_hospitals(name: str) -> None:
    read = pd.read_csv(COVID / f"{name}.csv")
    y, p = read["outcome"].to_numpy(float), read["risk"].to_numpy(float)
    assert estimated(advisor_value(y, p, bootstrap=20)).value == pytest.approx(PRINTED[name], abs=5e-8)


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from([0, 0.05, 0.3, 0.4, 0.5, 0.6, 0.71, 0.9, 1])),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from(["ece", "eci"]),
)
@settings(deadline=None)
def test_row_by_row(rows: list[tuple[int, float]], calibration: str) -> None:
    y, p = np.array([a for a, _ in rows], dtype=float), np.array([b for _, b in rows], dtype=float)
    found = estimated(advisor_value(y, p, calibration, bootstrap=5))
    assert found.value == pytest.approx(slow(rows, calibration), abs=1e-12)
    # A bin of fewer than five has no value; each row five times leaves the means as they are.
    curve = curved(advice_value(np.repeat(y, 5), np.repeat(p, 5)))
    worth = zip(curve.columns["share"], curve.columns[f"value_{calibration}"], strict=True)
    # The advisor value is the mean of the advice values over the distribution of the advice.
    assert sum((share or 0) * (value or 0) for share, value in worth) == pytest.approx(found.value, abs=1e-12)
    assert sum(count or 0 for count in curve.columns["count"]) == 5 * len(rows)


def test_a_bin_by_hand() -> None:
    """Eight advices of .8, six right: .8 (1 - .05) = .76, and by the largest gap .8 (1 - .05/.8) = .75."""
    y, p = np.tile([1.0, 1, 1, 0], 2), np.full(8, 0.8)
    curve = curved(advice_value(y, p))
    assert curve.columns["lower"] == (0.5, 0.6, 0.7, 0.8, 0.9)
    assert curve.columns["upper"] == (0.6, 0.7, 0.8, 0.9, 1.0)
    for name, expected in {"value_ece": 0.76, "value_eci": 0.75, "accuracy": 0.75, "share": 1.0}.items():
        assert curve.columns[name][3] == pytest.approx(expected)
    assert curve.columns["value_ece"][0] is None
    assert curve.columns["share"][0] == 0


def test_a_bin_of_one_tells_its_count_and_nobodys_risk() -> None:
    y, p = np.ones(9), np.array([0.81, 0.83, 0.85, 0.87, 0.11, 0.12, 0.13, 0.14, 0.95])
    curve = curved(advice_value(y, p))
    assert list(curve.columns["count"]) == [0, 0, 0, 8, 1]
    for name in ("confidence", "accuracy", "value_ece", "value_eci"):
        assert [value is None for value in curve.columns[name]] == [True, True, True, False, True]


def draw(rng: np.random.Generator, n: int, bend: float) -> tuple[Floats, Floats]:
    p = rng.beta(2, 2, n)
    return (rng.uniform(size=n) < np.clip(0.5 + bend * (p - 0.5), 0, 1)).astype(float), p


@pytest.mark.parametrize("bend", [1.0, 0.4])
def test_the_interval_covers_of_a_calibrated_model_and_of_another(bend: float) -> None:
    """Of a calibrated model the value is the largest possible, and the plain bootstrap lies below it nearly always."""
    rng = np.random.default_rng(8)
    true = estimated(advisor_value(*draw(rng, 1_000_000, bend), bootstrap=2)).value
    held = 0
    for seed in range(200):
        found = estimated(advisor_value(*draw(rng, 500, bend), bootstrap=200, seed=seed))
        held += (found.low or 0.0) <= true <= (found.high or 0.0)
    assert held >= 180


def test_the_upper_bound_of_a_calibrated_model_lies_above_the_mean_confidence() -> None:
    y, p = draw(np.random.default_rng(5), 3000, 1.0)
    found, sure = estimated(advisor_value(y, p)), np.maximum(p, 1 - p)
    assert "does not refute" in method_text(found.method)
    assert sure.mean() < present(found.high) < sure.mean() + 6 * sure.std() / np.sqrt(3000)
    wrong = estimated(advisor_value(*draw(np.random.default_rng(5), 3000, 0.2)))
    assert "does not refute" not in method_text(wrong.method)
    assert (wrong.high or 1.0) < sure.mean()


def test_one_row_has_no_interval() -> None:
    found = estimated(advisor_value(np.array([1.0]), np.array([0.8])))
    assert (found.low, found.high, found.level) == (None, None, None)


def test_two_rows_have_an_interval() -> None:
    found = estimated(advisor_value(np.array([1.0, 0.0]), np.array([0.8, 0.7])))
    low, high = interval_of(found)
    assert low <= found.value <= high


@pytest.mark.parametrize(("calibration", "weight"), [("ece", 0.8), ("eci", 1.0)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_advice_of_one_confidence_solves_the_equation_of_its_bounds(
    calibration: str, weight: float, level: float
) -> None:
    """400 advices of .8, 160 right: the gap is .4 and the mean square of right - .8 is .4 x .04 + .6 x .64 = .4.

    A true gap t up to that one means that a share of .8 - t is right, which scatters by sqrt((.8 - t)(.2 + t) / 400); a
    larger one is given sqrt((.4 - t^2) / 400). By ECE each gap counts times .8, by ECI .8 / .8 times.
    """
    z = float(ndtri((1 + level) / 2))
    low = brentq(lambda true: true + z * math.sqrt((0.8 - true) * (0.2 + true) / 400) - 0.4, 0.0, 0.4)
    high = brentq(lambda true: true - z * math.sqrt((0.4 - true**2) / 400) - 0.4, 0.4, 0.6)
    y, p = np.repeat([1.0, 0.0], [160, 240]), np.full(400, 0.8)
    found = estimated(advisor_value(y, p, calibration, level=level, bootstrap=20_000))
    assert found.value == pytest.approx(0.8 - weight * 0.4)
    assert (found.low, found.high) == pytest.approx((0.8 - weight * high, 0.8 - weight * low), abs=0.002)


def test_an_upper_bound_does_not_pass_1() -> None:
    """Nine advices of 1 and one of .5, all right: the mean confidence is .95, its standard error .05."""
    assert estimated(advisor_value(np.ones(10), np.array([1.0] * 9 + [0.5]))).high == 1


def test_advice_of_one_confidence_is_bounded_by_it() -> None:
    """Its mean confidence does not vary from sample to sample, so that nothing lies above it."""
    found = estimated(advisor_value(np.tile([1.0, 1, 1, 0], 10), np.full(40, 0.75)))
    assert found.value == found.high == 0.75
    assert "above" not in method_text(found.method)


def test_what_has_no_advice_is_absent() -> None:
    empty = np.array([])
    assert advisor_value(empty, empty) == Said("there are no rows")
    assert advice_value(empty, empty) == Said("there are no rows")
    assert isinstance(advisor_value(np.array([1.0]), np.array([0.4]), "gut"), Absent)


@pytest.mark.parametrize("tenths", range(11))
def test_a_risk_of_whole_tenths_begins_its_bin(tenths: int) -> None:
    """As in the bins of the expected calibration error, whose ends are the same numbers."""
    expected = min(max(tenths, 10 - tenths), 9)
    assert list(bins_of(confidence_of(np.array([tenths / 10])))) == [expected]


def test_advice_at_the_end_of_a_bin_by_hand() -> None:
    """Ten right advices of .6 and ten wrong ones of .55: gaps of .4 and .55."""
    p, y = np.repeat([0.6, 0.55], 10), np.repeat([1.0, 0.0], 10)
    assert estimated(advisor_value(y, p)).value == pytest.approx((0.6 * (1 - 0.4) + 0.55 * (1 - 0.55)) / 2)
    assert curved(advice_value(y, p)).columns["count"] == (10, 10, 0, 0, 0)


def test_no_advice_is_worth_less_than_nothing() -> None:
    """All sure and all wrong: each half of what the confidence gives is taken off again, to the last digit."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        p = rng.random(int(rng.integers(2, 8)))
        assert estimated(advisor_value((p < 0.5).astype(float), p, "eci", bootstrap=20)).value >= 0


@given(
    st.lists(st.tuples(st.integers(0, 1), st.floats(0, 1)), min_size=2, max_size=30), st.sampled_from(["ece", "eci"])
)
@settings(deadline=None)
def test_two_classes_as_classes_give_the_numbers_of_two(rows: list[tuple[int, float]], calibration: str) -> None:
    """The positive class first, to which a tie at one half goes in both forms."""
    y, p = np.array([a for a, _ in rows], dtype=float), np.array([b for _, b in rows])
    numbers, risks = (1 - y).astype(np.int64), np.column_stack((p, 1 - p))
    two = estimated(advisor_value(y, p, calibration, bootstrap=5))
    several = estimated(classes.advisor_value(numbers, risks, calibration, bootstrap=5))
    for first, other in ((two.value, several.value), (two.low, several.low), (two.high, several.high)):
        assert (first is None) == (other is None)
        assert first is None or other == pytest.approx(first, abs=1e-12)
    left, right = curved(advice_value(y, p)), curved(classes.advice_value(numbers, risks))
    assert list(left.columns) == list(right.columns)
    for name, column in left.columns.items():
        assert right.columns[name] == pytest.approx(column, abs=1e-12), name


def test_a_bin_of_four_classes_by_hand() -> None:
    """Eight advices of .4, four right: .4 (1 - .1) = .36; by the largest gap, .6, .4 (1 - .1/.6) = 1/3."""
    risks = np.tile([0.4, 0.2, 0.2, 0.2], (8, 1))
    numbers = np.array([0, 0, 0, 0, 1, 1, 2, 3])
    curve = curved(classes.advice_value(numbers, risks))
    position = curve.columns["lower"].index(0.4)
    assert curve.columns["value_ece"][position] == pytest.approx(0.36, abs=1e-12)
    assert curve.columns["value_eci"][position] == pytest.approx(1 / 3, abs=1e-12)
    assert estimated(classes.advisor_value(numbers, risks, "ece", bootstrap=5)).value == pytest.approx(0.36, abs=1e-12)
    assert estimated(classes.advisor_value(numbers, risks, "eci", bootstrap=5)).value == pytest.approx(1 / 3, abs=1e-12)


def four_classes(rng: np.random.Generator, rows: int, power: float) -> tuple[NDArray[np.int64], Floats]:
    """Classes drawn by their true risks, and what a model says that is surer (or less sure) than it ought to be."""
    true = np.exp(rng.normal(0, 1.2, (rows, 4)) + np.array([1.0, 0.3, 0.0, -0.4]))
    true /= true.sum(axis=1, keepdims=True)
    said = true**power
    drawn = (rng.random(rows)[:, None] >= true.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return drawn.astype(np.int64), said / said.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("power", [1.5, 0.7])
def test_the_interval_of_several_classes_covers_its_truth(power: float) -> None:
    """.93 to .97 of 600 hospitals of 500 patients; the Monte Carlo error of .95 is .009, and two of it are allowed."""
    truth = estimated(classes.advisor_value(*four_classes(np.random.default_rng(1), 400_000, power), bootstrap=2)).value
    held = 0
    for seed in range(600):
        found = estimated(
            classes.advisor_value(*four_classes(np.random.default_rng([2, seed]), 500, power), bootstrap=200, seed=seed)
        )
        held += (found.low or 0.0) <= truth <= (found.high or 0.0)
    assert 0.93 - 0.018 <= held / 600 <= 0.97 + 0.018
