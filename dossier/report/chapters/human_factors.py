"""Whether readers decide better when they see the model."""

from __future__ import annotations

from dataclasses import replace

from dossier.core.types import READER_STUDY, Absent, Curve, Estimate, Evidence, Result, find, find_all, find_curve
from dossier.report.chapters.chapter import chapter, measured
from dossier.report.chapters.sentence import Sentence
from dossier.typeset import names, words
from dossier.typeset.measures import cell
from dossier.typeset.numbers import DASH, TIED, bare, interval, level_of, number, per_cent, short, value_of
from dossier.typeset.tables import Cell, Reasons, Row, Table, worded

MEASURES = (
    *("error_rate_unaided", "error_rate_aided", "absolute_risk_reduction", "number_needed_to_decide"),
    *("relative_risk", "relative_risk_reduction", "odds_ratio"),
)
ADVICE = ("wrong_advice_followed", "right_advice_resisted")
NOTHING = Cell.plain("")


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
    term = evidence.terms["absolute_risk_reduction"]
    reduction = _by_clusters(difference)
    if reduction is None:
        bounds = interval(difference, term, wordy=True)
        ends = f" ({level_of(evidence)}{TIED}CI {bounds})" if bounds else ""
        return Sentence(lead, f"The difference is {value_of(difference, term)}{POINTS}{ends}.")
    bounds = interval(reduction, term, wordy=True)
    value = bare(evidence, "absolute_risk_reduction", difference.value)
    rest = f"The difference is {value}{POINTS} ({level_of(evidence)} interval by readers and cases {bounds}"
    # The other interval of the same gain, which takes the cases as fixed: figure and table of the benefit show it.
    found = find(evidence, "decision_benefit", READER_STUDY)
    bounds = "" if isinstance(found, Absent) else interval(found, evidence.terms["decision_benefit"], wordy=True)
    alone = f"; by readers alone, the cases taken as fixed, {bounds}" if bounds else ""
    return Sentence(lead, f"{rest}{alone}).")


POINTS = f"{TIED}percentage points"
"""What the difference of two shares is in."""


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
    return worded("human-factors", rows, (), reasons.footnotes(), level=level_of(evidence))


def _cells(evidence: Evidence, measure: str, found: Estimate | Absent, reasons: Reasons) -> tuple[Cell, ...]:
    term = evidence.terms[measure]
    if isinstance(found, Absent):
        return (reasons.cell(found), Cell.plain(""), Cell.plain(""))
    clustered = _by_clusters(found)
    own = interval(found, term, wordy=True) or _two_sided(found, "")
    more = interval(clustered, term, wordy=True) if clustered else _two_sided(found, "_clustered")
    return (cell(found, term, reasons), Cell.plain(own or DASH), Cell.plain(more or DASH))


def _two_sided(found: Estimate, kind: str) -> str:
    """The finite ends of an interval that runs through infinity."""
    sides = {"benefit": found.details.get(f"benefit_bound{kind}"), "harm": found.details.get(f"harm_bound{kind}")}
    return ", ".join([f"{number(bound, 1)} to {side}" for side, bound in sides.items() if bound is not None])


def benefit(evidence: Evidence) -> tuple[Table, ...]:
    """The decision benefit over all readers and by group."""
    found = list(find_all(evidence, "decision_benefit"))
    if not any(isinstance(result.found, Estimate) for result in found):
        return ()
    reasons, term = Reasons(evidence), evidence.terms["decision_benefit"]
    rows = []
    for result in found:
        # How many they are, and the mean share of wrong decisions without and with the model.
        cells = [NOTHING] * 3
        if isinstance(result.found, Estimate):
            shares = [1 - (result.found.details[arm] or 0.0) for arm in ("unaided", "aided")]
            cells = [Cell.plain(f"{result.found.n}"), *(Cell.plain(number(100 * share, 1)) for share in shares)]
        cells += [*_changed(evidence, result), cell(result.found, term, reasons, wordy=True)]
        rows.append(Row(_who(result), tuple(cells)))
    return (worded("decision-benefit", rows, (), reasons.footnotes(), level=level_of(evidence)),)


def _changed(evidence: Evidence, result: Result) -> tuple[Cell, Cell]:
    """How many decisions of these readers were corrected and misled, where each decided both ways."""
    changed = find_curve(evidence, "changed_decisions", READER_STUDY)
    if isinstance(changed, Absent):
        return (Cell.plain(DASH), Cell.plain(DASH))
    corrected, misled = (
        changes_of(evidence, changed, kind, result.at.get("group")) for kind in ("corrected", "misled")
    )
    return (Cell.count(corrected), Cell.count(misled))


def changes_of(evidence: Evidence, changed: Curve, kind: str, group: object = None) -> int:
    """How many decisions became so, of all readers or of a group of them."""
    groups = names.groups_of_readers(evidence)
    members = changed.columns.get("group")
    wanted = None if group is None else float(groups.index(str(group)))
    return sum(
        int(count or 0)
        for index, count in enumerate(changed.columns[kind])
        if wanted is None or (members is not None and members[index] == wanted)
    )


def advice(evidence: Evidence) -> tuple[Table, ...]:
    """Automation bias: what became of the decisions that first differed from the advice, over all and by group."""
    found = [result for result in evidence.results if result.measure in ADVICE]
    if not any(isinstance(result.found, Estimate) for result in found):
        return ()
    reasons = Reasons(evidence)
    groups = list(dict.fromkeys(result.at.get("group") for result in found))
    rows: list[Row] = []
    for group in groups:
        here = [result for result in found if result.at.get("group") == group]
        rows += [Row(_who(here[0]), kind="group")] if len(groups) > 1 else []
        rows += [Row(evidence.terms[result.term].label, _followed(evidence, result, reasons)) for result in here]
    level, agreed = level_of(evidence), _agreement(evidence)
    return (worded("automation-bias", rows, (), reasons.footnotes(), level=level, agreement=agreed),)


def _followed(evidence: Evidence, result: Result, reasons: Reasons) -> tuple[Cell, ...]:
    if isinstance(result.found, Absent):
        return (NOTHING, NOTHING, reasons.cell(result.found))
    clustered = _by_clusters(result.found)
    term = evidence.terms[result.term]
    count = Cell.count(int(result.found.details["decisions"] or 0))
    if clustered is None:
        mark = reasons.letter("the interval takes decisions as independent: readers or cases are too few to draw")
        share = cell(result.found, term, reasons)
        return (count, Cell.count(result.found.n), replace(share, interval=f"{share.interval}{TIED}{mark}"))
    return (count, Cell.count(result.found.n), cell(clustered, term, reasons))


def _agreement(evidence: Evidence) -> str:
    """Between which shares the readers decided as the model advises, before and after they saw it."""
    agreed = find_curve(evidence, "agreement_with_advice", READER_STUDY)
    if isinstance(agreed, Absent):
        return ""
    columns = (agreed.columns[arm] for arm in ("unaided", "aided"))
    before, after = (words.span(per_cent, [value for value in column if value is not None]) for column in columns)
    return f"Readers agreed with the model in {before} of their decisions before they saw it, in {after} after."


def _who(result: Result) -> str:
    return words.sentence_case(str(result.at.get("group", "all readers")))


CHAPTER = chapter("human_factors", finding, measured("human_factors"))
