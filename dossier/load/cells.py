"""Cells of mixed kinds, as workbooks and statistics packages give them -> one Arrow column of one kind."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Any

from dossier.load.faults import number


def arrow(values: Sequence[Any]) -> Any:
    """The column of these cells: numbers, booleans, or else texts, in which a number is spelled as one types it."""
    import pyarrow

    present = [value for value in values if value is not None]
    if not present:
        return pyarrow.nulls(len(values))
    if all(isinstance(value, bool) for value in present):
        return pyarrow.array(values, pyarrow.bool_())
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present):
        return pyarrow.array([None if value is None else float(value) for value in values], pyarrow.float64())
    return pyarrow.array([None if value is None else text(value) for value in values], pyarrow.string())


def text(value: Any) -> str:
    """A cell as text, without blanks around it; a day without a time of day as a day."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number(value) if math.isfinite(value) else str(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else str(value).strip()
