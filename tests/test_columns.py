"""Text in two columns: the words of WeasyPrint's own columns, as low as these, in fewer tries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weasyprint import CSS, HTML
from weasyprint.layout import block

from dossier import columns

WIDE, TALL = 300, 200
SHEET = f"""
@page {{ size: {WIDE}px {TALL}px; margin: 10px }}
body {{ margin: 0; font: 10px/12px serif; orphans: 2; widows: 2 }}
p {{ margin: 0 0 4px }}
.whole p {{ break-inside: avoid }}
.two {{ columns: 2; column-gap: 20px }}
.two > h2 {{ column-span: all; font-size: 10px; margin: 0 }}
.three {{ columns: 3 }}
ol {{ margin: 0; padding-left: 16px }}
"""


def laid_out(body: str, ours: bool = True) -> list[Any]:
    """The boxes of the pages of a document, in our columns or in WeasyPrint's."""
    html = HTML(string=f"<html><body>{body}</body></html>")
    if not ours:
        return [page._page_box for page in html.render(stylesheets=[CSS(string=SHEET)]).pages]
    with columns.balanced_in_few_tries():
        return [page._page_box for page in html.render(stylesheets=[CSS(string=SHEET)]).pages]


def found(box: Any, wanted: str) -> Iterator[Any]:
    """The boxes within a box for which the named attribute or class says yes, in the order in which one reads."""
    for one in box.descendants():
        if getattr(one, wanted, None) is True or (one.element is not None and one.element.get("class") == wanted):
            yield one


def words(page: Any) -> list[str]:
    """The words of a page, column by column."""
    return " ".join(one.text for one in page.descendants(placeholders=True) if hasattr(one, "text")).split()


def heights(page: Any) -> list[float]:
    """How high the columns of a page are."""
    return [float(one.height) for one in found(page, "is_column")]


def paragraphs(lengths: list[int]) -> str:
    """Paragraphs of so many words each, every word another one."""
    numbers = iter(range(10_000))
    return "".join(f"<p>{' '.join(f'word{next(numbers)}' for _ in range(length))}</p>" for length in lengths)


lengths = st.lists(st.integers(1, 40), min_size=1, max_size=12)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(lengths, st.booleans(), st.integers(0, 120))
def test_the_same_words_on_the_same_pages_and_columns_no_higher(given: list[int], whole: bool, above: int) -> None:
    body = (
        f'<div style="height: {above}px"></div><div class="{"whole" if whole else "free"}">'
        f'<div class="two">{paragraphs(given)}</div></div><p>After.</p>'
    )
    ours, theirs = laid_out(body), laid_out(body, ours=False)
    assert [word for page in ours for word in words(page)] == [word for page in theirs for word in words(page)]
    assert len(ours) <= len(theirs)
    for mine, its in zip(ours, theirs, strict=False):
        for high, low in zip(heights(mine), heights(its), strict=False):
            assert high <= low + 1 or words(mine) != words(its)


def test_columns_are_balanced_to_the_line() -> None:
    (page,) = laid_out(f'<div class="two">{paragraphs([40])}</div>')
    first, second = found(page, "is_column")
    lines = [
        sum(1 for one in column.descendants() if isinstance(one, block.boxes.LineBox)) for column in (first, second)
    ]
    assert lines[0] - lines[1] in (0, 1)
    assert first.height == second.height
    assert second.position_x == pytest.approx(first.position_x + (WIDE - 20 - 20) / 2 + 20)


def test_a_heading_across_parts_the_columns() -> None:
    (page,) = laid_out(f'<div class="two">{paragraphs([20])}<h2>Across</h2>{paragraphs([30])}</div>')
    above, _, below, _ = found(page, "is_column")
    (heading,) = (
        one for one in page.descendants() if one.element_tag == "h2" and isinstance(one, block.boxes.BlockBox)
    )
    assert heading.width == WIDE - 20
    assert above.position_y + above.height <= heading.position_y
    assert heading.position_y + heading.height <= below.position_y


def test_a_long_text_goes_on_in_columns_of_the_next_page() -> None:
    pages = laid_out(f'<div class="two">{paragraphs([40] * 10)}</div>')
    assert len(pages) > 2
    assert [word for page in pages for word in words(page)] == [f"word{number}" for number in range(400)]
    assert all(len(heights(page)) == 2 for page in pages)
    assert heights(pages[0])[0] > heights(pages[-1])[0]


def test_what_has_no_room_waits_for_the_next_page() -> None:
    first, second = laid_out(f'<div style="height: 170px"></div><div class="two whole">{paragraphs([8])}</div>')
    assert (words(first), len(words(second))) == ([], 8)


def test_the_numbers_of_a_list_are_drawn_once() -> None:
    (page,) = laid_out('<ol class="two">' + "<li>entry</li>" * 5 + "</ol>")
    assert sorted(one for one in words(page) if one != "entry") == ["1.", "2.", "3.", "4.", "5."]


def test_few_tries() -> None:
    body = f'<div class="whole two">{paragraphs([3, 9, 2, 14, 5, 7, 3, 11, 6, 4, 8, 2])}</div>'
    tries = []

    def counted(context: Any, box: Any, *more: Any, **names: Any) -> Any:
        tries.append(box) if box.is_column else None
        return of_weasyprint(context, box, *more, **names)

    of_weasyprint = block.block_box_layout
    with patch.object(block, "block_box_layout", counted):
        laid_out(body)
        ours = len(tries)
        tries.clear()
        laid_out(body, ours=False)
    assert ours <= 8
    assert len(tries) > ours


def test_other_columns_are_those_of_weasyprint() -> None:
    body = f'<div class="three">{paragraphs([30])}</div>'
    assert [heights(page) for page in laid_out(body)] == [heights(page) for page in laid_out(body, ours=False)]


def test_nothing_stays_behind() -> None:
    before = block.columns_layout
    with columns.balanced_in_few_tries():
        assert block.columns_layout is columns.columns_layout
    with pytest.raises(RuntimeError), columns.balanced_in_few_tries():
        raise RuntimeError
    assert block.columns_layout is before
