"""Whether acting on the model does more good than treating everyone or no one."""

from __future__ import annotations

from collections.abc import Sequence, Set

from dossier.findings import classes
from dossier.findings.sentence import (
    Sentence,
    better_than_the_model,
    estimated,
    named_or_counted,
    primary_threshold,
    range_over_sites,
)
from dossier.types import Evidence
from dossier.typeset.numbers import TIED, threshold
from dossier.typeset.words import how_many, in_words, listing, sentence_case


def finding(evidence: Evidence) -> Sentence:
    """Net benefit at the primary threshold, and the sites where a default does better."""
    if classes.labels(evidence):
        return classes.utility(evidence)
    at = primary_threshold(evidence)
    if at is None:
        return Sentence("No threshold is declared.", "Net benefit is shown over a range of thresholds only.")
    sites = estimated(evidence, "net_benefit_gain", threshold=at)
    if not sites:
        return Sentence("At no external site can net benefit be estimated.")
    span = range_over_sites(evidence, "net_benefit_gain", sites)
    lead = f"At a threshold of{TIED}{threshold(at)} the net benefit over the better default {span}."
    worse = _where_a_default_is_better(evidence, at, "has the higher net benefit")
    none = f"At{TIED}{threshold(at)} neither treating everyone nor treating no one does better at any site"
    none += _surely(evidence, at)
    others = evidence.release.thresholds.declared[1:]
    which = "the other" if len(others) == 1 else "a further"
    more = [
        f"At {which} declared threshold,{TIED}{threshold(one)}, {where}."
        for one in others
        if (where := _where_a_default_is_better(evidence, one, "is better"))
    ]
    return Sentence(lead, " ".join([f"{sentence_case(worse) or none}.", *more]))


def _surely(evidence: Evidence, at: float) -> str:
    """At how many sites the model has a higher net benefit than the better default beyond chance."""
    gains = estimated(evidence, "net_benefit_gain", threshold=at)
    certain = sum(found.low is not None and found.low > 0 for _, found in gains)
    return f"; the model does beyond chance at {how_many(certain)} of {in_words(len(gains))}" if gains else ""


def _where_a_default_is_better(evidence: Evidence, at: float, verb: str) -> str:
    """Which of treating everyone and no one does more good at a threshold, where, and where beyond chance; or empty."""
    sites = [(site.site, found) for site, found in estimated(evidence, "net_benefit", threshold=at)]
    gains = estimated(evidence, "net_benefit_gain", threshold=at)
    sure = {site.site for site, found in gains if found.high is not None and found.high < 0}
    return "; ".join(
        f"treating {whom} {verb} in {named_or_counted(where, 4)}, {_beyond_chance(where, sure)}"
        for whom, where in better_than_the_model(sites).items()
    )


def _beyond_chance(where: Sequence[str], sure: Set[str]) -> str:
    """At how many of these sites a difference is beyond chance."""
    count = sum(site in sure for site in where)
    if count == len(where):
        return "beyond chance"
    if not count:
        return "not beyond chance"
    return f"beyond chance in {listing([site for site in where if site in sure]) if count < 3 else in_words(count)}"
