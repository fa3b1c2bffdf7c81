"""Raw cells -> columns whose kind is settled, and the outcome, the risks, the splits and the identifiers among them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pyarrow
import pyarrow.compute as compute
from numpy.typing import NDArray

from dossier.core import bands, release, types
from dossier.core.errors import DataError, Fault
from dossier.core.facts import Count, Fact
from dossier.core.facts import Value as FactValue
from dossier.core.faults.locations import Cell, Header, Key
from dossier.core.values import risks
from dossier.reading import dialects, notations, signatures
from dossier.reading.faults import LONGEST, by_row, no_column
from dossier.reading.tables import Place, RawTable
from dossier.words.wording import number, shortened

Bools = NDArray[np.bool_]
Holds = Literal["numbers", "texts", "mixed", "booleans", "empty"]

BOOLEANS = {"true": 1.0, "false": 0.0}
MANY_NUMBERS = 10
"""An outcome with more different numbers than this is a duration or a count, not a miscoded 0 or 1."""
LARGEST = 1e100
"""A larger number is no measurement, and its square leaves the range of numbers."""
LARGEST_SPLIT = 1e15
"""Above it, not every whole number differs from the next."""
MOST_PARTS = 1000
"""Splits or imputations, each of which is evaluated: ten folds a hundred times over."""
ENDS: Mapping[str, tuple[float, float]] = {"probability": (0, 1), "percent": (0, 100), "log_odds": (-100, 100)}
"""The ends of each scale of risks; log odds of 100 are a risk that no number tells from 1."""
PER_CENT = "[\\s\u00a0\u202f]*%"
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
class Series:
    """A column under its name in the file: its numbers (NaN where missing or no number), and what is missing."""

    name: str
    kind: Holds
    numbers: types.Floats
    missing: Bools
    cells: Any
    not_available: int = 0
    """How many cells are NA or a point, as R and SAS write what is missing, beside nothing but numbers or truths."""


@dataclass(frozen=True)
class Settled:
    """A table whose columns carry our names."""

    file: str
    rows: NDArray[np.int64]
    columns: Mapping[str, Series]
    site_column: str | None = None
    files: tuple[tuple[str, int], ...] = ()
    """Where it is a folder, its files and how many rows each holds."""
    others: Mapping[Place, int] = field(default_factory=dict)
    """How many rows of each site and imputation `rows` of its [[dataset]] leaves out."""
    notes: list[Fact] = field(default_factory=list)
    """What was read in a way that its maker may not expect; what changes a number when it is read adds to it."""


# ---- cells -> columns -----------------------------------------------------------------------------------------------


def settled(raw: RawTable, declaration: release.DatasetDeclaration, where: Key, faults: list[Fault]) -> Settled:
    """The table with the declared renames and missing values."""
    # The faults of columns that a reader takes for each other: one of them would be analysed by mistake.
    first: dict[str, str] = {}
    faults += [
        Fault("columns_alike", Header(raw.file), column=first[name.casefold()], other=name)
        for name in raw.columns
        if first.setdefault(name.casefold(), name) != name
    ]
    long = [name for name in raw.columns if len(name) > LONGEST]
    faults += [Fault("long_column_name", Header(raw.file), length=len(name), name=name) for name in long]
    ours = {name: name for name in raw.columns}
    for our, their in declaration.columns.items():
        if their not in raw.columns:
            faults.append(no_column(their, raw.file, list(raw.columns), f"columns = {{ {our} = … }}"))
        elif our in raw.columns and our != their and our not in declaration.columns.values():
            faults.append(Fault("column_taken", where.of(f"columns.{our}"), file=raw.file, column=our))
        else:
            ours[their] = our
    faults += [
        no_column(name, raw.file, list(ours.values()), f"missing = {{ {name} = … }}")
        for name in declaration.missing
        if name != "*" and name not in ours.values()
    ]
    everywhere = tuple(declaration.missing.get("*", ()))
    columns = {
        our: _column_of(raw, their, (*everywhere, *declaration.missing.get(our, ()))) for their, our in ours.items()
    }
    table = Settled(raw.file, raw.rows, columns, declaration.site_column, raw.files, raw.others, list(raw.notes))
    faults += _missing_otherwise(table, declaration)
    return table


def _column_of(raw: RawTable, name: str, missing: Sequence[release.Value]) -> Series:
    """A column of the file; one with labels lacks the values that are declared missing by their codes, too."""
    cells = raw.columns[name]
    if name in raw.codes and missing:
        gaps = column(name, raw.codes[name], missing).missing
        cells = compute.if_else(pyarrow.array(gaps), pyarrow.scalar(None, cells.type), cells)
    return column(name, cells, missing)


def numbers_or_codes(raw: RawTable, name: str) -> Any:
    """The cells of a column that is to hold numbers: by their labels where these are some, else by their codes."""
    labelled = raw.columns[name]
    return raw.codes[name] if name in raw.codes and column(name, labelled).kind in ("texts", "mixed") else labelled


def _missing_otherwise(table: Settled, declaration: release.DatasetDeclaration) -> Iterator[Fault]:
    """The faults of texts declared missing that a column holds in other capitals: they would be categories."""
    for name, values in declaration.missing.items():
        held = coded(table.columns[name])[1] if name in table.columns else ()
        declared = {value.casefold(): value for value in values if isinstance(value, str)}
        for word in sorted(held):
            if word.casefold() in declared and table.columns[name].kind != "booleans":
                at, spelling = Cell(table.file, table.columns[name].name), _cell(declared[word.casefold()])
                yield Fault("missing_otherwise", at, column=name, declared=spelling, held=_cell(word))


def column(name: str, cells: Any, missing: Sequence[release.Value] = ()) -> Series:
    """The column of these cells; a cell that is empty, NaN or one of the values of `missing` is missing."""
    kind = cells.type
    if pyarrow.types.is_boolean(kind):
        numbers = np.array([np.nan if cell is None else float(cell) for cell in cells.to_pylist()], dtype=np.float64)
        for value in missing:
            if isinstance(value, bool):
                numbers[numbers == float(value)] = np.nan
        gaps = np.isnan(numbers)
        return Series(name, "empty" if gaps.all() else "booleans", numbers, gaps, cells)
    if pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_decimal(kind):
        # The double that the digits spell; the cast of a decimal is one that is near it.
        spelled = cells.cast(pyarrow.string()) if pyarrow.types.is_decimal(cells.type) else cells
        given = spelled.cast(pyarrow.float64(), safe=False)
        # Not to_numpy, which imports pandas where that is installed.
        numbers = np.asarray(np.from_dlpack(given.fill_null(np.nan) if given.null_count else given), dtype=np.float64)
        if marks := _missing_numbers(missing):
            numbers = np.where(np.isin(numbers, marks), np.nan, numbers)
        gaps = np.isnan(numbers)
        return Series(name, "empty" if gaps.all() else "numbers", numbers, gaps, _once(cells, numbers))
    if pyarrow.types.is_null(kind):
        gaps = np.ones(len(cells), dtype=bool)
        return Series(name, "empty", np.full(len(cells), np.nan), gaps, cells)
    # A column of texts, in which NA or a point is missing where every other cell is a number or a truth value.
    found = _of_plain_texts(name, cells, missing)
    if found.kind in ("texts", "mixed"):
        without = _of_plain_texts(name, cells, (*missing, *NOT_AVAILABLE))
        count = int(without.missing.sum() - found.missing.sum())
        if count and without.kind in ("numbers", "booleans"):
            return replace(without, not_available=count)
    return found


def _missing_numbers(missing: Sequence[release.Value]) -> list[float]:
    found = (float(value) if isinstance(value, (int, float)) else parsed(value) for value in missing)
    return [value for value in found if value is not None]


def _once(cells: Any, numbers: types.Floats) -> Any:
    """The cells of a column of numbers: the numbers themselves where these say the same, so that both are held once."""
    told_alike = pyarrow.types.is_floating(cells.type) or (
        pyarrow.types.is_integer(cells.type) and not (np.abs(numbers) >= LARGEST_SPLIT).any()
    )
    if not told_alike:
        return cells
    # Not pyarrow.array, which imports pandas where that is installed.
    return pyarrow.Array.from_buffers(pyarrow.float64(), len(numbers), [None, pyarrow.py_buffer(numbers)])


NOT_AVAILABLE = ("NA", ".")
"""How R and SAS write what is missing."""


def _of_plain_texts(name: str, cells: Any, missing: Sequence[release.Value]) -> Series:
    cells = cells if pyarrow.types.is_string(cells.type) else cells.cast(pyarrow.string())
    absent = pyarrow.array(
        ["", "nan", "NaN", *(number(value) if isinstance(value, float) else str(value) for value in missing)]
    )
    absent_or_null = compute.or_(compute.is_null(cells), compute.is_in(cells, absent))
    gaps = np.array(absent_or_null.to_numpy(zero_copy_only=False), dtype=bool)
    numbers, parsed_all = _parsed(cells, gaps)
    if parsed_all:
        gaps = gaps | np.isin(numbers, _missing_numbers(missing))
        numbers = np.where(gaps, np.nan, numbers)
        return Series(name, "empty" if gaps.all() else "numbers", numbers, gaps, cells)
    gaps = gaps | (np.isin(numbers, _missing_numbers(missing)) & ~np.isnan(numbers))
    numbers = np.where(gaps, np.nan, numbers)
    here = pyarrow.array(~gaps)
    if not gaps.all() and all(text.lower() in BOOLEANS for text in compute.unique(cells.filter(here)).to_pylist()):
        numbers[~gaps] = compute.equal(compute.utf8_lower(cells.filter(here)), "true").to_numpy(zero_copy_only=False)
        return Series(name, "booleans", numbers, gaps, cells)
    return Series(name, _kind(numbers, gaps), numbers, gaps, cells)


def _kind(numbers: types.Floats, gaps: Bools) -> Holds:
    some = ~np.isnan(numbers)
    if gaps.all():
        return "empty"
    if not some.any():
        return "texts"
    return "numbers" if (some | gaps).all() else "mixed"


def _parsed(cells: Any, gaps: Bools) -> tuple[types.Floats, bool]:
    """The cells as numbers, and whether every cell that is not missing is one."""
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


def spelled(value: release.Value) -> str:
    """A value of release.toml as the word of a category."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _word(number(value) if isinstance(value, float) else str(value))


def words(column: Series) -> list[str | None]:
    """Each cell as the text of a category: 1, 1.0 and "1.0" are one, so are True and "true"; None where missing."""
    codes, spelled = coded(column)
    known = [*spelled, None]
    return [known[code] for code in codes.tolist()]


def coded(column: Series) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """The words of a column, each once, and for each cell the place of its word; -1 where it is missing."""
    codes, different = encoded(column)
    used = np.unique(codes[codes >= 0])
    spelled = [_word(cell) for cell in different.take(used).to_pylist()]
    index_of = {word: k for k, word in enumerate(dict.fromkeys(spelled))}
    places = np.full(len(different) + 1, -1, dtype=np.int64)
    places[used] = [index_of[word] for word in spelled]
    return places[codes], tuple(index_of)


def encoded(column: Series) -> tuple[NDArray[np.int64], Any]:
    """The different cells of a column as Arrow's, and for each cell which of them it is; -1 where it is missing.

    No text of Python's is made: of millions of identifiers nobody needs one.
    """
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


def rows_of(column: Series, rows: NDArray[np.int64]) -> Series:
    """The column of these rows, with the kind that it had in the whole table."""
    cells = column.cells.take(pyarrow.array(rows))
    return replace(column, numbers=column.numbers[rows], missing=column.missing[rows], cells=cells)


def named(table: Settled, name: str, declared: str) -> Series:
    """The column of that name; a DataError with the nearest name when the table has none."""
    if name not in table.columns:
        raise DataError([no_column(name, table.file, list(table.columns), declared)])
    return table.columns[name]


# ---- columns -> values ----------------------------------------------------------------------------------------------


def outcome(table: Settled, declared: release.Outcome) -> types.Floats:
    """The outcome as 0 and 1, NaN where it is missing; a DataError when the column holds something else."""
    found = named(table, declared.column, "[outcome] column")
    if declared.positive is not None:
        of_kind = _positive_truth if found.kind == "booleans" else _positive
        return of_kind(table, found, declared.positive)
    if found.kind == "texts":
        at, values = Cell(table.file, found.name), tuple(sorted(coded(found)[1]))
        raise DataError.one("outcome_of_texts", at, values=values, last=_likely(values))
    wrong = ~found.missing & ~np.isin(found.numbers, (0.0, 1.0))
    if wrong.any():
        raise DataError(_not_binary(table, found, wrong))
    return found.numbers


def _likely(values: Sequence[str]) -> str:
    """The value that is likelier to mean that the outcome happened."""
    words, known = {value: value.strip().casefold() for value in values}, notations.MET["outcome"]
    happened = [value for value in values if words[value] in known["happened"]]
    return (happened or [value for value in values if words[value] not in known["not"]] or values)[-1]


MISSING = Fact("missing")
TRUTHS = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}
"""What a declared positive value may be in a column of truth values, and the truth that it names."""


def _positive_truth(table: Settled, found: Series, positive: release.Value) -> types.Floats:
    wanted = TRUTHS.get(str(positive).casefold())
    if wanted is None:
        raise DataError.one("positive_no_truth", Cell(table.file, found.name), positive=_cell(positive))
    return np.where(np.isnan(found.numbers), np.nan, (found.numbers == wanted).astype(float))


def _declared_word(value: release.Value) -> str:
    """A declared value as `coded` spells the cells that hold it."""
    return str(value).lower() if isinstance(value, bool) else _word(value)


def _positive(table: Settled, found: Series, positive: release.Value) -> types.Floats:
    at = Cell(table.file, found.name)
    codes, spelled = coded(found)
    wanted = _declared_word(positive)
    values = tuple(sorted(spelled))
    if len(values) > 2 and any(word in values for word in NOT_AVAILABLE if word != wanted):
        # The column in which NA or a point is missing, which the table's notes say.
        words = pyarrow.array([word for word in NOT_AVAILABLE if word != wanted])
        here = np.asarray(compute.is_in(found.cells, words).to_numpy(zero_copy_only=False))
        cells = Count(int((here & ~found.missing).sum()), "row")
        table.notes.append(Fact("read_as_missing", columns=(found.name,), cells=cells, file=table.file))
        return _positive(table, replace(found, missing=found.missing | here), positive)
    alike = [value for value in values if value.casefold() == wanted.casefold()]
    if len(alike) > 1 or (alike and alike != [wanted]):
        raise DataError.one("positive_spelled_in_several_ways", at, ways=tuple(sorted({*alike, wanted})))
    if len(values) > 2:
        raise DataError.one("outcome_of_many_values", at, number=len(values), values=values, column=found.name)
    if len(values) == 2 and not alike:
        raise DataError.one("positive_nowhere", at, positive=wanted, values=values, last=_likely(values))
    for other in sorted(set(values) - {wanted}):
        if notations.is_unknown_outcome(other):
            said = {"positive": _cell(wanted), "other": _cell(other), "column": found.name}
            raise DataError.one("outcome_unknown", at, **said)
    return np.array([*(float(word == wanted) for word in spelled), np.nan])[codes]


def other_outcomes(declared: release.Outcome, tables: Sequence[Settled]) -> Iterator[Fault]:
    """The faults of tables that call what did not happen otherwise than the first: they may hold something else."""
    named = [(table.file, _beside_positive(table, declared.column, declared.positive)) for table in tables]
    (first, there), *others = [(file, other) for file, other in named if other is not None] or [("", "")]
    for file, other in others:
        if _truth(other) != _truth(there):
            at, here = Cell(file, declared.column), _cell(other)
            yield Fault("other_outcome", at, here=here, file=file, there=_cell(there), other_file=first)


def _beside_positive(table: Settled, name: str, positive: release.Value | None) -> str | None:
    """The value that a column holds beside the positive one, where it is a single one that is known."""
    if positive is None or name not in table.columns:
        return None
    wanted = _truth(_declared_word(positive))
    others = [word for word in coded(table.columns[name])[1] if _truth(word) != wanted]
    return others[0] if len(others) == 1 and not notations.is_unknown_outcome(others[0]) else None


def _truth(word: str) -> float | str:
    """A word as one compares it: capitals apart, true as 1."""
    return TRUTHS.get(word.casefold(), word.casefold())


def _not_binary(table: Settled, found: Series, wrong: Bools) -> list[Fault]:
    at = Cell(table.file, found.name)
    values = np.unique(found.numbers[~np.isnan(found.numbers)])
    if found.kind == "numbers" and len(values) == 2 and not any(map(notations.is_unknown_outcome, map(number, values))):
        return [Fault("outcome_of_two_numbers", at, low=number(values[0]), high=number(values[1]))]
    if found.kind == "numbers" and len(values) > MANY_NUMBERS:
        return [Fault("outcome_of_durations", at, number=len(values))]
    return in_column("outcome_not_binary", table, found, wrong, lambda cell: {"value": _cell(cell)})


CODES = (0.0, 1.0, 2.0)
"""What stands for nothing, the outcome, and a competing event where no words are declared."""


def event(table: Settled, declared: release.Outcome) -> types.Floats:
    """What happened to each row when its follow-up ended, as one of the codes; a DataError where some is none."""
    found = named(table, declared.column, "[outcome] event")
    words = ((declared.censored, 0.0), (declared.positive, 1.0), *((other, 2.0) for other in declared.competing))
    codes = {_declared_word(value): code for value, code in words if value is not None}
    if codes:
        cells, spelled = coded(found)
        values = np.array([*(codes.get(word, np.nan) for word in spelled), np.nan])[cells]
    elif found.kind == "texts":
        raise DataError.one("event_of_texts", Cell(table.file, found.name), values=tuple(sorted(coded(found)[1])))
    else:
        values = np.where(np.isin(found.numbers, CODES), found.numbers, np.nan)
    wrong, known = np.isnan(values) & ~found.missing, tuple(codes) or tuple(map(number, CODES))
    here = []
    if not codes and {*values[~found.missing].tolist()} == {1.0, 2.0}:
        here.append(Fault("event_without_censored", Cell(table.file, found.name)))
    here += in_column("event_unknown", table, found, wrong, lambda cell: {"value": _cell(cell)}, known=known)
    here += in_column("event_missing", table, found, found.missing)
    DataError.raise_for(here)
    return values


def in_column(
    code: str,
    table: Settled,
    found: Series,
    wrong: Bools,
    case: Callable[[Any], Mapping[str, FactValue]] = lambda _: {},
    /,
    **values: FactValue,
) -> list[Fault]:
    """One fault for all wrong rows of a column; `case` says of a cell, None where it is missing, what it holds."""
    at = np.flatnonzero(wrong)

    def held(k: int) -> Mapping[str, FactValue]:
        return case(None if found.missing[at[k]] else found.cells[int(at[k])].as_py())

    return by_row(code, table.file, found.name, table.rows[at], held, **values)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return number(value) if np.isfinite(value) else str(value)
    return f'"{shortened(value)}"' if isinstance(value, str) and parsed(value) is None else shortened(str(value))


def risk(table: Settled, name: str, key: str, scale: str = "probability") -> types.Floats:
    """The risks of one column (`key`: column or rival), NaN where missing; a DataError when some are none.

    What lies beyond 0 or 1 by no more than sums of 32 bits do is 0 or 1, which the table's notes say.
    """
    found = of_scale(table, name, f"[prediction] {key}", scale)
    least, most = ENDS[scale]
    of = Fact("risk" if key == "column" else "risk_of_rival")
    no_number = ~found.missing & np.isnan(found.numbers)
    infinite = np.isinf(found.numbers)
    within = found.numbers.clip(least, most)
    outside = np.abs(found.numbers - within) > bands.ROUNDING * most
    outside &= ~infinite
    positions = np.flatnonzero(no_number)
    texts = [str(found.cells[int(k)].as_py()) for k in positions[:20]]
    mend = Fact("give_a_number")
    if any(re.fullmatch(r"\d*,\d+", text) for text in texts):
        mend = for_decimal_commas(table)
    if any(notations.has_strange_minus(text) for text in texts):
        mend = notations.MINUS
    if any(re.fullmatch(rf"[\d.,]+{PER_CENT}", text) for text in texts):
        mend = Fact("per_cent", declare=declare(key, "percent"))
    faults = in_column(
        "risk_not_a_number", table, found, no_number, lambda cell: {"value": _cell(str(cell))}, risk=of, mend=mend
    )
    faults += in_column("risk_infinite", table, found, infinite, risk=of)
    faults += _outside(table, found, of, outside, key, scale)
    DataError.raise_for(faults)
    if beyond := int((within != found.numbers).sum() - np.isnan(within).sum()):
        table.notes.append(Fact("risks_beyond_ends", rows=Count(beyond, "row"), column=name, file=table.file))
    return risks(within, scale)


def of_scale(table: Settled, name: str, declared: str, scale: str) -> Series:
    """The column of that name, of declared per cent without the signs behind."""
    found = named(table, name, declared)
    if scale != "percent" or found.kind not in ("texts", "mixed"):
        return found
    # Of per cent a comma parts no thousands.
    pointed = compute.replace_substring_regex(found.cells, rf"^([+-]?\d*),(\d+{PER_CENT})$", r"\1.\2")
    cells = compute.replace_substring_regex(pointed, f"{PER_CENT}$", "")
    plain = column(name, compute.if_else(pyarrow.array(found.missing), pyarrow.scalar(None, cells.type), cells))
    if plain.not_available:
        rows = Count(plain.not_available, "row")
        table.notes.append(Fact("read_as_missing", columns=(name,), cells=rows, file=table.file))
    return plain


def declare(key: str, *scales: str) -> Fact | None:
    """How to say that the model's own risks are on another scale; of another model's nothing can."""
    return Fact("declare_scale", scales=scales) if key == "column" else None


def for_decimal_commas(table: Settled) -> Fact:
    """How numbers with decimal commas are read, and what kept the rule that sees them from it."""
    if signatures.kind(table.file) not in signatures.TEXTS:
        return Fact("decimal_points")
    pointed = tuple(name for name, cells in _texts_of(table).items() if dialects.has_points(cells))
    return Fact("decimal_commas", because=Fact("points_elsewhere", columns=pointed) if pointed else None)


def is_written_with_commas(table: Settled) -> bool:
    """Whether several columns hold numbers with decimal commas, so that the whole table is written with them."""
    return sum(map(dialects.written_with_commas, _texts_of(table).values())) > 1


def _texts_of(table: Settled) -> dict[str, Any]:
    return {name: column.cells for name, column in table.columns.items() if pyarrow.types.is_string(column.cells.type)}


def _outside(table: Settled, found: Series, of: Fact, wrong: Bools, key: str, scale: str) -> list[Fault]:
    if not wrong.any():
        return []
    apart: list[Fault] = []
    if scale == "probability":
        apart, reported = _scaled_in_parts(table, found, of, wrong)
        whole = [] if apart else _scaled(Cell(table.file, found.name), found.numbers, of, wrong, key=key)
        if whole:
            return whole
        wrong = wrong & ~reported
    bad, rows = found.numbers[wrong], table.rows[wrong]
    ends = dict(zip(("least", "most"), ENDS[scale], strict=True))
    each = by_row(
        "risk_outside", table.file, found.name, rows, lambda k: {"value": float(bad[k])}, risk=of, key=key, **ends
    )
    return [*apart, *each]


def _scaled(
    at: Cell, numbers: types.Floats, of: Fact, wrong: Bools, only: Fact | None = None, key: str | None = None
) -> list[Fault]:
    """The fault of risks that are all on another scale; none where only some are outside 0 to 1."""
    values = numbers[np.isfinite(numbers)]
    if wrong.sum() <= max(1, WHOLE_COLUMN * len(values)):
        return []
    low, high = float(values.min()), float(values.max())
    if low < 0:
        code = "risks_of_log_odds"
    elif high > 100 or (high < LEAST_TOP_OF_PER_CENT and not (values % 1).any()):
        code = "risks_of_scores"
    elif 2 < high < LEAST_OF_NO_LOG_ODDS:
        code = "risks_of_unclear_scale"
    elif high > 2:
        code = "risks_of_per_cent"
    else:
        return []
    scales = None if key is None else SCALES.get(code)
    said = None if key is None or scales is None else declare(key, *scales)
    return [Fault(code, at, risk=of, low=low, high=high, only=only, declare=said)]


SCALES = {
    "risks_of_log_odds": ("log_odds",),
    "risks_of_unclear_scale": ("percent", "log_odds"),
    "risks_of_per_cent": ("percent",),
}
"""Which scales risks may be on that look so."""


def _scaled_in_parts(table: Settled, found: Series, of: Fact, wrong: Bools) -> tuple[list[Fault], Bools]:
    """The faults of files or sites whose risks are on another scale, while others have risks; and their rows."""
    faults: list[Fault] = []
    reported = np.zeros(len(wrong), dtype=bool)
    of_file = np.repeat(np.arange(len(table.files)), [count for _, count in table.files])
    by_file = {Cell(name, found.name): np.flatnonzero(of_file == at) for at, (name, _) in enumerate(table.files)}
    for parts in (by_file, _by_site(table, found)):
        right = [rows for rows in parts.values() if not wrong[rows].any()]
        for at, rows in parts.items() if right else ():
            found_here = _scaled(at, found.numbers[rows], of, wrong[rows], Fact("in_these_rows"))
            faults += found_here
            reported[rows] |= bool(found_here)
        if faults:
            break
    return faults, reported


def _by_site(table: Settled, risks: Series) -> Mapping[Cell, NDArray[np.int64]]:
    """The rows of each site of a table, under where its risks are."""
    found = table.columns.get(table.site_column or "")
    if found is None:
        return {}
    codes, spelled = coded(found)
    return {
        Cell(table.file, risks.name, site=(found.name, value)): np.flatnonzero(codes == code)
        for code, value in enumerate(spelled)
    }


def _given(cell: object, wanted: Fact) -> Fact:
    """What is said of a cell that does not hold what is wanted."""
    return MISSING if cell is None else Fact("other", value=_cell(cell), wanted=wanted)


def amounts(table: Settled, name: str, key: str, most: float | None) -> types.Floats:
    """A column of numbers from 0 up to `most`, none missing; a DataError when some are no such numbers."""
    found = named(table, name, key)
    wrong = ~((found.numbers >= 0) & (found.numbers <= (LARGEST if most is None else most)))
    wanted = Fact("zero_or_more") if most is None else Fact("zero_to", most=most)
    faults = in_column(
        "not_an_amount",
        table,
        found,
        wrong,
        lambda cell: {"given": _given(cell, wanted)},
        column=found.name,
        wanted=wanted,
        key=key,
    )
    DataError.raise_for(faults)
    return found.numbers


def numbered(table: Settled, name: str, key: str) -> NDArray[np.int64]:
    """The number of the split or the imputation (`key`) of each row; a DataError when some are no whole ones."""
    found = named(table, name, f"[[dataset]] {key}")
    numbers = found.numbers
    whole = (np.abs(numbers) <= LARGEST_SPLIT) & (np.floor(numbers) == numbers)
    if found.kind == "booleans":
        whole = np.zeros(len(numbers), dtype=bool)
    if not whole.all():
        wanted = Fact("whole_number")
        raise DataError(
            in_column("not_numbered", table, found, ~whole, lambda cell: {"given": _given(cell, wanted)}, key=key)
        )
    different = len(np.unique(numbers))
    if different > MOST_PARTS:
        at = Cell(table.file, found.name)
        raise DataError.one("many_parts", at, column=found.name, number=different, key=key, most=MOST_PARTS)
    return numbers.astype(np.int64)


DAY = r"^(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?$"
"""How a day is written, with or without a time of day."""
MOST_PERIODS = 120
"""Of a dataset, each of which is evaluated: ten years of months."""


def periods(
    table: Settled, name: str, unit: types.PeriodUnit | None, within: tuple[datetime.date, datetime.date] | None
) -> types.Periods:
    """The calendar period of each row; a DataError when some cells are no days `within`. A day may be missing."""
    found = named(table, name, "[[dataset]] date")
    codes, spelled = coded(found)
    days = [day(word) for word in spelled]
    wrong = [day is None or not (within is None or within[0] <= day <= within[1]) for day in days]
    positions = np.flatnonzero(np.array([*wrong, False])[codes])
    if len(positions):
        rows = table.rows[positions]
        outside = all(days[code] is not None for code in codes[positions])
        code, given = (
            "day_outside_dates" if outside else "not_a_day",
            [_cell(spelled[code]) for code in codes[positions]],
        )
        raise DataError(by_row(code, table.file, found.name, rows, lambda k: {"given": given[k]}))
    known = [day for day in days if day is not None]
    each = 0 if unit is None else types.PERIODS_OF_A_YEAR[unit]
    numbers = [day.year * each + (day.month - 1) * each // 12 if each else types.NO_PERIOD for day in known]
    span = max(numbers) - min(numbers) + 1 if numbers else 0
    if span > MOST_PERIODS:
        raise DataError.one("many_periods", Cell(table.file, found.name), number=span, unit=unit, most=MOST_PERIODS)
    counts = (numbers, [day.toordinal() for day in known])
    of_row, of_day = (np.array([*of_days, types.NO_PERIOD], dtype=np.int64)[codes] for of_days in counts)
    return types.Periods(unit, of_row, of_day)


def day(word: str) -> datetime.date | None:
    """The day that a text is; None where it is none."""
    found = re.match(DAY, word)
    try:
        return None if found is None else datetime.date(*map(int, found.groups()))
    except ValueError:
        return None


def grouped(table: Settled, name: str, key: str) -> NDArray[np.int64]:
    """The number of the cluster or the stratum (`key`) of each row, by the alphabet, wherever each stands first.

    A DataError that does not print it when one is missing.
    """
    found = named(table, name, f"[[dataset]] {key}")
    if found.missing.any():
        raise DataError(in_column("no_cluster" if key == "cluster" else "no_stratum", table, found, found.missing))
    codes, spelled = coded(found)
    return np.argsort(np.argsort(spelled))[codes]


def unfit_strata(
    table: Settled, name: str, stratum: NDArray[np.int64], cluster: NDArray[np.int64] | None, rows: NDArray[np.int64]
) -> Iterator[Fault]:
    """What is wrong with the strata of the rows of one site: a cluster in two, or one sampled unit alone in its own."""
    column, file = table.columns[name].name, table.file
    unit = rows if cluster is None else cluster[rows]
    _, first, of_row = np.unique(unit, return_index=True, return_inverse=True)
    apart = stratum[rows] != stratum[rows][first][of_row]
    yield from by_row("cluster_in_two_strata", file, column, table.rows[rows[apart]])
    if not apart.any():
        _, of_unit, size = np.unique(stratum[rows][first], return_inverse=True, return_counts=True)
        alone = np.sort(table.rows[rows[first[size[of_unit] == 1]]])
        yield from by_row("stratum_of_one", file, column, alone, unit="row" if cluster is None else "cluster")


def weights(table: Settled, name: str) -> types.Floats:
    """The sampling weight of each row; a DataError when some are none or all are 0."""
    found = amounts(table, name, "[[dataset]] weights", None)
    if not found.any():
        raise DataError.one("weights_all_zero", Cell(table.file, table.columns[name].name))
    return found


def identified(table: Settled, name: str, rows: NDArray[np.int64], within: NDArray[np.int64] | None) -> Series:
    """The identifiers of these rows; a DataError that does not print them when one is missing or stands twice.

    With `within`, an identifier may stand once in each split or imputation.
    """
    whole = named(table, name, "[[dataset]] id")
    found = whole if len(rows) == len(table.rows) else rows_of(whole, rows)
    numbers = table.rows[rows]
    missing = by_row("no_identifier", table.file, found.name, numbers[found.missing])
    again, first = (numbers[places] for places in repeats(found, within))
    twice = by_row("identifier_twice", table.file, found.name, again, lambda k: {"row": int(first[k])})
    if missing or twice:
        raise DataError([*missing, *twice])
    return found


def repeats(found: Series, within: Any = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows whose cell stands in an earlier row too, where need be `within` the same group of rows, and for each
    the first such row.
    """
    codes, _ = encoded(found)
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
