"""Readers with and without the model: the published example, and slow versions of what it does not cover."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, t, ttest_1samp

from dossier import evaluate, reading
from dossier.core.types import Absent, DecisionCounts, Estimate, ReaderStudy, find, find_curve
from dossier.metrics import human_factors
from dossier.typeset.methods import method_text
from tests.estimated import curved, estimated, interval_of, present
from tests.metrics.parts import of_counts, replicated_counts
from tests.reasons import Said
from tests.smallest import HEAD, SITE, release_in

PUBLISHED = of_counts(352, 1196, 367, 1181)
OF_COUNTS = (
    human_factors.error_rate_aided,
    human_factors.error_rate_unaided,
    human_factors.absolute_risk_reduction,
    human_factors.number_needed_to_decide,
    human_factors.relative_risk,
    human_factors.relative_risk_reduction,
    human_factors.odds_ratio,
)


def made(rows: list[tuple[Any, ...]], **more: Any) -> ReaderStudy:
    """A study of rows (reader, case, truth, unaided, aided)."""
    reader, case, truth, unaided, aided = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    wrong = [int(np.sum(~np.isnan(each) & (each != truth))) for each in (aided, unaided)]
    right = [int(np.sum(each == truth)) for each in (aided, unaided)]
    counts = DecisionCounts(wrong[0], right[0], wrong[1], right[1])
    study = ReaderStudy("paired", counts, reader.astype(int), case.astype(int), truth, unaided, aided)
    return replace(study, **more)


def drawn(readers: int, cases: int, seed: int, skill: float = 0.0) -> ReaderStudy:
    """Readers whose skill and cases whose ease differ, so that decisions hang together."""
    rng = np.random.default_rng(seed)
    ease, able = rng.normal(0.8, 1.2, cases), rng.normal(0, 0.8, readers)
    truth = rng.integers(0, 2, cases)
    rows = []
    for j in range(readers):
        for i in range(cases):
            chance = 1 / (1 + math.exp(-(ease[i] + able[j])))
            helped = 1 / (1 + math.exp(-(ease[i] + able[j] + skill)))
            unaided, aided = (truth[i] if rng.uniform() < p else 1 - truth[i] for p in (chance, helped))
            rows.append((j, i, truth[i], unaided, aided))
    return made(rows)


def clustered(found: Estimate | Absent) -> tuple[float, float]:
    """The bounds that draw readers and cases."""
    details = estimated(found).details
    return present(details["low_clustered"]), present(details["high_clustered"])


@pytest.mark.parametrize(
    ("measure", "value", "low", "high", "digits"),
    [
        (human_factors.error_rate_aided, 0.22739018, 0.2065, 0.2483, 4),
        (human_factors.error_rate_unaided, 0.23708010, 0.2159, 0.2583, 4),
        (human_factors.absolute_risk_reduction, 0.00968992, -0.0201, 0.0394, 4),
        (human_factors.relative_risk, 0.95912807, 0.8438, 1.0902, 4),
        (human_factors.odds_ratio, 0.94709887, 0.80154, 1.11909, 5),
    ],
)
def test_the_published_example(measure: Any, value: float, low: float, high: float, digits: int) -> None:
    """methods.md, human factors: 352, 1196, 367, 1181."""
    found = estimated(measure(PUBLISHED))
    assert found.value == pytest.approx(value, abs=5e-9)
    assert found.low == pytest.approx(low, abs=0.51 * 10.0**-digits)
    assert found.high == pytest.approx(high, abs=0.51 * 10.0**-digits)
    assert found.details["low_clustered"] is None
    assert "independent" in method_text(found.method)


def test_the_published_number_needed_to_decide() -> None:
    """methods.md: NND 103.2 (25.4 to benefit, 49.9 to harm); RRR .0408719. Infinite bounds are missing, and say why."""
    found = estimated(human_factors.number_needed_to_decide(PUBLISHED))
    assert found.value == pytest.approx(103.2, abs=0.05)
    assert (found.low, found.high, found.level) == (None, None, None)
    assert found.reason == human_factors.SPANS_ZERO
    assert found.details["benefit_bound"] == pytest.approx(25.4, abs=0.05)
    assert found.details["harm_bound"] == pytest.approx(49.9, abs=0.05)
    reduction = estimated(human_factors.relative_risk_reduction(PUBLISHED))
    assert reduction.value == pytest.approx(0.0408719, abs=5e-8)
    assert reduction.low == pytest.approx(1 - 1.0902, abs=5.1e-5)
    assert reduction.high == pytest.approx(1 - 0.8438, abs=5.1e-5)


@pytest.mark.parametrize(("counts", "sign"), [((10, 990, 200, 800), 1), ((200, 800, 10, 990), -1)])
def test_the_number_needed_of_a_clear_difference(counts: tuple[int, int, int, int], sign: int) -> None:
    found = estimated(human_factors.number_needed_to_decide(of_counts(*counts)))
    difference = estimated(human_factors.absolute_risk_reduction(of_counts(*counts)))
    assert found.value == pytest.approx(sign / 0.19)
    assert found.low == pytest.approx(1 / (difference.high or 0))
    assert found.high == pytest.approx(1 / (difference.low or 0))
    assert (found.low or 0) < found.value < (found.high or 0)
    assert found.details["benefit_bound"] is None


def test_an_empty_cell_is_corrected_after_haldane_and_named() -> None:
    study = of_counts(0, 20, 5, 15)
    risk, odds = estimated(human_factors.relative_risk(study)), estimated(human_factors.odds_ratio(study))
    assert risk.value == pytest.approx((0.5 / 21) / (5.5 / 21))
    assert odds.value == pytest.approx((0.5 / 20.5) / (5.5 / 15.5))
    for found, spread in ((risk, 1 / 0.5 - 1 / 21 + 1 / 5.5 - 1 / 21), (odds, 1 / 0.5 + 1 / 20.5 + 1 / 5.5 + 1 / 15.5)):
        assert "Haldane" in method_text(found.method)
        assert found.high == pytest.approx(found.value * math.exp(1.959963984540054 * math.sqrt(spread)))
    assert "Haldane" not in method_text(estimated(human_factors.odds_ratio(PUBLISHED)).method)
    assert estimated(human_factors.error_rate_aided(study)).low is None


@pytest.mark.parametrize("measure", OF_COUNTS)
def test_degenerate_counts(measure: Any) -> None:
    for counts in ((0, 0, 3, 4), (3, 4, 0, 0), (0, 0, 0, 0), (0, 5, 0, 5), (5, 0, 5, 0), (0, 5, 5, 0), (1, 0, 0, 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = measure(of_counts(*counts))
        if isinstance(found, Absent):
            assert found.reason
        else:
            numbers = (found.value, found.low, found.high, *found.details.values())
            assert all(math.isfinite(value) for value in numbers if value is not None)
    assert isinstance(human_factors.number_needed_to_decide(of_counts(1, 4, 1, 4)), Absent)
    assert isinstance(human_factors.odds_ratio(of_counts(0, 0, 3, 4)), Absent)


@pytest.mark.parametrize(
    ("measure", "variance"),
    [(human_factors.error_rate_aided, 0.009), (human_factors.absolute_risk_reduction, 0.009 + 0.025)],
)
def test_the_standard_error_and_bounds_that_stay_possible(measure: Any, variance: float) -> None:
    """.9 of ten decisions are wrong with the model, .5 of ten without: p(1 - p)/n is .009 and .025."""
    study = of_counts(9, 1, 5, 5)
    found = estimated(measure(study))
    assert found.se == pytest.approx(math.sqrt(variance))
    assert found.low == pytest.approx(found.value - 1.959963984540054 * math.sqrt(variance))
    # .9 and 1.96 times .0949 would be 1.086.
    assert estimated(human_factors.error_rate_aided(study)).high == 1


# ---- clusters -------------------------------------------------------------------------------------------------------


def test_replicates_draw_readers_and_cases_apart() -> None:
    """Every decision of a study of m readers and k cases is drawn mk times in all, and the spread of the counts is
    that of a product of two multinomials, computed here row by row.
    """
    study = drawn(6, 9, 1)
    counts = present(replicated_counts(study, 4000, 2))
    assert counts[:, :2].sum(axis=1) == pytest.approx(np.full(4000, 54))
    rng = np.random.default_rng(3)
    slow = []
    for _ in range(1500):
        readers, cases = rng.integers(0, 6, 6), rng.integers(0, 9, 9)
        wrong = study.aided != study.truth
        slow.append(sum(wrong[j * 9 + i] for j in readers for i in cases))
    assert counts[:, 0].mean() == pytest.approx(np.mean(slow), rel=0.05)
    assert counts[:, 0].std() == pytest.approx(np.std(slow), rel=0.08)


def test_the_clustered_interval_is_wider_where_decisions_hang_together() -> None:
    study = drawn(8, 40, 5)
    found = estimated(human_factors.error_rate_unaided(study, bootstrap=400))
    low, high = clustered(found)
    assert low < found.value < high
    assert high - low > 1.5 * ((found.high or 0) - (found.low or 0))
    assert "readers and cases" in method_text(found.method)


def test_the_clustered_interval_of_the_difference_covers() -> None:
    """True error rates are equal here: the interval of the difference must hold 0 in most samples."""
    held = 0
    for seed in range(120):
        low, high = clustered(human_factors.absolute_risk_reduction(drawn(10, 40, seed), bootstrap=150, seed=seed))
        held += low <= 0 <= high
    assert held >= 108


def parallel(readers: int, seed: int) -> ReaderStudy:
    """Half of the readers decide with the model, half without."""
    study = drawn(readers, 12, seed)
    with_model = study.reader % 2 == 0
    unaided = np.where(with_model, np.nan, study.unaided)
    aided = np.where(with_model, study.aided, np.nan)
    rows = list(zip(study.reader, study.case, study.truth, unaided, aided, strict=True))
    return made(rows, design="parallel")


def test_a_parallel_study_draws_readers_within_their_arm() -> None:
    counts = present(replicated_counts(parallel(8, 3), 200, 1))
    assert counts[:, :2].sum(axis=1) == pytest.approx(np.full(200, 48))
    assert counts[:, 2:].sum(axis=1) == pytest.approx(np.full(200, 48))
    assert "over readers of each arm and cases," in method_text(
        estimated(human_factors.odds_ratio(parallel(8, 3), bootstrap=50)).method
    )
    alone = parallel(3, 3)
    assert replicated_counts(alone, 50, 1) is None, "one reader is alone in an arm"
    assert "at least two readers an arm" in method_text(estimated(human_factors.odds_ratio(alone, bootstrap=50)).method)


def test_one_reader_has_no_clusters_and_a_reason() -> None:
    found = estimated(human_factors.error_rate_aided(drawn(1, 12, 4), bootstrap=50))
    assert found.details["low_clustered"] is None
    assert "too few readers" in method_text(found.method)


def gained(gains: list[list[int]]) -> ReaderStudy:
    """A row a reader, a column a case: 1 where the model spares an error, -1 where it makes one, 0 where neither."""
    return made([(j, i, 0, gain == 1, gain == -1) for j, row in enumerate(gains) for i, gain in enumerate(row)])


def one_way(rows: list[tuple[int, int, float, bool]]) -> ReaderStudy:
    """A parallel study of rows (reader, case, whether wrong, whether with the model)."""
    ways = ((j, i, (math.nan, wrong) if aided else (wrong, math.nan)) for j, i, wrong, aided in rows)
    return made([(j, i, 0, *decisions) for j, i, decisions in ways], design="parallel")


def by_every_draw(gains: Any, level: float, cancels: bool = True) -> tuple[float, float]:
    """The interval of the mean gain: from every draw of readers and cases there is, spread as far as the variance of
    the means of readers plus that of cases less that of single decisions reaches, with Satterthwaite's t; for it the
    variances are taken less that of single decisions where what readers have of their own `cancels`, else whole.
    """
    readers, cases = gains.shape
    each_way = (list(product(range(size), repeat=size)) for size in (readers, cases))
    values = np.array([gains[np.ix_(rows, columns)].mean() for rows, columns in product(*each_way)])
    of_readers = np.var(gains.mean(axis=1), ddof=1) / readers
    of_cases = np.var(gains.mean(axis=0), ddof=1) / cases
    of_each = np.var(gains, ddof=1) / gains.size
    variance = max(of_readers + of_cases - of_each, of_readers, of_cases)
    known = of_each if cancels else 0.0
    unsure = max(of_readers - known, 0) ** 2 / (readers - 1) + max(of_cases - known, 0) ** 2 / (cases - 1)
    upper = 0.5 + level / 2
    stretched = t.ppf(upper, variance**2 / unsure) / norm.ppf(upper) if unsure else 1.0
    low, centre, high = np.quantile(values, (1 - upper, 0.5, upper), method="inverted_cdf")
    times = stretched * math.sqrt(variance / values.var())
    return centre + (low - centre) * times, centre + (high - centre) * times


@pytest.mark.parametrize(
    "gains",
    [
        [[0, 0, 1], [0, 1, 1], [1, 1, 1]],
        [[0, 0, 0], [0, 0, 1], [1, 1, 1]],
        [[0, 0, 1], [0, 0, 1], [0, 1, 1]],
        [[1, 0, 0], [0, 1, 0], [0, 0, 0]],
    ],
)
def test_the_clustered_interval_is_that_of_every_draw_with_the_variance_of_two_ways(gains: list[list[int]]) -> None:
    """Readers and cases both add noise, mostly readers, mostly cases, and neither more than single decisions do."""
    ends = clustered(human_factors.absolute_risk_reduction(gained(gains), 0.8, 4000))
    assert ends == pytest.approx(by_every_draw(np.array(gains, dtype=float), 0.8), abs=0.006)


@pytest.mark.parametrize(
    "wrong", [[[0, 0, 1], [0, 1, 1], [1, 1, 1]], [[0, 0, 1], [0, 0, 1], [0, 1, 1]], [[1, 0, 0], [0, 1, 0], [0, 0, 0]]]
)
def test_of_few_readers_an_error_rate_is_as_uncertain_as_their_number_says(wrong: list[list[int]]) -> None:
    """Nothing of a reader cancels in the rate of one arm, though each decides both ways."""
    rates = (
        human_factors.error_rate_unaided(gained(wrong), 0.8, 4000),
        human_factors.error_rate_aided(gained((-np.array(wrong)).tolist()), 0.8, 4000),
    )
    low, high = by_every_draw(np.array(wrong, dtype=float), 0.8, cancels=False)
    for found in rates:
        assert clustered(found) == pytest.approx((max(low, 0), min(high, 1)), abs=0.012)


def by_every_draw_of_arms(aided: Any, unaided: Any, level: float) -> tuple[float, float]:
    """The interval of the difference of two arms of readers (rows) on the same cases (columns), likewise; the variances
    over readers and over cases are taken whole for Satterthwaite's t.
    """
    cases = aided.shape[1]
    arms = [
        np.array([arm[list(rows)].mean(axis=0) for rows in product(range(len(arm)), repeat=len(arm))])
        for arm in (aided, unaided)
    ]
    weights = [np.bincount(columns, minlength=cases) / cases for columns in product(range(cases), repeat=cases)]
    with_model, without = (arm @ np.array(weights).T for arm in arms)
    values = (without[None] - with_model[:, None]).ravel()
    of_readers = [np.var(arm.mean(axis=1), ddof=1) / len(arm) for arm in (aided, unaided)]
    of_cases = np.var(unaided.mean(axis=0) - aided.mean(axis=0), ddof=1) / cases
    of_each = sum(np.var(arm, ddof=1) / arm.size for arm in (aided, unaided))
    variance = max(sum(of_readers) + of_cases - of_each, sum(of_readers), of_cases)
    parts = zip((*of_readers, of_cases), (len(aided), len(unaided), cases), strict=True)
    freedom = variance**2 / sum(part**2 / (number - 1) for part, number in parts)
    upper = 0.5 + level / 2
    low, centre, high = np.quantile(values, (1 - upper, 0.5, upper), method="inverted_cdf")
    times = t.ppf(upper, freedom) / norm.ppf(upper) * math.sqrt(variance / values.var())
    return centre + (low - centre) * times, centre + (high - centre) * times


@pytest.mark.parametrize(
    ("aided", "unaided"),
    [
        ([[0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 1, 1]], [[0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1]]),
        ([[1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 1, 1]], [[0, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 0]]),
        ([[0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 1, 1]], [[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]),
        ([[0, 0, 0, 1], [1, 1, 1, 0]], [[0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1]]),
    ],
)
def test_the_clustered_interval_of_two_arms_is_that_of_every_draw(
    aided: list[list[int]], unaided: list[list[int]]
) -> None:
    """Mostly readers add noise, mostly cases, both; arms of different size."""
    rows = [(j, i, float(wrong), True) for j, row in enumerate(aided) for i, wrong in enumerate(row)]
    rows += [(9 + j, i, float(wrong), False) for j, row in enumerate(unaided) for i, wrong in enumerate(row)]
    ends = clustered(human_factors.absolute_risk_reduction(one_way(rows), 0.8, 4000))
    low, high = by_every_draw_of_arms(np.array(aided, dtype=float), np.array(unaided, dtype=float), 0.8)
    assert ends == pytest.approx((max(low, -1), min(high, 1)), abs=0.012)


def test_clustered_bounds_of_shares_and_differences_stay_possible() -> None:
    """Two-way variances of so few readers reach further than any share or difference can be."""
    assert clustered(human_factors.error_rate_unaided(drawn(3, 8, 15), bootstrap=300)) == (0, 1)
    gains = [[1, 1], [0, -1]]
    low, high = by_every_draw(np.array(gains, dtype=float), 0.95)
    assert low < -2
    assert high > 1
    assert clustered(human_factors.absolute_risk_reduction(gained(gains), bootstrap=300)) == (-1, 1)


@pytest.mark.parametrize("measure", [human_factors.relative_risk, human_factors.odds_ratio])
def test_the_clustered_interval_of_a_ratio_turns_round_with_the_arms(measure: Any) -> None:
    study = drawn(5, 12, 3, skill=0.5)
    counts = study.counts
    other = DecisionCounts(counts.unaided_wrong, counts.unaided_right, counts.aided_wrong, counts.aided_right)
    turned = replace(study, counts=other, aided=study.unaided, unaided=study.aided)
    here, there = (clustered(measure(each, bootstrap=200)) for each in (study, turned))
    assert 0 < here[0] < here[1]
    assert there == pytest.approx((1 / here[1], 1 / here[0]))


def test_where_neither_readers_nor_cases_vary_no_interval_is_given() -> None:
    """Every reader errs once and every case misleads once: their variance is 0, and nothing is certain for that."""
    for measure in (human_factors.error_rate_unaided, human_factors.odds_ratio):
        found = estimated(measure(gained([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), bootstrap=100))
        assert found.details == {"low_clustered": None, "high_clustered": None}
        assert "neither the readers nor the cases vary" in method_text(found.method)
    for gains in ([[1, 0, 0], [1, 0, 0], [1, 0, 0]], [[1, 1, 1], [0, 0, 0], [0, 0, 0]]):
        low, high = clustered(human_factors.error_rate_unaided(gained(gains), 0.5, 100))
        assert low < high, gains


def test_readers_who_decide_both_ways_are_an_arm_of_their_own() -> None:
    """Readers of an arm decide every case here, so that every replicate holds as many decisions as the study."""
    both = [(j, i, 1.0, aided) for j in (0, 1) for i in range(3) for aided in (False, True)]
    only = [(j, i, float(i == 1), j < 4) for j in (2, 3, 4, 5) for i in range(3)]
    counts = present(replicated_counts(one_way([*both, *only]), 50, 1))
    assert counts[:, :2].sum(axis=1) == pytest.approx(np.full(50, 6 + 6))
    assert counts[:, 2:].sum(axis=1) == pytest.approx(np.full(50, 6 + 6))


@pytest.mark.parametrize(
    ("study", "given"),
    [
        (gained([[1, 0], [0, 0]]), True),
        (gained([[1, 0, 1, 0]]), False),
        (gained([[1], [0], [0], [0]]), False),
        (one_way([(j, i, float(j > i + 1), j % 2 == 0) for j in range(4) for i in range(2)]), True),
        (one_way([(j, i, float(j > i), j == 0) for j in range(4) for i in range(2)]), False),
        (one_way([(j, 0, float(j > 4), j % 2 == 0) for j in range(8)]), False),
    ],
)
def test_two_readers_of_an_arm_and_two_cases_are_clusters(study: ReaderStudy, given: bool) -> None:
    found = estimated(human_factors.error_rate_unaided(study, 0.5, 200))
    assert (found.details["low_clustered"] is not None) == given
    assert ("too few readers or cases for clusters" in method_text(found.method)) != given


def test_what_hinders_clusters_is_told_apart() -> None:
    assert "only counts are given" in method_text(estimated(human_factors.odds_ratio(PUBLISHED)).method)
    assert "too few readers or cases for clusters" in method_text(
        estimated(human_factors.odds_ratio(gained([[1]]))).method
    )
    assert replicated_counts(PUBLISHED, 10, 1) is None


@pytest.mark.parametrize("study", [drawn(4, 9, 2), parallel(8, 3)])
def test_two_replicates_are_enough_for_an_interval(study: ReaderStudy) -> None:
    low, high = clustered(human_factors.error_rate_unaided(study, bootstrap=2))
    assert low < high


@pytest.mark.parametrize(("readers", "enough"), [(3, False), (8, True)])
def test_replicates_without_decisions_of_both_kinds_are_left_out(readers: int, enough: bool) -> None:
    """Every reader decides one case only; where more than a tenth is left out there is no interval."""
    study = one_way(
        [(2 * j + aided, j, float(j % 3 == aided), bool(aided)) for j in range(readers) for aided in (0, 1)]
    )
    counts = present(replicated_counts(study, 400, 1))
    usable = sum(1 for a, b, c, d in counts if a + b > 0 and c + d > 0)
    assert (0.9 * 400 <= usable < 400) if enough else (usable < 0.9 * 400)
    found = estimated(human_factors.absolute_risk_reduction(study, 0.5, 400))
    assert (f", {usable} replicates" in method_text(found.method)) == enough
    assert ("too few bootstrap replicates hold decisions of both kinds" in method_text(found.method)) != enough


def test_as_many_replicates_as_are_wanted_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    study = one_way([(2 * j + aided, j, float(j % 3 == aided), bool(aided)) for j in range(8) for aided in (0, 1)])
    counts = present(replicated_counts(study, 512, 2026))
    usable = sum(1 for a, b, c, d in counts if a + b > 0 and c + d > 0)
    # Of 512 replicates every share is exact in binary.
    monkeypatch.setattr(human_factors, "FEWEST_REPLICATES", usable / 512)
    found = human_factors.absolute_risk_reduction(study, 0.5, 512, 2026)
    assert f", {usable} replicates" in method_text(estimated(found).method)


@pytest.mark.parametrize(("aided", "end"), [(False, "benefit_bound_clustered"), (True, "harm_bound_clustered")])
def test_a_clustered_bound_of_exactly_0_has_no_inverse(aided: bool, end: str) -> None:
    """One reader of one arm errs once, and nobody else: where reader or case is not drawn the arms do not differ."""
    rows = [(j, i, float(i == j == 0), (j < 4) == aided) for j in range(8) for i in range(6)]
    bounds = clustered(human_factors.absolute_risk_reduction(one_way(rows)))
    assert 0 in bounds
    found = estimated(human_factors.number_needed_to_decide(one_way(rows))).details
    assert found[end] == pytest.approx(1 / max(map(abs, bounds)))
    assert [name for name in found if name.endswith("_clustered") and found[name] is not None] == [end]


# ---- reader by reader -----------------------------------------------------------------------------------------------

SMALL = made(
    [(0, 0, 1, 1, 1), (0, 1, 0, 1, 0), (0, 2, 1, 1, 0), (1, 0, 1, 0, 0), (1, 1, 0, 1, 0), (1, 2, 1, 0, 1)],
    advice=np.array([1.0, 0, 0, 1, 0, 1]),
    group=("senior", "junior"),
)
"""Reader 0: confirmed, corrected, misled (following the advice); reader 1: unmoved (resisting it), corrected twice."""


def test_the_benefit_of_a_small_study_by_hand() -> None:
    found = estimated(human_factors.decision_benefit(SMALL))
    # Reader 0: 2/3 before and after; reader 1: 0 before, 2/3 after.
    assert found.value == pytest.approx(1 / 3)
    assert found.n == 2
    curve = curved(human_factors.decision_benefit_by_reader(SMALL))
    assert curve.columns["benefit"] == pytest.approx((0, 2 / 3))
    assert curve.columns["group"] == (1.0, 0.0)
    assert estimated(human_factors.decision_benefit(SMALL, "junior")).value == pytest.approx(2 / 3)
    assert estimated(human_factors.decision_benefit(SMALL, "junior")).low is None
    assert isinstance(human_factors.decision_benefit(SMALL, "nobody"), Absent)


def test_why_the_benefit_has_no_interval() -> None:
    assert estimated(human_factors.decision_benefit(gained([[1, 0]]))).reason == Said("one reader gives no interval")
    assert estimated(human_factors.decision_benefit(gained([[1, 0], [0, 1]]))).reason == Said(
        "all readers gain the same"
    )
    two = estimated(human_factors.decision_benefit(gained([[1, 0, 0, 0], [1, 1, 0, 0]])))
    assert two.low is not None
    assert two.reason is None


def test_the_interval_of_the_benefit_is_that_of_a_t_test() -> None:
    study = drawn(9, 30, 6, skill=1.0)
    gains = [
        np.mean(study.aided[study.reader == j] == study.truth[study.reader == j])
        - np.mean(study.unaided[study.reader == j] == study.truth[study.reader == j])
        for j in range(9)
    ]
    reference = ttest_1samp(gains, 0).confidence_interval(0.95)
    found = estimated(human_factors.decision_benefit(study))
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high), abs=1e-12)


def test_what_became_of_the_decisions() -> None:
    found = curved(human_factors.changed_decisions(SMALL))
    expected = {
        "confirmed": (1, 0),
        "corrected": (1, 2),
        "misled": (1, 0),
        "unmoved": (0, 1),
        "followed": (2, 2),
        "resisted": (0, 1),
    }
    for name, counts in expected.items():
        assert found.columns[name] == counts, name


def test_every_decision_became_one_thing() -> None:
    study = drawn(4, 25, 8, skill=1.0)
    found = curved(human_factors.changed_decisions(study))
    kinds = {(True, True): "confirmed", (False, True): "corrected", (True, False): "misled", (False, False): "unmoved"}
    counted = {name: [0.0] * 4 for name in kinds.values()}
    for j, truth, unaided, aided in zip(study.reader, study.truth, study.unaided, study.aided, strict=True):
        counted[kinds[bool(unaided == truth), bool(aided == truth)]][j] += 1
    assert {name: list(found.columns[name]) for name in counted} == counted


def test_what_a_study_cannot_tell_is_absent() -> None:
    for ask in (
        human_factors.decision_benefit,
        human_factors.decision_benefit_by_reader,
        human_factors.changed_decisions,
    ):
        assert isinstance(ask(PUBLISHED), Absent)
    assert isinstance(human_factors.changed_decisions(parallel(4, 1)), Absent)
    assert isinstance(human_factors.decision_benefit(parallel(4, 1)), Absent)
    many = made([(j, 0, 1, 1, 1) for j in range(251)])
    assert isinstance(human_factors.decision_benefit_by_reader(many), Absent)
    assert estimated(human_factors.decision_benefit(many)).reason == Said("all readers gain the same")


def test_the_order_of_rows_is_irrelevant() -> None:
    study = drawn(5, 8, 7)
    order = np.random.default_rng(1).permutation(40)
    names = ("reader", "case", "truth", "unaided", "aided")
    moved = replace(study, **{name: getattr(study, name)[order] for name in names})
    assert human_factors.decision_benefit(study) == human_factors.decision_benefit(moved)
    for measure in OF_COUNTS:
        assert measure(study, bootstrap=60) == measure(moved, bootstrap=60), measure


RELEASE = f"""{HEAD}[resampling]
bootstrap = 20
permutations = 9
{SITE}[reader_study]
"""


def test_a_study_is_filed_under_its_own_name(tmp_path: Path) -> None:
    rows = "".join(f"{k % 2},{0.05 + k / 45:.3f}\n" for k in range(40))
    release_in(tmp_path, RELEASE + 'file = "study.csv"\n', site__csv="outcome,risk\n" + rows)
    decisions = [f"{j},{i},{i % 2},{(i + j) % 2},{i % 2},g{j % 2}\n" for j in range(4) for i in range(6)]
    (tmp_path / "study.csv").write_text("reader,case,truth,unaided,aided,group\n" + "".join(decisions))
    evidence = evaluate.evidence(reading.study(tmp_path))
    rate = find(evidence, "error_rate_unaided", "reader study")
    # Readers 1 and 3 are wrong in all their six cases, readers 0 and 2 in none.
    assert estimated(rate).value == pytest.approx(0.5)
    assert estimated(find(evidence, "decision_benefit", "reader study", group="g1")).value == pytest.approx(1.0)
    assert estimated(find(evidence, "decision_benefit", "reader study")).value == pytest.approx(0.5)
    assert isinstance(find(evidence, "error_rate_unaided", "site"), Absent)
    curve = curved(find_curve(evidence, "changed_decisions", "reader study"))
    assert list(curve.columns["corrected"]) == [0, 6, 0, 6]
    (tmp_path / "release.toml").write_text(RELEASE + "counts = { aie = 352, ain = 1196, ce = 367, cn = 1181 }\n")
    bare = evaluate.evidence(reading.study(tmp_path))
    assert estimated(find(bare, "odds_ratio", "reader study")).value == pytest.approx(0.94709887, abs=5e-9)
    assert isinstance(find(bare, "decision_benefit", "reader study"), Absent)


@pytest.mark.parametrize("measure", [human_factors.absolute_risk_reduction, human_factors.odds_ratio])
def test_decisions_that_share_nothing_have_nearly_the_interval_of_independent_ones(measure: Any) -> None:
    """Where neither readers nor cases differ, drawing both would triple the variance; what is printed does not."""
    rng = np.random.default_rng(3)
    reader, case = np.repeat(np.arange(30), 60), np.tile(np.arange(60), 30)
    wrong, without = rng.random(1800) < 0.2, rng.random(1800) < 0.3
    counts = DecisionCounts(int(wrong.sum()), int((~wrong).sum()), int(without.sum()), int((~without).sum()))
    study = ReaderStudy("paired", counts, reader, case, np.zeros(1800), without.astype(float), wrong.astype(float))
    found = estimated(measure(study, bootstrap=400))
    (low, high), (first, last) = clustered(found), interval_of(found)
    assert 0.8 < (high - low) / (last - first) < 1.35, "the root of 3 would be 1.73"
