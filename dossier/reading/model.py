"""[model] held against the tables: predictors that nobody has, categories that never occur, logarithms of nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dossier.core import facts, types
from dossier.core.errors import Fault
from dossier.core.faults.locations import Key, listed_table
from dossier.core.release import Model, ModelTerm
from dossier.reading.columns import parsed
from dossier.reading.datasets import Cohort
from dossier.reading.faults import nearest
from dossier.words.wording import number


def faults(model: Model, sites: Sequence[Cohort]) -> list[Fault]:
    """What the terms of the model ask for and the tables do not hold."""
    return [
        fault
        for index, term in enumerate(model.term, start=1)
        for fault in _of_term(term, listed_table("model.term", index), sites)
    ]


def _of_term(term: ModelTerm, where: Key, sites: Sequence[Cohort]) -> Iterator[Fault]:
    holders = _holders(term.predictor, sites)
    yield from _nowhere(term.predictor, holders, where.of("predictor"), sites)
    # Of a product the categories are those of the partner.
    of_levels = holders if term.with_ is None else _holders(term.with_, sites)
    if term.with_ is not None:
        yield from _nowhere(term.with_, of_levels, where.of("with"), sites)
    if term.levels is not None and _is_known(of_levels):
        yield from _levels(term.with_ or term.predictor, term.levels, where, list(of_levels.values()))
    if (term.levels is None or term.with_ is not None) and _is_known(holders):
        yield from _numbers(term.predictor, term, where, holders)
    if term.levels is None and term.with_ is not None and _is_known(of_levels):
        yield from _numbers(term.with_, None, where, of_levels)


def _holders(predictor: str, sites: Sequence[Cohort]) -> dict[str, types.Feature]:
    """The predictor in every dataset that has it."""
    return {
        site.dataset.name: feature for site in sites for feature in site.dataset.predictors if feature.name == predictor
    }


def _is_known(holders: dict[str, types.Feature]) -> bool:
    return any(not np.isnan(feature.values).all() for feature in holders.values())


def _nowhere(predictor: str, holders: dict[str, types.Feature], where: Key, sites: Sequence[Cohort]) -> Iterator[Fault]:
    """A predictor that no dataset has, or none a value of."""
    if not holders:
        yield _unknown(predictor, where, sites)
    elif not _is_known(holders):
        yield Fault("predictor_never_known", where, predictor=predictor)


def _unknown(name: str, where: Key, sites: Sequence[Cohort]) -> Fault:
    known = tuple(dict.fromkeys(feature.name for site in sites for feature in site.dataset.predictors))
    if not known:
        return Fault("no_predictors", where, name=name)
    return Fault("not_a_predictor", where, name=name, known=known, near=nearest(name, known))


def _levels(predictor: str, levels: Iterable[str], where: Key, features: Sequence[types.Feature]) -> Iterator[Fault]:
    """The categories of a term that no table has."""
    known = list(dict.fromkeys(level for feature in features for level in _present(feature)))
    for level in levels:
        if level not in known:
            near, at = nearest(level, known), where.of("levels")
            yield Fault("level_nowhere", at, predictor=predictor, level=level, known=tuple(known), near=near)


def _present(feature: types.Feature) -> tuple[str, ...]:
    """The categories of a feature; of numbers, the different ones."""
    if feature.levels is not None:
        return feature.levels
    return tuple(number(float(value)) for value in np.unique(feature.values[~np.isnan(feature.values)]))


def _numbers(predictor: str, term: ModelTerm | None, where: Key, holders: dict[str, types.Feature]) -> Iterator[Fault]:
    """Categories where a term is for numbers, and numbers that its transformation cannot take."""
    for dataset, feature in holders.items():
        if words := [level for level in feature.levels or () if parsed(level) is None]:
            code = "word_in_product" if term is None or term.with_ is not None else "word_in_term"
            yield Fault(code, where, predictor=predictor, word=words[0], dataset=dataset)
            return
        values = np.array([float(level) for level in feature.levels]) if feature.levels else feature.values
        transform = None if term is None else term.transform
        values = values if term is None or term.floor is None else np.maximum(values, term.floor)
        wrong = int(np.sum(values <= 0)) if transform == "log" else 0
        wrong = int(np.sum(values < 0)) if transform == "sqrt" else wrong
        if wrong:
            code = "no_logarithm" if transform == "log" else "no_square_root"
            yield Fault(code, where, predictor=predictor, rows=facts.Count(wrong, "row"), dataset=dataset)
