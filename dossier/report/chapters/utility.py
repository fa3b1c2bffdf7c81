"""Whether acting on the model does more good than flagging everyone or no one."""

from __future__ import annotations

from collections.abc import Sequence

from dossier.core import binding, multiplicity, types
from dossier.core.facts import gathered
from dossier.report.chapters import classes, sentence
from dossier.report.chapters.chapter import chapter, measured
from dossier.typeset import measures, names, numbers, tables
from dossier.typeset.words import named_or_counted, part_of, sentence_case


def finding(evidence: types.Evidence) -> sentence.Sentence:
    """Net benefit at the primary threshold, and the sites where a default does better."""
    if classes.labels(evidence):
        return classes.utility(evidence)
    at = evidence.release.thresholds.primary
    if at is None:
        return sentence.Sentence("No threshold is declared.", "Net benefit is shown over a range of thresholds only.")
    sites = sentence.estimated(evidence, "net_benefit_gain", threshold=at)
    if not sites:
        return sentence.Sentence("At no external site can net benefit be estimated.")
    span = sentence.over_sites(evidence, "net_benefit_gain", sites, threshold=at)
    worse = _where_a_default_is_better(evidence, at)
    others = evidence.release.thresholds.declared[1:]
    which = "the other" if len(others) == 1 else "a further"
    more = [
        f"At {which} declared threshold,{numbers.TIED}{numbers.threshold(each)}, {where}."
        for each in others
        if (where := _where_a_default_is_better(evidence, each))
    ]
    # What the intervals say comes before the ends of the gain, which chance moves.
    first, *rest = filter(None, (worse, _above_0(evidence, at, sites), f"the gain over the better default {span}"))
    also = [f"{sentence_case(text)}." for text in rest]
    return sentence.Sentence(f"At threshold{numbers.TIED}{numbers.threshold(at)} {first}.", " ".join([*also, *more]))


def _above_0(evidence: types.Evidence, at: float, gains: Sequence[tuple[types.DatasetSummary, types.Estimate]]) -> str:
    """At how many of several sites a gain over the better default is shown, and where it is open."""
    if len(gains) == 1:
        return ""
    stands = {site.site: binding.gain(evidence, site.name, at, found) for site, found in gains}
    worse = [(site.site, found) for site, found in gains if multiplicity.looks_worse(found)]
    unsure = [name for name, state in stands.items() if state == "open" and name not in dict(worse)]
    rest = f"; it is open in {named_or_counted(unsure, 4)}" if unsure else ""
    for whom, where in gathered((multiplicity.better_to_flag(found), name) for name, found in worse).items():
        looks = f"; flagging {whom} looks better, but not after Holm (P > {multiplicity.LEVEL:g})"
        rest += f"{looks}, in {named_or_counted(where, 4)}"
    if harmed := [site.site for site in binding.harmed(evidence)]:
        rest += f"; at times flagging {binding.better_then(evidence)} did better in {named_or_counted(harmed, 4)}"
        turns = {*harmed} & {site.site for site in binding.turning(evidence)}
        rest += ", so that no mean over all periods holds" if turns else ""
    return f"a gain above 0 is shown at {part_of([*stands.values()].count('shown'), len(gains))} sites{rest}"


def _where_a_default_is_better(evidence: types.Evidence, at: float) -> str:
    """Where the CI of the gain at a threshold lies below 0: flagging everyone or no one does more; or empty."""
    gains = [(site.site, found) for site, found in sentence.estimated(evidence, "net_benefit_gain", threshold=at)]
    return "; ".join(
        f"flagging {whom} has the higher net benefit in {named_or_counted(where, 4)} ({numbers.level_of(evidence)} CI "
        "excludes 0)"
        for whom, where in multiplicity.better_than_the_model(gains).items()
    )


# ---- clinical impact ------------------------------------------------------------------------------------------------

MOST_THRESHOLDS = 3
"""Declared thresholds that the table has room for."""


def impact(evidence: types.Evidence) -> tables.Table:
    """Of 1,000 patients like those of each site, or of 10,000: whom each threshold flags, finds and misses."""
    reasons = tables.Reasons(evidence)
    declared = evidence.release.thresholds.declared[:MOST_THRESHOLDS]
    sites = [(site, types.find_curve(evidence, "classification", site.name)) for site in types.externals(evidence)]
    rarest = [found.events / found.n for _, found in sites if isinstance(found, types.Curve) and found.events]
    among = max(1000, numbers.of_how_many(min((*declared, *rarest), default=1.0)))
    brought = [
        (site, types.brought_to(found, among) if isinstance(found, types.Curve) else found) for site, found in sites
    ]
    columns = [
        tables.Column(label, over=f"Threshold {numbers.threshold(at)}")
        for at in declared
        for label in ("Flagged", "Found", "Missed", "False alarms")
    ]
    rows = [tables.Row(site.site, _of_so_many(found, len(declared), reasons)) for site, found in brought]
    return tables.worded(
        "impact", rows, columns, reasons.footnotes(), title=_impact(brought, declared, among), among=f"{among:,}"
    )


def has_impact(evidence: types.Evidence) -> bool:
    """Whether anybody was counted at a declared threshold; of several classes no one is flagged or not."""
    found = (types.find_curve(evidence, "classification", site.name) for site in types.externals(evidence))
    return not classes.labels(evidence) and any(isinstance(curve, types.Curve) for curve in found)


def _of_so_many(found: types.Curve | types.Absent, thresholds: int, reasons: tables.Reasons) -> tuple[tables.Cell, ...]:
    if isinstance(found, types.Absent):
        return (reasons.cell(found), *(tables.Cell.plain(""),) * (4 * thresholds - 1))
    cells = []
    for row in range(min(thresholds, len(found.columns["threshold"]))):
        hit, alarm, miss, _ = (found.columns[name][row] or 0.0 for name in types.CELLS)
        cells += [tables.Cell.plain(f"{count:,.0f}") for count in (hit + alarm, hit, miss, alarm)]
    return tuple(cells)


def _impact(
    sites: Sequence[tuple[types.DatasetSummary, types.Curve | types.Absent]], declared: Sequence[float], among: int
) -> str:
    """How many of so many are missed at the primary threshold, from the lowest site to the highest."""
    counts = [
        (site, found.columns["false_negative"][0] or 0.0) for site, found in sites if isinstance(found, types.Curve)
    ]
    # How many are missed rests on those with the outcome, as sensitivity does.
    ends, few = names.ends_of_range(counts, "sensitivity")
    if not ends:
        return "Clinical impact."
    missed = [f"{count:,.0f} ({name})" for count, name in sorted((count, site.site) for site, count in ends)]
    runs = " to ".join(dict.fromkeys((missed[0], missed[-1])))
    at = f"at{numbers.TIED}{numbers.threshold(declared[0])}"
    return f"Clinical impact: {at} the model misses {runs} of {among:,} patients{few}."


# ---- thresholds for a wish ------------------------------------------------------------------------------------------


def wished(evidence: types.Evidence) -> tuple[types.Term, ...]:
    """The threshold for a wish and what it costs there, which stand in a table of their own."""
    return tuple(term for term in evidence.terms.values() if "wish" in term.at)


def wishes(evidence: types.Evidence) -> tables.Table:
    """The threshold that reaches each wish at each site, chosen on its data, and what it costs there."""
    reasons, rows = tables.Reasons(evidence), []
    for wish in evidence.release.thresholds.wishes:
        rows.append(tables.Row(sentence_case(wish), kind="group"))
        for site in types.externals(evidence):
            found = [(term, types.find(evidence, term.name, site.name, wish=wish)) for term in wished(evidence)]
            rows.append(tables.Row(site.site, tuple(measures.cell(each, term, reasons) for term, each in found)))
    return tables.worded("wishes", rows, footnotes=reasons.footnotes(), level=numbers.level_of(evidence))


CHAPTER = chapter(
    "utility", finding, measured("utility"), is_given=lambda evidence: bool(evidence.release.thresholds.declared)
)
