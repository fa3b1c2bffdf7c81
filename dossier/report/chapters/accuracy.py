"""How accurate the model is when confidence and the importance of each class count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from dossier.core.types import Estimate, Evidence, Result, find_all
from dossier.report.chapters.chapter import Chapter, any_with_both, measured
from dossier.report.chapters.sentence import Sentence, estimated, range_over_sites
from dossier.typeset.measures import cell, table_across
from dossier.typeset.names import label_of, shown
from dossier.typeset.numbers import level_of, number
from dossier.typeset.tables import Cell, Column, Reasons, Row, Table
from dossier.typeset.words import anchor, sentence_case, setting

EQUAL = "equal"
"""The priority of several classes that all weigh alike."""


def finding(evidence: Evidence) -> Sentence:
    """Balanced H-accuracy over the sites, and how much of it is left when confidence is asked for."""
    places = [result.at for result in find_all(evidence, "h_accuracy")]
    taus = sorted({at["tau"] for at in places if isinstance(at.get("tau"), float)}, key=float)
    if not taus:
        return Sentence("H-accuracy cannot be estimated.")
    even: float | str = EQUAL if evidence.release.outcome.classes else 0.5
    plain = estimated(evidence, "h_accuracy", priority=even, tau=taus[0], complexity="constant")
    strict = estimated(evidence, "h_accuracy", priority=even, tau=taus[-1], complexity="constant")
    if not plain or not strict:
        return Sentence("At no external site can H-accuracy be estimated.")
    which = "all" if evidence.release.outcome.classes else "both"
    return Sentence(
        f"With {which} classes of equal weight, H-accuracy {range_over_sites(evidence, 'h_accuracy', plain)}.",
        f"When full credit asks for a confidence of {setting(taus[-1])}, it "
        f"{range_over_sites(evidence, 'h_accuracy', strict)}.",
    )


def instances(evidence: Evidence) -> tuple[Table, ...]:
    """Confident H-accuracy: all classes alike, rising confidence; prioritized ones are drawn beside it.

    What the raters or the cases' complexity give stands in a table of its own, for the sites that have it.
    """
    plain = [one for one in find_all(evidence, "h_accuracy") if one.at.get("complexity") == "constant"]
    labels = evidence.release.outcome.classes
    even: float | str = EQUAL if labels else 0.5
    words = "all classes" if labels else "both classes"
    confident = [one for one in plain if one.at.get("priority") == even and not isinstance(one.at.get("tau"), str)]
    return (table_across(evidence, confident, "tau", f"Confident H-accuracy, {words} of equal weight"),)


SOURCES_OF_PRIORITY = {
    "prevalence": "prevalence",
    "complement": "1 − prevalence",
    "net_benefit": "net benefit",
    "raters": "raters",
    "survey": "survey",
}


def side_by_side(evidence: Evidence) -> tuple[Table, ...]:
    """The instances of H-accuracy below each other, for every site whose raters or cases say more than a number."""
    return tuple(
        _side_by_side(evidence, site.name, label_of(site))
        for site in shown(evidence)
        if _has_sources(evidence, site.name)
    )


def _has_sources(evidence: Evidence, dataset: str) -> bool:
    """Whether raters or the complexity of the cases gave a value at a site."""
    return any(
        isinstance(one.at.get("tau"), str)
        or one.at.get("complexity") != "constant"
        or one.at.get("priority") == "raters"
        for one in find_all(evidence, "h_accuracy")
        if one.dataset == dataset and isinstance(one.found, Estimate)
    )


def _side_by_side(evidence: Evidence, dataset: str, label: str) -> Table:
    """One row an instance, with the priority, the confidence and the complexity that it rests on."""
    found = [one for one in find_all(evidence, "h_accuracy") if one.dataset == dataset]
    reasons, term = Reasons(evidence), evidence.terms["h_accuracy"]
    rows: list[Row] = []
    for kind, members in _kinds(found).items():
        if members:
            rows.append(Row(KINDS[kind], kind="group"))
        rows += [Row(_instance(one, kind), (cell(one.found, term, reasons), *_settings(one))) for one in members]
    return Table(
        name=anchor(f"table-h-accuracy-instances-{dataset}"),
        title=f"Instances of H-accuracy side by side, {label}.",
        note=f"Value and {level_of(evidence)} interval, with the priority of the outcome, the confidence that earns "
        "full credit, and from which complexity on a case counts. All three are taken as fixed.",
        head="Instance",
        columns=(
            Column("H-accuracy", intervals=True),
            Column("Priority"),
            Column("Confidence"),
            Column("Complexity", words=True),
        ),
        rows=tuple(rows),
        footnotes=reasons.footnotes(),
    )


Kind = Literal["balanced", "prioritized", "confident", "practical"]
"""What sets an instance of H-accuracy apart: nothing, the priority, the confidence or the complexity."""
KINDS: Mapping[Kind, str] = {
    "balanced": "Balanced",
    "prioritized": "Prioritized",
    "confident": "Confident, by the raters",
    "practical": "Practical",
}


def _kinds(found: Sequence[Result]) -> dict[Kind, list[Result]]:
    """The instances by their kind; those that join several settings stand in results.csv."""
    plain = [one for one in found if one.at.get("complexity") == "constant"]
    graded = [one for one in found if one.at.get("complexity") != "constant"]
    even = [one for one in plain if one.at.get("priority") == 0.5]
    sources = [one for one in plain if one.at.get("tau") == 0.5 and isinstance(one.at.get("priority"), str)]
    return {
        "balanced": [one for one in even if one.at.get("tau") == 0.5],
        "prioritized": sources,
        "confident": [one for one in even if isinstance(one.at.get("tau"), str)],
        "practical": [one for one in graded if (one.at.get("priority"), one.at.get("tau")) == (0.5, 0.5)],
    }


def _instance(result: Result, kind: Kind) -> str:
    """What tells an instance from the others of its kind."""
    if kind == "balanced":
        return "Both classes alike"
    if kind == "prioritized":
        priority = str(result.at["priority"])
        return f"Priority from {SOURCES_OF_PRIORITY.get(priority, priority)}"
    return sentence_case(setting(result.at["tau" if kind == "confident" else "complexity"]))


def _settings(result: Result) -> tuple[Cell, ...]:
    """The priority and the confidence as numbers, and the complexity in words."""
    details = result.found.details if isinstance(result.found, Estimate) else {}
    cells = []
    for name in ("priority", "tau"):
        given = result.at.get(name)
        value = details.get(name) if isinstance(given, str) else given
        cells.append(Cell(number(value) if isinstance(value, float) else "", kind="plain"))
    cut = details.get("cut")
    complexity = str(result.at.get("complexity", "constant"))
    text = "all alike" if complexity == "constant" else "as graded" if cut is None else f"from {number(cut)}"
    return (*cells, Cell(text, kind="word"))


CHAPTER = Chapter(
    "accuracy",
    "H-accuracy",
    finding,
    part="Annex",
    has=measured("accuracy"),
    fill="Give an outcome with both classes at a site.",
    fill_of_classes="Give rows of every class at a site.",
    is_given=any_with_both,
)
