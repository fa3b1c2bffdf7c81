"""The looks of an institution: what may be printed with them, and that they change no number."""

from __future__ import annotations

import base64
import dataclasses
import html
import io
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import tinyhtml5
from PIL import Image

from dossier import evaluate, reading
from dossier.core import looks
from dossier.core.command import Build
from dossier.core.contents import ON_PAPER
from dossier.core.errors import DossierError, ReleaseError
from dossier.core.types import Evidence, Gallery
from dossier.outputs import printing
from dossier.record import results, results_csv
from dossier.report import compose, draw, screen
from dossier.typeset.numbers import plain
from tests.conftest import RELEASES, Book
from tests.reference.built import hurried

TITLE, OWNER, ACCENT = "Recurrence after surgery", "Northern Hospitals, Board of Trustees", "#7a1f5c"
CROSS = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M4 0h1v9H4z" fill="#7a1f5c"/></svg>'
DECLARED = f'\n[report]\ntitle = "{TITLE}"\norganisation = "{OWNER}"\naccent = "{ACCENT}"\nlogo = "logo.svg"\n'


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
    """The small release in the looks of an institution."""
    folder = tmp_path_factory.mktemp("looks") / "breast"
    shutil.copytree(RELEASES["breast"], folder)
    with (folder / "release.toml").open("a", encoding="utf-8") as file:
        file.write(DECLARED)
    (folder / "logo.svg").write_bytes(CROSS)
    found = evaluate.evidence(hurried(reading.study(folder), bootstrap=20, permutations=19))
    return results.read(results.of(found).text()).evidence


def test_no_number_and_no_figure_is_another(dressed: Evidence, books: dict[str, Book]) -> None:
    bare = books["breast"].evidence
    texts = {}
    for name, evidence in {"bare": bare, "dressed": dressed}.items():
        said: dict[str, Any] = results.of(evidence).model_dump(mode="json")
        said["declared"].pop("report", None)
        # The files that were read are others: the logo, and a release.toml that names it.
        said["inputs"] = [entry for entry in said["inputs"] if entry["name"] not in ("logo.svg", "release.toml")]
        texts[name] = said
    assert texts["bare"] == texts["dressed"]
    assert results_csv.text(results.of(bare)) == results_csv.text(results.of(dressed))
    assert draw.gallery(bare).pictures == draw.gallery(dressed).pictures


def words(evidence: Evidence, edition: Any) -> str:
    """The text of an edition, without hashes and what is about files."""
    page = compose.document(Gallery(evidence, {}, {}), edition).html
    body = tinyhtml5.parse(page, namespace_html_elements=False).find("body")
    for section in list(body.iter("section")):
        if section.get("id") == "chapter-provenance":
            section.clear()
    text = " ".join(" ".join(plain("".join(body.itertext())).split()).split())
    return re.sub(r"(?<!\w)[0-9a-f]{4,}(?:[ …][0-9a-f]*)*(?!\w)", "", text)


@pytest.mark.parametrize("edition", ON_PAPER)
def test_the_words_are_the_same_but_for_title_and_name(edition: str, dressed: Evidence, books: dict[str, Book]) -> None:
    bare, looked = words(books["breast"].evidence, edition), words(dressed, edition)
    # The logo is one more file that was read.
    looked = looked.replace("Eight files were read", "Seven files were read")
    assert looked.count(OWNER) == 1
    looked = looked.replace(f"{OWNER} · ", "")
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
    tree = tinyhtml5.parse(page, namespace_html_elements=False)
    (logo,) = tree.iterfind(".//img[@class='logo']")
    assert (logo.get("src"), logo.get("alt")) == (looks.embedded(CROSS), OWNER)
    assert tree.get("style") == f"--accent: {ACCENT}"
    assert tree.find("body").get("data-model", "").startswith(f"{OWNER} · ")


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
        printing.printed(text, Build(edition="committee"))


def test_a_logo_stays_beside_the_release(tmp_path: Path) -> None:
    folder = tmp_path / "breast"
    shutil.copytree(RELEASES["breast"], folder)
    (tmp_path / "logo.svg").write_bytes(CROSS)
    with (folder / "release.toml").open("a", encoding="utf-8") as file:
        file.write(DECLARED.replace('"logo.svg"', '"../logo.svg"'))
    with pytest.raises(DossierError) as error:
        reading.study(folder, allow_outside=True)
    assert [fault.code for fault in error.value.faults] == ["file_outside"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('style = "house.css"', "own_style_key"),
        ('templates = "house"', "own_style_key"),
        ('font = "house.woff2"', "own_style_key"),
        ('accent = "#14507f; display: none"', "unread_colour"),
        ('accent = "#ffffff"', "unread_colour"),
        ('accent = "transparent"', "unread_colour"),
        (r'title = "AUROC \u202e25.0"', "letter"),
        (r'organisation = "\u200b"', "letter"),
        ('logo = "release.toml"', "not_a_logo"),
    ],
)
def test_looks_that_could_hide_or_change_a_number_are_refused(tmp_path: Path, line: str, code: str) -> None:
    folder = tmp_path / "breast"
    shutil.copytree(RELEASES["breast"], folder)
    with (folder / "release.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n[report]\n{line}\n")
    with pytest.raises(DossierError) as error:
        reading.study(folder)
    assert code in "".join(fault.code for fault in error.value.faults)
    assert "[report]" in str(error.value)
