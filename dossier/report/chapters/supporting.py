"""Further measures by site, for who wants to see what the core leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dossier.core.types import Description, Estimate, Evidence, Result, find_all
from dossier.report.chapters import classes, discrimination, sentence
from dossier.report.chapters.chapter import chapter
from dossier.typeset import measures, names, numbers, words
from dossier.typeset.tables import Cell, Row, Table, worded

PRINTED = ("calibration_intercept", "brier", "log_score")
"""The measures of calibration that are printed here, after those of discrimination that the core has no table of."""
PRINTED_OF_CLASSES = ("brier", "log_score")
"""The same of several classes: those that take all of them at once."""


def finding(evidence: Evidence) -> sentence.Sentence:
    """The range of the Brier score, the one measure of both discrimination and calibration."""
    sites = sentence.estimated(evidence, "brier")
    if not sites:
        return sentence.Sentence("Curves behind the numbers of the core.")
    return sentence.Sentence(f"The Brier score {sentence.over_sites(evidence, 'brier', sites)}.", REST)


REST = "It reflects discrimination and calibration together, and depends on the prevalence."


def tables(evidence: Evidence) -> tuple[Table, ...]:
    """The supporting measures of every dataset, side by side."""
    printed = PRINTED_OF_CLASSES if classes.labels(evidence) else PRINTED
    core = (*discrimination.WHATEVER, *discrimination.AT_A_THRESHOLD)
    return measures.chapter_tables(evidence, "discrimination", core, printed)


INPUTS = ("threshold of a case", "relevance of a case")
STATISTICS = ("mean", "quantile_25", "median", "quantile_75")
SHARES = ("share_zero", "share_one")


def inputs_of_weighted_utility(evidence: Evidence) -> tuple[Table, ...]:
    """How the thresholds and the relevance of single cases are spread at each site, source by source."""
    spread: dict[tuple[str, str], dict[str, Description]] = {}
    for row in evidence.descriptions:
        each = row.described
        if each.variable in INPUTS and each.level is not None:
            spread.setdefault((row.dataset, f"{each.variable}, {words.setting(each.level)}"), {})[each.statistic] = each
    if not spread:
        return ()
    rows: list[Row] = []
    for site in names.shown(evidence, ("internal", "external")):
        here = {source: found for (name, source), found in spread.items() if name == site.name}
        rows += [Row(names.label_of(site), kind="group")] if here else []
        rows += [Row(words.sentence_case(source), _spread(found)) for source, found in here.items()]
    return (worded("weighted-utility-inputs", rows),)


def _spread(found: Mapping[str, Description]) -> tuple[Cell, ...]:
    of = next(iter(found.values())).n
    values = [Cell.plain(numbers.number(found[name].value) if name in found else numbers.DASH) for name in STATISTICS]
    shares = [Cell.plain(numbers.number(100 * found[name].value, 1)) for name in SHARES]
    return (Cell.plain(f"{of:,}"), *values, *shares)


def weighted_utility_by_class(evidence: Evidence) -> tuple[Table, ...]:
    """Of several classes each against the rest, where cases have thresholds of their own, or a relevance.

    With one threshold for all and equal relevance it is the standardized net benefit of the class.
    """
    found = [
        result
        for result in find_all(evidence, "weighted_utility")
        # Where no threshold is declared, one absence stands for all.
        if {"class", "tau", "relevance"} <= result.at.keys()
        and result.at["gamma"] == 1
        and (isinstance(result.at["tau"], str) or result.at["relevance"] != ALL)
    ]
    kinds = dict.fromkeys(
        (result.at["tau"], result.at["relevance"]) for result in found if isinstance(result.found, Estimate)
    )
    return tuple(
        _of_one_kind(evidence, kind, [result for result in found if (result.at["tau"], result.at["relevance"]) == kind])
        for kind in kinds
    )


def _of_one_kind(evidence: Evidence, kind: tuple[float | str, float | str], found: Sequence[Result]) -> Table:
    tau, relevance = kind
    title = f"Weighted utility, one class against the rest; threshold of a case: {words.setting(tau)}"
    title += "" if relevance == ALL else f"; relevance: {words.setting(relevance)}"
    named = words.anchor(f"table-weighted-utility-{tau}-{relevance}")
    return replace(measures.table_across(evidence, found, "class", title), name=named)


ALL = "constant"
"""The relevance of cases that all count alike."""

CHAPTER = chapter("supporting", finding)
