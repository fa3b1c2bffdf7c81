"""Signs of a table that is not what it says: one list of rules on its columns, and one on the rows of a dataset.

None is a proof, so each is a flag and no fault: only who knows the table can tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from dossier.core import bands, facts, release, types
from dossier.reading import columns, notations
from dossier.reading.predictors import Input

NOTES: Mapping[str, str] = notations.MET["notes"]
"""The flag that each note on a table raises."""


# ---- columns of a table ---------------------------------------------------------------------------------------------

SHOWN = ("outcome", "risk", "rival's risk", "predictor", "subgroup", "weights")
"""The roles whose range is shown: of a column that nobody uses, or that names a patient, nothing is."""
FREE = ("predictor", "not used", "subgroup")
"""The roles of columns that nobody has said what they are for."""

CALLED: Mapping[str, list[str]] = notations.MET["called"]
PERSON, NUMBER_OF, WAYS = ("|".join(CALLED[of]) for of in ("persons", "numbers_of", "altered"))
PATIENT = re.compile(f"id|(?:{NUMBER_OF})?(?:study|anon|hospital)?(?:{PERSON})(?:s|in|en)?(?:{NUMBER_OF})?")
"""What a column that tells patients apart is called, small letters alone."""


def is_of_persons(name: str) -> bool:
    """Whether a column is called as one that tells patients apart."""
    return PATIENT.fullmatch(re.sub(r"[\W_]", "", name.casefold())) is not None


FEWEST_PATIENTS = 10
"""With fewer different values a column is rather a category than a list of persons."""
LEAST_SUM = 10
"""A smaller sum is reached by chance where a column is nearly all 0."""
ENOUGH_ADDED = 5
"""The sum of so many numbers, none below 0, tells of a total in one column alone: a last row that was none was taken
for one in 12 of 20,000 tables of 6 to 500 rows and 14 columns of counts, sizes and costs."""
ALTERED = re.compile(
    rf"(?:[\s_.\-(]+(?:{WAYS})[\s_\-]?\d*\)?)+$|^(?:(?:{WAYS})(?:[\s_\-]?\d+)?[\s_.\-]+)+", re.IGNORECASE
)
"""What programs that alter images add to their names."""
MOST_NAMES = 100_000
"""Of more rows no names are looked at one by one: so many images nobody alters."""
ENDING = re.compile(r"\.[A-Za-z]\w{1,3}(?:\.gz)?$")


def notes(source: Input, roles: Mapping[str, str]) -> Iterator[facts.Fact]:
    """What the columns of a table let suspect, by their roles; nothing of a column that is read in a sample only."""
    for rule in RULES:
        yield from rule(source, roles)


def _missing(source: Input, roles: Mapping[str, str]) -> Iterator[facts.Fact]:
    """Cells that were taken for missing, though nobody declared it."""
    held = [column for name, column in source.table.columns.items() if column.not_available and roles[name] in SHOWN]
    if held:
        cells = facts.Count(sum(column.not_available for column in held), "row")
        yield facts.Fact(
            "read_as_missing", columns=tuple(column.name for column in held), cells=cells, file=source.table.file
        )


def _patients(source: Input, roles: Mapping[str, str]) -> Iterator[facts.Fact]:
    """A column of patients that holds each several times, where rows are taken for patients."""
    declared = source.declaration
    if declared.cluster is not None or declared.split is not None or declared.imputation is not None:
        return
    for name, column in source.table.columns.items():
        if roles[name] not in FREE or not is_of_persons(name):
            continue
        codes, words = columns.encoded(column)
        sizes = np.bincount(codes[codes >= 0], minlength=1)
        rows = int(sizes[sizes > 1].sum())
        if len(words) >= FEWEST_PATIENTS and rows:
            yield facts.Fact("repeated_patients", column=name, rows=facts.Count(rows, "row"), file=source.table.file)
            return


def _totals(source: Input, roles: Mapping[str, str]) -> Iterator[facts.Fact]:
    """A last row that is called a total, or that holds the sums or means of those above it."""
    table = source.table
    if len(table.rows) < 3:
        return
    for name, column in table.columns.items():
        cell = None if column.missing[-1] else column.cells[len(column.missing) - 1].as_py()
        word = cell if isinstance(cell, str) else None
        if word is not None and word.casefold().rstrip(":") in CALLED["totals"]:
            codes, words = columns.coded(column)
            if int((codes == words.index(word)).sum()) == 1:
                yield facts.Fact("totals_by_word", word=word, column=name, file=table.file)
                return
    summed = {name: added for name, column in table.columns.items() if (added := _is_sum(column.numbers))}
    if len(summed) > 1 or any(added >= ENOUGH_ADDED for added in summed.values()):
        yield facts.Fact("totals_by_sum", columns=tuple(summed), file=table.file)


@np.errstate(over="ignore", invalid="ignore")
def _is_sum(numbers: types.Floats) -> int:
    """Of how many numbers but 0 the last is the sum, or 1 where it is the mean of the others and none of them; never of
    one too large. 0 where it is neither."""
    others, last = numbers[:-1][~np.isnan(numbers[:-1])], numbers[-1]
    if len(others) < 2 or not np.isfinite(last) or not np.isfinite(others).all() or not np.ptp(others):
        return 0
    total, mean = float(others.sum()), float(others.mean())
    if abs(total) >= LEAST_SUM and abs(last) > np.abs(others).max() and np.isclose(last, total, rtol=1e-6, atol=0):
        return int(np.count_nonzero(others)) if (others >= 0).all() else 1
    return int(last not in others and np.isclose(last, mean, rtol=1e-6, atol=0))


def _copies(source: Input, roles: Mapping[str, str]) -> Iterator[facts.Fact]:
    """Images whose names say that they were made of others."""
    if source.declaration.cluster is not None or len(source.table.rows) > MOST_NAMES:
        return
    for name, column in source.table.columns.items():
        if column.kind != "texts" or roles[name] not in (*FREE, "id"):
            continue
        codes, words = columns.coded(column)
        plain = [ENDING.sub("", word) for word in words]
        altered = np.array([*(ALTERED.search(word) is not None for word in plain), False])
        origins = {ALTERED.sub("", word) for word in plain}
        rows = int(altered[codes].sum())
        if rows and len(origins) < len(words):
            yield facts.Fact("copies_by_name", rows=facts.Count(rows, "row"), column=name, file=source.table.file)
            return


RULES: Sequence[Callable[[Input, Mapping[str, str]], Iterator[facts.Fact]]] = (_missing, _patients, _totals, _copies)


# ---- rows of a dataset ----------------------------------------------------------------------------------------------

EXACTLY = 0.01
"""Standard errors: nearer to what it expects chance brings one of two sums in 125 datasets, and both in 15,000."""
ENOUGH_RISKS = 20
"""Of fewer different risks such sums come out even by chance."""


def flags_of(dataset: types.Dataset, fitted: release.Fitted | None = None) -> Iterator[types.Flag]:
    """The flags of what the risks and outcomes of a dataset let suspect, of a formula that was `fitted` somewhere."""
    outcome, risk = _by_class(dataset)
    if risk is None or len(risk) < 2:
        return
    if np.isin(risk, (0.0, 1.0)).all():
        yield types.Flag.of(dataset.name, facts.Fact("looks_like_classes", dataset=dataset.name))
    elif outcome is not None and dataset.role != "development":
        is_here = fitted is not None and (fitted.dataset == dataset.name or fitted.hospital == dataset.site)
        slope = _is_fitted(outcome, risk)
        if slope or (is_here and _is_fitted(outcome, risk, with_slope=False)):
            yield types.Flag.of(dataset.name, facts.Fact("fitted_on_these_rows", dataset=dataset.name, slope=slope))


def _by_class(dataset: types.Dataset) -> tuple[types.Floats | None, types.Floats | None]:
    """Outcomes and risks, a column a class: of two classes that of the outcome alone is held."""
    # Of an outcome by a horizon these equations are not those of its fit.
    outcome, risk = dataset.outcome if dataset.followed is None else None, dataset.risk
    if dataset.class_risk is not None:
        classes = dataset.classes
        return None if classes is None else np.eye(dataset.class_risk.shape[1])[classes], dataset.class_risk
    pair = (None if each is None else np.column_stack([1 - each, each]) for each in (outcome, risk))
    return next(pair), next(pair)


def _is_fitted(outcome: types.Floats, risk: types.Floats, with_slope: bool = True) -> bool:
    """Whether the risks solve the equations of a logistic model fitted, or recalibrated, on these rows.

    Its fit makes as many expected as observed events of each class, and as much of the log odds: O/E, the intercept and
    the slope are exactly 1, 0 and 1. The second sum is looked at beside the first, so that both are independent; an
    update of the intercept solves the first alone.
    """
    if len(np.unique(risk)) < ENOUGH_RISKS or (risk < bands.CERTAIN).any():
        return False
    residual, logs = outcome - risk, np.log(risk)
    first = residual[:, 1:].sum(axis=0)
    spread = np.diag(risk[:, 1:].sum(axis=0)) - risk[:, 1:].T @ risk[:, 1:]
    if np.linalg.matrix_rank(spread) < len(spread):
        return False
    is_level = bool((np.abs(first) < EXACTLY * np.sqrt(np.diag(spread))).all())
    if not with_slope or not is_level:
        return is_level
    centred = logs - (risk * logs).sum(axis=1, keepdims=True)
    both = (risk * centred)[:, 1:].sum(axis=0)
    weight = np.linalg.solve(spread, both)
    left = float((residual * logs).sum() - weight @ first)
    variance = float((risk * centred**2).sum() - weight @ both)
    return variance > 0 and bool(abs(left) < EXACTLY * np.sqrt(variance))
