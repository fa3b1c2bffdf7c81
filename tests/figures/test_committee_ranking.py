"""The forest of the committee: how well it tells sick from well, ours in blue, and what a new hospital may expect."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from dossier.core.types import POOLED, Absent, Estimate, Evidence, externals, find
from dossier.report.figures import committee
from dossier.report.figures.ink import BLUE
from tests.conftest import by_hand
from tests.estimated import curved, estimated, present
from tests.figures.drawings import in_style, sheet_of
from tests.figures.evidence import COVID, Case
from tests.reasons import because


def along(line: Line2D) -> list[float]:
    """Where a line goes from left to right."""
    return [float(x) for x in np.asarray(line.get_xdata(), dtype=np.float64)]


def drawn(found: Evidence) -> Figure:
    return in_style(sheet_of("committee_ranking"), found)


def test_squares_and_lines_stand_at_the_values_in_the_order_of_the_tables() -> None:
    found = by_hand(Case("eight", COVID))
    axes = drawn(found).axes[0]
    known = [estimate for site in externals(found) if isinstance(estimate := find(found, "auroc", site.name), Estimate)]
    squares = [along(line)[0] for line in axes.lines if line.get_marker() == "s"]
    assert squares == [each.value for each in known]
    spans = {tuple(along(line)) for line in axes.lines if len(along(line)) == 2}
    assert {(each.low, each.high) for each in known} <= spans
    pooled = estimated(find(found, "auroc", POOLED))
    (bar,) = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert bar.get_x() == pooled.details["prediction_low"]
    assert bar.get_x() + bar.get_width() == pytest.approx(pooled.details["prediction_high"], abs=1e-12)


def test_our_own_place_alone_is_blue_and_bold() -> None:
    found = dataclasses.replace(by_hand(Case("eight", COVID)), local_site="site-3")
    figure = drawn(found)
    blue = [line for line in figure.axes[0].lines if line.get_marker() == "s" and line.get_color() == BLUE]
    ours = estimated(find(found, "auroc", "site-3"))
    assert [along(line)[0] for line in blue] == [ours.value]
    (label,) = [text for text in figure.texts if text.get_text() == "Spain"]
    assert label.get_color() == BLUE


@pytest.mark.slow
def test_of_forty_places_both_ends_and_ours_are_drawn_and_the_rest_is_counted() -> None:
    case = Case("forty", tuple(f"Hospital {index}" for index in range(1, 41)))
    ranked = present(committee.rankings(by_hand(case)))
    known = [(find(by_hand(case), "auroc", site.name), site.name) for site in externals(by_hand(case))]
    middle = sorted((estimate.value, name) for estimate, name in known if isinstance(estimate, Estimate))[20][1]
    found = dataclasses.replace(by_hand(case), local_site=middle)
    rows = present(committee.rankings(found))
    assert len(rows) == len(ranked) + 1 <= committee.MOST_PLACES
    assert [row.is_ours for row in rows].count(True) == 1
    picture = present(committee.committee_ranking(found))
    assert f"Not drawn: {40 - len(rows)}\N{NO-BREAK SPACE}hospitals." in picture.caption


def test_one_place_has_no_forest() -> None:
    assert isinstance(committee.committee_ranking(by_hand(Case("one", ("Desio, Italy",)))), Absent)


def test_the_curve_and_the_thousand_are_ours_when_our_site_is_named() -> None:
    found = dataclasses.replace(by_hand(Case("eight", COVID)), local_site="site-3")
    assert present(committee.alone(found)).site == "Spain"
    # No counts of this site: those of the others must not stand in for them.
    others = tuple(curve for curve in found.curves if (curve.curve, curve.dataset) != ("classification", "site-3"))
    assert isinstance(committee.thousand(dataclasses.replace(found, curves=others)), Absent)


def test_of_a_rare_outcome_nothing_is_drawn_of_1000_patients() -> None:
    """5 of 1,000 are drawn; at a threshold of .002, or of 2 in 1,000, a patient more or less is half of the cases."""
    rare = by_hand(Case("one", ("Desio, Italy",), rare=True))
    assert present(committee.thousand(rare)).count["true_positive"] == 4
    (counts,) = (curve for curve in rare.curves if curve.curve == "classification")
    columns = {**curved(counts.found).columns, "true_positive": (1.0,), "false_positive": (33.0,)}
    fewer = dataclasses.replace(counts, found=dataclasses.replace(curved(counts.found), columns=columns))
    assert isinstance(committee.thousand(dataclasses.replace(rare, curves=(fewer,))), Absent)


def test_the_caption_counts_the_hospitals_that_are_not_drawn() -> None:
    made = by_hand(Case("eight", COVID))
    results = tuple(
        dataclasses.replace(result, found=Absent(because("one class only")))
        if (result.measure, result.dataset, result.subset) == ("auroc", "site-7", None)
        else result
        for result in made.results
    )
    picture = present(committee.committee_ranking(dataclasses.replace(made, results=results)))
    assert picture.caption.endswith("Not drawn: 1\N{NO-BREAK SPACE}hospital.")
