"""Names as they are printed, before anything is drawn or written: the labels of columns, and what no line parts.

What results.json and results.csv record keeps the names of the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dossier.core import facts, types
from dossier.typeset.numbers import HYPHEN, unbroken
from dossier.typeset.widths import shortened

if TYPE_CHECKING:
    from dossier.core.release import Predictor, Release

PRODUCT = " × "
OF_COLUMNS = ("predictor", "with")
"""The settings of a curve that name columns."""


def in_full(evidence: types.Evidence) -> types.Evidence:
    """The evidence with the labels of columns, in which no line parts a name."""
    return unbroken_names(labelled(evidence))


def printed(evidence: types.Evidence) -> types.Evidence:
    """The evidence as pages and figures name it: with names of hospitals that a sentence and a row have room for."""
    return short_names(in_full(evidence))


def labelled(evidence: types.Evidence) -> types.Evidence:
    """The evidence with a label in place of every column that has one; itself where none has."""
    label = {predictor.name: predictor.label for predictor in evidence.release.predictor if predictor.label is not None}
    if not label:
        return evidence

    def name(column: str) -> str:
        return PRODUCT.join(label.get(part, part) for part in column.split(PRODUCT))

    def subset(each: types.Subset | None) -> types.Subset | None:
        return None if each is None else types.Subset(name(each.column), each.level)

    def renamed(rows: tuple[Any, ...], **fields: Callable[[Any], Any]) -> Any:
        """Rows with other names in these fields."""
        return tuple(replace(row, **{key: way(getattr(row, key)) for key, way in fields.items()}) for row in rows)

    def names(columns: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(name, columns))

    def at(settings: types.At) -> types.At:
        return {key: label.get(str(value), value) if key in OF_COLUMNS else value for key, value in settings.items()}

    def described(row: types.Description) -> types.Description:
        return replace(row, variable=name(row.variable))

    of_subgroups = evidence.subgroups
    return replace(
        evidence,
        release=_release(evidence.release, label),
        datasets=renamed(evidence.datasets, features=names),
        results=renamed(evidence.results, subset=subset),
        curves=renamed(evidence.curves, subset=subset, at=at),
        descriptions=renamed(evidence.descriptions, described=described),
        withheld=renamed(evidence.withheld, variable=name),
        criteria=renamed(evidence.criteria, subset=subset),
        flags=tuple(_flag(flag, label) for flag in evidence.flags),
        subgroups=replace(
            of_subgroups,
            summaries=renamed(of_subgroups.summaries, column=name),
            results=renamed(of_subgroups.results, subset=subset),
            curves=renamed(of_subgroups.curves, subset=subset, at=at),
        ),
    )


def unbroken_names(evidence: types.Evidence) -> types.Evidence:
    """The evidence in which no line parts the name of the model, its version, its outcome, a site or a country."""
    about, outcome = evidence.release.release, evidence.release.outcome
    kept = {key: unbroken(name) for key in ("model", "version", "tested_version") if (name := getattr(about, key))}
    release = evidence.release.model_copy(
        update={
            "release": about.model_copy(update=kept),
            "outcome": outcome.model_copy(update={"name": outcome.name.replace("-", HYPHEN)}),
        }
    )
    changes = evidence.changes
    if changes is not None:
        before = changes.previous
        predicted = replace(before.predicted, outcome=before.predicted.outcome.replace("-", HYPHEN))
        version, datasets = unbroken(before.version), tuple(map(_unbroken, before.datasets))
        changes = replace(changes, previous=replace(before, predicted=predicted, version=version, datasets=datasets))
    datasets = tuple(map(_unbroken, evidence.datasets))
    return _called(
        replace(evidence, release=release, datasets=datasets, changes=changes),
        {before.site: after.site for before, after in zip(evidence.datasets, datasets, strict=True)},
    )


LONGEST_NAMES = (48.0, 38.0)
"""The width in mm of a hospital's name in sentences, rows and on the cover, of few hospitals and of many."""
MANY = 6
"""Hospitals of which a page names so many at once that each has less room."""


def letters(evidence: types.Evidence) -> dict[str, str]:
    """The letter of each external dataset, the same in every table and figure."""
    names = [site.name for site in types.externals(evidence)]
    return {name: chr(ord("a") + at % 26) * (1 + at // 26) for at, name in enumerate(names)}


def short_names(evidence: types.Evidence) -> types.Evidence:
    """The evidence in which hospitals have names that a sentence and a row have room for."""
    before = evidence.changes.previous.datasets if evidence.changes else ()
    every = (*types.externals(evidence), *(each for each in before if each.role == "external"))
    names = list(dict.fromkeys(each.site for each in every))
    short = shortened(names, LONGEST_NAMES[len(names) >= MANY])
    return _called(evidence, dict(zip(names, short, strict=True)))


def _called(evidence: types.Evidence, names: Mapping[str, str]) -> types.Evidence:
    """The evidence with other names of sites, in its datasets and in what is said of them."""

    def held(fact: facts.Fact, name: str, value: facts.Value) -> facts.Value:
        return names.get(value, value) if isinstance(value, str) else value

    def named(datasets: Sequence[types.DatasetSummary]) -> tuple[types.DatasetSummary, ...]:
        return tuple(replace(each, site=names.get(each.site, each.site)) for each in datasets)

    changes = evidence.changes
    if changes is not None:
        changes = replace(changes, previous=replace(changes.previous, datasets=named(changes.previous.datasets)))
    return replace(
        evidence,
        changes=changes,
        datasets=named(evidence.datasets),
        flags=tuple(replace(flag, fact=flag.fact.with_values(held)) for flag in evidence.flags),
    )


def _unbroken(dataset: types.DatasetSummary) -> types.DatasetSummary:
    country = None if dataset.country is None else unbroken(dataset.country)
    return replace(dataset, site=unbroken(dataset.site), country=country)


IN_FACTS = ("predictor", "predictors", "column")
"""The values of a fact that name columns."""
AS_IN_THE_RELEASE = "predictor_called_otherwise"
"""The flag that quotes the release, whose names stay those of the columns."""


def _flag(flag: types.Flag, label: Mapping[str, str]) -> types.Flag:
    """A flag with labels in place of columns."""
    if flag.fact.code == AS_IN_THE_RELEASE:
        return flag

    def named(fact: facts.Fact, name: str, value: facts.Value) -> facts.Value:
        return label.get(value, value) if name in IN_FACTS and isinstance(value, str) else value

    return replace(flag, fact=flag.fact.with_values(named))


def _release(release: Release, label: Mapping[str, str]) -> Release:
    """The release with its formula and its subgroups under their labels."""
    subgroups = tuple(
        subgroup.model_copy(update={"column": label.get(subgroup.column, subgroup.column)})
        for subgroup in release.subgroup
    )
    model, terms = release.model, []
    for term in model.term if model else ():
        other = None if term.with_ is None else label.get(term.with_, term.with_)
        terms.append(term.model_copy(update={"predictor": label.get(term.predictor, term.predictor), "with_": other}))
    formula = None if model is None else model.model_copy(update={"term": tuple(terms)})
    return release.model_copy(update={"model": formula, "subgroup": subgroups})


def _declared(evidence: types.Evidence, printed: str) -> Predictor | None:
    """What the release declares of a column, under the name that is printed."""
    every = evidence.release.predictor
    return next((predictor for predictor in every if (predictor.label or predictor.name) == printed), None)


def with_unit(evidence: types.Evidence, printed: str) -> str:
    """A column, under the name that is printed, followed by its unit where it has one."""
    declared = _declared(evidence, printed)
    return printed if declared is None or declared.unit is None else f"{printed}, {declared.unit}"


def level_of(evidence: types.Evidence, printed: str, level: str) -> str:
    """A category of a column in the words that the release gives its codes; itself where it gives none."""
    release = evidence.release
    columns = [predictor.levels for predictor in release.predictor if (predictor.label or predictor.name) == printed]
    columns += [subgroup.levels for subgroup in release.subgroup if subgroup.column == printed]
    words = next((column for column in columns if column is not None), {})
    return words.get(level, level)


def coded(evidence: types.Evidence, printed: str) -> Mapping[str, str] | None:
    """The words for the codes of a column, under the name that is printed; None where none are declared."""
    declared = _declared(evidence, printed)
    return None if declared is None else declared.levels
