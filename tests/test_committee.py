"""The committee edition: our own hospital first, words that everybody knows, and a first page that suffices."""

from __future__ import annotations

import dataclasses
import re
from datetime import date
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from dossier.core import between_groups, types
from dossier.core.facts import Fact, Method
from dossier.core.flags import FLAGS
from dossier.core.register import fill
from dossier.core.release import Release
from dossier.record import results
from dossier.report import compose, press
from dossier.report.chapters import acceptance, committee, discrimination
from dossier.report.chapters.committee import goals_met, missed, places
from dossier.report.chapters.committee.dangers import PLAIN
from dossier.report.chapters.committee.percentages import at_risk
from dossier.report.chapters.committee.plain import abridged
from dossier.typeset import names
from dossier.typeset.names import groups_of_readers
from dossier.typeset.numbers import JOINER, plain
from tests.conftest import Book, by_hand
from tests.estimated import present
from tests.figures.evidence import COVID, Case
from tests.reasons import because, limitation
from tests.test_findings import given, jointly_tested

COMMON = frozenset((Path(__file__).parent / "common_words.txt").read_text(encoding="utf-8").split())
"""Words that need no explanation, one form a line."""
PAPERS = ("a4", "letter")
FIGURES = ("committee_calibration", "committee_percentages", "committee_ranking", "committee_thousand")
LONG = tuple(f"University Hospital of Marienbad and of the Upper Valley, Ward {index:04d}" for index in range(8))


# ---- editions -------------------------------------------------------------------------------------------------------


def edition(evidence: types.Evidence, paper: str = "a4") -> types.Document:
    """The committee edition of an evidence, with its own pictures alone."""
    makers = fill("report.figures").figures
    drawn = {name: makers[name].function(evidence) for name in FIGURES}
    kept = {name: each for name, each in drawn.items() if isinstance(each, types.Picture)}
    return compose.document(types.Gallery(evidence, kept, {}), "committee", paper)


def at_home(evidence: types.Evidence, index: int | None) -> types.Evidence:
    """The evidence with one of the external sites as our own."""
    return dataclasses.replace(evidence, local_site=None if index is None else types.externals(evidence)[index].name)


def with_release(evidence: types.Evidence, **blocks: Any) -> types.Evidence:
    """The evidence with other blocks in its release."""
    given = evidence.release.model_dump(by_alias=True) | blocks
    return dataclasses.replace(evidence, release=Release.model_validate(given))


def full(case: Case) -> types.Evidence:
    """Everything that can stand on the first page, each as long as it may get."""
    evidence = by_hand(case)
    kinds = ("risks_off", "case_mix_shift", "prevalence_shift", "slope_off", "few_events", "rows_excluded")
    reply = "The hospitals tested other patients, at other times of the epidemic, and each of them is shown by itself."
    flags = tuple(types.Flag(kind, site.name, limitation("so."), reply) for kind in kinds for site in evidence.datasets)
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
    return dataclasses.replace(with_release(evidence, release=about, intended_use=use, outcome=outcome), flags=flags)


EXTREMES = {
    "no threshold": lambda: with_release(by_hand(Case("eight", COVID)), thresholds={"declared": ()}),
    "one site": lambda: by_hand(Case("one", ("Desio, Italy",))),
    "two sites": lambda: by_hand(Case("two", ("Rotterdam", "GBSG trial"))),
    "forty sites": lambda: full(Case("forty", tuple(f"Hospital {index}" for index in range(1, 41)), uneven=True)),
    "long names": lambda: full(Case("long", LONG)),
    "full": lambda: full(Case("eight", COVID, acceptance=True)),
    "gaps": lambda: by_hand(Case("gaps", COVID, gaps=True, similar=0.5)),
    "rare": lambda: by_hand(Case("rare", COVID, rare=True)),
    "all absent": lambda: by_hand(Case("absent", COVID), absent=True),
}


@cache
def extreme(name: str) -> types.Evidence:
    """An extreme, made once."""
    return EXTREMES[name]()


def spoken(html: str) -> list[str]:
    """What is read aloud: paragraph by paragraph and cell by cell, without marks of any kind."""
    body = re.sub(r"<(head|script)\b.*?</\1>", " ", html.replace(JOINER, ""), flags=re.DOTALL)
    parts = re.split(r"</?(?:p|li|h1|h2|dt|dd|div|td|th|caption|figure|section|header|tr|dl|ul)\b[^>]*>", body)
    texts = [" ".join(unescape(re.sub(r"<[^>]+>", " ", part)).split()) for part in parts]
    return [text for text in texts if text]


def texts_of(path: Path) -> list[str]:
    """The text of each page of a PDF."""
    return [" ".join((page.extract_text() or "").split()) for page in PdfReader(path).pages]


# ---- the first page suffices ----------------------------------------------------------------------------------------


TITLES = (
    "What is it for?",
    "The numbers, hospital by hospital",
    "For whom, and is it better?",
    "Who is responsible, and what do we decide?",
)
"""What the first page alone says, and the title of each later part."""
BY_HAND = ("For our hospital", "Conditions", "Who sees it otherwise, and why?", "Signatures")


def assert_fits(document: types.Document, folder: Path) -> None:
    """At most four pages: the decision on the first, numbers on the second, what is filled by hand on the last."""
    path = folder / "edition.pdf"
    path.write_bytes(press.pdf(document))
    pages = texts_of(path)
    assert len(pages) <= len(TITLES)
    assert "Test here first" in pages[0]
    assert [next(index for index, page in enumerate(pages) if title in page) for title in TITLES[:2]] == [0, 1]
    assert all(any(title in page for page in pages[1:]) for title in TITLES[2:])
    assert any(TITLES[-1] in page for page in pages[-2:])
    assert all(text in pages[-1] for text in BY_HAND)
    assert pages[-1].count("Name and role") == 4


@pytest.mark.parametrize("paper", PAPERS)
def test_the_first_page_holds_every_answer(any_book: Book, paper: str, tmp_path: Path) -> None:
    for position in (None, 0, len(types.externals(any_book.evidence)) - 1):
        assert_fits(edition(at_home(any_book.evidence, position), paper), tmp_path)


@pytest.mark.parametrize("index", [None, 0], ids=["elsewhere", "here"])
@pytest.mark.parametrize("name", EXTREMES)
def test_the_first_page_holds_every_answer_of_an_extreme(name: str, index: int | None, tmp_path: Path) -> None:
    document = edition(at_home(extreme(name), index), "letter")
    assert not re.search(r"\b(nan|inf|None(?! of )|Absent|Estimate)\b", " ".join(spoken(document.html)))
    assert_fits(document, tmp_path)


NAME = "Gamma University Hospital of the Northern Provinces and Its Affiliated Institutes of Medicine"
GOALS = ("auroc", "oe_ratio", "calibration_slope", "sensitivity", "specificity", "net_benefit_gain")


@pytest.mark.parametrize("letters", [5, 14, 25, 40, 90])
@pytest.mark.parametrize("count", [1, 2, 6])
def test_goals_that_are_not_met_have_room_beside_names_of_any_length(letters: int, count: int, tmp_path: Path) -> None:
    """A hospital of 14 letters that did not meet two goals pushed their names off the paper, and the build fell."""
    evidence = full(Case("goals", (f"{NAME[:letters].strip()}", "Beta", "Delta", NAME[: letters // 2])))
    at = {"threshold": evidence.release.thresholds.declared[0]}
    same: dict[str, Any] = {
        "dataset": "each external",
        "bound": "value",
        "at_least": 0.9,
        "declared_on": date(2020, 1, 1),
    }
    asked = [same | {"measure": measure, "at": {} if index < 3 else at} for index, measure in enumerate(GOALS[:count])]
    goals = tuple(
        types.Criterion(number, each["measure"], site.name, None, each["at"], "value", 0.9, None, 0.5, "against")
        for number, each in enumerate(asked, start=1)
        for site in types.externals(evidence)
    )
    given = dataclasses.replace(with_release(evidence, acceptance=tuple(asked)), criteria=goals)
    document, path = edition(given), tmp_path / "edition.pdf"
    assert "not met: " in " ".join(spoken(document.html))
    path.write_bytes(press.pdf(document))
    assert "Test here first" in texts_of(path)[0]


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("index", [None, 0, -1])
def test_whether_people_decide_better_is_on_the_second_page_where_a_study_tells(
    knee: Book, index: int | None, paper: str, tmp_path: Path
) -> None:
    path = tmp_path / "edition.pdf"
    path.write_bytes(press.pdf(edition(at_home(knee.evidence, index), paper)))
    second = texts_of(path)[1]
    assert "Do people decide better with it?" in second
    assert "13 of 100 decisions were wrong, with it 9." in second
    assert "How sure is the truth?" in second


def test_without_a_study_the_question_stays_behind_that_of_the_other_models(covid: Book) -> None:
    text = words(covid.evidence)
    assert text.index("For whom, and is it better?") < text.index("Do people decide better with it?")
    assert "How sure is the truth?" not in text


# ---- our own hospital -----------------------------------------------------------------------------------------------


def words(evidence: types.Evidence) -> str:
    """All that is read of the edition."""
    return " ".join(spoken(edition(evidence).html)).replace("\N{NO-BREAK SPACE}", " ")


def test_without_a_hospital_of_our_own_it_says_so_and_no_number_is_of_all_together(covid: Book) -> None:
    abroad = words(covid.evidence)
    assert re.search(r"In another hospital it may tell sick from well \d+ to \d+ times", abroad)
    assert "If ours is above, ask for its own pages." in abroad
    assert "1,000 patients" not in abroad
    # 5,340 patients were tested, 1,724 of them infected: eight hospitals added up describe none of them.
    assert not re.search(r"\b(5,340|1,724|323)\b", abroad)
    home = words(at_home(covid.evidence, 0))
    assert "Does it work here?" in home
    assert "What happens to 1,000 patients?" in home
    assert "its own pages" not in home
    assert "Elsewhere" not in home


def test_the_goals_are_counted_hospital_by_hospital(covid: Book) -> None:
    """By hand: the whole range of O/E of Spain and Brazil 3 lies above 1.25; the AUROC of Brazil 1 (.72 to .78) reaches
    below .75, and O/E of Brazil 2 (.74 to .88) below .80; the undated goal is not counted."""
    assert committee.answer(covid.evidence).startswith(
        "Its maker says that it must not be used in Spain and Brazil 3. "
        "Its goals (telling sick from well, number of cases and benefit over flagging no one), in eight hospitals: "
        "met in four; missed in two; cannot tell yet in two."
    )
    words = {row.name: row.cells[-1].text for row in committee.hospitals(covid.evidence).rows}
    assert words["Brazil 1"] == words["Brazil 2"] == "cannot tell yet"
    assert words["Spain\N{NO-BREAK SPACE}†‡"] == "not met: number of cases"
    assert [text for text in words.values() if text == "met all"] == ["met all"] * 4
    assert "‡ not to be used, its maker says." in committee.hospitals(covid.evidence).note
    ours = next(site for site in types.externals(covid.evidence) if site.site == "Brazil 2")
    here = dataclasses.replace(covid.evidence, local_site=ours.name)
    assert "Nobody can tell yet whether it meets its goals here: number of cases." in committee.answer(here)
    spain = dataclasses.replace(covid.evidence, local_site="spain")
    assert committee.answer(spain).startswith("Its maker says that it must not be used here.")
    said = " ".join(danger.text for danger in committee.could_go_wrong(spain))
    assert re.search(r"Brazil 3: \w+ everyone would be better at the 50%\sline and 25%\sline\.", said)
    assert committee.approving(spain) == "Approve against the maker's statement"
    assert committee.approving(here) == "Approve, though an error was shown"
    assert [committee.steps(each)[0].startswith("Do not use it:") for each in (spain, here)] == [True, False]
    dutch = [dataclasses.replace(each, country="Netherlands") for each in covid.evidence.datasets]
    tested = "Tested on patients in the Netherlands;"
    assert tested in committee.what_it_is(dataclasses.replace(covid.evidence, datasets=tuple(dutch)))
    tested = "Tested on patients in Italy, Spain, Brazil and Ethiopia; when they came is not stated."
    assert [each in committee.what_it_is(covid.evidence) for each in (tested, "‡")] == [True, False]


def test_a_goal_whose_range_reaches_beyond_is_neither_met_nor_missed(knee: Book) -> None:
    """The slope over all hospitals is .99, from .60 to 1.38, where .80 to 1.20 is asked."""
    table = present(goals_met.goals(knee.evidence))
    assert "Cannot tell yet" in [row.cells[-1].text for row in table.rows]


def test_the_first_page_shows_found_and_missed_and_false_alarms_of_100(covid: Book) -> None:
    """The numbers of the design's sample: in Italy 1 90 found, 10 missed, 9 false alarms; of 100 at 50%, 26 had it."""
    rows = {row.name: row for row in committee.hospitals(covid.evidence).rows}
    assert [cell.text for cell in rows["Italy 1"].cells[:3]] == ["90", "10", "9"]
    at_half = {name.rstrip("\N{NO-BREAK SPACE}†‡§"): row.cells[4].text for name, row in rows.items()}
    assert at_half == {
        "Italy 1": "26",
        "Italy 2": "86",
        "Italy 3": "49",
        "Ethiopia": "48",
        "Brazil 2": "56",
        "Brazil 1": "59",
        "Spain": "55",
        "Brazil 3": "99",
    }
    for row in rows.values():
        assert present(row.found) + present(row.missed) == pytest.approx(20)
    assert {row.name for row in rows.values() if "†" in row.name} == {
        f"{name}\N{NO-BREAK SPACE}†‡" for name in ("Spain", "Brazil 3")
    }


def test_a_local_site_with_few_patients_is_told_so_before_its_numbers(knee: Book) -> None:
    few = next(site for site in types.externals(knee.evidence) if site.n < 100)
    text = words(dataclasses.replace(knee.evidence, local_site=few.name))
    said = (
        f"only {few.events} with the outcome and {few.n - (few.events or 0)} without the outcome: the numbers are rough"
    )
    assert said in text
    assert text.index(said) < text.index("Are its percentages right?")


def test_our_hospital_stands_first(covid: Book) -> None:
    ours = next(site for site in types.externals(covid.evidence) if site.site == "Brazil 1")
    evidence = dataclasses.replace(covid.evidence, local_site=ours.name)
    assert [row.label for row in committee.by_site(evidence).rows][:2] == ["Brazil 1", "Italy 1"]
    assert "1,301" in committee.works_here(evidence)[0]


def test_the_counts_of_a_site_are_its_own_patients(any_book: Book) -> None:
    for site in types.externals(any_book.evidence):
        curve = types.find_curve(any_book.evidence, "classification", site.name)
        if site.left or any_book.evidence.release.outcome.classes:
            # Nobody knows in whole people whom those who were followed for less belong to; classes are named.
            assert isinstance(curve, types.Absent)
            continue
        assert isinstance(curve, types.Curve)
        rows = zip(*(curve.columns[name] for name in types.CELLS), strict=True)
        assert {sum(value or 0 for value in row) for row in rows} == {curve.n} == {site.n}


def test_a_local_site_changes_neither_the_results_nor_the_other_edition(breast: Book) -> None:
    home = at_home(breast.evidence, 1)
    assert results.of(home).text() == results.of(breast.evidence).text()
    gallery = breast.gallery
    moved = dataclasses.replace(gallery, evidence=home)
    assert compose.document(moved, "regulatory").html == compose.document(gallery, "regulatory").html
    assert edition(home).html != edition(breast.evidence).html


# ---- percentages ----------------------------------------------------------------------------------------------------


def test_a_percentage_that_hardly_anybody_had_less_or_more_than_is_called_rough(covid: Book, knee: Book) -> None:
    """Two of 120 patients in Spain have a risk below 5%, and two of 25 at Knee 4 are flagged at 0.50, ten at 0.20."""
    spain = committee.are_right(dataclasses.replace(covid.evidence, local_site="spain"))
    assert "(range 45 to 87); only two were given less: rough. When it said 25%" in plain(spain.rest)
    assert spain.rest.count("rough") == 1
    sites = {site.site: site for site in types.externals(knee.evidence)}
    assert names.few_beside(knee.evidence, sites["Knee 4"], 0.5) == (2, False)
    assert names.few_beside(knee.evidence, sites["Knee 7"], 0.5) is None, "34 of 430 patients are flagged there"
    few = "Under 20 patients on one side of the threshold: Knee 4 (2 from 0.50 on, 10 from 0.20 on)."
    assert plain(names.with_few_beside(knee.evidence)) == few
    (table,) = discrimination.at_thresholds(knee.evidence)
    assert plain(table.note).endswith(few)


def with_curve(evidence: types.Evidence, dataset: str, **columns: tuple[float, ...]) -> types.Evidence:
    """The evidence with another calibration curve at a site."""
    kept = tuple(curve for curve in evidence.curves if (curve.curve, curve.dataset) != ("calibration_curve", dataset))
    made = types.CurveResult("calibration_curve", dataset, types.Curve(columns, 300, Method("wald")))
    return dataclasses.replace(evidence, curves=(*kept, made))


def right_as_a_whole(evidence: types.Evidence) -> types.Evidence:
    """The evidence of one hospital without an error in the sum of its percentages or in their slope."""
    whole = given(evidence, "oe_ratio", site_0=(1.0, 0.9, 1.1))
    return given(whole, "calibration_slope", site_0=(1.0, 0.8, 1.2))


def of_one_site(low: float, observed: float, high: float) -> types.Evidence:
    """One hospital, a line at 50%, and this share, with its range, at 50%."""
    evidence = with_release(right_as_a_whole(by_hand(Case("one", ("Ribe",)))), thresholds={"declared": (0.5,)})
    flat = {name: (value, value) for name, value in (("low", low), ("observed", observed), ("high", high))}
    return with_curve(evidence, "site-0", risk=(0.1, 0.9), **flat)


@pytest.mark.parametrize(
    ("low", "observed", "high", "ratio", "p_value", "lead"),
    [
        (0.65, 0.7, 0.8, 1.3, 0.001, "No: they are too low as a whole."),
        (0.55, 0.6, 0.7, 1.3, 0.001, "No: they are too low as a whole."),
        (0.2, 0.3, 0.45, 0.75, 0.001, "No: they are too high as a whole."),
        (0.2, 0.3, 0.45, 0.75, 0.02, "Nobody can tell yet."),
        (0.4, 0.6, 0.8, 1.5, 0.02, "Nobody can tell yet: they may be wrong, or this is coincidence."),
        (0.4, 0.6, 0.8, 1.1, 0.02, "Nobody can tell yet."),
    ],
)
def test_percentages_are_wrong_only_where_the_joint_test_and_their_range_say_so(
    low: float, observed: float, high: float, ratio: float, p_value: float, lead: str
) -> None:
    one = given(of_one_site(low, observed, high), "oe_ratio", site_0=(ratio, ratio - 0.2, ratio + 0.2))
    found = committee.are_right(jointly_tested(one, site_0=p_value))
    assert found.lead == lead
    ends = f"(range {100 * low:.0f} to {100 * high:.0f})"
    assert found.rest == f"When it said 50%, about {100 * observed:.0f} of 100 patients had it {ends}."


@pytest.mark.parametrize(
    ("ratio", "slope", "lead"),
    [
        ((1.0, 0.9, 1.1), (0.6, 0.4, 0.9), "Not all: on the whole high percentages are too high, low ones too low."),
        ((1.0, 0.9, 1.1), (1.4, 1.1, 1.9), "Not all: on the whole high percentages are too low, low ones too high."),
        ((0.5, 0.4, 0.6), (0.6, 0.4, 0.9), "No: they are too high as a whole, above all the high ones."),
        ((0.5, 0.4, 0.6), (1.4, 1.1, 1.9), "No: they are too high as a whole, above all the low ones."),
        ((1.6, 1.4, 1.8), (0.6, 0.4, 0.9), "No: they are too low as a whole, above all the low ones."),
        ((1.6, 1.4, 1.8), (1.0, 0.8, 1.2), "No: they are too low as a whole."),
        ((1.1, 1.05, 1.15), (1.0, 0.8, 1.2), "Yes: close to what happened."),
        ((1.0, 0.9, 1.1), (1.0, 0.8, 1.2), "Yes: close to what happened."),
        ((1.1, 0.7, 1.6), (1.0, 0.4, 1.6), "Not quite; nobody can tell yet whether by much."),
    ],
)
def test_percentages_without_an_error_at_the_line_may_be_wrong_as_a_whole(
    ratio: tuple[float, float, float], slope: tuple[float, float, float], lead: str
) -> None:
    evidence = of_one_site(0.4, 0.5, 0.6)
    evidence = given(given(evidence, "oe_ratio", site_0=ratio), "calibration_slope", site_0=slope)
    evidence = jointly_tested(evidence, site_0=0.001)
    assert committee.are_right(evidence).lead == lead
    asked = "Do not show patients its percentages before they are corrected here."
    assert (asked in committee.steps(evidence)) == (not lead.startswith(("Nobody", "Not quite", "Yes")))


def test_percentages_that_are_far_off_as_a_whole_are_not_said_to_be_so_at_one_line_alone() -> None:
    far = given(of_one_site(0.2, 0.3, 0.45), "oe_ratio", site_0=(0.5, 0.4, 0.6))
    assert committee.are_right(far).lead == "No: they are too high as a whole."
    other_way = given(of_one_site(0.65, 0.7, 0.8), "oe_ratio", site_0=(0.5, 0.4, 0.6))
    assert committee.are_right(other_way).lead == "No: they are too low at 50%."


def test_a_curve_that_is_kept_back_is_not_said_to_rest_on_too_few() -> None:
    """The ratio and the slope say what the curve cannot; a ratio that is far off is in the headline of ours."""
    evidence = given(of_one_site(0.4, 0.5, 0.6), "oe_ratio", site_0=(0.49, 0.37, 0.62))
    hidden = types.CurveResult(
        "calibration_curve", "site-0", types.Withheld(Fact("not_given_where_protected", below=10), 10)
    )
    kept = dataclasses.replace(
        evidence, curves=tuple(hidden if each.curve == hidden.curve else each for each in evidence.curves)
    )
    found = committee.are_right(kept)
    assert found.lead == "No: they are too high as a whole."
    assert found.rest == (
        "There were 49 actual cases per 100 predicted (range 37 to 62). "
        "How many had it at each percentage is kept back, to protect patients."
    )
    assert "Do not show patients its percentages before they are corrected here." in committee.steps(kept)
    assert "49 actual cases per 100 predicted" in committee.answer(at_home(kept, 0))
    table = committee.hospitals(kept)
    assert "50%" not in [head.label for head in table.heads]
    assert len(table.rows[0].cells) == len(table.heads)
    assert "too few were given" not in table.note
    assert "Brown" not in table.note


def test_percentages_that_are_far_off_are_in_the_headline_of_our_hospital(covid: Book) -> None:
    """Italy 1 met its goals, and of 100 to whom the model said 50% 26 had it; in Italy 3 the range holds what it said.

    Its slope is above 1: the curve crosses what the model said once, and the danger says where.
    """
    home = dataclasses.replace(covid.evidence, local_site="italy-1")
    assert committee.answer(home).endswith(
        "It met its goals (telling sick from well, number of cases and benefit over flagging no one) here. "
        "But its percentages are wrong here: where it said 50%, 26 of 100 had it."
    )
    assert "percentages" not in committee.answer(dataclasses.replace(covid.evidence, local_site="italy-3"))
    said = " ".join(danger.text for danger in committee.wrong_here(home))
    assert re.search(r"Percentages are too high up to about [67]\d%, too low above\.", said)


def test_what_came_of_a_percentage_is_read_off_the_curve() -> None:
    evidence = by_hand(Case("one", ("Ribe",)))
    curve = {"risk": (0.2, 0.4), "observed": (0.1, 0.5), "low": (0.0, 0.4), "high": (0.2, 0.6)}
    changed = with_curve(evidence, "site-0", **curve)
    (site,) = types.externals(changed)
    found = present(at_risk(changed, site, 0.3))
    assert (found.value, found.low, found.high) == pytest.approx((0.3, 0.2, 0.4))
    assert at_risk(changed, site, 0.41) is None
    assert at_risk(changed, site, 0.4) is not None
    gone = with_curve(
        right_as_a_whole(evidence), "site-0", risk=(0.1, 0.2), observed=(0.1, 0.5), low=(0.0, 0.4), high=(0.2, 0.6)
    )
    # What the ratio and the slope show is shown without a curve.
    without = with_release(gone, thresholds={"declared": ()})
    assert committee.are_right(without).lead == "Yes: close to what happened."
    unsure = given(without, "oe_ratio", site_0=(1.0, 0.5, 2.0))
    assert committee.are_right(unsure).lead == "Not known."


def test_the_hospitals_that_are_farthest_off_are_named_and_the_rest_is_a_range(covid: Book) -> None:
    found = committee.are_right(covid.evidence)
    assert found.lead == "Not reliably: some are too high, some too low."
    assert found.rest.startswith(
        "When it said 50%, about 26 of 100 patients had it in Italy 1, 86 in Italy 2 and 99 in Brazil 3; in the rest "
        "48 to 59 (ranges 36 to 69). Wrong too, at this or other percentages: Spain, Brazil 2 and Ethiopia."
    )
    two = tuple(each for each in covid.evidence.datasets if each.name in ("italy-1", "italy-2", "italy-3"))
    said = committee.are_right(dataclasses.replace(covid.evidence, datasets=two)).rest
    assert re.search(r"; in Italy 3 \d+ \(range \d+ to \d+\)\.", said)


# ---- who is missed --------------------------------------------------------------------------------------------------


def test_of_the_groups_of_one_error_the_farthest_off_is_named(any_book: Book) -> None:
    evidence = any_book.evidence
    groups = evidence.subgroups
    every = between_groups.looks(groups.summaries, groups.results, types.POOLED)
    for kind, said in missed._errors(evidence).items():
        here = [look for look in every if look.is_worse_off and missed._how(evidence, look) == kind]
        worst = max(here, key=lambda look: (look.state == "against", look.distance))
        assert missed.patients_of(worst.column, worst.label, worst.of_class) in said[0]


def test_who_is_missed_names_the_ends(covid: Book) -> None:
    """Brazil 3, which has 11 patients without the outcome and 334 with it, counts as the others do."""
    words = committee.who_is_missed(covid.evidence)
    assert not [text for text in words if "overlap" in text]
    assert words[0].replace("\N{NO-BREAK SPACE}", " ") == (
        "At the 50% line it misses from 10 of 100 (Italy 1) to 74 (Brazil 1) with SARS-CoV-2 infection."
    )


def test_groups_that_our_data_cannot_tell_apart_are_not_said_to_be_alike(covid: Book) -> None:
    evidence = dataclasses.replace(covid.evidence, local_site="brazil-3")
    assert committee.differing_groups(evidence) == ("By sex and age: not known here, as the data do not say.",)


def test_a_group_that_is_missed_more_is_told_with_both_values_and_how_many_were_looked_at(knee: Book) -> None:
    words = " ".join(committee.differing_groups(knee.evidence)).replace("\N{NO-BREAK SPACE}", " ")
    assert re.search(
        r"It more often misses patients aged under 50 \(7\d of 100, the others there 4\d; in five of eight hospitals, "
        r"enough to test in two; "
        r"\d+ to \d+ of 100 more; "
        r"by its percentages one would expect \d+ and \d+\)",
        words,
    )
    assert "Of 16 comparisons with the other patients of the same hospital, " in words
    assert "was not counted" not in words
    table = present(committee.groups(knee.evidence))
    assert table.columns[-1].label == "Missed, of 100"
    assert {row.cells[-1].interval != "" for row in table.rows} == {True}
    # Of the 458 under 50 those 60 of one hospital, where none had the outcome, count for O/E alone.
    assert 'Under 50 (age): "sick from well" and "missed" of 398 patients in five hospitals.' in table.note


# ---- what must we do ------------------------------------------------------------------------------------------------


def test_what_must_be_done_follows_from_what_was_found_and_what_is_not_said(covid: Book, breast: Book) -> None:
    steps = " ".join(committee.steps(covid.evidence)).replace("\N{NO-BREAK SPACE}", " ")
    assert "test it on our own past patients: at least 100 with SARS-CoV-2 infection and 100 without" in steps
    assert "before they are corrected here" in steps
    assert "The maker names nobody" not in steps
    assert "Set our own goals" not in steps
    silent = " ".join(committee.steps(breast.evidence))
    assert "The maker names nobody." in silent
    assert "The maker gives no rule." in silent
    assert "Set our own goals first." in silent
    assert "est it on our own past patients" not in " ".join(committee.steps(at_home(breast.evidence, 0)))
    right = of_one_site(0.4, 0.5, 0.6)
    assert "corrected" not in " ".join(committee.steps(right))


def test_a_flag_asks_for_its_check(knee: Book) -> None:
    assert any(flag.flag == "version_differs" for flag in knee.evidence.flags)
    assert "Ask for a test of version 2.1.1: 2.1.0 was tested." in committee.steps(knee.evidence)
    kept = tuple(flag for flag in knee.evidence.flags if flag.flag != "version_differs")
    assert "very version" not in " ".join(committee.steps(dataclasses.replace(knee.evidence, flags=kept)))


def test_whom_it_is_not_for_is_read_beside_the_decision(covid: Book, breast: Book) -> None:
    decision = edition(covid.evidence).html.split('class="question decision"')[1].split("</section>")[0]
    not_for = "Not for: children; patients who are not suspected of an infection; deciding about treatment; Spain"
    read = " ".join(spoken(decision))
    assert f"{not_for} and Brazil 3." in read
    assert read.index(not_for) < read.index("Approve")
    assert committee.purpose(breast.evidence).whom.startswith("Nobody: an example on public data, which must not be")
    silent = with_release(covid.evidence, intended_use={"for": "Adults."})
    assert "Not for: Spain and Brazil 3." in words(silent)


def test_the_counts_of_the_first_page_name_the_line_that_they_are_at(knee: Book) -> None:
    """Of two declared lines the first is meant, from which on the knee is sent to MRI."""
    table = committee.hospitals(knee.evidence)
    assert table.about.replace("\N{NO-BREAK SPACE}", " ") == "100 patients with the outcome, at the 50% line"
    assert (
        committee.what_it_is(knee.evidence)
        .replace("\N{NO-BREAK SPACE}", " ")
        .endswith(
            "From 50% on, a patient is flagged, to be sent to MRI; the 20% line is looked at too. "
            "Tested on patients of 2025."
        )
    )
    assert "Ranges at the 50%\N{NO-BREAK SPACE}line: page 2." in table.note


def test_what_is_so_at_both_lines_is_said_once(breast: Book, covid: Book) -> None:
    (said,) = committee.than_the_same_for_all(breast.evidence)
    assert said.replace("\N{NO-BREAK SPACE}", " ").startswith("At the 25% line and the 40% line, the model is better")
    assert len(committee.than_the_same_for_all(covid.evidence)) == 2


def test_the_decision_has_its_own_verb(covid: Book) -> None:
    what = committee.what_it_is(covid.evidence).replace("\N{NO-BREAK SPACE}", " ")
    assert "is flagged, to be isolated; the 25% line is looked at too." in what
    assert "isolating everyone or no one" in " ".join(committee.than_the_same_for_all(covid.evidence))
    use = covid.evidence.release.intended_use.model_dump(by_alias=True) | {"verb": None}
    without = with_release(covid.evidence, intended_use=use)
    assert "flagging everyone or no one" in " ".join(committee.than_the_same_for_all(without))
    assert " a patient is flagged; the " in committee.what_it_is(without)


# ---- goals and dangers ----------------------------------------------------------------------------------------------


def test_goals_that_are_not_met_are_named_with_the_hospitals(covid: Book) -> None:
    table = present(committee.goals(covid.evidence))
    standing = {row.label: row.cells[1].text for row in table.rows}
    assert standing["Tells sick from well, of 100"] == "Cannot tell yet in Spain, Brazil 1 and Brazil 3"
    assert standing["Actual cases per 100 predicted"] == "Missed in Spain and Brazil 3; cannot tell yet in Brazil 2"
    weighs = next(text for label, text in standing.items() if label.startswith("Found, less false alarms"))
    assert weighs == "Met; but isolating everyone would be better in Brazil 3"
    assert len(standing) == 3
    assert "One goal is left out" in table.note
    assert "The date of one of them is not stated" not in table.note


def test_a_goal_that_cannot_be_judged_is_not_said_to_be_missed(covid: Book) -> None:
    def open_(criterion: types.Criterion) -> types.Criterion:
        return (
            dataclasses.replace(criterion, state="untested", observed=None, reason=because("too few"))
            if criterion.measure == "oe_ratio"
            else criterion
        )

    unknown = dataclasses.replace(
        covid.evidence, criteria=tuple(open_(criterion) for criterion in covid.evidence.criteria)
    )
    states = [acceptance.verdict(places.goals_at(unknown, site)) for site in types.externals(unknown)]
    assert set(states) == {"open", "untested"}
    said = "cannot tell yet in three; could not be tested in five."
    assert (states.count("open"), states.count("untested")) == (3, 5)
    assert f"), in eight hospitals: {said}" in committee.answer(unknown)
    words = {row.name: row.cells[-1].text for row in committee.hospitals(unknown).rows}
    assert set(words.values()) == {"cannot tell yet", "could not be tested"}


def test_no_sentence_of_a_declaration_is_cut(breast: Book) -> None:
    assert dict(committee.declarations(breast.evidence))["Ethics"] == breast.evidence.statements["17"]
    long = "Approval and consent of the original studies are " + "not " * 50 + "restated."
    words = dataclasses.replace(breast.evidence, statements={**breast.evidence.statements, "17": long})
    assert dict(committee.declarations(words))["Ethics"].startswith("Said in the full report")


def test_a_range_shows_on_which_side_of_100_it_ends(covid: Book) -> None:
    site = types.externals(covid.evidence)[0]
    results = tuple(
        dataclasses.replace(result, found=dataclasses.replace(result.found, value=0.88, low=0.77, high=0.9976))
        if result.measure == "oe_ratio" and result.dataset == site.name and isinstance(result.found, types.Estimate)
        else result
        for result in covid.evidence.results
    )
    changed = dataclasses.replace(covid.evidence, results=results)
    row = next(row for row in committee.by_site(changed).rows if row.label == site.site)
    assert ("88", "77\N{EN DASH}99.8") in [(cell.text, cell.interval) for cell in row.cells]


def test_every_flag_has_plain_words() -> None:
    assert set(PLAIN) == set(FLAGS)


def test_only_a_column_of_the_formula_is_something_that_the_model_asks_for() -> None:
    tested = by_hand(Case("two", ("Zurich", "Budapest")))
    flags = (
        types.Flag("missing_predictor", "site-0", limitation("chol is missing."), columns=("chol",)),
        types.Flag("missing_values", "site-0", limitation("often missing."), columns=("chol", "age")),
        types.Flag("few_sites", "pooled", limitation("two sites.")),
    )
    formula = {"intercept": 0.0, "term": ({"predictor": "age", "coefficient": 0.1},)}
    unknown, known = (
        dataclasses.replace(evidence, flags=flags) for evidence in (tested, with_release(tested, model=formula))
    )
    never = "Zurich: something that the model needs was never recorded, or has another name."
    often = "Zurich: some facts that the model needs are often not known."
    few = "So few hospitals were tested that nothing can be said of a new one."
    assert [danger.text for danger in committee.could_go_wrong(unknown)] == [never, often, few]
    assert [danger.text for danger in committee.could_go_wrong(known)] == [often, few]
    assert committee.further_dangers(unknown) == ""
    assert committee.further_dangers(known) == "All three: full report, under Limitations."


def test_hospitals_of_few_patients_are_told_with_what_is_not_known_there(knee: Book) -> None:
    """The register by hand, of 1, 4, 6, 7: at Knee 7 percentages are shown to be wrong, and the model to be of use."""
    told = [danger.text for danger in committee.could_go_wrong(knee.evidence)]
    assert told[-1] == (
        "Four hospitals: too few patients for sure numbers. Nobody can tell yet how often it tells sick from well "
        "in one; whether its percentages are right in three; whether it is better than sending "
        "everyone or no one to MRI in two."
    )
    assert "The version that was tested is not the one that is given." in told


def test_an_answer_that_is_missing_for_one_place_is_still_open(covid: Book) -> None:
    kept = tuple(flag for flag in covid.evidence.flags if flag.flag == "few_events")
    (few,) = committee.could_go_wrong(dataclasses.replace(covid.evidence, flags=kept))
    assert few.open == "The maker has not answered for Spain."
    assert few.reply == "The maker answers: Nothing is concluded from it."
    # Another kind that means the same was answered everywhere: each answer names whom it is of, the gap stays open.
    alike = {"few_events": "repeated_patients", "precision_missed": "near_copies"}
    flags = [flag for flag in covid.evidence.flags if flag.flag in alike]
    kept = tuple(dataclasses.replace(flag, flag=alike[flag.flag]) for flag in flags)
    (few,) = committee.could_go_wrong(dataclasses.replace(covid.evidence, flags=kept))
    assert few.open == "The maker has not answered all of it for Spain."
    assert few.reply == "The maker answers: Brazil 3: Nothing is concluded from it. There are no more tables."
    assert all(danger.open for danger in committee.could_go_wrong(covid.evidence) if not danger.reply)


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
    sentences = [part for text in texts for part in re.split(r"(?<=[.!?])\s", text) if re.search(r"[A-Za-z]{2}", part)]
    words = [word for sentence in sentences for word in re.findall(r"[A-Za-z]+(?:['-][A-Za-z]+)*|\d[\d,.%]*", sentence)]
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


@pytest.mark.parametrize("index", [None, 0], ids=["elsewhere", "here"])
def test_the_text_reads_at_grade_eight_or_below(any_book: Book, index: int | None) -> None:
    """The sentences are what ends with a full stop and has four words at least; tables are not read so."""
    html = edition(at_home(any_book.evidence, index)).html
    for part, least in ((html, 25), (html.split('class="page-more"')[0], 1)):
        texts = [text for text in spoken(part) if text.endswith(".") and len(text.split()) >= 4]
        assert len(texts) >= least
        assert grade(texts) <= 8


BANNED = (
    *(
        "Ranked right",
        "Came, for 100 expected",
        "How sure is the ranking",
        "To treat all",
        "more good than the model if",
    ),
    *("more came", "fewer came", "Chance alone", "stand out", "Who is uncertain", "Not added up", "The risks are off"),
    *(
        "Whom it is not for is not said",
        "The release does not",
        "could not be counted",
        "Who takes care",
        "Owner: Confirmed",
    ),
    *("more in the dossier", "treated", "beyond chance", "the data do not tell", "some patients could not be counted"),
    *("did more good", "does more good", "Beside the others", "these patients:", "neither pass nor fail", "case count"),
    *("pairs of class", "Too few to tell", "was not counted, hospital", "sex female", "if all, or none"),
    *("Ranked", "Came, for", "stands", "holds 0"),
)
"""Phrases that a nurse, a patient and a director would not say."""


@pytest.mark.parametrize("index", [None, 0], ids=["elsewhere", "here"])
def test_no_phrase_that_nobody_says_is_on_the_pages(any_book: Book, index: int | None) -> None:
    text = words(at_home(any_book.evidence, index)).lower()
    assert [phrase for phrase in BANNED if phrase.lower() in text] == []


def declared_texts(evidence: types.Evidence) -> str:
    """What the release says in its own words, and every name in it."""
    release = evidence.release.model_dump_json(by_alias=True)
    names = " ".join([*(site.site for site in evidence.datasets), *groups_of_readers(evidence)])
    return f"{release} {names} {' '.join(evidence.statements.values())}".lower()


@pytest.mark.parametrize("index", [None, 0], ids=["elsewhere", "here"])
def test_every_word_is_an_everyday_one(any_book: Book, index: int | None) -> None:
    evidence = at_home(any_book.evidence, index)
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
        if "SHA-256" not in text
        for word in re.findall(r"[a-z]+", text.lower())
    }
    assert sorted(used - COMMON - theirs - months - short_months) == []


def test_the_list_of_common_words_holds_no_term_of_statistics() -> None:
    terms = {"auroc", "calibration", "prevalence", "specificity", "sensitivity", "quantile", "regression", "interval"}
    assert not COMMON & (terms | {"threshold", "outcome", "ranking", "bootstrap", "covariate", "predictor", "odds"})
