"""The third page: the groups of patients, and how far they differ."""

from __future__ import annotations

from dataclasses import replace

from dossier.bands import FEW_FOR_POOLING as VERY_FEW
from dossier.findings import classes, subgroups
from dossier.findings.committee.answers import by_chance, groups_apart, over_all_places
from dossier.findings.committee.places import is_here
from dossier.findings.committee.plain import LONGEST_NAME, abridged, counted_places, hundred
from dossier.types import (
    POOLED,
    Absent,
    Estimate,
    Evidence,
    SubgroupSize,
    Subset,
    externals,
    find_in_subgroup,
    subgroup_sizes,
    summary_of,
)
from dossier.typeset.numbers import is_telling
from dossier.typeset.tables import Cell, Column, Row, Table
from dossier.typeset.words import counted, in_words, listing, sentence_case, within_sentence

MOST_GROUPS = 8
"""Groups of patients in the table."""


def differing_groups(evidence: Evidence) -> str:
    """For which groups the model does otherwise than for the rest of the same place."""
    found, together = groups_apart(evidence, MOST_GROUPS), over_all_places(evidence)
    if not subgroups.is_declared(evidence):
        return "Groups of patients, such as women and men, were not looked at one by one."
    if not any(
        is_here(one.dataset, evidence) and isinstance(one.size, SubgroupSize) for one in evidence.subgroups.summaries
    ):
        return "The data of this place do not tell the groups apart."
    made = len(subgroups.compared(evidence, evidence.local_site))
    if not made:
        return f"{together} No group could be compared with the rest of its place: too few patients.".strip()
    if not found:
        return (
            f"{together} {sentence_case(counted(made, 'comparison'))} of a group with the rest of its place "
            f"{'was' if made == 1 else 'were'} made: none differs beyond chance. Small numbers may hide a difference."
        ).strip()
    return (f"{together} " if together else "") + (
        f"Beside the other patients of the same place, {found}. "
        f"{sentence_case(by_chance(evidence))}: one such group is a reason to look again, no more."
    )


def groups(evidence: Evidence) -> Table | None:
    """Each group of patients at our site, the only one, or all together: how many, and how well they are ranked."""
    sites = externals(evidence)
    where = evidence.local_site or (sites[0].name if len(sites) == 1 else POOLED)
    several = bool(classes.labels(evidence))
    known = _groups_here(evidence)
    rows: list[Row] = []
    left_out = False
    for (column, label), sizes in list(known.items())[:MOST_GROUPS]:
        size = subgroups.together(sizes)
        cells = [Cell(f"{size.n:,}", kind="plain"), Cell(f"{size.shown:,}", kind="plain")]
        for measure in ("auroc",) if several else ("auroc", "oe_ratio"):
            found = find_in_subgroup(evidence, Subset(column, label), measure, where)
            left_out = left_out or (several and isinstance(found, Estimate) and found.n < size.n)
            # Of two classes all places are added up, however few patients of the group each has.
            is_few = all(map(subgroups.is_few, sizes)) if several else subgroups.is_few(size)
            cells.append(_of_group(found, where, is_few))
        rows.append(Row(f"{sentence_case(label)} ({within_sentence(column)})", tuple(cells)))
    if not rows:
        return None
    columns = (
        Column("Patients"),
        Column("In the least common class" if several else "With the outcome"),
        Column("Ranked right, of 100", intervals=True),
        *(() if several else (Column("Came, for 100 expected", intervals=True),)),
    )
    what = "of a class" if several else "with, or without, the outcome"
    texts = {cell.text for row in rows for cell in row.cells[2:] if cell.kind == "absent"}
    each = " at every place" if where == POOLED and several else ""
    notes = [f"Too few: under {VERY_FEW} patients {what}{each}."] if TOO_FEW in texts else []
    if NOT_ADDED in texts:
        notes.append(
            "Not added up: too few places have enough of the group; the dossier has its numbers place by place, under "
            "Subgroups."
        )
    if left_out and where == POOLED:
        notes.append(
            f"Places with under {VERY_FEW} of the group {what} are counted here, and left out of what is added up."
        )
    if all(cell.kind == "absent" for row in rows for cell in row.cells[2:]):
        rows, columns = [replace(row, cells=row.cells[:2]) for row in rows], columns[:2]
        few = f"in no group are there {VERY_FEW} patients with and without the outcome, or of each class, at one place"
        notes = [sentence_case(f"{few}.")] if texts == {TOO_FEW} else [WITHOUT_VALUES]
    notes.append(_known_at(evidence))
    if len(known) > MOST_GROUPS:
        notes.append(
            f"{sentence_case(in_words(len(known) - MOST_GROUPS))} more groups stand in the dossier, under Subgroups."
        )
    place = "all places together" if where == POOLED else abridged(summary_of(evidence, where).site, LONGEST_NAME)
    return Table(
        name="table-groups",
        title=f"Groups of patients, {place}.",
        note=" ".join(note for note in notes if note),
        head="Group",
        columns=columns,
        rows=tuple(rows),
    )


TOO_FEW, NOT_ADDED = "too few", "not added up"
WITHOUT_VALUES = (
    "Too few places have enough of a group for its numbers to be added up. The dossier has them place by place, under "
    "Subgroups."
)
"""What stands above the groups where none has a value for all places together, though some have one at a place."""


def _groups_here(evidence: Evidence) -> dict[tuple[str, str], list[SubgroupSize]]:
    """The sizes of each group at our place, or at all of them, by column and label."""
    sizes: dict[tuple[str, str], list[SubgroupSize]] = {}
    for one in evidence.subgroups.summaries:
        if isinstance(one.size, SubgroupSize) and is_here(one.dataset, evidence):
            sizes.setdefault((one.column, one.label), []).append(one.size)
    return sizes


def _of_group(found: Estimate | Absent, where: str, few: bool) -> Cell:
    """A value of a group, where enough places are added up: the range over two of them holds nearly everything."""
    if few:
        return Cell(TOO_FEW, kind="absent")
    if where != POOLED:
        return hundred(found)
    enough = isinstance(found, Estimate) and is_telling(found)
    return hundred(found) if enough else Cell(NOT_ADDED, kind="absent")


def _known_at(evidence: Evidence) -> str:
    """At how many places, and of how many patients, the groups are known, where this is not at all of them."""
    sites = [site for site in externals(evidence) if is_here(site.name, evidence)]
    among = sum(site.n for site in sites)
    told: dict[str, list[str]] = {}
    for column in dict.fromkeys(one.column for one in evidence.subgroups.summaries):
        sizes = {site.name: subgroup_sizes(evidence, column, site.name) for site in sites}
        count = sum(bool(known) for known in sizes.values())
        if 0 < count < len(sites):
            patients = sum(size.n for known in sizes.values() for size in known.values())
            places_known = (
                f"{in_words(count)} of {counted_places(len(sites))} ({patients:,} of {counted(among, 'patient')})"
            )
            told.setdefault(places_known, []).append(within_sentence(column))
    known_at = [f"{listing(columns)} at {places_known}" for places_known, columns in told.items()]
    return f"Known are {'; '.join(known_at)}." if known_at else ""
