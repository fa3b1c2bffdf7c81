"""All rows of several sites: against R's survey package and glm, by the pairs themselves, and at the edges."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit

from dossier.core.facts import Method
from dossier.core.register import NO_ROWS, REGISTER
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import calibration, discrimination, stratified
from dossier.metrics.discrimination import newcombe_standard_error
from dossier.metrics.shares import Design
from dossier.metrics.stratified import Stratum, mean_of_sites
from dossier.typeset.methods import method_text
from tests.estimated import estimated, present
from tests.reasons import Said

MEASURES = {name: form.function for name, form in REGISTER.stratified.items()}
R: dict[str, Any] = json.loads((Path(__file__).parents[1] / "reference" / "survey.json").read_text(encoding="utf-8"))
GLM = 1e-5
"""svyglm stops its steps at 1e-8 of the deviance."""


def _of_r(rows: list[int], weighted: bool = False, clustered: bool = False) -> list[Stratum]:
    table = {name: np.array(values) for name, values in R["rows"].items()}
    wards = np.unique(table["ward"], return_inverse=True)[1]
    of_site = [[row for row in rows if table["site"][row] == site] for site in "abc"]
    design = Design(len(wards), wards if clustered else None, table["w"] if weighted else None)
    return [Stratum(table["y"][kept].astype(float), table["p"][kept], design.of(np.array(kept))) for kept in of_site]


EVERY = list(range(420))
SITE = R["rows"]["site"]
FEW = [*range(210), *[k for k in EVERY if SITE[k] == "b"][:30], *[k for k in EVERY if SITE[k] == "c"][:25]]
DESIGNS = {
    "stratified": _of_r(EVERY),
    "stratified_of_few": _of_r(FEW),
    "stratified_weighted": _of_r(EVERY, weighted=True),
    "stratified_clustered": _of_r(EVERY, weighted=True, clustered=True),
}


@pytest.mark.parametrize("measure", ["oe_ratio", "auroc", "calibration_slope", "calibration_intercept"])
@pytest.mark.parametrize("design", DESIGNS)
def test_value_and_error_are_those_of_r(design: str, measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """svyratio, svyglm and glm with sites as strata; the AUROC by DeLong in R by hand, weighted by its influence.

    R takes every cluster to be as large as the others of its site: with leverages of 1/m the errors are R's.
    """
    ours, expected = estimated(MEASURES[measure](DESIGNS[design], 0.95)), R[design][measure]
    monkeypatch.setattr(Design, "leverage", property(lambda self: 1 / self._size))
    found = estimated(
        MEASURES[measure]([replace(site, sampled=replace(site.design)) for site in DESIGNS[design]], 0.95)
    )
    assert ours.value == found.value
    assert (ours.se == found.se) == (design != "stratified_clustered")
    assert ours.se == pytest.approx(found.se, rel=0.02)
    assert found.value == pytest.approx(expected["value"], rel=1e-8)
    assert found.se == pytest.approx(expected["se"], rel=GLM if measure.startswith("calibration") else 1e-8)
    assert found.details["k"] == 3
    if design == "stratified_clustered":
        assert 20 < (ours.details["df"] or 0) < 37
    else:
        assert ours.details.get("df") == {"stratified_weighted": 417}.get(design)


def test_sites_of_few_events_are_among_them() -> None:
    counts = [(len(stratum.outcome), stratum.outcome.sum()) for stratum in DESIGNS["stratified_of_few"]]
    assert [events for _, events in counts if events < 20], counts
    found = estimated(stratified.oe_ratio(DESIGNS["stratified_of_few"]))
    assert (found.n, found.events) == (R["stratified_of_few"]["n"], R["stratified_of_few"]["events"])


# ---- one site is the measure itself ---------------------------------------------------------------------------------


def _site(seed: int, n: int = 120, shift: float = 0.0) -> Stratum:
    rng = np.random.default_rng(seed)
    linear = rng.normal(-0.6, 1.1, n)
    return Stratum((rng.random(n) < expit(linear + shift)).astype(float), np.round(np.asarray(expit(linear)), 3))


def test_of_one_site_it_is_the_measure_of_that_site() -> None:
    stratum = _site(3)
    pairs = (
        (stratified.auroc, discrimination.auroc),
        (stratified.calibration_slope, calibration.calibration_slope),
        (stratified.calibration_intercept, calibration.calibration_intercept),
    )
    for over_sites, measure in pairs:
        found, alone = estimated(over_sites([stratum])), estimated(measure(stratum.outcome, stratum.risk))
        assert (found.value, found.se, found.low, found.high) == pytest.approx(
            (alone.value, alone.se, alone.low, alone.high), rel=1e-9
        )
        assert (found.n, found.events) == (alone.n, alone.events)


def test_the_error_of_oe_is_the_spread_of_what_happened_less_what_was_expected() -> None:
    stratum = _site(4)
    found = estimated(stratified.oe_ratio([stratum]))
    ratio = stratum.outcome.sum() / stratum.risk.sum()
    of_log = (
        np.std(stratum.outcome - ratio * stratum.risk, ddof=1) / math.sqrt(len(stratum.risk)) / stratum.outcome.mean()
    )
    assert found.se == pytest.approx(ratio * of_log, rel=1e-12)
    assert found.low == pytest.approx(ratio * math.exp(-1.959963984540054 * of_log), rel=1e-9)


# ---- the pairs and the likelihood themselves ------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0.1, 0.2, 0.3, 0.5, 0.8])), min_size=1, max_size=12),
        min_size=1,
        max_size=4,
    )
)
def test_the_auroc_over_sites_is_the_share_of_all_pairs_within_sites(tables: list[list[tuple[int, float]]]) -> None:
    strata = [Stratum(np.array([y for y, _ in rows], dtype=float), np.array([p for _, p in rows])) for rows in tables]
    pairs = [(p > q) + (p == q) / 2 for rows in tables for y, p in rows if y for z, q in rows if not z]
    found = stratified.auroc(strata)
    if not pairs:
        assert isinstance(found, Absent)
        return
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)
    assert found.details["k"] == sum(0 < sum(y for y, _ in rows) < len(rows) for rows in tables)


def test_the_common_slope_is_where_the_likelihood_with_an_intercept_a_site_is_highest() -> None:
    strata = [_site(5, 60, 1.0), _site(6, 200, -0.5), _site(7, 25)]

    def loss(at: Floats) -> float:
        total = 0.0
        for intercept, stratum in zip(at[:-1], strata, strict=True):
            linear = intercept + at[-1] * logit(stratum.risk)
            total += float((np.logaddexp(0, linear) - stratum.outcome * linear).sum())
        return total

    best = minimize(loss, np.array([0.0, 0.0, 0.0, 1.0]), method="BFGS", options={"gtol": 1e-9})
    assert estimated(stratified.calibration_slope(strata)).value == pytest.approx(float(best.x[-1]), abs=1e-5)


def test_a_site_that_is_off_by_a_constant_does_not_move_the_common_slope() -> None:
    """Its own intercept takes the constant up; the intercept in common does move."""
    strata = [_site(8), _site(9)]
    shifted = [strata[0], replace(strata[1], risk=np.asarray(expit(logit(strata[1].risk) + 0.7)))]
    slopes = [stratified.calibration_slope(each) for each in (strata, shifted)]
    intercepts = [stratified.calibration_intercept(each) for each in (strata, shifted)]
    values = [estimate.value for estimate in (*slopes, *intercepts) if isinstance(estimate, Estimate)]
    assert values[0] == pytest.approx(values[1], abs=1e-9)
    assert values[3] < values[2] - 0.2


# ---- weights and clusters -------------------------------------------------------------------------------------------


def test_the_unit_of_a_sites_weights_does_not_matter() -> None:
    design = DESIGNS["stratified_weighted"]
    heavy = replace(design[0].design, weights=100 * np.asarray(design[0].design.weights))
    other = [replace(design[0], sampled=heavy), *design[1:]]
    for measure in MEASURES.values():
        first, two = estimated(measure(design, 0.95)), estimated(measure(other, 0.95))
        assert (first.value, first.low, first.high) == pytest.approx((two.value, two.low, two.high), rel=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
def test_clusters_of_one_row_are_rows(measure: str) -> None:
    plain = DESIGNS["stratified"]
    single = [replace(stratum, sampled=Design(len(stratum.risk), np.arange(len(stratum.risk)))) for stratum in plain]
    found, expected = estimated(MEASURES[measure](single, 0.95)), estimated(MEASURES[measure](plain, 0.95))
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert found.se == pytest.approx(expected.se, rel=0.06), "the error of the score is near that of the model"
    assert "t with 417 degrees of freedom" in method_text(found.method)


# ---- the edges ------------------------------------------------------------------------------------------------------


def _rows(outcome: list[int], risk: list[float]) -> Stratum:
    return Stratum(np.array(outcome, dtype=float), np.array(risk))


NONE = _rows([0] * 12, [0.05, 0.1, 0.2, 0.1] * 3)
ALL = _rows([1] * 6, [0.9, 0.8, 0.7] * 2)


def test_a_site_without_an_event_counts_among_the_expected_and_has_no_pair() -> None:
    whole = _site(11)
    ratio = estimated(stratified.oe_ratio([whole, NONE]))
    assert ratio.value == pytest.approx(whole.outcome.sum() / (whole.risk.sum() + NONE.risk.sum()))
    assert (ratio.n, ratio.details["k"]) == (132, 2)
    for measure in (stratified.auroc, stratified.calibration_slope):
        found, alone = estimated(measure([whole, NONE, ALL])), estimated(measure([whole]))
        assert [found.value, found.se] == pytest.approx([alone.value, alone.se])
        assert (found.n, found.details["k"]) == (120, 1)
    intercept = estimated(stratified.calibration_intercept([whole, NONE]))
    assert intercept.n == 132


def test_where_no_site_has_both_classes_the_reasons_stand() -> None:
    assert stratified.auroc([NONE, ALL]) == Said("at no site are there a case and another to compare")
    assert stratified.calibration_slope([NONE, ALL]) == Said("at no site do some rows have the outcome and others not")
    none = estimated(stratified.oe_ratio([NONE]))
    assert (none.value, none.details["k"]) == (0, 1)
    assert none.high == pytest.approx(12 * (1 - 0.025 ** (1 / 12)) / NONE.risk.sum())
    for measure in MEASURES.values():
        assert measure([], 0.95) == NO_ROWS


def test_sites_that_are_all_ranked_right_have_an_auroc_of_1_with_newcombes_error() -> None:
    perfect = _rows([0] * 8 + [1] * 8, [k / 20 for k in range(1, 17)])
    found = estimated(stratified.auroc([perfect, perfect]))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.se == pytest.approx(newcombe_standard_error(16.5 / 17, 16, 8) / math.sqrt(2))
    estimate = estimated(stratified.auroc([perfect]))
    alone = estimated(discrimination.auroc(perfect.outcome, perfect.risk))
    assert estimate.low == pytest.approx(alone.low)
    assert present(estimate.low) < present(found.low) < 0.9


def test_a_single_case_of_a_site_enters_with_newcombes_error() -> None:
    whole, single = _site(12), _rows([1, 0, 0, 0, 0], [0.3, 0.1, 0.2, 0.4, 0.1])
    found, alone = (
        estimated(stratified.auroc([whole, single])),
        estimated(discrimination.auroc(whole.outcome, whole.risk)),
    )
    pairs = whole.outcome.sum() * (120 - whole.outcome.sum())
    share = pairs / (pairs + 4)
    assert found.value == pytest.approx(share * alone.value + (1 - share) * 0.75)
    error = math.hypot(share * present(alone.se), (1 - share) * newcombe_standard_error(0.75, 5, 1))
    assert found.se == pytest.approx(error)


def test_risks_of_0_and_1_are_left_out_of_slope_and_intercept_and_counted() -> None:
    whole = _site(13)
    sure = Stratum(np.append(whole.outcome, [1.0, 0.0]), np.append(whole.risk, [1.0, 0.0]))
    for measure in (stratified.calibration_slope, stratified.calibration_intercept):
        found, alone = estimated(measure([sure])), estimated(measure([whole]))
        assert (found.value, found.low, found.n) == (alone.value, alone.low, 120)
        assert method_text(found.method).endswith("Wald, 2 rows with a risk of 0 or 1 left out")


def test_risks_that_are_the_same_at_each_site_have_no_slope_and_separated_ones_no_finite_one() -> None:
    outcome = [0, 1] * 10
    same = [_rows(outcome, [0.3] * 20), _rows(outcome, [0.6] * 20)]
    nothing = Said("at every site the risks are the same or nearly so, so that there is no slope")
    assert stratified.calibration_slope(same) == nothing
    parted = _rows([0] * 10 + [1] * 10, [0.1 + 0.01 * k for k in range(20)])
    assert stratified.calibration_slope([parted]) == stratified.SEPARATED


# ---- means over sites -----------------------------------------------------------------------------------------------


def test_means_over_rows_and_over_pairs_by_hand() -> None:
    first, two = (
        Estimate(value, None, None, 0.95, n, Method("wald"), events, se)
        for value, n, events, se in ((0.02, 300, 30, 0.01), (-0.01, 100, 50, 0.03))
    )
    rows = estimated(mean_of_sites((first, two), 0.95))
    assert rows.value == pytest.approx(0.75 * 0.02 - 0.25 * 0.01)
    assert rows.se == pytest.approx(math.hypot(0.75 * 0.01, 0.25 * 0.03))
    assert rows.high == pytest.approx(rows.value + 1.959963984540054 * (rows.se or 0))
    assert (rows.n, rows.events, rows.details) == (400, 80, {"k": 2.0})
    pairs = estimated(mean_of_sites((first, two), 0.95, by_pairs=True))
    share = 30 * 270 / (30 * 270 + 50 * 50)
    assert pairs.value == pytest.approx(share * 0.02 - (1 - share) * 0.01)


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 9), st.floats(0, 9), st.integers(1, 999)), min_size=1, max_size=5)
)
def test_skewed_intervals_of_sites_give_a_mean_that_could_be(parts: list[tuple[float, float, float, int]]) -> None:
    sites = [
        Estimate(value, value - below, value + above, 0.95, n, Method("mover"), None, 0.1)
        for value, below, above, n in parts
    ]
    found = estimated(mean_of_sites(sites, 0.95))
    weights = np.array([n for *_, n in parts], dtype=float)
    lows, highs = ([getattr(site, end) for site in sites] for end in ("low", "high"))
    least, most = np.average(lows, weights=weights), np.average(highs, weights=weights)
    assert least - 1e-9 <= (found.low or 0) <= found.value <= (found.high or 0) <= most + 1e-9


def test_square_and_add_of_two_sites_by_hand() -> None:
    sites = [Estimate(0.0, low, 0.01, 0.95, n, Method("mover"), None, 0.1) for low, n in ((-9.0, 300), (-1.0, 100))]
    found = estimated(mean_of_sites(sites, 0.95))
    assert found.low == pytest.approx(-math.sqrt(6.75**2 + 0.25**2))
    assert found.high == pytest.approx(math.sqrt(0.0075**2 + 0.0025**2))


def test_a_site_without_an_error_leaves_the_mean_without_an_interval() -> None:
    sites = (
        Estimate(0.1, None, None, 0.95, 100, Method("wald"), 30, 0.02),
        Estimate(0.0, None, None, None, 50, Method("wald"), 3, None),
    )
    found = estimated(mean_of_sites(sites, 0.95))
    assert found.value == pytest.approx(1 / 15)
    assert (found.low, found.reason) == (None, Said("not every site has a standard error"))
    assert mean_of_sites((), 0.95) == NO_ROWS


def test_without_an_event_the_ratio_counts_its_sites_too() -> None:
    sites = [Stratum(np.zeros(30), np.full(30, 0.1)) for _ in range(3)]
    found = estimated(stratified.oe_ratio(sites))
    assert (found.value, found.low, found.events, found.details["k"]) == (0.0, 0.0, 0, 3.0)
