"""How a fault of the input is said: values as the user wrote them, the nearest name, the rows of a kind together."""

from __future__ import annotations

import datetime
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches

from dossier.errors import Fault

LINES = 20
"""How many rows of one kind are looked at for what they hold before the rest is only counted."""
ROWS_NAMED = 3
TEXTS_SHOWN = 3


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like this one."""
    by_lower_case = {candidate.lower(): candidate for candidate in known}
    matches = get_close_matches(name.lower(), by_lower_case, n=1, cutoff=0.6)
    return by_lower_case[matches[0]] if matches else None


def listed(names: Iterable[str], most: int = 12) -> str:
    """Names in a row, cut short when there are many."""
    names = [shortened(name) for name in names]
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


SIGNS = {",": '","', ";": '";"', "\t": '"\\t"', "|": '"|"'}
"""The separators that can be declared, as they are written in release.toml."""
LONGEST = 200
"""A name or a category with more characters than this is prose, and fits no table."""


def shortened(text: str) -> str:
    """The beginning of a text, where all of it would drown the message; signs that do not show by their codes."""
    start = text if len(text) <= 60 else f"{text[:57]}..."
    return "".join(f"<U+{ord(one):04X}>" if unicodedata.category(one) in ("Cc", "Cf") else one for one in start)


def shown(value: object) -> str:
    """A value of release.toml as it is written there."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{shortened(value)}"'
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, datetime.date):
        return value.isoformat()
    return number(value) if isinstance(value, float) else str(value)


def number(value: float) -> str:
    """A number as a person would type it."""
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(float(value))


def counted(count: int, word: str) -> str:
    """A count with its word, in the plural where it belongs."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def by_row(
    file: str,
    column: str | Sequence[str] | None,
    rows: Sequence[int],
    what: Callable[[int], str],
    fix: str,
) -> list[Fault]:
    """One fault for all rows of one cause in a column; `what` gets the place in `rows`, twenty a column at most."""
    columns = [column] * len(rows) if column is None or isinstance(column, str) else list(column)
    faults = []
    for name in dict.fromkeys(columns):
        places = [k for k, other in enumerate(columns) if other == name]
        tail = f", column {name}" if name is not None else ""
        where = f"{file}, {_row_numbers([rows[k] for k in places])}{tail}"
        faults.append(Fault(_said([what(k) for k in places[:LINES]], len(places)), where, fix))
    return faults


def _row_numbers(rows: Sequence[int]) -> str:
    """The rows as a person counts them: row 5, rows 5 and 8, rows 3, 5, 8 and 3 more."""
    if len(rows) <= ROWS_NAMED:
        names = [str(row) for row in rows]
        last = f" and {names[-1]}" if len(names) > 1 else ""
        return f"row{'s' if last else ''} {', '.join(names[:-1]) or names[0]}{last}"
    return f"rows {', '.join(str(row) for row in rows[:ROWS_NAMED])} and {len(rows) - ROWS_NAMED} more"


def _said(texts: Sequence[str], count: int) -> str:
    """What is wrong in these rows: each text once, three at most; and in how many rows it is another one."""
    different = list(dict.fromkeys(texts))
    shown = different[:TEXTS_SHOWN]
    if len(different) == 1:
        return shown[0]
    rest = count - sum(text in shown for text in texts)
    return " ".join([*shown, *([f"And {rest} more of this kind."] if rest else [])])


def no_column(name: str, file: str, known: Sequence[str], declared: str) -> Fault:
    """The fault of a column that a table does not have, with the nearest that it has."""
    near = nearest(name, known)
    hint = f"Did you mean {shortened(near)}?" if near else f"The table has {listed(known)}."
    between = next((sign for one in known for sign in SIGNS if name in (part.strip() for part in one.split(sign))), "")
    if between:
        sign = "a tab" if between == "\t" else between
        hint += f" If {sign} stands between the columns, declare separator = {SIGNS[between]} in the [[dataset]]."
    return Fault(
        f"There is no column {shortened(name)}.", f"{file}, first row", f"{hint} {declared} names it in release.toml."
    )
