"""release.toml -> Release: every fault of it in plain sentences, and as much of it as can be used nevertheless."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from dossier.core import facts, looks
from dossier.core.contents import LEAVABLE, ORDER
from dossier.core.errors import DataError, DossierError, Fault
from dossier.core.faults import locations
from dossier.core.release import (
    CHECKLIST_ITEMS,
    NOT_RIVALS,
    RESERVED_NAMES,
    Fitted,
    Model,
    ModelFile,
    Release,
    Source,
    Table,
    UnfitError,
    file_of_chapter,
)
from dossier.reading import declared_classes, files, horizons, isolation, letters, notations, predictors, toml
from dossier.reading.faults import nearest, noted
from dossier.words import wording

Location = tuple[str | int, ...]

EXPECTED: Mapping[str, str] = notations.MET["kinds"]
"""What a value should be, by what pydantic calls it."""
BOUNDS = {"greater_than": "gt", "greater_than_equal": "ge", "less_than": "lt", "less_than_equal": "le"}
"""Under which name pydantic gives the bound."""
MOST_DATASETS = 1000
"""More tables than this come from a program that ran wild; reading them would take hours."""
UNNAMED = "that [outcome] should name"
STAND_INS: Mapping[str, Mapping[str, object]] = {
    "release": {"model": "model", "version": "0", "date": None, "owner": "owner"},
    "outcome": {"name": "outcome", "column": UNNAMED},
    "prediction": {},
}
"""What stands in for faulty keys of tables that must be there, so that the datasets can be read for their faults."""


@dataclass(frozen=True)
class Declared:
    """What release.toml gives: the release, or None when not even a part of it can be used, and its faults."""

    release: Release | None
    faults: tuple[Fault, ...]
    kept: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Of lists of tables, the places in the file of those that could be used, where these are not all."""

    def reported(self, faults: Sequence[Fault]) -> list[Fault]:
        """Faults of the rest: without those of a stand-in, and with the numbers that tables have in the file."""
        return [
            _placed(fault, self.kept) for fault in faults if fault.code != "no_column" or fault["column"] != UNNAMED
        ]


def _placed(fault: Fault, kept: Mapping[str, tuple[int, ...]]) -> Fault:
    at = fault.at
    if not isinstance(at, locations.Key) or at.section is None or at.section not in kept or at.number is None:
        return fault
    return fault.moved(replace(at, number=kept[at.section][at.number - 1] + 1))


def declared(content: bytes, folder: files.Folder | None = None) -> Declared:
    """The release that the bytes of release.toml declare, with all its faults; `folder` may hold its formula."""
    faults: list[Fault] = []
    given = noted(faults, isolation.toml, content)
    if given is None:
        return Declared(None, tuple(faults))
    of_files = list[Fault]()
    given = _with_looks(given, folder or files.Folder(Path()), of_files)
    raw = horizons.as_one(given)
    tables = raw.get("dataset")
    if isinstance(tables, tuple) and len(tables) > MOST_DATASETS:
        many = Fault("many_datasets", locations.listed_table("dataset"), number=len(tables), most=MOST_DATASETS)
        return Declared(None, (many,))
    if isinstance(raw.get("model"), Mapping) and "file" in raw["model"]:
        formula = noted(faults, _taken, raw, folder or files.Folder(Path()))
        if formula is None:
            return Declared(None, tuple(faults))
        raw, given = ({**each, "model": formula} for each in (raw, given))
    faults = [
        *of_files,
        *declared_classes.missing(raw),
        *(
            fault
            for location, text in letters.words(given)
            for fault in letters.fault(str(location[-1]), text, _where(location, given), name=letters.is_name(location))
        ),
    ]
    kept: Mapping[str, tuple[int, ...]] = {}
    try:
        release: Release | None = Release.model_validate(raw)
    except ValidationError as error:
        resolved = [(_resolved(record["loc"], record["type"], raw), record) for record in error.errors()]
        # A list is called too short when its tables are faulty: their own faults say enough.
        errors = [
            (location, each)
            for location, each in resolved
            if each["type"] != "too_short" or len(_value(location, raw)) < each["ctx"]["min_length"]
        ]
        # What the first horizon gives in another place is reported where it stands.
        own = [(location, each) for location, each in errors if not horizons.is_made(location, given)]
        faults = [*_translated(own, raw), *faults]
        release, kept = _salvaged(raw, [location for location, _ in errors])
    if release is not None:
        faults += [_placed(fault, kept) for fault in _across(release)]
        # Of an outcome that is not declared at all nobody knows the classes.
        if isinstance(raw.get("outcome"), Mapping):
            faults += [*declared_classes.faults(release, raw), *_of_h_accuracy(release, "readers" in raw)]
            faults += horizons.faults(release, given)
        if len(release.dataset) == len(raw["dataset"]):
            faults += _roles(release)
    return Declared(release, tuple(horizons.placed(fault, given) for fault in faults), kept)


def _with_looks(given: dict[str, Any], folder: files.Folder, faults: list[Fault]) -> dict[str, Any]:
    """The release with the style and the words around the pages in the place of the file and the folder it names."""
    report = given.get("report")
    if not isinstance(report, Mapping):
        return given
    taken = dict[str, Any]()
    if isinstance(report.get("style"), str):
        taken["style"] = noted(faults, _style, report["style"], folder)
    if isinstance(report.get("templates"), str):
        taken["templates"] = noted(faults, _templates, report["templates"], folder, faults)
    return {**given, "report": {key: value for key, value in {**report, **taken}.items() if value is not None}}


def _style(name: str, folder: files.Folder) -> Mapping[str, Any]:
    """The values of a style in a file; a DataError says why there are none."""
    where = locations.Key("report", "style")
    if not name.lower().endswith(files.STYLE.endings):
        raise DataError.one("not_a_style", where, file=name, known=tuple(keys_of(("report", "style"))))
    content = folder.read(name, where, False, files.STYLE)
    try:
        return isolation.toml(content)
    except DossierError as error:
        # What reads it takes it for a release.toml.
        at = [each.at for each in error.faults]
        moved = [replace(each, file=name) if isinstance(each, locations.Line) else locations.File(name) for each in at]
        raise DataError([fault.moved(there) for fault, there in zip(error.faults, moved, strict=True)]) from None


def _templates(name: str, folder: files.Folder, faults: list[Fault]) -> Mapping[str, Any]:
    """The words around the pages in the files of a folder; those that cannot be read are noted."""
    where, found = locations.Key("report", "templates"), dict[str, str]()
    for each in folder.names(name, where, False):
        if each not in looks.FILES:
            near = nearest(each, looks.FILES)
            faults.append(Fault("no_such_template", where, file=each, known=tuple(looks.FILES), near=near))
        elif (text := noted(faults, folder.text, f"{name}/{each}", where, False)) is not None:
            found[looks.FILES[each]] = text.strip()
    return found


def _taken(raw: Mapping[str, Any], folder: files.Folder) -> Mapping[str, Any]:
    """The updated formula that [model] names in a file, with where it was fitted; a DataError without one."""
    try:
        asked = ModelFile.model_validate(raw["model"])
    except ValidationError as error:
        raise DataError(_translated([(("model", *each["loc"]), each) for each in error.errors()], raw)) from None
    where = locations.Key("model", "file")
    content = folder.read(asked.file, where, asked.outside, files.FORMULAS)
    try:
        entries = [dict(entry) for entry in isolation.toml(content)["updated"]]
        made = [{**entry.pop("model"), "fitted": {"file": asked.file, **entry}} for entry in entries]
        fitted = [Fitted.model_validate(Model.model_validate(each).fitted) for each in made]
        known = {(found.dataset, found.method): k for k, found in enumerate(fitted)}
    except (KeyError, TypeError, ValueError, DataError):
        raise DataError.one("not_updated_formulas", where, file=asked.file) from None
    if (asked.dataset, asked.method) not in known:
        at, it, named = locations.Key("model", "dataset"), asked, tuple(" ".join(each) for each in known)
        raise DataError.one("no_such_update", at, file=it.file, dataset=it.dataset, method=it.method, known=named)
    return made[known[asked.dataset, asked.method]]


# ---- where in the file ----------------------------------------------------------------------------------------------


def _resolved(location: Location, kind: str, raw: Any) -> Location:
    """The location without the names of alternatives, which stand in no file."""
    kept: list[str | int] = []
    here = raw
    for k, part in enumerate(location):
        if kind == "missing" and k == len(location) - 1:
            kept.append(part)
        elif _holds(here, part):
            kept.append(part)
            here = here[part]
    return tuple(kept)


def _holds(here: Any, part: str | int) -> bool:
    if isinstance(part, int):
        return isinstance(here, tuple) and part < len(here)
    return isinstance(here, Mapping) and part in here


def _value(location: Location, raw: Any) -> Any:
    for part in location:
        raw = raw[part]
    return raw


def _section(location: Location, raw: Mapping[str, Any]) -> tuple[locations.Key, Location]:
    """The table of a location, and the rest of the location."""
    if len(location) < 2 and not isinstance(raw.get(str(location[0])), Mapping):
        return locations.Key(), location
    head, rest = str(location[0]), location[1:]
    if len(rest) > 1 and f"{head}.{rest[0]}" in toml.LISTS and isinstance(rest[1], int):
        return locations.listed_table(f"{head}.{rest[0]}", rest[1] + 1), rest[2:]
    if rest and isinstance(rest[0], int):
        table = raw[head][rest[0]]
        name = table["name"] if isinstance(table, Mapping) and isinstance(table.get("name"), str) else None
        return locations.listed_table(head, rest[0] + 1, name), rest[1:]
    return locations.Key(head), rest


def _key(rest: Location) -> str:
    text = ""
    for part in rest:
        text += f", value {part + 1}" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text


def _where(location: Location, raw: Mapping[str, Any]) -> locations.Key:
    table, rest = _section(location, raw)
    key = _key(rest)
    return table.of(key if table.section is not None or key in Release.model_fields else "top level")


def _model_in(annotation: Any) -> type[Table] | None:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation
    for part in get_args(annotation):
        found = _model_in(part)
        if found is not None:
            return found
    return None


def keys_of(location: Location) -> dict[str, str]:
    """The keys that the table at a location knows, with the sentence of each."""
    # The model of the table at a location.
    model: type[Table] | None = Release
    for part in location:
        if isinstance(part, int) or model is None:
            continue
        field = next((field for name, field in model.model_fields.items() if (field.alias or name) == part), None)
        model = _model_in(field.annotation) if field is not None else model
    return {} if model is None else model.meanings()


# ---- what is wrong, in words ----------------------------------------------------------------------------------------


def _translated(errors: list[tuple[Location, Any]], raw: Mapping[str, Any]) -> list[Fault]:
    """One fault for every place that is wrong, however many alternatives it fails."""
    places = facts.gathered(errors)
    above = {location[:depth] for location in places for depth in range(len(location))}
    return [
        _fault(location, found, raw)
        for location, found in places.items()
        if location not in above or any(error["type"] not in EXPECTED for error in found)
    ]


def _fault(location: Location, errors: list[Any], raw: Mapping[str, Any]) -> Fault:
    plain = next((error for error in errors if error["type"] not in EXPECTED), errors[0])
    kind = plain["type"]
    if kind == "extra_forbidden":
        return _unknown(location, raw)
    if kind == "missing":
        return _missing(location, raw)
    where = _where(location, raw)
    table, rest = _section(location, raw)
    name = _key(rest) or (table.table if isinstance(location[-1], int) else str(location[-1]))
    value = _value(location, raw)
    if kind == "value_error" and isinstance(plain["ctx"]["error"], UnfitError):
        unfit = plain["ctx"]["error"].fact
        return Fault(unfit.code, where, **dict(unfit.values))
    if kind in BOUNDS:
        bound = facts.Fact(kind, limit=wording.shown(plain["ctx"][BOUNDS[kind]]))
        return Fault("beyond_bound", where, key=name, value=wording.shown(value), bound=bound)
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", plain["ctx"]["expected"])
        near = nearest(value, choices) if isinstance(value, str) else None
        return Fault("not_a_choice", where, key=name, value=wording.shown(value), choices=tuple(choices), near=near)
    if kind in ("too_short", "too_long"):
        return _length(location, name, value, plain["ctx"], where)
    if kind in ("string_too_short", "string_too_long", "string_pattern_mismatch"):
        return _string(name, value, plain, where)
    if kind == "finite_number":
        return Fault("not_finite", where, key=name, value=str(value))
    return _type(location, name, value, errors, where)


def _type(location: Location, name: str, value: Any, errors: list[Any], where: locations.Key) -> Fault:
    written = ".".join(map(str, location))
    if written in toml.LISTS:
        return Fault("not_list_of_tables", where, key=name, value=wording.shown(value), table=written)
    expected = list(dict.fromkeys(EXPECTED.get(error["type"], "other_kind") for error in errors))
    if "number" in expected and "whole_number" in expected:
        expected.remove("whole_number")
    # 1.0 is shown as 1 elsewhere, and would read as the whole number that it is not.
    given = str(value) if isinstance(value, float) and expected == ["whole_number"] else wording.shown(value)
    return Fault("wrong_kind", where, key=name, value=given, wanted=tuple(map(facts.Fact, expected)))


def _length(location: Location, name: str, value: Any, context: Mapping[str, Any], where: locations.Key) -> Fault:
    if location == ("dataset",):
        return Fault("no_dataset", locations.listed_table("dataset"))
    most = context.get("max_length", 0)
    # Of a fixed length are only pairs.
    if most > 2:
        return Fault("many_values", where, key=name, values=facts.Count(len(value), "value"), most=most)
    wanted = context.get("min_length", most)
    return Fault("wrong_number_of_values", where, key=name, values=facts.Count(len(value), "value"), wanted=wanted)


def _string(name: str, value: Any, error: Any, where: locations.Key) -> Fault:
    if error["type"] == "string_too_short":
        return Fault("empty_text", where, key=name)
    if error["type"] == "string_too_long":
        return Fault("long_text", where, key=name, length=len(value), most=error["ctx"]["max_length"])
    if name == "artifact_sha256":
        return Fault("not_sha256", where, key=name, value=wording.shown(value))
    slug = re.sub(r"[^\w.-]+", "-", str(value)).strip("-.")
    example = facts.Fact("such_as", name=slug) if slug else None
    return Fault("names_no_file", where, key=name, value=wording.shown(value), example=example)


def refused(key: str, where: locations.Key | locations.Argument) -> Fault | None:
    """The fault of a key that asks for what dossier does not do, which is refused by name."""
    words = notations.MET["refused"]
    code = next(
        (of for of in ("time_to_event_key", "refitting_key", "own_style_key") if key.lower() in words[of]), None
    )
    return None if code is None else Fault(code, where, key=key)


def _unknown(location: Location, raw: Mapping[str, Any]) -> Fault:
    key = str(location[-1])
    where = _where(location, raw)
    if (fault := refused(key, where)) is not None:
        return fault
    known = tuple(keys_of(location[:-1]))
    near = nearest(key, known)
    if len(location) == 1:
        return Fault("unknown_table", where, key=key, known=known, near=near)
    section, rest = _section(location, raw)
    table = " ".join([section.brackets, *([_key(rest[:-1])] if rest[:-1] else [])])
    return Fault("unknown_key", where, key=key, table=table, known=known, near=near)


def _missing(location: Location, raw: Mapping[str, Any]) -> Fault:
    if isinstance(location[-1], int):
        short = location[:-1]
        return _length(short, _key(_section(short, raw)[1]), _value(short, raw), {"min_length": 2}, _where(short, raw))
    key = str(location[-1])
    sentence = keys_of(location[:-1]).get(key, "")
    if len(location) == 1:
        table = locations.Key(key, is_list=key in toml.LISTS).brackets
        return Fault("no_table", locations.Key(), table=table, meaning=sentence)
    at, rest = _section(location, raw)
    return Fault("missing_key", at.of(_key(rest[:-1])) if rest[:-1] else at, key=key, meaning=sentence)


# ---- as much as can be used -----------------------------------------------------------------------------------------


def _salvaged(raw: Mapping[str, Any], wrong: list[Location]) -> tuple[Release | None, Mapping[str, tuple[int, ...]]]:
    """The release without what is faulty, for the faults of the rest, and which tables of lists were kept.

    None when too little is left.
    """
    kept: dict[str, Any] = {key: dict(value) if isinstance(value, Mapping) else value for key, value in raw.items()}
    if isinstance(raw.get("dataset"), tuple):
        kept["dataset"] = tuple(dict(table) if isinstance(table, Mapping) else table for table in raw["dataset"])
    dropped: dict[str, set[int]] = {}
    for location in wrong:
        _drop(kept, location, dropped)
    _drop_what_follows(kept, dropped)
    if any(location[:1] == ("subgroup",) for location in wrong):
        # A criterion may name a subgroup that is dropped.
        kept["acceptance"] = tuple(
            {key: value for key, value in each.items() if key != "subset"} if isinstance(each, Mapping) else each
            for each in kept.get("acceptance", ())
        )
    places = {
        head: tuple(k for k in range(len(kept[head])) if k not in numbers)
        for head, numbers in dropped.items()
        if isinstance(kept.get(head), tuple)
    }
    kept |= {head: tuple(kept[head][k] for k in left) for head, left in places.items()}
    if "dataset" in dropped:
        kept.pop("readers", None)
    try:
        return Release.model_validate(kept), places
    except ValidationError as error:
        # A table may need the key that was dropped; most of them nobody needs.
        less = {key: value for key, value in kept.items() if key not in {record["loc"][0] for record in error.errors()}}
    try:
        return Release.model_validate(less), places
    except ValidationError:
        return None, places


def _drop(kept: dict[str, Any], location: Location, dropped: dict[str, set[int]]) -> None:
    head = str(location[0]) if location else ""
    table = kept.get(head)
    if head in STAND_INS:
        given = table if isinstance(table, dict) else {}
        known = keys_of((head,)).keys() - {location[1] if len(location) > 1 else ""}
        kept[head] = {**STAND_INS[head], **{key: value for key, value in given.items() if key in known}}
    elif head == "dataset" and len(location) > 1 and isinstance(table, tuple):
        number, gone = int(location[1]), dropped.setdefault(head, set())
        if len(location) < 3 or location[2] in ("name", "role", "file") or not isinstance(table[number], Mapping):
            gone.add(number)
        else:
            table[number].pop(location[2], None)
    elif head in toml.LISTS and len(location) > 1 and isinstance(table, tuple):
        dropped.setdefault(head, set()).add(int(location[1]))
    elif location == ("statements",) and isinstance(table, dict):
        kept[head] = {item: said for item, said in table.items() if item in CHECKLIST_ITEMS}
    elif head == "model":
        kept.pop(head, None)
    elif len(location) > 1 and isinstance(table, dict):
        table.pop(location[1], None)
    else:
        kept.pop(head, None)


def _drop_what_follows(kept: dict[str, Any], dropped: dict[str, set[int]]) -> None:
    """Drop what names a table that is dropped: it would be reported to name what is not there."""
    tables = kept.get("dataset", ())
    lost = [table for k, table in enumerate(tables) if k in dropped.get("dataset", ())]
    held = {_text(table, "name") for k, table in enumerate(tables) if k not in dropped.get("dataset", ())}
    for head in ("acceptance", "reply"):
        asked = [_text(table, "dataset") for table in kept.get(head, ())]
        gone = {
            k for k, name in enumerate(asked) if name not in held and any(_may_be_of(table, name) for table in lost)
        }
        if gone:
            dropped.setdefault(head, set()).update(gone)


def _may_be_of(table: Any, name: str) -> bool:
    """Whether a dataset of this name may be one that a [[dataset]] declares: itself, or one of its sites."""
    declared = _text(table, "name")
    of_a_site = _text(table, "site_column") != "" and name.startswith(f"{declared}-")
    return declared != "" and (name == declared or of_a_site)


def _text(table: Any, key: str) -> str:
    """The text of a key, empty where there is none."""
    value = table.get(key) if isinstance(table, Mapping) else None
    return value if isinstance(value, str) else ""


# ---- what single keys cannot see ------------------------------------------------------------------------------------


def _across(release: Release) -> Iterator[Fault]:
    """The faults that lie between keys: names, roles, and what belongs to one role only."""
    names = [dataset.name for dataset in release.dataset]
    for k, dataset in enumerate(release.dataset):
        table = locations.listed_table("dataset", k + 1, dataset.name)
        if dataset.name in names[:k]:
            yield Fault("two_datasets", table.of("name"), name=dataset.name)
        others = (name for name in names[:k] if name != dataset.name)
        twin = next((name for name in others if name.casefold() == dataset.name.casefold()), None)
        if twin is not None:
            yield Fault("datasets_alike", table.of("name"), name=dataset.name, other=twin)
        if dataset.name in RESERVED_NAMES:
            yield Fault("reserved_dataset", table.of("name"), name=dataset.name)
        if dataset.split is not None and dataset.role != "internal":
            yield Fault("split_not_internal", table.of("split"))
        if dataset.site_column is not None and dataset.site is not None:
            yield Fault("site_and_site_column", table.of("site"))
        if dataset.site_column is not None and dataset.role == "development":
            yield Fault("sites_of_development", table.of("site_column"))
    for rule in (
        *(_named_twice, _names_of_declared, _same_columns, _equation, _earlier_risks, _subgroups, _readers),
        *(_left_out, _labels),
    ):
        yield from rule(release)


def _left_out(release: Release) -> Iterator[Fault]:
    """Chapters to be left out, or to stand before own ones, that do not exist; those no dossier can be without."""
    where = locations.Key("report", "leave_out")
    for name in release.report.leave_out:
        if name not in ORDER:
            yield Fault("unknown_chapter", where, name=name, known=LEAVABLE, near=nearest(name, LEAVABLE))
        elif name not in LEAVABLE:
            yield Fault("chapter_not_left_out", where, name=name, known=LEAVABLE)
    known = tuple(filter(file_of_chapter, ORDER))
    for number, own in enumerate(release.report.own, start=1):
        if own.after is not None and own.after not in known:
            at = locations.Key("report", f"chapters, value {number}.after")
            yield Fault("no_chapter_before", at, name=own.after, known=known, near=nearest(own.after, known))


def _named_twice(release: Release) -> Iterator[Fault]:
    """The faults of columns that get several of our names: only the last one would hold."""
    for index, dataset in enumerate(release.dataset, start=1):
        at = locations.listed_table("dataset", index, dataset.name).of("columns")
        for their, ours in facts.gathered((their, our) for our, their in dataset.columns.items()).items():
            if len(ours) > 1:
                yield Fault("column_of_several_names", at, column=their, number=len(ours), names=tuple(ours))


def _names_of_declared(release: Release) -> Iterator[Fault]:
    """The faults of the names of declared performances: results are distinguished by the name of what they are of."""
    datasets, declared = ([each.name for each in some] for some in (release.dataset, release.declared_performance))
    for k, name in enumerate(declared):
        where = locations.listed_table("declared_performance", k + 1, name).of("name")
        if name in datasets:
            yield Fault("performance_of_dataset", where, name=name)
        if name in declared[:k]:
            yield Fault("two_performances", where, name=name)
        if name in RESERVED_NAMES:
            yield Fault("reserved_performance", where, name=name)


def _of_h_accuracy(release: Release, has_readers: bool) -> Iterator[Fault]:
    """What H-accuracy asks for and other tables of the release do not give.

    Where [readers] is written but faulty, its own faults say enough.
    """
    declared, classes = release.h_accuracy, release.outcome.classes or ("0", "1")
    if declared.survey is not None and set(declared.survey) != set(classes):
        at, shares, survey = locations.Key("h_accuracy", "survey"), [f"{name} = …" for name in classes], declared.survey
        yield Fault("survey_of_other_classes", at, survey=tuple(survey), classes=tuple(classes), shares=tuple(shares))
    of_two = release.outcome.classes is None
    if of_two and "net_benefit" in declared.priority_from and not release.thresholds.declared:
        yield Fault("priority_without_threshold", locations.Key("h_accuracy", "priority_from"))
    for key, table in _asked_of_raters(release).items() if release.readers or not has_readers else ():
        yield from _raters_give(release, key, table)


def _asked_of_raters(release: Release) -> dict[str, str | None]:
    """The keys of [h_accuracy] that ask the raters, with the table that they need beside the labels."""
    declared = release.h_accuracy
    asked: dict[str, str | None] = {}
    if "raters" in declared.priority_from and release.outcome.classes is None:
        asked["priority_from"] = None
    if declared.tau_from:
        asked["tau_from"] = "confidence"
    if isinstance(declared.complexity, Source):
        needed = {"raters": "complexity", "rater_errors": None, "rater_confidence": "confidence"}
        asked["complexity"] = needed[declared.complexity.from_]
    return asked


def _raters_give(release: Release, key: str, table: str | None) -> list[Fault]:
    where = locations.Key("h_accuracy", key)
    if not release.readers:
        return [Fault("no_readers", where, key=key)]
    development = {dataset.name for dataset in release.dataset if dataset.role == "development"}
    tested = [reader for reader in release.readers if reader.dataset is not None and reader.dataset not in development]
    if not tested:
        return [Fault("readers_of_no_tested_dataset", where, key=key)]
    if table is not None and all(getattr(tables, table) is None for tables in tested):
        return [Fault("no_table_of_readers", where, key=key, table=table)]
    return []


def _roles(release: Release) -> Iterator[Fault]:
    roles, at = [dataset.role for dataset in release.dataset], locations.listed_table("dataset")
    if "external" not in roles:
        yield Fault("no_external_dataset", at)
    if roles.count("development") > 1:
        yield Fault("several_development_datasets", at, number=roles.count("development"))


def _readers(release: Release) -> Iterator[Fault]:
    """The faults of readers' tables of one dataset twice, or twice of none."""
    named = [reader.dataset for reader in release.readers]
    for number, name in enumerate(named, start=1):
        if name in named[: number - 1]:
            at = locations.listed_table("readers", number).of("dataset")
            yield Fault("readers_twice", at, dataset=name) if name else Fault("readers_twice_alone", at)


def _same_columns(release: Release) -> Iterator[Fault]:
    prediction, outcome = release.prediction, release.outcome
    for key, names in (("column", (prediction.column,)), ("columns", prediction.columns or ())):
        if outcome.column in names:
            yield Fault("risk_is_outcome", locations.Key("prediction", key))
    named: list[str] = []
    for rival, at in predictors.rivals_declared(release):
        if rival.column is not None and rival.column == prediction.column:
            yield Fault("rival_is_risk", at)
        elif outcome.column in rival.named:
            yield Fault("rival_is_outcome", at)
        if rival.name in NOT_RIVALS and at.key not in ("previous", "previous_tables"):
            where = at.of("name" if at.is_list else "rival_name")
            yield Fault("reserved_rival", where, name=rival.name, reserved=tuple(NOT_RIVALS))
        if rival.name in named:
            yield Fault("rival_twice", at.of("name"), name=rival.name)
        named.append(rival.name)
    rivals = (prediction.rival, prediction.rivals, *(each.rival for each in release.horizon))
    if prediction.rival_name is not None and not any(rivals):
        yield Fault("rival_name_without_rival", locations.Key("prediction", "rival_name"), key="rival_name")


def _equation(release: Release) -> Iterator[Fault]:
    """The faults of risks that are to be those of the formula."""
    prediction, where = release.prediction, locations.Key("prediction", "from")
    if prediction.from_ is None:
        return
    if release.model is None or release.outcome.classes is not None:
        yield Fault("no_equation_for_risks", where)
    if prediction.column is not None or prediction.columns is not None:
        yield Fault("risks_of_column_and_equation", where)


def _earlier_risks(release: Release) -> Iterator[Fault]:
    """The faults of risks of the previous version without its results."""
    about = release.release
    for where, given in (
        (locations.Key("prediction", "previous"), release.prediction.previous),
        (locations.Key("release", "previous_tables"), about.previous_tables),
    ):
        if given is not None and about.previous is None:
            yield Fault("previous_risks_alone", where, key=where.key or "")


def _labels(release: Release) -> Iterator[Fault]:
    """The faults of columns that are labelled twice, and of labels that could be taken for another column."""
    names = [predictor.name for predictor in release.predictor]
    printed = [predictor.label or predictor.name for predictor in release.predictor]
    for k, (name, label) in enumerate(zip(names, printed, strict=True)):
        where = locations.listed_table("predictor", k + 1)
        if name in names[:k]:
            yield Fault("labelled_twice", where.of("name"), column=name)
        elif label in printed[:k]:
            yield Fault("label_of_another", where.of("label"), label=label, column=names[printed.index(label)])


def _subgroups(release: Release) -> Iterator[Fault]:
    """The faults of subgroups of one column twice, and of columns that have another role."""
    taken = predictors.roles_of_columns(release)
    names = [subgroup.column for subgroup in release.subgroup]
    for k, name in enumerate(names):
        where = locations.listed_table("subgroup", k + 1).of("column")
        if name in names[:k]:
            yield Fault("subgroup_twice", where, column=name)
        elif name in taken:
            yield Fault("subgroup_of_taken_column", where, column=name, key=taken[name].key)
