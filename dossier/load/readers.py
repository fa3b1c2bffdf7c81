"""The readers' tables -> labels, confidence and complexity: rows are cases, columns are raters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dossier.errors import Fault
from dossier.load import refused, signatures, tables
from dossier.load.columns import Bools, Column, column, words
from dossier.load.datasets import Site
from dossier.load.faults import by_row, counted, nearest
from dossier.load.files import Folder
from dossier.release import ReadersTables
from dossier.types import Floats, Readers


@dataclass(frozen=True)
class Ratings:
    """One table of the readers, with its cases' identifiers where they are declared."""

    file: str
    rows: Sequence[int]
    values: Floats
    cases: tuple[str, ...] | None


def readers(
    declared: ReadersTables, folder: Folder, sites: Sequence[Site], unread: Sequence[str], faults: list[Fault]
) -> Readers | None:
    """The readers' tables with the cases of the analysed rows; None, and faults, when they do not fit together.

    `unread` names the datasets whose own faults stand in the list already.
    """
    names = {"labels": declared.labels, "confidence": declared.confidence, "complexity": declared.complexity}
    before = len(faults)
    read = {key: _ratings(key, file, declared, folder, faults) for key, file in names.items() if file is not None}
    found = {key: ratings for key, ratings in read.items() if ratings is not None}
    site = _site(declared, sites, unread, faults)
    if len(faults) > before or "labels" not in found or declared.dataset in unread:
        return None
    _same_shape(found, faults)
    _accuracy_fits(declared, found["labels"], faults)
    aligned = _aligned(found, faults) if len(faults) == before else None
    if aligned is None:
        return None
    order = _order(aligned["labels"], declared, site, faults)
    return None if order is None else _made(declared, aligned, site, order)


def _made(
    declared: ReadersTables, found: dict[str, Ratings], site: Site | None, order: Sequence[tuple[int, int]]
) -> Readers:
    """`order`: the case's row in the tables, and the row of the dataset that it is."""
    cases, rows = np.array(order, dtype=np.int64).reshape(-1, 2).T
    if site is not None:
        kept = site.analysed[rows]
        cases, rows = cases[kept], (np.cumsum(site.analysed) - 1)[rows[kept]]
    values = {key: ratings.values[cases] for key, ratings in found.items()}
    truth = None if site is None or site.dataset.outcome is None else site.dataset.outcome[rows]
    raters = values["labels"].shape[1]
    accuracy = declared.accuracy
    return Readers(
        dataset=site.dataset.name if site is not None else "",
        rows=rows,
        labels=values["labels"],
        confidence=values.get("confidence"),
        complexity=values.get("complexity"),
        truth=truth,
        accuracy=(accuracy,) * raters if isinstance(accuracy, float) else accuracy,
        coherence=declared.coherence,
    )


# ---- one table ------------------------------------------------------------------------------------------------------


def _ratings(key: str, file: str, declared: ReadersTables, folder: Folder, faults: list[Fault]) -> Ratings | None:
    where = f"release.toml, [readers] {key}"
    ending = refused.ending(file, where)
    if ending is not None and not (folder.path / file).is_dir():
        faults.append(ending)
        return None
    content = folder.read(file, where, declared.outside, faults)
    if content is None:
        return None
    found = _columns(key, content, file, declared, faults)
    if found is None:
        return None
    columns, rows = found
    cases = None
    if declared.case is not None:
        cases, columns = _cases(columns[0], rows, file, faults), columns[1:]
        if not columns:
            faults.append(Fault(f"{file} has no raters.", file, f"Put a column for each rater after {declared.case}."))
            return None
    _in_range(key, file, columns, rows, faults)
    return Ratings(file, rows, np.column_stack([one.numbers for one in columns]), cases)


def _columns(
    key: str, content: bytes, file: str, declared: ReadersTables, faults: list[Fault]
) -> tuple[list[Column], list[int]] | None:
    if signatures.kind(file) not in signatures.TEXTS:
        raw = tables.table(content, file, faults)
        if raw is None:
            return None
        return [column(name, cells) for name, cells in raw.columns.items()], [int(row) for row in raw.rows]
    lines = tables.lines(content, file, faults)
    if lines is None:
        return None
    first = [str(cells[0]) for cells in lines.columns]
    header = _header(key, first, file, declared, faults)
    if header is None:
        return None
    start = 1 if header else 0
    if header and declared.case is not None and first[0] != declared.case:
        what = f"The first column of {file} is {first[0]}, not {declared.case}."
        faults.append(Fault(what, f"{file}, first row", "Put the cases' identifiers first, or mend [readers] case."))
        return None
    rows = [int(row) for row in lines.rows[start:]]
    if not rows:
        faults.append(Fault(f"{file} holds no cases.", file, "Put the cases in it."))
        return None
    names = [first[k] if header else f"number {k + 1}" for k in range(len(first))]
    return [column(name, cells[start:]) for name, cells in zip(names, lines.columns, strict=True)], rows


def _header(key: str, first: list[str], file: str, declared: ReadersTables, faults: list[Fault]) -> bool | None:
    """Whether the first line names the raters; None, and a fault, when nobody can tell."""
    if declared.header is not None:
        return declared.header
    cells = first[1:] if declared.case is not None else first
    numbers = column("", _arrow(cells)).numbers
    fits = _fits(key)
    valid = [bool(fits(numbers[k : k + 1])[0]) or cell == "" for k, cell in enumerate(cells)]
    if all(valid):
        return False
    if np.isnan(numbers).all():
        return True
    what = f"The first line of {file} holds neither only ratings nor only names of raters."
    faults.append(Fault(what, f"{file}, first row", "Mend the line, or write header = true or false in [readers]."))
    return None


def _arrow(cells: list[str]) -> object:
    import pyarrow

    return pyarrow.array(cells, pyarrow.string())


def _fits(key: str) -> Callable[[Floats], Bools]:
    if key == "labels":
        return lambda values: np.isin(values, (0.0, 1.0))
    return lambda values: (values >= 0) & (values <= 1)


def _in_range(key: str, file: str, columns: list[Column], rows: list[int], faults: list[Fault]) -> None:
    fits = _fits(key)
    singular = "label" if key == "labels" else key
    text = "not 0 or 1" if key == "labels" else "not a number from 0 to 1"
    fix = (
        "Give 0 or 1, or leave the cell empty."
        if key == "labels"
        else "Give a number from 0 to 1, or leave the cell empty."
    )
    wrong = [
        (rows[int(k)], one.name, one.cells[int(k)].as_py())
        for one in columns
        for k in np.flatnonzero(~one.missing & ~fits(one.numbers))
    ]
    wrong.sort(key=lambda found: found[0])
    places = [row for row, _, _ in wrong]
    raters = [name for _, name, _ in wrong]
    faults += by_row(file, raters, places, lambda k: f"{singular} is {wrong[k][2]}, {text}.", fix)


def _cases(first: Column, rows: list[int], file: str, faults: list[Fault]) -> tuple[str, ...]:
    texts = words(first)
    seen: dict[str, int] = {}
    gaps, repeats = [], []
    for row, text in zip(rows, texts, strict=True):
        if text is None:
            gaps.append(row)
        elif text in seen:
            repeats.append((row, seen[text]))
        else:
            seen[text] = row
    fix = "Give one in every row."
    faults += by_row(file, None, gaps, lambda k: "The case's identifier is missing.", fix)
    fix = "Keep one row a case."
    again = [row for row, _ in repeats]
    faults += by_row(file, None, again, lambda k: f"The case is the same as in row {repeats[k][1]}.", fix)
    return tuple(text or "" for text in texts)


# ---- the tables together --------------------------------------------------------------------------------------------


def _same_shape(found: dict[str, Ratings], faults: list[Fault]) -> None:
    labels = found["labels"]
    for ratings in found.values():
        if ratings.values.shape != labels.values.shape:
            (cases, raters), (wanted_cases, wanted_raters) = ratings.values.shape, labels.values.shape
            what = (
                f"{ratings.file} has {counted(cases, 'case')} and {counted(raters, 'rater')}, "
                f"{labels.file} has {counted(wanted_cases, 'case')} and {counted(wanted_raters, 'rater')}."
            )
            fix = "Give every table one row a case and one column a rater."
            faults.append(Fault(what, f"{ratings.file} and {labels.file}", fix))


def _accuracy_fits(declared: ReadersTables, labels: Ratings, faults: list[Fault]) -> None:
    raters = labels.values.shape[1]
    if isinstance(declared.accuracy, tuple) and len(declared.accuracy) != raters:
        what = f"accuracy has {counted(len(declared.accuracy), 'value')} for {counted(raters, 'rater')}."
        fix = "Give one number for all raters, or one a rater."
        faults.append(Fault(what, "release.toml, [readers] accuracy", fix))


def _aligned(found: dict[str, Ratings], faults: list[Fault]) -> dict[str, Ratings] | None:
    """The tables with their cases in the order of the labels."""
    wanted = found["labels"].cases
    if wanted is None:
        return found
    aligned = {}
    for key, ratings in found.items():
        place = {case: k for k, case in enumerate(ratings.cases or ())}
        lost = [k for k, case in enumerate(wanted) if case not in place]
        rows = [found["labels"].rows[k] for k in lost]
        file = found["labels"].file
        what = f"The case of this row is not in {ratings.file}."
        more = by_row(file, None, rows, lambda _, what=what: what, "Give every table the same cases.")  # type: ignore[misc]
        faults += more
        if more:
            return None
        order = [place[case] for case in wanted]
        aligned[key] = Ratings(ratings.file, found["labels"].rows, ratings.values[order], wanted)
    return aligned


def _site(declared: ReadersTables, sites: Sequence[Site], unread: Sequence[str], faults: list[Fault]) -> Site | None:
    if declared.dataset is None or declared.dataset in unread:
        return None
    names = [site.dataset.name for site in sites]
    if declared.dataset in names:
        return sites[names.index(declared.dataset)]
    near = nearest(declared.dataset, names)
    fix = f"Did you mean {near}?" if near else "Name one of the datasets: " + ", ".join(names) + "."
    where = "release.toml, [readers] dataset"
    faults.append(Fault(f"There is no dataset {declared.dataset}.", where, fix))
    return None


def _order(
    labels: Ratings, declared: ReadersTables, site: Site | None, faults: list[Fault]
) -> list[tuple[int, int]] | None:
    """Each case's row in the tables with its row in the dataset, in the order of the dataset."""
    if site is None:
        return [(k, k) for k in range(len(labels.rows))]
    if labels.cases is not None:
        return _linked(labels, labels.cases, site, faults)
    if len(labels.rows) != site.dataset.rows_read:
        what = f"{labels.file} has {counted(len(labels.rows), 'case')}, "
        what += f"{site.dataset.name} has {counted(site.dataset.rows_read, 'row')}."
        fix = "Give one row a case in the order of the dataset, or link them with case and id."
        faults.append(Fault(what, labels.file, fix))
        return None
    return [(k, k) for k in range(len(labels.rows))]


def _linked(labels: Ratings, cases: tuple[str, ...], site: Site, faults: list[Fault]) -> list[tuple[int, int]] | None:
    if site.identifiers is None:
        what = f"The cases cannot be linked: {site.dataset.name} has no id."
        faults.append(Fault(what, "release.toml, [readers] case", f"Add id = … to the dataset {site.dataset.name}."))
        return None
    place = {identifier: k for k, identifier in enumerate(site.identifiers)}
    strangers = [labels.rows[k] for k, case in enumerate(cases) if case not in place]
    fix = "Keep the cases of the dataset only, or name another dataset."
    what = f"The case of this row is not in {site.dataset.name}."
    faults += by_row(labels.file, None, strangers, lambda _: what, fix)
    if strangers:
        return None
    return sorted(((k, place[case]) for k, case in enumerate(cases)), key=lambda pair: pair[1])
