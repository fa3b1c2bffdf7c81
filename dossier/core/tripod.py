"""The 52 rows of TRIPOD+AI in our words, as checklist.toml lists them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Item:
    """One row of TRIPOD+AI in our words."""

    number: str
    section: str
    topic: str
    asks: str
    applies: Literal["both", "evaluation", "development"]
    answer: Literal["computed", "declared", "narrative"]
    where: str
    conditional: bool = False
    """Whether it asks only if there is something to report; then "none" must be said."""
    fairness: bool = False
    """Whether what is said of fairness may stand here."""


_FILE = Path(__file__).with_name("checklist.toml")
ITEMS = tuple(Item(**entry) for entry in tomllib.loads(_FILE.read_text(encoding="utf-8"))["item"])
TOPICS: Mapping[str, str] = {item.number: item.topic for item in ITEMS}
