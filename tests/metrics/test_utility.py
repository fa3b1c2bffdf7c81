"""Net benefit against dcurves, the table of methods.md, and obvious loops."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dossier.core import multiplicity
from dossier.core.types import Absent, Curve, CurveResult, DatasetSummary, Estimate, Floats, SiteResults
from dossier.metrics import utility
from dossier.metrics.intervals import wilson
from dossier.metrics.shares import Design
from dossier.typeset.methods import method_text
from dossier.typeset.reasons import reason_text
from tests.estimated import absent, curved, estimated, interval_of, present
from tests.metrics.parts import arrays, columns, r, table
from tests.reasons import Said
from tests.reference.tables import GOLDEN, RATERS, needs_covid, needs_raters, printed
from tests.reference.tables import site as hospital

ROWS = st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0, 0.1, 0.3, 0.5, 0.7, 1])), min_size=1, max_size=14)


def curve(found: Curve | Absent) -> dict[str, Floats]:
    return {name: np.array(values, dtype=float) for name, values in curved(found).columns.items()}


@needs_covid
@pytest.mark.parametrize("name", ["brazil-1", "brazil-3", "italy-1", "ethiopia", "spain"])
def test_the_five_hospitals(name: str) -> None:
    y, p = hospital(name)
    assert estimated(utility.net_benefit(y, p, 0.25)).value == pytest.approx(printed(name, "NB25"), abs=5.01e-8)
    assert estimated(utility.standardized_net_benefit(y, p, 0.5)).value == pytest.approx(
        printed(name, "sNB"), abs=5.01e-8
    )


@pytest.mark.parametrize("column", ["p", "p2"])
def test_net_benefit_is_that_of_dcurves(column: str) -> None:
    (y, p), expected = columns(column), r()["dcurves"]["binary"]["dca"]
    checked = 0
    for row in expected:
        if 0 < row["threshold"] < 1 and row["variable"] == column:
            found = estimated(utility.net_benefit(y, p, row["threshold"]))
            assert found.value == pytest.approx(row["net_benefit"], abs=1e-11)
            checked += 1
        if row["variable"] == "all" and 0 < row["threshold"] < 0.9:
            ends = curve(utility.decision_curve(y, p, (row["threshold"], 0.95)))
            assert ends["treat_all"][0] == pytest.approx(row["net_benefit"], abs=1e-10)
    assert checked > 8


@pytest.mark.parametrize("column", ["p", "p2"])
def test_net_benefit_with_ties_at_the_threshold_is_that_of_python(column: str) -> None:
    expected = json.loads((GOLDEN / "python/python_golden.json").read_text())["net_benefit"][column]
    for threshold, row in expected.items():
        (y, p), t = columns(column, "python/binary.csv"), float(threshold)
        assert estimated(utility.net_benefit(y, p, t)).value == pytest.approx(row["nb_ge"], abs=1e-14)
        assert estimated(utility.standardized_net_benefit(y, p, t)).value == pytest.approx(row["snb_ge"], abs=1e-13)


@given(ROWS, st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9]))
@settings(deadline=None)
def test_net_benefit_row_by_row(rows: list[tuple[int, float]], t: float) -> None:
    y, p = arrays(rows)
    n = len(rows)
    each = [(1.0 if outcome else -t / (1 - t)) if risk >= t else 0.0 for outcome, risk in rows]
    value = sum(each) / n
    found = estimated(utility.net_benefit(y, p, t))
    assert found.value == pytest.approx(value, abs=1e-12)
    low, high = interval_of(found)
    assert low <= found.value + 1e-12
    assert high >= found.value - 1e-12
    standardized = utility.standardized_net_benefit(y, p, t)
    if y.sum() == 0:
        assert isinstance(standardized, Absent)
    else:
        assert estimated(standardized).value == pytest.approx(value / y.mean(), abs=1e-12)


def test_the_variance_of_riley() -> None:
    y = np.array([1.0] * 40 + [0.0] * 60)
    p = np.array([0.9] * 30 + [0.1] * 10 + [0.9] * 12 + [0.1] * 48)
    phi, se, sp, t = 0.4, 0.75, 0.8, 0.2
    w = ((1 - phi) / phi) * (t / (1 - t))
    variance = (se * (1 - se) / phi + w**2 * sp * (1 - sp) / (1 - phi) + w**2 * (1 - sp) ** 2 / (phi * (1 - phi))) / 100
    assert estimated(utility.standardized_net_benefit(y, p, t)).value == pytest.approx(se - w * (1 - sp))
    assert utility.standardized_variance(y, p, t) == pytest.approx(variance)
    assert utility.standardized_variance(np.ones(8), np.array([0.9] * 6 + [0.1] * 2), 0.5) == pytest.approx(
        0.75 * 0.25 / 8
    )


def by_hand(tp: float, fp: float, cases: float, odds: float) -> tuple[float, float, float]:
    """The standardized net benefit and its bounds from counts, as roots of the equations that Wilson's intervals solve.

    A share q is inside while (x/m - q)^2 <= z^2 q (1 - q) / m.
    """

    def wilson_ends(x: float, m: float) -> tuple[float, float]:
        z2 = 1.959963984540054**2
        low, high = sorted(np.roots([1 + z2 / m, -(2 * x / m + z2 / m), (x / m) ** 2]).real)
        return max(0.0, low), min(1.0, high)

    hit, (hit_low, hit_high) = tp / cases, wilson_ends(tp, cases)
    low, high = wilson_ends(fp, fp + cases)
    cost, cost_low, cost_high = odds * fp / cases, odds * low / (1 - low), odds * high / (1 - high)
    value = hit - cost
    return (
        value,
        value - math.sqrt((hit - hit_low) ** 2 + (cost_high - cost) ** 2),
        value + math.sqrt((hit_high - hit) ** 2 + (cost - cost_low) ** 2),
    )


@pytest.mark.parametrize(("tp", "fn", "fp", "tn"), [(30, 10, 12, 48), (5, 0, 0, 95), (0, 7, 3, 20), (6, 2, 0, 0)])
@pytest.mark.parametrize("t", [0.03, 0.2, 0.8])
def test_the_interval_puts_two_of_wilsons_together(tp: int, fn: int, fp: int, tn: int, t: float) -> None:
    y = np.array([1.0] * (tp + fn) + [0.0] * (fp + tn))
    p = np.array([0.9] * tp + [0.01] * fn + [0.9] * fp + [0.01] * tn)
    expected = by_hand(tp, fp, tp + fn, t / (1 - t))
    for found in (estimated(utility.standardized_net_benefit(y, p, t)), estimated(utility.weighted_utility(y, p, t))):
        assert (found.value, found.low, found.high) == pytest.approx(expected, abs=1e-9)
        assert found.se == pytest.approx((expected[2] - expected[1]) / (2 * 1.959963984540054))
        assert method_text(found.method) == "MOVER of Wilson intervals"


def test_the_variance_of_riley_agrees_with_the_jackknife() -> None:
    rng = np.random.default_rng(4)
    p = rng.random(500)
    y = (rng.random(500) < p).astype(float)
    found = estimated(utility.standardized_net_benefit(y, p, 0.3))
    left_out = np.array(
        [estimated(utility.standardized_net_benefit(np.delete(y, i), np.delete(p, i), 0.3)).value for i in range(500)]
    )
    of_jackknife = math.sqrt(499 / 500 * float(((left_out - left_out.mean()) ** 2).sum()))
    assert math.sqrt(utility.standardized_variance(y, p, 0.3)) == pytest.approx(of_jackknife, rel=0.02)
    assert found.se == pytest.approx(of_jackknife, rel=0.05)


@given(ROWS)
@settings(deadline=None)
def test_the_decision_curve_is_the_net_benefit_at_each_threshold(rows: list[tuple[int, float]]) -> None:
    y, p = arrays(rows)
    lines = curved(utility.decision_curve(y, p, (0.1, 0.7))).columns
    assert len(lines["threshold"]) == 101
    for position in (0, 37, 100):
        t = present(lines["threshold"][position])
        expected = estimated(utility.net_benefit(y, p, t))
        assert lines["net_benefit"][position] == pytest.approx(expected.value, abs=1e-12)
        assert lines["treat_all"][position] == pytest.approx(
            estimated(utility.net_benefit(y, np.ones(len(y)), t)).value, abs=1e-12
        )
        for name, number in (("se", expected.se), ("low", expected.low), ("high", expected.high)):
            assert lines[name][position] == pytest.approx(number, abs=1e-12)
    assert set(lines["treat_none"]) == {0.0}


def test_a_declared_threshold_is_a_point_of_the_curve_once() -> None:
    y, p = np.array([0.0, 1.0]), np.array([0.2, 0.8])
    for declared, points in ((0.35, 101), (0.3512, 102), (0.1, 101), (0.6, 101), (0.7, 101)):
        found = curve(utility.decision_curve(y, p, (0.1, 0.6), 0.95, (declared,)))["threshold"]
        assert len(found) == points
        assert (declared in found) == (declared <= 0.6)
        assert np.diff(found).min() > 1e-4


def test_the_wide_curve_stays_below_a_threshold_of_one() -> None:
    y, p = np.array([0.0, 1.0]), np.array([0.2, 0.8])
    at_one = "net benefit is not defined at a threshold of 1, where one false positive outweighs everything"
    assert utility.decision_curve_wide(y, p, (0.1, 1.0)) == Said(at_one)
    assert curve(utility.decision_curve_wide(y, p, (0.1, 0.995)))["threshold"].max() == 0.995


def test_one_risk_for_all_leaves_no_range_of_thresholds() -> None:
    """A curve of one threshold has no width to be drawn over; a declared range has."""
    y, p = np.array([0.0, 1.0, 0.0, 1.0]), np.full(4, 0.3)
    why = "no range of thresholds is declared, and the risks give none: nearly all are the same"
    assert utility.decision_curve(y, p) == Said(why)
    assert len(curve(utility.decision_curve(y, p, (0.1, 0.4)))["threshold"]) == 101


NO_FALSE_ALARM = np.array([1.0, 1, 1, 0]), np.array([0.9, 0.9, 0.1, 0.1])
"""Two of three cases are flagged, and nobody else: at .8 every interval would pass 1, the value of a perfect model."""


@pytest.mark.parametrize("measure", [utility.standardized_net_benefit, utility.weighted_utility])
def test_no_interval_passes_the_perfect_model(measure: Any) -> None:
    found = estimated(measure(*NO_FALSE_ALARM, 0.8))
    assert found.high == pytest.approx(wilson(2, 3, 0.95)[1])  # no false alarm, and no fewer than none
    perfect = estimated(measure(np.array([1.0, 1, 0, 0]), np.array([0.9, 0.9, 0.1, 0.1]), 0.5))
    assert (perfect.value, perfect.high) == (1, 1)


def test_no_band_passes_the_perfect_model() -> None:
    line, profile = (
        curve(utility.decision_curve(*NO_FALSE_ALARM, (0.1, 0.8))),
        curve(utility.utility_profile(*NO_FALSE_ALARM)),
    )
    assert (line["threshold"][-1], profile["tau"][79]) == (0.8, 0.8)
    assert line["high"][-1] == pytest.approx(wilson(2, 4, 0.95)[1])  # no false alarm, and no fewer than none
    assert profile["net_benefit_high"][79] == line["high"][-1]
    assert profile["standardized_net_benefit_high"][79] == pytest.approx(wilson(2, 3, 0.95)[1])


@pytest.mark.parametrize("measure", [utility.standardized_net_benefit, utility.weighted_utility])
@pytest.mark.parametrize("flagged", [2, 0])
def test_rows_that_do_not_vary_have_an_interval(measure: Any, flagged: int) -> None:
    """Two right answers of two are no certainty: a Wald interval had no width there."""
    y = np.array([1.0, 0, 1, 0])
    found = estimated(measure(y, flagged / 2 * y, 0.5))
    assert (found.value, found.low, found.high) == pytest.approx(by_hand(flagged, 0, 2, 1.0))


@pytest.mark.parametrize(("t", "fewest"), [(0.03, 0.93), (0.1, 0.93)])
def test_the_interval_covers_what_is_true_at_low_thresholds(t: float, fewest: float) -> None:
    """500 rows of prevalence .2: a Wald interval at .03 held the truth in .74 to .92 of tables."""
    rng, chance, odds = np.random.default_rng(11), np.array([0.02, 0.1, 0.3, 0.6]), t / (1 - t)
    share = np.array([0.3, 0.3, 0.25, 0.15])
    truth = float(share @ ((chance >= t) * (chance - (1 - chance) * odds)) / (share @ chance))
    held = 0
    for _ in range(1000):
        drawn = rng.choice(chance, 500, p=share)
        found = estimated(utility.standardized_net_benefit((rng.random(500) < drawn).astype(float), drawn, t))
        held += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert fewest <= held / 1000 <= 0.975


def test_what_has_no_net_benefit_is_absent() -> None:
    y, p = np.array([0.0, 1.0]), np.array([0.2, 0.8])
    for found in (
        utility.net_benefit(np.array([]), np.array([]), 0.5),
        utility.net_benefit(y, p, 1.0),
        utility.standardized_net_benefit(np.zeros(3), np.full(3, 0.5), 0.5),
        utility.standardized_net_benefit(y, p, 1.0),
        utility.decision_curve(np.array([]), np.array([])),
        utility.decision_curve(y, p, (0.1, 1.0)),
    ):
        assert len(reason_text(absent(found).reason).split()) > 3


def site(name: str, y: Floats, p: Floats, span: tuple[float, float] = (0.05, 0.6)) -> SiteResults:
    summary = DatasetSummary(name, "external", name, len(y), int(y.sum()), len(y), {}, ())
    return SiteResults(summary, (), (CurveResult("decision_curve", name, utility.decision_curve(y, p, span)),))


def test_the_curve_of_all_sites_is_that_of_all_rows() -> None:
    read = table()
    sites = tuple(site(str(name), rows["y"].to_numpy(), rows["p"].to_numpy()) for name, rows in read.groupby("site"))
    together = curve(utility.decision_curve_all_sites(sites))
    whole = curve(utility.decision_curve(read["y"].to_numpy(), read["p"].to_numpy(), (0.05, 0.6)))
    for name in ("threshold", "net_benefit", "treat_all", "treat_none"):
        assert together[name] == pytest.approx(whole[name], abs=1e-12)
    # stratified: hardly wider than the rows taken as one sample, by the differences between sites
    assert (together["se"] <= whole["se"] * 1.01).all()
    shares = np.array([len(rows) / 2000 for _, rows in read.groupby("site")])[:, None]
    parts = [
        curve(utility.decision_curve(rows["y"].to_numpy(), rows["p"].to_numpy(), (0.05, 0.6)))
        for _, rows in read.groupby("site")
    ]
    for end in ("low", "high"):
        away = np.array([part[end] - part["net_benefit"] for part in parts])
        length = np.sqrt((shares**2 * away**2).sum(axis=0))
        assert np.abs(together[end] - together["net_benefit"]) == pytest.approx(length)


def test_sites_that_cannot_be_taken_together_are_absent() -> None:
    y, p = np.array([0.0, 1.0, 1.0]), np.array([0.2, 0.8, 0.4])
    first, other = site("a", y, p), site("b", y, p, (0.1, 0.5))
    assert isinstance(utility.decision_curve_all_sites((first,)), Absent)
    assert isinstance(utility.decision_curve_all_sites((first, other)), Absent)
    clustered = utility.decision_curve(y, p, (0.05, 0.6), design=Design(3, np.zeros(3, dtype=np.int64)))
    without = replace(first, curves=(CurveResult("decision_curve", "c", clustered),))
    assert np.isnan(curve(utility.decision_curve_all_sites((first, without)))["se"]).all()


def test_the_curve_of_all_sites_counts_all_rows_and_events() -> None:
    y, p = np.array([0.0, 1.0, 1.0]), np.array([0.2, 0.8, 0.4])
    without = SiteResults(site("c", y, p).summary, (), ())
    found = curved(
        utility.decision_curve_all_sites((site("a", y, p), site("b", np.zeros(4), np.full(4, 0.3)), without))
    )
    assert (found.n, found.events) == (7, 2)
    assert method_text(found.method).startswith("all rows of 2 of 3 sites")


# ---- weighted utility -----------------------------------------------------------------------------------------------

EIGHTHS = st.integers(0, 8).map(lambda count: count / 8)
"""Shares that floating point holds exactly, so that a risk can lie on the threshold and on the other side of 1/2."""
CASES = st.lists(st.tuples(st.integers(0, 1), EIGHTHS), min_size=2, max_size=14).filter(
    lambda rows: {y for y, _ in rows} == {0, 1}
)
INSIDE = st.integers(1, 7).map(lambda count: count / 8)


def utility_of(y: Floats, alarm: NDArray[np.bool_], t: float, relevance: Floats) -> float:
    parts = present(utility.utility_parts(y, alarm.astype(float), np.full(len(y), t), relevance))
    return utility.utility_value(parts)


def test_the_credit_between_gamma_tau_and_tau() -> None:
    """methods.md: sigma(g=.5, tau=.4) at h = 0, .1 ... .5 is 0, 0, 0, .5, 1, 1."""
    h = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5])
    np.testing.assert_allclose(utility.utility_credit(h, np.full(6, 0.4), 0.5), [0, 0, 0, 0.5, 1, 1], atol=1e-12)
    np.testing.assert_array_equal(utility.utility_credit(h, np.full(6, 0.4), 1.0), [0, 0, 0, 0, 1, 1])
    np.testing.assert_array_equal(utility.utility_credit(h, np.zeros(6), 0.5), np.ones(6))


@given(CASES, INSIDE)
@settings(deadline=None)
def test_theorem_2_1(rows: list[tuple[int, float]], t: float) -> None:
    """One threshold, no ramp, equal relevance: the standardized net benefit, and its interval with it."""
    y, p = arrays(rows)
    found = estimated(utility.weighted_utility(y, p, t))
    assert found.value == pytest.approx(utility.contributions(y, p, t).mean() / y.mean(), abs=1e-12)
    same = estimated(utility.standardized_net_benefit(y, p, t))
    assert (found.value, found.low, found.high) == pytest.approx((same.value, same.low, same.high), abs=1e-12)


@given(CASES, INSIDE)
@settings(deadline=None)
def test_the_rates_are_weighted_utilities(rows: list[tuple[int, float]], t: float) -> None:
    """TPR and PPV, their duals on swapped classes, and with them Theorem 2.3: balanced accuracy, J and markedness."""
    y, h = arrays(rows)
    ones, cases = np.ones(len(y)), float(y.sum())
    tp = sum(1 for a, b in rows if a == 1 and b >= t)
    fp = sum(1 for a, b in rows if a == 0 and b >= t)
    fn, tn = cases - tp, len(rows) - cases - fp
    tpr = utility_of(y, h >= t, t, y)
    assert tpr == pytest.approx(tp / (tp + fn), abs=1e-12)
    swapped, alarm = 1 - y, (1 - h) > (1 - t)
    tnr = utility_of(swapped, alarm, 1 - t, swapped)
    assert tnr == pytest.approx(tn / (tn + fp), abs=1e-12)
    assert (tpr + tnr) / 2 == pytest.approx((tp / (tp + fn) + tn / (tn + fp)) / 2, abs=1e-12)
    assert tpr + tnr - 1 == pytest.approx(tp / (tp + fn) - fp / (tn + fp), abs=1e-12)
    a, b = cases * tpr, cases * utility_of(y, h >= t, t, ones)
    c, d = (len(rows) - cases) * tnr, (len(rows) - cases) * utility_of(swapped, alarm, 1 - t, ones)
    if tp + fp:
        ppv = a / (a + (1 - t) / t * (a - b))
        assert ppv == pytest.approx(tp / (tp + fp), abs=1e-12)
    if tn + fn:
        npv = c / (c + t / (1 - t) * (c - d))
        assert npv == pytest.approx(tn / (tn + fn), abs=1e-12)
    if tp + fp and tn + fn:
        assert ppv + npv - 1 == pytest.approx(tp / (tp + fp) - fn / (tn + fn), abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 1), EIGHTHS, INSIDE, EIGHTHS), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.3, 0.5, 1.0]),
)
@settings(deadline=None)
def test_weighted_utility_case_by_case(rows: list[tuple[int, float, float, float]], gamma: float) -> None:
    """A threshold and a relevance for each case; thresholds come in as costs and benefits of the same odds."""
    y, h, tau, r = (np.array(values, dtype=float) for values in zip(*rows, strict=True))
    found = utility.weighted_utility(y, h, "cost_benefit", gamma, "column", case_relevance=r, cost=tau, benefit=1 - tau)
    total = sum(weight for label, _, _, weight in rows if label == 1)
    if total == 0:
        assert isinstance(found, Absent)
        return
    gained = 0.0
    for label, score, own, weight in rows:
        if score >= own:
            credit = 1.0
        elif score <= gamma * own:
            credit = 0.0
        else:
            credit = (score - gamma * own) / (own - gamma * own)
        gained += weight * credit if label == 1 else -weight * own / (1 - own) * credit
    assert estimated(found).value == pytest.approx(gained / total, abs=1e-12)


def jackknife(values: list[float]) -> float:
    spread = np.array(values)
    return float(np.sqrt((len(spread) - 1) / len(spread) * np.sum((spread - spread.mean()) ** 2)))


def test_the_interval_of_weighted_utility_agrees_with_the_jackknife() -> None:
    rng = np.random.default_rng(3)
    p = rng.uniform(size=400)
    y = (rng.uniform(size=400) < p).astype(float)
    r, tau = rng.uniform(0.2, 1, 400), rng.uniform(0.1, 0.7, 400)

    def of(keep: Any) -> Estimate:
        given = {"case_relevance": r[keep], "cost": tau[keep], "benefit": 1 - tau[keep]}
        return estimated(utility.weighted_utility(y[keep], p[keep], "cost_benefit", 0.5, "column", **given))

    found = of(np.arange(400))
    left_out = [of(np.delete(np.arange(400), k)).value for k in range(400)]
    assert found.se == pytest.approx(jackknife(left_out), rel=0.05)


@needs_raters
def test_thresholds_from_the_published_raters() -> None:
    """methods.md on data/raters: means .446 .554 .543 ([wU] prints .72 .55 .54); the bias is 1 in 88 cases, 0 in 81."""
    folder = RATERS
    labels, confidence = (np.loadtxt(folder / f"{name}.csv", delimiter=",") for name in ("preds", "confs"))
    found = [
        utility.confidence_to_act(labels, confidence),
        utility.persuasion(labels, confidence),
        utility.automation_bias(labels),
    ]
    assert [round(float(each.mean()), 3) for each in found] == [0.446, 0.554, 0.543]
    assert len(labels) == 427
    assert int(np.sum(found[2] == 1)) == 88
    assert int(np.sum(found[2] == 0)) == 81


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, math.nan]), min_size=4, max_size=4), min_size=1, max_size=6))
@settings(deadline=None)
def test_thresholds_from_raters_pair_by_pair(rows: list[list[float]]) -> None:
    labels = np.array(rows)
    confidence = np.random.default_rng(1).uniform(size=labels.shape)
    tau, sure = utility.automation_bias(labels), utility.confidence_to_act(labels, confidence)
    for k, row in enumerate(rows):
        present = [value for value in row if value == value]
        m = len(present)
        if m == 0:
            assert math.isnan(tau[k])
            assert math.isnan(sure[k])
            continue
        pairs = sum(1 for i in range(m) for j in range(i) if present[i] != present[j])
        largest = (m + 1) * (m - 1) / 4 if m % 2 else m * m / 4
        d = pairs / largest if largest else 0.0
        assert tau[k] == pytest.approx(d / 2 if sum(present) >= m / 2 else (2 - d) / 2)
        confidences = [
            (c + 1) / 2 if value == 1 else (1 - c) / 2
            for value, c in zip(row, confidence[k], strict=True)
            if value == value
        ]
        assert sure[k] == pytest.approx(sum(confidences) / m)


def test_a_threshold_of_costs_and_benefits() -> None:
    cost, benefit = np.array([1.0, 0.0, 2.0, 0.0, 1e300]), np.array([3.0, 1.0, 0.0, 0.0, 1e300])
    np.testing.assert_allclose(utility.cost_benefit(cost, benefit), [0.25, 0, 1, math.nan, 0.5])


def test_relevance_from_raters_is_the_mean_complexity_by_its_maximum() -> None:
    y, p = np.array([1.0, 1, 0, 1]), np.array([0.9, 0.1, 0.8, 0.9])
    complexity = np.array([[0.2, 0.4], [0.6, math.nan], [0.3, 0.3], [math.nan, math.nan]])
    labels = np.ones((4, 2))
    found = estimated(utility.weighted_utility(y, p, 0.5, 1.0, "raters", labels=labels, rater_complexity=complexity))
    # Relevance 1/2, 1, 1/2 and none for the last: (1/2 - 1/2) / (3/2).
    assert found.value == pytest.approx(0.0)
    assert found.details["left_out"] == 1
    assert found.n == 3


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_the_unit_of_complexity_does_not_matter(unit: float) -> None:
    y, p, complexity = np.array([1.0, 1, 0]), np.array([0.9, 0.1, 0.8]), np.array([[0.2], [0.6], [0.3]])
    found = estimated(
        utility.weighted_utility(y, p, 0.2, 1.0, "raters", labels=np.ones((3, 1)), rater_complexity=complexity * unit)
    )
    # Relevance 1/3, 1 and 1/2, and odds of 1/4: (1/3 - 1/8) / (4/3) = 5/32.
    assert found.value == pytest.approx(5 / 32)
    same = estimated(utility.weighted_utility(y, p, 0.2, 1.0, "column", case_relevance=np.array([1 / 3, 1, 1 / 2])))
    assert (found.low, found.high) == pytest.approx((same.low, same.high))


def test_raters_that_a_model_would_confirm_or_has_to_win_over() -> None:
    labels, confidence = np.array([[1.0, 0], [1, 1]]), np.array([[0.6, 0.2], [0.8, 0.4]])
    y, p = np.array([1.0, 0]), np.array([0.5, 0.5])

    def of(tau: str) -> float:
        return estimated(utility.weighted_utility(y, p, tau, labels=labels, confidence=confidence)).value

    # (.8 + .4)/2 and (.9 + .7)/2: .5 is no alarm at .6 and at .8, but one at .4 and at .2, where the odds are 1/4.
    assert of("confidence") == 0
    assert of("persuasion") == pytest.approx(1 - 1 / 4)


def test_weights_count_as_the_equal_ones_that_they_are_worth() -> None:
    """Four cases of relevance 1 and eight of 0 are four cases; false alarms of one weight are as many as they are."""
    y, p = np.array([1.0] * 12 + [0.0] * 6), np.array([0.9] * 3 + [0.1] + [0.9] * 8 + [0.9] * 2 + [0.1] * 4)
    r = np.array([1.0] * 4 + [0.0] * 8 + [1.0] * 6)
    found = estimated(utility.weighted_utility(y, p, 0.3, 1.0, "column", case_relevance=r))
    assert (found.value, found.low, found.high) == pytest.approx(by_hand(3, 2, 4, 3 / 7))


def test_a_credit_that_all_cases_share_has_an_interval() -> None:
    """.25 lies two thirds of the way from .15 to .3, for cases of any relevance."""
    y, r = np.array([1.0, 1, 1, 1, 0]), np.array([0.1, 0.2, 0.3, 0.7, 0.5])
    found = estimated(utility.weighted_utility(y, 0.25 * y, 0.3, 0.5, "column", case_relevance=r))
    assert found.value == pytest.approx(2 / 3)
    low, high = interval_of(found)
    assert low < 2 / 3 < high < 1


def test_one_tau_for_all_may_lie_at_either_end() -> None:
    """At 0 everybody is flagged at no cost; at 1 only a risk of 1 is."""
    y, p = np.array([1.0, 0, 1, 0]), np.array([0.2, 0.9, 1.0, 0.3])
    none, full = estimated(utility.weighted_utility(y, p, 0.0)), estimated(utility.weighted_utility(y, p, 1.0))
    assert (none.value, none.details["tau_zero"], none.details["tau_one"]) == (1, 4, 0)
    assert (full.value, full.details["tau_zero"], full.details["tau_one"]) == (0.5, 0, 4)
    assert utility.weighted_utility(y, p, -0.1) == Said("tau is \N{MINUS SIGN}0.1, outside 0 to 1")


def test_the_cases_at_either_end_of_tau_are_counted() -> None:
    """Raters who all say 1, or all 0, put tau to 0, or 1; those who disagree do not."""
    labels = np.array([[1.0, 1], [1, 1], [1, 1], [0, 0], [0, 1]])
    y, p = np.array([1.0, 0, 1, 0, 1]), np.array([0.2, 0.9, 0.1, 0.3, 0.7])
    found = estimated(utility.weighted_utility(y, p, "automation_bias", labels=labels))
    assert found.details == {"left_out": 0, "tau_zero": 3, "tau_one": 1}


def test_both_ends_of_tau() -> None:
    """At 0 everything counts and a false alarm costs nothing; at 1 a false alarm would weigh endlessly."""
    y, p = np.array([1.0, 0, 1, 0]), np.array([0.2, 0.9, 1.0, 0.3])
    labels = np.array([[1.0, 1], [1, 1], [0, 0], [0, 0]])
    found = estimated(utility.weighted_utility(y, p, "automation_bias", labels=labels))
    assert (found.value, found.details["tau_zero"], found.details["tau_one"]) == (1.0, 2, 2)
    flagged = absent(utility.weighted_utility(y, np.array([0.2, 0.9, 1.0, 1.0]), "automation_bias", labels=labels))
    assert "1 row without the outcome counts as an alarm at a threshold of 1" in reason_text(flagged.reason)


def test_what_has_no_weighted_utility_is_absent() -> None:
    y, p = np.array([1.0, 0, 1]), np.array([0.9, 0.2, 0.4])
    raters = np.ones((2, 2))
    reasons = {
        "there are no rows": utility.weighted_utility(np.array([]), np.array([]), 0.5),
        "no row has the outcome": utility.weighted_utility(np.zeros(3), p, 0.5),
        "no row with the outcome has any relevance": utility.weighted_utility(
            y, p, 0.5, 1.0, "column", case_relevance=np.array([0.0, 1, 0])
        ),
        "tau is 1.5, outside 0 to 1": utility.weighted_utility(y, p, 1.5),
        "no raters judged these cases": utility.weighted_utility(y, p, "confidence"),
        "the raters judged 2 of the 3 cases": utility.weighted_utility(
            y, p, "confidence", labels=raters, confidence=raters
        ),
        "the raters gave no confidence": utility.weighted_utility(y, p, "persuasion", labels=np.ones((3, 2))),
        "gut is no source of thresholds": utility.weighted_utility(
            y, p, "gut", labels=np.ones((3, 2)), confidence=np.ones((3, 2))
        ),
        "costs and benefits are not given": utility.weighted_utility(y, p, "cost_benefit", cost=y),
        "the rows have no column weight": utility.weighted_utility(y, p, 0.5, 1.0, "weight"),
        "the raters gave no complexity": utility.weighted_utility(y, p, 0.5, 1.0, "raters", labels=np.ones((3, 2))),
        "the raters called no case complex": utility.weighted_utility(
            y, p, 0.5, 1.0, "raters", labels=np.ones((3, 1)), rater_complexity=np.zeros((3, 1))
        ),
        "no case has both a threshold and a relevance": utility.weighted_utility(
            y, p, "automation_bias", labels=np.full((3, 2), math.nan)
        ),
    }
    for reason, found in reasons.items():
        assert found == Said(reason)


# ---- the gain over the better default -------------------------------------------------------------------------------


@given(CASES, INSIDE)
@settings(deadline=None)
def test_the_net_benefit_gain_is_what_the_model_adds_to_the_better_default(
    rows: list[tuple[int, float]], t: float
) -> None:
    y, p = arrays(rows)
    odds = t / (1 - t)

    def benefit(acts: list[bool]) -> float:
        return sum((1 if label else -odds) for (label, _), act in zip(rows, acts, strict=True) if act) / len(rows)

    model = benefit([score >= t for _, score in rows])
    best = max(benefit([True] * len(rows)), 0.0)
    found = estimated(utility.net_benefit_gain(y, p, t))
    assert found.value == pytest.approx(model - best, abs=1e-12)
    assert found.details["default"] == pytest.approx(best, abs=1e-12)


def test_the_net_benefit_gain_is_absent_where_net_benefit_is() -> None:
    assert utility.net_benefit_gain(np.array([]), np.array([]), 0.5) == Said("there are no rows")
    assert isinstance(utility.net_benefit_gain(np.array([1.0]), np.array([0.5]), 1.0), Absent)


def test_where_both_defaults_are_worth_nothing_the_model_is_compared_with_treating_nobody() -> None:
    found = estimated(utility.net_benefit_gain(np.array([1.0, 1, 0, 0]), np.array([0.9, 0.2, 0.1, 0.1]), 0.5))
    assert (found.value, found.details["default"]) == (0.25, 0)


@needs_covid
@pytest.mark.parametrize("name", ["italy-1", "spain"])
def test_the_net_benefit_gain_of_real_sites(name: str) -> None:
    y, p = hospital(name)
    found = estimated(utility.net_benefit_gain(y, p, 0.5))
    # methods.md prints sNB at .5; treating all gives 2 phi - 1 there.
    phi = float(y.mean())
    assert found.value == pytest.approx(printed(name, "sNB") * phi - max(2 * phi - 1, 0), abs=1e-5)


@pytest.mark.parametrize(("everyone", "counts"), [(True, (270, 29, 699, 2)), (False, (2, 308, 30, 660))])
def test_a_loss_is_named_by_the_default_against_which_it_is_shown(
    everyone: bool, counts: tuple[int, int, int, int]
) -> None:
    """Near a prevalence of the threshold both defaults do alike, and the model is nearly one of them, a little worse.

    In the sample it is the other one that does better: against that the loss is not shown.
    """
    outcome, risk = np.repeat([1.0, 1.0, 0.0, 0.0], counts), np.repeat([0.6, 0.1, 0.6, 0.1], counts)
    gain = estimated(utility.net_benefit_gain(outcome, risk, 0.3))
    assert (gain.details["default"] == 0) is everyone
    assert present(gain.high) < 0
    assert multiplicity.is_below_everyone(gain) is everyone
