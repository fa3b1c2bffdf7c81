"""What an update would do: R's numbers, laws, and that what is printed is what fresh patients would show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from dossier import metrics, reading
from dossier.core.types import Absent, Floats
from dossier.metrics import updating
from dossier.metrics.calibration_errors import bounds_after_update
from dossier.metrics.shares import Design
from tests.estimated import absent, estimated, present

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = json.loads((ROOT / "tests" / "reference" / "recalibration.json").read_text())
NAMES = ("rotterdam", "gbsg")


@pytest.fixture(scope="module")
def hospitals() -> dict[str, tuple[Floats, Floats]]:
    """The outcomes and risks of the hospitals that R read."""
    study = reading.study(ROOT / "fixtures" / "breast")
    return {each.name: (present(each.outcome), present(each.risk)) for each in study.datasets if each.name in NAMES}


# ---- R's numbers -----------------------------------------------------------------------------------------------------


def slack(of_r: dict[str, Any]) -> float:
    """How far R's own fit is from its maximum: at the maximum as many events are expected as there are."""
    return 1e-9 + 2 * abs(float(of_r["oe"]) - 1)


@pytest.mark.parametrize("name", NAMES)
def test_updates_are_those_of_r(hospitals: dict[str, tuple[Floats, Floats]], name: str) -> None:
    outcome, risk = hospitals[name]
    expected = REFERENCE[name]
    alone, both = (present(updating.fitted(outcome, risk, method)) for method in ("intercept", "logistic"))
    near = slack(expected["apparent"]["intercept"])
    assert alone.intercept == pytest.approx(expected["intercept"], abs=near)
    near = slack(expected["apparent"]["logistic"])
    assert (both.intercept, both.slope) == pytest.approx(tuple(expected["logistic"]), abs=near)


@pytest.mark.parametrize("name", NAMES)
def test_the_closed_test_is_that_of_r(hospitals: dict[str, tuple[Floats, Floats]], name: str) -> None:
    outcome, risk = hospitals[name]
    tests = REFERENCE[name]["tests"]
    changes, steps = present(updating.closed_test(outcome, risk, Design(len(outcome))))
    joint, slope = tests["joint_without_predictors"], tests["slope_given_intercept"]
    expected = {"joint": joint["chi2"], "p_joint": joint["p"], "slope": slope["chi2"], "p_slope": slope["p"]}
    assert steps == pytest.approx(expected, abs=1e-9)
    assert changes == REFERENCE[name]["closed_test_without_predictors"].replace("original", "as_is")


@pytest.mark.parametrize("method", ["intercept", "logistic"])
@pytest.mark.parametrize("name", NAMES)
def test_held_out_risks_are_those_of_r(hospitals: dict[str, tuple[Floats, Floats]], name: str, method: str) -> None:
    outcome, risk = hospitals[name]
    fold = np.arange(len(risk)) % 10
    found = present(updating.in_folds(outcome, risk, method, Design(len(risk)), iter([fold]))).risk
    expected = REFERENCE[name]["cross_validated_mod10"][method]
    measured = {
        "oe": metrics.oe_ratio(outcome, found),
        "brier": metrics.brier(outcome, found),
        "slope": metrics.calibration_slope(outcome, found),
        "auroc": metrics.auroc(outcome, found),
        "nb25": metrics.net_benefit(outcome, found, 0.25),
    }
    # R stops its fits of the training rows where the deviance moves by less than 1e-8 of it.
    assert {key: estimated(each).value for key, each in measured.items()} == pytest.approx(
        {key: expected[key] for key in measured}, abs=5e-9
    )
    assert -estimated(metrics.log_score(outcome, found)).value == pytest.approx(expected["log_loss"], abs=1e-9)


# ---- laws ------------------------------------------------------------------------------------------------------------


def patients(seed: int, n: int, intercept: float = 0.0, slope: float = 1.0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-1.0, 1.0, n)
    return (rng.random(n) < expit(intercept + slope * log_odds)).astype(float), expit(log_odds)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(-1.5, 1.5), st.floats(0.4, 1.6))
def test_an_update_of_updated_risks_changes_nothing(seed: int, intercept: float, slope: float) -> None:
    outcome, risk = patients(seed, 300, intercept, slope)
    for method in ("intercept", "logistic"):
        update = updating.fitted(outcome, risk, method)
        if isinstance(update, Absent):
            continue
        again = present(updating.fitted(outcome, update.risk(risk), method))
        assert (again.intercept, again.slope) == pytest.approx((0.0, 1.0), abs=1e-8)
        # Once the intercept is right, only a slope can be wrong, and after a new slope nothing.
        then = present(updating.fitted(outcome, update.risk(risk), "closed_test")).changes
        assert then in (("as_is", "logistic") if method == "intercept" else ("as_is",))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(-1.5, 1.5))
def test_a_new_intercept_expects_as_many_as_there_are(seed: int, intercept: float) -> None:
    outcome, risk = patients(seed, 200, intercept)
    for method in ("intercept", "logistic"):
        new = present(updating.fitted(outcome, risk, method)).risk(risk)
        assert outcome.sum() / new.sum() == pytest.approx(1.0, abs=1e-9)


def test_certain_risks_stay_and_set_no_update() -> None:
    outcome, risk = patients(1, 200)
    more = np.append(outcome, [0.0, 1.0, 1.0]), np.append(risk, [0.0, 1.0, 0.0])
    for method in ("intercept", "logistic"):
        update = present(updating.fitted(outcome, risk, method))
        again = present(updating.fitted(*more, method))
        assert (again.intercept, again.slope) == pytest.approx((update.intercept, update.slope), abs=1e-12)
        assert again.risk(more[1])[-3:].tolist() == [0.0, 1.0, 0.0]


def test_equal_weights_and_single_clusters_are_no_other_rows() -> None:
    outcome, risk = patients(2, 400, 0.4)
    n = len(risk)
    plain = present(updating.closed_test(outcome, risk, Design(n)))
    for design in (Design(n, weights=np.full(n, 3.0)), Design(n, cluster=np.arange(n))):
        changes, steps = present(updating.closed_test(outcome, risk, design))
        assert changes == plain[0]
        # The same statistics; of a variance that is estimated the p values are near.
        assert [steps[each] for each in ("joint", "slope")] == pytest.approx(
            [plain[1][each] for each in ("joint", "slope")]
        )
        assert steps["p_slope"] == pytest.approx(plain[1]["p_slope"], abs=0.05)


def test_patients_twice_in_their_clusters_are_tested_as_once() -> None:
    outcome, risk = patients(3, 300, 0.3)
    once = present(updating.closed_test(outcome, risk, Design(300, cluster=np.arange(300))))[1]
    twice = present(
        updating.closed_test(np.tile(outcome, 2), np.tile(risk, 2), Design(600, cluster=np.tile(np.arange(300), 2)))
    )[1]
    assert [twice[each] for each in ("p_joint", "p_slope")] == pytest.approx(
        [once[each] for each in ("p_joint", "p_slope")], rel=1e-9
    )
    assert twice["joint"] == pytest.approx(2 * (once["joint"] or 0.0))


# ---- folds -----------------------------------------------------------------------------------------------------------


def test_a_cluster_is_in_one_fold() -> None:
    cluster = np.repeat(np.arange(23), 7)
    for fold in updating.folds(Design(len(cluster), cluster=cluster), 1):
        assert all(len(set(fold[cluster == number].tolist())) == 1 for number in range(23))
        assert len(set(fold.tolist())) == updating.FOLDS


def test_folds_by_outcome_share_the_outcome() -> None:
    outcome = np.array([1.0] * 37 + [0.0] * 163)
    for fold in updating.folds(Design(200), 1, outcome):
        events = np.bincount(fold, weights=outcome)
        assert events.max() - events.min() <= 1
        assert np.ptp(np.bincount(fold)) <= 1


def test_the_order_of_the_rows_does_not_matter() -> None:
    outcome, risk = patients(4, 150, 0.5)
    order = np.random.default_rng(1).permutation(150)
    plain = present(updating.held_out(outcome, risk, "logistic", Design(150), 7)).risk
    turned = present(updating.held_out(outcome[order], risk[order], "logistic", Design(150), 7)).risk
    np.testing.assert_array_equal(turned, plain[order])
    other = present(updating.held_out(outcome, risk, "logistic", Design(150), 8)).risk
    assert np.abs(other - plain).max() > 0


def test_nobody_is_judged_by_an_update_that_has_seen_them() -> None:
    """Of a row alone in its fold the risk cannot depend on its own outcome."""
    outcome, risk = patients(5, 120, 0.5)
    fold = np.arange(120)
    other = outcome.copy()
    other[17] = 1 - other[17]
    for method in ("intercept", "logistic"):
        found = [
            present(updating.in_folds(each, risk, method, Design(120), iter([fold]))).risk for each in (outcome, other)
        ]
        assert found[0][17] == found[1][17]
        assert found[0][18] != found[1][18]


def test_a_closed_test_beyond_doubt_follows_the_rows_as_what_it_chooses() -> None:
    outcome, risk = patients(7, 3000, 0.3, 0.4)
    both, chosen = (
        present(updating.covariance_with_rows(outcome, risk, method, Design(3000)))
        for method in ("logistic", "closed_test")
    )
    np.testing.assert_allclose(chosen, both, rtol=1e-9)


def test_of_one_risk_for_all_the_interval_is_the_error_of_the_new_intercept() -> None:
    """The distance is |expit(a + e) - expit(a)|, e normal with the error of a: its 2.5 % lie beyond 2.241 errors."""
    outcome, odds, error = np.repeat([0.0, 1.0], [240, 80]), -np.log(3), (1 / 240 + 1 / 80) ** 0.5
    low, high = present(bounds_after_update(outcome, np.full(320, 0.25), 1, 0.95, 20_000, 1, Design(320)))
    ends = np.sort(np.abs(expit(odds + error * np.array([-2.2414, 2.2414])) - 0.25))
    assert low == 0
    assert ends[0] < high < ends[1]


# ---- gaps ------------------------------------------------------------------------------------------------------------


def gap(found: object) -> str:
    return absent(found).reason.code


def test_few_patients_allow_no_update() -> None:
    outcome, risk = patients(6, 60)
    few = np.flatnonzero(outcome == 1)[19:]
    kept = np.setdiff1d(np.arange(60), few)
    found = updating.held_out(outcome[kept], risk[kept], "intercept", Design(len(kept)), 1)
    assert gap(found) == "too_few_to_update"


def test_risks_that_separate_or_do_not_differ_have_no_slope() -> None:
    outcome = np.array([0.0] * 40 + [1.0] * 40)
    apart = np.where(outcome == 1, 0.8, 0.2) + np.linspace(-0.1, 0.1, 80)
    assert present(updating.held_out(outcome, apart, "intercept", Design(80), 1)).changes == ("intercept",)
    for method in ("logistic", "closed_test"):
        assert gap(updating.held_out(outcome, apart, method, Design(80), 1)) == "a_fold_without_update"
    for risk in (np.full(80, 0.3), outcome):
        assert gap(updating.held_out(outcome, risk, "logistic", Design(80), 1)) == "a_fold_without_update"
    assert gap(updating.held_out(outcome, outcome, "intercept", Design(80), 1)) == "a_fold_without_update"


def test_who_changes_side_is_counted_with_their_outcomes() -> None:
    old, new = np.array([0.2, 0.6, 0.5, 0.7, 0.1]), np.array([0.5, 0.4, 0.5, 0.9, 0.3])
    found = estimated(metrics.reclassified(np.array([1.0, 1.0, 0.0, 1.0, 0.0]), new, old, 0.5))
    assert found.value == pytest.approx(0.4)
    assert dict(found.details) == {
        "newly_flagged": 1,
        "newly_flagged_cases": 1,
        "no_longer_flagged": 1,
        "no_longer_flagged_cases": 1,
    }
