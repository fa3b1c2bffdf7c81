"""Forests, sample sizes, the flow of the rows, dates and similarity: read back from the artists."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from dossier.core import types
from dossier.core.bands import SIMILARITIES
from dossier.core.register import fill
from dossier.core.release import Robustness
from dossier.report.figures import discrimination, ink, similarity
from dossier.report.figures.canvas import FULL, panel, sheet, styled
from dossier.typeset.numbers import number
from tests.estimated import curved, estimated, present
from tests.figures.drawings import in_style, sheet_of, texts, x_of, y_of
from tests.figures.evidence import with_estimates
from tests.figures.studies import EXTREMES, Extreme, study
from tests.figures.studies import evidence as simulated
from tests.reasons import Said, because

BY_NAME = {extreme.name: extreme for extreme in EXTREMES}


@pytest.fixture(scope="module")
def three() -> types.Evidence:
    """Three sites that drift away from the development data, with all that the figures ask for."""
    return simulated(BY_NAME["long names"])


@pytest.fixture(scope="module")
def lacking() -> types.Evidence:
    return simulated(BY_NAME["missing pieces"])


def squares(axes: Axes) -> list[Line2D]:
    return [line for line in axes.lines if line.get_marker() == "s"]


# ---- forests --------------------------------------------------------------------------------------------------------


def test_a_pool_that_leaves_the_axis_ends_in_an_arrow(lacking: types.Evidence) -> None:
    # As if so many sites were pooled that what a new one may expect is drawn, and that were nearly anything.
    wide = {"k": 5.0, "prediction_low": -40.0, "prediction_high": 40.0}
    results = with_estimates(
        lacking.results, lambda each: replace(each, details={**each.details, **wide}), dataset=types.POOLED
    )
    lacking = replace(lacking, results=results)
    figure = in_style(discrimination.draw_forest, lacking, discrimination.AUROC, FULL)
    axes = figure.axes[0]
    together = estimated(types.find(lacking, "auroc", types.POOLED))
    ends = [together.low, together.high, together.details["prediction_low"], together.details["prediction_high"]]
    low, high = axes.get_xlim()
    beyond = [end for end in ends if end is not None and not low <= end <= high]
    arrows = [line for line in axes.lines if line.get_marker() in ("<", ">") and line.get_markerfacecolor() == ink.BLUE]
    assert len(arrows) == len(beyond) > 0


@pytest.mark.parametrize("reach", [(-4.0, 24.0), (-31.0, 12.0), (0.0, 0.31)])
@pytest.mark.parametrize("width", [13.0, 24.0, 60.0])
def test_the_numbers_of_an_axis_are_equally_far_apart(reach: tuple[float, float], width: float) -> None:
    """Below ticks at every 5 stood 0, 10 and 25."""
    with styled():
        axes = panel(sheet(80.0, 20.0), 10.0, 2.0, width, 10.0)
        discrimination.scale(axes, discrimination.Forest("gain", "Gain", 0.0, unbounded=True), reach, reach)
    written = [float(text.get_text().replace("−", "-")) for text in axes.sheet.texts]
    assert {0} < set(written)
    assert np.diff(written, 2) == pytest.approx(0.0)


def test_the_forest_of_the_observed_over_expected_events_shows_them_on_a_scale_of_ratios(three: types.Evidence) -> None:
    axes = in_style(discrimination.draw_forest, three, discrimination.OE, FULL).axes[0]
    found = [estimated(types.find(three, "oe_ratio", site.name)).value for site in types.externals(three)]
    assert [x_of(line)[0] for line in squares(axes)] == found
    assert axes.get_xscale() == "log"


# ---- similarity -----------------------------------------------------------------------------------------------------


MEASURES: tuple[tuple[str, dict[str, float]], ...] = (
    ("auroc", {}),
    ("standardized_net_benefit", {"threshold": 0.5}),
    ("brier", {}),
)


def test_the_rows_hold_similarity_and_performance_the_most_alike_site_first(three: types.Evidence) -> None:
    figure = in_style(sheet_of("performance_by_similarity"), three)
    alike = {
        site.name: estimated(types.find(three, "correspondence_averaged", site.name)).value
        for site in types.externals(three)
    }
    order = sorted(alike, key=lambda name: -alike[name])
    first, *panels = figure.axes
    assert [(x_of(mark)[0], y_of(mark)[0]) for mark in squares(first)] == [
        (alike[name], row) for row, name in enumerate(order)
    ]
    for axes, (measure, at) in zip(panels, MEASURES, strict=True):
        for row, (mark, name) in enumerate(zip(squares(axes), order, strict=True)):
            found = estimated(types.find(three, measure, name, **at))
            assert (x_of(mark)[0], y_of(mark)[0]) == (pytest.approx(found.value), row)
            stroke = next(line for line in axes.lines if list(y_of(line)) == [row, row] and line.get_zorder() == 2)
            assert list(x_of(stroke)) == pytest.approx([found.low, found.high])
    left, right = panels[2].get_xlim()
    assert left > right == 0, "right is better for the Brier score too"


def test_the_averaged_form_stands_in_the_rows_with_its_intervals(three: types.Evidence) -> None:
    chosen = Robustness(similarity="averaged")
    found = replace(three, release=three.release.model_copy(update={"robustness": chosen}))
    figure = in_style(sheet_of("performance_by_similarity"), found)
    assert "Averaged" in " ".join(texts(figure))
    known = [estimated(types.find(found, "correspondence_averaged", site.name)) for site in types.externals(found)]
    ends = {tuple(x_of(line)) for line in figure.axes[0].lines if len(x_of(line)) == 2 and line.get_zorder() == 2}
    assert ends == {(estimate.low, estimate.high) for estimate in known}
    low, high = figure.axes[0].get_xlim()
    assert low < min(estimate.low or 0 for estimate in known)
    assert low < 0.4 < max(estimate.high or 0 for estimate in known) < high


@pytest.mark.parametrize(
    ("form", "value", "message"),
    [
        ("averaged", 0.49, "Below 0.4 by averaged similarity: none of 3 sites (0.5: alike)."),
        (
            "psi",
            0.1,
            "Below 0.4 by psi: 3 of 3 sites (p value, below 0.4 at 40% of hospitals drawn from the development "
            "population).",
        ),
    ],
)
def test_the_title_of_the_rows_counts_the_sites_of_low_similarity(
    three: types.Evidence, form: str, value: float, message: str
) -> None:
    results = with_estimates(three.results, lambda each: replace(each, value=value), SIMILARITIES[form])
    release = three.release.model_copy(update={"robustness": Robustness.model_validate({"similarity": form})})
    picture = present(similarity.performance_by_similarity(replace(three, results=results, release=release)))
    assert picture.message.replace("\N{NO-BREAK SPACE}", " ") == message


def test_the_correlation_stands_with_its_number_of_sites(three: types.Evidence) -> None:
    figure = in_style(sheet_of("performance_by_similarity"), three)
    found = estimated(
        types.find(three, "performance_against_similarity", types.POOLED, measure="auroc", similarity="averaged")
    )
    assert f"r {number(found.value)}, 3 sites" in texts(figure)
    assert "no interval" in texts(figure), "Fisher's z needs four sites"


def test_a_correlation_that_does_not_exist_says_why() -> None:
    figure = in_style(sheet_of("performance_by_similarity"), simulated(BY_NAME["perfect"]))
    assert "no r: all the same" in texts(figure)


def test_a_measure_that_is_known_nowhere_has_no_panel() -> None:
    """Three sites too small for it, say; the other two panels are drawn."""
    found = simulated(BY_NAME["twenty rows"])
    results = tuple(result for result in found.results if result.measure != "standardized_net_benefit")
    assert len(in_style(sheet_of("performance_by_similarity"), replace(found, results=results)).axes) == 3


def test_one_site_has_no_correlation() -> None:
    pair = simulated(BY_NAME["one site"])
    assert isinstance(fill("report.figures").figures["performance_by_similarity"].function(pair), types.Absent)


# ---- the simulated studies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extreme", EXTREMES, ids=lambda extreme: extreme.name)
def test_a_simulated_study_is_the_same_every_time(extreme: Extreme) -> None:
    once, again = study(extreme), study(extreme)
    for first, other in zip(once.datasets, again.datasets, strict=True):
        np.testing.assert_array_equal(first.risk, other.risk)
        np.testing.assert_array_equal(first.outcome, other.outcome)
    assert len(once.release.dataset) == len(once.datasets)


def test_no_figure_is_told_of_rows() -> None:
    """The million of the extremes is a count: what is drawn of it has the size of what is drawn of a thousand."""
    many = simulated(BY_NAME["many rows"])
    assert all(site.n == 400_000 for site in types.externals(many))
    picture = present(fill("report.figures").figures["roc_by_site"].function(many))
    assert "1,200,000" in picture.caption
    assert not re.search(r"\d{4}", picture.caption)
    assert types.find_curve(many, "decision_curve", "site-0") is not None
    assert len(curved(types.find_curve(many, "decision_curve", "site-0")).columns["threshold"]) <= 250


# ---- why a figure is missing ----------------------------------------------------------------------------------------


def test_the_reason_is_that_of_the_external_sites_not_of_the_owner(three: types.Evidence) -> None:
    kinds = ("confusion_matrix", "h_accuracy_surface")
    owner, *_ = (dataset.name for dataset in three.datasets if dataset.role != "external")
    reasons = [(owner, "the owner's rows are refitted splits"), ("site-0", "the release declares no weights")]
    others = tuple(curve for curve in three.curves if curve.curve not in kinds)
    curves = tuple(
        types.CurveResult(kind, name, types.Absent(because(reason))) for kind in kinds for name, reason in reasons
    )
    found = replace(three, curves=(*curves, *others))
    for name in ("confusion_by_site", "h_accuracy_by_complexity_by_site"):
        assert fill("report.figures").figures[name].function(found) == Said("the release declares no weights"), name
