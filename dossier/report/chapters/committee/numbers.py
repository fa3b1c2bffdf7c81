"""The second page: the numbers of each hospital with their ranges."""

from __future__ import annotations

from dossier.core import bands, binding, claims
from dossier.core.types import NOT_SELECTED, Absent, DatasetSummary, Evidence, find
from dossier.report.chapters import classes
from dossier.report.chapters.committee.missed import of_missed
from dossier.report.chapters.committee.places import alone, listed, local, ordered
from dossier.report.chapters.committee.plain import hundred, line, missing, with_it
from dossier.typeset.names import events_of, lost_rows, told_apart
from dossier.typeset.numbers import TIED, level_of
from dossier.typeset.tables import Cell, Column, Row, Table, worded
from dossier.typeset.words import counted, dates, sentence_case

MOST_CLASSES = 4
"""Classes of which a table holds the ranges too."""


def by_site(evidence: Evidence) -> Table:
    """Each hospital with its patients and the model's work there, each number with its range; ours first."""
    known = classes.labels(evidence)
    narrow = len(known) > MOST_CLASSES
    at = evidence.release.thresholds.primary
    shown = listed(evidence)
    left = len(ordered(evidence)) - len(shown)
    notes = ["" if narrow else ranges_are(evidence)]
    notes += [] if known or at is None else [f"Found and false alarms: at the {line(at)}."]
    least, most = (f"{100 * bound:.0f}" for bound in bands.OE_TOLERATED)
    is_close = not known and any(claim.state == "shown" for claim in claims.about(evidence, "calibration"))
    notes += [f"Close: {least} to {most} cases per 100 predicted."] if is_close else []
    notes += [f"{left:,} more: full report, by name."] if left else []
    heads = [Column("Patients")]
    if known:
        heads += [Column(label, intervals=not narrow) for label in known]
    else:
        told = sentence_case(told_apart(evidence))
        heads += [Column(sentence_case(with_it(evidence))), Column(f"{told}, of{TIED}100", intervals=True)]
        heads.append(Column(f"Actual cases per{TIED}100 predicted", intervals=True))
        found = (f"Found, of{TIED}100", f"False alarms, of{TIED}100") if at else ()
        heads += [Column(label, intervals=True) for label in found]
    # The first page says what the mark means.
    turned = binding.turning(evidence)
    rows = [Row(f"{site.site}{f'{TIED}¶' * (site in turned)}", _cells(evidence, site, at)) for site in shown]
    # Where the maker says in which settings the patients were, they may be times of one hospital, or a study.
    said, is_set = " ".join(text for text in notes if text), len(shown) > 1 and any(site.setting for site in shown)
    return worded("by-site", rows, heads, known=known, note=said, several=is_set)


def ranges_are(evidence: Evidence) -> str:
    """What a range is."""
    return (
        f"After each number: its range, made so that in {level_of(evidence)} of tests it holds the true number. "
        "A wide range means few patients."
    )


def _cells(evidence: Evidence, site: DatasetSummary, at: float | None) -> tuple[Cell, ...]:
    known = classes.labels(evidence)
    first = Cell.count(site.n)
    if known:
        return (first, *(hundred(find(evidence, "auroc", site.name, **{"class": label})) for label in known))
    cells = [first, Cell.plain(events_of(site, "0"))]
    cells += [hundred(find(evidence, name, site.name), name == "oe_ratio") for name in ("auroc", "oe_ratio")]
    if at is not None:
        cells.append(hundred(find(evidence, "sensitivity", site.name, threshold=at)))
        spared = find(evidence, "specificity", site.name, threshold=at)
        cells.append(missing(spared) if isinstance(spared, Absent) else of_missed(spared))
    return tuple(cells)


def by_class(evidence: Evidence) -> tuple[Table, ...]:
    """For an outcome of several classes: what patients are called at the one hospital, and how many came of each."""
    known = classes.labels(evidence)
    if not known:
        return ()
    narrow = len(known) > MOST_CLASSES
    site = alone(evidence)
    called = () if site is None else classes.called(evidence, site)
    came = []
    for dataset in ordered(evidence):
        ratios = [find(evidence, "oe_ratio", dataset.name, **classes.at(label)) for label in known]
        came.append(Row(dataset.site, tuple(hundred(ratio, is_ratio=True) for ratio in ratios)))
    rows = []
    for each in called:
        cells = [Cell(f"{n:,}") if label == each.label else Cell.count(n) for label, n in each.named]
        rows.append(Row(each.label, (Cell.count(each.count), *cells)))
    tables = (
        worded("called", rows, [Column(f"Called {label}") for label in known]),
        worded("came", came, [Column(label, intervals=not narrow) for label in known]),
    )
    return tuple(table for table in tables if table.rows)


def accrual(evidence: Evidence) -> str:
    """How many patients our hospital sent, how many could be counted, and when they came."""
    ours = local(evidence)
    if ours is None:
        return ""
    lost, least = lost_rows([ours], NOT_SELECTED)
    sent = f"{counted(ours.n, 'patient')} or more" if least else counted(ours.n + lost, "patient")
    kept = (
        f"{ours.n:,} could be counted"
        if least
        else f"All {ours.n:,} could be counted"
        if not lost
        else f"{lost:,} of them are missing from the test"
    )
    when = "When they came is not stated." if ours.dates is None else f"When they came: {dates(ours.dates)}."
    return f"{ours.site} sent {sent}. {kept}. {when}"
