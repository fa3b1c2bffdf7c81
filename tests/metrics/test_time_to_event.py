"""Laws of every measure of an outcome by a horizon: where nobody left it is the binary one; nothing else matters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import t as student_t

import dossier
from dossier.core.register import Metric, Sized, measures
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics.censoring import By, TimeToEvent
from dossier.metrics.shares import Design
from dossier.metrics.smooth_curve import smooth_curve
from dossier.metrics.time_to_event import answer
from dossier.typeset.methods import method_text
from tests.estimated import estimated, present
from tests.metrics.test_censoring import HORIZON, random_rows


def takes_follow_up(metric: Metric) -> bool:
    """Whether a measure is known of an outcome by a horizon."""
    # Sizes of samples are other formulas there.
    form = None if isinstance(metric.followed, Sized) else metric.followed or metric.weighted
    return "outcome" in metric.needs and form not in (None, "refused")


MEASURES = {name: metric for name, metric in measures().items() if takes_follow_up(metric)}
ONLY_BY_HORIZON = ("observed_risk", "uno_c", "harrell_c", "censoring_by_risk")
OF_CURVE = {name for name, metric in MEASURES.items() if metric.followed == "itself"}
ON_CLOGLOG = {"calibration_intercept", "calibration_slope", "calibration_intercept_joint"}


def asked(name: str, outcome: Any, risk: Floats, **settings: Any) -> Estimate | Absent:
    """A measure with what it names."""
    function: Callable[..., Estimate | Absent] = getattr(dossier.metrics, name)
    rng = np.random.default_rng(5)
    every = {"rival": np.clip(risk + rng.normal(0, 0.1, len(risk)), 0.01, 0.99), "threshold": 0.4, "bootstrap": 20}
    named = inspect.signature(function).parameters
    return function(outcome, risk=risk, **{key: every[key] for key in every if key in named} | settings)


def a_table(seed: int = 2, n: int = 300, by: By = "fifths") -> tuple[TimeToEvent, Floats]:
    """Patients of whom a third left early."""
    time, event, risk = random_rows(n, seed)
    return TimeToEvent(time, event, HORIZON, by), risk


def nobody_left(outcome: TimeToEvent) -> tuple[TimeToEvent, Floats]:
    """The same where everybody who left was followed on, and the outcome in 0 and 1."""
    left = (outcome.event == 0) & (outcome.time < outcome.horizon)
    time = np.where(left, outcome.horizon + 1 + outcome.time, outcome.time)
    whole = replace(outcome, time=time)
    return whole, ((time <= outcome.horizon) & (outcome.event == 1)).astype(float)


def alike(one: Estimate | Absent, other: Estimate | Absent, rel: float = 1e-9) -> None:
    """Both estimates, or both absent for the same reason."""
    if isinstance(one, Absent) or isinstance(other, Absent):
        assert one == other
        return
    for name in ("value", "se", "low", "high"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert (ours is None) is (theirs is None), name
        assert ours is None or ours == pytest.approx(theirs, rel=rel, abs=1e-12), name


EVERY = sorted([*MEASURES, *ONLY_BY_HORIZON])


def test_the_measures_that_the_methods_name_are_there() -> None:
    assert {"auroc", "brier", "scaled_brier", "oe_ratio", "ici", "e50", "e90", "emax", *ON_CLOGLOG} <= set(MEASURES)
    at_threshold = {"sensitivity", "specificity", "ppv", "npv", "net_benefit", "net_benefit_gain"}
    assert at_threshold | {"standardized_net_benefit", "auroc_difference"} <= set(MEASURES)


@pytest.mark.parametrize("by", ["fifths", "marginal"])
@pytest.mark.parametrize("name", sorted(set(MEASURES) - OF_CURVE - ON_CLOGLOG))
def test_where_nobody_left_it_is_the_binary_measure(name: str, by: By) -> None:
    outcome, risk = a_table(by=by)
    whole, cases = nobody_left(outcome)
    found, plain = estimated(asked(name, whole, risk)), estimated(asked(name, cases, risk))
    # A difference is the mean of differences there, and that of two means here.
    rounds = name.endswith("_difference") and name != "auroc_difference"
    assert found.value == (pytest.approx(plain.value, abs=1e-14) if rounds else plain.value)
    assert plain.se is None or present(found.se) == pytest.approx(plain.se, rel=0.12)


@pytest.mark.parametrize("which", [0, 1])
def test_where_nobody_left_the_slope_is_that_of_a_cloglog_regression(which: int) -> None:
    whole, cases = nobody_left(a_table()[0])
    risk = a_table()[1]
    x = np.log(-np.log1p(-risk))

    def loss(b: Floats) -> float:
        hazard = np.exp(b[0] + b[1] * x)
        return float(-np.sum(cases * np.log(-np.expm1(-hazard)) - (1 - cases) * hazard))

    best = minimize(loss, np.array([0.0, 1.0]), method="BFGS", options={"gtol": 1e-8}).x
    name = ("calibration_intercept_joint", "calibration_slope")[which]
    assert estimated(asked(name, whole, risk)).value == pytest.approx(best[which], abs=1e-5)


def test_where_nobody_left_observed_risk_is_the_share_and_concordance_counts_pairs() -> None:
    whole, cases = nobody_left(a_table()[0])
    risk = a_table()[1]
    assert estimated(asked("observed_risk", whole, risk)).value == pytest.approx(cases.mean(), rel=1e-12)
    of_outcome = replace(whole, event=np.where(whole.event == 2, 0.0, whole.event))
    last = replace(of_outcome, time=np.where(of_outcome.event == 1, of_outcome.time, 99.0))
    assert estimated(asked("uno_c", last, risk)).value == estimated(asked("harrell_c", last, risk)).value


@pytest.mark.parametrize("name", EVERY)
def test_a_table_that_was_cut_at_the_horizon_gives_the_same(name: str) -> None:
    outcome, risk = a_table()
    late = outcome.time > HORIZON
    cut = replace(outcome, time=np.minimum(outcome.time, HORIZON), event=np.where(late, 0.0, outcome.event))
    alike(asked(name, cut, risk), asked(name, outcome, risk), 1e-12)


@pytest.mark.parametrize("name", EVERY)
def test_another_unit_of_time_gives_the_same(name: str) -> None:
    outcome, risk = a_table()
    days = replace(outcome, time=outcome.time * 512, horizon=outcome.horizon * 512)
    alike(asked(name, days, risk), asked(name, outcome, risk), 1e-12)


@pytest.mark.parametrize("name", sorted(set(EVERY) - {name for name in EVERY if "difference" in name}))
def test_the_order_of_rows_counts_for_nothing(name: str) -> None:
    outcome, risk = a_table()
    order = np.random.default_rng(3).permutation(len(risk))
    moved = replace(outcome, time=outcome.time[order], event=outcome.event[order])
    alike(asked(name, moved, risk[order]), asked(name, outcome, risk))


@pytest.mark.parametrize("name", ["auroc", "uno_c", "harrell_c"])
def test_only_the_order_of_risks_counts_for_discrimination(name: str) -> None:
    time, event, risk = random_rows(300, 6)
    outcome = TimeToEvent(time, np.where(event == 2, 0.0, event), HORIZON)
    alike(asked(name, outcome, risk**3), asked(name, outcome, risk))


@pytest.mark.parametrize("name", sorted(set(EVERY) - {"uno_c", "harrell_c"}))
def test_a_competing_event_is_to_be_free_of_the_outcome_where_nobody_left(name: str) -> None:
    whole, _ = nobody_left(a_table()[0])
    risk, other = a_table()[1], (whole.event == 2) & (whole.time <= HORIZON)
    free = replace(whole, time=np.where(other, 99.0, whole.time), event=np.where(other, 0.0, whole.event))
    # Who is free of any event makes the fifths, and with all known these make no difference.
    alike(asked(name, free, risk), asked(name, whole, risk))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.2, 0.5, 0.7]), st.sampled_from(["fifths", "marginal"]))
def test_the_four_shares_at_a_threshold_belong_together(seed: int, threshold: float, by: By) -> None:
    outcome, risk = a_table(seed, 80, by)
    risk = np.round(risk, 1)  # some are the threshold itself, and these are flagged
    found = {
        name: asked(name, outcome, risk, threshold=threshold)
        for name in ("sensitivity", "specificity", "ppv", "npv", "net_benefit")
    }
    if any(isinstance(each, Absent) for each in found.values()):
        return
    value = {name: present(each).value for name, each in found.items()}
    flagged = float(np.mean(risk >= threshold))
    hit, missed = value["ppv"] * flagged, (1 - value["npv"]) * (1 - flagged)
    assert all(0 <= value[name] <= 1 for name in ("sensitivity", "specificity", "ppv", "npv"))
    assert value["sensitivity"] == pytest.approx(hit / (hit + missed), abs=1e-12)
    assert value["specificity"] == pytest.approx((1 - flagged - missed) / (1 - hit - missed), abs=1e-12)
    assert value["net_benefit"] == pytest.approx(hit - (flagged - hit) * threshold / (1 - threshold), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 40), st.sampled_from(EVERY), st.sampled_from([0.2, 0.8, 3.0]))
def test_few_patients_have_a_number_or_a_reason(seed: int, n: int, name: str, censored: float) -> None:
    time, event, risk = random_rows(n, seed, censored)
    # Ties in times and risks, and times of 0.
    outcome, risk = TimeToEvent(np.floor(time), event, HORIZON), np.round(risk, 1)
    found = asked(name, outcome, risk)
    if isinstance(found, Absent):
        assert str(found).startswith("Not estimated: ")
        return
    numbers = (found.value, found.low, found.high, found.se, *found.details.values())
    assert all(number is None or np.isfinite(number) for number in numbers), found
    assert found.low is None or found.low <= found.value <= present(found.high)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("event", [0.0, 1.0, 2.0], ids=["nobody", "everybody", "all competing"])
def test_one_kind_of_end_for_all(name: str, event: float) -> None:
    rng = np.random.default_rng(1)
    outcome = TimeToEvent(np.full(40, 3.0 if event else 9.0), np.full(40, event), HORIZON)
    found = asked(name, outcome, rng.uniform(0.1, 0.9, 40))
    assert isinstance(found, Absent) or np.isfinite(found.value)
    if name in ("auroc", "calibration_slope", "uno_c"):
        assert isinstance(found, Absent)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10_000), st.integers(20, 60), st.sampled_from(sorted({*EVERY} - {"censoring_by_risk"})))
def test_at_one_time_events_come_before_who_leaves(seed: int, n: int, name: str) -> None:
    """Whole times, of which most are shared: who leaves half a unit later leaves after the same events."""
    time, event, risk = random_rows(n, seed)
    tied = TimeToEvent(np.floor(time), event, HORIZON)
    alike(asked(name, replace(tied, time=tied.time + 0.5 * (event == 0)), risk), asked(name, tied, risk))


@pytest.mark.parametrize("name", ["auroc", "brier", "scaled_brier", "observed_risk", "calibration_slope", "uno_c"])
def test_who_left_at_once_tells_nothing(name: str) -> None:
    outcome, risk = a_table(by="marginal")
    outcome = replace(outcome, event=np.where(outcome.event == 2, 0.0, outcome.event))
    more = replace(outcome, time=np.r_[outcome.time, np.zeros(50)], event=np.r_[outcome.event, np.zeros(50)])
    found, before = asked(name, more, np.r_[risk, np.full(50, 0.9)]), asked(name, outcome, risk)
    assert estimated(found).value == pytest.approx(estimated(before).value, rel=1e-9)


@pytest.mark.parametrize("name", EVERY)
def test_fifths_that_all_join_are_marginal(name: str) -> None:
    """Of fewer than ten who are free no two groups have five each."""
    time, event, risk = random_rows(300, 3)
    late = np.flatnonzero(time >= HORIZON)[8:]
    time[late], event[late] = np.linspace(3.0, 4.9, len(late)), 0.0
    fifths, marginal = (asked(name, TimeToEvent(time, event, HORIZON, by), risk) for by in get_args(By))
    alike(fifths, marginal)


@pytest.mark.parametrize("name", sorted({*EVERY} - {"censoring_by_risk"}))
def test_where_all_left_nothing_is_known(name: str) -> None:
    risk = np.linspace(0.1, 0.9, 40)
    assert isinstance(asked(name, TimeToEvent(np.linspace(0, 4.9, 40), np.zeros(40), HORIZON), risk), Absent)


def test_of_one_event_everything_is_counted_by_hand() -> None:
    """At .6 of .025 to 1, the first of 40 to go; 29 are free and ten, every fourth, left."""
    risk, left = np.arange(1, 41) / 40, np.arange(40) % 4 == 0
    case = np.arange(40) == 23
    outcome = TimeToEvent(np.where(case, 1.0, np.where(left, 2.0, 9.0)), case.astype(float), HORIZON, "marginal")
    free = ~case & ~left
    assert estimated(asked("auroc", outcome, risk)).value == pytest.approx(np.mean(risk[free] < 0.6))
    assert estimated(asked("harrell_c", outcome, risk)).value == pytest.approx(23 / 39)
    assert estimated(asked("observed_risk", outcome, risk)).value == pytest.approx(1 / 40)
    assert estimated(asked("oe_ratio", outcome, risk)).value == pytest.approx(1 / 40 / risk.mean())
    found = {name: asked(name, outcome, risk) for name in EVERY}
    # One who is free had a risk of 1, and nobody with the outcome one below the threshold.
    none = {"log_score", "log_score_difference", "likelihood_ratio_negative"}
    assert {name for name, each in found.items() if isinstance(each, Absent)} == none
    assert all(np.isfinite(estimated(found[name]).value) for name in {*EVERY} - none)


def test_the_slope_is_one_at_every_horizon_while_hazards_stay_proportional() -> None:
    """Where an effect ends at 2 the slope falls after it, whoever leaves."""
    rng = np.random.default_rng(4)
    lp, wait, left = rng.normal(size=4000), rng.exponential(size=4000), rng.uniform(1, 9, 4000)
    lasting, ended = wait / (0.1 * np.exp(lp)), wait / (0.1 * np.exp(lp))
    ended = np.where(ended > 2, 2 + (wait - 0.2 * np.exp(lp)) / 0.1, ended)
    for times, at, holds in ((lasting, 2, True), (lasting, 5, True), (ended, 2, True), (ended, 5, False)):
        outcome = TimeToEvent(np.minimum(times, left), (times <= left).astype(float), at)
        found = estimated(asked("calibration_slope", outcome, -np.expm1(-0.1 * at * np.exp(lp))))
        assert (present(found.low) <= 1 <= present(found.high)) is holds


def test_risks_that_say_nothing_of_time_do_not_discriminate() -> None:
    rng = np.random.default_rng(8)
    found = []
    for seed in range(150):
        outcome, risk = a_table(seed, 200)
        found.append(estimated(asked("auroc", outcome, rng.permutation(risk))))
    values, errors = np.array([each.value for each in found]), np.array([each.se for each in found], dtype=float)
    assert values.mean() == pytest.approx(0.5, abs=3 * values.std() / np.sqrt(len(values)))
    assert errors.mean() == pytest.approx(values.std(), rel=0.2)


# ---- clusters -------------------------------------------------------------------------------------------------------


def in_clusters(
    name: str, outcome: TimeToEvent, risk: Floats, cluster: Any, rival: Floats | None = None
) -> Estimate | Absent:
    """A measure of rows that belong to clusters, as a dossier asks for it."""
    metric, design = measures()[name], Design(len(risk), cluster)
    every = {"risk": risk, "rival": rival, "threshold": 0.4, "level": 0.95, "bootstrap": 400, "seed": 1}
    given = {key: value for key, value in every.items() if key in metric.needs or key == "risk"}
    if "followed" in metric.needs:
        found: Estimate | Absent = metric.function(outcome, **given, design=design)
        return found
    return answer(metric, outcome, {**given, "design": design})


def only_outcomes(outcome: TimeToEvent) -> TimeToEvent:
    """The same without competing events."""
    return replace(outcome, event=np.where(outcome.event == 2, 0.0, outcome.event))


LINEARIZED = sorted(set(EVERY) - OF_CURVE)


@pytest.mark.parametrize("name", LINEARIZED)
def test_rows_twice_as_clusters_have_the_error_of_rows_once(name: str) -> None:
    outcome, risk = a_table()
    outcome, rival = only_outcomes(outcome), np.clip(risk[::-1], 0.05, 0.9)
    twice = replace(outcome, time=np.repeat(outcome.time, 2), event=np.repeat(outcome.event, 2))
    rows = np.arange(len(risk))
    once = estimated(in_clusters(name, outcome, risk, rows, rival))
    found = estimated(in_clusters(name, twice, np.repeat(risk, 2), np.repeat(rows, 2), np.repeat(rival, 2)))
    # Of a Cox regression each tie of two counts by Efron's rule.
    tolerance = 0.02 if name == "censoring_by_risk" else 1e-9
    assert (found.value, found.se) == pytest.approx((once.value, once.se), rel=tolerance)
    independent = estimated(in_clusters(name, outcome, risk, None, rival))
    assert once.se == pytest.approx(independent.se, rel=0.05 if name == "censoring_by_risk" else 2 / len(risk))


@pytest.mark.parametrize("name", ["auroc", "brier", "calibration_slope", "net_benefit", *ONLY_BY_HORIZON])
def test_the_error_of_clusters_is_that_of_leaving_each_out(name: str) -> None:
    rng = np.random.default_rng(4)
    n, clusters = 720, 60
    cluster, ours = np.repeat(np.arange(clusters), n // clusters), rng.normal(0, 1, clusters)
    linear = rng.normal(0, 0.8, n) + 0.7 * ours[cluster]
    time = rng.exponential(np.exp(1.5 - linear - 0.6 * rng.normal(0, 1, clusters)[cluster]))
    ends = rng.exponential(9 * np.exp(0.5 * ours[cluster]))
    outcome = TimeToEvent(np.minimum(time, ends), (time <= ends).astype(float), HORIZON, "marginal")
    risk = -np.expm1(-np.exp(linear - 0.4))

    def measured(rows: Any) -> float:
        part = replace(outcome, time=outcome.time[rows], event=outcome.event[rows])
        return estimated(in_clusters(name, part, risk[rows], None)).value

    without = np.array([measured(cluster != each) for each in range(clusters)])
    jackknife = np.sqrt((clusters - 1) / clusters * np.sum((without - without.mean()) ** 2))
    found = estimated(in_clusters(name, outcome, risk, cluster))
    alone = estimated(in_clusters(name, outcome, risk, None))
    assert found.value == alone.value
    assert found.se == pytest.approx(jackknife, rel=0.1)
    assert present(found.se) > 1.1 * present(alone.se)
    assert found.details["df"] == pytest.approx(clusters - 1)


def test_the_curve_of_clusters_is_as_sure_as_that_of_rows_once() -> None:
    outcome, risk = a_table()
    rows, weights = np.arange(len(risk)), outcome.weights(risk)
    once = present(smooth_curve(weights.case.astype(float), risk, None, Design(len(risk), censoring=weights)))
    both = weights.of(np.repeat(rows, 2))
    sampled = Design(2 * len(risk), np.repeat(rows, 2), censoring=both)
    found = present(smooth_curve(both.case.astype(float), np.repeat(risk, 2), None, sampled))
    assert np.diag(found.fit.covariance) == pytest.approx(np.diag(once.fit.covariance), rel=0.05)


def test_few_who_stand_for_many_leave_few_degrees_of_freedom() -> None:
    """2 n/(k - 1), k the kurtosis of what rows contribute: of a share f it is 2 n f (1 - f)/(1 - 4 f (1 - f))."""
    n, cases = 400, 40
    whole = TimeToEvent(np.where(np.arange(n) < cases, 1.0, 9.0), (np.arange(n) < cases).astype(float), HORIZON)
    risk = np.linspace(0.05, 0.9, n)[np.random.default_rng(1).permutation(n)]
    spread = cases / n * (1 - cases / n)
    found = estimated(asked("observed_risk", whole, risk)).details["df"]
    assert found == pytest.approx(2 * n * spread / (1 - 4 * spread))
    time, event, risk = random_rows(1000, 2, 3.0)
    followed = TimeToEvent(time, event, HORIZON)
    few, many = (estimated(asked("calibration_slope", each, risk)) for each in (followed, nobody_left(followed)[0]))
    assert (few.details["df"] or 0) < 0.2 * (many.details["df"] or 0)


def test_one_cluster_has_a_value_alone() -> None:
    outcome, risk = a_table()
    outcome = only_outcomes(outcome)
    for name in (*LINEARIZED, "ici", "calibration_test"):
        found = in_clusters(name, outcome, risk, np.zeros(len(risk), dtype=int), risk[::-1])
        assert isinstance(found, Absent) or (found.low is None and found.se is None), name


def test_bounds_of_a_gain_are_the_lower_ones_of_both_defaults() -> None:
    """At .415 flagging all is the better default, and over nobody the interval is wider."""
    outcome, risk = a_table()
    found, over_none = (
        estimated(asked(name, outcome, risk, threshold=0.415)) for name in ("net_benefit_gain", "net_benefit")
    )
    reach = student_t.ppf(0.975, found.details["df"])
    assert found.value < over_none.value
    assert found.low == pytest.approx(over_none.value - reach * present(over_none.se))
    assert found.high == pytest.approx(found.value + reach * present(found.se))


def test_a_difference_is_tested_by_the_t_of_its_interval() -> None:
    found = estimated(asked("auroc_difference", *a_table()))
    p_value = 2 * student_t.sf(abs(found.value) / present(found.se), found.details["df"])
    assert found.details["p_value"] == pytest.approx(p_value)


@pytest.mark.parametrize(("name", "width"), [("mss_auroc", "auroc_width"), ("mss_slope", "calibration_slope_width")])
def test_half_as_wide_takes_four_times_as_many(name: str, width: str) -> None:
    outcome, risk = a_table()
    whole, half = (estimated(asked(name, outcome, risk, **{width: each})).value for each in (0.1, 0.05))
    assert 4 * whole - 4 <= half <= 4 * whole
    assert isinstance(asked(name, replace(outcome, horizon=1e9), risk, **{width: 0.1}), Absent)


def test_how_it_was_made_is_said() -> None:
    outcome, risk = a_table()
    left = int(((outcome.event == 0) & (outcome.time < HORIZON)).sum())
    found = estimated(asked("auroc", outcome, risk))
    assert method_text(found.method) == (
        f"weights for {left} of 300 not followed to the horizon, in 5 groups; "
        "linearization, t with degrees of freedom by the kurtosis of what patients contribute, logit"
    )
    assert "least squares of pseudo-observations" in method_text(estimated(asked("ici", outcome, risk)).method)
    short = "which held 92 to 93 of 100 simulated errors of wrong risks"
    of_errors = [method_text(estimated(asked(name, outcome, risk)).method) for name in ("e50", "e90")]
    assert [short in text for text in of_errors] == [True, False]
    assert short not in method_text(estimated(asked("e50", nobody_left(outcome)[1], risk)).method)
    assert "infinitesimal jackknife" in method_text(
        estimated(asked("harrell_c", replace(outcome, event=np.minimum(outcome.event, 1)), risk)).method
    )
