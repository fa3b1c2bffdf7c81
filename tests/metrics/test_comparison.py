"""The paired differences against pROC, MLstatkit, riskRegression and obvious loops."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from dossier.metrics.comparison import auroc_difference, brier_difference, net_benefit_difference
from dossier.metrics.utility import net_benefit
from dossier.types import Absent, Estimate, Floats

SHARED = Path(__file__).parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of reference values is not there")
RISK = st.sampled_from([0, 0.1, 0.3, 0.5, 0.7, 1])
ROWS = st.lists(st.tuples(st.integers(0, 1), RISK, RISK), max_size=12)


def estimated(found: Estimate | Absent) -> Estimate:
    assert isinstance(found, Estimate)
    return found


def golden() -> tuple[Floats, Floats, Floats]:
    read = pd.read_csv(SHARED / "golden" / "binary.csv")
    return read["y"].to_numpy(float), read["p"].to_numpy(float), read["p2"].to_numpy(float)


@needs_shared
def test_the_difference_of_aurocs_is_that_of_proc() -> None:
    expected = json.loads((SHARED / "golden" / "r.json").read_text())["compare"]["binary"]["delong_paired"]
    found = estimated(auroc_difference(*golden()))
    assert found.value == pytest.approx(expected["auc"][0] - expected["auc"][1], abs=1e-11)
    assert (found.low, found.high) == pytest.approx(expected["ci"], abs=1e-11)
    assert found.se is not None
    assert found.value / found.se == pytest.approx(expected["z"], abs=1e-8)
    assert found.details["p_value"] == pytest.approx(expected["p"], rel=1e-9)


@needs_shared
def test_the_difference_of_aurocs_is_that_of_python() -> None:
    read = pd.read_csv(SHARED / "golden" / "python" / "binary.csv")
    expected = json.loads((SHARED / "golden/python/python_golden.json").read_text())["discrimination"]["paired_p_vs_p2"]
    found = estimated(
        auroc_difference(read["y"].to_numpy(float), read["p"].to_numpy(float), read["p2"].to_numpy(float))
    )
    assert found.value == pytest.approx(expected["diff_auc"], abs=1e-14)
    assert (found.low, found.high) == pytest.approx(expected["ci95_diff"], abs=1e-13)
    assert found.details["p_value"] == pytest.approx(expected["check_mlstatkit"]["p"], rel=1e-10)


@needs_shared
def test_the_difference_of_brier_scores_is_that_of_riskregression() -> None:
    contrasts = json.loads((SHARED / "golden" / "r.json").read_text())["riskRegression_binary"]["Brier_contrasts"]
    expected = next(row for row in contrasts if (row["model"], row["reference"]) == ("p2", "p"))
    y, p, rival = golden()
    found = estimated(brier_difference(y, rival, p))
    assert found.value == pytest.approx(expected["delta.Brier"], abs=1e-12)
    assert found.se == pytest.approx(expected["se"], rel=1e-9)
    paired = ttest_rel((rival - y) ** 2, (p - y) ** 2)
    assert found.details["p_value"] == pytest.approx(paired.pvalue, rel=1e-9)
    interval = paired.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-9)


@given(ROWS)
@settings(deadline=None)
def test_paired_delong_by_loops(rows: list[tuple[int, float, float]]) -> None:
    y, p, q = (np.array([row[place] for row in rows], dtype=float) for place in range(3))
    found = auroc_difference(y, p, q)
    if y.sum() in (0, len(y)):
        assert isinstance(found, Absent)
        return

    def wins(risk: Floats) -> Floats:
        return np.array([[(a > b) + (a == b) / 2 for b in risk[y == 0]] for a in risk[y == 1]], dtype=float)

    gap = wins(p) - wins(q)
    found = estimated(found)
    assert found.value == pytest.approx(gap.mean(), abs=1e-12)
    m, n = gap.shape
    if min(m, n) < 2:
        assert found.low is None
        return
    variance = float(np.var(gap.mean(axis=1), ddof=1) / m + np.var(gap.mean(axis=0), ddof=1) / n)
    if variance > 1e-12:
        assert found.se == pytest.approx(math.sqrt(variance))
        assert found.details["p_value"] == pytest.approx(math.erfc(abs(found.value) / math.sqrt(2 * variance)))


@given(ROWS, st.sampled_from([0.1, 0.5, 0.6]))
@settings(deadline=None)
def test_the_difference_of_net_benefits(rows: list[tuple[int, float, float]], t: float) -> None:
    y, p, q = (np.array([row[place] for row in rows], dtype=float) for place in range(3))
    found = net_benefit_difference(y, p, q, t)
    if not rows:
        assert isinstance(found, Absent)
        return
    found = estimated(found)
    assert found.value == pytest.approx(
        estimated(net_benefit(y, p, t)).value - estimated(net_benefit(y, q, t)).value, abs=1e-12
    )
    each = [((a >= t) - float(b >= t)) * (1 if outcome else -t / (1 - t)) for outcome, a, b in rows]
    if len(set(each)) > 1:
        assert found.se == pytest.approx(float(np.std(each, ddof=1)) / math.sqrt(len(each)))
        p_value = found.details["p_value"]
        assert p_value is not None
        assert 0 <= p_value <= 1


def test_a_model_against_itself_has_no_interval_and_no_p_value() -> None:
    y, p = np.array([0.0, 1, 0, 1]), np.array([0.2, 0.7, 0.5, 0.4])
    for found in (auroc_difference(y, p, p), brier_difference(y, p, p), net_benefit_difference(y, p, p, 0.5)):
        itself = estimated(found)
        assert (itself.value, itself.low, itself.high, itself.details["p_value"]) == (0, None, None, None)
        assert itself.reason


def test_no_rows_and_a_threshold_of_1_are_absent() -> None:
    none = np.array([])
    assert isinstance(auroc_difference(none, none, none), Absent)
    assert isinstance(brier_difference(none, none, none), Absent)
    assert isinstance(net_benefit_difference(np.ones(2), np.ones(2), np.ones(2), 1.0), Absent)
