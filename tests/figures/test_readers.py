"""Figures of readers, raters, H-accuracy and severity: what they show is what the evidence holds, on every kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from dossier.core import types
from dossier.core.register import fill
from dossier.core.release import Utility
from dossier.report.figures import accuracy, human_factors, severity, weighted_utility
from dossier.report.figures.canvas import FULL, HALF, extent, styled
from dossier.report.figures.ink import BLUE
from dossier.typeset.reasons import reason_text
from dossier.typeset.widths import text_width
from tests.estimated import absent, curved, estimated, present
from tests.figures.drawings import in_style, sheet_of, texts
from tests.figures.readers_evidence import BY_NAME, KINDS, evidence
from tests.figures.text_boxes import assert_apart, text_boxes

Draw = Callable[[types.Evidence], Figure | types.Absent]
DRAWN: dict[str, Draw] = {
    "h_accuracy_summary": sheet_of("h_accuracy_summary"),
    "h_accuracy_by_raters": sheet_of("h_accuracy_by_raters"),
    "h_accuracy_by_priority_by_site": sheet_of("h_accuracy_by_priority_by_site"),
    "h_accuracy_by_complexity_by_site": sheet_of("h_accuracy_by_complexity_by_site"),
    "decision_benefit_diagram": sheet_of("decision_benefit_diagram"),
    "confusion_by_site": sheet_of("confusion_by_site"),
    "weighted_utility_beside": sheet_of("weighted_utility_beside"),
}
MAY_BE_ABSENT = {
    "gaps": {"h_accuracy_by_complexity_by_site", "h_accuracy_by_raters"},
    "three_classes": {"h_accuracy_summary", "h_accuracy_by_raters"},
    "six_classes": {"h_accuracy_summary", "h_accuracy_by_raters"},
}
"""What cannot be drawn of a kind: what asks the raters, where there are none."""


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> tuple[str, types.Evidence]:
    return request.param.name, evidence(request.param)


@pytest.fixture(scope="module")
def usual() -> types.Evidence:
    return evidence(BY_NAME["usual"])


def drawn(name: str, found: types.Evidence) -> Figure:
    return in_style(DRAWN[name], found)


def curve(found: types.Evidence, name: str, dataset: str) -> dict[str, types.Floats]:
    curve = curved(types.find_curve(found, name, dataset))
    return {
        key: np.array([math.nan if value is None else value for value in column], dtype=float)
        for key, column in curve.columns.items()
    }


def tagged(axes: Axes, start: str) -> dict[str, Line2D]:
    lines = {str(line.get_gid()): line for line in axes.lines}
    return {name: line for name, line in lines.items() if name.startswith(start)}


def point(line: Line2D) -> tuple[float, float]:
    return float(np.asarray(line.get_xdata())[0]), float(np.asarray(line.get_ydata())[0])


# ---- every kind -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DRAWN)
def test_text_neither_collides_nor_leaves_the_figure_nor_is_small(name: str, kind: tuple[str, types.Evidence]) -> None:
    case, found = kind
    with styled():
        figure = DRAWN[name](found)
        assert isinstance(figure, Figure) != (name in MAY_BE_ABSENT.get(case, set())), figure
        if isinstance(figure, types.Absent):
            assert figure.reason
            assert not reason_text(figure.reason).endswith(".")
            return
        boxes = text_boxes(figure)
    assert_apart(boxes, figure, 215)


@pytest.mark.parametrize("name", DRAWN)
def test_words_of_every_picture(name: str, kind: tuple[str, types.Evidence]) -> None:
    case, found = kind
    picture = fill("report.figures").figures[name].function(found)
    if name in MAY_BE_ABSENT.get(case, set()):
        assert isinstance(picture, types.Absent)
        return
    assert isinstance(picture, types.Picture)
    assert picture.alternative.endswith(".")
    assert picture.alternative.count(". ") == 0
    assert not picture.title.endswith((".", "?"))
    whole = f"Figure 10. {picture.title}. {picture.caption}"
    assert text_width(whole) <= 4 * FULL, whole
    assert whole.endswith(".")
    for wrong in ("  ", "..", "nan", "None"):
        assert wrong not in whole, whole
        assert wrong not in picture.alternative, picture.alternative


@pytest.mark.parametrize("name", DRAWN)
def test_without_evidence_a_figure_says_why_it_is_absent(name: str, usual: types.Evidence) -> None:
    empty = types.Evidence(usual.release, usual.datasets, (), (), (), (), {}, {}, (), {})
    found = absent(fill("report.figures").figures[name].function(empty))
    assert found.reason
    assert not reason_text(found.reason).endswith(".")


@pytest.mark.parametrize("shades", [("#ffffff", *severity.SHADES), accuracy.SHADES], ids=str)
def test_shades_grow_darker_in_grey(shades: tuple[str, ...]) -> None:
    def luminance(colour: str) -> float:
        parts = np.array(to_rgb(colour)) ** 2.2
        return float(parts @ np.array([0.2126, 0.7152, 0.0722]))

    grey = [luminance(shade) for shade in shades]
    assert all(first - other > 0.02 for first, other in pairwise(grey))
    assert (grey[-1] + 0.05) / (luminance("#16181b") + 0.05) > 4.5, "ink can be read on the darkest"


# ---- readers --------------------------------------------------------------------------------------------------------


def test_benefit_diagram_shows_each_reader_and_the_mean_of_each_group(usual: types.Evidence) -> None:
    figure = drawn("decision_benefit_diagram", usual)
    found = curve(usual, "decision_benefit_by_reader", types.READER_STUDY)
    marks = tagged(figure.axes[0], "reader-")
    assert len(marks) == 13
    across, _ = np.diff(figure.axes[0].get_xlim()) / human_factors.WIDE, None
    for row in range(13):
        x, y = point(marks[f"reader-{row}"])
        assert y == pytest.approx(found["benefit"][row])
        assert x == pytest.approx(found["unaided"][row], abs=float(across[0]) * 7), "readers may be moved aside"
    diamonds = [line for line in figure.axes[0].lines if line.get_marker() == "D"]
    for line, group in zip(diamonds, ("radiologist", "resident"), strict=True):
        estimate = estimated(types.find(usual, "decision_benefit", types.READER_STUDY, group=group))
        assert point(line) == pytest.approx((estimate.details["unaided"], estimate.value))
    means = [line for line in figure.axes[1].lines if line.get_marker() == "D"]
    assert [point(line)[0] for line in means] == [
        estimated(types.find(usual, "decision_benefit", types.READER_STUDY, **at)).value
        for at in ({}, {"group": "radiologist"}, {"group": "resident"})
    ]
    assert {"decides better", "All readers", "Radiologist (7)", "Resident (6)"} <= set(texts(figure))


def test_readers_at_the_same_place_stand_side_by_side() -> None:
    figure = drawn("decision_benefit_diagram", evidence(BY_NAME["agree"]))
    places = [point(line) for line in tagged(figure.axes[0], "reader-").values()]
    # Two groups, each of its own; every reader is always right without the model and with it.
    assert len({position for position in places if position[1] == 0}) == 7
    assert len(places) == 13


# ---- H-accuracy -----------------------------------------------------------------------------------------------------


def test_by_priority_shows_the_line_and_where_each_source_stands(usual: types.Evidence) -> None:
    figure = drawn("h_accuracy_by_priority_by_site", usual)
    for axes, site in zip(figure.axes, types.externals(usual), strict=True):
        found = curve(usual, "h_accuracy_by_priority", site.name)
        line = next(line for line in axes.lines if len(np.asarray(line.get_xdata())) > 1)
        np.testing.assert_array_equal(line.get_ydata(), found["h_accuracy"])
        marks = {point(line) for line in axes.lines if len(np.asarray(line.get_xdata())) == 1}
        expected = {(0.3, 0.7), (0.7, 0.71), (0.4, 0.72), (0.6, 0.68)}
        assert marks == (expected | {(0.48, 0.69)} if site.name == "site-0" else expected)


def test_the_map_holds_the_surface_and_the_profile_beside_it(usual: types.Evidence) -> None:
    figure = drawn("h_accuracy_by_complexity_by_site", usual)
    surface, profile = figure.axes
    found = curve(usual, "h_accuracy_by_complexity", "site-0")
    line = next(line for line in surface.figure.axes[1].lines if line.get_color() == BLUE)
    np.testing.assert_array_equal(line.get_ydata(), found["h_accuracy"])
    grey = [line for line in profile.lines if line.get_color() != BLUE]
    assert [list(np.asarray(line.get_ydata())) for line in grey] == [
        list(found[name]) for name in ("random_low", "random_high", "random")
    ]
    values = curve(usual, "h_accuracy_surface", "site-0")
    levels = accuracy.contour_levels(values["h_accuracy"])
    assert levels.min() >= values["h_accuracy"].min()
    assert levels.max() <= values["h_accuracy"].max()
    # On the edge where every case counts alike a contour crosses where the profile over priority has its level.
    straight = curve(usual, "h_accuracy_by_priority", "site-0")
    grid = values["h_accuracy"][values["share"] == 1]
    assert np.interp(0.5, np.linspace(0, 1, 15), grid) == pytest.approx(straight["h_accuracy"][25])


# ---- severity -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["usual", "three_classes", "six_classes"])
def test_matrix_cells_hold_counts_and_shades(name: str) -> None:
    found = evidence(BY_NAME[name])
    figure = drawn("confusion_by_site", found)
    for axes, site in zip(figure.axes, types.externals(found), strict=False):
        cells = curve(found, "confusion_matrix", site.name)
        boxes = {str(patch.get_gid()): patch for patch in axes.patches}
        written = [text.get_text() for text in axes.texts]
        for index, (predicted, true, count, weight) in enumerate(
            zip(cells["predicted"], cells["true"], cells["count"], cells["severity"], strict=True)
        ):
            box = boxes[f"cell-{predicted:.0f}-{true:.0f}"]
            assert isinstance(box, Rectangle)
            assert (box.get_x(), box.get_y()) == (true, predicted)
            assert to_rgb(box.get_facecolor()) == pytest.approx(to_rgb(severity.shade(float(weight))))
            assert written[2 * index] == f"{count:,.0f}"


def test_shades_follow_the_quarters_of_the_scale() -> None:
    assert severity.shade(0) == "white"
    assert [severity.shade(value) for value in (0.01, 0.25, 0.26, 0.5, 0.75, 0.76, 1.0)] == [
        severity.SHADES[position] for position in (0, 0, 1, 1, 2, 3, 3)
    ]


def test_weighted_utilities_stand_beside_the_other_measures(usual: types.Evidence) -> None:
    figure = drawn("weighted_utility_beside", usual)
    first = figure.axes[0]
    marks = [point(line) for line in first.lines if line.get_marker() in ("D", "s")]
    # Persuasion, at -3, lies beyond the axis: its interval ends in an arrow.
    assert sorted(x for x, _ in marks) == pytest.approx([0.06, 0.3, 0.4, 0.5, 0.75, 0.8])
    assert [line.get_marker() for line in first.lines].count("<") == 1
    assert extent(figure)[0] == FULL
    assert HALF < FULL


def test_the_weighted_utility_that_is_drawn_is_the_one_that_is_declared(usual: types.Evidence) -> None:
    """At another gamma and relevance than those of the results none is drawn; moved there, all are, and it is said."""
    declared = Utility(gamma=(0.5,), relevance="matters")
    elsewhere = replace(usual, release=usual.release.model_copy(update={"utility": declared}))
    assert not any(line.weighted for line in weighted_utility.lines(elsewhere))
    moved = tuple(
        replace(result, at={**result.at, "gamma": 0.5, "relevance": "matters"})
        if result.measure == "weighted_utility"
        else result
        for result in usual.results
    )
    there = replace(elsewhere, results=moved)
    assert [line.found for line in weighted_utility.lines(there)] == [
        line.found for line in weighted_utility.lines(usual)
    ]
    made = present(weighted_utility.weighted_utility_beside(there))
    assert "each case its relevance of the column matters, gamma 0.5." in made.caption
