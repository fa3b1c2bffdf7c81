"""Where the tests find what they compare with, all of it inside the repository.

The tables of covid and of the raters are not ours to pass on. `make tables FROM=DIR` copies them from a folder that
holds both; without them the tests that need them are left out, and the head of the run says which lane lacks what.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from dossier.core.types import Floats

REFERENCE = Path(__file__).resolve().parent
RELEASES = REFERENCE.parent / "releases"
GOLDEN = REFERENCE / "golden"
HEART = RELEASES / "heart"
COVID = RELEASES / "covid"
RATERS = REFERENCE / "raters"
EXPECTED = REFERENCE / "expected.md"
"""The numbers of the real sites, as the sheet of methods prints them."""

MAY_NOT_TRAVEL = {"covid": COVID / "training.csv", "raters": RATERS / "preds.csv"}
"""By the name of its mark: a table that is there when all of them are."""
needs_covid = pytest.mark.tables("covid")
needs_raters = pytest.mark.tables("raters")


def lacking() -> frozenset[str]:
    """Which of the tables that may not travel are not there."""
    return frozenset(name for name, table in MAY_NOT_TRAVEL.items() if not table.is_file())


def printed(name: str, column: str) -> float:
    """A number of the table of methods.md."""
    lines = [line for line in EXPECTED.read_text().splitlines() if line.startswith("|")]
    head = next(line for line in lines if line.startswith("| site |"))
    row = next(line for line in lines if line.startswith(f"| {name} |"))
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in (head, row)]
    return float(cells[1][cells[0].index(column)])


def site(name: str) -> tuple[Floats, Floats]:
    """The outcomes and risks of one of the hospitals."""
    read = pd.read_csv(COVID / f"{name}.csv")
    return read["outcome"].to_numpy(float), read["risk"].to_numpy(float)
