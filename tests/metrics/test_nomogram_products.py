"""Caps, floors, segments and products of a formula: against sums by hand, and as axes whose points add up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dossier.core import equation
from dossier.core.types import Feature
from dossier.metrics import nomogram
from dossier.metrics.nomogram import Axis, Nomogram
from tests.estimated import present
from tests.metrics.test_nomogram import model
from tests.reasons import Said

NUMBERS = st.floats(-200, 200)


def effect(term: dict[str, Any], values: list[float], partner: Feature | None = None) -> list[float]:
    only = model({"predictor": "x", **term}).term[0]
    return [float(each) for each in equation.effect(only, Feature("x", np.array(values)), partner)]


@given(st.lists(NUMBERS, min_size=1, max_size=9), NUMBERS, NUMBERS)
def test_floor_and_cap_hold_the_number_between_them(values: list[float], first: float, other: float) -> None:
    low, high = sorted((first, other))
    if low == high:
        return
    found = effect({"floor": low, "cap": high, "coefficient": -0.04}, values)
    assert found == [-0.04 * min(max(value, low), high) for value in values]


def test_a_floor_stands_before_the_transform() -> None:
    assert effect({"floor": 1.0, "transform": "log", "coefficient": 2.0}, [0.0, 1.0, math.e]) == [0.0, 0.0, 2.0]


@given(
    st.lists(NUMBERS, min_size=1, max_size=9),
    st.lists(NUMBERS, min_size=1, max_size=5, unique_by=lambda value: round(value, 1)),
    st.lists(st.floats(-2, 2), min_size=6, max_size=6),
)
def test_segments_are_the_linear_spline_of_rms(values: list[float], breaks: list[float], slopes: list[float]) -> None:
    """rms's lsp has the first slope, and at each knot by how much the slope changes."""
    breaks = sorted(breaks)
    slopes = slopes[: len(breaks) + 1]
    changes = np.diff(slopes)
    expected = [
        slopes[0] * value + sum(change * max(value - at, 0.0) for at, change in zip(breaks, changes, strict=True))
        for value in values
    ]
    found = effect({"segments": tuple(breaks), "coefficients": tuple(slopes)}, values)
    assert found == pytest.approx(expected, abs=1e-9)


def test_a_segment_without_slope_is_a_cap() -> None:
    values = [80.0, 119.0, 120.0, 180.0]
    capped = effect({"cap": 120.0, "coefficient": -0.04}, values)
    assert effect({"segments": (120.0,), "coefficients": (-0.04, 0.0)}, values) == pytest.approx(capped)


def test_a_product_of_numbers_and_one_with_categories() -> None:
    women = Feature("z", np.array([0.0, 1.0, math.nan]))
    found = effect({"with": "z", "coefficient": 0.5}, [10.0, 20.0, 30.0], women)
    assert found[:2] == [0.0, 10.0]
    assert math.isnan(found[2])
    killip = Feature("z", np.array([0.0, 1.0, 2.0]), ("I", "II", "III"))
    assert effect({"with": "z", "levels": {"II": 0.5, "III": -1.0}}, [10.0, 20.0, 30.0], killip) == [0.0, 10.0, -30.0]
    squared = {"with": "z", "levels": {"II": 0.5}, "transform": "square", "cap": 15.0}
    assert effect(squared, [10.0, 20.0, 30.0], killip) == [0.0, 112.5, 0.0]
    bent = {"with": "z", "segments": (15.0,), "coefficients": (1.0, 0.0)}
    assert effect(bent, [10.0, 20.0, 30.0], Feature("z", np.array([2.0, 3.0, 0.0]))) == [20.0, 45.0, 0.0]


FORMULA = model(
    {"predictor": "age", "coefficient": 0.08},
    {"predictor": "killip", "levels": {"II": 0.6, "III": 1.2}},
    {"predictor": "age", "with": "killip", "levels": {"II": -0.002, "III": -0.03}},
    {"predictor": "sysbp", "cap": 120.0, "coefficient": -0.04},
    {"predictor": "pulse", "segments": (50.5,), "coefficients": (-0.025, 0.019)},
    {"predictor": "sex", "coefficient": 0.4},
    {"predictor": "sex", "with": "smoker", "coefficient": -0.3},
    intercept=-3.0,
)
DRAW = np.random.default_rng(3)
REFERENCE = {
    "age": Feature("age", DRAW.uniform(30, 90, 500)),
    "killip": Feature("killip", DRAW.integers(0, 3, 500).astype(float), ("I", "II", "III")),
    "sysbp": Feature("sysbp", DRAW.uniform(70, 200, 500)),
    "pulse": Feature("pulse", DRAW.uniform(35, 140, 500)),
    "sex": Feature("sex", DRAW.integers(0, 2, 500).astype(float)),
    "smoker": Feature("smoker", DRAW.integers(0, 2, 500).astype(float)),
}


@pytest.fixture(scope="module")
def drawn() -> Nomogram:
    return present(nomogram.nomogram(FORMULA, REFERENCE))


def named(drawn: Nomogram, predictor: str, level: str | None = None) -> Axis:
    return next(
        panel
        for panel in drawn.axes
        if panel.predictor == predictor and (None if panel.beside is None else panel.beside[1]) == level
    )


def test_a_product_has_an_axis_for_each_category_of_the_other(drawn: Nomogram) -> None:
    assert [(panel.predictor, panel.beside) for panel in drawn.axes] == [
        ("age", ("killip", "I")),
        ("age", ("killip", "II")),
        ("age", ("killip", "III")),
        ("sysbp", None),
        ("pulse", None),
        ("sex × smoker", None),
    ]
    assert named(drawn, "sex × smoker").levels == ("0, 0", "0, 1", "1, 0", "1, 1")


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_points_read_on_one_axis_of_each_product_add_up_to_the_risk(drawn: Nomogram, data: st.DataObject) -> None:
    killip = data.draw(st.integers(0, 2))
    sex, smoker = data.draw(st.integers(0, 1)), data.draw(st.integers(0, 1))
    axes = [named(drawn, "age", ("I", "II", "III")[killip]), named(drawn, "sysbp"), named(drawn, "pulse")]
    places = [data.draw(st.integers(0, len(panel.values) - 1)) for panel in axes]
    total = sum(float(drawn.points(panel)[position]) for panel, position in zip(axes, places, strict=True))
    total += float(drawn.points(named(drawn, "sex × smoker"))[2 * sex + smoker])
    age, sysbp, pulse = (float(panel.values[position]) for panel, position in zip(axes, places, strict=True))
    linear = -3.0 + 0.08 * age + (0.0, 0.6, 1.2)[killip] + (0.0, -0.002, -0.03)[killip] * age - 0.04 * min(sysbp, 120.0)
    linear += -0.025 * min(pulse, 50.5) + 0.019 * max(pulse - 50.5, 0.0) + 0.4 * sex - 0.3 * sex * smoker
    assert drawn.zero + total / drawn.per_unit == pytest.approx(linear, abs=1e-9)


def test_every_product_begins_at_no_points_and_the_widest_effect_has_a_hundred(drawn: Nomogram) -> None:
    of_age = np.concatenate([drawn.points(panel) for panel in drawn.axes if panel.predictor == "age"])
    assert of_age.min() == 0.0
    assert float(of_age.max()) == pytest.approx(100.0)
    others = (named(drawn, "sysbp"), named(drawn, "pulse"), named(drawn, "sex × smoker"))
    assert drawn.total == pytest.approx(100.0 + sum(float(drawn.points(axis).max()) for axis in others))


def test_an_axis_ends_at_its_cap_and_is_marked_where_its_slope_changes(drawn: Nomogram) -> None:
    sysbp, pulse = named(drawn, "sysbp"), named(drawn, "pulse")
    assert sysbp.values[-1] == 120.0
    assert pulse.values[pulse.turns].tolist() == [50.5]
    assert 50.5 in pulse.values[pulse.marked]


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        (
            ({"predictor": "age", "with": "pulse", "coefficient": 0.1},),
            "age and pulse, of which the formula has a product, are both numbers of many values",
        ),
        (
            (
                {"predictor": "age", "with": "killip", "levels": {"II": 0.1}},
                {"predictor": "age", "with": "sex", "coefficient": 0.1},
            ),
            "products join age, killip, sex, and an axis shows two predictors at most",
        ),
    ],
)
def test_what_no_axis_can_show_is_said(terms: tuple[dict[str, Any], ...], reason: str) -> None:
    assert nomogram.nomogram(model(*terms), REFERENCE) == Said(reason)


def test_a_predictor_in_a_product_alone_is_needed_too() -> None:
    formula = model({"predictor": "age", "with": "sex", "coefficient": 0.1})
    assert formula.predictors == ("age", "sex")
    assert equation.linear_predictor(formula, (REFERENCE["age"],)) == Said(
        "the formula needs sex, which the site does not give"
    )


def test_a_pair_of_predictors_has_one_product() -> None:
    with pytest.raises(ValueError, match="more than one term"):
        model(
            {"predictor": "age", "with": "sex", "coefficient": 0.1},
            {"predictor": "sex", "with": "age", "coefficient": 0.1},
        )
