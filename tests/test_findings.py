"""The sentences that open the chapters: always a sentence, never too long, and in the numbers of the evidence."""

from __future__ import annotations

import dataclasses
import importlib
import re

import pytest

from dossier import compose
from dossier.contents import CHAPTERS, Edition
from dossier.findings import abstract, model_card
from dossier.findings.sentence import Sentence
from dossier.release import Model
from dossier.types import Absent, Estimate, Evidence, Flag, Gallery, Result
from tests.conftest import by_hand
from tests.figures.evidence import COVID, Case

NAMES = [*(chapter.name for chapter in CHAPTERS), "committee"]
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
    said: Sentence = importlib.import_module(f"dossier.findings.{chapter}").finding(evidence)
    return said


def said(chapter: str, evidence: Evidence) -> str:
    """The opening of a chapter on one line."""
    opened = finding(chapter, evidence)
    return " ".join(f"{opened.lead} {opened.rest}".split())


def undone(evidence: Evidence, measure: str, *sites: str) -> Evidence:
    """The evidence without a measure at these sites."""
    results = tuple(
        dataclasses.replace(one, found=Absent("none")) if one.measure == measure and one.dataset in sites else one
        for one in evidence.results
    )
    return dataclasses.replace(evidence, results=results)


def given(evidence: Evidence, measure: str, **values: tuple[float, float, float]) -> Evidence:
    """The evidence with these values and bounds in place of its own, by dataset."""
    results = []
    for one in evidence.results:
        name = one.dataset.replace("-", "_")
        if one.measure == measure and not one.at.get("against") and name in values and isinstance(one.found, Estimate):
            value, low, high = values[name]
            one = dataclasses.replace(one, found=dataclasses.replace(one.found, value=value, low=low, high=high))
        results.append(one)
    return dataclasses.replace(evidence, results=tuple(results))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chapter", NAMES)
def test_every_chapter_opens_with_a_sentence_of_at_most_three_lines(chapter: str, kind: str) -> None:
    opened = finding(chapter, KINDS[kind])
    text = said(chapter, KINDS[kind])
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
        f"{named} gives the probability of infection. Version 2.1.0 is tested here unchanged on eight external "
        "datasets; the texts of this chapter are the author's."
    )
    assert said("model_card", evidence).startswith(f"{named} gives the probability of infection.")
    assert abstract.lines(evidence)[0].text == (f"External validation of a prediction model for infection: {named}.")
    assert model_card.about(evidence)[0][1] == (
        "Knee model 2.1.1. Version 2.1.0 was tested: the numbers of this card are its own."
    )
    title = f"External validation of {named} for infection"
    editions: tuple[Edition, ...] = ("regulatory", "committee")
    for edition in editions:
        document = compose.document(Gallery(evidence, {}, {}), edition)
        assert document.title == title
        assert "Knee model 2.1.1 " not in document.html
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


def test_sites_are_named_at_both_ends_of_a_range() -> None:
    evidence = given(
        KINDS["eight"],
        "auroc",
        **{f"site_{place}": (0.80 + place / 100, 0.7, 0.9) for place in range(8)},
    )
    assert said("discrimination", evidence).startswith("The AUROC runs from 0.80 (Italy 1) to 0.87 (Ethiopia). ")


def test_one_site_gives_its_value_with_its_interval() -> None:
    evidence = given(KINDS["one"], "auroc", site_0=(0.7512, 0.7034, 0.7949))
    assert said("discrimination", evidence).startswith("The AUROC is 0.75 (95% CI 0.70 to 0.79) in Desio, Italy.")
    assert said("results", evidence).startswith("The AUROC is 0.75 (95% CI 0.70 to 0.79) in Desio, Italy.")


def test_two_sites_that_print_alike_are_not_a_range() -> None:
    evidence = given(KINDS["two"], "auroc", site_0=(0.7512, 0.7, 0.8), site_1=(0.7487, 0.7, 0.8))
    assert said("discrimination", evidence).startswith("The AUROC is 0.75 at both sites.")


def test_a_site_without_a_number_is_no_end_of_a_range() -> None:
    evidence = given(KINDS["two"], "auroc", site_0=(0.7512, 0.70, 0.80), site_1=(0.5, 0.4, 0.6))
    assert "Spain" not in said("discrimination", undone(evidence, "auroc", "site-1")).split(".  ")[0].split("Pooled")[0]


def test_a_prediction_interval_is_asked_of_three_sites() -> None:
    assert "0.28 and 0.99 (95% prediction interval)" in said("results", KINDS["eight"])
    assert "fewer than three sites" in said("results", KINDS["two"]).lower()
    assert "prediction interval" not in said("results", KINDS["two"])
    assert "prediction interval" not in said("pooled", KINDS["two"])


def test_what_is_pooled_is_said_with_its_interval() -> None:
    # Of tests/figures/evidence.py: AUROC 0.88 (0.73 to 0.96), O/E 1.05 (0.88 to 1.26).
    text = said("pooled", KINDS["eight"])
    assert text.startswith("Pooled, the AUROC is 0.88 (95% CI 0.73 to 0.96) and O/E 1.05 (95% CI 0.88 to 1.26).")


def test_slopes_beyond_one_are_named_and_others_are_not() -> None:
    slopes = {"site_0": (0.7, 0.6, 0.8), "site_1": (1.4, 1.2, 1.6)}
    two = said("calibration", given(KINDS["two"], "calibration_slope", **slopes))
    assert "The slope is below 1 in Italy 1: there the risks are too far apart." in two
    assert re.search(r"above 1 in Spain: there they are too close together", two)
    fine = said("calibration", given(KINDS["two"], "calibration_slope", site_0=(1, 0.9, 1.1), site_1=(1, 0.9, 1.1)))
    assert "Every interval of the calibration slope holds 1." in fine


def test_only_slopes_above_one_are_said_to_be_slopes() -> None:
    slopes = {"site_0": (1.4, 1.2, 1.6), "site_1": (1.4, 1.2, 1.6)}
    assert "The slope is above 1 in" in said("calibration", given(KINDS["two"], "calibration_slope", **slopes))


def test_a_default_that_does_better_is_named() -> None:
    evidence = KINDS["two"]
    results = tuple(
        dataclasses.replace(
            one,
            found=dataclasses.replace(
                one.found, value=0.1, details={"treat_all": 0.2 if one.dataset == "site-1" else 0.05}
            ),
        )
        if one.measure == "net_benefit" and isinstance(one.found, Estimate)
        else one
        for one in evidence.results
    )
    text = said("utility", dataclasses.replace(evidence, results=results))
    assert "Spain: there treating everyone or no one has the higher net benefit." in text
    assert "Italy 1: there" not in text


@pytest.mark.parametrize(
    ("first", "text"),
    [
        (
            0.05,
            "At no site does treating everyone or no one have the higher net benefit. Treating everyone or no one is ",
        ),
        (0.2, "there treating everyone or no one has the higher net benefit. Treating everyone or no one is also "),
    ],
)
def test_a_default_that_does_better_at_another_threshold_is_named(first: float, text: str) -> None:
    evidence = KINDS["two"]
    thresholds = evidence.release.thresholds.model_copy(update={"declared": (0.5, 0.2)})
    one = next(one for one in evidence.results if one.measure == "net_benefit")

    def at(site: str, threshold: float, treat_all: float) -> Result:
        found = Estimate(0.1, 0.0, 0.2, 0.95, 100, "by hand", details={"treat_all": treat_all})
        return dataclasses.replace(one, dataset=site, at={"threshold": threshold}, found=found)

    kept = [one for one in evidence.results if one.measure != "net_benefit"]
    results = (*kept, at("site-0", 0.5, first), at("site-0", 0.2, 0.0), at("site-1", 0.5, 0.0), at("site-1", 0.2, 0.3))
    changed = dataclasses.replace(
        evidence, results=results, release=evidence.release.model_copy(update={"thresholds": thresholds})
    )
    assert f"{text}better at a threshold of 0.20 (Spain)." in said("utility", changed).replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_samples_that_are_too_small_are_named() -> None:
    evidence = KINDS["two"]
    results = []
    for one in evidence.results:
        if one.measure == "mss_auroc" and isinstance(one.found, Estimate):
            needed = one.found.n - 1.0 if one.dataset == "site-0" else one.found.n + 1.0
            one = dataclasses.replace(one, found=dataclasses.replace(one.found, value=needed))
        results.append(one)
    text = said("sample", dataclasses.replace(evidence, results=tuple(results)))
    assert text == "One of two sites reaches the size that the AUROC asks for. Too few: Spain."


def test_labels_are_as_reliable_as_the_worked_example_says() -> None:
    # methods.md: rho .57 and a measured accuracy of .90 stand for .801993.
    text = said("reliability", KINDS["eight"])
    assert text.startswith("The reliability of the labels is 0.57 (95% CI 0.52 to 0.61).")
    assert "A measured accuracy of 0.90 then stands for 0.80 (95% CI 0.78 to 0.82) against the truth." in text


def test_the_committee_hears_whole_people() -> None:
    # Of tests/figures/evidence.py: 70 found, 201 missed.
    text = said("committee", KINDS["eight"])
    assert re.search(r"finds 70 of 271 with the outcome and misses 201\.", text), text


def test_limitations_are_counted() -> None:
    flags = (Flag("few_events", "site-0", "a."), Flag("risks_off", "site-0", "b."), Flag("few_sites", "pooled", "c."))
    text = said("limitations", dataclasses.replace(KINDS["two"], flags=flags))
    assert re.match(r"The run raised (3|three) limitations by itself", text), text
    assert said("limitations", KINDS["two"]) == "The run raised no limitation by itself."


def test_one_of_a_kind_is_not_in_the_plural() -> None:
    flags = (Flag("few_events", "site-0", "a."),)
    text = said("limitations", dataclasses.replace(KINDS["one"], flags=flags))
    assert "1 limitations" not in text
    assert "1 datasets" not in text
    assert "One external site," in said("description", KINDS["one"])
    assert "one external dataset;" in said("context", KINDS["one"])


def test_the_rows_that_are_lost_are_counted() -> None:
    evidence = KINDS["two"]
    first = dataclasses.replace(evidence.datasets[0], n=90, events=9, rows_read=100, excluded={"outcome missing": 10})
    second = dataclasses.replace(evidence.datasets[1], n=900, events=450, rows_read=900, excluded={})
    text = said("description", dataclasses.replace(evidence, datasets=(first, second)))
    assert text == (
        "Two external sites, 990 patients, 459 events. 10 rows of 1,000 could not be analysed. "
        "Prevalence runs from 10% (Italy 1) to 50% (Spain)."
    )


def test_similarity_is_named_by_the_band_it_lies_in() -> None:
    evidence = given(KINDS["two"], "correspondence_averaged", site_0=(0.1, 0.05, 0.15), site_1=(0.55, 0.5, 0.6))
    assert said("correspondence", evidence).startswith(
        "Averaged similarity runs from 0.10 (Italy 1) to 0.55 (Spain): slight and moderate"
    )


def test_a_similarity_near_a_cut_off_is_printed_so_that_one_sees_its_side() -> None:
    # The style guide: if rounding hides the side of a cut-off, print more digits.
    evidence = given(KINDS["two"], "correspondence_averaged", site_0=(0.3997, 0.3, 0.45), site_1=(0.4004, 0.3, 0.45))
    assert "0.3997" in said("correspondence", evidence)


def test_the_rival_is_judged_by_its_interval() -> None:
    evidence = KINDS["two"]
    results = []
    for one in evidence.results:
        if one.at.get("against") == "rival" and one.dataset == "site-1" and isinstance(one.found, Estimate):
            one = dataclasses.replace(one, found=dataclasses.replace(one.found, value=0.01, low=-0.01, high=0.03))
        results.append(one)
    text = said("comparison", dataclasses.replace(evidence, results=tuple(results)))
    assert "higher beyond chance at one and lower at none of two sites" in text
    assert "from 0.01 (Spain) to 0.05 (Italy 1)" in text


def test_many_sites_whose_risks_are_off_are_counted_not_listed() -> None:
    evidence = KINDS["eight"]
    flags = tuple(Flag("risks_off", site.name, "off.") for site in evidence.datasets)
    text = said("results", dataclasses.replace(evidence, flags=flags))
    assert len(text) <= LONGEST, f"{len(text)} characters: {text}"


def test_a_number_of_sites_is_said_as_one_says_it() -> None:
    assert "no of one site" not in said("comparison", KINDS["one"])
    assert "One of one" not in said("sample", KINDS["one"])
