"""How fast dossier is beside what others offer, side by side in one run.

    make bench

Every side is a process of its own with one thread. What counts is processor seconds, because a busy machine does not
change them much, and their ratio. `--write` puts the table into RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from dossier.core.types import Estimate
from dossier.metrics.censoring import TimeToEvent
from tests.bench import regions
from tests.bench.hot_spots import kept
from tests.bench.rivals import hospital, timed, two_tables
from tests.reference.tables import GOLDEN as TABLES

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PIPELINE = Path(__file__).parent / "r_pipeline.R"
REGIONS = HERE / "regions.R"
GOLDEN = TABLES / "binary_4x2000.csv"
PATIENCE = 600.0
"""Seconds after which a side has not finished."""
PATIENCE_FOR_R = 10_800.0
"""The script of the regions takes many minutes of a quiet machine."""
SECONDS_OF_REGIONS = 45.0
SECONDS_A_REGION = 2.0
"""What the correspondence chapter may take of one site, whatever its size."""
MOST_MEMORY = 12_000_000_000
"""Bytes that a side may ask for: more would end other programs of the machine."""
BUILT = (0, 3)
"""How a build ends well: with 3 when a criterion of the release is not met."""
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Sizes:
    """How large everything is: in full, or short for a test that only sees that it runs."""

    million: int = 1_000_000
    few: int = 10_000
    psi: int = 300
    permutations: int = 999
    energy: int = 2_000
    energy_permutations: int = 200
    decision: int = 100_000
    followed: int = 46_000
    """Of more, riskRegression 2022.11.28 has another error of the AUROC: of 47,000 .00232 for .00245, of 50,000 .00174
    for .00242; that of 46,000 is .00249 in both."""
    sites: tuple[int, int] = (10, 100)
    a_site: int = 2_000
    draws: int = 500
    regions: tuple[int, int, int] = (12_000, 11, 2_600)
    pages: int = 39
    repeats: int = 3
    covid: bool = True


SHORT = Sizes(3_000, 300, 20, 19, 60, 9, 500, 400, (1, 2), 200, 5, (400, 2, 300), 2, 1, False)


@dataclass(frozen=True)
class Run:
    """What one side took, or why it has no number."""

    seconds: float | None
    megabytes: float = 0.0
    wall: float = 0.0
    parts: dict[str, float] | None = None
    error: str = ""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    ours: Run
    against: str
    rival: Run
    target: str
    met: str


# ---- our side -------------------------------------------------------------------------------------------------------


def auroc(sizes: Sizes, _: Path) -> float:
    """The AUROC with DeLong's interval."""
    from dossier.metrics import discrimination

    outcome, risk = hospital(sizes.million)
    return timed(lambda: discrimination.auroc(outcome, risk))


def correspondence(sizes: Sizes, _: Path) -> float:
    """The degree of correspondence of two tables of ten numbers."""
    from dossier.core.types import Feature
    from dossier.metrics.correspondence import degree_of_correspondence

    ours, theirs = ([Feature(f"x{k}", table[:, k]) for k in range(10)] for table in two_tables(sizes.psi))
    return timed(lambda: degree_of_correspondence(ours, theirs, sizes.permutations))


def energy(sizes: Sizes, _: Path) -> float:
    """The energy coefficient of all rows with its permutation test, and a bootstrap of two that nobody else has."""
    from dossier.core.types import Feature
    from dossier.metrics.correspondence import energy_coefficient

    ours, theirs = ([Feature(f"x{k}", table[:, k]) for k in range(10)] for table in two_tables(sizes.energy))
    return timed(lambda: energy_coefficient(ours, theirs, sizes.energy_permutations, bootstrap=2))


def decision_curve(sizes: Sizes, _: Path) -> float:
    """The decision curve with its band."""
    from dossier.metrics import utility

    outcome, risk = hospital(sizes.decision)
    return timed(lambda: utility.decision_curve(outcome, risk, (0.05, 0.6)))


def followed(rows: int) -> tuple[TimeToEvent, np.ndarray]:
    """The follow-up and the risks of so many patients by five years, of whom a quarter left before."""
    rng = np.random.default_rng(1)
    linear = rng.normal(-0.8, 1, rows)
    had, left = rng.exponential(5 * np.exp(-linear)), rng.uniform(0, 12, rows)
    seen = TimeToEvent(np.minimum(had, left), (had <= left).astype(float), 5.0, "marginal")
    return seen, -np.expm1(-np.exp(linear))


BY_HORIZON = {"auroc": 3.0, "brier": 1.0, "uno_c": 10.0}
"""The most seconds that a measure by a horizon may take of a million rows."""


def by_horizon(sizes: Sizes, _: Path) -> dict[str, float]:
    """Measures by a horizon with their standard errors, by the default weights."""
    from dossier import metrics

    outcome, risk = followed(sizes.million)
    outcome = replace(outcome, by="fifths")
    return {name: timed(partial(getattr(metrics, name), outcome, risk)) for name in BY_HORIZON}


def beside_score(sizes: Sizes, _: Path) -> float:
    """AUROC and Brier score by a horizon with their standard errors, at the weights of R's packages."""
    from dossier import metrics

    outcome, risk = followed(sizes.followed)
    auroc, brier = metrics.auroc, metrics.brier
    return timed(lambda: (auroc(outcome, risk), brier(outcome, risk)))


def pipeline(sizes: Sizes, _: Path) -> float:
    """The statistics of the R script as dossier gives them: closed forms, and as many draws where there is none."""
    return timed(lambda: _all_of_the_script(_closed_forms, sizes.draws))


def replicates(sizes: Sizes, _: Path) -> float:
    """The statistics of the R script, each replicate drawn row by row and given to dossier's functions."""
    return timed(lambda: _all_of_the_script(_row_by_row, sizes.draws))


def _all_of_the_script(how: Callable[..., None], draws: int) -> None:
    for row in _sites_and_pooled():
        how(*row, draws)
    _meta_analysis()


def _sites_and_pooled() -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    import pandas as pd

    table = pd.read_csv(GOLDEN)
    every = [table, *(part for _, part in table.groupby("site"))]
    return [(each.y.to_numpy(float), each.p.to_numpy(), each.p2.to_numpy()) for each in every]


def _closed_forms(y: np.ndarray, p: np.ndarray, rival: np.ndarray, draws: int) -> None:
    from dossier.metrics import calibration, comparison, discrimination, utility

    discrimination.auroc(y, p)
    comparison.auroc_difference(y, p, rival)
    for each in (calibration.oe_ratio, calibration.brier, calibration.calibration_intercept):
        each(y, p)
    calibration.calibration_slope(y, p)
    calibration.ici(y, p, bootstrap=draws)
    calibration.calibration_curve(y, p)
    for risk in (p, rival):
        utility.decision_curve(y, risk, (0.01, 0.99))
    discrimination.roc(y, p)


def _row_by_row(y: np.ndarray, p: np.ndarray, rival: np.ndarray, draws: int) -> None:
    from dossier.metrics import calibration, discrimination, utility
    from tests.metrics.parts import errors_of_rows

    _closed_forms(y, p, rival, draws)
    rng = np.random.default_rng(1)
    for _ in range(draws):
        rows = rng.integers(0, len(y), len(y))
        a, b = y[rows], p[rows]
        discrimination.auroc(a, b)
        for each in (calibration.oe_ratio, calibration.brier, calibration.calibration_intercept):
            each(a, b)
        calibration.calibration_slope(a, b)
        errors_of_rows(a, b)
        utility.decision_curve(a, b, (0.01, 0.99))
        np.interp(np.linspace(0, 1, 21), *discrimination.roc_vertices(a, b))


def _meta_analysis() -> None:
    from dossier.core.types import Estimate
    from dossier.metrics import calibration, discrimination, pooled

    sites = _sites_and_pooled()[1:]
    order = [found for y, p, _ in sites if isinstance(found := discrimination.auroc(y, p), Estimate)]
    ratio = [found for y, p, _ in sites if isinstance(found := calibration.oe_ratio(y, p), Estimate)]
    pooled.pool(tuple(order), "logit")
    pooled.pool(tuple(ratio), "log")


def million(sizes: Sizes, folder: Path) -> float:
    """Everything but the page."""
    return _without_pages(folder / str(sizes.million))


def few(sizes: Sizes, folder: Path) -> float:
    """Everything but the page, of few rows."""
    return _without_pages(folder / str(sizes.few))


def _without_pages(release: Path) -> float:
    from dossier import evaluate, reading
    from dossier.report import draw

    return timed(lambda: draw.gallery(evaluate.evidence(reading.study(release, allow_outside=True))))


def few_sites(sizes: Sizes, folder: Path) -> float:
    """The statistics of few sites."""
    return _statistics(folder / f"sites-{sizes.sites[0]}")


def many_sites(sizes: Sizes, folder: Path) -> float:
    """The statistics of many sites."""
    return _statistics(folder / f"sites-{sizes.sites[1]}")


def _statistics(release: Path) -> float:
    from dossier import evaluate, reading

    study = reading.study(release, allow_outside=True)
    return timed(lambda: evaluate.evidence(study))


def of_regions(_: Sizes, folder: Path) -> dict[str, float]:
    """The statistics of a release of regions: the correspondence chapter, and all others."""
    from dossier import evaluate, reading
    from dossier.evaluate import pieces

    study = reading.study(folder / "regions")
    whole, found, correspondence = time.process_time(), pieces.found, 0.0

    def of_piece(piece: pieces.Piece) -> pieces.Found:
        nonlocal correspondence
        begin = time.process_time()
        answer = found(piece)
        correspondence += (time.process_time() - begin) * (piece.name == "correspondence")
        return answer

    pieces.found = of_piece
    try:
        evaluate.evidence(study)
    finally:
        pieces.found = found
    return {"correspondence": correspondence, "others": time.process_time() - whole - correspondence}


def covid(_: Sizes, folder: Path) -> dict[str, float]:
    """Both editions of the covid release, stage by stage."""
    from dossier import evaluate, reading
    from dossier.report import compose, draw, press

    clock, parts, before = time.process_time, {}, time.process_time()

    def stage(name: str) -> None:
        nonlocal before
        parts[name], before = clock() - before, clock()

    study = reading.study(ROOT / "tests" / "releases" / "covid", allow_outside=True)
    stage("load")
    evidence = evaluate.evidence(study)
    stage("evaluate")
    gallery = draw.gallery(evidence)
    stage("draw")
    documents = [compose.document(gallery, edition) for edition in ("regulatory", "committee")]
    stage("compose")
    for document in documents:
        press.pdf(document)
    stage("press")
    (folder / "covid" / "figures").mkdir(parents=True)
    for name, picture in gallery.pictures.items():
        (folder / "covid" / "figures" / f"{name}.svg").write_bytes(picture.svg)
    return parts


OURS: dict[str, Callable[[Sizes, Path], float | dict[str, float]]] = {
    each.__name__: each
    for each in (
        *(auroc, correspondence, energy, decision_curve, pipeline, replicates),
        *(million, few, few_sites, many_sites, of_regions, covid, by_horizon, beside_score),
    )
}


# ---- the tables -----------------------------------------------------------------------------------------------------

RELEASE = """\
outcome = { name = "Y", column = "y" }
prediction.column = "risk"
thresholds = { declared = [0.2], range = [0.05, 0.6], rationale = "of the bench" }
release = { model = "Bench", version = "1", date = 2026-01-01, owner = "nobody" }
"""


def write_release(folder: Path, rows: int, sites: int = 1) -> None:
    """A release of external sites with twenty predictors, as parquet."""
    import pyarrow
    import pyarrow.parquet

    folder.mkdir(parents=True)
    text = RELEASE
    for site in range(sites):
        outcome, risk = hospital(rows, seed=site + 1)
        values = np.random.default_rng(site).normal(size=(20, rows)).round(3)
        columns = {"y": outcome.astype(int), "risk": risk} | {f"x{k}": value for k, value in enumerate(values)}
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"s{site}.parquet")
        text += f'[[dataset]]\nname = "s{site}"\nrole = "external"\nfile = "s{site}.parquet"\nsite = "Site {site}"\n'
    (folder / "release.toml").write_text(text)


# ---- running --------------------------------------------------------------------------------------------------------


def run(words: list[str], repeats: int, patience: float = PATIENCE, well: tuple[int, ...] = (0,)) -> Run:
    """The median of several runs of one side, each a process; `well` are the exit codes of a side that did its work."""
    runs = [_run(words, patience, well) for _ in range(repeats)]
    failed = next((run for run in runs if run.seconds is None), None)
    if failed is not None:
        return failed
    middle = sorted(runs, key=lambda run: run.seconds or 0.0)[len(runs) // 2]
    peak, wall = max(run.megabytes for run in runs), statistics.median(run.wall for run in runs)
    return Run(middle.seconds, peak, wall, middle.parts)


def _run(words: list[str], patience: float, well: tuple[int, ...]) -> Run:
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            words, stdout=out, stderr=errors, cwd=ROOT, env=os.environ | dict.fromkeys(THREADS, "1")
        )
        resource.prlimit(child.pid, resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        peak = 0.0
        while True:
            peak = max(peak, _peak(child.pid))
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.perf_counter() - begin > patience:
                child.kill()
                os.wait4(child.pid, 0)
                child.returncode = -9
                return Run(None, error=f"not finished after {patience:.0f} s")
            time.sleep(0.01)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), errors.seek(0)
        said, complained = out.read().decode(), errors.read().decode()
    if child.returncode < 0:
        return Run(None, error=f"ended by signal {-child.returncode} with {peak:,.0f} MB")
    if child.returncode not in well:
        return Run(None, error=(complained.strip().splitlines() or [f"exit code {child.returncode}"])[-1][:160])
    wall = time.perf_counter() - begin
    last = said.strip().splitlines()[-1:] or [""]
    found: dict[str, Any] = (
        json.loads(last[0]) if last[0].startswith('{"seconds"') else {"seconds": used.ru_utime + used.ru_stime}
    )
    return Run(found["seconds"], peak, wall, found.get("parts"))


def _peak(pid: int) -> float:
    """The most memory of a running process so far, in megabytes; what a child inherits from us is not counted."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0.0)


def of_ours(name: str, sizes: Sizes, folder: Path, once: bool = False) -> Run:
    """A side of ours."""
    length = "short" if sizes == SHORT else "full"
    words = [sys.executable, "-m", "tests.bench.bench", "--side", name, "--length", length, "--folder", str(folder)]
    return run(words, 1 if once else sizes.repeats)


def of_rival(python: str, name: str, folder: Path, sizes: Sizes, rows: int, more: int = 0, once: bool = False) -> Run:
    """A side of somebody else."""
    # Without -P the folder of the script would hide packages of the same name.
    words = [python, "-P", str(HERE / "rivals.py"), name, str(rows), str(more), str(folder)]
    return run(words, 1 if once else sizes.repeats)


# ---- the rows of the table ------------------------------------------------------------------------------------------


def rows(sizes: Sizes, python: str, folder: Path) -> Iterator[Row]:
    """Every row of the table, both sides one after the other, what takes longest last."""
    yield _at_most(
        f"AUROC with DeLong's interval, {sizes.million:,} rows",
        of_ours("auroc", sizes, folder),
        "scikit-learn's roc_auc_score alone",
        of_rival(python, "scikit_learn", folder, sizes, sizes.million),
        "not slower",
        1,
    )
    yield _at_most(
        f"degree of correspondence, {sizes.psi} + {sizes.psi} rows, 10 columns, {sizes.permutations} permutations",
        of_ours("correspondence", sizes, folder),
        "the published loop",
        of_rival(python, "plain_loop", folder, sizes, sizes.psi, sizes.permutations, once=True),
        "1,000 times faster",
        1 / 1000,
    )
    yield _at_most(
        f"decision curve with band, {sizes.decision:,} rows",
        of_ours("decision_curve", sizes, folder),
        "dcurves, no band",
        of_rival(python, "dcurves", folder, sizes, sizes.decision),
        "not slower",
        1,
    )
    yield from _of_growth(sizes, folder)
    yield from _of_commands(sizes, folder)
    yield from _of_horizon(sizes, folder)
    yield from _against_r(sizes, folder)
    yield from _of_regions(sizes, folder)
    if sizes.covid:
        yield from _of_pages(sizes, python, folder)
    yield from _of_energy(sizes, python, folder)


def _of_energy(sizes: Sizes, python: str, folder: Path) -> Iterator[Row]:
    ours = of_ours("energy", sizes, folder, once=True)
    what = f"energy test, {sizes.energy:,} + {sizes.energy:,} rows, {sizes.energy_permutations} permutations"
    for name in ("pted", "hyppo"):
        rival = of_rival(python, name, folder, sizes, sizes.energy, sizes.energy_permutations, once=True)
        yield _at_most(what, ours, name, rival, "faster, under 1 GB", 1, megabytes=1000)


def _against_r(sizes: Sizes, folder: Path) -> Iterator[Row]:
    words = ["Rscript", str(PIPELINE), str(GOLDEN), str(folder / "r"), str(sizes.draws), "FALSE", "fast"]
    try:
        r = run(words, 1)
    except FileNotFoundError:
        r = Run(None, error="R is not installed")
    for name, how in (("pipeline", "closed forms where there are some"), ("replicates", "every replicate row by row")):
        ours = of_ours(name, sizes, folder, once=True)
        what = f"statistics of the R script, {sizes.draws} replicates: {how}"
        yield _at_most(what, ours, "the script in its fast mode", r, "20 times faster", 1 / 20)


def _of_horizon(sizes: Sizes, folder: Path) -> Iterator[Row]:
    """Measures by a horizon beside riskRegression, which is asked for the same errors."""
    from dossier import metrics

    outcome, risk = followed(sizes.followed)
    table = folder / "followed.csv"
    np.savetxt(table, np.column_stack((outcome.time, outcome.event, risk)), delimiter=",", header=COLUMNS, comments="")
    try:
        r = run(["Rscript", str(HERE / "followed.R"), str(table)], 1)
    except FileNotFoundError:
        r = Run(None, error="R is not installed")
    ours, found = of_ours("beside_score", sizes, folder), (metrics.auroc(outcome, risk), metrics.brier(outcome, risk))
    errors = [each.se or 0.0 for each in found if isinstance(each, Estimate)]
    theirs = [(r.parts or {}).get(f"{name}_se", 0.0) for name in ("auroc", "brier")]
    apart = max(abs(one / other - 1) for one, other in zip(errors, theirs, strict=True)) if all(theirs) else None
    same = "" if apart is None else f", the same errors (here a share of {apart:.1g} apart)"
    target = f"10 times faster{same}"
    what = f"AUROC and Brier score by a horizon with errors, {sizes.followed:,} rows"
    yield _at_most(what, ours, "riskRegression::Score", r, target, 1 / 10)
    whole = of_ours("by_horizon", sizes, folder)
    parts = whole.parts or {}
    met = all(parts[name] <= most for name, most in BY_HORIZON.items()) if parts else False
    said = ", ".join(f"{name} {seconds:.2g} s" for name, seconds in parts.items())
    most = ", ".join(f"{name} {seconds:g} s" for name, seconds in BY_HORIZON.items())
    what = f"AUROC, Brier score and Uno's C by a horizon with errors, {sizes.million:,} rows ({said})"
    yield Row(what, whole, "", Run(None, error=""), f"at most {most}", _said(met, whole))


def _of_regions(sizes: Sizes, folder: Path) -> Iterator[Row]:
    development, sites, a_site = sizes.regions
    regions.write(folder / "regions", development, sites, a_site)
    ours = of_ours("of_regions", sizes, folder, once=True)
    words = ["Rscript", str(REGIONS), str(folder / "regions"), "1000", "999"]
    busy = os.getloadavg()[0]
    try:
        r = run(words, 1, PATIENCE_FOR_R)
    except FileNotFoundError:
        r = Run(None, error="R is not installed")
    parts = "; ".join(f"{name} {seconds:.0f} s" for name, seconds in (r.parts or {}).items())
    each = (ours.parts or {}).get("correspondence", 0.0) / sites
    what = (
        f"statistics of {sites} sites x {a_site:,} rows beside {development:,} development rows, 10 predictors, "
        f"3 subgroup columns, a rival ({busy:.1f} other processes at work)"
    )
    against = f"rms, pROC, metafor and plain R{f' ({parts})' if parts else ''}"
    met = _said((ours.seconds or 0) <= SECONDS_OF_REGIONS and each <= SECONDS_A_REGION, ours)
    target = f"at most 45 s, and 2 s a site for its correspondence (here {each:.1f} s)"
    yield Row(what, ours, against, r, target, met)


def _of_growth(sizes: Sizes, folder: Path) -> Iterator[Row]:
    for count in (sizes.few, sizes.million):
        write_release(folder / str(count), count)
    for count in sizes.sites:
        write_release(folder / f"sites-{count}", sizes.a_site, count)
    large, small = of_ours("million", sizes, folder, once=True), of_ours("few", sizes, folder, once=True)
    floor = of_rival(sys.executable, "read_and_sort", folder, sizes, sizes.million)
    what = f"everything but the page, {sizes.million:,} rows, 20 predictors"
    fits = (large.seconds or 0) < 60 and large.megabytes < 4000
    yield Row(what, large, "parquet read, risks sorted", floor, "under 60 s and 4 GB", _said(fits, large))
    power = math.log((large.seconds or 1) / (small.seconds or 1)) / math.log(sizes.million / sizes.few)
    target = f"growth at most n^1.1 (here n^{power:.2f})"
    yield Row(what, large, f"the same of {sizes.few:,} rows", small, target, _said(power <= 1.1, large, small))
    many, fewer = of_ours("many_sites", sizes, folder, once=True), of_ours("few_sites", sizes, folder)
    most = sizes.sites[1] / sizes.sites[0]
    what = f"statistics of {sizes.sites[1]} sites x {sizes.a_site:,} rows"
    yield _at_most(what, many, f"{sizes.sites[0]} sites", fewer, f"at most {most:g} times", most)


def _of_pages(sizes: Sizes, python: str, folder: Path) -> Iterator[Row]:
    ours = of_ours("covid", sizes, folder, once=True)
    rival = of_rival(python, "typst", folder, sizes, sizes.pages)
    parts = ours.parts or {}
    before = sum(parts.get(name, 0.0) for name in ("evaluate", "draw"))
    layout = sum(parts.get(name, 0.0) for name in ("compose", "press"))
    said = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in parts.items())
    what = f"both editions of the covid release ({said})"
    target = "statistics and drawing take less than layout"
    yield Row(what, ours, f"typst, {sizes.pages} like pages", rival, target, _said(before < layout, ours))
    yield _of_one_command(folder)


LOOP = "x = 0\nfor i in range(20_000_000): x += i"
"""What a build is held against: how fast this machine is, in the same minute, whatever else is at work on it."""
TIMES_THE_LOOP = 8
COMMAND = "both editions of the covid release, one command"


def _of_one_command(folder: Path) -> Row:
    """The row of a whole build beside a plain loop."""
    words = [sys.executable, "-m", "dossier", "build", "tests/releases/covid", "-o", str(folder / "out")]
    before = run([sys.executable, "-c", LOOP], 1)
    busy = os.getloadavg()[0]
    whole = run([*words, "--allow-outside", "--quiet"], 1, well=BUILT)
    after = run([sys.executable, "-c", LOOP], 1)
    known = [run for run in (before, after) if run.seconds is not None]
    loop = min(known, key=lambda run: run.seconds or 0.0) if known else before
    return _beside_the_loop(COMMAND, whole, loop, busy)


def _beside_the_loop(what: str, whole: Run, loop: Run, busy: float) -> Row:
    """The row of a whole build; `busy` is how many other processes wanted the processors when it began."""
    target = f"at most {TIMES_THE_LOOP} times the loop, and under 15 s by the clock on two quiet cores"
    met = False
    if whole.seconds is not None and loop.seconds is not None:
        times = whole.seconds / loop.seconds
        met = times <= TIMES_THE_LOOP and whole.wall < 15
        target += f" (here {times:.1f} times, {whole.wall:.0f} s, with {busy:.1f} other processes at work)"
    return Row(what, whole, "20,000,000 additions in a loop", loop, target, _said(met, whole))


def _of_commands(sizes: Sizes, folder: Path) -> Iterator[Row]:
    start = run([sys.executable, "-c", "pass"], sizes.repeats)
    reported = run([sys.executable, "-m", "dossier", "--help"], sizes.repeats)
    fast = _said((reported.seconds or 0) < 0.3, reported)
    yield Row("dossier --help", reported, "python's own start", start, "under 0.3 s", fast)
    release = folder / str(sizes.million)
    read = "import sys, pyarrow.parquet as p; p.read_table(sys.argv[1], use_threads=False)"
    floor = run([sys.executable, "-c", read, str(release / "s0.parquet")], sizes.repeats)
    checked = run([sys.executable, "-m", "dossier", "check", str(release)], sizes.repeats)
    what = f"dossier check, {sizes.million:,} rows"
    yield _at_most(what, checked, "a process that reads the file", floor, "at most twice", 2)


def _at_most(
    what: str, ours: Run, against: str, rival: Run, target: str, ratio: float, megabytes: float = math.inf
) -> Row:
    """The row that is met when ours takes at most this share of the rival's time."""
    met = (ours.seconds or 0) <= ratio * (rival.seconds or 0) and ours.megabytes <= megabytes
    return Row(what, ours, against, rival, target, _said(met, ours, rival))


def _said(met: bool, *measured: Run) -> str:
    """The verdict; none without a number for each side that it rests on."""
    if any(run.seconds is None for run in measured):
        return "not known"
    return "met" if met else "**not met**"


ALONE: dict[str, Callable[[Sizes, Path], Iterator[Row]]] = {
    "command": lambda _, folder: iter([_of_one_command(folder)]),
    "horizon": _of_horizon,
}
"""Rows that can be asked for alone."""
COLUMNS = "time,event,risk"


# ---- the report -----------------------------------------------------------------------------------------------------

NOTES = """\
Processor seconds of one thread: the median of {repeats} for what takes seconds, one run for what takes longer. Peak
memory is that of the whole process. A ratio above 1 says how many times faster dossier is. A rival without a number
says why. Rows stand in the order in which they were run.

- The R script bootstraps six measures, net benefit and ROC bands, 500 times each. Two things stand beside it. "Closed
  forms" is the same statistics with the same intervals as dossier gives them: closed forms, and 500 draws only for the
  ICI. "Row by row" is the same work: each of 500 samples of rows is given to dossier's own functions, which make an
  interval for each sample that nobody reads; no dossier works so. Half of that time is the calibration curve, a third
  slope and intercept. Next idea: weights on presorted rows, all replicates of a block in one Newton fit.
- Layout and writing by WeasyPrint are two fifths of a build, and one thread's work: the other core has little to do
  meanwhile. Pages with page references are laid out twice, all others once. Next idea: chapters laid out side by side.
- Sites share nothing, so that ten times the sites are ten times the work: that row is a matter of what each site
  costs, and of how quiet the machine is.
- Above 50,000 rows the replicates and the permutations of risks work on 2,000 bins (`tests/metrics/test_many_rows.py`
  holds them against what is known of all rows).
- The release of regions is simulated (`regions.py`), and `regions.R` takes the same of it: performance with 1,000
  resamples for the calibration errors, the rival, seven subgroups, psi, energy and the averaged form by the same limits
  of rows, membership in ten folds, pooling by metafor.
- riskRegression is asked for 46,000 rows: of 47,000 and more its error of the AUROC by a horizon is another, of 50,000
  .00174 for .00242, where the error of 46,000 is .00249 in both.
- The energy test is timed at the most rows that dossier permutes.
- The published loop is timed over three permutations and reckoned for all.
- A side has {patience:.0f} s by the clock and {memory:.0f} GB; then the table says that it has not finished, or what it
  could not have.
- Other programs were at work on the machine: ratios within the table count, times by the clock are too long.
"""


def report(found: list[Row], sizes: Sizes) -> str:
    """The table in Markdown."""
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("numpy", "scipy", "pyarrow", "matplotlib", "weasyprint")
    )
    lines = [
        "# Speed\n",
        "Written by `make bench`; not edited by hand.\n",
        f"Python {platform.python_version()}, {packages}; {os.cpu_count()} cores, {platform.machine()}.\n",
        NOTES.format(repeats=sizes.repeats, patience=PATIENCE, memory=MOST_MEMORY / 1e9),
        "| what | dossier | peak | against | theirs | peak | ratio | target | |",
        "|---|--:|--:|---|--:|--:|--:|---|---|",
    ]
    lines += [_line(row) for row in found]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    both = row.ours.seconds is not None and row.rival.seconds is not None
    ratio = f"{(row.rival.seconds or 0) / max(row.ours.seconds or 0, 1e-9):,.3g}" if both else ""
    sides = [row.what, *_cells(row.ours), row.against, *_cells(row.rival), ratio, row.target, row.met]
    return "| " + " | ".join(sides) + " |"


def with_row(text: str, line: str) -> str:
    """The report with this line in the place of the one about the same, or behind all others."""
    about, lines = line.split(" | ")[0].split(" (")[0], text.split("\n")
    if any(old.startswith(about) for old in lines):
        return "\n".join(line if old.startswith(about) else old for old in lines)
    first = lines.index("|---|--:|--:|---|--:|--:|--:|---|---|")
    last = next(place for place in range(first, len(lines) + 1) if place == len(lines) or not lines[place])
    return "\n".join([*lines[:last], line, *lines[last:]])


def _cells(run: Run) -> tuple[str, str]:
    if run.seconds is None:
        return run.error, ""
    return f"{run.seconds:.3g} s", f"{run.megabytes:,.0f} MB"


def main() -> None:
    """Run one side, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", choices=OURS)
    parser.add_argument("--length", choices=("full", "short"), default="full")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--rivals", default=sys.executable, help="the Python that has the rivals' packages")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", choices=ALONE, help="only the rows of a whole build, or of measures by a horizon")
    given = parser.parse_args()
    sizes = Sizes() if given.length == "full" else SHORT
    if given.side:
        found = OURS[given.side](sizes, given.folder)
        parts = found if isinstance(found, dict) else None
        seconds = sum(found.values()) if isinstance(found, dict) else found
        sys.stdout.write(json.dumps({"seconds": seconds, "parts": parts}) + "\n")
        return
    results = HERE / "RESULTS.md"
    if given.only:
        with tempfile.TemporaryDirectory() as folder:
            lines = [_line(row) for row in ALONE[given.only](sizes, Path(folder))]
        for line in lines:
            if given.write:
                results.write_text(with_row(results.read_text(), line))
            sys.stdout.write(f"{line}\n")
        return
    # The hot spots are found by another command, and stay.
    hot_spots = kept(results.read_text()) if results.is_file() else ""
    with tempfile.TemporaryDirectory() as folder:
        every = []
        for row in rows(sizes, given.rivals, Path(folder)):
            every.append(row)
            sys.stderr.write(f"{row.what}: {row.met}\n")
            # After each row: the whole takes long, and who stops it keeps what is there.
            if given.write:
                results.write_text(report(every, sizes) + hot_spots)
    sys.stdout.write(report(every, sizes))


if __name__ == "__main__":
    main()
