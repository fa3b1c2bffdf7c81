"""TRIPOD+AI as a mechanism: who answers each row, whether it is answered, and in which chapter.

A conditional row is three-valued: a text, an explicit none, or silence, which is missing. Nothing is taken for answered
because it would be convenient: a placeholder is silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from dossier.core import facts, tripod, types

TEXTS = "statements"
"""The chapter that prints the declared text of every row."""

PLACEHOLDER = re.compile(
    r"\W*|\W*(tbd|tba|todo|fixme|xxx+|n/?a|placeholder|to be (done|written|completed|added|determined|confirmed))\W*"
    r"|.*\b(TBD|TODO|FIXME|[Ll]orem ipsum)\b.*",
    re.IGNORECASE | re.DOTALL,
)


def is_placeholder(text: str) -> bool:
    """Whether a text says nothing: it is empty, or somebody meant to write it later."""
    return PLACEHOLDER.fullmatch(text.strip()) is not None


def purpose(evidence: types.Evidence) -> str | None:
    """For whom the model is, in the words of the release; None where it says nothing."""
    said = evidence.release.intended_use.for_ or evidence.statements.get("3b", "")
    return None if is_placeholder(said) else said


def rows(evidence: types.Evidence) -> tuple[types.ChecklistRow, ...]:
    """Every row with its status and the chapter that answers it."""
    return tuple(_row(item, evidence) for item in tripod.ITEMS)


def _row(item: tripod.Item, evidence: types.Evidence) -> types.ChecklistRow:
    """A row with its status, and the chapter that holds its answer, if there is one."""
    said = evidence.statements.get(item.number)
    if said is not None and not is_placeholder(said):
        declared = evidence.release.statements.get(item.number)
        if declared is not None and declared.none is not None:
            return types.ChecklistRow(item.number, "stated_none", TEXTS)
        if item.answer == "computed" and _computed(item, evidence) is True:
            return types.ChecklistRow(item.number, "computed", item.where)
        return types.ChecklistRow(item.number, "narrative" if item.answer == "narrative" else "declared", TEXTS)
    # The row of an item of which the release says nothing in words.
    computed = _computed(item, evidence)
    if isinstance(computed, types.Absent):
        return types.ChecklistRow(item.number, "not_applicable", reason=computed.reason)
    if computed:
        return types.ChecklistRow(item.number, "computed" if item.answer == "computed" else "declared", item.where)
    return types.ChecklistRow(item.number, "development_only" if item.applies == "development" else "missing")


def _computed(item: tripod.Item, evidence: types.Evidence) -> bool | types.Absent:
    """Whether the run or a key of the release answers a row; Absent when the row asks for nothing here."""
    answer = ANSWERED_BY.get(item.number)
    return False if answer is None else answer(evidence)


def _estimates(chapter: str) -> Callable[[types.Evidence], bool]:
    """Whether any measure of a chapter could be estimated."""

    def are_there(evidence: types.Evidence) -> bool:
        found = (result for result in evidence.results if evidence.terms[result.term].chapter == chapter)
        return any(isinstance(result.found, types.Estimate) for result in found)

    return are_there


def _pooled(evidence: types.Evidence) -> bool | types.Absent:
    if len(types.externals(evidence)) < 2:
        return types.Absent(facts.Fact("one_external_site"))
    return any(isinstance(result.found, types.Estimate) for result in evidence.by_dataset[types.POOLED])


def _updated(evidence: types.Evidence) -> bool | types.Absent:
    declared = evidence.release.statements.get("12f")
    if evidence.release.updates or declared is None or declared.none is None:
        return bool(evidence.release.updates)
    return types.Absent(facts.Fact("nothing_updated"))


ANSWERED_BY: Mapping[str, Callable[[types.Evidence], bool | types.Absent]] = {
    **dict.fromkeys(("2", "11", "12e", "20a", "21", "23a"), lambda _: True),
    **dict.fromkeys(("1", "3b"), lambda evidence: purpose(evidence) is not None),
    "5b": lambda evidence: all(dataset.dates is not None for dataset in types.externals(evidence)),
    "6a": lambda evidence: all(site.country and site.setting for site in types.externals(evidence)),
    "10": _estimates("sample"),
    "12d": _pooled,
    "12f": lambda evidence: bool(evidence.release.updates),
    "15": lambda evidence: bool(evidence.release.thresholds.declared and evidence.release.thresholds.rationale),
    "16": _estimates("correspondence"),
    "20b": lambda evidence: any(dataset.features for dataset in types.externals(evidence)),
    "20c": lambda evidence: any(dataset.role == "development" for dataset in evidence.datasets),
    "22": lambda evidence: evidence.release.model is not None,
    "23b": _pooled,
    "24": _updated,
    "26": lambda evidence: bool(evidence.flags) and all(flag.reply is not None for flag in evidence.flags),
}
"""The rows that the run, or a key of the release, answers by itself, and when."""
