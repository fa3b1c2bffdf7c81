"""The short form of `make conformance`: what needs no Java, on the release that ships."""

from __future__ import annotations

from pathlib import Path

import pytest
from pypdf import PdfReader
from pypdf.generic import Destination, Fit, NullObject

from dossier.core.contents import ON_PAPER, SUBMITTED, Edition
from tests.bench.conformance import fda, lint, out_of_margins, signed_by, small_type, unembedded, unmarked, unsound
from tests.certificates_of_tests import owner
from tests.conftest import Book


@pytest.mark.parametrize("edition", ON_PAPER)
@pytest.mark.parametrize("name", ["breast", "relapse"])
def test_the_page_and_the_file_conform(books: dict[str, Book], name: str, edition: Edition) -> None:
    book = books[name]
    assert lint(book.html(edition)) == []
    assert list(fda(book.pdf(edition), edition)) == []
    assert unembedded(book.pdf(edition)) == []
    if edition in SUBMITTED:
        assert unmarked(book.html(edition), PdfReader(book.pdf(edition)).outline) == []


def test_pdfsig_agrees_with_one_signature_and_with_three(breast: Book, tmp_path: Path) -> None:
    """And finds a byte that is another, and a revision after the last signature."""
    path, authority = breast.pdf("committee"), owner("Hospital Authority", authority=True)
    every = signed_by(path, [(name, owner(name, authority)) for name in ("Author", "Second", "Third")], tmp_path)
    assert [unsound(file, number) for number, file in enumerate(every, start=1)] == [[], [], []]
    assert every[-1].read_bytes().startswith(path.read_bytes())
    altered, longer = tmp_path / "altered.pdf", tmp_path / "longer.pdf"
    content = bytearray(every[-1].read_bytes())
    content[1_000] ^= 1
    altered.write_bytes(content)
    assert unsound(altered, 3) == ["0 of 3 signatures are valid, not 3"]
    longer.write_bytes(every[-1].read_bytes() + b"%")
    assert unsound(longer, 3) == ["0 signatures cover the whole file"]


@pytest.mark.parametrize("edition", SUBMITTED)
def test_the_bookmarks_tell_what_the_contents_tell(breast: Book, edition: Edition) -> None:
    html, outline = breast.html(edition), PdfReader(breast.pdf(edition)).outline
    assert unmarked(html, outline) == []
    first, title = {"regulatory": ("1", "Intended use and hospitals"), "supplement": ("S1", "Key results")}[edition]
    assert unmarked(html.replace(f'class="no">{first}<', f'class="no">{first}31<', 1), outline) == [
        f"without a bookmark: {first}31 {title}",
        f"not in the contents: {first} {title}",
    ]


def test_bookmarks_in_another_order_are_noticed() -> None:
    html = "<caption><b>One</b> Note.</caption><caption>\n<b>Two</b></caption>"
    marks = [Destination(f"Table {number}. {title}.", NullObject(), Fit("/XYZ")) for number, title in NAMED]
    assert unmarked(html, marks) == []
    assert unmarked(html, marks[::-1]) == ["bookmarks stand in another order than the contents"]
    assert unmarked(html, marks[:1]) == ["without a bookmark: Table 2. Two"]


def test_small_type_is_noticed() -> None:
    assert list(small_type('<fontspec id="0" size="27" family="x"/>')) == []
    assert list(small_type('<fontspec id="0" size="26" family="x"/>')) == ["type of 8.7 pt"]
    assert list(small_type("")) == ["no type is told"]


@pytest.mark.parametrize(
    ("box", "fits"),
    [
        ((54.0, 27.0, 585.0, 765.0), True),
        ((53.9, 27.0, 585.0, 765.0), False),
        ((54.0, 26.9, 585.0, 765.0), False),
        ((54.0, 27.0, 585.1, 765.0), False),
        ((54.0, 27.0, 585.0, 765.1), False),
    ],
)
def test_words_in_the_margin_are_noticed(box: tuple[float, float, float, float], fits: bool) -> None:
    left, top, right, bottom = box
    word = f'<word xMin="{left}" yMin="{top}" xMax="{right}" yMax="{bottom}">word</word>'
    found = list(out_of_margins(f'<page width="612.0" height="792.0">{word}</page>'))
    assert found == ([] if fits else ["page 1: “word” stands in the margin"])


NAMED = ((1, "One"), (2, "Two"))
SOUND = '<html lang="en"><head><title>T</title></head><body><h1>One</h1>{}</body></html>'


@pytest.mark.parametrize(
    ("corrupted", "says"),
    [
        ('<img src="a.svg">', "img without alt"),
        ("<h3>Three</h3>", "heading h3 after level 1"),
        ("<table><tr><td>1</td></tr></table>", "not with its caption"),
        ("<table><caption>C</caption><tr><th>1</th></tr></table>", "th without scope"),
        ('<a href="#x"></a>', "link without words"),
    ],
)
def test_the_lint_notices(corrupted: str, says: str) -> None:
    assert lint(SOUND.format("")) == []
    (fault,) = lint(SOUND.format(corrupted))
    assert says in fault


def test_the_lint_notices_a_page_without_language_and_title() -> None:
    assert lint("<html><body><h1>One</h1></body></html>") == ["html without lang", "no title"]
