"""What is known of a number beside the number: why it is missing, how it was made; typed until one place prints it.

A fact is a code and its values. The words of each code stand in `words`: `reasons.toml` for why something is absent,
`methods.toml` for how something was made. Whoever asks something of a fact asks its code or a value, never its words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np

Value: TypeAlias = "bool | int | float | str | Count | Fact | tuple[Value, ...] | None"

THINGS = frozenset(
    (
        *("bin", "class", "draw", "group", "imputation", "knot", "level", "permutation", "predictor", "replicate"),
        *("site", "split", "subset", "threshold"),
    )
)
"""What may be counted however few there are: no count of these tells anything of a patient or another person."""


Key = TypeVar("Key")
Each = TypeVar("Each")


def gathered(pairs: Iterable[tuple[Key, Each]]) -> dict[Key, list[Each]]:
    """What stands second in pairs, under what stands first; both in their order."""
    found: dict[Key, list[Each]] = {}
    for key, each in pairs:
        found.setdefault(key, []).append(each)
    return found


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
        How many there are in all, where both stand side by side: the rest can then be named too.
    is_limit : bool
        Whether it is the fewest or the most that something asks for, the same whoever the patients are.
    """

    number: int
    of: str
    out_of: int | None = None
    is_limit: bool = False

    @property
    def is_of_persons(self) -> bool:
        """Whether persons, or their rows, are counted."""
        return self.of not in THINGS and not self.is_limit


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

    def __repr__(self) -> str:
        """The call that makes it."""
        values = "".join(f", {name}={value!r}" for name, value in self.values)
        return f"{type(self).__name__}({self.code!r}{values})"

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
    def without_counts(self) -> Self:
        """The fact in which every count of persons, or of their rows, is only that there are some."""
        return type(self)(self.code, **{name: _without_counts(value) for name, value in self.values})

    def with_values(self, other: Callable[[Fact, str, Value], Value]) -> Self:
        """The fact with another value for each, and so the facts that it holds; `other` gets fact, name and value."""
        return type(self)(self.code, **{name: _other(other, self, name, value) for name, value in self.values})

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


IntervalMethod = Literal[
    "DeLong", "Newcombe", "Wilson", "clusters left out", "clusters linearized", "rows linearized", "imputations pooled"
]
"""How the bounds of a number, or the band of a curve, were made: DeLong, Wilson and so on; or by leaving out clusters
(jackknife), by linearization over clusters or rows, or from those of the imputations (Rubin)."""

INTERVALS: Mapping[str, IntervalMethod] = {
    "delong": "DeLong",
    "delong_over_classes": "DeLong",
    "newcombe": "Newcombe",
    "newcombe_inside": "Newcombe",
    "wilson": "Wilson",
    "jackknife": "clusters left out",
    "rubin": "imputations pooled",
    "rubin_of_bounds": "imputations pooled",
}
"""The steps that tell how bounds were made; those of a linearization depend on its units."""

OF_VALUE = frozenset(
    (
        *("spline", "straight_line", "single_level", "risks_clipped", "bins_of_equal_width", "average_precision"),
        *("without_certain_risks", "ties", "kappa", "kappa_of_complete_cases", "nominal", "mean_over_cases"),
        *("mean_over_pairs_of_raters", "cases_left_out", "raters_as_declared", "raters_against_outcome"),
        *("raters_taken_as_right", "halves_classified", "rows_drawn", "constant_predictors", "incomplete_rows"),
    )
)
"""The steps that tell how a value was made, whatever its interval."""


@dataclass(frozen=True, init=False)
class Method:
    """How a number or a curve was made: facts in the order in which they are printed.

    Parameters
    ----------
    *steps : Fact or str
        Each a fact, or the code of one that has no values.
    """

    steps: tuple[Fact, ...]

    def __init__(self, *steps: Fact | str) -> None:
        object.__setattr__(self, "steps", tuple(Fact(step) if isinstance(step, str) else step for step in steps))

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.steps)

    def __add__(self, other: Fact | str | Iterable[Fact]) -> Method:
        """The method with one more step, or with those of another."""
        return Method(*self, *((other,) if isinstance(other, (Fact, str)) else other))

    def by(self, *steps: Fact | str) -> Method:
        """The method where the interval is made anew by these steps: how the value was made stays."""
        return Method(*(step for step in self if step.code in OF_VALUE), *steps)

    def without(self, *codes: str) -> Method:
        """The method without the steps of these codes."""
        return Method(*(step for step in self if step.code not in codes))

    def has(self, *codes: str) -> bool:
        """Whether a step, or a fact that one holds, has one of these codes."""
        return any(fact.code in codes for fact in self.facts)

    def first(self, code: str) -> Fact | None:
        """The first fact of a code, be it a step or held by one; None where there is none."""
        return next((fact for fact in self.facts if fact.code == code), None)

    @property
    def facts(self) -> Iterator[Fact]:
        """Every step, each followed by the facts that it holds."""
        return _facts(self.steps)

    @property
    def counts(self) -> Iterator[Count]:
        """Every count in it."""
        return _counts(self.steps)

    @property
    def df(self) -> float | None:
        """The degrees of freedom of its t distribution; None where it takes the normal one or none."""
        found = [fact.get("df") for fact in self.facts]
        known = [float(fact) for fact in found if isinstance(fact, (int, float))]
        return known[-1] if known else None

    @property
    def interval(self) -> IntervalMethod | None:
        """How the bounds were made, the last way where there are several; None where no caption names the way."""
        known = [way for fact in self.facts if (way := _interval(fact)) is not None]
        if known and self.has("mean_of_imputations"):
            return "imputations pooled"
        return known[-1] if known else None

    @property
    def is_one_sided(self) -> bool:
        """Whether the interval has one end only."""
        return self.has("one_sided")


def _interval(fact: Fact) -> IntervalMethod | None:
    """How a fact says that bounds were made."""
    if fact.code in ("linearization", "linearization_by_t"):
        over = fact.get("over")
        return "clusters linearized" if isinstance(over, Count) and over.of == "cluster" else "rows linearized"
    return INTERVALS.get(fact.code)


def _facts(value: Value) -> Iterator[Fact]:
    if isinstance(value, Fact):
        yield value
        yield from _facts(tuple(held for _, held in value.values))
    elif isinstance(value, tuple):
        for each in value:
            yield from _facts(each)


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


def _without_counts(value: Value) -> Value:
    if isinstance(value, Count):
        return Fact("some", of=value.of) if value.is_of_persons else value
    if isinstance(value, Fact):
        return value.without_counts
    return tuple(_without_counts(each) for each in value) if isinstance(value, tuple) else value


def _other(other: Callable[[Fact, str, Value], Value], fact: Fact, name: str, value: Value) -> Value:
    if isinstance(value, Fact):
        return value.with_values(other)
    if isinstance(value, tuple):
        return tuple(_other(other, fact, name, each) for each in value)
    return other(fact, name, value)


def _written(value: Value) -> object:
    if isinstance(value, Count):
        whole = {} if value.out_of is None else {"out_of": value.out_of}
        limit = {"is_limit": True} if value.is_limit else {}
        return {"count": value.number, "of": value.of, **whole, **limit}
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
    number, of, out_of, is_limit = row.get("count"), row.get("of"), row.get("out_of"), row.get("is_limit", False)
    if not isinstance(number, int) or not isinstance(of, str) or not (out_of is None or isinstance(out_of, int)):
        raise ValueError("a count needs how many there are, and of what")
    if not isinstance(is_limit, bool):
        raise ValueError("a count is a limit or none")
    return Count(number, of, out_of, is_limit)
