"""What the pages of a committee have room for, and how shares, hospitals and long texts are written there."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dossier.core import binding, types
from dossier.report.chapters.sentence import named_with_the_rest
from dossier.typeset import numbers, tables, words

LINE = 100
"""Characters of a declared text that the first page has room for beside others; the rest stands on a later one."""
TWO_LINES = 170
"""Characters of a declared text that a question has room for."""
LONGEST_OUTCOME = 28
"""Characters of an outcome that is named again and again; a longer one is called the outcome."""
MOST_NAMED = 3
"""Hospitals that a sentence names; of more it gives the count."""
NOT_SAID = "The maker has not said."


@dataclass(frozen=True)
class Abridged:
    """The beginning of a text."""

    text: str
    is_cut: bool
    """Whether its last sentence is not whole."""


def abridged(text: str, most: int) -> str:
    """The first sentences of a text, as many as there is room for; a first one that is too long ends in dots."""
    return beginning(text, most).text


def beginning(text: str, most: int) -> Abridged:
    """The same, with whether a sentence was cut."""
    plain = " ".join(text.split())
    if len(plain) <= most:
        return Abridged(plain, False)
    kept = ""
    for sentence in re.split(r"(?<=[.!?]) ", plain):
        if len(kept) + len(sentence) > most:
            break
        kept = f"{kept} {sentence}".strip()
    return Abridged(kept or f"{plain[: most - 1].rsplit(' ', 1)[0].rstrip(',;:')} …", not kept)


def as_sentence(text: str) -> str:
    """A declared text with a full stop at its end."""
    plain = " ".join(text.split())
    return plain if plain.endswith((".", "!", "?", "…")) else f"{plain}."


def few_named(names: Sequence[str], hospitals: int | None = None) -> str:
    """Hospitals by name while they are few and their names short, else how many `hospitals` they are of."""
    text = words.listing(names)
    return text if len(names) <= MOST_NAMED and len(text) <= LINE else counted_hospitals(hospitals or len(names))


CHECKS = "checks, one for each class and hospital"
"""What several classes are looked at in."""


def first_named(names: Sequence[str], what: str = "") -> str:
    """The first hospitals by name, the rest by number; `what` else they are."""
    return named_with_the_rest(names, MOST_NAMED, LINE, what)


def counted_hospitals(count: int) -> str:
    """So many hospitals, in words up to ten."""
    return f"{words.in_words(count)} {'hospital' if count == 1 else 'hospitals'}"


def all_hospitals(count: int) -> str:
    """Every one of so many hospitals."""
    return "the one hospital" if count == 1 else "both hospitals" if count == 2 else f"all {counted_hospitals(count)}"


def with_it(evidence: types.Evidence) -> str:
    """The patients that the model is to find: with the outcome."""
    return f"with {outcome_of(evidence)}"


def outcome_of(evidence: types.Evidence) -> str:
    """The outcome, by its name where that is short."""
    name = evidence.release.outcome.name
    return name if len(name) <= LONGEST_OUTCOME else "the outcome"


def acted_on(evidence: types.Evidence) -> str:
    """What happens to those who are flagged, in the maker's own verb."""
    return evidence.release.intended_use.verb or "flagged"


DOING = {"sent": "sending", "seen": "seeing", "read": "reading", "given": "giving", "put": "putting", "taken": "taking"}
"""What a verb that does not end in -ed becomes as a noun of what is done."""


def then_the_same(evidence: types.Evidence) -> str:
    """What is said of the time in which a rule to switch it off was broken, where the model did harm."""
    return f"At times {doing(evidence, binding.better_then(evidence))} would have been better"


def doing(evidence: types.Evidence, whom: str) -> str:
    """What it is to do the same for everyone or no one, in the maker's own verb; of a verb that has no known form, that
    they were. Of several classes it is a class that is flagged for them.
    """
    if evidence.release.outcome.classes:
        return f"flagging a class for {whom}"
    verb, *rest = acted_on(evidence).split(" ")
    noun = DOING.get(verb, f"{verb[:-2]}ing" if verb.endswith("ed") and not verb.endswith(("ied", "eed")) else "")
    if not noun:
        return f"having {whom} {acted_on(evidence)}"
    return " ".join([noun, whom, *rest])


def risk_of(share: float) -> str:
    """A risk as the model shows it: in per cent, with the digits that it was declared with."""
    return numbers.threshold(share, percent=True)


def line(at: float) -> str:
    """What a threshold is called: the risk from which on a patient is flagged."""
    return f"{risk_of(at)}{numbers.TIED}line"


def hundred(found: types.Estimate | types.Absent, is_ratio: bool = False) -> tables.Cell:
    """A share as people out of a hundred, or a ratio as cases per hundred."""
    if isinstance(found, types.Absent):
        return missing(found)
    value = f"{100 * found.value:.0f}" if is_ratio else numbers.people(found.value, in_cell=True)
    if found.low is None or found.high is None:
        return tables.Cell(value, of=found)
    low, high = _end(found.low, math.floor, is_ratio), _end(found.high, math.ceil, is_ratio)
    return tables.Cell(value, f"{low}\N{EN DASH}{high}", of=found)


def missing(found: types.Absent) -> tables.Cell:
    """The word in place of a number that there is not: kept back, or resting on too few."""
    return tables.Cell.absent("kept back" if isinstance(found, types.Withheld) else "too few")


def per_hundred(ratio: float) -> str:
    """A ratio as cases per hundred, with enough digits to show on which side of 100 it lies."""
    return f"{100 * ratio:.{numbers.showing_the_side(100 * ratio, 0, (100.0,))}f}"


def between(found: types.Estimate, is_ratio: bool = False) -> str:
    """The range of a share or ratio, as people of a hundred; empty where it has none."""
    if found.low is None or found.high is None:
        return ""
    return f"{_end(found.low, math.floor, is_ratio)} to {_end(found.high, math.ceil, is_ratio)}"


def _end(share: float, outwards: Callable[[float], int], is_ratio: bool) -> str:
    """An end of a range in whole people; one that rounding would put on none or on all goes outwards.

    Of a ratio that rounding would put on 100, only where that keeps its side.
    """
    text, whole = per_hundred(share), outwards(round(100 * share, 9))
    if is_ratio:
        return text if "." not in text or whole == 100 else f"{whole}"
    return text if "." not in text and round(100 * share) > 0 else f"{whole}"
