"""The words and numbers that are written where something is unknown."""

from __future__ import annotations

from dossier.words.wording import number

NINES = (-9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0, 99999.0)
CODES = (0.0, -1.0, 888.0, *NINES)
"""The numbers that are written where a value is unknown."""
WORDS = frozenset(("na", "n/a", "#n/a", "nan", "null", "nil", "missing", "?", "-", "--", "."))
"""The words that are written where a value is unknown; a table of categories may mean them."""
SIGNS_OF_NO = frozenset(("-", "--"))
"""Of these words those that, beside a sign for yes, may say that something did not happen."""


def is_unknown_outcome(text: str) -> bool:
    """Whether a text that stands where an outcome does says that it is unknown; a 9 beside a 1 or 2 does."""
    plain = text.strip().casefold()
    return plain in (WORDS - SIGNS_OF_NO) | {"unknown", "9"} | {number(code) for code in NINES}


def is_word(text: str) -> bool:
    """Whether a text is a word for missing."""
    return text.strip().casefold() in WORDS
