"""Pooling against metafor, against the definition, and at the edges."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from dossier.core.facts import Method
from dossier.core.types import Estimate, Floats
from dossier.metrics.discrimination import auroc, newcombe_standard_error
from dossier.metrics.intervals import Scale
from dossier.metrics.pooled import expected_range, heterogeneity_bounds, pool, random_effects, shares
from dossier.typeset.methods import method_text
from tests.estimated import estimated, present
from tests.reasons import Said
from tests.reference.tables import GOLDEN

COLUMNS = {
    "logit_auc": ("y_lauc", "se_lauc"),
    "log_oe": ("y_loe", "se_loe"),
    "slope": ("slope", "se_slope"),
    "citl": ("citl", "se_citl"),
}


def _golden(measure: str) -> tuple[Floats, Floats, dict[str, Any]]:
    found = json.loads((GOLDEN / "r.json").read_text())["meta_sites"]
    value, se = COLUMNS[measure]
    return (
        np.array([row[value] for row in found["input"]]),
        np.array([row[se] for row in found["input"]]),
        found[measure],
    )


def _site(value: float, se: float | None, n: int = 400, events: int | None = 100) -> Estimate:
    return Estimate(value, None, None, None, n, Method("wald"), events, se)


# ---- metafor --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["logit_auc", "slope"])
def test_metafor_where_its_factor_is_at_least_one(measure: str) -> None:
    """REML with knha. metafor stops scoring at 1e-5: so does this."""
    values, errors, golden = _golden(measure)
    found, expected = random_effects(values, errors), golden["REML_knha"]
    assert found.value == pytest.approx(expected["est"], abs=1e-6)
    assert found.se == pytest.approx(expected["se"], abs=1e-6)
    assert [found.low, found.high] == pytest.approx(expected["ci"], abs=1e-5)
    assert found.df == len(values) - 1
    assert found.tau**2 == pytest.approx(expected["tau2"], abs=1e-6)
    assert 100 * found.i2 == pytest.approx(expected["I2"], abs=1e-3)


@pytest.mark.parametrize("measure", ["log_oe", "citl"])
def test_below_a_factor_of_one_the_plain_variance_stands(measure: str) -> None:
    """Here metafor's knha narrows the interval (log_oe: SE .015 against .041); ours keeps the plain SE."""
    values, errors, golden = _golden(measure)
    found, plain = random_effects(values, errors), golden["REML_z"]
    assert golden["REML_knha"]["se"] < plain["se"]
    assert found.value == pytest.approx(plain["est"], abs=1e-9)
    assert found.se == pytest.approx(plain["se"], abs=1e-9)
    assert (found.tau, found.i2) == (0, 0)
    reach = student.ppf(0.975, 3) * plain["se"]
    assert [found.low, found.high] == pytest.approx([plain["est"] - reach, plain["est"] + reach], abs=1e-9)


def test_the_auroc_comes_back_from_the_logit_scale() -> None:
    found = json.loads((GOLDEN / "r.json").read_text())["meta_sites"]
    estimates = tuple(_site(row["auc"], row["se_auc"], row["n"], row["O"]) for row in found["input"])
    back = found["logit_auc"]["REML_knha"]["back"]
    pooled = estimated(pool(estimates, "logit"))
    assert pooled.value == pytest.approx(back["est"], abs=1e-6)
    assert [pooled.low, pooled.high] == pytest.approx(back["ci"], abs=1e-5)
    assert (pooled.details["k"], pooled.details["df"]) == (4, 3)
    assert pooled.n == sum(row["n"] for row in found["input"])
    assert pooled.events == sum(row["O"] for row in found["input"])


def test_oe_is_pooled_on_the_log_scale() -> None:
    """The SE of the ratio is the value times the SE of its logarithm."""
    found = json.loads((GOLDEN / "r.json").read_text())["meta_sites"]
    estimates = tuple(_site(math.exp(row["y_loe"]), math.exp(row["y_loe"]) * row["se_loe"]) for row in found["input"])
    pooled = estimated(pool(estimates, "log"))
    assert pooled.value == pytest.approx(found["log_oe"]["REML_z"]["back"]["est"], abs=1e-9)


# ---- the definition -------------------------------------------------------------------------------------------------


def _losses(between: Floats, values: Floats, errors: Floats) -> Floats:
    """Minus the logarithm of the restricted likelihood at each variance between sites, but for a constant."""
    weights = 1 / (errors[:, None] ** 2 + between)
    mean = (weights * values[:, None]).sum(axis=0) / weights.sum(axis=0)
    away = (weights * (values[:, None] - mean) ** 2).sum(axis=0)
    return np.asarray((away - np.log(weights).sum(axis=0) + np.log(weights.sum(axis=0))) / 2)


DENSE = np.concatenate(([0.0], np.geomspace(1e-8, 20, 4000)))
"""Variances between sites, so many that no peak lies far from one."""


@pytest.mark.parametrize("seed", range(6))
def test_tau_maximises_the_restricted_likelihood(seed: int) -> None:
    """Standard errors differ up to thirtyfold, and the two surest sites agree: some of 100 sets have two peaks."""
    rng = np.random.default_rng(seed)
    for _ in range(100):
        k = int(rng.integers(2, 9))
        errors = np.exp(rng.uniform(math.log(0.01), math.log(0.3), k))
        values = rng.normal(1.2, 0.3, k) + rng.normal(0, errors)
        values[errors.argsort()[:2]] = 1.2
        found = random_effects(values, errors)
        assert _losses(np.array([found.tau**2]), values, errors)[0] <= _losses(DENSE, values, errors).min() + 1e-9


@pytest.mark.parametrize(
    ("values", "errors", "tau"),
    [
        ([0.975, 1.45, 0.978, 1.098], [0.026, 0.146, 0.033, 0.172], 0.1775),
        ([1.20, 1.21, 0.5, 1.9, 0.7, 1.8, 1.5], [0.02, 0.02, 0.15, 0.2, 0.2, 0.2, 0.15], 0.482),
        ([1.2, 1.2, 0.1, 2.3, 0.4, 2.0, 1.6], [0.01, 0.01, 0.2, 0.2, 0.2, 0.2, 0.2], 0.767),
        # A second peak that is lower than the value at 0, and one that is lower than the first.
        ([1.39, 1.70, 1.72], [0.134, 0.017, 0.043], 0.0),
        ([0.30, 1.23, 1.24, 1.17], [0.28, 0.013, 0.014, 0.029], 0.0280),
        ([1.72, 1.65, 1.13], [0.042, 0.028, 0.225], 0.2079),
    ],
)
def test_a_likelihood_that_falls_from_0_may_rise_again(values: list[float], errors: list[float], tau: float) -> None:
    """Sites that are sure and agree speak for little between them, and the others for more: the higher peak counts."""
    y, se = np.array(values), np.array(errors)
    found = random_effects(y, se)
    assert found.tau == pytest.approx(tau, abs=5e-4)
    assert found.tau**2 == pytest.approx(DENSE[_losses(DENSE, y, se).argmin()], rel=0.01, abs=1e-12)


def test_equal_sites_have_no_spread() -> None:
    found = random_effects(np.full(5, 0.3), np.full(5, 0.1))
    assert found.value == pytest.approx(0.3)
    assert (found.tau, found.i2) == (0, 0)
    assert found.se == pytest.approx(0.1 / math.sqrt(5))


def test_a_higher_level_is_wider() -> None:
    values, errors = np.array([0.1, 0.5, 0.9, 0.2]), np.array([0.1, 0.2, 0.1, 0.3])
    narrow, wide = random_effects(values, errors, 0.9), random_effects(values, errors, 0.99)
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


# ---- who is pooled --------------------------------------------------------------------------------------------------


def test_small_and_impossible_sites_are_listed_and_not_pooled() -> None:
    sites = (
        _site(0.8, 0.03),
        _site(0.7, 0.04),
        _site(0.75, 0.03),
        _site(0.9, 0.02, events=19),
        _site(0.9, 0.02, n=400, events=381),
        _site(0.8, None),
    )
    names = ("a", "b", "c", "few", "many", "vague")
    found = estimated(pool(sites, "logit", names=names))
    alone = estimated(pool(sites[:3], "logit"))
    assert (found.value, found.low, found.high) == (alone.value, alone.low, alone.high)
    assert (found.details["k"], found.details["left_out"], found.n, found.events) == (3, 3, 1200, 300)
    assert method_text(found.method) == (
        "REML on the logit scale, Hartung-Knapp, factor at least 1, t with 2 degrees of freedom; "
        "no prediction interval of "
        "fewer than 5 sites; tau and I2 with Q-profile intervals; "
        "not pooled: few (fewer than 20 events), many (fewer than 20 non-events), vague (no "
        "standard error)"
    )
    unnamed = estimated(pool(sites, "logit"))
    assert "1 site (fewer than 20 events)" in method_text(unnamed.method)


def test_exactly_twenty_events_are_enough() -> None:
    found = estimated(pool((_site(0.8, 0.03, 40, 20), _site(0.7, 0.04, 40, 20), _site(0.7, 0.04, 40, 20)), "logit"))
    assert found.details["k"] == 3


@pytest.mark.parametrize("scale", ["plain", "log", "logit"])
def test_fewer_than_three_sites_are_absent(scale: Scale) -> None:
    """Of two the interval went from .11 to .97 where the sites have .70 and .60."""
    assert pool((), scale) == Said("pooling needs three sites, and 0 can enter it")
    assert pool((_site(0.8, 0.1),), scale) == Said("pooling needs three sites, and 1 can enter it")
    assert pool((_site(0.7, 0.03), _site(0.6, 0.03)), scale) == Said("pooling needs three sites, and 2 can enter it")
    small = pool((_site(0.8, 0.1), _site(0.7, 0.1, events=3)), scale, names=("a", "b"))
    assert small == Said("pooling needs three sites, and 1 can enter it (left out: b (fewer than 20 events))")


@pytest.mark.parametrize("measure", list(COLUMNS))
def test_the_q_profile_intervals_are_those_of_metafor(measure: str) -> None:
    """`confint` of R's metafor, whose root of tau^2 stops at 1.2e-4, and I^2 with it."""
    values, errors, golden = _golden(measure)
    found = heterogeneity_bounds(values, errors)
    tau2 = [found["tau_low"] ** 2, found["tau_high"] ** 2]
    assert tau2 == pytest.approx(golden["tau2_qprofile_ci"], abs=1.3e-4)
    assert [100 * found["i2_low"], 100 * found["i2_high"]] == pytest.approx(golden["I2_ci"], abs=0.1)


def test_the_q_profile_interval_of_the_published_trials() -> None:
    """Viechtbauer 2010, the BCG trials: tau^2 .3132 (.1197 to 1.1115), I^2 92.22 (81.92 to 97.68)."""
    vaccinated = [(4, 119), (6, 300), (3, 228), (62, 13536), (33, 5036), (180, 1361), (8, 2537), (505, 87886)]
    vaccinated += [(29, 7470), (17, 1699), (186, 50448), (5, 2493), (27, 16886)]
    others = [(11, 128), (29, 274), (11, 209), (248, 12619), (47, 5761), (372, 1079), (10, 619), (499, 87892)]
    others += [(45, 7232), (65, 1600), (141, 27197), (3, 2338), (29, 17825)]
    pairs = list(zip(vaccinated, others, strict=True))
    values = np.array([math.log(a / (a + b) / (c / (c + d))) for (a, b), (c, d) in pairs])
    errors = np.sqrt([1 / a - 1 / (a + b) + 1 / c - 1 / (c + d) for (a, b), (c, d) in pairs])
    found = heterogeneity_bounds(values, errors)
    assert random_effects(values, errors).tau ** 2 == pytest.approx(0.3132, abs=5e-5)
    assert [found["tau_low"] ** 2, found["tau_high"] ** 2] == pytest.approx([0.1197, 1.1115], abs=5e-5)
    assert [100 * found["i2_low"], 100 * found["i2_high"]] == pytest.approx([81.92, 97.68], abs=5e-3)


def test_the_interval_of_tau_holds_it() -> None:
    rng, errors, tau = np.random.default_rng(4), np.array([0.1, 0.15, 0.2, 0.2, 0.3, 0.4]), 0.2
    held = 0
    for _ in range(1000):
        found = heterogeneity_bounds(rng.normal(rng.normal(0, tau, 6), errors), errors)
        held += found["tau_low"] <= tau <= found["tau_high"]
    assert 0.93 <= held / 1000 <= 0.97


@pytest.mark.parametrize("seed", range(20))
def test_where_chance_explains_all_the_interval_of_tau_begins_at_0(seed: int) -> None:
    """Exactly there: a bound above the value 0 would be an interval without its value."""
    rng = np.random.default_rng(seed)
    errors = rng.uniform(0.05, 0.4, 4)
    values = rng.normal(0, errors)
    weights = 1 / errors**2
    q = float((weights * (values - (weights * values).sum() / weights.sum()) ** 2).sum())
    found = heterogeneity_bounds(values, errors)
    # The quantile .975 of the chi-squared distribution with three degrees of freedom, from a table.
    assert (found["tau_low"] == found["i2_low"] == 0.0) is (q <= 9.348403604496148)
    assert found["tau_low"] <= random_effects(values, errors).tau <= found["tau_high"]


def test_very_different_sites_stay_finite() -> None:
    found = estimated(pool((_site(0.01, 0.001), _site(50.0, 1.0), _site(50.0, 1.0)), "log"))
    assert math.isfinite(present(found.high))


def test_a_standard_error_of_0_is_not_pooled() -> None:
    found = estimated(pool((_site(0.8, 0.03), _site(0.7, 0.03), _site(0.7, 0.03), _site(0.8, 0.0)), "logit"))
    assert found.details["k"] == 3
    assert method_text(found.method).endswith("; not pooled: 1 site (no standard error)")


@pytest.mark.parametrize("perfect", [1.0, 0.0])
def test_an_auroc_of_exactly_1_or_0_is_pooled_half_a_row_inside_with_newcombes_error(perfect: float) -> None:
    outcome = np.repeat([0.0, 1.0], (60, 40))
    risk = np.linspace(0.1, 0.9, 100) if perfect else np.linspace(0.9, 0.1, 100)
    site = estimated(auroc(outcome, risk))
    assert site.value == perfect
    inside = (100 * perfect + 0.5) / 101
    assert site.se == pytest.approx(newcombe_standard_error(inside, 100, 40))
    others = (_site(0.8, 0.03), _site(0.7, 0.03))
    found, by_hand = (estimated(pool((*others, each), "logit")) for each in (site, _site(inside, site.se, 100, 40)))
    assert (found.value, found.low, found.high) == (by_hand.value, by_hand.low, by_hand.high)
    assert (found.details["k"], found.details["left_out"]) == (3, 0)
    assert f"; entered: 1 site ({perfect:g} as {inside:.4g})" in method_text(found.method)
    named = estimated(pool((*others, site), "logit", names=("a", "b", "perfect")))
    assert f"; entered: perfect ({perfect:g} as {inside:.4g})" in method_text(named.method)


def test_only_logarithms_need_a_value_above_0() -> None:
    """Where every site has one standard error the mean of all is the mean of their values."""
    sites = (_site(0.5, 0.03), _site(0.7, 0.03), _site(0.4, 0.03), _site(0.0, 0.03))
    plain, log = estimated(pool(sites, "plain")), estimated(pool(sites, "log"))
    assert plain.value == pytest.approx(0.4)
    assert plain.details["k"] == 4
    assert log.details["k"] == 3
    assert method_text(log.method).endswith("; not pooled: 1 site (a value of 0 has no logarithm)")


# ---- by hand --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1.0, 10.0, 1e-3])
def test_three_sites_that_are_equally_sure_are_pooled_by_hand(unit: float) -> None:
    """With one standard error s at all sites tau squared is their variance less s squared, and the factor is 1."""
    values, variance = np.array([0.0, 1.0, 3.0]) * unit, 7 / 3 * unit**2
    found = random_effects(values, np.full(3, 0.5 * unit))
    assert found.tau**2 == pytest.approx(variance - 0.25 * unit**2)
    assert found.se == pytest.approx(math.sqrt(variance / 3))


# ---- a new site -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [4, 5, 10, 30])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_sites_without_an_error_of_their_own_foretell_as_the_t_distribution_does(k: int, level: float) -> None:
    """Of k draws of a normal distribution the next lies within mean -+ t(k-1) s sqrt(1 + 1/k): here exactly, but for
    the thousand steps of the confidence distribution."""
    values = np.random.default_rng(k).normal(1, 0.4, k)
    ahead = student.ppf(0.5 + level / 2, k - 1) * values.std(ddof=1) * math.sqrt(1 + 1 / k)
    low, high = expected_range(values, np.full(k, 1e-6), level)
    assert [low, high] == pytest.approx([values.mean() - ahead, values.mean() + ahead], abs=0.004 * ahead)


def test_a_new_site_among_equally_sure_ones_by_drawing_the_definition() -> None:
    """tau squared = sum of squares / chi squared(k-1) - s squared, at least 0; then normal around the mean."""
    values, error = np.array([0.1, 0.5, 0.4, 0.9, 0.6]), 0.2
    rng = np.random.default_rng(8)
    squares = float(((values - values.mean()) ** 2).sum())
    tau2 = np.maximum(squares / rng.chisquare(4, 400_000) - error**2, 0)
    drawn = values.mean() + rng.standard_normal(400_000) * np.sqrt(tau2 + (tau2 + error**2) / 5)
    expected = np.quantile(drawn, [0.025, 0.975])
    assert expected_range(values, np.full(5, error)) == pytest.approx(expected, abs=0.006)


def test_sites_that_agree_foretell_no_more_than_the_mean_does() -> None:
    """Most of the confidence distribution lies at a tau of 0, the rest widens the range a little."""
    errors = np.full(8, 0.3)
    low, high = expected_range(np.full(8, 0.5), errors)
    alone = student.ppf(0.975, 1e9) * 0.3 / math.sqrt(8)
    assert (low + high) / 2 == pytest.approx(0.5, abs=1e-9)
    assert high - 0.5 == pytest.approx(alone, rel=1e-6)


@pytest.mark.parametrize(("shift", "unit"), [(3.0, 1.0), (0.0, 100.0), (-2.0, 1e-4)])
def test_the_range_moves_and_stretches_with_the_values(shift: float, unit: float) -> None:
    values, errors = np.array([0.2, 0.9, 0.5, 0.4, 1.0]), np.array([0.1, 0.3, 0.2, 0.1, 0.2])
    low, high = expected_range(values, errors)
    moved = expected_range(shift + unit * values, unit * errors)
    assert moved == pytest.approx((shift + unit * low, shift + unit * high), rel=1e-9, abs=1e-12)


def test_sites_that_are_almost_certain_differ_by_their_variance() -> None:
    """Where nothing is lost to chance within a site, tau squared is the variance of the values but for rounding."""
    found = random_effects(np.array([0.0, 1.0, 3.0]), np.full(3, 1e-9))
    assert found.tau**2 == pytest.approx(7 / 3)
    assert found.i2 == pytest.approx(1)


@pytest.mark.parametrize("scale", ["plain", "log", "logit"])
def test_three_sites_that_agree_have_a_third_of_the_variance_on_every_scale(scale: Scale) -> None:
    found = estimated(pool((_site(0.8, 0.04),) * 3, scale))
    assert found.value == pytest.approx(0.8)
    assert found.se == pytest.approx(0.04 / math.sqrt(3))
    # On its scale the interval is the value and t times the standard error there on either side.
    reach = student.ppf(0.975, 2) * 0.04 / math.sqrt(3)
    ends = {
        "plain": [0.8 - reach, 0.8 + reach],
        "log": [0.8 * math.exp(-reach / 0.8), 0.8 * math.exp(reach / 0.8)],
        "logit": [4 * math.exp(each / 0.16) / (1 + 4 * math.exp(each / 0.16)) for each in (-reach, reach)],
    }
    assert [found.low, found.high] == pytest.approx(ends[scale])


@pytest.mark.parametrize("scale", ["plain", "log", "logit"])
@pytest.mark.parametrize(("sites", "is_told"), [(3, False), (4, False), (5, True), (6, True)])
def test_a_new_site_is_foretold_from_five_sites_on(sites: int, is_told: bool, scale: Scale) -> None:
    found = estimated(pool((*(_site(0.4 + 0.1 * k, 0.1) for k in range(sites)), _site(0.5, 0.1, events=3)), scale))
    assert found.details["k"] == sites
    assert ({"prediction_low", "prediction_high"} <= found.details.keys()) is is_told
    assert ("no prediction interval of fewer than 5 sites" in method_text(found.method)) is not is_told
    assert found.reason is None


def test_a_ratio_without_end_stops_at_e_to_the_700() -> None:
    """At 99.9 % the t quantile of three sites is 31.6; the exponential of more than 709 is no number."""
    found = estimated(pool((_site(1e-20, 1e-21), _site(1.0, 0.1), _site(1e20, 1e19)), "log", 0.999))
    assert found.value == pytest.approx(1)
    assert found.high == math.exp(700)


def test_the_weights_of_sites_are_those_of_metafor_and_one_too_small_has_none() -> None:
    """`weights(rma(qlogis(v), sei = s / (v * (1 - v)), method = "REML"))` of R's metafor, tau .431289647662."""
    values, errors = (0.84, 0.80, 0.88, 0.72, 0.90), (0.025, 0.011, 0.015, 0.032, 0.034)
    sites = (_site(0.70, 0.05, events=19), *(_site(value, se) for value, se in zip(values, errors, strict=True)))
    small, *found = shares(sites, "logit", 0.431289647662)
    assert small is None
    assert found == pytest.approx([0.202338418, 0.234029283, 0.216492667, 0.211348702, 0.135790929], abs=1e-8)
