"""Tables and figures by themselves: the cells and sizes of the page, as other programs read them."""

from __future__ import annotations

import csv
import dataclasses
import io
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas
import pypdf
import pytest
import tinyhtml5
from click.testing import CliRunner
from PIL import Image

from dossier.api import Record
from dossier.command_line.cli import dossier as command
from dossier.core import register
from dossier.core.contents import ON_PAPER
from dossier.core.errors import DossierError, ReleaseError
from dossier.core.types import Gallery
from dossier.outputs.single import KINDS, PrintedTable
from dossier.record import results
from dossier.report import compose
from dossier.typeset.numbers import plain
from dossier.typeset.tables import Cell, Column, Row, Table
from tests.conftest import ROOT, Book
from tests.estimated import refused

OFFICE, XELATEX = shutil.which("soffice"), shutil.which("xelatex")
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
HARD = Table(
    "table-hard",
    "A & B, 5% of {all}.",
    "Read_me.",
    "Site",
    (Column("AUROC", intervals=True, over="Model"), Column("AUROC", over="Rival"), Column("Page")),
    (
        Row("Group <1>", kind="group"),
        Row("North & South", (Cell("0.81", "0.7 to 0.9"), Cell.count(1200), Cell("", link="results"))),
        Row("Group <2>", kind="group"),
        Row("All", (Cell.absent("absent†a"), Cell.plain(""), Cell("", link="results")), "total"),
    ),
    ("†a no outcome.",),
)
"""What formats trip over: their own marks, heads over heads, groups, and a column of pages alone."""


def record_of(book: Book) -> Record:
    return Record(results.read(results.of(book.evidence).text()))


def texts_of(row: ElementTree.Element, tag: str) -> list[str]:
    return [plain("".join(cell.itertext())).strip() for cell in row.iter(tag)]


@pytest.mark.parametrize("name", ["breast", "knee", "biopsy"])
def test_a_table_by_itself_has_the_cells_of_the_page_and_no_others(books: dict[str, Book], name: str) -> None:
    record = record_of(books[name])
    printed: dict[str, set[str]] = {}
    for edition in ON_PAPER:
        html = compose.document(Gallery(record.evidence, {}, {}), edition).html
        for found in tinyhtml5.parse(html, namespace_html_elements=False).iterfind(".//div[@id]"):
            place = re.sub(r"-[2-9]$", "", found.get("id", "")).removeprefix("table-").replace("-", "_")
            printed.setdefault(place, set()).update(text for text in texts_of(found, "td") if text)
    compared = printed.keys() & set(record.tables) - {"claims"}
    assert len(compared) > 12
    for table in compared:
        whole, frame = record.table(table).table, record.table(table).to_frame()
        cells = [cell for row in whole.rows for cell in row.cells]
        labels = {plain(row.label) for row in whole.rows} | {plain(cell.text) for cell in cells if cell.kind == "label"}
        parts = (re.fullmatch(r"(.+?)(?: \((.+)\))?", cell) for cell in frame.to_numpy().ravel() if cell not in labels)
        texts = {text for found in parts if found for text in (found[0], *found.groups()) if text}
        assert printed[table] <= texts | labels, table
        for cell in set(frame.to_numpy().ravel()) - labels - {""}:
            value, _, interval = cell.partition(" (")
            assert cell in printed[table] or {value, interval.removesuffix(")")} <= printed[table], (table, cell)
        assert len(frame) == sum(row.kind != "group" for row in whole.rows), table


def test_key_results_claims_criteria_and_groups_have_names(books: dict[str, Book]) -> None:
    record = record_of(books["knee"])
    assert {"key_results", "claims", "criteria", "groups"} <= set(record.tables)
    with pytest.raises(ReleaseError, match="criteria"):
        record.table("criterias")


def test_claims_are_frozen_and_the_verdict_is_that_of_the_criteria(books: dict[str, Book]) -> None:
    record = record_of(books["knee"])
    assert [claim.harm for claim in record.claims] == sorted(claim.harm for claim in record.claims)
    assert [claim.state for claim in record.claims] == list(record.to_frame("claims")["state"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.claims[0].state = "shown"  # type: ignore[misc]
    # The AUROC of knee-4, knee-5 and knee-8 may lie below the limit, and none is shown to.
    assert {criterion.state for criterion in record.evidence.criteria} == {"shown", "open"}
    assert record.verdict == "open"
    undeclared = dataclasses.replace(record.evidence, criteria=())
    assert Record(results.of(undeclared)).verdict == "untested"


@pytest.mark.slow
@pytest.mark.skipif(OFFICE is None, reason="there is no LibreOffice; make word installs it")
def test_libreoffice_shows_every_cell_and_note_of_a_docx(books: dict[str, Book], tmp_path: Path) -> None:
    record = record_of(books["knee"])
    for name in ("key_results", "claims", "checklist", "characteristics"):
        record.table(name).to_docx(tmp_path / f"{name}.docx")
    at = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    asked = [str(OFFICE), at, "--headless", "--convert-to", "html", "--outdir", str(tmp_path)]
    subprocess.run([*asked, *map(str, tmp_path.glob("*.docx"))], capture_output=True, check=True, timeout=300)
    for file in tmp_path.glob("*.docx"):
        page = tinyhtml5.parse(file.with_suffix(".html").read_text(), namespace_html_elements=False)
        shown = [" ".join(plain("".join(cell.itertext())).split()) for cell in page.iter("td")]
        table = record.table(file.stem)
        frame = table.to_frame().iloc[:, 1 if "Group" in str(table.to_frame().columns[0]) else 0 :]
        cells = [" ".join(cell.split()) for cell in frame.to_numpy().ravel()]
        # In their order, with the names of groups between them.
        rest = iter(shown)
        assert all(cell in rest for cell in cells)
        text = " ".join(plain("".join(page.itertext())).split())
        assert all(" ".join(note.split()) in text for note in table.notes)


def test_a_table_in_html_has_its_notes_and_in_csv_numbers_that_are_some(tmp_path: Path) -> None:
    table = PrintedTable(HARD)
    page = tinyhtml5.parse(table.save(tmp_path / "hard.html").read_bytes(), namespace_html_elements=False)
    said = plain("".join(page.itertext()))
    assert all(each in said for each in ("A & B, 5% of {all}.", "Read_me.", "†a no outcome.")), said
    column = Column("n")
    rows = [Row(text, (Cell.plain(text),)) for text in ("\N{MINUS SIGN}1,200.5", "0.84", "3 of 4", "†a")]
    numbers = dataclasses.replace(HARD, columns=(column,), rows=tuple(rows))
    with PrintedTable(numbers).save(tmp_path / "numbers.csv").open(encoding="utf-8", newline="") as file:
        assert [line[-1] for line in csv.reader(file)][1:] == ["-1200.5", "0.84", "3 of 4", "†a"]


def test_a_docx_opened_again_has_title_head_groups_cells_and_notes(tmp_path: Path) -> None:
    file = PrintedTable(HARD).to_docx(tmp_path / "hard.docx")
    with zipfile.ZipFile(file) as parts:
        body = ElementTree.fromstring(parts.read("word/document.xml"))
        assert {part.date_time for part in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    texts = texts_of(body, f"{WORD}p")
    assert (texts[0], *texts[-2:]) == ("A & B, 5% of {all}.", "Read_me.", "†a no outcome.")
    assert [texts_of(row, f"{WORD}tc") for row in body.iter(f"{WORD}tr")] == [
        ["Site", "Model AUROC", "Rival AUROC"],
        ["Group <1>"],
        ["North & South", "0.81 (0.7 to 0.9)", "1,200"],
        ["Group <2>"],
        ["All", "absent†a", ""],
    ]
    assert len(list(body.iter(f"{WORD}tblHeader"))) == 1
    assert PrintedTable(HARD).to_docx(tmp_path / "again.docx").read_bytes() == file.read_bytes()


PREAMBLE = r"""\documentclass{article}
\usepackage{fontspec,array,booktabs,longtable}
\usepackage[a4paper,margin=25mm]{geometry}
\setmainfont{SourceSerif4-400.ttf}[Path=%s/]
\begin{document}
%s
\end{document}
"""


@pytest.mark.skipif(XELATEX is None, reason="there is no XeLaTeX; make latex installs it")
def test_every_table_compiles_in_latex_with_all_its_letters_on_its_pages(
    books: dict[str, Book], tmp_path: Path
) -> None:
    records = [record_of(books[name]) for name in ("breast", "knee")]
    every = [record.table(name).to_latex() for record in records for name in record.tables]
    made = "\n\\clearpage\n".join([*every, PrintedTable(HARD).to_latex()])
    (tmp_path / "all.tex").write_text(PREAMBLE % (ROOT / "styles" / "fonts", made), encoding="utf-8")
    asked = [str(XELATEX), "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(asked, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "all.log").read_text(encoding="utf-8", errors="replace")
    # What is longer than a page is cut off at its foot, and what the font has no letter for is left out.
    assert not re.findall("Float too large.*|Missing character.*", log)
    shown = subprocess.run(["pdftotext", "-layout", "all.pdf", "-"], cwd=tmp_path, check=True, capture_output=True)
    last = " ".join(shown.stdout.decode().split("\f")[-2].split())
    assert all(each in last for each in ("A & B, 5% of {all}.", "North & South 0.81 (0.7 to 0.9) 1,200", "Read_me."))


def test_html_latex_and_frames_keep_the_cells_and_escape_their_own_marks() -> None:
    table = PrintedTable(HARD)
    frame = table.to_frame()
    assert isinstance(frame.columns, pandas.MultiIndex)
    assert list(frame.columns) == [("", "Group"), ("", "Site"), ("Model", "AUROC"), ("Rival", "AUROC")]
    rows = [texts_of(row, "td") for row in ElementTree.fromstring(table.to_html()).iter("tr")]
    first = ["Group <1>", "North & South", "0.81 (0.7 to 0.9)", "1,200"]
    assert rows[-2:] == [first, ["Group <2>", "All", "absent†a", ""]]
    latex = table.to_latex()
    assert r"\caption{A \& B, 5\% of \{all\}.}" in latex
    assert r"Group <1> & North \& South & 0.81 (0.7 to 0.9) & 1,200 \\" in latex
    assert r"\begin{tabular}{llll}" in latex
    assert latex.index(r"\end{tabular}") < latex.index(r"Read\_me.") < latex.index("†a no outcome.")
    long = dataclasses.replace(HARD, rows=tuple(dataclasses.replace(row, label=row.label * 9) for row in HARD.rows))
    widths = re.findall(r"p\{\\dimexpr (.+?)\\linewidth", PrintedTable(long).to_latex())
    assert len(widths) == 4
    assert sum(map(float, widths)) == pytest.approx(1, abs=0.01)


def test_the_checklist_is_a_table_that_says_where_each_row_is_answered(books: dict[str, Book], tmp_path: Path) -> None:
    record = record_of(books["breast"])
    frame = record.table("checklist").to_frame()
    rows = record.evidence.checklist
    assert list(frame["Item"]) == [row.item for row in rows]
    answered = [row.status not in ("missing", "not_applicable", "development_only") for row in rows]
    assert [bool(where) for where in frame["Where it is answered"]] == answered
    (tmp_path / "results.json").write_bytes(results.of(record.evidence).text())
    for ending in ("docx", "html", "tex", "csv"):
        file = tmp_path / f"checklist.{ending}"
        made = CliRunner().invoke(command, ["table", str(tmp_path / "results.json"), "checklist", "-o", str(file)])
        assert made.exit_code == 0, made.output
        assert record.table("checklist").save(tmp_path / f"again.{ending}").read_bytes() == file.read_bytes()
    with pytest.raises(ReleaseError, match="docx"):
        record.table("checklist").save(tmp_path / "checklist.xls")


def test_without_the_package_a_docx_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(DossierError, match="python-docx"):
        PrintedTable(HARD).to_docx(tmp_path / "hard.docx")
    assert not list(tmp_path.iterdir())


def test_a_figure_has_the_size_of_the_page_in_every_format(books: dict[str, Book], tmp_path: Path) -> None:
    figure = record_of(books["breast"]).figure("external_performance")
    width, height = figure.picture.width / 25.4, figure.picture.height / 25.4
    for kind in ("png", "tiff"):
        with Image.open(figure.save(tmp_path / f"figure.{kind}", dpi=200)) as image:
            assert image.size == pytest.approx((width * 200, height * 200), abs=1)
            assert [float(dots) for dots in image.info["dpi"]] == pytest.approx((200, 200), abs=0.1)
            assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    page = pypdf.PdfReader(figure.save(tmp_path / "figure.pdf")).pages[0]
    box = (float(page.mediabox.width), float(page.mediabox.height))
    assert box == pytest.approx((width * 72, height * 72), abs=0.1)
    assert "AUROC" in page.extract_text()
    assert "<text" not in figure._repr_svg_()
    with Image.open(io.BytesIO(figure._repr_png_())) as image:
        assert image.size == pytest.approx((width * 144, height * 144), abs=1)


def test_a_name_that_is_no_figure_lists_those_that_there_are(books: dict[str, Book], tmp_path: Path) -> None:
    record = record_of(books["breast"])
    (fault,) = refused(record.figure, "nothing_like_it").faults
    assert all(f'"{name}"' in fault.fix for name in register.fill("report.figures").figures)
    with pytest.raises(ReleaseError, match='Did you mean "external_performance"'):
        record.figure("external_performence")
    with pytest.raises(ReleaseError, match="roc_and_raters is not drawn: no readers"):
        record.figure("roc_and_raters")
    with pytest.raises(ReleaseError, match=re.escape(".png")):
        record.figure("external_performance").save(tmp_path / "figure.bmp")


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_draws_the_same_bytes_again_and_leaves_the_dossier(
    kind: str, books: dict[str, Book], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "results.json").write_bytes(results.of(books["breast"].evidence).text())
    asked = ["figures", str(out), "--format", kind, "--dpi", "60"]
    asked += ["--figure", "external_performance", "--figure", "calibration_by_site"]
    first = CliRunner().invoke(command, asked)
    assert first.exit_code == 0, first.output
    assert CliRunner().invoke(command, [*asked, "-o", str(tmp_path / "again")]).exit_code == 0
    names = [f"external_performance.{kind}", f"calibration_by_site.{kind}"]
    assert [Path(line).name for line in first.output.splitlines()] == names
    for name in names:
        assert (tmp_path / "out-figures" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert [path.name for path in out.iterdir()] == ["results.json"]
    # The same again is no conflict; what somebody altered is not written over unless that is asked.
    assert CliRunner().invoke(command, asked).output == first.output
    drawn = tmp_path / "out-figures" / names[1]
    content = drawn.read_bytes()
    drawn.write_bytes(b"altered")
    refused = CliRunner().invoke(command, asked).exception
    assert isinstance(refused, DossierError)
    assert [fault.code for fault in refused.faults] == ["file_holds_other"]
    assert drawn.read_bytes() == b"altered"
    assert CliRunner().invoke(command, [*asked, "--replace"]).exit_code == 0
    assert drawn.read_bytes() == content


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dossier of a quick look."""
    out = tmp_path_factory.mktemp("quick") / "out"
    words = ["--outcome", "outcome", "--risk", "risk", "-o", str(out), "--jobs", "1", "--quiet"]
    assert CliRunner().invoke(command, ["quick", str(ROOT / "fixtures" / "breast" / "gbsg.csv"), *words]).exit_code == 0
    return out


@pytest.mark.parametrize(
    "words",
    [
        "figures {out} --figure calibration_by_site -o {out}",
        "figures {out} --figure calibration_by_site -o {out}/figures/mine",
        "table {out} key_results -o {out}/claims.csv",
        "history {out} -o {out}/history.pdf",
        "init {out}/next",
    ],
)
def test_nothing_is_written_into_a_dossier_which_would_no_longer_verify(words: str, quick: Path) -> None:
    before = {path: path.read_bytes() for path in quick.rglob("*") if path.is_file()}
    refused = CliRunner().invoke(command, words.format(out=quick).split()).exception
    assert isinstance(refused, DossierError)
    assert [fault.code for fault in refused.faults] == ["file_in_dossier"]
    assert {path: path.read_bytes() for path in quick.rglob("*") if path.is_file()} == before


def test_the_command_names_a_table_and_its_file_in_its_own_words(books: dict[str, Book], tmp_path: Path) -> None:
    (tmp_path / "results.json").write_bytes(results.of(books["breast"].evidence).text())
    for name, file, where in (("key_result", "t.csv", "NAME"), ("key_results", "t.xls", "-o")):
        refused = CliRunner().invoke(command, ["table", str(tmp_path), name, "-o", str(tmp_path / file)]).exception
        assert isinstance(refused, DossierError)
        assert [fault.where for fault in refused.faults] == [where]


@pytest.mark.parametrize(("name", "meant"), [("calib", "calibration_by_site"), ("ridges", "risk_distribution_ridges")])
def test_a_part_of_a_name_is_enough_to_be_told_which_is_meant(name: str, meant: str, books: dict[str, Book]) -> None:
    with pytest.raises(ReleaseError, match=f'Did you mean "{meant}"'):
        record_of(books["breast"]).figure(name)


@pytest.mark.filterwarnings("ignore:The copy keyword is deprecated")
def test_the_diagonal_of_calibration_is_drawn_at_every_hospital(books: dict[str, Book]) -> None:
    panels = record_of(books["breast"]).plot("calibration").plot()._figure.axes
    assert len(panels) > 1
    for panel in panels:
        assert any(np.array_equal(line.get_xdata(), line.get_ydata()) for line in panel.lines)
