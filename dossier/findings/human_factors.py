"""Whether readers decide better when they see the model."""

from __future__ import annotations

from dossier.findings.sentence import Sentence
from dossier.types import READER_STUDY, Absent, Estimate, Evidence, Result, find, find_all
from dossier.typeset.measures import cell
from dossier.typeset.numbers import DASH, TIED, in_text, interval, level_of, number, short
from dossier.typeset.tables import Cell, Column, Reasons, Row, Table
from dossier.typeset.words import sentence_case

MEASURES = (
    "error_rate_unaided",
    "error_rate_aided",
    "absolute_risk_reduction",
    "number_needed_to_decide",
    "relative_risk",
    "relative_risk_reduction",
    "odds_ratio",
)
KINDS = ("confirmed", "corrected", "misled", "unmoved", "followed", "resisted")
MOST_ROWS = 40


def finding(evidence: Evidence) -> Sentence:
    """The error rates with and without the model, and what the difference is once readers and cases are clusters."""
    without = find(evidence, "error_rate_unaided", READER_STUDY)
    aided = find(evidence, "error_rate_aided", READER_STUDY)
    difference = find(evidence, "absolute_risk_reduction", READER_STUDY)
    if isinstance(without, Absent) or isinstance(aided, Absent) or isinstance(difference, Absent):
        return Sentence("Decisions with and without the model cannot be compared.")
    before = short(evidence, "error_rate_unaided", without.value)
    after = short(evidence, "error_rate_aided", aided.value)
    lead = f"Without the model {before} of the decisions were wrong, with it {after}."
    reduction = _by_clusters(difference)
    if reduction is None:
        whole = in_text(evidence, "absolute_risk_reduction", difference)
        return Sentence(lead, f"The difference is {_in_points(whole)}.")
    term = evidence.terms["absolute_risk_reduction"]
    bounds = interval(reduction, term, wordy=True)
    value = short(evidence, "absolute_risk_reduction", difference.value)
    rest = f"The difference is {_in_points(value)} ({level_of(evidence)} interval by readers and cases {bounds})."
    return Sentence(lead, rest)


def _in_points(text: str) -> str:
    """A difference of two shares in percentage points; the signs behind the first belong to its interval."""
    return text.replace("%", f"{TIED}percentage points", 1)


def _by_clusters(found: Estimate) -> Estimate | None:
    """The estimate with the interval by clusters in the place of its own; None where there is none."""
    low, high = found.details.get("low_clustered"), found.details.get("high_clustered")
    if low is None or high is None:
        return None
    return Estimate(found.value, low, high, found.level, found.n, found.method)


def comparison(evidence: Evidence) -> Table:
    """Every measure of the two error rates with the interval of independent decisions and that by clusters."""
    reasons = Reasons(evidence)
    rows: list[Row] = []
    for measure in MEASURES:
        term, found = evidence.terms[measure], find(evidence, measure, READER_STUDY)
        unit = ", %" if term.unit == "%" else ""
        rows.append(Row(f"{term.label}{unit}", _cells(evidence, measure, found, reasons)))
    return Table(
        name="table-human-factors",
        title="Decisions with and without the model.",
        note=f"Value and {level_of(evidence)} interval. Independent: each decision counts as if it stood alone (Wald, "
        "Katz, Woolf). Clustered: bootstrap over readers and cases, to be trusted where a reader decides many cases.",
        head="Measure",
        columns=(Column("Value"), Column("Independent"), Column("Clustered")),
        rows=tuple(rows),
        footnotes=reasons.footnotes(),
    )


def _cells(evidence: Evidence, measure: str, found: Estimate | Absent, reasons: Reasons) -> tuple[Cell, ...]:
    term = evidence.terms[measure]
    if isinstance(found, Absent):
        return (reasons.cell(found), Cell("", kind="plain"), Cell("", kind="plain"))
    clustered = _by_clusters(found)
    own = interval(found, term, wordy=True) or _two_sided(found, "")
    more = interval(clustered, term, wordy=True) if clustered else _two_sided(found, "_clustered")
    return (cell(found, term, reasons), Cell(own or DASH, kind="plain"), Cell(more or DASH, kind="plain"))


def _two_sided(found: Estimate, kind: str) -> str:
    """The finite ends of an interval that runs through infinity."""
    sides = {"benefit": found.details.get(f"benefit_bound{kind}"), "harm": found.details.get(f"harm_bound{kind}")}
    said = [f"{number(bound, 1)} to {side}" for side, bound in sides.items() if bound is not None]
    return ", ".join(said)


def benefit(evidence: Evidence) -> tuple[Table, ...]:
    """The decision benefit over all readers and by group."""
    found = list(find_all(evidence, "decision_benefit"))
    if not any(isinstance(one.found, Estimate) for one in found):
        return ()
    reasons, term = Reasons(evidence), evidence.terms["decision_benefit"]
    rows = tuple(Row(_who(one), (_readers(one), cell(one.found, term, reasons, wordy=True))) for one in found)
    return (
        Table(
            name="table-decision-benefit",
            title="Decision benefit, %.",
            note=f"Accuracy with the model less that without it: mean over readers and {level_of(evidence)} interval "
            "(t, over readers; the cases are taken as fixed).",
            head="Readers",
            columns=(Column("Number"), Column("Benefit", intervals=True)),
            rows=rows,
            footnotes=reasons.footnotes(),
        ),
    )


def _who(result: Result) -> str:
    return sentence_case(str(result.at.get("group", "all readers")))


def _readers(result: Result) -> Cell:
    return Cell(f"{result.found.n}" if isinstance(result.found, Estimate) else "", kind="plain")
