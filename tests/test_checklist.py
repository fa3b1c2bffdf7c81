"""The checklist: its rows, what counts as an answer, and what does not."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dossier import checklist, contents, evaluate, load
from dossier.types import Evidence
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
