"""Which columns are predictors, and their values as numbers or as codes of categories that every dataset shares."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dossier.core.errors import Fault
from dossier.core.facts import Fact, Value
from dossier.core.faults.locations import Cell, Key, listed_table
from dossier.core.release import PREVIOUS, DatasetDeclaration, Release, Rival
from dossier.core.types import Feature, Floats
from dossier.reading import notations
from dossier.reading.columns import LARGEST, Series, Settled, for_decimal_commas, is_written_with_commas, parsed, words
from dossier.reading.faults import LONGEST, by_row, no_column

MOST_PREDICTORS = 1000
"""Each is a row of tables, and is compared between all sites; a model of genes has some dozens."""
INDEX = re.compile(r"__index_level_\d+__|Unnamed: \d+|\.\.\.\d+")
"""What pandas and R call a column without a name."""
NAMES_OF_ROWS = frozenset(("X", "index", "rownames", "row.names"))
"""What they call the numbers of rows, and a person something else."""
WORDS = re.compile(r"[^\W_]+")
"""The words of a name, between the signs."""
ENOUGH_ROWS = 10
"""In so many rows texts of which more than half are different are names, identifiers or days, and no categories."""


@dataclass(frozen=True)
class Input:
    """A table before its rows are split or left out, with what the release declares about it."""

    declaration: DatasetDeclaration
    table: Settled
    where: Key

    def name_of(self, site: str | None) -> str:
        """The name of the dataset of the rows with this word for their site."""
        name = self.declaration.name
        return name if self.declaration.site_column is None else f"{name}-{slug(site or '')}"


@dataclass(frozen=True)
class Renamed:
    """A predictor of the development table that a table lacks, and the columns of that table that may be it."""

    name: str
    columns: tuple[str, ...]


def slug(text: str) -> str:
    """A text as part of a name: small letters and digits, dashes between them."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


KEYS_OF_COLUMNS = ("split", "id", "site_column", "cluster", "weights", "strata", "imputation", "date")
"""The keys of a [[dataset]] that name a column with a role of its own."""


class ColumnRole(NamedTuple):
    """What a column is that has a role of its own, and the key of release.toml that says so."""

    key: str
    role: str


def roles_of_columns(release: Release) -> dict[str, ColumnRole]:
    """The columns that have a role of their own, so that they are no predictors."""
    named: dict[str | None, ColumnRole] = {
        release.outcome.column: ColumnRole("[outcome] column", "outcome"),
        release.prediction.column: ColumnRole("[prediction] column", "risk"),
        **dict.fromkeys(release.prediction.columns or (), ColumnRole("[prediction] columns", "risk")),
        release.outcome.time: ColumnRole("[outcome] time", "follow-up"),
        **{each.risk: ColumnRole("[[horizon]] risk", "risk") for each in release.horizon[1:]},
        **{each.rival: ColumnRole("[[horizon]] rival", "rival's risk") for each in release.horizon[1:]},
        **{
            name: ColumnRole(key_of_rival(release, rival), "rival's risk")
            for rival in release.beside
            for name in rival.named
        },
    }
    for key, name in case_columns(release).items():
        named.setdefault(name, ColumnRole(CASE_KEYS[key], key))
    for dataset in release.dataset:
        for key in KEYS_OF_COLUMNS:
            named.setdefault(getattr(dataset, key), ColumnRole(f"[[dataset]] {key}", key))
    return {name: role for name, role in named.items() if name is not None}


def key_of_rival(release: Release, rival: Rival) -> str:
    """The key that names the columns of another model's risks."""
    several = rival.columns is not None
    if rival.name == PREVIOUS:
        return "[release] previous_tables" if release.prediction.previous is None else "[prediction] previous"
    if rival in release.rival:
        return f"[[rival]] {'columns' if several else 'column'}"
    return f"[prediction] {'rivals' if several else 'rival'}"


def rivals_declared(release: Release) -> Iterator[tuple[Rival, Key]]:
    """Every other model with the key of release.toml that names the columns of its risks."""
    short = len(release.rivals) - len(release.rival)
    for index, rival in enumerate(release.beside):
        several = rival.columns is not None
        if index == len(release.rivals):
            is_column = release.prediction.previous is not None
            yield rival, Key("prediction", "previous") if is_column else Key("release", "previous_tables")
        elif index < short:
            yield rival, Key("prediction", "rivals" if several else "rival")
        else:
            yield rival, listed_table("rival", index - short + 1).of("columns" if several else "column")


CASE_KEYS = {name: f"[utility] {name}" for name in ("relevance", "cost", "benefit")}
CASE_KEYS["complexity"] = "[h_accuracy] complexity"
"""The keys of release.toml that may name a column with a number for each case."""


def case_columns(release: Release) -> dict[str, str]:
    """The columns that hold a number for each case, by the keys that name them."""
    declared = release.utility
    given = {} if declared is None else {key: getattr(declared, key) for key in ("relevance", "cost", "benefit")}
    given["complexity"] = release.h_accuracy.complexity
    return {key: name for key, name in given.items() if isinstance(name, str)}


def chosen(release: Release, sources: Sequence[Input], faults: list[Fault]) -> list[tuple[str, ...]]:
    """The names of the predictors of each table."""
    taken = roles_of_columns(release)
    development = next((source for source in sources if source.declaration.role == "development"), None)
    offered = _offered(development, taken, _selecting(release))
    if development is not None and len(offered) > MOST_PREDICTORS:
        at = development.where.of("predictors")
        faults.append(Fault("many_predictors", at, number=len(offered), most=MOST_PREDICTORS))
        return [() for _ in sources]
    names = [
        _declared(source, taken, faults)
        if source.declaration.predictors is not None
        else tuple(name for name in source.table.columns if name in offered)
        for source in sources
    ]
    if development is None or development.declaration.predictors is not None:
        return names
    position = next(k for k, source in enumerate(sources) if source is development)
    used = {name for k, others in enumerate(names) if k != position for name in others}
    names[position] = tuple(name for name in names[position] if name in used)
    return names


def renamed(release: Release, sources: Sequence[Input]) -> list[tuple[Renamed, ...]]:
    """The predictors that a table lacks and that may stand there under another name, of each table."""
    taken = roles_of_columns(release)
    development = next((source for source in sources if source.declaration.role == "development"), None)
    offered = sorted(_offered(development, taken, _selecting(release)))
    if len(offered) > MOST_PREDICTORS:
        return [() for _ in sources]
    known = frozenset(taken) if development is None else frozenset((*taken, *development.table.columns))
    return [
        ()
        if source is development or source.declaration.predictors is not None
        else tuple(_renamed(offered, list(source.table.columns), known))
        for source in sources
    ]


def _renamed(offered: Sequence[str], names: Sequence[str], known: frozenset[str]) -> Iterator[Renamed]:
    strange = [name for name in names if name not in known]
    for name in offered:
        if alike := tuple(other for other in strange if name not in names and _may_be_one(name, other)):
            yield Renamed(name, alike)


def _may_be_one(name: str, other: str) -> bool:
    """Whether two names differ in capitals and signs only, or one of them is the other with a unit or a note behind."""
    plain, longer = sorted((WORDS.findall(text.casefold()) for text in (name, other)), key=len)
    return bool(plain) and ("".join(plain) == "".join(longer) or plain == longer[: len(plain)])


def _offered(development: Input | None, taken: Mapping[str, ColumnRole], selecting: frozenset[str]) -> frozenset[str]:
    if development is None:
        return frozenset()
    names = development.declaration.predictors
    if names is None:
        names = tuple(
            name for name in development.table.columns if name not in selecting and not _numbers_rows(name, development)
        )
    return frozenset(name for name in names if name not in taken)


def _numbers_rows(name: str, source: Input) -> bool:
    """Whether a column is the index of a program, which nobody measured: by its name, and where need be its values."""
    if INDEX.fullmatch(name):
        return True
    column = source.table.columns.get(name)
    return name in NAMES_OF_ROWS and column is not None and bool((np.diff(column.numbers) == 1).all())


def _selecting(release: Release) -> frozenset[str]:
    """The columns that say which rows are meant: predictors only where they are called so."""
    return frozenset(name for dataset in release.dataset for name in dataset.rows)


def _declared(source: Input, taken: Mapping[str, ColumnRole], faults: list[Fault]) -> tuple[str, ...]:
    kept = []
    for name in dict.fromkeys(source.declaration.predictors or ()):
        if name in taken:
            at = source.where.of("predictors")
            faults.append(Fault("predictor_of_other_role", at, name=name, key=taken[name].key))
        elif name not in source.table.columns:
            known = [column for column in source.table.columns if column not in taken]
            faults.append(no_column(name, source.table.file, known, "[[dataset]] predictors"))
        else:
            kept.append(name)
    return tuple(kept)


def features(
    sources: Sequence[Input], names: Sequence[tuple[str, ...]], faults: list[Fault]
) -> list[tuple[Feature, ...]]:
    """The predictors of each table over all its rows, categories with the same codes in every table."""
    faults += [
        no_column(name, source.table.file, list(source.table.columns), "[[dataset]] categorical")
        for source in sources
        for name in source.declaration.categorical
        if name not in source.table.columns
    ]
    made: dict[str, dict[int, Feature]] = {}
    for name in dict.fromkeys(name for some in names for name in some):
        holders = {k: source for k, source in enumerate(sources) if name in names[k]}
        made[name] = _feature(name, holders, sources, faults)
    return [tuple(made[name][k] for name in some if k in made[name]) for k, some in enumerate(names)]


def _feature(name: str, holders: dict[int, Input], sources: Sequence[Input], faults: list[Fault]) -> dict[int, Feature]:
    columns = {k: source.table.columns[name] for k, source in holders.items()}
    if any(name in source.declaration.categorical for source in sources):
        return _categories(name, columns, holders, faults, declared=True)
    mixed = [k for k, column in columns.items() if column.kind == "mixed"]
    for k in mixed:
        faults += _mixed(name, columns[k], holders[k])
    if mixed:
        return {}
    kinds = {k: column.kind for k, column in columns.items() if column.kind != "empty"}
    numeric = [holders[k].table.file for k, kind in kinds.items() if kind == "numbers"]
    textual = [holders[k].table.file for k, kind in kinds.items() if kind != "numbers"]
    if numeric and textual:
        at = Cell(numeric[0], name, other=textual[0])
        faults.append(Fault("numbers_and_categories", at, name=name, file=numeric[0], other=textual[0]))
        return {}
    if textual:
        return _categories(name, columns, holders, faults, declared=False)
    for k, column in columns.items():
        faults += _too_large(name, column, holders[k])
    return {k: Feature(name, column.numbers) for k, column in columns.items()}


def _mixed(name: str, column: Series, source: Input) -> list[Fault]:
    wrong = np.flatnonzero(~column.missing & np.isnan(column.numbers))
    texts = [str(column.cells[int(k)].as_py()) for k in wrong[:20]]
    rows = source.table.rows[wrong]
    mend = notations.fix(texts) if any(map(notations.is_number, texts)) else Fact("declare_missing", name=name)
    file = source.table.file
    return by_row("text_among_numbers", file, column.name, rows, lambda k: {"value": texts[k]}, name=name, mend=mend)


def _too_large(name: str, column: Series, source: Input) -> list[Fault]:
    """The faults of numbers that no measurement gives."""
    beyond = np.abs(column.numbers) > LARGEST
    values, rows = column.numbers[beyond], source.table.rows[beyond]

    def case(k: int) -> dict[str, Value]:
        large = float(f"{values[k]:g}")
        return {"given": Fact("infinite") if np.isinf(values[k]) else Fact("no_measurement", value=large)}

    return by_row("large_number", source.table.file, column.name, rows, case, name=name)


def _categories(
    name: str, columns: dict[int, Series], holders: dict[int, Input], faults: list[Fault], declared: bool
) -> dict[int, Feature]:
    texts = {k: words(column) for k, column in columns.items()}
    for k, cells in texts.items():
        faults += [] if declared else _too_many(name, cells, holders[k])
        faults += too_long(name, cells, holders[k])
    levels, codes = numbered(texts)
    return {k: Feature(name, code, levels) for k, code in codes.items()}


def numbered(texts: Mapping[Any, Sequence[str | None]]) -> tuple[tuple[str, ...], dict[Any, Floats]]:
    """The different texts of some columns, and the number of each cell's among them; NaN where it is missing."""
    levels = by_size({text for cells in texts.values() for text in cells if text is not None})
    code: dict[str | None, float] = {None: np.nan, **{level: float(k) for k, level in enumerate(levels)}}
    return levels, {k: np.array([code[text] for text in cells], dtype=np.float64) for k, cells in texts.items()}


def _too_many(name: str, cells: Sequence[str | None], source: Input) -> list[Fault]:
    """The fault of texts that are nearly all different: each of them may be a patient."""
    table, present = source.table, [text for text in cells if text is not None]
    different = set(present)
    if len(present) < ENOUGH_ROWS or len(different) <= len(present) / 2:
        return []
    mend = Fact("not_a_category", name=name)
    if notations.are_numbers(different):
        mend = Fact("numbers_or_category", digits=notations.fix(different), name=name)
        mend = for_decimal_commas(table) if is_written_with_commas(table) else mend
    at = Cell(table.file, table.columns[name].name)
    return [Fault("many_texts", at, name=name, number=len(different), rows=len(present), mend=mend)]


def too_long(name: str, cells: Sequence[str | None], source: Input) -> list[Fault]:
    """The faults of texts that are prose and no category."""
    places = [k for k, text in enumerate(cells) if text is not None and len(text) > LONGEST]
    rows = source.table.rows[places]
    file, column = source.table.file, source.table.columns[name].name
    return by_row("long_category", file, column, rows, lambda k: {"length": len(cells[places[k]] or "")}, name=name)


def by_size(levels: set[str]) -> tuple[str, ...]:
    """Numbers by size, inside of texts too: (9, 40] before (40, 60]; everything else by the alphabet."""
    values = {level: parsed(level) for level in levels}
    if all(value is not None for value in values.values()):
        return tuple(sorted(levels, key=lambda level: (values[level] or 0.0, level)))
    return tuple(sorted(levels, key=lambda level: (_parts(level), level)))


def _parts(text: str) -> list[tuple[str, float]]:
    """What stands before each number of a text, with the number; a minus is one only where a bracket opens."""
    found = re.findall(r"(.*?)((?:(?<=[(\[])-)?\d+(?:\.\d+)?|$)", text, re.DOTALL)
    return [(before, float(digits or 0)) for before, digits in found]
