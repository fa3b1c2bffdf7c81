"""The table of a reader study -> its decisions, with every reason why they cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dossier.core.errors import DataError, Fault
from dossier.core.facts import Fact
from dossier.core.faults.locations import Header, Key
from dossier.core.release import ReaderStudy as Declared
from dossier.core.types import POOLED, DecisionCounts, Flag, Floats, ReaderStudy
from dossier.reading import notations
from dossier.reading.columns import Series, coded, column, encoded, numbers_or_codes, repeats, words
from dossier.reading.faults import by_row, nearest
from dossier.reading.files import Folder

NEEDED = ("reader", "case", "truth", "unaided", "aided")
OPTIONAL = ("group", "advice")
DECISIONS = ("truth", "unaided", "aided", "advice")

Rows = NDArray[np.int64]


def reader_study(declared: Declared | None, folder: Folder, flags: list[Flag]) -> ReaderStudy | None:
    """The reader study that [reader_study] declares; a DataError when its table does not hold one.

    What may be wrong, and may be right, is added to `flags`.
    """
    if declared is None:
        return None
    if declared.counts is not None:
        given = declared.counts
        return ReaderStudy(declared.design, DecisionCounts(given.aie, given.ain, given.ce, given.cn))
    if declared.file is None:
        return None
    faults: list[Fault] = []
    columns, rows = _columns(declared, declared.file, folder, faults)
    _check(declared, declared.file, columns, rows, faults)
    # Readers and groups by a word that is written where a name is unknown; it may be a name.
    named = {name: sorted(set(filter(None, words(columns[name])))) for name in ("reader", "group") if name in columns}
    flags += [
        Flag("code_for_missing", POOLED, Fact("reader_of_no_name", what=name, word=word), columns=(name,))
        for name, found in named.items()
        for word in found
        if notations.is_word(word)
    ]
    DataError.raise_for(faults)
    truth, unaided, aided = (columns[name].numbers for name in ("truth", "unaided", "aided"))
    readers, reader = _numbered(columns["reader"])
    _, case = _numbered(columns["case"])
    groups = words(columns["group"]) if "group" in columns else ()
    of_reader = {int(number): text or "" for number, text in zip(reader, groups, strict=False)}
    return ReaderStudy(
        design=declared.design,
        counts=DecisionCounts(*_wrong_and_right(aided, truth), *_wrong_and_right(unaided, truth)),
        reader=reader,
        case=case,
        truth=truth,
        unaided=unaided,
        aided=aided,
        advice=columns["advice"].numbers if "advice" in columns else None,
        group=tuple(of_reader[number] for number in range(len(readers))) if of_reader else (),
    )


def _columns(declared: Declared, file: str, folder: Folder, faults: list[Fault]) -> tuple[dict[str, Series], Rows]:
    raw = folder.table(file, Key("reader_study", "file"), declared.outside, faults)
    missing = [name for name in NEEDED if name not in raw.columns]
    strange = [name for name in raw.columns if name not in (*NEEDED, *OPTIONAL)]
    for name in missing:
        near = nearest(name, strange)
        meant = Fact("meant", name=near) if near else None
        faults.append(Fault("no_column_of_reader_study", Header(file), column=name, meant=meant, needed=NEEDED))
    if missing:
        raise DataError(faults)
    kept = [name for name in (*NEEDED, *OPTIONAL) if name in raw.columns]
    cells = {name: numbers_or_codes(raw, name) if name in DECISIONS else raw.columns[name] for name in kept}
    return {name: column(name, cells[name]) for name in kept}, raw.rows


# ---- what can be wrong ----------------------------------------------------------------------------------------------


def _check(declared: Declared, file: str, columns: Mapping[str, Series], rows: Rows, faults: list[Fault]) -> None:
    before = len(faults)
    for name in ("reader", "case"):
        faults += by_row("no_reader_or_case", file, name, rows[columns[name].missing], column=name)
    for name in DECISIONS:
        if name in columns:
            _zero_or_one(file, columns[name], rows, faults)
    _both_or_one(declared, file, columns, rows, faults)
    if len(faults) > before:
        return
    _one_value("truths_of_case", file, columns, ("case", "truth"), rows, faults)
    _one_group_a_reader(file, columns, rows, faults)
    _decided_once(file, columns, rows, faults)
    if declared.design == "parallel":
        _compared(file, columns, rows, faults)


def _zero_or_one(file: str, found: Series, rows: Rows, faults: list[Fault]) -> None:
    wrong = np.flatnonzero(~found.missing & ~np.isin(found.numbers, (0.0, 1.0)))
    cells = [found.cells[int(k)].as_py() for k in wrong]
    in_every_row = found.name in ("truth", "advice")
    code = "truth_not_binary" if in_every_row else "decision_not_binary"
    faults += by_row(code, file, found.name, rows[wrong], lambda k: {"value": str(cells[k])}, column=found.name)
    if in_every_row:
        faults += by_row("no_truth", file, found.name, rows[found.missing], column=found.name)


def _both_or_one(declared: Declared, file: str, columns: Mapping[str, Series], rows: Rows, faults: list[Fault]) -> None:
    """A paired row holds both decisions, a parallel one exactly one of them."""
    without, with_model = columns["unaided"].missing, columns["aided"].missing
    if declared.design == "paired":
        for name, gaps in (("unaided", without), ("aided", with_model)):
            faults += by_row("paired_decision_missing", file, name, rows[gaps], column=name)
        return
    faults += by_row("both_decisions", file, None, rows[~without & ~with_model])
    faults += by_row("no_decision", file, None, rows[without & with_model])


def _one_group_a_reader(file: str, columns: Mapping[str, Series], rows: Rows, faults: list[Fault]) -> None:
    if "group" not in columns:
        return
    gaps = columns["group"].missing
    faults += by_row("no_group", file, "group", rows[gaps])
    if not gaps.any():
        _one_value("groups_of_reader", file, columns, ("reader", "group"), rows, faults)


def _one_value(
    code: str, file: str, columns: Mapping[str, Series], names: tuple[str, str], rows: Rows, faults: list[Fault]
) -> None:
    """Rows of one reader or case in which what belongs to it is not what it was in its first row."""
    again, first = repeats(columns[names[0]])
    owned = np.array(words(columns[names[1]]), dtype=object)
    wrong = owned[again] != owned[first]
    earliest = rows[first[wrong]]
    faults += by_row(code, file, names[1], rows[again[wrong]], lambda k: {"row": int(earliest[k])})


def _decided_once(file: str, columns: Mapping[str, Series], rows: Rows, faults: list[Fault]) -> None:
    """A reader decides a case once without and once with the model."""
    of_arm = 2 * encoded(columns["case"])[0] + columns["unaided"].missing
    again, first = (rows[places] for places in repeats(columns["reader"], of_arm))
    faults += by_row("decided_twice", file, None, again, lambda k: {"row": int(first[k])})


def _compared(file: str, columns: Mapping[str, Series], rows: Rows, faults: list[Fault]) -> None:
    """A case of a parallel study is decided in both arms: otherwise different cases would be compared."""
    cases, with_model = encoded(columns["case"])[0], ~columns["aided"].missing
    alone = ~np.isin(cases, np.intersect1d(cases[with_model], cases[~with_model]))
    alone[repeats(columns["case"])[0]] = False
    arms = ["without_model" if own else "with_model" for own in with_model[alone]]
    faults += by_row("case_of_one_arm", file, None, rows[alone], lambda k: {"arm": Fact(arms[k])})


# ---- what is right --------------------------------------------------------------------------------------------------


def _numbered(found: Series) -> tuple[tuple[str, ...], Rows]:
    """The kinds of a column in their order, so that the order of rows does not matter, and the number of each row's."""
    codes, kinds = coded(found)
    return tuple(sorted(kinds)), np.argsort(np.argsort(np.array(kinds, dtype=object)))[codes]


def _wrong_and_right(decisions: Floats, truth: Floats) -> tuple[int, int]:
    made = ~np.isnan(decisions)
    right = int(np.sum(decisions[made] == truth[made]))
    return int(made.sum()) - right, right
