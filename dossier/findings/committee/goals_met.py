"""The goals that were set beforehand, and where they were met."""

from __future__ import annotations

from dossier.findings import acceptance
from dossier.findings.committee.plain import few_named
from dossier.types import POOLED, Criterion, Evidence
from dossier.typeset.numbers import short
from dossier.typeset.tables import Cell, Column, Row, Table
from dossier.typeset.words import sentence_case

GOALS = {
    "auroc": "Ranked right, of 100",
    "oe_ratio": "Came, for 100 expected",
    "net_benefit": "Net benefit, per 1,000",
    "net_benefit_gain": "Gain, per 1,000",
    "sensitivity": "Found, of 100",
    "specificity": "Left alone, of 100",
}
"""What a measure of a goal is called here; any other keeps its label, and is explained on the last page."""
GOAL_WORDS = {
    "auroc": "ranking",
    "oe_ratio": "risks",
    "net_benefit": "net benefit",
    "net_benefit_gain": "gain",
    "sensitivity": "found",
    "specificity": "left alone",
}
PEOPLE = {measure: 1000 if "net_benefit" in measure else 100 for measure in GOALS}


def goal(evidence: Evidence, one: Criterion) -> str:
    """What a goal is about, in plain words."""
    label = GOALS.get(one.measure, evidence.terms[one.measure].label)
    return f"{label}, {one.subset}" if one.subset else label


def _asked(evidence: Evidence, one: Criterion) -> str:
    """What a goal asks, in people."""
    ends = [
        f"{word} {_people(evidence, one.measure, bound)}"
        for word, bound in (("at least", one.at_least), ("at most", one.at_most))
        if bound is not None
    ]
    where = {"low": ", at the low end of the range", "high": ", at the high end of the range", "value": ""}
    return f"{' and '.join(ends)}{where[one.bound]}"


def _people(evidence: Evidence, measure: str, value: float) -> str:
    return f"{PEOPLE[measure] * value:.0f}" if measure in PEOPLE else short(evidence, measure, value)


def goals(evidence: Evidence) -> Table | None:
    """Every goal, and where it is met."""
    every = acceptance.declared(evidence)
    if not every:
        return None
    rows = []
    for one in every:
        first = one[0]
        dataset = evidence.release.acceptance[first.number - 1].dataset
        where = (
            "each place"
            if dataset == "each external"
            else "all together"
            if dataset == POOLED
            else _site(evidence, dataset)
        )
        rows.append(
            Row(
                goal(evidence, first),
                (
                    Cell(f"{_asked(evidence, first)}; {where}", kind="word"),
                    _standing(evidence, one),
                ),
            )
        )
    return Table(
        name="table-goals",
        title="Goals.",
        note=acceptance.when(evidence, "set"),
        head="Goal",
        columns=(Column("Asked", words=True), Column("How it stands", words=True)),
        rows=tuple(rows),
    )


def _site(evidence: Evidence, dataset: str) -> str:
    return next((one.site for one in evidence.datasets if one.name == dataset), dataset)


def _standing(evidence: Evidence, one: tuple[Criterion, ...]) -> Cell:
    said = acceptance.verdict(one)
    ours = next((each for each in one if each.dataset == evidence.local_site), None)
    here = "" if ours is None else f"; here {'met' if ours.met else 'not met' if ours.met is False else 'not known'}"
    text = "not known" if said == acceptance.NOT_ESTIMABLE else said
    if len(one) > 1 and said != acceptance.MET:
        wanted = False if said == acceptance.NOT_MET else None
        failing = [_site(evidence, each.dataset) for each in one if each.met is wanted]
        text = f"{text} in {few_named(failing)}"
    return Cell(sentence_case(f"{text}{here}"), kind="word" if said == acceptance.MET else "alert")
