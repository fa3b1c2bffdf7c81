"""The pooling of imputations, each number worked by hand from Rubin's rules."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from dossier.core.facts import Fact, Method
from dossier.core.types import Curve, Estimate, Floats
from dossier.metrics.discrimination import risk_distribution, roc, roc_vertices
from dossier.metrics.imputations import degrees_of_freedom, mean_curve, mean_distribution, mean_roc, rubin
from dossier.metrics.intervals import Scale
from dossier.metrics.utility import decision_curve, net_benefit
from dossier.typeset.methods import method_text
from tests.estimated import curved, interval_of
from tests.reasons import Said

"""The level at which a band reaches two standard errors to either side."""
NORMAL = Method("delta_method")
NO_ERROR = "not every imputation has a standard error, which Rubin's rules need"


def _found(value: float, se: float | None, n: int = 100, events: int | None = 40, method: Method = NORMAL) -> Estimate:
    return Estimate(value, None, None, 0.95, n, method, events, se)


def _wilson(value: float, low: float | None, high: float | None, level: float | None = 0.95) -> Estimate:
    return Estimate(value, low, high, level, 100, Method("wilson"), 40)


# ---- one estimate ---------------------------------------------------------------------------------------------------


def test_the_fraction_missing_is_that_of_rubin() -> None:
    found = rubin([_found(0.2, 0.3), _found(0.5, 0.4), _found(0.5, 0.2)], "plain", 0.95)
    within, between = (0.09 + 0.16 + 0.04) / 3, 4 / 3 * 0.03
    ratio = between / within
    freedom = 2 * (1 + 1 / ratio) ** 2
    assert found.details["fraction_missing"] == pytest.approx((ratio + 2 / (freedom + 3)) / (ratio + 1))


def test_sums_of_shares_are_pooled_share_by_share() -> None:
    """Three imputations of 100 rows: the interval of a net benefit is that of shares with Rubin's total covariance."""
    counts = [(20, 10), (24, 9), (22, 14)]
    each = [net_benefit(*_flagged(tp, fp), 0.2) for tp, fp in counts]
    found = rubin([estimate for estimate in each if isinstance(estimate, Estimate)], "plain", 0.95)
    shares = np.array(counts) / 100
    within = np.mean([np.diag(share) / 100 - np.outer(share, share) / 100 for share in shares], axis=0)
    total = within + 4 / 3 * np.cov(shares.T)
    x, y = shares.mean(axis=0)
    weights = np.array([1, -0.25])
    inside, whole = (float(weights @ item @ weights) for item in (within, total))
    reach = float(student.ppf(0.975, 2 / (1 - inside / whole) ** 2))
    ends = []
    for share, variance in ((x, total[0, 0]), (y, total[1, 1])):
        rows = share * (1 - share) / variance
        middle, half = (
            share + reach**2 / (2 * rows),
            reach * math.sqrt(share * (1 - share) / rows + (reach / rows) ** 2 / 4),
        )
        ends.append([(middle + sign * half) / (1 + reach**2 / rows) for sign in (-1, 1)])
    r = total[0, 1] / math.sqrt(total[0, 0] * total[1, 1])
    value = x - y / 4
    d, e = x - ends[0][0], (ends[1][1] - y) / 4
    assert (found.value, found.low) == pytest.approx((value, value - math.sqrt(d * d + e * e - 2 * r * d * e)))
    d, e = ends[0][1] - x, (y - ends[1][0]) / 4
    assert found.high == pytest.approx(value + math.sqrt(d * d + e * e - 2 * r * d * e))
    ratio = (whole - inside) / inside
    freedom = 2 / (1 - inside / whole) ** 2
    assert found.details["fraction_missing"] == pytest.approx((ratio + 2 / (freedom + 3)) / (ratio + 1))
    assert (found.n, method_text(found.method)) == (100, "MOVER of Wilson intervals; 3 imputations by Rubin's rules")


def _flagged(tp: int, fp: int) -> tuple[Floats, Floats]:
    """A hundred rows, forty of them cases, with so many true and false positives at .2."""
    return np.repeat([1.0, 0.0], (40, 60)), np.repeat([0.5, 0.1, 0.5, 0.1], (tp, 40 - tp, fp, 60 - fp))


def test_no_event_in_any_imputation_has_the_widest_of_the_bounds() -> None:
    none = [Estimate(0.0, 0.0, high, 0.95, 100, Method("exact_without_event"), 0) for high in (0.3, 0.5, 0.4)]
    found = rubin(none, "log", 0.95)
    assert (found.value, found.low, found.high, found.level, found.reason) == (0, 0, 0.5, 0.95, None)
    some = rubin([*none[:2], _found(0.2, 0.1)], "log", 0.95)
    assert (some.low, some.high, some.reason) == (None, None, Said("a value of 0 has no logarithm"))


def test_imputations_that_agree_miss_nothing() -> None:
    found = rubin([_found(0.3, 0.1)] * 3, "plain", 0.95)
    assert found.details["fraction_missing"] == 0
    assert (found.value, found.se) == pytest.approx((0.3, 0.1))
    assert found.high == pytest.approx(0.3 + norm.ppf(0.975) * 0.1)


@pytest.mark.parametrize(
    ("scale", "pairs", "value", "slope"),
    [
        # The logarithms 0 and log 4 have the mean log 2, where a step of the logarithm is worth 2.
        ("log", [(1, 0.1), (4, 0.4)], 2.0, 2.0),
        # The logits 0 and log 9 have the mean log 3, the logit of 3/4, where a step is worth 3/4 times 1/4.
        ("logit", [(0.5, 0.025), (0.9, 0.009)], 0.75, 0.1875),
    ],
)
def test_a_scale_is_gone_to_and_come_back_from(
    scale: Scale, pairs: list[tuple[float, float]], value: float, slope: float
) -> None:
    found = rubin([_found(*pair) for pair in pairs], scale, 0.9)
    apart = math.log({"log": 4, "logit": 9}[scale])
    # Each standard error is .1 on the scale, and two values have the variance of half their squared distance.
    within, between = 0.01, 1.5 * apart**2 / 2
    spread = math.sqrt(within + between)
    reach = student.ppf(0.95, (1 + within / between) ** 2) * spread
    centre = apart / 2
    ends = [math.exp(centre - reach), math.exp(centre + reach)]
    if scale == "logit":
        ends = [end / (1 + end) for end in ends]
    assert found.value == pytest.approx(value)
    assert found.se == pytest.approx(spread * slope)
    assert [found.low, found.high] == pytest.approx(ends)
    assert method_text(found.method) == f"normal, delta method; 2 imputations by Rubin's rules, {scale} scale"


def test_a_ratio_below_one_is_pooled_too() -> None:
    found = rubin([_found(0.5, 0.05), _found(0.5, 0.05)], "log", 0.95)
    assert found.high == pytest.approx(0.5 * math.exp(norm.ppf(0.975) * 0.1))


def test_a_ratio_of_two_imputations_that_differ_has_ends_that_are_numbers() -> None:
    """With one degree of freedom the upper bound is beyond the largest number that a computer holds."""
    low, high = interval_of(rubin([_found(0.5, 0.05), _found(2.2, 0.2)], "log", 0.999))
    assert 0 <= low < 1e-290
    assert 1e290 < high < math.inf


def test_rows_and_events_are_those_of_the_mean_imputation() -> None:
    sizes, events = (100, 104, 109), (40, 42, 47)
    found = rubin([_found(0.3, 0.1, n, k) for n, k in zip(sizes, events, strict=True)], "plain", 0.95)
    assert (found.n, found.events) == (104, 43)
    assert rubin([_found(0.3, 0.1, events=0)] * 2, "plain", 0.95).events == 0
    assert rubin([_found(0.3, 0.1), _found(0.3, 0.1, events=None)], "plain", 0.95).events is None


def test_the_test_of_a_pooled_value_is_that_of_student_with_the_freedom_of_rubin() -> None:
    within, between = (0.09 + 0.16 + 0.04) / 3, 4 / 3 * 0.03
    freedom = 2 * (1 + within / between) ** 2
    for sign in (1, -1):
        pooled = [_found(sign * 0.2, 0.3), _found(sign * 0.5, 0.4), _found(sign * 0.5, 0.2)]
        found = rubin(pooled, "plain", 0.95, test=True)
        assert found.details["p_value"] == pytest.approx(2 * student.sf(0.4 / math.sqrt(within + between), freedom))


def test_details_are_the_means_of_those_that_every_imputation_has() -> None:
    first = Estimate(
        0.3, None, None, 0.95, 100, Method("wald"), 40, 0.1, {"share": 0.2, "p_value": 0.5, "gap": 1, "left": 1}
    )
    second = Estimate(0.5, None, None, 0.95, 100, Method("wald"), 40, 0.1, {"share": 0.6, "p_value": 0.5, "gap": None})
    found = rubin([first, second], "plain", 0.95)
    assert set(found.details) == {"share", "imputations", "fraction_missing"}
    assert found.details["share"] == pytest.approx(0.4)
    assert found.details["imputations"] == 2
    assert method_text(found.method) == "Wald; 2 imputations by Rubin's rules"


def test_the_tests_of_single_imputations_are_no_word_about_the_pooled_value() -> None:
    tested = Method(Fact("paired_t", df=99), Fact("p_by_sign_flips", flips=999))
    pooled = rubin([_found(0.3, 0.1, method=tested)] * 2, "plain", 0.95, test=True).method
    assert method_text(pooled) == "paired t; 2 imputations and their test by Rubin's rules"
    drawn = Method("bootstrap_over_both_tables", Fact("p_by_permutations", permutations=999))
    without = rubin([_found(0.3, None, method=drawn)] * 2, "plain", 0.95).method
    assert method_text(without) == "bootstrap over the rows of both tables; mean of 2 imputations"


def test_bounds_without_a_standard_error_go_apart_as_errors_would() -> None:
    """Three intervals of unlike sides; W from their widths, B by hand, Rubin's degrees of freedom."""
    drawn = Method(Fact("inverted_tests", draws=200))
    each = [
        Estimate(value, low, high, 0.95, 100, drawn, 40)
        for value, low, high in ((0.10, 0.04, 0.20), (0.13, 0.06, 0.24), (0.16, 0.10, 0.25))
    ]
    found = rubin(each, "plain", 0.95)
    normal = 1.959963984540054
    within = sum((width / (2 * normal)) ** 2 for width in (0.16, 0.18, 0.15)) / 3
    between = (0.03**2 + 0.03**2) / 2 * (4 / 3)
    freedom = 2 * (1 + within / between) ** 2
    wider = math.sqrt(1 + between / within) * float(student.ppf(0.975, freedom)) / normal
    assert found.value == pytest.approx(0.13)
    assert (found.low, found.high) == pytest.approx((0.13 - wider * 0.19 / 3, 0.13 + wider * 0.30 / 3))
    same = rubin([each[0]] * 2, "plain", 0.95)
    assert (same.low, same.high) == pytest.approx((0.04, 0.20))
    said = "2 imputations: mean bounds, as much wider as Rubin's rules make a standard error"
    assert method_text(same.method).endswith(said)


# ---- standard errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "estimate", "reason"),
    [
        ("plain", _found(0.4, None), NO_ERROR),
        ("plain", _found(0.4, 0.0), NO_ERROR),
        ("logit", _found(0.0, 0.1), "a value of exactly 0 has no logit"),
        ("logit", _found(1.0, 0.1), "a value of exactly 1 has no logit"),
        ("logit", _found(1.0, None), "a value of exactly 1 has no logit"),
        ("log", _found(0.0, 0.1), "a value of 0 has no logarithm"),
        ("log", _found(-1.0, 0.1), "a value of \N{MINUS SIGN}1 has no logarithm"),
        ("logit", _wilson(0.4, None, 0.6), NO_ERROR),
        ("logit", _wilson(0.4, 0.2, None), NO_ERROR),
        ("logit", _wilson(0.4, 0.2, 0.6, None), NO_ERROR),
        ("logit", _wilson(0.4, 0.0, 0.6), NO_ERROR),
        ("logit", _wilson(0.4, 0.2, 1.0), NO_ERROR),
    ],
)
def test_what_the_rules_cannot_pool_is_the_mean_with_the_reason(scale: Scale, estimate: Estimate, reason: str) -> None:
    found = rubin([_found(0.2, 0.1), estimate, _found(0.6, 0.1)], scale, 0.95)
    assert found.value == pytest.approx((0.8 + estimate.value) / 3)
    assert (found.low, found.high, found.level, found.se) == (None, None, None, None)
    assert (found.n, found.events, found.reason) == (100, 40, Said(reason))
    assert method_text(found.method) == "normal, delta method; mean of 3 imputations"
    assert found.details == {"imputations": 3}


@pytest.mark.parametrize(
    ("scale", "low", "high", "width"),
    [
        ("plain", 0.0, 0.6, 0.6),
        ("plain", 0.2, 0.6, 0.4),
        ("log", 0.2, 0.6, math.log(3)),
        # The logits of .2 and .8 are -log 4 and log 4.
        ("logit", 0.2, 0.8, 2 * math.log(4)),
    ],
)
def test_a_share_without_a_standard_error_takes_that_of_its_interval(
    scale: Scale, low: float, high: float, width: float
) -> None:
    """Imputations that agree have the interval of one; on the scale it is as wide as that of Wilson."""
    found = rubin([_wilson(0.5, low, high, 0.9)] * 2, scale, 0.9)
    slope = {"plain": 1.0, "log": 0.5, "logit": 0.25}[scale]
    assert found.se == pytest.approx(width / 2 / norm.ppf(0.95) * slope)


# ---- degrees of freedom ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("complete", [None, 9.0])
def test_degrees_of_freedom_do_not_hang_on_the_unit(complete: float | None) -> None:
    found = degrees_of_freedom(1.0, 0.01, 5, complete)
    assert degrees_of_freedom(1e-20, 1e-22, 5, complete) == pytest.approx(found, rel=1e-9)
    assert degrees_of_freedom(1e20, 1e18, 5, complete) == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("between", [0.0, 1e-24])
def test_what_only_rounding_sets_apart_keeps_the_degrees_of_freedom_of_the_data(between: float) -> None:
    assert degrees_of_freedom(1.0, between, 5, None) == math.inf
    assert degrees_of_freedom(1.0, between, 5, 9.0) == 9


# ---- curves ---------------------------------------------------------------------------------------------------------


def test_a_band_widens_by_the_variance_between_the_imputations() -> None:
    """At the first threshold they differ, at the second they agree, at the third the band has no width."""
    first = {"net_benefit": (0.1, 0.2, 0.3), "low": (-0.15, 0.1, 0.3), "high": (0.25, 0.3, 0.3), "se": (0.1, 0.05, 0.0)}
    other = {"net_benefit": (0.3, 0.2, 0.3), "low": (-0.2, 0.1, 0.3), "high": (0.6, 0.3, 0.3), "se": (0.2, 0.05, 0.0)}
    threshold = (0.1, 0.2, 0.3)
    curves = [Curve({"threshold": threshold, **columns}, 50, Method("delta_method"), 20) for columns in (first, other)]
    found = curved(mean_curve(curves, "threshold", 2.0, {}))
    # A band reaches two standard errors to either side: .1 and .2. B is .02, and counts one and a half times.
    wider = math.sqrt(1 + 1.5 * 0.02 / ((0.01 + 0.04) / 2))
    assert found.columns["threshold"] == threshold
    assert found.columns["net_benefit"] == pytest.approx((0.2, 0.2, 0.3))
    assert found.columns["low"] == pytest.approx((0.2 - 0.375 * wider, 0.1, 0.3))
    assert found.columns["high"] == pytest.approx((0.2 + 0.225 * wider, 0.3, 0.3))
    assert found.columns["se"] == pytest.approx((0.15 * wider, 0.05, 0))
    assert (found.n, found.events, method_text(found.method)) == (50, 20, "normal, delta method; mean of 2 imputations")


def _shares(line: float, low: float, high: float) -> Curve:
    return Curve({"risk": (0.5,), "observed": (line,), "low": (low,), "high": (high,)}, 50, Method("wald"))


@pytest.mark.parametrize(
    ("pairs", "ends"),
    [
        # Both bands have the standard error .1; with B = .18 they become sqrt(1 + 27) times as wide.
        ([(0.2, 0.0, 0.4), (0.8, 0.6, 1.0)], (0.0, 1.0)),
        ([(0.2, -0.001, 0.399), (0.8, 0.6, 1.0)], (0.5 - 0.2005 * math.sqrt(28), 0.5 + 0.1995 * math.sqrt(28))),
        ([(0.2, 0.0, 0.4), (0.8, 0.601, 1.001)], (0.5 - 0.1995 * math.sqrt(28), 0.5 + 0.2005 * math.sqrt(28))),
    ],
)
def test_only_a_band_of_shares_stays_between_0_and_1(
    pairs: list[tuple[float, float, float]], ends: tuple[float, float]
) -> None:
    found = curved(mean_curve([_shares(*pair) for pair in pairs], "risk", 2.0, {}))
    assert (found.columns["low"][0], found.columns["high"][0]) == pytest.approx(ends)


@pytest.mark.parametrize(("shares", "low"), [(False, 0.5 - 0.2 * math.sqrt(28)), (True, 0.0)])
def test_what_is_said_of_a_band_goes_before_where_it_lies(shares: bool, low: float) -> None:
    """A net benefit between 0 and 1 in every imputation may be below 0 all the same, and is never above 1."""
    found = curved(mean_curve([_shares(0.2, 0.0, 0.4), _shares(0.8, 0.6, 1.0)], "risk", 2.0, {"": shares}))
    assert found.columns["low"][0] == pytest.approx(low)
    assert found.columns["high"][0] == 1


@pytest.mark.parametrize("reach", [1.28, 1.96, 4.3])
def test_a_band_has_the_width_of_its_level(reach: float) -> None:
    """Imputations at 0 and .2 with a standard error of .01: W is .0001 and B .02, which counts one and a half times."""
    half = reach * 0.01
    curves = [
        Curve(
            {"threshold": (0.1,), "net_benefit": (at,), "low": (at - half,), "high": (at + half,)}, 50, Method("wald")
        )
        for at in (0.0, 0.2)
    ]
    found = curved(mean_curve(curves, "threshold", reach, {"": False}))
    assert found.columns["high"][0] == pytest.approx(0.1 + reach * math.sqrt(0.0001 + 1.5 * 0.02))


def test_each_line_of_a_curve_ends_where_it_must() -> None:
    """Beside net benefits a curve may hold shares: each band goes by its own name."""
    lines = {"net_benefit": (0.2, 0.8), "h_accuracy_risk": (0.2, 0.8)}
    curves = [
        Curve(
            {f"{name}{end}": (at[number] + way,) for name, at in lines.items() for end, way in ENDS.items()},
            50,
            Method("wald"),
        )
        for number in (0, 1)
    ]
    found = curved(mean_curve(curves, "", 2.0, {"net_benefit_": False, "h_accuracy_risk_": True}))
    assert found.columns["net_benefit_low"][0] == pytest.approx(0.5 - 0.2 * math.sqrt(28))
    assert [found.columns[name][0] for name in ("net_benefit_high", "h_accuracy_risk_high")] == [1, 1]
    assert found.columns["h_accuracy_risk_low"][0] == 0


ENDS = {"": 0.0, "_low": -0.2, "_high": 0.2}


def test_the_mean_runs_over_the_range_that_all_imputations_share() -> None:
    """Lines of slope 1, 2 and 3: the mean is that of slope 2 between .1, where the second begins, and .6, its end."""
    reached = {1: (0.0, 0.25, 0.5, 0.75, 1.0), 2: (0.1, 0.6), 3: (0.05, 0.9)}
    curves = [
        Curve({"risk": risks, "observed": tuple(slope * risk for risk in risks)}, 60, Method("wald"), 30)
        for slope, risks in reached.items()
    ]
    found = curved(mean_curve(curves, "risk", 1.96, {}))
    assert found.columns["risk"] == (0.1, 0.25, 0.5, 0.6)
    assert found.columns["observed"] == pytest.approx((0.2, 0.5, 1.0, 1.2))


def test_treating_everybody_is_worth_the_same_on_every_range() -> None:
    """Its net benefit phi - (1 - phi) t / (1 - t) hangs on no risk, and the risks of one imputation end before."""
    outcome = np.repeat([0.0, 1.0], [70, 30])
    risk = np.random.default_rng(3).uniform(0.02, 0.8, 100)
    curves = [curve for share in (1.0, 0.7) if isinstance(curve := decision_curve(outcome, risk * share), Curve)]
    found = curved(mean_curve(curves, "threshold", 1.96, {"": False}))
    assert found.columns["threshold"][-1] == curves[1].columns["threshold"][-1]
    odds = [float(at or 0) / (1 - float(at or 0)) for at in found.columns["threshold"]]
    assert found.columns["treat_all"] == pytest.approx([0.3 - 0.7 * odd for odd in odds], abs=1e-3)


def test_imputations_that_meet_at_one_point_have_a_mean_there_and_apart_they_have_none() -> None:
    def between(low: float, high: float) -> Curve:
        return Curve({"risk": (low, high), "observed": (low, high)}, 60, Method("wald"), 30)

    met = curved(mean_curve([between(0.1, 0.3), between(0.3, 0.5)], "risk", 1.96, {}))
    assert met.columns == {"risk": (0.3,), "observed": (0.3,)}
    apart = mean_curve([between(0.1, 0.3), between(0.4, 0.5)], "risk", 1.96, {})
    assert apart == Said("the curves of the imputations share no range")


def test_a_curve_is_read_at_the_points_of_the_first() -> None:
    """The second has its points elsewhere, and stands on straight lines between them."""
    first = Curve({"risk": (0.25, 0.5), "cases": (0.5, 1.0)}, 60, Method("wald"), 30)
    second = Curve({"risk": (0.0, 1.0), "cases": (0.0, 1.0)}, 70, Method("wald"), 35)
    found = curved(mean_curve([first, second], "risk", 1.96, {}))
    assert found.columns["risk"] == (0.25, 0.5)
    assert found.columns["cases"] == pytest.approx(((0.5 + 0.25) / 2, (1.0 + 0.5) / 2))
    assert (found.n, found.events, method_text(found.method)) == (60, 30, "Wald; mean of 2 imputations")


def test_a_band_with_a_name_belongs_to_the_line_of_that_name() -> None:
    names = ("threshold", "net_benefit", "rival", "rival_low", "rival_high")
    rows = ((0.1, 0.0, 0.1, -0.1, 0.3), (0.1, 0.5, 0.3, 0.1, 0.5))
    curves = [Curve({name: (cell,) for name, cell in zip(names, row, strict=True)}, 50, Method("wald")) for row in rows]
    found = curved(mean_curve(curves, "threshold", 2.0, {}))
    wider = math.sqrt(1 + 1.5 * 0.02 / 0.01)
    assert found.columns["rival_low"] == pytest.approx((0.2 - 0.2 * wider,))
    assert found.columns["rival_high"] == pytest.approx((0.2 + 0.2 * wider,))


@pytest.mark.parametrize(
    "names",
    [("measured", "low", "high"), ("net_benefit", "bound_low", "bound_high"), ("observed", "observed_low", "upper")],
    ids=["bounds of no line", "bounds with a name of no line", "a single bound"],
)
def test_what_is_no_band_about_a_line_is_the_mean(names: tuple[str, ...]) -> None:
    rows = ((0.1, 0.2, 0.3), (0.3, 0.3, 0.5))
    curves = [Curve({name: (cell,) for name, cell in zip(names, row, strict=True)}, 50, Method("wald")) for row in rows]
    found = curved(mean_curve(curves, "", 1.96, {}))
    assert [found.columns[name][0] for name in names] == pytest.approx([0.2, 0.25, 0.4])


def test_bins_have_a_mean_only_where_they_are_the_same() -> None:
    def counted(end: float, share: float) -> Curve:
        return Curve({"low": (0.0, end), "high": (end, 1.0), "share": (share, 1 - share)}, 50, Method("counts"))

    found = curved(mean_curve([counted(0.2, 0.5), counted(0.2, 0.75)], "", 1.96, {}))
    assert found.columns == {"low": (0.0, 0.2), "high": (0.2, 1.0), "share": (0.625, 0.375)}
    apart = mean_curve([counted(0.2, 0.5), counted(0.5, 0.75)], "", 1.96, {})
    assert apart == Said("the imputations are counted in different bins, of which no mean is taken")


@pytest.mark.parametrize(
    "columns",
    [{"risk": (0.1, 0.2)}, {"risk": (0.1, 0.2), "observed": (0.1, None)}, {"risk": (0.1,), "observed": (0.1,)}],
    ids=["no such column", "a point is missing", "fewer points"],
)
def test_curves_with_different_points_have_no_mean(columns: dict[str, tuple[float | None, ...]]) -> None:
    whole = Curve({"risk": (0.1, 0.2), "observed": (0.1, 0.3)}, 50, Method("wald"))
    found = mean_curve([whole, Curve(columns, 50, Method("wald"))], "", 1.96, {})
    assert found == Said("the imputations give curves with different points, of which no mean is taken")


# ---- the distribution of the risks ----------------------------------------------------------------------------------


def test_the_risks_of_all_imputations_are_counted_in_the_same_bins() -> None:
    """The risks of one imputation end below .25 and those of the other do not, so that each alone has its own bins."""
    rng = np.random.default_rng(0)
    outcome, risk = (rng.random(400) < 0.1).astype(float), rng.uniform(0, 0.2, 400)
    other = np.concatenate((np.full(6, 0.26), risk[6:]))
    ends = [
        curve.columns["high"][0]
        for risks in (risk, other)
        if isinstance(curve := risk_distribution(outcome, risks), Curve)
    ]
    assert ends == [0.0125, 0.025]
    # The outcome of the first row is imputed too.
    turned = np.append(1 - outcome[0], outcome[1:])
    found = curved(mean_distribution([(outcome, risk, None), (turned, other, None)]))
    edges = np.array([*found.columns["low"], 1.0], dtype=float)
    assert edges == pytest.approx([*np.linspace(0, 0.2, 17), 1.0])
    assert found.columns["high"] == tuple(edges[1:])
    for name, label in (("events", 1), ("non_events", 0)):
        both = np.concatenate((risk[outcome == label], other[turned == label]))
        counts = np.histogram(both, edges)[0]
        assert found.columns[name] == pytest.approx(counts / 2)
        assert found.columns[f"share_{name}"] == pytest.approx(counts / len(both))
    assert (found.n, found.events, method_text(found.method)) == (
        400,
        int(outcome.sum()),
        "counts; mean of 2 imputations",
    )


def test_the_weights_of_all_imputations_make_the_shares() -> None:
    outcome, risk = np.array([1.0, 1.0, 0.0]), np.array([0.15, 0.95, 0.35])
    weights = np.array([3.0, 1.0, 2.0])
    found = curved(mean_distribution([(outcome, risk, weights), (outcome, risk[::-1], None)]))
    # The cases of the first weigh 3 at .15 and 1 at .95, those of the second 1 each at .35 and .95.
    for name, expected in (("share_events", (3 / 6, 1 / 6, 2 / 6)), ("events", (0.5, 0.5, 1))):
        held = {index: value for index, value in enumerate(found.columns[name]) if value}
        assert held == pytest.approx(dict(zip((3, 7, 19), expected, strict=True)))
    assert method_text(found.method) == "counts of rows, shares of their sampling weights; mean of 2 imputations"


def test_no_rows_have_no_distribution() -> None:
    assert mean_distribution([(np.array([]), np.array([]), None)] * 2) == Said("there are no rows")


# ---- the ROC curve --------------------------------------------------------------------------------------------------


def _roc(*points: tuple[float, float]) -> Curve:
    fpr, tpr = zip(*points, strict=True)
    return Curve({"fpr": fpr, "tpr": tpr}, 50, Method("empirical"), 20)


def _area(curve: Curve) -> float:
    return float(np.trapezoid(np.array(curve.columns["tpr"]), np.array(curve.columns["fpr"])))


STAIRS = _roc((0, 0), (0, 0.25), (0, 0.5), (0.5, 0.5), (0.5, 1), (1, 1))


@pytest.mark.parametrize(
    ("other", "points"),
    [
        (_roc((0, 0), (0, 1), (1, 1)), [(0, 0), (0, 0.75), (0.5, 0.75), (0.5, 1), (1, 1)]),
        (_roc((0, 0), (1, 0), (1, 1)), [(0, 0), (0, 0.25), (0.5, 0.25), (0.5, 0.5), (1, 0.5), (1, 1)]),
        (_roc((0, 0), (1, 1)), [(0, 0), (0, 0.25), (0.5, 0.5), (0.5, 0.75), (1, 1)]),
        # A corner at .25 lies on the level step of the first, and a slope begins there.
        (_roc((0, 0), (0.25, 0.5), (1, 1)), [(0, 0), (0, 0.25), (0.25, 0.5), (0.5, 7 / 12), (0.5, 10 / 12), (1, 1)]),
        (STAIRS, [(0, 0), (0, 0.5), (0.5, 0.5), (0.5, 1), (1, 1)]),
    ],
    ids=["perfect", "worthless", "slanted", "bent", "the same"],
)
def test_steps_of_the_roc_curve_stay_steps(other: Curve, points: list[tuple[float, float]]) -> None:
    for both in ([STAIRS, other], [other, STAIRS]):
        found = mean_roc(both)
        assert found.columns["fpr"] == pytest.approx([fpr for fpr, _ in points])
        assert found.columns["tpr"] == pytest.approx([tpr for _, tpr in points])
        assert _area(found) == pytest.approx((_area(STAIRS) + _area(other)) / 2)
        assert (found.n, found.events, method_text(found.method)) == (50, 20, "empirical; mean of 2 imputations")


@pytest.mark.parametrize(("seed", "digits"), [(0, 1), (1, 2), (2, 8)])
def test_the_area_below_the_mean_roc_curve_is_the_mean_auroc(seed: int, digits: int) -> None:
    """The AUROC by counting pairs, ties by half."""
    rng = np.random.default_rng(seed)
    outcome = np.repeat([0.0, 1.0], [25, 15])
    risks: list[Floats] = [np.round(rng.random(40) * 0.7 + outcome * 0.3, digits) for _ in range(3)]
    found = mean_roc([curve for risk in risks if isinstance(curve := roc(outcome, risk), Curve)])
    pairs = [(a > b) + (a == b) / 2 for risk in risks for a, b in itertools.product(risk[25:], risk[:25])]
    assert _area(found) == pytest.approx(np.mean(pairs))
    points = list(zip(found.columns["fpr"], found.columns["tpr"], strict=True))
    assert (points[0], points[-1]) == ((0, 0), (1, 1))
    assert points == sorted(points)


def test_a_long_mean_roc_curve_is_thinned_and_keeps_its_area() -> None:
    rng = np.random.default_rng(0)
    outcome = np.repeat([0.0, 1.0], [700, 300])
    whole = [np.column_stack(roc_vertices(outcome, rng.random(1000) + outcome * 0.3)).tolist() for _ in range(5)]
    curves = [_roc(*(tuple(point) for point in points)) for points in whole]
    found = mean_roc(curves)
    assert len(found.columns["fpr"]) == len(found.columns["tpr"]) == 250
    assert _area(found) == pytest.approx(np.mean([_area(curve) for curve in curves]), abs=1e-3)
    along = [float(x or 0) + float(y or 0) for x, y in zip(found.columns["fpr"], found.columns["tpr"], strict=True)]
    assert along == pytest.approx([2 * k / 249 for k in range(250)])


def test_rows_and_events_of_a_mean_roc_curve_are_those_of_the_first() -> None:
    found = mean_roc([STAIRS, Curve(STAIRS.columns, 60, Method("wald"), 30)])
    assert (found.n, found.events, method_text(found.method)) == (50, 20, "empirical; mean of 2 imputations")


def test_a_mean_roc_curve_of_250_points_stays_as_it_is() -> None:
    """Of 124 steps there are 249 corners, and one point more lies on the first level step."""
    corners = [(k / 124, (k + up) / 124) for k in range(124) for up in (0, 1)]
    points = [*corners[:2], (0.5 / 124, 1 / 124), *corners[2:], (1.0, 1.0)]
    found = mean_roc([_roc(*points)] * 2)
    assert list(zip(found.columns["fpr"], found.columns["tpr"], strict=True)) == points
