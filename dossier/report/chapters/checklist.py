"""The TRIPOD+AI checklist: what each row asks, and where this dossier answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Literal

from dossier.core import facts, tripod, types
from dossier.report.chapters import abstract, sentence
from dossier.report.chapters.chapter import chapter, is_checked
from dossier.typeset import reasons, tables
from dossier.typeset.words import counted, in_words, listing, sentence_case
from dossier.words import entries

SHORT: Mapping[types.RowStatus, str] = entries("pages")["status"]
KINDS: Mapping[types.RowStatus, Literal["missing", "quiet"]] = {
    "missing": "missing",
    "not_applicable": "quiet",
    "development_only": "quiet",
}
"""How rows are set that nothing answers, and those that ask for nothing here."""
IN_WORDS: tuple[types.RowStatus, ...] = ("declared", "narrative", "stated_none")
"""The statuses of a row that a text of the release may answer, rather than a key of it or the run."""
SEVERAL_SITES: Mapping[str, str] = entries("pages")["several_sites"]
"""What several sites ask beyond TRIPOD+AI, after TRIPOD-Cluster, with the item that answers it."""


@dataclass(frozen=True)
class Line:
    """One row of the checklist as it is printed."""

    item: tripod.Item
    state: types.RowStatus
    status: str
    """The state in a few words, with the reason where it has one."""
    where: str | None
    kind: Literal["row", "missing", "quiet"]
    is_said: bool
    """Whether a text of the release answers it, which is printed as such."""


def finding(evidence: types.Evidence) -> sentence.Sentence:
    """How many of the rows that apply are open, and which."""
    applying = [line for line in lines(evidence) if line.kind != "quiet"]
    open_rows = missing(evidence)
    if not open_rows:
        return sentence.Sentence(f"All {len(applying)} rows that apply are answered.")
    count = sentence_case(in_words(len(open_rows)))
    lead = f"{count} of {counted(len(applying), 'row')} that apply {'is' if len(open_rows) == 1 else 'are'} open"
    if len(open_rows) > 12:
        return sentence.Sentence(f"{lead}.", "They are marked in the table.")
    named = [f"{row.item.number}" for row in open_rows]
    return sentence.Sentence(f"{lead}: {listing(named)}.")


def missing(evidence: types.Evidence) -> list[Line]:
    """The rows that apply and that nothing answers."""
    return [line for line in lines(evidence) if line.kind == "missing"]


def lines(evidence: types.Evidence) -> list[Line]:
    """Every row of the checklist with its status in a few words."""
    items, found = {item.number: item for item in tripod.ITEMS}, []
    for row in evidence.checklist:
        words = SHORT[row.status] + ("" if row.reason is None else f", {reasons.reason_text(row.reason)}")
        is_said = row.item in evidence.statements and row.status in IN_WORDS
        found.append(Line(items[row.item], row.status, words, row.where, KINDS.get(row.status, "row"), is_said))
    return found


def halves(evidence: types.Evidence) -> list[tuple[Line, Line | None]]:
    """The rows that ask for an answer, the first half of them beside the second."""
    asking = [line for line in lines(evidence) if line.kind != "quiet"]
    half = -(-len(asking) // 2)
    return list(zip_longest(asking[:half], asking[half:]))


def quiet(evidence: types.Evidence) -> dict[str, list[Line]]:
    """The rows that ask for nothing here, by why."""
    return facts.gathered((line.status, line) for line in lines(evidence) if line.kind == "quiet")


def table(evidence: types.Evidence, places: Mapping[str, str]) -> tables.Table:
    """Every row by section with where it is answered, as a journal's form asks; `places` says it of each chapter."""
    found, whole = [], abstract.printed_whole(evidence)
    for section, of_section in groupby(lines(evidence), key=lambda line: line.item.section):
        found.append(tables.Row(section, kind="group"))
        for line in of_section:
            where = "abstract" if line.is_said and line.item.number in whole else line.where or ""
            words = (line.item.topic, line.item.asks, line.status, places.get(where, ""))
            found.append(tables.Row(line.item.number, tuple(map(tables.Cell.word, words))))
    return tables.worded("checklist", found, counts=counts(evidence))


def fairness(evidence: types.Evidence) -> list[Line]:
    """The rows in which a report speaks of fairness."""
    return [line for line in lines(evidence) if line.item.fairness]


def several_sites(evidence: types.Evidence) -> list[tuple[str, Line]]:
    """What several sites ask, each with the row that answers it; empty for a single site."""
    if len(types.externals(evidence)) < 2:
        return []
    by_number = {line.item.number: line for line in lines(evidence)}
    return [(asks, by_number[number]) for number, asks in SEVERAL_SITES.items()]


def standing(evidence: types.Evidence) -> tuple[str, bool]:
    """How many rows are open, for the cover, and whether none is."""
    count = len(missing(evidence))
    return (f"{count} open" if count else "complete", not count)


def counts(evidence: types.Evidence) -> str:
    """The rows by how they stand, in one sentence."""
    every = lines(evidence)
    kinds = {"reported": "row", "open": "missing", "not applicable": "quiet"}
    numbers = {word: sum(line.kind == kind for line in every) for word, kind in kinds.items()}
    said = [f"{count} {word}" for word, count in numbers.items() if count]
    return f"{len(every)} rows: {', '.join(said)}."


CHAPTER = chapter("checklist", finding, is_checked)
