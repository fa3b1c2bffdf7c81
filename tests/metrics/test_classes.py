"""Measures of several classes against scikit-learn, published matrices, slow loops and simulations."""

from __future__ import annotations

import csv
import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from dossier.core.facts import Method
from dossier.core.types import Absent, Curve, CurveResult, DatasetSummary, Estimate, Floats, SiteResults
from dossier.metrics import calibration, classes, comparison, discrimination
from dossier.metrics.graded_accuracy import SINGLE_ROW
from dossier.metrics.intervals import NO_SPREAD
from dossier.metrics.severity import NO_ERRORS
from dossier.typeset.methods import method_text
from dossier.typeset.reasons import reason_text
from tests.estimated import curved, estimated, present
from tests.reasons import Said, because

REPOSITORY = Path(__file__).resolve().parent.parent.parent
REFERENCE: dict[str, Any] = json.loads((REPOSITORY / "tests/reference/scikit_learn_classes.json").read_text())
GRADES = ("G0", "G1", "G2", "G3")
DISTANCE = ((0, 0.3, 0.6, 1.0), (0.3, 0, 0.3, 0.6), (0.6, 0.3, 0, 0.3), (1.0, 0.6, 0.3, 0))
PUBLISHED = {
    "V1": ([[20, 0, 0, 0], [5, 20, 5, 0], [0, 5, 20, 0], [0, 0, 0, 25]], 3.0, 0.045),
    "V2": ([[20, 2, 3, 0], [2, 20, 2, 0], [3, 3, 20, 0], [0, 0, 0, 25]], 4.2, 0.063),
    "V3": ([[20, 0, 5, 0], [0, 20, 0, 0], [0, 0, 20, 0], [5, 5, 0, 25]], 7.3333, 0.110),
}

Rows = tuple[np.ndarray, Floats]


def named(*said: int, k: int = 2) -> Floats:
    """Risks that name these classes with certainty."""
    return np.eye(k)[list(said)]


@pytest.fixture(scope="module")
def graft() -> tuple[np.ndarray, Floats, Floats]:
    """The first hospital of the release that ships: true classes, the model's risks, the rival's."""
    with (REPOSITORY / "fixtures/biopsy/graft-1.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    truth = np.array([GRADES.index(row["grade"]) for row in rows])
    both = [
        np.array([[float(row[f"{kind}_{grade}"]) for grade in GRADES] for row in rows]) for kind in ("risk", "clinical")
    ]
    return truth, both[0], both[1]


def sample(n: int, seed: int, k: int = 4, sharpness: float = 2.0) -> Rows:
    """Classes drawn from the risks themselves."""
    rng = np.random.default_rng(seed)
    p = np.exp(sharpness * rng.normal(size=(n, k)))
    p /= p.sum(axis=1, keepdims=True)
    return (rng.random(n)[:, None] >= p.cumsum(axis=1)[:, :-1]).sum(axis=1), p


# ---- against others -------------------------------------------------------------------------------------------------


def test_scikit_learn_says_the_same(graft: tuple[np.ndarray, Floats, Floats]) -> None:
    """tests/reference/scikit_learn_classes.py: roc_auc_score (ovr, macro), log_loss and the others, named there."""
    truth, risk, rival = graft
    assert estimated(classes.auroc(truth, risk)).value == pytest.approx(REFERENCE["auroc_macro"], abs=1e-12)
    np.testing.assert_allclose(classes.structural_components(truth, risk)[0], REFERENCE["auroc"], atol=1e-12, rtol=0)
    assert estimated(classes.log_score(truth, risk)).value == pytest.approx(-REFERENCE["log_loss"], abs=1e-12)
    assert estimated(classes.accuracy(truth, risk)).value == pytest.approx(REFERENCE["accuracy"], abs=1e-12)
    difference = estimated(classes.auroc_difference(truth, risk, rival))
    expected = REFERENCE["auroc_macro"] - REFERENCE["auroc_macro_rival"]
    assert difference.value == pytest.approx(expected, abs=1e-12)
    matrix = curved(classes.confusion_matrix(truth, risk))
    counted = np.array(matrix.columns["count"], dtype=float).reshape(4, 4)
    np.testing.assert_array_equal(counted.T, REFERENCE["confusion_true_by_predicted"])


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_matrices(name: str) -> None:
    """methods.md, severity: 3.0 4.2 7.3333; accuracy .85 each; mean severity .045 .063 .110."""
    table, index, mean = PUBLISHED[name]
    pairs = [(i, j) for i in range(4) for j in range(4) for _ in range(table[i][j])]
    truth = np.array([j for _, j in pairs])
    risk = np.array([[0.7 if i == number else 0.1 for number in range(4)] for i, _ in pairs])
    assert estimated(classes.error_severity_index(truth, risk, DISTANCE)).value == pytest.approx(index, abs=5e-5)
    assert estimated(classes.mean_severity(truth, risk, DISTANCE)).value == pytest.approx(mean, abs=5e-10)
    assert estimated(classes.accuracy(truth, risk)).value == pytest.approx(0.85, abs=1e-12)
    matrix = curved(classes.confusion_matrix(truth, risk, DISTANCE))
    assert [int(value or 0) for value in matrix.columns["count"]] == [value for row in table for value in row]
    assert matrix.columns["severity"] == tuple(float(value) for row in DISTANCE for value in row)


# ---- against slow loops ---------------------------------------------------------------------------------------------

ROWS = st.lists(st.tuples(st.integers(0, 2), st.tuples(*[st.integers(0, 4)] * 3).filter(any)), min_size=1, max_size=25)


def of_rows(rows: list[tuple[int, tuple[int, ...]]]) -> Rows:
    risk = np.array([[number / sum(given) for number in given] for _, given in rows])
    return np.array([label for label, _ in rows]), risk


@given(ROWS)
@settings(deadline=None)
def test_scores_row_by_row(rows: list[tuple[int, tuple[int, ...]]]) -> None:
    truth, risk = of_rows(rows)
    brier, right, logs = 0.0, 0, 0.0
    for label, given_risks in zip(truth.tolist(), risk.tolist(), strict=True):
        for index, each in enumerate(given_risks):
            brier += (each - (1 if index == label else 0)) ** 2
        right += given_risks.index(max(given_risks)) == label
        logs += math.log(given_risks[label]) if given_risks[label] else -math.inf
    n = len(rows)
    assert estimated(classes.brier(truth, risk)).value == pytest.approx(brier / n, abs=1e-12)
    assert estimated(classes.accuracy(truth, risk)).value == pytest.approx(right / n, abs=1e-12)
    found = classes.log_score(truth, risk)
    if math.isinf(logs):
        assert isinstance(found, Absent)
        assert "minus infinity" in reason_text(found.reason)
    else:
        assert estimated(found).value == pytest.approx(logs / n, abs=1e-12)


SURVEY = (("c", 0.35, None, None), ("a", 0.05, None, None), ("b", 0.1, 0.05, 0.2))
"""Half of the answers prefer no class."""


@given(
    ROWS, st.sampled_from([1 / 3, 0.5, 0.75, 1.0]), st.sampled_from(["equal", "prevalence", "0.1, 0.2, 0.7", "survey"])
)
@settings(deadline=None)
def test_h_accuracy_row_by_row(rows: list[tuple[int, tuple[int, ...]]], tau: float, priority: str) -> None:
    truth, risk = of_rows(rows)
    found = classes.h_accuracy(truth, risk, priority, tau, "constant", ("a", "b", "c"), SURVEY)
    missing = [name for index, name in enumerate("abc") if index not in truth]
    if missing:
        assert found == Said(f"no row is of class {' or '.join(missing)}")
        return
    earned: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for label, given_risks in zip(truth.tolist(), risk.tolist(), strict=True):
        top = max(given_risks)
        share = 1 / given_risks.count(top) if given_risks[label] == top else 0.0
        ramp = 1.0 if tau <= 1 / 3 else min(1.0, max(0.0, (given_risks[label] - 1 / 3) / (tau - 1 / 3)))
        earned[label].append(share * ramp)
    shares = {
        "equal": [1 / 3] * 3,
        "prevalence": [len(earned[label]) / len(rows) for label in range(3)],
        "0.1, 0.2, 0.7": [0.1, 0.2, 0.7],
        "survey": [0.1, 0.2, 0.7],
    }[priority]
    expected = sum(shares[label] * sum(earned[label]) / len(earned[label]) for label in range(3))
    assert estimated(found).value == pytest.approx(expected, abs=1e-12)


def test_the_priorities_of_a_survey_that_is_not_declared(graft: tuple[np.ndarray, Floats, Floats]) -> None:
    truth, risk, _ = graft
    assert classes.h_accuracy(truth, risk, "survey", 1.0) == Said("the release declares no survey of priorities")


def test_rounded_shares_add_up_to_one() -> None:
    truth = np.repeat(np.arange(3), 4)
    found = estimated(classes.h_accuracy(truth, np.eye(3)[truth], "0.333333, 0.333333, 0.333333", 1.0))
    assert (found.value, found.high) == pytest.approx((1, 1), abs=1e-15)


def test_the_profile_is_h_accuracy_at_equal_priorities() -> None:
    truth, risk = sample(120, 3)
    profile = curved(classes.h_accuracy_profile(truth, risk))
    assert profile.columns["tau"] == pytest.approx([0.25 + 0.015 * step for step in range(51)], abs=1e-12)
    for position in (0, 17, 50):
        tau = profile.columns["tau"][position] or 0.0
        expected = estimated(classes.h_accuracy(truth, risk, [0.25] * 4, tau)).value
        assert profile.columns["h_accuracy"][position] == pytest.approx(expected, abs=1e-12)


def test_two_classes_are_twice_the_brier_score_and_the_same_log_score_and_auroc() -> None:
    rng = np.random.default_rng(9)
    p = np.round(rng.beta(2, 3, 150), 2)
    y = (rng.random(150) < p).astype(int)
    risk = np.column_stack((1 - p, p))
    pairs = (
        (classes.brier(y, risk), calibration.brier(y.astype(float), p), 2),
        (classes.log_score(y, risk), calibration.log_score(y.astype(float), p), 1),
        (classes.auroc(y, risk), discrimination.auroc(y.astype(float), p), 1),
    )
    for several, two, times in pairs:
        a, b = estimated(several), estimated(two)
        assert (a.value, a.se) == pytest.approx((times * b.value, times * (b.se or 0)), abs=1e-12)
        assert a.low == pytest.approx(times * (b.low or 0), abs=1e-12)


def test_two_classes_differ_from_the_rival_as_one_outcome_does() -> None:
    rng = np.random.default_rng(3)
    p, q = np.round(rng.beta(2, 3, 90), 2), np.round(rng.beta(2, 3, 90), 2)
    y = (rng.random(90) < p).astype(int)
    risk, rival = (np.column_stack((1 - each, each)) for each in (p, q))
    several = estimated(classes.auroc_difference(y, risk, rival))
    two = estimated(comparison.auroc_difference(y.astype(float), p, q))
    for a, b in ((several.low, two.low), (several.high, two.high), (several.se, two.se)):
        assert a == pytest.approx(b, abs=1e-12)
    assert several.details["p_value"] == pytest.approx(two.details["p_value"], abs=1e-12)


def test_components_add_up_to_delong_in_each_class() -> None:
    truth, risk = sample(200, 5)
    _, parts = classes.structural_components(truth, risk)
    for index in range(4):
        alone = estimated(discrimination.auroc((truth == index).astype(float), risk[:, index]))
        assert math.sqrt(float((present(parts)[:, index] ** 2).sum())) == pytest.approx(alone.se, abs=1e-12)


# ---- intervals ------------------------------------------------------------------------------------------------------


def test_the_interval_of_the_mean_auroc_covers() -> None:
    """300 samples of 200 rows: a coverage of .95 lies within .92 and .98 but for a chance of about 1 %."""
    truth = estimated(classes.auroc(*sample(400_000, 1))).value
    found = [estimated(classes.auroc(*sample(200, seed))) for seed in range(10, 310)]
    held = np.mean([(estimate.low or 0) <= truth <= (estimate.high or 0) for estimate in found])
    assert 0.915 <= held <= 0.98


def ratio(outcome: Floats, risk: Floats) -> Estimate | Absent:
    return calibration.oe_ratio(outcome, risk)


def test_the_shared_bootstrap_covers_and_is_narrower_than_the_mean_of_the_bounds() -> None:
    held, shared, apart = 0, 0.0, 0.0
    for seed in range(60):
        truth, risk = sample(150, 1000 + seed)
        each = [estimated(ratio((truth == index).astype(float), risk[:, index])) for index in range(4)]
        found = classes.mean_over_rows(truth, risk, ratio, each, 0.95, 80, seed)
        bounds = classes.mean_of_bounds(each, 0.95, 150)
        assert found.value == bounds.value == pytest.approx(sum(estimate.value for estimate in each) / 4, abs=1e-12)
        held += (found.low or 0) <= 1 <= (found.high or 0)
        shared += (found.high or 0) - (found.low or 0)
        apart += (bounds.high or 0) - (bounds.low or 0)
    # The classes of a calibrated model have a true ratio of 1 each; binomial(60, .95) is 51 or less once in 500.
    assert held >= 52
    assert shared < apart


def test_the_order_of_the_rows_does_not_matter() -> None:
    truth, risk = sample(90, 2)
    rival = sample(90, 8)[1]
    order = np.random.default_rng(0).permutation(90)
    each = [estimated(ratio((truth == index).astype(float), risk[:, index])) for index in range(4)]
    assert classes.mean_over_rows(truth, risk, ratio, each, 0.95, 30, 1) == classes.mean_over_rows(
        truth[order], risk[order], ratio, each, 0.95, 30, 1
    )
    for first, other in (
        (classes.brier(truth, risk), classes.brier(truth[order], risk[order])),
        (classes.auroc(truth, risk), classes.auroc(truth[order], risk[order])),
        (
            classes.brier_difference(truth, risk, rival),
            classes.brier_difference(truth[order], risk[order], rival[order]),
        ),
        (
            classes.accuracy_difference(truth, risk, rival),
            classes.accuracy_difference(truth[order], risk[order], rival[order]),
        ),
    ):
        a, b = estimated(first), estimated(other)
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), abs=1e-12)
        assert a.details.get("p_value") == b.details.get("p_value")


@pytest.mark.parametrize(("low", "high"), [(0.5, 4.0), (None, 4.0), (0.5, None), (None, None)])
def test_the_mean_of_the_bounds_by_hand(low: float | None, high: float | None) -> None:
    each = [Estimate(1.0, low, high, 0.9, 7, Method("wald")), Estimate(4.0, 2.5, 8.0, 0.9, 7, Method("wald"))]
    found = classes.mean_of_bounds(each, 0.9, 7)
    assert (found.value, found.n) == (2.5, 7)
    assert found.low == (None if low is None else 1.5)
    assert found.high == (None if high is None else 6.0)
    if low is None or high is None:
        assert found.reason == Said("the interval of a class is missing")
    else:
        assert (found.level, found.reason) == (0.9, None)


def foretold(values: Sequence[float | None]) -> classes.OneAgainstRest:
    """A measure that gives each replicate of two classes the next of these values; None is no value."""
    calls = itertools.count()

    def measure(outcome: Floats, risk: Floats) -> Estimate | Absent:
        value = values[next(calls) // 2]
        return (
            Absent(because("no value"))
            if value is None
            else Estimate(value, None, None, None, len(outcome), Method("wald"))
        )

    return measure


def over_replicates(values: Sequence[float | None], asked: int | None = None) -> Estimate:
    """The mean of two classes that are both 5, from replicates with these values."""
    truth, risk = sample(6, 1, 2)
    each = [Estimate(5.0, None, None, None, 6, Method("wald"))] * 2
    return classes.mean_over_rows(truth, risk, foretold(values), each, 0.95, asked or len(values), 1)


def test_the_shared_bootstrap_by_hand() -> None:
    """0 to 9 have a variance of 82.5/9."""
    found = over_replicates([float(value) for value in range(10)])
    half = 1.959963984540054 * math.sqrt(82.5 / 9)
    assert found.se == pytest.approx(math.sqrt(82.5 / 9), abs=1e-12)
    assert (found.value, found.low, found.high) == pytest.approx((5, 5 - half, 5 + half), abs=1e-12)
    assert method_text(found.method).endswith("; 10 bootstrap replicates of rows shared by the classes")
    assert over_replicates([0.0, 2.0]).se == pytest.approx(math.sqrt(2), abs=1e-12)


def test_a_tenth_of_the_replicates_may_lack_a_value_and_no_more() -> None:
    values: list[float | None] = [float(value) for value in range(10)]
    assert over_replicates([*values[:9], None]).se == pytest.approx(math.sqrt(60 / 8), abs=1e-12)
    few = over_replicates([*values[:8], None, None])
    assert (few.value, few.low, few.high, few.se) == (5, None, None, None)
    assert few.reason == Said("only 8 of 10 bootstrap replicates allow a value of every class")
    assert over_replicates([1.0]).reason == Said("only 1 of 1 bootstrap replicates allow a value of every class")


@pytest.mark.parametrize(("asked", "shared"), [(199, 199), (200, 200), (201, 200), (1000, 200)])
def test_at_most_two_hundred_replicates_are_shared(asked: int, shared: int) -> None:
    found = over_replicates([float(value % 7) for value in range(1000)], asked)
    assert f"; {shared} bootstrap replicates" in method_text(found.method)


@pytest.mark.parametrize("value", [5.0, 1e6 / 3])
def test_replicates_that_differ_by_rounding_only_allow_no_interval(value: float) -> None:
    truth, risk = sample(6, 1, 2)
    each = [Estimate(value, None, None, None, 6, Method("wald"))] * 2
    found = classes.mean_over_rows(truth, risk, foretold([value, math.nextafter(value, 0)] * 10), each, 0.95, 20, 1)
    assert (found.low, found.high, found.se) == (None, None, None)
    assert found.reason == Said("the rows do not vary enough to estimate an interval")


def test_every_row_can_be_drawn_into_a_replicate() -> None:
    truth, risk = sample(5, 1, 2)
    seen: set[float] = set()

    def measure(outcome: Floats, risk: Floats) -> Estimate | Absent:
        seen.update(risk.tolist())
        return Estimate(float(risk.mean()), None, None, None, len(outcome), Method("wald"))

    classes.mean_over_rows(truth, risk, measure, [Estimate(0.5, None, None, None, 5, Method("wald"))] * 2, 0.95, 50, 1)
    assert seen == set(risk.ravel().tolist())


def test_two_rows_of_a_class_are_enough_for_an_interval() -> None:
    """One pair of six is in the wrong order: AUROC 5/6, variance (1/12)/3 + (1/18)/2 = 1/18 by DeLong."""
    truth, p = np.array([0, 0, 0, 1, 1]), np.array([0.1, 0.2, 0.7, 0.6, 0.8])
    risk = np.column_stack((1 - p, p))
    for found in (classes.auroc(truth, risk), classes.auroc(1 - truth, risk[:, ::-1])):
        assert estimated(found).value == pytest.approx(5 / 6, abs=1e-12)
        assert estimated(found).se == pytest.approx(math.sqrt(1 / 18), abs=1e-12)
        assert estimated(found).low is not None


def test_bounds_stop_at_the_ends_of_the_range() -> None:
    """Three of four rows lie at one end, one at the other: the plain t interval passes the nearer end."""
    truth, right, wrong = np.zeros(4, dtype=int), named(0, 0, 0, 0), named(1, 1, 1, 0)
    found = estimated(classes.brier(truth, wrong))
    assert (found.value, found.low, found.high) == (1.5, 0, 2)
    found = estimated(classes.brier_difference(truth, wrong, right))
    assert (found.value, found.high) == (1.5, 2)
    found = estimated(classes.brier_difference(truth, right, wrong))
    assert (found.value, found.low) == (-1.5, -2)
    found = estimated(classes.log_score(truth, np.array([[1.0, 0], [1, 0], [1, 0], [0.1, 0.9]])))
    assert found.value == pytest.approx(math.log(0.1) / 4)
    assert found.high == 0


def test_the_difference_of_two_aurocs_stops_at_one() -> None:
    """Against a perfect order stands one with a single pair of nine right."""
    truth, p, q = np.array([0, 0, 0, 1, 1, 1]), np.array([1, 2, 3, 4, 5, 6]) / 7, np.array([4, 5, 2, 1, 3, 0]) / 7
    perfect, poor = (np.column_stack((1 - number, number)) for number in (p, q))
    found = estimated(classes.auroc_difference(truth, perfect, poor))
    assert found.value == pytest.approx(8 / 9)
    assert found.high == 1
    found = estimated(classes.auroc_difference(truth, poor, perfect))
    assert found.value == pytest.approx(-8 / 9)
    assert found.low == -1


# ---- counts of patients ---------------------------------------------------------------------------------------------


def test_only_rows_with_several_largest_risks_are_ties() -> None:
    truth = np.array([0, 1, 2])
    risk = np.array([[1 / 3, 1 / 3, 1 / 3], [0.2, 0.4, 0.4], [0.2, 0.3, 0.5]])
    found = estimated(classes.accuracy(truth, risk))
    assert (found.value, found.details["ties"]) == (1, 2)
    words = "; ties for the largest risk in 2 rows, the first class taken"
    assert (method_text(found.method), method_text(curved(classes.confusion_matrix(truth, risk)).method)) == (
        "Wilson" + words,
        "counts" + words,
    )
    clear = estimated(classes.accuracy(truth[2:], risk[2:]))
    assert (method_text(clear.method), clear.details["ties"]) == ("Wilson", 0)


def site(name: str, found: Curve | Absent) -> SiteResults:
    summary = DatasetSummary(name, "external", name, 1, None, 1, {}, ())
    return SiteResults(summary, (), (CurveResult("confusion_matrix", name, found),))


def test_the_confusion_matrices_of_the_sites_by_hand() -> None:
    north = curved(classes.confusion_matrix(np.array([0, 1, 1, 1, 1]), named(0, 0, 1, 1, 1)))
    assert list(north.columns["share_of_true"]) == [1, 0.25, 0, 0.75]
    south = curved(classes.confusion_matrix(np.array([0, 0, 1]), named(0, 1, 1)))
    both = [site("north", north), site("east", Absent(because("there are no rows"))), site("south", south)]
    found = curved(classes.confusion_matrix_all_sites(both))
    assert (found.columns["predicted"], found.columns["true"]) == ((0, 0, 1, 1), (0, 1, 0, 1))
    assert (found.columns["count"], found.n) == ((2, 1, 1, 4), 8)
    assert found.columns["share_of_true"] == pytest.approx((2 / 3, 0.2, 1 / 3, 0.8), abs=1e-12)
    only = [site("north", classes.confusion_matrix(np.array([0, 1, 1]), named(0, 0, 1)))]
    assert curved(classes.confusion_matrix_all_sites(only)).columns["count"] == (1, 1, 0, 1)


def test_no_site_has_a_confusion_matrix() -> None:
    nothing = Said("no external site has a confusion matrix")
    for sites in ([], [site("east", Absent(because("there are no rows")))]):
        assert classes.confusion_matrix_all_sites(sites) == nothing


# ---- sample size and robustness -------------------------------------------------------------------------------------


def test_the_sample_size_of_the_brier_score_by_hand() -> None:
    """Squared distances of 0 and .5 have an SD of .25: (2 x 1.96 x .25 / .05)^2 = 19.6^2."""
    truth, risk = np.array([0, 1]), np.array([[1.0, 0.0], [0.5, 0.5]])
    found = estimated(classes.mss_brier(truth, risk))
    assert found.value == pytest.approx(384.16)
    assert (found.n, found.low, found.high) == (2, None, None)
    assert (found.details["width"], found.reason) == (0.05, Said("a sample size has no interval"))
    assert estimated(classes.mss_brier(truth, risk, 0.1)).value == pytest.approx(96.04)
    alike = Said("every squared error is the same, so the formula sees no spread")
    assert classes.mss_brier(truth, np.full((2, 2), 0.5)) == alike


def test_the_performance_of_each_split_by_hand() -> None:
    """The first split is in the wrong order, the second in the right one, and the third has one class only."""
    truth, split = np.array([0, 0, 0, 1, 1, 1]), np.array([7, 3, 9, 3, 7, 7])
    risk = named(0, 1, 0, 0, 1, 1)
    found = curved(classes.split_performance(truth, risk, split))
    assert found.columns == {"split": (1, 2, 3), "auroc": (0, 1, None)}
    assert (found.n, method_text(found.method)) == (6, "3 refitted splits")


def test_every_split_is_there_for_the_minimum() -> None:
    found = curved(classes.split_performance(*sample(300, 1, 2), np.arange(300)))
    assert (len(found.columns["auroc"]), method_text(found.method)) == (300, "300 refitted splits")
    assert found.columns["split"] == tuple(range(1, 301))


def test_without_splits_it_is_a_hundred_fifths_of_the_rows() -> None:
    """Of the 45 pairs of ten rows 20 are of one class, which allows no AUROC; 2,500 draws are within 3.5 errors."""
    truth = np.repeat((0, 1), 5)
    risk = np.linspace((0.9, 0.1), (0.1, 0.9), 10)
    found = [curved(classes.split_performance(truth, risk, seed=seed)) for seed in range(25)]
    assert method_text(found[0].method) == "100 random subsets of 20% of the rows, the model not refitted"
    assert {len(curve.columns["auroc"]) for curve in found} == {100}
    values = [value for curve in found for value in curve.columns["auroc"]]
    assert set(values) == {None, 1.0}
    assert values.count(None) / 2500 == pytest.approx(20 / 45, abs=0.035)
    assert found[0] == classes.split_performance(truth[::-1], risk[::-1], seed=0)
    assert set(curved(classes.split_performance(truth[:1], risk[:1])).columns["auroc"]) == {None}


# ---- comparison -----------------------------------------------------------------------------------------------------


def test_the_exact_mcnemar_test_by_hand() -> None:
    """Six rows the model alone has right, one the rival alone: p = 2 (C(7,0) + C(7,1)) / 2^7 = .125."""
    truth = np.array([0] * 7 + [1] * 3)
    names = np.array([0] * 6 + [1] + [1] * 3), np.array([1] * 6 + [0] + [1] * 3)
    risk, rival = (np.array([[0.8 if index == each else 0.1 for index in range(3)] for each in who]) for who in names)
    found = estimated(classes.accuracy_difference(truth, risk, rival))
    assert (found.details["only_model"], found.details["only_rival"]) == (6, 1)
    assert found.details["p_value"] == pytest.approx(0.125, abs=1e-12)
    assert found.value == pytest.approx(0.5)
    assert found.events is None


def test_a_model_against_itself_differs_by_nothing() -> None:
    truth, risk = sample(60, 4)
    for found in (
        classes.auroc_difference(truth, risk, risk),
        classes.brier_difference(truth, risk, risk),
        classes.log_score_difference(truth, risk, risk),
        classes.accuracy_difference(truth, risk, risk),
    ):
        assert estimated(found).value == 0


# ---- what cannot be measured ----------------------------------------------------------------------------------------


def test_no_rows_and_one_row() -> None:
    nobody, nothing = np.zeros(0, dtype=int), np.zeros((0, 3))
    for measure in (classes.auroc, classes.brier, classes.log_score, classes.accuracy, classes.mss_brier):
        assert measure(nobody, nothing) == Said("there are no rows")
    for compare in (classes.brier_difference, classes.log_score_difference, classes.accuracy_difference):
        assert compare(nobody, nothing, nothing) == Said("there are no rows")
    assert classes.confusion_matrix(nobody, nothing) == Said("there are no rows")
    assert classes.split_performance(nobody, nothing) == Said("there are no rows")
    each, risk = np.array([1]), np.array([[0.2, 0.5, 0.3]])
    assert classes.auroc(each, risk, ("a", "b", "c")) == Said("no row is of class a or c")
    assert estimated(classes.brier(each, risk)).low is None
    assert estimated(classes.log_score(each, risk)).value == pytest.approx(math.log(0.5))


def test_the_difference_on_a_single_row_has_no_interval() -> None:
    each, risk, rival = np.array([1]), np.array([[0.2, 0.5, 0.3]]), named(0, k=3)
    found = estimated(classes.brier_difference(each, risk, rival))
    assert found.value == pytest.approx(0.04 + 0.25 + 0.09 - 2)
    assert found.low is None
    assert estimated(classes.accuracy_difference(each, risk, rival)).value == 1
    assert estimated(classes.log_score_difference(each, risk, risk)).value == 0
    words = "the log score is minus infinity: 1 row gives the true class a risk of 0"
    assert classes.log_score_difference(each, risk, rival) == Said(f"for the other model, {words}")
    assert classes.log_score_difference(each, rival, risk) == Said(f"for the model, {words}")


def test_a_risk_above_one_by_rounding_is_certainty() -> None:
    assert estimated(classes.log_score(np.array([0, 1]), named(0, 1) * (1 + 5e-7))).value == 0


@pytest.mark.parametrize(("priority", "counts"), [("0.5,0.25,0.25", True), ("0.5,0.5,0", False)])
def test_a_single_row_takes_the_interval_of_h_accuracy_away_where_its_class_counts(priority: str, counts: bool) -> None:
    truth = np.array([0, 0, 0, 1, 1, 1, 2])
    found = estimated(classes.h_accuracy(truth, sample(7, 3, 3)[1], priority, 0.6))
    assert (found.low is None, found.high is None) == (counts, counts)
    assert found.reason == (SINGLE_ROW if counts else None)


def test_a_class_never_seen_is_named() -> None:
    truth, risk = np.array([0, 0, 1, 1]), np.full((4, 3), 1 / 3)
    assert classes.auroc(truth, risk, ("a", "b", "c")) == Said("no row is of class c")
    assert curved(classes.confusion_matrix(truth, risk)).columns["share_of_true"][2::3] == (None, None, None)


def test_a_class_never_predicted_and_ties_everywhere() -> None:
    truth, risk = np.array([0, 1, 2, 2]), np.full((4, 3), 1 / 3)
    found = estimated(classes.accuracy(truth, risk))
    assert (found.value, found.details["ties"], found.details["largest_class"]) == (0.25, 4, 0.5)
    assert "ties for the largest risk in 4 rows" in method_text(found.method)
    assert estimated(classes.h_accuracy(truth, risk, "equal", 1 / 3)).value == pytest.approx(1 / 3)
    assert list(curved(classes.confusion_matrix(truth, risk)).columns["count"]) == [1, 1, 2, 0, 0, 0, 0, 0, 0]
    auroc = estimated(classes.auroc(np.array([0, 0, 1, 1, 2, 2]), np.full((6, 3), 1 / 3)))
    assert (auroc.value, auroc.low, auroc.reason) == (0.5, None, NO_SPREAD)


@pytest.mark.parametrize("single", [0, 1, 2])
def test_a_class_of_a_single_row_counts_with_its_own_auroc(single: int) -> None:
    """The order is perfect but for one of the four other rows, which stands above the single one."""
    truth = np.repeat(range(3), [1 if index == single else 2 for index in range(3)])
    risk = np.eye(3)[truth]
    risk[np.flatnonzero(truth != single)[0], single] = 2
    found = estimated(classes.auroc(truth, risk))
    assert found.value == pytest.approx((1 + 1 + 0.75) / 3, abs=1e-12)
    assert (found.low, found.high, found.reason) == (None, None, classes.SINGLE_ROW)
    difference = estimated(classes.auroc_difference(truth, risk, np.eye(3)[truth]))
    assert difference.value == pytest.approx(-0.25 / 3, abs=1e-12)
    assert (difference.low, difference.high, difference.details["p_value"]) == (None, None, None)
    assert difference.reason == classes.SINGLE_ROW
    assert difference.events is None


def test_a_class_of_a_single_row_and_a_perfect_model_have_no_interval() -> None:
    truth = np.array([0, 0, 0, 1, 1, 1, 2])
    found = estimated(classes.auroc(truth, sample(7, 3, 3)[1]))
    assert (found.low, found.reason) == (None, classes.SINGLE_ROW)
    perfect = np.eye(3)[[0, 0, 1, 1, 2, 2]]
    found = estimated(classes.auroc(np.array([0, 0, 1, 1, 2, 2]), perfect))
    assert (found.value, found.low) == (1.0, None)
    assert estimated(classes.brier(np.array([0, 0, 1, 1, 2, 2]), perfect)).value == 0
    index = estimated(
        classes.error_severity_index(np.array([0, 0, 1, 1, 2, 2]), perfect, [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    )
    assert index.value == 0
    assert index.reason == NO_ERRORS


def test_a_true_class_without_risk_has_no_log_score() -> None:
    truth, risk = np.array([0, 1, 2]), np.array([[1.0, 0, 0], [1.0, 0, 0], [0, 0.5, 0.5]])
    assert classes.log_score(truth, risk) == Said(
        "the log score is minus infinity: 1 row gives the true class a risk of 0"
    )


def test_weights_of_another_size_are_refused() -> None:
    truth, risk = sample(20, 1, 3)
    wrong = Said("the severity weights are no table of 3 rows and 3 columns")
    assert classes.error_severity_index(truth, risk, DISTANCE) == wrong
    assert classes.mean_severity(truth, risk, DISTANCE) == wrong
    assert classes.confusion_matrix(truth, risk, DISTANCE) == wrong


def test_the_difference_of_severity_by_hand(graft: tuple[np.ndarray, Floats, Floats]) -> None:
    truth, risk, rival = graft
    said, theirs = (classes.predicted_class(given)[0] for given in (risk, rival))
    rows = [DISTANCE[a][y] - DISTANCE[b][y] for a, b, y in zip(said, theirs, truth, strict=True)]
    found = estimated(classes.mean_severity_difference(truth, risk, rival, DISTANCE))
    test = ttest_1samp(rows, 0)
    low, high = test.confidence_interval(0.95)
    assert (found.value, found.low, found.high) == pytest.approx((float(np.mean(rows)), low, high))
    assert found.details["p_value"] == pytest.approx(test.pvalue)
    assert estimated(classes.mean_severity_difference(truth, risk, risk, DISTANCE)).low is None
