"""A table in its final words, and how it is arranged on the width of the page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from dossier.core.facts import Fact
from dossier.core.types import Absent, Evidence, Withheld
from dossier.typeset.numbers import TIED
from dossier.typeset.reasons import why
from dossier.typeset.words import listing, sentence_case

MEASURE = 168.0
"""The width of the page's live area in mm."""
HALF_MEASURE = MEASURE / 2
"""What is narrower may stand beside something else."""
NARROW = 116.0
"""The most width in mm of a figure that has its caption beside it."""
FOOT = 130.0
"""The most height in mm of a figure at the foot of a page; a higher one stands where its chapter comes to it."""
CHARACTER = 1.8
"""The width of a character of a table in mm: digits are a little wider, letters a little narrower."""
LONG_LABEL = 22
"""Characters of a row's label that columns leave room for; a longer one may be broken."""


@dataclass(frozen=True)
class Cell:
    """What stands in one cell: a value with its interval, or a word in its place."""

    text: str
    interval: str = ""
    kind: Literal["value", "plain", "word", "absent", "alert", "label"] = "value"
    """What it is: a number, a plain one, words, a gap, a number not met, or the label of the cells to its right."""


NOT_COMPUTED = Cell("–", kind="absent")
"""Where a row has no such number by its nature; a note below the table says so."""


@dataclass(frozen=True)
class Row:
    """A row of a table, or the name of a group of rows."""

    label: str
    cells: tuple[Cell, ...] = ()
    kind: Literal["row", "group", "total"] = "row"


@dataclass(frozen=True)
class Column:
    """The head of a column, and whether its cells have intervals, words, or are labels themselves."""

    label: str
    intervals: bool = False
    words: bool = False
    labels: bool = False
    """Whether its cells name what stands to their right, as the first column does."""
    over: str = ""
    """What is said once above it and its neighbours that share it."""
    unit: str = ""
    """What its values are counted in, where that is not 1."""


@dataclass(frozen=True)
class Table:
    """A table in its final words."""

    name: str
    title: str
    """A sentence, with its full stop."""
    note: str
    head: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    footnotes: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The footnotes, and what a dash means where one stands in a cell."""
        dashed = any(NOT_COMPUTED in row.cells for row in self.rows)
        return (*self.footnotes, "–: not computed here.") if dashed else self.footnotes


@dataclass(frozen=True)
class Spanner:
    """A head above neighbouring columns; no name where they have none."""

    label: str
    cells: int


def spanners(table: Table) -> tuple[Spanner, ...]:
    """The heads above the columns in order, each with the cells that it spans; none where no column has one."""
    found: list[Spanner] = []
    for column in table.columns:
        cells = 2 if column.intervals else 1
        if found and found[-1].label == column.over:
            cells += found.pop().cells
        found.append(Spanner(column.over, cells))
    return tuple(found) if any(spanner.label for spanner in found) else ()


FEW = 3
"""Rows of the first page's table that leave it half empty: its lines are set wider apart."""

SHORT = 8
"""A table of fewer rows stays on one page; a longer one may be parted, three rows or more on either side."""

WHOLE = 12
"""A group of at most so many rows stays on one page."""

TALL = 24
"""A group of more rows than this may be parted at the end of a page, so each page must name it."""


def pages_of(table: Table) -> tuple[Table, ...]:
    """A table as it is set: whole, or group by group, the group's name in the head, where every group is tall."""
    groups = groups_of(table)
    if len(groups) < 2 or min(len(group.rows) for group in groups) <= TALL:
        return (table,)
    parts = []
    for index, group in enumerate(groups, start=1):
        name = f"{table.name}-{index}" if index > 1 else table.name
        title = table.title if index == 1 else f"{table.title[:-1]}, continued ({index})."
        note = table.note if index == 1 else ""
        notes = table.footnotes if index == len(groups) else ()
        parts.append(Table(name, title, note, group.label or table.head, table.columns, group.rows, notes))
    return tuple(parts)


@dataclass(frozen=True)
class Group:
    """Rows under one name, which stay on one page; no name where the table has no groups."""

    label: str
    rows: tuple[Row, ...]


def groups_of(table: Table) -> tuple[Group, ...]:
    """The rows of a table by group."""
    found: list[Group] = []
    for row in table.rows:
        if row.kind == "group":
            found.append(Group(row.label, ()))
        elif found:
            found[-1] = Group(found[-1].label, (*found[-1].rows, row))
        else:
            found.append(Group("", (row,)))
    return tuple(found)


def with_short_labels(table: Table) -> Table:
    """The table with its sites up to the first comma, where the whole names have no room and these still differ."""
    labels = list(dict.fromkeys(row.label for row in table.rows if row.kind == "row"))
    short = {label: label.split(",")[0] for label in labels}
    if label_fits(table) or len(set(short.values())) < len(labels):
        return table
    return replace(table, rows=tuple(replace(row, label=short.get(row.label, row.label)) for row in table.rows))


def label_fits(table: Table) -> bool:
    """Whether the longest label of a row stands on one line beside the columns."""
    longest = max((len(row.label) for row in table.rows if row.kind != "group"), default=0)
    return longest * LETTER + sum(_column_width(table, index) for index in range(len(table.columns))) <= MEASURE


def is_narrow(table: Table) -> bool:
    """Whether a table is narrower than the page: at most two columns of numbers below a caption of two lines."""
    few = len(table.columns) <= 2 and not any(column.words for column in table.columns)
    return few and label_fits(table) and len(f"{table.title} {table.note}") <= NARROW_CAPTION


NARROW_CAPTION = 125
"""The most characters of a caption that takes two lines above a narrow table."""
LETTER = 1.72
"""The width of a letter of a label in mm."""


def _column_width(table: Table, index: int) -> float:
    """The width in mm of a column: its widest cell, or the longest word of its head."""
    column = table.columns[index]
    cells = [row.cells[index] for row in table.rows if index < len(row.cells)]
    if column.labels:
        return 7.0 + max(len(cell.text) for cell in cells) * LETTER
    if column.words:
        return MEASURE / 3
    widest = max((len(cell.text) + len(cell.interval) for cell in cells), default=0)
    heading = max(map(len, column.label.split()), default=0)
    return 2.4 + (1.4 if column.intervals else 0.0) + max(widest, heading) * CHARACTER


class Reasons:
    """The reasons for what is absent from one table: each with its letter, or for a whole row in a sentence."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.letters: dict[str, str] = {}
        self.left_out: dict[str, list[str]] = {}

    def cell(self, absent: Absent) -> Cell:
        """The word for a gap, with the letter of its reason."""
        word = f"withheld{TIED}(<{absent.below})" if isinstance(absent, Withheld) else "absent"
        return Cell(f"{word}{TIED}{self.why(absent.reason)}", kind="absent")

    def why(self, reason: Fact) -> str:
        """The mark of a reason, which a footnote spells out."""
        return self.letter(why(self.evidence, reason))

    def letter(self, text: str) -> str:
        """The mark of a text, which a footnote spells out: a letter alone would read as an article."""
        return self.letters.setdefault(sentence_case(text), f"†{_letter(len(self.letters))}")

    def forget(self, text: str) -> None:
        """Print no footnote of a text that is said elsewhere."""
        self.letters.pop(sentence_case(text), None)

    def leave_out(self, label: str, dataset: str, reason: Fact) -> None:
        """Remember a dataset that has no row because nothing of the table exists for it."""
        # The same gap at several sites is said once: "no predictors: Spain and Brazil 1".
        self.left_out.setdefault(why(self.evidence, reason, dataset), []).append(label)

    def footnotes(self) -> tuple[str, ...]:
        """Each letter with its reason, and each reason with the datasets that it left out."""
        lettered = [f"{letter}{TIED}{reason}." for reason, letter in self.letters.items()]
        return (*lettered, *(f"Not shown, {reason}: {listing(who)}." for reason, who in self.left_out.items()))


def _letter(count: int) -> str:
    return chr(ord("a") + count) if count < 26 else f"{chr(ord('a') + count // 26 - 1)}{chr(ord('a') + count % 26)}"


P_VALUES = {"p_value": "p", "p_holm": f"p{TIED}(Holm)"}
"""The p values that have a column of their own beside a measure, with its heading."""


def groups_across(table: Table) -> Table:
    """A table whose groups have the same rows, with the groups beside each other; every other table as it is."""
    groups = groups_of(table)
    names = [[(row.kind, row.label) for row in group.rows] for group in groups]
    alike = len(groups) > 1 and all(group.label for group in groups) and all(name == names[0] for name in names)
    if not alike or any(column.words for column in table.columns):
        return table
    alone = len(table.columns) == 1
    # A measure alone with its p values is named by the title.
    value, *others = table.columns
    tested = bool(others) and all(each.label in P_VALUES.values() for each in others)
    own = (replace(value, label=sentence_case(value.unit or "value")), *others) if tested else table.columns
    columns = tuple(
        replace(column, label=group.label) if alone else replace(column, over=group.label)
        for group in groups
        for column in own
    )
    lines = zip(*(group.rows for group in groups), strict=True)
    rows = tuple(replace(line[0], cells=tuple(cell for row in line for cell in row.cells)) for line in lines)
    across = replace(table, columns=columns, rows=rows)
    # The name of all sites together may stand on two lines.
    sites = replace(across, rows=tuple(row for row in rows if row.kind == "row"))
    return across if label_fits(sites) else table


MANY_ROWS = 7
"""A narrow table of so many rows or more is folded."""


def folded(table: Table) -> Table:
    """A narrow table without groups as two halves beside each other; every other table as it is."""
    body = [row for row in table.rows if row.kind == "row"]
    last = [row for row in table.rows if row.kind == "total"]
    width = min(max((len(row.label) for row in body), default=0), LONG_LABEL) * LETTER
    width += sum(_column_width(table, index) for index in range(len(table.columns)))
    grouped = len(body) + len(last) < len(table.rows)
    if len(body) < MANY_ROWS or grouped or any(column.words for column in table.columns) or width > MEASURE / 2 - 4:
        return table
    half = -(-len(body) // 2)
    nothing = tuple(Cell("", kind="plain") for _ in table.columns)
    right: list[tuple[Cell, ...]] = [(Cell(row.label, kind="label"), *row.cells) for row in body[half:]]
    right += [(Cell("", kind="plain"), *nothing)] * (half - len(right))
    rows = [replace(row, cells=(*row.cells, *more)) for row, more in zip(body[:half], right, strict=True)]
    rows += [replace(row, cells=(*row.cells, Cell("", kind="plain"), *nothing)) for row in last]
    columns = (*table.columns, Column(table.head, words=True, labels=True), *table.columns)
    return replace(table, columns=columns, rows=tuple(rows))
