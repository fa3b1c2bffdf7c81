"""The weights that make up for censoring: identities, laws over any follow-up, and influence by leaving rows out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dossier
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics.censoring import TimeToEvent, Weights
from dossier.metrics.ordered_pairs import pairs

HORIZON = 5.0


@st.composite
def followed(draw: Any, codes: tuple[int, ...] = (0, 1, 2)) -> Weights:
    """Follow-up with ties, zero times, and any mixture of events, in one to three strata."""
    n = draw(st.integers(1, 40))
    time = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    status = draw(st.lists(st.sampled_from(codes), min_size=n, max_size=n))
    strata = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return Weights(np.array(time, float), np.array(status, float), HORIZON, np.array(strata, dtype=np.int64))


def one(weights: Weights) -> Weights:
    """The same, all counted together."""
    return replace(weights, strata=np.zeros_like(weights.strata))


def by_hand(weights: Weights) -> tuple[float, float]:
    """The Aalen-Johansen estimate of the outcome and the Kaplan-Meier one of no event at all, time by time."""
    free, cases = 1.0, 0.0
    for time in np.unique(weights.time[weights.time <= weights.t]):
        followed, now = float((weights.time >= time).sum()), weights.time == time
        cases += free * float((now & (weights.status == 1)).sum()) / followed
        free *= 1 - float((now & (weights.status != 0)).sum()) / followed
    return cases, free


def random_rows(n: int, seed: int, censored: float = 0.4) -> tuple[Floats, Floats, Floats]:
    """Times, events and risks of patients some of whom left early, the more so the higher their risk."""
    rng = np.random.default_rng(seed)
    risk = rng.uniform(0.05, 0.9, n)
    event = rng.exponential(-HORIZON / np.log1p(-risk))
    left = rng.exponential(HORIZON / censored / (0.5 + risk), n)
    other = rng.exponential(20.0, n)
    time = np.minimum(np.minimum(event, left), other)
    status = np.where(time == event, 1.0, np.where(time == other, 2.0, 0.0))
    return np.round(time, 2).astype(float), status, np.asarray(risk)


@pytest.mark.parametrize("leave", [4, 5])
def test_of_fewer_than_five_who_leave_nothing_is_told(leave: int) -> None:
    time, risk = np.r_[np.arange(leave) + 0.5, np.full(30, 9.0)], np.tile([0.2, 0.6, 0.4], 12)[: leave + 30]
    found = dossier.metrics.censoring_by_risk(TimeToEvent(time, np.zeros(leave + 30), HORIZON), risk)
    assert isinstance(found, Estimate if leave == 5 else Absent)


# ---- identities -----------------------------------------------------------------------------------------------------


@given(followed())
def test_the_weights_of_patients_add_up_to_them_where_somebody_stands_for_those_who_left(weights: Weights) -> None:
    assert (weights.values >= 0).all()
    assert weights.values.sum() <= len(weights.time) * (1 + 1e-12)
    if not weights.unknown:
        assert weights.values.sum() == pytest.approx(len(weights.time), rel=1e-12)


@given(followed())
def test_the_weighted_share_of_cases_is_that_of_aalen_and_johansen(weights: Weights) -> None:
    together = one(weights)
    cases, free = by_hand(together)
    if not together.unknown:
        assert np.mean(together.values * together.case) == pytest.approx(cases, abs=1e-12)
        assert np.mean(together.values * together.free) == pytest.approx(free, abs=1e-12)


@given(followed(codes=(0, 1)))
def test_without_competing_events_it_is_one_less_kaplan_and_meier(weights: Weights) -> None:
    together = one(weights)
    cases, free = by_hand(together)
    assert cases == pytest.approx(1 - free, abs=1e-12)
    if not together.unknown:
        assert np.mean(together.values * together.case) == pytest.approx(1 - free, abs=1e-12)


@given(followed())
def test_it_makes_no_difference_whether_the_table_was_cut_at_the_horizon(weights: Weights) -> None:
    late = weights.time > HORIZON
    cut = replace(weights, time=np.minimum(weights.time, HORIZON), status=np.where(late, 0.0, weights.status))
    h = np.asarray(np.arange(len(weights.time)) % 3 + 0.5, dtype=float)
    assert (cut.values == weights.values).all()
    assert (cut.influence(h) == weights.influence(h)).all()
    np.testing.assert_allclose(cut.pseudo_observations, weights.pseudo_observations, atol=1e-12)


@given(followed())
def test_contributions_add_up_to_nothing_in_every_stratum(weights: Weights) -> None:
    h = np.cos(np.arange(len(weights.time)))
    found = weights.influence(h) + np.mean(weights.values * h)
    for name in np.unique(weights.strata):
        here = weights.strata == name
        assert np.sum(found[here]) == pytest.approx(np.sum((weights.values * h)[here]), abs=1e-9)


@given(followed())
def test_without_censoring_before_the_horizon_every_patient_stands_for_one(weights: Weights) -> None:
    all_known = replace(weights, status=np.where(weights.time < HORIZON, np.maximum(weights.status, 1), weights.status))
    assert (all_known.values == 1).all()
    h = np.sin(np.arange(len(weights.time)))
    np.testing.assert_allclose(all_known.influence(h), h - h.mean(), atol=1e-15)
    np.testing.assert_allclose(all_known.pseudo_observations, all_known.case, atol=1e-12)


@given(followed())
def test_pseudo_observations_are_those_of_leaving_each_patient_out(weights: Weights) -> None:
    together = one(weights)
    n, (whole, _) = len(together.time), by_hand(together)
    slow = [n * whole - (n - 1) * (by_hand(together.of(np.arange(n) != i))[0] if n > 1 else 0.0) for i in range(n)]
    np.testing.assert_allclose(together.pseudo_observations, slow, atol=1e-10)


@pytest.mark.parametrize(
    ("time", "status", "values"),
    [
        ([0, 0, 0], [0, 0, 0], [0, 0, 0]),
        ([7, 8, 9], [0, 0, 0], [1, 1, 1]),
        ([1, 2, 3], [1, 1, 1], [1, 1, 1]),
        ([5, 5, 5], [0, 1, 2], [1, 1, 1]),
        # An event comes before the ends of follow-up of its time: of three who may leave at 2 one does.
        ([2, 2, 4, 6], [1, 0, 1, 0], [1, 0, 1.5, 1.5]),
        ([0, 0, 9], [1, 0, 0], [1, 0, 2]),
    ],
    ids=["all leave at once", "all free", "all cases", "at the horizon", "ties", "time 0"],
)
def test_weights_by_hand(time: list[float], status: list[float], values: list[float]) -> None:
    weights = Weights(np.array(time, float), np.array(status, float), HORIZON, np.zeros(len(time), dtype=np.int64))
    assert weights.values == pytest.approx(values)
    assert bool(weights.obstacle) is (sum(values) < len(values))
    assert weights.left.tolist() == [value == 0 for value in values]


def test_the_spread_of_contributions_is_that_of_leaving_patients_out() -> None:
    time, status, risk = random_rows(686, 3)
    weights = Weights(time, status, HORIZON, (risk > 0.4).astype(np.int64))
    h = weights.case * risk + weights.free * risk**2
    n = len(h)
    kept = [np.arange(n) != i for i in range(n)]
    left_out = np.array([np.mean(weights.of(keep).values * h[keep]) for keep in kept])
    jackknife = np.sqrt((n - 1) / n * np.sum((left_out - left_out.mean()) ** 2))
    assert np.std(weights.influence(h), ddof=1) / np.sqrt(n) == pytest.approx(jackknife, rel=0.01)
    # Each on its own, not only together.
    alone = (n - 1) * (left_out.mean() - left_out)
    assert np.corrcoef(alone, weights.influence(h))[0, 1] > 0.9999


# ---- groups that are counted on their own -------------------------------------------------------------------------


def test_fifths_of_the_risk_join_until_five_are_known_to_be_free() -> None:
    risk = np.linspace(0.01, 0.99, 100)
    time, event = np.full(100, 9.0), np.zeros(100)
    of_all = TimeToEvent(time, event, HORIZON).weights(risk)
    assert np.bincount(of_all.strata).tolist() == [20] * 5
    time[80:96] = 1.0  # four of the highest fifth are left
    assert np.bincount(TimeToEvent(time, event, HORIZON).weights(risk).strata).tolist() == [20, 20, 20, 40]
    time[:16] = 1.0  # and four of the lowest
    assert [int(n) for n in np.bincount(TimeToEvent(time, event, HORIZON).weights(risk).strata) if n] == [40, 20, 40]
    time[:], time[40:56] = 9.0, 1.0  # of the middle fifth: it joins the one below
    assert [int(n) for n in np.bincount(TimeToEvent(time, event, HORIZON).weights(risk).strata) if n] == [
        20,
        40,
        20,
        20,
    ]
    assert set(TimeToEvent(time, event, HORIZON, "marginal").weights(risk).strata) == {0}


def test_equal_risks_stay_in_one_fifth_and_a_cut_belongs_below() -> None:
    risk = np.repeat([0.1, 0.2, 0.3], 20)
    found = TimeToEvent(np.full(60, 9.0), np.zeros(60), HORIZON).weights(risk).strata
    assert all(len(set(found[risk == level])) == 1 for level in (0.1, 0.2, 0.3))


@settings(max_examples=50)
@given(st.integers(0, 1000), st.sampled_from([0.1, 0.3, 0.5, 0.8]), st.sampled_from(["fifths", "marginal"]))
def test_at_a_threshold_the_sides_weigh_what_they_count(seed: int, threshold: float, by: Any) -> None:
    time, event, risk = random_rows(60, seed, censored=0.8)
    risk = np.round(risk, 1)  # some are the threshold itself
    weights = TimeToEvent(time, event, HORIZON, by).weights(risk, threshold)
    if not weights.unknown:
        for side in (risk >= threshold, risk < threshold):
            assert weights.values[side].sum() == pytest.approx(side.sum(), rel=1e-12)


def test_a_side_whose_last_fifth_is_lost_joins_within_the_side() -> None:
    risk = np.linspace(0.01, 0.99, 100)
    time, event = np.full(100, 9.0), np.zeros(100)
    time[(risk >= 0.5) & (risk < 0.6)] = 1.0  # nobody of the flagged part of the third fifth is followed
    weights = TimeToEvent(time, event, HORIZON).weights(risk, 0.5)
    assert weights.unknown == 0
    assert weights.values[risk >= 0.5].sum() == pytest.approx(50)
    assert len(np.unique(weights.strata[risk >= 0.5])) == 2


# ---- pairs in order -------------------------------------------------------------------------------------------------


@given(followed(codes=(0, 1)), st.integers(0, 100))
def test_pairs_are_those_that_a_loop_finds(weights: Weights, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = len(weights.time)
    risk, of_first = rng.integers(0, 4, n) / 4, rng.uniform(1, 3, n)
    ordered, usable = np.zeros(n), np.zeros(n)
    for i in np.flatnonzero((weights.status == 1) & (weights.time <= HORIZON)):
        later = (weights.time > weights.time[i]) | ((weights.time == weights.time[i]) & (weights.status != 1))
        right = (risk[i] > risk) + 0.5 * (risk[i] == risk)
        usable[i] += of_first[i] * later.sum()
        ordered[i] += of_first[i] * right[later].sum()
        usable += of_first[i] * later
        ordered += of_first[i] * right * later
    found = pairs(weights, risk, of_first)
    np.testing.assert_allclose(found[0], ordered, atol=1e-9)
    np.testing.assert_allclose(found[1], usable, atol=1e-9)


# ---- what a caller may give -----------------------------------------------------------------------------------------

GIVEN: dict[str, Any] = {"time": [1, 2, 6, 7], "event": [1, 0, 0, 2], "horizon": 5, "by": "fifths"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"time": [1, -2, 6, 7]}, "time is -2 in row 1"),
        ({"time": [1, None, 6, 7]}, "time has 1 value that is missing"),
        ({"event": [1, 3, 0, 0]}, "event is 3 in row 1, and may be 0, 1 or 2"),
        ({"event": ["dead", "alive", "alive", "dead"]}, "event holds text"),
        ({"event": [1, 0, 0]}, "different lengths"),
        ({"time": np.array([1, 2, 6, 7], "timedelta64[D]")}, "time holds lengths of time, and needs numbers"),
        ({"time": np.array(["2024-01-01"] * 4, "datetime64[D]")}, "time holds dates, and needs numbers"),
        ({"horizon": 0}, "horizon is 0"),
        ({"horizon": float("nan")}, "horizon is nan"),
        ({"by": "tenths"}, 'by is "tenths"'),
    ],
)
def test_a_caller_is_told_what_is_wrong(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        dossier.metrics.auroc(TimeToEvent(**{**GIVEN, **change}), [0.9, 0.2, 0.3, 0.1])


def test_what_is_not_known_of_follow_up_is_said() -> None:
    outcome, risk = TimeToEvent(**GIVEN), [0.9, 0.2, 0.3, 0.1]
    assert isinstance(dossier.metrics.auroc(outcome, risk), Estimate)
    assert str(dossier.metrics.mcc(outcome, risk, 0.5)) == (
        "Not estimated: this measure needs every outcome, and some patients were not followed to the horizon."
    )
    with pytest.raises(ValueError, match="needs to be a TimeToEvent"):
        dossier.metrics.observed_risk([0, 1, 0, 1], risk)  # type: ignore[arg-type]


def test_a_horizon_beyond_all_follow_up_has_no_number() -> None:
    time, event, risk = random_rows(200, 1)
    outcome = TimeToEvent(time, event, float(time.max()) + 1)
    for found in (dossier.metrics.auroc(outcome, risk), dossier.metrics.ici(outcome, risk, bootstrap=20)):
        assert isinstance(found, Absent)
        assert found.reason.code == "nobody_followed_to_horizon"


# ---- how often right risks are refuted ------------------------------------------------------------------------------


def test_right_risks_are_refuted_as_rarely_as_the_level_says() -> None:
    """By chi-squared .0875 of such tables were refuted at .05, and .03 at .01: a few rows contribute most."""
    rng, refuted = np.random.default_rng(7), []
    for _ in range(300):
        linear = rng.normal(0, 1, 200)
        risk = 1 - np.exp(-np.exp(-0.9 + 0.9 * linear))
        had, left = rng.exponential(5 / -np.log1p(-risk)), rng.exponential(9 / np.exp(0.6 * linear))
        left = np.minimum(left, rng.uniform(4, 12, 200))
        outcome = TimeToEvent(np.minimum(had, left), (had <= left).astype(float), 5.0)
        found = dossier.metrics.calibration_test(outcome, risk)
        refuted.append(found.details["p_value"] if isinstance(found, Estimate) else 1.0)
    assert np.mean(np.array(refuted) < 0.05) <= 0.07
    assert np.mean(np.array(refuted) < 0.01) <= 0.02
