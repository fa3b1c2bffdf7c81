"""What release.toml must say of an outcome of two classes, and what of one of several, and where the two are mixed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dossier.errors import Fault
from dossier.release import Prediction, Release
from dossier.types import MACRO

FEWEST = 3
"""With fewer classes the outcome is binary, and has a form of its own."""

ADDS_UP = 1e-6
"""How far shares may be from adding up to 1."""


def missing(raw: Mapping[str, Any]) -> list[Fault]:
    """The fault of a release that names no column of risks, be it one or one a class."""
    outcome, prediction = raw.get("outcome"), raw.get("prediction")
    if not isinstance(prediction, Mapping) or "column" in prediction or "columns" in prediction:
        return []
    key = "columns" if isinstance(outcome, Mapping) and "classes" in outcome else "column"
    sentence = Prediction.model_fields[key].description
    return [Fault(f"{key} is missing.", "release.toml, [prediction]", f"Add {key} = … {sentence}")]


def faults(release: Release, raw: Mapping[str, Any]) -> list[Fault]:
    """The faults of what the keys say together about the classes; `raw` is release.toml as it was given."""
    given = raw.get("prediction")
    keys = given if isinstance(given, Mapping) else {}
    if release.outcome.classes is None:
        asked = raw.get("outcome")
        spoilt = isinstance(asked, Mapping) and "classes" in asked
        return [] if spoilt else [*_of_two(release, keys), *_weights(release, 2)]
    return list(_of_several(release, keys, len(release.outcome.classes)))


def _of_two(release: Release, keys: Mapping[str, Any]) -> Iterator[Fault]:
    for key in ("columns", "rivals"):
        if key in keys:
            fix = f"Add classes to [outcome], or take {key} out."
            yield Fault(f"There are {key} but no classes.", f"release.toml, [prediction] {key}", fix)
    if any(isinstance(value, tuple) for value in release.h_accuracy.priority):
        fix = "Give the priorities of the positive class, as [0.25, 0.5, 0.75]."
        yield Fault("A priority is a list, and the outcome has 2 classes.", "release.toml, [h_accuracy] priority", fix)


def _of_several(release: Release, keys: Mapping[str, Any], k: int) -> Iterator[Fault]:
    prediction = release.prediction
    if k < FEWEST:
        what = f"classes names {k} {'class' if k == 1 else 'classes'}, and is for three or more."
        fix = "Two classes are the binary form: take classes and columns out, and declare positive and column."
        yield Fault(what, "release.toml, [outcome] classes", fix)
    if MACRO in (release.outcome.classes or ()):
        what = f"A class is called {MACRO}, the name that dossier has for the mean of all classes."
        yield Fault(what, "release.toml, [outcome] classes", "Call it otherwise, in release.toml and in the tables.")
    if release.outcome.positive is not None:
        fix = "Take positive out: with classes there is no positive one."
        yield Fault("There are both positive and classes.", "release.toml, [outcome] positive", fix)
    yield from _columns(prediction, keys, k)
    yield from _weights(release, k)
    yield from _priorities(release, k)
    if release.readers is not None:
        fix = "Take it out of release.toml, or make a release of one class against the rest for the readers."
        yield Fault("[readers] is for an outcome of two values, not of classes.", "release.toml, [readers]", fix)


def _columns(prediction: Prediction, keys: Mapping[str, Any], k: int) -> Iterator[Fault]:
    for one, several in (("column", "columns"), ("rival", "rivals")):
        if one in keys and several in keys:
            fix = f"Take {one} out: with classes each has a column of its own."
            yield Fault(f"There are both {one} and {several}.", f"release.toml, [prediction] {one}", fix)
        elif one in keys:
            fix = f"Give {several}, one column a class, in the order of classes."
            what = f"There is one {one}, and the outcome has {k} classes."
            yield Fault(what, f"release.toml, [prediction] {one}", fix)
    for key, names in (("columns", prediction.columns), ("rivals", prediction.rivals)):
        if names is not None and len(names) != k:
            fix = "Give one column a class, in the order of classes."
            what = f"There are {len(names)} {key}, and the outcome has {k} classes."
            yield Fault(what, f"release.toml, [prediction] {key}", fix)
    for name in sorted(set(prediction.columns or ()) & set(prediction.rivals or ())):
        fix = "Name another column."
        yield Fault(f"{name} stands in columns and in rivals.", "release.toml, [prediction] rivals", fix)


def _weights(release: Release, k: int) -> Iterator[Fault]:
    if release.severity is not None and len(release.severity.weights) != k:
        what = f"The severity weights are for {len(release.severity.weights)} classes, and the outcome has {k}."
        fix = (
            "Give two rows of two: predicted no and yes, each by truly no and yes."
            if k == 2
            else f"Give {k} rows of {k}: a row a predicted class, a column a true one, in the order of classes."
        )
        yield Fault(what, "release.toml, [severity] weights", fix)


OF_TWO_CLASSES = ("complement", "net_benefit", "raters")
"""The sources of a priority that say how much the positive class matters, and nothing of a third one."""


def _priorities(release: Release, k: int) -> Iterator[Fault]:
    where = "release.toml, [h_accuracy] priority"
    for source in release.h_accuracy.priority_from:
        if source in OF_TWO_CLASSES:
            what = f"The priority from {source} is for an outcome of two values, and this one has {k} classes."
            fix = f"Take {source} out; priority takes lists of {k} shares, one a class."
            yield Fault(what, f"{where}_from", fix)
    if "priority" not in release.h_accuracy.model_fields_set:
        return
    fix = f"Give lists of {k} shares that add up to 1, one a class in the order of classes."
    for place, shares in enumerate(release.h_accuracy.priority, start=1):
        if not isinstance(shares, tuple):
            yield Fault(f"priority is a number, and the outcome has {k} classes.", f"{where}, value {place}", fix)
        elif len(shares) != k:
            what = f"The priority has {len(shares)} shares, and the outcome has {k} classes."
            yield Fault(what, f"{where}, value {place}", fix)
        elif abs(sum(shares) - 1) > ADDS_UP:
            yield Fault(f"The shares of the priority add up to {sum(shares):g}, not 1.", f"{where}, value {place}", fix)
