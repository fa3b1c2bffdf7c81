"""Figures as files: letters that are drawn, so that no machine needs the font, and the text beside them for readers."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from dossier.outputs.outlined import UNITS, outlined
from dossier.report.figures import canvas, svg
from dossier.typeset.widths import text_width

WORDS = ("AUROC & “O/E” <1", "0.77", "Marlborough")
USE = "{http://www.w3.org/2000/svg}use"
GROUP = "{http://www.w3.org/2000/svg}g"
LINK = "{http://www.w3.org/1999/xlink}href"


def figure(**looks: object) -> bytes:
    """A sheet with three texts."""
    with canvas.styled():
        sheet = canvas.sheet(81.6, 30)
        for index, word in enumerate(WORDS):
            canvas.write(sheet, 40, 5 + 8 * index, word, **looks)
        return svg.written(sheet)


def test_no_font_is_named_and_every_letter_has_a_shape() -> None:
    found = outlined(figure())
    assert found == outlined(figure())
    assert b"<text" not in found
    assert b"font" not in found
    sheet = ElementTree.fromstring(found)
    shapes = {path.get("id"): path.get("d") for path in sheet.iter("{http://www.w3.org/2000/svg}path")}
    texts = list(sheet.iter(GROUP))
    assert [text.get("aria-label") for text in texts] == list(WORDS)
    for text, word in zip(texts, WORDS, strict=True):
        uses = [use.get(LINK, "")[1:] for use in text.iter(USE)]
        assert uses == [f"r{ord(letter):x}" for letter in word if letter != " "]
        assert all(shapes[use] for use in uses)


@pytest.mark.parametrize(("anchor", "before"), [("left", 0.0), ("center", 0.5), ("right", 1.0)])
@pytest.mark.parametrize("weight", [400, 600])
def test_a_text_stands_where_it_is_held(anchor: str, before: float, weight: int) -> None:
    places = re.findall(rb"translate\(([\d.]+) [\d.]+\) scale\(([\d.]+)", outlined(figure(ha=anchor, weight=weight)))
    for (x, scale), word in zip(places, WORDS, strict=True):
        expected = 40 - before * text_width(word, weight)
        assert float(x) / canvas.MILLIMETRE == pytest.approx(expected, abs=0.1)
        assert float(scale) * UNITS == pytest.approx(9, abs=1e-3)


def test_a_figure_without_words_stays_as_it_is() -> None:
    assert outlined(b"<svg/>") == b"<svg/>"
