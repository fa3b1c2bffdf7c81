"""What a test takes for granted: of a measure or a figure that it is there, of what is wrong that it is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import pytest

from dossier.core.errors import DossierError
from dossier.core.types import Absent, Curve, Estimate

Found = TypeVar("Found")
Given = ParamSpec("Given")


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


def refused(ask: Callable[Given, object], *given: Given.args, **named: Given.kwargs) -> DossierError:
    """The error with which what is asked is refused."""
    with pytest.raises(DossierError) as caught:
        ask(*given, **named)
    return caught.value
