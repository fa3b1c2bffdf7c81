"""What results.json holds and no other chapter prints: measures, and curves as tables."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dossier.core import types
from dossier.core.bands import MANY_SITES, SMALLEST_GROUP
from dossier.report.chapters.chapter import chapter
from dossier.report.chapters.sentence import Sentence
from dossier.typeset import measures as in_tables
from dossier.typeset.names import label_of, shown
from dossier.typeset.numbers import number
from dossier.typeset.tables import NOT_COMPUTED, Cell, Column, Row, Table
from dossier.typeset.words import of_curves, period, sentence_case
from dossier.words import entries


def finding(_: types.Evidence) -> Sentence:
    """What stands here."""
    return Sentence(
        "What the other chapters leave out, in part or whole.", "None of it is a ground for a judgement on its own."
    )


def measures(evidence: types.Evidence) -> tuple[Table, ...]:
    """Every measure that no other chapter prints."""
    return in_tables.tables_of(evidence, _terms(evidence))


def _terms(evidence: types.Evidence) -> list[types.Term]:
    return [term for term in evidence.terms.values() if not term.on_page or in_tables.in_appendix_only(evidence, term)]


def curves(evidence: types.Evidence) -> list[Table]:
    """The curves that are printed as they are, a row a value at each site."""
    places = {**{site.name: label_of(site) for site in shown(evidence)}, types.POOLED: "All sites"}
    made = (_table(evidence, name, about, places) for name, about in of_curves("tables").items())
    return [table for table in made if table.rows]


def values(evidence: types.Evidence, figure: str) -> list[Table]:
    """What a figure draws, as tables for the screen: rows of each hospital's curve, or what a chapter makes of it."""
    made: list[Table] = []
    for about in _figures().get(figure, ()):
        # As in the figure: in the bins of few patients single ones would be seen; of many hospitals the first.
        sites = [site for site in types.externals(evidence) if not (about.get("bins") and site.is_few)]
        if about.get("alone"):
            sites = [site for site in sites if len(sites) == 1 or site.name == evidence.local_site]
        places = {site.name: label_of(site) for site in sites[: MANY_SITES - 1]} | {types.READER_STUDY: "Reader study"}
        if about.get("instead") and any(table.rows for table in made):
            continue
        if "details" in about:
            made.append(_details(evidence, about["details"], about, places))
        elif "measure" in about:
            made += in_tables.tables_of(evidence, [evidence.terms[about["measure"]]])
        elif "curve" in about:
            made.append(_table(evidence, about["curve"], about, places, about["rows"]))
        elif "table" in about:
            module, _, name = about["table"].rpartition(".")
            maker = getattr(importlib.import_module(f"dossier.report.chapters.{module}"), name)
            found = maker(evidence, **about.get("given", {}))
            made += found if isinstance(found, tuple) else (found,)
    return [table for table in made if table.rows]


def printed(figure: str) -> list[str]:
    """The measures of a figure that tables print, as results.json calls them; `judged` are those of `judged_by`."""
    return [key for about in _figures().get(figure, ()) for key in about.get("printed", ())]


def _figures() -> Mapping[str, Any]:
    """What each figure draws, by its name: curves with their columns and words, measures, or tables."""
    found = {}
    panels, ridges = of_curves("panels"), of_curves("ridges")
    for ending, kind, lines in (("at_sites", panels, "lines"), ("ridges", ridges, "fills")):
        for name, about in kind.items():
            first = {about["each"]: sentence_case(about["each"])} if "each" in about else {}
            drawn = {line: sentence_case(text) for line, text in about[lines].items()}
            columns = {**first, about["across"]: about["axis"], **drawn}
            found[f"{name}_{ending}"] = {"curve": name, "columns": columns, "bins": kind is ridges}
    every = {name: [about] for name, about in found.items()} | dict(of_curves("values"))
    return {name: [{**VALUES, **about} for about in here] for name, here in every.items()}


VALUES: Mapping[str, Any] = entries("curves")["as_values"]
Columns = Mapping[str, Sequence[float | str | None]]


def _table(
    evidence: types.Evidence, name: str, about: Mapping[str, Any], places: Mapping[str, str], most: int | None = None
) -> Table:
    """A curve by site, with so many rows at most of each, where that is said."""
    split = {*about.get("split", ())}
    every = evidence.subgroups.curves if "subset" in split else evidence.by_curve[name]
    of_name = (each for each in every if each.curve == name and (each.subset is not None) == ("subset" in split))
    found = [(each, each.found) for each in of_name if each.at.keys() <= split and isinstance(each.found, types.Curve)]
    held = {column for _, curve in found for column in curve.columns}
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
        for result, curve in (pair for pair in found if pair[0].dataset == dataset):
            rows.append(Row(", ".join((label, *_settings(evidence, result))), kind="group"))
            rows += _rows(_in_words(evidence, result, curve), first[0], [column for column, _ in others], ends, most)
    columns = tuple(Column(text, intervals=column in ends) for column, text in others)
    return Table(f"table-{name.replace('_', '-')}", about["title"], about["note"], first[1], columns, tuple(rows))


def _details(evidence: types.Evidence, measure: str, about: Mapping[str, Any], places: Mapping[str, str]) -> Table:
    """What a measure rests on at each site, and for each class."""
    rows, columns = [], about["columns"]
    for result in evidence.by_term.get(measure, ()):
        found = result.found
        if result.dataset in places and {*result.at} <= {"class"} and isinstance(found, types.Estimate):
            known = [found.details.get(name) for name in columns]
            cells = (NOT_COMPUTED if each is None else Cell.plain(number(each, 3)) for each in known)
            rows.append(Row(", ".join((places[result.dataset], *map(str, result.at.values()))), tuple(cells)))
    name = f"table-{measure.replace('_', '-')}-details"
    return Table(name, about["title"], about["note"], "Site", tuple(map(Column, columns.values())), tuple(rows))


def _settings(evidence: types.Evidence, curve: types.CurveResult) -> Iterator[str]:
    """What tells a curve from the others of its hospital."""
    for name, value in curve.at.items():
        if name != "periods":
            yield evidence.terms[str(value)].label if name == "measure" else in_tables.setting_name(name, value)
    if curve.subset is not None:
        yield f"{curve.subset.column}: {curve.subset.level}"


def _in_words(evidence: types.Evidence, result: types.CurveResult, curve: types.Curve) -> Columns:
    """The columns of a curve, periods and classes in words."""
    classes = evidence.release.outcome.classes or ("no", "yes")
    said: dict[str, Callable[[int], str]] = dict.fromkeys(("predicted", "true"), lambda at: classes[at])
    said |= {"period": lambda at: period(at, types.unit_of(result.at["periods"]))} if "periods" in result.at else {}
    known = dict(curve.columns)
    return known | {name: [said[name](int(each or 0)) for each in known[name]] for name in said if name in known}


def _rows(
    columns: Columns, first: str, names: Sequence[str], ends: Mapping[str, Sequence[str]], most: int | None
) -> list[Row]:
    """A row a value of the first column; of more than so many the first, the last, and those evenly between."""
    known, digits = columns[first], 2 if most is None else 3
    among: Sequence[int] = range(len(known))
    if most is not None and len(known) > most:
        among = [round(step * (len(known) - 1) / (most - 1)) for step in range(most)]
    labels = [
        each if isinstance(each, str | None) else f"{each if most is None else round(each, 3):g}" for each in known
    ]
    return [
        Row(labels[index] or "", tuple(_cell(columns, name, index, ends.get(name, ()), digits) for name in names))
        for index in among
    ]


def _cell(columns: Columns, name: str, index: int, ends: Sequence[str], digits: int) -> Cell:
    value, of = columns[name][index], columns.get(VALUES["of"].get(name, ""))
    if value is None or isinstance(value, str):
        return Cell.word(value) if value else NOT_COMPUTED
    if of is not None and 0 < float(of[index] or 0) < SMALLEST_GROUP:
        return Cell.absent(f"under {SMALLEST_GROUP}")
    said = " to ".join(number(float(end), digits) for column in ends if (end := columns[column][index]) is not None)
    return Cell.count(int(value)) if name in VALUES["counts"] else Cell(number(value, digits), said, kind="value")


def has_any(evidence: types.Evidence) -> bool:
    """Whether there is anything that no other chapter prints."""
    known = (result for term in _terms(evidence) for result in evidence.by_term[term.name])
    return any(map(in_tables.is_estimated, known)) or bool(curves(evidence))


CHAPTER = chapter("further", finding, has_any)
