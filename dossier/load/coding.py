"""Predictors that look as if they were coded otherwise than elsewhere: flags, since every one of them may be right.

A hospital may see one sex only, have patients that are five times as ill, or measure a 0 that is a 0. Only who knows
the table can tell, so the dossier is built and the doubt is printed in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dossier.load.faults import listed, number
from dossier.types import Dataset, Feature, Flag, Floats

CODES = (0.0, -1.0, -9.0, -99.0, -999.0, 99.0, 999.0, 9999.0)
"""The numbers that are written where a value is unknown."""
ENOUGH_VALUES = 10
"""With fewer different values beside it, a code cannot be told from a count or a category."""
WORDS = frozenset(("na", "n/a", "#n/a", "nan", "null", "nil", "missing", "?", "-", "--", "."))
"""The words that are written where a value is unknown; a table of categories may mean them."""
MANY_CATEGORIES = 5
"""So many categories, none of them shared, are rather names of wards or cases than one property in other words."""
OTHER_UNITS = 5.0
"""From this ratio of medians on, one of the two is hardly in the same unit."""


def flags(datasets: Sequence[Dataset]) -> Iterator[Flag]:
    """The doubts about the predictors of every dataset, those against the others' last."""
    for dataset in datasets:
        yield from _constant(dataset)
        yield from _codes(dataset)
        yield from _words_for_missing(dataset)
        yield from _spellings(dataset)
    for place, dataset in enumerate(datasets):
        yield from _against(dataset, _others(datasets, place))


def _others(datasets: Sequence[Dataset], place: int) -> Sequence[Dataset]:
    """What a dataset is held against: the development table, or without it all other datasets."""
    origin = [one for one in datasets if one.role == "development"]
    if origin:
        return [] if datasets[place].role == "development" else origin
    return [one for k, one in enumerate(datasets) if k != place]


def _known(feature: Feature) -> Floats:
    return feature.values[~np.isnan(feature.values)]


def _constant(dataset: Dataset) -> Iterator[Flag]:
    same = [one.name for one in dataset.predictors if len(_known(one)) > 1 and not np.ptp(_known(one))]
    if same:
        verb = "has" if len(same) == 1 else "have"
        says = f"{listed(same)} {verb} one value in {dataset.name}."
        yield Flag("constant_predictor", dataset.name, says, columns=tuple(same))


def _codes(dataset: Dataset) -> Iterator[Flag]:
    """Numbers that are codes elsewhere, and lie further from all other values than the middle half of these is wide."""
    for one in dataset.predictors:
        for code in () if one.levels is not None else CODES:
            known = _known(one)
            others = known[known != code]
            if len(others) == len(known) or len(np.unique(others)) < ENOUGH_VALUES:
                continue
            low, high = np.quantile(others, (0.25, 0.75))
            if high > low and float(np.abs(others - code).min()) > high - low:
                rows = len(known) - len(others)
                why = ", far from every other value: it may be a code for missing"
                yield _for_missing(dataset, one, number(code), rows, why)


def _words_for_missing(dataset: Dataset) -> Iterator[Flag]:
    for one in dataset.predictors:
        for code in np.unique(_known(one)) if one.levels is not None else ():
            word = (one.levels or ())[int(code)]
            if word.strip().casefold() in WORDS:
                rows = int((one.values == code).sum())
                why = ": it may stand for missing, and is counted as a category"
                yield _for_missing(dataset, one, f'"{word}"', rows, why)


def _for_missing(dataset: Dataset, feature: Feature, written: str, rows: int, why: str) -> Flag:
    says = f"{feature.name} is {written} in {rows} row{'s' if rows > 1 else ''} of {dataset.name}{why}."
    return Flag("code_for_missing", dataset.name, says, columns=(feature.name,))


def _spellings(dataset: Dataset) -> Iterator[Flag]:
    """Categories that differ in capitals or blanks only."""
    for one in dataset.predictors:
        alike: dict[str, list[str]] = {}
        for code in np.unique(_known(one)) if one.levels is not None else ():
            word = (one.levels or ())[int(code)]
            alike.setdefault(" ".join(word.casefold().split()), []).append(word)
        several = [" and ".join(words) for words in alike.values() if len(words) > 1]
        if several:
            says = (
                f"{one.name} is spelled in several ways in {dataset.name}, each counted as a category of its own: "
                f"{listed(several, 5)}."
            )
            yield Flag("other_categories", dataset.name, says, columns=(one.name,))


def _against(dataset: Dataset, others: Sequence[Dataset]) -> Iterator[Flag]:
    where = others[0].name if len(others) == 1 else "the other datasets"
    for one in dataset.predictors:
        same = [other for held in others for other in held.predictors if other.name == one.name]
        values = np.concatenate([_known(other) for other in same]) if same else np.array([])
        here = _known(one)
        if not len(values) or not len(here):
            continue
        if one.levels is None:
            yield from _units(dataset.name, one.name, here, values, where)
        elif not set(here.tolist()) & set(values.tolist()):
            mine, theirs = (_words(one.levels, codes) for codes in (here, values))
            says = f"{one.name} is {mine} in {dataset.name} and {theirs} in {where}: no category is in both."
            if min(len(np.unique(here)), len(np.unique(values))) >= MANY_CATEGORIES:
                says += " It may be an identifier or a place: name the predictors in the [[dataset]]."
            yield Flag("other_categories", dataset.name, says, columns=(one.name,))


def _units(dataset: str, name: str, mine: Floats, theirs: Floats, where: str) -> Iterator[Flag]:
    """A median of 0 has no ratio, and where values lie below 0 a ratio does not speak of units."""
    here, there = float(np.median(mine)), float(np.median(theirs))
    if min(mine.min(), theirs.min()) < 0 or min(here, there) <= 0:
        return
    if max(here / there, there / here) > OTHER_UNITS:
        says = f"the median of {name} is {here:.4g} in {dataset} and {there:.4g} in {where}: it may be in other units."
        yield Flag("other_units", dataset, says, columns=(name,))


def _words(levels: Sequence[str], codes: Floats) -> str:
    return listed([levels[int(code)] for code in np.unique(codes)], 5)
