"""Document -> PDF: WeasyPrint and nothing else.

WeasyPrint writes PDF/A or PDF/UA, not both in one file. `_finish` adds what the other one asks for to the finished tree
of objects, just before it is written. It looks inside WeasyPrint (boxes, fonts), hence the range of versions.
"""

from __future__ import annotations

import copy
import datetime
import hashlib
import logging
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname
from xml.etree import ElementTree

import pydyf
import weasyprint
from weasyprint import CSS, DEFAULT_OPTIONS, HTML, Attachment, svg
from weasyprint.css.counters import CounterStyle
from weasyprint.css.properties import INITIAL_VALUES
from weasyprint.css.targets import TargetCollector
from weasyprint.draw.text import draw_first_line
from weasyprint.formatting_structure.boxes import BlockContainerBox, MarginBox, TableCellBox, TextBox
from weasyprint.html import UA_STYLESHEET
from weasyprint.layout import inline, preferred
from weasyprint.matrix import Matrix
from weasyprint.svg.text import Style
from weasyprint.svg.text import TextBox as TextOfFigure
from weasyprint.text.fonts import FontConfiguration, get_hb_object_data
from weasyprint.text.line_break import Layout, _font_style_cache_key, split_first_line, strut
from weasyprint.urls import URLFetcher, URLFetcherResponse

from dossier.core import collector, errors, material, types
from dossier.core.faults.locations import Material
from dossier.typeset.numbers import plain

_TYPES = {".svg": "image/svg+xml", ".png": "image/png", ".ttf": "font/ttf"}
_FONTS = "fonts/"
PACKED = 6
"""How hard streams are compressed, of 9."""

_UNIVERSAL_ACCESS = Path(__file__).with_name("universal_access.xml").read_bytes().replace(b"\n", b"")
"""The claim of PDF/UA-1, and the schema that PDF/A wants for every property that it does not know itself."""


def pdf(document: types.Document) -> bytes:
    """The document as a tagged, archival PDF; the same document gives the same bytes."""
    # WeasyPrint would drop them in silence.
    if document.archival == "pdf/a-2a" and document.attachments:
        names = tuple(attachment.name for attachment in document.attachments)
        raise errors.PageError.one("attachment_in_pdf_a2", Material(document.title), files=names)
    with _silence(document) as faults, collector.held_off(), ExitStack() as at_the_end:
        fonts = FontConfiguration()
        # It keeps copies of their files in a folder until it is garbage-collected.
        at_the_end.callback(fonts.__del__)
        rendered = _rendered(document, fonts)
        _refuse_words_without_room(document, rendered.pages)
        # Every figure and table has its place: what a style sheet lets float may find none, and is then left out.
        boxes = (box for page in rendered.pages for box in page._page_box.descendants(placeholders=True))
        there = {box.element.get("id") for box in boxes if isinstance(box.element, ElementTree.Element)}
        if lost := [name for name in NAMED.findall(document.html) if name not in there]:
            raise errors.PageError.one("on_no_page", Material(document.title), names=tuple(lost))
        midnight = datetime.datetime.combine(document.date, datetime.time(), datetime.UTC)
        printed: bytes = rendered.write_pdf(
            finisher=lambda _, tree: faults.extend(_finish(document, rendered, tree)),
            pdf_variant=document.archival,
            pdf_identifier=False,
            attachments=[
                Attachment(
                    string=each.content,
                    name=each.name,
                    description=each.description,
                    relationship="Data",
                    created=midnight,
                    modified=midnight,
                )
                for each in document.attachments
            ],
            full_fonts=document.full_fonts,
        )
    # The identifiers go into the dictionary that ends the file. pydyf would write every object again for their hash.
    end = printed.rindex(b"/Type /XRef")
    both: bytes = pydyf.Array(map(pydyf.String, (document.identifier, hashlib.sha256(printed).hexdigest()[:32]))).data
    return printed[:end] + b"/ID " + both + printed[end:]


def _rendered(document: types.Document, fonts: Any) -> Any:
    """The pages, laid out, with the metadata of the document instead of what the HTML says."""
    fetcher = _Fetcher(document.images)
    counters = CounterStyle()
    sheets = [
        CSS(filename=path, url_fetcher=fetcher, font_config=fonts, counter_style=counters)
        for path in document.stylesheets
    ]
    html = _Html(document.html, fetcher)
    rendered = _Pages._render(html, fonts, counters, None, {**DEFAULT_OPTIONS, "stylesheets": sheets})
    for page in rendered.pages:
        page.bookmarks = [(level, plain(label), *rest) for level, label, *rest in page.bookmarks]
    rendered.metadata.title = document.title
    rendered.metadata.lang = document.language
    rendered.metadata.created = rendered.metadata.modified = f"{document.date.isoformat()}T00:00:00Z"
    return rendered


class _Targets(TargetCollector):  # type: ignore[misc]  # WeasyPrint has no types
    """The places that page references point to, kept so that no page is laid out once more than they need.

    WeasyPrint does not read the name of such a place from an attribute, and lays out every page that refers to one
    again whenever a counter of that page itself has changed: at last the number of all pages, which we print nowhere.
    """

    def collect_missing_counters(
        self, box: Any, token: str, again: Any, missing: list[str], of_targets: dict[str | None, list[str]]
    ) -> None:
        """Keep which counters the box wants of which place."""
        if None in of_targets:
            missing, of_targets = [], {box.element.attrib["href"].removeprefix("#"): of_targets[None]}
        super().collect_missing_counters(box, token, again, missing, of_targets)

    def cache_target_page_counters(self, anchor: str, counters: dict[str, Any], *where: Any) -> None:
        """Keep the counters of the page that the place is on."""
        kept = {name: value for name, value in counters.items() if name != "pages"}
        super().cache_target_page_counters(anchor, kept, *where)


def _set_again(line: Any, style: Any, again: Any = Layout.reactivate) -> None:
    """Set a line anew for its page where it is stretched; WeasyPrint keeps none, and sets each twice, to spare 7 MB."""
    if line.justification_spacing:
        again(line, style)


Layout.deactivate, Layout.reactivate = lambda _: None, _set_again


MORE_LOOKS = ("font_kerning", "letter_spacing", "word_spacing", "white_space", "direction", "text_decoration_line")
"""What of a style a line that is not broken depends on, besides its font and its size."""
BEFORE = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""How much of a text of a figure stands before its anchor."""


def _first_line(text: str, style: Any, context: Any, room: float | None, *rest: Any, **named: Any) -> Any:
    """A layout, its length, where the next line begins, its width and more: measured once if all of a text fits."""
    if "looks" not in vars(style):
        style.looks = _font_style_cache_key(style, include_size=True) + str([style[name] for name in MORE_LOOKS])
    key, known = (text, style.looks, rest), vars(style.font_config).setdefault("fitting", {})
    if key in known and (room is None or known[key][3] <= room):
        return known[key]
    found = split_first_line(text, style, context, room, *rest, **named)
    if found[2] is None and (room is None or found[3] <= room):
        known[key] = found
    return found


def _strut(style: Any) -> Any:
    """The least height of a line of a style, and its baseline, measured once."""
    if "strut" not in vars(style):
        style.strut = strut(style)
    return style.strut


inline.split_first_line = preferred.split_first_line = _first_line
inline.strut = _strut


def _draw_text(figure: Any, node: Any, size: float) -> None:
    """Draw a text of a figure in one run, as those of pages are; WeasyPrint sets each of its letters by itself."""
    said = node.attrib
    style = Style(INITIAL_VALUES)
    style["font_size"], style["font_family"] = size, [each.strip("'\" ") for each in said["font-family"].split(",")]
    style["font_weight"], style["font_style"] = int(said.get("font-weight", 400)), said.get("font-style", "normal")
    style.font_config = figure.font_config
    layout, _, _, width, _, baseline = _first_line(node.text, style, figure.context, None, 0)
    x, y = float(said["x"]) - BEFORE[said.get("text-anchor", "start")] * width, float(said["y"])
    figure.fill_stroke(*figure.set_graphical_state(node, size), text=True)
    figure.stream.begin_text()
    box = TextOfFigure(layout, style)
    box.baseline = baseline
    draw_first_line(figure.stream, box, "none", "none", Matrix(d=-1, e=x, f=y))
    figure.stream.end_text()


svg.TAGS["text"] = _draw_text


class _Html(HTML):  # type: ignore[misc]
    """The text of a document: XML, as HTML is read letter by letter; five marks of notes have no style."""

    def __init__(self, text: str, fetcher: URLFetcher) -> None:
        self.base_url, self.url_fetcher, self.media_type = "dossier:", fetcher, "print"
        try:
            self.etree_element = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise errors.PageError.one("template", Material("templates"), message=str(error)) from error
        self.wrapper_element = weasyprint.cssselect2.ElementWrapper.from_html_root(self.etree_element)

    def _ua_stylesheets(self, forms: bool = False) -> list[Any]:
        sheet = copy.copy(UA_STYLESHEET)
        sheet.matcher = copy.copy(sheet.matcher)
        sheet.matcher.other_selectors = [rule for rule in sheet.matcher.other_selectors if "note" not in str(rule[3])]
        return [sheet]


class _Pages(weasyprint.Document):  # type: ignore[misc]
    """The pages of a document, laid out no more often than page references need."""

    @classmethod
    def _build_layout_context(cls, *arguments: Any) -> Any:
        context = super()._build_layout_context(*arguments)
        context.target_collector.__class__ = _Targets
        return context


# ---- what goes in ---------------------------------------------------------------------------------------------------


class _Fetcher(URLFetcher):  # type: ignore[misc]  # WeasyPrint has no types
    """Gives out the images of the document, the fonts that ship and data URIs; no network and no other file."""

    def __init__(self, images: Mapping[str, bytes]) -> None:
        super().__init__(allowed_protocols=("data",), allow_redirects=False)
        self._images = images
        self._fonts = (material.styles() / _FONTS).resolve()

    def fetch(self, url: str, headers: Mapping[str, str] | None = None) -> Any:
        """The resource behind the URL; a ValueError for everything that is not ours."""
        parts = urlsplit(url)
        if parts.scheme == "dossier":
            name = unquote(parts.path)
            if name.startswith(_FONTS):
                return self._font(url, self._fonts / name.removeprefix(_FONTS))
            if name not in self._images:
                raise ValueError(f"the document holds no image {name}")
            return _response(url, name, self._images[name])
        # A style sheet names its fonts beside it: url(fonts/InterTab-400.ttf).
        if parts.scheme == "file" and parts.netloc == "":
            return self._font(url, Path(url2pathname(parts.path)))
        return super().fetch(url, headers)

    def _font(self, url: str, path: Path) -> Any:
        if path.resolve().parent != self._fonts or path.suffix != ".ttf":
            raise ValueError("not a font that ships with dossier")
        return _response(url, path.name, path.read_bytes())


def _response(url: str, name: str, body: bytes) -> Any:
    return URLFetcherResponse(url, body, {"Content-Type": _TYPES.get(Path(name).suffix, "application/octet-stream")})


# ---- what must not be heard -----------------------------------------------------------------------------------------


@contextmanager
def _silence(document: types.Document) -> Iterator[list[errors.Fault]]:
    """Turn every complaint of WeasyPrint into a PageError: a page that it warns about is not the page we wrote.

    The faults that are found beside go into the list that it gives, so that all of them are said together.
    """
    faults: list[errors.Fault] = []
    logger, listener = logging.getLogger("weasyprint"), BufferingHandler(sys.maxsize)
    listener.setLevel(logging.WARNING)
    level = logger.level
    logger.addHandler(listener)
    # A caller may have turned the logger down; we need to hear it.
    logger.setLevel(min(logger.getEffectiveLevel(), logging.WARNING))
    try:
        yield faults
    finally:
        logger.removeHandler(listener)
        logger.setLevel(level)
    heard = dict.fromkeys(record.getMessage() for record in listener.buffer)
    faults += [errors.Fault("weasyprint", Material(document.title), message=message) for message in heard]
    errors.PageError.raise_for(faults)


# ---- what has no room -----------------------------------------------------------------------------------------------

SLACK = 1.5
"""By how much a word may go beyond its room, in pixels of CSS: 0.4 mm, which no reader sees."""

CAPITAL, DESCENDER = 0.73, 0.25
"""How far letters reach above and below the line on which they stand, as shares of the size of their type."""


def _refuse_words_without_room(document: types.Document, pages: Iterable[Any]) -> None:
    """No word may stand beyond the text area, or run over what stands beside it."""
    faults = []
    for number, page in enumerate(pages, start=1):
        lost = [word for area in page._page_box.children for word in _words_beyond(area, *_room(area, page._page_box))]
        if lost:
            faults.append(errors.Fault("words_without_room", Material(document.title), page=number, words=tuple(lost)))
    errors.PageError.raise_for(faults)


NAMED = re.compile(r"""<(?:figure|table)\b[^>]*?\bid=["']([^"']+)""")
"""A figure or a table with its name."""


def _room(area: Any, page: Any) -> tuple[float, float, float, float]:
    """The left, the top, the right and the bottom within which words may stand: of the page, or of its own margin."""
    if isinstance(area, MarginBox):
        x, y, width, height = area.position_x, area.position_y, area.margin_width(), area.margin_height()
    else:
        x, y, width, height = page.content_box_x(), page.content_box_y(), page.width, page.height
    return x - SLACK, y - SLACK, x + width + SLACK, y + height + SLACK


def _words_beyond(box: Any, left: float, top: float, right: float, bottom: float) -> Iterator[str]:
    """The texts in a box that go beyond the room, or beyond the paragraph or the cell in which they stand."""
    if isinstance(box, TextBox):
        # Not the height of its font, which is more than that of a tight line: where its letters begin and end.
        x, y, size = box.position_x, box.position_y + box.baseline, box.style["font_size"]
        seen = plain(box.text).strip()
        if seen and (x < left or x + box.width > right or y - CAPITAL * size < top or y + DESCENDER * size > bottom):
            yield seen
        return
    if isinstance(box, BlockContainerBox):
        right = min(right, box.padding_box_x() + box.padding_width() + SLACK)
    if isinstance(box, TableCellBox):
        # A number that is set to the right goes beyond its cell on the left; a paragraph may hang there.
        left = max(left, box.padding_box_x() - SLACK)
    for child in getattr(box, "children", ()):
        yield from _words_beyond(child, left, top, right, bottom)


# ---- what is done to the tree of objects ----------------------------------------------------------------------------


def _finish(document: types.Document, rendered: Any, tree: Any) -> list[errors.Fault]:
    """Make the tree of objects conform to PDF/A and PDF/UA-1 at once; the faults of its fonts."""
    for stream in (item for item in tree.objects if isinstance(item, pydyf.Stream)):
        # Claim universal access, forbid to interpolate, and join and compress a stream once. pydyf would compress it
        # for the file, again for the hash of the file, and twice as long for a hundredth less.
        packed, stream.compress = stream.compress, False
        if stream.extra.get("Type") == "/Metadata":
            # The option xmp_metadata of WeasyPrint would add a second rdf:RDF, which PDF/A forbids.
            stream.stream = [part.replace(b"</rdf:RDF>", _UNIVERSAL_ACCESS + b"</rdf:RDF>") for part in stream.stream]
            # Archives read the metadata without unpacking.
            packed = False
        if stream.extra.get("Subtype") == "/Image" and "Interpolate" in stream.extra:
            stream.extra["Interpolate"] = "false"
        content = stream.data.partition(b"\nstream\n")[2].removesuffix(b"\nendstream")
        if packed:
            stream.extra["Filter"] = "/FlateDecode"
        stream.stream = [zlib.compress(content, PACKED) if packed else content]
    # WeasyPrint does not say whether a header heads a row or a column; a cell keeps its element of the tag tree.
    boxes = (box for page in rendered.pages for box in page._page_box.descendants(placeholders=True))
    for box, mark in ((box, mark) for box in boxes if (mark := getattr(box, "mark", None)) is not None):
        if mark["S"] == "/TH":
            mark["A"]["Scope"] = "/Row" if box.element.get("scope") in ("row", "rowgroup") else "/Column"
    # Pango ends a family that ends in a digit with a comma, which in a PDF would announce a style.
    for item in (item for item in tree.objects if isinstance(item, dict)):
        item.update({key: item[key].rstrip(b",") for key in ("BaseFont", "FontName") if key in item})
    tree.catalog["PageMode"] = "/UseOutlines"
    tree.catalog["ViewerPreferences"] = pydyf.Dictionary({"DisplayDocTitle": "true"})
    # A font that does not ship was taken for a missing glyph. The files are compared, not the names: a machine may have
    # another version of a font of ours.
    ours = {hashlib.sha256(path.read_bytes()).digest() for path in (material.styles() / _FONTS).glob("*.ttf")}
    strange = []
    for font in rendered.fonts.values():
        if hashlib.sha256(get_hb_object_data(font.hb_face)).digest() not in ours:
            texts = sorted(set(font.to_unicode.values()))[:5]
            sample = " ".join(f"“{text}” (U+{ord(text[0]):04X})" for text in texts if text) or "something"
            strange.append(
                errors.Fault("strange_font", Material(document.title), family=str(font.family), sample=sample)
            )
    return strange
