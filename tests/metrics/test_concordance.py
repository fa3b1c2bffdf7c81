"""The model-based concordance: against every pair, against outcomes drawn from the risks, and where it is what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from dossier.core.register import NO_ROWS
from dossier.core.types import Estimate, Floats
from dossier.metrics import discrimination, weighted
from dossier.metrics.intervals import NO_SPREAD
from tests.estimated import estimated, interval_of, present

FEW = 20
"""Draws of a bootstrap where its bounds are not looked at."""


def by_pairs(risk: Floats, weights: Floats | None = None) -> float:
    """The definition: every pair of two rows, one by one."""
    weight = np.ones(len(risk)) if weights is None else weights
    above = below = 0.0
    for i, p in enumerate(risk):
        for j, q in enumerate(risk):
            if i != j:
                pair = weight[i] * weight[j] * p * (1 - q)
                above += pair * ((p > q) + (p == q) / 2)
                below += pair
    return above / below


risks = st.lists(st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.3001, 0.5, 0.8, 0.97, 1.0]), min_size=2, max_size=25)


@settings(max_examples=150, deadline=None)
@given(risks)
def test_sorted_sums_are_those_over_all_pairs(given_risks: list[float]) -> None:
    risk = np.array(given_risks)
    found = discrimination.model_based_concordance(risk, bootstrap=FEW)
    if not any(p * (1 - q) > 0 for i, p in enumerate(risk) for j, q in enumerate(risk) if i != j):
        assert found == discrimination.NO_EXPECTED_PAIR
        return
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(by_pairs(risk), abs=1e-12)
    assert 0.5 - 1e-12 <= found.value <= 1


@settings(max_examples=60, deadline=None)
@given(risks, st.integers(0, 1000))
def test_weighted_pairs_and_what_each_row_contributes(given_risks: list[float], seed: int) -> None:
    """The influence of a row: what the value moves by when the row's weight does."""
    risk = np.clip(np.array(given_risks), 0.01, 0.99)
    weights = np.random.default_rng(seed).uniform(0.5, 2, len(risk))
    value, contributions, _ = present(discrimination.expected_concordance(risk, weights))
    assert value == pytest.approx(by_pairs(risk, weights), abs=1e-12)
    step = 1e-6
    for row in range(min(len(risk), 4)):
        moved = weights.copy()
        moved[row] *= 1 + step
        slope = (by_pairs(risk, moved) - by_pairs(risk, weights)) / step
        assert contributions[row] == pytest.approx(slope, abs=2e-5)


def test_outcomes_drawn_from_the_risks_give_it_on_average() -> None:
    """Cases and others of 4,000 drawn tables, all their pairs together: what it says the AUROC would be."""
    rng = np.random.default_rng(5)
    risk = np.round(np.asarray(expit(rng.normal(-0.7, 1.0, 60))), 2)
    right = pairs = 0.0
    for _ in range(4000):
        outcome = (rng.random(60) < risk).astype(float)
        if 0 < outcome.sum() < 60:
            size = outcome.sum() * (60 - outcome.sum())
            right, pairs = right + size * float(discrimination.placements(outcome, risk)[0].mean()), pairs + size
    found = estimated(discrimination.model_based_concordance(risk, bootstrap=FEW))
    # The standard error of such a mean is about .0009.
    assert found.value == pytest.approx(right / pairs, abs=0.004)


def test_two_risks_by_hand() -> None:
    """.2 and .6: a case of .6 beside another of .2 comes with .6 x .8, the other way round with .2 x .4."""
    found = estimated(discrimination.model_based_concordance(np.array([0.2, 0.6]), bootstrap=FEW))
    assert found.value == pytest.approx(0.48 / (0.48 + 0.08))
    assert (found.n, found.events) == (2, None)


@pytest.mark.parametrize("unit", [1e-3, 1.0])
def test_rare_outcomes_keep_it(unit: float) -> None:
    """Where every risk is small 1 - q is nearly 1, so that a common factor hardly matters."""
    risk = np.random.default_rng(2).uniform(0.001, 0.02, 300) * unit
    found = present(discrimination.expected_concordance(risk, np.ones(300)))
    assert found[0] == pytest.approx(by_pairs(risk), rel=1e-9)
    assert found[0] == pytest.approx(0.6624, abs=0.02), "a third above one half of what uniform risks order"


def test_risks_that_are_all_alike_are_one_half_without_an_interval_and_certain_ones_have_no_pair() -> None:
    alike = estimated(discrimination.model_based_concordance(np.full(30, 0.2)))
    assert alike.value == pytest.approx(0.5, abs=1e-12)
    assert (alike.low, alike.high, alike.reason) == (None, None, NO_SPREAD)
    for certain in (0.0, 1.0):
        assert discrimination.model_based_concordance(np.full(5, certain)) == discrimination.NO_EXPECTED_PAIR
    assert discrimination.model_based_concordance(np.array([0.4])) == discrimination.NO_EXPECTED_PAIR
    assert discrimination.model_based_concordance(np.zeros(0)) == NO_ROWS
    certain_and_right = estimated(discrimination.model_based_concordance(np.array([0.0, 0.0, 1.0]), bootstrap=FEW))
    assert certain_and_right.value == 1


def test_a_narrower_case_mix_expects_a_lower_auroc_of_the_same_model() -> None:
    """A right model among patients of like risks ranks less well, and no less than expected."""
    rng = np.random.default_rng(9)
    linear = rng.normal(-2.5, 1.2, 20_000)
    outcome = (rng.random(20_000) < expit(linear)).astype(float)
    risk = np.asarray(expit(linear))
    narrow = (linear > -2.8) & (linear < -1.6)
    values = {}
    for name, rows in (("all", slice(None)), ("narrow", narrow)):
        observed, expected = (
            estimated(discrimination.auroc(outcome[rows], risk[rows])),
            estimated(discrimination.model_based_concordance(risk[rows], bootstrap=FEW)),
        )
        low, high = interval_of(observed)
        assert low < expected.value < high
        values[name] = (observed.value, expected.value)
    assert values["narrow"][0] < values["all"][0] - 0.1
    assert values["narrow"][1] < values["all"][1] - 0.1


def test_the_bootstrap_spreads_as_linearization_says() -> None:
    risk = np.asarray(expit(np.random.default_rng(3).normal(-1, 1.1, 400)))
    found = estimated(discrimination.model_based_concordance(risk, bootstrap=2000, seed=4))
    whole = present(discrimination.weighted_concordance(weighted.Rows(np.zeros(400), risk, np.ones(400))))
    se = float(np.sqrt(400 / 399 * (whole.linearized**2).sum()))
    assert found.value == pytest.approx(whole.value, abs=1e-12)
    assert found.se == pytest.approx(se, rel=0.06)
    low, high = interval_of(found)
    assert (high - low) / (2 * 1.96 * se) == pytest.approx(1, abs=0.08)


def test_many_rows_are_drawn_in_bins() -> None:
    rng = np.random.default_rng(6)
    risk = np.asarray(expit(rng.normal(-1, 1.1, 60_000)))
    found = estimated(discrimination.model_based_concordance(risk, bootstrap=60, seed=1))
    exact = present(discrimination.expected_concordance(risk, np.ones(60_000)))
    assert found.value == exact[0], "the value is that of the rows"
    low, high = interval_of(found)
    assert low - 1e-4 < found.value < high + 1e-4
