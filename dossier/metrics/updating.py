"""What an update would do: risks that are recalibrated at the hospital where they are tested, and how they do there.

An update is fitted to the rows that it would be judged by. So each row gets the risk of updates that were fitted
without it, and every measure of an updated model is one of these risks. Nothing is ever applied to patients.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dossier.core.facts import Fact
from dossier.core.register import absent_with_its_parts, present
from dossier.core.types import Absent, Floats
from dossier.metrics import calibration, logistic
from dossier.metrics.shares import Design, Sampled
from dossier.metrics.weighted import Rows

FOLDS, REPEATS = 10, 10
LEVEL = 0.05
"""The level of each step of the closed test."""


@dataclass(frozen=True)
class Update:
    """A recalibration: the log odds of the new risk are intercept + slope times those of the old one."""

    intercept: float = 0.0
    slope: float = 1.0
    choice: str = "as_is"
    """What is changed: nothing, the intercept, or intercept and slope."""

    def risk(self, risk: Floats) -> Floats:
        """The new risks; those of 0 and 1 have no log odds and stay."""
        new = expit(self.intercept + self.slope * logistic.logit(risk))
        return np.where(logistic.has_logit(risk), new, risk)


@absent_with_its_parts
def fitted(outcome: Floats, risk: Floats, method: str, design: Sampled = None) -> Update | Absent:
    """The update by a method, fitted to all of these rows at their weights.

    `method` is "intercept", "logistic" (intercept and slope) or "closed_test", which changes as much as the rows
    support: nothing unless intercept and slope together differ from 0 and 1, the intercept alone unless the slope then
    differs from 1, each at a level of 0.05. Source: Vergouwe 2017, without re-estimated predictors.
    """
    design = design or Design(len(outcome))
    if method == "closed_test":
        method = present(closed_test(outcome, risk, design))[0]
    if method == "as_is":
        return Update()
    alike = design.weights is None
    rows = Rows(outcome, risk, np.ones(len(outcome)) if design.weights is None else design.weights, alike=alike)
    if method == "intercept":
        return Update(float(present(calibration.INTERCEPT.fitted(rows)).fit.coefficients[0]), choice=method)
    intercept, slope = present(calibration.SLOPE.fitted(rows)).fit.coefficients.tolist()
    return Update(intercept, slope, method)


@absent_with_its_parts
def closed_test(outcome: Floats, risk: Floats, design: Design) -> tuple[str, dict[str, float | None]] | Absent:
    """What the closed test changes, with the statistics and p values of its steps."""
    joint = present(calibration.calibration_test(outcome, risk, design=design))
    slope = present(calibration.test_of_slope(outcome, risk, design))
    details = {"joint": joint.value, "p_joint": joint.details["p_value"], "slope": slope[0], "p_slope": slope[1]}
    if details["p_joint"] is None:
        return Absent(Fact("one_unit_no_interval", units=design.over))
    if details["p_joint"] > LEVEL:
        return "as_is", details
    return "logistic" if details["p_slope"] is not None and details["p_slope"] <= LEVEL else "intercept", details


def folds(design: Design, seed: int) -> Iterator[NDArray[np.int64]]:
    """The fold of each row in each repeat: all rows of a cluster are in one."""
    unit = np.arange(design.n) if design.cluster is None else np.unique(design.cluster, return_inverse=True)[1]
    units = int(unit.max()) + 1
    rng = np.random.default_rng(seed)
    for _ in range(REPEATS):
        yield rng.permutation(np.arange(units) % FOLDS)[unit]


@dataclass(frozen=True)
class OutOfFold:
    """The risk of each row by updates that were fitted without it, on average over the repeats."""

    risk: Floats
    choices: tuple[str, ...]
    """What the updates of the folds changed, each once."""


@absent_with_its_parts
def held_out(
    outcome: Floats, risk: Floats, method: str, design: Design, each: Iterator[NDArray[np.int64]]
) -> OutOfFold | Absent:
    """The updated risk of each row by updates of the other folds, of one row of folds after another."""
    total, repeats, choices = np.zeros(len(risk)), 0, set()
    for fold in each:
        for number in np.unique(fold):
            out = fold == number
            update = present(fitted(outcome[~out], risk[~out], method, design.of(~out)))
            total[out] += update.risk(risk[out])
            choices.add(update.choice)
        repeats += 1
    return OutOfFold(total / repeats, tuple(sorted(choices)))
