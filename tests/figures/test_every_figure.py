"""Every registered figure on every release and at the extremes: readable, whole, told in words, and light."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from dossier.core.register import fill
from dossier.core.types import Absent, Evidence
from dossier.report.figures import canvas, ink
from dossier.report.figures.canvas import extent, styled
from tests.conftest import RELEASES, Book
from tests.figures.drawings import Drawing, all_drawn
from tests.figures.studies import EXTREMES
from tests.figures.studies import evidence as simulated
from tests.figures.text_boxes import HAIRLINE, text_boxes
from tests.reference import tables

Drawn = dict[str, Drawing | Absent]

STUDIES = (*RELEASES, *(extreme.name for extreme in EXTREMES))
NAMES = tuple(fill("report.figures").figures)
SMALLEST = 9.0
TALLEST = 231.0
"""What the page holds above a caption of three lines, in mm."""
MOST_POINTS = 250
HEAVIEST = 2_000_000
APART = 25.0
"""How far two greys must differ, in L*, to be told apart by their lightness alone."""


@pytest.fixture(scope="session")
def studies(books: dict[str, Book]) -> Callable[[str], Drawn]:
    """The figures of a release or an extreme, drawn when they are first asked for, and once."""
    made: dict[str, Drawn] = {}

    def look_up(name: str) -> Drawn:
        if name not in made:
            made[name] = all_drawn(_evidence(books, name))
        return made[name]

    return look_up


def _evidence(books: dict[str, Book], name: str) -> Evidence:
    if name in RELEASES:
        return books[name].evidence
    return simulated(next(extreme for extreme in EXTREMES if extreme.name == name))


@pytest.fixture(params=STUDIES)
def drawn(request: pytest.FixtureRequest, studies: Callable[[str], Drawn]) -> Drawn:
    return studies(request.param)


def figures(drawn: Drawn) -> Iterator[tuple[str, Drawing]]:
    return ((name, drawing) for name, drawing in drawn.items() if isinstance(drawing, Drawing))


# ---- text -----------------------------------------------------------------------------------------------------------


def test_text_is_large_enough_inside_and_apart(drawn: Drawn) -> None:
    faults = []
    for name, drawing in figures(drawn):
        with styled():
            boxes = text_boxes(drawing.figure)
        width, height = extent(drawing.figure)
        assert boxes, name
        faults += [f"{name}: {box.text!r} is {box.size:g} pt" for box in boxes if box.size < SMALLEST]
        for box in boxes:
            over = max(-box.left, -box.top, box.right - width, box.bottom - height)
            if over > HAIRLINE:
                faults.append(f"{name}: {box.text!r} is cut off by {over:.1f} mm")
        faults += [
            f"{name}: {box.text!r} stands on {other.text!r}"
            for box, other in itertools.combinations(boxes, 2)
            if box.overlaps(other, HAIRLINE)
        ]
    assert not faults, "\n".join(faults)


def test_a_figure_fits_its_page(drawn: Drawn) -> None:
    for name, drawing in figures(drawn):
        width, height = extent(drawing.figure)
        assert width <= canvas.FULL + 0.01, name
        assert height <= TALLEST, name


@pytest.mark.parametrize(
    ("angle", "apart", "collide"),
    [(0, 3.0, True), (0, 5.0, False), (90, 5.0, False), (45, 5.0, False), (45, 2.0, True), (90, 3.0, True)],
)
def test_turned_text_is_measured_as_it_stands(angle: float, apart: float, collide: bool) -> None:
    """Two parallel lines of text, so many mm apart, collide when that is less than the height of a line."""
    with styled():
        figure = Figure(figsize=(4, 4), dpi=72)
        radians = np.deg2rad(angle + 90)
        move = apart * canvas.MILLIMETRE / 288 * np.array([np.cos(radians), np.sin(radians)])
        for x, y in (np.array([0.5, 0.5]), np.array([0.5, 0.5]) + move):
            figure.text(x, y, "hospitals of the north", rotation=angle, ha="center", va="center")
        first, two = text_boxes(figure)
    assert first.overlaps(two, HAIRLINE) == collide


# ---- words ----------------------------------------------------------------------------------------------------------


def test_the_alternative_text_tells_the_finding_with_a_number(drawn: Drawn) -> None:
    for name, drawing in figures(drawn):
        alternatives = drawing.picture.alternative
        assert re.search(r"\d", alternatives), f"{name}: {alternatives}"
        assert not re.search(r"\bnan\b|\bNone\b|\binf\b", alternatives), f"{name}: {alternatives}"
        assert alternatives.endswith("."), f"{name}: {alternatives}"


COUNTS = r"\d[\d,]*\s(patient|case|reader|decision|row|dataset|rater|answer)s?\b"


def test_the_caption_says_how_many(drawn: Drawn) -> None:
    for name, drawing in figures(drawn):
        caption = drawing.picture.caption
        # The committee's figures stand below a table of how many patients each hospital has.
        said_elsewhere = name.endswith("_results") or name.startswith("committee_")
        assert re.search(COUNTS, caption) or said_elsewhere, f"{name}: {caption}"
        assert not re.search(r"\bnan\b|\bNone\b|\binf\b|\.\.|  ", caption), f"{name}: {caption}"


def test_no_text_is_the_name_of_a_missing_number(drawn: Drawn) -> None:
    for name, drawing in figures(drawn):
        texts = [text.get_text() for text in drawing.figure.findobj(Text) if isinstance(text, Text)]
        assert not [text for text in texts if re.search(r"\bnan\b|\bNone\b|\binf\b", text)], name


def test_what_is_the_same_everywhere_is_told_once(studies: Callable[[str], Drawn]) -> None:
    """A perfect model with raters who agree: no sentence runs from a value to the same value."""
    perfect = dict(figures(studies("perfect")))
    priority, confusion = (perfect[name].picture for name in ("h_accuracy_by_priority_by_site", "confusion_by_site"))
    assert priority.alternative == priority.message == "H-accuracy is 1.00 whatever the priority, at 3 sites."
    assert confusion.alternative == "The gravest error, yes taken for no, occurs at none of 3 sites."


# ---- grey -----------------------------------------------------------------------------------------------------------


def lightness(colour: object) -> float:
    """L* of a colour, from 0 to 100 (CIE 1976, sRGB primaries, white of D65)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]  # type: ignore[arg-type]
    y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return float(116 * np.cbrt(y) - 16 if y > (6 / 29) ** 3 else y * (29 / 3) ** 3)


@pytest.mark.parametrize(
    ("colour", "printed"),
    [("#16181b", 8), ("#4d535a", 35), ("#858c94", 58), ("#aeb4ba", 73), ("#14507f", 33), ("#e08a4f", 65)],
)
def test_the_palette_is_as_light_as_the_style_guide_says(colour: str, printed: int) -> None:
    assert lightness(colour) == pytest.approx(printed, abs=0.6)


def _colour(line: Line2D) -> str:
    """The colour that is seen: of a mark without a line, that of its edge or else of its face."""
    if line.get_linestyle() != "None" or len(np.atleast_1d(line.get_xdata())) > 1:
        return to_hex(line.get_color())
    edge, face = line.get_markeredgecolor(), line.get_markerfacecolor()
    return to_hex(face if edge in ("none", "white") else edge)


def _look(line: Line2D) -> tuple[object, ...]:
    """Beside its colour, what tells a line: dash, weight, marker, whether the marker is filled."""
    filled = line.get_markerfacecolor() not in ("white", "none")
    dash = (str(line.get_linestyle()), line.is_dashed(), line.get_linewidth())
    return (*dash, line.get_marker(), line.get_markersize(), filled)


def _lines_alike_in_grey(axes: Axes) -> list[str]:
    lines = [line for line in axes.lines if line.get_visible() and len(np.atleast_1d(line.get_xdata())) > 0]
    looks = {(_colour(line), _look(line)) for line in lines}
    return [
        f"{first} and {two}"
        for (first, look), (two, other) in itertools.combinations(sorted(looks, key=str), 2)
        if first != two and look == other and abs(lightness(first) - lightness(two)) < APART
    ]


def test_in_grey_two_lines_still_differ(drawn: Drawn) -> None:
    faults = [
        f"{name}: {alike}"
        for name, drawing in figures(drawn)
        for a in drawing.figure.axes
        for alike in _lines_alike_in_grey(a)
    ]
    assert not faults, "\n".join(faults)


def test_colours_are_those_of_the_style_guide(drawn: Drawn) -> None:
    palette = {ink.INK, ink.INK_2, ink.MID, ink.RULE, ink.HAIR, *ink.TINTS, ink.BLUE, ink.BAND}
    palette |= {ink.ALERT, ink.ORANGE, "#ffffff", "#fbe9dd"}
    for name, drawing in figures(drawn):
        used = {
            to_hex(text.get_color())
            for text in drawing.figure.findobj(Text)
            if isinstance(text, Text) and text.get_text()
        }
        used |= {_colour(line) for axes in drawing.figure.axes for line in axes.lines}
        assert used <= palette, f"{name}: {sorted(used - palette)}"


# ---- weight ---------------------------------------------------------------------------------------------------------


def test_no_line_has_more_points_than_a_curve_may(drawn: Drawn) -> None:
    for name, drawing in figures(drawn):
        for line in (line for axes in drawing.figure.axes for line in axes.lines):
            assert len(np.asarray(line.get_path().vertices)) <= MOST_POINTS, name


@tables.needs_covid
def test_the_figures_of_a_release_are_light(studies: Callable[[str], Drawn]) -> None:
    total = sum(len(drawing.picture.svg) for _, drawing in figures(studies("covid")))
    assert total < HEAVIEST


def test_every_figure_is_drawn_of_some_study(studies: Callable[[str], Drawn]) -> None:
    seen = {name for study in STUDIES if study not in tables.lacking() for name, _ in figures(studies(study))}
    assert seen == set(NAMES)
