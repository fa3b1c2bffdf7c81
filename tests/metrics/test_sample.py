"""Sample sizes against the values of methods.md and of pmvalsampsize."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics.discrimination import newcombe_standard_error
from dossier.metrics.sample import mss_auroc, mss_brier, mss_oe, mss_slope, mss_snb, newcombe_variance, smallest_sample
from dossier.typeset.reasons import reason_text
from tests.reasons import Said
from tests.reference.tables import COVID, needs_covid


def _value(found: Estimate | Absent) -> float:
    assert isinstance(found, Estimate), found
    assert (found.low, found.high, found.level) == (None, None, None)
    assert found.reason == Said("a sample size has no interval")
    return found.value


def _published(prevalence: float = 0.018, n: int = 400_000) -> tuple[Floats, Floats]:
    """phi = .018 and LP ~ N(-5, 2.5), as in methods.md."""
    outcome = np.zeros(n)
    outcome[: round(n * prevalence)] = 1
    return outcome, 1 / (1 + np.exp(-np.random.default_rng(1).normal(-5, 2.5, n)))


@needs_covid
@pytest.mark.parametrize(
    ("site", "auroc", "net_benefit", "brier"),
    [
        ("spain", 495, 211.09, 554.27),
        ("italy-1", 51, 155.93, 90.26),
        ("brazil-1", 458, 427.39, 316.51),
        ("brazil-3", 2479, 87.24, 374.67),
        ("ethiopia", 208, 285.46, 199.76),
    ],
)
def test_real_sites_have_the_values_of_the_methods(site: str, auroc: int, net_benefit: float, brier: float) -> None:
    table = pd.read_csv(COVID / f"{site}.csv")
    outcome, risk = table["outcome"].to_numpy(dtype=float), table["risk"].to_numpy(dtype=float)
    assert _value(mss_auroc(outcome, risk)) == auroc
    assert _value(mss_snb(outcome, risk, 0.5)) == pytest.approx(net_benefit, abs=0.005)
    assert _value(mss_brier(outcome, risk)) == pytest.approx(brier, abs=0.005)


def test_the_published_example() -> None:
    """O/E 906 (pmvalsampsize steps to 905), AUROC 4252, slope 4554 within 1 % (it is a simulation there)."""
    outcome, risk = _published()
    assert _value(mss_oe(outcome, oe_ratio_width=1)) == 906
    assert smallest_sample(0.8, 0.018, 0.1) == 4252
    assert _value(mss_slope(outcome, risk)) == pytest.approx(4554, rel=0.01)


@pytest.mark.parametrize(("prevalence", "auroc", "expected"), [(0.2, 0.75, 568), (0.018, 0.8, 4252)])
def test_auroc_against_pmvalsampsize(prevalence: float, auroc: float, expected: int) -> None:
    """golden/r.json, pmvalsampsize: its third criterion."""
    assert smallest_sample(auroc, prevalence, 0.1) == expected


def test_the_smallest_sample_is_the_smallest() -> None:
    """By counting up from 1, with Newcombe's standard error at fractional counts of events avoided: phi = 1/2."""
    for auroc in (0.3, 0.5, 0.62, 0.9, 0.999):
        for width in (0.05, 0.2, 0.7):
            n = smallest_sample(auroc, 0.5, width)
            target = width / 3.92
            even = n + n % 2
            assert newcombe_standard_error(auroc, even, even // 2) <= target
            if even > 3:
                assert newcombe_standard_error(auroc, even - 2, (even - 2) // 2) > target or n == even - 1


@pytest.mark.parametrize(("width", "expected"), [(10, 1), (1.96, 2), (1.95, 3)])
def test_a_variance_that_just_meets_the_width_is_enough(width: float, expected: int) -> None:
    """At an AUROC and a prevalence of one half, two rows have the variance 1/4, the square of 1.96/3.92."""
    assert smallest_sample(0.5, 0.5, width) == expected


def test_a_width_that_a_number_of_rows_meets_exactly_needs_no_more() -> None:
    variances = {n: newcombe_variance(0.5, 0.5, n) for n in range(3, 60)}
    exact = {
        n: 3.92 * math.sqrt(found) for n, found in variances.items() if (math.sqrt(found) * 3.92 / 3.92) ** 2 == found
    }
    assert len(exact) > 5
    assert {n: smallest_sample(0.5, 0.5, width) for n, width in exact.items()} == {n: n for n in exact}


def test_narrow_intervals_ask_for_more_patients_than_there_are() -> None:
    n = smallest_sample(0.8, 0.018, 0.0001)
    target = (0.0001 / 3.92) ** 2
    assert newcombe_variance(0.8, 0.018, n) <= target < newcombe_variance(0.8, 0.018, n - 1)


def test_a_ratio_of_one_half_the_rows_by_hand() -> None:
    """asinh(.1) = .0998341, over 1.96 it is .0509357, and 1/.0509357^2 = 385.4."""
    assert _value(mss_oe(np.array([0.0, 1.0]))) == _value(mss_oe(np.array([0.0, 1.0]), 0.2)) == 386


def test_slope_against_the_information_matrix() -> None:
    """The inverse of the information of n rows: its slope entry is the squared SE."""
    rng = np.random.default_rng(3)
    risk = rng.uniform(0.05, 0.9, 60)
    outcome = (rng.random(60) < risk).astype(float)
    n = _value(mss_slope(outcome, risk, 0.3))
    linear = np.log(risk / (1 - risk))
    design = np.column_stack([np.ones(60), linear])
    information = design.T @ (design * (risk * (1 - risk))[:, None]) * n / 60
    assert np.linalg.inv(information)[1, 1] == pytest.approx((0.3 / 3.92) ** 2, rel=1e-9)


def test_a_wider_target_needs_fewer() -> None:
    outcome, risk = _published(0.3, 500)
    for narrow, wide in (
        (mss_auroc(outcome, risk, 0.05), mss_auroc(outcome, risk, 0.1)),
        (mss_oe(outcome, 0.1), mss_oe(outcome, 0.2)),
        (mss_slope(outcome, risk, 0.1), mss_slope(outcome, risk, 0.2)),
        (mss_snb(outcome, risk, 0.1, 0.1), mss_snb(outcome, risk, 0.1, 0.2)),
        (mss_brier(outcome, risk, 0.01), mss_brier(outcome, risk, 0.05)),
    ):
        assert _value(narrow) > _value(wide)


def test_each_gap_is_a_sentence() -> None:
    nothing, each, ones = np.array([]), np.array([1.0]), np.ones(4)
    for outcome in (nothing, each, ones, np.zeros(4)):
        risk = np.full(len(outcome), 0.3)
        for found in (mss_auroc(outcome, risk), mss_oe(outcome), mss_snb(outcome, risk, 0.5)):
            assert isinstance(found, Absent)
            assert not reason_text(found.reason).endswith(".")
    both = np.array([0.0, 1.0, 0.0, 1.0])
    assert mss_auroc(both, both) == Said("the AUROC is exactly 1, where the formula sees no spread")
    assert mss_snb(both, both, 0.5) == Said(
        "the formula sees no spread: no case is missed or every case is, and no other row is positive"
    )
    assert mss_snb(both, both, 1.0) == Said("at a threshold of 1 a false positive weighs infinitely much")
    assert mss_brier(both, both) == Said("every squared error is the same, so the formula sees no spread")
    assert mss_brier(nothing, nothing) == mss_slope(nothing, nothing) == Said("there are no rows")
    assert mss_slope(both, np.full(4, 0.2)) == Said(
        "all risks are equal, so a slope cannot be estimated from any number of rows"
    )


def test_risks_of_0_and_1_tell_nothing_of_the_slope() -> None:
    """Half of the rows certain: twice as many are needed; all of them: no number of patients would do."""
    outcome, risk = np.array([0.0, 1, 1, 0] * 10), np.array([0.1, 0.6, 0.8, 0.3] * 10)
    needed = _value(mss_slope(outcome, risk))
    certain = np.tile([0.0, 1.0], 20)
    found = _value(mss_slope(np.concatenate((outcome, certain)), np.concatenate((risk, certain))))
    assert found == pytest.approx(2 * needed)
    assert mss_slope(outcome, certain) == Said("every risk is 0 or 1")
