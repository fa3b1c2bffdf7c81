"""How people write numbers, with signs for thousands, decimal commas, per cent signs or a unit, and what is unknown."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from dossier.core.facts import Fact
from dossier.words.wording import number

MET: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "met.toml").read_text(encoding="utf-8"))
"""Words that are met in tables and in release.toml, and what they are taken for."""
NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
THOUSANDS = r"[+-]?\d{1,3}(?:[.,'\u2019\s]\d{3})+(?:[.,]\d+)?"
DECIMAL_COMMA = r"[+-]?\d*,\d+"
UNIT = re.compile(rf"{NUMBER}\s*([^\W\d_].*|\u00b0.*|%)")
FEWEST = 3
"""Two such texts may be any two categories."""
FEWEST_WITH_UNIT = 5
"""Fewer doses may be meant as categories: 5 mg, 10 mg and 20 mg."""
DIGITS = Fact("plain_digits")
STRANGE_MINUS = "\u2212\u2013\u2012\ufe63\uff0d"
"""The signs that are set for a minus, and that no program reads as one."""
MINUS = Fact("strange_minus")


def has_strange_minus(text: str) -> bool:
    """Whether a text is a number but for the sign in front of it, which looks like a minus."""
    return re.fullmatch(rf"[{STRANGE_MINUS}]\s*\d*[.,]?\d+", text) is not None


def fix(texts: Collection[str]) -> Fact:
    """How to write such texts so that a program reads them."""
    return MINUS if any(map(has_strange_minus, texts)) else DIGITS


def is_number(text: str) -> bool:
    """Whether a text that is no number for a program is one for a person, who needs no unit to see it."""
    return has_strange_minus(text) or re.fullmatch(rf"{THOUSANDS}|{DECIMAL_COMMA}|{NUMBER}\s*%", text) is not None


def are_numbers(texts: Collection[str]) -> bool:
    """Whether these are enough different texts to tell, each such a number, or all with the same unit behind."""
    if all(is_number(text) for text in texts):
        return len(texts) >= FEWEST
    units = [UNIT.fullmatch(text) for text in texts]
    same = {unit[1].strip() for unit in units if unit is not None}
    return len(texts) >= FEWEST_WITH_UNIT and all(units) and len(same) == 1


NINES = (-9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0, 99999.0)
CODES = (0.0, -1.0, 888.0, *NINES)
"""The numbers that are written where a value is unknown."""
WORDS = frozenset(("na", "n/a", "#n/a", "nan", "null", "nil", "missing", "?", "-", "--", "."))
"""The words that are written where a value is unknown; a table of categories may mean them."""
SIGNS_OF_NO = frozenset(("-", "--"))
"""Of these words those that, beside a sign for yes, may say that something did not happen."""


def is_unknown_outcome(text: str) -> bool:
    """Whether a text that stands where an outcome does says that it is unknown; a 9 beside a 1 or 2 does."""
    return text.strip().casefold() in (WORDS - SIGNS_OF_NO) | {"unknown", "9"} | {number(code) for code in NINES}


def is_word(text: str) -> bool:
    """Whether a text is a word for missing."""
    return text.strip().casefold() in WORDS
