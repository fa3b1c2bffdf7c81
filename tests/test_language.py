"""The regulatory edition and the quick look speak as TRIPOD+AI and the BMJ do: phrases of our own are gone."""

from __future__ import annotations

import html
import re

import pytest
from pydantic import BaseModel

from dossier.core import release
from dossier.core.contents import Edition
from tests.conftest import Book

GONE = (
    *("First results", "essentials by site", "Sites differ", "way of the rows"),
    *("Value of the information", "the rival", "Right answers, against chance"),
    *("How usual", "Patients there are against"),
    *("by itself", "Where evidence is thin", "signatures are asked for", "Formula, interval and source"),
    *("is not said", "reaches beyond what was asked", "too far apart", "too close together"),
    *("slope holds 1", "CI holds", "beyond chance", "may be chance", "put together", "holds in 9"),
    "as every criterion asks for",
    *("strangers", "treating everyone", "treating no one", "stand out", "not added up"),
    *("The essentials", "All sites together", "the tables do not tell"),
    *("do(?:es)? not tell", "not told", "Met by the value"),
    *(r"Not for (?:\w+ ){1,3}(?:sites|hospitals): no", "holds 0", "hold 0", "holds 1", "more good", "risks are off"),
    *("does otherwise", "did otherwise", "(?:more|fewer) events came", "is ranked better", "ranked less well"),
    *("(?:are|is) ours", "theirs", "stands (?:below|there|here|beside|behind|out)", "stand in this dossier"),
    *("The run raised", "by its case mix", "Outcome told", "runs? from"),
)
"""Phrases that the field does not use."""
SHAPES = [each for each in vars(release).values() if isinstance(each, type) and issubclass(each, BaseModel)]
KEYS = {key for shape in SHAPES for key in shape.model_fields if "_" in key}
"""What only those who write a release.toml know."""


@pytest.mark.slow
@pytest.mark.parametrize("edition", ["regulatory", "quick"])
def test_no_phrase_of_our_own_is_on_the_pages(any_book: Book, edition: Edition) -> None:
    text = html.unescape(re.sub(r"<[^>]+>", " ", any_book.html(edition)))
    words = " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())
    found = {
        phrase: [
            words[max(0, match.start() - 60) : match.end() + 40] for match in re.finditer(rf"\b{phrase}\b", words, re.I)
        ]
        for phrase in GONE
    }
    assert {phrase: where[:3] for phrase, where in found.items() if where} == {}
    assert re.findall(rf"\[\[\w+|\[[a-z_]+\]|\b(?:{'|'.join(KEYS)})\b", words) == []
