"""What protecting small counts costs: how many estimates stay, and how wide intervals become; into PROTECTION.md.

`python -m tests.bench.protection_cost --write` reads the releases of the repository, the real tables beside it, and
patients simulated from GUSTO-I's model. The other half of PROTECTION.md is what `tests.bench.solver` finds.
"""

from __future__ import annotations

import dataclasses
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from dossier import evaluate, reading
from dossier.core.types import Estimate, Evidence, Study
from tests import gusto
from tests.conftest import RELEASES
from tests.reference.built import hurried

NAMES = ("covid", "breast", "knee", "biopsy")
OF_GUSTO = (1_200, 12_000)
"""How many patients are simulated, at one hospital."""
THREE = (0.03, 0.1, 0.3)
"""The risks of a score of three levels."""
MEASURES = {"auroc": "AUROC", "sensitivity": "sensitivity", "net_benefit": "net benefit"}
PAGE = Path(__file__).parent / "PROTECTION.md"
COST = """# What protecting small counts costs

Each release with and without `minimum_cell = 10`; 20 resamples. Widths are medians over the tested datasets, and over
the thresholds, of the intervals of all patients that are given both ways. An interval from ranges holds those of every
table that the ranges allow: at hospitals of some hundred patients that of the sensitivity becomes twice as wide. Of an
outcome of several classes next to nothing is given. gusto is simulated, of one hospital with so many patients.

| release | estimates given | AUROC, width | sensitivity, width | net benefit, width |
|---|---|---|---|---|
"""
LEFT = "# What an attacker with a solver is left"


def write(half: str) -> None:
    """Put the cost, or what an attacker is left, in its place on the page."""
    cost, heading, left = PAGE.read_text(encoding="utf-8").partition(LEFT)
    halves = (cost, half) if half.startswith(LEFT) else (half, heading + left)
    PAGE.write_text("\n\n".join(each.strip() for each in halves if each.strip()) + "\n", encoding="utf-8")


def studies(folder: Path) -> Iterator[tuple[str, Study]]:
    """Every release by its name."""
    for name in NAMES:
        yield name, reading.study(RELEASES[name])
    for rows in OF_GUSTO:
        study = reading.study(gusto.write(folder / str(rows), rows=rows))
        yield f"gusto, {rows:,} patients", study
        yield f"a score of three risks, {rows:,} patients", with_risks(study, THREE)


def with_risks(study: Study, risks: Sequence[float]) -> Study:
    """The study with each risk as the nearest of a few, as a score gives them."""
    few = np.array(risks)
    return dataclasses.replace(
        study,
        datasets=tuple(
            dataclasses.replace(each, risk=few[np.abs(each.risk[:, None] - few).argmin(axis=1)])
            for each in study.datasets
            if each.risk is not None
        ),
    )


def widths(evidence: Evidence, measure: str) -> dict[tuple[object, ...], float]:
    """The width of the interval of a measure at each dataset and threshold."""
    tested = {dataset.name for dataset in evidence.datasets if dataset.role != "development"}
    return {
        (result.dataset, *sorted(result.at.items())): result.found.high - result.found.low
        for result in evidence.results
        if result.measure == measure
        and result.dataset in tested
        and isinstance(result.found, Estimate)
        and result.found.low is not None
        and result.found.high is not None
    }


def lines(every: Iterable[tuple[str, Study]]) -> Iterator[str]:
    """The table, a line a release."""
    for name, read in every:
        study = hurried(read, bootstrap=20, permutations=19)
        protected = tuple(dataclasses.replace(dataset, minimum_cell=10) for dataset in study.datasets)
        free, kept = map(evaluate.evidence, (study, dataclasses.replace(study, datasets=protected)))
        given = [
            sum(isinstance(result.found, Estimate) for result in (*of.results, *of.subgroups.results))
            for of in (free, kept)
        ]
        cells = [f"{given[0]:,} → {given[1]:,} ({given[1] / given[0]:.0%})"]
        for measure in MEASURES:
            first, other = widths(free, measure), widths(kept, measure)
            both = sorted(first.keys() & other.keys(), key=str)
            if not both:
                cells.append(f"none of {len(first)}")
                continue
            medians = (statistics.median(of[key] for key in both) for of in (first, other))
            cells.append(f"{' → '.join(f'{width:.3f}' for width in medians)} ({len(both)} of {len(first)})")
        yield f"| {name} | {' | '.join(cells)} |\n"


def main() -> None:
    """Print the table, and write it where that is asked for."""
    with tempfile.TemporaryDirectory() as folder:
        text = COST + "".join(lines(studies(Path(folder))))
    sys.stdout.write(text)
    if "--write" in sys.argv[1:]:
        write(text)


if __name__ == "__main__":
    main()
