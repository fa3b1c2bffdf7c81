"""A release like a trial in many regions: a large development table, sites of one table, subgroups and a rival."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[np.float64]]

PREDICTORS = ("age", "sex", "killip", "sysbp", "pulse", "location", "height", "weight", "previous", "diabetes")

USUAL = -3.6
"""The log odds of a patient like most: some 7 in 100 die."""

RELEASE = """\
outcome = {{ name = "death within 30 days", column = "died" }}
prediction = {{ column = "risk", rival = "rival", rival_name = "age and Killip class" }}
thresholds = {{ declared = [0.02, 0.07], range = [0.01, 0.3], rationale = "of the bench" }}
release = {{ model = "Bench", version = "1", date = 2026-01-01, owner = "nobody" }}

[[subgroup]]
column = "sex"
levels = {{ "1" = "female", "0" = "male" }}

[[subgroup]]
column = "age"
cuts = [55, 70]

[[subgroup]]
column = "location"
levels = {{ "1" = "anterior", "0" = "other" }}

[[dataset]]
name = "development"
role = "development"
file = "development.csv"
predictors = [{predictors}]

[[dataset]]
name = "region"
role = "external"
file = "external.csv"
site_column = "region"
predictors = [{predictors}]
"""


def write(folder: Path, development: int, sites: int, rows: int) -> None:
    """Write the release: so many development rows, so many sites, so many rows a site."""
    import pyarrow
    import pyarrow.csv

    folder.mkdir(parents=True)
    rng = np.random.default_rng(41)
    pyarrow.csv.write_csv(pyarrow.table(_region(rng, development, 0)), folder / "development.csv")
    parts = [_region(rng, rows, site + 1) for site in range(sites)]
    external = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    pyarrow.csv.write_csv(pyarrow.table(external), folder / "external.csv")
    named = ", ".join(f'"{name}"' for name in PREDICTORS)
    (folder / "release.toml").write_text(RELEASE.format(predictors=named))


def _region(rng: np.random.Generator, rows: int, region: int) -> Columns:
    """The patients of one region, some older, some sicker; region 0 is where the model was made."""
    patients = _patients(rng, rows, 0.0 if region == 0 else rng.normal(0, 0.3))
    linear = _linear(patients)
    shift, slope = (0.0, 1.0) if region == 0 else (rng.normal(0, 0.25), rng.normal(1, 0.08))
    true = 1 / (1 + np.exp(-(shift + USUAL + slope * (linear - USUAL))))
    rival = 1 / (1 + np.exp(-(-3.4 + 0.065 * (patients["age"] - 61) + 0.8 * (patients["killip"] - 1))))
    return {
        "died": (rng.random(rows) < true).astype(float),
        "risk": 1 / (1 + np.exp(-linear)),
        "rival": rival,
        "region": np.full(rows, float(region)),
        **patients,
    }


def _patients(rng: np.random.Generator, rows: int, older: float) -> Columns:
    sex = (rng.random(rows) < 0.25).astype(float)
    return {
        "age": np.clip(rng.normal(61 + 6 * older, 12, rows), 20, 95).round(),
        "sex": sex,
        "killip": 1.0 + (rng.random(rows) < 0.15) + (rng.random(rows) < 0.03),
        "sysbp": np.clip(rng.normal(130 - 4 * older, 24, rows), 50, 230).round(),
        "pulse": np.clip(rng.normal(75, 17, rows), 30, 180).round(),
        "location": (rng.random(rows) < 0.4).astype(float),
        "height": rng.normal(172 - 8 * sex, 8).round(),
        "weight": rng.normal(80 - 8 * sex, 13).round(),
        "previous": (rng.random(rows) < 0.16).astype(float),
        "diabetes": (rng.random(rows) < 0.15).astype(float),
    }


def _linear(patients: Columns) -> NDArray[np.float64]:
    """The log odds that the model gives."""
    return np.asarray(
        USUAL
        + 0.07 * (patients["age"] - 61)
        + 0.9 * (patients["killip"] - 1)
        - 0.018 * (patients["sysbp"] - 130)
        + 0.014 * (patients["pulse"] - 75)
        + 0.4 * patients["location"]
        + 0.35 * patients["previous"]
        + 0.25 * patients["diabetes"]
        + 0.2 * patients["sex"]
        - 0.006 * (patients["weight"] - 80)
    )
