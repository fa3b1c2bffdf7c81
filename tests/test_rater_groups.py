"""Raters in groups: from the key to the pages, and nothing of them where small counts are protected."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from dossier import evaluate, reading
from dossier.core.types import Absent, Curve, Evidence, Readers, Withheld, find_curve
from dossier.record import results
from dossier.report import compose, draw
from dossier.report.chapters import reliability
from dossier.report.figures import roc
from dossier.report.figures.canvas import styled
from dossier.typeset.names import groups_of_raters
from tests.conftest import Book
from tests.estimated import curved
from tests.figures.drawings import sheet_of
from tests.smallest import HEAD, QUICK, SITE, release_in

LABELS = ("1,1,1", "1,1,0", "0,0,0", "0,0,0", "1,0,0", "1,1,1", "0,0,0", "0,1,0", "1,1,1", "0,0,0")
TABLES = """
[[readers]]
labels = "labels.csv"
confidence = "confidence.csv"
complexity = "complexity.csv"
dataset = "site"
header = {header}
groups = {groups}
"""
BY_NAME = '{ bob = "Zweig ward", anna = "Aleph ward", clara = "Zweig ward" }'
BY_NUMBER = '{ 1 = "Aleph ward", 2 = "Zweig ward", 3 = "Zweig ward" }'


def _write(folder: Path, groups: str, named: bool, more: str = "") -> Path:
    rows = "".join(f"{line[0]},{0.2 if line[0] == '0' else 0.7}\n" for line in LABELS)
    (folder / "site.csv").write_text(f"outcome,risk\n{rows}")
    head = "anna,bob,clara\n" if named else ""
    (folder / "labels.csv").write_text(head + "\n".join(LABELS) + "\n")
    (folder / "confidence.csv").write_text(head + "1,0.8,0.9\n" * len(LABELS))
    (folder / "complexity.csv").write_text(head + "0.25,0.5,0.75\n" * len(LABELS))
    declared = TABLES.format(header=str(named).lower(), groups=groups)
    return release_in(folder, f"{HEAD}{QUICK}{SITE}{declared}{more}")


def _evidence(folder: Path, groups: str = BY_NAME, named: bool = True, more: str = "") -> Evidence:
    return evaluate.evidence(reading.study(_write(folder, groups, named, more)))


def _readers(folder: Path) -> Readers:
    (found,) = reading.study(folder).readers
    return found


def test_a_rater_is_put_into_a_group_by_name_and_without_names_by_the_column(tmp_path: Path) -> None:
    wanted = ("Aleph ward", "Zweig ward", "Zweig ward")
    assert _readers(_write(tmp_path, BY_NAME, True)).groups == wanted
    assert _readers(_write(tmp_path, BY_NUMBER, False)).groups == wanted


def test_a_group_has_its_accuracy_and_its_reliability(tmp_path: Path) -> None:
    """By hand: anna is always right, and her rho, of one rater, is 1; bob errs in two of ten cases, clara in two."""
    curve = curved(find_curve(_evidence(tmp_path), "raters_by_group", "site"))
    assert list(curve.columns["raters"]) == [1, 2]
    assert list(curve.columns["accuracy"]) == pytest.approx([1, 0.8])
    assert (curve.columns["rho"][0], curve.columns["rho_low"][0]) == (1, None)
    rates = curved(find_curve(_evidence(tmp_path), "rater_rates", "site"))
    assert list(rates.columns["group"]) == [0, 1, 1]


def test_the_chapter_has_a_row_for_each_group_and_a_grid_of_nine_cells(tmp_path: Path) -> None:
    """Ten answers each, all of them sure: anna found every case simple, bob medium, clara complex."""
    evidence = _evidence(tmp_path)
    assert groups_of_raters(evidence, "site") == ("Aleph ward", "Zweig ward")
    agreement, groups, grid = reliability.tables(evidence)
    assert [row.label for row in agreement.rows][-2:] == ["Reliability of the labels (rho)", "Cases with two labels"]
    assert [row.label for row in groups.rows] == ["Aleph ward", "Zweig ward"]
    assert groups.rows[1].cells[2].text == "0.80"
    assert [row.label.split(" (")[0] for row in grid.rows] == ["Sure", "Half sure", "Unsure"]
    assert [(cell.text, cell.interval) for cell in grid.rows[0].cells] == [
        ("100%", "of 10"),
        ("80%", "of 10"),
        ("80%", "of 10"),
    ]
    assert all(cell.kind == "absent" for row in grid.rows[1:] for cell in row.cells)
    assert grid.footnotes == ("†a\N{NO-BREAK SPACE}Fewer than 5 answers.",)
    assert "Correlation of both: " in grid.note
    html = compose.document(draw.gallery(evidence), "regulatory").html
    assert "Aleph ward" in html.split('id="chapter-reliability"')[1].split('id="chapter-')[0]


def test_the_roc_figure_marks_the_groups(knee: Book) -> None:
    with styled():
        figure = sheet_of("roc_and_raters")(knee.evidence)
    assert not isinstance(figure, Absent)
    (axes,) = figure.axes
    marked = {
        str(line.get_markerfacecolor()): len(line.get_xdata())  # type: ignore[arg-type]
        for line in axes.lines
        if line.get_marker() == "o" and line.get_linestyle() == "None" and len(line.get_xdata()) > 1  # type: ignore[arg-type]
    }
    assert sorted(marked.values()) == [6, 7]
    assert marked["white"] == 7
    picture = roc.roc_and_raters(knee.evidence)
    assert not isinstance(picture, Absent)
    assert picture.caption.endswith("Filled circles: radiologist (6); hollow circles: resident (7).")


def test_without_groups_nothing_is_marked(knee: Book) -> None:
    readers = tuple(reader.model_copy(update={"groups": None}) for reader in knee.evidence.release.readers)
    bare = dataclasses.replace(knee.evidence, release=knee.evidence.release.model_copy(update={"readers": readers}))
    picture = roc.roc_and_raters(bare)
    assert not isinstance(picture, Absent)
    assert "Filled" not in picture.caption


def test_the_readers_of_several_datasets_stand_side_by_side(knee: Book) -> None:
    agreement, groups, grid = reliability.tables(knee.evidence)
    assert [column.label for column in agreement.columns] == ["Knee 1", "Knee 2", "Development: Home"]
    assert [row.label for row in groups.rows] == [
        "Knee 1",
        "Radiologist",
        "Resident",
        "Knee 2",
        "Radiologist",
        "Resident",
    ]
    assert "Knee 1" in grid.title
    assert reliability.finding(knee.evidence).lead.startswith("The reliability of the labels at Knee 1 is")


def test_what_knee_simulates_is_what_its_groups_show(knee: Book) -> None:
    """simulate.py draws radiologists with more skill than residents, on both datasets."""
    for curve in knee.evidence.by_curve["raters_by_group"]:
        if isinstance(curve.found, Curve):
            low, high = (np.array(curve.found.columns[f"accuracy_{end}"], dtype=float) for end in ("low", "high"))
            assert low[0] > high[1], curve.dataset


def test_where_small_counts_are_protected_nothing_of_the_groups_is_given(tmp_path: Path) -> None:
    """A group of one rater would say how often that person errs: neither its name nor a number of it is anywhere."""
    more = "[disclosure]\nminimum_cell = 5\n"
    open_text = results.of(_evidence(tmp_path)).text().decode()
    assert "Aleph ward" in open_text
    evidence = _evidence(tmp_path, more=more)
    text = results.of(evidence).text().decode()
    assert "Aleph" not in text
    assert "Zweig" not in text
    for name in ("raters_by_group", "rater_rates", "confidence_by_complexity"):
        assert isinstance(find_curve(evidence, name, "site"), Withheld)
    html = compose.document(draw.gallery(evidence), "regulatory").html
    assert "Aleph" not in html
    assert all(
        isinstance(result.found, Absent)
        for result in evidence.results
        if result.measure == "confidence_complexity_correlation"
    )
