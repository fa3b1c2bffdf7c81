"""Random releases whose small counts other patients could have, too: of each, dossier prints the same to the byte."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from dossier import evaluate
from dossier.core.facts import Fact
from dossier.core.types import Absent, Dataset, Feature, Predicted, Previous, Readers, Study, Subgroup
from tests.attacker import SMALLEST, Attack
from tests.reference.built import hurried
from tests.test_neighbours import document, protected, taken, unlike
from tests.witnesses import Cell, left, others

AT = 0.3
"""A declared threshold."""
CUT = 45.0
"""Years, at the first quartile."""
KINDS = {
    "subgroups": 2,
    "readers and a previous release": 1,
    "several classes": 2,
    "a column cut from a variable that is a predictor": 2,
}
"""How many releases of each."""
FEWER = {("a column cut from a variable that is a predictor", 1): 5}
"""Of a cell in which the search ends before it has shown as many; whether others are possible it does not say."""
CASES = [(kind, seed) for kind, count in KINDS.items() for seed in range(count)]


@pytest.fixture(scope="module")
def whole(planted: Study) -> Study:
    return hurried(planted)


def patients(study: Study, rng: np.random.Generator, rows: int, each: int = 1) -> Study:
    """One hospital of random patients, with so many rows of each person."""
    of_person = np.repeat(np.arange(rows // each), each)
    score = rng.normal(rng.uniform(-1.2, 0.2), 1.3, rows // each)[of_person]
    happened = (rng.random(rows // each) < 1 / (1 + np.exp(-score[::each])))[of_person]
    levels = rng.choice(3, rows // each, p=rng.dirichlet((3, 3, 1)))[of_person]
    large = next(summary for summary in study.datasets if summary.name == "large")
    dataset = Dataset(
        name="large",
        role="external",
        site=large.site,
        rows_read=len(of_person),
        excluded={},
        outcome=happened.astype(float),
        risk=1 / (1 + np.exp(-score - rng.normal(0, 0.4, len(of_person)))),
        predictors=(
            Feature("ward", rng.choice(2, len(of_person), p=(0.97, 0.03)).astype(float), ("north", "south")),
            Feature("age", rng.uniform(30, 90, len(of_person)), None),
        ),
        subgroups=tuple(Subgroup("sex", name, levels == index) for index, name in enumerate("fm")),
        cluster=of_person if each > 1 else None,
        minimum_cell=SMALLEST,
    )
    return dataclasses.replace(study, datasets=(dataset,), readers=())


def unprotected(study: Study) -> Study:
    return dataclasses.replace(
        study, datasets=tuple(dataclasses.replace(dataset, minimum_cell=0) for dataset in study.datasets)
    )


def with_previous(study: Study, earlier: Study) -> Study:
    """A release of other patients before, made without a policy."""
    then = evaluate.evidence(unprotected(earlier))
    previous = Previous(
        file="previous.json",
        sha256="0" * 64,
        version="0.9.0",
        date=study.release.release.date,
        level=0.95,
        seed=1,
        thresholds=(0.3, 0.6),
        datasets=then.datasets,
        results=then.results,
        criteria=(),
        manifest=Absent(Fact("no_manifest")),
        predicted=Predicted.by(study.release),
    )
    return dataclasses.replace(study, previous=previous)


def of_classes(rng: np.random.Generator) -> Study:
    """A hospital of several classes, of one of which it has few."""
    study = protected("biopsy")
    dataset = next(each for each in study.datasets if each.role == "external" and each.classes is not None)
    assert dataset.classes is not None
    rarest = rng.integers(len(dataset.class_labels))
    rows = np.flatnonzero(dataset.classes != rarest)
    few = rng.choice(np.flatnonzero(dataset.classes == rarest), rng.integers(1, SMALLEST))
    large = dataclasses.replace(taken(dataset, np.concatenate([rng.choice(rows, 200), few])), name="large")
    return dataclasses.replace(study, datasets=(large,), readers=())


def made(kind: str, whole: Study, rng: np.random.Generator) -> Study:
    """A release of a kind."""
    if kind == "several classes":
        return of_classes(rng)
    study = patients(whole, rng, int(rng.integers(150, 400)))
    if kind == "a column cut from a variable that is a predictor":
        # The column of subgroups is a cut of age, which only the reader knows.
        (dataset,) = study.datasets
        young = dataset.predictors[1].values < CUT
        groups = (Subgroup("sex", "f", young), Subgroup("sex", "m", ~young))
        return dataclasses.replace(study, datasets=(dataclasses.replace(dataset, subgroups=groups),))
    if kind == "readers and a previous release":
        (dataset,) = study.datasets
        labels = (rng.random((dataset.rows_analysed, 3)) < 0.4).astype(float)
        readers = Readers("large", np.arange(len(labels)), labels, confidence=np.full(labels.shape, 0.75))
        return with_previous(dataclasses.replace(study, readers=(readers,)), patients(whole, rng, 150))
    return study


def cells(study: Study) -> Iterator[Cell]:
    """The small cells of a hospital."""
    (dataset,) = study.datasets
    if dataset.class_labels:
        every = [Cell({"classes": (index, index + 1)}) for index in range(len(dataset.class_labels))]
    else:
        attack = Attack(study, "large")
        edges = (*attack.at, 1.01)
        every = [Cell({"ward": (position, position + 1)}) for position in (0, 1)]
        # Of so few persons hardly ten are of an outcome and a subgroup.
        small = [cell for cell in attack.small() if dataset.cluster is None or not cell[1]]
        for label, where, held, _ in small:
            places = {column: attack.columns[column].index(level) for column, level in where.items()}
            of_level = {column: (float(position), position + 1.0) for column, position in places.items()}
            risks = {"risk": (edges[held.start], edges[held.stop])}
            every.append(Cell({"outcome": (label, label + 1), **risks, **of_level}))
    yield from (cell for cell in every if 0 < cell.count(dataset) < SMALLEST)


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_as_many_numbers_as_asked_for_are_shown_by_other_patients(whole: Study, kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, len(kind)])
    study = made(kind, whole, rng)
    every = list(cells(study))
    assert every
    shown = left(study, every[rng.integers(len(every))], seed)
    assert len(shown) >= FEWER.get((kind, seed), SMALLEST)


def test_without_a_policy_the_same_patients_print_something_else(whole: Study) -> None:
    """The control: it is the policy that makes them print the same."""
    study = patients(whole, np.random.default_rng(0), 200)
    (_, first), (_, other) = itertools.islice(others(study, next(cells(study)), 0), 2)
    assert document(first) == document(other)
    assert len(list(unlike(document(unprotected(first)), document(unprotected(other))))) > 50


@pytest.mark.parametrize("seed", range(3))
def test_between_the_ends_that_a_solver_finds_as_many_numbers_are_possible(whole: Study, seed: int) -> None:
    attack = Attack(patients(whole, np.random.default_rng(seed), 200), "large")
    small = attack.small()
    cell = small[np.random.default_rng(seed).integers(len(small))]
    for each in (attack, attack.with_ranks(1 - cell[0])):
        assert len(list(itertools.islice(each.possible(cell), SMALLEST))) == SMALLEST
