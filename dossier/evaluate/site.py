"""One site: every measure, curve and description of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dossier.core import facts, types
from dossier.core.register import CurveMaker, Metric, fill, metrics_of
from dossier.evaluate import classes, dependent, rivals
from dossier.evaluate.offered import Site, ask, missing, named, optional, refuse_a_bad_curve, site_part
from dossier.metrics import resampling, robustness, severity, shares, updating


@dataclass(frozen=True)
class SiteEvidence:
    """All that one site yields."""

    site: types.SiteResults
    descriptions: tuple[types.DescriptionResult, ...]


@dataclass(frozen=True)
class ChapterOfSite:
    """What the measures and curves of one chapter yield at one site, by the measure and the curve."""

    results: Mapping[str, tuple[types.Result, ...]]
    curves: Mapping[str, tuple[types.CurveResult, ...]]


def site_evidence(site: Site) -> SiteEvidence:
    """Every measure, curve and description of one dataset."""
    return joined(site, [of_chapter(site, chapter) for chapter in chapters(site)])


def chapters(site: Site) -> tuple[str, ...]:
    """The chapters that measure something at this site."""
    metrics, makers = _asked(site)
    return tuple(dict.fromkeys([*(metric.term.chapter for metric in metrics), *(maker.chapter for maker in makers)]))


def of_chapter(site: Site, chapter: str) -> ChapterOfSite:
    """The measures and curves of one chapter; they share what was computed of the rows."""
    metrics, makers = _asked(site)
    return ChapterOfSite(
        {metric.term.name: tuple(measured(site, metric)) for metric in metrics if metric.term.chapter == chapter},
        {maker.name: tuple(_curves(site, maker)) for maker in makers if maker.chapter == chapter},
    )


def joined(site: Site, parts: Sequence[ChapterOfSite]) -> SiteEvidence:
    """The chapters of one site in the order of the register, whatever order they were made in."""
    metrics, makers = _asked(site)
    results = {name: found for part in parts for name, found in part.results.items()}
    curves = {name: found for part in parts for name, found in part.curves.items()}
    return SiteEvidence(
        site=types.SiteResults(
            summary(site.dataset),
            tuple(result for metric in metrics for result in results[metric.term.name]),
            tuple(curve for maker in makers for curve in curves[maker.name]),
        ),
        descriptions=described(site, lambda needs: True),
    )


def _asked(site: Site) -> tuple[list[Metric], list[CurveMaker]]:
    """The measures and the curves that are asked of a dataset with this role, in the order of the register."""
    fill("metrics")
    role = site.dataset.role
    learnt = site.readers is not None and role == "development"
    return (
        [
            metric
            for metric in metrics_of(site.release).values()
            if (role in metric.roles or (learnt and of_labels_alone(metric))) and site.asks(metric.term.measure)
        ],
        [
            maker
            for maker in classes.curves_of(site.release).values()
            if (role in maker.roles or (learnt and of_labels_alone(maker))) and site.measures is None
        ],
    )


def of_labels_alone(maker: Metric | CurveMaker) -> bool:
    """Whether a measure or curve is of raters' labels without the model: it is asked of the labels that it learnt from.

    What needs the risks too would be apparent there.
    """
    return "labels" in maker.needs and "labels" not in optional(maker.function) and "risk" not in maker.needs


def described(site: Site, wanted: Callable[[Sequence[str]], bool]) -> tuple[types.DescriptionResult, ...]:
    """The descriptions of a site whose needs are wanted."""
    dataset = site.dataset
    makers = fill("metrics").descriptions.values() if _too_few(dataset) is None else ()
    asked = (maker for maker in makers if dataset.role in maker.roles and wanted(maker.needs))
    found = (ask(maker, named(site, maker.chapter), dataset.name) for maker in asked)
    known = (rows for rows in found if not isinstance(rows, types.Absent))
    return tuple(types.DescriptionResult(dataset.name, row) for rows in known for row in rows)


def summary(dataset: types.Dataset) -> types.DatasetSummary:
    return types.DatasetSummary(
        name=dataset.name,
        role=dataset.role,
        site=dataset.site,
        n=dataset.rows_analysed,
        events=None if dataset.outcome is None else int(dataset.outcome.sum()),
        rows_read=dataset.rows_read,
        excluded=dataset.excluded,
        features=tuple(feature.name for feature in dataset.predictors),
        splits=None if dataset.split is None else len(np.unique(dataset.split)),
        # Without a declaration the first and the last of the column of days, unless so few rows tell of patients.
        dates=dataset.dates or (dataset.periods.span if dataset.periods and _too_few(dataset) is None else None),
        country=dataset.country,
        setting=dataset.setting,
        clusters=None if dataset.cluster is None else len(np.unique(dataset.cluster)),
        weighted=dataset.weights is not None,
        class_counts={}
        if dataset.classes is None
        else {label: int((dataset.classes == index).sum()) for index, label in enumerate(dataset.class_labels)},
        minimum_cell=dataset.minimum_cell,
        left=None if dataset.followed is None else int(dataset.followed.left.sum()),
        competing=None if dataset.followed is None else int(dataset.followed.competing.sum()),
    )


def measured(whole: Site, metric: Metric) -> Iterator[types.Result]:
    """A measure at one site, at each of its settings, of each other model; of several classes also class by class."""
    for each in rivals.each(whole.release, metric):
        found = list(_faced(whole, each))
        for other in rivals.may_be_chosen(whole, each):
            found = [_as_far_as(own, beside) for own, beside in zip(found, _faced(whole, other), strict=True)]
        yield from found


def _faced(whole: Site, metric: Metric) -> Iterator[types.Result]:
    faced = rivals.facing(whole, metric)
    lacking = faced if isinstance(faced, types.Absent) else None
    yield from _measured(whole if isinstance(faced, types.Absent) else faced, metric, lacking)


def _as_far_as(own: types.Result, beside: types.Result) -> types.Result:
    """A result whose interval reaches as far as that of another choice too."""
    ours, other = own.found, beside.found
    if isinstance(ours, types.Absent) or isinstance(other, types.Absent):
        return own
    if ours.low is None or ours.high is None or other.low is None or other.high is None:
        return own
    method = ours.method.without("over_what_it_may_choose") + "over_what_it_may_choose"
    low, high = min(ours.low, other.low), max(ours.high, other.high)
    return replace(own, found=replace(ours, low=low, high=high, se=None, method=method))


def _measured(site: Site, metric: Metric, lacking: types.Absent | None) -> Iterator[types.Result]:
    for at in classes.places_of(site.release, metric):
        undeclared = [name for name in metric.term.at if name not in at]
        few = _too_few(site.dataset)
        found: types.Estimate | types.Absent
        if few is not None:
            found = few
        elif undeclared:
            found = types.Absent(facts.Fact("setting_not_declared", setting=undeclared[0]))
        elif lacking is not None:
            found = lacking
        elif "class" in at:
            found = inside(classes.answer(site, metric, at, _found), metric.term)
        else:
            found = _found(site, metric, at, value)
        if site.dataset.role == "development" and isinstance(found, types.Estimate) and not of_labels_alone(metric):
            found = replace(found, method=found.method + "apparent")
        if site.update and isinstance(found, types.Estimate):
            held_out = facts.Fact("cross_validated", folds=updating.FOLDS, repeats=updating.REPEATS)
            found = replace(found, method=found.method + held_out)
        yield types.Result(
            metric.term.name, metric.term.measure, site.dataset.name, {**metric.fixed, **at}, found, site.subset
        )


def _too_few(dataset: types.Dataset) -> types.Absent | None:
    """Why so few rows tell of single patients only, or None when they are enough."""
    if not 0 < dataset.rows_analysed < types.FEWEST_PATIENTS:
        return None
    fewest = facts.Count(types.FEWEST_PATIENTS, "patient", is_limit=True)
    return types.Absent(facts.Fact("too_few_patients", dataset=dataset.name, fewest=fewest))


def _found(
    site: Site, metric: Metric, at: types.At, answer: classes.Answer | None = None
) -> types.Estimate | types.Absent:
    """What a measure finds at one setting: on all rows, or over refitted splits; `answer` is asked, or the measure."""
    asked = answer or value
    if site.dataset.split is not None:
        return _over_splits(site, metric, at, asked)
    if dependent.dependent(site.dataset):
        return inside(dependent.answer(site, metric, at, asked), metric.term)
    return asked(site, metric, at)


def value(site: Site, metric: Metric, at: types.At, **instead: Any) -> types.Estimate | types.Absent:
    """A measure's answer, checked to be a number; other rows `instead` of its own are all alike."""
    other = {"design": shares.Design(len(instead["outcome"]))} if "outcome" in instead else {}
    offered = {**named(site, metric.term.chapter), **at, **other, **instead}
    found: types.Estimate | types.Absent = ask(metric, offered, site.dataset.name)
    return found


def _over_splits(site: Site, metric: Metric, at: types.At, answer: classes.Answer) -> types.Estimate | types.Absent:
    """A measure of refitted splits: its mean over the splits, with the spread between them."""
    dataset = site.dataset
    outcome = dataset.outcome if dataset.classes is None else dataset.classes
    if dataset.split is None or outcome is None:
        raise TypeError("refitted splits have rows with an outcome and a risk")
    # The mean over the classes asks for what each class against the rest asks for.
    held = classes.against_rest(site, dataset.class_labels[0]) if at.get("class") == types.MACRO else site
    lacking = missing(metric, {**named(held, metric.term.chapter), **at})
    if lacking is not None:
        return lacking
    if metric.independent_rows:
        return types.Absent(facts.Fact("refitted_splits_no_patients", dataset=dataset.name))
    found = []
    for number in np.unique(dataset.split):
        part = site_part(site, dataset.split == number)
        held_out = replace(part, dataset=replace(part.dataset, split=None))
        # The interval comes from the spread between splits, so no replicates are needed within one.
        found.append(answer(held_out, metric, at, bootstrap=resampling.VALUE_ALONE))
    of_each = severity.of_errors(found)
    absent = next((estimate for estimate in of_each if isinstance(estimate, types.Absent)), None)
    if absent is not None:
        return types.Absent(facts.Fact("a_split_without_value", reason=absent.reason))
    estimates = [estimate for estimate in of_each if isinstance(estimate, types.Estimate)]
    n_test = len(outcome) / len(estimates)
    train = None if site.development_rows is None else site.development_rows - n_test
    mean = robustness.over_splits(
        np.array([estimate.value for estimate in estimates]),
        n_test=n_test,
        n_train=train if train is not None and train > 0 else None,
        n=len(outcome),
        events=None if dataset.outcome is None else int(dataset.outcome.sum()),
        level=site.release.release.level,
    )
    return inside(mean, metric.term)


def inside(found: types.Estimate | types.Absent, term: types.Term) -> types.Estimate | types.Absent:
    """The interval cut at the ends of what the measure can be."""
    if isinstance(found, types.Absent):
        return found
    lowest, highest = term.range
    low = found.low if found.low is None or lowest is None else max(found.low, lowest)
    high = found.high if found.high is None or highest is None else min(found.high, highest)
    return replace(found, low=low, high=high)


def _curves(site: Site, maker: CurveMaker) -> Iterator[types.CurveResult]:
    """A curve of one site, or why there is none; of several classes one a class, and that of each other model."""
    own = tuple(_by_class(site, maker))
    yield from own
    for rival in rivals.names(site.release) if maker.of_rivals else ():
        other = rivals.in_place_of_the_model(site, rival)
        found = (
            [replace(curve, found=other) for curve in own]
            if isinstance(other, types.Absent)
            else _by_class(other, maker)
        )
        yield from (replace(curve, at={**curve.at, "model": rival}) for curve in found)


def _by_class(site: Site, maker: CurveMaker) -> Iterator[types.CurveResult]:
    if not site.dataset.class_labels or not maker.against_rest:
        yield curve_of(site, maker)
        return
    for label in site.dataset.class_labels:
        yield replace(curve_of(classes.against_rest(site, label), maker), at={"class": label})


def curve_of(site: Site, maker: CurveMaker) -> types.CurveResult:
    """A curve of one site, or why there is none."""
    few = _too_few(site.dataset)
    if few is not None:
        return types.CurveResult(maker.name, site.dataset.name, few, subset=site.subset)
    if site.dataset.split is not None and "split" not in maker.needs:
        reason = facts.Fact("refitted_splits_no_curve", dataset=site.dataset.name)
        return types.CurveResult(maker.name, site.dataset.name, types.Absent(reason), subset=site.subset)
    found = (
        dependent.curve(site, maker, partial(_drawn, maker))
        if dependent.dependent(site.dataset)
        else _drawn(maker, site)
    )
    if isinstance(found, types.Curve):
        refuse_a_bad_curve(maker.name, site.dataset.name, found)
    return types.CurveResult(maker.name, site.dataset.name, found, subset=site.subset)


def _drawn(maker: CurveMaker, site: Site) -> types.Curve | types.Absent:
    found: types.Curve | types.Absent = ask(maker, named(site, maker.chapter), site.dataset.name)
    return found
