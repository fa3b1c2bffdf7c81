"""Performance by calendar period: the measures that a stop rule may name, of the rows of each period of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from dossier.core import over_time, register, release, types
from dossier.core.bands import FEW_FOR_POOLING
from dossier.core.facts import Count, Fact, Method
from dossier.core.types import NO_PERIOD, Absent, At, Curve, CurveResult, Estimate, Periods, Subset
from dossier.evaluate import classes, stopping, subgroups
from dossier.evaluate.offered import Site, part_of, refuse_a_bad_curve
from dossier.evaluate.site import measured

Key = tuple[tuple[str, float | str], ...]
"""A place of a measure."""
WATCHED: tuple[str, ...] = get_args(release.Watched)


def of_site(site: Site) -> tuple[CurveResult, ...]:
    """Each watched measure of a dataset by calendar period."""
    metrics = register.metrics_of(site.release)
    asked = [metrics[name] for name in WATCHED if name in metrics and site.asks(name)]
    return tuple(curve for metric in asked for curve in _curves(site, metric))


def _curves(site: Site, metric: register.Metric) -> Iterator[CurveResult]:
    """A measure at the primary threshold by period; of several classes class by class, and their mean."""
    periods, primary = site.dataset.periods, site.release.thresholds.declared[:1]
    if periods is None or periods.unit is None:
        raise TypeError("only a dataset with days is followed over time")
    # Every period from the first to the last that has rows.
    known = periods.of_row[periods.of_row != NO_PERIOD]
    is_shown = len(known) and not site.dataset.imputations
    present = range(int(known.min()), int(known.max()) + 1) if is_shown else range(0)
    parts = {number: _part(site, periods.of_row == number, Subset(periods.unit, str(number))) for number in present}
    measures = {number: _measured(part, metric) for number, part in parts.items()}
    for at in classes.places_of(site.release, metric):
        if "threshold" not in at or at["threshold"] in primary:
            found = {number: _few(part, metric, at) or measures[number][_key(at)] for number, part in parts.items()}
            setting = {"measure": metric.term.measure, "periods": periods.unit, **at}
            curve = _curve(site, periods, parts, found)
            if isinstance(curve, Curve):
                steps = stopping.simulated(site, metric, at, [_rows(part) for part in parts.values()])
                curve = replace(curve, method=Method(*curve.method, *steps))
            yield CurveResult(over_time.OVER_TIME, site.dataset.name, curve, setting)


def _part(site: Site, rows: NDArray[np.bool_], subset: Subset) -> Site:
    """The rows of one period; its name enters the seed."""
    return replace(site, dataset=part_of(site.dataset, rows), readers=None, subset=subset, measures=None)


def _measured(part: Site, metric: register.Metric) -> dict[Key, Estimate | Absent]:
    """A measure of the rows of one period at all its places; none where they are too few at each."""
    if all(_few(part, metric, at) for at in classes.places_of(part.release, metric)):
        return {}
    return {_key(result.at): result.found for result in measured(part, metric)}


def _key(at: At) -> Key:
    return tuple(sorted(at.items()))


def _few(part: Site, metric: register.Metric, at: At) -> Absent | None:
    """Why the rows of a period are too few for a measure: as those of a subgroup, or of any outcome."""
    if "outcome" not in metric.needs and "classes" not in metric.needs:
        fewest = Count(FEW_FOR_POOLING, "patient", is_limit=True)
        return Absent(Fact("too_few_to_describe", among=None, fewest=fewest)) if _rows(part) < FEW_FOR_POOLING else None
    return subgroups.few(part.dataset, np.ones(_rows(part), dtype=np.bool_), at)


def _rows(part: Site) -> int:
    known = part.dataset.outcome if part.dataset.classes is None else part.dataset.classes
    return 0 if known is None else len(known)


def _curve(site: Site, periods: Periods, parts: dict[int, Site], found: dict[int, Estimate | Absent]) -> Curve | Absent:
    """The values of all periods; the reason of the first where none has a value."""
    if site.dataset.imputations:
        return Absent(Fact("imputed_not_by_period", dataset=site.dataset.name))
    absent = {number: estimate.reason for number, estimate in found.items() if isinstance(estimate, Absent)}
    if len(absent) == len(found):
        return Absent(Fact("no_period_with_value", dataset=site.dataset.name, why=next(iter(absent.values()), None)))
    undated = int((periods.of_row == NO_PERIOD).sum())
    steps = [Fact("period_without_value", period=number, unit=periods.unit, why=why) for number, why in absent.items()]
    steps += [Fact("rows_without_day", rows=Count(undated, "row"))] if undated else []
    known = [estimate if isinstance(estimate, Estimate) else None for estimate in found.values()]
    outcomes = [part.dataset.outcome for part in parts.values()]
    events = [None if outcome is None else int(outcome.sum()) for outcome in outcomes]
    given = [not 0 < _rows(part) < types.FEWEST_PATIENTS for part in parts.values()]
    curve = Curve(
        columns={
            "period": tuple(map(float, found)),
            "n": tuple(
                float(_rows(part)) if is_given else None for part, is_given in zip(parts.values(), given, strict=True)
            ),
            "events": tuple(
                float(count) if count is not None and is_given else None
                for count, is_given in zip(events, given, strict=True)
            ),
            **{name: tuple(getattr(each, name, None) for each in known) for name in ("value", "low", "high")},
        },
        n=sum(map(_rows, parts.values())),
        method=Method(Fact("by_period", unit=periods.unit, fewest=FEW_FOR_POOLING), *steps),
        events=None if None in events else sum(count or 0 for count in events),
    )
    refuse_a_bad_curve(over_time.OVER_TIME, site.dataset.name, curve)
    return curve
