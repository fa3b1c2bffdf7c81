"""The chapters on methods and on measures to be read with caution: what they say, and in which numbers."""

from __future__ import annotations

import re
from dataclasses import asdict, replace

import numpy as np
import pytest
from pydantic import TypeAdapter

from dossier import evaluate
from dossier.core.facts import Count, Fact, Method
from dossier.core.register import fill
from dossier.core.types import Absent, Estimate, Evidence, Result, Term
from dossier.metrics.comparison import majority_class_test
from dossier.report.chapters import caution, glossary, methods, references
from dossier.report.chapters.chapter import chapters
from dossier.typeset.methods import method_text
from dossier.typeset.numbers import MINUS
from dossier.words import entries
from dossier.words.sources import Source, source
from tests.conftest import Book, by_hand
from tests.estimated import estimated
from tests.figures.evidence import Case
from tests.reasons import because
from tests.reference.built import hurried, study

REGISTER = fill("metrics")
TERMS = {name: entry.term for name, entry in (REGISTER.metrics | REGISTER.syntheses).items()}

DIFFER = (
    *("mcc", "youden_j", "balanced_average_accuracy", "scaled_brier", "log_score", "nagelkerke_r2", "tjur_r2", "eci"),
    *("weighted_utility", "h_accuracy", "weighted_concordance", "actual_accuracy", "required_reliability"),
    *("degree_of_correspondence", "spr", "wpr", "externally_supported", "mss_oe", "majority_class_test"),
)
"""The measures of which methods.md says that a paper, a figure or a program prints something else."""


@pytest.mark.parametrize(
    "term", [*TERMS.values(), *(entry.term for entry in REGISTER.class_metrics.values())], ids=lambda term: term.label
)
def test_every_measure_has_a_formula_and_sources_that_are_known(term: Term) -> None:
    check(term)


def test_every_entry_of_words_is_of_a_measure_or_a_curve() -> None:
    held = entries("measures")
    assert set(held["measures"]) <= TERMS.keys() | REGISTER.followed_metrics.keys()
    assert set(held["measures_of_classes"]) <= REGISTER.class_metrics.keys()
    curves = (REGISTER.curves, REGISTER.curve_syntheses, REGISTER.descriptions)
    assert set(held["curves"]) == {name for shelf in curves for name in shelf}
    assert set(held["curves_of_classes"]) == {*REGISTER.class_curves, *REGISTER.class_curve_syntheses}


def check(term: Term) -> None:
    """What the methods and the references ask of a measure."""
    assert TypeAdapter(Term).validate_python(asdict(term)) == term
    assert term.formula, "the methods appendix would have an empty cell"
    assert term.formula[-1] != "."
    assert all(term.formula.count(first) == term.formula.count(last) for first, last in ("()", "[]"))
    assert {*term.at} <= {*entries("terms")["setting"]}, "write what it is called in dossier/words/terms.toml"
    assert not re.search(r"[a-z]_[a-z]", term.formula), "a name of the code"
    assert term.cites
    assert all(citation in entries("sources") or len(citation) > 40 for citation in term.cites if citation != "Jin"), (
        term.cites
    )


@pytest.mark.parametrize("name", DIFFER)
def test_every_misprint_has_its_note(name: str) -> None:
    assert re.match(r"differs from the published .* because ", TERMS[name].differs)
    assert TERMS[name].differs[-1] != "."


def test_the_test_of_right_answers_against_chance_is_the_one_that_is_computed() -> None:
    """Of 20 rows 12 are of the larger class; the model answers 5 otherwise, 4 of them rightly: P(X >= 4) is 6/32."""
    outcome = np.repeat([0.0, 1.0], [12, 8])
    risk = np.where(np.isin(np.arange(20), [11, 12, 13, 14, 15]), 0.9, 0.1)
    found = estimated(majority_class_test(outcome, risk, 0.5))
    assert found.details["p_value"] == pytest.approx(6 / 32)
    term = TERMS["majority_class_test"]
    assert "m rows not answered with the larger class, X binomial with m rows and 1/2" in term.formula
    assert "binomial test of all right answers against the share of the larger class" in term.differs
    assert "p_value_larger_class" in term.differs
    assert "p_value_larger_class" in found.details


def test_no_other_measure_differs_unseen() -> None:
    assert {name for name, term in TERMS.items() if term.differs} == set(DIFFER)


def test_minus_signs_are_true_and_hyphens_stay() -> None:
    term = replace(TERMS["scaled_brier"], formula="1 - x/(y-1), well-known -1")
    assert methods.formula(term) == f"1 {MINUS} x/(y{MINUS}1), well-known {MINUS}1"


@pytest.fixture(scope="module")
def covid() -> Evidence:
    return evaluate.evidence(hurried(study("tests/releases/covid"), bootstrap=20, permutations=9))


# ---- methods --------------------------------------------------------------------------------------------------------


def test_every_measure_that_was_estimated_is_printed_once(covid: Evidence) -> None:
    tables = methods.tables(covid, chapters())
    beside = methods.only_in_files(covid)
    labels = [row.label for table in tables for row in table.rows] + list(beside)
    assert len(labels) == len(set(labels))
    seen = {result.term for result in covid.results if isinstance(result.found, Estimate)}
    assert len(labels) == len(seen)
    for table in tables:
        for row in table.rows:
            formula, _, source = (cell.text for cell in row.cells)
            assert formula
            assert source


def test_measures_of_chapters_that_stay_away_are_left_out(covid: Evidence) -> None:
    tables = methods.tables(covid, [chapter for chapter in chapters() if chapter.name == "calibration"])
    assert [table.title for table in tables] == ["Calibration."]
    assert "Expected calibration error" not in {row.label for row in tables[0].rows}


def test_the_interval_is_the_one_that_was_taken(covid: Evidence) -> None:
    cells = {row.label: row.cells for table in methods.tables(covid, chapters()) for row in table.rows}
    assert cells["Brier score"][1].text == "Student t"
    assert cells["AUROC"][1].text == "DeLong, logit; or declared, its bounds read as a 95% interval"
    assert cells["Sensitivity"][1].text == "Wilson"
    assert cells["Specificity"][1].text == "As above"
    assert "20 draws" in cells["Integrated calibration index"][1].text


def told(**ways: Method) -> str:
    """The interval of the AUROC over evidence in which each dataset took it in this way."""
    results = [
        Result("auroc", "auroc", name.replace("_", "-"), {}, Estimate(0.7, 0.6, 0.8, 0.95, 100, way))
        for name, way in ways.items()
    ]
    two = replace(by_hand(Case("two", ("Italy 1", "Spain"))), results=tuple(results))
    return methods._intervals(two, [TERMS["auroc"]])[0]


SPLINE = Fact("spline", knots=4, at=(0.05, 0.35, 0.65, 0.95))
LINE = Fact("straight_line")
WALD, EXACT = Method("wald"), Method("exact_variance")
TESTED = Fact("inverted_tests", draws=9)


def test_every_way_is_said_whole_in_the_parts_that_differ() -> None:
    curve, line = Method(SPLINE, TESTED), Method(LINE, TESTED)
    assert told(site_0=curve, site_1=curve) == method_text(curve)
    assert told(internal=curve, site_0=curve, site_1=line) == f"{method_text(curve)}; at Spain: {method_text([LINE])}"
    assert told(internal=WALD, site_0=WALD, site_1=EXACT) == f"Wald; at Spain: {method_text(EXACT)}"
    assert told(internal=EXACT, site_0=WALD, site_1=WALD) == f"Wald; or {method_text(EXACT)}"


def test_replicates_that_were_lost_are_no_other_way() -> None:
    whole, some = (Method("bootstrap", Fact("replicates", kept=9 - lost, lost=lost)) for lost in (0, 2))
    assert told(site_0=some, site_1=whole) == "bootstrap, 9 replicates"


def test_a_side_is_said_once_with_its_reason() -> None:
    bins = Method(Fact("bins_of_equal_width", bins=10), TESTED)
    both = f"{method_text(bins)}; one-sided where it does not refute perfect calibration"
    assert told(internal=bins, site_0=bins + "one_sided", site_1=bins + "one_sided") == both


def test_what_is_counted_is_what_is_printed() -> None:
    """Also a test against chance, whose chapter stays away without a rival."""
    two = by_hand(Case("two", ("Italy 1", "Spain")))
    test = Result(
        "brier_permutation_test",
        "brier_permutation_test",
        "site-0",
        {"against": "chance"},
        Estimate(1, None, None, None, 9, Method("wald")),
    )
    kept = [result for result in two.results if result.term == "accuracy" and result.dataset == "site-0"][:1]
    evidence = replace(two, terms=TERMS, results=(test, *kept))
    printed = [row.label for table in methods.tables(evidence, chapters()) for row in table.rows]
    assert methods.only_in_files(evidence) == ("Brier score, against chance",)
    assert "Brier score, against chance" not in printed
    assert methods.finding(evidence).lead.startswith(f"Definitions and CI methods of {len(printed)}")
    without = [chapter for chapter in chapters() if chapter.name != "comparison"]
    assert len([row for table in methods.tables(evidence, without) for row in table.rows]) == len(printed)


def test_what_was_pooled_names_the_sites_as_readers_know_them(covid: Evidence) -> None:
    said = methods.pooling(covid)
    assert (
        "AUROC: REML on the logit scale, Hartung-Knapp, factor at least 1, t with 6 degrees of freedom; "
        "prediction interval from the " in said
    )
    assert "Q-profile intervals; not pooled: Brazil 3" in said
    assert "brazil-3" not in said


# ---- caution --------------------------------------------------------------------------------------------------------


def caveat(evidence: Evidence, name: str) -> str:
    return caution.caveat(evidence, TERMS[name])


def cautioned() -> list[Term]:
    return [term for term in TERMS.values() if term.tier == "caution"]


def test_every_caution_measure_shows_its_danger_in_numbers(covid: Evidence) -> None:
    for term in caution.cautioned(covid):
        said = caveat(covid, term.name)
        assert re.search(r"\d", said), term.name
        assert said.endswith(".")
        assert not re.search(r"nan|None|inf\b", said)
    assert {term.danger for term in cautioned()} == set(caution.CAVEATS)


def test_the_caveats_of_covid_are_those_of_the_tables(covid: Evidence) -> None:
    """Brazil 3: 334 of 345 are cases, 109 flagged at .5, all of them cases (methods.md: sensitivity .3263)."""
    assert caveat(covid, "accuracy").startswith(
        "At Brazil 3, calling everybody a case would be right for 97%, the model for 35% at threshold 0.50."
    )
    # 334 cases for each 11 others; treating everybody is worth 334/345 - 11/345.
    assert "counts one false alarm as much as 30 missed cases; threshold 0.50 says 1 missed case" in caveat(
        covid, "balanced_accuracy"
    )
    # Sensitivity .3263473, specificity 1: at 10 %, ppv is 1 and npv .9/(.9 + .1 x .6736527).
    assert f"would give {0.9 / (0.9 + 0.06736527):.2f} at 10%" in caveat(covid, "markedness")
    assert "0.97 at Brazil 3" in caveat(covid, "auprc")
    assert "one risk of 97% for everybody would have 0" in caveat(covid, "ece")
    # 109 flagged, 334 cases, 345 rows: all 109 may be cases, and they are.
    chance = (109 * 334 + 236 * 11) / 345**2
    assert f"could not pass {((109 + 11) / 345 - chance) / (1 - chance):.2f}" in caveat(covid, "cohen_kappa_of_model")


def test_a_measure_without_numbers_has_no_caveat(covid: Evidence) -> None:
    gone = replace(covid, results=tuple(replace(result, found=Absent(because("gone"))) for result in covid.results))
    for term in cautioned():
        assert caveat(gone, term.name) == ""


def test_every_caution_measure_names_what_to_read_instead(covid: Evidence) -> None:
    named = {term.name: caution.instead(covid, term) for term in caution.cautioned(covid)}
    assert named["accuracy"] == " Read instead: net benefit."
    assert all(named.values())


def test_rows_left_out_of_similarity_are_counted_once_for_all_its_measures() -> None:
    few = Fact("incomplete_rows", rows=Count(3, "row"))
    made = Method(Fact("permutation", draws=9), few)
    found = Estimate(0.7, 0.6, 0.8, 0.95, 100, made)
    site = by_hand(Case("two", ("Italy 1", "Spain"))).datasets[0].name
    results = tuple(Result(term, term, site, {}, found) for term in ("correspondence", "energy_coefficient"))
    two = replace(by_hand(Case("two", ("Italy 1", "Spain"))), results=results)
    assert (
        methods.incomplete(two)
        == "Rows with less than half of the predictors are left out of similarity: 3 at Italy 1."
    )
    assert methods.incomplete(replace(two, results=())) == ""


# ---- references -----------------------------------------------------------------------------------------------------


def test_every_source_that_the_methods_name_is_listed_with_its_doi(covid: Evidence) -> None:
    names = {chapter.name for chapter in chapters()}
    every = references.cited(covid, names)
    assert [reference.source.text for reference in every] == sorted(reference.source.text for reference in every)
    rows = [row for table in methods.tables(covid, chapters()) for row in table.rows]
    named = {short for row in rows for short in row.cells[2].text.split("; ")}
    # How a measure differs from a paper names that paper in the glossary.
    named |= {
        short for term in glossary.printed(covid, names) for short in re.findall(r"\[(\D+ \d{4})\]", term.differs)
    }
    assert {reference.source for reference in every} == {source(short) for short in named}
    brier = next(reference for reference in every if reference.source == source("Brier 1950"))
    assert brier.link == "https://doi.org/10.1175/1520-0493(1950)078%3C0001:VOFEIT%3E2.0.CO;2"
    assert all(reference.link == "" for reference in every if not reference.source.doi)


def test_every_doi_is_one() -> None:
    known = [Source(**entry).doi for entry in entries("sources").values() if "doi" in entry]
    assert len(known) == len(set(known))
    assert all(re.fullmatch(r"10\.\d{4,5}/\S+", doi) for doi in known)


ALSO = {
    "weighted_concordance": ("weighted concordance", "source reliability"),
    "decision_benefit": ("pragmatic utility", "benefit diagram"),
    "error_rate_aided": ("AIER",),
    "error_rate_unaided": ("CER",),
    "net_benefit_gain": ("value of information",),
    "externally_supported": ("external performance diagram",),
    "auroc": ("AUC", "c-statistic"),
    "sensitivity": ("recall",),
    "ppv": ("precision",),
}


def test_the_papers_names_are_those_of_the_papers() -> None:
    assert {name: term.also for name, term in TERMS.items() if term.also} == ALSO


@pytest.mark.slow
def test_the_methods_print_the_papers_name_of_a_measure_once(knee: Book) -> None:
    text = knee.html("supplement")
    for name, words in ALSO.items():
        assert text.count(f"; in the papers: {', '.join(words)})") == 1, name
