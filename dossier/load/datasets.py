"""Tables and what the release declares about them -> datasets: one a table, or one a site."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dossier.errors import Fault
from dossier.load import class_columns, columns, predictors, refused, subgroups, tables
from dossier.load.columns import Bools, Settled
from dossier.load.faults import LONGEST, by_row, shown
from dossier.load.files import Folder
from dossier.load.predictors import Source
from dossier.load.subgroups import Labelled
from dossier.release import DatasetDeclaration, Release
from dossier.types import Dataset, Feature, Floats

MOST = {"relevance": 1.0, "complexity": 1.0}
"""The largest number that a column of cases may hold; the others have no largest."""


@dataclass(frozen=True)
class Site:
    """A dataset with what is needed only while reading: all its rows' identifiers, and which rows are analysed."""

    dataset: Dataset
    analysed: Bools
    identifiers: tuple[str, ...] | None
    rival_missing: int


@dataclass(frozen=True)
class Rows:
    """Every row of one site of a table, before any is left out."""

    name: str
    site: str
    rows: Bools
    table: Settled
    identifiers: tuple[str, ...] | None
    split: NDArray[np.int64] | None


@dataclass(frozen=True)
class Measured:
    """The columns of a table that measures need, over all its rows."""

    outcome: Floats | None
    """0 and 1, or with several classes their numbers from 0."""
    risk: Floats | None
    """One number a row, or with several classes one a row and class."""
    rival: Floats | None
    cases: Mapping[str, Floats]
    """What [utility] and [h_accuracy] name, by their keys: relevance, cost, benefit, complexity."""


def sites(release: Release, folder: Folder, faults: list[Fault]) -> list[Site]:
    """Every dataset of the release, in its order, the sites of one table by name."""
    sources = [source for k in range(len(release.dataset)) if (source := _source(release, k, folder, faults))]
    names = predictors.chosen(release, sources, faults)
    features = predictors.features(sources, names, faults)
    if release.prediction.rival is not None:
        faults += _somewhere(release.prediction.rival, "[prediction] rival", sources)
    for name in release.prediction.rivals or ():
        faults += _somewhere(name, "[prediction] rivals", sources)
    for key, name in predictors.case_columns(release).items():
        faults += _somewhere(name, predictors.CASE_KEYS[key], sources)
    labels = release.outcome.classes or ()
    found: list[Site] = []
    for source, some, groups in zip(sources, features, subgroups.labelled(release, sources, faults), strict=True):
        measured = _measured(release, source, faults)
        found += [_site(source, rows, measured, some, labels, groups) for rows in _rows(source, faults)]
    _distinct(found, faults)
    return found


def _distinct(found: Sequence[Site], faults: list[Fault]) -> None:
    names = [site.dataset.name for site in found]
    for name in sorted({name for name in names if names.count(name) > 1}):
        what = f"Two sites are named {name}."
        if not any(fault.what == f"Two datasets are named {name}." for fault in faults):
            faults.append(Fault(what, "release.toml, [[dataset]]", "Name the datasets or the sites differently."))


def _source(release: Release, number: int, folder: Folder, faults: list[Fault]) -> Source | None:
    declaration = release.dataset[number]
    where = f"release.toml, [[dataset]] {number + 1} ({declaration.name})"
    ending = refused.ending(declaration.file, f"{where}, file")
    if ending is not None and not (folder.path / declaration.file).is_dir():
        faults.append(ending)
        return None
    content = folder.read(declaration.file, f"{where}, file", declaration.outside, faults)
    raw = tables.table(content, declaration.file, faults) if content is not None else None
    return Source(declaration, columns.settled(raw, declaration, where, faults), where) if raw is not None else None


def _somewhere(name: str, key: str, sources: Sequence[Source]) -> list[Fault]:
    """The fault of a column that none of the tested tables has."""
    tested = [source.table for source in sources if source.declaration.role != "development"]
    if not tested or any(name in table.columns for table in tested):
        return []
    faults: list[Fault] = []
    columns.named(tested[0], name, key, faults)
    return faults


def _measured(release: Release, source: Source, faults: list[Fault]) -> Measured:
    table, prediction = source.table, release.prediction
    development = source.declaration.role == "development"
    if release.outcome.classes is not None:
        found = class_columns.measured(table, release, development, faults)
        return Measured(*found, {} if development else _of_cases(release, table, faults))
    if prediction.columns is not None:
        # Without its classes the outcome cannot be read, and the release's own faults say so.
        return Measured(None, None, None, {})
    outcome = (
        None
        if development and release.outcome.column not in table.columns
        else columns.outcome(table, release.outcome, faults)
    )
    risk = (
        None
        if prediction.column is None or (development and prediction.column not in table.columns)
        else columns.risk(table, prediction.column, "column", faults)
    )
    rival = (
        columns.risk(table, prediction.rival, "rival", faults)
        if prediction.rival is not None and prediction.rival in table.columns
        else None
    )
    return Measured(outcome, risk, rival, {} if development else _of_cases(release, table, faults))


def _of_cases(release: Release, table: Settled, faults: list[Fault]) -> dict[str, Floats]:
    """The columns with a number for each case that the table has; costs and benefits only together."""
    names = predictors.case_columns(release)
    found = {}
    for key, name in names.items():
        if name in table.columns:
            values = columns.amounts(table, name, predictors.CASE_KEYS[key], MOST.get(key), faults)
            if values is not None:
                found[key] = values
    if "cost" in found and "benefit" in found:
        idle = [int(row) for row in table.rows[(found["cost"] == 0) & (found["benefit"] == 0)]]
        what = "cost and benefit are both 0."
        faults += by_row(table.file, names["cost"], idle, lambda _: what, "Give a cost or a benefit above 0.")
    return found


# ---- one table, its sites -------------------------------------------------------------------------------------------


def _rows(source: Source, faults: list[Fault]) -> list[Rows]:
    declaration, table = source.declaration, source.table
    everything = np.ones(len(table.rows), dtype=bool)
    split = None if declaration.split is None else columns.split(table, declaration.split, faults)
    if declaration.site_column is None:
        parts = [(declaration.name, declaration.site or _title(declaration.name), everything)]
    else:
        parts = _parts(source, declaration.site_column, faults)
    return [_part(source, name, site, rows, split, faults) for name, site, rows in parts]


def _part(
    source: Source, name: str, site: str, rows: Bools, split: NDArray[np.int64] | None, faults: list[Fault]
) -> Rows:
    table = columns.taken(source.table, rows)
    splits = None if split is None else split[rows]
    key = source.declaration.id
    identifiers = None if key is None else columns.identifiers(table, key, splits, faults)
    return Rows(name, site, rows, table, identifiers, splits)


def _parts(source: Source, key: str, faults: list[Fault]) -> list[tuple[str, str, Bools]]:
    found = columns.named(source.table, key, "[[dataset]] site_column", faults)
    if found is None:
        return []
    table = source.table
    gaps = [int(row) for row in table.rows[found.missing]]
    fix = "Name the site in every row."
    faults += by_row(table.file, found.name, gaps, lambda k: "The site is missing.", fix)
    texts = columns.words(found)
    parts: dict[str, tuple[str, str, Bools]] = {}
    for value in sorted({text for text in texts if text is not None}):
        if len(value) > LONGEST:
            what = f"A site has a name of {len(value):,} characters: {shown(value)}."
            faults.append(Fault(what, f"{table.file}, column {found.name}", "Give it a short name."))
            continue
        name = f"{source.declaration.name}-{slug(value)}"
        if not slug(value) or name in parts:
            what = f"The site {shown(value)} gives no name of its own: {name}."
            faults.append(Fault(what, f"{table.file}, column {found.name}", "Spell the sites so that they differ."))
            continue
        # A bare number or letter says nothing in a table: "Knee 5" does.
        label = value if len(value) > 2 else _title(name)
        parts[name] = (name, label, np.array([text == value for text in texts], dtype=bool))
    return [parts[name] for name in sorted(parts)]


def slug(text: str) -> str:
    """A text as part of a name: small letters and digits, dashes between them."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def _title(name: str) -> str:
    return name.replace("-", " ").title()


def _site(
    source: Source,
    part: Rows,
    measured: Measured,
    features: tuple[Feature, ...],
    labels: tuple[str, ...],
    groups: tuple[Labelled, ...],
) -> Site:
    declaration = source.declaration
    outcome, risk, rival = (
        None if values is None else values[part.rows] for values in (measured.outcome, measured.risk, measured.rival)
    )
    keep, excluded = _analysed(len(part.table.rows), outcome, risk)
    cases = {key: values[part.rows][keep] for key, values in measured.cases.items()}
    rival_missing = 0 if rival is None else int(_gaps(rival[keep]).sum())
    outcome = None if outcome is None else outcome[keep]
    risk = None if risk is None else risk[keep]
    rival = None if rival is None or rival_missing else rival[keep]
    dataset = Dataset(
        name=part.name,
        role=declaration.role,
        site=part.site,
        rows_read=len(keep),
        excluded=excluded,
        outcome=None if labels else outcome,
        risk=None if labels else risk,
        rival=None if labels else rival,
        split=None if part.split is None else part.split[keep],
        predictors=tuple(Feature(one.name, one.values[part.rows][keep], one.levels) for one in features),
        dates=declaration.dates,
        relevance=cases.get("relevance"),
        cost=cases.get("cost"),
        benefit=cases.get("benefit"),
        complexity=cases.get("complexity"),
        class_labels=labels,
        classes=outcome.astype(np.int64) if labels and outcome is not None else None,
        class_risk=risk if labels else None,
        class_rival=rival if labels else None,
        subgroups=subgroups.subgroups(groups, part.rows, keep, part.name),
    )
    return Site(dataset, keep, part.identifiers, rival_missing)


def _analysed(count: int, outcome: Floats | None, risk: Floats | None) -> tuple[Bools, dict[str, int]]:
    """The rows that have what there is to have, and the count of the others; a row that lacks both counts once."""
    no_outcome = np.zeros(count, dtype=bool) if outcome is None else np.isnan(outcome)
    no_risk = np.zeros(count, dtype=bool) if risk is None else _gaps(risk)
    excluded = {"outcome missing": int(no_outcome.sum()), "risk missing": int((no_risk & ~no_outcome).sum())}
    return ~(no_outcome | no_risk), excluded


def _gaps(risk: Floats) -> Bools:
    """The rows that lack a risk, or the risk of any class."""
    missing = np.isnan(risk)
    return missing if risk.ndim == 1 else np.asarray(missing.any(axis=1))


def emptied(release: Release, found: Sequence[Site]) -> list[Fault]:
    """The faults of datasets of which no row is left."""
    return [
        Fault(
            f"No row of {site.dataset.name} has both an outcome and a risk.",
            _file(release.dataset, site.dataset.name),
            "Fill the columns, or take the dataset out of the release.",
        )
        for site in found
        if not site.analysed.any()
    ]


def _file(declarations: Sequence[DatasetDeclaration], name: str) -> str:
    return next((one.file for one in declarations if name == one.name or name.startswith(f"{one.name}-")), name)
