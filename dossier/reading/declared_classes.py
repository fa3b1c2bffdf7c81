"""What release.toml must say of an outcome of two classes, and what of one of several, and where the two are mixed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dossier.core import bands, facts, types
from dossier.core.errors import Fault
from dossier.core.faults.locations import Key, listed_table
from dossier.core.release import Prediction, Release
from dossier.reading.predictors import rivals_declared

FEWEST = 3
"""With fewer classes the outcome is binary, and has a form of its own."""


def missing(raw: Mapping[str, Any]) -> list[Fault]:
    """The fault of a release that names no column of risks, be it one or one a class."""
    outcome, prediction = raw.get("outcome"), raw.get("prediction")
    if not isinstance(prediction, Mapping) or {"column", "columns", "from"} & set(prediction):
        return []
    key = "columns" if isinstance(outcome, Mapping) and "classes" in outcome else "column"
    return [Fault("missing_key", Key("prediction"), key=key, meaning=Prediction.meanings()[key])]


def faults(release: Release, raw: Mapping[str, Any]) -> list[Fault]:
    """The faults of what the keys say together about the classes; `raw` is release.toml as it was given."""
    given = raw.get("prediction")
    keys = given if isinstance(given, Mapping) else {}
    if release.outcome.classes is None:
        asked = raw.get("outcome")
        is_wrong = isinstance(asked, Mapping) and "classes" in asked
        return [] if is_wrong else [*_of_two(release, keys), *_weights(release, 2)]
    return list(_of_several(release, keys, len(release.outcome.classes)))


def _of_two(release: Release, keys: Mapping[str, Any]) -> Iterator[Fault]:
    for key in ("columns", "rivals"):
        if key in keys:
            yield Fault("columns_without_classes", Key("prediction", key), key=key)
    for rival, at in rivals_declared(release):
        if rival.columns is not None and at.is_list:
            yield Fault("columns_without_classes", at, key="columns")
    if any(isinstance(value, tuple) for value in release.h_accuracy.priority):
        yield Fault("priorities_of_two_classes", Key("h_accuracy", "priority"))


def _of_several(release: Release, keys: Mapping[str, Any], k: int) -> Iterator[Fault]:
    prediction = release.prediction
    if k < FEWEST:
        yield Fault("few_classes", Key("outcome", "classes"), classes=facts.Count(k, "class"))
    if types.MACRO in (release.outcome.classes or ()):
        yield Fault("reserved_class", Key("outcome", "classes"), name=types.MACRO)
    if release.outcome.positive is not None:
        yield Fault("positive_and_classes", Key("outcome", "positive"))
    for key, several in (("column", "columns"), ("rival", "rivals")):
        if key in keys and several in keys:
            yield Fault("one_and_several_columns", Key("prediction", key), key=key, several=several)
        elif key in keys:
            yield Fault("one_column_of_classes", Key("prediction", key), key=key, several=several, classes=k)
    if prediction.columns is not None and len(prediction.columns) != k:
        at = Key("prediction", "columns")
        yield Fault("wrong_number_of_columns", at, key="columns", number=len(prediction.columns), classes=k)
    yield from _rivals(release, k)
    yield from _weights(release, k)
    yield from _priorities(release, k)


def _rivals(release: Release, k: int) -> Iterator[Fault]:
    for rival, at in rivals_declared(release):
        if rival.columns is None:
            if at.is_list:
                yield Fault("one_column_of_classes", at, key="column", several="columns", classes=k)
            continue
        if len(rival.columns) != k:
            yield Fault("wrong_number_of_columns", at, key=at.key or "columns", number=len(rival.columns), classes=k)
        for name in sorted(set(release.prediction.columns or ()) & set(rival.columns)):
            yield Fault("column_and_rival", at, column=name)


def _weights(release: Release, k: int) -> Iterator[Fault]:
    code = "severity_of_two_classes" if k == 2 else "severity_of_classes"
    for index, weights in enumerate(() if release.severity is None else release.severity.matrices):
        if len(weights) != k:
            at = listed_table("severity.subgroup", index).of("weights") if index else Key("severity", "weights")
            yield Fault(code, at, number=len(weights), classes=k)


OF_TWO_CLASSES = ("complement", "net_benefit", "raters")
"""The sources of a priority that say how much the positive class matters, and nothing of a third one."""


def _priorities(release: Release, k: int) -> Iterator[Fault]:
    for source in release.h_accuracy.priority_from:
        if source in OF_TWO_CLASSES:
            yield Fault("priority_of_two_classes", Key("h_accuracy", "priority_from"), source=source, classes=k)
    if "priority" not in release.h_accuracy.model_fields_set:
        return
    for index, shares in enumerate(release.h_accuracy.priority, start=1):
        at = Key("h_accuracy", f"priority, value {index}")
        if not isinstance(shares, tuple):
            yield Fault("priority_not_of_classes", at, classes=k)
        elif len(shares) != k:
            yield Fault("wrong_number_of_shares", at, number=len(shares), classes=k)
        elif abs(sum(shares) - 1) > bands.ROUNDING:
            yield Fault("shares_not_one", at, total=float(sum(shares)), classes=k)
