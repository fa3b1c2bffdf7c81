"""The committee edition: our own hospital first, words that everybody knows, and a first page that suffices."""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from dossier import compose, press, results
from dossier.facts import Method
from dossier.findings import committee, subgroups
from dossier.findings.committee.dangers import PLAIN
from dossier.findings.committee.plain import abridged
from dossier.register import fill
from dossier.release import Release
from dossier.types import (
    Absent,
    Criterion,
    Curve,
    CurveResult,
    Document,
    Estimate,
    Evidence,
    Flag,
    Gallery,
    Picture,
    externals,
    find,
    find_curve,
)
from tests.conftest import Book, by_hand
from tests.figures.evidence import COVID, THRESHOLD, Case
from tests.reasons import because

COMMON = frozenset((Path(__file__).parent / "common_words.txt").read_text(encoding="utf-8").split())
"""Words that need no explanation, one form a line."""
MOST_ON_A_PAGE = 30
"""Rows of the table of places."""
PAPERS = ("a4", "letter")
FIGURES = ("committee_calibration", "committee_ranking", "committee_thousand")
LONG = tuple(f"University Hospital of Marienbad and of the Upper Valley, Ward {place:04d}" for place in range(8))


# ---- editions -------------------------------------------------------------------------------------------------------


def edition(evidence: Evidence, paper: str = "a4") -> Document:
    """The committee edition of an evidence, with its own pictures alone."""
    makers = fill("figures").figures
    drawn = {name: makers[name].function(evidence) for name in FIGURES}
    kept = {name: one for name, one in drawn.items() if isinstance(one, Picture)}
    return compose.document(Gallery(evidence, kept, {}), "committee", paper)


def at_home(evidence: Evidence, place: int | None) -> Evidence:
    """The evidence with one of the external sites as our own."""
    return dataclasses.replace(evidence, local_site=None if place is None else externals(evidence)[place].name)


def counted_at_sites(evidence: Evidence, *cells: float) -> Evidence:
    """The evidence with the same counts of 1,000 at each site."""
    names = ("true_positive", "false_negative", "false_positive", "true_negative")
    columns = {"threshold": (THRESHOLD,), **{name: (cell,) for name, cell in zip(names, cells, strict=True)}}
    curves = [
        CurveResult("per_thousand_of_site", site.name, Curve(columns, site.n, Method("counts")))
        for site in evidence.datasets
    ]
    return dataclasses.replace(evidence, curves=(*evidence.curves, *curves))


def with_release(evidence: Evidence, **blocks: Any) -> Evidence:
    """The evidence with other blocks in its release."""
    given = evidence.release.model_dump(by_alias=True) | blocks
    return dataclasses.replace(evidence, release=Release.model_validate(given))


def full(case: Case) -> Evidence:
    """Everything that can stand on the first page, each as long as it may get."""
    evidence = counted_at_sites(by_hand(case), 70, 201, 27, 702)
    kinds = ("risks_off", "case_mix_shift", "prevalence_shift", "slope_off", "few_events", "rows_excluded")
    reply = "The hospitals tested other patients, at other times of the epidemic, and each of them is shown by itself."
    flags = tuple(Flag(kind, site.name, "so.", reply) for kind in kinds for site in evidence.datasets)
    about = {
        "model": "Model of the risk of an infection in the emergency department",
        "version": "1.4.0",
        "date": None,
        "owner": "The department of medicine of the university hospital of Marienbad",
        "tester": "an institute of statistics that is paid by the owner, and that has tested many other models before",
    }
    use = {
        "for": "Adults who come to an emergency department with a fever. A doctor reads the risk beside the swab.",
        "not_for": ("Ruling out an infection by itself.", "Children under twelve.", "People who have no symptoms."),
    }
    outcome = {"name": "infection with the virus by a swab", "column": "y", "horizon": "within two days of coming"}
    return dataclasses.replace(
        with_release(evidence, release=about, intended_use=use, outcome=outcome),
        flags=flags,
    )


EXTREMES = {
    "no threshold": lambda: with_release(by_hand(Case("eight", COVID)), thresholds={"declared": ()}),
    "one site": lambda: counted_at_sites(by_hand(Case("one", ("Desio, Italy",))), 70, 201, 27, 702),
    "two sites": lambda: counted_at_sites(by_hand(Case("two", ("Rotterdam", "GBSG trial"))), 4, 1, 30, 965),
    "forty sites": lambda: full(Case("forty", tuple(f"Hospital {place}" for place in range(1, 41)), uneven=True)),
    "long names": lambda: full(Case("long", LONG)),
    "full": lambda: full(Case("eight", COVID, acceptance=True)),
    "gaps": lambda: by_hand(Case("gaps", COVID, gaps=True, similar=0.5)),
    "rare": lambda: by_hand(Case("rare", COVID, rare=True)),
    "all absent": lambda: by_hand(Case("absent", COVID), absent=True),
}


@cache
def extreme(name: str) -> Evidence:
    """An extreme, made once."""
    return EXTREMES[name]()


def spoken(html: str) -> list[str]:
    """What is read aloud: paragraph by paragraph and cell by cell, without marks of any kind."""
    body = re.sub(r"<(head|script)\b.*?</\1>", " ", html, flags=re.DOTALL)
    parts = re.split(r"</?(?:p|li|h1|h2|dt|dd|div|td|th|caption|figure|section|header|tr|dl|ul)\b[^>]*>", body)
    texts = [" ".join(unescape(re.sub(r"<[^>]+>", " ", part)).split()) for part in parts]
    return [text for text in texts if text]


def texts_of(path: Path) -> list[str]:
    """The text of each page of a PDF."""
    return [" ".join((page.extract_text() or "").split()) for page in PdfReader(path).pages]


# ---- the first page suffices ----------------------------------------------------------------------------------------


def assert_fits(document: Document, folder: Path) -> None:
    """Four pages, five of many places, the decision at the foot of the first, each later page opened by its title."""
    path = folder / "edition.pdf"
    path.write_bytes(press.pdf(document))
    pages = texts_of(path)
    # The table of forty places breaks over two pages: none of them is left out.
    places = document.html.partition('id="table-by-site"')[2].partition("</table>")[0].count("<tr")
    assert len(pages) == (5 if places > MOST_ON_A_PAGE else 4)
    assert "More data first" in pages[0]
    assert "Where was it tested?" in pages[1]
    for title, page in zip(("For whom, and how it is watched", "What do the words mean?"), pages[-2:], strict=True):
        assert title in page


@pytest.mark.parametrize("paper", PAPERS)
def test_the_first_page_holds_every_answer(any_book: Book, paper: str, tmp_path: Path) -> None:
    for place in (None, 0, len(externals(any_book.evidence)) - 1):
        assert_fits(edition(at_home(any_book.evidence, place), paper), tmp_path)


@pytest.mark.parametrize("place", [None, 0], ids=["elsewhere", "here"])
@pytest.mark.parametrize("name", EXTREMES)
def test_the_first_page_holds_every_answer_of_an_extreme(name: str, place: int | None, tmp_path: Path) -> None:
    document = edition(at_home(extreme(name), place), "letter")
    assert not re.search(r"\b(nan|inf|None(?! of )|Absent|Estimate)\b", " ".join(spoken(document.html)))
    assert_fits(document, tmp_path)


# ---- our own hospital -----------------------------------------------------------------------------------------------


def test_without_a_site_of_our_own_a_band_says_so_and_with_one_it_does_not(any_book: Book) -> None:
    abroad = " ".join(spoken(edition(any_book.evidence).html))
    home = " ".join(spoken(edition(at_home(any_book.evidence, 0)).html))
    assert "NOT TESTED HERE." in abroad
    assert "NOT TESTED HERE" not in home
    assert "Does it work here?" in home
    assert externals(any_book.evidence)[0].site in home.split("What is it?")[0]


def test_a_local_site_with_few_patients_is_told_so_before_all_else(knee: Book) -> None:
    few = next(site for site in externals(knee.evidence) if site.n < 100)
    text = " ".join(spoken(edition(dataclasses.replace(knee.evidence, local_site=few.name)).html))
    assert f"FEW PATIENTS HERE. Only {few.events} with the outcome and {few.n - (few.events or 0)} without" in text
    assert text.index("FEW PATIENTS HERE") < text.index("What is it?")


def test_our_site_stands_first_and_its_own_numbers_are_the_large_ones(covid: Book) -> None:
    ours = next(site for site in externals(covid.evidence) if site.site == "Brazil 1")
    evidence = dataclasses.replace(covid.evidence, local_site=ours.name)
    table = committee.by_site(evidence)
    assert [row.label for row in table.rows][:2] == ["Brazil 1", "Italy 2"]
    # Expected values: 352 of 1,301, AUROC .75 and O/E 1.14 at Brazil 1; the design's first page says the same.
    found = find(evidence, "auroc", ours.name)
    assert isinstance(found, Estimate)
    values = [one.value for one in committee.numbers(evidence)]
    assert values[:2] == ["75 of 100", "114 for 100"]
    assert committee.finding(evidence).lead == (
        "In Brazil 1, in every 1,000 patients it finds 70 of 271 with the outcome and misses 201."
    )
    assert "1,301" in committee.tested(evidence)
    assert committee.risks_are_right(evidence)[0].startswith("Too low.")


def test_the_thousand_of_a_site_are_its_own_patients_and_add_up(any_book: Book) -> None:
    for site in externals(any_book.evidence):
        curve = find_curve(any_book.evidence, "per_thousand_of_site", site.name)
        assert isinstance(curve, Curve)
        names = [
            name
            for name in curve.columns
            if name in ("true_positive", "false_positive", "false_negative", "true_negative", "count")
        ]
        rows = zip(*(curve.columns[name] for name in names), strict=True)
        sums = [sum(value or 0 for value in row) for row in rows]
        assert sum(sums) == 1000 if "count" in names else set(sums) == {1000}
        assert curve.n == site.n
        if site.events is not None:
            cases = (curve.columns["true_positive"][0] or 0) + (curve.columns["false_negative"][0] or 0)
            assert abs(cases - 1000 * site.events / site.n) < 2


def test_treating_all_and_none_are_the_same_thousand(covid: Book) -> None:
    evidence = dataclasses.replace(covid.evidence, local_site="brazil-1")
    assert committee.against_all_and_none(evidence) == (
        "If all were treated: 271 found, 729 treated in error. If none were: 271 missed."
    )


def test_a_local_site_changes_neither_the_results_nor_the_other_edition(breast: Book) -> None:
    home = at_home(breast.evidence, 1)
    assert results.of(home).text() == results.of(breast.evidence).text()
    gallery = breast.gallery
    moved = dataclasses.replace(gallery, evidence=home)
    assert compose.document(moved, "regulatory").html == compose.document(gallery, "regulatory").html
    assert edition(home).html != edition(breast.evidence).html


def test_groups_that_our_data_cannot_tell_apart_are_not_said_to_be_alike(covid: Book) -> None:
    evidence = dataclasses.replace(covid.evidence, local_site="brazil-3")
    assert committee.differing_groups(evidence) == "The data of this place do not tell the groups apart."
    assert "not known" in " ".join(committee.uncertain(evidence))


# ---- goals and dangers ----------------------------------------------------------------------------------------------


def test_goals_that_are_not_met_are_named_with_the_places(covid: Book) -> None:
    table = committee.goals(covid.evidence)
    assert table is not None
    standing = {row.label: row.cells[1].text for row in table.rows[:3]}
    assert standing["Ranked right, of 100"] == "Not met in Spain, Brazil 1 and Brazil 3"
    assert standing["Came, for 100 expected"] == "Not met in Spain and Brazil 3"
    assert standing["Net benefit, per 1,000"] == "Met"
    (said,) = [one for one in committee.numbers(covid.evidence) if "goals" in one.meaning]
    assert said.value == "1 of 3 met"
    assert "ranking and risks" in said.meaning


def test_a_goal_that_cannot_be_judged_is_not_said_to_be_missed(covid: Book) -> None:
    def open_(one: Criterion) -> Criterion:
        return (
            dataclasses.replace(one, met=None, observed=None, reason=because("too few"))
            if one.measure == "oe_ratio"
            else one
        )

    unknown = dataclasses.replace(covid.evidence, criteria=tuple(open_(one) for one in covid.evidence.criteria))
    (said,) = [one for one in committee.numbers(unknown) if "goals" in one.meaning]
    assert "not met: ranking; not known: risks; one of them passed better by" in said.meaning
    first = next(one.number for one in unknown.criteria if one.measure == "auroc")
    gap = next(one for one in unknown.criteria if one.number == first and one.met)
    mixed = tuple(
        dataclasses.replace(one, met=None, observed=None, reason=because("too few")) if one is gap else one
        for one in unknown.criteria
    )
    table = committee.goals(dataclasses.replace(unknown, criteria=mixed))
    assert table is not None
    standing = {row.label: row.cells[1].text for row in table.rows[:3]}
    assert standing["Ranked right, of 100"] == "Not met in Spain, Brazil 1 and Brazil 3"
    assert standing["Came, for 100 expected"].startswith("Not known in ")


def test_groups_that_stand_out_come_with_what_chance_would_give(knee: Book) -> None:
    made = subgroups.compared(knee.evidence)
    apart = {one.found.value > 0: one for one in made if one.is_apart}
    assert {one.measure for one in apart.values()} == {"oe_ratio"}
    more, fewer = (f"age {apart[higher].label} ({apart[higher].dataset.site})" for higher in (True, False))
    chance = f"hance alone would make about 1 of {len(made)} stand out"
    assert round(len(made) * 0.05) == 1
    told = f"more came for each 100 expected: {more}; fewer came for each 100 expected: {fewer}"
    assert f"{told}. C{chance}" in committee.differing_groups(knee.evidence)
    assert f"{told}; c{chance}" in " ".join(committee.uncertain(knee.evidence))


def test_no_sentence_of_a_declaration_is_cut(breast: Book) -> None:
    assert dict(committee.declarations(breast.evidence))["Ethics"] == breast.evidence.statements["17"]
    long = "Approval and consent of the original studies are " + "not " * 50 + "restated."
    told = dataclasses.replace(breast.evidence, statements={**breast.evidence.statements, "17": long})
    assert dict(committee.declarations(told))["Ethics"].startswith("Stated in the dossier")


def test_a_range_shows_on_which_side_of_100_it_ends(covid: Book) -> None:
    site = externals(covid.evidence)[0]
    results = tuple(
        dataclasses.replace(one, found=dataclasses.replace(one.found, value=0.88, low=0.77, high=0.9976))
        if one.measure == "oe_ratio" and one.dataset == site.name and isinstance(one.found, Estimate)
        else one
        for one in covid.evidence.results
    )
    changed = dataclasses.replace(covid.evidence, results=results)
    row = next(row for row in committee.by_site(changed).rows if row.label == site.site)
    assert ("88", "77\N{EN DASH}99.8") in [(cell.text, cell.interval) for cell in row.cells]
    assert f"{site.site} (88)" in " ".join(committee.everywhere(changed))


def test_every_flag_has_plain_words() -> None:
    from dossier.flags import FLAGS

    assert set(PLAIN) == set(FLAGS)


def test_only_a_column_of_the_formula_is_something_that_the_model_asks_for() -> None:
    tested = by_hand(Case("two", ("Zurich", "Budapest")))
    flags = (
        Flag("missing_predictor", "site-0", "chol is missing.", columns=("chol",)),
        Flag("missing_values", "site-0", "often missing.", columns=("chol", "age")),
        Flag("few_sites", "pooled", "two sites."),
    )
    formula = {"intercept": 0.0, "term": ({"predictor": "age", "coefficient": 0.1},)}
    unknown, known = (
        dataclasses.replace(evidence, flags=flags) for evidence in (tested, with_release(tested, model=formula))
    )
    never = "Zurich: something about the patients was never recorded, or is called something else."
    often = "Zurich: some facts that the model asks for are often not known."
    few = "So few places were tested that nothing can be said of a new one."
    assert [one.text for one in committee.could_go_wrong(unknown, 3)] == [never, often, few]
    assert [one.text for one in committee.could_go_wrong(known, 3)] == [often, few]
    assert committee.further_dangers(unknown) == ""
    assert committee.further_dangers(known) == "One more in the dossier."


def test_an_answer_that_is_missing_for_one_place_is_still_open(covid: Book) -> None:
    dangers = committee.could_go_wrong(covid.evidence, len(covid.evidence.flags))
    few = next(one for one in dangers if "too few patients" in one.text)
    assert few.open == "Not answered for Spain."
    assert few.reply == "Owner: Nothing is concluded from it."
    assert all(one.open for one in dangers if not one.reply)


def test_a_long_text_is_cut_after_a_sentence_or_says_that_it_goes_on() -> None:
    assert abridged("One. Two is longer. Three.", 20) == "One. Two is longer."
    assert abridged("A sentence without an end in sight", 20) == "A sentence without …"
    assert abridged("Short.", 20) == "Short."


# ---- plain language -------------------------------------------------------------------------------------------------


def syllables(word: str) -> int:
    """Groups of vowels (a, e, i, o, u, y), less a silent e at the end (but not -le), at least one."""
    plain = word.lower()
    count = len(re.findall(r"[aeiouy]+", plain))
    if re.search(r"[^aeiouyl]e$|[aeiou]le$|[^aeiouytd]ed$|[^aeiouyscxzg]es$", plain):
        count -= 1
    return max(count, 1)


def grade(texts: list[str]) -> float:
    """The Flesch-Kincaid grade: 0.39 words a sentence + 11.8 syllables a word - 15.59; a number is one syllable.

    A sentence ends at . ! or ? before a blank, and where a paragraph, a cell or an item of a list ends.
    """
    sentences = [one for text in texts for one in re.split(r"(?<=[.!?])\s", text) if re.search(r"[A-Za-z]{2}", one)]
    words = [word for one in sentences for word in re.findall(r"[A-Za-z]+(?:['-][A-Za-z]+)*|\d[\d,.%]*", one)]
    spoken_parts = sum(syllables(part) for word in words for part in word.split("-"))
    return 0.39 * len(words) / len(sentences) + 11.8 * spoken_parts / len(words) - 15.59


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("patient", 2),
        ("the", 1),
        ("outcome", 2),
        ("missed", 1),
        ("table", 2),
        ("treated", 2),
        ("places", 2),
        ("risk", 1),
    ],
)
def test_syllables_are_counted_as_they_are_spoken_or_more(word: str, count: int) -> None:
    assert syllables(word) == count


def test_the_grade_is_that_of_the_formula() -> None:
    # Six words of one syllable in one sentence: 0.39 * 6 + 11.8 - 15.59.
    assert grade(["The cat sat on the mat."]) == pytest.approx(-1.45)


def prose(evidence: Evidence) -> list[str]:
    """The sentences of the edition: what ends with a full stop and has four words at least; tables are not read so."""
    return [text for text in spoken(edition(evidence).html) if text.endswith(".") and len(text.split()) >= 4]


@pytest.mark.parametrize("place", [None, 0], ids=["elsewhere", "here"])
def test_the_text_reads_at_grade_nine_or_below(any_book: Book, place: int | None) -> None:
    evidence = at_home(any_book.evidence, place)
    texts = prose(evidence)
    assert len(texts) > 30
    assert grade(texts) <= 9
    first = edition(evidence).html.split('class="page-more"')[0]
    assert grade([text for text in spoken(first) if text.endswith(".") and len(text.split()) >= 4]) <= 9


def declared_texts(evidence: Evidence) -> str:
    """What the release says in its own words, and every name in it."""
    release = evidence.release.model_dump_json(by_alias=True)
    names = " ".join(site.site for site in evidence.datasets)
    return f"{release} {names} {' '.join(evidence.statements.values())}".lower()


@pytest.mark.parametrize("place", [None, 0], ids=["elsewhere", "here"])
def test_every_word_is_an_everyday_one_or_in_the_glossary(any_book: Book, place: int | None) -> None:
    evidence = at_home(any_book.evidence, place)
    explained = {word for term, _ in committee.glossary(evidence) for word in re.findall(r"[a-z]+", term.lower())}
    explained |= {f"{word}s" for word in explained}
    theirs = set(re.findall(r"[a-z]+", declared_texts(evidence)))
    months = {
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    }
    short_months = {month[:3] for month in months}
    used = {
        word
        for text in spoken(edition(evidence).html)
        if "SHA-256:" not in text
        for word in re.findall(r"[a-z]+", text.lower())
    }
    assert sorted(used - COMMON - explained - theirs - months - short_months) == []


def test_the_list_of_common_words_holds_no_term_of_statistics() -> None:
    terms = {"auroc", "calibration", "prevalence", "specificity", "sensitivity", "quantile", "regression", "interval"}
    assert not COMMON & (terms | {"threshold", "outcome", "ranking", "bootstrap", "covariate", "predictor", "odds"})


def test_a_glossary_entry_is_there_for_every_goal(knee: Book) -> None:
    words = dict(committee.glossary(knee.evidence))
    assert "Calibration slope" in words
    assert "Ranked right" in words
    assert isinstance(find_curve(knee.evidence, "per_thousand_of_site", "nowhere"), Absent)
