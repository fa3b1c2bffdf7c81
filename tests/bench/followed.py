"""Do the intervals of measures by a horizon hold what they promise, where patients leave before it?

`python -m tests.bench.followed` writes COVERAGE_BY_HORIZON.md. The complementary log-log of the risk is normal, and a
line of it is that of the true chance; truths are integrals, as in population.py. Patients leave at an exponential time,
of a rate that makes the share that is asked for leave before the horizon and any event.
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import scipy
from scipy.optimize import brentq
from scipy.special import log_ndtr

import dossier
from dossier.core.facts import Fact
from dossier.core.register import measures
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics.censoring import By, TimeToEvent
from dossier.metrics.pooled import pool
from dossier.metrics.shares import Design
from dossier.metrics.time_to_event import answer
from tests.bench import population
from tests.bench.coverage import DRAWS, LEVEL, SEED, Cell, Found, Tally, run
from tests.bench.scores import Score, held

TABLE = Path(__file__).with_name("COVERAGE_BY_HORIZON.md")
SIZES = (200, 500, 2000)
MANY = 200_000
LINES = {False: (0.0, 1.0), True: (-0.4, 0.7)}
"""How the true line lies to that of the risk on the cloglog scale: shift, and slope about the mean."""
TARGET, FROM_ROWS = (0.93, 0.97), 500
RATIO = 1.8
"""The hazard ratio of leaving a standard deviation of the linear predictor, where it depends on the risk."""
DIE_FIRST = 0.3
"""The share of the others who have a competing event by the horizon."""
HOSPITALS = 5


@dataclass(frozen=True)
class Setting:
    """Who has the outcome by the horizon, of 1, and who leaves before."""

    share: float
    leaving: float
    misses: bool = False
    """Whether the risks are wrong."""
    by_risk: bool = False
    competes: bool = False
    cluster: int = 1
    """The patients of each cluster, who are alike in risk and in what happens."""

    @property
    def name(self) -> str:
        """As a table calls it."""
        how = "miscalibrated" if self.misses else "calibrated"
        more = (", leaving by risk" * self.by_risk) + (", competing" * self.competes)
        more += f", clusters of {self.cluster}" * (self.cluster > 1)
        return f"{self.share:g} events, {self.leaving:g} left, {how}{more}"

    def rate(self, linear: Floats, centre: float) -> Floats:
        """The true rate of the outcome."""
        shift, slope = LINES[self.misses]
        return np.asarray(np.exp(centre + shift + slope * (linear - centre)))

    def chance(self, linear: Floats, centre: float) -> Floats:
        """The true chance of the outcome by the horizon."""
        return np.asarray(-np.expm1(-self.rate(linear, centre)))


SETTINGS = (
    Setting(0.1, 0.3),
    Setting(0.1, 0.3, misses=True),
    Setting(0.4, 0.3),
    Setting(0.4, 0.3, misses=True),
    Setting(0.4, 0.6),
    Setting(0.4, 0.6, misses=True),
    Setting(0.4, 0.45, by_risk=True),
    Setting(0.4, 0.45, misses=True, by_risk=True),
    Setting(0.3, 0.3, competes=True),
    Setting(0.4, 0.3, cluster=10),
    Setting(0.4, 0.3, misses=True, cluster=10),
)
ALIKE = 0.3
"""The correlation of what two patients of a cluster have, on the scale where it is normal."""


def risk_of(linear: Floats) -> Floats:
    """The risk that the model gives."""
    return np.asarray(-np.expm1(-np.exp(linear)))


@lru_cache(maxsize=32)
def centre_of(setting: Setting) -> float:
    """The mean of the linear predictor at which the true share is the one that is asked for."""

    def excess(centre: float) -> float:
        linear, share = population.quadrature(centre, ())
        return float(np.sum(share * setting.chance(linear, centre))) - setting.share

    return float(brentq(excess, -10, 10, xtol=1e-14))


def _alike(each: int, n: int, rng: np.random.Generator) -> Floats:
    """Standard normal values that are alike within clusters."""
    ours = np.repeat(rng.normal(size=-(-n // each)), each)[:n]
    return np.asarray(math.sqrt(ALIKE) * ours + math.sqrt(1 - ALIKE) * rng.normal(size=n))


def _until_event(setting: Setting, n: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats, Floats]:
    """Linear predictors, times of events, what they are, and how much faster than others each patient leaves."""
    centre = centre_of(setting)
    if setting.cluster > 1:
        linear = centre + population.SPREAD * _alike(setting.cluster, n, rng)
        time = -log_ndtr(_alike(setting.cluster, n, rng)) / setting.rate(linear, centre)
    else:
        linear = rng.normal(centre, population.SPREAD, n)
        time = rng.exponential(1 / setting.rate(linear, centre))
    dies = (time > 1) & (rng.random(n) < DIE_FIRST * setting.competes)
    time = np.where(dies, rng.random(n), time)
    faster = RATIO ** (setting.by_risk * (linear - centre) / population.SPREAD)
    return linear, time, np.where(dies, 2.0, 1.0), np.asarray(faster)


@lru_cache(maxsize=32)
def rate_of(setting: Setting) -> float:
    """The rate of leaving at which as many leave before the horizon as are asked for."""
    _, time, _, faster = _until_event(setting, MANY, np.random.default_rng(1))
    seen = faster * np.minimum(time, 1.0)
    return float(brentq(lambda rate: float(-np.expm1(-rate * seen).mean()) - setting.leaving, 1e-6, 50))


def drawn(setting: Setting, n: int, rng: np.random.Generator) -> tuple[TimeToEvent, Floats]:
    """The follow-up of one hospital, and its risks."""
    linear, time, event, faster = _until_event(setting, n, rng)
    leaves = rng.exponential(1 / (rate_of(setting) * faster))
    seen = np.minimum(time, leaves)
    return TimeToEvent(seen, np.where(time <= leaves, event, 0.0), 1.0), risk_of(linear)


@lru_cache(maxsize=32)
def truths(setting: Setting) -> Mapping[str, float]:
    """The true values, at the threshold that equals the share with the outcome."""
    centre, t = centre_of(setting), setting.share
    linear, share = population.quadrature(centre, (float(np.log(-np.log1p(-t))),))
    chance = setting.chance(linear, centre)
    found = population.Population(linear, share, risk_of(linear), chance)
    odds, flagged = t / (1 - t), found.risk >= t
    right, wrong = found.mean(flagged * chance), found.mean(flagged * (1 - chance))
    brier = found.mean(chance * (1 - found.risk) ** 2 + (1 - chance) * found.risk**2)
    below = np.cumsum(share * (1 - chance)) - share * (1 - chance) / 2
    return {
        "auroc": found.mean(chance * below) / t / (1 - t),
        "brier": brier,
        "scaled_brier": 1 - brier / (t * (1 - t)),
        "oe_ratio": t / found.mean(found.risk),
        "calibration_slope": LINES[setting.misses][1],
        "sensitivity": right / t,
        "ppv": right / found.mean(flagged.astype(float)),
        "net_benefit": right - odds * wrong,
        "net_benefit_gain": right - odds * wrong - max(0.0, t - odds * (1 - t)),
        "uno_c": _concordance(setting),
    }


def _concordance(setting: Setting) -> float:
    """The chance that of two patients the one who has the outcome first, by the horizon, has the higher risk."""
    centre = centre_of(setting)
    linear = np.linspace(centre - 6 * population.SPREAD, centre + 6 * population.SPREAD, 3001)
    share = np.exp(-(((linear - centre) / population.SPREAD) ** 2) / 2)
    rate = setting.rate(linear, centre)
    both = rate[:, None] + rate
    pairs = share[:, None] * share * rate[:, None] / both * -np.expm1(-both)
    return float((np.tril(pairs, -1).sum() + np.trace(pairs) / 2) / pairs.sum())


@lru_cache(maxsize=64)
def errors_of_the_curve(setting: Setting, quantiles: tuple[float, ...]) -> Mapping[str, float]:
    """The calibration errors of the curve that the smoother finds in the whole population, on an even grid."""
    if not setting.misses:
        return dict.fromkeys(("ici", "e50", "e90"), 0.0)
    centre = centre_of(setting)
    linear = np.linspace(centre - 6 * population.SPREAD, centre + 6 * population.SPREAD, 40_001)
    share = np.exp(-(((linear - centre) / population.SPREAD) ** 2) / 2)
    share, risk = share / share.sum(), risk_of(linear)
    knots = tuple(float(np.interp(part, np.cumsum(share), risk)) for part in quantiles)
    columns = population.spline_columns(risk, knots) if knots else np.vstack((np.ones_like(risk), risk))
    fit = np.linalg.lstsq((columns * np.sqrt(share)).T, setting.chance(linear, centre) * np.sqrt(share), rcond=None)[0]
    gaps = np.abs(np.clip(fit @ columns, 0, 1) - risk)
    order = np.argsort(gaps)
    reached = np.cumsum(share[order])
    of_gaps = {f"e{part}": float(np.interp(part / 100, reached, gaps[order])) for part in (50, 90)}
    return {"ici": float(np.sum(share * gaps)), **of_gaps}


def _knots(cases: int) -> tuple[float, ...]:
    return () if cases < 20 else (0.1, 0.5, 0.9) if cases < 100 else (0.05, 0.35, 0.65, 0.95)


MEASURES = measures()
MARGINAL = ("auroc", "brier", "oe_ratio", "net_benefit")
FLAG = "flag"
"""Under which it is counted how often the flag `censoring_by_risk` is raised."""


def _of_a_hospital(setting: Setting, n: int, rng: np.random.Generator, number: int) -> dict[str, Score]:
    followed, risk = drawn(setting, n, rng)
    truth = truths(setting)
    design = Design(n, np.arange(n) // setting.cluster if setting.cluster > 1 else None)

    def asked(name: str, by: By = "fifths") -> Estimate | Absent:
        every = {"threshold": setting.share, "level": LEVEL, "bootstrap": DRAWS, "seed": number}
        given = {key: value for key, value in every.items() if key in MEASURES[name].needs}
        counted = TimeToEvent(followed.time, followed.event, followed.horizon, by)
        if "followed" in MEASURES[name].needs:
            found: Estimate | Absent = MEASURES[name].function(counted, risk, **given, design=design)
            return found
        return answer(MEASURES[name], counted, {**given, "risk": risk, "design": design})

    def ask(name: str, by: By = "fifths") -> Score:
        return held(asked(name, by), truth[name])

    scores = {name: ask(name) for name in truth if not (setting.competes and name == "uno_c")}
    if setting.by_risk:
        scores |= {f"{name}, marginal": ask(name, "marginal") for name in MARGINAL}
    aims = errors_of_the_curve(setting, _knots(int(followed.weights(risk).case.sum())))
    for name, aim in aims.items():
        scores[name] = held(asked(name), aim)
    raised = asked("censoring_by_risk")
    scores[FLAG] = Score(1 - (held(raised, 1.0).held or 0.0)) if isinstance(raised, Estimate) else Score(0.0)
    return scores


def _pooled(setting: Setting, n: int, rng: np.random.Generator, number: int) -> dict[str, Score]:
    del number
    found = [dossier.metrics.auroc(*drawn(setting, n, rng), level=LEVEL) for _ in range(HOSPITALS)]
    known = tuple(each for each in found if isinstance(each, Estimate))
    none: tuple[Fact | None, ...] = (None,) * len(known)
    names = tuple(f"hospital {index}" for index in range(len(known)))
    return {"auroc, pooled": held(pool(known, "logit", LEVEL, names, none), truths(setting)["auroc"])}


def cells() -> Iterator[Cell]:
    """Every setting at every size; and the pooled AUROC of hospitals alike."""
    for setting in SETTINGS:
        for n in SIZES:
            yield Cell(f"{setting.name}, n {n}", "interval", partial(_of_a_hospital, setting, n), n=n)
    for setting in SETTINGS[2::2]:
        yield Cell(f"{setting.name}, {HOSPITALS} hospitals of 300", "interval", partial(_pooled, setting, 300), n=300)


# ---- the table ------------------------------------------------------------------------------------------------------


def _entry(found: Found, name: str) -> str:
    tally = found.tallies.get(name, Tally())
    if not tally.counted:
        return ""
    share = f"**{tally.share:.3f}**" if misses(found, name) else f"{tally.share:.3f}"
    return share if name == FLAG else f"{share} ({tally.below / tally.counted:.3f}, {tally.above / tally.counted:.3f})"


def misses(found: Found, name: str) -> bool:
    """Whether an interval of enough patients is outside the target; a value at its end can only be missed upwards."""
    tally, at_the_end = found.tallies[name], name in ("ici", "e50", "e90") and ", cal" in found.cell.name
    if name == FLAG or found.cell.n < FROM_ROWS or not tally.counted:
        return False
    share = round(tally.share, 3)
    return share < TARGET[0] or (share > TARGET[1] and not at_the_end)


def table(found: tuple[Found, ...], datasets: int, took: str) -> str:
    """The whole of COVERAGE_BY_HORIZON.md."""
    lines = [
        "# Coverage of measures by a horizon",
        "",
        f"Written by `python -m tests.bench.followed`: {datasets:,} tables a cell, seed {SEED}, {took}. An interval is "
        "to hold the truth in .95 of them; the Monte Carlo error of a share of .95 is "
        f"{(0.95 * 0.05 / datasets) ** 0.5:.4f}. Inverted tests take {DRAWS} draws here, 1,000 in a dossier.",
        "",
        "The complementary log-log of the risk is normal with a standard deviation of 1.2. Miscalibrated: shifted by "
        f"-.4 on that scale, slope .7. Leaving by risk: a hazard ratio of {RATIO} a standard deviation. Competing: "
        f"{DIE_FIRST:.0%} of the others have a competing event first. The threshold equals the share with the outcome. "
        "Weights are those of fifths of the risk, the default, where nothing else is said. ICI, E50 and E90 are held "
        "against the curve at which their smoother aims.",
        "",
        "Coverage, and in brackets the share of truths below and above. **Bold**: outside .93 to .97 at "
        f"n >= {FROM_ROWS} (of ICI, E50 and E90 of calibrated risks, whose truth is the end of the range, below .93). "
        "`flag`: how often "
        "`censoring_by_risk` is raised, which tells the reader.",
        "",
    ]
    groups = dict.fromkeys(each.cell.name.rsplit(", ", 1)[0] for each in found)
    wrong = []
    for group in groups:
        here = [each for each in found if each.cell.name.rsplit(", ", 1)[0] == group]
        head = [group, *(each.cell.name.rsplit(", ", 1)[1] for each in here)]
        rows = []
        for name in dict.fromkeys(name for each in here for name in each.tallies):
            rows.append([f"`{name}`", *(_entry(each, name) for each in here)])
            wrong += [(each, name) for each in here if name in each.tallies and misses(each, name)]
        lines += [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
        lines.append("")
    lines += ["## Outside the target", ""]
    for each, name in wrong:
        raised = f"; flag in {each.tallies[FLAG].share:.2f} of the tables" if FLAG in each.tallies else ""
        lines.append(f"- `{name}` ({each.cell.name}) {each.tallies[name].share:.3f}{raised}.")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the lane and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", default="", help="the cells whose name has this in it, for a table of their own")
    parser.add_argument("--output", type=Path, default=TABLE)
    given = parser.parse_args()
    started = time.monotonic()
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}"
    for datasets, seconds, found in run(
        tuple(cell for cell in cells() if given.only in cell.name), given.datasets, given.workers
    ):
        minutes = (time.monotonic() - started) / 60
        took = f"{minutes:.0f} minutes with {given.workers} ({seconds / 60:.0f} of a processor), {versions}"
        given.output.write_text(table(found, datasets, took), encoding="utf-8")


if __name__ == "__main__":
    main()
