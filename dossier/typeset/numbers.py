"""Numbers as text: their digits, bounds, units and signs."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dossier.core.bands import OE_TOLERATED, SIMILARITIES, SIMILARITY
from dossier.core.types import Estimate, Evidence, Term
from dossier.words.wording import MINUS as MINUS
from dossier.words.wording import threshold as threshold

DASH = "\N{EN DASH}"
TIED = "\N{NO-BREAK SPACE}"
HYPHEN = "\N{NON-BREAKING HYPHEN}"
JOINER = "\N{WORD JOINER}"
"""What parts no line, and neither shows nor is copied."""
SOFT_HYPHEN = "\N{SOFT HYPHEN}"
"""Where a line may end within a word; it shows nowhere else."""
LONGEST_UNBROKEN = 20
"""Letters of a name that is not parted at the end of a line: the narrowest column of a page has room for them."""


def unbroken(name: str) -> str:
    """A name that no line parts; of one that is too long only the hyphens hold."""
    held = name.replace("-", HYPHEN)
    return held.replace(" ", TIED) if len(name) <= LONGEST_UNBROKEN else held


def plain(text: str) -> str:
    """A text that any line may part, as a file holds it that has no lines."""
    return text.replace(HYPHEN, "-").replace(TIED, " ").replace(JOINER, "").replace(SOFT_HYPHEN, "")


def number(value: float, digits: int = 2, percent: bool = False) -> str:
    """A number as it is printed: a true minus, commas between thousands, and never a zero that is not one."""
    scaled = value * 100 if percent else value
    text = f"{abs(scaled):,.{digits}f}"
    is_zero = not text.strip("0.,")
    if is_zero and scaled > 0:
        return f"<{10.0**-digits:.{digits}f}"
    return f"{MINUS}{text}" if scaled < 0 and not is_zero else text


def per_cent(value: float, digits: int = 0) -> str:
    """A share in per cent, with its sign and its digits."""
    return f"{number(value, _of_rare(value, digits), percent=True)}%"


def _of_rare(share: float, digits: int) -> int:
    """The digits of a share in per cent: two of what fewer than 1 in 100 have, or all but so few."""
    rarer = 100 * min(share, 1 - share)
    return max(digits, 1 - math.floor(math.log10(rarer))) if LEAST_RARE < rarer < 1 else digits


LEAST_RARE = 1e-5
"""Per cent: less is the error of a float."""


PEOPLE = ((0.05, 100), (0.005, 1000), (0.0, 10_000))
"""From which frequency of an outcome or risk on it is said of so many people."""


def of_how_many(frequency: float) -> int:
    """Of how many people an outcome or a risk that is so frequent is said: 100, 1,000 or 10,000."""
    return next(people for least, people in PEOPLE if frequency >= least)


def digits_per_100(frequency: float) -> int:
    """The digits of a net benefit per 100 people, which are more where the outcome is counted among 1,000 or 10,000."""
    return round(math.log10(of_how_many(frequency))) - 1


def people(share: float, among: int = 100, in_cell: bool = False) -> str:
    """A share as whole people of so many: no one and all of them only where it is 0 and 1."""
    count = round(among * share)
    if share > 0 and count == 0:
        return "<1" if in_cell else "fewer than 1"
    if share < 1 and count == among:
        return f">{among - 1:,}" if in_cell else f"more than {among - 1:,}"
    return f"{count:,}"


def level_of(evidence: Evidence) -> str:
    """The level of the intervals, as it is printed."""
    return f"{evidence.release.release.level * 100:g}%"


def as_declared(value: float) -> str:
    """A number with the digits that somebody wrote, and a true minus."""
    return f"{value:.12g}".replace("-", MINUS)


def wished(value: float, term: Term) -> str:
    """A bound that a criterion declares, on the scale of its measure: never with fewer digits than it was written."""
    written = as_declared(value * 100 if term.unit else value).partition(".")[2]
    return number(value, max(term.digits, len(written)), bool(term.unit))


def interval(found: Estimate, term: Term, wordy: bool = False) -> str:
    """The interval: 0.73–0.96 in a cell, 0.73 to 0.96 in a sentence or beside a negative bound."""
    low, high = (None if bound is None else bound_of(bound, term, found) for bound in (found.low, found.high))
    if low is None or high is None:
        return f"up to {high}" if high else f"from {low}" if low else ""
    return f"{low}{' to ' if wordy or (found.low or 0.0) < 0 else DASH}{high}"


def value_of(found: Estimate, term: Term) -> str:
    """The value of a measure, with enough digits to show its sign, and in which band of similarity or of calibration it
    lies.
    """
    if term.chapter == "sample":
        return patients_needed(found.value)
    cut_offs = (*OF_SIMILARITY.get(term.measure, ()), *_whole(term), *_tolerated(term, found))
    return _on_its_side(found.value, term, (*_zero(found.value, term, found), *cut_offs), found)


def patients_needed(value: float) -> str:
    """A required sample size in whole patients: fewer than it asks for are too few."""
    return number(math.ceil(round(value, 6)), 0)


def bound_of(value: float, term: Term, found: Estimate) -> str:
    """A bound of an interval, with enough digits to show its sign; of a ratio or slope its side of 1, and of what is
    tolerated.
    """
    tolerated = _tolerated(term, found)
    row = (1.0, *tolerated) if tolerated else ()
    return _on_its_side(value, term, (*_zero(value, term, found), *row, *_whole(term)), found)


def _tolerated(term: Term, found: Estimate) -> tuple[float, ...]:
    """Between which values a ratio or a slope passes for right: a verdict that rests on one shows its side."""
    return OE_TOLERATED if term.best == "one" and not _is_difference(found) else ()


def _whole(term: Term) -> tuple[float, ...]:
    """The ends of a share in per cent: no rare outcome makes 100% of one that is not whole."""
    return (0.0, 1.0) if term.unit == "%" and term.range == (0, 1) else ()


OF_SIMILARITY = dict.fromkeys(SIMILARITIES.values(), tuple(end for end in SIMILARITY if end < 1))
"""Where one band of similarity ends and the next begins."""


def _zero(value: float, term: Term, found: Estimate) -> tuple[float, ...]:
    """The cut-off between a loss and a gain, of what may be either and is not 0 but for the last digits of a fit."""
    lowest, smallest = term.range[0], 0.5 * 10.0 ** -(term.digits + MORE_FOR_THE_SIGN)
    may_be_either = lowest is None or lowest < 0 or _is_difference(found)
    return (0.0,) if may_be_either and abs(value) * (100 if term.unit else 1) > smallest else ()


MORE_FOR_THE_SIGN = 2
"""As many digits more as a number may have that its sign be seen."""


def _is_difference(found: Estimate) -> bool:
    """Whether a number is that of a subgroup less that of the others, on the scale of the measure itself."""
    return "complement" in found.details


def _on_its_side(value: float, term: Term, cut_offs: Iterable[float], found: Estimate | None = None) -> str:
    scale, digits = 100 if term.unit else 1, term.digits
    if _whole(term) and not (found and _is_difference(found)):
        digits = _of_rare(value, digits)
    elif term.unit == "per 100" and found and found.events:
        digits = digits_per_100(found.events / found.n)
    digits = showing_the_side(value * scale, digits, (round(cut * scale, 6) for cut in (*cut_offs, *term.limits)))
    return number(value, digits, bool(term.unit))


def of_spread(*values: float) -> list[str]:
    """A median and its quartiles, with as many digits as the median needs."""
    middle = abs(values[0]) if values else 0.0
    digits = 0 if all(float(value).is_integer() for value in values) else 2 if middle < 1 else 1 if middle < 100 else 0
    return [number(value, digits) for value in values]


def in_text(evidence: Evidence, measure: str, found: Estimate) -> str:
    """An estimate as a sentence gives it: 0.88 (95% CI 0.73 to 0.96)."""
    term = evidence.terms[measure]
    value = value_of(found, term)
    bounds = interval(found, term, wordy=True)
    return f"{value}{unit(term)} ({level_of(evidence)}{TIED}CI {bounds})" if bounds else f"{value}{unit(term)}"


def short(evidence: Evidence, measure: str, value: float, cut_offs: Iterable[float] = ()) -> str:
    """A value of a measure without its interval, with more digits where fewer would hide the side of a cut-off."""
    return bare(evidence, measure, value, cut_offs) + unit(evidence.terms[measure])


def bare(evidence: Evidence, measure: str, value: float, cut_offs: Iterable[float] = ()) -> str:
    """The same without its unit, for a cell whose head says it."""
    return _on_its_side(value, evidence.terms[measure], cut_offs)


def unit(term: Term) -> str:
    """What stands behind a value: a sign for per cent, or of how many patients it is."""
    return "" if not term.unit else "%" if term.unit == "%" else f"{TIED}per{TIED}100"


def showing_the_side(value: float, digits: int, cut_offs: Iterable[float]) -> int:
    """As many digits as it takes until one sees on which side of every cut-off the value lies; of six no more."""
    cuts = tuple(cut_offs)
    enough = (
        more
        for more in range(digits, MOST_DIGITS + 1)
        if all(((shown := round(value, more)) > cut, shown < cut) == (value > cut, value < cut) for cut in cuts)
    )
    return next(enough, digits)


MOST_DIGITS = 6
"""What differs from a cut-off by less is no different."""
