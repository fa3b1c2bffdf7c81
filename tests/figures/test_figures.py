"""Every figure on every kind of study: nothing collides, nothing leaves the sheet, nothing is small, nothing varies."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
import xml.etree.ElementTree
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from dossier.core.register import fill
from dossier.core.types import Absent, Evidence, Picture
from dossier.report.figures import calibration, canvas, data, discrimination, risks, roc, utility
from dossier.report.figures.canvas import FULL, HALF, styled
from dossier.typeset import widths
from dossier.typeset.reasons import reason_text
from dossier.typeset.widths import text_width
from tests.estimated import absent, present
from tests.figures.drawings import draw_diagram, in_style, sheet_of
from tests.figures.evidence import CASES, Case, evidence
from tests.figures.text_boxes import assert_apart, text_boxes

Draw = Callable[[Evidence], Figure | Absent]
DRAWN: dict[str, Draw] = {
    "forest_results": lambda found: discrimination.draw_forest(found, discrimination.AUROC, HALF),
    "oe_ratio_by_site": lambda found: discrimination.draw_forest(found, discrimination.OE, FULL),
    "calibration_results": lambda found: calibration.draw_calibration(found, HALF),
    "decision_results": lambda found: utility.draw_decision_panels(found, HALF),
    "risk_results": lambda found: risks.draw_risks(found, HALF),
    "roc_by_site": roc.draw_roc,
    "roc_and_raters": sheet_of("roc_and_raters"),
    "calibration_by_site": lambda found: calibration.draw_calibration(found, FULL),
    "decision_by_site": utility.draw_decision_panels,
    "external_performance": draw_diagram,
    "reliability": sheet_of("reliability"),
    "predictive_values_by_prevalence": sheet_of("predictive_values_by_prevalence"),
    "forest_by_subgroup": sheet_of("forest_by_subgroup"),
    "calibration_by_subgroup": sheet_of("calibration_by_subgroup"),
    "committee_calibration": sheet_of("committee_calibration"),
    "committee_thousand": sheet_of("committee_thousand"),
    "committee_percentages": sheet_of("committee_percentages"),
    "committee_ranking": sheet_of("committee_ranking"),
}
EIGHT = next(case for case in CASES if case.name == "eight")
LINE_THAT_IS_FILLED = 0.97
TELLING = ("one", "two", "eight", "covid", "rare", "gaps", "near_many", "forty")
"""The cases whose captions differ."""
OF_SEVERAL_SITES = frozenset({"committee_percentages", "committee_ranking"})
"""Figures that a single site does not have."""
OF_OUR_SITE = frozenset({"committee_calibration", "committee_thousand"})
"""Figures that are of one site: ours, where there are several."""


def asked_of(name: str, found: Evidence) -> Evidence:
    """The evidence, with the first site as ours where the figure is of one."""
    return dataclasses.replace(found, local_site=found.datasets[0].name) if name in OF_OUR_SITE else found


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def found(request: pytest.FixtureRequest) -> Evidence:
    case: Case = request.param
    return evidence(case)


def drawn(name: str, found: Evidence) -> Figure:
    return in_style(DRAWN[name], asked_of(name, found))


@pytest.mark.parametrize("name", DRAWN)
def test_text_neither_collides_nor_leaves_the_figure_nor_is_small(name: str, found: Evidence) -> None:
    with styled():
        figure = DRAWN[name](asked_of(name, found))
        if name in OF_SEVERAL_SITES and len(found.datasets) == 1:
            assert isinstance(figure, Absent)
            return
        assert isinstance(figure, Figure)
        boxes = text_boxes(figure)
    assert_apart(boxes, figure, 210)


def test_a_collision_is_seen() -> None:
    with styled():
        figure = Figure(figsize=(2, 2), dpi=72)
        figure.text(0.5, 0.5, "one")
        figure.text(0.52, 0.5, "two")
        first, two = text_boxes(figure)
    assert first.overlaps(two)


def test_pictures_are_whole_and_light() -> None:
    makers = fill("report.figures").figures
    everything = evidence(EIGHT)
    pictures = [makers[name].function(asked_of(name, everything)) for name in DRAWN]
    assert sum(len(picture.svg) for picture in pictures) < 2_000_000
    for picture in pictures:
        assert isinstance(picture, Picture)
        root = xml.etree.ElementTree.fromstring(picture.svg)
        assert float(root.attrib["width"].removesuffix("pt")) == pytest.approx(picture.width * 72 / 25.4, abs=0.05)
        assert picture.title.endswith(" and pooled") == (picture.name in {"forest_results", "oe_ratio_by_site"})
        assert picture.alternative.endswith(".")
        assert picture.alternative.count(". ") == 0


def test_of_one_site_nothing_is_called_pooled() -> None:
    """Neither by the title of a forest nor by its caption; nor of two, whose mean would stand for no third."""
    makers = fill("report.figures").figures
    cases = (evidence(Case("one", ("Ribe",))), evidence(Case("two", ("Ribe", "Vejle"))))
    alone, both = (present(makers["forest_results"].function(found)) for found in cases)
    assert "pooled" not in f"{alone.title} {alone.caption} {alone.alternative}"
    assert both.title == alone.title
    assert "pooled" not in f"{both.alternative} {both.message}"


@pytest.mark.parametrize("case", [case for case in CASES if case.name in TELLING], ids=lambda case: case.name)
def test_captions_are_short_and_titles_are_nouns(case: Case) -> None:
    found = evidence(case)
    for name in DRAWN:
        if name in OF_SEVERAL_SITES and len(found.datasets) == 1:
            continue
        picture = present(fill("report.figures").figures[name].function(asked_of(name, found)))
        assert not picture.title.endswith((".", "?"))
        whole = f"Figure 10. {picture.title}. {picture.caption}"
        lines = 4 if "Not labelled" in whole or "Absent" in whole else 3
        assert text_width(whole) <= lines * LINE_THAT_IS_FILLED * FULL, whole
        assert whole.endswith(".")
        assert "  " not in whole
        assert ".." not in whole


def test_svg_holds_text_as_text_in_our_face_alone() -> None:
    picture = fill("report.figures").figures["forest_results"].function(evidence(EIGHT))
    svg = picture.svg.decode()
    assert ">Brazil 3</text>" in svg
    assert "<dc:date>" not in svg
    assert "Matplotlib" not in svg
    root = xml.etree.ElementTree.fromstring(picture.svg)
    assert (root.attrib["font-size"], root.attrib["font-family"]) == ("9", "Inter Tab")
    texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
    assert len(texts) > 30
    assert not any(name in text.attrib for text in texts for name in ("style", "font-size", "font-family"))


@pytest.mark.parametrize("name", DRAWN)
def test_lines_have_at_most_250_vertices(name: str) -> None:
    figure = drawn(name, evidence(EIGHT))
    for axes in figure.axes:
        assert all(len(np.asarray(line.get_path().vertices)) <= 250 for line in axes.lines)


def test_two_processes_write_the_same_bytes() -> None:
    folder = Path(__file__).parent
    program = (
        "import hashlib; from tests.figures.evidence import CASES, evidence; from dossier.core.register import fill\n"
        "found = evidence(CASES[2])\n"
        "for name in ('forest_results', 'external_performance', 'decision_results', 'committee_percentages'):\n"
        "    print(hashlib.sha256(fill('report.figures').figures[name].function(found).svg).hexdigest())\n"
    )
    outputs = []
    for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo")):
        path = str(folder.parents[1])
        surroundings = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "PYTHONPATH": path}
        run = subprocess.run(
            [sys.executable, "-c", program], env=surroundings, capture_output=True, text=True, check=True
        )
        assert run.stderr == ""
        outputs.append(run.stdout)
    assert outputs[0] == outputs[1]
    assert len(outputs[0].split()) == 4


def test_settings_of_the_machine_neither_show_nor_change() -> None:
    maker = fill("report.figures").figures["decision_results"].function
    found = evidence(EIGHT)
    plain = maker(found).svg
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True, "lines.linewidth": 9}):
        assert maker(found).svg == plain
        assert matplotlib.rcParams["font.size"] == 30


@pytest.mark.parametrize("name", DRAWN)
def test_without_evidence_a_figure_says_why_it_is_absent(name: str) -> None:
    bare = evidence(EIGHT)
    empty = Evidence(bare.release, bare.datasets, (), (), (), (), {}, {}, (), {})
    found = absent(fill("report.figures").figures[name].function(empty))
    assert found.reason
    assert not reason_text(found.reason).endswith(".")


def cut_letter_by_letter(text: str, width: float) -> str:
    """The longest beginning that fits, found the slow way."""
    fitting = [text[:length].rstrip(" ,.-") + "…" for length in range(len(text))]
    return next((word for word in reversed(fitting) if widths.text_width(word) <= width), "…")


@given(st.text("abWil ,.-", max_size=40), st.floats(0, 40))
@settings(deadline=None)
def test_a_name_is_cut_where_no_more_letters_fit(text: str, width: float) -> None:
    fits = widths.text_width(text) <= width
    room = widths._Room(width, 400, 1)
    assert widths._cut_letters(text, room, 0) == (text if fits else cut_letter_by_letter(text, width))


def test_a_name_of_many_letters_is_not_measured_letter_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def told(text: str, weight: int) -> float:
        measured.append(text)
        return text_width(text, weight)

    monkeypatch.setattr(widths, "text_width", told)
    assert widths._cut_words("Ospedale " * 2000, widths._Room(30, 400, 1)) == "Ospedale…"
    assert len(measured) < 30


def test_names_that_need_more_lines_are_shortened_together() -> None:
    """Each alone, all three were "University…" above their columns."""
    names = [f"University Hospital of the Holy Cross and Saint Bartholomew {campus}" for campus in "123"]
    for width, lines in ((10.0, 4), (17.0, 3), (20.0, 2)):
        found = widths.on_lines([*names, "Bari"], [width] * 4, lines)
        assert len(set(found)) == 4
        assert found[-1] == "Bari"
        assert all(line.count("\n") < lines for line in found)
        assert all(widths.text_width(line) <= width for text in found for line in text.split("\n"))


def test_a_name_is_cut_between_words_where_they_tell_it_apart() -> None:
    names = ["Marlborough Central Hospital N.", "Brookham and Winter's Hospital"]
    assert widths.shortened(names, 38.0) == ("Marlborough Central…", "Brookham and Winter's…")
    alike = [f"University Hospital of the Holy Cross {campus}" for campus in (3, 4)]
    assert widths.shortened(alike, 50.0) == tuple(f"University Hospital of the … {campus}" for campus in (3, 4))


@pytest.mark.parametrize("beside", [(), ("Klinikum der Ludwig-Maximilians-Universität München, Campus Großhadern",)])
@pytest.mark.parametrize("width", [16.0, 31.0, 62.0])
def test_no_hospital_is_called_by_a_number_alone(width: float, beside: tuple[str, ...]) -> None:
    """Two clinics of one hospital stood as "I" and "II" above panels and in tables."""
    numerals = ("I", "II", "III", "12")
    clinics = [f"Universitätsklinikum Würzburg, Medizinische Klinik {numeral}" for numeral in numerals]
    for short, numeral in zip(widths.shortened([*clinics, *beside], width), numerals, strict=False):
        assert short.endswith(f" {numeral}")
        assert re.search("[a-z]{4}", short)


PLACES = ("Uppsala", "Coimbra", "Thessaloniki", "Clermont-Ferrand", "Groningen")


@given(
    places=st.permutations(PLACES).map(lambda each: each[:3]),
    starts=st.permutations(("Centro Hospitalar Universitário de", "Akademiska sjukhuset i", "Universitair Ziekenhuis")),
    width=st.floats(36.0, 44.0),
)
def test_a_name_that_is_cut_keeps_its_last_word_which_says_the_place(
    places: Sequence[str], starts: Sequence[str], width: float
) -> None:
    """ "Centre…" stood where there was room for "Centre … Clermont-Ferrand"."""
    assume(
        all(widths.text_width(f"{start[:4]}… {place}") <= width for start, place in zip(starts, places, strict=True))
    )
    names = [f"{start} och {place}" for start, place in zip(starts, places, strict=True)]
    assert all(short.endswith(place) for short, place in zip(widths.shortened(names, width), places, strict=True))
    alike = [f"{starts[0]} {place}" for place in places]
    assert widths.shortened([*alike, names[1]], width)[:3] == tuple(
        name if widths.text_width(name) <= width else place for name, place in zip(alike, places, strict=True)
    )


@given(
    first=st.sampled_from(["St.", "St", "Sta.", "Dr.", "Mt.", "Univ.", "Hosp.", "San", "Ste", "Allg."]),
    last=st.text("abdeilmnorstuz", min_size=4, max_size=14).map(str.title),
    width=st.floats(13.0, 40.0),
)
def test_no_name_is_cut_behind_a_word_that_leans_on_the_next(first: str, last: str, width: float) -> None:
    """Above a panel stood "St.…" where "St. Vinc…" had room."""
    own, _ = widths.shortened([f"{first} {last} Kliniken Hinterwald", "Bari"], width)
    assert widths.text_width(own) <= width
    a_letter_more = widths.text_width(f"{first} {last[0]}…") <= width
    assert not a_letter_more or own.startswith(f"{first} {last[0]}"), own
    assert first not in own.split("…")[0].split()[-1:], own


def test_long_names_that_begin_alike_are_told_by_what_follows_though_short_ones_stand_beside() -> None:
    names = ["Hospital of Reims Nord", "Hospital of Reims Sud", "Hospital of Orb", "Home"]
    short = widths.shortened(names, widths.text_width("Hospital of Orb") + 0.1)
    assert short == ("Reims Nord", "Reims Sud", "Hospital of Orb", "Home")


def test_a_forest_at_half_width_gives_its_names_the_room_they_need() -> None:
    found = evidence(replace(EIGHT, sites=("Rotterdam from 1988", *EIGHT.sites[1:])))
    columns = discrimination.forest_columns(found, discrimination.AUROC, canvas.HALF)
    assert "Rotterdam from 1988" in data.labels(found, columns.label).values()
    assert columns.width >= 12
    assert columns.left + columns.width + widths.text_width("0.88", 600) < columns.value
