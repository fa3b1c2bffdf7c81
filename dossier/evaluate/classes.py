"""Outcomes of several classes: which measures are asked, and those of two classes taken one against the rest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from dossier.core.facts import Fact
from dossier.core.register import REGISTER, CurveMaker, Metric
from dossier.core.release import Release
from dossier.core.types import MACRO, Absent, At, Dataset, Estimate, Floats, SiteResults
from dossier.evaluate.offered import Site, ask, columns, places, seed_of, settings
from dossier.metrics.classes import mean_of_bounds, mean_over_rows


class Answer(Protocol):
    """What a measure says of a site at one setting."""

    def __call__(self, site: Site, metric: Metric, at: At, **instead: Any) -> Estimate | Absent: ...


class Finder(Protocol):
    """What is found of a site at one setting, be it over refitted splits, by asking the measure or another answer."""

    def __call__(self, site: Site, metric: Metric, at: At, answer: Answer | None = None, /) -> Estimate | Absent: ...


# ---- what is asked --------------------------------------------------------------------------------------------------


def curves_of(release: Release) -> dict[str, CurveMaker]:
    """The curves that are asked of a release, by name."""
    return REGISTER.curves if release.outcome.classes is None else REGISTER.curves | REGISTER.class_curves


def places_of(release: Release, metric: Metric) -> Iterator[dict[str, float | str]]:
    """Every combination of the settings that a measure runs over; no mean over the classes where none is taken."""
    for at in places(release, metric.term):
        if at.get("class") != MACRO or metric.against_rest == "by class and mean":
            yield at


# ---- one class against the rest -------------------------------------------------------------------------------------


def against_rest(site: Site, label: str) -> Site:
    """The site with one class as the outcome, and the risk of that class as the risk."""
    return replace(site, dataset=of_one_class(site.dataset, label))


def of_one_class(dataset: Dataset, label: str) -> Dataset:
    """The dataset with one class as the outcome, and the risk of that class as the risk."""
    position = dataset.class_labels.index(label)
    return replace(
        dataset,
        outcome=None if dataset.classes is None else (dataset.classes == position).astype(float),
        risk=_column(dataset.class_risk, position),
        rival=_column(dataset.class_rival, position),
        class_labels=(),
        classes=None,
        class_risk=None,
        class_rival=None,
    )


def _column(risks: Floats | None, index: int) -> Floats | None:
    return None if risks is None else np.ascontiguousarray(risks[:, index])


def answer(site: Site, metric: Metric, at: At, find: Finder) -> Estimate | Absent:
    """A measure of two classes for one class against the rest, or its mean over the classes."""
    label = str(at["class"])
    if label == MACRO:
        native = REGISTER.class_metrics.get(metric.term.name)
        if native is not None:
            return find(site, native, {})
        return find(site, metric, at, _mean)
    found = find(against_rest(site, label), metric, at)
    return Absent(Fact("against_the_rest", label=label, reason=found.reason)) if isinstance(found, Absent) else found


def _mean(site: Site, metric: Metric, at: At, **instead: Any) -> Estimate | Absent:
    """The unweighted mean over the classes of a measure taken one against the rest."""
    dataset = site.dataset
    seed = seed_of(site.release, site.drawn_as, metric.term.chapter)
    offered = {**settings(site.release), "seed": seed, **at, **instead}
    of_each = []
    for label in dataset.class_labels:
        found = ask(metric, {**columns(against_rest(site, label)), **offered}, dataset.name)
        if isinstance(found, Absent):
            return Absent(Fact("no_mean_over_classes", label=label, reason=found.reason))
        of_each.append(found)
    if dataset.classes is None or dataset.class_risk is None:
        raise TypeError("a measure that answered for every class had their risks")
    level = site.release.release.level
    if "bootstrap" in metric.needs or metric.term.tier == "caution":
        return mean_of_bounds(of_each, level, len(dataset.classes))
    plain = {name: value for name, value in offered.items() if name in metric.needs}

    def measure(outcome: Floats, risk: Floats) -> Estimate | Absent:
        found: Estimate | Absent = metric.function(**{**plain, "outcome": outcome, "risk": risk})
        return found

    found = mean_over_rows(
        dataset.classes, dataset.class_risk, measure, of_each, level, int(offered["bootstrap"]), seed
    )
    if not math.isfinite(found.value):
        raise ArithmeticError(f"the mean of {metric.term.name} at {dataset.name} is not a number")
    return found


# ---- all sites ------------------------------------------------------------------------------------------------------


def of_class(sites: tuple[SiteResults, ...], label: str) -> tuple[SiteResults, ...]:
    """The sites as if one class were the outcome: only its results and curves, without the class among the settings."""
    return tuple(
        SiteResults(
            summary=replace(site.summary, events=site.summary.class_counts.get(label), class_counts={}),
            results=tuple(
                replace(result, at=_without_class(result.at))
                for result in site.results
                if result.at.get("class") == label
            ),
            curves=tuple(
                replace(curve, at=_without_class(curve.at)) for curve in site.curves if curve.at.get("class") == label
            ),
        )
        for site in sites
    )


def _without_class(at: At) -> At:
    return {name: value for name, value in at.items() if name != "class"}


def by_class(
    release: Release, sites: tuple[SiteResults, ...], maker: CurveMaker
) -> Iterator[tuple[At, tuple[SiteResults, ...]]]:
    """The places at which a curve over all sites is made, with the sites as they look from there."""
    labels = release.outcome.classes or ()
    if not labels or not maker.against_rest:
        yield {}, sites
        return
    for label in labels:
        yield {"class": label}, of_class(sites, label)
