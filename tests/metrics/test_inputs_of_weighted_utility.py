"""What weighted utility is made from: the thresholds and the relevance of single cases, source by source."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from dossier import evaluate, reading
from dossier.core.types import Evidence, Floats
from dossier.metrics.utility import RELEVANCE_OF_CASE, THRESHOLD_OF_CASE, weighted_utility_inputs
from dossier.report import compose, draw
from dossier.report.chapters import supporting
from tests.reference.tables import RATERS, needs_raters
from tests.smallest import HEAD, QUICK, SITE, release_in

Spread = dict[tuple[str, str | None, str], float]


def _spread(outcome: Floats, thresholds: tuple[str, ...], relevance: tuple[str, ...] = (), **columns: Floats) -> Spread:
    rows = weighted_utility_inputs(outcome, thresholds, relevance, **columns)
    return {(description.variable, description.level, description.statistic): description.value for description in rows}


@needs_raters
def test_the_published_raters_have_the_published_means() -> None:
    """methods.md: .446 .554 .543; the automation bias is exactly 1 in 88 of 427 cases and 0 in 81."""
    labels, confidence = (np.loadtxt(RATERS / f"{name}.csv", delimiter=",") for name in ("preds", "confs"))
    sources = ("confidence", "persuasion", "automation_bias")
    found = _spread(np.zeros(427), sources, labels=labels, confidence=confidence)
    means = [round(found[THRESHOLD_OF_CASE, source, "mean"], 3) for source in sources]
    assert means == [0.446, 0.554, 0.543]
    assert found[THRESHOLD_OF_CASE, "automation_bias", "share_one"] == pytest.approx(88 / 427, abs=1e-12)
    assert found[THRESHOLD_OF_CASE, "automation_bias", "share_zero"] == pytest.approx(81 / 427, abs=1e-12)


def test_costs_and_a_column_of_relevance_by_hand() -> None:
    """cost / (cost + benefit) is 0, 1/20 ... 1; of 21 values the quartiles (R's type 7) are the 6th, 11th and 16th."""
    cost = np.arange(21.0)
    relevance = np.where(np.arange(21) < 7, 0.0, 1.0)
    relevance[20] = math.nan
    found = _spread(
        np.zeros(21), ("cost_benefit",), ("weight",), cost=cost, benefit=20 - cost, case_relevance=relevance
    )
    of = {name: found[THRESHOLD_OF_CASE, "cost_benefit", name] for name in ("quantile_25", "median", "quantile_75")}
    assert of == pytest.approx({"quantile_25": 5 / 20, "median": 10 / 20, "quantile_75": 15 / 20})
    assert found[THRESHOLD_OF_CASE, "cost_benefit", "mean"] == pytest.approx(0.5)
    assert found[THRESHOLD_OF_CASE, "cost_benefit", "share_one"] == pytest.approx(1 / 21)
    assert found[RELEVANCE_OF_CASE, "weight", "share_zero"] == pytest.approx(7 / 20)
    assert found[RELEVANCE_OF_CASE, "weight", "share_one"] == pytest.approx(13 / 20)


@pytest.mark.parametrize(("cases", "expected"), [(4, 0), (5, 3), (19, 3), (20, 6)])
def test_few_cases_have_no_quartiles_and_very_few_nothing(cases: int, expected: int) -> None:
    cost: Floats = np.ones(cases)
    assert len(_spread(np.zeros(cases), ("cost_benefit",), cost=cost, benefit=cost)) == expected


def test_a_source_that_is_not_there_has_no_row() -> None:
    assert _spread(np.zeros(30), ("confidence", "cost_benefit"), ("raters",)) == {}


# ---- pages ----------------------------------------------------------------------------------------------------------

COSTS = '[utility]\ncost = "cost"\nbenefit = "benefit"\nrelevance = "weight"\n'


def _evidence(folder: Path, more: str = "") -> Evidence:
    rows = "".join(f"{int(k % 3 == 0)},{0.1 + 0.02 * k:.2f},{k},{30 - k},{0.5 + k % 2 / 2}\n" for k in range(31))
    release_in(folder, f"{HEAD}{QUICK}{SITE}{COSTS}{more}", site__csv=f"outcome,risk,cost,benefit,weight\n{rows}")
    return evaluate.evidence(reading.study(folder))


def test_the_table_has_a_row_for_each_source(tmp_path: Path) -> None:
    evidence = _evidence(tmp_path)
    (table,) = supporting.inputs_of_weighted_utility(evidence)
    rows = {row.label: [cell.text for cell in row.cells] for row in table.rows if row.kind == "row"}
    assert rows["Threshold of a case, costs and benefits"] == ["31", "0.50", "0.25", "0.50", "0.75", "3.2", "3.2"]
    assert rows["Relevance of a case, weight"] == ["31", "0.74", "0.50", "0.50", "1.00", "0.0", "48.4"]
    assert "Inputs of weighted utility." in compose.document(draw.gallery(evidence), "supplement").html


def test_under_a_policy_no_input_is_given(tmp_path: Path) -> None:
    evidence = _evidence(tmp_path, "[disclosure]\nminimum_cell = 4\n")
    inputs = {THRESHOLD_OF_CASE, RELEVANCE_OF_CASE}
    assert not [row for row in evidence.descriptions if row.described.variable in inputs]
    assert not [row for row in evidence.withheld if row.variable in inputs]
    assert supporting.inputs_of_weighted_utility(evidence) == ()
