"""What the pages of a committee have room for, and how shares, places and long texts are told there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dossier.types import Absent, Estimate
from dossier.typeset.numbers import showing_the_side
from dossier.typeset.tables import Cell
from dossier.typeset.words import in_words, listing

LINE = 100
"""Characters of a declared text that the first page has room for beside others; the rest stands on the third."""
TWO_LINES = 170
"""Characters of the purpose that the first page has room for."""
HALF = 120
"""Characters of a column of the first page."""
LONGEST_NAME = 45
"""Characters of a model's or outcome's name that a sentence of the first page has room for."""
MOST_NAMED = 3
"""Places that a sentence names; of more it gives the count."""
OPEN = "The release does not say."


def abridged(text: str, most: int) -> str:
    """The first sentences of a text, as many as there is room for; a first one that is too long ends in dots."""
    plain = " ".join(text.split())
    if len(plain) <= most:
        return plain
    kept = ""
    for sentence in re.split(r"(?<=[.!?]) ", plain):
        if len(kept) + len(sentence) > most:
            break
        kept = f"{kept} {sentence}".strip()
    return kept or f"{plain[: most - 1].rsplit(' ', 1)[0].rstrip(',;:')} …"


def few_named(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Places by name while they are few and their names short, else their number."""
    told = listing(names)
    return told if len(names) <= most and len(told) <= LINE else counted_places(len(names))


def counted_places(count: int) -> str:
    """So many places, in words up to ten."""
    return f"{in_words(count)} {'place' if count == 1 else 'places'}"


def hundred(found: Estimate | Absent) -> Cell:
    """A share or ratio as people out of a hundred."""
    if isinstance(found, Absent):
        return Cell("too few", kind="absent")
    if found.low is None or found.high is None:
        return Cell(f"{100 * found.value:.0f}")
    return Cell(f"{100 * found.value:.0f}", f"{of_hundred(found.low)}\N{EN DASH}{of_hundred(found.high)}")


def of_hundred(share: float) -> str:
    """A share or ratio as people out of a hundred, with enough digits to show on which side of 100 it lies."""
    return f"{100 * share:.{showing_the_side(100 * share, 0, (100.0,))}f}"
