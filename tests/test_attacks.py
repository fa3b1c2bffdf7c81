"""What an audit computed back from printed numbers, each as a test: hospitals that differ in it print the same.

The hospital is built so that the count in question is the only one that moves. Nothing that is a function of the ranges
then moves, in results.json and in all that is printed from it; steps are held apart in `tests/test_protected.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dossier.core import types
from dossier.core.release import Severity, SeverityOfSubgroup
from dossier.evaluate.disclosure import chains
from tests.attacker import SMALLEST, Attack
from tests.test_neighbours import document, unlike, without_steps
from tests.test_witnesses import unprotected, with_previous

__all__ = ["without_steps"]

COUNTS = (0, 9)
"""Of ten that the range holds, the first and the last."""


@dataclasses.dataclass(frozen=True)
class Row:
    """A patient, as often as it is said."""

    times: int
    outcome: float
    risk: float
    sex: str = "f"
    rival: float = 0.5
    vendor: float = 0.5
    ward: float = 0.0
    """0 and 1 are wards, NaN none."""


def hospital(study: types.Study, rows: list[Row], **more: Any) -> types.Study:
    """The release with one dataset, of these patients."""
    large = next(summary for summary in study.datasets if summary.name == "large")
    every = [row for row in rows for _ in range(row.times)]
    sex = np.array([row.sex for row in every])
    dataset = types.Dataset(
        name="large",
        role="external",
        site=large.site,
        rows_read=len(every) + sum(more.get("excluded", {}).values()),
        excluded=more.pop("excluded", {}),
        outcome=np.array([row.outcome for row in every]),
        risk=np.array([row.risk for row in every]),
        rival=np.array([row.rival for row in every]),
        further_rivals=(types.RivalRisk("the vendor", np.array([row.vendor for row in every])),),
        predictors=(types.Feature("ward", np.array([row.ward for row in every]), ("north", "south")),),
        subgroups=tuple(types.Subgroup("sex", level, sex == level) for level in ("f", "m")),
        minimum_cell=SMALLEST,
    )
    dataset = dataclasses.replace(dataset, **{name: make(len(every)) for name, make in more.items()})
    return dataclasses.replace(study, datasets=(dataset,), readers=())


WIDE = chains.width(SMALLEST, [2])


def base(wide: int = WIDE) -> list[Row]:
    """A hospital each of whose counts is the lowest of its range: of each kind ten more fit."""
    return [Row(4 * wide, 1, 0.97), Row(3 * wide, 1, 0.97, "m"), Row(4 * wide, 0, 0.02), Row(4 * wide, 0, 0.02, "m")]


Cells = Callable[[types.Study, int], types.Study]


def more(**row: Any) -> Cells:
    """So many more of a kind."""
    return lambda study, count: hospital(study, [*base(), Row(count, **row)])


def rival_alone_right(study: types.Study, count: int) -> types.Study:
    """The missed of the model whom the rival finds: the joint table of both."""
    missed = [Row(count, 1, 0.1, rival=0.9), Row(10 - count, 1, 0.1, rival=0.2)]
    return hospital(study, [*base(), *missed])


def right(study: types.Study, count: int, rival: str) -> types.Study:
    """The own table of a rival: those with the outcome above the threshold."""
    risks: list[tuple[int, dict[str, Any]]] = [(count, {rival: 0.9}), (10 - count, {rival: 0.1})]
    return hospital(study, [*base(), *(Row(times, 1, 0.97, **risk) for times, risk in risks)])


def readers_disagree(study: types.Study, count: int) -> types.Study:
    """Cases that two readers call otherwise."""
    made = hospital(study, base())
    dataset = made.datasets[0]
    assert dataset.outcome is not None
    labels = np.column_stack([dataset.outcome] * 3)
    labels[:count, 1] = 1 - labels[:count, 1]
    rows = np.arange(len(labels))
    readers = types.Readers("large", rows, labels, confidence=np.full(labels.shape, 0.75), truth=dataset.outcome)
    return dataclasses.replace(made, readers=(readers,))


def order_within_a_bin(study: types.Study, count: int) -> types.Study:
    """Which of the patients of neighbouring risks had the outcome: the second differences of a profile by row."""
    beside = [Row(1, float(index == count), 0.76 + index / 1_000) for index in range(10)]
    return hospital(study, [*base(), *beside])


def left_out_whole(study: types.Study, count: int) -> types.Study:
    """How many patients a dataset has that is not shown for its size."""
    kept = hospital(study, base())
    few = hospital(study, [Row(count, 0, 0.3)]).datasets[0]
    return dataclasses.replace(kept, datasets=(*kept.datasets, dataclasses.replace(few, name="tiny")))


def left_out_rows(study: types.Study, count: int) -> types.Study:
    """How many rows miss the outcome: beside all rows and the size of a file it gave the rest."""
    return hospital(study, base(), excluded={"outcome missing": count + 1})


def persons_of_many_rows(study: types.Study, count: int) -> types.Study:
    """Persons of 20 rows each: a range that is wide enough for rows hides none of them."""
    wide = WIDE * 20
    return hospital(study, [*base(wide), Row(20 * count, 1, 0.1)], cluster=lambda size: np.arange(size) // 20)


def weighted(study: types.Study, count: int) -> types.Study:
    """Patients of a survey, missed by the model."""
    return hospital(study, [*base(), Row(count, 1, 0.1)], weights=lambda size: np.linspace(1, 3, size))


def imputed(study: types.Study, count: int) -> types.Study:
    """Patients whose risk was imputed, missed by the model in one imputation."""
    made = hospital(study, [*base(), Row(count, 1, 0.1), Row(10 - count, 1, 0.9)])
    (dataset,) = made.datasets
    assert dataset.risk is not None
    other = dataclasses.replace(dataset, risk=1 - dataset.risk)
    return dataclasses.replace(made, datasets=(dataclasses.replace(dataset, imputations=(dataset, other)),))


def nested(study: types.Study, count: int) -> types.Study:
    """The patients between two cuts of one variable, which are two columns here."""
    made = hospital(study, [*base(), Row(count, 1, 0.1, "x")])
    (dataset,) = made.datasets
    women = dataset.subgroups[0].rows
    between = np.arange(dataset.rows_analysed) >= dataset.rows_analysed - count
    assert not isinstance(women, types.Absent)
    groups = (
        types.Subgroup("under 60", "yes", women),
        types.Subgroup("under 60", "no", ~women),
        types.Subgroup("under 61", "yes", women | between),
        types.Subgroup("under 61", "no", ~women & ~between),
    )
    return dataclasses.replace(made, datasets=(dataclasses.replace(dataset, subgroups=groups),))


def before(study: types.Study, count: int) -> types.Study:
    """A previous release of nearly the same rows, from which the difference gave the others."""
    return with_previous(hospital(study, base()), hospital(study, [*base(), Row(count, 1, 0.1)]))


def graver_errors(study: types.Study, count: int) -> types.Study:
    """Women, whose errors have weights of their own, at a hospital of men."""
    men = [dataclasses.replace(row, sex="m") for row in base()]
    made = hospital(
        study, [*men, Row(count, 1, 0.1)], severity_group=lambda size: np.where(np.arange(size) < size - count, 0, 1)
    )
    weights = SeverityOfSubgroup(column="sex", level="f", weights=((0, 1), (0.5, 0)))
    severity = Severity(weights=((0, 0.6), (0.3, 0)), subgroup=(weights,))
    return dataclasses.replace(made, release=study.release.model_copy(update={"severity": severity}))


def of_a_quarter(study: types.Study, count: int) -> types.Study:
    """Those of ten missed who came in the second of two quarters."""
    missed = Row(10, 1, 0.1)

    def second(size: int) -> NDArray[np.int64]:
        return np.where(np.arange(size) < size - 10, np.arange(size) % 2, 0) + (np.arange(size) >= size - count)

    def periods(size: int) -> types.Periods:
        return types.Periods("quarter", 8_000 + second(size), 730_000 + 91 * second(size))

    return hospital(study, [*base(), missed], periods=periods)


JACKKNIFED = "a person of many rows"
"""Every measure without each of hundreds of persons: half a minute."""
ATTACKS: dict[str, Cells] = {
    "missed, from net benefit and weighted utility in full digits": more(outcome=1, risk=0.1),
    "alarmed needlessly, from the same": more(outcome=0, risk=0.95),
    "a slice, from the histogram beside the table at a threshold": more(outcome=1, risk=0.62),
    "a subgroup of few": more(outcome=1, risk=0.1, sex="m"),
    "the complement of the subgroups": more(outcome=1, risk=0.1, sex=""),
    "without a predictor, from its KS distance and SMD": more(outcome=0, risk=0.02, ward=np.nan),
    "a category of few": more(outcome=0, risk=0.02, ward=1.0),
    "the rival's own table": partial(right, rival="rival"),
    "a second rival's own table": partial(right, rival="vendor"),
    "the joint table of model and rival": rival_alone_right,
    "disagreements of readers": readers_disagree,
    "the outcome of a patient, from second differences of a profile": order_within_a_bin,
    "the size of a dataset that is left out": left_out_whole,
    "rows without the outcome": left_out_rows,
    JACKKNIFED: persons_of_many_rows,
    "rows with weights": weighted,
    "imputed rows": imputed,
    "between two cuts": nested,
    "a subgroup of few with severity weights of its own": graver_errors,
    "missed in a calendar quarter": of_a_quarter,
    "the rows that a previous release did not have": before,
}


EVERY = [pytest.param(kind, marks=[pytest.mark.slow] if kind == JACKKNIFED else []) for kind in ATTACKS]


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.usefixtures("without_steps")
def test_hospitals_that_differ_in_it_print_the_same(planted: types.Study, kind: str) -> None:
    first, *others = (document(ATTACKS[kind](planted, count)) for count in COUNTS)
    for other in others:
        assert list(unlike(first, other)) == []


@pytest.mark.parametrize("kind", EVERY)
def test_without_a_policy_the_same_hospitals_print_something_else(planted: types.Study, kind: str) -> None:
    """The control: each attack finds what it is about where nothing is protected."""
    first, other = (document(unprotected(ATTACKS[kind](planted, count))) for count in COUNTS)
    assert list(unlike(first, other))


# ---- who is nobody --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", COUNTS)
def test_of_two_cuts_that_few_lie_between_one_is_counted(planted: types.Study, count: int) -> None:
    """One who knows that nobody is under 60 and not under 61 would ask for those of 60 by the difference of both."""
    assert set(Attack(nested(planted, count), "large").columns) == {"under 60"}


def test_a_count_of_nobody_that_is_no_structural_zero_is_left_as_many_values(planted: types.Study) -> None:
    attack = Attack(planted, "middle")
    cells = list(attack.cells(attack.nobody(), most=6))
    assert {cell.true for cell in cells} == {0}
    assert min(cell.values for cell in cells) >= SMALLEST
