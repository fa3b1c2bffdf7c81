"""The checklist: its rows, what counts as an answer, and what does not."""

from __future__ import annotations

import csv
import datetime
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from pypdf import PdfReader

from dossier import evaluate, reading
from dossier.core import checklist, contents, tripod
from dossier.core.facts import Fact
from dossier.core.types import DatasetSummary, Evidence, Gallery
from dossier.report import compose, draw, press
from dossier.report import model_card as xml
from dossier.report.chapters import abstract, model_card, probast
from dossier.report.chapters import checklist as page
from tests.conftest import Book, by_hand
from tests.figures.evidence import Case
from tests.reference.tables import REFERENCE
from tests.smallest import HEAD, SITE, release_in

BIOPSY = Path(__file__).resolve().parent.parent / "fixtures" / "biopsy"
GRADES = ("G0", "G1", "G2", "G3")
CONTINUED = " (Continued: row 3a of the checklist gives the page.)"
RELEASE = f"{HEAD}[resampling]\nbootstrap = 2\npermutations = 9\n{SITE}"


def evidence_of(folder: Path, added: str = "") -> Evidence:
    rows = "\n".join(f"{k % 2},{0.1 + 0.008 * k:.3f}" for k in range(100))
    return evaluate.evidence(reading.study(release_in(folder, RELEASE + added, site__csv=f"outcome,risk\n{rows}\n")))


def status(folder: Path, item: str, added: str = "") -> tuple[str, str | Fact | None]:
    """The status of a row, with the chapter that answers it or why it asks for nothing."""
    (row,) = (row for row in evidence_of(folder, added).checklist if row.item == item)
    return row.status, row.where or row.reason


def test_the_rows_and_to_whom_they_apply_are_those_of_the_guideline() -> None:
    with (REFERENCE / "tripod_ai.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    applies = {"D;E": "both", "D": "development", "E": "evaluation"}
    assert [(each.number, each.applies) for each in tripod.ITEMS] == [
        (row["item"], applies[row["applies"]]) for row in rows
    ]
    assert len(tripod.ITEMS) == 52
    assert len({each.number.rstrip("abcdefg") for each in tripod.ITEMS}) == 27


def test_every_row_points_to_a_chapter_of_the_book() -> None:
    known = {*contents.ORDER} | {"cover"}
    assert {item.where for item in tripod.ITEMS} <= known


def test_silence_is_missing_and_never_taken_for_none(tmp_path: Path) -> None:
    found = evidence_of(tmp_path)
    for item in (item for item in tripod.ITEMS if item.conditional):
        (row,) = (row for row in found.checklist if row.item == item.number)
        assert (row.status, row.where) == ("missing", None), item.number


@pytest.mark.parametrize(
    ("item", "added", "expected"),
    [
        ("1", "", ("missing", None)),
        ("1", '[statements]\n3b = "For adults."\n', ("declared", "cover")),
        ("1", '[intended_use]\nfor = "Adults."\n', ("declared", "cover")),
        ("3b", "", ("missing", None)),
        ("3b", '[intended_use]\nfor = "Adults."\n', ("declared", "context")),
        ("3b", '[intended_use]\nfor = "TBD"\n', ("missing", None)),
        ("6a", "", ("missing", None)),
        ("18f", "", ("missing", None)),
        ("18f", '[statements]\n18f = "In the repository."\n', ("declared", "statements")),
        ("3a", '[statements]\n3a = "Many are readmitted."\n', ("declared", "statements")),
        ("25", '[statements]\n25 = "It ranks well."\n', ("narrative", "statements")),
        ("17", '[statements]\n17 = { none = "No board: the tables are public." }\n', ("stated_none", "statements")),
        ("9a", "", ("development_only", None)),
        ("9a", '[statements]\n9a = "By hand."\n', ("declared", "statements")),
        ("12d", "", ("not_applicable", Fact("one_external_site"))),
        ("24", '[statements]\n12f = { none = "Nothing was updated." }\n', ("not_applicable", Fact("nothing_updated"))),
        ("24", "", ("missing", None)),
        ("12f", '[update]\nmethods = ["intercept"]\n', ("computed", "updating")),
        ("24", '[update]\nmethods = ["intercept"]\n', ("computed", "updating")),
        ("15", "[thresholds]\ndeclared = [0.5]\n", ("development_only", None)),
        ("15", '[thresholds]\ndeclared = [0.5]\nrationale = "As before."\n', ("declared", "context")),
        ("26", "", ("missing", None)),
        ("5b", "", ("missing", None)),
    ],
)
def test_what_answers_a_row(tmp_path: Path, item: str, added: str, expected: tuple[str, str | Fact | None]) -> None:
    assert status(tmp_path, item, added) == expected


def test_places_of_all_sites_and_how_alike_their_patients_are_answer_their_rows(books: dict[str, Book]) -> None:
    """Of one release every hospital has its country and its setting, of the other patients are compared."""

    def answered(book: str, item: str) -> tuple[str, str | None]:
        silent = replace(books[book].evidence, statements={})
        return next((row.status, row.where) for row in checklist.rows(silent) if row.item == item)

    assert answered("relapse", "6a") == ("declared", "context")
    assert answered("knee", "6a") == ("missing", None)
    assert answered("knee", "16") == ("declared", "correspondence")
    assert answered("relapse", "16") == ("missing", None)


def test_limitations_are_answered_when_every_flag_is(tmp_path: Path) -> None:
    raised = [flag.flag for flag in evidence_of(tmp_path).flags]
    assert raised
    replies = "".join(f'[[reply]]\nflag = "{flag}"\nsays = "We know."\n' for flag in dict.fromkeys(raised))
    assert status(tmp_path, "26", replies) == ("declared", "limitations")


@pytest.mark.parametrize(
    "text",
    ["TBD", "tbd.", "To be written", "TODO: ask Anna", "Lorem ipsum dolor sit amet", "...", "-", "n/a", "xxx", "?"],
)
def test_a_placeholder_is_missing(tmp_path: Path, text: str) -> None:
    assert status(tmp_path, "3a", f'[statements]\n3a = "{text}"\n') == ("missing", None)
    assert status(tmp_path, "19", f'[statements]\n19 = {{ none = "{text}" }}\n') == ("missing", None)


@pytest.mark.parametrize(
    "text", ["None of the patients was treated.", "Nassau County", "Todd and others, 2020.", "A note."]
)
def test_a_short_answer_is_no_placeholder(text: str) -> None:
    assert not checklist.is_placeholder(text)


def test_a_quick_look_fills_no_checklist(tmp_path: Path) -> None:
    evidence_of(tmp_path)
    assert evaluate.evidence(reading.quick(tmp_path / "site.csv", "outcome", "risk")).checklist == ()


# ---- what is printed beside the rows --------------------------------------------------------------------------------


def test_the_index_of_fairness_names_the_rows_that_may_speak_of_it(tmp_path: Path) -> None:
    named = [line.item.number for line in page.fairness(evidence_of(tmp_path))]
    assert sorted(named) == sorted(["3c", "7", "8a", "8b", "9c", "12f", "14", "20b", "23a", "25"])


def test_the_characteristics_are_computed_only_where_predictors_are_given(tmp_path: Path) -> None:
    evidence = evidence_of(tmp_path)
    for features, status in (((), "missing"), (("age",), "computed")):
        held = replace(evidence, datasets=tuple(replace(each, features=features) for each in evidence.datasets))
        assert {row.item: row.status for row in checklist.rows(held)}["20b"] == status


def test_each_row_of_the_checklist_is_printed_once(tmp_path: Path) -> None:
    """In one half of the table or the other, or among those that ask for nothing, by why."""
    evidence = evidence_of(tmp_path)
    halves = page.halves(evidence)
    beside = [left for left, _ in halves] + [right for _, right in halves if right is not None]
    quiet = [line for lines in page.quiet(evidence).values() for line in lines]
    assert sorted(beside + quiet, key=page.lines(evidence).index) == page.lines(evidence)
    assert all(line.kind != "quiet" for line in beside)
    assert {line.status for line in quiet} == set(page.quiet(evidence))


def test_several_sites_ask_more_than_one(tmp_path: Path) -> None:
    evidence = evidence_of(tmp_path)
    assert page.several_sites(evidence) == []
    (site,) = evidence.datasets
    two = replace(evidence, datasets=(site, replace(site, name="another")))
    asked = {line.item.number for _, line in page.several_sites(two)}
    assert {"12d", "20a", "20b", "23b"} <= asked


def test_the_evidence_for_the_risk_of_bias_has_the_questions_of_each_domain(tmp_path: Path) -> None:
    assert [len(lines) for _, lines in probast.domains(evidence_of(tmp_path))] == [3, 4, 4, 7]


def test_the_evidence_for_bias_points_where_the_checklist_does(tmp_path: Path) -> None:
    evidence = evidence_of(tmp_path, '[statements]\n8a = "By phone."\n8c = { none = "Not blind." }\n')
    asked = {line.question.asks: line for _, lines in probast.domains(evidence) for line in lines}
    blind = asked["Was it assessed without knowing the predictors?"]
    assert [words for words, _ in blind.rows] == ["8c stated: none"]
    assert [(row.is_said, row.where) for _, row in blind.rows] == [(True, "statements")]
    assert blind.further == ()
    late = asked["Was the time between predictors and outcome right?"]
    assert [words for words, _ in late.rows] == ["8a", "5b MISSING"]
    assert late.further == ("description",)
    html = compose.document(Gallery(evidence, {}, {}), "supplement").html
    # Of row 8c the list of the rows that speak of fairness says nothing: checklist and evidence point to it once each.
    assert html.count('href="#row-8c"') == 2


def test_the_abstract_has_thirteen_lines(tmp_path: Path) -> None:
    lines = abstract.lines(evidence_of(tmp_path))
    assert len(lines) == 13
    assert [line.label for line in lines if line.open] == [
        "Background", "Objective", "Setting and eligibility", "Interpretation", "Registration",
    ]  # fmt: skip


def test_what_a_new_hospital_may_expect_stands_beside_the_pooled_auroc(books: dict[str, Book]) -> None:
    starts = {
        "knee": "In a new hospital like these the AUROC may lie",
        "biopsy": "No prediction interval: fewer than five sites.",
    }
    for name, start in starts.items():
        (text,) = (line.text for line in abstract.lines(books[name].evidence) if line.label == "Results")
        sentences = re.split(r"(?<=[.)]) (?=[A-Z])", text)
        index = next(k for k, sentence in enumerate(sentences) if sentence.startswith(start))
        assert sentences[index - 1].startswith("Pooled AUROC")
        assert "per 100 patients" not in text
    assert "Risks are too extreme for G0 at Graft 3" in text
    assert "far too high for G3 at Graft 3" in text
    assert "Pooled AUROC, mean of the classes," in text


@pytest.mark.parametrize(
    ("sites", "said"),
    [
        (("Rho, Italy",), "One external site: Rho, Italy."),
        (("Budapest, Hungary", "Zurich"), "Two external sites: Budapest, Hungary; and Zurich."),
        (tuple(f"Hospital {index}" for index in range(12)), "12 external sites, named in the chapter on the data."),
    ],
)
def test_sources_are_told_apart_or_counted(sites: tuple[str, ...], said: str) -> None:
    lines = abstract.lines(by_hand(Case("sites", sites)))
    assert [line.text for line in lines if line.label == "Sources of data"] == [said]


def test_what_it_is_not_for_stands_in_sentences(knee: Book) -> None:
    release = knee.evidence.release
    use = release.intended_use.model_copy(update={"not_for": ("any patient", "Children.")})
    changed = replace(knee.evidence, release=release.model_copy(update={"intended_use": use}))
    assert ("Not for", "Any patient. Children.", False) in model_card.about(changed)


def test_the_page_of_a_row_is_that_of_its_text(knee: Book) -> None:
    html = compose.document(Gallery(knee.evidence, {}, {}), "supplement").html
    said = [line for line in page.lines(knee.evidence) if line.is_said]
    assert {"17", "25"} <= {line.item.number for line in said}
    for line in said:
        assert html.count(f'id="row-{line.item.number}"') == 1
        assert f'href="#row-{line.item.number}"' in html


def test_a_card_takes_what_the_checklist_states(breast: Book) -> None:
    rows = {label: (text, is_open) for label, text, is_open in model_card.about(breast.evidence)}
    rows |= {label: (text, is_open) for label, text, is_open in model_card.stated(breast.evidence)}
    assert rows["Inputs"] == (" ".join(breast.evidence.statements["9b"].split()), False)
    use = breast.evidence.release.intended_use
    assert use is not None
    assert rows["Intended use"] == (use.for_, False)
    assert rows["Intended use"][0].startswith(
        "Nobody: an example on public data, which must not be used for decisions."
    )
    assert rows["Known failures"] == (model_card.OPEN, True)


def test_a_declaration_loses_no_sentence(tmp_path: Path) -> None:
    use = "For adults. A doctor reads it. It must not be used for `decisions`."
    evidence = evidence_of(tmp_path, f'[statements]\n3a = "One. Two. It is not in clinical use"\n3b = "{use}"\n')
    assert ("Background", "One. Two. It is not in clinical use.") in [
        (line.label, line.text) for line in abstract.lines(evidence)
    ]
    assert ("Intended use", use.replace("`", ""), False) in model_card.about(evidence)
    assert xml.text(evidence).decode().count(use) == 2


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        # 13 sentences of 50 letters with 12 spaces are 662 letters, 14 are 713.
        (" ".join([f"A{'b' * 48}."] * 20), " ".join([f"A{'b' * 48}."] * 13) + CONTINUED),
        (" ".join([f"A{'b' * 48}."] * 13), " ".join([f"A{'b' * 48}."] * 13)),
        (f"A{'b' * 900}. Not here.", f"A{'b' * 900}." + CONTINUED),
        ("Not for:\n\n- children\n- *pilots* of size_band\n", "Not for: children. pilots of size_band."),
        ("See [the list](https://example.org):\n\n| a |\n|---|\n| b |\n", "See the list:" + CONTINUED),
    ],
)
def test_a_text_that_is_too_long_says_where_it_goes_on(tmp_path: Path, text: str, printed: str) -> None:
    evidence = replace(evidence_of(tmp_path), statements={"3a": text})
    assert abstract.in_full(evidence, "3a") == printed
    assert abstract.in_full(evidence, "3b") is None


def test_what_the_model_was_made_from_is_its_own_table(tmp_path: Path) -> None:
    dates = (datetime.date(1978, 1, 1), datetime.date(1987, 12, 31))
    made_from = DatasetSummary(
        "d", "development", "Rotterdam to 1987", 1165, 284, 1167, {"outcome_missing": 2}, (), dates=dates
    )
    stated = '[statements]\n5a = "Two tables. One is the test."\n'
    without = evidence_of(tmp_path, stated)
    said = "Rotterdam to 1987: 1,165 patients, 284 events, 2 rows not analysed, 1978 to 1987."
    evidence = replace(without, datasets=(made_from, *without.datasets))
    assert model_card.stated(evidence)[-1] == ("Development data", spaced(said), False)
    characterized = f"<DevelopmentDataCharacterization>{spaced(said)}<"
    assert characterized in xml.text(evidence).decode()
    graded = replace(made_from, events=None, class_counts={"G0": 1000, "G1": 165}, excluded={}, dates=None)
    evidence = replace(without, datasets=(graded, *without.datasets))
    assert model_card.stated(evidence)[-1][1] == spaced("Rotterdam to 1987: 1,165 patients, 1,000 of G0, 165 of G1.")
    assert model_card.stated(without)[-1] == ("Sources of data", "Two tables. One is the test.", False)
    assert model_card.stated(replace(without, statements={}))[-1] == ("Development data", model_card.OPEN, True)


def spaced(text: str) -> str:
    """The text with the spaces at which no line may end."""
    return re.sub(
        r"(?<=\d) (?=patients|events|rows|[A-Z][a-z]{2} \d)|(?<=[A-Z][a-z]{2}) (?=\d)", "\N{NO-BREAK SPACE}", text
    )


def test_the_mean_of_the_classes_hides_no_class(books: dict[str, Book]) -> None:
    evidence = books["biopsy"].evidence
    ratios = {}
    for position in (1, 2, 3):
        with (BIOPSY / f"graft-{position}.csv").open(encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["grade"] and all(row[f"risk_{word}"] for word in GRADES)]
        for grade in GRADES:
            ratio = sum(row["grade"] == grade for row in rows) / sum(float(row[f"risk_{grade}"]) for row in rows)
            ratios[ratio] = f"{ratio:.2f} ({grade} at Graft {position})"
    lowest, highest = ratios[min(ratios)], ratios[max(ratios)]
    (text,) = (line.text for line in abstract.lines(evidence) if line.label == "Results")
    assert f"By class and site the observed to expected ratio is lowest at {lowest} and highest at {highest}." in text


def test_a_draft_is_marked_on_every_page_and_names_what_is_open(tmp_path: Path) -> None:
    gallery = draw.gallery(evidence_of(tmp_path))
    plain, draft = (compose.document(gallery, "committee", draft=marked) for marked in (False, True))
    texts = [page.extract_text() for page in PdfReader(io.BytesIO(press.pdf(draft))).pages]
    assert all("DRAFT" in text.upper() for text in texts)
    assert not any(path.name == "draft.css" for path in plain.stylesheets)
    regulatory = compose.document(gallery, "regulatory", draft=True).html
    assert "Open in this draft" in regulatory
    assert "compliant" not in regulatory.lower()
