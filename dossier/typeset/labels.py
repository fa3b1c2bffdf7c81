"""Names of columns as they are printed: the labels that [[predictor]] gives them, before anything is drawn or written.

What results.json and results.csv record keeps the names of the columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from dossier.types import At, CurveResult, Evidence, Result, Subset

if TYPE_CHECKING:
    from dossier.release import Model, Release

PRODUCT = " × "
OF_COLUMNS = ("predictor", "with")
"""The settings of a curve that name columns."""


def labelled(evidence: Evidence) -> Evidence:
    """The evidence with a label in place of every column that has one; itself where none has."""
    label = {one.name: one.label for one in evidence.release.predictor if one.label is not None}
    if not label:
        return evidence

    def name(column: str) -> str:
        return PRODUCT.join(label.get(part, part) for part in column.split(PRODUCT))

    def subset(one: Subset | None) -> Subset | None:
        return None if one is None else Subset(name(one.column), one.level)

    def results(found: tuple[Result, ...]) -> tuple[Result, ...]:
        return tuple(one if one.subset is None else replace(one, subset=subset(one.subset)) for one in found)

    def curves(found: tuple[CurveResult, ...]) -> tuple[CurveResult, ...]:
        return tuple(replace(one, subset=subset(one.subset), at=_at(one.at, label)) for one in found)

    return replace(
        evidence,
        release=_release(evidence.release, label),
        datasets=tuple(replace(one, features=tuple(map(name, one.features))) for one in evidence.datasets),
        results=results(evidence.results),
        curves=curves(evidence.curves),
        descriptions=tuple(
            replace(one, described=replace(one.described, variable=name(one.described.variable)))
            for one in evidence.descriptions
        ),
        withheld=tuple(replace(one, variable=name(one.variable)) for one in evidence.withheld),
        criteria=tuple(replace(one, subset=subset(one.subset)) for one in evidence.criteria),
        subgroups=replace(
            evidence.subgroups,
            summaries=tuple(replace(one, column=name(one.column)) for one in evidence.subgroups.summaries),
            results=results(evidence.subgroups.results),
            curves=curves(evidence.subgroups.curves),
        ),
    )


def _at(at: At, label: Mapping[str, str]) -> At:
    return {key: label.get(str(value), value) if key in OF_COLUMNS else value for key, value in at.items()}


def _release(release: Release, label: Mapping[str, str]) -> Release:
    """The release with its formula and its subgroups under their labels."""
    subgroups = tuple(one.model_copy(update={"column": label.get(one.column, one.column)}) for one in release.subgroup)
    return release.model_copy(update={"model": _model(release.model, label), "subgroup": subgroups})


def _model(model: Model | None, label: Mapping[str, str]) -> Model | None:
    if model is None:
        return None
    terms = tuple(
        term.model_copy(
            update={
                "predictor": label.get(term.predictor, term.predictor),
                "with_": None if term.with_ is None else label.get(term.with_, term.with_),
            }
        )
        for term in model.term
    )
    return model.model_copy(update={"term": terms})


def with_unit(evidence: Evidence, printed: str) -> str:
    """A column, under the name that is printed, followed by its unit where it has one."""
    unit = next((one.unit for one in evidence.release.predictor if (one.label or one.name) == printed), None)
    return printed if unit is None else f"{printed}, {unit}"


def level_of(evidence: Evidence, printed: str, level: str) -> str:
    """A category of a column in the words that the release gives its codes; itself where it gives none."""
    release = evidence.release
    columns = [one.levels for one in release.predictor if (one.label or one.name) == printed]
    columns += [one.levels for one in release.subgroup if one.column == printed]
    words = next((one for one in columns if one is not None), {})
    return words.get(level, level)
