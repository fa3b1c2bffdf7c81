"""Whether acting on the model does more good than flagging everyone or no one."""

from __future__ import annotations

from collections.abc import Sequence, Set

from dossier.core.types import Absent, Curve, DatasetSummary, Evidence, externals, find_curve
from dossier.report.chapters import classes
from dossier.report.chapters.chapter import Chapter, measured
from dossier.report.chapters.sentence import (
    Sentence,
    better_than_the_model,
    estimated,
    named_or_counted,
    primary_threshold,
    range_over_sites,
)
from dossier.typeset.numbers import TIED, level_of, threshold
from dossier.typeset.tables import Cell, Column, Reasons, Row, Table
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
    lead = f"At threshold{TIED}{threshold(at)} the gain over the better default {span}."
    worse = _where_a_default_is_better(evidence, at, "has the higher net benefit")
    none = f"At{TIED}{threshold(at)} neither flagging everyone nor flagging no one does better at any site"
    none += _exceeding_both(evidence, at)
    others = evidence.release.thresholds.declared[1:]
    which = "the other" if len(others) == 1 else "a further"
    more = [
        f"At {which} declared threshold,{TIED}{threshold(each)}, {where}."
        for each in others
        if (where := _where_a_default_is_better(evidence, each, "is better"))
    ]
    return Sentence(lead, " ".join([f"{sentence_case(worse) or none}.", *more]))


def _exceeding_both(evidence: Evidence, at: float) -> str:
    """At how many sites the whole interval of the gain over the better default lies above 0."""
    gains = estimated(evidence, "net_benefit_gain", threshold=at)
    certain = sum(found.low is not None and found.low > 0 for _, found in gains)
    exceeds = f"; the model's net benefit exceeds both at {how_many(certain)} of {in_words(len(gains))}"
    return f"{exceeds} ({level_of(evidence)} CI excludes 0)" if gains else ""


def _where_a_default_is_better(evidence: Evidence, at: float, verb: str) -> str:
    """Where flagging everyone or no one does more good at a threshold, and where the CI excludes 0; or empty."""
    sites = [(site.site, found) for site, found in estimated(evidence, "net_benefit", threshold=at)]
    gains = estimated(evidence, "net_benefit_gain", threshold=at)
    sure = {site.site for site, found in gains if found.high is not None and found.high < 0}
    return "; ".join(
        f"flagging {whom} {verb} in {named_or_counted(where, 4)} ({level_of(evidence)} CI {_excluding(where, sure)})"
        for whom, where in better_than_the_model(sites).items()
    )


def _excluding(where: Sequence[str], sure: Set[str]) -> str:
    """At how many of these sites the interval of a difference excludes 0."""
    count = sum(site in sure for site in where)
    if count == len(where):
        return "excludes 0"
    if not count:
        return "includes 0: not shown"
    return f"excludes 0 in {listing([site for site in where if site in sure]) if count < 3 else in_words(count)}"


# ---- clinical impact ------------------------------------------------------------------------------------------------

MOST_THRESHOLDS = 3
"""Declared thresholds that the table has room for."""


def impact(evidence: Evidence) -> Table:
    """Of 1,000 patients like those of each site: how many have the outcome, and whom each threshold flags."""
    reasons = Reasons(evidence)
    declared = evidence.release.thresholds.declared[:MOST_THRESHOLDS]
    sites = [(site, find_curve(evidence, "per_thousand_of_site", site.name)) for site in externals(evidence)]
    columns = [
        Column(label, over=f"Threshold {threshold(at)}")
        for at in declared
        for label in ("Flagged", "Found", "Missed", "False alarms")
    ]
    return Table(
        name="table-impact",
        title=_impact(sites, declared),
        note="Of 1,000 patients like those of the site. Found: flagged, with the outcome; missed: with the outcome, "
        "not flagged. For the intervals see sensitivity and specificity.",
        head="Site",
        columns=(Column("With outcome"), *columns),
        rows=tuple(Row(site.site, _of_a_thousand(found, len(declared), reasons)) for site, found in sites),
        footnotes=reasons.footnotes(),
    )


def has_impact(evidence: Evidence) -> bool:
    """Whether anybody was counted at a declared threshold; of several classes no one is flagged or not."""
    found = (find_curve(evidence, "per_thousand_of_site", site.name) for site in externals(evidence))
    return not classes.labels(evidence) and any(isinstance(curve, Curve) for curve in found)


def _of_a_thousand(found: Curve | Absent, thresholds: int, reasons: Reasons) -> tuple[Cell, ...]:
    if isinstance(found, Absent):
        return (reasons.cell(found), *(Cell("", kind="plain"),) * (4 * thresholds))
    hits, misses, alarms = (found.columns[name] for name in ("true_positive", "false_negative", "false_positive"))
    counts: list[tuple[float | None, ...]] = [(hits[0], misses[0])]
    for hit, miss, alarm in list(zip(hits, misses, alarms, strict=True))[:thresholds]:
        counts += [(hit, alarm), (hit,), (miss,), (alarm,)]
    return tuple(_sum_of(count) for count in counts)


def _sum_of(counts: Sequence[float | None]) -> Cell:
    """The sum of counts; a word where one of them is a gap."""
    known = [count for count in counts if count is not None]
    return Cell(f"{sum(known):,.0f}", kind="plain") if len(known) == len(counts) else Cell("absent", kind="absent")


def _impact(sites: Sequence[tuple[DatasetSummary, Curve | Absent]], declared: Sequence[float]) -> str:
    """How many of 1,000 are missed at the primary threshold, from the lowest site to the highest."""
    missed = sorted(
        (count, site.site)
        for site, found in sites
        if isinstance(found, Curve) and (count := found.columns["false_negative"][0]) is not None
    )
    if not missed:
        return "Clinical impact."
    (low, first), (high, last) = missed[0], missed[-1]
    span = f"{low:,.0f} ({first})" if len(missed) == 1 else f"{low:,.0f} ({first}) to {high:,.0f} ({last})"
    return f"Clinical impact: at{TIED}{threshold(declared[0])} the model misses {span} of 1,000 patients."


CHAPTER = Chapter(
    "utility",
    "Net benefit",
    finding,
    has=measured("utility"),
    fill="Declare thresholds in [thresholds].",
    is_given=lambda evidence: bool(evidence.release.thresholds.declared),
    editions=("regulatory", "quick"),
)
