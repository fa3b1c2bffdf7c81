"""Make two releases of one model from fixtures/breast: python make.py. Needs numpy.

The patients and what happened to them are those of fixtures/breast: the tumour bank dealt to three hospitals by number,
the trial as a fourth. The risks of the first version are those of the breast model. Those of the second are simulated:
nearer to what happened at the tumour bank, and half as high again at the trial, as after a change of unit. So the
second version is better over all, and worse at one hospital.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
BREAST = HERE.parents[2] / "fixtures" / "breast"
SEED = 1994
NEARER, NOISE = 0.45, 0.35
"""How far the log odds of the second version move towards what happened, and what else moves them."""
TIMES = 1.5
HEAD = (HERE / "head.toml").read_text(encoding="utf-8")
GROUPS = """
[[subgroup]]
column = "menopause"
levels = { "0" = "before", "1" = "after" }
"""
SITE = """
[[dataset]]
name = "{name}"
role = "external"
file = "../{name}.csv"
outside = true
site = "{site}"
"""
PROMISED = """
[[reply]]
flag = "precision_missed"
dataset = "gbsg"
says = "More patients by the next release; O/E is {oe_ratio@gbsg}."
[care]
monitoring = "O/E, every quarter."
review = "After a year."
"""
KEPT = (
    PROMISED.partition("[care]")[1]
    + """
monitoring = "O/E, every month."
"""
)
SITES = {"north": "Hospital North", "east": "Hospital East", "south": "Hospital South", "gbsg": "GBSG trial"}


def rows(name: str) -> list[tuple[str, float, float]]:
    """The menopause, the outcome and the first risk of each patient whose outcome is known."""
    with (BREAST / f"{name}.csv").open(encoding="utf-8") as file:
        every = list(csv.DictReader(file))
    return [(row["meno"], float(row["outcome"]), float(row["risk"])) for row in every if row["outcome"]]


def calibrated(odds: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """The risks of the line in these log odds that fits what happened: ten steps of Newton's."""
    columns, line = np.vstack([np.ones_like(odds), odds]), np.array([0.0, 1.0])
    for _ in range(10):
        risk = 1 / (1 + np.exp(-line @ columns))
        line += np.linalg.solve((columns * risk * (1 - risk)) @ columns.T, columns @ (outcome - risk))
    return np.asarray(1 / (1 + np.exp(-line @ columns)))


def main() -> None:
    """Write the four tables and both releases."""
    rng = np.random.default_rng(SEED)
    tables = {name: rows("rotterdam")[k::3] for k, name in enumerate(("north", "east", "south"))}
    tables["gbsg"] = rows("gbsg")
    for name, every in tables.items():
        outcome, first = (np.array([row[key] for row in every]) for key in (1, 2))
        odds = np.log(first / (1 - first)) + NEARER * (2 * outcome - 1) + NOISE * rng.normal(size=len(every))
        second = calibrated(odds, outcome) if name != "gbsg" else np.minimum(first * TIMES, 0.99)
        each = zip(every, second, strict=True)
        lines = [f"{int(y)},{p:.4f},{q:.4f},{menopause}" for (menopause, y, p), q in each]
        text = "\n".join(["outcome,risk_1,risk_2,menopause", *lines])
        (HERE / f"{name}.csv").write_text(f"{text}\n", encoding="utf-8")
    limits = ("at_least = 0.3", 'not_worse_by = 0.05\nthan = "previous"')
    for folder, version, date, limit in zip(
        ("first", "second"), ("1.4.0", "1.5.0"), ("2026-05-01", "2026-11-01"), limits, strict=True
    ):
        is_second = folder == "second"
        text = HEAD.format(
            version=version,
            date=date,
            limit=limit,
            measure="specificity" if is_second else "sensitivity",
            risk="risk_2" if is_second else "risk_1",
            previous='previous = "../first-out/results.json"\n' if is_second else "",
            column='previous = "risk_1"\n' if is_second else "",
        )
        text += GROUPS + (KEPT if is_second else PROMISED)
        for name, site in SITES.items():
            text += SITE.format(name=name, site=site)
        (HERE / folder / "release.toml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
