"""How often a release that is as good as the last one is called worse, and one that is worse is: VERSIONS.md.

Both versions see the log odds of every patient with noise of their own, so that they are equally good and never alike.
"""

from __future__ import annotations

import datetime
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dossier import evaluate, metrics, reading
from dossier.core import claims, multiplicity, types
from dossier.core.facts import Fact
from dossier.core.register import terms_of
from dossier.core.release import PREVIOUS, Release
from dossier.evaluate.changes import changes
from dossier.evaluate.site import summary
from dossier.record import results as record
from tests.smallest import HEAD, release_in

AT = (0.2, 0.3)
PLAIN = ("auroc", "oe_ratio", "calibration_slope", "brier")
AT_THRESHOLD = ("sensitivity", "specificity", "net_benefit_gain")
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


ABOUT = HEAD.replace('column = "risk"', "{risk}").replace("[outcome]", "{previous}[outcome]{classes}")
REST = """[thresholds]
declared = [0.3]
[resampling]
bootstrap = 2
permutations = 9
[[subgroup]]
column = "ward"
"""


def _table(rng: np.random.Generator, n: int, classes: int, wards: int) -> str:
    """Patients with two risks of noise of their own, and a ward that neither knows."""
    truth = rng.normal(-0.5, 1, (n, classes - 1))
    chances = [
        np.column_stack([np.ones(n), np.exp(truth + rng.normal(0, noise, truth.shape))]) for noise in (0, 0.5, 0.5)
    ]
    right, now, then = (each / each.sum(axis=1, keepdims=True) for each in chances)
    outcome = (right.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    names = [f"{version}{k}" for version in ("now", "then") for k in range(classes)]
    rows = np.column_stack([outcome, rng.integers(0, wards, n), now, then])
    lines = (f"{row[0]:.0f},w{row[1]:.0f}," + ",".join(f"{each:.6f}" for each in row[2:]) for row in rows)
    return "\n".join([",".join(["outcome", "ward", *names]), *lines]) + "\n"


def with_groups(
    folder: Path, rng: np.random.Generator, sizes: Sequence[int], others: bool, classes: int = 2, wards: int = 2
) -> Sequence[claims.Claim]:
    """What a release as good as the last, of `others` or not, says of it, by its files and with a group a ward."""
    columns = {version: [f"{version}{k}" for k in range(classes)] for version in ("now", "then")}
    tables, found = [_table(rng, n, classes, wards) for n in sizes], None
    for version, previous in (("then", ""), ("now", 'previous = "results.json"\n')):
        risk = f"columns = {columns[version]}" if classes > 2 else f'column = "{version}1"'
        if previous and others:
            tables = [_table(rng, n, classes, wards) for n in sizes]
        elif previous:
            risk += f"\nprevious = {columns['then'] if classes > 2 else repr('then1')}"
        year = 2026 if previous and others else 2025
        of = '\nclasses = ["0", "1", "2"]' if classes > 2 else ""
        text = ABOUT.format(risk=risk, previous=previous, classes=of) + REST
        for number, table in enumerate(tables):
            (folder / f"h{number}.csv").write_text(table, encoding="utf-8")
            text += f'[[dataset]]\nname = "h{number}"\nrole = "external"\nfile = "h{number}.csv"\npredictors = []\n'
            text += f"dates = [{year}-01-01, {year}-06-30]\n"
        found = evaluate.evidence(reading.study(release_in(folder, text.replace("'", '"'))))
        (folder / "results.json").write_bytes(record.of(found).text())
    return [] if found is None else claims.about(found, "since_last_release")


def grouped(hospitals: int, wards: int, times: int, others: bool, seed: int) -> str:
    """A line of the table: whole releases as good as the last one, with a group for each ward."""
    rng, called = np.random.default_rng(seed), 0
    kinds: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(times):
            every = with_groups(Path(folder), rng, rng.integers(300, 1001, hospitals).tolist(), others, wards=wards)
            # The first says what the others say together.
            worse_at = {(claim.scope, claim.measure) for claim in every[1:] if claim.state == "against"}
            called += bool(worse_at)
            kinds.update(f"{measure} of a {scope}" for scope, measure in worse_at)
    said = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())) or "none"
    return f"| {'others' if others else 'the same'} | {hospitals} | {wards} | {times} | {called / times:.3f} | {said} |"


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

Whole releases of which a column makes two or five groups of patients, by their files: 300 to 1,000 patients a hospital,
a threshold of .3; called worse is a release that says so of any hospital, any group or all together.

| Patients | Hospitals | Groups | Releases | Called worse | By which measure |
|---|---:|---:|---:|---:|---|
{groups}

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
    wards = [(hospitals, wards, 200) for hospitals in (1, 3) for wards in (2, 5)]
    groups = [grouped(*cell, others, 3) for others in (False, True) for cell in wards]
    page = PAGE.format(null="\n".join(nulls), groups="\n".join(groups), power="\n".join(powers))
    Path(__file__).with_name("VERSIONS.md").write_text(page, encoding="utf-8")
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
