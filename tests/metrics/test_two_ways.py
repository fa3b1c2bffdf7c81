"""Closed forms a second time, slowly and obviously, on hundreds of small tables with ties; and identities of theory.

What stands here has no such twin in the tests of its chapter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist, mean, variance

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from dossier.core.types import Absent, DecisionCounts, Estimate, ReaderStudy
from dossier.metrics import discrimination, human_factors
from dossier.metrics.calibration import brier, log_score, nagelkerke_r2, scaled_brier, tjur_r2
from dossier.metrics.graded_accuracy import credit, h_accuracy
from dossier.metrics.sample import mss_auroc, mss_brier, mss_oe, mss_slope, mss_snb
from tests.estimated import estimated, present
from tests.metrics.parts import arrays, h_accuracy_of

Z = NormalDist().inv_cdf(0.975)
CLOSE = 1e-12
MANY = settings(deadline=None, max_examples=300)
RISKS = st.sampled_from([0.01, 0.1, 0.25, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.99])
TABLES = st.lists(st.tuples(st.integers(0, 1), RISKS), min_size=1, max_size=16)
BOTH = TABLES.map(lambda rows: [(0, 0.25), (1, 0.4), *rows])
"""Tables with a case and another."""
CUTS = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.9])


def counted(rows: list[tuple[int, float]], cut: float) -> tuple[int, int, int, int]:
    """True and false positives, false and true negatives, one row after the other."""
    tp = fp = fn = tn = 0
    for y, p in rows:
        if p >= cut:
            tp, fp = (tp + 1, fp) if y else (tp, fp + 1)
        else:
            fn, tn = (fn + 1, tn) if y else (fn, tn + 1)
    return tp, fp, fn, tn


# ---- scores ---------------------------------------------------------------------------------------------------------


@given(TABLES)
@MANY
def test_brier_and_log_score_row_by_row(rows: list[tuple[int, float]]) -> None:
    y, p = arrays(rows)
    scores = [(risk - label) ** 2 for label, risk in rows]
    logs = [math.log(risk) if label else math.log(1 - risk) for label, risk in rows]
    for found, terms, floor, ceiling in (
        (estimated(brier(y, p)), scores, 0.0, 1.0),
        (estimated(log_score(y, p)), logs, -math.inf, 0.0),
    ):
        assert found.value == pytest.approx(sum(terms) / len(terms), abs=CLOSE)
        if len(terms) > 1 and max(terms) - min(terms) > 1e-9:
            se = math.sqrt(variance(terms) / len(terms))
            half = student.ppf(0.975, len(terms) - 1) * se
            assert found.se == pytest.approx(se, abs=CLOSE)
            expected = (max(floor, found.value - half), min(ceiling, found.value + half))
            assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


@given(BOTH)
@MANY
def test_scaled_brier_nagelkerke_and_tjur_row_by_row(rows: list[tuple[int, float]]) -> None:
    y, p = arrays(rows)
    n, phi = len(rows), sum(label for label, _ in rows) / len(rows)
    score = sum((risk - label) ** 2 for label, risk in rows) / n
    scaled = estimated(scaled_brier(y, p))
    assert scaled.value == pytest.approx(1 - score / (phi * (1 - phi)), abs=1e-11)
    # The delta method: B/(phi(1 - phi)) moves with B and with phi.
    spread = phi * (1 - phi)
    pulls = [
        -((risk - label) ** 2 - score) / spread + score * (1 - 2 * phi) / spread**2 * (label - phi)
        for label, risk in rows
    ]
    expected = math.sqrt(sum(pull**2 for pull in pulls)) / n
    if expected > 1e-9:
        assert scaled.se == pytest.approx(expected * math.sqrt(n / (n - 1)), rel=1e-9)
    fitted = sum(math.log(risk) if label else math.log(1 - risk) for label, risk in rows)
    null = sum(math.log(phi) if label else math.log(1 - phi) for label, _ in rows)
    r2 = (1 - math.exp(2 * (null - fitted) / n)) / (1 - math.exp(2 * null / n))
    assert estimated(nagelkerke_r2(y, p, bootstrap=2)).value == pytest.approx(r2, abs=1e-10)
    gap = mean(risk for label, risk in rows if label) - mean(risk for label, risk in rows if not label)
    assert estimated(tjur_r2(y, p)).value == pytest.approx(gap, abs=CLOSE)


# ---- the measures that call for caution, and what their caveats rest on ---------------------------------------------


Measure = Callable[..., Estimate | Absent]


@pytest.mark.parametrize(
    "measure",
    [discrimination.markedness, discrimination.mcc, discrimination.f1, discrimination.cohen_kappa_of_model],
    ids=lambda text: text.__name__,
)
@given(rows=st.lists(st.tuples(st.integers(0, 1), RISKS), max_size=6), cut=st.sampled_from([0.25, 0.3, 0.5]))
@settings(deadline=None, max_examples=60)
def test_what_a_measure_would_be_elsewhere(measure: Measure, rows: list[tuple[int, float]], cut: float) -> None:
    """The details hold what the measure itself gives on a table of that prevalence."""
    rows = [(0, 0.25), (1, 0.4), *rows]
    here = measure(*arrays(rows), cut)
    for per_hundred in (10, 50):
        # The rows repeated until so many in a hundred are cases: the same sensitivity and specificity.
        ill, well = [row for row in rows if row[0]], [row for row in rows if not row[0]]
        repeated = ill * (per_hundred * len(well)) + well * ((100 - per_hundred) * len(ill))
        there = measure(*arrays(repeated), cut)
        if isinstance(here, Absent):
            continue
        found = here.details[f"at_prevalence_{per_hundred}"]
        if isinstance(there, Absent):
            assert found is None
        else:
            assert found == pytest.approx(there.value, abs=1e-9)


def test_no_prevalence_to_go_to_with_one_class() -> None:
    for label in (0.0, 1.0):
        for measure in (discrimination.f1, discrimination.markedness):
            details = estimated(measure(np.full(4, label), np.array([0.1, 0.2, 0.6, 0.7]), 0.5)).details
            assert details == {"at_prevalence_10": None, "at_prevalence_50": None}


@given(BOTH, CUTS)
@MANY
def test_the_most_that_the_margins_allow_kappa(rows: list[tuple[int, float]], cut: float) -> None:
    """By trying every table with these margins."""
    tp, fp, fn, _ = counted(rows, cut)
    found = estimated(discrimination.cohen_kappa_of_model(*arrays(rows), cut))
    n, flagged, cases = len(rows), tp + fp, tp + fn
    best = -math.inf
    for hits in range(max(0, flagged + cases - n), min(flagged, cases) + 1):
        right = hits + (n - flagged - cases + hits)
        chance = (flagged * cases + (n - flagged) * (n - cases)) / n**2
        best = max(best, (right / n - chance) / (1 - chance))
    assert found.details["maximum"] == pytest.approx(best, abs=CLOSE)
    assert found.value <= best + CLOSE


@given(BOTH, CUTS)
@MANY
def test_what_one_false_alarm_counts(rows: list[tuple[int, float]], cut: float) -> None:
    """One more false alarm lowers balanced accuracy as much as so many more missed cases do."""
    tp, fp, fn, tn = counted(rows, cut)
    by_alarm, by_miss = 1 / (fp + tn), 1 / (tp + fn)
    for measure in (discrimination.balanced_accuracy, discrimination.youden_j):
        details = estimated(measure(*arrays(rows), cut)).details
        assert details["false_alarm_weight"] == pytest.approx(by_alarm / by_miss, abs=CLOSE)
        assert details["declared_weight"] == pytest.approx(cut / (1 - cut), abs=CLOSE)
    assert estimated(discrimination.balanced_accuracy(*arrays(rows), 1.0)).details["declared_weight"] is None


@given(TABLES, CUTS)
@MANY
def test_everybody_given_the_same_answer(rows: list[tuple[int, float]], cut: float) -> None:
    ill = sum(1 for label, _ in rows if label)
    best = max(ill, len(rows) - ill) / len(rows)
    assert estimated(discrimination.accuracy(*arrays(rows), cut)).details["larger_class"] == pytest.approx(
        best, abs=CLOSE
    )


@given(BOTH, st.sampled_from([0.2, 0.5, 0.8]))
@settings(deadline=None, max_examples=60)
def test_what_a_part_leaves_out_is_what_the_other_part_has(rows: list[tuple[int, float]], cut: float) -> None:
    y, p = arrays(rows)
    found = [discrimination.balanced_average_accuracy(y, p, part, bootstrap=2) for part in ((0.0, cut), (cut, 1.0))]
    if all(isinstance(estimate, Estimate) for estimate in found):
        low, high = (estimated(estimate).details for estimate in found)
        assert low["left_out"] == pytest.approx(high["half_sum"], abs=1e-9)
        assert high["left_out"] == pytest.approx(low["half_sum"], abs=1e-9)


# ---- identities -----------------------------------------------------------------------------------------------------

STEPS = st.lists(st.floats(0.001, 5), min_size=11, max_size=11)


@given(BOTH, STEPS)
@MANY
def test_auroc_does_not_change_under_a_monotone_transform(rows: list[tuple[int, float]], steps: list[float]) -> None:
    """Any increasing function of the risk: value, standard error and interval stay."""
    y, p = arrays(rows)
    ladder = dict(zip(sorted({risk for _, risk in rows}), np.cumsum(steps) / (1 + sum(steps)), strict=False))
    moved = np.array([ladder[risk] for _, risk in rows])
    first, other = estimated(discrimination.auroc(y, p)), estimated(discrimination.auroc(y, moved))
    assert other == first
    assert [column.tolist() for column in discrimination.placements(y, p)] == [
        column.tolist() for column in discrimination.placements(y, moved)
    ]


@given(BOTH, st.floats(0.1, 1), st.floats(0.1, 1))
@MANY
def test_balanced_accuracy_is_an_h_accuracy(rows: list[tuple[int, float]], first: float, other: float) -> None:
    """Equal priority, tau one half, complexity constant within each class; equal to ours where no risk is one half."""
    y, p = arrays([(label, risk if risk != 0.5 else 0.6) for label, risk in rows])
    complexity = np.where(y == 1, first, other)
    scores = np.column_stack((1 - p, p))
    found = present(h_accuracy_of(y.astype(np.int64), scores, np.array([0.5, 0.5]), 0.5, complexity))
    expected = estimated(discrimination.balanced_accuracy(y, p, 0.5)).value
    assert found[0] == pytest.approx(expected, abs=CLOSE)
    assert estimated(h_accuracy(y, p, 0.5, 0.5)).value == pytest.approx(expected, abs=CLOSE)


@given(st.lists(st.tuples(st.integers(0, 2), st.permutations([0.5, 0.3, 0.2])), min_size=1, max_size=9))
@settings(deadline=None, max_examples=100)
def test_h_accuracy_of_three_classes_by_a_loop(rows: list[tuple[int, list[float]]]) -> None:
    rows = [*rows, (0, [0.4, 0.4, 0.2]), (1, [0.25, 0.5, 0.25]), (2, [0.4, 0.3, 0.3])]
    tau, priority = 0.5, (0.2, 0.3, 0.5)
    expected = 0.0
    for label, weight in enumerate(priority):
        mine = [scores for own, scores in rows if own == label]
        gained = 0.0
        for scores in mine:
            if scores[label] == max(scores):
                gained += min(1.0, (scores[label] - 1 / 3) / (tau - 1 / 3)) / scores.count(max(scores))
        expected += weight * gained / len(mine)
    classes, table = np.array([own for own, _ in rows]), np.array([scores for _, scores in rows])
    found = present(h_accuracy_of(classes, table, np.array(priority), tau))
    assert found[0] == pytest.approx(expected, abs=CLOSE)
    assert credit(classes, table, tau).min() >= 0


# ---- sample size ----------------------------------------------------------------------------------------------------


@given(BOTH, st.sampled_from([0.1, 0.2, 0.3]))
@settings(deadline=None, max_examples=100)
def test_sample_sizes_by_hand(rows: list[tuple[int, float]], width: float) -> None:
    y, p = arrays(rows)
    n, phi = len(rows), sum(label for label, _ in rows) / len(rows)
    s = math.asinh(width / 2) / 1.96
    assert estimated(mss_oe(y, width)).value == math.ceil((1 - phi) / (phi * s * s) - 1e-9)
    squared = [(risk - label) ** 2 for label, risk in rows]
    centre = sum(squared) / n
    spread = sum((value - centre) ** 2 for value in squared) / n
    size = mss_brier(y, p, width)
    if spread > 1e-12:
        assert estimated(size).value == pytest.approx(4 * 1.96**2 * spread / width**2, rel=1e-9)
    a = b = ab = 0.0
    for _, risk in rows:
        x, weight = math.log(risk / (1 - risk)), risk * (1 - risk)
        a, b, ab = a + weight / n, b + weight * x * x / n, ab + weight * x / n
    slope = mss_slope(y, p, width)
    if isinstance(slope, Estimate):
        assert slope.value == pytest.approx(a / ((width / 3.92) ** 2 * (a * b - ab * ab)), rel=1e-6)
    tp, fp, fn, tn = counted(rows, 0.3)
    se, sp, w = tp / (tp + fn), tn / (tn + fp), (1 - phi) / phi * 0.3 / 0.7
    total = se * (1 - se) / phi + w * w * sp * (1 - sp) / (1 - phi) + w * w * (1 - sp) ** 2 / (phi * (1 - phi))
    needed = mss_snb(y, p, 0.3, width)
    if isinstance(needed, Estimate):
        assert needed.value == pytest.approx(total / (width / 3.92) ** 2, rel=1e-9)
    else:
        assert total == pytest.approx(0, abs=CLOSE)


@given(BOTH)
@settings(deadline=None, max_examples=60)
def test_the_sample_size_of_the_auroc_by_counting_up(rows: list[tuple[int, float]]) -> None:
    y, p = arrays(rows)
    found = mss_auroc(y, p, 0.3)
    a, phi = estimated(discrimination.auroc(y, p)).value, float(np.mean(y))
    if isinstance(found, Absent):
        assert a in (0, 1)
        return
    n = 1
    while True:
        inner = 1 + (n / 2 - 1) * (1 - a) / (2 - a) + (n / 2 - 1) * a / (1 + a)
        if a * (1 - a) * inner / (n * n * phi * (1 - phi)) <= (0.3 / 3.92) ** 2:
            break
        n += 1
    assert found.value == n


# ---- readers --------------------------------------------------------------------------------------------------------

DECISIONS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=24
)
"""Reader, truth, unaided, aided."""


def of(rows: list[tuple[int, int, int, int]]) -> ReaderStudy:
    reader, truth, unaided, aided = (np.array(column) for column in zip(*rows, strict=True))
    aie, ce = int(np.sum(aided != truth)), int(np.sum(unaided != truth))
    counts = DecisionCounts(aie, len(rows) - aie, ce, len(rows) - ce)
    decided = (truth.astype(float), unaided.astype(float), aided.astype(float))
    return ReaderStudy("paired", counts, reader, np.arange(len(rows)), *decided)


@given(DECISIONS)
@settings(deadline=None, max_examples=300)
def test_rates_and_ratios_decision_by_decision(rows: list[tuple[int, int, int, int]]) -> None:
    study, n = of(rows), len(rows)
    aie = sum(1 for _, truth, _, aided in rows if aided != truth)
    ce = sum(1 for _, truth, unaided, _ in rows if unaided != truth)
    ain, cn = n - aie, n - ce
    with_model, without = aie / n, ce / n
    assert estimated(human_factors.error_rate_aided(study, bootstrap=2)).value == pytest.approx(with_model, abs=CLOSE)
    assert estimated(human_factors.error_rate_unaided(study, bootstrap=2)).value == pytest.approx(without, abs=CLOSE)
    arr = estimated(human_factors.absolute_risk_reduction(study, bootstrap=2))
    se = math.sqrt(with_model * (1 - with_model) / n + without * (1 - without) / n)
    assert arr.value == pytest.approx(without - with_model, abs=CLOSE)
    if se:
        assert (arr.low, arr.high) == pytest.approx((max(-1, arr.value - Z * se), min(1, arr.value + Z * se)), abs=1e-9)
    number = human_factors.number_needed_to_decide(study, bootstrap=2)
    if aie == ce:
        assert isinstance(number, Absent)
    else:
        assert estimated(number).value == pytest.approx(1 / (without - with_model), abs=1e-9)
    # Haldane: half a decision more in every cell, when one of them is empty.
    a, b, c, d = (each + (0.5 if 0 in (aie, ain, ce, cn) else 0) for each in (aie, ain, ce, cn))
    risk = (a / (a + b)) / (c / (c + d))
    spread = math.sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))
    found = estimated(human_factors.relative_risk(study, bootstrap=2))
    assert (found.value, found.low, found.high) == pytest.approx(
        (risk, risk * math.exp(-Z * spread), risk * math.exp(Z * spread)), rel=1e-9
    )
    spared = estimated(human_factors.relative_risk_reduction(study, bootstrap=2))
    assert (spared.value, spared.low, spared.high) == pytest.approx(
        (1 - risk, 1 - risk * math.exp(Z * spread), 1 - risk * math.exp(-Z * spread)), abs=1e-9
    )
    odds = estimated(human_factors.odds_ratio(study, bootstrap=2))
    spread = math.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    ratio = a * d / (b * c)
    assert (odds.value, odds.low, odds.high) == pytest.approx(
        (ratio, ratio * math.exp(-Z * spread), ratio * math.exp(Z * spread)), rel=1e-9
    )


@given(DECISIONS)
@settings(deadline=None, max_examples=200)
def test_the_benefit_reader_by_reader(rows: list[tuple[int, int, int, int]]) -> None:
    gains = []
    for who in sorted({reader for reader, *_ in rows}):
        mine = [(truth, unaided, aided) for reader, truth, unaided, aided in rows if reader == who]
        right = sum(1 for truth, _, aided in mine if aided == truth)
        before = sum(1 for truth, unaided, _ in mine if unaided == truth)
        gains.append((right - before) / len(mine))
    found = estimated(human_factors.decision_benefit(of(rows)))
    assert found.value == pytest.approx(mean(gains), abs=CLOSE)
    assert found.n == len(gains)
    if len(gains) > 1 and max(gains) - min(gains) > 1e-9:
        half = student.ppf(0.975, len(gains) - 1) * math.sqrt(variance(gains) / len(gains))
        assert found.low == pytest.approx(max(-1.0, found.value - half), abs=1e-9)
        assert found.high == pytest.approx(min(1.0, found.value + half), abs=1e-9)
