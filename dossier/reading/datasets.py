"""Tables and what the release declares about them -> datasets: one a table, or one a site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute as compute
from numpy.typing import NDArray

from dossier.core import bands, equation, types, values
from dossier.core.errors import DataError, Fault
from dossier.core.facts import Count, Fact, Value
from dossier.core.faults.locations import Cell, File, Key, listed_table
from dossier.core.release import PREVIOUS, DatasetDeclaration, Horizon, Release, earlier_column
from dossier.reading import columns, horizons, notations, predictors, signatures, signs, subgroups
from dossier.reading.columns import Bools, Series, Settled, coded, column, spelled, words
from dossier.reading.dialects import Dialect
from dossier.reading.faults import LONGEST, by_row, nearest, no_column, noted
from dossier.reading.files import Folder
from dossier.reading.tables import Place, RawTable
from dossier.words import wording

MOST_SITES = 1000
"""Each is evaluated, and stands in every table of sites; a nation has as many hospitals."""
MOST = {"relevance": 1.0, "complexity": 1.0}
"""The largest number that a column of cases may hold; the others have no largest."""


@dataclass(frozen=True)
class Unknown:
    """A name that may stand for missing: its column, what it is counted as, and the rows that have it."""

    column: str
    name: str
    counted_as: str
    rows: Bools


@dataclass(frozen=True)
class Cohort:
    """A dataset with what is needed only while reading: all its rows' identifiers, and which rows are analysed."""

    dataset: types.Dataset
    declaration: DatasetDeclaration
    """The [[dataset]] that it is of; one with a site_column declares several."""
    analysed: Bools
    identifiers: tuple[str, ...] | None
    rival_missing: Mapping[str, int]
    """How many of the analysed rows have no risk of each other model."""
    weightless: bool = False
    """Whether no analysed row has a sampling weight above 0."""
    grouping: tuple[types.Feature, ...] = ()
    """The columns of subgroups that are no predictors and whose levels are not named, in the analysed rows."""
    categorical: frozenset[str] = frozenset()
    """The predictors that the release calls categories."""
    unknown: tuple[Unknown, ...] = ()
    """The names of the site and of its clusters that may stand for missing, with the analysed rows that have them."""
    renamed: tuple[predictors.Renamed, ...] = ()
    """The predictors that the table lacks and that may stand there under another name."""


@dataclass(frozen=True)
class Part:
    """The rows of one site of a table, or of one imputation of them, before any is left out."""

    name: str
    site: str
    rows: NDArray[np.int64]
    """Which rows of the table they are, in ascending order."""
    identifiers: tuple[str, ...] | None
    others: Mapping[str | None, int]
    """How many rows of the site `rows` of its [[dataset]] leaves out, by the word for their imputation."""


@dataclass(frozen=True)
class Held:
    """What is known of a table, over all its rows."""

    source: predictors.Input
    outcome: types.Floats | None
    """0 and 1, or with several classes their numbers from 0."""
    followed: types.FollowUp | None
    """What is known of an outcome by a horizon."""
    later: tuple[types.RiskBy, ...]
    """The risks by each further horizon; None where the table has none."""
    risk: types.Floats | None
    """One number a row, or with several classes one a row and class."""
    rivals: Mapping[str, types.Floats | None]
    """The same of each other model; None where the table has none."""
    cases: Mapping[str, types.Floats]
    """What [utility] and [h_accuracy] name, by their keys: relevance, cost, benefit, complexity."""
    split: NDArray[np.int64] | None
    cluster: NDArray[np.int64] | None
    weights: types.Floats | None
    strata: NDArray[np.int64] | None
    periods: types.Periods | None
    imputation: NDArray[np.int64] | None
    unknown: tuple[Unknown, ...]
    """The names of sites and of clusters that may stand for missing."""
    features: tuple[types.Feature, ...]
    labels: tuple[str, ...]
    groups: tuple[subgroups.Labelled, ...]
    severity: tuple[types.Subset, ...]
    """The subgroups that have severity weights of their own."""
    grouping: tuple[types.Feature, ...]
    categorical: frozenset[str]
    renamed: tuple[predictors.Renamed, ...]
    minimum_cell: int


def sites(release: Release, folder: Folder, faults: list[Fault]) -> tuple[list[Cohort], tuple[types.SettledTable, ...]]:
    """Every dataset of the release, in its order, the sites of one table by name; and what its tables hold."""
    sources = [each for k in range(len(release.dataset)) if (each := noted(faults, opened, release, k, folder, faults))]
    names = predictors.chosen(release, sources, faults)
    features = predictors.features(sources, names, faults)
    tables = release.release.previous_tables
    linked = {name for rival in release.beside for name in rival.named if rival.name == PREVIOUS}
    if tables is not None and not faults and not any(linked & set(source.table.columns) for source in sources):
        faults.append(Fault("no_file", Key("release", "previous_tables"), file=tables, near=None))
    for rival in release.rivals if tables else release.beside:
        for name in rival.named:
            faults += _somewhere(name, predictors.key_of_rival(release, rival), sources)
    for horizon in release.horizon[1:]:
        for key, named in (("risk", horizon.risk), ("rival", horizon.rival)):
            faults += _somewhere(named, f"[[horizon]] {key}", sources) if named else ()
    for key, name in predictors.case_columns(release).items():
        faults += _somewhere(name, predictors.CASE_KEYS[key], sources)
    faults += _printed(release, sources)
    labels = release.outcome.classes or ()
    found: list[Cohort] = []
    categorical = frozenset(name for source in sources for name in source.declaration.categorical)
    grouped = subgroups.labelled(release, sources, faults)
    unnamed = subgroups.unnamed(release, sources, names)
    renamed = predictors.renamed(release, sources)
    own = () if release.severity is None else release.severity.subgroup
    common: dict[str, Any] = {
        "labels": labels,
        "severity": tuple(types.Subset(subgroup.column, subgroup.level) for subgroup in own),
        "categorical": categorical,
        "minimum_cell": minimum_cell(release),
    }
    for source, some, groups, grouping, other in zip(sources, features, grouped, unnamed, renamed, strict=True):
        about: dict[str, Any] = {"features": some, "groups": groups, "grouping": grouping, "renamed": other, **common}
        held = Held(source, **_measured(release, source, some, faults), **_design(source, faults), **about)
        for part in _parts(held, faults):
            found += [_site(held, part)] if held.imputation is None else _imputed(held, part, held.imputation, faults)
    faults += columns.other_outcomes(release.outcome, [source.table for source in sources])
    if len(found) > MOST_SITES:
        faults.append(Fault("many_sites", listed_table("dataset"), number=len(found), most=MOST_SITES))
    _distinct(release, found, faults)
    faults += _shared_rows(release, sources)
    datasets = [site.dataset.name for site in found]
    return found, tuple(
        _settled_table(release, source, some, datasets) for source, some in zip(sources, names, strict=True)
    )


def _distinct(release: Release, found: Sequence[Cohort], faults: list[Fault]) -> None:
    names = Counter(site.dataset.name for site in found)
    refused = {fault["name"] for fault in faults if fault.code == "two_datasets"}
    twice = sorted(name for name, count in names.items() if count > 1 and name not in refused)
    faults += [Fault("two_sites", listed_table("dataset"), name=name) for name in twice]
    # A dataset that the release itself names so has been refused before any table was read.
    declared = {claim.name for claim in release.declared_performance} - {dataset.name for dataset in release.dataset}
    at = listed_table("declared_performance")
    faults += [Fault("performance_of_site", at, name=name) for name in sorted(declared & set(names))]


def opened(release: Release, number: int, folder: Folder, faults: list[Fault]) -> predictors.Input:
    declaration = release.dataset[number]
    where = listed_table("dataset", number + 1, declaration.name)
    raw = _selected(_raw(declaration, where, folder, faults), declaration, where, faults)
    table = columns.settled(_as_coded(raw, declaration, release), declaration, where, faults)
    return predictors.Input(declaration, _with_earlier_risks(table, declaration, release, folder, faults), where)


def _with_earlier_risks(
    table: Settled, declaration: DatasetDeclaration, release: Release, folder: Folder, faults: list[Fault]
) -> Settled:
    """The table with the risks that the tables of the previous release hold for the same rows, linked by their id.

    Missing where that table has no such row, has it twice, or knows another outcome of it; nothing of the link is kept.
    """
    tables, where = release.release.previous_tables, Key("release", "previous_tables")
    if tables is None or declaration.role == "development":
        return table
    before = declaration.model_copy(update={"file": f"{tables}/{declaration.file}", "outside": True})
    if not (folder.path / before.file).exists():
        return table
    if declaration.id is None:
        faults.append(Fault("previous_tables_without_id", where, dataset=declaration.name))
        return table
    raw = noted(faults, _raw, before, where, folder, faults)
    if raw is None:
        return table
    then = columns.settled(_as_coded(raw, declaration, release), before, where, faults)
    linked = [name for name in (declaration.site_column, declaration.id, release.outcome.column) if name is not None]
    names = release.prediction.columns or (release.prediction.column or "",)
    known = len(faults)
    found = [[noted(faults, columns.named, each, name, str(where)) for name in linked] for each in (then, table)]
    risks = [noted(faults, columns.risk, then, name, "column", release.prediction.scale) for name in names]
    if len(faults) > known:
        return table
    keys, own = (
        list(zip(*(columns.words(column) for column in each if column is not None), strict=True)) for each in found
    )
    times = Counter(key[:-1] for key in keys)
    row = {key: k for k, key in enumerate(keys) if times[key[:-1]] == 1}
    rows = np.array([row.get(key, len(keys)) for key in own], dtype=np.int64)
    named = {
        earlier_column(name): columns.column(
            earlier_column(name), pyarrow.array(np.append(risk, np.nan)[rows], from_pandas=True)
        )
        for name, risk in zip(names, risks, strict=True)
        if risk is not None
    }
    return replace(table, columns={**table.columns, **named})


def _raw(declaration: DatasetDeclaration, where: Key, folder: Folder, faults: list[Fault]) -> RawTable:
    """The table of a declaration as it was found: of a file, or of all files of a folder."""
    file, at, kind = declaration.file, where.of("file"), signatures.kind(declaration.file)
    if not folder.is_folder(file):
        # The faults of keys that say how another kind of table is written.
        wrong = {} if kind in signatures.TEXTS else dict.fromkeys(("encoding", "separator", "decimal"), "csv_or_tsv")
        wrong |= {} if kind == ".xlsx" else {"sheet": "workbook"}
        faults += [
            Fault("key_of_other_kind", where.of(key), key=key, file=file, kind=Fact(wants))
            for key, wants in wrong.items()
            if kind is not None and getattr(declaration, key) is not None
        ]
    dialect = Dialect(declaration.encoding, declaration.separator, declaration.decimal, declaration.sheet, where)
    return folder.table(file, at, declaration.outside, faults, dialect)


def _as_coded(raw: RawTable, declaration: DatasetDeclaration, release: Release) -> RawTable:
    """The table with the codes behind labels that nobody asks for.

    Of an outcome they are what 0, 1 or `positive` mean; of another column of numbers, what the words stand for.
    """
    outcome, cases = release.outcome, predictors.case_columns(release).values()
    numbers = (declaration.split, declaration.imputation, declaration.weights, *cases)
    in_file = {declaration.columns.get(name, name) for name in numbers if name is not None}
    codes = {name: columns.numbers_or_codes(raw, name) for name in in_file & set(raw.codes)}
    if outcome.classes is None and not isinstance(outcome.positive, str):
        name = declaration.columns.get(outcome.column, outcome.column)
        codes |= {name: raw.codes[name]} if name in raw.codes else {}
    return replace(raw, columns={**raw.columns, **codes}) if codes else raw


def _somewhere(name: str, key: str, sources: Sequence[predictors.Input]) -> list[Fault]:
    """The fault of a column that none of the tested tables has."""
    tested = [source.table for source in sources if source.declaration.role != "development"]
    if not tested or any(name in table.columns for table in tested):
        return []
    faults: list[Fault] = []
    noted(faults, columns.named, tested[0], name, key)
    return faults


def _printed(release: Release, sources: Sequence[predictors.Input]) -> list[Fault]:
    """The faults of labels for columns that no table has."""
    if len(sources) < len(release.dataset):
        return []  # the column may stand in a table that could not be read
    held = {name for source in sources for name in source.table.columns}
    return [
        Fault("label_of_no_column", listed_table("predictor", k).of("name"), column=predictor.name)
        for k, predictor in enumerate(release.predictor, start=1)
        if predictor.name not in held
    ]


def _measured(
    release: Release, source: predictors.Input, features: Sequence[types.Feature], faults: list[Fault]
) -> dict[str, Any]:
    """The outcome, the risk, those of other models, and the columns of cases."""
    table, prediction = source.table, release.prediction
    development = source.declaration.role == "development"
    if release.outcome.classes is not None:
        outcome, risk, rivals = _of_classes(table, release, development, faults)
        cases = {} if development else _of_cases(release, table, faults)
        return {"outcome": outcome, "followed": None, "later": (), "risk": risk, "rivals": rivals, "cases": cases}
    if prediction.columns is not None:
        # Without its classes the outcome cannot be read, and the release's own faults say so.
        return {"outcome": None, "followed": None, "later": (), "risk": None, "rivals": {}, "cases": {}}
    followed = None
    if development and release.outcome.column not in table.columns:
        outcome = None
    elif release.outcome.time is not None:
        followed = horizons.follow_up(table, release, faults)
        outcome = None if followed is None else followed.cases
    else:
        outcome = noted(faults, columns.outcome, table, release.outcome)
    risk = (
        None
        if prediction.column is None or (development and prediction.column not in table.columns)
        else noted(faults, columns.risk, table, prediction.column, "column", prediction.scale)
    )
    if prediction.from_ == "model" and release.model is not None:
        made = equation.risk(release.model, features)
        risk = None if isinstance(made, types.Absent) else made
        if risk is None and not development:
            needed = tuple(sorted(set(release.model.predictors) - {feature.name for feature in features}))
            faults.append(Fault("predictors_of_equation_missing", source.where, predictors=needed))
    rivals = {
        rival.name: noted(faults, columns.risk, table, rival.column, "rival") if rival.column in table.columns else None
        for rival in release.beside
        if rival.column is not None
    }
    later = tuple(_risks_by(at, release, table, features, faults) for at in release.horizon[1:])
    cases = {} if development else _of_cases(release, table, faults)
    return {"outcome": outcome, "followed": followed, "later": later, "risk": risk, "rivals": rivals, "cases": cases}


def _risks_by(
    horizon: Horizon, release: Release, table: Settled, features: Sequence[types.Feature], faults: list[Fault]
) -> types.RiskBy:
    """The risks by a further horizon, of columns or of the formula; None where the table has not what they need."""
    own, other = (name if name in table.columns else None for name in (horizon.risk, horizon.rival))
    model = None if release.model is None or horizon.risk is not None else release.model.by(horizon)
    made = None if model is None else equation.risk(model, features)
    made = made if own is None else noted(faults, columns.risk, table, own, "column", release.prediction.scale)
    rival = None if other is None else noted(faults, columns.risk, table, other, "rival")
    return types.RiskBy(horizon.at, None if isinstance(made, types.Absent) else made, rival)


def _of_cases(release: Release, table: Settled, faults: list[Fault]) -> dict[str, types.Floats]:
    """The columns with a number for each case that the table has; costs and benefits only together."""
    names = predictors.case_columns(release)
    found = {}
    for key, name in names.items():
        if name in table.columns:
            values = noted(faults, columns.amounts, table, name, predictors.CASE_KEYS[key], MOST.get(key))
            if values is not None:
                found[key] = values
    if "cost" in found and "benefit" in found:
        idle = table.rows[(found["cost"] == 0) & (found["benefit"] == 0)]
        faults += by_row("cost_and_benefit_zero", table.file, names["cost"], idle)
    return found


# ---- one table, its sites -------------------------------------------------------------------------------------------


def _design(source: predictors.Input, faults: list[Fault]) -> dict[str, Any]:
    """How the rows of a table belong together: what the keys of its [[dataset]] name, without those it does not."""
    declared, table = source.declaration, source.table
    read: Mapping[str, Callable[[str], Any]] = {
        "split": lambda name: columns.numbered(table, name, "split"),
        "cluster": lambda name: columns.grouped(table, name, "cluster"),
        "weights": lambda name: columns.weights(table, name),
        "strata": lambda name: columns.grouped(table, name, "strata"),
        "date": lambda name: columns.periods(table, name, declared.periods, declared.dates),
        "imputation": lambda name: columns.numbered(table, name, "imputation"),
    }
    names = {key: getattr(declared, key) for key in read}
    found = {key: None if names[key] is None else noted(faults, read[key], names[key]) for key in read}
    found["periods"] = found.pop("date")
    found["unknown"] = tuple(
        unknown
        for name, counted_as in ((declared.site_column, "a site"), (declared.cluster, "one cluster"))
        if name is not None and name in table.columns
        for unknown in _names_for_missing(table.columns[name], name, counted_as)
    )
    return found


def _parts(held: Held, faults: list[Fault]) -> list[Part]:
    source, declared, cluster = held.source, held.source.declaration, held.cluster
    within = held.split if held.imputation is None else held.imputation
    parts = _sites(source, faults)
    if declared.imputation is not None and held.imputation is None:
        return []
    if declared.strata is not None and held.strata is not None and (declared.cluster is None or cluster is not None):
        for _, _, rows in parts:
            faults += columns.unfit_strata(source.table, declared.strata, held.strata, cluster, rows)
    return [
        Part(name, site, rows, _identifiers(source, rows, within, faults), _others(source, name))
        for name, site, rows in parts
    ]


def _names_for_missing(column: Series, ours: str, counted_as: str) -> Iterator[Unknown]:
    """The names of a column that may stand for missing; a positive number or 0 may be the number of a place."""
    for code in notations.CODES:
        rows = column.numbers == code
        if code < 0 and rows.any():
            yield Unknown(ours, wording.number(code), counted_as, rows)
    if pyarrow.types.is_string(column.cells.type):
        plain = compute.utf8_lower(compute.utf8_trim_whitespace(column.cells))
        alike = column.cells.filter(compute.is_in(plain, pyarrow.array(sorted(notations.WORDS))))
        for word in compute.unique(alike).to_pylist():
            same = compute.equal(column.cells, word).fill_null(False)
            rows = ~column.missing & np.asarray(same.to_numpy(zero_copy_only=False), dtype=bool)
            if rows.any():
                yield Unknown(ours, f'"{word}"', counted_as, rows)


def _others(source: predictors.Input, name: str) -> dict[str | None, int]:
    """How many rows `rows` leaves out of a dataset, by the word for their imputation."""
    found: dict[str | None, int] = {}
    for (site, imputation), count in source.table.others.items():
        if source.name_of(site) == name:
            found[imputation] = found.get(imputation, 0) + count
    return found


def _identifiers(
    source: predictors.Input, rows: NDArray[np.int64], within: NDArray[np.int64] | None, faults: list[Fault]
) -> tuple[str, ...] | None:
    """The identifiers of a site; one may stand once in each split and in each imputation."""
    key = source.declaration.id
    if key is None:
        return None
    found = noted(faults, columns.identified, source.table, key, rows, _of(within, rows))
    return None if found is None else tuple(word for word in columns.words(found) if word is not None)


def _of(values: Any, rows: NDArray[np.int64]) -> Any:
    """The values of these rows, which are in order: the values themselves where these are all, for copies take time."""
    return values if values is None or len(rows) == len(values) else values[rows]


def _but_for_rounding(other: types.Floats | None, own: types.Floats | None) -> types.Floats | None:
    """The risks of another model; this one's where rounding alone tells them apart."""
    if other is None or own is None or other.shape != own.shape:
        return other
    return own if np.abs(other - own).max(initial=0.0) <= bands.SAME else other


def _sites(source: predictors.Input, faults: list[Fault]) -> list[tuple[str, str, NDArray[np.int64]]]:
    """The name, the label and the rows of each site of a table."""
    declaration, table = source.declaration, source.table
    key = declaration.site_column
    if key is None:
        return [(declaration.name, declaration.site or _title(declaration.name), np.arange(len(table.rows)))]
    found = noted(faults, columns.named, table, key, "[[dataset]] site_column")
    if found is None:
        return []
    faults += columns.in_column("no_site", table, found, found.missing)
    codes, spelled = columns.coded(found)
    if len(spelled) > MOST_SITES:
        at = Cell(table.file, found.name)
        faults.append(Fault("many_sites_of_column", at, column=found.name, number=len(spelled), most=MOST_SITES))
        return []
    ordered = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[ordered], np.arange(len(spelled) + 1))
    parts: dict[str, tuple[str, str, NDArray[np.int64]]] = {}
    for value in sorted(spelled):
        if len(value) > LONGEST:
            faults.append(Fault("long_site_name", Cell(table.file, found.name), length=len(value), name=value))
            continue
        name = source.name_of(value)
        if not predictors.slug(value) or name in parts:
            faults.append(Fault("site_without_name", Cell(table.file, found.name), site=value, name=name))
            continue
        # A bare number or letter says nothing in a table: "Knee 5" does.
        label = value if len(value) > 2 else _title(name)
        code = spelled.index(value)
        parts[name] = (name, label, ordered[ends[code] : ends[code + 1]])
    return [parts[name] for name in predictors.by_size(set(parts))]


def _title(name: str) -> str:
    return name.replace("-", " ").title()


def _imputed(held: Held, part: Part, imputation: NDArray[np.int64], faults: list[Fault]) -> list[Cohort]:
    """The first imputation of a site, with all others and with the rows that nothing was imputed to (number 0)."""
    at = Cell(held.source.table.file, held.source.declaration.imputation)
    of_row = imputation[part.rows]
    sizes = {int(k): int((of_row == k).sum()) for k in np.unique(of_row)}
    numbers = [k for k in sizes if k != 0]
    if len(numbers) < 2:
        faults.append(Fault("few_imputations", at, dataset=part.name, imputations=Count(len(numbers), "imputation")))
        return []
    if len(set(sizes.values())) > 1:
        most, least = max(sizes, key=lambda k: sizes[k]), min(sizes, key=lambda k: sizes[k])
        said: dict[str, Value] = {
            "most": most,
            "rows": Count(sizes[most], "row"),
            "least": least,
            "fewer": sizes[least],
        }
        faults.append(Fault("imputations_of_other_sizes", at, dataset=part.name, **said))
        return []
    each = {k: _imputation(part, of_row, k) for k in sizes}
    known = {k: set(own.identifiers or ()) for k, own in each.items()}
    first = min(sizes)
    if others := tuple(k for k in known if known[k] != known[first]):
        faults.append(Fault("imputations_of_other_rows", at, dataset=part.name, imputations=others, first=first))
        return []
    found = [_site(held, each[k]) for k in numbers]
    if any(site.dataset.excluded != found[0].dataset.excluded for site in found):
        faults.append(Fault("imputations_of_other_gaps", at, dataset=part.name))
        return []
    original = _site(held, each[0], without_risk=True).dataset if 0 in sizes else None
    datasets = tuple(site.dataset for site in found)
    return [replace(found[0], dataset=replace(datasets[0], imputations=datasets, original=original))]


def _imputation(part: Part, of_row: NDArray[np.int64], number: int) -> Part:
    """The rows of one imputation of a site."""
    here, names = np.flatnonzero(of_row == number), part.identifiers
    own = None if names is None else tuple(names[position] for position in here)
    return replace(part, rows=part.rows[here], identifiers=own, others={None: part.others.get(str(number), 0)})


def _whole(values: types.Floats | None, rows: Any) -> types.Floats | None:
    """The values of these rows; None where one of them is missing."""
    own = _of(values, rows)
    return None if own is None or _gaps(own).any() else own


def _site(held: Held, part: Part, without_risk: bool = False) -> Cohort:
    declaration, labels = held.source.declaration, held.labels
    outcome, risk = (_of(values, part.rows) for values in (held.outcome, held.risk))
    # The rows that have what there is to have, and the count of the others; a row that lacks both counts once.
    nothing = np.zeros(len(part.rows), dtype=bool)
    no_outcome = nothing if outcome is None else np.isnan(outcome)
    no_risk = nothing if without_risk or risk is None else _gaps(risk)
    analysed = ~(no_outcome | no_risk)
    excluded = {"outcome_missing": int(no_outcome.sum()), "risk_missing": int((no_risk & ~no_outcome).sum())}
    left_out = sum(part.others.values())
    keep = part.rows[analysed]
    cases = {key: _of(values, keep) for key, values in held.cases.items()}
    outcome, risk = (_of(values, keep) for values in (held.outcome, held.risk))
    of_rivals = {name: _of(_but_for_rounding(given, held.risk), keep) for name, given in held.rivals.items()}
    rival_missing = {name: 0 if given is None else int(_gaps(given).sum()) for name, given in of_rivals.items()}
    rivals = [
        types.RivalRisk(name, None if rival_missing[name] else given, rival_missing[name] > 0)
        for name, given in of_rivals.items()
    ]
    later = tuple(
        types.RiskBy(each.horizon, *(_whole(of, keep) for of in (each.risk, each.rival))) for each in held.later
    )
    first, *further = rivals or [types.RivalRisk(types.RIVAL, None)]
    weights, days = _of(held.weights, keep), held.periods
    # Where all count alike there is no weighting.
    unequal = None if weights is None or not len(weights) or not np.ptp(weights) else weights
    cluster = _shared(_of(held.cluster, keep))
    of_groups = subgroups.subgroups(held.groups, part.rows, analysed, part.name)
    dataset = types.Dataset(
        name=part.name,
        role=declaration.role,
        site=part.site,
        rows_read=len(analysed) + left_out,
        excluded={types.NOT_SELECTED: left_out, **excluded} if declaration.rows else excluded,
        outcome=None if labels else outcome,
        followed=_of(held.followed, keep),
        further_horizons=later,
        risk=None if labels else risk,
        rival=None if labels else first.risk,
        rival_is_incomplete=first.is_incomplete,
        further_rivals=tuple(further),
        split=_of(held.split, keep),
        predictors=_kept(held.features, keep),
        dates=declaration.dates,
        country=declaration.country,
        setting=declaration.setting,
        relevance=cases.get("relevance"),
        cost=cases.get("cost"),
        benefit=cases.get("benefit"),
        complexity=cases.get("complexity"),
        class_labels=labels,
        classes=outcome.astype(np.int64) if labels and outcome is not None else None,
        class_risk=risk if labels else None,
        class_rival=first.risk if labels else None,
        cluster=cluster,
        weights=unequal,
        # Rows that are independent and count alike need no design.
        strata=None if cluster is None and unequal is None else _of(held.strata, keep),
        periods=None if days is None else types.Periods(days.unit, _of(days.of_row, keep), _of(days.days, keep)),
        severity_group=_severity_group(of_groups, held.severity, len(keep)),
        subgroups=of_groups,
        minimum_cell=held.minimum_cell,
    )
    here = (replace(name, rows=_of(name.rows, keep)) for name in held.unknown)
    return Cohort(
        dataset=dataset,
        declaration=declaration,
        analysed=analysed,
        identifiers=part.identifiers,
        rival_missing=rival_missing,
        weightless=weights is not None and len(keep) > 0 and not weights.any(),
        grouping=_kept(held.grouping, keep),
        categorical=held.categorical,
        renamed=held.renamed,
        unknown=tuple(unknown for unknown in here if unknown.rows.any()),
    )


def _severity_group(
    groups: Sequence[types.Subgroup], weighed: Sequence[types.Subset], rows: int
) -> NDArray[np.int64] | None:
    """Which severity weights each row has; a row of none of the subgroups, or of no known one, has the main ones."""
    if not weighed or not groups:
        return None
    found = np.zeros(rows, dtype=np.int64)
    for group in groups:
        if group.subset in weighed and not isinstance(group.rows, types.Absent):
            found[group.rows] = 1 + weighed.index(group.subset)
    return found


def _kept(features: Sequence[types.Feature], keep: NDArray[np.int64]) -> tuple[types.Feature, ...]:
    """The columns of the rows that are analysed."""
    return tuple(types.Feature(feature.name, _of(feature.values, keep), feature.levels) for feature in features)


def _shared(cluster: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """The clusters of the rows; None where each has one: such rows are independent."""
    return None if cluster is None or len(np.unique(cluster)) == len(cluster) else cluster


def _gaps(risk: types.Floats) -> Bools:
    """The rows that lack a risk, or the risk of any class."""
    missing = np.isnan(risk)
    return missing if risk.ndim == 1 else np.asarray(missing.any(axis=1))


def emptied(release: Release, found: Sequence[Cohort]) -> list[Fault]:
    """The faults of datasets of which no row is left, or none that counts."""
    weightless = [
        Fault("no_weight", File(site.declaration.file), dataset=site.dataset.name) for site in found if site.weightless
    ]
    return weightless + [
        Fault("no_analysed_row", File(site.declaration.file), dataset=site.dataset.name)
        for site in found
        if not site.analysed.any()
    ]


def _shared_rows(release: Release, sources: Sequence[predictors.Input]) -> list[Fault]:
    """The faults of datasets of one file that hold some rows in common and others not, where counts are protected: a
    range of a part beside that of the whole tells more than either.
    """
    if not minimum_cell(release):
        return []
    pairs = [
        (source, other)
        for index, other in enumerate(sources)
        for source in sources[:index]
        if (source.declaration.file, source.declaration.sheet) == (other.declaration.file, other.declaration.sheet)
    ]
    return [
        Fault("rows_of_two_datasets", other.where, dataset=other.declaration.name, earlier=source.declaration.name)
        for source, other in pairs
        if not np.array_equal(source.table.rows, other.table.rows)
        and len(np.intersect1d(source.table.rows, other.table.rows))
    ]


def small_throughout(release: Release, found: Sequence[Cohort]) -> list[Fault]:
    """The fault of a release whose external datasets all have fewer rows than any is shown of."""
    external = [site for site in found if site.dataset.role == "external"]
    if not external or any(site.analysed.sum() >= site.dataset.fewest for site in external):
        return []
    least = max(site.dataset.fewest for site in external)
    where = Key("disclosure", "minimum_cell") if minimum_cell(release) else listed_table("dataset")
    return [Fault("all_datasets_small", where, least=least)]


def minimum_cell(release: Release) -> int:
    """The smallest count that may be printed: the strictest that the release or a table of it asks for, 0 for any.

    It is one for all tables, for what is said of one rests on the rows of others.
    """
    each = [declaration.minimum_cell for declaration in release.dataset]
    each += [None if release.disclosure is None else release.disclosure.minimum_cell]
    return max(smallest or 0 for smallest in each)


# ---- the rows that are asked for ------------------------------------------------------------------------------------


def _selected(raw: RawTable, declaration: DatasetDeclaration, where: Key, faults: list[Fault]) -> RawTable:
    """The rows whose cell in every column of `rows` is one of the values that stand there.

    Everything else is then asked of them alone: what another row holds is neither checked nor counted, but that it is
    there. A value is compared as a category is: 6, 6.0 and "6" are one; of labelled values the label and the code hold.
    """
    keep = np.ones(len(raw.rows), dtype=bool)
    known = len(faults)
    for name, wanted in declaration.rows.items():
        if held := _held(raw, declaration, name, faults):
            # The rows that have one of these values, and the faults of values that no row has.
            every = [(codes, known) for codes, known in map(coded, held)]
            found = np.zeros(len(held[0].missing), dtype=bool)
            for value in wanted:
                word = spelled(value)
                here = [codes == known.index(word) for codes, known in every if word in known]
                found |= np.logical_or.reduce(here) if here else False
                if not here:
                    theirs = tuple(dict.fromkeys(word for _, words in every for word in words))
                    near = nearest(word, theirs)
                    said = {"column": name, "value": wording.shown(value), "file": raw.file}
                    faults.append(Fault("value_nowhere", where.of("rows"), **said, known=theirs, near=near))
            keep &= found
    if not declaration.rows or len(faults) > known:
        return raw
    if not keep.any():
        faults.append(Fault("no_selected_row", where.of("rows"), file=raw.file))
        return raw
    return replace(raw.only(keep), others=_counted(raw.only(~keep), declaration))


def _held(raw: RawTable, declaration: DatasetDeclaration, name: str, faults: list[Fault]) -> list[Series]:
    """The column under our name for it, and the codes behind its labels where it has such."""
    theirs = declaration.columns.get(name, name)
    if theirs not in raw.columns:
        faults.append(no_column(name, raw.file, list(raw.columns), f"rows = {{ {name} = … }}"))
        return []
    return [column(theirs, cells[theirs]) for cells in (raw.columns, raw.codes) if theirs in cells]


def _counted(others: RawTable, declaration: DatasetDeclaration) -> Counter[Place]:
    """How many rows of each site and imputation these are."""
    sites, imputations = (_words(others, declaration, key) for key in (declaration.site_column, declaration.imputation))
    return Counter(zip(sites, imputations, strict=True))


def _words(raw: RawTable, declaration: DatasetDeclaration, key: str | None) -> list[str | None]:
    cells: Any = None if key is None else declaration.columns.get(key, key)
    if cells is None or cells not in raw.columns:
        return [None] * len(raw.rows)
    return words(column(cells, raw.columns[cells]))


# ---- outcomes of several classes ------------------------------------------------------------------------------------

PER_CENT = (90.0, 110.0)
"""Between these the risks of a row add up when they are meant in per cent."""


def _of_classes(
    table: Settled, release: Release, development: bool, faults: list[Fault]
) -> tuple[types.Floats | None, types.Floats | None, dict[str, types.Floats | None]]:
    """The class of each row from 0, the model's risks and those of its rivals, each row by class; NaN where missing.

    A development table needs none of them, and a rival may be missing from any table.
    """
    prediction = release.prediction
    labels = release.outcome.classes or ()
    outcome = None
    if not development or release.outcome.column in table.columns:
        outcome = noted(faults, _classes, table, release.outcome.column, labels)
    names = prediction.columns or ()
    risk = None
    if len(names) == len(labels) and (not development or any(name in table.columns for name in names)):
        risk = noted(faults, _risks, table, names, "column", "[prediction] columns", prediction.scale)
    rivals = {
        rival.name: noted(faults, _risks, table, rival.named, "rival", predictors.key_of_rival(release, rival))
        if len(rival.named) == len(labels) and any(name in table.columns for name in rival.named)
        else None
        for rival in release.beside
    }
    return outcome, risk, rivals


def _classes(table: Settled, name: str, labels: tuple[str, ...]) -> types.Floats:
    """The number of each row's class; a DataError with a fault for each label that is no class."""
    found, faults = columns.named(table, name, "[outcome] column"), []
    codes, spelled = columns.coded(found)
    for text_of_none in (text for text in spelled if text not in labels):
        rows = table.rows[codes == spelled.index(text_of_none)]
        near = nearest(text_of_none, labels)
        faults.append(
            Fault(
                "not_a_class",
                Cell(table.file, found.name, (int(rows[0]),)),
                value=text_of_none,
                rows=Fact("in_rows", rows=Count(len(rows), "row")) if len(rows) > 1 else None,
                meant=Fact("meant", name=near) if near else None,
                classes=labels,
            )
        )
    DataError.raise_for(faults)
    return np.array([*(float(labels.index(label)) for label in spelled), np.nan])[codes]


def _risks(
    table: Settled, names: tuple[str, ...], whose: str, declared: str, scale: str = "probability"
) -> types.Floats:
    """The risks of all classes side by side; a DataError when some are no such risks.

    Those that add up to 1 within their last digit are divided by their sum, which the table's notes say.
    """
    faults: list[Fault] = []
    held = [noted(faults, columns.of_scale, table, name, declared, scale) for name in names]
    found = [column for column in held if column is not None]
    DataError.raise_for(faults)
    # Numbers far from any risk are reported column by column; here they must not grow beyond all numbers.
    given = values.risks(np.array([column.numbers for column in found]).clip(-1e6, 1e6), scale)
    sums = given.sum(axis=0)
    known = sums[~np.isnan(sums)]
    at = Cell(table.file, tuple(column.name for column in found))
    if len(known) and PER_CENT[0] < float(np.median(known)) < PER_CENT[1]:
        declare = columns.declare(whose, "percent")
        raise DataError.one("class_risks_of_per_cent", at, total=float(np.median(known)), declare=declare)
    each = [noted(faults, columns.risk, table, name, whose, scale) for name in names]
    kept = [item for item in each if item is not None]
    DataError.raise_for(faults)
    off = np.where(np.isnan(sums), 0.0, np.abs(sums - 1))
    # Half a unit of the last printed digit a class, and of two at least. The digits are those of the largest risk of
    # each row, which has no more of them than the others when all are printed with as many decimals or digits.
    largest = given.max(axis=0)
    last = bands.last_digit(largest[~np.isnan(largest)])
    tolerated = max(bands.ROUNDING, len(names) * last * (1 + bands.ROUNDING))
    if wrong := int((off > tolerated).sum()):
        worst = int(np.argmax(off))
        rows = Fact("one_row_does" if wrong == 1 else "rows_do", rows=Count(wrong, "row"))
        at = replace(at, rows=(int(table.rows[worst]),))
        raise DataError.one("class_risks_not_one", at, rows=rows, total=round(float(sums[worst]), 9))
    risks = np.column_stack(kept)
    rounded = off > bands.ROUNDING
    if not rounded.any():
        return risks
    most = round(float(sums[int(np.argmax(off))]), 9)
    count = Count(int(rounded.sum()), "row")
    table.notes.append(Fact("class_risks_scaled", rows=count, columns=names, file=table.file, total=most))
    return np.where(rounded[:, None], risks / sums[:, None], risks)


# ---- what was settled about each column -----------------------------------------------------------------------------


def _settled_table(
    release: Release, source: predictors.Input, names: tuple[str, ...], datasets: Sequence[str]
) -> types.SettledTable:
    """The role of each column of a table, its type, its range and what is missing, in the order of the file; `names`
    are the predictors."""
    table, named, groups = (
        source.table,
        predictors.roles_of_columns(release),
        {each.column for each in release.subgroup},
    )
    found = []
    for name, held in table.columns.items():
        if name in named:
            role = named[name].role
        elif name in names:
            role = "predictor"
        elif name in groups:
            role = "subgroup"
        else:
            role = "rows" if name in source.declaration.rows else "not used"
        found.append(_settled_column(name, role, held, name in names and name in source.declaration.categorical))
    return types.SettledTable(
        dataset=source.declaration.name,
        file=table.file,
        rows=len(table.rows),
        columns=tuple(found),
        left_out=sum(table.others.values()),
        of_no_dataset=sum(count for (site, _), count in table.others.items() if source.name_of(site) not in datasets),
        notes=tuple(dict.fromkeys([*table.notes, *signs.notes(source, {each.name: each.role for each in found})])),
    )


def _settled_column(name: str, role: str, held: Series, are_codes: bool) -> types.SettledColumn:
    kind = {"texts": "text", "mixed": "numbers and text"}.get(held.kind, held.kind)
    if kind == "numbers" and are_codes:
        kind = "codes"
    missing = int(held.missing.sum())
    if role not in signs.SHOWN or kind == "empty":
        return types.SettledColumn(name, role, kind, None, None, missing)
    if kind in ("numbers", "booleans"):
        known = held.numbers[~held.missing]
        return types.SettledColumn(name, role, kind, (float(np.min(known)), float(np.max(known))), None, missing)
    return types.SettledColumn(name, role, kind, None, len(coded(held)[1]), missing)
