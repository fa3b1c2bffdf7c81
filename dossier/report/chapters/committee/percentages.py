"""Whether the percentages that the model shows came true: how many had the outcome where it said 50%."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from dossier.core import claims, multiplicity, types
from dossier.core.facts import gathered
from dossier.core.multiplicity import size_of_risks
from dossier.report.chapters import classes, sentence
from dossier.report.chapters.committee import plain
from dossier.report.chapters.committee.places import alone, in_question
from dossier.report.chapters.committee.plain import MOST_NAMED, between, few_named, first_named, per_hundred, risk_of
from dossier.typeset.names import by_first, by_when, ends_of_range, few_beside
from dossier.typeset.numbers import of_how_many, people
from dossier.typeset.words import in_words, listing, sentence_case, span

WHERE_NONE_IS_DECLARED = (0.3, 0.5)
"""The risks at which the percentages are looked at where the release declares no threshold."""
MOST_LINES = 2
NO_SETTING: types.At = {}


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
    """Of how many people it is said."""

    @property
    def where(self) -> str:
        """The hospital as a sentence names it; of several classes with the class."""
        return self.whole.where

    way: str
    """Which way it is off, where the percentages are shown to be wrong and the range leaves out what the model said."""
    is_far_off: bool
    """Whether it is off by so much as an O/E that is far off."""

    @property
    def is_off(self) -> bool:
        """Whether it is off."""
        return bool(self.way)


SLOPES: dict[str, str] = {
    "below 1": "on the whole high percentages are too high, low ones too low",
    "above 1": "on the whole high percentages are too low, low ones too high",
}
"""What a slope below 1 and one above it mean where percentages are right as a whole."""


@dataclass(frozen=True)
class Whole:
    """The percentages of one hospital as a whole, by the ranges of its O/E ratio and of its calibration slope."""

    site: types.DatasetSummary
    where: str
    ratio: types.Estimate | types.Absent
    state: types.State
    """Whether they are shown to be right, or shown to be wrong."""
    off: multiplicity.Misfit
    """How they are off, where they are shown to be wrong."""
    when: str = ""
    """By when, of a further horizon."""

    @property
    def way(self) -> str:
        """Which way all are off together, if they are."""
        return "" if self.off.is_reversed else self.off.turn.how if self.off.turn else self.off.level

    @property
    def is_off(self) -> bool:
        """Whether they are shown to be wrong."""
        return self.state == "against"

    @property
    def says(self) -> str:
        """How they are off, as the end of a sentence."""
        if self.off.is_reversed:
            return "the higher they are, the rarer the outcome"
        if not self.way:
            return SLOPES.get(self.off.spread, "high and low ones do not fit together")
        if self.off.turn is not None:
            return f"they were {self.way}"
        return f"they are {self.way} as a whole{f', {self.farthest}' if self.off.spread in SLOPES else ''}"

    @property
    def farthest(self) -> str:
        """Which percentages are farthest off, where all are off the same way and the slope is off too."""
        more = "high" if (self.off.level == "too high") == (self.off.spread == "below 1") else "low"
        return f"above all the {more} ones"


def as_a_whole(evidence: types.Evidence, site: types.DatasetSummary, at: types.At = NO_SETTING) -> Whole:
    """The percentages of a hospital, of one of its classes or by a further horizon, as a whole."""
    ratio = types.find(evidence, "oe_ratio", site.name, **at)
    state = size_of_risks(evidence, site.name, **at)
    where = sentence.place(evidence, site.site, at, " in ")
    return Whole(site, where, ratio, state, multiplicity.misfit(evidence, site.name, **at), by_when(evidence, at))


def lines(evidence: types.Evidence) -> tuple[float, ...]:
    """The risks at which the percentages are looked at: the first declared thresholds, or 30% and 50%."""
    return tuple(sorted(evidence.release.thresholds.declared[:MOST_LINES])) or WHERE_NONE_IS_DECLARED


def told_of(evidence: types.Evidence) -> int:
    """Of how many people it is said what came of these risks."""
    return of_how_many(min(lines(evidence)))


def at_risk(
    evidence: types.Evidence, site: types.DatasetSummary, risk: float, at: types.At = NO_SETTING
) -> AtRisk | None:
    """What came of this risk at a hospital; None where there is no curve, or it does not reach so far."""
    curve = types.find_curve(evidence, "calibration_curve", site.name, **at)
    found = types.read_off(curve, "risk", risk) if isinstance(curve, types.Curve) else None
    if found is None or not {"observed", "low", "high"} <= set(found):
        return None
    whole, observed = as_a_whole(evidence, site, at), (found["observed"], found["low"], found["high"])
    way, is_far = multiplicity.at_risk(risk, *observed) if whole.is_off else ("", False)
    if way and whole.off.is_reversed:
        return AtRisk(whole, risk, *observed, told_of(evidence), "the wrong way round", True)
    if whole.off.turn is not None:
        # What came of it is a mean of both.
        return AtRisk(whole, risk, *observed, told_of(evidence), whole.way, True)
    return AtRisk(whole, risk, *observed, told_of(evidence), way, is_far)


def _everywhere(evidence: types.Evidence) -> list[tuple[types.DatasetSummary, types.At]]:
    """Each hospital in question, of several classes with each class, and by each further horizon."""
    return [(site, at) for site in in_question(evidence) for at in evidence.release.each_outcome]


def off_as_a_whole(evidence: types.Evidence) -> list[Whole]:
    """The percentages of hospitals, with the class or horizon, that are shown to be wrong as a whole."""
    every = [as_a_whole(evidence, site, at) for site, at in _everywhere(evidence)]
    return [each for each in every if each.is_off]


def named(evidence: types.Evidence, places: Sequence[Whole]) -> str:
    """Where percentages are wrong: by name while they are few, else how many hospitals."""
    hospitals = len({each.site.name for each in places}) if any(each.when for each in places) else None
    return placed(evidence, [each.where for each in places], hospitals)


def are_right(evidence: types.Evidence) -> sentence.Sentence:
    """Whether the percentages came true: by their curve and its range, else by the ratio and the slope."""
    places = _everywhere(evidence)
    came = {risk: [at_risk(evidence, site, risk, at) for site, at in places] for risk in lines(evidence)}
    known = {risk: [each for each in found if each is not None] for risk, found in came.items()}
    every = [each for found in known.values() for each in found]
    site = alone(evidence)
    if site is not None and not classes.labels(evidence):
        of_first = _of_one(evidence, [*_lowest(evidence, site, every), *every], as_a_whole(evidence, site))
        wrong = by_further_horizons(evidence)
        if wrong and not as_a_whole(evidence, site).is_off:
            return sentence.Sentence(f"Not all: {'; '.join(wrong)}.", of_first.rest)
        more = f" {sentence_case('; '.join(wrong))}." if wrong else ""
        return sentence.Sentence(of_first.lead, f"{of_first.rest}{more}")
    first = evidence.release.thresholds.primary or lines(evidence)[-1]
    risk = max(known, key=lambda value: (any(each.is_off for each in known[value]), bool(known[value]), value == first))
    off, seen = off_as_a_whole(evidence), {each.where for each in _farthest(known[risk])}
    left = [each.where for each in off if each.where not in seen and not each.off.is_reversed] if seen else []
    said = f"{_of_several(evidence, known[risk])}{_unknown(evidence, known[risk])}" if every else _why_not(evidence)
    said += f" Wrong too, at this or other percentages: {first_named(left)}." if left else ""
    also = off_by_an_open_amount(evidence)
    said += f" Off too, nobody can tell yet whether by much: {first_named(also)}." if off and also else ""
    if off and not any(each.is_off for each in every):
        # How they are off as a whole, and where.
        ways = gathered((each.says, each) for each in off)
        how = sentence_case("; ".join(f"{named(evidence, where)} {says}" for says, where in ways.items()))
        return sentence.Sentence("No." if len(off) == len(places) else "Not all.", f"{how}. {said}")
    is_told = any(claims.standing(evidence, claim) == "shown" for claim in _gravest(evidence).values())
    lead = _lead(evidence, every) if every or is_told else "Not known."
    return sentence.Sentence(lead, f"{said} {_would_show(evidence)}".strip())


def by_further_horizons(evidence: types.Evidence) -> list[str]:
    """How the percentages of one hospital are wrong by each further horizon by which they are."""
    return [f"{each.when.strip()} {each.says}" for each in off_as_a_whole(evidence) if each.when]


def _lowest(evidence: types.Evidence, site: types.DatasetSummary, every: Sequence[AtRisk]) -> list[AtRisk]:
    """The low end of the declared range, where its percentage is farther off than at the lines: it would comfort."""
    ends = evidence.release.thresholds.range
    found = None if ends is None else at_risk(evidence, site, ends[0])
    if found is None or not found.is_far_off or found.risk >= min(lines(evidence)):
        return []
    beside = [(each.risk, each.value) for each in every]
    return [found] if multiplicity.is_farthest_off((found.risk, found.value), beside) else []


def _why_not(evidence: types.Evidence) -> str:
    """Why nobody can say what came of each percentage."""
    curves = [types.find_curve(evidence, "calibration_curve", site.name, **at) for site, at in _everywhere(evidence)]
    if any(isinstance(curve, types.Withheld) for curve in curves):
        return "How many had it at each percentage is kept back, to protect patients."
    return "How many had it at one percentage cannot be said: too few patients, or none was given it."


def _would_show(evidence: types.Evidence) -> str:
    """How many patients would show the percentages right, where that is open everywhere; else a step says it."""
    needed = sentence.to_show_calibration(evidence, in_question(evidence))
    if not needed or off_as_a_whole(evidence):
        return ""
    # Of several hospitals as many as whoever tests elsewhere is told.
    needed = (
        needed if alone(evidence) else sentence.to_show_calibration(evidence, in_question(evidence), elsewhere=True)
    )
    each = "" if alone(evidence) else " at a hospital"
    return f"About {needed} patients like these{each} would show that they are right, if they are."


def _lead(evidence: types.Evidence, every: Sequence[AtRisk]) -> str:
    """How far the percentages are off, and which way; not reliable are those that are far off somewhere."""
    off = [risk for risk in every if risk.is_off]
    if not off:
        return _unrefuted(evidence)
    is_far = any(risk.is_far_off or risk.whole.way for risk in off)
    # Where they turn is said: it is so nowhere else.
    where = {
        way: {each.where: None for each in off if each.whole.off.turn and each.way == way}
        for way in (risk.way for risk in off)
    }
    for whole in off_as_a_whole(evidence):
        # Wrong both ways beside the lines that are looked at.
        where |= {way: {} for way in ("too high", "too low") if whole.says in SLOPES.values() and way not in where}
    first, *rest = (f"{way} {placed(evidence, [*names])}" if names else way for way, names in where.items())
    which = "they are" if len(off) == len(every) and not rest else "some are"
    ways = f"{which} {'' if is_far else 'a little '}{first}{''.join(f', some {way}' for way in rest)}"
    return f"{'Not reliably' if is_far else 'Not quite'}: {ways}."


def _gravest(evidence: types.Evidence) -> dict[object, claims.Claim]:
    """How the percentages of each place stand: by the gravest of what is asked of them, as in the full report."""
    worst = reversed(claims.worst_first(claims.counted(evidence, "calibration")))
    return {claims.place(claim): claim for claim in worst}


def off_by_an_open_amount(evidence: types.Evidence) -> list[str]:
    """Where percentages are shown not to be right, and not whether by much."""
    return [_place(evidence, each) for each in _gravest(evidence).values() if claims.is_off_by_an_open_amount(each)]


def _place(evidence: types.Evidence, claim: claims.Claim) -> str:
    """The hospital of a claim, with the class or the further horizon."""
    return sentence.place(evidence, types.summary_of(evidence, claim.dataset).site, claim.at, " in ")


def _unrefuted(evidence: types.Evidence) -> str:
    """What is said of percentages that are nowhere shown to be wrong: where they are shown to be right, or look off."""
    found: dict[str, list[claims.Claim]] = {}
    for claim in _gravest(evidence).values():
        if claim.dataset in {site.name for site in in_question(evidence)}:
            stands = claims.standing(evidence, claim)
            is_off = stands == "open" and claims.is_off_by_an_open_amount(claim)
            state = "off" if is_off else "looks off" if claims.looks_worse(claim) else stands
            found.setdefault(state, []).append(claim)
    where = {state: _where(evidence, each) for state, each in found.items()}
    if "off" in where:
        return f"Not quite{where['off']}; nobody can tell yet whether by much."
    if "looks off" in where:
        return f"Nobody can tell yet: they may be wrong{where['looks off']}, or this is coincidence."
    if set(where) == {"shown"}:
        return "Yes: close to what happened."
    if "shown" in where:
        rest = "by the rest" if alone(evidence) else "in the rest"
        return f"Close to what happened{where['shown']}; nobody can tell yet {rest}."
    if any(claim.state == "shown" for claim in claims.about(evidence, "calibration", "overall")) and not alone(
        evidence
    ):
        return "Close to what happened over all; nobody can tell yet of each hospital."
    return "Nobody can tell yet."


def _where(evidence: types.Evidence, every: Sequence[claims.Claim]) -> str:
    """In which hospitals something is so of the percentages; of one alone, by which of several horizons."""
    later = len(evidence.release.horizon) > 1
    if alone(evidence) is None or classes.labels(evidence):
        among = len({claim.dataset for claim in every}) if later else None
        where = [_place(evidence, claim) for claim in every]
        return "" if alone(evidence) else f" {placed(evidence, where, among)}"
    return (
        f" {listing([by_when(evidence, claim.at, '') or by_first(evidence, '') for claim in every])}" if later else ""
    )


def placed(evidence: types.Evidence, where: Sequence[str], hospitals: int | None = None) -> str:
    """In which hospitals, or for which class in which, by name while they are few, else how many they are of."""
    if not classes.labels(evidence):
        return f"in {few_named(where, hospitals)}"
    return f"for {listing(where) if len(where) <= MOST_NAMED else f'{in_words(len(where))} {plain.CHECKS}'}"


def _of_one(evidence: types.Evidence, found: Sequence[AtRisk], whole: Whole) -> sentence.Sentence:
    """The percentages of one hospital."""
    by = by_first(evidence)
    parts = [
        f"When it said {risk_of(risk.risk)}{by}, about {people(risk.value, risk.among)} of {risk.among:,} patients "
        f"had it (range {people(risk.low, risk.among)} to {people(risk.high, risk.among)}){_few(evidence, risk)}."
        for risk in found
    ]
    there_were = [] if isinstance(whole.ratio, types.Absent) else [f"There were {predicted(whole.ratio)}."]
    rest = " ".join(parts or [*there_were, _why_not(evidence)])
    off = [risk for risk in found if risk.is_off]
    if (not off and whole.is_off) or (whole.way and {risk.way for risk in off} == {whole.way}):
        return sentence.Sentence(f"{'No' if whole.way or whole.off.is_reversed else 'Not all'}: {whole.says}.", rest)
    if not off:
        lead = _unrefuted(evidence) if found or whole.state == "shown" else "Not known."
        return sentence.Sentence(lead, f"{rest} {_would_show(evidence)}".strip())
    where = {
        way: listing([risk_of(risk.risk) for risk in off if risk.way == way]) for way in {risk.way: 0 for risk in off}
    }
    which = listing([f"{way} at {risks}" for way, risks in where.items()])
    little = "" if any(risk.is_far_off for risk in off) else "a little "
    return sentence.Sentence(f"{'Not quite' if little else 'No'}: they are {little}{which}.", rest)


def _few(evidence: types.Evidence, at: AtRisk) -> str:
    """That it is rough, where hardly any patient was given less than that percentage, or more."""
    few = few_beside(evidence, at.whole.site, at.risk)
    return "" if few is None else f"; only {in_words(few[0])} were given {'less' if few[1] else 'more'}: rough"


def predicted(ratio: types.Estimate) -> str:
    """An O/E ratio in people, with its range."""
    bounds = f" (range {between(ratio, is_ratio=True)})" if between(ratio, is_ratio=True) else ""
    return f"{per_hundred(ratio.value)} actual cases per 100 predicted{bounds}"


def wrong_at(evidence: types.Evidence, site: types.DatasetSummary) -> AtRisk | None:
    """The percentage of a hospital that is far off: that of the first line, or the one that is farthest off."""
    found = [at_risk(evidence, site, risk) for risk in lines(evidence)] if not classes.labels(evidence) else []
    far = [risk for risk in found if risk is not None and risk.is_far_off]
    first = evidence.release.thresholds.primary
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


def _farthest(found: Sequence[AtRisk]) -> list[AtRisk]:
    """Where a risk is wrong by most: these are named."""
    return sorted((risk for risk in found if risk.is_off), key=lambda risk: -abs(risk.value - risk.risk))[:MOST_NAMED]


def _of_several(evidence: types.Evidence, found: Sequence[AtRisk]) -> str:
    """What came of one risk at several hospitals: those that are farthest off by name, the rest from lowest to
    highest."""
    off = _farthest(found)
    named = sorted(off, key=lambda risk: risk.value)
    ends, few = ends_of_range([(risk.whole.site, risk) for risk in found if risk not in off])
    rest = sorted((risk for _, risk in ends), key=lambda risk: risk.value)
    by_class = bool(classes.labels(evidence))
    joint = "for" if by_class else "in"
    parts = [
        f"{people(risk.value, risk.among)}{'' if index else f' of {risk.among:,} patients had it'} {joint} {risk.where}"
        for index, risk in enumerate(named)
    ]
    said = f"When it said {risk_of(found[0].risk)}{by_first(evidence)}, about "
    if not rest:
        return f"{said}{listing(parts)}."
    among = rest[0].among
    values = span(partial(people, among=among), [risk.value for risk in rest])
    count, plural = in_words(len(rest)), "" if len(rest) == 1 else "s"
    ranges = f"range{plural} {people(min(o.low for o in rest), among)} to {people(max(o.high for o in rest), among)}"
    if not parts:
        where = f"all {count} {plain.CHECKS}" if by_class else few_named([o.where for o in rest])
        return f"{said}{values} of {among:,} patients had it in {where} ({ranges}){few}."
    others = rest[0].where if len(rest) == 1 else f"the other {count} {plain.CHECKS}," if by_class else "the rest"
    return f"{said}{listing(parts)}; in {others} {values} ({ranges}){few}."


def _unknown(evidence: types.Evidence, known: Sequence[AtRisk]) -> str:
    """Where it is not known what came of a risk."""
    if classes.labels(evidence):
        return ""
    known_at = {risk.where for risk in known}
    left = [site.site for site in in_question(evidence) if site.site not in known_at]
    return f" Not known in {few_named(left)}." if left else ""
