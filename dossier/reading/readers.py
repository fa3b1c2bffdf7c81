"""The readers' tables -> labels, confidence and complexity: rows are cases, columns are raters."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

from dossier.core import facts, types
from dossier.core.errors import DataError, Fault
from dossier.core.faults.locations import File, Header, Key, listed_table
from dossier.core.release import ReadersTables, Release
from dossier.reading import datasets, files, signatures, tables
from dossier.reading.columns import Bools, Series, column, numbers_or_codes, repeats, words
from dossier.reading.faults import by_row, nearest, noted

MOST_RATERS = 200
"""Each is compared with every other one; a table of more has its cases in the columns."""


@dataclass(frozen=True)
class Grid:
    """A table with its columns in order, several of which may have no name; None where no row names them."""

    names: tuple[str, ...] | None
    columns: tuple[Any, ...]
    rows: Sequence[int]


@dataclass(frozen=True)
class Ratings:
    """One table of the readers, with its raters' names and its cases' identifiers where it has some."""

    file: str
    rows: Sequence[int]
    values: types.Floats
    raters: tuple[str, ...] | None
    cases: tuple[str, ...] | None


@dataclass(frozen=True)
class Rating:
    """What a table holds: labels, of the classes of the outcome where it has some, or ratings from 0 to 1."""

    key: str
    classes: tuple[str, ...] = ()

    @property
    def is_of_classes(self) -> bool:
        """Whether its cells name classes."""
        return self.key == "labels" and bool(self.classes)

    def column(self, name: str, cells: Any) -> Series:
        """A column with its ratings, or the places of its classes, as numbers."""
        found = column(name, cells)
        return replace(found, numbers=self._places(found)) if self.is_of_classes else found

    def fits(self, values: types.Floats) -> Bools:
        """Which values the table may hold."""
        if self.key != "labels":
            return np.asarray((values >= 0) & (values <= 1))
        return np.isin(values, np.arange(len(self.classes) or 2, dtype=float))

    def _places(self, found: Series) -> types.Floats:
        """The place of each class, by its name; by its number, from 0, where no class is called by one."""
        numbers = () if any(_is_number(name) for name in self.classes) else range(len(self.classes))
        places = {f"{number}": number for number in numbers} | {name: k for k, name in enumerate(self.classes)}
        texts = (None if text is None else text.removesuffix(".0") for text in words(found))
        return np.array([math.nan if text is None else places.get(text, math.nan) for text in texts])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def readers(
    release: Release, folder: files.Folder, sites: Sequence[datasets.Cohort], unread: Sequence[str], faults: list[Fault]
) -> tuple[types.Readers, ...]:
    """What the readers of each dataset gave; those whose tables do not fit together are left out, with faults."""
    several = len(release.readers) > 1
    found = []
    for number, declared in enumerate(release.readers, start=1):
        at = listed_table("readers", number) if several else Key("readers")
        found.append(readers_of(declared, at, folder, sites, unread, faults, release.outcome.classes or ()))
    return tuple(reader for reader in found if reader is not None)


def readers_of(
    declared: ReadersTables,
    at: Key,
    folder: files.Folder,
    sites: Sequence[datasets.Cohort],
    unread: Sequence[str],
    faults: list[Fault],
    classes: tuple[str, ...] = (),
) -> types.Readers | None:
    """The readers' tables with the cases of the analysed rows; None, and faults, when they do not fit together.

    Without a dataset every case of the tables is one, and the truth is unknown. `unread` names the datasets whose own
    faults stand in the list already.
    """
    names = {"labels": declared.labels, "confidence": declared.confidence, "complexity": declared.complexity}
    before = len(faults)
    read = {
        key: noted(faults, _ratings, Rating(key, classes), file, declared, at.of(key), folder, faults)
        for key, file in names.items()
        if file is not None
    }
    found = {key: ratings for key, ratings in read.items() if ratings is not None}
    site = noted(faults, _site, declared, at, sites, unread)
    if len(faults) > before or "labels" not in found or declared.dataset in unread:
        return None
    found = _without_ends(found, site)
    faults += _of_other_size(found) or _of_other_raters(found)
    labels = found["labels"]
    raters = labels.values.shape[1]
    if isinstance(declared.accuracy, tuple) and len(declared.accuracy) != raters:
        values = facts.Count(len(declared.accuracy), "value")
        faults.append(
            Fault("accuracy_of_other_raters", at.of("accuracy"), values=values, raters=facts.Count(raters, "rater"))
        )
    faults += _of_other_groups(declared, at, labels)
    return noted(faults, _linked, declared, found, at, site) if len(faults) == before else None


def _linked(
    declared: ReadersTables, given: dict[str, Ratings], at: Key, site: datasets.Cohort | None
) -> types.Readers | None:
    """The tables with the cases of the dataset; None where its own faults say why they have none."""
    found = _aligned(given)
    order = _order(found["labels"], at, site)
    if order is None:
        return None
    # Of each case its row in the tables, and the row of the dataset that it is.
    cases, rows = np.array(order, dtype=np.int64).reshape(-1, 2).T
    if site is not None:
        kept = site.analysed[rows]
        cases, rows = cases[kept], (np.cumsum(site.analysed) - 1)[rows[kept]]
    values = {key: ratings.values[cases] for key, ratings in found.items()}
    truth = None if site is None else _truth(site.dataset, rows)
    raters = values["labels"].shape[1]
    accuracy = declared.accuracy
    return types.Readers(
        dataset=None if site is None else site.dataset.name,
        rows=rows,
        labels=values["labels"],
        confidence=values.get("confidence"),
        complexity=values.get("complexity"),
        truth=truth,
        accuracy=(accuracy,) * raters if isinstance(accuracy, float) else accuracy,
        groups=None if declared.groups is None else tuple(declared.groups[name] for name in _raters(found["labels"])),
        coherence=declared.coherence,
        desired_accuracy=declared.desired_accuracy,
    )


def _truth(dataset: types.Dataset, rows: NDArray[np.int64]) -> types.Floats | None:
    """The outcome of these rows, of several classes the place of each; None where it is not known."""
    if dataset.classes is not None:
        return dataset.classes[rows].astype(float)
    return None if dataset.outcome is None else dataset.outcome[rows]


def flags(found: types.Readers) -> Iterator[types.Flag]:
    """What may be wrong with the readers' tables: raters of whose accuracy nothing is known."""
    if found.accuracy is None and found.truth is None:
        yield types.Flag.of(found.dataset or types.READERS, facts.Fact("rater_accuracy_assumed"))


# ---- one table ------------------------------------------------------------------------------------------------------


def _ratings(
    kind: Rating, file: str, declared: ReadersTables, where: Key, folder: files.Folder, faults: list[Fault]
) -> Ratings:
    grid = _grid(kind, file, declared, where, folder, faults)
    grid = grid if grid.names is None else _named(kind, grid, grid.names, file, declared)
    names = grid.names or tuple(f"number {k + 1}" for k in range(len(grid.columns)))
    cells, rows = list(zip(names, grid.columns, strict=True)), grid.rows
    cases = None
    if declared.case is not None and cells:
        cases, cells = _cases(column(*cells[0]), rows, file, faults), cells[1:]
    raters = [kind.column(*cell) for cell in cells]
    if not raters:
        after = None if declared.case is None else facts.Fact("after", column=declared.case)
        raise DataError.one("no_raters", File(file), file=file, after=after)
    if len(raters) > MOST_RATERS:
        raise DataError.one("many_raters", File(file), file=file, number=len(raters), most=MOST_RATERS)
    if declared.case is None and grid.names is not None and _names_cases(kind, *raters):
        raise DataError.one("cases_not_declared", where.of("case"), column=raters[0].name)
    faults += _outside(kind, file, raters, rows)
    named = None if grid.names is None else tuple(rater.name for rater in raters)
    return Ratings(file, rows, np.column_stack([rater.numbers for rater in raters]), named, cases)


def _grid(
    kind: Rating, file: str, declared: ReadersTables, where: Key, folder: files.Folder, faults: list[Fault]
) -> Grid:
    head = signatures.kind(file) not in (*signatures.TEXTS, ".xlsx")
    raw = folder.table(file, where, declared.outside, faults, head=head)
    if head:
        as_given = {declared.case, *(raw.columns if kind.is_of_classes else ())}
        cells = {name: raw.columns[name] if name in as_given else numbers_or_codes(raw, name) for name in raw.columns}
        raw = replace(raw, columns=cells)
        raw = raw if declared.case is not None else _with_gaps(raw, first=1)
        return Grid(tuple(raw.columns), tuple(raw.columns.values()), raw.rows.tolist())
    raw = _written(raw, declared)
    columns = tuple(raw.columns.values())
    first = [str(cells[0]) for cells in columns]
    if not _header(kind, first, file, declared):
        return Grid(None, columns, raw.rows.tolist())
    tables.refuse_badly_named(first, len(raw.rows) - 1, file)
    return Grid(tuple(first), tuple(cells[1:] for cells in columns), raw.rows[1:].tolist())


def _written(raw: tables.RawTable, declared: ReadersTables) -> tables.RawTable:
    """The records without columns of nothing, and without rows of nothing where a case has an identifier.

    A spreadsheet that is saved as a text ends its lines, and the file, with separators that part nothing.
    """
    rows_of_each = [(name, tables.filled_rows([cells])) for name, cells in raw.columns.items()]
    kept = {name: raw.columns[name] for name, filled in rows_of_each if filled is None or filled.any()}
    raw = replace(raw, columns=kept)
    return _with_gaps(raw, first=int(raw.rows[0])) if declared.case is None else raw.filled()


def _with_gaps(raw: tables.RawTable, first: int) -> tables.RawTable:
    """The rows with those of nothing between them: without identifiers the place of a row says which case it is.

    Where a row of nothing follows every row, a program has ended each line twice.
    """
    numbers = raw.rows
    if len(numbers) == 0 or (len(numbers) > 2 and (np.diff(numbers) == 2).all()):
        return raw
    every = np.arange(first, int(numbers[-1]) + 1, dtype=np.int64)
    gaps = ~np.isin(every, numbers)
    places = pyarrow.array(np.cumsum(~gaps) - 1, mask=gaps)
    return replace(raw, columns={name: cells.take(places) for name, cells in raw.columns.items()}, rows=every)


def _named(kind: Rating, grid: Grid, names: Sequence[str], file: str, declared: ReadersTables) -> Grid:
    """The columns that have a name, as in any table, with the cases in the first of them; a DataError if not."""
    faults = []
    unnamed = [kind.column(name, cells) for name, cells in zip(names, grid.columns, strict=True) if not name]
    if any((column.missing | kind.fits(column.numbers)).all() for column in unnamed):
        faults.append(Fault("rater_without_name", Header(file), file=file))
    kept = [k for k, name in enumerate(names) if name]
    first = names[kept[0]] if kept else None
    if declared.case is not None and first != declared.case:
        code = "first_named_column_not_case" if kept and kept[0] else "first_column_not_case"
        found = first or facts.Fact("without_name")
        faults.append(Fault(code, Header(file), file=file, column=found, case=declared.case))
    DataError.raise_for(faults)
    return Grid(tuple(names[k] for k in kept), tuple(grid.columns[k] for k in kept), grid.rows)


def _header(kind: Rating, first: list[str], file: str, declared: ReadersTables) -> bool:
    """Whether the first line names the raters; a DataError when nobody can tell."""
    if declared.header is not None:
        return declared.header
    if declared.case is not None and declared.case in first:
        return True
    cells = first[1:] if declared.case is not None else first
    numbers = kind.column("", pyarrow.array(cells, pyarrow.string())).numbers
    if all(fits or cell == "" for fits, cell in zip(kind.fits(numbers), cells, strict=True)):
        return False
    if np.isnan(numbers).all():
        return True
    raise DataError.one("unclear_first_line", Header(file), file=file)


def _names_cases(kind: Rating, first: Series, *others: Series) -> bool:
    """Whether the first column holds names of cases: nothing twice and hardly a rating, and ratings stand beside it."""
    texts, ratings = words(first), [kind.fits(other.numbers) | other.missing for other in others]
    if not texts or not ratings or None in texts or len(set(texts)) < len(texts):
        return False
    return float(np.mean(kind.fits(first.numbers))) < 0.5 < float(np.mean(ratings))


def _outside(kind: Rating, file: str, columns: list[Series], rows: Sequence[int]) -> list[Fault]:
    """The faults of ratings that are none, or that are all on another scale."""
    values = np.concatenate([column.numbers for column in columns])
    known = values[~np.isnan(values)]
    # Points of a scale, or per cent.
    if kind.key != "labels" and len(known) > 0 and known.min() >= 0 and float(np.mean(known > 1)) > 0.5:
        ends = {"low": float(np.nanmin(values)), "high": float(np.nanmax(values))}
        return [Fault("ratings_of_scale", File(file), rating=kind.key, **ends)]
    code = "rating_outside" if kind.key != "labels" else "label_not_class" if kind.classes else "label_not_binary"
    wrong = [
        (rows[int(k)], column.name, column.cells[int(k)].as_py())
        for column in columns
        for k in np.flatnonzero(~column.missing & ~kind.fits(column.numbers))
    ]
    wrong.sort(key=lambda found: found[0])
    places = [row for row, _, _ in wrong]
    raters = [name for _, name, _ in wrong]
    common: dict[str, Any] = {"rating": kind.key} if code == "rating_outside" else {}
    common |= {"known": kind.classes} if code == "label_not_class" else {}
    return by_row(code, file, raters, places, lambda k: {"value": str(wrong[k][2])}, **common)


def _cases(first: Series, rows: Sequence[int], file: str, faults: list[Fault]) -> tuple[str, ...]:
    numbers = np.array(rows, dtype=np.int64)
    faults += by_row("case_without_identifier", file, None, numbers[first.missing])
    again, earliest = (numbers[places] for places in repeats(first))
    faults += by_row("case_twice", file, None, again, lambda k: {"row": int(earliest[k])})
    return tuple(text or "" for text in words(first))


# ---- the tables together --------------------------------------------------------------------------------------------


def _without_ends(found: dict[str, Ratings], site: datasets.Cohort | None) -> dict[str, Ratings]:
    """The tables without rows of nothing at their end, where neither the dataset nor another table has such cases."""
    if found["labels"].cases is not None:
        return found
    judged = [np.flatnonzero(~np.isnan(ratings.values).all(axis=1)) for ratings in found.values()]
    wanted = max(int(rows.max(initial=0)) + 1 for rows in judged)
    wanted = wanted if site is None else max(wanted, site.dataset.rows_read)
    return {
        key: replace(ratings, rows=ratings.rows[:wanted], values=ratings.values[:wanted])
        for key, ratings in found.items()
    }


def _of_other_size(found: dict[str, Ratings]) -> list[Fault]:
    """The faults of tables that have not as many cases and raters as the labels."""
    labels = found["labels"]
    wanted = {f"wanted_{name}": count for name, count in _size(labels).items()}
    return [
        Fault(
            "ratings_of_other_size",
            File(ratings.file, labels.file),
            file=ratings.file,
            labels=labels.file,
            **_size(ratings),
            **wanted,
        )
        for ratings in found.values()
        if ratings.values.shape != labels.values.shape
    ]


def _size(ratings: Ratings) -> dict[str, facts.Count]:
    cases, raters = ratings.values.shape
    return {"cases": facts.Count(cases, "case"), "raters": facts.Count(raters, "rater")}


def _raters(labels: Ratings) -> tuple[str, ...]:
    """The names of the raters; where the tables have none, the numbers of their columns."""
    return labels.raters or tuple(f"{number}" for number in range(1, labels.values.shape[1] + 1))


def _of_other_groups(declared: ReadersTables, at: Key, labels: Ratings) -> Iterator[Fault]:
    """The fault of groups that name other raters than the tables have."""
    if declared.groups is None:
        return
    raters = _raters(labels)
    where = at.of("groups")
    others = [name for name in declared.groups if name not in raters]
    lost = tuple(name for name in raters if name not in declared.groups)
    if others:
        yield Fault("group_of_no_rater", where, name=others[0], file=labels.file, known=raters)
    elif lost:
        yield Fault("rater_without_group", where, lost=_named_raters(lost))


def _named_raters(names: tuple[str, ...]) -> facts.Fact:
    return facts.Fact("rater" if len(names) == 1 else "raters", names=names)


def _of_other_raters(found: dict[str, Ratings]) -> Iterator[Fault]:
    """The faults of tables that name other raters than the labels do; one rater needs no name."""
    labels = found["labels"]
    for ratings in found.values():
        if labels.raters is None or ratings.raters is None or len(labels.raters) == 1:
            continue
        if lost := [name for name in labels.raters if name not in ratings.raters]:
            others, at = tuple(name for name in ratings.raters if name not in labels.raters), Header(ratings.file)
            said = {"labels": labels.file, "file": ratings.file}
            yield Fault("other_raters", at, lost=_named_raters(tuple(lost)), others=others, **said)


def _aligned(found: dict[str, Ratings]) -> dict[str, Ratings]:
    """The tables with their raters and cases in the order of the labels."""
    labels = found["labels"]
    aligned = {key: _with_raters_of(labels, ratings) for key, ratings in found.items()}
    if labels.cases is None:
        return aligned
    for key, ratings in aligned.items():
        index_of = {case: k for k, case in enumerate(ratings.cases or ())}
        _refuse_other_cases(labels, labels.cases, index_of, ratings.file, "case_of_other_table")
        order = [index_of[case] for case in labels.cases]
        aligned[key] = replace(ratings, rows=labels.rows, values=ratings.values[order], cases=labels.cases)
    return aligned


def _with_raters_of(labels: Ratings, ratings: Ratings) -> Ratings:
    if labels.raters is None or ratings.raters is None or len(labels.raters) == 1:
        return ratings
    order = [ratings.raters.index(name) for name in labels.raters]
    return replace(ratings, values=ratings.values[:, order], raters=labels.raters)


def _refuse_other_cases(labels: Ratings, cases: Sequence[str], known: Collection[str], other: str, code: str) -> None:
    """Refuse cases that the other table does not have; a fault for each, for those but for zeros one."""
    unknown_cases = [(row, case) for row, case in zip(labels.rows, cases, strict=True) if case not in known]
    plain = {case.lstrip("0") for case in known} if unknown_cases else set()
    rows = [row for row, case in unknown_cases if case.lstrip("0") not in plain]
    but_for_zeros, faults = len(unknown_cases) - len(rows), by_row(code, labels.file, None, rows, other=other)
    if but_for_zeros:
        zeros = "case_with_other_zeros" if but_for_zeros == 1 else "cases_with_other_zeros"
        cases_of = facts.Count(but_for_zeros, "case")
        faults.insert(0, Fault(zeros, File(labels.file, other), cases_of=cases_of, file=labels.file, other=other))
    DataError.raise_for(faults)


def _site(
    declared: ReadersTables, at: Key, sites: Sequence[datasets.Cohort], unread: Sequence[str]
) -> datasets.Cohort | None:
    if declared.dataset is None or declared.dataset in unread:
        return None
    names = [site.dataset.name for site in sites]
    if declared.dataset in names:
        return sites[names.index(declared.dataset)]
    near, known = nearest(declared.dataset, names), tuple(names)
    raise DataError.one("no_dataset_of_readers", at.of("dataset"), dataset=declared.dataset, known=known, near=near)


def _order(labels: Ratings, at: Key, site: datasets.Cohort | None) -> list[tuple[int, int]] | None:
    """Each case's row in the tables with its row in the dataset, in the order of the dataset; None without its ids."""
    if site is not None and labels.cases is not None:
        if site.declaration.id is None:
            raise DataError.one("cases_not_linked", at.of("case"), dataset=site.dataset.name)
        if site.identifiers is None:
            return None
        index_of = {identifier: k for k, identifier in enumerate(site.identifiers)}
        _refuse_other_cases(labels, labels.cases, index_of, site.dataset.name, "case_of_other_dataset")
        return sorted(((k, index_of[case]) for k, case in enumerate(labels.cases)), key=lambda pair: pair[1])
    if site is not None and len(labels.rows) != site.dataset.rows_read:
        one_more = labels.raters is None and len(labels.rows) == site.dataset.rows_read + 1
        raise DataError.one(
            "cases_of_other_number",
            File(labels.file),
            file=labels.file,
            cases=facts.Count(len(labels.rows), "case"),
            dataset=site.dataset.name,
            rows=facts.Count(site.dataset.rows_read, "row"),
            header=facts.Fact("header_of_raters") if one_more else None,
        )
    return [(k, k) for k in range(len(labels.rows))]
