"""One site: every measure, curve and description of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dossier.evaluate.offered import (
    Site,
    ask,
    columns,
    missing,
    places,
    refuse_a_bad_curve,
    refuse_what_is_no_number,
    seed_of,
    settings,
)
from dossier.metrics import robustness
from dossier.register import CurveMaker, Metric, fill
from dossier.types import (
    Absent,
    Curve,
    CurveResult,
    Dataset,
    DatasetSummary,
    DescriptionResult,
    Estimate,
    Result,
    SiteResults,
    Term,
)


@dataclass(frozen=True)
class SiteEvidence:
    """All that one site yields."""

    site: SiteResults
    descriptions: tuple[DescriptionResult, ...]


def site_evidence(site: Site) -> SiteEvidence:
    """Every measure, curve and description of one dataset."""
    register = fill("metrics")
    role = site.dataset.role
    results = [
        result for metric in register.metrics.values() if role in metric.roles for result in _measured(site, metric)
    ]
    curves = [_curve(site, maker) for maker in register.curves.values() if role in maker.roles]
    return SiteEvidence(
        site=SiteResults(summary(site.dataset), tuple(results), tuple(curves)),
        descriptions=tuple(
            DescriptionResult(site.dataset.name, row)
            for maker in register.descriptions.values()
            if role in maker.roles
            for row in _described(site, maker)
        ),
    )


def summary(dataset: Dataset) -> DatasetSummary:
    analysed = dataset.rows_read - sum(dataset.excluded.values())
    return DatasetSummary(
        name=dataset.name,
        role=dataset.role,
        site=dataset.site,
        n=analysed,
        events=None if dataset.outcome is None else int(dataset.outcome.sum()),
        rows_read=dataset.rows_read,
        excluded=dataset.excluded,
        features=tuple(feature.name for feature in dataset.predictors),
        splits=None if dataset.split is None else len(np.unique(dataset.split)),
        dates=dataset.dates,
    )


def _measured(site: Site, metric: Metric) -> Iterator[Result]:
    """A measure at one site, at each of its settings."""
    for at in places(site.release, metric.term):
        undeclared = [name for name in metric.term.at if name not in at]
        found: Estimate | Absent
        if undeclared:
            found = Absent(f"no {undeclared[0]} is declared")
        elif site.dataset.split is not None:
            found = _over_splits(site, metric, at)
        else:
            found = _value(site, metric, at)
        if site.dataset.role == "development" and isinstance(found, Estimate):
            found = replace(found, method=f"{found.method}, apparent")
        yield Result(metric.term.name, metric.term.measure, site.dataset.name, {**metric.fixed, **at}, found)


def _value(site: Site, metric: Metric, at: Mapping[str, float | str], **instead: Any) -> Estimate | Absent:
    """A measure's answer, checked to be a number."""
    seed = seed_of(site.release, site.dataset.name, metric.term.chapter)
    offered = {**columns(site), **settings(site.release), "seed": seed, **at, **instead}
    found: Estimate | Absent = ask(metric, offered)
    if isinstance(found, Estimate):
        refuse_what_is_no_number(metric.term.name, site.dataset.name, found)
    return found


def _over_splits(site: Site, metric: Metric, at: Mapping[str, float | str]) -> Estimate | Absent:
    """A measure of refitted splits: its mean over the splits, with the spread between them."""
    dataset = site.dataset
    if dataset.split is None or dataset.outcome is None or dataset.risk is None:
        raise TypeError("refitted splits have rows with an outcome and a risk")
    lacking = missing(metric, {**columns(site), **settings(site.release), "seed": 0, **at})
    if lacking is not None:
        return lacking
    if metric.independent_rows:
        return Absent(f"the rows of {dataset.name} are refitted splits, not independent patients")
    found = []
    for part in np.unique(dataset.split):
        rows = dataset.split == part
        held_out = replace(
            dataset,
            outcome=dataset.outcome[rows],
            risk=dataset.risk[rows],
            rival=None if dataset.rival is None else dataset.rival[rows],
            split=None,
            predictors=(),
            relevance=None if dataset.relevance is None else dataset.relevance[rows],
            cost=None if dataset.cost is None else dataset.cost[rows],
            benefit=None if dataset.benefit is None else dataset.benefit[rows],
            complexity=None if dataset.complexity is None else dataset.complexity[rows],
        )
        # The interval comes from the spread between splits, so no replicates are needed within one.
        found.append(_value(replace(site, dataset=held_out), metric, at, bootstrap=2))
    absent = next((one for one in found if isinstance(one, Absent)), None)
    if absent is not None:
        return Absent(f"at least one split allows no value: {absent.reason}")
    estimates = [one for one in found if isinstance(one, Estimate)]
    n_test = len(dataset.outcome) / len(estimates)
    train = None if site.development_rows is None else site.development_rows - n_test
    mean = robustness.over_splits(
        np.array([one.value for one in estimates]),
        n_test=n_test,
        n_train=train if train is not None and train > 0 else None,
        n=len(dataset.outcome),
        events=int(dataset.outcome.sum()),
        level=site.release.release.level,
    )
    return _inside(mean, metric.term)


def _inside(found: Estimate, term: Term) -> Estimate:
    """The interval cut at the ends of what the measure can be."""
    lowest, highest = term.range
    low = found.low if found.low is None or lowest is None else max(found.low, lowest)
    high = found.high if found.high is None or highest is None else min(found.high, highest)
    return replace(found, low=low, high=high)


def _curve(site: Site, maker: CurveMaker) -> CurveResult:
    """A curve of one site, or why there is none."""
    if site.dataset.split is not None and "split" not in maker.needs:
        reason = f"curves are drawn of independent patients; the rows of {site.dataset.name} are refitted splits"
        return CurveResult(maker.name, site.dataset.name, Absent(reason))
    seed = seed_of(site.release, site.dataset.name, maker.chapter)
    found: Curve | Absent = ask(maker, {**columns(site), **settings(site.release), "seed": seed})
    if isinstance(found, Curve):
        refuse_a_bad_curve(maker.name, site.dataset.name, found)
    return CurveResult(maker.name, site.dataset.name, found)


def _described(site: Site, maker: CurveMaker) -> Sequence[Any]:
    rows = ask(maker, {**columns(site), **settings(site.release)})
    return () if isinstance(rows, Absent) else tuple(rows)
