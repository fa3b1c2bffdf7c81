"""Multiply imputed tables: each imputation measured as a site of its own, then pooled; beside it the complete cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from dossier.core import facts, register, types
from dossier.core.release import Release
from dossier.evaluate import classes, dependent, subgroups
from dossier.evaluate.offered import Site, part_of, refuse_a_bad_curve, refuse_what_is_no_number
from dossier.evaluate.site import SiteEvidence, described, inside, site_evidence
from dossier.metrics import imputations, severity

Part = TypeVar("Part", types.SiteResults, types.SubgroupEvidence)
"""What was found of all rows, or of subgroups."""


def of_site(site: Site) -> tuple[SiteEvidence, types.SubgroupEvidence]:
    """All of one imputed dataset and of its subgroups."""
    dataset = site.dataset
    each = [replace(site, dataset=imputation) for imputation in dataset.imputations]
    # The rows that had everything before anything was imputed; None where they are not given or there are none.
    complete = None if dataset.original is None else _with_risk(dataset.original)
    of_complete = None if complete is None else replace(site, dataset=complete, readers=None)
    parts = [site_evidence(imputation) for imputation in each]
    whole = None if of_complete is None else site_evidence(of_complete).site
    groups = [subgroups.of_site(imputation) for imputation in each]
    group = None if of_complete is None else subgroups.of_site(of_complete)
    # The events of the mean imputation; None where events are not counted.
    counts = [part.site.summary.events for part in parts if part.site.summary.events is not None]
    events = round(sum(counts) / len(counts)) if len(counts) == len(parts) else None
    summary = replace(parts[0].site.summary, imputations=len(parts), events=events)
    together = replace(_together([part.site for part in parts], whole, each), summary=summary)
    # The predictors as they were before imputing, with their gaps, where that is known; else means of imputations. Rows
    # without a risk have predictors too.
    original = None if dataset.original is None else replace(site, dataset=dataset.original)
    before = () if original is None else described(original, lambda needs: "predictors" in needs)
    said = {_key(row.described) for row in before}
    rows = [{_key(row.described): row for row in part.descriptions} for part in parts]
    common = [key for key in rows[0] if key not in said and all(key in other for other in rows)]
    means = [_mean([other[key] for other in rows]) for key in common]
    return SiteEvidence(together, (*before, *means)), _together(groups, group, each)


def _together(parts: Sequence[Part], complete: Part | None, sites: Sequence[Site]) -> Part:
    """The first imputation with the results and curves of all of them."""
    before = None if complete is None else complete.results
    results = tuple(_pooled(sites[0].release, [part.results for part in parts], before))
    return replace(parts[0], results=results, curves=tuple(_mean_curves([part.curves for part in parts], sites)))


def _with_risk(original: types.Dataset) -> types.Dataset | None:
    risk = original.risk if original.risk is not None else original.class_risk
    if risk is None:
        return None
    known = ~np.isnan(risk if risk.ndim == 1 else risk.sum(axis=1))
    if not known.any():
        return None
    groups = tuple(
        subgroup if isinstance(subgroup.rows, types.Absent) else replace(subgroup, rows=subgroup.rows[known])
        for subgroup in original.subgroups
    )
    return replace(part_of(original, known), subgroups=groups)


def _pooled(
    release: Release, each: Sequence[Sequence[types.Result]], complete: Sequence[types.Result] | None
) -> Iterator[types.Result]:
    """Every result over the imputations, which all have the same ones in the same order."""
    metrics = register.metrics_of(release)
    beside = complete if complete is not None else [None] * len(each[0])
    for *same, alone in zip(*each, beside, strict=True):
        results = [result for result in same if result is not None]
        first = results[0]
        found = _pool([result.found for result in results], metrics[first.term], first, release.release.level)
        if isinstance(found, types.Estimate):
            found = imputations.compared(found, None if alone is None else alone.found)
            refuse_what_is_no_number(first.term, first.dataset, found)
        yield replace(first, found=found)


def _pool(
    each: Sequence[types.Estimate | types.Absent], metric: register.Metric, first: types.Result, level: float
) -> types.Estimate | types.Absent:
    found = severity.of_errors(each)
    absent = next((estimate for estimate in found if isinstance(estimate, types.Absent)), None)
    if absent is not None:
        every = all(isinstance(estimate, types.Absent) for estimate in found)
        return absent if every else types.Absent(facts.Fact("an_imputation_without_value", reason=absent.reason))
    if metric.clustered == "refused":
        return types.Absent(facts.Fact("no_standard_error_for_rubins_rules"))
    estimates = [estimate for estimate in found if isinstance(estimate, types.Estimate)]
    difference = "against" in first.at
    # The natural scale of a measure: logit of AUROCs and shares, log of ratios, else plain.
    scale = "plain" if difference else dependent.symmetry_of(metric, first.at)
    pooled = imputations.rubin(estimates, "logit" if scale == "wilson" else scale, level, difference)
    return pooled if difference else inside(pooled, metric.term)


def _mean_curves(each: Sequence[Sequence[types.CurveResult]], sites: Sequence[Site]) -> Iterator[types.CurveResult]:
    for same in zip(*each, strict=True):
        first = same[0]
        absent = next((curves.found for curves in same if isinstance(curves.found, types.Absent)), None)
        found = absent or _mean_curve(
            first, [curves.found for curves in same if isinstance(curves.found, types.Curve)], sites
        )
        if isinstance(found, types.Curve):
            refuse_a_bad_curve(first.curve, first.dataset, found)
        yield replace(first, found=found)


def _mean_curve(
    first: types.CurveResult, curves: Sequence[types.Curve], sites: Sequence[Site]
) -> types.Curve | types.Absent:
    """The mean of one curve over the imputations, of which it is the first."""
    if first.curve == "roc":
        return imputations.mean_roc(curves)
    if first.curve == "risk_distribution":
        return imputations.mean_distribution([_rows(site, first) for site in sites])
    band = classes.curves_of(sites[0].release)[first.curve].band or register.Band("", ())
    shares = {line.ends: line.of_shares for line in band.lines}
    # How many standard errors the bands of an imputation, or of a subgroup of it, go to either side.
    site = part = sites[0]
    for subgroup in site.dataset.subgroups:
        if subgroup.subset == first.subset and not isinstance(subgroup.rows, types.Absent):
            part = replace(site, dataset=part_of(site.dataset, subgroup.rows))
    return imputations.mean_curve(curves, band.axis, dependent.reach_of_bands(part), shares)


def _rows(site: Site, of: types.CurveResult) -> tuple[types.Floats, types.Floats, types.Floats | None]:
    """The outcome, the risk and the weights that a curve of a whole imputation was made of."""
    dataset = (classes.against_rest(site, str(of.at["class"])) if "class" in of.at else site).dataset
    return *dataset.tested, dataset.weights


# ---- what the data are ----------------------------------------------------------------------------------------------


def _key(row: types.Description) -> tuple[str, str, str | None]:
    return row.variable, row.statistic, row.level


def _mean(rows: Sequence[types.DescriptionResult]) -> types.DescriptionResult:
    values = [row.described.value for row in rows]
    first = rows[0]
    return replace(first, described=replace(first.described, value=sum(values) / len(values)))
