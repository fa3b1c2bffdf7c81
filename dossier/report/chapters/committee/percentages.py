"""Whether the percentages that the model shows came true: how many had the outcome where it said 50%."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from dossier.core.bands import OE_TOLERATED
from dossier.core.types import Curve, DatasetSummary, Estimate, Evidence, find_curve, read_off
from dossier.report.chapters import classes
from dossier.report.chapters.committee.places import alone, in_question, short_names
from dossier.report.chapters.committee.plain import MOST_NAMED, few_named, of_hundred, risk_of
from dossier.report.chapters.sentence import Sentence, primary_threshold
from dossier.typeset.words import in_words, listing

WHERE_NONE_IS_DECLARED = (0.3, 0.5)
"""The risks at which the percentages are looked at where the release declares no threshold."""
MOST_LINES = 2


@dataclass(frozen=True)
class AtRisk:
    """How many had the outcome among patients to whom the model gave one risk, read off the calibration curve."""

    where: str
    """The hospital as a sentence names it; of several classes with the class."""
    risk: float
    value: float
    low: float
    high: float

    @property
    def is_off(self) -> bool:
        """Whether the range leaves out what the model said."""
        return self.is_too_low or self.is_too_high

    @property
    def is_far_off(self) -> bool:
        """Whether it is off by so much as an O/E that is far off."""
        least, most = OE_TOLERATED
        return self.is_off and not least <= self.value / self.risk <= most

    @property
    def way(self) -> str:
        """Which way it is off, if it is."""
        return "too low" if self.is_too_low else "too high" if self.is_too_high else ""

    @property
    def is_too_low(self) -> bool:
        """Whether more had the outcome than the model said."""
        return self.low > self.risk

    @property
    def is_too_high(self) -> bool:
        """Whether fewer had the outcome than the model said."""
        return self.high < self.risk


def way_off(ratio: Estimate) -> str:
    """Which way percentages are off as a whole by the range of an O/E ratio, if they are."""
    if ratio.high is not None and ratio.high < 1:
        return "too high"
    return "too low" if ratio.low is not None and ratio.low > 1 else ""


def lines(evidence: Evidence) -> tuple[float, ...]:
    """The risks at which the percentages are looked at: the first declared thresholds, or 30% and 50%."""
    return tuple(sorted(evidence.release.thresholds.declared[:MOST_LINES])) or WHERE_NONE_IS_DECLARED


def at_risk(evidence: Evidence, site: DatasetSummary, risk: float, label: str = "") -> AtRisk | None:
    """What came of this risk at a hospital; None where there is no curve, or it does not reach so far."""
    of_class = {"class": label} if label else {}
    curve = find_curve(evidence, "calibration_curve", site.name, **of_class)
    found = read_off(curve, "risk", risk) if isinstance(curve, Curve) else None
    if found is None or not {"observed", "low", "high"} <= set(found):
        return None
    name = short_names(evidence)[site.name]
    where = f"{label} in {name}" if label else name
    return AtRisk(where, risk, found["observed"], found["low"], found["high"])


def _known(evidence: Evidence, risk: float) -> list[AtRisk]:
    """What came of this risk, wherever that is known."""
    found = [
        at_risk(evidence, site, risk, label)
        for site in in_question(evidence)
        for label in classes.labels(evidence) or ("",)
    ]
    return [each for each in found if each is not None]


def are_right(evidence: Evidence) -> Sentence:
    """Whether the percentages came true, by their curve and its range; never by their sum alone."""
    known = {risk: _known(evidence, risk) for risk in lines(evidence)}
    every = [each for found in known.values() for each in found]
    if not every:
        return Sentence("Not known.", "There are too few patients to say, or none was given such a percentage.")
    if alone(evidence) is not None and not classes.labels(evidence):
        return _of_one(evidence, every)
    first = primary_threshold(evidence) or lines(evidence)[-1]
    risk = max(known, key=lambda value: (any(each.is_off for each in known[value]), bool(known[value]), value == first))
    return Sentence(_lead(every), f"{_of_several(evidence, known[risk])}{_unknown(evidence, known[risk])}")


def _lead(every: Sequence[AtRisk]) -> str:
    """How far the percentages are off, and which way; not reliable are those that are far off somewhere."""
    off = [risk for risk in every if risk.is_off]
    if not off:
        return "No error was seen, but the ranges are wide."
    is_far = any(risk.is_far_off for risk in off)
    first, *rest = dict.fromkeys(risk.way for risk in off)
    which = "they are" if len(off) == len(every) and not rest else "some are"
    ways = f"{which} {'' if is_far else 'a little '}{first}{''.join(f', some {way}' for way in rest)}"
    return f"{'Not reliably' if is_far else 'Nearly'}: {ways}."


def are_off(evidence: Evidence) -> bool:
    """Whether the percentages are wrong somewhere, and their range says so."""
    return any(each.is_off for risk in lines(evidence) for each in _known(evidence, risk))


def _of_one(evidence: Evidence, found: Sequence[AtRisk]) -> Sentence:
    """The percentages of one hospital."""
    parts = [
        f"When it said {risk_of(risk.risk)}, {of_hundred(risk.value)} of 100 patients had it "
        f"(range {of_hundred(risk.low)} to {of_hundred(risk.high)})."
        for risk in found
    ]
    off = [risk for risk in found if risk.is_off]
    if not off:
        return Sentence("No error was seen within these ranges.", " ".join(parts))
    where = {
        way: listing([risk_of(risk.risk) for risk in off if risk.way == way]) for way in {risk.way: 0 for risk in off}
    }
    which = listing([f"{way} at {risks}" for way, risks in where.items()])
    little = "" if any(risk.is_far_off for risk in off) else "a little "
    return Sentence(f"{'Nearly' if little else 'No'}: they are {little}{which}.", " ".join(parts))


def wrong_at(evidence: Evidence, site: DatasetSummary) -> AtRisk | None:
    """The percentage of a hospital that is far off: that of the first line, or the one that is farthest off."""
    found = [at_risk(evidence, site, risk) for risk in lines(evidence)] if not classes.labels(evidence) else []
    far = [risk for risk in found if risk is not None and risk.is_far_off]
    first = primary_threshold(evidence)
    return max(far, key=lambda risk: (risk.risk == first, abs(risk.value - risk.risk)), default=None)


def crossing(evidence: Evidence, site: DatasetSummary) -> float | None:
    """The risk at which the calibration curve of a hospital crosses what the model said, where it does so once."""
    curve = find_curve(evidence, "calibration_curve", site.name)
    if not isinstance(curve, Curve):
        return None
    pairs = [
        (risk, observed - risk)
        for risk, observed in zip(curve.columns["risk"], curve.columns["observed"], strict=True)
        if risk is not None and observed is not None
    ]
    places = [(low[0] + high[0]) / 2 for low, high in itertools.pairwise(pairs) if (low[1] > 0) != (high[1] > 0)]
    return places[0] if len(places) == 1 else None


def _of_several(evidence: Evidence, found: Sequence[AtRisk]) -> str:
    """What came of one risk at several hospitals: those that are farthest off by name, the rest from lowest to
    highest."""
    off = sorted((risk for risk in found if risk.is_off), key=lambda risk: -abs(risk.value - risk.risk))[:MOST_NAMED]
    named = sorted(off, key=lambda risk: risk.value)
    rest = sorted((risk for risk in found if risk not in off), key=lambda risk: risk.value)
    by_class = bool(classes.labels(evidence))
    joint = "for" if by_class else "in"
    parts = [
        f"{of_hundred(risk.value)}{'' if index else ' of 100 patients had it'} {joint} {risk.where}"
        for index, risk in enumerate(named)
    ]
    said = f"When it said {risk_of(found[0].risk)}, "
    if not rest:
        return f"{said}{listing(parts)}."
    low, high = of_hundred(rest[0].value), of_hundred(rest[-1].value)
    values = low if low == high else f"{low} to {high}"
    count = in_words(len(rest))
    if not parts:
        where = (
            f"in all {count} checks, one for each class and hospital"
            if by_class
            else f"in {few_named([o.where for o in rest])}"
        )
        ranges = f"{of_hundred(min(risk.low for risk in rest))} to {of_hundred(max(risk.high for risk in rest))}"
        return f"{said}{values} of 100 patients had it {where} (ranges {ranges})."
    others = f"the other {count} {'checks, one for each class and hospital,' if by_class else 'hospitals'}"
    return f"{said}{listing(parts)}; in {others if len(rest) > 1 else rest[0].where} {values}."


def _unknown(evidence: Evidence, known: Sequence[AtRisk]) -> str:
    """Where it is not known what came of a risk."""
    if classes.labels(evidence):
        return ""
    known_at, names = {risk.where for risk in known}, short_names(evidence)
    left = [names[site.name] for site in in_question(evidence) if names[site.name] not in known_at]
    return f" Not known in {few_named(left)}." if left else ""
