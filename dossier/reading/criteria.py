"""What is wrong with [[acceptance]], [[reply]] and minima: they must name what can be computed and raised here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from dossier.core import bands, facts, flags, living_text
from dossier.core.errors import Fault
from dossier.core.faults.locations import Key, Location, listed_table
from dossier.core.register import REGISTER, Metric, fill, terms_of
from dossier.core.release import NOT_RIVALS, Acceptance, Release
from dossier.core.types import MACRO, POOLED, RIVAL, Subset, Term, folded
from dossier.reading.faults import nearest
from dossier.words.wording import shown

EVERYWHERE = ("each external", "pooled")
BESIDE = ("against", "class", "estimator", "group", "model")
"""Settings that a criterion may name although the measure does not run over them by itself."""


def faults(release: Release, datasets: Sequence[str], subsets: Sequence[Subset] | None) -> Iterator[Fault]:
    """The faults of every criterion and declared minimum.

    `datasets` are the names of the datasets that were read, `subsets` those of their subgroups; None where a table
    could not be read, so that nobody knows them.
    """
    if not release.acceptance and not release.robustness.minimum:
        return
    register = fill("metrics")
    compared = {name: metric for name, metric in register.metrics.items() if RIVAL in metric.fixed.values()}
    over_sites = {metric.term.name for metric in register.metrics.values() if metric.pool is not None}
    every = [entry.term for shelf in (register.metrics, register.syntheses) for entry in shelf.values()]
    terms: dict[str, list[Term]] = {}
    for term in every:
        # The measure itself first: its differences and tests are filed under the same name.
        terms.setdefault(term.measure, []).insert(0 if term.name == term.measure else len(every), term)
    for index, criterion in enumerate(release.acceptance, start=1):
        where = listed_table("acceptance", index)
        yield from _of(criterion, where, release, datasets, terms, over_sites)
        yield from _of_rival(criterion, where, release, compared)
        yield from _named(criterion.subset, where.of("subset"), release, subsets)
    for measure, value in release.robustness.minimum.items():
        yield from _of_minimum(measure, value, terms[measure][0])


def text_faults(
    texts: Iterable[tuple[Location, str]], release: Release, datasets: Sequence[str], subsets: Sequence[Subset] | None
) -> Iterator[Fault]:
    """The faults of numbers that declared texts name."""
    held = [(where, text) for where, text in texts if "{" in text]
    if not held:
        return
    fill("metrics")
    terms = {term.measure: term for term in terms_of(release).values()}
    for where, text in held:
        for place in living_text.places(text):
            yield from _of_place(place, where, release, datasets, subsets, terms)
        for written, inside in living_text.others(text):
            if "@" in inside or inside in terms:
                yield Fault("no_number_named", where, place=written)


def _of_place(
    place: living_text.Place,
    where: Location,
    release: Release,
    datasets: Sequence[str],
    subsets: Sequence[Subset] | None,
    terms: Mapping[str, Term],
) -> Iterator[Fault]:
    term, known = terms.get(place.measure), (POOLED, *datasets)
    if term is None and place.measure not in living_text.COUNTS:
        near = _measure_meant(place.measure, {name: [each] for name, each in terms.items()})
        yield Fault("not_a_measure", where, name=place.measure, known=tuple(sorted(terms)), near=near)
    if place.dataset not in known:
        yield Fault("not_a_dataset", where, name=place.dataset, known=known, near=nearest(place.dataset, known))
    of_measure = () if term is None else term.at
    for name, level in place.settings.items():
        if name not in (*of_measure, *BESIDE) and subsets is not None and Subset(name, level) not in subsets:
            yield Fault("not_in_text", where, place=place.text, setting=f"{name}={level}")
    known_thresholds = release.thresholds.declared
    if "threshold" in of_measure and place.value("threshold") not in known_thresholds:
        known = tuple(f"{value:g}" for value in known_thresholds)
        yield Fault("no_threshold_in_text", where, place=place.text, known=known)


def correspondence_faults(release: Release, external: Mapping[str, Set[str]], development: Set[str]) -> Iterator[Fault]:
    """The faults of every [[declared_correspondence]]: of no external dataset, twice of one, or of what is computed.

    `external` are the predictors of each external dataset by its name, `development` those of the development data.
    """
    named: list[str] = []
    for index, correspondence in enumerate(release.declared_correspondence, start=1):
        where = listed_table("declared_correspondence", index)
        name, at = correspondence.dataset, where.of("dataset")
        if name not in external:
            yield Fault("not_external", at, name=name, known=tuple(external), near=nearest(name, external))
        elif name in named:
            yield Fault("correspondence_twice", at, dataset=name)
        elif external[name] & development:
            yield Fault("correspondence_computed", at, dataset=name)
        if correspondence.averaged is None and correspondence.psi is None:
            yield Fault("correspondence_without_value", where, dataset=name)
        named.append(name)


def reply_faults(release: Release, datasets: Sequence[str]) -> Iterator[Fault]:
    """The faults of every answer to a flag."""
    for index, reply in enumerate(release.reply, start=1):
        table = listed_table("reply", index)
        if reply.flag not in flags.FLAGS:
            near = nearest(reply.flag, flags.FLAGS)
            yield Fault("not_a_flag", table.of("flag"), name=reply.flag, known=tuple(flags.FLAGS), near=near)
        if reply.dataset is not None and reply.dataset not in (POOLED, *datasets):
            yield _no_dataset(reply.dataset, (POOLED, *datasets), table)


def _no_dataset(name: str, known: tuple[str, ...], table: Key) -> Fault:
    return Fault("not_a_dataset", table.of("dataset"), name=name, known=known, near=nearest(name, known))


def _of(
    criterion: Acceptance,
    where: Key,
    release: Release,
    datasets: Sequence[str],
    terms: dict[str, list[Term]],
    over_sites: Set[str],
) -> Iterator[Fault]:
    known = terms.get(criterion.measure)
    if known is None:
        near = _measure_meant(criterion.measure, terms)
        yield Fault("not_a_measure", where.of("measure"), name=criterion.measure, known=tuple(sorted(terms)), near=near)
    else:
        if "wish" in known[0].at:
            yield Fault("criterion_of_a_choice", where.of("measure"), measure=criterion.measure)
        if known[0].tier == "caution" and criterion.caution_reason is None:
            counterpart = known[0].counterpart or facts.Fact("core_measure")
            yield Fault("caution_decides", where.of("measure"), measure=criterion.measure, counterpart=counterpart)
        judges = known[0].tier in ("core", "supporting", "caution") or known[0].name in over_sites
        if not judges and criterion.reason is None:
            yield Fault("criterion_of_other_tier", where.of("measure"), measure=criterion.measure)
        yield from _of_settings(criterion, where, release, known)
        # A mean over the classes that no number is made of.
        metric = REGISTER.metrics.get(criterion.measure)
        if criterion.at.get("class") == MACRO and metric is not None and metric.against_rest == "by class":
            yield Fault("no_mean_of_classes", where.of("at"), measure=criterion.measure)
        if criterion.at.get("against") not in NOT_RIVALS:
            for key, bound in (("at_least", criterion.at_least), ("at_most", criterion.at_most)):
                yield from _beyond_the_range(f"{key} of {criterion.measure}", bound, known[0], where.of(key))
    if criterion.dataset not in (*EVERYWHERE, *datasets):
        yield _no_dataset(criterion.dataset, (*EVERYWHERE, *datasets), where)
    yield from _of_bounds(criterion, where, release, None if known is None else known[0])
    yield from _of_acceptable_accuracy(criterion, where, release)


def _of_bounds(criterion: Acceptance, where: Key, release: Release, term: Term | None) -> Iterator[Fault]:
    """What a criterion asks: at least one bound, in order, or how much worse than before it may be."""
    bounds = (criterion.at_least, criterion.at_least_from, criterion.at_most)
    if criterion.than is not None or criterion.not_worse_by is not None:
        # A criterion of how much worse than before needs both keys, no bounds, a previous release, and a direction.
        if criterion.than is None or criterion.not_worse_by is None or bounds != (None, None, None):
            yield Fault("half_a_comparison", where.of("not_worse_by"))
        elif release.release.previous is None:
            yield Fault("nothing_to_be_worse_than", where.of("than"))
        elif term is None or term.worse is None:
            yield Fault("worse_without_direction", where.of("measure"), measure=criterion.measure)
    elif bounds == (None, None, None):
        yield Fault("no_bound", where)
    elif criterion.at_least is not None and criterion.at_most is not None and criterion.at_least > criterion.at_most:
        yield Fault(
            "bounds_crossed", where.of("at_least"), least=float(criterion.at_least), most=float(criterion.at_most)
        )


def _measure_meant(name: str, terms: Mapping[str, Sequence[Term]]) -> str | None:
    """The measure that a name means: by its own name, its label, or what papers call it."""
    called = {
        _plain(word): measure
        for measure, (term, *_) in terms.items()
        for word in (measure, term.label, *term.also, *term.written)
    }
    near = nearest(_plain(name), called)
    return None if near is None else called[near]


def _plain(name: str) -> str:
    return " ".join(re.findall(r"\w+", folded(name.replace("_", " "))))


def _of_minimum(measure: str, value: float, term: Term) -> Iterator[Fault]:
    """A minimum that no value can fail, or that a model of no use reaches."""
    where = Key("robustness", "minimum")
    outside = tuple(_beyond_the_range(measure, value, term, where))
    yield from outside
    if not outside and not bands.gives_benefit(measure, value, bands.LARGEST_BRIER_OF_PREVALENCE):
        yield Fault("minimum_without_benefit", where, measure=measure, value=value)


def _beyond_the_range(bound: str, value: float | None, term: Term, where: Key) -> Iterator[Fault]:
    """A bound that no value can fail, or that none can meet."""
    low, high = term.range
    if value is None or ((low is None or value >= low) and (high is None or value <= high)):
        return
    ends = tuple(
        facts.Fact(code, limit=float(end))
        for code, end in (("greater_than_equal", low), ("less_than_equal", high))
        if end is not None
    )
    per_cent = facts.Fact("not_per_cent") if high == 1 and value > 1 else None
    of, number = term.measure, float(value)
    yield Fault("bound_outside_range", where, bound=bound, value=number, measure=of, ends=ends, per_cent=per_cent)


def severity_faults(release: Release, subsets: Sequence[Subset] | None) -> Iterator[Fault]:
    """The faults of severity weights of subgroups: which there are, and of one column, each once."""
    own = () if release.severity is None else release.severity.subgroup
    named = [Subset(subgroup.column, subgroup.level) for subgroup in own]
    for index, subset in enumerate(named, start=1):
        where = listed_table("severity.subgroup", index)
        if subset in named[: index - 1]:
            yield Fault("severity_twice", where, subset=str(subset))
        elif subset.column != named[0].column:
            # A patient of both would have two severities.
            yield Fault("severity_of_two_columns", where.of("column"), one=named[0].column, other=subset.column)
        else:
            yield from _named(subset, where, release, subsets)


def _named(subset: Subset | None, where: Key, release: Release, subsets: Sequence[Subset] | None) -> Iterator[Fault]:
    """The fault of a subgroup that there is not; `subsets` are those that were read."""
    if subset is None:
        return
    columns = [declared.column for declared in release.subgroup]
    if not columns:
        yield Fault("no_subgroups", where, subset=str(subset))
    elif subsets is not None and subset not in subsets:
        # None is suggested: what looks most like "over 50" is "under 50". Of a column that no table has its own fault
        # says enough.
        known = [other for other in subsets if other.column == subset.column or subset.column not in columns]
        if known:
            yield Fault("not_a_subgroup", where, subset=str(subset), known=tuple(sorted(map(str, known))))


def _of_rival(criterion: Acceptance, where: Key, release: Release, compared: Mapping[str, Metric]) -> Iterator[Fault]:
    """A difference from a rival names one, and a rival's name stands with nothing but differences."""
    labels, against = release.rivals_by_any_horizon, criterion.at.get("against")
    if criterion.measure in compared and "against" in compared[criterion.measure].fixed:
        if not labels:
            yield Fault("criterion_without_rival", where.of("measure"), measure=criterion.measure)
        elif against not in labels:
            at = where.of("at")
            yield Fault("criterion_names_no_rival", at, measure=criterion.measure, rivals=labels, rival=labels[0])
    elif against is not None and against not in NOT_RIVALS:
        difference = f"{criterion.measure}_difference"
        near = difference if difference in compared else None
        yield Fault("not_compared", where.of("at"), measure=criterion.measure, rival=against, near=near)


def _of_settings(criterion: Acceptance, where: Key, release: Release, known: Sequence[Term]) -> Iterator[Fault]:
    horizons = {each.at: each.thresholds for each in release.horizon}
    possible = {name for term in known for name in term.at} | set(BESIDE) | ({"horizon"} if horizons else set())
    for name in criterion.at:
        if name not in possible:
            known_settings = tuple(sorted(possible - set(BESIDE))) or None
            yield Fault("not_a_setting", where.of("at"), measure=criterion.measure, setting=name, near=known_settings)
    needed = known[0].at
    for name in (name for name in needed if name not in criterion.at and name != "group"):
        yield Fault("setting_missing", where.of("at"), measure=criterion.measure, setting=name)
    asked, by = criterion.at.get("threshold"), criterion.at.get("horizon")
    if horizons and by is not None and by not in horizons:
        yield Fault("horizon_not_declared", where.of("at"), horizon=shown(by), declared=tuple(horizons))
    thresholds = horizons.get(by, release.thresholds).declared if isinstance(by, float) else release.thresholds.declared
    if asked is not None and "threshold" in needed and asked not in thresholds:
        declared = tuple(thresholds) or facts.Fact("none")
        yield Fault("threshold_not_declared", where.of("at"), threshold=shown(asked), declared=declared)


def _of_acceptable_accuracy(criterion: Acceptance, where: Key, release: Release) -> Iterator[Fault]:
    """A bound that is the minimum acceptable accuracy needs one, stands alone and judges an accuracy."""
    if criterion.at_least_from is None:
        return
    at, minimum = where.of("at_least_from"), release.h_accuracy.acceptable
    if criterion.at_least is not None:
        yield Fault("at_least_twice", at)
    if not criterion.measure.endswith("accuracy"):
        yield Fault("minimum_of_accuracy", at, measure=criterion.measure)
    elif minimum is None:
        yield Fault("minimum_not_declared", at)
    elif criterion.at_most is not None and minimum.value > criterion.at_most:
        yield Fault("bounds_crossed", at, least=float(minimum.value), most=float(criterion.at_most))
