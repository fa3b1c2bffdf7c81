"""Every number of the golden files is compared with ours, or listed with the reason why it cannot be.

`golden/r.json` holds twelve significant digits and `golden/python/python_golden.json` full doubles: 1e-9 is "the same".
R's glm stops early (5e-8, its standard errors 1e-4 relative), metafor stops its scoring at 1e-5, irrCAC prints five
decimals. A number that appears in the files and is in neither list fails `test_nothing_is_passed_over`; a reason that
no number needs fails `test_every_reason_is_needed`.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from dossier.core import equation
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import calibration, comparison, discrimination, reliability
from dossier.metrics.correspondence import kolmogorov_smirnov, standardized_mean_difference
from dossier.metrics.human_factors import error_rate_aided
from dossier.metrics.intervals import two_sided, wilson
from dossier.metrics.pooled import random_effects
from dossier.metrics.sample import newcombe_variance, smallest_sample
from dossier.metrics.smooth_curve import curve_at, smooth_curve
from dossier.metrics.utility import net_benefit, standardized_net_benefit
from dossier.typeset.methods import method_text
from tests.estimated import curved, estimated, interval_of, present
from tests.metrics.parts import errors_of_rows, of_counts
from tests.metrics.test_pooled import COLUMNS
from tests.reference.tables import GOLDEN

SAME = 1e-9
GLM = 5e-8
REML = 1e-5
FIVE_DECIMALS = 6e-6

Compared = Iterator[tuple[str, float, float]]
"""The path of a golden number, ours, and how far they may lie apart."""


# ---- what the golden files hold -------------------------------------------------------------------------------------


@cache
def golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number with its path, the places of lists counted."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, f"{path}/{key}")
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from leaves(below, f"{path}/{index}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path[1:], float(value)


@cache
def table(name: str = "binary.csv") -> pd.DataFrame:
    return pd.read_csv(GOLDEN / name)


def columns(risk: str = "p", name: str = "binary.csv", **only: str) -> tuple[Floats, Floats]:
    read = table(name)
    for column, value in only.items():
        read = read[read[column] == value]
    return read["y"].to_numpy(float), read[risk].to_numpy(float)


def value_of(found: Estimate | Absent) -> float:
    return estimated(found).value


def bounds_of(found: Estimate | Absent) -> tuple[float, float]:
    estimate = estimated(found)
    if "se_model" in estimate.details:
        return normal(estimate.value, se_of(estimate))
    return interval_of(estimate)


def se_of(found: Estimate | Absent) -> float:
    """The standard error; of a logistic model its own, which stands beside our sandwich and which packages print."""
    estimate = estimated(found)
    return present(estimate.details.get("se_model", estimate.se))


def p_of(found: Estimate | Absent) -> float:
    return present(estimated(found).details["p_value"])


def listed(path: str, values: Any, tolerance: float = SAME) -> Compared:
    """Numbers that stand in a list."""
    for index, value in enumerate(values):
        yield f"{path}/{index}", float(value), tolerance


def normal(value: float, se: float) -> tuple[float, float]:
    """The plain interval, which R's packages take where ours is on another scale."""
    return value - two_sided(0.95) * se, value + two_sided(0.95) * se


# ---- R: one model ---------------------------------------------------------------------------------------------------


def core() -> Compared:
    for risk in ("p", "p2"):
        yield from _core(f"core/binary:{risk}", risk)


def _core(path: str, risk: str) -> Compared:
    y, p = columns(risk)
    n, events = len(y), int(y.sum())
    yield f"{path}/n", n, 0
    yield f"{path}/events", events, 0
    yield f"{path}/mean_p", float(p.mean()), SAME
    area = discrimination.auroc(y, p)
    a, se = value_of(area), se_of(area)
    yield f"{path}/pROC/auc", a, SAME
    yield f"{path}/pROC/se_delong", se, SAME
    yield f"{path}/pROC/var_delong", se**2, SAME
    yield from listed(f"{path}/pROC/ci_delong", normal(a, se))
    yield from listed(f"{path}/pROC/logit_ci", bounds_of(area))
    for name, factor, shift in (("Hmisc_rcorr_cens/C Index", 1, 0), ("Hmisc_somers2/C", 1, 0)):
        yield f"{path}/{name}", factor * a + shift, SAME
    for name in ("Hmisc_rcorr_cens/Dxy", "Hmisc_somers2/Dxy"):
        yield f"{path}/{name}", 2 * a - 1, SAME
    for name in ("Hmisc_rcorr_cens/n", "Hmisc_rcorr_cens/uncensored", "Hmisc_somers2/n"):
        yield f"{path}/{name}", n, 0
    yield f"{path}/wilcox/W", value_of(comparison.mann_whitney_u(y, p)), 1e-6
    # Theirs is two-sided.
    yield f"{path}/wilcox/p_corrected", 2 * p_of(comparison.mann_whitney_u(y, p)), SAME
    fpr, tpr = discrimination.roc_vertices(y, p)
    yield f"{path}/pROC/pauc_spec_1_0.8", discrimination.roc_part(fpr, tpr, 0, 0.2).area_below, SAME
    best = np.argmax(tpr - fpr)
    yield f"{path}/pROC/youden/0/sensitivity", float(tpr[best]), SAME
    yield f"{path}/pROC/youden/0/specificity", 1 - float(fpr[best]), SAME
    yield f"{path}/pROC/n_thresholds", len(fpr), 0
    for index, t in enumerate((0.1, 0.2, 0.3, 0.5)):
        found = f"{path}/pROC/coords_at/{index}"
        yield f"{found}/sensitivity", value_of(discrimination.sensitivity(y, p, t)), SAME
        yield f"{found}/specificity", value_of(discrimination.specificity(y, p, t)), SAME
        yield f"{found}/ppv", value_of(discrimination.ppv(y, p, t)), SAME
        yield f"{found}/npv", value_of(discrimination.npv(y, p, t)), SAME
        yield f"{found}/accuracy", value_of(discrimination.accuracy(y, p, t)), SAME
        yield from _threshold(f"{path}/thresholds/{index}", y, p, t)
    yield from _calibration(path, y, p)
    at = np.array(golden("r.json")["core"][f"binary:{risk}"]["smooth"]["grid_p"])
    yield from _smooth(f"{path}/smooth", y, p, at)


def _threshold(path: str, y: Floats, p: Floats, t: float) -> Compared:
    found = discrimination.confusion(y, p, t)
    counts = (found.true_positive, found.false_positive, found.false_negative, found.true_negative)
    for name, count in zip(("tp", "fp", "fn", "tn"), counts, strict=True):
        yield f"{path}/{name}", count, 0
    shares: dict[str, Callable[..., Estimate | Absent]] = {
        "sens": discrimination.sensitivity,
        "spec": discrimination.specificity,
        "ppv": discrimination.ppv,
        "npv": discrimination.npv,
        "acc": discrimination.accuracy,
    }
    for name, measure in shares.items():
        yield f"{path}/{name}/est", value_of(measure(y, p, t)), SAME
        yield from listed(f"{path}/{name}/wilson", bounds_of(measure(y, p, t)))
    yield f"{path}/f1", value_of(discrimination.f1(y, p, t)), SAME
    yield f"{path}/mcc", value_of(discrimination.mcc(y, p, t)), SAME
    yield f"{path}/balacc", value_of(discrimination.balanced_accuracy(y, p, t)), SAME
    kappa = discrimination.cohen_kappa_of_model(y, p, t)
    yield f"{path}/kappa", value_of(kappa), SAME
    yield f"{path}/kappa_ase", se_of(kappa), SAME
    yield f"{path}/net_benefit", value_of(net_benefit(y, p, t)), SAME
    points = {
        "se": discrimination.sensitivity,
        "sp": discrimination.specificity,
        "pv.pos": discrimination.ppv,
        "pv.neg": discrimination.npv,
        "diag.ac": discrimination.accuracy,
        "youden": discrimination.youden_j,
        "lr.pos": discrimination.likelihood_ratio_positive,
        "lr.neg": discrimination.likelihood_ratio_negative,
    }
    for name, measure in points.items():
        yield f"{path}/epiR/{name}/0", value_of(measure(y, p, t)), SAME
        if name in ("lr.pos", "lr.neg"):
            low, high = bounds_of(measure(y, p, t))
            yield f"{path}/epiR/{name}/1", low, SAME
            yield f"{path}/epiR/{name}/2", high, SAME


def _calibration(path: str, y: Floats, p: Floats) -> Compared:
    n = len(y)
    for name, measure in (
        ("citl_offset", calibration.calibration_intercept),
        ("slope", calibration.calibration_slope),
        ("joint_intercept", calibration.calibration_intercept_joint),
    ):
        found = estimated(measure(y, p))
        yield f"{path}/glm/{name}/est", found.value, GLM
        yield f"{path}/glm/{name}/se", se_of(found), 1e-4 * se_of(found)
        yield f"{path}/glm/{name}/z", found.value / se_of(found), 1e-3 * abs(found.value / se_of(found))
        yield from listed(f"{path}/glm/{name}/wald", bounds_of(found), 2e-4 * se_of(found) + GLM)
    yield f"{path}/val_prob/Intercept", value_of(calibration.calibration_intercept_joint(y, p)), SAME
    yield f"{path}/val_prob/Slope", value_of(calibration.calibration_slope(y, p)), SAME
    yield f"{path}/val_prob/Brier", value_of(calibration.brier(y, p)), SAME
    z = calibration.spiegelhalter_z(y, p)
    yield f"{path}/val_prob/S:z", value_of(z), SAME
    yield f"{path}/val_prob/S:p", p_of(z), SAME
    ideal = -2 * n * value_of(calibration.log_score(y, p))
    yield f"{path}/glm/dev_ideal", ideal, 1e-7
    ratio = estimated(calibration.oe_ratio(y, p))
    yield f"{path}/oe/O", float(y.sum()), 0
    yield f"{path}/oe/E", float(p.sum()), SAME
    yield f"{path}/oe/oe", ratio.value, SAME
    fixed = ratio.details["se_fixed"] or math.nan
    yield f"{path}/oe/se_log", fixed, SAME
    yield from listed(f"{path}/oe/ci_log", tuple(math.exp(end) for end in normal(math.log(ratio.value), fixed)))
    phi = float(y.mean())
    score, logs = value_of(calibration.brier(y, p)), value_of(calibration.log_score(y, p))
    yield f"{path}/scores/brier", score, SAME
    yield f"{path}/scores/brier_max_prev", score / (1 - value_of(calibration.scaled_brier(y, p))), SAME
    yield f"{path}/scores/brier_scaled_prev", value_of(calibration.scaled_brier(y, p)), SAME
    yield f"{path}/scores/logloss", -logs, SAME
    yield f"{path}/scores/disc_slope", value_of(calibration.tjur_r2(y, p)), SAME
    null = phi * math.log(phi) + (1 - phi) * math.log(1 - phi)
    nagelkerke = value_of(calibration.nagelkerke_r2(y, p))
    yield f"{path}/scores/cox_snell_loglik", nagelkerke * (1 - math.exp(2 * null)), SAME
    yield f"{path}/val_prob/R2", nagelkerke, SAME
    groups = curved(calibration.calibration_groups(y, p))
    held = {name: np.array(column, dtype=float) for name, column in groups.columns.items()}
    where = f"{path}/hosmer_lemeshow"
    yield f"{where}/groups", len(held["n"]), 0
    yield from listed(f"{where}/n", held["n"], 0)
    yield from listed(f"{where}/obs", held["observed"] * held["n"], SAME)
    yield from listed(f"{where}/exp", held["mean_risk"] * held["n"], SAME)
    yield from listed(f"{where}/mean_p", held["mean_risk"])
    for index, pair in enumerate(zip(held["low"], held["high"], strict=True)):
        yield from listed(f"{where}/wilson_ci/{index}", pair)


ERRORS = {"ici": "ICI", "e50": "E50", "e90": "E90", "emax": "Emax"}
FIVE_KNOTS = (0.05, 0.275, 0.5, 0.725, 0.95)


def _smooth(path: str, y: Floats, p: Floats, at: Floats) -> Compared:
    for recipe, quantiles in (("rcs5_logit", FIVE_KNOTS), ("rcs3_logit", (0.1, 0.5, 0.9))):
        found = errors_of_rows(y, p, quantiles=quantiles)
        assert not isinstance(found, Absent)
        for ours, theirs in ERRORS.items():
            yield f"{path}/{recipe}/{theirs}", found[ours], SAME
        smooth = smooth_curve(y, p, quantiles)
        assert not isinstance(smooth, Absent)
        yield from listed(f"{path}/{recipe}/knots", smooth.knots)
        if recipe == "rcs5_logit":
            names = ("Intercept", "lp", "lp'", "lp''", "lp'''")
            for name, coefficient in zip(names, smooth.fit.coefficients, strict=True):
                yield f"{path}/{recipe}/coef/{name}", float(coefficient), 3e-7  # the fit stops early
            yield from listed(f"{path}/rcs5_fit", curve_at(smooth, at), 1e-8)


# ---- R: two models, intervals of shares, several sites --------------------------------------------------------------


def compare() -> Compared:
    y, p = columns("p")
    _, p2 = columns("p2")
    path = "compare/binary"
    found = comparison.auroc_difference(y, p, p2)
    se = se_of(found)
    yield f"{path}/delong_paired/z", value_of(found) / se, SAME
    yield f"{path}/delong_paired/p", p_of(found), SAME
    yield from listed(f"{path}/delong_paired/ci", bounds_of(found))
    first, other = discrimination.auroc(y, p), discrimination.auroc(y, p2)
    yield from listed(f"{path}/delong_paired/auc", (value_of(first), value_of(other)))
    yield f"{path}/delong_paired/cov", (se_of(first) ** 2 + se_of(other) ** 2 - se**2) / 2, SAME
    yield f"{path}/improveProb/n", len(y), 0
    yield f"{path}/improveProb/na", float(y.sum()), 0
    yield f"{path}/improveProb/nb", float((1 - y).sum()), 0
    yield f"{path}/improveProb/idi", value_of(calibration.tjur_r2(y, p2)) - value_of(calibration.tjur_r2(y, p)), SAME
    for index, one_test in enumerate(golden("r.json")["compare"]["binary"]["mcnemar"]):
        paired = estimated(comparison.accuracy_difference(y, p, p2, one_test["t"]))
        yield f"{path}/mcnemar/{index}/exact_p", p_of(paired), SAME
        # b: the model alone right; c: the rival alone.
        yield f"{path}/mcnemar/{index}/b", float(paired.details["only_model"] or 0), 0
        yield f"{path}/mcnemar/{index}/c", float(paired.details["only_rival"] or 0), 0
    a, b = (discrimination.auroc(*columns("p", site=site)) for site in "AB")
    yield from listed("compare/siteA_vs_siteB_unpaired/auc", (value_of(a), value_of(b)))
    unpaired = (value_of(a) - value_of(b)) / math.hypot(se_of(a), se_of(b))
    yield "compare/siteA_vs_siteB_unpaired/D", unpaired, SAME


def proportions() -> Compared:
    for index, proportion in enumerate(golden("r.json")["proportions"]):
        x, n = proportion["x"], proportion["n"]
        yield from listed(f"proportions/{index}/wilson_prop_test_nocc", wilson(x, n, 0.95))
        if x != 1:
            yield from listed(f"proportions/{index}/wilson", wilson(x, n, 0.95))
        if 0 < x < n:
            bounds = bounds_of(error_rate_aided(of_counts(x, n - x, 1, 1)))
            for side, bound in enumerate(bounds):
                if 0 < bound < 1:
                    yield f"proportions/{index}/wald/{side}", bound, SAME


def meta_sites() -> Compared:
    given = golden("r.json")["meta_sites"]
    for index, record in enumerate(given["input"]):
        y, p = columns("p", site=record["site"])
        path = f"meta_sites/input/{index}"
        area, ratio = estimated(discrimination.auroc(y, p)), estimated(calibration.oe_ratio(y, p))
        yield f"{path}/n", len(y), 0
        yield f"{path}/O", float(y.sum()), 0
        yield f"{path}/E", float(p.sum()), SAME
        yield f"{path}/auc", area.value, SAME
        yield f"{path}/se_auc", se_of(area), SAME
        yield f"{path}/y_lauc", math.log(area.value / (1 - area.value)), SAME
        yield f"{path}/se_lauc", se_of(area) / (area.value * (1 - area.value)), SAME
        yield f"{path}/y_loe", math.log(ratio.value), SAME
        yield f"{path}/se_loe", ratio.details["se_fixed"] or math.nan, SAME
        for name, measure in (("slope", calibration.calibration_slope), ("citl", calibration.calibration_intercept)):
            yield f"{path}/{name}", value_of(measure(y, p)), GLM
            yield f"{path}/se_{name}", se_of(measure(y, p)), 1e-4 * se_of(measure(y, p))
    for measure_name, (value, se) in COLUMNS.items():
        values = np.array([golden[value] for golden in given["input"]])
        errors = np.array([golden[se] for golden in given["input"]])
        yield from _pooled(f"meta_sites/{measure_name}", measure_name, values, errors)


def _pooled(path: str, measure: str, values: Floats, errors: Floats) -> Compared:
    """Where Hartung and Knapp's factor is below 1 our interval is that of the plain model with t(k - 1)."""
    given, found = golden("r.json")["meta_sites"][measure], random_effects(values, errors)
    held = "REML_knha" if given["REML_knha"]["se"] >= given["REML_z"]["se"] else "REML_z"
    back: dict[str, Callable[[float], float]] = {"logit_auc": lambda x: 1 / (1 + math.exp(-x)), "log_oe": math.exp}
    for name in ("REML_knha", "REML_z"):
        yield f"{path}/{name}/est", found.value, REML
        yield f"{path}/{name}/tau2", found.tau**2, REML
        yield f"{path}/{name}/I2", 100 * found.i2, 1e-3
        yield f"{path}/{name}/back/est", back.get(measure, float)(found.value), REML
    yield f"{path}/{held}/se", found.se, REML
    # R's prediction interval takes tau as known: it is made here, of our mean, its error and our tau.
    reach = float(student.ppf(0.975, found.k - 2)) * math.hypot(found.tau, found.se)
    ahead = (found.value - reach, found.value + reach)
    yield from listed(f"{path}/{held}/pi_t_k2", ahead, REML)
    yield from listed(f"{path}/{held}/back/pi_k2", map(back.get(measure, float), ahead), REML)
    if held == "REML_knha":
        mean = (found.low, found.high)
        yield from listed(f"{path}/{held}/ci", mean, REML)
        yield from listed(f"{path}/{held}/back/ci", map(back.get(measure, float), mean), REML)


# ---- R: raters, net benefit, calibration packages, similarity, nomogram ---------------------------------------------


def agreement() -> Compared:
    given = golden("r.json")["agreement"]
    names = sorted({label for labels in given["diagnoses"].values() for label in labels})
    labels = np.array(
        [[names.index(golden) for golden in rater] for rater in given["diagnoses"].values()], dtype=float
    ).T
    yield "agreement/fleiss/kappa", value_of(reliability.fleiss_kappa(labels)), SAME
    yield "agreement/light", value_of(reliability.cohen_kappa(labels)), SAME
    pair = value_of(reliability.cohen_kappa(labels[:, :2]))
    yield "agreement/cohen_12/kappa", pair, SAME
    yield "agreement/cohen_12/psych_kappa", pair, SAME
    yield "agreement/cohen_12/psych_ci/1", pair, SAME
    matrix = np.array(given["kripp_matrix"], dtype=float).T
    yield "agreement/kripp/nominal", value_of(reliability.krippendorff_alpha(matrix)), SAME
    counts = np.array(given["vision_table"])
    first, other = (np.repeat(index.ravel(), counts.ravel()) for index in np.indices(counts.shape))
    eyes = np.column_stack((first, other)).astype(float)
    yield "agreement/vision_vcd/unweighted/0", value_of(reliability.cohen_kappa(eyes)), SAME


def dcurves() -> Compared:
    given = golden("r.json")["dcurves"]["binary"]
    for index, record in enumerate(given["dca"]):
        t, who = record["threshold"], record["variable"]
        y = columns()[0]
        risk = {"all": np.ones(len(y)), "none": np.zeros(len(y))}.get(who)
        risk = columns(who)[1] if risk is None else risk
        # dcurves counts everybody as flagged at a threshold of 0 and nobody when the variable is "none".
        found = discrimination.confusion(y, risk, t if who != "none" else 0.5)
        path = f"dcurves/binary/dca/{index}"
        yield f"{path}/pos_rate", float(y.mean()), SAME
        yield f"{path}/tp_rate", found.true_positive / found.n, SAME
        yield f"{path}/fp_rate", found.false_positive / found.n, SAME
        if who != "none":
            yield f"{path}/net_benefit", value_of(net_benefit(y, risk, t)), SAME
            standardized = value_of(standardized_net_benefit(y, risk, t))
            yield f"dcurves/binary/snb/{index}", standardized, SAME
        else:
            yield f"{path}/net_benefit", 0.0, 0
            yield f"dcurves/binary/snb/{index}", 0.0, 0


def packages() -> Compared:
    y, p = columns()
    path = "CalibrationCurves/binary"
    for part in ("stats", "stats_rcs"):
        yield f"{path}/{part}/Brier", value_of(calibration.brier(y, p)), SAME
        yield f"{path}/{part}/Brier scaled", value_of(calibration.scaled_brier(y, p)), SAME
        yield f"{path}/{part}/Intercept", value_of(calibration.calibration_intercept(y, p)), SAME
        yield f"{path}/{part}/Slope", value_of(calibration.calibration_slope(y, p)), SAME
    for name, measure in (("intercept", calibration.calibration_intercept), ("slope", calibration.calibration_slope)):
        found = measure(y, p)
        yield from listed(f"{path}/{name}", (value_of(found), *bounds_of(found)))
    area = discrimination.auroc(y, p)
    for name in ("newcombe", "pepe", "delong", "jackknife"):
        yield f"{path}/auc_ci/{name}/0", value_of(area), SAME
    errors = errors_of_rows(y, p, quantiles=FIVE_KNOTS)
    assert not isinstance(errors, Absent)
    for ours, theirs in {**ERRORS, "ici": "Eavg"}.items():
        yield f"pmcalibration/binary/metrics/rcs/{theirs}", errors[ours], SAME
    for index, risk in enumerate(("p", "p2")):
        area = discrimination.auroc(*columns(risk))
        where = f"riskRegression_binary/AUC/{index}"
        yield f"{where}/AUC", value_of(area), SAME
        yield f"{where}/se", se_of(area), SAME
        low, high = normal(value_of(area), se_of(area))
        yield f"{where}/lower", low, SAME
        yield f"{where}/upper", high, SAME
    yield from _risk_regression(y)


def _risk_regression(y: Floats) -> Compared:
    risks = {"Null model": np.full(len(y), y.mean()), "p": columns("p")[1], "p2": columns("p2")[1]}
    given = golden("r.json")["riskRegression_binary"]
    for index, record in enumerate(given["Brier"]):
        found, where = calibration.brier(y, risks[record["model"]]), f"riskRegression_binary/Brier/{index}"
        yield f"{where}/Brier", value_of(found), SAME
        yield f"{where}/IPA", value_of(calibration.scaled_brier(y, risks[record["model"]])), SAME
        if record["model"] != "Null model":
            yield f"{where}/se", se_of(found), SAME
            low, high = normal(value_of(found), se_of(found))
            yield f"{where}/lower", low, SAME
            yield f"{where}/upper", high, SAME
    for index, contrast in enumerate(given["Brier_contrasts"]):
        where = f"riskRegression_binary/Brier_contrasts/{index}"
        difference = comparison.brier_difference(
            y, risks[contrast["model"]], risks[contrast["reference"]], permutations=1
        )
        yield f"{where}/delta.Brier", value_of(difference), SAME
        if contrast["reference"] != "Null model":
            yield f"{where}/se", se_of(difference), SAME
            low, high = normal(value_of(difference), se_of(difference))
            yield f"{where}/lower", low, SAME
            yield f"{where}/upper", high, SAME
    paired = comparison.auroc_difference(y, risks["p2"], risks["p"])
    where = "riskRegression_binary/AUC_contrasts/0"
    yield f"{where}/delta.AUC", value_of(paired), SAME
    yield f"{where}/se", se_of(paired), SAME
    yield f"{where}/p", p_of(paired), SAME
    low, high = bounds_of(paired)
    yield f"{where}/lower", low, SAME
    yield f"{where}/upper", high, SAME


def similarity() -> Compared:
    """Site A against site D."""
    ours, theirs = (table()[table()["site"] == site] for site in "AD")
    for name in ("age", "crp"):
        a, d = ours[name].to_numpy(float), theirs[name].to_numpy(float)
        yield f"similarity/ks_{name}/D", kolmogorov_smirnov(a, d), SAME
        # Theirs is A less D.
        yield f"similarity/smd_{name}", -present(standardized_mean_difference(a, d)), SAME


def nomogram() -> Compared:
    """The model of the nomogram on its own rows: apparent measures from R's coefficients."""
    read, model = table(), golden("r.json")["nomogram"]["model"]
    linear = _linear(read["age"], read["crp"], read["stage"], read["sex"])
    risk = 1 / (1 + np.exp(-linear))
    y = read["y"].to_numpy(float)
    area = value_of(discrimination.auroc(y, risk))
    yield "nomogram/model/stats/Obs", len(y), 0
    yield "nomogram/model/stats/C", area, 5e-5  # lrm ranks risks rounded to 1/500
    yield "nomogram/model/stats/Dxy", 2 * area - 1, 1e-4
    yield "nomogram/model/stats/Brier", value_of(calibration.brier(y, risk)), SAME
    yield "nomogram/model/stats/R2", value_of(calibration.nagelkerke_r2(y, risk)), SAME
    phi = float(y.mean())
    null = phi * math.log(phi) + (1 - phi) * math.log(1 - phi)
    yield "nomogram/model/stats/Model L.R.", 2 * len(y) * (value_of(calibration.log_score(y, risk)) - null), 1e-7
    example = golden("r.json")["nomogram"]["example"]["x"]
    lp = float(_linear(*(pd.Series([example[name]]) for name in ("age", "crp", "stage", "sex")))[0])
    yield "nomogram/example/lp", lp, SAME
    yield "nomogram/example/risk", 1 / (1 + math.exp(-lp)), SAME
    assert model["formula"] == "y~age+rcs(crp,4)+stage+sex"


def _linear(age: Any, crp: Any, stage: Any, sex: Any) -> Floats:
    model = golden("r.json")["nomogram"]["model"]
    given = model["coef"]
    spline = equation.spline_design(np.asarray(crp, dtype=float), tuple(model["crp_knots"]))[1:]
    slopes = (given["crp"], given["crp'"], given["crp''"])
    total = given["Intercept"] + given["age"] * np.asarray(age, dtype=float)
    total = total + sum(slope * row for slope, row in zip(slopes, spline, strict=True))
    for level in ("II", "III"):
        total = total + given[f"stage={level}"] * (np.asarray(stage) == level)
    return np.asarray(total + given["sex=M"] * (np.asarray(sex) == "M"), dtype=float)


def edges() -> Compared:
    """Tables of a few rows at the edge. Absent where R warns, fails or returns an unfinished fit."""
    for name, record in golden("r.json")["edge"].items():
        pairs = [(a, b) for a, b in zip(record["y"], record["p"], strict=True) if b is not None and 0 <= b <= 1]
        if len(pairs) < len(record["p"]) and name == "p_out_of_range":
            continue
        y, p = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
        area = discrimination.auroc(y, p)
        if isinstance(area, Absent):
            continue
        yield f"edge/{name}/pROC/value/auc", area.value, SAME
        if method_text(area.method) == "DeLong, logit":
            yield f"edge/{name}/pROC/value/ci/1", area.value, SAME
            above, below = discrimination.placements(y, p)
            variance = present(discrimination.delong_variance(above, below))
            low, high = normal(area.value, math.sqrt(variance))
            yield f"edge/{name}/pROC/value/ci/0", max(0.0, low), SAME
            yield f"edge/{name}/pROC/value/ci/2", min(1.0, high), SAME
        if name != "p_has_0_and_1":
            yield f"edge/{name}/val_prob/value/Brier", value_of(calibration.brier(y, p)), SAME
        slope, joint = calibration.calibration_slope(y, p), calibration.calibration_intercept_joint(y, p)
        if isinstance(slope, Estimate) and name != "p_has_0_and_1":
            yield f"edge/{name}/glm_slope/value/0", value_of(joint), 1e-4
            yield f"edge/{name}/glm_slope/value/1", slope.value, 1e-4
            yield f"edge/{name}/val_prob/value/Intercept", value_of(joint), 2e-5  # lrm stops early on so few rows
            yield f"edge/{name}/val_prob/value/Slope", slope.value, 2e-5


def sample_sizes() -> Compared:
    for name, record in golden("r.json")["pmvalsampsize"].items():
        phi, area = record["args"]["prevalence"], record["args"]["cstatistic"]
        size = smallest_sample(area, phi, 0.1)
        yield f"pmvalsampsize/{name}/out/results_table/2/0", size, 0
        yield f"pmvalsampsize/{name}/out/se_cstat", math.sqrt(newcombe_variance(area, phi, size)), SAME


R = (*(core, compare, proportions, meta_sites, agreement, dcurves, packages, similarity, nomogram, edges), sample_sizes)


# ---- Python's packages ----------------------------------------------------------------------------------------------

PYTHON = "python/binary.csv"


def python_models() -> Compared:
    for risk in ("p", "p2"):
        y, p = columns(risk, PYTHON)
        area = discrimination.auroc(y, p)
        path = f"discrimination/{risk}"
        for name in ("auc", "auc_sklearn", "check_pyexvalid/auc"):
            yield f"{path}/{name}", value_of(area), SAME
        yield f"{path}/check_confidenceinterval/auc", value_of(area), 1e-6  # single precision there
        yield f"{path}/delong_se", se_of(area), SAME
        yield f"{path}/delong_var", se_of(area) ** 2, SAME
        yield f"{path}/check_pyexvalid/auc_se", se_of(area), SAME
        wald = normal(value_of(area), se_of(area))
        yield from listed(f"{path}/ci95_wald", wald)
        yield from listed(f"{path}/check_confidenceinterval/ci", wald, 1e-6)
        yield f"{path}/check_pyexvalid/auc_lower", wald[0], SAME
        yield f"{path}/check_pyexvalid/auc_upper", wald[1], SAME
        yield from listed(f"{path}/ci95_logit", bounds_of(area))
        yield f"{path}/average_precision_sklearn", value_of(discrimination.auprc(y, p)), SAME
        for t in ("0.1", "0.2", "0.5"):
            ours = value_of(net_benefit(y, p, float(t)))
            yield f"net_benefit/{risk}/{t}/nb_ge", ours, SAME
            yield f"net_benefit/{risk}/{t}/dcurves", ours, SAME
            yield f"net_benefit/{risk}/{t}/snb_ge", value_of(standardized_net_benefit(y, p, float(t))), SAME
            treat_all = present(estimated(net_benefit(y, p, float(t))).details["treat_all"])
            yield f"net_benefit/all/{t}", treat_all, SAME
            yield f"net_benefit/dcurves_all/{t}", treat_all, SAME
        yield from _python_calibration(f"calibration/{risk}", y, p)
    yield from _python_pair()
    for group in "ABC":
        y, p = columns("p", PYTHON, group=group)
        yield f"discrimination/by_group_auc_p/{group}", value_of(discrimination.auroc(y, p)), SAME
        yield f"by_group_fairlearn/auc/{group}", value_of(discrimination.auroc(y, p)), SAME
        yield f"by_group_fairlearn/brier/{group}", value_of(calibration.brier(y, p)), SAME


def _python_pair() -> Compared:
    y, p = columns("p", PYTHON)
    p2 = columns("p2", PYTHON)[1]
    found, first, other = comparison.auroc_difference(y, p, p2), discrimination.auroc(y, p), discrimination.auroc(y, p2)
    path, se = "discrimination/paired_p_vs_p2", se_of(found)
    yield f"{path}/diff_auc", value_of(found), SAME
    yield f"{path}/var_diff", se**2, SAME
    yield f"{path}/cov", (se_of(first) ** 2 + se_of(other) ** 2 - se**2) / 2, SAME
    yield f"{path}/z_p_minus_p2", value_of(found) / se, SAME
    yield f"{path}/p_two_sided", p_of(found), SAME
    yield from listed(f"{path}/ci95_diff", bounds_of(found))
    yield f"{path}/check_mlstatkit/z_B_minus_A", -value_of(found) / se, SAME
    yield f"{path}/check_mlstatkit/p", p_of(found), SAME
    for name, area in (("A", first), ("B", other)):
        yield f"{path}/check_mlstatkit/auc_{name}", value_of(area), SAME
        yield from listed(f"{path}/check_mlstatkit/ci_{name}", normal(value_of(area), se_of(area)))
    yield f"{path}/check_pyexvalid_log10p", math.log10(p_of(found)), SAME


def _python_calibration(path: str, y: Floats, p: Floats) -> Compared:
    score, logs, ratio = (
        value_of(calibration.brier(y, p)),
        value_of(calibration.log_score(y, p)),
        value_of(calibration.oe_ratio(y, p)),
    )
    corp = f"{path}/corp_brier_decomposition_model_diagnostics"
    for name in (f"{path}/brier", f"{path}/brier_sklearn", f"{path}/check_pycaleva/brier", f"{corp}/score"):
        yield name, score, SAME
    yield f"{path}/scaled_brier_ipa", value_of(calibration.scaled_brier(y, p)), SAME
    yield f"{corp}/uncertainty", score / (1 - value_of(calibration.scaled_brier(y, p))), SAME
    yield f"{path}/log_loss", -logs, SAME
    yield f"{path}/check_pycaleva/auroc", value_of(discrimination.auroc(y, p)), SAME
    yield f"{path}/oe/O", float(y.sum()), 0
    yield f"{path}/oe/E", float(p.sum()), SAME
    yield f"{path}/oe/O|E", ratio, SAME
    yield f"{path}/oe/E|O", 1 / ratio, SAME
    large, slope, joint = (
        calibration.calibration_intercept(y, p),
        calibration.calibration_slope(y, p),
        calibration.calibration_intercept_joint(y, p),
    )
    yield f"{path}/cal_in_the_large_offset/est", value_of(large), SAME
    yield f"{path}/cal_in_the_large_offset/se", se_of(large), SAME
    yield from listed(f"{path}/cal_in_the_large_offset/ci95_wald", bounds_of(large))
    weak = f"{path}/weak_calibration"
    yield f"{weak}/intercept", value_of(joint), SAME
    yield f"{weak}/intercept_se", se_of(joint), SAME
    yield f"{weak}/slope", value_of(slope), SAME
    yield f"{weak}/slope_se", se_of(slope), SAME
    yield from listed(f"{weak}/slope_ci95_wald", bounds_of(slope))
    for name, prefix, found in (("citl", "citl", large), ("slope", "cal_slope", slope)):
        where = f"{path}/check_pyexvalid/{name}/{prefix}"
        yield where, value_of(found), SAME
        yield f"{where}_se", se_of(found), SAME
        low, high = bounds_of(found)
        yield f"{where}_lower", low, SAME
        yield f"{where}_upper", high, SAME
    z = calibration.spiegelhalter_z(y, p)
    yield f"{path}/spiegelhalter/z", value_of(z), SAME
    yield f"{path}/spiegelhalter/p_two_sided", p_of(z), SAME
    yield from listed(f"{path}/check_pycaleva/z", (value_of(z), p_of(z)))
    yield f"{path}/spiegelhalter/check_calzone/0", value_of(z), SAME
    yield f"{path}/check_calzone_all/SpiegelhalterZ score", value_of(z), SAME
    yield f"{path}/check_calzone_all/COX coef", value_of(slope), SAME
    yield f"{path}/check_calzone_all/COX intercept", value_of(joint), SAME
    for name, found in (("coef", slope), ("intercept", joint)):
        low, high = bounds_of(found)
        yield f"{path}/check_calzone_all/COX {name} lowerci", low, 1e-7  # its covariance is of the step before
        yield f"{path}/check_calzone_all/COX {name} upperci", high, 1e-7
    yield f"{path}/ece10_width_left_closed/ECE", value_of(calibration.ece(y, p)), SAME


def python_raters() -> Compared:
    complete = np.loadtxt(GOLDEN / "python/ratings_complete.csv", delimiter=",", skiprows=1)
    gaps = pd.read_csv(GOLDEN / "python/ratings_missing.csv").to_numpy(float)
    fleiss = value_of(reliability.fleiss_kappa(complete))
    observed = value_of(reliability.observed_agreement(complete))
    alphas = [value_of(reliability.krippendorff_alpha(labels)) for labels in (gaps, complete)]
    yield "inter_rater/krippendorff_pkg_missing/nominal", alphas[0], SAME
    yield "inter_rater/krippendorff_pkg_complete/nominal", alphas[1], SAME
    yield "inter_rater/irrCAC_missing_identity_krippendorff/coefficient_value", alphas[0], FIVE_DECIMALS
    yield "inter_rater/irrCAC_complete_identity_krippendorff/coefficient_value", alphas[1], FIVE_DECIMALS
    yield "inter_rater/fleiss_kappa_statsmodels_complete", fleiss, SAME
    yield "inter_rater/irrCAC_complete_identity_fleiss/coefficient_value", fleiss, FIVE_DECIMALS
    for name in ("fleiss", "gwet", "bp", "conger"):
        yield f"inter_rater/irrCAC_complete_identity_{name}/pa", observed, FIVE_DECIMALS
        yield (
            f"inter_rater/irrCAC_missing_identity_{name}/pa",
            value_of(reliability.observed_agreement(gaps)),
            FIVE_DECIMALS,
        )
    pair = value_of(reliability.cohen_kappa(complete[:, :2]))
    yield "inter_rater/cohen_r1_r2/kappa", pair, SAME
    yield "inter_rater/cohen_r1_r2/sklearn", pair, SAME


def python_samples() -> Compared:
    read = pd.read_csv(GOLDEN / "python/two_sample.csv")
    for name in ("x1", "x2", "x3"):
        a, b = (read.loc[read["sample"] == text, name].to_numpy(float) for text in "ab")
        yield f"two_sample/smd_per_column/{name}", present(standardized_mean_difference(a, b)), SAME
        yield f"two_sample/ks_per_column/{name}/0", kolmogorov_smirnov(a, b), SAME


PACKAGES = (python_models, python_raters, python_samples)
FILES = {"r.json": R, "python/python_golden.json": PACKAGES}


# ---- what cannot be compared, and why -------------------------------------------------------------------------------

NOT_COMPARABLE: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (GOLDEN.parent / "not_comparable.toml").read_text(encoding="utf-8")
)
"""What is not compared, by the pattern of its path; the first pattern that fits gives the reason."""


@cache
def ours(name: str) -> dict[str, tuple[float, float]]:
    return {path: (value, tolerance) for make in FILES[name] for path, value, tolerance in make()}


def theirs(name: str) -> dict[str, float]:
    return {path.replace("O/E", "O|E").replace("E/O", "E|O"): value for path, value in leaves(golden(name))}


def excused(name: str) -> dict[str, str]:
    """Each number that is not compared, with the first pattern that gives its reason."""
    left = theirs(name).keys() - ours(name).keys()
    fits = {path: [text for text in NOT_COMPARABLE[name] if fnmatchcase(path, text)] for path in left}
    return {path: patterns[0] for path, patterns in fits.items() if patterns}


@pytest.mark.parametrize("make", [make for makes in FILES.values() for make in makes], ids=lambda make: make.__name__)
def test_ours_are_theirs(make: Callable[[], Compared]) -> None:
    given = next(theirs(name) for name, makes in FILES.items() if make in makes)
    compared = list(make())
    assert compared
    wrong = [
        f"{path}: ours {value!r}, theirs {given[path]!r}"
        for path, value, tolerance in compared
        if not abs(value - given[path]) <= tolerance
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_passed_over(name: str) -> None:
    left = sorted(theirs(name).keys() - ours(name).keys() - excused(name).keys())
    assert not left, f"{len(left)} numbers are neither compared nor excused: {left[:20]}"


@pytest.mark.parametrize("name", FILES)
def test_every_reason_is_needed(name: str) -> None:
    needed = set(excused(name).values())
    assert [pattern for pattern in NOT_COMPARABLE[name] if pattern not in needed] == []


@pytest.mark.parametrize(("name", "least"), [("r.json", 1_190), ("python/python_golden.json", 180)])
def test_how_many_are_compared(name: str, least: int) -> None:
    """So that comparisons cannot turn into reasons unseen."""
    assert len(ours(name).keys() & theirs(name).keys()) >= least
