"""The error severity index over splits, clusters and imputations: the 0 of a part without errors enters no mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dossier import evaluate, reading
from dossier.core.types import Absent, Estimate
from dossier.metrics.severity import NO_ERRORS
from tests.estimated import estimated
from tests.reasons import Said
from tests.smallest import HEAD, QUICK, release_in

RELEASE = f"""{HEAD}{QUICK}
[severity]
weights = [[0, 1.0], [0.5, 0]]
[[dataset]]
name = "development"
role = "development"
file = "development.csv"
"""
NO_MEAN = "there are no errors, and the 0 that the index is by definition enters no mean"
DECLARED = {
    "splits": 'role = "internal"\nsplit = "part"',
    "clusters": 'role = "external"\ncluster = "part"',
    "imputations": 'role = "external"\nimputation = "part"',
}


def _rows(errors: tuple[int, ...]) -> pd.DataFrame:
    """Twenty rows a part, half of them cases; so many of the others are needless alarms, the only errors."""
    tables = []
    for part, wrong in enumerate(errors, start=1):
        y = np.repeat([0.0, 1.0], 10)
        p = np.where(y == 1, np.linspace(0.6, 0.9, 20), np.linspace(0.1, 0.4, 20)).round(3)
        p[:wrong] = 0.8
        tables.append(pd.DataFrame({"outcome": y, "risk": p, "part": part}))
    return pd.concat(tables)


def _index(folder: Path, kind: str, errors: tuple[int, ...]) -> Estimate | Absent:
    """The index of a dataset whose parts have so many errors, each with a severity of one half."""
    _rows((2, 3)).drop(columns="part").to_csv(folder / "development.csv", index=False)
    _rows(errors).to_csv(folder / "here.csv", index=False)
    release = f'{RELEASE}[[dataset]]\nname = "here"\nfile = "here.csv"\n{DECLARED[kind]}\n'
    # A release needs an external dataset.
    release += '[[dataset]]\nname = "elsewhere"\nrole = "external"\nfile = "development.csv"\n'
    found = evaluate.evidence(reading.study(release_in(folder, release)))
    return next(
        result.found for result in found.results if (result.term, result.dataset) == ("error_severity_index", "here")
    )


def test_a_split_without_errors_has_no_index_to_enter_the_mean(tmp_path: Path) -> None:
    assert _index(tmp_path, "splits", (3, 3, 3, 0)) == Said(f"at least one split allows no value: {NO_MEAN}")
    all_wrong_somewhere = estimated(_index(tmp_path, "splits", (3, 1, 2, 1)))
    assert all_wrong_somewhere.value == 5


def test_without_the_only_cluster_that_has_errors_there_is_no_index(tmp_path: Path) -> None:
    found = estimated(_index(tmp_path, "clusters", (4, 0, 0)))
    assert (found.value, found.low, found.high, found.se) == (5, None, None, None)
    assert found.reason == Said(f"without some of the clusters there is no value: {NO_MEAN}")


def test_an_imputation_without_errors_has_no_index_to_enter_the_mean(tmp_path: Path) -> None:
    assert _index(tmp_path, "imputations", (2, 0)) == Said(f"at least one imputation allows no value: {NO_MEAN}")


@pytest.mark.parametrize("kind", DECLARED)
def test_the_index_of_no_errors_in_any_part_is_0_by_definition(tmp_path: Path, kind: str) -> None:
    found = estimated(_index(tmp_path, kind, (0, 0)))
    assert (found.value, found.low, found.high) == (0, None, None)
    if kind == "clusters":
        assert found.reason == NO_ERRORS
