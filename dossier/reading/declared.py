"""release.toml -> Release: every fault of it in plain sentences, and as much of it as can be used nevertheless."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from dossier.errors import Fault
from dossier.reading import declared_classes, letters, refused
from dossier.reading.faults import counted, listed, nearest, shortened, shown
from dossier.reading.predictors import roles_of_columns
from dossier.release import (
    CHECKLIST_ITEMS,
    NOT_RIVALS,
    RESERVED_NAMES,
    DatasetDeclaration,
    Release,
    Source,
    UnfitError,
)

Location = tuple[str | int, ...]

EXPECTED = {
    "string_type": "text in quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "date_type": "a date such as 2026-10-01",
    "tuple_type": "a list",
    "mapping_type": "a table",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
BOUNDS = {
    "greater_than": ("gt", "above"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "below"),
    "less_than_equal": ("le", "at most"),
}
MOST_DATASETS = 1000
"""More tables than this come from a program that ran wild; reading them would take hours."""
LARGEST = 2**63 - 1
"""The largest whole number of TOML."""
DEEPEST = 50
"""So many tables and lists within each other are far more than any key asks for."""
LISTS = ("dataset", "declared_performance", "acceptance", "subgroup", "reply", "signatory", "revision", "model.term")
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

    def told(self, faults: Sequence[Fault]) -> list[Fault]:
        """Faults of the rest: without those of a stand-in, and with the numbers that tables have in the file."""
        return [_placed(fault, self.kept) for fault in faults if f"There is no column {UNNAMED}." != fault.what]


def _placed(fault: Fault, kept: Mapping[str, tuple[int, ...]]) -> Fault:
    found = re.match(r"release\.toml, \[\[(\w+)\]\] (\d+)", fault.where)
    if found is None or found[1] not in kept:
        return fault
    number = kept[found[1]][int(found[2]) - 1] + 1
    return replace(fault, where=f"release.toml, [[{found[1]}]] {number}{fault.where[found.end() :]}")


def declared(content: bytes) -> Declared:
    """The release that the bytes of release.toml declare, with all its faults."""
    try:
        raw = _frozen(tomllib.loads(content.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        return Declared(
            None,
            (Fault("release.toml is not UTF-8 text.", f"release.toml, line {line}", "Save the file as UTF-8."),),
        )
    except tomllib.TOMLDecodeError as error:
        return Declared(None, (_syntax(str(error), content.decode("utf-8-sig").split("\n")),))
    except RecursionError:
        fix = "Write lists and tables as dossier schema shows them."
        return Declared(None, (Fault("release.toml holds tables in tables without end.", "release.toml", fix),))
    except ValueError:
        # TOML has no whole number of more bits; of far too many digits Python reads none.
        what = "release.toml holds a whole number of more than 64 bits."
        return Declared(None, (Fault(what, "release.toml", "Write numbers as they are meant."),))
    tables = raw.get("dataset")
    if isinstance(tables, tuple) and len(tables) > MOST_DATASETS:
        fix = "Put the rows of many sites into one table, and name the column of the site in site_column."
        what = f"There are {len(tables)} datasets, more than {MOST_DATASETS}."
        return Declared(None, (Fault(what, "release.toml, [[dataset]]", fix),))
    faults = [*declared_classes.missing(raw), *_strange_letters(raw)]
    kept: Mapping[str, tuple[int, ...]] = {}
    try:
        release: Release | None = Release.model_validate(raw)
    except ValidationError as error:
        resolved = [(_resolved(one["loc"], one["type"], raw), one) for one in error.errors()]
        errors = [(location, one) for location, one in resolved if not _only_a_consequence(location, one, raw)]
        faults = [*_translated(errors, raw), *faults]
        release, kept = _salvaged(raw, [location for location, _ in errors])
    if release is not None:
        faults += [_placed(fault, kept) for fault in _across(release)]
        # Of an outcome that is not declared at all nobody knows the classes.
        if isinstance(raw.get("outcome"), Mapping):
            faults += [*declared_classes.faults(release, raw), *_of_h_accuracy(release, "readers" in raw)]
        if len(release.dataset) == len(raw["dataset"]):
            faults += _roles(release)
    return Declared(release, tuple(faults), kept)


def _strange_letters(raw: Mapping[str, Any]) -> list[Fault]:
    return [
        fault
        for location, text in letters.words(raw)
        for fault in letters.fault(str(location[-1]), text, _where(location, raw), name=letters.is_name(location))
    ]


def _frozen(value: Any, left: int = DEEPEST) -> Any:
    """The value with tuples for lists; what follows goes into it level by level, and must come to an end."""
    if left == 0:
        raise RecursionError
    if isinstance(value, list):
        return tuple(_frozen(item, left - 1) for item in value)
    if isinstance(value, dict):
        return {key: _frozen(item, left - 1) for key, item in value.items()}
    if isinstance(value, int) and not -LARGEST - 1 <= value <= LARGEST:
        raise ValueError
    return value


def _syntax(message: str, lines: Sequence[str]) -> Fault:
    found = re.search(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)", message)
    text = message[: found.start()] if found else message
    place = f"line {found[1]}, column {found[2]}" if found and found[1] else "last line"
    fix = "Mend the line: text stands in quotes, a list in [ ], a key before =."
    line = lines[int(found[1]) - 1] if found and found[1] else ""
    if re.search(r'"[^"]*\\', line):
        fix = "In a path write / instead of \\, as in data/site.csv; in another text write each \\ twice."
    return Fault(f"release.toml is not valid TOML: {text[:1].lower()}{text[1:]}.", f"release.toml, {place}", fix)


def _only_a_consequence(location: Location, error: Any, raw: Any) -> bool:
    """A list is called too short when its tables are faulty: their own faults say enough."""
    return bool(error["type"] == "too_short" and len(_value(location, raw)) >= error["ctx"]["min_length"])


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


def _section(location: Location, raw: Mapping[str, Any]) -> tuple[str, Location]:
    """How the table of a location is written in the file, and the rest of the location."""
    if len(location) < 2 and not isinstance(raw.get(str(location[0])), Mapping):
        return "", location
    head, rest = str(location[0]), location[1:]
    if head == "model" and len(rest) > 1 and rest[0] == "term" and isinstance(rest[1], int):
        return f"[[model.term]] {rest[1] + 1}", rest[2:]
    if rest and isinstance(rest[0], int):
        table = raw[head][rest[0]]
        name = f" ({table['name']})" if isinstance(table, Mapping) and isinstance(table.get("name"), str) else ""
        return f"[[{head}]] {rest[0] + 1}{name}", rest[1:]
    return f"[{head}]", rest


def _key(rest: Location) -> str:
    text = ""
    for part in rest:
        text += f", value {part + 1}" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text


def _where(location: Location, raw: Mapping[str, Any]) -> str:
    section, rest = _section(location, raw)
    key = _key(rest)
    if not section:
        return f"release.toml, {key}" if key in Release.model_fields else "release.toml, top level"
    return f"release.toml, {section}" + (f"{',' if section.startswith('[[') else ''} {key}" if key else "")


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in get_args(annotation):
        found = _model_in(part)
        if found is not None:
            return found
    return None


def _model_at(location: Location) -> type[BaseModel] | None:
    """The model of the table at a location."""
    model: type[BaseModel] | None = Release
    for part in location:
        if isinstance(part, int) or model is None:
            continue
        field = next((field for name, field in model.model_fields.items() if (field.alias or name) == part), None)
        model = _model_in(field.annotation) if field is not None else model
    return model


def _keys(location: Location) -> dict[str, str]:
    """The keys that a table knows, with the sentence of each."""
    model = _model_at(location)
    fields = model.model_fields if model is not None else {}
    return {field.alias or name: field.description or "" for name, field in fields.items()}


# ---- what is wrong, in words ----------------------------------------------------------------------------------------


def _translated(errors: list[tuple[Location, Any]], raw: Mapping[str, Any]) -> list[Fault]:
    """One fault for every place that is wrong, however many alternatives it fails."""
    places: dict[Location, list[Any]] = {}
    for location, error in errors:
        places.setdefault(location, []).append(error)
    kept = {
        location: found
        for location, found in places.items()
        if not any(
            other != location and other[: len(location)] == location and _is_alternative(found) for other in places
        )
    }
    return [_fault(location, found, raw) for location, found in kept.items()]


def _is_alternative(errors: list[Any]) -> bool:
    return all(error["type"] in EXPECTED for error in errors)


def _fault(location: Location, errors: list[Any], raw: Mapping[str, Any]) -> Fault:
    plain = next((error for error in errors if error["type"] not in EXPECTED), errors[0])
    kind = plain["type"]
    if kind == "extra_forbidden":
        return _unknown(location, raw)
    if kind == "missing":
        return _missing(location, raw)
    where = _where(location, raw)
    section, rest = _section(location, raw)
    name = _key(rest) or (section if isinstance(location[-1], int) else str(location[-1]))
    value = _value(location, raw)
    if kind == "value_error" and isinstance(plain["ctx"]["error"], UnfitError):
        return Fault(plain["ctx"]["error"].what, where, plain["ctx"]["error"].fix)
    if kind in BOUNDS:
        bound, word = BOUNDS[kind]
        limit = shown(plain["ctx"][bound])
        return Fault(f"{name} is {shown(value)}, not {word} {limit}.", where, f"Give a number {word} {limit}.")
    if kind == "literal_error":
        return _choice(name, value, plain["ctx"]["expected"], where)
    if kind in ("too_short", "too_long"):
        return _length(location, name, value, plain["ctx"], where)
    if kind in ("string_too_short", "string_too_long", "string_pattern_mismatch"):
        return _string(name, value, plain, where)
    if kind == "finite_number":
        return Fault(f"{name} is {value}, not a finite number.", where, "Give a number.")
    return _type(location, name, value, errors, where)


def _type(location: Location, name: str, value: Any, errors: list[Any], where: str) -> Fault:
    written = ".".join(map(str, location))
    if written in LISTS:
        fix = f"Write [[{written}]] with two brackets."
        return Fault(f"{name} is {shown(value)}, not a list of tables.", where, fix)
    expected = list(dict.fromkeys(EXPECTED.get(error["type"], "a value of another kind") for error in errors))
    if "a number" in expected and "a whole number" in expected:
        expected.remove("a whole number")
    wanted = " or ".join(expected)
    # 1.0 is shown as 1 elsewhere, and would read as the whole number that it is not.
    given = str(value) if isinstance(value, float) and wanted == "a whole number" else shown(value)
    return Fault(f"{name} is {given}, not {wanted}.", where, f"Give {wanted}.")


def _choice(name: str, value: Any, expected: str, where: str) -> Fault:
    choices = re.findall(r"'([^']*)'", expected)
    near = nearest(value, choices) if isinstance(value, str) else None
    fix = f'Did you mean "{near}"?' if near else f"Write {' or '.join(repr_toml(choice) for choice in choices)}."
    signs = [choice if choice.isidentifier() else repr_toml(choice) for choice in choices]
    return Fault(f"{name} is {shown(value)}, not one of {listed(signs)}.", where, fix)


def repr_toml(text: str) -> str:
    """A text as it stands in a TOML file."""
    return f'"{text}"'


def _length(location: Location, name: str, value: Any, context: Mapping[str, Any], where: str) -> Fault:
    if location == ("dataset",):
        return Fault("There is no dataset.", "release.toml, [[dataset]]", 'Declare one with role = "external".')
    most = context.get("max_length", 0)
    # Of a fixed length are only pairs.
    if most > 2:
        what = f"{name} has {counted(len(value), 'value')}, more than {most}."
        return Fault(what, where, f"Give at most {most}: those that matter most.")
    wanted = context.get("min_length", most)
    return Fault(f"{name} has {counted(len(value), 'value')}, not {wanted}.", where, f"Give {wanted} values.")


def _string(name: str, value: Any, error: Any, where: str) -> Fault:
    if error["type"] == "string_too_short":
        return Fault(f"{name} is empty.", where, "Write something; an optional key may be taken out instead.")
    if error["type"] == "string_too_long":
        what = f"{name} has {len(value):,} characters, more than {error['ctx']['max_length']:,}."
        return Fault(what, where, "Say it in fewer words; a longer statement may stand in a file.")
    return _pattern(name, value, where)


def _pattern(name: str, value: Any, where: str) -> Fault:
    if name == "artifact_sha256":
        return Fault(f"{name} is {shown(value)}, not a SHA-256.", where, "Give its 64 characters of 0 to 9 and a to f.")
    slug = re.sub(r"[^\w.-]+", "-", str(value)).strip("-.")
    hint = f' such as "{slug}"' if slug else ""
    return Fault(
        f"{name} is {shown(value)}, which cannot name files.", where, f"Use letters, digits, dots and dashes{hint}."
    )


def _unknown(location: Location, raw: Mapping[str, Any]) -> Fault:
    key = str(location[-1])
    where = _where(location, raw)
    strange = refused.out_of_scope(key, where)
    if strange is not None:
        return strange
    known = _keys(location[:-1])
    near = nearest(key, known)
    fix = f"Did you mean {near}?" if near else f"The keys are {listed(known, most=30)}."
    if len(location) == 1:
        return Fault(f"{key} is no table or key of release.toml.", where, fix)
    home = re.sub(r"(?<=\])[^\]]*$", "", _section(location, raw)[0])
    return Fault(f"{key} is not a key of {home}.", where, fix)


def _missing(location: Location, raw: Mapping[str, Any]) -> Fault:
    if isinstance(location[-1], int):
        short = location[:-1]
        return _length(short, _key(_section(short, raw)[1]), _value(short, raw), {"min_length": 2}, _where(short, raw))
    key = str(location[-1])
    sentence = _keys(location[:-1]).get(key, "")
    if len(location) == 1:
        section = f"[[{key}]]" if key in LISTS else f"[{key}]"
        return Fault(f"There is no {section}.", "release.toml", f"Add {section}. {sentence}")
    table = _section(location, raw)[0]
    return Fault(f"{key} is missing.", f"release.toml, {table}", f"Add {key} = … {sentence}")


# ---- as much as can be used -----------------------------------------------------------------------------------------


def _salvaged(raw: Mapping[str, Any], wrong: list[Location]) -> tuple[Release | None, Mapping[str, tuple[int, ...]]]:
    """The release without what is faulty, for the faults of the rest, and which tables of lists were kept.

    None when too little is left.
    """
    kept: dict[str, Any] = {key: dict(value) if isinstance(value, Mapping) else value for key, value in raw.items()}
    dropped: dict[str, set[int]] = {}
    for location in wrong:
        _drop(kept, location, dropped)
    _drop_what_follows(kept, dropped)
    if any(location[:1] == ("subgroup",) for location in wrong):
        kept["acceptance"] = tuple(_without_subset(one) for one in kept.get("acceptance", ()))
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
        less = {key: value for key, value in kept.items() if key not in {one["loc"][0] for one in error.errors()}}
    try:
        return Release.model_validate(less), places
    except ValidationError:
        return None, places


def _drop(kept: dict[str, Any], location: Location, dropped: dict[str, set[int]]) -> None:
    head = str(location[0]) if location else ""
    table = kept.get(head)
    if head in STAND_INS:
        given = table if isinstance(table, dict) else {}
        known = _keys((head,)).keys() - {location[1] if len(location) > 1 else ""}
        kept[head] = {**STAND_INS[head], **{key: value for key, value in given.items() if key in known}}
    elif head == "dataset" and len(location) > 1 and isinstance(table, tuple):
        _drop_of_dataset(kept, location, dropped.setdefault(head, set()))
    elif head in LISTS and len(location) > 1 and isinstance(table, tuple):
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
    """Drop what names a table that is dropped: it would be told to name what is not there."""
    names = {_text(kept["dataset"][k], "name") for k in dropped.get("dataset", ())} - {""}
    for head in ("acceptance", "reply"):
        asked = [_text(one, "dataset") for one in kept.get(head, ())]
        gone = {k for k, one in enumerate(asked) if any(one == name or one.startswith(f"{name}-") for name in names)}
        if gone:
            dropped.setdefault(head, set()).update(gone)


def _without_subset(criterion: Any) -> Any:
    """A criterion without the subgroup that it names, which may be one that is dropped."""
    is_table = isinstance(criterion, Mapping)
    return {key: value for key, value in criterion.items() if key != "subset"} if is_table else criterion


def _text(table: Any, key: str) -> str:
    """The text of a key, empty where there is none."""
    value = table.get(key) if isinstance(table, Mapping) else None
    return value if isinstance(value, str) else ""


def _drop_of_dataset(kept: dict[str, Any], location: Location, dropped: set[int]) -> None:
    tables, number = kept["dataset"], int(location[1])
    if len(location) < 3 or location[2] in ("name", "role", "file") or not isinstance(tables[number], Mapping):
        dropped.add(number)
        return
    less = {key: value for key, value in tables[number].items() if key != location[2]}
    kept["dataset"] = (*tables[:number], less, *tables[number + 1 :])


# ---- what single keys cannot see ------------------------------------------------------------------------------------


def _across(release: Release) -> list[Fault]:
    """The faults that lie between keys: names, roles, and what belongs to one role only."""
    faults: list[Fault] = []
    names = [dataset.name for dataset in release.dataset]
    for k, dataset in enumerate(release.dataset):
        where = f"release.toml, [[dataset]] {k + 1} ({dataset.name})"
        if dataset.name in names[:k]:
            fix = "Give every dataset a name of its own."
            faults.append(Fault(f"Two datasets are named {dataset.name}.", f"{where}, name", fix))
        twin = next((name for name in names[:k] if _alike(name, dataset.name)), None)
        if twin is not None:
            what = f"The datasets {twin} and {dataset.name} differ in capitals only."
            faults.append(Fault(what, f"{where}, name", "Give them names that nobody can take for each other."))
        if dataset.name in RESERVED_NAMES:
            faults.append(
                Fault(f"{dataset.name} is a name that dossier uses.", f"{where}, name", "Choose another name.")
            )
        if dataset.split is not None and dataset.role != "internal":
            fix = 'Take split out, or declare role = "internal".'
            faults.append(Fault("split is for internal datasets only.", f"{where}, split", fix))
        if dataset.site_column is not None and dataset.site is not None:
            fix = "Take site out: the values of site_column name the sites."
            faults.append(Fault("There are both site and site_column.", f"{where}, site", fix))
        if dataset.site_column is not None and dataset.role == "development":
            fix = "Take site_column out: the development table is one."
            faults.append(Fault("A development table is not split into sites.", f"{where}, site_column", fix))
    faults += [fault for k, one in enumerate(release.dataset, start=1) for fault in _named_twice(k, one)]
    return [*faults, *_names_of_declared(release), *_same_columns(release), *_subgroups(release)]


def _named_twice(place: int, dataset: DatasetDeclaration) -> Iterator[Fault]:
    """The faults of columns that get several of our names: only the last one would hold."""
    names: dict[str, list[str]] = {}
    for our, their in dataset.columns.items():
        names.setdefault(their, []).append(our)
    for their, ours in names.items():
        if len(ours) > 1:
            what = f"The column {shortened(their)} has {len(ours)} names: {listed(ours)}."
            fix = "Name another column of the table for all but one of them."
            yield Fault(what, f"release.toml, [[dataset]] {place} ({dataset.name}), columns", fix)


def _names_of_declared(release: Release) -> Iterator[Fault]:
    """The faults of the names of declared performances: results are told apart by the name of what they are of."""
    datasets, declared = ([one.name for one in some] for some in (release.dataset, release.declared_performance))
    for k, name in enumerate(declared):
        where = f"release.toml, [[declared_performance]] {k + 1} ({name}), name"
        fix = "Give every declared performance a name of its own, that no dataset has."
        if name in datasets:
            yield Fault(f"A dataset and a declared performance are named {name}.", where, fix)
        if name in declared[:k]:
            yield Fault(f"Two declared performances are named {name}.", where, fix)
        if name in RESERVED_NAMES:
            yield Fault(f"A declared performance has the name {name}, which dossier uses.", where, fix)


def _alike(one: str, other: str) -> bool:
    return one != other and one.casefold() == other.casefold()


def _of_h_accuracy(release: Release, has_readers: bool) -> list[Fault]:
    """What H-accuracy asks for and other tables of the release do not give.

    Where [readers] is written but faulty, its own faults say enough.
    """
    declared, faults = release.h_accuracy, []
    classes = release.outcome.classes or ("0", "1")
    if declared.survey is not None and set(declared.survey) != set(classes):
        what = f"The survey is about {listed(declared.survey)}, and the classes are {listed(classes)}."
        fix = f"Give one share a class: survey = {{ {', '.join(f'{name} = …' for name in classes)} }}."
        faults.append(Fault(what, "release.toml, [h_accuracy] survey", fix))
    of_two = release.outcome.classes is None
    if of_two and "net_benefit" in declared.priority_from and not release.thresholds.declared:
        fix = "Declare a threshold in [thresholds], or take net_benefit out."
        what = "The priority from net benefit needs a declared threshold."
        faults.append(Fault(what, "release.toml, [h_accuracy] priority_from", fix))
    if release.readers is not None or not has_readers:
        for key, table in _asked_of_raters(release).items():
            faults += _raters_give(release, key, table)
    return faults


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
    where, readers = f"release.toml, [h_accuracy] {key}", release.readers
    if readers is None:
        fix = f"Add [readers], or take the raters out of {key}."
        return [Fault(f"{key} asks the raters, and there is no [readers].", where, fix)]
    if readers.dataset is None:
        fix = "Add dataset to [readers]: the cases that they judged."
        return [Fault(f"{key} asks the raters, and [readers] names no dataset.", where, fix)]
    if table is not None and getattr(readers, table) is None:
        fix = f"Add {table} to [readers], or take the raters out of {key}."
        return [Fault(f"{key} asks for the raters' {table}, and [readers] names no such table.", where, fix)]
    return []


def _roles(release: Release) -> list[Fault]:
    roles = [dataset.role for dataset in release.dataset]
    faults = []
    if "external" not in roles:
        fix = 'Declare one with role = "external": rows that had no part in making the model.'
        faults.append(Fault("There is no external dataset.", "release.toml, [[dataset]]", fix))
    if roles.count("development") > 1:
        fix = "Put the rows in one table."
        what = f"There are {roles.count('development')} development datasets."
        faults.append(Fault(what, "release.toml, [[dataset]]", fix))
    return faults


def _same_columns(release: Release) -> list[Fault]:
    prediction, outcome = release.prediction, release.outcome
    faults = []
    for key, names in (("column", (prediction.column,)), ("columns", prediction.columns or ())):
        if outcome.column in names:
            fix = "Name the column of the risks."
            faults.append(Fault("The risk is the outcome itself.", f"release.toml, [prediction] {key}", fix))
    if prediction.rival is not None and prediction.rival in (prediction.column, outcome.column):
        fix = "Name another column, or take rival out."
        what = "The rival is the " + ("risk" if prediction.rival == prediction.column else "outcome") + " itself."
        faults.append(Fault(what, "release.toml, [prediction] rival", fix))
    if prediction.rival_name is not None and prediction.rival is None and prediction.rivals is None:
        fix = "Add rival, or take rival_name out."
        faults.append(Fault("There is a rival_name but no rival.", "release.toml, [prediction] rival_name", fix))
    if prediction.rival_name in NOT_RIVALS:
        fix = f"Give it another name: {listed(NOT_RIVALS)} stand for other comparisons."
        what = f'The rival is called "{prediction.rival_name}".'
        faults.append(Fault(what, "release.toml, [prediction] rival_name", fix))
    return faults


def _subgroups(release: Release) -> list[Fault]:
    """The faults of subgroups of one column twice, and of columns that have another role."""
    taken = roles_of_columns(release)
    names = [one.column for one in release.subgroup]
    faults = []
    for k, name in enumerate(names):
        where = f"release.toml, [[subgroup]] {k + 1}, column"
        if name in names[:k]:
            fix = "Put all its levels or cuts in one [[subgroup]]."
            faults.append(Fault(f"{name} makes subgroups twice.", where, fix))
        elif name in taken:
            fix = "Name a column that describes the patients."
            faults.append(Fault(f"{name} cannot make subgroups: {taken[name]} names it.", where, fix))
    return faults
