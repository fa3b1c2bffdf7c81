"""The previous release: its results.json, and the manifest beside it."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dossier.errors import Fault
from dossier.load import letters
from dossier.load.files import RESULTS, Folder
from dossier.record import MANIFEST, SCHEMA
from dossier.types import (
    Absent,
    Criterion,
    DatasetSummary,
    Estimate,
    InputFile,
    Predicted,
    Previous,
    PreviousManifest,
    Result,
    Tier,
)

if TYPE_CHECKING:
    from dossier.release import Release

WHERE = "release.toml, [release] previous"
UNCHANGED = "Name the results.json that dossier wrote, unchanged."
LINES = 5
"""How many departures from the schema are told before the rest is left."""


class Part(BaseModel):
    """A part of the file: what is known is held to its kind, what later versions add is passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, allow_inf_nan=False)


class About(Part):
    """Which model in which version."""

    model: str
    version: str
    date: str | None
    seed: int
    level: float


class Aim(Part):
    """What the risks of a dataset of the previous release are of."""

    outcome: str
    horizon: str | None
    columns: list[str]


class Rows(Part):
    """A dataset of the previous release."""

    name: str
    role: Literal["development", "internal", "external"]
    n: int
    events: int | None
    excluded: Mapping[str, int]
    site: str | None = None
    rows_read: int = 0
    features: list[str] = Field(default_factory=list)
    classes: Mapping[str, int] | None = None
    dates: list[str] | None = None
    predicted: Aim | None = None


class Number(Part):
    """An estimate of the previous release."""

    measure: str
    dataset: str
    subset: str | None
    at: Mapping[str, float | str]
    value: float | None
    low: float | None
    high: float | None
    se: float | None
    level: float | None
    method: str | None
    n: int | None
    events: int | None
    tier: Tier
    status: Literal["estimated", "absent", "withheld"]
    reason: str | None


class Judged(Part):
    """An acceptance criterion of the previous release."""

    measure: str
    dataset: str
    subset: str | None
    at: Mapping[str, float | str]
    bound: Literal["value", "low", "high"]
    at_least: float | None
    at_most: float | None
    observed: float | None
    met: bool | None
    reason: str | None = None


class Recorded(Part):
    """What is read of a results.json."""

    release: About
    datasets: list[Rows]
    estimates: list[Number]
    acceptance: list[Judged]


class NamedFile(Part):
    """A file of a manifest."""

    name: str
    sha256: str
    size: int


class Listed(Part):
    """What is read of a manifest.json."""

    versions: Mapping[str, str]
    inputs: list[NamedFile]
    outputs: list[NamedFile]
    artifact_sha256: str | None = None


Kind = TypeVar("Kind", Recorded, Listed)


def previous(release: Release, folder: Folder, faults: list[Fault]) -> Previous | None:
    """What the previous release recorded; None where this one names none, or where a fault was found.

    The file may lie outside the release folder: it is of another release. The manifest beside it is read where there
    is one, and must be of that very file.
    """
    name = release.release.previous
    if name is None:
        return None
    if folder.is_folder(name):
        faults.append(Fault(f"{name} is a folder.", WHERE, "Name the results.json in it."))
        return None
    content = folder.read(name, WHERE, True, faults, RESULTS)
    raw = None if content is None else _json(content, name, faults)
    if content is None or raw is None or not _is_ours(raw, name, release.release.model, faults):
        return None
    found = _printable(_held_to(Recorded, raw, name, faults), name, faults)
    sha256 = hashlib.sha256(content).hexdigest()
    manifest = _manifest(folder, name, sha256, faults)
    if found is None or manifest is None:
        return None
    return _previous(found, name, sha256, manifest, faults)


# ---- is it a results.json, and of this model ------------------------------------------------------------------------


def _json(content: bytes, name: str, faults: list[Fault]) -> Mapping[str, Any] | None:
    """The table that a file of JSON holds, empty where it holds something else; None, and a fault, where it is none."""
    try:
        found = json.loads(content.decode("utf-8-sig"), parse_constant=_refused)
        return found if isinstance(found, Mapping) else {}
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        faults.append(Fault(f"{name} is not UTF-8 text.", f"{name}, row {row}", UNCHANGED))
    except json.JSONDecodeError as error:
        faults.append(
            Fault(f"{name} is not valid JSON.", f"{name}, row {error.lineno}, character {error.colno}", UNCHANGED)
        )
    except RecursionError:
        faults.append(Fault(f"{name} holds lists in lists without end.", name, UNCHANGED))
    except ValueError:
        faults.append(Fault(f"{name} holds a number that is not finite.", name, UNCHANGED))
    return None


def _refused(constant: str) -> NoReturn:
    raise ValueError(constant)


def _is_ours(raw: Mapping[str, Any], name: str, model: str, faults: list[Fault]) -> bool:
    """Whether it says that it is a results.json that can be read, and of the same model."""
    schema = raw.get("schema")
    if schema != SCHEMA:
        said = f'says "{schema}"' if isinstance(schema, str) else "names no schema"
        what = f'{name} {said}; what can be read is "{SCHEMA}".'
        faults.append(Fault(what, f"{name}, schema", "Name the results.json of a dossier of the previous release."))
        return False
    about = raw.get("release")
    theirs = about.get("model") if isinstance(about, Mapping) else None
    if isinstance(theirs, str) and theirs != model:
        what = f'{name} is about "{theirs}", and this release about "{model}".'
        faults.append(Fault(what, WHERE, "Name the results.json of a previous release of the same model."))
        return False
    return True


def _held_to(kind: type[Kind], raw: Any, name: str, faults: list[Fault]) -> Kind | None:
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        for one in error.errors()[:LINES]:
            missing = one["type"] == "missing"
            place = _place(one["loc"])
            what = f"{name} has no {place}." if missing else f"In {name} {place} is not what it should be."
            faults.append(Fault(what, f"{name}, {place}", UNCHANGED))
        return None


def _printable(found: Recorded | None, name: str, faults: list[Fault]) -> Recorded | None:
    """The results where all their words can be printed, as of those that dossier wrote; None, and faults, where not."""
    if found is None:
        return None
    strange = [
        fault
        for location, text in letters.words(found.model_dump())
        for fault in letters.fault("A text", text, f"{name}, {_place(location)}")
    ]
    faults += strange[:LINES]
    return None if strange else found


def _place(location: tuple[str | int, ...]) -> str:
    """Where in a file of JSON: estimates 3, measure; counted from 1."""
    text = ""
    for part in location:
        text += f" {part + 1}" if isinstance(part, int) else (f", {part}" if text else part)
    return text or "table"


def _manifest(folder: Folder, results: str, sha256: str, faults: list[Fault]) -> PreviousManifest | Absent | None:
    """The manifest beside the results; Absent where there is none; None, and a fault, where it is of other results."""
    name = str(PurePosixPath(results).with_name(MANIFEST))
    if not (folder.path / name).is_file():
        return Absent("there is no manifest.json beside the previous results")
    content = folder.read(name, WHERE, True, faults, RESULTS)
    raw = None if content is None else _json(content, name, faults)
    found = None if raw is None else _held_to(Listed, raw, name, faults)
    if found is None:
        return None
    own = PurePosixPath(results).name
    if not any((one.name, one.sha256) == (own, sha256) for one in found.outputs):
        what = f"{name} lists another {own} than the one beside it."
        faults.append(Fault(what, WHERE, "Name the results.json in the folder that dossier wrote, unchanged."))
        return None
    inputs = tuple(InputFile(one.name, one.sha256, one.size) for one in found.inputs)
    return PreviousManifest(dict(found.versions), inputs, found.artifact_sha256)


# ---- as values ------------------------------------------------------------------------------------------------------


def _previous(
    found: Recorded, name: str, sha256: str, manifest: PreviousManifest | Absent, faults: list[Fault]
) -> Previous | None:
    about = found.release
    date = None if about.date is None else _date(about.date, f"{name}, release, date", faults)
    datasets = tuple(_dataset(one, f"{name}, datasets, {one.name}", faults) for one in found.datasets)
    if about.date is not None and date is None:
        return None
    core = [one for one in found.estimates if one.tier == "core" and one.subset is None and "against" not in one.at]
    return Previous(
        file=name,
        sha256=sha256,
        version=about.version,
        date=date,
        level=about.level,
        seed=about.seed,
        thresholds=_thresholds(core),
        datasets=datasets,
        results=tuple(Result(one.measure, one.measure, one.dataset, dict(one.at), _found(one)) for one in core),
        criteria=tuple(_criterion(number, one) for number, one in enumerate(found.acceptance, start=1)),
        manifest=manifest,
        predicted=_predicted(found.datasets),
        unplaced=frozenset(one.name for one in found.datasets if one.site is None),
    )


def _predicted(datasets: list[Rows]) -> Predicted | None:
    """What the release predicts, which every dataset with rows repeats; None where none says it."""
    said = next((one.predicted for one in datasets if one.predicted is not None), None)
    return None if said is None else Predicted(said.outcome, said.horizon, tuple(said.columns))


def _thresholds(core: list[Number]) -> tuple[float, ...]:
    """The thresholds at which the net benefit was taken: those that were declared, the primary one first."""
    values = [one.at.get("threshold") for one in core if one.measure == "net_benefit"]
    return tuple(dict.fromkeys(value for value in values if isinstance(value, float)))


def _date(text: str, where: str, faults: list[Fault]) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        faults.append(Fault(f'"{text}" is not a date.', where, UNCHANGED))
        return None


def _dataset(one: Rows, where: str, faults: list[Fault]) -> DatasetSummary:
    dates = [_date(text, f"{where}, dates", faults) for text in one.dates or ()]
    first, last = dates if len(dates) == 2 else (None, None)
    return DatasetSummary(
        name=one.name,
        role=one.role,
        site=one.site or one.name,
        n=one.n,
        events=one.events,
        rows_read=one.rows_read,
        excluded=dict(one.excluded),
        features=tuple(one.features),
        dates=None if first is None or last is None else (first, last),
        class_counts=dict(one.classes or {}),
    )


def _found(one: Number) -> Estimate | Absent:
    if one.status != "estimated" or one.value is None:
        return Absent(one.reason or f"it is {one.status} there")
    return Estimate(
        one.value,
        one.low,
        one.high,
        one.level,
        one.n or 0,
        one.method or "method not stated",
        one.events,
        one.se,
        reason=one.reason,
    )


def _criterion(number: int, one: Judged) -> Criterion:
    return Criterion(
        number=number,
        measure=one.measure,
        dataset=one.dataset,
        subset=one.subset,
        at=dict(one.at),
        bound=one.bound,
        at_least=one.at_least,
        at_most=one.at_most,
        observed=one.observed,
        met=one.met,
        reason=one.reason,
    )
