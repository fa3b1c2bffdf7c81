"""Discrimination against R, scikit-learn, published examples and obvious loops."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dossier.core.types import Absent, Floats
from dossier.metrics.discrimination import (
    accuracy,
    auprc,
    auroc,
    balanced_accuracy,
    balanced_average_accuracy,
    cohen_kappa_of_model,
    confusion,
    f1,
    likelihood_ratio_negative,
    likelihood_ratio_positive,
    markedness,
    mcc,
    newcombe_standard_error,
    npv,
    placements,
    ppv,
    risk_distribution,
    risk_range,
    roc,
    roc_part,
    roc_vertices,
    sensitivity,
    specificity,
    youden_j,
)
from dossier.typeset.methods import method_text
from dossier.typeset.reasons import reason_text
from tests.estimated import absent, curved, estimated, interval_of, present
from tests.metrics.parts import arrays, columns, r, table
from tests.reasons import Said
from tests.reference.tables import GOLDEN, needs_covid, printed, site

SITES = ("brazil-1", "brazil-3", "italy-1", "ethiopia", "spain")

ROWS = st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0, 0.1, 0.3, 0.5, 0.7, 1])), max_size=14)


def to_printed_digits(value: float, expected: float) -> bool:
    """Equal to the seven significant digits of the table."""
    return abs(value - expected) <= 0.501 * 10.0 ** (math.floor(math.log10(abs(expected))) - 6)


def slow_auroc(y: Floats, p: Floats) -> tuple[float, float]:
    """The AUROC and DeLong's variance by loops over pairs."""
    cases, others = p[y == 1], p[y == 0]
    wins = np.array([[1.0 if a > b else 0.5 if a == b else 0.0 for b in others] for a in cases])
    value = wins.mean()
    m, n = wins.shape
    v10 = sum((wins[i].mean() - value) ** 2 for i in range(m)) / (m - 1)
    v01 = sum((wins[:, j].mean() - value) ** 2 for j in range(n)) / (n - 1)
    return float(value), float(v10 / m + v01 / n)


@pytest.mark.parametrize("column", ["p", "p2"])
def test_auroc_is_that_of_proc(column: str) -> None:
    expected = r()["core"][f"binary:{column}"]["pROC"]
    found = estimated(auroc(*columns(column)))
    assert (found.value, found.se) == pytest.approx((expected["auc"], expected["se_delong"]), abs=1e-11)
    assert (found.low, found.high) == pytest.approx(expected["logit_ci"], abs=1e-11)


@pytest.mark.parametrize("column", ["p", "p2"])
def test_auroc_is_that_of_python_packages(column: str) -> None:
    expected = json.loads((GOLDEN / "python/python_golden.json").read_text())["discrimination"][column]
    found = estimated(auroc(*columns(column, "python/binary.csv")))
    assert (found.value, found.se) == pytest.approx((expected["auc_sklearn"], expected["delong_se"]), abs=1e-14)
    assert (found.low, found.high) == pytest.approx(expected["ci95_logit"], abs=1e-14)


@needs_covid
@pytest.mark.parametrize("name", SITES)
def test_the_five_hospitals(name: str) -> None:
    y, p = site(name)
    found = estimated(auroc(y, p))
    assert (found.n, found.events) == (printed(name, "n"), printed(name, "events"))
    assert to_printed_digits(found.value, printed(name, "auroc"))
    assert to_printed_digits(present(found.se), printed(name, "DeLong SE"))
    assert to_printed_digits(estimated(sensitivity(y, p, 0.5)).value, printed(name, "sens"))
    assert to_printed_digits(estimated(specificity(y, p, 0.5)).value, printed(name, "spec"))


@given(ROWS)
@settings(deadline=None)
def test_auroc_is_the_share_of_pairs_in_order(rows: list[tuple[int, float]]) -> None:
    y, p = arrays(rows)
    found = auroc(y, p)
    if y.sum() in (0, len(y)):
        assert isinstance(found, Absent)
        assert not reason_text(found.reason).endswith(".")
        return
    found = estimated(found)
    if len(set(p)) > 1:
        low, high = interval_of(found)
        assert 0 <= low <= found.value <= high <= 1
        assert low < high
    cases, others = int(y.sum()), int(len(y) - y.sum())
    if min(cases, others) > 1:
        value, variance = slow_auroc(y, p)
        assert found.value == pytest.approx(value, abs=1e-12)
        if variance > 1e-12 and 0 < value < 1:
            assert found.se == pytest.approx(math.sqrt(variance))
            assert method_text(found.method) == "DeLong, logit"


def test_auroc_of_the_worked_example() -> None:
    y, p = np.array([0.0, 0, 1, 0, 1, 1]), np.array([0.4, 0.5, 0.6, 0.7, 0.8, 0.8])
    assert estimated(auroc(y, p)).value == pytest.approx(8 / 9, abs=1e-15)


def test_perfect_order_has_an_open_bound_below() -> None:
    y = np.array([0.0] * 6 + [1.0] * 4)
    found = estimated(auroc(y, np.linspace(0, 1, 10)))
    assert (found.value, found.high, method_text(found.method)) == (1, 1, "Newcombe at (n AUROC + .5)/(n + 1), logit")
    # By hand: A = 10.5/11; Newcombe's formula; 1.959964 standard errors down on the logit scale.
    a = 10.5 / 11
    se = math.sqrt(a * (1 - a) * (1 + 4 * (1 - a) / (2 - a) + 4 * a / (1 + a)) / 24)
    low = 1 / (1 + math.exp(-(math.log(a / (1 - a)) - 1.959963984540054 * se / (a * (1 - a)))))
    assert (found.low, found.se) == pytest.approx((low, se))
    reverse = estimated(auroc(y, np.linspace(1, 0, 10)))
    assert (reverse.value, reverse.low) == (0, 0)


def test_newcombe_is_the_hanley_form() -> None:
    # Newcombe's method 4 is Hanley and McNeil's variance with both class sizes replaced by n/2 in the numerator.
    auc, n, events = 0.8, 60, 30
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    hanley = (auc * (1 - auc) + 29 * (q1 - auc**2) + 29 * (q2 - auc**2)) / (30 * 30)
    assert newcombe_standard_error(auc, n, events) == pytest.approx(math.sqrt(hanley))


def test_where_every_risk_is_tied_the_auroc_has_no_interval() -> None:
    """.5 follows from the rule for ties alone: it says nothing about what the order would be."""
    constant = estimated(auroc(np.array([0.0, 1, 0, 1]), np.full(4, 0.3)))
    assert (constant.value, constant.low, constant.high, constant.se) == (0.5, None, None, None)
    assert constant.reason == Said("every risk is the same, so that no order is estimated")


def test_a_single_case_still_has_an_interval() -> None:
    single = estimated(auroc(np.array([0.0, 1, 0, 0]), np.array([0.1, 0.3, 0.2, 0.4])))
    assert single.value == pytest.approx(2 / 3)
    assert method_text(single.method) == "Newcombe, logit"


def test_a_single_case_has_the_interval_of_newcombe_around_its_own_value() -> None:
    found = estimated(auroc(np.array([0.0, 1, 0, 0]), np.array([0.1, 0.3, 0.2, 0.4])))
    # By hand: A = 2/3 and n/2 - 1 = 1, so that A(1 - A)(1 + (1 - A)/(2 - A) + A/(1 + A)) = 2/9 (1 + 1/4 + 2/5).
    se = math.sqrt(2 / 9 * 1.65 / (1 * 3))
    ends = [1 / (1 + math.exp(-(math.log(2) + sign * 1.959963984540054 * se * 9 / 2))) for sign in (-1, 1)]
    assert (found.se, found.low, found.high) == pytest.approx((se, *ends), abs=1e-12)


@pytest.mark.parametrize(
    ("y", "reason"),
    [
        ([], "there are no rows"),
        ([1], "there is a single row, so that cases and non-cases cannot be compared"),
        ([0, 0, 0], "none of the 3 rows has the outcome"),
        ([1, 1], "all 2 rows have the outcome"),
    ],
)
def test_why_cases_cannot_be_compared_with_others(y: list[float], reason: str) -> None:
    assert auroc(np.array(y, dtype=float), np.linspace(0.2, 0.8, len(y))) == Said(reason)


def test_placements_by_hand() -> None:
    above, below = placements(np.array([1.0, 0, 1, 0]), np.array([0.9, 0.2, 0.2, 0.1]))
    assert above.tolist() == [1, 0.75]  # of the two non-cases: both lie below .9; one lies below .2 and one ties
    assert below.tolist() == [0.75, 1]  # of the two cases: one lies above .2 and one ties; both lie above .1


def test_the_worked_matrix_of_dinga() -> None:
    y = np.array([1.0] * 10 + [0.0] * 990)
    p = np.array([0.9] * 100 + [0.1] * 900)
    assert estimated(sensitivity(y, p, 0.5)).value == 1
    assert estimated(specificity(y, p, 0.5)).value == pytest.approx(0.909091, abs=5e-7)
    assert estimated(ppv(y, p, 0.5)).value == pytest.approx(0.10)
    assert estimated(npv(y, p, 0.5)).value == 1


def test_thresholds_are_those_of_r() -> None:
    y, p = columns()
    for expected in r()["core"]["binary:p"]["thresholds"]:
        for function, name in ((sensitivity, "sens"), (specificity, "spec"), (ppv, "ppv"), (npv, "npv")):
            found = estimated(function(y, p, expected["t"]))
            assert found.value == pytest.approx(expected[name]["est"], abs=1e-11)
            assert (found.low, found.high) == pytest.approx(expected[name]["wilson"], abs=1e-11)


def test_positive_means_at_or_above_the_threshold() -> None:
    assert estimated(sensitivity(np.array([1.0, 1.0]), np.array([0.5, 0.4]), 0.5)).value == 0.5


@pytest.mark.parametrize(
    ("function", "y", "p"),
    [
        (sensitivity, [0, 0], [0.1, 0.9]),
        (specificity, [1, 1], [0.1, 0.9]),
        (ppv, [0, 1], [0, 0]),
        (npv, [0, 1], [1, 1]),
    ],
)
def test_a_share_of_nothing_is_absent(function: Any, y: list[float], p: list[float]) -> None:
    found = absent(function(np.array(y, dtype=float), np.array(p, dtype=float), 0.5))
    assert len(reason_text(found.reason).split()) > 3
    assert isinstance(function(np.array([]), np.array([]), 0.5), Absent)


@pytest.mark.parametrize("function", [sensitivity, specificity, ppv, npv, accuracy, markedness, f1])
def test_without_rows_nothing_else_is_blamed(function: Any) -> None:
    assert function(np.array([]), np.array([]), 0.5) == Said("there are no rows")


@pytest.mark.parametrize(
    ("function", "y", "p"), [(sensitivity, 1, 0.9), (specificity, 0, 0.1), (ppv, 1, 0.9), (npv, 0, 0.1), (f1, 1, 0.9)]
)
def test_a_single_row_has_a_share(function: Any, y: float, p: float) -> None:
    found = estimated(function(np.array([y], dtype=float), np.array([p]), 0.5))
    assert (found.value, found.n) == (1, 1)


@given(ROWS)
@settings(deadline=None)
def test_the_area_under_the_roc_curve_is_the_auroc(rows: list[tuple[int, float]]) -> None:
    y, p = arrays(rows)
    found = roc(y, p)
    if y.sum() in (0, len(y)):
        assert isinstance(found, Absent)
        return
    fpr, tpr = (np.array(curved(found).columns[name], dtype=float) for name in ("fpr", "tpr"))
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(tpr, fpr) == pytest.approx(estimated(auroc(y, p)).value)


@pytest.mark.parametrize("kind", ["random", "useless", "staircase"])
def test_a_long_roc_curve_is_thinned_and_keeps_its_area(kind: str) -> None:
    rng = np.random.default_rng(3)
    n = 498 if kind == "staircase" else 5000
    p = rng.random(n)
    y = (rng.random(n) < (p if kind == "random" else 0.3)).astype(float)
    if kind == "staircase":  # 249 steps up and to the right, in time with 250 evenly spaced points
        p, y = np.linspace(1, 0, n), np.tile([1.0, 0.0], n // 2)
    found = curved(roc(y, p))
    fpr, tpr = (np.array(found.columns[name], dtype=float) for name in ("fpr", "tpr"))
    assert len(fpr) <= 250
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= 0).all()
    assert abs(np.trapezoid(tpr, fpr) - estimated(auroc(y, p)).value) < 1e-3
    assert len(roc_vertices(y, p)[0]) == n + 1


@pytest.mark.parametrize("corners", [250, 251])
def test_a_roc_curve_is_thinned_above_250_corners(corners: int) -> None:
    p = np.linspace(1, 0, corners - 1)
    y = (np.arange(corners - 1) % 3 == 0).astype(float)
    found = curved(roc(y, p))
    fpr, tpr = (np.array(found.columns[name], dtype=float) for name in ("fpr", "tpr"))
    if corners == 250:
        assert [fpr.tolist(), tpr.tolist()] == [axis.tolist() for axis in roc_vertices(y, p)]
    else:
        assert np.diff(fpr + tpr) == pytest.approx(2 / (len(fpr) - 1))  # evenly spaced along the curve


def test_risks_that_lie_no_further_apart_than_a_millionth_of_a_millionth_are_the_same() -> None:
    assert risk_range(np.repeat([0, 1e-12], 50)) == (0, 0)
    assert risk_range(np.repeat([0, 3e-12], 50)) == (0, 3e-12)


def test_the_distribution_of_risk_counts_every_row_in_its_twentieth() -> None:
    y = np.array([0.0, 1, 0, 1, 1, 0])
    p = np.array([0.0, 0.1, 0.3, 0.95, 1.0, 0.29])
    found = curved(risk_distribution(y, p))
    assert {index: count for index, count in enumerate(found.columns["events"]) if count} == {2: 1, 19: 2}
    assert {index: count for index, count in enumerate(found.columns["non_events"]) if count} == {0: 1, 5: 1, 6: 1}
    assert found.columns["share_events"][19] == pytest.approx(2 / 3)
    assert found.columns["low"][6] == 0.3
    none = curved(risk_distribution(np.zeros(3), np.full(3, 0.5)))
    assert set(none.columns["share_events"]) == {None}
    assert isinstance(risk_distribution(np.array([]), np.array([])), Absent)


# ---- both kinds of error in one number ------------------------------------------------------------------------------

AT_A_THRESHOLD = (
    accuracy,
    balanced_accuracy,
    youden_j,
    markedness,
    mcc,
    f1,
    cohen_kappa_of_model,
    likelihood_ratio_positive,
    likelihood_ratio_negative,
)


def rows_of(tp: int, fp: int, fn: int, tn: int) -> tuple[Floats, Floats]:
    """Rows with these counts at a threshold of one half."""
    y = np.array([1.0] * tp + [0.0] * fp + [1.0] * fn + [0.0] * tn)
    return y, np.array([0.9] * (tp + fp) + [0.1] * (fn + tn))


def test_the_other_measures_of_the_worked_matrix_of_dinga() -> None:
    y, p = rows_of(10, 90, 0, 900)
    assert estimated(accuracy(y, p, 0.5)).value == pytest.approx(0.91, abs=1e-12)
    assert estimated(balanced_accuracy(y, p, 0.5)).value == pytest.approx(0.954545, abs=5e-7)
    assert estimated(youden_j(y, p, 0.5)).value == pytest.approx(0.909091, abs=5e-7)
    assert estimated(markedness(y, p, 0.5)).value == pytest.approx(0.10, abs=1e-12)


@needs_covid
@pytest.mark.parametrize("name", SITES)
def test_the_correlation_at_the_five_hospitals(name: str) -> None:
    y, p = site(name)
    assert to_printed_digits(estimated(mcc(y, p, 0.5)).value, printed(name, "MCC"))


@pytest.mark.parametrize("column", ["p", "p2"])
def test_measures_at_a_threshold_are_those_of_r(column: str) -> None:
    y, p = columns(column)
    for expected in r()["core"][f"binary:{column}"]["thresholds"]:
        t = expected["t"]
        share = estimated(accuracy(y, p, t))
        assert share.value == pytest.approx(expected["acc"]["est"], abs=1e-11)
        assert (share.low, share.high) == pytest.approx(expected["acc"]["wilson"], abs=1e-11)
        for function, name in (
            (f1, "f1"),
            (mcc, "mcc"),
            (balanced_accuracy, "balacc"),
            (cohen_kappa_of_model, "kappa"),
        ):
            assert estimated(function(y, p, t)).value == pytest.approx(expected[name], abs=1e-11)
        assert estimated(cohen_kappa_of_model(y, p, t)).se == pytest.approx(expected["kappa_ase"], abs=1e-11)
        assert estimated(youden_j(y, p, t)).value == pytest.approx(expected["epiR"]["youden"][0], abs=1e-11)
        for function, name in ((likelihood_ratio_positive, "lr.pos"), (likelihood_ratio_negative, "lr.neg")):
            found = estimated(function(y, p, t))
            assert (found.value, found.low, found.high) == pytest.approx(expected["epiR"][name], abs=1e-10)


COUNTS = st.tuples(*[st.integers(0, 12)] * 4)


def by_hand(tp: float, fp: float, fn: float, tn: float) -> dict[str, float]:
    """The textbook formulas of the measures that are functions of four counts; NaN for 0/0."""
    n, cases, flagged = tp + fp + fn + tn, tp + fn, tp + fp

    def ratio(a: float, b: float) -> float:
        return a / b if b else math.nan

    chance = (flagged * cases + (n - flagged) * (n - cases)) / n**2 if n else math.nan
    return {
        "accuracy": ratio(tp + tn, n),
        "balanced_accuracy": (ratio(tp, cases) + ratio(tn, n - cases)) / 2,
        "youden_j": ratio(tp, cases) + ratio(tn, n - cases) - 1,
        "markedness": ratio(tp, flagged) + ratio(tn, n - flagged) - 1,
        "mcc": ratio(tp * tn - fp * fn, math.sqrt(flagged * cases * (tn + fp) * (tn + fn))),
        "f1": ratio(2 * tp, 2 * tp + fp + fn),
        "cohen_kappa_of_model": ratio(ratio(tp + tn, n) - chance, 1 - chance) if cases not in (0, n) else math.nan,
        "likelihood_ratio_positive": ratio(ratio(tp, cases), ratio(fp, n - cases)) if tp else math.nan,
        "likelihood_ratio_negative": ratio(ratio(fn, cases), ratio(tn, n - cases)) if fn else math.nan,
    }


@given(COUNTS)
@settings(deadline=None, max_examples=300)
def test_measures_at_a_threshold_by_hand(counts: tuple[int, int, int, int]) -> None:
    y, p = rows_of(*counts)
    expected = by_hand(*counts)
    for function in AT_A_THRESHOLD:
        found, value = function(y, p, 0.5), expected[function.__name__]
        if math.isnan(value):
            assert isinstance(found, Absent), function
            assert not reason_text(found.reason).endswith(".")
            continue
        assert estimated(found).value == pytest.approx(value, abs=1e-12)
        low, high = estimated(found).low, estimated(found).high
        assert low is None or high is None or low <= value + 1e-12 <= high + 2e-12


@given(st.tuples(*[st.integers(1, 30)] * 4))
@settings(deadline=None)
def test_delta_errors_are_those_of_numerical_derivatives(counts: tuple[int, int, int, int]) -> None:
    y, p = rows_of(*counts)
    n = sum(counts)
    for function in (mcc, f1, cohen_kappa_of_model, markedness, youden_j, balanced_accuracy):
        slopes = []
        for index in range(4):
            up, down = list(map(float, counts)), list(map(float, counts))
            up[index] += 1e-4
            down[index] -= 1e-4
            slopes.append((by_hand(*up)[function.__name__] - by_hand(*down)[function.__name__]) / 2e-4 * n)
        mean = sum(c / n * g for c, g in zip(counts, slopes, strict=True))
        variance = sum(c / n * (g - mean) ** 2 for c, g in zip(counts, slopes, strict=True)) / n
        if variance > 1e-10:
            assert estimated(function(y, p, 0.5)).se == pytest.approx(math.sqrt(variance), rel=1e-4)


def test_the_errors_of_the_likelihood_ratios_by_hand() -> None:
    y, p = rows_of(8, 3, 2, 17)
    positive, negative = (
        estimated(likelihood_ratio_positive(y, p, 0.5)),
        estimated(likelihood_ratio_negative(y, p, 0.5)),
    )
    assert positive.se == pytest.approx(0.8 / 0.15 * math.sqrt(1 / 8 - 1 / 10 + 1 / 3 - 1 / 20), abs=1e-12)
    assert negative.se == pytest.approx(0.2 / 0.85 * math.sqrt(1 / 2 - 1 / 10 + 1 / 17 - 1 / 20), abs=1e-12)


BOUNDED = (balanced_accuracy, youden_j, markedness, mcc, f1, cohen_kappa_of_model)


@pytest.mark.parametrize("function", BOUNDED)
def test_the_bounds_of_measures_at_a_threshold_stay_in_their_range(function: Any) -> None:
    floor = 0 if function in (balanced_accuracy, f1) else -1
    good, bad = estimated(function(*rows_of(5, 0, 1, 4), 0.5)), estimated(function(*rows_of(1, 4, 5, 0), 0.5))
    assert good.value + 1.96 * present(good.se) > 1
    assert good.high == 1
    assert bad.value - 1.96 * present(bad.se) < floor
    assert bad.low == floor


@pytest.mark.parametrize("function", BOUNDED)
def test_answers_that_are_all_right_have_no_interval(function: Any) -> None:
    found = estimated(function(*rows_of(4, 0, 0, 6), 0.5))
    assert (found.value, found.se, found.low, found.high) == (1, None, None, None)
    assert found.reason


def test_rounding_does_not_carry_the_correlation_beyond_its_range() -> None:
    assert estimated(mcc(*rows_of(14, 0, 0, 15), 0.5)).value == 1
    assert estimated(mcc(*rows_of(0, 15, 14, 0), 0.5)).value == -1


@pytest.mark.parametrize(("threshold", "declared"), [(0.2, 0.25), (0.5, 1), (1.0, None)])
def test_the_weights_of_a_false_alarm(threshold: float, declared: float | None) -> None:
    y, p = rows_of(3, 1, 1, 5)
    for function in (balanced_accuracy, youden_j):
        details = estimated(function(y, p, threshold)).details
        assert details["false_alarm_weight"] == pytest.approx(4 / 6)
        assert details["declared_weight"] == (None if declared is None else pytest.approx(declared))


@pytest.mark.parametrize(("risk", "reason"), [(0.9, "every risk reaches"), (0.1, "no risk reaches")])
def test_one_answer_for_all_has_no_markedness(risk: float, reason: str) -> None:
    for y in ([1.0], [0.0, 1.0]):
        assert markedness(np.array(y), np.full(len(y), risk), 0.5) == Said(f"{reason} the threshold of 0.50")


def test_the_f1_score_needs_a_case_or_a_flag() -> None:
    nothing = Said("no row has the outcome and no risk reaches the threshold of 0.50")
    assert f1(*rows_of(0, 0, 0, 3), 0.5) == nothing
    assert f1(*rows_of(0, 0, 0, 1), 0.5) == nothing
    assert estimated(f1(*rows_of(0, 0, 1, 2), 0.5)).value == 0
    assert estimated(f1(*rows_of(0, 1, 0, 2), 0.5)).value == 0


@pytest.mark.parametrize("function", [markedness, mcc, f1, cohen_kappa_of_model])
def test_what_the_same_model_would_reach_at_other_prevalences(function: Any) -> None:
    details = estimated(function(*rows_of(8, 3, 2, 17), 0.5)).details
    # A sensitivity of .8 and a specificity of .85, in 1000 people with 100 or 500 cases.
    for per_cent, counts in ((10, (80, 135, 20, 765)), (50, (400, 75, 100, 425))):
        assert details[f"at_prevalence_{per_cent}"] == pytest.approx(by_hand(*counts)[function.__name__])
    # A single case is enough: a sensitivity of 1 and a specificity of .75.
    single = estimated(function(*rows_of(1, 1, 0, 3), 0.5)).details
    assert single["at_prevalence_10"] == pytest.approx(by_hand(100, 225, 0, 675)[function.__name__])


def test_one_class_says_nothing_about_other_prevalences() -> None:
    for counts in ((2, 0, 1, 0), (0, 2, 0, 1)):
        for function in (markedness, f1):
            details = estimated(function(*rows_of(*counts), 0.5)).details
            assert details == {"at_prevalence_10": None, "at_prevalence_50": None}


@pytest.mark.parametrize("counts", [(3, 2, 1, 4), (3, 1, 2, 4)])
def test_the_most_that_the_margins_allow_kappa(counts: tuple[int, int, int, int]) -> None:
    # With 4 and 5 of ten in the margins at most 9 answers are right; chance gives .4 x .5 + .6 x .5 = .5.
    found = estimated(cohen_kappa_of_model(*rows_of(*counts), 0.5))
    assert found.details["maximum"] == pytest.approx((0.9 - 0.5) / (1 - 0.5))


def test_a_row_at_the_threshold_is_flagged_in_the_counts() -> None:
    found = confusion(np.array([1.0, 0.0, 1.0]), np.array([0.5, 0.5, 0.499]), 0.5)
    assert (found.true_positive, found.false_positive, found.false_negative, found.true_negative) == (1, 1, 1, 0)


# ---- average precision ----------------------------------------------------------------------------------------------


def slow_average_precision(y: Floats, p: Floats) -> float:
    total, before = 0.0, 0.0
    for cut in sorted(set(p.tolist()), reverse=True):
        flagged = p >= cut
        recall = y[flagged].sum() / y.sum()
        total += (recall - before) * y[flagged].mean()
        before = recall
    return total


@pytest.mark.parametrize("column", ["p", "p2"])
def test_average_precision_is_that_of_scikit_learn(column: str) -> None:
    expected = json.loads((GOLDEN / "python/python_golden.json").read_text())["discrimination"][column]
    read = table("python/binary.csv")
    found = estimated(auprc(read["y"].to_numpy(), read[column].to_numpy(), bootstrap=20))
    assert found.value == pytest.approx(expected["average_precision_sklearn"], abs=1e-13)
    assert found.details["prevalence"] == read["y"].mean()


@given(ROWS)
@settings(deadline=None)
def test_average_precision_by_a_loop(rows: list[tuple[int, float]]) -> None:
    y, p = arrays(rows)
    found = auprc(y, p, bootstrap=20)
    if y.sum() in (0, len(y)):
        assert isinstance(found, Absent)
        return
    assert estimated(found).value == pytest.approx(slow_average_precision(y, p), abs=1e-12)


def test_the_bootstrap_of_average_precision_is_that_of_slow_resamples() -> None:
    rng = np.random.default_rng(4)
    p = np.round(rng.random(90), 2)
    y = (rng.random(90) < p).astype(float)
    found = estimated(auprc(y, p, bootstrap=60, seed=5))
    order = np.lexsort((y, p))
    rows = np.random.default_rng(5).integers(0, 90, size=(60, 90))
    slow = [slow_average_precision(y[order][chosen], p[order][chosen]) for chosen in rows]
    assert (found.low, found.high) == pytest.approx(np.quantile(slow, (0.025, 0.975), method="weibull"), abs=1e-12)


def test_replicates_with_a_single_case_count_and_those_without_are_left_out() -> None:
    y, p = np.array([0.0] * 9 + [1.0] * 3), np.linspace(0, 1, 12)
    y[4], y[9] = 1, 0
    found = estimated(auprc(y, p, bootstrap=60, seed=2))
    rows = np.random.default_rng(2).integers(0, 12, size=(60, 12))
    cases = y[rows].sum(axis=1)
    assert (cases == 1).any()
    assert (cases == 0).any()
    slow = [slow_average_precision(y[chosen], p[chosen]) for chosen in rows[cases > 0]]
    assert f"{len(slow)} replicates, {60 - len(slow)} without a value left out" in method_text(found.method)
    assert (found.low, found.high) == pytest.approx(np.quantile(slow, (0.025, 0.975), method="weibull"), abs=1e-12)


def test_as_many_replicates_as_asked_for_when_they_come_in_several_blocks() -> None:
    rng = np.random.default_rng(8)
    p = rng.random(5000)
    found = estimated(auprc((rng.random(5000) < p).astype(float), p, bootstrap=100))
    assert method_text(found.method) == "average precision; bootstrap over rows, 100 replicates, percentile"


# ---- parts of the ROC curve -----------------------------------------------------------------------------------------

FAWCETT_P = [0.9, 0.8, 0.7, 0.6, 0.55, 0.54, 0.53, 0.52, 0.51, 0.505, 0.4, 0.39, 0.38, 0.37, 0.36, 0.35]
FAWCETT = (
    np.array([1.0, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0]),
    np.array([*FAWCETT_P, 0.34, 0.33, 0.30, 0.1]),
)


@pytest.mark.parametrize(
    ("part", "value", "half"), [("0-0.3", 0.733333, 0.33), ("0.3-0.5", 0.600000, 0.12), ("0.5-1", 0.657143, 0.23)]
)
def test_the_parts_of_fawcetts_curve(part: str, value: float, half: float) -> None:
    found = estimated(balanced_average_accuracy(*FAWCETT, part, bootstrap=50))
    assert found.value == pytest.approx(value, abs=5e-7)
    assert found.details["half_sum"] == pytest.approx(half, abs=1e-12)
    assert found.details["left_out"] == pytest.approx(0.68 - half, abs=1e-12)  # Fawcett's AUROC is .68
    low, _, high = part.partition("-")
    pair = estimated(balanced_average_accuracy(*FAWCETT, (float(low), float(high)), bootstrap=50))
    assert pair == found


@given(ROWS, st.lists(st.floats(0.01, 0.99), max_size=3))
@settings(deadline=None)
def test_the_parts_of_the_roc_curve_sum_to_the_auroc(rows: list[tuple[int, float]], cuts: list[float]) -> None:
    y, p = arrays(rows)
    if y.sum() in (0, len(y)):
        assert isinstance(balanced_average_accuracy(y, p, "0-1"), Absent)
        return
    ends = [0.0, *sorted(set(cuts)), 1.0]
    curve = roc_vertices(y, p)
    parts = [roc_part(*curve, low, high) for low, high in pairwise(ends)]
    total = sum((part.area_below + part.area_beside) / 2 for part in parts)
    assert total == pytest.approx(estimated(auroc(y, p)).value, abs=1e-12)
    assert sum(part.height for part in parts) == pytest.approx(1, abs=1e-12)


@given(ROWS, st.floats(0, 1), st.floats(0, 1))
@settings(deadline=None)
def test_a_part_by_small_steps(rows: list[tuple[int, float]], first: float, other: float) -> None:
    """Average sensitivity and specificity by a fine grid along the curve, weighted by the ranges."""
    y, p = arrays(rows)
    low, high = sorted((round(first, 3), round(other, 3)))
    if y.sum() in (0, len(y)) or high - low < 0.05:
        return
    fpr, tpr = roc_vertices(y, p)
    grid = np.linspace(low, high, 4001)[1:-1]
    sensitivities = np.interp(grid, fpr, tpr)
    part = roc_part(fpr, tpr, low, high)
    assert part.area_below == pytest.approx((high - low) * sensitivities.mean(), abs=2e-3)
    beside = 0.0
    for (x0, y0), (x1, y1) in zip(
        zip(fpr[:-1], tpr[:-1], strict=True), zip(fpr[1:], tpr[1:], strict=True), strict=True
    ):
        steps = np.linspace(0, 1, 401)
        x, up = x0 + (x1 - x0) * steps, (y1 - y0) / 400
        middle = (x[1:] + x[:-1]) / 2
        inside = (middle > low) & (middle < high) | ((x0 == x1) & (x0 == high)) | ((x0 == x1 == 0) & (low == 0))
        beside += float(((1 - middle) * up)[inside].sum())
    assert part.area_beside == pytest.approx(beside, abs=5e-3)


def test_a_part_without_width_is_the_step_and_one_without_height_the_level() -> None:
    y, p = np.array([1.0, 0, 1, 0]), np.array([0.9, 0.8, 0.7, 0.6])  # up, right, up, right
    assert estimated(balanced_average_accuracy(y, p, (0.5, 0.5), bootstrap=5)).value == pytest.approx(0.5)
    assert estimated(balanced_average_accuracy(y, p, (0.1, 0.4), bootstrap=5)).value == pytest.approx(0.5)
    assert isinstance(balanced_average_accuracy(y, p, (0.2, 0.2)), Absent)
    assert isinstance(balanced_average_accuracy(y, p, (0.4, 0.2)), Absent)
    assert isinstance(balanced_average_accuracy(y, p, (0.4, 1.2)), Absent)


def test_rounding_does_not_carry_a_part_beyond_1() -> None:
    perfect = estimated(balanced_average_accuracy(np.array([1.0, 0, 0]), np.array([0.9, 0.5, 0.1]), "0.05-0.6"))
    assert perfect.value == 1
    y = np.array([1.0, 1, 1, 1, 0, 1, 0, 0, 0])
    found = estimated(balanced_average_accuracy(y, np.linspace(1, 0, 9), "0.05-0.6", bootstrap=50))
    assert found.value < 1
    assert found.high == 1


def test_the_bootstrap_of_a_part_keeps_the_classes() -> None:
    rng = np.random.default_rng(6)
    p = rng.random(80)
    y = (rng.random(80) < p).astype(float)
    found = estimated(balanced_average_accuracy(y, p, "0-0.2", bootstrap=1500))
    cases, others = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    slow = []
    for _ in range(1500):
        rows = np.concatenate((rng.choice(cases, len(cases)), rng.choice(others, len(others))))
        part = roc_part(*roc_vertices(y[rows], p[rows]), 0, 0.2)
        slow.append((part.area_below + part.area_beside) / (part.width + part.height))
    assert found.se == pytest.approx(np.std(slow), rel=0.1)
    assert found.low == pytest.approx(np.quantile(slow, 0.025), abs=0.02)


def test_measures_that_cannot_vary_have_no_interval() -> None:
    y, p = np.array([0.0] * 6 + [1.0] * 4), np.linspace(0, 1, 10)
    for found in (auprc(y, p, bootstrap=30), balanced_average_accuracy(y, p, "0-0.2", bootstrap=30), mcc(y, p, 0.6)):
        sure = estimated(found)
        assert (sure.low, sure.high) == (None, None)
        assert sure.value == pytest.approx(1)
        assert sure.reason
