"""Outcomes by a horizon against R: values, standard errors and intervals of every measure, at every horizon."""

from __future__ import annotations

import csv
import doctest
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dossier
from dossier.core.equation import spline_design
from dossier.core.types import Estimate, Floats
from dossier.metrics.calibration import calibration_curve
from dossier.metrics.censoring import By, TimeToEvent
from dossier.metrics.logistic import combine
from dossier.metrics.shares import Design
from dossier.metrics.smooth_curve import curve_at, smooth_curve
from tests.estimated import curved, present

FOLDER = Path(__file__).with_name("time_to_event")
R: dict[str, Any] = json.loads((FOLDER / "survival_reference.json").read_text(encoding="utf-8"))
VALUE, ERROR = 1e-9, 1e-6
YEAR = 365.25


@cache
def table(name: str) -> dict[str, Floats]:
    """The columns of a table."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([row[key] for row in rows], dtype=float) for key in rows[0] if key != "sex"}


GBSG = {f"gbsg {year} years": ("gbsg", f"t{year}", year, f"risk_{year}y") for year in (2, 3, 5)}
CASES = {
    **GBSG,
    "gbsg 5 years with PGR": ("gbsg_pgr", "t5", 5, "risk_pgr_5y"),
    **{f"mgus2 {month} months": ("mgus2", f"t{month}", month, f"risk_{month}") for month in (60, 120)},
}


def case(name: str, by: By) -> tuple[TimeToEvent, Floats, dict[str, Any]]:
    """The outcome, the risks, and all that R says of them."""
    source, at, horizon, column = CASES[name]
    if source == "mgus2":
        rows = table("mgus2_competing")
        return TimeToEvent(rows["months"], rows["status"], horizon, by), rows[column], R[source][at]
    rows = table("gbsg_survival")
    return TimeToEvent(rows["days"] / YEAR, rows["event"], horizon, by), rows[column], R[source][at]


SCALES: dict[str, tuple[Any, Any]] = {
    "plain": (lambda value: value, lambda value: value),
    "log": (math.log, math.exp),
    "logit": (lambda value: math.log(value / (1 - value)), lambda value: 1 / (1 + math.exp(-value))),
    "cloglog": (lambda value: math.log(-math.log1p(-value)), lambda value: -math.expm1(-math.exp(value))),
}


def bounded_as(found: Estimate, low: float, high: float, scale: str) -> None:
    """The bounds of R, whose quantile is the normal one: here it is Student's with the degrees of freedom that are
    given.
    """
    there, back = SCALES[scale]
    freedom = found.details.get("df") or math.inf
    longer = stats.t.ppf(0.975, freedom) / stats.norm.ppf(0.975) if math.isfinite(freedom) else 1.0
    assert 1 <= longer < 1.1
    for ours, bound in ((found.low, low), (found.high, high)):
        middle = there(found.value)
        assert ours == pytest.approx(back(middle + longer * (there(bound) - middle)), abs=ERROR)


def same(found: Any, expected: dict[str, float], units: float | None = None, scale: str = "plain") -> None:
    """Value, standard error and bounds; `units` where R's variance is over as many and not one less."""
    assert isinstance(found, Estimate), found
    factor = 1.0 if units is None else math.sqrt((units - 1) / units)
    assert found.value == pytest.approx(expected["value"], abs=VALUE)
    assert present(found.se) * factor == pytest.approx(expected["se"], abs=ERROR)
    if "lower" in expected and units is None:
        bounded_as(found, expected["lower"], expected["upper"], scale)


def of_log(expected: dict[str, float]) -> dict[str, float]:
    """R's O/E, whose standard error is on the log scale."""
    return {**expected, "se": expected["se_log"] * expected["value"]}


@pytest.mark.parametrize("by", ["fifths", "marginal"])
@pytest.mark.parametrize("name", CASES)
def test_measures_are_those_of_r(name: str, by: By) -> None:
    outcome, risk, every = case(name, by)
    expected = every if by == "marginal" else every["recommended"]["stratified"]
    found = present(dossier.metrics.observed_risk(outcome, risk))
    same(found, expected["observed"])
    if by == "marginal":
        low, high = expected["observed"]["cloglog"]
        bounded_as(found, low, high, "cloglog")
    same(dossier.metrics.oe_ratio(outcome, risk), of_log(expected["oe"]), scale="log")
    same(dossier.metrics.auroc(outcome, risk), expected["auc"], scale="logit")
    same(dossier.metrics.brier(outcome, risk), expected["brier"])
    same(dossier.metrics.scaled_brier(outcome, risk), expected["ipa"])


@pytest.mark.parametrize("by", ["fifths", "marginal"])
@pytest.mark.parametrize("name", CASES)
def test_calibration_is_that_of_r(name: str, by: By) -> None:
    outcome, risk, every = case(name, by)
    expected = every["recommended"]["stratified" if by == "fifths" else "marginal"]
    # R's variance is the mean of squares.
    same(dossier.metrics.calibration_intercept(outcome, risk), expected["calibration_intercept"], len(risk))
    same(dossier.metrics.calibration_slope(outcome, risk), expected["calibration_slope"], len(risk))
    same(dossier.metrics.calibration_intercept_joint(outcome, risk), expected["joint_intercept"], len(risk))
    for measure in ("ICI", "E50", "E90", "Emax"):
        found = getattr(dossier.metrics, measure.lower())(outcome, risk, bootstrap=20)
        assert found.value == pytest.approx(expected["curve"]["errors"][measure], abs=VALUE)
        assert present(found.low) <= found.value <= found.high


@pytest.mark.parametrize("by", ["fifths", "marginal"])
@pytest.mark.parametrize("name", CASES)
def test_the_curve_is_that_of_r(name: str, by: By) -> None:
    outcome, risk, every = case(name, by)
    expected = every["recommended"]["stratified" if by == "fifths" else "marginal"]["curve"]
    weights = outcome.weights(risk)
    smooth = present(smooth_curve(weights.case.astype(float), risk, None, Design(len(risk), censoring=weights)))
    assert smooth.knots == pytest.approx(expected["knots"], abs=VALUE)
    assert smooth.fit.coefficients == pytest.approx(expected["coef"], abs=1e-7)
    at = np.array([point["risk"] for point in expected["points"]])
    columns = spline_design(at, smooth.knots)
    errors = np.sqrt(np.sum(combine(smooth.fit.covariance, columns) * columns, axis=0))
    assert curve_at(smooth, at) == pytest.approx([point["observed"] for point in expected["points"]], abs=VALUE)
    assert errors == pytest.approx([point["se"] for point in expected["points"]], abs=ERROR)


def test_the_curve_that_is_printed_has_the_band_of_r() -> None:
    outcome, risk, every = case("gbsg 5 years", "fifths")
    weights = outcome.weights(risk)
    found = calibration_curve(weights.case.astype(float), risk, design=Design(len(risk), censoring=weights))
    columns = {name: np.array(column, dtype=float) for name, column in curved(found).columns.items()}
    for point in every["recommended"]["stratified"]["curve"]["points"]:
        if columns["risk"][0] <= point["risk"] <= columns["risk"][-1]:
            for name, key in (("observed", "observed"), ("low", "lower"), ("high", "upper")):
                # Straight lines between a hundred points of the curve.
                assert np.interp(point["risk"], columns["risk"], columns[name]) == pytest.approx(point[key], abs=2e-4)


AT_THRESHOLD = {"sens": "sensitivity", "spec": "specificity", "ppv": "ppv", "npv": "npv", "nb": "net_benefit"}


@pytest.mark.parametrize("by", ["fifths", "marginal"])
@pytest.mark.parametrize("name", CASES)
def test_decisions_are_those_of_r(name: str, by: By) -> None:
    outcome, risk, every = case(name, by)
    for expected in (every if by == "marginal" else every["recommended"]["stratified"])["thresholds"]:
        threshold = expected["threshold"]
        for short, measure in AT_THRESHOLD.items():
            if expected.get(short) is None or (measure == "npv" and expected["flagged"] == 1):
                continue
            found = getattr(dossier.metrics, measure)(outcome, risk, threshold)
            assert found.value == pytest.approx(expected[short], abs=VALUE), (measure, threshold)
            # R's spread of a predictive value is over the rows of one side, less one.
            side = {"ppv": risk >= threshold, "npv": risk < threshold}.get(measure, np.ones(len(risk))).sum()
            factor = math.sqrt(side / (side - 1) * (len(risk) - 1) / len(risk)) if side < len(risk) else 1.0
            assert (found.se or 0.0) * factor == pytest.approx(expected[f"{short}_se"], abs=ERROR), (measure, threshold)
        standardized = present(dossier.metrics.standardized_net_benefit(outcome, risk, threshold))
        assert standardized.value == pytest.approx(expected["nb"] / (expected["tp"] + expected["fn"]), abs=VALUE)


@pytest.mark.parametrize("name", CASES)
def test_the_gain_is_over_the_better_default_of_the_same_groups(name: str) -> None:
    outcome, risk, every = case(name, "fifths")
    for expected in every["recommended"]["stratified"]["thresholds"]:
        found = present(dossier.metrics.net_benefit_gain(outcome, risk, expected["threshold"]))
        assert found.value == pytest.approx(min(expected["nb_minus_all"], expected["nb"]), abs=VALUE)
        assert found.details["default"] == pytest.approx(max(expected["nb_all"], 0), abs=VALUE)
        if found.se is not None:
            over_all = expected["nb_minus_all"] < expected["nb"]
            error = expected["nb_minus_all_se" if over_all else "nb_se"]
            assert found.se == pytest.approx(error, abs=ERROR)


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("gbsg")])
def test_concordance_is_that_of_r(name: str) -> None:
    outcome, risk, expected = case(name, "marginal")
    same(dossier.metrics.uno_c(outcome, risk), expected["uno_c"], scale="logit")
    same(dossier.metrics.harrell_c(outcome, risk), expected["harrell_c"], scale="logit")


@pytest.mark.parametrize("name", CASES)
def test_who_leaves_by_risk_is_that_of_r(name: str) -> None:
    outcome, risk, every = case(name, "marginal")
    found, expected = present(dossier.metrics.censoring_by_risk(outcome, risk)), every["censoring_by_risk"]
    assert found.events == expected["n_censored"]
    assert math.log(found.value) == pytest.approx(expected["log_hazard_ratio_per_sd"], abs=VALUE)
    assert present(found.se) / found.value == pytest.approx(expected["se"], abs=ERROR)
    assert found.details["p_value"] == pytest.approx(expected["p"], abs=VALUE)


@pytest.mark.parametrize("at", [2, 3, 5])
def test_the_slope_of_the_follow_up_and_its_change_are_those_of_r(at: int) -> None:
    """By coxph and cox.zph of the package survival."""
    rows, every = table("gbsg_survival"), R["gbsg"][f"t{at}"]
    found = present(
        dossier.metrics.calibration_slope(TimeToEvent(rows["days"], rows["event"], at * 365.25), rows[f"risk_{at}y"])
    )
    assert found.details["over_follow_up"] == pytest.approx(every["cox_slope"]["value"], abs=VALUE)
    assert found.details["p_of_change"] == pytest.approx(every["pkg"]["proportional_hazards_p"], abs=VALUE)


def test_errors_of_wards_are_those_of_r() -> None:
    """R has no correction for few wards; ours takes the share of each, which is not quite 1 of 86 of the last one."""
    rows, expected = table("gbsg_survival"), json.loads((FOLDER / "clusters.json").read_text(encoding="utf-8"))
    outcome, ward = TimeToEvent(rows["days"], rows["event"], 1826.25, "marginal"), np.arange(686) // 8
    few = math.sqrt((expected["wards"] - 1) / expected["wards"])
    for name in ("harrell_c", "uno_c", "observed_risk"):
        found = present(getattr(dossier.metrics, name)(outcome, rows["risk_5y"], cluster=ward))
        assert found.value == pytest.approx(expected[name]["value"], abs=VALUE)
        assert present(found.se) * few == pytest.approx(expected[name]["se"], rel=1e-4)
    found = present(dossier.metrics.censoring_by_risk(outcome, rows["risk_5y"], cluster=ward))
    assert math.log(found.value) == pytest.approx(expected["leaving"]["log_hazard_ratio"], abs=VALUE)
    assert present(found.se) / found.value * few == pytest.approx(expected["leaving"]["se"], rel=1e-4)
    # Tested by t of the wards less one.
    off = abs(math.log(found.value)) / (present(found.se) / found.value)
    assert found.details["p_value"] == pytest.approx(2 * float(stats.t.sf(off, expected["wards"] - 1)), rel=1e-4)


@pytest.mark.parametrize("name", GBSG)
def test_standard_errors_are_within_a_hundredth_of_leaving_rows_out(name: str) -> None:
    outcome, risk, every = case(name, "marginal")
    slow = every["jackknife_se"]
    found = {
        "observed": dossier.metrics.observed_risk(outcome, risk),
        "auc": dossier.metrics.auroc(outcome, risk),
        "brier": dossier.metrics.brier(outcome, risk),
        "ipa": dossier.metrics.scaled_brier(outcome, risk),
    }
    for measure, estimate in found.items():
        assert present(estimate).se == pytest.approx(slow[measure], rel=0.01), measure


def test_the_difference_of_two_models_is_paired() -> None:
    rows, expected = table("gbsg_survival"), R["comparison"]["t5"]
    outcome = TimeToEvent(rows["days"] / YEAR, rows["event"], 5, "marginal")
    model, other = rows["risk_5y"], rows["risk_pgr_5y"]
    same(dossier.metrics.auroc_difference(outcome, other, model), expected["auc"])
    same(dossier.metrics.brier_difference(outcome, other, model), expected["brier"])
    pairs = ((other, model), (model, other))
    forth, back = (present(dossier.metrics.auroc_difference(outcome, *pair)) for pair in pairs)
    assert forth.value == -back.value
    assert forth.se == back.se


def test_subgroups_have_weights_of_their_own() -> None:
    rows = table("gbsg_survival")
    groups = {"age < 50": rows["age"] < 50, "age >= 50": rows["age"] >= 50, "hormon 0": rows["hormon"] == 0}
    for name, group in groups.items():
        outcome = TimeToEvent(rows["days"][group] / YEAR, rows["event"][group], 5, "marginal")
        same(dossier.metrics.auroc(outcome, rows["risk_5y"][group]), R["subgroups"]["t5"][name]["auc"], scale="logit")
        wanted = of_log(R["subgroups"]["t5"][name]["oe"])
        same(dossier.metrics.oe_ratio(outcome, rows["risk_5y"][group]), wanted, scale="log")


def test_competing_events_are_no_censoring() -> None:
    outcome, risk, _ = case("mgus2 120 months", "marginal")
    naive = TimeToEvent(outcome.time, np.where(outcome.event == 2, 0.0, outcome.event), outcome.horizon, "marginal")
    assert present(dossier.metrics.observed_risk(naive, risk)).value == pytest.approx(
        R["mgus2"]["naive_1_minus_KM"][1], abs=VALUE
    )
    right = present(dossier.metrics.observed_risk(outcome, risk)).value
    assert right == pytest.approx(0.070520, abs=5e-7)


def test_the_page_of_the_docs_shows_what_it_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    root = FOLDER.parents[2]
    monkeypatch.chdir(root)
    page = (root / "docs" / "time-to-event.md").read_text(encoding="utf-8")
    example = doctest.DocTestParser().get_doctest(page, {}, "time-to-event.md", None, 0)
    said: list[str] = []
    runner = doctest.DocTestRunner()
    runner.run(example, out=said.append)
    assert not runner.failures, "".join(said)
    assert runner.tries >= 9
