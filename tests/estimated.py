"""What a test takes for granted of a measure: that it is there."""

from __future__ import annotations

from dossier.core.types import Absent, Estimate


def estimated(found: Estimate | Absent) -> Estimate:
    """The estimate; a measure that is absent fails the test with its reason."""
    assert isinstance(found, Estimate), found
    return found
