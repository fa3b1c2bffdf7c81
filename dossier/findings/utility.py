"""Whether acting on the model does more good than treating everyone or no one."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from dossier.findings import classes
from dossier.findings.sentence import (
    Sentence,
    better_than_the_model,
    estimated,
    named_or_counted,
    primary_threshold,
    range_over_sites,
)
from dossier.types import Estimate, Evidence, Result
from dossier.typeset.measures import table_across
from dossier.typeset.numbers import TIED, threshold
from dossier.typeset.tables import Table, folded
from dossier.typeset.words import how_many, in_words, listing, sentence_case, setting


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


def weighted(evidence: Evidence) -> tuple[Table, ...]:
    """Weighted utility: at one threshold for all, with cases of unequal relevance, and with a threshold for each."""
    results = [one for one in evidence.results if one.measure == "weighted_utility" and "tau" in one.at]
    shared = [one for one in results if not isinstance(one.at["tau"], str)]
    kinds = {
        "One threshold for all cases, all of equal relevance": [one for one in shared if _is_even(one)],
        "One threshold for all cases, relevance by case": [one for one in shared if not _is_even(one)],
        "A threshold for each case": [one for one in results if isinstance(one.at["tau"], str)],
    }
    return tuple(
        _weighted(evidence, found, f"Weighted utility: {title[:1].lower()}{title[1:]}", number)
        for number, (title, found) in enumerate(kinds.items(), start=1)
        if any(isinstance(one.found, Estimate) for one in found)
    )


def _is_even(result: Result) -> bool:
    return result.at["relevance"] == "constant"


def _weighted(evidence: Evidence, results: list[Result], title: str, number: int) -> Table:
    varying = [name for name in ("gamma", "relevance") if len({one.at[name] for one in results}) > 1]
    table = table_across(evidence, results, "tau", title, varying)
    taus = list(dict.fromkeys(one.at["tau"] for one in results))
    heads = (setting(tau) if isinstance(tau, str) else f"Threshold {threshold(tau)}" for tau in taus)
    columns = tuple(
        replace(column, label=sentence_case(head)) for column, head in zip(table.columns, heads, strict=True)
    )
    return folded(replace(table, name=f"{table.name}-{number}", columns=columns))
