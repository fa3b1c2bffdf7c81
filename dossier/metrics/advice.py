"""The value of the advice: how much a reader may rely on what the model says, and how sure it says it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from dossier.metrics.resampling import block_size, cells_of, draws, percentile
from dossier.register import curve, metric
from dossier.types import Absent, Curve, Estimate, Floats

BINS = 10
FIRST = 5
"""Below this bin nothing falls: an advice between two classes is at least half sure."""

NO_ROWS = Absent("there are no rows")
CALIBRATIONS = ("ece", "eci")
ONE_SIDED = "calibration is not refuted, so the upper bound is the mean confidence's, as if perfectly calibrated"


def confidence_of(risk: Floats) -> Floats:
    """How sure the advice is: the risk, or its complement where that is larger (n, 0.5 to 1)."""
    return np.asarray(np.maximum(risk, 1 - risk))


def bins_of(confidence: Floats) -> NDArray[np.int64]:
    """The bin of each confidence: 10 of equal width on 0 to 1, the last one closed."""
    edges = np.linspace(0, 1, BINS + 1)
    return np.minimum(np.searchsorted(edges, confidence, side="right") - 1, BINS - 1)


def right_at_half(outcome: Floats, risk: Floats) -> Floats:
    """Whether each advice is right when a risk of 0.5 or more says yes."""
    return np.asarray((risk >= 0.5) == (outcome == 1), dtype=float)


def local_calibration(accuracy: Floats, confidence: Floats, calibration: str) -> Floats:
    """How well accuracy and mean confidence of a bin agree, 1 being perfect.

    `calibration`: "ece", 1 - |accuracy - confidence|; "eci", the gap divided by the largest that it could be.
    """
    gap = np.abs(accuracy - confidence)
    return np.asarray(1 - (gap if calibration == "ece" else gap / np.maximum(confidence, 1 - confidence)))


def _sums(place: NDArray[np.int64], values: Floats) -> Floats:
    return np.asarray(np.bincount(place, weights=values, minlength=BINS), dtype=float)


@curve("Advice value", cites="Campagner 2023")
def advice_value(outcome: Floats, risk: Floats) -> Curve | Absent:
    """What an advice is worth by how sure it is: its confidence, less what calibration takes off.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1). Returns the five bins of confidence from 0.5 to 1 that an
    advice between two classes can fall into: `lower`, `upper`, `count`, `share` (the distribution of the advice),
    `confidence` and `accuracy` (means; missing in an empty bin) and `value_ece`, `value_eci`: confidence x local
    calibration, on the scale of the expected calibration error or of the ECI. Absent without rows.
    Source: Campagner 2023.
    """
    if len(outcome) == 0:
        return NO_ROWS
    sure, right = confidence_of(risk), right_at_half(outcome, risk)
    place = bins_of(sure)
    count = _sums(place, np.ones(len(sure)))
    some = np.maximum(count, 1)
    mean, accuracy = _sums(place, sure) / some, _sums(place, right) / some

    def kept(values: Floats) -> tuple[float | None, ...]:
        return tuple(float(values[k]) if count[k] else None for k in range(FIRST, BINS))

    values = {f"value_{name}": kept(mean * local_calibration(accuracy, mean, name)) for name in CALIBRATIONS}
    columns: dict[str, tuple[float | None, ...]] = {
        "lower": tuple(k / BINS for k in range(FIRST, BINS)),
        "upper": tuple((k + 1) / BINS for k in range(FIRST, BINS)),
        "count": tuple(float(count[k]) for k in range(FIRST, BINS)),
        "share": tuple(float(count[k]) / len(sure) for k in range(FIRST, BINS)),
        "confidence": kept(mean),
        "accuracy": kept(accuracy),
        **values,
    }
    return Curve(columns, len(outcome), "10 equal-width bins of confidence on 0 to 1", int(outcome.sum()))


def advisor_of(weights: Floats, confidence: Floats, right: Floats, calibration: str) -> Floats:
    """The advisor value of each replicate: `weights` (replicates x cells) say how often each cell was drawn."""
    place = bins_of(confidence)
    total = np.zeros(len(weights))
    for k in np.unique(place):
        drawn = weights[:, place == k]
        count = drawn.sum(axis=1)
        sure = drawn @ confidence[place == k]
        some = np.maximum(count, 1)
        mean, accuracy = sure / some, drawn @ right[place == k] / some
        total += sure * local_calibration(accuracy, mean, calibration)  # 0 where no row of the bin was drawn
    return np.asarray(total / weights.sum(axis=1))


def calibration_refuted(confidence: Floats, right: Floats, level: float) -> bool:
    """Whether accuracy and confidence of the bins differ by more than chance (chi-squared over the bins)."""
    place = bins_of(confidence)
    gap = _sums(place, right - confidence)
    variance = _sums(place, confidence * (1 - confidence))
    sure = variance <= 0
    if np.any(np.abs(gap[sure]) > 1e-9):
        return True
    statistic = float(np.sum(gap[~sure] ** 2 / variance[~sure]))
    # Half of what the level leaves, since the mean confidence's bound takes the other half.
    return bool(chi2.sf(statistic, max(1, int(np.sum(~sure)))) < (1 - level) / 2)


@metric(
    "Advisor value",
    digits=2,
    range=(0, 1),
    best="higher",
    tier="mission",
    cites="Campagner 2023",
    at=("calibration",),
    breaks=("one class is absent",),
    formula="mean of conf × LC of its bin; conf = max(p, 1 - p), gap = |share right - mean conf| in ten equal bins; "
    "LC = 1 - gap, or with ECI 1 - gap / max(mean conf, 1 - mean conf)",
)
def advisor_value(
    outcome: Floats,
    risk: Floats,
    calibration: str = "ece",
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """How sure the model's advice is on average, once overconfidence and underconfidence are taken off.

    1 is always sure and always right. A high value asks for both: an advice of even odds is worth at most one half.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `calibration` ("ece" or "eci", how local calibration is
    measured), `level`, `bootstrap` (replicates), `seed`. Returns the mean over the rows of confidence x local
    calibration of its bin: confidence max(p, 1-p), right when p >= 0.5 agrees with the outcome, 10 equal-width bins on
    0 to 1, the last one closed; 1 - |accuracy - confidence| for "ece", the gap divided by
    max(confidence, 1 - confidence) for "eci". Bootstrap percentile interval over the rows. Drawing rows again adds to
    the gaps, and a calibrated model lies on the boundary: where a chi-squared test over the bins does not refute
    calibration, the upper bound is that of the mean confidence, which perfect calibration would give. Absent without
    rows or for another calibration. Source: Campagner 2023.
    """
    if len(outcome) == 0:
        return NO_ROWS
    if calibration not in CALIBRATIONS:
        return Absent(f"{calibration} is no way to measure local calibration")
    sure, right = confidence_of(risk), right_at_half(outcome, risk)
    value = float(advisor_of(np.ones((1, len(sure))), sure, right, calibration)[0])
    order = np.lexsort((right, sure))
    cells = cells_of(right[order], sure[order])
    rng = np.random.default_rng(seed)
    size = block_size(cells)
    values, ceilings = [], []
    for begin in range(0, bootstrap, size):
        drawn = draws(cells, min(size, bootstrap - begin), rng)
        values.append(advisor_of(drawn, cells.risk, cells.outcome, calibration))
        ceilings.append(drawn @ cells.risk / len(sure))
    found = percentile(value, np.concatenate(values), bootstrap, level, outcome, "bootstrap")
    if found.high is None or calibration_refuted(sure, right, level):
        return found
    ceiling = float(np.quantile(np.concatenate(ceilings), 0.5 + level / 2))
    return replace(found, high=min(1.0, max(found.high, ceiling)), method=f"{found.method}; {ONE_SIDED}")
