"""A caption explains what its picture shows, and nothing that is not there."""

from __future__ import annotations

from dossier.figures import risks, similarity
from dossier.figures.canvas import HALF, styled, text_boxes
from dossier.findings import results
from dossier.types import Absent, Evidence, Picture
from tests.figures.evidence import CASES, evidence

BY_NAME = {case.name: case for case in CASES}


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
        drawn = risks.draw_risks(_of("two"), HALF)
        assert not isinstance(drawn, Absent)
        assert any(box.text.endswith("%") for box in text_boxes(drawn))
    assert "full lines, their mean risks; broken, the threshold" in results.caption(_of("two"))
