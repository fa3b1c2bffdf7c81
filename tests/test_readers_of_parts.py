"""Parts of a dataset that readers judged: clusters and splits cut the tables of the readers as they cut the rows."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from dossier import evaluate, reading
from dossier.core.types import Estimate, Evidence, Floats
from tests.reasons import Said
from tests.smallest import HEAD, QUICK, release_in

STUDY = f"""{HEAD}{QUICK}
[readers]
labels = "labels.csv"
confidence = "confidence.csv"
complexity = "complexity.csv"
dataset = "here"
case = "case"
header = true
[h_accuracy]
priority = [0.5]
tau = [0.75]
complexity = {{ from = "raters" }}
[utility]
gamma = [1]
relevance = {{ from = "raters" }}
tau_from = ["confidence"]
[[dataset]]
name = "development"
role = "development"
file = "elsewhere.csv"
[[dataset]]
name = "elsewhere"
role = "external"
file = "elsewhere.csv"
"""
Cases = NDArray[np.int64]
ROWS = 40
PARTS = np.repeat(np.arange(8), 5)


def _rows(folder: Path, dataset: str, part: str, cases: Cases) -> pd.DataFrame:
    """A release of one dataset, whose part is named in a column, and its raters, who judged these of its rows."""
    rng = np.random.default_rng(4)
    y = np.tile([0.0, 1.0], ROWS // 2)
    rows = pd.DataFrame({"id": [f"c{k}" for k in range(ROWS)], "outcome": y, "part": PARTS})
    rows["risk"] = np.clip(0.25 + 0.5 * y + rng.normal(scale=0.2, size=ROWS), 0.02, 0.98).round(3)
    # The first row is read and not analysed: the rows of the tables and of the analysis are then not the same.
    unknown = pd.DataFrame({"id": ["left out"], "outcome": [math.nan], "part": [0], "risk": [0.5]})
    pd.concat([unknown, rows]).to_csv(folder / "here.csv", index=False)
    rows[["outcome", "risk"]].to_csv(folder / "elsewhere.csv", index=False)
    wrong = rng.random((ROWS, 3)) < np.linspace(0.05, 0.5, ROWS)[:, None]
    for name, values in {
        "labels": np.abs(y[:, None] - wrong),
        "confidence": rng.choice([0.5, 0.7, 0.9], (ROWS, 3)),
        "complexity": rng.choice([0.1, 0.5, 0.8], (ROWS, 3)),
    }.items():
        table = pd.DataFrame(values, columns=["a", "b", "c"])
        table.insert(0, "case", rows["id"])
        # In an order of their own: they are linked by their identifiers.
        table.iloc[cases[::-1]].to_csv(folder / f"{name}.csv", index=False)
    (folder / "release.toml").write_text(f'{STUDY}[[dataset]]\nname = "here"\n{dataset}\nid = "id"\n{part}\n')
    return rows


def _labels(folder: Path, rows: pd.DataFrame) -> Floats:
    return pd.read_csv(folder / "labels.csv").set_index("case").reindex(rows["id"]).to_numpy(dtype=float)


def _agreement(labels: Floats) -> float:
    """The share of agreeing pairs, pair by pair and case by case."""
    judged = labels[~np.isnan(labels).all(axis=1)]
    return float(np.mean([np.mean([a == b for a, b in itertools.combinations(row, 2)]) for row in judged]))


def _found(evidence: Evidence, term: str, **at: object) -> Estimate:
    found = next(
        result.found
        for result in evidence.results
        if (result.term, result.dataset) == (term, "here")
        and all(result.at.get(name) == value for name, value in at.items())
    )
    assert isinstance(found, Estimate), found
    return found


def test_a_cluster_that_is_left_out_takes_the_cases_along_that_the_readers_judged(tmp_path: Path) -> None:
    cases = np.flatnonzero(np.arange(ROWS) % 5 < 3)
    rows = _rows(tmp_path, 'role = "external"\nfile = "here.csv"', 'cluster = "part"', cases)
    found = _found(evaluate.evidence(reading.study(tmp_path)), "observed_agreement")
    labels = _labels(tmp_path, rows)
    without = np.array([_agreement(labels[part != rows["part"].to_numpy()]) for part in range(8)])
    error = math.sqrt(7 / 8 * float(((without - without.mean()) ** 2).sum()))
    assert found.n == 24
    assert found.value == pytest.approx(_agreement(labels))
    assert found.se == pytest.approx(error)
    half = stats.t.ppf(0.975, 7) * error
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half))


SPLITS = 'role = "internal"\nfile = "here.csv"'


def test_the_value_of_a_split_is_that_of_its_own_cases(tmp_path: Path) -> None:
    rows = _rows(tmp_path, SPLITS, 'split = "part"', np.arange(ROWS))
    evidence = evaluate.evidence(reading.study(tmp_path))
    labels = _labels(tmp_path, rows)
    values = [_agreement(labels[rows["part"].to_numpy() == part]) for part in range(8)]
    found = _found(evidence, "observed_agreement")
    assert found.value == pytest.approx(np.mean(values))
    assert found.value == pytest.approx(_agreement(labels))
    # Nadeau and Bengio: each of eight splits tests on 5 of 40 rows.
    assert found.se == pytest.approx(math.sqrt(1 / 8 + 5 / 35) * np.std(values, ddof=1))


@pytest.mark.slow
def test_measures_that_read_the_raters_row_by_row_are_those_of_each_split_read_alone(tmp_path: Path) -> None:
    """Confidence, complexity and truth are cut with the labels."""
    rows = _rows(tmp_path, SPLITS, 'split = "part"', np.arange(ROWS))
    together = evaluate.evidence(reading.study(tmp_path))
    alone = []
    for part in range(8):
        folder = tmp_path / str(part)
        folder.mkdir()
        ours = np.flatnonzero(rows["part"] == part)
        for name in ("labels", "confidence", "complexity"):
            table = pd.read_csv(tmp_path / f"{name}.csv").set_index("case").loc[rows["id"].iloc[ours]]
            table.reset_index().to_csv(folder / f"{name}.csv", index=False)
        rows.iloc[ours].to_csv(folder / "here.csv", index=False)
        rows[["outcome", "risk"]].to_csv(folder / "elsewhere.csv", index=False)
        release = (tmp_path / "release.toml").read_text().replace('split = "part"\n', "")
        alone.append(evaluate.evidence(reading.study(release_in(folder, release))))
    for term, at in (
        ("h_accuracy", {"complexity": "raters", "priority": 0.5, "tau": 0.5}),
        ("weighted_utility", {"tau": "confidence", "relevance": "raters"}),
        ("weighted_concordance", {}),
        ("actual_accuracy", {}),
    ):
        values = [_found(evidence, term, **at).value for evidence in alone]
        assert len(set(values)) > 1
        assert _found(together, term, **at).value == pytest.approx(np.mean(values)), term


def test_a_split_of_which_the_readers_judged_nothing_gives_the_reason(tmp_path: Path) -> None:
    _rows(tmp_path, SPLITS, 'split = "part"', np.arange(5, ROWS))
    evidence = evaluate.evidence(reading.study(tmp_path))
    found = next(
        result.found for result in evidence.results if (result.term, result.dataset) == ("observed_agreement", "here")
    )
    assert found == Said("at least one split allows no value: no case was labelled by two raters")
