"""What figures read out of the evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dossier.core import binding, multiplicity, types
from dossier.core.types import Absent, Curve, DatasetSummary, Estimate, Evidence, Floats, externals, find_curve
from dossier.typeset import names, numbers, widths


def digits_of_benefit(evidence: Evidence) -> int:
    """The digits of net benefits per 100 patients beside each other: those of the site where the outcome is rarest."""
    return numbers.digits_per_100(
        min((site.prevalence for site in externals(evidence) if site.prevalence), default=1.0)
    )


def row_of(curve: Curve, name: str, value: float) -> int | None:
    """The row of a curve whose column holds exactly this value; None when none does."""
    rows = np.flatnonzero(np.isclose(column(curve, name), value, rtol=0, atol=1e-12))
    return int(rows[0]) if len(rows) else None


def column(curve: Curve, name: str) -> Floats:
    """A column of a curve; what is missing becomes a gap in the line."""
    return np.array([math.nan if value is None else value for value in curve.columns[name]], dtype=np.float64)


def ranked(
    evidence: Evidence, measure: str, sites: Sequence[DatasetSummary], **at: float | str
) -> tuple[list[tuple[float, str]], str]:
    """The values of a measure with the sites that may be the ends of a range, the lowest first; and who is none."""
    asked = {site.name for site in sites}
    pairs = [pair for pair in types.estimated(evidence, measure, **at) if pair[0].name in asked]
    found, few = names.ends_of_range(pairs, measure, multiplicity.sites_against(evidence, measure))
    known = sorted((each.value, site.site) for site, each in found)
    return known, few + names.of_all_periods((name for _, name in (*known[:1], *known[-1:])), binding.turning(evidence))


def ends(*found: Estimate | Absent) -> list[float]:
    """The values and the bounds that there are of estimates."""
    estimates = [estimate for estimate in found if isinstance(estimate, Estimate)]
    return [end for each in estimates for end in (each.value, each.low, each.high) if end is not None]


def everywhere(evidence: Evidence, name: str) -> list[Curve]:
    """The curves of that name at the external sites that have one."""
    found = (find_curve(evidence, name, site.name) for site in externals(evidence))
    return [curve for curve in found if isinstance(curve, Curve)]


def labels(evidence: Evidence, width: float, weight: int = 400) -> dict[str, str]:
    """The label of each external dataset, by name, short enough for a width in mm."""
    sites = externals(evidence)
    return dict(
        zip((site.name for site in sites), widths.shortened([site.site for site in sites], width, weight), strict=True)
    )
