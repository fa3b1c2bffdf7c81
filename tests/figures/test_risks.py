"""What the figures of the risks show, read back from their artists, is what the evidence holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

from dossier.core import types
from dossier.core.facts import Method
from dossier.core.register import fill
from dossier.core.release import Roc
from dossier.report.figures import calibration, risks, roc, utility
from dossier.report.figures.canvas import FULL
from dossier.typeset.reasons import reason_text
from tests.estimated import absent, curved, estimated, present
from tests.figures.drawings import holds, in_style, sheet_of, texts, x_of, y_of
from tests.figures.evidence import BY_NAME, evidence
from tests.figures.risks import RATERS, bins

OURS = (*("roc_by_site", "roc_and_raters", "risk_results", "calibration_by_site", "decision_by_site"),)


@pytest.fixture(scope="module")
def one() -> types.Evidence:
    return evidence(BY_NAME["one"])


def numbers(curve: types.Curve, name: str) -> types.Floats:
    return np.array(curve.columns[name], dtype=float)


def with_parts(found: types.Evidence, *parts: tuple[float, float]) -> types.Evidence:
    return replace(found, release=found.release.model_copy(update={"roc": Roc(parts=parts)}))


def picture(name: str, found: types.Evidence) -> types.Picture:
    made: types.Picture = present(fill("report.figures").figures[name].function(found))
    return made


# ---- ROC ------------------------------------------------------------------------------------------------------------


def test_the_parts_of_the_roc_curve_are_shaded_to_the_curve(eight: types.Evidence) -> None:
    found = with_parts(eight, (0, 0.2), (0.2, 1))
    figure = in_style(roc.draw_roc, found)
    for axes in figure.axes:
        shades = [collection for collection in axes.collections if isinstance(collection, PolyCollection)]
        assert len(shades) == 2
        for shade, (low, high) in zip(shades, ((0, 0.2), (0.2, 1)), strict=True):
            corners = np.asarray(shade.get_paths()[0].vertices)
            assert (corners[:, 0].min(), corners[:, 0].max()) == (low, high)
            # The curve of the fixture is tpr = fpr ** 0.25.
            above = corners[corners[:, 1] > 0]
            np.testing.assert_allclose(above[:, 1], above[:, 0] ** 0.25, atol=0.02)
    caption = picture("roc_by_site", found).caption
    assert "Shaded: the parts at false positive rates 0 to 0.2 and 0.2 to 1." in caption
    assert "Shaded" not in picture("roc_by_site", eight).caption


def test_the_ring_stands_at_the_rates_of_the_primary_threshold(eight: types.Evidence) -> None:
    figure = in_style(roc.draw_roc, eight)
    rings = [line for axes in figure.axes for line in axes.lines if line.get_marker() == "o"]
    assert len(rings) == len(types.externals(eight))
    assert {(round(float(x_of(ring)[0]), 9), float(y_of(ring)[0])) for ring in rings} == {(0.1, 0.8)}


def test_every_reader_is_a_point_with_both_intervals(eight: types.Evidence) -> None:
    rates = curved(types.find_curve(eight, "rater_rates", "site-0"))
    (axes,) = in_style(sheet_of("roc_and_raters"), eight).axes
    x, y = numbers(rates, "false_positive_rate"), numbers(rates, "true_positive_rate")
    points = next(line for line in axes.lines if line.get_marker() == "o" and len(x_of(line)) == RATERS)
    np.testing.assert_array_equal(x_of(points), x)
    np.testing.assert_array_equal(y_of(points), y)
    across, down = (
        collection.get_segments() for collection in axes.collections if isinstance(collection, LineCollection)
    )
    np.testing.assert_allclose([part[:, 0] for part in across], _pairs(rates, "false_positive_rate"))
    np.testing.assert_allclose([part[:, 1] for part in down], _pairs(rates, "true_positive_rate"))
    text = picture("roc_and_raters", eight).alternative
    assert f"readers found {y.min():.0%} to {y.max():.0%} of the cases" in text
    before, after = text.split("the readers saw other things than the model, under other conditions")
    assert "the model" not in before
    assert "the model at 0.50 found 80% with 10%" in after


def test_readers_above_the_line_are_counted() -> None:
    curve = types.Curve({"fpr": (0.0, 0.0, 0.5, 1.0), "tpr": (0.0, 0.4, 0.8, 1.0)}, 100, Method("wald"))
    places = {
        "on an upright": (0.0, 0.4),
        "above an upright": (0.0, 0.5),
        "below": (0.25, 0.5),
        "on the line": (0.25, 0.6),
        "above": (0.25, 0.7),
    }
    columns = {
        "false_positive_rate": tuple(position[0] for position in places.values()),
        "true_positive_rate": tuple(position[1] for position in places.values()),
    }
    assert roc._above(curve, types.Curve(columns, 100, Method("wald"))) == 2
    said = [roc._of_all(*counts) for counts in ((2, 2), (1, 2), (0, 2), (1, 1), (12, 12))]
    assert said == ["all two", "one of two", "neither of two", "one of one", "all 12"]


def test_readers_of_a_part_of_the_cases_are_not_compared_with_the_line_of_all(eight: types.Evidence) -> None:
    rates = curved(types.find_curve(eight, "rater_rates", "site-0"))
    judged = tuple(
        replace(curve, found=replace(rates, n=rates.n - 1)) if curve.found is rates else curve for curve in eight.curves
    )
    part = picture("roc_and_raters", replace(eight, curves=judged))
    whole = picture("roc_and_raters", eight)
    for drawn in (whole, part):
        assert "the model" not in drawn.message, "what stands above the picture compares nothing"
        assert drawn.caption.count(CAVEAT) == 1
    assert whole.caption.index(CAVEAT) < whole.caption.index("Above the line: ")
    assert "Above the line" not in part.caption
    assert "The line rests on all patients, the points on those judged: not compared." in part.caption
    assert "the model" not in part.alternative


CAVEAT = "The readers saw other things than the model, under other conditions."


def _pairs(curve: types.Curve, name: str) -> types.Floats:
    return np.column_stack((numbers(curve, f"{name}_low"), numbers(curve, f"{name}_high")))


# ---- risks ----------------------------------------------------------------------------------------------------------


def test_the_means_are_lines_and_numbers(eight: types.Evidence) -> None:
    figure = in_style(risks.draw_risks, eight, FULL)
    shown = texts(figure)
    for axes, site in zip(figure.axes, types.externals(eight), strict=True):
        lines = [line for line in axes.lines if line.get_linewidth() == 1.1]
        if min(present(site.events), site.n - present(site.events)) < 20:
            assert not lines
            continue
        found = estimated(types.find(eight, "tjur_r2", site.name))
        up, down = lines
        assert set(x_of(up)) == {found.details["mean_of_cases"]}
        assert set(x_of(down)) == {found.details["mean_of_others"]}
        assert max(y_of(up)) > 0 > min(y_of(down))
        assert f"means {found.details['mean_of_cases']:.2f}, {found.details['mean_of_others']:.2f}" in shown


def test_rare_outcomes_have_fine_bins_on_an_axis_that_ends_with_them() -> None:
    rare = evidence(BY_NAME["rare"])
    figure = in_style(risks.draw_risks, rare, FULL)
    for axes in figure.axes:
        assert axes.get_xlim() == (0, 0.02)
        for patch in axes.patches:
            if isinstance(patch, StepPatch):
                assert len([edge for edge in patch.get_data()[1] if edge <= 0.02]) == 11
    caption = risks.how_to_read(rare, FULL)
    assert "in each 0.002 of the risk" in caption
    assert "The axis ends at 0.02: under 1% of risks are higher." in caption


def test_the_area_of_a_bin_is_its_share_however_wide_it_is() -> None:
    fine, coarse = bins(0.1, 60, 140), bins(1.0, 60, 140)
    scale = risks.scale_of([fine, coarse])
    assert (scale.end, scale.step, scale.own) == (1.0, 0.1, False), "in common bins no scale flattens the other"
    for curve in (fine, coarse):
        heights = risks.heights_of(curve, "share_events", scale.edges, scale.step)
        assert float(heights.max()) <= 1, "no bin holds more than all"
        assert float((heights * np.diff(scale.edges)).sum()) == pytest.approx(scale.step)
    same = risks.scale_of([coarse, coarse])
    assert not same.own
    np.testing.assert_allclose(
        risks.heights_of(coarse, "share_events", same.edges, same.step), numbers(coarse, "share_events"), rtol=1e-12
    )


@pytest.mark.parametrize(("ends", "width"), [((0.5, 1.0), 0.1), ((0.2, 0.5), 0.1), ((0.02, 0.01), 0.002)])
def test_all_panels_have_bins_of_the_width_in_the_caption(
    eight: types.Evidence, ends: tuple[float, float], width: float
) -> None:
    finer, coarser = min(ends), max(ends)
    own = {site.name: finer if index == 0 else coarser for index, site in enumerate(types.externals(eight))}
    curves = (
        replace(each, found=bins(own[each.dataset], 60, 140)) if each.curve == "risk_distribution" else each
        for each in eight.curves
    )
    mixed = replace(eight, curves=tuple(curves))
    figure = in_style(risks.draw_risks, mixed, FULL)
    steps = [patch for axes in figure.axes for patch in axes.patches if isinstance(patch, StepPatch)]
    assert steps
    for patch in steps:
        edges = np.asarray(patch.get_data()[1])
        np.testing.assert_allclose(np.diff(edges[edges <= coarser]), width)
    assert f"in each {width:g} of the risk" in risks.how_to_read(mixed, FULL)
    # The bins of the finer site are put together, none is cut: the second of the common ones holds what its own do.
    curve = bins(finer, 60, 140)
    inside = (numbers(curve, "low") > width - 1e-9) & (numbers(curve, "high") < 2 * width + 1e-9)
    up = next(patch for patch in figure.axes[0].patches if isinstance(patch, StepPatch))
    assert float(up.get_data()[0][1]) == pytest.approx(float(numbers(curve, "share_events")[inside].sum()))


def test_bins_put_together_for_privacy_are_as_wide_as_the_others() -> None:
    whole = bins(1.0, 60, 140)
    parts = [slice(0, 3), *(slice(index, index + 1) for index in range(3, 10))]
    kept = {
        name: tuple({"low": v[part][0], "high": v[part][-1]}.get(name, sum(v[part])) for part in parts)
        for name, values in whole.columns.items()
        for v in [np.array(values, dtype=float)]
    }
    withheld = replace(whole, columns=kept)
    scale = risks.scale_of([withheld, whole])
    np.testing.assert_allclose(np.diff(scale.edges), 0.1)
    assert scale.step == 0.1
    heights = risks.heights_of(withheld, "share_events", scale.edges, scale.step)
    np.testing.assert_allclose(heights[:3], numbers(whole, "share_events")[:3].mean())


def test_mean_risks_of_several_sites_stand_in_rows(eight: types.Evidence) -> None:
    figure = in_style(risks.draw_mean_risks, eight)
    (axes,) = figure.axes
    dots = [float(np.asarray(line.get_xdata())[0]) for line in axes.lines if line.get_marker() == "o"]
    pairs = [pair for site in types.externals(eight) if (pair := risks.means(eight, site)) is not None]
    assert dots == [risk for pair in pairs for risk in pair]
    assert texts(figure).count("too few") == len(types.externals(eight)) - len(pairs)


def test_where_every_site_has_too_few_no_empty_panels_are_drawn(eight: types.Evidence) -> None:
    few = replace(eight, datasets=tuple(replace(site, n=30, events=15) for site in eight.datasets))
    made = absent(fill("report.figures").figures["risk_results"].function(few))
    assert reason_text(made.reason).startswith("under 20 patients with the outcome, and under 20 without")
    one_has_enough = replace(few, datasets=(replace(few.datasets[0], n=300, events=15), *few.datasets[1:]))
    assert isinstance(fill("report.figures").figures["risk_results"].function(one_has_enough), types.Picture)


@pytest.mark.parametrize("case", ["one", "two", "three", "eight"])
def test_net_benefit_has_its_unit(case: str) -> None:
    """Beside low panels "Net benefit" stood at an axis up to 40, as if it were no share of the patients."""
    assert "Net benefit per 100 patients" in texts(in_style(utility.draw_decision_panels, evidence(BY_NAME[case])))


# ---- calibration ----------------------------------------------------------------------------------------------------


def test_every_panel_says_the_gap_at_the_primary_threshold_and_what_the_curve_sums_up_to(eight: types.Evidence) -> None:
    figure = in_style(calibration.draw_calibration, eight, FULL)
    (at, *_) = eight.release.thresholds.declared
    shares = {}
    panels = [axes for axes in figure.axes if axes.get_ylim()[0] == 0]
    for axes, site in zip(panels, types.externals(eight), strict=True):
        curve = curved(types.find_curve(eight, "calibration_curve", site.name))
        shares[site.site] = float(np.interp(at, numbers(curve, "risk"), numbers(curve, "observed")))
        assert holds(axes, np.array([at]), np.array([shares[site.site]]))
        assert holds(axes, np.array([at, at]), np.array([at, shares[site.site]]))
        assert f"at 50%: {100 * shares[site.site]:.0f}%" in texts(figure)
        said = {text.get_text() for text in axes.texts}
        sums = {label: types.find(eight, name, site.name) for label, name in SUMS.items()}
        printed = {f"{label} {total.value:.2f}" for label, total in sums.items() if isinstance(total, types.Estimate)}
        assert said == printed
    enough = [site.site for site in types.externals(eight) if min(site.events or 0, site.others or 0) >= 20]
    rising = sorted(enough, key=lambda site: shares[site])
    low, high = (f"{100 * shares[site]:.0f}% ({site})" for site in (rising[0], rising[-1]))
    ends = f"so many had the outcome by the curve: lowest {low}, highest {high}; Brazil 3 left out: few of one outcome"
    assert picture("calibration_by_site", eight).message == f"Where the model said 50%, {ends}."


SUMS = {"O/E": "oe_ratio", "slope": "calibration_slope"}


def test_without_a_threshold_no_gap_is_drawn(eight: types.Evidence) -> None:
    thresholds = eight.release.thresholds.model_copy(update={"declared": ()})
    bare = replace(eight, release=eight.release.model_copy(update={"thresholds": thresholds}))
    found = [(types.find(bare, "oe_ratio", site.name), site.site) for site in types.externals(bare)]
    known = sorted((estimate.value, name) for estimate, name in found if isinstance(estimate, types.Estimate))
    (low, first), (high, last) = known[0], known[-1]
    ends = f"lowest {low:.2f} ({first}), highest {high:.2f} ({last})"
    assert ends in picture("calibration_by_site", bare).message
    figure = in_style(calibration.draw_calibration, bare, FULL)
    assert not any("%" in text.get_text() for axes in figure.axes for text in axes.texts)


def test_a_group_beyond_the_axis_is_an_arrow_at_its_edge() -> None:
    groups = types.Curve(
        {"mean_risk": (0.01, 0.02), "observed": (0.03, 0.5), "low": (0.0, 0.3), "high": (0.06, 0.7), "n": (30.0, 30.0)},
        60,
        Method("wald"),
    )
    axes = Figure().add_axes((0, 0, 1, 1))
    calibration.draw_groups(axes, groups, 0.1)
    inside, above = axes.lines
    assert (inside.get_marker(), list(y_of(inside))) == ("o", [0.03])
    assert (above.get_marker(), list(x_of(above)), list(y_of(above))) == ("^", [0.02], [0.1])


# ---- utility --------------------------------------------------------------------------------------------------------


def with_curve(found: types.Evidence, name: str, dataset: str, **columns: float) -> types.Evidence:
    """The evidence with some columns of a curve the same at every threshold."""
    return replace(
        found,
        curves=tuple(
            replace(curve, found=_level(curve.found, columns))
            if (curve.curve, curve.dataset) == (name, dataset) and isinstance(curve.found, types.Curve)
            else curve
            for curve in found.curves
        ),
    )


def _level(curve: types.Curve, columns: dict[str, float]) -> types.Curve:
    count = len(curve.columns["threshold"])
    return replace(curve, columns={**curve.columns, **{name: (value,) * count for name, value in columns.items()}})


def test_a_loss_at_the_primary_threshold_is_in_view(eight: types.Evidence) -> None:
    harmful = with_curve(eight, "decision_curve", "site-1", net_benefit=-0.7, low=-0.8, high=-0.6)
    figure = in_style(utility.draw_decision_panels, harmful)
    axes = figure.axes[1]
    curve = curved(types.find_curve(harmful, "decision_curve", "site-1"))
    everyone = curve.columns["treat_all"][curve.columns["threshold"].index(0.5)]
    loss = 70 + 100 * max(everyone or 0, 0)
    assert axes.get_ylim()[0] < -70
    assert f"gain −{loss:.1f} at 0.50" in texts(figure)


def test_a_site_where_nobody_has_the_outcome_says_so(eight: types.Evidence) -> None:
    first, *rest = eight.datasets
    figure = in_style(utility.draw_decision_panels, replace(eight, datasets=(replace(first, events=0), *rest)))
    assert not figure.axes[0].lines
    (said,) = (text.get_text() for text in figure.axes[0].texts)
    assert said.replace("\n", " ").replace("\N{NO-BREAK SPACE}", " ") == (
        f"none of the {first.n:,} patients has the outcome"
    )


@pytest.mark.parametrize("name", OURS)
def test_without_thresholds_the_figures_are_drawn_or_say_why(name: str, eight: types.Evidence) -> None:
    release = eight.release.model_copy(
        update={"thresholds": eight.release.thresholds.model_copy(update={"declared": (), "range": None})}
    )
    made = present(fill("report.figures").figures[name].function(replace(eight, release=release)))
    assert "reshold 0" not in made.caption
