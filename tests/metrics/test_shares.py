"""Sums of shares against R's survey package, a second writing of the formula, and samples drawn from known cells."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm
from scipy.stats import t as student

from dossier.core.types import Floats
from dossier.metrics import shares
from dossier.metrics.calibration import oe_ratio
from dossier.metrics.comparison import net_benefit_difference
from dossier.metrics.shares import Design, bounds, multinomial
from dossier.metrics.utility import cells_at, net_benefit, net_benefit_gain
from tests.estimated import estimated, interval_of, present
from tests.reasons import Said

Z = 1.959963984540054
COUNTS = st.tuples(*[st.integers(0, 30)] * 4).filter(any)
THRESHOLDS = st.sampled_from([0.0, 0.01, 0.1, 0.3, 0.5, 0.8])


def rows_of(tp: int, fp: int, fn: int, tn: int, threshold: float) -> tuple[Floats, Floats]:
    """Outcomes and risks with these counts at the threshold."""
    outcome = np.repeat([1.0, 0.0, 1.0, 0.0], (tp, fp, fn, tn))
    return outcome, np.repeat([threshold, threshold, threshold / 2 - 0.1, threshold / 2 - 0.1], (tp, fp, fn, tn))


# ---- the formula of methods.md, written once more -------------------------------------------------------------------


def by_hand(a: float, x: int, b: float, y: int, n: int, quantile: float = Z) -> tuple[float, float, float]:
    """g = a x - b y with Wilson's intervals put together; x and y are counts of n."""

    def ends(k: int) -> tuple[float, float]:
        share = k / n
        middle = share + quantile**2 / (2 * n)
        half = quantile * math.sqrt(share * (1 - share) / n + quantile**2 / (4 * n**2))
        return (middle - half) / (1 + quantile**2 / n), (middle + half) / (1 + quantile**2 / n)

    (x_low, x_high), (y_low, y_high) = ends(x), ends(y)
    px, py = x / n, y / n
    # Where all rows lie in one of the two, what it loses the other may gain.
    r = -1.0 if n in (x, y) else -math.sqrt(px * py / ((1 - px) * (1 - py)))
    g = a * px - b * py
    d, e = a * (px - x_low), b * (y_high - py)
    low = g - math.sqrt(max(d * d + e * e - 2 * r * d * e, 0))
    d, e = a * (x_high - px), b * (py - y_low)
    return g, low, g + math.sqrt(max(d * d + e * e - 2 * r * d * e, 0))


@given(COUNTS, THRESHOLDS)
@settings(deadline=None, max_examples=300)
def test_net_benefit_and_its_gain_by_hand(counts: tuple[int, int, int, int], t: float) -> None:
    tp, fp, fn, tn = counts
    n, w = sum(counts), t / (1 - t)
    y, p = rows_of(tp, fp, fn, tn, t)
    found = estimated(net_benefit(y, p, t))
    value, low, high = by_hand(1, tp, w, fp, n)
    assert (found.value, found.low, found.high) == pytest.approx((value, low, min(high, 1)), abs=1e-12)
    assert found.se == pytest.approx((high - low) / (2 * Z), abs=1e-12)
    gain = estimated(net_benefit_gain(y, p, t))
    over_all, over_none = by_hand(w, tn, 1, fn, n), by_hand(1, tp, w, fp, n)
    everyone = (tp + fn) / n - w * (fp + tn) / n
    value, low, high = map(min, over_all, over_none)
    assert (gain.value, gain.low, gain.high) == pytest.approx((value, low, min(high, 1)), abs=1e-12)
    assert gain.se == pytest.approx((high - low) / (2 * Z), abs=1e-12)
    assert gain.details["default"] == pytest.approx(max(everyone, 0), abs=1e-12)


def test_where_no_one_is_the_better_default_gain_and_net_benefit_are_one_number_with_one_interval() -> None:
    y, p = rows_of(12, 9, 8, 171, 0.3)
    found, gain = estimated(net_benefit(y, p, 0.3)), estimated(net_benefit_gain(y, p, 0.3))
    assert gain.details["default"] == 0
    assert (gain.value, gain.low, gain.high, gain.se) == (found.value, found.low, found.high, found.se)


def test_far_from_the_prevalence_the_bounds_are_those_of_the_better_default_alone() -> None:
    for tp, fp, fn, tn, t in ((40, 100, 2, 158, 0.02), (40, 20, 20, 220, 0.5)):
        y, p = rows_of(tp, fp, fn, tn, t)
        gain, w = estimated(net_benefit_gain(y, p, t)), t / (1 - t)
        alone = by_hand(w, tn, 1, fn, 300) if t < 0.2 else by_hand(1, tp, w, fp, 300)
        assert (gain.value, gain.low, gain.high) == pytest.approx(alone, abs=1e-12)


def test_a_gain_over_the_worse_default_is_none() -> None:
    """Fourteen cases of 300 at .05: flagging no one is the better default by a hair, and the model clearly exceeds it.

    In truth it may be flagging everyone, which the model does not exceed for sure: eight of the cases are missed.
    """
    y, p = rows_of(6, 8, 8, 278, 0.05)
    found = estimated(net_benefit_gain(y, p, 0.05))
    assert found.details["default"] == 0
    assert by_hand(1, 6, 1 / 19, 8, 300)[1] > 0
    assert found.low == pytest.approx(by_hand(1 / 19, 278, 1, 8, 300)[1])
    assert present(found.low) < 0


def test_what_either_default_exceeds_is_worse() -> None:
    """299 cases of 1,000 at .3: flagging no one is better by a hair, flagging everyone is so for sure."""
    y, p = rows_of(270, 699, 29, 2, 0.3)
    high = by_hand(3 / 7, 2, 1, 29, 1000)[2]
    assert high < -0.015
    assert by_hand(1, 270, 3 / 7, 699, 1000)[2] > 0.01
    rows, same = np.arange(1000), np.zeros(1000, dtype=np.int64)
    for how in ((), (rows,), (None, np.full(1000, 2.0)), (rows, None, same)):
        found = estimated(net_benefit_gain(y, p, 0.3, design=Design(1000, *how)))
        # Student's t with 999 degrees of freedom, and n - 1 in the variance, where rows are more than counted.
        assert found.high == pytest.approx(high, abs=1e-12 if not how else 5e-5)
        assert found.details["default"] == 0


@pytest.mark.parametrize(("threshold", "hit", "alarm"), [(0.3, 0.9, 0.95), (0.33, 0.9, 0.95), (0.27, 0.05, 0.05)])
def test_the_gain_holds_near_a_threshold_that_equals_the_prevalence(threshold: float, hit: float, alarm: float) -> None:
    """By their own default alone the bounds hold in .84 to .95; by both in .947 to .953 of 20,000 samples."""
    odds, generator = threshold / (1 - threshold), np.random.default_rng(11)
    cells = np.array([0.3 * hit, 0.7 * alarm, 0.3 * (1 - hit), 0.7 * (1 - alarm)])
    truth, held = min(cells[0] - odds * cells[1], odds * cells[3] - cells[2]), 0
    for tp, fp, fn, tn in generator.multinomial(300, cells, 1000).tolist():
        low, high = interval_of(estimated(net_benefit_gain(*rows_of(tp, fp, fn, tn, threshold), threshold)))
        held += low <= truth <= high
    assert held / 1000 >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 1000)


def test_no_missed_case_is_no_proof_of_a_gain() -> None:
    """Sixty of 300 spared and no case missed at .01: a normal interval, which drops the missed cases, ends above 0."""
    y, p = rows_of(21, 219, 0, 60, 0.01)
    found = estimated(net_benefit_gain(y, p, 0.01))
    gains = np.where((y == 0) & (p < 0.01), 1 / 99, 0.0)
    assert gains.mean() - Z * gains.std(ddof=1) / math.sqrt(300) > 0.0015
    assert found.value == pytest.approx(gains.mean())
    assert found.low == pytest.approx(60 / 300 / 99 - 0.0126489, abs=1e-6)  # 3.84 of 303.84 may have been missed


@given(COUNTS, THRESHOLDS, st.sampled_from([0.8, 0.95, 0.99]))
@settings(deadline=None)
def test_the_difference_from_the_rival_by_hand(counts: tuple[int, int, int, int], t: float, level: float) -> None:
    """Cases that either flags alone, others that either flags alone, and 20 rows on which the two agree.

    One row of each of the four kinds is added to the variance, so that it is not 0 where a kind is not seen.
    """
    n, w = sum(counts) + 20, t / (1 - t)
    coefficients = (1.0, -1.0, -w, w)
    y = np.concatenate((np.repeat([1.0, 1.0, 0.0, 0.0], counts), np.tile([1.0, 0.0], 10)))
    ours = np.concatenate((np.repeat([True, False, True, False], counts), np.ones(20, dtype=bool)))
    theirs = np.concatenate((np.repeat([False, True, False, True], counts), np.ones(20, dtype=bool)))
    p, q = np.where(ours, 0.9, t / 2 - 0.1), np.where(theirs, 0.91, t / 2 - 0.1)
    found = estimated(net_benefit_difference(y, p, q, t, level))
    value = sum(c * k / n for c, k in zip(coefficients, counts, strict=True))
    squares = sum(c * c * k for c, k in zip(coefficients, counts, strict=True))
    variance = (squares - n * value**2) / (n - 1) / n + (1 + 1 + w * w + w * w) / n**2
    half, most = float(norm.ppf(0.5 + level / 2)) * math.sqrt(variance), max(1, w)
    expected = (value, max(value - half, -most), min(value + half, most))
    assert (found.value, found.low, found.high) == pytest.approx(expected, abs=1e-12)
    p_value = found.details["p_value"]
    assert p_value == pytest.approx(math.erfc(abs(value) / math.sqrt(2 * variance)))


def test_a_difference_is_as_wide_as_its_rows_vary() -> None:
    """Two models that seldom disagree, at .07: four Wilson intervals were more than twice as wide as the paired
    variance, and had a model differ from itself."""
    rng = np.random.default_rng(17)
    n, t = 1000, 0.07
    logit = rng.normal(-2.6, 1, n)
    y, p, q = (rng.random(n) < expit(logit)).astype(float), expit(logit), expit(logit + rng.normal(0, 0.3, n))
    found = estimated(net_benefit_difference(y, p, q, t))
    rows = ((p >= t) * 1.0 - (q >= t)) * (y - (1 - y) * t / (1 - t))
    assert present(found.se) == pytest.approx(rows.std(ddof=1) / math.sqrt(n), rel=0.25)
    itself = estimated(net_benefit_difference(y, p, p.copy(), t))
    assert (itself.value, itself.low, itself.high, itself.details["p_value"]) == (0, 0, 0, 1)


def test_the_p_value_ends_the_interval_at_0() -> None:
    y, p = rows_of(30, 10, 5, 155, 0.2)
    theirs = np.where(np.arange(200) % 3 > 0, p, 0.5)
    p_value = present(estimated(net_benefit_difference(y, p, theirs, 0.2)).details["p_value"])
    at_it = estimated(net_benefit_difference(y, p, theirs, 0.2, 1 - p_value))
    low, high = interval_of(at_it)
    assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-9)


# ---- clusters and weights, against R --------------------------------------------------------------------------------


def sampled() -> tuple[Floats, Floats, NDArray[np.int64], Floats]:
    """Outcome, risk, cluster and weight of 120 rows, as R read them."""
    rng = np.random.default_rng(7)
    cluster, weights = rng.integers(0, 15, 120), np.round(rng.uniform(0.5, 3, 120), 2)
    risk = np.round(rng.beta(2, 5, 120), 3)
    return (rng.random(120) < risk).astype(float), risk, cluster, weights


R_SHARES = (0.221323597375, 0.393520658101, 0.077179036880, 0.307976707644)
"""svymean of true positives, false positives, false negatives and true negatives at .2; survey 4.1-1, R 4.2."""
R_CLUSTERED = (9.460910937138e-04, -7.100341707218e-04, 8.752325695379e-04, -1.474353633364e-04)
R_WEIGHTED = (1.703353421301e-03, -8.458875160374e-04, 7.802335088829e-04, -2.581790271677e-04)
"""Of its vcov: TP with TP, TP with FP, FN with FN, FN with TN; with ids = ~cluster, and ids = ~1."""
R_RATIO, R_SE_CLUSTERED, R_SE_WEIGHTED = 1.093326, 0.146572913403, 0.158147893438
"""svyratio of outcome to risk, and its SE."""


def by_bell_and_mccaffrey(moves: Floats, cluster: NDArray[np.int64], weights: Floats) -> tuple[Floats, Floats, float]:
    """The covariance of weighted sums of the `moves` (sums, n) as survey has it, and by leverage, and its freedom."""
    share = weights / weights.sum()
    names = np.unique(cluster)
    totals = np.array([(share * moves)[:, cluster == name].sum(axis=1) for name in names]).T
    sizes = np.array([share[cluster == name].sum() for name in names])
    projection = np.eye(len(names)) - np.outer(sizes, np.ones(len(names)))
    alone = np.diag([float((share[cluster == name] ** 2).sum()) for name in names])
    form = np.diag((1 - sizes) ** -0.5) @ projection @ alone @ projection.T @ np.diag((1 - sizes) ** -0.5)
    by_r = totals @ totals.T * len(names) / (len(names) - 1)
    return by_r, totals @ np.diag(1 / (1 - sizes)) @ totals.T, float(np.trace(form) ** 2 / np.trace(form @ form))


def test_shares_of_weights_are_those_of_r() -> None:
    y, p, _, weights = sampled()
    design = Design(120, None, weights)
    values, covariance = design.shares(cells_at(y, p, 0.2))
    assert values == pytest.approx(R_SHARES, abs=1e-11)
    found = [covariance[0, 0], covariance[0, 1], covariance[2, 2], covariance[2, 3]]
    assert found == pytest.approx(R_WEIGHTED, rel=1e-10)
    assert design.freedom == 119


def test_shares_of_clusters_and_weights_are_those_of_r_but_for_the_size_of_clusters() -> None:
    y, p, cluster, weights = sampled()
    cells = cells_at(y, p, 0.2)
    design = Design(120, cluster, weights)
    values, covariance = design.shares(cells)
    assert values == pytest.approx(R_SHARES, abs=1e-11)
    by_r, expected, freedom = by_bell_and_mccaffrey(cells - values[:, None], cluster, weights)
    assert [by_r[0, 0], by_r[0, 1], by_r[2, 2], by_r[2, 3]] == pytest.approx(R_CLUSTERED, rel=1e-10)
    assert covariance == pytest.approx(expected, rel=1e-10)
    assert 10 < freedom < 14
    assert design.freedom == pytest.approx(freedom, rel=1e-10)


@pytest.mark.parametrize("clustered", [True, False])
def test_a_ratio_of_clusters_and_weights_is_that_of_r(clustered: bool) -> None:
    y, p, cluster, weights = sampled()
    found = estimated(oe_ratio(y, p, 0.95, Design(120, cluster if clustered else None, weights)))
    assert found.value == pytest.approx(R_RATIO, abs=5e-7)
    moves = (y - found.value * p)[None, :] * float(weights.sum()) / float((weights * p).sum())
    by_r, expected, freedom = by_bell_and_mccaffrey(moves, cluster, weights)
    assert by_r[0, 0] == pytest.approx(R_SE_CLUSTERED**2, rel=1e-9)
    se, df = (math.sqrt(expected[0, 0]), freedom) if clustered else (R_SE_WEIGHTED, 119.0)
    assert found.se == pytest.approx(se, rel=1e-10)
    assert found.low == pytest.approx(found.value * math.exp(-student.ppf(0.975, df) * se / found.value))


def test_the_interval_of_clusters_and_weights_takes_effective_numbers_of_rows() -> None:
    """Wilson's interval of each share at x (1 - x)/variance rows with the t quantile, and their correlation."""
    y, p, cluster, weights = sampled()
    design = Design(120, cluster, weights)
    found = estimated(net_benefit(y, p, 0.2, 0.95, design))
    _, covariance = design.shares(cells_at(y, p, 0.2))
    reach, w = float(student.ppf(0.975, design.freedom)), 0.25
    ends = []
    for position in (0, 1):
        x, rows = R_SHARES[position], R_SHARES[position] * (1 - R_SHARES[position]) / covariance[position, position]
        middle = x + reach**2 / (2 * rows)
        half = reach * math.sqrt(x * (1 - x) / rows + reach**2 / (4 * rows**2))
        ends.append(((middle - half) / (1 + reach**2 / rows), (middle + half) / (1 + reach**2 / rows)))
    r = covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])
    x, other = R_SHARES[0], R_SHARES[1]
    d, e = x - ends[0][0], w * (ends[1][1] - other)
    assert found.low == pytest.approx(x - w * other - math.sqrt(d * d + e * e - 2 * r * d * e), abs=1e-10)
    d, e = ends[0][1] - x, w * (other - ends[1][0])
    assert found.high == pytest.approx(x - w * other + math.sqrt(d * d + e * e - 2 * r * d * e), abs=1e-10)
    low, high = interval_of(found)
    assert found.se == pytest.approx((high - low) / (2 * reach))


def test_a_share_of_0_takes_the_effective_number_of_the_other_share() -> None:
    """Nobody is missed: what clusters do to the spared says how few rows there are."""
    y, p = rows_of(20, 60, 0, 120, 0.1)
    cluster = np.arange(200) // 20
    values, covariance = Design(200, cluster).shares(cells_at(y, p, 0.1))
    rows = values[3] * (1 - values[3]) / covariance[3, 3]
    assert rows < 20
    at = shares.effective_rows(np.array([0, 0, -1.0, 1 / 9]), values, covariance, 200, 10)
    assert at[2:] == pytest.approx([rows, rows])
    # In no share of the sum anything varies: there are as many rows as clusters.
    assert shares.effective_rows(np.array([1.0, -1.0]), np.zeros(2), np.zeros((2, 2)), 200, 10) == pytest.approx(
        [10, 10]
    )


def test_equal_weights_and_clusters_of_one_change_next_to_nothing() -> None:
    rng = np.random.default_rng(5)
    p = rng.beta(2, 5, 900)
    y = (rng.random(900) < p).astype(float)
    for measure in (net_benefit, net_benefit_gain):
        plain = estimated(measure(y, p, 0.3))
        for design in (Design(900, np.arange(900)), Design(900, None, np.full(900, 2.5))):
            found = measure(y, p, 0.3, 0.95, design)
            assert estimated(found).value == pytest.approx(plain.value, abs=1e-12)
            assert (estimated(found).low, estimated(found).high) == pytest.approx((plain.low, plain.high), abs=1e-4)


def test_one_cluster_has_no_interval_and_rows_without_weight_no_value() -> None:
    y, p = rows_of(5, 5, 5, 5, 0.3)
    found = estimated(net_benefit_gain(y, p, 0.3, 0.95, Design(20, np.zeros(20, dtype=np.int64))))
    assert (found.low, found.high, found.se) == (None, None, None)
    assert found.reason == Said("all rows are of one cluster, and an interval needs two")
    assert net_benefit(y, p, 0.3, 0.95, Design(20, None, np.zeros(20))) == Said("no row that is left has a weight")


# ---- coverage -------------------------------------------------------------------------------------------------------

NODES = np.linspace(-8, 8, 8001)
DENSITY = norm.pdf(NODES) / norm.pdf(NODES).sum()
GRID = [(0.07, t) for t in (0.0075, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)]
GRID += [(phi, t) for phi in (0.3, 0.5, 0.6) for t in (0.2, 0.3, 0.4, 0.5, 0.6)]
SAMPLES = 4000


def cells_of(phi: float, t: float, shift: float) -> Floats:
    """The shares of the four cells of a model whose risks are shifted on the logit scale."""
    low, high = -12.0, 12.0
    for _ in range(60):
        centre = (low + high) / 2
        low, high = (centre, high) if (DENSITY * expit(centre + 1.2 * NODES)).sum() < phi else (low, centre)
    chance = expit(centre + 1.2 * NODES)
    flagged = expit(centre + 1.2 * NODES + shift) >= t
    tp, fp = float((DENSITY * chance)[flagged].sum()), float((DENSITY * (1 - chance))[flagged].sum())
    return np.array([tp, fp, phi - tp, 1 - phi - fp])


@pytest.mark.parametrize("shift", [0.0, -0.5])
@pytest.mark.parametrize("n", [300, 500, 1500])
def test_the_gain_holds_the_truth_far_from_the_prevalence(shift: float, n: int) -> None:
    """Coverage .925 to .975, four Monte Carlo errors more allowed, wherever the rarer count is expected to be 1.

    How often a gain is claimed that is none stands in the lane of the simulated hospitals.
    """
    rng, slack, checked = np.random.default_rng(n), 4 * math.sqrt(0.05 * 0.95 / SAMPLES), 0
    for phi, t in GRID:
        cells, w = cells_of(phi, t, shift), t / (1 - t)
        drawn = rng.multinomial(n, cells, size=SAMPLES).T / n
        over_all, over_none = np.array([0, 0, -1.0, w]), np.array([1.0, -w, 0, 0])
        everyone = drawn[0] + drawn[2] > w * (drawn[1] + drawn[3])
        each = [
            bounds(np.tile(item[:, None], SAMPLES), drawn, multinomial(drawn, n), n, n, Z)
            for item in (over_all, over_none)
        ]
        low, high = np.minimum(each[0][0], each[1][0]), np.where(everyone, each[0][1], each[1][1])
        gains = [float((item * cells).sum()) for item in (over_all, over_none)]
        truth, of_all = min(gains), gains[0] <= gains[1]
        if n * min(cells[2:] if of_all else cells[:2]) >= 1:
            covered = float(((low <= truth) & (truth <= high)).mean())
            assert 0.925 - slack <= covered <= 0.975 + slack, (phi, t, n, shift, covered)
            checked += 1
    assert checked >= 20
