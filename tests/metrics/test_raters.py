"""What raters say of priority, confidence and complexity: small tables worked by hand, and the published ratings."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dossier.core.types import Absent, Curve, Floats
from dossier.metrics import graded_accuracy, raters
from dossier.metrics.discrimination import accuracy, balanced_accuracy, sensitivity, specificity
from dossier.metrics.reliability import cohen_kappa, confidence_by_rater, raters_one_by_one
from dossier.typeset.reasons import reason_text
from tests.estimated import absent, curved, estimated, present
from tests.metrics.parts import h_accuracy_of
from tests.reasons import Said
from tests.reference.tables import RATERS, needs_raters

TRUTH = np.array([1.0, 1, 0, 0, 0])
LABELS = np.array([[1, 1, 0], [1, 0, 1], [0, 0, 0], [1, 0, 0], [0, 0, math.nan]])
CONFIDENCE = np.array([[1.0, 0.8, 0.6], [0.8, 0.6, 0.6], [1.0, 0.8, 1.0], [0.4, 0.8, 0.6], [0.8, 1.0, math.nan]])
COMPLEXITY = np.array([[0.0, 0.25, 0.5], [1, 0.75, 0.5], [0, 0, 0], [0.75, 0.25, 0.5], [0.5, 0.25, math.nan]])


def made(found: Curve | Absent) -> dict[str, Floats]:
    return {
        name: np.array([math.nan if value is None else value for value in column], dtype=float)
        for name, column in curved(found).columns.items()
    }


# ---- priority -------------------------------------------------------------------------------------------------------


def test_the_raters_priority_by_hand() -> None:
    """TPR 1, 1/2, 1/2, mean 2/3; TNR 2/3, 1, 1, mean 8/9; p(1) = (2/3)/(2/3 + 8/9) = 3/7."""
    assert raters.priority_of_raters(LABELS, TRUTH) == pytest.approx(3 / 7)


def test_a_rater_who_saw_no_case_has_no_say_in_the_sensitivity() -> None:
    labels = np.array([[1, math.nan], [0, math.nan], [0, 0], [0, 1]])
    # TPR 1/2 of the first alone; TNR 1 and 1/2.
    assert raters.priority_of_raters(labels, np.array([1.0, 1, 0, 0])) == pytest.approx(0.5 / (0.5 + 0.75))


def test_every_rater_has_one_say_however_many_cases_each_judged() -> None:
    """TPR 1 of the first on three cases, 0 of the second on one; TNR 0 and 0."""
    labels = np.array([[1, 0], [1, math.nan], [1, math.nan], [1, 1]])
    assert raters.priority_of_raters(labels, np.array([1.0, 1, 1, 0])) == 1
    # TNR 1 and 0 on two cases and on one.
    more = np.vstack((labels[:3], [[0, 1], [0, math.nan]]))
    assert raters.priority_of_raters(more, np.array([1.0, 1, 1, 0, 0])) == pytest.approx(0.5 / (0.5 + 0.5))


def test_poor_raters_have_a_priority_too() -> None:
    """TPR 1/2 and TNR 1/4 are less than 1 together."""
    labels = np.array([[1.0], [0], [0], [1], [1], [1]])
    assert raters.priority_of_raters(labels, np.array([1.0, 1, 0, 0, 0, 0])) == pytest.approx(2 / 3)


def test_a_mean_may_rest_on_one_value_and_on_little_weight() -> None:
    values = np.array([[0.4, math.nan, math.nan], [0.2, 0.6, math.nan], [math.nan] * 3])
    assert raters.mean_of_known(values, 1) == pytest.approx([0.4, 0.4, math.nan], nan_ok=True)
    assert raters.mean_of_known(values, 0) == pytest.approx([0.3, 0.6, math.nan], nan_ok=True)
    weighted = raters.mean_of_known(values, 1, np.array([0.1, 0.3, 0.5]))
    assert weighted == pytest.approx([0.4, (0.1 * 0.2 + 0.3 * 0.6) / 0.4, math.nan], nan_ok=True)


def test_without_cases_or_right_answers_the_raters_have_no_priority() -> None:
    assert raters.priority_of_raters(LABELS, np.zeros(5)) == Said("no rater judged a case with the outcome")
    assert raters.priority_of_raters(1 - TRUTH[:, None], TRUTH) == Said("no answer of the raters is right")


def test_priority_from_each_source() -> None:
    risk = np.array([0.9, 0.4, 0.2, 0.7, 0.1])
    share = {
        "prevalence": 0.4,
        "complement": 0.6,
        "raters": 3 / 7,
        "survey": 0.5 / 0.8,
        "net_benefit": 0.7 * 0.4 / (0.7 * 0.4 + 0.3 * 0.6),
    }
    for source, priority in share.items():
        found = estimated(
            graded_accuracy.h_accuracy(
                TRUTH,
                risk,
                source,
                0.5,
                labels=LABELS,
                truth=TRUTH,
                survey=(("0", 0.3, None, None), ("1", 0.5, None, None)),
                primary_threshold=0.3,
            )
        )
        assert found.details["priority"] == pytest.approx(priority)
        # sensitivity 1/2, specificity 2/3 at one half
        assert found.value == pytest.approx(priority / 2 + (1 - priority) * 2 / 3)


@pytest.mark.parametrize("source", ["raters", "survey", "net_benefit", "nobody"])
def test_a_source_that_is_not_there_is_a_reason(source: str) -> None:
    assert isinstance(graded_accuracy.h_accuracy(TRUTH, np.linspace(0, 1, 5), source, 0.5), Absent)


@given(st.floats(0.02, 0.98), st.floats(0.02, 0.98))
def test_the_priority_of_net_benefit_is_the_odds_of_theorem_1(phi: float, t: float) -> None:
    """p(1)/p(0) = ((1-t)/t) (phi/(1-phi))."""
    p = graded_accuracy.priority_of_net_benefit(phi, t)
    assert p / (1 - p) == pytest.approx((1 - t) / t * phi / (1 - phi), rel=1e-9)


def test_at_one_half_the_priority_of_net_benefit_gives_the_accuracy_at_that_threshold() -> None:
    rng = np.random.default_rng(5)
    y, p = (rng.uniform(size=60) < 0.3).astype(float), np.round(rng.uniform(size=60), 3) + 1e-4
    found = estimated(graded_accuracy.h_accuracy(y, p, "net_benefit", 0.5, primary_threshold=0.5))
    assert found.value == pytest.approx(estimated(graded_accuracy.h_accuracy_risk(y, p, 0.5)).value, abs=1e-12)


# ---- tau ------------------------------------------------------------------------------------------------------------


def test_taus_by_hand() -> None:
    """Eleven right answers, from the surest: 1 1 1 1 .8 .8 .8 .8 .8 .6 .6; the 9th, 6th and 3rd of them count."""
    expected = {"right_80": 0.8, "right_50": 0.8, "right_25": 1.0, "mean_confidence": 10.8 / 14}
    for rule, tau in expected.items():
        assert raters.tau_of_raters(rule, LABELS, CONFIDENCE, TRUTH) == pytest.approx(tau), rule
    # Accuracy 4/5, 4/5, 3/4: the first two share the best place.
    best = (1 + 0.8 + 1 + 0.4 + 0.8 + 0.8 + 0.6 + 0.8 + 0.8 + 1.0) / 10
    assert raters.tau_of_raters("best_rater", LABELS, CONFIDENCE, TRUTH) == pytest.approx(best)
    declared = raters.tau_of_raters("best_rater", LABELS, CONFIDENCE, TRUTH, (0.5, 0.6, 0.9))
    assert declared == pytest.approx((0.6 + 0.6 + 1.0 + 0.6) / 4)


@given(st.lists(st.sampled_from([0.2, 0.4, 0.6, 0.8, 1.0]), min_size=1, max_size=30), st.sampled_from([0.8, 0.5, 0.25]))
def test_the_lowest_of_the_top_is_the_highest_with_enough_above(values: list[float], share: float) -> None:
    found = raters.lowest_of_top(np.array(values), share)
    enough = [value for value in set(values) if sum(number >= value for number in values) >= share * len(values) - 1e-9]
    assert found == max(enough)


@pytest.mark.parametrize(("share", "n"), [(0.28, 100), (0.55, 700_000), (0.68, 600_000)])
def test_a_share_that_is_a_whole_number_of_answers_asks_for_no_more(share: float, n: int) -> None:
    assert share * n > round(share * n), "as floating point has it"
    assert raters.lowest_of_top(np.arange(float(n)), share) == n - round(share * n)


def test_the_best_rater_is_the_best_of_those_with_a_confidence() -> None:
    """The first is the most accurate but states none, the last has no accuracy; the second is surer than the third."""
    labels = np.array([[1.0, 1, 0, math.nan], [0, 0, 1, math.nan]])
    confidence = np.array([[math.nan, 0.9, 0.5, 0.6], [math.nan, 0.8, 0.5, 0.6]])
    truth = np.array([1.0, 0])
    declared = (0.9, 0.8, 0.7, math.nan)
    assert raters.tau_of_raters("best_rater", labels, confidence, truth, declared) == pytest.approx(0.85)
    labels[:, 3] = 1
    assert raters.tau_of_raters("best_rater", labels, confidence, truth, declared) == pytest.approx(0.85)


def test_a_tau_below_one_half_and_missing_tables_are_reasons() -> None:
    risk = np.array([0.9, 0.4, 0.2, 0.7, 0.1])
    low = graded_accuracy.h_accuracy(
        TRUTH, risk, 0.5, "mean_confidence", labels=LABELS, confidence=CONFIDENCE / 3, truth=TRUTH
    )
    assert "0.26, below one half" in reason_text(absent(low).reason)
    lacking: list[tuple[Floats | None, Floats | None]] = [(None, None), (LABELS, None), (LABELS, CONFIDENCE)]
    for labels, confidence in lacking:
        assert isinstance(
            graded_accuracy.h_accuracy(TRUTH, risk, 0.5, "right_80", labels=labels, confidence=confidence), Absent
        )


@needs_raters
def test_taus_of_the_published_ratings() -> None:
    """The mean confidence is that of the file; each share of right answers is counted by an obvious loop.

    The truth of these cases is not published: the label of most raters stands in for it here.
    """
    labels = pd.read_csv(RATERS / "preds.csv", header=None).to_numpy(float)
    confidence = pd.read_csv(RATERS / "confs.csv", header=None).to_numpy(float)
    truth = (labels.mean(axis=1) > 0.5).astype(float)
    assert labels.shape == (427, 13)
    found = raters.tau_of_raters("mean_confidence", labels, confidence, truth)
    assert found == pytest.approx(confidence.sum() / (427 * 13))
    given_right = Counter(
        round(float(confidence[i, j]), 1) for i in range(427) for j in range(13) if labels[i, j] == truth[i]
    )
    for rule, share in raters.SHARES_OF_RIGHT.items():
        reached, total = 0, sum(given_right.values())
        for value in sorted(given_right, reverse=True):
            reached += given_right[value]
            if reached >= share * total:
                break
        assert raters.tau_of_raters(rule, labels, confidence, truth) == pytest.approx(value)


# ---- complexity -----------------------------------------------------------------------------------------------------


def graded(source: str, accuracy: tuple[float, ...] | None = None, own: Floats | None = None) -> Floats:
    return present(raters.complexity_of_cases(source, 5, LABELS, CONFIDENCE, COMPLEXITY, TRUTH, accuracy, own))


def test_complexity_from_each_source_by_hand() -> None:
    assert graded("raters") == pytest.approx([0.25, 0.75, 0, 0.5, 0.375])
    assert graded("rater_errors") == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3, 0])
    assert graded("rater_confidence") == pytest.approx([1 - 0.8, 1 - 2 / 3, 1 - 2.8 / 3, 1 - 0.6, 0.1])
    assert graded("own", own=np.arange(5) / 4).tolist() == [0, 0.25, 0.5, 0.75, 1]


def test_raters_may_count_by_their_accuracy() -> None:
    found = graded("raters_weighted", (1.0, 0.5, 0.5))
    assert found == pytest.approx(
        [(0 + 0.125 + 0.25) / 2, (1 + 0.375 + 0.25) / 2, 0, (0.75 + 0.125 + 0.25) / 2, 0.625 / 1.5]
    )
    measured = graded("rater_errors_weighted")  # 4/5, 4/5, 3/4 against the truth
    assert measured[1] == pytest.approx(0.8 / 2.35), "the second rater was wrong on the second case"


def test_a_rater_whose_accuracy_is_unknown_has_no_weight() -> None:
    """The second labelled nothing and only said how complex the cases are."""
    labels, complexity = np.array([[1.0, math.nan], [0, math.nan]]), np.array([[0.2, 1.0], [0.4, 1.0]])
    found = raters.complexity_of_cases("raters_weighted", 2, labels, None, complexity, np.array([1.0, 0]), None, None)
    assert found == pytest.approx([0.2, 0.4])


def test_complexity_that_is_not_there_is_a_reason() -> None:
    nothing = raters.complexity_of_cases("raters", 5, None, None, None, TRUTH, None, None)
    assert nothing == raters.NO_RATERS
    fewer = raters.complexity_of_cases("raters", 7, LABELS, None, COMPLEXITY, TRUTH, None, None)
    assert fewer == Said("the raters judged 5 of the 7 cases")
    assert isinstance(raters.complexity_of_cases("own", 5, LABELS, None, None, TRUTH, None, None), Absent)


def test_forms_of_a_complexity() -> None:
    values = np.array([0.1, 0.9, 0.5, 0.3, 0.7, 0.2])
    for name, expected, border in (
        ("d", values, None),
        ("d_two_levels", [0.5, 1, 0.5, 0.5, 1, 0.5], 0.7),
        ("d_above_mean", [0, 1, 1, 0, 1, 0], 0.45),
        ("d_top_50%", [0, 1, 1, 0, 1, 0], 0.5),
    ):
        form = raters.form_of(name)
        assert form.name == "d"
        found, cut = raters.cut_complexity(form, values)
        assert found == pytest.approx(expected), name
        assert cut == (None if border is None else pytest.approx(border))


def test_a_rounding_error_above_the_mean_is_not_above_it() -> None:
    for values in ([0.1 + 0.2, 0.3, 0.3], [0.0, 2e-12]):
        found, _ = raters.cut_complexity(raters.form_of("d_above_mean"), np.array(values))
        assert found.tolist() == [0.0] * len(values)


def test_a_name_that_only_looks_like_a_form_is_a_name() -> None:
    assert raters.form_of("desk_top_height") == raters.Form("desk_top_height")
    assert raters.form_of("raters_top_33.3%").share == pytest.approx(0.333)


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=6), st.floats(0, 1))
@settings(deadline=None, max_examples=60)
def test_ties_at_the_border_get_the_mean_over_all_ways_to_break_them(values: list[float], share: float) -> None:
    found = raters.top_share(np.array(values), share, 0.0)
    total, ways = np.zeros(len(values)), 0
    for order in permutations(range(len(values))):
        if all(values[first] >= values[other] for first, other in pairwise(order)):
            ways += 1
            for rank, row in enumerate(order):
                total[row] += min(max(share * len(values) - rank, 0), 1)
    assert found == pytest.approx(total / ways, abs=1e-9)
    assert found.mean() == pytest.approx(share)


def loop(y: Floats, p: Floats, priority: float, tau: float, d: Floats) -> float:
    """H-accuracy as the paper writes it, one row after the other."""
    value = 0.0
    for label, weight in ((0, 1 - priority), (1, priority)):
        earned = whole = 0.0
        for i in range(len(y)):
            if y[i] == label:
                score = p[i] if label == 1 else 1 - p[i]
                whole += d[i]
                if score > 0.5:
                    earned += d[i] * (1.0 if tau == 0.5 else min(1.0, (score - 0.5) / (tau - 0.5)))
                elif score == 0.5:
                    earned += d[i] * (0.5 if tau == 0.5 else 0.0)
        value += weight * earned / whole
    return value


@pytest.mark.parametrize("form", ["", "_two_levels", "_above_mean", "_top_50%"])
@pytest.mark.parametrize("tau", [0.5, 0.75, "right_25"])
def test_h_accuracy_with_complexity_against_the_loop(form: str, tau: float | str) -> None:
    rng = np.random.default_rng(11)
    for _ in range(40):
        n = int(rng.integers(4, 12))
        y = np.concatenate(([0.0, 1.0], (rng.uniform(size=n - 2) < 0.4).astype(float)))
        p, d = np.round(rng.uniform(size=n), 1), np.round(rng.uniform(0.1, 1, n), 2)
        labels = (rng.uniform(size=(n, 3)) < 0.5).astype(float)
        labels[0, 0] = 0.0
        confidence = np.round(rng.uniform(0.5, 1, (n, 3)), 1)
        found = graded_accuracy.h_accuracy(
            y, p, 0.3, tau, f"own{form}", labels=labels, confidence=confidence, truth=y, case_complexity=d
        )
        top = np.argsort(-d, kind="stable")
        weights = {
            "": d,
            "_two_levels": raters.top_share(d, 1 / 3, 0.5),
            "_above_mean": (d > d.mean()).astype(float),
            "_top_50%": raters.top_share(d, 0.5, 0.0),
        }[form]
        assert weights[top[0]] == weights.max()
        if any(weights[y == label].sum() == 0 for label in (0, 1)):
            assert isinstance(found, Absent)
            continue
        sure = tau if not isinstance(tau, str) else raters.tau_of_raters(tau, labels, confidence, y)
        assert isinstance(sure, float)
        assert estimated(found).value == pytest.approx(loop(y, p, 0.3, sure, weights), abs=1e-12)


def test_cases_without_a_complexity_are_left_out_and_counted() -> None:
    y, p = np.array([0.0, 1, 0, 1]), np.array([0.2, 0.8, 0.9, 0.1])
    found = estimated(
        graded_accuracy.h_accuracy(y, p, 0.5, 0.5, "own", case_complexity=np.array([0.5, 1, math.nan, math.nan]))
    )
    assert (found.value, found.n, found.details["left_out"]) == (1.0, 2, 2.0)


# ---- profiles -------------------------------------------------------------------------------------------------------


def site(n: int = 80, seed: int = 2) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    p = np.round(rng.beta(1.5, 2.5, n), 3) + 1e-4
    return (rng.uniform(size=n) < p).astype(float), p, np.round(rng.uniform(size=n), 1)


def test_by_priority_runs_from_specificity_to_sensitivity() -> None:
    y, p, _ = site()
    found = made(graded_accuracy.h_accuracy_by_priority(y, p))
    assert found["h_accuracy"][0] == pytest.approx(estimated(specificity(y, p, 0.5)).value)
    assert found["h_accuracy"][-1] == pytest.approx(estimated(sensitivity(y, p, 0.5)).value)
    for priority in (0.0, 0.3, 0.5, 1.0):
        row = round(priority * 50)
        estimate = estimated(graded_accuracy.h_accuracy(y, p, priority, 0.5))
        assert (found["h_accuracy"][row], found["low"][row], found["high"][row]) == pytest.approx(
            (estimate.value, estimate.low, estimate.high)
        )


def test_by_complexity_is_balanced_at_both_ends_and_two_levels_at_a_third() -> None:
    y, p, d = site(90)
    found = made(graded_accuracy.h_accuracy_by_complexity(y, p, "own", case_complexity=d))
    plain = estimated(graded_accuracy.h_accuracy(y, p, 0.5, 0.5)).value
    for name in ("h_accuracy", "random", "random_low", "random_high"):
        assert found[name][0] == pytest.approx(plain), "nobody counts double"
        assert found[name][-1] == pytest.approx(plain), "everybody does"
    # Of the 21 shares .3 and .35 stand around one third; at .5 the loop must agree.
    weights = raters.top_share(d, 0.5, 0.5)
    assert found["h_accuracy"][10] == pytest.approx(loop(y, p, 0.5, 0.5, weights))


def test_the_random_reference_is_the_mean_over_draws() -> None:
    """The expected weighted share of a class is close to its plain share, so the reference lies near the plain line."""
    y, p, d = site(200, 4)
    found = made(graded_accuracy.h_accuracy_by_complexity(y, p, "own", case_complexity=d, seed=3))
    plain = estimated(graded_accuracy.h_accuracy(y, p, 0.5, 0.5)).value
    assert found["random"] == pytest.approx(np.full(21, plain), abs=0.004)
    assert (found["random_low"] <= found["random"]).all()
    assert (found["random"] <= found["random_high"]).all()
    again = made(graded_accuracy.h_accuracy_by_complexity(y[::-1], p[::-1], "own", case_complexity=d[::-1], seed=3))
    np.testing.assert_array_equal(found["random"], again["random"])


def test_the_surface_is_the_loop_at_every_point_of_a_coarse_grid() -> None:
    y, p, d = site(40, 9)
    surface = graded_accuracy.h_accuracy_surface(y, p, "own", case_complexity=d)
    found = made(surface)
    assert len(found["share"]) == 225
    for row in range(0, 225, 16):
        weights = raters.top_share(d, float(found["share"][row]), 0.5)
        expected = loop(y, p, float(found["priority"][row]), 0.5, weights)
        assert found["h_accuracy"][row] == pytest.approx(expected)


def test_without_a_complexity_there_is_no_surface() -> None:
    y, p, _ = site()
    assert isinstance(graded_accuracy.h_accuracy_surface(y, p, "own"), Absent)
    assert isinstance(graded_accuracy.h_accuracy_by_complexity(y, p, "raters"), Absent)
    assert isinstance(graded_accuracy.complexity_distribution(y, "raters"), Absent)


def test_accuracy_by_prevalence_is_the_accuracy_at_the_sites_own() -> None:
    y, p, _ = site(100)
    y = np.array([1.0] * 30 + [0.0] * 70)
    found = made(graded_accuracy.accuracy_by_prevalence(y, p, 0.3))
    assert found["accuracy"][15] == pytest.approx(estimated(accuracy(y, p, 0.3)).value), "prevalence 0.3"
    assert found["accuracy"][25] == pytest.approx(estimated(balanced_accuracy(y, p, 0.3)).value)
    assert set(found["balanced_accuracy"]) == {found["accuracy"][25]}


def test_the_survey_leaves_out_who_prefers_nothing() -> None:
    found = made(graded_accuracy.survey_of_priorities((), (("0", 0.3, 0.2, 0.4), ("1", 0.5, None, None))))
    assert found["priority"] == pytest.approx([0.375, 0.625])
    assert found["share"].tolist() == [0.3, 0.5]
    assert math.isnan(found["low"][1])


# ---- the raters' answers --------------------------------------------------------------------------------------------


def test_accuracy_of_answers_by_confidence_is_counted_in_bins() -> None:
    labels, truth = np.ones((30, 1)), np.concatenate((np.ones(21), np.zeros(9)))
    confidence = np.concatenate((np.full(14, 0.8), np.full(12, 0.6), np.full(4, 0.1)))[:, None]
    found = made(graded_accuracy.rater_accuracy_by_confidence(labels, confidence, truth))
    assert found["lower"] == pytest.approx([0.6, 0.8]), "four answers are too few for a bin"
    assert found["count"].tolist() == [12, 14]
    assert found["share_right"] == pytest.approx([7 / 12, 1])
    # Wilson for 14 of 14: 14/(14 + 1.96^2)
    assert found["low"][1] == pytest.approx(14 / (14 + 1.959963985**2))
    by_case = made(graded_accuracy.rater_accuracy_by_complexity(labels, 1 - confidence, truth))
    assert by_case["share_right"] == pytest.approx([1, 7 / 12])
    assert isinstance(graded_accuracy.rater_accuracy_by_confidence(labels[:5], confidence[:5], truth[:5]), Absent)


def test_confidence_of_right_answers_crosses_each_share_at_its_tau() -> None:
    found = made(graded_accuracy.confidence_of_right_answers(LABELS, CONFIDENCE, TRUTH))
    at = {round(float(c), 2): float(share) for c, share in zip(found["confidence"], found["share_right"], strict=True)}
    assert (at[0.0], at[0.6], at[0.61], at[0.8], at[0.81], at[1.0]) == pytest.approx(
        (1, 1, 9 / 11, 9 / 11, 4 / 11, 4 / 11)
    )
    wrong = {round(float(c), 2): float(s) for c, s in zip(found["confidence"], found["share_wrong"], strict=True)}
    assert (wrong[0.4], wrong[0.41], wrong[0.6], wrong[0.61]) == pytest.approx((1, 2 / 3, 2 / 3, 0))
    for rule, share in raters.SHARES_OF_RIGHT.items():
        tau = raters.tau_of_raters(rule, LABELS, CONFIDENCE, TRUTH)
        assert isinstance(tau, float)
        assert at[round(tau, 2)] >= share
        assert at.get(round(tau + 0.01, 2), 0.0) < share


def test_complexity_of_the_cases_is_counted_in_twentieths() -> None:
    found = made(
        graded_accuracy.complexity_distribution(
            TRUTH, "own", case_complexity=np.array([0.05, 0.09, 1.0, 0.5, math.nan])
        )
    )
    assert found["count"][[1, 10, 19]].tolist() == [2, 1, 1]
    assert found["share"].sum() == pytest.approx(1)


def test_raters_one_by_one_by_hand() -> None:
    found = made(raters_one_by_one(LABELS, CONFIDENCE, COMPLEXITY, TRUTH))
    assert found["cases"].tolist() == [5, 5, 4]
    assert found["accuracy"] == pytest.approx([0.8, 0.8, 0.75])
    assert found["confidence"] == pytest.approx([0.8, 0.8, 0.7])
    assert found["complexity"] == pytest.approx([0.45, 0.3, 0.375])
    bare = made(raters_one_by_one(LABELS))
    for name in ("accuracy", "accuracy_low", "confidence", "complexity"):
        assert np.isnan(bare[name]).all()


def test_each_raters_kappa_averages_to_the_mean_of_pairs() -> None:
    rng = np.random.default_rng(6)
    labels = (rng.uniform(size=(60, 5)) < np.linspace(0.3, 0.7, 60)[:, None]).astype(float)
    found = made(raters_one_by_one(labels))
    assert found["kappa"].mean() == pytest.approx(estimated(cohen_kappa(labels)).value)
    assert np.isnan(made(raters_one_by_one(labels[:, :1]))["kappa"]).all(), "one rater agrees with nobody"
    assert np.isnan(made(raters_one_by_one(np.ones((4, 3))))["kappa"]).all(), "all agree, chance does too"


def test_confidence_by_rater_counts_each_raters_answers() -> None:
    found = made(confidence_by_rater(LABELS, CONFIDENCE))
    for rater in range(3):
        rows = found["rater"] == rater + 1
        counted = Counter(CONFIDENCE[:, rater][~np.isnan(CONFIDENCE[:, rater])].tolist())
        assert found["confidence"][rows].tolist() == [0.4, 0.6, 0.8, 1.0]
        assert found["count"][rows].tolist() == [counted[value] for value in (0.4, 0.6, 0.8, 1.0)]
        assert found["share"][rows].sum() == pytest.approx(1)


def test_many_raters_on_a_fine_scale_share_the_rows() -> None:
    rng = np.random.default_rng(8)
    found = made(confidence_by_rater(np.ones((50, 40)), rng.uniform(size=(50, 40))))
    assert len(found["rater"]) == 240, "six bins for forty raters"
    assert found["count"].sum() == 2000
    assert isinstance(confidence_by_rater(np.ones((2, 200)), rng.uniform(size=(2, 200))), Absent)


def test_h_accuracy_of_classes_needs_some_complexity_in_each() -> None:
    y, p = np.array([0.0, 1]), np.array([0.2, 0.8])
    found = h_accuracy_of(
        y.astype(np.int64), np.column_stack((1 - p, p)), np.array([0.5, 0.5]), 0.5, np.array([1.0, 0])
    )
    assert found == Said("every row of class 1 has a complexity of 0")
