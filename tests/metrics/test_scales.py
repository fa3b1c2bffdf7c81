"""The scales of pooling: there and back, the stretch against a small step, and their ends."""

from __future__ import annotations

import math

import pytest

from dossier.metrics.intervals import Scale, back, forward, off_scale, stretch


@pytest.mark.parametrize(
    ("scale", "value", "there"),
    [
        ("plain", -0.3, -0.3),
        ("log", 0.25, -math.log(4)),
        ("log", 4.0, math.log(4)),
        ("logit", 0.9, math.log(9)),
        ("logit", 0.1, -math.log(9)),
    ],
)
def test_a_value_goes_there_and_comes_back(scale: Scale, value: float, there: float) -> None:
    assert forward(value, scale) == pytest.approx(there)
    assert back(there, scale) == pytest.approx(value)
    step = 1e-6
    assert stretch(value, scale) == pytest.approx((back(there + step, scale) - back(there - step, scale)) / (2 * step))


@pytest.mark.parametrize(("scale", "most"), [("log", math.exp(700)), ("logit", 1.0)])
def test_the_way_back_from_far_out_is_a_number(scale: Scale, most: float) -> None:
    assert back(1e9, scale) == most
    assert back(-1e9, scale) == 0


@pytest.mark.parametrize(
    ("scale", "value", "exists"),
    [
        ("plain", -1.0, True),
        *(("log", value, value > 0) for value in (-1.0, 0.0, 1e-9)),
        *(("logit", value, 0 < value < 1) for value in (0.0, 1e-9, 0.5, 1.0)),
    ],
)
def test_a_scale_has_its_ends(scale: Scale, value: float, exists: bool) -> None:
    assert (off_scale(value, scale) is None) is exists
