"""Rows that are not independent, or do not count alike: which measures are asked, and how they get an interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dossier.core.facts import Count, Fact, Method
from dossier.core.register import Band, CurveMaker, Metric, Symmetry, absent_with_its_parts, present
from dossier.core.types import MACRO, Absent, At, Curve, Dataset, Estimate, Floats
from dossier.evaluate import classes
from dossier.evaluate.offered import Site, design_of, seed_of, site_part
from dossier.metrics import intervals, severity, shares, weighted


def dependent(dataset: Dataset) -> bool:
    """Whether the intervals of a dataset cannot be those of independent rows."""
    return dataset.cluster is not None or dataset.weights is not None


def answer(site: Site, metric: Metric, at: At, ask: classes.Answer) -> Estimate | Absent:
    """A measure with an interval by cluster and at the rows' weights, or the reason why it has none."""
    dataset = site.dataset
    # Of an outcome that is known by follow-up each row tells what it contributes.
    contributed = dataset.followed is not None and "outcome" in metric.needs and metric.clustered != "refused"
    if "design" in metric.needs or contributed:
        return ask(site, metric, at)  # it makes its interval itself, of every kind of rows
    if dataset.weights is not None:
        return _at_weights(site, metric, at, ask)
    if metric.clustered == "refused":
        return Absent(Fact("clustered_rows", dataset=dataset.name))
    found = ask(site, metric, at)
    if isinstance(found, Absent) or metric.clustered == "as it is" or severity.without_errors(found):
        return found
    if metric.clustered == "value only":
        return shares.value_only(found, Fact("value_only"), Fact("clustered_rows_no_interval", dataset=dataset.name))
    made = groups_of(site)
    if made.count < made.clusters and _linearizes(metric, at):
        # Random groups of clusters would change with the seed.
        return _linearized(site, metric, at, found)

    def without(group: int) -> Estimate | Absent:
        part = ask(site_part(site, made.of_row != group), metric, at, bootstrap=2, permutations=1)
        return severity.UNDEFINED if severity.without_errors(part) else part

    return shares.by_cluster(found, without, made, site.release.release.level, symmetry_of(metric, at))


@absent_with_its_parts
def _at_weights(site: Site, metric: Metric, at: At, ask: classes.Answer) -> Estimate | Absent:
    """A measure with each row at its weight, or the sentence that refuses the weights."""
    if not _linearizes(metric, at):
        return Absent(Fact("measure_without_weights", dataset=site.dataset.name))
    plain = present(ask(site, metric, at, bootstrap=2, permutations=1))
    answered = present(_linearized(site, metric, at, plain))
    return replace(answered, method=Method("sampling_weights", *answered.method))


def _linearizes(metric: Metric, at: At) -> bool:
    """Whether it is known what each row contributes to a measure; not to a mean over the classes."""
    return metric.weighted is not None and at.get("class") != MACRO


@absent_with_its_parts
def _linearized(site: Site, metric: Metric, at: At, plain: Estimate) -> Estimate | Absent:
    """A measure at the weights of the rows, with the interval that its rows or whole clusters contribute."""
    dataset = site.dataset
    if metric.weighted is None:
        raise TypeError(f"{metric.term.name} has no weighted form")
    outcome, risk = dataset.tested
    weights = np.ones(len(risk)) if dataset.weights is None else dataset.weights
    rows = weighted.Rows(outcome, risk, weights, float(at.get("threshold", 0.5)), dataset.rival)
    whole = present(metric.weighted(rows))
    tested = {"p_value": None} if "p_value" in plain.details else {}
    found = replace(plain, value=whole.value, details={**whole.details, **tested})
    level = site.release.release.level
    return shares.by_linearization(found, whole.linearized, design_of(dataset), level, symmetry_of(metric, at))


def symmetry_of(metric: Metric, at: At) -> Symmetry:
    """Where the interval of a measure is symmetric; the mean of shares over the classes is no share itself."""
    return "plain" if metric.scale == "wilson" and at.get("class") == MACRO else metric.scale


def groups_of(site: Site) -> shares.Groups:
    """The groups of whole clusters that are left out in turn."""
    if site.dataset.cluster is None:
        raise TypeError("only clusters are left out")
    return shares.groups(site.dataset.cluster, seed_of(site.release, site.drawn_as, "clusters"), site.dataset.strata)


# ---- curves ---------------------------------------------------------------------------------------------------------


def curve(site: Site, maker: CurveMaker, ask: Callable[[Site], Curve | Absent]) -> Curve | Absent:
    """A curve whose band is by cluster, without one where the jackknife gives none; refused where it honours no weights
    and the rows have some."""
    if site.dataset.weights is not None and not maker.weighted:
        return Absent(Fact("curve_without_weights", dataset=site.dataset.name))
    found = ask(site)
    if isinstance(found, Absent) or maker.bins or (maker.followed and site.dataset.followed is not None):
        return found
    if maker.band is None:
        if any(name.endswith(("low", "high")) for name in found.columns):
            return Absent(Fact("clustered_rows_no_band", dataset=site.dataset.name))
        return found
    made = None if site.dataset.cluster is None else groups_of(site)
    if made is not None and made.design.obstacle():
        return Absent(Fact("one_cluster_no_band", dataset=site.dataset.name, clusters=Count(1, "cluster")))
    others = tuple(line for line in maker.band.lines if line.column in found.columns and not line.makes_its_own)
    return (
        found if made is None or not others else _jackknifed(site, found, replace(maker.band, lines=others), made, ask)
    )


def _jackknifed(
    site: Site, found: Curve, band: Band, made: shares.Groups, ask: Callable[[Site], Curve | Absent]
) -> Curve | Absent:
    """A curve with the bands that these lines have when whole clusters are left out."""
    parts = [ask(site_part(site, made.of_row != group)) for group in range(made.count)]
    absent = next((part for part in parts if isinstance(part, Absent)), None)
    if absent is not None:
        return Absent(Fact("no_curve_without_some_clusters", reason=absent.reason))
    known = [part for part in parts if isinstance(part, Curve)]
    reach = reach_of_bands(site)
    columns: dict[str, Any] = dict(found.columns)
    for line in band.lines:
        replicates = [_on_axis(part, found, band.axis, line.column) for part in known]
        if any(replicate is None for replicate in replicates) or None in found.columns[line.column]:
            return Absent(Fact("other_points_without_some_clusters", dataset=site.dataset.name))
        values = np.array(found.columns[line.column], dtype=np.float64)
        low, high = shares.band(values, np.array(replicates, dtype=np.float64), made, reach, line.of_shares)
        columns[f"{line.ends}low"], columns[f"{line.ends}high"] = tuple(low.tolist()), tuple(high.tolist())
        if f"{line.ends}se" in columns:
            columns[f"{line.ends}se"] = tuple(((high - low) / (2 * reach)).tolist())
    # The first step says what the curve is; the others how its band was made.
    method = Method(*found.method.steps[:1], Fact("pointwise", by=made.step))
    return replace(found, columns=columns, method=method)


def reach_of_bands(site: Site) -> float:
    """How many standard errors the bands of a site reach to either side."""
    freedom = math.inf if site.dataset.cluster is None else groups_of(site).design.freedom
    return intervals.two_sided_student(site.release.release.level, freedom)


def _on_axis(part: Curve, whole: Curve, axis: str, line: str) -> Floats | None:
    """The line of a part at the points of the whole curve; None where it has other points.

    A part may end before the whole curve does. Beyond its ends it stays as far from the whole curve as it is there.
    """
    values = part.columns.get(line)
    if values is None or None in values or None in whole.columns[line]:
        return None
    ours, theirs = (np.array(curve.columns[line], dtype=np.float64) for curve in (whole, part))
    if not axis:
        return theirs if len(theirs) == len(ours) else None
    at, places = (np.array(curve.columns[axis], dtype=np.float64) for curve in (whole, part))
    inside = np.clip(at, places[0], places[-1])
    return np.asarray(np.interp(inside, places, theirs) + (ours - np.interp(inside, at, ours)))
