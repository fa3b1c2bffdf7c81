"""Forests, sample sizes, the flow of the rows, dates and similarity: read back from the artists."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import TICKDOWN
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from dossier.figures import canvas, description, discrimination, similarity
from dossier.figures.canvas import FULL, styled, text_boxes
from dossier.register import fill
from dossier.types import POOLED, Absent, Curve, CurveResult, Estimate, Evidence, Floats, externals, find, find_curve
from dossier.typeset.names import lost_rows
from tests.figures.studies import EXTREMES, Extreme, study
from tests.figures.studies import evidence as simulated
from tests.reasons import Said, because

BY_NAME = {extreme.name: extreme for extreme in EXTREMES}


@pytest.fixture(scope="module")
def three() -> Evidence:
    """Three sites that drift away from the development data, with all that the figures ask for."""
    return simulated(BY_NAME["long names"])


@pytest.fixture(scope="module")
def lacking() -> Evidence:
    return simulated(BY_NAME["missing pieces"])


def drawn(found: Figure | Absent) -> Figure:
    assert isinstance(found, Figure)
    return found


def estimate(found: Estimate | Absent) -> Estimate:
    assert isinstance(found, Estimate)
    return found


def curve(found: Curve | Absent) -> Curve:
    assert isinstance(found, Curve)
    return found


def x_of(line: Line2D) -> Floats:
    return np.asarray(line.get_xdata(), dtype=float)


def y_of(line: Line2D) -> Floats:
    return np.asarray(line.get_ydata(), dtype=float)


def texts(figure: Figure) -> list[str]:
    with styled():
        return [box.text for box in text_boxes(figure)]


def squares(axes: Axes) -> list[Line2D]:
    return [line for line in axes.lines if line.get_marker() == "s"]


# ---- forests --------------------------------------------------------------------------------------------------------


def test_a_pool_that_leaves_the_axis_ends_in_an_arrow(lacking: Evidence) -> None:
    # As if so many sites were pooled that what a new one may expect is drawn, and that were nearly anything.
    wide = {"k": 5.0, "prediction_low": -40.0, "prediction_high": 40.0}
    lacking = replace(
        lacking,
        results=tuple(
            replace(one, found=replace(one.found, details={**one.found.details, **wide}))
            if one.dataset == POOLED and isinstance(one.found, Estimate)
            else one
            for one in lacking.results
        ),
    )
    with styled():
        figure = drawn(discrimination.draw_forest(lacking, discrimination.AUROC, FULL))
    axes = figure.axes[0]
    together = estimate(find(lacking, "auroc", POOLED))
    ends = [together.low, together.high, together.details["prediction_low"], together.details["prediction_high"]]
    low, high = axes.get_xlim()
    beyond = [end for end in ends if end is not None and not low <= end <= high]
    arrows = [
        line for line in axes.lines if line.get_marker() in ("<", ">") and line.get_markerfacecolor() == canvas.BLUE
    ]
    assert len(arrows) == len(beyond) > 0


# ---- sample size ----------------------------------------------------------------------------------------------------


# ---- the flow of the rows -------------------------------------------------------------------------------------------


def rows_of(figure: Figure) -> dict[str, list[str]]:
    """The words of each line of the figure from left to right, by the first."""
    with styled():
        boxes = text_boxes(figure)
    lines: dict[float, list[tuple[float, str]]] = {}
    for box in boxes:
        lines.setdefault(round((box.top + box.bottom) / 2, 1), []).append((box.left, box.text))
    ordered = [[text for _, text in sorted(line)] for line in lines.values()]
    return {line[0]: line[1:] for line in ordered}


def test_the_flow_counts_every_row_once(lacking: Evidence) -> None:
    with styled():
        figure = drawn(description.draw_flow(lacking))
    rows = rows_of(figure)
    sites = externals(lacking)
    for site in sites:
        assert site.events is not None
        lost, _ = lost_rows([site])
        assert rows[site.site] == [f"{n:,}" for n in (site.rows_read, lost, site.n, site.events, site.n - site.events)]
        read, out, analysed, events, others = (int(text.replace(",", "")) for text in rows[site.site])
        assert read - out == analysed == events + others
    columns = zip(*([int(text) for text in rows[site.site]] for site in sites), strict=True)
    assert rows["All external"] == [str(sum(column)) for column in columns]


def test_the_bars_of_the_flow_are_to_scale(three: Evidence) -> None:
    with styled():
        figure = drawn(description.draw_flow(three))
    bars = [one for one in figure.axes[0].patches if isinstance(one, Rectangle) and one.get_height() == description.BAR]
    whole = [bar.get_width() for bar in bars if to_hex(bar.get_facecolor()) == canvas.TINTS[2]]
    events = [bar.get_width() for bar in bars if to_hex(bar.get_facecolor()) == canvas.BLUE]
    shown = [*externals(three), *(one for one in reversed(three.datasets) if one.role != "external")]
    longest = max(one.n for one in shown)
    assert [width / max(whole) for width in whole] == pytest.approx([one.n / longest for one in shown])
    assert [part / width for part, width in zip(events, whole, strict=True)] == pytest.approx(
        [(one.events or 0) / one.n for one in shown]
    )


def test_many_reasons_share_the_last_box(three: Evidence) -> None:
    reasons = {f"reason {letter}": place + 1 for place, letter in enumerate("abcdef")}
    datasets = tuple(replace(one, excluded=reasons, rows_read=one.n + sum(reasons.values())) for one in three.datasets)
    found = description.stages(replace(three, datasets=datasets), datasets)
    leaving = [stage for stage in found if stage.leaves]
    assert [stage.words for stage in leaving] == ["Reason a", "Reason b", "Reason c", "Other reasons"]
    assert leaving[-1].counts[0] == str(4 + 5 + 6)


# ---- dates ----------------------------------------------------------------------------------------------------------


# ---- similarity -----------------------------------------------------------------------------------------------------


def test_similarity_and_performance_are_read_off_the_points(three: Evidence) -> None:
    with styled():
        figure = drawn(similarity.draw_against_similarity(three))
    wanted: tuple[tuple[str, dict[str, float]], ...] = (
        ("auroc", {}),
        ("standardized_net_benefit", {"threshold": 0.5}),
        ("brier", {}),
    )
    for axes, (measure, at) in zip(figure.axes, wanted, strict=True):
        marks = [line for line in axes.lines if line.get_marker() == "o"]
        for mark, site in zip(marks, externals(three), strict=True):
            alike = estimate(find(three, "correspondence_averaged", site.name)).value
            assert x_of(mark)[0] == alike
            assert y_of(mark)[0] == pytest.approx(estimate(find(three, measure, site.name, **at)).value)
    bottom, top = figure.axes[2].get_ylim()
    assert bottom > top == 0, "up is better for the Brier score too"


@pytest.mark.parametrize("half", [0.02, 0.1, 0.3])
def test_the_axes_hold_the_whole_intervals_with_three_to_five_ticks(three: Evidence, half: float) -> None:
    """Of the similarity and of the measures alike; the first site's intervals are wider than all sites are apart."""
    wide = tuple(
        replace(
            one, found=replace(one.found, low=max(0.0, one.found.value - half), high=min(1.0, one.found.value + half))
        )
        if one.dataset == externals(three)[0].name
        and one.measure in ("correspondence_averaged", "auroc", "brier")
        and isinstance(one.found, Estimate)
        else one
        for one in three.results
    )
    found = replace(three, results=wide)
    with styled():
        figure = drawn(similarity.draw_against_similarity(found))
    for axes in figure.axes:
        (left, right), (down, up) = axes.get_xlim(), sorted(axes.get_ylim())
        strokes = [line for line in axes.lines if line.get_linewidth() == 0.7 and not line.is_dashed()]
        assert strokes
        for line in strokes:
            assert left <= x_of(line).min() <= x_of(line).max() <= right
            assert down <= y_of(line).min() <= y_of(line).max() <= up
    ends = {(float(x_of(line).min()), float(x_of(line).max())) for line in figure.axes[0].lines}
    known = [estimate(find(found, "correspondence_averaged", site.name)) for site in externals(found)]
    assert {(one.low, one.high) for one in known} <= ends
    tall = [line for line in figure.artists if isinstance(line, Line2D) and line.get_marker() == TICKDOWN]
    assert tall
    assert all(3 <= len(x_of(line)) <= 5 for line in tall)


def test_the_line_through_the_sites_is_the_one_of_least_squares(three: Evidence) -> None:
    with styled():
        figure = drawn(similarity.draw_against_similarity(three))
    sites = externals(three)
    alike = [estimate(find(three, "correspondence_averaged", site.name)).value for site in sites]
    values = [estimate(find(three, "auroc", site.name)).value for site in sites]
    line = next(line for line in figure.axes[0].lines if line.is_dashed())
    np.testing.assert_allclose(y_of(line), np.polyval(np.polyfit(alike, values, 1), x_of(line)), atol=1e-9)
    assert (x_of(line).min(), x_of(line).max()) == (min(alike), max(alike))


def test_the_correlation_stands_with_its_number_of_sites(three: Evidence) -> None:
    with styled():
        figure = drawn(similarity.draw_against_similarity(three))
    found = estimate(find(three, "performance_against_similarity", POOLED, measure="auroc"))
    assert f"r {found.value:.2f}, 3 sites".replace("-", "−") in texts(figure)
    assert "no interval" in texts(figure), "Fisher's z needs four sites"


def test_a_correlation_that_does_not_exist_says_why() -> None:
    with styled():
        figure = drawn(similarity.draw_against_similarity(simulated(BY_NAME["perfect"])))
    assert "no r: the same at every site" in texts(figure)


@pytest.mark.parametrize("extreme", ["long names", "twenty rows", "perfect"])
def test_points_too_near_for_names_have_letters_nearest_to_themselves(extreme: str) -> None:
    found = simulated(BY_NAME[extreme])
    with styled():
        figure = drawn(similarity.draw_against_similarity(found))
        boxes = text_boxes(figure)
    height = canvas.extent(figure)[1]
    for axes in figure.axes:
        points = [line for line in axes.lines if line.get_marker() == "o"]
        places = [axes.transData.transform((x_of(one)[0], y_of(one)[0])) / canvas.MILLIMETRE for one in points]
        left, right = (end / canvas.MILLIMETRE for end in axes.get_window_extent().intervalx)
        for letter, (x, y) in zip("abc", places, strict=True):
            (box,) = (one for one in boxes if one.text == letter and left <= (one.left + one.right) / 2 <= right)
            middle = np.array([(box.left + box.right) / 2, height - (box.top + box.bottom) / 2])
            apart = [float(np.hypot(*(middle - place))) for place in places]
            assert np.hypot(*(middle - (x, y))) == pytest.approx(min(apart))
            assert min(apart) < 6, "a letter stands at its point"
    key = " ".join(box.text for box in boxes)
    short = canvas.shortened([site.site for site in externals(found)], similarity.WIDEST_NAME)
    assert all(f"{letter} {name}" in key for letter, name in zip("abc", short, strict=True))


def test_names_that_have_room_at_their_points_need_no_letters() -> None:
    found = simulated(BY_NAME["twenty rows"])
    alike = {"site-0": 0.2, "site-1": 0.5, "site-2": 0.8}
    results = tuple(
        replace(one, found=_narrow(one.found, alike[one.dataset] if one.measure.startswith("corr") else None))
        if one.dataset in alike and isinstance(one.found, Estimate)
        else one
        for one in found.results
        if one.measure != "performance_against_similarity"
    )
    with styled():
        shown = texts(drawn(similarity.draw_against_similarity(replace(found, results=results))))
    assert [shown.count(f"Hospital {place}") for place in (1, 2, 3)] == [3, 3, 3]
    assert not {"a", "b", "c"} & set(shown)


def _narrow(found: Estimate, value: float | None) -> Estimate:
    middle = found.value if value is None else value
    return replace(found, value=middle, low=middle - 0.01, high=middle + 0.01)


def test_a_measure_that_is_known_nowhere_leaves_its_panel_empty_and_says_so() -> None:
    """Three sites too small for it, say; the other two panels are drawn."""
    found = simulated(BY_NAME["twenty rows"])
    gone = ("standardized_net_benefit", "performance_against_similarity")
    results = tuple(one for one in found.results if one.measure not in gone)
    with styled():
        shown = texts(drawn(similarity.draw_against_similarity(replace(found, results=results))))
    assert "r needs three sites" in shown


def test_one_site_has_no_correlation() -> None:
    one = simulated(BY_NAME["one site"])
    assert isinstance(fill("figures").figures["performance_by_similarity"].function(one), Absent)


# ---- the simulated studies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extreme", EXTREMES, ids=lambda extreme: extreme.name)
def test_a_simulated_study_is_the_same_every_time(extreme: Extreme) -> None:
    once, again = study(extreme), study(extreme)
    for one, other in zip(once.datasets, again.datasets, strict=True):
        np.testing.assert_array_equal(one.risk, other.risk)
        np.testing.assert_array_equal(one.outcome, other.outcome)
    assert len(once.release.dataset) == len(once.datasets)


def test_no_figure_is_told_of_rows() -> None:
    """The million of the extremes is a count: what is drawn of it has the size of what is drawn of a thousand."""
    many = simulated(BY_NAME["many rows"])
    assert all(site.n == 400_000 for site in externals(many))
    shown = drawn(description.draw_flow(many))
    words = [text.get_text() for text in shown.findobj(Text) if isinstance(text, Text)]
    assert "1,200,000" in words
    assert not [word for word in words if re.search(r"\d{4}", word.replace(",", "")) and "," not in word]
    assert find_curve(many, "decision_curve", "site-0") is not None
    assert len(curve(find_curve(many, "decision_curve", "site-0")).columns["threshold"]) <= 250


# ---- why a figure is missing ----------------------------------------------------------------------------------------


def test_the_reason_is_that_of_the_external_sites_not_of_the_owner(three: Evidence) -> None:
    kinds = ("confusion_matrix", "h_accuracy_surface")
    owner, *_ = (one.name for one in three.datasets if one.role != "external")
    reasons = [(owner, "the owner's rows are refitted splits"), ("site-0", "the release declares no weights")]
    others = tuple(one for one in three.curves if one.curve not in kinds)
    told = tuple(CurveResult(kind, name, Absent(because(reason))) for kind in kinds for name, reason in reasons)
    found = replace(three, curves=(*told, *others))
    for name in ("confusion_by_site", "h_accuracy_by_complexity_by_site"):
        assert fill("figures").figures[name].function(found) == Said("the release declares no weights"), name
