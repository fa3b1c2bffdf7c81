"""How the model performs at each site: one table whatever the threshold, one at each declared threshold."""

from __future__ import annotations

from collections.abc import Sequence

from dossier.core import facts, multiplicity
from dossier.core.types import POOLED, Absent, At, Estimate, Evidence, find, find_all
from dossier.report.chapters import classes, sentence
from dossier.report.chapters.chapter import chapter, measured
from dossier.typeset.measures import cell
from dossier.typeset.names import by_when, events_of, measured_label, shown, with_few_beside
from dossier.typeset.numbers import TIED, interval, level_of, number, threshold, value_of
from dossier.typeset.tables import NOT_COMPUTED, Cell, Reasons, Row, Table, worded
from dossier.typeset.words import listing, sentence_case


def finding(evidence: Evidence) -> sentence.Sentence:
    """The range of the sensitivity at the primary threshold over sites; without one, or of several classes, that of the
    AUROC.
    """
    sites, several = sentence.estimated(evidence, "auroc"), bool(classes.labels(evidence))
    if not sites:
        how = "averaged over the classes" if several else "estimated"
        return sentence.Sentence(f"At no external site can discrimination be {how}.")
    averaged = ", one class against the rest and averaged," if several else ""
    flagged = "" if several else _flagged(evidence)
    return sentence.Sentence(flagged or f"The AUROC{averaged} {sentence.over_sites(evidence, 'auroc', sites)}.")


def _flagged(evidence: Evidence) -> str:
    at = evidence.release.thresholds.primary
    sites = [] if at is None else sentence.estimated(evidence, "sensitivity", threshold=at)
    if at is None or not sites:
        return ""
    return f"Sensitivity at{TIED}{threshold(at)} {sentence.over_sites(evidence, 'sensitivity', sites, threshold=at)}."


# ---- the tables -----------------------------------------------------------------------------------------------------


WHATEVER = ("auroc", "oe_ratio", "calibration_slope", "ici")
AT_A_THRESHOLD = ("sensitivity", "specificity", "ppv", "npv")
"""The measures of each table, in the order of its columns."""


def whatever_the_threshold(evidence: Evidence) -> Table:
    """Discrimination and calibration of every dataset that was measured, with the declared results of the owner."""
    labels = classes.labels(evidence)
    reasons = Reasons(evidence)
    rows: list[Row] = []
    if labels:
        rows += [Row("Mean of the classes", kind="group"), *_measured(evidence, None, reasons)]
    for label in labels or ("",):
        rows += [Row(f"{label} against the rest", kind="group")] if labels else []
        rows += _measured(evidence, label, reasons)
    nothing, declared = NOT_COMPUTED, [claim.name for claim in evidence.release.declared_performance]
    rows += [
        Row("Declared", (nothing, nothing, *_cells(evidence, WHATEVER[:1], [result.found], reasons), *(nothing,) * 3))
        for result in find_all(evidence, "auroc")
        if not result.at and result.dataset in declared
    ]
    level, said, splits = level_of(evidence), listing(declared), any(each.splits for each in shown(evidence))
    kept = reasons.footnotes()
    return worded("performance", rows, (), kept, level=level, labels=labels, declared=said, splits=splits)


def by_horizon(evidence: Evidence) -> Table | None:
    """Discrimination and calibration by each horizon of the release, site by site and pooled; None where it has one."""
    horizons, reasons = evidence.release.horizon, Reasons(evidence)
    if len(horizons) < 2:
        return None
    rows: list[Row] = []
    asked, pooled = ("observed_risk", *WHATEVER), (POOLED, "All, pooled")
    rivals = evidence.release.rivals_by_any_horizon
    models: dict[str, At] = {"": {}, **{name: {"model": name} for name in rivals}}
    for index, horizon in enumerate(horizons):
        rows.append(Row(sentence_case(by_when(evidence, {"horizon": horizon.at}, "")), kind="group"))
        at: At = {"horizon": horizon.at} if index else {}
        for name, label in (*((dataset.name, measured_label(dataset)) for dataset in shown(evidence)), pooled):
            for model, whose in models.items():
                found = [find(evidence, measure, name, **at, **whose) for measure in asked]
                if (name != POOLED and not model) or any(isinstance(estimate, Estimate) for estimate in found):
                    rows.append(Row(model or label, tuple(_cells(evidence, asked, found, reasons, "not_computed"))))
    return worded("by_horizon", rows, (), reasons.footnotes(), level=level_of(evidence), rivals=bool(rivals))


def _measured(evidence: Evidence, label: str | None, reasons: Reasons) -> list[Row]:
    """The rows of one class, of the outcome, or of the mean of the classes, which has an AUROC only: a dataset each.

    An external one has its row also where it has no number.
    """
    rows, measures = [], WHATEVER[:1] if label is None else WHATEVER
    for dataset in shown(evidence):
        found = [find(evidence, measure, dataset.name, **classes.at(label)) for measure in measures]
        if dataset.role == "external" or any(isinstance(estimate, Estimate) for estimate in found):
            events = f"{dataset.class_counts.get(label, 0):,}" if label else events_of(dataset)
            cells = [Cell.count(dataset.n), NOT_COMPUTED if label is None else Cell.plain(events)]
            cells += [*_cells(evidence, measures, found, reasons), *(NOT_COMPUTED,) * (len(WHATEVER) - len(found))]
            rows.append(Row(measured_label(dataset), tuple(cells)))
    return rows


def _cells(
    evidence: Evidence, measures: Sequence[str], found: Sequence[Estimate | Absent], reasons: Reasons, empty: str = ""
) -> list[Cell]:
    """The cells of measures; one that is absent for the reason `empty` has no word."""
    pairs = zip(measures, found, strict=True)
    are_empty = [isinstance(each, Absent) and each.reason.code == empty for each in found]
    made = zip(are_empty, pairs, strict=True)
    return [NOT_COMPUTED if is_empty else cell(each, evidence.terms[name], reasons) for is_empty, (name, each) in made]


TESTED = ("external", "internal")
"""The datasets that say what flagging gains: not those that the model was made from."""


def at_thresholds(evidence: Evidence) -> tuple[Table, ...]:
    """What is flagged at each declared threshold, and what that gains over the better default; none without one."""
    further = [(at, {"horizon": by.at}) for by in evidence.release.horizon[1:] for at in by.thresholds.declared]
    every = [*((at, dict[str, float]()) for at in evidence.release.thresholds.declared), *further]
    declared, reasons = [at for at, _ in every], Reasons(evidence)
    rows: list[Row] = []
    for index, (at, by) in enumerate(every):
        name = (
            f"threshold{TIED}{threshold(at)}{by_when(evidence, by, ', ')}{', primary' if not index and not by else ''}"
        )
        for label in classes.labels(evidence) or ("",):
            settings: At = {"threshold": at, **by, **classes.at(label)}
            here = [(dataset, _at(evidence, dataset.name, settings, reasons)) for dataset in shown(evidence, TESTED)]
            if made := [Row(measured_label(dataset), cells) for dataset, cells in here if cells]:
                rows += [Row(f"{label}, {name}" if label else sentence_case(name), kind="group"), *made]
    if not rows:
        return ()
    few, level = with_few_beside(evidence), level_of(evidence)
    return (worded("thresholds", rows, (), reasons.footnotes(), level=level, declared=declared, few=few),)


def _at(evidence: Evidence, dataset: str, setting: At, reasons: Reasons) -> tuple[Cell, ...]:
    """The cells of a dataset at one threshold; none where nothing could be estimated."""
    found = [find(evidence, measure, dataset, **setting) for measure in AT_A_THRESHOLD]
    benefit, gain = (find(evidence, name, dataset, **setting) for name in ("net_benefit", "net_benefit_gain"))
    if not any(isinstance(estimate, Estimate) for estimate in (*found, benefit)):
        return ()
    cells = _cells(evidence, AT_A_THRESHOLD, found, reasons)
    # The net benefit of the model and of the better default, and the gain.
    if isinstance(benefit, Absent):
        cells += [reasons.cell(benefit), NOT_COMPUTED]
    else:
        everyone = benefit.details.get("treat_all")
        cells.append(Cell(value_of(benefit, evidence.terms["net_benefit"])))
        if everyone is not None:
            cells.append(Cell.plain(number(100 * max(everyone, 0.0), 1)))
        elif isinstance(gain, Estimate) and gain.method.has("mean_over_splits"):
            # What the model has in the mean of the splits without its gain is the mean of their defaults.
            cells.append(Cell.plain(number(100 * (benefit.value - gain.value), 1)))
        else:
            missing = "net benefit of the better default"
            cells.append(reasons.cell(Absent(facts.Fact("not_computed", measure=missing, dataset=dataset))))
    if isinstance(gain, Absent):
        return (*cells, reasons.cell(gain))
    term, is_worse = evidence.terms["net_benefit_gain"], multiplicity.gain(gain) == "against"
    return (*cells, Cell(value_of(gain, term), interval(gain, term, wordy=True), "alert" if is_worse else "value"))


CHAPTER = chapter("discrimination", finding, measured("discrimination"))
