"""The looks of an institution: what may be printed with them, and that they change no number."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import io
import json
import re
import shutil
import subprocess
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import tinyhtml5
from PIL import Image
from pypdf import PdfReader

from dossier import evaluate, reading
from dossier.core import looks
from dossier.core.command import Build
from dossier.core.contents import ON_PAPER, SUBMITTED
from dossier.core.errors import ReleaseError
from dossier.core.release import Templates
from dossier.core.types import Document, Evidence, Gallery
from dossier.outputs import printing
from dossier.reading import declared
from dossier.record import results, results_csv
from dossier.report import compose, draw, press, screen
from dossier.typeset import flags, widths
from dossier.typeset.numbers import plain
from tests.conftest import RELEASES, Book
from tests.estimated import refused
from tests.reference.built import hurried
from tests.smallest import HEAD, SITE

TITLE, OWNER, ACCENT = "Recurrence after surgery", "Northern Hospitals, Board of Trustees", "#7a1f5c"
CROSS = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M4 0h1v9H4z" fill="#7a1f5c"/></svg>'
DECLARED = f'\n[report]\ntitle = "{TITLE}"\norganisation = "{OWNER}"\naccent = "{ACCENT}"\nlogo = "logo.svg"\n'
STYLE = 'headings = "#5c1745"\nfamily = "sans"\nlines = "#7a1f5c"\nband = "#f6e9f1"\nmark = "#b0407f"\n'
CHAPTERS = ('"wards.md"', '{ file = "desk.md", after = "calibration" }', '{ file = "notes.md", after = "methods" }')
EVERYTHING = f"""{DECLARED}looks = "dossier-looks/1"
style = "hospital.toml"
templates = "hospital"
chapters = [{", ".join(CHAPTERS)}]
"""
OWN = {
    "logo.svg": CROSS.decode(),
    "hospital.toml": STYLE,
    "hospital/letterhead.txt": "Department of Clinical Prediction, Hospital Road 1\n12345 Northern Town",
    "hospital/running_head.txt": "QM 12-345, {{ edition }}",
    "hospital/running_foot.txt": "Confidential until {{ date }}",
    "hospital/imprint.md": "**{{ organisation }}** prints {{ model }} {{version}}: {auroc@gbsg}, {{ sha256 }}.",
    **{
        f"{name.lower()}.md": f"# {name} of ours\n\n{{auroc@gbsg}}.\n\n## Whom\n\n| a | b |\n|---|---|\n| c | d |\n"
        for name in ("Wards", "Desk", "Notes")
    },
}


def written(folder: Path, report: str, files: dict[str, str]) -> Path:
    """The small release with a table [report] and the files that it names."""
    shutil.copytree(RELEASES["breast"], folder)
    with (folder / "release.toml").open("a", encoding="utf-8") as file:
        file.write(report)
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def png(width: int = 8, height: int = 8) -> bytes:
    held = io.BytesIO()
    Image.new("RGB", (width, height), ACCENT).save(held, "PNG")
    return held.getvalue()


def svg(inside: str, more: str = "", before: str = "") -> bytes:
    return f'{before}<svg xmlns="http://www.w3.org/2000/svg" {more}>{inside}</svg>'.encode()


# ---- what may be printed --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    # The first two by definition of WCAG 2, the others as its guides give them: the lightest grey that passes.
    ("colour", "contrast"),
    [("#000000", 21.0), ("#ffffff", 1.0), ("#767676", 4.54), ("#777777", 4.48), ("#FF0000", 4.0), ("#0000ff", 8.59)],
)
def test_the_contrast_is_that_of_wcag(colour: str, contrast: float) -> None:
    assert looks.contrast(colour) == pytest.approx(contrast, abs=0.005)


@pytest.mark.parametrize("colour", ["red", "#14507", "#14507f0", "14507f", "#14507g", "#14507f;color:red", ""])
def test_what_is_no_colour_has_no_contrast(colour: str) -> None:
    assert looks.contrast(colour) == 0


@pytest.mark.parametrize(
    "content",
    [
        png(),
        CROSS,
        svg('<!-- ours --><g fill="url(#a)"><circle r="2" style="fill:#7a1f5c"/></g>', before='<?xml version="1.0"?>'),
        svg('<defs><linearGradient id="a"><stop offset="0"/></linearGradient></defs><rect width="1" fill="url(#a)"/>'),
    ],
)
def test_a_picture_that_only_draws_is_taken_as_it_is(content: bytes) -> None:
    assert looks.only_draws(content)
    assert looks.logo(looks.embedded(content)) == looks.embedded(content)
    assert base64.b64decode(looks.embedded(content).partition(",")[2]) == content


@pytest.mark.parametrize(
    "content",
    [
        svg('<image href="https://example.org/a.png"/>'),
        svg('<image xlink:href="file:///etc/passwd"/>', 'xmlns:xlink="http://www.w3.org/1999/xlink"'),
        svg('<use href="#a"/>'),
        svg('<path href="x"/>'),
        svg('<a><path d="M0 0"/></a>'),
        svg("<script>alert(1)</script>"),
        svg("<style>@import url(https://example.org/a.css)</style>"),
        svg("<text>Hospital</text>"),
        svg("<foreignObject/>"),
        svg('<path onclick="alert(1)"/>'),
        svg("", 'onload="alert(1)"'),
        svg('<path fill="url(https://example.org/a.svg#b)"/>'),
        svg('<path style="fill: URL( //example.org )"/>'),
        svg('<path style="fill:u\\72l(//example.org)"/>'),
        svg("", before='<!DOCTYPE svg [<!ENTITY a "b">]>'),
        svg("", before='<?xml-stylesheet href="https://example.org/a.css"?>'),
        svg('<image href="a.png"/>').decode().encode("utf-16"),
        b"<html/>",
        b"not a picture",
        b"",
        png()[:40],
        png().replace(b"IDAT", b"IDAX"),
        png(looks.MOST_DOTS + 1, 1),
    ],
)
def test_what_runs_fetches_or_is_broken_is_no_logo(content: bytes) -> None:
    assert not looks.only_draws(content)
    with pytest.raises(ValueError, match="only draws"):
        looks.logo(looks.embedded(content))


# ---- what they change -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dressed(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """The small release in all that an institution may set."""
    folder = written(tmp_path_factory.mktemp("looks") / "breast", EVERYTHING, OWN)
    found = evaluate.evidence(hurried(reading.study(folder), bootstrap=20, permutations=19))
    return results.read(results.of(found).text()).evidence


@pytest.mark.slow
def test_no_number_and_no_figure_is_another(dressed: Evidence, books: dict[str, Book]) -> None:
    bare = books["breast"].evidence
    texts = {}
    for name, evidence in {"bare": bare, "dressed": dressed}.items():
        said: dict[str, Any] = results.of(evidence).model_dump(mode="json")
        said["declared"].pop("report", None)
        # The files that were read are others: those of the institution, and a release.toml that names them.
        said["inputs"] = [entry for entry in said["inputs"] if entry["name"] not in (*OWN, "release.toml")]
        texts[name] = said
    assert texts["bare"] == texts["dressed"]
    assert results_csv.text(results.of(bare)) == results_csv.text(results.of(dressed))
    assert draw.gallery(bare).pictures == draw.gallery(dressed).pictures


def words(evidence: Evidence, edition: Any) -> str:
    """The text of an edition, without hashes and what is about files."""
    page = compose.document(Gallery(evidence, {}, {}), edition).html
    body = tinyhtml5.parse(page, namespace_html_elements=False).find("body")
    for section in list(body.iter("section")):
        if section.get("id", "").startswith(("chapter-provenance", "chapter-own", "imprint")):
            section.clear()
    for listed in body.iterfind(".//ol"):
        for line in [each for each in listed if each.find("a[@href]") is not None]:
            if line.find("a").get("href", "").startswith("#chapter-own"):
                listed.remove(line)
    for number in body.iterfind(".//span[@class='no']"):
        number.text = ""
    text = " ".join(" ".join(plain("".join(body.itertext())).split()).split())
    text = re.sub(r"(?:S?\d+) (?:Wards|Desk|Notes) of ours(?:; |(?=\.))", "", text).replace("; .", ".")
    text = re.sub(r"\bS\d+\b|(?<=[;.] )\d+(?= [A-Z])|(?<=[Cc]ore )\d+|(?<=chapter )\d+", "", text)
    text = re.sub(r"\w+ files were read", "Files were read", text)
    return re.sub(r"(?<!\w)[0-9a-f]{4,}(?:[ …][0-9a-f]*)*(?!\w)", "", text)


@pytest.mark.parametrize("edition", ON_PAPER)
def test_the_words_are_the_same_but_for_title_and_name(edition: str, dressed: Evidence, books: dict[str, Book]) -> None:
    bare, looked = words(books["breast"].evidence, edition), words(dressed, edition)
    # It stands in the letterhead.
    assert OWNER not in looked
    model = "Two-year breast cancer recurrence model 1.0.0"
    assert looked.count(TITLE) == 1
    if edition == "committee":
        looked = looked.replace(f"{TITLE} {model} · ", f"{model} ")
    else:
        about = f"{model} for recurrence or death"
        looked = looked.replace(f"{TITLE} {about}. ", f"External validation: {about} ")
    assert bare == looked


@pytest.mark.parametrize("edition", ON_PAPER)
def test_logo_colour_and_name_stand_on_page_1_and_in_the_head(edition: Any, dressed: Evidence) -> None:
    page = compose.document(Gallery(dressed, {}, {}), edition).html
    tree = ElementTree.fromstring(page)
    (logo,) = tree.iterfind(".//img[@class='logo']")
    assert (logo.get("src"), logo.get("alt")) == (looks.embedded(CROSS), OWNER)
    colours = {"accent": ACCENT, "headings": "#5c1745", "lines": "#7a1f5c", "band": "#f6e9f1", "mark": "#b0407f"}
    assert tree.get("style") == "; ".join(f"--{name}: {colour}" for name, colour in colours.items())
    around = {name: plain(text) for name, text in next(tree.iter("body")).attrib.items()}
    assert around["data-letterhead"] == f"{OWNER}\n{OWN['hospital/letterhead.txt']}"
    said = compose.TITLE[edition]
    assert around["data-model"].startswith(f"Northern Hospitals, QM 12-345, {said} · Two-year breast")
    assert around["data-foot"] == "\nNorthern Hospitals: Confidential until 1 October 2026"
    imprints = ["".join(each.itertext()) for each in tree.iterfind(".//section[@id='imprint']")]
    assert len(imprints) == (edition != "committee")
    for imprint in imprints:
        assert f"The words of this part are those of {OWNER}." in imprint
        sha256 = hashlib.sha256(results.of(dressed).text()).hexdigest()
        assert re.search(rf"prints Two-year .* 1\.0\.0: 0\.72 \(95% CI .*; n 623\), {sha256}\.", plain(imprint))


@pytest.mark.slow
def test_the_file_for_the_screen_has_them_and_asks_for_nothing(dressed: Evidence) -> None:
    page = screen.page(draw.gallery(dressed), results.of(dressed).text()).decode()
    assert page.count(looks.embedded(CROSS)) == 3
    assert f"--accent: {ACCENT}" in page
    assert "default-src 'none'" in html.unescape(page)
    assert not re.search(r"src=\"(?!data:)", page)
    # No element has a style of its own: the one style sheet is let in by its hash.
    assert '<html lang="en">' in page


def test_a_results_json_with_another_logo_is_not_printed(dressed: Evidence) -> None:
    hostile = looks.embedded(svg("<script>alert(1)</script>"))
    report = dressed.release.report.model_copy(update={"logo": hostile})
    release = dressed.release.model_copy(update={"report": report})
    text = results.of(dataclasses.replace(dressed, release=release)).text()
    with pytest.raises(ReleaseError, match="only draws"):
        printing.printed(results.read(text), Build(edition="committee"))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('style = "house.css"', "not_a_style"),
        ('style = "../hospital.toml"', "file_outside"),
        ('templates = ".."', "file_outside"),
        ('css = "house.css"', "own_style_key"),
        ('style = { accent = "var(--page)" }', "unread_colour"),
        ("style = { headings = \"#14507f; content: '0.9'\" }", "unread_colour"),
        ('style = { headings = "#777777" }', "unread_colour"),
        ('style = { lines = "#eeeeee" }', "unread_colour"),
        ('style = { mark = "url(x)" }', "unread_colour"),
        ('style = { band = "#4d535a" }', "dark_band"),
        ('style = { band = "#808080" }', "dark_band"),
        ('style = { family = "Comic Sans" }', "not_a_choice"),
        ('looks = "dossier-looks/2"', "not_a_choice"),
        *((f"style = {{ {key} = 0 }}", "unknown_key") for key in ("opacity", "display", "visibility", "margin")),
        ('style = { font_size = "0" }', "own_style_key"),
        ('font = "house.woff2"', "own_style_key"),
        ('accent = "#14507f; display: none"', "unread_colour"),
        ('accent = "#ffffff"', "unread_colour"),
        ('accent = "transparent"', "unread_colour"),
        (r'title = "AUROC \u202e25.0"', "letter"),
        (r'organisation = "\u200b"', "letter"),
        ('logo = "release.toml"', "not_a_logo"),
        ('logo = "../logo.svg"', "file_outside"),
    ],
)
def test_looks_that_could_hide_or_change_a_number_are_refused(tmp_path: Path, line: str, code: str) -> None:
    error = refused(reading.study, written(tmp_path / "breast", f"\n[report]\n{line}\n", {}), allow_outside=True)
    assert code in "".join(fault.code for fault in error.faults)
    assert "[report]" in str(error)


@pytest.mark.parametrize("name", looks.FILES)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{{ ''.__class__ }}", "not_words"),
        ("{{ organisation.upper() }}", "not_words"),
        ("{{ organisation | safe }}", "not_words"),
        ("{% for _ in range(9) %}x{% endfor %}", "not_words"),
        ("{# ours #}", "not_words"),
        ("{{ title", "not_words"),
        ("title }}", "not_words"),
        ("{{{{ title }}}}", "not_words"),
        ("{{ evidence }}", "not_words"),
        ("<b>ours</b>", "not_words"),
        ("<b onclick=x", "not_words"),
        ("</section>", "not_words"),
        ("<!-- ", "not_words"),
        ("<?php", "not_words"),
        ("<style>.cover { display: none }</style>", "not_words"),
        ("AUROC \u202e25.0", "strange_letters"),
        ("0.\u200b99", "strange_letters"),
        ("0.9\x009", "strange_letters"),
        ("\u05d0\u05d1", "strange_letters"),
        ("word " * 1000, "long_words"),
        ("a line\n" * 40, "long_words"),
    ],
)
def test_words_around_the_pages_are_words(name: str, text: str, code: str) -> None:
    report = f"[report]\ntemplates = {{ {looks.FILES[name]} = {json.dumps(text)} }}\n"
    assert code in {fault.code for fault in declared.declared((HEAD + SITE + report).encode()).faults}


@pytest.mark.parametrize("entity", ["&#x202e;", "&#8203;", "&rlm;", "&zwnj;", "&#0;"])
def test_an_entity_is_no_way_round(tmp_path: Path, entity: str) -> None:
    for report, files in (
        ('[report]\ntemplates = "hospital"\n', {"hospital/imprint.md": f"AUROC {entity}0.99"}),
        ('[report]\nchapters = ["wards.md"]\n', {"wards.md": f"# Ours\n\nAUROC {entity}0.99"}),
    ):
        folder = written(tmp_path / str(len(report)), f"\n{report}", files)
        assert "strange_letters" in {fault.code for fault in refused(reading.study, folder).faults}


@pytest.mark.slow
def test_a_typed_number_beside_a_measure_is_flagged_wherever_it_stands(tmp_path: Path) -> None:
    files = {"hospital/letterhead.txt": "AUROC 0.99", "wards.md": "# Ours\n\nThe AUROC is 0.98 here.\n"}
    report = '\n[report]\ntemplates = "hospital"\nchapters = ["wards.md"]\n'
    found = evaluate.evidence(hurried(reading.study(written(tmp_path / "breast", report, files)), 20, 19))
    (flag,) = [flag for flag in found.flags if flag.flag == "number_not_found"]
    assert "AUROC 0.98 in Ours" in flags.flag_text(flag.fact)
    assert "AUROC 0.99 in letterhead" in flags.flag_text(flag.fact)


# ---- what is printed ------------------------------------------------------------------------------------------------


def lines(document: Document, page: str) -> list[str]:
    """The words of the text area of every page of a PDF, in their order."""
    top, height = {"a4": ("73", "695"), "letter": ("54", "684")}[page]
    command = ["pdftotext", "-raw", "-x", "0", "-y", top, "-W", "700", "-H", height, "-", "-"]
    printed = subprocess.run(command, input=press.pdf(document), capture_output=True, check=True)
    return plain(printed.stdout.decode()).split()


TITLES = r"External|validation:|death|Provenance\.?"
FILES = (
    rf"[0-9a-f]{{8,16}}(?:….?)?|Seven|{(Path(__file__).parents[1] / 'fixtures/breast/release.toml').stat().st_size:,}"
)
"""The files that were read are others, and results.json names them."""
PLACES = r"S?\d{1,2}[.,;]?"
PRINTED = [pytest.param(each, marks=[pytest.mark.slow] if each in SUBMITTED else []) for each in ON_PAPER]


@pytest.mark.slow
@pytest.mark.parametrize("edition", PRINTED)
def test_every_word_of_ours_is_printed_in_its_order(edition: Any, dressed: Evidence, books: dict[str, Book]) -> None:
    """Without figures, whose letters stand in the file where the page has room, and heads that a new page repeats."""
    documents = (compose.document(Gallery(each, {}, {}), edition) for each in (books["breast"].evidence, dressed))
    once = "<style>thead { display: table-row-group }</style></head>"
    bare, looked = (
        lines(dataclasses.replace(each, html=each.html.replace("</head>", once)), "a4") for each in documents
    )
    matched = SequenceMatcher(None, bare, looked, autojunk=False).get_opcodes()
    lost = [word for kind, first, last, *_ in matched if kind != "equal" for word in bare[first:last]]
    other = FILES if edition == "committee" else f"{TITLES}|{FILES}|{PLACES}"
    assert [word for word in lost if not re.fullmatch(other, word)] == []


@pytest.mark.slow
@pytest.mark.parametrize("edition", PRINTED)
def test_figures_and_all_are_printed_on_letter_too(edition: Any, dressed: Evidence, books: dict[str, Book]) -> None:
    documents = [
        compose.document(draw.gallery(each), edition, "letter", draft=True)
        for each in (books["breast"].evidence, dressed)
    ]
    bare, looked = (Counter(lines(document, "letter")) for document in documents)
    other = FILES if edition == "committee" else f"{TITLES}|{FILES}|{PLACES}"
    # The head of a table stands once more where that breaks.
    assert [word for word in bare - looked if not re.fullmatch(other, word) and word not in looked] == []
    pages = [PdfReader(io.BytesIO(press.pdf(document))).pages for document in documents]
    # An own chapter of the core is no more than a page, and the imprint one; the committee has neither.
    assert 0 <= len(pages[1]) - len(pages[0]) <= {"committee": 0, "regulatory": 2, "supplement": 3}[edition]
    assert "DRAFT" in pages[1][0].extract_text()


@pytest.mark.slow
@pytest.mark.parametrize("page", ["a4", "letter"])
@pytest.mark.parametrize("edition", PRINTED)
def test_the_widest_words_stand_in_the_margins(edition: Any, page: str, dressed: Evidence) -> None:
    widest = Templates(letterhead=f"{'W' * 60}\n{'M W ' * 15}", running_head="W" * 40, running_foot="{{model}} " * 6)
    given = {"templates": widest, "organisation": "W" * 60}
    report = dressed.release.report.model_copy(update=given)
    evidence = dataclasses.replace(dressed, release=dressed.release.model_copy(update={"report": report}))
    # The press refuses a word that has no room.
    first = PdfReader(io.BytesIO(press.pdf(compose.document(Gallery(evidence, {}, {}), edition, page)))).pages[0]
    assert "WWW" in first.extract_text()


@pytest.mark.parametrize("width", [15.0, 30.0, 45.0])
def test_words_without_room_say_that_they_go_on(width: float) -> None:
    words = "Approved by the committee of the hospital, 1 October 2026"
    shorter = widths.cut(words, width)
    assert shorter.endswith("…")
    assert words.startswith(shorter[:-1])
    assert widths.text_width(shorter) <= width < widths.text_width(words)
