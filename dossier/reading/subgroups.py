"""Declared subgroups -> for each row of each tested table the label that it has, the same labels in every table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dossier.core.errors import Fault
from dossier.core.facts import Count, Fact
from dossier.core.faults.locations import Cell, Key, listed_table
from dossier.core.release import Release
from dossier.core.release import Subgroup as Declaration
from dossier.core.types import Absent, Feature, Subgroup
from dossier.reading import columns
from dossier.reading.faults import noted
from dossier.reading.predictors import Input, numbered, too_long
from dossier.words.wording import number

MOST_NUMBERS = 10
"""A column with more different numbers than this has no groups of its own: somebody must say where to cut it."""
MOST_TEXTS = 20
"""A column with more different texts than this names patients or writes prose; its groups must be declared."""


@dataclass(frozen=True)
class Labelled:
    """The labels of one declared column, and for each row of one table the place of its label, or -1 for none."""

    column: str
    labels: tuple[str, ...]
    places: NDArray[np.int64] | None
    """None where the table has no such column."""


def labelled(release: Release, sources: Sequence[Input], faults: list[Fault]) -> list[tuple[Labelled, ...]]:
    """The labels of the rows of each table, for every declared column; none of a development table."""
    tested = [source for source in sources if source.declaration.role != "development"]
    made: dict[Key, list[Labelled]] = {source.where: [] for source in sources}
    for position, declared in enumerate(release.subgroup, start=1):
        where = listed_table("subgroup", position, declared.column)
        holders = {source.where: source for source in tested if declared.column in source.table.columns}
        if not holders:
            if tested:
                noted(faults, columns.named, tested[0].table, declared.column, "[[subgroup]] column")
            continue
        labels, places = _of_column(declared, holders, where, faults)
        for source in tested:
            made[source.where].append(Labelled(declared.column, labels, places.get(source.where)))
    return [tuple(made[source.where]) for source in sources]


def unnamed(
    release: Release, sources: Sequence[Input], predictors: Sequence[tuple[str, ...]]
) -> list[tuple[Feature, ...]]:
    """The columns of subgroups that are no predictors, of each tested table; levels that are named are meant."""
    names = dict.fromkeys(subgroup.column for subgroup in release.subgroup if subgroup.levels is None)
    return [
        ()
        if source.declaration.role == "development"
        else tuple(
            _feature(name, source.table.columns[name])
            for name in names
            if name in source.table.columns and name not in of_table
        )
        for source, of_table in zip(sources, predictors, strict=True)
    ]


def _feature(name: str, column: columns.Series) -> Feature:
    if column.kind in ("numbers", "empty"):
        return Feature(name, column.numbers)
    levels, codes = numbered({name: columns.words(column)})
    return Feature(name, codes[name], levels)


def subgroups(
    labels: Sequence[Labelled], rows: NDArray[np.int64], analysed: columns.Bools, dataset: str
) -> tuple[Subgroup, ...]:
    """The subgroups of one site: `rows` are those of the site in its table, `analysed` those of them that are kept."""
    found = []
    for labelled in labels:
        column, places = labelled.column, None if labelled.places is None else labelled.places[rows][analysed]
        gap = Absent(Fact("has_no_column", dataset=dataset, column=column))
        for index, label in enumerate(labelled.labels):
            found.append(Subgroup(column, label, gap if places is None else places == index))
    return tuple(found)


def _of_column(
    declared: Declaration, holders: Mapping[Key, Input], where: Key, faults: list[Fault]
) -> tuple[tuple[str, ...], dict[Key, NDArray[np.int64]]]:
    found = {name: source.table.columns[declared.column] for name, source in holders.items()}
    if declared.cuts is not None:
        return _cut(declared.cuts, found, holders, faults)
    if declared.levels is not None:
        named = tuple(declared.levels.values())
        return named, {name: _by_levels(column, tuple(declared.levels or ())) for name, column in found.items()}
    kinds = {key: column.kind for key, column in found.items() if column.kind != "empty"}
    numeric = [holders[key].table.file for key, kind in kinds.items() if kind == "numbers"]
    textual = [holders[key].table.file for key, kind in kinds.items() if kind != "numbers"]
    if numeric and textual:
        at = Cell(numeric[0], declared.column, other=textual[0])
        faults.append(Fault("numbers_and_texts", at, name=declared.column, file=numeric[0], other=textual[0]))
        return (), {}
    cells = {key: _spelled(column) for key, column in found.items()}
    labels, codes = numbered(cells)
    if long := [fault for key, texts in cells.items() for fault in too_long(declared.column, texts, holders[key])]:
        faults.extend(long)
        return (), {}
    if len(labels) > (MOST_NUMBERS if numeric else MOST_TEXTS):
        code, kind = ("many_numbers_of_subgroup", "number") if numeric else ("many_texts_of_subgroup", "text")
        faults.append(Fault(code, where, column=declared.column, values=Count(len(labels), f"different {kind}")))
        return (), {}
    return labels, {key: np.nan_to_num(code, nan=-1).astype(np.int64) for key, code in codes.items()}


# ---- cuts -----------------------------------------------------------------------------------------------------------


def _cut(
    cuts: Sequence[float], found: Mapping[Key, columns.Series], holders: Mapping[Key, Input], faults: list[Fault]
) -> tuple[tuple[str, ...], dict[Key, NDArray[np.int64]]]:
    before = len(faults)
    for name, column in found.items():
        table = holders[name].table
        if column.kind not in ("numbers", "empty"):
            at = Cell(table.file, column.name)
            faults.append(Fault("cuts_of_other_kind", at, column=column.name, kind=Fact(column.kind)))
            continue
        faults += columns.in_column("infinite_value", table, column, np.isinf(column.numbers))
    if len(faults) > before:
        return (), {}
    values = np.concatenate([column.numbers[~np.isnan(column.numbers)] for column in found.values()])
    whole = bool((np.floor(values) == values).all()) and all(cut == int(cut) for cut in cuts)
    places = {name: np.searchsorted(cuts, column.numbers, side="right") for name, column in found.items()}
    # The bands in words: 50 to 69 where every value is whole, otherwise 50 to under 70.
    between = [_band(low, high, whole) for low, high in pairwise(cuts)]
    names_of_bands = (f"under {number(cuts[0])}", *between, f"{number(cuts[-1])} or more")
    return names_of_bands, {
        name: np.where(np.isnan(found[name].numbers), -1, position).astype(np.int64)
        for name, position in places.items()
    }


def _band(low: float, high: float, whole: bool) -> str:
    if not whole:
        return f"{number(low)} to under {number(high)}"
    return number(low) if high - low == 1 else f"{number(low)} to {number(high - 1)}"


# ---- levels ---------------------------------------------------------------------------------------------------------


def _by_levels(column: columns.Series, values: Sequence[str]) -> NDArray[np.int64]:
    """The place of each row's value among the declared ones; 1, 1.0 and "1" are one value, so are true and "True"."""
    places = np.full(len(column.numbers), -1, dtype=np.int64)
    texts = np.array([text or "" for text in columns.words(column)], dtype=object)
    for index, value in reversed(list(enumerate(values))):
        places[~column.missing & (texts == (value.lower() if column.kind == "booleans" else value))] = index
        as_number = columns.parsed(value)
        if as_number is not None:
            places[~column.missing & (column.numbers == as_number)] = index
    return places


def _spelled(column: columns.Series) -> list[str | None]:
    """Each value as its own label: numbers without idle zeros, texts as they are."""
    if column.kind != "numbers":
        return columns.words(column)
    return [None if np.isnan(value) else number(float(value)) for value in column.numbers]
