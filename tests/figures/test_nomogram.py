"""The points nomogram: every line, tick and label read back from its artists, from one predictor to forty."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dossier.core import types
from dossier.metrics import nomogram
from dossier.report.figures import nomogram as drawing
from dossier.report.figures.canvas import styled
from tests.estimated import curved, present
from tests.figures.drawings import in_style, x_of
from tests.figures.evidence import bare
from tests.figures.text_boxes import assert_apart, text_boxes
from tests.reasons import Said

Term = Mapping[str, Any]
Terms = Mapping[str, tuple[Term, types.Feature]]
RNG = np.random.default_rng(11)
LONG = "Severity of the affected joint, as read by"


def evidence(
    terms: Mapping[str, tuple[Term, types.Feature]], intercept: float = -1.0, primary: float | None = 0.3
) -> types.Evidence:
    """The evidence of a formula, its axes as far as these rows reach."""
    release = bare(
        thresholds={"declared": () if primary is None else (primary,)},
        dataset=({"name": "a", "role": "external", "file": "a.csv"},),
        model={"intercept": -1.0, "term": tuple({"predictor": name, **term} for name, (term, _) in terms.items())},
    )
    found = nomogram.nomogram(present(release.model), {name: feature for name, (_, feature) in terms.items()})
    curves: list[types.CurveResult] = []
    rows: list[types.DescriptionResult] = []
    if isinstance(found, types.Absent):
        curves.append(types.CurveResult("points_total", types.MODEL, found))
    else:
        curves += [
            types.CurveResult("points", types.MODEL, nomogram.axis_curve(found, axis), {"predictor": axis.predictor})
            for axis in found.axes
            if axis.levels is None
        ]
        thresholds = release.thresholds.declared
        curves.append(types.CurveResult("points_total", types.MODEL, nomogram.total_curve(found)))
        curves.append(types.CurveResult("points_risk", types.MODEL, nomogram.risk_curve(found, thresholds)))
        rows = [
            types.DescriptionResult(types.MODEL, row)
            for axis in found.axes
            for row in nomogram.level_points(found, axis)
        ]
    return types.Evidence(release, (), (), tuple(curves), tuple(rows), (), {}, {}, (), {})


def numbers(low: float, high: float, rows: int = 400) -> types.Feature:
    return types.Feature("x", RNG.uniform(low, high, rows))


def categories(*levels: str) -> types.Feature:
    return types.Feature("x", np.arange(400.0) % len(levels), levels)


AGE: tuple[Term, types.Feature] = (
    {"knots": (36.0, 50.0, 63.0, 77.0), "coefficients": (-0.06, 0.12, -0.33)},
    numbers(25, 85),
)
TWELVE = tuple(f"ward {index}" for index in range(1, 13))
CASES: dict[str, Terms] = {
    "one": {"age": ({"coefficient": 0.03}, numbers(20, 90))},
    "one_category": {"sex": ({"levels": {"male": 0.5}}, categories("female", "male"))},
    "four": {
        "age": AGE,
        "nodes": ({"coefficient": 0.4, "transform": "sqrt"}, types.Feature("x", RNG.poisson(9, 400).astype(float))),
        "marker": ({"coefficient": -0.01}, numbers(0, 100)),
        "grade": ({"levels": {"2": 0.3, "3": 0.9}}, categories("1", "2", "3")),
    },
    "twenty": {f"predictor {index}": ({"coefficient": 0.02 * (index + 1)}, numbers(0, 10)) for index in range(20)},
    "forty": {f"predictor {index}": ({"coefficient": 0.02 * (index + 1)}, numbers(0, 10)) for index in range(40)},
    "twelve_levels": {
        "age": ({"coefficient": 0.03}, numbers(20, 90)),
        "ward": ({"levels": {level: 0.11 * index for index, level in enumerate(TWELVE)}}, categories(*TWELVE)),
        "close": ({"levels": {level: 0.02 * index for index, level in enumerate(TWELVE)}}, categories(*TWELVE)),
    },
    "long_labels": {
        f"{LONG} two readers": (
            {"levels": {f"{LONG} reader {index}": 0.3 * index for index in range(1, 7)}},
            categories(*(f"{LONG} reader {index}" for index in range(7))),
        ),
        "interleukin_6_concentration_in_plasma_x": ({"coefficient": 0.03}, numbers(20, 90)),
    },
    "tiny": {
        "age": ({"coefficient": 0.05}, numbers(20, 90)),
        "sex": ({"levels": {"male": 0.001}}, categories("female", "male")),
        "sodium": ({"coefficient": -0.0004}, numbers(120.5, 150.5)),
        "ferritin": ({"coefficient": 0.5, "transform": "log"}, types.Feature("x", np.exp(RNG.normal(5, 1.5, 400)))),
    },
    "sure": {"age": ({"coefficient": 0.9}, numbers(20, 90))},
}
EVIDENCE = {name: evidence(terms) for name, terms in CASES.items()}


def figure(case: str) -> Figure:
    return in_style(drawing.draw_nomogram, EVIDENCE[case])


def lines(drawn: Figure, prefix: str) -> list[Line2D]:
    return [line for line in drawn.axes[0].lines if str(line.get_gid()).startswith(prefix)]


def points_at(x: float, whole: float = 100.0) -> float:
    """What the scale says at a place, read from its ends."""
    return (x - drawing.LEFT) / (drawing.RIGHT - drawing.LEFT) * whole


def test_scale_of_points_runs_from_none_to_a_hundred() -> None:
    drawn = figure("four")
    (scale,) = [line for line in lines(drawn, "axis-points") if line.get_gid() == "axis-points"]
    assert x_of(scale).tolist() == [drawing.LEFT, drawing.RIGHT]
    ticks = sorted({points_at(float(x_of(line)[0])) for line in lines(drawn, "tick-points")})
    np.testing.assert_allclose(ticks, range(0, 101, 10))


def test_ticks_of_a_number_stand_at_its_points() -> None:
    drawn = figure("four")
    curve = curved(types.find_curve(EVIDENCE["four"], "points", types.MODEL, predictor="nodes"))
    marks = [p for p, marked in zip(curve.columns["points"], curve.columns["marked"], strict=True) if marked]
    ticks = [points_at(float(x_of(line)[0])) for line in lines(drawn, "tick-nodes")]
    np.testing.assert_allclose(sorted(ticks), sorted(float(mark or 0) for mark in marks), atol=1e-9)


def test_label_stands_at_the_points_of_its_value() -> None:
    """The formula, not the curve, says where a labelled value belongs."""
    with styled():
        drawn = figure("four")
        below = _labels_below(drawn, "nodes")
    assert len(below) >= 4
    per_unit = _per_unit(EVIDENCE["four"])
    low = min(value for value, _ in below)
    for value, x in below:
        expected = 0.4 * (math.sqrt(value) - math.sqrt(low)) * per_unit
        assert points_at(x) == pytest.approx(expected, abs=1.0), value


def _per_unit(found: types.Evidence) -> float:
    curve = curved(types.find_curve(found, "points_total", types.MODEL))
    total, linear = curve.columns["total_points"], curve.columns["linear_predictor"]
    return float(total[-1] or 0) / (float(linear[-1] or 0) - float(linear[0] or 0))


def _labels_below(drawn: Figure, name: str) -> list[tuple[float, float]]:
    """Value and place of the labels of an axis: those on the line of text under it, at a tick of their own."""
    (axis,) = lines(drawn, f"axis-{name}-0")
    y = float(np.asarray(axis.get_ydata(), dtype=float)[0]) + drawing.FIRST_LINE
    found = []
    for text in drawn.axes[0].texts:
        x, height = text.get_position()
        if abs(height - y) < 1e-9 and re.fullmatch(r"[\d.]+", text.get_text()):
            found.append((float(text.get_text()), float(x)))
    return found


def test_axis_folds_where_points_turn() -> None:
    drawn = figure("four")
    strands = lines(drawn, "axis-age")
    assert len(strands) == 3
    folds = [float(x_of(line)[0]) for line in lines(drawn, "fold-age")]
    curve = curved(types.find_curve(EVIDENCE["four"], "points", types.MODEL, predictor="age"))
    turns = [float(p or 0) for p, turn in zip(curve.columns["points"], curve.columns["turn"], strict=True) if turn]
    np.testing.assert_allclose([points_at(x) for x in folds], turns, atol=0.2)
    heights = [float(np.asarray(strand.get_ydata(), dtype=float)[0]) for strand in strands]
    assert heights == sorted(heights)


def test_categories_stand_at_their_points() -> None:
    drawn = figure("twelve_levels")
    rows = [row.described for row in EVIDENCE["twelve_levels"].descriptions if row.described.variable == "ward"]
    ticks = [points_at(float(x_of(line)[0])) for line in lines(drawn, "tick-ward")]
    np.testing.assert_allclose(sorted(ticks), sorted(row.value for row in rows), atol=1e-9)
    texts = {text.get_text() for text in drawn.axes[0].texts}
    assert set(TWELVE) <= texts


def test_categories_at_one_place_share_a_label() -> None:
    found = evidence({"grade": ({"levels": {"3": 0.9}}, categories("1", "2", "3"))})
    drawn = in_style(drawing.draw_nomogram, found)
    assert "1, 2" in {text.get_text() for text in drawn.axes[0].texts}


def test_risk_stands_under_its_total() -> None:
    """Labelled risks: the logarithm of their odds on the scale of the linear predictor."""
    drawn = figure("four")
    curve = curved(types.find_curve(EVIDENCE["four"], "points_total", types.MODEL))
    whole, zero = float(curve.columns["total_points"][-1] or 0), float(curve.columns["linear_predictor"][0] or 0)
    bottom = max(text.get_position()[1] for text in drawn.axes[0].texts)
    labels = [text for text in drawn.axes[0].texts if abs(text.get_position()[1] - bottom) < 1e-9]
    assert len(labels) >= 5
    for text in labels:
        risk = float(text.get_text())
        expected = (math.log(risk / (1 - risk)) - zero) * _per_unit(EVIDENCE["four"])
        assert points_at(float(text.get_position()[0]), whole) == pytest.approx(expected, abs=1e-6)


def test_primary_threshold_is_marked_with_its_points() -> None:
    drawn = figure("four")
    total = drawing.totals_by_risk(EVIDENCE["four"])[0.3]
    whole = sum(row.span for row in drawing.rows(EVIDENCE["four"]))
    for mark in lines(drawn, "threshold"):
        assert points_at(float(x_of(mark)[0]), whole) == pytest.approx(total, abs=1e-6)
    assert f"{total:.0f} points: risk 0.30" in {text.get_text() for text in drawn.axes[0].texts}


def test_risks_beyond_every_round_number_are_put_in_words() -> None:
    drawn = figure("sure")
    assert "above 0.999 at every total" in {text.get_text() for text in drawn.axes[0].texts}


def test_categories_without_room_are_counted() -> None:
    """Twelve within a centimetre and a half cannot be told apart: the table tells them."""
    drawn = figure("twelve_levels")
    texts = {text.get_text() for text in drawn.axes[0].texts}
    ticks = [points_at(float(x_of(line)[0])) for line in lines(drawn, "tick-close")]
    assert len(ticks) == 12
    assert "12 categories, ward 1 to ward 12: see the table" in texts


def test_shortened_categories_still_differ() -> None:
    drawn = figure("long_labels")
    texts = [text.get_text() for text in drawn.axes[0].texts]
    cut = [text for text in texts if "…" in text]
    assert len(cut) == len(set(cut))
    # All seven begin with the same words and differ in the last: that is kept, from reader 6 down to reader 0.
    start = next(index for index, text in enumerate(texts) if text == "joint") + 1
    assert [text.split()[-1] for text in texts[start : start + 7]] == [str(index) for index in range(6, -1, -1)]


@pytest.mark.parametrize(
    "start", ["interleukin_6_concentration_in_plasma_of_", "Concentration in plasma of the patient at "]
)
def test_shortened_predictors_still_differ(start: str) -> None:
    numeric = {f"{start}{end}": ({"coefficient": 0.03}, numbers(20, 90)) for end in ("entry", "leave", "visit")}
    drawn = in_style(drawing.draw_nomogram, evidence(numeric))
    texts = [text.get_text() for text in drawn.axes[0].texts]
    assert all(any(text.endswith(end) for text in texts) for end in ("ry", "ve", "it"))


def test_no_threshold_no_mark() -> None:
    drawn = in_style(drawing.draw_nomogram, evidence(CASES["four"], primary=None))
    assert not lines(drawn, "threshold")


@pytest.mark.parametrize("case", CASES)
def test_every_text_is_readable(case: str) -> None:
    with styled():
        drawn = figure(case)
        assert_apart(text_boxes(drawn), drawn, drawing.TALLEST + 12, slack=0.25)


@pytest.mark.parametrize("case", CASES)
def test_no_stem_runs_through_a_label(case: str) -> None:
    with styled():
        drawn = figure(case)
        boxes = text_boxes(drawn)
    for line in [*lines(drawn, "tick"), *lines(drawn, "fold")]:
        x = float(x_of(line)[0])
        top, bottom = sorted(np.asarray(line.get_ydata(), dtype=float).tolist())
        for box in boxes:
            inside = box.left + 0.1 < x < box.right - 0.1
            assert not (inside and min(bottom, box.bottom - 0.4) - max(top, box.top + 0.4) > 0.2), box.text


def test_predictors_without_room_are_those_with_the_smallest_effects() -> None:
    every = drawing.rows(EVIDENCE["forty"])
    kept = drawing.shown_rows(every)
    assert 15 <= len(kept) < 40
    assert min(row.span for row in kept) >= max(row.span for row in every if row not in kept)
    found = in_style(drawing.nomogram, EVIDENCE["forty"])
    assert f"{40 - len(kept)}\N{NO-BREAK SPACE}predictors with the smallest effects: see the table." in found.caption


def test_words_state_the_points() -> None:
    found = in_style(drawing.nomogram, EVIDENCE["four"])
    rows = drawing.rows(EVIDENCE["four"])
    widest = max(rows, key=lambda row: row.span)
    assert f"{widest.name} 100" in found.alternative
    assert f"up to {sum(row.span for row in rows):.0f} points" in found.alternative
    assert "400\N{NO-BREAK SPACE}patients" in found.caption
    assert "age: points turn" in found.caption


def test_release_without_a_formula_has_no_nomogram() -> None:
    found = evidence({"age": ({"coefficient": 0.0}, numbers(20, 90))})
    assert drawing.nomogram(found) == Said("no predictor of the formula changes the risk")
