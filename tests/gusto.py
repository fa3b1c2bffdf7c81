"""A release in the form of the 30-day mortality model of GUSTO-I (Lee et al., Circulation 1995;91:1659-68).

Systolic pressure counts up to 120, the pulse has one slope up to 50 and another above, age counts otherwise in each
Killip class. The coefficients are those of F. Harrell's published fit of that form to GUSTO-I (rms: lrm(day30 ~ tpa +
age + Killip + pmin(sysbp, 120) + lsp(pulse, 50) + pmi + miloc), 30,510 patients); that fit has no product, and the
coefficients of age in the Killip classes are ours. The patients are simulated.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from tests.smallest import release_in

KILLIP = {"II": 0.6137, "III": 1.1610, "IV": 1.9213}
AGE_IN_KILLIP = {"II": -0.0021, "III": -0.0064, "IV": -0.0118}
LOCATION = {"Other": 0.2863, "Anterior": 0.5432}
RELEASE_AT = Path(__file__).parent / "releases" / "gusto"
MODEL = (RELEASE_AT / "model.toml").read_text(encoding="utf-8")
RELEASE = (RELEASE_AT / "release.toml").read_text(encoding="utf-8")


def write(folder: Path, formula: str = MODEL, rows: int = 1200, seed: int = 1995) -> Path:
    """Write the release into a folder: its risks are the equation worked out row by row, as the paper says it."""
    rng = np.random.default_rng(seed)
    lines = ["age,killip,sysbp,pulse,pmi,miloc,tpa,day30,risk"]
    for _ in range(rows):
        age = round(float(np.clip(rng.normal(61, 12), 20, 95)), 1)
        killip = str(rng.choice(["I", "II", "III", "IV"], p=[0.85, 0.12, 0.02, 0.01]))
        sysbp, pulse = round(float(rng.normal(130, 24))), round(float(np.clip(rng.normal(75, 17), 30, 200)))
        pmi, tpa = int(rng.random() < 0.16), int(rng.random() < 0.34)
        miloc = str(rng.choice(["Inferior", "Other", "Anterior"], p=[0.58, 0.03, 0.39]))
        linear = -3.0203 + 0.0769 * age + KILLIP.get(killip, 0.0) + AGE_IN_KILLIP.get(killip, 0.0) * age
        linear += -0.0392 * min(sysbp, 120)
        # As rms says it: the slope, and by how much it changes at 50.
        linear += -0.0242 * pulse + 0.0433 * max(pulse - 50, 0)
        linear += 0.4472 * pmi + LOCATION.get(miloc, 0.0) - 0.2080 * tpa
        risk = 1 / (1 + math.exp(-linear))
        lines.append(f"{age},{killip},{sysbp},{pulse},{pmi},{miloc},{tpa},{int(rng.random() < risk)},{risk!r}")
    return release_in(folder, RELEASE + formula, west__csv="\n".join(lines) + "\n")
