"""An outcome by a horizon, from every door: R's numbers, those of a known outcome where nobody left, and faults."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from click.testing import CliRunner
from scipy.special import expit, logit

import dossier
from dossier import evaluate, reading
from dossier.command_line import cli
from dossier.core import claims, equation, types
from dossier.core.command import Quick, read
from dossier.core.errors import DossierError
from dossier.core.facts import Count, Fact
from dossier.core.release import Model, ModelTerm
from dossier.core.types import POOLED, Estimate, Evidence, Subset, find, find_in_subgroup
from dossier.metrics import utility
from dossier.metrics.censoring import TimeToEvent
from dossier.metrics.pooled import random_effects
from dossier.record import results
from dossier.report.chapters import (
    abstract,
    acceptance,
    calibration,
    caution,
    committee,
    comparison,
    context,
    description,
    discrimination,
    glossary,
    grid,
    sentence,
    verdict,
)
from dossier.report.chapters.chapter import chapters
from dossier.report.chapters.nomogram import formula
from dossier.report.figures import data
from dossier.report.figures.odds_ratios import odds_ratios_of_formula
from dossier.report.figures.participants import participant_flow
from dossier.report.unfilled import filled
from dossier.typeset import measures, reasons
from dossier.typeset.flags import flag_text
from dossier.typeset.methods import method_text
from tests.conftest import ROOT
from tests.estimated import curved, estimated, interval_of, present, refused

REFERENCE = ROOT / "tests" / "reference" / "time_to_event"
IN_R: dict[str, Any] = json.loads((REFERENCE / "survival_reference.json").read_text(encoding="utf-8"))
GBSG = pandas.read_csv(REFERENCE / "gbsg_survival.csv")
MGUS = pandas.read_csv(REFERENCE / "mgus2_competing.csv")
FIVE = 5 * 365.25
RELEASES = ROOT / "tests" / "releases" / "by_horizon"

RELEASE = (RELEASES / "release.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module", autouse=True)
def decision_curves_of_few_thresholds() -> Iterator[None]:
    """At each of 101 the weights are counted anew, a third of the time of a release; what is asked here needs few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utility, "POINTS", 11)
        yield


def released(folder: Path, frame: pandas.DataFrame = GBSG, text: str = RELEASE) -> Evidence:
    """What is found of a release of one table."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "release.toml").write_text(text, encoding="utf-8")
    frame.to_csv(folder / "gbsg.csv", index=False)
    return evaluate.evidence(reading.study(folder))


@pytest.fixture(scope="module")
def gbsg(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return released(tmp_path_factory.mktemp("horizon") / "gbsg")


def quick(folder: Path, frame: pandas.DataFrame, *options: str) -> Evidence:
    """What a quick look at a table finds."""
    frame.to_csv(folder / "table.csv", index=False)
    words = ["quick", str(folder / "table.csv"), *options, "--quiet", "-o", str(folder / "out")]
    done = CliRunner().invoke(cli.dossier, words)
    assert done.exit_code == 0, done.output
    return dossier.read_results(folder / "out").evidence


# ---- the words ------------------------------------------------------------------------------------------------------


def test_the_scale_and_the_test_are_called_what_they_are_by_a_horizon(gbsg: Evidence) -> None:
    """Intercept and slope are of the complementary log-log, their test is Wald's, and sizes follow from the errors."""
    for name in ("calibration_intercept", "calibration_slope", "calibration_intercept_joint", "calibration_test"):
        term = gbsg.terms[name]
        assert "ln(-ln(1 - p))" in term.formula
        assert not re.search("logit|log odds|ikelihood", f"{term.label} {term.sentence} {term.formula}")
    assert "ln(-ln(1 - p))" in gbsg.terms["calibration_intercept"].sentence
    assert "ln(-ln(1 - q))" in gbsg.terms["calibration_slope_of_rival"].formula
    sizes = {term.formula for term in gbsg.terms.values() if term.chapter == "sample"}
    assert sizes == {"n (SE here / SE of the width)²"}
    # A share is printed as one, not as people of a hundred.
    assert gbsg.terms["observed_risk"].sentence.startswith("The share of people who had the outcome")
    known = dossier.validate(whole().drop(columns="hospital"), outcome="event", risk="risk").evidence
    assert "logit" in known.terms["calibration_slope"].formula


def test_a_quick_look_explains_what_it_prints_and_names_no_chapter_that_it_lacks(tmp_path: Path) -> None:
    seen = quick(tmp_path, GBSG, "--time=days", "--event=event", "--at=1826.25", "--risk=risk_5y")
    names = {each.name for each in chapters() if "quick" in each.editions and each.has(seen)}
    explained = {term.name for term in glossary.printed(seen, names)}
    assert {"net_benefit", "net_benefit_gain", "calibration_slope"} <= explained
    assert not explained & {"e50", "e90", "emax", "tjur_r2", "calibration_test"}
    (table,) = measures.chapter_tables(seen, "calibration")
    assert table.note.endswith("how each was taken: in results.json.")


def test_what_is_not_stated_is_not_said_to_be(gbsg: Evidence) -> None:
    assert "the purpose is not stated" in context.finding(gbsg).rest


def test_nothing_is_asked_for_that_such_a_release_refuses(gbsg: Evidence) -> None:
    for question in claims.NOT_BY_HORIZON:
        (claim,) = claims.about(gbsg, question, "overall")
        assert (claim.state, claim.reason) == ("untested", Fact("not_by_horizon"))
    said = [filled(gbsg, each).fill for each in chapters() if not each.has(gbsg)]
    refused = ("updating", "thresholds", "periods", "readers", "previous", "internal", "severity")
    assert not [text for text in said if re.search("|".join(refused), text)]
    texts = {flag.flag: flag_text(flag.fact) for flag in gbsg.flags}
    assert texts["threshold_without_reason"].endswith("is not in the rationale of the first horizon.")


def test_a_committee_reads_that_those_without_it_need_not_be_well(gbsg: Evidence) -> None:
    said = " ".join(committee.works_here(gbsg))
    assert "It tells those with the outcome from those without 65 times of 100" in said
    assert "patients like them, who were followed, stand for them" in said
    assert "sick" not in present(gbsg.terms["auroc"].goal).label
    # A share of a smooth curve is no count.
    assert "about" in committee.are_right(gbsg).rest


def test_follow_up_without_a_unit_is_not_said_to_be_in_one(tmp_path: Path) -> None:
    table = present(description.follow_up(released(tmp_path, text=RELEASE.replace('unit = "days"\n', ""))))
    assert "in the unit of the table, which the release does not name," in table.note


def test_what_a_written_release_lacks_is_marked(tmp_path: Path) -> None:
    GBSG.to_csv(tmp_path / "table.csv", index=False)
    words = ["--time=days", "--event=event", "--at=1826.25", "--risk=risk_5y", "--table", str(tmp_path / "table.csv")]
    assert CliRunner().invoke(cli.dossier, ["init", str(tmp_path / "release"), *words]).exit_code == 0
    text = (tmp_path / "release" / "release.toml").read_text(encoding="utf-8")
    for line in ('name = "event by 1826.25"', "# unit =", "# says =", "# date =", "thresholds = { declared = [] }"):
        assert re.search(rf"^{re.escape(line)}.*  # TODO: ", text, re.MULTILINE), line
    assert "competing" not in text


@pytest.mark.parametrize(("cells", "says"), [(1, "(1 cell)"), (2, "(2 cells)")])
def test_one_cell_is_no_cells(cells: int, says: str) -> None:
    fact = Fact("read_as_missing", columns=("age",), file="a.csv", cells=Count(cells, "row"))
    assert says in flag_text(fact)


# ---- what weights rest on -------------------------------------------------------------------------------------------


def test_a_slope_that_changes_with_time_is_a_limitation(gbsg: Evidence, tmp_path: Path) -> None:
    """In R the test of Grambsch and Therneau has p .0012 on five years of GBSG, and .14 on three."""
    said = {flag.flag: flag_text(flag.fact) for flag in gbsg.flags}
    assert "slope is 0.83 at the horizon, and 1.06 in a Cox regression" in said["slope_over_time"]
    three = RELEASE.replace("1826.25", "1095.75").replace("risk_5y", "risk_3y").replace("risk_pgr_5y", "risk_pgr_3y")
    assert "slope_over_time" not in {flag.flag for flag in released(tmp_path, text=three).flags}


def test_times_in_years_are_a_limitation_where_much_hangs_on_them(gbsg: Evidence, tmp_path: Path) -> None:
    """Nearly all of these patients share their time in years; in days many do too, and nothing hangs on it."""
    years = GBSG.assign(days=np.ceil(GBSG["days"] / 365.25))
    coarse = released(tmp_path, years, RELEASE.replace("1826.25", "5").replace('unit = "days"', 'unit = "years"'))
    (raised,) = [flag for flag in coarse.flags if flag.flag == "ties"]
    found = estimated(find(coarse, "observed_risk", "gbsg"))
    other = present(found.details["leaving_first"])
    assert raised.fact["other"] == other
    assert other > found.value
    assert "ties" not in {flag.flag for flag in gbsg.flags}


# ---- the numbers ----------------------------------------------------------------------------------------------------


def test_a_release_gives_the_numbers_of_r(gbsg: Evidence) -> None:
    """Weights by fifths of the risk, in the hand-written R of the reference."""
    wanted = IN_R["gbsg"]["t5"]["recommended"]["stratified"]
    for measure, key in (("oe_ratio", "oe"), ("auroc", "auc"), ("brier", "brier"), ("scaled_brier", "ipa")):
        assert estimated(find(gbsg, measure, "gbsg")).value == pytest.approx(wanted[key]["value"], abs=1e-9)
    other = IN_R["gbsg_pgr"]["t5"]["recommended"]["stratified"]["auc"]["value"]
    rival = estimated(find(gbsg, "auroc", "gbsg", model="the rival")).value
    assert rival == pytest.approx(other, abs=1e-9)
    difference = estimated(find(gbsg, "auroc_difference", "gbsg", against="the rival")).value
    assert difference == pytest.approx(wanted["auc"]["value"] - other, abs=1e-9)
    (site,) = gbsg.datasets
    assert (site.n, site.events, site.others, site.left) == (686, 285, 121, 280)
    assert site.prevalence is None


def test_marginal_weights_stand_beside_the_fifths_and_are_those_of_r(gbsg: Evidence) -> None:
    wanted = IN_R["gbsg"]["t5"]
    for measure, key in (("oe_ratio", "oe"), ("auroc", "auc"), ("brier", "brier")):
        found = estimated(find(gbsg, measure, "gbsg", weights="marginal"))
        assert found.value == pytest.approx(wanted[key]["value"], abs=1e-9)
        assert found.se == pytest.approx(wanted[key].get("se", wanted["oe"]["se_log"] * found.value), rel=1e-3)
    table = present(description.at_both_weights(gbsg))
    fifths = wanted["recommended"]["stratified"]
    both = [each[key]["value"] for key in ("auc", "oe", "brier") for each in (fifths, wanted)]
    printed = [float(cell.text) for row in table.rows for cell in row.cells]
    assert printed == pytest.approx(both, abs=0.005)
    known = dossier.validate(whole().drop(columns="hospital"), time="time", event="event", at=5, risk="risk").evidence
    assert description.at_both_weights(known) is None


def test_four_hospitals_are_pooled_by_a_horizon_as_in_r() -> None:
    """At marginal weights, on the scales of each; risks of six digits, by each horizon of R's baseline survivals."""
    found: dict[str, list[Estimate]] = {"auroc": [], "oe_ratio": [], "brier": []}
    survival = {"risk_pgr": {2: 0.891267, 3: 0.838867, 5: 0.756659}, "risk": {2: 0.904833, 3: 0.858506, 5: 0.785006}}
    for name in ("rotterdam-1988", "rotterdam-1990", "rotterdam-1992", "gbsg"):
        table = pandas.read_csv(ROOT / "fixtures" / "relapse" / f"{name}.csv")
        outcome = TimeToEvent(table.years.to_numpy(float), table.event.to_numpy(float), 5, "marginal")
        for measure, each in found.items():
            each.append(estimated(getattr(dossier.metrics, measure)(outcome, table.risk.to_numpy(float))))
        for model, of in survival.items():
            ratio = np.log1p(-table.rename(columns={"risk": "risk_5"})[f"{model}_5"]) / np.log(of[5])
            for at in (2, 3):
                assert table[f"{model}_{at}"].to_numpy() == pytest.approx(1 - of[at] ** ratio.to_numpy(), abs=6e-6)
    scales: dict[str, tuple[Any, Any, Any]] = {
        "auc_logit": (logit, expit, lambda each: each.se / (each.value * (1 - each.value))),
        "oe_log": (np.log, np.exp, lambda each: each.se / each.value),
        "brier": (float, float, lambda each: each.se),
    }
    for (key, (scale, back, error)), every in zip(scales.items(), found.values(), strict=True):
        rule = IN_R["sites"]["pooled"][key]["dossier_rule"]
        errors = np.array([error(each) for each in every])
        mean = random_effects(np.array([scale(each.value) for each in every]), errors)
        ends = [back(end) for end in (mean.value, mean.low, mean.high)]
        assert ends == pytest.approx([rule[name] for name in ("value", "lower", "upper")], abs=2e-5)
        assert mean.tau == pytest.approx(rule["tau"], abs=2e-4)


def test_the_sample_that_is_needed_follows_from_the_errors_of_r(gbsg: Evidence) -> None:
    """n (SE/SE of the width)^2: an AUROC within .1, a ratio within .2 around 1."""
    wanted = IN_R["gbsg"]["t5"]["recommended"]["stratified"]
    auroc = 686 * (wanted["auc"]["se"] / (0.1 / 3.92)) ** 2
    ratio = 686 * (wanted["oe"]["se_log"] / (np.arcsinh(0.1) / 1.96)) ** 2
    for measure, needed in (("mss_auroc", auroc), ("mss_oe", ratio)):
        assert 0 <= estimated(find(gbsg, measure, "gbsg")).value - needed < 1.1
    followed = TimeToEvent(GBSG.days.to_numpy(float), GBSG.event.to_numpy(float), FIVE)
    assert isinstance(dossier.metrics.mss_oe(followed), types.Absent)


def test_the_area_under_the_roc_curve_is_the_auroc(gbsg: Evidence) -> None:
    """Of points evenly spaced along it, none of which is the weight of one patient."""
    curve = curved(types.find_curve(gbsg, "roc", "gbsg"))
    wrong, right = (np.array(curve.columns[name], dtype=float) for name in ("fpr", "tpr"))
    assert np.trapezoid(right, wrong) == pytest.approx(estimated(find(gbsg, "auroc", "gbsg")).value, abs=1e-3)
    assert np.diff(wrong + right) == pytest.approx(0.02)
    assert (np.diff(wrong) >= 0).all()
    assert (np.diff(right) >= 0).all()
    known = dossier.validate(whole().drop(columns="hospital"), outcome="died", risk="risk").evidence
    later = dossier.validate(whole().drop(columns="hospital"), time="time", event="event", at=5, risk="risk").evidence
    ours, binary = (types.find_curve(each, "roc", "data") for each in (later, known))
    assert isinstance(binary, types.Curve)
    at = np.linspace(0.1, 0.9, 9)
    heights = [np.interp(at, data.column(each, "fpr"), data.column(each, "tpr")) for each in (curved(ours), binary)]
    assert heights[0] == pytest.approx(heights[1], abs=0.02)


def test_a_competing_event_is_no_end_of_follow_up() -> None:
    found = dossier.validate(MGUS, time="months", event="status", at=120, risk="risk_120", thresholds=[0.1])
    wanted = IN_R["mgus2"]["t120"]["recommended"]["stratified"]
    for measure, key in (("oe_ratio", "oe"), ("auroc", "auc"), ("brier", "brier")):
        assert estimated(find(found.evidence, measure, "data")).value == pytest.approx(wanted[key]["value"], abs=1e-9)
    (site,) = found.evidence.datasets
    assert (site.events, site.left, site.others) == (45, 83, 542)
    competing = [row.described for row in found.evidence.descriptions if row.described.statistic == "competing"]
    assert [(row.value, row.of) for row in competing] == [(342.0, "follow_up")]


WARDS = RELEASE.replace("predictors = []", 'predictors = []\ncluster = "ward"')


def test_clusters_of_one_patient_each_change_nothing(tmp_path: Path, gbsg: Evidence) -> None:
    found = released(tmp_path, GBSG.assign(ward=np.arange(len(GBSG))), WARDS)
    assert (found.results, found.curves) == (gbsg.results, gbsg.curves)


@pytest.mark.slow
def test_what_the_patients_of_a_ward_contribute_is_summed(tmp_path: Path, gbsg: Evidence) -> None:
    """Everybody twice: every value is as it was, and every error that of so many wards."""
    twice = pandas.concat([GBSG, GBSG]).assign(ward=np.tile(np.arange(len(GBSG)), 2))
    found = released(tmp_path, twice, WARDS)
    for measure, at in (("auroc", {}), ("brier", {}), ("calibration_slope", {}), ("net_benefit", {"threshold": 0.4})):
        ours, once = (estimated(find(evidence, measure, "gbsg", **at)) for evidence in (found, gbsg))
        assert (ours.value, ours.se) == pytest.approx((once.value, once.se), rel=1e-9)
        assert ours.details["df"] == len(GBSG) - 1
        assert f"over {len(GBSG)} clusters" in method_text(ours.method)
    young: tuple[Any, ...] = (Subset("age", "under 50"), "oe_ratio", "gbsg")
    apart, once = (estimated(find_in_subgroup(every, *young, against="complement")) for every in (found, gbsg))
    assert apart.se == pytest.approx(once.se, rel=0.02)
    bands = [types.find_curve(evidence, "decision_curve", "gbsg") for evidence in (found, gbsg)]
    wide, as_wide = (list(curve.columns["se"]) for curve in bands if isinstance(curve, types.Curve))
    assert wide == pytest.approx(as_wide, rel=0.02)
    assert isinstance(find(found, "mss_auroc", "gbsg"), types.Absent)


def whole(rows: int = 600, seed: int = 5, ends: tuple[float, float] = (0.05, 0.9)) -> pandas.DataFrame:
    """Patients of two hospitals who were all followed beyond the horizon of 5, or had the outcome before."""
    rng = np.random.default_rng(seed)
    risk = rng.uniform(*ends, rows).round(3)
    had = rng.random(rows) < risk
    time = np.where(had, rng.uniform(0, 5, rows), rng.uniform(5.01, 9, rows))
    about = {"hospital": np.where(np.arange(rows) % 3, "North", "South"), "sex": rng.choice(["f", "m"], rows)}
    columns = {"risk": risk, "rival": rng.uniform(0, 1, rows).round(3), "time": time, "event": had.astype(int)}
    return pandas.DataFrame({**columns, "died": had.astype(int), **about})


SAME = ("auroc", "brier", "scaled_brier", "oe_ratio", "sensitivity", "specificity", "ppv", "npv", "net_benefit")


def test_where_nobody_left_the_values_are_those_of_the_known_outcome() -> None:
    """Law 3: at each hospital, in groups, of the rival and over all of them."""
    asked: dict[str, Any] = {"risk": "risk", "rival": "rival", "site": "hospital", "subgroups": ["sex"]}
    asked |= {"thresholds": [0.4]}
    frame = whole()
    by_horizon = dossier.validate(frame, time="time", event="event", at=5, **asked).to_frame()
    known = dossier.validate(frame, outcome="died", **asked).to_frame()
    keys = ["measure", "model", "site", "subset_column", "subset_level", "threshold", "at"]
    both = known.merge(by_horizon, on=keys, suffixes=("", "_of_horizon"))
    alike = both[both.measure.isin(SAME) & ~both["at"].str.contains("against", na=False) & (both.role != "pooled")]
    assert set(alike.measure) == set(SAME)
    assert alike.subset_level.notna().any()
    assert (alike.status_of_horizon == alike.status).all()
    assert alike.value_of_horizon.equals(alike.value)
    assert alike.low_of_horizon.to_numpy() == pytest.approx(alike.low.to_numpy(), abs=0.03, nan_ok=True)


def after_leaving(frame: pandas.DataFrame, where: str) -> pandas.DataFrame:
    """The frame of which at one hospital all but ten of those without the outcome leave shortly before the horizon."""
    leaves = ((frame.hospital == where) & (frame.event == 0)).to_numpy()
    return frame.assign(time=np.where(leaves & (np.cumsum(leaves) > 10), 4.99, frame.time))


@pytest.mark.slow
def test_a_hospital_where_nearly_all_others_left_is_in_no_pooled_curve() -> None:
    """Its curve rests on ten patients without the outcome, however many were read."""
    rows = 1200
    frame = whole(rows, ends=(0.3, 0.7)).assign(
        hospital=np.array(["East", "North", "South", "West"])[np.arange(rows) % 4]
    )
    asked: dict[str, Any] = {"time": "time", "event": "event", "at": 5, "risk": "risk", "site": "hospital"}

    def curve(of: pandas.DataFrame) -> types.Curve:
        return curved(types.find_curve(dossier.validate(of, **asked).evidence, "calibration_curve_all_sites", POOLED))

    assert curve(frame).n == rows
    emptied = curve(after_leaving(frame, "West"))
    without = curve(frame[frame.hospital != "West"])
    assert (emptied.n, emptied.columns) == (900, without.columns)


@pytest.mark.parametrize(("leave", "flagged"), [(False, ["flagged_alike"]), (True, [])])
def test_who_left_does_not_make_enough_patients_to_tell_of_a_threshold(leave: bool, flagged: list[str]) -> None:
    frame = whole().assign(hospital="North")
    frame = after_leaving(frame, "North") if leave else frame
    asked: dict[str, Any] = {"time": "time", "event": "event", "at": 5, "risk": "risk", "thresholds": [0.02]}
    flags = dossier.validate(frame, **asked).evidence.flags
    assert [flag.flag for flag in flags if flag.flag == "flagged_alike"] == flagged


def test_a_group_is_compared_within_its_hospital_and_tested(gbsg: Evidence) -> None:
    young = Subset("age", "under 50")
    frame = GBSG[GBSG.age < 50], GBSG[GBSG.age >= 50]
    each = [
        dossier.metrics.oe_ratio(TimeToEvent(part.days.to_numpy(float), part.event.to_numpy(float), FIVE), part.risk_5y)
        for part in frame
    ]
    ours, rest = (estimated(found) for found in each)
    assert estimated(find_in_subgroup(gbsg, young, "oe_ratio", "gbsg")).value == pytest.approx(ours.value, abs=1e-12)
    found = estimated(find_in_subgroup(gbsg, young, "oe_ratio_ratio", POOLED, against="complement"))
    assert found.value == pytest.approx(ours.value / rest.value, rel=1e-9)
    assert found.details["p_value"] is not None
    wanted = sum((one.se or 0) ** 2 / one.value**2 for one in (ours, rest)) ** 0.5
    assert np.log((found.high or 0) / found.value) / 1.959964 == pytest.approx(wanted, rel=0.01)


def test_a_difference_that_right_risks_foretell_accuses_no_group() -> None:
    """Men with higher risks are found more often though every risk is right: without the test beyond them 3 of 60."""
    rng = np.random.default_rng(3)
    men = rng.random(1500) < 0.5
    linear = rng.normal(0, 1, 1500) + 0.6 * men
    risk = 1 - np.exp(-np.exp(-0.9 + 0.9 * linear))
    had = rng.exponential(5 / -np.log1p(-risk))
    left = np.minimum(rng.exponential(9, 1500), rng.uniform(4, 12, 1500))
    frame = pandas.DataFrame({"time": np.minimum(had, left), "event": (had <= left).astype(int), "risk": risk})
    frame = frame.assign(sex=np.where(men, "male", "female"), hospital=np.where(rng.random(1500) < 0.5, "A", "B"))
    asked: dict[str, Any] = {"site": "hospital", "subgroups": ["sex"], "thresholds": [0.4]}
    evidence = dossier.validate(frame, time="time", event="event", at=5, risk="risk", **asked).evidence
    at: dict[str, Any] = {"threshold": 0.4, "against": "complement"}
    found = estimated(find_in_subgroup(evidence, Subset("sex", "female"), "sensitivity", POOLED, **at))
    assert present(found.details["p_value"]) < 0.01
    assert present(found.details["p_beyond"]) > 0.1
    assert not [claim for claim in claims.about(evidence, "groups") if claim.state == "against"]


# ---- pages ----------------------------------------------------------------------------------------------------------


def test_what_is_not_known_is_said_wherever_patients_are_counted(gbsg: Evidence) -> None:
    assert "280 followed for less" in str(description.finding(gbsg).lead)
    assert "Of 280 (41 of 100) it is not known, as they were followed for less" in " ".join(committee.works_here(gbsg))
    drawn = participant_flow(gbsg)
    assert not isinstance(drawn, types.Absent)
    assert "280 followed for less" in drawn.alternative.replace("\N{NO-BREAK SPACE}", " ")
    table = present(description.follow_up(gbsg))
    assert [cell.text for cell in table.rows[0].cells[:4]] == ["686", "285", "0", "280"]


@pytest.mark.parametrize("named", [True, False])
def test_who_had_a_competing_event_is_said_wherever_patients_are_counted(named: bool, tmp_path: Path) -> None:
    """Of 670 patients 45 had the outcome, 342 the competing event first, and 83 left before."""
    meant = {0: "alive", 1: "progression", 2: "death"} if named else {0: 0, 1: 1, 2: 2}
    text = RELEASE.replace('"days"', '"months"').replace('"event"', '"status"').replace("1826.25", "120")
    text = text.replace("risk_5y", "risk_120").replace('rival = "risk_pgr_5y"\n', "")
    codes = 'positive = "progression"\ncensored = "alive"\ncompeting = ["death"]\n' if named else ""
    text = text.replace("[[horizon]]", f"{codes}[[horizon]]")
    evidence = released(tmp_path / "mgus", MGUS.assign(status=MGUS.status.map(meant)), text)
    first = " ".join(committee.works_here(evidence))
    other = " (death)" if named else ""
    assert f"To 342 (51 of 100) something else happened first{other}: they count as without it. Of 83 (12 of" in first
    assert description.finding(evidence).lead.endswith("342 with a competing event first, 83 followed for less.")
    drawn, table = participant_flow(evidence), description.follow_up(evidence)
    assert not isinstance(drawn, types.Absent)
    assert table is not None
    assert f"Competing event first{other}: known not to have the outcome" in drawn.caption
    said = drawn.alternative.replace("\N{NO-BREAK SPACE}", " ")
    assert "45 with outcome, 542 without, 342 of these competing first and 83 followed for less" in said
    assert f"Competing: with {'death' if named else 'another event'} first" in table.note
    assert "Aalen and Johansen" in table.note
    assert [column.label for column in description.sites(evidence).columns][-3:-1] == ["Events", "Competing first"]
    assert "342 with a competing event first" in " ".join(map(str, abstract.lines(evidence)))


def test_how_many_have_the_outcome_is_in_no_sentence_as_a_blank(gbsg: Evidence) -> None:
    """That prevalence of a horizon is the observed risk: .511 by fifths of the risk in R."""
    said = [caution.caveat(gbsg, term) for term in caution.cautioned(gbsg)]
    assert any("where 51% have the outcome" in text for text in said)
    assert not any(", where have" in text or "  " in text for text in said)


def test_follow_up_that_ends_by_risk_is_a_limitation(gbsg: Evidence) -> None:
    """Of GBSG the hazard ratio of leaving is 1.14 a standard deviation, p = .049 in R."""
    assert [flag.dataset for flag in gbsg.flags if flag.flag == "censoring_by_risk"] == ["gbsg"]


def test_a_number_that_rests_on_the_kind_of_weights_is_a_limitation() -> None:
    """The highest and the lowest risks leave early alike, which a hazard ratio does not see, and the weights do."""
    rng = np.random.default_rng(8)
    score = rng.normal(size=1500)
    rate = 0.2 + 0.8 * score**2 * np.where(score > 0, 3, 1)
    risk, leaves = 1 - np.exp(-np.exp(score - 0.5)), rng.exponential(1 / rate)
    happens = rng.exponential(1 / np.exp(score - 0.5))
    event = (happens <= leaves).astype(int)
    frame = pandas.DataFrame({"time": np.minimum(happens, leaves), "event": event, "risk": risk})
    found = dossier.validate(frame, time="time", event="event", risk="risk", at=1).evidence
    hazard = estimated(find(found, "censoring_by_risk", "data"))
    low, high = interval_of(hazard)
    assert low <= 1 <= high
    (flag,) = [flag for flag in found.flags if flag.flag == "censoring_by_risk"]
    assert flag.fact.code == "weights_part"
    apart = [
        abs(estimated(find(found, measure, "data", weights="marginal")).value - plain.value) / (plain.se or 1)
        for measure in ("auroc", "oe_ratio", "brier")
        for plain in [estimated(find(found, measure, "data"))]
    ]
    assert max(apart) > 1


def test_a_horizon_near_the_end_of_follow_up_is_a_limitation(gbsg: Evidence, tmp_path: Path) -> None:
    """By the reverse Kaplan-Meier estimate few would be followed for 2,400 days, and enough for five years."""
    late = released(tmp_path / "late", text=RELEASE.replace("at = 1826.25", "at = 2400"))
    said = {flag.flag: flag_text(flag.fact) for flag in late.flags}
    share = present(estimated(find(late, "observed_risk", "gbsg")).details["followed"])
    assert share < 0.2
    assert f"without events {100 * share:.0f}% of the patients would be followed to it" in said["few_followed"]
    assert "few_followed" not in {flag.flag for flag in gbsg.flags}
    further = RELEASE + LATER.replace("1095.75", "2400")
    (raised,) = [
        each.fact for each in released(tmp_path / "further", text=further).flags if each.flag == "few_followed"
    ]
    assert flag_text(raised) == said["few_followed"].replace("The horizon", "The horizon (by 2400)")


def test_the_register_judges_by_the_numbers_of_the_horizon(gbsg: Evidence) -> None:
    (order,) = claims.about(gbsg, "discrimination", "hospital")
    assert (order.state, order.value) == ("shown", estimated(find(gbsg, "auroc", "gbsg")).value)
    (rival,) = [claim for claim in claims.about(gbsg, "comparators", "hospital") if claim.measure == "auroc_difference"]
    assert rival.state == "against"


# ---- risks of a Cox model -------------------------------------------------------------------------------------------

IN_R_AT = {year: float(np.exp(np.log1p(-GBSG[f"risk_{year}y"]) / np.exp(GBSG.lp)).iloc[0]) for year in (2, 5)}
"""The survival by so many years of who has a linear predictor of 0, in the Cox model of the reference."""
COX = (
    RELEASE.replace("predictors = []", 'predictors = ["lp"]')
    + """
[model]
[[model.term]]
predictor = "lp"
coefficient = 1
"""
)


def cox(survival: float, of: str = COX, instead: str = 'risk = "risk_5y"\n') -> str:
    """The release with the risks of the formula in place of its column, or beside it."""
    return of.replace(instead, f"baseline_survival = {survival!r}\n")


def test_risks_of_baseline_survivals_are_those_of_r(tmp_path: Path, gbsg: Evidence) -> None:
    later = cox(IN_R_AT[2], LATER.rsplit("[[horizon]]", 1)[0], 'risk = "risk_2y"\n')
    found = released(tmp_path, GBSG.drop(columns=["risk_5y", "risk_2y"]), cox(IN_R_AT[5]) + later)
    for measure in ("auroc", "oe_ratio", "calibration_slope", "observed_risk"):
        ours, of_column = (estimated(find(evidence, measure, "gbsg")) for evidence in (found, gbsg))
        assert (ours.value, ours.se) == pytest.approx((of_column.value, of_column.se), rel=1e-9)
    (ratio,) = (each.found for each in found.later if each.term == "oe_ratio" and each.dataset == "gbsg")
    wanted = IN_R["gbsg"]["t2"]["recommended"]["stratified"]["oe"]["value"]
    assert estimated(ratio).value == pytest.approx(wanted, abs=1e-9)
    assert results.read(results.of(found).text()).evidence.release == found.release


def test_a_centre_is_taken_off_the_terms() -> None:
    """Of one at the centre the risk is 1 - S0; where the hazard is doubled it is 1 - S0^2."""
    model = Model(baseline_survival=0.9, centre=3.0, term=(ModelTerm(predictor="age", coefficient=0.5),))
    found = equation.risk(model, [types.Feature("age", np.array([6.0, 6.0 + 2 * np.log(2), np.nan]))])
    assert found == pytest.approx([0.1, 0.19, np.nan], nan_ok=True)


@pytest.mark.parametrize(("survival", "differs"), [(IN_R_AT[5], False), (0.5, True)])
def test_a_declared_survival_is_held_against_the_risks(survival: float, differs: bool, tmp_path: Path) -> None:
    beside = COX.replace('risk = "risk_5y"\n', f'risk = "risk_5y"\nbaseline_survival = {survival!r}\n')
    found = released(tmp_path, GBSG, beside)
    apart = estimated(find(found, "formula_difference", "gbsg")).value
    assert (apart > 0.01, apart < 1e-9) == (differs, not differs)
    assert ("model_differs" in [flag.flag for flag in found.flags]) is differs


def test_the_nomogram_of_a_cox_model_ends_in_its_risks(tmp_path: Path) -> None:
    found = released(tmp_path, GBSG, cox(0.8038) + LATER)
    total = curved(types.find_curve(found, "points_total", types.MODEL))
    linear, risk = (np.array(total.columns[name], dtype=float) for name in ("linear_predictor", "risk"))
    lowest = -np.log(IN_R_AT[5]) * np.exp(sorted(GBSG.lp)[9])
    assert np.exp(linear[0]) == pytest.approx(lowest, rel=0.2)
    assert risk == pytest.approx(1 - np.exp(-np.exp(linear)), abs=1e-12)
    rows = {row.label: [cell.text for cell in row.cells] for row in formula(found).rows}
    assert rows["Baseline survival"] == ["Constant", "0.8038"]
    assert formula(found).note.startswith("Risk = 1 − S^exp(linear predictor − centre)")
    drawn = odds_ratios_of_formula(found)
    assert not isinstance(drawn, types.Absent)
    assert drawn.message.startswith("The hazard ratio farthest from 1 is")


LATER = (RELEASES / "later.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return released(tmp_path_factory.mktemp("several") / "gbsg", GBSG, f"{RELEASE}{LATER}")


def test_each_horizon_is_a_further_look_of_one_family(several: Evidence, gbsg: Evidence) -> None:
    """Three tests of the size of risks, and three differences from the other model and two, by Holm's correction."""
    assert [(each.term, each.at) for each in several.results] == [(each.term, each.at) for each in gbsg.results]
    sizes = {each.at.get("horizon"): each for each in claims.about(several, "calibration", "hospital")}
    tests = {at: estimated(find(several, "calibration_test", "gbsg", **each.at)) for at, each in sizes.items()}
    ranked = sorted((test.details["p_value"] or 0.0, at or 0.0) for at, test in tests.items())
    corrected = itertools.accumulate(((3 - k) * p for k, (p, _) in enumerate(ranked)), max)
    wanted = {at or None: min(p, 1.0) for (_, at), p in zip(ranked, corrected, strict=True)}
    assert {at: (each.looks, each.p_adjusted) for at, each in sizes.items()} == {at: (3, p) for at, p in wanted.items()}
    # Both models rank alike by two years, which is no test.
    assert [each.looks for each in claims.about(several, "comparators") if each.p_adjusted is not None] == [5] * 5
    for horizon, key in ((730.5, "t2"), (1095.75, "t3")):
        wanted = IN_R["gbsg"][key]["recommended"]["stratified"]
        for measure, name in (("observed_risk", "observed"), ("oe_ratio", "oe"), ("auroc", "auc"), ("brier", "brier")):
            (found,) = (
                result.found
                for result in several.later
                if (result.measure, result.dataset, result.at) == (measure, "gbsg", {"horizon": horizon})
            )
            assert estimated(found).value == pytest.approx(wanted[name]["value"], abs=1e-9)
    again = results.read(results.of(several).text()).evidence
    assert (again.results, again.later) == (several.results, several.later)
    assert [(site.left, site.others) for site in again.datasets] == [(280, 121)]
    table = present(discrimination.by_horizon(several))
    groups = [row.label for row in table.rows if row.kind == "group"]
    assert groups == ["Within five years", "Within two years", "Within three years"]


def test_a_rival_and_thresholds_are_of_the_horizon_that_names_them(several: Evidence) -> None:
    """R's numbers of two and of three years, the risks of the latter held against the former's outcome too."""
    at_two: dict[str, Any] = {"horizon": 730.5}
    two, three = (IN_R["gbsg"][key]["recommended"]["stratified"] for key in ("t2", "t3"))
    (wanted,) = (each for each in two["thresholds"] if each["threshold"] == 0.3)
    for measure, key in (("sensitivity", "sens"), ("specificity", "spec"), ("net_benefit", "nb")):
        found = estimated(find(several, measure, "gbsg", threshold=0.3, **at_two))
        assert found.value == pytest.approx(wanted[key], abs=1e-9)
    rival = estimated(find(several, "auroc", "gbsg", model="the rival", **at_two))
    outcome = TimeToEvent(GBSG.days.to_numpy(float), GBSG.event.to_numpy(float), 730.5)
    assert rival.value == pytest.approx(estimated(dossier.metrics.auroc(outcome, GBSG.risk_3y)).value, abs=1e-12)
    difference = estimated(find(several, "auroc_difference", "gbsg", against="the rival", **at_two)).value
    assert difference == pytest.approx(two["auc"]["value"] - rival.value, abs=1e-12)
    beside = [table for table in comparison.tables(several) if table.title.startswith("Within ")]
    assert {table.title.split(". ")[0] for table in beside} == {"Within two years"}
    printed = [cell.text.replace("\N{MINUS SIGN}", "-") for table in beside for row in table.rows for cell in row.cells]
    assert f"{difference:.3f}" in printed
    last = {"horizon": 1095.75}
    assert estimated(find(several, "auroc", "gbsg", **last)).value == pytest.approx(three["auc"]["value"], abs=1e-9)
    assert not [each for each in several.later if each.at["horizon"] == 1095.75 and "model" in each.at]
    (table,) = discrimination.at_thresholds(several)
    said = [row.label.replace("\N{NO-BREAK SPACE}", " ") for row in table.rows if row.kind == "group"]
    assert said == ["Threshold 0.50, primary", "Threshold 0.40", "Threshold 0.30, within two years"]


def unspaced(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_a_better_model_by_a_further_horizon_is_said(tmp_path: Path) -> None:
    """The risks of two years as the rival's of those of three: ranked alike, and nearer to what happened by then."""
    swapped = LATER.replace('risk = "risk_2y"\nrival = "risk_3y"', 'risk = "risk_3y"\nrival = "risk_2y"')
    found = released(tmp_path / "gbsg", GBSG, f"{RELEASE}{swapped}")
    better = {
        (each.measure, "horizon" in each.at) for each in comparison.better_rivals(found) if each.state == "against"
    }
    assert ("brier_difference", True) in better
    assert "in Brier score at The German hospitals within two years by" in unspaced(comparison.where_better(found))
    (flag,) = [flag for flag in found.flags if flag.flag == "rival_better"]
    assert "Brier score by 730.5, by" in flag_text(flag.fact)
    assert "Brier score within two years, by" in unspaced(flag_text(flag.fact, reasons.known_names(found)))
    assert "does better within two years" in unspaced(committee.better.another_is_better(found))


def test_another_model_may_have_risks_by_a_further_horizon_alone(tmp_path: Path) -> None:
    text = f"{RELEASE}{LATER}".replace('rival = "risk_pgr_5y"\n', "")
    found = released(tmp_path / "gbsg", GBSG, text)
    known = claims.about(found, "comparators", "hospital")
    assert {each.at["horizon"] for each in known} == {730.5}
    assert "Of 3 comparisons with the rival, two found the model better" in unspaced(comparison.finding(found).lead)
    assert committee.better.than_the_other_model(found).startswith("Beside the rival within two years: ")
    criterion = CRITERIA[: CRITERIA.index("[[acceptance]]", 5)].replace('"auroc"', '"brier_difference"')
    asked = criterion.replace("730.5 }", '730.5, against = "the rival" }').replace("0.69", "-1")
    (judged,) = released(tmp_path / "asked", GBSG, f"{text}{asked}").criteria
    assert judged.state == "shown"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ({"against": "PgR_score"}, "against PgR_score"),
        ({"threshold": 0.5, "against": "PgR_score"}, "at 0.50 against PgR_score"),
        ({"horizon": 730.5, "against": "PgR_score"}, "against PgR_score, within two years"),
        ({"class": "high", "threshold": 0.5}, "at 0.50 of class high"),
        ({"tau": 0.7, "priority": "equal", "model": "PgR_score"}, "at tau 0.70 and priority equal of PgR_score"),
        ({"threshold": 0.5, "against": "previous"}, "at 0.50, change since the previous release"),
    ],
)
def test_the_settings_of_a_criterion_are_english(at: types.At, said: str, several: Evidence) -> None:
    criterion = types.Criterion(1, "auroc", "gbsg", None, at, "value", 0.5, None, None, "untested")
    assert unspaced(acceptance.label(several, criterion)) == f"AUROC {said}"


def test_wrong_risks_by_a_further_horizon_are_on_page_1(tmp_path: Path) -> None:
    """Half the risks by two years, the right ones by five and three: of each page the row, the sentence, the step."""
    found = released(tmp_path / "gbsg", GBSG.assign(risk_2y=GBSG.risk_2y / 2), f"{RELEASE}{LATER}")
    against = [each for each in claims.about(found, "calibration") if each.state == "against"]
    assert {(each.scope, each.at["horizon"]) for each in against} == {("overall", 730.5), ("hospital", 730.5)}
    (row,) = [row for row in grid.table(found).rows if row.label == grid.QUESTION["calibration"]]
    assert [cell.text for cell in row.cells][:2] == ["against", "1\N{NO-BREAK SPACE}against, 2\N{NO-BREAK SPACE}open"]
    assert unspaced(row.cells[2].text).startswith("The German hospitals within two years: O/E")
    said = unspaced(sentence.where_risks_are_off(found))
    assert said.startswith("Risks are far too low in The German hospitals within two years (O/E ")
    headline = calibration.finding(found).lead
    assert headline.startswith("Calibration is shown to be off in The German hospitals within two years (risks too low")
    tested = {what: unspaced(text) for what, text in verdict.tested(found)}
    assert tested["Output"].endswith("within five years, within two years and within three years")
    wanted = "0.50 (primary), 0.40; within two years 0.30; within three years none declared"
    assert tested["Thresholds"] == wanted
    assert said in unspaced({line.label: line.text for line in abstract.lines(found)}["Results"])
    (flag,) = [flag for flag in found.flags if flag.flag == "risks_off"]
    assert "as many events by 730.5 as the risks add up to" in flag_text(flag.fact)
    for here in (found, found.at_hospital("gbsg")):
        lead = committee.percentages.are_right(here).lead
        assert lead.startswith("Not all: within two years they are too low as a whole")
        assert "Its percentages are wrong" in committee.first_page.answer(here)
        assert any("Do not show patients its percentages" in step for step in committee.to_do.steps(here))
        dangers = [danger.text for danger in committee.dangers.could_go_wrong(here)]
        assert "Its percentages are too low for the patients as a whole within two years." in dangers
        assert "When it said 50% within five years, about" in committee.are_right(here).rest
        purpose = committee.what_it_is(here)
        assert "within five years, within two years and within three years." in purpose
        assert "From 50% within five years and 30% within two years on" in purpose
        assert "Numbers without a time beside them are within five years." in purpose
    assert results.read(results.of(found).text()).evidence.flags == found.flags
    assert "risks_off" in {flag.flag for flag in evaluate.preview(reading.study(tmp_path / "gbsg")).flags}


@pytest.mark.slow
def test_a_rival_has_one_name_by_every_horizon_also_where_the_first_has_none(tmp_path: Path) -> None:
    named, only = '[prediction]\nrival_name = "older"\n', '[[rival]]\nname = "older"\ncolumn = "risk_pgr_5y"\n'
    rival, both = 'rival = "risk_pgr_5y"\n', [0, 1, 0, 1, 0]
    for k, (name, first, rows) in enumerate([(named, "", [0, 0, 1, 0]), (named, rival, both), (only, "", both)]):
        text = f"{name}{RELEASE}{LATER}".replace(rival, first)
        table = present(discrimination.by_horizon(released(tmp_path / f"{k}", GBSG, text)))
        assert [row.label == "older" for row in table.rows if row.kind != "group"] == rows


CRITERIA = (RELEASES / "criteria.toml").read_text(encoding="utf-8")


def test_a_criterion_is_judged_by_its_horizon(tmp_path: Path, several: Evidence) -> None:
    """R has an AUROC of .6890 by two years at marginal weights; at five the number is that of all else."""
    found = released(tmp_path, GBSG, f"{RELEASE}{LATER}{CRITERIA}")
    assert found.later == several.later
    observed = [each.observed for each in found.criteria]
    wanted = [
        find(found, "auroc", "gbsg", horizon=730.5),
        find(found, "net_benefit", "gbsg", threshold=0.3, horizon=730.5),
        find(found, "auroc", "gbsg"),
    ]
    assert observed == [estimated(each).value for each in wanted]
    assert len(set(observed)) == 3
    assert (found.terms["auroc"].limits, found.terms["net_benefit"].limits) == ((0.6,), ())
    named = [acceptance.label(found, each).replace("\N{NO-BREAK SPACE}", " ") for each in found.criteria]
    assert named == ["AUROC, within two years", "Net benefit at 0.30, within two years", "AUROC"]
    claimed = [claim for claim in claims.of(found) if claim.limit_source == "declared" and "horizon" in claim.at]
    assert {(claim.value, claim.measure) for claim in claimed if claim.scope == "hospital"} == {
        *zip(observed[:2], ("auroc", "net_benefit"), strict=True)
    }
    assert results.read(results.of(found).text()).evidence.criteria == found.criteria


@pytest.mark.parametrize(
    ("part", "instead", "says"),
    [
        ("horizon = 730.5 }\nat_least = 0.69", "horizon = 731 }\nat_least = 0.69", "The horizon 731 is not declared"),
        ("threshold = 0.3,", "threshold = 0.5,", "The threshold 0.5 is not declared"),
        ("{ declared = [0.3] }", "{ declared = [0.3], range = [0.1, 0.4] }", "range of thresholds is of the first"),
        ('rival = "risk_3y"', 'rival = "nowhere"', "nowhere"),
        ("at = 1095.75", "at = 5000", "The horizon is 5000, and the longest follow-up is"),
    ],
)
def test_what_no_further_horizon_has_is_refused_by_name(part: str, instead: str, says: str, tmp_path: Path) -> None:
    text = f"{RELEASE}{LATER}{CRITERIA}"
    assert part in text
    assert says in str(refused(released, tmp_path, GBSG, text.replace(part, instead, 1)))


@pytest.mark.parametrize("key", ["rival", "column", "from", "columns", "rivals"])
def test_what_each_horizon_says_is_not_said_of_all(key: str, tmp_path: Path) -> None:
    """The name of the rival and the scale are, and no column is asked for that the horizon names."""
    value = '["a", "b"]' if key.endswith("s") else '"model"' if key == "from" else '"risk_5y"'
    (fault,) = refused(released, tmp_path, text=f'[prediction]\nrival_name = "old"\n{key} = {value}\n{RELEASE}').faults
    assert (fault.code, fault.where) == ("beside_horizon", f"release.toml, [prediction] {key}")


def test_risks_that_fall_with_time_are_flagged(tmp_path: Path) -> None:
    frame = GBSG.assign(risk_2y=np.where(GBSG.index < 3, 0.9, GBSG.risk_2y))
    every = released(tmp_path, frame, f"{RELEASE}{LATER}").flags
    said = [flag_text(flag.fact) for flag in every if flag.flag == "risks_fall_with_time"]
    assert said == ["in gbsg 3\N{NO-BREAK SPACE}rows have a lower risk by 1095.75 than by 730.5."]


@pytest.mark.parametrize(("named", "whose"), [('risk = "risk_2y"', "model"), ('rival = "risk_3y"', "other model")])
def test_one_column_of_risks_by_two_horizons_is_flagged(named: str, whose: str, tmp_path: Path) -> None:
    column = "risk_5y" if whose == "model" else "risk_pgr_5y"
    every = released(tmp_path, text=RELEASE + LATER.replace(named, f'{named.split(" ")[0]} = "{column}"')).flags
    (said,) = [flag_text(flag.fact) for flag in every if flag.flag == "same_by_two_horizons"]
    assert said.startswith(f"in gbsg the {whose} gives every row the same risk by 730.5 as by 1826.25, between")


@pytest.mark.parametrize("event", [0, 1, 2])
def test_an_event_when_the_follow_up_begins_is_flagged(event: int) -> None:
    frame = GBSG.assign(days=np.where(GBSG.index < 3, 0, GBSG.days), event=np.where(GBSG.index < 3, event, GBSG.event))
    found = dossier.validate(frame, time="days", event="event", at=FIVE, risk="risk_5y").evidence
    said = [flag_text(flag.fact).split(":")[0] for flag in found.flags if flag.flag == "event_at_start"]
    assert said == (["in data 3\N{NO-BREAK SPACE}rows have an event at time 0"] if event else [])


# ---- doors ----------------------------------------------------------------------------------------------------------


def test_words_may_stand_for_what_happened(tmp_path: Path, gbsg: Evidence) -> None:
    words = GBSG.assign(event=GBSG.event.map({0: "alive", 1: "relapse"}))
    text = RELEASE.replace('unit = "days"', 'unit = "days"\npositive = "relapse"\ncensored = "alive"')
    assert released(tmp_path, words, text).results == gbsg.results


def test_time_in_another_unit_changes_nothing(tmp_path: Path, gbsg: Evidence) -> None:
    years = GBSG.assign(days=GBSG.days / 365.25)
    found = released(tmp_path, years, RELEASE.replace("at = 1826.25", "at = 5.0"))
    for now, before in zip(found.results, gbsg.results, strict=True):
        if isinstance(before.found, Estimate):
            assert estimated(now.found).value == pytest.approx(before.found.value, abs=1e-9)


def test_a_quick_look_is_asked_for_as_it_was() -> None:
    asked = Quick("event", "risk_5y", thresholds=(0.5,), time="days", at=1826.25)
    assert str(asked).startswith("dossier quick --time days --event event --at 1826.25 --risk risk_5y")
    assert read(str(asked)) == asked
    coded = Quick("event", "risk_5y", positive="2", censored="1", competing=("3", "other"), time="days", at=1826.25)
    assert "--competing 3 --competing other --positive 2 --censored 1" in str(coded)
    assert read(str(coded)) == coded


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["numbers", "words"])
def test_what_the_codes_of_a_table_mean_may_be_said_at_every_door(kind: str, tmp_path: Path) -> None:
    """As the tables of R's survival package: 1 for those who left, 2 for the outcome."""
    said: tuple[Any, ...] = (1, 2, 3) if kind == "numbers" else ("left", "relapse", "died")
    at: dict[str, Any] = {"event": "status", "time": "months", "at": 120.0, "risk": "risk_120"}
    coded = MGUS.assign(status=MGUS["status"].map(dict(enumerate(said))))
    codes: dict[str, Any] = {"censored": said[0], "positive": said[1], "competing": said[2]}
    found, same = dossier.validate(coded, **at, **codes).to_frame(), dossier.validate(MGUS, **at).to_frame()
    pandas.testing.assert_frame_equal(found, same)
    several = {**codes, "competing": [said[2]]}
    pandas.testing.assert_frame_equal(found, dossier.validate(coded, **at, **several).to_frame())
    options = [f"--{name}={value}" for name, value in (at | codes).items()]
    quick(tmp_path, coded, *options)
    of_quick = dossier.read_results(tmp_path / "out").to_frame()
    both = [each.query("measure == 'auroc' and status == 'estimated'").value.tolist() for each in (of_quick, same)]
    assert both[0] == both[1]


def test_a_column_of_1_and_2_is_not_guessed_at() -> None:
    frame = GBSG.assign(event=GBSG["event"] + 1)
    with pytest.raises(DossierError, match="event is 1 or 2, and never 0") as raised:
        dossier.validate(frame, time="days", event="event", at=FIVE, risk="risk_5y")
    assert "positive=2, censored=1; or, if nobody left, positive=1, censored=0, competing=[2]" in str(raised.value)
    # Of three codes nobody can say which is which: a mapping that left one out would make a wrong dossier.
    with pytest.raises(DossierError, match="event is 3, not one of 0, 1, 2") as raised:
        dossier.validate(
            frame.assign(event=[3, *frame["event"][1:]]), time="days", event="event", at=FIVE, risk="risk_5y"
        )
    assert "positive=2" not in str(raised.value)
    told = dossier.validate(frame, time="days", event="event", at=FIVE, risk="risk_5y", positive=2, censored=1)
    plain = dossier.validate(GBSG, time="days", event="event", at=FIVE, risk="risk_5y")
    pandas.testing.assert_frame_equal(told.to_frame(), plain.to_frame())


BROKEN = tomllib.loads((RELEASES / "broken.toml").read_text(encoding="utf-8"))["broken"]


@pytest.mark.parametrize("case", BROKEN, ids=[case["says"] for case in BROKEN])
def test_a_release_that_cannot_be_read_says_why(case: dict[str, str], tmp_path: Path) -> None:
    part, instead, says = case.values()
    assert part in RELEASE
    assert says in str(refused(released, tmp_path, GBSG, RELEASE.replace(part, instead, 1)))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"time": "days", "at": 5}, "event is None, not the name of a column"),
        ({"outcome": "event", "time": "days", "event": "event", "at": 5}, "outcome stands beside time"),
        ({}, "outcome is None, not the name of a column"),
        ({"time": "days", "event": "event", "at": "5"}, 'at is "5", not a number'),
        ({"time": "dys", "event": "event", "at": 5}, "There is no column dys"),
        ({"time": "days", "event": "event", "at": 5, "positive": 1}, "Give positive and censored"),
        ({"outcome": "event", "censored": 0}, "Give time, event and at, or leave censored out"),
        ({"time": "days", "event": "event", "at": 5, "entry": "age"}, "entry times, intervals, recurrent events and"),
    ],
)
def test_a_frame_is_told_in_the_words_of_its_arguments(given: dict[str, Any], says: str) -> None:
    raised = refused(dossier.validate, GBSG, risk="risk_5y", **given)
    assert says in str(raised)
    assert "release.toml" not in str(raised)
