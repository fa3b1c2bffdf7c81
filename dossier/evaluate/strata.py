"""The rows of all external sites, each site a stratum: what is taken over them while the rows are still there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dossier.core import facts, register, types
from dossier.core.types import MACRO, Absent, At, Dataset, Estimate
from dossier.evaluate import classes, offered
from dossier.metrics import imputations, intervals, stratified, within_sites

ESTIMATOR = {"estimator": "stratified"}
"""What a stratified estimate holds in `at` where another one stands beside it."""

Bools = NDArray[np.bool_]
Chosen = Callable[[Dataset], "tuple[Dataset, Bools | slice] | None"]
"""Of a dataset, or of its sample, the rows that are taken; None where it cannot tell them."""


def is_stratified(metric: register.Metric, at: At) -> bool:
    """Whether a measure at these settings is taken over the rows of all sites."""
    return metric.term.name in register.REGISTER.stratified and at.get("class") != MACRO


def external_sites(sites: Sequence[offered.Site]) -> tuple[offered.Site, ...]:
    """The external sites with rows of patients; refitted splits are no patients."""
    return tuple(site for site in sites if site.dataset.role == "external" and site.dataset.split is None)


def over_sites(sites: Sequence[offered.Site], metric: register.Metric, at: At, chosen: Chosen) -> Estimate | Absent:
    """A measure over the chosen rows of all sites; where rows were imputed, over the imputations by Rubin's rules.

    A site of fewer than five chosen rows does not enter, and is named: what all sites give less what the others do
    would be the value of a patient.
    """
    level = sites[0].release.release.level if sites else 0.95
    settings = {name: value for name, value in at.items() if name == "threshold"}
    found = []
    for number in imputations_of(sites):
        parts = [(site.dataset.name, stratum(site, at, chosen, number)) for site in sites]
        known = [(name, part) for name, part in parts if part is not None]
        kept = [part for _, part in known if len(part.outcome) >= types.FEWEST_PATIENTS]
        few = [name for name, part in known if 0 < len(part.outcome) < types.FEWEST_PATIENTS]
        found.append(naming(register.REGISTER.stratified[metric.term.name].function(kept, level, **settings), few, ()))
    return over_imputations(found, metric.scale if metric.scale != "wilson" else "logit", level)


def imputations_of(sites: Sequence[offered.Site]) -> range:
    """The numbers of the imputations that the sites have; one where nothing was imputed."""
    return range(max((len(site.dataset.imputations) for site in sites), default=0) or 1)


def over_imputations(each: Sequence[Estimate | Absent], scale: intervals.Scale, level: float) -> Estimate | Absent:
    """What all imputations say by Rubin's rules, with the test of it where each has one; absent where one has no value.

    Where nothing was imputed it is what the rows say.
    """
    absent = next((found for found in each if isinstance(found, Absent)), None)
    if absent is not None or len(each) == 1:
        return absent or each[0]
    known = [found for found in each if isinstance(found, Estimate)]
    statistics = [statistic for found in known if (statistic := found.details.get("z")) is not None]
    test = {"p_value": within_sites.p_value(statistics)} if len(statistics) == len(known) else {}
    pooled = imputations.rubin(known, scale, level)
    return replace(pooled, details={**pooled.details, **test})


def naming(found: Estimate | Absent, few: Sequence[str], turning: Sequence[str]) -> Estimate | Absent:
    """What was found, with the sites that were divided by time and those that did not enter: next to no rows."""
    said = {"sites_turning": turning, "sites_too_small": dict.fromkeys(few)}
    steps = [facts.Fact(code, sites=tuple(names)) for code, names in said.items() if names]
    return found if isinstance(found, Absent) else replace(found, method=facts.Method(*found.method, *steps))


def stratum(site: offered.Site, at: At, chosen: Chosen, number: int) -> stratified.Stratum | None:
    """The chosen rows of one site, in one of its imputations; None where it has none to choose from."""
    each = site.dataset.imputations
    found = chosen(each[number % len(each)] if each else site.dataset)
    if found is None:
        return None
    dataset, rows = found
    if "class" in at:
        dataset = classes.of_one_class(dataset, str(at["class"]))
    if dataset.outcome is None or dataset.risk is None:
        return None
    design = offered.design_of(dataset).of(rows)
    return None if design.is_empty else stratified.Stratum(dataset.outcome[rows], dataset.risk[rows], design)
