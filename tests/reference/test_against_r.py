"""Tables with known answers, built whole, against R and against Python packages that are never imported here.

`golden/r.json` holds twelve significant digits: 1e-9 is "the same". R's glm stops early, so what comes from it agrees
to 5e-8 only, and so does everything that meta_sites took from glm; CalibrationCurves does not stop early.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from dossier import reading
from dossier.metrics.pooled import random_effects
from tests.reference.built import hurried, results_of, row
from tests.reference.tables import GOLDEN

SAME = 1e-9
GLM = 5e-8
GLM_SE = 1e-4
"""glm takes its standard errors from the weights of the step before the last, so they lag behind the estimate."""
THRESHOLDS = (0.1, 0.2, 0.3, 0.5)
SITES = ("A", "B", "C", "D")
REML = 1e-5
"""metafor stops its scoring at 1e-5."""

RELEASE = """
[release]
model = "golden table"
version = "1"
date = 2026-10-01
owner = "a test"
[outcome]
name = "y"
column = "y"
[prediction]
column = "p"
rival = "p2"
rival_name = "second model"
[thresholds]
declared = {thresholds}
[[dataset]]
name = "golden"
role = "external"
file = {file}
outside = true
"""


def golden(name: str = "r.json") -> Any:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def built(folder: Path, table: str, thresholds: tuple[float, ...], more: str = "") -> dict[str, Any]:
    """results.json of a release that names one table where it lies."""
    text = RELEASE.format(thresholds=list(thresholds), file=json.dumps(str(GOLDEN / table))) + more
    (folder / "release.toml").write_text(text, encoding="utf-8")
    return results_of(hurried(reading.study(folder, allow_outside=True)))


def bounds(found: dict[str, Any]) -> list[float]:
    return [found["low"], found["high"]]


@pytest.fixture(scope="module")
def by_site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return built(tmp_path_factory.mktemp("sites"), "binary.csv", THRESHOLDS, 'site_column = "site"\n')


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return built(tmp_path_factory.mktemp("whole"), "binary.csv", THRESHOLDS)


@pytest.fixture(scope="module")
def from_python(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return built(tmp_path_factory.mktemp("python"), "python/binary.csv", (0.1, 0.2, 0.5))


@pytest.fixture(scope="module", params=["p", "p2"])
def quick(request: pytest.FixtureRequest) -> tuple[dict[str, Any], dict[str, Any], str]:
    """The whole table without a release file: what is built, R's numbers, and the column of the risk."""
    study = reading.quick(GOLDEN / "binary.csv", "y", request.param, THRESHOLDS)
    return results_of(hurried(study)), golden()["core"][f"binary:{request.param}"], request.param


Quick = tuple[dict[str, Any], dict[str, Any], str]


# ---- the whole table ------------------------------------------------------------------------------------------------


def test_auroc_and_delong(quick: Quick) -> None:
    document, r, _ = quick
    found = row(document, "auroc", "binary")
    assert (found["n"], found["events"]) == (r["n"], r["events"])
    assert found["value"] == pytest.approx(r["pROC"]["auc"], abs=SAME)
    assert found["se"] == pytest.approx(r["pROC"]["se_delong"], abs=SAME)
    assert bounds(found) == pytest.approx(r["pROC"]["logit_ci"], abs=SAME)


def test_calibration_intercept_and_slope_against_glm(quick: Quick) -> None:
    document, r, _ = quick
    for measure, name in (("calibration_intercept", "citl_offset"), ("calibration_slope", "slope")):
        found, expected = row(document, measure, "binary"), r["glm"][name]
        assert found["value"] == pytest.approx(expected["est"], abs=GLM)
        assert found["se_model"] == pytest.approx(expected["se"], rel=GLM_SE)
        assert of_model(found) == pytest.approx(expected["wald"], abs=2 * GLM_SE * expected["se"] + GLM)


def of_model(found: dict[str, Any]) -> list[float]:
    """The interval of the standard error that R's glm has: ours is a sandwich from 100 events on."""
    reach = 1.959963984540054 * float(found["se_model"])
    return [found["value"] - reach, found["value"] + reach]


def test_calibration_intercept_and_slope_against_calibration_curves(whole: dict[str, Any]) -> None:
    r = golden()["CalibrationCurves"]["binary"]
    for measure in ("intercept", "slope"):
        found = row(whole, f"calibration_{measure}", "golden")
        assert [found["value"], *of_model(found)] == pytest.approx(r[measure], abs=SAME)


def test_slope_against_val_prob(quick: Quick) -> None:
    document, r, _ = quick
    assert row(document, "calibration_slope", "binary")["value"] == pytest.approx(r["val_prob"]["Slope"], abs=SAME)


def test_scores(quick: Quick) -> None:
    """riskRegression takes the variance of the squared errors over n - 1, and normal bounds where ours are t."""
    document, r, risk = quick
    brier = row(document, "brier", "binary")
    assert brier["value"] == pytest.approx(r["scores"]["brier"], abs=SAME)
    (expected,) = (record for record in golden()["riskRegression_binary"]["Brier"] if record["model"] == risk)
    assert brier["se"] == pytest.approx(expected["se"], abs=SAME)
    reach = student.ppf(0.975, r["n"] - 1) * expected["se"]
    assert bounds(brier) == pytest.approx([expected["Brier"] - reach, expected["Brier"] + reach], abs=SAME)
    scaled = row(document, "scaled_brier", "binary")["value"]
    assert scaled == pytest.approx(r["scores"]["brier_scaled_prev"], abs=SAME)
    assert row(document, "log_score", "binary")["value"] == pytest.approx(-r["scores"]["logloss"], abs=SAME)


def test_observed_over_expected(quick: Quick) -> None:
    document, r, _ = quick
    found = row(document, "oe_ratio", "binary")
    assert found["value"] == pytest.approx(r["oe"]["oe"], abs=SAME)
    assert found["se_fixed"] == pytest.approx(r["oe"]["se_log"], abs=SAME)
    reach = 1.959963984540054 * found["se_fixed"]
    fixed = [found["value"] * math.exp(-reach), found["value"] * math.exp(reach)]
    assert fixed == pytest.approx(r["oe"]["ci_log"], abs=SAME)
    assert fixed[0] < bounds(found)[0] < bounds(found)[1] < fixed[1]  # the expected number goes along with the events


@pytest.mark.parametrize("position", range(len(THRESHOLDS)))
def test_at_each_threshold(quick: Quick, position: int) -> None:
    document, core, _ = quick
    r = core["thresholds"][position]
    assert (r["t"], r["rule"]) == (THRESHOLDS[position], "p>=t")
    for measure, name in (("sensitivity", "sens"), ("specificity", "spec"), ("ppv", "ppv"), ("npv", "npv")):
        found = row(document, measure, "binary", threshold=r["t"])
        assert [found["value"], *bounds(found)] == pytest.approx([r[name]["est"], *r[name]["wilson"]], abs=SAME)
    net_benefit = row(document, "net_benefit", "binary", threshold=r["t"])["value"]
    assert net_benefit == pytest.approx(r["net_benefit"], abs=SAME)
    standardized = row(document, "standardized_net_benefit", "binary", threshold=r["t"])["value"]
    assert standardized == pytest.approx(r["net_benefit"] / (core["events"] / core["n"]), abs=SAME)


def test_net_benefit_against_dcurves(quick: Quick) -> None:
    document, _, risk = quick
    rows = [record for record in golden()["dcurves"]["binary"]["dca"] if record["variable"] == risk]
    expected = {row["threshold"]: row["net_benefit"] for row in rows}
    for threshold in THRESHOLDS:
        found = row(document, "net_benefit", "binary", threshold=threshold)["value"]
        assert found == pytest.approx(expected[threshold], abs=SAME)


# ---- two models on the same rows ------------------------------------------------------------------------------------


def test_paired_delong(whole: dict[str, Any]) -> None:
    r = golden()["compare"]["binary"]["delong_paired"]
    found = row(whole, "auroc_difference", "golden", against="second model")
    assert found["value"] == pytest.approx(r["auc"][0] - r["auc"][1], abs=SAME)
    assert found["value"] / found["se"] == pytest.approx(r["z"], abs=1e-8)
    assert found["p_value"] == pytest.approx(r["p"], abs=SAME)
    assert bounds(found) == pytest.approx(r["ci"], abs=SAME)


def test_paired_brier(whole: dict[str, Any]) -> None:
    """riskRegression subtracts the other way round."""
    contrasts = golden()["riskRegression_binary"]["Brier_contrasts"]
    (r,) = (contrast for contrast in contrasts if (contrast["model"], contrast["reference"]) == ("p2", "p"))
    found = row(whole, "brier_difference", "golden", against="second model")
    assert found["value"] == pytest.approx(-r["delta.Brier"], abs=SAME)
    assert found["se"] == pytest.approx(r["se"], abs=SAME)


# ---- the four sites -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("position", range(len(SITES)))
def test_site(by_site: dict[str, Any], position: int) -> None:
    r = golden()["meta_sites"]["input"][position]
    site = f"golden-{r['site'].lower()}"
    assert r["site"] == SITES[position]
    (summary,) = (dataset for dataset in by_site["datasets"] if dataset["name"] == site)
    assert (summary["n"], summary["events"]) == (r["n"], r["O"])

    auroc = row(by_site, "auroc", site)
    assert [auroc["value"], auroc["se"]] == pytest.approx([r["auc"], r["se_auc"]], abs=SAME)
    reach = 1.959963984540054 * r["se_lauc"]
    logits = [math.log(bound / (1 - bound)) for bound in bounds(auroc)]
    assert logits == pytest.approx([r["y_lauc"] - reach, r["y_lauc"] + reach], abs=1e-8)

    ratio = row(by_site, "oe_ratio", site)
    assert ratio["value"] == pytest.approx(r["O"] / r["E"], abs=SAME)
    assert ratio["se_fixed"] == pytest.approx(r["se_loe"], abs=SAME)

    slope, intercept = (row(by_site, f"calibration_{text}", site) for text in ("slope", "intercept"))
    assert [slope["value"], intercept["value"]] == pytest.approx([r["slope"], r["citl"]], abs=GLM)
    assert [slope["se_model"], intercept["se_model"]] == pytest.approx([r["se_slope"], r["se_citl"]], rel=GLM_SE)


def test_pooled_slopes() -> None:
    """REML with Hartung and Knapp's interval, from the sites that R has: their standard errors are those of glm."""
    r, sites = golden()["meta_sites"]["slope"]["REML_knha"], golden()["meta_sites"]["input"]
    assert r["se"] > golden()["meta_sites"]["slope"]["REML_z"]["se"]  # the factor is above 1: the floor does not act
    slopes, errors = (np.array([site[name] for site in sites]) for name in ("slope", "se_slope"))
    found = random_effects(slopes, errors)
    assert [found.value, found.low, found.high] == pytest.approx([r["back"]["est"], *r["back"]["ci"]], abs=REML)
    assert [found.tau, found.i2] == pytest.approx([math.sqrt(r["tau2"]), r["I2"] / 100], abs=REML)


def test_pooled(by_site: dict[str, Any]) -> None:
    """REML with Hartung and Knapp's interval."""
    r = golden()["meta_sites"]["logit_auc"]["REML_knha"]
    assert (
        r["se"] > golden()["meta_sites"]["logit_auc"]["REML_z"]["se"]
    )  # the factor is above 1: the floor does not act
    found = row(by_site, "auroc", "pooled")
    assert found["value"] == pytest.approx(r["back"]["est"], abs=REML)
    assert bounds(found) == pytest.approx(r["back"]["ci"], abs=REML)
    assert found["tau"] == pytest.approx(math.sqrt(r["tau2"]), abs=REML)
    assert found["i2"] == pytest.approx(r["I2"] / 100, abs=REML)
    assert (found["k"], found["df"]) == (len(SITES), len(SITES) - 1)


def test_pooled_where_our_floor_of_the_factor_acts() -> None:
    """The four O/E are more alike than chance allows: metafor's factor is .14 and narrows the interval to .76-.84.

    Ours is at least 1, so the SE is that of the plain model (`REML_z`), with t(k - 1) for the mean. R's sites have the
    standard errors that take the expected numbers as fixed.
    """
    narrowed, plain = (golden()["meta_sites"]["log_oe"][name] for name in ("REML_knha", "REML_z"))
    assert narrowed["se"] < plain["se"]
    sites = golden()["meta_sites"]["input"]
    values, errors = (np.array([site[name] for site in sites]) for name in ("y_loe", "se_loe"))
    found = random_effects(values, errors)
    assert found.value == pytest.approx(plain["est"], abs=SAME)
    reach = student.ppf(0.975, len(SITES) - 1) * plain["se"]
    assert [found.low, found.high] == pytest.approx([plain["est"] - reach, plain["est"] + reach], abs=SAME)
    assert (found.tau, found.i2, found.k) == (0, 0, len(SITES))


# ---- Python's packages ----------------------------------------------------------------------------------------------


def test_discrimination_against_python(from_python: dict[str, Any]) -> None:
    expected = golden("python/python_golden.json")
    of_p = expected["discrimination"]["p"]
    found = row(from_python, "auroc", "golden")
    assert (found["n"], found["events"]) == (expected["_meta"]["n"], expected["_meta"]["events"])
    assert [found["value"], found["se"]] == pytest.approx([of_p["auc_sklearn"], of_p["delong_se"]], abs=SAME)
    assert bounds(found) == pytest.approx(of_p["ci95_logit"], abs=SAME)
    paired = expected["discrimination"]["paired_p_vs_p2"]
    difference = row(from_python, "auroc_difference", "golden", against="second model")
    assert difference["value"] == pytest.approx(paired["diff_auc"], abs=SAME)
    assert difference["p_value"] == pytest.approx(paired["p_two_sided"], abs=SAME)
    assert bounds(difference) == pytest.approx(paired["ci95_diff"], abs=SAME)


@pytest.mark.parametrize("threshold", [0.1, 0.2, 0.5])
def test_net_benefit_against_python(from_python: dict[str, Any], threshold: float) -> None:
    """One to two risks of `p`, and 13 to 66 of `p2`, lie on the threshold itself and count as positive."""
    net_benefit = golden("python/python_golden.json")["net_benefit"]
    expected, rival = (net_benefit[text][str(threshold)] for text in ("p", "p2"))
    found = row(from_python, "net_benefit", "golden", threshold=threshold)["value"]
    assert found == pytest.approx(expected["nb_ge"], abs=SAME)
    assert found != pytest.approx(expected["nb_gt"], abs=SAME)
    standardized = row(from_python, "standardized_net_benefit", "golden", threshold=threshold)["value"]
    assert standardized == pytest.approx(expected["snb_ge"], abs=SAME)
    difference = row(from_python, "net_benefit_difference", "golden", threshold=threshold, against="second model")[
        "value"
    ]
    assert difference == pytest.approx(expected["nb_ge"] - rival["nb_ge"], abs=SAME)


def test_calibration_against_python(from_python: dict[str, Any]) -> None:
    expected = golden("python/python_golden.json")["calibration"]["p"]
    values = {
        "brier": expected["brier_sklearn"],
        "scaled_brier": expected["scaled_brier_ipa"],
        "log_score": -expected["log_loss"],
        "oe_ratio": expected["oe"]["O/E"],
    }
    for measure, value in values.items():
        assert row(from_python, measure, "golden")["value"] == pytest.approx(value, abs=SAME)
    intercept, large = row(from_python, "calibration_intercept", "golden"), expected["cal_in_the_large_offset"]
    assert [intercept["value"], intercept["se_model"]] == pytest.approx([large["est"], large["se"]], abs=SAME)
    assert of_model(intercept) == pytest.approx(large["ci95_wald"], abs=SAME)
    slope, weak = row(from_python, "calibration_slope", "golden"), expected["weak_calibration"]
    assert [slope["value"], slope["se_model"]] == pytest.approx([weak["slope"], weak["slope_se"]], abs=SAME)
    assert of_model(slope) == pytest.approx(weak["slope_ci95_wald"], abs=SAME)


# ---- how the table was read -----------------------------------------------------------------------------------------


def test_sites_are_the_whole_table(by_site: dict[str, Any], whole: dict[str, Any]) -> None:
    """Splitting by `site_column` loses no row: the sites' squared errors add up to the table's, read by pandas."""
    table = pd.read_csv(GOLDEN / "binary.csv")
    squared = float(np.mean((table["p"] - table["y"]) ** 2))
    sizes = {dataset["name"]: dataset["n"] for dataset in by_site["datasets"]}
    assert sum(sizes.values()) == len(table)
    together = sum(row(by_site, "brier", name)["value"] * n for name, n in sizes.items()) / len(table)
    assert together == pytest.approx(squared, abs=1e-12)
    assert row(whole, "brier", "golden")["value"] == pytest.approx(squared, abs=1e-12)
