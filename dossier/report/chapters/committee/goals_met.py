"""The goals that were set beforehand, in plain words, and where they were met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from dossier.core.types import POOLED, Criterion, Evidence, State
from dossier.report.chapters import acceptance
from dossier.report.chapters.committee.better import where_the_same_is_better
from dossier.report.chapters.committee.plain import few_named, line
from dossier.typeset import names
from dossier.typeset.numbers import short
from dossier.typeset.tables import Cell, Row, Table, worded
from dossier.typeset.words import sentence_case, within_sentence
from dossier.words import entries

OTHER = "another goal"


def goal_word(evidence: Evidence, measure: str) -> str:
    """What a goal is about, in a word or two."""
    goal = evidence.terms[measure].goal
    return OTHER if goal is None else goal.word


def goals(evidence: Evidence) -> Table | None:
    """Every goal that counts, what it asks, and where it is met."""
    every = acceptance.counted_ones(evidence)
    if not every:
        return None
    rows = []
    for criteria in every:
        # What it is about, with its line and its group of patients.
        criterion = criteria[0]
        term, at = evidence.terms[criterion.measure], criterion.at.get("threshold")
        about = term.label if term.goal is None else term.goal.label
        about += (f", {line(at)}" if isinstance(at, float) else "") + names.by_when(evidence, criterion.at, ", ")
        about += f", {criterion.subset.level} ({within_sentence(criterion.subset.column)})" if criterion.subset else ""
        rows.append(Row(about, (Cell.word(_asked(evidence, criteria)), _standing(evidence, criteria))))
    # When they were set, which do not count, what those ask that weigh, and what same treatment would have passed.
    parts = [acceptance.when(evidence, "set", counted_only=True)]
    if left := len(acceptance.uncounted(evidence)):
        parts.append(f"{'One goal is' if left == 1 else f'{left} goals are'} left out: set too late, or with no date.")
    terms = [evidence.terms[measure] for measure in dict.fromkeys(criteria[0].measure for criteria in every)]
    if any(term.goal is not None and term.goal.weighs for term in terms):
        parts.append("Found, less false alarms: the line says how much a false alarm weighs.")
    parts += [f"{term.label}: {term.sentence}" for term in terms if term.goal is None]
    return worded("goals", rows, note=" ".join(text for text in parts if text))


def _asked(evidence: Evidence, goal: tuple[Criterion, ...]) -> str:
    """What a goal asks, in people, and of whom."""
    criterion = goal[0]
    if criterion.at.get("against") == "previous":
        most = abs(next(bound for bound in (criterion.at_least, criterion.at_most) if bound is not None))
        return f"no worse than the last version by more than {people(evidence, criterion.measure, most)}"
    ends = [
        f"{word} {people(evidence, criterion.measure, bound)}"
        for word, bound in (("at least", criterion.at_least), ("at most", criterion.at_most))
        if bound is not None
    ]
    of_range = "" if criterion.bound == "value" else ", its whole range"
    together = "; all together" if criterion.dataset == POOLED else ""
    return f"{' and '.join(ends)}{of_range}{together}"


def people(evidence: Evidence, measure: str, value: float) -> str:
    """What a goal asks of a measure, in people where it is said of people."""
    goal = evidence.terms[measure].goal
    return short(evidence, measure, value) if goal is None or goal.people is None else f"{goal.people * value:.0f}"


STANDS: Mapping[State, str] = entries("pages")["goals"]
"""How a goal stands."""


def _standing(evidence: Evidence, goal: tuple[Criterion, ...]) -> Cell:
    said = acceptance.verdict(goal)
    ours = next((each for each in goal if each.dataset == evidence.local_site), None)
    here = "" if ours is None else f"; here {STANDS[ours.state]}"
    kind: Literal["alert", "word"] = "alert" if said == "against" else "word"
    if said == "shown":
        return Cell("; but ".join([f"Met{here}", *_better_otherwise(evidence, goal[0])]), kind=kind)
    if goal[0].dataset == POOLED:
        return Cell(sentence_case(STANDS[said]), kind=kind)
    parts, sites = [], {summary.name: summary.site for summary in evidence.datasets}
    for state, word in STANDS.items():
        where = [sites.get(each.dataset, each.dataset) for each in goal if each.state == state]
        if where and state != "shown":
            parts.append(f"{word} in {few_named(where)}")
    return Cell(sentence_case(f"{'; '.join(parts)}{here}"), kind=kind)


def _better_otherwise(evidence: Evidence, goal: Criterion) -> tuple[str, ...]:
    """Of a goal that weighs false alarms, where it is met and the same for all would still be better."""
    term, at = evidence.terms[goal.measure].goal, goal.at.get("threshold")
    if term is None or not term.weighs or not isinstance(at, float):
        return ()
    # Of one's own hospital too a goal is said of all hospitals.
    return where_the_same_is_better(replace(evidence, local_site=None), at)
