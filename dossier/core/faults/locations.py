"""Where a fault is: a cell of a table, a key of release.toml, an option, a file, OUT; each is written in one way."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from dossier.words.wording import listed, shortened

RELEASE = "release.toml"


@dataclass(frozen=True)
class Location:
    """Where a fault is, as far as it is known; `str` writes it."""

    words: ClassVar[str] = "{name}"
    """The location as messages write it, with its fields in braces."""

    def __str__(self) -> str:
        return self.words.format(**vars(self))

    @property
    def as_json(self) -> dict[str, object]:
        """The location as JSON holds it."""
        return {"kind": type(self).__name__, **dataclasses.asdict(self)}

    @staticmethod
    def of_json(row: Mapping[str, Any]) -> Location:
        """The location that JSON holds."""
        kinds = {kind.__name__: kind for kind in Location.__subclasses__()}
        kind, fields = kinds[row["kind"]], {name: value for name, value in row.items() if name != "kind"}
        return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()})


@dataclass(frozen=True)
class File(Location):
    """A file or a folder, by the name that the user gave it; with `other` two of them."""

    name: str
    other: str | None = None

    def __str__(self) -> str:
        return self.name if self.other is None else f"{self.name} and {self.other}"


@dataclass(frozen=True)
class Cell(Location):
    """A cell of a table, its rows of one cause, or a column.

    Parameters
    ----------
    table : str
        The file, or the dataset.
    column : str or tuple of str, optional
        The column by its name in the file; several where they are wrong together.
    rows : tuple of int
        The rows as the file numbers them, the first few of them.
    others : int
        How many rows there are beside `rows`.
    character : int, optional
        Where in the row, from 1.
    site : tuple of str, optional
        The column of the site and its value, where only the rows of one site are meant.
    other : str, optional
        A second table that holds the column too.
    """

    table: str
    column: str | tuple[str, ...] | None = None
    rows: tuple[int, ...] = ()
    others: int = 0
    character: int | None = None
    site: tuple[str, ...] | None = None
    other: str | None = None

    def __str__(self) -> str:
        parts = [str(File(self.table, self.other))]
        if self.rows:
            parts.append(_row_numbers(self.rows, self.others))
        if self.character is not None:
            parts.append(f"character {self.character}")
        if isinstance(self.column, str):
            parts.append(f"column {self.column}")
        elif self.column is not None:
            parts.append(f"columns {listed(self.column)}")
        if self.site is not None:
            parts.append(f"{self.site[0]} {shortened(self.site[1])}")
        return ", ".join(parts)


def _row_numbers(rows: tuple[int, ...], others: int) -> str:
    """The rows as a person counts them: row 5, rows 5 and 8, rows 3, 5, 8 and 3 more."""
    if others:
        return f"rows {', '.join(map(str, rows))} and {others} more"
    first, last = ", ".join(map(str, rows[:-1])), str(rows[-1])
    return f"rows {first} and {last}" if first else f"row {last}"


@dataclass(frozen=True)
class Header(Location):
    """The row of a table that names its columns."""

    words = "{table}, first row"

    table: str


@dataclass(frozen=True)
class SheetCell(Location):
    """A cell of a workbook by its name there, such as B7."""

    words = "{table}, cell {cell}"

    table: str
    cell: str


@dataclass(frozen=True)
class SiteName(Location):
    """The name of the site of a dataset."""

    words = "{dataset}, its site"

    dataset: str


@dataclass(frozen=True)
class Key(Location):
    """A table of release.toml, or a key of one.

    Parameters
    ----------
    section : str, optional
        The table, such as "outcome" or "model.term"; None for the top of the file.
    key : str, optional
        The key, with the way into its value: "columns.sex", "parts, value 2".
    number : int, optional
        Which of the tables of a list, from 1.
    name : str, optional
        The name that this table gives itself.
    is_list : bool
        Whether the table stands in two brackets.
    """

    section: str | None = None
    key: str | None = None
    number: int | None = None
    name: str | None = None
    is_list: bool = False

    def __str__(self) -> str:
        if self.section is None:
            return f"{RELEASE}, {self.key}" if self.key else RELEASE
        between = "," if self.is_list else ""
        return f"{RELEASE}, {self.table}" + (f"{between} {self.key}" if self.key else "")

    @property
    def brackets(self) -> str:
        """The table as its heading in the file."""
        return f"[[{self.section}]]" if self.is_list else f"[{self.section}]"

    @property
    def table(self) -> str:
        """The table with its number and its name."""
        number = "" if self.number is None else f" {self.number}"
        return f"{self.brackets}{number}" + ("" if self.name is None else f" ({self.name})")

    def of(self, key: str) -> Key:
        """A key of this table."""
        return replace(self, key=key)


def listed_table(section: str, number: int | None = None, name: str | None = None) -> Key:
    """A table of a list of release.toml; without a number the list."""
    return Key(section, number=number, name=name, is_list=True)


@dataclass(frozen=True)
class Line(Location):
    """A line of a text that cannot be parsed, from 1; without a line the last."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        if self.line is None:
            return f"{self.file}, last line"
        return f"{self.file}, line {self.line}" + ("" if self.column is None else f", column {self.column}")


@dataclass(frozen=True)
class ResultsKey(Location):
    """A key of a results.json, such as "estimates 3, measure"."""

    words = "{file}, {key}"

    file: str
    key: str


@dataclass(frozen=True)
class Option(Location):
    """An option or an argument of the command line, such as --risk or TABLE."""

    name: str


@dataclass(frozen=True)
class Argument(Location):
    """An argument of dossier.validate, with the way into its value: "table 1, measure"."""

    name: str
    key: str | None = None

    def __str__(self) -> str:
        return f"argument {self.path}"

    @property
    def path(self) -> str:
        """The argument and the way into its value."""
        return f"{self.name}, {self.key}" if self.key else self.name


@dataclass(frozen=True)
class Out(Location):
    """The folder that is to be written, as the user named it."""

    words = "{path}"

    path: str


@dataclass(frozen=True)
class StandardOutput(Location):
    """Where the command prints."""

    words = "standard output"


@dataclass(frozen=True)
class TemporaryFolder(Location):
    """The folder for temporary files."""

    words = "the folder for temporary files, {path}"

    path: str


@dataclass(frozen=True)
class Memory(Location):
    """The memory that a process is given."""

    words = "the memory of this process"


@dataclass(frozen=True)
class Material(Location):
    """Something of dossier's own: the templates, a document by its title."""

    name: str
