"""The sentences that open the chapters: always a sentence, never too long, and in the numbers of the evidence."""

from __future__ import annotations

import dataclasses
import datetime
import importlib
import re

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from dossier.core import claims, types
from dossier.core.contents import Edition
from dossier.core.facts import Count, Fact, Method
from dossier.core.release import Care, DeclaredPerformance, IntendedUse, Model, ReadersTables, Sample
from dossier.core.types import (
    CELLS,
    POOLED,
    READER_STUDY,
    Absent,
    ChecklistRow,
    Criterion,
    Curve,
    CurveResult,
    Estimate,
    Evidence,
    Flag,
    Gallery,
    Result,
    State,
    externals,
    find,
)
from dossier.report import compose
from dossier.report.chapters import (
    abstract,
    acceptance,
    correspondence,
    description,
    human_factors,
    limitations,
    model_card,
    results,
    robustness,
    sample,
    sentence,
    statements,
    utility,
)
from dossier.report.chapters import pooled as pooled_chapter
from dossier.report.chapters.chapter import chapters
from dossier.report.chapters.sentence import Sentence, not_pooled, severity_of_errors
from dossier.report.figures import utility as figures
from dossier.typeset.flags import topic
from dossier.typeset.names import unweighted
from dossier.typeset.numbers import DASH, plain
from dossier.typeset.words import in_words
from tests.conftest import Book, by_hand
from tests.figures.evidence import COVID, Case
from tests.reasons import because, limitation

NAMES = [chapter.name for chapter in chapters()]
KINDS = {
    "one": by_hand(Case("one", ("Desio, Italy",))),
    "two": by_hand(Case("two", ("Italy 1", "Spain"))),
    "eight": by_hand(Case("eight", COVID, acceptance=True)),
    "gaps": by_hand(Case("gaps", COVID, gaps=True, similar=0.5)),
    "rare": by_hand(Case("rare", COVID, rare=True)),
    "absent": by_hand(Case("absent", COVID), absent=True),
    "absent, one": by_hand(Case("absent, one", ("Desio, Italy",)), absent=True),
}
LONGEST = 270
"""Characters that fit on three lines of 12.5 pt serif."""


def finding(chapter: str, evidence: Evidence) -> Sentence:
    """The opening of a chapter."""
    said: Sentence = importlib.import_module(f"dossier.report.chapters.{chapter}").finding(evidence)
    return said


def said(chapter: str, evidence: Evidence) -> str:
    """The opening of a chapter on one line."""
    opened = finding(chapter, evidence)
    return " ".join(f"{opened.lead} {opened.rest}".split())


WORST_SPLIT = Fact("worst_internal_value", of=(Fact("refitted_splits", splits=40),))
OF_SUBSETS = Fact("internal_quantile", share=0.05, of=(Fact("random_subsets", subsets=100, share=0.2),))
OF_SPLITS = Fact("internal_quantile", share=0.05, of=(Fact("refitted_splits", splits=40),))


@pytest.mark.parametrize(
    ("worst", "quantile", "declared", "printed"),
    [
        (
            WORST_SPLIT,
            OF_SPLITS,
            0.75,
            "Minimum for AUROC (0.81): the worst internal value of 40 refitted splits. Against the 5% quantile of the "
            "splits WPR is 0.70 (AUROC).",
        ),
        (None, OF_SUBSETS, 0.75, "Minimum for AUROC (0.75): the minimum declared for robustness, no criterion."),
        (
            None,
            OF_SUBSETS,
            None,
            "Minimum for AUROC (0.83): the 5% quantile of the internal values of 100 random subsets of 20% of the "
            "rows, the model not refitted.",
        ),
        (None, None, 0.75, "Minimum for AUROC (0.75): the minimum declared for robustness, no criterion."),
    ],
)
def test_the_declared_minimum_is_shown_where_no_splits_tell(
    worst: Fact | None, quantile: Fact | None, declared: float | None, printed: str
) -> None:
    """[robustness] is for the case that nobody can give splits; subsets of a model not refitted are none."""
    bare = by_hand(Case("one", ("Desio, Italy",)))
    site = next(dataset.name for dataset in bare.datasets if dataset.role == "external")

    def weak(bound: float | None, called: Fact | None) -> Estimate | Absent:
        if bound is None or called is None:
            return Absent(because("none"))
        details = {"p_acceptable": 0.9, "p_similarity": 0.2, "minimum_value": bound}
        return Estimate(
            0.7, None, None, None, 300, Method(Fact("fisher_with_one_sided_test", against=called)), details=details
        )

    minima = {"worst_split": weak(0.81, worst), "quantile_05": weak(0.83, quantile)}
    minima["declared"] = weak(declared, Fact("declared_minimum"))
    rows = [Result("wpr", "wpr", site, {"measure": "auroc", "minimum": text}, found) for text, found in minima.items()]
    others = [result for result in bare.results if result.measure not in ("spr", "wpr")]
    strong = Result("spr", "spr", site, {"measure": "auroc"}, Absent(because("none")))
    table = robustness.components(dataclasses.replace(bare, results=(*others, strong, *rows)))
    assert [column.label for column in table.columns] == ["P(s)", "P(p)", "SPR", "P(a)", "WPR"]
    assert table.note.endswith(printed)


@pytest.mark.parametrize(
    ("worst", "minimum"),
    [
        (Fact("worst_subset_is_a_draw"), "0.15"),
        # The table is against the worst split, and its footnote gave the value of the quantile.
        (Fact("minimum_below_no_benefit", measure="brier", minimum=0.22), "0.22"),
    ],
)
def test_where_no_minimum_serves_the_reason_is_that_of_the_first_there_is(worst: Fact, minimum: str) -> None:
    """Said was that another minimum stands instead, which did not."""
    bare = by_hand(Case("one", ("Desio, Italy",)))
    site = next(dataset.name for dataset in bare.datasets if dataset.role == "external")
    below = Fact("minimum_below_no_benefit", measure="brier", minimum=0.15)
    reasons = {"worst_split": worst, "declared": because("none"), "quantile_05": below}
    rows = [
        Result("wpr", "wpr", site, {"measure": "brier", "minimum": text}, Absent(reason))
        for text, reason in reasons.items()
    ]
    strong = Result("spr", "spr", site, {"measure": "brier"}, Estimate(0.5, None, None, None, 90, Method("wald")))
    table = robustness.components(dataclasses.replace(bare, results=(strong, *rows)))
    said = " ".join(map(str, table.footnotes))
    assert f"minimum of {minimum} is no better than no model" in said
    assert "stands instead" not in said


def test_the_table_says_how_the_bounds_of_a_declared_internal_test_are_read() -> None:
    two = KINDS["two"]
    declared = DeclaredPerformance.model_validate(
        {"name": "own", "role": "internal", "auroc": {"value": 0.8, "low": 0.7, "high": 0.9, "n": 90, "events": 30}}
    )
    owned = dataclasses.replace(two, release=two.release.model_copy(update={"declared_performance": (declared,)}))
    says = "against the internal test, whose declared bounds are read as a 95% interval."
    only_declared = tuple(dataset for dataset in owned.datasets if dataset.role != "internal")
    assert says in robustness.components(dataclasses.replace(owned, datasets=only_declared)).note
    rows = dataclasses.replace(two.datasets[0], name="internal", role="internal")
    assert says not in robustness.components(dataclasses.replace(owned, datasets=(*only_declared, rows))).note


@pytest.mark.parametrize(
    ("first", "second", "said_of_them"),
    [
        (
            Fact("has_no", dataset="site-0", what="predictors"),
            Fact("has_no", dataset="site-1", what="predictors"),
            "Not computable at Italy 1 and Italy 2 (no predictors).",
        ),
        (Fact("no_shared_predictor_varies"), None, "Not computable at Italy 1 (no shared predictor varies)."),
        (
            Fact("no_shared_predictor_varies"),
            Fact("has_no", dataset="site-1", what="predictors"),
            "Not computable at Italy 1 and Italy 2 (reasons below the table).",
        ),
    ],
)
def test_the_true_reason_is_given_where_there_is_no_similarity(
    first: Fact, second: Fact | None, said_of_them: str
) -> None:
    why = {"site-0": first, "site-1": second}
    eight = KINDS["eight"]
    results = tuple(
        dataclasses.replace(result, found=Absent(reason))
        if result.measure == "correspondence_averaged" and (reason := why.get(result.dataset))
        else result
        for result in eight.results
    )
    assert said("correspondence", dataclasses.replace(eight, results=results)).endswith(said_of_them)


def undone(evidence: Evidence, measure: str, *sites: str) -> Evidence:
    """The evidence without a measure at these sites."""
    results = tuple(
        dataclasses.replace(result, found=Absent(because("none")))
        if result.measure == measure and result.dataset in sites
        else result
        for result in evidence.results
    )
    return dataclasses.replace(evidence, results=results)


def given(evidence: Evidence, measure: str, **values: tuple[float, float, float]) -> Evidence:
    """The evidence with these values and bounds in place of its own, by dataset."""
    results = []
    for result in evidence.results:
        name = result.dataset.replace("-", "_")
        if (
            result.measure == measure
            and not result.at.get("against")
            and name in values
            and isinstance(result.found, Estimate)
        ):
            value, low, high = values[name]
            result = dataclasses.replace(
                result, found=dataclasses.replace(result.found, value=value, low=low, high=high)
            )
        results.append(result)
    return dataclasses.replace(evidence, results=tuple(results))


def jointly_tested(evidence: Evidence, **p_values: float) -> Evidence:
    """The evidence with these p values, after Holm, of the joint test of calibration, by dataset."""
    added = []
    for name, p_value in p_values.items():
        details = {"p_value": p_value, "p_holm": p_value}
        found = Estimate(9.0, None, None, None, 100, Method("likelihood_ratio"), details=details)
        added.append(Result("calibration_test", "calibration_test", name.replace("_", "-"), {}, found))
    return dataclasses.replace(evidence, results=(*evidence.results, *added))


NB_WIDTH = 0.1
"""How far the bounds of a difference of net benefits lie from it."""


def of_net_benefit(found: dict[tuple[str, float], tuple[float, float]], *declared: float) -> Evidence:
    """Evidence of two sites with these net benefits, of the model and of flagging everyone, by site and threshold."""
    evidence = KINDS["two"]
    result = next(estimate for estimate in evidence.results if estimate.measure == "net_benefit")
    made = [
        dataclasses.replace(
            result,
            dataset=site,
            at={"threshold": at},
            found=Estimate(
                value, value - 0.01, value + 0.01, 0.95, 100, Method("wald"), details={"treat_all": everyone}
            ),
        )
        for (site, at), (value, everyone) in found.items()
    ]
    for (site, at), (value, everyone) in found.items():
        gain = value - max(everyone, 0)
        details: dict[str, float | None] = {"default": max(everyone, 0.0)}
        beside = Estimate(gain, gain - NB_WIDTH, gain + NB_WIDTH, 0.95, 100, Method("wald"), details=details)
        made.append(Result("net_benefit_gain", "net_benefit_gain", site, {"threshold": at}, beside))
    kept = [estimate for estimate in evidence.results if estimate.measure not in ("net_benefit", "net_benefit_gain")]
    thresholds = evidence.release.thresholds.model_copy(update={"declared": declared})
    release = evidence.release.model_copy(update={"thresholds": thresholds})
    return dataclasses.replace(evidence, results=(*kept, *made), release=release)


REPEATING = ("abstract", "model_card")
"""Chapters whose answer stands in others, and which open with none."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chapter", NAMES)
def test_every_chapter_opens_with_a_sentence_of_at_most_three_lines(chapter: str, kind: str) -> None:
    opened = finding(chapter, KINDS[kind])
    text = said(chapter, KINDS[kind])
    if chapter in REPEATING:
        assert opened == Sentence("")
        return
    assert re.match(r"[A-Z0-9]", text), text
    assert opened.lead.endswith("."), opened.lead
    assert text.endswith("."), text
    assert not re.search(r"\b(nan|inf|None(?! of )|Absent|Estimate)\b|[{}_]|\.\.|\( | \)|  ", text), text
    assert len(text) <= LONGEST, f"{len(text)} characters: {text}"


def released(evidence: Evidence, **about: str) -> Evidence:
    """The evidence of a release that says this of itself."""
    release = evidence.release
    changed = release.model_copy(update={"release": release.release.model_copy(update=about)})
    return dataclasses.replace(evidence, release=changed)


def test_another_version_than_the_released_one_is_never_said_to_be_tested() -> None:
    evidence = released(KINDS["eight"], model="Knee model", version="2.1.1", tested_version="2.1.0")
    named = "Knee model 2.1.0 (the release is 2.1.1)"
    assert said("context", evidence) == (
        "The model gives the probability of infection. Version 2.1.0 is tested here unchanged on eight external "
        "datasets; the purpose is not stated."
    )
    of_abstract = plain(abstract.lines(evidence)[0].text)
    assert of_abstract == f"External validation of a prediction model for infection: {named}."
    assert model_card.about(evidence)[0][1] == (
        "Knee model 2.1.1. Version 2.1.0 was tested: the numbers of this card are its own."
    )
    title = f"External validation: {named} for infection"
    editions: tuple[Edition, ...] = ("regulatory", "supplement", "committee")
    for edition in editions:
        document = compose.document(Gallery(evidence, {}, {}), edition)
        assert document.title == title
        assert "Knee model 2.1.1 " not in plain(document.html)
    assert "It is tested here unchanged" in said("context", released(evidence, tested_version="2.1.1"))


def test_the_predictors_of_the_formula_are_not_those_of_the_tables() -> None:
    two = KINDS["two"]
    sites = tuple(dataclasses.replace(site, features=("age", "sex", "chol")) for site in two.datasets)
    formula = Model.model_validate({"intercept": 0.0, "term": ({"predictor": "age", "coefficient": 0.1},)})
    known = dataclasses.replace(two, release=two.release.model_copy(update={"model": formula}))

    def predictors(evidence: Evidence) -> str:
        (text,) = (line.text for line in abstract.lines(evidence) if line.label == "Predictors")
        return text.replace("\N{NO-BREAK SPACE}", " ")

    assert predictors(two) == "Not given."
    assert predictors(dataclasses.replace(two, datasets=sites)) == "3 predictors given in the tables."
    assert predictors(known) == "1 predictor in the declared formula; none given in the tables."
    seen = dataclasses.replace(known, datasets=sites)
    assert predictors(seen) == "1 predictor in the declared formula; 3 given in the tables."


def test_what_is_pooled_stands_first_and_else_the_sites_at_both_ends() -> None:
    evidence = given(KINDS["eight"], "auroc", **{f"site_{index}": (0.80 + index / 100, 0.7, 0.9) for index in range(8)})
    evidence = undone(evidence, "sensitivity", *(f"site-{index}" for index in range(8)))
    assert said("discrimination", evidence) == "The AUROC is 0.88 (95% CI 0.73 to 0.96), pooled over eight sites."
    apart = said("discrimination", undone(evidence, "auroc", POOLED))
    assert apart == "The AUROC is 0.80 (Italy 1) to 0.87 (Ethiopia); Brazil 3 left out: few of one outcome."


def test_the_performance_opens_with_what_the_key_results_do_not_say() -> None:
    two = given(KINDS["two"], "sensitivity", site_0=(0.6, 0.5, 0.7), site_1=(0.9, 0.8, 1.0))
    few = dataclasses.replace(two.datasets[1], n=150, events=5)
    text = said("discrimination", dataclasses.replace(two, datasets=(two.datasets[0], few)))
    assert text == "Sensitivity at 0.50 is 60% (Italy 1) and 90% (Spain, 5 events)."


def test_one_site_gives_its_value_with_its_interval() -> None:
    evidence = given(KINDS["one"], "auroc", site_0=(0.7512, 0.7034, 0.7949))
    assert said("results", evidence).startswith("The AUROC is 0.75 (95% CI 0.70 to 0.79) in Desio, Italy.")


def test_an_end_of_a_range_that_rests_on_few_says_on_how_few() -> None:
    # By hand: 5 events at the second site, and 1 patient without one at the first; below 20 is few.
    evidence = undone(KINDS["two"], "sensitivity", "site-0", "site-1")
    evidence = given(evidence, "auroc", site_0=(0.74, 0.69, 0.79), site_1=(1.0, 0.57, 1.0))
    first = dataclasses.replace(evidence.datasets[0], n=400, events=399)
    second = dataclasses.replace(evidence.datasets[1], n=150, events=5)
    text = said("discrimination", dataclasses.replace(evidence, datasets=(first, second)))
    assert text.startswith("The AUROC is 0.74 (Italy 1, 1 non-event) and 1.00 (Spain, 5 events).")
    enough = dataclasses.replace(evidence.datasets[0], n=40, events=20)
    text = said("discrimination", dataclasses.replace(evidence, datasets=(enough, second)))
    assert text.startswith("The AUROC is 0.74 (Italy 1) and")


def test_the_severity_of_errors_names_no_site_as_gravest_and_counts_errors_where_they_are_few() -> None:
    evidence, site = KINDS["two"], KINDS["two"].datasets[0]
    found = Estimate(6.0, 4.0, 8.0, 0.95, 25, Method("wald"), details={"errors": 6.0})
    words = severity_of_errors(evidence, [(site, found)]).replace("\N{NO-BREAK SPACE}", " ")
    assert words == "The error severity index is 6.0 (Italy 1, 6 errors), of 10."
    many = dataclasses.replace(found, value=5.0, details={"errors": 20.0})
    words = severity_of_errors(evidence, [(evidence.datasets[1], many), (site, found)])
    assert words.replace("\N{NO-BREAK SPACE}", " ") == (
        "The error severity index is 5.0 (Spain) to 6.0 (Italy 1, 6 errors), of 10."
    )


def test_two_sites_that_print_alike_are_not_a_range() -> None:
    evidence = undone(KINDS["two"], "sensitivity", "site-0", "site-1")
    evidence = given(evidence, "auroc", site_0=(0.7512, 0.7, 0.8), site_1=(0.7487, 0.7, 0.8))
    assert said("discrimination", evidence).startswith("The AUROC is 0.75 at both sites.")


def test_a_site_without_a_number_is_no_end_of_a_range() -> None:
    evidence = given(KINDS["two"], "auroc", site_0=(0.7512, 0.70, 0.80), site_1=(0.5, 0.4, 0.6))
    assert "Spain" not in said("discrimination", undone(evidence, "auroc", "site-1")).split(".  ")[0].split("Pooled")[0]


def test_what_a_new_site_may_expect_is_told_from_five_sites_on() -> None:
    assert "In a new hospital like these the AUROC may lie between 0.28 and 0.99 (95% prediction interval)" in said(
        "results", KINDS["eight"]
    )
    assert "prediction interval" not in said("results", KINDS["two"])
    auroc = Estimate(0.8, 0.7, 0.9, 0.95, 900, Method("reml_of_test"), 200, details={"k": 3.0})
    changed = tuple(
        dataclasses.replace(result, found=auroc) if (result.measure, result.dataset) == ("auroc", POOLED) else result
        for result in KINDS["two"].results
    )
    few = dataclasses.replace(KINDS["two"], results=changed)
    assert "No prediction interval: fewer than five sites." in said("results", few)
    assert "may lie between" not in said("results", few)


def test_what_is_pooled_is_said_with_its_interval() -> None:
    # Of tests/figures/evidence.py: AUROC 0.88 (0.73 to 0.96), O/E 1.05 (0.88 to 1.26).
    text = said("pooled", KINDS["eight"])
    assert text.startswith("Pooled, O/E is 1.05 (95% CI 0.88 to 1.26). In a new site it may lie between ")
    assert "AUROC" not in text, "the key results give it"


def test_slopes_beyond_one_are_named_and_others_are_not() -> None:
    slopes = {"site_0": (0.7, 0.6, 0.8), "site_1": (1.4, 1.2, 1.6)}
    off = given(KINDS["two"], "calibration_slope", **slopes)
    open_yet = said("calibration", jointly_tested(off, site_0=0.02, site_1=0.02))
    assert open_yet.endswith("Calibration is open in Spain and Italy 1.")
    two = said("calibration", jointly_tested(off, site_0=0.001, site_1=0.001))
    assert "off in Spain (risks too low, O/E 1.56; too moderate, slope 1.40) and Italy 1 (risks too extreme" in two
    fine = said("calibration", given(KINDS["two"], "calibration_slope", site_0=(1, 0.9, 1.1), site_1=(1, 0.9, 1.1)))
    assert "slope" not in fine


@drawn(
    p_values=st.lists(st.sampled_from([0.0001, 0.02, 0.9]), min_size=8, max_size=8),
    ratios=st.lists(st.sampled_from([0.5, 0.9, 1.1, 1.6]), min_size=8, max_size=8),
    is_declared=st.booleans(),
)
def test_every_site_is_said_by_the_state_of_its_calibration(
    p_values: list[float], ratios: list[float], is_declared: bool
) -> None:
    """A site whose O/E was off while its slope was open went unnamed where others were said to be open."""
    names = [f"site_{index}" for index in range(8)]
    off = given(
        KINDS["eight"],
        "oe_ratio",
        **{name: (each, each - 0.1, each + 0.1) for name, each in zip(names, ratios, strict=True)},
    )
    if is_declared:
        asked = {"measure": "oe_ratio", "dataset": "each external", "at_least": 0.8, "at_most": 1.25}
        dated = ({**asked, "declared_on": datetime.date(1999, 1, 1)},)
        release = off.release.model_validate({**off.release.model_dump(by_alias=True), "acceptance": dated})
        criteria = tuple(
            Criterion(
                1,
                "oe_ratio",
                name.replace("_", "-"),
                None,
                {},
                "value",
                0.8,
                1.25,
                each,
                "shown" if 0.8 < each < 1.25 else "against",
            )
            for name, each in zip(names, ratios, strict=True)
        )
        off = dataclasses.replace(off, release=release, criteria=criteria)
    found = jointly_tested(off, **dict(zip(names, p_values, strict=True)))
    text = said("calibration", found).split("Calibration is ")[1]
    every = [claim for claim in claims.of(found) if (claim.question, claim.scope) == ("calibration", "hospital")]
    # By hand: against beats open, and open beats shown, as in the first column of page 1.
    stands = {
        name: next(
            state for state in ("against", "open", "shown") if state in {c.state for c in every if c.dataset == name}
        )
        for name in {claim.dataset for claim in every}
    }
    for state, how in sentence.CALIBRATION_IS.items():
        here = [site.site for site in externals(found) if stands[site.name] == state]
        part = next((part for part in text.split("; ") if part.startswith(how)), "")
        assert bool(part) is bool(here)
        assert len(here) > 4 + (state == "against") or all(name in part for name in here)
        counted = (
            f"and {in_words(len(here) - 5)} more" if state == "against" else f"{in_words(len(here))} of eight sites"
        )
        assert len(here) <= 4 + (state == "against") or counted in part


def test_only_slopes_above_one_are_said_to_be_slopes() -> None:
    slopes = {"site_0": (1.4, 1.2, 1.6), "site_1": (1.4, 1.2, 1.6)}
    off = given(KINDS["two"], "calibration_slope", **slopes)
    text = said("calibration", jointly_tested(off, site_0=0.001, site_1=0.001))
    assert "too moderate, slope 1.40) and Italy 1 (risks too moderate, slope 1.40)." in text


def test_slopes_below_zero_run_the_wrong_way_and_are_not_too_far_apart() -> None:
    slopes = {"site_0": (-0.97, -1.2, -0.7), "site_1": (-0.5, -1.1, 0.1)}
    off = given(KINDS["two"], "calibration_slope", **slopes)
    text = said("calibration", jointly_tested(off, site_0=0.001, site_1=0.001))
    assert "Italy 1 (risks the wrong way round, slope \N{MINUS SIGN}0.97)" in text
    assert "too extreme, slope \N{MINUS SIGN}0.50)" in text


def test_a_site_without_a_slope_is_named() -> None:
    slopes = {"site_0": (1, 0.9, 1.1)}
    text = said(
        "calibration", given(undone(KINDS["two"], "calibration_slope", "site-1"), "calibration_slope", **slopes)
    )
    assert text.endswith("In Spain no slope can be estimated.")


def test_a_default_that_does_better_is_named() -> None:
    evidence = KINDS["two"]
    results = tuple(
        dataclasses.replace(
            result,
            found=dataclasses.replace(
                result.found, value=0.1, details={"treat_all": 0.2 if result.dataset == "site-1" else 0.05}
            ),
        )
        if result.measure == "net_benefit" and isinstance(result.found, Estimate)
        else result
        for result in evidence.results
    )
    gains = []
    for result in results:
        if result.measure == "net_benefit" and isinstance(result.found, Estimate):
            gain = 0.1 - (result.found.details["treat_all"] or 0.0)
            details = {"default": result.found.details["treat_all"]}
            found = dataclasses.replace(result.found, value=gain, low=gain - 0.02, high=gain + 0.02, details=details)
            gains.append(Result("net_benefit_gain", "net_benefit_gain", result.dataset, result.at, found))
    others = [result for result in results if result.measure != "net_benefit_gain"]
    lead = said("utility", dataclasses.replace(evidence, results=(*gains, *others))).split(". ")[0]
    assert "flagging everyone has the higher net benefit in Spain (" in lead
    assert "Italy 1" not in lead


@pytest.mark.parametrize("first", [0.05, -0.3, 0.19, 0.21])
def test_a_default_that_does_better_at_another_threshold_is_named(first: float) -> None:
    # Spain at 0.20: 0.1 by the model, 0.3 if everyone is treated.
    changed = of_net_benefit({("site-0", 0.5): (0.1, first), ("site-1", 0.2): (0.1, 0.3)}, 0.5, 0.2)
    words = said("utility", changed).replace("\N{NO-BREAK SPACE}", " ")
    here = "At threshold 0.50 flagging everyone has the higher net benefit in Italy 1 (95% CI excludes 0)."
    assert words.startswith(here) == (first == 0.21)
    assert words.endswith(
        "in Italy 1. At the other declared threshold, 0.20, flagging everyone has the higher net benefit in Spain "
        "(95% CI excludes 0)."
    )


def spoken(evidence: Evidence) -> str:
    """What is said of net benefit, with blanks for those that tie."""
    return said("utility", evidence).replace("\N{NO-BREAK SPACE}", " ")


def test_a_default_whose_gain_may_be_none_is_not_called_better() -> None:
    """In Italy 1 flagging everyone has the higher value, in Spain the interval says so too."""
    changed = of_net_benefit({("site-0", 0.5): (0.1, 0.15), ("site-1", 0.5): (0.1, 0.3)}, 0.5)
    assert spoken(changed).startswith(
        "At threshold 0.50 flagging everyone has the higher net benefit in Spain (95% CI excludes 0). A gain above 0 "
        "is shown at neither of two sites; it is open in Italy 1. The gain over the better default is"
    )
    assert figures.by_site_alternative(changed).endswith("Flagging everyone gains more in Spain.")


def test_the_model_whose_interval_lies_above_both_defaults_is_counted() -> None:
    changed = of_net_benefit({("site-0", 0.5): (0.3, 0.1), ("site-1", 0.5): (0.3, 0.25)}, 0.5)
    assert spoken(changed).startswith(
        "At threshold 0.50 a gain above 0 is shown at one of two sites; it is open in Spain."
    )


def test_it_is_said_whether_everyone_or_no_one_should_rather_be_treated() -> None:
    # Italy 1: 0.1 by the model, 0.3 if everyone is treated. Spain: a loss by the model, a greater one if everyone is.
    changed = of_net_benefit({("site-0", 0.5): (0.1, 0.3), ("site-1", 0.5): (-0.2, -0.4)}, 0.5)
    assert spoken(changed).startswith(
        "At threshold 0.50 flagging everyone has the higher net benefit in Italy 1 (95% CI excludes 0); flagging "
        "no one has the higher net benefit in Spain (95% CI excludes 0). A gain above 0 is shown at neither of two "
        "sites."
    )


def test_samples_that_are_too_small_are_named() -> None:
    assert said("sample", needing("two", mss_auroc=("site-1",))) == (
        "One of two sites meets all sample-size targets. Too few for the AUROC: Spain."
    )


def needing(kind: str, **missed: tuple[str, ...]) -> Evidence:
    """The evidence in which these criteria ask for one patient more than there are at these sites, and for no other."""
    results = []
    for result in KINDS[kind].results:
        if result.measure.startswith("mss_") and isinstance(result.found, Estimate):
            more = result.dataset in missed.get(result.measure, ())
            result = dataclasses.replace(
                result, found=dataclasses.replace(result.found, value=result.found.n + (1.0 if more else -1.0))
            )
        results.append(result)
    return dataclasses.replace(KINDS[kind], results=tuple(results))


def test_the_criterion_that_most_sites_miss_comes_first() -> None:
    text = said("sample", needing("two", mss_auroc=("site-1",), mss_brier=("site-0", "site-1"), mss_snb=("site-1",)))
    assert text == (
        "No site meets all sample-size targets. Too few for the Brier score: every site; for the "
        "AUROC: Spain; for net benefit: Spain."
    )
    found = needing("two", mss_snb=("site-0",))
    sizes = [each for each in needing("two", mss_snb=("site-1",)).results if each.measure == "mss_snb"]
    thresholds = found.release.thresholds.model_copy(update={"declared": (0.5, 0.2)})
    release = found.release.model_copy(update={"thresholds": thresholds})
    results = (*found.results, *(dataclasses.replace(each, at={"threshold": 0.2}) for each in sizes))
    both = dataclasses.replace(found, release=release, results=results)
    assert said("sample", both).endswith("Too few for net benefit: every site.")


def test_what_every_site_reaches_is_said_once() -> None:
    assert said("sample", needing("two")) == "Every site meets all sample-size targets."
    assert said("sample", undone(needing("two"), "mss_auroc", "site-0")) == (
        "Every site meets all sample-size targets that can be computed."
    )


def test_one_site_names_the_criteria_that_it_misses() -> None:
    text = said("sample", needing("one", mss_auroc=("site-0",), mss_brier=("site-0",)))
    assert text.endswith("does not meet all sample-size targets. Too few for the AUROC and the Brier score.")


def test_widths_are_called_declared_only_where_the_release_declares_them() -> None:
    evidence = KINDS["two"]
    ours = dataclasses.replace(evidence, release=evidence.release.model_copy(update={"sample": Sample()}))
    theirs = dataclasses.replace(evidence, release=evidence.release.model_copy(update={"sample": Sample(width={})}))
    assert sample.widths(ours).startswith("of the usual widths, as the release declares none: ")
    assert sample.widths(theirs).startswith("no wider than the release asks for: ")


def test_labels_are_as_reliable_as_the_worked_example_says() -> None:
    # methods.md: rho .57 and a measured accuracy of .90 stand for .801993.
    text = said("reliability", KINDS["eight"])
    assert text.startswith("The reliability of the labels is 0.57 (95% CI 0.52 to 0.61).")
    assert text.endswith(
        "Where the outcome itself is made of such labels, the measured accuracy of 0.90 stands for 0.80 (95% CI 0.78 "
        "to 0.82) against the truth."
    )


def test_what_keeps_the_labels_from_having_a_reliability_is_told_of_the_site_that_was_judged() -> None:
    evidence = KINDS["two"]
    first, second = (site.name for site in evidence.datasets)
    reasons = {first: f"the readers judged the cases of {second}, not those of {first}", second: "they were not sure"}
    results = [result for result in evidence.results if result.measure != "weighted_concordance"]
    for dataset, reason in reasons.items():
        results.append(Result("weighted_concordance", "weighted_concordance", dataset, {}, Absent(because(reason))))
    release = evidence.release.model_copy(update={"readers": (ReadersTables(labels="labels.csv", dataset=second),)})
    judged = dataclasses.replace(evidence, release=release, results=tuple(results))
    assert said("reliability", judged) == "Reliability cannot be estimated: they were not sure."


def test_a_met_net_benefit_below_that_of_a_default_is_not_left_alone() -> None:
    changed = of_net_benefit({("site-0", 0.5): (0.3, 0.9), ("site-1", 0.5): (0.3, 0.2)}, 0.5)
    asked = [
        Criterion(1, "net_benefit", site, None, {"threshold": 0.5}, "low", 0.0, None, 0.29, "shown")
        for site in ("site-0", "site-1")
    ]
    assert acceptance.not_the_better_choice(changed, [tuple(asked)]) == (
        "Net benefit at 0.50, lower limit is met, yet flagging everyone has the higher net benefit at Italy 1.",
    )


def test_sites_that_are_not_pooled_are_named_the_farthest_off_first() -> None:
    found = given(KINDS["eight"], "oe_ratio", site_0=(2.5, 2.0, 3.0), site_1=(0.2, 0.1, 0.3), site_2=(1.1, 1.0, 1.2))
    few = ("site-0", "site-1", "site-2")
    datasets = tuple(
        dataclasses.replace(dataset, events=5 if dataset.name in few else 50) for dataset in found.datasets
    )
    left = not_pooled(dataclasses.replace(found, datasets=datasets)).replace("\N{NO-BREAK SPACE}", " ")
    names = {dataset.name: dataset.site for dataset in datasets}
    assert left == (
        f"Left out, under 20 events or non-events: {names['site-1']} (O/E 0.20), {names['site-0']} (O/E 2.50) and one "
        "more."
    )
    assert not_pooled(KINDS["two"]) == ""


def test_the_total_counts_the_patients_that_are_pooled() -> None:
    evidence = KINDS["eight"]
    site = externals(evidence)[0]
    few = tuple(
        dataclasses.replace(dataset, events=5 if dataset.name == site.name else 50) for dataset in evidence.datasets
    )
    rest = sum(dataset.n for dataset in externals(evidence)) - site.n
    kept = tuple(
        dataclasses.replace(result, found=dataclasses.replace(result.found, n=rest))
        if result.dataset == POOLED and isinstance(result.found, Estimate)
        else result
        for result in evidence.results
    )
    whole = results.essentials(evidence).rows[-1]
    part = results.essentials(dataclasses.replace(evidence, datasets=few, results=kept)).rows[-1]
    assert whole.cells[0].text == f"{sum(dataset.n for dataset in externals(evidence)):,}"
    assert part.cells[0].text == f"{rest:,}"


def test_a_criterion_is_shown_or_shown_not_to_hold_or_neither() -> None:
    evidence = KINDS["eight"]
    every: dict[State, str] = {
        "shown": "No criterion counts: none was declared in time.",
        "against": "Shown not to hold: AUROC, lower limit.",
        "open": "Not shown: AUROC, lower limit.",
        "untested": "Not tested: AUROC, lower limit.",
    }
    for state, says in every.items():
        declared = Criterion(1, "auroc", "site-0", None, {}, "low", 0.8, None, 0.7, state)
        assert says in said("acceptance", dataclasses.replace(evidence, criteria=(declared,)))


def test_limitations_are_counted() -> None:
    flags = (
        Flag("few_events", "site-0", limitation("a.")),
        Flag("risks_off", "site-0", limitation("b.")),
        Flag("few_sites", "pooled", limitation("c.")),
    )
    two = dataclasses.replace(KINDS["two"], checklist=(ChecklistRow("1", "declared", "cover"),))
    text = said("limitations", dataclasses.replace(two, flags=flags))
    assert re.match(r"(3|Three) automated findings", text), text
    assert text.endswith("They are not answered.")
    one_answered = (dataclasses.replace(flags[0], reply="Yes."), *flags[1:])
    assert said("limitations", dataclasses.replace(two, flags=one_answered)).endswith("Two are not answered.")
    assert said("limitations", KINDS["two"]) == "No automated finding."


@pytest.mark.parametrize(("count", "named"), [(12, 12), (60, 8)])
def test_limitations_of_one_cause_are_said_once_with_their_sites(count: int, named: int) -> None:
    """So many sites, each with three limitations of its own: one sentence a cause, however many there are."""
    evidence = by_hand(Case("many", tuple(f"Ward {index}" for index in range(1, count + 1))))
    flags = []
    for index, site in enumerate(evidence.datasets):
        where = {"site": site.site, "of_class": None, "low": 0.1, "high": 9.0}
        flags += [
            Flag("risks_off", site.name, Fact("risks_off", **where, value=1.3 + index / 100, least=0.8, most=1.25)),
            Flag("slope_off", site.name, Fact("slope_off", **where, value=0.5, is_extreme=bool(index % 2))),
            Flag("constant_predictor", site.name, Fact("constant_predictor", predictors=("age",), dataset=site.name)),
        ]
    found = dataclasses.replace(evidence, flags=tuple(flags))
    raised = {kind.topic: kind for kind in limitations.raised(found)}
    sizes = {about: len(kind.said) for about, kind in raised.items()}
    assert sizes == {topic("risks_off"): 1, topic("slope_off"): 2, topic("constant_predictor"): 1}
    ((text, _),) = raised[topic("risks_off")].said
    at, first = text.split(" The first: ")
    gravest, second, *_ = (types.summary_of(found, str(place[0])).site for place in claims.by_harm(found))
    assert re.match(rf"At every site: {gravest} \(O/E.[0-9.]+\), {second} \(O/E", at)
    assert at.count("Ward ") == named
    assert at.endswith(f" and {count - named} more.") == (named < count)
    assert f"At {gravest} there were" in first
    assert sum(len(text) for kind in raised.values() for text, _ in kind.said) < 2500
    assert f"{3 * count} automated findings of 3 kinds" in said("limitations", found).replace("\N{NO-BREAK SPACE}", " ")


def test_limitations_that_say_or_answer_otherwise_are_not_put_together() -> None:
    evidence = KINDS["eight"]
    flags = tuple(
        Flag("slope_off", site.name, Fact("slope_off", site=site.site, of_class=None, value=0.5, low=0.1, high=0.9,
                                          is_extreme=True), reply="Known." if index < 4 else None)
        for index, site in enumerate(evidence.datasets)
        if site.role == "external"
    )  # fmt: skip
    (kind,) = limitations.raised(dataclasses.replace(evidence, flags=flags))
    assert {(text.split(":")[0], reply) for text, reply in kind.said} == {
        ("At four of eight sites", "Known."),
        ("At four of eight sites", None),
    }


def test_one_of_a_kind_is_not_in_the_plural() -> None:
    flags = (Flag("few_events", "site-0", limitation("a.")),)
    text = said("limitations", dataclasses.replace(KINDS["one"], flags=flags))
    assert "1 limitations" not in text
    assert "1 datasets" not in text
    assert "One external site," in said("description", KINDS["one"])
    assert "one external dataset;" in said("context", KINDS["one"])


def test_the_rows_that_are_lost_are_counted() -> None:
    evidence = KINDS["two"]
    first = dataclasses.replace(evidence.datasets[0], n=90, events=9, rows_read=100, excluded={"outcome_missing": 10})
    second = dataclasses.replace(evidence.datasets[1], n=900, events=450, rows_read=900, excluded={})
    text = said("description", dataclasses.replace(evidence, datasets=(first, second)))
    assert text == (
        "Two external sites, 990 patients, 459 events. 10 rows of 1,000 could not be analysed. "
        "Lowest prevalence: 10% (Italy 1); highest: 50% (Spain)."
    )


OF_PSI = "p value, below 0.4 at 40% of hospitals drawn from the development population"


@pytest.mark.parametrize("chosen", ["averaged", "psi"])
@pytest.mark.parametrize(
    ("psi", "averaged", "said_of_it"),
    [
        (
            (0.01, 0.93),
            (0.46, 0.54),
            f"Averaged similarity is 0.46 to 0.54 (0.5: alike). Psi is 0.01 to 0.93 ({OF_PSI}).",
        ),
        ((0.02, 0.399), (0.399, 0.399), f"Averaged similarity is 0.399 (0.5: alike). Psi is 0.02 to 0.399 ({OF_PSI})."),
    ],
)
def test_similarity_is_averaged_first_and_psi_never_calls_a_site_unlike(
    chosen: str, psi: tuple[float, float], averaged: tuple[float, float], said_of_it: str
) -> None:
    evidence = KINDS["two"]
    for measure, (first, second) in (("degree_of_correspondence", psi), ("correspondence_averaged", averaged)):
        evidence = given(evidence, measure, site_0=(first, first, first), site_1=(second, second, second))
    assert said("correspondence", chosen_form(evidence, chosen)) == said_of_it


def chosen_form(evidence: Evidence, form: str) -> Evidence:
    """The evidence of a release that chooses that form of similarity."""
    robustness = evidence.release.robustness.model_copy(update={"similarity": form})
    return dataclasses.replace(evidence, release=evidence.release.model_copy(update={"robustness": robustness}))


def test_both_counts_of_support_and_both_correlations_are_printed() -> None:
    """By psi Italy 1 supports the model: below .4, and acceptable in all three; by the averaged form nobody does."""
    evidence = KINDS["two"]
    values = {"degree_of_correspondence": (0.1, 0.1), "correspondence_averaged": (0.48, 0.49), "brier": (0.2, 0.2)}
    values |= {"auroc": (0.8, 0.6), "standardized_net_benefit": (0.5, 0.5)}
    for measure, (first, second) in values.items():
        evidence = given(evidence, measure, site_0=(first, first, first), site_1=(second, second, second))
    support = {"k": 2, "reaching_the_cut": 0, "by_psi": 1, "by_averaged": 0}
    plain = Estimate(1, None, None, None, 9, Method("wald"))
    pooled = {
        ("externally_supported", ()): dataclasses.replace(plain, details=support),
        ("performance_against_similarity", (("measure", "auroc"), ("similarity", "psi"))): dataclasses.replace(
            plain, value=0.54, details={"k": 7, "p_value": 0.21}
        ),
        ("performance_against_similarity", (("measure", "auroc"), ("similarity", "averaged"))): dataclasses.replace(
            plain, value=0.3, details={"k": 5, "p_value": 0.62}
        ),
    }
    kept = [result for result in evidence.results if result.measure not in {measure for measure, _ in pooled}]
    kept += [Result(measure, measure, POOLED, dict(at), found) for (measure, at), found in pooled.items()]
    evidence = chosen_form(dataclasses.replace(evidence, results=tuple(kept)), "psi")
    counted = f"In the region of external support: by psi 1 site, by averaged similarity none (psi: {OF_PSI})."
    at_home = compared_with_home(evidence, ("site-0", 0.8, 0.3))
    assert counted in said("robustness", given(at_home, "auroc", site_0=(0.8, 0.8, 0.8)))
    by_psi, averaged = "by psi 0.54 (p 0.21, 7 sites)", "by averaged similarity 0.30 (p 0.62, 5 sites)"
    start = "Performance (AUROC) against similarity, Pearson r:"
    assert robustness.similarity_and_performance(evidence) == f"{start} {by_psi}; {averaged}."
    turned = chosen_form(evidence, "averaged")
    assert robustness.similarity_and_performance(turned) == f"{start} {averaged}; {by_psi}."


def test_the_core_says_where_it_was_tested_and_what_is_declared_of_the_use() -> None:
    one = KINDS["one"]
    thresholds = one.release.thresholds.model_copy(update={"rationale": None})
    bare = {"thresholds": thresholds, "intended_use": IntendedUse(), "care": Care()}
    silent = dataclasses.replace(one, release=one.release.model_copy(update=bare), statements={})
    assert not statements.CHAPTER.has(silent)
    for name, given_to, text in (
        ("thresholds", thresholds.model_copy(update={"rationale": "From 0.5 on we call."}), "From 0.5 on we call."),
        ("intended_use", IntendedUse(not_for=("Children.",)), "Children."),
        ("care", Care(monitoring="Every month."), "Every month."),
    ):
        release = silent.release.model_copy(update={name: given_to})
        for evidence, is_said in ((silent, False), (dataclasses.replace(silent, release=release), True)):
            page = compose.document(Gallery(evidence, {}, {}), "regulatory").html.split('id="chapter-context"')[1]
            assert 'id="table-sites"' in page.split("</section>")[0]
            assert (text in page.split("</section>")[0]) is is_said, name


def test_of_one_site_similarity_is_not_counted() -> None:
    evidence = given(KINDS["one"], "degree_of_correspondence", site_0=(0.03, 0.03, 0.03))
    evidence = chosen_form(given(evidence, "correspondence_averaged", site_0=(0.46, 0.43, 0.5)), "psi")
    name = externals(evidence)[0].site
    assert said("correspondence", evidence) == (
        f"Averaged similarity is 0.46 at {name} (0.5: alike). Psi is 0.03 at {name} ({OF_PSI})."
    )


def against_development(evidence: Evidence, member: tuple[float, float], p_value: float) -> Evidence:
    """The evidence with an averaged similarity of .49 and .3, and these answers of other measures at both sites."""
    names = ("correspondence_averaged", "membership_auroc", "energy_coefficient")
    kept = [result for result in evidence.results if result.measure not in names]
    for site, similarity in (("site-0", 0.49), ("site-1", 0.3)):
        for measure, found in zip(
            names,
            (
                Estimate(similarity, 0.2, 0.6, 0.95, 100, Method("wald")),
                Estimate(member[1], member[0], 0.95, 0.95, 100, Method("wald")),
                Estimate(0.1, 0.0, 0.2, 0.95, 100, Method("wald"), details={"p_value": p_value}),
            ),
            strict=True,
        ):
            kept.append(Result(measure, measure, site, {}, found))
    return dataclasses.replace(evidence, results=tuple(kept))


@pytest.mark.parametrize(
    ("member", "p_value", "apart"),
    [
        ((0.8, 0.84), 0.3, "a classifier tells Spain and Italy 1 from it."),
        ((0.51, 0.7), 0.3, "a classifier tells Spain and Italy 1 from it."),
        ((0.5, 0.84), 0.05, ""),
        ((0.6, 0.69), 0.05, ""),
        ((0.4, 0.5), 0.001, "the energy test tells Spain and Italy 1 from it."),
    ],
)
def test_a_similarity_that_other_measures_deny_is_not_left_alone(
    member: tuple[float, float], p_value: float, apart: str
) -> None:
    """Only the first site is said to be similar; both are named, or the second would seem not to be told apart."""
    text = said("correspondence", against_development(KINDS["two"], member, p_value))
    assert (
        text.endswith(f"Whatever the average says of the development data, {apart}")
        if apart
        else "Whatever" not in text
    )


def test_what_a_draw_of_rows_adds_is_said_with_its_measure() -> None:
    """The least and the greatest error over the sites at which rows were drawn; nothing where none were."""
    two = KINDS["two"]
    assert correspondence.draws(two) == ""
    first, second = externals(two)
    drawn = {"development_n": 2000.0, "development_of": 12000.0, "external_of": 2600.0}
    errors = {(first.name, "degree_of_correspondence"): 0.0812, (second.name, "degree_of_correspondence"): 0.25}
    errors |= {(second.name, "correspondence_averaged"): 0.004}
    results = tuple(
        dataclasses.replace(
            result, found=dataclasses.replace(result.found, n=1500, details={**drawn, "sampling_error": errors[key]})
        )
        if (key := (result.dataset, result.measure)) in errors and isinstance(result.found, Estimate)
        else result
        for result in two.results
    )
    assert correspondence.draws(dataclasses.replace(two, results=results)) == (
        "Larger tables are compared by rows that the seed draws, which adds an error: degree of correspondence, at "
        "most 2,000 a side (standard error 0.081 to 0.250); correspondence, averaged, at most 2,000 a side "
        "(standard error 0.004)."
    )


def compared_with_home(evidence: Evidence, *sites: tuple[str, float, float]) -> Evidence:
    """The evidence with this AUROC at these sites, and this p of its difference from .87 in the internal test."""
    results = [result for result in evidence.results if result.measure not in ("spr", "auroc")]
    for site, auroc, p_value in sites:
        details = {"p_performance": p_value, "p_similarity": 0.1, "internal_value": 0.87}
        results.append(Result("auroc", "auroc", site, {}, Estimate(auroc, 0.6, 0.99, 0.95, 100, Method("wald"))))
        strong = Estimate(p_value, None, None, None, 100, Method("wald"), details=details)
        results.append(Result("spr", "spr", site, {"measure": "auroc"}, strong))
    return dataclasses.replace(evidence, results=tuple(results))


def test_robustness_says_how_its_measure_is_read_and_calls_no_site_better_by_a_test_of_its_own() -> None:
    opened = finding("robustness", compared_with_home(KINDS["two"], ("site-0", 0.98, 0.001), ("site-1", 0.7, 0.3)))
    low = "low also where a site does better than inside"
    assert opened.lead == f"Strong potential robustness (SPR) of the AUROC, {low}, is <0.01 to 0.30."
    assert "significantly" not in opened.rest


def test_a_difference_of_shares_is_in_percentage_points() -> None:
    found = {
        "error_rate_unaided": (0.2, 0.15, 0.25),
        "error_rate_aided": (0.162, 0.12, 0.21),
        "absolute_risk_reduction": (0.038, 0.01, 0.065),
    }
    study = tuple(
        Result(name, name, READER_STUDY, {}, Estimate(value, low, high, 0.95, 100, Method("newcombe")))
        for name, (value, low, high) in found.items()
    )
    opened = human_factors.finding(dataclasses.replace(KINDS["two"], results=study))
    said_of = opened.rest.replace("\N{NO-BREAK SPACE}", " ")
    assert said_of == "The difference is 3.8 percentage points (95% CI 1.0 to 6.5)."
    *before, last = study
    bounds = {"low_clustered": 0.006, "high_clustered": 0.074}
    clusters = Estimate(0.038, 0.01, 0.065, 0.95, 100, Method("newcombe"), details=bounds)
    benefit = Estimate(0.038, 0.012, 0.065, 0.95, 13, Method("t"))
    both = (
        *before,
        dataclasses.replace(last, found=clusters),
        Result("decision_benefit", "decision_benefit", READER_STUDY, {}, benefit),
    )
    opened = human_factors.finding(dataclasses.replace(KINDS["two"], results=both))
    assert opened.rest.replace("\N{NO-BREAK SPACE}", " ") == (
        "The difference is 3.8 percentage points (95% interval by readers and cases 0.6 to 7.4; by readers alone, the "
        "cases taken as fixed, 1.2 to 6.5)."
    )


@pytest.mark.parametrize(
    ("counts", "printed", "says"),
    [
        # 484 flagged of 1,000, 483 with the outcome.
        ((436.0, 48.0, 47.0, 469.0), ["484", "436", "47", "48"], "misses 47 ("),
        # 8 of 2,000 have the outcome: of 1,000 it would be 3 and 1, and of 10,000 it is 30 and 10.
        ((6.0, 494.0, 2.0, 1498.0), ["2,500", "30", "10", "2,470"], "10,000 patients"),
    ],
)
def test_the_counts_of_patients_add_up_to_1000_or_of_a_rare_outcome_to_10000(
    counts: tuple[float, ...], printed: list[str], says: str
) -> None:
    """Brought to so many together, in each row: flagged are the found and the false alarms."""
    one = KINDS["one"]
    columns = {name: (count,) for name, count in zip(CELLS, counts, strict=True)}
    n, events = int(sum(counts)), int(counts[0] + counts[2])
    site = dataclasses.replace(one.datasets[0], n=n, events=events)
    counted = Curve({"threshold": (0.5,), **columns}, n, Method("counted"), events)
    curve = CurveResult("classification", site.name, counted)
    kept = tuple(result for result in one.curves if result.curve != "classification")
    release = one.release.model_copy(
        update={"thresholds": one.release.thresholds.model_copy(update={"declared": (0.5,)})}
    )
    table = utility.impact(dataclasses.replace(one, datasets=(site,), curves=(*kept, curve), release=release))
    (row,) = table.rows
    assert [cell.text for cell in row.cells] == printed
    assert says in table.title
    few = dataclasses.replace(site, name="few", site="Few", n=500, events=8)
    curves = (*kept, curve, dataclasses.replace(curve, dataset="few"))
    both = utility.impact(dataclasses.replace(one, datasets=(site, few), curves=curves, release=release))
    assert ("Few left out: few of one outcome" in both.title) is (events >= 20)


def test_a_new_hospital_stands_in_the_caption_only_where_its_bar_is_drawn() -> None:
    eight = KINDS["eight"]
    assert "broad bar, a new hospital" in results.caption(eight)
    assert "broad bar" not in results.caption(KINDS["two"])


def test_the_table_of_the_sites_counts_every_row_once() -> None:
    plain = KINDS["eight"].datasets[0]
    lost = {"outcome_missing": 4, "risk_missing": 3}
    evidence = dataclasses.replace(
        KINDS["eight"], datasets=(dataclasses.replace(plain, excluded=lost, rows_read=plain.n + 7),)
    )
    table = description.sites(evidence)
    read, outcome, risk, analysed, events = (int(cell.text.replace(",", "")) for cell in table.rows[0].cells[:5])
    assert [column.label for column in table.columns[:5]] == [
        "Rows read",
        "Outcome missing",
        "Risk missing",
        "Analysed",
        "Events",
    ]
    assert (read - outcome - risk, analysed, events) == (analysed, plain.n, plain.events)


def test_splits_are_spoken_of_only_where_there_are_some() -> None:
    evidence = KINDS["two"]
    assert description.sites(evidence).note == ""
    first = dataclasses.replace(evidence.datasets[0], splits=3)
    split = dataclasses.replace(evidence, datasets=(first, *evidence.datasets[1:]))
    assert description.sites(split).note == "Rows of refitted splits count each patient once a split."


def test_counts_that_ignore_the_weights_say_so() -> None:
    evidence = KINDS["two"]
    weighted = tuple(
        dataclasses.replace(dataset, weighted=index == 0) for index, dataset in enumerate(evidence.datasets)
    )
    said = "Sampling weights are not used here, where each patient counts once: Italy 1."
    assert description.sites(dataclasses.replace(evidence, datasets=weighted)).note == said
    assert unweighted(weighted) == f" {said}"
    assert unweighted(evidence.datasets) == ""


def test_beside_each_site_stands_how_it_differs_from_the_development_data(breast: Book) -> None:
    """Every difference of Table 1 is that of results.json, large ones are bold, and weights left aside are said."""
    evidence = breast.evidence
    first, second = externals(evidence)
    datasets = tuple(dataclasses.replace(each, weighted=each.name == first.name) for each in evidence.datasets)
    (table,) = description.characteristics(dataclasses.replace(evidence, datasets=datasets))
    assert f"Sampling weights are not used here, where each patient counts once: {first.site}." in table.note
    assert "Sampling weights" not in description.characteristics(evidence)[0].note
    known = {
        (row["dataset"], row["variable"], row["level"]): row["value"]
        for row in breast.results["description"]
        if row["statistic"] == "standardized_mean_difference"
    }
    of_grade = [row for row in table.rows if row.label.startswith("grade: ")]
    for column, site in ((1, first), (3, second)):
        assert table.columns[column].label == "SMD"
        for row, level in zip(of_grade, "123", strict=True):
            value, cell = known.get((site.name, "grade", level)), row.cells[column]
            assert cell.text == (DASH if value is None else f"{value:.2f}".replace("-", "\N{MINUS SIGN}"))
            assert (cell.kind == "value") == (value is not None and abs(value) >= 0.5)


def test_a_similarity_near_a_cut_off_is_printed_so_that_one_sees_its_side() -> None:
    # The style guide: if rounding hides the side of a cut-off, print more digits.
    evidence = given(KINDS["two"], "correspondence_averaged", site_0=(0.3997, 0.3, 0.45), site_1=(0.4004, 0.3, 0.45))
    assert "0.3997" in said("correspondence", evidence)


def test_the_rival_is_judged_as_on_page_1() -> None:
    two = KINDS["two"]
    prediction = two.release.prediction.model_copy(update={"rival": "old"})
    evidence = dataclasses.replace(two, release=two.release.model_copy(update={"prediction": prediction}))
    results = []
    for result in evidence.results:
        if result.measure == "auroc_difference" and result.dataset == "site-1" and isinstance(result.found, Estimate):
            result = dataclasses.replace(
                result, found=dataclasses.replace(result.found, value=0.01, low=-0.01, high=0.03)
            )
        if result.measure == "auroc_difference" and isinstance(result.found, Estimate):
            details = {"p_adjusted": 0.2 if result.dataset == "site-1" else 0.01}
            result = dataclasses.replace(result, found=dataclasses.replace(result.found, details=details))
        results.append(result)
    text = said("comparison", dataclasses.replace(evidence, results=tuple(results)))
    better = "one found the model better by the interval alone (one after Holm's correction too)"
    assert f"{better}, none found this model worse after Holm's correction" in text
    assert "The difference of the AUROC is 0.010 (Spain) and 0.050 (Italy 1)." in text


def test_risks_are_off_where_the_joint_test_rejects_and_far_off_outside_what_is_tolerated() -> None:
    off = given(KINDS["two"], "oe_ratio", site_0=(1.30, 1.04, 1.54), site_1=(0.11, 0.05, 0.25))
    assert (
        said("results", jointly_tested(off, site_0=0.009, site_1=0.009))
        .replace("\N{NO-BREAK SPACE}", " ")
        .endswith("Risks are far too high in Spain (O/E 0.11); too low in Italy 1 (O/E 1.30).")
    )
    assert "Risks are" not in said("results", jointly_tested(off, site_0=0.02, site_1=0.02))
    near = given(KINDS["two"], "oe_ratio", site_0=(1.30, 1.01, 1.70), site_1=(0.75, 0.60, 0.97))
    text = said("results", jointly_tested(near, site_0=0.02, site_1=0.01)).replace("\N{NO-BREAK SPACE}", " ")
    assert text.endswith("Risks are too high in Spain (O/E 0.75).")
    assert "a joint test of intercept and slope rejects" in results.essentials(off).note


def test_two_sites_are_not_pooled_and_said_as_they_are() -> None:
    """One degree of freedom: the interval of the mean goes from .11 to .97 where the sites have .70 and .60."""
    two = KINDS["two"]
    assert find(two, "auroc", POOLED) == Absent(Fact("too_few_sites_to_pool", usable=Count(2, "site")))
    fixed = Estimate(0.66, 0.62, 0.7, 0.95, 900, Method("pairs_within_sites"), 200, 0.02, {"k": 2.0})
    beside = Result("auroc", "auroc", POOLED, {"estimator": "stratified"}, fixed)
    two = dataclasses.replace(two, results=(*two.results, beside))
    assert finding("results", two).lead.startswith("The AUROC is 0.")
    assert finding("pooled", two).lead == "Sites are not pooled: pooling needs three sites, and 2 can enter it."
    assert finding("pooled", two).rest.startswith("Stratified, sites taken as fixed, the AUROC is 0.66 (95%")
    assert finding("results", KINDS["eight"]).lead.startswith("The pooled AUROC is")


def test_how_much_sites_differ_is_printed_with_its_interval() -> None:
    """A tau of 0.00 alone says that sites do not differ, where three sites can hardly tell."""
    auroc = Estimate(
        *(0.8, 0.7, 0.9, 0.95, 900, Method("reml_of_test"), 200),
        details={
            "k": 3.0,
            "df": 2.0,
            "tau": 0.0,
            "tau_low": 0.0,
            "tau_high": 0.716,
            "i2": 0.0,
            "i2_low": 0.0,
            "i2_high": 0.93,
        },
    )
    *_, tau, share = pooled_chapter._spread(auroc, KINDS["two"].terms["auroc"])
    assert (tau.text, share.text) == ("0.00 (0.00 to 0.72)", "0 (0 to 93)")


def test_the_kind_of_model_is_told_where_the_release_states_it() -> None:
    two = KINDS["two"]
    assert "Asked of development studies only." in {line.text for line in abstract.lines(two)}
    assert ("Architecture", model_card.OPEN, True) in model_card.stated(two)
    stated = dataclasses.replace(two, statements={**two.statements, "12c": "Logistic regression."})
    assert "Logistic regression." in {line.text for line in abstract.lines(stated)}
    assert ("Architecture", "Logistic regression.", False) in model_card.stated(stated)


def test_the_fifth_place_whose_risks_are_off_is_named_too() -> None:
    ratios = {f"site_{index}": (value, value - 0.01, value + 0.01) for index, value in enumerate((1.1, 1.2, 1.15))}
    ratios |= {f"site_{index}": (value, value - 0.01, value + 0.01) for index, value in enumerate((0.9, 0.95), 3)}
    ratios |= {f"site_{position}": (1.0, 0.9, 1.1) for position in (5, 6, 7)}
    assert "more" not in said("results", given(KINDS["eight"], "oe_ratio", **ratios))


def test_many_sites_whose_risks_are_off_are_counted_and_the_farthest_named() -> None:
    ratios = {f"site_{index}": (value, value - 0.01, value + 0.01) for index, value in enumerate((1.3, 1.5))}
    ratios |= {f"site_{index}": (value, value - 0.01, value + 0.01) for index, value in enumerate((0.7, 0.6), 4)}
    ratios |= {"site_2": (1.27, 1.1, 1.4), "site_3": (1.3, 1.2, 1.4), "site_6": (0.78, 0.7, 0.9)}
    ratios["site_7"] = (1.0, 0.9, 1.1)
    off = jointly_tested(given(KINDS["eight"], "oe_ratio", **ratios), **dict.fromkeys(ratios, 0.001))
    text = said("results", off).replace("\N{NO-BREAK SPACE}", " ")
    assert text.split(" interval). ")[1].startswith(
        "Risks are far too high in Brazil 2 and one more; far too low in Italy 2 and one more; "
        "too low in Spain and one more; too high in Brazil 3."
    )
    assert len(text) <= LONGEST + 20, f"{len(text)} characters: {text}"


def test_a_number_of_sites_is_said_as_one_says_it() -> None:
    assert "no of one site" not in said("comparison", KINDS["one"])
    assert "One of one" not in said("sample", KINDS["one"])
