"""The short form of `make conformance`: what needs no Java, on the release that ships."""

from __future__ import annotations

import pytest

from dossier.contents import Edition
from tests.bench.conformance import fda, lint, unembedded
from tests.conftest import Book


@pytest.mark.parametrize("edition", ["regulatory", "committee"])
def test_the_page_and_the_file_conform(breast: Book, edition: Edition) -> None:
    assert lint(breast.html(edition)) == []
    assert list(fda(breast.pdf(edition), edition)) == []
    assert unembedded(breast.pdf(edition)) == []


SOUND = '<html lang="en"><head><title>T</title></head><body><h1>One</h1>{}</body></html>'


@pytest.mark.parametrize(
    ("spoilt", "says"),
    [
        ('<img src="a.svg">', "img without alt"),
        ("<h3>Three</h3>", "heading h3 after level 1"),
        ("<table><tr><td>1</td></tr></table>", "not with its caption"),
        ("<table><caption>C</caption><tr><th>1</th></tr></table>", "th without scope"),
        ('<a href="#x"></a>', "link without words"),
    ],
)
def test_the_lint_notices(spoilt: str, says: str) -> None:
    assert lint(SOUND.format("")) == []
    (fault,) = lint(SOUND.format(spoilt))
    assert says in fault


def test_the_lint_notices_a_page_without_language_and_title() -> None:
    assert lint("<html><body><h1>One</h1></body></html>") == ["html without lang", "no title"]
