"""Robustness: limits of the two scores, each reason, and the printed values of the paper."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from dossier.core.bands import is_acceptable
from dossier.core.facts import Fact, Method
from dossier.core.types import Absent, Curve, CurveResult, DatasetSummary, Estimate, Floats, Result, SiteResults
from dossier.metrics import discrimination, robustness
from dossier.metrics.intervals import NO_SPREAD
from dossier.typeset.methods import method_text
from tests.estimated import absent, curved, estimated
from tests.reasons import Said, because


def _estimate(value: float, se: float | None = 0.02) -> Estimate:
    return Estimate(value, None, None, None, 300, Method("wald"), 100, se)


def _site(
    name: str,
    found: Mapping[str, Estimate | Absent],
    curve: Curve | Absent | None = None,
    net_benefit: Estimate | Absent | None = None,
) -> SiteResults:
    results = [Result(measure, measure, name, {}, estimate) for measure, estimate in found.items()]
    if net_benefit is not None:
        snb = "standardized_net_benefit"
        results.append(Result(snb, snb, name, {"threshold": 0.5}, net_benefit))
    curves = () if curve is None else (CurveResult("split_performance", name, curve),)
    summary = DatasetSummary(name, "external", name, 300, 100, 300, {}, ())
    return SiteResults(summary, tuple(results), curves)


SPLITS = Curve(
    {
        "split": tuple(float(number) for number in range(1, 6)),
        "auroc": (0.80, 0.84, None, 0.86, 0.90),
        "standardized_net_benefit": (0.1, 0.2, 0.3, 0.4, 0.5),
        "brier": (0.10, 0.12, 0.14, 0.16, 0.21),
    },
    500,
    Method(Fact("refitted_splits", splits=5)),
)
INTERNAL = _site("internal", {"auroc": _estimate(0.85), "brier": _estimate(0.14)}, SPLITS, _estimate(0.3))
HERE = {"correspondence_averaged": _estimate(0.25, None), "auroc": _estimate(0.80), "brier": _estimate(0.2)}
SITE = _site("here", HERE, net_benefit=_estimate(0.1, 0.05))


# ---- the internal test ----------------------------------------------------------------------------------------------


def test_over_splits_by_hand() -> None:
    """Four splits: SE = sqrt((1/4 + 20/80) var), and the tabled quantile of t with three degrees of freedom."""
    found = robustness.over_splits(np.array([0.8, 0.82, 0.84, 0.86]), n_test=20, n_train=80, n=80, events=30)
    se = math.sqrt(0.5 * (0.03**2 + 0.01**2) * 2 / 3)
    assert found.value == pytest.approx(0.83)
    assert found.se == pytest.approx(se)
    assert (found.low, found.high) == pytest.approx((0.83 - 3.182446 * se, 0.83 + 3.182446 * se), abs=1e-7)
    assert method_text(found.method) == "mean over 4 refitted splits, Nadeau-Bengio, Student t"


def test_over_splits_without_training_rows_has_a_reason_instead_of_an_interval() -> None:
    found = robustness.over_splits(np.array([0.8, 0.9]), n_test=20, n_train=None, n=40, events=10)
    assert found.value == pytest.approx(0.85)
    assert (found.low, found.se) == (None, None)
    assert found.reason == Said("the number of rows that each split was fitted on is not known")
    single = robustness.over_splits(np.array([0.8]), n_test=20, n_train=80, n=20, events=10)
    assert single.reason == Said("one split shows no spread")


def test_two_splits_are_enough_for_an_interval() -> None:
    """The variance is .1^2/2, and t with one degree of freedom has the quantile 12.7062."""
    found = robustness.over_splits(np.array([0.8, 0.9]), n_test=20, n_train=80, n=40, events=10)
    assert found.reason is None
    assert found.se == pytest.approx(math.sqrt((1 / 2 + 20 / 80) * 0.005))
    assert found.high == pytest.approx(0.85 + 12.706205 * math.sqrt(0.75 * 0.005), rel=1e-6)


@pytest.mark.parametrize("values", [np.ones(5), np.full(5, 0.9), np.full(10, 0.1)])
def test_splits_that_all_have_the_same_value_give_no_interval(values: Floats) -> None:
    """The computed variance of ten times .1 is 2e-34, and says nothing."""
    found = robustness.over_splits(values, n_test=100, n_train=400, n=500, events=50)
    assert found.value == pytest.approx(values[0])
    assert (found.low, found.high, found.level, found.se) == (None, None, None, None)
    assert (found.n, found.events, found.reason) == (500, 50, NO_SPREAD)


def test_a_declared_interval_gives_back_the_error_it_was_made_of() -> None:
    value, se = 0.87, 0.0153
    reach = norm.ppf(0.975) * se / (value * (1 - value))
    low, high = (1 / (1 + math.exp(-(math.log(value / (1 - value)) + side * reach))) for side in (-1, 1))
    found = robustness.declared_estimate(value, low, high, 0.95, 520, 250)
    assert found.se == pytest.approx(se, rel=1e-12)
    assert method_text(found.method) == "declared, its bounds read as a 95% interval"


@pytest.mark.parametrize(("value", "low", "high"), [(0.97, 0.9, 1.0), (0.03, 0.0, 0.1), (0.0, 0.0, 0.1)])
def test_a_declared_bound_of_0_or_1_implies_no_error(value: float, low: float, high: float) -> None:
    found = robustness.declared_estimate(value, low, high, 0.95, 100, None)
    assert (found.value, found.low, found.high) == (value, low, high)
    assert (found.se, found.reason) == (None, Said("a bound of exactly 0 or 1 implies no SE"))
    assert method_text(robustness.declared_estimate(value, low, high, 0.975, 100, None).method).endswith(
        "read as a 97.5% interval"
    )


def _rows(n: int = 200) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(2)
    risk = rng.random(n)
    return (rng.random(n) < risk).astype(float), risk


def test_split_performance_is_the_measure_on_each_split() -> None:
    outcome, risk = _rows()
    split = np.arange(200) % 4
    outcome[split == 3] = 0.0
    found = curved(robustness.split_performance(outcome, risk, split, 0.4))
    assert found.columns["split"] == (1.0, 2.0, 3.0, 4.0)
    assert found.columns["auroc"][3] is None
    assert found.columns["standardized_net_benefit"][3] is None
    for part in range(3):
        y, p = outcome[split == part], risk[split == part]
        pairs = [(a > b) + (a == b) / 2 for a, b in itertools.product(p[y == 1], p[y == 0])]
        assert found.columns["auroc"][part] == pytest.approx(np.mean(pairs))
        assert found.columns["brier"][part] == pytest.approx(np.mean((p - y) ** 2))
        benefit = np.mean((p >= 0.4) & (y == 1)) - np.mean((p >= 0.4) & (y == 0)) * 0.4 / 0.6
        assert found.columns["standardized_net_benefit"][part] == pytest.approx(benefit / y.mean())


def test_without_splits_it_is_a_hundred_subsets_and_says_so() -> None:
    outcome, risk = _rows()
    found = curved(robustness.split_performance(outcome, risk, seed=4))
    assert method_text(found.method) == "100 random subsets of 20% of the rows, the model not refitted"
    assert len(found.columns["auroc"]) == 100
    assert len(set(found.columns["auroc"])) > 50
    assert set(found.columns["standardized_net_benefit"]) == {None}
    order = np.random.default_rng(0).permutation(len(risk))
    assert robustness.split_performance(outcome[order], risk[order], seed=4) == found
    assert robustness.split_performance(outcome, risk, seed=5) != found


def test_split_performance_of_tiny_and_empty_tables() -> None:
    assert robustness.split_performance(np.array([]), np.array([])) == Said("there are no rows")
    curve = curved(robustness.split_performance(np.array([1.0]), np.array([0.3])))
    assert set(curve.columns["auroc"]) == {None}


def test_at_most_two_hundred_and_fifty_splits_are_shown() -> None:
    just, many = (robustness.split_performance(*_rows(2 * splits), np.arange(2 * splits) // 2) for splits in (250, 251))
    assert robustness.first_splits(just) == just
    shown = curved(robustness.first_splits(many))
    assert (shown.n, method_text(shown.method)) == (502, "251 refitted splits, the first 250")
    assert shown.columns == {name: values[:250] for name, values in curved(many).columns.items()}
    assert robustness.first_splits(Absent(because("there are no rows"))) == Said("there are no rows")


@pytest.mark.parametrize(("minimum", "bound"), [("worst_split", 301), ("quantile_05", 301 + 0.05 * 299)])
def test_the_minimum_is_that_of_all_splits_however_they_are_numbered(minimum: str, bound: float) -> None:
    """300 splits with one case and 600 others, of which 301, ..., 600 have a lower risk: AUROC 301/600 to 600/600."""
    outcome = np.tile(np.arange(601) == 600, 300).astype(float)
    risk = np.concatenate([np.r_[np.arange(1.0, 601), below + 0.5] / 700 for below in range(301, 601)])
    split = np.repeat(np.arange(300), 601)
    for numbers in (split, 299 - split):
        found = estimated(
            _wpr(minimum, internal=_site("i", {}, robustness.split_performance(outcome, risk, numbers, 0.4)))
        )
        assert found.details["minimum_value"] == pytest.approx(bound / 600, abs=1e-12)


def test_no_subset_holds_a_row_twice() -> None:
    """Two of ten rows: of powers of 4, the mean of two that differ is never that of one taken twice."""
    squares = [4.0**-power for power in range(10)]
    found = curved(robustness.split_performance(np.zeros(10), np.sqrt(squares)))
    pairs = [(first + other) / 2 for first, other in itertools.combinations(squares, 2)]
    for value in found.columns["brier"]:
        assert any(value == pytest.approx(pair) for pair in pairs)


# ---- the two scores -------------------------------------------------------------------------------------------------


def test_the_combination_is_the_law_of_a_product_of_two_uniform_numbers() -> None:
    rng = np.random.default_rng(1)
    products = rng.random(400_000) * rng.random(400_000)
    for k in (0.001, 0.05, 0.3, 0.8):
        assert robustness.combined(k) == pytest.approx(np.mean(products <= k), abs=0.003)
    assert (robustness.combined(0.0), robustness.combined(1.0)) == (0.0, 1.0)


def _spr(
    site: SiteResults = SITE, internal: SiteResults | None = INTERNAL, measure: str = "auroc"
) -> Estimate | Absent:
    return robustness.spr(site, internal, measure, 0.5)


def _wpr(
    minimum: str,
    measure: str = "auroc",
    site: SiteResults = SITE,
    internal: SiteResults | None = INTERNAL,
    declared: Mapping[str, float] | None = None,
) -> Estimate | Absent:
    return robustness.wpr(site, internal, measure, minimum, declared or {}, 0.5)


def test_spr_by_hand() -> None:
    found = estimated(_spr())
    p = math.erfc(0.05 / math.hypot(0.02, 0.02) / math.sqrt(2))
    k = p * 0.75
    assert found.value == pytest.approx(k * (1 - math.log(k)))
    assert found.details == pytest.approx({"p_performance": p, "p_similarity": 0.25, "internal_value": 0.85})
    assert (found.low, found.high, found.n) == (None, None, 300)


def test_spr_takes_the_net_benefit_at_the_primary_threshold() -> None:
    found = estimated(_spr(measure="standardized_net_benefit"))
    assert found.details["p_performance"] == pytest.approx(math.erfc(0.2 / math.hypot(0.05, 0.02) / math.sqrt(2)))


@pytest.mark.parametrize(
    ("averaged", "auroc", "expected"),
    [(0.0, 0.85, 1.0), (1.0, 0.85, 0.0), (0.0, -50.0, 0.0), (0.5, 0.85, 0.5 * (1 + math.log(2)))],
)
def test_limits_of_spr(averaged: float, auroc: float, expected: float) -> None:
    """1 with full performance among other patients; 0 among the same patients, or when performance is lost."""
    found = estimated(
        _spr(_site("here", {"correspondence_averaged": _estimate(averaged, None), "auroc": _estimate(auroc)}))
    )
    assert found.value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("minimum", "measure", "bound", "p"),
    [
        ("worst_split", "auroc", 0.80, 0.5),
        ("quantile_05", "auroc", 0.80 + 0.15 * 0.04, norm.cdf(-0.006 / 0.02)),
        ("worst_split", "brier", 0.21, norm.cdf(0.01 / 0.02)),
        ("quantile_05", "brier", 0.16 + 0.8 * 0.05, 0.5),
        ("worst_split", "standardized_net_benefit", 0.1, 0.5),
        ("declared", "auroc", 0.75, norm.cdf(0.05 / 0.02)),
    ],
)
def test_wpr_by_hand(minimum: str, measure: str, bound: float, p: float) -> None:
    found = estimated(_wpr(minimum, measure, declared={"auroc": 0.75}))
    assert found.details["minimum_value"] == pytest.approx(bound)
    assert found.details["p_acceptable"] == pytest.approx(p)
    t = p * 0.75
    assert found.value == pytest.approx(t * (1 - math.log(t)))


@pytest.mark.parametrize(
    ("minimum", "measure", "called"),
    [
        ("worst_split", "auroc", "the worst internal value of 5 refitted splits"),
        ("quantile_05", "auroc", "the 5% quantile of the internal values of 5 refitted splits"),
        ("quantile_05", "brier", "the 95% quantile of the internal values of 5 refitted splits"),
        ("declared", "auroc", "the minimum declared for robustness, no criterion"),
    ],
)
def test_the_method_says_what_the_minimum_is(minimum: str, measure: str, called: str) -> None:
    found = estimated(_wpr(minimum, measure, declared={"auroc": 0.75}))
    assert method_text(found.method).endswith(f"against {called}")


def test_of_subsets_that_were_not_refitted_the_quantile_rules() -> None:
    """The worst of 100 draws is a matter of luck."""
    internal = _site("i", {}, robustness.split_performance(*_rows(), None, 0.4))
    found = estimated(_wpr("quantile_05", internal=internal))
    called = "the 5% quantile of the internal values of 100 random subsets of 20% of the rows, the model not refitted"
    assert method_text(found.method).endswith(f"against {called}")
    assert _wpr("worst_split", internal=internal) == Said(
        "without refitted splits the worst of random subsets is a matter of the draw: their 5% quantile stands instead"
    )


def test_a_declared_minimum_needs_no_internal_test() -> None:
    assert isinstance(_wpr("declared", internal=None, declared={"auroc": 0.7}), Estimate)


@pytest.mark.parametrize(
    ("measure", "with_benefit", "without"),
    [("auroc", 0.51, 0.50), ("standardized_net_benefit", 0.0, -0.33), ("brier", 0.18, 0.19)],
)
def test_a_minimum_below_no_benefit_gives_no_score(measure: str, with_benefit: float, without: float) -> None:
    """Of the Brier score the bar is that of the prevalence of the site, here .25 x .75 = .1875, not .25."""
    scaled = _estimate(1 - 0.2 / 0.1875)
    site = _site("here", {**HERE, "scaled_brier": scaled}, net_benefit=_estimate(0.1, 0.05))
    assert isinstance(_wpr("declared", measure, site, declared={measure: with_benefit}), Estimate)
    found = absent(_wpr("declared", measure, site, declared={measure: without}))
    assert found.reason == Fact("minimum_below_no_benefit", measure=measure, minimum=without)


def test_where_the_prevalence_is_not_known_a_brier_score_gives_a_benefit_up_to_a_quarter() -> None:
    assert isinstance(_wpr("declared", "brier", declared={"brier": 0.249}), Estimate)
    assert isinstance(_wpr("declared", "brier", declared={"brier": 0.25}), Absent)


@pytest.mark.parametrize("measure", ["auroc", "brier"])
def test_only_the_net_benefit_needs_a_threshold(measure: str) -> None:
    assert isinstance(robustness.wpr(SITE, INTERNAL, measure, "worst_split", {}), Estimate)
    assert isinstance(robustness.spr(SITE, INTERNAL, measure), Estimate)


DECLARED = _site("owner", {"auroc": _estimate(0.87)})
STRANGER = _site(
    "spain", {"correspondence_averaged": Absent(because("spain has no predictors")), "auroc": _estimate(0.66)}
)


def test_each_gap_of_spr_has_its_reason() -> None:
    assert _spr(STRANGER) == Said("spain has no predictors")
    assert _spr(internal=None) == Said("the release has no internal test")
    assert _spr(internal=DECLARED, measure="brier") == Said(
        "the internal test gives no brier: brier was not computed for owner"
    )
    assert robustness.spr(SITE, INTERNAL, "standardized_net_benefit") == Said("no threshold is declared")
    vague = _site("here", {**HERE, "auroc": _estimate(0.8, None)})
    assert _spr(vague) == Said("the performance at this site has no standard error")
    assert _spr(internal=_site("i", {"auroc": _estimate(0.8, None)})) == Said(
        "the internal performance has no standard error"
    )
    sure = _site("here", {**HERE, "auroc": _estimate(0.8, 0.0)})
    assert isinstance(_spr(sure, _site("i", {"auroc": _estimate(0.8, 0.0)})), Absent)


def test_each_gap_of_wpr_has_its_reason() -> None:
    assert _wpr("worst_split", site=STRANGER) == Said("spain has no predictors")
    assert _wpr("worst_split", internal=None) == Said("the release has no internal test")
    declared = "the internal test is declared, not given as rows: no splits"
    assert _wpr("worst_split", internal=DECLARED) == Said(f"{declared}, and no minimum is declared")
    assert _wpr("worst_split", internal=DECLARED, declared={"auroc": 0.7}) == Said(declared)
    assert _wpr("declared") == Said("no minimum is declared for auroc")
    assert robustness.wpr(SITE, INTERNAL, "standardized_net_benefit", "worst_split", {}) == Said(
        "no threshold is declared"
    )
    empty = Curve({"split": (1.0,), "auroc": (None,)}, 9, Method("wald"))
    assert _wpr("worst_split", internal=_site("i", {}, empty)) == Said("no internal split allows auroc")
    assert _wpr("worst_split", internal=_site("i", {}, Absent(because("there are no rows")))) == Said(
        "there are no rows"
    )
    for se in (None, 0.0):
        vague = _site("here", {**HERE, "auroc": _estimate(0.8, se)})
        assert _wpr("worst_split", site=vague) == Said("the performance at this site has no standard error")


CASE_STUDY = {
    # name: rows, events, similarity that the authors give, AUROC and its DeLong error, net benefit at .5, Brier score
    "italy-1": (337, 163, 0.445, 0.9689373, 0.008897134, 0.803681, 0.0771575),
    "italy-2": (249, 104, 0.439, 0.9779841, 0.01022708, 0.8269231, 0.0802956),
    "italy-3": (224, 118, 0.444, 0.8875120, 0.02171498, 0.6525424, 0.1351317),
    "brazil-1": (1301, 352, 0.341, 0.7518949, 0.01567080, 0.1590909, 0.1626073),
    "brazil-2": (2335, 375, 0.447, 0.8296830, 0.01231219, 0.1493333, 0.1034672),
    "brazil-3": (345, 334, 0.348, 0.7958628, 0.06362623, 0.3263473, 0.3899792),
    "ethiopia": (429, 200, 0.323, 0.8679803, 0.01684173, 0.535, 0.1480189),
    "spain": (120, 78, 0.315, 0.6602564, 0.05018218, 0.4743590, 0.2745886),
}
"""The eight hospitals of [Trust]. The performance is computed apart from the library, by pairs of rows; the
similarities are those that the applications of its authors hold, and none is solved from what is compared."""


def _case_study() -> tuple[SiteResults, ...]:
    """The sites as a release gives them that declares the similarities."""
    sites = []
    for name, (n, events, similarity, auroc, se, benefit, brier) in CASE_STUDY.items():
        measures = {"auroc": _estimate(auroc, se), "brier": _estimate(brier)}
        measures["correspondence_averaged"] = robustness.declared_similarity("averaged", similarity, n, "the authors")
        site = _site(name, measures, net_benefit=_estimate(benefit))
        sites.append(replace(site, summary=replace(site.summary, n=n, events=events)))
    return tuple(sites)


@pytest.mark.parametrize(
    ("measure", "r", "printed", "p"),
    [("auroc", 0.737, 0.74, 0.036), ("standardized_net_benefit", 0.393, 0.39, 0.340), ("brier", -0.660, 0.66, 0.075)],
)
def test_the_correlations_of_the_case_study(measure: str, r: float, printed: float, p: float) -> None:
    """[Trust] prints .74, .39 and .66, without the sign of the Brier score, which is a loss."""
    found = estimated(robustness.performance_against_similarity(_case_study(), measure, 0.5))
    assert found.value == pytest.approx(r, abs=0.0006)
    assert round(abs(found.value), 2) == printed
    assert found.details["p_value"] == pytest.approx(p, abs=0.006)
    assert found.details["k"] == 8


def test_the_weak_robustness_of_the_case_study() -> None:
    """[Trust] prints .92 .88 .93, and no minimum: at .718 they are .930 .881 .896 with DeLong's error."""
    scores = [
        robustness.wpr(site, None, "auroc", "declared", {"auroc": 0.718}, 0.5)
        for site in _case_study()
        if site.summary.name.startswith("brazil")
    ]
    assert [round(score.value, 3) for score in scores if isinstance(score, Estimate)] == [0.930, 0.881, 0.896]


def test_the_printed_scores_need_newcombes_error_at_the_predicted_prevalence() -> None:
    """.929 .881 .931: the risks of Brazil 1 to 3 add up to so many events."""
    found = []
    for name, predicted in (("brazil-1", 309), ("brazil-2", 464), ("brazil-3", 137)):
        n, _, similarity, auroc, *_ = CASE_STUDY[name]
        se = discrimination.newcombe_standard_error(auroc, n, predicted)
        found.append(round(robustness.combined(float(norm.cdf((auroc - 0.718) / se)) * (1 - similarity)), 3))
    assert found == [0.929, 0.881, 0.931]


# ---- all external sites ---------------------------------------------------------------------------------------------


def _exact(value: float) -> Estimate:
    """A number that is known to the last digit."""
    return replace(_estimate(value), low=value, high=value)


def _external(
    averaged: float, auroc: float, benefit: float, brier: float, psi: float = 0.9, n: int = 300
) -> SiteResults:
    measures = {"correspondence_averaged": averaged, "degree_of_correspondence": psi, "auroc": auroc, "brier": brier}
    site = _site("x", {name: _exact(value) for name, value in measures.items()}, net_benefit=_exact(benefit))
    return replace(site, summary=replace(site.summary, n=n))


@pytest.mark.parametrize(
    ("site", "supports"),
    [
        (_external(0.39, 0.70, 0.40, 0.25), 1),
        (_external(0.39, 0.90, 0.90, 0.01, n=100), 1),
        (_external(0.39, 0.90, 0.90, 0.01, n=99), 0),
        (_external(0.40, 0.90, 0.90, 0.01), 0),
        (_external(0.10, 0.69, 0.90, 0.01), 0),
        (_external(0.10, 0.90, 0.39, 0.01), 0),
        (_external(0.10, 0.90, 0.90, 0.26), 0),
    ],
)
def test_support_needs_difference_and_all_three_measures(site: SiteResults, supports: int) -> None:
    found = estimated(robustness.externally_supported((site,), 0.5, similarity="averaged"))
    assert (found.value, found.details["k"], found.details["by_psi"]) == (supports, 1, 0)


CHOSEN: dict[str, dict[str, float | str]] = {
    "auroc": {},
    "weighted_utility": {"gamma": 1.0, "relevance": "constant", "tau": "cost_benefit"},
    "eci": {},
}


@pytest.mark.parametrize(("utility", "eci", "supports"), [(0.40, 0.80, 1), (0.39, 0.80, 0), (0.40, 0.79, 0)])
def test_support_goes_by_the_measures_that_are_chosen(utility: float, eci: float, supports: int) -> None:
    """The net benefit and the Brier score of the site would not do, and are not asked for."""
    site = _external(0.1, 0.9, 0.0, 0.9, psi=0.1)
    at = CHOSEN["weighted_utility"]
    chosen = (
        Result("weighted_utility", "weighted_utility", "x", at, _exact(utility)),
        Result("eci", "eci", "x", {}, _exact(eci)),
    )
    found = estimated(
        robustness.externally_supported((replace(site, results=(*site.results, *chosen)),), 0.5, judged_by=CHOSEN)
    )
    assert found.value == supports
    assert robustness.externally_supported((site,), 0.5, judged_by=CHOSEN) == Said(
        "no external site has both a similarity and all three measures"
    )


def test_the_scores_take_a_chosen_measure_at_its_settings() -> None:
    at = CHOSEN["weighted_utility"]
    result = Result("weighted_utility", "weighted_utility", "here", at, _estimate(0.5, 0.05))
    elsewhere = replace(result, at={**at, "tau": 0.5}, found=_estimate(0.9, 0.05))
    here = replace(SITE, results=(*SITE.results, elsewhere, result))
    home = replace(INTERNAL, results=(*INTERNAL.results, replace(result, found=_estimate(0.4, 0.05))))
    strong = estimated(robustness.spr(here, home, "weighted_utility", 0.5, judged_by=CHOSEN))
    assert strong.details["p_performance"] == pytest.approx(math.erfc(0.1 / math.hypot(0.05, 0.05) / math.sqrt(2)))
    minimum = {"weighted_utility": 0.3}
    weak = estimated(robustness.wpr(here, home, "weighted_utility", "declared", minimum, 0.5, judged_by=CHOSEN))
    assert weak.details["p_acceptable"] == pytest.approx(norm.cdf(0.2 / 0.05))
    assert robustness.wpr(here, home, "weighted_utility", "worst_split", {}, 0.5, judged_by=CHOSEN) == Said(
        "no internal split allows weighted_utility"
    )
    assert robustness.spr(here, home, "weighted_utility", judged_by={**CHOSEN, "weighted_utility": {}}) == Said(
        "no threshold is declared"
    )


@pytest.mark.parametrize(("high", "unsure"), [(0.41, 1), (0.4, 1), (0.399, 0), (None, 0)])
def test_support_that_rests_on_a_similarity_near_the_cut_is_counted(high: float | None, unsure: int) -> None:
    near = replace(_estimate(0.39), high=high)
    measures = {"correspondence_averaged": near, "auroc": _exact(0.9), "brier": _exact(0.1)}
    site = _site("x", measures, net_benefit=_exact(0.9))
    alike = _site("y", measures | {"correspondence_averaged": replace(near, value=0.5)}, net_benefit=_exact(0.9))
    poor = _site("z", measures | {"auroc": _exact(0.6)}, net_benefit=_exact(0.9))
    found = estimated(robustness.externally_supported((site, alike, poor), 0.5, similarity="averaged"))
    assert (found.value, found.details["reaching_the_cut"]) == (1, unsure)


@pytest.mark.parametrize(
    ("measure", "low", "high"), [("auroc", 0.69, 0.99), ("brier", 0.01, 0.26), ("auroc", None, None)]
)
def test_what_is_not_shown_supports_nothing(measure: str, low: float | None, high: float | None) -> None:
    """An interval that goes beyond the cut-off, or none, though the value is good."""
    measures = {"correspondence_averaged": _exact(0.3), "auroc": _exact(0.9), "brier": _exact(0.1)}
    measures[measure] = replace(measures[measure], low=low, high=high)
    found = estimated(robustness.externally_supported((_site("x", measures, net_benefit=_exact(0.9)),), 0.5))
    assert (found.value, found.details["k"]) == (0, 1)


def test_support_by_either_form_of_similarity_stands_beside_the_other() -> None:
    sites = (_external(0.5, 0.9, 0.9, 0.1, psi=0.01), STRANGER)
    for form, count in (("psi", 1), ("averaged", 0)):
        found = estimated(robustness.externally_supported(sites, 0.5, similarity=form))
        assert (found.value, found.details["by_psi"], found.details["by_averaged"], found.details["k"]) == (
            count,
            1,
            0,
            1,
        )
        assert (found.n, method_text(found.method)) == (300, "count of 1 judged of 2 external sites")
    assert robustness.externally_supported(sites, 0.5) == robustness.externally_supported(
        sites, 0.5, similarity="averaged"
    )
    at_the_cut = estimated(robustness.externally_supported((_external(0.4, 0.9, 0.9, 0.1, psi=0.4),), 0.5))
    assert (at_the_cut.value, at_the_cut.details["by_averaged"]) == (0, 0)


def test_support_cannot_be_judged_without_its_parts() -> None:
    assert robustness.externally_supported((), 0.5) == Said("the release has no external site")
    assert robustness.externally_supported((STRANGER,), 0.5) == Said(
        "no external site has both a similarity and all three measures"
    )
    assert isinstance(robustness.externally_supported((SITE,)), Absent)
    partial = _site("turin", {"correspondence_averaged": _estimate(0.3), "auroc": _estimate(0.9)})
    assert isinstance(robustness.externally_supported((partial,), 0.5), Absent)


def test_a_correlation_needs_three_sites() -> None:
    with_both = _external(0.3, 0.9, 0.9, 0.1)
    for sites, count in (((), "no external site has"), ((with_both,), "one external site has")):
        assert robustness.performance_against_similarity((*sites, STRANGER), "auroc", 0.5) == Said(
            f"{count} both a similarity and the measure, and a correlation needs three"
        )


def test_acceptable_is_at_the_cut_or_better() -> None:
    assert is_acceptable("auroc", 0.7)
    assert not is_acceptable("auroc", 0.6999)
    assert is_acceptable("brier", 0.25)
    assert not is_acceptable("brier", 0.2501)


@pytest.mark.parametrize(("r", "p"), [(0.74, 0.036), (0.39, 0.340), (0.66, 0.075)])
def test_p_values_of_the_paper(r: float, p: float) -> None:
    assert robustness.correlation_p_value(r, 8) == pytest.approx(p, abs=0.0006)


@pytest.mark.parametrize("r", [1.0, -1.0])
def test_a_perfect_correlation_has_a_p_value_of_0(r: float) -> None:
    assert robustness.correlation_p_value(r, 5) == 0


def test_correlation_over_sites() -> None:
    sites = tuple(_external(x, y, 0.5, 0.1) for x, y in ((0.1, 0.7), (0.3, 0.9), (0.5, 0.75), (0.6, 0.95), (0.9, 0.8)))
    found = estimated(
        robustness.performance_against_similarity((*sites, STRANGER), "auroc", 0.5, similarity="averaged")
    )
    expected = float(np.corrcoef([0.1, 0.3, 0.5, 0.6, 0.9], [0.7, 0.9, 0.75, 0.95, 0.8])[0, 1])
    assert found.value == pytest.approx(expected)
    slope, intercept = np.polyfit([0.1, 0.3, 0.5, 0.6, 0.9], [0.7, 0.9, 0.75, 0.95, 0.8], 1)
    assert found.details["slope"] == pytest.approx(slope)
    assert found.details["intercept"] == pytest.approx(intercept)
    assert (found.n, found.details["k"]) == (5 * 300, 5)
    reach = 1.959964 / math.sqrt(5 - 3)
    bounds = [math.tanh(math.atanh(expected) + side * reach) for side in (-1, 1)]
    assert [found.low, found.high] == pytest.approx(bounds, abs=1e-6)


def test_correlation_needs_three_sites_that_differ() -> None:
    site = _external(0.1, 0.7, 0.5, 0.1)
    assert robustness.performance_against_similarity((), "auroc") == Said(
        "no external site has both a similarity and the measure, and a correlation needs three"
    )
    assert isinstance(robustness.performance_against_similarity((site, site), "auroc"), Absent)
    assert robustness.performance_against_similarity((site, site, site), "auroc") == Said(
        "similarity or performance is the same at every site"
    )
    line = tuple(_external(x, x, 0.5, 0.1) for x in (0.1, 0.2, 0.3))
    found = estimated(robustness.performance_against_similarity(line, "auroc", similarity="averaged"))
    assert found.value == pytest.approx(1.0)
    assert (found.low, found.reason) == (None, Said("an interval needs four sites"))
    assert robustness.pearson([1.0], [2.0]) is None


def test_two_pairs_lie_on_a_line_and_values_too_near_to_tell_apart_on_none() -> None:
    assert robustness.pearson([1.0, 2.0, 3.0], [2.0, 5.0, 8.0]) == pytest.approx(1)
    assert robustness.pearson([1.0, 2.0, 3.0], [8.0, 5.0, 2.0]) == pytest.approx(-1)
    assert robustness.pearson([1.0, 2.0], [2.0, 5.0]) is None, "two points lie on a line whatever they are"
    assert robustness.pearson([0.0, 1e-200, 0.0], [0.0, 1.0, 0.5]) is None
    assert robustness.pearson([], []) is None
