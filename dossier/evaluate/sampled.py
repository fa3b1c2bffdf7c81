"""Datasets too large to be read whole: what needs predictors or subgroups is asked of the sample, and says so."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import TypeVar

from dossier.core.facts import Count, Fact, Method
from dossier.core.types import Absent, Curve, Estimate
from dossier.evaluate.offered import Site

Found = TypeVar("Found", Estimate | Absent, Curve | Absent)
OF_THE_SAMPLE = ("predictors", "subgroups")
"""What is known of the sampled rows only."""


def asked(site: Site, needs: Container[str]) -> Site:
    """The site with the rows of which all that is needed is known."""
    sample = site.dataset.sampled
    if sample is None or not any(name in needs for name in OF_THE_SAMPLE):
        return site
    return replace(site, dataset=sample)


def noted(found: Found, site: Site, needs: Container[str]) -> Found:
    """What was found, with the sample that it rests on among the steps of its method."""
    if isinstance(found, Absent):
        return found
    samples = _samples(site, needs)
    return replace(found, method=found.method + samples) if samples.steps else found


def _samples(site: Site, needs: Container[str]) -> Method:
    """The samples of this dataset and of the development table that were asked; no step where all rows were."""
    samples = of_sites([site]) if any(name in needs for name in OF_THE_SAMPLE) else Method()
    if site.development_sample is not None and "development" in needs:
        rows, of_rows = (Count(number or 0, "row") for number in (site.development_sample, site.development_rows))
        samples += Fact("development_sample", rows=rows, of=of_rows)
    return samples


def of_sites(sites: Sequence[Site]) -> Method:
    """The step that says how many rows of some sites are sampled; none where all were asked."""
    if all(site.dataset.sampled is None for site in sites):
        return Method()
    rows = sum(site.dataset.described.rows_analysed for site in sites)
    of = Count(sum(site.dataset.rows_analysed for site in sites), "row")
    return Method(Fact("on_a_sample", rows=Count(rows, "row"), of=of))
