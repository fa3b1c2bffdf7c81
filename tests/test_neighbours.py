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
from dossier.core.types import Absent, Dataset, Floats, Readers, Study
from dossier.evaluate import disclosure
from dossier.evaluate.disclosure import chains, descriptions, measures
from dossier.record import results
from tests.canaries import plant
from tests.conftest import RELEASES
from tests.reference.built import hurried

POLICY = "[disclosure]\nminimum_cell = 10\n"
STEPS = ("ranks", "mean", "fit", "ratio")
"""The protections of what is given in steps of a person: those are not functions of the ranges."""

PER_ROW = ("outcome", "risk", "rival", "split", "relevance", "cost", "benefit", "complexity", "cluster", "weights")
PER_ROW_OF_CLASSES = ("classes", "class_risk", "class_rival")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A release with a rival, readers, two columns of subgroups and small cells in every table."""
    folder = tmp_path_factory.mktemp("cells") / "release"
    plant(folder, POLICY)
    return reading.study(folder)


def protected(name: str) -> Study:
    """A release of ours under a policy."""
    study = hurried(reading.study(RELEASES[name]), bootstrap=5, permutations=5)
    return dataclasses.replace(
        study, datasets=tuple(dataclasses.replace(one, minimum_cell=10) for one in study.datasets)
    )


# ---- neighbours -----------------------------------------------------------------------------------------------------


def taken(one: Dataset, rows: Any) -> Dataset:
    """These rows of a dataset, a row as often as it is named."""
    columns: dict[str, Any] = {
        name: None if getattr(one, name) is None else getattr(one, name)[rows] for name in PER_ROW + PER_ROW_OF_CLASSES
    }
    return dataclasses.replace(
        one,
        rows_read=one.rows_read + len(rows) - one.rows_analysed,
        predictors=tuple(dataclasses.replace(each, values=each.values[rows]) for each in one.predictors),
        subgroups=tuple(
            each if isinstance(each.rows, Absent) else dataclasses.replace(each, rows=each.rows[rows])
            for each in one.subgroups
        ),
        further_rivals=tuple(
            dataclasses.replace(each, risk=None if each.risk is None else each.risk[rows])
            for each in one.further_rivals
        ),
        imputations=tuple(taken(each, rows) for each in one.imputations),
        original=None,
        **columns,
    )


def _ranges(study: Study, one: Dataset) -> tuple[object, ...]:
    """Every count of the dataset that leaves, as its range."""
    site = next(site for site in evaluate._sites(study) if site.dataset.name == one.name)
    policy = disclosure._Policy.of(dataclasses.replace(site, dataset=one))
    levels = {column: len(found) for column, found in disclosure._given_columns(policy.site).items()}
    found: list[object] = [policy.rows_each, policy.wide]
    if one.cluster is not None:
        found.append(chains.ranged(len(np.unique(one.cluster)), policy.wide))
    kinds = [np.ones(one.rows_analysed, dtype=bool)]
    if one.outcome is not None:
        kinds = [one.outcome == 0, one.outcome == 1]
    if one.classes is not None:
        kinds = [one.classes == place for place in range(len(one.class_labels))]
    groups = [kinds[0] | True, *(each.rows for each in one.subgroups if not isinstance(each.rows, Absent))]
    tails = [one.risk >= at for at in chains.grid(study.release.thresholds.declared)] if one.risk is not None else []
    for group in groups:
        for kind in kinds:
            found += [
                chains.ranged(int((group & kind & tail).sum()), policy.wide) for tail in tails or [kinds[0] | True]
            ]
    for each in one.predictors:
        told = len(each.levels or np.unique(each.values[~np.isnan(each.values)]))
        # The number of levels is that of the description, which may leave out those that nobody has.
        for of_all in {told + 1, 1, *range(2, min(told, 12) + 1)}:
            wide = chains.width(one.minimum_cell, [*levels.values(), of_all]) * policy.rows_each
            values = np.unique(each.values[~np.isnan(each.values)])[: 0 if told > 12 else None]
            counted = [int(np.isnan(each.values).sum()), *(int((each.values == value).sum()) for value in values)]
            found += [chains.ranged(count, wide) for count in counted]
    return tuple(found)


def _moved(column: Floats | None, at: tuple[float, ...], rng: np.random.Generator) -> Floats | None:
    """Every risk anywhere else between the same two of the grid."""
    if column is None:
        return None
    edges = np.array([*at, 1.0])
    place = np.clip(np.searchsorted(edges, column, side="right") - 1, 0, len(at) - 1)
    # Never the upper end, which belongs to the next.
    return np.asarray(edges[place] + (edges[place + 1] - edges[place]) * rng.uniform(0.001, 0.999, len(column)))


def neighbour(study: Study, one: Dataset, rng: np.random.Generator, most: int = 40) -> Dataset:
    """Other patients with the same ranges: risks elsewhere in their bins, values elsewhere, some patients more."""
    at = chains.grid(study.release.thresholds.declared)
    numbers = [
        dataclasses.replace(each, values=each.values * rng.uniform(0.9, 1.1))
        if each.levels is None and len(np.unique(each.values)) > 12
        else each
        for each in one.predictors
    ]
    # The risks of several classes add up to 1, and stay as those of the first rival do.
    others = () if one.class_labels else one.further_rivals
    others = tuple(dataclasses.replace(each, risk=_elsewhere(each.risk, rng)) for each in others)
    found = dataclasses.replace(one, predictors=tuple(numbers), rival=_elsewhere(one.rival, rng), further_rivals=others)
    if not one.imputations:
        found = dataclasses.replace(found, risk=_moved(one.risk, at, rng))
    before = _ranges(study, found)
    assert before == _ranges(study, one)
    rows = np.arange(one.rows_analysed)
    for row in rng.integers(0, one.rows_analysed, most):
        more = np.append(rows, row)
        if _ranges(study, taken(found, more)) == before:
            rows = more
    return taken(found, rows)


def _elsewhere(column: Floats | None, rng: np.random.Generator) -> Floats | None:
    return None if column is None else rng.random(len(column))


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
            one if one.rows_analysed < one.minimum_cell else neighbour(study, one, rng)
            for one in study.datasets
        ),
        readers=tuple(_other_readers(one, rng) for one in study.readers),
    )


def document(study: Study) -> dict[str, Any]:
    """results.json."""
    found: dict[str, Any] = json.loads(results.of(evaluate.evidence(study)).text())
    return found


def unlike(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Where two documents differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from unlike(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (each, with_it) in enumerate(zip(one, other, strict=True)):
            yield from unlike(each, with_it, f"{path}[{place}]")
    elif one != other:
        yield f"{path}: {one!s:.80} and {other!s:.80}"


@pytest.fixture
def without_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is given in steps, and quantiles, away: the rest must follow from the ranges."""
    for name in STEPS:
        monkeypatch.setitem(measures.RULES, name, measures.RULES["withheld"])
    monkeypatch.setattr(descriptions, "QUANTILES", {})


Change = Callable[[Study], Study]


def _of_large(**columns: Callable[[Dataset], Any]) -> Change:
    def change(study: Study) -> Study:
        datasets = tuple(
            dataclasses.replace(one, **{name: make(one) for name, make in columns.items()})
            if one.name == "large"
            else one
            for one in study.datasets
        )
        return dataclasses.replace(study, datasets=datasets)

    return change


KINDS: dict[str, Change] = {
    "a rival, readers and subgroups": lambda study: study,
    "clusters": _of_large(cluster=lambda one: np.arange(one.rows_analysed) // 2),
    "weights": _of_large(weights=lambda one: np.linspace(1, 3, one.rows_analysed)),
    "imputations": _of_large(
        imputations=lambda one: tuple(dataclasses.replace(one, risk=risks) for risks in (one.risk, one.rival))
    ),
}


@pytest.mark.parametrize(
    # Every measure without each of hundreds of clusters takes half a minute.
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] if kind == "clusters" else []) for kind in KINDS],
)
@pytest.mark.usefixtures("without_steps")
def test_other_patients_with_the_same_ranges_give_the_same_results(small: Study, kind: str) -> None:
    study = KINDS[kind](small)
    other = neighbouring(study, 20261123)
    assert any(
        len(a.subgroups) and a.rows_analysed != b.rows_analysed
        for a, b in zip(study.datasets, other.datasets, strict=True)
    )
    assert list(unlike(document(study), document(other))) == []


@pytest.mark.usefixtures("without_steps")
def test_the_same_neighbours_differ_where_nothing_is_protected(small: Study) -> None:
    """The control: the comparison sees what the ranges hide."""
    other = neighbouring(small, 20261123)
    free, with_it = (
        dataclasses.replace(study, datasets=tuple(dataclasses.replace(one, minimum_cell=0) for one in study.datasets))
        for study in (small, other)
    )
    told = list(unlike(document(free), document(with_it)))
    assert len(told) > 500


@pytest.mark.slow
@pytest.mark.parametrize("name", ["knee", "biopsy", "breast"])
@pytest.mark.usefixtures("without_steps")
def test_releases_of_ours_with_other_patients_give_the_same_results(name: str) -> None:
    study = protected(name)
    other = neighbouring(study, 20261123)
    assert any(a.rows_analysed != b.rows_analysed for a, b in zip(study.datasets, other.datasets, strict=True))
    assert list(unlike(document(study), document(other))) == []
