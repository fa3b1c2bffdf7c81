"""The press: the same bytes, silence, only our fonts, nothing from outside, and both conformances claimed."""

from __future__ import annotations

import base64
import datetime
import hashlib
import io
import logging
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader
from weasyprint.layout import inline, preferred
from weasyprint.layout import page as weasyprint_page
from weasyprint.text import line_break

from dossier.core.errors import PageError
from dossier.core.types import Attachment, Document
from dossier.report import press

FACES = [
    ("Inter Tab", "InterTab-400", 400, "normal"),
    ("Inter Tab", "InterTab-600", 600, "normal"),
    ("Source Serif 4", "SourceSerif4-400", 400, "normal"),
    ("Source Serif 4", "SourceSerif4-400i", 400, "italic"),
    ("Source Serif 4", "SourceSerif4-600", 600, "normal"),
]
SHEET = (
    "\n".join(
        f'@font-face {{ font-family: "{family}"; src: url(dossier:fonts/{file}.ttf); font-weight: {weight}; '
        f"font-style: {style} }}"
        for family, file, weight, style in FACES
    )
    + """
@page { size: A4; margin: 25mm; @bottom-right { content: counter(page); font: 400 9pt "Inter Tab" } }
html { font: 400 10pt/14pt "Source Serif 4" }
table, figure { font: 400 9pt/14pt "Inter Tab" }
h1, th, b { font-weight: 600 }
"""
)


def pixel() -> bytes:
    """A small picture of pixels, as matplotlib puts into a rasterised scatter."""
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (2, 2), (20, 80, 127)).save(stream, "PNG")
    return stream.getvalue()


def drawing() -> bytes:
    """An SVG with text and pixels."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="80" height="40">'
        '<path d="M0 0L80 40" stroke="#14507f"/><text x="4" y="20" style="font: 9px \'Inter Tab\'">risk −0.1</text>'
        f'<image width="9" height="9" xlink:href="data:image/png;base64,{base64.b64encode(pixel()).decode()}"/></svg>'
    ).encode()


def page(more: str = "") -> str:
    """A page with what conformance is about: headings, a link, a figure, a table that spans two pages."""
    rows = "".join(f'<tr><th scope="row">site {row}</th><td>0.{row:02d}</td></tr>' for row in range(80))
    return f"""<!DOCTYPE html><html lang="en"><head><title>other</title></head><body><h1>One</h1>
<p>Plain, <em>italic</em>, <b>bold</b>, <a href="#two">within</a>, <a href="https://example.org/">without</a>.</p>
<figure><img src="dossier:figures/line.svg" alt="A line."/><figcaption>A line.</figcaption></figure>
<h1 id="two">Two</h1><table><caption>Sites.</caption><thead><tr><th scope="col">site</th><th scope="col">value</th></tr>
</thead><tbody>{rows}</tbody></table>{more}</body></html>"""


def sheet(folder: Path, more: str = "") -> Path:
    """A style sheet in a folder."""
    path = folder / "sheet.css"
    path.write_text(SHEET + more, encoding="utf-8")
    return path


def sample(style: Path, more: str = "", **fields: Any) -> Document:
    """A document ready for the press."""
    given: dict[str, Any] = {
        "html": page(more),
        "stylesheets": (style,),
        "images": {"figures/line.svg": drawing()},
        "title": "A dossier",
        "language": "en",
        "identifier": hashlib.sha256(b"content").digest()[:16],
        "date": datetime.date(2026, 10, 1),
    }
    return Document(**(given | fields))


def committee(style: Path) -> Document:
    """The document with its results inside."""
    results = Attachment("results.json", "The results, for programs", b'{"schema": "dossier-results/1"}')
    return sample(style, attachments=(results,), archival="pdf/a-3a")


def read(document: Document) -> PdfReader:
    """The printed document, opened."""
    return PdfReader(io.BytesIO(press.pdf(document)))


def resolved(reader: PdfReader, kind: str, value: str) -> list[Any]:
    """Every object of the file whose entry `kind` has that value."""
    trailer: Any = reader.trailer
    objects: list[Any] = [reader.get_object(number) for number in range(1, trailer["/Size"])]
    return [item for item in objects if isinstance(item, dict) and item.get(kind) == value]


@pytest.mark.slow
@pytest.mark.parametrize("edition", ["regulatory", "committee"])
def test_two_processes_print_the_same_bytes(tmp_path: Path, edition: str) -> None:
    surroundings = [
        {"PYTHONHASHSEED": "1", "TZ": "UTC", "LANG": "C", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"},
    ]
    printed = []
    for number, surrounding in enumerate(surroundings):
        folder = tmp_path / f"folder {number}"
        folder.mkdir()
        environment = os.environ | surrounding | {"TMPDIR": str(folder)}
        subprocess.run([sys.executable, __file__, edition, str(folder)], env=environment, check=True)
        printed.append((folder / "out.pdf").read_bytes())
    assert printed[0] == printed[1]


def test_a_sound_page_is_printed_in_silence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    press.pdf(sample(sheet(tmp_path)))
    assert caplog.records == []


@pytest.mark.parametrize("level", [logging.NOTSET, logging.CRITICAL])
def test_a_complaint_stops_the_press(tmp_path: Path, level: int) -> None:
    logger = logging.getLogger("weasyprint")
    before = logger.level
    logger.setLevel(level)
    try:
        with pytest.raises(PageError, match="colour"):
            press.pdf(sample(sheet(tmp_path, "p { colour: red }")))
        assert logger.level == level
    finally:
        logger.setLevel(before)


@pytest.mark.parametrize(
    "source",
    [
        "http://example.org/a.png",
        "https://example.org/a.png",
        "ftp://example.org/a.png",
        "file:///etc/hostname",
        "figures/line.svg",
        "dossier:figures/other.svg",
        "dossier:fonts/make_fonts.py",
        "dossier:fonts/../../pyproject.toml",
    ],
)
def test_nothing_comes_from_outside(tmp_path: Path, source: str) -> None:
    with pytest.raises(PageError, match="Failed to load image"):
        press.pdf(sample(sheet(tmp_path), f'<img src="{source}" alt="A picture."/>'))


def test_a_drawing_brings_nothing_from_outside_either(tmp_path: Path) -> None:
    drawn = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="file:///etc/hostname"/></svg>'
    with pytest.raises(PageError, match="hostname"):
        press.pdf(sample(sheet(tmp_path), images={"figures/line.svg": drawn}))


def test_a_font_of_another_folder_is_refused(tmp_path: Path) -> None:
    other = '@font-face { font-family: "Other"; src: url(InterTab-400.ttf) }'
    with pytest.raises(PageError, match="Other"):
        press.pdf(sample(sheet(tmp_path, other)))


def test_only_our_fonts_are_embedded(tmp_path: Path) -> None:
    fonts = resolved(read(sample(sheet(tmp_path))), "/Type", "/FontDescriptor")
    assert {str(font["/FontName"]).partition("+")[2] for font in fonts} == {
        "Inter-Tab",
        "Inter-Tab-Semi-Bold",
        "Source-Serif-4",
        "Source-Serif-4-Italic",
        "Source-Serif-4-Semi-Bold",
    }
    assert all("/FontFile2" in font for font in fonts)


@pytest.mark.parametrize("strange", ["漢", "😀", "\u2714"])
def test_a_character_that_our_fonts_lack_stops_the_press(tmp_path: Path, strange: str) -> None:
    # A machine with another font would take that; a machine without one prints a box.
    with pytest.raises(PageError, match=r"does not ship|notdef"):
        press.pdf(sample(sheet(tmp_path), f"<p>{strange}</p>"))


def test_full_fonts_are_whole(tmp_path: Path) -> None:
    style = sheet(tmp_path)
    whole, subset = press.pdf(sample(style, full_fonts=True)), press.pdf(sample(style))
    assert len(whole) > 5 * len(subset)


@pytest.mark.parametrize("edition", [sample, committee])
def test_the_file_says_what_it_is(tmp_path: Path, edition: Any) -> None:
    document = edition(sheet(tmp_path))
    reader = read(document)
    trailer: Any = reader.trailer
    root = trailer["/Root"]
    assert root["/Lang"] == "en"
    assert root["/PageMode"] == "/UseOutlines"
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert root["/MarkInfo"]["/Marked"]
    assert [item.title for item in reader.outline if not isinstance(item, list)] == ["One", "Two"]
    assert reader.metadata is not None
    assert reader.metadata.title == "A dossier"
    assert reader.metadata.creation_date == datetime.datetime(2026, 10, 1, tzinfo=datetime.UTC)
    claims = root["/Metadata"].get_data().decode()
    assert claims.count("<rdf:RDF") == 1
    assert "<pdfuaid:part>1</pdfuaid:part>" in claims
    assert f'pdfaid:part="{document.archival[6]}"' in claims
    assert trailer["/ID"][0].original_bytes == document.identifier


def test_header_cells_have_a_scope_and_pixels_are_not_smoothed(tmp_path: Path) -> None:
    reader = read(sample(sheet(tmp_path)))
    headers = resolved(reader, "/S", "/TH")
    scopes = [header["/A"]["/Scope"] for header in headers]
    assert scopes.count("/Row") == 80
    # The head of the table stands on every page that it spans.
    assert scopes.count("/Column") == 2 * sum("site" in found.extract_text() for found in reader.pages)
    pictures = resolved(reader, "/Subtype", "/Image")
    assert pictures
    assert not any(picture["/Interpolate"].value for picture in pictures)


def test_page_references_are_right_and_only_their_pages_are_laid_out_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page 1 refers to pages 1 to 4, page 4 back to the first and to itself; pages 2 and 3 refer to none."""
    laid_out: list[int] = []
    once = weasyprint_page.remake_page

    def counted(index: int, *rest: Any) -> Any:
        laid_out.append(index + 1)
        return once(index, *rest)

    monkeypatch.setattr(weasyprint_page, "remake_page", counted)
    more = "section { break-before: page } a.page::after { content: target-counter(attr(href url), page) }"
    style = sheet(tmp_path, more)
    opens = "".join(f'<section id="s{page}"><p>Section. {{}}</p></section>' for page in (2, 3, 4))
    to = '<a class="page" href="#{}" aria-label="page">to {} on </a> '
    first = "".join(to.format(name, name) for name in ("s1", "s2", "s3", "s4"))
    back = "".join(to.format(name, name) for name in ("s1", "s4"))
    body = f'<p id="s1">{first}</p>{opens.format("", "", back)}'
    html = f'<!DOCTYPE html><html lang="en"><head><title>x</title></head><body>{body}</body></html>'
    texts = [page.extract_text() for page in read(sample(style, html=html, images={})).pages]
    assert [re.findall(r"to (s\d) on (\d)", text.replace("\n", " ")) for text in texts] == [
        [("s1", "1"), ("s2", "2"), ("s3", "3"), ("s4", "4")],
        [],
        [],
        [("s1", "1"), ("s4", "4")],
    ]
    assert Counter(laid_out) == {1: 2, 2: 1, 3: 1, 4: 2}


def test_a_text_of_a_figure_stands_where_it_is_held(tmp_path: Path) -> None:
    texts = (
        f'<text x="200" y="{20 * (k + 1)}" text-anchor="{anchor}">{anchor}</text>'
        for k, anchor in enumerate(("start", "middle", "end"))
    )
    looks = 'xmlns="http://www.w3.org/2000/svg" width="400" height="80" font-family="Inter Tab" font-size="16"'
    drawn = f"<svg {looks}>{''.join(texts)}</svg>".encode()
    file = tmp_path / "anchors.pdf"
    file.write_bytes(press.pdf(sample(sheet(tmp_path), images={"figures/line.svg": drawn})))
    said = subprocess.run(["pdftotext", "-bbox", file, "-"], capture_output=True, check=True, text=True).stdout
    found = {word: (float(left), float(right)) for left, right, word in WORD.findall(said)}
    held = [found["start"][0], sum(found["middle"]) / 2, found["end"][1]]
    assert held == pytest.approx([held[0]] * 3, abs=0.1)


WORD = re.compile(r'xMin="([\d.]+)".* xMax="([\d.]+)".*>(start|middle|end)<')


def test_a_text_that_is_measured_once_is_set_as_one_that_is_measured_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = (f"<tr><th>a word</th><td>a word</td><td>{'a cell of words ' * n}</td></tr>" for n in range(9))
    narrow = (f'<p style="width: {n}mm">A line that fits, or does not, by its room</p>' for n in range(10, 80, 7))
    once, anew = sample(sheet(tmp_path), "".join(("<table>", *cells, "</table>", *narrow))), line_break.split_first_line
    printed = press.pdf(once)
    for where in (inline, preferred):
        monkeypatch.setattr(where, "split_first_line", anew)
    monkeypatch.setattr(inline, "strut", line_break.strut)
    assert press.pdf(once) == printed


def test_the_results_travel_in_the_committee_edition_alone(tmp_path: Path) -> None:
    style = sheet(tmp_path)
    root: Any = read(committee(style)).trailer["/Root"]
    specification = root["/AF"][0].get_object()
    assert specification["/AFRelationship"] == "/Data"
    assert specification["/UF"] == "results.json"
    assert specification["/EF"]["/F"].get_data() == b'{"schema": "dossier-results/1"}'
    assert not resolved(read(sample(style)), "/Type", "/Filespec")
    with pytest.raises(PageError, match=r"results\.json"):
        press.pdf(sample(style, attachments=committee(style).attachments))


if __name__ == "__main__":
    chosen, position = {"regulatory": sample, "committee": committee}[sys.argv[1]], Path(sys.argv[2])
    (position / "out.pdf").write_bytes(press.pdf(chosen(sheet(position))))
