"""The paired differences against pROC, MLstatkit, riskRegression and obvious loops."""

from __future__ import annotations

import itertools
import json
import math
import tracemalloc
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, ttest_rel

import dossier
from dossier.core.multiplicity import holm
from dossier.core.types import Absent, Floats
from dossier.metrics import comparison
from dossier.metrics.intervals import NO_SPREAD
from dossier.metrics.resampling import BINNED_ABOVE
from dossier.typeset.methods import method_text
from dossier.typeset.reasons import reason_text
from tests.estimated import absent, estimated, present
from tests.metrics.parts import columns, r
from tests.reasons import Said
from tests.reference.tables import GOLDEN

RISK = st.sampled_from([0, 0.1, 0.3, 0.5, 0.7, 1])
ROWS = st.lists(st.tuples(st.integers(0, 1), RISK, RISK), min_size=1, max_size=12)


def golden(name: str = "binary.csv") -> tuple[Floats, Floats, Floats]:
    return *columns("p", name), columns("p2", name)[1]


def test_the_difference_of_aurocs_is_that_of_proc() -> None:
    expected = r()["compare"]["binary"]["delong_paired"]
    found = estimated(comparison.auroc_difference(*golden()))
    assert found.value == pytest.approx(expected["auc"][0] - expected["auc"][1], abs=1e-11)
    assert (found.low, found.high) == pytest.approx(expected["ci"], abs=1e-11)
    assert found.value / present(found.se) == pytest.approx(expected["z"], abs=1e-8)
    assert found.details["p_value"] == pytest.approx(expected["p"], rel=1e-9)


OF_A_RIVAL = ("auroc", "oe_ratio", "calibration_slope", "error_severity_index", "mean_severity")


def test_a_rival_is_measured_as_if_it_were_the_model() -> None:
    """The AUROC by pROC; every value what a release says whose model the rival is."""
    outcome, risk, rival = golden()
    table = pd.DataFrame({"y": outcome, "model": risk, "other": rival})
    severity = {"weights": [[0.0, 0.6], [0.3, 0.0]], "source": "by hand"}
    named: dict[str, Any] = {"outcome": "y", "thresholds": [0.2], "severity": severity}
    beside = dossier.validate(table, risk="model", rival="other", **named).evidence.results
    alone = dossier.validate(table, risk="other", **named).evidence.results
    expected = r()["compare"]["binary"]["delong_paired"]
    for measure in OF_A_RIVAL:
        (ours,) = [row for row in beside if row.measure == measure and "model" in row.at]
        (theirs,) = [
            row
            for row in alone
            if row.measure == measure and (row.dataset, set(row.at)) == (ours.dataset, set(ours.at) - {"model"})
        ]
        # What is looked at over the hospitals, for the model alone, is counted in the details.
        assert replace(estimated(ours.found), details={}) == replace(estimated(theirs.found), details={})
        if measure == "auroc":
            assert estimated(ours.found).value == pytest.approx(expected["auc"][1], abs=1e-11)


def test_the_difference_of_aurocs_is_that_of_python() -> None:
    expected = json.loads((GOLDEN / "python/python_golden.json").read_text())["discrimination"]["paired_p_vs_p2"]
    found = estimated(comparison.auroc_difference(*golden("python/binary.csv")))
    assert found.value == pytest.approx(expected["diff_auc"], abs=1e-14)
    assert (found.low, found.high) == pytest.approx(expected["ci95_diff"], abs=1e-13)
    assert found.details["p_value"] == pytest.approx(expected["check_mlstatkit"]["p"], rel=1e-10)


def test_the_difference_of_brier_scores_is_that_of_riskregression() -> None:
    contrasts = r()["riskRegression_binary"]["Brier_contrasts"]
    expected = next(row for row in contrasts if (row["model"], row["reference"]) == ("p2", "p"))
    y, p, rival = golden()
    found = estimated(comparison.brier_difference(y, rival, p))
    assert found.value == pytest.approx(expected["delta.Brier"], abs=1e-12)
    assert found.se == pytest.approx(expected["se"], rel=1e-9)
    paired = ttest_rel((rival - y) ** 2, (p - y) ** 2)
    interval = paired.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-9)


@given(ROWS)
@settings(deadline=None)
def test_paired_delong_by_loops(rows: list[tuple[int, float, float]]) -> None:
    y, p, q = (np.array([row[index] for row in rows], dtype=float) for index in range(3))
    found = comparison.auroc_difference(y, p, q)
    if y.sum() in (0, len(y)):
        assert isinstance(found, Absent)
        return

    def wins(risk: Floats) -> Floats:
        return np.array([[(a > b) + (a == b) / 2 for b in risk[y == 0]] for a in risk[y == 1]], dtype=float)

    gap = wins(p) - wins(q)
    found = estimated(found)
    assert found.value == pytest.approx(gap.mean(), abs=1e-12)
    m, n = gap.shape
    if min(m, n) < 2:
        assert found.low is None
        return
    variance = float(np.var(gap.mean(axis=1), ddof=1) / m + np.var(gap.mean(axis=0), ddof=1) / n)
    if variance > 1e-12:
        assert found.se == pytest.approx(math.sqrt(variance))
        assert found.details["p_value"] == pytest.approx(math.erfc(abs(found.value) / math.sqrt(2 * variance)))


def test_a_model_against_itself_has_no_interval_and_no_p_value() -> None:
    y, p = np.array([0.0, 1, 0, 1]), np.array([0.2, 0.7, 0.5, 0.4])
    for function in (comparison.auroc_difference, comparison.brier_difference, comparison.log_score_difference):
        itself = estimated(function(y, p, p))
        assert (itself.value, itself.low, itself.high, itself.details["p_value"]) == (0, None, None, None)
        assert itself.reason


@pytest.mark.parametrize("single", [0.0, 1.0])
def test_with_a_single_case_or_non_case_delongs_variance_does_not_exist(single: float) -> None:
    y = np.where(np.arange(50) == 3, single, 1 - single)
    draw = np.random.default_rng(1)
    found = estimated(comparison.auroc_difference(y, draw.random(50), draw.random(50)))
    assert (found.low, found.high, found.details["p_value"]) == (None, None, None)
    assert found.reason == Said("there is a single case or a single non-case, so that DeLong's variance does not exist")
    two = y.copy()
    two[4] = single
    varied = estimated(comparison.auroc_difference(two, draw.random(50), draw.random(50)))
    assert (varied.low is not None, varied.reason) == (True, None)


def test_a_perfect_model_against_one_risk_for_all_does_not_vary() -> None:
    """The placements of the two differ by one half in every row."""
    y = np.repeat([1.0, 0.0], 50)
    found = estimated(comparison.auroc_difference(y, 0.2 + y / 2, np.full(100, 0.3)))
    assert (found.value, found.low, found.high, found.details["p_value"]) == (0.5, None, None, None)
    assert found.reason == NO_SPREAD


def test_no_rows_and_a_threshold_of_1_are_absent() -> None:
    none = np.array([])
    assert isinstance(comparison.auroc_difference(none, none, none), Absent)
    assert isinstance(comparison.brier_difference(none, none, none), Absent)
    assert comparison.log_score_difference(none, none, none) == Said("there are no rows")
    assert isinstance(comparison.net_benefit_difference(np.ones(2), np.ones(2), np.ones(2), 1.0), Absent)


def test_a_model_with_the_order_of_its_rival_differs_by_0_exactly() -> None:
    rng = np.random.default_rng(5)
    for cases in range(3, 20):
        y, p = np.array([1.0] * cases + [0.0] * 23), rng.random(cases + 23)
        assert estimated(comparison.auroc_difference(y, p, p**2)).value == 0


def test_models_that_flag_the_same_people_may_differ_in_others() -> None:
    """Of 50 patients none was flagged by one alone: one more of each of the four kinds may be."""
    y, p = np.repeat([1.0, 0.0], 25), np.repeat([0.9, 0.1], 25)
    found = estimated(comparison.net_benefit_difference(y, p, p / 1.1, 0.5))
    half = 1.959963984540054 * math.sqrt(4) / 50
    assert (found.value, found.details["p_value"]) == (0, 1)
    assert (found.low, found.high) == pytest.approx((-half, half))


def test_the_interval_of_a_difference_ends_where_the_difference_can_end() -> None:
    y = np.array([0.0, 0, 0, 1, 1, 1])
    orders, misorders = np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9]), np.array([0.9, 0.8, 0.2, 0.3, 0.1, 0.1])
    ours, reversed_roles = (
        estimated(comparison.auroc_difference(y, *two)) for two in ((orders, misorders), (misorders, orders))
    )
    assert (ours.high, reversed_roles.low) == (1, -1)
    right, wrong = y, np.array([1, 1, 1, 0, 0, 0.9])
    ours, reversed_roles = (estimated(comparison.brier_difference(y, *two)) for two in ((right, wrong), (wrong, right)))
    assert (ours.low, reversed_roles.high) == (-1, 1)


# ---- several rivals: Holm's correction ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "adjusted"),
    [
        # R 4.3: p.adjust(c(.01, .04, .03), "holm")
        ((0.01, 0.04, 0.03), (0.03, 0.06, 0.06)),
        # By hand: 4 x .01, max(that, 3 x .02), max(that, 2 x .022), max(that, .09).
        ((0.02, 0.09, 0.01, 0.022), (0.06, 0.09, 0.04, 0.06)),
        ((0.5, 0.6), (1.0, 1.0)),
        ((0.2,), (0.2,)),
        ((0.0, 0.02, 0.02), (0.0, 0.04, 0.04)),
        ((), ()),
    ],
)
def test_holm_against_r_and_by_hand(raw: tuple[float, ...], adjusted: tuple[float, ...]) -> None:
    assert holm(raw) == pytest.approx(adjusted, abs=1e-15)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_holm_rejects_step_by_step_in_any_order(raw: list[float], order: Random) -> None:
    """At every level: the smallest while each is at most level / (how many are left), then no more."""
    found = dict(zip(range(len(raw)), holm(raw), strict=True))
    for level in (0.01, 0.05, 0.2):
        left = sorted(range(len(raw)), key=lambda position: raw[position])
        rejected = set()
        while left and raw[left[0]] * len(left) <= level:
            rejected.add(left.pop(0))
        assert {position for position, p in found.items() if p <= level} == rejected
    shuffled = list(range(len(raw)))
    order.shuffle(shuffled)
    assert holm([raw[position] for position in shuffled]) == tuple(found[position] for position in shuffled)


# ---- the rival: McNemar and sign flips ------------------------------------------------------------------------------


def test_mcnemar_is_that_of_r() -> None:
    y, p, rival = golden()
    for expected in r()["compare"]["binary"]["mcnemar"]:
        found = estimated(comparison.accuracy_difference(y, p, rival, expected["t"]))
        assert found.details["p_value"] == pytest.approx(expected["exact_p"], rel=1e-9)
        discordant = {found.details["only_model"], found.details["only_rival"]}
        assert discordant == {expected["b"], expected["c"]}


@given(ROWS, st.sampled_from([0.1, 0.5, 0.6]))
@settings(deadline=None)
def test_mcnemar_by_a_loop(rows: list[tuple[int, float, float]], t: float) -> None:
    y, p, q = (np.array([row[index] for row in rows], dtype=float) for index in range(3))
    found = estimated(comparison.accuracy_difference(y, p, q, t))
    b = sum((a >= t) == bool(o) and (c >= t) != bool(o) for o, a, c in rows)
    c = sum((a >= t) != bool(o) and (c >= t) == bool(o) for o, a, c in rows)
    assert found.value == pytest.approx((b - c) / len(rows))
    tail = sum(math.comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c)
    assert found.details["p_value"] == pytest.approx(min(1, 2 * tail))
    n = len(rows) + 2
    centre = (b - c) / n
    half = 1.959963984540054 * math.sqrt(b + c + 1 - n * centre**2) / n
    assert found.low == pytest.approx(min(found.value, max(-1, centre - half)))
    assert found.high == pytest.approx(max(found.value, min(1, centre + half)))


@pytest.mark.parametrize("differences", [[0.3, -0.1, 0.2, 0.5, 0.1, 0.0], [1, 1, 1, 1], [0.4, -0.4, 0.3, -0.1, 0.2]])
def test_sign_flips_are_those_of_all_signs(differences: list[float]) -> None:
    moving = [value for value in differences if value]
    sums = [
        sum(s * d for s, d in zip(signs, moving, strict=True))
        for signs in itertools.product((-1, 1), repeat=len(moving))
    ]
    exact = np.mean([abs(total) >= abs(sum(differences)) - 1e-9 for total in sums])
    found = comparison.sign_flip_p(np.array(differences), 9999, 3)
    assert found == pytest.approx(exact, abs=0.02)
    assert comparison.sign_flip_p(-np.array(differences)[::-1], 9999, 3) == found


def test_sign_flips_of_nothing_have_no_p_value_and_blocks_do_not_hide_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    assert comparison.sign_flip_p(np.zeros(5), 99, 1) is None
    # All differences alike: the sum of n signs is only as far when all agree, 2 / 2^n of the draws.
    assert comparison.sign_flip_p(np.full(30, 0.1), 999, 1) == 1 / 1000
    monkeypatch.setattr(comparison, "BLOCK", 10)
    assert comparison.sign_flip_p(np.full(2, 0.1), 4000, 1) == pytest.approx(0.5, abs=0.04)


def test_every_sign_is_drawn_as_often_as_the_other() -> None:
    # Eight signs agree in 2 of 256 draws, half of which are all minus.
    assert comparison.sign_flip_p(np.full(8, 0.1), 40_000, 1) == pytest.approx(2 / 256, abs=0.0015)


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40])
def test_sign_flips_do_not_depend_on_the_unit(scale: float) -> None:
    differences = np.array([0.3, 0.1, 0.1, 0.2, -0.4, 0.7, 0.2, 0.5, -0.2, 0.6])
    assert comparison.sign_flip_p(differences * scale, 999, 1) == comparison.sign_flip_p(differences, 999, 1)


def test_a_block_of_draws_takes_little_more_memory_than_its_signs() -> None:
    tracemalloc.start()
    comparison.sign_flip_p(np.ones(8_000), 99, 1)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2 * 8_000 * 99 * 8  # eight bytes a number


def test_sign_flips_hold_their_level() -> None:
    rng = np.random.default_rng(11)
    small = sum((comparison.sign_flip_p(rng.normal(size=30), 99, seed) or 1) <= 0.05 for seed in range(1500))
    assert 0.035 <= small / 1500 <= 0.065


def test_the_difference_of_log_scores() -> None:
    y, p, rival = golden()
    logs, others = (np.log(np.where(y == 1, risk, 1 - risk)) for risk in (p, rival))
    found = estimated(comparison.log_score_difference(y, p, rival))
    paired = ttest_rel(logs, others)
    interval = paired.confidence_interval(0.95)
    assert found.value == pytest.approx(logs.mean() - others.mean())
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
    # The sign-flip test and the t test differ little on 2,000 rows.
    assert found.details["p_value"] == pytest.approx(paired.pvalue, abs=0.05)
    assert estimated(comparison.brier_difference(y, p, rival)).details["p_value"] == pytest.approx(
        ttest_rel((p - y) ** 2, (rival - y) ** 2).pvalue, abs=0.05
    )


def test_a_log_score_of_minus_infinity_names_the_model() -> None:
    y = np.array([1.0, 0.0])
    rival = absent(comparison.log_score_difference(y, np.array([0.4, 0.4]), np.array([0.0, 0.4])))
    assert reason_text(rival.reason).startswith("for the other model")
    model = absent(comparison.log_score_difference(y, np.array([0.0, 0.4]), np.array([0.4, 0.4])))
    assert reason_text(model.reason).startswith("for the model")


# ---- against chance -------------------------------------------------------------------------------------------------


def right_answers(right: int, n: int) -> tuple[Floats, Floats]:
    """Half cases, and so many right answers at one half."""
    y = np.tile([0.0, 1.0], n // 2)
    return y, np.where(np.arange(n) < right, y, 1 - y)


@pytest.mark.parametrize("trials", [0, 1, 5, 50, 1_000, 1_200_000])
def test_binomial_tails_are_those_of_scipy(trials: int) -> None:
    for count in {0, 1, trials // 3, trials // 2, trials} & set(range(trials + 1)):
        for share in (0.5, 0.61, 0.9):
            least, most = comparison._binomial_at_least(count, trials, share), binom.sf(count - 1, trials, share)
            assert least == pytest.approx(most, rel=1e-9, abs=1e-290)


@pytest.mark.parametrize(("right", "expected"), [(14, 0.0577), (15, 0.0207)])
def test_the_binomial_tails_of_dinga(right: int, expected: float) -> None:
    found = estimated(comparison.majority_class_test(*right_answers(right, 20), 0.5))
    assert found.value == right
    assert found.details["null"] == 0.5
    assert found.details["p_value_half"] == pytest.approx(expected, abs=5e-5)
    assert found.details["p_value_larger_class"] == found.details["p_value_half"]
    assert (found.low, found.high, found.level) == (None, None, None)
    assert found.reason


@pytest.mark.parametrize(
    ("y", "p", "right", "p_value"),
    [
        # "No" is the common answer. The model says "yes" of two cases and one other, one of them at the threshold.
        ([1, 1, 1, 0, 0, 0, 0, 0], [0.5, 0.9, 0.1, 0.6, 0.1, 0.2, 0.3, 0.4], 6, 4 / 8),
        # "Yes" is the common answer. The model says "no" of two others and one case.
        ([0, 0, 0, 1, 1, 1, 1, 1], [0.1, 0.2, 0.6, 0.3, 0.5, 0.7, 0.8, 0.9], 6, 4 / 8),
        # Of two classes of one size the harder one to beat counts: three of four are rightly called "yes" here, which
        # says less than that both others are rightly called "no", and three of four rightly "no" there.
        ([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.1, 0.1], 5, 5 / 16),
        ([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.9, 0.9], 5, 5 / 16),
    ],
)
def test_the_test_against_the_common_answer_by_hand(y: list[int], p: list[float], right: int, p_value: float) -> None:
    found = estimated(comparison.majority_class_test(np.array(y, dtype=float), np.array(p), 0.5))
    assert found.value == right
    assert found.details["p_value"] == pytest.approx(p_value)
    assert ("neither is larger" in method_text(found.method)) == (2 * sum(y) == len(y))


@given(ROWS, st.sampled_from([0.1, 0.5, 0.6]))
@settings(deadline=None)
def test_the_binomial_by_a_sum(rows: list[tuple[int, float, float]], t: float) -> None:
    y, p = (np.array([row[index] for row in rows], dtype=float) for index in range(2))
    found = comparison.majority_class_test(y, p, t)
    if y.sum() in (0, len(y)):
        assert isinstance(found, Absent)
        return
    n, right = len(rows), sum((risk >= t) == bool(outcome) for outcome, risk, _ in rows)
    for null, name in ((max(y.mean(), 1 - y.mean()), "p_value_larger_class"), (0.5, "p_value_half")):
        tail = sum(math.comb(n, k) * null**k * (1 - null) ** (n - k) for k in range(right, n + 1))
        assert estimated(found).details[name] == pytest.approx(tail)
    # Always the same answer is right on the other rows: the model gains where it leaves that answer rightly.
    # Of two answers that are equally common the one counts against which the model gains less.
    tails = []
    for usual in (0, 1):
        if 2 * y.sum() == n or usual == int(2 * y.sum() > n):
            gains = [int(outcome != usual) for outcome, risk, _ in rows if (risk >= t) != bool(usual)]
            tails.append(sum(math.comb(len(gains), k) for k in range(sum(gains), len(gains) + 1)) / 2 ** len(gains))
    assert estimated(found).details["p_value"] == pytest.approx(max(tails))


@pytest.mark.parametrize("column", ["p", "p2"])
def test_mann_whitney_is_that_of_r(column: str) -> None:
    expected = r()["core"][f"binary:{column}"]["wilcox"]
    found = estimated(comparison.mann_whitney_u(*columns(column)))
    assert found.value == expected["W"]
    # R's test is two-sided; the far side has no weight here.
    assert found.details["p_value"] == pytest.approx(expected["p_corrected"] / 2, rel=1e-9)


@given(st.lists(st.integers(0, 1), min_size=2, max_size=9), st.integers(0, 99))
@settings(deadline=None)
def test_the_exact_mann_whitney_by_all_orders(outcomes: list[int], seed: int) -> None:
    y = np.array(outcomes, dtype=float)
    p = np.random.default_rng(seed).permutation(len(y)) / 10
    found = comparison.mann_whitney_u(y, p)
    if y.sum() in (0, len(y)):
        assert isinstance(found, Absent)
        return

    def pairs(cases: tuple[int, ...]) -> int:
        others = [i for i in range(len(y)) if i not in cases]
        return sum(p[i] > p[j] for i in cases for j in others)

    observed = pairs(tuple(np.flatnonzero(y == 1).tolist()))
    every = [pairs(cases) for cases in itertools.combinations(range(len(y)), int(y.sum()))]
    assert estimated(found).value == observed
    assert estimated(found).details["p_value"] == pytest.approx(np.mean([number >= observed for number in every]))
    assert "exact" in method_text(estimated(found).method)


def test_the_normal_mann_whitney_has_the_mean_and_variance_of_all_orders() -> None:
    y = np.array([1.0, 1, 0, 1, 0, 0, 0])
    p = np.array([0.9, 0.4, 0.4, 0.6, 0.4, 0.1, 0.6])

    def won(cases: tuple[int, ...]) -> float:
        others = [i for i in range(7) if i not in cases]
        return sum(float(p[i] > p[j]) + float(p[i] == p[j]) / 2 for i in cases for j in others)

    every = np.array([won(cases) for cases in itertools.combinations(range(7), 3)])
    found = estimated(comparison.mann_whitney_u(y, p))
    assert found.value == won((0, 1, 3))
    z = (found.value - every.mean() - 0.5) / every.std()
    assert found.details["z"] == pytest.approx(z)
    assert found.details["p_value"] == pytest.approx(math.erfc(z / math.sqrt(2)) / 2)


def test_mann_whitney_is_exact_only_below_20_a_side_and_without_ties() -> None:
    rng = np.random.default_rng(2)
    for cases, others, ties, exact in (
        (19, 19, False, True),
        (20, 19, False, False),
        (19, 20, False, False),
        (9, 9, True, False),
    ):
        y = np.array([1.0] * cases + [0.0] * others)
        p = rng.permutation(len(y)) / 100
        if ties:
            p[0] = p[1]
        assert ("exact" in method_text(estimated(comparison.mann_whitney_u(y, p)).method)) == exact
    assert isinstance(comparison.mann_whitney_u(np.array([0.0, 1, 0]), np.full(3, 0.2)), Absent)


def all_permutations(y: Floats, p: Floats) -> tuple[float, float]:
    """The exact one-sided p-values of the Brier score and of the log score over all ways to deal the outcomes."""

    def scores(cases: tuple[int, ...]) -> tuple[float, float]:
        dealt = np.array([float(i in cases) for i in range(len(y))])
        given = np.where(dealt == 1, p, 1 - p)
        return float(((p - dealt) ** 2).mean()), -math.inf if (given == 0).any() else float(np.log(given).mean())

    observed = scores(tuple(np.flatnonzero(y == 1).tolist()))
    every = [scores(cases) for cases in itertools.combinations(range(len(y)), int(y.sum()))]
    return (
        float(np.mean([brier <= observed[0] + 1e-9 for brier, _ in every])),
        float(np.mean([log >= observed[1] - 1e-9 for _, log in every])),
    )


@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([1, 1, 0, 1, 0, 0, 0], [0.8, 0.6, 0.6, 0.2, 0.2, 0.2, 0.1]),
        ([1, 0, 1, 0, 0, 1], [1.0, 0.0, 0.4, 0.6, 0.0, 0.7]),
        ([0, 1, 0, 1], [0.3, 0.3, 0.3, 0.3]),
    ],
)
def test_permutation_tests_are_those_of_all_permutations(y: list[float], p: list[float]) -> None:
    outcome, risk = np.array(y, dtype=float), np.array(p)
    expected = all_permutations(outcome, risk)
    brier_test = estimated(comparison.brier_permutation_test(outcome, risk, 9999, 4))
    log_test = estimated(comparison.log_score_permutation_test(outcome, risk, 9999, 4))
    assert brier_test.value == pytest.approx(((risk - outcome) ** 2).mean())
    assert log_test.value == pytest.approx(np.log(np.where(outcome == 1, risk, 1 - risk)).mean())
    assert brier_test.details["p_value"] == pytest.approx(expected[0], abs=0.02)
    assert log_test.details["p_value"] == pytest.approx(expected[1], abs=0.02)


def test_permutations_count_the_observed_order_and_their_ties() -> None:
    y = np.array([0.0] * 20 + [1.0] * 20)
    p = np.linspace(0.1, 0.9, 40)
    for function in (comparison.brier_permutation_test, comparison.log_score_permutation_test):
        assert estimated(function(y, p, 999)).details["p_value"] == 1 / 1000
        assert estimated(function(y, np.full(40, 0.3), 99)).details["p_value"] == 1
        assert isinstance(function(np.zeros(3), np.full(3, 0.2)), Absent)
    assert isinstance(comparison.log_score_permutation_test(np.array([1.0, 0.0]), np.array([0.0, 0.2])), Absent)


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.7])
def test_one_risk_for_all_ties_with_every_permutation_however_many_the_rows(rate: float) -> None:
    y = np.tile([0.0, 1.0], 2000)
    for function in (comparison.brier_permutation_test, comparison.log_score_permutation_test):
        assert estimated(function(y, np.full(4000, rate), 49)).details["p_value"] == 1


@pytest.mark.parametrize(("gap", "ties"), [(5e-13, True), (1e-12, True), (1.5e-12, False)])
def test_permutations_tie_up_to_rounding(gap: float, ties: bool) -> None:
    # One case has the highest of ten risks, which one permutation in ten gives it again.
    y = np.eye(10)[0]
    found = [comparison.brier_permutation_test(y, y * gap)]
    if gap != 1e-12:  # log odds are too coarse near one half to lie on the limit
        found.append(comparison.log_score_permutation_test(y, 0.5 + y * gap / 4))
    for estimate in found:
        assert estimated(estimate).details["p_value"] == (1 if ties else pytest.approx(0.1, abs=0.04))


def test_blocks_hold_all_permutations_and_no_more_numbers_than_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "BLOCK", 10)
    for n, permutations, rows in ((4, 5, [2, 2, 1]), (1, 20, [10, 10]), (10, 2, [1, 1]), (11, 2, [1, 1])):
        blocks = list(comparison.shuffled_cases(n, 1, permutations, np.random.default_rng(1)))
        assert [block.shape for block in blocks] == [(size, n) for size in rows]


@pytest.mark.parametrize(("rows", "binned"), [(BINNED_ABOVE, ""), (BINNED_ABOVE + 1, " on 2,000 bins of risk")])
def test_the_method_tells_of_bins_only_above_50_000_rows(rows: int, binned: str) -> None:
    y = np.tile([0.0, 1.0], 25_001)[:rows]
    found = estimated(comparison.brier_permutation_test(y, np.linspace(0, 1, rows), 1))
    assert method_text(found.method) == f"permutation, one-sided, 1 draws{binned}"


def test_permutation_tests_hold_their_level() -> None:
    rng = np.random.default_rng(12)
    reached = {comparison.brier_permutation_test: 0, comparison.log_score_permutation_test: 0}
    for seed in range(800):
        y = np.zeros(40)
        y[rng.permutation(40)[:12]] = 1
        p = rng.uniform(0.05, 0.95, 40)
        for function in reached:
            p_value = present(estimated(function(y, p, 99, seed)).details["p_value"])
            reached[function] += p_value <= 0.05
    assert all(0.03 <= count / 800 <= 0.07 for count in reached.values())
