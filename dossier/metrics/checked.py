"""What comes to a measure from outside: columns as lists, arrays or Series, checked before anything is computed."""

from __future__ import annotations

import functools
import inspect
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dossier.core import bands, register, types
from dossier.metrics import censoring, time_to_event
from dossier.metrics.shares import Design

WITHIN: dict[str, tuple[float, float | None]] = {
    **dict.fromkeys(("outcome", "risk", "rival", "truth"), (0.0, 1.0)),
    **dict.fromkeys(("weights", "complexity", "case_complexity", "rater_complexity", "case_relevance"), (0.0, None)),
    **dict.fromkeys(("cost", "benefit", "time"), (0.0, None)),
    "event": (0.0, float(censoring.COMPETING)),
}
"""The smallest and the largest value of a column; None for no end."""
WHOLE = frozenset({"outcome", "truth", "event"})
"""Columns of 0 and 1, and 2 for a competing event."""
BY_RATER = frozenset({"labels", "confidence", "rater_complexity"})
"""Tables of cases by raters, whose gaps are cases that a rater did not see."""
CODES = frozenset({"cluster", "strata"})
"""Columns that say only who belongs together."""
COLUMNS = frozenset((*WITHIN, *BY_RATER, *CODES))
"""What may be lists, arrays of numpy or Arrow, or Series."""
HELD = {"U": "text", "S": "bytes", "M": "dates", "m": "lengths of time", "c": "complex numbers", "V": "records"}
"""What the kinds of columns of numpy are called that hold no numbers."""
SHARES = frozenset({"threshold", "primary_threshold", "level"})
"""Settings above 0 and below 1."""

_FILE = Path(__file__).with_name("parameters.toml")
PARAMETERS: Mapping[str, tuple[str, str]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
"""The type and the description of each parameter that several measures take; a docstring says where its own differs."""

_EXAMPLES: Mapping[str, Any] = tomllib.loads(_FILE.with_name("examples.toml").read_text(encoding="utf-8"))
"""What examples begin with, what they say of settings, what measures give of that, and the examples of their own."""

Measure = Callable[..., types.Estimate | types.Curve | types.Absent]


@functools.cache
def checked(name: str) -> Measure:
    """The function of a measure with its columns and settings checked, for whoever calls it from outside.

    Raises a ValueError that names what is wrong: a column of another length, a value that is missing or out of range,
    an outcome other than 0 and 1. An outcome by a horizon, of patients who were not all followed so long, may take the
    place of the column. The docstring gains that, the parameters that many measures share, and the formula and the
    sources of its label.
    """
    metric = register.measures()[name]
    function, signature = metric.function, signature_of(metric.function)

    @functools.wraps(function)
    def of_anything(*given: Any, **named: Any) -> types.Estimate | types.Curve | types.Absent:
        _refuse_unknown(metric.term.name, named, signature)
        bound = signature.bind(*given, **named)
        lengths: dict[str, int] = {}
        for name, value in bound.arguments.items():
            if value is None and signature.parameters[name].default is None:
                continue
            if name == "followed" or (name == "outcome" and isinstance(value, censoring.TimeToEvent)):
                bound.arguments[name] = outcome = _followed(value)
                lengths |= {"time": len(outcome.time), "event": len(outcome.event)}
            elif name in COLUMNS and not isinstance(value, str):
                bound.arguments[name] = column = _column(name, value)
                lengths[name] = len(column)
            elif name in SHARES:
                bound.arguments[name] = _share(name, value)
        _refuse_other_lengths(lengths)
        if isinstance(bound.arguments.get("outcome"), censoring.TimeToEvent):
            bound.apply_defaults()
            return _by_horizon(metric, **bound.arguments)
        given_so = dict(bound.arguments)
        if "followed" in signature.parameters:
            given_so["design"] = _clustered(given_so, lengths["time"])
        elif "cluster" in signature.parameters:
            given_so["design"] = Design(lengths["outcome"], **{name: given_so.pop(name, None) for name in SAMPLING})
        found: types.Estimate | types.Curve | types.Absent = function(**given_so)
        return found

    of_anything.__doc__ = _documented(function, metric.term)
    of_anything.__signature__ = signature  # type: ignore[attr-defined]
    return of_anything


def _refuse_unknown(measure: str, named: Iterable[str], signature: inspect.Signature) -> None:
    for stray in (each for each in named if each not in signature.parameters):
        raise ValueError(f"{stray} is no argument of {measure}. There are {', '.join(signature.parameters)}.")


def _by_horizon(metric: register.Metric, outcome: censoring.TimeToEvent, **given: Any) -> types.Estimate | types.Absent:
    """A measure of an outcome by a horizon, of rows that count alike."""
    design = _clustered(given, len(outcome.time))
    return time_to_event.answer(metric, outcome, {**given, "design": design})


def _clustered(given: dict[str, Any], rows: int) -> Design:
    """How the rows of an outcome by a horizon were sampled, which is taken from what is given."""
    for name in UNKNOWN_BY_HORIZON:
        if given.pop(name, None) is not None:
            raise ValueError(f"{name} cannot be honoured yet where the outcome is by a horizon. Leave it out.")
    return Design(rows, given.pop("cluster", None))


def _followed(value: Any) -> censoring.TimeToEvent:
    """An outcome by a horizon with its columns checked."""
    if not isinstance(value, censoring.TimeToEvent):
        raise ValueError("followed is a column, and needs to be a TimeToEvent. Give time, event and horizon in one.")
    if not (isinstance(value.horizon, (int, float)) and 0 < value.horizon < math.inf):
        raise ValueError(f"horizon is {value.horizon!r}, and may be any number above 0. Give it in the unit of time.")
    if value.by not in ("fifths", "marginal"):
        raise ValueError(f'by is "{value.by}", and may be "fifths" or "marginal".')
    return replace(value, time=_column("time", value.time), event=_column("event", value.event))


SAMPLING = ("cluster", "weights", "strata")
UNKNOWN_BY_HORIZON = SAMPLING[1:]


def signature_of(function: Measure) -> inspect.Signature:
    """The parameters of a measure as its caller sees them: how rows were sampled in three columns."""
    own, columns = inspect.signature(function), inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = SAMPLING[:1] if "followed" in own.parameters else SAMPLING
    sampling = [inspect.Parameter(name, columns, default=None, annotation="ArrayLike | None") for name in names]
    each = [sampling if name == "design" else [parameter] for name, parameter in own.parameters.items()]
    return own.replace(parameters=[parameter for some in each for parameter in some])


RETURNS = "Estimate or Absent\n    The value with its interval, or why there is none."
"""What a measure returns whose docstring says no more of it."""
RAISES = (
    "Raises\n------\nValueError\n    With the column or setting that no measure can be taken of, and what it may be."
)


def _documented(function: Measure, term: types.Term) -> str:
    """The docstring with the parameters, formula and sources that stand in a register, and nowhere else."""
    body, _, notes = (inspect.getdoc(function) or "").partition("\n\nNotes\n-----\n")
    described, _, returned = body.partition("\n\nReturns\n-------\n")
    summary, _, own = described.partition("\n\nParameters\n----------\n")
    # The section of the parameters, in the order of the signature.
    entries = {entry.split(" : ")[0]: entry for entry in re.split(r"\n(?=\S)", own)}
    for name, (kind, text) in PARAMETERS.items():
        entries.setdefault(name, f"{name} : {kind}\n    {text}")
    named = [entries[name] for name in signature_of(function).parameters if name in entries]
    parts = [
        summary,
        "\n".join(["Parameters", "----------", *named]),
        f"Returns\n-------\n{returned or RETURNS}",
        RAISES,
    ]
    parts += [f"Notes\n-----\nFormula: {term.formula}.", notes]
    if term.cites:
        parts.append("\n".join(["References", "----------", *term.cites]))
    if examples := _EXAMPLES["own"].get(function.__name__) or _example(function):
        parts.append(f"Examples\n--------\n{_from_the_start(examples, signature_of(function).parameters)}")
    return "\n\n".join(part for part in parts if part)


def _example(function: Measure) -> str:
    """A measure of the columns of all examples, with what it gives; nothing where that is not known."""
    name, own = function.__name__, signature_of(function).parameters.values()
    settings, draws, gives = (_EXAMPLES[each] for each in ("settings", "draws", "gives"))
    asked = [each.name for each in own if each.default is each.empty or each.name in draws]
    said = {each: f"{each}={value}" for each, value in (settings | draws).items()}
    call = _EXAMPLES["call"].format(name=name, arguments=", ".join(said.get(each, each) for each in asked))
    return f"{call}\n{gives[name]}" if name in gives else ""


def _from_the_start(examples: str, parameters: Mapping[str, inspect.Parameter]) -> str:
    """The examples, with what those of many measures begin with where they leave it out."""
    if ">>> import dossier" in examples:
        return examples
    given = _EXAMPLES["study"]
    for columns in _EXAMPLES["columns"]:
        if names := [name for name in columns if name in parameters]:
            given = f">>> {', '.join(names)} = {', '.join(columns[name] for name in names)}"
            break
    return examples.replace(">>> ", f">>> import dossier\n{given}\n>>> ", 1)


def _column(name: str, value: Any) -> NDArray[Any]:
    plain = _plain(value)
    if name in CODES:
        if np.array([_is_gap(value) for value in plain.ravel()], dtype=bool).any():
            raise ValueError(f"{name} has missing values. Say of every row to which it belongs.")
        words = plain.astype(str) if plain.dtype == object else plain
        return np.unique(words, return_inverse=True)[1].reshape(-1).astype(np.int64)
    try:
        if plain.dtype.kind in "mM":
            # numpy makes numbers of them, in a unit that nobody has named.
            raise TypeError
        numbers = types.doubles(plain)
    except (TypeError, ValueError):
        is_text = all(isinstance(cell, str) or _is_gap(cell) for cell in plain.ravel())
        held = HELD.get("U" if is_text else plain.dtype.kind, "values of several kinds")
        raise ValueError(f"{name} holds {held}, and needs numbers. {_mend(name)}") from None
    wanted = 2 if name in BY_RATER else 1
    if numbers.ndim != wanted:
        shape = "a table of cases by raters" if wanted == 2 else "one value a row"
        mend = "Give the labels of all raters." if wanted == 2 else "Give one column."
        raise ValueError(
            f"{name} has {numbers.ndim} dimension{'' if numbers.ndim == 1 else 's'}, and needs {shape}. {mend}"
        )
    if not len(numbers):
        raise ValueError(f"{name} is empty. Give a value for each row.")
    if name not in BY_RATER:
        numbers = _within(name, numbers)
    return np.ascontiguousarray(numbers)


def _plain(value: Any) -> NDArray[Any]:
    """The values in their order: what index or chunks they have counts for nothing; what is masked is missing."""
    if isinstance(value, np.ma.MaskedArray):
        held: Any = value if value.dtype.kind == "f" else value.astype(object)
        return np.asarray(held.filled(np.nan))
    if hasattr(value, "to_numpy"):
        # An Array of Arrow gives only what it need not copy, by default; a ChunkedArray copies.
        options = {"zero_copy_only": False} if hasattr(value, "buffers") else {}
        value = value.to_numpy(**options)
    plain = np.asarray(value)
    if plain.dtype == object:
        plain = np.asarray(np.frompyfunc(_cell, 1, 1)(plain), dtype=object)
    return plain


def _cell(value: Any) -> Any:
    """What a cell of any object is: NaN where it is missing, a number of 32 bits by its digits as in a whole column."""
    if _is_gap(value):
        return np.nan
    return float(str(value)) if isinstance(value, np.floating) else value


def _is_gap(value: Any) -> bool:
    # The NA of pandas does not say whether it equals itself.
    return value is None or type(value).__name__ == "NAType" or bool(np.all(value != value))


def _within(name: str, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers of a column, those a hair beyond its ends at these; a ValueError says which it may not have."""
    gaps = ~np.isfinite(numbers)
    if gaps.any():
        count, at = int(gaps.sum()), _first(gaps)
        values = "value that is" if count == 1 else "values that are"
        lead = f"{name} has {count:,} {values} missing or not finite, the first in row {at}."
        raise ValueError(f"{lead} Leave these rows out of every column, or impute them.")
    if name in WHOLE:
        codes = np.arange(censoring.COMPETING + 1 if name == "event" else 2)
        strange = ~np.isin(numbers, codes)
        if strange.any():
            at, those = _first(strange), "0, 1 or 2" if len(codes) > 2 else "0 or 1"
            raise ValueError(f"{name} is {numbers[at]:g} in row {at}, and may be {those}. {_mend(name)}")
    low, high = WITHIN[name]
    within = numbers.clip(low, high)
    beyond = np.abs(numbers - within) > bands.ROUNDING
    if beyond.any():
        at, ends = _first(beyond), f"{low:g} or more" if high is None else f"from {low:g} to {high:g}"
        raise ValueError(f"{name} is {numbers[at]:.9g} in row {at}, and may be {ends}. {_mend(name)}")
    if name == "weights" and not within.any():
        raise ValueError("weights are all 0. Give at least one row a weight above 0.")
    return types.decimal(within) if high == 1 else within


def _first(rows: NDArray[np.bool_]) -> int:
    """The first of these rows, counted from 0 as Python does."""
    return int(np.flatnonzero(rows)[0])


def _mend(name: str) -> str:
    """What to do about a column with values that it may not have."""
    if name == "event":
        return "Write 1 for the outcome, 2 for a competing event, 0 where neither happened."
    if name in WHOLE:
        return "Write 1 where it happened and 0 where it did not."
    return "Write 20% as 0.2." if WITHIN.get(name) == (0.0, 1.0) else "Look at where the column comes from."


def _share(name: str, value: Any) -> float:
    number = float(types.decimal(types.doubles(np.asarray(value))))
    if not 0 < number < 1:
        raise ValueError(f"{name} is {number:g}, and may be above 0 and below 1. Write 20% as 0.2.")
    return number


def _refuse_other_lengths(lengths: dict[str, int]) -> None:
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} {count:,}" for name, count in lengths.items())
        raise ValueError(f"The columns have different lengths: {counts}. Give each of them one value a row.")
