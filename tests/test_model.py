"""A declared formula through the stages: its points belong to no site, and a formula of another model is a flag."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dossier import evaluate, reading
from dossier.core import flags, types
from dossier.core.facts import Fact, Method
from dossier.core.release import Model, ModelTerm
from dossier.evaluate import model
from dossier.report import compose, draw
from dossier.typeset.flags import flag_text
from dossier.typeset.reasons import reason_text
from tests import gusto
from tests.estimated import absent, curved, estimated
from tests.reference.built import hurried

BREAST = Path(__file__).resolve().parent.parent / "fixtures" / "breast"


@pytest.fixture(scope="module")
def study() -> types.Study:
    return reading.study(BREAST)


def test_points_of_numbers_are_curves_and_those_of_categories_descriptions(study: types.Study) -> None:
    found = model.points(study)
    curves = {curve.at.get("predictor", curve.curve): curve for curve in found.curves}
    assert set(curves) == {"age", "nodes", "pgr", "er", "points_total", "points_risk"}
    assert {curve.dataset for curve in found.curves} | {row.dataset for row in found.descriptions} == {types.MODEL}
    assert {row.described.variable for row in found.descriptions} == {"menopause", "size_band", "grade"}


def test_axes_reach_as_far_as_the_development_table(study: types.Study) -> None:
    nodes = curved(next(curve.found for curve in model.points(study).curves if curve.at == {"predictor": "nodes"}))
    development = next(dataset for dataset in study.datasets if dataset.role == "development")
    values = np.sort(next(predictor.values for predictor in development.predictors if predictor.name == "nodes"))
    assert (nodes.columns["value"][0], nodes.columns["value"][-1]) == (values[9], values[-10])
    assert nodes.n == len(values)


def test_without_development_rows_the_other_tables_say_how_far(study: types.Study) -> None:
    others = replace(study, datasets=tuple(dataset for dataset in study.datasets if dataset.role != "development"))
    nodes = curved(next(curve.found for curve in model.points(others).curves if curve.at == {"predictor": "nodes"}))
    assert nodes.n == sum(len(dataset.predictors[0].values) for dataset in others.datasets if dataset.predictors)


def test_predictor_that_no_dataset_holds_leaves_no_points(study: types.Study) -> None:
    bare = replace(study, datasets=tuple(replace(dataset, predictors=()) for dataset in study.datasets))
    (only,) = model.points(bare).curves
    assert "no dataset holds age" in reason_text(absent(only.found).reason)


def raised(differing: float, n: int) -> list[str]:
    site = types.DatasetSummary("a", "external", "Desio", n, n // 2, n, {}, ())
    found = types.Estimate(0.02, None, None, None, n, Method("wald"), details={"differing": differing, "left_out": 7.0})
    results = (types.Result("formula_difference", "formula_difference", "a", {}, found),)
    rows = flags.raised(flags.Shown((site,), results))
    return [flag_text(flag.fact) for flag in rows if flag.flag == "model_differs"]


@pytest.mark.parametrize(("differing", "n"), [(4, 1000), (300, 1000), (2, 15)])
def test_formula_of_another_model_is_a_flag_with_its_numbers(differing: int, n: int) -> None:
    (says,) = raised(differing, n)
    for part in ("Desio", f"in {differing:,} of {n:,} rows", "0.001", "0.0200", "7 with a missing predictor"):
        assert part in says


@pytest.mark.parametrize(("differing", "n"), [(0, 1000), (3, 1000), (1, 15)])
def test_few_rows_are_no_flag(differing: int, n: int) -> None:
    assert raised(differing, n) == []


@pytest.mark.parametrize(("differing", "left"), [(0, ["sex"]), (300, ["chol", "sex"])])
def test_what_the_formula_does_not_use_decides_no_risk_where_the_risks_are_its_own(
    differing: int, left: list[str]
) -> None:
    formula = Model(intercept=0.0, term=(ModelTerm(predictor="sex", coefficient=1.0),))
    found = types.Estimate(0.0, None, None, None, 1000, Method("wald"), details={"differing": float(differing)})
    results = (types.Result("formula_difference", "formula_difference", "a", {}, found),)
    shares = tuple(Fact("missing_share", predictor=name, share=0.5) for name in ("chol", "sex"))
    given = (
        types.Flag("missing_values", "a", Fact("often_missing", site="Desio", often=shares), columns=("chol", "sex")),
        types.Flag(
            "missing_predictor", "a", Fact("missing_in_every_row", predictors=("ca",), dataset="a"), columns=("ca",)
        ),
        types.Flag("constant_risk", "a", Fact("constant_risks", dataset="a")),
    )
    kept = {flag.flag: flag for flag in flags.of_used_predictors(given, formula, results)}
    assert list(kept["missing_values"].columns) == left
    assert ("chol" in flag_text(kept["missing_values"].fact)) is ("chol" in left)
    assert ("missing_predictor" in kept) is (differing > 0)
    assert "constant_risk" in kept
    assert tuple(flags.of_used_predictors(given, None, ())) == given


# ---- the form of a published equation -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return gusto.write(tmp_path_factory.mktemp("gusto"))


def differing(folder: Path) -> list[str]:
    found = evaluate.evidence(hurried(reading.study(folder)))
    return [flag_text(flag.fact) for flag in found.flags if flag.flag == "model_differs"]


def test_the_form_of_lees_equation_can_be_said(published: Path, tmp_path: Path) -> None:
    """Its risks were worked out row by row by other code; an intercept that is off, or a lost product, is seen."""
    found = evaluate.evidence(hurried(reading.study(published)))
    (same,) = [result.found for result in found.results if result.measure == "formula_difference"]
    assert estimated(same).value < 1e-12
    assert differing(published) == []
    assert differing(gusto.write(tmp_path / "a", gusto.MODEL.replace("-3.0203", "-2.5203")))
    assert differing(gusto.write(tmp_path / "b", gusto.MODEL.replace("cap = 120\n", "")))
    assert differing(gusto.write(tmp_path / "c", gusto.MODEL.replace("-0.0242, 0.0191", "0.0191, 0.0191")))


def test_its_terms_are_drawn(published: Path) -> None:
    gallery = draw.gallery(evaluate.evidence(hurried(reading.study(published))))
    picture = gallery.pictures["nomogram"]
    for text in ("age (killip I)", "age (killip IV)", "120 or more", "Anterior"):
        assert text in picture.svg.decode()
    html = compose.document(gallery, "supplement").html
    for text in ("age × killip", "At most 120", "Piecewise linear, slope changes at 50", "above 50:"):
        assert text in html.replace("\N{NO-BREAK SPACE}", " ")


def test_a_product_that_no_axis_can_show_is_said_in_words(tmp_path: Path) -> None:
    product = '[[model.term]]\npredictor = "age"\nwith = "sysbp"\ncoefficient = 0.0001\n'
    formula = gusto.MODEL + product
    found = evaluate.evidence(hurried(reading.study(gusto.write(tmp_path, formula))))
    html = compose.document(types.Gallery(found, {}, {}), "supplement").html
    assert "No nomogram is drawn: products join age, killip, sysbp" in html
