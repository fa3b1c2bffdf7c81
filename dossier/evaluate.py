"""Study -> Evidence: every measure on every site, then every synthesis over the sites.

A measure's parameters say what it needs. `_columns` and `_settings` list all that can be named; what a site lacks
becomes an `Absent` with its reason, without the measure being asked.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import joblib
import numpy as np

from dossier import flags
from dossier.metrics import pooled, robustness
from dossier.register import REGISTER, CurveMaker, Metric, Synthesis, fill
from dossier.release import Release, Utility
from dossier.types import (
    POOLED,
    READER_STUDY,
    Absent,
    Curve,
    CurveResult,
    Dataset,
    DatasetSummary,
    DescriptionResult,
    Estimate,
    Evidence,
    Feature,
    Readers,
    Result,
    SiteResults,
    Study,
    Term,
)
from dossier.verb import makes

Progress = Callable[[str, str, int, int], None]
"""Told the stage, what was just finished, how many are done, and of how many."""

PACKAGES = ("numpy", "scipy", "pyarrow", "matplotlib", "jinja2", "markdown-it-py", "weasyprint", "pydantic")
"""The packages whose version can change a number or a page."""
PERFORMANCE_OF_THE_MISSION = ("auroc", "standardized_net_benefit", "brier")


@dataclass(frozen=True)
class Site:
    """One dataset with what its measures may ask for beside its own rows."""

    dataset: Dataset
    release: Release
    development: tuple[Feature, ...]
    development_rows: int | None
    readers: Readers | None
    readers_elsewhere: str | None


@dataclass(frozen=True)
class SiteEvidence:
    """All that one site yields."""

    site: SiteResults
    descriptions: tuple[DescriptionResult, ...]


def evidence(study: Study, jobs: int = 1, progress: Progress | None = None) -> Evidence:
    """Everything that can be known from a study, with the reason for everything that cannot.

    The answer does not depend on `jobs`: each measure draws its random numbers from the release's seed, the site
    and the chapter.
    """
    fill("metrics")
    tell = progress or (lambda stage, name, done, total: None)
    sites = []
    for done, found in enumerate(_every_site(study, jobs), start=1):
        sites.append(found)
        tell("evaluate", found.site.summary.name, done, len(study.datasets))
    site_results = tuple(found.site for found in sites)
    external = tuple(site for site in site_results if site.summary.role == "external")
    internal = _internal(study.release, site_results)
    results = [result for site in site_results for result in site.results]
    results += _declared_results(study.release)
    results += _pooled_results(study.release, external)
    results += _syntheses(study.release, external, internal, "external")
    results += _syntheses(study.release, external, internal, "pooled")
    results += _study_results(study)
    curves = [curve for site in site_results for curve in site.curves]
    curves += _pooled_curves(study.release, external)
    curves += _study_curves(study)
    summaries = tuple(site.summary for site in site_results)
    return Evidence(
        release=study.release,
        datasets=summaries,
        results=tuple(results),
        curves=tuple(curves),
        descriptions=tuple(row for found in sites for row in found.descriptions),
        flags=study.flags + flags.raised(summaries, tuple(results)),
        terms={name: entry.term for name, entry in (REGISTER.metrics | REGISTER.syntheses).items()},
        statements=study.statements,
        inputs=study.inputs,
        versions={
            "dossier": version("validation-dossier"),
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
    )


# ---- one site -------------------------------------------------------------------------------------------------------


def _every_site(study: Study, jobs: int) -> Iterator[SiteEvidence]:
    """The evidence of each dataset, in the order of the release."""
    development = next((dataset for dataset in study.datasets if dataset.role == "development"), None)
    sites = [
        Site(
            dataset=dataset,
            release=study.release,
            development=development.predictors if development else (),
            development_rows=development.rows_read - sum(development.excluded.values()) if development else None,
            readers=study.readers if study.readers and study.readers.dataset == dataset.name else None,
            readers_elsewhere=study.readers.dataset if study.readers else None,
        )
        for dataset in study.datasets
    ]
    if jobs == 1 or len(sites) == 1:
        return map(_site, sites)
    answers: Iterator[SiteEvidence] = joblib.Parallel(n_jobs=jobs, return_as="generator")(
        joblib.delayed(_site)(site) for site in sites
    )
    return answers


def _site(site: Site) -> SiteEvidence:
    """Every measure, curve and description of one dataset."""
    register = fill("metrics")
    role = site.dataset.role
    results = [
        result for metric in register.metrics.values() if role in metric.roles for result in _measured(site, metric)
    ]
    curves = [_curve(site, maker) for maker in register.curves.values() if role in maker.roles]
    return SiteEvidence(
        site=SiteResults(_summary(site.dataset), tuple(results), tuple(curves)),
        descriptions=tuple(
            DescriptionResult(site.dataset.name, row)
            for maker in register.descriptions.values()
            if role in maker.roles
            for row in _described(site, maker)
        ),
    )


def _summary(dataset: Dataset) -> DatasetSummary:
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


def _columns(site: Site) -> dict[str, Any]:
    """What can be named as a column, or the reason why this site does not have it."""
    dataset, readers = site.dataset, site.readers
    if readers is None:
        no_readers = Absent(
            f"the readers judged the cases of {site.readers_elsewhere}, not those of {dataset.name}"
            if site.readers_elsewhere
            else "the release has no readers' tables"
        )
    columns: dict[str, Any] = {
        "outcome": _or(dataset.outcome, f"{dataset.name} has no outcome"),
        "risk": _or(dataset.risk, f"{dataset.name} has no risk"),
        "rival": _or(dataset.rival, f"{dataset.name} has no risk of a rival"),
        "split": _or(dataset.split, f"{dataset.name} has no refitted splits"),
        "predictors": _or(dataset.predictors, f"{dataset.name} has no predictors"),
        "case_relevance": _or(dataset.relevance, f"{dataset.name} has no relevance"),
        "cost": _or(dataset.cost, f"{dataset.name} has no costs"),
        "benefit": _or(dataset.benefit, f"{dataset.name} has no benefits"),
        "development": _or(site.development, "the release has no development table with predictors"),
    }
    for name, field in {
        "labels": "labels",
        "confidence": "confidence",
        "rater_complexity": "complexity",
        "truth": "truth",
        "rater_accuracy": "accuracy",
        "coherence": "coherence",
    }.items():
        columns[name] = (
            no_readers if readers is None else _or(getattr(readers, field), f"the readers' tables hold no {field}")
        )
    return columns


def _or(value: Any, reason: str) -> Any:
    """The value, or why it is not there."""
    return Absent(reason) if value is None or (isinstance(value, tuple) and not value) else value


def _settings(release: Release) -> dict[str, Any]:
    """What can be named as a setting."""
    declared = release.thresholds.declared
    return {
        "level": release.release.level,
        "bootstrap": release.resampling.bootstrap,
        "permutations": release.resampling.permutations,
        "primary_threshold": declared[0] if declared else Absent("no threshold is declared"),
        "threshold_range": release.thresholds.range,
        "declared_thresholds": tuple(declared),
        "declared_minimum": release.robustness.minimum,
        "severity_weights": release.severity.weights
        if release.severity
        else Absent("the release declares no severity weights"),
        "early_stopping": False,
        "desired_accuracy": _desired_accuracy(release),
        **{f"{measure}_width": width for measure, width in release.sample.width.items()},
    }


def _desired_accuracy(release: Release) -> float | Absent:
    """The accuracy against the truth that a criterion asks for."""
    asked = [
        one.at_least for one in release.acceptance if one.measure == "actual_accuracy" and one.at_least is not None
    ]
    return asked[0] if asked else Absent("no criterion of [[acceptance]] says which actual_accuracy is asked for")


def _grid(release: Release) -> dict[str, tuple[float | str, ...]]:
    """The lists over which a measure's `at` runs."""
    return {
        "threshold": tuple(release.thresholds.declared),
        "priority": tuple(sorted({0.5, *release.h_accuracy.priority})) + tuple(release.h_accuracy.priority_from),
        "tau": tuple(sorted({0.5, *release.h_accuracy.tau})),
        "complexity": ("constant",),
        "fpr": tuple(f"{low:g}-{high:g}" for low, high in release.roc.parts) if release.roc else (),
        "measure": PERFORMANCE_OF_THE_MISSION,
        "minimum": ("worst_split", "quantile_05", "declared"),
        "calibration": ("ece", "eci"),
    }


def _grid_of_chapter(release: Release, chapter: str) -> dict[str, tuple[float | str, ...]]:
    """The lists of settings whose word means something of its own in a chapter."""
    if chapter != "utility":
        return {}
    declared = release.utility or Utility()
    named = declared.relevance
    costs = ("cost_benefit",) if declared.cost is not None else ()
    return {
        "tau": (*release.thresholds.declared, *declared.tau_from, *costs),
        "gamma": declared.gamma,
        "relevance": ("constant", *(() if named is None else (named if isinstance(named, str) else "raters",))),
    }


def _seed(release: Release, dataset: str, chapter: str) -> int:
    """A seed of its own for each site and chapter, so that nothing depends on order or on the number of workers."""
    text = f"{release.release.seed}/{dataset}/{chapter}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def _measured(site: Site, metric: Metric) -> Iterator[Result]:
    """A measure at one site, at each of its settings."""
    for at in _places(site.release, metric.term):
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


def _places(release: Release, term: Term) -> Iterator[dict[str, float | str]]:
    """Every combination of the settings that a measure runs over; one empty place when a list is empty."""
    grid = _grid(release) | _grid_of_chapter(release, term.chapter)
    for values in itertools.product(*(grid[name] or (None,) for name in term.at)):
        yield {name: value for name, value in zip(term.at, values, strict=True) if value is not None}


def _value(site: Site, metric: Metric, at: Mapping[str, float | str], **instead: Any) -> Estimate | Absent:
    """A measure's answer, checked to be a number."""
    seed = _seed(site.release, site.dataset.name, metric.term.chapter)
    offered = {**_columns(site), **_settings(site.release), "seed": seed, **at, **instead}
    found: Estimate | Absent = _ask(metric, offered)
    if isinstance(found, Estimate):
        _refuse_what_is_no_number(metric.term.name, site.dataset.name, found)
    return found


def _ask(maker: Metric | CurveMaker | Synthesis, offered: Mapping[str, Any]) -> Any:
    """Call a function with what it names; a column that is missing answers for it, unless it has a default."""
    unknown = [need for need in maker.needs if need not in offered]
    if unknown:
        raise TypeError(f"{maker.function.__name__} asks for {unknown[0]}, which is neither a column nor a setting")
    absent = _missing(maker, offered)
    if absent is not None:
        return absent
    return maker.function(**{need: offered[need] for need in maker.needs if not isinstance(offered[need], Absent)})


def _missing(maker: Metric | CurveMaker | Synthesis, offered: Mapping[str, Any]) -> Absent | None:
    """The reason of the first thing that a function cannot do without and this site does not have."""
    needed = (offered[need] for need in maker.needs if need not in _optional(maker.function))
    return next((one for one in needed if isinstance(one, Absent)), None)


def _optional(function: Callable[..., Any]) -> frozenset[str]:
    defaults = function.__defaults__ or ()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return frozenset(names[len(names) - len(defaults) :]) | frozenset(function.__kwdefaults__ or {})


def _refuse_what_is_no_number(name: str, dataset: str, found: Estimate) -> None:
    """A measure that answers NaN or infinity has a fault of ours; it must not reach a page."""
    numbers = (found.value, found.low, found.high, found.se, *found.details.values())
    if not all(number is None or math.isfinite(number) for number in numbers):
        raise ArithmeticError(f"{name} at {dataset} is not a number: {found}")


def _over_splits(site: Site, metric: Metric, at: Mapping[str, float | str]) -> Estimate | Absent:
    """A measure of refitted splits: its mean over the splits, with the spread between them."""
    dataset = site.dataset
    if dataset.split is None or dataset.outcome is None or dataset.risk is None:
        raise TypeError("refitted splits have rows with an outcome and a risk")
    missing = _missing(metric, {**_columns(site), **_settings(site.release), "seed": 0, **at})
    if missing is not None:
        return missing
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
    seed = _seed(site.release, site.dataset.name, maker.chapter)
    found: Curve | Absent = _ask(maker, {**_columns(site), **_settings(site.release), "seed": seed})
    if isinstance(found, Curve):
        _refuse_a_bad_curve(maker.name, site.dataset.name, found)
    return CurveResult(maker.name, site.dataset.name, found)


def _refuse_a_bad_curve(name: str, dataset: str, found: Curve) -> None:
    """Columns of one length, thin enough that no patient can be read from them, and numbers all through."""
    lengths = {len(column) for column in found.columns.values()}
    numbers = (number for column in found.columns.values() for number in column if number is not None)
    if len(lengths) != 1 or max(lengths) > 250 or not all(map(math.isfinite, numbers)):
        raise ArithmeticError(f"the curve {name} at {dataset} is uneven, too long or not made of numbers")


def _described(site: Site, maker: CurveMaker) -> Sequence[Any]:
    rows = _ask(maker, {**_columns(site), **_settings(site.release)})
    return () if isinstance(rows, Absent) else tuple(rows)


# ---- the reader study -----------------------------------------------------------------------------------------------


def _of_study(study: Study, chapter: str) -> dict[str, Any]:
    """What a measure of the reader study may name."""
    seed = _seed(study.release, READER_STUDY, chapter)
    missing = Absent("the release has no reader study")
    return {**_settings(study.release), "study": study.reader_study or missing, "seed": seed}


def _study_results(study: Study) -> Iterator[Result]:
    """Every measure that belongs to no site but to the reader study, over all readers and by their groups."""
    groups = sorted(set(study.reader_study.group)) if study.reader_study else []
    for metric in (metric for metric in REGISTER.metrics.values() if not metric.roles):
        places: list[dict[str, float | str]] = [{}]
        places += [{"group": group} for group in groups] if "group" in metric.term.at else []
        for at in places:
            found: Estimate | Absent = _ask(metric, {"group": "", **_of_study(study, metric.term.chapter), **at})
            if isinstance(found, Estimate):
                _refuse_what_is_no_number(metric.term.name, READER_STUDY, found)
            yield Result(metric.term.name, metric.term.measure, READER_STUDY, at, found)


def _study_curves(study: Study) -> Iterator[CurveResult]:
    """Every curve of the reader study."""
    for maker in (maker for maker in REGISTER.curves.values() if not maker.roles):
        found: Curve | Absent = _ask(maker, _of_study(study, maker.chapter))
        if isinstance(found, Curve):
            _refuse_a_bad_curve(maker.name, READER_STUDY, found)
        yield CurveResult(maker.name, READER_STUDY, found)


# ---- all sites ------------------------------------------------------------------------------------------------------


def _internal(release: Release, sites: Sequence[SiteResults]) -> SiteResults | None:
    """What stands for the internal test: the first internal dataset, or else what a party declared of its own."""
    from_rows = next((site for site in sites if site.summary.role == "internal"), None)
    if from_rows is not None:
        return from_rows
    declared = tuple(_declared_results(release))
    if not declared:
        return None
    first = declared[0]
    events = first.found.events if isinstance(first.found, Estimate) else None
    n = first.found.n if isinstance(first.found, Estimate) else 0
    summary = DatasetSummary(first.dataset, "internal", first.dataset, n, events, n, {}, ())
    return SiteResults(summary, tuple(one for one in declared if one.dataset == first.dataset), ())


def _declared_results(release: Release) -> list[Result]:
    """The performance that was declared without rows."""
    return [
        Result(
            "auroc",
            "auroc",
            declared.name,
            {},
            robustness.declared_estimate(
                declared.auroc.value,
                declared.auroc.low,
                declared.auroc.high,
                release.release.level,
                declared.auroc.n,
                declared.auroc.events,
            ),
        )
        for declared in release.declared_performance
        if declared.auroc is not None
    ]


def _pooled_results(release: Release, external: Sequence[SiteResults]) -> Iterator[Result]:
    """Each measure that has a scale for it, pooled over the external sites."""
    for metric in REGISTER.metrics.values():
        if metric.pool is None:
            continue
        for at in _places(release, metric.term):
            wanted = {**metric.fixed, **at}
            found = {
                site.summary.name: result.found
                for site in external
                for result in site.results
                if result.term == metric.term.name and dict(result.at) == wanted
            }
            estimates = {name: one for name, one in found.items() if isinstance(one, Estimate)}
            yield Result(
                metric.term.name,
                metric.term.measure,
                POOLED,
                wanted,
                pooled.pool(tuple(estimates.values()), metric.pool, release.release.level, names=tuple(estimates)),
            )


def _syntheses(
    release: Release, external: Sequence[SiteResults], internal: SiteResults | None, each: str
) -> Iterator[Result]:
    """Every synthesis of this kind: at each external site, or once over all of them."""
    for entry in REGISTER.syntheses.values():
        if entry.each != each:
            continue
        for site in external if each == "external" else (None,):
            dataset = site.summary.name if site else POOLED
            for at in _places(release, entry.term):
                offered = {
                    **_settings(release),
                    "seed": _seed(release, dataset, entry.term.chapter),
                    "site": site,
                    "internal": internal,
                    "sites": tuple(external),
                    **at,
                }
                found: Estimate | Absent = _ask(entry, offered)
                if isinstance(found, Estimate):
                    _refuse_what_is_no_number(entry.term.name, dataset, found)
                yield Result(entry.term.name, entry.term.measure, dataset, at, found)


def _pooled_curves(release: Release, external: Sequence[SiteResults]) -> Iterator[CurveResult]:
    """Every curve over all external sites."""
    for maker in REGISTER.curve_syntheses.values():
        found: Curve | Absent = _ask(maker, {**_settings(release), "sites": tuple(external)})
        if isinstance(found, Curve):
            _refuse_a_bad_curve(maker.name, POOLED, found)
        yield CurveResult(maker.name, POOLED, found)


makes(evidence)
