"""Criteria that were declared beforehand, held against the interval of what was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from dossier.core import claims, errors, multiplicity, types
from dossier.core.facts import Fact, Value
from dossier.core.faults.locations import listed_table
from dossier.core.release import Acceptance
from dossier.typeset.reasons import reason_text

EACH_EXTERNAL = "each external"
"""What a criterion says in place of a dataset when every external dataset must meet it."""

TIERS = ("core", "supporting")
"""The measures that are offered where a criterion cannot be judged, the first before the others."""


def judged(
    declared: Sequence[Acceptance], datasets: Sequence[types.DatasetSummary], results: Sequence[types.Result]
) -> tuple[types.Criterion, ...]:
    """Every criterion at every dataset that it names, in the order of the release; withheld at one that is."""
    below = max([types.FEWEST_PATIENTS, *(dataset.minimum_cell for dataset in datasets)])
    known, gone = _known(datasets), types.Withheld(Fact("fewer_persons", below=below), below)
    return tuple(
        _criterion(number, criterion, dataset, _found(criterion, dataset, results) if dataset in known else gone)
        for number, criterion in enumerate(declared, start=1)
        for dataset in _named(criterion, datasets)
    )


def against_before(declared: Acceptance, terms: Mapping[str, types.Term]) -> Acceptance:
    """A criterion of how much worse a measure may be than before, as bounds of its difference from then."""
    if declared.than is None or declared.not_worse_by is None:
        return declared
    higher = terms[declared.measure].best == "higher"
    bounds = {"at_least": -declared.not_worse_by} if higher else {"at_most": declared.not_worse_by}
    return declared.model_copy(update={"at": {**declared.at, "against": declared.than}, **bounds})


def _named(declared: Acceptance, datasets: Sequence[types.DatasetSummary]) -> Iterator[str]:
    if declared.dataset == EACH_EXTERNAL:
        yield from (dataset.name for dataset in datasets if dataset.role == "external")
    else:
        yield declared.dataset


def _known(datasets: Sequence[types.DatasetSummary]) -> Set[str]:
    """What a criterion may name; a dataset that is withheld whole is not among them."""
    return {types.POOLED, types.READER_STUDY, *(dataset.name for dataset in datasets)}


def _criterion(
    number: int, declared: Acceptance, dataset: str, found: types.Estimate | types.Absent
) -> types.Criterion:
    observed = found if isinstance(found, types.Absent) else _number(found, declared)
    return types.Criterion(
        number=number,
        measure=declared.measure,
        dataset=dataset,
        subset=declared.subset,
        at=declared.at,
        bound=declared.bound,
        at_least=declared.at_least,
        at_most=declared.at_most,
        observed=None if isinstance(observed, types.Absent) else observed,
        state=multiplicity.held(found, declared.at_least, declared.at_most),
        reason=(observed if isinstance(observed, types.Absent) else found).reason,
    )


def _found(declared: Acceptance, dataset: str, results: Sequence[types.Result]) -> types.Estimate | types.Absent:
    """The estimate that the criterion is about, or why there is none."""
    return next(
        (
            multiplicity.than_before(result.found) if "against" in declared.at else result.found
            for result in results
            if result.measure == declared.measure
            and result.dataset == dataset
            and result.subset == declared.subset
            and dict(result.at) == dict(declared.at)
        ),
        types.Absent(_not_computed(declared, dataset)),
    )


def _number(found: types.Estimate, declared: Acceptance) -> float | types.Absent:
    if declared.bound == "value":
        return found.value
    bound = found.low if declared.bound == "low" else found.high
    side = "lower" if declared.bound == "low" else "upper"
    return types.Absent(found.reason or Fact("no_bound", side=side)) if bound is None else bound


def _not_computed(declared: Acceptance, dataset: str) -> Fact:
    at = Fact("at_settings", settings=settings) if (settings := listed(declared)) else None
    if dataset == types.POOLED:
        return Fact("criterion_not_computed_over_all_sites", measure=declared.measure, settings=at)
    return Fact("criterion_not_computed", measure=declared.measure, dataset=dataset, settings=at)


def listed(declared: Acceptance | types.Criterion | types.Result | claims.Claim) -> tuple[str, ...]:
    """The subgroup and the settings, one by one."""
    subset = () if declared.subset is None else (str(declared.subset),)
    return (*subset, *(f"{name} {value}" for name, value in declared.at.items()))


# ---- what can never be judged ---------------------------------------------------------------------------------------


def never_estimated(
    declared: Sequence[Acceptance],
    datasets: Sequence[types.DatasetSummary],
    results: Sequence[types.Result],
    terms: Iterable[types.Term] = (),
    resampled: Set[str] = frozenset(),
) -> tuple[tuple[errors.Fault, ...], tuple[types.Flag, ...]]:
    """The criteria that no dataset which they name allows, as faults, and the datasets that do not allow one, as flags.

    `terms` are the measures that may be offered instead, `resampled` those whose intervals may still come: of these
    only the value decides. What is withheld is estimated, and a dataset that is withheld whole is not looked at.
    """
    known, faults = _known(datasets), list[errors.Fault]()
    # The estimates that a criterion may be about, core measures first; and whether another measure's may be offered.
    # None of a development table, which are apparent, and no test.
    apparent = {dataset.name for dataset in datasets if dataset.role == "development"}
    ranks = {term.measure: TIERS.index(term.tier) for term in terms if term.tier in TIERS and term.chapter != "sample"}
    own = [each for each in results if isinstance(each.found, types.Estimate) and each.dataset not in apparent]
    offered = [(each, each.measure in ranks) for each in own if "against" not in each.at]
    offered.sort(key=lambda pair: ranks.get(pair[0].measure, len(TIERS)))
    flags: list[types.Flag] = []
    for number, criterion in enumerate(declared, start=1):
        if criterion.than is not None:
            continue  # the previous release is not looked at before all else is known
        named = [dataset for dataset in _named(criterion, datasets) if dataset in known]
        why = {dataset: _never(criterion, dataset, results, resampled) for dataset in named}
        absent = {dataset: found for dataset, found in why.items() if found is not None}
        if absent and len(absent) == len(named):
            faults.append(
                errors.Fault(
                    "never_estimated",
                    listed_table("acceptance", number),
                    asked=" at ".join(text for text in (criterion.measure, ", ".join(listed(criterion))) if text),
                    dataset=criterion.dataset,
                    reasons=tuple(dict.fromkeys(reason_text(found.reason) for found in absent.values())),
                    mend=_instead(criterion, set(absent), offered),
                )
            )
            continue
        at = listed(criterion)
        where = Fact("criterion_settings", settings=at) if at else None
        for dataset, found in absent.items():
            site, gap = next((each.site for each in datasets if each.name == dataset), dataset), found.reason
            about: dict[str, Value] = {"number": number, "measure": criterion.measure, "site": site, "reason": gap}
            flags.append(types.Flag.of(dataset, Fact("criterion_not_estimable", settings=where, **about)))
    return tuple(faults), tuple(flags)


def _never(
    criterion: Acceptance, dataset: str, results: Sequence[types.Result], resampled: Set[str]
) -> types.Absent | None:
    """Why a criterion is never estimated in a dataset; None where it may be."""
    found = _found(criterion, dataset, results)
    if isinstance(found, types.Absent):
        return None if isinstance(found, types.Withheld) else found
    number = _number(found, criterion)
    return number if isinstance(number, types.Absent) and criterion.measure not in resampled else None


def _instead(criterion: Acceptance, datasets: Set[str], offered: Sequence[tuple[types.Result, bool]]) -> Fact:
    """What may be asked in place of a criterion that can never be estimated."""
    same = [result for result, _ in offered if result.measure == criterion.measure]
    here = [result for result in same if result.dataset in datasets]
    asked = [result for result in same if result.subset == criterion.subset and dict(result.at) == dict(criterion.at)]
    settings = [_at(result.at) for result in here if result.subset == criterion.subset]
    measures = [
        result.measure
        for result, other in offered
        if other and result.dataset in datasets and result.subset == criterion.subset
    ]
    if any(result.dataset in datasets for result in asked):
        return Fact("ask_for_the_value")
    if asked:
        return Fact("ask_of_others", datasets=tuple(dict.fromkeys(result.dataset for result in asked)))
    if settings:
        return Fact("ask_with_others", settings=tuple(dict.fromkeys(settings)))
    if here:
        return Fact("ask_of_all_patients")
    if measures:
        return Fact("ask_for_others", measures=tuple(dict.fromkeys(measures)))
    return Fact("ask_for_nothing")


def _at(at: Mapping[str, float | str]) -> str:
    """The settings as release.toml says them."""
    values = [
        f"{name} = {value:g}" if isinstance(value, float) else f'{name} = "{value}"' for name, value in at.items()
    ]
    return f"at = {{ {', '.join(values)} }}" if values else "without at"
