"""What is wrong with [[acceptance]], [[reply]] and minima: they must name what can be computed and raised here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from dossier.errors import Fault
from dossier.flags import FLAGS
from dossier.reading.faults import listed, nearest, number, shown
from dossier.release import NOT_RIVALS, Acceptance, Release
from dossier.types import MACRO, POOLED, RIVAL, Subset, Term

if TYPE_CHECKING:
    from dossier.register import Metric

EVERYWHERE = ("each external", "pooled")
BESIDE = ("against", "class", "estimator", "group", "model")
"""Settings that a criterion may name although the measure does not run over them by itself."""


def faults(release: Release, datasets: Sequence[str], subsets: Sequence[Subset] | None) -> list[Fault]:
    """The faults of every criterion and declared minimum.

    `datasets` are the names of the datasets that were read, `subsets` those of their subgroups; None where a table
    could not be read, so that nobody knows them.
    """
    if not release.acceptance and not release.robustness.minimum:
        return []
    from dossier.register import fill

    register = fill("metrics")
    compared = {name: metric for name, metric in register.metrics.items() if RIVAL in metric.fixed.values()}
    over_sites = {metric.term.name for metric in register.metrics.values() if metric.pool is not None}
    every = [one.term for one in register.metrics.values()] + [one.term for one in register.syntheses.values()]
    terms: dict[str, list[Term]] = {}
    for term in every:
        # The measure itself first: its differences and tests are filed under the same name.
        terms.setdefault(term.measure, []).insert(0 if term.name == term.measure else len(every), term)
    return [
        *(
            fault
            for place, one in enumerate(release.acceptance, start=1)
            for fault in (
                *_of(one, f"release.toml, [[acceptance]] {place}", release, datasets, terms, over_sites),
                *_of_rival(one, f"release.toml, [[acceptance]] {place}", release, compared),
                *_of_subset(one, f"release.toml, [[acceptance]] {place}, subset", release, subsets),
            )
        ),
        *(
            fault
            for measure, value in release.robustness.minimum.items()
            for fault in _beyond_the_range(measure, value, terms[measure][0], "release.toml, [robustness] minimum")
        ),
    ]


def reply_faults(release: Release, datasets: Sequence[str]) -> list[Fault]:
    """The faults of every answer to a flag."""
    found: list[Fault] = []
    for place, one in enumerate(release.reply, start=1):
        where = f"release.toml, [[reply]] {place}"
        if not is_flag(one.flag):
            found.append(no_flag(one.flag, f"{where}, flag"))
        if one.dataset is not None and one.dataset not in (POOLED, *datasets):
            near = nearest(one.dataset, (POOLED, *datasets))
            fix = f'Did you mean "{near}"?' if near else f"Name one of {listed((POOLED, *datasets), most=30)}."
            found.append(Fault(f"{one.dataset} is not a dataset of this release.", f"{where}, dataset", fix))
    return found


def is_flag(name: str) -> bool:
    """Whether a run can raise a flag of this name."""
    return name in FLAGS


def no_flag(name: str, where: str) -> Fault:
    """The fault of a name that is no flag's, with the nearest that is one."""
    near = nearest(name, FLAGS)
    fix = f"Did you mean {near}?" if near else f"The flags are {listed(FLAGS, most=60)}."
    return Fault(f"{name} is not a flag.", where, fix)


def _of(
    one: Acceptance,
    where: str,
    release: Release,
    datasets: Sequence[str],
    terms: dict[str, list[Term]],
    over_sites: Set[str],
) -> Iterator[Fault]:
    known = terms.get(one.measure)
    if known is None:
        near = nearest(one.measure, terms)
        fix = f"Did you mean {near}?" if near else f"The measures are {listed(sorted(terms), most=80)}."
        yield Fault(f"{one.measure} is not a measure.", f"{where}, measure", fix)
    else:
        yield from _of_tier(one, where, known, over_sites)
        yield from _of_settings(one, where, release, known)
        yield from _of_mean(one, where)
        if one.at.get("against") not in NOT_RIVALS:
            for key, bound in (("at_least", one.at_least), ("at_most", one.at_most)):
                yield from _beyond_the_range(f"{key} of {one.measure}", bound, known[0], f"{where}, {key}")
    if one.dataset not in (*EVERYWHERE, *datasets):
        near = nearest(one.dataset, (*EVERYWHERE, *datasets))
        fix = f'Did you mean "{near}"?' if near else f"Name one of {listed((*EVERYWHERE, *datasets), most=30)}."
        yield Fault(f"{one.dataset} is not a dataset of this release.", f"{where}, dataset", fix)
    yield from _of_bounds(one, where)


def _beyond_the_range(what: str, value: float | None, term: Term, where: str) -> Iterator[Fault]:
    """A bound that no value can fail, or that none can meet."""
    low, high = term.range
    if value is None or ((low is None or value >= low) and (high is None or value <= high)):
        return
    ends = " and ".join(
        f"{word} {number(end)}" for word, end in (("at least", low), ("at most", high)) if end is not None
    )
    fix = f"Give a number inside that range{', not per cent' if high == 1 and value > 1 else ''}."
    yield Fault(f"{what} is {number(value)}, and {term.measure} is always {ends}.", where, fix)


def _of_subset(one: Acceptance, where: str, release: Release, subsets: Sequence[Subset] | None) -> Iterator[Fault]:
    if one.subset is None:
        return
    columns = [declared.column for declared in release.subgroup]
    if not columns:
        fix = "Declare its column in a [[subgroup]], or take subset out."
        yield Fault(f"The release declares no subgroups, and so not {one.subset}.", where, fix)
    elif subsets is not None and one.subset not in subsets:
        known = {str(subset): subset for subset in subsets}
        near = nearest(str(one.subset), known)
        fix = (
            f"Did you mean {_as_written(known[near])}?"
            if near
            else f"The subgroups are {listed(sorted(known), most=30)}."
        )
        yield Fault(f"{one.subset} is not a subgroup of this release.", where, fix)


def _as_written(subset: Subset) -> str:
    return f'{{ column = "{subset.column}", level = "{subset.level}" }}'


def _of_rival(one: Acceptance, where: str, release: Release, compared: Mapping[str, Metric]) -> Iterator[Fault]:
    """A difference from the rival names the rival, and the rival's name stands with nothing but differences."""
    label, against = release.prediction.rival_label, one.at.get("against")
    has_rival = release.prediction.rival is not None or release.prediction.rivals is not None
    if one.measure in compared and "against" in compared[one.measure].fixed:
        if not has_rival:
            fix = "Name the column of its risks as [prediction] rival, or take the criterion out."
            yield Fault(
                f"{one.measure} compares with a rival, and the release names no other model.", f"{where}, measure", fix
            )
        elif against != label:
            fix = f'Add at = {{ against = "{label}" }}.'
            yield Fault(f'{one.measure} does not name the rival, "{label}".', f"{where}, at", fix)
    elif against is not None and against not in NOT_RIVALS:
        difference = f"{one.measure}_difference"
        other = f"Name {difference} as the measure." if difference in compared else "Take it out."
        yield Fault(f'{one.measure} is not compared with "{against}".', f"{where}, at", other)


def _of_tier(one: Acceptance, where: str, known: Sequence[Term], over_sites: Set[str]) -> Iterator[Fault]:
    if known[0].tier == "caution" and one.caution_reason is None:
        fix = f"Judge by {known[0].counterpart or 'a core measure'}, or say why in caution_reason, which is printed."
        yield Fault(f"{one.measure} calls for caution and decides nothing by itself.", f"{where}, measure", fix)
    judges = known[0].tier in ("core", "supporting", "caution") or known[0].name in over_sites
    if not judges and one.reason is None:
        fix = "Say why in reason, which is printed, or judge by a core or supporting measure."
        yield Fault(f"{one.measure} is neither a core nor a supporting measure.", f"{where}, measure", fix)


def _of_settings(one: Acceptance, where: str, release: Release, known: Sequence[Term]) -> Iterator[Fault]:
    possible = {name for term in known for name in term.at} | set(BESIDE)
    for name in one.at:
        if name not in possible:
            fix = (
                f"The settings of {one.measure} are {listed(sorted(possible - set(BESIDE)))}."
                if (possible - set(BESIDE))
                else "Take it out."
            )
            yield Fault(f"{one.measure} does not depend on {name}.", f"{where}, at", fix)
    needed = known[0].at
    for name in (name for name in needed if name not in one.at and name != "group"):
        yield Fault(f"{one.measure} depends on {name}.", f"{where}, at", f"Add at = {{ {name} = … }}.")
    asked = one.at.get("threshold")
    if asked is not None and "threshold" in needed and asked not in release.thresholds.declared:
        declared = listed([number(value) for value in release.thresholds.declared]) or "none"
        fix = f"Declare it in [thresholds]; declared: {declared}."
        yield Fault(f"The threshold {shown(asked)} is not declared.", f"{where}, at", fix)


def _of_mean(one: Acceptance, where: str) -> Iterator[Fault]:
    """A mean over the classes that no number is made of."""
    from dossier.register import REGISTER

    metric = REGISTER.metrics.get(one.measure)
    if one.at.get("class") == MACRO and metric is not None and metric.against_rest == "by class":
        fix = "Name the class that it is about, in a criterion for each."
        yield Fault(f"{one.measure} has no mean over the classes.", f"{where}, at", fix)


def _of_bounds(one: Acceptance, where: str) -> Iterator[Fault]:
    if one.at_least is None and one.at_most is None:
        fix = "Add at_least = … or at_most = … or both."
        yield Fault("The criterion names no bound.", where, fix)
    elif one.at_least is not None and one.at_most is not None and one.at_least > one.at_most:
        fix = "Write the smaller number in at_least."
        yield Fault(
            f"at_least is {number(one.at_least)}, above at_most, {number(one.at_most)}.", f"{where}, at_least", fix
        )
