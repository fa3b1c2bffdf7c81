"""Evidence -> Gallery: every figure, as SVG at its printed size."""

from __future__ import annotations

from collections.abc import Sequence

import joblib

from dossier.core import collector, register, types
from dossier.typeset import labels


def gallery(evidence: types.Evidence, jobs: int = 1) -> types.Gallery:
    """Every picture that the evidence allows, and the reason for each that it does not; `jobs` draw side by side."""
    names = list(register.fill("report.figures").figures)
    # First those of seaborn, which loads longer than others draw; every so many-th together, as neighbours are alike.
    of_seaborn = [name for name in names if name.endswith("_ridges")]
    rest, shares = [name for name in names if name not in of_seaborn], 1 if jobs == 1 else 3 * jobs
    parts, shown = [of_seaborn, *(rest[index::shares] for index in range(shares))], labels.printed(evidence)
    calls = (joblib.delayed(_drawn)(part, shown) for part in parts)
    drawn = {name: picture for part in joblib.Parallel(n_jobs=jobs)(calls) for name, picture in part.items()}
    pictures = {name: picture for name in names if isinstance(picture := drawn[name], types.Picture)}
    absent = {name: picture.reason for name in names if isinstance(picture := drawn[name], types.Absent)}
    return types.Gallery(evidence, pictures, absent)


def at_hospitals(gallery: types.Gallery, datasets: Sequence[str | None]) -> list[types.Gallery]:
    """The gallery with the committee's pictures as they are for each of these hospitals, of which None is none."""
    names = [name for name in register.fill("report.figures").figures if name.startswith("committee_")]
    kept = {name: each for name, each in gallery.pictures.items() if name not in names}
    shown, galleries = labels.printed(gallery.evidence), []
    for dataset in datasets:
        drawn = _drawn(names, shown.at_hospital(dataset))
        pictures = {name: each for name, each in drawn.items() if isinstance(each, types.Picture)}
        galleries.append(types.Gallery(gallery.evidence.at_hospital(dataset), kept | pictures, gallery.absent))
    return galleries


def image(evidence: types.Evidence, name: str, kind: str, dpi: int) -> bytes | types.Absent:
    """One figure as a file of another kind: png, pdf or tiff."""
    from dossier.report.figures import canvas

    return canvas.image(register.fill("report.figures").figures[name].function, labels.printed(evidence), kind, dpi)


def picture(evidence: types.Evidence, name: str) -> types.Picture | types.Absent:
    """One figure as SVG, or the reason why the evidence does not allow it."""
    return _drawn([name], labels.printed(evidence))[name]


def _drawn(names: Sequence[str], evidence: types.Evidence) -> dict[str, types.Picture | types.Absent]:
    from dossier.report.figures.canvas import styled

    makers = register.fill("report.figures").figures
    with collector.held_off(), styled():
        return {name: makers[name].function(evidence) for name in names}
