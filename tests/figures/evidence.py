"""Evidence made by hand from seeded numbers: any number of sites, long names, rare outcomes, gaps."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dossier.core.facts import Count, Fact, Method
from dossier.core.release import Release
from dossier.core.types import (
    POOLED,
    Absent,
    At,
    Curve,
    CurveResult,
    DatasetSummary,
    Estimate,
    Evidence,
    Floats,
    Result,
)
from tests.figures import risks
from tests.figures.subgroups import of_subgroups
from tests.reasons import because

THRESHOLD = 0.5
COVID = ("Italy 1", "Italy 2", "Italy 3", "Spain", "Brazil 1", "Brazil 2", "Brazil 3", "Ethiopia")


@dataclass(frozen=True)
class Case:
    """One kind of study that every figure must bear."""

    name: str
    sites: tuple[str, ...]
    rare: bool = False
    gaps: bool = False
    similar: float = 1.0
    """The share of sites whose similarity is known."""
    acceptance: bool = False
    near: bool = False
    """Whether every site is as similar to the development data as the others."""
    uneven: bool = False
    """Whether the outcome is ten times as frequent at the first site as at the others."""


def _long(count: int) -> tuple[str, ...]:
    return tuple(f"University Hospital of Marienbad No. {index:04d}" for index in range(count))


CASES = (
    Case("one", ("Desio, Italy",)),
    Case("three", ("Italy 1", "Spain", "Ethiopia")),
    Case("eight", COVID, acceptance=True),
    Case("covid", COVID, similar=0.25),
    Case("forty", tuple(f"Hospital {index}" for index in range(1, 41)), uneven=True),
    Case("long", _long(8)),
    Case("long_forty", _long(40), similar=0.5),
    Case("long_one", _long(1)),
    Case("rare", COVID, rare=True),
    Case("gaps", COVID, gaps=True, similar=0.5),
    Case("two", ("Rotterdam, surgery from 1988", "GBSG trial, Germany")),
    Case("near", COVID, near=True, uneven=True),
    Case("near_many", tuple(f"Hospital {index}" for index in range(1, 15)), near=True),
)
BY_NAME = {case.name: case for case in CASES}


def bare(**declared: object) -> Release:
    """A release of one outcome that declares what it has to, and this."""
    needed = {"release": {"model": "M", "version": "1", "date": None, "owner": "O"}, "prediction": {"column": "risk"}}
    return Release.model_validate({"outcome": {"name": "infection", "column": "y"}, **needed, **declared})


def release(case: Case) -> Release:
    """A release that declares what the figures ask for."""
    threshold = 0.01 if case.rare else THRESHOLD
    accepted = {"measure": "auroc", "dataset": "each external", "bound": "low", "at_least": 0.75}
    return bare(
        thresholds={"declared": (threshold,), "range": (0.002, 0.02) if case.rare else (0.05, 0.6)},
        dataset=tuple(
            {"name": f"site-{index}", "role": "external", "file": f"{index}.csv", "site": site}
            for index, site in enumerate(case.sites)
        ),
        acceptance=(accepted,) if case.acceptance else (),
        robustness={"similarity": "averaged"},
    )


def _estimate(value: float, half: float, n: int, low: float = -9, high: float = 9, **details: float) -> Estimate:
    return Estimate(
        value, max(low, value - half), min(high, value + half), 0.95, n, Method("delta_method"), details=details
    )


def _curve(n: int, **columns: Sequence[float | None] | Floats) -> Curve:
    tidy = {name: tuple(None if v is None else float(v) for v in values) for name, values in columns.items()}
    return Curve(tidy, n, Method("straight_line"))


def evidence(case: Case) -> Evidence:
    """The evidence of a case; the same numbers every time."""
    rng = np.random.default_rng(7)
    scale = 0.02 if case.rare else 1.0
    threshold = 0.01 if case.rare else THRESHOLD
    datasets: list[DatasetSummary] = []
    results: list[Result] = []
    curves: list[CurveResult] = []
    for index, site in enumerate(case.sites):
        name, n = f"site-{index}", int(rng.integers(100, 2000))
        events = max(5, int(n * (0.011 if case.rare else rng.uniform(0.1, 0.6)))) if index != 6 else n - 11
        if case.uneven and index:
            events = max(25, n // 20)
        datasets.append(DatasetSummary(name, "external", site, n, events, n, {}, ()))
        gap = case.gaps and index % 3 == 1
        known = index < max(1, round(case.similar * len(case.sites)))
        results += _site_results(
            rng, name, n, events, gap, known, threshold, (0.46, 0.49) if case.near else (0.05, 0.65)
        )
        curves += [
            CurveResult(curve, name, Absent(because("one class only: all rows are events")) if gap else found)
            for curve, found in _site_curves(rng, n, events, scale, threshold).items()
        ]
        bend = 0.6 + index % 5 / 4
        curves += [
            CurveResult(curve, name, Absent(because("one class only: all rows are events")) if gap else found)
            for curve, found in risks.of_site(index, n, events, scale, threshold, bend).items()
        ]
        results += [
            Result(measure, measure, name, at, Absent(because("one class only: all rows are events")) if gap else found)
            for measure, at, found in risks.results_of(n, events, threshold, scale, bend)
        ]
    results += _pooled(len(case.sites))
    curves += _pooled_curves(curves, datasets, threshold, case)
    results.append(
        Result(
            "actual_accuracy",
            "actual_accuracy",
            "site-0",
            {},
            Estimate(
                0.802,
                0.78,
                0.82,
                0.95,
                427,
                Method("bootstrap"),
                details={"measured_accuracy": 0.9, "rho": 0.57, "bound_low": 0.7775, "bound_high": 0.9775},
            ),
        )
    )
    return Evidence(
        release(case),
        tuple(datasets),
        tuple(results),
        tuple(curves),
        (),
        (),
        {},
        {},
        (),
        {},
        subgroups=of_subgroups(datasets, scale, case.gaps),
    )


def _site_results(
    rng: np.random.Generator,
    name: str,
    n: int,
    events: int,
    gap: bool,
    known: bool,
    threshold: float,
    similarity: tuple[float, float],
) -> list[Result]:
    half = 2.5 / math.sqrt(n)
    at: At = {"threshold": threshold}
    area = _estimate(rng.uniform(0.62, 0.97), half, n, 0, 0.999)
    found: list[tuple[str, At, Estimate | Absent]] = [
        ("auroc", {}, replace(area, method=Method("delong"))),
        ("oe_ratio", {}, _estimate(rng.uniform(0.7, 2.4), 4 * half, n, 0.05)),
        ("standardized_net_benefit", at, _estimate(rng.uniform(-0.1, 0.9), 2 * half, n, -9, 1)),
        ("net_benefit", at, _estimate(rng.uniform(0, 0.4), half, n)),
        ("brier", {}, _estimate(rng.uniform(0.05, 0.4), half / 2, n, 0, 1)),
        ("mss_auroc", {}, Estimate(rng.uniform(50, 2000), None, None, None, n, Method("log_closed_form"))),
        ("mss_snb", at, Estimate(rng.uniform(50, 500), None, None, None, n, Method("log_closed_form"))),
        ("mss_brier", {}, Estimate(rng.uniform(50, 600), None, None, None, n, Method("log_closed_form"))),
        ("correspondence_averaged", {}, _estimate(rng.uniform(*similarity), 0.04, n, 0, 1)),
        # Of a generator of its own, so that the values above and of the next sites stay what they are.
        ("net_benefit_gain", at, _estimate(np.random.default_rng(n).uniform(-0.1, 0.3), half, n, -9)),
    ]
    gone: list[Result] = []
    for measure, where, value in found:
        missing = (gap and measure in ("auroc", "oe_ratio", "mss_snb")) or (
            measure == "correspondence_averaged" and not known
        )
        gone.append(Result(measure, measure, name, where, Absent(because(f"{name} has none")) if missing else value))
    return gone


def _site_curves(rng: np.random.Generator, n: int, events: int, scale: float, declared: float) -> dict[str, Curve]:
    grid = np.linspace(0, 1, 101)
    bend = rng.uniform(0.5, 2)
    risk = np.linspace(0.02, 0.95, 100) * scale
    seen = (risk / scale) ** bend * scale
    span = (0.05, 0.6) if scale == 1 else (0.002, 0.02)
    threshold = np.union1d(np.linspace(*span, 101), [declared])
    phi = events / n
    everyone = phi - (1 - phi) * threshold / (1 - threshold)
    model = np.maximum(everyone, 0) + phi * 0.3 * (1 - (threshold - span[0]) / (span[1] - span[0]) * 0.8)
    tau = np.linspace(0.5, 1, 51)
    return {
        "roc": _curve(n, fpr=grid, tpr=grid**0.25),
        "calibration_curve": _curve(
            n, risk=risk, observed=seen, low=np.maximum(seen - 0.05 * scale, 0), high=np.minimum(seen + 0.09 * scale, 1)
        ),
        "decision_curve": _curve(
            n,
            threshold=threshold,
            net_benefit=model,
            low=model - 0.05 * phi,
            high=model + 0.05 * phi,
            treat_all=everyone,
            treat_none=np.zeros(len(threshold)),
        ),
        "h_accuracy_profile": _curve(n, tau=tau, h_accuracy=1.2 - tau, low=1.15 - tau, high=1.25 - tau),
    }


def _pooled(count: int) -> list[Result]:
    if count < 2:
        return []
    if count == 2:
        why = Absent(Fact("too_few_sites_to_pool", usable=Count(2, "site")))
        return [Result(name, name, POOLED, {}, why) for name in ("auroc", "oe_ratio")]
    more = {"prediction_low": 0.28, "prediction_high": 0.99, "tau": 0.9, "i2": 0.9, "k": count}
    ratio = {"prediction_low": 0.5, "prediction_high": 2.2, "tau": 0.3, "i2": 0.9, "k": count}
    return [
        Result("auroc", "auroc", POOLED, {}, Estimate(0.88, 0.73, 0.96, 0.95, 5000, Method("wald"), details=more)),
        Result(
            "oe_ratio", "oe_ratio", POOLED, {}, Estimate(1.05, 0.88, 1.26, 0.95, 5000, Method("wald"), details=ratio)
        ),
    ]


def _pooled_curves(
    curves: Sequence[CurveResult], datasets: Sequence[DatasetSummary], threshold: float, case: Case
) -> list[CurveResult]:
    n = sum(dataset.n for dataset in datasets)
    made = []
    first = next(curve.found for curve in curves if curve.curve == "decision_curve")
    if len(datasets) > 1 and not case.gaps:
        made.append(CurveResult("decision_curve_all_sites", POOLED, first))
        scale = 0.02 if case.rare else 1.0
        made.append(CurveResult("calibration_curve_all_sites", POOLED, risks.pooled_calibration(scale, n)))
    if isinstance(first, Curve):
        position = POOLED if len(datasets) > 1 else datasets[0].name
        name = "decision_curve_wide_all_sites" if len(datasets) > 1 else "decision_curve_wide"
        made.append(CurveResult(name, position, risks.wide(first)))
    cells = (4, 1, 30, 965) if case.rare else (70, 201, 27, 702)
    names = ("true_positive", "false_negative", "false_positive", "true_negative")
    counts = {name: (float(count),) for name, count in zip(names, cells, strict=True)}
    thousand = {"threshold": (threshold,), **counts}
    made += [
        CurveResult("classification", dataset.name, Curve(thousand, dataset.n, Method("counts")))
        for dataset in datasets
    ]
    measured = np.linspace(0.5, 1, 26)
    fan = {f"reliability_{r:g}": _through(measured, r) for r in (0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 1)}
    made.append(CurveResult("reliability_nomogram", "site-0", _curve(427, measured=measured, **fan)))
    return made


def _through(measured: Floats, reliability: float) -> Floats:
    good = (1 + math.sqrt(reliability)) / 2
    return measured * good + (1 - measured) * (1 - good)


# ---- other numbers --------------------------------------------------------------------------------------------------


def with_estimates(
    results: Sequence[Result], change: Callable[[Estimate], Estimate], measure: str = "", dataset: str = ""
) -> tuple[Result, ...]:
    """The results with every estimate changed, or those of a measure or a dataset."""
    return tuple(
        replace(result, found=change(result.found))
        if measure in ("", result.measure) and dataset in ("", result.dataset) and isinstance(result.found, Estimate)
        else result
        for result in results
    )


def with_measure(found: Evidence, measure: str, estimates: Mapping[str, Estimate], **at: float) -> Evidence:
    """The evidence in which these datasets have the measure, and no others."""
    others = (result for result in found.results if result.measure != measure)
    own = (Result(measure, measure, name, {**at}, estimate) for name, estimate in estimates.items())
    return replace(found, results=(*others, *own))
