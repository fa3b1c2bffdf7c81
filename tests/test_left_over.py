"""No count of persons leaves but as a range, in whatever it stands: no measure or curve is trusted with it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any, get_args

import pytest

from dossier import evaluate
from dossier.core import types
from dossier.core.facts import Count, Fact, Method
from dossier.core.register import Protection, curve, describe, fill, metric
from dossier.evaluate.disclosure import curves
from dossier.evaluate.disclosure.left_over import without_counts
from dossier.record import results
from tests.shelves import register_put_back

NURSES = Count(7, "nurse")
CHAPTER = "discrimination"
KINDS = ("method", "reason", "method_of_none", "bound")
PROTECTIONS: tuple[Protection, ...] = get_args(Protection)
FLAGGED = ("large", types.POOLED, types.READERS, types.READER_STUDY)


def _found(kind: str, n: int) -> types.Estimate | types.Absent:
    """An estimate, or why there is none, that counts nurses somewhere."""
    counted = Fact("jackknife", groups=None, clusters=NURSES, df=6)
    if kind == "reason":
        return types.Absent(Fact("single_row", rows=NURSES))
    if kind == "method_of_none":
        return types.Estimate(0.7, None, None, None, n, Method(counted))
    if kind == "bound":
        return types.Estimate(0.7, None, None, None, n, Method("wilson"), reason=Fact("single_row", rows=NURSES))
    return types.Estimate(0.7, 0.6, 0.8, 0.95, n, Method(counted), se=0.05, details={"k": 7.0})


def _measure(kind: str, protection: Protection) -> None:
    """A measure of nurses, with one protection."""

    def at_all(outcome: types.Floats, risk: types.Floats) -> types.Estimate | types.Absent:
        """How many nurses there are."""
        return _found(kind, len(outcome))

    def at_threshold(outcome: types.Floats, risk: types.Floats, threshold: float) -> types.Estimate | types.Absent:
        """How many nurses there are."""
        return _found(kind, len(outcome))

    function: Callable[..., Any] = at_threshold if protection == "counts" else at_all
    function.__name__ = f"nurses_{kind}_{protection}"
    at = ("threshold",) if protection == "counts" else ()
    metric(words={"label": "Nurses", "formula": "n"}, protection=protection, at=at, chapter=CHAPTER, pool="plain")(
        function
    )


@pytest.fixture(scope="module")
def study(planted: types.Study) -> types.Study:
    """A release of which three flags count nurses."""
    flags = [types.Flag("duplicate_rows", name, Fact("duplicate_rows", dataset=name, rows=NURSES)) for name in FLAGGED]
    kept = tuple(dataset for dataset in planted.datasets if dataset.name in ("own", "large", "middle"))
    return dataclasses.replace(planted, datasets=kept, flags=(*planted.flags, *flags))


@pytest.fixture(scope="module")
def counted(study: types.Study) -> Iterator[types.Evidence]:
    """The evidence of it, with measures, a curve and a description that count nurses."""
    fill("metrics")
    with register_put_back(), pytest.MonkeyPatch.context() as patch:
        for kind in KINDS:
            for protection in PROTECTIONS:
                _measure(kind, protection)

        @curve(words={"label": "Nurses"}, chapter=CHAPTER, protection="roc")
        def nurses_in_method(outcome: types.Floats) -> types.Curve:
            """How many nurses there are."""
            return types.Curve(
                {"risk": (0.1, 0.2)}, len(outcome), Method(Fact("jackknife", groups=None, clusters=NURSES, df=6))
            )

        @curve(words={"label": "Nurses"}, chapter=CHAPTER)
        def nurses_in_reason(outcome: types.Floats) -> types.Absent:
            """How many nurses there are."""
            return types.Absent(Fact("single_row", rows=NURSES))

        @describe(words={"label": "Nurses"})
        def nurses(outcome: types.Floats) -> Iterator[types.Description]:
            """How many nurses there are."""
            yield types.Description("nurses", "nurses", 7.0, 7)

        steps = ("counts", Fact("jackknife", groups=None, clusters=NURSES, df=6))
        patch.setattr(curves, "RULES", dict(curves.RULES) | {"roc": lambda protected: ({"risk": (0.1, 0.2)}, steps)})
        yield evaluate.evidence(study)


@pytest.mark.slow
def test_no_nurse_is_counted_anywhere(counted: types.Evidence) -> None:
    assert b'"count": 7' not in results.of(counted).text()


@pytest.mark.parametrize("protection", PROTECTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_measure_tells_how_many_however_it_is_protected(counted: types.Evidence, kind: str, protection: str) -> None:
    rows = [
        result
        for result in counted.results
        if result.term == f"nurses_{kind}_{protection}" and result.dataset != types.POOLED
    ]
    assert {result.dataset for result in rows} >= {"own", "large", "middle"}
    for result in rows:
        if isinstance(result.found, types.Estimate):
            assert NURSES not in (
                *result.found.method.counts,
                *(result.found.reason.counts if result.found.reason else ()),
            )
            assert isinstance(result.found.n, types.CountRange)
        else:
            assert isinstance(result.found, types.Withheld)


def test_one_of_counts_and_no_other_of_its_kind_was_given(counted: types.Evidence) -> None:
    """The control: what rests on ranks stays, for its method is made anew."""
    given = {
        result.term
        for result in counted.results
        if isinstance(result.found, types.Estimate) and "nurses" in result.term
    }
    assert "nurses_method_ranks" in given
    assert not [name for name in given if name.endswith("_counts")]


def test_a_curve_that_counts_them_is_withheld(counted: types.Evidence) -> None:
    rows = [curve for curve in counted.curves if curve.curve.startswith("nurses")]
    assert {curve.curve for curve in rows} == {"nurses_in_method", "nurses_in_reason"}
    assert all(isinstance(curve.found, types.Withheld) for curve in rows)


def test_a_description_of_them_is_withheld(counted: types.Evidence) -> None:
    assert "nurses" not in {description.described.variable for description in counted.descriptions}
    assert "nurses" in {withheld.variable for withheld in counted.withheld}


def test_a_flag_says_that_there_are_some(counted: types.Evidence) -> None:
    found = {flag.dataset: flag.fact for flag in counted.flags if flag.flag == "duplicate_rows"}
    assert set(found) == set(FLAGGED)
    assert {fact["rows"] for fact in found.values()} == {Fact("some", of="nurse")}


# ---- the look alone -------------------------------------------------------------------------------------------------

NONE = types.Absent(Fact("single_row", rows=NURSES))
FEMALE = types.Subset("sex", "f")


def _added(evidence: types.Evidence, dataset: str) -> types.Evidence:
    """The evidence with nurses in everything that holds a fact."""
    groups = types.SubgroupEvidence(
        (types.SubgroupSummary(dataset, "sex", "f", NONE),),
        (types.Result("auroc", "auroc", dataset, {}, NONE, FEMALE),),
    )
    criterion = types.Criterion(1, "auroc", dataset, None, {}, "value", 0.7, None, None, "untested", NONE.reason)
    return dataclasses.replace(
        evidence,
        subgroups=groups,
        criteria=(criterion,),
        withheld=(types.WithheldDescription(dataset, "age", "mean", None, types.Withheld(NONE.reason, 10)),),
        results=(types.Result("auroc", "auroc", dataset, {}, _found("method", 100)),),
    )


@pytest.mark.parametrize("dataset", [*FLAGGED, "a published test"])
def test_nothing_that_holds_a_fact_is_left_out(counted: types.Evidence, dataset: str) -> None:
    added = _added(counted, dataset)
    assert results.of(added).text().count(b'"nurse"') > 4
    assert b'"of": "nurse"' not in _without_some(without_counts(added))


def _without_some(evidence: types.Evidence) -> bytes:
    """results.json without the flags, which say that there are some nurses."""
    return results.of(dataclasses.replace(evidence, flags=())).text()


def test_the_policy_of_one_dataset_is_that_of_all(counted: types.Evidence) -> None:
    one = tuple(
        dataset if dataset.name == "large" else dataclasses.replace(dataset, minimum_cell=0)
        for dataset in counted.datasets
    )
    added = _added(dataclasses.replace(counted, datasets=one), "own")
    assert b'"of": "nurse"' not in _without_some(without_counts(added))


def test_a_statistic_of_an_exact_number_of_rows_is_withheld_and_named_so(counted: types.Evidence) -> None:
    row = types.DescriptionResult("large", types.Description("age", "median", 60.0, 237))
    kept = without_counts(dataclasses.replace(counted, descriptions=(row,), withheld=()))
    assert kept.descriptions == ()
    assert [(withheld.dataset, withheld.variable, withheld.statistic) for withheld in kept.withheld] == [
        ("large", "age", "median")
    ]


def test_a_limit_that_all_patients_share_is_no_count_of_them(counted: types.Evidence) -> None:
    fewest = Fact("fewer_events", fewest=Count(20, "event", is_limit=True))
    pooled = types.Result("auroc", "auroc", types.POOLED, {}, types.Absent(fewest))
    added = dataclasses.replace(counted, results=(pooled,))
    assert without_counts(added).results == (pooled,)
    assert Fact.of_json(json.loads(json.dumps(fewest.as_json))) == fewest
