"""What several tests together say of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p values of a family of tests by Holm's correction, in their order: none is wrong more often than one may be.

    Parameters
    ----------
    p_values : Sequence of float
        The raw p values of the family.

    Returns
    -------
    tuple of float
        For the i-th smallest of m, the largest (m - j + 1) p_(j) over j up to i, at most 1.

    References
    ----------
    Holm 1979.

    Examples
    --------
    >>> from dossier.core.multiplicity import holm
    >>> holm((0.01, 0.04, 0.03))
    (0.03, 0.06, 0.06)
    """
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values, kind="stable")
    stepwise = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    found = np.empty(len(values))
    found[order] = np.minimum(stepwise, 1.0)
    return tuple(found.tolist())
