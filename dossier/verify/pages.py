"""PDF -> Block: the text of a dossier as its tags order it, each block with the chapter and the kind it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pypdf import PdfReader
from pypdf.generic import ContentStream

INLINE = frozenset(("/Span", "/Link", "/NonStruct", "/Em", "/Strong", "/Code", "/Reference"))
"""Tags that run on within the line of their parent."""

MARGIN = 26 * 72 / 25.4
"""The height in points of the head and the foot of a page."""

Place = tuple[int, int]
"""A page and the number of a piece of its marked content."""


@dataclass(frozen=True)
class Block:
    """A paragraph, a cell or another piece of text that stands by itself.

    `path` holds its tags from the document inwards; `row` and `table` number the row and the table that it is in.
    """

    chapter: str
    path: tuple[str, ...]
    text: str
    page: int
    row: int = 0
    table: int = 0

    @property
    def kind(self) -> str:
        """The innermost tag that is no mere part of a line."""
        return next((tag for tag in reversed(self.path) if tag not in INLINE), "")


@dataclass(frozen=True)
class Pages:
    """What a PDF says: the blocks of its text, the texts within its figures, and those of its heads and feet."""

    blocks: tuple[Block, ...]
    drawn: tuple[str, ...]
    margins: tuple[str, ...]


@dataclass(frozen=True)
class _Piece:
    """Text in one piece of marked content, with the height of its baseline above the foot of the page."""

    text: str
    height: float


@dataclass
class _Walk:
    """What has been gathered on the way through the tags."""

    pieces: Mapping[Place, Sequence[_Piece]]
    pages: Mapping[int, int]
    blocks: list[Block] = field(default_factory=list)
    rows: int = 0
    tables: int = 0
    entered: set[int] = field(default_factory=set)
    """The tags that have been read, each of which the reader of the PDF holds as one object."""

    def enter(self, element: Any) -> None:
        """Remember a tag; one that stands below itself, or in two places, would be read for ever."""
        if id(element) in self.entered:
            raise ValueError("one of its tags stands in two places")
        self.entered.add(id(element))


def read(reader: PdfReader) -> Pages:
    """The text of a tagged PDF."""
    pieces: dict[Place, list[_Piece]] = {}
    drawn: list[str] = []
    margins: list[str] = []
    fonts: dict[int, dict[int, str]] = {}
    for number, page in enumerate(reader.pages):
        height = float(page.mediabox.height)
        content = _Content(reader, page["/Resources"], fonts, [(None, "")])
        for mark, tag, piece in content.texts(page.get_contents()):
            if tag == "/Figure":
                drawn.append(piece.text)
            elif mark is None or not MARGIN < piece.height < height - MARGIN:
                margins.append(piece.text)
            else:
                pieces.setdefault((number, mark), []).append(piece)
    walk = _Walk(
        pieces, {page.indirect_reference.idnum: n for n, page in enumerate(reader.pages) if page.indirect_reference}
    )
    root: Any = reader.trailer["/Root"]
    for part in _children(_children(root["/StructTreeRoot"])[0]):
        _element(walk, part, (), 0, 0)
    return Pages(tuple(_with_chapters(walk.blocks)), tuple(drawn), tuple(margins))


def _with_chapters(blocks: Sequence[Block]) -> Iterator[Block]:
    """Each block with the title of the chapter that it stands in: the last one that was opened."""
    title = ""
    for block in blocks:
        if block.kind == "/H1":
            title = re.sub(r"^\d+\s*", "", block.text)
        yield replace(block, chapter=title)


# ---- the tags -------------------------------------------------------------------------------------------------------


def _children(element: Any) -> list[Any]:
    inner = element.get("/K", [])
    inner = inner.get_object() if hasattr(inner, "get_object") else inner
    return [
        one.get_object() if hasattr(one, "get_object") else one
        for one in (inner if isinstance(inner, list) else [inner])
    ]


def _element(walk: _Walk, element: Any, path: tuple[str, ...], row: int, table: int) -> None:
    """An element that is a block of its own: the text of its lines, and then the blocks within it."""
    walk.enter(element)
    path = (*path, str(element["/S"]))
    if path[-1] == "/Table":
        walk.tables += 1
        table = walk.tables
    if path[-1] == "/TR":
        walk.rows += 1
        row = walk.rows
    lines: list[tuple[int, _Piece]] = []
    first = len(walk.blocks)
    for page, piece, inner, tags in _inline(walk, element, ()):
        if inner is not None:
            _flush(walk, lines, path, row, table)
            _element(walk, inner, (*path, *tags), row, table)
        elif "/Link" in tags and piece.text.strip().isdigit():
            walk.blocks.append(Block("", (*path, "/Link", "/Page"), piece.text.strip(), page, row, table))
        else:
            lines.append((page, piece))
    _flush(walk, lines, path, row, table)
    if path[-2:] == ("/L", "/Div"):
        _joined(walk, first, (*path, "/LI", "/LBody"))


def _joined(walk: _Walk, first: int, path: tuple[str, ...]) -> None:
    """Put the lines of an entry of a list together: what runs on in it has an element for each line."""
    entry = walk.blocks[first:]
    if len(entry) > 1 and all(one.path == path for one in entry):
        walk.blocks[first:] = [replace(entry[0], text=" ".join(one.text for one in entry))]


def _inline(
    walk: _Walk, element: Any, tags: tuple[str, ...]
) -> Iterator[tuple[int, _Piece, Any | None, tuple[str, ...]]]:
    """What runs on in the line of an element, and each block that interrupts it."""
    for child in _children(element):
        if isinstance(child, int) or child.get("/Type") == "/MCR":
            holder = element if isinstance(child, int) else child
            page = walk.pages[(holder if "/Pg" in holder else element).raw_get("/Pg").idnum]
            mark = int(child if isinstance(child, int) else child["/MCID"])
            for piece in walk.pieces.get((page, mark), ()):
                yield page, piece, None, tags
        elif "/S" not in child:
            continue
        elif child["/S"] in INLINE:
            walk.enter(child)
            yield from _inline(walk, child, (*tags, str(child["/S"])))
        else:
            yield 0, _Piece("", 0), child, tags


def _flush(walk: _Walk, lines: list[tuple[int, _Piece]], path: tuple[str, ...], row: int, table: int) -> None:
    """Turn the gathered lines into a block: what stands on one line is joined, what does not is parted."""
    text = ""
    before: tuple[int, float] | None = None
    for page, piece in lines:
        here = (page, round(piece.height, 1))
        text += piece.text if before in (None, here) else f" {piece.text}"
        before = here
    if text.strip():
        walk.blocks.append(Block("", path, text.strip(), lines[0][0], row, table))
    lines.clear()


# ---- the content of a page ------------------------------------------------------------------------------------------

Matrix = tuple[float, float, float, float, float, float]


@dataclass
class _Content:
    """The content of a page or a form while it is read from top to bottom."""

    reader: PdfReader
    resources: Any
    fonts: dict[int, dict[int, str]]
    marked: list[tuple[int | None, str]]
    matrix: Matrix = (1, 0, 0, 1, 0, 0)
    saved: list[Matrix] = field(default_factory=list)
    known: Mapping[int, str] = field(default_factory=dict)
    text: str = ""
    height: float = 0.0

    def texts(self, content: Any) -> Iterator[tuple[int | None, str, _Piece]]:
        """Each text: the number and the tag of its marked content, the words and their height."""
        for operands, operator in ContentStream(content, self.reader).operations:
            if operator == b"ET" and self.text:
                yield (*self.marked[-1], _Piece(self.text, self.height))
            elif operator == b"Do":
                yield from self._form(self.resources["/XObject"][operands[0]])
            elif operator in (b"BT", b"Tf", b"Tm", b"Tj", b"TJ"):
                self._write(operator, operands)
            else:
                self._set(operator, operands)

    def _form(self, form: Any) -> Iterator[tuple[int | None, str, _Piece]]:
        """The texts of a drawing that is kept apart."""
        if form["/Subtype"] == "/Form":
            inner = _Content(self.reader, form["/Resources"], self.fonts, [self.marked[-1]], self.matrix)
            yield from inner.texts(form)

    def _write(self, operator: bytes, operands: Sequence[Any]) -> None:
        if operator == b"BT":
            self.text = ""
        elif operator == b"Tf":
            self.known = _unicode(self.resources["/Font"][operands[0]], self.fonts)
        elif operator == b"Tm":
            self.height = _times(_numbers(operands), self.matrix)[5]
        else:
            self.text += "".join(_decoded(one, self.known) for one in _strings(operands))

    def _set(self, operator: bytes, operands: Sequence[Any]) -> None:
        if operator in (b"BDC", b"BMC"):
            entry = operands[1] if len(operands) > 1 and isinstance(operands[1], dict) else {}
            mark, tag = self.marked[-1]
            self.marked.append((entry.get("/MCID", mark), tag if tag == "/Figure" else str(operands[0])))
        elif operator == b"EMC":
            self.marked.pop()
        elif operator == b"q":
            self.saved.append(self.matrix)
        elif operator == b"Q":
            self.matrix = self.saved.pop()
        elif operator == b"cm":
            self.matrix = _times(_numbers(operands), self.matrix)


def _numbers(operands: Sequence[Any]) -> Matrix:
    a, b, c, d, e, f = (float(one) for one in operands)
    return a, b, c, d, e, f


def _times(one: Matrix, other: Matrix) -> Matrix:
    """What it means to draw first by one matrix and then by the other."""
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


def _strings(operands: Sequence[Any]) -> Iterator[bytes]:
    for one in operands[0] if isinstance(operands[0], list) else operands:
        if isinstance(one, str | bytes):
            yield one if isinstance(one, bytes) else one.original_bytes  # type: ignore[attr-defined]


def _decoded(codes: bytes, known: Mapping[int, str]) -> str:
    """The characters of a string; a code without a character is shown as one that is in no number."""
    return "".join(known.get(codes[at] * 256 + codes[at + 1], "\ufffd") for at in range(0, len(codes) - 1, 2))


def _unicode(font: Any, fonts: dict[int, dict[int, str]]) -> dict[int, str]:
    """Which characters the codes of a font stand for."""
    number = font.indirect_reference.idnum if font.indirect_reference else id(font)
    if number not in fonts:
        table = font["/ToUnicode"].get_data().decode("latin-1")
        fonts[number] = {
            int(code, 16): bytes.fromhex(text).decode("utf-16-be")
            for part in re.findall(r"beginbfchar(.*?)endbfchar", table, re.DOTALL)
            for code, text in re.findall(r"<([0-9a-fA-F]+)>\s*<([0-9a-fA-F]+)>", part)
        }
    return fonts[number]
