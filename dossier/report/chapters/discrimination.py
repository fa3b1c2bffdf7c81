"""How the model performs at each site: one table whatever the threshold, one at each declared threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dossier.core.types import Absent, At, DatasetSummary, Estimate, Evidence, find, find_all
from dossier.report.chapters import classes
from dossier.report.chapters.chapter import chapter, measured
from dossier.report.chapters.sentence import (
    Sentence,
    default_benefit,
    estimated,
    primary_threshold,
    range_over_sites,
)
from dossier.typeset.measures import cell
from dossier.typeset.names import events_of, measured_label, shown
from dossier.typeset.numbers import TIED, interval, level_of, number, threshold, value_of
from dossier.typeset.tables import NOT_COMPUTED, Cell, Column, Reasons, Row, Table
from dossier.typeset.words import listing, sentence_case


def finding(evidence: Evidence) -> Sentence:
    """The range of the sensitivity at the primary threshold over sites; without one that of the AUROC."""
    if classes.labels(evidence):
        return classes.discrimination(evidence)
    sites = estimated(evidence, "auroc")
    if not sites:
        return Sentence("At no external site can discrimination be estimated.")
    return Sentence(_flagged(evidence) or f"The AUROC {range_over_sites(evidence, 'auroc', sites)}.")


def _flagged(evidence: Evidence) -> str:
    at = primary_threshold(evidence)
    sites = [] if at is None else estimated(evidence, "sensitivity", threshold=at)
    if at is None or not sites:
        return ""
    return f"Sensitivity at{TIED}{threshold(at)} {range_over_sites(evidence, 'sensitivity', sites)}."


# ---- the tables -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Asked:
    """A column of measures: its head, and which measure it holds."""

    head: str
    measure: str


WHATEVER = (
    _Asked("AUROC", "auroc"),
    _Asked("O/E", "oe_ratio"),
    _Asked("Slope", "calibration_slope"),
    _Asked("ICI", "ici"),
)
AT_A_THRESHOLD = (
    _Asked("Sensitivity", "sensitivity"),
    _Asked("Specificity", "specificity"),
    _Asked("PPV", "ppv"),
    _Asked("NPV", "npv"),
)


@dataclass(frozen=True)
class _Against:
    """Whose measures: of the outcome itself, or of one of its classes against the rest."""

    name: str = ""
    """The class; nothing for an outcome of two, or for the mean of the classes."""

    @property
    def at(self) -> At:
        """The setting of its measures."""
        return {"class": self.name} if self.name else {}

    def events(self, dataset: DatasetSummary) -> str:
        """How many had the outcome, or were of the class."""
        return f"{dataset.class_counts.get(self.name, 0):,}" if self.name else events_of(dataset)


def whatever_the_threshold(evidence: Evidence) -> Table:
    """Discrimination and calibration of every dataset that was measured, with the declared results of the owner."""
    labels = classes.labels(evidence)
    reasons = Reasons(evidence)
    rows: list[Row] = []
    if labels:
        rows += [Row("Mean of the classes", kind="group"), *_means(evidence, reasons)]
    for against in [_Against(label) for label in labels] or [_Against()]:
        rows += [Row(f"{against.name} against the rest", kind="group")] if labels else []
        rows += _measured(evidence, against, reasons)
    rows += [
        Row(
            "Declared",
            (
                *(NOT_COMPUTED for _ in range(2)),
                *_cells(evidence, WHATEVER[:1], [result.found], reasons),
                *(NOT_COMPUTED for _ in WHATEVER[1:]),
            ),
        )
        for result in find_all(evidence, "auroc")
        if not result.at and result.dataset in _declared(evidence)
    ]
    return Table(
        name="table-performance",
        title="Whatever the threshold.",
        note=f"Estimate and {level_of(evidence)} interval. ICI: the mean distance between the risk and the calibration "
        f"curve. Every other measure: results.csv.{_declared_note(evidence)}",
        head="Site",
        columns=(
            Column("Patients"),
            Column("In class" if labels else "Events"),
            *(Column(table.head, intervals=True) for table in WHATEVER),
        ),
        rows=tuple(rows),
        footnotes=reasons.footnotes(),
    )


def _means(evidence: Evidence, reasons: Reasons) -> list[Row]:
    """The AUROC of every dataset in the mean over its classes."""
    found = [(dataset, find(evidence, "auroc", dataset.name)) for dataset in shown(evidence)]
    nothing = NOT_COMPUTED
    return [
        Row(
            measured_label(dataset),
            (
                Cell(f"{dataset.n:,}", kind="plain"),
                nothing,
                *_cells(evidence, WHATEVER[:1], [estimate], reasons),
                *(nothing for _ in WHATEVER[1:]),
            ),
        )
        for dataset, estimate in found
        if isinstance(estimate, Estimate) or dataset.role == "external"
    ]


def _measured(evidence: Evidence, against: _Against, reasons: Reasons) -> list[Row]:
    """The rows of one class, or of the outcome: a dataset each; an external one also where it has no number."""
    rows = []
    for dataset in shown(evidence):
        found = [find(evidence, asked.measure, dataset.name, **against.at) for asked in WHATEVER]
        if dataset.role == "external" or any(isinstance(estimate, Estimate) for estimate in found):
            counts = (Cell(f"{dataset.n:,}", kind="plain"), Cell(against.events(dataset), kind="plain"))
            rows.append(Row(measured_label(dataset), (*counts, *_cells(evidence, WHATEVER, found, reasons))))
    return rows


def _declared(evidence: Evidence) -> list[str]:
    """The results that the release declares of datasets that it does not give."""
    return [claim.name for claim in evidence.release.declared_performance]


def _declared_note(evidence: Evidence) -> str:
    """What a declared row is of."""
    names = _declared(evidence)
    return f" Declared: {listing(names)}." if names else ""


def _cells(
    evidence: Evidence, asked: Sequence[_Asked], found: Sequence[Estimate | Absent], reasons: Reasons
) -> list[Cell]:
    return [
        cell(estimate, evidence.terms[column.measure], reasons) for column, estimate in zip(asked, found, strict=True)
    ]


TESTED = ("external", "internal")
"""The datasets that say what flagging gains: not those that the model was made from."""


def at_thresholds(evidence: Evidence) -> tuple[Table, ...]:
    """What is flagged at each declared threshold, and what that gains over the better default; none without one."""
    declared = evidence.release.thresholds.declared
    reasons = Reasons(evidence)
    rows: list[Row] = []
    for index, at in enumerate(declared):
        name = f"threshold{TIED}{threshold(at)}{', primary' if not index else ''}"
        for label in classes.labels(evidence) or ("",):
            settings: At = {"threshold": at, **_Against(label).at}
            here = [(dataset, _at(evidence, dataset.name, settings, reasons)) for dataset in shown(evidence, TESTED)]
            made = [Row(measured_label(dataset), cells) for dataset, cells in here if cells]
            if made:
                rows += [Row(f"{label}, {name}" if label else sentence_case(name), kind="group"), *made]
    if not rows:
        return ()
    return (
        Table(
            name="table-thresholds",
            title="At the declared thresholds." if len(declared) > 1 else "At the declared threshold.",
            note=f"Sensitivity, specificity, PPV and NPV in %; {level_of(evidence)} intervals. Net benefit per 100 "
            "patients; default: the better of flagging everyone or no one. Tinted: the CI of the gain includes 0, "
            "or lies below it.",
            head="Site",
            columns=(
                *(Column(table.head, intervals=True) for table in AT_A_THRESHOLD),
                Column("Model"),
                Column("Default"),
                Column("Gain", intervals=True),
            ),
            rows=tuple(rows),
            footnotes=reasons.footnotes(),
        ),
    )


def _at(evidence: Evidence, dataset: str, setting: At, reasons: Reasons) -> tuple[Cell, ...]:
    """The cells of a dataset at one threshold; none where nothing could be estimated."""
    found = [find(evidence, asked.measure, dataset, **setting) for asked in AT_A_THRESHOLD]
    benefit, gain = (find(evidence, name, dataset, **setting) for name in ("net_benefit", "net_benefit_gain"))
    if not any(isinstance(estimate, Estimate) for estimate in (*found, benefit)):
        return ()
    return (
        *_cells(evidence, AT_A_THRESHOLD, found, reasons),
        *_benefit(evidence, dataset, benefit, reasons),
        _gain(evidence, gain, reasons),
    )


def _benefit(evidence: Evidence, dataset: str, found: Estimate | Absent, reasons: Reasons) -> tuple[Cell, Cell]:
    """The net benefit of the model and of the better default."""
    if isinstance(found, Absent):
        return reasons.cell(found), NOT_COMPUTED
    default = default_benefit(dataset, found)
    of_default = reasons.cell(default) if isinstance(default, Absent) else Cell(number(100 * default, 1), kind="plain")
    return Cell(value_of(found, evidence.terms["net_benefit"])), of_default


def _gain(evidence: Evidence, found: Estimate | Absent, reasons: Reasons) -> Cell:
    if isinstance(found, Absent):
        return reasons.cell(found)
    term = evidence.terms["net_benefit_gain"]
    certain = found.low is not None and found.low > 0
    return Cell(value_of(found, term), interval(found, term, wordy=True), "value" if certain else "alert")


CHAPTER = chapter("discrimination", finding, measured("discrimination"))
