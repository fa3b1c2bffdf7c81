"""The scales on which estimates are pooled and their intervals symmetric: the way there, back, and its stretch."""

from __future__ import annotations

import math
from typing import Literal

import scipy

from dossier.core.facts import Fact

Scale = Literal["plain", "log", "logit", "cloglog"]

LARGEST_EXPONENT = 700.0
"""An interval of a few sites or imputations can reach so far that its exponential is no longer a number."""


def forward(value: float, scale: Scale) -> float:
    """The value on the scale."""
    if scale == "logit":
        return float(scipy.special.logit(value))
    if scale == "cloglog":
        return math.log(-math.log1p(-value))
    return math.log(value) if scale == "log" else value


def back(value: float, scale: Scale) -> float:
    """The value that stands at this place of the scale."""
    if scale == "logit":
        return float(scipy.special.expit(value))
    if scale == "cloglog":
        return -math.expm1(-math.exp(min(value, LARGEST_EXPONENT)))
    return math.exp(min(value, LARGEST_EXPONENT)) if scale == "log" else value


def stretch(value: float, scale: Scale) -> float:
    """How much a small step on the scale is worth in the measure's own unit, by the delta method."""
    if scale == "logit":
        return value * (1 - value)
    if scale == "cloglog":
        return -(1 - value) * math.log1p(-value)
    return value if scale == "log" else 1.0


def off_scale(value: float, scale: Scale) -> Fact | None:
    """Why a value does not exist on the scale; None where it does."""
    if scale in ("logit", "cloglog") and not 0 < value < 1:
        return Fact("no_logit", value=value)
    if scale == "log" and value <= 0:
        return Fact("no_logarithm", value=value)
    return None
