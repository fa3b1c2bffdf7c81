"""What `dossier init` writes: a commented release.toml and tiny simulated tables, a release that builds at once."""

from __future__ import annotations

import math
import random
import tomllib

from dossier.core import material
from dossier.core.checklist import ANSWERED_BY
from dossier.core.tripod import ITEMS

SEED = 20261001
ROWS = 200

RELEASE = (material.templates() / "init" / "release.toml").read_text(encoding="utf-8")
"""The release with a comment beside every key, but for the rows of the checklist that are open."""

TEXT, NONE = '"…"', '{ none = "…" }'
WARDS = ("medicine", "surgery", "other")


def files() -> dict[str, bytes]:
    """Every file of the example release by its name; the same bytes every time."""
    draw = random.Random(SEED)
    return {
        "release.toml": (RELEASE + "\n".join(_open_rows()) + "\n").encode(),
        "development.csv": _table(draw, "d", 0.0, 0.0, ""),
        "internal.csv": _table(draw, "i", 0.0, 0.0, ""),
        "hospital-1.csv": _table(draw, "h", 6.0, 0.4, "-1"),
    }


def _open_rows() -> list[str]:
    """A line for every other row that only a person can answer: filling them in is the work plan."""
    answered = set(tomllib.loads(RELEASE)["statements"]) | set(ANSWERED_BY) - {"26"}
    rows = [item for item in ITEMS if item.number not in answered and item.applies != "development"]
    width = max(len(item.number) for item in rows)
    return [
        f"# {item.number:<{width}} = {NONE if item.conditional else TEXT}  # {item.topic}: "
        f"{item.asks[:1].lower()}{item.asks[1:]}"
        for item in rows
    ]


def _table(draw: random.Random, prefix: str, older: float, sicker: float, unknown: str) -> bytes:
    """`older` shifts the age; `sicker` is what the model does not know about the place, `unknown` a missing cell."""
    rows = [_row(draw, f"{prefix}{number:03d}", older, sicker, unknown) for number in range(1, ROWS + 1)]
    return "\n".join(["case_id,age,glucose,ward,outcome,risk,risk_previous", *rows, ""]).encode()


def _row(draw: random.Random, case: str, older: float, sicker: float, unknown: str) -> str:
    age = min(95, max(18, round(draw.gauss(62 + older, 14))))
    glucose = round(max(3.0, draw.gauss(7.0, 2.0)), 1)
    ward = draw.choices(WARDS, weights=(5, 3, 2))[0]
    logit = -1.0 + 0.05 * (age - 62) + 0.3 * (glucose - 7.0) + (0.6 if ward == "medicine" else 0.0)
    outcome = int(draw.random() < _risk(logit + sicker))
    previous = _risk(0.7 * logit + draw.gauss(0.0, 0.4))
    recorded = unknown if draw.random() < 0.03 else f"{glucose:.1f}"
    return f"{case},{age},{recorded},{ward},{outcome},{_risk(logit):.4f},{previous:.4f}"


def _risk(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))
