"""Versions whose risks differ by rounding alone, or whose slopes are equal: nothing is better or worse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from scipy.special import expit

import dossier
from dossier.core import claims
from dossier.core.types import Estimate, Evidence
from dossier.record import results

ASKED: dict[str, Any] = {"outcome": "outcome", "site": "hospital", "thresholds": [0.2]}
FEW = {"bootstrap": 2, "permutations": 9}


@pytest.fixture(scope="module")
def rows() -> pandas.DataFrame:
    """Patients of two hospitals, with the log odds of the last release."""
    rng = np.random.default_rng(1)
    log_odds = rng.normal(-1.5, 1, 1200)
    outcome = (rng.random(1200) < expit(log_odds + 0.5)).astype(int)
    return pandas.DataFrame(
        {"hospital": ["Aachen", "Basel"] * 600, "log_odds": log_odds, "old": expit(log_odds), "outcome": outcome}
    )


@pytest.fixture(scope="module")
def before(rows: pandas.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the last release."""
    path = tmp_path_factory.mktemp("rounding") / "results.json"
    found = dossier.validate(rows, risk="old", version="1", resampling=FEW, **ASKED).evidence
    path.write_bytes(results.of(found).text())
    return path


def _after(rows: pandas.DataFrame, before: Path, added: float) -> Evidence:
    """The release in which so much is added to the log odds."""
    frame = rows.assign(risk=expit(rows.log_odds + added))
    asked: dict[str, Any] = {"version": "2", "previous": before, "prediction": {"previous": "old"}, "resampling": FEW}
    return dossier.validate(frame, risk="risk", **ASKED, **asked).evidence


@pytest.mark.slow
@pytest.mark.parametrize("added", [0.0, 1e-12, -1e-12])
def test_rounding_makes_no_release_better_or_worse(rows: pandas.DataFrame, before: Path, added: float) -> None:
    found = _after(rows, before, added)
    about = [claim for claim in claims.about(found, "since_last_release") if claim.scope == "hospital"]
    assert about
    assert all(claim.state != "against" and (claim.state != "shown" or claims.is_same(claim)) for claim in about)
    assert found.changes is not None
    paired = [
        each.found for each in found.changes.results if each.measure in ("oe_ratio", "brier", "calibration_slope")
    ]
    values = [each for each in paired if isinstance(each, Estimate)]
    assert len(values) >= 6
    assert {(each.value, each.low, each.high) for each in values} == {(0.0, None, None)}


def test_another_intercept_leaves_the_slope_as_it_is(rows: pandas.DataFrame, before: Path) -> None:
    found = _after(rows, before, 0.5)
    assert found.changes is not None
    slopes = [each.found for each in found.changes.results if each.measure == "calibration_slope"]
    assert [(each.value, each.low) for each in slopes if isinstance(each, Estimate)] == [(0.0, None)] * 3
    moved = [each.found for each in found.changes.results if each.measure == "oe_ratio"]
    assert all(isinstance(each, Estimate) and each.high is not None and each.high < 0 for each in moved)
