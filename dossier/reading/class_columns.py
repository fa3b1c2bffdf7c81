"""The columns of an outcome of several classes: the class of each row, and the risk of every class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dossier.core import bands, facts, types, values
from dossier.core.errors import DataError, Fault
from dossier.core.faults.locations import Cell
from dossier.core.release import Release
from dossier.reading import columns, predictors
from dossier.reading.columns import Settled
from dossier.reading.faults import nearest, noted

PER_CENT = (90.0, 110.0)
"""Between these the risks of a row add up when they are meant in per cent."""


def measured(
    table: Settled, release: Release, development: bool, faults: list[Fault]
) -> tuple[types.Floats | None, types.Floats | None, dict[str, types.Floats | None]]:
    """The class of each row from 0, the model's risks and those of its rivals, each row by class; NaN where missing.

    A development table needs none of them, and a rival may be missing from any table.
    """
    prediction = release.prediction
    labels = release.outcome.classes or ()
    outcome = None
    if not development or release.outcome.column in table.columns:
        outcome = noted(faults, _classes, table, release.outcome.column, labels)
    names = prediction.columns or ()
    risk = None
    if len(names) == len(labels) and (not development or any(name in table.columns for name in names)):
        risk = noted(faults, _risks, table, names, "column", "[prediction] columns", prediction.scale)
    rivals = {
        rival.name: noted(faults, _risks, table, rival.named, "rival", predictors.key_of_rival(release, rival))
        if len(rival.named) == len(labels) and any(name in table.columns for name in rival.named)
        else None
        for rival in release.beside
    }
    return outcome, risk, rivals


def _classes(table: Settled, name: str, labels: tuple[str, ...]) -> types.Floats:
    """The number of each row's class; a DataError with a fault for each label that is no class."""
    found, faults = columns.named(table, name, "[outcome] column"), []
    codes, spelled = columns.coded(found)
    for text_of_none in (text for text in spelled if text not in labels):
        rows = table.rows[codes == spelled.index(text_of_none)]
        near = nearest(text_of_none, labels)
        faults.append(
            Fault(
                "not_a_class",
                Cell(table.file, found.name, (int(rows[0]),)),
                value=text_of_none,
                rows=facts.Fact("in_rows", rows=facts.Count(len(rows), "row")) if len(rows) > 1 else None,
                meant=facts.Fact("meant", name=near) if near else None,
                classes=labels,
            )
        )
    DataError.raise_for(faults)
    return np.array([*(float(labels.index(label)) for label in spelled), np.nan])[codes]


def _risks(
    table: Settled, names: tuple[str, ...], whose: str, declared: str, scale: str = "probability"
) -> types.Floats:
    """The risks of all classes side by side; a DataError when some are no such risks.

    Those that add up to 1 within their last digit are divided by their sum, which the table's notes say.
    """
    faults: list[Fault] = []
    held = [noted(faults, columns.of_scale, table, name, declared, scale) for name in names]
    found = [column for column in held if column is not None]
    DataError.raise_for(faults)
    # Numbers far from any risk are reported column by column; here they must not grow beyond all numbers.
    given = values.risks(np.array([column.numbers for column in found]).clip(-1e6, 1e6), scale)
    sums = given.sum(axis=0)
    known = sums[~np.isnan(sums)]
    at = Cell(table.file, tuple(column.name for column in found))
    if len(known) and PER_CENT[0] < float(np.median(known)) < PER_CENT[1]:
        declare = columns.declare(whose, "percent")
        raise DataError.one("class_risks_of_per_cent", at, total=float(np.median(known)), declare=declare)
    each = [noted(faults, columns.risk, table, name, whose, scale) for name in names]
    kept = [item for item in each if item is not None]
    DataError.raise_for(faults)
    off = np.where(np.isnan(sums), 0.0, np.abs(sums - 1))
    # Half a unit of the last printed digit a class, and of two at least. The digits are those of the largest risk of
    # each row, which has no more of them than the others when all are printed with as many decimals or digits.
    largest = given.max(axis=0)
    last = bands.last_digit(largest[~np.isnan(largest)])
    tolerated = max(bands.ROUNDING, len(names) * last * (1 + bands.ROUNDING))
    wrong = int((off > tolerated).sum())
    if wrong:
        worst = int(np.argmax(off))
        rows = facts.Fact("one_row_does" if wrong == 1 else "rows_do", rows=facts.Count(wrong, "row"))
        at = replace(at, rows=(int(table.rows[worst]),))
        raise DataError.one("class_risks_not_one", at, rows=rows, total=round(float(sums[worst]), 9))
    risks = np.column_stack(kept)
    rounded = off > bands.ROUNDING
    if not rounded.any():
        return risks
    most = round(float(sums[int(np.argmax(off))]), 9)
    count = facts.Count(int(rounded.sum()), "row")
    table.notes.append(facts.Fact("class_risks_scaled", rows=count, columns=names, file=table.file, total=most))
    return np.where(rounded[:, None], risks / sums[:, None], risks)
