"""Calibration against R, statsmodels, published examples and slow obvious versions."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import beta, ttest_ind
from scipy.stats import t as student

from dossier.core import equation
from dossier.core.types import Absent, Curve, Estimate, Floats
from dossier.metrics import calibration_errors, logistic
from dossier.metrics.calibration import (
    brier,
    calibration_curve,
    calibration_groups,
    calibration_intercept,
    calibration_intercept_joint,
    calibration_slope,
    e50,
    e90,
    ece,
    eci,
    emax,
    ici,
    log_score,
    nagelkerke_r2,
    oe_ratio,
    scaled_brier,
    spiegelhalter_z,
    tjur_r2,
)
from dossier.metrics.discrimination import risk_range
from dossier.metrics.logistic import logistic_fit
from dossier.metrics.shares import Design
from dossier.metrics.smooth_curve import curve_at, smooth_curve
from dossier.typeset.methods import method_text
from dossier.typeset.reasons import reason_text
from tests.estimated import absent, curved, estimated, interval_of, present
from tests.metrics.parts import arrays, columns, errors_of_rows, r
from tests.reasons import Said
from tests.reference.tables import GOLDEN, needs_covid, printed, site

SITES = ("brazil-1", "brazil-3", "italy-1", "ethiopia", "spain")
FIVE_KNOTS = (0.05, 0.275, 0.5, 0.725, 0.95)
NAMES = {"ici": "ICI", "e50": "E50", "e90": "E90", "emax": "Emax"}
EXAMPLE = (np.array([0.0, 0, 1, 0, 1, 1]), np.array([0.4, 0.5, 0.6, 0.7, 0.8, 0.8]))


def golden(column: str = "p") -> tuple[Floats, Floats, Any]:
    return *columns(column), r()["core"][f"binary:{column}"]


def drawn(n: int, seed: int = 5, distortion: float = 1.0) -> tuple[Floats, Floats]:
    """Risks, and outcomes that happen with them raised to a power: 1 is perfect calibration."""
    rng = np.random.default_rng(seed)
    p = np.round(rng.beta(1.2, 2.5, n), 3)
    return (rng.random(n) < p**distortion).astype(float), p


# ---- references -----------------------------------------------------------------------------------------------------


@needs_covid
@pytest.mark.parametrize("name", SITES)
@pytest.mark.parametrize(
    ("function", "column"),
    [
        (brier, "brier"),
        (log_score, "log"),
        (oe_ratio, "O/E"),
        (calibration_intercept, "intercept"),
        (calibration_slope, "slope"),
    ],
)
def test_the_five_hospitals(name: str, function: Any, column: str) -> None:
    expected = printed(name, column)
    found = estimated(function(*site(name)))
    # seven significant digits are printed
    assert abs(found.value - expected) <= 0.501 * 10 ** (math.floor(math.log10(abs(expected))) - 6)


@pytest.mark.parametrize("column", ["p", "p2"])
def test_intercept_and_slope_are_those_of_r(column: str) -> None:
    y, p, expected = golden(column)
    intercept, slope = estimated(calibration_intercept(y, p)), estimated(calibration_slope(y, p))
    assert intercept.value == pytest.approx(expected["glm"]["citl_offset"]["est"], abs=5e-8)
    assert slope.value == pytest.approx(expected["glm"]["slope"]["est"], abs=5e-8)
    assert slope.value == pytest.approx(expected["val_prob"]["Slope"], abs=1e-9)


def test_intercept_and_slope_with_intervals_are_those_of_calibrationcurves() -> None:
    y, p = columns()
    expected = r()["CalibrationCurves"]["binary"]
    for function, name in ((calibration_intercept, "intercept"), (calibration_slope, "slope")):
        found = estimated(function(y, p))
        assert (found.value, *of_model(found)) == pytest.approx(expected[name], abs=1e-9)


def of_model(found: Estimate) -> tuple[float, float]:
    """The interval of the model's own standard error, which R and statsmodels print."""
    half = 1.959963984540054 * (found.details["se_model"] or 0.0)
    return found.value - half, found.value + half


def hc3(design: Floats, y: Floats, chance: Floats) -> Floats:
    """The standard errors of a logistic fit from its definition: the hat matrix, and squares of what it leaves."""
    spread = chance * (1 - chance)
    bread = np.linalg.inv(design.T @ (design * spread[:, None]))
    half = design * np.sqrt(spread)[:, None]
    left = (y - chance) / (1 - np.diag(half @ bread @ half.T))
    return np.asarray(np.sqrt(np.diag(bread @ (design.T @ (design * (left**2)[:, None])) @ bread)))


@pytest.mark.parametrize(("events", "is_sandwich"), [(99, False), (100, True)])
def test_from_100_events_and_non_events_on_the_standard_error_is_a_sandwich(events: int, is_sandwich: bool) -> None:
    rng = np.random.default_rng(8)
    y = np.array([1.0] * events + [0.0] * 150)
    x = rng.normal(0.8 * y - 0.9, 1.2)
    p = expit(x)
    slope, joint = estimated(calibration_slope(y, p)), estimated(calibration_intercept_joint(y, p))
    line = np.column_stack((np.ones(len(y)), x))
    errors = hc3(line, y, expit(joint.value + slope.value * x))
    intercept = estimated(calibration_intercept(y, p))
    alone = hc3(line[:, :1], y, expit(intercept.value + x))
    for found, error in ((joint, errors[0]), (slope, errors[1]), (intercept, alone[0])):
        model = present(found.details["se_model"])
        expected = error if is_sandwich else model
        assert found.se == pytest.approx(expected, rel=1e-9)
        assert (found.low, found.high) == pytest.approx(
            (found.value - 1.959963984540054 * expected, found.value + 1.959963984540054 * expected)
        )
        said = "sandwich standard error (HC3)" if is_sandwich else "model's standard error"
        assert method_text(found.method) == f"Wald, {said}"
        assert abs(model - error) > 1e-4


def test_the_interval_of_the_slope_holds_it_where_no_line_is_right() -> None:
    """The true log odds bend, so that the slope that all rows together have is that of no model."""

    def table(n: int) -> tuple[Floats, Floats]:
        x = rng.normal(-1, 1.5, n)
        return (rng.random(n) < expit(-1 + 0.2 * x + 0.25 * x**2)).astype(float), expit(x)

    rng = np.random.default_rng(3)
    truth = estimated(calibration_slope(*table(2_000_000))).value
    found = [estimated(calibration_slope(*table(600))) for _ in range(1000)]
    held = np.mean([(each.low or 0.0) <= truth <= (each.high or 0.0) for each in found])
    of_models = np.mean([low <= truth <= high for low, high in map(of_model, found)])
    assert 0.93 <= held <= 0.97
    assert of_models < held


@pytest.mark.parametrize("column", ["p", "p2"])
def test_the_scores_are_those_of_python_packages(column: str) -> None:
    y, p = columns(column, "python/binary.csv")
    expected = json.loads((GOLDEN / "python/python_golden.json").read_text())["calibration"][column]
    assert estimated(brier(y, p)).value == pytest.approx(expected["brier_sklearn"], abs=1e-14)
    assert estimated(scaled_brier(y, p)).value == pytest.approx(expected["scaled_brier_ipa"], abs=1e-13)
    assert estimated(log_score(y, p)).value == pytest.approx(-expected["log_loss"], abs=1e-13)
    assert estimated(oe_ratio(y, p)).value == pytest.approx(expected["oe"]["O/E"], abs=1e-13)
    weak, large = expected["weak_calibration"], expected["cal_in_the_large_offset"]
    slope, intercept = estimated(calibration_slope(y, p)), estimated(calibration_intercept(y, p))
    assert (slope.value, *of_model(slope)) == pytest.approx((weak["slope"], *weak["slope_ci95_wald"]), abs=1e-9)
    assert (intercept.value, *of_model(intercept)) == pytest.approx((large["est"], *large["ci95_wald"]), abs=1e-9)


@pytest.mark.parametrize("column", ["p", "p2"])
def test_the_scores_are_those_of_r(column: str) -> None:
    y, p, expected = golden(column)
    assert estimated(brier(y, p)).value == pytest.approx(expected["scores"]["brier"], abs=1e-11)
    assert estimated(scaled_brier(y, p)).value == pytest.approx(expected["scores"]["brier_scaled_prev"], abs=1e-11)
    assert estimated(log_score(y, p)).value == pytest.approx(-expected["scores"]["logloss"], abs=1e-11)
    ratio = estimated(oe_ratio(y, p))
    assert ratio.value == pytest.approx(expected["oe"]["oe"], abs=1e-11)
    fixed = present(ratio.details["se_fixed"])
    assert fixed == pytest.approx(expected["oe"]["se_log"], abs=1e-11)
    half = 1.959963984540054 * fixed
    bounds = (ratio.value * math.exp(-half), ratio.value * math.exp(half))
    assert bounds == pytest.approx(expected["oe"]["ci_log"], abs=1e-9)


@pytest.mark.parametrize("column", ["p", "p2"])
@pytest.mark.parametrize(("quantiles", "recipe"), [(FIVE_KNOTS, "rcs5_logit"), ((0.1, 0.5, 0.9), "rcs3_logit")])
def test_the_spline_is_that_of_rms(column: str, quantiles: tuple[float, ...], recipe: str) -> None:
    y, p, expected = golden(column)
    found = present(errors_of_rows(y, p, quantiles=quantiles))
    for name, theirs in NAMES.items():
        assert found[name] == pytest.approx(expected["smooth"][recipe][theirs], abs=2e-10)
    smooth = present(smooth_curve(y, p, quantiles))
    assert smooth.knots == pytest.approx(expected["smooth"][recipe]["knots"], abs=1e-10)
    if recipe == "rcs5_logit":
        assert smooth.fit.coefficients == pytest.approx(
            list(expected["smooth"][recipe]["coef"].values()), abs=3e-7
        )  # R stops its fit early


@pytest.mark.parametrize("column", ["p", "p2"])
def test_the_groups_are_those_of_r(column: str) -> None:
    y, p, expected = golden(column)
    theirs = expected["hosmer_lemeshow"]
    found = curved(calibration_groups(y, p))
    assert found.columns["n"] == tuple(theirs["n"])
    assert found.columns["mean_risk"] == pytest.approx(theirs["mean_p"], abs=1e-11)
    assert found.columns["observed"] == pytest.approx(np.array(theirs["obs"]) / np.array(theirs["n"]), abs=1e-12)
    bounds = list(zip(found.columns["low"], found.columns["high"], strict=True))
    assert np.array(bounds) == pytest.approx(np.array(theirs["wilson_ci"]), abs=1e-11)


def test_the_example_of_dinga() -> None:
    assert estimated(brier(*EXAMPLE)).value == pytest.approx(0.19, abs=1e-12)
    assert estimated(log_score(*EXAMPLE)).value == pytest.approx(-0.560843, abs=5e-7)
    assert estimated(scaled_brier(*EXAMPLE)).value == pytest.approx(0.24, abs=1e-12)
    assert estimated(nagelkerke_r2(*EXAMPLE, bootstrap=20)).value == pytest.approx(0.309991, abs=5e-7)
    assert estimated(tjur_r2(*EXAMPLE)).value == pytest.approx(0.2, abs=1e-12)


def test_the_scaled_brier_score_rests_on_the_observed_prevalence() -> None:
    y = np.array([1.0] * 10 + [0.0] * 90)
    p = np.where(y == 1, 0.75, 0.47)
    assert estimated(scaled_brier(y, p)).value == pytest.approx(-1.278, abs=5e-4)


# ---- intervals ------------------------------------------------------------------------------------------------------


def test_the_standard_error_of_the_brier_score_is_that_of_riskregression() -> None:
    y, p = columns()
    theirs = r()["riskRegression_binary"]["Brier"][1]
    found = estimated(brier(y, p))
    assert found.se == pytest.approx(theirs["se"], rel=1e-9)
    assert found.high == pytest.approx(theirs["Brier"] + theirs["se"] * student.ppf(0.975, 1999), rel=1e-9)


def test_the_delta_interval_agrees_with_the_jackknife() -> None:
    y, p = drawn(400)
    whole = estimated(scaled_brier(y, p))
    left_out = np.array([estimated(scaled_brier(np.delete(y, i), np.delete(p, i))).value for i in range(len(y))])
    jackknife = math.sqrt(399 / 400 * float(((left_out - left_out.mean()) ** 2).sum()))
    assert whole.se == pytest.approx(jackknife, rel=0.01)


def test_what_is_drawn_around_a_curve_varies_as_slow_fits_do() -> None:
    """Fits to outcomes drawn anew from the fitted curve, against draws from the fit's normal distribution."""
    rng = np.random.default_rng(3)
    y, p = drawn(1200, distortion=1.5)
    p = np.sort(np.clip(p, 0.005, 0.995))
    y = (rng.random(1200) < p**1.5).astype(float)
    smooth = present(smooth_curve(y, p))
    true, slow = curve_at(smooth, p), []
    for _ in range(250):
        again = present(smooth_curve((rng.random(1200) < true).astype(float), p))
        slow.append(float(np.abs(curve_at(again, p) - p).mean()))
    draws_of = calibration_errors._curve_draws(p, smooth)
    noise = rng.standard_normal((4000, len(draws_of.columns)))
    quick = calibration_errors._around(draws_of, np.zeros(len(draws_of.columns)), noise, 1200) @ draws_of.share
    # Means and spreads of 250 fits are known to about 6 % of their standard deviation.
    assert quick.mean() == pytest.approx(np.mean(slow), abs=4 * float(np.std(slow)) / math.sqrt(250))
    assert quick.std() == pytest.approx(np.std(slow), rel=0.2)


def test_a_miscalibrated_model_has_a_two_sided_interval() -> None:
    y, p = drawn(800, distortion=2.0)
    for function in (ici, e50, e90):
        found = estimated(function(y, p, bootstrap=200))
        low, high = interval_of(found)
        assert 0 < low < found.value < high
        assert "one-sided" not in method_text(found.method)


@pytest.mark.parametrize("distortion", [1.0, 1.4, 2.0])
def test_the_bounds_of_the_largest_error_lie_above_those_of_the_mean(distortion: float) -> None:
    """But for a lower bound of 0, which the largest error has where its own test does not refute that there is none."""
    y, p = drawn(800, distortion=distortion)
    mean, largest = estimated(ici(y, p, bootstrap=100)), estimated(emax(y, p, bootstrap=100))
    assert largest.low == 0 or (largest.low or 0.0) >= (mean.low or 0.0)
    assert (largest.high or 1.0) >= (mean.high or 1.0)


def test_far_from_the_diagonal_the_interval_is_the_normal_one() -> None:
    """Where the whole curve lies on one side, the mean distance is a mean: its interval is the plain one."""
    rng = np.random.default_rng(12)
    p = np.sort(rng.uniform(0.2, 0.4, 3000))
    y = (rng.random(3000) < p + 0.4).astype(float)
    found = estimated(ici(y, p))
    half = 1.96 * math.sqrt(float(np.mean((p + 0.4) * (0.6 - p))) / 3000)
    assert found.value == pytest.approx(0.4, abs=2 * half)
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half), abs=0.15 * half)


def test_a_calibrated_model_has_a_one_sided_interval_that_says_so() -> None:
    y, p = drawn(800)
    found = estimated(ici(y, p, bootstrap=200))
    assert found.low == 0
    assert "one-sided" in method_text(found.method)


def test_the_order_of_rows_does_not_matter_to_the_bootstrap() -> None:
    y, p = drawn(300)
    turned = np.random.default_rng(1).permutation(300)
    for function in (ici, e50, e90):
        assert function(y, p, bootstrap=50, seed=3) == function(y[turned], p[turned], bootstrap=50, seed=3)
    assert ici(y, p, bootstrap=50, seed=3) != ici(y, p, bootstrap=50, seed=4)


def test_groups_of_risk_move_the_errors_by_less_than_a_thousandth() -> None:
    rng = np.random.default_rng(2)
    p = np.sort(rng.beta(1, 3, 20_000))
    y = (rng.random(20_000) < p**1.3).astype(float)
    smooth = present(smooth_curve(y, p))
    exact = present(errors_of_rows(y, p))
    draws_of = calibration_errors._curve_draws(p, smooth)
    assert draws_of.share.sum() == pytest.approx(1)
    at_the_fit = calibration_errors._gaps(draws_of, np.zeros((1, len(draws_of.columns))))
    for name in ("ici", "e50", "e90"):
        assert calibration_errors._heights(name, at_the_fit, draws_of.share)[0] == pytest.approx(exact[name], abs=1e-3)


def test_the_line_of_curves_begins_at_perfect_calibration_and_passes_the_fit() -> None:
    y, p = drawn(500, distortion=1.4)
    p = np.sort(np.clip(p, 0.01, 0.99))
    draws_of = calibration_errors._curve_draws(p, present(smooth_curve(y, p)))
    inward = calibration_errors._inward(draws_of)
    gaps = calibration_errors._gaps(draws_of, inward)
    assert gaps[0] == pytest.approx(np.zeros_like(gaps[0]), abs=1e-9)
    assert inward[-1] == pytest.approx(np.zeros_like(inward[-1]))
    outward = calibration_errors._gaps(draws_of, calibration_errors._outward(draws_of, None)) @ draws_of.share
    assert (np.diff(np.concatenate(([gaps[-1] @ draws_of.share], outward))) > 0).all()


def test_outcomes_that_nearly_separate_still_have_bounds_in_the_range() -> None:
    y = np.array([0.0] * 4 + [1.0, 0.0] + [1.0] * 4)
    found = estimated(ici(y, np.linspace(0.05, 0.95, 10), bootstrap=200))
    low, high = interval_of(found)
    assert 0 <= low <= found.value <= high <= 1


# ---- the fit itself -------------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=15)
def test_the_fit_is_the_maximum_of_the_likelihood(seed: int) -> None:
    y, p = drawn(60, seed)
    log_odds = np.log(np.clip(p, 0.001, 0.999) / (1 - np.clip(p, 0.001, 0.999)))
    design = np.vstack((np.ones(60), log_odds))

    def loss(beta: Floats) -> float:
        linear = beta @ design
        return float(np.sum(np.logaddexp(0, linear) - y * linear))

    fit = present(logistic_fit(design, y))
    best = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000})
    assert fit.coefficients == pytest.approx(best.x, abs=1e-5)
    assert loss(fit.coefficients) <= best.fun + 1e-9


def test_separated_outcomes_are_absent_with_a_reason() -> None:
    y, p = np.array([0.0] * 5 + [1.0] * 5), np.linspace(0.1, 0.9, 10)
    for function in (calibration_slope, ici, calibration_curve):
        assert "separate" in reason_text(absent(function(y, p)).reason)
    # quasi-complete: a tie at the border
    tied = calibration_slope(np.array([0.0, 0, 0, 1, 1]), np.array([0.1, 0.2, 0.5, 0.5, 0.9]))
    assert isinstance(tied, Absent)


def test_perfect_and_certain_risks() -> None:
    y = np.array([0.0, 1, 0, 1, 1])
    assert isinstance(calibration_intercept(y, y), Absent)
    assert estimated(oe_ratio(y, y)).value == 1
    assert (estimated(brier(y, y)).value, estimated(log_score(y, y)).value) == (0, 0)
    assert estimated(scaled_brier(y, y)).value == 1


def test_risks_of_0_and_1_are_left_out_of_slope_and_intercepts_alone() -> None:
    """The other rows give the same numbers alone; O/E, Brier score, curve and calibration errors keep every row."""
    y, p = drawn(400)
    p = p.copy()
    p[:3], p[3] = (0.0, 1.0, 0.0), 1e-13
    for measure in (calibration_slope, calibration_intercept, calibration_intercept_joint):
        found, alone = estimated(measure(y, p)), estimated(measure(y[4:], p[4:]))
        assert (found.value, found.low, found.high, found.n) == (alone.value, alone.low, alone.high, 396)
        said = method_text(alone.method)
        assert (found.details, method_text(found.method)) == (
            {**alone.details, "left_out": 4.0},
            f"{said}; without risks of 0 or 1",
        )
    for whole in (oe_ratio(y, p), brier(y, p), ici(y, p, bootstrap=50)):
        assert estimated(whole).n == 400


def slope_on_clipped_logits(y: NDArray[np.float64], p: NDArray[np.float64], clip: float) -> float:
    """The slope by scipy's optimiser, with the logits of risks clipped."""
    x = logit(np.clip(p, clip, 1 - clip))

    def loss(line: NDArray[np.float64]) -> float:
        linear = line[0] + line[1] * x
        return float(np.sum(np.logaddexp(0, linear) - y * linear))

    return float(minimize(loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10}).x[1])


def test_a_clipped_logit_does_not_set_the_slope() -> None:
    """methods.md: .10 with logits at 1e-12, .48 at 1e-3, .99 without the rows whose risk is exactly 0 or 1."""
    rng = np.random.default_rng(1)
    chance = expit(rng.normal(-2, 1.2, 1000))
    right, ends = (rng.random(1000) < chance).astype(float), np.repeat([0.0, 1.0], 40)
    wrong = np.tile(np.arange(40) < 7, 2)
    y, p = np.concatenate((right, np.where(wrong, 1 - ends, ends))), np.concatenate((chance, ends))
    assert slope_on_clipped_logits(y, p, 1e-12) == pytest.approx(0.10, abs=0.005)
    assert slope_on_clipped_logits(y, p, 1e-3) == pytest.approx(0.48, abs=0.01)
    found = estimated(calibration_slope(y, p))
    assert (round(found.value, 2), found.details["left_out"], found.n) == (0.99, 80, 1000)
    low, high = interval_of(found)
    assert low < 1 < high


NO_CASE = "none of the 2 rows has the outcome"


@pytest.mark.parametrize(("rest", "why"), [((0.3, 0.4), NO_CASE), ((), "there are no rows")])
def test_without_other_risks_there_is_no_slope(rest: tuple[float, ...], why: str) -> None:
    y, p = np.array([1.0, 0.0, *(0.0 for _ in rest)]), np.array([1.0, 0.0, *rest])
    for measure in (calibration_slope, calibration_intercept, calibration_intercept_joint):
        assert measure(y, p) == Said(f"without the 2 risks of 0 or 1, {why}")


# ---- observed over expected -----------------------------------------------------------------------------------------


def test_the_interval_of_observed_over_expected_takes_the_expected_number_as_random() -> None:
    """SE(log) = sd(y - r p)/(sqrt(n) mean y), written out row by row, and beside the jackknife."""
    y, p = drawn(300)
    found, n = estimated(oe_ratio(y, p)), 300
    r = sum(y) / sum(p)
    residuals = [a - r * b for a, b in zip(y, p, strict=True)]
    mean = sum(residuals) / n
    se = math.sqrt(sum((residual - mean) ** 2 for residual in residuals) / (n - 1)) / math.sqrt(n) / (sum(y) / n)
    assert (found.value, found.se) == pytest.approx((r, r * se), rel=1e-12)
    half = 1.959963984540054 * se
    assert (found.low, found.high) == pytest.approx((r * math.exp(-half), r * math.exp(half)), rel=1e-12)
    left_out = np.array([math.log((sum(y) - y[i]) / (sum(p) - p[i])) for i in range(n)])
    jackknife = math.sqrt((n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum()))
    assert se == pytest.approx(jackknife, rel=0.01)
    assert found.details["se_fixed"] == pytest.approx(math.sqrt((1 - y.mean()) / y.sum()), rel=1e-12)


def test_no_event_shouts() -> None:
    """500 patients, no event, 165 expected: the upper bound is Clopper's and Pearson's of 0 of 500, over .33."""
    found = estimated(oe_ratio(np.zeros(500), np.full(500, 0.33)))
    assert (found.value, found.low, found.se, found.details["se_fixed"]) == (0, 0, None, None)
    assert found.high == pytest.approx(beta.ppf(0.975, 1, 500) / 0.33, rel=1e-12)
    assert found.high == pytest.approx(0.02227, abs=5e-6)
    assert found.details["expected"] == pytest.approx(165)
    wide = estimated(oe_ratio(np.zeros(10), np.full(10, 0.1), 0.9))
    assert wide.high == pytest.approx(beta.ppf(0.95, 1, 10) / 0.1, rel=1e-12)


def test_where_every_row_is_an_event_both_parts_are_seen() -> None:
    """The lower bound puts together the exact one of the share and the spread of the expected number."""
    rng = np.random.default_rng(2)
    p = rng.uniform(0.6, 1, 40)
    found = estimated(oe_ratio(np.ones(40), p))
    spread = 1.959963984540054 * float(np.std(p, ddof=1)) / math.sqrt(40) / p.mean()
    exact = -math.log(beta.ppf(0.025, 40, 1))
    assert found.value == pytest.approx(1 / p.mean())
    assert found.low == pytest.approx(found.value * math.exp(-math.hypot(exact, spread)), rel=1e-12)
    assert found.high == pytest.approx(found.value * math.exp(spread), rel=1e-12)
    alike = estimated(oe_ratio(np.ones(40), np.full(40, 0.8)))
    assert (alike.low, alike.high) == pytest.approx((1.25 * beta.ppf(0.025, 40, 1), 1.25), rel=1e-12)


def test_a_ratio_of_one_cluster_has_no_interval_and_without_an_event_a_cluster_counts_as_a_row() -> None:
    y, p = drawn(240)
    single = estimated(oe_ratio(y, p, 0.95, Design(240, np.zeros(240, dtype=np.int64))))
    assert (single.low, single.high) == (None, None)
    assert single.reason == Said("all rows are of one cluster, and an interval needs two")
    none = estimated(oe_ratio(np.zeros(240), p, 0.95, Design(240, np.arange(240) // 6)))
    assert none.high == pytest.approx(beta.ppf(0.975, 1, 40) / p.mean(), rel=1e-9)  # as if the rows of one were alike


def test_an_impossible_row_makes_the_log_score_absent_with_the_count() -> None:
    found = absent(log_score(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.4, 1.0])))
    assert "2 rows have" in reason_text(found.reason)


def test_the_smoother_follows_the_size_of_the_smaller_class() -> None:
    for n, knots in ((30, 0), (150, 3), (2000, 4)):
        smooth = present(smooth_curve(*drawn(n)))
        assert len(smooth.knots) == knots
    few_values = present(smooth_curve(np.tile([0.0, 1, 0, 1, 1, 0], 50), np.repeat([0.2, 0.8], 3)[np.arange(300) % 6]))
    assert method_text(few_values.method) == "logistic, straight line in logit p"


def test_the_knots_lie_at_the_declared_quantiles_of_logit_p() -> None:
    for n, shares in ((150, [10, 50, 90]), (2000, [5, 35, 65, 95])):
        y, p = drawn(n)
        smooth = present(smooth_curve(y, p))
        clipped = np.clip(p, 1e-12, 1 - 1e-12)
        assert smooth.knots == pytest.approx(np.percentile(np.log(clipped / (1 - clipped)), shares), abs=1e-9)
        assert "at " + ", ".join(map(str, shares)) + "%" in method_text(smooth.method)


def test_a_constant_risk_is_compared_with_the_prevalence() -> None:
    y = np.array([0.0, 1, 0, 0] * 30)
    assert estimated(ici(y, np.full(120, 0.4), bootstrap=50)).value == pytest.approx(0.15)
    assert curved(calibration_curve(y, np.full(120, 0.4))).columns["observed"] == pytest.approx((0.25,))


ERRORS = (ici, e50, e90, emax)


def wilson_by_hand(events: int, n: int) -> tuple[float, float]:
    """The shares q at which (events/n - q)^2 = z^2 q (1 - q) / n."""
    z2, share = 1.959963984540054**2, events / n
    low, high = sorted(np.roots([1 + z2 / n, -(2 * share + z2 / n), share**2]).real)
    return float(low), float(high)


@pytest.mark.parametrize("risk", [0.0, 0.2, 0.26, 0.6, 1.0])
def test_one_risk_for_all_has_one_error_with_one_interval(risk: float) -> None:
    """The four were bounded in three ways: .05 came with .256, and with .192."""
    y = np.array([0.0, 1, 0, 0] * 30)
    low, high = wilson_by_hand(30, 120)
    least = 0.0 if low < risk < high else min(abs(low - risk), abs(high - risk))
    expected = abs(0.25 - risk), least, max(abs(low - risk), abs(high - risk))
    for measure in ERRORS:
        found = estimated(measure(y, np.full(120, risk)))
        assert (found.value, found.low, found.high) == pytest.approx(expected, abs=1e-9)
        assert ("one-sided" in method_text(found.method)) == (least == 0)


@pytest.mark.parametrize("near", [0.0, 1e-13])
def test_risks_of_0_and_1_are_off_by_the_share_that_is_wrong(near: float) -> None:
    """100 of 300 called 1 are none, and 40 of 200 called 0 are: no perfect calibration is left open."""
    p = np.array([1 - near] * 300 + [near] * 200)
    y = np.array([0.0] * 100 + [1.0] * 200 + [1.0] * 40 + [0.0] * 160)
    wrong, of_none = wilson_by_hand(140, 500), wilson_by_hand(100, 300)
    expected = {"ici": (0.28, *wrong), "e50": (1 / 3, *of_none), "e90": (1 / 3, *of_none), "emax": (1 / 3, *of_none)}
    for measure in ERRORS:
        found = estimated(measure(y, p))
        assert (found.value, found.low, found.high) == pytest.approx(expected[measure.__name__], abs=1e-9)
    assert estimated(brier(y, p)).value == pytest.approx(0.28)


def test_certain_risks_that_are_all_right_have_an_error_too() -> None:
    y = np.array([0.0, 1] * 20)
    found = estimated(ici(y, y))
    assert (found.value, found.low) == (0, 0)
    assert found.high == pytest.approx(1.959963984540054**2 / (40 + 1.959963984540054**2))


@pytest.mark.parametrize("share_wrong", [(0.05, 0.3), (0.35, 0.3), (0.0, 0.1)])
def test_the_interval_of_certain_risks_holds_the_share_that_is_wrong(share_wrong: tuple[float, float]) -> None:
    rng = np.random.default_rng(5)
    truth, held = 0.6 * share_wrong[0] + 0.4 * share_wrong[1], 0
    for _ in range(1000):
        p = (rng.random(500) < 0.4).astype(float)
        y = np.abs(p - (rng.random(500) < np.where(p == 1, share_wrong[1], share_wrong[0])))
        found = estimated(ici(y, p))
        held += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert 0.93 <= held / 1000 <= 0.97


def test_the_method_of_a_ratio_is_the_one_that_was_used() -> None:
    risk = np.linspace(0.2, 0.9, 30)
    said = [
        method_text(estimated(oe_ratio(y, risk)).method) for y in (np.zeros(30), np.tile([0.0, 1], 15), np.ones(30))
    ]
    assert said == [
        "exact upper bound of no event",
        "delta method, log scale",
        "exact lower bound of no non-event combined with the delta method, log scale (MOVER)",
    ]


def test_the_band_of_the_curve_is_that_of_the_fitted_line() -> None:
    y, p = drawn(35, 11)  # a straight line
    found, slope = (
        curved(calibration_curve(y, p)),
        present(logistic_fit(equation.spline_design(logistic.logit(p), ()), y)),
    )
    assert len(found.columns["risk"]) == 101
    risk = np.array(found.columns["risk"], dtype=float)
    first, last = np.quantile(p, (0.01, 0.99))
    assert first <= risk[0] < first + 0.01
    assert last - 0.01 < risk[-1] <= last
    assert [round(float(end), 2) for end in (risk[0], risk[-1])] == [risk[0], risk[-1]]
    x = np.array([1, math.log(risk[40] / (1 - risk[40]))])
    centre, se = x @ slope.coefficients, math.sqrt(x @ slope.covariance @ x)
    for name, shift in (("observed", 0), ("low", -1.959963984540054), ("high", 1.959963984540054)):
        assert found.columns[name][40] == pytest.approx(1 / (1 + math.exp(-(centre + shift * se))))


def test_the_covariance_is_the_inverse_of_the_information() -> None:
    y, p = drawn(90)
    design = equation.spline_design(logistic.logit(p), ())
    fit = present(logistic_fit(design, y))
    mean = 1 / (1 + np.exp(-fit.coefficients @ design))
    information = (design * mean * (1 - mean)) @ design.T
    assert fit.covariance == pytest.approx(np.linalg.inv(information), rel=1e-8)


def test_equal_risks_stay_in_one_group() -> None:
    y, p = np.tile([0.0, 1.0, 0.0], 20), np.repeat([0.1, 0.1, 0.5, 0.9], 15)
    found = curved(calibration_groups(y, p))
    assert list(found.columns["n"]) == [30, 15, 15]
    assert found.columns["mean_risk"] == pytest.approx((0.1, 0.5, 0.9))


@given(st.lists(st.floats(0, 1), min_size=5, max_size=60))
@settings(deadline=None)
def test_no_group_holds_fewer_than_five_and_none_is_lost(risks: list[float]) -> None:
    y, p = np.arange(len(risks), dtype=float) % 2, np.array(risks)
    found = curved(calibration_groups(y, p))
    sizes = np.array(found.columns["n"], dtype=float)
    assert sizes.min() >= 5
    assert sizes.sum() == len(risks)
    for name, whole in (("mean_risk", p), ("observed", y)):
        assert float(sizes @ np.array(found.columns[name], dtype=float)) == pytest.approx(float(whole.sum()))
    assert (np.diff(np.array(found.columns["mean_risk"], dtype=float)) >= -1e-12).all()


def test_of_a_few_rows_there_are_no_groups() -> None:
    assert calibration_groups(np.array([0.0, 1, 1, 0]), np.array([0.1, 0.2, 0.3, 0.4])) == Said(
        "there are fewer than 5 rows"
    )


@pytest.mark.parametrize("people", [2, 21, 101, 120])
def test_no_end_of_the_curve_is_the_risk_of_a_person(people: int) -> None:
    """With 101 people the 1st percentile is the second lowest risk, to all its digits."""
    for seed, scale in ((1, 1.0), (2, 0.01), (3, 1e-4)):
        p = np.random.default_rng(seed).random(people) * scale
        low, high = risk_range(p)
        lowest, highest = (float(end) for end in np.quantile(p, (0.01, 0.99)))
        assert lowest <= low < high <= highest
        assert (high - low) > 0.7 * (highest - lowest)
        step = 10.0 ** math.floor(math.log10(highest - lowest)) / 10
        assert low / step == pytest.approx(round(low / step), abs=1e-6)
        assert high / step == pytest.approx(round(high / step), abs=1e-6)
        assert not {low, high} & set(p)


# ---- degenerate input -----------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0, 1e-300, 1e-9, 0.2, 0.5, 0.9, 1 - 1e-9, 1])), max_size=9)
)
@settings(deadline=None, max_examples=150)
def test_nothing_warns_and_every_number_is_one(rows: list[tuple[int, float]]) -> None:
    y, p = arrays(rows)
    for function in (oe_ratio, calibration_intercept, calibration_slope, brier, scaled_brier, log_score, ici, e50, e90):
        arguments = {"bootstrap": 20} if function in (ici, e50, e90) else {}
        found = function(y, p, **arguments)
        if isinstance(found, Absent):
            assert found.reason
            assert not reason_text(found.reason).endswith(".")
            continue
        numbers = [found.value, found.low, found.high, found.se]
        assert all(number is None or math.isfinite(number) for number in numbers)
        if found.low is not None and found.high is not None:
            assert found.low <= found.value <= found.high
        else:
            assert found.reason
    for curve in (calibration_curve, calibration_groups):
        made = curve(y, p)
        if isinstance(made, Curve):
            assert all(value is not None and math.isfinite(value) for row in made.columns.values() for value in row)


def test_the_curve_is_read_off_at_any_risk() -> None:
    smooth = present(smooth_curve(*drawn(500)))
    ends = curve_at(smooth, np.array([0.0, 1.0]))
    assert ((ends >= 0) & (ends <= 1)).all()


# ---- the joint intercept, bins, ratios and the z test ---------------------------------------------------------------


@needs_covid
@pytest.mark.parametrize("name", SITES)
def test_the_bins_of_the_five_hospitals(name: str) -> None:
    y, p = site(name)
    assert estimated(ece(y, p, bootstrap=20)).value == pytest.approx(printed(name, "ECE"), abs=5.01e-8)
    assert estimated(eci(y, p, bootstrap=20)).value == pytest.approx(printed(name, "ECI"), abs=5.01e-8)


def slow_bins(y: Floats, p: Floats) -> tuple[float, float]:
    """ECE and ECI by loops over rows and bins."""
    error, index = 0.0, 0.0
    for b in range(10):
        low, high = b / 10, (b + 1) / 10
        rows = [i for i in range(len(y)) if low <= p[i] < high or (b == 9 and p[i] == 1)]
        if rows:
            observed, expected = sum(y[i] for i in rows) / len(rows), sum(p[i] for i in rows) / len(rows)
            gap = abs(observed - expected)
            error += len(rows) / len(y) * gap
            index += len(rows) / len(y) * (1 - gap / max(expected, 1 - expected))
    return error, index


@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0, 0.1, 0.3, 0.55, 0.7, 0.95, 1])), max_size=25))
@settings(deadline=None)
def test_bins_by_a_loop(rows: list[tuple[int, float]]) -> None:
    y, p = arrays(rows)
    if not rows:
        assert isinstance(ece(y, p), Absent)
        assert isinstance(eci(y, p), Absent)
        return
    error, index = slow_bins(y, p)
    for function, value in ((ece, error), (eci, index)):
        found = estimated(function(y, p, bootstrap=20))
        assert found.value == pytest.approx(value, abs=1e-12)
        assert found.low is None or found.high is None or found.low <= found.value <= found.high


def test_bins_far_from_the_diagonal_have_the_normal_interval() -> None:
    """Where every bin errs to the same side, the error is the mean of y - p, and its interval the plain one."""
    rng = np.random.default_rng(4)
    p = rng.uniform(0.1, 0.5, 3000)
    y = (rng.random(3000) < p + 0.3).astype(float)
    found = estimated(ece(y, p))
    half = 1.96 * float(np.std(y - p)) / math.sqrt(3000)
    assert found.value == pytest.approx((y - p).mean(), abs=1e-12)
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half), abs=0.15 * half)


def test_calibrated_bins_have_a_one_sided_interval_that_says_so() -> None:
    y, p = drawn(900, seed=6)
    error, index = estimated(ece(y, p, bootstrap=200)), estimated(eci(y, p, bootstrap=200))
    assert error.low == 0
    assert index.high == 1
    assert "one-sided" in method_text(error.method)
    assert "one-sided" in method_text(index.method)


def test_perfect_bins_are_1_and_certain_mistakes_0() -> None:
    y = np.array([0.0, 1.0, 1.0])
    assert estimated(eci(y, y.copy())).value == 1
    assert estimated(eci(y, 1 - y)).value == 0
    assert estimated(ece(y, 1 - y)).value == 1
    right = estimated(eci(y, y.copy()))
    assert (right.low, right.high, right.level) == (None, None, None)
    assert right.reason


@pytest.mark.parametrize("column", ["p", "p2"])
def test_the_joint_intercept_and_the_largest_error_are_those_of_r(column: str) -> None:
    y, p, expected = golden(column)
    found = estimated(calibration_intercept_joint(y, p))
    joint = expected["glm"]["joint_intercept"]
    assert found.value == pytest.approx(joint["est"], abs=5e-8)
    # R takes the covariance from the step before its last one.
    assert found.details["se_model"] == pytest.approx(joint["se"], rel=2e-5)
    assert of_model(found) == pytest.approx(joint["wald"], abs=3e-6)
    assert found.value == pytest.approx(expected["val_prob"]["Intercept"], abs=5e-8)
    z = estimated(spiegelhalter_z(y, p))
    assert z.value == pytest.approx(expected["val_prob"]["S:z"], abs=1e-9)
    assert z.details["p_value"] == pytest.approx(expected["val_prob"]["S:p"], rel=1e-9)
    assert (z.low, z.high, z.level) == (None, None, None)
    assert z.reason
    assert estimated(tjur_r2(y, p)).value == pytest.approx(expected["scores"]["disc_slope"], abs=1e-11)
    cox_snell, phi = expected["scores"]["cox_snell_loglik"], float(y.mean())
    largest = 1 - math.exp(2 * (phi * math.log(phi) + (1 - phi) * math.log(1 - phi)))
    assert estimated(nagelkerke_r2(y, p, bootstrap=5)).value == pytest.approx(cox_snell / largest, abs=1e-11)
    whole = present(errors_of_rows(y, p))
    assert estimated(emax(y, p, bootstrap=20)).value == pytest.approx(whole["emax"], abs=1e-12)


def test_the_largest_error_is_that_of_the_farthest_row() -> None:
    y, p = drawn(400, distortion=2.0)
    smooth = present(smooth_curve(y, p))
    found = estimated(emax(y, p, bootstrap=100))
    assert found.value == pytest.approx(max(abs(curve_at(smooth, np.array([risk]))[0] - risk) for risk in p))
    low, high = interval_of(found)
    assert low <= found.value <= high


RISKS = st.sampled_from([0.05, 0.2, 0.5, 0.6, 0.9])


@given(st.lists(st.tuples(st.integers(0, 1), RISKS), max_size=15))
@settings(deadline=None)
def test_ratios_and_z_by_a_loop(rows: list[tuple[int, float]]) -> None:
    y, p = arrays(rows)
    variance = sum((1 - 2 * risk) ** 2 * risk * (1 - risk) for risk in p)
    z = spiegelhalter_z(y, p)
    if variance == 0:
        assert isinstance(z, Absent)
    else:
        expected = sum((outcome - risk) * (1 - 2 * risk) for outcome, risk in rows) / math.sqrt(variance)
        assert estimated(z).value == pytest.approx(expected, abs=1e-12)
        assert estimated(z).details["p_value"] == pytest.approx(math.erfc(abs(expected) / math.sqrt(2)), abs=1e-12)
    if y.sum() in (0, len(y)):
        assert isinstance(tjur_r2(y, p), Absent)
        assert isinstance(nagelkerke_r2(y, p), Absent)
        return
    n, phi = len(rows), sum(y) / len(rows)
    model = sum(math.log(risk if outcome else 1 - risk) for outcome, risk in rows)
    null = sum(math.log(phi if outcome else 1 - phi) for outcome, _ in rows)
    expected = (1 - math.exp(2 * (null - model) / n)) / (1 - math.exp(2 * null / n))
    assert estimated(nagelkerke_r2(y, p, bootstrap=20)).value == pytest.approx(expected, abs=1e-12)
    gap = estimated(tjur_r2(y, p))
    assert gap.value == pytest.approx(p[y == 1].mean() - p[y == 0].mean(), abs=1e-12)


def test_the_interval_of_the_gap_is_welchs() -> None:
    y, p = drawn(70)
    found = estimated(tjur_r2(y, p, 0.9))
    welch = ttest_ind(p[y == 1], p[y == 0], equal_var=False).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((welch.low, welch.high), abs=1e-12)


def test_the_bootstrap_of_nagelkerke_is_that_of_slow_resamples() -> None:
    y, p = drawn(60)
    found = estimated(nagelkerke_r2(y, p, bootstrap=40, seed=5))
    order = np.lexsort((y, p))
    rows = np.random.default_rng(5).integers(0, 60, size=(40, 60))
    slow = [estimated(nagelkerke_r2(y[order][row], p[order][row], bootstrap=2)).value for row in rows]
    assert (found.low, found.high) == pytest.approx(np.quantile(slow, (0.025, 0.975), method="weibull"), abs=1e-12)


def test_ratios_that_cannot_be() -> None:
    y = np.array([0.0, 1, 0, 1])
    assert isinstance(nagelkerke_r2(y, np.array([0.0, 0.0, 0.2, 0.3])), Absent)
    assert isinstance(nagelkerke_r2(y, np.array([0.0, 5e-324, 0.2, 1e-300])), Absent)
    assert isinstance(spiegelhalter_z(y, np.array([0.0, 1, 0.5, 1])), Absent)
    assert isinstance(calibration_intercept_joint(y, np.full(4, 0.3)), Absent)
    assert isinstance(calibration_intercept_joint(y, np.array([0.1, 0.9, 0.1, 0.9])), Absent)
    single = estimated(tjur_r2(np.array([1.0, 0, 0]), np.array([0.9, 0.2, 0.3])))
    assert (single.low, single.high) == (None, None)
    assert single.reason


def test_an_intercept_far_from_0_is_found() -> None:
    """Half of the rows are cases at a risk of .01: the intercept is log 99. The other solves its equation: 6 cases."""
    half = estimated(calibration_intercept(np.array([1.0, 0.0]), np.full(2, 0.01)))
    assert half.value == pytest.approx(math.log(99), abs=1e-12)
    found = estimated(
        calibration_intercept(np.array([1.0, 1, 1, 1, 0, 1, 1]), np.array([0.01, 0.1, 0.01, 0.01, 0.01, 0.1, 0.01]))
    )
    rare = estimated(calibration_intercept(np.tile([0.0, 1.0], 10), np.full(20, 1e-11)))
    assert rare.value == pytest.approx(math.log(1e11 - 1), abs=1e-9)
    odds = math.exp(found.value)
    assert 5 * odds / (99 + odds) + 2 * odds / (9 + odds) == pytest.approx(6, abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 999), st.floats(-20, 20), st.floats(-9, 9))
def test_every_intercept_that_exists_is_found(cases: int, middle: float, apart: float) -> None:
    """Two risks far apart or far from the outcome: with cases and others the likelihood has one maximum."""
    outcome = (np.arange(1000) < cases).astype(float)
    risk = 1 / (1 + np.exp(-np.where(np.arange(1000) % 2 == 0, middle - apart / 2, middle + apart / 2)))
    found = estimated(calibration_intercept(outcome, risk))
    moved = 1 / (1 + np.exp(-(np.log(risk / (1 - risk)) + found.value)))
    assert float(moved.sum()) == pytest.approx(cases, abs=1e-6)
