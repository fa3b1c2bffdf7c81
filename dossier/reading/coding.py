"""Predictors and subgroups that look as if they were coded otherwise than elsewhere: flags, since all may be right.

A hospital may see one sex only, have patients that are five times as ill, or measure a 0 that is a 0. Only who knows
the table can tell, so the dossier is built and the doubt is printed in it.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dossier.core import types
from dossier.core.facts import Count, Fact, Value, gathered
from dossier.core.types import Dataset, Feature, Flag, Floats, folded
from dossier.reading import columns, datasets, notations, predictors

ENOUGH_VALUES = 10
"""With fewer different values beside it, a code cannot be distinguished from a count or a category."""
MANY_CATEGORIES = 5
"""So many categories, none of them shared, are rather names of wards or cases than one property in other words."""
OTHER_UNITS = 5.0
"""From this ratio of medians on, one of the two is hardly in the same unit."""
OTHER_UNITS_APART = 2.0
"""The same where hardly any value of one lies among those of the other: degrees Fahrenheit, or pounds."""


def flags(sites: Sequence[datasets.Cohort]) -> Iterator[Flag]:
    """The doubts about the columns of every dataset, those against the others' last."""
    for site in sites:
        yield from _constant(site.dataset)
        for check in (_codes, _words_for_missing):
            for column in _columns(site):
                yield from check(site.dataset.name, column)
        for column in _columns(site):
            yield from _spellings(site.dataset, column)
        for column in _columns(site):
            if column.name not in site.categorical:
                yield from _notations(site.dataset.name, column)
    for site in sites:
        for column in _columns(site):
            yield from _against(site, column, sites)


def _columns(site: datasets.Cohort) -> tuple[Feature, ...]:
    return (*site.dataset.predictors, *site.grouping)


def _known(feature: Feature) -> Floats:
    return feature.values[~np.isnan(feature.values)]


def _measured(feature: Feature) -> Floats:
    """The values that are known and no codes."""
    known = _known(feature)
    return known[~np.isin(known, _apparent_codes(feature))]


def _constant(dataset: Dataset) -> Iterator[Flag]:
    same = tuple(
        predictor.name
        for predictor in dataset.predictors
        if len(_known(predictor)) > 1 and not np.ptp(_known(predictor))
    )
    if same:
        yield Flag.of(dataset.name, Fact("constant_predictor", predictors=same, dataset=dataset.name), columns=same)


def _codes(dataset: str, feature: Feature) -> Iterator[Flag]:
    for code in _apparent_codes(feature):
        is_far = _is_far(code, _measured(feature))
        rows = Count(int((feature.values == code).sum()), "row")
        values: dict[str, Value] = {"predictor": feature.name, "number": code, "rows": rows, "dataset": dataset}
        says = Fact("number_far_from_others" if is_far else "number_below_zero", **values)
        yield Flag("code_for_missing", dataset, says, columns=(feature.name,))


def _apparent_codes(feature: Feature) -> tuple[float, ...]:
    """Numbers that are codes elsewhere, and here lie far from all other values, or alone below 0.

    Codes hide each other: those that lie near to a value that is none are values themselves, and then perhaps the next.
    """
    known = _known(feature)
    codes = () if feature.levels is not None else _codes_among(known)
    while codes:
        others = known[~np.isin(known, codes)]
        if len(np.unique(others)) < ENOUGH_VALUES:
            return ()
        kept = tuple(code for code in codes if code < 0 < others.min() or _is_far(code, others))
        if kept == codes:
            break
        codes = kept
    return codes


def _is_far(code: float, others: Floats) -> bool:
    """Whether a number lies further from all others than the middle half of these is wide."""
    low, high = np.quantile(others, (0.25, 0.75))
    return bool(0 < high - low < np.abs(others - code).min())


def _codes_among(known: Floats) -> tuple[float, ...]:
    """The codes that a column holds; beside 99 also 77, 88, 97 and 98, which tell its reasons apart, and so on."""
    found = {code for code in notations.CODES if (known == code).any()}
    beside = {near for code in found.intersection(notations.NINES) for near in _beside(code)}
    return tuple(sorted(found | {code for code in beside if (known == code).any()}))


def _beside(code: float) -> tuple[float, ...]:
    step = np.sign(code)
    return code - step, code - 2 * step, code * 8 / 9, code * 7 / 9


def _words_for_missing(dataset: str, feature: Feature) -> Iterator[Flag]:
    """The words for missing, named however few rows hold them: they are ours, and say nothing of a patient."""
    for word in _words(feature):
        if notations.is_word(word):
            rows = Count(int((feature.values == (feature.levels or ()).index(word)).sum()), "row")
            says = Fact("word_for_missing", predictor=feature.name, word=word, rows=rows, dataset=dataset)
            yield Flag("code_for_missing", dataset, says, columns=(feature.name,))


def _spellings(dataset: Dataset, feature: Feature) -> Iterator[Flag]:
    """Categories that differ in capitals, blanks or the make of their letters only."""
    alike = gathered((_spelling(word), word) for word in _words(feature))
    common = _common(dataset, feature)
    several = [
        Fact("spelled_alike", words=tuple(map(_visible, words))) if common.issuperset(words) else None
        for words in alike.values()
        if len(words) > 1
    ]
    if several:
        spellings = _named(several, _fewest(dataset))
        says = Fact("several_spellings", predictor=feature.name, dataset=dataset.name, spellings=spellings)
        yield Flag("other_categories", dataset.name, says, columns=(feature.name,))


def _common(dataset: Dataset, feature: Feature) -> frozenset[str]:
    """The categories that may be named: so many patients have them, however they are spelled, as are described at all,
    and of each spelling as many as the release wants in a count that it prints.
    """
    known, alike = _known(feature), Counter[str]()
    counts = {word: int((known == code).sum()) for code, word in enumerate(feature.levels or ())}
    for word, count in counts.items():
        alike[_spelling(word)] += count
    fewest = max(1, dataset.minimum_cell)
    return frozenset(
        word for word, n in counts.items() if n >= fewest and alike[_spelling(word)] >= types.FEWEST_PATIENTS
    )


def _fewest(dataset: Dataset) -> int:
    """Of how many patients a category is described."""
    return max(types.FEWEST_PATIENTS, dataset.minimum_cell)


def _named(categories: Sequence[str | Fact | None], smallest: int) -> Fact:
    """Categories that may be named; None stands for one that may not, for fewer patients have it."""
    known = tuple(category for category in categories if category is not None)
    if len(known) == len(categories):
        return Fact("categories", known=known)
    if not known:
        return Fact("rare_categories", smallest=smallest)
    return Fact("categories_and_rare_ones", known=known, smallest=smallest)


def _notations(dataset: str, feature: Feature) -> Iterator[Flag]:
    """Categories that are all numbers in the way in which people write them."""
    written = [word for word in _words(feature) if not notations.is_word(word)]
    if notations.are_numbers(written):
        strange = any(map(notations.has_strange_minus, written))
        says = Fact(
            "numbers_with_another_minus" if strange else "numbers_with_signs",
            predictor=feature.name,
            dataset=dataset,
            categories=Count(len(written), "level"),
            mend=notations.fix(written),
        )
        yield Flag("other_categories", dataset, says, columns=(feature.name,))


def _spelling(word: str) -> str:
    """A word as one compares it, a number without the zeros before it."""
    plain = folded(word)
    return plain.lstrip("0") or "0" if plain.isdecimal() else plain


def _visible(word: str) -> str:
    """The word with the codes of marks and blanks that look like another way to write the same."""
    return "".join(
        f"<U+{ord(sign):04X}>" if unicodedata.combining(sign) or (sign.isspace() and sign != " ") else sign
        for sign in word
    )


def _against(site: datasets.Cohort, feature: Feature, sites: Sequence[datasets.Cohort]) -> Iterator[Flag]:
    """A column held against that of the development table, or without such against those of all other datasets.

    Subgroups may be numbers here and categories there; the two have nothing to compare.
    """
    if site.dataset.role == "development":
        return
    same = [(other.dataset, held) for other in sites if other is not site for held in _columns(other)]
    same = [
        (other, held)
        for other, held in same
        if held.name == feature.name and (held.levels is None) == (feature.levels is None)
    ]
    same = [(other, held) for other, held in same if other.role == "development"] or same
    here, there = _measured(feature), [_measured(held) for _, held in same]
    if not len(here) or not sum(map(len, there)):
        return
    where = same[0][0].name if len(same) == 1 else Fact("other_datasets")
    name = site.dataset.name
    if feature.levels is None:
        theirs = np.concatenate(there)
        yield from _units(name, feature.name, here, theirs, where)
        yield from _two_codes(name, feature.name, np.unique(here).tolist(), np.unique(theirs).tolist(), where)
    else:
        others = Others(
            where,
            predictors.by_size({word for _, held in same for word in _words(held)}),
            frozenset(word for other, held in same for word in _common(other, held)),
            max(_fewest(other) for other, _ in same),
        )
        yield from _categories(site.dataset, feature, others)
        # These are codes and no names: the other of the two values is known to whoever knows one.
        yield from _two_codes(name, feature.name, _numbers(_words(feature)), _numbers(others.words), where)


@dataclass(frozen=True)
class Others:
    """The categories of a column in the tables that one is held against, and those among them that may be named."""

    where: str | Fact
    words: tuple[str, ...]
    common: frozenset[str]
    smallest: int


def _units(dataset: str, name: str, mine: Floats, theirs: Floats, where: str | Fact) -> Iterator[Flag]:
    """A median of 0 has no ratio, and where values lie below 0 a ratio does not speak of units."""
    here, there = float(np.median(mine)), float(np.median(theirs))
    if min(mine.min(), theirs.min()) < 0 or min(here, there) <= 0:
        return
    ratio = max(here / there, there / here)
    if ratio > OTHER_UNITS or (ratio > OTHER_UNITS_APART and _apart(mine, theirs)):
        says = Fact("other_units", predictor=name, here=here, dataset=dataset, there=there, where=where)
        yield Flag("other_units", dataset, says, columns=(name,))


def _apart(mine: Floats, theirs: Floats) -> bool:
    """Whether many values were measured in both, and nearly all of one lie above nearly all of the other."""
    if min(len(np.unique(mine)), len(np.unique(theirs))) < ENOUGH_VALUES:
        return False
    (low, high), (lowest, highest) = (np.quantile(values, (0.05, 0.95)) for values in (mine, theirs))
    return bool(low > highest or lowest > high)


def _categories(dataset: Dataset, feature: Feature, others: Others) -> Iterator[Flag]:
    mine, theirs = _words(feature), others.words
    common = _common(dataset, feature)
    if not set(mine) & set(theirs):
        here = _named([word if word in common else None for word in mine], _fewest(dataset))
        there = _named([word if word in others.common else None for word in theirs], others.smallest)
        many = min(len(mine), len(theirs)) >= MANY_CATEGORIES
        both: dict[str, Value] = {"here": here, "dataset": dataset.name, "there": there, "where": others.where}
        says = Fact("identifiers_as_categories" if many else "no_category_in_both", predictor=feature.name, **both)
        yield Flag("other_categories", dataset.name, says, columns=(feature.name,))
        return
    spelled = {_spelling(word): word for word in theirs}
    unlike = [(word, spelled[_spelling(word)]) for word in mine if word not in theirs and _spelling(word) in spelled]
    if unlike:
        pairs = [
            Fact("spelled_for", here=_visible(word), there=_visible(other))
            if word in common and other in others.common
            else None
            for word, other in unlike
        ]
        says = Fact(
            "spelled_otherwise",
            predictor=feature.name,
            dataset=dataset.name,
            where=others.where,
            spellings=_named(pairs, max(_fewest(dataset), others.smallest)),
        )
        yield Flag("other_categories", dataset.name, says, columns=(feature.name,))


def _two_codes(
    dataset: str, name: str, mine: Sequence[float], theirs: Sequence[float], where: str | Fact
) -> Iterator[Flag]:
    """Two values of one property that are coded 0 and 1 here, 1 and 2 there."""
    if {tuple(mine), tuple(theirs)} == {(0, 1), (1, 2)}:
        codes = {"here": tuple(mine), "there": tuple(theirs)}
        says = Fact("coded_otherwise", predictor=name, dataset=dataset, where=where, **codes)
        yield Flag("other_categories", dataset, says, columns=(name,))


def _words(feature: Feature) -> tuple[str, ...]:
    """The categories that occur."""
    levels = feature.levels
    return () if levels is None else tuple(levels[int(code)] for code in np.unique(_known(feature)))


def _numbers(words: Sequence[str]) -> tuple[float, ...]:
    """The numbers that these categories are the codes of; none where a category is no number."""
    values = [columns.parsed(word) for word in words]
    return tuple(value for value in values if value is not None) if None not in values else ()
