"""Multiply imputed tables: Rubin's rules, the original rows beside them, and the faults of their numbering."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm
from scipy.stats import t as student

from dossier import evaluate, reading
from dossier.command_line import initial
from dossier.core.facts import Fact, Method
from dossier.core.types import Absent, Curve, Estimate, Evidence, Floats, Study, find_curve
from dossier.evaluate import dependent
from dossier.metrics import imputations
from dossier.metrics.calibration import ici
from dossier.report.chapters import results
from dossier.typeset.flags import flag_text
from dossier.typeset.methods import method_text
from tests.estimated import curved, estimated, interval_of, present, refused
from tests.reference.built import example, hurried
from tests.test_classes import GRADES, RELEASE

SITE = "hospital-1"
HEAD, *ROWS = initial.files()["hospital-1.csv"].decode().splitlines()


def _study(folder: Path, tables: dict[int, list[str]]) -> Study:
    """The example release, its hospital's table stacked from these imputations."""
    example(folder)
    file = 'file = "hospital-1.csv"'
    release = initial.files()["release.toml"].decode().replace(file, f'{file}\nimputation = "imp"')
    (folder / "release.toml").write_text(release, encoding="utf-8")
    lines = [f"{row},{k}" for k, rows in tables.items() for row in rows]
    (folder / "hospital-1.csv").write_text("\n".join([f"{HEAD},imp", *lines]) + "\n")
    return at_the_hospital(folder)


def at_the_hospital(folder: Path) -> Study:
    """The release of the folder with few resamples, its hospital and the development table alone."""
    found = hurried(reading.study(folder), bootstrap=20, permutations=19)
    return replace(
        found, datasets=tuple(dataset for dataset in found.datasets if dataset.name in (SITE, "development"))
    )


def _changed(seed: int, share: float) -> list[str]:
    """The rows with other risks in a share of them, as another draw of an imputation gives."""
    draw, position = np.random.default_rng(seed), HEAD.split(",").index("risk")
    found = []
    for k, row in enumerate(ROWS):
        cells = row.split(",")
        if k < share * len(ROWS):
            cells[position] = f"{min(0.95, max(0.05, float(cells[position]) + draw.normal(scale=0.1))):.4f}"
        found.append(",".join(cells))
    return found


def _without_risk(share: float) -> list[str]:
    position = HEAD.split(",").index("risk")
    return [
        ",".join("" if k < share * len(ROWS) and p == position else cell for p, cell in enumerate(row.split(",")))
        for k, row in enumerate(ROWS)
    ]


@pytest.fixture(scope="module")
def same(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Three imputations that agree, without the original rows."""
    return evaluate.evidence(_study(tmp_path_factory.mktemp("same"), {1: ROWS, 2: ROWS, 3: ROWS}))


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Four imputations that differ in 30 % of the rows, with the original rows."""
    tables = {0: _without_risk(0.3), **{k: _changed(k, 0.3) for k in range(1, 5)}}
    return evaluate.evidence(_study(tmp_path_factory.mktemp("apart"), tables))


def _of(evidence: Evidence, measure: str) -> Estimate | Absent:
    return next(result.found for result in evidence.results if result.term == measure and result.dataset == SITE)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """The same rows without any imputation."""
    return evaluate.evidence(at_the_hospital(example(tmp_path_factory.mktemp("plain"))))


def test_imputations_that_agree_give_the_interval_of_one(same: Evidence, plain: Evidence) -> None:
    # The oe_ratio, auroc and shares are pooled on the scale of their own interval; the others on the plain scale.
    of_rival = ("auroc_of_rival", "oe_ratio_of_rival")
    for name in ("auroc", "oe_ratio", "calibration_slope", "net_benefit", "brier", "youden_j", "f1", *of_rival):
        pooled, estimate = _of(same, name), _of(plain, name)
        assert isinstance(pooled, Estimate)
        assert isinstance(estimate, Estimate)
        assert pooled.value == pytest.approx(estimate.value, rel=1e-12), name
        assert (pooled.low, pooled.high) == pytest.approx((estimate.low, estimate.high), rel=1e-9), name
        assert pooled.details["imputations"] == 3
        assert "3 imputations by Rubin's rules" in method_text(pooled.method)
        assert method_text(pooled.method).endswith("without the rows before imputing, what it changed is not known")


def test_captions_name_rubins_rules_where_imputations_were_put_together(same: Evidence) -> None:
    assert "Discrimination: Rubin's rules; small circle, version 0.9.0." in results.caption(same)


def test_imputations_that_differ_widen_the_interval_and_stand_beside_the_complete_cases(
    apart: Evidence, plain: Evidence
) -> None:
    pooled, estimate = _of(apart, "auroc"), _of(plain, "auroc")
    assert isinstance(pooled, Estimate)
    assert isinstance(estimate, Estimate)
    fraction = present(pooled.details["fraction_missing"])
    assert 0 < fraction < 1
    assert pooled.details["complete_cases_n"] == 140
    flag = next(flag for flag in apart.flags if flag.flag == "imputed")
    assert "4 imputations" in flag_text(flag.fact)
    assert "140\N{NO-BREAK SPACE}complete cases" in flag_text(flag.fact)
    summary = next(dataset for dataset in apart.datasets if dataset.name == SITE)
    assert (summary.imputations, summary.n, summary.rows_read) == (4, 200, 200)


def test_p_values_and_sample_sizes_are_not_pooled(apart: Evidence) -> None:
    for name in ("spiegelhalter_z", "mss_auroc", "degree_of_correspondence"):
        assert isinstance(_of(apart, name), Absent)


def test_calibration_errors_of_imputations_have_an_interval(apart: Evidence, plain: Evidence) -> None:
    """They were the mean alone, as no imputation has a standard error of them."""
    for name in ("ici", "e50", "e90", "emax", "eci"):
        found, alone = _of(apart, name), _of(plain, name)
        assert isinstance(found, Estimate)
        assert isinstance(alone, Estimate)
        low, high = interval_of(found)
        assert 0 <= low <= found.value <= high <= 1
        assert "4 imputations: mean bounds" in method_text(found.method)
        assert found.details["fraction_missing"] is not None
        assert found.method.is_one_sided == (0 in (low, 1 - high)), name


@pytest.mark.slow
def test_right_risks_with_imputed_predictors_are_seldom_refuted() -> None:
    """The mean of the bounds was above 0 in .17 of tables, as one imputation of ten that refutes 0 is enough for it."""
    rng, times, refuted = np.random.default_rng(5), 150, 0
    for number in range(times):
        first, noise = rng.standard_normal((2, 600))
        second = 0.5 * first + math.sqrt(0.75) * noise
        outcome = (rng.random(600) < expit(-1 + 0.7 * (first + second))).astype(float)
        lost = rng.random(600) < 0.3
        known = np.column_stack([np.ones(600), first, outcome, first * outcome])
        inverse = np.linalg.inv(known[~lost].T @ known[~lost])
        fit = inverse @ known[~lost].T @ second[~lost]
        squares = float(np.sum((second[~lost] - known[~lost] @ fit) ** 2))
        errors = []
        for imputation in range(6):
            variance = squares / rng.chisquare((~lost).sum() - 4)
            drawn = known @ rng.multivariate_normal(fit, variance * inverse)
            filled = np.where(lost, drawn + math.sqrt(variance) * rng.standard_normal(600), second)
            found = ici(outcome, expit(-1 + 0.7 * (first + filled)), bootstrap=60, seed=10 * number + imputation)
            errors.append(estimated(found))
        refuted += (imputations.rubin(errors, "plain", 0.95).low or 0) > 0
    assert refuted / times <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / times)


def test_a_curve_is_the_mean_and_its_band_is_no_narrower(apart: Evidence, plain: Evidence) -> None:
    for name in ("calibration_curve", "decision_curve"):
        curve, drawn_curve = (
            next(candidate.found for candidate in found.curves if candidate.curve == name and candidate.dataset == SITE)
            for found in (apart, plain)
        )
        assert isinstance(curve, Curve)
        assert isinstance(drawn_curve, Curve)
        assert "mean of 4 imputations" in method_text(curve.method)
        for low, high in zip(curve.columns["low"], curve.columns["high"], strict=True):
            assert present(low) <= present(high)


def _in_clinics(folder: Path, *tables: list[str]) -> Curve:
    """The decision curve of the hospital with its rows in four clinics, its table stacked from these imputations."""
    folder.mkdir()
    example(folder)
    file, head = 'file = "hospital-1.csv"', f"{HEAD},clinic,imp"
    named = f'{file}\ncluster = "clinic"' + ('\nimputation = "imp"' if len(tables) > 1 else "")
    release = initial.files()["release.toml"].decode().replace(file, named)
    (folder / "release.toml").write_text(release, encoding="utf-8")
    lines = [f"{row},{n % 4},{k}" for k, rows in enumerate(tables, 1) for n, row in enumerate(rows)]
    (folder / "hospital-1.csv").write_text("\n".join([head, *lines]) + "\n")
    found = evaluate.evidence(at_the_hospital(folder)).curves
    curve = next(
        drawn_curve.found
        for drawn_curve in found
        if drawn_curve.curve == "decision_curve" and drawn_curve.dataset == SITE
    )
    return curved(curve)


def test_bands_of_clusters_widen_as_rubins_rules_say(tmp_path: Path) -> None:
    """T = W + (1 + 1/2) B of the standard errors, though a band of four clusters reaches more than three of them."""
    tables = {"first": _changed(1, 0.3), "second": _changed(2, 0.3)}
    both = _in_clinics(tmp_path / "both", *tables.values())
    alone = [_in_clinics(tmp_path / name, rows) for name, rows in tables.items()]
    lines, errors = (np.array([curve.columns[name] for curve in alone], dtype=float) for name in ("net_benefit", "se"))
    within, between = (errors**2).mean(axis=0), lines.var(axis=0, ddof=1)
    assert both.columns["net_benefit"] == pytest.approx(lines.mean(axis=0), abs=1e-12)
    widened = np.sqrt(1 + 1.5 * np.divide(between, within, out=np.zeros_like(within), where=within > 0))
    assert widened.max() > 1.01
    assert both.columns["se"] == pytest.approx(errors.mean(axis=0) * widened, rel=1e-9, abs=1e-12)
    half = [
        (np.array(curve.columns["high"], dtype=float) - np.array(curve.columns["low"], dtype=float)) / 2
        for curve in alone
    ]
    assert half[0] == pytest.approx(float(student.ppf(0.975, 3)) * errors[0], rel=1e-6, abs=1e-9)


def test_a_curve_without_a_cluster_that_ends_early_goes_on_beside_the_whole() -> None:
    """It ends at .5, where the whole is .25, and lies .1 above it there; it begins at .25, .1 above it as well."""
    whole = Curve(
        {"risk": (0.0, 0.25, 0.5, 0.75, 1.0), "observed": (0.0, 0.0625, 0.25, 0.5625, 1.0)}, 60, Method("wald")
    )
    part = Curve({"risk": (0.25, 0.375, 0.5), "observed": (0.1625, 0.2, 0.35)}, 50, Method("wald"))
    found = dependent._on_axis(part, whole, "risk", "observed")
    assert found == pytest.approx([0.1, 0.1625, 0.35, 0.6625, 1.1])
    between = dependent._on_axis(whole, part, "risk", "observed")
    assert between == pytest.approx([0.0625, (0.0625 + 0.25) / 2, 0.25])


def test_a_line_with_gaps_or_other_points_is_not_brought_to_those_of_the_whole() -> None:
    whole, gap = (
        Curve({"risk": (0.2, 0.4), "observed": line}, 60, Method("wald")) for line in ((0.1, 0.2), (0.1, None))
    )
    single = Curve({"risk": (0.2,), "observed": (0.1,)}, 60, Method("wald"))
    for axis, part, beside in (("risk", gap, whole), ("risk", whole, gap), ("", single, whole), ("", gap, whole)):
        assert dependent._on_axis(part, beside, axis, "observed") is None
    assert dependent._on_axis(whole, whole, "", "observed") == pytest.approx([0.1, 0.2])
    assert dependent._on_axis(whole, whole, "risk", "rival") is None


def _rare(part: int) -> list[str]:
    """The rows with risks below .2; in the first `part` of them .3, as an imputation may give to some."""
    position = HEAD.split(",").index("risk")
    found = []
    for k, row in enumerate(ROWS):
        cells = row.split(",")
        cells[position] = "0.3" if k < part else f"{0.19 * float(cells[position]):.4f}"
        found.append(",".join(cells))
    return found


@pytest.fixture(scope="module")
def rare(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Two imputations of which one alone has risks above .2."""
    return evaluate.evidence(_study(tmp_path_factory.mktemp("rare"), {1: _rare(0), 2: _rare(10)}))


def _column(rows: list[str], name: str) -> Floats:
    return np.array([float(row.split(",")[HEAD.split(",").index(name)]) for row in rows])


def test_the_risks_of_imputations_are_counted_where_they_are(rare: Evidence) -> None:
    """Bins of .025 by the second imputation, of .0125 by the first alone: nobody has a risk between .2 and .3."""
    found = curved(find_curve(rare, "risk_distribution", SITE))
    outcome = _column(ROWS, "outcome")
    edges = np.array([*found.columns["low"], 1.0], dtype=float)
    for name, label in (("events", 1), ("non_events", 0)):
        counts = [np.histogram(_column(_rare(part), "risk")[outcome == label], edges)[0] for part in (0, 10)]
        assert found.columns[name] == pytest.approx(np.mean(counts, axis=0))
    assert (found.n, found.events) == (200, outcome.sum())
    assert method_text(found.method) == "counts; mean of 2 imputations"


def test_of_several_classes_each_has_its_own_bins_over_all_imputations(tmp_path: Path) -> None:
    """The risk of G1 lies at .15 in one imputation, and in the other at .3 in a tenth of the rows."""
    release = RELEASE.replace('file = "site.csv"', 'file = "site.csv"\nimputation = "imp"')
    (tmp_path / "release.toml").write_text(release, encoding="utf-8")
    risks = [[0.3 if k < part else 0.15 for k in range(40)] for part in (0, 4)]
    lines = [
        f"{GRADES[k % 4]},{0.8 - risk},{risk},0.1,0.1,{number}"
        for number, column in enumerate(risks, 1)
        for k, risk in enumerate(column)
    ]
    (tmp_path / "site.csv").write_text("\n".join(["grade,p0,p1,p2,p3,imp", *lines]) + "\n", encoding="utf-8")
    found = find_curve(evaluate.evidence(reading.study(tmp_path)), "risk_distribution", "site", **{"class": "G1"})
    assert isinstance(found, Curve)
    edges = np.array([*found.columns["low"], 1.0], dtype=float)
    assert edges == pytest.approx([*np.linspace(0, 0.325, 14), 1.0])
    of_class = np.arange(40) % 4 == 1
    for name, rows in (("events", of_class), ("non_events", ~of_class)):
        counts = [np.histogram(np.array(column)[rows], edges)[0] for column in risks]
        assert found.columns[name] == pytest.approx(np.mean(counts, axis=0))


def test_the_mean_roc_curve_has_the_mean_area_of_the_imputations(rare: Evidence) -> None:
    found = curved(find_curve(rare, "roc", SITE))
    case = _column(ROWS, "outcome") == 1
    areas = [
        np.mean([(a > b) + (a == b) / 2 for a in risk[case] for b in risk[~case]])
        for risk in (_column(_rare(part), "risk") for part in (0, 10))
    ]
    tpr, fpr = (np.array(found.columns[name], dtype=float) for name in ("tpr", "fpr"))
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(tpr, fpr) == pytest.approx(np.mean(areas), abs=1e-3)


def test_the_predictors_are_described_as_they_were_before_imputing(tmp_path: Path) -> None:
    position = HEAD.split(",").index("age")
    gaps = [
        ",".join("" if k < 50 and p == position else c for p, c in enumerate(r.split(","))) for k, r in enumerate(ROWS)
    ]
    found = evaluate.evidence(_study(tmp_path, {0: gaps, 1: ROWS, 2: ROWS}))
    missing = [
        row.described.value
        for row in found.descriptions
        if row.dataset == SITE and row.described.variable == "age" and "missing" in row.described.statistic
    ]
    assert 50 in missing or 0.25 in missing


# ---- the rules ------------------------------------------------------------------------------------------------------


NORMAL = Method("delta_method")


def _estimate(value: float, se: float, n: int = 100, method: Method = NORMAL) -> Estimate:
    return Estimate(value, value - 2 * se, value + 2 * se, 0.95, n, method, 40, se)


def test_rubins_rules_by_hand() -> None:
    values, errors = (0.2, 0.5, 0.5), (0.3, 0.4, 0.2)
    found = imputations.rubin([_estimate(*pair) for pair in zip(values, errors, strict=True)], "plain", 0.95)
    within, between = (0.09 + 0.16 + 0.04) / 3, 0.03
    total = within + 4 / 3 * between
    freedom = 2 * (1 + within / (4 / 3 * between)) ** 2
    assert found.value == pytest.approx(0.4)
    assert found.se == pytest.approx(math.sqrt(total))
    assert found.high == pytest.approx(0.4 + student.ppf(0.975, freedom) * math.sqrt(total))


def test_barnard_and_rubins_degrees_of_freedom_are_those_of_the_data_at_most() -> None:
    """With little between the imputations Rubin's are far above those of the data, which Barnard and Rubin mend."""
    assert imputations.degrees_of_freedom(1.0, 0.01, 5, None) == pytest.approx(4 * 101**2)
    # (df + 1)/(df + 3) df (1 - share) and Rubin's, put together by their reciprocals.
    observed, large = 10 / 12 * 9 * (1 - 0.01 / 1.01), 4 * 101**2
    assert imputations.degrees_of_freedom(1.0, 0.01, 5, 9) == pytest.approx(1 / (1 / observed + 1 / large))


def test_a_share_is_pooled_on_the_logit_scale() -> None:
    found = imputations.rubin([_estimate(0.6, 0.05), _estimate(0.9, 0.03)], "logit", 0.95)
    assert found.value == pytest.approx(1 / (1 + math.exp(-(math.log(1.5) + math.log(9)) / 2)))


def test_pooled_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """Normal data, a third missing at random, imputed properly from the posterior of mean and variance."""
    draw, hits, times = np.random.default_rng(4), 0, 800
    for _ in range(times):
        values = draw.normal(size=60)
        seen = values[:40]
        estimates = []
        for _ in range(10):
            variance = seen.var(ddof=1) * 39 / draw.chisquare(39)
            mean = draw.normal(seen.mean(), math.sqrt(variance / 40))
            whole = np.concatenate((seen, draw.normal(mean, math.sqrt(variance), 20)))
            student_t = Method(Fact("student_t", df=59))
            estimates.append(_estimate(float(whole.mean()), float(whole.std(ddof=1)) / math.sqrt(60), 60, student_t))
        found = imputations.rubin(estimates, "plain", 0.95)
        low, high = interval_of(found)
        hits += low <= 0 <= high
    assert abs(hits / times - 0.95) < 3 * math.sqrt(0.95 * 0.05 / times)


def test_the_test_of_a_difference_is_that_of_its_interval() -> None:
    found = imputations.rubin([_estimate(0.3, 0.1), _estimate(0.3, 0.1)], "plain", 0.95, test=True)
    assert found.details["p_value"] == pytest.approx(2 * float(norm.sf(3)))


# ---- faults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tables", "what"),
    [
        ({0: ROWS, 1: ROWS}, "hospital-1 has 1 imputation."),
        ({1: ROWS, 2: ROWS[:-1]}, "Imputation 1 of hospital-1 has 200 rows, imputation 2 199."),
        (
            {1: ROWS, 2: _without_risk(0.1)},
            "The imputations of hospital-1 lack the outcome or the risk in different numbers of rows.",
        ),
    ],
)
def test_imputations_that_do_not_belong_together_are_faults(
    tmp_path: Path, tables: dict[int, list[str]], what: str
) -> None:
    assert [fault.what for fault in refused(_study, tmp_path, tables).faults] == [what]
