"""The columns of an outcome of several classes: the class of each row, and the risk of every class."""

from __future__ import annotations

import numpy as np

from dossier.errors import Fault
from dossier.reading import columns
from dossier.reading.columns import Settled
from dossier.reading.declared_classes import ADDS_UP
from dossier.reading.faults import counted, listed, nearest, number
from dossier.release import Release
from dossier.types import Floats

PER_CENT = (90.0, 110.0)
"""Between these the risks of a row add up when they are meant in per cent."""


def measured(
    table: Settled, release: Release, development: bool, faults: list[Fault]
) -> tuple[Floats | None, Floats | None, Floats | None]:
    """The class of each row from 0, the model's risks and its rival's, each row by class; NaN where missing.

    A development table needs none of them, and a rival may be missing from any table.
    """
    prediction = release.prediction
    labels = release.outcome.classes or ()
    outcome = None
    if not development or release.outcome.column in table.columns:
        outcome = _classes(table, release.outcome.column, labels, faults)
    names = prediction.columns or ()
    risk = None
    if len(names) == len(labels) and (not development or any(name in table.columns for name in names)):
        risk = _risks(table, names, "columns", faults)
    rivals = prediction.rivals or ()
    rival = (
        _risks(table, rivals, "rivals", faults)
        if len(rivals) == len(labels) and any(name in table.columns for name in rivals)
        else None
    )
    return outcome, risk, rival


def _classes(table: Settled, name: str, labels: tuple[str, ...], faults: list[Fault]) -> Floats | None:
    """The number of each row's class; None, and a fault for each label that is no class."""
    found = columns.named(table, name, "[outcome] column", faults)
    if found is None:
        return None
    codes, spelled = columns.coded(found)
    strangers = [text for text in spelled if text not in labels]
    for stranger in strangers:
        rows = table.rows[codes == spelled.index(stranger)]
        near = nearest(stranger, labels)
        fix = f"Did you mean {near}? " if near else ""
        fix += f"The classes of [outcome] are {listed(labels)}; write one of them, or declare the value as missing."
        more = f" ({counted(len(rows), 'row')})" if len(rows) > 1 else ""
        what = f'outcome is "{stranger}", which is no class{more}.'
        faults.append(Fault(what, f"{table.file}, row {rows[0]}, column {found.name}", fix))
    if strangers:
        return None
    return np.array([*(float(labels.index(label)) for label in spelled), np.nan])[codes]


def _risks(table: Settled, names: tuple[str, ...], key: str, faults: list[Fault]) -> Floats | None:
    """The risks of all classes side by side, as they are given; None, and faults, when some are no such risks."""
    held = [columns.named(table, name, f"[prediction] {key}", faults) for name in names]
    found = [one for one in held if one is not None]
    if len(found) < len(names):
        return None
    # Numbers far from any risk are told of column by column; here they must not grow beyond all numbers.
    sums = np.array([one.numbers for one in found]).clip(-1e6, 1e6).sum(axis=0)
    known = sums[~np.isnan(sums)]
    where = f"{table.file}, columns {listed([one.name for one in found])}"
    if len(known) and PER_CENT[0] < float(np.median(known)) < PER_CENT[1]:
        what = f"The class risks add up to about {float(np.median(known)):.0f}: they look like per cent."
        faults.append(Fault(what, where, "Divide the columns by 100."))
        return None
    each = [columns.risk(table, name, "column" if key == "columns" else "rival", faults) for name in names]
    kept = [one for one in each if one is not None]
    if len(kept) < len(names):
        return None
    off = np.where(np.isnan(sums), 0.0, np.abs(sums - 1))
    wrong = int((off > ADDS_UP).sum())
    if wrong:
        worst = int(np.argmax(off))
        rows = "1 row does" if wrong == 1 else f"{wrong} rows do"
        what = f"The class risks of {rows} not add up to 1; the farthest sum is {number(round(float(sums[worst]), 9))}."
        fix = "Give the probabilities of all classes of a row, with digits enough to add up to 1 within 0.000001."
        faults.append(Fault(what, f"{table.file}, row {int(table.rows[worst])}, {where.split(', ', 1)[1]}", fix))
        return None
    return np.column_stack(kept)
