"""The arguments of dossier.validate: whether each is of its kind, and what a fault of their release says of them."""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from numbers import Integral, Real
from os import PathLike
from types import NoneType
from typing import Any, ParamSpec, TypeVar

from dossier.core.errors import Fault, ReleaseError
from dossier.core.facts import Fact, Value
from dossier.core.faults.locations import Argument, Cell, File, Header, Key, Location
from dossier.core.release import Release, day
from dossier.reading import declared, frames, toml
from dossier.reading.faults import nearest
from dossier.words import entries, wording

FOLLOW_UP = ("time", "event", "at")
"""What stands in place of the outcome where it is one by a horizon, all of them together."""
NEEDED = (frames.FRAME, "outcome", "risk", *FOLLOW_UP)
"""Without these nothing else can be looked at."""
KEYS: Mapping[tuple[str, str], str] = {
    **{("release", key): key for key in ("model", "version", "date", "owner", "level", "seed", "previous")},
    **{("outcome", key): "outcome" for key in ("name", "column")},
    **{("outcome", key): key for key in ("positive", "censored", "competing", "classes", "time", "event", "unit")},
    ("horizon", "at"): "at",
    ("horizon", "risk"): "risk",
    ("horizon", "rival"): "rival",
    **{("prediction", key): "risk" for key in ("column", "columns")},
    ("prediction", "scale"): "scale",
    ("prediction", "rival"): "rival",
    ("thresholds", "declared"): "thresholds",
    ("dataset", "site_column"): "site",
    **{("dataset", key): key for key in ("cluster", "weights", "strata", "predictors")},
}
"""Which argument gives a key of release.toml."""
LISTED = {"subgroup": "subgroups", "rival": "rival"}
"""Which argument gives the tables of a list."""


def faults(given: Mapping[str, object], tables: Mapping[str, object]) -> Iterator[Fault]:
    """Arguments of another kind than they should be, and tables that release.toml does not have."""
    of_follow_up = [name for name in FOLLOW_UP if given.get(name) is not None]
    needless = {"outcome"} if of_follow_up else {*FOLLOW_UP}
    # A list of horizons says of each what at and risk say of one.
    needless |= {"at", "risk"} if "horizon" in tables and given.get("at") is None else set()
    if of_follow_up and given.get("outcome") is not None:
        yield Fault("outcome_beside_follow_up", Argument("outcome"), key=of_follow_up[0])
    meant = _misspelled(given, tables, needless if given.get("outcome") is not None else needless - {*FOLLOW_UP})
    yield from (_unknown("dossier.validate", name, (near,)) for name, near in meant.items())
    for name, value in given.items():
        fits, wanted, example = KINDS[name]
        if value is None and name in (*needless, *meant.values()):
            continue
        if not fits(value):
            held = value.items() if isinstance(value, Mapping) and any(map(frames.is_frame, value.values())) else ()
            unlike = [_other(name, each, wanted, example, str(of)) for of, each in held if not frames.is_frame(each)]
            yield from unlike or [_other(name, value, wanted, example)]
    for name, value in ((name, value) for name, value in tables.items() if name not in meant):
        if name not in Release.model_fields:
            known = tuple(name for name in dict.fromkeys([*KINDS, *Release.model_fields]) if name != frames.FRAME)
            inside = tuple(_inside(table, name) for table in Release.model_fields if name in declared.keys_of((table,)))
            # Of many tables that have such a key the first are named.
            unknown = _unknown("dossier.validate", name, known, inside[:3])
            yield declared.refused(name, Argument(name)) or unknown
        else:
            example = f'{{"{next(iter(declared.keys_of((name,))), "…")}": …}}'
            is_list = name in toml.LISTS and name != "dataset"
            wanted = ("list_of_tables", f"[{example}]") if is_list else ("table_of_keys", example)
            if not (_listing(_is_table) if is_list else _is_table)(value):
                yield _other(name, value, *wanted)


def _misspelled(given: Mapping[str, object], tables: Mapping[str, object], needless: set[str]) -> dict[str, str]:
    """The tables that release.toml does not have, of those whose name is nearly that of an argument that lacks."""
    lacking = [name for name in given if given[name] is None and name not in needless and not KINDS[name][0](None)]
    near = {name: nearest(name, lacking) for name in tables if name not in Release.model_fields}
    return {name: argument for name, argument in near.items() if argument}


def _inside(table: str, key: str, value: str = "…") -> str:
    """A key of a table of release.toml as an argument."""
    written = f'{{"{key}": {value}}}'
    return f"{table}=[{written}]" if table in toml.LISTS and table != "dataset" else f"{table}={written}"


def _unknown(door: str, name: str, known: tuple[str, ...], inside: tuple[str, ...] | None = None) -> Fault:
    said = {"near": inside or nearest(name, known), "tables": inside is not None}
    return Fault("unknown_argument", Argument(name), key=name, of=door, known=known, **said)


Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def door(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """A public function whose arguments are looked at before it runs: a ReleaseError says which are of another kind.

    One that is needed and not given is None.
    """
    known = inspect.signature(function)
    each = [one for name, one in known.parameters.items() if name != "self"]
    by_name = tuple(one.name for one in each if one.kind is not one.VAR_KEYWORD)
    by_place = tuple(one.name for one in each if one.kind is one.POSITIONAL_OR_KEYWORD)
    needed = {one.name: None for one in each if one.default is one.empty and one.kind is not one.VAR_KEYWORD}
    kinds = {name: AT_DOORS.get(f"{function.__name__} {name}", AT_DOORS.get(name)) for name in known.parameters}

    @wraps(function)
    def opened(*given: Given.args, **named: Given.kwargs) -> Answer:
        stray = () if len(by_name) < len(each) else tuple(name for name in named if name not in by_name)
        if stray:
            raise ReleaseError([_unknown(function.__name__, name, by_name) for name in stray])
        try:
            bound = known.bind_partial(*given, **named)
        except TypeError:
            # More without a name than there are, or one with it again.
            door = function.__name__
            raise ReleaseError.one("arguments_by_place", Argument(door), key=door, places=by_place) from None
        bound.arguments = needed | bound.arguments
        asked = ((name, value, kinds.get(name)) for name, value in bound.arguments.items())
        wrong = [_other(name, value, *kind[1:]) for name, value, kind in asked if kind and not kind[0](value)]
        ReleaseError.raise_for(wrong)
        return function(*bound.args, **bound.kwargs)

    return opened


def of_frame(fault: Fault, by_at: bool = True) -> Fault:
    """The fault of the release that a frame was written as, in the words of who has given the frame, and the first
    horizon `by_at` and its kin or as the first table of `horizon`.
    """
    at = _at(fault.at, by_at)
    values = {name: _renamed(value) for name, value in fault.values}
    if isinstance(at, Argument) and at.name in (*KEYS.values(), frames.FRAME, *frames.BESIDE):
        values |= {"key": at.path} if values.get("key") == getattr(fault.at, "key", None) else {}
    return Fault(fault.code, at, **values).of_frame


def _other(name: str, value: object, wanted: str, example: str, part: str | None = None) -> Fault:
    as_in = f"{name}={example}" if part is None else f"{name}={{{_shown(part)}: {example}, …}}"
    at, key = Argument(name, part), name if part is None else part
    if any(hasattr(value, name) for name in ("collect", "compute", "read_all", "to_table")):
        return Fault("frame_not_computed", at, key=key)
    # A key of each hospital may have the name of an argument that is of something else.
    beside = part is None and name in declared.keys_of(("dataset",)) and ("dataset", name) not in KEYS
    shown = _shown(value)
    inside = _inside("dataset", name, shown) if beside and _is_text(value) else None
    said = {"inside": inside, "example": as_in}
    return Fault("argument_of_other_kind", at, key=key, value=shown, wanted=Fact(wanted), **said)


def _shown(value: object) -> str:
    if value is None:
        return "None"
    plain = isinstance(value, str | bool | int | float | dict | list | tuple | datetime.date)
    return wording.shown(value) if plain else f"a {type(value).__name__}"


def _renamed(value: Value) -> Any:
    """A value of a fault with the argument that gives a key, and the frame in place of its file."""
    if isinstance(value, str):
        name, _, key = value.partition("] ")
        of_table = f"{name.strip('[]')}=" if value.startswith("[") and not key else value
        return frames.shown(value) if value.endswith(".parquet") else _named(name.strip("[]"), key) or of_table
    return value


def _named(section: str, key: str) -> str | None:
    return LISTED.get(section) if key and section in LISTED else KEYS.get((section, key))


def _at(at: Location, by_at: bool) -> Location:
    if isinstance(at, Cell):
        return replace(at, table=frames.shown(at.table), other=None if at.other is None else frames.shown(at.other))
    if isinstance(at, Header):
        return File(frames.shown(at.table))
    if isinstance(at, File):
        return File(frames.shown(at.name), None if at.other is None else frames.shown(at.other))
    return _argument(at, by_at) if isinstance(at, Key) and at.section is not None else at


def _argument(at: Key, by_at: bool) -> Argument:
    section = at.section or ""
    first, _, rest = (at.key or "").partition(", ")
    name = KEYS.get((section, first))
    is_listed = section == "horizon" and not (by_at and at.number == 1)
    at = replace(at, number=at.number - by_at) if is_listed and at.number is not None else at
    if name is not None and not is_listed:
        return Argument(name, rest or None)
    if section == "dataset":
        of = at.name or frames.ALONE
        given = Argument(of) if of in frames.BESIDE else Argument(frames.FRAME, None if of == frames.ALONE else of)
        of_frame = [part for part in (None if of == frames.ALONE else of, at.key) if part]
        return given if first in ("", "file", "name") else Argument("dataset", ", ".join(of_frame))
    parts = [part for part in (None if at.number is None else f"table {at.number}", at.key) if part]
    return Argument(LISTED.get(section, section), ", ".join(parts) or None)


# ---- kinds ----------------------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """A number, an array or a Series of numpy or pandas as Python has it; all else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value


def _is_list(value: object) -> bool:
    return isinstance(_plain(value), Sequence) and not isinstance(value, str | bytes)


def _listing(of: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: _is_list(value) and all(of(each) for each in value)


def _of(*kinds: type) -> Callable[[Any], bool]:
    """Whether a value is of one of these kinds; a boolean is no number."""
    return lambda value: isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


_is_text, _is_column, _is_number = _of(str), _of(str, NoneType), _of(Real)


def _is_column_or_columns(value: Any) -> bool:
    return isinstance(value, str) or _listing(_is_text)(value)


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping) and _can_be_written(value)


def _is_rival(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and _is_column_or_columns(columns) for name, columns in value.items())
    return _is_column(value) or _listing(_is_table)(value)


def _is_frame_or_frames(value: object) -> bool:
    each = isinstance(value, Mapping) and value and all(map(frames.is_frame, value.values()))
    return frames.is_frame(value) or bool(each)


def _is_frame_or_none(value: object) -> bool:
    return value is None or frames.is_frame(value)


def _is_date(value: object) -> bool:
    found = day(_plain(value))
    return found is None or (isinstance(found, datetime.date) and not isinstance(found, datetime.datetime))


def _can_be_written(value: Any) -> bool:
    """Whether a value can stand in release.toml, or is a frame in the place of a file."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _can_be_written(each) for key, each in value.items())
    if isinstance(_plain(value), str | bool | Real | datetime.date) or value is None:
        return True
    return frames.is_frame(value) or (_is_list(value) and all(map(_can_be_written, value)))


_is_code = _of(str, Integral)
LOOKS: Mapping[str, Callable[[Any], bool]] = {
    "frame": _is_frame_or_none,
    "frames": _is_frame_or_frames,
    "text": _of(str),
    "text_or_nothing": _of(str, NoneType),
    "texts": _listing(_is_text),
    "columns": _is_column_or_columns,
    "rival": _is_rival,
    "number": _is_number,
    "whole_number": _of(Integral),
    "whole_above_0": lambda value: _of(Integral)(value) and value > 0,
    "thresholds": lambda value: _is_table(value) or _listing(_is_number)(value),
    "groups": _listing(lambda value: isinstance(value, str) or _is_table(value)),
    "readers": lambda value: _is_frame_or_none(value) or _is_table(value) or _listing(_is_table)(value),
    "value": lambda value: _of(str, bool, Integral, NoneType)(_plain(value)),
    "codes": lambda value: _is_code(value) or _listing(_is_code)(value),
    "day": _is_date,
    "place": _of(str, PathLike),
    "place_or_nothing": _of(str, PathLike, NoneType),
    "switch": _of(bool),
}
"""How an argument is looked at, as `words/arguments.toml` names it."""
KINDS, AT_DOORS = (
    {name: (LOOKS[how], words, example) for name, (how, words, example) in entries("arguments")[of].items()}
    for of in ("validate", "doors")
)
"""What each argument of `validate`, and of the other functions, may be, the words for it, and an example."""
