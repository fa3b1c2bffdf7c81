"""[model] held against the tables: predictors that nobody has, categories that never occur, logarithms of nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dossier.errors import Fault
from dossier.load.columns import parsed
from dossier.load.datasets import Site
from dossier.load.faults import counted, listed, nearest, number, shown
from dossier.release import Model, ModelTerm
from dossier.types import Feature


def faults(model: Model, sites: Sequence[Site]) -> list[Fault]:
    """What the terms of the model ask for and the tables do not hold."""
    return [
        fault
        for place, term in enumerate(model.term, start=1)
        for fault in _of_term(term, f"release.toml, [[model.term]] {place}", sites)
    ]


def _of_term(term: ModelTerm, where: str, sites: Sequence[Site]) -> Iterator[Fault]:
    holders = {
        site.dataset.name: feature
        for site in sites
        for feature in site.dataset.predictors
        if feature.name == term.predictor
    }
    if not holders:
        yield _unknown(term.predictor, where, sites)
    elif all(np.isnan(feature.values).all() for feature in holders.values()):
        what = f"{term.predictor} is missing in every row of every dataset."
        yield Fault(what, f"{where}, predictor", "Give its values in one table at least.")
    elif term.levels is not None:
        yield from _levels(term, where, list(holders.values()))
    else:
        yield from _numbers(term, where, holders)


def _unknown(name: str, where: str, sites: Sequence[Site]) -> Fault:
    known = list(dict.fromkeys(feature.name for site in sites for feature in site.dataset.predictors))
    near = nearest(name, known)
    if near:
        fix = f"Did you mean {near}?"
    elif known:
        fix = f"The predictors are {listed(known)}; name it under predictors of a [[dataset]] that holds it."
    else:
        fix = f"No dataset has predictors: name {name} under predictors of the [[dataset]] that hold it."
    return Fault(f"{name} is no predictor of any dataset.", f"{where}, predictor", fix)


def _levels(term: ModelTerm, where: str, features: Sequence[Feature]) -> Iterator[Fault]:
    """The categories of a term that no table has."""
    known = list(dict.fromkeys(level for feature in features for level in _present(feature)))
    for level in term.levels or ():
        if level not in known:
            near = nearest(level, known)
            fix = f'Did you mean "{near}"?' if near else f"{term.predictor} is {listed(known)} in the tables."
            yield Fault(f"{term.predictor} is never {shown(level)}.", f"{where}, levels", fix)


def _present(feature: Feature) -> tuple[str, ...]:
    """The categories of a feature; of numbers, the different ones."""
    if feature.levels is not None:
        return feature.levels
    return tuple(number(float(value)) for value in np.unique(feature.values[~np.isnan(feature.values)]))


def _numbers(term: ModelTerm, where: str, holders: dict[str, Feature]) -> Iterator[Fault]:
    """Categories under a term for numbers, and numbers that its transformation cannot take."""
    for dataset, feature in holders.items():
        words = [level for level in feature.levels or () if parsed(level) is None]
        if words:
            what = f"{term.predictor} is {shown(words[0])} in {dataset}, and its term is for numbers."
            yield Fault(what, where, f"Give levels = {{ {words[0]} = … }} instead of a coefficient.")
            return
        values = np.array([float(level) for level in feature.levels]) if feature.levels else feature.values
        wrong = int(np.sum(values <= 0)) if term.transform == "log" else 0
        wrong = int(np.sum(values < 0)) if term.transform == "sqrt" else wrong
        if wrong:
            kind = "0 or less" if term.transform == "log" else "less than 0"
            what = f"{term.predictor} is {kind} in {counted(wrong, 'row')} of {dataset}, which has no {term.transform}."
            fix = f"Declare such values as missing (missing = {{ {term.predictor} = [ … ] }}), or mend the transform."
            yield Fault(what, where, fix)
