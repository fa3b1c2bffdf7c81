"""Raw cells -> columns whose kind is settled, and the outcome, the risks, the splits and the identifiers among them."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dossier.errors import Fault
from dossier.reading import dialects, notations, signatures, unknown
from dossier.reading.faults import LONGEST, by_row, listed, no_column, number, shortened
from dossier.reading.isolation import Stored
from dossier.reading.tables import RawTable
from dossier.release import DatasetDeclaration, Outcome, Value
from dossier.types import Floats

Bools = NDArray[np.bool_]
Kind = Literal["numbers", "texts", "mixed", "booleans", "empty"]

BOOLEANS = {"true": 1.0, "false": 0.0}
MANY_NUMBERS = 10
"""An outcome with more different numbers than this is a duration or a count, not a miscoded 0 or 1."""
LARGEST = 1e100
"""A larger number is no measurement, and its square leaves the range of numbers."""
LARGEST_SPLIT = 1e15
"""Above it, not every whole number can be told from the next."""
MOST_PARTS = 1000
"""Splits or imputations, each of which is evaluated: ten folds a hundred times over."""
WHOLE_COLUMN = 0.1
"""From this share of risks outside 0 to 1 the column has another scale, and one fault says so."""
LEAST_TOP_OF_PER_CENT = 50
"""Whole numbers that all lie below are taken for points; per cent that were rounded reach higher."""
LEAST_OF_NO_LOG_ODDS = 7
"""Log odds that are all above 0 lie below: 7 is a risk of .999."""
AT_ONCE = 1 << 20
"""So many cells at most are Python's texts at once: each is as large as ten numbers."""
IDLE_ZEROS = r"^([+-]?\d+)\.0+$"
"""What is written behind a whole number; Arrow and Python read the pattern alike."""


@dataclass(frozen=True)
class Column:
    """A column under its name in the file: its numbers (NaN where missing or no number), and what is missing."""

    name: str
    kind: Kind
    numbers: Floats
    missing: Bools
    cells: Any


@dataclass(frozen=True)
class Settled:
    """A table whose columns carry our names."""

    file: str
    rows: NDArray[np.int64]
    columns: Mapping[str, Column]
    names: tuple[str, ...]
    """Every column of the file, in its order; those that `columns` lacks are read in a sample of the rows only."""
    site_column: str | None = None
    files: tuple[tuple[str, int], ...] = ()
    """Where it is a folder, its files and how many rows each holds."""


# ---- cells -> columns -----------------------------------------------------------------------------------------------


def settled(raw: RawTable, declaration: DatasetDeclaration, where: str, faults: list[Fault]) -> Settled:
    """The table with the declared renames and missing values."""
    table = of_names(raw, declaration, renamed(raw, declaration, where, faults))
    faults += _missing_otherwise(table, declaration)
    return table


def renamed(raw: RawTable, declaration: DatasetDeclaration, where: str, faults: list[Fault]) -> dict[str, str]:
    """The names of the columns in the file, with ours for them; and the faults of names."""
    faults += [*_alike(raw), *_too_long(raw)]
    ours = {name: name for name in raw.columns}
    for our, their in declaration.columns.items():
        if their not in raw.columns:
            faults.append(no_column(their, raw.file, list(raw.columns), f"columns = {{ {our} = … }}"))
        elif our in raw.columns and our != their and our not in declaration.columns.values():
            fix = f"Take {our} out of columns, or rename the other column too."
            faults.append(Fault(f"{raw.file} has a column {our} already.", f"{where}, columns.{our}", fix))
        else:
            ours[their] = our
    faults += [
        no_column(name, raw.file, list(ours.values()), f"missing = {{ {name} = … }}")
        for name in declaration.missing
        if name != "*" and name not in ours.values()
    ]
    return ours


def of_names(
    raw: RawTable, declaration: DatasetDeclaration, ours: Mapping[str, str], wanted: Container[str] | None = None
) -> Settled:
    """The table under our names for its columns, with the declared missing values; of `wanted` columns only."""
    everywhere = tuple(declaration.missing.get("*", ()))
    columns = {
        our: _column_of(raw, their, (*everywhere, *declaration.missing.get(our, ())))
        for their, our in ours.items()
        if wanted is None or our in wanted
    }
    files = raw.columns.files if isinstance(raw.columns, Stored) else ()
    return Settled(raw.file, raw.rows, columns, tuple(dict.fromkeys(ours.values())), declaration.site_column, files)


def _column_of(raw: RawTable, name: str, missing: Sequence[Value]) -> Column:
    """A column of the file; one with labels lacks the values that are declared missing by their codes, too."""
    import pyarrow
    import pyarrow.compute as compute

    cells = raw.columns[name]
    if name in raw.codes and missing:
        gaps = column(name, raw.codes[name], missing).missing
        cells = compute.if_else(pyarrow.array(gaps), pyarrow.scalar(None, cells.type), cells)
    return column(name, cells, missing)


def _missing_otherwise(table: Settled, declaration: DatasetDeclaration) -> list[Fault]:
    """The faults of texts declared missing that a column holds in other capitals: they would be categories."""
    faults = []
    for name, values in declaration.missing.items():
        held = coded(table.columns[name])[1] if name in table.columns else ()
        declared = {value.casefold(): value for value in values if isinstance(value, str)}
        for word in sorted(held):
            if word.casefold() in declared and table.columns[name].kind != "booleans":
                what = f"{_cell(declared[word.casefold()])} is declared missing, and the column holds {_cell(word)}."
                fix = f"Spell it as the table does: missing = {{ {name} = [{_cell(word)}] }}."
                faults.append(Fault(what, f"{table.file}, column {table.columns[name].name}", fix))
    return faults


def _alike(raw: RawTable) -> list[Fault]:
    """The faults of columns that a reader takes for each other: one of them would be analysed by mistake."""
    first: dict[str, str] = {}
    return [
        Fault(
            f"The columns {first[name.casefold()]} and {name} differ in capitals only.",
            f"{raw.file}, first row",
            "Give every column a name of its own, or take one of them out.",
        )
        for name in raw.columns
        if first.setdefault(name.casefold(), name) != name
    ]


def _too_long(raw: RawTable) -> list[Fault]:
    fix = "Give the column a short name."
    return [
        Fault(f"The name of a column has {len(name):,} characters: {shortened(name)}", f"{raw.file}, first row", fix)
        for name in raw.columns
        if len(name) > LONGEST
    ]


def column(name: str, cells: Any, missing: Sequence[Value] = ()) -> Column:
    """The column of these cells; a cell that is empty, NaN or one of the values of `missing` is missing."""
    import pyarrow

    kind = cells.type
    if pyarrow.types.is_boolean(kind):
        return _of_booleans(name, cells, missing)
    if pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_decimal(kind):
        return _of_numbers(name, cells, missing)
    if pyarrow.types.is_null(kind):
        gaps = np.ones(len(cells), dtype=bool)
        return Column(name, "empty", np.full(len(cells), np.nan), gaps, cells)
    return _of_texts(name, cells, missing)


def _missing_numbers(missing: Sequence[Value]) -> list[float]:
    found = (float(value) if isinstance(value, (int, float)) else parsed(value) for value in missing)
    return [value for value in found if value is not None]


def _of_booleans(name: str, cells: Any, missing: Sequence[Value]) -> Column:
    numbers = np.array([np.nan if cell is None else float(cell) for cell in cells.to_pylist()], dtype=np.float64)
    for value in missing:
        if isinstance(value, bool):
            numbers[numbers == float(value)] = np.nan
    gaps = np.isnan(numbers)
    return Column(name, "empty" if gaps.all() else "booleans", numbers, gaps, cells)


def _of_numbers(name: str, cells: Any, missing: Sequence[Value]) -> Column:
    import pyarrow

    # The double that the digits spell; the cast of a decimal is one that is near it.
    spelled = cells.cast(pyarrow.string()) if pyarrow.types.is_decimal(cells.type) else cells
    given = spelled.cast(pyarrow.float64(), safe=False)
    # Not to_numpy, which imports pandas where that is installed.
    numbers = np.asarray(np.from_dlpack(given.fill_null(np.nan) if given.null_count else given), dtype=np.float64)
    if marks := _missing_numbers(missing):
        numbers = np.where(np.isin(numbers, marks), np.nan, numbers)
    gaps = np.isnan(numbers)
    return Column(name, "empty" if gaps.all() else "numbers", numbers, gaps, _once(cells, numbers))


def _once(cells: Any, numbers: Floats) -> Any:
    """The cells of a column of numbers: the numbers themselves where these say the same, so that both are held once."""
    import pyarrow

    told_alike = pyarrow.types.is_floating(cells.type) or (
        pyarrow.types.is_integer(cells.type) and not (np.abs(numbers) >= LARGEST_SPLIT).any()
    )
    if not told_alike:
        return cells
    # Not pyarrow.array, which imports pandas where that is installed.
    return pyarrow.Array.from_buffers(pyarrow.float64(), len(numbers), [None, pyarrow.py_buffer(numbers)])


def _of_texts(name: str, cells: Any, missing: Sequence[Value]) -> Column:
    import pyarrow
    import pyarrow.compute as compute

    cells = cells if pyarrow.types.is_string(cells.type) else cells.cast(pyarrow.string())
    absent = pyarrow.array(["", "nan", "NaN", *(_spelled(value) for value in missing)])
    absent_or_null = compute.or_(compute.is_null(cells), compute.is_in(cells, absent))
    gaps = np.array(absent_or_null.to_numpy(zero_copy_only=False), dtype=bool)
    numbers, parsed_all = _parsed(cells, gaps)
    if parsed_all:
        gaps = gaps | np.isin(numbers, _missing_numbers(missing))
        numbers = np.where(gaps, np.nan, numbers)
        return Column(name, "empty" if gaps.all() else "numbers", numbers, gaps, cells)
    gaps = gaps | (np.isin(numbers, _missing_numbers(missing)) & ~np.isnan(numbers))
    numbers = np.where(gaps, np.nan, numbers)
    here = pyarrow.array(~gaps)
    if not gaps.all() and all(text.lower() in BOOLEANS for text in compute.unique(cells.filter(here)).to_pylist()):
        truths = compute.equal(compute.utf8_lower(cells.filter(here)), "true")
        numbers[~gaps] = truths.to_numpy(zero_copy_only=False)
        return Column(name, "booleans", numbers, gaps, cells)
    return Column(name, _kind(numbers, gaps), numbers, gaps, cells)


def _kind(numbers: Floats, gaps: Bools) -> Kind:
    some = ~np.isnan(numbers)
    if gaps.all():
        return "empty"
    if not some.any():
        return "texts"
    return "numbers" if (some | gaps).all() else "mixed"


def _parsed(cells: Any, gaps: Bools) -> tuple[Floats, bool]:
    """The cells as numbers, and whether every cell that is not missing is one."""
    import pyarrow
    import pyarrow.compute as compute

    try:
        filled = compute.if_else(pyarrow.array(gaps), pyarrow.scalar(None, pyarrow.string()), cells)
        return np.array(filled.cast(pyarrow.float64()).to_numpy(zero_copy_only=False), dtype=np.float64), True
    except pyarrow.ArrowInvalid:
        numbers = np.full(len(cells), np.nan)
        for start in range(0, len(cells), AT_ONCE):
            piece = cells.slice(start, AT_ONCE).to_pylist()
            values = [None if gap else parsed(text) for text, gap in zip(piece, gaps[start:], strict=False)]
            numbers[start : start + AT_ONCE] = [np.nan if value is None else value for value in values]
        return numbers, False


def parsed(text: str) -> float | None:
    """The number that a text is, or None."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def spelled(value: Value) -> str:
    """A value of release.toml as the word of a category."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _word(number(value) if isinstance(value, float) else str(value))


def _spelled(value: Value) -> str:
    return number(value) if isinstance(value, float) else str(value)


def words(column: Column) -> list[str | None]:
    """Each cell as the text of a category: 1, 1.0 and "1.0" are one, so are True and "true"; None where missing."""
    codes, spelled = coded(column)
    known = [*spelled, None]
    return [known[code] for code in codes.tolist()]


def coded(column: Column) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """The words of a column, each once, and for each cell the place of its word; -1 where it is missing."""
    codes, different = _told_apart(column)
    used = np.unique(codes[codes >= 0])
    spelled = [_word(cell) for cell in different.take(used).to_pylist()]
    place = {word: k for k, word in enumerate(dict.fromkeys(spelled))}
    places = np.full(len(different) + 1, -1, dtype=np.int64)
    places[used] = [place[word] for word in spelled]
    return places[codes], tuple(place)


def _told_apart(column: Column) -> tuple[NDArray[np.int64], Any]:
    """The different cells of a column as Arrow's, and for each cell the place of its like; -1 where it is missing.

    No text of Python's is made: of millions of identifiers nobody needs one.
    """
    import pyarrow
    import pyarrow.compute as compute

    if column.kind == "empty":
        return np.full(len(column.missing), -1, dtype=np.int64), pyarrow.array([], pyarrow.string())
    if column.kind == "booleans":
        codes = np.where(column.missing, -1, np.nan_to_num(column.numbers))
        return codes.astype(np.int64), pyarrow.array(["false", "true"])
    cells = column.cells
    if pyarrow.types.is_string(cells.type):
        cells = compute.replace_substring_regex(cells, IDLE_ZEROS, r"\1")
    elif pyarrow.types.is_floating(cells.type):
        cells = compute.add(cells, 0.0)  # -0.0 is 0
    encoded = cells.dictionary_encode()
    codes = np.from_dlpack(encoded.indices.fill_null(-1))
    return np.where(column.missing, -1, codes).astype(np.int64), encoded.dictionary


def _word(cell: Any) -> str:
    if isinstance(cell, str):
        return re.sub(IDLE_ZEROS, r"\1", cell)
    return number(float(cell)) if isinstance(cell, float) or hasattr(cell, "as_tuple") else str(cell)


def rows_of(column: Column, rows: NDArray[np.int64]) -> Column:
    """The column of these rows, with the kind that it had in the whole table."""
    import pyarrow

    cells = column.cells.take(pyarrow.array(rows))
    return Column(column.name, column.kind, column.numbers[rows], column.missing[rows], cells)


def named(table: Settled, name: str, declared: str, faults: list[Fault]) -> Column | None:
    """The column of that name; None, and a fault with the nearest name, when the table has none."""
    if name not in table.columns:
        faults.append(no_column(name, table.file, table.names, declared))
        return None
    return table.columns[name]


# ---- columns -> values ----------------------------------------------------------------------------------------------


def outcome(table: Settled, declared: Outcome, faults: list[Fault]) -> Floats | None:
    """The outcome as 0 and 1, NaN where it is missing; None, and faults, when the column holds something else."""
    found = named(table, declared.column, "[outcome] column", faults)
    if found is None:
        return None
    if declared.positive is not None:
        of_kind = _positive_truth if found.kind == "booleans" else _positive
        return of_kind(table, found, declared.positive, faults)
    if found.kind == "texts":
        values = sorted(coded(found)[1])
        what = f"outcome holds text ({listed(values, 5)}), not 0 and 1."
        fix = "Say in [outcome] which value means that the outcome happened, such as positive = "
        faults.append(Fault(what, f"{table.file}, column {found.name}", f'{fix}"{values[-1]}".'))
        return None
    wrong = ~found.missing & ~np.isin(found.numbers, (0.0, 1.0))
    if not wrong.any():
        return found.numbers
    faults += _not_binary(table, found, wrong)
    return None


TRUTHS = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}
"""What a declared positive value may be in a column of truth values, and the truth that it names."""


def _positive_truth(table: Settled, found: Column, positive: Value, faults: list[Fault]) -> Floats | None:
    wanted = TRUTHS.get(str(positive).casefold())
    if wanted is None:
        fix = "Say positive = true or positive = false."
        what = f"outcome holds true and false, and the positive value is {_cell(positive)}."
        faults.append(Fault(what, f"{table.file}, column {found.name}", fix))
        return None
    return np.where(np.isnan(found.numbers), np.nan, (found.numbers == wanted).astype(float))


def _positive_word(positive: Value) -> str:
    return str(positive).lower() if isinstance(positive, bool) else _word(positive)


def _positive(table: Settled, found: Column, positive: Value, faults: list[Fault]) -> Floats | None:
    where = f"{table.file}, column {found.name}"
    codes, spelled = coded(found)
    wanted = _positive_word(positive)
    values = sorted(spelled)
    alike = [value for value in values if value.casefold() == wanted.casefold()]
    if len(alike) > 1 or (alike and alike != [wanted]):
        ways = listed(sorted({*alike, wanted}))
        fix = "Spell it one way in the table, the same as in [outcome] positive."
        faults.append(Fault(f"The positive value is spelled in several ways: {ways}.", where, fix))
        return None
    if len(values) > 2:
        fix = "Keep two values, or declare the others as missing: missing = { " + found.name + " = [ … ] }."
        faults.append(Fault(f"outcome holds {len(values)} values: {listed(values, 5)}.", where, fix))
        return None
    if len(values) == 2 and not alike:
        fix = f'Name one of the two in [outcome] positive, such as "{values[-1]}".'
        faults.append(Fault(f"No row has the outcome {wanted}; the values are {listed(values)}.", where, fix))
        return None
    for other in sorted(set(values) - {wanted}):
        if unknown.is_unknown_outcome(other):
            value = _cell(other)
            fix = f"Declare it as missing: missing = {{ {found.name} = [{value}] }}. "
            fix += "If it means that the outcome did not happen, write another value."
            what = f"outcome is {_cell(wanted)} or {value}, which is written where a value is unknown."
            faults.append(Fault(what, where, fix))
            return None
    return np.array([*(float(word == wanted) for word in spelled), np.nan])[codes]


def other_outcomes(declared: Outcome, tables: Sequence[Settled]) -> list[Fault]:
    """The faults of tables that call what did not happen otherwise than the first: they may hold something else."""
    if declared.positive is None:
        return []
    first: tuple[str, str] | None = None
    faults = []
    for table in tables:
        other = _beside_positive(table, declared.column, declared.positive)
        if other is None:
            continue
        first = first or (other, table.file)
        if _truth(other) != _truth(first[0]):
            what = f"What did not happen is written {_cell(other)} in {table.file} and {_cell(first[0])} in {first[1]}."
            fix = "Write it alike in every table; declare as missing what stands for unknown."
            faults.append(Fault(what, f"{table.file}, column {declared.column}", fix))
    return faults


def _beside_positive(table: Settled, name: str, positive: Value) -> str | None:
    """The value that a column holds beside the positive one, where it is a single one that is known."""
    if name not in table.columns:
        return None
    wanted = _truth(_positive_word(positive))
    others = [word for word in coded(table.columns[name])[1] if _truth(word) != wanted]
    return others[0] if len(others) == 1 and not unknown.is_unknown_outcome(others[0]) else None


def _truth(word: str) -> float | str:
    """A word as one compares it: capitals apart, true as 1."""
    return TRUTHS.get(word.casefold(), word.casefold())


def _not_binary(table: Settled, found: Column, wrong: Bools) -> list[Fault]:
    where = f"{table.file}, column {found.name}"
    values = np.unique(found.numbers[~np.isnan(found.numbers)])
    if found.kind == "numbers" and set(values) <= {1.0, 2.0}:
        fix = "Say in [outcome] which value means that the outcome happened, such as positive = 2."
        return [Fault("outcome is coded 1 and 2, not 0 and 1.", where, fix)]
    if found.kind == "numbers" and len(values) > MANY_NUMBERS:
        what = (
            f"outcome holds {len(values)} different numbers: it looks like a duration, and time-to-event outcomes are "
        )
        fix = "Give the outcome at one horizon as 0 or 1, and leave it empty where it is unknown."
        return [Fault(what + "out of scope.", where, fix)]
    positions = np.flatnonzero(wrong)
    texts = [found.cells[int(k)].as_py() for k in positions[:20]]
    fix = "Give 0 or 1, leave the cell empty, or declare the value as missing."
    rows = [int(row) for row in table.rows[positions]]
    return by_row(table.file, found.name, rows, lambda k: f"outcome is {_cell(texts[k])}, not 0 or 1.", fix)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return number(value) if np.isfinite(value) else str(value)
    return f'"{shortened(value)}"' if isinstance(value, str) and parsed(value) is None else shortened(str(value))


def risk(table: Settled, name: str, key: str, faults: list[Fault]) -> Floats | None:
    """The risks of one column (`key`: column or rival), NaN where missing; None, and faults, when some are none."""
    found = named(table, name, f"[prediction] {key}", faults)
    if found is None:
        return None
    what = "risk" if key == "column" else "the rival's risk"
    no_number = ~found.missing & np.isnan(found.numbers)
    infinite = np.isinf(found.numbers)
    outside = ~found.missing & ~no_number & ~infinite & ~((found.numbers >= 0) & (found.numbers <= 1))
    faults_here = [
        *_no_numbers(table, found, what, no_number),
        *_infinite(table, found, what, infinite),
        *_outside(table, found, what, outside, key),
    ]
    faults += faults_here
    return None if faults_here else found.numbers


def _no_numbers(table: Settled, found: Column, what: str, wrong: Bools) -> list[Fault]:
    positions = np.flatnonzero(wrong)
    texts = [str(found.cells[int(k)].as_py()) for k in positions[:20]]
    fix = "Give a number, leave the cell empty, or declare the value as missing."
    if any(re.fullmatch(r"\d*,\d+", text) for text in texts):
        fix = for_decimal_commas(table)
    if any(notations.has_strange_minus(text) for text in texts):
        fix = notations.MINUS_FIX + "."
    if any(re.fullmatch(r"[\d.,]+\s*%", text) for text in texts):
        fix = "This is per cent: write it as a number from 0 to 1, such as 0.17 for 17%."
    rows = [int(row) for row in table.rows[positions]]
    return by_row(table.file, found.name, rows, lambda k: f"{what} is {_cell(texts[k])}, not a number.", fix)


def for_decimal_commas(table: Settled) -> str:
    """How numbers with decimal commas are read, and what kept the rule that sees them from it."""
    if signatures.kind(table.file) not in signatures.TEXTS:
        return "Write decimals with a point."
    pointed = [name for name, cells in _texts_of(table).items() if dialects.has_points(cells)]
    fix = 'Declare decimal = "," in the [[dataset]], or write decimals with a point.'
    if pointed:
        fix += (
            f" No comma is taken for a decimal one by itself where another column holds points: {listed(pointed, 5)}."
        )
    return fix


def is_written_with_commas(table: Settled) -> bool:
    """Whether several columns hold numbers with decimal commas, so that the whole table is written with them."""
    return sum(map(dialects.written_with_commas, _texts_of(table).values())) > 1


def _texts_of(table: Settled) -> dict[str, Any]:
    import pyarrow

    return {name: one.cells for name, one in table.columns.items() if pyarrow.types.is_string(one.cells.type)}


def _infinite(table: Settled, found: Column, what: str, wrong: Bools) -> list[Fault]:
    rows = [int(row) for row in table.rows[wrong]]
    fix = "Give a number from 0 to 1, or leave the cell empty."
    return by_row(table.file, found.name, rows, lambda k: f"{what} is infinite.", fix)


def _outside(table: Settled, found: Column, what: str, wrong: Bools, key: str) -> list[Fault]:
    if not wrong.any():
        return []
    apart, told = _scaled_in_parts(table, found, what, wrong)
    whole = [] if apart else _scaled(f"{table.file}, column {found.name}", found.numbers, what, wrong)
    if whole:
        return whole
    wrong = wrong & ~told
    bad = found.numbers[wrong]
    rows = [int(row) for row in table.rows[wrong]]
    fix = f"Give risks as probabilities, or declare another {'column' if key == 'column' else 'rival'} in [prediction]."
    each = by_row(table.file, found.name, rows, lambda k: f"{what} is {number(float(bad[k]))}, outside 0 to 1.", fix)
    return [*apart, *each]


def _scaled(where: str, numbers: Floats, what: str, wrong: Bools, only: str = "") -> list[Fault]:
    """The fault of risks that are all on another scale; none where only some are outside 0 to 1."""
    values = numbers[np.isfinite(numbers)]
    if wrong.sum() <= max(1, WHOLE_COLUMN * len(values)):
        return []
    low, high = float(values.min()), float(values.max())
    runs = f"{what} runs from {number(low)} to {number(high)}"
    if low < 0:
        fix = f"Turn log odds x into probabilities: 1 / (1 + exp(-x)){only}."
        return [Fault(f"{runs}: it looks like log odds.", where, fix)]
    if high > 100 or (high < LEAST_TOP_OF_PER_CENT and not (values % 1).any()):
        return [Fault(f"{runs}: it is no risk from 0 to 1.", where, f"Give the risk that belongs to each score{only}.")]
    if 2 < high < LEAST_OF_NO_LOG_ODDS:
        fix = f"Divide per cent by 100; turn log odds x into probabilities: 1 / (1 + exp(-x)){only}."
        return [Fault(f"{runs}: it may be per cent, or log odds.", where, fix)]
    return [Fault(f"{runs}: it looks like per cent.", where, f"Divide the column by 100{only}.")] if high > 2 else []


def _scaled_in_parts(table: Settled, found: Column, what: str, wrong: Bools) -> tuple[list[Fault], Bools]:
    """The faults of files or sites whose risks are on another scale, while others have risks; and their rows."""
    faults: list[Fault] = []
    told = np.zeros(len(wrong), dtype=bool)
    for parts in (_by_file(table, found), _by_site(table, found)):
        right = [rows for rows in parts.values() if not wrong[rows].any()]
        for where, rows in parts.items() if right else ():
            found_here = _scaled(where, found.numbers[rows], what, wrong[rows], ", in these rows only")
            faults += found_here
            told[rows] |= bool(found_here)
        if faults:
            break
    return faults, told


def _by_file(table: Settled, risks: Column) -> Mapping[str, NDArray[np.int64]]:
    """The rows of each file of a folder, under where its risks are."""
    ends = np.cumsum([count for _, count in table.files])
    return {
        f"{file}, column {risks.name}": np.arange(end - count, end)
        for (file, count), end in zip(table.files, ends, strict=True)
    }


def _by_site(table: Settled, risks: Column) -> Mapping[str, NDArray[np.int64]]:
    """The rows of each site of a table, under where its risks are."""
    found = table.columns.get(table.site_column or "")
    if found is None:
        return {}
    codes, spelled = coded(found)
    start = f"{table.file}, column {risks.name}, {found.name}"
    return {f"{start} {shortened(value)}": np.flatnonzero(codes == code) for code, value in enumerate(spelled)}


def amounts(table: Settled, name: str, key: str, most: float | None, faults: list[Fault]) -> Floats | None:
    """A column of numbers from 0 up to `most`, none missing; None, and faults, when some are no such numbers."""
    found = named(table, name, key, faults)
    if found is None:
        return None
    wrong = ~((found.numbers >= 0) & (found.numbers <= (LARGEST if most is None else most)))
    positions = np.flatnonzero(wrong)
    cells = [found.cells[int(k)].as_py() for k in positions[:20]]
    gaps = found.missing[positions]
    wanted = "a number of 0 or more" if most is None else f"a number from 0 to {number(most)}"

    def what(k: int) -> str:
        return f"{found.name} is missing." if gaps[k] else f"{found.name} is {_cell(cells[k])}, not {wanted}."

    rows = [int(row) for row in table.rows[positions]]
    faults += by_row(table.file, found.name, rows, what, f"Give {wanted} in every row, or take {key} out.")
    return None if len(positions) else found.numbers


def numbered(table: Settled, name: str, key: str, faults: list[Fault]) -> NDArray[np.int64] | None:
    """The number of the split or the imputation (`key`) of each row; None, and faults, when some are no whole ones."""
    found = named(table, name, f"[[dataset]] {key}", faults)
    if found is None:
        return None
    numbers = found.numbers
    whole = (np.abs(numbers) <= LARGEST_SPLIT) & (np.floor(numbers) == numbers)
    if found.kind == "booleans":
        whole = np.zeros(len(numbers), dtype=bool)
    positions = np.flatnonzero(~whole)
    if len(positions):
        cells = [found.cells[int(k)].as_py() for k in positions[:20]]
        gaps = found.missing[positions]
        rows = [int(row) for row in table.rows[positions]]
        fix = f"Give the number of the {key} in every row."

        def what(k: int) -> str:
            return f"{key} is missing." if gaps[k] else f"{key} is {_cell(cells[k])}, not a whole number."

        faults += by_row(table.file, found.name, rows, what, fix)
        return None
    different = len(np.unique(numbers))
    if different > MOST_PARTS:
        fix = f"Name the column with the number of the {key}."
        too_many = f"{found.name} tells {different:,} {key}s apart, more than {MOST_PARTS:,}."
        faults.append(Fault(too_many, f"{table.file}, column {found.name}", fix))
        return None
    return numbers.astype(np.int64)


def clusters(table: Settled, name: str, faults: list[Fault]) -> NDArray[np.int64] | None:
    """The number of the cluster of each row; None, and faults that do not print it, when one is missing."""
    found = named(table, name, "[[dataset]] cluster", faults)
    if found is None:
        return None
    gaps = [int(row) for row in table.rows[found.missing]]
    fix = "Name the cluster in every row; a row on its own is a cluster of one."
    faults += by_row(table.file, found.name, gaps, lambda _: "The cluster is missing.", fix)
    codes, spelled = coded(found)
    # The places of the words by the alphabet, wherever in the table each stands first.
    return None if gaps else np.argsort(np.argsort(spelled))[codes]


def weights(table: Settled, name: str, faults: list[Fault]) -> Floats | None:
    """The sampling weight of each row; None, and faults, when some are none or all are 0."""
    found = amounts(table, name, "[[dataset]] weights", None, faults)
    if found is not None and not found.any():
        fix = "Give the rows the weights that the sampling gave them, or take weights out."
        faults.append(Fault("All sampling weights are 0.", f"{table.file}, column {table.columns[name].name}", fix))
        return None
    return found


def identified(
    table: Settled, name: str, rows: NDArray[np.int64], within: NDArray[np.int64] | None, faults: list[Fault]
) -> Column | None:
    """The identifiers of these rows; None, and faults that do not print them, when one is missing or stands twice.

    With `within`, an identifier may stand once in each split or imputation.
    """
    whole = named(table, name, "[[dataset]] id", faults)
    if whole is None:
        return None
    found = whole if len(rows) == len(table.rows) else rows_of(whole, rows)
    numbers = table.rows[rows]
    gaps = [int(row) for row in numbers[found.missing]]
    missing = by_row(table.file, found.name, gaps, lambda k: "The identifier is missing.", "Give one in every row.")
    repeats, first = _repeats(found, within)
    fix = "Give every row an identifier of its own, or take id out."
    again = [int(row) for row in numbers[repeats]]
    twice = by_row(
        table.file, found.name, again, lambda k: f"The identifier is the same as in row {numbers[first[k]]}.", fix
    )
    faults += [*missing, *twice]
    return None if gaps or again else found


def _repeats(found: Column, within: NDArray[np.int64] | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows whose cell stands in an earlier row too, and for each the first such row."""
    codes, _ = _told_apart(found)
    present = np.flatnonzero(codes >= 0)
    keys = codes[present]
    if within is None and np.bincount(keys, minlength=1).max() <= 1:
        return present[:0], present[:0]
    if within is not None:
        inside = np.unique(within[present], return_inverse=True)[1]
        keys = keys * (inside.max(initial=0) + 1) + inside
    _, first, key = np.unique(keys, return_index=True, return_inverse=True)
    earliest = first[key]
    again = np.flatnonzero(earliest != np.arange(len(present)))
    return present[again], present[earliest[again]]
