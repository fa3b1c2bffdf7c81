"""The pictures of subgroups, read back from their artists, show what the evidence holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.patches import Polygon

from dossier.core import types
from dossier.report.figures import subgroups
from dossier.report.figures.canvas import LINE
from tests.estimated import curved, estimated
from tests.figures.drawings import in_style, sheet_of, texts, x_of
from tests.figures.evidence import BY_NAME, evidence, with_estimates
from tests.figures.subgroups import LABELS

LARGE = [(column, label) for column, labels in LABELS.items() for label in labels if label != "under 50"]


def of_large(found: types.Evidence, measure: str, dataset: str = types.POOLED) -> list[types.Estimate]:
    """The estimates of the subgroups that are large enough."""
    subsets = (types.Subset(column, label) for column, label in LARGE)
    return [estimated(types.find_in_subgroup(found, subset, measure, dataset)) for subset in subsets]


def test_a_wide_interval_ends_in_an_arrow(eight: types.Evidence) -> None:
    wide = with_estimates(eight.subgroups.results, lambda each: replace(each, low=each.value / 1000), "oe_ratio")
    found = replace(eight, subgroups=replace(eight.subgroups, results=wide))
    axes = in_style(sheet_of("forest_by_subgroup"), found).axes[1]
    left, _ = axes.get_xlim()
    beyond = [estimate for estimate in of_large(found, "oe_ratio") if (estimate.low or 0) < left]
    arrows = [line for line in axes.lines if line.get_marker() == "<"]
    assert len(arrows) >= len(beyond) > 0
    assert {tuple(x_of(line)) for line in arrows} == {(left,)}


def test_many_sites_are_pooled_with_a_stroke_for_each(eight: types.Evidence) -> None:
    far = with_estimates(eight.subgroups.results, lambda each: replace(each, value=4.0), "oe_ratio", "site-0")
    eight = replace(eight, subgroups=replace(eight.subgroups, results=far))
    figure = in_style(sheet_of("forest_by_subgroup"), eight)
    for axes, measure in zip(figure.axes, ("auroc", "oe_ratio"), strict=True):
        pooled = of_large(eight, measure)
        diamonds = [np.asarray(patch.get_xy())[:, 0] for patch in axes.patches if isinstance(patch, Polygon)]
        right = axes.get_xlim()[1]
        assert [(diamond.min(), diamond[1], diamond.max()) for diamond in diamonds] == [
            (estimate.low, estimate.value, min(estimate.high or 9.0, right)) for estimate in pooled
        ]
        strokes = [x_of(line).tolist() for line in axes.lines if line.get_marker() == "|"]
        by_site = zip(*(of_large(eight, measure, site.name) for site in types.externals(eight)), strict=True)
        for of_sites, line in zip(by_site, strokes, strict=True):
            assert line == [estimate.value for estimate in of_sites], "every site is seen, however far from the mean"
        # The strokes do not touch the diamond, beneath which they would be lost, nor the row below.
        bottoms = [np.asarray(patch.get_xy())[:, 1].max() for patch in axes.patches if isinstance(patch, Polygon)]
        heights = [float(np.unique(line.get_ydata())[0]) for line in axes.lines if line.get_marker() == "|"]
        half = subgroups.STROKE / 2 * 25.4 / 72 / LINE
        assert all(
            bottom < height - half < height + half < np.ceil(bottom)
            for bottom, height in zip(bottoms, heights, strict=True)
        )
    printed = texts(figure)
    pooled = of_large(eight, "auroc")
    assert {f"{estimate.value:.2f}" for estimate in pooled} | {f"{estimate.n:,}" for estimate in pooled} <= set(printed)
    assert {"Sex", "Female, 8 sites", "Under 50", "too few to tell"} <= set(printed)
    said = subgroups.forest_caption(eight)
    assert ("Diamond: over the sites" in said, "ines are" in said, "Square" in said) == (True, False, False)


def test_two_sites_are_shown_one_by_one() -> None:
    two = evidence(BY_NAME["two"])
    figure = in_style(sheet_of("forest_by_subgroup"), two)
    assert not [patch for patch in figure.axes[0].patches if isinstance(patch, Polygon)]
    squares = [x_of(line)[0] for line in figure.axes[0].lines if line.get_marker() == "s"]
    by_site = zip(*(of_large(two, "auroc", site.name) for site in types.externals(two)), strict=True)
    assert squares == [estimate.value for of_sites in by_site for estimate in of_sites]
    said = subgroups.forest_caption(two)
    assert ("Square: a site; lines are 95% intervals." in said, "Diamond" in said) == (True, False)
    drawn = [line for line in subgroups.lines(two) if line.subset and line.subset.column == "Age at first presentation"]
    patients = sum(line.n or 0 for line in drawn if line.found)
    assert said.startswith(f"{patients:,}\N{NO-BREAK SPACE}patients."), "not all patients of the sites"


def test_all_rows_of_two_sites_are_shown_as_one() -> None:
    """Stratified they have no degrees of freedom to lose, as two sites that differ at random have."""
    two = evidence(BY_NAME["two"])
    of_two = {"k": 2.0}
    results = with_estimates(two.subgroups.results, lambda each: replace(each, details=of_two), dataset=types.POOLED)
    figure = in_style(sheet_of("forest_by_subgroup"), replace(two, subgroups=replace(two.subgroups, results=results)))
    assert len([patch for patch in figure.axes[0].patches if isinstance(patch, Polygon)]) == len(LARGE)


def test_each_panel_holds_the_curve_of_its_subgroup_over_that_of_the_site(eight: types.Evidence) -> None:
    figure = in_style(sheet_of("calibration_by_subgroup"), eight)
    plan = subgroups.matrix(eight)
    assert plan.sites_across
    assert len(figure.axes) == len(plan.sites) * len(plan.subgroups) == 8 * len(LARGE)
    for index, axes in enumerate(figure.axes):
        row, across = divmod(index, len(plan.sites))
        site, (column, label) = plan.at(row, across)
        curve = curved(types.find_curve_in_subgroup(eight, types.Subset(column, label), "calibration_curve", site.name))
        blue = axes.lines[-1]
        assert x_of(blue).tolist() == list(curve.columns["risk"])
        assert np.asarray(blue.get_ydata(), dtype=float).tolist() == list(curve.columns["observed"])
        assert len(axes.lines) == 3, "the whole site, the diagonal, the subgroup"


def test_few_sites_stand_below_each_other_and_what_is_too_few_is_said() -> None:
    each = evidence(BY_NAME["one"])
    plan = subgroups.matrix(each)
    assert (plan.across, plan.down) == (("Female", "Male", "50 to under 70", "70 or more"), ("Desio, Italy",))
    assert "No panel, too few or no room: under 50." in subgroups.calibration_caption(each)


def test_alternatives_say_the_ends_with_their_numbers(eight: types.Evidence) -> None:
    text = subgroups.forest_alternative(eight)
    pooled = sorted(estimate.value for estimate in of_large(eight, "auroc"))
    assert f"lowest {pooled[0]:.2f} (" in text
    assert f"highest {pooled[-1]:.2f} (" in text
    assert "too few to tell in under 50" in text
    ratios = [each.value for site in types.externals(eight) for each in of_large(eight, "oe_ratio", site.name)]
    said = subgroups.calibration_alternative(eight)
    assert f"lowest {min(ratios):.2f} (" in said
    assert f"highest {max(ratios):.2f} (" in said


def test_a_forest_too_long_for_a_page_says_what_it_leaves_out() -> None:
    assert len(subgroups.lines(evidence(BY_NAME["forty"]))) <= subgroups.MOST_ROWS


PATTERNS = {
    "long": "patients who were {label} when they came to any hospital of the county",
    "one word": "krankenhausverwaltungsgesellschaft{label}",
    "same in both columns": "{number}",
}


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("case", ["one", "three", "eight"])
def test_no_two_groups_have_one_name(case: str, pattern: str) -> None:
    called = {
        types.Subset(column, label): types.Subset(column, PATTERNS[pattern].format(label=label, number=number))
        for column, labels in LABELS.items()
        for number, label in enumerate(labels)
    }
    before = evidence(BY_NAME[case])
    groups = before.subgroups
    named = replace(
        groups,
        summaries=tuple(
            replace(each, label=called[types.Subset(each.column, each.label)].level) for each in groups.summaries
        ),
        results=tuple(replace(each, subset=called[each.subset]) for each in groups.results if each.subset),
        curves=tuple(replace(each, subset=called[each.subset]) for each in groups.curves if each.subset),
    )
    found = replace(before, subgroups=named)
    shown = subgroups.lines(found)
    names = subgroups._names(shown, subgroups._places(found, shown))
    rows = zip(shown, names, strict=True)
    of_column = [(line.subset and line.subset.column, name) for line, name in rows if not line.is_below]
    assert len(set(of_column)) == len(of_column)
    plan = subgroups.matrix(found)
    assert len(set(plan.across)) == len(plan.across)
    assert len(set(plan.down)) == len(plan.down)
