"""How often a release that is as good as the last one is called worse, and one that is worse is: VERSIONS.md.

Both versions see the log odds of every patient with noise of their own, so that they are equally good and never alike.
"""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dossier import metrics
from dossier.core import multiplicity, types
from dossier.core.facts import Fact
from dossier.core.register import terms_of
from dossier.core.release import PREVIOUS, Release
from dossier.evaluate.changes import changes
from dossier.evaluate.site import summary

AT = (0.2, 0.3)
PLAIN = ("auroc", "oe_ratio", "calibration_slope", "brier")
AT_THRESHOLD = ("sensitivity", "specificity", "net_benefit_gain")
BETWEEN = ("auroc_difference", "brier_difference")
RELEASE = Release.model_validate(
    {
        "release": {"model": "m", "version": "2", "date": None, "owner": "o", "previous": "results.json"},
        "outcome": {"name": "y", "column": "y"},
        "prediction": {"column": "p", "previous": "q"},
        "thresholds": {"declared": AT},
        "dataset": ({"name": "h0", "role": "external", "file": "h0.csv"},),
    }
)
TERMS = terms_of(RELEASE)
Rows = tuple[Any, Any, Any]
"""What happened, the risks of the version now, and those of the last one."""


def _risk(odds: Any) -> Any:
    return 1 / (1 + np.exp(-odds))


def alike(rng: np.random.Generator, n: int, mean: float, noise: float = 0.5) -> Rows:
    """Patients of a hospital with the risks of two versions that are equally good."""
    truth = rng.normal(mean, 1, n)
    outcome = (rng.random(n) < _risk(truth)).astype(float)
    # What the log odds are on average of who is seen at these, and how far the mean risk is shrunk by what is not seen.
    kept = 1 / (1 + noise**2)
    left = math.sqrt(1 + math.pi / 8 * kept * noise**2)
    now, then = (_risk((mean + kept * (truth + noise * rng.normal(size=n) - mean)) / left) for _ in range(2))
    return outcome, now, then


def too_extreme(rng: np.random.Generator, n: int, mean: float) -> Rows:
    """Patients of a hospital whose risks were right, and now have a slope of .7."""
    truth = rng.normal(mean, 1, n)
    return (rng.random(n) < _risk(truth)).astype(float), _risk(mean + (truth - mean) / 0.7), _risk(truth)


def _results(name: str, outcome: Any, risk: Any, other: Any) -> list[types.Result]:
    """The core measures, and the differences from the other version where that is given."""
    found: list[tuple[str, types.At, Any]]
    found = [(each, {}, getattr(metrics, each)(outcome, risk)) for each in PLAIN]
    found += [
        (each, {"threshold": at}, getattr(metrics, each)(outcome, risk, threshold=at))
        for each in AT_THRESHOLD
        for at in AT
    ]
    if other is not None:
        against: types.At = {"against": PREVIOUS}
        found += [("auroc_difference", against, metrics.auroc_difference(outcome, risk, other))]
        found += [("brier_difference", against, metrics.brier_difference(outcome, risk, other, permutations=1))]
        found += [
            (
                "net_benefit_difference",
                {"threshold": at, **against},
                metrics.net_benefit_difference(outcome, risk, other, threshold=at),
            )
            for at in AT
        ]
    return [types.Result(each, each, name, at, estimate) for each, at, estimate in found]


def worse(now: Sequence[Rows], then: Sequence[Rows] | None) -> tuple[set[str], set[str]]:
    """What is worse at any hospital after Holm, and by the interval alone; `then` other patients, or None: the same."""
    results, rows, before, summaries = [], [], [], []
    for number, (outcome, risk, other) in enumerate(now):
        name = f"h{number}"
        given = None if then is not None else other
        dataset = types.Dataset(name, "external", name, len(outcome), {}, outcome, risk, given)
        rows.append(dataset)
        results += _results(name, outcome, risk, given)
        year = datetime.date(2026, 1, 1)
        summaries.append(replace(summary(dataset), dates=(year, year)))
        old = (outcome, other) if then is None else (then[number][0], then[number][2])
        earlier = types.Dataset(name, "external", name, len(old[0]), {}, old[0], old[1])
        last = datetime.date(2025, 1, 1) if then is not None else year
        before.append((replace(summary(earlier), dates=(last, last)), _results(name, *old, None)))
    previous = types.Previous(
        *("results.json", "", "1", None, 0.95, 1, AT, tuple(each for each, _ in before)),
        tuple(result for _, some in before for result in some),
        *((), types.Absent(Fact("no_manifest")), types.Predicted.by(RELEASE)),
    )
    found = changes(RELEASE, previous, summaries, results, TERMS, rows)
    sure, alone = set(), set()
    for result in () if found is None else found.results:
        details = {} if isinstance(result.found, types.Absent) else result.found.details
        if "p_adjusted" in details and (details["worse_by"] or 0) > 0:
            if (details["p_value"] or 0) < 0.05:
                alone.add(result.measure)
            if (details["p_adjusted"] or 0) <= multiplicity.OF_DIFFERENCES:
                sure.add(result.measure)
    return sure, alone


def null(hospitals: int, mean: float, times: int, others: bool, seed: int) -> str:
    """A line of the table: releases as good as the last one, and how many are called worse."""
    kinds: dict[str, int] = {}
    rng, called = np.random.default_rng(seed), 0
    for _ in range(times):
        sizes = rng.integers(100, 2001, hospitals)
        now = [alike(rng, int(n), mean) for n in sizes]
        then = [alike(rng, int(n), mean) for n in rng.integers(100, 2001, hospitals)] if others else None
        sure, _ = worse(now, then)
        called += bool(sure)
        for measure in sure:
            kinds[measure] = kinds.get(measure, 0) + 1
    said = ", ".join(f"{measure} {count}" for measure, count in sorted(kinds.items())) or "none"
    which = "others" if others else "the same"
    return f"| {which} | {hospitals} | {mean} | {times} | {called / times:.3f} | {said} |"


def power(n: int, mean: float, times: int, others: bool, seed: int) -> str:
    """A line of the table: risks that were right and have a slope of .7 now, and how often that is said."""
    rng, slope, anything = np.random.default_rng(seed), 0, 0
    for _ in range(times):
        then = [too_extreme(rng, n, mean)] if others else None
        sure, _ = worse([too_extreme(rng, n, mean)], then)
        slope, anything = slope + ("calibration_slope" in sure), anything + bool(sure)
    which = "others" if others else "the same"
    return f"| {which} | {n:,} | {mean} | {times} | {slope / times:.3f} | {anything / times:.3f} |"


PAGE = """\
# How often a release is called worse than the last one

Two versions that are equally good: each sees the log odds of every patient with noise of its own. Hospitals of 100 to \
2,000 patients, \
thresholds of
.2 and .3; called worse is a release in which any measure is worse at any hospital after Holm's correction. At \
most .05 is wished.
`make versions` simulates them anew.

| Patients | Hospitals | Mean logit of the risk | Releases | Called worse | By which measure |
|---|---:|---:|---:|---:|---|
{null}

Risks that were right at one hospital, and now have a slope of .7 (SD of the logit risk 1). At least .90 is wished on \
the same patients.

| Patients | Number | Mean logit of the risk | Releases | The slope is called worse | Anything is |
|---|---:|---:|---:|---:|---:|
{power}

On other patients no z-test reaches .90 at 1,000: the errors of the two slopes are .089 and .062 there (their \
expected information), so that a
change of .30 lies 2.8 errors from none. One look finds that in .79, the first step of Holm's correction over \
the seven numbers that are
judged on other patients in .53, near what is reached; .90 takes 1,370 patients with one look and 2,060 \
with seven. Fewer looks would
leave the other numbers unjudged.

A cell of 400 with a true rate of .05 reads .03 to .07, one of 200 .02 to .08.
"""


def main() -> None:
    """Simulate every cell and write VERSIONS.md."""
    same, other = [(1, -1.5, 400), (3, -1.5, 400), (8, -1.5, 200), (3, -3.0, 400)], [(3, -1.5, 400)]
    nulls = [null(*cell, others, 1) for others, cells in ((False, same), (True, other)) for cell in cells]
    powers = [power(n, -1.0, times, others, 2) for others in (False, True) for n, times in ((300, 100), (1000, 400))]
    page = PAGE.format(null="\n".join(nulls), power="\n".join(powers))
    Path(__file__).with_name("VERSIONS.md").write_text(page, encoding="utf-8")
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
