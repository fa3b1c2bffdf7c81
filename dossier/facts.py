"""What is known of a number beside the number: why it is missing, how it was made; typed until one place prints it.

A fact is a code and its values. The words of each code stand in `typeset`: `reasons.py` for why something is absent,
`methods.py` for how something was made. Whoever asks something of a fact asks its code or a value, never its words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

if TYPE_CHECKING:
    import numpy as np

Value: TypeAlias = "bool | int | float | str | Count | Fact | tuple[Value, ...] | None"

THINGS = frozenset(
    (
        "bin",
        "class",
        "draw",
        "group",
        "imputation",
        "knot",
        "level",
        "permutation",
        "predictor",
        "replicate",
        "site",
        "split",
        "subset",
        "threshold",
    )
)
"""What may be counted however few there are: no count of these tells anything of a patient or another person."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many there are of something, which disclosure control asks of every fact.

    Parameters
    ----------
    number : int
        How many, 0 or more.
    of : str
        What is counted, in the singular: "row", "event", "cluster". Whatever is not among `THINGS` counts as persons,
        so that a new word is protected until somebody decides otherwise.
    out_of : int, optional
        How many there are in all, where both stand side by side: the rest can then be told too.
    """

    number: int
    of: str
    out_of: int | None = None

    @property
    def is_of_persons(self) -> bool:
        """Whether persons, or their rows, are counted."""
        return self.of not in THINGS


@dataclass(frozen=True, init=False)
class Fact:
    """A code and the values that its words need.

    Parameters
    ----------
    code : str
        What is the case, as "no_risk_reaches_threshold".
    **values
        Numbers, names, counts, and other facts; tuples of these.
    """

    code: str
    values: tuple[tuple[str, Value], ...]

    def __init__(self, code: str, /, **values: Value | np.integer | np.floating) -> None:
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "values", tuple((name, _plain(value)) for name, value in values.items()))

    def __getitem__(self, name: str) -> Value:
        """The value of a name; a KeyError where the fact has none."""
        return dict(self.values)[name]

    def get(self, name: str) -> Value:
        """The value of a name; None where the fact has none."""
        return dict(self.values).get(name)

    @property
    def counts(self) -> Iterator[Count]:
        """Every count in it, and in the facts that it holds."""
        return _counts(tuple(value for _, value in self.values))

    @property
    def as_json(self) -> dict[str, object]:
        """The fact as results.json holds it."""
        return {"code": self.code, **{name: _written(value) for name, value in self.values}}

    @classmethod
    def of_json(cls, row: Mapping[str, object]) -> Self:
        """The fact that results.json holds; a ValueError where it is none."""
        code, values = row.get("code"), {name: _read(value) for name, value in row.items() if name != "code"}
        if not isinstance(code, str):
            raise ValueError("a fact needs a code")
        return cls(code, **values)


def _plain(value: Any) -> Value:
    """A number of numpy as Python's own."""
    # Not by its class: `dossier --help` knows errors, and should not wait for numpy.
    plain: Value = value.item() if hasattr(value, "item") else value
    return plain


def _counts(value: Value) -> Iterator[Count]:
    if isinstance(value, Count):
        yield value
    elif isinstance(value, Fact):
        yield from value.counts
    elif isinstance(value, tuple):
        for each in value:
            yield from _counts(each)


def _written(value: Value) -> object:
    if isinstance(value, Count):
        whole = {} if value.out_of is None else {"out_of": value.out_of}
        return {"count": value.number, "of": value.of, **whole}
    if isinstance(value, Fact):
        return value.as_json
    return [_written(each) for each in value] if isinstance(value, tuple) else value


def _read(row: object) -> Value:
    if isinstance(row, Mapping):
        return Fact.of_json(row) if "code" in row else _counted(row)
    if isinstance(row, (list, tuple)):
        return tuple(_read(each) for each in row)
    if row is None or isinstance(row, (bool, int, float, str)):
        return row
    raise ValueError("a value of a fact is a number, a text, a count, a fact or a list of these")


def _counted(row: Mapping[str, object]) -> Count:
    number, of, out_of = row.get("count"), row.get("of"), row.get("out_of")
    if not isinstance(number, int) or not isinstance(of, str) or not (out_of is None or isinstance(out_of, int)):
        raise ValueError("a count needs how many there are, and of what")
    return Count(number, of, out_of)
