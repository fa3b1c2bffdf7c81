"""Curves of the risks made by hand: what the figures of the risks ask of a site and of all sites."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dossier.core.facts import Method
from dossier.core.types import At, Curve, Estimate, Floats

RATERS = 13


def made(n: int, events: int | None = None, /, **columns: Floats | tuple[float | None, ...]) -> Curve:
    """A curve from its columns."""
    tidy = {name: tuple(None if v is None else float(v) for v in values) for name, values in columns.items()}
    return Curve(tidy, n, Method("wald"), events)


def around(value: Floats, half: float, name: str) -> dict[str, Floats]:
    """Shares with a band cut at 0 and 1."""
    return {name: value, f"{name}_low": np.maximum(value - half, 0), f"{name}_high": np.minimum(value + half, 1)}


def bins(end: float, events: int, others: int) -> Curve:
    """The distribution of the risks: the more of the cases, the fewer of the others, the higher the risk."""
    edges = np.append(np.arange(11) / round(10 / end), [] if end == 1 else [1.0])
    share = np.append(np.exp(-np.arange(10) / 2), [] if end == 1 else [0.002])
    up, down = np.append(share[:10][::-1], share[10:]) / share.sum(), share / share.sum()
    return made(
        events + others,
        events,
        low=edges[:-1],
        high=edges[1:],
        events=up * events,
        non_events=down * others,
        share_events=up,
        share_non_events=down,
    )


def of_site(index: int, n: int, events: int, scale: float, declared: float, bend: float) -> dict[str, Curve]:
    """The curves of one site; those of the readers at the first site alone."""
    grid = np.linspace(0, scale, 101)
    ten = np.linspace(0.05, 0.9, 10) * scale
    phi = events / n
    tau = np.arange(1, 100) / 100
    benefit = phi * (1 - tau) ** bend
    groups = (ten / scale) ** bend * scale
    found = {
        "risk_distribution": bins(scale if scale < 1 else 1.0, events, n - events),
        "calibration_groups": made(
            n,
            events,
            mean_risk=ten,
            observed=groups * 1.05,
            low=np.maximum(groups - 0.1 * scale, 0),
            high=groups * 1.05 + 0.1 * scale,
            n=np.full(10, n / 10),
        ),
        "cumulative_risks": made(
            n,
            events,
            risk=grid,
            **around((1 - grid / scale) ** (0.6 / bend), 0.04, "cases"),
            **around((1 - grid / scale) ** 3, 0.02, "others"),
        ),
        "utility_profile": made(
            n,
            events,
            tau=tau,
            **around(benefit, 0.03, "net_benefit"),
            **around(benefit / phi - 0.4 * tau, 0.05, "standardized_net_benefit"),
            **around(0.7 + 0.3 * (2 * tau - 1) ** 2, 0.02, "h_accuracy_risk"),
        ),
    }
    found["predictive_values"] = both_assumptions(0.8, 0.9, phi, -0.03)
    found["cumulative_risks"] = replace(found["cumulative_risks"], method=Method("wilson"))
    if index == 0:
        found["rater_rates"] = _raters(n, events)
    return found


def by_bayes(sensitivity: float, specificity: float, at: Floats) -> tuple[Floats, Floats]:
    """PPV and NPV at prevalences."""
    ppv = sensitivity * at / (sensitivity * at + (1 - specificity) * (1 - at))
    return ppv, specificity * (1 - at) / (specificity * (1 - at) + (1 - sensitivity) * at)


def both_assumptions(sensitivity: float, specificity: float, own: float, shift: float = 0.0) -> Curve:
    """Predictive values by prevalence, under the second assumption higher by so much where the site is not."""
    grid = np.unique([own, *np.linspace(0.05, 0.95, 19)])
    columns = {"prevalence": grid, "own": (grid == own).astype(float)}
    for name, same in zip(("ppv", "npv"), by_bayes(sensitivity, specificity, grid), strict=True):
        columns |= {f"{name}_same": same, f"{name}_shifted": same + shift * (grid != own)}
    return made(300, 100, **columns)


def _raters(n: int, events: int) -> Curve:
    rng = np.random.default_rng(3)
    return made(
        n,
        events,
        rater=np.arange(1.0, RATERS + 1),
        cases=np.full(RATERS, float(events)),
        others=np.full(RATERS, float(n - events)),
        **around(rng.uniform(0.7, 0.95, RATERS), 0.05, "true_positive_rate"),
        **around(rng.uniform(0.05, 0.2, RATERS), 0.03, "false_positive_rate"),
    )


def wide(narrow: Curve) -> Curve:
    """The decision curve a quarter of its range further on either side: shifted steps of the same lines."""
    threshold = np.array(narrow.columns["threshold"], dtype=float)
    span = threshold[-1] - threshold[0]
    before = np.linspace(max(0, threshold[0] - span / 4), threshold[0], 9)[:-1]
    after = np.linspace(threshold[-1], threshold[-1] + span / 4, 9)[1:]
    columns: dict[str, tuple[float | None, ...]] = {}
    for name, values in narrow.columns.items():
        numbers = np.array(values, dtype=float)
        columns[name] = tuple(np.concatenate((np.full(8, numbers[0]), numbers, np.full(8, numbers[-1]))).tolist())
    columns["threshold"] = tuple(np.concatenate((before, threshold, after)).tolist())
    return Curve(columns, narrow.n, narrow.method)


def pooled_calibration(scale: float, n: int) -> Curve:
    """The curve of the average site."""
    risk = np.linspace(0.1, 0.8, 101) * scale
    return made(n, None, risk=risk, observed=risk * 1.1, low=risk * 0.8, high=np.minimum(risk * 1.3, 1))


def results_of(n: int, events: int, declared: float, scale: float, bend: float) -> list[tuple[str, At, Estimate]]:
    """The estimates that the figures of the risks read beside their curves."""
    cases, others = 0.6 * scale / bend**0.3, 0.2 * scale
    means: dict[str, float | None] = {"mean_of_cases": cases, "mean_of_others": others}
    gap = cases - others
    at: At = {"threshold": declared}
    ppv, npv = (float(value) for value in by_bayes(0.8, 0.9, np.array(events / n)))
    return [
        (
            "tjur_r2",
            {},
            Estimate(gap, gap - 0.02 * scale, gap + 0.02 * scale, 0.95, n, Method("welch"), events, None, means),
        ),
        ("sensitivity", at, Estimate(0.8, 0.7, 0.9, 0.95, events, Method("wilson"))),
        ("specificity", at, Estimate(0.9, 0.85, 0.95, 0.95, n - events, Method("wilson"))),
        ("ppv", at, Estimate(ppv, 0.9 * ppv, min(1.1 * ppv, 1.0), 0.95, n, Method("wilson"))),
        ("npv", at, Estimate(npv, npv - 0.02, min(npv + 0.01, 1.0), 0.95, n, Method("wilson"))),
    ]
