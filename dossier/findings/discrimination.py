"""How well the risks tell those with the outcome from those without."""

from __future__ import annotations

from dossier.findings.sentence import Sentence, estimated, primary_threshold
from dossier.types import POOLED, Estimate, Evidence, find
from dossier.typeset import TIED, in_text, per_cent, short, threshold


def finding(evidence: Evidence) -> Sentence:
    """The range of the AUROC over sites, and of the sensitivity at the primary threshold."""
    sites = estimated(evidence, "auroc")
    if not sites:
        return Sentence("At no external site can discrimination be estimated.")
    if len(sites) == 1:
        site, found = sites[0]
        lead = f"In {site.site} the AUROC is {in_text(evidence, 'auroc', found)}."
    else:
        low, high = sites[0], sites[-1]
        lead = (
            f"The AUROC runs from {short(evidence, 'auroc', low[1].value)} ({low[0].site}) to "
            f"{short(evidence, 'auroc', high[1].value)} ({high[0].site})."
        )
    pooled = find(evidence, "auroc", POOLED)
    rest = [f"Pooled it is {in_text(evidence, 'auroc', pooled)}."] if isinstance(pooled, Estimate) else []
    return Sentence(lead, " ".join([*rest, *_flagged(evidence)]))


def _flagged(evidence: Evidence) -> list[str]:
    at = primary_threshold(evidence)
    if at is None:
        return []
    sites = estimated(evidence, "sensitivity", threshold=at)
    if not sites:
        return []
    if len(sites) == 1:
        return [f"At a threshold of{TIED}{threshold(at)} it finds {per_cent(sites[0][1].value)} of the events."]
    low, high = sites[0], sites[-1]
    return [
        f"At a threshold of{TIED}{threshold(at)} it finds between {per_cent(low[1].value)} ({low[0].site}) and "
        f"{per_cent(high[1].value)} ({high[0].site}) of the events."
    ]
