"""Whether acting on the model does more good than treating everyone or no one."""

from __future__ import annotations

from dataclasses import replace

from dossier.findings import classes
from dossier.findings.sentence import Sentence, estimated, primary_threshold, range_over_sites
from dossier.types import Estimate, Evidence, Result
from dossier.typeset import TIED, Table, folded, in_words, listing, sentence_case, setting, table_across, threshold


def finding(evidence: Evidence) -> Sentence:
    """Net benefit at the primary threshold, and the sites where a default does better."""
    if classes.labels(evidence):
        return classes.utility(evidence)
    at = primary_threshold(evidence)
    if at is None:
        return Sentence("No threshold is declared.", "Net benefit is shown over a range of thresholds only.")
    sites = estimated(evidence, "net_benefit", threshold=at)
    if not sites:
        return Sentence("At no external site can net benefit be estimated.")
    span = range_over_sites(evidence, "net_benefit", sites)
    lead = f"At a threshold of{TIED}{threshold(at)} the net benefit {span}."
    worse = _where_a_default_is_better(evidence, at)
    rest = (
        f"{sentence_case(worse)}: there treating everyone or no one has the higher net benefit."
        if worse
        else "At no site does treating everyone or no one have the higher net benefit."
    )
    others = [(one, _where_a_default_is_better(evidence, one)) for one in evidence.release.thresholds.declared[1:]]
    elsewhere = listing([f"{threshold(one)} ({where})" for one, where in others if where])
    also = "also " if worse else ""
    more = f" Treating everyone or no one is {also}better at a threshold of{TIED}{elsewhere}." if elsewhere else ""
    return Sentence(lead, f"{rest}{more}")


def _where_a_default_is_better(evidence: Evidence, at: float) -> str:
    """The sites at which treating everyone or no one does more good at a threshold, or their number; empty for none."""
    sites = estimated(evidence, "net_benefit", threshold=at)
    worse = [site.site for site, found in sites if found.value < max(found.details.get("treat_all") or 0.0, 0.0)]
    return listing(worse) if len(worse) <= 4 else f"{in_words(len(worse))} sites"


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
