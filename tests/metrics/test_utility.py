"""Net benefit against dcurves, the table of methods.md, and obvious loops."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dossier.metrics.utility import (
    decision_curve,
    decision_curve_all_sites,
    net_benefit,
    standardized_net_benefit,
)
from dossier.types import Absent, Curve, CurveResult, DatasetSummary, Estimate, Floats, SiteResults

SHARED = Path(__file__).parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of reference values is not there")
ROWS = st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0, 0.1, 0.3, 0.5, 0.7, 1])), min_size=1, max_size=14)


def estimated(found: Estimate | Absent) -> Estimate:
    assert isinstance(found, Estimate)
    return found


def curve(found: Curve | Absent) -> dict[str, Floats]:
    assert isinstance(found, Curve)
    return {name: np.array(values, dtype=float) for name, values in found.columns.items()}


def golden(name: str = "binary.csv") -> pd.DataFrame:
    return pd.read_csv(SHARED / "golden" / name).astype({"y": float})


def r() -> Any:
    return json.loads((SHARED / "golden" / "r.json").read_text())


def printed(name: str, column: str) -> float:
    """A number of the table of methods.md."""
    lines = [line for line in (SHARED / "methods.md").read_text().splitlines() if line.startswith("|")]
    head = next(line for line in lines if line.startswith("| site |"))
    row = next(line for line in lines if line.startswith(f"| {name} |"))
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in (head, row)]
    return float(cells[1][cells[0].index(column)])


@needs_shared
@pytest.mark.parametrize("name", ["brazil-1", "brazil-3", "italy-1", "ethiopia", "spain"])
def test_the_five_hospitals(name: str) -> None:
    read = pd.read_csv(SHARED / "data" / "covid" / f"{name}.csv")
    y, p = read["outcome"].to_numpy(float), read["risk"].to_numpy(float)
    assert estimated(net_benefit(y, p, 0.25)).value == pytest.approx(printed(name, "NB25"), abs=5.01e-8)
    assert estimated(standardized_net_benefit(y, p, 0.5)).value == pytest.approx(printed(name, "sNB"), abs=5.01e-8)


@needs_shared
@pytest.mark.parametrize("column", ["p", "p2"])
def test_net_benefit_is_that_of_dcurves(column: str) -> None:
    read, expected = golden(), r()["dcurves"]["binary"]["dca"]
    y, p = read["y"].to_numpy(), read[column].to_numpy()
    checked = 0
    for row in expected:
        if 0 < row["threshold"] < 1 and row["variable"] == column:
            found = estimated(net_benefit(y, p, row["threshold"]))
            assert found.value == pytest.approx(row["net_benefit"], abs=1e-11)
            checked += 1
        if row["variable"] == "all" and 0 < row["threshold"] < 0.9:
            ends = curve(decision_curve(y, p, (row["threshold"], 0.95)))
            assert ends["treat_all"][0] == pytest.approx(row["net_benefit"], abs=1e-10)
    assert checked > 8


@needs_shared
@pytest.mark.parametrize("column", ["p", "p2"])
def test_net_benefit_with_ties_at_the_threshold_is_that_of_python(column: str) -> None:
    read = golden("python/binary.csv")
    expected = json.loads((SHARED / "golden/python/python_golden.json").read_text())["net_benefit"][column]
    for threshold, row in expected.items():
        y, p, t = read["y"].to_numpy(), read[column].to_numpy(), float(threshold)
        assert estimated(net_benefit(y, p, t)).value == pytest.approx(row["nb_ge"], abs=1e-14)
        assert estimated(standardized_net_benefit(y, p, t)).value == pytest.approx(row["snb_ge"], abs=1e-13)


@given(ROWS, st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9]))
@settings(deadline=None)
def test_net_benefit_row_by_row(rows: list[tuple[int, float]], t: float) -> None:
    y, p = np.array([row[0] for row in rows], dtype=float), np.array([row[1] for row in rows], dtype=float)
    n = len(rows)
    each = [(1.0 if outcome else -t / (1 - t)) if risk >= t else 0.0 for outcome, risk in rows]
    value = sum(each) / n
    found = estimated(net_benefit(y, p, t))
    assert found.value == pytest.approx(value, abs=1e-12)
    if n > 1 and len(set(each)) > 1:
        se = math.sqrt(sum((one - value) ** 2 for one in each) / (n - 1) / n)
        assert found.se == pytest.approx(se)
        assert found.low == pytest.approx(value - 1.959963984540054 * se)
    else:
        assert (found.low, found.high) == (None, None)
        assert found.reason
    standardized = standardized_net_benefit(y, p, t)
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
    found = estimated(standardized_net_benefit(y, p, t))
    assert found.value == pytest.approx(se - w * (1 - sp))
    assert found.se == pytest.approx(math.sqrt(variance))


def test_the_variance_of_riley_agrees_with_the_jackknife() -> None:
    rng = np.random.default_rng(4)
    p = rng.random(500)
    y = (rng.random(500) < p).astype(float)
    found = estimated(standardized_net_benefit(y, p, 0.3))
    left_out = np.array(
        [estimated(standardized_net_benefit(np.delete(y, i), np.delete(p, i), 0.3)).value for i in range(500)]
    )
    assert found.se == pytest.approx(math.sqrt(499 / 500 * float(((left_out - left_out.mean()) ** 2).sum())), rel=0.02)


def test_a_site_of_cases_alone_has_the_sensitivity_as_standardized_net_benefit() -> None:
    found = estimated(standardized_net_benefit(np.ones(8), np.array([0.9] * 6 + [0.1] * 2), 0.5))
    assert found.value == 0.75
    assert found.se == pytest.approx(math.sqrt(0.75 * 0.25 / 8))


@given(ROWS)
@settings(deadline=None)
def test_the_decision_curve_is_the_net_benefit_at_each_threshold(rows: list[tuple[int, float]]) -> None:
    y, p = np.array([row[0] for row in rows], dtype=float), np.array([row[1] for row in rows], dtype=float)
    found = decision_curve(y, p, (0.1, 0.7))
    assert isinstance(found, Curve)
    lines = found.columns
    assert len(lines["threshold"]) == 101
    for place in (0, 37, 100):
        t = lines["threshold"][place]
        assert t is not None
        expected = estimated(net_benefit(y, p, t))
        assert lines["net_benefit"][place] == pytest.approx(expected.value, abs=1e-12)
        assert lines["treat_all"][place] == pytest.approx(
            estimated(net_benefit(y, np.ones(len(y)), t)).value, abs=1e-12
        )
        if expected.se is not None:
            assert lines["se"][place] == pytest.approx(expected.se, abs=1e-8)
            assert lines["low"][place] == pytest.approx(expected.low, abs=1e-7)
    assert set(lines["treat_none"]) == {0.0}


def test_what_has_no_net_benefit_is_absent() -> None:
    y, p = np.array([0.0, 1.0]), np.array([0.2, 0.8])
    for found in (
        net_benefit(np.array([]), np.array([]), 0.5),
        net_benefit(y, p, 1.0),
        standardized_net_benefit(np.zeros(3), np.full(3, 0.5), 0.5),
        standardized_net_benefit(y, p, 1.0),
        decision_curve(np.array([]), np.array([])),
        decision_curve(y, p, (0.1, 1.0)),
    ):
        assert isinstance(found, Absent)
        assert len(found.reason.split()) > 3


def site(name: str, y: Floats, p: Floats, span: tuple[float, float] = (0.05, 0.6)) -> SiteResults:
    summary = DatasetSummary(name, "external", name, len(y), int(y.sum()), len(y), {}, ())
    return SiteResults(summary, (), (CurveResult("decision_curve", name, decision_curve(y, p, span)),))


@needs_shared
def test_the_curve_of_all_sites_is_that_of_all_rows() -> None:
    read = golden()
    sites = tuple(site(str(name), rows["y"].to_numpy(), rows["p"].to_numpy()) for name, rows in read.groupby("site"))
    together = curve(decision_curve_all_sites(sites))
    whole = curve(decision_curve(read["y"].to_numpy(), read["p"].to_numpy(), (0.05, 0.6)))
    for name in ("threshold", "net_benefit", "treat_all", "treat_none"):
        assert together[name] == pytest.approx(whole[name], abs=1e-12)
    # stratified: never wider than the rows taken as one sample, by the differences between sites
    assert (together["se"] <= whole["se"] * 1.001).all()
    shares = np.array([len(rows) / 2000 for _, rows in read.groupby("site")])
    ses = np.array(
        [
            curve(decision_curve(rows["y"].to_numpy(), rows["p"].to_numpy(), (0.05, 0.6)))["se"]
            for _, rows in read.groupby("site")
        ]
    )
    assert together["se"] == pytest.approx(np.sqrt((shares[:, None] ** 2 * ses**2).sum(axis=0)))


def test_sites_that_cannot_be_taken_together_are_absent() -> None:
    y, p = np.array([0.0, 1.0, 1.0]), np.array([0.2, 0.8, 0.4])
    one, other = site("a", y, p), site("b", y, p, (0.1, 0.5))
    assert isinstance(decision_curve_all_sites((one,)), Absent)
    assert isinstance(decision_curve_all_sites((one, other)), Absent)
    single = curve(decision_curve_all_sites((one, site("c", y[:1], p[:1]))))
    assert np.isnan(single["se"]).all()
