"""What a release declares: one frozen model for every table of release.toml, its attributes named as the keys are."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeGuard, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)

from dossier.core.bands import PERFORMANCE
from dossier.core.facts import Fact
from dossier.core.facts import Value as FactValue
from dossier.core.faults import catalogue
from dossier.core.tripod import ITEMS
from dossier.core.values import RIVAL, UPDATED, CountRange, PeriodUnit, Subset, UpdateMethod, decimal

CHECKLIST_ITEMS = tuple(item.number for item in ITEMS)
"""The items of TRIPOD+AI that [statements] may answer."""

WIDTHS: Mapping[str, float] = MappingProxyType(
    {"oe_ratio": 0.2, "calibration_slope": 0.2, "auroc": 0.1, "standardized_net_benefit": 0.2, "brier": 0.05}
)
"""The widths of the intervals that a sample is sized for, where the release names none."""

MOST_DRAWS = 100_000
"""They give an end of an interval to a hundredth of its width, and take hours."""
FEW = Field(max_length=20)
"""Thresholds, priorities and other settings of which each gets a row in every table of every site."""
CLASSES = Field(max_length=15)
"""Their table of right and wrong has a cell for each two, and no curve has more than 250 points."""
LEVELS = Field(max_length=100)
"""Columns that make subgroups, and values of each: every level is evaluated at every site."""
MANY = Field(max_length=1000)
"""Of tables of a list."""

MINIMA = tuple(sorted(PERFORMANCE))
Watched = Literal[
    "auroc",
    "oe_ratio",
    "net_benefit_gain",
    "degree_of_correspondence",
    "correspondence_averaged",
    "brier",
    "calibration_slope",
]
"""The measures that are taken of each calendar period: what a stop rule may name."""
RESERVED_NAMES = ("pooled", "each external", "readers", "reader study")
PREVIOUS = "previous"
"""What the version of the previous release is called among the models, and what a result is compared with."""
NOT_RIVALS = ("chance", "complement", PREVIOUS, *(f"{UPDATED}{method}" for method in get_args(UpdateMethod)))
"""What a result may be compared with beside the rival: no rival can have these names."""


def earlier_column(name: str) -> str:
    """What a column of the tables of the previous release is called beside that of now."""
    return f"{name} of the previous release"


NOT_COLUMNS = ("constant", "raters", "rater_errors", "rater_confidence")
"""Where a complexity may come from beside a column: no column can have these names."""


class UnfitError(ValueError):
    """A declared value that does not fit: the code of its fault, and the values that its words name."""

    def __init__(self, code: str, /, **values: FactValue) -> None:
        self.fact = Fact(code, **values)
        super().__init__(f"{catalogue.what(self.fact)} {catalogue.fix(self.fact)}")


Rules = Mapping[str, Callable[[Any], object]]
"""What keys must not say together: the code of each fault, and whether a table has it, or the values that it names."""


class Table(BaseModel):
    """A table of release.toml: frozen, no unknown keys, no guessing of types; its rules hold in their order."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
    rules: ClassVar[Rules] = {}

    @model_validator(mode="after")
    def _holds(self) -> Self:
        for code, rule in self.rules.items():
            if broken := rule(self):
                raise UnfitError(code, **(broken if isinstance(broken, dict) else {}))
        return self


def _given(own: Table, *keys: str) -> tuple[str, ...]:
    """Which of some keys a table has."""
    return tuple(key for key in keys if getattr(own, key) is not None)


def _falls(numbers: Sequence[float] | None) -> bool:
    return any(before >= after for before, after in pairwise(numbers or ()))


def _apart(own: Any) -> bool:
    """Whether a value lies outside its interval, where it has one."""
    return own.low is not None and own.high is not None and not own.low <= own.value <= own.high


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name in names if names.count(name) > 1]


def _without_blanks_only(given: object) -> object:
    return "" if isinstance(given, str) and not given.strip() else given


Text = Annotated[str, Field(min_length=1, max_length=20_000), BeforeValidator(_without_blanks_only)]
"""A text that says something: of blanks only it is as empty as of nothing."""
Decimal = Annotated[float, AfterValidator(lambda share: float(decimal(share)))]
Inside = Annotated[Decimal, Field(gt=0, lt=1)]
Level = Annotated[float, Field(ge=0.5, le=0.9999)]
"""Below one half an interval more often misses than holds; above, no sample and no bootstrap shows its ends."""
Share = Annotated[float, Field(ge=0, le=1)]


def _range_or_count(value: object, handler: ValidatorFunctionWrapHandler) -> int:
    """A count as a number, or as the range that it is given as."""
    if isinstance(value, CountRange):
        return value
    if isinstance(value, Mapping):
        low, high = value.get("lo"), value.get("hi")
        if isinstance(low, int) and isinstance(high, int) and 0 <= low <= high and set(value) == {"lo", "hi", "mid"}:
            return CountRange(low, high)
        raise ValueError("a range of counts has lo, hi and mid")
    return int(handler(value))


def written_count(count: int) -> int | dict[str, int]:
    """A count as JSON holds it: a number, or the ends and the middle of the range that it is given as."""
    return {"lo": count.low, "hi": count.high, "mid": int(count)} if isinstance(count, CountRange) else int(count)


_WHOLE = {"type": "integer", "minimum": 0}
COUNT_SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "anyOf": [
            _WHOLE,
            {
                "type": "object",
                "properties": dict.fromkeys(("lo", "hi", "mid"), _WHOLE),
                "required": ["lo", "hi", "mid"],
                "additionalProperties": False,
            },
        ]
    }
)
Count = Annotated[
    int, Field(ge=0), WrapValidator(_range_or_count), PlainSerializer(written_count), WithJsonSchema(dict(COUNT_SCHEMA))
]
"""A count of persons or rows: a number, or where small counts are protected the range that it lies in."""
Whole = Annotated[int, Field(ge=0)]
Value = str | bool | int | float
DatasetRole = Literal["development", "internal", "external"]


def _is_pair(given: object, *kinds: type) -> TypeGuard[tuple[Any, Any]]:
    return isinstance(given, tuple) and len(given) == 2 and all(isinstance(value, kinds) for value in given)


def _number_range(given: object) -> object:
    if _is_pair(given, int, float) and given[0] >= given[1]:
        raise UnfitError("range_reversed")
    return given


def day(given: object) -> object:
    """A date that is given as text or as its midnight; all else as it is."""
    # pandas.NaT is a datetime without a time.
    with suppress(ValueError):
        found = datetime.datetime.fromisoformat(given) if isinstance(given, str) else given
        if isinstance(found, datetime.datetime) and found.time() == datetime.time():
            return found.date()
    return given


Day = Annotated[datetime.date, BeforeValidator(day)]


def _date_range(given: tuple[datetime.date, datetime.date]) -> tuple[datetime.date, datetime.date]:
    if given[0] > given[1]:
        raise UnfitError("dates_reversed")
    return given


def _without_repeats(values: object) -> object:
    if isinstance(values, tuple) and len({repr(value) for value in values}) < len(values):
        raise UnfitError("value_twice")
    return values


def _some_rows(given: object) -> object:
    for name, values in given.items() if isinstance(given, Mapping) else ():
        if name == "*":
            raise UnfitError("rows_of_every_column")
        if values == ():
            raise UnfitError("rows_of_no_value", column=str(name))
    return given


class About(Table):
    """Which model in which version was tested, by whom, and what the printed dossier depends on."""

    model: Text = Field(description="The name of the model.")
    version: Text = Field(description="The version of the model that this release is about.")
    date: Day | None = Field(None, description="The printed date, such as 2026-10-01.")
    owner: Text = Field(description="Who answers for the model.")
    level: Level = Field(0.95, description="The confidence level of every interval.")
    seed: Whole = Field(1, description="The whole number that every random draw starts from.")
    artifact_sha256: str | None = Field(
        None, pattern="^[0-9a-f]{64}$", description="The SHA-256 of the model file that was tested, in hexadecimal."
    )
    tested_version: Text | None = Field(None, description="The version that was tested, where it is another one.")
    tester: Text | None = Field(None, description="Who ran the test, and their relation to the owner.")
    sealed: Text | None = Field(
        None, description="The file that dossier seal wrote before the data were opened, such as seal.json."
    )
    previous: Text | None = Field(
        None, description="The results.json of the previous release; it may lie outside the folder."
    )
    previous_tables: Text | None = Field(
        None, description="The folder of the tables of the previous release, whose rows are linked by the id of each."
    )


class Outcome(Table):
    """What the model predicts."""

    name: Text = Field(description="The outcome in words, as they stand within a sentence.")
    column: Text = Field(description="The column that holds the outcome: 0 and 1, booleans, or text with `positive`.")
    positive: Value | None = Field(
        None,
        description="The value of the column that means that the outcome happened; the other one says that it did not.",
    )
    horizon: Text | None = Field(None, description="Until when the outcome is counted, in words.")
    classes: Annotated[tuple[Text, ...], BeforeValidator(_without_repeats), CLASSES] | None = Field(
        None, description="The classes in order, where there are more than two."
    )


class Prediction(Table):
    """Where the predicted risks stand."""

    column: Text | None = Field(None, description="The column that holds the probability of the outcome, from 0 to 1.")
    from_: Literal["model"] | None = Field(
        None, alias="from", description='"model" where no column holds the risk: that of the formula of [model].'
    )
    scale: Literal["probability", "percent"] = Field(
        "probability", description="How the model's risks are written: from 0 to 1, or from 0 to 100."
    )
    rival: Text | None = Field(None, description="The column that holds the risk of another model on the same rows.")
    rival_name: Text | None = Field(None, description="The name of the other model.")
    previous: Text | None = Field(
        None, description="The column that holds the risk of the version that release.previous is of, on the same rows."
    )
    columns: Annotated[tuple[Text, ...], BeforeValidator(_without_repeats), CLASSES] | None = Field(
        None, description="The columns of the risks in the order of the classes, where there are more than two."
    )
    rivals: Annotated[tuple[Text, ...], BeforeValidator(_without_repeats), CLASSES] | None = Field(
        None, description="The columns of the other model's risks in the order of the classes."
    )

    @property
    def rival_label(self) -> str:
        """The name that the other model goes by: its own, or "the rival" where the release gives it none."""
        return self.rival_name or RIVAL


class Rival(Table):
    """Another model that gave its risks for the same rows."""

    rules = {
        "rival_of_two_forms": lambda own: len(_given(own, "column", "columns")) != 1 and {"name": own.name},
    }

    name: Text = Field(description="The name of the other model.")
    column: Text | None = Field(None, description="The column that holds its risk.")
    columns: Annotated[tuple[Text, ...], BeforeValidator(_without_repeats), CLASSES] | None = Field(
        None, description="The columns of its risks in the order of the classes, where there are more than two."
    )

    @property
    def named(self) -> tuple[str, ...]:
        """The column or the columns of its risks."""
        return self.columns or (() if self.column is None else (self.column,))


class Thresholds(Table):
    """The risks from which somebody would act."""

    declared: Annotated[tuple[Inside, ...], AfterValidator(_without_repeats), FEW] = Field(
        (), description="The thresholds that were fixed before the data were seen, the primary one first."
    )
    range: Annotated[tuple[Inside, Inside], BeforeValidator(_number_range)] | None = Field(
        None,
        description="The range of the decision curve; without it from the 1st to the 99th percentile of the risks.",
    )
    rationale: Text | None = Field(None, description="Why these thresholds.")


class DatasetDeclaration(Table):
    """A table of rows: one dataset, or one a site."""

    rules = {
        "periods_without_date": lambda own: own.periods and not own.date,
        "periods_of_other_role": lambda own: own.periods and own.role != "external" and {"role": own.role},
        "key_of_development": lambda own: own.design and own.role == "development" and {"key": own.design[0]},
        "split_beside": lambda own: own.design and own.split and {"key": own.design[0]},
        "strata_alone": lambda own: own.design in (("strata",), ("strata", "imputation")),
    }

    name: str = Field(pattern=r"^\w[\w.-]*$", description="The name of the dataset in every table and file.")
    role: DatasetRole = Field(description="What the rows were to the model: development, internal or external.")
    file: Text = Field(description="The file of the table, relative to release.toml.")
    outside: bool = Field(False, description="Whether the file may lie outside the release folder.")
    sheet: Text | None = Field(None, description="The sheet of a workbook; without it the only one.")
    encoding: Literal["utf-8", "utf-16", "latin-1", "windows-1252"] | None = Field(
        None, description="The encoding of a .csv or .tsv; without it by its first bytes, else utf-8."
    )
    separator: Literal[",", ";", "\t", "|"] | None = Field(
        None, description="The sign between the columns of a .csv or .tsv; without it what its first rows show."
    )
    decimal: Literal[".", ","] | None = Field(
        None, description="The decimal sign of a .csv or .tsv; without it what its numbers show."
    )
    site: Text | None = Field(None, description="The site in words; without it the name of the dataset.")
    site_column: Text | None = Field(None, description="The column that splits the table into one dataset a site.")
    dates: Annotated[tuple[Day, Day], AfterValidator(_date_range)] | None = Field(
        None, description="The first and the last day on which the rows were collected; without it those of date."
    )
    date: Text | None = Field(None, description="The column with the day of each row, as 2025-03-31.")
    periods: PeriodUnit | None = Field(None, description="The calendar periods that performance is followed by.")
    country: Text | None = Field(None, description="The country of the site.")
    setting: Text | None = Field(None, description="Where in it the patients were seen, as an emergency department.")
    columns: Mapping[str, Text] = Field(default_factory=dict, description="Renames: our name = the name in the file.")
    missing: Mapping[str, tuple[Value, ...]] = Field(
        default_factory=dict, description='The values that mean missing, by column, or "*" for every column.'
    )
    rows: Annotated[Mapping[str, tuple[Value, ...]], BeforeValidator(_some_rows)] = Field(
        default_factory=dict,
        description="Only the rows with one of these values in each of these columns; the others are counted.",
    )
    predictors: Annotated[tuple[Text, ...], MANY] | None = Field(
        None, description="The predictors; without it the columns that the table shares with the development table."
    )
    categorical: tuple[Text, ...] = Field((), description="The predictors whose numbers are the codes of categories.")
    split: Text | None = Field(None, description="The column with the number of the refitted split; internal only.")
    id: Text | None = Field(None, description="The column that identifies a row; checked for repeats, never printed.")
    cluster: Text | None = Field(None, description="The column of the clusters within which rows are not independent.")
    weights: Text | None = Field(None, description="The column of the sampling weights.")
    strata: Text | None = Field(
        None, description="The column of the strata that clusters or weighted rows were sampled from, each for itself."
    )
    imputation: Text | None = Field(None, description="The column with the number of the imputation.")
    minimum_cell: Whole | None = Field(
        None, description="The same; the largest of any dataset holds for all, for numbers rest on rows of several."
    )

    @property
    def design(self) -> tuple[str, ...]:
        """The keys that say how rows belong together."""
        return _given(self, "cluster", "weights", "strata", "imputation")


class DeclaredAuroc(Table):
    """An AUROC that was published, with its interval and its rows."""

    rules = {
        "auroc_outside_interval": _apart,
        "more_events_than_rows": lambda own: own.events >= own.n,
    }

    value: Share = Field(description="The published AUROC.")
    low: Share = Field(description="The lower end of its interval, at the level of the release.")
    high: Share = Field(description="The upper end of its interval, at the level of the release.")
    n: Annotated[Count, Field(ge=1)] = Field(
        description="The number of rows it rests on, or its range, as { lo = 221, hi = 253, mid = 237 }."
    )
    events: Annotated[Count, Field(ge=1)] = Field(
        description="The number of rows in which the outcome happened, or its range."
    )


class DeclaredPerformance(Table):
    """A published result that stands in for a dataset whose rows nobody may share."""

    name: Text = Field(description="What was tested, in words.")
    role: Literal["internal"] = Field(description="What it stands in for: internal.")
    auroc: DeclaredAuroc | None = Field(None, description="The published AUROC.")


class DeclaredCorrespondence(Table):
    """The similarity of an external site whose predictors nobody may share, computed elsewhere: in one form or both."""

    dataset: Text = Field(description="The external dataset.")
    averaged: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="Its averaged correspondence: one half where its patients are like those of the development."
    )
    psi: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="Its degree of correspondence, a p value, which falls with n."
    )
    n: Annotated[int, Field(ge=1)] = Field(description="The patients of the site that it rests on.")
    source: Text = Field(description="Who computed it, and where it stands.")


MOST_SEGMENTS = 20
"""So many breaks of a piecewise linear term still have room on an axis of the nomogram."""


class ModelTerm(Table):
    """One term of the model's linear predictor: of one predictor, or of the product of two."""

    rules = {
        "term_without_coefficient": lambda own: not own.forms and {"term": own.name},
        "term_of_several_forms": lambda own: len(own.forms) > 1 and {"term": own.name, "forms": own.forms},
        "term_of_knots_and_segments": lambda own: len(own.breaks) > 1 and {"term": own.name},
        "term_without_coefficients": lambda own: own.breaks and own.coefficients is None and {"term": own.name},
        "term_without_knots": lambda own: not own.breaks and own.coefficients is not None and {"term": own.name},
        "term_without_category": lambda own: own.levels is not None and not own.levels and {"term": own.name},
        "key_of_numbers_for_categories": lambda own: (
            own.levels is not None
            and own.with_ is None
            and (given := _given(own, "transform", "floor", "cap"))
            and {"term": own.name, "key": given[0]}
        ),
        "floor_above_cap": lambda own: (
            len(_given(own, "floor", "cap")) == 2 and own.floor >= own.cap and {"term": own.name}
        ),
        "term_with_itself": lambda own: own.with_ == own.predictor and {"predictor": own.predictor},
        "few_knots": lambda own: own.knots is not None and len(own.knots) < 3 and {"term": own.name},
        "knots_out_of_order": lambda own: _falls(own.knots) and {"term": own.name},
        "wrong_number_of_coefficients_of_spline": lambda own: (
            own.knots is not None
            and (numbers := (len(own.knots), len(own.coefficients), len(own.knots) - 1))[1] != numbers[2]
            and {"term": own.name, "knots": numbers[0], "coefficients": numbers[1], "wanted": numbers[2]}
        ),
        "wrong_number_of_segments": lambda own: (
            own.segments is not None
            and not 1 <= len(own.segments) <= MOST_SEGMENTS
            and {"term": own.name, "number": len(own.segments), "most": MOST_SEGMENTS}
        ),
        "segments_out_of_order": lambda own: _falls(own.segments) and {"term": own.name, "most": MOST_SEGMENTS},
        "wrong_number_of_coefficients_of_segments": lambda own: (
            own.segments is not None
            and (numbers := (len(own.segments), len(own.coefficients), len(own.segments) + 1))[1] != numbers[2]
            and {"term": own.name, "segments": numbers[0], "coefficients": numbers[1], "wanted": numbers[2]}
        ),
    }

    predictor: Text = Field(description="The predictor of the term.")
    with_: Text | None = Field(
        None,
        alias="with",
        description="The other predictor of a product; of categories, levels has the coefficient in each.",
    )
    coefficient: float | None = Field(None, description="The coefficient of a numeric term.")
    levels: Mapping[str, float] | None = Field(
        None,
        description="The coefficient of each category, of `with` where that is given; one that is not named has 0.",
    )
    knots: tuple[float, ...] | None = Field(None, description="The knots of a restricted cubic spline.")
    segments: tuple[float, ...] | None = Field(
        None, description="Where the slope of a piecewise linear term changes; with one slope more in coefficients."
    )
    coefficients: tuple[float, ...] | None = Field(
        None, description="The coefficients of the spline in Harrell's form, or the slope in each segment."
    )
    floor: float | None = Field(None, description="A smaller number of the predictor counts as this one.")
    cap: float | None = Field(None, description="A larger number of the predictor counts as this one.")
    transform: Literal["log", "sqrt", "square"] | None = Field(
        None, description="What is done to the number, after floor and cap and before all else."
    )

    @property
    def forms(self) -> tuple[str, ...]:
        """The keys that give its coefficients."""
        return _given(self, "coefficient", "levels", "coefficients")

    @property
    def breaks(self) -> tuple[str, ...]:
        """The keys that give where its coefficients change."""
        return _given(self, "knots", "segments")

    @property
    def name(self) -> str:
        """The predictor, or the product of both."""
        return self.predictor if self.with_ is None else f"{self.predictor} × {self.with_}"


class Model(Table):
    """The formula of the model, for the points nomogram."""

    rules = {
        "several_terms": lambda own: own.repeated and {"terms": own.repeated},
    }

    intercept: float = Field(description="The intercept.")
    term: Annotated[tuple[ModelTerm, ...], Field(min_length=1, max_length=1000)] = Field(
        description="The terms of the linear predictor, one a predictor or product."
    )

    @property
    def repeated(self) -> tuple[str, ...]:
        """The terms that stand several times, whichever predictor of a product comes first."""
        keys = [frozenset((term.predictor, term.with_)) for term in self.term]
        return tuple(sorted({term.name for term, key in zip(self.term, keys, strict=True) if keys.count(key) > 1}))

    @property
    def predictors(self) -> tuple[str, ...]:
        """Every predictor of the formula once, those that stand in products only included."""
        both = ((term.predictor, term.with_) for term in self.term)
        return tuple(dict.fromkeys(name for pair in both for name in pair if name is not None))

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The predictors that products join, each in one group; a predictor in no product is a group of its own."""
        group = {name: frozenset([name]) for name in self.predictors}
        for term in self.term:
            if term.with_ is not None:
                joined = group[term.predictor] | group[term.with_]
                group |= dict.fromkeys(joined, joined)
        found = dict.fromkeys(group[name] for name in self.predictors)
        return tuple(tuple(name for name in self.predictors if name in members) for members in found)

    def reach(self, predictor: str) -> tuple[float | None, float | None]:
        """From which number to which a predictor changes the risk; None where no floor or cap ends it."""
        terms = [term for term in self.term if term.predictor == predictor]
        if not terms or any(term.with_ == predictor for term in self.term):
            return None, None
        floors = [term.floor for term in terms if term.floor is not None]
        caps = [term.cap for term in terms if term.cap is not None]
        return (min(floors) if len(floors) == len(terms) else None, max(caps) if len(caps) == len(terms) else None)


class ReadersTables(Table):
    """The readers' tables: rows are cases, columns are raters, who bear the same names in every table."""

    labels: Text = Field(description="The file with the label that each rater gave, 0 or 1.")
    confidence: Text | None = Field(None, description="The file with how sure each rater was, from 0 to 1.")
    complexity: Text | None = Field(
        None, description="The file with how complex each rater found the case, from 0 to 1."
    )
    outside: bool = Field(False, description="Whether the files may lie outside the release folder.")
    header: bool | None = Field(
        None,
        description="Whether the first line names the raters; without it a line of valid labels only is data, unless "
        "the name of case stands in it.",
    )
    dataset: Text | None = Field(
        None,
        description="The dataset that the cases belong to; without it the tables stand on their own, the truth is "
        "unknown, and what they tell is filed under readers.",
    )
    case: Text | None = Field(
        None, description="The first column of each table, which links cases by the dataset's id."
    )
    accuracy: Share | tuple[Share, ...] | None = Field(
        None, description="The raters' accuracy, one number for all or one a rater."
    )
    groups: dict[Text, Text] | None = Field(
        None,
        description="The group of each rater, by the rater's name; where the tables name none, by the column's number, "
        "from 1.",
    )
    coherence: Share | None = Field(None, description="How far a stated confidence may lie from the meant one.")
    desired_accuracy: Annotated[float, Field(ge=0.5, le=1)] | None = Field(
        None,
        description="The accuracy against the truth that is wished, from 0.5; without it that of the first criterion "
        "of actual_accuracy.",
    )


class StudyCounts(Table):
    """Bare counts of a reader study."""

    aie: Whole = Field(description="Decisions with the model that were wrong.")
    ain: Whole = Field(description="Decisions with the model that were right.")
    ce: Whole = Field(description="Decisions without the model that were wrong.")
    cn: Whole = Field(description="Decisions without the model that were right.")


class ReaderStudy(Table):
    """Decisions without and with the model."""

    rules = {
        "reader_study_of_two_forms": lambda own: len(_given(own, "file", "counts")) != 1,
    }

    file: Text | None = Field(None, description="The table with reader, case, truth, unaided and aided.")
    outside: bool = Field(False, description="Whether the file may lie outside the release folder.")
    design: Literal["paired", "parallel"] = Field("paired", description="Whether each reader decided both ways.")
    counts: StudyCounts | None = Field(None, description="Bare counts, where there is no table.")


Weights = tuple[tuple[Share, ...], ...]
"""One row a predicted class, one column a true class."""


def _not_square(own: Any) -> bool:
    return len(own.weights) < 2 or {len(row) for row in own.weights} != {len(own.weights)}


def _of_right_answer(own: Any) -> bool:
    return any(row[index] != 0 for index, row in enumerate(own.weights))


class SeverityOfSubgroup(Table):
    """How grave each kind of error is in a subgroup, where that differs."""

    rules = {"severity_not_square": _not_square, "severity_of_right_answer": _of_right_answer}

    column: Text = Field(description="The column of a [[subgroup]].")
    level: Text = Field(description="Its level, as the dossier prints it.")
    weights: Weights = Field(description="One row a predicted class, one column a true class.")


class Severity(Table):
    """How grave each kind of error is."""

    rules = {"severity_not_square": _not_square, "severity_of_right_answer": _of_right_answer}

    weights: Weights = Field(description="One row a predicted class, one column a true class.")
    source: Text | None = Field(None, description="Where the weights come from.")
    rationale: Text | None = Field(None, description="Why these weights.")
    set_by: Text | None = Field(None, description="Who set them.")
    declared_on: Day | None = Field(None, description="When they were set.")
    subgroup: Annotated[tuple[SeverityOfSubgroup, ...], LEVELS] = Field(
        (), description="Other weights for levels of one column; all other rows have `weights`."
    )

    @property
    def matrices(self) -> tuple[Weights, ...]:
        """The weights, and after them those of each subgroup."""
        return (self.weights, *(subgroup.weights for subgroup in self.subgroup))


class Source(Table):
    """Where a case's value comes from, when it is no column."""

    from_: Literal["raters", "rater_errors", "rater_confidence"] = Field(
        alias="from", description="What of the readers' tables is used."
    )
    weighted: bool = Field(False, description="Whether the raters count by their accuracy.")
    cut: tuple[Inside, ...] | None = Field(None, description="The shares of cases that are called complex.")


class SurveyShare(Table):
    """The share of answers to a survey that put a class first, with its interval."""

    rules = {
        "share_outside_interval": _apart,
    }

    value: Share = Field(description="The share of answers.")
    low: Share = Field(description="The lower end of its interval.")
    high: Share = Field(description="The upper end of its interval.")


class Acceptable(Table):
    """The least accuracy that is acceptable, and where it comes from."""

    rules = {
        "interval_of_one_end": lambda own: len(_given(own, "low", "high")) == 1,
        "share_outside_interval": _apart,
    }

    value: Share = Field(description="The minimum acceptable accuracy.")
    low: Share | None = Field(None, description="The lower end of its interval.")
    high: Share | None = Field(None, description="The upper end of its interval.")
    n: Annotated[int, Field(ge=1)] | None = Field(None, description="How many answers it rests on.")
    source: Text = Field(description="Where it comes from.")


def survey_shares(survey: Mapping[str, float | SurveyShare]) -> dict[str, float]:
    """The share of answers that put each class first."""
    return {name: given.value if isinstance(given, SurveyShare) else given for name, given in survey.items()}


def _survey_adds_up(survey: Mapping[str, float | SurveyShare] | None) -> Mapping[str, float | SurveyShare] | None:
    total = None if survey is None else sum(survey_shares(survey).values())
    if total is not None and total > 1 + 1e-9:
        raise UnfitError("survey_of_more_than_all", total=float(total))
    if total == 0:
        raise UnfitError("survey_of_nobody")
    return survey


def _no_source_as_column(given: object) -> object:
    if isinstance(given, str) and given in NOT_COLUMNS:
        raise UnfitError("reserved_column", column=given)
    return given


class HAccuracy(Table):
    """The settings of H-accuracy."""

    rules = {
        "no_survey": lambda own: "survey" in own.priority_from and own.survey is None,
        "cut_without_complexity": lambda own: own.cut is not None and own.complexity is None,
        "cut_twice": lambda own: own.cut is not None and getattr(own.complexity, "cut", None) is not None,
    }

    priority: Annotated[tuple[Share | tuple[Share, ...], ...], BeforeValidator(_without_repeats), FEW] = Field(
        (0.25, 0.5, 0.75),
        description="The priorities of the positive class; of several classes lists with one share a class.",
    )
    priority_from: Annotated[
        tuple[Literal["prevalence", "complement", "net_benefit", "raters", "survey"], ...],
        BeforeValidator(_without_repeats),
    ] = Field(("prevalence",), description="Where further priorities come from.")
    survey: Annotated[Mapping[str, Share | SurveyShare] | None, AfterValidator(_survey_adds_up)] = Field(
        None, description="The share of answers that put each class first, or { value = …, low = …, high = … }."
    )
    tau: Annotated[tuple[Share, ...], BeforeValidator(_without_repeats), FEW] = Field(
        (0.6, 0.75, 1.0), description="The confidences from which a prediction counts in full."
    )
    tau_from: Annotated[tuple[Literal["raters"], ...], BeforeValidator(_without_repeats)] = Field(
        (), description="Where further confidences come from."
    )
    complexity: Annotated[Text | Source | None, BeforeValidator(_no_source_as_column)] = Field(
        None, description="The column of the cases' complexity, or its source."
    )
    cut: Annotated[Annotated[tuple[Inside, ...], FEW] | None, BeforeValidator(_without_repeats)] = Field(
        None, description="The shares of cases that are called complex."
    )
    acceptable: Acceptable | None = Field(None, description="The minimum acceptable accuracy.")

    @property
    def graded(self) -> str | None:
        """What the complexity of the cases is called where it counts as it is graded, without a cut."""
        if isinstance(self.complexity, Source):
            return self.complexity.from_ + ("_weighted" if self.complexity.weighted else "")
        return self.complexity


class Utility(Table):
    """The settings of weighted utility."""

    rules = {
        "cost_without_benefit": lambda own: len(_given(own, "cost", "benefit")) == 1,
        "relevance_of_other_source": lambda own: (
            isinstance(source := own.relevance, Source)
            and (source.from_, source.weighted, source.cut) != ("raters", False, None)
        ),
    }

    relevance: Text | Source | None = Field(None, description="The column of the cases' relevance, or its source.")
    gamma: Annotated[tuple[Share, ...], BeforeValidator(_without_repeats), FEW] = Field(
        (1.0,), description="The share of the threshold from which a risk begins to count; 1 for an alarm or none."
    )
    tau_from: Annotated[
        tuple[Literal["confidence", "persuasion", "automation_bias"], ...], BeforeValidator(_without_repeats)
    ] = Field((), description="How the raters give each case a threshold of its own.")
    cost: Text | None = Field(None, description="The column of what acting needlessly costs.")
    benefit: Text | None = Field(None, description="The column of what acting rightly brings.")

    @property
    def source_of_relevance(self) -> str:
        """The column of the cases' relevance, "raters", or "constant" where all count alike."""
        return self.relevance if isinstance(self.relevance, str) else "constant" if self.relevance is None else "raters"

    @property
    def judged_at(self) -> Mapping[str, float | str]:
        """Where weighted utility is judged and drawn: at the first gamma, with the relevance that is declared."""
        return {"gamma": self.gamma[0], "relevance": self.source_of_relevance}


class Roc(Table):
    """The parts of the ROC curve that are looked at alone."""

    rules = {
        "no_part_of_roc": lambda own: not own.parts,
        "range_reversed": lambda own: any(map(_falls, own.parts)),
    }

    parts: Annotated[tuple[tuple[Share, Share], ...], BeforeValidator(_without_repeats), FEW] = Field(
        description="Ranges of the false positive rate."
    )


class Resampling(Table):
    """How often the data are drawn again."""

    bootstrap: Annotated[int, Field(ge=2, le=MOST_DRAWS)] = Field(1000, description="The number of bootstrap samples.")
    permutations: Annotated[int, Field(ge=1, le=MOST_DRAWS)] = Field(999, description="The number of permutations.")


def _by_measure(given: object, known: tuple[str, ...]) -> None:
    if isinstance(given, Mapping):
        unknown = [str(name) for name in given if name not in known]
        if unknown:
            raise UnfitError("measures_not_here", measures=tuple(unknown), known=tuple(known))


def _widths(given: object) -> object:
    _by_measure(given, tuple(WIDTHS))
    return {**WIDTHS, **given} if isinstance(given, Mapping) else given


def _minima(given: object) -> object:
    _by_measure(given, MINIMA)
    return given


class Updating(Table):
    """Which updates are tried at each hospital, beside the model as it is; none is ever applied to patients."""

    methods: Annotated[tuple[UpdateMethod, ...], AfterValidator(_without_repeats), Field(min_length=1)] = Field(
        description="What is changed: the intercept, intercept and slope, or as much as a closed test supports."
    )


class Sample(Table):
    """How narrow the intervals should be."""

    width: Annotated[Mapping[str, Annotated[float, Field(ge=0.0001, le=10)]], BeforeValidator(_widths)] = Field(
        default_factory=lambda: dict(WIDTHS), description="The width of the interval that each measure should reach."
    )

    @property
    def is_declared(self) -> bool:
        """Whether the release names a width, and does not leave all to us."""
        return "width" in self.model_fields_set


class Robustness(Table):
    """What counts as the least acceptable performance, and as similar to the development data."""

    minimum: Annotated[Mapping[str, float], BeforeValidator(_minima)] = Field(
        default_factory=dict, description="The least acceptable value by measure, where no splits can tell."
    )
    similarity: Literal["psi", "averaged"] = Field(
        "averaged",
        description="Which similarity the external performance diagram draws, and SPR, WPR and the support take.",
    )
    utility: Literal["standardized_net_benefit", "weighted_utility"] = Field(
        "standardized_net_benefit",
        description="Which utility both use: weighted_utility at the thresholds of costs and benefits, else of the "
        "first tau_from, else at the first declared threshold, at the first gamma.",
    )
    calibration: Literal["brier", "eci"] = Field("brier", description="Which measure of calibration both use.")


class SubgroupLevel(Table):
    """A subgroup: a column of a [[subgroup]], and one of its levels."""

    column: Text = Field(description="The column of a [[subgroup]].")
    level: Text = Field(description="Its level, as the dossier prints it.")


class Acceptance(Table):
    """A criterion that was declared beforehand."""

    measure: Text = Field(description="The measure.")
    dataset: Text = Field(description='A dataset, "each external" or "pooled".')
    subset_: SubgroupLevel | None = Field(
        None, alias="subset", description='A subgroup instead of all patients, as { column = "Sex", level = "female" }.'
    )
    at: Mapping[str, str | Decimal] = Field(default_factory=dict, description="At which threshold or setting.")
    bound: Literal["value", "low", "high"] = Field("value", description="Which number has to meet the criterion.")
    at_least: float | None = Field(None, description="The smallest number that meets it.")
    at_least_from: Literal["h_accuracy.acceptable"] | None = Field(
        None, description="In place of at_least: the minimum acceptable accuracy that [h_accuracy] declares."
    )
    at_most: float | None = Field(None, description="The largest number that meets it.")
    not_worse_by: float | None = Field(
        None, ge=0, description="In place of a bound: how much worse than the previous release it may be at most."
    )
    than: Literal["previous"] | None = Field(None, description="What it may not be worse than, beside not_worse_by.")
    declared_on: Day | None = Field(None, description="When it was declared.")
    reason: Text | None = Field(None, description="Why this number.")
    caution_reason: Text | None = Field(None, description="Why a measure that calls for caution is used.")

    @property
    def subset(self) -> Subset | None:
        """The subgroup that it asks of; None for all patients."""
        return None if self.subset_ is None else Subset(self.subset_.column, self.subset_.level)


class Predictor(Table):
    """How a column of the tables is printed."""

    name: Text = Field(description="The column.")
    label: Text | None = Field(None, description="Its name on pages and figures; without it that of the column.")
    unit: Text | None = Field(None, description="The unit of its numbers.")
    levels: Annotated[Mapping[str, Text], LEVELS] | None = Field(
        None, description='The words for its codes, as { "0" = "no", "1" = "yes" }; without it those of its subgroup.'
    )


class Subgroup(Table):
    """A column whose values split every dataset into subgroups."""

    rules = {
        "levels_and_cuts": lambda own: len(_given(own, "levels", "cuts")) > 1 and {"column": own.column},
        "few_levels": lambda own: (
            own.levels is not None and len(own.levels) < 2 and {"column": own.column, "number": len(own.levels)}
        ),
        "levels_of_one_name": lambda own: (names := _repeated([*(own.levels or {}).values()])) and {"name": names[0]},
        "no_cut": lambda own: own.cuts == (),
        "cuts_out_of_order": lambda own: _falls(own.cuts),
    }

    column: Text = Field(description="The column.")
    levels: Annotated[Mapping[str, Text], LEVELS] | None = Field(
        None, description='The words for its values, as { "1" = "male", "0" = "female" }.'
    )
    cuts: Annotated[tuple[float, ...], FEW] | None = Field(
        None, description="Where a numeric column is cut; a value on a cut belongs above it."
    )


class Disclosure(Table):
    """How small counts are protected, so that nobody can be recognised."""

    minimum_cell: Whole = Field(10, description="How many values every small count keeps, whatever else is printed.")
    ledger: Text | None = Field(
        None, description="The file that keeps what earlier releases gave of these rows; dossier build adds to it."
    )
    other_patients: tuple[Text, ...] = Field(
        (), description="The datasets no patient of which was in a release that the ledger holds."
    )


class Reply(Table):
    """The owner's answer to a flag."""

    flag: Text = Field(description="The flag.")
    dataset: Text | None = Field(None, description="The dataset that it was raised for.")
    says: Text = Field(description="The answer.")


class IntendedUse(Table):
    """For whom the model is, and for whom not, in words that the committee edition prints."""

    for_: Text | None = Field(None, alias="for", description="For whom and for what, in at most two sentences.")
    not_for: tuple[Text, ...] = Field((), description="What it is not for, each in a few words.")
    users: Text | None = Field(None, description="Who reads its output.")
    decision: Text | None = Field(None, description="What is decided with it, and beside what.")
    verb: Text | None = Field(
        None, max_length=40, description='What happens to those who are flagged, as in "isolated" or "sent to MRI".'
    )


class StopRule(Table):
    """A limit that switches the model off: a measure outside it in so many calendar periods in a row."""

    rules = {
        "stop_rule_without_limit": lambda own: not _given(own, "at_least", "at_most") and {"measure": own.measure},
        "stop_limits_reversed": lambda own: (
            len(_given(own, "at_least", "at_most")) == 2 and own.at_least >= own.at_most and {"measure": own.measure}
        ),
    }

    measure: Watched = Field(description="The measure, taken of each period.")
    at_least: float | None = Field(None, description="The smallest value inside the limits.")
    at_most: float | None = Field(None, description="The largest value inside the limits.")
    periods: Annotated[int, Field(ge=1, le=100)] = Field(1, description="So many periods in a row outside cross it.")


class Care(Table):
    """How the model is watched once it is in use."""

    threshold_owner: Text | None = Field(None, description="Who may change the threshold.")
    monitoring: Text | None = Field(None, description="What is measured while it is in use, and how often.")
    review: Text | None = Field(None, description="When its use is looked at again.")
    stop_rule: Text | None = Field(None, description="When it is switched off.")
    model_in_use: bool = Field(
        False, description="Whether staff acted on the model while these patients were seen, which makes it look worse."
    )
    stop: Annotated[tuple[StopRule, ...], FEW] = Field(
        (), description="The same as limits, held against each external dataset by calendar period."
    )


class Report(Table):
    """What the owner prints of the dossier."""

    leave_out: tuple[Text, ...] = Field(
        (), description="Chapters of the submission that are left out whole, each by its word; page 1 names them."
    )


class ModelCard(Table):
    """What the model card says that no data can show."""

    architecture: Text | None = Field(None, description="What kind of model it is.")
    regulatory_status: Text | None = Field(None, description="Whether and where it is cleared.")
    inputs: Text | None = Field(None, description="What goes in, and in which units.")
    workflow: Text | None = Field(None, description="Where in care it acts, and what it replaces or stands beside.")
    failure_modes: Text | None = Field(None, description="How it is known to fail, and for whom.")
    out_of_distribution: Text | None = Field(None, description="What happens with patients unlike those it knows.")
    risks: Text | None = Field(None, description="What harm it may do, and what is done against it.")
    updates: Text | None = Field(None, description="How and when it is changed.")
    development_data: Text | None = Field(None, description="What it was made from.")


class Signatory(Table):
    """Who signs, and what the signature means."""

    name: Text = Field(description="The name.")
    role: Text = Field(description="The role, such as statistician.")
    meaning: Text = Field(description="What the signature says, such as: I checked the analysis.")
    date: Day | None = Field(None, description="When it was signed.")


class Revision(Table):
    """An earlier issue of this dossier."""

    number: Text = Field(description="Its number.")
    date: Day = Field(description="Its date.")
    change: Text = Field(description="What changed with it.")


class Statement(Table):
    """A declared row of the checklist: a text, a file that holds it, or an explicit none."""

    rules = {
        "statement_of_several_forms": lambda own: len(_given(own, "text", "file", "none")) != 1,
    }

    text: Text | None = Field(None, description="The text.")
    file: Text | None = Field(None, description="The file that holds the text.")
    outside: bool = Field(False, description="Whether the file may lie outside the release folder.")
    none: Text | None = Field(None, description="What there is none of, as a sentence.")


def _statement(given: object) -> object:
    return {"text": given} if isinstance(given, str) else given


def _items(given: object) -> object:
    if isinstance(given, Mapping):
        unknown = [str(name) for name in given if name not in CHECKLIST_ITEMS]
        if unknown:
            raise UnfitError("no_such_item", items=tuple(unknown), known=tuple(CHECKLIST_ITEMS))
    return given


_STATEMENT_SCHEMA = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {"file": {"type": "string"}, "outside": {"type": "boolean"}},
            "required": ["file"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"none": {"type": "string"}},
            "required": ["none"],
            "additionalProperties": False,
        },
    ]
}
Declared = Annotated[Statement, BeforeValidator(_statement), WithJsonSchema(_STATEMENT_SCHEMA)]


def _listed(given: object) -> object:
    """A table that stands alone, as a list of one."""
    return given if isinstance(given, tuple | list) else (given,)


class Release(Table):
    """Everything that release.toml declares."""

    release: About = Field(description="Which model in which version was tested.")
    outcome: Outcome = Field(description="What the model predicts.")
    prediction: Prediction = Field(description="Where the predicted risks stand.")
    rival: Annotated[tuple[Rival, ...], LEVELS] = Field((), description="Other models on the same rows.")
    thresholds: Thresholds = Field(default_factory=Thresholds, description="The risks from which somebody would act.")
    dataset: Annotated[tuple[DatasetDeclaration, ...], Field(min_length=1)] = Field(description="The tables of rows.")
    declared_performance: Annotated[tuple[DeclaredPerformance, ...], MANY] = Field(
        (), description="Published results that stand in for a dataset."
    )
    declared_correspondence: Annotated[tuple[DeclaredCorrespondence, ...], MANY] = Field(
        (), description="The similarity of sites without predictors, computed elsewhere."
    )
    model: Model | None = Field(None, description="The formula of the model.")
    readers: Annotated[
        tuple[ReadersTables, ...],
        BeforeValidator(_listed, json_schema_input_type=ReadersTables | tuple[ReadersTables, ...]),
        MANY,
    ] = Field((), description="The readers' tables, one table or several, each of another dataset.")
    reader_study: ReaderStudy | None = Field(None, description="Decisions without and with the model.")
    severity: Severity | None = Field(None, description="How grave each kind of error is.")
    h_accuracy: HAccuracy = Field(default_factory=HAccuracy, description="The settings of H-accuracy.")
    utility: Utility | None = Field(None, description="The settings of weighted utility.")
    roc: Roc | None = Field(None, description="The parts of the ROC curve that are looked at alone.")
    resampling: Resampling = Field(default_factory=Resampling, description="How often the data are drawn again.")
    update: Updating | None = Field(None, description="The updates that are tried beside the model as it is.")
    sample: Sample = Field(default_factory=Sample, description="How narrow the intervals should be.")
    robustness: Robustness = Field(default_factory=Robustness, description="The least acceptable performance.")
    acceptance: Annotated[tuple[Acceptance, ...], MANY] = Field(
        (), description="Criteria that were declared beforehand."
    )
    predictor: Annotated[tuple[Predictor, ...], MANY] = Field((), description="How columns are printed.")
    subgroup: Annotated[tuple[Subgroup, ...], LEVELS] = Field(
        (), description="The columns that split the datasets into subgroups."
    )
    disclosure: Disclosure | None = Field(
        None, description="How small counts are protected, so that nobody can be recognised."
    )
    reply: Annotated[tuple[Reply, ...], MANY] = Field((), description="The owner's answers to flags.")
    intended_use: IntendedUse = Field(default_factory=IntendedUse, description="For whom the model is, and not.")
    report: Report = Field(default_factory=Report, description="What the owner prints of the dossier.")
    care: Care = Field(default_factory=Care, description="How the model is watched once it is in use.")
    model_card: ModelCard = Field(default_factory=ModelCard, description="What the model card says.")
    signatory: Annotated[tuple[Signatory, ...], MANY] = Field(
        (), description="Who signs, and what the signature means."
    )
    revision: Annotated[tuple[Revision, ...], MANY] = Field(
        (), description="The earlier issues of this dossier, the latest first."
    )
    statements: Annotated[Mapping[str, Declared], BeforeValidator(_items)] = Field(
        default_factory=dict, description="The declared rows of the TRIPOD+AI checklist, by item."
    )

    @property
    def rivals(self) -> tuple[Rival, ...]:
        """Every other model, that of [prediction] first."""
        short = self.prediction
        if short.rival is None and short.rivals is None:
            return self.rival
        # The release has its own faults where both forms are given.
        columns = None if short.rival is not None else short.rivals
        return (Rival(name=short.rival_label, column=short.rival, columns=columns), *self.rival)

    @property
    def beside(self) -> tuple[Rival, ...]:
        """Every model that has risks on the same rows: the others, and last the version of the previous release."""
        own, tables = self.prediction, self.release.previous_tables is not None
        if own.previous is not None:
            return (*self.rivals, Rival(name=PREVIOUS, column=own.previous))
        if not tables or not (own.columns or own.column):
            return self.rivals
        earlier = tuple(earlier_column(name) for name in own.columns or ())
        column = None if own.column is None or earlier else earlier_column(own.column)
        return (*self.rivals, Rival(name=PREVIOUS, column=column, columns=earlier or None))

    @property
    def updates(self) -> tuple[str, ...]:
        """The names of the updated models."""
        return () if self.update is None else tuple(f"{UPDATED}{method}" for method in self.update.methods)

    @property
    def judged_by(self) -> Mapping[str, Mapping[str, float | str]]:
        """The measures of the external performance diagram, each with the settings at which it is taken."""
        chosen = self.robustness
        at = self._weighted_at if chosen.utility == "weighted_utility" else self._at_the_primary_threshold
        return {"auroc": {}, chosen.utility: at, chosen.calibration: {}}

    @property
    def _at_the_primary_threshold(self) -> Mapping[str, float | str]:
        declared = self.thresholds.declared
        return {"threshold": declared[0]} if declared else {}

    @property
    def _weighted_at(self) -> Mapping[str, float | str]:
        """The one place of weighted utility that is judged; empty where nothing says at which threshold."""
        given = self.utility or Utility()
        taus = ("cost_benefit",) * (given.cost is not None) + given.tau_from + self.thresholds.declared
        return {**given.judged_at, "tau": taus[0]} if taus else {}

    def spells(self, subset: Subset) -> bool:
        """Whether it names a subgroup itself: by the levels or cuts of its column, or in a criterion."""
        columns = {each.column for each in self.subgroup if each.levels is not None or each.cuts is not None}
        return subset.column in columns or any(criterion.subset == subset for criterion in self.acceptance)

    @property
    def criteria(self) -> tuple[Acceptance, ...]:
        """Every criterion with its bounds as numbers, also the one that [h_accuracy] declares."""
        minimum = self.h_accuracy.acceptable
        if minimum is None:
            return self.acceptance
        return tuple(
            criterion if criterion.at_least_from is None else criterion.model_copy(update={"at_least": minimum.value})
            for criterion in self.acceptance
        )


def schema() -> dict[str, Any]:
    """The JSON Schema of release.toml, with one sentence for every key."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Release.model_json_schema(by_alias=True)}
