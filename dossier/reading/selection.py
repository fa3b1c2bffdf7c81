"""The rows of a table that `rows` of its [[dataset]] asks for, and the count of the others, by site and imputation."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from dossier.core.errors import Fault
from dossier.core.faults.locations import Key
from dossier.core.release import DatasetDeclaration
from dossier.reading.columns import Series, coded, column, spelled, words
from dossier.reading.faults import nearest, no_column
from dossier.reading.tables import Place, RawTable
from dossier.words.wording import shown


def selected(raw: RawTable, declaration: DatasetDeclaration, where: Key, faults: list[Fault]) -> RawTable:
    """The rows whose cell in every column of `rows` is one of the values that stand there.

    Everything else is then asked of them alone: what another row holds is neither checked nor counted, but that it is
    there. A value is compared as a category is: 6, 6.0 and "6" are one; of labelled values the label and the code hold.
    """
    keep = np.ones(len(raw.rows), dtype=bool)
    known = len(faults)
    for name, values in declaration.rows.items():
        held = _held(raw, declaration, name, faults)
        if held:
            # The rows that have one of these values, and the faults of values that no row has.
            every = [(codes, known) for codes, known in map(coded, held)]
            found = np.zeros(len(held[0].missing), dtype=bool)
            for value in values:
                word = spelled(value)
                here = [codes == known.index(word) for codes, known in every if word in known]
                found |= np.logical_or.reduce(here) if here else False
                if not here:
                    theirs = tuple(dict.fromkeys(word for _, words in every for word in words))
                    near = nearest(word, theirs)
                    said = {"column": name, "value": shown(value), "file": raw.file}
                    faults.append(Fault("value_nowhere", where.of("rows"), **said, known=theirs, near=near))
            keep &= found
    if not declaration.rows or len(faults) > known:
        return raw
    if not keep.any():
        faults.append(Fault("no_selected_row", where.of("rows"), file=raw.file))
        return raw
    return replace(raw.only(keep), others=_counted(raw.only(~keep), declaration))


def _held(raw: RawTable, declaration: DatasetDeclaration, name: str, faults: list[Fault]) -> list[Series]:
    """The column under our name for it, and the codes behind its labels where it has such."""
    theirs = declaration.columns.get(name, name)
    if theirs not in raw.columns:
        faults.append(no_column(name, raw.file, list(raw.columns), f"rows = {{ {name} = … }}"))
        return []
    return [column(theirs, cells[theirs]) for cells in (raw.columns, raw.codes) if theirs in cells]


def _counted(others: RawTable, declaration: DatasetDeclaration) -> Counter[Place]:
    """How many rows of each site and imputation these are."""
    sites, imputations = (_words(others, declaration, key) for key in (declaration.site_column, declaration.imputation))
    return Counter(zip(sites, imputations, strict=True))


def _words(raw: RawTable, declaration: DatasetDeclaration, key: str | None) -> list[str | None]:
    cells: Any = None if key is None else declaration.columns.get(key, key)
    if cells is None or cells not in raw.columns:
        return [None] * len(raw.rows)
    return words(column(cells, raw.columns[cells]))
