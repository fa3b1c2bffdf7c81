"""The panels of several classes: nothing collides, each patient is counted once, and two classes have none."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.figure import Figure

from dossier.core.register import fill
from dossier.core.types import MACRO, Absent, Estimate, Evidence, externals, find
from dossier.report.figures import calibration, classes, risks, roc, utility
from dossier.report.figures.canvas import FULL, HALF, styled
from dossier.typeset.widths import text_width
from tests.estimated import absent, present
from tests.figures.drawings import in_style, sheet_of
from tests.figures.evidence import CASES, evidence
from tests.figures.text_boxes import assert_apart, text_boxes
from tests.reasons import Said

Draw = Callable[[Evidence], Figure | Absent]
OF_CLASSES: dict[str, Draw | None] = {
    "calibration_by_class": lambda seen: calibration.draw_calibration(seen, FULL),
    "calibration_results_by_class": lambda seen: calibration.draw_calibration(seen, HALF),
    "roc_by_class": roc.draw_roc,
    "risk_results_by_class": lambda seen: risks.draw_risks(seen, HALF),
    "decision_by_class": utility.draw_decision_panels,
    "forest_results_by_class": None,
}
"""Every figure of several classes, with what draws its panels; the forest is that of sites, with classes as rows."""

LABELS = {"three": ("G0", "G1", "G2", "G3"), "eight": ("none", "some", "all of them, and more")}


def several(name: str, labels: tuple[str, ...] | None = None) -> Evidence:
    """The evidence of a case as if each of its numbers had been found for every class."""
    plain = evidence(next(case for case in CASES if case.name == name))
    labels = labels or LABELS[name]
    outcome = plain.release.outcome.model_copy(update={"classes": labels})
    return dataclasses.replace(
        plain,
        release=plain.release.model_copy(update={"outcome": outcome}),
        datasets=tuple(
            dataclasses.replace(site, events=None, class_counts={label: site.n // len(labels) for label in labels})
            for site in plain.datasets
        ),
        results=tuple(
            dataclasses.replace(result, at={**result.at, "class": label})
            for result in plain.results
            for label in (MACRO, *labels)
        ),
        curves=tuple(
            dataclasses.replace(curve, at={**curve.at, "class": label}) for curve in plain.curves for label in labels
        ),
    )


# ---- the external performance diagram -------------------------------------------------------------------------------


def against_rest(name: str, labels: tuple[str, ...] | None = None) -> Evidence:
    """The evidence of several classes, whose Brier score is of all of them at once."""
    found = several(name, labels)
    kept = tuple(result for result in found.results if result.measure != "brier" or result.at["class"] == MACRO)
    return dataclasses.replace(found, results=kept)


@pytest.mark.parametrize("case", ["one", "three", "eight", "forty", "long", "gaps", "near"])
@pytest.mark.parametrize("labels", [("G0", "G1", "G2"), ("no rejection at all", "borderline", "C", "D", "E", "F", "G")])
def test_the_diagram_of_classes_can_be_read(case: str, labels: tuple[str, ...]) -> None:
    with styled():
        drawn = present(sheet_of("external_performance_by_class")(against_rest(case, labels)))
        assert_apart(text_boxes(drawn), drawn, 240)


def marked(drawn: Figure) -> list[list[tuple[float, float]]]:
    """The places of the marks of every panel."""
    return [
        [
            (float(np.asarray(line.get_xdata())[0]), float(np.asarray(line.get_ydata())[0]))
            for line in axes.lines
            if len(np.asarray(line.get_xdata())) == 1
        ]
        for axes in drawn.axes
    ]


def test_a_class_stands_where_its_measure_and_the_similarity_of_its_site_are() -> None:
    """A panel a class, for the AUROC the mean too and for the net benefit none; two classes give the numbers of two."""
    plain = evidence(next(case for case in CASES if case.name == "three"))
    drawn = in_style(sheet_of("external_performance_by_class"), against_rest("three", ("no", "yes")))
    panels_of_measures = marked(drawn)
    assert len(panels_of_measures) == 3 + 2
    for measure, at, found in (
        ("auroc", {}, panels_of_measures[:3]),
        ("standardized_net_benefit", {"threshold": 0.5}, panels_of_measures[3:]),
    ):
        expected = {
            (estimate.value, like.value)
            for site in externals(plain)
            if isinstance(estimate := find(plain, measure, site.name, **at), Estimate)
            and isinstance(like := find(plain, "correspondence_averaged", site.name), Estimate)
        }
        assert [set(places) for places in found] == [expected] * len(found)


def test_the_picture_of_the_diagram_says_what_its_height_is() -> None:
    picture = present(fill("report.figures").figures["external_performance_by_class"].function(against_rest("three")))
    assert "Height: Averaged correspondence" in picture.caption
    assert "Cut-offs: AUROC published, others ours." in picture.caption
    assert text_width(f"Figure 10. {picture.title}. {picture.caption}") <= 4 * FULL
    assert picture.alternative.endswith(".")


def test_the_diagram_of_two_classes_is_not_one_of_several() -> None:
    found = evidence(next(case for case in CASES if case.name == "three"))
    maker = fill("report.figures").figures["external_performance_by_class"]
    assert maker.function(found) == Said("the outcome has two classes")
    assert isinstance(maker.function(dataclasses.replace(several("three"), results=(), curves=())), Absent)
    for name in ("external_performance", "performance_by_similarity"):
        binary = fill("report.figures").figures[name].function(several("three"))
        assert binary == Said("the bands of the diagram are for a binary outcome")


# ---- all panels -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", LABELS)
@pytest.mark.parametrize("name", [name for name, draw in OF_CLASSES.items() if draw is not None])
def test_text_neither_collides_nor_leaves_the_figure(name: str, case: str) -> None:
    seen = classes.panels(several(case))
    assert isinstance(seen, Evidence)
    draw = present(OF_CLASSES[name])
    with styled():
        drawn = present(draw(seen))
        assert_apart(text_boxes(drawn), drawn, 240)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_a_caption_is_short_and_counts_each_patient_once(name: str) -> None:
    found = several("three")
    picture = present(fill("report.figures").figures[name].function(found))
    patients = sum(site.n for site in found.datasets)
    assert picture.caption.startswith(f"{patients:,}\N{NO-BREAK SPACE}patients; ")
    assert "event" not in picture.caption
    assert ("Ring, stroke: at 0.50." in picture.caption) is (name == "calibration_by_class")
    assert text_width(f"Figure 10. {picture.title}. {picture.caption}") <= 4 * FULL
    assert picture.alternative.endswith(".")


def test_the_caption_says_whose_mean_risks_are_shown() -> None:
    picture = present(
        fill("report.figures").figures["risk_results_by_class"].function(several("rare", ("G0", "G1", "G2")))
    )
    assert "Mean risk of patients of the class (filled) and of all others (open)." in picture.caption


def test_the_forest_of_classes_tells_each_class_over_the_sites() -> None:
    picture = present(fill("report.figures").figures["forest_results_by_class"].function(several("three")))
    assert picture.alternative.startswith("Pooled over 3 sites: AUROC of G0 0.88 (0.73 to 0.96), G1 0.88")


@pytest.mark.parametrize("name", OF_CLASSES)
def test_two_classes_have_no_panels(name: str) -> None:
    found = evidence(next(case for case in CASES if case.name == "three"))
    assert fill("report.figures").figures[name].function(found) == Said("the outcome has two classes")


@pytest.mark.parametrize("name", OF_CLASSES)
def test_without_evidence_a_figure_says_why_it_is_absent(name: str) -> None:
    found = dataclasses.replace(several("three"), results=(), curves=())
    assert absent(fill("report.figures").figures[name].function(found)).reason
