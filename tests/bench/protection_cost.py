"""What protecting small counts costs: how many estimates stay, and how wide intervals become; into PROTECTION.md.

`python -m tests.bench.protection_cost --write` reads the releases of the repository and the real tables beside it.
"""

from __future__ import annotations

import dataclasses
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

from dossier import evaluate, reading
from dossier.types import Estimate, Evidence, Study
from tests.conftest import NOT_OURS, RELEASES
from tests.reference.built import hurried

NAMES = ("covid", "breast", "knee", "biopsy")
MEASURES = {"auroc": "AUROC", "sensitivity": "sensitivity", "net_benefit": "net benefit"}
PAGE = Path(__file__).parent / "PROTECTION.md"
HEAD = """# What protecting small counts costs

Each release with and without `minimum_cell = 10`; 20 resamples. Widths are medians over the tested datasets, and over
the thresholds, of the intervals of all patients that are given both ways.

| release | estimates given | AUROC, width | sensitivity, width | net benefit, width |
|---|---|---|---|---|
"""


def with_policy(study: Study, below: int) -> Study:
    """The study with its small counts protected."""
    return dataclasses.replace(
        study, datasets=tuple(dataclasses.replace(one, minimum_cell=below) for one in study.datasets)
    )


def widths(evidence: Evidence, measure: str) -> dict[tuple[object, ...], float]:
    """The width of the interval of a measure at each dataset and threshold."""
    tested = {one.name for one in evidence.datasets if one.role != "development"}
    return {
        (one.dataset, *sorted(one.at.items())): one.found.high - one.found.low
        for one in evidence.results
        if one.measure == measure
        and one.dataset in tested
        and isinstance(one.found, Estimate)
        and one.found.low is not None
        and one.found.high is not None
    }


def lines() -> Iterator[str]:
    """The table, a line a release."""
    for name in NAMES:
        study = hurried(reading.study(RELEASES[name], name in NOT_OURS), bootstrap=20, permutations=19)
        free, kept = (evaluate.evidence(with_policy(study, below)) for below in (0, 10))
        given = [
            sum(isinstance(one.found, Estimate) for one in (*of.results, *of.subgroups.results)) for of in (free, kept)
        ]
        cells = [f"{given[0]:,} → {given[1]:,} ({given[1] / given[0]:.0%})"]
        for measure in MEASURES:
            one, other = widths(free, measure), widths(kept, measure)
            both = sorted(one.keys() & other.keys(), key=str)
            if not both:
                cells.append(f"none of {len(one)}")
                continue
            medians = (statistics.median(of[key] for key in both) for of in (one, other))
            cells.append(f"{' → '.join(f'{width:.3f}' for width in medians)} ({len(both)} of {len(one)})")
        yield f"| {name} | {' | '.join(cells)} |\n"


def main() -> None:
    """Print the page, and write it where that is asked for."""
    text = HEAD + "".join(lines())
    sys.stdout.write(text)
    if "--write" in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
