"""Declared texts in Markdown: paragraphs, lists, tables and emphasis; raw HTML and pictures stay plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MOST_COLUMNS = 12
"""Columns of a table that a page holds: each has room for a number of five digits."""


LONGEST_TITLE = 80
"""Letters of the title of a chapter, as it is written: the value of a number may be longer than its name."""
TITLE = re.compile(r"# +(\S[^\n]*\S) *\n(.*\S.*)", re.DOTALL)


def titled(text: str) -> tuple[str, str] | None:
    """The title of a chapter and what stands below it; None where its first line is no title, or nothing follows."""
    found = TITLE.fullmatch(text)
    return None if found is None else (found[1], found[2])


def parser() -> MarkdownIt:
    """What reads a declared text."""
    from markdown_it import MarkdownIt

    reads = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["heading", "lheading"])
    reads.validateLink = lambda url: url.startswith(("https://", "http://", "mailto:"))  # type: ignore[method-assign]
    return reads


def columns_from(tokens: Sequence[Any], index: int) -> int:
    """The columns of the table that opens there."""
    end = next(at for at in range(index, len(tokens)) if tokens[at].type == "thead_close")
    return sum(token.type == "th_open" for token in tokens[index:end])


def wide_tables(text: str) -> Iterator[tuple[int, int]]:
    """The row, from 1, and the columns of each table that no page holds."""
    tokens = parser().parse(text) if "|" in text else []
    for index, token in enumerate(tokens):
        if token.type == "table_open" and (columns := columns_from(tokens, index)) > MOST_COLUMNS:
            yield (token.map or [0])[0] + 1, columns
