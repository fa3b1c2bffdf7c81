"""What the figures of the risks show, read back from their artists, is what the evidence holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle, StepPatch

from dossier.facts import Method
from dossier.figures import calibration, canvas, fagan, risks, roc, utility
from dossier.figures.canvas import FULL, styled, text_boxes
from dossier.register import fill
from dossier.release import Roc
from dossier.types import (
    POOLED,
    Absent,
    Curve,
    CurveResult,
    Estimate,
    Evidence,
    Floats,
    Picture,
    externals,
    find,
    find_curve,
)
from dossier.typeset.reasons import reason_text
from tests.figures.evidence import CASES, Case, evidence
from tests.figures.risks import RATERS, bins, others_of
from tests.reasons import Said

BY_NAME = {case.name: case for case in CASES}
OURS = (
    *("roc_by_site", "roc_and_raters", "risk_by_site", "cumulative_by_site", "calibration_by_site"),
    *("calibration_pooled", "decision_all_sites", "decision_by_site", "utilities_by_site", "fagan_nomogram"),
)


@pytest.fixture(scope="module")
def eight() -> Evidence:
    return evidence(BY_NAME["eight"])


@pytest.fixture(scope="module")
def one() -> Evidence:
    return evidence(BY_NAME["one"])


def drawing(drawn: Figure | Absent) -> Figure:
    assert isinstance(drawn, Figure), drawn
    return drawn


def known(found: Curve | Absent) -> Curve:
    assert isinstance(found, Curve), found
    return found


def numbers(curve: Curve, name: str) -> Floats:
    return np.array(curve.columns[name], dtype=float)


def x_of(line: Line2D) -> Floats:
    return np.asarray(line.get_xdata(), dtype=float)


def y_of(line: Line2D) -> Floats:
    return np.asarray(line.get_ydata(), dtype=float)


def texts(figure: Figure) -> list[str]:
    with styled():
        return [box.text for box in text_boxes(figure)]


def holds(axes: Axes, x: Floats, y: Floats) -> bool:
    """Whether a line of the panel runs through exactly these points."""
    return any(
        len(x_of(line)) == len(x) and np.allclose(x_of(line), x) and np.allclose(y_of(line), y) for line in axes.lines
    )


def with_parts(found: Evidence, *parts: tuple[float, float]) -> Evidence:
    release = found.release.model_copy(update={"roc": Roc(parts=parts)})
    return replace(found, release=release)


def picture(name: str, found: Evidence) -> Picture:
    made = fill("figures").figures[name].function(found)
    assert isinstance(made, Picture), made
    return made


# ---- ROC ------------------------------------------------------------------------------------------------------------


def test_the_parts_of_the_roc_curve_are_shaded_to_the_curve(eight: Evidence) -> None:
    found = with_parts(eight, (0, 0.2), (0.2, 1))
    with styled():
        figure = drawing(roc.draw_roc(found))
    for axes in figure.axes:
        shades = [one for one in axes.collections if isinstance(one, PolyCollection)]
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


def test_the_ring_stands_at_the_rates_of_the_primary_threshold(eight: Evidence) -> None:
    with styled():
        figure = drawing(roc.draw_roc(eight))
    rings = [line for axes in figure.axes for line in axes.lines if line.get_marker() == "o"]
    assert len(rings) == len(externals(eight))
    assert {(round(float(x_of(ring)[0]), 9), float(y_of(ring)[0])) for ring in rings} == {(0.1, 0.8)}


def test_every_reader_is_a_point_with_both_intervals(eight: Evidence) -> None:
    rates = known(find_curve(eight, "rater_rates", "site-0"))
    with styled():
        (axes,) = drawing(roc.draw_roc_and_raters(eight)).axes
    x, y = numbers(rates, "false_positive_rate"), numbers(rates, "true_positive_rate")
    points = next(line for line in axes.lines if line.get_marker() == "o" and len(x_of(line)) == RATERS)
    np.testing.assert_array_equal(x_of(points), x)
    np.testing.assert_array_equal(y_of(points), y)
    across, down = (one.get_segments() for one in axes.collections if isinstance(one, LineCollection))
    np.testing.assert_allclose([part[:, 0] for part in across], _pairs(rates, "false_positive_rate"))
    np.testing.assert_allclose([part[:, 1] for part in down], _pairs(rates, "true_positive_rate"))
    told = picture("roc_and_raters", eight).alternative
    assert f"readers found {y.min():.0%} to {y.max():.0%} of the cases" in told
    assert "the model at 0.50 found 80% with 10%" in told


def test_readers_above_the_line_are_counted() -> None:
    curve = Curve({"fpr": (0.0, 0.0, 0.5, 1.0), "tpr": (0.0, 0.4, 0.8, 1.0)}, 100, Method("wald"))
    places = {
        "on an upright": (0.0, 0.4),
        "above an upright": (0.0, 0.5),
        "below": (0.25, 0.5),
        "on the line": (0.25, 0.6),
        "above": (0.25, 0.7),
    }
    columns = {
        "false_positive_rate": tuple(place[0] for place in places.values()),
        "true_positive_rate": tuple(place[1] for place in places.values()),
    }
    assert roc._above(curve, Curve(columns, 100, Method("wald"))) == 2
    told = [roc._of_all(*counts) for counts in ((2, 2), (1, 2), (0, 2), (1, 1), (12, 12))]
    assert told == ["all two", "one of two", "none of two", "one of one", "all 12"]


def test_readers_of_a_part_of_the_cases_are_not_compared_with_the_line_of_all(eight: Evidence) -> None:
    rates = known(find_curve(eight, "rater_rates", "site-0"))
    judged = tuple(
        replace(one, found=replace(rates, n=rates.n - 1)) if one.found is rates else one for one in eight.curves
    )
    part = picture("roc_and_raters", replace(eight, curves=judged))
    assert "A reader above the line" in picture("roc_and_raters", eight).caption
    assert "A reader above the line" not in part.caption
    assert "The line rests on all patients, the points on those that were judged: the two are not compared." in (
        part.caption
    )
    assert "the model" not in part.alternative


def _pairs(curve: Curve, name: str) -> Floats:
    return np.column_stack((numbers(curve, f"{name}_low"), numbers(curve, f"{name}_high")))


# ---- risks ----------------------------------------------------------------------------------------------------------


def test_the_means_are_lines_and_numbers(eight: Evidence) -> None:
    with styled():
        figure = drawing(risks.draw_risks(eight, FULL))
    shown = texts(figure)
    for axes, site in zip(figure.axes, externals(eight), strict=True):
        lines = [line for line in axes.lines if line.get_linewidth() == 1.1]
        assert site.events is not None
        if min(site.events, site.n - site.events) < 20:
            assert not lines
            continue
        found = find(eight, "tjur_r2", site.name)
        assert isinstance(found, Estimate)
        up, down = lines
        assert set(x_of(up)) == {found.details["mean_of_cases"]}
        assert set(x_of(down)) == {found.details["mean_of_others"]}
        assert max(y_of(up)) > 0 > min(y_of(down))
        assert f"means {found.details['mean_of_cases']:.2f}, {found.details['mean_of_others']:.2f}" in shown


def test_rare_outcomes_have_fine_bins_on_an_axis_that_ends_with_them() -> None:
    rare = evidence(BY_NAME["rare"])
    with styled():
        figure = drawing(risks.draw_risks(rare, FULL))
    for axes in figure.axes:
        assert axes.get_xlim() == (0, 0.02)
        for patch in axes.patches:
            if isinstance(patch, StepPatch):
                assert len([edge for edge in patch.get_data()[1] if edge <= 0.02]) == 11
    caption = picture("risk_by_site", rare).caption
    assert "in each 0.002 of the risk" in caption
    assert "The axis ends at 0.02: under 1% of risks are higher." in caption


def test_the_area_of_a_bin_is_its_share_however_wide_it_is() -> None:
    fine, coarse = bins(0.1, 60, 140), bins(1.0, 60, 140)
    scale = risks.scale_of([fine, coarse])
    assert (scale.end, scale.step, scale.own) == (1.0, 0.1, False), "in common bins no scale flattens the other"
    for curve in (fine, coarse):
        heights = risks.heights_of(curve, "share_events", scale.edges, scale.step)
        assert float(heights.max()) <= 1, "no bin holds more than all"
        area = float((heights * np.diff(scale.edges)).sum())
        assert area == pytest.approx(scale.step)
    same = risks.scale_of([coarse, coarse])
    assert not same.own
    np.testing.assert_allclose(
        risks.heights_of(coarse, "share_events", same.edges, same.step), numbers(coarse, "share_events"), rtol=1e-12
    )


@pytest.mark.parametrize(("ends", "width"), [((0.5, 1.0), 0.1), ((0.2, 0.5), 0.1), ((0.02, 0.01), 0.002)])
def test_all_panels_have_bins_of_the_width_in_the_caption(
    eight: Evidence, ends: tuple[float, float], width: float
) -> None:
    finer, coarser = min(ends), max(ends)
    own = {site.name: finer if place == 0 else coarser for place, site in enumerate(externals(eight))}
    mixed = _with_distributions(eight, {name: bins(end, 60, 140) for name, end in own.items()})
    with styled():
        figure = drawing(risks.draw_risks(mixed, FULL))
    steps = [patch for axes in figure.axes for patch in axes.patches if isinstance(patch, StepPatch)]
    assert steps
    for patch in steps:
        edges = np.asarray(patch.get_data()[1])
        np.testing.assert_allclose(np.diff(edges[edges <= coarser]), width)
    assert f"in each {width:g} of the risk" in picture("risk_by_site", mixed).caption
    # The bins of the finer site are put together, none is cut: the second of the common ones holds what its own do.
    curve = bins(finer, 60, 140)
    inside = (numbers(curve, "low") > width - 1e-9) & (numbers(curve, "high") < 2 * width + 1e-9)
    up = next(patch for patch in figure.axes[0].patches if isinstance(patch, StepPatch))
    assert float(up.get_data()[0][1]) == pytest.approx(float(numbers(curve, "share_events")[inside].sum()))


def test_bins_put_together_for_privacy_are_as_wide_as_the_others() -> None:
    whole = bins(1.0, 60, 140)
    parts = [slice(0, 3), *(slice(place, place + 1) for place in range(3, 10))]
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


def _with_distributions(found: Evidence, curves: dict[str, Curve]) -> Evidence:
    """The evidence with these distributions of the risks, by dataset."""
    return replace(
        found,
        curves=tuple(
            replace(one, found=curves[one.dataset]) if one.curve == "risk_distribution" else one for one in found.curves
        ),
    )


def test_where_every_site_has_too_few_no_empty_panels_are_drawn(eight: Evidence) -> None:
    few = replace(eight, datasets=tuple(replace(site, n=30, events=15) for site in eight.datasets))
    for name in ("risk_by_site", "risk_results", "cumulative_by_site"):
        made = fill("figures").figures[name].function(few)
        assert isinstance(made, Absent), name
        assert reason_text(made.reason).startswith("under 20 patients with the outcome, and under 20 without"), name
    one_has_enough = replace(few, datasets=(replace(few.datasets[0], n=300, events=15), *few.datasets[1:]))
    assert isinstance(fill("figures").figures["risk_by_site"].function(one_has_enough), Picture)


def test_in_small_panels_no_word_stands_on_the_line_that_is_drawn() -> None:
    forty = evidence(BY_NAME["forty"])
    few = replace(forty, datasets=tuple(replace(site, n=300, events=15) for site in forty.datasets))
    with styled():
        figure = drawing(risks.draw_cumulative(few))
    assert not [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "A line alone: of the others there are under 20." in picture("cumulative_by_site", few).caption


def test_both_cumulative_curves_are_drawn_and_the_gap_is_printed(eight: Evidence) -> None:
    with styled():
        figure = drawing(risks.draw_cumulative(eight))
    shown = texts(figure)
    for axes, site in zip(figure.axes, externals(eight), strict=True):
        curve = known(find_curve(eight, "cumulative_risks", site.name))
        assert site.events is not None
        for name, count in (("cases", site.events), ("others", site.n - site.events)):
            assert holds(axes, numbers(curve, "risk"), numbers(curve, name)) == (count >= 20)
        found = find(eight, "tjur_r2", site.name)
        assert isinstance(found, Estimate)
        assert any(text.startswith(f"gap {found.value:.2f}") for text in shown)
    assert "flags 80% of patients with the outcome and 10% of those without" in (
        picture("cumulative_by_site", eight).alternative
    )


# ---- calibration ----------------------------------------------------------------------------------------------------


def test_every_panel_says_the_gap_at_the_primary_threshold_and_what_the_curve_sums_up_to(eight: Evidence) -> None:
    with styled():
        figure = drawing(calibration.draw_calibration(eight, FULL))
    (at, *_) = eight.release.thresholds.declared
    shares = {}
    for axes, site in zip(figure.axes, externals(eight), strict=True):
        curve = known(find_curve(eight, "calibration_curve", site.name))
        shares[site.site] = float(np.interp(at, numbers(curve, "risk"), numbers(curve, "observed")))
        assert holds(axes, np.array([at]), np.array([shares[site.site]]))
        assert holds(axes, np.array([at, at]), np.array([at, shares[site.site]]))
        said = {text.get_text() for text in axes.texts}
        sums = {label: find(eight, name, site.name) for label, name in SUMS.items()}
        printed = {f"{label} {one.value:.2f}" for label, one in sums.items() if isinstance(one, Estimate)}
        assert said == {f"{100 * shares[site.site]:.0f}%", *printed}
    rising = sorted(shares, key=lambda site: shares[site])
    low, high = (f"{100 * shares[site]:.0f}% ({site})" for site in (rising[0], rising[-1]))
    assert (
        picture("calibration_by_site", eight).message == f"Where the model said 50%, {low} to {high} had the outcome."
    )


SUMS = {"O/E": "oe_ratio", "slope": "calibration_slope"}


def test_without_a_threshold_no_gap_is_drawn(eight: Evidence) -> None:
    thresholds = eight.release.thresholds.model_copy(update={"declared": ()})
    bare = replace(eight, release=eight.release.model_copy(update={"thresholds": thresholds}))
    found = [(find(bare, "oe_ratio", site.name), site.site) for site in externals(bare)]
    known = sorted((one.value, name) for one, name in found if isinstance(one, Estimate))
    (low, first), (high, last) = known[0], known[-1]
    ends = f"{low:.2f} ({first}) to {high:.2f} ({last})"
    assert ends in picture("calibration_by_site", bare).message
    with styled():
        figure = drawing(calibration.draw_calibration(bare, FULL))
    assert not any("%" in text.get_text() for axes in figure.axes for text in axes.texts)


def test_a_diagonal_without_room_for_its_name_stands_in_the_key(eight: Evidence) -> None:
    with styled():
        figure = drawing(calibration.draw_calibration_pooled(eight))
    assert {"pooled", "sites", "perfect"} <= set(texts(figure))


def test_the_diagonal_has_the_colour_of_rules_and_is_not_the_heaviest_line(eight: Evidence) -> None:
    with styled():
        figure = drawing(calibration.draw_calibration_pooled(eight))
    for axes in figure.axes:
        (diagonal,) = [line for line in axes.lines if len(x_of(line)) == 2 and x_of(line)[0] == 0]
        assert diagonal.get_color() == canvas.RULE
        pooled = max(axes.lines, key=lambda line: line.get_linewidth())
        assert pooled.get_color() == canvas.BLUE, "the heaviest line is that of the model"


def test_names_that_have_no_room_at_their_own_lines_stand_in_the_key() -> None:
    """Of three sites, whose lines lie close on both sides of the pooled one and of the diagonal."""
    found = evidence(BY_NAME["three"])
    roomy = _with_slopes(found, (0.2, 0.25, 0.3))
    close = _with_slopes(found, (0.85, 1.0, 1.15))
    with styled():
        named, keyed = (texts(drawing(calibration.draw_calibration_pooled(one))) for one in (roomy, close))
    assert {"Pooled", "Perfect"} <= set(named)
    assert not {"pooled", "perfect"} & set(named)
    assert {"pooled", "sites", "perfect"} <= set(keyed)
    assert not {"Pooled", "Perfect"} & set(keyed)


def _with_slopes(found: Evidence, slopes: tuple[float, ...]) -> Evidence:
    """The evidence with straight calibration curves of these slopes through the origin, by site."""
    by_site = dict(zip((site.name for site in externals(found)), slopes, strict=True))

    def bent(one: CurveResult) -> CurveResult:
        curve = known(one.found)
        observed = tuple((numbers(curve, "risk") * by_site[one.dataset]).clip(0, 1).tolist())
        return replace(one, found=replace(curve, columns={**curve.columns, "observed": observed}))

    return replace(
        found,
        curves=tuple(bent(one) if one.curve == "calibration_curve" else one for one in found.curves),
    )


def test_a_group_beyond_the_axis_is_an_arrow_at_its_edge() -> None:
    groups = Curve(
        {"mean_risk": (0.01, 0.02), "observed": (0.03, 0.5), "low": (0.0, 0.3), "high": (0.06, 0.7), "n": (30.0, 30.0)},
        60,
        Method("wald"),
    )
    axes = Figure().add_axes((0, 0, 1, 1))
    calibration.draw_groups(axes, groups, 0.1)
    inside, above = axes.lines
    assert (inside.get_marker(), list(y_of(inside))) == ("o", [0.03])
    assert (above.get_marker(), list(x_of(above)), list(y_of(above))) == ("^", [0.02], [0.1])


def test_small_risks_are_shown_up_to_where_the_curves_reach() -> None:
    rare = evidence(BY_NAME["rare"])
    with styled():
        figure = drawing(calibration.draw_calibration_pooled(rare))
    (axes,) = figure.axes
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 0.02), (0, 0.02))
    pooled = known(find_curve(rare, "calibration_curve_all_sites", POOLED))
    assert holds(axes, numbers(pooled, "risk"), numbers(pooled, "observed"))
    for site in externals(rare):
        curve = known(find_curve(rare, "calibration_curve", site.name))
        assert holds(axes, numbers(curve, "risk"), numbers(curve, "observed"))


def test_where_most_patients_have_much_lower_risks_these_have_a_panel_of_their_own(eight: Evidence) -> None:
    """Nine of ten patients of every site lie below .2, while the curves reach 1."""
    with styled():
        assert len(drawing(calibration.draw_calibration_pooled(eight)).axes) == 1
    low = Curve(
        {
            "low": (0.0, 0.1, 0.15, 0.2),
            "high": (0.1, 0.15, 0.2, 1.0),
            "events": (20.0, 20.0, 15.0, 5.0),
            "non_events": (80.0, 40.0, 15.0, 5.0),
            "share_events": (0.33, 0.33, 0.25, 0.09),
            "share_non_events": (0.57, 0.29, 0.11, 0.03),
        },
        200,
        Method("counts"),
        60,
    )
    skewed = _with_distributions(eight, {site.name: low for site in externals(eight)})
    with styled():
        figure = drawing(calibration.draw_calibration_pooled(skewed))
    assert [axes.get_xlim() for axes in figure.axes] == [(0, 1), (0, 0.2)]
    assert {"Up to 1", "Up to 0.2: 90% of the risks"} <= set(texts(figure))


def test_a_single_site_has_both_ranges_and_no_pooled_curve() -> None:
    alone = evidence(Case("rare_one", ("Desio, Italy",), rare=True))
    with styled():
        figure = drawing(calibration.draw_calibration(alone, FULL))
        assert isinstance(calibration.draw_calibration_pooled(alone), Absent)
    assert sorted({axes.get_xlim()[1] for axes in figure.axes}) == [0.01, 0.02]
    assert "Grey curve" not in picture("calibration_by_site", alone).caption


# ---- utility --------------------------------------------------------------------------------------------------------


def test_the_wide_decision_curve_shades_the_declared_range_and_holds_the_rival(eight: Evidence) -> None:
    with styled():
        figure = drawing(utility.draw_decision_wide(eight))
    (axes,) = figure.axes
    curve = known(find_curve(eight, "decision_curve_wide_all_sites", POOLED))
    for name in ("net_benefit", "treat_all", "rival"):
        assert holds(axes, numbers(curve, "threshold"), numbers(curve, name) * 100)
    (shade,) = (patch for patch in axes.patches if isinstance(patch, Rectangle | Polygon))
    assert (shade.get_extents().x0, shade.get_extents().x1) == pytest.approx(
        tuple(axes.transData.transform((end, 0))[0] for end in (0.05, 0.6))
    )
    assert axes.get_xlim()[0] < 0.05
    assert axes.get_xlim()[1] > 0.6
    assert {"Model", "Rival", "Flag everyone", "Flag no one", "declared range", "1:19", "1:1"} <= set(texts(figure))


def with_curve(found: Evidence, name: str, dataset: str, **columns: float) -> Evidence:
    """The evidence with some columns of a curve the same at every threshold."""
    return replace(
        found,
        curves=tuple(
            replace(one, found=_level(one.found, columns))
            if (one.curve, one.dataset) == (name, dataset) and isinstance(one.found, Curve)
            else one
            for one in found.curves
        ),
    )


def _level(curve: Curve, columns: dict[str, float]) -> Curve:
    count = len(curve.columns["threshold"])
    return replace(curve, columns={**curve.columns, **{name: (value,) * count for name, value in columns.items()}})


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("decision_curve_all_sites", utility.draw_decision),
        ("decision_curve_wide_all_sites", utility.draw_decision_wide),
    ],
)
def test_no_level_line_strikes_the_name_of_a_model_at_the_top(
    name: str, draw: Callable[[Evidence], Figure | Absent], eight: Evidence
) -> None:
    perfect = with_curve(eight, name, POOLED, net_benefit=0.36, low=0.31, high=0.41, rival=0.1)
    with styled():
        figure = drawing(draw(perfect))
        (axes,) = figure.axes
        (box,) = (box for box in text_boxes(figure) if box.text == "Model")
    top, bottom = (figure.get_size_inches()[1] * 25.4 * (1 - end) for end in axes.get_position().intervaly[::-1])
    low, high = axes.get_ylim()
    for level in (31, 36, 41):
        line = bottom - (level - low) / (high - low) * (bottom - top)
        assert not box.top + 0.9 < line < box.bottom - 0.9, "the box holds room above and below the letters"


def test_a_loss_at_the_primary_threshold_is_in_view(eight: Evidence) -> None:
    harmful = with_curve(eight, "decision_curve", "site-1", net_benefit=-0.7, low=-0.8, high=-0.6)
    with styled():
        figure = drawing(utility.draw_decision_panels(harmful))
    axes = figure.axes[1]
    curve = find_curve(harmful, "decision_curve", "site-1")
    assert isinstance(curve, Curve)
    everyone = curve.columns["treat_all"][curve.columns["threshold"].index(0.5)]
    loss = 70 + 100 * max(everyone or 0, 0)
    assert axes.get_ylim()[0] < -loss
    assert f"−{loss:.1f}" in texts(figure)


def test_a_site_where_nobody_has_the_outcome_says_so(eight: Evidence) -> None:
    first, *rest = eight.datasets
    with styled():
        figure = drawing(utility.draw_decision_panels(replace(eight, datasets=(replace(first, events=0), *rest))))
    assert not figure.axes[0].lines
    (said,) = (text.get_text() for text in figure.axes[0].texts)
    assert said.replace("\n", " ").replace("\N{NO-BREAK SPACE}", " ") == (
        f"none of the {first.n:,} patients has the outcome"
    )


@pytest.mark.parametrize(
    ("threshold", "text"),
    [(0.05, "1:19"), (0.2, "1:4"), (0.5, "1:1"), (0.6, "1.5:1"), (0.8, "4:1"), (0.01, "1:99"), (0, "–")],
)
def test_the_cost_of_a_false_alarm_to_the_benefit_of_a_case(threshold: float, text: str) -> None:
    assert utility.cost_to_benefit(threshold) == text


def test_four_utilities_stand_in_every_panel(eight: Evidence) -> None:
    with styled():
        figure = drawing(utility.draw_utilities(eight))
    for axes, site in zip(figure.axes, externals(eight), strict=True):
        profile = known(find_curve(eight, "utility_profile", site.name))
        other = known(find_curve(eight, "h_accuracy_profile", site.name))
        for name in ("net_benefit", "standardized_net_benefit", "h_accuracy_risk"):
            assert holds(axes, numbers(profile, "tau"), numbers(profile, name))
        assert holds(axes, numbers(other, "tau"), numbers(other, "h_accuracy"))
        looks = {(line.get_color(), line.get_linestyle()) for line in axes.lines if len(x_of(line)) > 2}
        assert len(looks) == 4, "told apart without colour alone"


# ---- Fagan ----------------------------------------------------------------------------------------------------------


def test_the_lines_end_at_the_probabilities_on_a_scale_of_log_odds(eight: Evidence) -> None:
    with styled():
        figure = drawing(fagan.draw_fagan(eight))
    shown = texts(figure)
    for axes, site in zip(figure.axes, externals(eight), strict=True):
        row = {
            name: values[0] or 0
            for name, values in known(find_curve(eight, "fagan_nomogram", site.name)).columns.items()
        }
        top = axes.get_ylim()[1]
        before = np.log(row["before"] / (1 - row["before"]))
        for name in ("positive", "negative"):
            after = np.log(row[f"after_{name}"] / (1 - row[f"after_{name}"]))
            assert holds(axes, np.array([0.0, 1.0]), np.clip([before, after], -top, top))
            if abs(before) < top and abs(after) < top:
                assert np.exp(after - before) == pytest.approx(row[f"likelihood_ratio_{name}"])
                assert fagan.ratio_text(row[f"likelihood_ratio_{name}"]) in shown
            ends = [np.log(share / (1 - share)) if share < 1 else 99 for share in _ends(row, name)]
            bars = [line for line in axes.lines if line.get_linewidth() in (2.4, 1.8)]
            assert any(np.allclose(sorted(y_of(bar)), np.clip(ends, -top, top)) for bar in bars)
            assert fagan.chance_text(row[f"after_{name}"]) in shown


def _ends(row: dict[str, float], name: str) -> tuple[float, float]:
    return max(row[f"after_{name}_low"], 1e-9), row[f"after_{name}_high"]


def test_a_single_site_has_a_panel_for_each_threshold(one: Evidence) -> None:
    thresholds = one.release.thresholds.model_copy(update={"declared": (0.5, *others_of(0.5))})
    several = replace(one, release=one.release.model_copy(update={"thresholds": thresholds}))
    with styled():
        figure = drawing(fagan.draw_fagan(several))
    assert len(figure.axes) == 3
    assert {"Threshold 0.50", "Threshold 0.25"} <= set(texts(figure))


def test_eight_sites_have_a_panel_for_each_of_two_thresholds(eight: Evidence) -> None:
    declared = (0.5, others_of(0.5)[0])
    thresholds = eight.release.thresholds.model_copy(update={"declared": declared})
    several = replace(eight, release=eight.release.model_copy(update={"thresholds": thresholds}))
    with styled():
        figure = drawing(fagan.draw_fagan(several))
    assert len(figure.axes) == 16
    heads = [(one.site.name, one.threshold) for one in known_panels(several)]
    assert heads == [(site.name, threshold) for threshold in declared for site in externals(several)]
    shown = texts(figure)
    for site in externals(several):
        assert shown.count(site.site) == 2, "under its own name, not a number"
    assert shown.count("threshold 0.50") == 8
    assert all(axes.get_position().width * canvas.FULL > 12 for axes in figure.axes), "the lines have room to rise"


def known_panels(several: Evidence) -> tuple[fagan.Panel, ...]:
    found = fagan.panels_of(several)
    assert not isinstance(found, Absent)
    return found


def test_more_sites_than_panels_are_counted_and_no_threshold_is_said() -> None:
    forty = evidence(BY_NAME["forty"])
    with styled():
        figure = drawing(fagan.draw_fagan(forty))
    assert len(figure.axes) == fagan.MOST_SITES
    assert canvas.extent(figure)[1] < 122, "at most half a page"
    assert "28 sites more" in picture("fagan_nomogram", forty).caption
    undeclared = forty.release.thresholds.model_copy(update={"declared": ()})
    bare = replace(forty, release=forty.release.model_copy(update={"thresholds": undeclared}))
    assert fagan.panels_of(bare) == Said("no threshold is declared")


@pytest.mark.parametrize(("share", "text"), [(0.5, "50%"), (0.091, "9.1%"), (0.9862, "98.6%"), (1, "100%"), (0, "0%")])
def test_chances_have_a_digit_more_near_the_ends(share: float, text: str) -> None:
    assert fagan.chance_text(share) == text


def test_numbers_at_a_scale_move_apart_within_it() -> None:
    assert fagan._apart([1.0, -1.0], 0.5, 3.0) == [1.0, -1.0]
    upper, lower = fagan._apart([2.95, 2.9], 0.5, 3.0)
    assert upper - lower == pytest.approx(0.5)
    assert upper == 3.0
    assert fagan._apart([9.0, -9.0], 0.5, 3.0) == [3.0, -3.0]


@pytest.mark.parametrize("name", OURS)
def test_without_thresholds_the_figures_are_drawn_or_say_why(name: str, eight: Evidence) -> None:
    release = eight.release.model_copy(
        update={"thresholds": eight.release.thresholds.model_copy(update={"declared": (), "range": None})}
    )
    made = fill("figures").figures[name].function(replace(eight, release=release))
    if isinstance(made, Absent):
        assert name in ("decision_all_sites", "fagan_nomogram")
        return
    assert "reshold 0" not in made.caption
