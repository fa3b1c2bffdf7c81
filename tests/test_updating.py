"""Updates beside the model as it is, what is given under a policy, updated formulas, and risks by the equation."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

from dossier import evaluate, reading
from dossier.core import claims, equation, types
from dossier.core.errors import ReleaseError
from dossier.core.release import Model
from dossier.core.types import UPDATED, Absent, Evidence, Study, Withheld, find
from dossier.metrics import updating
from dossier.record import results, updated_model
from dossier.report.chapters import nomogram
from dossier.report.chapters import updating as chapter
from dossier.report.chapters.committee import to_do
from tests.estimated import absent, estimated, interval_of, present, refused
from tests.smallest import HEAD, QUICK, release_in

COLUMN, EQUATION = HEAD, HEAD.replace('column = "risk"', 'from = "model"')
SITES = "".join(
    f'[[dataset]]\nname = "{name}"\nrole = "external"\nfile = "{name}.csv"\npredictors = ["age", "ward"]\n{{{name}}}\n'
    for name in ("north", "south")
)
MODEL = """
[model]
intercept = -4.0
[[model.term]]
predictor = "age"
coefficient = 0.05
[[model.term]]
predictor = "ward"
levels = { "surgery" = 0.4 }
"""
UPDATE = '[update]\nmethods = ["intercept", "logistic", "closed_test"]\n'
SIZES = {"north": 400, "south": 40}


def study(folder: Path, head: str = EQUATION, update: str = UPDATE, more: str = "", **of_site: str) -> Study:
    """A hospital whose risks are too high, and one of few patients, where no update is tried."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(3)
    for name, n in SIZES.items():
        age, surgery = rng.integers(30, 90, n), rng.random(n) < 0.4
        log_odds = -4.0 + 0.05 * age + 0.4 * surgery
        outcome = rng.random(n) < expit(-0.5 + log_odds)
        risk, ward, weight = expit(log_odds), np.where(surgery, "surgery", "medicine"), rng.integers(1, 4, n)
        head_of_table = "outcome,risk,age,ward,weight,patient\n"
        rows = zip(outcome.astype(int), risk, age, ward, weight, np.arange(n) // 2, strict=True)
        lines = "".join(f"{y},{float(p)!r},{a},{w},{k},c{c}\n" for y, p, a, w, k, c in rows)
        (folder / f"{name}.csv").write_text(head_of_table + lines)
    sites = SITES.format(**{name: of_site.get(name, "") for name in SIZES})
    return reading.study(release_in(folder, head + QUICK + sites + MODEL + update + more))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return study(tmp_path_factory.mktemp("updates") / "release")


@pytest.fixture(scope="module")
def found(whole: Study) -> Evidence:
    return evaluate.evidence(whole)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Both hospitals large enough for an update."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SIZES, "north", 6000)
        patch.setitem(SIZES, "south", 6000)
        return evaluate.evidence(study(tmp_path_factory.mktemp("large") / "release"))


def of_updates(evidence: Evidence) -> list[types.Result]:
    return [each for each in evidence.results if str(each.at.get("model", "")).startswith(UPDATED)]


# ---- beside the model as it is ---------------------------------------------------------------------------------------


def test_the_model_as_it_is_never_changes(found: Evidence, tmp_path: Path) -> None:
    alone = evaluate.evidence(study(tmp_path / "release", update=""))
    asked = of_updates(found)
    assert asked
    assert [each for each in found.results if each not in asked] == list(alone.results)
    assert found.curves == alone.curves
    assert found.criteria == alone.criteria
    for question in claims.QUESTIONS:
        assert question == "updating" or claims.about(found, question) == claims.about(alone, question)


def test_every_update_has_every_measure(found: Evidence) -> None:
    here: dict[str, set[str]] = {str(each.at["model"]): set() for each in of_updates(found)}
    assert set(here) == {f"{UPDATED}{method}" for method in ("intercept", "logistic", "closed_test")}
    for each in of_updates(found):
        here[str(each.at["model"])].add(each.measure)
    expected = {
        "oe_ratio",
        "ici",
        "brier",
        "net_benefit_gain",
        "sensitivity",
        "specificity",
        "reclassified",
        "mss_slope",
    }
    expected |= {"updated_coefficients", "updated_intercept", "updated_slope"}
    assert all(measures == expected for measures in here.values())


def test_what_an_update_changes_is_what_calibration_found(found: Evidence) -> None:
    alone = find(found, "updated_intercept", "north", model=f"{UPDATED}intercept")
    assert alone == find(found, "calibration_intercept", "north")
    both = [find(found, name, "north", model=f"{UPDATED}logistic") for name in ("updated_intercept", "updated_slope")]
    assert both == [find(found, name, "north") for name in ("calibration_intercept_joint", "calibration_slope")]
    kept = absent(find(found, "updated_slope", "north", model=f"{UPDATED}intercept"))
    assert kept.reason.code == "not_changed_by_update"


def test_the_interval_of_the_closed_test_holds_those_of_all_that_it_may_choose(found: Evidence) -> None:
    chosen = estimated(find(found, "updated_coefficients", "north", model=f"{UPDATED}closed_test"))
    fewest, most = (int(chosen.details[name] or 0) for name in ("fewest", "most"))
    assert fewest <= chosen.value <= most
    assert most > 0
    own = interval_of(estimated(find(found, "oe_ratio", "north", model=f"{UPDATED}closed_test")))
    for method in ("intercept", "logistic")[max(fewest - 1, 0) : most]:
        low, high = interval_of(estimated(find(found, "oe_ratio", "north", model=f"{UPDATED}{method}")))
        assert own[0] <= low
        assert high <= own[1]


def test_who_changes_side_is_who_moves_sensitivity_and_specificity(found: Evidence) -> None:
    """Of one row the counts came from other parts of the rows than the shares beside them."""
    for site in types.externals(found):
        for at in found.release.thresholds.declared:
            for update in found.release.updates:
                model = f"{UPDATED}{update}"
                moved = find(found, "reclassified", site.name, model=model, threshold=at)
                if isinstance(moved, Absent):
                    continue
                details = {name: value or 0.0 for name, value in moved.details.items()}
                cases = details["newly_flagged_cases"] - details["no_longer_flagged_cases"]
                own, new = (
                    estimated(find(found, "sensitivity", site.name, threshold=at, **which))
                    for which in ({}, {"model": model})
                )
                assert new.value * own.n == pytest.approx(own.value * own.n + cases)


def test_an_update_is_judged_by_patients_whom_it_has_not_seen(whole: Study, found: Evidence) -> None:
    given = estimated(find(found, "oe_ratio", "north", model=f"{UPDATED}intercept"))
    assert given.method.has("cross_validated")
    # Were it apparent, as many events were expected as there are.
    assert 0 < abs(given.value - 1) < 0.02
    low, high = interval_of(given)
    assert low < 0.95
    assert high > 1.05
    assert whole.datasets[0].risk is not None


def test_a_hospital_of_few_patients_is_not_updated(found: Evidence) -> None:
    for each in of_updates(found):
        if each.dataset == "south":
            assert absent(each.found).reason.code == "too_few_to_update"
    assert claims.after_update(found, "south", f"{UPDATED}intercept") == "untested"
    assert "is not known at South" in chapter.finding(found).lead + chapter.finding(found).rest


def test_results_come_back_from_the_file(found: Evidence) -> None:
    text = results.of(found).text()
    assert results.read(text).evidence.results == found.results
    assert results.of(results.read(text).evidence).text() == text


@pytest.mark.parametrize("key", ['weights = "weight"', 'cluster = "patient"'])
def test_rows_that_are_no_simple_sample_are_updated_too(tmp_path: Path, key: str) -> None:
    evidence = evaluate.evidence(study(tmp_path / "release", north=key))
    for measure, at in (("oe_ratio", {}), ("sensitivity", {"threshold": 0.5}), ("reclassified", {"threshold": 0.5})):
        low, high = interval_of(estimated(find(evidence, measure, "north", model=f"{UPDATED}closed_test", **at)))
        assert low < high
    alone = estimated(find(evidence, "updated_intercept", "north", model=f"{UPDATED}intercept"))
    assert alone == find(evidence, "calibration_intercept", "north")


# ---- what may be said ------------------------------------------------------------------------------------------------


def test_an_update_mends_only_what_is_shown(found: Evidence) -> None:
    """Right in size are O/E and slope with their whole intervals, of whatever was updated."""
    for model in found.release.updates:
        state = claims.after_update(found, "north", model)
        low, high = interval_of(estimated(find(found, "oe_ratio", "north", model=model)))
        if not 0.8 <= low <= high <= 1.25:
            assert state != "shown"
    # A new intercept leaves a slope whose interval is as wide as before.
    low, high = interval_of(estimated(find(found, "calibration_slope", "north")))
    assert not 0.8 <= low <= high <= 1.25
    assert claims.after_update(found, "north", f"{UPDATED}intercept") == "open"


def test_the_register_says_whether_an_update_would_mend_it(found: Evidence) -> None:
    """Shown only where the whole intervals of O/E in patients not seen, and of the slope, lie within the margins."""
    north, south = sorted(claims.about(found, "updating", "hospital"), key=lambda claim: claim.dataset)
    assert north.state == claims.after_update(found, "north", str(north.at["model"])) == "open"
    # O/E is mended, and it is the slope that leaves it open: the number is that of the slope.
    low, high = interval_of(estimated(find(found, "oe_ratio", "north", **north.at)))
    assert 0.8 <= low <= high <= 1.25
    assert north.measure == "calibration_slope"
    assert not 0.8 <= (north.low or 0) <= (north.high or 9) <= 1.25
    assert south.state == "untested"
    assert south.reason is not None
    (overall,) = claims.about(found, "updating", "overall")
    assert overall.state == north.state


def test_a_large_hospital_with_high_risks_is_shown_to_be_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SIZES, "north", 6000)
    evidence = evaluate.evidence(study(tmp_path / "release"))
    least = next(claim for claim in claims.about(evidence, "updating", "hospital") if claim.dataset == "north")
    assert (least.state, least.at) == ("shown", {"model": f"{UPDATED}intercept"})
    assert "a correction put them right" in " ".join(to_do.steps(evidence))
    assert "A new intercept is shown to set the risks right in size at North" in chapter.finding(evidence).lead


@pytest.mark.parametrize(
    ("wrong", "oe_after", "says"),
    [
        (("north", "south"), (1.0, 1.01), "In North and South a correction put them right."),
        (("south",), (1.0, 1.01), "In South a correction put them right."),
        (("south",), (1.3, 1.4), "In South a correction did not put them right."),
        (("south",), (0.7, 1.4), "In South nobody can tell yet whether a correction would."),
        (("north", "south"), (1.3, 1.4), "In North a correction put them right; in South a correction did not"),
    ],
)
def test_a_correction_is_told_of_hospitals_alone_whose_percentages_are_wrong(
    large: Evidence, wrong: tuple[str, ...], oe_after: tuple[float, float], says: str
) -> None:
    def changed(each: types.Result) -> types.Result:
        if isinstance(each.found, Absent):
            return each
        if each.measure == "calibration_test":
            p = 1e-6 if each.dataset in wrong else 1.0
            return replace(each, found=replace(each.found, details={"p_value": p, "p_holm": p}))
        if each.measure == "oe_ratio" and each.dataset == "south" and "model" in each.at:
            low, high = oe_after
            return replace(each, found=replace(each.found, value=(low + high) / 2, low=low, high=high))
        return each

    evidence = replace(large, results=tuple(map(changed, large.results)))
    assert says in " ".join(to_do.steps(evidence))
    if "north" not in wrong:
        assert "North" not in " ".join(to_do.steps(evidence))


@pytest.mark.parametrize(("most", "differs"), [(0.0, False), (1.0, True)])
def test_rows_of_a_closed_test_that_keeps_the_model_say_why_they_move(
    found: Evidence, most: float, differs: bool
) -> None:
    """Table and sentence give the choice of all patients, and say that the rows are of choices on parts of them."""
    kept = {"fewest": 0.0, "most": most}

    def changed(each: types.Result) -> types.Result:
        is_choice = (each.measure, each.dataset, each.at.get("model")) == (
            *("updated_coefficients", "north", f"{UPDATED}closed_test"),
        )
        return replace(each, found=replace(estimated(each.found), value=0.0, details=kept)) if is_choice else each

    evidence = replace(found, results=tuple(map(changed, found.results)))
    said = str(chapter.finding(evidence))
    assert "keeps the model as it is at North" in said
    assert ("differ at North" in said) == differs
    for table in (chapter.sizes(evidence), chapter.changes(evidence)):
        assert "Closed test (of all patients: as it is)" in [row.label for row in table.rows]


def test_updates_are_protected_as_fits_are(tmp_path: Path) -> None:
    evidence = evaluate.evidence(study(tmp_path / "release", more="[disclosure]\nminimum_cell = 10\n"))
    every = [each for each in of_updates(evidence) if each.dataset == "north"]
    kept = {(each.measure, each.at["model"]) for each in every if not isinstance(each.found, Absent)}
    assert kept <= {("updated_intercept", f"{UPDATED}intercept"), ("updated_slope", f"{UPDATED}logistic")}
    given = find(evidence, "updated_intercept", "north", model=f"{UPDATED}intercept")
    assert given == find(evidence, "calibration_intercept", "north")
    assert all(isinstance(each.found, Withheld) for each in every if each.measure in ("oe_ratio", "reclassified"))


@pytest.mark.parametrize("methods", ["[]", '["refit"]', '["intercept", "intercept"]'])
def test_other_methods_are_refused(tmp_path: Path, methods: str) -> None:
    with pytest.raises(ReleaseError):
        study(tmp_path / "release", update=f"[update]\nmethods = {methods}\n")


# ---- formulas --------------------------------------------------------------------------------------------------------


def entries(evidence: Evidence) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(present(updated_model.text(evidence)).decode())["updated"]
    return found


def test_an_updated_formula_gives_the_updated_risks(whole: Study, found: Evidence) -> None:
    dataset = whole.datasets[0]
    outcome, risk = present(dataset.outcome), present(dataset.risk)
    every = entries(found)
    assert {each["dataset"] for each in every} == {"north"}
    assert {each["method"] for each in every} >= {"intercept", "logistic"}
    for each in every:
        model = Model.model_validate(each["model"], strict=False)
        update = present(updating.fitted(outcome, risk, each["method"]))
        np.testing.assert_allclose(present(equation.risk(model, dataset.predictors)), update.risk(risk), rtol=1e-9)
        assert each["patients"] == 400
        assert each["version"] == "1"


TAKEN = '[model]\nfile = "updated-model.toml"\ndataset = "north"\nmethod = "{method}"\n{more}'


def next_release(found: Evidence, folder: Path, method: str, more: str = "") -> Path:
    """A release whose [model] is a file of updated formulas."""
    study(folder)
    (folder / "updated-model.toml").write_bytes(present(updated_model.text(found)))
    path = folder / "release.toml"
    path.write_text(path.read_text().replace(MODEL, TAKEN.format(method=method, more=more)))
    return folder


@pytest.mark.parametrize("method", ["intercept", "logistic", "closed_test"])
def test_the_next_release_takes_the_file_of_an_updated_formula(
    found: Evidence, whole: Study, tmp_path: Path, method: str
) -> None:
    """Its risks are those of the equation by hand; where it was fitted goes along, is printed, and warns there."""
    later = reading.study(next_release(found, tmp_path / "next", method))
    (entry,) = (each for each in entries(found) if (each["dataset"], each["method"]) == ("north", method))
    for dataset, before in zip(later.datasets, whole.datasets, strict=True):
        log_odds = logit(present(before.risk))
        expected = expit(entry["intercept_added"] + entry["slope"] * log_odds)
        np.testing.assert_allclose(present(dataset.risk), expected, rtol=1e-12)
    assert "updated-model.toml" in {file.name for file in later.inputs}
    warned = [flag.dataset for flag in later.flags if flag.flag == "fitted_on_these_rows"]
    assert warned == ["north"]
    evidence = evaluate.evidence(later)
    held = json.loads(results.of(evidence).text())["declared"]["model"]["fitted"]
    assert (held["of"], held["version"], held["hospital"], held["patients"]) == ("Example", "1", "North", 400)
    (said,) = nomogram.formula(evidence).footnotes
    assert "fitted to 400 patients of North" in said
    assert said in str(nomogram.finding(evidence))
    # The formula that it updates in turn is its own, and says nothing of an earlier hospital.
    again = results.read(results.of(evidence).text(), "results.json").evidence
    assert present(again.release.model).fitted == present(later.release.model).fitted
    assert all("fitted" not in each["model"] for each in entries(evidence))


def test_an_update_at_another_hospital_is_not_held_against_this_one(found: Evidence, tmp_path: Path) -> None:
    folder = next_release(found, tmp_path / "next", "intercept")
    text = (folder / "updated-model.toml").read_text().replace('"north"', '"elsewhere"')
    (folder / "updated-model.toml").write_text(text.replace('"North"', '"Elsewhere"'))
    path = folder / "release.toml"
    path.write_text(path.read_text().replace('dataset = "north"', 'dataset = "elsewhere"'))
    assert "fitted_on_these_rows" not in {flag.flag for flag in reading.study(folder).flags}


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('method = "intercept"', 'method = "refit"', "not_a_choice"),
        ('method = "intercept"', "", "missing_key"),
        ('dataset = "north"\nmethod', 'dataset = "south"\nmethod', "no_such_update"),
        ('file = "updated-model.toml"', 'file = "north.csv"', "not_updated_formulas"),
        ('file = "updated-model.toml"', 'file = "release.toml"', "not_updated_formulas"),
        ('file = "updated-model.toml"', 'file = "other.toml"', "no_file"),
        ('file = "updated-model.toml"', 'file = "../updated-model.toml"', "file_outside"),
        ('file = "updated-model.toml"', 'file = "updated-model.toml"\nintercept = 1.0', "unknown_key"),
    ],
)
def test_a_file_that_holds_no_such_formula_is_a_fault(
    found: Evidence, tmp_path: Path, old: str, new: str, code: str
) -> None:
    folder = next_release(found, tmp_path / "next", "intercept")
    path = folder / "release.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert [fault.code for fault in refused(reading.study, folder).faults] == [code]


def test_an_altered_file_is_a_fault(found: Evidence, tmp_path: Path) -> None:
    folder = next_release(found, tmp_path / "next", "intercept")
    path = folder / "updated-model.toml"
    for old, new in (("coefficient =", "coefficiant ="), ("patients = 400\n", ""), ("[[updated]]", "[[updatd]]")):
        whole = path.read_text()
        path.write_text(whole.replace(old, new))
        assert [fault.code for fault in refused(reading.study, folder).faults] == ["not_updated_formulas"]
        path.write_text(whole)


def test_a_build_hands_its_formula_to_the_next(tmp_path: Path) -> None:
    """From the command line: build, name the file that lies in OUT, build again."""
    study(tmp_path / "first")
    second = tmp_path / "second"
    study(second)
    path, taken = second / "release.toml", TAKEN.format(method="logistic", more="outside = true\n")
    path.write_text(path.read_text().replace(MODEL, taken.replace('"updated-', '"../first-out/updated-')))
    for name, more in (("first", []), ("second", ["--allow-outside"])):
        command = [sys.executable, "-m", "dossier", "build", name, "-o", f"{name}-out", "--quiet", *more]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
    made = tomllib.loads((tmp_path / "first-out" / "updated-model.toml").read_text())["updated"]
    (entry,) = (each for each in made if (each["dataset"], each["method"]) == ("north", "logistic"))
    given = json.loads((tmp_path / "second-out" / "results.json").read_text())
    rows = np.genfromtxt(second / "north.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    risk = expit(entry["intercept_added"] + entry["slope"] * logit(rows["risk"]))
    (brier,) = (
        row for row in given["estimates"] if (row["measure"], row["dataset"], row["at"]) == ("brier", "north", {})
    )
    assert brier["value"] == pytest.approx(float(np.mean((risk - rows["outcome"]) ** 2)), abs=1e-12)


def test_a_formula_that_is_not_that_of_the_risks_is_not_updated(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    study(folder, head=COLUMN)
    path = folder / "release.toml"
    path.write_text(path.read_text().replace("coefficient = 0.05", "coefficient = 0.06"))
    assert updated_model.text(evaluate.evidence(reading.study(folder))) is None


# ---- risks by the equation -------------------------------------------------------------------------------------------


def test_risks_by_the_equation_are_those_of_the_column(whole: Study, tmp_path: Path) -> None:
    of_column = study(tmp_path / "release", head=COLUMN)
    for ours, theirs in zip(whole.datasets, of_column.datasets, strict=True):
        np.testing.assert_allclose(present(ours.risk), present(theirs.risk), rtol=1e-12)


def test_who_lacks_a_predictor_has_no_risk(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    study(folder)
    path = folder / "north.csv"
    lines = path.read_text().splitlines()
    cells = lines[5].split(",")
    lines[5] = ",".join([*cells[:2], "", *cells[3:]])
    path.write_text("\n".join(lines) + "\n")
    dataset = reading.study(folder).datasets[0]
    assert dataset.rows_analysed == 399
    assert sum(dataset.excluded.values()) == 1


def test_declared_updates_stand_in_the_file(found: Evidence) -> None:
    declared = json.loads(results.of(found).text())["declared"]
    assert declared["update"] == {"methods": ["intercept", "logistic", "closed_test"]}
    assert declared["prediction"] == {"from": "model"}
