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


def whole(column: Any) -> Any:
    """A column in one piece, its dictionary spelled out; cells that hold lists or bytes as texts."""
    import pyarrow

    # combine_chunks copies even what is in one piece.
    joined = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(joined, pyarrow.ChunkedArray):
        joined = pyarrow.concat_arrays(joined.chunks) if joined.num_chunks else pyarrow.array([], joined.type)
    kinds = pyarrow.types
    if kinds.is_dictionary(joined.type):
        joined = joined.dictionary_decode()
    if kinds.is_nested(joined.type) or kinds.is_binary(joined.type) or kinds.is_large_binary(joined.type):
        return arrow([None if value is None else str(value) for value in joined.to_pylist()])
    return joined
