"""The table of a reader study -> its decisions, with every reason why they cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dossier.errors import Fault
from dossier.reading import coded, isolation, refused, unknown
from dossier.reading.columns import Bools, Column, column, words
from dossier.reading.faults import by_row, listed, nearest
from dossier.reading.files import Folder
from dossier.release import ReaderStudy as Declared
from dossier.types import POOLED, DecisionCounts, Flag, Floats, ReaderStudy

NEEDED = ("reader", "case", "truth", "unaided", "aided")
OPTIONAL = ("group", "advice")
DECISIONS = ("truth", "unaided", "aided", "advice")

Rows = NDArray[np.int64]


def reader_study(declared: Declared, folder: Folder, faults: list[Fault], flags: list[Flag]) -> ReaderStudy | None:
    """The reader study that [reader_study] declares; None, and faults, when its table does not hold one.

    What may be wrong, and may be right, is added to `flags`.
    """
    if declared.counts is not None:
        given = declared.counts
        return ReaderStudy(declared.design, DecisionCounts(given.aie, given.ain, given.ce, given.cn))
    if declared.file is None:
        return None
    before = len(faults)
    found = _columns(declared, declared.file, folder, faults)
    if found is None:
        return None
    columns, rows = found
    _check(declared, declared.file, columns, rows, faults)
    flags += _doubts(columns)
    return None if len(faults) > before else _made(declared, columns)


def _columns(
    declared: Declared, file: str, folder: Folder, faults: list[Fault]
) -> tuple[dict[str, Column], Rows] | None:
    where = "release.toml, [reader_study] file"
    ending = refused.ending(file, where)
    if ending is not None and not folder.is_folder(file):
        faults.append(ending)
        return None
    content = folder.read(file, where, declared.outside, faults)
    raw = isolation.table(content, file, faults) if content is not None else None
    if raw is None:
        return None
    missing = [name for name in NEEDED if name not in raw.columns]
    strange = [name for name in raw.columns if name not in (*NEEDED, *OPTIONAL)]
    for name in missing:
        near = nearest(name, strange)
        fix = (f"Did you mean {near}? " if near else "") + f"A reader study has the columns {listed(NEEDED)}."
        faults.append(Fault(f"There is no column {name}.", f"{file}, first row", fix))
    if missing:
        return None
    kept = [name for name in (*NEEDED, *OPTIONAL) if name in raw.columns]
    cells = {name: coded.numbers(raw, name) if name in DECISIONS else raw.columns[name] for name in kept}
    return {name: column(name, cells[name]) for name in kept}, raw.rows


# ---- what can be wrong ----------------------------------------------------------------------------------------------


def _check(declared: Declared, file: str, columns: Mapping[str, Column], rows: Rows, faults: list[Fault]) -> None:
    before = len(faults)
    for name in ("reader", "case"):
        gaps = [int(row) for row in rows[columns[name].missing]]
        faults += by_row(file, name, gaps, lambda _, name=name: f"The {name} is missing.", "Give one in every row.")  # type: ignore[misc]
    for name in DECISIONS:
        if name in columns:
            _zero_or_one(file, columns[name], rows, faults)
    _both_or_one(declared, file, columns, rows, faults)
    if len(faults) > before:
        return
    _one_truth_a_case(file, columns, rows, faults)
    _one_group_a_reader(file, columns, rows, faults)
    _decided_once(file, columns, rows, faults)
    if declared.design == "parallel":
        _compared(file, columns, rows, faults)


def _zero_or_one(file: str, found: Column, rows: Rows, faults: list[Fault]) -> None:
    wrong = np.flatnonzero(~found.missing & ~np.isin(found.numbers, (0.0, 1.0)))
    cells = [found.cells[int(k)].as_py() for k in wrong]
    fix = "Give 0 or 1." if found.name in ("truth", "advice") else "Give 0 or 1, or leave the cell empty."
    places = [int(row) for row in rows[wrong]]
    faults += by_row(file, found.name, places, lambda k: f"{found.name} is {cells[k]}, not 0 or 1.", fix)
    if found.name in ("truth", "advice"):
        gaps = [int(row) for row in rows[found.missing]]
        faults += by_row(file, found.name, gaps, lambda _: f"{found.name} is missing.", fix)


def _both_or_one(declared: Declared, file: str, columns: Mapping[str, Column], rows: Rows, faults: list[Fault]) -> None:
    """A paired row holds both decisions, a parallel one exactly one of them."""
    without, with_model = columns["unaided"].missing, columns["aided"].missing
    if declared.design == "paired":
        for name, gaps in (("unaided", without), ("aided", with_model)):
            places = [int(row) for row in rows[gaps]]
            what = f"{name} is missing, and the design is paired."
            fix = 'Give both decisions in every row, or write design = "parallel".'
            faults += by_row(file, name, places, lambda _, what=what: what, fix)  # type: ignore[misc]
        return
    fix = 'Give one of them in every row, or write design = "paired".'
    for wrong, what in (
        (~without & ~with_model, "There are both unaided and aided, and the design is parallel."),
        (without & with_model, "There is neither unaided nor aided."),
    ):
        faults += by_row(file, None, [int(row) for row in rows[wrong]], lambda _, what=what: what, fix)  # type: ignore[misc]


def _one_truth_a_case(file: str, columns: Mapping[str, Column], rows: Rows, faults: list[Fault]) -> None:
    fix = "Give every case one truth."
    _one_value(file, columns, ("case", "truth"), rows, faults, fix)


def _one_group_a_reader(file: str, columns: Mapping[str, Column], rows: Rows, faults: list[Fault]) -> None:
    if "group" not in columns:
        return
    gaps = [int(row) for row in rows[columns["group"].missing]]
    faults += by_row(
        file, "group", gaps, lambda _: "The group is missing.", "Give one in every row, or take group out."
    )
    if not gaps:
        _one_value(file, columns, ("reader", "group"), rows, faults, "Give every reader one group.")


def _one_value(
    file: str, columns: Mapping[str, Column], names: tuple[str, str], rows: Rows, faults: list[Fault], fix: str
) -> None:
    """Rows of one reader or case in which what belongs to it is not what it was in its first row."""
    owner, owned = names
    first: dict[str | None, tuple[str | None, int]] = {}
    wrong: list[tuple[int, int]] = []
    for row, one, value in zip(rows, words(columns[owner]), words(columns[owned]), strict=True):
        known, at = first.setdefault(one, (value, int(row)))
        if known != value:
            wrong.append((int(row), at))
    places = [row for row, _ in wrong]
    faults += by_row(
        file, owned, places, lambda k: f"{owned} is not what it is for the same {owner} in row {wrong[k][1]}.", fix
    )


def _decided_once(file: str, columns: Mapping[str, Column], rows: Rows, faults: list[Fault]) -> None:
    """A reader decides a case once without and once with the model."""
    first: dict[tuple[str | None, str | None, bool], int] = {}
    again: list[tuple[int, int]] = []
    arms = columns["unaided"].missing
    for row, reader, case, arm in zip(rows, words(columns["reader"]), words(columns["case"]), arms, strict=True):
        key = (reader, case, bool(arm))
        if key in first:
            again.append((int(row), first[key]))
        first.setdefault(key, int(row))
    what = "The reader and the case are the same as in row"
    places = [row for row, _ in again]
    faults += by_row(file, None, places, lambda k: f"{what} {again[k][1]}.", "Keep one row a reader and case.")


def _compared(file: str, columns: Mapping[str, Column], rows: Rows, faults: list[Fault]) -> None:
    """A case of a parallel study is decided in both arms: otherwise different cases would be compared."""
    cases = words(columns["case"])
    with_model: Bools = ~columns["aided"].missing
    arms = {
        arm: {case for case, own in zip(cases, with_model, strict=True) if bool(own) == arm} for arm in (True, False)
    }
    lost: list[tuple[int, str]] = []
    seen: set[str | None] = set()
    for row, case, own in zip(rows, cases, with_model, strict=True):
        if case not in arms[not own] and case not in seen:
            seen.add(case)
            lost.append((int(row), "without" if own else "with"))
    fix = "Give every case decisions with and without the model, or take it out."
    places = [row for row, _ in lost]
    faults += by_row(file, None, places, lambda k: f"Nobody decides the case of this row {lost[k][1]} the model.", fix)


def _doubts(columns: Mapping[str, Column]) -> list[Flag]:
    """Readers and groups by a word that is written where a name is unknown; it may be a name."""
    named = {name: sorted(set(filter(None, words(columns[name])))) for name in ("reader", "group") if name in columns}
    return [
        Flag(
            "code_for_missing",
            POOLED,
            f'In the reader study a {name} is called "{word}": it may stand for missing, and is counted as a {name}.',
            columns=(name,),
        )
        for name, found in named.items()
        for word in found
        if unknown.is_word(word)
    ]


# ---- what is right --------------------------------------------------------------------------------------------------


def _made(declared: Declared, columns: Mapping[str, Column]) -> ReaderStudy:
    truth, unaided, aided = (columns[name].numbers for name in ("truth", "unaided", "aided"))
    readers, reader = _numbered(words(columns["reader"]))
    _, case = _numbered(words(columns["case"]))
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


def _numbered(texts: Sequence[str | None]) -> tuple[list[str], Rows]:
    """The kinds of a column in their order, so that the order of rows does not matter, and the number of each row's."""
    kinds = sorted({text or "" for text in texts})
    place = {kind: number for number, kind in enumerate(kinds)}
    return kinds, np.array([place[text or ""] for text in texts], dtype=np.int64)


def _wrong_and_right(decisions: Floats, truth: Floats) -> tuple[int, int]:
    made = ~np.isnan(decisions)
    right = int(np.sum(decisions[made] == truth[made]))
    return int(made.sum()) - right, right
