"""H-accuracy: the published values of sigma, the theorems as identities, and an obvious loop."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dossier.core.types import Absent, Floats
from dossier.metrics import graded_accuracy
from dossier.metrics.discrimination import sensitivity, specificity
from dossier.metrics.graded_accuracy import credit
from dossier.metrics.intervals import wilson
from dossier.metrics.utility import net_benefit, standardized_net_benefit
from tests.estimated import curved, estimated, present
from tests.metrics.parts import h_accuracy_of
from tests.reasons import Said
from tests.reference.tables import needs_covid, printed, site


@st.composite
def both_classes(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Up to fourteen rows with at least one of each class, with ties and certain risks."""
    risks = st.sampled_from([0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1])
    y = [0, 1, *draw(st.lists(st.integers(0, 1), max_size=12))]
    p = [draw(risks) for _ in y]
    return np.array(y, dtype=float), np.array(p, dtype=float)


def value_of(y: Floats, p: Floats, priority: tuple[float, float], tau: float) -> float:
    return present(h_accuracy_of(y.astype(np.int64), np.column_stack((1 - p, p)), np.array(priority), tau))[0]


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


@needs_covid
@pytest.mark.parametrize("name", ["brazil-1", "brazil-3", "italy-1", "ethiopia", "spain"])
@pytest.mark.parametrize(("tau", "column"), [(0.6, "Ha .6"), (0.75, "Ha .75"), (1.0, "Ha 1")])
def test_the_five_hospitals(name: str, tau: float, column: str) -> None:
    found = estimated(graded_accuracy.h_accuracy(*site(name), 0.5, tau))
    assert found.value == pytest.approx(printed(name, column), abs=5.01e-8)


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
    found = estimated(graded_accuracy.h_accuracy(y, p, 0.25, float(tau)))
    assert found.value == pytest.approx(float(expected), abs=1e-12)
    if found.low is not None and found.high is not None:
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_counts_times_a_constant_leave_the_value_and_complexity_weighs() -> None:
    classes = np.array([0, 1, 2, 0, 1, 2])
    rng = np.random.default_rng(1)
    scores = rng.dirichlet(np.ones(3), 6)
    priority = np.array([0.2, 0.3, 0.5])
    once, thrice = (
        present(h_accuracy_of(classes, scores, priority, 0.6)),
        present(h_accuracy_of(np.tile(classes, 3), np.tile(scores, (3, 1)), priority, 0.6)),
    )
    assert once[0] == pytest.approx(thrice[0], abs=1e-14)
    complexity = np.array([1.0, 1, 1, 0, 0, 0])
    heavy, first = (
        present(h_accuracy_of(classes, scores, priority, 0.6, complexity)),
        present(h_accuracy_of(classes[:3], scores[:3], priority, 0.6)),
    )
    assert heavy[0] == pytest.approx(first[0])


def test_the_interval_agrees_with_a_bootstrap_within_classes() -> None:
    rng = np.random.default_rng(8)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(float)
    found = estimated(graded_accuracy.h_accuracy(y, p, 0.3, 0.75))
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
    alone = estimated(graded_accuracy.h_accuracy(y, p, 1.0, 0.5))
    assert (alone.low, alone.high) == pytest.approx(case, abs=1e-12)
    both = estimated(graded_accuracy.h_accuracy(y, p, 0.5, 0.5))
    down = math.hypot(0.6 - case[0], 0.85 - other[0]) / 2
    up = math.hypot(case[1] - 0.6, other[1] - 0.85) / 2
    assert (both.low, both.high) == pytest.approx((both.value - down, both.value + up), abs=1e-12)


def test_a_class_that_earns_nothing_still_has_an_upper_bound() -> None:
    p = np.concatenate((np.full(8, 0.3), np.full(40, 0.1)))
    y = np.array([1.0] * 8 + [0.0] * 40)
    found = estimated(graded_accuracy.h_accuracy(y, p, 1.0, 0.75))
    assert found.value == 0
    assert (found.low, found.high) == pytest.approx(wilson(0, 8, 0.95))


def test_the_standard_error_by_hand() -> None:
    # tau 1: credit 2p - 1 of a case with p above one half; cases .2 and .6, non-cases .8, .4 and 0.
    y, p = np.array([1.0, 1, 0, 0, 0]), np.array([0.6, 0.8, 0.1, 0.3, 0.7])
    found = estimated(graded_accuracy.h_accuracy(y, p, 0.25, 1.0))
    assert found.value == pytest.approx(0.25 * 0.4 + 0.75 * 0.4)
    assert found.se == pytest.approx(math.sqrt(0.25**2 * 0.08 / 2 + 0.75**2 * 0.16 / 3))


def test_what_it_cannot_say() -> None:
    p = np.array([0.2, 0.8])
    assert isinstance(graded_accuracy.h_accuracy(np.zeros(2), p, 0.5, 0.75), Absent)
    assert isinstance(graded_accuracy.h_accuracy(np.array([0.0, 1.0]), p, 0.5, 0.3), Absent)
    assert isinstance(graded_accuracy.h_accuracy(np.array([0.0, 1.0]), p, 0.5, 0.75, "raters"), Absent)
    nothing = h_accuracy_of(np.array([0, 1]), np.column_stack((1 - p, p)), np.array([0.5, 0.5]), 0.75, np.zeros(2))
    assert isinstance(nothing, Absent)
    single = estimated(graded_accuracy.h_accuracy(np.array([0.0, 1.0]), p, 0.5, 1.0))
    assert (single.low, single.high) == (None, None)
    assert single.reason


def test_the_profile_is_the_h_accuracy_at_each_tau() -> None:
    rng = np.random.default_rng(2)
    p = rng.random(60)
    y = (rng.random(60) < p).astype(float)
    found = curved(graded_accuracy.h_accuracy_profile(y, p))
    assert len(found.columns["tau"]) == 51
    for position in (0, 20, 50):
        expected = estimated(graded_accuracy.h_accuracy(y, p, 0.5, 0.5 + position / 100))
        assert found.columns["h_accuracy"][position] == pytest.approx(expected.value)
        assert found.columns["low"][position] == pytest.approx(expected.low)
    assert isinstance(graded_accuracy.h_accuracy_profile(np.ones(4), np.full(4, 0.3)), Absent)


@given(both_classes(), st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.8]))
@settings(deadline=None)
def test_theorem_1_and_the_cost_weighted_accuracy(rows: tuple[Floats, Floats], t: float) -> None:
    y, p = rows
    phi = float(y.mean())
    a = t * (1 - phi) + (1 - t) * phi
    found = estimated(graded_accuracy.h_accuracy_risk(y, p, t))
    expected = estimated(net_benefit(y, p, t)).value
    assert found.value * a / (1 - t) - t * (1 - phi) / (1 - t) == pytest.approx(expected, abs=1e-12)
    weights = [(1 - t) if outcome else t for outcome in y]
    right = [weight for weight, outcome, risk in zip(weights, y, p, strict=True) if (risk >= t) == bool(outcome)]
    assert found.value == pytest.approx(sum(right) / sum(weights), abs=1e-12)
    assert graded_accuracy.cost_weighted_accuracy(y, p, t) == found
    assert value_of(y, sided(p, t), (t * (1 - phi) / a, (1 - t) * phi / a), 0.5) == pytest.approx(found.value)
    even = estimated(graded_accuracy.h_accuracy_risk(np.concatenate((y, 1 - y)), np.concatenate((p, p)), t)).value
    scaled = estimated(standardized_net_benefit(np.concatenate((y, 1 - y)), np.concatenate((p, p)), t)).value
    assert (1 - t) * scaled == pytest.approx(even - t, abs=1e-12)


def test_the_standard_error_at_a_risk_threshold_by_hand() -> None:
    # phi 2/5, t 1/4: a = 3/20 + 6/20; p(1) 2/3, p(0) 1/3; sensitivity 1/2, specificity 2/3.
    y, p = np.array([1.0, 1, 0, 0, 0]), np.array([0.6, 0.2, 0.1, 0.1, 0.7])
    found = estimated(graded_accuracy.h_accuracy_risk(y, p, 0.25))
    assert found.value == pytest.approx(2 / 3 * 0.5 + 1 / 3 * 2 / 3)
    # phi, of variance 6/25/5, moves the priority by 2/9 / (6/25), and the value by the gap of the two, 1/6.
    of_phi = (1 / 6 * (2 / 9) / (6 / 25)) ** 2 * 6 / 25 / 5
    assert found.se == pytest.approx(math.sqrt(4 / 9 * 0.5 / 2 + 1 / 9 * (1 / 3) / 3 + of_phi))
    assert isinstance(graded_accuracy.h_accuracy_risk(np.ones(3), np.ones(3), 0.5), Absent)
    assert isinstance(graded_accuracy.cost_weighted_accuracy(np.zeros(3), np.ones(3), 0.5), Absent)


# ---- the interval ---------------------------------------------------------------------------------------------------


def test_partial_credit_has_as_many_trials_as_its_variance_is_worth() -> None:
    """The trials of a share with the variance of these credits, both with z^2/2 rows of none and of full credit."""
    credits, squared = [0.0, 0.2, 0.6, 1.0, 0.5], NormalDist().inv_cdf(0.95) ** 2
    with_more, counts = [*credits, 0.0, 1.0], [1.0] * 5 + [squared / 2] * 2
    rows = 5 + squared
    mean = sum(count * value for count, value in zip(counts, with_more, strict=True)) / rows
    variance = sum(count * (value - mean) ** 2 for count, value in zip(counts, with_more, strict=True)) / rows
    trials = rows * mean * (1 - mean) / variance - squared
    assert trials > 5
    y, p = np.array([1.0] * 5 + [0.0] * 2), np.array([(1 + credit) / 2 for credit in credits] + [0.3, 0.2])
    found = estimated(graded_accuracy.h_accuracy(y, p, 1.0, 1.0, level=0.9))
    assert found.value == pytest.approx(sum(credits) / 5)
    assert (found.low, found.high) == pytest.approx(wilson(trials * sum(credits) / 5, trials, 0.9), abs=1e-12)


def test_the_standard_error_with_a_complexity_by_hand() -> None:
    # Credits 1, 0 and .5 weigh 1, .5 and .5: the ratio is 1.25/2, what is left over .375, -.3125 and -.0625.
    classes, positive = np.array([1, 1, 1, 0, 0]), np.array([1.0, 0.2, 0.75, 0.1, 0.4])
    complexity = np.array([1.0, 0.5, 0.5, 1.0, 0.3])
    scores = np.column_stack((1 - positive, positive))
    found = h_accuracy_of(classes, scores, np.array([0.0, 1.0]), 1.0, complexity)
    variance = (0.375**2 + 0.3125**2 + 0.0625**2) / 2
    assert found == pytest.approx((0.625, math.sqrt(variance / 3) / (2 / 3)))


def test_a_model_that_is_always_right_has_bounds_and_no_standard_error() -> None:
    y, p = np.array([1.0] * 4 + [0.0] * 9), np.array([0.9] * 4 + [0.1] * 9)
    found = estimated(graded_accuracy.h_accuracy(y, p, 0.5, 0.5))
    down = math.hypot(1 - wilson(4, 4, 0.95)[0], 1 - wilson(9, 9, 0.95)[0]) / 2
    assert (found.value, found.se, found.high) == (1, None, 1)
    assert found.low == pytest.approx(1 - down)
    band = curved(graded_accuracy.accuracy_by_prevalence(y, p, 0.5)).columns
    assert band["low"][25] == pytest.approx(1 - down)
    assert set(band["high"]) == {1.0}


def test_priorities_rounded_to_a_little_more_than_one_stay_within_the_range() -> None:
    scores = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1e-9, 1 - 1e-9]])
    found = present(graded_accuracy.weighted_credit(np.array([0, 0, 1, 1]), scores, np.array([0.500001, 0.5]), 1.0))
    assert (found.value, found.high) == (1, 1)


def test_a_single_row_of_a_class_that_does_not_count_takes_no_interval_away() -> None:
    y, p = np.array([1.0, 1, 1, 0]), np.array([0.9, 0.8, 0.2, 0.1])
    alone = estimated(graded_accuracy.h_accuracy(y, p, 1.0, 0.5))
    assert (alone.low, alone.high) == pytest.approx(wilson(2, 3, 0.95))
    assert alone.se == pytest.approx(math.sqrt(2 / 3 * 1 / 3 / 2))
    both = estimated(graded_accuracy.h_accuracy(y, p, 0.98, 0.5))
    assert (both.low, both.high, both.se) == (None, None, None)
    assert both.reason == Said("a class that counts has a single row, so that its variance is not known")
    assert (estimated(graded_accuracy.h_accuracy_risk(y, p, 0.3)).reason, alone.reason) == (both.reason, None)
    band = curved(graded_accuracy.h_accuracy_by_priority(y, p)).columns
    assert [low is None for low in band["low"]] == [True] * 50 + [False]


def test_a_class_of_one_row_has_its_credit_and_no_variance() -> None:
    found = graded_accuracy.class_ratio(np.array([0.4]), np.array([0.5]))
    assert (found.value, found.rows) == (0.4, 1)
    assert math.isnan(found.variance)


# ---- where its settings come from -----------------------------------------------------------------------------------


def test_tau_lies_from_one_half_to_one() -> None:
    y, p = np.array([0.0, 0, 1, 1]), np.array([0.2, 0.6, 0.8, 0.9])
    for tau in (0.49, 1.01):
        assert graded_accuracy.h_accuracy(y, p, 0.5, tau) == Said(f"tau is {tau}, outside 1/2 to 1")
    for tau in (0.5, 1.0):
        estimated(graded_accuracy.h_accuracy(y, p, 0.5, tau))


def test_raters_who_are_as_sure_as_a_coin_ask_for_no_confidence() -> None:
    y, p = np.array([0.0, 0, 1, 1]), np.array([0.2, 0.6, 0.8, 0.9])
    labels, confidence = np.ones((4, 2)), np.array([[0.25, 0.75]] * 4)
    found = estimated(graded_accuracy.h_accuracy(y, p, 0.5, "mean_confidence", labels=labels, confidence=confidence))
    assert (found.value, found.details) == (0.75, {"tau": 0.5})


def test_what_was_done_with_the_complexity_is_told() -> None:
    y, p = np.array([0.0, 1, 0, 1]), np.array([0.2, 0.8, 0.9, 0.1])
    complexity = np.array([0.4, 1, 0.2, math.nan])
    graded = estimated(graded_accuracy.h_accuracy(y, p, 0.5, 0.5, "own", case_complexity=complexity))
    assert (graded.n, graded.details) == (3, {"left_out": 1})
    cut = estimated(graded_accuracy.h_accuracy(y, p, 0.5, 0.5, "own_top_50%", case_complexity=complexity))
    assert (cut.n, cut.details) == (3, {"left_out": 1, "cut": 0.4})


def test_the_survey_gives_the_last_class_its_share_of_the_answers_that_prefer_one() -> None:
    survey = (("a", 0.2, None, None), ("b", 0.5, 0.4, 0.6), ("c", 0.1, None, None))
    assert graded_accuracy.priority_of_survey(survey) == pytest.approx(1 / 8)
    found = curved(graded_accuracy.survey_of_priorities((), survey))
    assert found.columns["priority"] == pytest.approx((2 / 8, 5 / 8, 1 / 8))
    assert (found.columns["low"], found.columns["high"]) == ((None, 0.4, None), (None, 0.6, None))
    assert found.n == 0, "no patient is asked"


# ---- its curves -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "low", "high"), [(0.95, 1 / 3, 2 / 3), (0.5, 1 / 2, 1 / 2)])
def test_the_random_reference_is_of_two_hundred_draws(level: float, low: float, high: float) -> None:
    """One of ten rows counts double: the right one of two cases, the wrong one, or one of eight right non-cases.

    The cases' share is then 2/3, 1/3 or 1/2, so that its mean over the draws is a whole number of 1,200ths.
    """
    y, p = np.array([1.0, 1] + [0.0] * 8), np.array([0.9, 0.2] + [0.1] * 8)
    curve = curved(
        graded_accuracy.h_accuracy_by_complexity(
            y, p, "own", case_complexity=np.linspace(0, 1, 10), level=level, seed=5
        )
    ).columns
    assert curve["share"][2] == pytest.approx(0.1)
    assert curve["random_low"][2] == pytest.approx((1 + low) / 2)
    assert curve["random_high"][2] == pytest.approx((1 + high) / 2)
    mean = present(curve["random"][2])
    parts = (2 * mean - 1) * 1200
    assert parts != pytest.approx(600, abs=0.5)
    assert parts == pytest.approx(round(parts), abs=1e-6)


def test_the_surface_spans_every_priority_and_every_share() -> None:
    y, p = np.array([1.0, 1, 0, 0, 0]), np.array([0.9, 0.2, 0.1, 0.3, 0.7])
    surface = curved(
        graded_accuracy.h_accuracy_surface(y, p, "own", case_complexity=np.array([0.1, 0.9, 0.5, 0.3, 0.8]))
    ).columns
    assert surface["priority"] == pytest.approx([first / 14 for first in range(15) for _ in range(15)])
    assert surface["share"] == pytest.approx([second / 14 for _ in range(15) for second in range(15)])
    corners = [surface["h_accuracy"][position] for position in (0, 14, 210, 224)]
    assert corners == pytest.approx([2 / 3, 2 / 3, 1 / 2, 1 / 2]), "specificity and sensitivity, with all cases alike"


def test_a_risk_at_the_threshold_is_positive_at_every_prevalence() -> None:
    y, p = np.array([1.0, 1, 1, 0, 0]), np.array([0.3, 0.3, 0.1, 0.3, 0.2])
    found = curved(graded_accuracy.accuracy_by_prevalence(y, p, 0.3)).columns
    assert (found["accuracy"][0], found["accuracy"][-1]) == pytest.approx((1 / 2, 2 / 3))


def test_bins_of_answers_are_of_one_tenth_and_hold_ten_at_least() -> None:
    confidence = np.concatenate((np.full(9, 0.25), np.full(4, 0.7), np.full(6, 0.78), np.full(3, 0.9), np.full(8, 1.0)))
    right = np.concatenate((np.ones(9), np.ones(4), np.zeros(6), np.zeros(3), np.ones(8)))
    # Two more answers say nothing: of one the truth is not known, of the other not how sure it was.
    confidence, truth = np.append(confidence, (0.7, math.nan)), np.append(right, (math.nan, 1.0))
    labels = np.ones((len(truth), 1))
    for made, what in (
        (graded_accuracy.rater_accuracy_by_confidence(labels, confidence[:, None], truth), "confidence"),
        (graded_accuracy.rater_accuracy_by_complexity(labels, confidence[:, None], truth), "complexity"),
    ):
        found = curved(made)
        assert found.n == 30, what
        assert found.columns["lower"] == pytest.approx((0.7, 0.9))
        assert found.columns["upper"] == pytest.approx((0.8, 1.0))
        assert list(found.columns["count"]) == [10, 11]
        assert found.columns["mean"] == pytest.approx(((4 * 0.7 + 6 * 0.78) / 10, (3 * 0.9 + 8) / 11))
        assert found.columns["share_right"] == pytest.approx((4 / 10, 8 / 11))
        assert found.columns["low"] == pytest.approx([wilson(4, 10, 0.95)[0], wilson(8, 11, 0.95)[0]])
    few = graded_accuracy.rater_accuracy_by_confidence(labels[:9], confidence[:9, None], truth[:9])
    assert few == Said("no bin of confidence holds 10 answers")
    none = graded_accuracy.rater_accuracy_by_confidence(labels[-2:], confidence[-2:, None], truth[-2:])
    assert none == Said("no answer has both a truth and a confidence")


def test_confidence_of_right_answers_is_counted_at_every_hundredth() -> None:
    labels, truth = np.ones((5, 1)), np.array([1.0, 1, 0, math.nan, 1])
    confidence = np.array([0.29, 0.58, 0.57, 0.9, math.nan])[:, None]
    found = curved(graded_accuracy.confidence_of_right_answers(labels, confidence, truth))
    assert found.n == 3
    assert found.columns["confidence"] == tuple(step / 100 for step in range(101))
    assert found.columns["share_right"] == (1.0,) * 30 + (0.5,) * 29 + (0.0,) * 42
    assert found.columns["share_wrong"] == (1.0,) * 58 + (0.0,) * 43


def test_the_complexity_of_the_cases_stands_in_bins_of_one_twentieth() -> None:
    values = [0.0, 0.04, 0.05, 0.49, 0.5, 0.62, 0.74, 0.89, 0.94, 0.95, 1.0]
    found = curved(
        graded_accuracy.complexity_distribution(np.zeros(11), "own", case_complexity=np.array(values))
    ).columns
    assert found["lower"] == pytest.approx([index / 20 for index in range(20)])
    assert found["upper"] == pytest.approx([index / 20 for index in range(1, 21)])
    counted = {0: 2, 1: 1, 9: 1, 10: 1, 12: 1, 14: 1, 17: 1, 18: 1, 19: 2}
    assert found["count"] == tuple(counted.get(index, 0) for index in range(20))
    assert found["share"] == pytest.approx([counted.get(index, 0) / 11 for index in range(20)])


# ---- a priority that is estimated -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("priority", "t"), [("prevalence", None), ("complement", None), ("net_benefit", 0.2)])
def test_an_observed_priority_is_random(priority: str, t: float | None) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(-1.2, 1.2, 300)
    p = 1 / (1 + np.exp(-x))
    y = (rng.random(300) < p).astype(float)
    found = estimated(graded_accuracy.h_accuracy(y, p, priority, 0.75, primary_threshold=t))
    fixed = estimated(graded_accuracy.h_accuracy(y, p, float(found.details["priority"] or 0.0), 0.75))
    assert found.value == pytest.approx(fixed.value)
    # Leaving out each row moves the priority with the credits.
    without = [(np.delete(y, k), np.delete(p, k)) for k in range(len(y))]
    rest = [estimated(graded_accuracy.h_accuracy(*rows, priority, 0.75, primary_threshold=t)).value for rows in without]
    assert found.se == pytest.approx(math.sqrt((len(y) - 1) * float(np.var(rest))), rel=0.02)
    assert (fixed.se or 0.0) < 0.95 * (found.se or 0.0)
    assert (found.low or 0.0) < (fixed.low or 0.0) < (fixed.high or 0.0) < (found.high or 0.0)


def test_a_survey_counts_as_many_answers_as_its_interval_stands_for() -> None:
    """Of 100 answers 40 prefer the positive class: the variance is .0024 times the squared gap of credits."""
    y, p = np.array([1.0] * 50 + [0.0] * 50), np.array([0.9] * 20 + [0.1] * 30 + [0.1] * 45 + [0.9] * 5)
    half = 1.959963984540054 * math.sqrt(0.0024)
    survey = (("0", 0.6, 0.6 - half, 0.6 + half), ("1", 0.4, 0.4 - half, 0.4 + half))
    found = estimated(graded_accuracy.h_accuracy(y, p, "survey", 0.5, survey=survey))
    fixed = estimated(
        graded_accuracy.h_accuracy(y, p, "survey", 0.5, survey=(("0", 0.6, None, None), ("1", 0.4, None, None)))
    )
    assert (found.se or 0.0) ** 2 == pytest.approx((fixed.se or 0.0) ** 2 + 0.0024 * (0.9 - 0.4) ** 2)
    # With others who prefer no class a share of those who do rests on fewer answers.
    undecided = (("0", 0.3, 0.3 - 0.1, 0.3 + 0.1), ("1", 0.2, 0.2 - 0.1, 0.2 + 0.1))
    wide = estimated(graded_accuracy.h_accuracy(y, p, "survey", 0.5, survey=undecided))
    answers = min(0.3 * 0.7, 0.2 * 0.8) / (0.1 / 1.959963984540054) ** 2
    assert (wide.se or 0.0) ** 2 == pytest.approx((fixed.se or 0.0) ** 2 + 0.24 / (0.5 * answers) * 0.25)


def test_accuracy_by_a_random_prevalence_covers_as_accuracy_does() -> None:
    """At tau .5 and the prevalence as priority it is the plain accuracy, whose share is known: .90 held it before."""
    rng, held = np.random.default_rng(9), 0
    for _ in range(1000):
        y = (rng.random(400) < 0.3).astype(float)
        p = np.where(rng.random(400) < np.where(y == 1, 0.5, 0.95), 0.25 + 0.5 * y, 0.75 - 0.5 * y)
        found = estimated(graded_accuracy.h_accuracy(y, p, "prevalence", 0.5))
        held += (found.low or 0.0) <= 0.3 * 0.5 + 0.7 * 0.95 <= (found.high or 0.0)
    assert 0.93 <= held / 1000 <= 0.97
