"""Discrimination against R, scikit-learn, published examples and obvious loops."""

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

from dossier.metrics.discrimination import (
    auroc,
    newcombe_standard_error,
    npv,
    ppv,
    risk_distribution,
    roc,
    roc_vertices,
    sensitivity,
    specificity,
)
from dossier.types import Absent, Curve, Estimate, Floats

SHARED = Path(__file__).parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of reference values is not there")
SITES = ("brazil-1", "brazil-3", "italy-1", "ethiopia", "spain")

ROWS = st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0, 0.1, 0.3, 0.5, 0.7, 1])), max_size=14)


def arrays(rows: list[tuple[int, float]]) -> tuple[Floats, Floats]:
    return np.array([y for y, _ in rows], dtype=float), np.array([p for _, p in rows], dtype=float)


def table(name: str = "binary.csv") -> pd.DataFrame:
    return pd.read_csv(SHARED / "golden" / name).astype({"y": float})


def r() -> Any:
    return json.loads((SHARED / "golden" / "r.json").read_text())


def site(name: str) -> tuple[Floats, Floats]:
    read = pd.read_csv(SHARED / "data" / "covid" / f"{name}.csv")
    return read["outcome"].to_numpy(float), read["risk"].to_numpy(float)


def printed(name: str, column: str) -> float:
    """A number of the table of methods.md."""
    lines = [line for line in (SHARED / "methods.md").read_text().splitlines() if line.startswith("|")]
    head = next(line for line in lines if line.startswith("| site |"))
    row = next(line for line in lines if line.startswith(f"| {name} |"))
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in (head, row)]
    return float(cells[1][cells[0].index(column)])


def to_printed_digits(value: float, expected: float) -> bool:
    """Equal to the seven significant digits of the table."""
    return abs(value - expected) <= 0.501 * 10.0 ** (math.floor(math.log10(abs(expected))) - 6)


def estimated(found: Estimate | Absent) -> Estimate:
    assert isinstance(found, Estimate)
    return found


def slow_auroc(y: Floats, p: Floats) -> tuple[float, float]:
    """The AUROC and DeLong's variance by loops over pairs."""
    cases, others = p[y == 1], p[y == 0]
    wins = np.array([[1.0 if a > b else 0.5 if a == b else 0.0 for b in others] for a in cases])
    value = wins.mean()
    m, n = wins.shape
    v10 = sum((wins[i].mean() - value) ** 2 for i in range(m)) / (m - 1)
    v01 = sum((wins[:, j].mean() - value) ** 2 for j in range(n)) / (n - 1)
    return float(value), float(v10 / m + v01 / n)


@needs_shared
@pytest.mark.parametrize("column", ["p", "p2"])
def test_auroc_is_that_of_proc(column: str) -> None:
    expected = r()["core"][f"binary:{column}"]["pROC"]
    found = estimated(auroc(table()["y"].to_numpy(), table()[column].to_numpy()))
    assert (found.value, found.se) == pytest.approx((expected["auc"], expected["se_delong"]), abs=1e-11)
    assert (found.low, found.high) == pytest.approx(expected["logit_ci"], abs=1e-11)


@needs_shared
@pytest.mark.parametrize("column", ["p", "p2"])
def test_auroc_is_that_of_python_packages(column: str) -> None:
    expected = json.loads((SHARED / "golden/python/python_golden.json").read_text())["discrimination"][column]
    found = estimated(auroc(table("python/binary.csv")["y"].to_numpy(), table("python/binary.csv")[column].to_numpy()))
    assert (found.value, found.se) == pytest.approx((expected["auc_sklearn"], expected["delong_se"]), abs=1e-14)
    assert (found.low, found.high) == pytest.approx(expected["ci95_logit"], abs=1e-14)


@needs_shared
@pytest.mark.parametrize("name", SITES)
def test_the_five_hospitals(name: str) -> None:
    y, p = site(name)
    found = estimated(auroc(y, p))
    assert (found.n, found.events) == (printed(name, "n"), printed(name, "events"))
    assert to_printed_digits(found.value, printed(name, "auroc"))
    assert found.se is not None
    assert to_printed_digits(found.se, printed(name, "DeLong SE"))
    assert to_printed_digits(estimated(sensitivity(y, p, 0.5)).value, printed(name, "sens"))
    assert to_printed_digits(estimated(specificity(y, p, 0.5)).value, printed(name, "spec"))


@given(ROWS)
@settings(deadline=None)
def test_auroc_is_the_share_of_pairs_in_order(rows: list[tuple[int, float]]) -> None:
    y, p = arrays(rows)
    found = auroc(y, p)
    if y.sum() in (0, len(y)):
        assert isinstance(found, Absent)
        assert not found.reason.endswith(".")
        return
    found = estimated(found)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high
    cases, others = int(y.sum()), int(len(y) - y.sum())
    if min(cases, others) > 1:
        value, variance = slow_auroc(y, p)
        assert found.value == pytest.approx(value, abs=1e-12)
        if variance > 1e-12 and 0 < value < 1:
            assert found.se == pytest.approx(math.sqrt(variance))
            assert found.method == "DeLong, logit"


def test_auroc_of_the_worked_example() -> None:
    y, p = np.array([0.0, 0, 1, 0, 1, 1]), np.array([0.4, 0.5, 0.6, 0.7, 0.8, 0.8])
    assert estimated(auroc(y, p)).value == pytest.approx(8 / 9, abs=1e-15)


def test_perfect_order_has_an_open_bound_below() -> None:
    y = np.array([0.0] * 6 + [1.0] * 4)
    found = estimated(auroc(y, np.linspace(0, 1, 10)))
    assert (found.value, found.high, found.method) == (1, 1, "Newcombe at (n AUROC + .5)/(n + 1), logit")
    # By hand: A = 10.5/11; Newcombe's formula; 1.959964 standard errors down on the logit scale.
    a = 10.5 / 11
    se = math.sqrt(a * (1 - a) * (1 + 4 * (1 - a) / (2 - a) + 4 * a / (1 + a)) / 24)
    low = 1 / (1 + math.exp(-(math.log(a / (1 - a)) - 1.959963984540054 * se / (a * (1 - a)))))
    assert (found.low, found.se) == pytest.approx((low, se))
    reverse = estimated(auroc(y, np.linspace(1, 0, 10)))
    assert (reverse.value, reverse.low) == (0, 0)


def test_newcombe_is_the_hanley_form() -> None:
    # Newcombe's method 4 is Hanley and McNeil's variance with both class sizes replaced by n/2 in the numerator.
    auc, n, events = 0.8, 60, 30
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    hanley = (auc * (1 - auc) + 29 * (q1 - auc**2) + 29 * (q2 - auc**2)) / (30 * 30)
    assert newcombe_standard_error(auc, n, events) == pytest.approx(math.sqrt(hanley))


def test_a_constant_risk_and_a_single_case_still_have_an_interval() -> None:
    constant = estimated(auroc(np.array([0.0, 1, 0, 1]), np.full(4, 0.3)))
    assert (constant.value, constant.method) == (0.5, "Newcombe, logit")
    single = estimated(auroc(np.array([0.0, 1, 0, 0]), np.array([0.1, 0.3, 0.2, 0.4])))
    assert single.value == pytest.approx(2 / 3)
    assert single.method == "Newcombe, logit"


def test_the_worked_matrix_of_dinga() -> None:
    y = np.array([1.0] * 10 + [0.0] * 990)
    p = np.array([0.9] * 100 + [0.1] * 900)
    assert estimated(sensitivity(y, p, 0.5)).value == 1
    assert estimated(specificity(y, p, 0.5)).value == pytest.approx(0.909091, abs=5e-7)
    assert estimated(ppv(y, p, 0.5)).value == pytest.approx(0.10)
    assert estimated(npv(y, p, 0.5)).value == 1


@needs_shared
def test_thresholds_are_those_of_r() -> None:
    y, p = table()["y"].to_numpy(), table()["p"].to_numpy()
    for expected in r()["core"]["binary:p"]["thresholds"]:
        for function, name in ((sensitivity, "sens"), (specificity, "spec"), (ppv, "ppv"), (npv, "npv")):
            found = estimated(function(y, p, expected["t"]))
            assert found.value == pytest.approx(expected[name]["est"], abs=1e-11)
            assert (found.low, found.high) == pytest.approx(expected[name]["wilson"], abs=1e-11)


def test_positive_means_at_or_above_the_threshold() -> None:
    assert estimated(sensitivity(np.array([1.0, 1.0]), np.array([0.5, 0.4]), 0.5)).value == 0.5


@pytest.mark.parametrize(
    ("function", "y", "p"),
    [
        (sensitivity, [0, 0], [0.1, 0.9]),
        (specificity, [1, 1], [0.1, 0.9]),
        (ppv, [0, 1], [0, 0]),
        (npv, [0, 1], [1, 1]),
    ],
)
def test_a_share_of_nothing_is_absent(function: Any, y: list[float], p: list[float]) -> None:
    found = function(np.array(y, dtype=float), np.array(p, dtype=float), 0.5)
    assert isinstance(found, Absent)
    assert len(found.reason.split()) > 3
    assert isinstance(function(np.array([]), np.array([]), 0.5), Absent)


@given(ROWS)
@settings(deadline=None)
def test_the_area_under_the_roc_curve_is_the_auroc(rows: list[tuple[int, float]]) -> None:
    y, p = arrays(rows)
    found = roc(y, p)
    if y.sum() in (0, len(y)):
        assert isinstance(found, Absent)
        return
    assert isinstance(found, Curve)
    fpr, tpr = (np.array(found.columns[name], dtype=float) for name in ("fpr", "tpr"))
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(tpr, fpr) == pytest.approx(estimated(auroc(y, p)).value)


@pytest.mark.parametrize("kind", ["random", "useless", "staircase"])
def test_a_long_roc_curve_is_thinned_and_keeps_its_area(kind: str) -> None:
    rng = np.random.default_rng(3)
    n = 498 if kind == "staircase" else 5000
    p = rng.random(n)
    y = (rng.random(n) < (p if kind == "random" else 0.3)).astype(float)
    if kind == "staircase":  # 249 steps up and to the right, in time with 250 evenly spaced points
        p, y = np.linspace(1, 0, n), np.tile([1.0, 0.0], n // 2)
    found = roc(y, p)
    assert isinstance(found, Curve)
    fpr, tpr = (np.array(found.columns[name], dtype=float) for name in ("fpr", "tpr"))
    assert len(fpr) <= 250
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= 0).all()
    assert abs(np.trapezoid(tpr, fpr) - estimated(auroc(y, p)).value) < 1e-3
    assert len(roc_vertices(y, p)[0]) == n + 1


def test_the_distribution_of_risk_counts_every_row_in_its_tenth() -> None:
    y = np.array([0.0, 1, 0, 1, 1, 0])
    p = np.array([0.0, 0.1, 0.3, 0.95, 1.0, 0.29])
    found = risk_distribution(y, p)
    assert isinstance(found, Curve)
    assert list(found.columns["events"]) == [0, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    assert list(found.columns["non_events"]) == [1, 0, 1, 1, 0, 0, 0, 0, 0, 0]
    assert found.columns["share_events"][9] == pytest.approx(2 / 3)
    assert found.columns["low"][3] == 0.3
    none = risk_distribution(np.zeros(3), np.full(3, 0.5))
    assert isinstance(none, Curve)
    assert list(none.columns["share_events"]) == [None] * 10
    assert isinstance(risk_distribution(np.array([]), np.array([])), Absent)
