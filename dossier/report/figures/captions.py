"""What captions and messages say of sites, intervals and names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from dossier.core import bands
from dossier.core.types import Absent, Curve, DatasetSummary, Estimate, Evidence
from dossier.typeset import numbers, widths, words
from dossier.typeset.names import at_horizon


def interval(
    low: float | None, high: float | None, digits: int = 2, joint: str = "–", reference: float | None = None
) -> str:
    """An interval as words: 0.73–0.96, or with "to" where a bound may be negative or missing.

    A bound that rounding would put on the value of reference has more digits.
    """
    if low is None or high is None:
        return "no interval"
    if low < 0 or high < 0:
        joint = " to "
    cut_offs = () if reference is None else (reference,)
    first, last = (numbers.number(bound, numbers.showing_the_side(bound, digits, cut_offs)) for bound in (low, high))
    return f"{first}{joint}{last}"


level_text = numbers.level_of
"""The level of the intervals: 95%."""


def said(name: str, evidence: Evidence, sites: Sequence[DatasetSummary] = (), /, **values: object) -> str:
    """What `words/figures.toml` says under this name, filled with values; `sites` are those that a figure rests on."""
    few = {"few_for_a_band": bands.FEW_FOR_A_BAND, "few_for_pooling": bands.FEW_FOR_POOLING}
    known = {"level": level_text(evidence), "patients": patients(sites), "support": f"{bands.SUPPORT:g}", **few}
    return words.of_figure(name, {**known, **values})


def patients(sites: Sequence[DatasetSummary]) -> str:
    """How many patients the figure rests on: 5,340 patients, 1,724 events."""
    events = [site.events for site in sites if site.events is not None]
    more = f", {words.counted(sum(events), 'event')}" if len(events) == len(sites) else ""
    return f"{words.counted(sum(site.n for site in sites), 'patient')}{more}{at_horizon(sites)}"


def patients_of(about: Mapping[str, Any], found: Sequence[tuple[DatasetSummary, Curve]]) -> str:
    """How many patients curves rest on, or how many answers of readers where they are of these."""
    if about.get("of") == "answers":
        return words.counted(sum(curve.n for _, curve in found), "answer")
    return patients([site for site, _ in found])


def sites_word(count: int) -> str:
    """One site, or so many sites."""
    return "1 site" if count == 1 else f"{count} sites"


def joined(names: Sequence[str], most: int = 4) -> str:
    """Names in a sentence: a, b and c; the rest as a number."""
    return words.listing(names if len(names) <= most else [*names[:most], f"{len(names) - most} more"])


def ends(known: Iterable[tuple[float, str]], written: Callable[[float], str] = numbers.number) -> str:
    """Lowest 0.71 (Desio), highest 0.82 (Rho), of values with where they are; 0.71 where all of some are printed so."""
    ordered = sorted(known)
    if len(ordered) > 1 and len({written(value) for value, _ in ordered}) == 1:
        return written(ordered[0][0])
    first, last = (f"{written(value)} ({where})" for value, where in (ordered[0], ordered[-1]))
    return first if first == last else f"lowest {first}, highest {last}"


def left_out(count: int, where: str) -> str:
    """The sentence about the sites that a figure has no room for."""
    return f" {sites_word(count)} more: {where}." if count else ""


def models_left_out(evidence: Evidence, drawn: Collection[str]) -> str:
    """The sentence about the other models that a figure has no line or mark for."""
    left = [rival.name for rival in evidence.release.rivals if rival.name not in drawn]
    return f" Not drawn: {joined(widths.shortened(left, WIDEST_MODEL), 2)}." if left else ""


WIDEST_MODEL = 40.0
"""How wide the name of another model may be in a caption, in mm."""


def value_text(found: Estimate | Absent, digits: int = 2) -> str:
    """A value with its interval for a sentence: 0.88 (0.73 to 0.96)."""
    if isinstance(found, Absent):
        return "not estimable"
    if found.low is None or found.high is None:
        return numbers.number(found.value, digits)
    return f"{numbers.number(found.value, digits)} ({interval(found.low, found.high, digits, ' to ')})"
