"""The change of a measure since the previous release: what is known of it where one of the two results lacks a part."""

from __future__ import annotations

import pytest

from dossier.core.facts import Method
from dossier.core.types import Absent, Estimate
from dossier.metrics.changes import change
from dossier.typeset.methods import method_text
from tests.reasons import Said, because


def estimate(**more: object) -> Estimate:
    kept: dict[str, object] = {"level": 0.95, "n": 50, "method": Method("empirical"), "events": 25, "se": 0.3, **more}
    return Estimate(value=0.5, low=0.4, high=0.6, **kept)  # type: ignore[arg-type]


def test_two_results_of_different_rows() -> None:
    """Both bounds lie .1 from their value, the two errors are .3 and .4: their squares add up."""
    found = change(estimate(), estimate(n=30, events=10, se=0.4), None)
    assert (found.low, found.high) == pytest.approx((-(0.02**0.5), 0.02**0.5))
    assert (found.n, found.events, found.level) == (80, 35, 0.95)
    assert found.se == pytest.approx(0.5)
    assert method_text(found.method) == "minus the previous release, independent rows, square-and-add; empirical"


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(("part", "also"), [("events", "se"), ("se", "events")])
def test_what_one_of_the_two_does_not_know_the_change_does_not_know(part: str, also: str, swapped: bool) -> None:
    pair = (estimate(**{part: None}), estimate())
    now, before = pair[::-1] if swapped else pair
    found = change(now, before, None)
    assert getattr(found, part) is None
    assert getattr(found, also) is not None


def test_different_methods_are_both_named() -> None:
    found = change(estimate(method=Method("wilson")), estimate(method=Method("wald")), None)
    assert method_text(found.method) == "minus the previous release, independent rows, square-and-add; Wilson and Wald"


def test_results_of_shared_rows_have_the_unpaired_interval_and_count_no_row_twice() -> None:
    """The interval of independent rows, which is wider than a paired one, with why it is not paired."""
    found = change(estimate(), estimate(), Absent(because("the rows may be the same")))
    assert (found.low, found.high) == pytest.approx((-(0.02**0.5), 0.02**0.5))
    assert (found.level, found.reason) == (0.95, Said("the rows may be the same"))
    assert method_text(found.method).startswith("minus the previous release, not paired")
    assert (found.n, found.events) == (50, 25)
