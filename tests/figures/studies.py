"""Simulated studies that go to the ends of what a figure must bear: few and many sites, rows, and letters."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace

import numpy as np

from dossier import evaluate
from dossier.core.release import Release
from dossier.core.types import Dataset, DatasetSummary, Evidence, Feature, Floats, Readers, Role, Study, Withheld


@dataclass(frozen=True)
class Extreme:
    """One end of what may come: what its sites are called, how many rows each has, and how its risks lie."""

    name: str
    sites: tuple[str, ...]
    rows: int
    prevalence: float = 0.3
    perfect: bool = False
    """Whether every risk is right and certain."""
    lacking: bool = False
    """Whether one site has one class, one no predictors, one no rows left, and nothing else is declared."""
    readers: int = 0
    times: int = 1
    """How many patients the figures are told that each row stands for: they see counts, never rows."""


def _hospitals(count: int) -> tuple[str, ...]:
    return tuple(f"Hospital {index}" for index in range(1, count + 1))


LONG = tuple(f"University Hospital of {town}" for town in ("Reims-Champagne Nord", "Reims-Champagne Sud", "Bad Orb 1"))
assert max(map(len, LONG)) >= 40
LINE = "University Hospital of the Holy Cross, Department of Anaesthesiology and Surgical Intensive Care Medicine, Site"

EXTREMES = (
    Extreme("one site", ("Desio",), 300, readers=5),
    Extreme("forty sites", _hospitals(40), 60),
    Extreme("twenty rows", _hospitals(3), 20),
    Extreme("many rows", _hospitals(3), 400, times=1_000),
    Extreme("rare", _hospitals(3), 1_500, prevalence=0.01),
    Extreme("perfect", _hospitals(3), 120, perfect=True, readers=3),
    Extreme("long names", LONG, 200),
    Extreme("names of a line", tuple(f"{LINE} {letter}" for letter in "ABCDEF"), 90),
    Extreme("missing pieces", _hospitals(4), 80, lacking=True),
)


def release(extreme: Extreme) -> Release:
    """What the study declares: two thresholds round its prevalence, and next to nothing where pieces are missing."""
    first = 0.5 if extreme.prevalence > 0.1 else extreme.prevalence
    declared = {} if extreme.lacking else {"declared": (first, first / 2), "range": (first / 10, min(0.9, first * 1.5))}
    places = [{"name": f"site-{spot}", "file": f"{spot}.csv", "site": site} for spot, site in _numbered(extreme)]
    return Release.model_validate(
        {
            "release": {"model": "Extreme", "version": "1", "date": None, "owner": "nobody"},
            "outcome": {"name": "the outcome", "column": "outcome"},
            "prediction": {"column": "risk"} | ({} if extreme.lacking else {"rival": "rival", "rival_name": "Rival"}),
            "thresholds": declared,
            "severity": None if extreme.lacking else {"weights": ((0.0, 0.6), (0.3, 0.0))},
            "dataset": (
                *({"name": name, "role": name, "file": f"{name}.csv"} for name in _of_the_owner(extreme)),
                *({"role": "external", **setting} for setting in places),
            ),
            "resampling": {"bootstrap": 5, "permutations": 9},
        }
    )


def _numbered(extreme: Extreme) -> list[tuple[int, str]]:
    return list(enumerate(extreme.sites))


def _of_the_owner(extreme: Extreme) -> tuple[Role, ...]:
    return () if extreme.lacking else ("development", "internal")


def study(extreme: Extreme) -> Study:
    """The rows; the same every time."""
    rng = np.random.default_rng(len(extreme.name))
    rows = [_dataset(rng, extreme, name, name, "Home", 400, 0.0) for name in _of_the_owner(extreme)]
    for position, site in _numbered(extreme):
        # Sites drift away from the development data one after the other.
        away = 1.2 * position / max(1, len(extreme.sites) - 1)
        rows.append(_dataset(rng, extreme, f"site-{position}", "external", site, extreme.rows, away))
    return Study(release(extreme), tuple(rows), _readers(rng, extreme, rows[-1]), ())


def _dataset(
    rng: np.random.Generator, extreme: Extreme, name: str, role: Role, site: str, rows: int, away: float
) -> Dataset:
    age = rng.normal(60 + 12 * away, 12, rows)
    blood = rng.normal(away, 1, rows)
    centre = float(np.log(extreme.prevalence / (1 - extreme.prevalence)))
    chance = _expit(centre + 0.9 * (blood - away) + 0.04 * (age - 60 - 12 * away))
    outcome = (rng.random(rows) < chance).astype(float)
    outcome[:2] = 0, 1
    risk = outcome.copy() if extreme.perfect else _expit(centre + 1.1 * (blood - away / 2) + 0.03 * (age - 60))
    if extreme.lacking and name == "site-1":
        outcome[:] = 0
    bare = extreme.lacking and name == "site-2"
    blood[::7] = np.nan
    started = datetime.date(2020, 1, 1) + datetime.timedelta(days=len(name) + int(40 * away))
    dated = not (extreme.lacking and name in ("site-0", "site-3"))
    lost = rows // 10
    return Dataset(
        name=name,
        role=role,
        site=site,
        rows_read=rows + lost,
        excluded={"no outcome": lost} if lost else {},
        outcome=outcome,
        risk=risk,
        rival=None if extreme.lacking else np.clip(risk * 0.5 + 0.5 * rng.random(rows) * 2 * extreme.prevalence, 0, 1),
        predictors=() if bare else (Feature("Age", age), Feature("Blood", blood)),
        dates=(started, started + datetime.timedelta(days=200)) if dated else None,
    )


def _readers(rng: np.random.Generator, extreme: Extreme, of: Dataset) -> tuple[Readers, ...]:
    """The labels of the last site's rows by a few readers; of a perfect model they all agree."""
    if not extreme.readers or of.outcome is None:
        return ()
    wrong = rng.random((len(of.outcome), extreme.readers)) < (0.0 if extreme.perfect else 0.15)
    labels = np.abs(of.outcome[:, None] - wrong)
    sure = np.clip(rng.normal(0.8, 0.1, labels.shape), 0.5, 1)
    accuracy = (1.0 if extreme.perfect else 0.85,) * extreme.readers
    return (Readers(of.name, np.arange(len(labels)), labels, sure, 1 - sure, None, accuracy, 0.05),)


def _expit(value: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-value)))


def evidence(extreme: Extreme) -> Evidence:
    """All that is known of the study, with few resamples: figures show the same forms."""
    found = evaluate.evidence(study(extreme))
    return replace(found, datasets=tuple(_many(dataset, extreme.times) for dataset in found.datasets))


def _times(count: int | Withheld, times: int) -> int | Withheld:
    return count if isinstance(count, Withheld) else count * times


def _many(summary: DatasetSummary, times: int) -> DatasetSummary:
    return replace(
        summary,
        n=summary.n * times,
        events=None if summary.events is None else summary.events * times,
        rows_read=_times(summary.rows_read, times),
        excluded={reason: _times(count, times) for reason, count in summary.excluded.items()},
    )
