"""Several other models: each is compared as if it were the only one, and the p values of all are one family."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import dossier
from dossier import evaluate, reading
from dossier.core import claims, multiplicity
from dossier.core.facts import Fact, Method
from dossier.core.types import POOLED, Absent, Curve, Estimate, Evidence, Result, Study, find, find_curve
from dossier.evaluate import disclosure, rivals
from dossier.report.chapters import abstract, comparison, grid, severity, verdict
from dossier.report.chapters.committee import better, first_page
from dossier.report.figures import classes
from dossier.typeset.flags import flag_text
from dossier.typeset.numbers import plain
from dossier.typeset.words import how_many
from tests.conftest import Book
from tests.estimated import absent, curved, estimated, interval_of, present
from tests.smallest import HEAD, QUICK, release_in
from tests.test_classes import BIOPSY

TABLES = """
[severity]
weights = [[0, 1.0], [0.5, 0]]
"""
SITE = '[[dataset]]\nname = "{0}"\nrole = "external"\nfile = "{0}.csv"\n'
SIZES = {"a": 200, "b": 150}
FIRST = 'rival = "old"\nrival_name = "the old rule"\n'
NAMES = ("the old rule", "vendor A", "vendor B")
OTHERS = {name: f'[[rival]]\nname = "{name}"\ncolumn = "{name[-1].lower()}"\n' for name in NAMES[1:]}


def study(
    folder: Path,
    first: str = FIRST,
    others: tuple[str, ...] = NAMES[1:],
    more: str = "",
    sizes: Mapping[str, int] = SIZES,
) -> Study:
    """Two hospitals with the risks of three other models; in the second one vendor B has none, and A not for all."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(8)
    for name, rows in sizes.items():
        outcome = (rng.random(rows) < 0.4).astype(int)
        risks = [
            np.clip(0.25 + 0.4 * outcome + rng.normal(0, s, rows), 0.01, 0.99).round(3) for s in (0.2, 0.4, 0.3, 0.5)
        ]
        cells = [[f"{value}" for value in risk] for risk in risks]
        if name == "b":
            cells[2][7] = ""
        heads = ["outcome", "risk", "old", "a", "b"][: 5 if name == "a" else 4]
        lines = zip([str(value) for value in outcome], *cells, strict=True)
        text = "\n".join([",".join(heads), *(",".join(line[: len(heads)]) for line in lines)])
        (folder / f"{name}.csv").write_text(text + "\n")
    release = HEAD + first + "".join(OTHERS[name] for name in others) + QUICK + TABLES
    release += "".join(SITE.format(name) for name in sizes) + more
    return reading.study(release_in(folder, release))


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return evaluate.evidence(study(tmp_path_factory.mktemp("three") / "release"))


CORRECTED = ("p_holm", "p_adjusted", "p_at_site", "looks")


def without_holm(found: Estimate | Absent) -> Estimate | Absent:
    if isinstance(found, Absent):
        return found
    return dataclasses.replace(
        found, details={name: detail for name, detail in found.details.items() if name not in CORRECTED}
    )


@pytest.mark.parametrize("name", NAMES)
def test_each_is_compared_as_if_it_were_the_only_one(three: Evidence, name: str, tmp_path: Path) -> None:
    is_first = name == NAMES[0]
    alone = evaluate.evidence(study(tmp_path / "release", FIRST if is_first else "", () if is_first else (name,)))

    def of_it(evidence: Evidence) -> list[object]:
        return [
            dataclasses.replace(result, found=without_holm(result.found))
            for result in evidence.results
            if name in result.at.values()
        ]

    assert of_it(three) == of_it(alone)
    assert len(of_it(three)) > 20
    for site in ("a", "b"):
        curve = find_curve(three, "decision_curve", site, model=name)
        assert curve == find_curve(alone, "decision_curve", site, model=name)
        own = curved(find_curve(three, "decision_curve", site))
        assert own != curve


def test_the_curve_of_a_rival_is_that_of_its_risks(three: Evidence, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    study(folder)
    text = (
        (folder / "release.toml")
        .read_text()
        .replace('column = "risk"\nrival = "old"', 'column = "old"\nrival = "risk"')
    )
    swapped = evaluate.evidence(reading.study(release_in(folder, text)))
    assert find_curve(three, "decision_curve", "a", model=NAMES[0]) == find_curve(swapped, "decision_curve", "a")
    ours, theirs = (
        estimated(find(evidence, "mean_severity", "a", **at))
        for evidence, at in ((three, {"threshold": 0.5, "model": NAMES[0]}), (swapped, {"threshold": 0.5}))
    )
    assert ours == theirs


def test_a_family_is_one_measure_of_one_dataset_over_the_models(three: Evidence) -> None:
    for measure, at in (
        ("auroc_difference", {}),
        ("brier_difference", {}),
        ("net_benefit_difference", {"threshold": 0.5}),
    ):
        found = [estimated(find(three, measure, "a", against=name, **at)).details for name in NAMES]
        raw = [record["p_value"] for record in found]
        order = sorted(range(3), key=lambda location: raw[location] or 0.0)
        expected, most = {}, 0.0
        for left, position in zip((3, 2, 1), order, strict=True):
            most = max(most, left * (raw[position] or 0.0))
            expected[position] = min(most, 1.0)
        assert [record["p_holm"] for record in found] == pytest.approx(
            [expected[index] for index in range(3)], abs=1e-15
        )


def test_one_that_was_not_tested_is_in_no_family(three: Evidence) -> None:
    """In hospital b vendor A has no risk in one row and vendor B none at all: a family of one is as it was."""
    details = estimated(find(three, "auroc_difference", "b", against=NAMES[0])).details
    assert details["p_holm"] == details["p_value"]
    missing = absent(find(three, "auroc_difference", "b", against="vendor A"))
    assert missing.reason == Fact("rival_incomplete", dataset="b")
    none = absent(find(three, "auroc_difference", "b", against="vendor B"))
    assert none.reason == Fact("has_no", dataset="b", what="risk of a rival")
    assert find_curve(three, "decision_curve", "b", model="vendor B") == none
    said = [flag_text(flag.fact) for flag in three.flags if flag.flag == "rival_incomplete"]
    assert said == ["vendor A gives no risk in 1 row of b, so the two are not compared there."]


def test_with_one_other_model_there_is_nothing_to_correct(tmp_path: Path) -> None:
    alone = evaluate.evidence(study(tmp_path / "release", others=()))
    assert "p_holm" not in estimated(find(alone, "auroc_difference", "a", against=NAMES[0])).details


def test_all_sites_together_know_each_of_them(tmp_path: Path) -> None:
    """Three hospitals are pooled for the first; vendor A has two, vendor B one, of which nothing is pooled."""
    every = evaluate.evidence(study(tmp_path / "release", sizes={**SIZES, "c": 150}))
    found = {name: find(every, "auroc_difference", POOLED, against=name) for name in NAMES}
    assert estimated(found[NAMES[0]]).details["k"] == 3
    for name in NAMES[1:]:
        assert absent(found[name]).reason.code == "too_few_sites_to_pool"


def test_the_pages_have_every_model(three: Evidence) -> None:
    looked_at = claims.counted(three, "comparators")
    counts = {state: sum(claim.state == state for claim in looked_at) for state in ("shown", "against", "open")}
    lead = plain(comparison.finding(three).lead)
    assert lead.startswith(f"Of {len(looked_at)} comparisons with three other models, ")
    assert f"{how_many(counts['shown'])} found the model better" in lead
    assert f"{how_many(counts['against'])} found this model worse after Holm's correction" in lead
    columns = {column.label for table in comparison.tables(three) for column in table.columns}
    assert {"p", "p\N{NO-BREAK SPACE}(Holm)"} <= columns
    for tables in (comparison.tables(three), severity.tables(three)):
        said = " ".join(
            [row.label for table in tables for row in table.rows]
            + [column.over for table in tables for column in table.columns]
        )
        assert all(name in said for name in NAMES)
    (beside,) = severity.tables(three)
    assert "This model" in [row.label for row in beside.rows]
    assert beside.columns[0].label == "Accuracy at 0.50"


def test_where_counts_are_protected_each_difference_is_of_its_own_model(tmp_path: Path) -> None:
    policy = "[disclosure]\nminimum_cell = 5\n"
    read = study(tmp_path / "release", more=policy)
    found = evaluate.evidence(read)
    assert disclosure.is_asked(read)
    auroc = estimated(find(found, "auroc", "a")).value
    for name in NAMES:
        theirs = estimated(find(found, "auroc", "a", model=name)).value
        assert estimated(find(found, "auroc_difference", "a", against=name)).value == pytest.approx(auroc - theirs)
        assert isinstance(find_curve(found, "decision_curve", "a", model=name), Absent)
        assert isinstance(find(found, "mean_severity", "a", threshold=0.5, model=name), Absent)
    assert isinstance(find_curve(found, "decision_curve", "a"), Curve)
    assert not any("p_holm" in result.found.details for result in found.results if isinstance(result.found, Estimate))
    assert len({estimated(find(found, "auroc", "a", model=name)).value for name in NAMES}) > 1


def test_the_library_takes_several_by_name(three: Evidence, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    study(tmp_path / "release")
    frame = pandas.read_csv(tmp_path / "release" / "a.csv")
    found = dossier.validate(
        frame,
        outcome="outcome",
        risk="risk",
        thresholds=[0.5],
        rival=dict(zip(NAMES, ("old", "a", "b"), strict=True)),
        resampling={"bootstrap": 20, "permutations": 19},
    )
    rows = found.to_frame().query("measure == 'auroc_difference' and dataset == 'data'")
    expected = [estimated(find(three, "auroc_difference", "a", against=name)).value for name in NAMES]
    assert rows.value.tolist() == pytest.approx(expected)


def test_the_names_are_those_of_the_release(three: Evidence) -> None:
    assert rivals.names(three.release) == NAMES


# ---- one that is better ---------------------------------------------------------------------------------------------


def test_one_that_is_better_is_on_the_first_page_of_both_editions(books: dict[str, Book]) -> None:
    """Three vendors name more grades rightly at two of three hospitals, and have the higher net benefit of two grades:
    both pages were silent."""
    evidence = books["biopsy"].evidence
    said = verdict.finding(evidence)
    (patient,) = [each for each in reading.study(BIOPSY).datasets if each.name == "graft-2"]
    rows = patient.facing("Vendor C (simulated)")
    case, risks = np.array(rows.classes) == 1, [np.array(risk)[:, 1] for risk in (rows.class_rival, rows.class_risk)]
    theirs, ours = (np.mean(np.where(risk >= 0.25, case - ~case / 3, 0.0)) for risk in risks)
    most = f"Vendor C (simulated) in net benefit of G1 at Graft 2 by {100 * (theirs - ours):.1f} per 100 (95%"
    assert plain(said.rest).startswith(f"Better than the model, after Holm's correction for 96 comparisons: {most}")
    assert "in accuracy at Graft 2 by 0.13 (95%" in said.rest
    # Of more than the decision curves tell apart those have a line that are better.
    assert "Not drawn: Clinical items alone" in getattr(classes.decision_by_class(evidence), "caption", "")
    (of_abstract,) = (line.text for line in abstract.lines(evidence) if line.label == "Results")
    assert comparison.where_better(evidence) in of_abstract
    # What may be chance is counted, and where the same models are worse is said.
    assert re.search(r"Not after it, but by the CI \(2.4 expected by chance\): \d+ comparisons\.", plain(said.rest))
    worse = present(re.search(r"Worse than it in other comparisons, by the same: (.*?)\. Not", plain(said.rest)))
    assert "Vendor C (simulated) in five (net benefit and mean severity)" in worse[1]
    assert "in mean severity at Graft 3 by 0.056 (95%" in said.rest
    line = f"is better at the 25% line for G1, by the worth of {1000 * (theirs - ours):.0f} found of 1,000"
    answer = plain(first_page.answer(evidence))
    assert f"Another model does better in Graft 2: Vendor C (simulated) {line}" in answer
    assert re.search(
        r"Of 96 comparisons with other models \w+ show that one does better, in Graft 2, Graft 3 and Graft 1; another",
        answer,
    )
    assert "Vendor B (simulated) and Vendor A (simulated) do better in part too." in answer
    raised = [flag_text(flag.fact) for flag in evidence.flags if flag.flag == "rival_better"]
    assert any("Vendor C (simulated) in net benefit of class G1, by" in text for text in raised)
    (gravest,) = [row for row in grid.table(evidence).rows if row.label == grid.QUESTION["comparators"]]
    assert "Vendor C (simulated), G1 at Graft 2: net benefit" in plain(gravest.cells[-2].text)
    beside = plain(better.than_the_other_model(evidence))
    assert beside.startswith("Beside Vendor C (simulated), by hospital:")
    assert "Class by class, it is better at the 25% line in three of 12 checks, perhaps in one more; and" in beside
    # A is shown to be better in five comparisons, B in three.
    assert "Beside Vendor A (simulated), by hospital:" in beside
    assert beside.endswith("Two more models, of which Vendor B (simulated) does better in part too: full report.")
    kept = tuple(each for each in evidence.results if each.measure != "net_benefit_difference")
    answer = first_page.answer(dataclasses.replace(evidence, results=kept))
    assert (
        "in Graft 2: Vendor A (simulated), Vendor B (simulated) and one more model each names more patients rightly, "
        "by 134" in answer
    )
    # What is sure elsewhere in another way is counted there.
    assert re.search(r"comparisons with other models \w+ show that one does better, in Graft 2 and Graft 3[.;]", answer)
    assert "names fewer patients rightly in one of three, perhaps in one more;" in beside
    # Of several classes a place is a class at a hospital, and no hospital.
    assert "Its percentages are wrong for G0 in Graft 3, G1 in Graft 3 and G3 in Graft 3." in answer
    here = dataclasses.replace(evidence, local_site="graft-3")
    assert "Its percentages are wrong here for G0, G1 and G3." in first_page.answer(here)
    (line,) = better.than_the_same_for_all(evidence)
    assert "In three of 12 checks, one for each class and hospital, it is not clear which is better." in line


@pytest.mark.parametrize("sampled", [{}, {"weights": "weight"}, {"cluster": "family"}])
def test_the_net_benefit_of_each_class_is_compared_by_its_definition(sampled: dict[str, Any]) -> None:
    """TP/n - FP/n t/(1-t) of a class against the rest, its error by drawing patients, or families, anew."""
    rng, n, t = np.random.default_rng(9), 400, 0.35
    odds = np.repeat(rng.normal(0, 0.6, (n // 8, 3)), 8, axis=0) + rng.normal(0, 1, (n, 3))
    noisy = [np.exp(odds + rng.normal(0, noise, odds.shape)) for noise in (0, 0.3, 1)]
    truth, own, other = (each / each.sum(axis=1, keepdims=True) for each in noisy)
    number = (rng.random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1)
    risks = {"own": own, "other": other, "itself": own}
    columns = {f"{name}{k}": risk[:, k] for name, risk in risks.items() for k in range(3)}
    frame = pd.DataFrame({"outcome": np.array([*"abc"])[number], **columns})
    frame = frame.assign(weight=rng.uniform(0.5, 2, n), family=np.repeat(np.arange(n // 8), 8))
    rival = {name: [f"{name}{k}" for k in range(3)] for name in risks}
    asked = {"classes": [*"abc"], "thresholds": [t], "resampling": {"bootstrap": 2, "permutations": 19}, **sampled}
    evidence = dossier.validate(frame, outcome="outcome", risk=rival.pop("own"), rival=rival, **asked).evidence
    weights, families = (np.array(frame[name]) if name in sampled.values() else None for name in ("weight", "family"))
    weights, families = np.ones(n) if weights is None else weights, np.arange(n) if families is None else families
    draws = rng.integers(0, families.max() + 1, (4_000, families.max() + 1))
    for k, label in enumerate("abc"):
        case = number == k
        at: dict[str, float | str] = {"class": label, "threshold": t}
        each = [np.where(risk[:, k] >= t, case - ~case * t / (1 - t), 0.0) for risk in (own, other)]
        added = weights * (each[0] - each[1])
        found = estimated(find(evidence, "net_benefit_difference", "data", against="other", **at))
        assert found.value == pytest.approx(added.sum() / weights.sum(), abs=1e-12)
        top, below = (np.bincount(families, weights=part)[draws].sum(axis=1) for part in (added, weights))
        low, high = interval_of(found)
        assert high - low == pytest.approx(2 * 1.96 * np.std(top / below), rel=0.12)
        same = estimated(find(evidence, "net_benefit_difference", "data", against="itself", **at))
        assert (same.value, same.low, same.high) == (0, 0, 0)
    states = {claim.state for claim in claims.counted(evidence, "comparators") if claim.at["against"] == "itself"}
    assert states <= {"shown", "open"}


def test_all_that_is_looked_at_is_one_family(books: dict[str, Book]) -> None:
    """Accuracy, severity, AUROC and Brier score of the classes and the net benefit of each of four, from four other
    models at three hospitals."""
    looked = [
        (result.found.details.get("p_by_interval", result.found.details["p_value"]) or 0.0, result)
        for result in books["biopsy"].evidence.results
        if isinstance(result.found, Estimate) and "p_adjusted" in result.found.details
    ]
    assert len(looked) == 96
    assert {details(result)["looks"] for _, result in looked} == {96.0}
    lowest, result = min(looked, key=lambda pair: pair[0])
    assert details(result)["p_adjusted"] == pytest.approx(96 * lowest)
    # Who reads of one hospital alone has the looks there, which are as many.
    for site in ("graft-1", "graft-2", "graft-3"):
        lowest, result = min((pair for pair in looked if pair[1].dataset == site), key=lambda pair: pair[0])
        assert details(result)["p_at_site"] == pytest.approx(32 * lowest)


def test_at_the_readers_own_hospital_all_that_is_looked_at_there_counts(three: Evidence) -> None:
    """What one of several comparisons of a hospital says by its interval is no accusation there either."""
    worse = Estimate(-0.1, -0.18, -0.02, 0.95, 200, Method("paired"), 80, 0.04)
    for p_value, state in ((0.2, "open"), (0.04, "against")):
        found = dataclasses.replace(worse, details={"p_value": 0.01, "p_adjusted": 0.5, "p_at_site": p_value})
        (claim,) = claims.counted(with_differences(three, {"a": found}), "comparators")
        assert (claim.state, claim.alone) == ("open", state)


PS = ("p_adjusted", "p_at_site")


def details(result: Result) -> dict[str, float | None]:
    """What a result says beside its number."""
    assert isinstance(result.found, Estimate)
    return dict(result.found.details)


def test_hospitals_of_one_table_are_looked_at_like_those_of_a_file_each(tmp_path: Path) -> None:
    """By AUROC, net benefit and Brier score at two hospitals of one file: page 1, the chapter, each claim."""
    study(tmp_path, others=(), sizes={"a": 400})
    table = tmp_path / "a.csv"
    head, *rows = table.read_text().splitlines()
    lines = [f"{head},hospital", *(f"{row},{'xy'[number % 2]}" for number, row in enumerate(rows))]
    table.write_text("\n".join(lines) + "\n")
    release = tmp_path / "release.toml"
    release.write_text(release.read_text() + 'site_column = "hospital"\n')
    evidence = evaluate.evidence(reading.study(tmp_path))
    looked_at = claims.counted(evidence, "comparators")
    assert len(looked_at) == 6
    assert {claim.looks for claim in looked_at} == {6}
    assert plain(comparison.finding(evidence).lead).startswith("Of 6 comparisons with the old rule, ")


def test_a_difference_without_a_test_is_on_page_1_and_accuses_nobody(three: Evidence) -> None:
    """Rows in clusters have no p value: the interval is counted, and may look worse."""
    of_old = [result for result in three.results if result.at.get("against") == NAMES[0] and result.dataset == "a"]
    worse = Estimate(-0.1, -0.18, -0.02, 0.95, 200, Method("paired"), 80, 0.04, {"p_value": None})
    found = [dataclasses.replace(each, found=worse) for each in of_old if each.measure == "auroc_difference"]
    evidence = dataclasses.replace(three, results=tuple(rivals.adjusted(three.release, found, {"a"})))
    (claim,) = claims.counted(evidence, "comparators")
    assert (claim.state, claim.p_adjusted, claims.looks_worse(claim)) == ("open", None, True)


def test_a_difference_that_chance_makes_among_many_accuses_nobody(three: Evidence) -> None:
    """The same interval is an accusation with a small p after all comparisons, and else only what looks so."""
    at = {"against": NAMES[1], "threshold": 0.5}
    worse = Estimate(-0.1, -0.18, -0.02, 0.95, 200, Method("paired"), 80, 0.04)
    for p_value, start in ((0.01, "Better than the model"), (0.2, "Looks better by the CI (0.1 expected by chance)")):
        found = dataclasses.replace(worse, details={"p_value": 0.01, **dict.fromkeys(PS, p_value), "looks": 5.0})
        results = tuple(
            dataclasses.replace(result, found=found)
            if (result.measure, result.dataset, dict(result.at)) == ("net_benefit_difference", "a", at)
            else result
            for result in three.results
            if "p_adjusted" not in getattr(result.found, "details", {}) or dict(result.at) == at
        )
        evidence = dataclasses.replace(three, results=results)
        said = comparison.where_better(evidence)
        assert said.startswith(start)
        assert "vendor A in net benefit at A by 10.0" in said
        is_accused = "Another model does better in A: vendor A is better at the 50% line" in plain(
            first_page.answer(evidence)
        )
        assert is_accused is (p_value < 0.05)


def with_differences(three: Evidence, found: Mapping[str, Estimate]) -> Evidence:
    """The study with the net benefit of vendor A at each hospital in place of all that was looked at."""
    at: dict[str, float | str] = {"against": NAMES[1], "threshold": 0.5}
    others = tuple(each for each in three.results if "p_adjusted" not in getattr(each.found, "details", {}))
    first = next(each for each in three.results if each.measure == "net_benefit_difference")
    made = (dataclasses.replace(first, dataset=site, at=at, found=each) for site, each in found.items())
    return dataclasses.replace(three, results=(*others, *made))


def test_each_hospital_where_one_is_shown_to_be_better_is_said_to_be_one(three: Evidence) -> None:
    """What holds after all comparisons at two hospitals is no "may be so" at the second."""
    worse = Estimate(-0.1, -0.18, -0.02, 0.95, 200, Method("paired"), 80, 0.04)
    found = {
        site: dataclasses.replace(worse, details={"p_value": 0.01, "p_adjusted": p_value, "looks": 2.0})
        for site, p_value in (("a", 0.01), ("b", 0.02))
    }
    answer = plain(first_page.answer(with_differences(three, found)))
    assert "comparisons with the other model two show that one does better, in A and B." in answer
    assert "another" not in answer.split(". Of ")[1].split(".")[0]


def test_one_with_the_same_risks_is_neither_better_nor_worse(three: Evidence) -> None:
    """A difference of exactly nothing at every hospital was counted as the model being better there."""
    same = Estimate(0.0, 0.0, 0.0, 0.95, 200, Method("paired"), 80, 0.0)
    same = dataclasses.replace(same, details={"p_value": 1.0, "p_adjusted": 1.0, "looks": 2.0})
    evidence = with_differences(three, {"a": same, "b": same})
    assert {(claim.state, claim.alone) for claim in claims.counted(evidence, "comparators")} == {("open", "open")}
    assert "It was not shown that it is better" in better.than_the_other_model(evidence).replace(": it", ": It")


def test_one_whose_percentages_alone_are_better_is_on_the_first_page_of_both_editions() -> None:
    """It ranks alike and flags the same patients; the risks of the model are twice as far from 0 on the log odds."""
    rng = np.random.default_rng(3)
    odds = rng.normal(0, 1.5, 1_200)
    frame = pd.DataFrame({"outcome": rng.random(1_200) < expit(odds), "risk": expit(2 * odds), "fair": expit(odds)})
    rival = [{"name": "Fair", "column": "fair"}]
    asked = dossier.validate(frame, outcome="outcome", risk="risk", thresholds=(0.5,), rival=rival)
    said = {claim.measure: claim.state for claim in claims.counted(asked.evidence, "comparators")}
    assert said == {"net_benefit_difference": "open", "auroc_difference": "open", "brier_difference": "against"}
    assert verdict.finding(asked.evidence).lead == "Another model is better at Data."
    assert "Fair in Brier score at" in verdict.finding(asked.evidence).rest
    assert "Fair gives percentages closer to what happened, by" in plain(first_page.answer(asked.evidence))


def test_one_that_differs_by_noise_is_hardly_ever_called_better() -> None:
    """Of 200 models whose rival has noise of 0.001 on the log odds at most 5 in 100 are called worse than it."""
    rng, accused = np.random.default_rng(4), 0
    for _ in range(200):
        odds = rng.normal(-1, 1.2, 300)
        outcome, near = (rng.random(300) < expit(odds)).astype(int), expit(odds + rng.normal(0, 1e-3, 300))
        found = estimated(dossier.metrics.brier_difference(outcome, expit(odds), near, permutations=19))
        p_adjusted = found.details["p_by_interval"]
        tested = dataclasses.replace(found, details={**found.details, "p_adjusted": p_adjusted})
        accused += multiplicity.beside_rival("brier_difference", tested) == "against"
    assert accused <= 10
