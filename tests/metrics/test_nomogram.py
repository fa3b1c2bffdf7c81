"""The points of a model against R's rms (6.8) and against sums done by hand; the formula against the tested risks."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dossier.core import equation
from dossier.core.release import Model
from dossier.core.types import Feature, Floats
from dossier.metrics import nomogram
from dossier.metrics.nomogram import Axis, Nomogram
from tests.estimated import curved, estimated, present
from tests.reasons import Said
from tests.reference.tables import GOLDEN as FOLDER

GOLDEN = json.loads((FOLDER / "r.json").read_text())["nomogram"]

RISK_TICKS = 2e-4
"""rms finds the totals of round risks by interpolation between 50 values or more; its print has no decimals."""


def model(*terms: dict[str, Any], intercept: float = 0.0) -> Model:
    return Model.model_validate({"intercept": intercept, "term": terms})


def of_golden() -> Model:
    """The model of the reference, as a release declares it."""
    coefficients = GOLDEN["model"]["coef"]
    return model(
        {"predictor": "age", "coefficient": coefficients["age"]},
        {
            "predictor": "crp",
            "knots": tuple(map(float, GOLDEN["model"]["crp_knots"])),
            "coefficients": tuple(coefficients[name] for name in ("crp", "crp'", "crp''")),
        },
        {"predictor": "stage", "levels": {level: coefficients[f"stage={level}"] for level in ("II", "III")}},
        {"predictor": "sex", "levels": {"M": coefficients["sex=M"]}},
        intercept=coefficients["Intercept"],
    )


def on_ticks_of_r() -> Nomogram:
    """The model on the values that rms puts on its axes, which reach beyond the data."""
    tables = GOLDEN["default"]["tables"]
    axes = []
    for term in of_golden().term:
        values = tables[term.predictor][term.predictor]
        levels = tuple(map(str, values))
        feature = (
            Feature(term.predictor, np.array(values, dtype=float))
            if term.levels is None
            else Feature(term.predictor, np.arange(float(len(values))), levels)
        )
        marks = np.ones(len(values), dtype=bool)
        places = np.arange(float(len(values)))
        axes.append(Axis(term.predictor, places, equation.effect(term, feature), marks, ~marks, 2000, levels=levels))
    return present(nomogram.scaled(of_golden().constant, tuple(axes)))


@pytest.mark.parametrize("predictor", ["age", "crp", "stage", "sex"])
def test_points_are_those_of_rms(predictor: str) -> None:
    found = on_ticks_of_r()
    axis = next(panel for panel in found.axes if panel.predictor == predictor)
    table = GOLDEN["default"]["tables"][predictor]
    # rms counts the effect of a predictor without the part that all of its categories share.
    np.testing.assert_allclose(axis.effects, table["Xbeta"], atol=2e-9)
    np.testing.assert_allclose(found.points(axis), table["points"], atol=5e-8)


def test_scale_and_zero_are_those_of_rms() -> None:
    found, info = on_ticks_of_r(), GOLDEN["default"]["info"]
    assert found.per_unit == pytest.approx(info["sc"], abs=1e-9)
    assert found.zero == pytest.approx(info["Intercept"], abs=1e-9)


def test_linear_predictor_stands_at_the_totals_of_rms() -> None:
    found, axis = on_ticks_of_r(), GOLDEN["default"]["tables"]["lp"]
    totals = (np.array(axis["x.real"]) - found.zero) * found.per_unit
    np.testing.assert_allclose(totals, axis["x"], atol=1e-7)
    curve = nomogram.total_curve(found)
    across, up = (np.array(curve.columns[name], dtype=float) for name in ("total_points", "linear_predictor"))
    np.testing.assert_allclose(np.interp(axis["x"], across, up), axis["x.real"], atol=1e-8)


def test_risks_stand_at_the_totals_of_rms() -> None:
    curve = curved(nomogram.risk_curve(on_ticks_of_r(), ()))
    ours = dict(zip(curve.columns["risk"], curve.columns["total_points"], strict=True))
    table = GOLDEN["default"]["tables"]["Risk"]
    for risk, total in zip(table["x.real"], table["x"], strict=True):
        assert ours[risk] == pytest.approx(total, abs=RISK_TICKS)


def test_patient_of_the_reference_has_its_risk() -> None:
    example = GOLDEN["example"]
    predictors = (
        Feature("age", np.array([70.0])),
        Feature("crp", np.array([50.0])),
        Feature("stage", np.array([1.0]), ("I", "II", "III")),
        Feature("sex", np.array([1.0]), ("F", "M")),
    )
    linear = present(equation.linear_predictor(of_golden(), predictors))
    assert linear[0] == pytest.approx(example["lp"], abs=1e-9)
    assert 1 / (1 + math.exp(-linear[0])) == pytest.approx(example["risk"], abs=1e-10)


def restricted_cubic(x: float, knots: list[float]) -> list[float]:
    """The basis term by term, as Harrell writes it."""
    first, before, last = knots[0], knots[-2], knots[-1]
    terms = [x]
    for knot in knots[:-2]:
        term = max(x - knot, 0.0) ** 3
        term -= max(x - before, 0.0) ** 3 * (last - knot) / (last - before)
        term += max(x - last, 0.0) ** 3 * (before - knot) / (last - before)
        terms.append(term / (last - first) ** 2)
    return terms


@given(
    st.lists(st.floats(-50, 50), min_size=3, max_size=7, unique_by=lambda value: round(value, 1)),
    st.lists(st.floats(-100, 100), min_size=1, max_size=20),
)
@settings(deadline=None)
def test_spline_is_harrells(knots: list[float], values: list[float]) -> None:
    knots = sorted(knots)
    slow = np.array([restricted_cubic(value, knots) for value in values])
    np.testing.assert_allclose(equation.spline_columns(np.array(values), knots), slow, rtol=1e-7, atol=1e-4)


def reaching(low: float, high: float, name: str = "x") -> Feature:
    """A predictor with so many patients at either end that its axis runs from the one to the other."""
    return Feature(name, np.concatenate([np.full(20, low), np.linspace(low, high, 301), np.full(20, high)]))


def folded() -> tuple[Model, dict[str, Feature]]:
    """A model with a predictor whose effect falls and rises again, one on a square root, and categories."""
    rng = np.random.default_rng(5)
    formula = model(
        {"predictor": "age", "knots": (36.0, 50.0, 63.0, 77.0), "coefficients": (-0.06, 0.12, -0.33)},
        {"predictor": "nodes", "coefficient": 0.4, "transform": "sqrt"},
        {"predictor": "marker", "coefficient": -0.01},
        {"predictor": "grade", "levels": {"2": 0.3, "3": 0.9}},
        intercept=-1.0,
    )
    reference = {
        "age": Feature("age", rng.uniform(25, 85, 400)),
        "nodes": Feature("nodes", rng.poisson(12, 400).astype(float)),
        "marker": Feature("marker", rng.uniform(0, 100, 400)),
        "grade": Feature("grade", rng.integers(0, 3, 400).astype(float), ("1", "2", "3")),
    }
    return formula, reference


@pytest.fixture(scope="module")
def drawn() -> Nomogram:
    return present(nomogram.nomogram(*folded()))


@given(st.data())
@settings(deadline=None, max_examples=50)
def test_points_add_up_to_the_risk(drawn: Nomogram, data: st.DataObject) -> None:
    """Whatever values are marked: the points read above them and added up lead to the risk of the formula."""
    formula, reference = folded()
    total, predictors = 0.0, []
    for axis in drawn.axes:
        position = data.draw(st.integers(0, len(axis.values) - 1))
        total += float(drawn.points(axis)[position])
        levels = reference[axis.predictor].levels
        predictors.append(Feature(axis.predictor, axis.values[[position]], levels))
    linear = present(equation.linear_predictor(formula, predictors))
    assert drawn.zero + total / drawn.per_unit == pytest.approx(float(linear[0]), abs=1e-9)


def test_widest_predictor_has_a_hundred_points_and_each_starts_at_none(drawn: Nomogram) -> None:
    spans = [drawn.points(axis) for axis in drawn.axes]
    assert max(float(points.max()) for points in spans) == pytest.approx(100)
    assert all(float(points.min()) == 0 for points in spans)
    assert drawn.total == pytest.approx(sum(float(points.max()) for points in spans))


def test_axis_turns_where_the_slope_changes_sign(drawn: Nomogram) -> None:
    axis = drawn.axes[0]
    turns = axis.values[axis.turns]
    dense = np.linspace(axis.values[0], axis.values[-1], 20001)
    slopes = np.sign(np.diff(equation.effect(folded()[0].term[0], Feature("age", dense))))
    expected = dense[1:-1][np.diff(slopes) != 0]
    assert len(turns) == len(expected) == 2
    np.testing.assert_allclose(turns, expected, atol=0.4)
    assert (axis.marked[axis.turns]).all()


def test_ends_are_no_single_patients_values(drawn: Nomogram) -> None:
    for axis in drawn.axes[:3]:
        values = np.sort(folded()[1][axis.predictor].values)
        step = 0.01 * (values[-10] - values[9])
        assert values[9] <= axis.values[0] <= values[9] + step
        assert values[-10] - step <= axis.values[-1] <= values[-10]


def test_ends_of_a_small_table_are_its_5th_and_95th_percentiles() -> None:
    assert nomogram.ends(np.arange(101.0)) == (5.0, 95.0)


@pytest.mark.parametrize(
    ("n", "index"),
    [
        # Five values at or beyond either end, of fewer than ten as many as can.
        (1, 0),
        (7, 3),
        (8, 3),
        (10, 4),
        (12, 4),
        # The 5th percentile lies 4.45 steps from the smallest of 90, 4.55 from the smallest of 92.
        (90, 4),
        (92, 5),
        # 9.9 steps from the smallest of 199; from 200 values on it is the 10th smallest.
        (199, 10),
        (200, 9),
    ],
)
def test_ends_are_the_values_nearest_to_the_percentiles_with_five_at_or_beyond(n: int, index: int) -> None:
    assert nomogram.ends(np.arange(float(n))) == (index, n - 1 - index)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.2345, 98.7654, (1.3, 98.7)),
        (-98.7654, -1.2345, (-98.7, -1.3)),
        (123.456, 9876.5, (130, 9870)),
        (0.0123456, 0.0198765, (0.01235, 0.01987)),
    ],
)
def test_ends_are_cut_inwards_to_three_digits_of_the_span(
    low: float, high: float, expected: tuple[float, float]
) -> None:
    assert nomogram.ends(reaching(low, high).values) == pytest.approx(expected, rel=1e-12)


def test_no_end_is_one_patients_value_though_nearly_all_share_a_value() -> None:
    """Of 300, nine lie above the value that all others share; four more may be told apart from the largest five."""
    above = [1.1, 2.3, 3.7, 5.2, 7.9, 8.8, 12.4, 20.6, 73.2]
    assert nomogram.ends(np.array([0.4, *[0.5] * 290, *above])) == (0.5, 7.9)
    assert nomogram.ends(np.array([*[0.5] * 290, *range(1, 11)])) == (0.5, 1.0)
    assert nomogram.ends(np.array([9.25, *[3.0] * 300, 0.5])) == (3.0, 3.0)
    found = nomogram.axis(
        model({"predictor": "x", "coefficient": 0.5}).term[0], Feature("x", np.array([9.25, *[3.0] * 300, 0.5]))
    )
    assert found.levels == ("3",)


def test_values_of_fewer_than_five_patients_at_an_end_are_not_levels() -> None:
    term = model({"predictor": "x", "coefficient": 0.5}).term[0]
    one_alone = nomogram.axis(term, Feature("x", np.array([*[1.0] * 100, *[2.0] * 100, 97.0])))
    assert one_alone.levels == ("1", "2")
    either_end = np.repeat([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [1, 4, 50, 2, 4, 1])
    assert nomogram.axis(term, Feature("x", either_end)).levels == ("1", "2", "3", "4")


@pytest.mark.parametrize("ones", [0, 1, 4, 5, 1000])
def test_an_indicator_keeps_its_1_however_rare(ones: int) -> None:
    """Without it those who have what it indicates would find no points."""
    term = model({"predictor": "x", "coefficient": 0.5}).term[0]
    found = nomogram.axis(term, Feature("x", np.repeat([0.0, 1.0], [1000 - ones, ones])))
    assert found.levels == (("0",) if ones == 0 else ("1",) if ones == 1000 else ("0", "1"))


def test_large_whole_numbers_keep_their_names() -> None:
    term = model({"predictor": "x", "coefficient": 0.5}).term[0]
    found = nomogram.axis(term, Feature("x", np.repeat([1000001.0, 1000002.0, 1000003.0], 9)))
    assert found.levels == ("1000001", "1000002", "1000003")


def test_logarithm_exists_at_the_lower_end() -> None:
    values = np.exp(np.linspace(-3, 6, 300))
    low, high = nomogram.ends(values)
    assert 0 < low < high <= values[-9]


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([0, 1, 2, 3], []),
        ([0, 1, 2, 1, 0], [2]),
        ([0, 0.3, 0.1, 0.4, 2, 3], []),
        ([0, 2, 1.8, 2.5, 3], []),
        ([5, 3, 4, 1], [1, 2]),
        ([1, 1, 1], []),
        ([0, 2, 1.5], [1]),
        ([0, 2, 2, 0], [2]),
    ],
)
def test_turns_of_half_a_point_count(points: list[float], expected: list[int]) -> None:
    assert nomogram.turning_points(np.array(points, dtype=float)) == expected


def test_marks_are_round_numbers_closer_where_points_change_fast(drawn: Nomogram) -> None:
    nodes = drawn.axes[1]
    inner = nodes.values[nodes.marked][1:-1]
    assert np.array_equal(inner, np.round(inner))
    assert len(inner) <= nomogram.MARKS
    gaps = np.diff(nodes.values[nodes.marked])
    assert gaps[0] <= gaps[-2]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 100, (20, 10, 5, 2, 1, 0.5)),
        (1000, 1035, (10, 5, 2, 1, 0.5, 0.2)),
        (-3, 3, (1, 0.5, 0.2, 0.1, 0.05, 0.02)),
        (0.02, 0.06, (0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002)),
    ],
)
def test_steps_are_the_six_widest_round_ones_of_at_most_three_tenths_of_the_axis(
    low: float, high: float, expected: tuple[float, ...]
) -> None:
    term = model({"predictor": "x", "coefficient": 1.0}).term[0]
    assert nomogram.axis(term, reaching(low, high)).steps == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("low", "high", "expected"), [(10, 40, (5, 2, 1)), (10, 13, (1,))])
def test_steps_of_whole_numbers_are_whole(low: int, high: int, expected: tuple[float, ...]) -> None:
    # Eight patients beyond either end make more different numbers than are read value by value.
    values = np.concatenate([np.arange(low - 8, high + 9), np.arange(low, high + 1).repeat(60)])
    term = model({"predictor": "x", "coefficient": 1.0}).term[0]
    assert nomogram.axis(term, Feature("x", values.astype(float))).steps == expected


def marks(term: dict[str, Any], low: float, high: float, widest: float = 100.0) -> list[float]:
    """The marks of a predictor from low to high, beside another one with an effect of this width."""
    formula = model({"predictor": "x", **term}, {"predictor": "other", "coefficient": widest / 100})
    found = present(nomogram.nomogram(formula, {"x": reaching(low, high), "other": reaching(0, 100, "other")}))
    assert found.per_unit == 100 / widest
    return [*map(float, found.axes[0].values[found.axes[0].marked])]


def test_even_points_have_even_marks() -> None:
    # Every 20 first. The tens between stand 10 points from both; the fives between those would stand only 5.
    assert marks({"coefficient": 1.0}, 0, 100) == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    # Every 2 first. The odd numbers stand 8 points from both, which is just enough.
    assert marks({"coefficient": 8.0}, 0, 12.5) == [*range(13), 12.5]


def test_weak_predictor_keeps_its_coarse_marks() -> None:
    assert marks({"coefficient": 0.01}, 0, 100) == [0, 20, 40, 60, 80, 100]


def test_marks_are_closer_where_a_square_root_rises_fast() -> None:
    # Points 10 √x. Between 20 and 40 the 30 is 8.5 points from 40; between 40 and 60 the 50 is only 7.5 from 40.
    # 5 and 2 are more than 8 from both neighbours, 15 is 7.1 from 10, and 1 is 4.1 from 2.
    assert marks({"coefficient": 10.0, "transform": "sqrt"}, 0, 100) == [0, 2, 5, 10, 20, 30, 40, 60, 80, 100]


def test_axis_has_at_most_sixteen_marks() -> None:
    # Points x². Ends, the turn at 0 and every 5; then 8, 6 and 4; then 9 and 7; then -9.5, which is the sixteenth:
    # -8.5 and 8.5, 8.25 and 8.75 points from their neighbours, would be the next.
    right = [4, 5, 6, 7, 8, 9, 10]
    assert marks({"coefficient": 1.0, "transform": "square"}, -10, 10) == [
        *(-10, -9.5, -9, -8, -7, -6, -5, -4, 0),
        *right,
    ]


def test_finer_number_is_marked_only_where_its_step_is_worth_four_points() -> None:
    # Points x² / 675. Every 50 first; of the twenties 180 and 220. Of the tens 130 stands 10.2 and 8.3 points from 100
    # and 150, and its step up to 140 is worth (19600 - 16900) / 675 = 4. Of the fives 235 stands 10.1 and 10.8 points
    # from 220 and 250, but its steps are worth 3.4 and 3.5.
    square = {"coefficient": 1.0, "transform": "square"}
    expected = [100, 130, 150, 180, 200, 220, 250, 270]
    assert marks(square, 100, 270, 67500.0) == expected
    assert marks(square, -270, -100, 67500.0) == [-number for number in reversed(expected)]


def test_predictor_of_tiny_numbers_has_marks() -> None:
    expected = [number * 1e-12 for number in (0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)]
    assert marks({"coefficient": 1e12}, 0, 1e-10) == pytest.approx(expected, rel=1e-12, abs=0)


def test_predictor_of_few_whole_numbers_is_read_value_by_value() -> None:
    formula = model({"predictor": "sex", "coefficient": 0.5})
    found = present(nomogram.nomogram(formula, {"sex": Feature("sex", np.array([0.0, 1, 1, 0, math.nan]))}))
    assert found.axes[0].levels == ("0", "1")
    assert [row.value for row in nomogram.level_points(found, found.axes[0])] == [0, 100]
    assert found.axes[0].n == 4
    assert found.axes[0].marked.all()
    assert not found.axes[0].turns.any()


@pytest.mark.parametrize(
    ("values", "is_by_value"),
    [(np.arange(10.0), True), (np.arange(11.0), False), (np.array([0.5, 1.75]), False), (np.array([0.5]), True)],
)
def test_numbers_are_read_value_by_value_when_ten_or_fewer_and_whole(values: Floats, is_by_value: bool) -> None:
    term = model({"predictor": "x", "coefficient": 0.5}).term[0]
    assert (nomogram.axis(term, Feature("x", values.repeat(30))).levels is not None) == is_by_value


def test_categories_of_a_numeric_column_are_matched_by_number() -> None:
    formula = model({"predictor": "pain", "levels": {"2": 0.8, "4": 2.3}})
    column = Feature("pain", np.array([1.0, 2, 3, 4, math.nan]))
    np.testing.assert_array_equal(equation.effect(formula.term[0], column), [0, 0.8, 0, 2.3, math.nan])


def test_numbers_of_a_categorical_column_are_read_as_numbers() -> None:
    term = model({"predictor": "meno", "coefficient": 0.4, "transform": "square"}).term[0]
    column = Feature("meno", np.array([0.0, 1, 2, math.nan]), ("0", "1", "3"))
    np.testing.assert_allclose(equation.effect(term, column), [0, 0.4, 3.6, math.nan])


def test_model_without_effect_has_no_points() -> None:
    formula = model({"predictor": "age", "coefficient": 0.0})
    found = nomogram.nomogram(formula, {"age": Feature("age", np.arange(30.0))})
    assert found == Said("no predictor of the formula changes the risk")


def test_declared_threshold_stands_among_the_round_risks() -> None:
    curve = curved(nomogram.risk_curve(on_ticks_of_r(), (0.123,)))
    position = curve.columns["risk"].index(0.123)
    linear = math.log(0.123 / 0.877)
    assert curve.columns["linear_predictor"][position] == pytest.approx(linear, abs=1e-12)
    info = GOLDEN["default"]["info"]
    assert curve.columns["total_points"][position] == pytest.approx((linear - info["Intercept"]) * info["sc"], abs=1e-6)


def test_totals_that_reach_no_round_risk_say_so() -> None:
    assert nomogram.risk_curve(one_axis(-20.0, 0.1), ()) == Said("the totals reach no round risk")


def one_axis(intercept: float, width: float) -> Nomogram:
    """A predictor of two categories, the first without effect."""
    marks = np.ones(2, dtype=bool)
    axis = Axis("age", np.array([0.0, 1.0]), np.array([0.0, width]), marks, ~marks, 10, levels=("a", "b"))
    return present(nomogram.scaled(intercept, (axis,)))


def test_round_risks_are_one_two_and_five_of_each_decade_and_tenths_mirrored_about_a_half() -> None:
    small = [digit / decade for decade in (1000, 100) for digit in (1, 2, 5)]
    tenths = [tenth / 10 for tenth in range(1, 10)]
    expected = [*small, *tenths, *(1 - risk for risk in reversed(small))]
    curve = curved(nomogram.risk_curve(one_axis(-40.0, 80.0), ()))
    assert curve.columns["risk"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("intercept", "total"), [(0.0, 0), (-1.0, 100)])
def test_risk_at_either_end_of_the_totals_is_marked(intercept: float, total: float) -> None:
    # A half is a linear predictor of 0: that of no points with an intercept of 0, that of all of them with one of -1.
    curve = curved(nomogram.risk_curve(one_axis(intercept, 1.0), ()))
    assert dict(zip(curve.columns["risk"], curve.columns["total_points"], strict=True))[0.5] == total


def test_total_runs_in_hundredths_from_none_to_all() -> None:
    curve = nomogram.total_curve(one_axis(-1.0, 4.0))
    assert curve.columns["total_points"] == pytest.approx(range(101))
    linear = [-1 + 0.04 * index for index in range(101)]
    assert curve.columns["linear_predictor"] == pytest.approx(linear)
    assert curve.columns["risk"] == pytest.approx([1 / (1 + math.exp(-value)) for value in linear])


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=50)
def test_difference_from_the_formula_row_by_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    age, sex = rng.uniform(20, 80, 30), rng.integers(0, 2, 30).astype(float)
    risk = 1 / (1 + np.exp(-(-1 + 0.02 * age + 0.5 * sex)))
    risk = np.where(rng.uniform(size=30) < 0.2, np.clip(risk + rng.normal(0, 0.01, 30), 0, 1), risk)
    age[rng.uniform(size=30) < 0.1] = math.nan
    sex[rng.uniform(size=30) < 0.1] = math.nan
    formula = model(
        {"predictor": "age", "coefficient": 0.02}, {"predictor": "sex", "levels": {"m": 0.5}}, intercept=-1.0
    )
    found = estimated(
        nomogram.formula_difference(formula, risk, (Feature("age", age), Feature("sex", sex, ("f", "m"))))
    )
    # The largest difference, how many rows differ and how many lack a value, row by row.
    largest, differing, left_out = 0.0, 0, 0
    for tested, years, code in zip(risk, age, sex, strict=True):
        if math.isnan(years) or math.isnan(code):
            left_out += 1
            continue
        apart = abs(1 / (1 + math.exp(-(-1 + 0.02 * years + (0.5 if code == 1 else 0)))) - tested)
        largest, differing = max(largest, apart), differing + (apart > 0.001)
    assert found.value == pytest.approx(largest, abs=1e-12)
    assert found.details == {"differing": differing, "left_out": left_out}
    assert found.n == 30 - left_out


def test_row_that_differs_by_a_thousandth_does_not_count_as_differing() -> None:
    # So low a linear predictor is a risk of 0, so that the difference is 0.001 without rounding.
    formula = model({"predictor": "age", "coefficient": 1.0}, intercept=-2000.0)
    age = Feature("age", np.array([50.0, 50.0]))
    found = estimated(nomogram.formula_difference(formula, np.array([0.001, 0.0]), (age,)))
    assert (found.value, found.details["differing"]) == (0.001, 0)


def test_site_without_a_predictor_of_the_formula_is_not_compared() -> None:
    formula = model({"predictor": "age", "coefficient": 0.02}, {"predictor": "crp", "coefficient": 0.1})
    age = Feature("age", np.array([50.0]))
    found = nomogram.formula_difference(formula, np.array([0.5]), (age,))
    assert found == Said("the formula needs crp, which the site does not give")
    gone = (Feature("age", np.array([math.nan])), Feature("crp", np.array([1.0])))
    assert nomogram.formula_difference(formula, np.array([0.5]), gone) == Said(
        "no row has every predictor of the formula"
    )
