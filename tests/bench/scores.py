"""What one dataset says about an interval or a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dossier.core.types import Absent, Curve, Estimate, Floats

NOMINAL = 0.05


@dataclass(frozen=True)
class Score:
    """Whether the interval held the truth, or the test rejected it; for a band the share of its points."""

    held: float | None
    """None where the dataset allows no interval or p-value."""
    below: float = 0.0
    """The truth lies below the interval; for a test the size that it can attain."""
    above: float = 0.0


NONE = Score(None)


def held(found: Estimate | Absent, truth: float) -> Score:
    """Whether the interval of an estimate holds the truth."""
    if isinstance(found, Absent) or found.low is None or found.high is None:
        return NONE
    return between(found.low, found.high, truth)


def between(low: float | None, high: float | None, truth: float) -> Score:
    """Whether a truth lies between two bounds."""
    if low is None or high is None:
        return NONE
    return Score(float(low <= truth <= high), float(truth < low), float(truth > high))


def band(found: Curve | Absent, truth: Callable[[Mapping[str, Floats]], Floats]) -> Score:
    """The share of the points of a band that hold the truth there, among those with bounds."""
    if isinstance(found, Absent):
        return NONE
    columns = {name: np.array(values, dtype=float) for name, values in found.columns.items()}
    aim, known = truth(columns), ~np.isnan(columns["low"])
    if not known.any():
        return NONE
    below, above = (aim < columns["low"])[known].mean(), (aim > columns["high"])[known].mean()
    return Score(float(1 - below - above), float(below), float(above))


def rejected(p_value: float | None, attainable: float = 0.0) -> Score:
    """Whether a test rejects at .05; `attainable` is the size that a test of counts can reach, 0 for any other."""
    return NONE if p_value is None else Score(float(p_value <= NOMINAL), attainable)
