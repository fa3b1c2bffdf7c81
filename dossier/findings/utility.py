"""Whether acting on the model does more good than treating everyone or no one."""

from __future__ import annotations

from dossier.findings.sentence import Sentence, estimated, primary_threshold, range_over_sites
from dossier.types import Evidence
from dossier.typeset import TIED, in_words, listing, sentence_case, threshold


def finding(evidence: Evidence) -> Sentence:
    """Net benefit at the primary threshold, and the sites where a default does better."""
    at = primary_threshold(evidence)
    if at is None:
        return Sentence("No threshold is declared.", "Net benefit is shown over a range of thresholds only.")
    sites = estimated(evidence, "net_benefit", threshold=at)
    if not sites:
        return Sentence("At no external site can net benefit be estimated.")
    span = range_over_sites(evidence, "net_benefit", sites)
    lead = f"At a threshold of{TIED}{threshold(at)} the net benefit {span}."
    worse = [site for site, found in sites if found.value < max(found.details.get("treat_all") or 0.0, 0.0)]
    if not worse:
        return Sentence(lead, "At no site does treating everyone or no one have the higher net benefit.")
    who = listing([site.site for site in worse]) if len(worse) <= 4 else f"{in_words(len(worse))} sites"
    return Sentence(lead, f"{sentence_case(who)}: there treating everyone or no one has the higher net benefit.")
