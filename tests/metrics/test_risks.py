"""Curves of the risks: bins, cumulative shares, raters, probabilities after a result, pooled and wide curves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm

from dossier.core.facts import Method
from dossier.core.types import Absent, Curve, CurveResult, DatasetSummary, Estimate, Floats, SiteResults
from dossier.metrics import discrimination, utility
from dossier.metrics.calibration import calibration_curve, calibration_curve_all_sites, tjur_r2
from dossier.metrics.graded_accuracy import h_accuracy_risk
from dossier.metrics.intervals import two_sided
from dossier.metrics.risks import cumulative_risks, fagan_nomogram, predictive_values, rater_rates
from dossier.typeset.methods import method_text
from dossier.typeset.reasons import reason_text
from tests.estimated import absent, curved, estimated, present
from tests.reasons import Said


def drawn(seed: int, n: int = 300, scale: float = 1.0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    risk = rng.beta(2, 4, n) * scale
    return (rng.random(n) < risk).astype(float), np.round(risk, 5)


def numbers(found: Curve, name: str) -> Floats:
    return np.array(found.columns[name], dtype=float)


def site(name: str, curve: str, found: Curve | Absent, n: int = 300, events: int = 100) -> SiteResults:
    summary = DatasetSummary(name, "external", name, n, events, n, {}, ())
    return SiteResults(summary, (), (CurveResult(curve, name, found),))


# ---- bins -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reach", "width", "equal"),
    [
        *((0.0004, 0.000125, 8), (0.013, 0.00125, 11), (0.0499, 0.0025, 20), (0.2, 0.0125, 16), (0.4, 0.025, 16)),
        *((0.7, 0.05, 14), (1.0, 0.05, 20)),
    ],
)
def test_bins_are_finer_where_all_risks_are_small(reach: float, width: float, equal: int) -> None:
    risk = np.linspace(0, reach, 500)
    outcome = (np.arange(500) % 5 == 0).astype(float)
    found = curved(discrimination.risk_distribution(outcome, risk))
    low, high = numbers(found, "low"), numbers(found, "high")
    bins = equal + (equal * width < 1)
    assert len(low) == bins
    assert low[0] == 0
    assert high[-1] == 1
    np.testing.assert_allclose((high - low)[:equal], width)
    np.testing.assert_array_equal(low[1:], high[:-1])
    assert (risk >= high[equal - 1]).mean() <= 0.01
    for index in range(bins):
        inside = [(low[index] <= p < high[index]) or (index == bins - 1 and p == 1) for p in risk]
        assert found.columns["events"][index] == sum(y for y, held in zip(outcome, inside, strict=True) if held)
    assert sum(numbers(found, "events")) + sum(numbers(found, "non_events")) == 500


def test_less_than_one_risk_in_a_hundred_lies_in_the_last_bin() -> None:
    risk = np.append(np.full(995, 0.004), np.full(5, 0.8))
    found = curved(discrimination.risk_distribution(np.tile([0.0, 1.0], 500), risk))
    assert numbers(found, "high")[-2] == 0.00425
    assert found.columns["events"][-1] == 3
    assert found.columns["non_events"][-1] == 2


def test_a_risk_that_equals_a_round_number_is_not_hidden_in_the_last_bin() -> None:
    found = curved(discrimination.risk_distribution(np.array([0.0, 1.0]), np.full(2, 0.5)))
    assert (found.columns["low"][10], found.columns["high"][10]) == (0.5, 0.55)
    assert found.columns["events"][10] == 1


@pytest.mark.parametrize("reach", [0.11, 0.2, 0.26, 0.44, 0.51, 0.72, 0.99])
def test_the_bins_of_two_sites_can_be_put_together(reach: float) -> None:
    """Beside a site of smaller risks: every edge of the wider bins, or of every other one, is an edge of the finer."""
    ends = [
        numbers(curved(discrimination.risk_distribution(np.tile([0.0, 1.0], 250), np.linspace(0, top, 500))), "high")[
            :-1
        ]
        for top in (reach, reach / 3, reach / 30)
    ]
    wide, *finer = ends
    for fine in finer:
        within = wide[1::2][wide[1::2] <= fine[-1]]
        assert set(np.round(within, 9)) <= set(np.round(fine, 9))


def test_of_a_rare_outcome_more_than_two_bars_are_filled() -> None:
    """At a prevalence of 7 % nine of ten risks lie below .15; ten bins from 0 to 1 had two bars."""
    rng = np.random.default_rng(3)
    risk = 1 / (1 + np.exp(-rng.normal(-3.2, 1.15, 4000)))
    found = curved(discrimination.risk_distribution((rng.random(4000) < risk).astype(float), risk))
    share = np.array(found.columns["share_non_events"], dtype=float)
    assert (share > 0.02).sum() >= 5
    assert share.max() < 0.5


# ---- cumulative shares ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 0.03])
def test_cumulative_shares_are_sensitivity_and_one_less_specificity(scale: float) -> None:
    y, p = drawn(3, 400, scale)
    y[:3] = 1, 0, 1
    found = curved(cumulative_risks(y, p))
    for index in range(0, len(found.columns["risk"]), 9):
        at = present(found.columns["risk"][index])
        hit, spared = estimated(discrimination.sensitivity(y, p, at)), estimated(discrimination.specificity(y, p, at))
        assert found.columns["cases"][index] == hit.value
        assert found.columns["cases_low"][index] == pytest.approx(hit.low)
        assert found.columns["cases_high"][index] == pytest.approx(hit.high)
        assert found.columns["others"][index] == pytest.approx(1 - spared.value)
        assert found.columns["others_low"][index] == pytest.approx(1 - present(spared.high))


@pytest.mark.parametrize(("reach", "end"), [(0.013, 0.01375), (0.0499, 0.05), (0.4, 0.4), (0.99, 1.0)])
def test_cumulative_shares_stand_at_a_hundred_even_steps_and_ten_more_up_to_one(reach: float, end: float) -> None:
    at = numbers(curved(cumulative_risks(np.tile([0.0, 1.0], 250), np.linspace(0, reach, 500))), "risk")
    expected = [end * step / 100 for step in range(101)]
    if end < 1:
        expected += [end + (1 - end) * step / 10 for step in range(1, 11)]
    np.testing.assert_allclose(at, expected, atol=1e-12)


def test_the_area_between_the_cumulative_shares_is_tjurs_r2() -> None:
    rng = np.random.default_rng(8)
    y = np.tile([0.0, 1.0], 300)
    p = np.round(rng.random(600), 2)
    found = curved(cumulative_risks(y, p))
    # The risks lie on the grid, so that each step holds the share from its upper end on.
    gap = (numbers(found, "cases") - numbers(found, "others"))[1:]
    assert gap.sum() / 100 == pytest.approx(estimated(tjur_r2(y, p)).value, abs=1e-12)


def test_the_means_of_the_two_groups_come_with_their_difference() -> None:
    y, p = drawn(4)
    details = estimated(tjur_r2(y, p)).details
    assert details["mean_of_cases"] == pytest.approx(sum(p[y == 1]) / y.sum())
    assert details["mean_of_others"] == pytest.approx(sum(p[y == 0]) / (1 - y).sum())


# ---- raters ---------------------------------------------------------------------------------------------------------


def test_raters_stand_where_loops_put_them() -> None:
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, (60, 4)).astype(float)
    labels[rng.random((60, 4)) < 0.2] = math.nan
    truth = rng.integers(0, 2, 60).astype(float)
    truth[:5] = math.nan
    found = curved(rater_rates(labels, truth))
    assert list(found.columns["rater"]) == [1, 2, 3, 4]
    for rater in range(4):
        hits = cases = alarms = others = 0
        for said, true in zip(labels[:, rater], truth, strict=True):
            if not math.isnan(said) and not math.isnan(true):
                cases, others = cases + (true == 1), others + (true == 0)
                hits, alarms = hits + (said == true == 1), alarms + (said == 1 and true == 0)
        assert found.columns["true_positive_rate"][rater] == pytest.approx(hits / cases)
        assert found.columns["false_positive_rate"][rater] == pytest.approx(alarms / others)
        assert (found.columns["cases"][rater], found.columns["others"][rater]) == (cases, others)


def test_a_rater_has_the_place_of_its_group() -> None:
    """The second judged no non-case and is left out; groups count in the order of their names."""
    labels = np.array([[1, 1, 1], [0, math.nan, 1.0]])
    found = curved(rater_rates(labels, np.array([1.0, 0]), ("resident", "nurse", "doctor")))
    assert list(found.columns["rater"]) == [1, 3]
    assert list(found.columns["group"]) == [2, 0]
    assert "group" not in curved(rater_rates(labels, np.array([1.0, 0]))).columns


def test_a_rater_of_one_class_is_left_out_and_counted() -> None:
    labels = np.array([[1, 1], [0, math.nan], [1, 1.0]])
    found = curved(rater_rates(labels, np.array([1.0, 0, 1])))
    assert list(found.columns["rater"]) == [1]
    assert method_text(found.method).endswith("1 left out")
    assert (found.n, found.events) == (3, 2)
    assert isinstance(rater_rates(labels, np.array([1.0, 1, 1])), Absent)
    assert isinstance(rater_rates(np.ones((3, 251)), np.array([1.0, 0, 1])), Absent)


def test_a_rater_of_one_case_and_one_other_is_shown() -> None:
    """The second judged no case; nobody judged the third row, and the truth of the last is not known."""
    labels = np.array([[1, math.nan], [0, 1], [math.nan, math.nan], [1, 1]])
    found = curved(rater_rates(labels, np.array([1.0, 0, 1, math.nan])))
    assert list(found.columns["rater"]) == [1]
    assert (found.columns["cases"], found.columns["others"]) == ((1,), (1,))
    assert (found.columns["true_positive_rate"], found.columns["false_positive_rate"]) == ((1,), (0,))
    assert method_text(found.method).endswith("1 left out")
    assert (found.n, found.events) == (2, 1)


def test_two_hundred_and_fifty_raters_can_be_shown_and_one_more_cannot() -> None:
    truth = np.array([1.0, 0.0])
    assert list(curved(rater_rates(np.ones((2, 250)), truth)).columns["rater"]) == list(range(1, 251))
    assert rater_rates(np.ones((2, 251)), truth) == Said("there are 251 raters, more than 250 points can show")


# ---- before and after a result --------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.floats(0.05, 0.7))
def test_the_probability_after_a_result_is_bayes_theorem_and_the_predictive_value(seed: int, threshold: float) -> None:
    y, p = drawn(seed, 80)
    if not 0 < y.sum() < 80:
        assert isinstance(fagan_nomogram(y, p, (threshold,)), Absent)
        return
    row = {name: values[0] for name, values in curved(fagan_nomogram(y, p, (threshold,))).columns.items()}
    assert row["before"] == y.mean()
    for after, value, ratio, flip in (
        ("after_positive", discrimination.ppv, discrimination.likelihood_ratio_positive, False),
        ("after_negative", discrimination.npv, discrimination.likelihood_ratio_negative, True),
    ):
        found, times = value(y, p, threshold), ratio(y, p, threshold)
        if isinstance(found, Absent):
            assert row[after] is row[f"{after}_low"] is row[f"{after}_high"] is None
            continue
        ends = (found.low or 0, found.high or 0)
        bounds = (1 - ends[1], 1 - ends[0]) if flip else ends
        assert row[after] == pytest.approx(1 - found.value if flip else found.value, abs=1e-12)
        assert (row[f"{after}_low"], row[f"{after}_high"]) == pytest.approx(bounds, abs=1e-12)
        if isinstance(times, Estimate):
            odds = y.mean() / (1 - y.mean()) * times.value
            assert row[after] == pytest.approx(odds / (1 + odds), abs=1e-12)
        else:
            assert row[ratio.__name__] is None


def test_without_a_threshold_nothing_comes_after() -> None:
    assert fagan_nomogram(*drawn(1), ()) == Said("no threshold is declared")


# ---- the pooled calibration curve -----------------------------------------------------------------------------------


def test_sites_that_agree_are_their_own_pooled_curve() -> None:
    y, p = drawn(2, 600)
    curve = curved(calibration_curve(y, p))
    events = int(y.sum())
    found = curved(
        calibration_curve_all_sites(tuple(site(f"s{k}", "calibration_curve", curve, 600, events) for k in range(4)))
    )
    np.testing.assert_allclose(numbers(found, "risk"), numbers(curve, "risk"), atol=1e-12)
    np.testing.assert_allclose(numbers(found, "observed"), numbers(curve, "observed"), atol=1e-12)
    half = (logit(numbers(curve, "high")) - logit(numbers(curve, "low"))) / 2 / two_sided(0.95)
    from scipy.stats import t

    expected = expit(logit(numbers(curve, "observed")) - t.ppf(0.975, 3) * half / 2)
    np.testing.assert_allclose(numbers(found, "low"), expected, atol=1e-9)
    assert found.n == 2400


def test_the_pooled_curve_covers_the_common_range_and_leaves_out_small_sites() -> None:
    parts = [drawn(seed, 500, scale) for seed, scale in ((1, 1.0), (2, 0.6), (3, 0.8))]
    made = [curved(calibration_curve(y, p)) for y, p in parts]
    sites = [site(f"s{index}", "calibration_curve", curve) for index, curve in enumerate(made)]
    found = curved(calibration_curve_all_sites(tuple(sites)))
    assert numbers(found, "risk")[0] == max(numbers(curve, "risk")[0] for curve in made)
    assert numbers(found, "risk")[-1] == pytest.approx(min(numbers(curve, "risk")[-1] for curve in made))
    at = logit(numbers(found, "risk"))
    curves = [np.interp(at, logit(numbers(curve, "risk")), logit(numbers(curve, "observed"))) for curve in made]
    pooled = logit(numbers(found, "observed"))
    assert (pooled > np.min(curves, axis=0) - 1e-9).all()
    assert (pooled < np.max(curves, axis=0) + 1e-9).all()
    few = Curve(made[0].columns, 30, made[0].method, 11)
    again = curved(calibration_curve_all_sites((*sites, site("few", "calibration_curve", few))))
    np.testing.assert_array_equal(numbers(again, "observed"), numbers(found, "observed"))
    assert method_text(again.method).endswith("1 not pooled")


def test_the_pooled_curve_is_absent_without_three_sites_or_a_common_range() -> None:
    y, p = drawn(1, 500)
    curve = curved(calibration_curve(y, p))
    a, b = (site(name, "calibration_curve", curve) for name in "ab")
    for few in ((a,), (a, b)):
        found = absent(calibration_curve_all_sites(few))
        assert reason_text(found.reason).startswith("fewer than three external sites")
    low, high = (
        Curve({**curve.columns, "risk": tuple(np.linspace(*ends, 101))}, 500, Method("wald"), 150)
        for ends in ((0.1, 0.2), (0.3, 0.5))
    )
    ends = (site("low", "calibration_curve", low), site("high", "calibration_curve", high))
    apart = calibration_curve_all_sites((a, *ends))
    assert apart == Said("the risks of the sites share no range")


# ---- decision curves beyond the range -------------------------------------------------------------------------------


def test_the_wide_curve_is_the_curve_and_a_quarter_more_on_either_side() -> None:
    y, p = drawn(7)
    wide = curved(utility.decision_curve_wide(y, p, (0.2, 0.6), 0.95, (0.25,)))
    reached = numbers(wide, "threshold")
    assert (reached[0], reached[-1]) == pytest.approx((0.1, 0.7))
    assert {0.2, 0.25, 0.6} <= set(reached)
    for index in range(0, len(reached), 10):
        assert wide.columns["net_benefit"][index] == pytest.approx(
            estimated(utility.net_benefit(y, p, reached[index])).value
        )
    ends = numbers(curved(utility.decision_curve_wide(y, p, (0.05, 0.95))), "threshold")
    assert (ends[0], ends[-1]) == (0, 0.99)
    assert isinstance(utility.decision_curve_wide(y, p), Absent)


@pytest.mark.parametrize("name", ["decision_curve", "decision_curve_wide"])
def test_sites_together_are_all_rows_in_one_table(name: str) -> None:
    make, join = {
        "decision_curve": (utility.decision_curve, utility.decision_curve_all_sites),
        "decision_curve_wide": (utility.decision_curve_wide, utility.decision_curve_wide_all_sites),
    }[name]
    parts = [drawn(seed, n) for seed, n in ((1, 120), (2, 300))]
    made = [make(y, p, (0.1, 0.5)) for y, p in parts]
    found = curved(join(tuple(site(str(index), name, each) for index, each in enumerate(made))))
    y, p = (np.concatenate(column) for column in zip(*parts, strict=True))
    whole = curved(make(y, p, (0.1, 0.5)))
    for column in ("net_benefit", "treat_all"):
        np.testing.assert_allclose(numbers(found, column), numbers(whole, column), atol=1e-13)


# ---- utilities side by side -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_profile_holds_the_measures_of_these_names(seed: int) -> None:
    y, p = drawn(seed, 150)
    found = curved(utility.utility_profile(y, p))
    for index in range(0, 99, 7):
        tau = (index + 1) / 100
        assert found.columns["tau"][index] == tau
        for measure in (utility.net_benefit, utility.standardized_net_benefit, h_accuracy_risk):
            estimate, name = estimated(measure(y, p, tau)), measure.__name__
            assert found.columns[name][index] == pytest.approx(estimate.value, abs=1e-12)
            if estimate.low is not None:
                assert found.columns[f"{name}_low"][index] == pytest.approx(estimate.low, abs=1e-12)
                assert found.columns[f"{name}_high"][index] == pytest.approx(estimate.high, abs=1e-12)


def test_a_class_of_one_row_leaves_h_accuracy_without_a_band() -> None:
    y, p = np.array([1.0, 0, 0, 0]), np.array([0.6, 0.1, 0.2, 0.7])
    found = curved(utility.utility_profile(y, p))
    assert set(found.columns["h_accuracy_risk_low"]) == {None}
    assert found.columns["h_accuracy_risk"][49] == pytest.approx(estimated(h_accuracy_risk(y, p, 0.5)).value)
    assert isinstance(utility.utility_profile(np.ones(4), p), Absent)


@pytest.mark.parametrize("events", range(1, 49))
def test_the_profile_of_a_perfect_model_ends_at_one_and_leaves_room_below(events: int) -> None:
    y = (np.arange(49) < events).astype(float)
    found = curved(utility.utility_profile(y, y))
    assert set(found.columns["h_accuracy_risk"]) == {1.0}
    bounds = zip(found.columns["h_accuracy_risk_low"], found.columns["h_accuracy_risk_high"], strict=True)
    assert all((low, high) == (None, None) or (low is not None and low < 1 and high == 1) for low, high in bounds)


# ---- predictive values where the outcome is rarer or more frequent --------------------------------------------------


def _by_integral(
    slope: float, intercept: float, mean: float, prevalence: float, threshold: float
) -> tuple[float, float]:
    """PPV and NPV of normal log odds of sd 1.3 that are moved together until the outcome is so frequent."""

    def integral(by: float, low: float, high: float, with_outcome: bool) -> float:
        def at(log_odds: float) -> float:
            chance = 1 / (1 + math.exp(-intercept - slope * log_odds)) if with_outcome else 1.0
            return chance * math.exp(-(((log_odds - mean - by) / 1.3) ** 2) / 2) / (1.3 * math.sqrt(math.tau))

        inside = np.clip((low, high), mean + by - 11, mean + by + 11)
        return float(quad(at, *inside, limit=200)[0])

    by = brentq(lambda by: integral(by, -math.inf, math.inf, True) - prevalence, -20, 20)
    at = float(logit(threshold))
    hits, flagged = (integral(by, at, math.inf, each) for each in (True, False))
    missed, spared = (integral(by, -math.inf, at, each) for each in (True, False))
    return hits / flagged if flagged else math.nan, 1 - missed / spared if spared else math.nan


@pytest.mark.parametrize(("slope", "intercept"), [(1.0, 0.0), (0.5, -0.3)])
def test_predictive_values_of_a_shifted_case_mix_are_those_of_the_integral(slope: float, intercept: float) -> None:
    """Each risk stands for both outcomes at their shares, so that line and outcome fit without an error."""
    log_odds = norm.ppf((np.arange(40_000) + 0.5) / 40_000, -1.1, 1.3)
    chance = expit(intercept + slope * log_odds)
    outcome, risk = np.repeat([1.0, 0.0], 40_000), np.tile(expit(log_odds), 2)
    found = curved(predictive_values(outcome, risk, 0.2, np.concatenate((chance, 1 - chance))))
    columns = [numbers(found, name) for name in ("prevalence", "ppv_same", "ppv_shifted", "npv_shifted")]
    assert np.isnan(columns).sum() < 10, "at the ends hardly anybody is flagged, or spared"
    for prevalence, same, *both in np.array(columns).T.tolist():
        for value, expected in zip(both, _by_integral(slope, intercept, -1.1, prevalence, 0.2), strict=True):
            assert math.isnan(value) or value == pytest.approx(expected, abs=0.002), prevalence
        if slope == 1 and prevalence == 0.05:
            assert both[0] > 3 * same, "a rarer outcome leaves fewer flagged, but those at the same risks"


def test_both_assumptions_give_what_was_found_at_the_prevalence_of_the_site() -> None:
    outcome, risk = drawn(3)
    found = curved(predictive_values(outcome, risk, 0.4))
    (here,) = np.flatnonzero(numbers(found, "own"))
    flagged = risk >= 0.4
    own = {"ppv": outcome[flagged].mean(), "npv": 1 - outcome[~flagged].mean()}
    assert numbers(found, "prevalence")[here] == pytest.approx(outcome.mean())
    for name, value in own.items():
        assert numbers(found, f"{name}_same")[here] == pytest.approx(value)
        assert numbers(found, f"{name}_shifted")[here] == pytest.approx(value)
        # No jump beside it: the band opens from there.
        assert numbers(found, f"{name}_shifted")[here + 1] == pytest.approx(value, abs=0.06)
    sensitivity, specificity = (
        outcome[flagged].sum() / outcome.sum(),
        (1 - outcome)[~flagged].sum() / (1 - outcome).sum(),
    )
    at = numbers(found, "prevalence")
    by_bayes = sensitivity * at / (sensitivity * at + (1 - specificity) * (1 - at))
    np.testing.assert_allclose(numbers(found, "ppv_same"), by_bayes, atol=6e-5)
    weighted = curved(predictive_values(outcome, risk, 0.4, np.ones(len(risk))))
    for name, values in found.columns.items():
        np.testing.assert_allclose(np.array(values, dtype=float), numbers(weighted, name), atol=1e-9, err_msg=name)


def test_what_is_known_of_no_event_below_the_threshold_stays_so_and_nobody_flagged_is_no_value() -> None:
    risk = np.linspace(0.02, 0.6, 200)
    outcome = ((risk > 0.35) & (np.arange(200) % 3 > 0)).astype(float)
    found = curved(predictive_values(outcome, risk, 0.3))
    assert set(found.columns["npv_same"]) == {1.0}
    assert set(found.columns["npv_shifted"]) == {1.0, None}, "moved far enough all are flagged"
    unflagged = curved(predictive_values(outcome, risk, 0.9))
    assert set(unflagged.columns["ppv_same"]) == {None}
    assert unflagged.columns["ppv_shifted"][0] is None
    assert 0 < (unflagged.columns["ppv_shifted"][-1] or 0) < 1, "moved far enough some are flagged"


def test_too_few_risks_or_events_and_risks_the_wrong_way_round_have_no_band() -> None:
    outcome, risk = drawn(3)
    for found, said in (
        (predictive_values(outcome, np.round(risk, 1), 0.4), "fewer_different_risks"),
        (predictive_values(outcome[:60] * (np.arange(60) < 30), risk[:60], 0.4), "fewer_events"),
        (predictive_values(1 - outcome, risk, 0.4), "risks_do_not_rise_with_the_outcome"),
    ):
        assert absent(found).reason.code == said
