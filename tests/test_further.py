"""The supplement prints what no other chapter does: every further measure, and the curves that its words name."""

from __future__ import annotations

from dossier.core import types
from dossier.core.register import fill
from dossier.report.chapters import further
from dossier.typeset.measures import in_appendix_only, is_estimated
from dossier.typeset.words import of_curves
from tests.conftest import Book


def test_every_measure_that_no_other_chapter_prints_has_its_column(any_book: Book) -> None:
    evidence = any_book.evidence
    heads = " ".join(
        text.lower()
        for table in further.measures(evidence)
        for text in (table.title, *(column.label for column in table.columns), *(row.label for row in table.rows))
    )
    asked = [
        term
        for term in evidence.terms.values()
        if (not term.on_page or in_appendix_only(evidence, term))
        and any(map(is_estimated, evidence.by_term[term.name]))
    ]
    assert len(asked) >= 3
    assert [term.name for term in asked if term.label.lower() not in heads] == []


def test_the_words_of_curves_name_columns_that_the_curves_have(knee: Book) -> None:
    for kind, columns in (("panels", "lines"), ("tables", "columns")):
        for name, about in of_curves("panels" if kind == "panels" else "tables").items():
            found = [curve.found for curve in knee.evidence.by_curve[name]]
            known = [curve for curve in found if isinstance(curve, types.Curve)]
            assert known, name
            for curve in known:
                assert {*about[columns], about.get("across", next(iter(curve.columns)))} <= set(curve.columns), name


def test_the_table_of_a_curve_has_its_numbers(breast: Book) -> None:
    (table,) = (table for table in further.curves(breast.evidence) if table.name == "table-fagan-nomogram")
    (first,) = (
        row
        for row in breast.results["curves"]
        if row["curve"] == "fagan_nomogram" and row["dataset"] == "rotterdam" and not row["at"]
    )
    columns = first["columns"]
    start = [row.kind for row in table.rows].index("group") + 1
    for index, threshold in enumerate(columns["threshold"]):
        row = table.rows[start + index]
        assert float(row.label) == threshold
        assert float(row.cells[0].text) == round(columns["before"][index], 2)
        assert row.cells[0].interval.split(" to ")[0] == f"{columns['before_low'][index]:.2f}"


def test_the_panels_say_how_many_sites_have_no_curve(knee: Book) -> None:
    maker = fill("report.figures").figures["rater_accuracy_by_complexity_at_sites"].function
    made = maker(knee.evidence)
    assert isinstance(made, types.Picture)
    known = [
        curve
        for curve in knee.evidence.by_curve["rater_accuracy_by_complexity"]
        if isinstance(curve.found, types.Curve)
        and curve.dataset in {site.name for site in types.externals(knee.evidence)}
    ]
    assert f"{len(types.externals(knee.evidence)) - len(known)} sites more: not estimable." in made.caption
