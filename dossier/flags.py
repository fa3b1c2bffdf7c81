"""Limitations that the run raises by itself, each with its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dossier.bands import FEW_FOR_A_BAND, OE_TOLERATED
from dossier.types import MACRO, DatasetSummary, Estimate, Flag, Result
from dossier.typeset import number


def raised(datasets: Sequence[DatasetSummary], results: Sequence[Result]) -> tuple[Flag, ...]:
    """Every limitation that the evidence shows, site by site."""
    external = [dataset for dataset in datasets if dataset.role == "external"]
    return (*_few_events(external), *_rows_lost(external), *_risks_off(external, results), *_few_sites(external))


def _few_events(external: Sequence[DatasetSummary]) -> Iterator[Flag]:
    """Fewer events or non-events than a calibration curve needs."""
    for dataset in external:
        few = {label: count for label, count in dataset.class_counts.items() if count < FEW_FOR_A_BAND}
        if few:
            listed = ", ".join(f"{count} of {label}" for label, count in few.items())
            which = "these classes" if len(few) > 1 else "this class"
            yield Flag(
                "few_events",
                dataset.name,
                f"{dataset.site} has {listed}, and a curve asks for {FEW_FOR_A_BAND} of each class: its calibration "
                f"curve of {which} is imprecise.",
            )
        if dataset.events is None:
            continue
        others = dataset.n - dataset.events
        if min(dataset.events, others) < FEW_FOR_A_BAND:
            yield Flag(
                "few_events",
                dataset.name,
                f"{dataset.site} has {dataset.events} events and {others} non-events, and a curve asks for "
                f"{FEW_FOR_A_BAND} of each: its calibration curve is imprecise.",
            )


def _rows_lost(external: Sequence[DatasetSummary]) -> Iterator[Flag]:
    """Rows that could not be analysed."""
    for dataset in external:
        lost = sum(dataset.excluded.values())
        if lost:
            why = ", ".join(f"{reason}: {count}" for reason, count in dataset.excluded.items() if count)
            yield Flag(
                "rows_excluded",
                dataset.name,
                f"{lost:,} of {dataset.rows_read:,} rows of {dataset.site} are not analysed ({why}); who they are may "
                "differ from who remains.",
            )


def _risks_off(external: Sequence[DatasetSummary], results: Sequence[Result]) -> Iterator[Flag]:
    """Risks whose sum is clearly off at a site."""
    low, high = OE_TOLERATED
    site = {dataset.name: dataset.site for dataset in external}
    for result in results:
        found = result.found
        if result.measure != "oe_ratio" or result.dataset not in site or not isinstance(found, Estimate):
            continue
        if result.at.get("class") == MACRO:
            continue
        what = f"patients of class {result.at['class']}" if "class" in result.at else "events"
        if found.low is not None and found.high is not None and (found.low > high or found.high < low):
            yield Flag(
                "risks_off",
                result.dataset,
                f"at {site[result.dataset]} there were {number(found.value)} times as many {what} as the risks add "
                f"up to ({number(found.low)} to {number(found.high)}), outside {low:g} to {high:g}.",
            )


def _few_sites(external: Sequence[DatasetSummary]) -> Iterator[Flag]:
    """Too few hospitals to say what a new one would see."""
    if len(external) < 3:
        yield Flag(
            "few_sites",
            "pooled",
            f"{len(external)} external {'site' if len(external) == 1 else 'sites'}: what to expect in a new hospital "
            "cannot be estimated from fewer than three.",
        )
