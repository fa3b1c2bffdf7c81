"""A caption explains what its picture shows, and nothing that is not there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dossier.core import material
from dossier.core.facts import Method
from dossier.core.register import fill
from dossier.core.types import Absent, Curve, CurveResult, Estimate, Evidence, Picture
from dossier.report.chapters import results
from dossier.report.figures import calibration, discrimination, risks, severity, similarity
from dossier.report.figures.canvas import FULL, HALF, styled
from dossier.typeset.names import ends_of_range
from dossier.typeset.widths import text_width
from tests.estimated import present
from tests.figures.evidence import BY_NAME, evidence
from tests.figures.text_boxes import text_boxes


def _caption(drawn: Picture | Absent) -> str:
    return present(drawn).caption


def _of(name: str) -> Evidence:
    return evidence(BY_NAME[name])


def test_without_a_correlation_the_caption_explains_neither_r_nor_a_line() -> None:
    caption = _caption(similarity.performance_by_similarity(_of("eight")))
    assert "Pearson" not in caption
    assert "least squares" not in caption


EIGHT = _of("eight")


@given(counts=st.lists(st.tuples(st.integers(1, 300), st.integers(1, 300)), min_size=8, max_size=8))
def test_no_title_and_no_finding_ends_a_range_at_a_site_of_few_patients(counts: list[tuple[int, int]]) -> None:
    """ "AUROC runs from 0.55" was said of a site with one event."""
    pairs = zip(EIGHT.datasets, counts, strict=True)
    sites = [replace(site, n=with_it + without, events=with_it) for site, (with_it, without) in pairs]
    evidence = replace(EIGHT, datasets=tuple(sites))
    found = [(site, site.site) for site in sites]
    kept, words = ends_of_range(found)
    few = [site.site for site in sites if min(site.events or 0, site.others or 0) < 20]
    assert [name for _, name in kept] == [site.site for site in sites if site.site not in few or len(few) == 8]
    assert bool(words) is (0 < len(few) < 8)
    said = discrimination.forest_alternative(evidence, discrimination.AUROC)
    assert len(few) == 8 or not any(f"({name})" in said for name in few)
    assert ("left out" in said) is (0 < len(few) < 8)


@pytest.mark.parametrize(
    ("measure", "against", "is_end"),
    [
        *(("auroc", (), False), ("specificity", (), False), ("sensitivity", (), True), ("net_benefit_gain", (), True)),
        *(("brier", (), True), ("oe_ratio", (), False), ("oe_ratio", ("site-6",), True)),
    ],
)
def test_a_range_ends_at_any_site_that_has_those_whom_its_value_rests_on(
    measure: str, against: tuple[str, ...], is_end: bool
) -> None:
    """The gain ran from 0.8 to 38.9 below the finding that it is -62 at a site of 334 events and 11 non-events."""
    kept, words = ends_of_range([(site, 0) for site in EIGHT.datasets], measure, against)
    assert ("site-6" in {site.name for site, _ in kept}) is is_end
    assert bool(words) is not is_end


def test_no_range_leaves_out_the_site_that_its_chapter_is_about() -> None:
    """Brazil 3 has 11 patients without the outcome, and risks that are shown to be wrong."""
    wrong = replace(
        EIGHT,
        results=tuple(
            replace(each, found=replace(each.found, value=2.5, low=2.2, high=2.8, details={"p_holm": 1e-9}))
            if each.dataset == "site-6" and each.measure == "oe_ratio" and isinstance(each.found, Estimate)
            else each
            for each in EIGHT.results
        ),
    )
    assert "Brazil 3" in calibration.observed_over_expected(wrong, wrong.datasets)
    assert "Brazil 3 left out: few" in calibration.observed_over_expected(EIGHT, EIGHT.datasets)


def test_the_gravest_errors_are_all_of_those_that_weigh_most_where_patients_are_not_few() -> None:
    """At 25 patients an error was "most frequent"; and of two of one weight the first in the table was the gravest."""

    def curve(*counts: float) -> Curve:
        columns = {"predicted": (0.0, 0.0, 1.0, 1.0), "true": (0.0, 1.0, 0.0, 1.0), "severity": (0.0, 1.0, 1.0, 0.0)}
        return Curve({**columns, "count": counts}, int(sum(counts)), Method("wald"))

    given = _of("two")
    sizes = ((1000, 300), (25, 8))
    datasets = tuple(replace(site, n=n, events=k) for site, (n, k) in zip(given.datasets, sizes, strict=True))
    made = (curve(660, 30, 40, 270), curve(17, 6, 0, 2))
    curves = tuple(CurveResult("confusion_matrix", site.name, one) for site, one in zip(datasets, made, strict=True))
    picture = present(severity.confusion_by_site(replace(given, datasets=datasets, curves=curves)))
    first = datasets[0].site
    assert picture.message == (
        "The gravest errors, yes taken for no and no taken for yes, are most frequent in "
        f"{first}: 70 times or 7%; {datasets[1].site} left out: few of one outcome."
    )


def test_an_open_square_is_explained_only_where_there_is_one() -> None:
    assert "open square" in results.caption(_of("eight")), "Brazil 3 has 11 patients without the outcome"
    assert "open square" not in results.caption(_of("two"))


def test_the_risks_of_the_first_page_have_a_scale_and_their_lines_are_explained() -> None:
    with styled():
        drawn = present(risks.draw_risks(_of("two"), HALF))
        assert any(box.text.endswith("%") for box in text_boxes(drawn))
    assert "mean of events (filled) and of non-events (open); broken, the threshold" in results.caption(_of("two"))


LINES = 2
"""Of what a figure shows, and of how to read it, at the width of the page."""


@pytest.mark.parametrize("case", ["eight", "two", "one"])
def test_every_figure_on_a_page_says_its_message_and_how_to_read_it_in_two_lines(case: str) -> None:
    pages = "".join(path.read_text() for path in material.templates().glob("*.html"))
    seen = 0
    for name, maker in fill("report.figures").figures.items():
        if f'parts.figure("{name}"' not in pages:
            continue
        drawn = maker.function(_of(case))
        if isinstance(drawn, Picture):
            seen += 1
            assert drawn.message.endswith("."), name
            assert drawn.message != f"{drawn.title}.", name
            assert text_width(drawn.message, 600) <= LINES * FULL, (name, drawn.message)
            assert text_width(drawn.caption) <= LINES * FULL, (name, drawn.caption)
    assert seen > 4
