"""What results.json holds and no other chapter prints: measures, and curves as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dossier.core import types
from dossier.core.bands import MANY_SITES
from dossier.report.chapters.chapter import chapter
from dossier.report.chapters.sentence import Sentence
from dossier.typeset import measures as in_tables
from dossier.typeset.names import label_of, shown
from dossier.typeset.numbers import number
from dossier.typeset.tables import NOT_COMPUTED, Cell, Column, Row, Table
from dossier.typeset.words import of_curves, sentence_case


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
    places = {**{site.name: label_of(site) for site in shown(evidence)}, types.POOLED: "All sites"}
    made = (_table(evidence, name, about, places) for name, about in of_curves("tables").items())
    return [table for table in made if table.rows]


def values(evidence: types.Evidence, figure: str) -> Table | None:
    """What a figure of curves draws, as a table for the screen: some rows of each hospital's, of many the first."""
    about = _figures().get(figure)
    # As in the figure: in the bins of few patients single ones would be seen.
    sites = [site for site in types.externals(evidence) if about is None or not (about.get("bins") and site.is_few)]
    places = {site.name: label_of(site) for site in sites[: MANY_SITES - 1]}
    table = None if about is None else _table(evidence, about["curve"], about, places, MOST_ROWS)
    return table if table is not None and table.rows else None


MOST_ROWS = 11
"""Of the values of a figure, of a hospital."""


def _figures() -> Mapping[str, Any]:
    """The figures of curves by their names: the curve of each, its columns, and the words of its table."""
    found = {}
    panels, ridges = of_curves("panels"), of_curves("ridges")
    for ending, kind, lines in (("at_sites", panels, "lines"), ("ridges", ridges, "fills")):
        for name, about in kind.items():
            first = {about["each"]: sentence_case(about["each"])} if "each" in about else {}
            drawn = {line: sentence_case(text) for line, text in about[lines].items()}
            columns = {**first, about["across"]: about["axis"], **drawn}
            found[f"{name}_{ending}"] = {"curve": name, "columns": columns, "bins": kind is ridges}
    return {name: {**VALUES, **about} for name, about in (found | dict(of_curves("values"))).items()}


VALUES = {
    "title": "Values of this figure.",
    "note": f"At most {MOST_ROWS} rows a hospital; results.json has every one.",
}


def _table(
    evidence: types.Evidence, name: str, about: Mapping[str, Any], places: Mapping[str, str], most: int | None = None
) -> Table:
    """A curve by site, with so many rows at most of each, where that is said."""
    found = {curve.dataset: curve.found for curve in evidence.by_curve[name] if not curve.at and curve.subset is None}
    known = {dataset: curve for dataset, curve in found.items() if isinstance(curve, types.Curve)}
    held = {column for curve in known.values() for column in curve.columns}
    first, *others = [each for each in about["columns"].items() if each[0] in held] or about["columns"].items()
    # The ends that are of no column by name are those of the first.
    own = most is not None and not about.get("bins") and {"low", "high"} <= held
    ends = {
        column: ("low", "high") if own and not at else (f"{column}_low", f"{column}_high")
        for at, (column, _) in enumerate(others)
        if (own and not at) or f"{column}_low" in held
    }
    rows: list[Row] = []
    for dataset, label in places.items():
        if dataset in known:
            rows.append(Row(label, kind="group"))
            rows += _rows(known[dataset], first[0], [column for column, _ in others], ends, most)
    columns = tuple(Column(text, intervals=column in ends) for column, text in others)
    return Table(f"table-{name.replace('_', '-')}", about["title"], about["note"], first[1], columns, tuple(rows))


def _rows(
    curve: types.Curve, first: str, names: Sequence[str], ends: Mapping[str, Sequence[str]], most: int | None
) -> list[Row]:
    """A row a value of the first column; of more than so many the first, the last, and those evenly between."""
    known, digits = curve.columns[first], 2 if most is None else 3
    among: Sequence[int] = range(len(known))
    if most is not None and len(known) > most:
        among = [round(step * (len(known) - 1) / (most - 1)) for step in range(most)]
    return [
        Row(
            "" if (value := known[index]) is None else f"{value if most is None else round(value, digits):g}",
            tuple(_cell(curve, name, index, ends.get(name, ()), digits) for name in names),
        )
        for index in among
    ]


def _cell(curve: types.Curve, name: str, index: int, ends: Sequence[str], digits: int) -> Cell:
    value = curve.columns[name][index]
    if value is None:
        return NOT_COMPUTED
    band = [end for column in ends if (end := curve.columns[column][index]) is not None]
    said = " to ".join(number(end, digits) for end in band)
    return Cell.count(int(value)) if name == "count" else Cell(number(value, digits), said, kind="value")


def has_any(evidence: types.Evidence) -> bool:
    """Whether there is anything that no other chapter prints."""
    known = (result for term in _terms(evidence) for result in evidence.by_term[term.name])
    return any(map(in_tables.is_estimated, known)) or bool(curves(evidence))


CHAPTER = chapter("further", finding, has_any)
