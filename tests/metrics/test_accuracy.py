"""H-accuracy: the published values of sigma, the theorems as identities, and an obvious loop."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dossier.metrics.accuracy import (
    cost_weighted_accuracy,
    credit,
    h_accuracy,
    h_accuracy_of,
    h_accuracy_profile,
    h_accuracy_risk,
)
from dossier.metrics.discrimination import sensitivity, specificity
from dossier.metrics.intervals import wilson
from dossier.metrics.utility import net_benefit, standardized_net_benefit
from dossier.types import Absent, Curve, Estimate, Floats

SHARED = Path(__file__).parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of reference values is not there")


@st.composite
def both_classes(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Up to fourteen rows with at least one of each class, with ties and certain risks."""
    risks = st.sampled_from([0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1])
    y = [0, 1, *draw(st.lists(st.integers(0, 1), max_size=12))]
    p = [draw(risks) for _ in y]
    return np.array(y, dtype=float), np.array(p, dtype=float)


def estimated(found: Estimate | Absent) -> Estimate:
    assert isinstance(found, Estimate)
    return found


def value_of(y: Floats, p: Floats, priority: tuple[float, float], tau: float) -> float:
    found = h_accuracy_of(y.astype(np.int64), np.column_stack((1 - p, p)), np.array(priority), tau)
    assert not isinstance(found, Absent)
    return found[0]


def sided(p: Floats, t: float) -> Floats:
    """Risks that lie on the same side of one half as p of t: sigma_risk as an H-accuracy at tau one half."""
    return np.where(p >= t, 0.75, 0.25)


@pytest.mark.parametrize(
    ("scores", "tau", "sigma"),
    [([0.5, 0.5], 0.75, 0), ([0.6, 0.4], 0.75, 0.4), ([0.75, 0.25], 0.75, 1), ([0.4, 0.3, 0.3], 0.5, 0.4)],
)
def test_the_printed_values_of_sigma(scores: list[float], tau: float, sigma: float) -> None:
    assert credit(np.array([0]), np.array([scores]), tau)[0] == pytest.approx(sigma, abs=1e-12)


def test_ties_share_the_credit_at_every_tau() -> None:
    assert credit(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]]), 0.5).tolist() == [0.5, 0.5]
    tied = np.array([[0.4, 0.4, 0.2]] * 3)
    assert credit(np.array([0, 1, 2]), tied, 0.4) == pytest.approx([0.5, 0.5, 0])
    assert credit(np.array([0, 1, 2]), tied, 0.5) == pytest.approx([0.2, 0.2, 0])


@needs_shared
@pytest.mark.parametrize("name", ["brazil-1", "brazil-3", "italy-1", "ethiopia", "spain"])
@pytest.mark.parametrize(("tau", "column"), [(0.6, "Ha .6"), (0.75, "Ha .75"), (1.0, "Ha 1")])
def test_the_five_hospitals(name: str, tau: float, column: str) -> None:
    lines = [line for line in (SHARED / "methods.md").read_text().splitlines() if line.startswith("|")]
    head = next(line for line in lines if line.startswith("| site |"))
    row = next(line for line in lines if line.startswith(f"| {name} |"))
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in (head, row)]
    read = pd.read_csv(SHARED / "data" / "covid" / f"{name}.csv")
    found = estimated(h_accuracy(read["outcome"].to_numpy(float), read["risk"].to_numpy(float), 0.5, tau))
    assert found.value == pytest.approx(float(cells[1][cells[0].index(column)]), abs=5.01e-8)


@given(both_classes(), st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.8]))
@settings(deadline=None)
def test_theorem_1_net_benefit(rows: tuple[Floats, Floats], t: float) -> None:
    y, p = rows
    phi = float(y.mean())
    a = t * (1 - phi) + (1 - t) * phi
    ha = value_of(y, sided(p, t), (t * (1 - phi) / a, (1 - t) * phi / a), 0.5)
    expected = estimated(net_benefit(y, p, t)).value
    assert ha * a / (1 - t) - t * (1 - phi) / (1 - t) == pytest.approx(expected, abs=1e-12)


@given(both_classes(), st.sampled_from([0.1, 0.25, 0.5, 0.8]))
@settings(deadline=None)
def test_at_even_prevalence(rows: tuple[Floats, Floats], t: float) -> None:
    y, p = rows
    y, p = np.concatenate((y, 1 - y)), np.concatenate((p, p))  # half cases
    balanced = value_of(y, sided(p, 0.5), (0.5, 0.5), 0.5)
    assert estimated(net_benefit(y, p, 0.5)).value == pytest.approx(balanced - 0.5, abs=1e-12)
    weighted = value_of(y, sided(p, t), (t, 1 - t), 0.5)
    assert (1 - t) * estimated(standardized_net_benefit(y, p, t)).value == pytest.approx(weighted - t, abs=1e-12)


@given(both_classes())
@settings(deadline=None)
def test_the_special_cases(rows: tuple[Floats, Floats]) -> None:
    y, p = rows
    phi = float(y.mean())
    right = np.where(p == 0.5, 0.5, (p > 0.5) == (y == 1))
    assert value_of(y, p, (1 - phi, phi), 0.5) == pytest.approx(right.mean(), abs=1e-12)  # accuracy
    balanced = (right[y == 1].mean() + right[y == 0].mean()) / 2
    assert value_of(y, p, (0.5, 0.5), 0.5) == pytest.approx(balanced, abs=1e-12)
    off = np.where(p == 0.5, 0.6, p)
    assert value_of(y, off, (0.0, 1.0), 0.5) == pytest.approx(estimated(sensitivity(y, off, 0.5)).value)
    assert value_of(y, off, (1.0, 0.0), 0.5) == pytest.approx(estimated(specificity(y, off, 0.5)).value)


@given(both_classes(), st.sampled_from([Fraction(1, 2), Fraction(3, 5), Fraction(3, 4), Fraction(1)]))
@settings(deadline=None)
def test_an_obvious_loop(rows: tuple[Floats, Floats], tau: Fraction) -> None:
    y, p = rows
    total = {0: Fraction(0), 1: Fraction(0)}
    for outcome, risk in zip(y, p, strict=True):
        positive = Fraction(str(risk))
        own = positive if outcome else 1 - positive
        if own > Fraction(1, 2):
            total[int(outcome)] += (
                min(Fraction(1), (own - Fraction(1, 2)) / (tau - Fraction(1, 2))) if tau * 2 > 1 else 1
            )
        elif own == Fraction(1, 2) and tau * 2 == 1:
            total[int(outcome)] += Fraction(1, 2)
    priority = Fraction(1, 4)
    expected = priority * total[1] / int(y.sum()) + (1 - priority) * total[0] / int(len(y) - y.sum())
    found = estimated(h_accuracy(y, p, 0.25, float(tau)))
    assert found.value == pytest.approx(float(expected), abs=1e-12)
    if found.low is not None and found.high is not None:
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_counts_times_a_constant_leave_the_value_and_complexity_weighs() -> None:
    classes = np.array([0, 1, 2, 0, 1, 2])
    rng = np.random.default_rng(1)
    scores = rng.dirichlet(np.ones(3), 6)
    priority = np.array([0.2, 0.3, 0.5])
    once, thrice = (
        h_accuracy_of(classes, scores, priority, 0.6),
        h_accuracy_of(np.tile(classes, 3), np.tile(scores, (3, 1)), priority, 0.6),
    )
    assert not isinstance(once, Absent)
    assert not isinstance(thrice, Absent)
    assert once[0] == pytest.approx(thrice[0], abs=1e-14)
    complexity = np.array([1.0, 1, 1, 0, 0, 0])
    heavy, first = (
        h_accuracy_of(classes, scores, priority, 0.6, complexity),
        h_accuracy_of(classes[:3], scores[:3], priority, 0.6),
    )
    assert not isinstance(heavy, Absent)
    assert not isinstance(first, Absent)
    assert heavy[0] == pytest.approx(first[0])


def test_the_interval_agrees_with_a_bootstrap_within_classes() -> None:
    rng = np.random.default_rng(8)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(float)
    found = estimated(h_accuracy(y, p, 0.3, 0.75))
    cases, others = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    values = []
    for _ in range(1000):
        rows = np.concatenate((rng.choice(cases, len(cases)), rng.choice(others, len(others))))
        values.append(value_of(y[rows], p[rows], (0.7, 0.3), 0.75))
    assert found.se == pytest.approx(np.std(values), rel=0.08)
    # So many rows of either class make the interval nearly the bootstrap's.
    assert (found.low, found.high) == pytest.approx(np.quantile(values, (0.025, 0.975)), abs=0.008)


def test_credit_of_all_or_nothing_has_wilsons_bounds_and_newcombes_where_classes_meet() -> None:
    """At tau one half the credit is a share: one class alone gives Wilson's interval, two give Newcombe's."""
    p = np.array([0.9] * 6 + [0.1] * 4 + [0.2] * 17 + [0.8] * 3)
    y = np.array([1.0] * 10 + [0.0] * 20)
    case, other = wilson(6, 10, 0.95), wilson(17, 20, 0.95)
    alone = estimated(h_accuracy(y, p, 1.0, 0.5))
    assert (alone.low, alone.high) == pytest.approx(case, abs=1e-12)
    both = estimated(h_accuracy(y, p, 0.5, 0.5))
    down = math.hypot(0.6 - case[0], 0.85 - other[0]) / 2
    up = math.hypot(case[1] - 0.6, other[1] - 0.85) / 2
    assert (both.low, both.high) == pytest.approx((both.value - down, both.value + up), abs=1e-12)


def test_a_class_that_earns_nothing_still_has_an_upper_bound() -> None:
    p = np.concatenate((np.full(8, 0.3), np.full(40, 0.1)))
    y = np.array([1.0] * 8 + [0.0] * 40)
    found = estimated(h_accuracy(y, p, 1.0, 0.75))
    assert found.value == 0
    assert (found.low, found.high) == pytest.approx(wilson(0, 8, 0.95))


def test_the_standard_error_by_hand() -> None:
    # tau 1: credit 2p - 1 of a case with p above one half; cases .2 and .6, non-cases .8, .4 and 0.
    y, p = np.array([1.0, 1, 0, 0, 0]), np.array([0.6, 0.8, 0.1, 0.3, 0.7])
    found = estimated(h_accuracy(y, p, 0.25, 1.0))
    assert found.value == pytest.approx(0.25 * 0.4 + 0.75 * 0.4)
    assert found.se == pytest.approx(math.sqrt(0.25**2 * 0.08 / 2 + 0.75**2 * 0.16 / 3))


def test_what_it_cannot_say() -> None:
    p = np.array([0.2, 0.8])
    assert isinstance(h_accuracy(np.zeros(2), p, 0.5, 0.75), Absent)
    assert isinstance(h_accuracy(np.array([0.0, 1.0]), p, 0.5, 0.3), Absent)
    assert isinstance(h_accuracy(np.array([0.0, 1.0]), p, 0.5, 0.75, "raters"), Absent)
    nothing = h_accuracy_of(np.array([0, 1]), np.column_stack((1 - p, p)), np.array([0.5, 0.5]), 0.75, np.zeros(2))
    assert isinstance(nothing, Absent)
    single = estimated(h_accuracy(np.array([0.0, 1.0]), p, 0.5, 1.0))
    assert (single.low, single.high) == (None, None)
    assert single.reason


def test_the_profile_is_the_h_accuracy_at_each_tau() -> None:
    rng = np.random.default_rng(2)
    p = rng.random(60)
    y = (rng.random(60) < p).astype(float)
    found = h_accuracy_profile(y, p)
    assert isinstance(found, Curve)
    assert len(found.columns["tau"]) == 51
    for place in (0, 20, 50):
        expected = estimated(h_accuracy(y, p, 0.5, 0.5 + place / 100))
        assert found.columns["h_accuracy"][place] == pytest.approx(expected.value)
        assert found.columns["low"][place] == pytest.approx(expected.low)
    assert isinstance(h_accuracy_profile(np.ones(4), np.full(4, 0.3)), Absent)


@given(both_classes(), st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.8]))
@settings(deadline=None)
def test_theorem_1_and_the_cost_weighted_accuracy(rows: tuple[Floats, Floats], t: float) -> None:
    y, p = rows
    phi = float(y.mean())
    a = t * (1 - phi) + (1 - t) * phi
    found = estimated(h_accuracy_risk(y, p, t))
    expected = estimated(net_benefit(y, p, t)).value
    assert found.value * a / (1 - t) - t * (1 - phi) / (1 - t) == pytest.approx(expected, abs=1e-12)
    weights = [(1 - t) if outcome else t for outcome in y]
    right = [weight for weight, outcome, risk in zip(weights, y, p, strict=True) if (risk >= t) == bool(outcome)]
    assert found.value == pytest.approx(sum(right) / sum(weights), abs=1e-12)
    assert cost_weighted_accuracy(y, p, t) == found
    assert value_of(y, sided(p, t), (t * (1 - phi) / a, (1 - t) * phi / a), 0.5) == pytest.approx(found.value)
    even = estimated(h_accuracy_risk(np.concatenate((y, 1 - y)), np.concatenate((p, p)), t)).value
    scaled = estimated(standardized_net_benefit(np.concatenate((y, 1 - y)), np.concatenate((p, p)), t)).value
    assert (1 - t) * scaled == pytest.approx(even - t, abs=1e-12)


def test_the_standard_error_at_a_risk_threshold_by_hand() -> None:
    # phi 2/5, t 1/4: a = 3/20 + 6/20; p(1) 2/3, p(0) 1/3; sensitivity 1/2, specificity 2/3.
    y, p = np.array([1.0, 1, 0, 0, 0]), np.array([0.6, 0.2, 0.1, 0.1, 0.7])
    found = estimated(h_accuracy_risk(y, p, 0.25))
    assert found.value == pytest.approx(2 / 3 * 0.5 + 1 / 3 * 2 / 3)
    assert found.se == pytest.approx(math.sqrt(4 / 9 * 0.5 / 2 + 1 / 9 * (1 / 3) / 3))
    assert isinstance(h_accuracy_risk(np.ones(3), np.ones(3), 0.5), Absent)
    assert isinstance(cost_weighted_accuracy(np.zeros(3), np.ones(3), 0.5), Absent)
