"""Subgroups made by hand from seeded numbers: two of one column, three of another with a long name, one too small."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dossier.core import types
from dossier.core.facts import Method
from tests.reasons import because

LABELS = {"Sex": ("female", "male"), "Age at first presentation": ("under 50", "50 to under 70", "70 or more")}
MEASURES = {
    "auroc": 0.8,
    "oe_ratio": 1.1,
    "calibration_slope": 0.9,
    "calibration_intercept": -0.1,
    "ici": 0.04,
    "brier": 0.18,
}
AGAINST = {"against": "complement"}


def of_subgroups(datasets: Sequence[types.DatasetSummary], scale: float, gaps: bool) -> types.SubgroupEvidence:
    """The subgroups of these datasets; every fourth one lacks the columns where there are gaps."""
    rng = np.random.default_rng(11)
    summaries: list[types.SubgroupSummary] = []
    results: list[types.Result] = []
    curves: list[types.CurveResult] = []
    for index, dataset in enumerate(datasets):
        for column, labels in LABELS.items():
            for label in labels:
                size = _size(dataset, label, gaps and index % 4 == 3, column)
                summaries.append(types.SubgroupSummary(dataset.name, column, label, size))
                found = _estimates(rng, size)
                results += _results(found, dataset.name, types.Subset(column, label))
                curve = size if isinstance(size, types.Absent) else _curve(rng, size, scale)
                curves.append(
                    types.CurveResult("calibration_curve", dataset.name, curve, subset=types.Subset(column, label))
                )
    return types.SubgroupEvidence(tuple(summaries), (*results, *_pooled(results)), tuple(curves))


def _size(dataset: types.DatasetSummary, label: str, is_gap: bool, column: str) -> types.SubgroupSize | types.Absent:
    if is_gap:
        return types.Absent(because(f"{dataset.name} has no column {column}"))
    n, events = max(dataset.n // 3, 60), max((dataset.events or 0) // 3, 25)
    return types.SubgroupSize(n, 7 if label == "under 50" else min(events, n - 25), 4)


def _estimates(
    rng: np.random.Generator, size: types.SubgroupSize | types.Absent
) -> dict[str, types.Estimate | types.Absent]:
    if isinstance(size, types.Absent):
        return dict.fromkeys(MEASURES, size)
    if size.rarest < 20:
        few = types.Absent(because(f"too few to tell: {size.rarest} events"))
        return dict.fromkeys(MEASURES, few)
    half = 2 / math.sqrt(size.n)
    made: dict[str, types.Estimate | types.Absent] = {}
    for name, centre in MEASURES.items():
        value = float(np.clip(centre + rng.normal(0, 0.1), 0.01, 0.97 if name == "auroc" else 3))
        low, high = max(value - half, 0.0), value + half if name != "auroc" else min(value + half, 0.999)
        made[name] = types.Estimate(value, low, high, 0.95, size.n, Method("delta_method"), size.events, half / 1.96)
    return made


def _results(found: dict[str, types.Estimate | types.Absent], dataset: str, subset: types.Subset) -> list[types.Result]:
    made = []
    for name, estimate in found.items():
        apart = (
            estimate
            if isinstance(estimate, types.Absent)
            else types.Estimate(0.05, -0.02, 0.12, 0.95, estimate.n, Method("wald"))
        )
        made += [
            types.Result(name, name, dataset, {}, estimate, subset),
            types.Result(name, name, dataset, AGAINST, apart, subset),
        ]
    return made


def _curve(rng: np.random.Generator, size: types.SubgroupSize, scale: float) -> types.Curve | types.Absent:
    if size.rarest < 20:
        return types.Absent(because(f"too few to tell: {size.rarest} events"))
    risk = np.linspace(0.02, 0.95, 100) * scale
    seen = (risk / scale) ** rng.uniform(0.6, 1.6) * scale
    columns = {"risk": risk, "observed": seen, "low": seen * 0.9, "high": np.minimum(seen * 1.1, 1)}
    tidy = {name: tuple(float(value) for value in values) for name, values in columns.items()}
    return types.Curve(tidy, size.n, Method("straight_line"), size.events)


def _pooled(results: Sequence[types.Result]) -> list[types.Result]:
    """The mean of the sites, as if pooled, wherever two have a value."""
    made = []
    for key in dict.fromkeys((result.measure, result.subset, tuple(result.at.items())) for result in results):
        measure, subset, at = key
        here = [
            result.found
            for result in results
            if (result.measure, result.subset, tuple(result.at.items())) == key
            and isinstance(result.found, types.Estimate)
        ]
        found: types.Estimate | types.Absent = types.Absent(because("no site can be pooled, and pooling needs two"))
        if len(here) > 1 and measure in ("auroc", "oe_ratio", "calibration_slope"):
            value = float(np.mean([estimate.value for estimate in here]))
            n = sum(estimate.n for estimate in here)
            events = sum(estimate.events or 0 for estimate in here)
            more = {"k": float(len(here)), "df": len(here) - 1.0}
            found = types.Estimate(value, value - 0.1, value + 0.1, 0.95, n, Method("wald"), events, 0.05, more)
        made.append(types.Result(measure, measure, types.POOLED, dict(at), found, subset))
    return made
