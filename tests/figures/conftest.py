"""Evidence that several files of figures read back."""

from __future__ import annotations

import pytest

from dossier.core.types import Evidence
from tests.figures.evidence import BY_NAME, evidence


@pytest.fixture(scope="session")
def eight() -> Evidence:
    """Eight sites, with all that the figures ask for."""
    return evidence(BY_NAME["eight"])
