"""What results.json holds and no other chapter prints: measures, and curves as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dossier.core import types
from dossier.report.chapters.chapter import chapter
from dossier.report.chapters.sentence import Sentence
from dossier.typeset import measures as in_tables
from dossier.typeset.names import label_of, shown
from dossier.typeset.numbers import number
from dossier.typeset.tables import NOT_COMPUTED, Cell, Column, Row, Table
from dossier.typeset.words import of_curves


def finding(_: types.Evidence) -> Sentence:
    """What stands here."""
    return Sentence("What no other chapter prints.", "None of it is a ground for a judgement on its own.")


def measures(evidence: types.Evidence) -> tuple[Table, ...]:
    """Every measure that no other chapter prints."""
    return in_tables.tables_of(evidence, _terms(evidence))


def _terms(evidence: types.Evidence) -> list[types.Term]:
    elsewhere = (term for term in evidence.terms.values() if term.on_page)
    without = {term.name for term in elsewhere if not in_tables.in_appendix_only(evidence, term)}
    return [term for term in evidence.terms.values() if term.name not in without]


def curves(evidence: types.Evidence) -> list[Table]:
    """The curves that are printed as they are, a row a value at each site."""
    made = (_table(evidence, name, about) for name, about in of_curves("tables").items())
    return [table for table in made if table.rows]


def _table(evidence: types.Evidence, name: str, about: Mapping[str, Any]) -> Table:
    found = {curve.dataset: curve.found for curve in evidence.by_curve[name] if not curve.at}
    places = [(site.name, label_of(site)) for site in shown(evidence)] + [(types.POOLED, "All sites")]
    rows: list[Row] = []
    for dataset, label in places:
        curve = found.get(dataset)
        if isinstance(curve, types.Curve):
            rows.append(Row(label, kind="group"))
            rows += _rows(curve, list(about["columns"]))
    first, *others = about["columns"].items()
    bands = {column for curve in found.values() if isinstance(curve, types.Curve) for column in curve.columns}
    columns = tuple(Column(text, intervals=f"{column}_low" in bands) for column, text in others)
    return Table(f"table-{name.replace('_', '-')}", about["title"], about["note"], first[1], columns, tuple(rows))


def _rows(curve: types.Curve, names: Sequence[str]) -> list[Row]:
    """A row a value of the first column."""
    rows = []
    for index, value in enumerate(curve.columns[names[0]]):
        cells = (_cell(curve, name, index) for name in names[1:])
        rows.append(Row("" if value is None else f"{value:g}", tuple(cells)))
    return rows


def _cell(curve: types.Curve, name: str, index: int) -> Cell:
    value = curve.columns[name][index]
    if value is None:
        return NOT_COMPUTED
    band = [curve.columns[f"{name}_{end}"][index] for end in ("low", "high") if f"{name}_{end}" in curve.columns]
    ends = [number(end) for end in band if end is not None]
    return Cell.count(int(value)) if name == "count" else Cell(number(value), " to ".join(ends), kind="value")


def has_any(evidence: types.Evidence) -> bool:
    """Whether there is anything that no other chapter prints."""
    known = (result for term in _terms(evidence) for result in evidence.by_term[term.name])
    return any(map(in_tables.is_estimated, known)) or bool(curves(evidence))


CHAPTER = chapter("further", finding, has_any)
