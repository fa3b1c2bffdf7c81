"""Figures of readers, raters, H-accuracy and severity: what they show is what the evidence holds, on every kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle, StepPatch

from dossier.facts import Method
from dossier.figures import accuracy, human_factors, raters, severity, weighted_utility
from dossier.figures.canvas import BLUE, FULL, HALF, TINTS, extent, styled, text_boxes, text_width
from dossier.findings.human_factors import readers
from dossier.register import fill
from dossier.types import (
    POOLED,
    READER_STUDY,
    Absent,
    Curve,
    Evidence,
    Floats,
    Picture,
    externals,
    find,
    find_curve,
)
from dossier.typeset.reasons import reason_text
from tests.conftest import Book
from tests.estimated import estimated
from tests.figures.readers_evidence import BY_NAME, KINDS, TAUS, evidence
from tests.reasons import Said

Draw = Callable[[Evidence], Figure | Absent]
DRAWN: dict[str, Draw] = {
    "h_accuracy_by_priority_by_site": accuracy.draw_by_priority,
    "h_accuracy_by_complexity_by_site": accuracy.draw_surface,
    "accuracy_by_prevalence_by_site": accuracy.draw_by_prevalence,
    "survey_preferences": accuracy.draw_survey,
    "decision_benefit_diagram": human_factors.draw_benefit,
    "odds_ratio_forest": human_factors.draw_odds,
    "changed_decisions_by_reader": human_factors.draw_changed,
    "confidence_by_rater_joyplot": raters.draw_confidence,
    "rater_agreement_matrix": raters.draw_agreement,
    "raters_right_answers": raters.draw_answers,
    "raters_settings": raters.draw_settings,
    "confusion_by_site": severity.draw_matrices,
    "severity_against_accuracy": severity.draw_models,
    "weighted_utility_beside": weighted_utility.draw_weighted,
}
HAIRLINE = 0.15
MAY_BE_ABSENT = {
    "one": {"rater_agreement_matrix"},
    "two": {"rater_agreement_matrix"},
    "gaps": {
        "h_accuracy_by_complexity_by_site",
        "confidence_by_rater_joyplot",
        "rater_agreement_matrix",
        "raters_right_answers",
        "raters_settings",
    },
}
"""What cannot be drawn of a kind: a matrix of one rater or one pair, and everything of raters where there are none."""


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> tuple[str, Evidence]:
    return request.param.name, evidence(request.param)


@pytest.fixture(scope="module")
def usual() -> Evidence:
    return evidence(BY_NAME["usual"])


def drawn(name: str, found: Evidence) -> Figure:
    with styled():
        figure = DRAWN[name](found)
    assert isinstance(figure, Figure), figure
    return figure


def curve(found: Evidence, name: str, dataset: str) -> dict[str, Floats]:
    one = find_curve(found, name, dataset)
    assert isinstance(one, Curve)
    return {
        key: np.array([math.nan if value is None else value for value in column], dtype=float)
        for key, column in one.columns.items()
    }


def texts(figure: Figure) -> list[str]:
    with styled():
        return [box.text for box in text_boxes(figure)]


def tagged(axes: Axes, start: str) -> dict[str, Line2D]:
    lines = {str(line.get_gid()): line for line in axes.lines}
    return {name: line for name, line in lines.items() if name.startswith(start)}


def point(line: Line2D) -> tuple[float, float]:
    return float(np.asarray(line.get_xdata())[0]), float(np.asarray(line.get_ydata())[0])


# ---- every kind -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DRAWN)
def test_text_neither_collides_nor_leaves_the_figure_nor_is_small(name: str, kind: tuple[str, Evidence]) -> None:
    case, found = kind
    with styled():
        figure = DRAWN[name](found)
        assert isinstance(figure, Figure) != (name in MAY_BE_ABSENT.get(case, set())), figure
        if isinstance(figure, Absent):
            assert figure.reason
            assert not reason_text(figure.reason).endswith(".")
            return
        boxes = text_boxes(figure)
    width, height = extent(figure)
    assert {box.size for box in boxes} == {9.0}
    beyond = [
        (box.text, width, height, box)
        for box in boxes
        if min(box.left, box.top) < -HAIRLINE or box.right > width + HAIRLINE or box.bottom > height + HAIRLINE
    ]
    assert not beyond
    pairs = [(one, other) for place, one in enumerate(boxes) for other in boxes[place + 1 :]]
    assert not [(one.text, other.text) for one, other in pairs if one.overlaps(other, HAIRLINE)]
    assert width <= FULL + 0.01
    assert height <= 215


@pytest.mark.parametrize("name", DRAWN)
def test_words_of_every_picture(name: str, kind: tuple[str, Evidence]) -> None:
    case, found = kind
    picture = fill("figures").figures[name].function(found)
    if name in MAY_BE_ABSENT.get(case, set()):
        assert isinstance(picture, Absent)
        return
    assert isinstance(picture, Picture)
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
def test_without_evidence_a_figure_says_why_it_is_absent(name: str, usual: Evidence) -> None:
    empty = Evidence(usual.release, usual.datasets, (), (), (), (), {}, {}, (), {})
    absent = fill("figures").figures[name].function(empty)
    assert isinstance(absent, Absent)
    assert absent.reason
    assert not reason_text(absent.reason).endswith(".")


@pytest.mark.parametrize(
    "shades", [("#ffffff", *severity.SHADES), ("#ffffff", *TINTS, raters.SHADES[-1]), accuracy.SHADES], ids=str
)
def test_shades_grow_darker_in_grey(shades: tuple[str, ...]) -> None:
    def luminance(colour: str) -> float:
        parts = np.array(to_rgb(colour)) ** 2.2
        return float(parts @ np.array([0.2126, 0.7152, 0.0722]))

    grey = [luminance(shade) for shade in shades]
    assert all(one - other > 0.02 for one, other in pairwise(grey))
    assert (grey[-1] + 0.05) / (luminance("#16181b") + 0.05) > 4.5, "ink can be read on the darkest"


# ---- readers --------------------------------------------------------------------------------------------------------


def test_benefit_diagram_shows_each_reader_and_the_mean_of_each_group(usual: Evidence) -> None:
    figure = drawn("decision_benefit_diagram", usual)
    found = curve(usual, "decision_benefit_by_reader", READER_STUDY)
    marks = tagged(figure.axes[0], "reader-")
    assert len(marks) == 13
    across, _ = np.diff(figure.axes[0].get_xlim()) / human_factors.WIDE, None
    for row in range(13):
        x, y = point(marks[f"reader-{row}"])
        assert y == pytest.approx(found["benefit"][row])
        assert x == pytest.approx(found["unaided"][row], abs=float(across[0]) * 7), "readers may be moved aside"
    diamonds = [line for line in figure.axes[0].lines if line.get_marker() == "D"]
    for line, group in zip(diamonds, ("radiologist", "resident"), strict=True):
        one = estimated(find(usual, "decision_benefit", READER_STUDY, group=group))
        assert point(line) == pytest.approx((one.details["unaided"], one.value))
    means = [line for line in figure.axes[1].lines if line.get_marker() == "D"]
    assert [point(line)[0] for line in means] == [
        estimated(find(usual, "decision_benefit", READER_STUDY, **at)).value
        for at in ({}, {"group": "radiologist"}, {"group": "resident"})
    ]
    assert {"decides better", "All readers", "Radiologist (7)", "Resident (6)"} <= set(texts(figure))


def test_readers_at_the_same_place_stand_side_by_side() -> None:
    found = evidence(BY_NAME["agree"])
    figure = drawn("decision_benefit_diagram", found)
    places = [point(line) for line in tagged(figure.axes[0], "reader-").values()]
    # Two groups, each of its own; every reader is always right without the model and with it.
    assert len({place for place in places if place[1] == 0}) == 7
    assert len(places) == 13


def test_odds_ratio_shows_both_intervals_and_the_line_of_no_effect(usual: Evidence) -> None:
    figure = drawn("odds_ratio_forest", usual)
    one = estimated(find(usual, "odds_ratio", READER_STUDY))
    axes = figure.axes[0]
    assert axes.get_xscale() == "log"
    squares = [line for line in axes.lines if line.get_marker() == "s"]
    assert [point(line)[0] for line in squares] == [one.value, one.value]
    spans = [tuple(np.asarray(line.get_xdata(), dtype=float)) for line in axes.lines if line.get_linewidth() == 1]
    assert spans == [(one.low, one.high), (one.details["low_clustered"], one.details["high_clustered"])]
    assert any(list(np.asarray(line.get_xdata())) == [1, 1] for line in axes.lines)


def test_changed_decisions_are_bars_of_their_counts(usual: Evidence) -> None:
    figure = drawn("changed_decisions_by_reader", usual)
    found = curve(usual, "changed_decisions", READER_STUDY)
    bars = {str(patch.get_gid()): patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)}
    for row in range(13):
        assert bars[f"corrected-{row}"].get_width() == found["corrected"][row]
        assert bars[f"misled-{row}"].get_width() == -found["misled"][row]
    told = fill("figures").figures["changed_decisions_by_reader"].function(usual).alternative
    assert f"{found['corrected'].min():.0f} to {found['corrected'].max():.0f} wrong decisions right" in told


# ---- raters ---------------------------------------------------------------------------------------------------------


def test_joyplot_has_one_ridge_a_rater_the_least_sure_on_top(usual: Evidence) -> None:
    figure = drawn("confidence_by_rater_joyplot", usual)
    found, each = curve(usual, "confidence_by_rater", "site-0"), curve(usual, "raters_one_by_one", "site-0")
    ridges = tagged(figure.axes[0], "rater-")
    bases = {}
    for rater in range(1, 14):
        line = ridges[f"rater-{rater}"]
        y = np.asarray(line.get_ydata(), dtype=float)
        share = found["share"][found["rater"] == rater]
        rise = (y[0] - y[1:-1]) / raters.RIDGE * found["share"].max()
        assert rise == pytest.approx(share)
        bases[rater] = y[0]
    order = sorted(bases, key=lambda rater: bases[rater])
    assert order == sorted(range(1, 14), key=lambda rater: each["confidence"][rater - 1])


def test_matrix_prints_the_kappa_of_every_pair(usual: Evidence) -> None:
    figure = drawn("rater_agreement_matrix", usual)
    found = curve(usual, "rater_agreement", "site-0")
    written = {text.get_position(): text.get_text() for text in figure.axes[0].texts}
    (mesh,) = (one for one in figure.axes[0].collections if isinstance(one, QuadMesh))
    shades = mesh.get_array()
    assert shades is not None
    colours = mesh.to_rgba(shades).reshape(13, 13, 4)
    assert np.ma.count(np.ma.asarray(shades)) == 78
    for first, second, kappa in zip(found["first"], found["second"], found["kappa"], strict=True):
        assert float(written[(first - 0.5, second - 0.5)].replace("−", "-").replace("<", "")) == pytest.approx(
            kappa, abs=0.011
        )
        assert colours[int(second) - 1, int(first) - 1, :3] == pytest.approx(to_rgb(raters.shade(float(kappa))))


def test_one_pair_of_raters_has_no_matrix(usual: Evidence) -> None:
    pair = Curve({"first": (1.0,), "second": (2.0,), "kappa": (0.5,)}, 4, Method("wald"))
    curves = tuple(replace(one, found=pair) if one.curve == "rater_agreement" else one for one in usual.curves)
    found = raters.draw_agreement(replace(usual, curves=curves))
    assert found == Said("there is one pair of raters, whose kappa stands in the table")


def test_forty_raters_are_shown_one_by_one() -> None:
    found = evidence(BY_NAME["forty"])
    figure = drawn("rater_agreement_matrix", found)
    each = curve(found, "raters_one_by_one", "site-0")
    points = [point(line)[0] for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert points == pytest.approx(each["kappa"])


def test_raters_who_all_agree_have_no_kappa() -> None:
    found = evidence(BY_NAME["agree"])
    figure = drawn("rater_agreement_matrix", found)
    assert texts(figure).count("–") == 10
    assert "No pair of raters" in fill("figures").figures["rater_agreement_matrix"].function(found).alternative


def test_right_answers_stand_at_the_mean_of_their_bin(usual: Evidence) -> None:
    figure = drawn("raters_right_answers", usual)
    for axes, name in zip(figure.axes, ("complexity", "confidence"), strict=True):
        found = curve(usual, f"rater_accuracy_by_{name}", "site-0")
        line = next(line for line in axes.lines if line.get_marker() == "o")
        np.testing.assert_array_equal(line.get_xdata(), found["mean"])
        np.testing.assert_array_equal(line.get_ydata(), found["share_right"])
        spans = [np.asarray(path.vertices)[:, 1] for path in axes.collections[0].get_paths()]
        assert np.array(spans) == pytest.approx(np.column_stack((found["low"], found["high"])))


def test_settings_show_where_taus_and_cuts_come_from(usual: Evidence) -> None:
    figure = drawn("raters_settings", usual)
    answers, cases = figure.axes
    rings = [point(line) for line in answers.lines if line.get_marker() == "o"]
    assert rings == [(tau, raters.RULES[rule]) for rule, tau in TAUS.items()]
    outline = next(patch for patch in cases.patches if isinstance(patch, StepPatch))
    np.testing.assert_array_equal(outline.get_data()[0], curve(usual, "complexity_distribution", "site-0")["share"])
    cuts = {name: point(line)[0] for name, line in tagged(cases, "cut-").items()}
    assert cuts == {"cut-raters_two_levels": 0.52, "cut-raters_above_mean": 0.44, "cut-raters_top_50%": 0.46}
    assert {"above the mean: 0.44", "top 50%: 0.46", "two levels: 0.52", "80%: 0.60"} <= set(texts(figure))


# ---- H-accuracy -----------------------------------------------------------------------------------------------------


def test_by_priority_shows_the_line_and_where_each_source_stands(usual: Evidence) -> None:
    figure = drawn("h_accuracy_by_priority_by_site", usual)
    for axes, site in zip(figure.axes, externals(usual), strict=True):
        found = curve(usual, "h_accuracy_by_priority", site.name)
        line = next(line for line in axes.lines if len(np.asarray(line.get_xdata())) > 1)
        np.testing.assert_array_equal(line.get_ydata(), found["h_accuracy"])
        marks = {point(line) for line in axes.lines if len(np.asarray(line.get_xdata())) == 1}
        expected = {(0.3, 0.7), (0.7, 0.71), (0.4, 0.72), (0.6, 0.68)}
        assert marks == (expected | {(0.48, 0.69)} if site.name == "site-0" else expected)


def test_the_map_holds_the_surface_and_the_profile_beside_it(usual: Evidence) -> None:
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


def test_prevalence_shows_accuracy_balanced_accuracy_and_the_sites_own(usual: Evidence) -> None:
    figure = drawn("accuracy_by_prevalence_by_site", usual)
    for axes, site in zip(figure.axes, externals(usual), strict=True):
        found = curve(usual, "accuracy_by_prevalence", site.name)
        balanced, accurate, own = axes.lines
        np.testing.assert_array_equal(accurate.get_ydata(), found["accuracy"])
        np.testing.assert_array_equal(balanced.get_ydata(), found["balanced_accuracy"])
        assert site.events is not None
        assert point(own)[0] == pytest.approx(site.events / site.n)


def test_survey_shows_shares_with_the_intervals_that_are_given(usual: Evidence) -> None:
    figure = drawn("survey_preferences", usual)
    axes = figure.axes[0]
    assert [point(line)[0] for line in axes.lines if line.get_marker() == "s"] == [0.2, 0.5]
    spans = [tuple(np.asarray(line.get_xdata(), dtype=float)) for line in axes.lines if line.get_linewidth() == 1]
    assert spans == [(0.12, 0.31)]
    assert {"20% (12–31)", "50%", "0.29", "0.71"} <= set(texts(figure))
    assert curve(usual, "survey_of_priorities", POOLED)["priority"][1] == pytest.approx(5 / 7)


# ---- severity -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["usual", "three_classes", "six_classes"])
def test_matrix_cells_hold_counts_and_shades(name: str) -> None:
    found = evidence(BY_NAME[name])
    figure = drawn("confusion_by_site", found)
    for axes, site in zip(figure.axes, externals(found), strict=False):
        cells = curve(found, "confusion_matrix", site.name)
        boxes = {str(patch.get_gid()): patch for patch in axes.patches}
        written = [text.get_text() for text in axes.texts]
        for place, (predicted, true, count, weight) in enumerate(
            zip(cells["predicted"], cells["true"], cells["count"], cells["severity"], strict=True)
        ):
            box = boxes[f"cell-{predicted:.0f}-{true:.0f}"]
            assert isinstance(box, Rectangle)
            assert (box.get_x(), box.get_y()) == (true, predicted)
            assert to_rgb(box.get_facecolor()) == pytest.approx(to_rgb(severity.shade(float(weight))))
            assert written[2 * place] == f"{count:,.0f}"


def test_shades_follow_the_quarters_of_the_scale() -> None:
    assert severity.shade(0) == "white"
    assert [severity.shade(value) for value in (0.01, 0.25, 0.26, 0.5, 0.75, 0.76, 1.0)] == [
        severity.SHADES[place] for place in (0, 0, 1, 1, 2, 3, 3)
    ]


def test_model_and_rival_stand_at_their_accuracy_and_index(usual: Evidence) -> None:
    figure = drawn("severity_against_accuracy", usual)
    axes = figure.axes[0]
    marks = tagged(axes, "model-")
    for site in externals(usual):
        found = curve(usual, "severity_of_models", site.name)
        for place in (0, 1):
            expected = found["accuracy"][place], found["error_severity_index"][place]
            assert point(marks[f"model-{place}-{site.name}"]) == pytest.approx(expected)
    low, high = axes.get_ylim()
    assert low > high, "slighter errors stand higher"


def test_weighted_utilities_stand_beside_the_other_measures(usual: Evidence) -> None:
    figure = drawn("weighted_utility_beside", usual)
    first = figure.axes[0]
    marks = [point(line) for line in first.lines if line.get_marker() in ("D", "s")]
    # Persuasion, at -3, lies beyond the axis: its interval ends in an arrow.
    assert sorted(x for x, _ in marks) == pytest.approx([0.06, 0.3, 0.4, 0.5, 0.75, 0.8])
    assert [line.get_marker() for line in first.lines].count("<") == 1
    assert extent(figure)[0] == FULL
    assert HALF < FULL


def test_the_table_of_readers_is_in_the_order_of_the_figure(knee: Book) -> None:
    with styled():
        drawn = human_factors.draw_changed(knee.evidence)
    assert isinstance(drawn, Figure)
    named = [text.get_text() for text in drawn.texts if text.get_text().startswith("Reader ")]
    (table,) = readers(knee.evidence)
    assert [row.label for row in table.rows] == named
    assert named != sorted(named, key=lambda name: int(name.split()[1]))
