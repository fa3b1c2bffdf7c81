"""Calibration worked by hand: the limits of what it fits, bins, scores, groups and the curve of all sites."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import expit
from scipy.stats import chi2, ttest_ind
from scipy.stats import t as student

from dossier.core.facts import Method
from dossier.core.types import Absent, Curve, CurveResult, DatasetSummary, Estimate, Floats, SiteResults
from dossier.metrics import calibration, weighted
from dossier.metrics.logistic import logistic_fit, near_intercept
from dossier.metrics.shares import Design
from dossier.metrics.smooth_curve import smooth_curve
from dossier.typeset.methods import method_text
from tests.estimated import curved, estimated, interval_of, present
from tests.reasons import Said


def floats(*values: float) -> Floats:
    return np.array(values, dtype=float)


# ---- the logistic fit -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log_odds", [-20.0, -14.0, -7.0, -4.0, -3.0, -2.5, -2.2, -1.0, 0.0, 2.5, 3.5, 5.0, 17.0])
def test_the_intercept_is_found_however_far_the_risks_are_off(log_odds: float) -> None:
    """Half of the rows have the outcome, so that the intercept takes the log odds back to 0."""
    fit = present(logistic_fit(np.ones((1, 20)), np.tile([0.0, 1.0], 10), np.full(20, log_odds)))
    assert fit.coefficients[0] == pytest.approx(-log_odds, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_intercept_is_found_where_the_risks_are_all_but_certain_and_wrong(seed: int) -> None:
    """It gives as many events as there were; a search by halves needs no slope to find it."""
    rng = np.random.default_rng(seed)
    log_odds = rng.uniform(-15, 15) + rng.normal(0, 2, 48)
    events = int(rng.integers(1, 48))
    expected = brentq(lambda shift: float(expit(log_odds + shift).sum()) - events, -60, 60, xtol=1e-12)
    fit = present(logistic_fit(np.ones((1, 48)), (np.arange(48) < events).astype(float), log_odds))
    assert fit.coefficients[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("seed", [44, 110, 234, 298])
def test_the_fit_of_many_rows_ends(seed: int) -> None:
    """Its last steps change the likelihood by less than a digit of it; where it ends, the residuals sum to 0."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, 3000)
    y = (rng.random(3000) < 1 / (1 + np.exp(-x))).astype(float)
    design = np.vstack((np.ones(3000), x))
    fit = present(logistic_fit(design, y))
    assert design @ (y - expit(fit.coefficients @ design)) == pytest.approx([0, 0], abs=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1.0, 1e6, 1e9])
def test_the_unit_of_a_column_does_not_matter_to_the_fit(scale: float) -> None:
    """Two values of a column: the fit goes through the log odds of the two shares, 1/4 and 2/3."""
    y, x = floats(0, 0, 0, 1, 0, 1, 1), floats(0, 0, 0, 0, 1, 1, 1)
    fit = present(logistic_fit(np.vstack((np.ones(7), scale * x)), y))
    assert fit.coefficients * floats(1, scale) == pytest.approx([-math.log(3), math.log(2) + math.log(3)], abs=1e-9)


@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e-6, 1.0, 1e6, 1e9])
def test_columns_that_are_not_independent_have_no_fit(scale: float) -> None:
    y, x = floats(0, 0, 1, 0, 1, 0, 1), np.sqrt(np.arange(1.0, 8.0))
    found = logistic_fit(np.vstack((np.ones(7), x, scale * (x + 1 / 3))), y)
    assert found == Said("the columns of the logistic fit are not independent")


def test_risks_that_are_right_and_all_but_certain_have_no_intercept() -> None:
    """Right on either side, the intercept is 0, and its variance 1/(4 p (1 - p)), until no row tells of it."""
    for risk in (1e-6, 1e-8):
        found = estimated(calibration.calibration_intercept(floats(0, 0, 1, 1), floats(risk, risk, 1 - risk, 1 - risk)))
        assert found.value == pytest.approx(0, abs=1e-6)
        assert found.se == pytest.approx(1 / math.sqrt(4 * risk), rel=1e-6)
    risk = 9e-10
    certain = calibration.calibration_intercept(floats(0, 0, 1, 1), floats(risk, risk, 1 - risk, 1 - risk))
    assert certain == Said("the risks separate the outcomes or nearly so, so that no finite logistic fit exists")


def test_only_risks_nearer_than_the_limit_are_left_out() -> None:
    y, limit = floats(0, 1, 0, 1, 1, 0), 1e-12
    for first, last, left_out in (
        (limit, 1 - limit, None),
        (limit / 2, 1 - limit, 1),
        (limit, 1 - limit / 2, 1),
        (0, 1, 2),
    ):
        found = estimated(calibration.calibration_intercept(y, floats(first, last, 0.3, 0.6, 0.4, 0.7)))
        assert (found.details.get("left_out"), found.n) == (left_out, 6 - (left_out or 0))


def test_one_risk_for_all_has_neither_slope_nor_joint_intercept() -> None:
    y, p = floats(0, 1, 0, 1), np.full(4, 0.3)
    assert calibration.calibration_slope(y, p) == Said("every risk is the same, so that there is no slope")
    joint = calibration.calibration_intercept_joint(y, p)
    assert joint == Said("every risk is the same, so that there is no slope to fit beside the intercept")


@pytest.mark.parametrize(("outcome", "risk", "ratio"), [([1], [0.25], 4), ([1, 1, 0], [0.5, 0.25, 0.25], 2)])
def test_the_ratio_of_a_few_rows(outcome: list[float], risk: list[float], ratio: float) -> None:
    assert estimated(calibration.oe_ratio(floats(*outcome), floats(*risk))).value == pytest.approx(ratio, abs=1e-15)


def test_no_ratio_without_rows_or_expected_events() -> None:
    assert calibration.oe_ratio(floats(), floats()) == Said("there are no rows")
    assert calibration.oe_ratio(floats(1, 0), floats(0, 0)) == Said("every risk is 0, so that no event is expected")


# ---- the smooth curve -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("few", "knots"), [(19, 0), (20, 3), (99, 3), (100, 4)])
@pytest.mark.parametrize("rare", [0.0, 1.0])
def test_the_smaller_class_decides_on_the_knots(few: int, knots: int, rare: float) -> None:
    y = np.full(400, 1 - rare)
    y[np.linspace(0, 399, few).astype(int)] = rare
    assert len(present(smooth_curve(y, np.linspace(0.1, 0.9, 400))).knots) == knots


# ---- bins of risk ---------------------------------------------------------------------------------------------------


def test_binned_errors_of_several_samples_are_those_of_each() -> None:
    events, risks, counts = (
        np.array([[1.0, 0, 3], [2, 2, 0]]),
        np.array([[0.5, 0, 3.5], [1, 3, 0]]),
        np.array([[4.0, 0, 4], [6, 4, 0]]),
    )
    errors, indices = calibration.binned_errors(events, risks, counts)
    # gaps 1/8 and 1/8 with room 7/8 and 7/8; gaps 1/6 and 1/4 with room 5/6 and 3/4
    assert errors == pytest.approx([1 / 8, 0.6 / 6 + 0.4 / 4], abs=1e-15)
    assert indices == pytest.approx([1 - 1 / 7, 1 - 0.6 / 5 - 0.4 / 3], abs=1e-15)


def test_a_certain_risk_lies_in_the_last_bin() -> None:
    """The last bin holds .9 and 1 with both outcomes: the gap of its means is .45."""
    found = estimated(calibration.ece(floats(0, 1, 0), floats(0.9, 1, 0), bootstrap=20))
    assert found.value == pytest.approx(2 / 3 * 0.45, abs=1e-12)


def test_bins_without_a_gap_are_1_and_no_digit_more() -> None:
    """The five shares, 1, 0, 14, 8 and 2 of 25, add up to a last digit more than 1."""
    rows = [(0.0, 1, 0), (0.5, 14, 7), (0.75, 8, 6), (1.0, 2, 2)]
    y = np.concatenate([(np.arange(n) < events).astype(float) for _, n, events in rows])
    p = np.concatenate([np.full(n, risk) for risk, n, _ in rows])
    assert estimated(calibration.eci(y, p, bootstrap=50)).value == 1
    assert estimated(calibration.ece(y, p, bootstrap=50)).value == 0


@pytest.mark.parametrize("function", [calibration.ece, calibration.eci])
def test_two_rows_have_bounds_and_one_has_none(function: Callable[..., Estimate | Absent]) -> None:
    two = estimated(function(floats(0, 1), floats(0.2, 0.6), bootstrap=50))
    low, high = interval_of(two)
    assert low <= two.value <= high
    estimate = estimated(function(floats(0), floats(0.2), bootstrap=50))
    assert (estimate.low, estimate.high, estimate.level, estimate.n) == (None, None, None, 1)
    assert estimate.reason


@pytest.mark.parametrize(("risk", "room"), [(0.12, 0.88), (0.35, 0.65), (0.85, 0.85)])
def test_in_one_bin_the_index_is_1_less_the_error_in_its_room(risk: float, room: float) -> None:
    """Value and bounds: only the unit of the gap is another, which is divided by the largest there could be."""
    y = (np.arange(150) % 2).astype(float)
    error, index = (
        estimated(each(y, np.full(150, risk), bootstrap=200)) for each in (calibration.ece, calibration.eci)
    )
    assert error.value == pytest.approx(abs(risk - 0.5), abs=1e-12)
    low, high = interval_of(error)
    assert 0 < low < error.value < high < room
    expected = [1 - bound / room for bound in (error.value, high, low)]
    assert [index.value, index.low, index.high] == pytest.approx(expected, abs=1e-9)
    assert (index.n, index.events, index.level) == (150, 75, 0.95)


def test_bounds_of_bins_stay_within_0_and_1() -> None:
    y, p = floats(0, 0, 0), floats(0.9, 0.92, 0.95)
    error, index = (estimated(each(y, p, bootstrap=200)) for each in (calibration.ece, calibration.eci))
    assert error.high == 1
    assert index.low == 0


# ---- scores ---------------------------------------------------------------------------------------------------------


def half_of(terms: list[float]) -> float:
    """Half of the 95 % t interval of a mean."""
    return float(student.ppf(0.975, len(terms) - 1)) * float(np.std(terms, ddof=1)) / math.sqrt(len(terms))


def test_the_bounds_of_scores_stay_in_their_range() -> None:
    terms = [0.0, 1.0]
    assert 0.5 + half_of(terms) > 2
    wide = estimated(calibration.brier(floats(1, 1), floats(1, 0)))
    assert (wide.value, wide.low, wide.high) == (0.5, 0, 1)
    logs = [math.log(0.9), math.log(0.2)]
    mean = sum(logs) / 2
    assert mean + half_of(logs) > 1
    found = estimated(calibration.log_score(floats(1, 1), floats(0.9, 0.2)))
    assert (found.value, found.low, found.high) == pytest.approx((mean, mean - half_of(logs), 0), abs=1e-9)
    assert found.high == 0
    scaled = estimated(calibration.scaled_brier(floats(0, 1, 0, 1), floats(0, 1, 0.1, 0.2)))
    assert scaled.value + 1.96 * present(scaled.se) > 1
    assert scaled.high == 1


@pytest.mark.parametrize(("cases", "others"), [([0.5, 0.9], [0.1, 0.2, 0.4]), ([0.6, 0.7, 0.9, 0.8], [0.3, 0.4])])
def test_welchs_interval_of_small_groups(cases: list[float], others: list[float]) -> None:
    y, p = floats(*[1] * len(cases), *[0] * len(others)), floats(*cases, *others)
    found = estimated(calibration.tjur_r2(y, p, 0.8))
    welch: Any = ttest_ind(cases, others, equal_var=False).confidence_interval(0.8)
    assert -1 < welch.low < welch.high < 1
    assert (found.low, found.high) == pytest.approx((welch.low, welch.high), abs=1e-12)
    spread = sum(float(np.var(group, ddof=1)) / len(group) for group in (cases, others))
    assert found.se == pytest.approx(math.sqrt(spread), abs=1e-12)


def test_welchs_interval_where_all_cases_have_one_risk() -> None:
    """Only the mean of the others is uncertain: the interval is as wide as theirs."""
    others = [0.1, 0.2, 0.25, 0.3]
    found = estimated(calibration.tjur_r2(floats(1, 1, 1, 0, 0, 0, 0), floats(0.75, 0.75, 0.75, *others)))
    gap, half = 0.75 - sum(others) / 4, half_of(others)
    assert (found.value, found.low, found.high) == pytest.approx((gap, gap - half, gap + half), abs=1e-12)


def test_the_bounds_of_the_gap_stay_within_its_range() -> None:
    cases, others = [0.1, 0.9], [0.2, 0.9]
    welch: Any = ttest_ind(cases, others, equal_var=False).confidence_interval(0.95)
    assert welch.low < -2
    assert welch.high > 2
    found = estimated(calibration.tjur_r2(floats(1, 1, 0, 0), floats(*cases, *others)))
    assert (found.low, found.high) == (-1, 1)


def test_the_likelihood_ratio_of_calibration_is_what_a_general_optimizer_gains() -> None:
    """Twice the gain over intercept 0 and slope 1, found by Nelder and Mead; p is chi-squared of two."""
    rng = np.random.default_rng(3)
    logits = rng.normal(-1, 1, 400)
    y = (rng.random(400) < expit(0.3 + 0.6 * logits)).astype(float)

    def lost(at: Floats) -> float:
        line = at[0] + at[1] * logits
        return float(np.sum(np.logaddexp(0, line) - y * line))

    best = minimize(lost, (0.0, 1.0), method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12})
    gained = 2 * (lost(np.array([0.0, 1.0])) - best.fun)
    found = estimated(calibration.calibration_test(y, expit(logits)))
    assert found.value == pytest.approx(gained, abs=1e-7)
    assert found.details["p_value"] == pytest.approx(chi2.sf(gained, 2), rel=1e-6)


def test_the_likelihood_ratio_has_a_limit_where_there_is_no_best_line() -> None:
    """50 rows at .1 without an event: 100 log(1/.9); four rows that their risks separate: -2 times their log
    likelihood; of two tied at the edge, one with the event, 2 log 2 less."""
    none = estimated(calibration.calibration_test(np.zeros(50), np.full(50, 0.1)))
    assert none.value == pytest.approx(-100 * math.log(0.9), rel=1e-12)
    assert none.details["p_value"] == pytest.approx(chi2.sf(none.value, 1), rel=1e-9), "equal risks have no slope"
    apart = estimated(calibration.calibration_test(floats(0, 0, 1, 1), floats(0.1, 0.2, 0.3, 0.4)))
    assert apart.value == pytest.approx(-2 * math.log(0.9 * 0.8 * 0.3 * 0.4), rel=1e-12)
    tied = estimated(calibration.calibration_test(floats(0, 0, 1, 1), floats(0.1, 0.2, 0.2, 0.4)))
    assert tied.value == pytest.approx(-2 * math.log(0.9 * 0.8 * 0.2 * 0.4) - 4 * math.log(2), rel=1e-12)
    assert calibration.calibration_test(floats(), floats()) == Said("there are no rows")


def test_rows_that_are_copied_in_clusters_make_the_test_of_calibration_no_surer() -> None:
    """Eight copies of each row: as many independent rows as before, so that p stays about what it was."""
    rng = np.random.default_rng(5)
    p_values = []
    for _ in range(200):
        risk = expit(rng.normal(-1, 1, 100))
        y = (rng.random(100) < risk).astype(float)
        copied = calibration.calibration_test(
            np.repeat(y, 8), np.repeat(risk, 8), Design(800, np.repeat(np.arange(100), 8))
        )
        p_values.append(estimated(copied).details["p_value"])
    assert 0.01 <= np.mean(np.array(p_values, dtype=float) < 0.05) <= 0.10


def test_the_patients_that_would_show_a_right_model_follow_from_the_information() -> None:
    """At O/E 1 and slope 1: n SE(slope)^2/.0676^2 or n SE(log O/E)^2/.0688^2, whichever is more."""
    risk = expit(np.linspace(-3, 1, 500))
    found = estimated(calibration.calibration_test((np.arange(500) % 4 == 0).astype(float), risk))
    weight, logits = risk * (1 - risk), np.linspace(-3, 1, 500)
    columns = np.vstack((np.ones(500), logits))
    information = columns * weight @ columns.T
    of_slope = 500 * np.linalg.inv(information)[1, 1] / 0.0676**2
    of_ratio = 500 * weight.sum() / risk.sum() ** 2 / 0.0688**2
    assert found.details["needed"] == pytest.approx(max(of_slope, of_ratio), rel=1e-9)


def test_spiegelhalters_z_of_one_row() -> None:
    """(1 - .2)(1 - .4) over the root of .36 times .16; and for a risk next to 0 the root of that risk."""
    assert calibration.spiegelhalter_z(floats(), floats()) == Said("there are no rows")
    assert estimated(calibration.spiegelhalter_z(floats(1), floats(0.2))).value == pytest.approx(2, abs=1e-12)
    assert estimated(calibration.spiegelhalter_z(floats(0), floats(1e-200))).value == pytest.approx(-1e-100, rel=1e-9)


# ---- groups ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "groups"),
    [([5, 5, 5], [5, 5, 5]), ([4, 6, 5], [10, 5]), ([5, 4, 6], [5, 10]), ([6, 5, 4], [6, 9]), ([5], [5])],
)
def test_small_groups_join_the_next_and_a_small_end_the_one_before(sizes: list[int], groups: list[int]) -> None:
    p = np.repeat([0.1, 0.4, 0.8][: len(sizes)], sizes)
    found = curved(calibration.calibration_groups((np.arange(len(p)) % 2).astype(float), p))
    assert list(found.columns["n"]) == groups


# ---- the curve of all sites -----------------------------------------------------------------------------------------


def site(name: str, n: int = 500, events: int | None = 150, **columns: tuple[float, ...]) -> SiteResults:
    """A site whose curve has two points, or what is given."""
    ends = {"risk": (0.1, 0.5), "observed": (0.2, 0.4), "low": (0.1, 0.3), "high": (0.3, 0.5)}
    summary = DatasetSummary(name, "external", name, n, events, n, {}, ())
    found = Curve({**ends, **columns}, n, Method("wald"), events)
    return SiteResults(summary, (), (CurveResult("calibration_curve", name, found),))


@pytest.mark.parametrize(("n", "events"), [(40, 20), (20, 0), (500, 480), (500, 20)])
def test_twenty_events_and_twenty_others_are_enough_to_be_pooled(n: int, events: int) -> None:
    found = curved(calibration.calibration_curve_all_sites((site("a"), site("b"), site("c"), site("d", n, events))))
    pooled = min(events, n - events) >= 20
    assert method_text(found.method).startswith("4 sites" if pooled else "3 sites")
    assert found.n == 1500 + n * pooled
    assert found.events == 450 + events * pooled


@pytest.mark.parametrize(
    "fourth",
    [
        site("d", 500, 19),
        site("d", 500, 481),
        site("d", 500, None),
        site("d", low=(0.0, 0.3)),
        site("d", low=(0.1, 0.0)),
        site("d", high=(0.3, 1.0)),
        site("d", high=(0.1, 0.5)),
        site("d", high=(0.3, 0.2)),
        site("d", risk=(0.3,), observed=(0.3,), low=(0.2,), high=(0.4,)),
    ],
    ids=["few events", "few others", "no count", "from 0", "to 0", "to 1", "no width", "upside down", "one point"],
)
def test_what_is_not_pooled(fourth: SiteResults) -> None:
    three = (site("a"), site("b"), site("c"))
    found = curved(calibration.calibration_curve_all_sites((*three, fourth)))
    assert method_text(found.method).startswith("3 sites")
    assert method_text(found.method).endswith("; 1 not pooled")
    assert (found.n, found.events) == (1500, 450)
    assert isinstance(calibration.calibration_curve_all_sites((*three[:2], fourth)), Absent)


def left(at: SiteResults, count: int) -> SiteResults:
    """The site of whom so many were followed for less than the horizon."""
    return replace(at, summary=replace(at.summary, left=count))


def test_who_left_is_not_among_those_without_the_outcome() -> None:
    three = (site("a"), site("b"), site("c"))
    nobody = calibration.calibration_curve_all_sites(tuple(left(each, 0) for each in (*three, site("d"))))
    assert nobody == calibration.calibration_curve_all_sites((*three, site("d")))
    for count, pooled in ((330, True), (331, False)):
        found = curved(calibration.calibration_curve_all_sites((*three, left(site("d"), count))))
        assert found == curved(
            calibration.calibration_curve_all_sites((*three, site("d")) if pooled else (*three, site("d", 9, 0)))
        )


def test_the_common_range_begins_at_the_highest_first_risk_and_may_begin_at_0() -> None:
    from_0 = site("a", risk=(0.0, 0.5))
    also = site("b", risk=(0.0, 0.4))
    every = curved(calibration.calibration_curve_all_sites((from_0, also, site("c", risk=(0.0, 0.9)))))
    assert (every.columns["risk"][0], every.columns["risk"][-1], len(every.columns["risk"])) == (0, 0.4, 101)
    curve = curved(
        calibration.calibration_curve_all_sites((from_0, site("b", risk=(0.05, 0.6)), site("c", risk=(0.0, 0.9))))
    )
    assert (curve.columns["risk"][0], curve.columns["risk"][-1]) == (0.05, 0.5)


def test_ranges_that_touch_share_no_range() -> None:
    touching = calibration.calibration_curve_all_sites((site("a"), site("b", risk=(0.5, 0.7)), site("c")))
    assert touching == Said("the risks of the sites share no range")


# ---- intercepts that are hard to find -------------------------------------------------------------------------------


def solved(outcome: Floats, risk: Floats, weights: Floats | None = None) -> float:
    """The intercept at which as many events are expected as there are, of the risks that have a logit."""
    kept = (risk >= 1e-12) & (risk <= 1 - 1e-12)
    log_odds = np.log(risk[kept]) - np.log1p(-risk[kept])
    weight = np.ones(kept.sum()) if weights is None else weights[kept]
    excess = lambda at: float(np.sum(weight * (expit(at + log_odds) - outcome[kept])))  # noqa: E731
    return float(brentq(excess, -80, 80, xtol=1e-13))


@pytest.mark.parametrize(("rows", "alarms", "misses"), [(50, 5, 2), (50, 1, 0), (500, 5, 2), (500, 0, 400)])
def test_answers_all_but_0_and_1_have_an_intercept_where_some_are_wrong(rows: int, alarms: int, misses: int) -> None:
    outcome = np.repeat([0.0, 1.0], rows)
    risk = np.clip(outcome, 1e-12, 1 - 1e-12)
    risk[:alarms] = 1 - 1e-12
    risk[rows : rows + misses] = 1e-12
    assert estimated(calibration.calibration_intercept(outcome, risk)).value == pytest.approx(
        solved(outcome, risk), abs=1e-6
    )
    why = f"without the {2 * rows:,} risks of 0 or 1, there are no rows"
    assert calibration.calibration_intercept(outcome, np.round(risk)) == Said(why)


@pytest.mark.parametrize("seed", range(20))
def test_overconfident_risks_have_an_intercept(seed: int) -> None:
    """Most risks are 0 or 1 to many digits, some of them wrong, and a few lie between."""
    rng = np.random.default_rng(seed)
    risk = expit(np.concatenate((rng.normal(0, 24, 40), rng.normal(0, 2, 20))))
    outcome = (rng.random(60) < 0.15 + 0.7 * (risk > 0.5)).astype(float)
    assert estimated(calibration.calibration_intercept(outcome, risk)).value == pytest.approx(
        solved(outcome, risk), abs=1e-6
    )


def test_a_likelihood_near_0_does_not_stop_the_fit_of_large_terms() -> None:
    outcome, risk = floats(0, 1, 0, 0, 0, 1), floats(5.266e-4, 1 - 1e-12, 1.4048e-8, 0.0795, 0.3171, 1 - 1e-12)
    assert estimated(calibration.calibration_intercept(outcome, risk)).value == pytest.approx(
        solved(outcome, risk), abs=1e-6
    )


def test_rows_that_tell_next_to_nothing_still_have_the_intercept_that_they_tell() -> None:
    """Its standard error is two thousand: rounding moves each step by more than a billionth, and never by more."""
    outcome = floats(1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0)
    end = 1 - 1e-12
    risk = floats(3.4e-6, end, 1e-12, 5.8e-7, 0.0013, end, end, end, end, 1.1e-9, 1e-12, end)
    found = estimated(calibration.calibration_intercept(outcome, risk))
    assert present(found.se) > 1000
    assert found.value == pytest.approx(solved(outcome, risk), abs=1e-6 * present(found.se))


@pytest.mark.parametrize(("seed", "beyond"), [(600, True), (2692, False), (2692, True)])
def test_a_row_without_weight_moves_no_weighted_fit(seed: int, beyond: bool) -> None:
    """Risks that lie very near each other beside one far off, which is where steps are long."""
    rng = np.random.default_rng(seed)
    rows = int(rng.choice([30, 100]))
    close = 0.005 * rng.standard_normal(rows)
    outcome = np.append((rng.random(rows) < expit(-3 + close / 0.005)).astype(float), 0.0)
    risk, weights = np.append(expit(close), 1e-6), np.ones(rows + 1)
    plain = estimated(calibration.calibration_slope(outcome, risk)).value
    if beyond:
        outcome, risk, weights = np.append(outcome, 0.0), np.append(risk, 1.0), np.append(weights, 0.0)
    found = present(calibration.SLOPE(weighted.Rows(outcome, risk, weights)))
    assert found.value == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize(
    ("events", "weights"), [((1, 0, 1, 1), (1.0, 1.0, 1.0, 1.0)), ((1, 0, 0, 1), (9.0, 1, 0.5, 3))]
)
def test_the_start_of_an_intercept_is_within_one_half_of_it(
    events: tuple[int, ...], weights: tuple[float, ...]
) -> None:
    outcome, offset, weight = floats(*events), floats(-30.0, 25.0, -3.0, 0.5), floats(*weights)
    exact = brentq(lambda at: float(np.sum(weight * (expit(at + offset) - outcome))), -80, 80)
    assert near_intercept(outcome, offset, weight) == pytest.approx(exact, abs=0.5)
    rng = np.random.default_rng(8)
    for _ in range(40):
        spread = rng.uniform(-30, 30, 4)
        exact = brentq(lambda at, spread=spread: float(np.sum(weight * (expit(at + spread) - outcome))), -80, 80)
        assert near_intercept(outcome, spread, weight) == pytest.approx(exact, abs=0.5)
    assert near_intercept(outcome, np.full(4, 7.0), weight) == pytest.approx(
        math.log(float(weight @ outcome) / float(weight @ (1 - outcome))) - 7, abs=1e-9
    )
