"""Cells of mixed kinds, as workbooks and statistics packages give them -> one Arrow column of one kind."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute as compute

from dossier.core.errors import DataError, Fault
from dossier.core.faults.locations import Cell
from dossier.words.wording import number, shortened

AT_ONCE = 1 << 20
"""The digits of so many numbers at most are held at once: each is longer than the number."""
IN_A_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
"""How many of Arrow's units of duration are a day."""
A_DAY = datetime.timedelta(days=1)


def arrow(values: Sequence[Any]) -> Any:
    """The column of these cells: numbers, booleans, or else texts, in which a number is spelled as one types it.

    A duration is a number of days, as in parquet and feather files.
    """
    values = [value / A_DAY if isinstance(value, datetime.timedelta) else value for value in values]
    present = [value for value in values if value is not None]
    if not present:
        return pyarrow.nulls(len(values))
    if all(isinstance(value, bool) for value in present):
        return pyarrow.array(values, pyarrow.bool_())
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present):
        return pyarrow.array([None if value is None else _double(value) for value in values], pyarrow.float64())
    return pyarrow.array([None if value is None else text(value) for value in values], pyarrow.string())


def _double(value: float) -> float:
    """A number as a double, which of hundreds of digits is without end, as in a text."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def text(value: Any) -> str:
    """A cell as text, without blanks around it; a day without a time of day as a day."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.timedelta):
        value = value / A_DAY
    if isinstance(value, float):
        return number(value) if math.isfinite(value) else str(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else str(value).strip()


def whole(column: Any) -> Any:
    """A column in one piece and in plain cells: numbers, truth values, dates and texts; a duration is one of days.

    Texts have no blanks around them, as in every other kind of file. A number of fewer bits than a double is the one
    that its shortest digits spell: 0.7, not 0.699999988079071.
    """
    pieces = column.chunks or pyarrow.schema([("", column.type)]).empty_table().column(0).chunks
    plain = [_plain(piece) for piece in pieces]
    # concat_arrays copies even what is in one piece.
    return plain[0] if len(plain) == 1 else pyarrow.concat_arrays(plain)


def refuse_invalid(name: str, column: Any, file: str) -> None:
    """Raise a DataError where cells are not what their kind says, such as bytes that are no UTF-8 in a text."""
    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        raise DataError([Fault("damaged_column", Cell(file, shortened(name)), column=name)]) from None


def spelled(column: Any) -> Any:
    """A column of plain cells with its days, times and long texts as texts.

    A time of a zone is spelled in UTC: what the zone is called, and whether this machine knows it, makes no difference.
    """
    kind, kinds = column.type, pyarrow.types
    if kinds.is_null(kind) or kinds.is_boolean(kind) or kinds.is_string(kind):
        return column
    if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind):
        return column
    if kinds.is_timestamp(kind) and kind.tz is not None:
        column = column.cast(pyarrow.timestamp(kind.unit, "UTC"))
    try:
        return column.cast(pyarrow.string())
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
        return _texts(column)


def _plain(cells: Any) -> Any:
    plain = _spelled_out(cells)
    kinds = pyarrow.types
    is_text = kinds.is_string(plain.type) or kinds.is_large_string(plain.type)
    return compute.utf8_trim_whitespace(plain) if is_text else plain


def _spelled_out(cells: Any) -> Any:
    kind, kinds = cells.type, pyarrow.types
    if kinds.is_dictionary(kind):
        # The texts of a dictionary may be of a kind that Arrow cannot spell out.
        return pyarrow.DictionaryArray.from_arrays(cells.indices, _plain(cells.dictionary)).dictionary_decode()
    if kinds.is_run_end_encoded(kind):
        return _plain(compute.run_end_decode(cells))
    extended = isinstance(kind, pyarrow.BaseExtensionType)
    if extended and kind.extension_name != "arrow.uuid":
        return _plain(cells.storage)
    if kinds.is_float16(kind) or kinds.is_float32(kind):
        # Numbers of 16 or 32 bits as doubles; without their digits 0.7 would lie below a threshold of 0.7.
        if pyarrow.types.is_float16(cells.type):
            values = cells.to_pylist()
            spelled = {value: float(str(np.float16(value))) for value in set(values) if value is not None}
            return pyarrow.array([None if value is None else spelled[value] for value in values], pyarrow.float64())
        pieces = [cells.slice(start, AT_ONCE) for start in range(0, max(len(cells), 1), AT_ONCE)]
        return pyarrow.concat_arrays([piece.cast(pyarrow.string()).cast(pyarrow.float64()) for piece in pieces])
    if kinds.is_duration(kind):
        # As numbers of days, for a bare count is one of a unit that only the file knows.
        counts = cells.cast(pyarrow.int64()).cast(pyarrow.float64(), safe=False)
        return compute.divide(counts, float(IN_A_DAY[kind.unit]))
    if kinds.is_string_view(kind) or kinds.is_fixed_size_binary(kind) or kinds.is_binary_view(kind):
        # Bytes as the text that they hold, or else as bytes are written.
        try:
            return cells.cast(pyarrow.string())
        except pyarrow.ArrowInvalid:
            return _texts(cells)
    of_bytes = kinds.is_binary(kind) or kinds.is_large_binary(kind)
    if extended or kinds.is_nested(kind) or kinds.is_interval(kind) or of_bytes:
        return _texts(cells)
    return cells


def _texts(cells: Any) -> Any:
    return pyarrow.array([None if value is None else str(value) for value in cells.to_pylist()], pyarrow.string())
