"""results.json: the whole evidence, written and read by one model; every page, figure and table is printed from it.

`of(evidence)` and `Results.evidence` are each other's inverse, so that what is printed from the file is what the build
printed.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar

import pydantic
from pydantic_core import CoreSchema, core_schema

from dossier.core import between_groups, claims, facts, types, values
from dossier.core.errors import Fault, ReleaseError
from dossier.core.faults import locations
from dossier.core.register import fill, terms_of
from dossier.core.release import About, Count, Release, StopRule
from dossier.typeset import reasons
from dossier.typeset.flags import flag_text
from dossier.typeset.methods import method_text
from dossier.words import entries

SCHEMA: Literal["dossier-results/1"] = "dossier-results/1"
RESULTS = "results.json"
LARGEST = 1 << 29
"""Bytes; what a thousand hospitals with every curve fill."""
MOST_FAULTS = 5
"""How many departures from the schema are reported before the rest is left."""

Kind = TypeVar("Kind")
Setting = int | float | str


Status = Literal["estimated", "absent", "withheld"]


@dataclass(frozen=True, eq=False)
class _WithWords:
    """How pydantic reads, writes and describes a fact that is printed by one of our functions."""

    text: Callable[[facts.Fact], str]
    words: str
    beside: tuple[str, ...] = ()
    """The codes that have no words of their own: what they hold is printed."""

    def read(self, value: object) -> facts.Fact:
        """The fact that a file holds; a ValueError where it is none, or one without words."""
        if isinstance(value, facts.Fact):
            return value
        if not isinstance(value, Mapping):
            raise ValueError("a fact is a table with a code")
        try:
            found = facts.Fact.of_json(value)
            self.text(found)
        except (KeyError, AttributeError, TypeError, OverflowError, RecursionError) as error:
            raise ValueError("a fact has a code that is known, and the values of that code") from error
        return found

    def __get_pydantic_core_schema__(self, source: object, handler: pydantic.GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(lambda fact: fact.as_json)
        return core_schema.no_info_plain_validator_function(self.read, serialization=written)

    def __get_pydantic_json_schema__(self, found: CoreSchema, handler: pydantic.GetJsonSchemaHandler) -> dict[str, Any]:
        return {
            "type": "object",
            "description": "A code with its values: numbers, names, counts of something, and other facts.",
            "properties": {"code": {"enum": sorted((*entries(self.words), *self.beside))}},
            "required": ["code"],
        }


Reason = Annotated[facts.Fact, _WithWords(reasons.reason_text, "reasons")]
"""Why something is absent or withheld, or has no bounds; `words/reasons.toml` has the words."""
Limitation = Annotated[facts.Fact, _WithWords(flag_text, "flags")]
"""What a flag says; `words/flags.toml` has the words."""
Step = Annotated[facts.Fact, _WithWords(lambda step: method_text([step]), "methods", ("each_its_own",))]
"""A step of how something was made; `words/methods.toml` has the words."""


class Row(pydantic.BaseModel):
    """A row of results.json: frozen, no unknown keys, no guessing of types, no number that is not finite."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class SameFields(Row, Generic[Kind]):
    """A row with the fields of what it is of, each under the same name."""

    kind: ClassVar[type[Any]]

    @classmethod
    def of(cls, kind: Kind) -> Self:
        """The row of it."""
        return cls(**{each.alias or name: getattr(kind, name) for name, each in cls.model_fields.items()})

    @property
    def value(self) -> Kind:
        """What the row is of."""
        found: Kind = self.kind(**{name: getattr(self, name) for name in self.kind.__match_args__})
        return found


@dataclass(frozen=True, eq=False)
class _As:
    """How pydantic reads and writes a field that holds a value of core: as a row, or rows, of another shape."""

    kind: type[Any]
    shape: Any
    value: Callable[[Any], Any]
    written: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: object, handler: pydantic.GetCoreSchemaHandler) -> CoreSchema:
        shape = handler.generate_schema(self.shape)
        return core_schema.json_or_python_schema(
            core_schema.no_info_after_validator_function(self.value, shape),
            core_schema.is_instance_schema(self.kind),
            serialization=core_schema.plain_serializer_function_ser_schema(self.written, return_schema=shape),
        )


def _as(row: type[Any]) -> _As:
    """A field that is written as a row of this class."""
    return _As(row.kind, row, lambda found: found.value, row.of)


class NotGiven(SameFields[types.Withheld]):
    """In place of a number that is known and not given out: the reason, and the smallest count that is printed."""

    kind = types.Withheld

    reason: Reason = pydantic.Field(alias="withheld")
    below: Count


Withheld = Annotated[types.Withheld, _as(NotGiven)]
Counted = Count | Withheld


def _fields(of: object, *names: str) -> dict[str, Any]:
    """What is called the same on both sides."""
    return {name: getattr(of, name) for name in names}


class SubsetRow(SameFields[types.Subset]):
    """A subgroup: the column that makes it, and which of its levels."""

    kind = types.Subset

    column: str
    level: str


Subset = Annotated[types.Subset, _as(SubsetRow)]


class Excluded(Row):
    """How many rows were left out for one reason."""

    reason: str
    rows: Counted


Exclusions = Annotated[
    Mapping[str, int | types.Withheld],
    _As(
        Mapping,
        tuple[Excluded, ...],
        lambda rows: {row.reason: row.rows for row in rows},
        lambda found: tuple(Excluded(reason=why, rows=count) for why, count in found.items()),
    ),
]


class DatasetRow(SameFields[types.DatasetSummary]):
    """A dataset: who is in it, and what was left out."""

    kind = types.DatasetSummary

    name: str
    role: types.Role
    site: str
    n: Count
    events: Count | None
    rows_read: Counted
    excluded: Exclusions
    features: tuple[str, ...]
    splits: Count | None
    dates: tuple[datetime.date, datetime.date] | None
    dates_withheld: Withheld | None = None
    country: str | None = None
    setting: str | None = None
    class_counts: Mapping[str, Count] = pydantic.Field(alias="classes")
    minimum_cell: Count
    outcome_withheld: Withheld | None
    clusters: Count | None
    weighted: bool
    imputations: Count | None
    left: Count | None = None
    competing: Count | None = None


class DescriptionRow(Row):
    """A statistic of one variable of a dataset; of what is withheld only that it is."""

    dataset: str
    variable: str
    of_: types.Described = pydantic.Field(alias="of")
    """What the variable is."""
    statistic: str
    level: str | None
    value: float | None
    n: Counted | None
    withheld: Withheld | None = None

    @classmethod
    def of(cls, description: types.DescriptionResult | types.WithheldDescription) -> Self:
        """The row of a statistic."""
        names = ("variable", "of", "statistic", "level")
        if isinstance(description, types.WithheldDescription):
            return cls(**_fields(description, "dataset", *names), value=None, n=None, withheld=description.found)
        stated = description.described
        return cls(dataset=description.dataset, **_fields(stated, *names, "n"), value=float(stated.value))

    @property
    def given(self) -> types.DescriptionResult | None:
        """The statistic; None where it is withheld."""
        if self.value is None or self.n is None:
            return None
        stated = types.Description(self.variable, self.statistic, self.value, self.n, self.level, self.of_)
        return types.DescriptionResult(self.dataset, stated)

    @property
    def not_given(self) -> types.WithheldDescription | None:
        """That the statistic is withheld; None where it is given."""
        if self.withheld is None:
            return None
        named = (self.dataset, self.variable, self.statistic, self.level)
        return types.WithheldDescription(*named, self.withheld, self.of_)


class SubgroupRow(Row):
    """How large a subgroup of a dataset is, or why that is not said."""

    dataset: str
    subset: Subset
    n: Count | None = None
    events: Count | None = None
    unassigned: Counted | None = None
    """The rows that are in no subgroup of the column."""
    classes: Mapping[str, Count] = pydantic.Field(default_factory=dict)
    left: Count | None = None
    """Those who were followed for less than the horizon, where the outcome is by one."""
    status: Status
    reason: Reason | None = None
    below: Count | None = None

    @classmethod
    def of(cls, subgroup: types.SubgroupSummary) -> Self:
        """The row of a subgroup."""
        named, size = _fields(subgroup, "dataset", "subset"), subgroup.size
        if isinstance(size, types.Absent):
            return cls(**named, **_gap(size))
        counts = {"classes": dict(size.class_counts), **_fields(size, "n", "events", "unassigned", "left")}
        return cls(**named, **counts, status="estimated")

    @property
    def value(self) -> types.SubgroupSummary:
        """The subgroup."""
        size: types.SubgroupSize | types.Absent
        if self.n is None or self.unassigned is None:
            size = _absent(self.status, self.reason, self.below)
        else:
            size = types.SubgroupSize(self.n, self.events, self.unassigned, dict(self.classes), self.left)
        return types.SubgroupSummary(self.dataset, self.subset.column, self.subset.level, size)


ESTIMATED = ("value", "low", "high", "se", "level", "n", "events", "reason")
"""What an estimate and its row both call so."""


class EstimateRow(Row):
    """One value: which measure, where, at what, what was found and by what method; further keys are its details."""

    measure: str
    dataset: str
    subset: Subset | None
    at: Mapping[str, Setting]
    tier: types.Tier
    value: float | None
    low: float | None
    high: float | None
    se: float | None
    level: float | None
    n: Count | None
    events: Count | None
    method: tuple[Step, ...] | None
    """How it was made: codes, each with its values, in the order in which they are printed."""
    status: Status
    reason: Reason | None
    below: Count | None = None
    """Of what is withheld: the smallest count that is printed."""

    model_config = pydantic.ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | None] = pydantic.Field(init=False)

    @classmethod
    def of(cls, result: types.Result, tier: types.Tier) -> Self:
        """The row of a result."""
        if term_of(result.measure, result.at) != result.term:
            raise ValueError(f"{result.measure} at {dict(result.at)} does not tell that it is {result.term}")
        named: dict[str, Any] = {
            "measure": called(result),
            **_fields(result, "dataset", "subset"),
            "at": dict(result.at),
            "tier": tier,
        }
        found = result.found
        if isinstance(found, types.Absent):
            nothing = dict.fromkeys(("value", "low", "high", "se", "level", "n", "events", "method"))
            return cls.model_validate({**named, **nothing, **_gap(found)})
        row = {**named, **_fields(found, *ESTIMATED), "value": float(found.value), "method": found.method.steps}
        details = {name: None if value is None else float(value) for name, value in found.details.items()}
        return cls.model_validate({**row, "status": "estimated", **details})

    @property
    def details(self) -> dict[str, float | None]:
        """What belongs to the value beside its interval: p-values, k, df, tau and the like."""
        return dict(self.__pydantic_extra__ or {})

    @property
    def method_text(self) -> str | None:
        """How it was made, in words; None where there is no value."""
        return None if self.method is None else method_text(self.method)

    @property
    def found(self) -> types.Estimate | types.Absent:
        """The value with its interval, or why there is none."""
        if self.value is None or self.n is None or self.method is None:
            return _absent(self.status, self.reason, self.below)
        return types.Estimate(**_fields(self, *ESTIMATED), method=facts.Method(*self.method), details=self.details)

    @property
    def result(self) -> types.Result:
        """The result."""
        at = dict(self.at)
        measure = _minuends().get(self.measure, self.measure) if _is_difference(at) else self.measure
        return types.Result(term_of(measure, at), measure, self.dataset, at, self.found, self.subset)


class CurveRow(Row):
    """One curve: its columns, of equal length, or why there is none."""

    curve: str
    dataset: str
    subset: Subset | None
    at: Mapping[str, Setting]
    columns: Mapping[str, tuple[float | None, ...]] = pydantic.Field(default_factory=dict)
    n: Count | None = None
    events: Count | None = None
    method: tuple[Step, ...] | None = None
    status: Status
    reason: Reason | None = None
    below: Count | None = None

    @classmethod
    def of(cls, curve: types.CurveResult) -> Self:
        """The row of a curve."""
        named, found = {**_fields(curve, "curve", "dataset", "subset"), "at": dict(curve.at)}, curve.found
        if isinstance(found, types.Absent):
            return cls(**named, **_gap(found))
        columns = {name: tuple(column) for name, column in found.columns.items()}
        method = found.method.steps
        return cls(**named, **_fields(found, "n", "events"), columns=columns, method=method, status="estimated")

    @property
    def result(self) -> types.CurveResult:
        """The curve."""
        found: types.Curve | types.Absent
        if self.n is None or self.method is None:
            found = _absent(self.status, self.reason, self.below)
        else:
            found = types.Curve(dict(self.columns), self.n, facts.Method(*self.method), self.events)
        return types.CurveResult(self.curve, self.dataset, found, dict(self.at), self.subset)


class FlagRow(SameFields[types.Flag]):
    """A limitation that the run raised, and the author's answer."""

    kind = types.Flag

    flag: str
    dataset: str
    fact: Limitation
    """What it says: a code with its values."""
    reply: str | None
    columns: tuple[str, ...]


class CriterionRow(SameFields[types.Criterion]):
    """An acceptance criterion, held against what was found in one dataset."""

    kind = types.Criterion

    number: int
    measure: str
    dataset: str
    subset: Subset | None
    at: Mapping[str, Setting]
    bound: Literal["value", "low", "high"]
    at_least: float | None
    at_most: float | None
    observed: float | None
    state: types.State
    met: bool | None
    """True where it is shown, false where it is shown not to hold, null where it is open, withheld or untested."""
    reason: Reason | None


class Subject(Row):
    """What a claim is about: all patients of a dataset or a subgroup of them, at which settings."""

    dataset: str
    subset: Subset | None
    at: Mapping[str, Setting]


class ClaimRow(Row):
    """What the evidence says to one question, and how that stands; it follows from the other rows."""

    question: claims.Question
    scope: claims.Scope
    about: Subject
    state: types.State
    harm: int
    measure: str | None
    value: float | None
    low: float | None
    high: float | None
    limit: tuple[float | None, float | None]
    """At least and at most what it has to be."""
    limit_source: claims.Source
    looks: Count
    p_adjusted: float | None
    p_of: str | None = None
    """The measure that it is of."""
    worst: str | None
    needs_n: float | None
    reason: Reason | None
    alone: types.State | None
    """How it stands where its hospital is one's own: a family of one look."""
    distance: float | None = None
    """Of the size of risks, how far they lie on average from what happened."""
    period: Limitation | None = None
    """The calendar period that the number is of."""

    @classmethod
    def of(cls, claim: claims.Claim) -> Self:
        """The row of a claim."""
        subject = Subject(**_fields(claim, "dataset", "subset"), at=dict(claim.at))
        return cls(**_fields(claim, *(name for name in cls.model_fields if name != "about")), about=subject)


class ChecklistItemRow(SameFields[types.ChecklistRow]):
    """A row of the TRIPOD+AI checklist."""

    kind = types.ChecklistRow

    item: str
    status: types.RowStatus
    where: str | None
    """The chapter that answers it."""
    reason: Reason | None
    """Why it is not applicable."""


Dataset = Annotated[types.DatasetSummary, _as(DatasetRow)]
Criterion = Annotated[types.Criterion, _as(CriterionRow)]
Flag = Annotated[types.Flag, _as(FlagRow)]
ChecklistItem = Annotated[types.ChecklistRow, _as(ChecklistItemRow)]
NoManifest = Annotated[types.Absent, _As(types.Absent, Reason, types.Absent, lambda absent: absent.reason)]


class PreviousRow(Row):
    """What was read of the previous release: its setting, its datasets, its core measures and its criteria."""

    file: str
    sha256: str
    version: str
    date: datetime.date | None
    level: float
    seed: int
    thresholds: tuple[float, ...]
    datasets: tuple[Dataset, ...]
    estimates: tuple[EstimateRow, ...]
    acceptance: tuple[Criterion, ...]
    manifest: types.PreviousManifest | NoManifest
    """The manifest, or why there is none."""
    predicted: types.Predicted
    promises: tuple[types.Promise, ...] = ()
    """Its answers to flags, and how the model was to be watched; of an older file there is nothing."""
    stop: tuple[StopRule, ...] = ()

    @classmethod
    def of(cls, previous: types.Previous, tiers: Mapping[str, types.Tier]) -> Self:
        """The row of a previous release."""
        plain = {name: value for name, value in vars(previous).items() if name not in ("results", "criteria")}
        rows = tuple(EstimateRow.of(result, tiers.get(result.term, "core")) for result in previous.results)
        return cls(**plain, estimates=rows, acceptance=previous.criteria)

    @property
    def value(self) -> types.Previous:
        """The previous release."""
        plain = {name: value for name, value in self if name not in ("estimates", "acceptance")}
        return types.Previous(**plain, results=tuple(row.result for row in self.estimates), criteria=self.acceptance)


RowOfAModel = TypeVar("RowOfAModel", EstimateRow, CurveRow)


class Results(values.ShownByCounts, Row):
    """The whole of results.json."""

    schema_: Literal["dossier-results/1"] = pydantic.Field(alias="schema")
    release: About
    declared: Mapping[str, pydantic.JsonValue]
    """The other tables of release.toml, as they were declared."""
    has_release_file: bool
    """False of a quick look at one table."""
    statements: Mapping[str, str]
    inputs: tuple[types.InputFile, ...]
    versions: Mapping[str, str]
    datasets: tuple[Dataset, ...]
    description: tuple[DescriptionRow, ...]
    subgroups: tuple[SubgroupRow, ...]
    estimates: tuple[EstimateRow, ...]
    curves: tuple[CurveRow, ...]
    flags: tuple[Flag, ...]
    acceptance: tuple[Criterion, ...]
    claims: tuple[ClaimRow, ...] = ()
    """What the other rows say to each question; of an older file there is nothing, and of any file it is made anew."""
    checklist: tuple[ChecklistItem, ...]
    previous: PreviousRow | None
    seal: types.Seal | None
    disclosure: types.Disclosure | None = None

    def where(self, row: EstimateRow | CurveRow) -> dict[str, str | None]:
        """Where a row stands in a flat table: its dataset, site and role, its model and its group."""
        site, role = self._places.get(row.dataset, (row.dataset, row.dataset))
        return {
            "dataset": row.dataset,
            "site": site,
            "role": role,
            # The one that is tested, where its settings name no other.
            "model": str(row.at.get("model", self.release.model)),
            "subset_column": None if row.subset is None else row.subset.column,
            "subset_level": None if row.subset is None else row.subset.level,
        }

    @cached_property
    def _places(self) -> dict[str, tuple[str, str]]:
        return {dataset.name: (dataset.site, dataset.role) for dataset in self.datasets}

    def in_order(self, rows: Sequence[RowOfAModel]) -> list[RowOfAModel]:
        """Rows as a reader looks for them: of the model first, then of its rivals, then what is absent."""
        return sorted(rows, key=lambda row: (row.status != "estimated", "model" in row.at))

    @cached_property
    def evidence(self) -> types.Evidence:
        """The evidence that the file holds."""
        fill("metrics")
        results = [row.result for row in self.estimates]
        curves = [row.result for row in self.curves]
        release = _release(self.release, self.declared)
        previous = None if self.previous is None else self.previous.value
        return types.Evidence(
            release=release,
            datasets=self.datasets,
            results=tuple(
                result
                for result in results
                if result.subset is None and not _is_change(result) and "horizon" not in result.at
            ),
            later=tuple(result for result in results if "horizon" in result.at),
            curves=tuple(curve for curve in curves if curve.subset is None),
            descriptions=tuple(filter(None, (row.given for row in self.description))),
            flags=self.flags,
            terms=terms_of(release),
            statements=dict(self.statements),
            inputs=self.inputs,
            versions=dict(self.versions),
            criteria=self.acceptance,
            checklist=self.checklist,
            subgroups=types.SubgroupEvidence(
                summaries=tuple(row.value for row in self.subgroups),
                results=tuple(result for result in results if result.subset is not None and not _is_change(result)),
                curves=tuple(curve for curve in curves if curve.subset is not None),
            ),
            withheld=tuple(filter(None, (row.not_given for row in self.description))),
            has_release_file=self.has_release_file,
            changes=None
            if previous is None
            else types.Changes(previous, tuple(result for result in results if _is_change(result))),
            seal=self.seal,
            disclosure=self.disclosure,
        )

    def text(self) -> bytes:
        """results.json to the byte: UTF-8, keys in the order of the schema, full double precision, a row a line."""
        # A key that the release leaves out stays out: what it does not declare is not declared.
        return written(self.model_dump(mode="json", by_alias=True))


def written(plain: Mapping[str, object]) -> bytes:
    """A table as results.json holds it."""
    return ("{\n" + ",\n".join(f"{_json(key)}: {_lines(part)}" for key, part in plain.items()) + "\n}\n").encode()


def _lines(part: object) -> str:
    """A part of results.json: a list with each of its rows on a line, so that two files are compared row by row."""
    if isinstance(part, list) and part:
        return "[\n" + ",\n".join(map(_json, part)) + "\n]"
    return _json(part)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def of(evidence: types.Evidence) -> Results:
    """The results.json of evidence."""
    tiers: dict[str, types.Tier] = {name: term.tier for name, term in evidence.terms.items()}
    since = () if evidence.changes is None else evidence.changes.results
    release = evidence.release
    return Results(
        schema=SCHEMA,
        release=release.release,
        declared=release.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"release"}),
        has_release_file=evidence.has_release_file,
        statements=dict(evidence.statements),
        inputs=evidence.inputs,
        versions=dict(evidence.versions),
        datasets=evidence.datasets,
        description=(
            *(DescriptionRow.of(description) for description in evidence.descriptions),
            *(DescriptionRow.of(withheld) for withheld in evidence.withheld),
        ),
        subgroups=tuple(SubgroupRow.of(summary) for summary in evidence.subgroups.summaries),
        estimates=tuple(
            EstimateRow.of(result, tiers[result.term])
            for result in (*evidence.results, *evidence.subgroups.results, *since, *evidence.later)
        ),
        curves=tuple(CurveRow.of(curve) for curve in (*evidence.curves, *evidence.subgroups.curves)),
        flags=evidence.flags,
        acceptance=evidence.criteria,
        claims=tuple(map(ClaimRow.of, claims.of(evidence))),
        checklist=evidence.checklist,
        previous=None if evidence.changes is None else PreviousRow.of(evidence.changes.previous, tiers),
        seal=evidence.seal,
        disclosure=evidence.disclosure,
    )


def term_of(measure: str, at: Mapping[str, Setting]) -> str:
    """Which function made the values of a measure at these settings."""
    model = str(at.get("model", ""))
    if "weights" in at:
        return f"{measure}_at_marginal_weights"
    if not model.startswith(values.UPDATED):
        return f"{measure}_of_rival" if model else measure
    of_update = f"{measure}_of_update"
    return of_update if of_update in fill("metrics").metrics else measure


def called(result: types.Result) -> str:
    """What the file calls the measure of a result."""
    is_difference = _is_difference(result.at) and result.measure not in between_groups.MADE_OF
    return _difference_of(result.measure) if is_difference else result.measure


def _difference_of(measure: str) -> str:
    """The name under which the differences of a measure are written."""
    return f"{measure}_difference"


@cache
def _minuends() -> Mapping[str, str]:
    """The measures by the names of their differences."""
    register = fill("metrics")
    shelves = (register.metrics, register.class_metrics, register.syntheses)
    return {_difference_of(entry.term.measure): entry.term.measure for shelf in shelves for entry in shelf.values()}


def _is_difference(at: Mapping[str, Setting]) -> bool:
    """Whether a value is a difference from the other patients or from the previous release: no value of the measure."""
    return at.get("against") in ("complement", "previous")


def _is_change(result: types.Result) -> bool:
    """Whether it is a difference from the previous release."""
    return result.at.get("against") == "previous"


def _release(about: About, declared: Mapping[str, pydantic.JsonValue]) -> Release:
    # JSON has neither tuples nor dates.
    return Release.model_validate({"release": about.model_dump(mode="json", by_alias=True), **declared}, strict=False)


def _gap(found: types.Absent) -> dict[str, Any]:
    """The keys of what is not there."""
    if isinstance(found, types.Withheld):
        return {"status": "withheld", "reason": found.reason, "below": found.below}
    return {"status": "absent", "reason": found.reason}


def _absent(status: Status, reason: facts.Fact | None, below: int | None) -> types.Absent:
    why = reason or facts.Fact("no_reason_given", status=status)
    return types.Withheld(why, below or 0) if status == "withheld" else types.Absent(why)


# ---- reading --------------------------------------------------------------------------------------------------------


def opened(path: Path) -> Results:
    """What a results.json says, by its own name or that of the dossier which holds it.

    A ReleaseError says why it is none: no such file, too large, not to be read, or something else.
    """
    file = path
    try:
        file = path / RESULTS if path.is_dir() else path
        if not file.is_file():
            raise ReleaseError.one("no_results", locations.File(str(file)), file=file.name)
        if file.stat().st_size > LARGEST:
            raise ReleaseError.one("large_results", locations.File(str(file)), file=file.name, megabytes=LARGEST >> 20)
        content = file.read_bytes()
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise ReleaseError.one("closed_results", locations.File(str(file)), file=file.name, reason=reason) from None
    return read(content, file.name)


def read(content: bytes, name: str = RESULTS) -> Results:
    """The results.json that these bytes are; `name` is what faults call it. A ReleaseError says why they are none."""
    raw = plain(content, name)
    if raw.get("schema") != SCHEMA:
        said = raw.get("schema")
        schema_of = facts.Fact("says", text=said) if isinstance(said, str) else facts.Fact("names_no_schema")
        at = locations.ResultsKey(name, "schema")
        raise ReleaseError.one("results_of_other_schema", at, file=name, found=schema_of, readable=SCHEMA)
    try:
        found = Results.model_validate_json(content.decode("utf-8-sig"))
        _release(found.release, found.declared)
    except pydantic.ValidationError as error:
        raise ReleaseError([_departure(each, name) for each in error.errors()[:MOST_FAULTS]]) from None
    return found


def plain(content: bytes, name: str) -> Mapping[str, Any]:
    """The table that a file of JSON holds, empty where it holds something else; a ReleaseError where it is none."""
    if len(content) > LARGEST:
        raise ReleaseError.one("large_results", locations.File(name), file=name, megabytes=LARGEST >> 20)
    try:
        found = json.loads(content.decode("utf-8-sig"), parse_constant=_refused)
        return found if isinstance(found, Mapping) else {}
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        fault = Fault("results_not_utf8", locations.Cell(name, rows=(row,)), file=name)
    except json.JSONDecodeError as error:
        fault = Fault("results_not_json", locations.Cell(name, rows=(error.lineno,), character=error.colno), file=name)
    except RecursionError:
        fault = Fault("results_without_end", locations.File(name), file=name)
    except ValueError:
        fault = Fault("results_not_finite", locations.File(name), file=name)
    raise ReleaseError([fault])


def _refused(constant: str) -> float:
    raise ValueError(constant)


def _departure(error: Any, name: str) -> Fault:
    where = place(error["loc"])
    code = "key_of_results_missing" if error["type"] == "missing" else "key_of_results_wrong"
    return Fault(code, locations.ResultsKey(name, where), file=name, key=where)


def place(location: Sequence[str | int]) -> str:
    """Where in a file of JSON: estimates 3, measure; counted from 1."""
    text = ""
    for part in location:
        text += f" {part + 1}" if isinstance(part, int) else (f", {part}" if text else part)
    return text or "table"


def schema() -> dict[str, Any]:
    """The JSON Schema of results.json."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "dossier-results-1.schema.json",
        **Results.model_json_schema(by_alias=True, mode="serialization"),
        "title": "results.json of dossier",
    }
