"""The flow of the participants, and their missing values: read back from the artists."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dossier.core import types
from dossier.core.bands import MAP_WITH_NUMBERS
from dossier.core.facts import Fact, Method
from dossier.report.chapters import description
from dossier.report.figures import missingness, participants
from dossier.report.figures.canvas import styled
from tests.conftest import terms
from tests.estimated import present
from tests.figures.drawings import drawn as drawn_of
from tests.figures.drawings import in_style, sheet_of, texts
from tests.figures.evidence import bare
from tests.figures.text_boxes import assert_apart, text_boxes
from tests.reasons import Said

LONG = "University Hospital of Marienbad, No."


def evidence(sites: int, predictors: int, name: str = "Hospital", long: bool = False) -> types.Evidence:
    """Sites with predictors that differ, miss values and are all missing at some; the last site holds none of them."""
    prefix = "Concentration of interleukin in plasma, no." if long else "x"
    names = [f"{prefix} {index}" for index in range(predictors)]
    datasets = [
        types.DatasetSummary(f"site-{k}", "external", f"{name} {k}", 200 + k, 50, 200 + k, {}, tuple(names))
        for k in range(sites)
    ]
    datasets.append(types.DatasetSummary("bare", "external", "Bare hospital", 100, 30, 100, {}, ()))
    datasets.append(types.DatasetSummary("dev", "development", "Home", 900, 90, 900, {}, tuple(names)))
    descriptions: list[types.DescriptionResult] = []
    curves: list[types.CurveResult] = []
    results: list[types.Result] = []
    for site in datasets:
        for index, feature in enumerate(site.features):
            missing = [0.0, 3.0, 0.3 * site.n, site.n][(index + site.n) % 4] if index != 1 else 0.0
            gap = types.Description(feature, "missing", float(round(missing)), site.n)
            descriptions.append(types.DescriptionResult(site.name, gap))
        if site.features and site.role == "external":
            mean = types.Estimate(0.4, 0.3, 0.5, 0.95, site.n, Method("wald"))
            results.append(types.Result("correspondence_averaged", "correspondence_averaged", site.name, {}, mean))
    release = bare(dataset=({"name": "a", "role": "external", "file": "a.csv"},))
    return types.Evidence(
        release, tuple(datasets), tuple(results), tuple(curves), tuple(descriptions), (), terms(), {}, (), {}
    )


CASES = {
    "one": evidence(1, 5),
    "three": evidence(3, 13),
    "eight": evidence(8, 20),
    "long": evidence(8, 20, LONG, long=True),
    "nine": evidence(9, 30),
    "forty": evidence(40, 60),
    "long_forty": evidence(40, 12, LONG, long=True),
}
DRAWN = {"missing": sheet_of("missingness")}


def drawn(kind: str, case: str) -> Figure:
    return in_style(DRAWN[kind], CASES[case])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", DRAWN)
def test_every_text_is_readable(kind: str, case: str) -> None:
    with styled():
        figure = drawn(kind, case)
        assert_apart(text_boxes(figure), figure, 225)


def test_the_flow_shows_what_was_counted() -> None:
    """Boxes, what was left out, both outcomes, and a bar whose dark part is the share."""
    known = CASES["three"]
    lost = replace(known.datasets[0], rows_read=209, excluded={"outcome_missing": 6, "risk_missing": 3})
    case = replace(known, datasets=(lost, *known.datasets[1:]))
    figure = in_style(sheet_of("participant_flow"), case)
    (axes,) = figure.axes
    bars = {str(bar.get_gid()): bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle) and bar.get_gid()}
    sites = [each for each in case.datasets if each.events is not None]
    assert bars == pytest.approx(
        {f"share-{each.name}": participants.BAR * (each.events or 0) / each.n for each in sites}
    )
    strokes = [np.asarray(line.get_xdata(), dtype=float) for line in axes.lines if line.get_gid() == "reference"]
    left = next(bar.get_x() for bar in axes.patches if isinstance(bar, Rectangle) and bar.get_gid())
    assert np.allclose(strokes, left + participants.BAR * 90 / 900)
    written = texts(figure)
    assert {"209", "200", "6 outcome missing", "3 risk missing", "50 (25%)", "150"} <= set(written)
    for evidence, is_left_out in ((case, True), (known, False)):
        found = present(drawn_of("participant_flow", evidence))
        assert ("Below an arrow" in found.picture.caption) is is_left_out


def test_what_a_policy_withholds_is_not_in_the_flow() -> None:
    known, hidden = CASES["three"], types.Withheld(Fact("small_cell"), 10)
    site = replace(known.datasets[0], rows_read=hidden, excluded={"risk_missing": hidden}, events=None)
    site = replace(site, outcome_withheld=hidden, minimum_cell=10)
    found = present(drawn_of("participant_flow", replace(known, datasets=(site,))))
    assert {"200 or more", "<10 risk missing", "withheld"} <= set(texts(found.figure))
    assert not [patch for patch in found.figure.axes[0].patches if patch.get_gid()]
    assert found.picture.message.replace("\N{NO-BREAK SPACE}", " ").startswith("Of at least 200 rows")


def test_of_more_datasets_than_a_page_holds_a_table_says_the_flow() -> None:
    assert sheet_of("participant_flow")(CASES["forty"]) == Said("a page does not hold the flow of the participants")


def test_fields_say_and_show_what_is_missing() -> None:
    case = CASES["three"]
    figure = drawn("missing", "three")
    known = missingness.shares(case)
    (axes,) = figure.axes
    fields = {patch.get_gid(): patch for patch in axes.patches if isinstance(patch, Rectangle)}
    words = {text.get_position(): text.get_text() for text in axes.texts}
    assert len(fields) == len(missingness.gappy(known)) * 4
    for gid, field in fields.items():
        dataset, predictor = str(gid).split("/")
        share = known[dataset, predictor]
        middle = (field.get_x() + field.get_width() / 2, field.get_y() + field.get_height() / 2)
        word = next(text for (x, y), text in words.items() if np.allclose((x, y), middle, atol=0.01))
        expected = {0.0: "0", 1.0: "all"}.get(share, "<1" if share < 0.005 else f"{100 * share:.0f}")
        assert word == expected


def test_no_dataset_is_left_out_of_what_is_said_of_predictors_without_a_word() -> None:
    """Knee 8, whose table gives none, and Knee 4, that lacks two of those without a gap, were passed over."""
    case = CASES["three"]
    less = replace(case.datasets[0], features=tuple(set(case.datasets[0].features) - {"x 1"}))
    held = replace(case, datasets=(less, *case.datasets[1:]))
    said = present(missingness.missingness(held))
    assert f"of which {less.site} does not hold 1." in said.caption
    notes = [table.note for table in (description.characteristics(held)[0], description.missingness(held, False)[0])]
    for text in (said.caption, *notes):
        assert "No predictors are given of Bare hospital." in text
    named = tuple(each for each in held.datasets if each.features)
    assert "No predictors" not in description.characteristics(replace(held, datasets=named))[0].note


def test_no_name_above_the_map_of_missing_values_is_cut() -> None:
    """A column is as wide as its longest word: of the eight narrow ones of the sites and of "Development:"."""
    figure = drawn("missing", "eight")
    words = [text.get_text() for text in figure.axes[0].texts]
    assert {"Development:", "Home"} <= set(words)
    assert not [word for word in words if "…" in word]


def test_the_more_is_missing_the_darker() -> None:
    shades = [missingness.shade(share) for share in (0.0, 0.05, 0.1, 0.3, 0.7, 1.0)]
    lightness = [sum(to_rgb(shade)) for shade in shades]
    assert lightness == sorted(lightness, reverse=True)
    assert len(set(lightness)) == 5


def test_many_datasets_leave_the_numbers_to_the_table() -> None:
    figure = drawn("missing", "forty")
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert "all" not in texts
    assert len([dataset for dataset in CASES["forty"].datasets if dataset.features]) > MAP_WITH_NUMBERS


def test_nothing_missing_no_map() -> None:
    whole = evidence(1, 2)
    kept = tuple(row for row in whole.descriptions if row.described.statistic != "missing")
    bare = types.Evidence(**{**vars(whole), "descriptions": kept})
    assert missingness.missingness(bare) == Said("no predictor has a missing value")
