"""What the tests of whole builds share: where the reference values lie, and how results.json is asked."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from dossier import evaluate, reading
from dossier.command_line import initial
from dossier.core.types import Study
from dossier.record import results
from tests.reference.tables import EXPECTED

REPOSITORY = Path(__file__).resolve().parents[2]


def study(folder: str) -> Study:
    """A release of the repository."""
    return reading.study(REPOSITORY / folder)


def example(folder: Path) -> Path:
    """The folder, with the release in it that `dossier init` writes."""
    for name, content in initial.files().items():
        (folder / name).write_bytes(content)
    return folder


def hurried(read: Study, bootstrap: int = 2, permutations: int = 1) -> Study:
    """The same study with few resamples, for tests that look at nothing that is resampled."""
    resampling = read.release.resampling.model_copy(update={"bootstrap": bootstrap, "permutations": permutations})
    return replace(read, release=read.release.model_copy(update={"resampling": resampling}))


def results_of(read: Study) -> dict[str, Any]:
    """results.json of a study, as a reader of the file sees it."""
    found: dict[str, Any] = json.loads(results.of(evaluate.evidence(read)).text())
    return found


def rows(document: dict[str, Any], measure: str, dataset: str, /, **at: float | str) -> list[dict[str, Any]]:
    """The estimates of a measure in a dataset at exactly these settings."""
    return [
        estimate
        for estimate in document["estimates"]
        if (estimate["measure"], estimate["dataset"], estimate["subset"], estimate["at"])
        == (measure, dataset, None, at)
    ]


def row(document: dict[str, Any], measure: str, dataset: str, /, **at: float | str) -> dict[str, Any]:
    """The one estimate of a measure in a dataset at exactly these settings."""
    (found,) = rows(document, measure, dataset, **at)
    return found


def methods() -> str:
    """The page of the numbers that the measures must give on real tables."""
    return EXPECTED.read_text(encoding="utf-8")


def simulation_error(p_value: float, permutations: int) -> float:
    """How far two permutation p-values of the same data may lie apart.

    Each of the two, the printed one and ours, is a share of about so many draws, with the binomial standard error;
    four of them for the difference, and half of the last digit printed.
    """
    return 4 * math.sqrt(2 * p_value * (1 - p_value) / permutations) + 0.005
