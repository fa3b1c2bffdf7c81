"""A declared formula through the stages: its points belong to no site, and a formula of another model is a flag."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dossier import flags, load
from dossier.evaluate import model
from dossier.types import MODEL, Absent, Curve, DatasetSummary, Estimate, Result, Study

BREAST = Path(__file__).resolve().parent.parent / "fixtures" / "breast"


@pytest.fixture(scope="module")
def study() -> Study:
    return load.study(BREAST)


def test_points_of_numbers_are_curves_and_those_of_categories_descriptions(study: Study) -> None:
    found = model.points(study)
    curves = {one.at.get("predictor", one.curve): one for one in found.curves}
    assert set(curves) == {"age", "nodes", "pgr", "er", "points_total", "points_risk"}
    assert {one.dataset for one in found.curves} | {row.dataset for row in found.descriptions} == {MODEL}
    assert {row.described.variable for row in found.descriptions} == {"menopause", "size_band", "grade"}


def test_axes_reach_as_far_as_the_development_table(study: Study) -> None:
    nodes = next(one.found for one in model.points(study).curves if one.at == {"predictor": "nodes"})
    development = next(one for one in study.datasets if one.role == "development")
    values = np.sort(next(one.values for one in development.predictors if one.name == "nodes"))
    assert isinstance(nodes, Curve)
    assert (nodes.columns["value"][0], nodes.columns["value"][-1]) == (values[9], values[-10])
    assert nodes.n == len(values)


def test_without_development_rows_the_other_tables_say_how_far(study: Study) -> None:
    others = replace(study, datasets=tuple(one for one in study.datasets if one.role != "development"))
    nodes = next(one.found for one in model.points(others).curves if one.at == {"predictor": "nodes"})
    assert isinstance(nodes, Curve)
    assert nodes.n == sum(len(one.predictors[0].values) for one in others.datasets if one.predictors)


def test_predictor_that_no_dataset_holds_leaves_no_points(study: Study) -> None:
    bare = replace(study, datasets=tuple(replace(one, predictors=()) for one in study.datasets))
    (only,) = model.points(bare).curves
    assert isinstance(only.found, Absent)
    assert "no dataset holds age" in only.found.reason


def raised(differing: float, n: int) -> list[str]:
    site = DatasetSummary("a", "external", "Desio", n, n // 2, n, {}, ())
    found = Estimate(0.02, None, None, None, n, "m", details={"differing": differing, "left_out": 7.0})
    rows = flags.raised((site,), (Result("formula_difference", "formula_difference", "a", {}, found),), (), ())
    return [flag.says for flag in rows if flag.flag == "model_differs"]


@pytest.mark.parametrize(("differing", "n"), [(4, 1000), (300, 1000), (2, 15)])
def test_formula_of_another_model_is_a_flag_with_its_numbers(differing: int, n: int) -> None:
    (says,) = raised(differing, n)
    for part in ("Desio", f"in {differing:,} of {n:,} rows", "0.001", "0.0200", "7 with a missing predictor"):
        assert part in says


@pytest.mark.parametrize(("differing", "n"), [(0, 1000), (3, 1000), (1, 15)])
def test_few_rows_are_no_flag(differing: int, n: int) -> None:
    assert raised(differing, n) == []
