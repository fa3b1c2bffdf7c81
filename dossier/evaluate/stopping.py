"""How often a stop rule would stop a model that is fine, and how soon one that is not: simulated at a site's volume."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy

from dossier.core import bands, facts, over_time, register, release
from dossier.core.types import At, Floats
from dossier.evaluate.offered import Site, seed_of
from dossier.metrics.logistic import has_logit, logit
from dossier.metrics.weighted import Measure, Rows, Weighted

REPLICATES, HALF, FOLLOWED = 200, 100, 12
"""Simulated courses, half of them, and the periods that each is followed for."""
OFTEN = 0.9
"""The share of periods with enough patients from which on nothing is said of it."""
TRUTHS = {"fine": (1.0, 1.0), "slope": (0.7, 1.0), "ratio": (1.0, 1.5)}
"""The slope and the O/E of the risks: right ones, too extreme ones, too low ones."""


def simulated(site: Site, metric: register.Metric, at: At, sizes: Sequence[int]) -> Iterator[facts.Fact]:
    """For each stop rule on a measure the share of courses in which it is crossed, and the median period in which.

    A course draws as many patients a period as a period of the site has in the middle, with their risks, and whether
    they have the outcome by the risks that would be right. `judged` is the share of periods of a model that is fine
    that hold enough patients of either kind for the rule to be looked at.
    """
    measure, risk = metric.of_rows, site.dataset.risk
    if measure is None or risk is None or site.dataset.minimum_cell or not has_logit(risk).all():
        return
    rng, n = np.random.default_rng(seed_of(site.release, site.drawn_as, "stopping")), int(np.median(sizes))
    enough, fewer = scipy.stats.binom.cdf(
        [n - bands.FEW_FOR_POOLING, bands.FEW_FOR_POOLING - 1], n, risk.mean()
    ).tolist()
    for rule in (each for each in site.release.care.stop if each.measure == metric.term.measure):
        found: dict[str, facts.Value] = {"judged": max(enough - fewer, 0.0), "seldom": enough - fewer < OFTEN}
        for name, (slope, ratio) in TRUTHS.items():
            right = right_risks(risk, slope, min(ratio * float(risk.mean()), 0.99))
            threshold = float(at.get("threshold", 0.5))
            firsts = [first_crossed(rule, measure, risk, right, n, threshold, rng) for _ in range(REPLICATES)]
            seen = sorted(first for first in firsts if first is not None)
            found[name] = len(seen) / REPLICATES
            found[f"{name}_after"] = seen[HALF - 1] if len(seen) >= HALF else None
        index = site.release.care.stop.index(rule)
        yield facts.Fact("stop_simulated", rule=index, n=n, periods=FOLLOWED, courses=REPLICATES, **found)


def right_risks(risk: Floats, slope: float, mean: float) -> Floats:
    """The risks that would be right where the given ones have this slope, and so many patients the outcome."""
    odds = slope * logit(risk)
    added = scipy.optimize.brentq(lambda added: float(scipy.special.expit(odds + added).mean()) - mean, -50, 50)
    return np.asarray(scipy.special.expit(odds + added))


def first_crossed(
    rule: release.StopRule, measure: Measure, risk: Floats, right: Floats, n: int, at: float, rng: np.random.Generator
) -> int | None:
    """The first period in which a rule is crossed in a simulated course; None where it is not."""
    periods: list[over_time.Period] = []
    for number in range(1, FOLLOWED + 1):
        rows = rng.integers(0, len(risk), n)
        outcome = (rng.random(n) < right[rows]).astype(float)
        if min(outcome.sum(), n - outcome.sum()) < bands.FEW_FOR_POOLING:
            continue
        found = measure(Rows.counted(outcome, risk[rows], at))
        periods += [over_time.Period(number, found.value, None, None)] if isinstance(found, Weighted) else []
        if over_time.crossing(rule, periods):
            return number
    return None
