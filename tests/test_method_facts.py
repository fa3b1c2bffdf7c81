"""How a number was made, as facts: what others ask of it, and its words."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from dossier.core.facts import Count, Fact, IntervalMethod, Method
from dossier.record.results import Step
from dossier.typeset.methods import method_parts, method_text

LOGIT = Fact("on_scale", scale="logit")
CLUSTERS = Fact("jackknife", groups=None, clusters=Count(12, "cluster"), df=11)
CLIPPED = Fact("risks_clipped", risks=Count(3, "risk"))
SPLINE = Fact("spline", knots=3, at=(0.1, 0.5, 0.9))

NUMBERS = st.one_of(st.booleans(), st.integers(0, 10**9), st.floats(allow_nan=False, allow_infinity=False), st.none())
COUNTS = st.builds(
    Count, st.integers(0, 10**6), st.sampled_from(("row", "cluster", "nurse")), st.none() | st.integers(1)
)
VALUES = st.recursive(
    st.one_of(NUMBERS, st.text(), COUNTS),
    lambda held: st.one_of(st.lists(held, max_size=3).map(tuple), st.builds(lambda of: Fact("held", of=of), held)),
    max_leaves=5,
)


@given(VALUES)
def test_what_is_written_of_a_fact_is_read_again(value: object) -> None:
    fact = Fact("any", value=value)  # type: ignore[arg-type]
    assert Fact.of_json(json.loads(json.dumps(fact.as_json))) == fact


@pytest.mark.parametrize(
    ("method", "text"),
    [
        (Method("delong", LOGIT), "DeLong, logit"),
        (Method(CLUSTERS), "jackknife leaving out 12 clusters, t with 11 degrees of freedom"),
        (
            Method(Fact("jackknife", groups=250, clusters=Count(1355, "cluster"), df=249)),
            "jackknife leaving out 250 groups of 1,355 clusters, t with 249 degrees of freedom",
        ),
        (Method("paired", "sampling_weights", "mover", Fact("linearization", over=None, df=9), "p_by_interval"),
         "paired, sampling weights; MOVER of Wilson intervals; linearization; p by the interval"),
        (Method(SPLINE, CLIPPED, Fact("pointwise", by=CLUSTERS)),
         "logistic, restricted cubic spline of logit p, 3 knots at 10, 50, 90%; logit of 3 risks clipped to 1e-12 from "
         "0 or 1; pointwise, jackknife leaving out 12 clusters, t with 11 degrees of freedom"),
        (
            Method("minus_other_patients", "square_and_add", Fact("each_its_own", one=Method("wald").steps,
                   other=Method("wilson", "percentile").steps)),
            "minus the other patients, square-and-add; Wald and Wilson, percentile",
        ),
        (
            Method(Fact("each_its_own", one=(Fact("student_t", df=3),), other=(Fact("student_t", df=9),))),
            "Student t",
        ),
        (
            Method(Fact("not_pooled", sites=(Fact("site", name="Bari", why=Fact("no_standard_error")),))),
            "not pooled: Bari (no standard error)",
        ),
        (
            Method(Fact("not_pooled", sites=(Fact("site", name=None, why=Fact("no_standard_error")),) * 2)),
            "not pooled: 2 sites (no standard error)",
        ),
    ],
)  # fmt: skip
def test_the_words_of_a_method(method: Method, text: str) -> None:
    assert method_text(method) == text
    assert "; ".join(method_parts(method)) == text


def test_in_kind_nothing_is_left_that_holds_for_one_site_alone() -> None:
    whole = Method(CLIPPED, SPLINE, CLUSTERS, LOGIT, "one_sided", "apparent")
    assert method_parts(whole, in_kind=True) == (
        "logistic, restricted cubic spline of logit p",
        "jackknife over clusters, logit",
    )


def test_an_interval_that_is_made_anew_leaves_how_the_value_was_made() -> None:
    found = Method(SPLINE, CLIPPED, Fact("inverted_tests", draws=9), "one_sided")
    assert found.by(CLUSTERS) == Method(SPLINE, CLIPPED, CLUSTERS)
    assert Method("delong", LOGIT).by("value_only") == Method("value_only")


@pytest.mark.parametrize(
    ("method", "way"),
    [
        (Method("delong", LOGIT), "DeLong"),
        (Method("newcombe_inside", LOGIT), "Newcombe"),
        (Method(Fact("shares_at_even_risks", by=Fact("wilson"))), "Wilson"),
        (Method(Fact("shares_at_even_risks", by=Fact("wilson")), Fact("pointwise", by=CLUSTERS)), "clusters left out"),
        (Method(Fact("linearization", over=Count(9, "cluster"), df=8)), "clusters linearized"),
        (Method(Fact("linearization", over=Count(9, "row"), df=8)), "rows linearized"),
        (Method("delong", Fact("rubin", imputations=5, test=False, scale="logit")), "imputations pooled"),
        (Method(Fact("tenths_of_risk", by=Fact("wilson")), Fact("mean_of_imputations", imputations=5)),
         "imputations pooled"),
        (Method("counts", Fact("mean_of_imputations", imputations=5)), None),
        (Method("wald"), None),
    ],
)  # fmt: skip
def test_a_caption_is_told_how_the_bounds_were_made(method: Method, way: IntervalMethod | None) -> None:
    assert method.interval == way


def test_degrees_of_freedom_and_counts_are_asked_however_deep_they_lie() -> None:
    method = Method("delong", Fact("pointwise", by=(CLUSTERS,)), CLIPPED)
    assert method.df == 11
    assert Method("delong").df is None
    assert list(method.counts) == [Count(12, "cluster"), Count(3, "risk")]
    assert method.has("jackknife")
    assert not method.without("pointwise").has("jackknife")


@pytest.mark.parametrize(
    "row",
    [
        {"code": "thrown_away"},
        {"code": "jackknife", "groups": None, "df": 3},
        {"code": "jackknife", "groups": None, "df": 3, "clusters": {"count": "7", "of": "cluster"}},
        {"code": "points", "per_unit": "many"},
        {"code": "each_its_own", "one": [{"code": "wald"}], "other": []},
    ],
)
def test_a_step_that_cannot_be_printed_is_no_part_of_results_json(row: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Step).validate_python(row)
