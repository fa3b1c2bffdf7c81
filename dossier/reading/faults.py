"""Faults that are found in many places: the rows of one cause together, a column that a table does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from dossier.core import errors, facts
from dossier.core.faults.locations import Cell, Header, Location
from dossier.reading import notations
from dossier.words.wording import shown

Asked = ParamSpec("Asked")
Made = TypeVar("Made")

LINES = 20
"""How many rows of one kind are looked at for what they hold before the rest is only counted."""
ROWS_NAMED = 3
CASES_SHOWN = 3
SHORTEST_PART = 3
"""A part of a name with fewer letters says nothing of which is meant."""


def noted(
    faults: list[errors.Fault], read: Callable[Asked, Made], *asked: Asked.args, **named: Asked.kwargs
) -> Made | None:
    """What a function reads; None where its error says why there is nothing, whose faults are noted."""
    try:
        return read(*asked, **named)
    except errors.DossierError as error:
        faults += error.faults
        return None


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like this one, or the shortest of those that it is a part of."""
    by_lower_case, asked = {candidate.lower(): candidate for candidate in known}, name.lower()
    matches = get_close_matches(asked, by_lower_case, n=1, cutoff=0.6)
    if not matches and len(asked) >= SHORTEST_PART:
        # A line of columns that nothing parted is no name.
        names = (each for each in by_lower_case if asked in each and not set(each) & set(SIGNS))
        matches = sorted(names, key=lambda each: (each.find(asked) > 0, len(each)))
    return by_lower_case[matches[0]] if matches else None


def not_a_choice(at: Location, key: str, value: object, choices: Sequence[str]) -> errors.ReleaseError:
    """The error of a name that is none of those that there are."""
    said: dict[str, Any] = {"key": key, "value": shown(value), "choices": tuple(choices)}
    return errors.ReleaseError.one("not_a_choice", at, **said, near=nearest(str(value), choices))


SIGNS = {",": '","', ";": '";"', "\t": '"\\t"', "|": '"|"'}
"""The separators that can be declared, as they are written in release.toml."""
OPTIONS: Mapping[str, str] = notations.MET["options"]
"""What names a column where there is no release.toml."""
LONGEST = 200
"""A name or a category with more characters than this is prose, and fits no table."""


def by_row(
    code: str,
    file: str,
    column: str | Sequence[str] | None,
    rows: Sequence[int] | NDArray[np.int64],
    case: Callable[[int], Mapping[str, facts.Value]] = lambda _: {},
    /,
    **values: facts.Value,
) -> list[errors.Fault]:
    """One fault for all rows of one cause in a column, empty where there is no such row.

    Parameters
    ----------
    code : str
        What is wrong with these rows.
    file : str
        The table.
    column : str or sequence of str, optional
        The column, or that of each row; None where the whole row is wrong.
    rows : sequence of int
        The rows as the file numbers them.
    case : callable
        What a row holds beside `values`, by its place in `rows`; asked of twenty rows a column at most.
    **values
        What all rows have in common.
    """
    columns = [column] * len(rows) if column is None or isinstance(column, str) else list(column)
    faults = []
    for name in dict.fromkeys(columns):
        places = [k for k, other in enumerate(columns) if other == name]
        named = tuple(int(rows[k]) for k in places[:ROWS_NAMED])
        at = Cell(file, name, named, len(places) - len(named))
        # What the rows hold: each case once, three at most; and in how many rows it is another one.
        cases = [facts.Fact(code, **case(k)) for k in places[:LINES]]
        different = tuple(dict.fromkeys(cases))
        first = different[:CASES_SHOWN]
        rest = len(places) - sum(each in first for each in cases) if len(different) > 1 else 0
        faults.append(errors.Fault(code, at, **values, cases=first, others=facts.Count(rest, "row")))
    return faults


def no_column(name: str, file: str, known: Sequence[str], named_by: str) -> errors.Fault:
    """The fault of a column that a table does not have, with the nearest that it has.

    `named_by` is the key of release.toml that names the column.
    """
    near = nearest(name, known)
    has = facts.Fact("nearest_column", name=near) if near else facts.Fact("columns_of_table", names=tuple(known))
    between = next(
        (sign for text in known for sign in SIGNS if name in (part.strip() for part in text.split(sign))), ""
    )
    sign = "a tab" if between == "\t" else between
    option = "tab" if between == "\t" else f'"{between}"'
    separated = facts.Fact("separated_by", sign=sign, separator=SIGNS[between], option=option) if between else None
    return errors.Fault(
        "no_column", Header(file), column=name, has=has, separated=separated, key=named_by, option=OPTIONS.get(named_by)
    )
