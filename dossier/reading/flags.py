"""What is odd about the tables without being wrong: the flags that reading raises."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dossier.core import bands, errors
from dossier.core.facts import Count, Fact, Value
from dossier.core.faults.locations import listed_table
from dossier.core.release import PREVIOUS, Fitted, Release
from dossier.core.types import POOLED, RIVAL, Absent, Dataset, Flag, Floats, RiskBy, SettledTable
from dossier.reading import coding, signs
from dossier.reading.datasets import Cohort

TELLING = 3
"""From so many predictors on two equal rows are hardly two patients by chance."""

PASTED = (2, 3, 5)
"""How often a table may stand below itself; four times is twice, too."""

TWICE = 2
"""So many times more pairs than by chance are no other patients: predictors that go together make some more."""
MORE_THAN_CHANCE = 5.0
"""So many times more equal rows than two tables of other patients would share are the same patients."""


def flags(sites: Sequence[Cohort], tables: Sequence[SettledTable], release: Release) -> tuple[Flag, ...]:
    """The flags of every dataset, in their order, and of the tables as a whole."""
    development = next((site for site in sites if site.dataset.role == "development"), None)
    fitted = None if release.model is None else release.model.fitted
    each = (flag for site in sites for flag in _of(site, development, fitted))
    empty = _empty_subgroups([site.dataset for site in sites])
    names = [site.dataset.name for site in sites]
    # What is noted of a table is of its dataset, or of all where it holds several.
    noted = (
        Flag(signs.NOTES[note.code], table.dataset if table.dataset in names else POOLED, note)
        for table in tables
        for note in table.notes
    )
    external = [site.dataset for site in sites if site.dataset.role == "external"]
    alike = _flagged_alike(external, release.thresholds.declared)
    return (*each, *alike, *_same_tables(sites), *coding.flags(sites), *empty, *_sites_left_out(tables), *noted)


def _sites_left_out(tables: Sequence[SettledTable]) -> Iterator[Flag]:
    """Rows that belong to no dataset, because `rows` leaves out every row of their site."""
    for table in tables:
        if table.of_no_dataset:
            rows = Count(table.of_no_dataset, "row")
            yield Flag("rows_selected", POOLED, Fact("rows_of_no_dataset", rows=rows, file=table.file))


def _of(site: Cohort, development: Cohort | None, fitted: Fitted | None) -> Iterator[Flag]:
    dataset = site.dataset
    yield from _one_class(dataset)
    yield from _constant_risk(dataset)
    yield from _risks_over_time(dataset)
    yield from _events_at_the_start(dataset)
    suspected = list(signs.flags_of(dataset, fitted))
    yield from suspected
    if not any(flag.flag == "looks_like_classes" for flag in suspected):
        yield from _certain_risks(dataset)
    yield from _missing_predictors(dataset)
    yield from _renamed_predictors(site)
    yield from _repeated_rows(site)
    yield from _incomplete_rival(site)
    yield from _same_as_rival(site)
    yield from _in_no_subgroup(dataset)
    yield from _names_for_missing(site)
    if development is not None and dataset.role == "external":
        yield from _seen_before(site, development)


ENOUGH_TO_TELL = 10
"""So many rows with the same risks and outcomes in the same order are no coincidence."""


def _same_tables(sites: Sequence[Cohort]) -> Iterator[Flag]:
    """External datasets that hold the same risks and outcomes row by row, or many of the same rows."""
    external = [site.dataset for site in sites if site.dataset.role == "external"]
    once = _held_once(external)
    for index, dataset in enumerate(external):
        name, found = dataset.name, [(_held_by_both(once[index], each), each.name) for each in once[:index]]
        same = [each.name for each in external[:index] if _same_rows(dataset, each)]
        if dataset.rows_analysed >= ENOUGH_TO_TELL and same:
            yield Flag.of(name, Fact("same_table", dataset=name, earlier=same[0]))
        elif (most := max(found, default=(0, "")))[0] and not dataset.minimum_cell:
            rows = Count(most[0], "row")
            yield Flag("same_table", name, Fact("rows_in_common", dataset=name, earlier=most[1], rows=rows))


@dataclass(frozen=True)
class HeldOnce:
    """The rows that a table holds once, each by its number among those of all tables, and how many it holds twice."""

    name: str
    rows: NDArray[np.int64]
    twice: int


def _held_once(datasets: Sequence[Dataset]) -> list[HeldOnce]:
    """By outcome, risk and the predictors that all datasets have."""
    names = [each.name for each in datasets[0].predictors] if datasets else []
    names = [name for name in names if all(name in _shared(each, each) for each in datasets)]
    tables = [_rows(each, names, own=True) for each in datasets]
    if len(tables) < 2 or len({table.shape[1] for table in tables}) > 1:
        return [HeldOnce(each.name, np.empty(0, dtype=np.int64), 0) for each in datasets]
    # A gap is equal to a gap.
    number = np.unique(np.nan_to_num(np.concatenate(tables), nan=np.inf), axis=0, return_inverse=True)[1].ravel()
    found = []
    for dataset, own in zip(datasets, np.split(number, np.cumsum([len(table) for table in tables])[:-1]), strict=True):
        rows, counts = np.unique(own, return_counts=True)
        found.append(HeldOnce(dataset.name, rows[counts == 1], int((counts == 2).sum())))
    return found


def _held_by_both(here: HeldOnce, there: HeldOnce) -> int:
    """How many rows both hold once; 0 where other patients may be as many.

    Where chance brings a row to one table at the rate a and to another at b, both hold it once at a b exp(-a - b), and
    a table twice at a^2 exp(-a)/2: together the first are at most twice the root of the product of the second, whatever
    the case mix of the hospitals (Cauchy and Schwarz). A row more than was seen is assumed and one standard error, so
    that few rows prove nothing. Of 6,000 releases of 20 hospitals of 40 to 200 patients, with risks of two or three
    decimals, of a formula of four predictors or the same for every second patient, none had a pair named; without the
    standard error 8 of 100.
    """
    equal = len(np.intersect1d(here.rows, there.rows, assume_unique=True))
    by_chance = 2 * math.prod(math.sqrt(1 + each.twice) + 0.5 for each in (here, there))
    return equal if equal >= ENOUGH_TO_TELL and _is_no_chance(equal, by_chance, TWICE) else 0


def _same_rows(first: Dataset, other: Dataset) -> bool:
    pairs = [(getattr(first, name), getattr(other, name)) for name in ("outcome", "risk", "classes", "class_risk")]
    held = [(here, there) for here, there in pairs if here is not None or there is not None]
    return bool(held) and all(
        here is not None and there is not None and np.array_equal(here, there) for here, there in held
    )


def _one_class(dataset: Dataset) -> Iterator[Flag]:
    if dataset.classes is not None:
        yield from _unseen_classes(dataset)
    if dataset.outcome is not None and len(np.unique(dataset.outcome)) == 1:
        says = Fact("one_outcome", happened=dataset.outcome[0] == 1, dataset=dataset.name)
        yield Flag("one_class", dataset.name, says)


def _unseen_classes(dataset: Dataset) -> Iterator[Flag]:
    seen = set(() if dataset.classes is None else dataset.classes.tolist())
    if len(seen) == 1:
        yield Flag("one_class", dataset.name, Fact("one_class_of_several", dataset=dataset.name))
        return
    unseen = tuple(label for index, label in enumerate(dataset.class_labels) if index not in seen)
    if len(unseen) == 1:
        yield Flag.of(dataset.name, Fact("class_missing", label=unseen[0], dataset=dataset.name))
    elif unseen:
        yield Flag("class_missing", dataset.name, Fact("classes_missing", labels=unseen, dataset=dataset.name))


def _constant_risk(dataset: Dataset) -> Iterator[Flag]:
    if dataset.class_risk is not None and len(dataset.class_risk) > 1 and not np.ptp(dataset.class_risk, axis=0).any():
        yield Flag("constant_risk", dataset.name, Fact("constant_risks", dataset=dataset.name))
    if dataset.risk is not None and len(dataset.risk) > 1 and len(np.unique(dataset.risk)) == 1:
        yield Flag.of(dataset.name, Fact("constant_risk", dataset=dataset.name, risk=dataset.risk[0]))


def _risks_over_time(dataset: Dataset) -> Iterator[Flag]:
    """Risks that are lower by a later horizon than by an earlier one, though who has had the outcome has had it; and
    those of a model, or of the other one, that are the same by both, though some have it in between.
    """
    own = () if dataset.followed is None else (RiskBy(dataset.followed.horizon, dataset.risk, dataset.rival),)
    declared = sorted((*own, *dataset.further_horizons), key=lambda each: each.horizon)
    for whose, column in (("model", "risk"), ("other model", "rival")):
        known = [(by.horizon, risk) for by in declared if (risk := getattr(by, column)) is not None and len(risk)]
        for (earlier, before), (later, after) in itertools.combinations(known, 2):
            if np.array_equal(before, after):
                says = Fact("same_by_two_horizons", dataset=dataset.name, whose=whose, before=earlier, after=later)
                yield Flag("same_by_two_horizons", dataset.name, says)
        for (earlier, before), (later, after) in itertools.pairwise(known if column == "risk" else ()):
            if fall := int((after < before - bands.ROUNDING).sum()):
                rows = {"dataset": dataset.name, "rows": Count(fall, "row"), "before": earlier, "after": later}
                yield Flag.of(dataset.name, Fact("risks_fall_with_time", **rows))


def _events_at_the_start(dataset: Dataset) -> Iterator[Flag]:
    """Events when the follow-up begins."""
    known = dataset.followed
    if known is not None and (at_once := int(((known.time == 0) & (known.event != 0)).sum())):
        yield Flag.of(dataset.name, Fact("event_at_start", dataset=dataset.name, rows=Count(at_once, "row")))


def _certain_risks(dataset: Dataset) -> Iterator[Flag]:
    """Risks that have no logit: calibration slope and intercept are those of the others."""
    risks = dataset.risk if dataset.risk is not None else dataset.class_risk
    if risks is None:
        return
    certain = (risks < bands.CERTAIN) | (risks > 1 - bands.CERTAIN)
    if count := int(certain.sum() if certain.ndim == 1 else certain.any(axis=1).sum()):
        yield Flag.of(dataset.name, Fact("certain_risks", rows=Count(count, "row"), dataset=dataset.name))


def _missing_predictors(dataset: Dataset) -> Iterator[Flag]:
    if lost := tuple(predictor.name for predictor in dataset.predictors if np.isnan(predictor.values).all()):
        says = Fact("missing_in_every_row", predictors=lost, dataset=dataset.name)
        yield Flag("missing_predictor", dataset.name, says, columns=lost)


def _renamed_predictors(site: Cohort) -> Iterator[Flag]:
    """Predictors that are none here because the table may call them otherwise."""
    for renamed in site.renamed:
        says = Fact(
            "predictor_called_otherwise",
            dataset=site.dataset.name,
            predictor=renamed.name,
            columns=tuple(renamed.columns),
            first=renamed.columns[0],
        )
        yield Flag("missing_predictor", site.dataset.name, says, columns=(renamed.name,))


def _repeated_rows(site: Cohort) -> Iterator[Flag]:
    """Equal rows, where no identifiers say that they are different patients; with few predictors only in one block."""
    dataset = site.dataset
    if dataset.split is not None or site.identifiers is not None:
        return
    whole = _measured_in(dataset)
    if len(dataset.predictors) < TELLING:
        if block := _repeated_block(whole):
            rows = Count(len(whole) - block, "row")
            yield Flag("duplicate_rows", dataset.name, Fact("table_repeated", dataset=dataset.name, rows=rows))
        return
    repeated = len(whole) - len(np.unique(whole, axis=0))
    if repeated and _is_no_chance(_pairs(whole), _pairs_by_chance(dataset), TWICE):
        rows = Count(repeated, "row")
        yield Flag.of(dataset.name, Fact("duplicate_rows", dataset=dataset.name, rows=rows))


def _pairs(rows: Floats) -> float:
    """How many pairs of rows are equal."""
    counts = np.unique(rows, axis=0, return_counts=True)[1].astype(float)
    return float((counts * (counts - 1) / 2).sum())


def _pairs_by_chance(dataset: Dataset) -> float:
    """How many pairs of different patients would be equal: those equal but for the column that tells most, as often as
    that is equal. It is no risk, which follows from the others.
    """
    known, count = _measured_in(dataset, with_risks=False), dataset.rows_analysed
    equal = [_pairs(column[:, None]) for column in known.T]
    tells = int(np.argmin(equal))
    return _pairs(np.delete(known, tells, axis=1)) * equal[tells] / (count * (count - 1) / 2)


def _measured_in(dataset: Dataset, *, with_risks: bool = True) -> Floats:
    """What is known of each row: predictors, outcome and risks, as columns."""
    known = dataset if with_risks else replace(dataset, risk=None, class_risk=None)
    # A gap is equal to a gap.
    return np.nan_to_num(_rows(known, [each.name for each in dataset.predictors], own=True), nan=np.inf)


def _repeated_block(rows: Floats) -> int:
    """How many rows a table has that was pasted several times below itself; 0 where it was not."""
    for times in PASTED:
        block, rest = divmod(len(rows), times)
        if not rest and block >= ENOUGH_TO_TELL and np.array_equal(rows[block:], rows[:-block]):
            return block if len(np.unique(rows[:block], axis=0)) >= ENOUGH_TO_TELL else 0
    return 0


def _incomplete_rival(site: Cohort) -> Iterator[Flag]:
    name = site.dataset.name
    for label, missing in site.rival_missing.items():
        if missing:
            model = {RIVAL: "The other model", PREVIOUS: "The previous release"}.get(label, label)
            says = Fact("rival_without_risks", model=model, rows=Count(missing, "row"), dataset=name)
            yield Flag("rival_incomplete", name, says)


def _same_as_rival(site: Cohort) -> Iterator[Flag]:
    """Other models that are the model itself, row by row."""
    dataset = site.dataset
    ours = dataset.risk if dataset.class_risk is None else dataset.class_risk
    first = dataset.rival if dataset.class_risk is None else dataset.class_rival
    others = (first, *(model.risk for model in dataset.further_rivals))
    for label, theirs in zip(site.rival_missing, others, strict=False):
        if label == PREVIOUS or ours is None or theirs is None or len(ours) < ENOUGH_TO_TELL:
            continue
        if np.array_equal(ours, theirs):
            says = Fact("same_as_rival", rival="the other model" if label == RIVAL else label, dataset=dataset.name)
            yield Flag("same_as_rival", dataset.name, says)


def _flagged_alike(external: Sequence[Dataset], thresholds: Sequence[float]) -> Iterator[Flag]:
    """Thresholds that part nobody at a dataset of enough patients, or at all datasets that have enough together.

    At a few of many small ones everyone may be on one side by chance. One risk for all is a flag of its own.
    """
    every = [each for each in external if each.risk is not None and np.ptp(each.risk) > 0]
    for threshold, everyone in itertools.product(thresholds, (True, False)):
        alike = [each for each in every if each.risk is not None and ((each.risk >= threshold) == everyone).all()]
        if len(alike) < len(external) or not _are_enough(alike):
            alike = [each for each in alike if _are_enough([each])]
        if alike:
            where: dict[str, Value] = {"alike": len(alike), "hospitals": len(external)}
            names = tuple(each.site for each in alike)
            says = Fact("flagged_alike", threshold=threshold, everyone=everyone, sites=names, **where)
            yield Flag("flagged_alike", alike[0].name if len(alike) == 1 else POOLED, says)


def _are_enough(datasets: Sequence[Dataset]) -> bool:
    """Whether the datasets together have enough patients with and without the outcome to tell anything of both."""
    outcome = np.concatenate(
        [each.outcome[each.known] for each in datasets if each.outcome is not None] or [np.empty(0)]
    )
    return min(int(outcome.sum()), int((1 - outcome).sum())) >= bands.FEW_FOR_POOLING


def _in_no_subgroup(dataset: Dataset) -> Iterator[Flag]:
    """Rows whose value of a subgroup's column is missing or not among its levels."""
    for column in dict.fromkeys(subgroup.column for subgroup in dataset.subgroups):
        masks = [subgroup.rows for subgroup in dataset.subgroups if subgroup.column == column]
        known = [rows for rows in masks if not isinstance(rows, Absent)]
        lost = int((~np.logical_or.reduce(known)).sum()) if known else 0
        if lost:
            says = Fact("in_no_subgroup", dataset=dataset.name, rows=Count(lost, "row"), column=column)
            yield Flag("in_no_subgroup", dataset.name, says)


def _names_for_missing(site: Cohort) -> Iterator[Flag]:
    """Sites and clusters that nobody may have named; whatever the formula of the model uses, it concerns them."""
    for unknown in site.unknown:
        says = Fact(
            "name_for_missing",
            column=unknown.column,
            name=unknown.name,
            rows=Count(int(unknown.rows.sum()), "row"),
            dataset=site.dataset.name,
            counted_as=unknown.counted_as,
        )
        yield Flag("code_for_missing", site.dataset.name, says)


def _empty_subgroups(datasets: Sequence[Dataset]) -> Iterator[Flag]:
    """Levels that were declared and that no row of any dataset has."""
    for same in zip(*[dataset.subgroups for dataset in datasets if dataset.role != "development"], strict=True):
        if not any(not isinstance(subgroups.rows, Absent) and subgroups.rows.any() for subgroups in same):
            yield Flag.of(POOLED, Fact("empty_subgroup", column=same[0].column, level=same[0].label))


def _seen_before(site: Cohort, development: Cohort) -> Iterator[Flag]:
    """Rows that the development table has too: by identifier where both have one, and by what they hold.

    No fault: the rows may be meant to be there, and identifiers or values alone may coincide by chance.
    """
    here, there = site.dataset, development.dataset
    shared = _shared(here, there)
    if not shared:
        return
    equal = _same_identifier(site, development, shared)
    if equal:
        yield Flag("shared_rows", here.name, Fact("shared_by_identifier", dataset=here.name, rows=Count(equal, "row")))
        return
    equal, by_chance = _in_common(_rows(here, shared), _rows(there, shared)) if len(shared) >= TELLING else (0, 0.0)
    if _is_no_chance(equal, by_chance, MORE_THAN_CHANCE):
        both = {"rows": Count(equal, "row"), "predictors": Count(len(shared), "predictor")}
        yield Flag("shared_rows", here.name, Fact("shared_by_values", dataset=here.name, **both))


def _is_no_chance(seen: float, by_chance: float, times: float) -> bool:
    """Whether more were seen than so many times what chance gives on average, and chance hardly ever gives as many: by
    Chernoff's bound on the tail of a Poisson count, at a level that holds for many hospitals of few patients.
    """
    if seen <= times * by_chance:
        return False
    return by_chance == 0 or math.exp(seen - by_chance + seen * math.log(by_chance / seen)) <= NO_CHANCE


NO_CHANCE = 0.001
"""So rare a count is no chance."""


def _same_identifier(site: Cohort, development: Cohort, shared: Sequence[str]) -> int:
    """How many rows are equal to a development row in identifier and predictors."""
    if site.identifiers is None or development.identifiers is None:
        return 0
    known = dict(zip(_kept(development), _rows(development.dataset, shared), strict=True))
    return sum(
        key in known and np.array_equal(known[key], row, equal_nan=True)
        for key, row in zip(_kept(site), _rows(site.dataset, shared), strict=True)
    )


def repeated(found: Sequence[Cohort]) -> Iterator[errors.Fault]:
    """The faults of datasets that hold rows of others and not the same rows, where counts are protected: a range of a
    part beside that of the whole tells more than either. Rows are known by what they hold, or by how many hold it.
    """
    # The parts of a table that was split over and over hold each row many times, and have ranges as much wider.
    once = [site.dataset for site in found if site.dataset.split is None]
    for there in once:
        at, others = listed_table("dataset"), [other for other in once if other is not there]
        parts = [other for other in others if other.rows_analysed <= there.rows_analysed and _is_part(other, there)]
        yield from (errors.Fault("rows_of_two_datasets", at, dataset=there.name, earlier=part.name) for part in parts)
        rows, *of_others = (_rows(each, (), own=True) for each in (there, *others))
        if not parts and len(others) > 1 and _hold_the_same(rows, of_others):
            every = ", ".join(other.name for other in others)
            yield errors.Fault("rows_of_two_datasets", at, dataset=there.name, earlier=every)


def _is_part(here: Dataset, there: Dataset) -> bool:
    """Whether a dataset has many rows of a larger one, more than by chance, and is not all of it."""
    rows, known = (_rows(each, _shared(here, there), own=True) for each in (here, there))
    equal, by_chance = _in_common(rows, known)
    # Among what each holds once no heap of equal rows hides what they share.
    is_more = equal >= there.minimum_cell and equal > MORE_THAN_CHANCE * by_chance
    is_more = is_more or _held_by_both(*_held_once([here, there])) >= max(there.minimum_cell, 1)
    return is_more and not _hold_the_same(rows, [known])


def _hold_the_same(rows: Floats, parts: Sequence[Floats]) -> bool:
    """Whether as many rows hold each values as of all parts together."""
    widths = {rows.shape[1], *(part.shape[1] for part in parts)}
    held = Counter(row.tobytes() for row in rows + 0.0)
    return len(widths) == 1 and held == Counter(row.tobytes() for part in parts for row in part + 0.0)


def _shared(here: Dataset, there: Dataset) -> list[str]:
    others = {other.name for other in there.predictors}
    return [predictor.name for predictor in here.predictors if predictor.name in others]


def _in_common(rows: Floats, known: Floats) -> tuple[int, float]:
    """How many complete rows are equal to one that is known, and how many two tables of other patients would share.

    Two rows that are known are two patients: how often they are equal says how often chance makes them so. One pair
    more than was seen is assumed, so that a small table proves nothing.
    """
    rows, known = (each[~np.isnan(each).any(axis=1)] for each in (rows, known))
    if len(known) < 2:
        return 0, 0.0
    seen = Counter(row.tobytes() for row in known + 0.0)
    equal = sum(row.tobytes() in seen for row in rows + 0.0)
    pairs = 1 + sum(count * (count - 1) / 2 for count in seen.values())
    return equal, pairs * len(rows) * 2 / (len(known) - 1)


def _kept(site: Cohort) -> list[str]:
    return [identifier for identifier, keep in zip(site.identifiers or (), site.analysed, strict=True) if keep]


def _rows(dataset: Dataset, names: Sequence[str], *, own: bool = False) -> Floats:
    """Some predictors, and where `own` says so before them the outcome and the risks of the model."""
    values = {predictor.name: predictor.values for predictor in dataset.predictors}
    before = (dataset.outcome, dataset.risk, dataset.classes, dataset.class_risk) if own else ()
    return np.column_stack([*(each for each in before if each is not None), *(values[name] for name in names)])
