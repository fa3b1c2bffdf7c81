"""The checklist: its rows, what counts as an answer, and what does not."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from pypdf import PdfReader

from dossier import checklist, compose, contents, draw, evaluate, load, press
from dossier.findings import abstract, model_card, probast
from dossier.findings import checklist as page
from dossier.types import Evidence
from tests.conftest import Book
from tests.smallest import HEAD, SITE

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of shared data is not beside the repository")

RELEASE = f"{HEAD}[resampling]\nbootstrap = 2\npermutations = 9\n{SITE}"


def evidence_of(folder: Path, added: str = "") -> Evidence:
    rows = "\n".join(f"{k % 2},{0.1 + 0.008 * k:.3f}" for k in range(100))
    (folder / "release.toml").write_text(RELEASE + added, encoding="utf-8")
    (folder / "site.csv").write_text(f"outcome,risk\n{rows}\n", encoding="utf-8")
    return evaluate.evidence(load.study(folder))


def status(folder: Path, item: str, added: str = "") -> tuple[str, str | None]:
    (row,) = (row for row in evidence_of(folder, added).checklist if row.item == item)
    return row.status, row.where


@needs_shared
def test_the_rows_and_to_whom_they_apply_are_those_of_the_guideline() -> None:
    with (SHARED / "tripod_ai.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    applies = {"D;E": "both", "D": "development", "E": "evaluation"}
    assert [(one.number, one.applies) for one in checklist.ITEMS] == [
        (row["item"], applies[row["applies"]]) for row in rows
    ]
    assert len(checklist.ITEMS) == 52
    assert len({one.number.rstrip("abcdefg") for one in checklist.ITEMS}) == 27


def test_every_row_points_to_a_chapter_of_the_book() -> None:
    known = {chapter.name for chapter in contents.CHAPTERS} | {"cover"}
    assert {item.where for item in checklist.ITEMS} <= known


def test_silence_is_missing_and_never_taken_for_none(tmp_path: Path) -> None:
    found = evidence_of(tmp_path)
    for item in (item for item in checklist.ITEMS if item.conditional):
        (row,) = (row for row in found.checklist if row.item == item.number)
        assert (row.status, row.where) == (checklist.MISSING, None), item.number


@pytest.mark.parametrize(
    ("item", "added", "expected"),
    [
        ("1", "", ("reported, computed", "cover")),
        ("3a", '[statements]\n3a = "Many are readmitted."\n', ("reported, declared", "context")),
        ("25", '[statements]\n25 = "It ranks well."\n', ("reported, narrative", "limitations")),
        (
            "17",
            '[statements]\n17 = { none = "No board was asked: the tables are public." }\n',
            ("stated none", "context"),
        ),
        ("9a", "", ("not applicable, development only", None)),
        ("9a", '[statements]\n9a = "By hand."\n', ("reported, declared", "context")),
        ("12d", "", ("not applicable, one external site", None)),
        (
            "24",
            '[statements]\n12f = { none = "Nothing was updated." }\n',
            ("not applicable, nothing was updated (12f)", None),
        ),
        ("24", "", (checklist.MISSING, None)),
        ("15", "[thresholds]\ndeclared = [0.5]\n", ("not applicable, development only", None)),
        (
            "15",
            '[thresholds]\ndeclared = [0.5]\nrationale = "As before."\n',
            ("reported, declared", "context"),
        ),
        ("26", "", (checklist.MISSING, None)),
        ("5b", "", (checklist.MISSING, None)),
    ],
)
def test_what_answers_a_row(tmp_path: Path, item: str, added: str, expected: tuple[str, str | None]) -> None:
    assert status(tmp_path, item, added) == expected


def test_limitations_are_answered_when_every_flag_is(tmp_path: Path) -> None:
    raised = [flag.flag for flag in evidence_of(tmp_path).flags]
    assert raised
    replies = "".join(f'[[reply]]\nflag = "{flag}"\nsays = "We know."\n' for flag in dict.fromkeys(raised))
    assert status(tmp_path, "26", replies) == ("reported, declared", "limitations")


@pytest.mark.parametrize(
    "text",
    ["TBD", "tbd.", "To be written", "TODO: ask Anna", "Lorem ipsum dolor sit amet", "...", "-", "n/a", "xxx", "?"],
)
def test_a_placeholder_is_missing(tmp_path: Path, text: str) -> None:
    assert status(tmp_path, "3a", f'[statements]\n3a = "{text}"\n') == (checklist.MISSING, None)
    assert status(tmp_path, "19", f'[statements]\n19 = {{ none = "{text}" }}\n') == (checklist.MISSING, None)


@pytest.mark.parametrize(
    "text", ["None of the patients was treated.", "Nassau County", "Todd and others, 2020.", "A note."]
)
def test_a_short_answer_is_no_placeholder(text: str) -> None:
    assert not checklist.is_placeholder(text)


def test_a_quick_look_fills_no_checklist(tmp_path: Path) -> None:
    evidence_of(tmp_path)
    assert evaluate.evidence(load.quick(tmp_path / "site.csv", "outcome", "risk")).checklist == ()


# ---- what is printed beside the rows --------------------------------------------------------------------------------


def test_the_index_of_fairness_names_the_rows_that_may_speak_of_it(tmp_path: Path) -> None:
    pairs = page.fairness(evidence_of(tmp_path))
    named = [line.item.number for pair in pairs for line in pair if line]
    assert sorted(named) == sorted(["3c", "7", "8a", "8b", "9c", "12f", "14", "20b", "23a", "25"])


def test_several_sites_ask_more_than_one(tmp_path: Path) -> None:
    one = evidence_of(tmp_path)
    assert page.several_sites(one) == []
    (site,) = one.datasets
    two = replace(one, datasets=(site, replace(site, name="another")))
    asked = {line.item.number for _, line in page.several_sites(two)}
    assert {"12d", "20a", "20b", "23b"} <= asked


def test_the_evidence_for_the_risk_of_bias_has_the_questions_of_each_domain(tmp_path: Path) -> None:
    assert [len(lines) for _, lines in probast.domains(evidence_of(tmp_path))] == [3, 4, 4, 7]


def test_the_abstract_has_thirteen_lines(tmp_path: Path) -> None:
    lines = abstract.lines(evidence_of(tmp_path))
    assert len(lines) == 13
    assert [line.label for line in lines if line.open] == [
        "Background", "Objective", "Setting and eligibility", "Interpretation", "Registration",
    ]  # fmt: skip


def test_what_a_new_hospital_may_expect_stands_beside_the_pooled_auroc(books: dict[str, Book]) -> None:
    for book in (books["knee"], books["biopsy"]):
        (text,) = (line.text for line in abstract.lines(book.evidence) if line.label == "Results")
        sentences = re.split(r"(?<=[.)]) (?=[A-Z])", text)
        place = next(k for k, one in enumerate(sentences) if one.startswith("In a new hospital like these it is"))
        assert sentences[place - 1].startswith("Pooled AUROC")
        assert "per 100 patients" not in text
    assert "Risks are far too high for G3 at Graft 3" in text
    assert "Pooled AUROC, mean of the classes," in text


def test_the_page_of_a_row_is_that_of_its_text(knee: Book) -> None:
    html = compose.document(knee.gallery, "regulatory").html
    said = [line for line in page.lines(knee.evidence) if line.is_said]
    assert {"17", "25"} <= {line.item.number for line in said}
    for line in said:
        assert html.count(f'id="row-{line.item.number}"') == 1
        assert f'href="#row-{line.item.number}"' in html


def test_a_card_takes_what_the_checklist_states(breast: Book) -> None:
    told = {label: (text, is_open) for label, text, is_open in model_card.about(breast.evidence)}
    told |= {label: (text, is_open) for label, text, is_open in model_card.stated(breast.evidence)}
    for label, item in (("Intended use", "3b"), ("Inputs", "9b"), ("Development data", "5a")):
        assert told[label] == (abstract.first_sentences(breast.evidence.statements[item]), False)
    assert told["Known failures"] == (model_card.OPEN, True)


def test_a_draft_is_marked_on_every_page_and_names_what_is_open(tmp_path: Path) -> None:
    gallery = draw.gallery(evidence_of(tmp_path))
    plain, draft = (compose.document(gallery, "committee", draft=marked) for marked in (False, True))
    texts = [page.extract_text() for page in PdfReader(io.BytesIO(press.pdf(draft))).pages]
    assert all("DRAFT" in text.upper() for text in texts)
    assert not any(path.name == "draft.css" for path in plain.stylesheets)
    regulatory = compose.document(gallery, "regulatory", draft=True).html
    assert "Open in this draft" in regulatory
    assert "compliant" not in regulatory.lower()
