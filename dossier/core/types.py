"""The frozen values that cross between stages, and the few ways to look one up.

Release (release.py) and Dataset make a Study; Estimate, Absent and Curve fill an Evidence; pictures make it a Gallery;
words make it a Document. After `load` the data are right; after `evaluate` no patient row exists; after `compose` the
words are final.
"""

from __future__ import annotations

import calendar
import datetime
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from dossier.core import bands, facts
from dossier.core.values import CHANGES as CHANGES
from dossier.core.values import MARGINAL as MARGINAL
from dossier.core.values import PERIODS_OF_A_YEAR as PERIODS_OF_A_YEAR
from dossier.core.values import RIVAL as RIVAL
from dossier.core.values import UPDATED as UPDATED
from dossier.core.values import CountRange as CountRange
from dossier.core.values import PeriodUnit as PeriodUnit
from dossier.core.values import ShownByCounts, largest_remainder
from dossier.core.values import Subset as Subset
from dossier.core.values import decimal as decimal
from dossier.core.values import doubles as doubles
from dossier.core.values import unit_of as unit_of

if TYPE_CHECKING:
    from dossier.core.release import Release, StopRule

Floats = NDArray[np.float64]
Role = Literal["development", "internal", "external"]
Tier = Literal["core", "supporting", "descriptive", "caution", "mission"]
At = Mapping[str, float | str]
"""What a number depends on beside the data: {"threshold": 0.5}."""

POOLED = "pooled"
"""The name under which results over all external sites are filed."""

NOT_SELECTED = "not_selected"
"""The code of a row that is excluded because `rows` of its [[dataset]] does not ask for it."""

MACRO = "macro"
"""The value of `class` in `at` under which the unweighted mean over the classes is filed."""


def class_of(at: At) -> str:
    """The class that a setting takes against the rest; empty where it is of all of them, or of two."""
    label = str(at.get("class", MACRO))
    return "" if label == MACRO else label


READERS = "readers"
"""The name under which results of readers' tables are filed that name no dataset."""

READER_STUDY = "reader study"
"""The name under which results of the reader study are filed."""

MODEL = "the model"
"""The name under which what follows from the model's formula alone is filed."""


# ---- what load makes ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Feature:
    """One predictor of one dataset: numbers, or category codes, with NaN where it is missing."""

    name: str
    values: Floats
    levels: tuple[str, ...] | None = None
    """The categories that the codes 0, 1, 2 ... stand for, the same in every dataset; None for a numeric predictor."""


@dataclass(frozen=True)
class Subgroup:
    """The rows of a dataset whose value of a declared column has one label, or why the dataset cannot tell them."""

    column: str
    label: str
    rows: NDArray[np.bool_] | Absent

    @property
    def subset(self) -> Subset:
        """Under which its results are filed."""
        return Subset(self.column, self.label)


@dataclass(frozen=True)
class Periods:
    """The calendar period of each row, counted from the year 0 in `unit`; NO_PERIOD where the day is missing.

    Without a unit no row has a period, for its days alone are known.
    """

    unit: PeriodUnit | None
    of_row: NDArray[np.int64]
    days: NDArray[np.int64]
    """The day of each row, counted from the year 1; NO_PERIOD where it is missing."""

    @property
    def span(self) -> tuple[datetime.date, datetime.date] | None:
        """The first and the last day that is known, or where few came on it of the month that it lies in; None where
        none is known.
        """
        known = self.days[self.days != NO_PERIOD]
        if not len(known):
            return None
        first, last = (datetime.date.fromordinal(int(day)) for day in (known.min(), known.max()))
        if (known == known.min()).sum() < FEWEST_PATIENTS:
            first = first.replace(day=1)
        if (known == known.max()).sum() < FEWEST_PATIENTS:
            last = last.replace(day=calendar.monthrange(last.year, last.month)[1])
        return first, last


NO_PERIOD = -1

FEWEST_PATIENTS = 5
"""Of fewer patients a hospital, a category, a day or a group is not described, whatever the policy."""


@dataclass(frozen=True)
class FollowUp:
    """How long each row was followed, what happened then, and by when the outcome counts."""

    time: Floats
    """0 or more, in one unit."""
    event: Floats
    """0 nothing, 1 the outcome, 2 a competing event."""
    horizon: float

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, rows: Any) -> FollowUp:
        """The follow-up of some of the rows."""
        return replace(self, time=self.time[rows], event=self.event[rows])

    @property
    def cases(self) -> Floats:
        """1 for the rows that are known to have had the outcome by the horizon, 0 for all others."""
        return np.asarray((self.time <= self.horizon) & (self.event == 1), dtype=np.float64)

    @property
    def competing(self) -> NDArray[np.bool_]:
        """The rows that are known to have had a competing event by the horizon."""
        return np.asarray((self.time <= self.horizon) & (self.event == 2))

    @property
    def left(self) -> NDArray[np.bool_]:
        """The rows whose follow-up ended before the horizon without any event: their outcome is unknown."""
        return np.asarray((self.time < self.horizon) & (self.event == 0))


@dataclass(frozen=True)
class RiskBy:
    """The risks of the outcome by a horizon, one a row; None where the dataset has not one for every row."""

    horizon: float
    risk: Floats | None
    rival: Floats | None = None
    """Those of the other model."""


@dataclass(frozen=True)
class RivalRisk:
    """The risks that another model gave for the rows of a dataset: one a row, or of several classes one a class."""

    name: str
    risk: Floats | None
    """None where the dataset has no such column, or not for every row."""
    is_incomplete: bool = False


@dataclass(frozen=True)
class Dataset:
    """The rows of one site that are analysed, and the count of those that are not."""

    name: str
    role: Role
    site: str
    rows_read: int
    excluded: Mapping[str, int]
    outcome: Floats | None
    """0 or 1; where it is known by follow-up, 1 for who is known to have had it by the horizon."""
    risk: Floats | None = None
    rival: Floats | None = None
    rival_is_incomplete: bool = False
    """Whether a rival is left out because it has no risk in some of the rows."""
    further_rivals: tuple[RivalRisk, ...] = ()
    """The other models after the first, which is `rival` or `class_rival`."""
    split: NDArray[np.int64] | None = None
    predictors: tuple[Feature, ...] = ()
    dates: tuple[datetime.date, datetime.date] | None = None
    country: str | None = None
    setting: str | None = None
    """Where in the country its patients were seen, as an emergency department."""
    relevance: Floats | None = None
    """How much each row matters, from 0 to 1."""
    cost: Floats | None = None
    """What acting needlessly costs in each row, and what acting rightly brings; 0 or more, not both 0."""
    benefit: Floats | None = None
    complexity: Floats | None = None
    """How complex each row is, from 0 to 1."""
    class_labels: tuple[str, ...] = ()
    """The classes in order, for an outcome of several classes; `outcome`, `risk` and `rival` are then None."""
    classes: NDArray[np.int64] | None = None
    """The class of each row, from 0."""
    class_risk: Floats | None = None
    """The risk of each class, as given: one row a patient, one column a class."""
    class_rival: Floats | None = None
    cluster: NDArray[np.int64] | None = None
    """The number of the cluster of each row: rows of one cluster are not independent."""
    strata: NDArray[np.int64] | None = None
    """The number of the stratum that the cluster of each row, or the row, was sampled from."""
    weights: Floats | None = None
    """The sampling weight of each row; None where all count alike, equal weights included."""
    imputations: tuple[Dataset, ...] = ()
    """The same rows in each imputation, this one the first of them; empty where nothing was imputed."""
    original: Dataset | None = None
    """The rows with an outcome before anything was imputed, some without a risk; None where they are not given."""
    subgroups: tuple[Subgroup, ...] = ()
    """Every declared subgroup, column by column; the same ones in the same order in every tested dataset."""
    severity_group: NDArray[np.int64] | None = None
    """Which severity weights each row has: 0 for the main ones, 1 for those of the first subgroup that has its own.

    None where there is one matrix for all, and where the rows of the subgroups are not known one by one.
    """
    periods: Periods | None = None
    """The calendar period of each row; None where the release names no column of days."""
    minimum_cell: int = 0
    """The smallest count that may be printed; 0 where the release declares no disclosure policy."""
    followed: FollowUp | None = None
    """What is known of an outcome by a horizon, some rows having been followed for less; None where all are known."""
    further_horizons: tuple[RiskBy, ...] = ()
    """The risks by each further horizon."""

    def by_horizon(self, horizon: float) -> Dataset:
        """The dataset as if one of the further horizons were its only one."""
        by = next((each for each in self.further_horizons if each.horizon == horizon), RiskBy(horizon, None))
        followed = None if self.followed is None else replace(self.followed, horizon=horizon)
        outcome = None if followed is None else followed.cases
        alone: dict[str, Any] = {"rival": by.rival, "further_rivals": (), "subgroups": (), "further_horizons": ()}
        return replace(self, followed=followed, outcome=outcome, risk=by.risk, **alone)

    @property
    def rows_analysed(self) -> int:
        """How many of the rows that were read have an outcome and a risk."""
        return self.rows_read - sum(self.excluded.values())

    @property
    def known(self) -> NDArray[np.bool_]:
        """The rows whose outcome is known."""
        every = np.ones(0 if self.outcome is None else len(self.outcome), dtype=np.bool_)
        return every if self.followed is None else ~self.followed.left

    @property
    def tested(self) -> tuple[Floats, Floats]:
        """The outcome and the risk of each row, which something was made of: it has both."""
        if self.outcome is None or self.risk is None:
            raise TypeError(f"{self.name} has no outcome, or no risk")
        return self.outcome, self.risk

    @property
    def fewest(self) -> int:
        """Of how many rows at least anything is shown."""
        return max(self.minimum_cell, FEWEST_PATIENTS)

    @property
    def without_last_rival(self) -> Dataset:
        """The dataset without the last of its other models."""
        if self.further_rivals:
            return replace(self, further_rivals=self.further_rivals[:-1])
        return replace(self, rival=None, class_rival=None, rival_is_incomplete=False)

    def facing(self, rival: str) -> Dataset:
        """The dataset with the other model of that name as its rival; as it is where that is the first."""
        model = next((other for other in self.further_rivals if other.name == rival), None)
        if model is None:
            return self
        several = bool(self.class_labels)
        return replace(
            self,
            rival=None if several else model.risk,
            class_rival=model.risk if several else None,
            rival_is_incomplete=model.is_incomplete,
        )


@dataclass(frozen=True)
class Readers:
    """The readers' tables: rows are cases, columns are raters, NaN where a rater gave nothing."""

    dataset: str | None
    """The dataset of the cases; None where they are nobody's: the truth is then unknown."""
    rows: NDArray[np.int64]
    """The analysed row of the dataset that each case is; readers may have judged only some of them."""
    labels: Floats
    confidence: Floats | None = None
    complexity: Floats | None = None
    truth: Floats | None = None
    accuracy: tuple[float, ...] | None = None
    coherence: float | None = None
    desired_accuracy: float | None = None
    """The accuracy against the truth that is wished of the model."""
    groups: tuple[str, ...] | None = None
    """The group of each rater."""


@dataclass(frozen=True)
class DecisionCounts:
    """Decisions of a reader study: wrong and right with the model, wrong and right without it."""

    aided_wrong: int
    aided_right: int
    unaided_wrong: int
    unaided_right: int


@dataclass(frozen=True)
class ReaderStudy:
    """The decisions of a reader study, one row a reader and case; or, where only counts were given, no rows."""

    design: Literal["paired", "parallel"]
    counts: DecisionCounts
    reader: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The number of the reader of each row, from 0."""
    case: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    truth: Floats = field(default_factory=lambda: np.zeros(0))
    unaided: Floats = field(default_factory=lambda: np.zeros(0))
    """The decision without the model, NaN where the row has none."""
    aided: Floats = field(default_factory=lambda: np.zeros(0))
    advice: Floats | None = None
    group: tuple[str, ...] = ()
    """The group of each reader, in the order of the readers' numbers; empty where no groups are given."""


@dataclass(frozen=True)
class InputFile:
    """A file that was read: its name relative to the release, its SHA-256 and its size in bytes.

    Where small counts are protected both are None for files with rows: the size tells how many rows there are, and who
    guesses a small table can try the guess on its hash.
    """

    name: str
    sha256: str | None
    size: int | None


@dataclass(frozen=True)
class SettledColumn:
    """What was settled about one column of a table."""

    name: str
    role: str
    kind: str
    range: tuple[float, float] | None
    """The smallest and the largest number; None for texts, and where the role says that nobody may see it."""
    levels: int | None
    """How many different texts or codes it holds."""
    missing: int


@dataclass(frozen=True)
class SettledTable:
    """The columns of one table that was read, in the order of the file."""

    dataset: str
    file: str
    rows: int
    columns: tuple[SettledColumn, ...]
    left_out: int = 0
    """How many more rows the file has, which `rows` leaves out."""
    of_no_dataset: int = 0
    """How many of these are of sites that have no other row."""
    notes: tuple[facts.Fact, ...] = ()
    """What was read in a way that its maker may not expect, and what it may hold beside patients."""


@dataclass(frozen=True)
class Flag:
    """A limitation that the run raises by itself."""

    flag: str
    dataset: str
    fact: facts.Fact
    """What it says; `typeset.flags` has the words."""
    reply: str | None = None
    """What the author answers."""
    columns: tuple[str, ...] = ()
    """The columns that it is about; none where it is about something else."""

    @classmethod
    def of(cls, dataset: str, fact: facts.Fact, columns: tuple[str, ...] = ()) -> Flag:
        """The flag of the kind that is called as what it says."""
        return cls(fact.code, dataset, fact, columns=columns)


@dataclass(frozen=True)
class PreviousManifest:
    """What the manifest beside the previous results.json says: programs, inputs, and the model file."""

    versions: Mapping[str, str]
    inputs: tuple[InputFile, ...]
    artifact_sha256: str | None


@dataclass(frozen=True)
class Predicted:
    """What a release predicts, until when, and in which columns the risks stand."""

    outcome: str
    horizon: str | None
    columns: tuple[str, ...]

    @classmethod
    def by(cls, release: Release) -> Predicted:
        """What this release predicts."""
        columns = release.prediction.columns or (release.prediction.column,)
        return cls(release.outcome.name, release.outcome.horizon, tuple(name for name in columns if name is not None))

    @property
    def words(self) -> str:
        """The outcome with its horizon, as they stand within a sentence; once where its name says it already."""
        if self.horizon is None or f" {folded(self.horizon)} " in f" {folded(self.outcome)} ":
            return self.outcome
        return f"{self.outcome}, {self.horizon}"

    def is_other(self, than: Predicted) -> bool:
        """Whether the outcome or its horizon is another; a horizon that one of the two does not say may be the same."""
        horizons = (self.horizon, than.horizon)
        return folded(self.outcome) != folded(than.outcome) or (
            None not in horizons and len({folded(horizon or "") for horizon in horizons}) > 1
        )


def folded(text: str) -> str:
    """A text as one compares it: without capitals, blanks and the make of its letters."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def is_compared(result: Result, terms: Mapping[str, Term]) -> bool:
    """Whether a measure of the model is compared with the previous release; of a group of patients over all sites."""
    if {"against", "model", "estimator"} & set(result.at):
        return False
    if result.subset is not None:
        is_mean = result.at.get("class") == MACRO
        return result.dataset == POOLED and result.measure in bands.COMPARED_IN_GROUPS and not is_mean
    return terms[result.term].tier == "core" or result.measure in bands.COMPARED_WITH_BEFORE


def compared(results: Sequence[Result], terms: Mapping[str, Term]) -> tuple[Result, ...]:
    """What is compared with the previous release; over few sites, which are not pooled, that over all of their rows."""
    beside: dict[object, Result] = {}
    for each in results:
        at = {name: value for name, value in each.at.items() if name != "estimator"}
        if at != each.at and is_compared(alike := replace(each, at=at), terms):
            beside[each.measure, *sorted(at.items())] = alike
    return tuple(
        beside.get((each.measure, *sorted(each.at.items())), each)
        if each.dataset == POOLED and each.subset is None and isinstance(each.found, Absent)
        else each
        for each in results
        if is_compared(each, terms)
    )


@dataclass(frozen=True)
class Promise:
    """What a release says of what comes after it: its answer to a flag, or how the model is watched."""

    about: str
    """The flag that is answered, or the key of [care]."""
    dataset: str | None
    """That of the flag; None of what stands in [care]."""
    says: str


@dataclass(frozen=True)
class Previous:
    """What the results.json of the previous release recorded: its setting, its sites, its core measures."""

    file: str
    sha256: str
    version: str
    date: datetime.date | None
    level: float
    seed: int
    thresholds: tuple[float, ...]
    datasets: tuple[DatasetSummary, ...]
    results: tuple[Result, ...]
    """Every measure that is compared, of whole datasets and over all sites."""
    criteria: tuple[Criterion, ...]
    manifest: PreviousManifest | Absent
    predicted: Predicted
    """What it predicts."""
    promises: tuple[Promise, ...] = ()
    stop: tuple[StopRule, ...] = ()
    """Its stop rules."""

    def named(self, name: str) -> DatasetSummary | None:
        """Its dataset of a name, whatever site that is of."""
        return next((dataset for dataset in self.datasets if dataset.name == name), None)

    def of(self, dataset: DatasetSummary) -> DatasetSummary | None:
        """Its dataset of the same name and the same site; None where it has none."""
        return None if self.elsewhere(dataset) else self.named(dataset.name)

    def elsewhere(self, dataset: DatasetSummary) -> DatasetSummary | None:
        """Its dataset of the same name, where that one is of another site."""
        before = self.named(dataset.name)
        if before is None or folded(dataset.site) == folded(before.site):
            return None
        return before

    def other_outcome(self, release: Release) -> Predicted | None:
        """What it predicts, where that is another outcome, or another horizon, than this release declares."""
        return self.predicted if self.predicted.is_other(Predicted.by(release)) else None


Sealed = Literal[
    "release",
    "outcome",
    "thresholds",
    "acceptance",
    "subgroup",
    "severity",
    "utility",
    "h_accuracy",
    "intended_use",
    "care",
]
"""A table of release.toml that a seal is over."""


@dataclass(frozen=True)
class SealChange:
    """A part of what was sealed that is not as it was: the table, the part as JSON, how often then and now."""

    table: Sealed
    part: str
    then: int
    now: int


@dataclass(frozen=True)
class Seal:
    """The hash of what was declared before the data were opened, and what was changed since."""

    file: str
    sha256: str
    sealed_on: datetime.date
    """The day that the file names; who published the hash can prove it."""
    sha256_now: str
    changes: tuple[SealChange, ...]


@dataclass(frozen=True)
class Disclosure:
    """What was looked at before anything was given where small counts are protected."""

    cells: int
    """How many counts may be below the smallest that may be given, by their ranges: the solver found as many values as
    that for each where the model gives any risk."""
    withheld: Mapping[str, int]
    """How many results and curves are withheld, by the code of the reason."""


@dataclass(frozen=True)
class ReleasedRanges:
    """The ranges that were given of all rows of a dataset, or of a subgroup: where each begins, by the risk."""

    subset: Subset | None
    grid: tuple[float, ...]
    events: tuple[int, ...]
    others: tuple[int, ...]


@dataclass(frozen=True)
class Released:
    """What a release gave of a dataset, as a ledger keeps it."""

    dataset: str
    outcome: str
    model: str
    minimum_cell: int
    wide: int
    ranges: tuple[ReleasedRanges, ...]
    """Of all rows first; none where no ranges of risks are given."""
    values: Mapping[str, tuple[float | None, ...]]
    """What is given beside and does not follow from the ranges, by its name."""


@dataclass(frozen=True)
class Ledger:
    """What earlier releases gave of the same rows, and the file that keeps it with whoever makes them."""

    path: str
    model: str
    """The model and the version of this release."""
    released: tuple[Released, ...]


@dataclass(frozen=True)
class SmallCount:
    """Patients of one outcome whose risk lies between two numbers, of all rows or of a subgroup."""

    happened: bool | None
    """None where they were followed for less than the horizon."""
    low: float
    high: float | None
    """None where nothing bounds the risk from above."""
    subset: Subset | None


@dataclass(frozen=True)
class Audited:
    """What the ranges leave of the small counts of a dataset: for whoever releases it, and in no file of a dossier."""

    dataset: str
    cells: int
    narrowest: int | None
    """The fewest values that a count is left; None where no ranges of risks are given."""
    at: SmallCount | None
    """The count that is left so few."""
    taken: tuple[str, ...]
    """The columns of subgroups that were taken away, for with them some count was left too few values, or might be."""
    all_taken: bool
    """Whether nothing was left but the number of rows."""
    released: Released


@dataclass(frozen=True, repr=False)
class Study(ShownByCounts):
    """Everything that was read, checked once and for all."""

    release: Release
    datasets: tuple[Dataset, ...]
    readers: tuple[Readers, ...]
    inputs: tuple[InputFile, ...]
    flags: tuple[Flag, ...] = ()
    statements: Mapping[str, str] = field(default_factory=dict)
    """The declared texts by TRIPOD+AI item, as Markdown."""
    reader_study: ReaderStudy | None = None
    declared: bool = True
    """Whether a release file stands behind it; a quick look at one table has none, and fills no checklist."""
    previous: Previous | None = None
    """The previous release, where this one names it."""
    tables: tuple[SettledTable, ...] = ()
    """What was settled about the columns of every table."""
    seal: Seal | None = None
    """What was sealed before the data were opened, where the release names a seal."""
    ledger: Ledger | None = None
    """What earlier releases gave of these rows, where the release names a ledger."""


# ---- what evaluate makes --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SumOfShares:
    """A sum of shares of the same rows, each times a coefficient; of several such sums the smallest."""

    shares: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    coefficients: tuple[tuple[float, ...], ...]
    """Those of each sum, one a share."""
    rows: float
    """The effective number of rows, and that of the units that they were sampled in."""
    units: float
    freedom: float
    """The degrees of freedom of the covariance; infinite for independent rows."""


def _in_a_notebook(found: object, printer: Any, cycle: bool) -> None:
    """Show what a notebook shows of a value, its words."""
    printer.text(str(found))


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, the method of the interval, and the rows it rests on."""

    value: float
    low: float | None
    high: float | None
    level: float | None = field(repr=False)
    n: int
    method: facts.Method = field(repr=False)
    events: int | None = field(default=None, repr=False)
    se: float | None = field(default=None, repr=False)
    details: Mapping[str, float | None] = field(default_factory=dict, repr=False)
    """More that belongs to it: p_value, prediction_low, prediction_high, tau, i2, k, p_performance, p_similarity, and
    the rows `left` whose outcome is not known by its horizon ..."""
    reason: facts.Fact | None = field(default=None, repr=False)
    """Why a bound is missing, when one is."""
    made_of: SumOfShares | None = field(default=None, compare=False, repr=False)
    """The shares of rows that it is a sum of, from which imputations are pooled; never recorded."""

    def __str__(self) -> str:
        """The value with its interval, as 0.81 (0.80 to 0.83)."""
        bounds = "" if self.low is None or self.high is None else f" ({self.low:.2f} to {self.high:.2f})"
        return f"{self.value:.2f}{bounds}"

    @property
    def others(self) -> int | None:
        """The rows that are known not to have the outcome; None where it has several classes, or is not given."""
        return None if self.events is None else self.n - self.events - int(self.details.get("left") or 0)

    _repr_pretty_ = _in_a_notebook


@dataclass(frozen=True)
class Absent:
    """A result that the inputs do not allow, with its reason."""

    reason: facts.Fact

    def __str__(self) -> str:
        """The reason in a sentence, as "Not estimated: there are no events."."""
        from dossier.core.reasons import reason_text

        return f"{self.lead}: {reason_text(self.reason)}."

    lead: ClassVar[str] = "Not estimated"
    _repr_pretty_ = _in_a_notebook


@dataclass(frozen=True, repr=False)
class Withheld(Absent):
    """A result that is known and not given out, because it rests on a count below the smallest that is printed."""

    below: int = 0
    """The smallest count that is printed."""
    lead: ClassVar[str] = "Withheld"


@dataclass(frozen=True)
class Curve:
    """A line, a band or a set of bins: columns of equal length, where it is shown at most 250 long."""

    columns: Mapping[str, tuple[float | None, ...]]
    n: int
    method: facts.Method
    events: int | None = None


Described = Literal["column", "outcome", "follow_up", "linear_predictor", "rater_accuracy"]
"""What a statistic is of: a predictor's column, the outcome, how long patients were followed, the logit of the risks,
or how often a rater is right."""


@dataclass(frozen=True)
class Description:
    """One statistic of one variable of the data: a median, a count, a share of a category."""

    variable: str
    statistic: str
    value: float
    n: int | Withheld
    level: str | None = None
    of: Described = "column"
    """What the variable is: a column may be called as the others are."""


Danger = Literal[
    "larger class",
    "equal weight",
    "prevalence",
    "chance agreement",
    "precision",
    "one risk for all",
    "part of the curve",
]
"""What misleads in a measure that calls for caution, as the numbers of a release can show it."""


@dataclass(frozen=True)
class Goal:
    """What a goal on a measure is called where no statistics are known."""

    label: str
    word: str
    people: int | None = None
    """Of how many people its value is said; None for the plain number."""
    weighs: bool = False
    """Whether false alarms are weighed against patients that are found."""


@dataclass(frozen=True)
class Term:
    """What a measure is called and how it reads: table, glossary, JSON and references all take it from here."""

    name: str
    measure: str
    label: str
    sentence: str
    chapter: str
    digits: int = 2
    range: tuple[float | None, float | None] = (None, None)
    best: Literal["higher", "lower", "one", "zero", "half"] | None = None
    tier: Tier = "supporting"
    cites: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    unit: Literal["", "%", "per 100"] = ""
    """What a page prints it in: a share in per cent or per 100 patients, or the plain number."""
    caution: str = ""
    """Why the measure calls for caution, as one sentence; every measure of that tier has it, no other."""
    danger: Danger | None = None
    """What misleads in it; None where the numbers of a release do not show it."""
    counterpart: str = ""
    """The measure to read beside one that calls for caution, at the same threshold if it has one."""
    differs: str = ""
    """Where we compute something else than a paper prints: "differs from the published formula because ..."."""
    formula: str = ""
    """How it is computed, in plain text; the notation is that of the methods appendix."""
    also: tuple[str, ...] = ()
    """What papers call it or the figure of it, where that is another name; the methods print it once."""
    written: tuple[str, ...] = ()
    """What else authors write for its label, as our own tables do."""
    on_page: bool = True
    """Whether it may stand on a page; else only in results.csv and results.json, for another measure of its chapter
    says it better."""
    goal: Goal | None = None
    """What the committee reads; without it the label and the sentence."""
    limits: tuple[float, ...] = ()
    """What the release asks of it: a number is printed with the digits that show on which side of these it lies."""

    @property
    def worse(self) -> Literal["higher", "lower", "one"] | None:
        """Which way is better, so that a change is one for the worse: farther from 1 where that is best; None where no
        change is. What is best at 0 and never below it is better when lower, as the index of calibration."""
        if self.best == "zero":
            return "lower" if self.range[0] == 0 else None
        return None if self.best == "half" else self.best


Filed = TypeVar("Filed")


class Index(dict[Any, Sequence[Filed]]):
    """Results or curves by what they are asked for, which happens thousands of times; nothing by what nobody filed."""

    def __missing__(self, key: object) -> Sequence[Filed]:
        return ()


def _indexed(rows: Iterable[Filed], key: Callable[[Filed], object]) -> Index[Filed]:
    """Rows by a key of theirs, those of one key in their order."""
    return Index(facts.gathered((key(row), row) for row in rows))


@dataclass(frozen=True)
class Result:
    """One line of the evidence: which measure, where, at what, and what was found."""

    term: str
    measure: str
    dataset: str
    at: At
    found: Estimate | Absent
    subset: Subset | None = None

    def with_details(self, details: Mapping[str, float | None]) -> Result:
        """The result with these beside its own details; as it is where there is no estimate."""
        found = self.found
        known = found if isinstance(found, Absent) else replace(found, details={**found.details, **details})
        return replace(self, found=known)


@dataclass(frozen=True)
class CurveResult:
    """One curve of the evidence, or the reason why there is none."""

    curve: str
    dataset: str
    found: Curve | Absent
    at: At = field(default_factory=dict)
    subset: Subset | None = None


@dataclass(frozen=True)
class DescriptionResult:
    """One statistic of the data of one dataset."""

    dataset: str
    described: Description

    def not_given(self, found: Withheld) -> WithheldDescription:
        """That the statistic is not given out; the name of its level neither, for few may have it."""
        of = self.described
        return WithheldDescription(self.dataset, of.variable, of.statistic, None, found, of.of)


@dataclass(frozen=True)
class WithheldDescription:
    """A statistic of the data of one dataset that is not given out; `level` is None where its name is not either."""

    dataset: str
    variable: str
    statistic: str
    level: str | None
    found: Withheld
    of: Described = "column"


class Counted:
    """Rows of which some have the outcome, or each a class: what one is that has few of either."""

    n: int
    events: int | None
    class_counts: Mapping[str, int]
    left: int | None

    @property
    def rarest(self) -> int:
        """The rows of the rarer of events and non-events, or of the rarest class; 0 where they are not given."""
        if self.events is None:
            return min(self.class_counts.values(), default=0)
        return min(self.events, self.n - self.events - (self.left or 0))

    @property
    def is_few(self) -> bool:
        """Whether its values lie anywhere."""
        return self.rarest < bands.FEW_FOR_POOLING


@dataclass(frozen=True)
class DatasetSummary(Counted):
    """What remains of a dataset once its rows are gone."""

    name: str
    role: Role
    site: str
    n: int
    events: int | None
    rows_read: int | Withheld
    excluded: Mapping[str, int | Withheld]
    features: tuple[str, ...]
    splits: int | None = None
    dates: tuple[datetime.date, datetime.date] | None = None
    """The first and the last day, as declared, or else those of the column of days."""
    dates_withheld: Withheld | None = None
    """Why `dates` is None though a column of days is named."""
    country: str | None = None
    setting: str | None = None
    """Where in the country its patients were seen, as an emergency department."""
    class_counts: Mapping[str, int] = field(default_factory=dict)
    """How many rows each class has, in the order of the classes; empty for an outcome of two classes."""
    minimum_cell: int = 0
    """The smallest count that is printed of it; 0 where the release declares no disclosure policy."""
    outcome_withheld: Withheld | None = None
    """Why `events` is None and `class_counts` empty though the outcome is known."""
    clusters: int | None = None
    """How many clusters the rows come from; None where they are independent."""
    weighted: bool = False
    """Whether the rows count by their sampling weights."""
    imputations: int | None = None
    """How many imputations were pooled; None where nothing was imputed."""
    left: int | None = None
    """How many were followed for less than the horizon, so that their outcome is unknown; None where it is known of
    all."""
    competing: int | None = None
    """How many of the others had a competing event by the horizon; None where the outcome is known of all."""

    @property
    def others(self) -> int | None:
        """How many are known not to have the outcome; None where it has several classes, or is not given."""
        if self.events is None:
            return None
        others = self.n - self.events
        return others - self.left if self.left else others

    @property
    def prevalence(self) -> float | None:
        """The share of patients with the outcome; None where it is not known of all of them, and without patients."""
        return None if self.events is None or self.left or not self.n else self.events / self.n


State = Literal["shown", "against", "open", "withheld", "untested"]
"""What an interval says of a limit: it lies on the good side, on the bad one, on both, or there is no estimate."""


@dataclass(frozen=True)
class Criterion:
    """A criterion that was declared beforehand, held against what was found in one dataset."""

    number: int
    """Its place among the criteria of the release, from 1."""
    measure: str
    dataset: str
    subset: Subset | None
    at: At
    bound: Literal["value", "low", "high"]
    at_least: float | None
    at_most: float | None
    observed: float | None
    state: State
    reason: facts.Fact | None = None
    """Why it cannot be estimated, or why it is open without an interval."""

    @property
    def met(self) -> bool | None:
        """Whether it is shown to be met, or shown not to be; None where it is neither."""
        return {"shown": True, "against": False}.get(self.state)


RowStatus = Literal["computed", "declared", "narrative", "stated_none", "development_only", "not_applicable", "missing"]
"""What a row of the checklist is: answered by the run, a key or a text; said to be none; without a question; open."""


@dataclass(frozen=True)
class ChecklistRow:
    """A row of the TRIPOD+AI checklist: its item, its status, and the chapter that answers it."""

    item: str
    status: RowStatus
    where: str | None = None
    reason: facts.Fact | None = None
    """Why it is not applicable."""


def _by(kind: type[Filed], rows: str, *keys: str) -> cached_property[Index[Filed]]:
    """The rows of this name by some of their attributes, put in order when they are first asked for."""
    return cached_property(lambda held: _indexed(getattr(held, rows), attrgetter(*keys)))


@dataclass(frozen=True)
class SubgroupSize(Counted):
    """How many rows a subgroup of a dataset has, and how many rows of the dataset are in no subgroup of the column."""

    n: int
    events: int | None
    """None where the outcome has several classes."""
    unassigned: int | Withheld
    class_counts: Mapping[str, int] = field(default_factory=dict)
    """The rows of each class, for an outcome of several."""
    left: int | None = None
    """How many were followed for less than the horizon; None where the outcome is known of all."""

    @property
    def others(self) -> int:
        """The rows that are known not to have what stands beside n."""
        others = self.n - self.shown
        return others - self.left if self.left else others

    @property
    def shown(self) -> int:
        """What stands beside n: the events, or the rows of the rarest class."""
        return self.rarest if self.events is None else self.events


@dataclass(frozen=True)
class SubgroupSummary:
    """What remains of a subgroup of one dataset once its rows are gone."""

    dataset: str
    column: str
    label: str
    size: SubgroupSize | Absent

    @property
    def subset(self) -> Subset:
        """Under which its results are filed."""
        return Subset(self.column, self.label)


@dataclass(frozen=True)
class SubgroupEvidence:
    """All that is known of subgroups; kept apart from the results of whole datasets, so that nothing mixes them."""

    summaries: tuple[SubgroupSummary, ...] = ()
    results: tuple[Result, ...] = ()
    curves: tuple[CurveResult, ...] = ()

    of_measure = _by(Result, "results", "subset", "measure", "dataset")
    """The results of each measure in each subgroup of each dataset."""
    by_measure = _by(Result, "results", "measure")
    """The results of each measure in the order of the datasets and the subgroups."""
    of_curve = _by(CurveResult, "curves", "subset", "curve", "dataset")
    """The curves of each name in each subgroup of each dataset."""


@dataclass(frozen=True)
class Changes:
    """How each compared measure differs from the previous release; apart from the results, to mix them with nothing."""

    previous: Previous
    results: tuple[Result, ...]


@dataclass(frozen=True, repr=False)
class Evidence(ShownByCounts):
    """All that is known after the patients' rows are gone: the only thing that figures, sentences and pages see."""

    release: Release
    datasets: tuple[DatasetSummary, ...]
    results: tuple[Result, ...]
    curves: tuple[CurveResult, ...]
    descriptions: tuple[DescriptionResult, ...]
    flags: tuple[Flag, ...]
    terms: Mapping[str, Term]
    statements: Mapping[str, str]
    inputs: tuple[InputFile, ...]
    versions: Mapping[str, str]
    criteria: tuple[Criterion, ...] = ()
    checklist: tuple[ChecklistRow, ...] = ()
    subgroups: SubgroupEvidence = field(default_factory=SubgroupEvidence)
    withheld: tuple[WithheldDescription, ...] = ()
    """What of the description is not given out."""
    local_site: str | None = None
    """The external dataset of the hospital that the committee edition is for; results.json does not hold it."""
    command: str | None = None
    """The command that made the dossier, without paths and workers; None when a program made it."""
    has_release_file: bool = True
    """Whether a release file stands behind it; a quick look at one table has none."""
    changes: Changes | None = None
    """What differs from the previous release, where the release names it."""
    later: tuple[Result, ...] = ()
    """What was found by each further horizon, which is in `at`."""
    seal: Seal | None = None
    """What was sealed before the data were opened, where the release names a seal."""
    disclosure: Disclosure | None = None
    """What was looked at, where small counts are protected."""
    audit: tuple[Audited, ...] = ()
    """What was found then, one by one; results.json does not hold it, for it tells more than the ranges."""
    ledger: Ledger | None = None
    """The ledger with this release, where it names one; results.json does not hold it."""

    by_every_horizon = cached_property(lambda held: (*held.results, *held.later))
    """The results by the first horizon, and those by each further one."""
    of_measure = _by(Result, "by_every_horizon", "measure", "dataset")
    """The results of each measure in each dataset."""
    of_curve = _by(CurveResult, "curves", "curve", "dataset")
    """The curves of each name in each dataset."""
    by_measure = _by(Result, "results", "measure")
    """The results of each measure in the order of the datasets."""
    by_term = _by(Result, "results", "term")
    """The results under each label in the order of the datasets."""
    by_dataset = _by(Result, "results", "dataset")
    """The results at each dataset."""

    @property
    def is_protected(self) -> bool:
        """Whether small counts are given as ranges, to protect patients: one policy holds for all rows of a release."""
        return any(dataset.minimum_cell for dataset in self.datasets)

    @cached_property
    def by_chapter(self) -> Index[Result]:
        """The results of the measures of each chapter."""
        known = (result for result in self.results if result.term in self.terms)
        return _indexed(known, lambda result: self.terms[result.term].chapter)

    by_curve = _by(CurveResult, "curves", "curve")
    """The curves of each name in the order of the datasets."""
    by_variable = _by(DescriptionResult, "descriptions", "described.variable")
    """The descriptions of each variable in the order of the datasets."""

    @cached_property
    def by_name(self) -> Mapping[str, DatasetSummary]:
        """The datasets by their names."""
        return {dataset.name: dataset for dataset in self.datasets}

    def at_hospital(self, dataset: str | None) -> Evidence:
        """The evidence as it is for one hospital, or for none, with the indexes that are made: none asks for whom."""
        there = replace(self, local_site=dataset)
        made = {name: each for name, each in vars(self).items() if type(vars(Evidence).get(name)) is cached_property}
        vars(there).update(made)
        return there


@dataclass(frozen=True)
class SiteResults:
    """What was found at one site: what a synthesis works on."""

    summary: DatasetSummary
    results: tuple[Result, ...]
    curves: tuple[CurveResult, ...]

    of_measure = _by(Result, "results", "measure")
    """The results of each measure."""
    of_curve = _by(CurveResult, "curves", "curve")
    """The curves of each name."""


# ---- what draw, compose and press make ------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Picture(ShownByCounts):
    """A figure as SVG at its printed size, with a text that says the same to who cannot see it."""

    name: str
    svg: bytes
    width: float
    height: float
    title: str
    caption: str
    alternative: str
    message: str
    """What it shows, in one sentence: its title on the page."""


@dataclass(frozen=True)
class Gallery:
    """The evidence with its pictures."""

    evidence: Evidence
    pictures: Mapping[str, Picture]
    absent: Mapping[str, facts.Fact]


@dataclass(frozen=True)
class Attachment:
    """A file that travels inside the PDF."""

    name: str
    description: str
    content: bytes


@dataclass(frozen=True)
class Document:
    """One edition in its final words, ready for the press."""

    html: str
    stylesheets: tuple[Path, ...]
    images: Mapping[str, bytes]
    title: str
    language: str
    identifier: bytes
    date: datetime.date
    attachments: tuple[Attachment, ...] = ()
    archival: Literal["pdf/a-2a", "pdf/a-3a"] = "pdf/a-2a"
    full_fonts: bool = False


# ---- how the evidence is read ---------------------------------------------------------------------------------------


def find(evidence: Evidence, measure: str, dataset: str, /, **at: float | str) -> Estimate | Absent:
    """The result of a measure in a dataset at exactly these settings; Absent when it was never computed.

    A measure that is taken class by class answers with the mean over the classes, unless a class is asked for.
    """
    here = evidence.of_measure[measure, dataset]
    return _exactly(_of_all(here), at) or Absent(facts.Fact("not_computed", measure=measure, dataset=dataset))


def _exactly(results: Iterable[Result], at: dict[str, float | str]) -> Estimate | Absent | None:
    """What was found at these settings, or else in the mean over the classes."""
    among = list(results)
    for setting in (at, {**at, "class": MACRO}):
        for result in among:
            if dict(result.at) == setting:
                return result.found
    return None


def _of_all(results: Iterable[Result]) -> Iterator[Result]:
    """The results of whole datasets, not of their subgroups."""
    return (result for result in results if result.subset is None)


def found(site: SiteResults, measure: str, /, **at: float | str) -> Estimate | Absent:
    """The result of a measure at one site at exactly these settings, as `find` gives it."""
    return _exactly(_of_all(site.of_measure[measure]), at) or Absent(
        facts.Fact("not_computed", measure=measure, dataset=site.summary.name)
    )


def found_curve(site: SiteResults, curve: str, /, **at: float | str) -> Curve | Absent:
    """A curve of one site at exactly these settings; Absent when it was never computed."""
    for result in site.of_curve[curve]:
        if result.subset is None and dict(result.at) == at:
            return result.found
    return Absent(facts.Fact("curve_not_computed", curve=curve, dataset=site.summary.name))


def find_in_subgroup(
    evidence: Evidence, subset: Subset, measure: str, dataset: str, /, **at: float | str
) -> Estimate | Absent:
    """The result of a measure in a subgroup of a dataset at exactly these settings, as `find` gives it."""
    here = evidence.subgroups.of_measure[subset, measure, dataset]
    return _exactly(here, at) or Absent(
        facts.Fact("not_computed_in_subgroup", measure=measure, subset=str(subset), dataset=dataset)
    )


def find_curve_in_subgroup(evidence: Evidence, subset: Subset, curve: str, dataset: str) -> Curve | Absent:
    """A curve of a subgroup of a dataset; Absent when it was never computed."""
    for result in evidence.subgroups.of_curve[subset, curve, dataset]:
        return result.found
    return Absent(facts.Fact("curve_not_computed_in_subgroup", curve=curve, subset=str(subset), dataset=dataset))


def subgroup_columns(evidence: Evidence) -> dict[str, tuple[str, ...]]:
    """The columns that make subgroups, with their labels in order."""
    return labels_of(evidence.subgroups.summaries)


def labels_of(summaries: Iterable[SubgroupSummary]) -> dict[str, tuple[str, ...]]:
    """The labels of each column that makes subgroups, in order."""
    labels = facts.gathered((summary.column, summary.label) for summary in summaries)
    return {column: tuple(dict.fromkeys(each)) for column, each in labels.items()}


def subgroup_sizes(evidence: Evidence, column: str, dataset: str) -> dict[str, SubgroupSize]:
    """The sizes of the subgroups of a column in a dataset, by label; empty where the dataset cannot tell them."""
    return {
        summary.label: summary.size
        for summary in evidence.subgroups.summaries
        if (summary.column, summary.dataset) == (column, dataset) and isinstance(summary.size, SubgroupSize)
    }


def find_all(evidence: Evidence, measure: str) -> Iterator[Result]:
    """Every result of a measure, in the order of the datasets."""
    return _of_all(evidence.by_measure[measure])


def find_curve(evidence: Evidence, curve: str, dataset: str, /, **at: float | str) -> Curve | Absent:
    """A curve of a dataset; Absent when it was never computed."""
    for result in evidence.of_curve[curve, dataset]:
        if result.subset is None and dict(result.at) == at:
            return result.found
    return Absent(facts.Fact("curve_not_computed", curve=curve, dataset=dataset))


CELLS = ("true_positive", "false_positive", "false_negative", "true_negative")
"""The columns of the curve that counts patients at each threshold."""


def brought_to(counted: Curve, total: int) -> Curve:
    """Patients counted at each threshold as parts of so many, in whole people who add up to them."""
    rows = zip(*(counted.columns[name] for name in CELLS), strict=True)
    brought = (largest_remainder([count or 0.0 for count in row], total).tolist() for row in rows)
    columns = dict(zip(CELLS, map(tuple, zip(*brought, strict=True)), strict=True))
    return replace(counted, columns={**counted.columns, **columns})


def read_off(curve: Curve, along: str, position: float) -> Mapping[str, float] | None:
    """Every column of a curve where the column `along`, which rises, is `position`; straight between two of its points.

    None where the curve does not reach that far, or has a gap there.
    """
    known = [value for value in curve.columns[along] if value is not None]
    if len(known) < len(curve.columns[along]) or not known or not known[0] <= position <= known[-1]:
        return None
    after = min(bisect_left(known, position), len(known) - 1)
    before = max(after - 1, 0)
    step = known[after] - known[before]
    share = (position - known[before]) / step if step else 0.0
    found = {}
    for name, values in curve.columns.items():
        low, high = values[before], values[after]
        if low is None or high is None:
            return None
        found[name] = low + share * (high - low)
    return found


def externals(evidence: Evidence) -> tuple[DatasetSummary, ...]:
    """The external datasets, in the order of the release."""
    return tuple(dataset for dataset in evidence.datasets if dataset.role == "external")


def estimated(evidence: Evidence, measure: str, /, **at: float | str) -> list[tuple[DatasetSummary, Estimate]]:
    """The external datasets in which a measure could be estimated, in the order of the release."""
    found = ((dataset, find(evidence, measure, dataset.name, **at)) for dataset in externals(evidence))
    return [(dataset, estimate) for dataset, estimate in found if isinstance(estimate, Estimate)]


def summary_of(evidence: Evidence, name: str) -> DatasetSummary:
    """The dataset of that name."""
    return evidence.by_name[name]


# ---- what is asked of estimates and counts -------------------------------------------------------------------------


def expected_range(pooled: Estimate) -> tuple[float, float] | None:
    """What a new site may expect of a pooled measure; None where too few sites are pooled to tell."""
    low, high = pooled.details.get("prediction_low"), pooled.details.get("prediction_high")
    return None if low is None or high is None else (low, high)


def is_telling(over_sites: Estimate) -> bool:
    """Whether what several sites say together is printed: at one degree of freedom an interval holds nearly all."""
    sites, freedom = over_sites.details.get("k") or 0, over_sites.details.get("df")
    return sites >= 2 and (freedom is None or freedom >= 2)


def sum_known(counts: Iterable[int | Withheld]) -> int:
    """The sum of the counts that are not withheld."""
    return sum(count for count in counts if isinstance(count, int))
