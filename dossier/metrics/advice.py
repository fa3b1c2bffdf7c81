"""The value of the advice: how much a reader may rely on what the model says, and how sure it says it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dossier.core import bands, facts, register
from dossier.core.types import Absent, Curve, Estimate, Floats
from dossier.metrics import intervals, inversion
from dossier.metrics.calibration import BIN_EDGES

BINS = 10
FIRST = 5
"""Below this bin nothing falls: an advice between two classes is at least half sure."""

CALIBRATIONS = ("ece", "eci")


def confidence_of(risk: Floats) -> Floats:
    """How sure the advice is: the risk, or its complement where that is larger (n, 0.5 to 1)."""
    return np.asarray(np.maximum(risk, 1 - risk))


def bins_of(confidence: Floats) -> NDArray[np.int64]:
    """The bin of each confidence: 10 of equal width on 0 to 1, the last one closed."""
    return np.searchsorted(BIN_EDGES, confidence, side="right")


def right_at_half(outcome: Floats, risk: Floats) -> Floats:
    """Whether each advice is right when a risk of 0.5 or more says yes."""
    return np.asarray((risk >= 0.5) == (outcome == 1), dtype=float)


def local_calibration(accuracy: Floats, confidence: Floats, calibration: str) -> Floats:
    """How well accuracy and mean confidence of a bin agree, 1 being perfect.

    `calibration`: "ece", 1 - |accuracy - confidence|; "eci", the gap divided by the largest that it could be.
    """
    gap = np.abs(accuracy - confidence)
    return np.asarray(1 - (gap if calibration == "ece" else gap / np.maximum(confidence, 1 - confidence)))


def _sums(positions: NDArray[np.int64], values: Floats) -> Floats:
    return np.asarray(np.bincount(positions, weights=values, minlength=BINS), dtype=float)


@register.curve(bins=True)
def advice_value(outcome: Floats, risk: Floats) -> Curve | Absent:
    """What an advice is worth by how sure it is: its confidence, less what calibration takes off.

    Returns the five bins of confidence from 0.5 to 1 that an advice between two classes can fall into: `lower`,
    `upper`, `count`, `share` (the distribution of the advice), `confidence` and `accuracy` (means) and `value_ece`,
    `value_eci`: confidence x local calibration, on the scale of the expected calibration error or of the ECI. The last
    four are missing in a bin of fewer than five, whose mean would be that of a few people and give one's risk away.
    Absent without rows. Source: Campagner 2023.
    """
    columns = columns_of_advice(confidence_of(risk), right_at_half(outcome, risk), FIRST)
    return Curve(columns, len(outcome), METHOD_OF_BINS, int(outcome.sum()))


METHOD_OF_BINS = facts.Method("bins_of_confidence")


def columns_of_advice(sure: Floats, right: Floats, first: int) -> dict[str, tuple[float | None, ...]]:
    """The columns of `advice_value`, from the bin `first` on: how sure each advice is, and whether it is right."""
    positions = bins_of(sure)
    count = _sums(positions, np.ones(len(sure)))
    some = np.maximum(count, 1)
    mean, accuracy = _sums(positions, sure) / some, _sums(positions, right) / some

    def kept(values: Floats) -> tuple[float | None, ...]:
        return tuple(float(values[k]) if count[k] >= bands.SMALLEST_GROUP else None for k in range(first, BINS))

    values = {f"value_{name}": kept(mean * local_calibration(accuracy, mean, name)) for name in CALIBRATIONS}
    return {
        "lower": tuple(k / BINS for k in range(first, BINS)),
        "upper": tuple((k + 1) / BINS for k in range(first, BINS)),
        "count": tuple(float(count[k]) for k in range(first, BINS)),
        "share": tuple(float(count[k]) / len(sure) for k in range(first, BINS)),
        "confidence": kept(mean),
        "accuracy": kept(accuracy),
        **values,
    }


@register.metric(at=("calibration",), breaks=("one class is absent",), clustered="value only")
def advisor_value(
    outcome: Floats, risk: Floats, calibration: str = "ece", level: float = 0.95, bootstrap: int = 1000, seed: int = 1
) -> Estimate | Absent:
    """How sure the model's advice is on average, once overconfidence and underconfidence are taken off.

    1 is always sure and always right. A high value asks for both: an advice of even odds is worth at most one half.

    Parameters
    ----------
    calibration : str
        "ece" or "eci", how local calibration is measured.

    Returns
    -------
    Estimate or Absent
        The mean over the rows of confidence x local calibration of its bin: confidence max(p, 1-p), right when p >= 0.5
        agrees with the outcome, 10 equal-width bins on 0 to 1, the last one closed; 1 - |accuracy - confidence| for
        "ece", the gap divided by max(confidence, 1 - confidence) for "eci". Absent without rows or for another
        calibration; the bounds are missing for a single row.

    Notes
    -----
    The bounds are those of `ece`, by inverting tests of what calibration takes off, with the sampling of the mean
    confidence added; where this does not refute perfect calibration, the upper bound lies above the mean confidence,
    which perfect calibration would give, or at it where all are equally sure. Source: Campagner 2023; the interval
    Chuang and Lai 2000.
    """
    if calibration not in CALIBRATIONS:
        return Absent(facts.Fact("no_local_calibration", name=calibration))
    order = np.lexsort((outcome, risk))
    sure, right = confidence_of(risk[order]), right_at_half(outcome[order], risk[order])
    return value_of_advice(sure, right, FIRST, calibration, level, bootstrap, seed, int(outcome.sum()))


def value_of_advice(
    sure: Floats,
    right: Floats,
    first: int,
    calibration: str,
    level: float,
    bootstrap: int,
    seed: int,
    events: int | None = None,
) -> Estimate:
    """The `advisor_value` of rows in an order of their own, none of them below the bin `first`.

    `sure` (n, 0 to 1) is how sure each advice is, `right` (n, 0 or 1) whether it is right.
    """
    n, positions = len(sure), bins_of(sure)
    count, of_sure, of_right = (_sums(positions, each)[first:] for each in (np.ones(n), sure, right))
    calibrated = _sums(positions, sure * (1 - sure))[first:] / n
    squares = np.maximum(_sums(positions, (right - sure) ** 2)[first:] / n, calibrated)
    used = squares > 0
    mean, gaps = of_sure / np.maximum(count, 1), (of_right - of_sure) / n
    # Where the mean confidence of a bin is at least one half, it is the largest gap itself, and by ECI counts in full.
    weights = mean if calibration == "ece" else mean / np.maximum(mean, 1 - mean)
    value = max(0.0, float(sure.mean()) - float(np.sum(weights * np.abs(gaps))))
    method = facts.Method(facts.Fact("bins_of_equal_width", bins=BINS), inversion.by_tests(bootstrap))
    if n < 2 or not used.any():
        return Estimate(value, None, None, None, n, method, events, reason=intervals.NO_SPREAD)
    rng = np.random.default_rng(seed)
    noise, spread = rng.standard_normal((bootstrap, BINS - first)), float(np.std(sure, ddof=1)) / math.sqrt(n)
    shift = spread * rng.standard_normal(bootstrap) if spread > 1e-12 else None
    seen = (gaps[used], squares[used], calibrated[used], weights[used])
    lost = inversion.bounds_of_gaps(*seen, n, (1 - level) / 2, noise[:, used], shift)
    low, high = (float(sure.mean()) - bound for bound in lost[::-1])
    if lost[0] < 0:
        method += "upper_above_mean_confidence"
    low, high = max(0.0, min(value, low)), min(1.0, max(value, high))
    return Estimate(value, low, high, level, n, method, events)
