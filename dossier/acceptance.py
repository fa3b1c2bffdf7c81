"""Criteria that were declared beforehand, held against what was found: met, not met, or not estimable and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dossier.types import POOLED, Absent, Criterion, DatasetSummary, Estimate, Result

if TYPE_CHECKING:
    from dossier.release import Acceptance

EACH_EXTERNAL = "each external"
"""What a criterion says in place of a dataset when every external dataset must meet it."""


def judged(
    declared: Sequence[Acceptance], datasets: Sequence[DatasetSummary], results: Sequence[Result]
) -> tuple[Criterion, ...]:
    """Every criterion at every dataset that it names, in the order of the release."""
    return tuple(
        _criterion(number, one, dataset, results)
        for number, one in enumerate(declared, start=1)
        for dataset in _named(one, datasets)
    )


def _named(declared: Acceptance, datasets: Sequence[DatasetSummary]) -> Iterator[str]:
    if declared.dataset == EACH_EXTERNAL:
        yield from (dataset.name for dataset in datasets if dataset.role == "external")
    else:
        yield declared.dataset


def _criterion(number: int, declared: Acceptance, dataset: str, results: Sequence[Result]) -> Criterion:
    observed = _observed(declared, dataset, results)
    return Criterion(
        number=number,
        measure=declared.measure,
        dataset=dataset,
        subset=declared.subset,
        at=declared.at,
        bound=declared.bound,
        at_least=declared.at_least,
        at_most=declared.at_most,
        observed=None if isinstance(observed, Absent) else observed,
        met=None if isinstance(observed, Absent) else _is_met(observed, declared),
        reason=observed.reason if isinstance(observed, Absent) else None,
    )


def _observed(declared: Acceptance, dataset: str, results: Sequence[Result]) -> float | Absent:
    """The number that the criterion is about, or why there is none."""
    where = "all sites together" if dataset == POOLED else dataset
    found = next(
        (
            result.found
            for result in results
            if result.measure == declared.measure
            and result.dataset == dataset
            and result.subset == declared.subset
            and _same(result.at, declared.at)
        ),
        Absent(f"{declared.measure} is not computed for {where}{_settings(declared)}"),
    )
    if isinstance(found, Absent):
        return found
    return _number(found, declared)


def _number(found: Estimate, declared: Acceptance) -> float | Absent:
    if declared.bound == "value":
        return found.value
    bound = found.low if declared.bound == "low" else found.high
    side = "lower" if declared.bound == "low" else "upper"
    return Absent(found.reason or f"the interval has no {side} bound") if bound is None else bound


def _same(at: Mapping[str, float | str], asked: Mapping[str, float | str]) -> bool:
    return dict(at) == dict(asked)


def _settings(declared: Acceptance) -> str:
    subset = [] if declared.subset is None else [declared.subset]
    settings = [f"{name} {value}" for name, value in declared.at.items()]
    return f" at {', '.join([*subset, *settings])}" if subset or settings else ""


def _is_met(observed: float, declared: Acceptance) -> bool:
    least, most = declared.at_least, declared.at_most
    return (least is None or observed >= least) and (most is None or observed <= most)
