"""The register of judgements: what the evidence says to each question that is always asked, and how that stands.

A number becomes a judgement here and nowhere else: which comparison is looked at, against which limit, among how many,
and whether it is shown, shown not to hold, open or untested. Every page, report and frame prints these claims.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from dossier.core import bands, between_groups, binding, flags, multiplicity, over_time, types
from dossier.core.facts import Fact, gathered
from dossier.core.release import StopRule

Question = Literal[
    "benefit",
    "calibration",
    "discrimination",
    "comparators",
    "groups",
    "new_hospital",
    "over_time",
    "since_last_release",
    "labels",
    "people",
    "population",
    "updating",
    "test_itself",
]
QUESTIONS: tuple[Question, ...] = get_args(Question)
"""What is asked of every release, whatever it declares, in the order of the pages."""

Scope = Literal["overall", "hospital", "group"]
Source = Literal["default", "declared", "maker"]

WITHOUT_HARM: Mapping[types.State, int] = {"open": 7, "untested": 8, "shown": 9}
"""What comes after all that is shown not to hold."""
PROBABILITY_OF: Mapping[Question, str] = {"calibration": "calibration_test"}
"""What is tested where that is not the measure of the claim."""
NAMED = frozenset(f"{state}:{question}" for state in ("against", *WITHOUT_HARM) for question in QUESTIONS)
"""What a pipeline may stop at: "against:groups", "open:calibration"."""


@dataclass(frozen=True)
class Claim:
    """What the evidence says to one question about one subject: the number, what it was held against, how it stands."""

    question: Question
    scope: Scope
    state: types.State
    dataset: str = types.POOLED
    """The name of the dataset, or that of all of them together."""
    measure: str | None = None
    """None where no number answers."""
    subset: types.Subset | None = None
    at: types.At = field(default_factory=dict)
    value: float | None = None
    low: float | None = None
    high: float | None = None
    limit: tuple[float | None, float | None] = (None, None)
    """At least and at most what it has to be."""
    limit_source: Source = "default"
    """Whether the limit is ours, that of a criterion, or the word of who made the model."""
    looks: int = 1
    """How many comparisons of its family were looked at."""
    p_adjusted: float | None = None
    """Its p value by Holm's correction for these."""
    worst: str | None = None
    """The dataset whose value is the worst, of a claim about all."""
    needs_n: float | None = None
    """How many patients like these would show it, of a model that is right."""
    reason: Fact | None = None
    """Why it is untested, or open without an interval."""
    alone: types.State | None = None
    """How it stands where its hospital is the reader's own: a family of one look; None where that is no other."""
    distance: float | None = None
    """Of the size of risks how far they lie on average from what happened; None where that is not known."""
    period: Fact | None = None
    """The calendar period that the number is of; None where it is of all of them."""

    @property
    def harm(self) -> int:
        """How grave it is for patients: 1 to 6 where it is shown not to hold, then open, untested and shown."""
        if self.limit_source == "maker":
            return 1
        return ASKED[self.question].harm if self.state == "against" else WITHOUT_HARM[self.state]

    @property
    def p_of(self) -> str | None:
        """The measure that the p value is of: of the calibration its joint test, whatever number stands beside it."""
        return None if self.p_adjusted is None else PROBABILITY_OF.get(self.question, self.measure)

    @property
    def named(self) -> str:
        """State and question, as a pipeline names them."""
        return f"{self.state}:{self.question}"


def made(evidence: types.Evidence) -> tuple[Claim, ...]:
    """Every claim, the gravest first, among equals in the order of the questions and of the hospitals."""
    declared, ruled_out = tuple(_declared(evidence)), binding.ruled_out(evidence)
    found = [Claim("benefit", "hospital", "against", site.name, limit_source="maker") for site in ruled_out]
    for question in QUESTIONS:
        own = [_at_all_times(evidence, claim) for claim in ASKED[question].by(evidence)]
        asked = [claim for claim in declared if claim.question == question]
        if not any(claim.scope == "overall" for claim in own):
            # A declared limit takes the place of ours.
            limits = {_asks_of(claim) for claim in asked if claim.scope == "hospital"}
            every = [claim for claim in (*own, *asked) if not _is_replaced(claim, limits)]
            own = [_overall(evidence, question, every), *own]
        # What a criterion asks in the same words as we do is said once.
        same = {_subject(claim) for claim in asked if question != "since_last_release"}
        found += [*(claim for claim in own if _subject(claim) not in same), *asked]
    return tuple(sorted(found, key=lambda claim: claim.harm))


def _at_all_times(evidence: types.Evidence, claim: Claim) -> Claim:
    """What is shown of all times of a hospital is open where risks turn, unless each of its periods shows it too."""
    if claim.scope != "hospital" or "shown" not in (claim.state, claim.alone) or claim.period or is_same(claim):
        return claim
    least = multiplicity.CHANCE if claim.question == "discrimination" else math.inf
    if not binding.is_of_no_time(evidence, claim.dataset, claim.measure, claim.at, least):
        return claim
    state, alone = ("open" if each == "shown" else each for each in (claim.state, claim.alone))
    return replace(claim, state=state or "open", alone=alone, reason=OF_NO_TIME)


def _is_replaced(claim: Claim, declared: Collection[object]) -> bool:
    """Whether a declared limit takes the place of ours; that of the size of risks is asked of two measures at once."""
    return claim.limit_source == "default" and claim.question != "calibration" and _asks_of(claim) in declared


def _asks_of(claim: Claim) -> tuple[object, ...]:
    """What a declared limit takes the place of ours in: a measure by a horizon."""
    return claim.measure, claim.at.get("horizon")


def is_primary(evidence: types.Evidence, claim: Claim) -> bool:
    """Whether it is of no threshold, or of the primary one of its horizon."""
    return claim.at.get("threshold") in (None, *evidence.release.primary(claim.at))


def _subject(claim: Claim) -> tuple[object, ...]:
    # The size of risks is judged by two measures at once: what a criterion asks of one may say another thing.
    joint = claim.state if claim.question == "calibration" else None
    return claim.measure, claim.dataset, claim.subset, claim.limit, claim.scope, joint, *sorted(claim.at.items())


def _claim(question: Question, scope: Scope, found: types.Estimate | types.Absent, **fields: object) -> Claim:
    """A claim with the numbers of an estimate, or why there is none, beside what else it says."""
    says: dict[str, object] = {**fields, "reason": found.reason, "state": "untested", "alone": None}
    if isinstance(found, types.Estimate):
        numbers = {"value": found.value, "low": found.low, "high": found.high, "reason": found.reason}
        says = {**numbers, "looks": int(found.details.get("looks") or 1), **fields}
    return Claim(question, scope, **says)  # type: ignore[arg-type]


# ---- what its maker says, and what was declared ----------------------------------------------------------------------


def _declared(evidence: types.Evidence) -> Iterator[Claim]:
    """Each criterion that counts, at each dataset that it asks something of."""
    sites = {site.name for site in types.externals(evidence)}
    for criterion in evidence.criteria:
        # Of a file that was altered a criterion may be without its declaration.
        asked = evidence.release.acceptance[criterion.number - 1 : criterion.number]
        if not asked or binding.uncounted(evidence.release, asked[0], evidence.datasets) is not None:
            continue
        chapter = evidence.terms[criterion.measure].chapter if criterion.measure in evidence.terms else ""
        question = "groups" if criterion.subset is not None else OF_CHAPTER.get(chapter, "benefit")
        question = "since_last_release" if criterion.at.get("against") == "previous" else question
        scope: Scope = (
            "group" if criterion.subset is not None else "hospital" if criterion.dataset in sites else "overall"
        )
        yield _claim(
            question,
            scope,
            of_criterion(evidence, criterion),
            dataset=criterion.dataset,
            measure=criterion.measure,
            subset=criterion.subset,
            at=criterion.at,
            limit=(criterion.at_least, criterion.at_most),
            limit_source="declared",
            state=criterion.state,
            distance=distance(evidence, criterion.dataset, criterion.at) if question == "calibration" else None,
        )


def of_criterion(evidence: types.Evidence, criterion: types.Criterion) -> types.Estimate | types.Absent:
    """What a criterion is held against: the number of a dataset or a group, or how much worse it is than before."""
    subset, place = criterion.subset, (criterion.measure, criterion.dataset)
    every: Sequence[types.Result] = (
        evidence.of_measure[place] if subset is None else evidence.subgroups.of_measure[subset, *place]
    )
    if criterion.at.get("against") == "previous":
        every = evidence.changes.results if evidence.changes else ()
    here = (
        multiplicity.than_before(each.found)
        for each in every
        if (each.measure, each.dataset, each.subset, each.at) == (*place, subset, criterion.at)
    )
    gap = types.Absent(criterion.reason or Fact("not_estimated"))
    return gap if criterion.observed is None else next(here, gap)


# ---- each question ---------------------------------------------------------------------------------------------------


def _places(evidence: types.Evidence, *, by_every_horizon: bool = False) -> Iterator[tuple[str, types.At]]:
    """Each hospital, of several classes with each class, and by each further horizon where that is asked for."""
    for site in types.externals(evidence):
        for at in evidence.release.each_outcome:
            if by_every_horizon or "horizon" not in at:
                yield site.name, at


def _benefit(evidence: types.Evidence) -> Iterator[Claim]:
    """The net benefit over the better default at each declared threshold, the primary one first."""
    for threshold in evidence.release.thresholds.declared:
        for dataset, of_class in _places(evidence):
            at = {"threshold": threshold, **of_class}
            gain = types.find(evidence, "net_benefit_gain", dataset, **at)
            worse = binding.worse_in(evidence, dataset, threshold)
            state = binding.gain(evidence, dataset, threshold, gain)
            hides = isinstance(gain, types.Estimate) and (state, multiplicity.gain(gain)) == ("open", "shown")
            claim = _claim(
                "benefit",
                "hospital",
                replace(gain, reason=OF_NO_TIME) if hides else gain,
                dataset=dataset,
                measure="net_benefit_gain",
                at=at,
                limit=(0.0, None),
                p_adjusted=gain.details.get("p_holm") if isinstance(gain, types.Estimate) else None,
                state=state,
                alone=binding.gain(evidence, dataset, threshold, gain, is_own=True),
            )
            yield _turning(claim, worse, over_time.unit_at(evidence, dataset)) if worse else claim


def _turning(claim: Claim, every: Sequence[over_time.Period], unit: types.PeriodUnit) -> Claim:
    """What is said of a hospital whose risks turn, whose number of all times is of none: it is that of the worst."""
    claim = replace(claim, looks=1, p_adjusted=None, needs_n=None, state="against", alone="against")
    return _in_worst(claim, every, unit)


def _in_worst(claim: Claim, every: Sequence[over_time.Period], unit: types.PeriodUnit) -> Claim:
    return min((_in_period(claim, each, unit) for each in reversed(every)), key=_goodness)


def _in_period(claim: Claim, period: over_time.Period, unit: types.PeriodUnit) -> Claim:
    when = flags.periods(unit, (period.number,))
    return replace(claim, value=period.value, low=period.low, high=period.high, period=when)


def _calibration(evidence: types.Evidence) -> Iterator[Claim]:
    """The size of the risks by each horizon, by O/E and slope at once; the number is that of the one that is farther
    off, of those that leave it open.

    A declared limit of either takes the place of ours.
    """
    declared = {
        (claim.measure, claim.dataset, *claim.at.values()): claim.limit
        for claim in _declared(evidence)
        if claim.question == "calibration"
    }
    for dataset, at in _places(evidence, by_every_horizon=True):
        limits = {
            name: declared.get((name, dataset, *at.values()), bands.OE_TOLERATED) for name in flags.CALIBRATION[:2]
        }
        ratio, slope, test = (types.find(evidence, measure, dataset, **at) for measure in flags.CALIBRATION)
        both = {"oe_ratio": ratio, "calibration_slope": slope}
        known = {measure: each for measure, each in both.items() if isinstance(each, types.Estimate)}
        left = {name: each for name, each in known.items() if multiplicity.held(each, *limits[name]) != "shown"}
        # Where all are too high or too low that is named first, as in every sentence.
        # By how many times it is off, either way.
        times = {name: abs(math.log(each.value)) if each.value > 0 else math.inf for name, each in known.items()}
        farthest = max(left or known, key=lambda name: times[name], default="oe_ratio")
        measure = "oe_ratio" if multiplicity.misfit(evidence, dataset, **at).level else farthest
        found = both[measure]
        details = test.details if isinstance(test, types.Estimate) else {}
        claim = _claim(
            "calibration",
            "hospital",
            found,
            dataset=dataset,
            measure=measure,
            at=at,
            limit=limits[measure],
            looks=int(details.get("looks") or 1),
            p_adjusted=details.get("p_holm"),
            needs_n=details.get("needed"),
            state=multiplicity.calibration(ratio, slope, test, limits=[*limits.values()]),
            alone=multiplicity.calibration(ratio, slope, test, True, [*limits.values()]),
            distance=distance(evidence, dataset, at),
        )
        turn = over_time.turn_at(evidence, dataset, at)
        if turn is not None:
            claim = _turning(replace(claim, measure="oe_ratio", limit=bands.OE_TOLERATED), turn.every, turn.unit)
        yield claim


def distance(evidence: types.Evidence, dataset: str, at: types.At) -> float | None:
    """How far the risks of a hospital, or of one of its classes, lie on average from what happened, which is the harm:
    the ICI; where they turn over time what its periods say, if that is more, as one curve of all takes their mean.
    """
    found = types.find(evidence, "ici", dataset, **at)
    turn = over_time.turn_at(evidence, dataset, at)
    return None if isinstance(found, types.Absent) else max(found.value, turn.distance if turn else 0.0)


def _discrimination(evidence: types.Evidence) -> Iterator[Claim]:
    for dataset, at in _places(evidence):
        found = types.find(evidence, "auroc", dataset, **at)
        yield _claim(
            "discrimination",
            "hospital",
            found,
            dataset=dataset,
            measure="auroc",
            at=at,
            limit=(multiplicity.CHANCE, None),
            state=multiplicity.discrimination(found),
            alone=multiplicity.discrimination(found, is_own=True),
        )


def _comparators(evidence: types.Evidence) -> Iterator[Claim]:
    """Each difference from another model that was looked at, in the direction in which the model is better."""
    external, same = {site.name for site in types.externals(evidence)}, _same(evidence.by_every_horizon)
    for result in evidence.by_every_horizon:
        found = result.found
        if isinstance(found, types.Absent) or result.dataset not in external or "p_adjusted" not in found.details:
            continue
        limit = multiplicity.BESIDE_RIVALS[result.measure]
        is_same = _compared(result) in same
        yield _claim(
            "comparators",
            "hospital",
            replace(found, reason=SAME_RISKS if is_same else found.reason),
            dataset=result.dataset,
            measure=result.measure,
            at=result.at,
            limit=limit,
            p_adjusted=found.details["p_adjusted"],
            state="shown" if is_same else multiplicity.beside_rival(result.measure, found),
            alone="shown" if is_same else multiplicity.beside_rival(result.measure, found, is_own=True),
        )


OF_NO_TIME, SAME_RISKS = Fact("of_no_time"), Fact("risks_are_the_same")
BY_PATIENT = ("brier", "brier_difference", "net_benefit", "net_benefit_difference")
"""What tells whether two models gave every patient the same risk."""


def _compared(result: types.Result) -> tuple[object, ...]:
    """Where a result says something of two models at once, of which, and by when."""
    return result.dataset, result.at.get("against"), result.at.get("horizon")


def _same(results: Sequence[types.Result]) -> set[tuple[object, ...]]:
    """Where another model, or the last release, gave each patient the risk that the model gives, of each class too: no
    patient's error is another one.
    """
    found: dict[tuple[object, ...], list[bool]] = {}
    for result in results:
        each = result.found
        if result.measure in BY_PATIENT and result.subset is None and isinstance(each, types.Estimate):
            is_equal = each.value == 0 and each.reason == Fact("no_spread")
            found.setdefault(_compared(result), []).append(is_equal or each.method.has("same_risks"))
    return {place for place, stands in found.items() if all(stands)}


def is_same(claim: Claim) -> bool:
    """Whether nothing differs, as the risks are the same: no worse, and no better either."""
    return claim.reason == SAME_RISKS


def _groups(evidence: types.Evidence) -> Iterator[Claim]:
    """Each group of patients against the others of its hospitals, over all of them and at each by itself."""
    groups = evidence.subgroups
    by_itself = between_groups.at_single_sites(groups.summaries, groups.results)
    for dataset in (types.POOLED, *(site.name for site in types.externals(evidence))):
        # Who came when tells the groups of a hospital apart where its risks turn over time.
        turns = binding.is_turning(evidence, dataset)
        for look in between_groups.looks(groups.summaries, groups.results, dataset):
            # Better off than the others is not worse off. A single hospital accuses where it is one's own, and where
            # what is found there is beyond chance among all looks at all of them.
            alone: types.State = (
                "open" if look.is_explained or turns else look.state if look.state in ("against", "open") else "shown"
            )
            accuses = look in by_itself
            is_of_one = alone == "against" and dataset != types.POOLED and not accuses
            unsure = OF_NO_TIME if turns else Fact("judged_among_all") if is_of_one else None
            why = Fact("explained_by_risks") if look.is_explained else unsure
            family = ("p_over_sites", "looks_over_sites") if accuses else ("p_holm", "looks")
            p_adjusted, among = (look.apart.details.get(name) for name in family)
            yield _claim(
                "groups",
                "group",
                replace(look.apart, reason=why),
                dataset=dataset,
                measure=look.measure,
                subset=types.Subset(look.column, look.label),
                at=look.at,
                limit=between_groups.MARGINS[look.measure],
                looks=int(among or 1),
                p_adjusted=p_adjusted,
                state="open" if is_of_one else alone,
                alone=alone,
            )


def _new_hospital(evidence: types.Evidence) -> Iterator[Claim]:
    """What a hospital that was not among those tested may expect."""
    primary = evidence.release.thresholds.declared[:1]
    asked = [("net_benefit_gain", {"threshold": at}, 0.0) for at in primary] + [("auroc", {}, multiplicity.CHANCE)]
    for measure, at, least in asked:
        found = types.find(evidence, measure, types.POOLED, **at)
        expected = types.expected_range(found) if isinstance(found, types.Estimate) else None
        if isinstance(found, types.Absent) or expected is None:
            found = types.Absent(Fact("too_few_sites_for_a_new_one", fewest=bands.FEWEST_FOR_A_NEW_SITE))
        else:
            found = replace(found, low=expected[0], high=expected[1])
        yield _claim(
            "new_hospital",
            "overall",
            found,
            measure=measure,
            at=at,
            limit=(least, None),
            state=multiplicity.better(found, least, None),
        )


def _over_time(evidence: types.Evidence) -> Iterator[Claim]:
    """Each stop rule at each hospital; untested where its measure is not followed."""
    verdicts = over_time.of_evidence(evidence)
    followed = {(each.rule.measure, each.site.name) for each in verdicts}
    for rule, site in itertools.product(evidence.release.care.stop, (site.name for site in types.externals(evidence))):
        if (rule.measure, site) not in followed:
            yield _of_rule(rule, site, "untested", Fact("not_followed"))
    for each in verdicts:
        state: types.State = (
            "against" if each.crossing else "untested" if each.withheld else "open" if each.is_open else "shown"
        )
        claim = _of_rule(each.rule, each.site.name, state, each.withheld.reason if each.withheld else None)
        if each.crossing:
            yield _in_worst(claim, each.crossing, each.unit)
        else:
            yield _in_period(claim, each.periods[-1], each.unit) if each.periods else claim


def _of_rule(rule: StopRule, site: str, state: types.State, reason: Fact | None) -> Claim:
    said = Claim("over_time", "hospital", state, site, rule.measure, reason=reason)
    return replace(said, limit=(rule.at_least, rule.at_most), limit_source="declared")


def _since_last_release(evidence: types.Evidence) -> Iterator[Claim]:
    """Each measure that was looked at to say that a hospital, a group of patients over all hospitals, or all together
    have it worse than in the last release; before them what they say together.
    """
    results = evidence.changes.results if evidence.changes else ()
    same = _same(results)
    every = [_changed(evidence, result, _compared(result) in same) for result in results]
    found = [claim for claim in every if claim is not None]
    if here := [claim for claim in found if claim.scope != "overall"]:
        yield _overall(evidence, "since_last_release", here)
    yield from found


def _changed(evidence: types.Evidence, result: types.Result, is_same: bool) -> Claim | None:
    """What a difference from the last release says; None where it was not looked at. The same risks have no error."""
    found, state = result.found, multiplicity.since_last_release(result.found)
    if isinstance(found, types.Absent) or (state is None and not (is_same and found.value == 0 and found.low is None)):
        return None
    # On which side of no change a measure is better; of one that is best at 1 there is none.
    sides: Mapping[str | None, tuple[float | None, float | None]] = {"higher": (0.0, None), "lower": (None, 0.0)}
    return _claim(
        "since_last_release",
        "group" if result.subset else "overall" if result.dataset == types.POOLED else "hospital",
        replace(found, reason=SAME_RISKS if is_same else found.reason),
        dataset=result.dataset,
        measure=result.measure,
        subset=result.subset,
        at=result.at,
        limit=sides.get(evidence.terms[result.term].best, (None, None)),
        p_adjusted=None if state is None else found.details["p_adjusted"] or 0.0,
        state="shown" if is_same or state is None else state,
        alone="shown" if is_same else multiplicity.since_last_release(found, is_own=True),
    )


def _labels(evidence: types.Evidence) -> Iterator[Claim]:
    """How reliable the labels are, by the first of these measures that could be estimated."""
    for measure in ("weighted_concordance", "krippendorff_alpha", "fleiss_kappa", "observed_agreement"):
        if found := [each for each in types.find_all(evidence, measure) if isinstance(each.found, types.Estimate)]:
            # The labels that the model was tested on, before those that it learnt from.
            external = {site.name for site in types.externals(evidence)}
            first = min(found, key=lambda result: result.dataset not in external)
            yield _claim(
                "labels", "overall", first.found, dataset=first.dataset, measure=measure, at=first.at, **WITHOUT_LIMIT
            )
            return
    if evidence.release.readers:
        yield Claim("labels", "overall", "untested", reason=NOTHING_COMPARED)


WITHOUT_LIMIT: Mapping[str, object] = {"state": "open", "reason": Fact("no_limit_declared")}
"""How a number stands that nothing was asked of."""


def _people(evidence: types.Evidence) -> Iterator[Claim]:
    """Whether readers decide better with the model, by readers and cases as clusters where that could be had."""
    found = types.find(evidence, "absolute_risk_reduction", types.READER_STUDY)
    if isinstance(found, types.Estimate):
        clustered = (found.details.get("low_clustered"), found.details.get("high_clustered"))
        found = found if None in clustered else replace(found, low=clustered[0], high=clustered[1])
        at = {"dataset": types.READER_STUDY, "measure": "absolute_risk_reduction", "limit": (0.0, None)}
        yield _claim("people", "overall", found, state=multiplicity.better(found, 0.0, None), **at)
    elif evidence.release.reader_study is not None:
        yield Claim("people", "overall", "untested", reason=found.reason)


def _population(evidence: types.Evidence) -> Iterator[Claim]:
    """How alike the patients are to those of the development; described, and no verdict."""
    measure = bands.SIMILARITIES[evidence.release.robustness.similarity]
    for site in types.externals(evidence):
        found = types.find(evidence, measure, site.name)
        yield _claim("population", "hospital", found, dataset=site.name, measure=measure, **WITHOUT_LIMIT)


def _updating(evidence: types.Evidence) -> Iterator[Claim]:
    """Whether an update would mend the risks of each hospital where they are not shown to be right in size: the least
    one that is shown to, or else the one that is nearest to it.
    """
    for site in types.externals(evidence):
        if multiplicity.size_of_risks(evidence, site.name) == "shown" or not evidence.release.updates:
            continue
        by_size = sorted(evidence.release.updates, key=SIZES.index)
        states = {name: after_update(evidence, site.name, name) for name in by_size}
        name = min(states, key=lambda each: MENDED_BEST_FIRST.index(states[each]))
        # The number is that of the one of both that leaves it open.
        ratio, slope = _left_by(evidence, site.name, name)
        is_slope = multiplicity.held(ratio, *bands.OE_TOLERATED) == "shown" != states[name]
        yield _claim(
            "updating",
            "hospital",
            slope if is_slope else ratio,
            dataset=site.name,
            measure=flags.CALIBRATION[is_slope],
            at={"model": name},
            limit=bands.OE_TOLERATED,
            state=states[name],
        )


SIZES = [f"{types.UPDATED}{change}" for change in (*types.CHANGES, "closed_test")]
"""The updates, by how much they change; a test that chooses comes last."""
MENDED_BEST_FIRST: Sequence[types.State] = ("shown", "open", "against", "withheld", "untested")


def _test_itself(evidence: types.Evidence) -> Iterator[Claim]:
    """Whether the version that is released was tested, against criteria that count, in as many patients as asked."""
    about, release = evidence.release.release, evidence.release
    if about.tested_version not in (None, about.version):
        other = Fact("another_version_tested", tested=about.tested_version, released=about.version)
        yield Claim("test_itself", "overall", "against", reason=other)
    why = [binding.uncounted(release, criterion, evidence.datasets) for criterion in release.acceptance]
    if not why:
        yield Claim("test_itself", "overall", "untested", reason=Fact("no_criterion_declared"))
    elif None not in why:
        yield Claim("test_itself", "overall", "untested", reason=Fact("no_criterion_counts"))
    else:
        reason = Fact("not_sealed") if evidence.seal is None else Fact("changed_after_sealing")
        is_sealed = evidence.seal is not None and not evidence.seal.changes
        yield Claim("test_itself", "overall", "shown" if is_sealed else "open", reason=None if is_sealed else reason)


NOT_ESTIMATED, NOTHING_COMPARED = Fact("not_estimated"), Fact("nothing_compared")


@dataclass(frozen=True)
class Asked:
    """Who answers a question, how grave it is for patients where something is shown not to hold, 1 the gravest, in
    which chapter its evidence stands, and why nothing may answer it.
    """

    by: Callable[[types.Evidence], Iterator[Claim]]
    harm: int
    chapter: str
    unanswered: Fact = NOT_ESTIMATED
    is_declared: Callable[[types.Evidence], bool] | None = None
    """Whether what it asks of was declared, so that nothing answers it for another reason; None of what needs none."""
    otherwise: Fact = NOTHING_COMPARED
    """That reason, where no policy keeps it back."""

    def why(self, evidence: types.Evidence) -> Fact:
        """Why nothing answers it."""
        if self.is_declared is None or not self.is_declared(evidence):
            return self.unanswered
        kept_back = Fact("not_given_where_protected", below=max(site.minimum_cell for site in evidence.datasets))
        return kept_back if evidence.is_protected and self.otherwise == NOTHING_COMPARED else self.otherwise


ASKED: Mapping[Question, Asked] = {
    "benefit": Asked(_benefit, 2, "utility", Fact("release_declares_no_threshold")),
    "calibration": Asked(_calibration, 4, "calibration"),
    "discrimination": Asked(_discrimination, 6, "discrimination"),
    "comparators": Asked(
        *(_comparators, 2, "comparison", Fact("no_rival_declared")),
        lambda found: bool(found.release.rivals_by_any_horizon),
    ),
    "groups": Asked(_groups, 3, "subgroups", Fact("no_subgroup_declared"), lambda found: bool(found.release.subgroup)),
    "new_hospital": Asked(_new_hospital, 6, "pooled"),
    "over_time": Asked(_over_time, 1, "monitoring", Fact("no_stop_rule_declared")),
    "since_last_release": Asked(
        _since_last_release, 5, "changes", Fact("no_previous_release"), lambda found: found.changes is not None
    ),
    "labels": Asked(_labels, 6, "reliability", Fact("no_readers")),
    "people": Asked(_people, 2, "human_factors", Fact("no_reader_study")),
    "population": Asked(_population, 6, "correspondence"),
    "updating": Asked(
        *(_updating, 6, "updating", Fact("no_update_declared")),
        *(lambda found: bool(found.release.updates), Fact("nothing_to_mend")),
    ),
    "test_itself": Asked(_test_itself, 1, "acceptance"),
}
"""Every question that is asked."""
OF_CHAPTER: Mapping[str, Question] = {
    **{each.chapter: question for question, each in reversed([*ASKED.items()])},
    "robustness": "population",
    "nomogram": "test_itself",
    "sample": "test_itself",
}
"""The question that a declared criterion belongs to, by the chapter of its measure, the first that has
its evidence there; all else asks of the benefit."""


# ---- over all hospitals ----------------------------------------------------------------------------------------------


NOT_BY_HORIZON: Set[Question] = {"over_time", "since_last_release", "labels", "people", "updating"}
"""The questions that a release of an outcome by a horizon cannot declare anything for yet."""


def _overall(evidence: types.Evidence, question: Question, every: Sequence[Claim]) -> Claim:
    """What the claims of a question say together: that of all rows where there is one, else what they agree on."""
    known = [claim for claim in every if claim.state != "untested"]
    known = [claim for claim in known if is_primary(evidence, claim)] or known
    if not known and evidence.release.horizon and question in NOT_BY_HORIZON:
        return Claim(question, "overall", "untested", reason=Fact("not_by_horizon"))
    if not known:
        reason = next((claim.reason for claim in every if claim.reason), None) or ASKED[question].why(evidence)
        return Claim(question, "overall", "untested", reason=reason)
    if question == "groups":
        known = _of_groups(known) or known
    worst = worst_first(known, few(evidence))[0]
    if question == "groups":
        return replace(worst, scope="overall")
    # By each horizon the sites are pooled by themselves; all of them together stand as the gravest of these.
    of_each = gathered((claim.at.get("horizon"), claim) for claim in known).values()
    each = (_pooled(evidence, question, worst_first(some, few(evidence))[0], some) for some in of_each)
    failed = {claim.limit_source for claim in known if (claim.scope, claim.state) == ("hospital", "against")}
    is_mean = "declared" not in failed and worst.limit_source == "default"
    pooled = [found for found in each if found is not None] if is_mean else []
    if pooled:
        return replace(worst_first(pooled)[0], worst=worst.dataset)
    # It is what the worst says, without its number.
    why = worst.reason if all(claim.limit == (None, None) for claim in known) else None
    bare = replace(worst, value=None, low=None, high=None, p_adjusted=None, needs_n=None, alone=None)
    return replace(bare, scope="overall", dataset=types.POOLED, worst=worst.dataset, reason=why)


def _pooled(evidence: types.Evidence, question: Question, worst: Claim, every: Sequence[Claim]) -> Claim | None:
    """The claim of a measure over all hospitals; None where none is pooled."""
    if question not in ("benefit", "calibration", "discrimination") or worst.limit_source != "default":
        return None
    found = _of_all(evidence, str(worst.measure), worst.at)
    if isinstance(found, types.Absent):
        return None
    state = multiplicity.better(found, *worst.limit)
    if question == "calibration":
        ratio, slope, test = (_of_all(evidence, name, worst.at) for name in flags.CALIBRATION)
        state = multiplicity.calibration(ratio, slope, test)
    # A mean holds nothing of one that it leaves out, nor of one whose own number holds at no time. Of so few hospitals
    # that nobody knows how they vary, one that is shown to fail or to be off is not averaged away either.
    is_off = worst.state == "against" or any(map(is_off_by_an_open_amount, every))
    left = {fact["name"] for fact in found.method.facts if fact.code == "site" and fact.get("why")}
    hidden = any(claim.state == "against" and claim.dataset in left for claim in every)
    hidden |= any(claim.state != "shown" and binding.is_turning(evidence, claim.dataset) for claim in every)
    state = "open" if state == "shown" and (hidden or (found.method.has("stratified") and is_off)) else state
    return _claim(question, "overall", found, measure=worst.measure, at=worst.at, limit=worst.limit, state=state)


def _of_all(evidence: types.Evidence, measure: str, at: types.At) -> types.Estimate | types.Absent:
    """A measure over all hospitals: pooled, or of few of them stratified."""
    found = types.find(evidence, measure, types.POOLED, **at)
    stratified = types.find(evidence, measure, types.POOLED, **at, estimator="stratified")
    return stratified if isinstance(found, types.Absent) else found


def _goodness(claim: Claim) -> float:
    """How far a value lies on the good side of its limit, on the bad one below 0; of a group in margins.

    Of other models, which are compared by several measures, in widths of the interval.
    """
    least, most = claim.limit
    if claim.value is None or claim.limit == (None, None):
        return claim.value or 0.0
    if _is_beside_others(claim) and most:
        if claim.measure != between_groups.RATIO:
            return claim.value / most
        return -abs(math.log(claim.value)) / math.log(most) if claim.value > 0 else -math.inf
    if least is not None and most is not None:
        return -abs(math.log(claim.value)) if least > 0 and claim.value > 0 else -abs(claim.value)
    wide = claim.question == "comparators" and None not in (claim.low, claim.high)
    width = (claim.high or 0.0) - (claim.low or 0.0) if wide else 1.0
    return (claim.value - least if least is not None else (most or 0.0) - claim.value) / (width or 1.0)


def is_better_after_all_looks(claim: Claim) -> bool:
    """Whether the model is the better one by the test too that would have to accuse it."""
    return claim.state == "shown" and claim.p_adjusted is not None and claim.p_adjusted <= multiplicity.OF_DIFFERENCES


def is_off_by_an_open_amount(claim: Claim) -> bool:
    """Whether risks are shown not to be right in size, and not whether by more than is tolerated."""
    is_sure = claim.p_adjusted is not None and claim.p_adjusted <= multiplicity.LEVEL
    return claim.question == "calibration" and claim.state == "open" and is_sure


def is_off_at(evidence: types.Evidence, dataset: str, risk: float, observed: tuple[float, float, float]) -> bool:
    """Whether one risk is shown to be off: `observed`, a share with its interval, leaves it out, and the risks of the
    hospital are shown not to be right in size, if only by an open amount.
    """
    # The risk is one by the first horizon.
    every = (claim for claim in about(evidence, "calibration", "hospital") if "horizon" not in claim.at)
    here = [claim for claim in every if claim.dataset == dataset]
    is_off = any(standing(evidence, claim) == "against" or is_off_by_an_open_amount(claim) for claim in here)
    return is_off and bool(multiplicity.at_risk(risk, *observed)[0])


def looks_worse(claim: Claim) -> bool:
    """Whether the whole interval lies on the bad side of the limit, or of no difference from the others of a group.

    Chance may explain it among all looks.
    """
    least, most = claim.limit
    if _is_beside_others(claim):
        least, most = (1.0, 1.0) if claim.measure == between_groups.RATIO else (0.0, None)
    return claim.state == "open" and bands.is_outside(claim.low, claim.high, least, most)


def _is_beside_others(claim: Claim) -> bool:
    """Whether a group is held against the other patients, by a margin of ours."""
    return claim.question == "groups" and claim.limit_source == "default"


def worst_first(every: Sequence[Claim], few: Collection[str] = ()) -> list[Claim]:
    """Claims of one question: shown not to hold, looks worse, open, untested, shown; the lowest number first.

    Among equals those of datasets of few patients come last, as their numbers lie anywhere, where something is asked of
    them and they are not shown to fail; and a group at a single hospital comes after one over all of them. Of what
    other models are better in, what matters most to patients comes first; of risks, which lie farthest from what
    happened, where that is known of all that stand alike.
    """
    measures = list(multiplicity.BESIDE_RIVALS)
    at_hospitals = [claim for claim in every if claim.question == "calibration" and claim.scope == "hospital"]
    no_distance = {claim.state for claim in at_hospitals if claim.value is not None and claim.distance is None}

    def order(claim: Claim) -> tuple[float | bool, ...]:
        is_worse = looks_worse(claim)
        is_single = _is_beside_others(claim) and claim.dataset != types.POOLED
        is_vague = claim.dataset in few and claim.state != "against" and claim.limit != (None, None)
        is_better = claim.measure in measures and (is_worse or claim.state == "against")
        matters = measures.index(claim.measure or "") if is_better else 0
        far = None if claim.state in no_distance else claim.distance
        return claim.harm, not is_worse, is_single, is_vague, matters, _goodness(claim) if far is None else -far

    return sorted(every, key=order)


def by_harm(evidence: types.Evidence) -> Mapping[tuple[object, ...], int]:
    """The rank of each `place` by the size of its risks, the gravest first."""
    every = dict.fromkeys(map(place, worst_first(about(evidence, "calibration", "hospital"))))
    return {each: number for number, each in enumerate(every)}


def few(evidence: types.Evidence) -> frozenset[str]:
    """The hospitals whose numbers lie anywhere."""
    return frozenset(site.name for site in types.externals(evidence) if site.is_few)


def asked_again(evidence: types.Evidence, criterion: types.Criterion) -> types.State:
    """How a criterion of the last release stands by what is found now, though nobody declares it any more."""
    if criterion.subset is None:
        found = types.find(evidence, criterion.measure, criterion.dataset, **criterion.at)
    else:
        found = types.find_in_subgroup(evidence, criterion.subset, criterion.measure, criterion.dataset, **criterion.at)
    return multiplicity.held(found, criterion.at_least, criterion.at_most)


def after_update(evidence: types.Evidence, dataset: str, model: str) -> types.State:
    """Whether risks are shown to be right in size after an update, or not to be: by O/E and the slope it leaves."""
    ratio, slope = _left_by(evidence, dataset, model)
    if isinstance(ratio, types.Absent):
        return multiplicity.held(ratio, None, None)
    state = multiplicity.calibration(ratio, slope, types.Absent(Fact("not_estimated")))
    # What is right on average after an update is not right at any time where the risks turn.
    return "open" if state == "shown" and binding.is_turning(evidence, dataset) else state


def _left_by(evidence: types.Evidence, dataset: str, model: str) -> tuple[types.Estimate | types.Absent, ...]:
    """The O/E and the slope that an update leaves.

    O/E is that of patients whom the update has not seen. A new intercept leaves the slope; a new slope is 1 here, and
    may be off elsewhere by as much as the old one is not known.
    """
    ratio = types.find(evidence, "oe_ratio", dataset, model=model)
    slope = types.find(evidence, "calibration_slope", dataset)
    changed = types.find(evidence, "updated_slope", dataset, model=model)
    if isinstance(slope, types.Estimate) and isinstance(changed, types.Estimate) and slope.value > 0:
        low, high = (None if end is None else end / slope.value for end in (slope.low, slope.high))
        slope = replace(slope, value=1.0, low=low, high=high)
    return ratio, slope


# ---- reading ---------------------------------------------------------------------------------------------------------


def of(evidence: types.Evidence) -> tuple[Claim, ...]:
    """Every claim of the evidence, the gravest first; made once, as its indices are."""
    kept: dict[str, tuple[Claim, ...]] = vars(evidence)
    if REGISTER not in kept:
        kept[REGISTER] = made(evidence)
    return kept[REGISTER]


REGISTER = "register of claims"


def counted(evidence: types.Evidence, question: Question) -> list[Claim]:
    """What a page counts of a question: at the primary threshold and what is against it at others, against a declared
    limit where there is one.
    """
    every = [claim for claim in about(evidence, question) if claim.scope != "overall" and claim.limit_source != "maker"]
    harm = ("benefit", "against")
    if question == "since_last_release":
        # Every threshold was looked at; a goal is of a change that is a look too, and the graver of both counts.
        graver_last = reversed(worst_first(every))
        return list(
            {(each.measure, each.dataset, each.subset, *each.at.items()): each for each in graver_last}.values()
        )
    here = [each for each in every if is_primary(evidence, each) or (each.question, each.state) == harm] or every
    if any(claim.question == "groups" and claim.dataset == types.POOLED for claim in here):
        here = _of_groups(here)
    # A goal of one group takes the place of no comparison with the others.
    asked = {_asks_of(claim) for claim in here if claim.limit_source == "declared" and claim.subset is None}
    return [claim for claim in here if claim.subset is not None or not _is_replaced(claim, asked)]


def _of_groups(every: Sequence[Claim]) -> list[Claim]:
    """What counts of groups: over all hospitals, what was declared, and what is against one at a single hospital."""
    return [
        claim
        for claim in every
        if claim.dataset == types.POOLED or claim.limit_source == "declared" or claim.state == "against"
    ]


def standing(evidence: types.Evidence, claim: Claim) -> types.State:
    """How a claim stands for the reader: at one's own hospital, where there is one, as a family of its own."""
    is_own = claim.alone is not None and claim.dataset == evidence.local_site
    return claim.alone if is_own and claim.alone is not None else claim.state


def place(claim: Claim) -> tuple[object, ...]:
    """The dataset of a claim, with what of `Release.each_outcome` its settings name."""
    return claim.dataset, *(value for name, value in claim.at.items() if name in flags.OUTCOMES)


def about(evidence: types.Evidence, question: Question, scope: Scope | None = None) -> tuple[Claim, ...]:
    """The claims to a question, of one scope where that is named, the gravest first."""
    return tuple(claim for claim in of(evidence) if claim.question == question and scope in (None, claim.scope))
