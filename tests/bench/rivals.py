"""What others need for the same: run by a Python of its own, in which their packages are installed."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def hospital(rows: int, seed: int = 1) -> tuple[Floats, Floats]:
    """Outcomes and risks of so many patients."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(-1, 1, rows)
    risk = 1 / (1 + np.exp(-odds))
    return (rng.random(rows) < risk).astype(float), risk


def two_tables(rows: int, columns: int = 10) -> tuple[Floats, Floats]:
    """Two tables of so many rows each, the second a little apart."""
    rng = np.random.default_rng(2)
    return rng.normal(size=(rows, columns)), rng.normal(0.02, 1, size=(rows, columns))


def timed(work: Callable[[], object]) -> float:
    """The processor seconds that the work takes."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def scikit_learn(rows: int, _: int) -> float:
    """The AUROC alone, without an interval."""
    score = importlib.import_module("sklearn.metrics").roc_auc_score
    outcome, risk = hospital(rows)
    return timed(lambda: score(outcome, risk))


def statistic(ours: Floats, theirs: Floats) -> float:
    """T of the degree of correspondence, as the paper writes it: distances asked for pair by pair."""
    total = 0.0
    for x in theirs:
        to = [float(np.linalg.norm(a - x)) for a in ours]
        neighbour = ours[int(np.argmin(to))]
        total += sum(to) - sum(float(np.linalg.norm(a - neighbour)) for a in ours)
    return total / len(theirs)


def plain_loop(rows: int, permutations: int) -> float:
    """The degree of correspondence by the published loop; three permutations are timed, and all of them reckoned."""
    ours, theirs = two_tables(rows)
    rng, pooled, few = np.random.default_rng(1), np.vstack((ours, theirs)), 3

    def some() -> None:
        for _ in range(few):
            order = rng.permutation(len(pooled))
            statistic(pooled[order[: len(ours)]], pooled[order[len(ours) :]])

    return timed(some) / few * permutations


def pted(rows: int, permutations: int) -> float:
    """The energy test of pted."""
    test = importlib.import_module("pted").pted
    ours, theirs = two_tables(rows)
    return timed(lambda: test(ours, theirs, permutations=permutations))


def hyppo(rows: int, permutations: int) -> float:
    """The energy test of hyppo."""
    energy = importlib.import_module("hyppo.ksample").Energy
    ours, theirs = two_tables(rows)
    return timed(lambda: energy().test(ours, theirs, reps=permutations, workers=1, auto=False))


def dcurves(rows: int, _: int) -> float:
    """A decision curve at 101 thresholds, without a band."""
    module, table = importlib.import_module("dcurves"), importlib.import_module("pandas").DataFrame
    outcome, risk = hospital(rows)
    data, thresholds = table({"y": outcome, "risk": risk}), np.linspace(0.05, 0.6, 101)
    return timed(lambda: module.dca(data=data, outcome="y", modelnames=["risk"], thresholds=thresholds))


def read_and_sort(rows: int, _: int) -> float:
    """The floor: the parquet file read, the risks sorted once."""
    parquet = importlib.import_module("pyarrow.parquet")
    path = Path(sys.argv[4]) / f"{rows}" / "s0.parquet"
    return timed(lambda: np.sort(parquet.read_table(path, use_threads=False)["risk"].to_numpy()))


def typst(pages: int, _: int) -> float:
    """Pages of text, a table each and the figures of the dossier, set by typst."""
    compile_ = importlib.import_module("typst").compile
    folder = Path(sys.argv[4]) / "covid"
    figures = sorted(path.name for path in (folder / "figures").glob("*.svg"))
    row = ", ".join("[0.83 (0.79 to 0.87)]" for _ in range(6))
    table = f"#table(columns: 6, {', '.join([row] * 14)})"
    page = [
        f"= Chapter {k}\n\n#lorem(150)\n\n{table}\n\n"
        + (f'#figure(image("figures/{figures[k]}", width: 12cm), caption: [#lorem(20)])\n' if k < len(figures) else "")
        for k in range(pages)
    ]
    source = folder / "like.typ"
    source.write_text("\n#pagebreak()\n".join(page))
    return timed(lambda: compile_(str(source), output=str(folder / "like.pdf")))


SIDES: dict[str, Callable[[int, int], float]] = {
    each.__name__: each for each in (scikit_learn, plain_loop, pted, hyppo, dcurves, read_and_sort, typst)
}


if __name__ == "__main__":
    sys.stdout.write(json.dumps({"seconds": SIDES[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))}) + "\n")
