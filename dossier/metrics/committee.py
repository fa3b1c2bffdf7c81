"""What happens to patients at the declared thresholds, in whole people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dossier.core.facts import Fact, Method
from dossier.core.register import curve, curve_synthesis, present
from dossier.core.types import Absent, Curve, Floats, SiteResults, found_curve, largest_remainder
from dossier.metrics.discrimination import confusion

CELLS = ("true_positive", "false_positive", "false_negative", "true_negative")


@curve(roles=("external",), given="anything")
def classification(outcome: Floats, risk: Floats, declared_thresholds: tuple[float, ...]) -> Curve | Absent:
    """How many patients with and without the outcome lie at or above each declared threshold, and below it.

    `outcome` holds 0 and 1, `risk` probabilities of the same length; positive means risk >= threshold. Absent when no
    threshold is declared.
    """
    if not declared_thresholds:
        return Absent(Fact("no_threshold_declared"))
    rows = [(threshold, *confusion(outcome, risk, threshold).four) for threshold in declared_thresholds]
    columns = zip(("threshold", *CELLS), zip(*rows, strict=True), strict=True)
    return Curve(
        {name: tuple(float(value) for value in column) for name, column in columns},
        n=len(outcome),
        events=int(outcome.sum()),
        method=Method("counts_from_threshold_on"),
    )


@curve(roles=("external",))
def per_thousand_of_site(outcome: Floats, risk: Floats, declared_thresholds: tuple[float, ...]) -> Curve | Absent:
    """What happens to 1,000 patients like those of one site, at each declared threshold.

    The counts of `classification` (`outcome` holds 0 and 1, `risk` probabilities of the same length) brought to 1,000
    by largest remainder, so that they add up exactly. Absent when no threshold is declared or the site has no rows.
    """
    counts = present(classification(outcome, risk, declared_thresholds))
    shares = _brought_to_a_thousand(np.array([counts.columns[name] for name in CELLS], dtype=float))
    columns = {"threshold": counts.columns["threshold"], **shares}
    return Curve(columns, counts.n, Method("counts", "brought_to_1000"), counts.events)


@curve_synthesis()
def per_thousand(sites: Sequence[SiteResults]) -> Curve | Absent:
    """What happens to 1,000 patients like those of all external sites together, at each declared threshold.

    The counts of the sites are added up and brought to 1,000 by largest remainder, so that they add up exactly. Absent
    when no site has counts, for the reason of the first.
    """
    asked = [found_curve(site, "classification") for site in sites]
    counted = [found for found in asked if isinstance(found, Curve)]
    if not counted:
        return next((found for found in asked if isinstance(found, Absent)), Absent(Fact("no_threshold_declared")))
    thresholds = counted[0].columns["threshold"]
    cells = np.array([[curve.columns[name] for name in CELLS] for curve in counted], dtype=float).sum(axis=0)
    return Curve(
        {"threshold": thresholds, **_brought_to_a_thousand(cells)},
        n=sum(curve.n for curve in counted),
        events=sum(curve.events or 0 for curve in counted),
        method=Method(Fact("counts_of_sites", sites=len(counted), of=len(sites)), "brought_to_1000"),
    )


def _brought_to_a_thousand(cells: Floats) -> dict[str, tuple[float, ...]]:
    """The four counts of each threshold (4 x thresholds), so that they add up to 1,000."""
    shares = np.array([largest_remainder(column, 1000) for column in cells.T]).T
    return {name: tuple(map(float, row)) for name, row in zip(CELLS, shares, strict=True)}
