"""Weighted and clustered standard errors against R's survey package, on the table that survey.R draws.

`Rscript survey.R survey.json` writes both the rows and R's numbers; nobody else needs R.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from dossier.core.register import fill
from dossier.core.types import Floats
from dossier.metrics import weighted
from dossier.metrics.calibration import oe_ratio
from dossier.metrics.comparison import net_benefit_difference
from dossier.metrics.shares import Design
from dossier.metrics.utility import contributions, net_benefit
from tests.estimated import estimated, interval_of, present

R: dict[str, Any] = json.loads(Path(__file__).with_name("survey.json").read_text(encoding="utf-8"))
SAME = 1e-8
GLM = 1e-6
"""svyglm stops its steps at 1e-8 of the deviance."""
FITS = ("calibration_slope", "calibration_intercept", "calibration_intercept_joint")
WEIGHTED = {name: metric.weighted for name, metric in fill("metrics").metrics.items() if metric.weighted is not None}
"""The measures that honour sampling weights, in the form that does."""
OF_SHARES = ("net_benefit", "net_benefit_difference", "oe_ratio")
"""Measures that make their interval themselves, of rows however they were sampled."""
REPLICATED = ("auroc_by_replicates", "concordance_by_replicates")


def _column(name: str) -> Floats:
    return np.array(R["rows"][name], dtype=np.float64)


WARD = np.unique(R["rows"]["ward"], return_inverse=True)[1]
ROWS = weighted.Rows(_column("y"), _column("p"), _column("w"), R["threshold"], _column("q"))
DESIGNS = {"weighted": None, "weighted_clustered": WARD}


def _designed(design: str, linearized: Floats) -> tuple[float, float]:
    """The standard error that survey makes of what units contribute, m/(m - 1) times their squares, and ours."""
    sampled = Design(len(WARD), DESIGNS[design], ROWS.weights)
    totals = sampled.totals(linearized)
    share = sampled.totals(ROWS.weights / ROWS.weights.sum()) if DESIGNS[design] is not None else 1 / len(totals)
    squares = (totals - totals.mean()) ** 2
    own = np.sum(squares / (1 - share)) ** 0.5
    assert sampled.variance(linearized) ** 0.5 == pytest.approx(own, rel=1e-12)
    return float((squares.sum() * len(totals) / (len(totals) - 1)) ** 0.5), float(own)


@pytest.mark.parametrize("name", sorted(set(R["weighted"]) - set(REPLICATED) - set(OF_SHARES) - {"auroc_of_rival"}))
@pytest.mark.parametrize("design", DESIGNS)
def test_the_standard_error_is_that_of_survey(design: str, name: str) -> None:
    found, expected = WEIGHTED[name](ROWS), R[design][name]
    assert isinstance(found, weighted.Weighted)
    near = GLM if name in FITS else SAME
    assert found.value == pytest.approx(expected["value"], rel=near)
    se, _ = _designed(design, found.linearized)
    assert se == pytest.approx(expected["se"], rel=10 * near)


@pytest.mark.parametrize("design", DESIGNS)
def test_the_variance_of_shares_is_that_of_survey(design: str) -> None:
    sampled = Design(len(WARD), DESIGNS[design], ROWS.weights)
    rival, t = _column("q"), R["threshold"]
    found = estimated(net_benefit(ROWS.outcome, ROWS.risk, t, design=sampled))
    assert found.made_of is not None
    (coefficients,) = np.array(found.made_of.coefficients)
    variance = float(coefficients @ np.array(found.made_of.covariance) @ coefficients)
    share = ROWS.weights / ROWS.weights.sum()
    se, ours = _designed(design, share * (contributions(ROWS.outcome, ROWS.risk, t) - found.value))
    assert (found.value, se) == pytest.approx(tuple(R[design]["net_benefit"].values()), rel=10 * SAME)
    assert variance**0.5 == pytest.approx(ours, rel=1e-10)
    found = estimated(net_benefit_difference(ROWS.outcome, ROWS.risk, rival, t, design=sampled))
    odds = t / (1 - t)
    rows = contributions(ROWS.outcome, ROWS.risk, t) - contributions(ROWS.outcome, rival, t)
    se, ours = _designed(design, share * (rows - found.value))
    worth = min(1 / np.sum(share**2), np.sum(share * (rows - found.value) ** 2) / ours**2)
    assert (found.value, se) == pytest.approx(tuple(R[design]["net_benefit_difference"].values()), rel=10 * SAME)
    assert present(found.se) ** 2 - 2 * (1 + odds**2) / worth**2 == pytest.approx(ours**2, rel=1e-9)
    ratio = estimated(oe_ratio(ROWS.outcome, ROWS.risk, design=sampled))
    low, high = interval_of(ratio)
    expected = np.sum(share * ROWS.risk)
    se, ours = _designed(design, share * (ROWS.outcome - ratio.value * ROWS.risk) / expected)
    log_se = float(np.log(high / low)) / (2 * student.ppf(0.975, ratio.details["df"] or 0.0))
    assert (ratio.value, se) == pytest.approx(tuple(R[design]["oe_ratio"].values()), rel=10 * SAME)
    assert ratio.value * log_se == pytest.approx(ours, rel=1e-9)


@pytest.mark.parametrize(("name", "replicated"), [("auroc", REPLICATED[0]), ("model_based_concordance", REPLICATED[1])])
@pytest.mark.parametrize("design", DESIGNS)
def test_influences_give_the_error_of_measuring_anew_without_each_unit(design: str, name: str, replicated: str) -> None:
    """The jackknife of survey asks the pairs themselves; of 60 clusters it lies a little above the linearization."""
    found, expected = WEIGHTED[name](ROWS), R[design][replicated]
    assert isinstance(found, weighted.Weighted)
    assert found.value == pytest.approx(expected["value"], rel=SAME)
    se, _ = _designed(design, found.linearized)
    assert se == pytest.approx(expected["se"], rel=0.012)


def test_contributions_add_up_to_nothing() -> None:
    for name, measure in WEIGHTED.items():
        found = present(measure(ROWS))
        assert float(np.abs(found.linearized).max()) > 1e-6, name
        assert float(found.linearized.sum()) == pytest.approx(0, abs=1e-9), name
