"""What a test takes for granted of a measure or a figure: that it is there."""

from __future__ import annotations

from typing import TypeVar

from dossier.core.types import Absent, Curve, Estimate

Found = TypeVar("Found")


def present(found: Found | Absent | None) -> Found:
    """What was found; what is absent fails the test with its reason."""
    assert found is not None
    assert not isinstance(found, Absent), found
    return found


def estimated(found: Estimate | Absent) -> Estimate:
    """The estimate; a measure that is absent fails the test with its reason."""
    assert isinstance(found, Estimate), found
    return found


def curved(found: Curve | Absent) -> Curve:
    """The curve; one that is absent fails the test with its reason."""
    assert isinstance(found, Curve), found
    return found


def absent(found: object) -> Absent:
    """What is absent; what is there fails the test with its value."""
    assert isinstance(found, Absent), found
    return found


def interval_of(found: Estimate) -> tuple[float, float]:
    """Both bounds; an estimate without an interval fails the test with its reason."""
    assert found.low is not None, found.reason
    assert found.high is not None, found.reason
    return found.low, found.high
