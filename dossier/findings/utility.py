"""Whether acting on the model does more good than treating everyone or no one."""

from __future__ import annotations

from dossier.findings.sentence import Sentence, estimated, primary_threshold
from dossier.types import Evidence
from dossier.typeset import TIED, in_text, in_words, listing, sentence_case, short, threshold


def finding(evidence: Evidence) -> Sentence:
    """Net benefit at the primary threshold, and the sites where a default does better."""
    at = primary_threshold(evidence)
    if at is None:
        return Sentence("No threshold is declared.", "Net benefit is shown over a range of thresholds only.")
    sites = estimated(evidence, "net_benefit", threshold=at)
    if not sites:
        return Sentence("At no external site can net benefit be estimated.")
    if len(sites) == 1:
        value = in_text(evidence, "net_benefit", sites[0][1])
        lead = f"At a threshold of{TIED}{threshold(at)} the net benefit is {value}."
    else:
        low, high = sites[0], sites[-1]
        lead = (
            f"At a threshold of{TIED}{threshold(at)} the net benefit runs from "
            f"{short(evidence, 'net_benefit', low[1].value)} ({low[0].site}) to "
            f"{short(evidence, 'net_benefit', high[1].value)} ({high[0].site})."
        )
    worse = [site for site, found in sites if found.value < max(found.details.get("treat_all") or 0.0, 0.0)]
    if not worse:
        return Sentence(lead, "At every site the model does better than treating everyone and than treating no one.")
    who = listing([site.site for site in worse]) if len(worse) <= 4 else f"{in_words(len(worse))} sites"
    return Sentence(lead, f"{sentence_case(who)}: there treating everyone or no one has the higher net benefit.")
