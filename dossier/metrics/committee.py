"""How many patients lie on each side of the declared thresholds."""

from __future__ import annotations

from dossier.core import facts, register
from dossier.core.types import CELLS, Absent, Curve, Floats
from dossier.metrics.discrimination import confusion


@register.curve(roles=("external",))
def classification(outcome: Floats, risk: Floats, declared_thresholds: tuple[float, ...]) -> Curve | Absent:
    """How many patients with and without the outcome lie at or above each declared threshold, and below it.

    `outcome` holds 0 and 1, `risk` probabilities of the same length; positive means risk >= threshold. Absent when no
    threshold is declared or the site has no rows.
    """
    if not declared_thresholds:
        return Absent(facts.Fact("no_threshold_declared"))
    rows = [(threshold, *confusion(outcome, risk, threshold).four) for threshold in declared_thresholds]
    columns = zip(("threshold", *CELLS), zip(*rows, strict=True), strict=True)
    return Curve(
        {name: tuple(float(value) for value in column) for name, column in columns},
        n=len(outcome),
        events=int(outcome.sum()),
        method=facts.Method("counts_from_threshold_on"),
    )
