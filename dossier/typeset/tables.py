"""A table in its final words, and how it is arranged on the width of the page."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from dossier.core import facts, types
from dossier.typeset.numbers import TIED
from dossier.typeset.reasons import why
from dossier.typeset.widths import lines_of, parted, shortened, text_width, widest_word
from dossier.typeset.words import anchor, listing, sentence_case
from dossier.words import entries, sentence

Item = TypeVar("Item")

MEASURE = 168.0
"""The width of the page's live area in mm."""
HALF_MEASURE = MEASURE / 2
"""What is narrower may stand beside something else."""
NARROW = 116.0
"""The most width in mm of a figure that has its caption beside it."""
GAP, INTERVAL_GAP = 2.4, 1.4
"""What stands empty before a column, and between a value and its interval, in mm."""
TIGHT = {GAP: 1.7, INTERVAL_GAP: 0.9}
"""The same in a table whose labels would else not stand on one line."""
LONG_LABEL = 38.0
"""The width in mm of a row's label that columns leave room for; a longer one may be broken."""
LEAST_LABEL = 26.0
"""The least that columns leave for a label that is broken."""
LEAST_WORDS = 22.0
"""The width in mm on which words in a cell can be read; beyond it a word in the head of a column is hyphenated."""
LEAST_STATES = 19.0
"""The same of words in the cells of a column, which stand on as many lines as they need."""
LABEL_GAP = 7.0
"""What stands empty before a label within the table, in mm."""
LINES = 3
"""On how many lines the name of a site may stand before it is shortened."""


@dataclass(frozen=True)
class Cell:
    """What stands in one cell: a value with its interval, or a word in its place."""

    text: str
    interval: str = ""
    kind: Literal["value", "plain", "word", "absent", "alert", "label"] = "value"
    """What it is: a number, a plain one, words, a gap, a number not met, or the label of the cells to its right."""
    link: str = ""
    """The chapter whose page stands in it."""
    of: types.Estimate | None = field(default=None, compare=False, repr=False)
    """The number that it prints, of which a screen says more."""

    @classmethod
    def plain(cls, text: str) -> Cell:
        """A number that is not what the table is read for; empty where there is none."""
        return cls(text, kind="plain")

    @classmethod
    def count(cls, number: int) -> Cell:
        """A plain number of patients, or of what else is counted."""
        return cls(f"{number:,}", kind="plain")

    @classmethod
    def word(cls, text: str) -> Cell:
        """Words."""
        return cls(text, kind="word")

    @classmethod
    def absent(cls, text: str) -> Cell:
        """The word for a gap."""
        return cls(text, kind="absent")


NOT_COMPUTED = Cell.absent("–")
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
    width: float = 0.0
    """The width in mm that its words are set in, where they need more than the least."""
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


def worded(
    name: str,
    rows: Iterable[Row],
    columns: Iterable[Column] = (),
    footnotes: Iterable[str] = (),
    part: int = 0,
    at: str = "",
    **values: object,
) -> Table:
    """A table whose words stand in `words/tables.toml`, filled with values.

    `columns` stand behind those that always have the same head, `part` numbers what takes several tables, `at` tells
    those of one name apart. Words may ask whether a cell is `tinted`.
    """
    kept = tuple(rows)
    values = {"tinted": any(cell.kind == "alert" for row in kept for cell in row.cells), **values}
    words, fill = entries("tables")[name], sentence.Sentence().filled
    title, note, head = (fill(words.get(key, other), values) for key, other in TEXTS.items())
    fixed = [each if isinstance(each, dict) else {"label": each} for each in words.get("columns", ())]
    return Table(
        name=anchor(f"table-{name}-{at or (part if part > 1 else '')}"),
        title=title if part < 2 else f"{title[:-1]}, continued ({part}).",
        note=note.strip() if part < 2 else "",
        head=head,
        columns=(*(Column(**{**each, "label": fill(each["label"], values)}) for each in fixed), *columns),
        rows=kept,
        footnotes=tuple(footnotes),
    )


TEXTS = {"title": "", "note": "", "head": "Site"}
"""The texts of a table, and what stands where there are no words for one."""


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


def pages_of(
    table: Table, sites: Collection[str] = (), folds: bool = False, unlisted: Collection[str] = ()
) -> tuple[Table, ...]:
    """A table as it is set: in parts that the page has room for, with heads and labels that lines can part.

    `sites` are the names that may be shortened where their whole would take many lines, `unlisted` those that have no
    row where they are too many; what `folds` is set in halves where it is long and narrow.
    """
    table = _listed(table, unlisted)
    table = folded(table) if folds else table
    cells = [cell for row in table.rows for cell in row.cells]
    words = list(dict.fromkeys(cell.text.partition(f"{TIED}†")[0] for cell in cells if cell != NOT_COMPUTED))
    # Where every cell is a gap, a sentence says so instead of the rows.
    if words and all(cell.kind == "absent" for cell in cells):
        # What the letters in its cells stood for is said without them.
        why = (note.partition(TIED)[2] if note.startswith("†") else note for note in table.footnotes)
        return (replace(table, rows=(), footnotes=(f"No number is given: {listing(words)}.", *why)),)
    parts = [part for tall in _by_group(table) for part in _by_columns(tall)]
    return tuple(_with_labels(_with_heads(part, sites), sites) for part in parts)


def _listed(table: Table, unlisted: Collection[str]) -> Table:
    """The table without the rows of these sites, and below it that results.csv has them."""
    without = {row.label for row in table.rows if row.cells}.intersection(unlisted)
    if not without:
        return table
    rows = tuple(row for row in table.rows if not row.cells or row.label not in without)
    said = (
        f"Without {len(without):,} sites, which results.csv has. Here stand those where something is shown not to "
        "hold, then the largest; of equal ones the first."
    )
    kept = replace(table, rows=rows)
    return replace(kept, footnotes=(*_footnotes_of(kept, [kept]), said))


def _by_group(table: Table) -> tuple[Table, ...]:
    """The table whole, or group by group, the group's name in the head, where every group is tall."""
    groups = groups_of(table)
    if len(groups) < 2 or min(len(group.rows) for group in groups) <= TALL:
        return (table,)
    return tuple(
        replace(part, head=group.label or table.head, rows=group.rows)
        for part, group in zip(_parts_of(table, len(groups)), groups, strict=True)
    )


def _parts_of(table: Table, count: int) -> list[Table]:
    """A table so many times: its note above the first, its footnotes below the last."""
    return [
        replace(
            table,
            name=f"{table.name}-{index}" if index > 1 else table.name,
            title=table.title if index == 1 else f"{table.title[:-1]}, continued ({index}).",
            note=table.note if index == 1 else "",
            footnotes=table.footnotes if index == count else (),
        )
        for index in range(1, count + 1)
    ]


def _by_columns(table: Table) -> tuple[Table, ...]:
    """The table whole, or in parts of so many columns as the page has room for beside the labels."""
    widths = [_column_width(table, index) for index in range(len(table.columns))]
    room = MEASURE - min(LEAST_LABEL, _widest_label(table))
    if sum(widths) <= room:
        return (table,)
    columns: list[list[int]] = []
    for index, column in enumerate(table.columns):
        before = table.columns[index - 1] if index else None
        # What shares a head above it, the p value of a measure and a difference stay where their column is.
        joined = before is not None and (
            (column.over and column.over == before.over) or column.label in {*P_VALUES.values(), DIFFERENCE}
        )
        together = joined and sum(widths[at] for at in columns[-1]) + widths[index] <= room
        columns[-1:] = [[*columns[-1], index]] if together else [*columns[-1:], [index]]
    parts = packed(columns, [sum(widths[at] for at in unit) for unit in columns], room)
    kept = [[at for unit in part for at in unit] for part in parts]
    found = [
        replace(
            part,
            columns=tuple(table.columns[at] for at in held),
            rows=tuple(replace(row, cells=tuple(row.cells[at] for at in held if row.cells)) for row in table.rows),
        )
        for part, held in zip(_parts_of(table, len(kept)), kept, strict=True)
    ]
    return tuple(replace(part, note=_note_of(part, found), footnotes=_footnotes_of(part, found)) for part in found)


def _note_of(part: Table, parts: Sequence[Table]) -> str:
    """Of the note of a parted table what explains the columns of one part; the first one has what explains none."""
    said = []
    for text in re.split(r"(?<=\.) (?=[A-Z])", parts[0].note):
        explain = [each for each in parts if any(text.startswith(f"{column.label}:") for column in each.columns)]
        said += [text] if part is (explain or parts)[0] else []
    return " ".join(said)


def _footnotes_of(part: Table, parts: Sequence[Table]) -> tuple[str, ...]:
    """Of the footnotes of a parted table those whose letters stand in one part; the last one has those without."""
    words = {word for row in part.rows for cell in row.cells for word in f"{cell.text} {cell.interval}".split()}
    letters = [(note.split()[0], note) for note in parts[-1].footnotes]
    return tuple(note for letter, note in letters if (letter in words if letter.startswith("†") else part is parts[-1]))


def packed(items: Sequence[Item], widths: Sequence[float], room: float) -> list[list[Item]]:
    """Items in order, in as few parts of at most this width as can be, of nearly equal width.

    One that is wider stands alone.
    """
    fewest = len(filled(items, widths, room))
    # As even as can be, as long as that takes no more parts.
    for share in (1.0, 1.1, 1.25, 1.5):
        even = filled(items, widths, min(room, share * sum(widths) / max(fewest, 1)))
        if len(even) == fewest:
            return even
    return filled(items, widths, room)


def filled(items: Sequence[Item], widths: Sequence[float], room: float) -> list[list[Item]]:
    """Items in order, each in the part of the one before as long as that is not wider than the room."""
    parts: list[list[Item]] = []
    left = 0.0
    for item, width in zip(items, widths, strict=True):
        if not parts or width > left:
            parts.append([])
            left = room
        parts[-1].append(item)
        left -= width
    return parts


def _with_heads(table: Table, sites: Collection[str]) -> Table:
    """The table with heads of columns that lines can part; the names of sites among them take three lines."""
    spare = max(label_room(table) - max(_widest_label(table), LEAST_LABEL), 0) / max(len(table.columns), 1)
    widths = [_content_width(table, index) + spare for index in range(len(table.columns))]
    named = [width for column, width in zip(table.columns, widths, strict=True) if column.label.endswith(tuple(sites))]
    short = _short_sites([column.label for column in table.columns], sites, min(named, default=0.0), LINES)
    columns = (
        replace(column, label=parted(short[column.label], width), over=parted(column.over, LEAST_WORDS))
        for column, width in zip(table.columns, widths, strict=True)
    )
    return replace(table, columns=tuple(columns))


def _with_labels(table: Table, sites: Collection[str]) -> Table:
    """The table with labels that have room beside the columns: on one line, or parted; those of sites on two."""
    room = label_room(table)
    short = _short_sites([row.label for row in table.rows if row.kind != "group"], sites, room, LINES)
    rows = [
        replace(
            row, label=parted(row.label, MEASURE, BOLD) if row.kind == "group" else parted(short[row.label], room, BOLD)
        )
        for row in table.rows
    ]
    return replace(table, rows=tuple(rows))


def _short_sites(labels: Sequence[str], sites: Collection[str], width: float, lines: int) -> dict[str, str]:
    """What stands for each label: itself, or for those that name a site and need more lines a shorter one."""
    every = list(dict.fromkeys(labels))
    named = [label for label in every if label.endswith(tuple(sites))]
    fits = all(lines_of(label, width, BOLD) <= lines for label in named)
    return {label: label for label in every} | (
        {} if fits else dict(zip(named, shortened(named, width, BOLD, lines), strict=True))
    )


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


def label_room(table: Table) -> float:
    """The width in mm that the columns of a table leave for the labels of its rows."""
    return MEASURE - sum(_column_width(table, index) for index in range(len(table.columns)))


def is_tight(table: Table) -> bool:
    """Whether the columns of a table stand closer, to leave the labels more room."""
    wide = sum(GAP + _content_width(table, index) for index in range(len(table.columns)))
    return wide + _widest_label(table) > MEASURE


def _widest_label(table: Table) -> float:
    """The width in mm of the longest label, or of the longest word of the head above them."""
    return max(
        widest_word(table.head, BOLD), *(text_width(row.label, BOLD) for row in table.rows if row.kind != "group"), 0
    )


def label_fits(table: Table) -> bool:
    """Whether the longest label of a row stands on one line beside the columns."""
    return _widest_label(table) <= label_room(table)


def is_narrow(table: Table) -> bool:
    """Whether a table is narrower than the page: at most two columns of numbers below a caption of two lines."""
    few = len(table.columns) <= 2 and not any(column.words for column in table.columns)
    fits = _widest_label(table) + MEASURE - label_room(table) <= NARROW_TABLE
    return few and fits and len(f"{table.title} {table.note}") <= NARROW_CAPTION


NARROW_TABLE = 110.0
"""The width in mm of a narrow table."""
NARROW_CAPTION = 125
"""The most characters of a caption that takes two lines above a narrow table."""
BOLD = 600
"""The weight of the heaviest type of a table, in which everything is measured."""


def _column_width(table: Table, index: int) -> float:
    """The width in mm that a column takes, with what stands empty before it."""
    tight = is_tight(table)
    gap = TIGHT[GAP] if tight else GAP
    closer = INTERVAL_GAP - TIGHT[INTERVAL_GAP] if tight and table.columns[index].intervals else 0.0
    return gap + _content_width(table, index) - closer


def _content_width(table: Table, index: int) -> float:
    """The width in mm that a column needs: its widest value with its widest interval, or the longest word of its head.

    Of words, and of heads, only what can be read on one line counts: a longer word is hyphenated.
    """
    column = table.columns[index]
    cells = [row.cells[index] for row in table.rows if index < len(row.cells)]
    if column.labels:
        return LABEL_GAP - GAP + max((text_width(cell.text, BOLD) for cell in cells), default=0.0)
    if column.words:
        return max([column.width or LEAST_WORDS, *(widest_word(cell.text, BOLD) for cell in cells)])
    values = [text_width(cell.text, BOLD) for cell in cells if cell.interval or cell.kind == "value"]
    bounds = [INTERVAL_GAP + text_width(cell.interval, BOLD) for cell in cells if cell.interval]
    # What is no number stands across both; words can be parted.
    across = [
        min(text_width(cell.text, BOLD), LEAST_STATES if cell.kind == "word" else MEASURE)
        for cell in cells
        if not cell.interval and cell.kind != "value"
    ]
    head = min(widest_word(column.label), LEAST_WORDS)
    return max(max(values, default=0.0) + max(bounds, default=0.0), head, *across)


class Reasons:
    """The reasons for what is absent from one table: each with its letter, or for a whole row in a sentence."""

    def __init__(self, evidence: types.Evidence) -> None:
        self.evidence = evidence
        self.letters: dict[str, str] = {}
        self.left_out: dict[str, list[str]] = {}

    def cell(self, absent: types.Absent, beside: str | None = None) -> Cell:
        """The word for a gap, with the letter of its reason, which need not name the dataset that it stands beside."""
        word = f"withheld{TIED}(<{absent.below})" if isinstance(absent, types.Withheld) else "absent"
        return Cell.absent(f"{word}{TIED}{self.why(absent.reason, beside)}")

    def why(self, reason: facts.Fact, beside: str | None = None) -> str:
        """The mark of a reason, which a footnote spells out."""
        return self.letter(why(self.evidence, reason, beside))

    def letter(self, text: str) -> str:
        """The mark of a text, which a footnote spells out: a letter alone would read as an article."""
        before, last = divmod(len(self.letters), 26)
        first = chr(ord("a") + before - 1) if before else ""
        return self.letters.setdefault(sentence_case(text), f"†{first}{chr(ord('a') + last)}")

    def forget(self, text: str) -> None:
        """Print no footnote of a text that is said elsewhere."""
        self.letters.pop(sentence_case(text), None)

    def leave_out(self, label: str, dataset: str, reason: facts.Fact) -> None:
        """Remember a dataset that has no row because nothing of the table exists for it."""
        # The same gap at several sites is said once: "no predictors: Spain and Brazil 1".
        who = self.left_out.setdefault(why(self.evidence, reason, dataset), [])
        who += [] if label in who else [label]

    def footnotes(self) -> tuple[str, ...]:
        """Each letter with its reason, and each reason with the datasets that it left out."""
        lettered = [f"{letter}{TIED}{reason}." for reason, letter in self.letters.items()]
        return (*lettered, *(f"Not shown, {reason}: {listing(who)}." for reason, who in self.left_out.items()))


P_VALUES = {"p_value": "p", "p_holm": f"p{TIED}(Holm)"}
"""The p values that have a column of their own beside a measure, with its heading."""
DIFFERENCE = "SMD"
"""The heading of the standardized mean differences beside what they are of."""


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
    return across if label_fits(replace(across, rows=tuple(row for row in rows if row.kind == "row"))) else table


MANY_ROWS = 7
"""A narrow table of so many rows or more is folded."""


def folded(table: Table) -> Table:
    """A narrow table without groups as two halves beside each other; every other table as it is."""
    body = [row for row in table.rows if row.kind == "row"]
    last = [row for row in table.rows if row.kind == "total"]
    width = max((text_width(row.label, BOLD) for row in body), default=0.0) + MEASURE - label_room(table)
    grouped = len(body) + len(last) < len(table.rows)
    if len(body) < MANY_ROWS or grouped or any(column.words for column in table.columns) or width > MEASURE / 2 - 4:
        return table
    half = -(-len(body) // 2)
    nothing = tuple(Cell.plain("") for _ in table.columns)
    right: list[tuple[Cell, ...]] = [(Cell(row.label, kind="label"), *row.cells) for row in body[half:]]
    right += [(Cell.plain(""), *nothing)] * (half - len(right))
    rows = [replace(row, cells=(*row.cells, *more)) for row, more in zip(body[:half], right, strict=True)]
    rows += [replace(row, cells=(*row.cells, Cell.plain(""), *nothing)) for row in last]
    columns = (*table.columns, Column(table.head, words=True, labels=True), *table.columns)
    return replace(table, columns=columns, rows=tuple(rows))
