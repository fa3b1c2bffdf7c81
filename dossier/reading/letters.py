"""Words that would be printed with letters that cannot be: those that the fonts that ship do not have.

A machine with other fonts would borrow the letter there and print another dossier; a machine without prints a box.
Characters that steer (controls, changes of the direction of writing) would change what stands around them.
"""

from __future__ import annotations

import functools
import html
import itertools
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dossier.core import errors, material, types
from dossier.core.facts import Fact
from dossier.core.faults import locations
from dossier.record import results

UNPRINTED = ("missing", "columns")
"""The keys of [[dataset]] whose words are met in tables and stand on no page."""
BLANKS = frozenset("\t\n\r")
"""What a text may hold that runs over lines; a name, which stands in figures too, is one line."""
A_TEXT, NAME, NAME_OF_FILE, NAME_OF_FILE_READ = map(Fact, ("a_text", "the_name", "name_of_a_file", "name_of_the_file"))
NAMES = (
    *("model", "version", "tested_version", "owner", "tester", "name", "site"),
    *("rival_name", "horizon", "classes", "title", "organisation", "running_head", "running_foot"),
)
"""The keys of release.toml that hold names."""


@functools.lru_cache(maxsize=4096)
def strange(text: str, *, name: bool = False) -> tuple[str, ...]:
    """The characters of a text or of a name that cannot be printed, each once, in their order."""
    # A text of Markdown may write a letter by its number.
    allowed, written = (frozenset[str](), text) if name else (BLANKS, text + html.unescape(text))
    letters = dict.fromkeys(unicodedata.normalize("NFC", written))
    return tuple(letter for letter in letters if letter not in allowed and not _prints(letter))


@functools.cache
def _prints(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf") and ord(character) in _letters()


@functools.cache
def _letters() -> frozenset[int]:
    """The characters that every font that ships has."""
    from fontTools.ttLib import TTFont

    known = []
    for path in sorted((material.styles() / "fonts").glob("*.ttf")):
        with TTFont(path, lazy=True) as font:
            known.append(frozenset(font.getBestCmap()))
    return frozenset.intersection(*known)


def fault(what: Fact | str, text: str, at: locations.Location, *, name: bool = False) -> Iterator[errors.Fault]:
    """The fault of a text or of a name, if there is one; `what` is the key that holds it, or says what it is."""
    if found := strange(text, name=name):
        yield errors.Fault("strange_letters", at, what=what, letters=tuple(_shown(letter) for letter in found))


def _shown(character: str) -> str:
    code = f"U+{ord(character):04X}"
    return code if unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Cn") else f"{character} ({code})"


def words(
    value: Any, location: tuple[str | int, ...] = (), keys: bool = False
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text of a release that may be printed, with its place; with `keys` each key too, with its table's."""
    if isinstance(value, str):
        yield location, value
    elif isinstance(value, Mapping):
        yield from ((location, key) for key in value if keys)
        for key, inner in value.items():
            if key not in UNPRINTED or location[:1] != ("dataset",):
                yield from words(inner, (*location, key), keys)
    elif isinstance(value, (tuple, list)):
        for index, inner in enumerate(value):
            yield from words(inner, (*location, index), keys)


def is_name(location: tuple[str | int, ...]) -> bool:
    """Whether what stands at a place of release.toml is a name."""
    return next(key for key in reversed(location) if isinstance(key, str)) in NAMES


def of_tables(study: types.Study) -> list[errors.Fault]:
    """The faults of names and categories that come from tables, and of statements and chapters that come from files."""
    named: dict[tuple[str, locations.Location], None] = {}
    said = {(statement, locations.Key("statements", item)): None for item, statement in study.statements.items()}
    said |= {(text, locations.Key("report", key)): None for key, text in study.release.report.markdown}
    for dataset in study.datasets:
        named[dataset.site, locations.SiteName(dataset.name)] = None
        for predictor in dataset.predictors:
            named |= dict.fromkeys(
                _each((predictor.name, *(predictor.levels or ())), locations.Cell(dataset.name, predictor.name))
            )
        for group in dataset.subgroups:
            named |= dict.fromkeys(_each((group.column, group.label), locations.Cell(dataset.name, group.column)))
    if study.reader_study is not None:
        named |= dict.fromkeys(_each(study.reader_study.group, locations.Cell("[reader_study]", "group")))
    return [
        *(found for text, at in said for found in fault(A_TEXT, text, at)),
        *(found for text, at in named for found in fault(A_TEXT, text, at, name=True)),
    ]


def of_results(found: results.Results, name: str) -> list[errors.Fault]:
    """The faults of the words in a results.json that somebody else may have written; `name` is what faults call it."""
    raw = found.model_dump(mode="json", by_alias=True)
    # Of all texts at once: next to no file has a strange letter, and where each text stands takes longer to know.
    texts, parts = set[str](), list[Any]([raw])
    for part in parts:
        inner = (*part, *part.values()) if isinstance(part, dict) else part if isinstance(part, list) else ()
        parts.extend(each for each in inner if isinstance(each, (dict, list)))
        texts.update(each for each in inner if isinstance(each, str))
    if not strange("\n".join(texts)):
        return []
    of_words = (
        wrong
        for location, text in words(raw, keys=True)
        if strange(text)
        for wrong in fault(A_TEXT, text, locations.ResultsKey(name, results.place(location)))
    )
    return list(itertools.islice(of_words, results.MOST_FAULTS))


def _each(texts: Iterable[str], at: locations.Location) -> Iterator[tuple[str, locations.Location]]:
    return ((text, at) for text in texts)
