"""The second page: the tables of the places, or of the classes."""

from __future__ import annotations

from dossier.findings import classes
from dossier.findings.committee.places import local, places
from dossier.findings.committee.plain import LONGEST_NAME, abridged, hundred
from dossier.findings.sentence import estimated, primary_threshold
from dossier.types import NOT_SELECTED, DatasetSummary, Evidence, externals, find
from dossier.typeset.names import events_of, lost_rows
from dossier.typeset.numbers import level_of
from dossier.typeset.tables import Cell, Column, Row, Table
from dossier.typeset.words import counted, dates

MOST_CLASSES = 4
"""Classes of which a table of the committee holds the intervals too."""
LONGEST_LABEL = 32
"""Characters of a place in the table; of a longer name both ends are kept."""


def by_site(evidence: Evidence) -> Table:
    """Each place with its patients, and the model's work there in whole people; ours first."""
    ranked = {site.name: found.value for site, found in estimated(evidence, "auroc")}
    # In the order of the picture above it: the best ranking first, after our own site.
    shown = tuple(
        sorted(places(evidence), key=lambda site: (site.name != evidence.local_site, -ranked.get(site.name, 0.0)))
    )
    known = classes.labels(evidence)
    narrow = len(known) > MOST_CLASSES
    note = "" if narrow else f"After each number: the range that holds the true one, {level_of(evidence)} of the time."
    at = primary_threshold(evidence)
    heads = [Column("Patients")]
    if known:
        heads += [Column(label, intervals=not narrow) for label in known]
    else:
        heads += [Column("With the outcome"), Column("Ranked right, of 100", intervals=True)]
        heads.append(Column("Came, for 100 expected", intervals=True))
        heads += [Column("Found, of 100", intervals=True)] if at is not None else []
    return Table(
        name="table-by-site",
        title="Ranked right, of 100, place by place." if known else "Place by place.",
        note=note,
        head="Place",
        columns=tuple(heads),
        rows=tuple(Row(_label(evidence, site), _cells(evidence, site, at)) for site in shown),
    )


def _label(evidence: Evidence, site: DatasetSummary) -> str:
    """A place as a row names it: both ends of a long name, where that tells it from the others."""
    short_names = [_ends(one.site) for one in externals(evidence)]
    own = _ends(site.site)
    return own if short_names.count(own) == 1 else site.site


def _ends(name: str) -> str:
    cut = 2 * LONGEST_LABEL // 3
    return name if len(name) <= LONGEST_LABEL else f"{name[:cut].rstrip()} … {name[cut + 4 - LONGEST_LABEL :].lstrip()}"


def _cells(evidence: Evidence, site: DatasetSummary, at: float | None) -> tuple[Cell, ...]:
    known = classes.labels(evidence)
    first = Cell(f"{site.n:,}", kind="plain")
    if known:
        return (first, *(hundred(find(evidence, "auroc", site.name, **{"class": label})) for label in known))
    cells = [first, Cell(events_of(site, "0"), kind="plain")]
    cells += [hundred(find(evidence, measure, site.name)) for measure in ("auroc", "oe_ratio")]
    cells += [hundred(find(evidence, "sensitivity", site.name, threshold=at))] if at is not None else []
    return tuple(cells)


def by_class(evidence: Evidence) -> tuple[Table, ...]:
    """For an outcome of several classes: what 1,000 patients are called, and how many of each class came."""
    known = classes.labels(evidence)
    if not known:
        return ()
    narrow = len(known) > MOST_CLASSES
    called = tuple(
        Row(f"Had {one.label}", (Cell(f"{one.count}", kind="plain"), *_called(one)))
        for one in classes.thousand(evidence)
        if len(one.named) == len(known)
    )
    came = tuple(
        Row(
            site.site,
            tuple(hundred(find(evidence, "oe_ratio", site.name, **{"class": label})) for label in known),
        )
        for site in places(evidence)
    )
    tables = (
        Table(
            name="table-called",
            title="What 1,000 patients are called.",
            note="The right answers stand out.",
            head="Class",
            columns=(Column("Patients"), *(Column(f"Called {label}") for label in known)),
            rows=called,
        ),
        Table(
            name="table-came",
            title="Came, for 100 expected, class by class.",
            note="",
            head="Place",
            columns=tuple(Column(label, intervals=not narrow) for label in known),
            rows=came,
        ),
    )
    return tuple(table for table in tables if table.rows)


def _called(one: classes.OfThousand) -> tuple[Cell, ...]:
    return tuple(Cell(f"{count}", kind="value" if label == one.label else "plain") for label, count in one.named)


def accrual(evidence: Evidence) -> str:
    """How many rows our site sent, how many could be counted, and when the patients came."""
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
        else f"{lost:,} of {ours.n + lost:,} could not be counted"
    )
    when = "when they came is not stated" if ours.dates is None else f"they came {dates(ours.dates)}"
    return f"{abridged(ours.site, LONGEST_NAME)} sent {sent}. {kept}; {when}."
