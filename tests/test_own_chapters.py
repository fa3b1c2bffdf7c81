"""Chapters of an institution's own: their words, what is kept out of them, and that they change no number."""

from __future__ import annotations

import hashlib
import html
import io
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import tinyhtml5
from pypdf import PdfReader

from dossier import evaluate, reading
from dossier.core.release import OwnChapter
from dossier.core.types import Estimate, Evidence, Gallery, find
from dossier.record import results, results_csv
from dossier.report import compose, draw, press, screen
from dossier.typeset import numbers
from tests.conftest import RELEASES, Book
from tests.estimated import refused
from tests.reference.built import hurried

TITLE = "How we use it on our wards"
TEXT = f"""# {TITLE}

It ranks with an AUROC of {{auroc@gbsg}}.
<b onclick="x()">raw</b> ![a picture](https://x.example/y.png) [a link](https://example.org) [bad](javascript:alert(1))

## Who calls whom

| Ward | Calls |
|---|---|
| North | the consultant |
"""


def release(folder: Path, text: str = TEXT, more: str = "") -> Path:
    shutil.copytree(RELEASES["breast"], folder)
    (folder / "local.md").write_text(text)
    with (folder / "release.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[report]\nchapters = ["local.md"]\n{more}')
    return folder


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """The small release with a chapter and the looks of an institution."""
    looks = 'title = "Ours"\norganisation = "Northern Hospitals"\naccent = "#7a1f5c"\n'
    study = reading.study(release(tmp_path_factory.mktemp("own") / "breast", more=looks))
    return results.read(results.of(evaluate.evidence(hurried(study, bootstrap=20, permutations=19))).text()).evidence


def test_no_number_is_another(added: Evidence, books: dict[str, Book]) -> None:
    bare = books["breast"].evidence
    assert results_csv.text(results.of(bare)) == results_csv.text(results.of(added))
    assert draw.gallery(bare).pictures == draw.gallery(added).pictures
    for edition in ("regulatory", "committee"):
        tables = [
            re.findall(r"<table.*?</table>", compose.document(Gallery(each, {}, {}), edition).html, re.DOTALL)
            for each in (bare, added)
        ]
        assert tables[0] == tables[1]


def test_it_closes_the_supplement_with_living_numbers_and_nothing_that_runs(added: Evidence) -> None:
    page = compose.document(Gallery(added, {}, {}), "supplement").html
    section = list(tinyhtml5.parse(page, namespace_html_elements=False).iter("section"))[-1]
    assert section.get("id") == "chapter-own-1"
    assert not list(section.iter("img"))
    assert [link.get("href") for link in section.iter("a")] == ["https://example.org"]
    assert [head.text for head in section.iter("h2")] == ["Who calls whom"]
    said = numbers.plain(" ".join("".join(section.itertext()).split()))
    auroc = find(added, "auroc", "gbsg")
    assert isinstance(auroc, Estimate)
    assert f"AUROC of {auroc.value:.2f}" in said
    assert "The words of this chapter are those of Northern Hospitals." in said
    assert '<b onclick="x()">raw</b> a picture a link [bad](javascript:alert(1))' in said
    core = numbers.plain(html.unescape(compose.document(Gallery(added, {}, {}), "regulatory").html))
    assert core.count(TITLE) == 1


def test_contents_bookmarks_and_the_screen_have_it(added: Evidence) -> None:
    gallery = draw.gallery(added)
    document = compose.document(gallery, "supplement")
    assert document.html.count('href="#chapter-own-1"') == 2
    outline = PdfReader(io.BytesIO(press.pdf(document))).outline
    marks = [item["/Title"] for item in outline if not isinstance(item, list)]
    assert str(marks[-1]).endswith(TITLE)
    assert 'id="supplement-chapter-own-1"' in screen.page(gallery, results.of(added).text()).decode()


def test_it_stands_behind_the_chapter_that_it_names(tmp_path: Path) -> None:
    folder = release(tmp_path / "breast", more='leave_out = ["nomogram"]\n')
    after = ("calibration", "calibration", "nomogram", "methods", "changes")
    names = [f"own{number}.md" for number in range(len(after))]
    for number, name in enumerate(names):
        (folder / name).write_text(f"# Words {number}\n\nOurs.\n")
    placed = ", ".join(f'{{ file = "{name}", after = "{each}" }}' for name, each in zip(names, after, strict=True))
    file = folder / "release.toml"
    file.write_text(file.read_text().replace('["local.md"]', f'["local.md", {placed}]'))
    found = evaluate.evidence(hurried(reading.study(folder), bootstrap=20, permutations=19))
    read = results.read(results.of(found).text()).evidence
    stands: dict[str, list[str]] = {}
    for edition in ("regulatory", "supplement"):
        page = compose.document(Gallery(read, {}, {}), edition).html
        stands[edition] = re.findall(r'<section class="chapter" id="chapter-([\w-]+)"', page)
        numbers_of = re.findall(r'<h1><span class="no">S?(\d+)</span>', page)
        assert numbers_of == [str(number) for number in range(1, len(stands[edition]) + 1)]
        assert re.findall(r'<a href="#chapter-([\w-]+)">', page)[: len(stands[edition])] == stands[edition]
    core, more = stands["regulatory"], stands["supplement"]
    assert core[core.index("calibration") :][1:3] == ["own-2", "own-3"]
    # There is no earlier release: behind the last chapter before that in the book.
    assert core[core.index("own-6") - 1] == "context"
    assert more[more.index("methods") + 1] == "own-5"
    assert "nomogram" not in more
    assert more[-1] == "own-1"
    assert {"own-4"} < set(more)
    assert not set(core) & {"own-1", "own-4", "own-5"}


def test_a_chapter_that_the_core_has_no_room_for_stands_in_the_supplement(added: Evidence) -> None:
    """In results that nobody read from a release; there it is a fault."""
    long = OwnChapter(file="# Long\n\n" + "A line.\n\n" * 40, after="calibration")
    report = added.release.report.model_copy(update={"chapters": (long,)})
    made = replace(added, release=added.release.model_copy(update={"report": report}))
    texts = [compose.document(Gallery(made, {}, {}), edition).html for edition in ("regulatory", "supplement")]
    assert ['chapter-own-1"><' in re.sub(r"\s", "", text) for text in texts] == [False, True]


def test_the_manifest_has_the_hash_of_its_file(added: Evidence) -> None:
    (own,) = [file for file in added.inputs if file.name == "local.md"]
    assert own.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()


def test_a_title_may_hold_a_number_and_two_files_the_same_words(tmp_path: Path) -> None:
    text = "# In our own hospital the area under the curve was found to be {auroc@gbsg}\n\nWords.\n"
    folder = release(tmp_path / "breast", text)
    (folder / "again.md").write_text(text)
    file = folder / "release.toml"
    file.write_text(file.read_text().replace('["local.md"]', '["local.md", "again.md"]'))
    found = evaluate.evidence(hurried(reading.study(folder), bootstrap=20, permutations=19))
    read = results.read(results.of(found).text()).evidence
    supplement = numbers.plain(html.unescape(compose.document(Gallery(read, {}, {}), "supplement").html))
    assert len(re.findall(r"<h1><span[^>]*>S\d+</span>[^<]*was found to be 0\.\d\d \(", supplement)) == 2


def test_a_file_that_is_not_there_is_told_once(tmp_path: Path) -> None:
    folder = release(tmp_path / "breast")
    (folder / "local.md").unlink()
    assert len(refused(reading.study, folder).faults) == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (TEXT.replace("auroc@gbsg", "auroc@nowhere"), "not_a_dataset"),
        (TEXT.removeprefix("# "), "chapter_without_title"),
        (f"# {TITLE}\n", "chapter_without_title"),
        (f"# {'long ' * 20}\nWords.", "chapter_without_title"),
        (TEXT + "\x00", "letter"),
        (TEXT + f"\n{'|a' * 13}|\n{'|-' * 13}|\n", "wide_table"),
    ],
)
def test_what_cannot_be_printed_is_told(tmp_path: Path, text: str, code: str) -> None:
    assert code in " ".join(fault.code for fault in refused(reading.study, release(tmp_path / "breast", text)).faults)
