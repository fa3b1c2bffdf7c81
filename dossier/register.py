"""@metric, @stratified, @curve, @describe, @synthesis, @figure: a function becomes a labelled value.

The decorated function stays a plain function. Its module's name is its chapter, the first sentence of its docstring its
glossary entry, its parameters what it needs: columns of a site (`outcome`, `risk`, `predictors` ...) or settings of the
release (`level`, `threshold`, `bootstrap`, `seed` ...). `evaluate/offered.py` lists what can be named. A measure of an
outcome of several classes stands on a shelf of its own, under the name of the measure of two classes whose place it
takes.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeVar, get_args

from dossier.types import Role, Term, Tier

Plain = TypeVar("Plain", bound=Callable[..., Any])
Best = Literal["higher", "lower", "one", "zero", "half"]
PoolingScale = Literal["plain", "log", "logit"]
Symmetry = Literal["plain", "log", "logit", "wilson"]
"""The scale on which an interval is symmetric, or Wilson's way, which is that of a share of rows."""
Law = Literal["rows in any order", "rows doubled", "perfect is best", "narrower with more rows", "one class is absent"]
Protection = Literal["counts", "ranks", "mean", "fit", "ratio", "difference", "withheld"]
"""What a measure is computed from where small counts are protected: ranges of the four counts at a threshold; or it is
given in steps of one person, as one of ranks, a mean over rows, a fit, or observed over expected; or of the values of
two models that are given. A measure that says nothing is withheld."""
AgainstRest = Literal["no", "by class", "by class and mean"]
"""What becomes of a measure of two classes when there are several: nothing, one value a class, or also their mean."""
Clustered = Literal["jackknife", "value only", "refused", "as it is"]
"""What becomes of a measure where rows belong to clusters: an interval by leaving clusters out (or by linearization,
where it is known what each row contributes), no interval because its own is drawn from independent rows, no value
because its very value supposes independent rows, or nothing, for it has no interval."""
LAWS: frozenset[Law] = frozenset(get_args(Law))


@dataclass(frozen=True)
class Metric:
    """A function on the columns of one site, with its label and the laws that it obeys."""

    term: Term
    function: Callable[..., Any]
    needs: tuple[str, ...]
    roles: tuple[Role, ...]
    laws: frozenset[Law]
    pool: PoolingScale | None = None
    fixed: Mapping[str, str] = field(default_factory=dict)
    scale: Symmetry = "plain"
    """Where the interval is symmetric for clustered, weighted and imputed rows."""
    mean_over: Literal["rows", "pairs"] | None = None
    """What its value is a mean over, where that of several sites is the mean over all their rows, or their pairs of a
    case and another."""
    independent_rows: bool = False
    against_rest: AgainstRest = "no"
    protection: Protection = "withheld"
    clustered: Clustered = "jackknife"
    weighted: Callable[..., Any] | None = None
    """The measure with each row at its weight, of `metrics.weighted.Rows`; none where weights are refused."""


@dataclass(frozen=True)
class Synthesis:
    """A function on the results of one site beside its reference, or of all external sites together."""

    term: Term
    function: Callable[..., Any]
    needs: tuple[str, ...]
    each: Literal["external", "pooled"]


@dataclass(frozen=True)
class CurveMaker:
    """A function that makes a curve from the columns of one site."""

    name: str
    label: str
    sentence: str
    chapter: str
    function: Callable[..., Any]
    needs: tuple[str, ...]
    roles: tuple[Role, ...]
    cites: tuple[str, ...]
    against_rest: bool = False
    of_rivals: bool = False
    """Whether it is made of every other model too, as if that were the model."""


@dataclass(frozen=True)
class FigureMaker:
    """A function that draws a picture from the evidence."""

    name: str
    title: str
    chapter: str
    function: Callable[..., Any]


@dataclass(frozen=True)
class Stratified:
    """The form of a measure that is taken over the rows of all sites, each site a stratum."""

    function: Callable[..., Any]


@dataclass
class Register:
    """What is known by name. It is filled once, when the folders of metrics and figures are imported."""

    metrics: dict[str, Metric] = field(default_factory=dict)
    syntheses: dict[str, Synthesis] = field(default_factory=dict)
    curves: dict[str, CurveMaker] = field(default_factory=dict)
    curve_syntheses: dict[str, CurveMaker] = field(default_factory=dict)
    descriptions: dict[str, CurveMaker] = field(default_factory=dict)
    figures: dict[str, FigureMaker] = field(default_factory=dict)
    stratified: dict[str, Stratified] = field(default_factory=dict)
    class_metrics: dict[str, Metric] = field(default_factory=dict)
    class_curves: dict[str, CurveMaker] = field(default_factory=dict)
    class_curve_syntheses: dict[str, CurveMaker] = field(default_factory=dict)


REGISTER = Register()


def _chapter(function: Callable[..., Any]) -> str:
    # A module cannot be called like a measure, which stands beside it in `dossier.metrics`.
    named: str = function.__globals__.get("CHAPTER", function.__module__.rpartition(".")[2])
    return named


def _needs(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def _sentence(function: Callable[..., Any]) -> str:
    """The first sentence of the docstring, on one line."""
    text = inspect.getdoc(function) or ""
    first = " ".join(text.split("\n\n")[0].split())
    if not first.endswith("."):
        raise TypeError(f"{function.__name__} needs a docstring that opens with one plain sentence")
    return re.split(r"(?<=\.) (?=[A-Z])", first)[0]


def _formula(function: Callable[..., Any], formula: str) -> str:
    """The formula as it is given; without one the methods appendix would have a hole."""
    if not formula:
        raise TypeError(f"{function.__name__} needs a formula: how it is computed, in plain text")
    return formula


def _enter(shelf: dict[str, Any], name: str, value: Any) -> None:
    if name in shelf and shelf[name].function.__module__ != value.function.__module__:
        raise TypeError(f"{name} is defined in {shelf[name].function.__module__} and in {value.function.__module__}")
    shelf[name] = value


def metric(
    label: str,
    *,
    digits: int = 2,
    range: tuple[float | None, float | None] = (None, None),
    best: Best | None = None,
    tier: Tier = "supporting",
    cites: str | tuple[str, ...] = (),
    at: tuple[str, ...] = (),
    roles: tuple[Role, ...] = ("internal", "external"),
    pool: PoolingScale | None = None,
    scale: Symmetry | None = None,
    mean_over: Literal["rows", "pairs"] | None = None,
    breaks: tuple[Law, ...] = (),
    measure: str | None = None,
    fixed: Mapping[str, str] | None = None,
    independent_rows: bool = False,
    unit: Literal["", "%", "per 100"] = "",
    caution: str = "",
    counterpart: str = "",
    differs: str = "",
    against_rest: AgainstRest = "no",
    of_classes: bool = False,
    chapter: str | None = None,
    clustered: Clustered = "jackknife",
    weighted: Callable[..., Any] | None = None,
    formula: str = "",
    protection: Protection = "withheld",
) -> Callable[[Plain], Plain]:
    """Make a function on columns a measure.

    `at` names the parameters that run over the release's list (threshold, priority, tau); `pool` the scale on which
    sites are pooled; `scale` where its interval is symmetric for clustered, weighted and imputed rows, by default
    the scale of pooling, or log where it runs from 0 without an end; `mean_over` what its value at a site is a mean
    over, where that over all rows of several sites is the mean over theirs; `breaks` the laws that do not hold for
    it; `fixed` what `at` always holds, and `measure` the name in results.json where it is not the function's own: a
    test is filed under the measure that it tests; `independent_rows` that it is refused on refitted splits;
    `caution` why it is not to be trusted alone, and `counterpart` the measure to read beside it; `differs` where a
    paper's formula is another; `formula` how it is computed, in plain text, as the methods appendix prints it: it
    has to be given. With several classes, `against_rest` says whether it is taken one class against the rest;
    `of_classes` makes it a measure of such an outcome (`classes`, `class_risk`), which needs to say its `chapter`;
    `clustered` and `weighted` what becomes of it where rows belong to clusters or have weights;
    `protection` what it is computed from where small counts are protected.
    """

    def enter(function: Plain) -> Plain:
        name = function.__name__
        term = Term(
            name=name,
            measure=measure or name,
            label=label,
            sentence=_sentence(function),
            chapter=chapter or _chapter(function),
            digits=digits,
            range=range,
            best=best,
            tier=tier,
            cites=(cites,) if isinstance(cites, str) else cites,
            at=at,
            unit=unit,
            caution=caution,
            counterpart=counterpart,
            differs=differs,
            formula=_formula(function, formula),
        )
        entry = Metric(
            term,
            function,
            _needs(function),
            roles,
            LAWS - set(breaks),
            pool,
            dict(fixed or {}),
            scale or pool or ("log" if range == (0, None) else "plain"),
            mean_over,
            independent_rows,
            against_rest,
            protection,
            clustered,
            weighted,
        )
        _enter(REGISTER.class_metrics if of_classes else REGISTER.metrics, name, entry)
        return function

    return enter


def synthesis(
    label: str,
    *,
    each: Literal["external", "pooled"],
    digits: int = 2,
    range: tuple[float | None, float | None] = (None, None),
    best: Best | None = None,
    tier: Tier = "mission",
    cites: str | tuple[str, ...] = (),
    at: tuple[str, ...] = (),
    differs: str = "",
    formula: str = "",
) -> Callable[[Plain], Plain]:
    """Make a function on results a measure: `site` and `internal` of each external site, or `sites` for all."""

    def enter(function: Plain) -> Plain:
        name = function.__name__
        term = Term(
            name=name,
            measure=name,
            label=label,
            sentence=_sentence(function),
            chapter=_chapter(function),
            digits=digits,
            range=range,
            best=best,
            tier=tier,
            cites=(cites,) if isinstance(cites, str) else cites,
            at=at,
            differs=differs,
            formula=_formula(function, formula),
        )
        _enter(REGISTER.syntheses, name, Synthesis(term, function, _needs(function), each))
        return function

    return enter


def stratified(function: Plain) -> Plain:
    """Make a function on strata the form of the measure of its name that is taken over the rows of all sites.

    It takes `metrics.stratified.Stratum`, one a site, and the level of the interval.
    """
    _enter(REGISTER.stratified, function.__name__, Stratified(function))
    return function


def _curve_maker(
    function: Callable[..., Any],
    label: str,
    roles: tuple[Role, ...],
    cites: str | tuple[str, ...],
    against_rest: bool = False,
    chapter: str | None = None,
    of_rivals: bool = False,
) -> CurveMaker:
    return CurveMaker(
        name=function.__name__,
        label=label,
        sentence=_sentence(function),
        chapter=chapter or _chapter(function),
        function=function,
        needs=_needs(function),
        roles=roles,
        cites=(cites,) if isinstance(cites, str) else cites,
        against_rest=against_rest,
        of_rivals=of_rivals,
    )


def curve(
    label: str,
    *,
    roles: tuple[Role, ...] = ("internal", "external"),
    cites: str | tuple[str, ...] = (),
    against_rest: bool = False,
    of_classes: bool = False,
    chapter: str | None = None,
    of_rivals: bool = False,
) -> Callable[[Plain], Plain]:
    """Make a function on columns a curve of results.json; with several classes as for a measure.

    `of_rivals` says whether it is made of every other model too.
    """

    def enter(function: Plain) -> Plain:
        shelf = REGISTER.class_curves if of_classes else REGISTER.curves
        _enter(shelf, function.__name__, _curve_maker(function, label, roles, cites, against_rest, chapter, of_rivals))
        return function

    return enter


def curve_synthesis(
    label: str,
    *,
    cites: str | tuple[str, ...] = (),
    against_rest: bool = False,
    of_classes: bool = False,
    chapter: str | None = None,
) -> Callable[[Plain], Plain]:
    """Make a function on the curves and results of all external sites (`sites`) a curve of the pooled dataset."""

    def enter(function: Plain) -> Plain:
        shelf = REGISTER.class_curve_syntheses if of_classes else REGISTER.curve_syntheses
        maker = _curve_maker(function, label, ("external",), cites, against_rest, chapter)
        _enter(shelf, function.__name__, maker)
        return function

    return enter


def describe(
    label: str, *, roles: tuple[Role, ...] = ("development", "internal", "external")
) -> Callable[[Plain], Plain]:
    """Make a function on columns a part of the description of the data."""

    def enter(function: Plain) -> Plain:
        _enter(REGISTER.descriptions, function.__name__, _curve_maker(function, label, roles, ()))
        return function

    return enter


def figure(title: str) -> Callable[[Plain], Plain]:
    """Make a function on the evidence a picture."""

    def enter(function: Plain) -> Plain:
        entry = FigureMaker(function.__name__, title, _chapter(function), function)
        _enter(REGISTER.figures, function.__name__, entry)
        return function

    return enter


_FILLING = threading.RLock()


def fill(folder: str) -> Register:
    """Import every module of a folder of the package, in alphabetical order, so that the register knows it."""
    with _FILLING:  # a worker may have several threads, and none may read a shelf that another one sorts
        _imported(folder)
        _in_the_order_of_the_files()
    return REGISTER


@cache
def _imported(folder: str) -> tuple[str, ...]:
    """The modules of a folder, all imported; asked for each chapter of each site, so that the folder is read once."""
    package = importlib.import_module(f"dossier.{folder}")
    modules = sorted(found.name for found in pkgutil.iter_modules(package.__path__))
    for module in modules:
        importlib.import_module(f"dossier.{folder}.{module}")
    return tuple(modules)


def _in_the_order_of_the_files() -> None:
    """Sort every shelf by file and line: what was imported first must not show in results.json."""
    for shelf in vars(REGISTER).values():
        places = [_place(entry.function) for entry in shelf.values()]
        if places != sorted(places):
            entries = sorted(shelf.items(), key=lambda entry: _place(entry[1].function))
            shelf.clear()
            shelf.update(entries)


def _place(function: Callable[..., Any]) -> tuple[str, int]:
    return function.__module__, function.__code__.co_firstlineno


@contextmanager
def borrowed() -> Iterator[Register]:
    """The register, put back as it was afterwards: for a test that adds a measure of its own."""
    shelves = vars(REGISTER)
    before = {name: dict(shelf) for name, shelf in shelves.items()}
    try:
        yield REGISTER
    finally:
        for name, shelf in before.items():
            shelves[name].clear()
            shelves[name].update(shelf)
