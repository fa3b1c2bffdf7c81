"""Facts: typed values that are written, read back and asked for their counts."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dossier.core.facts import THINGS, Count, Fact

names = st.sampled_from(("threshold", "events", "label", "inner", "parts"))
counts = st.builds(Count, st.integers(0, 10**6), st.sampled_from(("row", "nurse", "site")), st.none() | st.integers(0))
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | counts
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.builds(lambda code, held: Fact(code, **held), st.text(), st.dictionaries(names, inner, max_size=3))
    ),
    max_leaves=6,
)


@given(st.text(), st.dictionaries(names, values, max_size=4))
def test_a_fact_is_read_back_as_it_was_written(code: str, held: dict[str, object]) -> None:
    fact = Fact(code, **held)  # type: ignore[arg-type]
    assert Fact.of_json(json.loads(json.dumps(fact.as_json))) == fact


def test_counts_are_found_however_deep_they_stand() -> None:
    inner = Fact("too_few", events=Count(3, "event"), labels=("a", Count(4, "nurse")))
    assert list(Fact("of_the_rival", reason=inner, sites=Count(2, "site")).counts) == [
        Count(3, "event"),
        Count(4, "nurse"),
        Count(2, "site"),
    ]


def test_what_nobody_has_declared_a_thing_counts_as_persons() -> None:
    assert Count(7, "nurse").is_of_persons
    assert Count(7, "cluster").is_of_persons
    assert not any(Count(7, thing).is_of_persons for thing in THINGS)


def test_numbers_of_numpy_become_plain_ones() -> None:
    assert (
        json.dumps(Fact("any", n=np.int64(3), share=np.float64(0.5)).as_json) == '{"code": "any", "n": 3, "share": 0.5}'
    )


@pytest.mark.parametrize("row", [{}, {"code": 3}, {"code": "any", "events": {"count": "3", "of": "row"}}])
def test_what_is_no_fact_is_refused(row: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="needs"):
        Fact.of_json(row)
