"""What the figures show, read back from their artists, is what the evidence holds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import TICKDOWN
from matplotlib.patches import Ellipse, Polygon, Rectangle, StepPatch

from dossier.core import bands, types
from dossier.core.facts import Count, Fact, Method
from dossier.core.register import fill
from dossier.core.release import Robustness
from dossier.report.chapters import grid
from dossier.report.figures import (
    calibration,
    canvas,
    committee,
    discrimination,
    prevalence,
    risks,
    robustness,
    utility,
)
from dossier.report.figures.canvas import FULL, HALF, styled
from dossier.report.figures.captions import interval
from dossier.typeset.numbers import TIED, plain
from dossier.typeset.widths import shortened, text_width
from tests.conftest import Book
from tests.estimated import curved, estimated, present
from tests.figures.drawings import draw_diagram, holds, in_style, sheet_of, texts, x_of, y_of
from tests.figures.evidence import BY_NAME, COVID, evidence, with_estimates, with_measure
from tests.figures.risks import both_assumptions, by_bayes
from tests.figures.text_boxes import text_boxes


def test_forest_shows_values_intervals_pool_and_prediction(eight: types.Evidence) -> None:
    figure = in_style(discrimination.draw_forest, eight, discrimination.AUROC, HALF)
    axes = figure.axes[0]
    squares = [line for line in axes.lines if line.get_marker() == "s"]
    expected = [estimated(types.find(eight, "auroc", site.name)) for site in types.externals(eight)]
    assert [float(x_of(line)[0]) for line in squares] == [estimate.value for estimate in expected]
    whiskers = [x_of(line) for line in axes.lines if line.get_marker() == "None" and len(x_of(line)) == 2]
    assert [tuple(map(float, ends)) for ends in whiskers if ends[0] != ends[1]] == [
        (estimate.low, estimate.high) for estimate in expected
    ]
    hollow = [line.get_markerfacecolor() == "white" for line in squares]
    assert hollow == [name == "Brazil 3" for name in COVID], "only Brazil 3 has 11 non-events"
    diamond = next(patch for patch in axes.patches if isinstance(patch, Polygon))
    assert sorted(set(np.asarray(diamond.get_xy())[:, 0].tolist())) == [0.73, 0.88, 0.96]
    bar = next(patch for patch in axes.patches if isinstance(patch, Rectangle))
    assert (bar.get_x(), bar.get_x() + bar.get_width()) == pytest.approx((0.28, 0.99))
    assert {"0.88", "0.73–0.96", "PI", "0.28–0.99", "criterion 0.75"} <= set(texts(figure))


def test_forest_of_two_sites_pools_nothing() -> None:
    two = evidence(type(BY_NAME["eight"])("two", ("Italy 1", "Spain")))
    why = types.Absent(Fact("too_few_sites_to_pool", usable=Count(2, "site")))
    results = tuple(replace(each, found=why) if each.dataset == types.POOLED else each for each in two.results)
    two = replace(two, results=results)
    figure = in_style(discrimination.draw_forest, two, discrimination.AUROC, HALF)
    assert not {"All, pooled", "New hospital"} & set(texts(figure)), "a mean of two sites says nearly nothing"


def test_calibration_shows_the_curve_the_band_and_breaks_sparse_sites(eight: types.Evidence) -> None:
    figure = in_style(calibration.draw_calibration, eight, HALF)
    for axes, site in zip(figure.axes, types.externals(eight), strict=True):
        diagonal, line = axes.lines
        curve = curved(types.find_curve(eight, "calibration_curve", site.name))
        np.testing.assert_array_equal(x_of(line), curve.columns["risk"])
        np.testing.assert_array_equal(y_of(line), curve.columns["observed"])
        assert list(x_of(diagonal)) == list(y_of(diagonal))
        assert (line.get_linestyle() == "--") == (min(present(site.events), site.n - present(site.events)) < 100)
        band = np.asarray(axes.collections[0].get_paths()[0].vertices)
        assert {round(value, 9) for value in curve.columns["high"] if value is not None} <= {
            round(float(value), 9) for value in band[:, 1]
        }


def test_axes_follow_risks_that_are_all_small() -> None:
    figure = in_style(calibration.draw_calibration, evidence(BY_NAME["rare"]), HALF)
    assert {axes.get_xlim() for axes in figure.axes} == {(0, 0.02)}


def test_key_results_show_the_gain_of_each_site_and_pool_nothing(eight: types.Evidence) -> None:
    sites = types.externals(eight)
    gains = {site.name: (0.01 * (index - 3), 0.01 * (index - 5), 0.01 * index) for index, site in enumerate(sites)}
    base = estimated(types.find(eight, "auroc", sites[0].name))
    every = {name: replace(base, value=value, low=low, high=high) for name, (value, low, high) in gains.items()}
    every[types.POOLED] = replace(base, value=0.5, details={"k": 8.0})
    found = with_measure(eight, "net_benefit_gain", every, threshold=0.5)
    figure = in_style(discrimination.draw_forest, found, discrimination.gain_at(found, 0.5), HALF)
    squares = [float(x_of(line)[0]) for line in figure.axes[0].lines if line.get_marker() == "s"]
    np.testing.assert_allclose(squares, [100 * value for value, _, _ in gains.values()], atol=1e-9)
    assert not any(isinstance(patch, Polygon) for patch in figure.axes[0].patches)
    assert "All, pooled" not in texts(figure)


def test_the_primary_threshold_is_never_interpolated(eight: types.Evidence) -> None:
    def rings(found: types.Evidence) -> int:
        return sum(
            line.get_marker() == "o"
            for axes in in_style(utility.draw_decision_panels, found).axes
            for line in axes.lines
        )

    assert rings(eight) >= 1
    # The same evidence, its decision curves without the row of the primary threshold.
    curves = []
    for curve in eight.curves:
        if curve.curve.startswith("decision_curve") and isinstance(curve.found, types.Curve):
            row = curve.found.columns["threshold"].index(0.5)
            columns = {name: values[:row] + values[row + 1 :] for name, values in curve.found.columns.items()}
            curve = replace(curve, found=replace(curve.found, columns=columns))
        curves.append(curve)
    assert rings(replace(eight, curves=tuple(curves))) == 0


@pytest.mark.parametrize("case", ["two", "near", "eight"])
def test_decision_curves_stand_on_one_scale_with_their_bands_and_are_those_of_the_evidence(case: str) -> None:
    found = evidence(BY_NAME[case])
    figure = in_style(utility.draw_decision_panels, found)
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    for axes, site in zip(figure.axes, types.externals(found), strict=True):
        curve = curved(types.find_curve(found, "decision_curve", site.name))
        columns = {
            name: 100 * np.array(curve.columns[name], dtype=float) for name in ("net_benefit", "treat_all", "low")
        }
        lines = {line.get_gid(): np.asarray(line.get_ydata()) for line in axes.lines}
        np.testing.assert_allclose(lines["model"], columns["net_benefit"], atol=1e-9)
        np.testing.assert_allclose(lines["everyone"], columns["treat_all"], atol=1e-9)
        (band,) = axes.collections
        assert np.isclose(np.asarray(band.get_paths()[0].vertices)[:, 1].min(), np.nanmin(columns["low"]))
        row = curve.columns["threshold"].index(0.5)
        model, everyone = columns["net_benefit"][row], columns["treat_all"][row]
        head = f"gain {min(model - everyone, model):.1f} at 0.50".replace("-", "\N{MINUS SIGN}")
        assert head in texts(figure)
        # The stroke at the primary threshold goes from the better default to the model.
        assert holds(axes, np.array([0.5, 0.5]), np.array([max(everyone, 0.0), model]))


CROWDED = {
    "a": (0.90, 0.91, 163 / 337),
    "b": (0.84, 0.99, 104 / 249),
    "c": (0.85, 0.78, 118 / 224),
    "d": (0.58, 0.81, 78 / 120),
    "e": (0.26, 0.96, 352 / 1301),
    "f": (0.28, 0.98, 375 / 2335),
    "g": (0.64, 0.91, 200 / 429),
}
"""Sensitivity, specificity and prevalence of seven sites of the covid release."""


def test_panels_of_predictive_values_are_as_high_as_their_letters_need(eight: types.Evidence) -> None:
    (site, *_) = types.externals(eight)
    base = estimated(types.find(eight, "auroc", site.name))
    found = []
    for sensitivity, specificity, own in CROWDED.values():
        ppv, npv = (replace(base, value=float(v)) for v in by_bayes(sensitivity, specificity, np.array(own)))
        found.append(prevalence.Flagging(site, own, (ppv, npv), both_assumptions(sensitivity, specificity, own)))
    with styled():
        lowest = [prevalence._labels(found, list(CROWDED), which, prevalence.HEIGHTS[0]) for which in (0, 1)]
        assert any(None in label.spots for label in lowest), "there a letter has no room"
        high, labels = prevalence._lettered(found, list(CROWDED))
        assert high > prevalence.HEIGHTS[0]
        assert not any(None in label.spots for label in labels)
        assert prevalence._lettered(found[3:5], ["d", "e"])[0] == prevalence.HEIGHTS[0]


def test_predictive_values_are_those_found_with_their_intervals_in_the_band_of_both_assumptions(
    eight: types.Evidence,
) -> None:
    """ "Read up from that of your hospital": sensitivity and specificity move with the case mix, PPV .08 for .29."""
    sites = types.externals(eight)
    base, values = estimated(types.find(eight, "auroc", sites[0].name)), {"ppv": 0.61, "npv": 0.87}
    found = eight
    for name, value in values.items():
        estimate = replace(base, value=value, low=value - 0.1, high=value + 0.1)
        found = with_measure(found, name, {site.name: estimate for site in sites}, threshold=0.5)
    told = [site for site in sites if not site.is_few]
    bands = {site.name: both_assumptions(0.7, 0.8, site.prevalence or 0.0, 0.02) for site in told[:-1]}
    curves = [types.CurveResult("predictive_values", name, curve) for name, curve in bands.items()]
    found = replace(found, curves=(*curves, *(each for each in found.curves if each.curve != "predictive_values")))
    picture = present(prevalence.predictive_values_by_prevalence(found))
    assert "read up" not in picture.caption
    assert "Band: between the same sensitivity and specificity (broken) and the same model" in picture.caption
    assert f"none that rise with the outcome: {told[-1].site}." in picture.caption
    assert picture.alternative == "As found, PPV 61% and NPV 87%."
    figure = in_style(sheet_of("predictive_values_by_prevalence"), found)
    # A site has the letter that page 1 calls it by, though another one before it is left out.
    keyed = [text.get_text() for text in figure.texts if text.get_text()[1:3] == "  "]
    legend = plain(" ".join(grid._legend(found)))
    assert len(keyed) == len(told) < len(sites)
    assert all(f"{text[0]} {text[3:]} (" in legend for text in keyed)
    for axes, (name, value) in zip(figure.axes, values.items(), strict=True):
        dots = {str(line.get_gid()): line for line in axes.lines if line.get_marker() == "o"}
        assert {name: (float(x_of(dot)[0]), float(y_of(dot)[0])) for name, dot in dots.items()} == {
            site.name: (site.prevalence, value) for site in told
        }, "too few to tell are left out"
        ends = [y_of(line) for line in axes.lines if len(x_of(line)) == 2]
        assert len(ends) == len(told)
        assert all(found == pytest.approx((value - 0.1, value + 0.1)) for found in ends)
        for way, broken in (("same", True), ("shifted", False)):
            lines = [y_of(line).tolist() for line in axes.lines if len(x_of(line)) > 2 and line.is_dashed() == broken]
            assert lines == [list(curve.columns[f"{name}_{way}"]) for curve in bands.values()]
        assert len(axes.collections) == len(bands)


def test_the_message_of_the_curves_is_the_gain_that_was_estimated(eight: types.Evidence) -> None:
    site = types.externals(eight)[0]
    gained = replace(estimated(types.find(eight, "auroc", site.name)), value=0.12, low=0.03, high=0.21)
    found = with_measure(eight, "net_benefit_gain", {site.name: gained}, threshold=0.5)
    message = fill("report.figures").figures["decision_by_site"].function(found).message
    assert message == f"At 0.50 the gain over the better default per 100 patients: 12.0 ({site.site})."


@pytest.mark.parametrize(
    ("threshold", "text"),
    [(0.05, "19"), (0.2, "4"), (0.5, "1"), (0.6, "0.67"), (0.8, "0.25"), (0.4, "1.5"), (0.01, "99"), (0, "–")],
)
def test_false_alarms_per_miss(threshold: float, text: str) -> None:
    assert utility.false_alarms(threshold) == text


def test_risks_are_mirrored_and_too_few_are_not_drawn(eight: types.Evidence) -> None:
    figure = in_style(risks.draw_risks, eight, HALF)
    for axes, site in zip(figure.axes, types.externals(eight), strict=True):
        steps = [patch.get_data()[0] for patch in axes.patches if isinstance(patch, StepPatch)]
        curve = curved(types.find_curve(eight, "risk_distribution", site.name))
        np.testing.assert_allclose(steps[0], np.array(curve.columns["share_events"], dtype=float))
        if site.site == "Brazil 3":
            assert len(steps) == 1
        else:
            np.testing.assert_allclose(steps[1], -np.array(curve.columns["share_non_events"], dtype=float))
    assert texts(figure).count("too few") == 1


def test_risks_by_site_print_n_and_events(eight: types.Evidence) -> None:
    figure = in_style(risks.draw_risks, eight, FULL)
    shown = set(texts(figure))
    for site in types.externals(eight):
        assert {site.site, f"n {site.n:,}, {site.events:,}{TIED}events"} <= shown


@pytest.mark.parametrize(("draw", "share"), [(calibration.draw_calibration, 0.85), (risks.draw_risks, 0.80)])
def test_one_panel_fills_the_half_width(draw: Callable[[types.Evidence, float], Figure], share: float) -> None:
    """Beside it stands a scale alone; the percentages of the risks are wider than shares."""
    figure = in_style(draw, evidence(BY_NAME["one"]), HALF)
    assert len(figure.axes) == 1
    assert canvas.extent(figure)[0] == pytest.approx(HALF)
    assert figure.axes[0].get_position().width > share


def test_calibration_of_a_few_sites_has_groups_risks_and_numbers_in_each_panel() -> None:
    for case in ("two", "eight"):
        found = evidence(BY_NAME[case])
        figure = in_style(calibration.draw_calibration, found, FULL)
        panels = [axes for axes in figure.axes if axes.get_ylim()[0] == 0]
        strips = [axes for axes in figure.axes if axes.get_ylim()[0] < 0]
        sites = types.externals(found)
        assert len(panels) == len(strips) == len(sites)
        for axes, site in zip(panels, sites, strict=True):
            groups = types.find_curve(found, "calibration_groups", site.name)
            points = [line for line in axes.lines if line.get_marker() == "o" and len(np.asarray(line.get_xdata())) > 1]
            assert bool(points) == isinstance(groups, types.Curve)
            assert not any(line.get_clip_on() for line in points), "a group of which none or all had it was half a dot"
            assert any(text.startswith(f"n {site.n:,}") for text in texts(figure))
        assert all(strip.patches for strip, site in zip(strips, sites, strict=True) if any(risks.enough(site)))
        half = canvas.tick_text(panels[0].get_xlim()[1] / 2)
        assert min(texts(figure).count(end) for end in ("0", half)) >= 2 * len(sites)
        few = sum(not is_drawn for site in sites for is_drawn in risks.enough(site))
        assert texts(figure).count("too few") == few, "an empty strip says of nobody that his risk is known"


def test_a_long_name_stands_on_two_lines() -> None:
    figure = in_style(calibration.draw_calibration, evidence(BY_NAME["two"]), HALF)
    assert {"Rotterdam, surgery", "from 1988", "GBSG trial,", "Germany"} <= set(texts(figure))


def test_committee_sees_what_came_of_one_percentage_at_each_hospital(eight: types.Evidence) -> None:
    """The squares stand on the calibration curve at the primary threshold, the lines are its band there."""
    figure = in_style(sheet_of("committee_percentages"), eight)
    said = eight.release.thresholds.declared[0]
    known = {}
    for site in types.externals(eight):
        curve = curved(types.find_curve(eight, "calibration_curve", site.name))
        risk, *lines = (np.array(curve.columns[name], dtype=float) for name in ("risk", "low", "observed", "high"))
        if risk[0] <= said <= risk[-1]:
            known[site.site] = [float(np.interp(said, risk, line)) for line in lines]
    assert len(known) > 5
    axes = figure.axes[0]
    squares = sorted(float(x_of(line)[0]) for line in axes.lines if line.get_marker() in ("s", "D"))
    assert squares == pytest.approx(sorted(value for _, value, _ in known.values()))
    spans = sorted(tuple(x_of(line)) for line in axes.lines if len(x_of(line)) == 2 and line.get_linestyle() == "-")
    for span, ends in zip(spans, sorted((low, high) for low, _, high in known.values()), strict=True):
        assert span == pytest.approx(ends)
    assert [float(x_of(line)[0]) for line in axes.lines if line.get_linestyle() == "--"] == [said]


def test_committee_sees_no_curve_of_several_hospitals(eight: types.Evidence) -> None:
    for draw in (sheet_of("committee_calibration"), sheet_of("committee_thousand")):
        assert isinstance(draw(eight), types.Absent)
    assert isinstance(sheet_of("committee_percentages")(evidence(BY_NAME["one"])), types.Absent)


def test_committee_sees_a_single_hospital_by_name_with_its_band() -> None:
    figure = in_style(sheet_of("committee_calibration"), evidence(BY_NAME["one"]))
    assert len(figure.axes[0].collections) == 1
    assert {"Desio, Italy", "perfect"} <= set(texts(figure))
    (site,) = evidence(BY_NAME["one"]).datasets
    for events in (site.events, 99):
        few = replace(evidence(BY_NAME["one"]), datasets=(replace(site, events=events),))
        picture = present(fill("report.figures").figures["committee_calibration"].function(few))
        assert ("Broken: few patients." in picture.caption) is (events == 99)


def _discs(axes: Axes) -> list[Ellipse]:
    return [patch for patch in axes.patches if isinstance(patch, Ellipse) and patch.get_zorder() == 4]


def _panels(figure: Figure) -> list[Axes]:
    """The three panels of the diagram: those that hold rings and are no strip of sites of unknown similarity."""
    return [axes for axes in figure.axes[1:] if axes.get_ylim()[0] < axes.get_ylim()[1] and _rings(axes)]


def test_diagram_places_sites_and_fills_rings_by_sample(eight: types.Evidence) -> None:
    figure = in_style(draw_diagram, eight)
    panels = _panels(figure)
    for axes, measure, sample, at in zip(
        panels,
        ("auroc", "standardized_net_benefit", "brier"),
        ("mss_auroc", "mss_snb", "mss_brier"),
        ({}, {"threshold": 0.5}, {}),
        strict=True,
    ):
        rings = [patch for patch in axes.patches if isinstance(patch, Ellipse) and patch.get_zorder() == 3]
        discs = _discs(axes)
        for site, ring, disc in zip(types.externals(eight), rings, discs, strict=True):
            value = estimated(types.find(eight, measure, site.name, **at)).value
            similarity = estimated(types.find(eight, "correspondence_averaged", site.name)).value
            assert ring.get_center() == pytest.approx((value, similarity))
            least = estimated(types.find(eight, sample, site.name, **at)).value
            share = (disc.get_width() / ring.get_width()) ** 2
            reached = site.n / least
            assert share == pytest.approx(1 if reached >= 1 else min(0.64, reached)), (
                "a ring is seen around what is less"
            )
    assert panels[2].get_xlim()[0] > panels[2].get_xlim()[1] == 0, (
        "a lower Brier score is better, so it runs to the right"
    )


PSI = "degree_of_correspondence"


def _by_psi(found: types.Evidence) -> types.Evidence:
    """The same study with psi in place of the averaged form, spread from 0.02 to 0.95."""
    values = iter(np.linspace(0.02, 0.95, len(types.externals(found))))
    results = tuple(
        replace(
            result,
            measure="degree_of_correspondence",
            found=replace(result.found, value=next(values), low=None, high=None),
        )
        if result.measure == "correspondence_averaged" and isinstance(result.found, types.Estimate)
        else result
        for result in found.results
    )
    release = found.release.model_copy(update={"robustness": Robustness(similarity="psi")})
    return replace(found, release=release, results=results)


def test_psi_is_drawn_where_the_release_chooses_it(eight: types.Evidence) -> None:
    psi = _by_psi(eight)
    figure, other = in_style(draw_diagram, psi), in_style(draw_diagram, eight)
    assert "Degree of correspondence, psi" in texts(figure)
    assert {"slight", "low", "moderate"} <= set(texts(figure))
    assert "Averaged correspondence" in texts(other)
    for axes in _panels(figure):
        heights = [float(np.asarray(ring.get_center())[1]) for ring in _rings(axes)]
        assert heights == pytest.approx(np.linspace(0.02, 0.95, 8))
        assert not [patch for patch in axes.patches if isinstance(patch, Ellipse) and patch.get_zorder() == 2]
        strokes = [line for line in axes.lines if line.get_linewidth() == 1.1 and not line.is_dashed()]
        assert len(strokes) == 8, "a p-value has no interval: the performance has a stroke"
    caption = fill("report.figures").figures["external_performance"].function(psi).caption
    assert "degree of correspondence, psi" in caption


def test_every_band_of_psi_has_its_name_and_its_ticks_where_the_axis_goes_to_one(eight: types.Evidence) -> None:
    figure = in_style(draw_diagram, _by_psi(eight))
    assert {"slight", "low", "moderate", "significant", "fundamental"} <= set(texts(figure))
    assert {"0", "0.2", "0.4", "0.6", "0.8", "1"} <= set(texts(figure))
    names = [text for text in figure.texts if text.get_rotation() == 90]
    boxes = sorted((text.get_window_extent().y0, text.get_window_extent().y1) for text in names)
    assert len(boxes) == 5
    assert all(high < low for (_, high), (low, _) in itertools.pairwise(boxes)), "no name touches the next"


def test_every_cut_off_has_a_tick(eight: types.Evidence) -> None:
    """Also where its text has no room: .08 of the Brier score is near the end of the axis."""
    figure = in_style(draw_diagram, eight)
    strokes = [line for line in figure.artists if isinstance(line, Line2D) and line.get_marker() == TICKDOWN]
    for measure, stroke in zip(eight.release.judged_by, strokes, strict=True):
        assert set(bands.PERFORMANCE[measure]) <= set(np.asarray(stroke.get_xdata(), dtype=float).tolist())


def test_the_diagram_draws_the_utility_and_the_calibration_that_are_chosen(eight: types.Evidence) -> None:
    release = eight.release.model_copy(
        update={"robustness": Robustness(similarity="averaged", utility="weighted_utility", calibration="eci")}
    )
    at = release.judged_by["weighted_utility"]
    assert at == {"gamma": 1.0, "relevance": "constant", "tau": 0.5}
    made = []
    for index, site in enumerate(types.externals(eight)):
        for measure, setting, value in (("weighted_utility", at, 0.3 + index / 20), ("eci", {}, 0.99 - index / 20)):
            found = types.Estimate(value, value - 0.02, value + 0.01, 0.95, 100, Method("delta"))
            made.append(types.Result(measure, measure, site.name, setting, found))
    chosen = replace(eight, release=release, results=(*eight.results, *made))
    figure = in_style(draw_diagram, chosen)
    second, third = _panels(figure)[1:]
    assert [float(np.asarray(ring.get_center())[0]) for ring in _rings(second)] == pytest.approx(
        [0.3 + index / 20 for index in range(8)]
    )
    assert [float(np.asarray(ring.get_center())[0]) for ring in _rings(third)] == pytest.approx(
        [0.99 - index / 20 for index in range(8)]
    )
    words = " ".join(texts(figure))
    assert "Weighted utility at 0.50" in words
    assert "ECI" in words
    caption = fill("report.figures").figures["external_performance"].function(chosen).caption
    assert "Cut-offs: AUROC published, others ours." in caption
    assert "Dotted: minimum sample size unknown" in caption


def test_a_brier_score_without_skill_is_crossed_out(eight: types.Evidence) -> None:
    skilled = types.Estimate(0.2, None, None, None, 9, Method("delta"))
    found = with_measure(eight, "scaled_brier", {"site-0": replace(skilled, value=-0.1), "site-1": skilled})
    panels = _panels(in_style(draw_diagram, found))
    crosses = [[line for line in axes.lines if line.get_marker() == "x"] for axes in panels]
    assert [len(marks) for marks in crosses] == [0, 0, 1]
    assert float(x_of(crosses[2][0])[0]) == estimated(types.find(found, "brier", "site-0")).value
    assert "Cross" in fill("report.figures").figures["external_performance"].function(found).caption
    rows = in_style(sheet_of("performance_by_similarity"), found)
    crosses = [[line for line in axes.lines if line.get_marker() == "x"] for axes in rows.axes]
    assert [len(marks) for marks in crosses] == [0, 0, 0, 1]
    assert float(x_of(crosses[3][0])[0]) == estimated(types.find(found, "brier", "site-0")).value


@pytest.mark.slow
def test_the_brier_score_of_brazil_3_is_worse_than_that_of_its_prevalence(covid: Book) -> None:
    """.390 at 334 events of 345, whose prevalence alone gives .031."""
    found = covid.evidence
    crossed = []
    for site in types.externals(found):
        prevalence = present(site.events) / site.n
        score = estimated(types.find(found, "brier", site.name)).value
        crossed += [(site.name, score)] if score >= prevalence * (1 - prevalence) else []
    assert dict(crossed)["brazil-3"] == pytest.approx(0.3899792)
    figure = in_style(sheet_of("performance_by_similarity"), found)
    crosses = [float(x_of(line)[0]) for line in figure.axes[3].lines if line.get_marker() == "x"]
    assert sorted(crosses) == pytest.approx(sorted(score for _, score in crossed))


def test_only_sites_in_the_frame_on_all_three_support(eight: types.Evidence) -> None:
    expected = []
    for site in types.externals(eight):
        auroc, brier = (estimated(types.find(eight, name, site.name)) for name in ("auroc", "brier"))
        benefit = estimated(types.find(eight, "standardized_net_benefit", site.name, threshold=0.5))
        similarity = estimated(types.find(eight, "correspondence_averaged", site.name)).value
        shown = present(auroc.low) >= 0.7, present(benefit.low) >= 0.4, present(brier.high) <= 0.25
        if site.n >= 100 and similarity < 0.4 and all(shown):
            expected.append(site.site)
    assert (
        [placed_site.site.site for placed_site in robustness.placed_sites(eight) if placed_site.supports]
        == expected
        != []
    )


def test_sites_without_similarity_stand_in_the_strip_with_their_performance() -> None:
    covid = evidence(BY_NAME["covid"])
    figure = in_style(draw_diagram, covid)
    assert "Similarity unknown" in texts(figure)
    strips = [axes for axes in figure.axes[1:] if axes.get_ylim()[1] == 0 and axes.axison]
    assert [len(_discs(axes)) for axes in strips] == [6, 6, 6]
    values = [np.asarray(disc.get_center())[0] for disc in _discs(strips[0])]
    assert values == pytest.approx(
        [estimated(types.find(covid, "auroc", f"site-{index}")).value for index in range(2, 8)]
    )


@pytest.mark.parametrize("name", ["near", "two", "near_many"])
def test_the_axis_of_similarity_is_broken_where_all_sites_lie_above_the_line_of_support(name: str) -> None:
    near = evidence(BY_NAME[name] if name != "two" else replace(BY_NAME[name], near=True))
    figure = in_style(draw_diagram, near)
    low, high = _panels(figure)[0].get_ylim()
    found = [estimated(types.find(near, "correspondence_averaged", site.name)) for site in types.externals(near)]
    assert 0.4 <= low < min(estimate.low or 0 for estimate in found)
    assert max(estimate.high or 0 for estimate in found) < high
    feet = [axes for axes in figure.axes if axes.get_ylim() == (0, 0.4)]
    assert len(feet) == 3
    for foot, axes in zip(feet, _panels(figure), strict=True):
        assert foot.get_xlim() == axes.get_xlim()
        assert not _rings(foot)
        assert foot.get_position().y1 < axes.get_position().y0, "a gap shows that the scale changes"
        frame = next(line for line in foot.lines if line.get_linewidth() == 1.1)
        assert list(y_of(frame)) == [0, 0.4, 0.4]
    assert "good external evidence" in " ".join(text.replace("\n", " ") for text in texts(figure))
    caption = fill("report.figures").figures["external_performance"].function(near).caption
    assert "broken at 0.4" in caption
    names = "Bands of 0.2: slight, low, moderate, significant and fundamental"
    assert names in caption, "an axis that shows a part of the scale cannot name all of its bands"


@pytest.mark.parametrize("name", ["eight", "covid", "forty", "long_forty"])
def test_the_region_of_good_external_evidence_is_named_where_it_is(name: str) -> None:
    figure = in_style(draw_diagram, evidence(BY_NAME[name]))
    for axes, cut in zip(_panels(figure), (0.7, 0.4, 0.25), strict=True):
        words = [text for text in axes.texts if text.get_text().replace("\n", " ") == robustness.REGION]
        for text in words:
            x, y = text.get_position()
            assert y < 0.4
            assert (x < cut) == (cut == 0.25), "right of the cut-off; the Brier score runs backwards"


@pytest.mark.parametrize("low", [0.12, 0.45, 0.58, 0.75])
def test_the_axes_of_the_diagram_hold_every_interval_and_have_a_tick_below_it(
    eight: types.Evidence, low: float
) -> None:
    """However uncertain one site: a Brier score as high, an AUROC as low as its interval goes."""
    results = with_estimates(eight.results, lambda each: replace(each, low=low, high=1.0), "auroc", "site-0")
    results = with_estimates(results, lambda each: replace(each, low=0.0, high=1 - low), "brier", "site-0")
    found = replace(eight, results=results)
    figure = in_style(draw_diagram, found)
    strokes = [line for line in figure.artists if isinstance(line, Line2D) and line.get_marker() == TICKDOWN]
    measures = ("auroc", "standardized_net_benefit", "brier")
    for axes, measure, stroke in zip(_panels(figure), measures, strokes, strict=True):
        at = {"threshold": 0.5} if measure == "standardized_net_benefit" else {}
        known = [estimated(types.find(found, measure, site.name, **at)) for site in types.externals(found)]
        reach = {bound for estimate in known for bound in (estimate.low, estimate.high) if bound is not None}
        left, right = sorted(axes.get_xlim())
        assert left <= min(reach) <= max(reach) <= right
        ticks = np.asarray(stroke.get_xdata(), dtype=float)
        assert ticks.max() >= max(reach) if measure == "brier" else ticks.min() <= min(reach)


def test_the_name_of_the_region_stands_below_the_ellipses() -> None:
    """Where the axis of similarity is near its line of support, it goes as far down as the name has room."""
    ends = [(0.363, 0.48), (0.43, 0.53)]
    lowest, highest, broken = robustness.similarity_axis(ends, 80.0)
    assert not broken
    assert (0.363 - lowest) / (highest - lowest) * 80.0 >= robustness.LEAST_REGION


def test_the_name_of_the_region_is_on_no_ellipse_where_it_can_be() -> None:
    figure = in_style(draw_diagram, evidence(BY_NAME["covid"]))
    crossed = []
    for axes in _panels(figure):
        ellipses = [patch for patch in axes.patches if isinstance(patch, Ellipse) and patch.get_zorder() == 2]
        for text in (word for word in axes.texts if word.get_text().replace("\n", " ") == robustness.REGION):
            box = text.get_window_extent()
            outlines = np.concatenate([np.asarray(ellipse.get_verts(), dtype=np.float64) for ellipse in ellipses])
            inside = (outlines > (box.x0, box.y0)).all(axis=1) & (outlines < (box.x1, box.y1)).all(axis=1)
            crossed.append(int(inside.sum()))
    assert crossed
    assert not any(crossed)


@pytest.mark.parametrize("name", ["near", "near_many", "forty", "long_forty"])
def test_a_name_at_the_margin_is_led_to_its_own_marks(name: str) -> None:
    """From each name a line leads to the height of its site, and there one runs through its mark in every panel."""
    found = evidence(BY_NAME[name])
    arranged, figure = in_style(robustness.arrangement, found), in_style(draw_diagram, found)
    similarities = {
        placed_site.name: placed_site.similarity.value
        for placed_site in arranged.placed
        if placed_site.similarity is not None and arranged.margin
    }
    panels = _panels(figure)
    for axes in panels:
        lines = sorted(float(y_of(line)[0]) for line in axes.lines if line.get_linewidth() == 0.4)
        rings = sorted(float(np.asarray(ring.get_center())[1]) for ring in _rings(axes))
        assert lines == pytest.approx(rings)
        assert lines == pytest.approx(sorted(similarities.values()))
    texts = {text.get_text(): float(text.get_position()[1]) for text in figure.texts}
    leaders = {float(y_of(line)[1]): float(y_of(line)[0]) for line in _lines_of(figure) if line.get_linewidth() == 0.4}
    low, high = panels[0].get_ylim()
    frame = panels[0].get_position()
    for label, similarity in similarities.items():
        height = frame.y0 + (similarity - low) / (high - low) * frame.height
        assert leaders[texts[label]] == pytest.approx(height)


@pytest.mark.parametrize("name", ["eight", "near", "near_many", "forty", "long", "two", "long_forty"])
def test_a_name_stands_on_no_ellipse_and_on_no_other_name(name: str) -> None:
    _check_names(evidence(BY_NAME[name]))


@pytest.mark.parametrize("name", ["one", "two", "three"])
def test_a_name_stands_on_no_ellipse_whose_middle_is_not_its_mark(name: str) -> None:
    found = evidence(BY_NAME[name])
    for below, above in ((0.005, 0.06), (0.06, 0.005)):

        def moved(each: types.Estimate, below: float = below, above: float = above) -> types.Estimate:
            return replace(each, low=each.value - below, high=each.value + above)

        _check_names(replace(found, results=with_estimates(found.results, moved, "correspondence_averaged")))


def _check_names(found: types.Evidence) -> None:
    """No name stands on an ellipse."""
    with styled():
        figure = present(draw_diagram(found))
        boxes = text_boxes(figure)
    _, height = canvas.extent(figure)
    names = {placed_site.name for placed_site in robustness.placed_sites(found)}
    for axes in _panels(figure):
        for ellipse in (patch for patch in axes.patches if isinstance(patch, Ellipse) and patch.get_zorder() == 2):
            outline = np.asarray(ellipse.get_verts(), dtype=np.float64)
            x, y = outline[:, 0] / canvas.MILLIMETRE, height - outline[:, 1] / canvas.MILLIMETRE
            frame = axes.get_window_extent()
            inside = (x > frame.x0 / canvas.MILLIMETRE) & (x < frame.x1 / canvas.MILLIMETRE)
            for box in (box for box in boxes if box.text in names):
                # The box holds the room above and below the letters.
                through = (x > box.left) & (x < box.right) & (y > box.top + 0.9) & (y < box.bottom - 0.9) & inside
                assert not through.any(), box.text


def test_places_are_spread_and_stay_inside() -> None:
    found = robustness.spread([10.0, 10.1, 10.2, 39.9], 40.0, 4.0)
    assert all(after - before >= 4 - 1e-6 for before, after in itertools.pairwise(found))
    assert found[0] >= 2
    assert found[-1] <= 38
    assert robustness.spread([5.0, 20.0], 40.0, 4.0) == [5.0, 20.0]


def test_the_axis_of_similarity_starts_at_zero_when_the_data_spread(eight: types.Evidence) -> None:
    figure = in_style(draw_diagram, eight)
    assert _panels(figure)[0].get_ylim()[0] == 0


@pytest.mark.parametrize("name", ["eight", "near", "near_many", "forty", "long", "two"])
def test_every_mark_has_a_label_or_is_named_in_the_caption(name: str) -> None:
    found = evidence(BY_NAME[name])
    arranged, figure = in_style(robustness.arrangement, found), in_style(draw_diagram, found)
    marks = sum(len(_rings(axes)) for axes in _panels(figure))
    labels = sum(
        text.get_text().replace("\n", " ") != robustness.REGION for axes in _panels(figure) for text in axes.texts
    )
    at_the_margin = {text.get_text() for text in figure.texts} & {placed_site.name for placed_site in arranged.placed}
    if arranged.margin:
        assert not labels
        assert len(at_the_margin) == len(arranged.placed), "every site has its name, once for all three panels"
        assert not arranged.lost
    else:
        assert marks == labels + len(arranged.lost)
    caption = fill("report.figures").figures["external_performance"].function(found).caption
    assert ("Not labelled" in caption) == bool(arranged.lost)
    names = {text.get_text() for axes in _panels(figure) for text in axes.texts}
    if any(each.isdigit() for each in names):
        assert "Numbers: table order" in caption or "1 " in caption


def _lines_of(figure: Figure) -> list[Line2D]:
    """The lines that belong to the sheet and to no panel."""
    return [artist for artist in figure.get_children() if isinstance(artist, Line2D)]


def _rings(axes: Axes) -> list[Ellipse]:
    return [patch for patch in axes.patches if isinstance(patch, Ellipse) and patch.get_zorder() == 3]


def test_nomogram_shows_the_worked_example(eight: types.Evidence) -> None:
    figure = in_style(sheet_of("reliability"), eight)
    axes = figure.axes[0]
    point = next(line for line in axes.lines if line.get_marker() == "o")
    assert (float(x_of(point)[0]), float(y_of(point)[0])) == (0.9, 0.802)
    case = next(line for line in axes.lines if line.get_linewidth() == 1.6)
    assert float(y_of(case)[-1]) == pytest.approx(0.877492, abs=2e-4), "g of methods.md at the right edge"
    assert {"0.57", "0.80 actual", "0.90 measured"} <= set(texts(figure))


@pytest.mark.parametrize("name", ["eight", "rare"])
def test_thousand_squares_are_a_thousand(name: str) -> None:
    figure = in_style(sheet_of("committee_thousand"), replace(evidence(BY_NAME[name]), local_site="site-0"))
    areas: dict[str, float] = {}
    for patch in figure.axes[0].patches:
        assert isinstance(patch, Rectangle)
        if not math.isclose(patch.get_width(), 2.3):
            colour = str(tuple(patch.get_facecolor()))
            areas[colour] = areas.get(colour, 0) + patch.get_width() * patch.get_height() / committee.SQUARE**2
    counts = sorted(round(area, 6) for area in areas.values())
    assert sum(counts) == pytest.approx(1000)
    assert counts == pytest.approx(sorted({"eight": (97, 201, 702), "rare": (34, 1, 965)}[name]))


def test_alternatives_say_the_finding(eight: types.Evidence) -> None:
    makers = fill("report.figures").figures
    assert (
        "AUROC: pooled 0.88 (0.73 to 0.96), expected range in a new hospital 0.28 to 0.99; lowest 0.75 (Spain), highest"
        in makers["forest_results"].function(eight).alternative
    )
    text = makers["committee_thousand"].function(replace(eight, local_site="site-0")).alternative
    assert "271 have the outcome: 70 are flagged and 201 missed" in text
    assert "0.90 stands for 0.80" in makers["reliability"].function(eight).alternative


def test_short_names_fit_and_still_differ() -> None:
    names = [f"University Hospital of Marienbad No. {index:04d}" for index in range(40)]
    for width in (14.0, 16.4, 24.0, 40.0):
        shorter = shortened(names, width)
        assert len(set(shorter)) == 40
        assert all(text_width(name) <= width for name in shorter)
    assert shortened(["Spain", "Italy 1"], 16.4) == ("Spain", "Italy 1")
    twice = shortened(shortened(["Centre hospitalier universitaire de Clermont"], 48.0), 36.0)
    assert twice == ("Centre … Clermont",), "a name that was cut before is not cut behind its ellipsis"
    numbered = [f"Hospital {position}" for position in (8, 9, 10, 11)]
    assert shortened(numbered, 16.0) == ("Hospital 8", "Hospital 9", "10", "11")
    towns = ("Reims-Champagne Nord", "Reims-Champagne Sud", "Bad Orb 1")
    *reims, last = shortened([f"University Hospital of {town}" for town in towns], 22.0)
    assert last == "Bad Orb 1", "of names that begin alike what tells them apart is kept"
    assert [name[0] for name in reims] == ["R", "R"]
    assert [name.split()[-1] for name in reims] == ["Nord", "Sud"]


ONE_WORD = "kreiskrankenhausverwaltungsgesellschaftszentral"
GROUPS = ("50 to under 70 years", "70 years or more")


@pytest.mark.parametrize(("width", "lines"), [(50.0, 1), (22.0, 3), (15.0, 2), (15.0, 1), (9.0, 1)])
@pytest.mark.parametrize(
    "pattern",
    ["{}", "{} " + "of the Holy Cross " * 4, "of the Holy Cross " * 4 + "{}", "of the Holy Cross {} of the Holy Cross",
     ONE_WORD + "{}", ONE_WORD + "{}" + ONE_WORD, "Women aged {} with diabetes mellitus of type 2 at any hospital"],
)  # fmt: skip
@pytest.mark.parametrize("kept", [("Nord", "Sued", "West"), GROUPS], ids=["words", "groups"])
def test_what_tells_names_apart_is_kept(pattern: str, kept: tuple[str, ...], width: float, lines: int) -> None:
    beside = "Men of any age with diabetes mellitus of type 2 at any hospital"
    for others in ((), (beside,)):
        *short, _ = shortened([*(pattern.format(name) for name in kept), *others, "Bari"], width, 400, lines)
        assert len(set(short)) == len(kept) + len(others)
        assert all(name[0] in cut or name[-4:] in cut for name, cut in zip(kept, short, strict=False))
        assert not {cut[:2] for cut in short} & {"1…", "2…", "1 ", "2 "}
        assert all(text_width(cut) <= width * lines for cut in short)


def test_a_bound_beside_a_line_of_reference_shows_its_side() -> None:
    assert interval(0.77, 0.9976, reference=1.0) == "0.77–0.998"
    assert interval(0.78, 1.0031) == "0.78–1.00"
    assert interval(0.78, 1.0031, reference=1.0) == "0.78–1.003"
    assert interval(0.4996, 0.7, reference=0.5) == "0.4996–0.70"
    assert interval(0.77, 1.0, reference=1.0) == "0.77–1.00"
