"""What a release declares: one frozen model for every table of release.toml, its attributes named as the keys are."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeGuard, get_args

import pydantic
from pydantic import Field
from pydantic_core import CoreSchema

from dossier.core import bands, command, contents, facts, looks, tripod
from dossier.core.faults import catalogue
from dossier.core.values import RIVAL, UPDATED, CountRange, PeriodUnit, Subset, UpdateMethod, decimal
from dossier.words import entries

CHECKLIST_ITEMS = tuple(item.number for item in tripod.ITEMS)
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

MINIMA = tuple(sorted(bands.PERFORMANCE))
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

    def __init__(self, code: str, /, **values: facts.Value) -> None:
        self.fact = facts.Fact(code, **values)
        super().__init__(f"{catalogue.what(self.fact)} {catalogue.fix(self.fact)}")


Rules = Mapping[str, Callable[[Any], object]]
"""What keys must not say together: the code of each fault, and whether a table has it, or the values that it names."""


class Table(pydantic.BaseModel):
    """A table of release.toml: frozen, no unknown keys, no guessing of types; its rules hold in their order."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
    rules: ClassVar[Rules] = {}

    @classmethod
    def meanings(cls) -> dict[str, str]:
        """What each of its keys means, in a sentence."""
        found: dict[str, str] = entries("keys")[cls.__name__]
        return found

    @classmethod
    def __get_pydantic_json_schema__(cls, table: CoreSchema, handler: pydantic.GetJsonSchemaHandler) -> dict[str, Any]:
        found = handler(table)
        for key, sentence in cls.meanings().items():
            handler.resolve_ref_schema(found)["properties"][key]["description"] = sentence
        return found

    @pydantic.model_validator(mode="after")
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


Text = Annotated[str, Field(min_length=1, max_length=20_000), pydantic.BeforeValidator(_without_blanks_only)]
"""A text that says something: of blanks only it is as empty as of nothing."""
Line = Annotated[str, Field(min_length=1, max_length=60), pydantic.BeforeValidator(_without_blanks_only)]
"""A text that has room in the head of a page."""
Chapter = Annotated[str, Field(min_length=1, max_length=1 << 20), pydantic.BeforeValidator(_without_blanks_only)]
"""A file of text, or what it holds."""
Decimal = Annotated[float, pydantic.AfterValidator(lambda share: float(decimal(share)))]
Inside = Annotated[Decimal, Field(gt=0, lt=1), Field(ge=command.LEAST_THRESHOLD, le=1 - command.LEAST_THRESHOLD)]
Level = Annotated[float, Field(ge=0.5, le=0.9999)]
"""Below one half an interval more often misses than holds; above, no sample and no bootstrap shows its ends."""
Share = Annotated[float, Field(ge=0, le=1)]


def _range_or_count(value: object, handler: pydantic.ValidatorFunctionWrapHandler) -> int:
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


def object_schema(properties: Mapping[str, Any], *needed: str) -> dict[str, Any]:
    """The JSON Schema of a table that has these keys and no others, of which some are needed, or else all."""
    required = list(needed) or sorted(properties)
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


_WHOLE = {"type": "integer", "minimum": 0}
_ENDS = ("lo", "hi", "mid")
COUNT_SCHEMA: Mapping[str, Any] = MappingProxyType(
    {"anyOf": [_WHOLE, object_schema(dict.fromkeys(_ENDS, _WHOLE), *_ENDS)]}
)
Count = Annotated[
    int,
    Field(ge=0),
    pydantic.WrapValidator(_range_or_count),
    pydantic.PlainSerializer(written_count),
    pydantic.WithJsonSchema(dict(COUNT_SCHEMA)),
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


Day = Annotated[datetime.date, pydantic.BeforeValidator(day)]


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

    model: Text
    version: Text
    date: Day | None = None
    owner: Text
    level: Level = 0.95
    seed: Whole = 1
    artifact_sha256: str | None = Field(None, pattern="^[0-9a-f]{64}$")
    tested_version: Text | None = None
    tester: Text | None = None
    sealed: Text | None = None
    previous: Text | None = None
    previous_tables: Text | None = None


class Outcome(Table):
    """What the model predicts."""

    rules = {
        "follow_up_without_time": lambda own: (
            own.time is None
            and (keys := (*_given(own, "event", "unit", "censored"), *(("competing",) if own.competing else ())))
            and {"key": keys[0]}
        ),
        "event_and_column": lambda own: own.event is not None and own.event != own.column,
        "code_of_two_meanings": lambda own: (
            own.time is not None
            and (
                words := _repeated(
                    [str(word) for word in (own.positive, own.censored, *own.competing) if word is not None]
                )
            )
            and {"value": words[0]}
        ),
        "codes_in_part": lambda own: own.time is not None and len(_given(own, "positive", "censored")) == 1,
    }

    name: Text
    column: Text
    time: Text | None = None
    event: Text | None = None
    unit: Text | None = None
    positive: Value | None = None
    censored: Value | None = None
    competing: Annotated[tuple[Value, ...], pydantic.BeforeValidator(_without_repeats), FEW] = ()
    horizon: Text | None = None
    classes: Annotated[tuple[Text, ...], pydantic.BeforeValidator(_without_repeats), CLASSES] | None = None

    @property
    def competing_events(self) -> tuple[str, ...]:
        """The competing events by name, as far as their codes are words."""
        return tuple(text for text in map(str, self.competing) if any(map(str.isalpha, text)))


class Prediction(Table):
    """Where the predicted risks stand."""

    column: Text | None = None
    from_: Literal["model"] | None = Field(None, alias="from")
    scale: command.Scale = "probability"
    rival: Text | None = None
    rival_name: Text | None = None
    previous: Text | Annotated[tuple[Text, ...], pydantic.BeforeValidator(_without_repeats), CLASSES] | None = None
    columns: Annotated[tuple[Text, ...], pydantic.BeforeValidator(_without_repeats), CLASSES] | None = None
    rivals: Annotated[tuple[Text, ...], pydantic.BeforeValidator(_without_repeats), CLASSES] | None = None


class Rival(Table):
    """Another model that gave its risks for the same rows."""

    rules = {"rival_of_two_forms": lambda own: len(_given(own, "column", "columns")) != 1 and {"name": own.name}}

    name: Text
    column: Text | None = None
    columns: Annotated[tuple[Text, ...], pydantic.BeforeValidator(_without_repeats), CLASSES] | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """The column or the columns of its risks."""
        return self.columns or (() if self.column is None else (self.column,))


class Thresholds(Table):
    """The risks from which somebody would act."""

    declared: Annotated[tuple[Inside, ...], pydantic.AfterValidator(_without_repeats), FEW] = ()
    range: Annotated[tuple[Inside, Inside], pydantic.BeforeValidator(_number_range)] | None = None
    rationale: Text | None = None
    wish: Mapping[Literal["sensitivity", "specificity"], Annotated[Decimal, Field(ge=command.LEAST_WISH, le=1)]] = (
        Field(default_factory=dict)
    )

    @property
    def primary(self) -> float | None:
        """The one that is declared first."""
        return next(iter(self.declared), None)

    @property
    def wishes(self) -> tuple[str, ...]:
        """What a threshold is looked for, in the order of the release: "sensitivity 0.95"."""
        return tuple(f"{measure} {share:.12g}" for measure, share in self.wish.items())


class Horizon(Table):
    """A time by which the outcome is predicted, and the risks by then."""

    rules = {"horizon_without_risk": lambda own: not _given(own, "risk", "baseline_survival") and {"at": own.at}}

    at: Annotated[float, Field(gt=0)]
    says: Text | None = None
    risk: Text | None = None
    baseline_survival: Inside | None = None
    rival: Text | None = None
    thresholds: Thresholds = Field(default_factory=Thresholds)


class DatasetDeclaration(Table):
    """A table of rows: one dataset, or one a site."""

    rules = {
        "periods_without_date": lambda own: own.periods and not own.date,
        "periods_of_other_role": lambda own: own.periods and own.role != "external" and {"role": own.role},
        "key_of_development": lambda own: own.design and own.role == "development" and {"key": own.design[0]},
        "split_beside": lambda own: own.design and own.split and {"key": own.design[0]},
        "strata_alone": lambda own: own.design in (("strata",), ("strata", "imputation")),
    }

    name: str = Field(pattern=r"^\w[\w.-]*$")
    role: DatasetRole
    file: Text
    outside: bool = False
    sheet: Text | None = None
    encoding: Literal["utf-8", "utf-16", "latin-1", "windows-1252"] | None = None
    separator: Literal[",", ";", "\t", "|"] | None = None
    decimal: Literal[".", ","] | None = None
    site: Text | None = None
    site_column: Text | None = None
    dates: Annotated[tuple[Day, Day], pydantic.AfterValidator(_date_range)] | None = None
    date: Text | None = None
    periods: PeriodUnit | None = None
    country: Text | None = None
    setting: Text | None = None
    columns: Mapping[str, Text] = Field(default_factory=dict)
    missing: Mapping[str, tuple[Value, ...]] = Field(default_factory=dict)
    rows: Annotated[Mapping[str, tuple[Value, ...]], pydantic.BeforeValidator(_some_rows)] = Field(default_factory=dict)
    predictors: Annotated[tuple[Text, ...], MANY] | None = None
    categorical: tuple[Text, ...] = ()
    split: Text | None = None
    id: Text | None = None
    cluster: Text | None = None
    weights: Text | None = None
    strata: Text | None = None
    imputation: Text | None = None
    minimum_cell: Whole | None = None

    @property
    def design(self) -> tuple[str, ...]:
        """The keys that say how rows belong together."""
        return _given(self, "cluster", "weights", "strata", "imputation")


class DeclaredAuroc(Table):
    """An AUROC that was published, with its interval and its rows."""

    rules = {"auroc_outside_interval": _apart, "more_events_than_rows": lambda own: own.events >= own.n}

    value: Share
    low: Share
    high: Share
    n: Annotated[Count, Field(ge=1)]
    events: Annotated[Count, Field(ge=1)]


class DeclaredPerformance(Table):
    """A published result that stands in for a dataset whose rows nobody may share."""

    name: Text
    role: Literal["internal"]
    auroc: DeclaredAuroc | None = None


class DeclaredCorrespondence(Table):
    """The similarity of an external site whose predictors nobody may share, computed elsewhere: in one form or both."""

    dataset: Text
    averaged: Annotated[float, Field(ge=0, le=1)] | None = None
    psi: Annotated[float, Field(ge=0, le=1)] | None = None
    n: Annotated[int, Field(ge=1)]
    source: Text


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

    predictor: Text
    with_: Text | None = Field(None, alias="with")
    coefficient: float | None = None
    levels: Mapping[str, float] | None = None
    knots: tuple[float, ...] | None = None
    segments: tuple[float, ...] | None = None
    coefficients: tuple[float, ...] | None = None
    floor: float | None = None
    cap: float | None = None
    transform: Literal["log", "sqrt", "square"] | None = None

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


class ModelFile(Table):
    """What [model] says in place of the terms: which updated formula of an earlier release it is."""

    file: Text
    outside: bool = False
    dataset: Text
    method: UpdateMethod


class Fitted(ModelFile):
    """Where an earlier release updated a formula, as its updated-model.toml says."""

    of: Text
    version: Text
    hospital: Text
    patients: int | Mapping[str, int]
    intercept_added: float
    slope: float


class Model(Table):
    """The formula of the model, for the points nomogram."""

    rules = {
        "several_terms": lambda own: own.repeated and {"terms": own.repeated},
        "model_of_no_level": lambda own: len(_given(own, "intercept", "baseline_survival")) != 1,
        "centre_of_intercept": lambda own: own.centre is not None and own.intercept is not None,
    }

    intercept: float | None = None
    baseline_survival: Inside | None = None
    centre: float | None = None
    term: Annotated[tuple[ModelTerm, ...], Field(min_length=1, max_length=1000)]
    fitted: Fitted | None = None

    @property
    def link(self) -> Literal["logit", "cloglog"]:
        """The scale on which the terms add up: log odds, or log(-log(1 - p)), on which they are log hazard ratios."""
        return "logit" if self.baseline_survival is None else "cloglog"

    @property
    def constant(self) -> float:
        """What the linear predictor is where no term adds anything: with the survival S0 of who is at the centre, so
        that the risk is 1 - S0^exp(terms - centre).
        """
        if self.baseline_survival is None:
            return self.intercept or 0.0
        return math.log(-math.log(self.baseline_survival)) - (self.centre or 0.0)

    def by(self, horizon: Horizon) -> Model | None:
        """The formula by a horizon; None where it has no survival of its own."""
        found = horizon.baseline_survival
        return None if found is None else self.model_copy(update={"baseline_survival": found, "intercept": None})

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

    labels: Text
    confidence: Text | None = None
    complexity: Text | None = None
    outside: bool = False
    header: bool | None = None
    dataset: Text | None = None
    case: Text | None = None
    accuracy: Share | tuple[Share, ...] | None = None
    groups: dict[Text, Text] | None = None
    coherence: Share | None = None
    desired_accuracy: Annotated[float, Field(ge=0.5, le=1)] | None = None


class StudyCounts(Table):
    """Bare counts of a reader study."""

    aie: Whole
    ain: Whole
    ce: Whole
    cn: Whole


class ReaderStudy(Table):
    """Decisions without and with the model."""

    rules = {"reader_study_of_two_forms": lambda own: len(_given(own, "file", "counts")) != 1}

    file: Text | None = None
    outside: bool = False
    design: Literal["paired", "parallel"] = "paired"
    counts: StudyCounts | None = None


Weights = tuple[tuple[Share, ...], ...]
"""One row a predicted class, one column a true class."""


def _not_square(own: Any) -> bool:
    return len(own.weights) < 2 or {len(row) for row in own.weights} != {len(own.weights)}


def _of_right_answer(own: Any) -> bool:
    return any(row[index] != 0 for index, row in enumerate(own.weights))


class SeverityOfSubgroup(Table):
    """How grave each kind of error is in a subgroup, where that differs."""

    rules = {"severity_not_square": _not_square, "severity_of_right_answer": _of_right_answer}

    column: Text
    level: Text
    weights: Weights


class Severity(Table):
    """How grave each kind of error is."""

    rules = {"severity_not_square": _not_square, "severity_of_right_answer": _of_right_answer}

    weights: Weights
    source: Text | None = None
    rationale: Text | None = None
    set_by: Text | None = None
    declared_on: Day | None = None
    subgroup: Annotated[tuple[SeverityOfSubgroup, ...], LEVELS] = ()

    @property
    def matrices(self) -> tuple[Weights, ...]:
        """The weights, and after them those of each subgroup."""
        return (self.weights, *(subgroup.weights for subgroup in self.subgroup))


class Source(Table):
    """Where a case's value comes from, when it is no column."""

    from_: Literal["raters", "rater_errors", "rater_confidence"] = Field(alias="from")
    weighted: bool = False
    cut: tuple[Inside, ...] | None = None


class SurveyShare(Table):
    """The share of answers to a survey that put a class first, with its interval."""

    rules = {"share_outside_interval": _apart}

    value: Share
    low: Share
    high: Share


class Acceptable(Table):
    """The least accuracy that is acceptable, and where it comes from."""

    rules = {"interval_of_one_end": lambda own: len(_given(own, "low", "high")) == 1, "share_outside_interval": _apart}

    value: Share
    low: Share | None = None
    high: Share | None = None
    n: Annotated[int, Field(ge=1)] | None = None
    source: Text


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

    priority: Annotated[tuple[Share | tuple[Share, ...], ...], pydantic.BeforeValidator(_without_repeats), FEW] = (
        0.25,
        0.5,
        0.75,
    )
    priority_from: Annotated[
        tuple[Literal["prevalence", "complement", "net_benefit", "raters", "survey"], ...],
        pydantic.BeforeValidator(_without_repeats),
    ] = ("prevalence",)
    survey: Annotated[Mapping[str, Share | SurveyShare] | None, pydantic.AfterValidator(_survey_adds_up)] = None
    tau: Annotated[tuple[Share, ...], pydantic.BeforeValidator(_without_repeats), FEW] = (0.6, 0.75, 1.0)
    tau_from: Annotated[tuple[Literal["raters"], ...], pydantic.BeforeValidator(_without_repeats)] = ()
    complexity: Annotated[Text | Source | None, pydantic.BeforeValidator(_no_source_as_column)] = None
    cut: Annotated[Annotated[tuple[Inside, ...], FEW] | None, pydantic.BeforeValidator(_without_repeats)] = None
    acceptable: Acceptable | None = None

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

    relevance: Text | Source | None = None
    gamma: Annotated[tuple[Share, ...], pydantic.BeforeValidator(_without_repeats), FEW] = (1.0,)
    tau_from: Annotated[
        tuple[Literal["confidence", "persuasion", "automation_bias"], ...], pydantic.BeforeValidator(_without_repeats)
    ] = ()
    cost: Text | None = None
    benefit: Text | None = None

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

    rules = {"no_part_of_roc": lambda own: not own.parts, "range_reversed": lambda own: any(map(_falls, own.parts))}

    parts: Annotated[tuple[tuple[Share, Share], ...], pydantic.BeforeValidator(_without_repeats), FEW]


class Resampling(Table):
    """How often the data are drawn again."""

    bootstrap: Annotated[int, Field(ge=2, le=MOST_DRAWS)] = 1000
    permutations: Annotated[int, Field(ge=1, le=MOST_DRAWS)] = 999


def _by_measure(given: object, known: tuple[str, ...]) -> None:
    if isinstance(given, Mapping) and (unknown := [str(name) for name in given if name not in known]):
        raise UnfitError("measures_not_here", measures=tuple(unknown), known=tuple(known))


def _widths(given: object) -> object:
    _by_measure(given, tuple(WIDTHS))
    return {**WIDTHS, **given} if isinstance(given, Mapping) else given


def _minima(given: object) -> object:
    _by_measure(given, MINIMA)
    return given


class Updating(Table):
    """Which updates are tried at each hospital, beside the model as it is; none is ever applied to patients."""

    methods: Annotated[tuple[UpdateMethod, ...], pydantic.AfterValidator(_without_repeats), Field(min_length=1)]


class Sample(Table):
    """How narrow the intervals should be."""

    width: Annotated[Mapping[str, Annotated[float, Field(ge=0.0001, le=10)]], pydantic.BeforeValidator(_widths)] = (
        Field(default_factory=lambda: dict(WIDTHS))
    )

    @property
    def is_declared(self) -> bool:
        """Whether the release names a width, and does not leave all to us."""
        return "width" in self.model_fields_set


class Robustness(Table):
    """What counts as the least acceptable performance, and as similar to the development data."""

    minimum: Annotated[Mapping[str, float], pydantic.BeforeValidator(_minima)] = Field(default_factory=dict)
    similarity: Literal["psi", "averaged"] = "averaged"
    utility: Literal["standardized_net_benefit", "weighted_utility"] = "standardized_net_benefit"
    calibration: Literal["brier", "eci"] = "brier"


class SubgroupLevel(Table):
    """A subgroup: a column of a [[subgroup]], and one of its levels."""

    column: Text
    level: Text


class Acceptance(Table):
    """A criterion that was declared beforehand."""

    measure: Text
    dataset: Text
    subset_: SubgroupLevel | None = Field(None, alias="subset")
    at: Mapping[str, str | Decimal] = Field(default_factory=dict)
    bound: Literal["value", "low", "high"] = "value"
    at_least: float | None = None
    at_least_from: Literal["h_accuracy.acceptable"] | None = None
    at_most: float | None = None
    not_worse_by: float | None = Field(None, ge=0)
    than: Literal["previous"] | None = None
    declared_on: Day | None = None
    reason: Text | None = None
    caution_reason: Text | None = None

    @property
    def subset(self) -> Subset | None:
        """The subgroup that it asks of; None for all patients."""
        return None if self.subset_ is None else Subset(self.subset_.column, self.subset_.level)


class Predictor(Table):
    """How a column of the tables is printed."""

    name: Text
    label: Text | None = None
    unit: Text | None = None
    levels: Annotated[Mapping[str, Text], LEVELS] | None = None


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

    column: Text
    levels: Annotated[Mapping[str, Text], LEVELS] | None = None
    cuts: Annotated[tuple[float, ...], FEW] | None = None


class Disclosure(Table):
    """How small counts are protected, so that nobody can be recognised."""

    minimum_cell: Whole = 10
    ledger: Text | None = None
    other_patients: tuple[Text, ...] = ()


class Reply(Table):
    """The owner's answer to a flag."""

    flag: Text
    dataset: Text | None = None
    says: Text


class IntendedUse(Table):
    """For whom the model is, and for whom not, in words that the committee edition prints."""

    for_: Text | None = Field(None, alias="for")
    not_for: tuple[Text, ...] = ()
    users: Text | None = None
    decision: Text | None = None
    verb: Text | None = Field(None, max_length=40)


class StopRule(Table):
    """A limit that switches the model off: a measure outside it in so many calendar periods in a row."""

    rules = {
        "stop_rule_without_limit": lambda own: not _given(own, "at_least", "at_most") and {"measure": own.measure},
        "stop_limits_reversed": lambda own: (
            len(_given(own, "at_least", "at_most")) == 2 and own.at_least >= own.at_most and {"measure": own.measure}
        ),
    }

    measure: Watched
    at_least: float | None = None
    at_most: float | None = None
    periods: Annotated[int, Field(ge=1, le=100)] = 1


class Care(Table):
    """How the model is watched once it is in use."""

    threshold_owner: Text | None = None
    monitoring: Text | None = None
    review: Text | None = None
    stop_rule: Text | None = None
    model_in_use: bool = False
    stop: Annotated[tuple[StopRule, ...], FEW] = ()


def _stands_out(least: float) -> pydantic.AfterValidator:
    def held(colour: str, field: pydantic.ValidationInfo) -> str:
        if looks.contrast(colour) < least:
            raise UnfitError("unread_colour", key=str(field.field_name), least=least)
        return colour

    return pydantic.AfterValidator(held)


def _under_words(colour: str) -> str:
    if not looks.is_pale(colour):
        raise UnfitError("dark_band", least=looks.CONTRAST)
    return colour


def _only_words(lines: int, letters: int) -> pydantic.AfterValidator:
    """So many lines at most, each of so many letters as it is written, that hold nothing but words and values."""

    def held(text: str, field: pydantic.ValidationInfo) -> str:
        if found := next(looks.strange(text), None):
            raise UnfitError("not_words", key=str(field.field_name), written=found, known=looks.VALUES)
        if looks.lines(text) > lines or max(map(len, text.split("\n"))) > letters:
            raise UnfitError("long_words", key=str(field.field_name), lines=facts.Count(lines, "line"), letters=letters)
        return text

    return pydantic.AfterValidator(held)


Readable = Annotated[Line, _stands_out(looks.CONTRAST)]
"""A colour of letters."""
Visible = Annotated[Line, _stands_out(looks.OF_A_LINE)]
"""A colour of lines."""


class Style(Table):
    """The colours of a dossier and the family of its headings: all else is set by dossier."""

    accent: Readable | None = None
    headings: Readable | None = None
    family: Literal["serif", "sans"] | None = None
    lines: Visible | None = None
    band: Annotated[Line, pydantic.AfterValidator(_under_words)] | None = None
    mark: Visible | None = None


class Templates(Table):
    """The words of an institution around the pages, each the file of its name in the folder of templates."""

    letterhead: Annotated[Text, _only_words(2, 60)] | None = None
    running_head: Annotated[Text, _only_words(1, 40)] | None = None
    running_foot: Annotated[Text, _only_words(1, 60)] | None = None
    imprint: Annotated[Text, _only_words(30, 600)] | None = None


def file_of_chapter(name: str) -> contents.Edition | None:
    """The file of a submission in which a chapter stands first; None of one that stands in neither."""
    editions = entries("chapters").get(name, {"editions": ()}).get("editions", contents.SUBMITTED[:1])
    return next((file for file in contents.SUBMITTED if file in editions), None)


class OwnChapter(Table):
    """A chapter of an institution that stands between those of dossier."""

    file: Chapter
    """The name of a file; in results.json what it holds."""
    after: Text | None = None

    @property
    def title(self) -> str:
        """The first line of what it holds."""
        return self.file.partition("\n")[0].strip("# ")

    @property
    def has_title_of_ours(self) -> bool:
        """Whether it might be taken for a chapter of dossier."""
        return self.title.casefold() in {about["title"].casefold() for about in entries("chapters").values()}

    @property
    def is_beyond_core(self) -> bool:
        """Whether it stands in the core and has no room there."""
        return file_of_chapter(self.after or "") == "regulatory" and looks.lines(self.file) > MOST_LINES_IN_CORE

    @property
    def edition(self) -> contents.Edition:
        """The file of a submission that it stands in: that of the chapter before it, or else the supplement.

        Also in results that nobody read from a release the core has no room for more than it may take there.
        """
        return "supplement" if self.is_beyond_core else file_of_chapter(self.after or "") or "supplement"


MOST_LINES_IN_CORE = 60
"""A page: a chapter of the core takes no more."""


def _or_name(table: type[Table]) -> pydantic.BeforeValidator:
    return pydantic.BeforeValidator(lambda given: given, json_schema_input_type=table | str | None)


class Report(Table):
    """What the owner prints of the dossier, and in which looks."""

    leave_out: tuple[Text, ...] = ()
    title: Line | None = None
    organisation: Line | None = None
    accent: Readable | None = None
    logo: Annotated[str, Field(min_length=1, max_length=400_000)] | None = None
    """The name of a file; in results.json what it holds."""
    looks: Literal["dossier-looks/1"] | None = None
    style: Annotated[Style | None, _or_name(Style)] = None
    """In release.toml also the name of a file; in results.json what it holds."""
    templates: Annotated[Templates | None, _or_name(Templates)] = None
    """In release.toml also the name of a folder; in results.json what its files hold."""
    chapters: Annotated[tuple[Chapter | OwnChapter, ...], FEW] = ()
    """The names of files; in results.json what they hold."""

    @property
    def own(self) -> tuple[OwnChapter, ...]:
        """The own chapters in one form."""
        return tuple(OwnChapter.model_construct(file=each) if isinstance(each, str) else each for each in self.chapters)

    @property
    def colours(self) -> Mapping[str, str]:
        """Every colour that an institution sets, by the name that style sheets know: an accent of the style holds."""
        of_style = (self.style or Style()).model_dump(exclude_none=True, exclude={"family"})
        return {**({} if self.accent is None else {"accent": self.accent}), **of_style}

    @property
    def words(self) -> Iterator[tuple[str, str]]:
        """Every text in which somebody might type a number, with what it is called."""
        yield from ((own.title, own.file) for own in self.own)
        around = {} if self.templates is None else self.templates.model_dump(exclude_none=True)
        about = {"title": self.title, "organisation": self.organisation, **around}
        yield from ((key.replace("_", " "), text) for key, text in about.items() if text)

    @property
    def markdown(self) -> tuple[tuple[str, str], ...]:
        """Its texts that may name numbers, each with its key."""
        imprint = None if self.templates is None else self.templates.imprint
        chapters = tuple(("chapters", own.file) for own in self.own)
        return chapters if imprint is None else (*chapters, ("templates.imprint", imprint))

    def with_chapters(self, say: Callable[[str], str]) -> Self:
        """The same with every own chapter said in another way."""
        chapters = tuple(
            say(each) if isinstance(each, str) else each.model_copy(update={"file": say(each.file)})
            for each in self.chapters
        )
        return self.model_copy(update={"chapters": chapters})

    def said(self, say: Callable[[str], str]) -> Self:
        """The same with every text that may name numbers said in another way."""
        own = self.templates
        if own is not None and own.imprint is not None:
            own = own.model_copy(update={"imprint": say(own.imprint)})
        return self.with_chapters(say).model_copy(update={"templates": own})


class ModelCard(Table):
    """What the model card says that no data can show."""

    architecture: Text | None = None
    regulatory_status: Text | None = None
    inputs: Text | None = None
    workflow: Text | None = None
    failure_modes: Text | None = None
    out_of_distribution: Text | None = None
    risks: Text | None = None
    updates: Text | None = None
    development_data: Text | None = None


class Signatory(Table):
    """Who signs, and what the signature means."""

    name: Text
    role: Text
    meaning: Text
    date: Day | None = None


class Revision(Table):
    """An earlier issue of this dossier."""

    number: Text
    date: Day
    change: Text


class Statement(Table):
    """A declared row of the checklist: a text, a file that holds it, or an explicit none."""

    rules = {"statement_of_several_forms": lambda own: len(_given(own, "text", "file", "none")) != 1}

    text: Text | None = None
    file: Text | None = None
    outside: bool = False
    none: Text | None = None


def _items(given: object) -> object:
    if isinstance(given, Mapping) and (unknown := [str(name) for name in given if name not in CHECKLIST_ITEMS]):
        raise UnfitError("no_such_item", items=tuple(unknown), known=tuple(CHECKLIST_ITEMS))
    return given


_TEXT = {"type": "string"}
_STATEMENT_SCHEMA = {
    "anyOf": [
        _TEXT,
        object_schema({"file": _TEXT, "outside": {"type": "boolean"}}, "file"),
        object_schema({"none": _TEXT}),
    ]
}
Declared = Annotated[
    Statement,
    pydantic.BeforeValidator(lambda given: {"text": given} if isinstance(given, str) else given),
    pydantic.WithJsonSchema(_STATEMENT_SCHEMA),
]


def _listed(given: object) -> object:
    """A table that stands alone, as a list of one."""
    return given if isinstance(given, tuple | list) else (given,)


OR_FILE = pydantic.BeforeValidator(lambda given: given, json_schema_input_type=Model | ModelFile | None)


class Release(Table):
    """Everything that release.toml declares."""

    release: About
    outcome: Outcome
    prediction: Prediction
    rival: Annotated[tuple[Rival, ...], LEVELS] = ()
    thresholds: Thresholds = Field(default_factory=Thresholds)
    horizon: Annotated[tuple[Horizon, ...], FEW] = ()
    dataset: Annotated[tuple[DatasetDeclaration, ...], Field(min_length=1)]
    declared_performance: Annotated[tuple[DeclaredPerformance, ...], MANY] = ()
    declared_correspondence: Annotated[tuple[DeclaredCorrespondence, ...], MANY] = ()
    model: Annotated[Model | None, OR_FILE] = None
    readers: Annotated[
        tuple[ReadersTables, ...],
        pydantic.BeforeValidator(_listed, json_schema_input_type=ReadersTables | tuple[ReadersTables, ...]),
        MANY,
    ] = ()
    reader_study: ReaderStudy | None = None
    severity: Severity | None = None
    h_accuracy: HAccuracy = Field(default_factory=HAccuracy)
    utility: Utility | None = None
    roc: Roc | None = None
    resampling: Resampling = Field(default_factory=Resampling)
    update: Updating | None = None
    sample: Sample = Field(default_factory=Sample)
    robustness: Robustness = Field(default_factory=Robustness)
    acceptance: Annotated[tuple[Acceptance, ...], MANY] = ()
    predictor: Annotated[tuple[Predictor, ...], MANY] = ()
    subgroup: Annotated[tuple[Subgroup, ...], LEVELS] = ()
    disclosure: Disclosure | None = None
    reply: Annotated[tuple[Reply, ...], MANY] = ()
    intended_use: IntendedUse = Field(default_factory=IntendedUse)
    report: Report = Field(default_factory=Report)
    care: Care = Field(default_factory=Care)
    model_card: ModelCard = Field(default_factory=ModelCard)
    signatory: Annotated[tuple[Signatory, ...], MANY] = ()
    revision: Annotated[tuple[Revision, ...], MANY] = ()
    statements: Annotated[Mapping[str, Declared], pydantic.BeforeValidator(_items)] = Field(default_factory=dict)

    @property
    def rivals(self) -> tuple[Rival, ...]:
        """Every other model, that of [prediction] first."""
        short = self.prediction
        if short.rival is None and short.rivals is None:
            return self.rival
        # The release has its own faults where both forms are given.
        columns = None if short.rival is not None else short.rivals
        return (Rival(name=self.rival_label, column=short.rival, columns=columns), *self.rival)

    @property
    def rival_label(self) -> str:
        """What the other model goes by that is named without a name: that of [prediction], else of a further horizon
        that of the only [[rival]], else "the rival".
        """
        own = self.prediction
        only = self.rival[0].name if len(self.rival) == 1 and (own.rival, own.rivals) == (None, None) else RIVAL
        return own.rival_name or only

    @property
    def rivals_by_any_horizon(self) -> tuple[str, ...]:
        """The names of the other models; one may have risks by a further horizon alone."""
        later = (self.rival_label for each in self.horizon[1:] if each.rival is not None)
        return tuple(dict.fromkeys((*(rival.name for rival in self.rivals), *later)))

    @property
    def each_outcome(self) -> tuple[Mapping[str, float | str], ...]:
        """What the risks are of, as settings: each class, or the outcome by each horizon, the first without one."""
        if self.outcome.classes:
            return tuple({"class": label} for label in self.outcome.classes)
        return ({}, *({"horizon": each.at} for each in self.horizon[1:]))

    def primary(self, at: Mapping[str, float | str]) -> tuple[float, ...]:
        """The primary threshold of the horizon that settings name, or of the first; none where none is declared."""
        by = (each.thresholds for each in self.horizon if each.at == at.get("horizon"))
        return next(by, self.thresholds).declared[:1]

    @property
    def beside(self) -> tuple[Rival, ...]:
        """Every model that has risks on the same rows: the others, and last the version of the previous release."""
        own, tables = self.prediction, self.release.previous_tables is not None
        if own.previous is not None:
            named = {"columns" if isinstance(own.previous, tuple) else "column": own.previous}
            return (*self.rivals, Rival.model_validate({"name": PREVIOUS, **named}))
        if not tables or not (own.columns or own.column):
            return self.rivals
        earlier = tuple(earlier_column(name) for name in own.columns or ())
        column = None if own.column is None or earlier else earlier_column(own.column)
        return (*self.rivals, Rival(name=PREVIOUS, column=column, columns=earlier or None))

    def by_horizon(self, horizon: Horizon) -> Release:
        """The release as if one of its horizons were the only one."""
        outcome = self.outcome.model_copy(update={"horizon": horizon.says})
        risks = {"from_": None, "column": horizon.risk} if horizon.risk else {"from_": "model", "column": None}
        prediction = self.prediction.model_copy(
            update={**risks, "rival": horizon.rival, "rival_name": self.rival_label}
        )
        model = None if self.model is None else self.model.by(horizon)
        alone = {"horizon": (horizon,), "thresholds": horizon.thresholds, "rival": (), "subgroup": (), "acceptance": ()}
        return self.model_copy(update={"outcome": outcome, "prediction": prediction, "model": model, **alone})

    @property
    def updates(self) -> tuple[str, ...]:
        """The names of the updated models."""
        return () if self.update is None else tuple(f"{UPDATED}{method}" for method in self.update.methods)

    @property
    def judged_by(self) -> Mapping[str, Mapping[str, float | str]]:
        """The measures of the external performance diagram, each with the settings at which it is taken."""
        chosen = self.robustness
        at: Mapping[str, float | str] = {}
        if chosen.utility == "weighted_utility":
            # One place is judged; none where nothing says at which threshold.
            given = self.utility or Utility()
            taus = ("cost_benefit",) * (given.cost is not None) + given.tau_from + self.thresholds.declared
            at = {**given.judged_at, "tau": taus[0]} if taus else {}
        elif declared := self.thresholds.declared:
            at = {"threshold": declared[0]}
        return {"auroc": {}, chosen.utility: at, chosen.calibration: {}}

    def spells(self, subset: Subset) -> bool:
        """Whether it names a subgroup itself: by the levels or cuts of its column, or in a criterion."""
        columns = {each.column for each in self.subgroup if each.levels is not None or each.cuts is not None}
        return subset.column in columns or any(criterion.subset == subset for criterion in self.acceptance)

    @property
    def criteria(self) -> tuple[Acceptance, ...]:
        """Every criterion with its bounds as numbers, and its settings without the first horizon, of all else."""
        minimum, first = self.h_accuracy.acceptable, [("horizon", horizon.at) for horizon in self.horizon[:1]]
        settings = [dict(setting for setting in each.at.items() if setting not in first) for each in self.acceptance]
        least = [minimum.value if minimum and each.at_least_from else each.at_least for each in self.acceptance]
        declared = zip(self.acceptance, settings, least, strict=True)
        return tuple(each.model_copy(update={"at": at, "at_least": bound}) for each, at, bound in declared)


def schema() -> dict[str, Any]:
    """The JSON Schema of release.toml, with the sentence of every key."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Release.model_json_schema(by_alias=True)}
