"""[model] held against the tables: predictors that nobody has, categories that never occur, logarithms of nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dossier.errors import Fault
from dossier.reading.columns import parsed
from dossier.reading.datasets import Site
from dossier.reading.faults import counted, listed, nearest, number, shown
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
    holders = _holders(term.predictor, sites)
    yield from _nowhere(term.predictor, holders, f"{where}, predictor", sites)
    # Of a product the categories are those of the partner.
    of_levels = holders if term.with_ is None else _holders(term.with_, sites)
    if term.with_ is not None:
        yield from _nowhere(term.with_, of_levels, f"{where}, with", sites)
    if term.levels is not None and _is_known(of_levels):
        yield from _levels(term.with_ or term.predictor, term.levels, where, list(of_levels.values()))
    if (term.levels is None or term.with_ is not None) and _is_known(holders):
        yield from _numbers(term.predictor, term, where, holders)
    if term.levels is None and term.with_ is not None and _is_known(of_levels):
        yield from _numbers(term.with_, None, where, of_levels)


def _holders(predictor: str, sites: Sequence[Site]) -> dict[str, Feature]:
    """The predictor in every dataset that has it."""
    return {
        site.dataset.name: feature for site in sites for feature in site.dataset.predictors if feature.name == predictor
    }


def _is_known(holders: dict[str, Feature]) -> bool:
    return any(not np.isnan(feature.values).all() for feature in holders.values())


def _nowhere(predictor: str, holders: dict[str, Feature], where: str, sites: Sequence[Site]) -> Iterator[Fault]:
    """A predictor that no dataset has, or none a value of."""
    if not holders:
        yield _unknown(predictor, where, sites)
    elif not _is_known(holders):
        what = f"{predictor} is missing in every row of every dataset."
        yield Fault(what, where, "Give its values in one table at least.")


def _unknown(name: str, where: str, sites: Sequence[Site]) -> Fault:
    known = list(dict.fromkeys(feature.name for site in sites for feature in site.dataset.predictors))
    near = nearest(name, known)
    if near:
        fix = f"Did you mean {near}?"
    elif known:
        fix = f"The predictors are {listed(known)}; name it under predictors of a [[dataset]] that holds it."
    else:
        fix = f"No dataset has predictors: name {name} under predictors of the [[dataset]] that hold it."
    return Fault(f"{name} is no predictor of any dataset.", where, fix)


def _levels(predictor: str, levels: Iterable[str], where: str, features: Sequence[Feature]) -> Iterator[Fault]:
    """The categories of a term that no table has."""
    known = list(dict.fromkeys(level for feature in features for level in _present(feature)))
    for level in levels:
        if level not in known:
            near = nearest(level, known)
            fix = f'Did you mean "{near}"?' if near else f"{predictor} is {listed(known)} in the tables."
            yield Fault(f"{predictor} is never {shown(level)}.", f"{where}, levels", fix)


def _present(feature: Feature) -> tuple[str, ...]:
    """The categories of a feature; of numbers, the different ones."""
    if feature.levels is not None:
        return feature.levels
    return tuple(number(float(value)) for value in np.unique(feature.values[~np.isnan(feature.values)]))


def _numbers(predictor: str, term: ModelTerm | None, where: str, holders: dict[str, Feature]) -> Iterator[Fault]:
    """Categories where a term is for numbers, and numbers that its transformation cannot take."""
    for dataset, feature in holders.items():
        words = [level for level in feature.levels or () if parsed(level) is None]
        if words:
            what = f"{predictor} is {shown(words[0])} in {dataset}, and its term is for numbers."
            product = term is None or term.with_ is not None
            fix = f"Give levels = {{ {words[0]} = … }} instead of a coefficient."
            if product:
                fix = "Of a product, name the categories under with, and give levels; or give a column of 0 and 1."
            yield Fault(what, where, fix)
            return
        values = np.array([float(level) for level in feature.levels]) if feature.levels else feature.values
        transform = None if term is None else term.transform
        values = values if term is None or term.floor is None else np.maximum(values, term.floor)
        wrong = int(np.sum(values <= 0)) if transform == "log" else 0
        wrong = int(np.sum(values < 0)) if transform == "sqrt" else wrong
        if wrong:
            kind = "0 or less" if transform == "log" else "less than 0"
            what = f"{predictor} is {kind} in {counted(wrong, 'row')} of {dataset}, which has no {transform}."
            fix = f"Declare such values as missing (missing = {{ {predictor} = [ … ] }}), or mend the transform."
            yield Fault(what, where, fix)
