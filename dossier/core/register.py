"""@metric, @stratified, @curve, @describe, @synthesis, @figure: a function becomes a labelled value.

The decorated function stays a plain function. Its module's name is its chapter, the first sentence of its docstring its
glossary entry, its entry in `words/measures.toml` what else it is called and how it reads, its parameters what it
needs: columns of a site (`outcome`, `risk`, `predictors` ...) or settings of the release (`level`, `threshold`,
`bootstrap`, `seed` ...). `evaluate/offered.py` lists what can be named. A measure of an outcome of several classes
stands on a shelf of its own, under the name of the measure of two classes whose place it takes.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import pkgutil
import re
import textwrap
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial, wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Unpack, cast, get_args

from dossier.core.facts import Count, Fact
from dossier.core.types import MARGINAL, RIVAL, UPDATED, Absent, Floats, Goal, Role, Term
from dossier.words import entries

if TYPE_CHECKING:
    from dossier.core.release import Release

Plain = TypeVar("Plain", bound=Callable[..., Any])
Kind = TypeVar("Kind")
PoolingScale = Literal["plain", "log", "logit"]
Symmetry = Literal["plain", "log", "logit", "cloglog", "wilson"]
"""The scale on which an interval is symmetric, or Wilson's way, which is that of a share of rows."""
Law = Literal["rows in any order", "rows doubled", "perfect is best", "narrower with more rows", "one class is absent"]
Protection = Literal["counts", "ranks", "mean", "fit", "ratio", "difference", "withheld"]
"""What a measure is computed from where small counts are protected: ranges of the four counts at a threshold; or it is
given in steps of one person, as one of ranks, a mean over rows, a fit, or observed over expected; or of the values of
two models that are given. A measure that says nothing is withheld."""
AgainstRest = Literal["no", "by class", "by class and mean"]
"""What becomes of a measure of two classes when there are several: nothing, one value a class, or also their mean."""
CurveProtection = Literal["groups", "cumulative", "decisions", "bins", "roc", "withheld"]
"""What a curve is read off from the ranges of counts where small counts are protected; one that says nothing is
withheld."""
Clustered = Literal["jackknife", "value only", "refused", "as it is"]
"""What becomes of a measure where rows belong to clusters: an interval by leaving clusters out (or by linearization,
where it is known what each row contributes), no interval because its own is drawn from independent rows, no value
because its very value supposes independent rows, or nothing, for it has no interval. A measure that takes `cluster`
makes its interval itself."""
Given = Literal["anything", "rows", "both outcomes"]
"""What there must be for a measure to be asked; without it, it is absent with the reason."""
LAWS: frozenset[Law] = frozenset(get_args(Law))


@dataclass(frozen=True)
class Sized:
    """The patients that a measure of an outcome by a horizon needs for an interval of some width."""

    measure: Callable[..., Any]
    error: Callable[[float], float] = lambda width: width / 3.92
    """The standard error that goes with a width."""
    is_ratio: bool = False
    """Whether it is the error of the logarithm."""


@dataclass(frozen=True)
class Metric:
    """A function on the columns of one site, with its label and the laws that it obeys."""

    term: Term
    function: Callable[..., Any]
    needs: tuple[str, ...]
    roles: tuple[Role, ...] = ("internal", "external")
    laws: frozenset[Law] = LAWS
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
    followed: Callable[..., Any] | Sized | Literal["itself", "refused"] | None = None
    """The measure where the outcome is known by follow-up, of `metrics.weighted.Rows`, by default that at weights; or
    the sample that it needs; or that the function takes follow-up itself, in its `design`; or that it is not of an
    outcome."""
    difference_of: str | None = None
    """The function whose difference from the other model it is."""
    by_subgroup: bool = False
    """Whether it is also taken of subgroups: where nothing else is said, if its tier is core or supporting."""
    module: str = ""
    """Where it is declared, if that is not where its function is defined."""
    by_horizon: Mapping[str, Any] = field(default_factory=dict)
    """What its term says otherwise where the outcome is one by a horizon: its scale or its test is another."""

    @property
    def of_rows(self) -> Callable[..., Any] | None:
        """The measure of `metrics.weighted.Rows`, be their outcomes known by follow-up or not; None without one."""
        form = self.followed or self.weighted
        return form if callable(form) else None


@dataclass(frozen=True)
class Synthesis:
    """A function on the results of one site beside its reference, or of all external sites together."""

    term: Term
    function: Callable[..., Any]
    needs: tuple[str, ...]
    each: Literal["external", "groups", "pooled"]


@dataclass(frozen=True)
class Line:
    """A line of a curve with a band: its column, and what the names of its ends begin with."""

    column: str
    ends: str = ""
    of_shares: bool = True
    """Whether it runs from 0 to 1; a net benefit only ends at 1."""
    makes_its_own: bool = False
    """Whether the curve makes its band of clustered rows itself, from shares of the rows."""


@dataclass(frozen=True)
class Band:
    """The lines of a curve that have a band, and the column of their axis, which is none where points are counted."""

    axis: str
    lines: tuple[Line, ...]


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
    band: Band | None = None
    bins: bool = False
    """Whether its columns low and high are the ends of bins."""
    protection: CurveProtection = "withheld"
    of_rivals: bool = False
    """Whether it is made of every other model too, as if that were the model."""
    weighted: bool = False
    """Whether it honours sampling weights."""
    followed: bool = False
    """Whether it takes follow-up in its `design`, where the outcome is by a horizon."""


@dataclass(frozen=True)
class Maker:
    """A function of which nothing is said but its name."""

    function: Callable[..., Any]

    @property
    def needs(self) -> tuple[str, ...]:
        """What it takes."""
        return _needs(self.function)


@dataclass
class Register:
    """What is known by name. It is filled once, when the folders of metrics and figures are imported."""

    metrics: dict[str, Metric] = field(default_factory=dict)
    syntheses: dict[str, Synthesis] = field(default_factory=dict)
    curves: dict[str, CurveMaker] = field(default_factory=dict)
    curve_syntheses: dict[str, CurveMaker] = field(default_factory=dict)
    descriptions: dict[str, CurveMaker] = field(default_factory=dict)
    figures: dict[str, Maker] = field(default_factory=dict)
    """Those that draw a picture from the evidence."""
    stratified: dict[str, Maker] = field(default_factory=dict)
    """The forms of measures that are taken over the rows of all sites, each site a stratum."""
    followed_metrics: dict[str, Metric] = field(default_factory=dict)
    """Those that are only of an outcome that is known by follow-up."""
    class_metrics: dict[str, Metric] = field(default_factory=dict)
    class_curves: dict[str, CurveMaker] = field(default_factory=dict)
    class_curve_syntheses: dict[str, CurveMaker] = field(default_factory=dict)


REGISTER = Register()


def _chapter(function: Callable[..., Any]) -> str:
    # A module cannot be called like a measure, which stands beside it in `dossier.metrics`.
    named: str = inspect.unwrap(function).__globals__.get("CHAPTER", function.__module__.rpartition(".")[2])
    return named


def _needs(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


NO_ROWS = Absent(Fact("no_rows"))


def one_class(outcome: Floats) -> Absent | None:
    """The reason why cases cannot be compared with non-cases, if there is one."""
    if len(outcome) == 0:
        return NO_ROWS
    if len(outcome) == 1:
        return Absent(Fact("single_row", rows=Count(1, "row")))
    events = int(outcome.sum())
    if events == 0:
        return Absent(Fact("no_event", rows=Count(len(outcome), "row")))
    if events == len(outcome):
        return Absent(Fact("no_non_event", rows=Count(len(outcome), "row")))
    return None


class AbsentError(Exception):
    """What a function asked for is absent: so is its own answer, for the same reason."""

    def __init__(self, absent: Absent) -> None:
        super().__init__(absent)
        self.absent = absent


def present(found: Kind | Absent) -> Kind:
    """What was found; where it is absent, so is what `absent_with_its_parts` is asked for."""
    if isinstance(found, Absent):
        raise AbsentError(found)
    return found


def absent_with_its_parts(function: Plain) -> Plain:
    """The function, which answers with the first Absent that it holds to be present; registered ones all do."""

    @wraps(function)
    def answer(*values: Any, **named: Any) -> Any:
        try:
            return function(*values, **named)
        except AbsentError as error:
            return error.absent

    return cast(Plain, answer)


def _where_given(function: Plain, given: Given) -> Plain:
    """The function, which is asked only where its first column has what it needs."""
    first, whole = _needs(function)[0], absent_with_its_parts(function)
    if given == "anything" or first not in ("outcome", "classes", "risk"):
        return whole

    @wraps(function)
    def asked(*values: Any, **named: Any) -> Any:
        column = values[0] if values else named.get(first)
        if column is None or (len(column) and given == "rows"):
            return whole(*values, **named)
        return one_class(column) or whole(*values, **named)

    return cast(Plain, asked)


def _sentence(function: Callable[..., Any]) -> str:
    """The first sentence of the docstring, on one line."""
    text = inspect.getdoc(function) or _written(function)
    first = " ".join(text.split("\n\n")[0].split())
    if not first.endswith("."):
        raise TypeError(f"{function.__name__} needs a docstring that opens with one plain sentence")
    return re.split(r"(?<=\.) (?=[A-Z])", first)[0]


def _written(function: Callable[..., Any]) -> str:
    """The docstring as it stands in the file: `python -OO` takes it from the function."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    return ast.get_docstring(definition) or "" if isinstance(definition, ast.FunctionDef) else ""


def _enter(shelf: dict[str, Any], name: str, value: Any) -> None:
    if name in shelf and shelf[name].function.__module__ != value.function.__module__:
        raise TypeError(f"{name} is defined in {shelf[name].function.__module__} and in {value.function.__module__}")
    shelf[name] = value


class Taken(TypedDict, total=False):
    """How a measure is taken: see `Metric`."""

    roles: tuple[Role, ...]
    pool: PoolingScale | None
    mean_over: Literal["rows", "pairs"] | None
    fixed: Mapping[str, str]
    independent_rows: bool
    against_rest: AgainstRest
    clustered: Clustered
    weighted: Callable[..., Any] | None
    followed: Callable[..., Any] | Sized | Literal["itself", "refused"] | None
    protection: Protection
    difference_of: str | None


NO_WORDS: Mapping[str, Any] = MappingProxyType({})


def _words(shelf: str, name: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """What `words/measures.toml` says of a measure or a curve, or the decorator of one that does not ship."""
    return _as_a_term_holds_it(own or entries("measures")[shelf].get(name, {}))


def _as_a_term_holds_it(words: Mapping[str, Any]) -> dict[str, Any]:
    return {key: HELD[key](value) if key in HELD else value for key, value in words.items()}


HELD: Mapping[str, Callable[[Any], Any]] = {
    "cites": tuple,
    "also": tuple,
    "written": tuple,
    "range": lambda ends: tuple(None if math.isinf(end) else end for end in ends),
    "goal": lambda goal: Goal(**goal),
    "by_horizon": _as_a_term_holds_it,
}
"""What is made of the values of TOML that a term holds otherwise."""


def _term(
    function: Callable[..., Any],
    words: Mapping[str, Any],
    at: tuple[str, ...],
    chapter: str | None = None,
    measure: str | None = None,
) -> Term:
    """What a measure is called; without a formula the methods appendix would have a hole."""
    name, words = function.__name__, {"label": "", "sentence": _sentence(function), **words}
    term = Term(name, measure or name, chapter=chapter or _chapter(function), at=at, **words)
    if not (term.label and term.formula):
        raise TypeError(f"{name} needs a label and a formula in words/measures.toml")
    return term


def metric(
    *,
    at: tuple[str, ...] = (),
    scale: Symmetry | None = None,
    breaks: tuple[Law, ...] = (),
    measure: str | None = None,
    chapter: str | None = None,
    by_subgroup: bool | None = None,
    given: Given | None = None,
    words: Mapping[str, Any] = NO_WORDS,
    **taken: Unpack[Taken],
) -> Callable[[Plain], Plain]:
    """Make a function on columns a measure; `words/measures.toml` says what it is called and how it reads.

    `at` names the parameters that run over the release's list (threshold, priority, tau); `pool` the scale on which
    sites are pooled; `scale` where its interval is symmetric for clustered, weighted and imputed rows, by default
    the scale of pooling, or log where it runs from 0 without an end; `mean_over` what its value at a site is a mean
    over, where that over all rows of several sites is the mean over theirs; `breaks` the laws that do not hold for
    it; `fixed` what `at` always holds, and `measure` the name in results.json where it is not the function's own: a
    test is filed under the measure that it tests; `independent_rows` that it is refused on refitted splits. With
    several classes, `against_rest` says whether it is taken one class against the rest; one that takes `classes` first
    is a measure of such an outcome, of the chapter of the measure of two classes whose place it takes, or of `chapter`;
    one that takes `followed` first is only of an outcome by a horizon; `clustered`, `weighted` and `followed` what
    becomes of it where rows belong to clusters, have weights or were not all followed to the horizon; `protection` what
    it is computed from where small counts are protected; `difference_of` whose value and whose `_of_rival` a difference
    is taken of where small counts are protected; `by_subgroup` whether it is also taken of subgroups, by default where
    its tier is core or supporting; `given` what there must be for it to be asked, by default rows, and both outcomes
    where by its laws it is absent with one class; `words` what the file says of one that ships.
    """
    laws = LAWS - set(breaks)

    def enter(function: Plain) -> Plain:
        name, of_classes = function.__name__, _needs(function)[0] == "classes"
        compares = "one class is absent" in laws and not of_classes
        function = _where_given(function, given or ("both outcomes" if compares else "rows"))
        replaced = REGISTER.metrics.get(name) if of_classes else None
        said = _words("measures_of_classes" if of_classes else "measures", name, words)
        by_horizon = said.pop("by_horizon", {})
        term = _term(function, said, at, chapter or (replaced.term.chapter if replaced else None), measure)
        entry = Metric(
            term,
            function,
            _needs(function),
            laws=laws,
            scale=scale or taken.get("pool") or ("log" if term.range == (0, None) else "plain"),
            by_subgroup=term.tier in ("core", "supporting") if by_subgroup is None else by_subgroup,
            by_horizon=by_horizon,
            **taken,
        )
        shelf = REGISTER.followed_metrics if _needs(function)[0] == "followed" else REGISTER.metrics
        _enter(REGISTER.class_metrics if of_classes else shelf, name, entry)
        return function

    return enter


def of_rivals(
    name: str,
    *,
    module: str,
    chapter: str,
    protection: Protection = "withheld",
    of_classes: bool = False,
    words: Mapping[str, Any] = NO_WORDS,
) -> None:
    """Ask a measure also of every other model, as if that were the one that is tested.

    What is found is filed under the name of the measure with `model` in `at`, and printed in a chapter of comparison.
    """
    shelf = REGISTER.class_metrics if of_classes else REGISTER.metrics
    said = _words("measures_of_classes" if of_classes else "measures", f"{name}_of_rival", words)
    by_horizon = said.pop("by_horizon", {})
    entry = _again(shelf[name], "of_rival", "of the other model", {"model": RIVAL}, module, chapter, said)
    entry = replace(entry, roles=("internal", "external"), protection=protection, by_horizon=by_horizon)
    _enter(shelf, entry.term.name, replace(entry, by_subgroup=entry.term.tier == "mission"))


def of_updates(function: Callable[..., Any], module: str) -> None:
    """Ask a measure also of every declared update, as if that were the model; withheld where counts are protected."""
    own = REGISTER.metrics[function.__name__]
    sentence = f"Of an updated model: {own.term.sentence[0].lower()}{own.term.sentence[1:]}"
    formula = f"{own.term.formula}; p the risk by updates that were fitted without the row"
    words = {"sentence": sentence, "formula": formula}
    entry = _again(own, "of_update", "of the updated model", {"model": UPDATED}, module, "updating", words)
    _enter(REGISTER.metrics, entry.term.name, entry)


def of_marginal_weights(function: Callable[..., Any], module: str) -> None:
    """Ask a measure of an outcome by a horizon also where the ends of follow-up are counted among all patients."""
    own = REGISTER.metrics[function.__name__]
    words = {
        "sentence": f"With the ends of follow-up counted among all patients: {own.term.sentence}",
        "formula": f"{own.term.formula}; weights 1/G of all patients together in place of those by fifths of the risk",
    }
    entry = _again(own, "at_marginal_weights", "at marginal weights", MARGINAL, module, "description", words)
    _enter(REGISTER.followed_metrics, entry.term.name, entry)


def of_wishes(own: Metric, function: Callable[..., Any], module: str) -> None:
    """Ask a measure of a threshold also of the one that is chosen for a wish: `function` does, under a name of its own.

    It has no form for rows that do not count alike, and is withheld where counts are protected.
    """
    own_sentence = own.term.sentence
    words = {
        "sentence": f"At the threshold that is chosen for a wish: {own_sentence[0].lower()}{own_sentence[1:]}",
        "formula": f"{own.term.formula}; at the threshold for the wish",
        "cites": (*own.term.cites, "Wilks 1941"),
        "at": ("wish",),
    }
    term = _beside(own.term, "at_wish", "at the threshold chosen on these data", "utility", words)
    term = replace(term, measure=term.name)
    entry = Metric(term, function, _needs(function), ("external",), frozenset(), clustered="value only", module=module)
    _enter(REGISTER.metrics, term.name, entry)


def _beside(own: Term, suffix: str, label: str, chapter: str, words: Mapping[str, Any]) -> Term:
    """What a measure is called where it is asked once more; `words` say of it what they would of one of its own."""
    called = {"name": f"{own.name}_{suffix}", "label": f"{own.label} {label}", "tier": "descriptive", **words}
    return replace(own, chapter=chapter, also=(), goal=None, **called)


def _again(
    own: Metric, suffix: str, label: str, fixed: Mapping[str, str], module: str, chapter: str, words: Mapping[str, Any]
) -> Metric:
    """A measure that is asked once more, of what is `fixed` in `at`: of another model than the one that is tested."""
    term = _beside(own.term, suffix, label, chapter, words)
    made = replace(own, term=term, roles=("external",), fixed=fixed, module=module, laws=frozenset(), pool=None)
    return replace(made, against_rest="no", protection="withheld", by_subgroup=False)


def synthesis(
    *, each: Literal["external", "groups", "pooled"], at: tuple[str, ...] = (), words: Mapping[str, Any] = NO_WORDS
) -> Callable[[Plain], Plain]:
    """Make a function on results a measure: `site` and `internal` of each external site, or `sites` for all.

    Of `groups` it takes the rows of a group of patients and of the others, site by site, and names a comparison itself.
    """

    def enter(function: Plain) -> Plain:
        name, function = function.__name__, absent_with_its_parts(function)
        term = _term(function, {"tier": "mission", **_words("measures", name, words)}, at)
        _enter(REGISTER.syntheses, name, Synthesis(term, function, _needs(function), each))
        return function

    return enter


def stratified(function: Plain) -> Plain:
    """Make a function on strata the form of the measure of its name that is taken over the rows of all sites.

    It takes `metrics.stratified.Stratum`, one a site, and the level of the interval.
    """
    function = absent_with_its_parts(function)
    _enter(REGISTER.stratified, function.__name__, Maker(function))
    return function


def curve(
    *,
    roles: tuple[Role, ...] = ("internal", "external"),
    against_rest: bool = False,
    of_classes: bool = False,
    chapter: str | None = None,
    band: Band | None = None,
    bins: bool = False,
    protection: CurveProtection = "withheld",
    of_rivals: bool = False,
    weighted: bool = False,
    followed: bool = False,
    given: Given = "rows",
    shelf: Literal["curves", "curve_syntheses", "descriptions"] = "curves",
    words: Mapping[str, Any] = NO_WORDS,
) -> Callable[[Plain], Plain]:
    """Make a function on columns a curve of results.json, of which `words/measures.toml` holds label and sources; with
    several classes as for a measure.

    `band` says which lines have one, `bins` that low and high are the ends of bins, `protection` what it is read off
    where small counts are protected, `of_rivals` whether it is made of every other model too, `weighted` whether it
    honours sampling weights, `followed` whether it takes follow-up, `given` what there must be for it to be asked,
    `shelf` where it is entered: `curve_synthesis` and `describe` say what stands on others.
    """

    def enter(function: Plain) -> Plain:
        name, several = function.__name__, of_classes or _needs(function)[0] == "classes"
        replaced = getattr(REGISTER, shelf).get(name) if several else None
        said = _words("curves_of_classes" if several else "curves", name, words)
        function = _where_given(function, given)
        maker = CurveMaker(
            name=name,
            sentence=_sentence(function),
            chapter=chapter or (replaced.chapter if replaced else _chapter(function)),
            function=function,
            needs=_needs(function),
            roles=roles,
            **{"cites": (), **said},
            against_rest=against_rest,
            band=band,
            bins=bins,
            protection=protection,
            of_rivals=of_rivals,
            weighted=weighted,
            followed=followed,
        )
        _enter(getattr(REGISTER, f"class_{shelf}" if several else shelf), name, maker)
        return function

    return enter


curve_synthesis = partial(curve, roles=("external",), shelf="curve_syntheses")
"""Make a function on the curves and results of all external sites (`sites`) a curve of the pooled dataset."""
describe = partial(curve, roles=("development", "internal", "external"), given="anything", shelf="descriptions")
"""Make a function on columns a part of the description of the data."""


def figure(function: Plain) -> Plain:
    """Make a function on the evidence a picture."""
    _enter(REGISTER.figures, function.__name__, Maker(function))
    return function


_FILLING = threading.RLock()


def fill(folder: str) -> Register:
    """Import every module of a folder of the package, in alphabetical order, so that the register knows it."""
    with _FILLING:  # a worker may have several threads, and none may read a shelf that another one sorts
        _imported(folder)
        # Every shelf by file, and there as it is written: what was imported first must not show in results.json.
        for shelf in vars(REGISTER).values():
            entries = sorted(shelf.items(), key=lambda entry: _file(entry[1]))
            if [name for name, _ in entries] != list(shelf):
                shelf.clear()
                shelf.update(entries)
    return REGISTER


@cache
def _imported(folder: str) -> tuple[str, ...]:
    """The modules of a folder, all imported; asked for each chapter of each site, so that the folder is read once."""
    package = importlib.import_module(f"dossier.{folder}")
    modules = sorted(found.name for found in pkgutil.iter_modules(package.__path__))
    for module in modules:
        importlib.import_module(f"dossier.{folder}.{module}")
    return tuple(modules)


def _file(entry: Any) -> str:
    found: str = getattr(entry, "module", "") or entry.function.__module__
    return found


def measures() -> dict[str, Metric]:
    """The measures of two classes that are functions of their own, those of follow-up among them, by name."""
    every = fill("metrics").metrics | REGISTER.followed_metrics
    return {name: metric for name, metric in every.items() if not metric.module}


# ---- what is asked of a release --------------------------------------------------------------------------------------


def metrics_of(release: Release) -> dict[str, Metric]:
    """The measures that are asked of a release, by name.

    Of several classes each measure of two classes is either taken one class against the rest, with `class` among its
    settings, or replaced by the measure of several classes of the same name, or absent with its reason.
    """
    if release.outcome.time is not None:
        every = REGISTER.metrics | REGISTER.followed_metrics
        return {name: replace(each, term=replace(each.term, **each.by_horizon)) for name, each in every.items()}
    if release.outcome.classes is None:
        return REGISTER.metrics
    return {name: _of_classes(metric) for name, metric in (REGISTER.class_metrics | REGISTER.metrics).items()}


def _of_classes(metric: Metric) -> Metric:
    if metric.against_rest != "no":
        return replace(metric, term=replace(metric.term, at=("class", *metric.term.at)))
    return REGISTER.class_metrics.get(metric.term.name, metric)


def terms_of(release: Release) -> dict[str, Term]:
    """What the measures of a release are called, with the limits that its criteria set them."""
    limits: dict[str, tuple[float, ...]] = {}
    for each in (each for each in release.criteria if "horizon" not in each.at):
        bounds = (bound for bound in (each.at_least, each.at_most) if bound is not None)
        limits[each.measure] = (*limits.get(each.measure, ()), *bounds)
    terms = {name: entry.term for name, entry in (metrics_of(release) | REGISTER.syntheses).items()}
    return terms | {name: replace(terms[name], limits=limits[name]) for name in limits if name in terms}
