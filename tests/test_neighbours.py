"""Two sets of patients with the same ranges give one results.json, but for what is given in steps.

Every other file is printed from results.json, so that whoever reads all of them learns of the rest no more than the
ranges. `tests/test_protected.py` holds an integer solver against the ranges and the steps.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from dossier import evaluate, reading
from dossier.core.types import POOLED, Absent, Dataset, Floats, Periods, Readers, Study
from dossier.evaluate import disclosure
from dossier.evaluate.disclosure import chains, measures
from dossier.evaluate.offered import Site
from dossier.record import results
from tests.conftest import RELEASES
from tests.reference.built import hurried

STEPS = ("ranks", "mean", "fit", "ratio")
"""The protections of what is given in steps of a person: those are not functions of the ranges."""

PER_ROW = ("outcome", "risk", "rival", "split", "relevance", "cost", "benefit", "complexity", "cluster")
PER_ROW_OF_WEIGHTS = ("weights", "severity_group")
PER_ROW_OF_CLASSES = ("classes", "class_risk", "class_rival")


def protected(name: str) -> Study:
    """A release of ours under a policy."""
    study = hurried(reading.study(RELEASES[name]), bootstrap=5, permutations=5)
    # A criterion on what a policy keeps back is refused.
    asked = tuple(each for each in study.release.acceptance if each.dataset != POOLED)
    return dataclasses.replace(
        study,
        release=study.release.model_copy(update={"acceptance": asked}),
        datasets=tuple(dataclasses.replace(dataset, minimum_cell=10) for dataset in study.datasets),
    )


# ---- neighbours -----------------------------------------------------------------------------------------------------


def taken(dataset: Dataset, rows: Any) -> Dataset:
    """These rows of a dataset, a row as often as it is named."""
    periods = dataset.periods
    columns: dict[str, Any] = {
        name: None if getattr(dataset, name) is None else getattr(dataset, name)[rows]
        for name in (*PER_ROW, *PER_ROW_OF_WEIGHTS, *PER_ROW_OF_CLASSES)
    }
    return dataclasses.replace(
        dataset,
        rows_read=dataset.rows_read + len(rows) - dataset.rows_analysed,
        predictors=tuple(dataclasses.replace(each, values=each.values[rows]) for each in dataset.predictors),
        subgroups=tuple(
            each if isinstance(each.rows, Absent) else dataclasses.replace(each, rows=each.rows[rows])
            for each in dataset.subgroups
        ),
        further_rivals=tuple(
            dataclasses.replace(each, risk=None if each.risk is None else each.risk[rows])
            for each in dataset.further_rivals
        ),
        imputations=tuple(taken(each, rows) for each in dataset.imputations),
        original=None,
        periods=None if periods is None else dataclasses.replace(periods, of_row=periods.of_row[rows]),
        **columns,
    )


def _ranges(site: Site, dataset: Dataset) -> tuple[object, ...]:
    """Every count of the dataset that leaves, as its range."""
    policy = disclosure._Policy.of(dataclasses.replace(site, dataset=dataset))
    found: list[object] = [policy.rows_each, policy.wide]
    if dataset.cluster is not None:
        found.append(chains.ranged(len(np.unique(dataset.cluster)), policy.wide))
    kinds = [np.ones(dataset.rows_analysed, dtype=bool)]
    if dataset.outcome is not None:
        kinds = [dataset.outcome == 0, dataset.outcome == 1]
    if dataset.classes is not None:
        kinds = [dataset.classes == index for index in range(len(dataset.class_labels))]
    groups = [kinds[0] | True, *(each.rows for each in dataset.subgroups if not isinstance(each.rows, Absent))]
    at = chains.grid(site.release.thresholds.declared)
    tails = [kinds[0] | True] if dataset.risk is None else [dataset.risk >= each for each in at]
    for group in groups:
        for kind in kinds:
            found += [chains.ranged(int((group & kind & tail).sum()), policy.wide) for tail in tails]
    for each in dataset.predictors:
        differing = len(each.levels or np.unique(each.values[~np.isnan(each.values)]))
        values = np.unique(each.values[~np.isnan(each.values)])[: 0 if differing > 12 else None]
        counted = [int(np.isnan(each.values).sum()), *(int((each.values == value).sum()) for value in values)]
        found += [chains.ranged(count, policy.wide) for count in counted]
    return tuple(found)


def _moved(column: Floats | None, at: tuple[float, ...], rng: np.random.Generator) -> Floats | None:
    """Every risk anywhere else between the same two of the grid."""
    if column is None:
        return None
    edges = np.array([*at, 1.0])
    position = np.clip(np.searchsorted(edges, column, side="right") - 1, 0, len(at) - 1)
    # Never the upper end, which belongs to the next.
    return np.asarray(
        edges[position] + (edges[position + 1] - edges[position]) * rng.uniform(0.001, 0.999, len(column))
    )


def neighbour(study: Study, dataset: Dataset, rng: np.random.Generator, most: int = 40) -> Dataset:
    """Other patients with the same ranges: risks elsewhere in their bins, values elsewhere, some patients more."""
    at = chains.grid(study.release.thresholds.declared)
    numbers = [
        dataclasses.replace(each, values=each.values * rng.uniform(0.9, 1.1))
        if each.levels is None and len(np.unique(each.values)) > 12
        else each
        for each in dataset.predictors
    ]
    # The risks of several classes add up to 1, and stay as those of the first rival do.
    others = () if dataset.class_labels else dataset.further_rivals
    others = tuple(dataclasses.replace(each, risk=_elsewhere(each.risk, rng)) for each in others)
    found = dataclasses.replace(
        dataset,
        predictors=tuple(numbers),
        rival=_elsewhere(dataset.rival, rng),
        further_rivals=others,
        cost=_elsewhere(dataset.cost, rng),
        benefit=_elsewhere(dataset.benefit, rng),
        periods=_other_periods(dataset.periods, rng),
    )
    if not dataset.imputations:
        found = dataclasses.replace(found, risk=_moved(dataset.risk, at, rng))
    site = next(site for site in evaluate._sites(study) if site.dataset.name == dataset.name)
    before = _ranges(site, found)
    assert before == _ranges(site, dataset)
    rows = np.arange(dataset.rows_analysed)
    for row in rng.integers(0, dataset.rows_analysed, most):
        more = np.append(rows, row)
        if _ranges(site, taken(found, more)) == before:
            rows = more
    return taken(found, rows)


def _elsewhere(column: Floats | None, rng: np.random.Generator) -> Floats | None:
    return None if column is None else rng.random(len(column))


def _other_periods(periods: Periods | None, rng: np.random.Generator) -> Periods | None:
    """Patients of other days: no range counts those of a period, not even of how many periods there are."""
    if periods is None:
        return None
    earlier = rng.integers(0, 6, len(periods.of_row))
    return Periods(periods.unit, periods.of_row.max() - earlier, periods.days.max() - 91 * earlier)


def _other_readers(readers: Readers, rng: np.random.Generator) -> Readers:
    """Other labels, but the truth, which the dataset holds."""
    labels = np.where(np.isnan(readers.labels), np.nan, 1 - np.clip(readers.labels, 0, 1))
    sure = None if readers.confidence is None else rng.permuted(readers.confidence, axis=0)
    return dataclasses.replace(readers, labels=labels, confidence=sure)


def neighbouring(study: Study, seed: int) -> Study:
    """The release with other patients at every hospital."""
    rng = np.random.default_rng(seed)
    return dataclasses.replace(
        study,
        datasets=tuple(
            # Whether a dataset is left out whole is known: fewer than ten, or ten and more.
            dataset if dataset.rows_analysed < dataset.minimum_cell else neighbour(study, dataset, rng)
            for dataset in study.datasets
        ),
        readers=tuple(_other_readers(reader, rng) for reader in study.readers),
    )


def document(study: Study) -> dict[str, Any]:
    """results.json."""
    found: dict[str, Any] = json.loads(results.of(evaluate.evidence(study)).text())
    return found


def unlike(first: Any, other: Any, path: str = "") -> Iterator[str]:
    """Where two documents differ."""
    if isinstance(first, dict) and isinstance(other, dict) and first.keys() == other.keys():
        for key in first:
            yield from unlike(first[key], other[key], f"{path}.{key}")
    elif isinstance(first, list) and isinstance(other, list) and len(first) == len(other):
        for index, (each, with_it) in enumerate(zip(first, other, strict=True)):
            yield from unlike(each, with_it, f"{path}[{index}]")
    elif first != other:
        yield f"{path}: {first!s:.80} and {other!s:.80}"


@pytest.fixture
def without_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is given in steps away: the rest must follow from the ranges."""
    for name in STEPS:
        monkeypatch.setitem(measures.RULES, name, measures.RULES["withheld"])


Change = Callable[[Study], Study]


def _of_large(**columns: Callable[[Dataset], Any]) -> Change:
    def change(study: Study) -> Study:
        datasets = tuple(
            dataclasses.replace(dataset, **{name: make(dataset) for name, make in columns.items()})
            if dataset.name == "large"
            else dataset
            for dataset in study.datasets
        )
        return dataclasses.replace(study, datasets=datasets)

    return change


KINDS: dict[str, Change] = {
    "a rival, readers and subgroups": lambda study: study,
    "clusters": _of_large(cluster=lambda dataset: np.arange(dataset.rows_analysed) // 2),
    "weights": _of_large(weights=lambda dataset: np.linspace(1, 3, dataset.rows_analysed)),
    "imputations": _of_large(
        imputations=lambda dataset: tuple(
            dataclasses.replace(dataset, risk=risks) for risks in (dataset.risk, dataset.rival)
        )
    ),
}


@pytest.mark.parametrize(
    # Every measure without each of hundreds of clusters takes half a minute.
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] if kind == "clusters" else []) for kind in KINDS],
)
@pytest.mark.usefixtures("without_steps")
def test_other_patients_with_the_same_ranges_give_the_same_results(planted: Study, kind: str) -> None:
    study = hurried(KINDS[kind](planted))
    other = neighbouring(study, 20261123)
    assert any(
        len(a.subgroups) and a.rows_analysed != b.rows_analysed
        for a, b in zip(study.datasets, other.datasets, strict=True)
    )
    assert list(unlike(document(study), document(other))) == []


@pytest.mark.usefixtures("without_steps")
def test_the_same_neighbours_differ_where_nothing_is_protected(planted: Study) -> None:
    """The control: the comparison sees what the ranges hide."""
    other = neighbouring(planted, 20261123)
    free, with_it = (
        dataclasses.replace(
            study, datasets=tuple(dataclasses.replace(dataset, minimum_cell=0) for dataset in study.datasets)
        )
        for study in (planted, other)
    )
    differing = list(unlike(document(free), document(with_it)))
    assert len(differing) > 500


@pytest.mark.slow
@pytest.mark.parametrize("name", ["knee", "biopsy", "breast"])
@pytest.mark.usefixtures("without_steps")
def test_releases_of_ours_with_other_patients_give_the_same_results(name: str) -> None:
    study = protected(name)
    other = neighbouring(study, 20261123)
    assert any(a.rows_analysed != b.rows_analysed for a, b in zip(study.datasets, other.datasets, strict=True))
    assert list(unlike(document(study), document(other))) == []
