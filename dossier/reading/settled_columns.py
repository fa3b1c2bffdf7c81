"""What was settled about each column of each table: its role, its type, its range, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dossier.core.release import Release
from dossier.core.types import Floats, SettledColumn, SettledTable
from dossier.reading import signs
from dossier.reading.columns import Series, coded
from dossier.reading.predictors import Input, roles_of_columns


def settled(release: Release, source: Input, names: tuple[str, ...], datasets: Sequence[str]) -> SettledTable:
    """A table of the release, with its columns in the order of the file."""
    columns = tuple(_columns(release, source, names))
    roles = {column.name: column.role for column in columns}
    return SettledTable(
        dataset=source.declaration.name,
        file=source.table.file,
        rows=len(source.table.rows),
        columns=columns,
        left_out=sum(source.table.others.values()),
        of_no_dataset=sum(
            count for (site, _), count in source.table.others.items() if source.name_of(site) not in datasets
        ),
        notes=tuple(dict.fromkeys([*source.table.notes, *signs.notes(source, roles)])),
    )


def _columns(release: Release, source: Input, predictors: tuple[str, ...]) -> Iterator[SettledColumn]:
    named = roles_of_columns(release)
    groups = {subgroup.column for subgroup in release.subgroup}
    categorical = {name for name in predictors if name in source.declaration.categorical}
    for name in source.table.columns:
        if name in named:
            role = named[name].role
        elif name in predictors:
            role = "predictor"
        elif name in groups:
            role = "subgroup"
        else:
            role = "rows" if name in source.declaration.rows else "not used"
        yield _settled(name, role, source.table.columns[name], name in categorical)


def _settled(name: str, role: str, column: Series, categorical: bool) -> SettledColumn:
    kind = {"texts": "text", "mixed": "numbers and text"}.get(column.kind, column.kind)
    if kind == "numbers" and categorical:
        kind = "codes"
    missing = int(column.missing.sum())
    if role not in signs.SHOWN or kind == "empty":
        return SettledColumn(name, role, kind, None, None, missing)
    if kind in ("numbers", "booleans"):
        return SettledColumn(name, role, kind, extremes(column.numbers[~column.missing]), None, missing)
    return SettledColumn(name, role, kind, None, len(coded(column)[1]), missing)


def extremes(numbers: Floats) -> tuple[float, float]:
    """The ends of the numbers of a column, as `dossier check` shows them."""
    return float(np.min(numbers)), float(np.max(numbers))
