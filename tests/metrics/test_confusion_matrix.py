"""The confusion matrix as a curve: counts by hand, and what is left out when nothing is declared."""

from __future__ import annotations

import numpy as np

from dossier.metrics.severity import confusion_matrix
from tests.estimated import curved
from tests.reasons import Said

WEIGHTS = ((0.0, 0.6), (0.3, 0.0))


def test_two_classes_by_hand() -> None:
    """Three cases at .2, .5 and .9, two others at .1 and .7, threshold .5: a risk of .5 is positive."""
    y, p = np.array([1.0, 1, 1, 0, 0]), np.array([0.2, 0.5, 0.9, 0.1, 0.7])
    found = curved(confusion_matrix(y, p, 0.5, WEIGHTS))
    assert found.columns == {
        "predicted": (0.0, 0.0, 1.0, 1.0),
        "true": (0.0, 1.0, 0.0, 1.0),
        "count": (1.0, 1.0, 1.0, 2.0),
        "severity": (0.0, 0.6, 0.3, 0.0),
    }
    assert (found.n, found.events) == (5, 3)


def test_two_classes_row_by_row() -> None:
    rng = np.random.default_rng(5)
    p = np.round(rng.uniform(size=300), 1)
    y = (rng.uniform(size=300) < p).astype(float)
    found = curved(confusion_matrix(y, p, 0.3))
    assert "severity" not in found.columns
    counts = [[0.0, 0.0], [0.0, 0.0]]
    for label, risk in zip(y, p, strict=True):
        counts[1 if risk >= 0.3 else 0][int(label)] += 1
    assert list(found.columns["count"]) == [*counts[0], *counts[1]]


def test_what_cannot_be_counted_is_absent() -> None:
    empty, y, p = np.array([]), np.array([0.0, 1]), np.array([0.1, 0.2])
    assert confusion_matrix(empty, empty, 0.5) == Said("there are no rows")
    weights = ((0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0))
    assert confusion_matrix(y, p, 0.5, weights) == Said("the severity weights are no table of 2 rows and 2 columns")
