"""Limitations that the run raises by itself, each with its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dossier.bands import FEW_FOR_A_BAND, FEW_ROWS, SAME_RISK
from dossier.types import DatasetSummary, Estimate, Flag, Result
from dossier.typeset import number

OE_TOLERATED = (0.8, 1.25)


def raised(datasets: Sequence[DatasetSummary], results: Sequence[Result]) -> tuple[Flag, ...]:
    """Every limitation that the evidence shows, site by site."""
    external = [dataset for dataset in datasets if dataset.role == "external"]
    return (
        *_few_events(external),
        *_rows_lost(external),
        *_risks_off(external, results),
        *_model_differs(external, results),
        *_few_sites(external),
    )


def _few_events(external: Sequence[DatasetSummary]) -> Iterator[Flag]:
    """Fewer events or non-events than a calibration curve needs."""
    for dataset in external:
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
        if found.low is not None and found.high is not None and (found.low > high or found.high < low):
            yield Flag(
                "risks_off",
                result.dataset,
                f"at {site[result.dataset]} there were {number(found.value)} times as many events as the risks add up "
                f"to ({number(found.low)} to {number(found.high)}), outside {low:g} to {high:g}.",
            )


def _model_differs(external: Sequence[DatasetSummary], results: Sequence[Result]) -> Iterator[Flag]:
    """A declared formula that does not give the risks that were tested."""
    site = {dataset.name: dataset.site for dataset in external}
    for result in results:
        found = result.found
        if result.measure != "formula_difference" or result.dataset not in site or not isinstance(found, Estimate):
            continue
        differing, left_out = (int(found.details.get(name) or 0) for name in ("differing", "left_out"))
        if differing > FEW_ROWS or differing * 10 > found.n:
            without = f"; {left_out:,} with a missing predictor left out" if left_out else ""
            yield Flag(
                "model_differs",
                result.dataset,
                f"at {site[result.dataset]} the formula of [model] gives another risk than the table in {differing:,} "
                f"of {found.n:,} rows, by more than {SAME_RISK:g} and by up to {number(found.value, 4)}{without}: the "
                "nomogram is not the model that was tested.",
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
