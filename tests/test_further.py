"""The supplement prints what no other chapter does: every further measure, and the curves that its words name."""

from __future__ import annotations

from typing import Literal

import pytest

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


KINDS: dict[Literal["panels", "ridges", "tables"], str] = {"panels": "lines", "ridges": "fills", "tables": "columns"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_words_of_curves_name_columns_that_the_curves_have(
    knee: Book, kind: Literal["panels", "ridges", "tables"]
) -> None:
    for name, about in of_curves(kind).items():
        found = [curve.found for curve in knee.evidence.by_curve[name]]
        known = [curve for curve in found if isinstance(curve, types.Curve)]
        assert known, name
        for curve in known:
            single = {about[key] for key in ("across", "upper", "each") if key in about}
            assert {*about[KINDS[kind]], *single} <= set(curve.columns), name


def test_the_table_of_a_curve_has_its_numbers(knee: Book) -> None:
    (table,) = further.curves(knee.evidence)
    assert table.name == "table-survey-of-priorities"
    (survey,) = (row for row in knee.results["curves"] if row["curve"] == "survey_of_priorities")
    rows = [row for row in table.rows if row.kind == "row"]
    columns = survey["columns"]
    assert [float(row.label) for row in rows] == columns["class"]
    assert [float(row.cells[0].text) for row in rows] == [round(share, 2) for share in columns["share"]]


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
