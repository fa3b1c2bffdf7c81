"""An outcome of several classes from the tables to the page: values, results.json, sentences and pictures."""

from __future__ import annotations

import json
import re
import runpy
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dossier import evaluate, reading
from dossier.core import types
from dossier.core.errors import DossierError
from dossier.evaluate.offered import part_of
from dossier.evaluate.site import site_evidence
from dossier.metrics import calibration, discrimination, utility
from dossier.record import results
from dossier.report.chapters import abstract, committee, description, subgroups, supporting
from dossier.report.chapters.committee import first_page, missed
from dossier.typeset.methods import method_text
from dossier.typeset.reasons import reason_text
from tests.conftest import Book
from tests.estimated import absent, curved, estimated, present, refused
from tests.metrics.test_classes import PUBLISHED
from tests.reasons import Said
from tests.reference.built import hurried
from tests.smallest import ABOUT, release_in
from tests.test_results import faults

REPOSITORY = Path(__file__).resolve().parent.parent
BIOPSY = REPOSITORY / "fixtures" / "biopsy"
GRADES = ("G0", "G1", "G2", "G3")

RELEASE = f"""{ABOUT}[outcome]
name = "Grade"
column = "grade"
classes = ["G0", "G1", "G2", "G3"]
[prediction]
columns = ["p0", "p1", "p2", "p3"]
[severity]
weights = [[0, 0.3, 0.6, 1.0], [0.3, 0, 0.3, 0.6], [0.6, 0.3, 0, 0.3], [1.0, 0.6, 0.3, 0]]
[resampling]
bootstrap = 10
permutations = 9
[[dataset]]
name = "site"
role = "external"
file = "site.csv"
"""


def built(folder: Path, rows: Sequence[tuple[str, tuple[float, ...]]], release: str = RELEASE) -> types.Evidence:
    """The evidence of a release of one site."""
    lines = ["grade,p0,p1,p2,p3", *(",".join([grade, *map(repr, risks)]) for grade, risks in rows)]
    return evaluate.evidence(reading.study(release_in(folder, release, site__csv="\n".join(lines) + "\n")))


def test_where_counts_are_protected_a_class_of_few_leaves_no_count_of_any(tmp_path: Path) -> None:
    risks = ((0.7, 0.1, 0.1, 0.1), (0.2, 0.5, 0.2, 0.1), (0.1, 0.2, 0.6, 0.1), (0.1, 0.1, 0.2, 0.6))
    counted = zip(GRADES, risks, (40, 40, 40, 3), strict=True)
    rows = [(grade, risk) for grade, risk, times in counted for _ in range(times)]
    found = built(tmp_path, rows, f"[disclosure]\nminimum_cell = 10\n{RELEASE}")
    (site,) = found.datasets
    assert (site.class_counts, site.events) == ({}, None)
    assert site.outcome_withheld is not None
    assert abstract._size(found) == f"{site.n:,}\N{NO-BREAK SPACE}patients"


@pytest.fixture(scope="module")
def biopsy(books: dict[str, Book]) -> Book:
    """The release that ships."""
    return books["biopsy"]


@pytest.mark.parametrize("wrong", [1e308, -1e308, 7.5])
def test_a_risk_far_outside_is_told_and_nothing_overflows(wrong: float, tmp_path: Path) -> None:
    caught = refused(built, tmp_path, [("G0", (wrong, wrong, 0.1, wrong)), ("G1", (wrong, 0.7, 0.2, 0.1))])
    assert "outside 0 to 1" in str(caught)


def test_no_class_has_the_name_of_the_mean_of_all(tmp_path: Path) -> None:
    """Its own values would stand under the mean's name, and be lost."""
    with pytest.raises(DossierError) as caught:
        built(tmp_path, [("macro", (0.7, 0.1, 0.1, 0.1)), ("G1", (0.1, 0.7, 0.1, 0.1))], RELEASE.replace("G0", "macro"))
    assert "A class is called macro, the name that dossier has for the mean of all classes." in str(caught.value)


def test_the_priority_of_a_survey_of_several_classes(tmp_path: Path) -> None:
    asked = '[h_accuracy]\npriority_from = ["survey"]\nsurvey = { G3 = 0.4, G2 = 0.1, G1 = 0.2, G0 = 0.1 }\n'
    rng = np.random.default_rng(3)
    rows = [(GRADES[k % 4], tuple(map(float, rng.dirichlet(np.ones(4))))) for k in range(200)]
    found = built(tmp_path, rows, RELEASE + asked)
    declared = built(tmp_path, rows, RELEASE + "[h_accuracy]\npriority = [[0.125, 0.25, 0.125, 0.5]]\n")
    at: dict[str, Any] = {"tau": 1.0, "complexity": "constant"}
    of_survey = types.find(found, "h_accuracy", "site", priority="survey", **at)
    as_declared = types.find(declared, "h_accuracy", "site", priority="0.125, 0.25, 0.125, 0.5", **at)
    assert estimated(of_survey).value == pytest.approx(estimated(as_declared).value, abs=1e-12)


# ---- the tables -----------------------------------------------------------------------------------------------------


def test_the_tables_that_ship_are_what_the_simulation_makes() -> None:
    for name, content in runpy.run_path(str(BIOPSY / "simulate.py"))["tables"]().items():
        assert (BIOPSY / name).read_bytes() == content, name


def test_classes_are_read_in_their_order_and_rows_without_any_one_risk_are_counted(tmp_path: Path) -> None:
    told = [
        ("G2", (0.1, 0.2, 0.3, 0.4)),
        ("G0", (0.7, 0.1, 0.1, 0.1)),
        ("G3", (0.2, 0.2, 0.1, 0.5)),
        ("G1", (0.25,) * 4),
        ("G0", (0.4, 0.3, 0.2, 0.1)),
    ]
    rows = [",".join([grade, *map(str, risks)]) for grade, risks in told]
    rows[1:1] = [",0.25,0.25,0.25,0.25", "G1,0.25,,0.25,0.25"]
    release_in(tmp_path, RELEASE, site__csv="\n".join(["grade,p0,p1,p2,p3", *rows]) + "\n")
    site = reading.study(tmp_path).datasets[0]
    assert dict(site.excluded) == {"outcome_missing": 1, "risk_missing": 1}
    assert (site.outcome, site.risk, site.class_labels) == (None, None, GRADES)
    np.testing.assert_array_equal(present(site.classes), [2, 0, 3, 1, 0])
    np.testing.assert_array_equal(site.class_risk, [risks for _, risks in told])


def test_risks_within_a_millionth_of_1_are_used_as_they_are_given(tmp_path: Path) -> None:
    rows = [(grade, (0.1000005, 0.2, 0.3, 0.4)) for grade in GRADES * 2]
    found = built(tmp_path, rows)
    assert estimated(types.find(found, "oe_ratio", "site", **{"class": "G0"})).value == pytest.approx(
        1 / 0.400002, abs=1e-12
    )


# ---- values ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_matrices_through_a_release(name: str, tmp_path: Path) -> None:
    """methods.md, severity: 3.0 4.2 7.3333; accuracy .85; mean severity .045 .063 .110."""
    table, index, mean = PUBLISHED[name]
    rows = [
        (GRADES[j], tuple(0.7 if i == number else 0.1 for number in range(4)))
        for i in range(4)
        for j in range(4)
        for _ in range(table[i][j])
    ]
    found = built(tmp_path, rows)
    assert estimated(types.find(found, "error_severity_index", "site")).value == pytest.approx(index, abs=5e-5)
    assert estimated(types.find(found, "mean_severity", "site")).value == pytest.approx(mean, abs=5e-10)
    assert estimated(types.find(found, "accuracy", "site")).value == pytest.approx(0.85, abs=1e-12)
    matrix = curved(types.find_curve(found, "confusion_matrix", "site"))
    assert [int(value or 0) for value in matrix.columns["count"]] == [value for row in table for value in row]


def graft(name: str) -> types.Dataset:
    return next(dataset for dataset in reading.study(BIOPSY).datasets if dataset.name == name)


def test_each_class_is_taken_against_the_rest(biopsy: Book) -> None:
    site = graft("graft-2")
    for index, label in enumerate(GRADES):
        outcome, risk = (present(site.classes) == index).astype(float), present(site.class_risk)[:, index]
        for name, expected in (
            ("auroc", discrimination.auroc(outcome, risk)),
            ("oe_ratio", calibration.oe_ratio(outcome, risk)),
            ("calibration_slope", calibration.calibration_slope(outcome, risk)),
        ):
            found = types.find(biopsy.evidence, name, "graft-2", **{"class": label})
            # What is looked at over the hospitals is counted in the details.
            assert replace(estimated(found), details={}) == replace(estimated(expected), details={})


MEANS = ("auroc", "f1", "sensitivity")


@pytest.mark.parametrize("measure", MEANS)
def test_the_mean_is_that_of_the_classes_and_answers_where_no_class_is_asked_for(biopsy: Book, measure: str) -> None:
    found = [result for result in biopsy.evidence.results if result.measure == measure and result.dataset == "graft-1"]
    found = [result for result in found if "against" not in result.at and "model" not in result.at]
    values = {str(result.at["class"]): estimated(result.found) for result in found}
    assert list(values) == [types.MACRO, *GRADES]
    assert values[types.MACRO].value == pytest.approx(sum(values[label].value for label in GRADES) / 4, abs=1e-12)
    assert values[types.MACRO].events is None
    assert (values[types.MACRO].low or -9) < values[types.MACRO].value < (values[types.MACRO].high or 9)
    threshold = {name: value for name, value in found[0].at.items() if name != "class"}
    assert types.find(biopsy.evidence, measure, "graft-1", **threshold) == values[types.MACRO]


def test_a_comparison_that_was_not_tested_says_of_which_class(biopsy: Book) -> None:
    said = [note for table in subgroups.tables(biopsy.evidence) for note in table.footnotes]
    assert any(note.endswith("AUROC: Graft 3 (2 or more, G3).") for note in said)


def test_a_group_has_measures_of_all_classes_over_its_sites(biopsy: Book) -> None:
    """The sites by their rows; what is absent over all never speaks of the events of one class."""
    groups = [row for row in biopsy.evidence.subgroups.results if row.term == "brier" and not row.at]
    over_all = [row for row in groups if row.dataset == types.POOLED]
    assert over_all
    told = 0
    for row in over_all:
        here = [each.found for each in groups if each.subset == row.subset and each.dataset.startswith("graft")]
        known = [found for found in here if isinstance(found, types.Estimate)]
        if isinstance(row.found, types.Estimate):
            told += 1
            low, high = min(each.value for each in known), max(each.value for each in known)
            assert low <= row.found.value <= high
            assert row.found.n <= sum(each.n for each in known)
        else:
            assert row.found.reason.code != "too_few_to_tell"
    assert told


def test_only_discrimination_has_a_mean_over_the_classes(biopsy: Book) -> None:
    """The sum of O/E and intercepts over the classes is fixed, so that their mean hides what is off."""
    terms = biopsy.evidence.terms
    averaged = {result.term for result in biopsy.evidence.results if result.at.get("class") == types.MACRO}
    assert {name for name in averaged if terms[name].chapter != "discrimination"} == {"auroc_difference"}
    for measure in ("oe_ratio", "calibration_intercept", "calibration_slope", "ici", "tjur_r2", "net_benefit"):
        at = {"threshold": 0.25} if measure == "net_benefit" else {}
        for dataset in ("graft-1", types.POOLED):
            assert types.find(biopsy.evidence, measure, dataset, **at) == Said(
                f"{measure} was not computed for {dataset}"
            )
        labels = {
            str(result.at["class"])
            for result in biopsy.evidence.results
            if result.measure == measure and "class" in result.at
        }
        assert labels == set(GRADES)


def test_a_criterion_on_a_mean_that_is_not_taken_is_a_fault(tmp_path: Path) -> None:
    asked = '[[acceptance]]\nmeasure = "oe_ratio"\ndataset = "site"\nat = { class = "macro" }\nat_least = 0.8\n'
    with pytest.raises(DossierError) as caught:
        built(tmp_path, [("G0", (0.7, 0.1, 0.1, 0.1)), ("G1", (0.1, 0.7, 0.1, 0.1))] * 10, RELEASE + asked)
    assert "oe_ratio has no mean over the classes." in str(caught.value)
    assert "Name the class that it is about, in a criterion for each." in str(caught.value)


def test_the_rival_on_its_own_is_one_of_two_classes(biopsy: Book) -> None:
    """The chapter of several classes compares the models over all classes."""
    for measure in ("auroc", "oe_ratio", "calibration_slope"):
        found = types.find(biopsy.evidence, measure, "graft-1", model=biopsy.evidence.release.rival_label)
        assert found == Said("graft-1 has an outcome of several classes")


def test_sites_are_pooled_by_class_and_in_the_mean(biopsy: Book) -> None:
    for measure in ("auroc", "oe_ratio", "calibration_slope"):
        for label in (types.MACRO, *GRADES) if measure == "auroc" else GRADES:
            found = estimated(types.find(biopsy.evidence, measure, types.POOLED, **{"class": label}))
            assert found.details["k"] == 3


def test_the_rule_of_support_is_for_two_classes(biopsy: Book) -> None:
    supported = types.find(biopsy.evidence, "externally_supported", types.POOLED)
    assert isinstance(supported, types.Absent)


def test_the_advice_of_several_classes_is_the_one_with_the_largest_risk(biopsy: Book) -> None:
    site = graft("graft-2")
    assert site.class_risk is not None
    sure, right = site.class_risk.max(axis=1), site.class_risk.argmax(axis=1) == present(site.classes)
    worth = 0.0
    for low in np.arange(10) / 10:
        inside = (sure >= low) & (sure < low + 0.1) if low < 0.9 else sure >= low
        if inside.any():
            worth += float(sure[inside].sum()) * (1 - abs(float(right[inside].mean()) - float(sure[inside].mean())))
    found = estimated(types.find(biopsy.evidence, "advisor_value", "graft-2", calibration="ece"))
    assert found.value == pytest.approx(worth / len(sure), abs=1e-12)
    curve = curved(types.find_curve(biopsy.evidence, "advice_value", "graft-2"))
    # The first bin is the one that an even share of 1/4 falls into.
    assert curve.columns["lower"][0] == 0.2
    assert sum(share or 0 for share in curve.columns["share"]) == pytest.approx(1, abs=1e-12)


def test_weighted_utility_is_taken_one_class_against_the_rest(biopsy: Book) -> None:
    site = graft("graft-2")
    for index, label in enumerate(GRADES):
        outcome, risk = (present(site.classes) == index).astype(float), present(site.class_risk)[:, index]
        at: dict[str, float | str] = {"class": label, "gamma": 1.0, "relevance": "constant"}
        by_costs = utility.weighted_utility(outcome, risk, "cost_benefit", cost=site.cost, benefit=site.benefit)
        assert types.find(biopsy.evidence, "weighted_utility", "graft-2", tau="cost_benefit", **at) == by_costs
        # With one threshold and equal relevance it is the standardized net benefit of the class.
        plain = estimated(types.find(biopsy.evidence, "weighted_utility", "graft-2", tau=0.25, **at))
        net = types.find(biopsy.evidence, "standardized_net_benefit", "graft-2", threshold=0.25, **{"class": label})
        assert plain.value == pytest.approx(estimated(net).value, abs=1e-12)
    (table,) = supporting.weighted_utility_by_class(biopsy.evidence)
    assert [column.label for column in table.columns] == [f"Class {grade}" for grade in GRADES]


def test_advice_and_weighted_utility_of_classes_are_withheld_under_a_policy(tmp_path: Path) -> None:
    """Neither has a protection that is proved for several classes; the curve of the advice counts persons."""
    folder = tmp_path / "biopsy"
    shutil.copytree(BIOPSY, folder)
    with (folder / "release.toml").open("a") as declared:
        declared.write("\n[disclosure]\nminimum_cell = 10\n")
    found = evaluate.evidence(hurried(reading.study(folder), bootstrap=20, permutations=19))
    names = ("advisor_value", "weighted_utility")
    given = [result.found for result in found.results if result.measure in names and result.dataset == "graft-1"]
    assert given
    assert all(isinstance(estimate, types.Withheld) for estimate in given)
    curves = [curve.found for curve in found.curves if curve.curve == "advice_value" and curve.dataset == "graft-1"]
    assert curves
    assert all(isinstance(curve, types.Absent) for curve in curves)
    assert "Of several classes only" in description.policy(found)
    row = first_page._hospital(found, found.by_name["graft-1"], bar=0.0)
    assert [cell.text for cell in row.cells] == ["kept back"] * len(GRADES)
    assert "kept back" in missed._classes_missed(found)


def test_measures_of_several_classes_are_not_asked_of_two(knee: Book) -> None:
    assert not [result for result in knee.evidence.results if "class" in result.at]
    of_rival = {result.measure for result in knee.evidence.results if "model" in result.at}
    severity = {"error_severity_index", "mean_severity"}
    assert of_rival == {"auroc", "oe_ratio", "calibration_slope"} | severity
    assert all(dataset.class_counts == {} for dataset in knee.evidence.datasets)
    matrix = curved(types.find_curve(knee.evidence, "confusion_matrix", "knee-1"))
    # Of the 42 missed 9 are of age 70 or more, whose own matrix weighs them by .8.
    assert matrix.columns["severity"] == pytest.approx((0.0, (33 * 0.6 + 9 * 0.8) / 42, 0.3, 0.0))


def test_results_json_keeps_to_its_schema_and_holds_each_number_once(biopsy: Book) -> None:
    document = json.loads(results.of(biopsy.evidence).text())
    assert faults(document, results.schema()) == []
    keys = [
        (
            estimate["measure"],
            estimate["dataset"],
            json.dumps(estimate["at"], sort_keys=True),
            json.dumps(estimate["subset"]),
        )
        for estimate in document["estimates"]
    ]
    assert len(set(keys)) == len(keys)
    site = next(dataset for dataset in document["datasets"] if dataset["name"] == "graft-1")
    assert site["classes"] == {"G0": 243, "G1": 106, "G2": 77, "G3": 54}
    assert site["events"] is None


def test_the_matrix_of_all_sites_is_their_sum(biopsy: Book) -> None:
    curves = [types.find_curve(biopsy.evidence, "confusion_matrix", f"graft-{number}") for number in (1, 2, 3)]
    total = curved(types.find_curve(biopsy.evidence, "confusion_matrix_all_sites", types.POOLED))
    parts = [np.array(curve.columns["count"], dtype=float) for curve in curves if isinstance(curve, types.Curve)]
    np.testing.assert_array_equal(np.sum(parts, axis=0), np.array(total.columns["count"], dtype=float))


# ---- parts, splits, degenerate inputs -------------------------------------------------------------------------------


def site_of(dataset: types.Dataset) -> Any:
    from dossier.evaluate.offered import Site

    study = hurried(reading.study(BIOPSY), bootstrap=4, permutations=9)
    return Site(dataset, study.release, (), 900, None, ())


def test_a_part_of_a_dataset_can_be_evaluated() -> None:
    whole = graft("graft-1")
    found = site_evidence(site_of(part_of(whole, np.arange(len(present(whole.classes))) % 2 == 0))).site
    auroc = next(result.found for result in found.results if result.measure == "auroc" and result.at == {"class": "G0"})
    assert estimated(auroc).n == 240


def test_refitted_splits_of_several_classes_have_the_mean_over_the_splits() -> None:
    whole = graft("internal")
    split = np.arange(len(present(whole.classes))) % 2
    found = site_evidence(site_of(replace(whole, split=split))).site
    parts = [site_evidence(site_of(part_of(whole, split == number))).site for number in (0, 1)]
    for measure, at in (("brier", {}), ("auroc", {"class": types.MACRO}), ("oe_ratio", {"class": "G1"})):
        values = [
            estimated(
                next(result.found for result in each.results if result.measure == measure and result.at == at)
            ).value
            for each in parts
        ]
        mean = estimated(
            next(result.found for result in found.results if result.measure == measure and result.at == at)
        )
        assert mean.value == pytest.approx(sum(values) / 2, abs=1e-12)
        assert method_text(mean.method).startswith("mean over 2 refitted splits")


EVEN = (0.25,) * 4


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("G0", EVEN)] * 5, "no row is of class G1 or G2 or G3"),
        ([(grade, (0.4, 0.3, 0.2, 0.1)) for grade in ("G0", "G1", "G2") * 4], "no row is of class G3"),
    ],
)
def test_a_class_that_nobody_has_gives_no_mean_and_says_so(
    rows: list[tuple[str, tuple[float, ...]]], reason: str, tmp_path: Path
) -> None:
    found = built(tmp_path, rows)
    assert types.find(found, "auroc", "site") == Said(reason)
    precision = absent(types.find(found, "auprc", "site"))
    assert reason_text(precision.reason).startswith("no mean over the classes (")
    estimate = absent(types.find(found, "calibration_slope", "site", **{"class": "G3"}))
    assert estimate.reason == Said(f"G3 against the rest: none of the {len(rows)} rows has the outcome")
    assert estimated(types.find(found, "oe_ratio", "site", **{"class": "G3"})).value == 0
    assert {flag.flag for flag in found.flags} & {"class_missing", "one_class"}


def test_ties_everywhere_are_counted_and_nothing_warns(tmp_path: Path) -> None:
    found = built(tmp_path, [(grade, EVEN) for grade in GRADES * 5])
    accuracy = estimated(types.find(found, "accuracy", "site"))
    assert (accuracy.value, accuracy.details["ties"]) == (0.25, 20)
    assert estimated(types.find(found, "auroc", "site")).value == 0.5
    assert isinstance(types.find(found, "calibration_slope", "site"), types.Absent)


# ---- pages ----------------------------------------------------------------------------------------------------------

TAGS = re.compile(r"<[^>]+>")


@pytest.mark.parametrize("edition", ["regulatory", "committee"])
def test_no_page_speaks_of_events(biopsy: Book, edition: Any) -> None:
    text = " ".join(TAGS.sub(" ", biopsy.html(edition)).split())
    glossary = text.rfind("Every measure of these pages in one sentence")
    words = text[:glossary] if edition == "regulatory" else text
    spoken = re.findall(r"[^.]{0,60}\bnon-events?\b[^.]{0,30}|\b\d[\d,]* events?\b", words)
    assert spoken == []


def test_the_committee_reads_what_the_patients_of_one_hospital_are_called(biopsy: Book) -> None:
    """Every patient of the hospital is in one sentence, and the counts of each add up."""
    words = committee.works_here(replace(biopsy.evidence, local_site="graft-1"))[1:]
    found = [re.fullmatch(r"Of (\d+) with (G\d) it names (\d+) rightly; it calls ([^.]+)\.", word) for word in words]
    matched = [tables.groups() for tables in found if tables is not None]
    assert [label for _, label, _, _ in matched] == list(GRADES)
    assert sum(int(count) for count, *_ in matched) == 480
    for count, _, right, others in matched:
        assert int(right) + sum(int(match) for match in re.findall(r"(\d+) G", others)) == int(count)


def test_the_committee_sees_how_many_of_each_class_are_named_rightly(biopsy: Book) -> None:
    """The shares of the table are the diagonal of the confusion matrix."""
    rows = {row.name.split("\N{NO-BREAK SPACE}")[0]: row for row in committee.hospitals(biopsy.evidence).rows}
    for site in types.externals(biopsy.evidence):
        curve = curved(types.find_curve(biopsy.evidence, "confusion_matrix", site.name))
        shares = [curve.columns["share_of_true"][5 * index] or 0 for index in range(4)]
        assert [cell.text for cell in rows[site.site].cells[2:]] == [f"{100 * share:.0f}" for share in shares]


def test_the_committee_learns_what_the_classes_are_in_the_words_of_the_maker(biopsy: Book) -> None:
    """As many whole sentences as a line holds, or none."""
    words = "The rejection grade at the biopsy: G0 none, G1 borderline, G2 moderate, G3 severe."
    flagged = (
        "Each class at 25% or more is flagged, to be read a second time. Every patient has at least one such class. "
        "Tested on patients of 2025."
    )
    assert committee.what_it_is(biopsy.evidence).endswith(f"with the highest. {words} {flagged}")
    for said in ({}, {"8a": f"The grade, {'from none and borderline ' * 5}to severe."}):
        silent = replace(biopsy.evidence, statements=said)
        assert committee.what_it_is(silent).endswith(f"with the highest. {flagged}")


def test_a_line_that_the_highest_of_the_classes_always_reaches_is_said_to_flag_every_patient(biopsy: Book) -> None:
    """By hand: the highest of four percentages that add up to 100% is 25% or more; 30% may be reached by none."""
    release = biopsy.evidence.release
    thresholds = release.thresholds.model_copy(update={"declared": (0.3,)})
    higher = replace(biopsy.evidence, release=release.model_copy(update={"thresholds": thresholds}))
    assert "30% or more is flagged, to be read a second time. Tested on" in committee.what_it_is(higher)


def test_no_range_is_promised_for_classes_that_no_page_has(biopsy: Book) -> None:
    """The second page has the ranges of other numbers: how well each class is told from the rest."""
    assert "Ranges" not in committee.hospitals(biopsy.evidence).note


def test_no_chapter_stays_away_for_several_classes(biopsy: Book) -> None:
    contents = " ".join(TAGS.sub("", biopsy.html("regulatory")).split())
    for away in ("It is built for the labels of a binary outcome.", "defined for a binary outcome"):
        assert away not in contents


def test_the_panels_of_classes_are_drawn(biopsy: Book) -> None:
    names = {"calibration_by_class", "roc_by_class", "decision_by_class", "forest_results_by_class"}
    assert names <= set(biopsy.gallery.pictures)
    for name in names:
        assert "1,234\N{NO-BREAK SPACE}patients" in biopsy.gallery.pictures[name].caption
        assert "events" not in biopsy.gallery.pictures[name].caption


def test_a_panel_shows_the_curve_of_its_class_and_site(biopsy: Book) -> None:
    from dossier.report.figures.calibration import draw_calibration
    from dossier.report.figures.canvas import FULL, styled
    from dossier.report.figures.classes import panels

    seen = panels(biopsy.evidence)
    assert isinstance(seen, types.Evidence)
    with styled():
        drawn = draw_calibration(seen, FULL)
    assert not isinstance(drawn, types.Absent)
    lines = [tuple(np.asarray(line.get_ydata()).tolist()) for axes in drawn.axes for line in axes.lines]
    for site in ("graft-1", "graft-3"):
        for label in ("G0", "G3"):
            curve = curved(types.find_curve(biopsy.evidence, "calibration_curve", site, **{"class": label}))
            assert curve.columns["observed"] in lines
