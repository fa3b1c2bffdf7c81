"""Tables that a command line names, and what its options say of them -> a release that says the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dossier.core import command, errors
from dossier.core.faults.locations import Option
from dossier.core.release import RESERVED_NAMES, DatasetRole, Outcome, Release
from dossier.reading import columns, datasets, files, letters, predictors, signatures, signs
from dossier.reading.faults import noted

MOST_LETTERS = 1_000
"""Of a name on the command line."""
PLACE = re.compile(
    r"(?:study)?(?:hospital|site|cent(?:re|er)|clinic|institution|klinik|krankenhaus|ospedale|hopital)\w*"
)
"""What a column that tells hospitals apart is called, small letters alone."""
MOST_LEVELS = 6
"""A column with so many words may make subgroups."""
WRITTEN_AS: Mapping[str, tuple[str, ...]] = {"encoding": signatures.TEXTS, "separator": signatures.TEXTS}
WRITTEN_AS = {**WRITTEN_AS, "decimal": signatures.TEXTS, "sheet": (".xlsx",)}
"""Of which files an option says how they are written."""


def faults(asked: command.Quick, tables: Sequence[str]) -> list[errors.Fault]:
    """What is wrong with the options themselves; a ReleaseError where nothing can be read by them."""
    outside = [value for value in asked.thresholds if not 0 < value < 1]
    found = [errors.Fault("threshold_outside", Option("--threshold"), threshold=value) for value in outside]
    if asked.outcome == asked.risk:
        found.append(errors.Fault("risk_is_outcome", Option("--risk")))
    given = [*(("TABLE", name) for name in tables), ("--event" if asked.time else "--outcome", asked.outcome)]
    once = ("time", "risk", "name", "positive", "censored", "site", "sheet")
    given += [(f"--{key}", getattr(asked, key)) for key in once]
    given += [("--competing", value) for value in asked.competing]
    printed = [(option, text) for option, text in given if text is not None]
    empty = [option for option, text in printed if not text.strip()]
    found += [errors.Fault("empty_text", Option(option), key=option) for option in empty]
    long = [(option, len(text)) for option, text in printed if len(text) > MOST_LETTERS]
    found += [errors.Fault("long_text", Option(option), key=option, length=n, most=MOST_LETTERS) for option, n in long]
    for option, text in printed:
        found += letters.fault(letters.NAME, text, Option(option), name=True)
    # The name of a file may hold bytes that are no letters in UTF-8.
    if empty or long or any("\ud800" <= letter <= "\udfff" for _, text in printed for letter in text):
        raise errors.ReleaseError(found)
    return [*found, *_of_codes(asked)]


def _outcome(asked: command.Quick, with_codes: bool = True) -> dict[str, Any]:
    """The table of the outcome, where its codes fit together with what they mean."""
    by = "" if asked.at is None else f" by {asked.at:g}"
    outcome = {"name": f"{asked.outcome}{by}", "column": asked.outcome, "time": asked.time}
    once = {"positive": _typed(asked.positive), "censored": _typed(asked.censored)}
    return {**outcome, **once, "competing": tuple(map(_typed, asked.competing))} if with_codes else outcome


def _of_codes(asked: command.Quick) -> list[errors.Fault]:
    """By which rule of the outcome its codes do not fit together."""
    outcome = Outcome.model_construct(**_outcome(asked))
    return [
        errors.Fault(code, Option("--positive"), **(how if isinstance(how, dict) else {}))
        for code, rule in Outcome.rules.items()
        if (how := rule(outcome))
    ]


def release(asked: command.Quick, tables: Mapping[str, DatasetRole], are_wrong: bool = False) -> Release:
    """The release of these tables, by the name of each file its role; without thresholds where options are wrong."""
    alone = _stem(next(iter(tables))) if len(tables) == 1 else None
    outcome = _outcome(asked, with_codes=not _of_codes(asked))
    declared: dict[str, Any] = {
        "release": {"model": asked.name or alone or "not stated", "version": "not stated", "owner": "not stated"},
        "outcome": {key: each for key, each in outcome.items() if each != ()},
        "prediction": {"column": asked.risk, "scale": None if asked.scale == "probability" else asked.scale},
        "thresholds": {
            "declared": () if are_wrong else tuple(dict.fromkeys(asked.thresholds)),
            "wish": {name: float(share) for name, _, share in (wish.partition("=") for wish in asked.wishes)} or None,
        },
        "dataset": tuple(_dataset(asked, tables, file) for file in tables),
    }
    if asked.at is not None:
        declared["horizon"] = ({"at": asked.at, "risk": asked.risk},)
    return Release.model_validate(_without_gaps(declared))


def _dataset(asked: command.Quick, tables: Mapping[str, DatasetRole], file: str) -> dict[str, Any]:
    """A [[dataset]], named after its file; of several tables each has the options that fit its kind."""
    kind, every = signatures.kind(file), [predictors.slug(_stem(each)) or "table" for each in tables]
    place = list(tables).index(file)
    name = every[place] if every.index(every[place]) == place else f"{every[place]}-{place + 1}"
    how = {key: getattr(asked, key) for key in WRITTEN_AS if len(tables) == 1 or kind in WRITTEN_AS[key]}
    how |= {"separator": "\t"} if how.get("separator") == "tab" else {}
    return {
        "name": f"{name}-table" if name in RESERVED_NAMES else name,
        "role": tables[file],
        "file": file,
        "outside": True,
        "site_column": asked.site if tables[file] == "external" else None,
        **how,
        "missing": {"*": tuple(map(_typed, asked.missing))} if asked.missing else None,
    }


def _without_gaps(given: Any) -> Any:
    if isinstance(given, Mapping):
        return {key: _without_gaps(each) for key, each in given.items() if each is not None}
    return tuple(map(_without_gaps, given)) if isinstance(given, tuple) else given


def _stem(file: str) -> str:
    name = Path(file).name
    return name[: -len("".join(Path(file).suffixes[-1:])) or None]


def _typed(text: str | None) -> str | int | None:
    """A value of the command line as release.toml holds it, where a number is no text."""
    return text if text is None or not re.fullmatch(r"-?\d{1,15}", text) else int(text)


# ---- what columns may be ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hint:
    """A key of release.toml that a column of a table may be named in, and what the column holds."""

    key: str
    column: str
    holds: str


def hints(declared: Release, folder: files.Folder) -> Mapping[str, tuple[Hint, ...]]:
    """By the name of each dataset, what its columns may be that no key names: nobody but its maker can tell."""
    found: dict[str, tuple[Hint, ...]] = {}
    for number, dataset in enumerate(declared.dataset):
        source = noted([], datasets.opened, declared, number, folder, [])
        named = {declared.outcome.column, declared.outcome.time, declared.prediction.column, dataset.site_column}
        held = {} if source is None else {name: source.table.columns[name] for name in source.table.columns}
        free = [column for name, column in held.items() if name not in named]
        found[dataset.name] = tuple(hint for column in free for hint in _hints(column))
    return found


def _hints(column: columns.Series) -> Iterator[Hint]:
    if column.kind == "empty":
        return
    codes, words = columns.coded(column)
    known = codes[codes >= 0]
    days = [columns.day(word) for word in words] if column.kind == "texts" else [None]
    if None not in days:
        ends = sorted(day for day in days if day is not None)
        yield Hint("date", column.name, f"{ends[0]} to {ends[-1]}")
    elif PLACE.fullmatch(re.sub(r"[\W_]", "", column.name.casefold())) is not None:
        yield Hint("site_column", column.name, f"{len(words):,} different ones")
    elif signs.is_of_persons(column.name):
        once = len(known) == len(words) == len(codes)
        yield Hint("id" if once else "cluster", column.name, f"{len(words):,} different ones in {len(codes):,} rows")
    elif column.kind == "numbers" and len(words) > 2:
        low, high = np.nanmin(column.numbers), np.nanmax(column.numbers)
        # Numbers from 0 to 1 are as a rule what another model says.
        yield Hint("rival" if low >= 0 and high <= 1 else "predictors", column.name, f"{low:.6g} to {high:.6g}")
    elif 1 < len(words) <= MOST_LEVELS:
        yield Hint("predictors", column.name, ", ".join(sorted(words)))
        yield Hint("subgroup", column.name, ", ".join(sorted(words)))
