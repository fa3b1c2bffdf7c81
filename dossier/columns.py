"""Two columns of equal height, found in a few tries.

WeasyPrint raises both columns by what the next line needs until everything fits, and lays all of it out anew each time:
fifty times for one page of a glossary. Here the first try, at full height, tells at which heights a column may end, and
only those are tried, the lowest first. It looks inside WeasyPrint, hence the pinned version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from weasyprint.layout import block
from weasyprint.layout.percent import percentage, resolve_percentages

COUNT = 2
ROUNDING = 0.01
"""Pixels: sums of the same lengths differ in the last digits."""
PLAIN = {"column_width": "auto", "column_count": COUNT, "height": "auto", "direction": "ltr", "column_fill": "balance"}
"""The columns that are laid out here; all others are WeasyPrint's."""

_of_weasyprint = block.columns_layout


@dataclass
class _Poured:
    """Columns that were laid out, and what is left for the next page."""

    columns: list[Any]
    rests: list[Any]
    """What is left after each column."""
    next_page: Any
    absolute: list[Any]
    fixed: list[Any]

    @property
    def rest(self) -> Any:
        return self.rests[-1]


@dataclass
class _Run:
    """Children between two that take both columns, or one of these, at their place on the page."""

    context: Any
    box: Any
    children: list[Any]
    containing: Any
    top: float
    first_looks: Sequence[Any]
    """Of the first letter and of the first line."""

    def set(self, bottom_space: float, start: Any, empty: bool) -> _Poured | None:
        """What of the children has room on the page, from `start` on; nothing where not even the first has."""
        if _takes_both(self.children[0]):
            return self._across(bottom_space, start, empty)
        room = self.context.page_bottom - self.top - bottom_space
        whole = self._poured(room, start, empty)
        if whole is not None:
            whole = whole if whole.rest is not None else self._balanced(whole, start, room)
            height = max(column.margin_height() for column in whole.columns)
            for column in whole.columns:
                column.height = height
        return whole

    def _across(self, bottom_space: float, start: Any, empty: bool) -> _Poured | None:
        (child,) = self.children
        resolve_percentages(child, self.containing)
        child.position_x, child.position_y = self.box.content_box_x(), self.top
        absolute, fixed = list[Any](), list[Any]()
        laid, rest, next_page, *_ = block.block_level_layout(
            self.context,
            child,
            bottom_space,
            start and start[0],
            self.containing,
            empty,
            absolute,
            fixed,
            [],
            *self.first_looks,
        )
        return None if laid is None else _Poured([laid], [rest and {0: rest}], next_page, absolute, fixed)

    def _poured(self, height: float, start: Any, empty: bool) -> _Poured | None:
        """The columns of that height, from `start` on; nothing where one of them cannot even begin."""
        made, rest = _Poured([], [], None, [], []), start
        shapes = len(self.context.excluded_shapes)
        for place in range(COUNT):
            column, rest, made.next_page, *_ = block.block_box_layout(
                self.context,
                self._column(place),
                self.context.page_bottom - self.top - height,
                rest,
                self.containing,
                empty,
                made.absolute,
                made.fixed,
                None,
                *self.first_looks,
                discard=False,
                max_lines=None,
            )
            del self.context.excluded_shapes[shapes:]
            if column is None:
                self._forget(made)
                return None
            made.columns.append(column)
            made.rests.append(rest)
            if rest is None:
                break
        return made

    def _column(self, place: int) -> Any:
        gap = percentage(self.box.style["column_gap"], self.box.style, self.box.width)
        column = self.box.anonymous_from(self.box, children=self.children)
        resolve_percentages(column, self.containing)
        column.is_column, column.width = True, (self.box.width - (COUNT - 1) * gap) / COUNT
        column.position_x = self.box.content_box_x() + place * (column.width + gap)
        column.position_y = self.top
        return column

    def _forget(self, made: _Poured) -> None:
        """Take back what a try has told the page."""
        block.remove_placeholders(self.context, made.columns, made.absolute, made.fixed)

    def _balanced(self, whole: _Poured, start: Any, room: float) -> _Poured:
        """The lowest columns that hold everything, where `whole` holds it in all the room there is."""
        for height in self._heights(whole):
            if height + ROUNDING > room:
                break
            made = self._poured(height + ROUNDING, start, False)
            if made is not None and made.rest is None:
                self._forget(whole)
                return made
            if made is not None:
                self._forget(made)
        return whole

    def _heights(self, whole: _Poured) -> list[float]:
        """The heights at which the first column may end, and what it leaves to the second: the larger of both."""
        length, ends = 0.0, set()
        for column, rest in zip(whole.columns, whole.rests, strict=True):
            ends |= {length + end - self.top for end in _ends(column, rest)}
            length = max(ends, default=0.0)
        return sorted({round(max(end, length - end), 2) for end in ends})


def _end(box: Any) -> float:
    return float(box.position_y + box.margin_height() - box.margin_bottom)


def _ends(box: Any, rest: Any) -> Iterator[float]:
    """Where a column may end within a box: below each line, row and block, with its margin or without.

    A box of which a `rest` is left reaches as far down as it may, whatever it holds: only what is in it tells.
    """
    flow = [child for child in box.children if child.is_in_normal_flow()]
    for child in flow:
        parts = isinstance(child, block.boxes.BlockContainerBox)
        left = next(iter(rest.values())) if rest and parts and child is flow[-1] else None
        if left is None:
            yield _end(child)
            yield _end(child) + child.margin_bottom
        if parts and child.style["break_inside"] not in ("avoid", "avoid-page", "avoid-column"):
            yield from _ends(child, left)


def columns_layout(context: Any, box: Any, *more: Any) -> Any:
    """Lay a box out in columns: the arguments and what comes back are those of WeasyPrint's function of that name."""
    if not box.children or any(box.style[name] != wanted for name, wanted in PLAIN.items()):
        return _of_weasyprint(context, box, *more)
    bottom_space, skip_stack, containing_block, page_is_empty, absolute_boxes, fixed_boxes, margins, *first_looks = more
    box = box.copy_with_children(box.children)
    box.position_y += block.collapse_margin(margins)
    block.block_level_width(box, containing_block)
    box.children, made = [], box.children
    context.in_column = True
    rest, next_page = None, {"break": "any", "page": None}
    top = box.content_box_y()
    for first, children in _runs(made, skip_stack):
        start = skip_stack and {0: skip_stack.get(first)}
        run = _Run(context, box, children, containing_block, top, first_looks)
        poured = run.set(bottom_space, start, page_is_empty and not box.children)
        if poured is None:
            rest = {first: None}
            break
        absolute_boxes += poured.absolute
        fixed_boxes += poured.fixed
        box.children += poured.columns
        top, next_page = max(_end(column) + column.margin_bottom for column in poured.columns), poured.next_page
        if poured.rest is not None:
            ((skip, inner),) = poured.rest.items()
            rest = {first + skip: inner}
            break
        skip_stack = None
    context.in_column = False
    if not box.children:
        # WeasyPrint asks for something to go on from, and does not look at it.
        return None, {0: None}, {"break": "any", "page": None}, [], False
    box.height = top - box.content_box_y()
    return box, rest, next_page, [], False


def _runs(children: Sequence[Any], skip_stack: Any) -> Iterator[tuple[int, list[Any]]]:
    """The children that are not on an earlier page, parted at those that take both columns."""
    first, run = (next(iter(skip_stack)) if skip_stack else 0), list[Any]()
    for place, child in enumerate(children[first:], first):
        if _takes_both(child) or (run and _takes_both(run[-1])):
            if run:
                yield first, run
            first, run = place, []
        run.append(child.copy())
    yield first, run


def _takes_both(child: Any) -> bool:
    return bool(child.style["column_span"] == "all")


@contextmanager
def balanced_in_few_tries() -> Iterator[None]:
    """WeasyPrint lays out columns as it is done here, for as long as this lasts."""
    block.columns_layout = columns_layout
    try:
        yield
    finally:
        block.columns_layout = _of_weasyprint
