"""A measure where the outcome is known by follow-up: the same one, its rows at weights that make up for censoring.

What a row contributes holds that these weights are estimated, so that standard errors, and those of differences of two
models on the same rows, follow from contributions as they do everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dossier.core.facts import Count, Fact, Method
from dossier.core.register import CurveMaker, Metric, Sized, Symmetry, absent_with_its_parts, present
from dossier.core.types import Absent, Curve, Estimate
from dossier.metrics import censoring, intervals, shares
from dossier.metrics.weighted import Measure, Rows, Weighted

Ends = tuple[float | None, float | None]
NO_INTERVAL = Fact("sample_size_has_no_interval")


@absent_with_its_parts
def needed(sized: Sized, rows: Rows, width: float) -> Estimate | Absent:
    """How many patients like these make an interval so wide: n (SE/SE of the width)^2, as errors fall with root n."""
    found = present(rows.obstacle or sized.measure(rows))
    error = _error(found, shares.Design(len(rows.risk))) / (found.value if sized.is_ratio else 1.0)
    n, events = len(rows.risk), int(rows.cases.sum())
    made = Method("error_falls_with_n", Fact("interval_wanted", width=width))
    value = math.ceil(n * (error / sized.error(width)) ** 2)
    return intervals.without_interval(float(value), n, made, NO_INTERVAL, events, {"width": width})


def answer(metric: Metric, outcome: censoring.TimeToEvent, given: Mapping[str, Any]) -> Estimate | Absent:
    """A measure of an outcome by a horizon; `given` holds its other columns and settings.

    Absent where the measure is known of whole outcomes only, and where in some group that is counted on its own nobody
    was followed long enough to stand for those who left before.
    """
    form = metric.followed or metric.weighted
    if form is None or form == "refused" or "risk" not in given:
        return Absent(Fact("measure_without_follow_up"))
    outcome = replace(outcome, by="marginal") if "weights" in metric.fixed else outcome
    if form == "itself":
        found: Estimate | Absent = _itself(metric.function, outcome, given)
        return found
    if isinstance(given["risk"], Absent):
        return given["risk"]
    rows = Rows.followed(outcome, given["risk"], given.get("threshold"), given.get("rival"))
    if isinstance(form, Sized):
        return needed(form, rows, next(value for name, value in given.items() if name.endswith("_width")))
    found = at_weights(form, rows, given["level"], metric.scale, metric.term.range, given.get("design"))
    if isinstance(found, Absent) or "against" not in metric.fixed or found.se is None:
        return found
    freedom = found.details.get("df") or math.inf
    test = {"p_value": 2 * intervals.beyond_student(abs(found.value) / found.se, freedom)}
    return replace(found, details={**found.details, **test})


def drawn(maker: CurveMaker, outcome: censoring.TimeToEvent, given: Mapping[str, Any]) -> Curve | Absent:
    """A curve of an outcome by a horizon; absent where it is known of whole outcomes only."""
    if not maker.followed:
        return Absent(Fact("curve_without_follow_up"))
    found: Curve | Absent = _itself(maker.function, outcome, given)
    return found


@absent_with_its_parts
def _itself(function: Callable[..., Any], outcome: censoring.TimeToEvent, given: Mapping[str, Any]) -> Any:
    """What a function finds that takes follow-up itself, in its design."""
    weights = outcome.weights(given["risk"])
    if weights.obstacle:
        return Absent(weights.obstacle)
    design = replace(given.get("design") or shares.Design(len(given["risk"])), censoring=weights)
    found = present(function(**{**given, "outcome": weights.case.astype(float), "design": design}))
    found = replace(found, method=found.method + censored(weights))
    return replace(found, details={**found.details, **_left(weights)}) if isinstance(found, Estimate) else found


@absent_with_its_parts
def at_weights(
    form: Measure, rows: Rows, level: float, scale: Symmetry, ends: Ends, sampled: shares.Sampled = None
) -> Estimate | Absent:
    """A measure of rows at the weights of their follow-up, its interval symmetric on the scale and inside the ends.

    Of two values whose smaller one it is, each bound is the lower one. What the rows of a cluster contribute is summed.
    """
    of_each = [each.censoring for each in (rows, rows.as_rival) if each is not None and each.censoring is not None]
    if obstacles := [weights.obstacle for weights in of_each if weights.obstacle]:
        return Absent(obstacles[0])
    found = present(form(rows))
    design = sampled or shares.Design(len(rows.risk))
    # The degrees of freedom of the error: of clusters as for every measure, of rows from the kurtosis k of what n of
    # them contribute, 2 n/(k - 1). Few who were followed long may stand for many, and then the error rests on these
    # few. Of normal contributions it is n. Source: Satterthwaite 1946, with the variance of a variance.
    added = found.linearized**2
    spread = float(added.var()) / float(added.mean()) ** 2 if design.is_simple and added.any() else 0.0
    freedom = max(2 * design.n / spread, 1.0) if spread > 0 else design.freedom
    df = freedom if math.isfinite(freedom) else None
    n, events = design.n, int(rows.cases.sum())
    details = {**found.details, **_left(of_each[0]), **({} if df is None else {"df": df})}
    step = "linearization_by_t" if design.is_simple else Fact("linearization", over=design.over, df=df)
    method = Method(*censored(of_each[0]), step)
    if reason := design.obstacle():
        return Estimate(found.value, None, None, None, n, method, events, None, details, reason)
    bare = Estimate(found.value, None, None, None, n, method, events, None, details, intervals.NO_SPREAD)
    se, others = _error(found, design), [one for one in (found.beside,) if one is not None and _error(one, design) > 0]
    if se <= 1e-12 * max(1.0, abs(found.value)):
        return bare
    reach = intervals.two_sided_student(level, freedom)
    bounds = [shares.interval(one.value, _error(one, design), reach, level, scale) for one in (found, *others)]
    low, high = (min(some) for some in zip(*bounds, strict=True))
    lowest, highest = -math.inf if ends[0] is None else ends[0], math.inf if ends[1] is None else ends[1]
    lead = ("wilson_at_effective_rows",) if scale == "wilson" else ()
    on_scale = () if scale in ("plain", "wilson") else (Fact("on_scale", scale=scale),)
    made = Method(*lead, *method, *on_scale)
    return replace(bare, low=max(low, lowest), high=min(high, highest), se=se, level=level, method=made, reason=None)


def _left(weights: censoring.Weights) -> dict[str, float | None]:
    """Of how many patients the outcome is not known, where there are any."""
    return {"left": float(weights.left.sum())} if weights.left.any() else {}


def _error(found: Weighted, design: shares.Design) -> float:
    """The standard error of a value from what the rows, or whole clusters, contribute."""
    return math.sqrt(design.variance(found.linearized))


def censored(weights: censoring.Weights) -> Method:
    """That weights make up for censoring, within how many groups, and of how many patients the outcome is not known."""
    groups = len(np.unique(weights.strata))
    left = Count(int(weights.left.sum()), "patient", len(weights.left))
    return Method(Fact("censoring_weights", groups=Count(groups, "group"), left=left))
