"""A caption explains what its picture shows, and nothing that is not there."""

from __future__ import annotations

import pytest

from dossier.core import material
from dossier.core.register import fill
from dossier.core.types import Absent, Evidence, Picture
from dossier.report.chapters import results
from dossier.report.figures import risks, similarity
from dossier.report.figures.canvas import FULL, HALF, styled
from dossier.typeset.widths import text_width
from tests.estimated import present
from tests.figures.evidence import BY_NAME, evidence
from tests.figures.text_boxes import text_boxes


def _caption(drawn: Picture | Absent) -> str:
    assert isinstance(drawn, Picture)
    return drawn.caption


def _of(name: str) -> Evidence:
    return evidence(BY_NAME[name])


def test_without_a_correlation_the_caption_explains_neither_r_nor_a_line() -> None:
    caption = _caption(similarity.performance_by_similarity(_of("eight")))
    assert "Pearson" not in caption
    assert "least squares" not in caption


def test_an_open_square_is_explained_only_where_there_is_one() -> None:
    assert "open square" in results.caption(_of("eight")), "Brazil 3 has 11 patients without the outcome"
    assert "open square" not in results.caption(_of("two"))


def test_the_risks_of_the_first_page_have_a_scale_and_their_lines_are_explained() -> None:
    with styled():
        drawn = present(risks.draw_risks(_of("two"), HALF))
        assert any(box.text.endswith("%") for box in text_boxes(drawn))
    assert "mean of events (filled) and of non-events (open); broken, the threshold" in results.caption(_of("two"))


LINES = 2
"""Of what a figure shows, and of how to read it, at the width of the page."""


@pytest.mark.parametrize("case", ["eight", "two", "one"])
def test_every_figure_on_a_page_says_its_message_and_how_to_read_it_in_two_lines(case: str) -> None:
    pages = "".join(path.read_text() for path in material.templates().glob("*.html"))
    seen = 0
    for name, maker in fill("report.figures").figures.items():
        if f'parts.figure("{name}"' not in pages:
            continue
        drawn = maker.function(_of(case))
        if isinstance(drawn, Picture):
            seen += 1
            assert drawn.message.endswith("."), name
            assert drawn.message != f"{drawn.title}.", name
            assert text_width(drawn.message, 600) <= LINES * FULL, (name, drawn.message)
            assert text_width(drawn.caption) <= LINES * FULL, (name, drawn.caption)
    assert seen > 4
