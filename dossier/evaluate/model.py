"""The model's formula: the points of its predictors, which belong to no site."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dossier.core.facts import Fact
from dossier.core.types import MODEL, Absent, Curve, CurveResult, DescriptionResult, Feature, Study
from dossier.evaluate.offered import refuse_a_bad_curve
from dossier.metrics import nomogram


@dataclass(frozen=True)
class Points:
    """The points of the model: curves of its numeric predictors and of the total, levels of its categories."""

    curves: tuple[CurveResult, ...] = ()
    descriptions: tuple[DescriptionResult, ...] = ()


def points(study: Study) -> Points:
    """The points nomogram of the model, where the release gives its formula."""
    model = study.release.model
    if model is None:
        return Points()
    reference = {name: _reference(study, name) for name in model.predictors}
    known = {name: feature for name, feature in reference.items() if feature is not None}
    lacking = [name for name in reference if name not in known]
    found = Absent(Fact("no_dataset_holds", predictors=tuple(lacking))) if lacking else nomogram.nomogram(model, known)
    if isinstance(found, Absent):
        return Points((CurveResult("points_total", MODEL, found),))
    numeric = [axis for axis in found.axes if axis.levels is None]
    curves = (
        *(CurveResult("points", MODEL, nomogram.axis_curve(found, axis), axis.at) for axis in numeric),
        CurveResult("points_total", MODEL, nomogram.total_curve(found)),
        CurveResult("points_risk", MODEL, nomogram.risk_curve(found, study.release.thresholds.declared)),
    )
    for curve in curves:
        if isinstance(curve.found, Curve):
            refuse_a_bad_curve(curve.curve, MODEL, curve.found)
    levels = (row for axis in found.axes for row in nomogram.level_points(found, axis))
    return Points(curves, tuple(DescriptionResult(MODEL, row) for row in levels))


def _reference(study: Study, predictor: str) -> Feature | None:
    """The rows that say how far an axis reaches: those of the development table, else of all others together.

    None where no dataset has a value.
    """
    holders = [
        (dataset.role, feature)
        for dataset in study.datasets
        for feature in dataset.predictors
        if feature.name == predictor
    ]
    known = [(role, feature) for role, feature in holders if not np.isnan(feature.values).all()]
    rows = [feature for role, feature in known if role == "development"] or [feature for _, feature in known]
    if not rows:
        return None
    return Feature(predictor, np.concatenate([feature.values for feature in rows]), rows[0].levels)
