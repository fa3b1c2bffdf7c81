"""Whether the risks mean what they say."""

from __future__ import annotations

from dossier.findings import classes
from dossier.findings.sentence import Sentence, estimated, range_over_sites
from dossier.types import DatasetSummary, Evidence, externals
from dossier.typeset import how_many, in_words, listing


def finding(evidence: Evidence) -> Sentence:
    """How many sites have an interval of O/E that holds 1, and what the slopes say."""
    if classes.labels(evidence):
        return classes.calibration(evidence)
    ratios = estimated(evidence, "oe_ratio")
    if not ratios:
        return Sentence("At no external site can calibration be estimated.")
    lead = f"Observed over expected events (O/E) {range_over_sites(evidence, 'oe_ratio', ratios)}."
    slopes = estimated(evidence, "calibration_slope")
    extreme = [site for site, found in slopes if found.high is not None and found.high < 1]
    timid = [site for site, found in slopes if found.low is not None and found.low > 1]
    parts = []
    if extreme:
        parts.append(f"The slope is below 1 in {_who(extreme, len(slopes))}: there the risks are too far apart.")
    if timid:
        subject = "It" if extreme else "The slope"
        parts.append(f"{subject} is above 1 in {_who(timid, len(slopes))}: there they are too close together.")
    if slopes and not parts:
        parts.append("Every interval of the calibration slope holds 1.")
    few = len(externals(evidence)) - len(ratios)
    if few:
        parts.append(f"At {in_words(few)} {'site' if few == 1 else 'sites'} it cannot be estimated.")
    return Sentence(lead, " ".join(parts))


def _who(sites: list[DatasetSummary], among: int) -> str:
    """The sites by name when they are few, by count when they are many."""
    if len(sites) <= 4:
        return listing([site.site for site in sites])
    return f"{how_many(len(sites))} of {in_words(among)} sites"
