"""Whether the percentages that the model shows came true: how many had the outcome where it said 50%."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from dossier.core import bands, multiplicity, types
from dossier.core.multiplicity import is_reversed, of_site, size_of_risks
from dossier.report.chapters import classes, sentence
from dossier.report.chapters.committee.places import alone, in_question, short_names
from dossier.report.chapters.committee.plain import MOST_NAMED, between, few_named, per_hundred, risk_of
from dossier.typeset.numbers import of_how_many, people
from dossier.typeset.words import in_words, listing, sentence_case, span

WHERE_NONE_IS_DECLARED = (0.3, 0.5)
"""The risks at which the percentages are looked at where the release declares no threshold."""
MOST_LINES = 2


@dataclass(frozen=True)
class AtRisk:
    """How many had the outcome among patients to whom the model gave one risk, read off the calibration curve."""

    whole: Whole
    """What is known of all percentages of this hospital, or of its class."""
    risk: float
    value: float
    low: float
    high: float
    among: int
    """Of how many people it is told."""

    @property
    def where(self) -> str:
        """The hospital as a sentence names it; of several classes with the class."""
        return self.whole.where

    @property
    def is_off(self) -> bool:
        """Whether the percentages are shown to be wrong, and the range leaves out what the model said."""
        return self.is_too_low or self.is_too_high

    @property
    def leaves_out(self) -> bool:
        """Whether the range leaves out what the model said, shown to be wrong or not."""
        return not self.low <= self.risk <= self.high

    @property
    def is_within(self) -> bool:
        """Whether the whole range is as near to what the model said as an O/E that is tolerated."""
        least, most = bands.OE_TOLERATED
        return least <= self.low / self.risk and self.high / self.risk <= most

    @property
    def is_far_off(self) -> bool:
        """Whether it is off by so much as an O/E that is far off."""
        least, most = bands.OE_TOLERATED
        return self.is_off and (self.whole.is_reversed or not least <= self.value / self.risk <= most)

    @property
    def way(self) -> str:
        """Which way it is off, if it is."""
        if self.is_off and self.whole.is_reversed:
            return "the wrong way round"
        return "too low" if self.is_too_low else "too high" if self.is_too_high else ""

    @property
    def is_too_low(self) -> bool:
        """Whether more had the outcome than the model said."""
        return self.whole.is_off and self.low > self.risk

    @property
    def is_too_high(self) -> bool:
        """Whether fewer had the outcome than the model said."""
        return self.whole.is_off and self.high < self.risk


def way_off(ratio: types.Estimate) -> str:
    """Which way percentages are off as a whole by the range of an O/E ratio, if they are."""
    return "too high" if sentence.is_below(ratio, 1) else "too low" if sentence.is_above(ratio, 1) else ""


def slope_off(slope: types.Estimate) -> tuple[bool, bool]:
    """Whether a calibration slope is off below 1 and above it; one wholly below 0 is another matter."""
    if slope.low is None or slope.high is None:
        return False, False
    return slope.high >= 0 and slope.value < 1, slope.value > 1


SLOPES = {
    (True, False): "high percentages are too high, low ones too low",
    (False, True): "high percentages are too low, low ones too high",
}
"""What a slope below 1 and one above it mean where percentages are right as a whole."""


@dataclass(frozen=True)
class Whole:
    """The percentages of one hospital as a whole, by the ranges of its O/E ratio and of its calibration slope."""

    where: str
    ratio: types.Estimate | types.Absent
    state: types.State
    """Whether they are shown to be right, or shown to be wrong."""
    is_too_high: bool
    """Whether they are too high as a whole."""
    is_too_low: bool
    slope: tuple[bool, bool]
    """Whether the slope is off below 1, and above it."""
    is_reversed: bool
    """Whether those with the outcome are shown to have the lower ones."""

    @property
    def way(self) -> str:
        """Which way all are off together, if they are."""
        ways = "too high" if self.is_too_high else "too low" if self.is_too_low else ""
        return "" if self.is_reversed else ways

    @property
    def is_off(self) -> bool:
        """Whether they are shown to be wrong."""
        return self.state == "against"

    @property
    def leaves_out(self) -> bool:
        """Whether the range of the ratio leaves out 1, shown to be wrong or not."""
        return multiplicity.held(self.ratio, 1, 1) == "against"

    @property
    def is_within(self) -> bool:
        """Whether the whole range of the ratio lies within what is tolerated."""
        return multiplicity.held(self.ratio, *bands.OE_TOLERATED) == "shown"

    @property
    def is_far_off(self) -> bool:
        """Whether the whole range of the ratio lies outside what is tolerated."""
        least, most = bands.OE_TOLERATED
        return self.is_off and multiplicity.held(self.ratio, least, most) == "against"

    @property
    def says(self) -> str:
        """How they are off, as the end of a sentence."""
        if self.is_reversed:
            return "the higher they are, the rarer the outcome"
        if not self.way:
            return SLOPES.get(self.slope, "high and low ones do not fit together")
        little = "" if self.is_far_off or any(self.slope) else "a little "
        return f"they are {little}{self.way} as a whole{f', {self.farthest}' if any(self.slope) else ''}"

    @property
    def farthest(self) -> str:
        """Which percentages are farthest off, where all are off the same way and the slope is off too."""
        more, less = ("high", "low") if self.is_too_high == self.slope[0] else ("low", "high")
        return f"the {more} ones more than the {less}"


def as_a_whole(evidence: types.Evidence, site: types.DatasetSummary, label: str = "") -> Whole:
    """The percentages of a hospital, or of one of its classes, as a whole."""
    names, at = ("oe_ratio", "calibration_slope"), classes.at(label)
    ratio, slope = (types.find(evidence, name, site.name, **at) for name in names)
    state = size_of_risks(evidence, site.name, label)
    off = [
        found if isinstance(found, types.Estimate) and of_site(evidence, found, site.name, label) == "against" else None
        for found in (ratio, slope)
    ]
    high, low = (False, False) if off[0] is None else (off[0].value < 1, off[0].value > 1)
    sides = (False, False) if off[1] is None else slope_off(off[1])
    wrong_way = is_reversed(evidence, site.name, label)
    where = " in ".join([*([label] if label else []), short_names(evidence)[site.name]])
    return Whole(where, ratio, state, high, low, sides, wrong_way)


def lines(evidence: types.Evidence) -> tuple[float, ...]:
    """The risks at which the percentages are looked at: the first declared thresholds, or 30% and 50%."""
    return tuple(sorted(evidence.release.thresholds.declared[:MOST_LINES])) or WHERE_NONE_IS_DECLARED


def told_of(evidence: types.Evidence) -> int:
    """Of how many people is told what came of these risks."""
    return of_how_many(min(lines(evidence)))


def at_risk(evidence: types.Evidence, site: types.DatasetSummary, risk: float, label: str = "") -> AtRisk | None:
    """What came of this risk at a hospital; None where there is no curve, or it does not reach so far."""
    curve = types.find_curve(evidence, "calibration_curve", site.name, **classes.at(label))
    found = types.read_off(curve, "risk", risk) if isinstance(curve, types.Curve) else None
    if found is None or not {"observed", "low", "high"} <= set(found):
        return None
    return AtRisk(
        as_a_whole(evidence, site, label), risk, found["observed"], found["low"], found["high"], told_of(evidence)
    )


def _everywhere(evidence: types.Evidence) -> list[tuple[types.DatasetSummary, str]]:
    """Each hospital in question, of several classes with each class."""
    return [(site, label) for site in in_question(evidence) for label in classes.labels(evidence) or ("",)]


def _wholes(evidence: types.Evidence) -> list[Whole]:
    """The percentages of each hospital as a whole, of several classes with the class."""
    return [as_a_whole(evidence, site, label) for site, label in _everywhere(evidence)]


def _off_as_a_whole(evidence: types.Evidence) -> list[Whole]:
    """Those that are shown to be wrong."""
    return [each for each in _wholes(evidence) if each.is_off]


def are_right(evidence: types.Evidence) -> sentence.Sentence:
    """Whether the percentages came true: by their curve and its range, else by the ratio and the slope."""
    places = _everywhere(evidence)
    came = {risk: [at_risk(evidence, site, risk, label) for site, label in places] for risk in lines(evidence)}
    known = {risk: [each for each in found if each is not None] for risk, found in came.items()}
    every = [each for found in known.values() for each in found]
    site = alone(evidence)
    if site is not None and not classes.labels(evidence):
        return _of_one(evidence, every, as_a_whole(evidence, site))
    first = sentence.primary_threshold(evidence) or lines(evidence)[-1]
    risk = max(known, key=lambda value: (any(each.is_off for each in known[value]), bool(known[value]), value == first))
    said = f"{_of_several(evidence, known[risk])}{_unknown(evidence, known[risk])}" if every else _why_not(evidence)
    off = _off_as_a_whole(evidence)
    if off and not any(each.is_off for each in every):
        # How they are off as a whole, and where.
        ways: dict[str, list[str]] = {}
        for each in off:
            ways.setdefault(each.says, []).append(each.where)
        how = sentence_case("; ".join(f"in {few_named(where)} {says}" for says, where in ways.items()))
        return sentence.Sentence("No." if len(off) == len(places) else "Not all.", f"{how}. {said}")
    lead = _lead(evidence, every) if every else "Not known."
    return sentence.Sentence(lead, f"{said} {_would_show(evidence)}".strip())


def _why_not(evidence: types.Evidence) -> str:
    """Why nobody can say what came of each percentage."""
    places = [(site, classes.at(label)) for site, label in _everywhere(evidence)]
    curves = [types.find_curve(evidence, "calibration_curve", site.name, **at) for site, at in places]
    if any(isinstance(curve, types.Withheld) for curve in curves):
        return "How many had it at each percentage is kept back, to protect patients."
    return "There are too few patients to say, or none was given such a percentage."


def _would_show(evidence: types.Evidence) -> str:
    """How many patients would show that the percentages are right, where that is open and there were fewer."""
    places = [] if classes.labels(evidence) else in_question(evidence)
    open_at = [site for site in places if size_of_risks(evidence, site.name) == "open"]
    needed = sentence.to_show_calibration(evidence, open_at)
    if not needed:
        return ""
    if are_off(evidence):
        return f"Where nobody can tell yet, about {needed} patients would."
    return f"About {needed} patients like these would show that they are right, if they are."


def _lead(evidence: types.Evidence, every: Sequence[AtRisk]) -> str:
    """How far the percentages are off, and which way; not reliable are those that are far off somewhere."""
    off = [risk for risk in every if risk.is_off]
    if not off:
        return _unrefuted(evidence, every)
    is_far = any(risk.is_far_off for risk in off)
    first, *rest = dict.fromkeys(risk.way for risk in off)
    which = "they are" if len(off) == len(every) and not rest else "some are"
    ways = f"{which} {'' if is_far else 'a little '}{first}{''.join(f', some {way}' for way in rest)}"
    return f"{'Not reliably' if is_far else 'Nearly'}: {ways}."


def _unrefuted(evidence: types.Evidence, every: Sequence[AtRisk]) -> str:
    """What is said of percentages that are not shown to be wrong: no range may leave out what they say unsaid."""
    known: list[AtRisk | Whole] = [*every, *_wholes(evidence)]
    out = [each for each in known if each.leaves_out]
    if not all(each.is_within for each in out):
        # Where they are shown to be right in size, one range that leaves out what they say is no doubt about them.
        out = [each for each in out if (each if isinstance(each, Whole) else each.whole).state != "shown"] or out
    where = "" if alone(evidence) else f" in {few_named(list(dict.fromkeys(each.where for each in out)))}"
    if not out:
        is_shown = all(size_of_risks(evidence, site.name, label) == "shown" for site, label in _everywhere(evidence))
        return "Yes: close to what happened." if is_shown else "No error was shown."
    if all(each.is_within for each in out):
        return f"Nearly: off by less than a quarter{where}."
    return f"Nobody can tell yet: they may be wrong{where}, or this is coincidence."


def are_off(evidence: types.Evidence) -> bool:
    """Whether the percentages are shown to be wrong somewhere."""
    return bool(_off_as_a_whole(evidence))


def _of_one(evidence: types.Evidence, found: Sequence[AtRisk], whole: Whole) -> sentence.Sentence:
    """The percentages of one hospital."""
    parts = [
        f"When it said {risk_of(risk.risk)}, {people(risk.value, risk.among)} of {risk.among:,} patients had it "
        f"(range {people(risk.low, risk.among)} to {people(risk.high, risk.among)})."
        for risk in found
    ]
    rest = " ".join(parts or [*_predicted(whole), _why_not(evidence)])
    off = [risk for risk in found if risk.is_off]
    if (not off and whole.is_off) or (whole.is_far_off and {risk.way for risk in off} == {whole.way}):
        start = "No" if whole.is_far_off or whole.is_reversed else "Not all" if any(whole.slope) else "Nearly"
        return sentence.Sentence(f"{start}: {whole.says}.", rest)
    if not off:
        lead = _unrefuted(evidence, found) if found else "Not known."
        return sentence.Sentence(lead, f"{rest} {_would_show(evidence)}".strip())
    where = {
        way: listing([risk_of(risk.risk) for risk in off if risk.way == way]) for way in {risk.way: 0 for risk in off}
    }
    which = listing([f"{way} at {risks}" for way, risks in where.items()])
    little = "" if any(risk.is_far_off for risk in off) else "a little "
    return sentence.Sentence(f"{'Nearly' if little else 'No'}: they are {little}{which}.", rest)


def _predicted(whole: Whole) -> list[str]:
    """How many actual cases there were for 100 that it predicted, with the range."""
    if isinstance(whole.ratio, types.Absent):
        return []
    return [f"There were {predicted(whole.ratio)}."]


def predicted(ratio: types.Estimate) -> str:
    """An O/E ratio in people, with its range."""
    bounds = f" (range {between(ratio, is_ratio=True)})" if between(ratio, is_ratio=True) else ""
    return f"{per_hundred(ratio.value)} actual cases per 100 predicted{bounds}"


def wrong_at(evidence: types.Evidence, site: types.DatasetSummary) -> AtRisk | None:
    """The percentage of a hospital that is far off: that of the first line, or the one that is farthest off."""
    found = [at_risk(evidence, site, risk) for risk in lines(evidence)] if not classes.labels(evidence) else []
    far = [risk for risk in found if risk is not None and risk.is_far_off]
    first = sentence.primary_threshold(evidence)
    return max(far, key=lambda risk: (risk.risk == first, abs(risk.value - risk.risk)), default=None)


def crossing(evidence: types.Evidence, site: types.DatasetSummary) -> float | None:
    """The risk at which the calibration curve of a hospital crosses what the model said, where it does so once."""
    curve = types.find_curve(evidence, "calibration_curve", site.name)
    if not isinstance(curve, types.Curve):
        return None
    pairs = [
        (risk, observed - risk)
        for risk, observed in zip(curve.columns["risk"], curve.columns["observed"], strict=True)
        if risk is not None and observed is not None
    ]
    places = [(low[0] + high[0]) / 2 for low, high in itertools.pairwise(pairs) if (low[1] > 0) != (high[1] > 0)]
    return places[0] if len(places) == 1 else None


def _of_several(evidence: types.Evidence, found: Sequence[AtRisk]) -> str:
    """What came of one risk at several hospitals: those that are farthest off by name, the rest from lowest to
    highest."""
    off = sorted((risk for risk in found if risk.is_off), key=lambda risk: -abs(risk.value - risk.risk))[:MOST_NAMED]
    named = sorted(off, key=lambda risk: risk.value)
    rest = sorted((risk for risk in found if risk not in off), key=lambda risk: risk.value)
    by_class = bool(classes.labels(evidence))
    joint = "for" if by_class else "in"
    parts = [
        f"{people(risk.value, risk.among)}{'' if index else f' of {risk.among:,} patients had it'} {joint} {risk.where}"
        for index, risk in enumerate(named)
    ]
    said = f"When it said {risk_of(found[0].risk)}, "
    if not rest:
        return f"{said}{listing(parts)}."
    among = rest[0].among
    values = span(partial(people, among=among), [risk.value for risk in rest])
    count = in_words(len(rest))
    ranges = f"{people(min(risk.low for risk in rest), among)} to {people(max(risk.high for risk in rest), among)}"
    if not parts:
        where = (
            f"in all {count} checks, one for each class and hospital"
            if by_class
            else f"in {few_named([o.where for o in rest])}"
        )
        return f"{said}{values} of {among:,} patients had it {where} (ranges {ranges})."
    others = f"the other {count} checks, one for each class and hospital," if by_class else "the rest"
    return f"{said}{listing(parts)}; in {others if len(rest) > 1 else rest[0].where} {values} (ranges {ranges})."


def _unknown(evidence: types.Evidence, known: Sequence[AtRisk]) -> str:
    """Where it is not known what came of a risk."""
    if classes.labels(evidence):
        return ""
    known_at, names = {risk.where for risk in known}, short_names(evidence)
    left = [names[site.name] for site in in_question(evidence) if names[site.name] not in known_at]
    return f" Not known in {few_named(left)}." if left else ""
