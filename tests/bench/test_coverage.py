"""The short form of `make coverage`: few datasets in few cells, with bounds that chance does not pass.

Every dataset has its own seed, so that the answer is the same each time; the bounds are those of a binomial count at a
risk of 1e-7 each, about 1e-5 for all of them together.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dossier.core.facts import Method
from dossier.core.register import REGISTER, fill
from dossier.core.types import Absent, Estimate
from tests.bench import coverage, groups, report, studies
from tests.bench.population import benefits, design_of, population, quadrature, rival_chance, truths
from tests.bench.scores import Score, band, between, held, rejected
from tests.reasons import because

DATASETS = 200
RISK = 1e-7
LEAST, MOST = 0.92, 0.065
"""The coverage that no interval may fall below, and the size that no test may pass."""

fill("metrics")


def tallied(cell: coverage.Cell, datasets: int = DATASETS) -> coverage.Found:
    found = coverage.Found(cell)
    coverage.collect(found, coverage.simulate(cell, 0, datasets))
    return found


def assert_held(found: coverage.Found, least: float = LEAST) -> None:
    for name, tally in found.tallies.items():
        if tally.counted < 100:
            continue
        fewest = float(binom.ppf(RISK, tally.counted, least))
        assert tally.held >= fewest, f"{name} held in {tally.held:g} of {tally.counted} ({found.cell.name})"


@pytest.mark.parametrize("condition", ["calibrated", "miscalibrated"])
def test_the_intervals_of_one_hospital_hold(condition: str) -> None:
    assert_held(tallied(coverage.at_a_hospital(condition, 0.4, 500, 30, ("closed", "binned", "resampled"))))


@pytest.mark.parametrize(("condition", "prevalence"), [("calibrated", 0.4), ("slight", 0.4), ("miscalibrated", 0.1)])
def test_the_calibration_errors_hold_on_the_boundary_near_it_and_far_from_it(condition: str, prevalence: float) -> None:
    assert_held(tallied(coverage.at_a_hospital(condition, prevalence, 500, 100, ("smooth",)), 100))


def test_the_net_benefits_hold_far_from_the_prevalence() -> None:
    found = tallied(coverage.far_from_the_prevalence("shifted", 0.07, 500), 150)
    usual = {name: tally for name, tally in found.tallies.items() if found.cell.rarest[name] >= 1}
    assert {name.split(" at ")[0] for name in usual} == set(report.FAR_MEASURES)
    assert_held(coverage.Found(found.cell, usual))


@pytest.mark.parametrize(("condition", "threshold"), [("far too low", 0.05), ("far too high", 0.1)])
def test_a_gain_is_rarely_claimed_where_a_default_is_better(condition: str, threshold: float) -> None:
    """At a threshold near the prevalence a sample often takes the worse default for the better one."""
    (tally,) = tallied(coverage.where_a_default_is_better(condition, 0.07, 300, (threshold,)), 600).tallies.values()
    assert tally.held <= float(binom.isf(RISK, tally.counted, 0.025))


@pytest.mark.parametrize("kind", ["clusters", "weights"])
def test_net_benefit_and_ratio_hold_of_rows_in_clusters_and_with_weights(kind: str) -> None:
    assert_held(tallied(coverage.sampled_otherwise(kind, "shifted", 0.3, 1000), 150))


def test_the_tests_reject_a_true_null_rarely() -> None:
    found = tallied(coverage.at_equality(200, 0.4))
    for name, tally in found.tallies.items():
        most = float(binom.isf(RISK, tally.counted, MOST))
        fewest = float(binom.ppf(RISK, tally.counted, min(0.035, tally.below / tally.counted or 1)))
        assert fewest <= tally.held <= most, name


def test_the_other_designs_hold() -> None:
    fast = (
        "pooled, 5 sites, tau 0.4",
        "raters, 3 on 100 cases",
        "decisions, 500 an arm",
        "arms of 5 and 5 readers",
        "sites, 8",
    )
    for name, kind, size, simulate in studies.cells(50):
        if name in fast:
            found = tallied(coverage.Cell(name, kind, simulate, "", 0.0, size))
            assert_held(found, 0.9)


@pytest.mark.slow
@pytest.mark.parametrize("label", ["right, 3", "off by hospital, 8", "rare, 3"])
def test_a_model_that_serves_all_alike_within_hospitals_is_seldom_accused(label: str) -> None:
    """At a rate of 5 % more than 10 of 100 releases are once in 100 runs."""
    name, kind, size, simulate = next(
        cell for cell in groups.cells() if cell[0] == f"release, {label} hospitals of 200"
    )
    tally = tallied(coverage.Cell(name, kind, simulate, "", 0.0, size), 100).tallies["no group accused"]
    assert tally.counted - tally.held <= 10


def test_the_net_benefits_of_many_rows_are_those_of_the_integrals() -> None:
    design = design_of("shifted", 0.3)
    hospital = coverage.hospital(design, 400_000, np.random.default_rng(2), 1, 0)
    for threshold in (0.1, 0.3, 0.6):
        true, odds = benefits(design, threshold), threshold / (1 - threshold)
        value = np.where(hospital.outcome == 1, 1.0, -odds)
        ours, theirs = (value * (risk >= threshold) for risk in (hospital.risk, hospital.rival))
        default = value if value.mean() > 0 else np.zeros(400_000)
        alone = (hospital.risk >= threshold) & (hospital.rival < threshold) & (hospital.outcome == 1)
        for rows, expected in ((ours, true.net_benefit), (ours - default, true.gain), (ours - theirs, true.difference)):
            assert rows.mean() == pytest.approx(expected, abs=5 * float(rows.std()) / math.sqrt(400_000))
        assert true.rarest["net_benefit_difference"] < alone.mean() * 1.1


# ---- the truths themselves ------------------------------------------------------------------------------------------


def test_the_truths_are_those_of_many_rows() -> None:
    """The measures' own values on 300,000 rows, against the integrals."""
    design = design_of("miscalibrated", 0.4)
    hospital = coverage.hospital(design, 300_000, np.random.default_rng(1), 1, 2)
    truth = coverage.known(design)
    for name, ask in (coverage.CLOSED | coverage.BINNED).items():
        found = ask(hospital)
        assert isinstance(found, Estimate), name
        assert found.low is not None, name
        assert found.high is not None, name
        # Two and a half times the interval is five standard errors.
        assert found.value == pytest.approx(truth[name], abs=1.25 * (found.high - found.low)), name


def test_the_quadrature_is_exact_where_the_answer_is_known() -> None:
    design = design_of("calibrated", 0.1)
    found = population(design.centre, design.chance, 0.1)
    assert found.mean(found.chance) == pytest.approx(0.1, abs=1e-12)
    known = truths(found, 0.1, design.centre, design.chance)
    exact = {"oe_ratio": 1, "calibration_slope": 1, "calibration_intercept": 0, "ici": 0, "ece": 0, "eci": 1}
    assert {name: known[name] for name in exact} == pytest.approx(exact, abs=1e-10)
    assert known["tjur_r2"] == pytest.approx(known["scaled_brier"], abs=1e-10), "equal for a calibrated model"
    linear, share = quadrature(0.3, (0.1, 0.7))
    assert float(np.sum(share * np.exp(linear))) == pytest.approx(math.exp(0.3 + 1.2**2 / 2), rel=1e-10)


def test_a_rival_that_agrees_less_ranks_worse() -> None:
    design = design_of("calibrated", 0.4)
    second = rival_chance(design)
    rival = truths(population(design.centre, second, 0.4), 0.4, design.centre, second)
    assert rival["auroc"] < coverage.known(design)["auroc"]
    assert rival["calibration_slope"] < 1


# ---- scores and table -----------------------------------------------------------------------------------------------


def test_scores() -> None:
    found = Estimate(0.5, 0.4, 0.6, 0.95, 10, Method("wald"))
    assert held(found, 0.5) == Score(1.0, 0.0, 0.0)
    assert held(found, 0.3) == Score(0.0, 1.0, 0.0)
    assert held(Absent(because("nothing")), 0.3).held is None
    assert between(None, 1.0, 0.3).held is None
    assert rejected(0.05).held == 1
    assert rejected(0.051, 0.04) == Score(0.0, 0.04)
    assert band(Absent(because("nothing")), lambda columns: columns["low"]).held is None


def test_the_lane_does_not_depend_on_how_the_datasets_are_dealt_out() -> None:
    cell = coverage.at_a_hospital("slight", 0.4, 200, 10, ("binned",))
    assert coverage.simulate(cell, 0, 6) == coverage.simulate(cell, 0, 2) + coverage.simulate(cell, 2, 6)


def test_the_sizes_that_exact_tests_attain() -> None:
    # P(X >= 15) = .0207 and P(X >= 14) = .0577 of 20; two-sided of 6: 2/64; of 5 nothing is beyond .05.
    assert studies.binomial_size(20) == pytest.approx(0.0207, abs=5e-5)
    assert studies._two_sided_size(6) == pytest.approx(2 / 64)
    assert studies._two_sided_size(5) == 0


def test_every_measure_with_an_interval_has_a_cell_or_a_reason() -> None:
    asked = {*coverage.CLOSED, *coverage.SMOOTH, *coverage.BINNED, *coverage.RESAMPLED}
    for _, _, _, simulate in studies.cells(20):
        asked |= set(simulate(np.random.default_rng(1), 1))
    covered = {name.split(",")[0].split(" ")[0] for name in asked} | set(report.SAID["without_a_cell"])
    no_interval = {"spiegelhalter_z", "degree_of_correspondence"}
    for name, metric in REGISTER.metrics.items():
        has_interval = "level" in metric.needs and not name.startswith("mss_") and name not in no_interval
        assert not has_interval or name in covered, f"{name} has an interval and no cell in the table"


def test_the_table_names_what_misses() -> None:
    cell = coverage.at_a_hospital("calibrated", 0.4, 500, 10, ("binned",))
    found = coverage.Found(cell, {"brier": coverage.Tally(1000, 0, 900.0, 900.0, 60.0, 40.0)})
    text = report.table((found,), 1000, 1, "a minute", "none", 10)
    assert "**0.900** (0.060, 0.040)" in text
    assert "brier (calibrated 0.4 500) 0.900" in text
