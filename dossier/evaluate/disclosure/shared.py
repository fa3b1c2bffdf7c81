"""What the counts of a release have in common: one width for all ranges, and columns whose counts others give already.

A count that is the sum of others would be given a range of its own beside theirs, and both together tell more than
either. Which counts are sums of others is asked of the rows of all datasets together, so that it holds by what the
columns mean and not by who happened to come: two columns that fewer rows tell apart than the policy asks for say the
same, for that they are not quite the same would tell of few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dossier.core.facts import gathered
from dossier.core.types import Absent, Dataset, Floats, Study
from dossier.evaluate.disclosure.chains import OF_SUMS, grid, width
from dossier.metrics.description import TWO_VALUED

MOST_LEVELS = 4
"""A column of more levels makes no subgroups that are given, and a predictor of more has no shares."""

ROUNDED = 1e-9
"""What rounding leaves of the sum of squares of an indicator that others determine, as a share of the largest."""


def of_release(study: Study) -> tuple[int, frozenset[str]]:
    """How many values every range of a release holds, and the columns whose counts others give; 0 without a policy."""
    strictest = minimum_cell(study)
    if not strictest:
        return 0, frozenset()
    each = study.datasets
    # The columns of subgroups and the predictors some of whose counts are sums of counts that are given before: of
    # the outcome by the risk, of columns of subgroups, of earlier predictors.
    said = frozenset(_found(study, each))
    columns = [
        len(levels) for name, levels in _columns(each).items() if name not in said and len(levels) <= MOST_LEVELS
    ]
    parts = [
        len(_values(each, name))
        for name in _predictors(each)
        if name not in said and len(_values(each, name)) <= MOST_LEVELS
    ]
    return width(strictest, columns, max((OF_SUMS, *parts))), said


def minimum_cell(study: Study) -> int:
    """The smallest count that may be given of any row: the strictest that a table asks for, for any number may rest on
    rows of several.
    """
    return max((dataset.minimum_cell for dataset in study.datasets), default=0)


def _found(study: Study, each: Sequence[Dataset]) -> Iterator[str]:
    least = minimum_cell(study)
    # The rows of each dataset: that they are its rows, their outcome, and their risk by parts of some persons.
    risks = [np.zeros(dataset.rows_analysed) if dataset.risk is None else dataset.risk for dataset in each]
    every = np.concatenate(risks)
    cuts: list[float] = []
    for cut in grid(study.release.thresholds.declared):
        beyond = int((every >= cut).sum())
        before = int((every >= cuts[-1]).sum()) if cuts else len(every)
        if beyond >= least and before - beyond >= least:
            cuts.append(cut)
    known = [
        _of_rows(dataset, index, len(each), risks[index][:, None] >= np.array(cuts))
        for index, dataset in enumerate(each)
    ]
    for name, levels in _levels(each):
        # Of levels that add up to all the commonest follows from the others; those of few are named nowhere.
        counts = np.sum([block.sum(axis=0) for block in levels], axis=0)
        kept = [index for index in np.argsort(-counts, kind="stable")[1:] if counts[index] >= least]
        new = [block[:, kept] for block in levels]
        if kept and _left(known, new) >= least:
            known = [np.hstack(pair) for pair in zip(known, new, strict=True)]
        else:
            yield name


def _left(known: Sequence[Floats], new: Sequence[Floats]) -> float:
    """How many rows at least part any combination of the new indicators from every combination of those known."""
    of_known, of_both, of_new = (
        np.sum([first.T @ other for first, other in zip(one, two, strict=True)], axis=0)
        for one, two in ((known, known), (known, new), (new, new))
    )
    rest = of_new - of_both.T @ np.linalg.pinv(of_known, ROUNDED, hermitian=True) @ of_both
    return float(np.linalg.eigvalsh(rest)[0])


def _of_rows(dataset: Dataset, index: int, of: int, reached: NDArray[np.bool_]) -> Floats:
    own = np.zeros((dataset.rows_analysed, of))
    own[:, index] = 1
    happened = np.zeros((dataset.rows_analysed, max(1, len(dataset.class_labels) - 1)))
    left = np.zeros((dataset.rows_analysed, 1)) if dataset.followed is None else dataset.followed.left[:, None]
    if dataset.classes is not None:
        happened = dataset.classes[:, None] == np.arange(happened.shape[1])
    elif dataset.outcome is not None:
        happened = dataset.outcome[:, None]
    return np.hstack([own, happened, left, reached]).astype(float)


def _columns(each: Sequence[Dataset]) -> dict[str, list[str]]:
    """The columns that make subgroups anywhere, with the levels of each."""
    levels = gathered((subgroup.column, subgroup.label) for dataset in each for subgroup in dataset.subgroups)
    return {column: list(dict.fromkeys(labels)) for column, labels in levels.items()}


def _predictors(each: Sequence[Dataset]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(predictor.name for dataset in each for predictor in dataset.predictors))


def _values(each: Sequence[Dataset], name: str) -> Floats:
    """The values of a predictor over all datasets, each once."""
    held = [feature.values for dataset in each for feature in dataset.predictors if feature.name == name]
    every = np.unique(np.concatenate(held))
    return np.asarray(every[~np.isnan(every)])


def _levels(each: Sequence[Dataset]) -> Iterator[tuple[str, list[Floats]]]:
    """Every column of subgroups and every predictor whose categories are counted, with its indicators by dataset."""
    columns = _columns(each)
    for column, labels in columns.items():
        if len(labels) <= MOST_LEVELS:
            yield column, [_of_column(dataset, column, labels) for dataset in each]
    for name in _predictors(each):
        values = _values(each, name)
        if name not in columns and len(values) <= max(MOST_LEVELS, TWO_VALUED):
            yield name, [_of_predictor(dataset, name, values) for dataset in each]


def _of_column(dataset: Dataset, column: str, labels: Sequence[str]) -> Floats:
    found = np.zeros((dataset.rows_analysed, len(labels) + 1))
    for subgroup in dataset.subgroups:
        if subgroup.column == column and not isinstance(subgroup.rows, Absent):
            found[subgroup.rows, labels.index(subgroup.label)] = 1
    return _with_the_rest(found)


def _of_predictor(dataset: Dataset, name: str, values: Floats) -> Floats:
    found = np.zeros((dataset.rows_analysed, len(values) + 1))
    feature = next((feature for feature in dataset.predictors if feature.name == name), None)
    if feature is not None:
        found[:, :-1] = feature.values[:, None] == values
    return _with_the_rest(found)


def _with_the_rest(found: Floats) -> Floats:
    """The indicators with that of the rows of none of them as the last."""
    found[:, -1] = 1 - found[:, :-1].max(axis=1, initial=0)
    # A dataset in which nobody has any lacks the column, and how many rows it has is known.
    return found if found[:, :-1].any() else np.zeros_like(found)
