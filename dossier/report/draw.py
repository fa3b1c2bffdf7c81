"""Evidence -> Gallery: every figure, as SVG at its printed size."""

from __future__ import annotations

from collections.abc import Sequence

import joblib

from dossier.core import collector
from dossier.core.register import fill
from dossier.core.types import Absent, Evidence, Gallery, Picture
from dossier.typeset.labels import labelled, unbroken_names


def gallery(evidence: Evidence, jobs: int = 1) -> Gallery:
    """Every picture that the evidence allows, and the reason for each that it does not; `jobs` draw side by side."""
    names = list(fill("report.figures").figures)
    # Every so many-th to each worker: neighbours are alike, and so are the slow ones.
    shares = [names[index::jobs] for index in range(min(jobs, len(names)))]
    drawn: dict[str, Picture | Absent] = {}
    shown = unbroken_names(labelled(evidence))
    for part in joblib.Parallel(n_jobs=len(shares))(joblib.delayed(_drawn)(share, shown) for share in shares):
        drawn |= part
    pictures = {name: picture for name in names if isinstance(picture := drawn[name], Picture)}
    absent = {name: picture.reason for name in names if isinstance(picture := drawn[name], Absent)}
    return Gallery(evidence, pictures, absent)


def _drawn(names: Sequence[str], evidence: Evidence) -> dict[str, Picture | Absent]:
    from dossier.report.figures.canvas import styled

    makers = fill("report.figures").figures
    with collector.held_off(), styled():
        return {name: makers[name].function(evidence) for name in names}
