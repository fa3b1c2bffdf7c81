"""The intervals that leave out whole clusters, from their definitions on tables of a few rows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import t

from dossier.core.facts import Method
from dossier.core.register import Symmetry
from dossier.core.types import Absent, Estimate
from dossier.metrics.intervals import NO_SPREAD
from dossier.metrics.shares import Design, Groups, band, by_cluster, by_linearization, groups, interval
from dossier.typeset.methods import method_text
from tests.estimated import interval_of, present
from tests.reasons import Said, because

THREE = Groups(np.array([0, 1, 2]), 3, 3)
TWO = Groups(np.array([0, 1]), 2, 2)
WITHOUT = (0.4, 0.5, 0.9)
"""Their mean is 0.6 and the squared distances add up to 0.14, of which the jackknife takes two thirds."""
SE = math.sqrt(0.28 / 3)
REACH = 0.95 / math.sqrt(2 * 0.975 * 0.025)
"""With 2 degrees of freedom the quantile p of Student's distribution is (2p - 1) / sqrt(2p(1 - p))."""


def _whole(value: float, **details: float | None) -> Estimate:
    return Estimate(value, 0.1, 0.2, 0.9, 4, Method("wald"), events=2, se=0.05, details=details)


def _found(
    value: float, scale: Symmetry, without: tuple[float, ...] = WITHOUT, made: Groups = THREE, **details: float | None
) -> Estimate:
    return by_cluster(_whole(value, **details), lambda group: _whole(without[group]), made, 0.95, scale)


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


# ---- groups ---------------------------------------------------------------------------------------------------------


def test_each_cluster_is_a_group_in_the_order_of_its_name_whatever_the_seed() -> None:
    for seed in range(5):
        made = groups(np.array([30, -7, 30, 12, -7]), seed)
        assert made.of_row.tolist() == [2, 0, 2, 1, 0]
        assert (made.count, made.clusters) == (3, 3)


def test_250_clusters_are_left_out_alone() -> None:
    made = groups(np.arange(250), 1)
    assert made.of_row.tolist() == list(range(250))
    assert method_text([made.step]) == "jackknife leaving out 250 clusters, t with 249 degrees of freedom"


def test_251_clusters_are_left_out_in_250_groups_of_which_one_has_two() -> None:
    made = groups(np.repeat(np.arange(251), 2), 1)
    assert sorted(np.bincount(made.of_row).tolist()) == [2] * 249 + [4]
    assert (made.of_row[::2] == made.of_row[1::2]).all()
    _, freedom = _by_matrices(np.zeros(502), made.of_row)
    assert 248 < freedom < 249
    assert made.design.freedom == pytest.approx(freedom, rel=1e-10)
    said = f"jackknife leaving out 250 groups of 251 clusters, t with {freedom:.1f} degrees of freedom"
    assert method_text([made.step]) == said


def test_groups_of_clusters_are_drawn_by_the_seed() -> None:
    cluster = np.arange(1000)
    assert groups(cluster, 1).of_row.tolist() == groups(cluster, 1).of_row.tolist()
    assert groups(cluster, 1).of_row.tolist() != groups(cluster, 2).of_row.tolist()


def test_the_method_tells_what_is_left_out_and_counts_it_in_thousands() -> None:
    assert (
        method_text([groups(np.arange(3), 1).step]) == "jackknife leaving out 3 clusters, t with 2 degrees of freedom"
    )
    assert method_text([groups(np.arange(1234), 1).step]).startswith(
        "jackknife leaving out 250 groups of 1,234 clusters, "
    )


# ---- the standard error ---------------------------------------------------------------------------------------------


def test_the_mean_of_equal_clusters_varies_as_the_means_of_the_clusters() -> None:
    means = (Fraction(1, 4), Fraction(3, 4), Fraction(1, 2), Fraction(1))
    without = tuple(float((sum(means) - left) / 3) for left in means)
    centre = sum(means) / 4
    squares = sum((mean - centre) ** 2 for mean in means)
    found = _found(float(centre), "plain", without, groups(np.repeat(np.arange(4), 5), 1))
    assert found.se == pytest.approx(math.sqrt(squares / 3 / 4), rel=1e-14)


def _by_matrices(values: np.ndarray, cluster: np.ndarray) -> tuple[float, float]:
    """The variance of a mean and its degrees of freedom as Bell and McCaffrey define them, with matrices of all rows.

    The residuals of each cluster are multiplied by the inverse square root of its block of I - H; the degrees of
    freedom are those of the quadratic form where rows are independent.
    """
    n = len(values)
    residual_maker = np.eye(n) - 1 / n
    parts = []
    for name in np.unique(cluster):
        here = np.flatnonzero(cluster == name)
        block = np.eye(len(here)) - 1 / n
        size, directions = np.linalg.eigh(block)
        root = directions @ np.diag(size**-0.5) @ directions.T
        parts.append((np.ones(len(here)) / n) @ root @ residual_maker[here])
    of_units = np.array(parts)
    spreads = of_units @ of_units.T
    return float(((of_units @ values) ** 2).sum()), float(np.trace(spreads) ** 2 / np.trace(spreads @ spreads))


@pytest.mark.parametrize("sizes", [(3, 3, 3, 3), (3, 2, 5, 4), (1, 20), (1, 1, 1, 30), (7, 1, 4, 9, 2, 2, 11)])
def test_variance_and_degrees_of_freedom_are_those_of_bell_and_mccaffrey(sizes: tuple[int, ...]) -> None:
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(len(cluster))
    values = rng.random(len(cluster)) + rng.random(len(sizes))[cluster]
    variance, freedom = _by_matrices(values, cluster)
    design = Design(len(values), cluster)
    assert design.variance((values - values.mean()) / len(values)) == pytest.approx(variance, rel=1e-10)
    assert design.freedom == pytest.approx(freedom, rel=1e-10)
    whole = _whole(float(values.mean()))
    made = groups(cluster, 1)
    left_out = by_cluster(whole, lambda g: _whole(float(values[made.of_row != g].mean())), made, 0.95, "plain")
    summed = by_linearization(whole, (values - values.mean()) / len(values), design, 0.95, "plain")
    assert left_out.se == pytest.approx(math.sqrt(variance), rel=1e-9)
    assert interval_of(left_out) == pytest.approx(interval_of(summed), rel=1e-9)


@pytest.mark.parametrize("count", [2, 3, 8, 15, 40, 1000])
def test_equal_clusters_have_one_degree_of_freedom_less_than_there_are(count: int) -> None:
    """To the last digit: it is printed."""
    assert Design(3 * count, np.repeat(np.arange(count), 3)).freedom == count - 1


def test_no_design_has_more_degrees_of_freedom_than_units_less_one() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        n = int(rng.integers(2, 60))
        cluster = rng.integers(0, int(rng.integers(2, 20)), n) if rng.random() < 0.7 else None
        weights = rng.random(n) ** 6 + 1e-9 if rng.random() < 0.7 else None
        design = Design(n, cluster, weights)
        if not design.is_simple and design.units > 1:
            assert 0 < design.freedom <= design.units - 1


# ---- strata ---------------------------------------------------------------------------------------------------------


def test_the_variance_within_strata_by_hand() -> None:
    """Two strata of two and of three clusters of two rows: m/(m - 1) times the squares about the mean of each."""
    cluster = np.repeat(np.arange(5), 2)
    strata = np.repeat([7, 7, 3, 3, 3], 2)
    linearized = np.array([1.0, 2.0, 4.0, 3.0, -1.0, 0.0, -2.0, -3.0, -4.0, 0.0])
    design = Design(10, cluster, None, strata)
    # Sums of clusters: 3 and 7 about 5, times 2; -1, -5 and -4 about -10/3, times 3/2.
    centre = Fraction(-10, 3)
    expected = 2 * (4 + 4) + Fraction(3, 2) * sum((Fraction(z) - centre) ** 2 for z in (-1, -5, -4))
    assert design.variance(linearized) == pytest.approx(float(expected), rel=1e-13)
    # A form of 2 once and of 3/2 twice, after Satterthwaite.
    assert design.freedom == pytest.approx((2 + 3) ** 2 / (4 + 4.5), rel=1e-13)
    equal = np.repeat([7, 7, 3, 3], 2)
    assert Design(8, cluster[:8], None, equal).freedom == 2
    rows = Design(5, None, np.ones(5), np.array([0, 0, 1, 1, 1]))
    assert rows.variance(np.array([3.0, 7.0, -1.0, -5.0, -4.0])) == pytest.approx(float(expected), rel=1e-13)
    assert rows.freedom == 3


def test_unequal_clusters_of_strata_are_corrected_for_what_value_and_mean_take_away() -> None:
    rng = np.random.default_rng(4)
    sizes, of_cluster = [3, 1, 6, 2, 2, 9, 4], np.array([0, 0, 0, 1, 1, 1, 1])
    cluster = np.repeat(np.arange(7), sizes)
    values = rng.random(27) + of_cluster[cluster]
    share = np.array(sizes) / 27
    centred = np.eye(7) - (of_cluster[:, None] == of_cluster) / np.where(of_cluster, 4, 3)[:, None]
    kept = np.diag(centred @ (np.eye(7) - np.outer(share, np.ones(7))))
    totals = np.array([values[cluster == k].sum() for k in range(7)]) / 27
    apart = centred @ (totals - share * values.mean())
    design = Design(27, cluster, None, of_cluster[cluster])
    assert design.variance((values - values.mean()) / 27) == pytest.approx(float((apart**2 / kept).sum()), rel=1e-12)
    assert 2 < design.freedom < 5


def test_units_that_are_alone_in_what_is_left_of_their_strata_vary_as_those_of_one() -> None:
    """Three strata of one cluster each, beside one of two."""
    linearized = np.array([1.0, -1.0, 2.0, 4.0, -6.0])
    design = Design(5, np.arange(5), np.ones(5), np.array([1, 1, 2, 3, 4]))
    assert design.variance(linearized) == pytest.approx(2 * (1 + 1) + 1.5 * (4 + 16 + 36))
    assert design.freedom == 3


def test_groups_of_many_clusters_lie_in_one_stratum_each() -> None:
    cluster = np.repeat(np.arange(900), 2)
    strata = np.repeat(np.where(np.arange(900) < 3, 0, np.where(np.arange(900) < 300, 1, 2)), 2)
    made = groups(cluster, 5, strata)
    assert 245 <= made.count <= 255
    assert len(np.unique(made.of_row)) == made.count
    of_group = [np.unique(strata[made.of_row == group]) for group in range(made.count)]
    assert all(len(each) == 1 for each in of_group)
    assert sum(int(each[0]) == 0 for each in of_group) == 2
    assert all(len(np.unique(made.of_row[cluster == k])) == 1 for k in range(900))
    assert made.design.freedom <= made.count - 3


# ---- the interval of an estimate ------------------------------------------------------------------------------------


def test_a_plain_interval_is_symmetric_at_the_t_quantile_of_one_degree_less_than_clusters() -> None:
    found = _found(0.7, "plain")
    assert interval_of(found) == pytest.approx((0.7 - REACH * SE, 0.7 + REACH * SE), rel=1e-12)
    assert found.se == pytest.approx(SE, rel=1e-14)
    assert (found.value, found.level, found.n, found.events, found.reason) == (0.7, 0.95, 4, 2, None)
    assert found.details == {"df": 2.0}
    assert method_text(found.method) == "jackknife leaving out 3 clusters, t with 2 degrees of freedom"


def test_a_logit_interval_is_symmetric_in_the_log_odds() -> None:
    found = _found(0.7, "logit")
    half = REACH * SE / (0.7 * 0.3)
    assert [_logit(end) for end in interval_of(found)] == pytest.approx(
        [_logit(0.7) - half, _logit(0.7) + half], rel=1e-9
    )
    assert method_text(found.method) == "jackknife leaving out 3 clusters, t with 2 degrees of freedom, logit"


def test_a_log_interval_is_symmetric_in_the_logarithm() -> None:
    found = _found(1.7, "log")
    half = REACH * SE / 1.7
    assert [math.log(end) for end in interval_of(found)] == pytest.approx([math.log(1.7) - half, math.log(1.7) + half])
    assert method_text(found.method) == "jackknife leaving out 3 clusters, t with 2 degrees of freedom, log"


def test_wilson_at_the_effective_rows_solves_the_score_equation_with_the_t_quantile() -> None:
    # The error at a share b is that of the estimate times sqrt(b(1 - b) / (v(1 - v))): the number of rows cancels.
    found = _found(0.7, "wilson")
    low, high = interval_of(found)
    assert 0 < low < 0.7 < high < 1
    for end in (low, high):
        assert abs(0.7 - end) == pytest.approx(REACH * SE * math.sqrt(end * (1 - end) / (0.7 * 0.3)), rel=1e-9)
    assert method_text(found.method) == (
        "Wilson at the effective number of rows; jackknife leaving out 3 clusters, t with 2 degrees of freedom"
    )


@pytest.mark.parametrize(
    ("scale", "value"),
    [
        *((scale, value) for scale in ("wilson", "logit") for value in (-0.5, 0.0, 1.0, 1.5)),
        *(("log", value) for value in (-0.5, 0.0)),
        ("plain", 0.5),
    ],
)
def test_the_interval_is_plain_where_its_scale_ends(scale: Symmetry, value: float) -> None:
    assert interval(value, 0.125, 2.0, 0.95, scale) == (value - 0.25, value + 0.25)


@pytest.mark.parametrize("value", [1e-4, 1.0, 1e4])
def test_the_ends_of_a_ratio_stay_above_0_and_finite_however_large_the_error(value: float) -> None:
    low, high = interval(value, 1e12, 12.7, 0.95, "log")
    assert 0 < low < 1e-290
    assert 1e290 < high < math.inf


def test_the_p_value_is_that_of_the_t_test_of_0() -> None:
    # With 2 degrees of freedom the two tails beyond x hold 1 - x / sqrt(x^2 + 2).
    x = 0.7 / SE
    for value in (0.7, -0.7):
        found = _found(value, "plain", p_value=0.9, tau=0.25)
        assert found.details == {
            "p_value": pytest.approx(1 - x / math.sqrt(x**2 + 2), rel=1e-12),
            "tau": 0.25,
            "df": 2.0,
        }


def test_the_p_value_is_the_level_that_the_interval_leaves_when_it_ends_in_0() -> None:
    p_value = _found(REACH * SE, "plain", p_value=0.9).details["p_value"]
    assert p_value == pytest.approx(0.05, rel=1e-9)


def test_two_clusters_have_an_interval_with_one_degree_of_freedom() -> None:
    # The quantile of Cauchy's distribution is a tangent; half the distance of two values is their standard error.
    found = _found(0.5, "plain", (0.4, 0.7), TWO, p_value=None)
    half = math.tan(math.pi * 0.475) * 0.15
    assert interval_of(found) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-12)
    assert found.details == {"p_value": pytest.approx(1 - 2 * math.atan(0.5 / 0.15) / math.pi, rel=1e-12), "df": 1.0}


def test_one_cluster_has_no_interval_and_is_not_left_out() -> None:
    def never(group: int) -> Estimate:
        raise AssertionError

    whole = _whole(0.5, p_value=0.9, tau=0.25)
    of_clusters = by_cluster(whole, never, groups(np.array([7, 7]), 1), 0.95, "plain")
    for found, unit in (
        (of_clusters, "cluster"),
        (by_linearization(whole, np.zeros(2), Design(2, np.array([7, 7])), 0.95, "plain"), "cluster"),
        (by_linearization(whole, np.zeros(1), Design(1, None, np.ones(1)), 0.95, "plain"), "row"),
    ):
        assert (found.value, found.low, found.high, found.se, found.level) == (0.5, None, None, None, None)
        assert found.reason == Said(f"all rows are of one {unit}, and an interval needs two")
        assert found.details == {"tau": 0.25}


# ---- the interval of what rows and clusters contribute --------------------------------------------------------------


def test_clusters_contribute_what_their_rows_do_in_the_order_of_their_names() -> None:
    contributions = np.array([1.0, 2.0, -4.0, 1.0])
    assert Design(4).totals(contributions).tolist() == contributions.tolist()
    assert Design(4, np.array([30, -7, 30, 12])).totals(contributions).tolist() == [2.0, 1.0, -3.0]


def test_the_variance_of_a_sum_by_hand_and_that_of_a_mean() -> None:
    # Mean 1, squares 1 + 9 + 16 = 26, times 3/2.
    assert Design(3).variance(np.array([2.0, 4.0, -3.0])) == pytest.approx(39, rel=1e-14)
    values = np.array([0.2, 0.9, 0.4, 0.7])
    of_mean = Design(4).variance((values - values.mean()) / 4)
    assert of_mean == pytest.approx(float(np.var(values, ddof=1)) / 4, rel=1e-14)


@pytest.mark.parametrize("scale", ["plain", "log", "logit"])
def test_the_same_error_gives_the_same_interval_by_linearization_as_by_the_jackknife(scale: Symmetry) -> None:
    third = SE / math.sqrt(3)
    found = by_linearization(
        _whole(0.7, p_value=0.9), np.array([third, -third, 0.0]), Design(3, np.arange(3)), 0.95, scale
    )
    jackknife = _found(0.7, scale, p_value=0.9)
    assert interval_of(found) == pytest.approx(interval_of(jackknife), rel=1e-12)
    assert found.se == pytest.approx(SE, rel=1e-14)
    assert found.details == pytest.approx(jackknife.details, rel=1e-12)
    ending = "" if scale == "plain" else f", {scale}"
    assert method_text(found.method) == f"linearization over 3 clusters, t with 2 degrees of freedom{ending}"


def test_contributions_that_do_not_vary_leave_no_interval() -> None:
    found = by_linearization(_whole(0.7, p_value=0.9), np.zeros(3), Design(3, None, np.ones(3)), 0.95, "plain")
    assert (found.low, found.high, found.se, found.reason) == (None, None, None, NO_SPREAD)


def test_no_interval_where_the_measure_has_no_value_without_a_cluster() -> None:
    def without(group: int) -> Estimate | Absent:
        return Absent(because("there are no events")) if group == 2 else _whole(0.5 + group)

    found = by_cluster(_whole(0.5, p_value=0.9), without, THREE, 0.95, "logit")
    assert (found.value, found.low, found.high, found.se, found.level) == (0.5, None, None, None, None)
    assert found.reason == Said("without some of the clusters there is no value: there are no events")
    assert found.details == {}
    assert method_text(found.method) == "jackknife leaving out 3 clusters, t with 2 degrees of freedom"


@pytest.mark.parametrize(
    ("value", "spread", "varies"),
    [
        (0.5, 0.0, False),
        (0.0, 0.0, False),
        # At most 1e-12, or 1e-12 of a value beyond 1, is rounding.
        (0.0, 1e-12, False),
        (1.0, 1e-12, False),
        (0.0, 1.5e-12, True),
        (-0.5, 1.5e-12, True),
        (1e6, 0.9e-6, False),
        (-1e6, 0.9e-6, False),
        (1e6, 1.1e-6, True),
        (-1e6, 1.1e-6, True),
    ],
)
def test_no_interval_where_the_measure_varies_by_no_more_than_rounding(
    value: float, spread: float, varies: bool
) -> None:
    without = (0.0, 2 * spread)
    found = _found(value, "plain", without, TWO, p_value=0.9)
    if varies:
        assert present(found.low) < value
        return
    assert (found.value, found.low, found.high, found.se, found.level) == (value, None, None, None, None)
    assert found.reason == Said("the rows do not vary enough to estimate an interval")
    assert found.details == {}


@pytest.mark.parametrize("scale", ["plain", "logit", "wilson"])
def test_a_rate_of_unequal_clusters_against_a_slow_loop(scale: Symmetry) -> None:
    table = {"a": (1, 1, 0), "b": (0, 0), "c": (1, 1, 1, 0, 1), "d": (0, 1, 0, 0)}
    names = sorted(table)
    rows = np.array([float(number) for name in names for number in table[name]])
    cluster = np.array([index for index, name in enumerate(names) for _ in table[name]])
    made = groups(cluster, 1)
    found = by_cluster(
        _whole(float(rows.mean())), lambda group: _whole(float(rows[made.of_row != group].mean())), made, 0.9, scale
    )
    without = []
    for left in names:
        kept = [number for name in names if name != left for number in table[name]]
        without.append(Fraction(sum(kept), len(kept)))
    shares = [Fraction(len(table[name]), 14) for name in names]
    se = math.sqrt(sum((1 - share) * (Fraction(1, 2) - each) ** 2 for share, each in zip(shares, without, strict=True)))
    assert found.se == pytest.approx(se, rel=1e-12)
    half, share = float(t.ppf(0.95, _by_matrices(rows, cluster)[1])) * se, 7 / 14
    for end, sign in zip(interval_of(found), (-1, 1), strict=True):
        if scale == "plain":
            assert end == pytest.approx(share + sign * half, rel=1e-12)
        elif scale == "logit":
            assert _logit(end) == pytest.approx(sign * half * 4, rel=1e-9)
        else:
            assert end - share == pytest.approx(sign * half * math.sqrt(end * (1 - end) * 4), rel=1e-9)


# ---- the band of a curve --------------------------------------------------------------------------------------------

LEFT_OUT = np.array([[0.1, 0.70, 0.2, 0.9], [0.3, 0.90, 0.0, 1.0], [0.3, 0.95, 0.0, 1.0]])


def _errors() -> list[float]:
    """Point by point, the jackknife's standard error of the three curves."""
    found = []
    for point in range(4):
        column = [float(curve[point]) for curve in LEFT_OUT]
        centre = sum(column) / 3
        found.append(math.sqrt(2 / 3 * sum((value - centre) ** 2 for value in column)))
    return found


def test_a_band_is_plain_at_each_point_of_a_curve_that_is_no_share() -> None:
    """But a net benefit is never above 1."""
    values = np.array([0.25, -0.5, 0.0, 3.0])
    low, high = band(values, LEFT_OUT, THREE, 2.5, False)
    assert low.tolist() == pytest.approx([v - 2.5 * se for v, se in zip(values, _errors(), strict=True)], rel=1e-12)
    ends = [min(v + 2.5 * se, 1) for v, se in zip(values, _errors(), strict=True)]
    assert ends[3] == 1
    assert high.tolist() == pytest.approx(ends, rel=1e-12)


def test_a_band_of_shares_is_symmetric_in_the_log_odds_and_ends_where_the_curve_is_0_or_1() -> None:
    low, high = band(np.array([0.25, 0.8, 0.0, 1.0]), LEFT_OUT, THREE, 2.5, True)
    for point, share in enumerate((0.25, 0.8)):
        half = 2.5 * _errors()[point] / (share * (1 - share))
        assert _logit(float(low[point])) == pytest.approx(_logit(share) - half, rel=1e-9)
        assert _logit(float(high[point])) == pytest.approx(_logit(share) + half, rel=1e-9)
    assert low[2:].tolist() == high[2:].tolist() == [0.0, 1.0]


def test_a_band_of_shares_has_no_width_where_the_curves_are_one() -> None:
    low, high = band(np.array([0.5]), np.array([[0.5], [0.5]]), TWO, 12.7, True)
    assert (low.tolist(), high.tolist()) == ([0.5], [0.5])


@pytest.mark.parametrize("share", [1e-300, 1e-6, 0.5, 1 - 1e-6, math.nextafter(1, 0)])
def test_a_band_of_shares_stays_within_0_and_1_however_large_the_error(share: float) -> None:
    low, high = band(np.array([share]), np.array([[0.0], [1.0]]), TWO, 1e4, True)
    assert (low[0], high[0]) == pytest.approx((0, 1), abs=1e-200)


@pytest.mark.parametrize("scale", ["wilson", "logit", "log"])
def test_the_scale_that_is_printed_is_the_one_that_was_used(scale: Symmetry) -> None:
    """A value of 0 lies on no such scale: its interval is plain, and nothing else is said."""
    none, linearized = Estimate(0.0, None, None, None, 4, Method("counted")), np.array([0.1, -0.1, 0.2, -0.2])
    found = by_linearization(none, linearized, Design(4, None, np.ones(4)), 0.95, scale)
    assert method_text(found.method) == "linearization over 4 rows, t with 3 degrees of freedom"
