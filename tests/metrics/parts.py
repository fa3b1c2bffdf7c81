"""Parts of measures that tests look at by themselves."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from dossier.core.types import Absent, DecisionCounts, Floats, ReaderStudy
from dossier.metrics.calibration_errors import _summary
from dossier.metrics.graded_accuracy import Integers, weighted_credit
from dossier.metrics.human_factors import _drawn_counts
from dossier.metrics.shares import Design
from dossier.metrics.smooth_curve import curve_at, smooth_curve
from tests.reference.tables import GOLDEN


def h_accuracy_of(
    classes: Integers, scores: Floats, priority: Floats, tau: float, complexity: Floats | None = None
) -> tuple[float, float | None] | Absent:
    """The value and the standard error of an H-accuracy of any number of classes."""
    found = weighted_credit(classes, scores, priority, tau, complexity)
    return found if isinstance(found, Absent) else (found.value, found.se)


def of_counts(aided_wrong: int, aided_right: int, unaided_wrong: int, unaided_right: int) -> ReaderStudy:
    """The study of which only the four counts are known."""
    return ReaderStudy("parallel", DecisionCounts(aided_wrong, aided_right, unaided_wrong, unaided_right))


def replicated_counts(study: ReaderStudy, bootstrap: int, seed: int) -> Floats | None:
    """The four counts of each bootstrap replicate (replicates x 4); None when there are too few readers or cases."""
    drawn = _drawn_counts(study, bootstrap, seed)
    return None if drawn is None else drawn.both


def errors_of_rows(
    outcome: Floats, risk: Floats, quantiles: tuple[float, ...] | None = None
) -> dict[str, float] | Absent:
    """The four calibration errors with every row at its own risk, and knots at any quantiles."""
    smooth = smooth_curve(outcome, risk, quantiles)
    return smooth if isinstance(smooth, Absent) else _summary(np.abs(curve_at(smooth, risk) - risk), Design(len(risk)))


def arrays(rows: list[tuple[int, float]]) -> tuple[Floats, Floats]:
    """The outcomes and the risks of rows that are drawn."""
    return np.array([y for y, _ in rows], dtype=float), np.array([p for _, p in rows], dtype=float)


def table(name: str = "binary.csv") -> pd.DataFrame:
    """A table that the references were reckoned from."""
    return pd.read_csv(GOLDEN / name).astype({"y": float})


def columns(risk: str = "p", name: str = "binary.csv") -> tuple[Floats, Floats]:
    """The outcomes of such a table and a column of risks."""
    read = table(name)
    return read["y"].to_numpy(float), read[risk].to_numpy(float)


def r() -> Any:
    """What R says of the tables."""
    return json.loads((GOLDEN / "r.json").read_text())
