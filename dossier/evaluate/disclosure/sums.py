"""What rests on ranks and sums, as an equation in counts of persons: by how much each of them moves it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dossier.core.types import Absent, Floats
from dossier.evaluate.disclosure import chains, measures
from dossier.metrics import logistic

TRIED = (
    *((1, 1, 1, 1), (2, 1, 1, 1), (5, 1, 1, 1), (10, 2, 1, 1), (10, 5, 2, 1), (20, 10, 5, 2)),
    *((measures.NOT, measures.NOT, 5, 2), (measures.NOT, measures.NOT, measures.NOT, 5)),
)
COARSER = tuple(dict(zip(("fit", "mean", "ratio", "ranks"), each, strict=True)) for each in TRIED)
"""How much coarser numbers are given, in turn, until every small count keeps its values; then none is."""


@dataclass(frozen=True)
class Number:
    """A number that is given."""

    rule: str
    moves: Floats
    """By how much a row of the table would move it without the outcome, and with it: two rows."""
    value: float
    step: float

    def ends(self, coarser: float) -> tuple[float, float]:
        """How far below and above what is true it prints the same."""
        step = measures.above(self.step * coarser)
        middle = measures.in_steps(self.value, step)
        return middle - step / 2 - self.value, middle + step / 2 - self.value


def numbers(outcome: Floats, risk: Floats, counts: chains.Counts) -> Iterator[Number]:
    """What may be given of a model with this table in its ranges."""
    labels, events = np.array([[0.0], [1.0]]), outcome == 1
    for rule, adds in (("ratio", np.tile(risk, (2, 1))), ("mean", (labels - risk) ** 2)):
        value = float(np.where(events, adds[1], adds[0]).mean())
        yield Number(rule, (adds - value) / len(risk), value, measures.one_person(rule, counts))
    above, below = _rank(risk, risk[~events]), 1 - _rank(risk, risk[events])
    auroc = float(above[events].mean())
    ranked = np.array([(below - auroc) / (~events).sum(), (above - auroc) / events.sum()])
    yield Number("ranks", ranked, auroc, measures.one_person("ranks", counts))
    odds = logistic.logit(risk)
    joint = np.vstack((np.ones_like(odds), odds))
    fits = (*((("calibration_intercept",), np.ones((1, len(odds))), odds), (tuple(measures.JOINT), joint, 0 * odds)),)
    for terms, design, offset in fits:
        fit = logistic.logistic_fit(design, outcome, offset)
        if isinstance(fit, Absent):
            continue
        chance = logistic.expit(offset + logistic.combine(fit.coefficients[None, :], design)[0])
        towards = logistic.combine(fit.covariance, design)
        for term, value, each in zip(terms, fit.coefficients, towards, strict=True):
            yield Number("fit", each * (labels - chance), float(value), measures.one_person("fit", counts, term))


def _rank(risk: Floats, among: Floats) -> Floats:
    """The share of some risks that lie below each, ties counted by half."""
    ordered = np.sort(among)
    ends = np.searchsorted(ordered, risk, "left") + np.searchsorted(ordered, risk, "right")
    return np.asarray(ends / (2 * len(among)))
