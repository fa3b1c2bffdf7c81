"""A table or a figure by itself, for a notebook, a paper or a text processor: with the cells and lines of the page."""

from __future__ import annotations

import html
import io
import itertools
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args
from xml.etree import ElementTree

from dossier.core import errors, register, types
from dossier.core.faults.locations import Argument, File, Location, Option
from dossier.outputs import outlined, output
from dossier.reading import arguments, faults
from dossier.report import draw
from dossier.report.chapters import grid, results, verdict
from dossier.typeset import reasons, tables
from dossier.typeset.numbers import MINUS, plain

if TYPE_CHECKING:
    import pandas

Kind = Literal["png", "pdf", "svg", "tiff"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DPI, SCREEN_DPI = 300, 144
"""Dots an inch of a file, and of a picture in a notebook."""
TABLES = (".docx", ".html", ".tex", ".csv")
"""The endings of a table as a file."""
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The day of each part of a .docx, the earliest that there is: the clock would change its bytes."""
WORD_LINE = 152.0
"""The width of a table in a .docx, in mm."""
LETTERS, PADDING, MOST, LINES_OF_A_PAGE = 76, 4, 36, 30
"""Of a line, of the edges of a column, and of a text at most on one line, in letters; what fits a page, in lines."""
NAMED_IN_LATEX = {"\\": "textbackslash", "^": "textasciicircum", "~": "textasciitilde"}
IN_LATEX = str.maketrans(
    {mark: f"\\{mark}" for mark in "&%$#_{}"} | {mark: rf"\{name}{{}}" for mark, name in NAMED_IN_LATEX.items()}
)
WRAPPED = r">{{\raggedright\arraybackslash}}p{{\dimexpr {:.3f}\linewidth-2\tabcolsep\relax}}"
"""A column of LaTeX that takes a share of the line."""


NUMBER = re.compile(rf"{MINUS}?[\d,]*\.?\d+")


@dataclass(frozen=True)
class PrintedTable:
    """A table of the dossier, with the cells, the title and the notes of the page."""

    table: tables.Table

    @property
    def title(self) -> str:
        """Its title, with its full stop."""
        return plain(self.table.title)

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands above and below it: how to read it, and why numbers are absent."""
        return tuple(plain(note) for note in (self.table.note, *self.table.notes) if note)

    @arguments.door
    def to_frame(self) -> pandas.DataFrame:
        """The cells as texts, a value with its interval in one; where rows have groups, these in a first column.

        Returns
        -------
        pandas.DataFrame
            A row for each of the page. Columns that share a head on the page have it as a level above theirs.
        """
        import pandas

        heads, lines = self._heads, [[group, *texts] for group, texts in self._lines]
        columns: Any = [("", "Group"), *heads]
        columns = (
            pandas.MultiIndex.from_tuples(columns) if any(over for over, _ in heads) else [at for _, at in columns]
        )
        frame = pandas.DataFrame(lines, columns=columns, dtype=object)
        return frame if any(group for group, _ in self._lines) else frame.iloc[:, 1:]

    @arguments.door
    def to_html(self) -> str:
        """A plain table in HTML, by pandas, below its title and above its notes."""
        made = ElementTree.Element("figure")
        ElementTree.SubElement(made, "figcaption").text = self.title
        made.append(ElementTree.fromstring(self.to_frame().to_html(index=False, border=0)))
        for note in self.notes:
            ElementTree.SubElement(made, "p").text = note
        return ElementTree.tostring(made, encoding="unicode", method="html")

    def _page(self) -> str:
        """The same as a file by itself."""
        head = f'<!DOCTYPE html>\n<meta charset="utf-8">\n<title>{html.escape(self.title)}</title>\n'
        return f"{head}{self.to_html()}\n"

    @arguments.door
    def to_latex(self) -> str:
        """A table in LaTeX with rules of booktabs, by pandas, its title as the caption; for xelatex or lualatex.

        Its columns wrap where the longest texts would not fit the line, its notes stand below it, and what is longer
        than a page is a longtable.
        """
        frame, caption = self.to_frame(), self.title.translate(IN_LATEX)
        heads = [f"{over} {label}".strip() for over, label in [("", "Group"), *self._heads]][-len(frame.columns) :]
        rows = [heads, *frame.to_numpy().tolist()]
        wraps = sum(max(map(len, column)) for column in zip(*rows, strict=True)) > LETTERS
        letters = [(width, max(width * LETTERS, 1.0)) for width in _widths(rows)]
        columns = "".join(WRAPPED.format(width) for width, _ in letters) if wraps else "l" * len(heads)
        high = sum(max(len(text) // room for text, (_, room) in zip(row, letters, strict=True)) + 1 for row in rows)
        asked: dict[str, Any] = {"label": f"tab:{self.table.name}", "longtable": high > LINES_OF_A_PAGE}
        made = frame.to_latex(index=False, escape=True, caption=caption, column_format=columns, **asked)
        notes = "".join(f"\\par\\footnotesize {note.translate(IN_LATEX)}\n" for note in self.notes)
        return (
            made.replace("\\end{table}", f"{notes}\\end{{table}}") if "\\end{table}" in made else f"{made}{{{notes}}}\n"
        )

    @arguments.door
    def to_docx(self, path: str | Path) -> Path:
        """Write it for a text processor: title, table with a head that is repeated on each page, notes.

        Parameters
        ----------
        path
            The .docx, which is written over.

        Returns
        -------
        pathlib.Path
            The file; the same table gives the same bytes.

        Raises
        ------
        OutputError
            Where python-docx is not installed, or the file cannot be written.
        """
        file = Path(path)
        try:
            import docx
            from docx.oxml.parser import OxmlElement
            from docx.shared import Mm, Pt
        except ImportError:
            raise errors.OutputError.one("docx_not_installed", File(str(file))) from None
        document = docx.Document()
        document.styles["Normal"].font.size = Pt(9)
        document.add_paragraph(self.title, style="Caption")
        made = document.add_table(rows=0, cols=len(self._heads), style="Light Shading")
        rows = [[f"{over} {label}".strip() for over, label in self._heads]]
        for column, width in zip(made.columns, _widths([*rows, *(texts for _, texts in self._lines)]), strict=True):
            column.width = Mm(WORD_LINE * width)
        for group, lines in itertools.groupby(self._lines, key=lambda line: line[0]):
            rows += [[group]] if group else []
            rows += [texts for _, texts in lines]
        for row in rows:
            cells = made.add_row().cells
            for cell, text in zip(cells, row, strict=False):
                cell.text = text
            if len(row) < len(cells):
                cells[0].merge(cells[-1])
        made.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
        for note in self.notes:
            document.add_paragraph(note)
        held = io.BytesIO()
        document.save(held)
        output.write_file(file, _of_no_day(held))
        return file

    @arguments.door
    def save(self, path: str | Path) -> Path:
        """Write it as the ending says: .docx, .html, .tex or .csv.

        Parameters
        ----------
        path
            The file, which is written over.

        Returns
        -------
        pathlib.Path
            The file; the same results give the same bytes.

        Raises
        ------
        ReleaseError, OutputError
            Where the ending is another, or the file cannot be written.
        """
        file = Path(path)
        kind = _ending(file, TABLES)
        if kind == ".docx":
            return self.to_docx(file)
        if kind == ".csv":
            # A number of a page as programs read it; anything else as it is.
            bare = self.to_frame().map(
                lambda cell: cell.replace(MINUS, "-").replace(",", "") if NUMBER.fullmatch(cell) else cell
            )
            text = bare.to_csv(index=False, lineterminator="\n")
        else:
            text = self._page() if kind == ".html" else self.to_latex()
        output.write_file(file, text.encode())
        return file

    @cached_property
    def _columns(self) -> Mapping[int, tables.Column]:
        """The columns by their place, without those of which each cell is but the number of a page."""
        cells = [row.cells for row in self.table.rows if row.cells]
        return {
            at: column
            for at, column in enumerate(self.table.columns)
            if any(row[at].text for row in cells) or not any(row[at].link for row in cells)
        }

    @cached_property
    def _heads(self) -> list[tuple[str, str]]:
        """The head of each column, after what stands over it."""
        heads = [("", self.table.head), *((column.over, column.label) for column in self._columns.values())]
        return [(plain(over), plain(label)) for over, label in heads]

    @cached_property
    def _lines(self) -> list[tuple[str, list[str]]]:
        """The texts of each row, with the name of its group."""

        def text(cell: tables.Cell, column: tables.Column) -> str:
            return plain(f"{cell.text} ({cell.interval})" if column.intervals and cell.interval else cell.text)

        return [
            (plain(group.label), [plain(row.label), *(text(row.cells[at], each) for at, each in self._columns.items())])
            for group in tables.groups_of(self.table)
            for row in group.rows
        ]

    def __repr__(self) -> str:
        return f"{self.title}\n{self.to_frame().to_string(index=False, line_width=None)}"

    def _repr_html_(self) -> str:
        return self.to_html()


def first_look(evidence: types.Evidence) -> str:
    """What page 1 says, as HTML: its first sentence, its questions and the core performance."""
    made, about = ElementTree.Element("p"), evidence.release.release
    made.text = f"{about.model} {about.version}: external validation. {plain(verdict.finding(evidence).lead)}"
    parts = (PrintedTable(table).to_html() for table in (grid.table(evidence), results.essentials(evidence)))
    return "".join([ElementTree.tostring(made, encoding="unicode", method="html"), *parts])


def _widths(rows: Sequence[Sequence[str]]) -> list[float]:
    """Which share of the line each column takes: its longest word, and of the rest the more the longer its texts."""
    columns = list(zip(*rows, strict=True))
    words = [PADDING + max(len(word) for text in column for word in re.split(r"[\s–]", text)) for column in columns]
    texts = [PADDING + max(min(len(text), MOST) for text in column) for column in columns]
    more = [max(text - word, 0) for text, word in zip(texts, words, strict=True)]
    rest = max(LETTERS - sum(words), 0) / max(sum(more), 1)
    letters = [word + rest * each for word, each in zip(words, more, strict=True)]
    return [each / sum(letters) for each in letters]


def _ending(file: Path, known: Sequence[str]) -> str:
    """The ending of a file, which says as what it is written; a ReleaseError names those that there are."""
    if file.suffix.lower() not in known:
        raise faults.not_a_choice(Argument("path"), "path", file.suffix, known)
    return file.suffix.lower()


def _of_no_day(made: io.BytesIO) -> bytes:
    """The parts of a .docx as they are, of one day."""
    held = io.BytesIO()
    with zipfile.ZipFile(made) as before, zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            part = zipfile.ZipInfo(name, FIRST_DAY)
            part.compress_type = zipfile.ZIP_DEFLATED
            after.writestr(part, before.read(name))
    return held.getvalue()


@dataclass(frozen=True)
class PrintedFigure:
    """A figure of the dossier, at the size of the page."""

    picture: types.Picture
    """Its SVG, its size in mm and its words: `title`, `message`, `caption`, `alternative`."""
    evidence: types.Evidence = field(repr=False)

    @arguments.door
    def content(self, kind: Kind, dpi: int = DPI) -> bytes:
        """The figure as a file: an svg has its letters as outlines, a png and a tiff so many dots an inch."""
        if kind == "svg":
            return outlined.outlined(self.picture.svg)
        found = draw.image(self.evidence, self.picture.name, kind, dpi)
        return b"" if isinstance(found, types.Absent) else found

    @arguments.door
    def save(self, path: str | Path, dpi: int = DPI) -> Path:
        """Write it as the ending says: .png, .pdf, .svg or .tiff.

        Parameters
        ----------
        path
            The file, which is written over.
        dpi
            Dots an inch of a .png and a .tiff.

        Returns
        -------
        pathlib.Path
            The file; the same results give the same bytes.

        Raises
        ------
        ReleaseError, OutputError
            Where the ending is another, or the file cannot be written.
        """
        file = Path(path)
        kinds = {f".{kind}": kind for kind in KINDS}
        output.write_file(file, self.content(kinds[_ending(file, list(kinds))], dpi))
        return file

    def _repr_svg_(self) -> str:
        return self.content("svg").decode()

    def _repr_png_(self) -> bytes:
        return self.content("png", SCREEN_DPI)


def figure(evidence: types.Evidence, name: str, at: Location) -> PrintedFigure:
    """A figure by its name; a ReleaseError lists the names that there are, or says why the evidence allows none."""
    known = list(register.fill("report.figures").figures)
    if not isinstance(name, str) or name not in known:
        raise faults.not_a_choice(at, at.name if isinstance(at, Option) else "name", name, known)
    found = draw.picture(evidence, name)
    if isinstance(found, types.Absent):
        raise errors.ReleaseError.one("figure_not_drawn", at, figure=name, reason=reasons.why(evidence, found.reason))
    return PrintedFigure(found, evidence)


def figures(evidence: types.Evidence) -> dict[str, PrintedFigure]:
    """Every figure that the evidence allows, by its name."""
    return {name: PrintedFigure(picture, evidence) for name, picture in draw.gallery(evidence).pictures.items()}
