"""A release as good as the last is rarely called worse, in groups and classes too; a worse one mostly is: simulated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from tests.bench.versions import alike, too_extreme, with_groups, worse

WISHED = 0.05


def most(times: int) -> int:
    """So many of these are called worse by chance once in a thousand simulations, of a release that is as good."""
    return int(binom.ppf(0.999, times, WISHED))


@pytest.mark.parametrize("others", [False, True])
def test_a_release_as_good_as_the_last_is_rarely_called_worse(others: bool) -> None:
    rng, times, called = np.random.default_rng(41), 80, 0
    for _ in range(times):
        sizes = rng.integers(150, 900, 2)
        now = [alike(rng, int(n), -1.2) for n in sizes]
        called += bool(worse(now, [alike(rng, int(n), -1.2) for n in sizes] if others else None)[0])
    assert called <= most(times)


def test_a_slope_of_seven_tenths_is_mostly_found_among_a_thousand_of_the_same_patients() -> None:
    rng, times = np.random.default_rng(42), 150
    found = sum("calibration_slope" in worse([too_extreme(rng, 1000, -1.0)], None)[0] for _ in range(times))
    assert found >= binom.ppf(0.001, times, 0.9)


@pytest.mark.parametrize(("classes", "others"), [(2, False), (3, False), (2, True)])
def test_neither_are_its_groups_and_classes(tmp_path: Path, classes: int, others: bool) -> None:
    rng, times, called = np.random.default_rng(43), 20, 0
    for _ in range(times):
        every = with_groups(tmp_path, rng, (300, 300), others, classes)
        assert any(claim.scope == "group" for claim in every)
        assert (classes == 2) or any(claim.at.get("class") for claim in every)
        called += any(claim.state == "against" for claim in every)
    assert called <= most(times)
