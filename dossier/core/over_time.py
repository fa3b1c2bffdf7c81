"""Performance by calendar period, and whether a declared stop rule is crossed by what is shown of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from dossier.core import bands, facts, release, types

How = Literal[
    "too high at first and then too low",
    "too low at first and then too high",
    "too high at times and too low at others",
]
"""How risks turn over time."""

EVERYONE, NO_ONE = "everyone", "no one"
OVER_TIME = "over_time"
"""The curve of a measure by calendar period; `at` holds the measure and the unit of its periods."""


@dataclass(frozen=True)
class Period:
    """A calendar period in which a measure has a value."""

    number: int
    """Counted from the year 0, in the unit of the curve."""
    value: float
    low: float | None
    high: float | None
    share: float | None = None
    """Of its patients those with the outcome; None where that is not given."""


@dataclass(frozen=True)
class Turn:
    """Periods in which the risks of a site are shown to be too high, and others in which they are shown too low."""

    unit: types.PeriodUnit
    too_high: tuple[Period, ...]
    too_low: tuple[Period, ...]
    distance: float
    """How far the mean risk of a period lies from the share with the outcome, on average over the patients of all."""

    @property
    def every(self) -> tuple[Period, ...]:
        """Both, in their order."""
        return tuple(sorted((*self.too_high, *self.too_low), key=lambda period: period.number))

    @property
    def how(self) -> How:
        """Which came first, where the one ended before the other began."""
        if self.too_high[-1].number < self.too_low[0].number:
            return "too high at first and then too low"
        if self.too_low[-1].number < self.too_high[0].number:
            return "too low at first and then too high"
        return "too high at times and too low at others"


@dataclass(frozen=True)
class Verdict:
    """A stop rule held against one external dataset by calendar period."""

    rule: release.StopRule
    site: types.DatasetSummary
    unit: types.PeriodUnit
    periods: tuple[Period, ...]
    """Those in which the measure has a value."""
    crossing: tuple[Period, ...]
    """The first in a row outside the limits, as many as the rule asks for or more; none where it is not crossed."""
    gains: tuple[Period, ...] = ()
    """The net benefit gain in the periods of the crossing."""
    withheld: types.Withheld | None = None
    """Why no period is given, where a policy protects them."""
    threshold: float | None = None
    """The threshold that the gain is at."""

    @property
    def excluding(self) -> int:
        """In how many periods of the crossing the whole interval lies outside."""
        return sum(excludes(self.rule, period) for period in self.crossing)

    @property
    def harmful(self) -> int:
        """In how many periods of the crossing the whole interval of the net benefit gain lies below 0."""
        return sum(period.high is not None and period.high < 0 for period in self.gains)

    @property
    def whom(self) -> str:
        """Whom it was better to flag in these periods."""
        return better_to_flag([period for period in self.gains if (period.high or 0.0) < 0], self.threshold)

    @property
    def is_harmful(self) -> bool:
        """Whether that is so in as many periods as the rule itself asks for: one of many may be chance."""
        return 0 < self.rule.periods <= self.harmful

    @property
    def is_open(self) -> bool:
        """Whether too few periods have a value to cross the rule at all."""
        return len(self.periods) < self.rule.periods


def better_to_flag(worse: Iterable[Period], threshold: float | None) -> str:
    """Whom it was better to flag in periods in which the model did worse: everyone, where more of the patients have the
    outcome than the threshold says, or no one; either where that is not known, or differs.
    """
    sides = {None if period.share is None or threshold is None else period.share > threshold for period in worse}
    return EVERYONE if sides == {True} else NO_ONE if sides == {False} else f"{EVERYONE} or {NO_ONE}"


def verdicts(
    rules: Sequence[release.StopRule], datasets: Sequence[types.DatasetSummary], curves: Sequence[types.CurveResult]
) -> tuple[Verdict, ...]:
    """Each rule at each external dataset in which its measure is followed, from what is shown of it."""
    found = []
    for rule in rules:
        for site in datasets:
            curve = followed(curves, site.name, rule.measure) if site.role == "external" else None
            if curve is not None:
                every = periods(curve.found)
                withheld = curve.found if isinstance(curve.found, types.Withheld) else None
                unit, crossed = types.unit_of(curve.at["periods"]), crossing(rule, every)
                gain = followed(curves, site.name, "net_benefit_gain")
                numbers = {period.number for period in crossed}
                gains = () if gain is None else tuple(each for each in periods(gain.found) if each.number in numbers)
                threshold = None if gain is None else gain.at.get("threshold")
                at = threshold if isinstance(threshold, float) else None
                found.append(Verdict(rule, site, unit, every, crossed, gains, withheld, at))
    return tuple(found)


def of_evidence(evidence: types.Evidence) -> tuple[Verdict, ...]:
    """The declared stop rules, held against what is shown."""
    return verdicts(evidence.release.care.stop, evidence.datasets, evidence.curves)


def printed(evidence: types.Evidence) -> tuple[str, ...]:
    """The measures that are printed by period: discrimination, calibration, gain, similarity, and those of a rule."""
    by_psi = evidence.release.robustness.similarity == "psi"
    similarity = "degree_of_correspondence" if by_psi else "correspondence_averaged"
    known = {curve.at["measure"] for curve in shown(evidence) if curve.at.get("class", types.MACRO) == types.MACRO}
    of_rules = [rule.measure for rule in evidence.release.care.stop]
    wanted = dict.fromkeys(("auroc", "oe_ratio", "net_benefit_gain", similarity, *of_rules))
    return tuple(measure for measure in wanted if measure in known)


def shown(evidence: types.Evidence) -> tuple[types.CurveResult, ...]:
    """Every curve by calendar period of which something is shown."""
    return tuple(curve for curve in evidence.by_curve[OVER_TIME] if isinstance(curve.found, types.Curve))


def unit_at(evidence: types.Evidence, dataset: str) -> types.PeriodUnit:
    """The unit of the calendar periods of a dataset that is followed."""
    return types.unit_of(next(curve.at["periods"] for curve in shown(evidence) if curve.dataset == dataset))


def followed(
    curves: Iterable[types.CurveResult], dataset: str, measure: str, of_class: str = types.MACRO
) -> types.CurveResult | None:
    """A measure of a dataset by calendar period, of several classes its mean or one; None where it is not followed."""
    for curve in curves:
        named = (curve.curve, curve.dataset, curve.at.get("measure"), curve.at.get("class", types.MACRO))
        if named == (OVER_TIME, dataset, measure, of_class):
            return curve
    return None


def periods(curve: types.Curve | types.Absent) -> tuple[Period, ...]:
    """The periods in which a measure has a value, in their order."""
    if isinstance(curve, types.Absent):
        return ()
    unknown, names = (None,) * len(curve.columns["period"]), ("period", "value", "low", "high", "n", "events")
    rows = zip(*(curve.columns.get(name, unknown) for name in names), strict=True)
    return tuple(
        Period(int(number), value, low, high, None if not n or events is None else events / n)
        for number, value, low, high, n, events in rows
        if number is not None and value is not None
    )


def turn(curves: Iterable[types.CurveResult], dataset: str, of_class: str = types.MACRO) -> Turn | None:
    """Whether O/E, of several classes that of one, lies with its whole interval below what is tolerated in one period
    and above it in another.

    No value of all periods is then that of any; None where it does not. A period has 20 events and non-events, so
    that chance alone puts a right model on both sides about never.
    """
    curve = followed(curves, dataset, "oe_ratio", of_class)
    too_high, too_low = beyond(() if curve is None else periods(curve.found))
    if curve is None or not isinstance(curve.found, types.Curve) or not too_high or not too_low:
        return None
    rows = zip(*(curve.found.columns[name] for name in ("value", "n", "events")), strict=True)
    off = [(n or 0.0, (events or 0.0) * abs(1 - 1 / ratio)) for ratio, n, events in rows if ratio]
    distance = sum(events for _, events in off) / (sum(n for n, _ in off) or 1.0)
    return Turn(types.unit_of(curve.at["periods"]), too_high, too_low, distance)


def turn_at(evidence: types.Evidence, dataset: str, at: types.At) -> Turn | None:
    """The same of what settings name: a class, or all patients; by a further horizon nobody is followed over time."""
    if "horizon" in at:
        return None
    return turn(evidence.by_curve[OVER_TIME], dataset, types.class_of(at) or types.MACRO)


def beyond(every: Iterable[Period]) -> tuple[tuple[Period, ...], tuple[Period, ...]]:
    """The periods in which an O/E or a slope lies with its whole interval below what is tolerated, and above it."""
    least, most = bands.OE_TOLERATED
    known = [period for period in every if period.low is not None and period.high is not None]
    below = tuple(period for period in known if (period.high or 0.0) < least)
    return below, tuple(period for period in known if (period.low or 0.0) > most)


def code(number: int, unit: types.PeriodUnit) -> str:
    """A period as pandas reads it: 2025-03, 2025Q3, 2025."""
    if unit == "year":
        return str(number)
    return f"{number // 12}-{number % 12 + 1:02}" if unit == "month" else f"{number // 4}Q{number % 4 + 1}"


def limits(rule: release.StopRule) -> facts.Fact:
    """The limits of a rule: both, or the one that it has."""
    if rule.at_most is None:
        return facts.Fact("least_limit", at_least=rule.at_least)
    if rule.at_least is None:
        return facts.Fact("most_limit", at_most=rule.at_most)
    return facts.Fact("limits", at_least=rule.at_least, at_most=rule.at_most)


def is_outside(rule: release.StopRule, period: Period) -> bool:
    """Whether the value of a period lies outside the limits of a rule; a value on a limit does not."""
    return bands.is_outside(period.value, period.value, rule.at_least, rule.at_most)


def side(verdict: Verdict) -> Literal["above", "below"] | None:
    """On which side of its limits a rule is crossed; None where it is on both, or not crossed."""
    most, least, found = verdict.rule.at_most, verdict.rule.at_least, verdict.crossing
    if found and most is not None and all(period.value > most for period in found):
        return "above"
    return "below" if found and least is not None and all(period.value < least for period in found) else None


def excludes(rule: release.StopRule, period: Period) -> bool:
    """Whether the whole interval of a period lies outside, on one side."""
    return bands.is_outside(period.low, period.high, rule.at_least, rule.at_most)


def crossing(rule: release.StopRule, every: Sequence[Period]) -> tuple[Period, ...]:
    """Where a rule is crossed first; empty where it is not.

    A period without a value is passed over, so that a quarter with few patients ends no row.
    """
    row: list[Period] = []
    for period in every:
        if is_outside(rule, period):
            row.append(period)
        elif len(row) >= rule.periods:
            break
        else:
            row = []
    return tuple(row) if len(row) >= rule.periods else ()
