"""Figures of the supplement that stand on declared words, a formula or a curve: read back from the artists."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dossier.core import types
from dossier.core.bands import FEW_FOR_POOLING
from dossier.core.facts import Method
from dossier.report.figures import canvas, odds_ratios
from dossier.typeset.labels import labelled
from dossier.typeset.widths import text_width
from tests.conftest import Book
from tests.estimated import present
from tests.figures.drawings import Drawing, drawn, texts, x_of, y_of
from tests.figures.evidence import BY_NAME, evidence
from tests.reasons import Said


def of(name: str, evidence: types.Evidence) -> Drawing:
    return present(drawn(name, evidence))


def line(figure: Figure, gid: str) -> Line2D:
    (found,) = (each for axes in figure.axes for each in axes.lines if each.get_gid() == gid)
    return found


def known(evidence: types.Evidence, name: str) -> list[tuple[types.DatasetSummary, types.Curve]]:
    every = [(site, types.find_curve(evidence, name, site.name)) for site in types.externals(evidence)]
    return [(site, curve) for site, curve in every if isinstance(curve, types.Curve)]


# ---- ridges ---------------------------------------------------------------------------------------------------------


def test_a_ridge_is_as_high_as_the_share_in_its_bin(breast: Book) -> None:
    figure = of("risk_distribution_ridges", breast.evidence).figure
    own = [axes for axes in figure.axes[1:] if any(each.get_gid() == "share_events" for each in axes.lines)]
    found = known(breast.evidence, "risk_distribution")
    assert len(own) == len(found) == 2
    for axes, (_, curve) in zip(own, found, strict=True):
        (steps,) = (each for each in axes.lines if each.get_gid() == "share_events")
        shares = [value for value in curve.columns["share_events"] if value is not None]
        middles = np.add(curve.columns["low"], curve.columns["high"]) / 2  # type: ignore[arg-type]
        at = [y_of(steps)[x_of(steps) <= middle][-1] for middle in middles]
        assert at == pytest.approx(shares)
        (under,) = (each for each in axes.collections if each.get_gid() == "share_non_events")
        top = max(float(np.asarray(path.vertices)[:, 1].max()) for path in under.get_paths())
        assert top == pytest.approx(max(value or 0.0 for value in curve.columns["share_non_events"]))


@pytest.mark.slow
def test_no_ridge_shows_single_patients(knee: Book) -> None:
    few = [site.site for site in types.externals(knee.evidence) if (site.events or 0) < FEW_FOR_POOLING]
    made = of("risk_distribution_ridges", knee.evidence)
    assert few
    assert not set(few) & set(texts(made.figure))
    assert "1 site more: not estimable, or too few patients." in made.picture.caption
    only = replace(knee.evidence, datasets=tuple(each for each in knee.evidence.datasets if each.site in few))
    assert drawn("risk_distribution_ridges", only) == Said(
        "the distribution of the risks could not be estimated at any external site"
    )


def test_each_rater_has_a_ridge(knee: Book) -> None:
    made = of("confidence_by_rater_ridges", knee.evidence)
    raters = {
        f"{site.site}, rater {rater:g}"
        for site, curve in known(knee.evidence, "confidence_by_rater")
        for rater in curve.columns["rater"]
    }
    assert raters <= set(texts(made.figure))
    assert len([axes for axes in made.figure.axes if axes.collections]) == len(raters)


# ---- Fagan's nomogram -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["positive", "negative"])
def test_the_line_of_an_answer_crosses_its_likelihood_ratio(breast: Book, answer: str) -> None:
    """Bayes: the straight line from before to after crosses the middle scale at half the log of the ratio."""
    figure = of("fagan_nomogram_by_site", breast.evidence).figure
    for site, curve in known(breast.evidence, "fagan_nomogram"):
        path = line(figure, f"{answer}-{site.name}")
        (before, after), ratio = y_of(path), curve.columns[f"likelihood_ratio_{answer}"][0]
        assert (before + after) / 2 == pytest.approx(log(present(ratio)) / 2)
        assert site.events is not None
        assert before == pytest.approx(-log(site.events / (site.n - site.events)))


def test_a_certain_answer_has_no_line_and_is_said_once() -> None:
    columns = {
        name: (1.0 if "positive" in name else 0.0 if "negative" in name else 0.5,)
        for name in (
            *("threshold", "before", "before_low", "before_high", "likelihood_ratio_positive"),
            *("likelihood_ratio_negative", "after_positive", "after_positive_low", "after_positive_high"),
            *("after_negative", "after_negative_low", "after_negative_high"),
        )
    }
    study = evidence(BY_NAME["three"])
    curve = types.Curve(columns, 100, Method("as_declared"))
    curves = tuple(types.CurveResult("fagan_nomogram", site.name, curve) for site in types.externals(study))
    made = of("fagan_nomogram_by_site", replace(study, curves=(*study.curves, *curves)))
    assert not [each for axes in made.figure.axes for each in axes.lines if "positive" in str(each.get_gid())]
    assert made.picture.message == "The probability of the outcome at 0.50: flagged 100%; not flagged 0%."


# ---- the formula ----------------------------------------------------------------------------------------------------


def test_the_odds_ratios_are_those_of_the_declared_coefficients(knee: Book) -> None:
    """By hand from release.toml: 0.9 for severe pain, -0.3 for a man, 0.03 a year of age between its quartiles."""
    made = of("odds_ratios_of_formula", labelled(knee.evidence))
    ratios = sorted(
        float(x_of(each)[0])
        for axes in made.figure.axes
        for each in axes.lines
        if str(each.get_gid()).startswith("ratio-")
    )
    levels = [exp(value) for value in (0.4, 0.9, 0.6, 0.6, 1.3, 2.0, -0.3)]
    for ratio in levels:
        assert min(abs(ratio - found) for found in ratios) < 1e-9
    words = " ".join(texts(made.figure))
    assert "severe against mild" in words
    assert "male against female" in words
    numbers = {row.split(" against ")[0]: row for row in texts(made.figure) if " against " in row}
    age = next(row for row in numbers.values() if row.startswith("69"))
    # As the table of predictors prints them: 61, 54 to 69.
    assert age == "69 against 54"
    assert min(abs(exp(0.03 * 15) - found) for found in ratios) < 1e-6
    assert "no standard errors" in made.picture.caption


def test_what_a_category_is_against_is_never_cut_away() -> None:
    """ "atypical angina against…" was printed beside an axis that had room."""
    text = "atypical angina against typical angina"
    assert odds_ratios._compared(text, text_width(text)) == text
    first, _, second = odds_ratios._compared(text, 40.0).partition(" against ")
    assert first.startswith("atyp")
    assert second.startswith("typ")
    assert text_width(f"{first} against {second}") <= 40.0


def test_without_a_formula_there_are_no_odds_ratios(books: dict[str, Book]) -> None:
    assert drawn("odds_ratios_of_formula", books["biopsy"].evidence) == Said(
        "the release does not give the formula of the model"
    )


def test_seaborn_leaves_the_style_of_the_figures_as_it_is(breast: Book) -> None:
    """Drawn before and after the first figure that imports it, a figure has the same bytes."""
    first = of("fagan_nomogram_by_site", breast.evidence).picture.svg
    with canvas.styled():
        assert of("risk_distribution_ridges", breast.evidence).picture.svg
    assert of("fagan_nomogram_by_site", breast.evidence).picture.svg == first
