"""The instances of H-accuracy: each by its kind, beside plain accuracy, and what is said of the acceptable minimum."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from dossier.core import instances
from dossier.core.facts import Method
from dossier.core.register import fill
from dossier.core.release import Acceptable
from dossier.core.types import Absent, Estimate, Evidence, Result, find
from dossier.metrics.classes import accuracy as accuracy_of_classes
from dossier.metrics.classes import h_accuracy as h_accuracy_of_classes
from dossier.report.chapters import accuracy
from tests.conftest import Book
from tests.estimated import estimated
from tests.figures.drawings import sheet_of
from tests.figures.evidence import CASES, evidence

SETTINGS: tuple[tuple[float, float | str, float | str, str], ...] = (
    (0.75, "survey", "right_80", "raters"),
    (0.76, "survey", "right_80", "raters_top_33%"),
    (0.74, 0.5, 0.5, "raters_top_33%"),
    (0.73, 0.5, 0.5, "raters"),
    (0.72, 0.5, "right_80", "constant"),
    (0.71, "survey", 0.5, "constant"),
    (0.69, 0.25, 0.75, "constant"),
    (0.70, 0.5, 0.5, "constant"),
)


def with_instances(**h_accuracy: Any) -> Evidence:
    found = evidence(next(case for case in CASES if case.name == "two"))
    made = [plain("site-0", 0.80, 0.75, 0.85), plain("site-1", 0.60, 0.55, 0.65)]
    for value, priority, tau, complexity in sorted(SETTINGS, key=lambda row: "raters" not in row[3]):
        at = {"priority": priority, "tau": tau, "complexity": complexity}
        estimate = Estimate(value, value - 0.1, value + 0.1, 0.95, 90, Method("wald"))
        made.append(Result("h_accuracy", "h_accuracy", "site-0", at, estimate))
    source = {"from": "raters", "cut": (0.33,)}
    declared = found.release.h_accuracy.model_validate({"complexity": source, **h_accuracy})
    release = found.release.model_copy(update={"h_accuracy": declared})
    kept = [result for result in found.results if result.measure not in ("accuracy", "h_accuracy")]
    terms = {name: entry.term for name, entry in fill("metrics").metrics.items()}
    return dataclasses.replace(found, release=release, results=(*kept, *made), terms=terms)


def plain(site: str, value: float, low: float, high: float) -> Result:
    estimate = Estimate(value, low, high, 0.95, 90, Method("wilson"))
    return Result("accuracy", "accuracy", site, {"threshold": 0.5}, estimate)


MINIMUM: dict[str, Any] = {"value": 0.7, "source": "A survey"}


def test_every_instance_stands_once_by_its_kind() -> None:
    """A priority that meets a confidence alone is no named instance, and a composite takes the graded complexity."""
    found = instances.of_dataset(with_instances(), "site-0")
    assert [(instance.kind, instance.found.value) for instance in found] == [
        ("plain", 0.80),
        ("balanced", 0.70),
        ("prioritized", 0.71),
        ("confident", 0.72),
        ("practical", 0.74),
        ("practical", 0.73),
        ("composite", 0.75),
    ]


def test_plain_accuracy_is_asked_at_one_half_where_that_is_declared() -> None:
    found = with_instances()
    assert instances.accuracy_threshold(found) == 0.5
    first = found.release.thresholds.model_copy(update={"declared": (0.2, 0.5)})
    half = dataclasses.replace(found, release=found.release.model_copy(update={"thresholds": first}))
    assert instances.accuracy_threshold(half) == 0.5
    other = found.release.thresholds.model_copy(update={"declared": (0.2, 0.3)})
    assert (
        instances.accuracy_threshold(
            dataclasses.replace(found, release=found.release.model_copy(update={"thresholds": other}))
        )
        == 0.2
    )


@pytest.mark.parametrize(
    ("low", "high", "declared", "expected"),
    [
        (0.70, 0.80, {}, "reaches"),
        (0.69, 0.80, {}, "open"),
        (0.60, 0.70, {}, "open"),
        (0.60, 0.69, {}, "does not reach"),
        (0.70, 0.80, {"low": 0.65, "high": 0.75}, "open"),
        (0.75, 0.80, {"low": 0.65, "high": 0.75}, "reaches"),
        (0.60, 0.69, {"low": 0.65, "high": 0.75}, "open"),
        (0.60, 0.64, {"low": 0.65, "high": 0.75}, "does not reach"),
    ],
)
def test_no_claim_is_stronger_than_the_intervals(
    low: float, high: float, declared: dict[str, Any], expected: str
) -> None:
    found = Estimate((low + high) / 2, low, high, 0.95, 90, Method("wilson"))
    assert instances.standing(found, Acceptable(**MINIMUM, **declared)) == expected


def test_an_accuracy_without_interval_leaves_the_minimum_open() -> None:
    found = Estimate(0.9, None, None, None, 1, Method("wilson"))
    assert instances.standing(found, Acceptable(**MINIMUM)) == "open"


def test_the_finding_says_how_far_they_part_and_where_the_minimum_is_reached() -> None:
    said = accuracy.finding(with_instances(acceptable=MINIMUM))
    lead = said.lead.replace("\N{NO-BREAK SPACE}", " ")
    assert "is 0.80 (95% CI 0.75 to 0.85)" in lead
    assert "over 6 choices of its settings, H-accuracy there is 0.70 to 0.75." in lead
    assert said.rest.startswith("The minimum acceptable is 0.7: accuracy reaches it at ")
    assert "does not reach it at " in said.rest
    assert "leaves it open" not in said.rest


def test_where_the_minimum_comes_from_is_printed() -> None:
    declared = {**MINIMUM, "low": 0.65, "high": 0.75, "n": 40}
    printed = accuracy.minimum(with_instances(acceptable=declared)).replace("\N{NO-BREAK SPACE}", " ")
    assert printed.startswith("Minimum acceptable accuracy: 0.7 (95% CI 0.65 to 0.75; 40 answers). Source: A survey.")
    assert accuracy.minimum(with_instances()) == ""


# ---- figures --------------------------------------------------------------------------------------------------------


def test_the_summary_draws_plain_accuracy_and_what_rests_on_numbers_alone() -> None:
    """Point and interval of each: read from the axes, by row."""
    figure = sheet_of("h_accuracy_summary")(with_instances(acceptable={**MINIMUM, "low": 0.65, "high": 0.75}))
    assert not isinstance(figure, Absent)
    first, second = figure.axes
    points = [float(line.get_xdata()[0]) for line in first.lines if len(line.get_xdata()) == 1]  # type: ignore[arg-type, index]
    spans = [[float(end) for end in line.get_xdata()] for line in first.lines if len(line.get_xdata()) == 2]  # type: ignore[arg-type, union-attr]
    assert sorted(points) == [0.70, 0.71, 0.80]
    assert [0.75, 0.85] in spans
    assert [0.7, 0.7] in spans, "the minimum as a line"
    (band,) = first.patches
    assert (band.get_x(), band.get_x() + band.get_width()) == pytest.approx((0.65, 0.75))  # type: ignore[attr-defined]
    points = [float(line.get_xdata()[0]) for line in second.lines if len(line.get_xdata()) == 1]  # type: ignore[arg-type, index]
    assert points == [0.60]


def test_what_raters_say_stands_in_a_figure_of_its_own() -> None:
    figure = sheet_of("h_accuracy_by_raters")(with_instances())
    assert not isinstance(figure, Absent)
    panels = [
        [float(line.get_xdata()[0]) for line in axes.lines if len(line.get_xdata()) == 1 and axes.axison]  # type: ignore[arg-type, index]
        for axes in figure.axes
    ]
    assert [panel for panel in panels if panel] == [[0.72, 0.74, 0.73], [0.75]]


def test_several_classes_have_a_bare_majority_and_accuracy_without_a_threshold(books: dict[str, Book]) -> None:
    biopsy = books["biopsy"].evidence
    found = instances.of_dataset(biopsy, "graft-1")
    assert found[0].kind == "plain"
    assert found[0].found == find(biopsy, "accuracy", "graft-1")
    assert {instance.at["tau"] for instance in found if instance.kind == "confident"} == {0.51, 0.75, 1.0}
    # With the observed shares as priorities and no confidence asked for, H-accuracy is accuracy (no score ties here).
    prevalence = estimated(
        find(biopsy, "h_accuracy", "graft-1", priority="prevalence", tau=0.25, complexity="constant")
    )
    assert prevalence.value == pytest.approx(found[0].found.value, abs=1e-12)


def test_h_accuracy_of_three_classes_at_a_bare_majority_by_hand() -> None:
    """sigma(k=3, tau=.51): [.4 .3 .3] gives (.4 - 1/3)/(.51 - 1/3); .6 is beyond it; a wrong class earns nothing."""
    classes, risk = (
        np.array([0, 1, 2, 2]),
        np.array([[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8], [0.8, 0.1, 0.1]]),
    )
    found = estimated(h_accuracy_of_classes(classes, risk, "equal", 0.51))
    assert found.value == pytest.approx(((0.4 - 1 / 3) / (0.51 - 1 / 3) + 1 + 0.5) / 3, abs=1e-12)
    assert estimated(accuracy_of_classes(classes, risk)).value == 0.75
