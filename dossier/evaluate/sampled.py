"""Datasets too large to be read whole: what needs predictors or subgroups is asked of the sample, and says so."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import TypeVar

from dossier.evaluate.offered import Site
from dossier.types import Absent, Curve, Estimate

Found = TypeVar("Found", Estimate | Absent, Curve | Absent)
OF_THE_SAMPLE = ("predictors", "subgroups")
"""What is known of the sampled rows only."""


def asked(site: Site, needs: Container[str]) -> Site:
    """The site with the rows of which all that is needed is known."""
    sample = site.dataset.sampled
    if sample is None or not any(name in needs for name in OF_THE_SAMPLE):
        return site
    return replace(site, dataset=sample)


def told(found: Found, site: Site, needs: Container[str]) -> Found:
    """What was found, with the sample that it rests on among the words of its method."""
    if isinstance(found, Absent):
        return found
    remark = _remark(site, needs)
    return replace(found, method=f"{found.method}{remark}") if remark else found


def _remark(site: Site, needs: Container[str]) -> str:
    """The samples of this dataset and of the development table that were asked; empty where all rows were."""
    sample, remark = site.dataset.sampled, ""
    if sample is not None and any(name in needs for name in OF_THE_SAMPLE):
        remark = f", on a sample of {sample.rows_analysed:,} of {site.dataset.rows_analysed:,} rows"
    if site.development_sample is not None and "development" in needs:
        remark += f", development: a sample of {site.development_sample:,} of {site.development_rows:,} rows"
    return remark
