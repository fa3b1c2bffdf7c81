"""Subgroups: each measure on a part of a site's rows, beside the other patients of the site, and over all sites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dossier.core.facts import Fact
from dossier.core.register import REGISTER, CurveMaker, Metric, fill, metrics_of
from dossier.core.release import Release
from dossier.core.types import (
    MACRO,
    POOLED,
    Absent,
    At,
    CurveResult,
    Dataset,
    Estimate,
    Result,
    Subgroup,
    SubgroupEvidence,
    SubgroupSize,
    SubgroupSummary,
    Subset,
)
from dossier.evaluate import sampled, strata
from dossier.evaluate.classes import against_rest, places_of
from dossier.evaluate.offered import Site, part_of
from dossier.evaluate.site import curve_of, measured
from dossier.metrics import pooled
from dossier.metrics.scales import Scale
from dossier.metrics.subgroups import difference, too_few, too_few_of_class, too_few_of_classes

AGAINST = {"against": "complement"}
"""What the difference to the other patients holds in `at`."""

NEEDS = ("subgroups",)

CURVES = ("calibration_curve",)
"""The curves that are drawn of subgroups."""

Bools = NDArray[np.bool_]
Key = tuple[str, tuple[tuple[str, float | str], ...]]
"""A measure at its settings."""


def of_site(site: Site) -> SubgroupEvidence:
    """The subgroups of one dataset: how large they are, what the measures say of them, and how they differ."""
    return side_by_side([of_column(site, column) for column in columns(site)])


def columns(site: Site) -> tuple[str, ...]:
    """The columns that make subgroups of this dataset."""
    if site.dataset.role == "development":
        return ()
    return tuple(dict.fromkeys(subgroup.column for subgroup in site.dataset.described.subgroups))


def of_column(whole: Site, column: str) -> SubgroupEvidence:
    """The subgroups that one column makes; they share what was measured on the other patients."""
    site = sampled.asked(whole, NEEDS)
    parts = _Parts(site)
    ours = [subgroup for subgroup in site.dataset.subgroups if subgroup.column == column]
    results = (result for subgroup in ours for result in _results(site, subgroup, parts))
    curves = (curve for subgroup in ours for curve in _curves(site, subgroup))
    return SubgroupEvidence(
        summaries=tuple(_summary(site, subgroup) for subgroup in ours),
        results=tuple(replace(result, found=sampled.noted(result.found, whole, NEEDS)) for result in results),
        curves=tuple(replace(curve, found=sampled.noted(curve.found, whole, NEEDS)) for curve in curves),
    )


def side_by_side(parts: Sequence[SubgroupEvidence]) -> SubgroupEvidence:
    """The subgroups of several columns or datasets, one after the other."""
    return SubgroupEvidence(
        summaries=tuple(summary for part in parts for summary in part.summaries),
        results=tuple(result for part in parts for result in part.results),
        curves=tuple(curve for part in parts for curve in part.curves),
    )


def compared(metric: Metric) -> bool:
    """Whether a measure is taken of subgroups, and made of one site's rows alone."""
    return metric.by_subgroup and "development" not in metric.needs and not metric.fixed


# ---- one subgroup ---------------------------------------------------------------------------------------------------


def _summary(site: Site, subgroup: Subgroup) -> SubgroupSummary:
    name, unusable = site.dataset.name, _unusable(site, subgroup)
    if unusable is not None:
        return SubgroupSummary(name, subgroup.column, subgroup.label, unusable)
    rows, outcome = _rows(subgroup), site.dataset.outcome
    events = None if outcome is None else int(outcome[rows].sum())
    unassigned = int((~_known(site.dataset, subgroup.column)).sum())
    size = SubgroupSize(int(rows.sum()), events, unassigned, _class_counts(site.dataset, rows))
    return SubgroupSummary(name, subgroup.column, subgroup.label, size)


def _class_counts(dataset: Dataset, rows: Bools) -> dict[str, int]:
    """How many of these rows have each class; empty for an outcome of two."""
    if dataset.classes is None:
        return {}
    return {label: int((dataset.classes[rows] == index).sum()) for index, label in enumerate(dataset.class_labels)}


def _unusable(site: Site, subgroup: Subgroup) -> Absent | None:
    """Why nothing at all can be said of a subgroup here, its size included."""
    name = site.dataset.name
    if site.dataset.split is not None:
        return Absent(Fact("refitted_splits_no_subgroups", dataset=name))
    if site.dataset.outcome is None and site.dataset.classes is None:
        return Absent(Fact("has_no", dataset=name, what="outcome"))
    return subgroup.rows if isinstance(subgroup.rows, Absent) else None


def _rows(subgroup: Subgroup) -> Bools:
    if isinstance(subgroup.rows, Absent):
        raise TypeError(f"nobody knows who is {subgroup.subset}")
    return subgroup.rows


def _known(dataset: Dataset, column: str) -> Bools:
    """The rows that are in a subgroup of the column."""
    masks = [_rows(subgroup) for subgroup in dataset.subgroups if subgroup.column == column]
    return np.asarray(np.logical_or.reduce(masks), dtype=np.bool_)


class _Parts:
    """What was measured on parts of one site's rows: each part once, whoever asks for it."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.made: dict[Subset, dict[Key, Estimate | Absent]] = {}

    def of(self, subset: Subset, rows: Bools) -> Mapping[Key, Estimate | Absent]:
        """Every measure on these rows, which no other subset of the site is called after."""
        if subset not in self.made:
            part = _part(self.site, subset, rows)
            self.made[subset] = {
                (result.term, tuple(sorted(result.at.items()))): result.found
                for metric in _metrics(self.site)
                for result in measured(part, metric)
            }
        return self.made[subset]

    def of_others(self, subgroup: Subgroup) -> tuple[Bools, Subset]:
        """The other patients whose value of the column is known, and the subset that they are."""
        others = _known(self.site.dataset, subgroup.column) & ~_rows(subgroup)
        for another in self.site.dataset.subgroups:
            # Where there are two levels the others are the other level, and nobody is measured twice.
            if another.column == subgroup.column and np.array_equal(_rows(another), others):
                return others, another.subset
        return others, Subset(f"not {subgroup.column}", subgroup.label)


def _part(site: Site, subset: Subset, rows: Bools) -> Site:
    return replace(site, dataset=part_of(site.dataset, rows), readers=None, subset=subset)


def _metrics(site: Site) -> list[Metric]:
    role = site.dataset.role
    asked = (metric for metric in metrics_of(site.release).values() if site.asks(metric.term.measure))
    return [metric for metric in asked if compared(metric) and role in metric.roles]


def _results(site: Site, subgroup: Subgroup, parts: _Parts) -> Iterator[Result]:
    """Every measure in one subgroup of one dataset, each followed by its difference to the other patients."""
    for metric in _metrics(site):
        for at in places_of(site.release, metric):
            found, apart = _both(site, subgroup, parts, metric, at)
            name, measure, dataset = metric.term.name, metric.term.measure, site.dataset.name
            yield Result(name, measure, dataset, at, found, subgroup.subset)
            yield Result(name, measure, dataset, {**at, **AGAINST}, apart, subgroup.subset)


def _both(site: Site, subgroup: Subgroup, parts: _Parts, metric: Metric, at: At) -> tuple[Estimate | Absent, ...]:
    """A measure in one subgroup, and its difference to the other patients."""
    why = _unusable(site, subgroup) or few(site.dataset, _rows(subgroup), at)
    if why:
        return why, why
    key = (metric.term.name, tuple(sorted(at.items())))
    found = parts.of(subgroup.subset, _rows(subgroup))[key]
    others, called = parts.of_others(subgroup)
    few_others = few(site.dataset, others, at, Fact("of_the_other_patients"))
    apart = few_others or of_two_scales(site.release, metric, subgroup.column) or _shared_clusters(site, subgroup)
    return found, apart or _difference(found, parts.of(called, others)[key])


def few(dataset: Dataset, rows: Bools, at: At, among: Fact | None = None) -> Absent | None:
    """Why these rows are too few for a measure at these settings: of the outcome, of the class, or of any class."""
    label = at.get("class", MACRO)
    if dataset.classes is None:
        return None if dataset.outcome is None else too_few(dataset.outcome[rows], among)
    if label == MACRO:
        return too_few_of_classes(_class_counts(dataset, rows), among)
    inside = _class_counts(dataset, rows)[str(label)]
    return too_few_of_class(inside, int(rows.sum()) - inside, str(label), among)


def of_two_scales(release: Release, metric: Metric, column: str) -> Absent | None:
    """Why a severity is not compared between the levels of a column: they are weighed by different matrices."""
    severity = release.severity
    if severity is None or "severity_weights" not in metric.needs:
        return None
    own = [subgroup.weights for subgroup in severity.subgroup if subgroup.column == column]
    if all(weights == severity.weights for weights in own):
        return None
    return Absent(Fact("severity_of_two_scales", column=column))


def _shared_clusters(site: Site, subgroup: Subgroup) -> Absent | None:
    """Why the two intervals cannot be combined: the difference takes the two groups as independent."""
    dataset = site.dataset.described
    cluster = dataset.cluster
    if cluster is None:
        return None
    both = np.intersect1d(cluster[_rows(subgroup)], cluster[_known(dataset, subgroup.column) & ~_rows(subgroup)])
    if not len(both):
        return None
    return Absent(Fact("clusters_in_both_groups", dataset=site.dataset.name))


def _difference(ours: Estimate | Absent, rest: Estimate | Absent) -> Estimate | Absent:
    if isinstance(ours, Absent):
        return ours
    if isinstance(rest, Absent):
        return Absent(Fact("other_patients_without_value", reason=rest.reason))
    return difference(ours, rest)


def _curves(site: Site, subgroup: Subgroup) -> Iterator[CurveResult]:
    register = fill("metrics")
    wanted = CURVES if site.measures is None else ()
    for maker in (maker for maker in register.curves.values() if maker.name in wanted):
        if site.dataset.role in maker.roles:
            for label in site.dataset.class_labels or (None,):
                yield _curve(site, subgroup, maker, {} if label is None else {"class": label})


def _curve(site: Site, subgroup: Subgroup, maker: CurveMaker, at: At) -> CurveResult:
    why = _unusable(site, subgroup) or few(site.dataset, _rows(subgroup), at)
    if why is not None:
        return CurveResult(maker.name, site.dataset.name, why, subset=subgroup.subset, at=at)
    part = _part(site, subgroup.subset, _rows(subgroup))
    return replace(curve_of(against_rest(part, str(at["class"])) if at else part, maker), at=at)


# ---- all sites ------------------------------------------------------------------------------------------------------


def together(release: Release, parts: Sequence[SubgroupEvidence], sites: Sequence[Site]) -> SubgroupEvidence:
    """The subgroups of every dataset, and what the external ones say of them together."""
    every = side_by_side(parts)
    external = strata.external_sites(sites)
    names = {site.dataset.name for site in external}
    labels = dict.fromkeys((summary.column, summary.label) for summary in every.summaries)
    of_external = [result for result in every.results if result.dataset in names]
    over_sites = tuple(
        result for column, label in labels for result in _pooled(release, column, label, of_external, external)
    )
    return replace(every, results=every.results + over_sites)


def _pooled(
    release: Release, column: str, label: str, results: Sequence[Result], sites: Sequence[Site]
) -> Iterator[Result]:
    """Each measure over all sites, and its difference to the other patients."""
    subset = Subset(column, label)
    found = {
        (result.term, tuple(sorted(result.at.items())), result.dataset): result.found
        for result in results
        if result.subset == subset
    }
    for metric in metrics_of(release).values():
        name = metric.term.name
        pooled_somehow = metric.pool is not None or name in REGISTER.stratified
        if not (compared(metric) and pooled_somehow and all(site.asks(metric.term.measure) for site in sites)):
            continue
        for at in places_of(release, metric):
            each, apart = (
                {
                    dataset: estimate
                    for (term, position, dataset), estimate in found.items()
                    if term == name and dict(position) == wanted and isinstance(estimate, Estimate)
                }
                for wanted in (at, {**at, **AGAINST})
            )
            of_sites = None if metric.pool is None else _random_effects(each, metric.pool, release)
            both: tuple[Estimate | Absent, Estimate | Absent]
            if strata.is_stratified(metric, at):
                both = _stratified(sites, metric, at, (column, label), of_sites)
            else:
                both = (of_sites or NOT_POOLED, _random_effects(apart, "plain", release))
            yield Result(name, metric.term.measure, POOLED, at, both[0], subset)
            yield Result(name, metric.term.measure, POOLED, {**at, **AGAINST}, both[1], subset)


NOT_POOLED = Absent(Fact("no_scale_for_pooling"))


def _random_effects(each: Mapping[str, Estimate], scale: Scale, release: Release) -> Estimate | Absent:
    return pooled.pool(tuple(each.values()), scale, release.release.level, tuple(each))


def _stratified(
    sites: Sequence[Site], metric: Metric, at: At, group: tuple[str, str], of_sites: Estimate | Absent | None
) -> tuple[Estimate | Absent, Estimate | Absent]:
    """A measure over all rows of a subgroup, with how far the sites differ in it, and over those of the others."""
    ours = _over_sites(sites, metric, at, _members(*group))
    rest = _over_sites(sites, metric, at, _members(*group, others=True))
    if isinstance(ours, Estimate) and isinstance(of_sites, Estimate):
        ours = replace(ours, details={**ours.details, **{name: of_sites.details[name] for name in ("tau", "i2")}})
    shared = (
        _shared_clusters(site, subgroup)
        for site in sites
        for subgroup in site.dataset.described.subgroups
        if (subgroup.column, subgroup.label) == group and not isinstance(subgroup.rows, Absent)
    )
    apart = next(filter(None, shared), None) or _difference(ours, rest)
    if isinstance(ours, Estimate) and isinstance(rest, Estimate) and isinstance(apart, Estimate):
        fewer = min(estimate.details["k"] or 0.0 for estimate in (ours, rest))
        apart = replace(apart, details={**apart.details, "k": fewer})
    return ours, apart


def _over_sites(sites: Sequence[Site], metric: Metric, at: At, chosen: strata.Chosen) -> Estimate | Absent:
    """A measure over the chosen rows of all sites, which are held to what is asked of the rows of one."""
    outcome = strata.outcomes(sites, at, chosen)
    events, others = int(outcome.sum()), int((1 - outcome).sum())
    label = at.get("class")
    few = too_few(outcome) if label is None else too_few_of_class(events, others, str(label))
    return few or strata.over_sites(sites, metric, at, chosen)


def _members(column: str, label: str, others: bool = False) -> strata.Chosen:
    """The rows of a subgroup, or those of the other patients whose value of the column is known."""

    def chosen(dataset: Dataset) -> tuple[Dataset, Bools] | None:
        described = dataset.described
        of_column = [subgroup for subgroup in described.subgroups if subgroup.column == column]
        if not of_column or any(isinstance(subgroup.rows, Absent) for subgroup in of_column):
            return None
        rows = next(_rows(subgroup) for subgroup in of_column if subgroup.label == label)
        return described, _known(described, column) & ~rows if others else rows

    return chosen
