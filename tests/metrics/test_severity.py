"""The error severity index against the published examples and obvious loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import severity
from dossier.metrics.intervals import NO_SPREAD
from tests.estimated import curved, estimated
from tests.metrics.test_classes import PUBLISHED
from tests.reasons import Said

Measure = Callable[..., Estimate | Absent]
WEIGHTS = ((0.0, 0.6), (0.3, 0.0))
DISTANCE = np.array([[0, 0.3, 0.6, 1.0], [0.3, 0, 0.3, 0.6], [0.6, 0.3, 0, 0.3], [1.0, 0.6, 0.3, 0]])


def rows_of(counts: Floats) -> tuple[severity.Integers, severity.Integers]:
    pairs = [(i, j) for i in range(len(counts)) for j in range(len(counts)) for _ in range(int(counts[i, j]))]
    return np.array([i for i, _ in pairs]), np.array([j for _, j in pairs])


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_examples(name: str) -> None:
    """methods.md: 3.0 4.2 7.3333; accuracy .85 each; mean severity .045 .063 .110 (rows predicted, columns true)."""
    table, index, mean = PUBLISHED[name]
    counts = np.array(table, dtype=float)
    predicted, classes = rows_of(counts)
    np.testing.assert_array_equal(severity.confusion(predicted, classes, 4), counts)
    weights = DISTANCE.tolist()
    found = estimated(severity.index_of_classes(predicted, classes, weights))
    assert found.value == pytest.approx(index, abs=5e-5)
    assert found.details["accuracy"] == pytest.approx(0.85, abs=1e-12)
    assert found.details["errors"] == 15
    assert found.events is None
    assert estimated(severity.mean_of_classes(predicted, classes, weights)).value == pytest.approx(mean, abs=5e-10)


@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0, 0.2, 0.3, 0.31, 1])), min_size=1, max_size=20))
@settings(deadline=None)
def test_row_by_row(rows: list[tuple[int, float]]) -> None:
    """A missed case weighs .6, a false alarm .3: rows of the weights are predicted, columns true."""
    y, p = np.array([a for a, _ in rows], dtype=float), np.array([b for _, b in rows])
    total, errors = 0.0, 0
    for label, risk in rows:
        if label == 1 and risk < 0.3:
            total, errors = total + 0.6, errors + 1
        if label == 0 and risk >= 0.3:
            total, errors = total + 0.3, errors + 1
    found = estimated(severity.error_severity_index(y, p, 0.3, WEIGHTS))
    assert found.value == pytest.approx(10 * total / errors if errors else 0.0, abs=1e-12)
    assert estimated(severity.mean_severity(y, p, 0.3, WEIGHTS)).value == pytest.approx(total / len(rows), abs=1e-12)
    assert found.details["mean_severity"] == pytest.approx(total / len(rows), abs=1e-12)


def test_no_errors_are_0_by_definition_and_said_so() -> None:
    y = np.array([0.0, 1, 1])
    found = estimated(severity.error_severity_index(y, y, 0.5, WEIGHTS))
    assert (found.value, found.low, found.high, found.level) == (0.0, None, None, None)
    assert found.reason == severity.NO_ERRORS


def sample(n: int, seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    p = rng.beta(1.2, 5, n)
    return (rng.uniform(size=n) < p).astype(float), p


def test_the_standard_errors_agree_with_the_jackknife() -> None:
    y, p = sample(300, 2)
    for measure in (severity.error_severity_index, severity.mean_severity):
        found = estimated(measure(y, p, 0.3, WEIGHTS))
        rest = np.array([estimated(measure(np.delete(y, k), np.delete(p, k), 0.3, WEIGHTS)).value for k in range(300)])
        assert found.se == pytest.approx(np.sqrt(299 / 300 * np.sum((rest - rest.mean()) ** 2)), rel=0.02)


def test_the_variance_of_the_mean_severity_is_that_of_a_mean() -> None:
    """Severities of 0, 0, .5, 1, 0, 0: squared distances from .25 add up to .875, over 5 and over 6 rows."""
    y, p = np.array([0.0, 0, 0, 1, 1, 1]), np.array([0.1, 0.3, 0.6, 0.2, 0.7, 0.9])
    found = estimated(severity.mean_severity(y, p, 0.5, ((0.0, 1.0), (0.5, 0.0))))
    assert found.se == pytest.approx(np.sqrt(0.875 / 5 / 6), abs=1e-15)


def test_the_intervals_cover_where_the_prevalence_is_free_to_vary() -> None:
    """The spread within each class alone would hold the mean severity in three of four samples here, not in nineteen
    of twenty: cases are far graver than non-cases on average.
    """
    y, p = sample(1_000_000, 1)
    truth = {
        measure: estimated(measure(y, p, 0.3, WEIGHTS)).value
        for measure in (severity.error_severity_index, severity.mean_severity)
    }
    for measure, true in truth.items():
        found = [estimated(measure(*sample(400, seed), 0.3, WEIGHTS)) for seed in range(10, 410)]
        held = np.mean([(estimate.low or 0) <= true <= (estimate.high or 0) for estimate in found])
        assert 0.92 <= held <= 0.98, measure


def test_errors_of_one_kind_still_have_an_interval() -> None:
    """Four missed cases and no false alarm: Wilson's share of 4 of 4 from 0.5101, so the index from 3 + 3 x 0.5101."""
    y, p = np.array([1.0, 1, 1, 1, 0, 0]), np.full(6, 0.1)
    found = estimated(severity.error_severity_index(y, p, 0.5, WEIGHTS))
    assert (found.value, found.high) == pytest.approx((6.0, 6.0))
    assert found.low == pytest.approx(3 + 3 * 0.5101, abs=2e-4)
    alike = estimated(severity.error_severity_index(y, p, 0.5, ((0, 0.5), (0.5, 0))))
    assert (alike.value, alike.low, alike.level) == (5.0, None, None)


def test_bounds_end_where_the_range_ends() -> None:
    """With a few rows the normal interval would pass the ends."""
    truth = np.array([0, 1, 2, 3])
    lightest, gravest = np.array([1, 1, 2, 3]), np.array([3, 1, 2, 3])
    few = estimated(severity.mean_of_classes(gravest, truth, DISTANCE.tolist()))
    assert few.low == 0
    most = estimated(severity.mean_of_classes(truth[::-1], truth, (1 - np.eye(4)).tolist()))
    assert (most.value, most.low, most.reason) == (1.0, None, NO_SPREAD)
    three = estimated(severity.mean_of_classes(np.array([1, 0, 3, 3]), truth, (1 - np.eye(4)).tolist()))
    assert (three.value, three.high) == (0.75, 1.0)
    both = np.append(lightest, gravest)
    light = 1 - np.eye(4)
    light[1, 0] = 0.02
    unsure = estimated(severity.index_of_classes(both, np.append(truth, truth), light.tolist()))
    assert (unsure.low, unsure.high) == (0.0, 10.0)


def test_the_event_is_counted_where_one_class_is_the_event() -> None:
    two, three = np.array([0, 1, 1, 0]), np.array([0, 1, 2, 2])
    for measure in (severity.index_of_classes, severity.mean_of_classes):
        assert estimated(measure(1 - two, two, WEIGHTS)).events == 2
        assert estimated(measure(two, three, DISTANCE[:3, :3].tolist())).events is None


def test_what_does_not_fit_is_absent() -> None:
    ragged: list[list[float]] = [[0, 1], [1]]
    assert severity.weights_fault(ragged, 2) == Said("the severity weights are no table of 2 rows and 2 columns")
    y, p = np.array([0.0, 1]), np.array([0.1, 0.2])
    empty = np.array([])
    for measure in (severity.error_severity_index, severity.mean_severity):
        assert measure(empty, empty, 0.5, WEIGHTS) == Said("there are no rows")
        assert measure(y, p, 0.5, DISTANCE.tolist()) == Said(
            "the severity weights are no table of 2 rows and 2 columns"
        )
        assert measure(y, p, 0.5, ((0.1, 1), (1, 0))) == Said("a right answer has a severity other than 0")
        assert measure(y, p, 0.5, ((0, 2), (1, 0))) == Said("a severity weight is outside 0 to 1")


# ---- curves ---------------------------------------------------------------------------------------------------------


def test_the_confusion_matrix_is_counted_by_hand() -> None:
    y, p = np.array([0.0, 0, 0, 1, 1, 1]), np.array([0.1, 0.4, 0.9, 0.3, 0.5, 0.6])
    found = curved(severity.confusion_matrix(y, p, 0.5, ((0.0, 0.6), (0.3, 0.0))))
    assert dict(found.columns) == {
        "predicted": (0.0, 0.0, 1.0, 1.0),
        "true": (0.0, 1.0, 0.0, 1.0),
        "count": (2.0, 1.0, 1.0, 2.0),
        "severity": (0.0, 0.6, 0.3, 0.0),
    }
    assert isinstance(severity.confusion_matrix(y, p, 0.5, ((0.0, 0.6, 1), (0.3, 0.0, 1), (1, 1, 0.0))), Absent)


# ---- several matrices -----------------------------------------------------------------------------------------------

OF_THE_OLD = ((0.0, 1.0), (0.4, 0.0))


def by_row(group: list[int]) -> severity.WeightsByRow:
    return severity.WeightsByRow((WEIGHTS, OF_THE_OLD), np.array(group))


def test_each_row_is_weighed_by_its_own_matrix_by_hand() -> None:
    """Missed: .6 and, of the second matrix, 1.0; false alarm of the second .4; one right answer of each: 2.0 over 5."""
    y, p = np.array([1.0, 1.0, 0.0, 1.0, 0.0]), np.array([0.1, 0.1, 0.9, 0.9, 0.1])
    weights = by_row([0, 1, 1, 0, 1])
    mean = estimated(severity.mean_severity(y, p, 0.5, weights))
    assert mean.value == pytest.approx(2.0 / 5, abs=1e-12)
    index = estimated(severity.error_severity_index(y, p, 0.5, weights))
    assert index.value == pytest.approx(10 * 2.0 / 3, abs=1e-12)
    assert index.details["mean_severity"] == pytest.approx(0.4, abs=1e-12)
    assert index.details["errors"] == 3


def test_the_sum_over_subgroups_is_that_of_all_rows() -> None:
    """methods.md: mean severity = sum over subgroups of sum(C_g W_g) / N."""
    rng = np.random.default_rng(4)
    y, p, group = (rng.random(300) < 0.4).astype(float), rng.random(300), rng.integers(0, 2, 300)
    whole = estimated(severity.mean_severity(y, p, 0.5, severity.WeightsByRow((WEIGHTS, OF_THE_OLD), group))).value
    total = 0.0
    for index, table in enumerate((WEIGHTS, OF_THE_OLD)):
        counts = severity.confusion((p[group == index] >= 0.5).astype(int), y[group == index].astype(int), 2)
        total += float((counts * np.array(table)).sum())
    assert whole == pytest.approx(total / 300, abs=1e-12)


@pytest.mark.parametrize("measure", [severity.error_severity_index, severity.mean_severity])
def test_one_matrix_for_every_row_is_that_matrix(measure: Measure) -> None:
    rng = np.random.default_rng(5)
    y, p = (rng.random(200) < 0.4).astype(float), rng.random(200)
    estimate = estimated(measure(y, p, 0.5, WEIGHTS))
    many = estimated(measure(y, p, 0.5, by_row([0] * 200)))
    assert many.value == pytest.approx(estimate.value, abs=1e-12)
    assert many.se == pytest.approx(estimate.se, abs=1e-12)


def test_the_interval_of_several_matrices_is_that_of_the_rows() -> None:
    """The mean of each row's severity, by its standard deviation with n - 1."""
    y, p = np.array([1.0, 1.0, 0.0, 1.0, 0.0]), np.array([0.1, 0.1, 0.9, 0.9, 0.1])
    found = estimated(severity.mean_severity(y, p, 0.5, by_row([0, 1, 1, 0, 1])))
    assert found.se == pytest.approx(float(np.std([0.6, 1.0, 0.4, 0.0, 0.0], ddof=1)) / np.sqrt(5), abs=1e-12)


def test_the_severity_of_a_cell_is_the_mean_of_its_rows() -> None:
    y, p = np.array([1.0, 1.0, 0.0, 1.0]), np.array([0.1, 0.1, 0.9, 0.9])
    found = curved(severity.confusion_matrix(y, p, 0.5, by_row([0, 1, 1, 0])))
    assert found.columns["count"] == (0.0, 2.0, 1.0, 1.0)
    assert found.columns["severity"] == pytest.approx((0.0, 0.8, 0.4, 0.0))


def test_any_of_several_matrices_may_be_unfit() -> None:
    unfit = severity.WeightsByRow((WEIGHTS, ((0.0, 1.0, 1.0),)), np.array([0, 1]))
    assert severity.weights_fault(unfit, 2) == Said("the severity weights are no table of 2 rows and 2 columns")
