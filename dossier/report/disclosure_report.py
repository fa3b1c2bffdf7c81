"""What whoever releases a dossier learns of its protection: the narrowest count, what was withheld why, and the rest.

It tells more of the patients than the dossier does, and is no part of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dossier.core import types
from dossier.report.chapters.sentence import Sentence
from dossier.typeset import names, reasons, tables, widths, words
from dossier.typeset.numbers import TIED, threshold

Found = types.Estimate | types.Curve | types.Absent

MOST_DATASETS, MOST_REASONS = 5, 5
"""Rows of each table, for which one page has room."""
WIDEST_NAME = 44.0
"""Of a dataset, in mm, so that each has one line."""


def outcome(evidence: types.Evidence, audit: Sequence[types.Audited]) -> Sentence:
    """How many values the narrowest count is left, and how many were looked at."""
    looked = [each for each in audit if each.narrowest is not None]
    if not looked:
        return Sentence("No count was looked at.", "Of no dataset are ranges of risks given of which one may be small.")
    cells = sum(each.cells for each in audit)
    least = min(looked, key=lambda each: each.narrowest or 0)
    lead = f"Every small count that was looked at keeps {least.narrowest} values or more."
    below = max(dataset.minimum_cell for dataset in evidence.datasets)
    asked = f"{words.counted(cells, 'count')} may be below {below} by the ranges, which are to keep {below} each."
    return Sentence(lead, f"{asked} The narrowest: {_site(evidence, least.dataset)}, {_words(least.at)}.")


def line(evidence: types.Evidence, audit: Sequence[types.Audited]) -> str:
    """The outcome in one line, as it is reported where the dossier is built."""
    found, withheld = outcome(evidence, audit), evidence.disclosure
    lost = 0 if withheld is None else sum(withheld.withheld.values())
    said = f"disclosure: {found.lead} {found.rest} {words.counted(lost, 'result')} withheld. {taken(evidence, audit)}"
    return said.replace(TIED, " ")


def taken(evidence: types.Evidence, audit: Sequence[types.Audited]) -> str:
    """What was taken away of which dataset, for with it a count kept too few values or might have."""
    parts = [f"all but the number of rows of {_site(evidence, each.dataset)}" for each in audit if each.all_taken]
    parts += [
        f"subgroups by {words.listing(each.taken)} of {_site(evidence, each.dataset)}"
        for each in audit
        if each.taken and not each.all_taken
    ]
    return f"Taken away: {words.listing(parts)}." if parts else "Nothing was taken away."


def datasets(evidence: types.Evidence, audit: Sequence[types.Audited]) -> tables.Table:
    """How many counts of each dataset were looked at, the fewest values, and of which count; the narrowest first."""
    order = sorted(audit, key=lambda each: (each.narrowest is None, each.narrowest or 0))
    left_out = len(order) - MOST_DATASETS
    more = f" {words.counted(left_out, 'dataset')} with as many values or more, or none looked at, left out."
    rows = (tables.Row(_site(evidence, each.dataset), _cells(each)) for each in order[:MOST_DATASETS])
    return tables.worded("audit", rows, more=more if left_out > 0 else "")


def _cells(each: types.Audited) -> tuple[tables.Cell, ...]:
    fewest = tables.NOT_COMPUTED if each.narrowest is None else tables.Cell.plain(f"{each.narrowest}")
    return tables.Cell.count(each.cells), fewest, tables.Cell.word(_words(each.at))


def _words(at: types.SmallCount | None) -> str:
    """A count as it is looked for: with or without the outcome, at which risks, in which subgroup."""
    if at is None:
        return "none looked at"
    bounds = f"{threshold(at.low)} or more" if at.high is None else f"{threshold(at.low)} to below {threshold(at.high)}"
    risk = "any risk" if at.high is None and not at.low else f"risk {bounds}"
    group = f", {at.subset.column}: {at.subset.level}" if at.subset else ""
    whom = "followed for less" if at.happened is None else f"{'with' if at.happened else 'without'} the outcome"
    return f"{whom}, {risk}{group}"


def _site(evidence: types.Evidence, name: str) -> str:
    short = widths.shortened([names.label_of(dataset) for dataset in evidence.datasets], WIDEST_NAME)
    return next((label for dataset, label in zip(evidence.datasets, short, strict=True) if dataset.name == name), name)


def withheld(evidence: types.Evidence) -> tables.Table:
    """How many results, curves and statistics are withheld, by the reason, the commonest first."""
    groups = evidence.subgroups
    every: list[Found] = [row.found for row in (*evidence.results, *groups.results)]
    every += [row.found for row in (*evidence.curves, *groups.curves)] + [row.found for row in evidence.withheld]
    kept = (found.reason for found in every if isinstance(found, types.Withheld))
    counts = Counter(words.sentence_case(reasons.why(evidence, reason)) for reason in kept)
    order = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    rest = sum(count for _, count in order[MOST_REASONS:])
    rows = (tables.Row(reason, (tables.Cell.count(count),)) for reason, count in order[:MOST_REASONS])
    return tables.worded("withheld", rows, rest=rest)
