"""Words for counts, lists, dates and settings, and what reasons call by the names of the input."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from dossier.core.types import PERIODS_OF_A_YEAR, PeriodUnit
from dossier.typeset.numbers import TIED, threshold
from dossier.words import entries, sentence

NAMES = frozenset(entries("terms")["names"]["capitals"])
"""Words of labels that keep their capital everywhere."""
NUMBERS_IN_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
SETTING: dict[str, str] = entries("terms")["setting"]
SETTING_VALUE: dict[str, str] = entries("terms")["value"]
HEADS: dict[str, str] = entries("terms")["heads"]
"""What stands above a column of a figure of measures over time."""


SIMILARITY_FORM = {"averaged": "averaged similarity", "psi": "psi"}
"""What each form of similarity is called in a sentence."""


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun, never parted at the end of a line."""
    return f"{count:,}{TIED}{noun if count == 1 else plural or noun + 's'}"


def in_words(count: int) -> str:
    """A count up to ten as a word."""
    return NUMBERS_IN_WORDS[count] if count < len(NUMBERS_IN_WORDS) else f"{count:,}"


def how_many(count: int) -> str:
    """A count up to ten as a word that stands without its noun: none of ten."""
    return in_words(count) if count else "none"


def part_of(count: int, among: int) -> str:
    """A part of a count: two of ten, neither of two."""
    return "neither of two" if (count, among) == (0, 2) else f"{how_many(count)} of {in_words(among)}"


def listing(words: Sequence[str]) -> str:
    """Words joined as in a sentence: a, b and c; by semicolons where one has a comma itself: Rho, Italy; and Bari."""
    if len(words) < 2:
        return "".join(words)
    has_comma = any(COMMA.search(BRACKETED.sub("", word)) for word in words)
    between, last = ("; ", "; and ") if has_comma else (", ", " and ")
    return f"{between.join(words[:-1])}{last}{words[-1]}"


BRACKETED = re.compile(r"\([^)]*\)")
COMMA = re.compile(r",\s")


def date(value: datetime.date | None) -> str:
    """A date in words."""
    return "not dated" if value is None else f"{value.day}{TIED}{value:%B %Y}"


def periods(numbers: Sequence[int], unit: PeriodUnit) -> str:
    """Calendar periods, the year once: 2025 Q3 and Q4; of more than two in a row the first to the last."""
    first, *_, last = numbers if len(numbers) > 1 else (numbers[0], numbers[0])
    if first == last:
        return period(first, unit)
    each = PERIODS_OF_A_YEAR[unit]
    if len(numbers) > 2 and last - first >= len(numbers):
        is_one_year = unit == "quarter" and first // each == last // each
        rest = (f"Q{number % 4 + 1}" if is_one_year else period(number, unit) for number in numbers[1:])
        return listing([period(first, unit), *rest])
    joint = " to " if len(numbers) > 2 else " and "
    if unit == "year" or first // each != last // each:
        return f"{period(first, unit)}{joint}{period(last, unit)}"
    if unit == "quarter":
        return f"{period(first, unit)}{joint}Q{last % 4 + 1}"
    return f"{datetime.date(2000, first % 12 + 1, 1):%B}{joint}{period(last, unit)}"


def months_of(numbers: Sequence[int], unit: PeriodUnit) -> str:
    """Calendar periods in a row as everybody calls them: quarters by their months, July to December 2025."""
    if unit != "quarter":
        return periods(numbers, unit)
    first, last = numbers[0], numbers[-1]
    return periods(range(first // 4 * 12 + first % 4 * 3, last // 4 * 12 + last % 4 * 3 + 3), "month")


def period(number: int, unit: PeriodUnit) -> str:
    """A calendar period, counted from the year 0: 2025 Q3, March 2025, 2025."""
    if unit == "year":
        return str(number)
    if unit == "quarter":
        return f"{number // 4}{TIED}Q{number % 4 + 1}"
    return f"{datetime.date(number // 12, number % 12 + 1, 1):%B}{TIED}{number // 12}"


def dates(value: tuple[datetime.date, datetime.date] | None) -> str:
    """From when to when; whole years without days."""
    if value is None:
        return "not stated"
    first, last = value
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return f"{first.year}" if first.year == last.year else f"{first.year} to {last.year}"
    return f"{_short_date(first)} to {_short_date(last)}"


def _short_date(value: datetime.date) -> str:
    return f"{value.day}{TIED}{value:%b}{TIED}{value.year}"


def exclusion(code: str) -> str:
    """Why rows were excluded, as it stands within a sentence: outcome missing, of `outcome_missing`."""
    return code.replace("_", " ")


def setting(value: float | str) -> str:
    """The value of a setting, as a heading names it."""
    if isinstance(value, str) and re.fullmatch(r"[\d.]+-[\d.]+", value):
        return value.replace("-", " to ")
    if isinstance(value, str):
        return SETTING_VALUE.get(value, value.replace("_", " "))
    return threshold(value)


MOST_NAMED = 3
"""Sites that are named where a text has no other limit."""


def named_or_counted(names: Sequence[str], most: int = MOST_NAMED, among: int = 0, what: str = "sites") -> str:
    """Sites, or `what` else they are, by name when they are few, by count when they are many: four, four of ten."""
    if len(names) <= most:
        return listing(names)
    return f"{part_of(len(names), among) if among else in_words(len(names))} {what}"


def span(written: Callable[[float], str], values: Iterable[float]) -> str:
    """From the smallest to the largest of some values: one where both are written alike."""
    known = list(values)
    return " to ".join(dict.fromkeys(map(written, (min(known), max(known)))))


def sentence_case(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def within_sentence(label: str) -> str:
    """A label in the middle of a sentence: in lower case, unless it opens with a name or an abbreviation."""
    first = label.split()[0]
    keeps = first in NAMES or any(letter.isupper() or letter.isdigit() for letter in first[1:]) or len(first) == 1
    return label if keeps or "-" in first else label[:1].lower() + label[1:]


def anchor(text: str) -> str:
    """A text as the name of a place in the document."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def of_figure(name: str, values: Mapping[str, object]) -> str:
    """A caption or a message of a figure, filled with values."""
    return sentence.Sentence().filled(entries("figures")[name], values)


def of_curves(kind: Literal["panels", "ridges", "tables", "values"]) -> Mapping[str, Any]:
    """The curves that are printed site by site in one of these ways, with the words around them."""
    found: Mapping[str, Any] = entries("curves")[kind]
    return found
