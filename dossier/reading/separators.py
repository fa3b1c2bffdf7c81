"""Tables as text whose columns are parted by a sign that is not read, such as the blanks of R's write.table."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dossier.core.errors import Fault
from dossier.core.facts import Fact
from dossier.core.faults.locations import Header
from dossier.reading.dialects import SEPARATORS

UNREAD: Mapping[str, str | Fact] = {
    " +": Fact("blanks"),
    r"\^": "^",
    **{sign: sign for sign in (":", "~", "#", "!")},
}
"""The signs as patterns, and how they are written."""
DECIMAL = r"[+-]?\d*\.\d+([eE][+-]?\d+)?"
"""A second row without any such number may be a text of several words."""


def fault(text: str, file: str) -> Fault | None:
    """The fault of a text without any separator that is read, and with another one in its first two rows.

    The first row names the columns, and the second one has as many cells, or one more: a name of the row.
    """
    found = re.match(r"(.*)\n(.*)", text)
    rows = [] if found is None else [_plain(line) for line in found.groups()]
    if not rows or any(sign in row for row in rows for sign in SEPARATORS):
        return None
    for pattern, sign in UNREAD.items():
        first, second = (re.split(pattern, row) for row in rows)
        numbers = any(re.fullmatch(DECIMAL, cell) for cell in second)
        if len(first) > 1 and len(second) in (len(first), len(first) + 1) and numbers:
            return Fault("other_separator", Header(file), file=file, sign=sign)
    return None


def _plain(row: str) -> str:
    """A row without what stands in quotation marks, and with points for decimal commas."""
    return re.sub(r"(?<=\d),(?=\d)", ".", re.sub(r'"[^"]*"', "x", row)).strip()
