"""What a measure may name: the columns of a site, the settings of the release, and the lists over which `at` runs."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dossier.core import bands, types
from dossier.core.facts import Fact
from dossier.core.register import CurveMaker, Maker, Metric, Synthesis
from dossier.core.release import Release, Source, SurveyShare, Utility
from dossier.metrics import raters, severity, time_to_event
from dossier.metrics.censoring import TimeToEvent, Weights
from dossier.metrics.shares import Design

Bools = NDArray[np.bool_]

PERFORMANCE_OF_CLASSES = ("auroc",)
"""Of several classes robustness is read at the mean AUROC alone: the other two have other scales and cut-offs there."""


@dataclass(frozen=True)
class Site:
    """One dataset with what its measures may ask for beside its own rows."""

    dataset: types.Dataset
    release: Release
    development: tuple[types.Feature, ...]
    development_rows: int | None
    readers: types.Readers | None
    readers_elsewhere: tuple[str, ...]
    """The datasets that readers judged; READERS where tables name none, empty where there are no tables."""
    subset: types.Subset | None = None
    """The subgroup that the rows are, when they are only a part of the dataset."""
    measures: frozenset[str] | None = None
    """The measures that are asked, and no curves; None for every measure and curve."""
    wide: int = 0
    """How many values each range of a count holds, where small counts are protected."""
    said: frozenset[str] = frozenset()
    """The columns and predictors that are then not counted, for other counts add up to theirs."""
    earlier: tuple[types.Released, ...] = ()
    """What earlier releases gave of the dataset, by their ledger."""
    update: str = ""
    """The update whose risks take the place of the model's, which are those of its rival; none where it is empty."""
    model: str = ""
    """The model and the version by which the ledger knows this release."""

    def asks(self, measure: str) -> bool:
        """Whether a measure is asked."""
        return self.measures is None or measure in self.measures

    @property
    def drawn_as(self) -> str:
        """The name that enters the seed: no two sets of rows draw the same random numbers."""
        return self.dataset.name if self.subset is None else f"{self.dataset.name}/{self.subset}"


def design_of(dataset: types.Dataset) -> Design:
    """How the rows of a dataset were sampled."""
    rows, known = 0 if dataset.outcome is None else len(dataset.outcome), dataset.followed
    alike = np.zeros(rows, dtype=np.int64)
    censoring = None if known is None else Weights(known.time, known.event, known.horizon, alike)
    return Design(rows, dataset.cluster, dataset.weights, dataset.strata, censoring)


def columns(site: Site) -> dict[str, Any]:
    """What can be named as a column, or the reason why this site does not have it."""
    dataset = site.dataset
    lacks = partial(Fact, "has_no", dataset=dataset.name)
    several = Fact("has_outcome_of_classes", dataset=dataset.name)
    no_rival = (
        Fact("rival_incomplete", dataset=dataset.name) if dataset.rival_is_incomplete else lacks(what="risk of a rival")
    )
    binary = Fact("has_outcome_of_two_classes", dataset=dataset.name)
    is_binary = not site.release.outcome.classes
    known = dataset.followed
    followed = None if known is None else TimeToEvent(known.time, known.event, known.horizon)
    columns: dict[str, Any] = {
        "outcome": _or(followed or dataset.outcome, several if dataset.class_labels else lacks(what="outcome")),
        "followed": _or(followed, lacks(what="outcome by a horizon")),
        "risk": _or(dataset.risk, several if dataset.class_labels else lacks(what="risk")),
        "rival": _or(dataset.rival, several if dataset.class_labels else no_rival),
        "classes": _or(dataset.classes, binary if is_binary else lacks(what="outcome")),
        "class_risk": _or(dataset.class_risk, binary if is_binary else lacks(what="risk")),
        "class_rival": _or(dataset.class_rival, binary if is_binary else no_rival),
        "weights": _or(dataset.weights, lacks(what="sampling weights")),
        "design": design_of(dataset),
        "split": _or(dataset.split, lacks(what="refitted splits")),
        "predictors": _or(dataset.predictors, lacks(what="predictors")),
        "case_relevance": _or(dataset.relevance, lacks(what="relevance")),
        "cost": _or(dataset.cost, lacks(what="costs")),
        "benefit": _or(dataset.benefit, lacks(what="benefits")),
        "case_complexity": _or(dataset.complexity, lacks(what="complexity")),
        "development": _or(site.development, Fact("no_development_predictors")),
        "update": site.update or types.Absent(Fact("no_update_declared")),
        "severity_weights": severity_weights(site),
        "desired_accuracy": _desired_accuracy(site.release, site.readers),
        **_inputs_of_utility(site),
    }
    if site.readers is not None:
        return columns | readers_columns(site.readers)
    return columns | dict.fromkeys(OF_READERS, _no_readers(site))


def severity_weights(site: Site) -> severity.SeverityWeights | types.Absent:
    """How grave each kind of error is: in all rows alike, or row by row where subgroups have weights of their own."""
    declared, group = site.release.severity, site.dataset.severity_group
    if declared is None:
        return types.Absent(Fact("no_severity_weights"))
    if not declared.subgroup:
        return declared.weights
    if group is None:
        return types.Absent(Fact("severity_groups_not_known"))
    here = np.unique(group)
    return declared.matrices[int(here[0])] if len(here) == 1 else severity.WeightsByRow(declared.matrices, group)


def _inputs_of_utility(site: Site) -> dict[str, tuple[str, ...] | types.Absent]:
    """Where the thresholds and the relevance of single cases come from.

    Where small counts are protected nobody asks: which sources have how many cases would tell of the raters.
    """
    if site.dataset.minimum_cell:
        return dict.fromkeys(
            ("utility_thresholds", "utility_relevance"), types.Absent(Fact("inputs_of_utility_protected"))
        )
    return {
        "utility_thresholds": _utility_thresholds(site.release),
        "utility_relevance": _utility_relevance(site.release),
    }


_READ = ("labels", "confidence", "rater_complexity", "truth", "rater_accuracy", "rater_groups", "coherence")
OF_READERS = {name: name.removeprefix("rater_") for name in _READ}
"""What can be named of the readers' tables, and the field of each."""


def readers_columns(readers: types.Readers) -> dict[str, Any]:
    """What can be named of the readers' tables, or the reason why they do not have it."""
    return {
        name: _or(getattr(readers, field), Fact("readers_tables_hold_no", what=field))
        for name, field in OF_READERS.items()
    }


def _no_readers(site: Site) -> types.Absent:
    """Why no readers judged the cases of a site."""
    if not site.readers_elsewhere:
        return types.Absent(Fact("no_readers_tables"))
    named = tuple(dataset for dataset in site.readers_elsewhere if dataset != types.READERS)
    if not named:
        return types.Absent(Fact("readers_tables_name_no_dataset"))
    return types.Absent(
        Fact("readers_judged_elsewhere", judged=named[0] if len(named) == 1 else named, dataset=site.dataset.name)
    )


def _or(value: Any, reason: Fact) -> Any:
    """The value, or why it is not there."""
    return types.Absent(reason) if value is None or (isinstance(value, tuple) and not value) else value


def settings(release: Release) -> dict[str, Any]:
    """What can be named as a setting."""
    return {
        "level": release.release.level,
        "bootstrap": release.resampling.bootstrap,
        "permutations": release.resampling.permutations,
        "primary_threshold": _or(release.thresholds.primary, Fact("no_threshold_declared")),
        "threshold_range": release.thresholds.range,
        "declared_thresholds": tuple(release.thresholds.declared),
        "declared_minimum": release.robustness.minimum,
        "similarity": release.robustness.similarity,
        "judged_by": release.judged_by,
        "model": release.model or types.Absent(Fact("no_formula")),
        "class_labels": release.outcome.classes or (),
        "survey": _survey(release),
        "complexity_source": complexity_sources(release)[0]
        if release.h_accuracy.complexity is not None
        else types.Absent(Fact("no_complexity_declared")),
        **{f"{measure}_width": width for measure, width in release.sample.width.items()},
    }


def named(site: Site, chapter: str) -> dict[str, Any]:
    """All that the measures and curves of a chapter may name at a site: columns, settings, and a seed of their own."""
    return {**columns(site), **settings(site.release), "seed": seed_of(site.release, site.drawn_as, chapter)}


def _desired_accuracy(release: Release, readers: types.Readers | None) -> float | types.Absent:
    """The accuracy against the truth that is wished beside the readers' tables, or that a criterion asks for."""
    if readers is not None and readers.desired_accuracy is not None:
        return readers.desired_accuracy
    asked = [
        criterion.at_least
        for criterion in release.acceptance
        if criterion.measure == "actual_accuracy" and criterion.at_least is not None
    ]
    return asked[0] if asked else types.Absent(Fact("no_actual_accuracy_asked_for"))


def _grid(release: Release) -> dict[str, tuple[float | str, ...]]:
    """The lists over which a measure's `at` runs."""
    labels = release.outcome.classes or ()
    even = 1 / len(labels) if labels else 0.5
    # The declared confidences; of several classes, where none are declared, a bare majority too.
    declared = release.h_accuracy
    more = (BARE_MAJORITY,) if labels and "tau" not in declared.model_fields_set else ()
    of_raters = raters.TAUS_OF_RATERS if declared.tau_from else ()
    return {
        "threshold": tuple(release.thresholds.declared),
        "class": (types.MACRO, *labels),
        "priority": priorities(release) + tuple(declared.priority_from),
        "tau": (*sorted({even, *more, *declared.tau}), *of_raters),
        "complexity": ("constant", *complexity_sources(release)),
        "fpr": tuple(f"{low:g}-{high:g}" for low, high in release.roc.parts) if release.roc else (),
        "measure": PERFORMANCE_OF_CLASSES if labels else tuple(release.judged_by),
        "minimum": ("worst_split", "quantile_05", "declared"),
        "similarity": tuple(bands.SIMILARITIES),
        "calibration": ("ece", "eci"),
        "model": release.updates,
        "wish": release.thresholds.wishes,
    }


BARE_MAJORITY = 0.51
"""A risk above that of all other classes together: the confidence that is asked of several classes by default."""


def priorities(release: Release) -> tuple[float | str, ...]:
    """The declared priorities: of the positive class, or of several classes the shares of all in one text."""
    declared = release.h_accuracy.priority
    if release.outcome.classes is None:
        return tuple(sorted({0.5, *(priority for priority in declared if not isinstance(priority, tuple))}))
    lists = [priority for priority in declared if isinstance(priority, tuple)]
    return ("equal", *(", ".join(f"{share:g}" for share in priority) for priority in lists))


def _survey(release: Release) -> tuple[tuple[str, float, float | None, float | None], ...] | types.Absent:
    """Each class with the share of answers that put it first, and the interval of that share where one is given."""
    declared = release.h_accuracy.survey
    if declared is None:
        return types.Absent(Fact("no_survey_of_priorities"))
    return tuple(
        (name, given.value, given.low, given.high) if isinstance(given, SurveyShare) else (name, given, None, None)
        for name, given in sorted(declared.items())
    )


def complexity_sources(release: Release) -> tuple[str, ...]:
    """The forms of the declared complexity: graded, two levels, above the mean, and the shares that are called so."""
    declared = release.h_accuracy
    name = declared.graded
    if name is None:
        return ()
    cuts = (declared.complexity.cut if isinstance(declared.complexity, Source) else None) or declared.cut or ()
    shares = tuple(f"{name}{raters.TOP}{cut * 100:g}%" for cut in cuts)
    return (name, f"{name}{raters.TWO_LEVELS}", f"{name}{raters.ABOVE_MEAN}", *shares)


TAUS_OF_COMPOSITES = raters.TAUS_OF_RATERS[:2]
"""The confidences of the raters at which every dimension of H-accuracy is taken at once: at 80 % and 50 % of right
answers."""


def _is_an_instance(release: Release, at: Mapping[str, float | str]) -> bool:
    """Whether a place of H-accuracy is one of its named instances: not every complexity at every priority and tau.

    With a complexity: both classes alike and no confidence asked for (practical), or every dimension at once, with the
    priorities of the sources that are declared, at every declared confidence and at two of the raters' (composite).
    """
    if at["complexity"] == "constant" or (at["priority"], at["tau"]) == (0.5, 0.5):
        return True
    declared = release.h_accuracy
    from_sources = isinstance(at["priority"], str) if declared.priority_from else at["priority"] != 0.5
    return from_sources and at["tau"] in (*declared.tau, *TAUS_OF_COMPOSITES)


def _grid_of_chapter(release: Release, chapter: str) -> dict[str, tuple[float | str, ...]]:
    """The lists of settings whose word means something of its own in a chapter."""
    if chapter != "utility":
        return {}
    return {
        "tau": (*release.thresholds.declared, *_utility_thresholds(release)),
        "gamma": (release.utility or Utility()).gamma,
        "relevance": ("constant", *_utility_relevance(release)),
    }


def _utility_thresholds(release: Release) -> tuple[str, ...]:
    """Where the thresholds of single cases come from."""
    declared = release.utility or Utility()
    return (*declared.tau_from, *(("cost_benefit",) if declared.cost is not None else ()))


def _utility_relevance(release: Release) -> tuple[str, ...]:
    """Where the relevance of single cases comes from: a column, or the raters; empty where all count alike."""
    source = (release.utility or Utility()).source_of_relevance
    return () if source == "constant" else (source,)


BY_ROW = (
    *("outcome", "followed", "risk", "rival", "classes", "class_risk", "class_rival", "split"),
    *("relevance", "cost", "benefit", "complexity", "cluster", "strata", "weights", "severity_group"),
)
"""What a dataset has a value of in each row, or not at all, beside its predictors and its further rivals."""


def _taken(of: object, names: Sequence[str], rows: Any) -> dict[str, Any]:
    """These rows of what goes row by row; None where there is none."""
    held = {name: getattr(of, name) for name in names}
    return {name: None if values is None else values[rows] for name, values in held.items()}


def part_of(dataset: types.Dataset, rows: Any) -> types.Dataset:
    """The dataset with these of its analysed rows only, no periods, subgroups or sample; counts stay as read."""
    return replace(
        dataset,
        **_taken(dataset, BY_ROW, rows),
        predictors=tuple(replace(predictor, values=predictor.values[rows]) for predictor in dataset.predictors),
        periods=None,
        further_horizons=(),
        further_rivals=tuple(replace(rival, **_taken(rival, ("risk",), rows)) for rival in dataset.further_rivals),
        subgroups=(),
    )


def site_part(site: Site, rows: Bools) -> Site:
    """The site with these of its rows only, without predictors, and the readers' tables of the cases among them."""
    # What is asked of such parts needs no predictors, and to cut them would take most of the time.
    part = part_of(replace(site.dataset, predictors=()), rows)
    readers = site.readers
    if readers is not None:
        kept = rows[readers.rows]
        tables = _taken(readers, ("labels", "confidence", "complexity", "truth"), kept)
        readers = replace(readers, rows=(np.cumsum(rows) - 1)[readers.rows[kept]], **tables)
    return replace(site, dataset=part, readers=readers)


def seed_of(release: Release, dataset: str, chapter: str) -> int:
    """A seed of its own for each site and chapter, so that nothing depends on order or on the number of workers."""
    text = f"{release.release.seed}/{dataset}/{chapter}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def places(release: Release, term: types.Term) -> Iterator[dict[str, float | str]]:
    """Every combination of the settings that a measure runs over; one empty place when a list is empty.

    What is of updates or wishes has no place where none is declared.
    """
    grid = _grid(release) | _grid_of_chapter(release, term.chapter)
    if any(name in term.at and not grid[name] for name in ("model", "wish")):
        return
    for values in itertools.product(*(grid[name] or (None,) for name in term.at)):
        at = {name: value for name, value in zip(term.at, values, strict=True) if value is not None}
        if "complexity" not in at or _is_an_instance(release, at):
            yield at


def ask(maker: Metric | CurveMaker | Synthesis | Maker, offered: Mapping[str, Any], dataset: str) -> Any:
    """Call a function with what it names; a column that is missing answers for it, unless it has a default.

    A measure that answers NaN or infinity, and a curve that is none, have a fault of ours: they must not reach a page.
    """
    if unknown := [need for need in maker.needs if need not in offered]:
        raise TypeError(f"{maker.function.__name__} asks for {unknown[0]}, which is neither a column nor a setting")
    absent = missing(maker, offered)
    if absent is not None:
        return absent
    given = {need: offered[need] for need in maker.needs if not isinstance(offered[need], types.Absent)}
    outcome = given.get("outcome")
    if isinstance(outcome, TimeToEvent):
        found = _by_horizon(maker, outcome, {**given, **{name: offered[name] for name in ("risk", "design")}})
    else:
        found = maker.function(**given)
    named: Any = getattr(maker, "term", maker)
    if isinstance(found, types.Estimate):
        refuse_what_is_no_number(named.name, dataset, found)
    elif isinstance(found, types.Curve):
        refuse_a_bad_curve(named.name, dataset, found)
    return found


def _by_horizon(maker: Any, outcome: TimeToEvent, given: Mapping[str, Any]) -> Any:
    """What is measured or drawn of an outcome by a horizon, whose weights ask for the risk in any case."""
    if isinstance(maker, Metric):
        return time_to_event.answer(maker, outcome, given)
    given = {name: given[name] for name in maker.needs if name in given}
    if "outcome" in optional(maker.function):
        return maker.function(**{name: value for name, value in given.items() if name != "outcome"})
    return time_to_event.drawn(maker, outcome, given)


def missing(maker: Metric | CurveMaker | Synthesis | Maker, offered: Mapping[str, Any]) -> types.Absent | None:
    """The reason of the first thing that a function cannot do without and this site does not have."""
    needed = (offered[need] for need in maker.needs if need not in optional(maker.function))
    return next((value for value in needed if isinstance(value, types.Absent)), None)


def optional(function: Callable[..., Any]) -> frozenset[str]:
    """The parameters of a function that have a default."""
    function = inspect.unwrap(function)
    defaults = function.__defaults__ or ()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return frozenset(names[len(names) - len(defaults) :]) | frozenset(function.__kwdefaults__ or {})


def refuse_what_is_no_number(name: str, dataset: str, found: types.Estimate) -> None:
    """A measure that answers NaN or infinity has a fault of ours; it must not reach a page."""
    numbers = (found.value, found.low, found.high, found.se, *found.details.values())
    if not all(number is None or math.isfinite(number) for number in numbers):
        raise ArithmeticError(f"{name} at {dataset} is not a number: {found}")


SHOWN_IN_PART = ("split_performance",)
"""The curves that are cut when they are shown: the least acceptable performance is taken from all of their points."""


def refuse_a_bad_curve(name: str, dataset: str, found: types.Curve) -> None:
    """Columns of one length, thin enough that no patient can be read from them, and numbers all through."""
    lengths = {len(column) for column in found.columns.values()}
    numbers = (number for column in found.columns.values() for number in column if number is not None)
    too_long = max(lengths) > 250 and name not in SHOWN_IN_PART
    if len(lengths) != 1 or too_long or not all(map(math.isfinite, numbers)):
        raise ArithmeticError(f"the curve {name} at {dataset} is uneven, too long or not made of numbers")
