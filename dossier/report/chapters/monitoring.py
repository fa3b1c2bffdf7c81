"""Performance by calendar period, and whether the declared stop rules are crossed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from dossier.core import bands, over_time, types
from dossier.report.chapters.chapter import chapter
from dossier.report.chapters.sentence import Sentence, named_with_the_rest, phrase
from dossier.typeset.flags import flag_text, quantity
from dossier.typeset.numbers import bare, number, short
from dossier.typeset.words import counted, in_words, listing, part_of, sentence_case, span
from dossier.typeset.words import periods as in_a_row

if TYPE_CHECKING:
    from dossier.core.release import StopRule

MOST_VALUES = 2
"""Values of a crossed rule that the finding prints; of more the first and the last."""


def followed_sites(evidence: types.Evidence) -> tuple[types.DatasetSummary, ...]:
    """The external datasets of which a measure is followed by calendar period."""
    names = {curve.dataset for curve in over_time.shown(evidence)}
    return tuple(site for site in types.externals(evidence) if site.name in names)


def when(verdict: over_time.Verdict, called: Callable[[Sequence[int], types.PeriodUnit], str] = in_a_row) -> str:
    """The periods in which a rule is crossed."""
    return called([period.number for period in verdict.crossing], verdict.unit)


def finding(evidence: types.Evidence) -> Sentence:
    """Where a stop rule is crossed, and whether the intervals lie outside too."""
    every = over_time.of_evidence(evidence)
    crossed = [verdict for verdict in every if verdict.crossing]
    where = listing([site.site for site in followed_sites(evidence)])
    if not evidence.release.care.stop:
        turns = [(site, over_time.turn(evidence.curves, site.name)) for site in followed_sites(evidence)]
        said = [f"Risks are {turn.how} at {site.site}." for site, turn in turns if turn is not None]
        lead = f"Performance is followed by calendar period at {where}; no limits are declared."
        return Sentence(*(said[0], f"{lead} {' '.join(said[1:])}") if said else (lead, _extremes(evidence, "oe_ratio")))
    if not every:
        return Sentence(f"The stop rules are on measures that are not followed at {where}.")
    kept = list(dict.fromkeys(verdict.site.site for verdict in every if not verdict.is_open))
    if not crossed:
        lead = f"No stop rule is crossed at {listing(kept)}." if kept else "No stop rule can be evaluated."
        return Sentence(lead, f"{_extremes(evidence, every[0].rule.measure)} {_open(every)}".strip())
    first = max(crossed, key=lambda verdict: verdict.harmful > 0)
    more = f" {sentence_case(in_words(len(crossed) - 1))} more: see the figure." if len(crossed) > 1 else ""
    lead = f"A stop rule is crossed at {first.site.site} in {when(first)}."
    sites = [verdict.site.site for verdict in every if not verdict.crossing and not verdict.is_open]
    is_one_rule = len({verdict.rule for verdict in every}) == 1
    elsewhere = f"It is not crossed at {listing(sites)}. " if sites and is_one_rule else ""
    said = [_certainty(evidence, first), harm(evidence, first), more, elsewhere, _open(every)]
    return Sentence(lead, " ".join(filter(None, said)))


def _extremes(evidence: types.Evidence, measure: str) -> str:
    """The lowest and the highest value of a measure by calendar period, at the site where they lie farthest apart."""
    apart = []
    for site in followed_sites(evidence):
        curve = over_time.followed(evidence.curves, site.name, measure)
        known = () if curve is None else over_time.periods(curve.found)
        if curve is not None and len(known) > 1:
            ends = [find(known, key=lambda each: each.value) for find in (min, max)]
            apart.append((ends[1].value - ends[0].value, site.site, ends, types.unit_of(curve.at["periods"])))
    if not apart:
        return ""
    _, where, ends, unit = max(apart, key=lambda each: each[0])
    low, high = (f"{_value(evidence, each, measure)} in {in_a_row([each.number], unit)}" for each in ends)
    return f"At {where} the {quantity(measure)} is lowest at {low} and highest at {high}."


def _certainty(evidence: types.Evidence, verdict: over_time.Verdict) -> str:
    """The values that cross a rule, and whether their intervals exclude its limit too: the rule is on values."""
    every = verdict.crossing
    if not every:
        return ""
    values = listing([_value(evidence, each, verdict.rule.measure) for each in (every[0], *every[1:][-1:])])
    label = sentence_case(quantity(verdict.rule.measure))
    limits = flag_text(over_time.limits(verdict.rule))
    lead = f"{label} {values}{' at its ends' if len(every) > MOST_VALUES else ''}, outside {limits}; "
    if all(each.low is None and each.high is None for each in every):
        return f"{lead}the measure has no interval."
    if verdict.excluding == len(every):
        return f"{lead}the whole interval lies outside{' in each' if len(every) > 1 else ''}."
    return f"{lead}the whole interval lies outside in {part_of(verdict.excluding, len(every))}."


def harm(evidence: types.Evidence, verdict: over_time.Verdict) -> str:
    """That the same for all did better while a rule was crossed, with the gain at the ends; empty where not."""
    if not verdict.harmful:
        return ""
    ends = dict.fromkeys((verdict.gains[0], verdict.gains[-1]))
    values = listing([_value(evidence, each, "net_benefit_gain") for each in ends])
    return phrase(
        "monitoring", "harmful", whom=verdict.whom, values=values, harmful=verdict.harmful, among=len(verdict.gains)
    )


def _value(evidence: types.Evidence, period: over_time.Period, measure: str) -> str:
    """A value with its interval."""
    value = short(evidence, measure, period.value)
    if period.low is None or period.high is None:
        return value
    return f"{value} ({bare(evidence, measure, period.low)} to {bare(evidence, measure, period.high)})"


def beyond(evidence: types.Evidence) -> str:
    """Where O/E or the slope of a period lies beyond what is tolerated: of all periods together it may be right."""
    said = []
    for measure in ("oe_ratio", "calibration_slope"):
        for site in followed_sites(evidence):
            curve = over_time.followed(evidence.curves, site.name, measure)
            below, above = over_time.beyond(() if curve is None else over_time.periods(curve.found))
            off = sorted((*below, *above), key=lambda period: period.number)
            if curve is not None and off:
                values = span(partial(short, evidence, measure), [period.value for period in off])
                when = in_a_row([period.number for period in off], types.unit_of(curve.at["periods"]))
                said.append(f"{quantity(measure)} of {site.site} in {when} ({values})")
    least, most = map(number, bands.OE_TOLERATED)
    where = named_with_the_rest(said, MOST_BEYOND)
    return phrase("monitoring", "beyond", least=least, most=most, where=where) if said else ""


MOST_BEYOND = 6
"""Measures of hospitals with periods beyond what is tolerated that a sentence names."""


def _open(every: Sequence[over_time.Verdict]) -> str:
    withheld = list(dict.fromkeys(verdict.site.site for verdict in every if verdict.withheld is not None))
    few = list(dict.fromkeys(verdict.site.site for verdict in every if verdict.is_open and verdict.withheld is None))
    said = [f"Too few periods can be shown at {listing(few)}."] if few else []
    said += [f"Those of {listing(withheld)} are withheld."] if withheld else []
    return " ".join(said)


def stop_rule(rule: StopRule) -> str:
    """A stop rule: outside which limits, in how many periods in a row."""
    of, row = flag_text(over_time.limits(rule)), " in a row" if rule.periods > 1 else ""
    return f"{quantity(rule.measure)} outside {of} in {counted(rule.periods, 'period')}{row}"


def rule(evidence: types.Evidence) -> str:
    """When a rule counts as crossed, and where it cannot be evaluated."""
    if not evidence.release.care.stop:
        return f"No limits to stop at are declared. {_simulated(evidence)}".strip()
    dated = {site.name for site in followed_sites(evidence)}
    without = [site.site for site in types.externals(evidence) if site.name not in dated]
    rules = [stop_rule(rule) for rule in evidence.release.care.stop if rule.measure in evidence.terms]
    lead = f"Declared to stop at: {listing(rules)}, by the value."
    rest = (
        f" Not evaluable, without days or with too few patients in each period: {listing(without)}." if without else ""
    )
    return f"{lead}{rest} {_simulated(evidence)}".strip()


def _simulated(evidence: types.Evidence) -> str:
    """How often each rule would stop a model that is fine, and how soon one that is not, site by site; that staff who
    acted on the model make it look worse.
    """
    said, sites = [], {site.name: site.site for site in followed_sites(evidence)}
    for curve in over_time.shown(evidence):
        for fact in curve.found.method if isinstance(curve.found, types.Curve) and curve.dataset in sites else ():
            if fact.code == "stop_simulated":
                about = {"unit": curve.at["periods"], "what": quantity(str(curve.at["measure"]))}
                about |= {"fewest": bands.FEW_FOR_POOLING, "site": sites[curve.dataset]}
                said.append(phrase("monitoring", "simulated", **dict(fact.values), **about))
    in_use = [phrase("monitoring", "in_use")] if evidence.release.care.model_in_use else []
    return " ".join([*said, *in_use])


CHAPTER = chapter(
    "monitoring",
    finding,
    lambda evidence: bool(followed_sites(evidence)),
    is_given=lambda evidence: bool(evidence.by_curve[over_time.OVER_TIME]),
)
