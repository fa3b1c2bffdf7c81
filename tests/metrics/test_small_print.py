"""What stands in half a sentence of a docstring, and what no other test would notice if it changed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dossier.core.facts import Method
from dossier.core.types import Absent, DatasetSummary, DecisionCounts, Estimate, ReaderStudy, Result, SiteResults
from dossier.metrics.calibration import nagelkerke_r2
from dossier.metrics.correspondence import standardized_mean_difference
from dossier.metrics.human_factors import decision_benefit
from dossier.metrics.intervals import estimate
from dossier.metrics.pooled import pool
from dossier.metrics.reliability import required_reliability
from dossier.metrics.robustness import pearson, performance_against_similarity
from dossier.metrics.utility import net_benefit
from dossier.typeset.methods import method_text
from tests.estimated import estimated, present
from tests.metrics.parts import h_accuracy_of
from tests.reasons import Said


def one(value: float, se: float | None = 0.1, events: int | None = 100, n: int = 400) -> Estimate:
    return Estimate(value, None, None, None, n, Method("wald"), events, se)


def test_details_and_counts_travel_with_an_estimate() -> None:
    outcome = np.array([0.0, 1.0, 1.0])
    for se in (None, 0.1):
        assert estimate(0.5, se, 0.95, outcome, Method("delta"), details={"k": 2.0}).details == {"k": 2.0}
        assert estimate(0.5, se, 0.95, outcome, Method("delta")).details == {}


@pytest.mark.parametrize(("nats", "too_far"), [(300.5, False), (301.0, True)])
def test_a_ratio_of_likelihoods_is_printed_up_to_the_300th_power_of_e(nats: float, too_far: bool) -> None:
    """A case with risk exp(-a) and another with one half: 2(l0 - l)/n = a - ln 2."""
    found = nagelkerke_r2(np.array([1.0, 0.0]), np.array([math.exp(-nats), 0.5]), bootstrap=2)
    assert isinstance(found, Absent) == too_far


def test_the_bound_of_a_net_benefit_ends_at_1() -> None:
    """Nine cases and one other, all flagged: at one half .8; of ten cases the bound is that of the perfect model."""
    found = estimated(net_benefit(np.array([1.0] * 9 + [0.0]), np.ones(10), 0.5))
    assert found.value == pytest.approx(0.8)
    assert 0.8 < present(found.high) < 1
    assert estimated(net_benefit(np.ones(10), np.ones(10), 0.5)).high == 1


def test_a_slope_below_0_can_be_pooled_and_a_ratio_of_0_cannot() -> None:
    slopes = (one(-0.2), one(0.3), one(0.9))
    assert estimated(pool(slopes, "plain")).details["k"] == 3
    ratios = (one(0.0), one(0.5), one(0.9), one(1.1))
    found = estimated(pool(ratios, "log", names=("a", "b", "c", "d")))
    assert found.details["k"] == 3
    assert found.details["left_out"] == 1
    assert "not pooled: a (a value of 0 has no logarithm)" in method_text(found.method)


def of(name: str, similarity: float, auroc: float) -> SiteResults:
    measured = {"correspondence_averaged": similarity, "auroc": auroc}
    results = tuple(Result(term, term, name, {}, one(value)) for term, value in measured.items())
    return SiteResults(DatasetSummary(name, "external", name, 400, 100, 400, {}, ()), results, ())


def test_fishers_interval_needs_four_sites_that_are_not_on_a_line() -> None:
    """r of (1, 2, 3, 4) and (1, 3, 2, 4) is .8; Fisher's reach is 1.96 / sqrt(4 - 3)."""
    sites = tuple(of(str(x), x / 10, y / 10) for x, y in ((1, 1), (2, 3), (3, 2), (4, 4)))
    found = estimated(performance_against_similarity(sites, "auroc", similarity="averaged"))
    assert found.value == pytest.approx(0.8)
    reach = 1.959963984540054
    assert found.low == pytest.approx(math.tanh(math.atanh(0.8) - reach))
    assert found.high == pytest.approx(math.tanh(math.atanh(0.8) + reach))
    assert (found.level, found.reason, found.n) == (0.95, None, 1600)
    three = estimated(performance_against_similarity(sites[:3], "auroc", similarity="averaged"))
    assert (three.low, three.level, three.reason) == (None, None, Said("an interval needs four sites"))
    assert three.value == pytest.approx(0.5)
    line = estimated(
        performance_against_similarity(
            tuple(of(str(x), x / 8, x / 8) for x in (1, 2, 3, 4)), "auroc", similarity="averaged"
        )
    )
    assert (line.low, line.reason) == (None, Said("the sites lie on one straight line"))


def test_one_half_asks_for_nothing_and_its_interval_holds_0() -> None:
    outcome = np.array([1.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    found = estimated(required_reliability(outcome, outcome, np.ones((6, 2)), 0.5, 0.5))
    assert found.value == pytest.approx(0, abs=1e-12)
    assert present(found.low) <= found.value


def test_a_correlation_does_not_pass_1_by_rounding() -> None:
    rng = np.random.default_rng(1)
    for _ in range(500):
        x = rng.uniform(size=5)
        up, down = (
            present(pearson(x.tolist(), (3 * x + 0.1).tolist())),
            present(pearson(x.tolist(), (0.1 - x).tolist())),
        )
        assert 1 - 1e-12 < up <= 1
        assert -1 <= down < -1 + 1e-12


def test_two_rows_a_side_are_enough_to_standardize_and_one_is_not() -> None:
    """Both variances are 2: (5 - 1)/sqrt(2)."""
    two = np.array([0.0, 2.0])
    assert standardized_mean_difference(two, two + 4) == pytest.approx(4 / math.sqrt(2))
    assert standardized_mean_difference(two[:1], two) is None
    assert standardized_mean_difference(two, two[:1]) is None
    assert standardized_mean_difference(np.ones(2), np.zeros(2)) is None


def test_a_group_that_nobody_belongs_to_has_no_benefit() -> None:
    """Also where the study gives no groups at all."""
    decided = np.array([1.0, 0.0, 1.0, 1.0])
    counts = DecisionCounts(1, 3, 1, 3)
    study = ReaderStudy("paired", counts, np.array([0, 0, 1, 1]), np.arange(4), np.ones(4), decided, decided)
    assert decision_benefit(study, "novices") == Said(
        "no reader of the group novices decided both with and without the model"
    )
    assert estimated(decision_benefit(study)).n == 2


@pytest.mark.parametrize("lacking", [0, 1, 2])
def test_the_class_that_is_empty_or_without_complexity_is_named(lacking: int) -> None:
    scores, priority = np.full((4, 3), 1 / 3), np.full(3, 1 / 3)
    held = [label for label in range(3) if label != lacking]
    classes = np.array([*held, *held])
    assert h_accuracy_of(classes, scores, priority, 0.5) == Said(f"no row is of class {lacking}")
    classes = np.array([0, 1, 2, lacking])
    complexity = (classes != lacking).astype(float)
    found = h_accuracy_of(classes, scores, priority, 0.5, complexity)
    assert found == Said(f"every row of class {lacking} has a complexity of 0")
